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

    `values` has shape (splits, rows) and is NaN where a row was not held out, or not measured. Two kinds of
    luck add up, of the split (which rows were trained on) and of the rows there are. Row i, which counts c_i,
    contributes d_i to the mean v of the S splits' means v_s, whose rows count C_s together, and rows of one
    group are right or wrong together:

        d_i = sum_s c_i (v_si - v) / (S C_s)
        se^2 = var(v_s) / S + G / (G - 1) sum_g (sum_{i in g} d_i)^2

    for G groups, or rows. More splits make only the first term small; both contain some of the same luck, so
    that the sum is a little too large. The second term is the cluster-robust variance of a mean (A. C.
    Cameron and D. L. Miller, A Practitioner's Guide to Cluster-Robust Inference, Journal of Human Resources
    50(2), 2015, doi 10.3368/jhr.50.2.317), on average a little too small with fewer than some twenty groups.
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
