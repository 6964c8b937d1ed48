"""Transformers that make Gaussian rows of columns, and that change them.

A transformer that only moves Gaussians answers an array with an array, and a GaussianArray with a
GaussianArray (see ``_moves.py``).
"""

from ._as_gaussians import AsGaussians
from ._columns import ErrorColumns, GaussianColumnTransformer
from ._denoiser import GaussianDenoiser, GaussianImputer
from ._kernel_map import KernelMap
from ._linear_map import GaussianCollapser, LinearMap, SubspaceProjector
from ._moves import GaussianLogScaler, GaussianScaler

__all__ = [
    "AsGaussians", "ErrorColumns", "GaussianCollapser", "GaussianColumnTransformer", "GaussianDenoiser",
    "GaussianImputer", "GaussianLogScaler", "GaussianScaler", "KernelMap", "LinearMap", "SubspaceProjector",
]  # fmt: skip
