"""Error bars that can hardly be meant: all zero, far beyond the scatter of the values, or variances.

A look at a sample of the rows that a fit has read, without a model of true values (`check_errors` has one).

- A reading is its true value plus noise, so values scatter at least as much as their errors are large. Errors
  of `BEYOND` times that are wrong, or in another unit.
- Variances taken for standard deviations: with residuals r of a linear regression on the other features, and
  e the error variance that they should have by the column (of this feature and, by the coefficients, of the
  others),

  .. code-block:: text

      as standard deviations   r_i ~ N(0, T + a e_i(s_i^2))     T, a >= 0 free
      as variances             r_i ~ N(0, T + e_i(s_i))         T >= 0 free

  The second law has the right size by itself, so that it must explain the rows better by `EVIDENCE` than the
  first one, for all features together, although that has a free factor. Errors in proportion to the value
  follow the first law with some factor and pass.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.optimize import minimize

from .._data.incomplete import GaussianRows, filled_gaussians, missing_mask
from .._data.typing import Booleans, Floats
from .._tables.columns import listing

BEYOND = 3.0
"""Errors of readings that are this many times the scatter of the values."""
BEYOND_SPREAD = 1_000.0
"""Doubts about populations, whose means may lie close together."""
EVIDENCE = 10.0
"""Difference of log likelihoods."""
FEWEST_ROWS = 100
"""With fewer rows variances are not looked for."""
FEWEST_REPEATED = 20
"""Rows in which repeated readings are looked for, at least."""
REPEATED = 0.5
"""Share of rows that others repeat."""
MOST_FEATURES = 30
"""With more features neither: it would take longer than a fast fit."""


def doubtful_errors(
    rows: GaussianRows, names: Sequence[str], with_bars: Booleans, *, measured: bool
) -> list[str]:
    """Sentences about error bars that can hardly be meant.

    `with_bars`: has the feature an error column? `measured`: are rows readings of true values?
    """
    x = filled_gaussians(rows).means
    std = np.sqrt(np.maximum(np.diagonal(filled_gaussians(rows).covariances(), axis1=1, axis2=2), 0.0))
    present = ~missing_mask(rows)
    zero, large = [], []
    for j, name in enumerate(names):
        known = present[:, j]
        if known.sum() < 2:
            continue
        typical, scatter = float(np.median(std[known, j])), float(np.std(x[known, j]))
        constant = scatter <= 1e-9 * float(np.abs(x[known, j]).max())
        if with_bars[j] and not std[known, j].any():
            zero.append(name)
        elif not constant and typical > (BEYOND if measured else BEYOND_SPREAD) * scatter:
            large.append(f"{name} ({typical / scatter:.2g} times)")
    sentences = []
    if zero:
        exact = "are zero in every row, so these values are exact"
        sentences.append(f"the error bars of {listing(zero)} {exact}")
    if large:
        sentences.append(
            f"the error bars of {listing(large)} are larger than the scatter of all values, which contains "
            "the errors: in another unit, or variances (var=), or of another column?"
        )
    if measured and not large:
        sentences += _variances(x, std, present, names)
    return sentences


def repeated_readings(rows: GaussianRows, names: Sequence[str]) -> str | None:
    """Return a sentence if most rows share their readings with others, beyond what rounding explains."""
    gaussians = filled_gaussians(rows)
    std = np.sqrt(np.maximum(np.diagonal(gaussians.covariances(), axis1=1, axis2=2), 0.0))
    noisy = np.flatnonzero(std.any(axis=0))
    whole = ~missing_mask(rows)[:, noisy].any(axis=1)
    if not len(noisy) or whole.sum() < FEWEST_REPEATED:
        return None
    x = gaussians.means[whole][:, noisy]
    exact = (np.abs(x - _rounded(x)) > 0.0).all(axis=0)  # more digits than tables are rounded to
    if not (exact.any() or len(noisy) > 1):
        return None
    _, counts = np.unique(np.hstack([x, std[whole][:, noisy]]), axis=0, return_counts=True)
    repeated = counts[counts > 1].sum()
    if repeated < REPEATED * len(x):
        return None
    features = listing([names[j] for j in noisy.tolist()])
    return (
        f"{repeated:,} of {len(x):,} rows repeat the readings of others ({features}, "
        f"{np.median(counts):.0f} of each): if these are rows of one object, pass groups=, the column that "
        "names it, or standard errors are too small"
    )


def _rounded(x: Floats) -> Floats:
    """Return the numbers with four digits."""
    with np.errstate(divide="ignore"):
        unit = 10.0 ** (np.floor(np.log10(np.abs(x))) - 3.0)
    return np.where(x == 0.0, 0.0, np.round(x / np.where(x == 0.0, 1.0, unit)) * unit)


def _variances(x: Floats, std: Floats, present: Booleans, names: Sequence[str]) -> list[str]:
    """A sentence, if the columns explain their rows much better as variances."""
    noisy = np.flatnonzero(std.any(axis=0))
    whole = present.all(axis=1)
    if whole.sum() < FEWEST_ROWS or not 0 < len(noisy) <= MOST_FEATURES:
        return []
    x, std = x[whole], std[whole]
    center, scale = x.mean(axis=0), x.std(axis=0)
    evidence = 0.0
    for j in noisy:
        others = np.flatnonzero((scale > 0.0) & (np.arange(len(scale)) != j))
        z = np.column_stack([np.ones(len(x)), (x[:, others] - center[others]) / scale[others]])
        slopes = np.linalg.lstsq(z, x[:, j], rcond=None)[0]
        residuals = x[:, j] - z @ slopes
        weights = np.zeros(x.shape[1])
        weights[j], weights[others] = 1.0, (slopes[1:] / scale[others]) ** 2
        evidence += _log_likelihood(residuals, std @ weights, free=False)
        evidence -= _log_likelihood(residuals, std**2 @ weights, free=True)
    if evidence < EVIDENCE:
        return []
    columns = listing([names[j] for j in noisy.tolist()])
    return [
        f"the error columns of {columns} look like variances: residuals grow as they would if these numbers "
        "were squares of the errors. If they are, pass them as var=; uncertain.check_errors(table) says more"
    ]


def _log_likelihood(residuals: Floats, errors: Floats, *, free: bool) -> float:
    """The largest log likelihood of residuals with variance T + a e; a = 1 unless it is `free`.

    Residuals beyond four times their typical size count as that.
    """
    size = 1.4826 * float(np.median(np.abs(residuals))) or float(np.std(residuals)) or 1.0
    r2, e = np.minimum((residuals / size) ** 2, 16.0), errors / size**2

    def loss(at: Floats) -> float:
        v = np.exp(at[0]) + (np.exp(at[1]) if free else 1.0) * e
        return 0.5 * float(np.sum(np.log(v) + r2 / v))

    start = [-0.5, 0.0] if free else [-0.5]
    bounds = [(-12.0, 6.0), (-12.0, 12.0)][: len(start)]
    return -float(minimize(loss, start, method="L-BFGS-B", bounds=bounds).fun)
