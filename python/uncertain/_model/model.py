"""`Model`: what `uncertain.fit` returns and `uncertain.load` reads back."""

from __future__ import annotations

import html
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import is_regressor
from sklearn.metrics import r2_score
from sklearn.pipeline import Pipeline

from .._data.array import GaussianArray
from .._data.features import check_fitted_names
from .._data.incomplete import Incomplete
from .._data.numbers import gaps_as_nan
from .._data.typing import ColumnOrValues, Floats, Labels, RandomState
from .._data.validation import TableLike
from .._report.classes import Report, compare
from .._report.held_out import Distribution, gap_of
from .._report.huber import HuberReport, report_of_huber
from .._report.pace import Pace, ReportCallback
from .._report.regression import RegressionReport, compare_regressions
from ..discriminant import GaussianDiscriminant
from ..exceptions import ModelFileError, ParameterError, UncertainError
from ..huber import AdaptiveHuberClassifier, AdaptiveHuberRegressor
from ..preprocessing import AsGaussians, GaussianDenoiser, GaussianImputer, GaussianScaler
from ..regression import GSURegressor
from ..remeasured import RemeasuredClassifier, RemeasuredRegressor
from ..tables._columns import Columns
from ..tables._groups import Groups
from ..tables._roles import listing
from ..tables._source import Source
from .code import codes_of
from .coefficients import feature_names, hyperplanes
from .distribution import from_errors
from .file import from_bytes, read, to_bytes, write
from .scatter import held_out_scatter, most_likely_scatter
from .summary import Summary, summarised


