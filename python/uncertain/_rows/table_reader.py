"""`TableReader`: a table, or arrays, on its way into parts in memory or in files.

Columns beside the features (targets, weights, groups) are read first, as whole columns; then the features,
at once or part by part.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from .._data.choices import Arms
from .._data.column import Coded, read_column
from .._data.options import refuse_if
from .._data.targets import warn_of_weightless
from .._data.typing import Floats, Ints, Label, Limits
from .._data.warn import warn
from .._tables.columns import OF_LAWS, Columns, PairsOfTarget, listing
from .._tables.frame import BatchSize
from .._tables.size_model import fill_target_sizes
from .._tables.statistics import code_warning, codes_of
from .._tables.table import Table
from ..exceptions import ParameterError, UncertainError, UncertainWarning
from ..preprocessing import AsGaussians
from . import target
from .batches import read_in_parts
from .mapped import OF_SEVERAL, Budget, copied
from .reader import OF_PAIRS, PerRow, Policy, RowReader, Uses, no_target_std, refuse_of_laws
from .rows import Files, Place, Rows
from .source import PART_BYTES, Source, in_parts, numbered
from .training import TrainingRows

SHAPED = 3
"""Features with asymmetric error bars of which a law keeps the shape by default: 27 Gaussians of a row."""


@dataclass(eq=False)
class TableReader(RowReader):
    """Reads a table at once, or a large one part by part; ParameterError for what cannot be read in parts
    into files."""

    source: Source
    columns: Columns
    per_row: PerRow
    policy: Policy
    in_parts: bool
    budget: Budget | None = None
    reading: AsGaussians | None = field(default=None, init=False)
    numbers: Ints | None = field(default=None, init=False)
    """The rows with a target, where others are left out."""
    _n_sized: int = field(default=0, init=False)
    """Error bars of the target that are from a model of sizes."""

    def __post_init__(self) -> None:
        self._features = self.source
        if self.budget is not None:
            _refuse(self.source, self.columns, self.per_row)
            self.in_parts = True

    def settle(self, task: str, *, partial: bool) -> bool:
        if self.per_row["y_cov"] is not None:
            y_cov = target.covariance_of_rows(self.per_row["y_cov"], self.source.n_rows)
            self.per_row = self.per_row | {"y_cov": y_cov}
        if self.in_parts:
            self._read_beside()
        if self.policy.on_missing == "auto":
            self.source, self.per_row = target.clean_target(self.source, self.per_row, self.columns, task)
        if self.policy.on_missing == "auto" and not partial:
            at = self.source.rows_with(self.per_row["target"])
            self.n_left_out = 0 if at is None else self.source.n_rows - len(at)
            self._keep(at)
        dropped = self._drop_weightless()
        source = self.source
        with self._numbered():
            self._y, self._regression = source.targets(
                self.per_row["target"], task, partial=partial, coded=self.in_parts
            )
        if not self._regression:
            labels = self._y.classes if isinstance(self._y, Coded) else self._y
            if lost := dropped.difference(labels.tolist()):
                warn_of_weightless(self.columns.target or "target", lost)
        if self._regression:
            columns = self.columns
            code = code_warning(codes_of(columns.target or "target", self._y))
            if code is not None and self.policy.on_missing != "auto":
                warn(code, UncertainWarning)
            unit = source.unit(columns.target)
            self.columns = columns if unit is None else columns.with_found(target_unit=unit)
        return self._regression

    def _read_beside(self) -> None:
        """Read what stands beside the features; a stream is copied to files, which can be read again."""
        table = self.source.table
        assert table is not None
        names, rows = self._beside(), in_parts(len(self.columns.used), self._part_bytes)
        if table.streams and not table.repeats:
            used = {*names} | self.columns.used
            table = copied(table, [name for name in table.names if name in used], rows)
            self._features = Source(table)
        with self.source.named():
            self.source = Source(_collected(table, names, rows))

    def _beside(self) -> list[str]:
        """The columns of the table that only the fit looks at."""
        named = {name for name in self.per_row.values() if isinstance(name, str)}
        found = self.columns.found.of_target
        return [*dict.fromkeys([*sorted(named | self.columns.beside()), *found])]

    @property
    def _part_bytes(self) -> int:
        return PART_BYTES if self.budget is None else self.budget.batch_bytes

    def _keep(self, at: Ints | None) -> None:
        """Drop all rows but these; None for all."""
        if at is None:
            return
        names, types = self._beside(), self.types or {}
        if not self.in_parts:
            names += [*self.columns.used, *self.columns.found.target_pairs.columns]
            names += [name for name in types if types[name] == "number"]
        n_rows = self.source.n_rows
        self.per_row = {role: _taken(role, values, at, n_rows) for role, values in self.per_row.items()}
        self.source = self.source.take(at, names)
        self.numbers = at if self.numbers is None else self.numbers[at]

    def _drop_weightless(self) -> set[Label]:
        """Drop rows of weight 0, whatever stands in them; the labels of what was dropped."""
        if (given := self.per_row["sample_weight"]) is None:
            return set()
        with self._numbered():
            counted = self.source.weights(given) > 0.0
            values = self.source._values(self.per_row["target"], "target")
        if counted.all():
            return set()
        self._keep(np.flatnonzero(counted))
        column = read_column(*values, "targets")
        if column.kind == "others":
            return set()
        labels, codes = column.distinct()
        dropped = ~counted if column.missing is None else ~(counted | column.missing)
        return set(labels[np.unique(codes[dropped])].tolist())

    def _numbered(self) -> AbstractContextManager[None]:
        """Errors name rows of the table."""
        return nullcontext() if self.numbers is None else numbered(0, self.numbers)

    def read(self, uses: Uses) -> Rows:
        with self._numbered():
            known, pairs = self._known(uses)
        if self._features.table is None and not uses.gaps:
            return Rows([self.source.rows], known)
        self.reading = AsGaussians(
            columns=self.columns, **self.policy._asdict() | {"arms": self._arms(uses, pairs)}
        )
        if self.in_parts:
            self.source = self._features  # without what was read beside them
            place = Place() if self.budget is None else Files(self.budget)
            parts = read_in_parts(
                self.reading, self._features, self.columns, place,
                at=self.numbers, part_bytes=self._part_bytes,
            )  # fmt: skip
            self.reading.count_target(self.columns.target, self._n_sized)
            return Rows(parts, known, place)
        with self._numbered():
            rows = self.reading._fit_columns(self.source.rows, self.columns)
            self.reading.count_target(self.columns.target, self._n_sized)
            if pairs is not None and known.y_std is not None:
                xy_cov = target.covariances(self.source, self.reading, rows, pairs, known.y_std)
                known = replace(known, xy_cov=xy_cov)
        return Rows([rows], known)

    def _known(self, uses: Uses) -> tuple[TrainingRows, PairsOfTarget | None]:
        """Arguments of each row beside the features; columns of covariances with the target's errors."""
        source, per_row = self.source, self.per_row
        if uses.y_std and per_row["target_std"] is None and per_row["y_cov"] is None:
            self.columns = target.with_target_std(self.columns, arms=True)
        y_std = self._y_std(uses)
        pairs = self._pairs_of_target(uses, y_std)
        y_limit = self._y_limit(uses)
        groups = None if per_row["groups"] is None else source.groups(per_row["groups"])
        weights = None if per_row["sample_weight"] is None else source.weights(per_row["sample_weight"])
        if weights is not None and (weights == 1.0).all():
            weights = None
        y = self._y
        del self._y  # eight bytes a row
        if y_std is not None and self._regression and self.policy.on_missing == "auto":
            self._n_sized = int(np.isnan(y_std).sum())
            y_std = fill_target_sizes(y, y_std)
        return TrainingRows(None, y, weights, groups, y_std, y_limit=y_limit, **self._of_laws(uses)), pairs

    def _of_laws(self, uses: Uses) -> dict[str, Floats]:
        """Offsets, events and modes, as far as there are any."""
        known: dict[str, Any] = {}
        for role in (*OF_LAWS, *OF_PAIRS):
            given = self.per_row[role]
            if given is None:
                continue
            refuse_if(
                role not in uses.of_laws,
                f"{role}=: {uses.name} does not use it. It is for laws (offset= and event= with family=, "
                'y_cov= for lines): method="law"',
            )
            if role in OF_PAIRS:
                known[role] = given
                continue
            known[role] = self.source.beside(given, role)
            if getattr(self.columns, role) is None:
                self.columns = self.columns.changed(**{role: True})
        return known

    def _y_std(self, uses: Uses) -> Floats | None:
        given = self.per_row["target_std"]
        given = self.columns.target_std if given is None else given
        if given is None:
            return None
        if not uses.y_std:
            raise no_target_std(uses)
        columns, missing = self.columns, self.policy.missing_std
        return self.source.target_stds(
            given, missing, unit=columns.target_unit, bar=columns.bar_of_target(), y=self._y
        )

    def _pairs_of_target(self, uses: Uses, y_std: Floats | None) -> PairsOfTarget | None:
        """Columns of covariances with the target's errors, if the fit uses them."""
        per_row, pairs = self.per_row, self.columns.found.target_pairs
        if self.in_parts or not (pairs.corr or pairs.cov):
            return None
        if not uses.xy_cov:
            if pairs.named:
                raise ParameterError(
                    f"{next(iter(pairs.columns))} is given for the target {per_row['target']!r}: covariances "
                    'with its errors are used by method="mixture" for numbers'
                )
            return None
        if y_std is None:
            if not pairs.named:
                if per_row["y_cov"] is not None:
                    names = listing(pairs.columns)
                    warn(
                        f"ignored because of y_cov=: {names}. To use them pass target_std=", UncertainWarning
                    )
                return None
            raise UncertainError(
                f"{next(iter(pairs.columns))} needs the error bars of {per_row['target']!r}: pass target_std="
            )
        self.columns = target.with_pairs_of_target(self.columns, pairs)
        return pairs

    def _arms(self, uses: Uses, pairs: PairsOfTarget | None) -> Arms:
        """The moments that are kept of asymmetric error bars."""
        if self.policy.arms != "auto":
            return self.policy.arms
        if self.budget is not None:
            return "moments"
        columns = self.columns
        shared = self.per_row["modes"] is not None or self.per_row["y_cov"] is not None
        shared |= columns.corr is not None or (columns.cov is not None and "cov" not in columns.lists)
        n_arms = sum(len(bar.columns) == 2 for bar in columns.error_bars.values())
        shapes = uses.shapes and 0 < n_arms <= SHAPED and pairs is None and not shared
        return "shape" if shapes else "moments"

    def _y_limit(self, uses: Uses) -> Limits | None:
        column = self.columns.found.target_limit
        if column is None:
            return None
        limits = target.limits(self.source, self.columns)
        if limits is not None and not uses.y_limit:
            raise ParameterError(
                f"limits={{{self.per_row['target']!r}: {column!r}}}: targets may be limits where they are "
                'numbers, with method="mixture"'
            )
        return limits


