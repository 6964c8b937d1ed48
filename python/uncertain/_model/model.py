"""`Model`: what `uncertain.fit` returns and `uncertain.load` reads back.

A `Reader` turns tables into rows, block by block; `_answer` asks the steps behind it and returns columns in
the caller's kind of table. `report`, `values` and `summary` describe what was learned; `file` writes it down.
"""

from __future__ import annotations

import copyreg
import os
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import is_regressor
from sklearn.metrics import accuracy_score, r2_score
from sklearn.pipeline import Pipeline

from .._base.normal_mixtures import NormalMixtures, checked_grid, checked_levels
from .._base.run import shown
from .._choice.leaderboard import Leaderboard
from .._data.array import GaussianArray
from .._data.column import as_values, read_column
from .._data.groups import Groups
from .._data.incomplete import GaussianRows
from .._data.options import refuse_if
from .._data.targets import finite_numbers, places
from .._data.typing import Array, ColumnOrValues, Floats, Labels, NativeTable, RandomState
from .._data.validation import TableLike
from .._errors.sizes import Errors
from .._held_out.engine import class_shares
from .._held_out.pace import Pace, ReportCallback
from .._held_out.widths import Spread, law_of_rows, left_open, of_scatter, own_law
from .._onnx.export import write_onnx
from .._report.compare import Design
from .._report.report import Report
from .._rows.source import Source, is_dask, lazily
from .._rows.training import REMEMBERED_ROWS
from .._tables.answers import as_array
from .._tables.columns import Columns
from ..exceptions import ModelFileError, ParameterError, ShapeError, UncertainError
from ..preprocessing._moves import moved
from .calibrating import Calibration
from .conformal import Conformal, interval, noise_levels, noise_of_numbers, score_of_classes, set_lists
from .file import Metadata, from_bytes, read, to_bytes, write
from .pipeline_facts import hyperplanes, law_or_curve
from .reader import Answer, Reader
from .report import about_target, report, some_rows
from .summary import Summary, summarised
from .text import model_text
from .values import value_of_remeasuring

Inspected: TypeAlias = tuple[Pipeline, GaussianRows, Labels | None, Groups | None]
"""The steps behind the reading ones, rows, targets and groups."""
Plotted: TypeAlias = tuple[Pipeline, GaussianRows, Labels | None, list[str]]
"""The steps behind the reading ones, rows, targets if they are known, and names of features."""
PlottedLaw: TypeAlias = tuple[Any, GaussianArray, Floats, Floats | None, Floats | None, tuple[str, ...]]
"""The law, rows, targets less the errors that rows share, the targets' errors, their covariances with those
of features, and names, the target's last."""
NOT_CALIBRATED = "its file was written in Rust, or too few rows or groups could be held out: fit it again"