class Model:
    """A fitted pipeline together with the columns it reads.

    Attributes
    ----------
    pipeline_ : fitted scikit-learn Pipeline: AsGaussians (for tables) -> GaussianImputer (with
        ``on_missing="impute"``, unless what follows takes gaps) -> GaussianDenoiser (with
        ``meaning="measurement"``) -> GaussianScaler (with ``scale=True``) -> GaussianCollapser (of a
        regression with ``meaning="measurement"``) -> GSUClassifier or the estimator of another method.
    columns_ : which columns are means, errors and target, and which are ignored.
    is_regression_ : is the last step a regression?
    has_distribution_ : does it answer `predict_distribution`? A `GSURegressor` does, unless it comes from a
        file that holds no `residual_std_`.
    residual_std_ : of a `GSURegressor`, the standard deviation of targets around predictions that no error
        bar explains, from held-out rows (see `predict_distribution`); None if it is not known.
    classes_ : the class labels, in the order of the columns of `predict_proba`; None for a regression.

    Tables may be of any library, or a path; they need the columns the model was fitted on, in any order.
    """

    def __init__(
        self,
        pipeline: Pipeline,
        columns: Columns,
        residual_std: float | None = None,
        *,
        n_rows: int | None = None,
        seconds: float | None = None,
    ) -> None:
        self.pipeline_ = pipeline
        self.columns_ = columns
        self.is_regression_ = is_regressor(pipeline)
        self.residual_std_ = residual_std
        self.classes_: Any = getattr(pipeline[-1], "classes_", None)
        self._n_rows = n_rows
        self._seconds = seconds

    @property
    def has_distribution_(self) -> bool:
        """Does it answer `predict_distribution`?"""
        return isinstance(self.pipeline_[-1], GSURegressor) and self.residual_std_ is not None

    def predict(self, table: TableLike, *, append: bool = False) -> Any:
        """The class of every row, in row order, with labels of their original type; or the predicted number.

        A Polars, pandas or narwhals table gives a Series named like the target, pyarrow, DuckDB and other
        streams a ChunkedArray, astropy (also FITS) a Column, paths a Polars Series, all else a NumPy array.

        With ``append=True`` it is the table itself, a new one of the same kind with the new column
        ``<target>_predicted`` at its end (``prediction`` if the target was no column). Lazy tables are
        collected, paths give a Polars DataFrame, and FITS tables an astropy one. A column of that name is an
        error: nothing is replaced.
        """
        new = self._appended_name("")
        source = self._source(table, adds=[new] if append else None)
        predicted = self.pipeline_.predict(self._input(source))
        return source.append({new: predicted}) if append else source.answer_one(self._target_name, predicted)

    def predict_proba(self, table: TableLike, *, append: bool = False) -> Any:
        """The probability of every class, averaged over each row's own uncertainty.

        A table of the caller's kind with one column per class, named after it; for arrays, an (n, K) array.
        With ``append=True`` the caller's table as by `predict`, with columns ``p_<class>`` at its end.
        """
        if not hasattr(self.pipeline_, "predict_proba"):
            name = type(self.pipeline_[-1]).__name__
            hint = (
                "a GSURegressor has predict_distribution"
                if self.is_regression_
                else 'fit with probability=True, or with another method such as "gsu"'
            )
            raise ParameterError(f"{name} gives no probabilities here; {hint}")
        names = [f"p_{label}" if append else str(label) for label in self.classes_.tolist()]
        source = self._source(table, adds=names if append else None)
        probabilities = self.pipeline_.predict_proba(self._input(source))
        if source.table is None:
            return probabilities
        columns = dict(zip(names, probabilities.T, strict=True))
        return source.append(columns) if append else source.answer(columns)

    def predict_distribution(self, table: TableLike, *, append: bool = False) -> Any:
        """Of a `GSURegressor`: the prediction, and its standard deviation.

        A table of the caller's kind with the columns

        - ``<target>``: the prediction;
        - ``<target>_std``: the standard deviation of the true target around it, sqrt(sigma^2 + s_i^2);
        - ``<target>_std_from_errors``: s_i, the part of it that the row's own error bars make, such as
          sqrt(w'S_i w); with ``meaning="measurement"`` S_i is what a `GaussianDenoiser` leaves open.

        For arrays, the pair of arrays (prediction, whole standard deviation).
        With ``append=True`` the caller's table as by `predict`, with these columns at its end; their names
        begin with ``<target>_predicted``.

        sigma is ``residual_std_``, the scatter of targets that no error bar explains. It was measured while
        the model was fitted, as the most likely one of

        .. code-block:: text

            y_i - prediction_i ~ N(0, sigma^2 + s_i^2 + t_i^2)

        over rows held out in 5 folds (of whole groups, if the fit had groups; rows count by their weights),
        where t_i is the error bar of the target, if there is one. So the distribution is that of a *true*
        target where the targets had error bars in the fit: to compare with a target measured to +- t, add t
        in quadrature. Where they had none, their noise is in sigma, and the distribution is that of a target
        as it would be measured. For more than 20,000 rows one split takes the place of the folds, whose model
        is fitted to at most 20,000 rows.

        Raises `ParameterError` for another estimator (of a kernel machine the exact s_i take longer than the
        fit by far; ``predict(rows, return_std=True)`` of ``pipeline_[-1]`` gives them), and for a model that
        does not know sigma: its file was written in Rust or by an older version, or it was fitted to too few
        rows (or groups) to hold any out.
        """
        last = self.pipeline_[-1]
        if not isinstance(last, GSURegressor):
            raise ParameterError(
                f"{type(last).__name__} predicts no distribution: GSURegressor does, and a classifier has "
                "predict_proba"
            )
        if self.residual_std_ is None:
            raise ParameterError(
                "the model does not know the scatter of targets around its predictions (its file was written "
                "in Rust or by an older version, or there were too few rows or groups to hold any out): fit "
                "it again, or ask pipeline_[-1].predict(rows, return_std=True) what the error bars alone do"
            )
        endings = ("", "_std", "_std_from_errors")
        source = self._source(table, adds=[self._appended_name(e) for e in endings] if append else None)
        mean, from_rows = from_errors(self.pipeline_, self._input(source))
        std = np.hypot(from_rows, self.residual_std_)
        if source.table is None:
            return mean, std
        values = dict(zip(endings, (mean, std, from_rows), strict=True))
        if append:
            return source.append({self._appended_name(ending): v for ending, v in values.items()})
        return source.answer({self._target_name + ending: v for ending, v in values.items()})

    def score(self, table: TableLike, y: ColumnOrValues | None = None) -> float:
        """Accuracy (the share of rows whose class is predicted); for a regression R2 over rows with a number.

        Pass `y` if the target is not a column.
        """
        source = self._source(table, y)
        truth = self._truth(source, y, partial=self.is_regression_)
        predicted = self.pipeline_.predict(self._input(source))
        if self.is_regression_:
            known = ~np.isnan(truth)
            return float(r2_score(truth[known], predicted[known]))
        return float(np.mean(predicted == truth))

    def report(
        self,
        table: TableLike,
        y: ColumnOrValues | None = None,
        *,
        folds: int = 5,
        repeats: int | None = None,
        listed: int = 10,
        meanings: bool = True,
        groups: ColumnOrValues | bool | None = None,
        sample_weight: ColumnOrValues | bool | None = None,
        scorers: Sequence[str] | str | None = None,
        scoring: str | None = None,
        max_seconds: float | None = None,
        verbose: int = 0,
        callback: ReportCallback = None,
        random_state: RandomState = 0,
    ) -> Report | RegressionReport | HuberReport:
        """Did the error bars change anything? A fit to the means alone, beside the same model, on this table.

        Of a value that is missing the "means alone" know the conditional mean given the rest of the row.

        Also compared, on the same folds: the error bars as spread, as measurement error, and in a Gaussian
        discriminant; ``Report.meanings`` says which one wins and by how much. Of linear regressions also the
        coefficients, because attenuation does not show in predictions of equally noisy rows.

        Of ``method="huber"``: which labels were dropped, and the held-out errors of the model, of the plain
        squared-loss fit to all labels, and of the model without error bars.

        Parameters
        ----------
        table, y : labelled rows, as for `score`; for ``method="huber"`` some may have no label.
        folds, repeats : of the cross-validation; by default 4 repeats, 1 beyond 10,000 rows.
        listed : how many of the rows whose error bars matter most are listed (classifiers).
        meanings : False leaves out the comparison of meanings, more than half of the work.
        groups : what rows of one object share: a column of the table, or the values, one per row; by default
            the column that the model was fitted with, and False for single rows in spite of it. Rows of one
            group are held out together (and left out together, those without a label too), so that the scores
            are those for new objects. Standard errors are then cluster-robust: with c_i for what row i adds
            to the score's deviation, G / (G - 1) sum_g (sum_{i in g} c_i)^2 over the G groups takes the place
            of n / (n - 1) sum_i c_i^2 (Cameron and Miller, Journal of Human Resources 50(2), 2015,
            doi 10.3368/jhr.50.2.317).
        sample_weight : how much each row counts in the fits: a column, or values; by default the column that
            the model was fitted with, and False for none. Held-out rows all count once.
        scorers : names of the measures to take; all by default. Of classes: "accuracy", "balanced_accuracy",
            "roc_auc" (of more than two classes the mean of each against the rest), "log_loss" and "brier"
            (both of calibrated probabilities, in the first repeat only: calibrating costs five more fits); of
            numbers: "mae", "rmse", "r2" and, where there is
            `predict_distribution`, "coverage_68" and "coverage_95".
        scoring : the measure that ranks and that the verdict is about: by default "accuracy", or "mae".
        max_seconds : the report begins no fold that would end later than this; at least one fold is done.
            ``folds_done`` says how many were.
        verbose : 1 writes a line about every fit to stderr.
        callback : hears of every fit, with a ``ReportProgress`` (task, fold, folds, seconds, remaining).
        """
        pace = Pace(max_seconds=max_seconds, verbose=verbose, callback=callback)
        source = self._source(table, y, groups, sample_weight)
        rest, rows = self.pipeline_[self._n_reading :], self._rows(source)
        by_column = y is None and source.table is not None
        common: dict[str, Any] = {
            "folds": folds,
            "repeats": repeats,
            "groups": self._groups(source, groups),
            "weights": self._weights(source, sample_weight),
            "scorers": scorers,
            "scoring": scoring,
            "pace": pace,
            "codes": codes_of(self.pipeline_, self.columns_, source, table, by_column=by_column),
            "random_state": random_state,
        }
        if isinstance(rest[-1], (AdaptiveHuberClassifier, AdaptiveHuberRegressor)):
            truth = self._truth(source, y, partial=True)
            return report_of_huber(rest, rows, truth, listed=listed, **common)
        truth = self._truth(source, y)
        if self.is_regression_:
            column = self.columns_.target_std
            common["y_std"] = (
                None
                if column is None
                else source.target_stds(column, missing=0.0, unit=self.columns_.target_unit)
            )
            common["features"] = self._feature_names
            common["distribution"] = (
                Distribution(from_errors, most_likely_scatter) if self.has_distribution_ else None
            )
            return compare_regressions(rest, rows, truth, meanings=meanings, **common)
        return compare(rest, rows, truth, listed=listed, meanings=meanings, **common)

    def _groups(self, source: Source, groups: ColumnOrValues | bool | None) -> Groups | None:
        """The groups of a report: those that were asked for, else the column of the fit; False: none."""
        known = self.columns_.groups
        if groups is None and known is True:
            raise ParameterError(
                "the model was fitted with groups that were given as values: pass those of these rows as "
                "groups=, or groups=False to take every row for an object of its own"
            )
        if groups is None and isinstance(known, str):
            return source.groups(known, "the groups of the fit; pass another column or groups=False")
        return None if groups is None or groups is False else source.groups(groups)

    def _weights(self, source: Source, weights: ColumnOrValues | bool | None) -> Floats | None:
        """The weights of a report: those that were asked for, else the column of the fit; False: none."""
        known = self.columns_.sample_weight
        if weights is None and known is True:
            raise ParameterError(
                "the model was fitted with weights that were given as values: pass those of these rows as "
                "sample_weight=, or sample_weight=False to count every row once"
            )
        chosen = known if weights is None else weights
        return source.weights(chosen) if chosen is not None and chosen is not False else None

    def _inspected(
        self,
        table: TableLike,
        y: ColumnOrValues | None,
        groups: ColumnOrValues | bool | None,
        *,
        labelled: bool,
    ) -> tuple[Pipeline, GaussianArray | Incomplete, Labels | None, Groups | None]:
        """What `uncertain.inspection` asks: the steps behind the reading ones, rows, targets and groups."""
        source = self._source(table, y, groups)
        steps, rows = self.pipeline_[self._n_reading :], self._rows(source)
        if not labelled:
            return steps, rows, None, None
        return steps, rows, self._truth(source, y), self._groups(source, groups)

    def _drawn(
        self, table: TableLike, y: ColumnOrValues | None
    ) -> tuple[Pipeline, GaussianArray, Labels | None, list[str]]:
        """What `uncertain.plot` asks: the steps behind the reading ones, rows, targets if known, names."""
        source = self._source(table, y)
        rows = self._rows(source)
        rows = self._filled(rows) if isinstance(rows, Incomplete) else rows
        known = y is not None or self.columns_.target in source.names
        truth = self._truth(source, y) if known else None
        return self.pipeline_[self._n_reading :], rows, truth, self._feature_names

    @property
    def coef_(self) -> Floats:
        """Of a linear model: the coefficients w in the units of the table, shape (1, d) or (K, d).

        Scaling and linear maps are undone, so that ``X @ coef_.T + intercept_`` is the score of exact rows X
        (of a regression, the prediction). Behind a `GaussianDenoiser` or `GaussianImputer` X are the true
        values, or the completed rows. AttributeError for models that are not linear.
        """
        return hyperplanes(self.pipeline_).coef

    @property
    def intercept_(self) -> Floats:
        """Of a linear model: the intercept b that belongs to `coef_`, shape (1,) or (K,)."""
        return hyperplanes(self.pipeline_).intercept

    @property
    def feature_names_(self) -> list[str]:
        """Names of the d features, in the order of `coef_`: the columns, or x0, x1, ... without names."""
        return feature_names(self.pipeline_)

    def summary(self, table: TableLike | None = None) -> Summary:
        """What the model has learned, as a text and as arrays.

        Of a linear model the coefficients in the units of the table, and per standard deviation of the
        feature; with rows in `table` also the share that each feature's error bars have in the uncertainty of
        the score. Of other models the kernel, support vectors and the like, as far as there are any.

        Returns
        -------
        Summary
            Prints as a table. `feature_names`, `scores`, `coef`, `intercept`, `per_std`, `error_share` are
            its columns (None where there are none), and ``to_dict()`` makes a data frame of them.

        Examples
        --------
        >>> import numpy as np, uncertain
        >>> rng = np.random.default_rng(0)
        >>> x = rng.normal(size=(200, 2)) * [1.0, 100.0]
        >>> X = uncertain.GaussianArray(x, std=[[0.1, 30.0]] * 200, feature_names=["mass", "age"])
        >>> model = uncertain.fit(X, 5 * x[:, 0] + 0.01 * x[:, 1], meaning="spread")
        >>> model.coef_.round(2)
        array([[4.95, 0.01]])
        >>> model.summary(X).error_share.round(2)
        array([[0.76, 0.24]])
        """
        rows = None if table is None else self._input(self._source(table))
        return summarised(self.pipeline_, self._target_name, self.classes_, rows)

    def labels(self, table: TableLike, y: ColumnOrValues | None = None) -> Labels:
        """The targets of labelled rows, checked: the column of the fit, or `y`."""
        return self._truth(Source.of(table).load([y, self.columns_.target]), y)

    def _truth(self, source: Source, y: ColumnOrValues | None, *, partial: bool = False) -> Labels:
        """The targets; `partial`: NaN, or None for a label, where a row has none."""
        target = self.columns_.target if y is None else y
        if target is None:
            what = "numbers" if self.is_regression_ else "labels"
            raise ParameterError(f"the target is not a column of the table: pass the {what} as y")
        task = "regression" if self.is_regression_ else "classification"
        unit = self.columns_.target_unit if self.is_regression_ else None
        truth, _ = source.targets(target, task, partial=partial, unit=unit)
        if not self.is_regression_:
            self._check_classes(truth)
        return truth

    def gaussians(self, table: TableLike) -> GaussianArray:
        """The rows as the model reads them, before scaling.

        Gaps are filled as by a `GaussianImputer` that knows the distribution that the model has learned.
        """
        rows = self._rows(self._source(table))
        return self._filled(rows) if isinstance(rows, Incomplete) else rows

    def _source(self, table: TableLike, *labelled: object, adds: Sequence[str] | None = None) -> Source:
        """The table, of which a lazy one is collected: what the model reads.

        With `labelled` (columns, where they are names) also what it learned from. For an answer that `adds`
        columns, all.
        """
        columns = self.columns_
        reads = columns.needed()
        source = Source.of(table).require(reads, f"the model reads {listing(reads)}")
        if adds is not None:
            return source.check_new(adds, "append=False")
        learned = (columns.target, columns.target_std, columns.groups, columns.sample_weight, *labelled)
        learned = learned if labelled else ()
        return source.load([*columns.used(), *learned])

    def _measure_scatter(self, source: Source, y: Labels, *, groups: Groups | None, **known: Any) -> None:
        """Set `residual_std_` from the rows of the fit."""
        rest = self.pipeline_[self._n_reading :]
        self.residual_std_ = held_out_scatter(rest, self._rows(source), y, groups=groups, **known)

    def _input(self, source: Source) -> Any:
        """What the pipeline takes."""
        return source.rows if self._n_reading else source.data

    def _rows(self, source: Source) -> GaussianArray | Incomplete:
        """The rows as the model reads them, with their gaps."""
        rows = self._input(source)
        for _, step in self.pipeline_.steps[: self._n_reading]:
            rows = step.transform(rows)
        if not isinstance(rows, (GaussianArray, Incomplete)):
            rows = Incomplete.of(gaps_as_nan(rows, "X"))
        return rows.gaussians if isinstance(rows, Incomplete) and not rows.missing.any() else rows

    def _filled(self, rows: Incomplete) -> GaussianArray:
        """Gaps filled by the first step that knows the distribution of the features, in the table's units."""
        scalers: list[GaussianScaler] = []
        for _, step in self.pipeline_.steps[self._n_reading :]:
            if isinstance(step, GaussianScaler):
                scalers.insert(0, step)
            if isinstance(step, (GaussianImputer, GaussianDenoiser, GaussianDiscriminant)):
                weights, means, covariances = step._mixture()
                components = GaussianArray(means, cov=covariances, feature_names=rows.feature_names)
                for scaler in scalers:
                    components = scaler.inverse_transform(components)
                imputer = GaussianImputer()
                imputer._set((weights, components.means, components.covariances()))
                check_fitted_names(imputer, rows.feature_names, reset=True)
                return imputer.transform(rows)
        row, feature = np.argwhere(rows.missing)[0]
        raise UncertainError(f'row {row}, feature {feature} is missing; fit with on_missing="impute"')

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a safetensors file, which holds numbers and JSON and no code."""
        write(path, self.pipeline_, self.columns_, self.residual_std_)

    @property
    def _n_reading(self) -> int:
        """The number of steps in front that make Gaussians of what is read."""
        return int(isinstance(self.pipeline_[0], AsGaussians))

    def _appended_name(self, ending: str) -> str:
        """The name of a prediction beside the caller's own columns."""
        target = self.columns_.target
        return ("prediction" if target is None else f"{target}_predicted") + ending

    @property
    def _feature_names(self) -> list[str]:
        """Names of the features behind the reading steps; none of rows without columns."""
        reading = self.pipeline_[0]
        return list(reading.get_feature_names_out()) if self._n_reading and self.columns_.roles() else []

    @property
    def _target_name(self) -> str:
        return self.columns_.target or "prediction"

    def _check_classes(self, labels: Labels) -> None:
        """Refuse labels that are no class of the model; None is none."""
        known = set(self.classes_.tolist())
        for row, label in enumerate(labels.tolist()):
            if label is not None and label not in known:
                classes = ", ".join(map(repr, self.classes_.tolist()))
                raise UncertainError(
                    f"{self._target_name}: row {row} is {label!r}, which the model does not know; "
                    f"its classes are {classes}"
                )

    def __reduce__(self) -> tuple[Any, ...]:
        return _from_bytes, (to_bytes(self.pipeline_, self.columns_, self.residual_std_),)

    def __repr__(self) -> str:
        classifier = self.pipeline_[-1]
        names = [] if self.classes_ is None else list(map(repr, self.classes_.tolist()))
        classes = ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")
        # Other libraries' learners have no status.
        status = "/".join(map(str, np.unique(getattr(classifier, "status_", []))))
        gap = gap_of(self.pipeline_)
        certificate = f", objective certified within {gap:.1e} of the optimum (relative)"
        fitted = status if np.isnan(gap) else status + certificate
        size = "" if self._n_rows is None else f" from {self._n_rows:,} rows in {self._seconds:.2f} s"
        lines = [
            f"Model: {type(classifier).__name__}{size}",
            *str(self.columns_).splitlines(),
            *self._meaning_line(),
            *([f"classes    {classes}"] if names else []),
            f"steps      {' -> '.join(type(step).__name__ for _, step in self.pipeline_.steps)}",
            *([f"fit        {fitted}"] if fitted else []),
            *([] if self.residual_std_ is None else [self._scatter_text]),
        ]
        return "\n".join(lines)

    def _meaning_line(self) -> list[str]:
        """How the error bars were understood, where there are some that have a choice."""
        by_itself = (GaussianDenoiser, GaussianDiscriminant, RemeasuredClassifier, RemeasuredRegressor)
        measured = any(isinstance(step, by_itself) for _, step in self.pipeline_.steps)
        if self.columns_.features or measured:
            what = "each row is a noisy reading of true values" if measured else "each row is a population"
            return [f"meaning    {'measurement' if measured else 'spread'}: {what}"]
        return ["meaning    spread: each row is a population"] if self.columns_.errors else []

    @property
    def _scatter_text(self) -> str:
        return (
            f"scatter    {self.residual_std_:.3g} (held-out residuals beyond error bars, standard deviation)"
        )

    def _repr_html_(self) -> str:
        """The same text, and scikit-learn's diagram of the pipeline."""
        return f"<pre>{html.escape(repr(self))}</pre>{self.pipeline_._repr_html_()}"


def load(path: str | os.PathLike[str]) -> Model:
    """Read a model that `Model.save` (or the Rust crate) wrote.

    Raises `ModelFileError` for a truncated, altered or foreign file. Loading runs no code from the file.
    """
    if not Path(path).is_file():
        raise FileNotFoundError(f"there is no file {path}")
    try:
        return Model(*read(path))
    except ModelFileError as error:
        raise ModelFileError(f"{os.fspath(path)}: {error}") from None


def _from_bytes(data: bytes) -> Model:
    return Model(*from_bytes(data))
