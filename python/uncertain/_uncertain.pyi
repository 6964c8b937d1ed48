"""Types of the Rust extension; `make typing` checks them against it."""

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Fitted",
    "Gaussians",
    "Mixtures",
    "Part",
    "Rows",
    "Spilling",
    "average",
    "check_parameters",
    "curve_moments",
    "effective_n_jobs",
    "expected_hinge",
    "fit",
    "fit_curve",
    "fit_line",
    "fit_transform",
    "give_memory_back",
    "keep_at_most",
    "group_folds",
    "instruction_set",
    "median_pair_distance",
    "members_of",
    "merged_sums",
    "mixtures_from_draws",
    "model_from_bytes",
    "model_to_bytes",
    "parameter_names",
    "partial_sums",
    "penalty_path",
    "probabilistic_rbf",
    "read_model",
    "stop_after",
    "write_model",
]

_Floats = NDArray[np.float64]
_Label = bool | int | float | str
# Steps, classes, feature names, and JSON about columns.
_Parts = tuple[list[Fitted], list[_Label], list[str], str]
# A square matrix: dense, or starts, columns and values of sparse rows.
_Matrix = _Floats | tuple[NDArray[np.int64], NDArray[np.int64], _Floats]
# Task, iteration, objective, gap.
_Report = Callable[[str, int, float, float], None]

@final
class Rows:
    """A row-major n x width matrix in NumPy or Arrow memory, on its way into `Gaussians`."""

    @staticmethod
    def from_numpy(array: _Floats | NDArray[np.float32], n_rows: int, width: int) -> Rows: ...
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
    @property
    def dtype(self) -> str: ...
    def stored_as(self, dtype: str) -> Gaussians: ...
    def slice(self, start: int, stop: int) -> Gaussians: ...
    def take(self, rows: NDArray[np.int64]) -> Gaussians: ...
    def columns(self, columns: NDArray[np.int64]) -> Gaussians: ...
    @staticmethod
    def hstack(arrays: Sequence[Gaussians]) -> Gaussians: ...
    @staticmethod
    def concat(arrays: Sequence[Gaussians]) -> Gaussians: ...
    def collapse(self, to: str) -> Gaussians: ...
    def sample(self, n: int, seed: int) -> Gaussians: ...
    def covariances(self) -> _Floats: ...
    def trace(self) -> _Floats: ...
    def parts(self, *, stored: bool = False) -> dict[str, _Floats]: ...
    def fields(self) -> dict[str, _Floats]: ...
    @staticmethod
    def from_fields(kind: str, means: Rows, fields: Mapping[str, Rows]) -> Gaussians: ...
    @property
    def row_bytes(self) -> int: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def arrow_column(self, name: str, metadata: Mapping[str, str]) -> object: ...

@final
class Mixtures:
    """n mixtures of Gaussians, immutable; `uncertain.MixtureArray` wraps it as `_core`."""

    def __new__(cls, components: Gaussians, offsets: NDArray[np.int64], weights: _Floats) -> Mixtures: ...
    @property
    def kind(self) -> str: ...
    @property
    def n_rows(self) -> int: ...
    @property
    def n_features(self) -> int: ...
    @property
    def warnings(self) -> list[str]: ...
    @property
    def components(self) -> Gaussians: ...
    @property
    def offsets(self) -> NDArray[np.int64]: ...
    @property
    def weights(self) -> _Floats: ...
    @property
    def means(self) -> _Floats: ...
    @property
    def dtype(self) -> str: ...
    def stored_as(self, dtype: str) -> Mixtures: ...
    def slice(self, start: int, stop: int) -> Mixtures: ...
    def take(self, rows: NDArray[np.int64]) -> Mixtures: ...
    def columns(self, columns: NDArray[np.int64]) -> Mixtures: ...
    @staticmethod
    def hstack(arrays: Sequence[Gaussians | Mixtures]) -> Mixtures: ...
    @staticmethod
    def concat(arrays: Sequence[Gaussians | Mixtures]) -> Mixtures: ...
    def collapse(self, to: str) -> Gaussians: ...
    def sample(self, n: int, seed: int) -> Gaussians: ...
    def covariances(self) -> _Floats: ...
    def skewness(self) -> _Floats: ...
    def trace(self) -> _Floats: ...
    @property
    def row_bytes(self) -> int: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def arrow_column(self, name: str, metadata: Mapping[str, str]) -> object: ...

