"""Adaptive Huber regression: robust, semi-supervised, multi-view, and open about the labels it drops."""

from ._classifier import AdaptiveHuberClassifier
from ._machine import Refinement
from ._regressor import AdaptiveHuberRegressor

__all__ = ["AdaptiveHuberClassifier", "AdaptiveHuberRegressor", "Refinement"]
