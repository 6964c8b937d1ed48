"""Types of the Rust extension; `make typing` checks them against it."""

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Any, TypedDict, final

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "FeatureSvc",
    "FeatureSvcParams",
    "Gaussians",
    "GsuModel",
    "GsuParams",
    "HuberModel",
    "HuberParams",
    "HuberView",
    "KernelSvc",
    "KernelSvcParams",
    "KernelSvr",
    "KernelSvrParams",
    "MinimaxParams",
    "RobustParams",
    "Rows",
    "apply_features",
    "denoise",
    "discriminant_distribution",
    "discriminant_log_proba",
    "draw_features",
    "effective_n_jobs",
    "expected_hinge",
    "fit_denoiser",
    "fit_discriminant",
    "fit_gsu_regression",
    "fit_imputer",
    "fit_kernel_map",
    "fit_scaler",
    "group_folds",
    "impute",
    "linear_scores",
    "map_kernel",
    "median_pair_distance",
    "mixture_log_likelihood",
    "model_from_bytes",
    "model_to_bytes",
    "probabilistic_rbf",
    "project_subspace",
    "read_model",
    "scale",
    "write_model",
]

_Floats = NDArray[np.float64]
_Label = bool | int | float | str
# Marks of missing features (n, d); None when all are there.
_Missing = NDArray[np.bool_] | None
# Steps, classes, feature names, and JSON about columns.
_Parts = tuple[list[tuple[Any, ...]], list[_Label], list[str], str]

# Objectives, certified gaps, iterations and status, one each per solve.
_Reports = tuple[_Floats, _Floats, NDArray[np.int64], list[str]]

@final
class Rows:
    """A row-major n x width matrix in NumPy or Arrow memory, on its way into `Gaussians`."""

    @staticmethod
    def from_numpy(array: _Floats, n_rows: int, width: int) -> Rows: ...
    @staticmethod
    def from_arrow(columns: Sequence[Any], names: Sequence[str], missing: str) -> Rows: ...
    @property
    def n_rows(self) -> int: ...
    @property
    def width(self) -> int: ...
    def to_numpy(self) -> _Floats: ...

@final
class Gaussians:
    """n Gaussians in d dimensions, immutable; `uncertain.GaussianArray` wraps it as `_core`."""

    def __new__(
        cls,
        means: Rows,
        *,
        shared: bool = False,
        names: Mapping[str, Sequence[str]] | None = None,
        **spread: Rows,
    ) -> Gaussians: ...
    @property
    def kind(self) -> str: ...
    @property
    def n_rows(self) -> int: ...
    @property
    def n_features(self) -> int: ...
    @property
    def warnings(self) -> list[str]: ...
    @property
    def means(self) -> _Floats: ...
    def slice(self, start: int, stop: int) -> Gaussians: ...
    def take(self, rows: NDArray[np.int64]) -> Gaussians: ...
    @staticmethod
    def concat(arrays: Sequence[Gaussians]) -> Gaussians: ...
    def collapse(self, to: str) -> Gaussians: ...
    def sample(self, n: int, seed: int) -> Gaussians: ...
    def covariances(self) -> _Floats: ...
    def trace(self) -> _Floats: ...
    def parts(self) -> dict[str, _Floats]: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

_Report = Callable[[str, int, float, float], None]

@final
class GsuParams:
    """Checked parameters of an SVM-GSU fit."""

    def __new__(
        cls,
        *,
        alpha: float,
        solver: str,
        tol: float,
        max_iter: int | None,
        batch_size: int,
        averaging: bool,
        projection: bool,
        fit_intercept: bool,
        probability: bool,
        seed: int,
        n_jobs: int | None,
    ) -> GsuParams: ...
    def fit(
        self,
        data: Gaussians,
        codes: NDArray[np.uint32],
        n_classes: int,
        weights: _Floats | None = None,
        groups: NDArray[np.uint32] | None = None,
        report: _Report | None = None,
    ) -> GsuModel: ...
    def partial_fit(
        self,
        model: GsuModel | None,
        data: Gaussians,
        codes: NDArray[np.uint32],
        n_classes: int,
        weights: _Floats | None = None,
        report: _Report | None = None,
    ) -> GsuModel: ...

def group_folds(
    codes: NDArray[np.uint32], n_classes: int, groups: NDArray[np.uint32], folds: int, seed: int
) -> NDArray[np.uint32]: ...

@final
class RobustParams:
    """Checked parameters of a fit of the uncertainty-SVC family."""

    def __new__(
        cls,
        *,
        c: float,
        method: str,
        radius: float,
        confidence: float | None,
        bound: str,
        polish: bool,
        solver: str,
        tol: float,
        max_iter: int | None,
        fit_intercept: bool,
        probability: bool,
        seed: int,
        n_jobs: int | None,
    ) -> RobustParams: ...
    @property
    def radius(self) -> float: ...
    def fit(
        self,
        data: Gaussians,
        codes: NDArray[np.uint32],
        n_classes: int,
        weights: _Floats | None = None,
        groups: NDArray[np.uint32] | None = None,
        report: _Report | None = None,
    ) -> tuple[GsuModel, list[_Floats], list[_Floats]]: ...

