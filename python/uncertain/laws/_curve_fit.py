"""How a `CurveRegressor` asks the core, and what it keeps of the answer."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_array, check_consistent_length

from .._base.core import encoded
from .._base.em import unpacked
from .._base.law import OF_FACTORS
from .._base.progress import reporter
from .._data.typing import Floats, Keywords, RandomState
from .._data.validation import RowsLike, check_numbers, refuse_not_finite, seed_from
from .._uncertain import Gaussians, fit_curve
from ._arguments import Start
from ._calls import Curve, curve_calls, jac_calls

_PER_FIT = (
    "weights_",
    "means_",
    "covariances_",
    "residual_variance_",
    "outlier_law_",
    "outlier_probability_",
    *OF_FACTORS,
    "modes_",
    "modes_std_",
)
"""Attributes that some fits have."""


class CurveFit:
    """Parameters, and one fit with them."""

    curve: Curve
    jac: Curve | None
    truth: Literal["structural", "functional"]
    outliers: str | None
    n_jobs: int | None
    random_state: RandomState
    params_: Floats
    param_names_: list[str]
    std_: Floats
    covariance_: Floats
    scatter_: float | Floats
    scatter_std_: float | Floats
    loglikelihood_: float
    residual_variance_: float
    status_: str
    modes_: Floats
    modes_std_: Floats
    _problem: tuple[Start, Gaussians, Floats, Keywords] | None = None
    """What it was fitted to."""

    def _targets(self, X: RowsLike, y: ArrayLike) -> Floats:
        """(n, m) finite numbers."""
        if y is not None and not (isinstance(y, np.ndarray) and y.ndim == 1):
            refuse_not_finite(y)
            targets: Floats = check_array(
                y, dtype=np.float64, input_name="y", estimator=self, order="C", ensure_2d=False
            )
            if targets.ndim == 2 and targets.shape[1] > 1:
                check_consistent_length(X, targets)
                return targets
        return check_numbers(y, X, self)[:, None]

    def _parameters(self, **changed: object) -> Keywords:
        names = (
            "truth",
            "scatter",
            "outliers",
            "degrees_of_freedom",
            "error_scale",
            "n_components",
            "reg_covar",
            "max_iter",
        )
        return (
            {name: getattr(self, name) for name in names} | {"seed": seed_from(self.random_state)} | changed
        )

    def _found(
        self, start: Start, parameters: Keywords, rows: Gaussians, targets: Floats, known: Keywords
    ) -> Keywords:
        """What the core finds."""
        m = targets.shape[1]
        return fit_curve(
            encoded(parameters),
            curve_calls(self.curve, m),
            jac_calls(self.jac, m),
            start.values,
            start.lower,
            start.upper,
            start.fixed,
            start.names,
            rows,
            targets,
            **known,
            n_jobs=self.n_jobs,
            report=reporter(self),
        )

    def _keep(self, start: Start, found: Keywords) -> None:
        for name in _PER_FIT:
            self.__dict__.pop(name, None)  # of an earlier fit
        if len(found["modes"]):
            self.modes_, self.modes_std_ = found["modes"], np.sqrt(np.diag(found["modes_covariance"]))
        if self.outliers is not None:
            names = ("share", "width") if self.outliers == "mixture" else ("degrees_of_freedom",)
            self.outlier_law_ = dict(zip(names, found["noise"], strict=True))
            self.outlier_probability_ = found["outlier_probability"]
        if found["error_scale"] is not None:
            self.error_scale_, self.error_scale_std_ = found["error_scale"]
        if found["feature_error_scale"]:
            factors = np.array(found["feature_error_scale"])
            self.feature_error_scale_, self.feature_error_scale_std_ = factors.T.copy()
        self._n_outputs = len(found["scatter"])
        is_flat = self._is_flat = self._n_outputs == 1
        self.param_names_ = start.names
        self.params_, self.covariance_ = found["params"], found["covariance"]
        self.std_ = np.sqrt(np.diag(self.covariance_))
        scatter, scatter_std = found["scatter"], found["scatter_std"]
        self.scatter_ = float(scatter[0]) if is_flat else scatter
        self.scatter_std_ = float(scatter_std[0]) if is_flat else scatter_std
        self.loglikelihood_ = found["loglikelihood"]
        self.integration_error_ = found["integration_error"]
        self.n_iter_, self.status_ = found["n_iter"], found["status"]
        self._degrees: float | None = found["degrees"]
        if found["residual_variance"] is not None:
            self.residual_variance_ = found["residual_variance"]
        self._triangles: Floats | None = found.get("covariances")
        if self._triangles is not None:
            self.weights_, self.means_ = found["weights"], found["means"]
            self.covariances_ = unpacked(self._triangles, self.means_.shape[1])