def _taken(role: str, values: Any, at: Ints, n_rows: int) -> Any:
    """Arguments of some rows; columns stay, and so do values of another length, refused later."""
    if values is None or isinstance(values, str) or len(values) != n_rows:
        return values
    if role in OF_LAWS and isinstance(values, (list, tuple)) and all(isinstance(v, str) for v in values):
        return values
    if role in OF_PAIRS:
        return np.asarray(values)[np.ix_(at, at)]
    if hasattr(values, "iloc"):
        return values.iloc[at]
    return values[at] if hasattr(values, "dtype") else [values[k] for k in at.tolist()]


def _collected(table: Table, names: Sequence[str], rows: int) -> Table:
    """These columns in memory; text as places among its distinct values, four bytes each."""
    import polars as pl

    if table.collected(names) or not table.streams:
        return table
    batches = []
    for batch in table.batches(names, BatchSize(rows)):
        columns = [c.cast(pl.Categorical) if c.dtype == pl.String else c for c in batch.columns.values()]
        batches.append(batch.with_columns(columns))
    return Table.below(batches) if batches else table.load(names)


def _refuse(source: Source, columns: Columns, per_row: PerRow) -> None:
    """ParameterError for what is no table in columns, or is not read part by part."""
    refuse_of_laws(per_row)
    table, with_target = source.table, columns.found.target_pairs
    refuse_if(
        with_target.named and with_target.columns,
        "memory=: covariances with the errors of the target are for rows in memory; leave them out",
    )
    if table is None:
        raise ParameterError(
            f"memory=: data of type {type(source.rows).__name__} is in memory already; pass a table, a "
            "path, a dataset or a reader of batches"
        )
    drawn = [name for name in columns.draws or () if table.types.get(name) == "list"]
    if drawn:
        raise ParameterError(f"memory=: {listing(drawn)}: draws {OF_SEVERAL}")
    for role, given in per_row.items():
        if given is not None and not isinstance(given, str):
            raise ParameterError(
                f"memory=: {role}= must be the name of a column, which is read with the rows"
            )
    refuse_if(
        table.origin and not table.streams,
        f"memory=: {table.origin} is of a format that is read as a whole; write it as Parquet first, "
        f"such as by uncertain convert {table.origin} table.parquet",
    )
    if columns.target_limit is not None:
        raise ParameterError(
            f"memory=: limits of the target in {columns.target_limit!r} are for rows in memory"
        )
