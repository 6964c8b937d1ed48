"""`Model`: what `uncertain.fit` returns and `uncertain.load` reads back.

The class holds parts, and its methods say what they promise and who keeps it: a `Reader` turns tables into
rows, a `Predictor` answers for every row, `report`, `values` and `summary` say what has been learned, and
`file` writes all of it down.
"""

from __future__ import annotations

import copyreg
import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal

from numpy.typing import ArrayLike
from sklearn.pipeline import Pipeline

from .._base.progress import shown
from .._choice.leaderboard import Leaderboard
from .._columns import Columns
from .._data.array import GaussianArray
from .._data.typing import ColumnOrValues, Floats, Labels, RandomState
from .._data.validation import TableLike
from .._report.classes import Report
from .._report.huber import HuberReport
from .._report.pace import Pace, ReportCallback
from .._report.regression import RegressionReport
from .._rows.sampled import REMEMBERED_ROWS
from .._rows.source import Source
from .._tables.dask import is_dask, lazily
from .._widths.spread import own_law
from ..exceptions import ModelFileError, UncertainError
from .asked import Inspected, Pictured, PicturedLaw, asked_rows, inspected, pictured, pictured_law
from .calibrating import Calibration
from .coefficients import hyperplanes, law_or_curve
from .file import Metadata, from_bytes, read, to_bytes, write
from .onnx.export import write_onnx
from .predictor import Predictor
from .reader import Reader
from .report import ReportOptions, report
from .score import Counts, count_scores
from .summary import Summary, summarised
from .text import model_text
from .values import value_of_remeasuring
from .without_errors import Errors


