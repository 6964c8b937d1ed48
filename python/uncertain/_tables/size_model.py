"""`SizeModel`: how large the error bar of a value is likely to be, where the table does not say.

Idea: the sizes of error bars grow with the value (fluxes have relative errors, magnitudes grow noisy towards
the faint end), and a row that is noisy in one feature is noisy in others that come from the same instrument.
With l_j = log |x_j| in units of its spread,

    log s_j = a_j + b_j l_j + c_j l_j^2                      + r_j,
    log s_j = a_j + b_j l_j + c_j l_j^2 + g_jk r_k           + r_jk,

where k is the first partner of j, by correlation of the residuals r, whose error bar is there. A model wants
variances, so the size that stands in is the root of the expected variance: exp of the logarithm above, times
the root mean square of exp(r_j), or exp(r_jk), over the rows that it was learned from (smearing, Duan 1983).
Sizes never leave the range that was seen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from .._data.numbers import mixed
from .._data.typing import Booleans, Floats, Ints
from ..exceptions import NullError

FLOOR = 1e-3
"""Values below this, in units of the feature's median |x|, count as this: zero has no logarithm."""
MISSING_STD = {"point": 0.0, "auto": np.nan}
"""By `on_missing` what stands for a missing error bar of a target; others refuse it."""
MOST_ROWS = 20_000
"""Rows that a model is learned from at most."""
RIDGE = 1.0
"""Rows that the shrinkage of coefficients to 0 is worth."""
PARTNERS = 3
"""Features whose residuals serve another one, at most."""
COMMON_ROWS = 30
"""Rows that have both sizes, at least, for one to serve the other."""
CORRELATION = 0.3
"""Of their residuals, at least."""


@dataclass(frozen=True, eq=False)
class SizeModel:
    """The law of each of d features, all arrays of d rows."""

    log_value: Floats
    """(d, 4) centre and spread of log |x|, and its range."""
    own: Floats
    """(d, 4) a, b, c, and the logarithm of the mean of exp(2 r); NaN for a feature without any error bar."""
    log_size: Floats
    """(d, 2) the range of log s; -inf for a feature whose error bars are all zero."""
    partners: Ints
    """(d, 3) numbers of other features, the best first; -1 for none."""
    shared: Floats
    """(d, 3, 2) g, and the logarithm of the mean of exp(2 r) behind that partner."""

    def __post_init__(self) -> None:
        d = len(self.own)
        shapes = {
            "log_value": (d, 4), "own": (d, 4), "log_size": (d, 2), "partners": (d, PARTNERS),
            "shared": (d, PARTNERS, 2),
        }  # fmt: skip
        for name, shape in shapes.items():
            array: Floats = getattr(self, name)
            if array.shape != shape or (name in ("log_value", "shared") and not np.isfinite(array).all()):
                raise ValueError(f"{name} of {d} features is not finite, or has the shape {array.shape}")
        learned = np.isfinite(self.own).all(axis=1)
        wrong = ~np.isin(self.partners, np.arange(-1, d)) | (self.partners == np.arange(d)[:, None])
        if wrong.any() or (np.isfinite(self.log_size).any(axis=1) & ~learned).any():
            raise ValueError("partners of features that there are not, or sizes without a law")
        # A model file has no infinities: a feature that has a law, but no range of sizes, is exact.
        self.log_size[learned & np.isnan(self.log_size).any(axis=1)] = -np.inf
        self.own[~learned] = np.nan

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SizeModel):
            return False
        mine, theirs = vars(self).values(), vars(other).values()
        return all(np.array_equal(a, b, equal_nan=True) for a, b in zip(mine, theirs, strict=True))

    __hash__ = None  # type: ignore[assignment]

    @classmethod
    def learn(cls, values: Floats, std: Floats) -> Self:
        """From rows with NaN for what is missing among values and error bars, (n, d) each."""
        d = values.shape[1]
        known = ~np.isnan(values) & (std > 0.0)
        log_value, own = np.zeros((d, 4)), np.full((d, 4), np.nan)
        log_size = np.full((d, 2), np.nan)
        log_std = np.log(np.where(known, std, 1.0))
        residuals = np.zeros(values.shape)
        for j in range(d):
            rows = known[:, j]
            if not rows.any():
                if (std[:, j] == 0.0).any():
                    own[j], log_size[j] = 0.0, -np.inf
                continue
            target = log_std[rows, j]
            log_value[j] = _scale(values[rows, j])
            basis = _basis(values[rows, j], log_value[j])
            penalty = RIDGE * np.diag([0.0, 1.0, 1.0])
            own[j, :3] = np.linalg.solve(basis.T @ basis + penalty, basis.T @ target)
            residuals[rows, j] = target - basis @ own[j, :3]
            own[j, 3] = _smearing(residuals[rows, j])
            log_size[j] = target.min(), target.max()
        partners, shared = _partners(residuals, known)
        return cls(_rounded(log_value), _rounded(own), _rounded(log_size), partners, _rounded(shared))

    @property
    def learned(self) -> Booleans:
        """Which features have a law."""
        return ~np.isnan(self.own[:, 0])

    def filled(self, values: Floats, std: Floats) -> Floats:
        """The error bars, with a size for every NaN whose value is there and whose feature has a law."""
        absent = np.isnan(std) & ~np.isnan(values) & self.learned
        if not absent.any():
            return std
        usual = np.zeros(values.shape)
        for j in np.flatnonzero(np.isfinite(self.log_size[:, 0])).tolist():
            usual[:, j] = _basis(values[:, j], self.log_value[j]) @ self.own[j, :3]
        positive = std > 0.0
        filled = np.array(std)
        for j in np.flatnonzero(absent.any(axis=0)).tolist():
            rows = np.flatnonzero(absent[:, j])
            log_variance = 2.0 * usual[rows, j] + self.own[j, 3]
            for partner, (slope, smearing) in reversed(
                [*zip(self.partners[j].tolist(), self.shared[j].tolist(), strict=True)]
            ):
                here = positive[rows, partner] & ~np.isnan(values[rows, partner])
                if partner < 0 or not here.any():
                    continue
                residual = np.log(std[rows[here], partner]) - usual[rows[here], partner]
                log_variance[here] = 2.0 * (usual[rows[here], j] + slope * residual) + smearing
            filled[rows, j] = np.exp(np.clip(log_variance / 2.0, *self.log_size[j]))
        return filled


