"""`RemeasuredClassifier`, `RemeasuredRegressor`: scikit-learn's learners, trained to use error bars."""

from __future__ import annotations

from typing import Self

from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.utils.metaestimators import available_if

from ._base.docs import documented
from ._data.typing import Floats, Labels
from ._data.validation import RowsLike, check_labels, check_numbers
from ._trees.remeasured import Remeasured, has_method
from .preprocessing._readings import TruthOfClasses, TruthOfTargets


@documented
class RemeasuredClassifier(ClassifierMixin, Remeasured):
    """A classifier of any kind, trained on copies of rows as they would have been read with other errors.

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
    {copy_seed}
    {learner_jobs}

    {Attributes: learner_, n_trees_, factors_, error_columns_, classes_, n_features_in_, feature_names_in_}

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

    def fit(
        self,
        X: RowsLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Fit the learner to the rows and their copies.

        {Parameters: readings, labels, sample_weight, groups_of_trees}

        {Returns: self}
        """
        return self._fit_classes(X, y, sample_weight, groups)

    def _fit_classes(
        self,
        X: RowsLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None,
        groups: ArrayLike | None,
        *,
        count: bool = False,
    ) -> Self:
        self.classes_, codes = check_labels(y, X, self)
        return self._fit(X, self.classes_[codes], sample_weight, groups, codes, count=count)

    def _count_trees(
        self,
        X: RowsLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> int:
        """What `n_trees="auto"` finds, without the fit to all rows."""
        return self._fit_classes(X, y, sample_weight, groups, count=True).n_trees_

    @staticmethod
    def _default(**parameters: object) -> BaseEstimator:
        return HistGradientBoostingClassifier(**parameters)

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
class RemeasuredRegressor(RegressorMixin, Remeasured):
    """A regression of any kind, trained on copies of rows as they would have been read with other errors.

    As :class:`~uncertain.RemeasuredClassifier`, which has the formulas; true values for smaller errors are
    drawn from p(z | x, y) of a :class:`~uncertain.GaussianDenoiser` of features and target together.

    {Parameters: estimator, n_copies, factors, per_feature, error_columns, copy_components, n_trees}
    {copy_seed}
    {learner_jobs}

    {Attributes: learner_, n_trees_, factors_, error_columns_, n_features_in_, feature_names_in_}

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

    def fit(
        self,
        X: RowsLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Fit the learner to the rows and their copies.

        {Parameters: readings, targets, sample_weight, groups_of_trees}

        {Returns: self}
        """
        return self._fit(X, check_numbers(y, X, self), sample_weight, groups)

    def _count_trees(
        self,
        X: RowsLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> int:
        """What `n_trees="auto"` finds, without the fit to all rows."""
        return self._fit(X, check_numbers(y, X, self), sample_weight, groups, count=True).n_trees_

    @staticmethod
    def _default(**parameters: object) -> BaseEstimator:
        return HistGradientBoostingRegressor(**parameters)
