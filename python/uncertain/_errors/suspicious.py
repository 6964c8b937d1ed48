"""Columns that a fit warns about, by a sample of its rows.

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
- Features that know the target: a noisy reading that tells classes apart without a fault may be a good
  measurement; an exact number, or a category, that does it was more likely made from the label. Where the
  target is a number, a feature that puts all rows in its order, or has a correlation of 1 with it.
- Columns that only number the rows.
"""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.stats import rankdata

from .._data.incomplete import GaussianRows, filled_gaussians, missing_mask
from .._data.typing import Array, Booleans, Floats
from .._tables.columns import listing

BEYOND = 3.0
"""Errors of readings that are this many times the scatter of the values."""
BEYOND_SPREAD = 1_000.0
"""`BEYOND` for populations, whose means may lie close together."""
EVIDENCE = 10.0
"""Difference of log likelihoods."""
FEWEST_FOR_VARIANCES = 100
"""With fewer rows variances are not looked for."""
FEWEST_REPEATED = 20
"""Rows in which repeated readings are looked for, at least."""
REPEATED = 0.5
"""Share of rows that others repeat."""
MOST_FEATURES = 30
"""With more features neither: it would take longer than a fast fit."""
FEWEST_ROWS = 20
"""With fewer rows chance makes such features."""
FEWEST_OF_A_CLASS = 5
SAME = 1.0 - 1e-6
"""Correlations above are of a copy, rounded in another way."""
IDENTIFIER = re.compile(
    r"(^|_|[a-z])(id|ident|identifier|index|idx|number|row|nr)$|^(id|no|name)(_|$)", re.IGNORECASE
)
"""Names of columns that only number the rows."""
SUFFIXES = re.compile(r"(code|num|number|label|class|copy|encoded|true|truth|pred|predicted|id|str|int)$")


def doubtful_errors(
    rows: GaussianRows, names: Sequence[str], with_bars: Booleans, *, measured: bool
) -> list[str]:
    """Sentences about implausible error bars; `measured`: readings, not spread."""
    gaussians, present = filled_gaussians(rows), ~missing_mask(rows)
    x, std = gaussians.means, gaussians._deviations()
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
            f"the error bars of {listing(large)} are larger than the scatter of all values. Check their "
            "column and unit, or pass variances as var="
        )
    if measured and not large:
        sentences += _variances(x, std, present, names)
    return sentences


def repeated_readings(rows: GaussianRows, names: Sequence[str]) -> str | None:
    """Sentence if most rows repeat readings of others, beyond rounding."""
    gaussians = filled_gaussians(rows)
    std = gaussians._deviations()
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
        f"{np.median(counts):.0f} of each): standard errors may be too small. Pass their object as groups="
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
    if whole.sum() < FEWEST_FOR_VARIANCES or not 0 < len(noisy) <= MOST_FEATURES:
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
        f"the error columns of {columns} look like variances, as residuals grow with their square roots. If "
        "they are, pass them as var="
    ]


def _log_likelihood(residuals: Floats, errors: Floats, *, free: bool) -> float:
    """The largest log likelihood of residuals, clipped at four times their typical size, with variance T + a
    e; a = 1 unless it is `free`."""
    size = 1.4826 * float(np.median(np.abs(residuals))) or float(np.std(residuals)) or 1.0
    r2, e = np.minimum((residuals / size) ** 2, 16.0), errors / size**2

    def loss(at: Floats) -> tuple[float, Floats]:
        parts = np.exp(at)
        v = parts[0] + (parts[1] if free else 1.0) * e
        slope = 0.5 / v * (1.0 - r2 / v)
        slopes = np.array([slope.sum(), slope @ e])[: len(at)] * parts
        return 0.5 * float(np.sum(np.log(v) + r2 / v)), slopes

    start = [-0.5, 0.0] if free else [-0.5]
    bounds = [(-12.0, 6.0), (-12.0, 12.0)][: len(start)]
    return -float(minimize(loss, start, method="L-BFGS-B", jac=True, bounds=bounds).fun)


