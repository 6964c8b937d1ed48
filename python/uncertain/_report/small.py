"""The small pictures of a report's card."""

from __future__ import annotations

import numpy as np

from .._data.cards import Axes, Points, picture
from .._data.typing import Booleans, Floats
from .noise import NoiseLevels

BINS = 8
MOST = 99.0
"""Percentile up to which sizes are shown."""


def gain_picture(noise: NoiseLevels) -> tuple[str, str]:
    """What the error bars gain, by the size of a row's errors."""
    ends = np.concatenate([noise.gain - 2 * noise.se, noise.gain + 2 * noise.se, [0.0]])
    axes = Axes(
        "size of errors", "gain", (0.0, float(1.05 * noise.size.max())),
        (float(ends.min()), float(ends.max()) or 1.0), level=0.0,
    )  # fmt: skip
    title = f"Gain in {noise.loss} by the size of errors: " + ", ".join(f"{g:.3g}" for g in noise.gain)
    caption = f"Gain in {noise.loss} by noise level: thirds of the rows, with two standard errors."
    return caption, picture(title, axes, Points(noise.size, noise.gain, noise.se))


def sizes_picture(noise: NoiseLevels) -> tuple[str, str]:
    """How large errors are."""
    top = float(np.percentile(noise.sizes, MOST))
    counts = np.histogram(noise.sizes, 16, (0.0, top))[0]
    axes = Axes("size of errors", "rows", (0.0, top), (0.0, float(counts.max())))
    caption = (
        f"Sizes of errors, in units of the features' spread; half of the rows are below "
        f"{np.median(noise.sizes):.2g}."
    )
    return caption, picture("Histogram of the sizes of errors", axes, bars=counts.astype(float))


def calibration_picture(happened: Booleans, prob: Floats, positive: object) -> tuple[str, str]:
    """Predicted against observed frequencies, in bins of equally many rows."""
    parts = np.array_split(np.argsort(prob, kind="stable"), BINS)
    x = np.array([prob[part].mean() for part in parts])
    y = np.array([happened[part].mean() for part in parts])
    se = np.sqrt(np.maximum(x * (1 - x), 1e-4) / np.array([len(part) for part in parts]))
    axes = Axes(f"P({positive})", "observed", (0.0, 1.0), (0.0, 1.0), diagonal=True)
    caption = "Reliability of held-out probabilities: on the diagonal they are right."
    return caption, picture("Reliability diagram", axes, Points(x, y, se))


def pit_small_picture(pit: Floats) -> tuple[str, str]:
    """Where held-out targets lie in their distributions."""
    shares = 100.0 * np.histogram(pit, 10, (0.0, 1.0))[0] / len(pit)
    axes = Axes(
        "quantile of the target", "rows (%)", (0.0, 1.0), (0.0, float(max(shares.max(), 12.0))), level=10.0
    )
    caption = "Calibration of held-out distributions: 10 % in each tenth if they are right."
    return caption, picture("Histogram of the quantiles of held-out targets", axes, bars=shares)
