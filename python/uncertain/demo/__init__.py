"""Real data with error bars that come with scikit-learn, so that nothing is downloaded."""

from ._published import wdbc

__all__ = ["wdbc"]
