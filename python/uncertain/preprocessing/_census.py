"""`Census`: what is learned of a table's numbers before they are read, from all rows, part by part.

Codes for missing values stand at the ends of a column (`_sentinels.py`). An error bar of zero is no size
beside a value that is not zero, where fewer than one in twenty are zero and the others positive: archives
round small ones to zero or have nothing else to write. The model of sizes is learned from the rows of the
smallest hashes of their numbers, which are the same whatever the parts, in memory, in a file or on a cluster;
sums of squares were tried in place of a sample, and cannot take codes back out, which are known in the end
only.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._columns.columns import Columns
from .._data.mixing import mixed
from .._data.typing import Floats
from .._tables import Table
from .._uncertain import Rows
from ._sentinels import Ends, find_sentinels, sentinel_warning, watch_ends
from ._unknown import Unknown

MOST_ROWS = 20_000
"""Rows of the sample at most."""
MOST_NUMBERS = 1 << 20
"""Numbers of the sample at most, those of lists among them."""
BLOCK = 1 << 20
"""Rows whose hashes are there at once."""
RARE = 0.05
"""Error bars of zero that are fewer than this, among all that are not missing, are no sizes."""


class Census:
    """Counts of the parts of a table so far."""

    def __init__(self, columns: Columns, share: float = 1.0, *, table: Table | None = None) -> None:
        """`share`: of the rows, by their hashes, that may be of the sample; `table`: the first part."""
        self.columns = columns
        self._names = sorted(columns.used - {*(columns.categorical or ())})
        self._bars = {name: bar.kind for bar in columns.error_bars.values() for name in bar.columns}
        self._ends: dict[str, Ends] = {}
        self._zeros: dict[str, list[int]] = {}
        self._incomplete: set[str] = set()
        self._has_text = False
        self._sample = _Sample(share)
        if table is not None:
            self.add(table)

    def add(self, table: Table, first: int = 0) -> None:
        """A part whose first row has this number in the table.

        Numbers are looked at where they lie, column by column. (The rows that are made of them lie side by
        side: going through those takes three times as long.)
        """
        columns = self.columns
        self._sample.add(table, [name for name in self._names if name in table.names], first)
        names = [name for name in (*columns.scalars, *self._bars) if table.types.get(name) == "number"]
        self._has_text |= len(names) < len(columns.scalars) + len(self._bars)
        lists = [] if columns.mean is None else [columns.mean]
        lists += [columns.lists[kind] for kind in ("std", "var") if lists and kind in columns.lists]
        numbers: list[tuple[str, Floats]] = []
        for name, column in zip([*names, *lists], table.numbers([*names, *lists]), strict=True):
            values = Rows.from_arrow([column], [name], "nan").to_numpy()
            if name not in self._incomplete and not np.isfinite(values).all():
                self._incomplete.add(name)
            numbers += [
                (name if name in names else f"{name}[{j}]", values[:, j]) for j in range(values.shape[1])
            ]
        watch_ends(self._ends, numbers)
        self._count_zeros(dict(numbers))

    def _count_zeros(self, numbers: dict[str, Floats]) -> None:
        """Error bars of zero beside values that are not, and all that are there."""
        for feature, bar in self.columns.error_bars.items():
            for name in bar.columns:
                if bar.kind != "limits" and name in numbers and feature in numbers:
                    size, counts = numbers[name], self._zeros.setdefault(name, [0, 0])
                    counts[0] += int(np.count_nonzero((size == 0.0) & (numbers[feature] != 0.0)))
                    counts[1] += int(np.count_nonzero(np.isfinite(size)))

    def merge(self, other: Census) -> None:
        """Another census of other rows of the same columns."""
        for name, ends in other._ends.items():
            self._ends.setdefault(name, Ends(name)).merge(ends)
        for name, counts in other._zeros.items():
            own = self._zeros.setdefault(name, [0, 0])
            own[:] = own[0] + counts[0], own[1] + counts[1]
        self._incomplete |= other._incomplete
        self._has_text |= other._has_text
        self._sample.merge(other._sample)

    @property
    def has_gaps(self) -> bool:
        """Is a value missing?"""
        coded = {code.column.partition("[")[0] for code in find_sentinels(self._ends)}
        return not (self._incomplete | coded).isdisjoint({self.columns.mean, *self.columns.scalars})

    @property
    def is_complete(self) -> bool:
        """Is every number there that was looked at, and no column of text?"""
        return not (self._incomplete or self._has_text)

    def guesses(self, *, taken: bool) -> Guesses:
        """What stands for nothing: numbers that look like codes, and rare zeros.

        `taken`: they are taken for unknown, among them a negative number that error columns repeat.
        """
        sizes = {name for name, kind in self._bars.items() if kind in ("std", "var")} if taken else ()
        codes = find_sentinels(self._ends, sizes)
        zeros = self._rare_zeros() if taken else {}
        unknown = Unknown()
        if taken and (codes or zeros):
            by_column: dict[str, tuple[float, ...]] = {}
            for code in codes:
                by_column[code.column] = (*by_column.get(code.column, ()), code.value)
            unknown = Unknown(by_column, tuple(zeros))
        of_zeros = [f"{name} is 0 in {count:,} row{'s' * (count > 1)}" for name, count in zeros.items()]
        complete = self.is_complete and not (taken and (codes or zeros))
        warning = sentinel_warning([*codes, *of_zeros], taken=taken) if codes or zeros else None
        return Guesses(unknown, warning, complete)

    def _rare_zeros(self) -> dict[str, int]:
        """By error column in which a zero is no size how many there are."""
        return {name: zero for name, (zero, n) in self._zeros.items() if 0 < zero < RARE * n}

    def with_sizes(self, unknown: Unknown, columns: Columns, *, complete: bool) -> Unknown:
        """The same with the model of sizes of the rows of the sample, if there are any."""
        sample = self._sample.table()
        if sample is None:
            return unknown
        return unknown.with_sizes(sample, columns, complete=complete)


class Guesses(NamedTuple):
    """What was learned of numbers that may mean nothing."""

    unknown: Unknown
    """Those that are taken for unknown."""
    warning: str | None
    """What was guessed, in words; None if nothing."""
    complete: bool
    """Is nothing missing?"""


class _Sample:
    """The rows of the smallest hashes."""

    def __init__(self, share: float) -> None:
        self._most = 0
        self._largest = np.uint64(min(int(share * 2.0**64), 2**64 - 1))
        self._parts: list[tuple[NDArray[np.uint64], Table]] = []

    def add(self, table: Table, names: Sequence[str], first: int) -> None:
        """Rows of a table, the first of which has this number."""
        columns = table.series(names)
        n_rows = len(columns[0]) if columns else 0
        if not self._most and n_rows:
            row_bytes = sum(column[:1].estimated_size() for column in columns)
            self._most = int(min(MOST_ROWS, max(8 * MOST_NUMBERS / max(row_bytes, 8), 1)))
        for start in range(0, n_rows, BLOCK):
            stop = min(start + BLOCK, n_rows)
            keys = mixed(np.arange(first + start, first + stop, dtype=np.uint64))
            at = np.flatnonzero(keys <= self._limit(keys))
            if len(at):
                self._parts.append((keys[at], table.rows(names, start + at)))
                self._prune()

    def merge(self, other: _Sample) -> None:
        """Other rows."""
        self._most = self._most or other._most
        self._parts += other._parts
        self._prune()

    def _limit(self, *more: NDArray[np.uint64]) -> np.uint64:
        """The hash beyond which no row can be of the sample; `more`: hashes of rows not there yet."""
        every = np.concatenate([*(keys for keys, _ in self._parts), *more])
        if len(every) < self._most:
            return self._largest
        return min(self._largest, np.partition(every, self._most - 1)[self._most - 1])

    def _prune(self, slack: int = 2) -> None:
        """Let go of rows that cannot be of the sample, once they are many."""
        if sum(len(keys) for keys, _ in self._parts) <= slack * self._most:
            return
        limit = self._limit()
        parts = [(keys, np.flatnonzero(keys <= limit), rows) for keys, rows in self._parts]
        self._parts = [(keys[at], rows.rows(rows.names, at)) for keys, at, rows in parts if len(at)]

    def table(self) -> Table | None:
        """The rows, by their hashes; None if there are none."""
        if not self._parts:
            return None
        self._prune(slack=1)
        order = np.argsort(np.concatenate([keys for keys, _ in self._parts]), kind="stable")
        return Table.below([rows for _, rows in self._parts], order)
