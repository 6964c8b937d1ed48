"""The spread of targets around the predictions of a regression that has no density, by noise level.

Of a learner without a law of its own only held-out residuals say how far off it is. Their variance is taken
to be

    V_i = a + sum_j b_j v_ij,    a > 0,  b_j >= 0

where v_ij is what a row's errors leave open of feature j: behind a `GaussianDenoiser` the variance of the
posterior, else s^2 t^2 / (s^2 + t^2) for an error s and a feature of spread t, which no error can exceed. For
small errors b_j is the mean square of the slope of the prediction. a and b maximise sum_i c_i log N(r_i; 0,
V_i); with many features their mean in units of t_j^2 is the only one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.optimize import minimize
from sklearn.pipeline import Pipeline

from .._data.incomplete import GaussianRows, filled_gaussians, missing_mask
from .._data.json_numbers import finite_number, finite_numbers
from .._data.typing import Floats, Header
from .._errors.sizes import value_sizes
from ..preprocessing import GaussianDenoiser
from ..preprocessing._error_columns import feature_spread
from .distribution import in_front

MANY = 30
"""More features share one coefficient."""


@dataclass(frozen=True)
class Spread:
    """V_i of every row."""

    base: float
    """a."""
    slopes: Floats
    """b, one per feature, or one for all."""
    widths: Floats
    """t, one per feature, in the units of the rows in front of the last step."""

    @classmethod
    def estimate(cls, residuals: Floats, parts: Floats, weights: Floats, widths: Floats) -> Self:
        """The most likely one; `parts` are v, (n, d) or (n, 1)."""
        squares = residuals**2
        mean = max(float(np.average(squares, weights=weights)), 1e-300)
        size = np.average(parts, axis=0, weights=weights)
        used = size > 0.0
        x, r2, w = parts[:, used] / size[used], squares / mean, weights / weights.sum()

        def loss(p: Floats) -> tuple[float, Floats]:
            v = p[0] + x @ p[1:]
            change = w * (1.0 / v - r2 / v**2)
            return float(w @ (np.log(v) + r2 / v)), np.concatenate([[change.sum()], change @ x])

        start = np.full(1 + x.shape[1], 0.5 / max(x.shape[1], 1))
        start[0] = 0.5
        found = minimize(
            loss, start, jac=True, method="L-BFGS-B", bounds=[(1e-6, None)] + [(0.0, None)] * x.shape[1]
        )
        slopes = np.zeros(parts.shape[1])
        slopes[used] = found.x[1:] * mean / size[used]
        return cls(float(found.x[0] * mean), slopes, widths)

    def from_errors(self, parts: Floats) -> Floats:
        """The deviation that the rows' own errors make."""
        return np.asarray(np.sqrt(parts @ self.slopes))

    def std(self, parts: Floats) -> Floats:
        """The whole deviation."""
        return np.asarray(np.sqrt(self.base + parts @ self.slopes))

    def to_dict(self) -> Header:
        """Numbers, for the model file."""
        return {"base": self.base, "slopes": self.slopes.tolist(), "widths": self.widths.tolist()}

    @classmethod
    def from_dict(cls, values: Header) -> Self:
        """Inverse of `to_dict`; ValueError or TypeError for what it did not write."""
        base = finite_number(values["base"], "base")
        slopes, widths = (finite_numbers(values[name], name) for name in ("slopes", "widths"))
        sound = base > 0.0 and (slopes >= 0.0).all() and (widths > 0.0).all()
        if not sound or len(slopes) != (1 if len(widths) > MANY else len(widths)):
            raise ValueError(f"spread = {values!r:.100}")
        return cls(base, slopes, widths)


def feature_widths(pipeline: Pipeline, rows: GaussianRows) -> Floats:
    """t: the spread of every feature in front of the last step; 1 for a feature that does not vary."""
    moved = in_front(pipeline, rows)
    return feature_spread(filled_gaussians(moved).means, ~missing_mask(moved))


def variance_parts(pipeline: Pipeline, rows: GaussianRows, widths: Floats) -> Floats:
    """v of every row."""
    std, known = value_sizes(in_front(pipeline, rows))
    parts = std**2
    if not any(isinstance(step, GaussianDenoiser) for _, step in pipeline.steps):
        parts = parts * widths**2 / (parts + widths**2)
    parts = np.where(known, parts, widths**2)
    return (parts / widths**2).mean(axis=1, keepdims=True) if len(widths) > MANY else parts
