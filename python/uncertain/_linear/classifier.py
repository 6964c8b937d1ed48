"""What all linear classifiers for Gaussian rows have in common: predictions from fitted hyperplanes."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from .._base.classifiers import ScoreClassifier
from .._base.convergence import keep_reports, warn_unless_converged
from .._base.core import Core
from .._data.typing import Codes, Floats, Labels
from .._data.validation import RowsLike, check_gaussians, check_labels, check_weights
from .._uncertain import Gaussians
from ..tables._groups import groups_of_fit


class Training(NamedTuple):
    """Rows with their labels, as the extension takes them; it leaves out those of weight 0."""

    data: Gaussians
    codes: Codes
    weights: Floats | None
    groups: Codes | None
    classes: Labels

    def known(self) -> dict[str, Any]:
        """As the extension's `fit` takes them."""
        return {
            "codes": self.codes,
            "n_classes": len(self.classes),
            "weights": self.weights,
            "groups": self.groups,
        }


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


class LinearClassifier(Core, ScoreClassifier, BaseEstimator):
    """A score w'x + b per class (one for two classes), from the hyperplanes in ``_model``.

    The score of a Gaussian row is Gaussian: N(w'x_i + b, w'S_i w). Probabilities are sigmoids averaged over
    it: the more uncertain the row, the nearer to the middle. For more than two classes those of one against
    the rest are scaled to sum 1.
    """

    _advice: ClassVar[str]
    """What to do about a fit that has not converged."""

    def _learn(self, X: RowsLike, y: ArrayLike, weights: ArrayLike | None, groups: ArrayLike | None) -> None:
        parameters = self._parameters()
        rows = training_rows(self, X, y, weights, groups)
        model = self._fitted(parameters, self._to_fit(rows.data, rows.weights), **rows.known())
        self.classes_ = rows.classes
        self._keep(model)
        warn_unless_converged(self, self._advice)

    def _to_fit(self, data: Gaussians, weights: Floats | None) -> Gaussians:
        """The rows for the linear fit."""
        return data

    def _to_predict(self, X: RowsLike) -> Gaussians:
        check_is_fitted(self, "coef_")
        return check_gaussians(self, X, reset=False)

    def _attributes(self, arrays: dict[str, Floats], header: Any) -> None:
        self.coef_, self.intercept_ = arrays["coef"], arrays["intercept"]
        keep_reports(self, header["fits"])