# Rows, with marks of missing features (n, d) where there are any.
_Given = (
    Gaussians
    | tuple[Gaussians, NDArray[np.bool_] | None]
    | tuple[Gaussians, NDArray[np.bool_] | None, NDArray[np.int8] | None]
)

@final
class Fitted:
    """A fitted model or transform of the core."""

    def __new__(cls, bytes: bytes) -> Fitted: ...
    def __reduce__(self) -> tuple[type[Fitted], tuple[bytes]]: ...
    @staticmethod
    def from_arrays(kind: str, params: str, header: str, arrays: Mapping[str, _Floats]) -> Fitted: ...
    @property
    def kind(self) -> str: ...
    @property
    def parameters(self) -> str: ...
    @property
    def header(self) -> str: ...
    @property
    def rows(self) -> Gaussians | None: ...
    @property
    def n_features(self) -> int | None: ...
    @property
    def n_classes(self) -> int | None: ...
    def arrays(self) -> dict[str, _Floats]: ...
    def transform(self, rows: _Given, n_jobs: int | None = None) -> Gaussians: ...
    def inverse_transform(self, data: Gaussians) -> Gaussians: ...
    def decision(self, rows: _Given, n_jobs: int | None = None) -> _Floats: ...
    def decision_distribution(self, rows: _Given, n_jobs: int | None = None) -> tuple[_Floats, _Floats]: ...
    def predict_proba(self, rows: _Given, n_jobs: int | None = None) -> _Floats: ...
    def log_proba(self, rows: _Given, n_jobs: int | None = None) -> _Floats: ...
    def densities(self, rows: _Given, n_jobs: int | None = None) -> tuple[_Floats, _Floats, _Floats]: ...
    def quantiles(self, rows: _Given, levels: Sequence[float], n_jobs: int | None = None) -> _Floats: ...
    def log_likelihood(self, rows: _Given, n_jobs: int | None = None) -> _Floats: ...

@final
class Part:
    n_rows: int
    checksum: float
    rows: Gaussians
    missing: NDArray[np.bool_] | None
    def __new__(
        cls,
        rows: Gaussians,
        *,
        missing: NDArray[np.bool_] | None = None,
        codes: NDArray[np.uint32] | None = None,
        targets: _Floats | None = None,
        variances: _Floats | None = None,
        weights: _Floats | None = None,
        folds: NDArray[np.uint32] | None = None,
    ) -> Part: ...
    def known(self) -> tuple[Any, ...]: ...
    def moved(self, rows: Gaussians, missing: NDArray[np.bool_] | None = None) -> Part: ...
    def with_target(self) -> Part: ...

