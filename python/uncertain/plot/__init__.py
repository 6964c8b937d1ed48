"""Pictures of rows, laws, boundaries and probabilities (needs matplotlib).

Displays follow scikit-learn's convention: ``from_estimator`` or ``from_predictions`` computes and draws,
``plot`` draws again, and ``ax_`` and ``figure_`` are there to go on with.
"""

from ._boundary import DecisionBoundaryDisplay
from ._display import COLORS, new_figure
from ._gaussians import GaussianDisplay, ellipses
from ._law import LawDisplay, ProfileDisplay
from ._leaderboard import LeaderboardDisplay
from ._refinement import RefinementDisplay
from ._reliability import ReliabilityDisplay

__all__ = [
    "COLORS", "DecisionBoundaryDisplay", "GaussianDisplay", "LawDisplay", "LeaderboardDisplay",
    "ProfileDisplay", "RefinementDisplay", "ReliabilityDisplay", "ellipses", "new_figure",
]  # fmt: skip
