"""Some of the rows of a large table, drawn by a hash while it is read: what reports, inspections, pictures
and summaries look at.

A table in memory is asked for the rows; a file, a query or a stream is read once, batch by batch, and no more
than a few times the sample is kept of it; the partitions of a Dask DataFrame draw where they lie. Every row
has the same chance (with groups, every group), by the hash of its number (of the group's name): so the same
table gives the same rows, however it is read.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from .._data.array import GaussianArray
from .._data.column import as_values
from .._data.groups import groups_from
from .._data.incomplete import Incomplete
from .._data.mixing import uniform
from .._data.typing import Floats, Ints, Keywords, NativeTable, Values
from .._report.folds import check_counts
from .._rows.batches import in_parts, numbered
from .._rows.source import Source
from .._tables.dask import is_dask
from .._tables.frame import BatchSize
from .._tables.table import Table
from ..exceptions import ParameterError, ShapeError, UncertainError
from .reader import Reader

BATCH_BYTES = 32 << 20
KEPT = 4
"""Times the sample that is kept while the number of rows is not known yet."""


@dataclass(frozen=True)
class Drawn:
    """Rows of a table."""

    source: Source
    at: Ints
    """Their numbers in the table, in order."""
    n_rows: int
    """Rows of the table."""
    beside: Keywords
    """Arguments beside the table: values per row of these rows, others as they are."""


def some_rows(reader: Reader, table: NativeTable, per_row: Keywords, most: int | None) -> Drawn | None:
    """Some of the rows of a large table, with the columns of the model; None for all rows.

    `per_row`: columns of the caller's, or values per row, "groups" among them.
    """
    if most is None:
        return None
    check_counts(max_rows=(most, 1))
    columns, groups = reader.columns, per_row["groups"]
    names = {*columns.used, *columns.beside(), *(v for v in per_row.values() if isinstance(v, str))}
    by = columns.groups if groups is None else groups
    opened = reader.opened(table._meta if is_dask(table) else table)
    if not columns.used and opened.table is not None:
        return None  # a model of arrays takes a frame for one
    rows = table if is_dask(table) else opened
    return draw(rows, sorted(names), per_row, None if isinstance(by, bool) else by, most)


def draw(
    source: Source | NativeTable,
    names: Iterable[str],
    beside: Keywords,
    groups: str | Values | None,
    most: int,
) -> Drawn | None:
    """About `most` of the rows of a larger table, with the columns of these names that it has; None for a
    table with no more rows, unless that is known only now that it has been read.

    `source`: a `Source`, or a Dask DataFrame; `groups`: the column that whole groups are drawn by, or a value
    per row; None for single rows.
    """
    if is_dask(source):
        return _of_dask(source, names, beside, groups, most)
    table, given = source.table, source.rows
    if table is None:
        if not isinstance(given, (GaussianArray, Incomplete, np.ndarray)) or len(given) <= most:
            return None
        at = _chosen(_keys(groups, len(given)), most / len(given))
        rows = given[at]
        return Drawn(Source.from_input(rows), at, len(given), _taken(beside, at, len(given)))
    own = [name for name in dict.fromkeys(names) if source.names.count(name) == 1]
    by = groups if not isinstance(groups, str) or groups in own else None
    n_rows = table.counted()
    if n_rows is not None and n_rows <= most:
        return None
    if table.streams:
        with source.named():
            some, at, n_rows = _streamed(table, own, by, most)
    else:
        table.load(own)
        n_rows = table.n_rows
        if n_rows <= most:
            return None
        values = source._values(by, "groups")[0] if isinstance(by, str) else by
        at = _chosen(_keys(values, n_rows), most / n_rows)
        some = table.rows(own, at)
    return Drawn(Source(table.standing_for(some)), at, n_rows, _taken(beside, at, n_rows))


def _streamed(
    table: Table, names: Sequence[str], groups: str | Values | None, most: int
) -> tuple[Table, Ints, int]:
    """Some rows of what is read batch by batch, their numbers, and the number of all."""
    n_rows = table.counted()
    share = 1.0 if n_rows is None else most / n_rows
    what = groups if isinstance(groups, str) else "groups"
    parts: list[_Part] = []
    seen = 0
    for batch in table.batches(names, BatchSize(in_parts(len(names), BATCH_BYTES))):
        with numbered(seen):
            here = groups
            if isinstance(groups, str):
                here = Source(batch)._values(groups, "groups")[0]
            elif groups is not None:
                here = groups[seen : seen + batch.n_rows]
            drawn = uniform(_keys(here, batch.n_rows, seen, what))
        at = np.flatnonzero(drawn < share)
        parts.append(_Part(batch.rows(names, at), seen + at, drawn[at]))
        seen += batch.n_rows
        if n_rows is None and sum(len(part.at) for part in parts) > KEPT * most:
            share = min(share, 2.0 * most / seen)
            parts = [part.below(share) for part in parts]
    share = most / max(seen, 1)
    parts = [part for part in (part.below(share) for part in parts) if len(part.at)]
    if not parts:
        raise _no_rows_error(seen)
    return Table.below([part.rows for part in parts]), np.concatenate([part.at for part in parts]), seen


def _no_rows_error(n_rows: int) -> UncertainError:
    return UncertainError("the sample has no rows: raise max_rows=" if n_rows else "the table has no rows")


@dataclass(frozen=True)
class _Part:
    """Rows of a batch with the numbers that were drawn for them."""

    rows: Table
    at: Ints
    drawn: Floats

    def below(self, share: float) -> _Part:
        kept = np.flatnonzero(self.drawn < share)
        if len(kept) == len(self.at):
            return self
        return _Part(self.rows.rows(self.rows.names, kept), self.at[kept], self.drawn[kept])


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


def _of_dask(frame: NativeTable, names: Iterable[str], beside: Keywords, groups: object, most: int) -> Drawn:
    """Rows of the partitions, which alone are brought here."""
    import dask
    import pandas as pd

    from .._rows.partition import answers

    for role, given in beside.items():
        if not (given is None or isinstance(given, (str, bool))):
            raise ParameterError(f"{role}: of a Dask DataFrame it is the name of a column")
    own = [name for name in dict.fromkeys(names) if name in set(frame.columns)]
    by = groups if groups in own else None
    parts = frame[own].to_delayed()
    counts = answers((dask.delayed(len)(part) for part in parts), "the sizes of the partitions")
    n_rows, before = sum(counts), np.cumsum([0, *counts])
    share = min(1.0, most / max(n_rows, 1))
    drawn = [
        dask.delayed(_of_partition)(part, int(first), by, share)
        for part, first, count in zip(parts, before, counts, strict=False)
        if count
    ]
    found = [one for one in answers(drawn, "rows of the partitions") if len(one[1])]
    if not found:
        raise _no_rows_error(n_rows)
    some = pd.concat([rows for rows, _ in found], ignore_index=True)
    whole = Source.from_input(frame._meta).table
    opened = Source.from_input(some).table
    assert whole is not None
    assert opened is not None
    at = np.concatenate([numbers for _, numbers in found])
    return Drawn(Source(whole.standing_for(opened)), at, n_rows, dict(beside))


def _of_partition(
    frame: NativeTable, first: int, groups: str | None, share: float
) -> tuple[NativeTable, Ints]:
    """Rows of a partition, and their numbers in the table."""
    values = None
    if groups is not None:
        values = Source.from_input(frame)._values(groups, "groups")[0]
    at = np.flatnonzero(uniform(_keys(values, len(frame), first, groups or "groups")) < share)
    return frame.iloc[at], first + at
