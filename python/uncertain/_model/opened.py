"""Which columns of a table a fit uses, by names and types, and into which store its rows go."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np

from .._data.array import GaussianArray
from .._data.options import refuse_if
from .._data.typing import Keywords, NativeTable
from .._data.validation import TableLike, seed_from
from .._data.warn import kept_warnings, warn
from .._rows.batches import suits_parts
from .._rows.mapped import Budget
from .._rows.reader import RowReader, Uses, beside_features, refuse_of_laws
from .._rows.rows import Files
from .._rows.source import Source, is_dask
from .._rows.table_reader import TableReader
from .._tables.columns import Columns, listing
from .._tables.contents import LOOKED_AT, Look
from .._tables.find import Types, find_columns
from .._tables.flags import find_flags, meaning_of_flags, taken_as_limits
from .._tables.reading import read_loaded, read_roles
from .._tables.rules import OF_POPULATIONS, SPREAD
from .._tables.table import Table
from ..exceptions import ColumnError, ParameterError, UncertainWarning
from .plan import Plan


def open_rows(
    table: TableLike, asked: Columns, values: Keywords, plan: Plan, *, memory: str | int | None
) -> tuple[RowReader, Plan]:
    """Reader of the rows of a table of this process, and the plan for its columns; `values`: roles that are
    values."""
    budget = None if memory is None else Budget.parse(memory)
    if budget is not None:
        plan.refuse(Files)
    source = Source.from_input(table)
    with kept_warnings() as doubts:
        try:
            columns = _find_columns(source, asked)
            in_parts = (
                budget is None
                and not plan.is_choice
                and source.is_large(columns)
                and suits_parts(source, columns, named=bool(asked.errors))
            )
            if source.table is not None and source.table.is_late:
                by_parts = budget is not None or in_parts
                columns = (
                    read_roles(asked, source.table) if by_parts else read_loaded(asked, source.table, columns)
                )
        except ColumnError as error:
            source.refuse(error)
        plan = replace(plan, usual="measurement" if _are_readings(source, columns) else "spread")
        plan = _of_quantity(plan, source, columns)
        doubted: list[str] = []
        if asked.limits is None and source.table is not None:
            columns, doubted = _with_limits(columns, source.table, Look(source.table), plan.may_use())
    per_row = beside_features(columns, values)
    if values:
        columns = columns.changed(**{role: True for role in ("groups", "sample_weight") if role in values})
    reader = TableReader(source, columns, per_row, plan.policy, in_parts, budget)
    reader.doubts = doubts
    types = _types(source, asked)
    reader.types = None if types is None else {n: kind for n, kind in types.items() if n not in doubted}
    return reader, plan


def _with_limits(columns: Columns, table: Table, look: Look, uses: Uses) -> tuple[Columns, list[str]]:
    """The columns with flags of limits that are recognised, where the fit can use them; and others, which a
    warning names."""
    flags, doubted = find_flags(columns, look)
    questions = [
        f"{name} looks like flags of limits of {value}, which are read as values. If "
        f"{meaning_of_flags(name)}, pass limits={{{value!r}: {name!r}}}"
        for value, name in doubted.items()
    ]
    target, rest = columns.target or "", dict(flags)
    if target in rest and (not look.is_float(target) or uses.y_limit):
        name = rest.pop(target)
        columns = columns.with_found(target_limit=name) if look.is_float(target) else columns
    if uses.limits and rest.keys() - {target}:
        columns = columns.changed(limits={value: rest.pop(value) for value in [*rest] if value != target})
    if rest:
        method = "law" if table.types.get(target) == "number" else "gsu"
        instead = f'Pass method="{method}", limits={rest!r}, on rows in one memory (Dask: table.compute())'
        text = [value for value, name in rest.items() if name == value]
        if text:
            limit = look.any_text(text[0], "[<>]")
            raise ColumnError(
                f"{text[0]} has limits such as {limit!r}, which this fit does not read. {instead}."
            )
        flags_text = f"{listing(rest.values())} looks like flags of limits, which are read as values"
        questions.append(f"{flags_text}. {instead}")
    taken = {v: n for v, n in flags.items() if n in (*columns.flags.values(), columns.target_limit)}
    if taken:
        questions.append(taken_as_limits(taken))
    for question in questions:
        warn(question, UncertainWarning)
    reasons = columns.found.reasons
    columns = columns.with_found(flags={})  # which are said here
    columns = columns.with_ignored(table.names).with_found(reasons=reasons) if taken else columns
    return columns, [*doubted.values(), *rest.values()]


def open_dask_rows(
    client: object, table: NativeTable, asked: Columns, values: Keywords, plan: Plan, *,
    timeout: float = 600.0, retries: int = 3, group_bytes: int | None = None,
) -> tuple[RowReader, Plan]:  # fmt: skip
    """Reader of the rows of a Dask DataFrame on its cluster, and the plan for its columns."""
    from .._rows.cluster import Cluster, current  # which import Dask
    from .._rows.on_dask import GROUP_BYTES, DaskReader, OnDask, Settings

    plan.refuse(OnDask)
    refuse_of_laws(asked.of_kinds("beside") | values)
    for role, value in values.items():
        raise ParameterError(
            f"{role}: must be the name of a column of the Dask DataFrame, got {type(value).__name__}"
        )
    if asked.limits is not None:
        raise ParameterError("limits= is for tables in one memory; on a cluster leave it out")
    refuse_if(
        not is_dask(table),
        f"expected a Dask DataFrame, got {type(table).__name__}; uncertain.fit takes other tables",
    )
    cluster = Cluster(current() if client is None else client, timeout=timeout, retries=retries)
    empty = Source.from_input(table._meta)
    head = table.partitions[:1].map_partitions(lambda part: part.head(LOOKED_AT)).to_delayed()
    [first] = cluster.results(cluster.compute(head), "reading the first rows")
    assert empty.table is not None
    rows = Source.from_input(first).table
    assert rows is not None
    look, apart = Look(rows), [name for name in rows.names if name not in empty.names]
    with kept_warnings() as doubts:
        columns = read_roles(asked, empty.table, look)
        columns, doubted = _with_limits(columns, empty.table, look, Uses())
        if apart:
            text = f"error bars inside of other columns are not read on a cluster: {listing(apart)}"
            warn(f"{text}. uncertain.fit(table.compute()) reads them.", UncertainWarning)
    plan = replace(plan, usual="measurement" if _are_readings(empty, columns) else "spread")
    plan = _of_quantity(plan, empty, columns)
    verbose = bool(plan.params.get("verbose", 0))
    settings = Settings(seed_from(plan.random_state), group_bytes or GROUP_BYTES, verbose)
    reader = DaskReader(cluster, table, empty.names, columns, plan.policy, settings)
    reader.doubts = doubts
    types = _types(empty, asked)
    reader.types = None if types is None else {n: kind for n, kind in types.items() if n not in doubted}
    return reader, plan


def _of_quantity(plan: Plan, source: Source, columns: Columns) -> Plan:
    """The plan for numbers with error bars, which are a quantity, whole or not."""
    has_errors = bool(columns.found.of_target) or columns.target_std is not None
    if not has_errors or plan.task != "auto":
        return plan
    is_number = source.table is None or source.table.types.get(columns.target or "") == "number"
    return replace(plan, task="regression") if is_number else plan


def _types(source: Source, asked: Columns) -> Types | None:
    """Contents of the columns of a table, if no features were named, else None."""
    named = asked.exact is not None or asked.features is not None or asked.mean is not None
    return None if named or source.table is None else source.table.types


def _find_columns(source: Source, asked: Columns) -> Columns:
    """The columns of a table by role; arrays have none that could be named."""
    if source.table is not None:
        is_late = source.table.is_late
        return (
            find_columns(asked, source.table, Look(source.table))
            if is_late
            else read_roles(asked, source.table)
        )
    data = source.data
    if not isinstance(data, (GaussianArray, np.ndarray)) and asked.target is not None:
        raise ParameterError(
            f"data of type {type(data).__name__} is no table. Pass a table (Polars, pandas, pyarrow, DuckDB, "
            "astropy, a dictionary of columns, a path), or an array with the labels as target="
        )
    kind = "a GaussianArray" if isinstance(data, GaussianArray) else f"data of type {type(data).__name__}"
    role = next((role for role in asked.of_kinds("values", "error bar", "beside") if role != "target"), None)
    if role is not None:
        raise ParameterError(
            f"{role}= names a column of a table, but {kind} has none; see GaussianArray(means, ...)"
        )
    if asked.target is not None:
        raise ParameterError(f"{kind} has no column {asked.target!r}: pass the labels themselves as target=")
    return Columns.for_array()


def _are_readings(source: Source, columns: Columns) -> bool:
    """Are the features scalar columns with scalar error bars, which are not called spread?"""
    if source.table is None or not columns.features:
        return False
    bars = [(value, column) for value, bar in columns.error_bars.items() for column in bar.columns]
    if bars and all(_is_spread(value, column) for value, column in bars):
        return False
    return all(source.table.types.get(column) != "list" for column in columns.lists.values())


def _is_spread(value: str, column: str) -> bool:
    """Do names say that the column is the spread of a population: x_spread, or x_std and x_variance beside
    x_mean?"""
    if column.endswith(SPREAD):
        return True
    words, of_value = (set(re.split(r"[_.\- ]", name.lower())) for name in (column, value))
    return (
        bool(words & {*OF_POPULATIONS}) and bool(of_value & {"mean", "avg"}) and not words & {"mean", "avg"}
    )