def target_sizes(y: Floats, y_std: Floats) -> SizeModel:
    """Return the model of sizes of error bars of targets; NullError if there are none."""
    known = np.flatnonzero(~np.isnan(y_std))
    if not len(known):
        raise NullError("target_std: no row has an error bar of its target; leave target_std out")
    some = known[np.argsort(mixed(known.astype(np.uint64)), kind="stable")[:MOST_ROWS]]
    return SizeModel.learn(y[some, None], y_std[some, None])


def fill_target_sizes(y: Floats, y_std: Floats, model: SizeModel | None = None) -> Floats:
    """Return the standard deviations of targets, with sizes for NaN."""
    if not np.isnan(y_std).any():
        return y_std
    model = target_sizes(y, y_std) if model is None else model
    return model.filled(y[:, None], y_std[:, None])[:, 0]


def _scale(values: Floats) -> Floats:
    """Centre and spread of log |x|, and its range."""
    sizes = np.abs(values)
    positive = sizes[sizes > 0.0]
    floor = FLOOR * float(np.median(positive)) if positive.size else 1.0
    logs = np.log(np.maximum(sizes, max(floor, np.finfo(float).tiny)))
    spread = float(logs.std())
    return np.array([logs.mean(), spread if spread > 0.0 else 1.0, logs.min(), logs.max()])


def _basis(values: Floats, scale: Floats) -> Floats:
    """1, l and l^2; zero has the smallest l, and so has what is missing."""
    centre, spread, low, high = scale
    with np.errstate(divide="ignore"):
        logs = np.clip(np.log(np.abs(np.nan_to_num(values))), low, high)
    scaled = (logs - centre) / spread
    return np.stack([np.ones_like(scaled), scaled, scaled**2], axis=1)


def _partners(residuals: Floats, known: Booleans) -> tuple[Ints, Floats]:
    """For every feature the others whose residuals tell most of its own, the slopes on them, and smearing."""
    d = residuals.shape[1]
    partners, shared = np.full((d, PARTNERS), -1), np.zeros((d, PARTNERS, 2))
    marks = known.astype(np.float64)
    common = marks.T @ marks
    products = residuals.T @ residuals
    squares = (residuals**2).T @ marks  # [j, k]: of j, in rows that have both
    with np.errstate(invalid="ignore", divide="ignore"):
        correlation = np.nan_to_num(np.abs(products) / np.sqrt(squares * squares.T))
    np.fill_diagonal(correlation, 0.0)
    correlation[(common < COMMON_ROWS) | (correlation < CORRELATION)] = 0.0
    order = np.argsort(-correlation, axis=1, kind="stable")[:, :PARTNERS]
    for j in range(d):
        for place, k in enumerate(order[j].tolist()):
            if correlation[j, k] == 0.0:
                break
            slope = products[j, k] / (squares[k, j] * (1.0 + RIDGE / common[j, k]))
            both = known[:, j] & known[:, k]
            partners[j, place] = k
            shared[j, place] = slope, _smearing(residuals[both, j] - slope * residuals[both, k])
    return partners, shared


def _smearing(residuals: Floats) -> float:
    """log mean exp(2 r)."""
    most = float(residuals.max())
    return 2.0 * most + float(np.log(np.mean(np.exp(2.0 * (residuals - most)))))


def _rounded(numbers: Floats) -> Floats:
    """To nine digits, so that the order of sums does not show."""
    flat = [float(f"{number:.9g}") for number in numbers.ravel().tolist()]
    return np.array(flat).reshape(numbers.shape)
