"""`Predictor`: what a model says of new rows, in the caller's kind of table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.pipeline import Pipeline

from .._base.normal_mixtures import NormalMixtures
from .._data.incomplete import GaussianRows
from .._data.typing import Array, Floats, Labels, NativeColumn, NativeTable
from .._data.validation import TableLike
from .._rows.source import Source
from .._widths.distribution import density_of_rows, has_density, moved
from .._widths.spread import Spread, left_open, own_law
from ..exceptions import ParameterError
from .calibrating import Calibration, log
from .conformal import Conformal
from .cross_conformal import CrossConformal, class_shares, set_lists
from .grid import checked_grid, checked_levels, grid_around, warn_of_narrow
from .reader import Answer, Reader
from .without_errors import Errors

Scores = TypeVar("Scores", Conformal, CrossConformal)
DISTRIBUTION = ("", "_std", "_std_from_errors")
INTERVAL = ("_lower", "_upper")


class Predictor:
    """A reader, and what held-out rows say of predictions."""

    def __init__(self, reader: Reader, calibration: Calibration) -> None:
        self._reader = reader
        self._calibration = calibration

    @property
    def has_distribution(self) -> bool:
        """Is the distribution of a prediction known?"""
        return self._spread is not None

    @property
    def _spread(self) -> Spread | None:
        return self._calibration.spread or own_law(self._reader.pipeline, self._calibration.residual_std)

    def predict(self, table: TableLike, *, append: bool, errors: Errors = None) -> NativeColumn | NativeTable:
        """Classes, or numbers."""

        def predicted(steps: Pipeline, rows: GaussianRows) -> tuple[Array]:
            return (steps[-1].predict(moved(steps, rows)),)

        return self._one(
            *self._asked(table, predicted, [""], append=append, errors=errors), "", append=append
        )

    def predict_proba(self, table: TableLike, *, append: bool, errors: Errors = None) -> NativeTable | Floats:
        """Probabilities of the classes."""
        names = self.class_names(append=append)
        source = self._reader.source(table, adds=names if append else None, blocks=True, errors=errors)

        def asked(steps: Pipeline, rows: GaussianRows) -> tuple[Floats]:
            return (steps[-1].predict_proba(moved(steps, rows)),)

        (shares,) = self._reader.answers(source, asked)
        if source.table is None:
            return shares
        columns = dict(zip(names, shares.T, strict=True))
        return source.append(columns) if append else source.answer(columns)

    def predict_distribution(
        self, table: TableLike, *, append: bool, errors: Errors = None
    ) -> NativeTable | tuple[Floats, ...]:
        """Of a regression, the prediction and its standard deviations."""
        source, values = self._asked(table, self._distribution, DISTRIBUTION, append=append, errors=errors)
        if source.table is None:
            return values[:2]
        return self._several(source, dict(zip(DISTRIBUTION, values, strict=True)), append=append)

    def predict_set(
        self, table: TableLike, coverage: float, *, append: bool, errors: Errors = None
    ) -> NativeColumn | NativeTable:
        """Lists of classes that hold the true one as often as asked."""
        if self._reader.is_regression:
            raise ParameterError("predict_set is for classes; a regression has predict_interval")
        known, classes = self._scored(self._calibration.sets, coverage), self._reader.classes
        assert classes is not None

        def sets(steps: Pipeline, rows: GaussianRows) -> tuple[Labels]:
            shares = class_shares(steps, rows, classes)
            return (set_lists(shares, known.inside(steps, rows, shares, classes, coverage), classes),)

        return self._one(
            *self._asked(table, sets, ["_set"], append=append, errors=errors), "_set", append=append
        )

    def predict_interval(
        self, table: TableLike, coverage: float, *, append: bool, errors: Errors = None
    ) -> NativeTable | tuple[Floats, ...]:
        """Intervals that hold the true target as often as asked."""
        if not self._reader.is_regression:
            raise ParameterError("predict_interval is for numbers; a classifier has predict_set")
        conformal = self._scored(self._calibration.conformal, coverage)
        source, (mean, std, _) = self._asked(
            table, self._distribution, INTERVAL, append=append, errors=errors
        )
        half = conformal.limits(log(std), coverage) * std
        return self._several(
            source, dict(zip(INTERVAL, (mean - half, mean + half), strict=True)), append=append
        )

    def predict_density(
        self, table: TableLike, grid: ArrayLike | None, *, append: bool, errors: Errors = None
    ) -> NativeTable | NativeColumn | tuple[Floats, Floats]:
        """Densities of the target on a grid."""
        self.check_distribution("predict_density")
        points = None if grid is None else checked_grid(grid)
        endings = ["_density"] if grid is not None else ["_grid", "_density"]
        source, laws = self._laws(table, endings, append=append, errors=errors)
        at = grid_around(laws) if points is None else points
        if points is not None:
            warn_of_narrow(laws, at)
        density = laws.density(at)
        if source.table is None:
            return at, density
        columns = {"_grid": np.broadcast_to(at, density.shape), "_density": density}
        return self._several(source, {end: _lists(columns[end]) for end in endings}, append=append)

    def predict_quantiles(
        self, table: TableLike, q: ArrayLike, *, append: bool, errors: Errors = None
    ) -> NativeTable | NativeColumn | Floats:
        """Quantiles of the target."""
        self.check_distribution("predict_quantiles")
        levels, one = checked_levels(q)
        ending = "_quantile" if one else "_quantiles"
        source, laws = self._laws(table, [ending], append=append, errors=errors)
        values = laws.quantiles(levels)
        if source.table is None:
            return values[:, 0] if one else values
        column: Array = values[:, 0] if one else _lists(values)
        return self._several(source, {ending: column}, append=append)

    def laws(self, table: TableLike, *, errors: Errors = None) -> NormalMixtures:
        """The distributions themselves."""
        return self._laws(table, [], append=False, errors=errors)[1]

    def _laws(
        self, table: TableLike, endings: Sequence[str], *, append: bool, errors: Errors
    ) -> tuple[Source, NormalMixtures]:
        source, parts = self._asked(table, self._law, endings, append=append, errors=errors)
        return source, NormalMixtures(*parts)

    def _law(self, steps: Pipeline, rows: GaussianRows) -> NormalMixtures:
        """The method's own shape, where it has one, else a normal law; as wide as held-out rows say."""
        own, spread = has_density(steps), self._calibration.spread
        if own and spread is None:
            return density_of_rows(steps, rows)
        mean, std, _ = self._distribution(steps, rows)
        return density_of_rows(steps, rows).widened(std) if own else NormalMixtures.normal(mean, std)

    def class_names(self, *, append: bool) -> list[str]:
        """Names of the columns of probabilities; ParameterError if there are none."""
        if not hasattr(self._reader.pipeline, "predict_proba"):
            hint = (
                "a regression has predict_distribution"
                if self._reader.is_regression
                else 'fit with probability=True, or with another method such as "gsu"'
            )
            raise ParameterError(f"{self._estimator_name} gives no probabilities here; {hint}")
        assert self._reader.classes is not None
        return [f"p_{label}" if append else str(label) for label in self._reader.classes.tolist()]

    def distribution_names(self, *, append: bool) -> list[str]:
        """Names of the columns of a distribution."""
        return [self._name(ending, append=append) for ending in DISTRIBUTION]

    def check_distribution(self, verb: str = "predict_distribution") -> None:
        """ParameterError for a model without a distribution."""
        if not self._reader.is_regression:
            raise ParameterError(
                f"{verb}: {self._estimator_name} predicts classes, and no distribution of a number: "
                "a classifier has predict_proba"
            )
        if not self.has_distribution:
            raise ParameterError(
                "the model does not know the scatter of targets around its predictions (its file was written "
                "in Rust, or there were too few rows or groups to hold any out): fit "
                "it again, or ask pipeline_[-1].predict(rows, return_std=True) what the error bars alone do"
            )

    def like(
        self, append: bool, names: Sequence[str] | None, empty: NativeTable
    ) -> NativeColumn | NativeTable:
        """The answer to a table without rows; `names` of the columns of numbers, None for predictions."""
        source, classes = Source.from_input(empty), self._reader.classes
        numbers = np.empty(0)
        predicted = numbers if classes is None else np.empty(0, dtype=classes.dtype)
        columns = dict.fromkeys(names or [self._name("", append=True)], numbers if names else predicted)
        if append:
            return source.check_new(columns, "append=False").append(columns)
        if names:
            return source.answer(columns)
        return source.answer_one(self._reader.target_name, predicted)

    def _asked(
        self,
        table: TableLike,
        ask: Answer,
        endings: Sequence[str],
        *,
        append: bool,
        errors: Errors,
    ) -> tuple[Source, tuple[Array, ...]]:
        """The table, and what `ask` says of its rows; `endings` of the columns that are to be appended."""
        adds = [self._name(ending, append=True) for ending in endings] if append else None
        source = self._reader.source(table, adds=adds, blocks=True, errors=errors)
        return source, self._reader.answers(source, ask)

    def _one(
        self, source: Source, values: tuple[Array, ...], ending: str, *, append: bool
    ) -> NativeColumn | NativeTable:
        """One new column, in the caller's kind; the values themselves without a table."""
        if append:
            return source.append({self._name(ending, append=True): values[0]})
        return source.answer_one(self._reader.target_name, values[0])

    def _several(
        self, source: Source, values: Mapping[str, Array], *, append: bool
    ) -> NativeTable | tuple[Floats, ...]:
        """New columns, named by their endings, in the caller's kind; the arrays without a table."""
        if source.table is None:
            return tuple(values.values())
        columns = {self._name(ending, append=append): column for ending, column in values.items()}
        return source.append(columns) if append else source.answer(columns)

    def _name(self, ending: str, *, append: bool) -> str:
        """The name of a column: that of the target, or one beside the caller's own columns."""
        if not append:
            return self._reader.target_name + ending
        target = self._reader.columns.target
        return ("prediction" if target is None else f"{target}_predicted") + ending

    def _distribution(self, steps: Pipeline, rows: GaussianRows) -> tuple[Floats, Floats, Floats]:
        """Prediction, whole standard deviation, and the part of it that errors make."""
        spread = self._spread
        assert spread is not None
        found = left_open(steps, rows, spread.widths)
        return found.mean, spread.std(found.parts), spread.from_errors(found.of_errors)

    def _scored(self, scores: Scores | None, coverage: float) -> Scores:
        """The scores, if there are any, for a coverage that can be."""
        if not isinstance(coverage, (int, float)) or not 0.0 < coverage < 1.0:
            raise ParameterError(f"coverage = {coverage!r}: must be a share between 0 and 1, such as 0.9")
        if scores is None:
            raise ParameterError(
                "the model holds no scores of held-out rows (its file was written in Rust, or "
                "there were too few rows or groups to hold any out): fit it again, to more rows"
            )
        return scores

    @property
    def _estimator_name(self) -> str:
        return type(self._reader.pipeline[-1]).__name__


def _lists(values: Floats) -> Labels:
    """A list for each row."""
    lists = np.empty(len(values), dtype=object)
    lists[:] = [row.tolist() for row in values]
    return lists
