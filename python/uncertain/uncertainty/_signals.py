"""Signals: log-powers of bands, with their covariance over the windows.

Welch's method averages the spectra of windows; their scatter is the covariance that is usually thrown away.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.signal import get_window, spectrogram

from .._data.array import GaussianArray
from .._data.numbers import float_array, refuse_not_finite
from .._data.options import check_option, refuse_if
from .._data.typing import Booleans, Floats
from ..exceptions import ShapeError, UncertainError
from ._replicates import Shrinkage, gaussians_of_groups


def welch(
    signals: ArrayLike,
    fs: float,
    bands: Mapping[str, tuple[float, float]] | Sequence[tuple[float, float]],
    *,
    nperseg: int = 256,
    overlap: float = 0.5,
    window: str | tuple[object, ...] | ArrayLike = "hann",
    of: Literal["population", "mean"] = "population",
    covariance: Literal["full", "diagonal"] = "diagonal",
    shrinkage: Shrinkage = "ledoit-wolf",
) -> GaussianArray:
    """Return log-powers in bands of signals, as Gaussians over Welch's windows.

    Every signal is cut into K windows; the feature of a window, channel and band is the logarithm of the
    power in the band, ``log(sum of the one-sided spectral density x fs/nperseg)``. A row has the mean over
    the windows, and as covariance the one between windows: of a window drawn at random (``of="population"``:
    spread), or of the mean of K windows (``of="mean"``: measurement error), which is the former over the
    effective number of windows, since neighbours share samples:

    .. code-block:: text

        K_eff = K / (1 + 2 sum_j (1 - j/K) rho_j),    rho_j = (sum_t w_t w_(t + j hop) / sum_t w_t^2)^2

    The constant part of every window is removed before its spectrum is taken.

    Parameters
    ----------
    signals : array-like of shape (n, n_samples) or (n, n_channels, n_samples)
    fs : float
        Samples per second, > 0.
    bands : mapping name -> (low, high), or sequence of (low, high)
        In Hz, 0 <= low < high <= fs / 2; a band holds the frequencies low <= f < high (and fs / 2 itself).
    nperseg : int
        Samples per window; frequencies are fs / nperseg apart.
    overlap : float
        Share of a window that the next one repeats, 0 <= overlap < 1.
    window : str, tuple or array
        As for :func:`scipy.signal.get_window`.
    of, covariance, shrinkage
        As for :func:`uncertain.uncertainty.from_replicates`, the windows being the replicates; logarithms of
        powers have one unit, in which covariances are shrunk.

    Returns
    -------
    GaussianArray
        Features are channel by channel, the bands within.

    Raises
    ------
    UncertainError
        For NaN or infinity, signals with fewer than two windows, bands without a frequency or outside
        [0, fs / 2], or a band without any power (the logarithm of zero).

    References
    ----------
    P. D. Welch, IEEE Trans. Audio and Electroacoustics 15, 1967.

    Examples
    --------
    >>> import numpy as np
    >>> from uncertain.uncertainty import welch
    >>> eeg = np.random.default_rng(0).normal(size=(3, 2, 1024))  # 3 trials, 2 channels
    >>> welch(eeg, 128.0, {"theta": (4, 8), "alpha": (8, 13), "beta": (13, 30)})
    GaussianArray(3 rows x 6 features, diagonal covariances)
    """
    x = float_array(signals, "signals")
    if x.ndim == 2:
        x = x[:, None, :]
    expected = "expected shape (n, samples) or (n, channels, samples)"
    refuse_if(x.ndim != 3 or 0 in x.shape, f"signals: {expected}, got {x.shape}", ShapeError)
    refuse_not_finite(x, "signals", "row", "channel", "sample")
    positive, most = np.isfinite(fs) and fs > 0, x.shape[2]
    refuse_if(not positive, f"fs = {fs!r}: must be a number of samples per second > 0")
    refuse_if(not 0 <= overlap < 1, f"overlap = {overlap!r}: must be in [0, 1)")
    outside = not 2 <= nperseg <= most
    refuse_if(outside, f"nperseg = {nperseg!r}: must be in 2..{most}, the samples of a signal")
    pairs = list(bands.items() if isinstance(bands, Mapping) else ((f"{b}", b) for b in bands))
    refuse_if(not pairs, "bands is empty: name at least one, such as {'alpha': (8, 13)}")
    named = [(name, (float(low), float(high))) for name, (low, high) in pairs]
    hop = max(1, nperseg - int(overlap * nperseg))
    windows = (x.shape[2] - nperseg) // hop + 1
    single = f"signals of {most} samples hold one window of nperseg = {nperseg}, and a covariance needs at "
    refuse_if(windows < 2, f"{single}least two: lower nperseg", UncertainError)
    check_option("of", of, ("population", "mean"))
    taper: Floats = get_window(window, nperseg)
    # One-sided densities of every window, (n, channels, frequencies, windows).
    frequencies, _, density = spectrogram(x, fs, taper, noverlap=nperseg - hop, detrend="constant")
    masks = [_frequencies_in(band, frequencies, fs, name) for name, band in named]
    powers = np.stack([density[:, :, mask].sum(axis=2) * (fs / nperseg) for mask in masks], axis=3)
    if not (powers > 0).all():
        i, c, k, b = np.argwhere(~(powers > 0))[0]
        raise UncertainError(
            f"signals: row {i}, channel {c}, window {k} has no power in band {named[b][0]}, so its logarithm "
            "does not exist. Leave out flat channels"
        )
    # Features channel by channel; the windows are the replicates.
    replicates = np.swapaxes(np.log(powers), 1, 2).reshape(len(x) * windows, -1)
    names, codes = [f"row {i}" for i in range(len(x))], np.repeat(np.arange(len(x)), windows)
    # Logarithms have no units, and what is said of a signal should not depend on the others.
    rows, _ = gaussians_of_groups(
        replicates, codes, names, "population", shrinkage, covariance, one_unit=True
    )
    if of == "population":
        return rows
    effective = windows / overlap_factor(taper, hop, windows)
    if rows.kind == "diagonal":
        return GaussianArray(rows.means, var=np.diagonal(rows.covariances(), axis1=1, axis2=2) / effective)
    return GaussianArray(rows.means, cov=rows.covariances() / effective)


def overlap_factor(taper: Floats, hop: int, windows: int) -> float:
    """Variance of a mean of overlapping windows over that of independent ones."""
    lags = [j for j in range(1, windows) if j * hop < len(taper)]
    energy = np.square(taper).sum()
    rho = [(np.dot(taper[: -j * hop], taper[j * hop :]) / energy) ** 2 for j in lags]
    return float(1 + 2 * sum((1 - j / windows) * r for j, r in zip(lags, rho, strict=True)))


def _frequencies_in(band: tuple[float, float], f: Floats, fs: float, name: str) -> Booleans:
    low, high = band
    outside = not 0 <= low < high <= fs / 2
    refuse_if(outside, f"band {name}: expected 0 <= low < high <= fs / 2 = {fs / 2:g}, got {band}")
    mask: Booleans = (low <= f) & ((f < high) | ((f == high) & (high == fs / 2)))
    apart = f"they are {f[1]:g} Hz apart; raise nperseg"
    refuse_if(not mask.any(), f"band {name} = {band} holds no frequency: {apart}")
    return mask
