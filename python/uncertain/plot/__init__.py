"""Pictures of Gaussian rows, boundaries, probabilities and refinements (needs matplotlib).

matplotlib is imported when a picture is drawn, so that the package works without it. Displays follow
scikit-learn's convention: ``from_estimator`` or ``from_predictions`` computes and draws, ``plot`` draws
again, and ``ax_`` and ``figure_`` are there to go on with.
"""

from uncertain.plot._boundary import DecisionBoundaryDisplay, boundaries
from uncertain.plot._gaussians import GaussianDisplay, ellipses
from uncertain.plot._refinement import RefinementDisplay
from uncertain.plot._reliability import ReliabilityDisplay
from uncertain.plot._style import COLORS, new_figure

__all__ = [
    "COLORS",
    "DecisionBoundaryDisplay",
    "GaussianDisplay",
    "RefinementDisplay",
    "ReliabilityDisplay",
    "boundaries",
    "ellipses",
    "new_figure",
]