class Feature(NamedTuple):
    """One column of the table, as numbers (of a category: its number)."""

    name: str
    values: Floats
    present: Booleans
    exact: bool
    """Has it no error bars?"""
    categorical: bool = False


def suspected(features: Sequence[Feature], target: str | None, y: Array, *, regression: bool) -> list[str]:
    """Sentences about features that know the target, and about identifiers."""
    leaks, identifiers = [], []
    for feature in features:
        values, of_rows = feature.values[feature.present], y[feature.present]
        if len(values) < FEWEST_ROWS:
            continue
        if regression:
            knows = not feature.categorical and _is_function(values, of_rows)
        else:
            knows = feature.exact and _tells_classes(values, of_rows, ordered=not feature.categorical)
        if knows or (feature.exact and target is not None and _plain(feature.name) == _plain(target)):
            leaks.append(feature.name)
        elif feature.exact and _numbers_rows(feature, values):
            identifiers.append(feature.name)
    sentences = []
    if leaks:
        what = f"{target!r}" if target else "the target"
        how = "is in a fixed relation to" if regression else "predicts"
        sentences.append(
            f"{listing(leaks)} {how} {what} in every row, or has its name. If it was derived from {what}, "
            "leave it out of the features"
        )
    if identifiers:
        sentences.append(
            f"{listing(identifiers)} seems to be an identifier, which does not help with new rows. Leave it "
            "out of the features, or pass it as groups= if rows share objects"
        )
    return sentences


def features_from(
    means: Floats, missing: Booleans, names: Sequence[str], exact: Booleans, categories: Mapping[str, int]
) -> list[Feature]:
    """Features from means; the last ones are zeros and ones of `categories`."""
    n_scalars = len(names) - sum(categories.values())
    features = [Feature(names[j], means[:, j], ~missing[:, j], bool(exact[j])) for j in range(n_scalars)]
    start = n_scalars
    for name, count in categories.items():
        block = means[:, start : start + count]
        codes, present = np.argmax(block, axis=1).astype(float), (block != 0.0).any(axis=1)
        features.append(Feature(name, codes, present, exact=True, categorical=True))
        start += count
    return features


def _is_function(x: Floats, y: Floats) -> bool:
    """Is one a copy, or a monotone function, of the other?"""
    if len(np.unique(x)) < FEWEST_ROWS or len(np.unique(y)) < FEWEST_ROWS:
        return False
    pairs = ((x, y), (rankdata(x), rankdata(y)))
    return any(abs(float(np.corrcoef(a, b)[0, 1])) > SAME for a, b in pairs)


def _tells_classes(x: Floats, y: Array, *, ordered: bool) -> bool:
    """Does each value, or interval of values, belong to one class?"""
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2 or np.bincount(codes).min() < FEWEST_OF_A_CLASS:
        return False
    values = np.unique(x)
    pairs = np.unique(np.column_stack([x, codes]), axis=0)
    if len(pairs) > len(values):
        return False
    if len(values) <= len(x) / FEWEST_OF_A_CLASS:
        return True
    sorted_codes = codes[np.argsort(x, kind="stable")]
    return ordered and int((np.diff(sorted_codes) != 0).sum()) == len(classes) - 1


def _numbers_rows(feature: Feature, values: Floats) -> bool:
    """Is it a name or a number for each row?"""
    distinct = len(np.unique(values))
    if feature.categorical:
        return distinct > len(values) / 2
    if not np.array_equal(values, np.round(values)) or distinct <= len(values) / 2:
        return False
    steps = np.diff(values)
    counts = distinct == len(values) and bool((steps > 0).all() or (steps < 0).all())
    return counts or IDENTIFIER.search(feature.name) is not None


def _plain(name: str) -> str:
    """Name without case, separators and the endings of copied labels."""
    plain = re.sub(r"[^a-z0-9]", "", name.lower())
    return SUFFIXES.sub("", plain) or plain
