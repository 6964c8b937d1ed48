"""Supervised learning from data with error bars: every row is a Gaussian, not a point.

``uncertain.fit(table)`` makes a `Model` from a table with error columns; `GSUClassifier` on a `GaussianArray`
is the same for scikit-learn's pipelines.
"""

from importlib.metadata import PackageNotFoundError, version

from uncertain import _threads as _threads  # tells threadpoolctl about our pools
from uncertain import (
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
from uncertain._array import GaussianArray
from uncertain._fit import fit
from uncertain._model import Model, load
from uncertain._report import Report
from uncertain.discriminant import GaussianDiscriminant
from uncertain.exceptions import UncertainError
from uncertain.huber import AdaptiveHuberClassifier, AdaptiveHuberRegressor
from uncertain.kernel_features import ProbabilisticKernelFeatures
from uncertain.kernel_svm import ProbabilisticKernelSVC, ProbabilisticKernelSVR
from uncertain.minimax import MinimaxProbabilityClassifier
from uncertain.preprocessing import (
    AsGaussians,
    GaussianDenoiser,
    GaussianImputer,
    GaussianScaler,
    KernelMap,
    SubspaceProjector,
)
from uncertain.regression import GSURegressor
from uncertain.robust import RobustSVC
from uncertain.svm import GSUClassifier

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