@final
class MinimaxParams:
    """Checked parameters of a minimax probability machine."""

    def __new__(
        cls,
        *,
        ridge: float,
        tol: float,
        max_iter: int,
        probability: bool,
        seed: int,
        n_jobs: int | None,
    ) -> MinimaxParams: ...
    def fit(
        self,
        data: Gaussians,
        codes: NDArray[np.uint32],
        n_classes: int,
        weights: _Floats | None = None,
        groups: NDArray[np.uint32] | None = None,
        report: _Report | None = None,
    ) -> tuple[GsuModel, _Floats]: ...

@final
class GsuModel:
    """A fitted SVM-GSU: one hyperplane for two classes, else one per class."""

    def __new__(cls, bytes: bytes) -> GsuModel: ...
    def __reduce__(self) -> tuple[type[GsuModel], tuple[bytes]]: ...
    @property
    def n_features(self) -> int: ...
    @property
    def coef(self) -> _Floats: ...
    @property
    def intercept(self) -> _Floats: ...
    @property
    def objective(self) -> _Floats: ...
    @property
    def gap(self) -> _Floats: ...
    @property
    def n_iter(self) -> NDArray[np.int64]: ...
    @property
    def status(self) -> list[str]: ...
    def decision(self, data: Gaussians, n_jobs: int | None = None) -> _Floats: ...
    def decision_distribution(
        self, data: Gaussians, n_jobs: int | None = None
    ) -> tuple[_Floats, _Floats]: ...
    def predict(self, data: Gaussians, n_jobs: int | None = None) -> NDArray[np.uint32]: ...
    def predict_proba(self, data: Gaussians, n_jobs: int | None = None) -> _Floats: ...

def expected_hinge(d: _Floats, s: _Floats) -> _Floats: ...
def probabilistic_rbf(
    x: Gaussians,
    z: Gaussians | None,
    *,
    sigma: float | None,
    coupling: str,
    seed: int,
    max_bytes: int | None,
    n_jobs: int | None,
) -> _Floats: ...
def median_pair_distance(x: Gaussians, seed: int) -> float: ...
def effective_n_jobs(n_jobs: int | None) -> int: ...
def fit_scaler(
    data: Gaussians, missing: _Missing, weights: _Floats | None, spread: str
) -> tuple[_Floats, _Floats]: ...
def scale(data: Gaussians, mean: _Floats, scale: _Floats, inverse: bool) -> Gaussians: ...
def project_subspace(data: Gaussians, variance: float, project: str) -> Gaussians: ...

# Shares (K,), means (K, d), covariances (K, d, d).
_Mixture = tuple[_Floats, _Floats, _Floats]

# Parameters of EM; n_components None is automatic, up to max_components.
class _Em(TypedDict):
    n_components: int | None
    max_components: int
    tol: float
    max_iter: int
    acceleration: str | None
    reg_covar: float
    seed: int
    n_jobs: int | None

# Log-likelihoods, iterations, how it ended, held-out log-likelihoods.
_EmReport = tuple[_Floats, int, str, _Floats | None]

