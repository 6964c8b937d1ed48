"""Real data with error bars, of this package and of scikit-learn: nothing is downloaded."""

from ._kepler import kepler
from ._published import wdbc

__all__ = ["kepler", "wdbc"]