class Model:
    """A fitted pipeline with the columns that it reads: what `fit` returns.

    Tables may be of any library, or a path; they need the columns the model was fitted on, in any order.
    Answers come back in the caller's kind: a Polars, pandas or narwhals table gives a Series (of several
    columns a table), pyarrow, DuckDB and other streams a ChunkedArray, astropy (also FITS) a Column, paths a
    Polars Series, arrays arrays. Of all `predict` methods,

    - ``append=True`` returns the caller's table with the answer as new columns at its end, whose names begin
      with ``<target>_predicted`` (``prediction`` if the target was no column). A column of such a name is
      an error. Lazy tables are collected, paths give a Polars DataFrame, FITS tables an astropy one.
    - ``errors`` is for rows without error bars: "typical" gives them sizes as in the fit (a table by the
      model of sizes, plain arrays the median), "zero" takes them as exact. Without it a table that lacks its
      error columns is an error, and a plain array is taken as exact, with a warning.

    Attributes
    ----------
    pipeline_ : sklearn.pipeline.Pipeline
        The fitted steps: AsGaussians (for tables) -> GaussianImputer (with ``on_missing="impute"``, unless
        the next steps take gaps) -> GaussianDenoiser (with ``meaning="measurement"``) -> GaussianScaler (with
        ``scale=True``) -> GaussianCollapser (of a regression with ``meaning="measurement"``) -> GSUClassifier
        or the estimator of another method.
    columns_ : Columns
        Which columns are means, errors and target, and which are ignored.
    is_regression_ : bool
        True if the last step is a regression.
    residual_std_ : float or None
        Of a `GSURegressor`, the standard deviation of targets around predictions that no error bar explains,
        from held-out rows (see `predict_distribution`); None if it is not known.
    classes_ : ndarray or None
        The class labels, in the order of the columns of `predict_proba`; None for a regression.
    """

    def __init__(
        self,
        pipeline: Pipeline,
        columns: Columns,
        calibration: Calibration | None = None,
        *,
        n_rows: int | None = None,
        n_left_out: int = 0,
        seconds: float | None = None,
        leaderboard: Leaderboard | None = None,
        doubts: Sequence[str] = (),
    ) -> None:
        self.pipeline_ = pipeline
        self.columns_ = columns
        self._calibration = calibration or Calibration()
        self.residual_std_ = self._calibration.residual_std
        self._n_rows = n_rows
        self._n_left_out = n_left_out
        self._seconds = seconds
        self._leaderboard = leaderboard
        self._doubts = list(doubts)
        self.is_regression_: bool = is_regressor(pipeline)
        self.classes_: Any = getattr(pipeline[-1], "classes_", None)  # an array for all who ask a classifier

    @cached_property
    def _reader(self) -> Reader:
        return Reader(self.pipeline_, self.columns_, self._calibration.sizes)

    @property
    def feature_names_(self) -> list[str]:
        """Names of the d features, in the order of `coef_`."""
        return self._reader.feature_names

    @property
    def has_distribution_(self) -> bool:
        """True if `predict_distribution` answers."""
        return self._spread is not None

    # -- predictions

    def predict(self, table: TableLike, *, append: bool = False, errors: Errors = None) -> Any:
        """Return the class, or number, of every row.

        A Dask DataFrame gives a lazy Series (with `append` a lazy DataFrame), partition by partition.
        """

        def predicted(steps: Pipeline, rows: GaussianRows) -> tuple[Array]:
            return (steps[-1].predict(moved(steps, rows)),)

        names = self._names("", append=append)
        return self._answer(table, predicted, names, append=append, errors=errors, series=True, lazy=True)

    def predict_proba(self, table: TableLike, *, append: bool = False, errors: Errors = None) -> Any:
        """Return class probabilities, averaged over the uncertainty of each row.

        A table with one column per class, named after it (with ``append=True`` columns ``p_<class>``); for
        arrays, an (n, K) array. A Dask DataFrame gives a lazy one.
        """

        def probabilities(steps: Pipeline, rows: GaussianRows) -> tuple[Floats]:
            return (steps[-1].predict_proba(moved(steps, rows)),)

        return self._answer(
            table, probabilities, self._class_names(append=append), append=append, errors=errors, lazy=True,
            columns=lambda shares: shares.T,
        )  # fmt: skip

    def predict_distribution(self, table: TableLike, *, append: bool = False, errors: Errors = None) -> Any:
        """Return the prediction of a regression, and its standard deviation.

        A table with the columns ``<target>``, ``<target>_std`` (the standard deviation of the true target
        around the prediction) and ``<target>_std_from_errors`` (the part s_i of it that the row's error
        bars make, such as sqrt(w'S_i w)). For arrays, the pair (prediction, whole standard deviation). A Dask
        DataFrame gives a lazy one.

        Raises `ParameterError` for classes, and for a model that does not know its scatter.

        Notes
        -----
        .. code-block:: text

            y_i - prediction_i ~ N(0, sigma^2 + s_i^2 + t_i^2)                          of a `GSURegressor`
            y_i - prediction_i ~ N(0, a + sum_j b_j u_ij + t_i^2), s_i^2 = sum_j b_j u_ij      of others

        over rows held out in 5 folds (of more than 20,000 rows in one split). t_i is the error bar of the
        target: where targets had some in the fit the distribution is that of a *true* target, else of one as
        it would be measured. sigma is ``residual_std_``, the most likely one. u_i1 is the variance of the
        method's law, and for a learner u_ij the variance that the row's errors leave open of feature j
        (behind a `GaussianDenoiser` that of the posterior, else s^2 t^2 / (s^2 + t^2) for an error s and a
        feature of spread t). a > 0 and b_j >= 0 minimise the CRPS; b = 0, a constant width, is kept unless
        they are better by a standard error, and the method's own law or density (a mixture, ``density=True``,
        a stack) unless they are by two. If error bars are measurement errors held-out rows also count as read
        with errors twice and four times as large.
        """
        self._check_distribution("predict_distribution")
        names = self._names("", "_std", "_std_from_errors", append=append)
        return self._answer(
            table, self._distribution, names, append=append, errors=errors, lazy=True,
            arrays=lambda mean, std, _: (mean, std),
        )  # fmt: skip

    def predict_set(
        self, table: TableLike, *, coverage: float = 0.9, append: bool = False, errors: Errors = None
    ) -> Any:
        """Return sets of classes that hold the true one with probability `coverage`.

        A column of lists of labels (for arrays an array of lists), the most probable label first; with
        ``append=True`` the column ``<target>_predicted_set``. A list is never empty; a list of all classes
        says that the row is uninformative.

        Raises `UncertainError` for a regression, and if the model holds no scores of held-out rows.

        Notes
        -----
        With the probabilities p_k of a row the score of a class is (Romano, Sesia, Candes, NeurIPS 2020)

        .. code-block:: text

            e(k) = sum of p_l over the more probable classes l + u p_k,  0 for the most probable class,
            set = {k : e(k) <= e_(m, b)},  e_(m, b) = score number ceil((m + 1) coverage) of m held-out rows

        where u is a uniform number made of the row's values, and b the bin of the row's noise level, the root
        mean square of its errors in units of the spread of the features. Groups, and equal rows, stay
        together when rows are held out. From 240 rows with measurement errors on held-out rows also count as
        read with larger errors. Coverage is an average over rows of a noise level, not over each class.

        Examples
        --------
        >>> import numpy as np, uncertain
        >>> rng = np.random.default_rng(0)
        >>> kind = np.arange(400) % 2
        >>> std = rng.uniform(0.1, 2.0, (400, 1))
        >>> X = uncertain.GaussianArray(4.0 * kind[:, None] + std * rng.normal(size=(400, 1)), std=std)
        >>> model = uncertain.fit(X, np.array(["star", "quasar"])[kind], method="discriminant")
        >>> rows = uncertain.GaussianArray([[0.0], [2.0]], std=[[0.1], [3.0]])
        >>> model.predict_set(rows, coverage=0.95).tolist()
        [['star'], ['star', 'quasar']]
        """
        refuse_if(self.is_regression_, "predict_set is for classes; a regression has predict_interval")
        conformal, classes = self._scored(coverage), self.classes_

        def sets(steps: Pipeline, rows: GaussianRows) -> tuple[Labels]:
            shares = class_shares(steps, rows, classes)
            limits = conformal.limits(noise_levels(rows, conformal.widths), coverage)
            scores = score_of_classes(shares, rows, conformal.centres, conformal.widths)
            return (set_lists(shares, scores <= limits[:, None], classes),)

        names = self._names("_set" if append else "", append=append)
        with shown("predicting sets"):
            return self._answer(table, sets, names, append=append, errors=errors, series=True)

    def predict_interval(
        self, table: TableLike, *, coverage: float = 0.9, append: bool = False, errors: Errors = None
    ) -> Any:
        """Return intervals that contain the target with probability `coverage`.

        A table with the columns ``<target>_lower`` and ``<target>_upper``; for arrays a pair of arrays. With
        too few held-out rows for a coverage an interval is infinite.

        Raises `UncertainError` for classes, and if the model holds no scores of held-out rows.

        Notes
        -----
        The ends are quantiles of the density of `predict_density` at Phi(-+q_b): of a normal law
        prediction -+ q_b s. q_b is the quantile of \\|Phi^-1(F(y))\\| over held-out rows, F their
        distribution functions, in the bin b of the standard deviation s (split conformal prediction by noise
        level, Papadopoulos, Proedrou, Vovk, Gammerman, ECML 2002). From 240 rows with measurement errors on
        held-out rows also count as read with larger errors. Where targets had error bars in the fit the
        interval is that of the true target.
        """
        refuse_if(not self.is_regression_, "predict_interval is for numbers; a classifier has predict_set")
        conformal = self._scored(coverage)

        def ends(steps: Pipeline, rows: GaussianRows) -> tuple[Floats, Floats]:
            law = self._law(steps, rows)
            return interval(law, conformal.limits(noise_of_numbers(law), coverage))

        names = self._names("_lower", "_upper", append=append)
        return self._answer(table, ends, names, append=append, errors=errors)

    def predict_density(
        self, table: TableLike, grid: ArrayLike | None = None, *, append: bool = False, errors: Errors = None
    ) -> Any:
        """Return the density of every row's target on a grid, with all its peaks.

        A table with the list-typed column ``<target>_density``, the density p(y) at each point of the grid;
        without a grid also ``<target>_grid``, the same list in every row. For arrays the pair of arrays
        (grid, shape (G,); densities, shape (n, G)).

        .. code-block:: text

            mixture (several components)    sum_k w_k N(y; m_k, s_k^2), see `GaussianMixtureRegressor`
            re-measured, density=True       the same, see `RemeasuredRegressor`
            all others                      N(y; prediction, s^2)

        with the deviation s of `predict_distribution`. Where held-out rows have taught a mixture another
        width than that of the method, it keeps its shape about its mean and gets that width. An error for
        classes, for a model that does not know its scatter, and for a grid that does not rise.

        Parameters
        ----------
        table, append, errors : as of `predict`.
        grid : rising numbers, in the unit of the target. By default 200 evenly spaced ones, which hold all
            but a thousandth of every row; a warning, if it leaves out more than 1 % of the density of some
            rows.
        """
        self._check_distribution("predict_density")
        points = None if grid is None else checked_grid(grid)

        def densities(*parts: Array) -> tuple[Floats, Floats]:
            laws = NormalMixtures(*parts)
            at = laws.grid() if points is None else points
            if points is not None:
                laws.warn_of_narrow(at)
            return at, laws.density(at)

        def columns(*parts: Array) -> list[Labels]:
            at, density = densities(*parts)
            return [_lists(each) for each in (np.broadcast_to(at, density.shape), density)][-len(names) :]

        names = self._names(*(["_grid"] if grid is None else []), "_density", append=append)
        return self._answer(
            table, self._law, names, append=append, errors=errors, columns=columns, arrays=densities
        )

    def predict_quantiles(
        self,
        table: TableLike,
        q: ArrayLike = (0.05, 0.5, 0.95),
        *,
        append: bool = False,
        errors: Errors = None,
    ) -> Any:
        """Return quantiles of the density of every row's target.

        A table with the list-typed column ``<target>_quantiles``, in the order of `q` (numbers between 0 and
        1); for one number ``<target>_quantile``. For arrays an array of shape (n, q), or (n,).

        Raises `UncertainError` for classes, and for a model that does not know its scatter.
        """
        self._check_distribution("predict_quantiles")
        levels, single = checked_levels(q)

        def quantiles(steps: Pipeline, rows: GaussianRows) -> tuple[Floats]:
            values = NormalMixtures(*self._law(steps, rows)).quantiles(levels)
            return (values[:, 0] if single else values,)

        names = self._names("_quantile" if single else "_quantiles", append=append)
        return self._answer(
            table, quantiles, names, append=append, errors=errors,
            columns=lambda values: [values if single else _lists(values)],
        )  # fmt: skip

    def _answer(
        self,
        table: TableLike,
        ask: Answer,
        names: Sequence[str],
        *,
        append: bool,
        errors: Errors,
        columns: Callable[..., Sequence[Array]] | None = None,
        arrays: Callable[..., Any] | None = None,
        series: bool = False,
        lazy: bool = False,
    ) -> Any:
        """Return what `ask` says of all rows, in the caller's kind.

        `names` are those of the new columns, which `columns` makes of the answer, and `arrays` what is
        returned of rows without columns. A `series` stands alone where nothing is appended; `lazy` answers
        come for Dask DataFrames, too.
        """
        if lazy and is_dask(table):
            again = partial(
                self._answer, ask=ask, names=names, append=append, errors=errors, columns=columns,
                arrays=arrays, series=series,
            )  # fmt: skip
            return lazily(table, again, partial(self._empty, names, append=append, series=series))
        source = self._reader.source(table, adds=names if append else None, blocks=True, errors=errors)
        values = self._reader.answers(source, ask)
        if source.table is None:
            if arrays is not None:
                return arrays(*values)
            return as_array(values[0]) if len(values) == 1 else values
        return _in_kind(source, names, columns(*values) if columns else values, append=append, series=series)

    def _empty(self, names: Sequence[str], empty: NativeTable, *, append: bool, series: bool) -> Any:
        """Return the answer to a table without rows."""
        source = Source.from_input(empty)
        if append:
            source.check_new(names, "append=False")
        values = np.empty(0, dtype=self.classes_.dtype if series and not self.is_regression_ else np.float64)
        return _in_kind(source, names, [values] * len(names), append=append, series=series)

    def _names(self, *endings: str, append: bool) -> list[str]:
        """Return the names of columns: the target's, or such as the caller's table does not have yet."""
        target = self.columns_.target
        appended = "prediction" if target is None else f"{target}_predicted"
        return [(appended if append else self._reader.target_name) + ending for ending in endings]

    def _class_names(self, *, append: bool) -> list[str]:
        """Return the names of the columns of probabilities; ParameterError if there are none."""
        if not hasattr(self.pipeline_, "predict_proba"):
            hint = (
                "a regression has predict_distribution"
                if self.is_regression_
                else 'fit with probability=True, or with another method such as "gsu"'
            )
            raise ParameterError(f"{type(self.pipeline_[-1]).__name__} gives no probabilities here; {hint}")
        return [f"p_{label}" if append else str(label) for label in self.classes_.tolist()]

    def _check_distribution(self, verb: str) -> None:
        """ParameterError for a model without a distribution."""
        if not self.is_regression_:
            raise ParameterError(
                f"{verb} is for regression, but {type(self.pipeline_[-1]).__name__} predicts classes. Use "
                "predict_proba"
            )
        if self._spread is None:
            raise ParameterError(
                f"{verb}: the model has no held-out residuals ({NOT_CALIBRATED}). "
                "For the part of the error bars call model.pipeline_[-1].predict(rows, return_std=True)"
            )

    def _scored(self, coverage: float) -> Conformal:
        """Return the scores of held-out rows, if there are any, for a coverage that can be."""
        if not isinstance(coverage, (int, float)) or not 0.0 < coverage < 1.0:
            raise ParameterError(f"coverage = {coverage!r}: must be a share between 0 and 1, such as 0.9")
        if self._calibration.conformal is None:
            raise ParameterError(f"the model has no held-out scores ({NOT_CALIBRATED})")
        return self._calibration.conformal

    @property
    def _spread(self) -> Spread | None:
        return self._calibration.spread or own_law(self.pipeline_, self.residual_std_)

    def _distribution(self, steps: Pipeline, rows: GaussianRows) -> tuple[Floats, Floats, Floats]:
        """Return predictions, whole standard deviations, and the part of these that errors make."""
        spread = self._spread
        assert spread is not None
        answer = left_open(steps, rows, spread.widths)
        return answer.mean, spread.std(answer.parts), spread.from_errors(answer.of_errors)

    def _law(self, steps: Pipeline, rows: GaussianRows) -> NormalMixtures:
        """Return the shape of the method, where it has one, else a normal law; as wide as calibrated."""
        return law_of_rows(steps, rows, self._calibration.spread or of_scatter(self.residual_std_))

    # -- labelled rows

    def score(self, table: TableLike, y: ColumnOrValues | None = None) -> float:
        """Return the accuracy of classes, or R^2 of a regression.

        Pass `y` if the target is not a column. Files, queries and Dask DataFrames are read in blocks, each
        once. Rows of a regression without a number are left out.
        """
        truth, predicted = self._compared(table, y)
        return float((r2_score if self.is_regression_ else accuracy_score)(truth, predicted))

    def _compared(self, table: TableLike, y: ColumnOrValues | None = None) -> tuple[Labels, Labels]:
        """Return targets and predictions of labelled rows."""
        target = self._reader.target(y)
        name = target if isinstance(target, str) else None
        if is_dask(table):
            truth, predicted = self._compared_parts(table, name)
        else:
            values = as_values(target, "target") if name is None else ()
            ends = [0]

            def compared(block: Source, rows: GaussianRows, before: int) -> tuple[Labels, Labels]:
                ends.append(before + len(rows))
                here = name or values[before : ends[-1]]
                return self._truth(block, here, len(rows)), self._reader.steps.predict(rows)

            source = self._reader.opened(table)
            blocks = self._reader.ask_blocks(source, compared, *([] if name is None else [name]))
            if name is None and len(values) != ends[-1]:
                raise ShapeError(f"target: expected {ends[-1]} targets, one per row, got {len(values)}")
            refuse_if(not blocks, "the table has no rows", UncertainError)
            truth, predicted = (np.concatenate(each) for each in zip(*blocks, strict=True))
        if self.is_regression_:
            known = ~np.isnan(truth)
            truth, predicted = truth[known], predicted[known]
        refuse_if(not len(truth), f"{name or 'target'}: no row has a target", UncertainError)
        return truth, predicted

    def _truth(self, block: Source, target: ColumnOrValues, n_rows: int) -> Labels:
        """Return the targets of a block; NaN for a number that is missing."""
        values, what, _ = block._values(target, "target", self._reader.target_unit)
        column = read_column(values, what, n_rows, "targets")
        if not self.is_regression_:
            return np.asarray(self.classes_[places(column, self.classes_, what)])
        return finite_numbers(column, what, "targets", missing=np.nan) if n_rows else np.empty(0)

    def _compared_parts(self, table: NativeTable, target: str | None) -> tuple[Labels, Labels]:
        """Return those of the partitions of a Dask DataFrame, computed where these are."""
        import dask

        from .._rows.partition import answers

        if target is None:
            raise ParameterError("y: must be the name of a column of the Dask DataFrame")
        ask = dask.delayed(_compared_part)
        parts = answers(
            [ask(self, part, target) for part in table.to_delayed()], "the scores of the partitions"
        )
        parts = [part for part in parts if part is not None]
        refuse_if(not parts, "the table has no rows", UncertainError)
        truth, predicted = (np.concatenate(each) for each in zip(*parts, strict=True))
        return truth, predicted

    # -- what was learned

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
        max_rows: int | None = REMEMBERED_ROWS,
        max_seconds: float | None = None,
        verbose: int = 0,
        callback: ReportCallback = None,
        random_state: RandomState = 0,
    ) -> Report:
        """Compare the model on held-out rows with the same model on means alone.

        For a missing value the means alone have the conditional mean given the rest of the row. On the same
        folds: the other meaning of the error bars (linear models with both, for a method with one meaning
        only), no model, and error sizes without values; for ``method="huber"`` also the plain squared-loss
        fit to all labels, beside the labels that were dropped.

        Parameters
        ----------
        table, y : labelled rows, as for `score`; for ``method="huber"`` some may have no label.
        folds, repeats : of the cross-validation; by default 2 repeats, 1 beyond 1,000 rows.
        listed : number of rows that the text lists, those whose predictions error bars change most.
        meanings : False leaves out the comparison of meanings.
        groups : labels of groups, whose rows are held out together: a column of the table, or one value per
            row; by default the column of the fit, and False for single rows. Standard errors are then
            cluster-robust (Cameron and Miller, Journal of Human Resources 50(2), 2015, doi
            10.3368/jhr.50.2.317).
        sample_weight : non-negative row weights in the fits and in the means over held-out rows: a column, or
            values; by default the column of the fit, and False for none.
        scorers : names of the measures; all by default. Of classes: "accuracy", "balanced_accuracy",
            "roc_auc" (of more than two classes the mean of each against the rest), "log_loss" and "brier"; of
            regressions: "mae", "rmse", "r2", and "crps" and "cde_loss" of the densities of held-out rows.
        scoring : the measure that ranks and that the verdict is about: by default "accuracy", or "mae".
        max_rows : number of rows that are compared of a larger table, drawn by a hash of their numbers (whole
            groups by a hash of their names); ``n_table`` is the number of all rows. None: all rows.
        max_seconds : folds that would end later are left out, but for one (``folds_done``), and so are
            alternatives.
        verbose : 1 writes a line about every fit to stderr.
        callback : called after every fit, with a ``ReportProgress`` (task, fold, folds, seconds, remaining).

        Warns
        -----
        UncertainWarning : if the model takes error bars for measurement error, and errors are larger by more
            than 20 % and beyond doubt, see :func:`uncertain.check_errors` (on up to 2,000 rows).
        """
        design = Design(
            folds=folds, repeats=repeats, listed=listed, meanings=meanings, scorers=scorers, scoring=scoring,
            max_rows=max_rows, max_seconds=max_seconds, pace=Pace(verbose=verbose, callback=callback),
            random_state=random_state,
        )  # fmt: skip
        with shown("comparing", False if verbose else None):
            return report(self._reader, table, design, y=y, groups=groups, sample_weight=sample_weight)

    def value_of_remeasuring(
        self,
        table: TableLike,
        *,
        factor: float = 0.5,
        n_draws: int | None = None,
        top: int | None = None,
        random_state: int = 0,
    ) -> Any:
        """Rank values by the expected drop of the loss if measured again.

        .. code-block:: text

            of classes:   E sum_k p'_k log(p'_k / p_k)    the drop of the log loss
            of numbers:   E (m' - m)^2                    the drop of the squared error

        is the gain of a cell, the mean over a further reading of its feature: p (m) are the probabilities
        (the prediction) of the row as it is, p' (m') those with the reading, which leaves the feature with
        the error f s_j. Its true value is drawn from the posterior under the distribution of the model's
        `GaussianDenoiser` or `GaussianDiscriminant`, else of a denoiser with 3 components that is fitted to
        these rows. A missing value is measured with the median error of the fit.

        Parameters
        ----------
        table : rows, as for `predict`.
        factor : f, 0 <= f < 1.
        n_draws : even number of readings per cell, by default 8 to 64: gains are then known to some ten
            percent, ranks better.
        top : number of cells that are returned; None for all.
        random_state : seed of the draws.

        Returns
        -------
        table of the caller's kind, for arrays a dictionary of columns
            Rows are cells, the largest gain first: "row" (from 0), "feature", "error" (the present one,
            infinite where the value is missing), "new_error", "gain". Exact values are left out.

        Raises `UncertainError` for a model that takes error bars for spread, which no measurement makes
        smaller.
        """
        return value_of_remeasuring(
            self._reader, table, factor=factor, n_draws=n_draws, top=top, random_state=random_state
        )

    @property
    def leaderboard_(self) -> Any:
        """Candidates of ``method="auto"``, best first; None for a named method.

        Columns: ``model``, the method with its meaning and parameters; ``loss``, the mean log loss (of
        regressions the CRPS) of held-out rows as they are, and ``loss_x4`` with errors four times as large;
        ``weight``, the share in the model for rows as precise as those of the fit, and ``weight_x4``. The
        stack itself, and the sizes of errors without any value, have no weight.
        """
        return None if self._leaderboard is None else self._leaderboard.frame()

    @property
    def coef_(self) -> Floats:
        """Coefficients of a linear model in the units of the table, (1 or K, d).

        Scaling and linear maps are undone, so that ``X @ coef_.T + intercept_`` is the score of exact rows X
        (of a regression, the prediction). Behind a `GaussianDenoiser` or `GaussianImputer` X are the true
        values, or the completed rows. AttributeError for models that are not linear.
        """
        return hyperplanes(self.pipeline_).coef

    @property
    def intercept_(self) -> Floats:
        """Intercept of a linear model that belongs to `coef_`, shape (1,) or (K,)."""
        return hyperplanes(self.pipeline_).intercept

    @property
    def coef_std_(self) -> Floats:
        """Standard errors of `coef_` of a law ("law", "mixture"), shape (1, d).

        Of a curve those of its p parameters, shape (1, p).
        """
        std: Floats = law_or_curve(self.pipeline_).coef_std_[None, :]
        return std

    @property
    def intrinsic_scatter_(self) -> float:
        """Scatter around a line or curve that no error bar explains."""
        last: Any = law_or_curve(self.pipeline_)
        scatter: float = last.intrinsic_scatter_
        return scatter

    def conf_int(self, level: float = 0.95, method: Literal["wald", "profile"] = "wald") -> Floats:
        """Return confidence intervals of a law's coefficients, shape (d, 2).

        Of a curve those of its parameters. "profile", by the likelihood, is for models that were fitted in
        this process: files do not hold the rows.
        """
        ends: Floats = law_or_curve(self.pipeline_).conf_int(level, method)
        return ends

    def sample_posterior(self, n_samples: int = 1, random_state: RandomState = 0) -> Floats:
        """Draw the parameters of a law, shape (n_samples, p).

        Intercept, coefficients and further ones come from the normal distribution with the law's covariance;
        of positive parameters their logarithms do. An ordinal law has no intercept, and a curve its
        parameters; AttributeError for models that are no laws.
        """
        drawn: Floats = law_or_curve(self.pipeline_).sample_posterior(n_samples, random_state)
        return drawn

    def summary(self, table: TableLike | None = None) -> Summary:
        """Return what the model has learned, as a text and as arrays.

        Of a linear model the coefficients in the units of the table, and per standard deviation of the
        feature; with rows in `table` also the share that each feature's error bars have in the uncertainty of
        the score (of more than 200,000 rows, a sample). Of other models the kernel, the support vectors and
        the like. A `Summary` prints as a table, whose columns are `feature_names`, `scores`, `coef`,
        `intercept`, `per_std` and `error_share` (None where there are none); ``to_dict()`` makes a data frame
        of them.

        Examples
        --------
        >>> import numpy as np, uncertain
        >>> rng = np.random.default_rng(0)
        >>> x = rng.normal(size=(200, 2)) * [1.0, 100.0]
        >>> X = uncertain.GaussianArray(x, std=[[0.1, 30.0]] * 200, feature_names=["mass", "age"])
        >>> model = uncertain.fit(X, 5 * x[:, 0] + 0.01 * x[:, 1], method="gsu", meaning="spread")
        >>> model.coef_.round(2)
        array([[4.95, 0.01]])
        >>> model.summary(X).error_share.round(2)
        array([[0.76, 0.24]])
        """
        rows = None if table is None else self._reader.input(self._subsample(table)[0])
        return summarised(self.pipeline_, self._reader.target_name, self.classes_, rows)

    def to_onnx(self, path: str | os.PathLike[str]) -> None:
        """Write the model as an ONNX graph, for runtimes without Python.

        Inputs are the columns that the model reads, by name and with their error columns, one float64 number
        per row each (texts for categories); columns of lists are matrices, and models of arrays take ``mean``
        and ``std``. NaN is a missing value. Outputs are ``label`` and ``probabilities``, or the target and
        ``<target>_std``, its whole standard deviation. They agree with `predict` within 1e-6.

        Linear models, robust SVMs, the minimax machine, discriminants, mixtures, binomial laws, re-measured
        trees, and stacks of these can be written, with measurement errors, logarithms, gaps and missing
        error bars; kernel machines for exact rows only. Needs the package onnx.

        Raises `UncertainError` for a part that has no translation, by name, before anything is written.
        """
        target = self._reader.target_name
        about = {"target": target, "library": "uncertain"}
        write_onnx(path, self.pipeline_, self._spread, target, about)

    def labels(self, table: TableLike, y: ColumnOrValues | None = None) -> Labels:
        """Return the checked targets of labelled rows: the column of the fit, or `y`."""
        return self._reader.truth(Source.from_input(table).load([y, self.columns_.target]), y)

    def gaussians(self, table: TableLike) -> GaussianArray:
        """Return the rows as the model reads them, before scaling.

        Gaps, and limits, are filled as by a `GaussianImputer` that knows the distribution that the model has
        learned.
        """
        return self._reader.gaussians(self._reader.source(table))

    # -- for inspection and plots

    def _subsample(
        self,
        table: TableLike,
        y: ColumnOrValues | None = None,
        groups: ColumnOrValues | bool | None = None,
        max_rows: int | None = REMEMBERED_ROWS,
    ) -> tuple[Source, ColumnOrValues | None, ColumnOrValues | bool | None]:
        """Return about so many rows of a larger table, with their targets and groups."""
        some = some_rows(self._reader, table, {"y": y, "groups": groups}, max_rows)
        if some is None:
            return self._reader.source(table, y, groups), y, groups
        return some.source, some.beside["y"], some.beside["groups"]

    def _inspected(
        self,
        table: TableLike,
        y: ColumnOrValues | None,
        groups: ColumnOrValues | bool | None,
        labelled: bool,
        max_rows: int | None,
    ) -> Inspected:
        """Return rows for `uncertain.inspection`; targets and groups if they are `labelled`."""
        reader = self._reader
        source, y, groups = self._subsample(table, y, groups, max_rows)
        rows = reader.rows(source)
        if not labelled:
            return reader.steps, rows, None, None
        return reader.steps, rows, reader.truth(source, y), reader.groups(source, groups)

    def _drawn(self, table: TableLike, y: ColumnOrValues | None, *, filled: bool = True) -> Plotted:
        """Return rows for `uncertain.plot`; `filled`: without gaps."""
        reader = self._reader
        source, y, _ = self._subsample(table, y)
        known = y is not None or self.columns_.target in source.names
        truth = reader.truth(source, y) if known else None
        rows = reader.gaussians(source) if filled else reader.rows(source)
        return reader.steps, rows, truth, reader.feature_names

    def _law_drawn(self, table: TableLike, y: ColumnOrValues | None) -> PlottedLaw:
        """Return a law and its rows for `uncertain.plot.LawDisplay`."""
        reader, last = self._reader, law_or_curve(self.pipeline_)
        source, y, _ = self._subsample(table, y)
        rows = reader.gaussians(source)
        targets: Any = reader.truth(source, y)
        shared = self.columns_.modes
        if hasattr(last, "y_modes_"):
            raise UncertainError(
                "y_cov= describes the rows of the fit only. Pass these rows, the law = model.pipeline_[-1], "
                "and y - law.y_modes_ @ law.modes_"
            )
        if shared is True:
            raise UncertainError(
                "modes= was an array, which is not in the table. Fit again with modes=[names of columns]"
            )
        if shared:
            targets = targets - source.beside(list(shared), "modes") @ last.modes_
        beside = about_target(reader, source, rows, limited=False)
        names = (*self.feature_names_, reader.target_name)
        return last, rows, targets, beside["y_std"], beside.get("xy_cov"), names

    # -- files and text

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a safetensors file: numbers and JSON, no code."""
        write(path, self.pipeline_, self._metadata)

    def __reduce__(self) -> tuple[Any, ...]:
        try:
            return _from_bytes, (to_bytes(self.pipeline_, self._metadata),)
        except UncertainError:  # a learner that model files do not hold, but pickles do
            return copyreg.__newobj__, (type(self),), self.__dict__  # type: ignore[attr-defined]

    @property
    def _metadata(self) -> Metadata:
        return Metadata(
            columns=self.columns_.to_dict(), calibration=self._calibration, leaderboard=self._leaderboard,
            n_rows=self._n_rows, n_left_out=self._n_left_out, doubts=self._doubts,
        )  # fmt: skip

    def __repr__(self) -> str:
        return model_text(
            self._reader, self.residual_std_, self._leaderboard,
            n_rows=self._n_rows, n_left_out=self._n_left_out, seconds=self._seconds, doubts=self._doubts,
        )  # fmt: skip


def _in_kind(
    source: Source, names: Sequence[str], columns: Sequence[Array], *, append: bool, series: bool
) -> Any:
    """Return new columns in the caller's kind: a series, a table, or the caller's table with them."""
    assert source.table is not None
    named = dict(zip(names, columns, strict=True))
    if append:
        return source.table.appended(named)
    answer = source.table.answer(named)
    return answer[names[0]] if series else answer


def _compared_part(model: Model, frame: NativeTable, target: str) -> tuple[Labels, Labels] | None:
    """Return targets and predictions of a partition; None of an empty one."""
    return model._compared(frame, target) if len(frame) else None


def _lists(values: Floats) -> Labels:
    """Return a list for each row."""
    lists = np.empty(len(values), dtype=object)
    lists[:] = [row.tolist() for row in values]
    return lists


def load(path: str | os.PathLike[str]) -> Model:
    """Read a model that `Model.save` (or the Rust crate) wrote.

    Raises `ModelFileError` for a truncated, altered or foreign file. Loading runs no code from the file.
    """
    if not Path(path).is_file():
        raise FileNotFoundError(f"there is no file {path}")
    try:
        return _assembled(*read(path))
    except ModelFileError as error:
        raise ModelFileError(f"{os.fspath(path)}: {error}") from None


def _from_bytes(data: bytes) -> Model:
    return _assembled(*from_bytes(data))


def _assembled(pipeline: Pipeline, columns: Columns, about: Metadata) -> Model:
    return Model(
        pipeline, columns, about.calibration,
        n_rows=about.n_rows, n_left_out=about.n_left_out, leaderboard=about.leaderboard,
        doubts=about.doubts,
    )  # fmt: skip
