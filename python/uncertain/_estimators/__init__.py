"""Estimators that the core fits, one file per method."""
