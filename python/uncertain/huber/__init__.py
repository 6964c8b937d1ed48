"""Adaptive Huber regression: robust, semi-supervised, multi-view, and open about the labels it drops."""

from ._estimators import AdaptiveHuberClassifier, AdaptiveHuberRegressor, Refinement

__all__ = ["AdaptiveHuberClassifier", "AdaptiveHuberRegressor", "Refinement"]