def fit_denoiser(
    data: Gaussians,
    missing: _Missing,
    weights: _Floats | None,
    em: _Em,
    report: _Report | None,
) -> tuple[_Mixture, _EmReport]: ...
def denoise(
    data: Gaussians, missing: _Missing, mixture: _Mixture, n_jobs: int | None = None
) -> Gaussians: ...
def fit_discriminant(
    data: Gaussians,
    missing: _Missing,
    codes: NDArray[np.uint32],
    n_classes: int,
    weights: _Floats | None,
    priors: _Floats | None,
    shared: bool,
    em: _Em,
    report: _Report | None,
) -> tuple[_Mixture, _EmReport]: ...
def discriminant_distribution(
    data: Gaussians, missing: _Missing, mixture: _Mixture, n_classes: int, n_jobs: int | None = None
) -> tuple[_Floats, _Floats]: ...
def discriminant_log_proba(
    data: Gaussians, missing: _Missing, mixture: _Mixture, n_classes: int, n_jobs: int | None = None
) -> _Floats: ...
def fit_imputer(
    data: Gaussians,
    missing: NDArray[np.bool_],
    weights: _Floats | None,
    codes: NDArray[np.uint32] | None,
    n_classes: int,
    em: _Em,
    report: _Report | None,
) -> tuple[_Mixture, _EmReport]: ...
def impute(
    data: Gaussians, missing: NDArray[np.bool_], mixture: _Mixture, n_jobs: int | None = None
) -> Gaussians: ...
def mixture_log_likelihood(
    data: Gaussians, missing: _Missing, mixture: _Mixture, n_jobs: int | None = None
) -> _Floats: ...
def fit_kernel_map(
    data: Gaussians,
    *,
    kernel: str,
    gamma: float | None,
    degree: int,
    coef0: float,
    tol: float,
    max_rank: int | None,
    seed: int,
    n_jobs: int | None,
) -> tuple[_Floats, _Floats, _Floats, float | None, float]: ...
def fit_gsu_regression(
    data: Gaussians,
    targets: _Floats,
    variances: _Floats | None,
    weights: _Floats | None,
    parameters: tuple[Any, ...],
    *,
    n_jobs: int | None,
    report: _Report | None,
) -> tuple[_Floats, float, tuple[float, float, int, str]]: ...
def linear_scores(
    data: Gaussians, coef: _Floats, intercept: float, n_jobs: int | None = None
) -> tuple[_Floats, _Floats]: ...
def map_kernel(data: Gaussians, map: tuple[Any, ...], n_jobs: int | None = None) -> Gaussians: ...
def model_to_bytes(
    steps: Sequence[tuple[Any, ...]], classes: Sequence[_Label], features: Sequence[str], columns: str
) -> bytes: ...
def write_model(
    path: str | PathLike[str],
    steps: Sequence[tuple[Any, ...]],
    classes: Sequence[_Label],
    features: Sequence[str],
    columns: str,
) -> None: ...
def model_from_bytes(bytes: bytes) -> _Parts: ...
def read_model(path: str | PathLike[str]) -> _Parts: ...

@final
class KernelSvcParams:
    """Checked parameters of a kernel classifier."""

    def __new__(
        cls,
        *,
        c: float,
        sigma: float | None,
        coupling: str,
        tol: float,
        max_iter: int,
        shrinking: bool,
        cache_size: float,
        probability: bool,
        seed: int,
        n_jobs: int | None,
    ) -> KernelSvcParams: ...
    def fit(
        self,
        x: Gaussians | _Floats,
        codes: NDArray[np.uint32],
        n_classes: int,
        weights: _Floats | None = None,
        groups: NDArray[np.uint32] | None = None,
        report: _Report | None = None,
    ) -> KernelSvc: ...

@final
class KernelSvc:
    """A fitted kernel classifier, of Gaussians or of kernel values."""

    def __new__(cls, bytes: bytes) -> KernelSvc: ...
    @staticmethod
    def from_values(
        support: Sequence[int],
        n_support: Sequence[int],
        dual_coef: _Floats,
        intercept: Sequence[float],
        sigmoids: _Floats | None,
        fits: Sequence[tuple[float, float, int, str]],
    ) -> KernelSvc: ...
    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]: ...
    @property
    def n_features(self) -> int | None: ...
    @property
    def support(self) -> NDArray[np.int64]: ...
    @property
    def basis(self) -> tuple[Gaussians, float] | None: ...
    @property
    def n_support(self) -> NDArray[np.int64]: ...
    @property
    def dual_coef(self) -> _Floats: ...
    @property
    def intercept(self) -> _Floats: ...
    @property
    def reports(self) -> _Reports: ...
    @property
    def has_probabilities(self) -> bool: ...
    def decision(self, x: Gaussians | _Floats, n_jobs: int | None = None) -> _Floats: ...
    def predict_proba(self, x: Gaussians | _Floats, n_jobs: int | None = None) -> _Floats: ...
    def decision_distribution(self, x: Gaussians, n_jobs: int | None = None) -> tuple[_Floats, _Floats]: ...

@final
class KernelSvrParams:
    """Checked parameters of a kernel regressor."""

    def __new__(
        cls,
        *,
        c: float,
        epsilon: float,
        sigma: float | None,
        coupling: str,
        tol: float,
        max_iter: int,
        shrinking: bool,
        cache_size: float,
        n_jobs: int | None,
    ) -> KernelSvrParams: ...
    def fit(
        self,
        x: Gaussians | _Floats,
        targets: _Floats,
        weights: _Floats | None = None,
        report: _Report | None = None,
    ) -> KernelSvr: ...

@final
class KernelSvr:
    """A fitted kernel regressor, of Gaussians or of kernel values."""

    def __new__(cls, bytes: bytes) -> KernelSvr: ...
    @staticmethod
    def from_values(
        support: Sequence[int],
        dual_coef: Sequence[float],
        intercept: float,
        fit: tuple[float, float, int, str],
    ) -> KernelSvr: ...
    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]: ...
    @property
    def n_features(self) -> int | None: ...
    @property
    def support(self) -> NDArray[np.int64]: ...
    @property
    def basis(self) -> tuple[Gaussians, float] | None: ...
    @property
    def dual_coef(self) -> _Floats: ...
    @property
    def intercept(self) -> float: ...
    @property
    def reports(self) -> _Reports: ...
    def predict(self, x: Gaussians | _Floats, n_jobs: int | None = None) -> _Floats: ...

