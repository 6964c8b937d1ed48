"""Rows as they would have been read with larger or smaller errors, for the re-measured learners.

Larger errors are exact: noise is added to the reading. Smaller ones need the true value, which is drawn from
its posterior given the reading *and the target*: from the distribution of the row's class, or from the
joint distribution of features and target. Draws that ignored the target would blur the classes and flatten
slopes. Exact features of zeros and ones belong to these distributions, too: they tell populations apart.

A row of several components, mean m, is a reading whose error is one of them: m - z = (m - x_c) + e,
e ~ N(0, S_c). With errors f times as large it would have been (MATH.md 7.4)

    x' = m + (f - 1)(m - x_c) + sqrt(f^2 - 1) S_c^(1/2) eps,

c by its weight in the row, or given what the denoiser knows of true values; for f < 1
x' = z + f (m - x_c + e). The copy has the components x' + f (x_c - m) with errors f times as large.
"""

from __future__ import annotations

from typing import TypeAlias, TypeGuard
from zlib import crc32

import numpy as np

from .._data.array import GaussianArray
from .._data.incomplete import GaussianRows, Incomplete, filled_gaussians, hstack, missing_mask
from .._data.mixture_array import MixtureArray
from .._data.typing import Booleans, Floats, Ints, Labels
from ._denoiser import GaussianDenoiser

FEW = 20
"""Classes of fewer rows take the distribution of all rows."""
OTHERS = -1
"""In the place of the code of such a class."""
ROWS_PER_COMPONENT = 50
"""Rows that each Gaussian of a denoiser must have at least."""
MANY_ROWS = 20_000
"""Rows that a denoiser learns from at most: a handful of Gaussians needs no more."""
PASS_WORK = 2e9
"""Rows times features cubed times Gaussians of a denoiser: one more would make its passes take seconds. One
Gaussian alone is a factor analysis where that is too many, see `GaussianDenoiser`."""

Rows: TypeAlias = GaussianRows
Random: TypeAlias = np.random.RandomState


class Readings:
    """Rows that can be read again; gaps stay gaps."""

    def __init__(self, rows: Rows, random: Random, truth: GaussianArray | None = None) -> None:
        self.missing = rows.missing if isinstance(rows, Incomplete) else None
        whole = filled_gaussians(rows)
        self.mixtures = whole if is_mixed(whole) else None
        self.rows = whole.components if is_mixed(whole) else whole.collapse("gaussian")
        self.means = whole.means
        self.random = random
        self.truth = truth
        self.diagonal = self.rows.kind in ("zero", "diagonal", "isotropic")
        self.spread = self.rows._deviations() if self.diagonal else self.rows.covariances()
        if self.missing is not None and not self.diagonal:  # what stands under gaps moves nothing
            parts = 1 if self.mixtures is None else np.diff(self.mixtures.offsets)
            there = ~np.repeat(self.missing, parts, axis=0)
            self.spread = np.where(there[:, :, None] & there[:, None, :], self.spread, 0.0)
        if not (self.diagonal or np.tril(self.spread, -1).any()):  # variances that are written as matrices
            self.diagonal, self.spread = True, np.sqrt(np.diagonal(self.spread, axis1=1, axis2=2))
        self.roots = self.spread if self.diagonal else _symmetric_roots(self.spread)

    def again(self, factors: Floats) -> Rows:
        """The rows as read with errors of these sizes, (n, d), in units of these sizes."""
        truth, off, own = self.truth, np.zeros((1, 1)), np.arange(len(self.means))
        if self.mixtures is not None:
            weighted = truth if isinstance(truth, MixtureArray) else self.mixtures
            own = drawn_components(weighted, self.random)
            off = self.means - self.rows.means[own]
            truth = truth.components[own] if isinstance(truth, MixtureArray) else truth
        noise = self._noise(own)
        more = np.sqrt(np.maximum(factors**2 - 1.0, 0.0))
        smaller = factors < 1.0
        if not self.diagonal:  # noise of features that belong together comes from one reading
            smaller = np.broadcast_to(smaller.any(axis=1, keepdims=True), smaller.shape)
        means = self.means + (factors - 1.0) * off + more * noise
        if truth is not None and smaller.any():
            read = truth.sample(1, self.random).means + factors * (off + noise)
            means = np.where(smaller, read, means)
        copy = self._copy(means, factors, smaller)._named(self.rows.feature_names)
        return copy if self.missing is None else Incomplete(copy, self.missing)

    def _noise(self, own: Ints) -> Floats:
        """Errors of one reading of each row, its components being `own`, drawn by the names of features."""
        seed, names = self.random.randint(2**31 - 1), self.rows.feature_names or range(self.rows.n_features)
        streams = (np.random.default_rng([seed, crc32(str(name).encode())]) for name in names)
        normal = np.stack([one.standard_normal(len(own)) for one in streams], axis=1)
        roots = self.roots[own]
        return roots * normal if self.diagonal else np.einsum("nij,nj->ni", roots, normal)

    def _copy(self, means: Floats, factors: Floats, smaller: Booleans) -> GaussianArray:
        if self.mixtures is not None:
            of_row = np.repeat(np.arange(len(means)), np.diff(self.mixtures.offsets))
            means, factors, smaller = means[of_row], factors[of_row], smaller[of_row]
            means = means + factors * (self.rows.means - self.means[of_row])
        if self.diagonal:
            copy = GaussianArray(means, std=factors * self.spread)
        else:
            more = np.sqrt(np.maximum(factors**2 - 1.0, 0.0))
            larger = self.spread + more[:, :, None] * self.spread * more[:, None, :]
            scaled = factors[:, :, None] * self.spread * factors[:, None, :]
            copy = GaussianArray(means, cov=np.where(smaller[:, :1, None], scaled, larger))
        if self.mixtures is None:
            return copy
        return MixtureArray(self.mixtures.weights, copy, offsets=self.mixtures.offsets)


