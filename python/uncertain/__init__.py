"""Supervised learning from data with error bars: every row is a Gaussian, not a point.

``uncertain.fit(table)`` makes a `Model` from a table with error columns; `GSUClassifier` on a `GaussianArray`
is the same for scikit-learn's pipelines.
"""

from importlib.metadata import PackageNotFoundError, version

from . import (
    discriminant,
    exceptions,
    huber,
    kernel_svm,
    kernels,
    losses,
    metrics,
    preprocessing,
    robust,
    svm,
    uncertainty,
)
from ._base import threads as _threads  # noqa: F401  # tells threadpoolctl about our pools
from ._data.array import GaussianArray
from ._model.fit import fit
from ._model.model import Model, load
from ._report.classes import Report
from .discriminant import GaussianDiscriminant
from .exceptions import UncertainError
from .huber import AdaptiveHuberClassifier, AdaptiveHuberRegressor
from .kernel_features import ProbabilisticKernelFeatures
from .kernel_svm import ProbabilisticKernelSVC, ProbabilisticKernelSVR
from .minimax import MinimaxProbabilityClassifier
from .preprocessing import (
    AsGaussians,
    GaussianDenoiser,
    GaussianImputer,
    GaussianScaler,
    KernelMap,
    SubspaceProjector,
)
from .regression import GSURegressor
from .robust import RobustSVC
from .svm import GSUClassifier

try:
    __version__ = version("uncertain-learn")
except PackageNotFoundError:  # run from a source tree that was never installed
    __version__ = "0.1.0"

__all__ = [
    "AdaptiveHuberClassifier",
    "AdaptiveHuberRegressor",
    "AsGaussians",
    "GSUClassifier",
    "GSURegressor",
    "GaussianArray",
    "GaussianDenoiser",
    "GaussianDiscriminant",
    "GaussianImputer",
    "GaussianScaler",
    "KernelMap",
    "MinimaxProbabilityClassifier",
    "Model",
    "ProbabilisticKernelFeatures",
    "ProbabilisticKernelSVC",
    "ProbabilisticKernelSVR",
    "Report",
    "RobustSVC",
    "SubspaceProjector",
    "UncertainError",
    "__version__",
    "discriminant",
    "exceptions",
    "fit",
    "huber",
    "kernel_svm",
    "kernels",
    "load",
    "losses",
    "metrics",
    "preprocessing",
    "robust",
    "regression",
    "svm",
    "uncertainty",
]
