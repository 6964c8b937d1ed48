"""Adaptive Huber regression: robust, semi-supervised, multi-view, and open about the labels it drops."""

from uncertain.huber._classifier import AdaptiveHuberClassifier
from uncertain.huber._machine import Refinement
from uncertain.huber._regressor import AdaptiveHuberRegressor

__all__ = ["AdaptiveHuberClassifier", "AdaptiveHuberRegressor", "Refinement"]
