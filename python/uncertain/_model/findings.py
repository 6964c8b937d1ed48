"""`Findings`: what a model has learned, and whether error bars helped: coefficients, summary, report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sklearn.pipeline import Pipeline

from .._columns.columns import PairsOfTarget
from .._data.array import GaussianArray
from .._data.incomplete import GaussianRows, Incomplete
from .._data.typing import ColumnOrValues, Floats, Labels, RandomState
from .._data.validation import TableLike
from .._errors.check import warn_if_off
from .._report.classes import Report, compare
from .._report.folds import check_counts
from .._report.held_out import Distribution
from .._report.huber import HuberReport, report_of_huber
from .._report.pace import Pace, ReportCallback
from .._report.regression import RegressionReport, compare_regressions
from .._rows.sampled import REMEMBERED_ROWS
from .._tables.dask import is_dask
from .._tables.groups import Groups
from .._tables.source import Source
from ..exceptions import UncertainError
from ..huber import AdaptiveHuberClassifier, AdaptiveHuberRegressor
from .code import codes_of
from .coefficients import feature_names, hyperplanes
from .distribution import from_errors
from .drawn import Drawn, draw
from .measured import is_measured
from .scatter import most_likely_scatter
from .summary import Summary, summarised
from .values import Values
from .with_target import covariances, limits


class Findings(Values):
    """The methods of `Model` that say what it has learned."""

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
            numbers: "mae", "rmse", "r2" and, where there is `predict_distribution`, "coverage_68" and
            "coverage_95".
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
        pace = Pace(max_seconds=max_seconds, verbose=verbose, callback=callback)
        common: dict[str, Any] = {
            "folds": folds,
            "repeats": repeats,
            "scorers": scorers,
            "scoring": scoring,
            "pace": pace,
            "random_state": random_state,
        }
        beside = {"y": y, "groups": groups, "sample_weight": sample_weight}
        some = self._sample(table, beside, max_rows)
        if some is None:
            source = self._source(table, y, groups, sample_weight)
            return self._reported(source, table, beside, listed, meanings, common)
        try:
            report = self._reported(some.source, table, some.beside, listed, meanings, common)
        except UncertainError as error:
            if len(some.at) == some.n_rows:
                raise
            about = f"{len(some.at):,} of {some.n_rows:,} rows were drawn, see max_rows="
            raise type(error)(f"{error} ({about})") from error
        return report if len(some.at) == some.n_rows else report.of_sample(some.at, some.n_rows)

    def _sample(self, table: Any, beside: dict[str, Any], most: int | None) -> Drawn | None:
        """Some of the rows of a large table; None for all rows."""
        if most is None:
            return None
        check_counts(max_rows=(most, 1))
        columns, groups = self.columns_, beside["groups"]
        names = {*columns.used(), *columns.beside(), *(v for v in beside.values() if isinstance(v, str))}
        by = columns.groups if groups is None else groups
        opened = self._opened(table._meta if is_dask(table) else table)
        rows = table if is_dask(table) else opened
        return draw(rows, sorted(names), beside, None if isinstance(by, bool) else by, most)

    def _reported(
        self,
        source: Source,
        table: TableLike,
        beside: dict[str, Any],
        listed: int,
        meanings: bool,
        common: dict[str, Any],
    ) -> Report | RegressionReport | HuberReport:
        """The report of the rows of this source, which is (of) the caller's table."""
        y = beside["y"]
        rest, rows = self.pipeline_[self._n_reading :], self._rows(source)
        by_column = y is None and source.table is not None
        common |= {
            "groups": self._groups(source, beside["groups"]),
            "weights": self._weights(source, beside["sample_weight"]),
            "codes": codes_of(self.pipeline_, self.columns_, source, table, by_column=by_column),
        }
        if is_measured(self.pipeline_):
            warn_if_off(rows, feature_names(self.pipeline_), common["groups"], common["weights"])
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
            if y is None:
                common["y_limit"] = limits(source, self.columns_)
            pairs = PairsOfTarget(self.columns_.target_corr, self.columns_.target_cov)
            if pairs.columns and common["y_std"] is not None:
                reading, target = self.pipeline_[0], self._target_name
                common["xy_cov"] = covariances(source, reading, pairs, target, common["y_std"])
            common["features"] = self.feature_names_
            common["distribution"] = (
                Distribution(from_errors, most_likely_scatter) if self.residual_std_ is not None else None
            )
            return compare_regressions(rest, rows, truth, meanings=meanings, **common)
        return compare(rest, rows, truth, listed=listed, meanings=meanings, **common)

    @property
    def leaderboard_(self) -> Any:
        """Of ``method="auto"``: the candidates, a Polars DataFrame, best first; None for a named method.

        Columns: ``method``, ``meaning`` and ``parameters``; ``score``, the mean log loss (of numbers the root
        mean square error) of rows held out, and ``score_se``; ``behind``, by how much it is worse than the
        best candidate on the same rows, and ``behind_se``; ``accuracy`` (of classes); ``seconds`` of all its
        fits; ``gap``, the certified one; ``weight``, its share in the model; ``note``: candidates that were
        left out, with the reason, and models without error bars, which are there for comparison.
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
        >>> model = uncertain.fit(X, 5 * x[:, 0] + 0.01 * x[:, 1], method="gsu", meaning="spread")
        >>> model.coef_.round(2)
        array([[4.95, 0.01]])
        >>> model.summary(X).error_share.round(2)
        array([[0.76, 0.24]])
        """
        rows = None if table is None else self._input(self._source(table))
        return summarised(self.pipeline_, self._target_name, self.classes_, rows)

    def _inspected(
        self,
        table: TableLike,
        y: ColumnOrValues | None,
        groups: ColumnOrValues | bool | None,
        *,
        labelled: bool,
    ) -> tuple[Pipeline, GaussianRows, Labels | None, Groups | None]:
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
        return self.pipeline_[self._n_reading :], rows, truth, self.feature_names_
