"""Supervised learning from data with error bars: every row is a Gaussian, not a point."""

from importlib.metadata import PackageNotFoundError, version

from uncertain import _threads as _threads  # tells threadpoolctl about our pools
from uncertain._array import GaussianArray
from uncertain.preprocessing import AsGaussians, GaussianScaler, SubspaceProjector
from uncertain.svm import GSUClassifier

try:
    __version__ = version("uncertain-learn")
except PackageNotFoundError:  # run from a source tree that was never installed
    __version__ = "0.1.0"

__all__ = [
    "AsGaussians",
    "GSUClassifier",
    "GaussianArray",
    "GaussianScaler",
    "SubspaceProjector",
    "__version__",
]
