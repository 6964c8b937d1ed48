"""The distribution of a predicted number: that of the method, or a law of held-out residuals.

A method says what it leaves open of a row, u_ij (`left_open`); held-out residuals r_i say what that is worth:

    y_i - prediction_i ~ N(0, V_i + t_i^2),    V_i = a + sum_j b_j u_ij,    a > 0,  b_j >= 0

with the error bar t_i of a target that has one (where these explain the residuals, a is not below what they
hide: predictions without any width would be wrong with certainty). u is

    GSURegressor    w'S_i w                                      law of the method: b = 1, a = scatter^2
    density         the variance of the conditional density      law of the method: a = 0, b = 1
    learner         s^2 t^2 / (s^2 + t^2) of every feature, for an error s and a feature of spread t, which no
                    error can exceed (behind a `GaussianDenoiser` the variance of the posterior)

a and b are those of the least CRPS (T. Gneiting, A. E. Raftery, A. H. Westveld and T. Goldman, Calibrated
Probabilistic Forecasting Using Ensemble Model Output Statistics and Minimum CRPS Estimation, Monthly Weather
Review 133, 2005, doi 10.1175/MWR2904.1): a few rows that are far off, or have enormous errors, do not make
all others wide, as they do by likelihood. A simpler law is kept unless the CRPS of the next one is clearly
better: that of the method by two standard errors, a constant width by one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, NamedTuple, Self

import msgspec
import numpy as np
from scipy.optimize import brentq, minimize, minimize_scalar
from scipy.special import ndtr
from sklearn.pipeline import Pipeline

from .._base.normal_mixtures import NormalMixtures
from .._data.array import value_sizes
from .._data.groups import Groups
from .._data.incomplete import GaussianRows, feature_spread, filled_gaussians, missing_mask
from .._data.typing import Array, Floats
from .._estimators.gsu import GSURegressor
from ..laws.linear import GaussianMixtureRegressor
from ..preprocessing import GaussianCollapser, GaussianDenoiser
from ..preprocessing._moves import moved
from .means import weighted_mean

MANY = 30
"""More features share one coefficient."""
CLEARLY = 2.0
"""Standard errors by which another law must be better than that of the method."""
TINY = 1e-150
LEAST = 1e-6
"""The least a, in units of the mean square of residuals."""


@dataclass(frozen=True)
class Spread:
    """V_i of every row."""

    base: Annotated[float, msgspec.Meta(gt=0.0)]
    """a."""
    slopes: Floats
    """b, one for each column of u."""
    widths: Floats
    """t, one per feature, in the units of the rows in front of the last step; empty for a
    method with another law."""

    def __post_init__(self) -> None:
        if not ((self.slopes >= 0.0).all() and (self.widths > 0.0).all()):
            raise ValueError("slopes of a spread are negative, or widths are not positive")

    @classmethod
    def estimate(
        cls, residuals: Floats, parts: Floats, weights: Floats, widths: Floats, target_std: Floats
    ) -> Self:
        """The one of the least CRPS; `parts` are u, (n, k)."""
        size2 = max(float(np.average(residuals**2, weights=weights)), 1e-300)
        mean = np.average(parts, axis=0, weights=weights)
        used = mean > 0.0
        x, r, w = parts[:, used] / mean[used], residuals / np.sqrt(size2), weights / weights.sum()
        own = target_std**2 / size2

        def loss(p: Floats) -> tuple[float, Floats]:
            std = np.sqrt(p[0] + x @ p[1:] + own)
            change = w * (2.0 * _phi(r / std) - np.pi**-0.5) / (2.0 * std)
            return float(w @ crps(r, std)), np.concatenate([[change.sum()], change @ x])

        start = np.full(1 + x.shape[1], 0.5 / max(x.shape[1], 1))
        start[0] = 0.5
        # Noise of the targets' error bars hides the scatter up to the standard error of its mean square.
        hidden = float(np.sqrt(2.0 * (w @ w) * (w @ np.minimum(own, 1.0) ** 2)))
        bounds = [(max(LEAST, hidden), None)] + [(0.0, None)] * x.shape[1]
        found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds).x
        slopes = np.zeros(parts.shape[1])
        slopes[used] = found[1:] * size2 / mean[used]
        return cls(float(found[0] * size2), slopes, widths)

    def from_errors(self, parts: Floats) -> Floats:
        """The deviation by errors of the rows."""
        return np.asarray(np.sqrt(parts @ self.slopes))

    def std(self, parts: Floats) -> Floats:
        """The whole deviation."""
        return np.asarray(np.sqrt(self.base + parts @ self.slopes))

    def losses(self, residuals: Floats, parts: Floats, target_std: Floats) -> Floats:
        """The CRPS of each row, of targets that were measured."""
        return crps(residuals, np.maximum(np.hypot(self.std(parts), target_std), TINY))

    def check(self, pipeline: Pipeline) -> None:
        """ValueError if it is not one of this pipeline."""
        widths, columns = _counts(pipeline)
        if len(self.widths) != widths or len(self.slopes) != columns:
            raise ValueError(
                f"a spread of {len(self.slopes)} coefficients and {len(self.widths)} features; "
                f"{type(pipeline[-1]).__name__} has {columns} and {widths}"
            )


def chosen(
    law: Spread | None,
    own: Floats | None,
    residuals: Floats,
    parts: Floats,
    weights: Floats,
    widths: Floats,
    target_std: Floats,
    rows: Array,
) -> Spread:
    """Of the method's law, a constant width, and the fitted law the simplest that is as good as the next.

    `own` is the CRPS of the law of the method. `rows` are the numbers of the rows, of which some are there
    more than once.
    """
    none = np.zeros_like(parts)
    constant = Spread.estimate(residuals, none, weights, widths, target_std)
    laws = [constant, Spread.estimate(residuals, parts, weights, widths, target_std)]
    losses = [one.losses(residuals, parts, target_std) for one in laws]
    if law is not None and own is not None:
        laws, losses = [law, *laws], [own, *losses]
    groups = Groups(np.unique(rows, return_inverse=True)[1].astype(np.uint32))  # right or wrong together
    best = 0
    for k in range(1, len(laws)):
        gain, se = weighted_mean(losses[best] - losses[k], weights, groups)
        best = k if gain > se * (CLEARLY if laws[best] is law else 1.0) else best
    return laws[best]


def crps(off: Floats, std: Floats) -> Floats:
    """Of N(0, std^2) at `off`: std (z (2 Phi(z) - 1) + 2 phi(z) - 1 / sqrt(pi)), z = off / std."""
    z = off / std
    return np.asarray(std * (z * (2.0 * ndtr(z) - 1.0) + 2.0 * _phi(z) - np.pi**-0.5))


def _phi(z: Floats) -> Floats:
    return np.asarray(np.exp(-(z**2) / 2.0) / np.sqrt(2.0 * np.pi))


class Open(NamedTuple):
    """Predictions of a model for rows."""

    mean: Floats
    """The prediction."""
    parts: Floats
    """u, (n, k)."""
    of_errors: Floats
    """The part of u that errors of the rows make."""


def left_open(pipeline: Pipeline, rows: GaussianRows, widths: Floats) -> Open:
    """The prediction, and what it leaves open."""
    if isinstance(pipeline[-1], GSURegressor):
        mean, std = from_errors(pipeline, rows)
        return Open(mean, std[:, None] ** 2, std[:, None] ** 2)
    if has_density(pipeline):
        mean, std, added = pipeline[-1]._distribution(moved(pipeline, rows))
        return Open(mean, std[:, None] ** 2, added[:, None] ** 2)
    parts = _learner_parts(pipeline, rows, widths)
    return Open(pipeline.predict(rows), parts, parts)


def _learner_parts(pipeline: Pipeline, rows: GaussianRows, widths: Floats) -> Floats:
    std, known = value_sizes(in_front(pipeline, rows))
    parts = std**2
    if not any(isinstance(step, GaussianDenoiser) for _, step in pipeline.steps):
        parts = parts * widths**2 / (parts + widths**2)
    parts = np.where(known, parts, widths**2)
    return (parts / widths**2).mean(axis=1, keepdims=True) if len(widths) > MANY else parts


def feature_widths(pipeline: Pipeline, rows: GaussianRows) -> Floats:
    """t: the spread of every feature in front of the last step, 1 for one that does not
    vary; empty for a method with another law."""
    if _counts(pipeline)[0] == 0:
        return np.empty(0)
    rows = in_front(pipeline, rows)
    return feature_spread(filled_gaussians(rows).means, ~missing_mask(rows))


def law_of_rows(pipeline: Pipeline, rows: GaussianRows, spread: Spread | None) -> NormalMixtures:
    """The distribution of each row's true target: the shape of the method, else a normal law; as wide as
    held-out rows say (`spread`; None: the width of the method)."""
    own = density_of_rows(pipeline, rows) if has_density(pipeline) else None
    if own is not None and spread is None:
        return own
    assert spread is not None
    answer = left_open(pipeline, rows, spread.widths)
    std = spread.std(answer.parts)
    return NormalMixtures.normal(answer.mean, std) if own is None else own.widened(std)


def own_law(pipeline: Pipeline, residual_std: float | None) -> Spread | None:
    """The law of a method that has one: of a `GSURegressor` once its scatter is known."""
    return of_scatter(0.0 if residual_std is None and has_density(pipeline) else residual_std)


def of_scatter(residual_std: float | None) -> Spread | None:
    """The law of a `GSURegressor` with this scatter; None without."""
    return None if residual_std is None else Spread(residual_std**2, np.ones(1), np.empty(0))


def _counts(pipeline: Pipeline) -> tuple[int, int]:
    """How many widths a spread has, and how many coefficients."""
    last = pipeline[-1]
    if isinstance(last, GSURegressor) or has_density(pipeline):
        return 0, 1
    d = int(last.n_features_in_)
    return d, 1 if d > MANY else d


def most_likely_scatter(residuals: Floats, variances: Floats, weights: Floats) -> float:
    """The scatter of a `GSURegressor`: sigma >= 0 that maximises sum_i c_i log N(r_i; 0, sigma^2 + v_i).

    Where the error bars alone explain the residuals the maximum is at 0. A finite number of rows cannot tell
    zero from a small scatter, and predictions without any width would be wrong with certainty, so sigma is
    then where the likelihood has fallen by exp(-1/2).
    """
    squares = residuals**2
    top = float(squares.max())  # beyond it every term falls
    if top == 0.0:
        return 0.0

    def loss(scatter: float) -> float:
        total = scatter + variances
        return float(weights @ (np.log(total) + squares / total))

    # There may be several maxima; sigma = 0 is one only if no row is exact.
    steps = np.geomspace(1e-12 * top, top, 121)
    losses = [loss(v) for v in steps]
    best = int(np.argmin(losses))
    around = (float(np.log(steps[max(best - 1, 0)])), float(np.log(steps[min(best + 1, 120)])))
    found = minimize_scalar(
        lambda t: loss(np.exp(t)), bounds=around, method="bounded", options={"xatol": 1e-8}
    )
    if variances.min() > 0.0 and loss(0.0) <= found.fun:
        rise = weights.mean()  # twice the logarithm of a row's likelihood falls by 1
        over = float(top + variances.max())
        while loss(over) < loss(0.0) + rise:
            over *= 4.0
        return float(np.sqrt(brentq(lambda scatter: loss(scatter) - loss(0.0) - rise, 0.0, over)))
    return float(np.exp(found.x / 2))


def has_density(pipeline: Pipeline) -> bool:
    """Does the last step say the whole deviation of a target by itself?"""
    last = pipeline[-1]
    stack = hasattr(last, "spreads_") and not hasattr(last, "classes_")
    own = stack or getattr(last, "_residuals", None) is not None
    return own or isinstance(last, GaussianMixtureRegressor)


def density_of_rows(pipeline: Pipeline, rows: GaussianRows) -> NormalMixtures:
    """Of such a step: the density of each row's true target."""
    return NormalMixtures(*pipeline[-1].predict_mixture(moved(pipeline, rows)))


def from_errors(pipeline: Pipeline, rows: GaussianRows) -> tuple[Floats, Floats]:
    """The prediction, and its standard deviation under the error bars of each row.

    Where a `GaussianCollapser` takes posteriors N(m_i, C_i) of true values down to m_i for a regression, C_i
    is still what the reading leaves open: the prediction is that at m_i, and the deviation sqrt(w'C_i w). So
    the deviation is asked of rows that have not been collapsed.
    """
    mean, std = pipeline[-1].predict(in_front(pipeline, rows), return_std=True)
    collapsed = any(isinstance(step, GaussianDenoiser) for _, step in pipeline.steps)
    return (pipeline.predict(rows) if collapsed else mean), std


def in_front(pipeline: Pipeline, rows: GaussianRows) -> GaussianRows:
    """The rows as they come to the last step, before a `GaussianCollapser` drops covariances of posteriors.

    One without a denoiser in front drops error bars, which then do not count.
    """
    denoised = False
    for _, step in pipeline.steps[:-1]:
        denoised = denoised or isinstance(step, GaussianDenoiser)
        if not (denoised and isinstance(step, GaussianCollapser)):
            rows = step.transform(rows)
    return rows
