"""Rows of a table, or arrays, in the memory of this process."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from .._data.choices import Arms
from .._data.column import Coded, read_column
from .._data.targets import warn_of_weightless
from .._data.typing import Floats, Ints, Label, Limits
from .._data.warn import warn
from .._tables.columns import OF_LAWS, Columns, PairsOfTarget, listing
from .._tables.find import exact_candidates
from .._tables.size_model import fill_target_sizes
from .._tables.statistics import code_warning, codes_of
from ..exceptions import ParameterError, UncertainError, UncertainWarning
from ..preprocessing import AsGaussians
from . import of_target
from .batches import numbered
from .in_parts import InParts, read_in_parts
from .labelled import of_these_rows, rows_with_target
from .left_alone import LeftAlone, read_left_alone
from .reader import OF_PAIRS, PerRow, Policy, RowReader, Uses, no_target_std
from .source import Source
from .store import LocalRows
from .training import TrainingRows

SHAPED = 3
"""Features with asymmetric error bars of which a law keeps the shape by default: 27 Gaussians of a row."""


class InMemory(LocalRows):
    """Rows that are there at once: Gaussians, or an array of exact points."""

    rows: Any = None

    def __init__(self, training: TrainingRows) -> None:
        self.known = replace(training, rows=None)
        self.rows = training.rows

    def sample(self, most: int) -> TrainingRows:
        """All rows are not copied."""
        whole = replace(self.known, rows=self.rows)
        return whole if len(self.known.y) <= most else whole.sampled(most)

    def transform(self, step: BaseEstimator) -> None:
        """In new memory; what a sample holds stays."""
        self.rows = step.transform(self.rows)


@dataclass(eq=False)
class MemoryReader(RowReader):
    """Reads a table at once, or a large one part by part."""

    source: Source
    columns: Columns
    per_row: PerRow
    policy: Policy
    in_parts: bool
    reading: AsGaussians | None = field(default=None, init=False)
    _at: Ints | None = field(default=None, init=False)
    """The rows with a target, where others are left out."""

    def settle(self, task: str, *, partial: bool) -> bool:
        if self.per_row["y_cov"] is not None:
            y_cov = of_target.covariance_of_rows(self.per_row["y_cov"], self.source.n_rows)
            self.per_row = self.per_row | {"y_cov": y_cov}
        if self.policy.on_missing == "auto" and not partial:
            at = rows_with_target(self.source, self.per_row["target"])
            self.n_left_out = 0 if at is None else self.source.n_rows - len(at)
            self._keep(at)
        dropped = self._drop_weightless()
        source = self.source
        with self._numbered():
            self._y, self._regression = source.targets(self.per_row["target"], task, partial=partial)
        if not self._regression and (lost := dropped.difference(self._y.tolist())):
            warn_of_weightless(self.columns.target or "target", lost)
        if self._regression:
            columns = self.columns
            if code := code_warning(codes_of(columns.target or "target", self._y)):
                warn(code, UncertainWarning)
            unit = source.unit(columns.target)
            self.columns = columns if unit is None else columns.with_found(target_unit=unit)
        return self._regression

    def _keep(self, at: Ints | None) -> None:
        """Drop all rows but these; None for all."""
        if at is None:
            return
        columns, types = self.columns, self.types or {}
        names = [*columns.used, *columns.beside(), *columns.found.target_stds]
        names += [*columns.found.target_pairs.columns, *(n for n in types if types[n] == "number")]
        self.source, self.per_row = of_these_rows(self.source, self.per_row, at, names)
        self._at = at if self._at is None else self._at[at]
        self.in_parts = False

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

    def left_alone(self) -> LeftAlone | None:
        if self.types is None or self.in_parts:
            return None
        names = exact_candidates(self.columns, self.types)[0]
        if not names:
            return None
        return read_left_alone(self.source, names, self.policy.on_missing)

    def _numbered(self) -> AbstractContextManager[None]:
        """Errors name rows of the table."""
        return nullcontext() if self._at is None else numbered(0, self._at)

    def read(self, uses: Uses) -> LocalRows:
        with self._numbered():
            return self._read(uses)

    def _read(self, uses: Uses) -> LocalRows:
        source, per_row = self.source, self.per_row
        if uses.y_std and per_row["target_std"] is None and per_row["y_cov"] is None:
            self.columns = of_target.with_target_std(self.columns, law=uses.law)
        y_std = self._y_std(uses)
        pairs = self._pairs_of_target(uses, y_std)
        y_limit = self._y_limit(uses)
        groups = None if per_row["groups"] is None else source.groups(per_row["groups"])
        weights = None if per_row["sample_weight"] is None else source.weights(per_row["sample_weight"])
        if weights is not None and (weights == 1.0).all():
            weights = None
        y: Any = Coded.from_labels(self._y) if self.in_parts else self._y
        del self._y  # eight bytes a row
        known = TrainingRows(None, y, weights, groups, y_std, y_limit=y_limit, **self._of_laws(uses))
        if source.table is None and not uses.gaps:
            return InMemory(replace(known, rows=source.rows))
        self.reading = AsGaussians(
            columns=self.columns, **self.policy._asdict() | {"arms": self._arms(uses, pairs)}
        )
        if self.in_parts:
            with source.named():
                return InParts(read_in_parts(self.reading, source, sorted(self.columns.used)), known)
        rows = self.reading._fit_columns(source.rows, self.columns)
        if known.y_std is not None and self.policy.on_missing == "auto":
            y_std = fill_target_sizes(known.y, known.y_std)
            known = replace(known, y_std=y_std)
        if pairs is not None and y_std is not None:
            xy_cov = of_target.covariances(source, self.reading, rows, pairs, y_std)
            known = replace(known, xy_cov=xy_cov)
        return InMemory(replace(known, rows=rows))

    def _of_laws(self, uses: Uses) -> dict[str, Floats]:
        """Offsets, events and modes, as far as there are any."""
        known: dict[str, Any] = {}
        for role in (*OF_LAWS, *OF_PAIRS):
            given = self.per_row[role]
            if given is None:
                continue
            if role not in uses.of_laws:
                raise ParameterError(
                    f'{role}=: {uses.name} does not know it; the laws of method="law" do: offset= and event= '
                    "those of family=, y_cov= lines, and modes= all of them"
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
        return self.source.target_stds(given, self.policy.missing_std, unit=self.columns.target_unit)

    def _pairs_of_target(self, uses: Uses, y_std: Floats | None) -> PairsOfTarget | None:
        """Columns of covariances with the target's errors, if the fit uses them."""
        per_row, pairs = self.per_row, self.columns.found.target_pairs
        if not (pairs.corr or pairs.cov):
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
                    warn(f"ignored beside y_cov=: {names}; they need target_std=", UncertainWarning)
                return None
            raise UncertainError(
                f"{next(iter(pairs.columns))} needs the error bars of {per_row['target']!r}: pass target_std="
            )
        self.columns = of_target.with_pairs_of_target(self.columns, pairs)
        return pairs

    def _arms(self, uses: Uses, pairs: PairsOfTarget | None) -> Arms:
        """What is kept of asymmetric error bars."""
        if self.policy.arms != "auto":
            return self.policy.arms
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
        limits = of_target.limits(self.source, self.columns)
        if limits is not None and not uses.y_limit:
            raise ParameterError(
                f"limits={{{self.per_row['target']!r}: {column!r}}}: targets may be limits where they are "
                'numbers, with method="mixture"'
            )
        return limits
