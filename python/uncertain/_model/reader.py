"""`Reader`: what a fitted model reads, the columns of its fit in whatever table they come.

Rows, targets, groups and weights of a table, checked as `uncertain.fit` checked them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, TypeAlias, TypeVar

import numpy as np
from scipy.stats import binom
from sklearn.base import is_regressor
from sklearn.pipeline import Pipeline

from .._data.array import GaussianArray, value_sizes
from .._data.column import read_column
from .._data.groups import Groups
from .._data.incomplete import GaussianRows, Incomplete, vstack
from .._data.options import check_option
from .._data.targets import places
from .._data.typing import Array, ColumnOrValues, Floats, Indexable, Labels
from .._data.validation import TableLike, check_fitted_names
from .._data.warn import warn
from .._errors.sizes import QUANTILES, WAYS, Errors, ErrorSizes, absent_errors, typical_rows, with_stand_ins
from .._rows.source import Source, in_parts, numbered
from .._tables.columns import Columns, listing
from .._tables.frame import BatchSize
from .._tables.table import Table
from ..exceptions import ErrorSizesWarning, ParameterError, ShapeError, UncertainError, UncertainWarning
from ..preprocessing import AsGaussians, GaussianImputer
from ..preprocessing._moves import gaussian_rows
from .pipeline_facts import advice, feature_names, tolerated, true_values

BlockAnswer = TypeVar("BlockAnswer")
Answer: TypeAlias = Callable[[Pipeline, GaussianRows], tuple[Array, ...]]
"""Arrays with a value for each row, from steps and rows."""
BLOCK_BYTES = 8 << 20
"""Of the numbers of a block: what steps make of them is up to ten times as large."""
LOOKED_AT = 50_000
"""Rows whose errors are compared with those of the fit, of many."""
MARGIN, SHARE, CHANCE = 1.25, 0.1, 1e-6
NAMED = 3
"""Features that a warning names."""


def _numbers(rows: GaussianArray | Floats) -> int:
    """Numbers of a row."""
    return rows._core.row_bytes // 8 if isinstance(rows, GaussianArray) else rows.shape[1]


class Reader:
    """A fitted pipeline and its columns."""

    def __init__(self, pipeline: Pipeline, columns: Columns, sizes: ErrorSizes | None) -> None:
        self.pipeline = pipeline
        self.columns = columns
        self.sizes = sizes
        """How large errors were in the fit."""
        self.has_reading_step = isinstance(pipeline[0], AsGaussians)
        """Is there a step in front that makes Gaussians of what is read?"""
        self.steps: Pipeline = pipeline[int(self.has_reading_step) :]
        """The steps behind that one."""
        self.is_regression = is_regressor(pipeline)
        self.classes: Labels | None = getattr(pipeline[-1], "classes_", None)
        self.target_name = columns.target or "prediction"
        """Name of the predictions."""
        self.target_unit = columns.target_unit if self.is_regression else None
        """The unit of predicted numbers."""
        self._has_warned = self._has_warned_of_plain = False

    @property
    def feature_names(self) -> list[str]:
        """Names of the features: the columns, or x0, x1, ... without names."""
        return feature_names(self.pipeline)

    @cached_property
    def _tolerated(self) -> tuple[float, float]:
        """Factors by which errors may be off."""
        return tolerated(self.pipeline)

    def gaussians(self, source: Source) -> GaussianArray:
        """The rows, their gaps filled from what the model has learned of the features."""
        rows = self.rows(source)
        return self._filled(rows) if isinstance(rows, Incomplete) else rows

    def source(
        self,
        table: TableLike,
        *labelled: object,
        adds: Sequence[str] | None = None,
        blocks: bool = False,
        errors: Errors = None,
    ) -> Source:
        """The table, a lazy one collected: the columns that the model reads, with `labelled` ones also what
        it learned from, all for an answer that `adds` columns; large files to be asked in `blocks` stay where
        they are."""
        columns, source = self.columns, self.opened(table, errors)
        if adds is not None:
            return source.check_new(adds, "append=False")
        if source.table is None or not source.table.is_late:
            return source
        learned = (*columns.beside(), *labelled) if labelled else ()
        if blocks and source.is_large(columns):
            return source.load(learned) if labelled else source
        return source.load([*columns.used, *learned])

    def opened(self, table: TableLike, errors: Errors = None) -> Source:
        """The table, of which nothing is read; ColumnError unless it has what the model reads."""
        if errors is not None:
            check_option("errors", errors, ("typical", "zero"))
        source, reads = Source.from_input(table, notes=False), self.columns.needed
        if source.table is None:
            return self._with_errors(source, errors)
        if not self.columns.used and not _is_plain(source.table, self.steps.n_features_in_):
            raise ParameterError(
                f"the model was fitted to arrays ({self.steps.n_features_in_} features: "
                f"{listing(self.feature_names)}), not to a table. Pass a GaussianArray, such as "
                "AsGaussians().fit_transform(table)"
            )
        if {*reads} <= {*source.table.names}:
            return source
        absent, advice = absent_errors(source.table, self.columns), f"the model reads {listing(reads)}"
        source.require([name for name in reads if name not in absent], advice)
        if errors is None or not self.has_reading_step:
            source.require(reads, f"{advice}; {WAYS}")
        return replace(source, absent=frozenset(absent), errors=errors)

    def _with_errors(self, source: Source, errors: Errors) -> Source:
        """Plain numbers with the error bars that are asked for; a warning, once, where nothing is said."""
        sizes = self.sizes
        plain = not isinstance(source.data, (GaussianArray, Incomplete))
        if sizes is None or not sizes.upper.any() or not plain or errors == "zero":
            return source
        if errors == "typical":
            return Source(typical_rows(source.data, sizes))
        if not self._has_warned_of_plain:
            self._has_warned_of_plain = True
            warn(
                "X has no error bars, so its values are treated as exact. Pass a GaussianArray, "
                'errors="zero", or for the sizes seen in training errors="typical"',
                UncertainWarning,
            )
        return source

    def input(self, source: Source) -> Any:
        """Rows as the pipeline takes them."""
        return source.rows if self.has_reading_step else self._check_width(source.data)

    def _check_width(self, rows: Indexable) -> Indexable:
        """The rows; ShapeError unless they have as many features as those of the fit."""
        shape: tuple[int, ...] = getattr(rows, "shape", ())
        d = self.steps.n_features_in_
        if len(shape) == 2 and shape[1] != d:
            raise ShapeError(f"X has {shape[1]} features, but the model was fitted to {d}")
        return rows

    def answers(self, source: Source, answer: Answer) -> tuple[Array, ...]:
        """Results of `answer` (of the steps behind the reading ones, and rows) for all rows, block by
        block."""
        steps = self.steps
        blocks = self.ask_blocks(source, lambda _, rows, before: answer(steps, rows))
        if len(blocks) == 1:
            return blocks[0]
        return tuple(np.concatenate(each) for each in zip(*blocks, strict=True))

    def ask_blocks(
        self, source: Source, ask: Callable[[Source, GaussianRows, int], BlockAnswer], *beside: str
    ) -> list[BlockAnswer]:
        """Results of `ask` for every block, its rows and the number of rows before; with these columns."""
        blocks = self._blocks(source, *beside)
        if blocks is None:
            rows = self.rows(source) if self.has_reading_step else self.input(source)
            answer = ask(source, rows, 0)
            self._compare_errors(rows)
            return [answer]
        answers: list[BlockAnswer] = []
        looked: list[GaussianRows] = []
        n_rows = 0
        for block, every in blocks:
            with numbered(n_rows):
                rows = self.rows(block) if self.has_reading_step else self.input(block)
                answers.append(ask(block, rows, n_rows))
            n_rows += len(rows)
            if isinstance(rows, (GaussianArray, Incomplete)):
                looked.append(rows if every == 1 else rows[np.arange(0, len(rows), every)])
        if looked:
            self._compare_errors(vstack(looked))
        return answers

    def _blocks(self, source: Source, *beside: str) -> Iterator[tuple[Source, int]] | None:
        """The rows in blocks, and one in how many of them is enough to look at; None for rows that are one
        block."""
        table = source.table
        if table is not None and self.has_reading_step:
            names = sorted((self.columns.used | {*beside}) - source.absent)
            size = BatchSize(in_parts(len(names) or 1, BLOCK_BYTES))
            n_rows = table.counted()
            if names and (n_rows is None or n_rows > size.rows):
                every = 1 if n_rows is None else max(n_rows // LOOKED_AT, 1)
                return ((replace(source, rows=block), every) for block in table.batches(names, size))
            if table.is_late:
                table.load(names)
        elif table is None and isinstance(source.data, (GaussianArray, np.ndarray)) and source.data.ndim == 2:
            rows, n_rows = source.data, len(source.data)
            most, every = in_parts(_numbers(rows), BLOCK_BYTES), max(n_rows // LOOKED_AT, 1)
            if n_rows > most:
                starts = range(0, n_rows, most)
                return ((Source.from_input(rows[start : start + most]), every) for start in starts)
        return None

    def _compare_errors(self, rows: GaussianRows) -> None:
        """Warn, once, of rows whose errors are unlike those of the fit, if this matters to the method: a
        tenth of them is beyond the quantiles of the fit by a quarter, which chance explains in one case of a
        million."""
        sizes = self.sizes
        if sizes is None or self._has_warned or not isinstance(rows, (GaussianArray, Incomplete)):
            return
        std, known = value_sizes(rows)
        low, high = sizes.lower * self._tolerated[0] / MARGIN, sizes.upper * self._tolerated[1] * MARGIN
        outside = known & ((std < low) | (std > high))
        n, count = known.sum(axis=0), outside.sum(axis=0)
        share = count / np.maximum(n, 1)
        unlike = np.flatnonzero(share >= SHARE)
        if unlike.size:  # the chance takes longer than all the rest of a prediction of one row
            usual = min(2 * (1 - QUANTILES[2]) + 2 / (sizes.n_rows + 1), 1.0)
            unlike = unlike[binom.sf(count[unlike] - 1, n[unlike], usual) < CHANCE]
        if not unlike.size:
            return
        self._has_warned = True
        order = unlike[np.argsort(-share[unlike], kind="stable")].tolist()
        features = [
            f"{self.feature_names[j]} (median {np.median(std[known[:, j], j]):.3g}, in training "
            f"{sizes.middle[j]:.3g}; {100 * share[j]:.0f} % of rows outside {low[j]:.2g} to {high[j]:.2g})"
            for j in order[:NAMED]
        ]
        more = f" and {len(order) - NAMED} more features" if len(order) > NAMED else ""
        message = f"errors of these rows are unlike in training: {'; '.join(features)}{more}"
        warn(f"{message}; {advice(self.pipeline)}", ErrorSizesWarning)

    def rows(self, source: Source) -> GaussianRows:
        """The rows as the model reads them, with their gaps."""
        rows = self.input(source)
        if source.absent and source.table is not None:
            rows = with_stand_ins(source.table, self.pipeline[0], {*source.absent}, source.errors, self.sizes)
        for _, step in self.pipeline.steps[: int(self.has_reading_step)]:
            rows = step.transform(rows)
        return gaussian_rows(rows)

    def _filled(self, rows: Incomplete) -> GaussianArray:
        """Gaps filled by the first step that knows the distribution of the features, in the table's units."""
        known = true_values(self.steps)
        if known is not None:
            imputer = GaussianImputer()
            imputer._set(known)
            check_fitted_names(imputer, rows.feature_names, reset=True)
            return imputer.transform(Incomplete(rows.gaussians, rows.missing))
        row, feature = np.argwhere(rows.missing)[0]
        raise UncertainError(
            f"row {row}, {self.feature_names[feature]} is missing, and this model cannot fill it. Leave such "
            'rows out, or fit with on_missing="impute"'
        )

    def target(self, y: ColumnOrValues | None) -> ColumnOrValues:
        """The column of the fit, unless another is named, or values are given."""
        target = self.columns.target if y is None else y
        if target is None:
            what = "numbers" if self.is_regression else "labels"
            raise ParameterError(f"the target is not a column of the table: pass the {what} as y")
        return target

    def truth(self, source: Source, y: ColumnOrValues | None, *, partial: bool = False) -> Labels:
        """The targets; `partial`: NaN, or None for a label, where a row has none."""
        target = self.target(y)
        task = "regression" if self.is_regression else "classification"
        unit = self.columns.target_unit if self.is_regression else None
        truth, _ = source.targets(target, task, partial=partial, unit=unit)
        if not self.is_regression:
            self._check_classes(truth)
        return truth

    def _check_classes(self, labels: Labels) -> None:
        """Refuse labels that are no class of the model; None is none."""
        assert self.classes is not None
        column = read_column(labels, self.target_name, len(labels), "labels")
        places(column, self.classes, self.target_name, partial=True)

    def groups(self, source: Source, groups: ColumnOrValues | bool | None) -> Groups | None:
        """The groups of a report: those that were asked for, else the column of the fit; False: none."""
        known = self.columns.groups
        chosen = _chosen(groups, known, "groups", "groups", "treat every row as one object")
        advice = "the groups of the fit; pass another column or groups=False" if groups is None else ""
        return None if chosen is None else source.groups(chosen, advice)

    def weights(self, source: Source, weights: ColumnOrValues | bool | None) -> Floats | None:
        """The weights of a report: those that were asked for, else the column of the fit; False: none."""
        known = self.columns.sample_weight
        chosen = _chosen(weights, known, "weights", "sample_weight", "count every row once")
        return None if chosen is None else source.weights(chosen)


def _is_plain(table: Table, n_features: int) -> bool:
    """Is it a frame of so many columns of numbers, which is an array with names?"""
    return len(table.names) == n_features and {*table.types.values()} == {"number"}


def _chosen(asked: Any, known: str | bool | None, what: str, argument: str, without: str) -> Any:
    """The column of the caller, else that of the fit; None for False."""
    if asked is None and known is True:
        raise ParameterError(
            f"the model was fitted with {what} as values, not as a column. Pass the {what} of these rows as "
            f"{argument}=, or to {without} {argument}=False"
        )
    chosen = known if asked is None else asked
    return None if chosen is False else chosen
