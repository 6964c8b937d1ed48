"""The report of a model, and the rows that it looks at.

Reports, inspections, pictures and summaries look at some of the rows of a large table, drawn by a hash while
it is read. A table is read once, batch by batch, and no more than a few times the sample is kept of it; the
partitions of a Dask DataFrame draw where they lie. Every row has the same chance (with groups, every group),
by the hash of its number (of the group's name): so the same table gives the same rows, however it is read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from .._data.array import GaussianArray
from .._data.column import as_values
from .._data.groups import groups_from
from .._data.incomplete import GaussianRows, Incomplete
from .._data.numbers import uniform
from .._data.options import check_counts
from .._data.typing import ColumnOrValues, Floats, Ints, Keywords, NativeTable, Values
from .._data.validation import TableLike
from .._errors.check import warn_if_off
from .._report.candidates import HUBER
from .._report.compare import Design, compare
from .._report.report import Report
from .._rows.source import Source, in_parts, is_dask, numbered
from .._rows.target import covariances, limits
from .._rows.training import TrainingRows
from .._tables.columns import OF_LAWS, PairsOfTarget
from .._tables.frame import BatchSize
from .._tables.table import Table, as_table
from ..exceptions import ParameterError, ShapeError, UncertainError
from .pipeline_facts import is_measured
from .reader import Reader


def report(
    reader: Reader,
    table: TableLike,
    design: Design,
    *,
    y: ColumnOrValues | None,
    groups: ColumnOrValues | bool | None,
    sample_weight: ColumnOrValues | bool | None,
) -> Report:
    """The model beside itself without error bars, on rows of this table."""
    per_row: Keywords = {"y": y, "groups": groups, "sample_weight": sample_weight}
    some = some_rows(reader, table, per_row, design.max_rows)
    if some is None:
        return _compared(reader, reader.source(table, y, groups, sample_weight), per_row, design)
    try:
        compared = _compared(reader, some.source, some.beside, design)
    except UncertainError as error:
        if len(some.at) == some.n_rows:
            raise
        about = f"{len(some.at):,} of {some.n_rows:,} rows were drawn, see max_rows="
        raise type(error)(f"{error} ({about})") from error
    return compared if len(some.at) == some.n_rows else compared.renumbered(some.at, some.n_rows)


def _roles_of_law(reader: Reader, source: Source) -> dict[str, Floats]:
    """Offsets, events and modes of these rows, which a law was fitted with and predictions need, too."""
    if hasattr(reader.steps[-1], "y_modes_"):
        raise UncertainError(
            "report: the law was fitted with y_cov=, whose covariances are not in the table. The law, and "
            "the fit without error bars, are in model.summary()"
        )
    known = {}
    for role in OF_LAWS:
        columns = getattr(reader.columns, role)
        if columns is None:
            continue
        if not reader.is_regression:
            raise UncertainError(
                f"report: classes fitted with {role}= are predicted without it and cannot be compared. The "
                "law, and the fit without error bars, are in model.summary()"
            )
        if columns is True:
            raise UncertainError(
                f"report: {role}= was an array, which is not in the table. Fit again with the name of a "
                f"column as {role}="
            )
        known[role] = source.beside(list(columns) if isinstance(columns, tuple) else columns, role)
    return known


def _compared(reader: Reader, source: Source, per_row: Keywords, design: Design) -> Report:
    y, steps, rows = per_row["y"], reader.steps, reader.rows(source)
    huber, regression = isinstance(steps[-1], HUBER), reader.is_regression
    truth = reader.truth(source, y, partial=huber)
    of_law: Keywords = {} if huber else {**_roles_of_law(reader, source)}
    groups, weights = (
        reader.groups(source, per_row["groups"]), reader.weights(source, per_row["sample_weight"])
    )  # fmt: skip
    about = about_target(reader, source, rows, limited=y is None) if regression and not huber else {}
    training = TrainingRows(rows, truth, weights, groups, **about, **of_law)
    measured = is_measured(reader.pipeline)
    check = warn_if_off(rows, reader.feature_names, groups, weights) if measured else None
    fields = compare(steps, training, design, is_measured=measured)
    return Report(**fields, error_check=check)


def about_target(reader: Reader, source: Source, rows: GaussianRows, *, limited: bool) -> Keywords:
    """Error bars of the targets, their covariances with those of features, and which are limits."""
    columns = reader.columns
    if columns.target_std is None:
        y_std = None
    else:
        bar, unit, bar_of = columns.bar_of_target(), columns.target_unit, columns.target or ""
        y = (
            source.targets(bar_of, "regression", unit=unit)[0]
            if bar and (bar.share or len(bar.columns) == 2)
            else None
        )
        y_std = source.target_stds(columns.target_std, missing=0.0, unit=unit, bar=bar, y=y)
    about: Keywords = {"y_std": y_std}
    if limited:
        about["y_limit"] = limits(source, columns)
    pairs = PairsOfTarget(columns.target_corr, columns.target_cov)
    if pairs.columns and y_std is not None:
        about["xy_cov"] = covariances(source, reader.pipeline[0], rows, pairs, y_std)
    return about


BATCH_BYTES = 32 << 20
KEPT = 4
"""Times the sample that is kept while the number of rows is not known yet."""
_Part: TypeAlias = tuple[Table, Ints, Floats]
"""Rows of a batch, their numbers in the table, and the uniform numbers that were drawn for them."""


@dataclass(frozen=True)
class Drawn:
    source: Source
    at: Ints
    """Their numbers in the table, in order."""
    n_rows: int
    """Rows of the table."""
    beside: Keywords
    """Arguments beside the table: values per row of these rows, others as they are."""


def some_rows(reader: Reader, table: NativeTable, per_row: Keywords, most: int | None) -> Drawn | None:
    """About `most` of the rows of a larger table, with the columns of the model; None for all rows.

    `per_row`: columns of the caller's, or values per row, "groups" among them, of which whole ones are drawn.
    """
    if most is None:
        return None
    check_counts(max_rows=(most, 1))
    columns, groups = reader.columns, per_row["groups"]
    names = sorted({*columns.used, *columns.beside(), *(v for v in per_row.values() if isinstance(v, str))})
    groups = columns.groups if groups is None else groups
    groups = None if isinstance(groups, bool) else groups
    source = reader.opened(table._meta if is_dask(table) else table)
    if not columns.used and source.table is not None:
        return None  # a model of arrays takes a frame for one
    if is_dask(table):
        return _of_dask(table, names, per_row, groups, most)
    if source.table is not None:
        return _of_table(source, source.table, names, per_row, groups, most)
    rows = source.rows
    if not isinstance(rows, (GaussianArray, Incomplete, np.ndarray)) or len(rows) <= most:
        return None
    at = _chosen(_keys(groups, len(rows)), most / len(rows))
    return Drawn(Source.from_input(rows[at]), at, len(rows), _taken(per_row, at, len(rows)))


def _of_table(
    source: Source,
    table: Table,
    names: Sequence[str],
    per_row: Keywords,
    groups: str | Values | None,
    most: int,
) -> Drawn | None:
    """Rows of a table, batch by batch; None where it has no more, unless that is known only in the end."""
    names = [name for name in names if source.names.count(name) == 1]
    if isinstance(groups, str):
        groups = groups if groups in names else None
    elif groups is not None:
        groups = as_values(groups, "groups")
    n_rows = table.counted() if table.streams else table.load(names).n_rows
    if n_rows is not None and n_rows <= most:
        return None
    share = 1.0 if n_rows is None else most / n_rows
    parts: list[_Part] = []
    first = 0
    with source.named():
        for batch in table.batches(names, BatchSize(in_parts(len(names), BATCH_BYTES))):
            stop = first + batch.n_rows
            with numbered(first):
                here = groups if groups is None or isinstance(groups, str) else groups[first:stop]
                numbers = _numbers(Source(batch), here, first)
            at = np.flatnonzero(numbers < share)
            parts.append((batch.rows(names, at), first + at, numbers[at]))
            first = stop
            if n_rows is None and sum(len(at) for _, at, _ in parts) > KEPT * most:
                share = min(share, 2.0 * most / first)
                parts = _below(parts, share)
    parts = _below(parts, most / max(first, 1))
    if not parts:
        raise _no_rows_error(first)
    rows, at = Table.below([rows for rows, _, _ in parts]), np.concatenate([at for _, at, _ in parts])
    return Drawn(Source(table.standing_for(rows)), at, first, _taken(per_row, at, first))


def _below(parts: list[_Part], share: float) -> list[_Part]:
    """Rows with a number below the share, of the parts that have some."""
    kept = [(rows, at, numbers, np.flatnonzero(numbers < share)) for rows, at, numbers in parts]
    return [(rows.rows(rows.names, k), at[k], numbers[k]) for rows, at, numbers, k in kept if len(k)]


def _numbers(rows: Source, groups: str | Values | None, first: int) -> Floats:
    """Uniform numbers of rows, of which the first has this number in the table."""
    name = groups if isinstance(groups, str) else "groups"
    values = rows._values(groups, "groups")[0] if isinstance(groups, str) else groups
    return uniform(_keys(values, rows.n_rows, first, name))


def _no_rows_error(n_rows: int) -> UncertainError:
    return UncertainError("the sample has no rows: raise max_rows=" if n_rows else "the table has no rows")


def _chosen(keys: NDArray[np.uint64], share: float) -> Ints:
    return np.flatnonzero(uniform(keys) < share)


def _keys(groups: object, n_rows: int, first: int = 0, what: str = "groups") -> NDArray[np.uint64]:
    """Hashed keys of the rows: their numbers, or the names of their groups."""
    if groups is None:
        return np.arange(first, first + n_rows, dtype=np.uint64)
    values = as_values(groups, "groups")
    codes = groups_from(values, what, n_rows)
    _, where = np.unique(codes, return_index=True)
    return np.fromiter((_key(values[at]) for at in where.tolist()), np.uint64, len(where))[codes]


def _key(value: object) -> int:
    plain = value.item() if isinstance(value, np.generic) else value
    plain = int(plain) if isinstance(plain, float) and plain.is_integer() else plain
    return int.from_bytes(blake2b(repr(plain).encode(), digest_size=8).digest(), "little")


def _taken(beside: Keywords, at: Ints, n_rows: int) -> Keywords:
    """Names of columns, and whether there is anything, as they are; of values those of these rows."""
    taken: Keywords = {}
    for role, given in beside.items():
        if given is None or isinstance(given, (str, bool)):
            taken[role] = given
            continue
        values = as_values(given, role)
        if len(values) != n_rows:
            raise ShapeError(f"{role}: expected {n_rows} values, one per row, got {len(values)}")
        taken[role] = values[at] if isinstance(values, np.ndarray) else [values[k] for k in at.tolist()]
    return taken


def _of_dask(
    frame: NativeTable, names: Sequence[str], per_row: Keywords, groups: str | Values | None, most: int
) -> Drawn:
    """Rows of the partitions, which alone are brought here."""
    import dask
    import pandas as pd

    from .._rows.partition import answers

    for role, given in per_row.items():
        if not (given is None or isinstance(given, (str, bool))):
            raise ParameterError(f"{role}: must be the name of a column of the Dask DataFrame")
    names = [name for name in names if name in {*frame.columns}]
    by = groups if isinstance(groups, str) and groups in names else None
    partitions = frame[names].to_delayed()
    counts = answers((dask.delayed(len)(part) for part in partitions), "the sizes of the partitions")
    n_rows, before = sum(counts), np.cumsum([0, *counts]).tolist()
    parts = [
        dask.delayed(_of_partition)(part, first, by, min(1.0, most / n_rows))
        for part, first, count in zip(partitions, before, counts, strict=False)
        if count
    ]
    parts = [(rows, at) for rows, at in answers(parts, "rows of the partitions") if len(at)]
    if not parts:
        raise _no_rows_error(n_rows)
    rows = as_table(pd.concat([rows for rows, _ in parts], ignore_index=True))
    whole = as_table(frame._meta)
    assert whole is not None and rows is not None
    at = np.concatenate([at for _, at in parts])
    return Drawn(Source(whole.standing_for(rows)), at, n_rows, dict(per_row))


def _of_partition(
    frame: NativeTable, first: int, groups: str | None, share: float
) -> tuple[NativeTable, Ints]:
    """Rows of a partition, and their numbers in the table."""
    at = np.flatnonzero(_numbers(Source.from_input(frame), groups, first) < share)
    return frame.iloc[at], first + at
