"""Make Gaussian rows from replicates, intervals, draws, images and signals.

Each function says which of two things its covariances are. *Spread* is where else the row could be (shifted
copies of an image, windows of a signal, the population behind a mean). *Measurement error* is how far one
reading lies from the unknown true value (standard error of a mean, error bars of a catalogue).
"""

from ._arrow import from_arrow, register_arrow_types
from ._draws import from_draws, from_pdf, from_quantiles
from ._images import translation
from ._intervals import from_bounds, from_standard_errors
from ._linear import from_correlations, from_uncertainties, propagate
from ._replicates import from_replicates
from ._signals import welch

__all__ = [
    "from_arrow", "from_bounds", "from_correlations", "from_draws", "from_pdf", "from_quantiles",
    "from_replicates", "from_standard_errors", "from_uncertainties", "propagate", "register_arrow_types",
    "translation", "welch",
]  # fmt: skip
