"""Transformers that make and move Gaussians."""

from uncertain._as_gaussians import AsGaussians

__all__ = ["AsGaussians"]
