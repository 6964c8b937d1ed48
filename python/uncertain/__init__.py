"""Supervised learning from data with error bars: every row is a Gaussian, not a point."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("uncertain-learn")
except PackageNotFoundError:  # run from a source tree that was never installed
    __version__ = "0.1.0"

__all__ = ["__version__"]
