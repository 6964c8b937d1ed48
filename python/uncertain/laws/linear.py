"""`LinearLaw`: the errors-in-both regression under its name among the laws."""

from __future__ import annotations

from ..mixture import GaussianMixtureRegressor

__all__ = ["LinearLaw"]

LinearLaw = GaussianMixtureRegressor
"""One class: a line is what a mixture of Gaussians with a single component says about its last coordinate."""
