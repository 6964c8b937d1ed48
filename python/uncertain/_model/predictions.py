"""`Predictions`: what a model says of new rows, in the caller's kind of table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial, reduce
from operator import add
from typing import Any, cast

import numpy as np
from sklearn.pipeline import Pipeline

from .._data.typing import ColumnOrValues, Floats, Labels
from .._data.validation import TableLike
from .._tables.dask import is_dask, lazily
from .._tables.source import Source
from .._tables.targets import as_values, is_missing, targets_from
from ..exceptions import ParameterError, ShapeError, UncertainError
from .distribution import from_errors, has_density, of_density
from .reader import Reader
from .scored import Hits, Misses, places
from .spread import parts_of


class Predictions(Reader):
    """The predicting methods of `Model`."""

    @property
    def has_distribution_(self) -> bool:
        """Does it answer `predict_distribution`?"""
        known = self.residual_std_ is not None or self._remembered.spread is not None
        return known or has_density(self.pipeline_)

    def predict(self, table: TableLike, *, append: bool = False) -> Any:
        """The class of every row, in row order, with labels of their original type; or the predicted number.

        A Polars, pandas or narwhals table gives a Series named like the target, pyarrow, DuckDB and other
        streams a ChunkedArray, astropy (also FITS) a Column, paths a Polars Series, all else a NumPy array.

        With ``append=True`` it is the table itself, a new one of the same kind with the new column
        ``<target>_predicted`` at its end (``prediction`` if the target was no column). Lazy tables are
        collected, paths give a Polars DataFrame, and FITS tables an astropy one. A column of that name is an
        error: nothing is replaced.

        A Dask DataFrame gives a lazy Series (with `append` a lazy DataFrame), partition by partition.
        """
        if is_dask(table):
            return lazily(table, partial(self.predict, append=append), partial(self._like, append, None))
        new = self._appended_name("")
        source = self._source(table, adds=[new] if append else None, blocks=True)
        predicted = self._predicted(source)
        return source.append({new: predicted}) if append else source.answer_one(self._target_name, predicted)

    def predict_proba(self, table: TableLike, *, append: bool = False) -> Any:
        """The probability of every class, averaged over each row's own uncertainty.

        A table of the caller's kind with one column per class, named after it; for arrays, an (n, K) array.
        With ``append=True`` the caller's table as by `predict`, with columns ``p_<class>`` at its end.
        """
        if not hasattr(self.pipeline_, "predict_proba"):
            name = type(self.pipeline_[-1]).__name__
            hint = (
                "a regression has predict_distribution"
                if self.is_regression_
                else 'fit with probability=True, or with another method such as "gsu"'
            )
            raise ParameterError(f"{name} gives no probabilities here; {hint}")
        names = [f"p_{label}" if append else str(label) for label in self.classes_.tolist()]
        if is_dask(table):
            return lazily(
                table, partial(self.predict_proba, append=append), partial(self._like, append, names)
            )
        source = self._source(table, adds=names if append else None, blocks=True)
        (probabilities,) = self._answers(source, lambda pipeline, rows: (pipeline.predict_proba(rows),))
        if source.table is None:
            return probabilities
        columns = dict(zip(names, probabilities.T, strict=True))
        return source.append(columns) if append else source.answer(columns)

    def predict_distribution(self, table: TableLike, *, append: bool = False) -> Any:
        """Of a regression: the prediction, and its standard deviation.

        A table of the caller's kind with the columns

        - ``<target>``: the prediction;
        - ``<target>_std``: the standard deviation of the true target around it;
        - ``<target>_std_from_errors``: s_i, the part of it that the row's own error bars make, such as
          sqrt(w'S_i w); with ``meaning="measurement"`` S_i is what a `GaussianDenoiser` leaves open.

        For arrays, the pair of arrays (prediction, whole standard deviation).
        With ``append=True`` the caller's table as by `predict`, with these columns at its end; their names
        begin with ``<target>_predicted``.

        Of a `GSURegressor` it is sqrt(sigma^2 + s_i^2). sigma is ``residual_std_``, the scatter of targets
        that no error bar explains. It was measured while the model was fitted, as the most likely one of

        .. code-block:: text

            y_i - prediction_i ~ N(0, sigma^2 + s_i^2 + t_i^2)

        over rows held out in 5 folds (of whole groups, if the fit had groups; rows count by their weights),
        where t_i is the error bar of the target, if there is one. So the distribution is that of a *true*
        target where the targets had error bars in the fit: to compare with a target measured to +- t, add t
        in quadrature. Where they had none, their noise is in sigma, and the distribution is that of a target
        as it would be measured. For more than 20,000 rows one split takes the place of the folds, whose model
        is fitted to at most 20,000 rows.

        A `GaussianMixtureRegressor` has a density of its own, of the true target; s_i^2 is what the
        errors add to the scatter of its laws. Other methods have none, and their spread is that of held-out
        residuals (of the folds of a choice; else of a third of the rows, or all in turn up to 1,000) by noise
        level,

        .. code-block:: text

            y_i - prediction_i ~ N(0, a + sum_j b_j v_ij),    s_i^2 = sum_j b_j v_ij

        with v_ij the variance that the row's errors leave open of feature j (behind a `GaussianDenoiser` that
        of the posterior, else s^2 t^2 / (s^2 + t^2) for an error s and a feature of spread t), and a > 0,
        b_j >= 0 the most likely ones. If error bars are measurement errors every held-out row is there twice,
        also as it would have been read with errors up to 4 times as large.

        Raises `ParameterError` for classes, and for a model that does not know its scatter: its file was
        written in Rust or by an older version, or it was fitted to too few rows (or groups) to hold any out.
        """
        if not self.is_regression_:
            raise ParameterError(
                f"{type(self.pipeline_[-1]).__name__} predicts classes, and no distribution of a number: "
                "a classifier has predict_proba"
            )
        if not self.has_distribution_:
            raise ParameterError(
                "the model does not know the scatter of targets around its predictions (its file was written "
                "in Rust or by an older version, or there were too few rows or groups to hold any out): fit "
                "it again, or ask pipeline_[-1].predict(rows, return_std=True) what the error bars alone do"
            )
        endings = ("", "_std", "_std_from_errors")
        if is_dask(table):
            names = [self._appended_name(e) if append else self._target_name + e for e in endings]
            return lazily(
                table, partial(self.predict_distribution, append=append), partial(self._like, append, names)
            )
        source = self._source(
            table, adds=[self._appended_name(e) for e in endings] if append else None, blocks=True
        )
        found = self._answers(source, self._distribution)
        if source.table is None:
            return found[:2]
        return self._columns_of(source, dict(zip(endings, found, strict=True)), append)

    def _predicted(self, source: Source) -> Any:
        """The prediction for every row."""
        return self._answers(source, lambda pipeline, rows: (pipeline.predict(rows),))[0]

    def _distribution(self, pipeline: Pipeline, rows: Any) -> tuple[Floats, Floats, Floats]:
        """Prediction, whole standard deviation, and the part of it that errors make."""
        if self.residual_std_ is not None:
            mean, from_rows = from_errors(pipeline, rows)
            return mean, np.hypot(from_rows, self.residual_std_), from_rows
        if has_density(pipeline):
            return of_density(pipeline, rows)
        spread = self._remembered.spread
        assert spread is not None
        parts = parts_of(pipeline, rows, spread.widths)
        return pipeline.predict(rows), spread.std(parts), spread.from_errors(parts)

    def _columns_of(self, source: Source, values: Mapping[str, Floats], append: bool) -> Any:
        """New columns, named by their endings, in the caller's kind; the arrays without a table."""
        if source.table is None:
            return tuple(values.values())
        if append:
            return source.append({self._appended_name(ending): v for ending, v in values.items()})
        return source.answer({self._target_name + ending: v for ending, v in values.items()})

    def score(self, table: TableLike, y: ColumnOrValues | None = None) -> float:
        """Accuracy (the share of rows whose class is predicted); for a regression R2 over rows with a number.

        Pass `y` if the target is not a column. Files, queries and Dask DataFrames are read in blocks, each
        once, and nothing of them is kept.
        """
        return self._worth(table, y).score

    def _worth(self, table: TableLike, y: ColumnOrValues | None = None) -> Hits | Misses:
        """How good the predictions are, block by block."""
        target = self._target_of(y)
        if is_dask(table):
            return self._worth_of_partitions(table, target)
        source = self._opened(table)
        name = target if isinstance(target, str) else None
        beside: Any = as_values(target, "target") if name is None else ()
        steps = self.pipeline_[self._n_reading :]
        ends = [0]

        def compared(block: Source, rows: Any, before: int) -> Hits | Misses:
            ends.append(before + len(rows))
            own = beside[before : ends[-1]]
            values = own if name is None else block._values(name, "target", self._unit)[0]
            return self._compared(self._true(values, name or "target", len(rows)), steps.predict(rows))

        found = self._of_blocks(source, compared, *([] if name is None else [name]))
        if name is None and len(beside) != ends[-1]:
            raise ShapeError(f"target: expected {ends[-1]} targets, one per row, got {len(beside)}")
        worth = reduce(add, found)
        if not worth.n_rows:
            raise UncertainError(f"{name or 'target'}: no row has a number")
        return worth

    def _worth_of_partitions(self, table: Any, target: ColumnOrValues) -> Hits | Misses:
        """Of a Dask DataFrame, where its partitions are."""
        import dask

        if not isinstance(target, str):
            raise ParameterError("y: of a Dask DataFrame it is the name of a column")
        ask = dask.delayed(_worth_of_partition)
        parts = [ask(self, part, target) for part in table.to_delayed()]
        found = [one for one in dask.compute(*parts) if one is not None]
        if not found:
            raise UncertainError("the table has no rows")
        return cast("Hits | Misses", reduce(add, found))

    @property
    def _unit(self) -> str | None:
        return self.columns_.target_unit if self.is_regression_ else None

    def _true(self, values: Any, what: str, n_rows: int) -> Labels:
        """Numbers, NaN where a row has none; places among the classes."""
        if len(values) != n_rows:
            raise ShapeError(f"{what}: expected {n_rows} targets, one per row, got {len(values)}")
        if not self.is_regression_:
            return places(values, self.classes_, what)
        if not isinstance(values, np.ndarray) and all(map(is_missing, values)):
            return np.full(n_rows, np.nan)
        return targets_from(values, what, "regression", n_rows, partial=True)[0]

    def _compared(self, truth: Labels, predicted: Labels) -> Hits | Misses:
        if not self.is_regression_:
            return Hits.of(truth, np.searchsorted(self.classes_, predicted), len(self.classes_))
        known = ~np.isnan(truth)
        return Misses.of(truth[known], predicted[known])

    def _like(self, append: bool, names: Sequence[str] | None, empty: Any) -> Any:
        """The answer to a table without rows; `names` of the columns of numbers, None for predictions."""
        source = Source.of(empty)
        numbers = np.empty(0)
        predicted = numbers if self.is_regression_ else np.empty(0, dtype=self.classes_.dtype)
        columns = dict.fromkeys(names or [self._appended_name("")], numbers if names else predicted)
        if append:
            return source.check_new(columns, "append=False").append(columns)
        return source.answer(columns) if names else source.answer_one(self._target_name, predicted)

    def _appended_name(self, ending: str) -> str:
        """The name of a prediction beside the caller's own columns."""
        target = self.columns_.target
        return ("prediction" if target is None else f"{target}_predicted") + ending


def _worth_of_partition(model: Any, frame: Any, target: str) -> Hits | Misses | None:
    found: Hits | Misses | None = model._worth(frame, target) if len(frame) else None
    return found
