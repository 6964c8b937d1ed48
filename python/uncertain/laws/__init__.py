"""Laws between true values: coefficients with standard errors.

`LinearLaw` is a line with errors in both variables, `GeneralizedLinearLaw` the law of classes, counts, sizes
and times, `CurveRegressor` any curve. `shared_modes` makes errors that rows share from a covariance matrix.
"""

from .curve import CurveRegressor
from .generalized import GeneralizedLinearLaw
from .linear import LinearLaw
from .modes import SharedModes, shared_modes

__all__ = ["CurveRegressor", "GeneralizedLinearLaw", "LinearLaw", "SharedModes", "shared_modes"]
