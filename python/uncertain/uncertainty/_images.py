"""Images that may be shifted, turned or scaled a little: low-rank spread from their gradients.

To first order a move by t changes an image by t g, with its derivative g along the move. With t ~ N(0,
sigma^2) it is N(x, sigma^2 g g'): one column of a factor per kind of move, never a matrix of pixels by
pixels. Rejected: sampling moved copies, of which the same matrix needs hundreds.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from .._data.array import GaussianArray
from .._data.numbers import float_array, refuse_not_finite
from .._data.options import refuse_if
from .._data.typing import Floats
from ..exceptions import ShapeError


def translation(
    images: ArrayLike,
    sigma: float | Sequence[float] = 1.0,
    *,
    rotation: float = 0.0,
    scaling: float = 0.0,
    shape: tuple[int, int] | None = None,
) -> GaussianArray:
    """Images that may be shifted by N(0, sigma^2) pixels, turned and scaled.

    .. code-block:: text

        S = F F',    F = [sigma_row dx/drow, sigma_col dx/dcol,
                          rotation (c dx/drow - r dx/dcol), scaling (r dx/drow + c dx/dcol)]

    with r, c the distances from the centre in pixels. A first-order expansion: good while sigma is below the
    scale on which the image changes (blur sharp images first, or expect an S that is too narrow where edges
    move by whole pixels). The covariance is spread.

    Parameters
    ----------
    images : array-like of shape (n, height, width), or (n, height * width) with `shape`
    sigma : float or (row, column)
        Standard deviation of the shift, in pixels, >= 0.
    rotation, scaling : float
        Standard deviations of a turn about the centre, in radians, and of the relative change of the size.
    shape : (height, width), optional
        For flat images.

    Returns
    -------
    GaussianArray
        n rows of height * width features, row-major, low-rank covariances (rank <= 4: a column of F for each
        standard deviation > 0; exact points if all are 0).

    Raises
    ------
    UncertainError
        For shapes that do not fit, NaN or infinity, fewer than 2 pixels along an axis, or sigma < 0.

    References
    ----------
    C. Tzelepis, V. Mezaris, I. Patras, IEEE TPAMI 40(12), 2018, section 4.2 (MNIST).

    Examples
    --------
    >>> import numpy as np
    >>> from uncertain.uncertainty import translation
    >>> ramp = np.tile(np.arange(4.0), (1, 3, 1))  # brighter by 1 per column
    >>> translation(ramp, 0.5).trace()  # 12 pixels, each of variance 0.5^2
    array([3.])
    """
    pixels = _pixels(images, shape)
    n, height, width = pixels.shape
    refuse_if(np.size(sigma) not in (1, 2), f"sigma = {sigma!r}: must be a number or (row, column)")
    spreads = [*np.broadcast_to(np.asarray(sigma, dtype=float), 2).tolist(), rotation, scaling]
    for name, spread in zip(("sigma", "sigma", "rotation", "scaling"), spreads, strict=True):
        refuse_if(not 0 <= spread < np.inf, f"{name} = {spread!r}: must be a finite standard deviation >= 0")
    along_row, along_col = np.gradient(pixels, axis=(1, 2))
    r = (np.arange(height) - (height - 1) / 2)[:, None]
    c = (np.arange(width) - (width - 1) / 2)[None, :]
    across, out = c * along_row - r * along_col, r * along_row + c * along_col
    images_moved = (along_row, along_col, across, out)
    moves = [spread * move for spread, move in zip(spreads, images_moved, strict=True) if spread > 0]
    means = pixels.reshape(n, height * width)
    if not moves:
        return GaussianArray(means)
    return GaussianArray(means, factor=np.stack(moves, axis=-1).reshape(n, height * width, len(moves)))


def _pixels(images: ArrayLike, shape: tuple[int, int] | None) -> Floats:
    pixels = float_array(images, "images")
    if shape is not None:
        height, width = shape
        flat = f"(n, {height * width}) for shape = ({height}, {width})"
        fits = pixels.ndim >= 2 and pixels[0].size == height * width
        refuse_if(not fits, f"images: expected {flat}, got {pixels.shape}", ShapeError)
        pixels = pixels.reshape(len(pixels), height, width)
    hint = f"got {pixels.shape}; for flat images pass shape=(height, width)"
    refuse_if(pixels.ndim != 3, f"images: expected shape (n, height, width), {hint}", ShapeError)
    small = min(pixels.shape[1:]) < 2
    refuse_if(small, f"images: a gradient needs at least 2 x 2 pixels, got {pixels.shape[1:]}", ShapeError)
    refuse_not_finite(pixels, "images", "image", "row", "column")
    return pixels
