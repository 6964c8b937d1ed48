"""`Sets`: sets of labels and intervals of numbers that hold the truth as often as is asked."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from .._data.typing import Floats, Labels
from .._data.validation import TableLike
from ..exceptions import ParameterError
from .calibrating import log, noise_levels, shares_of
from .conformal import Conformal
from .predictions import Predictions


class Sets(Predictions):
    """The methods of `Model` that promise a coverage."""

    def predict_set(self, table: TableLike, *, coverage: float = 0.9, append: bool = False) -> Any:
        """For every row the classes that it may have: a share `coverage` of the sets hold the true one.

        A column of lists of labels (a Series, a ChunkedArray, ... as by `predict`; for arrays an array of
        lists), the most probable label first. A list is never empty, so coverage is larger where the model is
        right more often than was asked; a list of all classes says that the row tells nothing.

        With q_b the ceil((m + 1) coverage)-th smallest of the scores 1 - P(true class) of m held-out rows in
        bin b of noise levels,

        .. code-block:: text

            set of a row = {k : 1 - P(k) <= q_b} and the most probable class

        where b is the bin of the row's noise level, the root mean square of its errors in units of the spread
        of the features. The held-out rows are those of the folds that ``method="auto"`` chose on; other
        methods hold out a third of the rows (up to 1,000 rows each third in turn). Whole groups stay
        together, and so do equal rows; rows count by their weights. If error bars are measurement errors each
        is there twice, as it was read and as it would have been read with errors up to 4 times as large.
        So coverage holds for precise rows, for poor ones, and for larger errors than those of the fit. It is
        an average over rows of a noise level, not a promise for each class.

        Parameters
        ----------
        table : rows, as for `predict`.
        coverage : share of the sets that shall hold the true class, between 0 and 1.
        append : True gives the caller's table with the sets in a new column ``<target>_predicted_set``.

        Raises
        ------
        UncertainError
            A ``ValueError``: for a regression, which has `predict_interval`; if the model holds no scores
            (its file was written in Rust or by an older version, or there were too few rows).

        References
        ----------
        V. Vovk, A. Gammerman, G. Shafer, Algorithmic Learning in a Random World, 2005, sections 2.2 and 4.5.
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
        if self.is_regression_:
            raise ParameterError("predict_set is for classes; a regression has predict_interval")
        conformal = self._scores(coverage)
        new = self._appended_name("_set")
        source = self._source(table, adds=[new] if append else None, blocks=True)
        widths = self._remembered.widths
        assert widths is not None

        def sets_of(pipeline: Pipeline, rows: Any) -> tuple[Labels]:
            shares = shares_of(pipeline, rows, self.classes_)
            limits = conformal.limits(noise_levels(rows, widths), coverage)
            return (_listed(shares, 1.0 - shares <= limits[:, None], self.classes_),)

        (sets,) = self._answers(source, sets_of)
        return source.append({new: sets}) if append else source.answer_one(self._target_name, sets)

    def predict_interval(self, table: TableLike, *, coverage: float = 0.9, append: bool = False) -> Any:
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

        Raises
        ------
        UncertainError
            A ``ValueError``: for classes, which have `predict_set`; if the model holds no scores (its file
            was written in Rust or by an older version, or there were too few rows).

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
        if not self.is_regression_:
            raise ParameterError("predict_interval is for numbers; a classifier has predict_set")
        conformal = self._scores(coverage)
        endings = ("_lower", "_upper")
        adds = [self._appended_name(ending) for ending in endings] if append else None
        source = self._source(table, adds=adds, blocks=True)
        mean, std, _ = self._answers(source, self._distribution)
        half = conformal.limits(log(std), coverage) * std
        return self._columns_of(source, dict(zip(endings, (mean - half, mean + half), strict=True)), append)

    def _scores(self, coverage: float) -> Conformal:
        if not isinstance(coverage, (int, float)) or not 0.0 < coverage < 1.0:
            raise ParameterError(f"coverage = {coverage!r}: must be a share between 0 and 1, such as 0.9")
        if self._remembered.conformal is None:
            raise ParameterError(
                "the model holds no scores of held-out rows (its file was written in Rust or by an older "
                "version, or there were too few rows or groups to hold any out): fit it again, to more rows"
            )
        return self._remembered.conformal


def _listed(shares: Floats, inside: Any, classes: Labels) -> Labels:
    """Lists of labels, the largest share first; the first always."""
    order = np.argsort(-shares, axis=1, kind="stable")
    kept = np.take_along_axis(inside, order, axis=1)
    kept[:, 0] = True
    labels = np.asarray(classes, dtype=object)[order]
    lists = np.empty(len(shares), dtype=object)
    lists[:] = [row[some].tolist() for row, some in zip(labels, kept, strict=True)]
    return lists
