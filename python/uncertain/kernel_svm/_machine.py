"""What kernel classifiers and regressors share: what X is for each kernel, and what a fit leaves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from .._base.convergence import keep_reports
from .._data.array import GaussianArray
from .._data.options import number_or_median
from .._data.typing import Floats
from .._data.validation import RowsLike, check_gaussians
from .._uncertain import FeatureSvc, Gaussians, KernelSvc, KernelSvr
from ..exceptions import ParameterError, UncertainError

ADVICE = "raise max_iter, lower C, or accept a larger tol"
"""What to do about a fit that has not converged."""

Kernel: TypeAlias = Callable[[GaussianArray, GaussianArray], ArrayLike]


class KernelMachine(BaseEstimator):
    """Base of the kernel machines.

    The core fits Gaussians with the probabilistic kernel by itself, and decides there whether the kernel
    matrix is kept; precomputed and user-defined kernels come to it as matrices of values.
    """

    C: float
    kernel: str | Kernel
    sigma: float | Literal["median"]
    coupling: Literal["shared", "independent"]
    tol: float
    max_iter: int
    shrinking: bool
    cache_size: float
    n_jobs: int | None

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags

    def _common(self) -> dict[str, Any]:
        """The parameters that all machines have, for the core."""
        return {
            "c": self.C,
            "sigma": number_or_median("sigma", self.sigma),
            "coupling": self.coupling,
            "tol": self.tol,
            "max_iter": self.max_iter,
            "shrinking": self.shrinking,
            "cache_size": self.cache_size,
            "n_jobs": self.n_jobs,
        }

    def _to_fit(self, X: RowsLike) -> tuple[Gaussians | Floats, GaussianArray | None]:
        """X for the core (Gaussians, or their kernel matrix), and the rows where it does not see them."""
        if self.kernel == "precomputed":
            gram: Floats = validate_data(self, X, reset=True, dtype=np.float64, order="C")
            if gram.shape[0] != gram.shape[1]:
                raise ValueError(
                    f"Precomputed matrix must be a square matrix. Input is a {gram.shape} matrix."
                )
            return gram, None
        data = check_gaussians(self, X, reset=True)
        if not callable(self.kernel):
            if self.kernel != "probabilistic":
                raise ParameterError(
                    f"kernel = {self.kernel!r}: must be 'probabilistic', 'precomputed' or a "
                    "function of two GaussianArrays"
                )
            return data, None
        rows = GaussianArray._from_core(data)
        return self._values(rows, rows), rows

    def _values(self, rows: GaussianArray, others: GaussianArray) -> Floats:
        """The caller's own kernel."""
        assert callable(self.kernel)
        values = np.ascontiguousarray(self.kernel(rows, others), dtype=np.float64)
        if values.shape != (len(rows), len(others)):
            raise UncertainError(
                f"kernel(X, Z): expected shape {(len(rows), len(others))}, got {values.shape}"
            )
        return values

    def _to_predict(self, X: RowsLike) -> Any:
        """X for the fitted core: Gaussians, or kernel values between new rows and support rows."""
        check_is_fitted(self, "objective_")
        if self.kernel == "precomputed":
            values: Floats = validate_data(self, X, reset=False, dtype=np.float64)
            return np.ascontiguousarray(values[:, self.support_])
        data = check_gaussians(self, X, reset=False)
        if not callable(self.kernel):
            return data
        rows = GaussianArray._from_core(data)
        if len(self.support_) == 0:
            return np.zeros((len(rows), 0))
        assert self.support_rows_ is not None
        return self._values(rows, self.support_rows_)

    def _fitted(self, model: KernelSvc | KernelSvr, rows: GaussianArray | None = None) -> Self:
        """The attributes of a fitted machine; `rows` are those of a user-defined kernel."""
        self._reported(model)
        self.support_ = model.support
        self.support_rows_ = None if rows is None else rows[self.support_]
        if model.basis is not None:
            core, self.sigma_ = model.basis
            self.support_rows_ = GaussianArray._from_core(core)
        return self

    def _reported(self, model: KernelSvc | KernelSvr | FeatureSvc) -> None:
        """How the solves ended."""
        self._model: Any = model
        keep_reports(self, *model.reports)
