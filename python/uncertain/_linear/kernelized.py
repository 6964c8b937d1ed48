"""`kernel=` of linear estimators: they fit and predict rows in the kernel's feature space."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, Self

import numpy as np

from .._base.core import Core
from .._base.sums import BeyondSums, Need
from .._data.typing import Floats, Keywords
from .._data.validation import RowsLike, check_gaussians
from .._uncertain import Fitted, Gaussians, Mixtures
from ..preprocessing._kernel_map import KernelMap, check_kernel


class Kernelized(Core):
    """`kernel=` of an estimator that is linear: it fits rows mapped by the KernelMap `kernel_map_`."""

    kernel: Literal["linear", "quadratic", "polynomial", "rbf"]
    gamma: float | Literal["median"]
    degree: int
    coef0: float
    rank_tol: float
    max_rank: int | None
    n_jobs: int | None
    kernel_map_: KernelMap | None

    def _core_parameters(self) -> Keywords:
        check_kernel(self.kernel, self.gamma)
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
        """The rows for the linear fit; the map is learned from those of positive weight."""
        self.kernel_map_ = None
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
        """What a model file holds: the map, and the linear model."""
        return [self._model] if self.kernel_map_ is None else [self.kernel_map_._model, self._model]
