"""Shared by kernel classifiers and regressors: X for each kernel, and the fitted attributes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from .._base.convergence import keep_reports, warn_unless_converged
from .._base.core import Core
from .._base.sums import BeyondSums, Need
from .._data.array import GaussianArray
from .._data.typing import Floats, Header, Keywords
from .._data.validation import RowsLike, check_gaussians
from .._uncertain import Fitted, Gaussians, Rows
from ..exceptions import ParameterError, UncertainError

Kernel: TypeAlias = Callable[[GaussianArray, GaussianArray], ArrayLike]


class KernelMachine(Core, BaseEstimator):
    """Base of the kernel machines.

    The core fits Gaussians with the probabilistic kernel by itself, and decides there whether the kernel
    matrix is kept; precomputed and user-defined kernels come to it as matrices of values.
    """

    C: float | Literal["auto"]
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

    def _core_parameters(self) -> Keywords:
        parameters = super()._core_parameters()
        if callable(self.kernel):
            parameters["kernel"] = "precomputed"
        return parameters

    def _beyond_sums(self) -> Iterator[BeyondSums]:
        if getattr(self, "n_components", None) is None:
            yield BeyondSums(
                Need.MEMORY,
                f"{type(self).__name__} compares rows with one another",
                'use method="gsu", which is linear; where memory= is enough, n_components= (random features, '
                'say 500; approximation="nystroem" for landmarks); or fit a sample of the rows',
            )
            yield from super()._beyond_sums()
        else:
            yield BeyondSums(
                Need.IN_PLACE,
                "n_components= makes features of the rows during the fit",
                'use method="gsu", which is linear, or fit a sample of the rows',
            )

    def _to_fit(self, X: RowsLike) -> tuple[Gaussians, GaussianArray | None]:
        """X for the core (Gaussians, or rows of a kernel matrix), and the rows for kernel values."""
        if self.kernel == "precomputed":
            gram: Floats = validate_data(self, X, reset=True, dtype=np.float64, order="C")
            if gram.shape[0] != gram.shape[1]:
                raise ValueError(
                    f"Precomputed matrix must be a square matrix. Input is a {gram.shape} matrix."
                )
            return exact(gram), None
        data = check_gaussians(self, X, reset=True)
        if not callable(self.kernel):
            if self.kernel != "probabilistic":
                raise ParameterError(
                    f"kernel = {self.kernel!r}: must be 'probabilistic', 'precomputed' or a "
                    "function of two GaussianArrays"
                )
            return data, None
        rows = GaussianArray._from_core(data)
        return exact(self._values(rows, rows)), rows

    def _values(self, rows: GaussianArray, others: GaussianArray) -> Floats:
        """The caller's own kernel."""
        assert callable(self.kernel)
        values = np.ascontiguousarray(self.kernel(rows, others), dtype=np.float64)
        if values.shape != (len(rows), len(others)):
            raise UncertainError(
                f"kernel(X, Z): expected shape {(len(rows), len(others))}, got {values.shape}"
            )
        return values

    def _to_predict(self, X: RowsLike) -> Gaussians:
        """X for the fitted core: Gaussians, or rows of kernel values with the support rows."""
        check_is_fitted(self, "objective_")
        if self.kernel == "precomputed":
            values: Floats = validate_data(self, X, reset=False, dtype=np.float64)
            return exact(values[:, self.support_])
        data = check_gaussians(self, X, reset=False)
        if not callable(self.kernel):
            return data
        rows = GaussianArray._from_core(data)
        if len(self.support_) == 0:
            return exact(np.zeros((len(rows), 0)))
        assert self.support_rows_ is not None
        return exact(self._values(rows, self.support_rows_))

    def _attributes(self, arrays: dict[str, Floats], header: Header) -> None:
        keep_reports(self, header["fits"] if "fits" in header else [header["fit"]])
        self.support_ = arrays["support"].astype(np.int64)
        rows = self._model.rows
        self.support_rows_ = None if rows is None else GaussianArray._from_core(rows)
        if header["basis"] is not None:
            self.sigma_ = header["basis"]["sigma"]

    def _steps(self) -> list[Fitted]:
        """What a model file holds."""
        if self.kernel != "probabilistic":
            raise UncertainError(
                "the model cannot be saved: a model file holds no kernels but the probabilistic one; "
                'pickle the estimator, or fit with kernel="probabilistic"'
            )
        return super()._steps()

    def _finished(self, model: Fitted, rows: GaussianArray | None) -> Self:
        """The attributes of a fitted machine, and a warning if a solve has not reached `tol`."""
        self._keep(model)
        if rows is not None:
            self.support_rows_ = rows[self.support_]
        advice = "raise max_iter, lower C, or accept a larger tol"
        warn_unless_converged(self, advice)
        return self


def exact(values: Floats) -> Gaussians:
    """Kernel values as rows for the core."""
    values = np.ascontiguousarray(values)
    return Gaussians(Rows.from_numpy(values, *values.shape))
