"""Factors of error bars, by repeated readings or a denoiser.

Repeated readings need no model: with stated errors s_gi of readings x_gi of one true value z_g, of which
there are N in G groups, and with weights p_gi = 1 / s_gi^2,

    Q = sum_gi p_gi (x_gi - mean_g)^2 = k^2 chi2_(N - G),    k^2 = Q / (N - G)

Single readings tell k by their scatter around what the row's other features predict: it must grow with the
stated error as k^2 s^2 (see `profile`). The factors of the other features are part of that prediction, so all
are estimated in turns, and the denoiser is fitted again with the errors that they make.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from scipy.stats import chi2

from .._base.folds import Fold, split
from .._data.array import GaussianArray
from .._data.groups import Groups
from .._data.incomplete import GaussianRows, filled_gaussians, like, missing_mask
from .._data.typing import Floats, Ints
from .._held_out.equal import together
from ..exceptions import ConvergenceWarning
from ..preprocessing import GaussianDenoiser
from .profile import Conditional, Interval, Profile, conditionals

FOLDS = 5
TURNS = 4
CLOSE = 0.03
"""Factors that changed by less (relative) are settled."""
MOST_ROWS = 5_000
"""More rows are drawn from: of so many k is known to two percent, where it is known at all."""
LEAST_ROWS = 20
ALIKE = 1e-6
"""Relative spread of error bars up to which they are all the same."""
DOUBT = 1e-3
"""A misfit of the model less likely than this puts its factor in doubt."""

FEW_FAR = 1.25
"""Replicates whose median difference says a factor smaller by this have outliers."""

LEVELS = (0.68, 0.95, 0.999)


class Found(NamedTuple):
    """Estimate of the factor of one feature."""

    factor: float
    intervals: tuple[Interval, ...]
    """At `LEVELS`."""
    by: Literal["replicates", "model", ""]
    note: str = ""
    doubtful: bool = False
    """Whether the note is a reason not to believe the factor."""

    def is_off(self, tolerated: float) -> bool:
        """True if errors differ from error bars by more than this factor."""
        lower, upper = self.intervals[-1]
        wrong = (self.factor > tolerated and lower > 1.0) or (self.factor < 1.0 / tolerated and upper < 1.0)
        return wrong and not self.doubtful


NOTHING = (Interval(0.0, np.inf),) * len(LEVELS)


def unknown(note: str) -> Found:
    """A factor that the rows do not tell."""
    return Found(float("nan"), NOTHING, "", note)


def by_replicates(rows: GaussianRows, groups: Groups) -> list[Found | None]:
    """Factor of every feature; None without groups of two readings."""
    gaussians = filled_gaussians(rows)
    std = gaussians._deviations()
    known = (std > 0.0) & ~missing_mask(rows)
    found: list[Found | None] = []
    for j in range(gaussians.n_features):
        at = np.flatnonzero(known[:, j])
        _, codes = np.unique(groups.codes[at], return_inverse=True)
        freedom = len(at) - (int(codes.max()) + 1 if len(at) else 0)
        if freedom < 1:
            found.append(None)
            continue
        precision = 1.0 / std[at, j] ** 2
        x = gaussians.means[at, j]
        totals = np.bincount(codes, weights=precision)
        off = x - (np.bincount(codes, weights=precision * x) / totals)[codes]
        squares = float(precision @ off**2)
        ends = [chi2.ppf([(1 + level) / 2, (1 - level) / 2], freedom) for level in LEVELS]
        intervals = tuple(Interval(*map(float, np.sqrt(squares / end))) for end in ends)
        note = f"{freedom + codes.max() + 1:,} readings of {codes.max() + 1:,} objects"
        # Of one reading the difference to the mean has the variance k^2 s^2 (1 - p / sum p).
        alone = precision >= (1.0 - 1e-9) * totals[codes]
        share = 1.0 - (precision / totals[codes])[~alone]
        middle = np.median(np.abs(off[~alone]) * np.sqrt(precision[~alone] / share)) / 0.6745
        if middle < np.sqrt(squares / freedom) / FEW_FAR:
            note += f"; a few are far off: by the median difference the factor is {middle:.2g}"
        found.append(Found(float(np.sqrt(squares / freedom)), intervals, "replicates", note))
    return found


def by_model(
    rows: GaussianRows,
    *,
    n_components: int | Literal["auto"] = "auto",
    groups: Groups | None = None,
    weights: Floats | None = None,
    most_rows: int = MOST_ROWS,
    random_state: int = 0,
) -> list[Found]:
    """Factor of every feature, by held-out likelihood under a denoiser."""
    counted = np.arange(len(rows)) if weights is None else np.flatnonzero(weights > 0.0)
    if len(counted) > most_rows:
        counted = np.sort(np.random.default_rng(random_state).permutation(counted)[:most_rows])
    rows, weights = rows[counted], None if weights is None else weights[counted]
    groups = None if groups is None else groups.take(counted)
    groups = together(rows, groups).groups
    rows = _standardised(rows)
    std = np.where(missing_mask(rows), np.nan, filled_gaussians(rows)._deviations())
    found = [_not_told(of_feature) for of_feature in std.T]
    count = len(rows) if groups is None else groups.count
    if count < 2 * FOLDS:
        few = unknown(f"too few rows or groups for a model of them ({count})")
        return [few if f is None else f for f in found]
    read = np.flatnonzero((~np.isnan(std)).sum(axis=0) >= LEAST_ROWS)
    asked = [k for k, j in enumerate(read) if found[j] is None]
    if asked:
        folds = split(len(rows), np.random.RandomState(random_state), folds=FOLDS, groups=groups)
        count = _components(rows[:, read], n_components, weights, random_state)
        held_out = _HeldOut(rows[:, read], folds, groups, weights, count, random_state)
        for k, profile in held_out.profiles(asked).items():
            found[read[k]] = _told(profile, std[held_out.order, read[k]])
    few = unknown("too few readings for a model of them")
    return [few if f is None else f for f in found]


@dataclass(frozen=True)
class _HeldOut:
    """Rows, and the folds that hold each of them out once."""

    rows: GaussianRows
    folds: Sequence[Fold]
    groups: Groups | None
    weights: Floats | None
    components: int
    random_state: int

    @property
    def order(self) -> Ints:
        """The rows in the order in which they are held out."""
        return np.concatenate([fold.test for fold in self.folds])

    def profiles(self, asked: Sequence[int]) -> dict[int, Profile]:
        """Factors of features, each given the estimates of the others."""
        factors = np.ones(self.rows.n_features)
        for _ in range(TURNS):
            laws = self._laws(factors)
            profiles = {j: self._profile(laws[j]) for j in asked}
            before = factors.copy()
            for j, profile in profiles.items():
                factors[j] = np.clip(profile.factor, 0.1, 10.0)
            if np.all(np.abs(factors / before - 1.0) < CLOSE):
                break
        return profiles

    def _laws(self, factors: Floats) -> list[Conditional]:
        """Conditional law of every feature, by denoisers of other rows."""
        scaled = _scaled(self.rows, factors)
        parts = []
        for fold in self.folds:
            denoiser = GaussianDenoiser(self.components, tol=1e-5, random_state=self.random_state)
            _quietly(denoiser, scaled[fold.train], None if self.weights is None else self.weights[fold.train])
            parts.append(conditionals(denoiser, self.rows[fold.test], factors))
        return [Conditional.concat(of_feature) for of_feature in zip(*parts, strict=True)]

    def _profile(self, law: Conditional) -> Profile:
        there, order = ~np.isnan(law.reading), self.order
        weights = None if self.weights is None else self.weights[order][there]
        clusters = None
        if self.groups is not None:
            clusters = np.unique(self.groups.codes[order][there], return_inverse=True)[1]
        return Profile(law.take(there), weights, clusters)


def _standardised(rows: GaussianRows) -> GaussianRows:
    """Rows in units of the spread of the features, to avoid overflow."""
    gaussians = filled_gaussians(rows)
    known = ~missing_mask(rows)
    center = np.average(gaussians.means, axis=0, weights=known + 1e-300)
    spread = np.sqrt(np.average((gaussians.means - center) ** 2, axis=0, weights=known + 1e-300))
    scale = np.where(spread > 0.0, spread, 1.0)
    means = np.where(known, (gaussians.means - center) / scale, 0.0)
    if gaussians.kind in ("zero", "isotropic", "diagonal"):
        moved = GaussianArray(means, std=gaussians._deviations() / scale)
    else:
        moved = GaussianArray(means, cov=gaussians.covariances() / np.outer(scale, scale))
    return like(rows, moved)


def _scaled(rows: GaussianRows, factors: Floats) -> GaussianRows:
    """The rows with errors k times as large."""
    gaussians = filled_gaussians(rows)
    if gaussians.kind == "diagonal":
        return like(rows, GaussianArray(gaussians.means, std=factors * gaussians._deviations()))
    cov = factors[:, None] * gaussians.covariances() * factors
    return like(rows, GaussianArray(gaussians.means, cov=cov))


def _not_told(std: Floats) -> Found | None:
    """Why error bars like these tell no factor; None if they might."""
    known = std[~np.isnan(std)]
    if not known.size or not known.any():
        return unknown("no error bars")
    if np.ptp(known) > ALIKE * known.max():
        return None
    return unknown("not identified: all rows have the same error bar")


def _components(
    rows: GaussianRows, n_components: int | Literal["auto"], weights: Floats | None, random_state: int
) -> int:
    most = max(1, min(5, len(rows) // 200))
    if n_components != "auto" or most == 1:
        return 1 if n_components == "auto" else n_components
    denoiser = GaussianDenoiser("auto", max_components=most, tol=1e-4, random_state=random_state)
    return int(_quietly(denoiser, rows, weights).n_components_)


def _quietly(denoiser: GaussianDenoiser, rows: GaussianRows, weights: Floats | None) -> GaussianDenoiser:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # held-out rows judge it
        return denoiser.fit(rows, sample_weight=weights)


def _told(profile: Profile, std: Floats) -> Found:
    adjustment = profile.adjustment()
    intervals = tuple(profile.interval(level, adjustment) for level in LEVELS)
    if not np.isfinite(intervals[1].upper):
        return unknown("not identified: the error bars are too small, or nearly equal")
    if profile.misfit(std[~np.isnan(std)]) < DOUBT:
        note = "doubtful: true values differ between rows with small and large error bars"
        return Found(profile.factor, intervals, "model", note, doubtful=True)
    return Found(profile.factor, intervals, "model")