def _symmetric_roots(covariances: Floats) -> Floats:
    """S^(1/2) = V sqrt(lambda) V', which depends on neither how S is written nor the order of features."""
    values, vectors = np.linalg.eigh(covariances)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :] @ vectors.transpose(0, 2, 1))


def drawn_components(rows: MixtureArray, random: Random) -> Ints:
    """The number of one component of every row, drawn by its weight."""
    ends, offsets = np.cumsum(rows.weights), rows.offsets
    before = np.concatenate([[0.0], ends])[offsets[:-1]]
    share = before + random.uniform(size=len(rows)) * (ends[offsets[1:] - 1] - before)
    drawn: Ints = np.clip(np.searchsorted(ends, share, side="right"), offsets[:-1], offsets[1:] - 1)
    return drawn


class TruthOfClasses:
    """p(z | x, class): a denoiser for every class of at least 20 rows that has every feature, and one of all
    rows."""

    def __init__(
        self, rows: Rows, codes: Labels, weights: Floats | None, n_components: int, random: Random
    ) -> None:
        found, counts = np.unique(codes, return_counts=True)
        missing = missing_mask(rows)
        known = [not missing[codes == code].all(axis=0).any() for code in found]
        self.own = found[(counts >= FEW) & known]
        members = {code: np.flatnonzero(codes == code) for code in self.own.tolist()}
        if len(self.own) < len(found):
            members[OTHERS] = np.arange(len(rows))
        self.denoisers = {
            code: _denoiser(rows, part, weights, n_components, random) for code, part in members.items()
        }

    def posterior(self, rows: Rows, codes: Labels) -> GaussianArray:
        keys = np.where(np.isin(codes, self.own), codes.astype(np.int64), OTHERS)  # codes have no sign
        parts = {key: np.flatnonzero(keys == key) for key in np.unique(keys).tolist()}
        found = [self.denoisers[key].transform(rows[part]) for key, part in parts.items()]
        return GaussianArray.concat(found)[np.argsort(np.concatenate(list(parts.values())))]


class TruthOfTargets:
    """p(z | x, y): a denoiser of features and target together; the target is exact."""

    def __init__(
        self, rows: Rows, y: Floats, weights: Floats | None, n_components: int, random: Random
    ) -> None:
        self.denoiser = _denoiser(_joint(rows, y), np.arange(len(y)), weights, n_components, random)

    def posterior(self, rows: Rows, y: Floats) -> GaussianArray:
        return self.denoiser.transform(_joint(rows, y))[:, : rows.n_features]


Truth: TypeAlias = TruthOfClasses | TruthOfTargets


def _joint(rows: Rows, y: Floats) -> Rows:
    return hstack([rows._named(None), GaussianArray(y[:, None])])


def _denoiser(
    rows: Rows, part: Ints, weights: Floats | None, n_components: int, random: Random
) -> GaussianDenoiser:
    """Fitted to these rows, or to some of them where they are many."""
    if len(part) > MANY_ROWS:
        part = np.sort(random.choice(part, MANY_ROWS, replace=False))
    work = len(part) * float(rows.n_features) ** 3
    most = max(1, min(n_components, len(part) // ROWS_PER_COMPONENT, int(PASS_WORK / work)))
    denoiser = GaussianDenoiser(most, tol=1e-4, random_state=random.randint(2**31 - 1))
    return denoiser.fit(rows[part], sample_weight=None if weights is None else weights[part])


def drawn_factors(
    shape: tuple[int, int], ends: tuple[float, float], per_feature: float, random: Random
) -> Floats:
    """Factors (n, d), log-uniform between the ends: one for a row, or, in a share of rows, for some features.

    There the number of features that have the row's factor is uniform too, and the others have 1: worse
    errors come from one instrument, or one bad night, and leave the rest as it was. Rejected: a factor per
    feature, two points worse at a common factor of 2, and two where half of the features get worse.
    """
    low, high = np.log(ends)
    of_rows = random.uniform(low, high, (shape[0], 1))
    some = random.uniform(size=shape) < random.uniform(size=(shape[0], 1))
    each = random.uniform(size=(shape[0], 1)) < (per_feature if shape[1] > 1 else 0.0)
    return np.exp(np.where(each & ~some, 0.0, of_rows))


def is_mixed(rows: GaussianArray) -> TypeGuard[MixtureArray]:
    """Has a row several components?"""
    return isinstance(rows, MixtureArray) and len(rows.components) > len(rows)
