"""Adaptive Huber regression: robust, semi-supervised, multi-view."""

from ._estimators import AdaptiveHuberClassifier, AdaptiveHuberRegressor, Refinement

__all__ = ["AdaptiveHuberClassifier", "AdaptiveHuberRegressor", "Refinement"]
