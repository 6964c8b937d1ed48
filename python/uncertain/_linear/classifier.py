"""What all linear classifiers for Gaussian rows have in common: predictions from fitted hyperplanes."""

from __future__ import annotations

from typing import ClassVar

from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from .._base.classifiers import ScoreClassifier, class_arguments
from .._base.convergence import keep_reports, warn_unless_converged
from .._base.core import Core
from .._data.typing import Floats, Header
from .._data.validation import RowsLike, check_gaussians
from .._uncertain import Gaussians


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
        data = check_gaussians(self, X, reset=True)
        classes, arguments = class_arguments(self, X, y, weights, groups)
        model = self._fitted(parameters, self._to_fit(data, arguments["weights"]), **arguments)
        self.classes_ = classes
        self._keep(model)
        warn_unless_converged(self, self._advice)

    def _to_fit(self, data: Gaussians, weights: Floats | None) -> Gaussians:
        """The rows for the linear fit."""
        return data

    def _to_predict(self, X: RowsLike) -> Gaussians:
        return check_gaussians(self, X, reset=False)

    def _attributes(self, arrays: dict[str, Floats], header: Header) -> None:
        self.coef_, self.intercept_ = arrays["coef"], arrays["intercept"]
        keep_reports(self, header["fits"])
