"""What all linear classifiers for Gaussian rows have in common: predictions from fitted hyperplanes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from .._base.classifiers import ScoreClassifier
from .._base.convergence import keep_reports, warn_unless_converged
from .._data.typing import Codes, Floats, Labels
from .._data.validation import RowsLike, check_gaussians, check_labels, check_weights
from .._uncertain import Gaussians, GsuModel
from ..tables._groups import groups_of_fit


class Training(NamedTuple):
    """Rows with their labels, as the extension takes them; it leaves out those of weight 0."""

    data: Gaussians
    codes: Codes
    weights: Floats | None
    groups: Codes | None
    classes: Labels


def training_rows(
    estimator: BaseEstimator,
    X: RowsLike,
    y: ArrayLike,
    sample_weight: ArrayLike | None,
    groups: ArrayLike | None,
) -> Training:
    """Check what a classifier is fitted on."""
    data = check_gaussians(estimator, X, reset=True)
    classes, codes = check_labels(y, X, estimator)
    class_weight = getattr(estimator, "class_weight", None)
    weights = check_weights(sample_weight, class_weight, classes=classes, codes=codes)
    folded = bool(estimator.probability)
    whole = groups_of_fit(groups, classes=classes, codes=codes, weights=weights, folded=folded)
    return Training(data, codes, weights, whole, classes)


class LinearClassifier(ScoreClassifier, BaseEstimator):
    """A score w'x + b per class (one for two classes), from the hyperplanes in ``_model``.

    The score of a Gaussian row is Gaussian: N(w'x_i + b, w'S_i w). Probabilities are sigmoids averaged over
    it: the more uncertain the row, the nearer to the middle. For more than two classes those of one against
    the rest are scaled to sum 1.
    """

    _advice: ClassVar[str]
    """What to do about a fit that has not converged."""
    _model: GsuModel

    def _learn(self, X: RowsLike, y: ArrayLike, weights: ArrayLike | None, groups: ArrayLike | None) -> None:
        params = self._params()
        rows = training_rows(self, X, y, weights, groups)
        model = self._solved(params, rows)
        self.classes_ = rows.classes
        self._fitted(model)
        warn_unless_converged(self, self._advice)

    if TYPE_CHECKING:

        def _params(self) -> Any:
            """The parameters as the core takes them, checked."""

        def _solved(self, params: Any, rows: Training) -> GsuModel:
            """The fitted hyperplanes; sets the attributes that only this classifier has."""

    def _to_predict(self, X: RowsLike) -> Gaussians:
        check_is_fitted(self, "coef_")
        return check_gaussians(self, X, reset=False)

    def _fitted(self, model: GsuModel) -> Self:
        """The attributes that every fit leaves behind."""
        self._model = model
        self.coef_, self.intercept_ = model.coef, model.intercept
        keep_reports(self, model.objective, model.gap, model.n_iter, model.status)
        return self
