"""Linear classifiers for Gaussian rows, and `kernel=` of linear models."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from .._base.classifiers import ScoreClassifier, class_arguments
from .._base.core import Core, RunParameters, keep_reports, warn_unless_converged
from .._base.sums import BeyondSums, Need
from .._data.options import check_option, number_or_median
from .._data.typing import Floats, Header, Keywords, RowValues
from .._data.validation import RowsLike, check_gaussians
from .._data.warn import warn
from .._uncertain import Fitted, Gaussians, Mixtures
from ..exceptions import UncertainWarning
from ..preprocessing._kernel_map import KERNELS, Kernel, KernelMap


class LinearClassifier(Core, ScoreClassifier, BaseEstimator):
    """Scores w'x + b per class (one for two), of hyperplanes in ``_model``.

    The score of a Gaussian row is Gaussian: N(w'x_i + b, w'S_i w). Probabilities are sigmoids averaged over
    it: the more uncertain the row, the nearer to the middle. For more than two classes those of one against
    the rest are scaled to sum 1.
    """

    _advice: ClassVar[str]
    """Advice for a fit that has not converged."""

    def _learn(self, X: RowsLike, y: ArrayLike, weights: RowValues, groups: RowValues) -> None:
        parameters = self._parameters()
        data = check_gaussians(self, X, reset=True)
        classes, arguments = class_arguments(self, X, y, weights, groups)
        model = self._fitted(parameters, self._to_fit(data, arguments["weights"]), **arguments)
        self.classes_ = classes
        self._keep(model)
        warn_unless_converged(self, self._advice)
        if not self.coef_.any() and "max_iter" not in np.atleast_1d(self.status_):
            self._warn_of_majority()

    def _warn_of_majority(self) -> None:
        """Say that no plane tells the classes apart, so that w = 0."""
        classes, several = self.classes_.tolist(), len(self.classes_) > 2
        heaviest = classes[self.intercept_.argmax() if several else int(self.intercept_[0] > 0.0)]
        advice = 'Pass class_weight="balanced"'
        if several:
            advice = "GaussianDiscriminant compares all classes at once"
        elif getattr(self, "class_weight", None) == "balanced":
            advice = "Raise C or lower alpha"
        told = getattr(self, "probability", False)
        shares = ", probabilities are the shares of the classes" if told else ""
        warn(
            f"{type(self).__name__} assigns every row to {heaviest!r}, as no plane is better (coef_ is "
            f"0{shares}). {advice}",
            UncertainWarning,
        )

    def _to_fit(self, data: Gaussians, weights: Floats | None) -> Gaussians:
        """The rows for the linear fit."""
        return data

    def _to_predict(self, X: RowsLike) -> Gaussians:
        return check_gaussians(self, X, reset=False)

    def _attributes(self, arrays: dict[str, Floats], header: Header) -> None:
        self.coef_, self.intercept_ = arrays["coef"], arrays["intercept"]
        keep_reports(self, header["fits"])


@dataclass(eq=False, repr=False, kw_only=True)
class Kernelized(RunParameters, Core):
    """`kernel=` of a linear estimator: rows mapped by `kernel_map_`."""

    kernel: Kernel = "linear"
    gamma: float | Literal["median"] = "median"
    degree: int = 3
    coef0: float = 1.0
    max_rank: int | None = 300
    rank_tol: float = 1e-6

    def _core_parameters(self) -> Keywords:
        check_option("kernel", self.kernel, KERNELS)
        number_or_median("gamma", self.gamma)
        return super()._core_parameters()

    def _beyond_sums(self) -> Iterator[BeyondSums]:
        if self.kernel != "linear":
            yield BeyondSums(
                Need.MEMORY,
                f"kernel={self.kernel!r} compares rows with one another in one memory",
                'leave it out, or use method="kernel" with n_components= (random features) where memory= is '
                "enough",
            )
        yield from super()._beyond_sums()

    def _to_fit(self, data: Gaussians, weights: Floats | None) -> Gaussians:
        """Rows for the linear fit; the map learns from positive weights."""
        self.kernel_map_: KernelMap | None = None
        if self.kernel != "linear":
            map_ = KernelMap(
                self.kernel,
                gamma=self.gamma,
                degree=self.degree,
                coef0=self.coef0,
                tol=self.rank_tol,
                max_rank=self.max_rank,
            )
            self.kernel_map_ = map_
            # Rows that are mixtures are mapped component by component; those of one component are Gaussians.
            mixtures: Gaussians | Mixtures = data
            if isinstance(mixtures, Mixtures) and len(mixtures.weights) == mixtures.n_rows:
                data = mixtures.components
            if isinstance(data, Gaussians) and (weights is None or bool(np.all(weights))):
                return map_._learned_with_rows(data, self.n_jobs)
            counted = data if weights is None else data.take(np.flatnonzero(weights))
            map_._learned(counted, self.n_jobs)
        return self._mapped(data)

    def _facts(self) -> list[tuple[str, str]]:
        map_ = self.kernel_map_
        if map_ is None:
            return [("kernel", self.kernel)]
        width = "" if map_.gamma_ is None else f", gamma = {map_.gamma_:.4g}"
        return [("kernel", f"{self.kernel}{width}, {map_.rank_} dimensions of its feature space")]

    def _mapped(self, data: Gaussians) -> Gaussians:
        """The rows for the linear model."""
        map_ = self.kernel_map_
        return data if map_ is None else map_._model.transform(data, self.n_jobs)

    def _to_predict(self, X: RowsLike) -> Gaussians:
        return self._mapped(check_gaussians(self, X, reset=False))

    def _keep(self, model: Fitted) -> Self:
        # A model from a file gets its map afterwards.
        self.__dict__.setdefault("kernel_map_", None)
        return super()._keep(model)

    def _steps(self) -> list[Fitted]:
        """Fitted objects for a model file: the map, and the linear model."""
        return [self._model] if self.kernel_map_ is None else [self.kernel_map_._model, self._model]