# Frequencies and noise, or landmarks, bandwidth, coupling and basis.
_Map = tuple[_Floats, _Floats | None] | tuple[Gaussians, float, str, _Floats]

def draw_features(
    data: Gaussians,
    *,
    approximation: str,
    n_components: int,
    sigma: float,
    coupling: str,
    seed: int,
    n_jobs: int | None,
) -> _Map: ...
def apply_features(map: _Map | tuple[Any, ...], data: Gaussians, n_jobs: int | None) -> _Floats: ...

@final
class HuberView:
    """One view of a Huber regression: columns, kernel, weight, graph."""

    def __new__(
        cls,
        *,
        columns: list[int] | None,
        kernel: str,
        gamma: float | None,
        degree: int,
        coef0: float,
        coupling: str,
        weight: float,
        graph: str,
        n_neighbors: int,
        graph_gamma: float | None,
        dense: _Floats | None = None,
        sparse: tuple[NDArray[np.int64], NDArray[np.int64], _Floats] | None = None,
    ) -> HuberView: ...

# Intercept, thresholds, removed rows, their residuals, history, objective, steps, ending.
_Refined = tuple[
    float,
    _Floats,
    NDArray[np.int64],
    _Floats,
    list[tuple[float, float, int, int, float, int, int]],
    float,
    int,
    str,
]

@final
class HuberParams:
    """Checked parameters of a Huber regression or classifier."""

    def __new__(
        cls,
        views: Sequence[HuberView],
        *,
        alpha: float,
        manifold_alpha: float,
        between_alpha: float,
        delta: float,
        max_refinements: int,
        threshold: float | None,
        fit_intercept: bool,
        normalized: bool,
        probability: bool,
        seed: int,
        max_bytes: int | None,
        n_jobs: int | None,
    ) -> HuberParams: ...
    def fit(
        self,
        rows: Gaussians,
        targets: _Floats,
        n_classes: int,
        weights: _Floats | None = None,
        groups: NDArray[np.uint32] | None = None,
        report: _Report | None = None,
    ) -> HuberModel: ...

@final
class HuberModel:
    """A fitted Huber regression or classifier, with the rows of its fit."""

    def __new__(cls, bytes: bytes) -> HuberModel: ...
    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]: ...
    @property
    def n_features(self) -> int: ...
    @property
    def n_classes(self) -> int: ...
    @property
    def n_labels(self) -> int: ...
    @property
    def has_probabilities(self) -> bool: ...
    @property
    def rows(self) -> Gaussians | None: ...
    @property
    def gammas(self) -> list[float | None]: ...
    @property
    def coef(self) -> list[_Floats]: ...
    @property
    def outcomes(self) -> list[_Refined]: ...
    def decision(self, x: Gaussians, n_jobs: int | None = None) -> _Floats: ...
    def decision_distribution(self, x: Gaussians, n_jobs: int | None = None) -> tuple[_Floats, _Floats]: ...
    def predict_proba(self, x: Gaussians, n_jobs: int | None = None) -> _Floats: ...

@final
class FeatureSvcParams:
    """Checked parameters of a kernel classifier on features."""

    def __new__(
        cls,
        *,
        c: float,
        approximation: str,
        n_components: int,
        sigma: float | None,
        coupling: str,
        tol: float,
        max_iter: int,
        probability: bool,
        seed: int,
        n_jobs: int | None,
    ) -> FeatureSvcParams: ...
    def fit(
        self,
        x: Gaussians,
        codes: NDArray[np.uint32],
        n_classes: int,
        weights: _Floats | None = None,
        groups: NDArray[np.uint32] | None = None,
        report: _Report | None = None,
    ) -> FeatureSvc: ...

@final
class FeatureSvc:
    """A fitted kernel classifier on features."""

    def __new__(cls, bytes: bytes) -> FeatureSvc: ...
    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]: ...
    @property
    def n_features(self) -> int: ...
    @property
    def map(self) -> _Map: ...
    @property
    def sigma(self) -> float: ...
    @property
    def memory(self) -> int: ...
    @property
    def coef(self) -> _Floats: ...
    @property
    def intercept(self) -> _Floats: ...
    @property
    def reports(self) -> _Reports: ...
    @property
    def has_probabilities(self) -> bool: ...
    def decision(self, x: Gaussians, n_jobs: int | None = None) -> _Floats: ...
    def predict_proba(self, x: Gaussians, n_jobs: int | None = None) -> _Floats: ...
