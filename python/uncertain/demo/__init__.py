"""Real data with error bars, of this package and of scikit-learn: nothing is downloaded."""

from ._tables import kepler, wdbc

__all__ = ["kepler", "wdbc"]
