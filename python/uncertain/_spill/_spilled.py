"""Rows in a file: what the parts of `Parts` are in memory.

Means and the arrays of the covariances are matrices in files of their own, as they lie in memory, so that
the core reads the mapped pages in place. Numbers are checked on their way in, and not again.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from .._data.array import GaussianArray
from .._data.incomplete import GaussianRows, Incomplete, filled_gaussians, limit_codes
from .._data.mixture_array import MixtureArray
from .._data.typing import Array, Transformer
from .._uncertain import Gaussians, Rows
from ..exceptions import ParameterError, UncertainError
from ._column import Column
from ._parts import in_parts

OF_SEVERAL = (
    "are for rows in memory: leave memory= out, fit a sample of the rows, or make a column of one Gaussian "
    'for each row, X.collapse("gaussian").to_arrow(name)'
)
"""Why rows of several Gaussians are not put into files, and what to do."""


class Spill:
    """Rows in temporary files of a folder; as `Parts`."""

    def __init__(self, folder: Path, batch_bytes: int) -> None:
        self._folder = folder
        self._batch_bytes = batch_bytes
        self._written: _Written | None = None

    def append(self, rows: GaussianRows) -> None:
        """More rows at the end, of the kind of the first ones.

        The files are float32 as long as all rows are.
        """
        if not len(rows):
            return
        if isinstance(filled_gaussians(rows), MixtureArray):
            raise ParameterError(f"memory=: rows that are mixtures of several Gaussians {OF_SEVERAL}")
        if self._written is None:
            self._written = _Written(self._folder, rows)
        elif self._written.would_round(rows):
            self._written = self._widened(self._written)
        self._written.append(rows)

    def _widened(self, old: _Written) -> _Written:
        """The same rows in files of float64."""
        rows = old.rows()
        new = _Written(self._folder, rows[:1], np.dtype(np.float64))
        count = in_parts(old.row_bytes // 8, self._batch_bytes)
        for first in range(0, len(rows), count):
            new.append(rows[first : first + count])
        return new

    @property
    def row_bytes(self) -> int:
        """Bytes of a row in the file."""
        return 0 if self._written is None else self._written.row_bytes

    def rows(self) -> GaussianRows:
        """All of them, read where they lie."""
        if self._written is None:
            raise UncertainError("the table has no rows")
        return self._written.rows()

    def transform(self, step: Transformer) -> None:
        """What a fitted step makes of the rows: in their place where they keep their shape, else in new
        files."""
        assert self._written is not None
        old, rows = self._written, self._written.rows()
        new: _Written | None = None
        count = in_parts(old.row_bytes // 8, self._batch_bytes)
        for first in range(0, len(rows), count):
            made = step.transform(rows[first : first + count])
            if new is None:
                in_place = old.like(made) and not old.would_round(made)
                new = old if in_place else _Written(self._folder, made)
            if new is old:
                old.write(first, made)
            else:
                new.append(made)
        self._written = new

    def copied(self, step: Transformer) -> Spill:
        """What a step makes of the rows, in files of its own."""
        rows, copy = self.rows(), Spill(self._folder, self._batch_bytes)
        count = in_parts(self.row_bytes // 8, self._batch_bytes)
        for first in range(0, len(rows), count):
            copy.append(step.transform(rows[first : first + count]))
        return copy


class _Written:
    """Files of rows of one kind."""

    def __init__(self, folder: Path, first: GaussianRows, dtype: np.dtype[Any] | None = None) -> None:
        gaussians = filled_gaussians(first)
        self.kind = gaussians.kind
        self._names, self._unit = gaussians.feature_names, gaussians.unit
        self._means = Column(folder, gaussians.n_features, dtype or gaussians.dtype)
        fields = gaussians._core.fields()
        self._shared = {name: np.array(own) for name, own in fields.items() if self.kind == "shared"}
        self._fields = {
            n: Column(folder, own.shape[1], dtype or own.dtype)
            for n, own in fields.items()
            if n not in self._shared
        }
        of_gaps = isinstance(first, Incomplete)
        self._marks = Column(folder, gaussians.n_features, np.bool_) if of_gaps else None
        has_limits = isinstance(first, Incomplete) and first.limits is not None
        self._limits = Column(folder, gaussians.n_features, np.int8) if has_limits else None

    @property
    def row_bytes(self) -> int:
        columns = [self._means, *self._fields.values(), *filter(None, [self._marks, self._limits])]
        return sum(column.row_bytes for column in columns)

    def like(self, rows: GaussianRows) -> bool:
        """Do these rows consist of matrices of the same widths?"""
        gaussians = filled_gaussians(rows)
        widths = {name: own.shape[1] for name, own in gaussians._core.fields().items()}
        mine = {name: column.width for name, column in self._fields.items()}
        gaps = isinstance(rows, Incomplete) == (self._marks is not None)
        return (
            gaps
            and gaussians.kind == self.kind
            and widths == mine
            and gaussians.n_features == self._means.width
        )

    def would_round(self, rows: GaussianRows) -> bool:
        """Is one of their matrices float64 where the file is float32?"""
        gaussians = filled_gaussians(rows)
        pairs = [(gaussians.dtype, self._means)]
        fields = gaussians._core.fields().items()
        pairs += [(own.dtype, self._fields[name]) for name, own in fields if name in self._fields]
        return not all(np.can_cast(dtype, column.dtype) for dtype, column in pairs)

    def append(self, rows: GaussianRows) -> None:
        """More rows of the same kind."""
        if not self._shared and not self.like(rows):
            raise UncertainError(
                f"a batch of rows has {filled_gaussians(rows)!r}, but the rows before it "
                f"{self.kind} covariances of other widths: write the columns of error bars alike in all files"
            )
        self._put(rows, self._means.n_rows, grow=True)

    def write(self, first: int, rows: GaussianRows) -> None:
        """Rows in place of those from `first` on."""
        self._put(rows, first, grow=False)

    def _put(self, rows: GaussianRows, first: int, *, grow: bool) -> None:
        gaussians = filled_gaussians(rows)
        pairs: list[tuple[Column, Array]] = [(self._means, gaussians.means)]
        pairs += [
            (self._fields[name], own)
            for name, own in gaussians._core.fields().items()
            if name in self._fields
        ]
        if isinstance(rows, Incomplete) and self._marks is not None:
            pairs.append((self._marks, rows.missing))
        if self._limits is not None:
            pairs.append((self._limits, limit_codes(rows)))
        for column, values in pairs:
            if grow:
                column.append(values)
            else:
                column.write(first, values)

    def rows(self) -> GaussianRows:
        """All of them, mapped."""
        columns: dict[str, Array] = {name: column.mapped() for name, column in self._fields.items()}
        columns |= self._shared
        fields = {name: Rows.from_numpy(own, *own.shape) for name, own in columns.items()}
        means = self._means.mapped()
        core = Gaussians.from_fields(self.kind, Rows.from_numpy(means, *means.shape), fields)
        gaussians = GaussianArray._from_core(core, self._names, self._unit)
        if self._marks is None:
            return gaussians
        limits = None if self._limits is None else self._limits.mapped()
        return Incomplete(gaussians, self._marks.mapped(), limits)