def fit(
    kind: str,
    params: str,
    rows: _Given,
    *,
    codes: NDArray[np.uint32] | None = None,
    n_classes: int = 0,
    targets: _Floats | None = None,
    variances: _Floats | None = None,
    outputs: _Floats | None = None,
    crossed: _Floats | None = None,
    limits: NDArray[np.int8] | None = None,
    offsets: _Floats | None = None,
    modes: _Floats | None = None,
    modes_of_features: _Floats | None = None,
    weights: _Floats | None = None,
    groups: NDArray[np.uint32] | None = None,
    graphs: Sequence[_Matrix | None] | None = None,
    n_jobs: int | None = None,
    report: _Report | None = None,
    online: bool = False,
    before: Fitted | None = None,
    answer: Callable[[_Floats], list[_Floats]] | None = None,
    whole: bool = False,
    profile: float | None = None,
) -> Fitted: ...
def fit_transform(
    kind: str, params: str, rows: _Given, *, n_jobs: int | None = None, report: _Report | None = None
) -> tuple[Fitted, Gaussians]: ...
def partial_sums(part: Part, requests: bytes, n_jobs: int | None = None) -> _Floats: ...
def merged_sums(requests: bytes, parts: Sequence[_Floats]) -> _Floats: ...
def penalty_path(
    kind: str,
    params: str,
    rows: _Given,
    penalties: Sequence[float],
    *,
    codes: NDArray[np.uint32] | None = None,
    n_classes: int = 0,
    targets: _Floats | None = None,
    variances: _Floats | None = None,
    weights: _Floats | None = None,
    groups: NDArray[np.uint32] | None = None,
    n_jobs: int | None = None,
    report: _Report | None = None,
) -> tuple[_Floats, _Floats, _Floats, int]: ...
def parameter_names(kind: str) -> list[str]: ...
def check_parameters(kind: str, params: str) -> None: ...
def group_folds(
    codes: NDArray[np.uint32], n_classes: int, groups: NDArray[np.uint32], folds: int, seed: int
) -> NDArray[np.uint32]: ...
def fit_curve(
    params: str,
    curve: Callable[[_Floats, _Floats], Any],
    jac: Callable[[_Floats, _Floats], Any] | None,
    start: Sequence[float],
    lower: Sequence[float],
    upper: Sequence[float],
    fixed: Sequence[bool],
    names: Sequence[str],
    rows: Gaussians,
    targets: _Floats,
    *,
    covariances: _Floats | None = None,
    crossed: _Floats | None = None,
    weights: _Floats | None = None,
    groups: NDArray[np.uint32] | None = None,
    modes: _Floats | None = None,
    n_jobs: int | None = None,
    report: _Report | None = None,
) -> dict[str, Any]: ...
def fit_line(
    params: str,
    rows: _Given,
    targets: _Floats,
    *,
    variances: _Floats | None = None,
    crossed: _Floats | None = None,
    limits: NDArray[np.int8] | None = None,
    modes: _Floats | None = None,
    modes_of_features: _Floats | None = None,
    weights: _Floats | None = None,
    groups: NDArray[np.uint32] | None = None,
    n_jobs: int | None = None,
    report: _Report | None = None,
) -> dict[str, Any]: ...
def curve_moments(
    curve: Callable[[_Floats, _Floats], Any],
    jac: Callable[[_Floats, _Floats], Any] | None,
    params: Sequence[float],
    n_outputs: int,
    rows: Gaussians,
    density: tuple[list[float], _Floats, _Floats] | None = None,
    factors: Sequence[float] = ...,
) -> tuple[_Floats, _Floats]: ...

@final
class Spilling:
    def __new__(cls, folder: PathLike[str]) -> Spilling: ...
    def close(self) -> None: ...
    @staticmethod
    def works() -> bool: ...

def give_memory_back() -> None: ...
def keep_at_most(bytes: int) -> int: ...
def expected_hinge(d: _Floats, s: _Floats) -> _Floats: ...
def probabilistic_rbf(
    x: Gaussians | Mixtures,
    z: Gaussians | Mixtures | None,
    *,
    sigma: float | None,
    coupling: str,
    seed: int,
    max_bytes: int | None,
    n_jobs: int | None,
) -> _Floats: ...
def median_pair_distance(x: Gaussians | Mixtures, seed: int) -> float: ...
def mixtures_from_draws(
    draws: Rows,
    offsets: NDArray[np.int64],
    weights: _Floats | None,
    n_components: int | None,
    criterion: str,
    n_jobs: int | None = None,
) -> tuple[Mixtures, int]: ...
def effective_n_jobs(n_jobs: int | None) -> int: ...
def stop_after(seconds: float | None) -> None: ...
def instruction_set() -> str: ...
def average(members: Sequence[Sequence[Fitted]], weights: _Floats, sizes: Sequence[float]) -> Fitted: ...
def members_of(fitted: Fitted) -> tuple[list[list[Fitted]], _Floats, list[float]]: ...
def model_to_bytes(
    steps: Sequence[Fitted], classes: Sequence[_Label], features: Sequence[str], columns: str
) -> bytes: ...
def write_model(
    path: str | PathLike[str],
    steps: Sequence[Fitted],
    classes: Sequence[_Label],
    features: Sequence[str],
    columns: str,
) -> None: ...
def model_from_bytes(bytes: bytes) -> _Parts: ...
def read_model(path: str | PathLike[str]) -> _Parts: ...
