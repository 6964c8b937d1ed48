"""`RemeasuredClassifier`, `RemeasuredRegressor`: trees for error bars."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.utils.metaestimators import available_if

from .._base.docs import documented
from .._base.folds import split
from .._base.normal_mixtures import NormalMixtures
from .._data.groups import Groups, groups_from
from .._data.options import refuse_if
from .._data.typing import Floats, Labels, RowValues
from .._data.validation import RowsLike, check_labels, check_numbers
from .._trees.number_of_trees import with_known_columns
from .._trees.remeasured import Copies, Remeasured, has_method, of_mean_one
from .._trees.residuals import ResidualForest
from ..exceptions import UncertainError
from ..preprocessing._readings import Random, TruthOfClasses, TruthOfTargets

FOLDS = 3
"""Predictions of the rows of the fit, for a density, are made without a third of them."""


@documented
class RemeasuredClassifier(ClassifierMixin, Remeasured):
    """Any classifier, trained on rows re-measured with other error sizes.

    Row i is a reading x_i = z_i + e_i of a true value z_i with known noise e_i ~ N(0, S_i). The learner gets
    the columns of :class:`~uncertain.ErrorColumns` of the row and of `n_copies` - 1 copies:

    .. code-block:: text

        larger errors, f > 1:   x' = x + sqrt(f^2 - 1) e',   e' ~ N(0, S),     S' = f^2 S
        smaller errors, f < 1:  x' = z' + f e',   z' drawn from p(z | x),      S' = f^2 S

    with p(z | x) of a :class:`~uncertain.GaussianDenoiser`, fitted to each class of 20 rows or more by itself
    (labels are known here). With factors per feature, F = diag(f), larger errors add noise of covariance D S
    D, D = diag(sqrt(f_j^2 - 1)), and the copy's covariance is S + D S D (for diagonal S that is F S F, and
    correlations of the noise follow otherwise); smaller ones read z' with noise F S F. If all rows are exact,
    the result is the learner itself.

    {Parameters: estimator, n_copies, factors, per_feature, error_columns, copy_components, n_trees}
    {n_learners}
    {copy_seed}
    {learner_jobs}

    {Attributes: learner_, n_trees_, factors_, error_columns_, classes_, feature_names_in_}

    Examples
    --------
    >>> import numpy as np
    >>> from uncertain import GaussianArray, RemeasuredClassifier
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(400) % 2
    >>> X = GaussianArray(rng.normal(size=(400, 2)) + 3.0 * y[:, None], std=rng.uniform(0.1, 0.5, (400, 2)))
    >>> model = RemeasuredClassifier(random_state=0).fit(X, y)
    >>> sharp, poor = X[:1], GaussianArray(X.means[:1], std=2.0)
    >>> bool(model.predict_proba(poor)[0, 1] > 0.05 > model.predict_proba(sharp)[0, 1])
    True
    """

    _kinds = ("trees",)
    classes_: Labels
    _truth = TruthOfClasses
    _boosted = HistGradientBoostingClassifier

    def fit(
        self, X: RowsLike, y: ArrayLike, sample_weight: RowValues = None, *, groups: RowValues = None
    ) -> Self:
        """Fit the learner to the rows and their copies.

        {Parameters: readings, labels, sample_weight, groups_of_trees}

        {Returns: self}
        """
        self.classes_, codes = check_labels(y, X, self, sample_weight)
        return self._fit(X, self.classes_[codes], sample_weight, groups, codes)

    @available_if(lambda self: has_method(self, "predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: RowsLike) -> Floats:
        """The learner's probability of each class.

        {Parameters: readings}

        {Returns: class_probabilities}
        """
        return self._asked("predict_proba", X)

    @available_if(lambda self: has_method(self, "decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: RowsLike) -> Floats:
        """The learner's score of each row.

        {Parameters: readings}

        {Returns: scores}
        """
        return self._asked("decision_function", X)


@documented
@dataclass(eq=False, repr=False)
class RemeasuredRegressor(RegressorMixin, Remeasured):
    """Any regression, trained on rows re-measured with other error sizes.

    As :class:`~uncertain.RemeasuredClassifier`, which has the formulas; true values for smaller errors are
    drawn from p(z | x, y) of a :class:`~uncertain.GaussianDenoiser` of features and target together.

    {Parameters: estimator, n_copies, factors, per_feature, error_columns, copy_components, n_trees}
    {n_learners}
    density : bool, default=False
        Also learn the density of the target given the row, with all its peaks (`predict_mixture`): a mixture
        of normal distributions, whose shares are those of the row's leaves in extremely randomized trees that
        tell 32 bins (of few rows fewer) of held-out residuals y - m(row) apart:

        .. code-block:: text

            p(y | row) = sum_k w_k(row) N(y; m(row) + b_k, s_k^2)

        b_k is the mean of the residuals of bin k, and s_k half of its width. In the two outer bins, beyond
        the 0.5 % and 99.5 % quantiles of all residuals, s_k is their standard deviation: tails are normal.
        The trees get the learner's columns and m(row); predictions of the rows of the fit are made in three
        folds (of whole `groups`), with half of the copies. Predictions m(row) are the same with and without.
    {copy_seed}
    {learner_jobs}

    {Attributes: learner_, n_trees_, factors_, error_columns_, feature_names_in_}

    References
    ----------
    N. Meinshausen, Quantile Regression Forests, JMLR 7, 2006. P. Geurts, D. Ernst, L. Wehenkel, Extremely
    randomized trees, Machine Learning 63, 2006, doi 10.1007/s10994-006-6226-1.

    Examples
    --------
    >>> import numpy as np
    >>> from uncertain import GaussianArray, RemeasuredRegressor
    >>> rng = np.random.default_rng(0)
    >>> z = rng.normal(size=(500, 1))
    >>> std = rng.uniform(0.1, 1.0, (500, 1))
    >>> X = GaussianArray(z + std * rng.normal(size=z.shape), std=std)
    >>> model = RemeasuredRegressor(random_state=0).fit(X, 3.0 * z[:, 0])
    >>> sharp, poor = model.predict(GaussianArray([[1.5], [1.5]], std=[[0.1], [2.0]]))
    >>> bool(sharp > poor)
    True
    """

    _kinds = ("trees",)
    _truth = TruthOfTargets
    _boosted = HistGradientBoostingRegressor

    _: KW_ONLY
    density: bool = False

    def fit(
        self, X: RowsLike, y: ArrayLike, sample_weight: RowValues = None, *, groups: RowValues = None
    ) -> Self:
        """Fit the learner to the rows and their copies.

        {Parameters: readings, targets, sample_weight, groups_of_trees}

        {Returns: self}
        """
        return self._fit(X, check_numbers(y, X, self), sample_weight, groups)

    def _check(self) -> None:
        super()._check()
        wrong = not isinstance(self.density, (bool, np.bool_))
        refuse_if(wrong, f"density = {self.density!r:.30}: must be True or False")

    @available_if(lambda self: _has_density(self))  # type: ignore[untyped-decorator]
    def predict_mixture(self, X: RowsLike) -> tuple[Floats, Floats, Floats]:
        """Return the density of each row's target (``density=True``).

        {Parameters: readings}

        Returns
        -------
        weights, means, stds : ndarrays of shape (n, K)
            Shares (of a row 1), means and standard deviations of the components.
        """
        weights, means, stds = self._mixtures(self._columns(X), self._asked("predict", X))
        return weights, means, stds

    def _distribution(self, X: RowsLike) -> tuple[Floats, Floats, Floats]:
        """The prediction, the root mean square deviation from it, and the part that errors make."""
        columns, predicted = self._columns(X), self._asked("predict", X)
        squares = self._mixtures(columns, predicted).mean_square(predicted)
        sharp = self._mixtures(self._with_sharp_errors(columns), predicted).mean_square(predicted)
        return predicted, np.sqrt(squares), np.sqrt(np.maximum(squares - sharp, 0.0))

    def _mixtures(self, columns: Floats, predicted: Floats) -> NormalMixtures:
        assert self._residuals is not None
        return self._residuals.mixtures(columns, predicted)

    def _learn_density(self, learner: BaseEstimator, training: Copies, random: Random) -> None:
        """Forest of residuals of every second copy, by learners of other rows."""
        self._residuals = None
        if not self.density:
            return
        table, y, weights, groups = training
        n, some = len(y), table[::2]
        known = None if groups is None else Groups(groups_from(groups, "groups", n))
        folds = split(n, random, folds=min(FOLDS, n), groups=known)
        few = "density=True: there are too few rows or groups to hold any out"
        refuse_if(not folds, few, UncertainError)
        scaled = of_mean_one(weights) if self.estimator is None else weights
        predicted = _predicted(self.estimator_, some)
        for fold in folds:
            one = self._for_fewer_copies(clone(learner), len(some), len(table))
            left = None if scaled is None else scaled[fold.train]
            columns = with_known_columns(some[:, fold.train])
            one = self._trained(one, columns, y[fold.train], left)
            predicted[:, fold.test] = _predicted(one, some[:, fold.test])
        self._residuals = ResidualForest.fit(
            some, predicted, y - predicted, of_mean_one(weights), random, self.n_jobs
        )


def _predicted(learner: BaseEstimator, table: Floats) -> Floats:
    """(copies, n) of columns (copies, n, columns)."""
    answers: Floats = learner.predict(table.reshape(-1, table.shape[2]))
    return np.asarray(answers, dtype=np.float64).reshape(table.shape[:2])


def _has_density(model: RemeasuredRegressor) -> bool:
    """True if a density is learned; else AttributeError with the reason."""
    none = getattr(model, "_residuals", None) is None and not model.density
    refuse_if(none, "RemeasuredRegressor has no density; fit it with density=True", AttributeError)
    return True
