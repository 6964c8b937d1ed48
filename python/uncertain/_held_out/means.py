"""Means over rows that were held out, and their standard errors.

Differences of two models on the same rows are averaged in the same way: they are paired, and far better known
than either mean.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._data.groups import Groups
from .._data.typing import Floats


class Mean(NamedTuple):
    """A mean and its standard error."""

    value: float
    se: float


def weighted_mean(values: Floats, counts: Floats, groups: Groups | None = None) -> Mean:
    """sum_i c_i v_i / sum_i c_i over the values that are not NaN, whose rows count c_i."""
    known = ~np.isnan(values)
    mean = float(counts[known] @ values[known] / counts[known].sum())
    return Mean(mean, standard_error(values[None], groups, counts))


def standard_error(values: Floats, groups: Groups | None = None, counts: Floats | None = None) -> float:
    """Standard error of a mean over random splits of a finite number of rows, or of whole groups of rows.

    `values` has shape (splits, rows) and is NaN where a row was not held out, or not measured. Two
    kinds of luck add up, that of the split (which rows were trained on) and that of the rows there are:

        se^2 = var(mean of each split) / splits + var(mean of each row) / rows

    More splits make only the first term small. Both terms contain some of the same luck, so this is a
    little too large rather than too small.

    Rows of one group are right or wrong together, so with groups the second term counts these. If row i,
    which counts c_i, contributes to the mean v of the S splits' means is d_i, summed over the splits in which
    it was held out (whose rows count C_s together), and the contributions of a group are added before they
    are squared:

        d_i = sum_s c_i (v_si - v) / (S C_s)
        se^2 = var(mean of each split) / splits + G / (G - 1) sum_g (sum_{i in g} d_i)^2

    This is the cluster-robust variance of a mean, as in A. C. Cameron and D. L. Miller, A Practitioner's
    Guide to Cluster-Robust Inference, Journal of Human Resources 50(2), 2015, doi 10.3368/jhr.50.2.317, with
    the factor G / (G - 1) for G groups. For groups of one row, and splits of one size, it is the formula
    above. With fewer than some twenty groups it is itself uncertain, and on average a little too small.
    """
    tested = ~np.isnan(values)
    values, tested = values[tested.any(axis=1)], tested[tested.any(axis=1)]
    weights = tested * (1.0 if counts is None else counts)
    of_splits = (np.where(tested, values, 0.0) * weights).sum(axis=1) / weights.sum(axis=1)
    split_term = of_splits.var(ddof=1) / of_splits.size if of_splits.size > 1 else 0.0
    seen = tested.any(axis=0)
    off = np.where(tested, values - of_splits.mean(), 0.0) * weights / weights.sum(axis=1, keepdims=True)
    parts = off.sum(axis=0)[seen] / len(values)
    if groups is not None:
        parts = np.bincount(np.unique(groups.codes[seen], return_inverse=True)[1], weights=parts)
    g = len(parts)
    return float(np.sqrt(split_term + (g / (g - 1) if g > 1 else 1.0) * np.sum(parts**2)))