class Model:
    """What `uncertain.fit` returns: a fitted pipeline together with the columns it reads.

    Tables may be of any library, or a path; they need the columns the model was fitted on, in any order.

    Attributes
    ----------
    pipeline_ : sklearn.pipeline.Pipeline
        The fitted steps: AsGaussians (for tables) -> GaussianImputer (with ``on_missing="impute"``, unless
        what follows takes gaps) -> GaussianDenoiser (with ``meaning="measurement"``) -> GaussianScaler (with
        ``scale=True``) -> GaussianCollapser (of a regression with ``meaning="measurement"``) -> GSUClassifier
        or the estimator of another method.
    columns_ : Columns
        Which columns are means, errors and target, and which are ignored.
    is_regression_ : bool
        Is the last step a regression?
    has_distribution_ : bool
        Does it answer `predict_distribution`? A `GSURegressor` does, unless it comes from a file that holds
        no `residual_std_`.
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
    ) -> None:
        self.pipeline_ = pipeline
        self.columns_ = columns
        self._calibration = calibration or Calibration()
        self.residual_std_ = self._calibration.residual_std
        self._n_rows = n_rows
        self._n_left_out = n_left_out
        self._seconds = seconds
        self._leaderboard = leaderboard
        self._reader = Reader(pipeline, columns, self._calibration.sizes)
        self._predictor = Predictor(self._reader, self._calibration)
        self.is_regression_ = self._reader.is_regression
        self.classes_: Any = self._reader.classes  # an array for all who ask a classifier

    @property
    def feature_names_(self) -> list[str]:
        """Names of the d features, in the order of `coef_`: the columns, or x0, x1, ... without names."""
        return self._reader.feature_names

    @property
    def has_distribution_(self) -> bool:
        """Does it answer `predict_distribution`?"""
        return self._predictor.has_distribution

    def predict(self, table: TableLike, *, append: bool = False, errors: Errors = None) -> Any:
        """The class of every row, in row order, with labels of their original type; or the predicted number.

        A Polars, pandas or narwhals table gives a Series named like the target, pyarrow, DuckDB and other
        streams a ChunkedArray, astropy (also FITS) a Column, paths a Polars Series, all else a NumPy array.

        With ``append=True`` it is the table itself, a new one of the same kind with the new column
        ``<target>_predicted`` at its end (``prediction`` if the target was no column). Lazy tables are
        collected, paths give a Polars DataFrame, and FITS tables an astropy one. A column of that name is an
        error: nothing is replaced.

        A Dask DataFrame gives a lazy Series (with `append` a lazy DataFrame), partition by partition.

        `errors` is for rows without error bars, of all ``predict`` methods: "typical" gives them sizes as in
        the fit (a table that lacks the error columns by the model of sizes that was learned from the table of
        the fit, plain arrays the median), "zero" takes them as exact. Without it such a table is an error,
        and a plain array is taken as exact, with a warning. Error bars that are there are always used.
        """
        ask = self._predictor
        if is_dask(table):
            return lazily(
                table, partial(self.predict, append=append, errors=errors), partial(ask.like, append, None)
            )
        return ask.predict(table, append=append, errors=errors)

    def predict_proba(self, table: TableLike, *, append: bool = False, errors: Errors = None) -> Any:
        """The probability of every class, averaged over each row's own uncertainty.

        A table of the caller's kind with one column per class, named after it; for arrays, an (n, K) array.
        With ``append=True`` the caller's table as by `predict`, with columns ``p_<class>`` at its end.
        """
        ask = self._predictor
        names = ask.class_names(append=append)
        if is_dask(table):
            return lazily(
                table,
                partial(self.predict_proba, append=append, errors=errors),
                partial(ask.like, append, names),
            )
        return ask.predict_proba(table, append=append, errors=errors)

    def predict_distribution(self, table: TableLike, *, append: bool = False, errors: Errors = None) -> Any:
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
        errors add to the scatter of its laws. So has a `RemeasuredRegressor` with ``density=True``, whose
        deviation is the root mean square around the prediction. Other methods have none. Where there is none,
        or where the law of least CRPS over held-out rows is better by two standard errors (with heavy tails,
        or a scatter that was fitted too well), that one takes its place:

        .. code-block:: text

            y_i - prediction_i ~ N(0, a + sum_j b_j u_ij + t_i^2),    s_i^2 = sum_j b_j u_ij

        with u_i1 the variance of the method's own law, and for a learner u_ij the variance that the row's
        errors leave open of feature j (behind a `GaussianDenoiser` that of the posterior, else s^2 t^2 / (s^2
        + t^2) for an error s and a feature of spread t). An average has the u of its members, and the
        variance of their predictions. a > 0 and b_j >= 0 minimise the CRPS of held-out rows (of the folds of
        a choice; else of a third of the rows, or all in turn up to 1,000); b = 0, a constant width, is kept
        unless they are better by a standard error. If error bars are measurement errors every held-out row is
        there twice, also as it would have been read with errors up to 4 times as large. Where residuals have
        heavy tails the deviation is that of their core: intervals are those of `predict_interval`.

        Raises `ParameterError` for classes, and for a model that does not know its scatter: its file was
        written in Rust, or it was fitted to too few rows (or groups) to hold any out.
        """
        ask = self._predictor
        ask.check_distribution()
        if is_dask(table):
            names = ask.distribution_names(append=append)
            return lazily(
                table,
                partial(self.predict_distribution, append=append, errors=errors),
                partial(ask.like, append, names),
            )
        return ask.predict_distribution(table, append=append, errors=errors)

    def predict_set(
        self, table: TableLike, *, coverage: float = 0.9, append: bool = False, errors: Errors = None
    ) -> Any:
        """For every row the classes that it may have: a share `coverage` of the sets hold the true one.

        A column of lists of labels (a Series, a ChunkedArray, ... as by `predict`; for arrays an array of
        lists), the most probable label first. A list is never empty, so coverage is larger where the model is
        right more often than was asked; a list of all classes says that the row tells nothing. Where models
        of folds disagree with the model itself, a list may lack the class that `predict` says.

        The model keeps models of folds (for 300 rows and more mostly one, of two thirds of the rows), and the
        scores 1 - P_f(true class) that each gave to the rows it had not seen. A class is in the set unless
        too few of these m scores are as large as its own, model by model,

        .. code-block:: text

            set = {k : sum_f #{i in fold f, bin b: P_f(y_i) <= P_f(k)} >= floor((m + 1)(1 - coverage))}
                  or, if there is none, the most probable class

        where b is the bin of the row's noise level, the root mean square of its errors in units of the spread
        of the features. With one fold (split conformal prediction) sets hold the true class with at least the
        probability `coverage`, over tables and rows that are exchangeable with those of the fit. With several
        (cross-conformal prediction, CV+) the guarantee is 1 - 2 alpha - sqrt(2 / n), alpha = 1 - coverage; in
        practice it is `coverage`, or more where the models disagree. The coverage on one table varies by
        sqrt(coverage alpha / m), and more where many rows share one probability.

        The held-out rows are those of the folds that ``method="auto"`` chose on; other methods hold out a
        third of the rows. There are as many folds as hold a third of the rows or groups (100 at least, 400
        are enough); the model file holds their models, too. Whole groups stay together, and so do equal rows:
        of groups the guarantee is that for a row of a new group. Rows count by their weights. If error bars
        are measurement errors each is there three times, as it was read and as it would have been read with
        errors up to 2.8 and 8 times as large. So coverage holds for precise rows, for poor ones, and for
        larger errors than those of the fit; in bins of the noise, with weights or re-read rows it is no
        longer a theorem. It is an average over rows of a noise level, not a promise for each class.

        Parameters
        ----------
        table : rows, as for `predict`.
        coverage : share of the sets that shall hold the true class, between 0 and 1.
        append : True gives the caller's table with the sets in a new column ``<target>_predicted_set``.
        errors : "typical" or "zero", for rows without error bars; as of `predict`.

        Raises
        ------
        UncertainError
            A ``ValueError``: for a regression, which has `predict_interval`; if the model holds no scores
            (its file was written in Rust, or there were too few rows).

        References
        ----------
        V. Vovk, A. Gammerman, G. Shafer, Algorithmic Learning in a Random World, 2005, sections 2.2 and 4.5.
        R. F. Barber, E. J. Candes, A. Ramdas, R. J. Tibshirani, Predictive inference with the jackknife+,
        Annals of Statistics 49, 2021, section 5.
        M. Sadinle, J. Lei, L. Wasserman, Least ambiguous set-valued classifiers with bounded error levels,
        JASA 114, 2019.

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
        with shown("predicting sets"):
            return self._predictor.predict_set(table, coverage, append=append, errors=errors)

    def predict_interval(
        self, table: TableLike, *, coverage: float = 0.9, append: bool = False, errors: Errors = None
    ) -> Any:
        """For every row an interval, so that a share `coverage` of the intervals hold the true target.

        A table of the caller's kind with the columns ``<target>_lower`` and ``<target>_upper``; for arrays
        the pair of arrays (lower, upper). With ``append=True`` the caller's table with
        ``<target>_predicted_lower`` and ``<target>_predicted_upper`` at its end.

        With s the standard deviation that `predict_distribution` gives, and q_b the ceil((m + 1) coverage)-th
        smallest of the scores ``|y - prediction| / s`` of m held-out rows in bin b of log s,

        .. code-block:: text

            prediction - q_b s  to  prediction + q_b s

        The held-out rows are those of `predict_distribution`, and if error bars are measurement errors each
        is there twice, as it was read and as it would have been read with errors up to 4 times as large. So
        coverage holds for precise rows, for poor ones, and for larger errors than those of the fit, and needs
        no Gaussian residuals. Where targets had error bars in the fit the interval is that of the true
        target.

        Parameters
        ----------
        table : rows, as for `predict`.
        coverage : share of the intervals that shall hold the true target, between 0 and 1. With too few
            held-out rows for it an interval is infinite.
        append : whether the answer is the caller's table with new columns.
        errors : "typical" or "zero", for rows without error bars; as of `predict`.

        Raises
        ------
        UncertainError
            A ``ValueError``: for classes, which have `predict_set`; if the model holds no scores (its file
            was written in Rust, or there were too few rows).

        References
        ----------
        H. Papadopoulos, K. Proedrou, V. Vovk, A. Gammerman, Inductive confidence machines for regression,
        ECML 2002.

        Examples
        --------
        >>> import numpy as np, uncertain
        >>> rng = np.random.default_rng(0)
        >>> z, std = rng.normal(size=(500, 1)), rng.uniform(0.1, 1.0, (500, 1))
        >>> X = uncertain.GaussianArray(z + std * rng.normal(size=z.shape), std=std)
        >>> y = 3.0 * z[:, 0] + rng.normal(size=500)
        >>> model = uncertain.fit(X, y, method="gsu", meaning="measurement")
        >>> lower, upper = model.predict_interval(X, coverage=0.9)
        >>> bool(0.85 < np.mean((lower < y) & (y < upper)) <= 1.0)
        True
        """
        return self._predictor.predict_interval(table, coverage, append=append, errors=errors)

    def predict_density(
        self,
        table: TableLike,
        grid: ArrayLike | None = None,
        *,
        append: bool = False,
        errors: Errors = None,
    ) -> Any:
        """Of a regression: the density of every row's target on a grid, with all its peaks.

        A table of the caller's kind with the list-typed column ``<target>_density``, the density p(y) at each
        point of the grid; without a grid also ``<target>_grid``, the same list in every row. For arrays the
        pair of arrays (grid, shape (G,); densities, shape (n, G)). With ``append=True`` the caller's table
        with ``<target>_predicted_density`` (and ``..._grid``) at its end.

        .. code-block:: text

            mixture (several components)    sum_k w_k N(y; m_k, s_k^2), see `GaussianMixtureRegressor`
            re-measured, density=True       the same, see `RemeasuredRegressor`
            all others                      N(y; prediction, s^2)

        with the deviation s of `predict_distribution`. Where held-out rows have taught a mixture another
        width than its own, it keeps its shape about its mean and gets that width. As there, it is the density
        of a true target where targets had error bars in the fit.

        Parameters
        ----------
        table : rows, as for `predict`.
        grid : rising numbers, in the unit of the target. By default 200 evenly spaced ones, which hold all
            but a thousandth of every row.
        append : whether the answer is the caller's table with new columns.
        errors : "typical" or "zero", for rows without error bars; as of `predict`.

        Raises
        ------
        UncertainError
            A ``ValueError``: for classes; for a model that does not know its scatter, see
            `predict_distribution`; for a grid that does not rise.

        Warns
        -----
        UncertainWarning : if a grid leaves out more than 1 % of the density of some rows.

        Examples
        --------
        >>> import numpy as np, uncertain
        >>> rng = np.random.default_rng(0)
        >>> side = rng.choice([-1.0, 1.0], 600)
        >>> x = rng.normal(size=(600, 1))
        >>> X = uncertain.GaussianArray(x + 0.1 * rng.normal(size=x.shape), std=0.1)
        >>> model = uncertain.fit(X, x[:, 0] + side, method="mixture", n_components=2)
        >>> grid, density = model.predict_density(X[:1] @ [[0.0]])
        >>> density.shape, bool(np.trapezoid(density[0], grid) > 0.99)
        ((1, 200), True)
        """
        return self._predictor.predict_density(table, grid, append=append, errors=errors)

    def predict_quantiles(
        self,
        table: TableLike,
        q: ArrayLike = (0.05, 0.5, 0.95),
        *,
        append: bool = False,
        errors: Errors = None,
    ) -> Any:
        """Of a regression: quantiles of the distribution of every row's target.

        A table of the caller's kind with the list-typed column ``<target>_quantiles``, in the order of `q`;
        for one number ``<target>_quantile``. For arrays an array of shape (n, q), or (n,). With
        ``append=True`` the caller's table with ``<target>_predicted_quantiles`` at its end.

        They belong to the densities of `predict_density`. `predict_interval` has ends that hold a stated
        share of held-out targets, whatever their law.

        Parameters
        ----------
        table : rows, as for `predict`.
        q : probabilities between 0 and 1.
        append : whether the answer is the caller's table with a new column.
        errors : "typical" or "zero", for rows without error bars; as of `predict`.

        Raises
        ------
        UncertainError
            A ``ValueError``: for classes, for a model that does not know its scatter, and for what is no
            probability.

        Examples
        --------
        >>> import numpy as np, uncertain
        >>> rng = np.random.default_rng(0)
        >>> x, std = rng.normal(size=(300, 1)), rng.uniform(0.1, 1.0, (300, 1))
        >>> X = uncertain.GaussianArray(x + std * rng.normal(size=x.shape), std=std)
        >>> model = uncertain.fit(X, 3.0 * x[:, 0], method="gsu", meaning="measurement")
        >>> low, high = model.predict_quantiles(X, [0.05, 0.95]).T
        >>> bool(np.mean((low < 3.0 * x[:, 0]) & (3.0 * x[:, 0] < high)) > 0.8)
        True
        """
        return self._predictor.predict_quantiles(table, q, append=append, errors=errors)

    def score(self, table: TableLike, y: ColumnOrValues | None = None) -> float:
        """Accuracy (the share of rows whose class is predicted); for a regression R2 over rows with a number.

        Pass `y` if the target is not a column. Files, queries and Dask DataFrames are read in blocks, each
        once, and nothing of them is kept.
        """
        return self._score_counts(table, y).score

    def _score_counts(self, table: TableLike, y: ColumnOrValues | None = None) -> Counts:
        """How good the predictions are, in counts that `score` and the command line show."""
        return count_scores(self._reader, table, y)

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
            numbers: "mae", "rmse", "r2" and, of a `GSURegressor` and of mixtures, "crps", "cde_loss",
            "coverage_68" and "coverage_95" of the densities of held-out rows. ``report.pit`` has their
            distribution functions at the targets, and a picture of the report shows them.
        scoring : the measure that ranks and that the verdict is about: by default "accuracy", or "mae".
        max_rows : of a larger table (a frame, a path, a query, a Dask DataFrame) about so many rows are
            compared, drawn by a hash of their numbers, or of whole groups by a hash of their names, so that
            the same table gives the same rows; the report says so, and ``n_table`` is the number of all
            rows. What is not in memory is read once, batch by batch. None: all rows.
        max_seconds : the report begins no fold that would end later than this; at least one fold is done.
            ``folds_done`` says how many were.
        verbose : 1 writes a line about every fit to stderr.
        callback : hears of every fit, with a ``ReportProgress`` (task, fold, folds, seconds, remaining).

        Warns
        -----
        UncertainWarning : if the model takes error bars for measurement error, and errors are larger by more
            than 20 % and beyond doubt, see :func:`uncertain.check_errors` (on up to 2,000 rows).
        """
        options = ReportOptions(
            folds=folds, repeats=repeats, listed=listed, meanings=meanings, scorers=scorers, scoring=scoring,
            max_rows=max_rows, pace=Pace(max_seconds=max_seconds, verbose=verbose, callback=callback),
            random_state=random_state, scatter=self.residual_std_ is not None,
        )  # fmt: skip
        with shown("comparing", False if verbose else None):
            return report(self._reader, table, options, y=y, groups=groups, sample_weight=sample_weight)

    def value_of_remeasuring(
        self,
        table: TableLike,
        *,
        factor: float = 0.5,
        n_draws: int | None = None,
        top: int | None = None,
        random_state: int = 0,
    ) -> Any:
        """Which values to measure again: cells of the table by how much that is expected to lower the loss.

        The gain of cell (i, j) is the mean, over what a further reading of feature j in row i may show,

        .. code-block:: text

            of classes:   E sum_k p'_k log(p'_k / p_k)    the drop of the log loss
            of numbers:   E (m' - m)^2                    the drop of the squared error

        with the probabilities p (the prediction m) of the row as it is, and p' (m') with the reading added,
        whose noise is such that the feature is left with the error f s_j. Its true value is drawn from what
        the row leaves open of it, under the distribution of the model's `GaussianDenoiser` or
        `GaussianDiscriminant` (else of a denoiser with 3 components that is fitted to these rows). A missing
        value is measured with the median error of the fit. If true values and targets are as the model
        believes, the gain is the mutual information of class and new reading, or the drop of the posterior
        variance.

        Parameters
        ----------
        table : rows, as for `predict`.
        factor : f, the error after the measurement in units of the present one, 0 <= f < 1; 0 is to know the
            value.
        n_draws : readings that are drawn for each cell, an even number; by default 8 to 64, so that not many
            more than 500,000 rows are predicted. Gains are then known to some ten percent, and ranks better
            than that.
        top : only the best so many cells.
        random_state : seed of the draws.

        Returns
        -------
        table of the caller's kind, for arrays a dictionary of columns
            Rows are cells, the largest gain first: "row" (from 0), "feature", "error" (the present one,
            infinite where the value is missing), "new_error", "gain". Exact values are left out.

        Raises
        ------
        UncertainError (a ValueError) : for a model that takes error bars for spread, which no measurement
        makes
            smaller.

        References
        ----------
        H. Raiffa, R. Schlaifer, Applied Statistical Decision Theory, 1961, chapter 4. D. V. Lindley, On a
        measure of the information provided by an experiment, Annals of Mathematical Statistics 27, 1956.

        Examples
        --------
        >>> import numpy as np, uncertain
        >>> rng = np.random.default_rng(0)
        >>> z = rng.normal(size=(400, 2))
        >>> std = rng.choice([0.1, 1.0], (400, 2))
        >>> X = uncertain.GaussianArray(z + std * rng.normal(size=z.shape), std=std, feature_names=["a", "b"])
        >>> model = uncertain.fit(X, 3.0 * z[:, 0] + z[:, 1], method="gsu", meaning="measurement")
        >>> best = model.value_of_remeasuring(X, top=100)
        >>> set(best["feature"]), bool(best["error"].min() == 1.0)
        ({'a'}, True)
        """
        return value_of_remeasuring(
            self._reader, table, factor=factor, n_draws=n_draws, top=top, random_state=random_state
        )

    @property
    def leaderboard_(self) -> Any:
        """Of ``method="auto"``: the candidates, a Polars DataFrame, best first; None for a named method.

        ``print(model.leaderboard_)`` shows six of its columns, each score with its standard error; the others
        are reached by name, such as ``model.leaderboard_["seconds"]``.

        Columns: ``method``, ``meaning`` and ``parameters``; ``score``, the mean log loss (of numbers the root
        mean square error) of rows held out, and ``score_se``; ``behind``, by how much it is worse than the
        best candidate on the same rows in what candidates are judged by (from 1,000 rows on the mean over
        errors as they are, twice and four times as large), and ``behind_se``; ``accuracy`` (of classes);
        ``seconds`` of all its fits; ``gap``, the certified one; ``weight``, its share in the model; ``note``:
        candidates that were left out, with the reason, those that left the race clearly behind (their scores
        are of the folds that they did), and models without error bars, which are there for comparison.
        """
        return None if self._leaderboard is None else self._leaderboard.frame()

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
    def coef_std_(self) -> Floats:
        """Of a law (methods "law" and "mixture"): standard errors of `coef_`, shape (1, d).

        Of a curve those of its p parameters, shape (1, p).
        """
        std: Floats = law_or_curve(self.pipeline_).coef_std_[None, :]
        return std

    @property
    def intrinsic_scatter_(self) -> float:
        """Of a line or curve between true values: the scatter around it that no error bar explains."""
        last: Any = law_or_curve(self.pipeline_)
        scatter: float = last.intrinsic_scatter_
        return scatter

    def conf_int(self, level: float = 0.95, method: Literal["wald", "profile"] = "wald") -> Floats:
        """Of a law: confidence intervals of its coefficients in the units of the table, shape (d, 2).

        Of a curve those of its parameters. "profile", by the likelihood, is for models that were fitted in
        this process: files do not hold the rows.
        """
        ends: Floats = law_or_curve(self.pipeline_).conf_int(level, method)
        return ends

    def sample_posterior(self, n_samples: int = 1, random_state: RandomState = 0) -> Floats:
        """Of a law: draws of its intercept, coefficients and further parameters, in the units of the table.

        They come from the normal distribution with the law's covariance; of positive parameters their
        logarithms do. Statistics of the draws are those of whatever depends on the estimates.

        Parameters
        ----------
        n_samples : int, default=1
            Number of draws.
        random_state : int, RandomState or None, default=0
            Seed of the draws.

        Returns
        -------
        ndarray of shape (n_samples, p)
            Intercept (not of the family "ordinal"), coefficients, and what a family has beside; of a curve
            its parameters. AttributeError for models that are no laws.
        """
        drawn: Floats = law_or_curve(self.pipeline_).sample_posterior(n_samples, random_state)
        return drawn

    def summary(self, table: TableLike | None = None) -> Summary:
        """What the model has learned, as a text and as arrays.

        Of a linear model the coefficients in the units of the table, and per standard deviation of the
        feature; with rows in `table` also the share that each feature's error bars have in the uncertainty of
        the score (of more than 200,000 rows, a sample). Of other models the kernel, support vectors and the
        like, as far as there are any.

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
        >>> model = uncertain.fit(X, 5 * x[:, 0] + 0.01 * x[:, 1], method="gsu", meaning="spread")
        >>> model.coef_.round(2)
        array([[4.95, 0.01]])
        >>> model.summary(X).error_share.round(2)
        array([[0.76, 0.24]])
        """
        rows = None if table is None else self._reader.input(asked_rows(self._reader, table)[0])
        return summarised(self.pipeline_, self._reader.target_name, self.classes_, rows)

    def to_onnx(self, path: str | os.PathLike[str]) -> None:
        """Write the model as an ONNX graph, for runtimes without this library and without Python.

        Inputs are the columns that the model reads, by name and with their error columns, one float64 number
        per row each (texts for categories); columns of lists are matrices, and models of arrays take ``mean``
        and ``std``. NaN is a missing value. Outputs are ``label`` and ``probabilities``, or the target and
        ``<target>_std``, its whole standard deviation. They agree with `predict` within 1e-6.

        Linear models, robust SVMs, the minimax machine, discriminants, mixtures, binomial laws, re-measured
        trees, and averages of these can be written, with measurement errors, logarithms, gaps and missing
        error bars; kernel machines for exact rows only. Needs the package onnx.

        Raises
        ------
        UncertainError
            For a part that has no translation, by name, before anything is written.

        Examples
        --------
        >>> model.to_onnx("planets.onnx")                                     # doctest: +SKIP
        >>> session = onnxruntime.InferenceSession("planets.onnx")            # doctest: +SKIP
        >>> columns = {i.name: table[i.name].to_numpy() for i in session.get_inputs()}  # doctest: +SKIP
        >>> label, probabilities = session.run(None, columns)                 # doctest: +SKIP
        """
        reader = self._reader
        spread = self._calibration.spread or own_law(self.pipeline_, self.residual_std_)
        about = {"target": reader.target_name, "library": "uncertain"}
        write_onnx(path, self.pipeline_, spread, reader.target_name, about)

    def labels(self, table: TableLike, y: ColumnOrValues | None = None) -> Labels:
        """The targets of labelled rows, checked: the column of the fit, or `y`."""
        source = Source.from_input(table, notes=False).load([y, self.columns_.target])
        return self._reader.truth(source, y)

    def gaussians(self, table: TableLike) -> GaussianArray:
        """The rows as the model reads them, before scaling.

        Gaps, and limits, are filled as by a `GaussianImputer` that knows the distribution that the model has
        learned.
        """
        return self._reader.gaussians(self._reader.source(table))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a safetensors file, which holds numbers and JSON and no code."""
        write(path, self.pipeline_, self._metadata)

    def __reduce__(self) -> tuple[Any, ...]:
        try:
            return _from_bytes, (to_bytes(self.pipeline_, self._metadata),)
        except UncertainError:  # a learner that model files do not hold, but pickles do
            return copyreg.__newobj__, (type(self),), self.__dict__  # type: ignore[attr-defined]

    @property
    def _metadata(self) -> Metadata:
        return Metadata(
            columns=self.columns_.to_dict(), calibration=self._calibration, leaderboard=self._leaderboard
        )

    def __repr__(self) -> str:
        return model_text(
            self._reader, self.residual_std_, self._leaderboard, self._n_rows, self._seconds, self._n_left_out
        )

    def _inspected(
        self,
        table: TableLike,
        y: ColumnOrValues | None,
        groups: ColumnOrValues | bool | None,
        *,
        labelled: bool,
        max_rows: int | None,
    ) -> Inspected:
        """For `uncertain.inspection`."""
        return inspected(self._reader, table, y, groups, labelled=labelled, max_rows=max_rows)

    def _drawn(self, table: TableLike, y: ColumnOrValues | None, *, filled: bool = True) -> Pictured:
        """For `uncertain.plot`."""
        return pictured(self._reader, table, y, filled=filled)

    def _law_drawn(self, table: TableLike, y: ColumnOrValues | None) -> PicturedLaw:
        """For `uncertain.plot.LawDisplay`."""
        return pictured_law(self._reader, table, y)


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


def _assembled(pipeline: Pipeline, columns: Columns, metadata: Metadata) -> Model:
    return Model(pipeline, columns, metadata.calibration, leaderboard=metadata.leaderboard)
