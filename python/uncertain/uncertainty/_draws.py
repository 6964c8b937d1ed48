"""Mixtures of Gaussians from draws, quantiles and densities on a grid."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from .._data.draws import N_COMPONENTS, Lists, fitted_mixtures, lists_from
from .._data.groups import groups_from
from .._data.mixture_array import MixtureArray
from .._data.numbers import first_place, float_array, refuse_not_finite, refuse_where
from .._data.options import refuse_if
from .._data.typing import Floats, Ints
from ..exceptions import ShapeError, UncertainError

Prior: TypeAlias = ArrayLike | Sequence[ArrayLike] | Callable[[Floats], ArrayLike]
QUANTILES = 512
"""Points of equal probability that stand for a distribution known by some of its quantiles."""


def from_draws(
    draws: object,
    n_components: N_COMPONENTS = "auto",
    prior: Prior | None = None,
    *,
    by: ArrayLike | None = None,
    feature_names: Iterable[str] | None = None,
    n_jobs: int | None = None,
) -> MixtureArray:
    """Return draws of every row, such as chains, as mixtures of Gaussians.

    Every row gets a mixture, fitted to its draws by EM. With ``n_components="auto"`` a further
    component is kept if draws that the fit has not seen (alternating tenths of the row's) become more likely
    by it, up to 4. The fit is deterministic.

    Parameters
    ----------
    draws : array of shape (n, m) or (n, m, d), or n array-likes of shape (m_i,) or (m_i, d)
        m draws of one feature or, drawn together, of d features: their correlations are kept. Also a
        list-typed column (polars, pyarrow), or with `by` all draws below each other, shape (N,) or (N, d).
    n_components : int or "auto"
        Components of every row. Rows whose draws are too few for them (5 for each number of a component) get
        fewer, which is said once.
    prior : array-like like `draws` without the features, or callable, optional
        The density, up to a factor, of the prior under which the draws were made, at every draw; it is
        divided out: draws count with weights 1 / prior. A callable gets all draws, (N, d), and gives (N,).
        The result is then the likelihood of the true value, which is what the library's models of measurement
        error expect: they bring a prior, learned from all rows.
    by : array-like of shape (N,), optional
        The row of every draw, for draws below each other; rows are in order of appearance.
    feature_names : list of d different str, optional
        As of a `GaussianArray`.
    n_jobs : int, optional
        Threads.

    Returns
    -------
    MixtureArray
        Components with full covariances (of one feature: variances). Posterior draws are measurement error,
        realisations of a population spread.

    Raises
    ------
    UncertainError
        For a row with less than two draws, NaN or infinity, a prior that is zero, negative or not finite at a
        draw: with row, draw and value.

    Examples
    --------
    >>> import numpy as np
    >>> from uncertain.uncertainty import from_draws
    >>> random = np.random.default_rng(0)
    >>> low, high = random.normal(0.4, 0.05, 1000), random.normal(2.1, 0.2, 1000)
    >>> X = from_draws([np.where(random.random(1000) < 0.3, high, low), random.normal(0.9, 0.1, 500)])
    >>> X
    MixtureArray(2 rows x 1 features, 3 components with diagonal covariances)
    >>> X.weights.round(1)
    array([0.7, 0.3, 1. ])
    """
    order = None
    if by is None:
        values, offsets = lists_from(draws, "draws")
    else:
        values = float_array(cast(ArrayLike, draws), "draws")
        wrong = values.ndim not in (1, 2) or 0 in values.shape
        refuse_if(wrong, f"draws: expected shape (N,) or (N, d) with by=, got {values.shape}", ShapeError)
        order, offsets = _order(by, len(values))
        values = values.reshape(len(values), -1)[order]
    weights = None if prior is None else _inverse_prior(prior, values, offsets, order)
    return fitted_mixtures(Lists(values, offsets), weights, n_components, "draws", feature_names, n_jobs)


def from_quantiles(
    q: ArrayLike,
    values: ArrayLike,
    n_components: N_COMPONENTS = "auto",
    *,
    feature_names: Iterable[str] | None = None,
) -> MixtureArray:
    """Return quantiles of every row as mixtures of Gaussians.

    Between the quantiles, and beyond them, the distribution is taken as piecewise normal: x is a continuous
    function of z, linear between the normal quantiles z of `q` and going on as in the outer two.

    Parameters
    ----------
    q : array-like of shape (k,)
        Ascending probabilities in (0, 1), k >= 2.
    values : array-like of shape (n, k)
        The quantiles of every row, ascending.
    n_components : int or "auto"
        "auto": as many, up to 4, as raise the mean log density by more than .002.
    feature_names : list of one str, optional
        As of a `GaussianArray`.

    Returns
    -------
    MixtureArray
        One feature; stack features with `GaussianArray.hstack`.

    Raises
    ------
    UncertainError
        For quantiles that descend, are NaN or infinite (with row and value), and probabilities that do not
        ascend.

    Examples
    --------
    >>> from uncertain.uncertainty import from_quantiles
    >>> X = from_quantiles([0.16, 0.5, 0.84], [[0.9, 1.0, 1.3]])
    >>> X.means.round(2)
    array([[1.08]])
    """
    levels, x = float_array(q, "q"), float_array(values, "values")
    ascending = levels.ndim == 1 and len(levels) > 1 and np.all(np.diff(levels, prepend=0.0, append=1.0) > 0)
    wanted = "two or more ascending probabilities in (0, 1)"
    refuse_if(not ascending, f"q = {levels.tolist()}: must be {wanted}")
    _check_columns(x, len(levels), "values", "probability")
    refuse_not_finite(x, "values", "row", "quantile")
    found = first_place(np.diff(x, axis=1) < 0, "row", "quantile")
    if found:
        (row, k), place = found
        raise UncertainError(
            f"values: {place}: quantiles must ascend, but {x[row, k + 1]} follows {x[row, k]}; sort both"
        )
    z = ndtri((np.arange(QUANTILES) + 0.5) / QUANTILES)
    # x is linear in z between the quantiles, and goes on as in the outer two.
    nodes = ndtri(levels)
    left = np.clip(np.searchsorted(nodes, z) - 1, 0, len(nodes) - 2)
    share = (z - nodes[left]) / (nodes[left + 1] - nodes[left])
    draws = x[:, left] * (1 - share) + x[:, left + 1] * share
    offsets = np.arange(0, x.shape[0] * QUANTILES + 1, QUANTILES)
    return fitted_mixtures(
        Lists(draws.reshape(-1, 1), offsets), None, n_components, "shape", feature_names, None
    )


def from_pdf(
    grid: ArrayLike,
    density: ArrayLike,
    n_components: N_COMPONENTS = "auto",
    *,
    feature_names: Iterable[str] | None = None,
) -> MixtureArray:
    """Return densities on a grid, such as p(z), as mixtures of Gaussians.

    Parameters
    ----------
    grid : array-like of shape (m,)
        Ascending values of the feature.
    density : array-like of shape (n, m)
        p(value) of every row, up to a factor.
    n_components : int or "auto"
        "auto": as many, up to 4, as raise the mean log density by more than .002.
    feature_names : list of one str, optional
        As of a `GaussianArray`.

    Returns
    -------
    MixtureArray
        One feature.

    Raises
    ------
    UncertainError
        For densities that are negative, NaN or infinite, or zero everywhere (with row and value), and a grid
        that does not ascend.

    Examples
    --------
    >>> import numpy as np
    >>> from uncertain.uncertainty import from_pdf
    >>> z = np.linspace(0, 4, 401)
    >>> p = 0.7 * np.exp(-((z - 0.4) ** 2) / 0.02) / 0.1 + 0.3 * np.exp(-((z - 2.1) ** 2) / 0.08) / 0.2
    >>> from_pdf(z, [p]).weights.round(2)
    array([0.7, 0.3])
    """
    x, p = float_array(grid, "grid"), float_array(density, "density")
    ascending = x.ndim == 1 and len(x) > 1 and np.all(np.diff(x) > 0)
    refuse_if(not ascending, "grid: must be one ascending list of two or more numbers", ShapeError)
    _check_columns(p, len(x), "density", "value of the grid")
    refuse_not_finite(p, "density", "row", "value")
    refuse_where(p < 0, p, "density", "a density is never negative", axes=("row", "value"))
    empty = np.flatnonzero(~(p > 0).any(axis=1))
    if len(empty):
        raise UncertainError(f"density: row {empty[0]} is zero everywhere; leave the row out")
    weights = p * np.gradient(x)
    offsets = np.arange(0, p.size + 1, len(x))
    draws = np.tile(x, len(p)).reshape(-1, 1)
    return fitted_mixtures(Lists(draws, offsets), weights.ravel(), n_components, "shape", feature_names, None)


def _check_columns(values: Floats, n_columns: int, what: str, column: str) -> None:
    wrong = values.ndim != 2 or values.shape[1] != n_columns
    expected = f"expected shape (n, {n_columns}), one column per {column}"
    refuse_if(wrong, f"{what}: {expected}, got {values.shape}", ShapeError)


def _order(by: ArrayLike, n: int) -> tuple[Ints, Ints]:
    """The order of draws row by row, and the offsets."""
    keys = np.asarray(by)
    refuse_if(
        keys.shape != (n,), f"by: expected {n} values, one per draw, got shape {keys.shape}", ShapeError
    )
    codes = groups_from(keys, "by", n)
    order = np.argsort(codes, kind="stable")
    return order, np.concatenate([[0], np.cumsum(np.bincount(codes))]).astype(np.int64)


def _inverse_prior(prior: Prior, values: Floats, offsets: Ints, order: Ints | None) -> Floats:
    if callable(prior):
        p = np.asarray(prior(values), dtype=np.float64).ravel()
    elif order is not None:
        p = float_array(cast(ArrayLike, prior), "prior").ravel()
        p = p[order] if len(p) == len(order) else p
    else:
        p = lists_from(np.asarray(prior) if isinstance(prior, np.ndarray) else prior, "prior").values.ravel()
    wrong = p.shape != (len(values),)
    refuse_if(wrong, f"prior: expected {len(values)} densities, one per draw, got {p.shape}", ShapeError)
    bad = np.flatnonzero(~((p > 0) & (p < np.inf)))
    if len(bad):
        row = int(np.searchsorted(offsets, bad[0], side="right")) - 1
        raise UncertainError(
            f"prior: row {row}, draw {bad[0] - offsets[row]} has the density {p[bad[0]]}, which must be > 0. "
            "Pass the prior that the draws were made with"
        )
    # Within a row only ratios count.
    least = np.minimum.reduceat(p, offsets[:-1])
    return np.asarray(np.repeat(least, np.diff(offsets)) / p)
