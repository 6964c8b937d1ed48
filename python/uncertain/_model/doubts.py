"""Warnings about the columns of a fit: error bars that can hardly be meant, features that know the target.

They look at a sample of rows that is in memory anyway; nothing is read again.
"""

from __future__ import annotations

import numpy as np
from threadpoolctl import threadpool_limits

from .._data.incomplete import filled_gaussians, missing_mask
from .._data.typing import Array, Booleans
from .._data.warn import warn
from .._errors.doubtful import doubtful_errors, repeated_readings
from .._errors.leaks import features_from, suspected
from .._rows.reader import RowReader
from .._rows.training import TrainingRows
from ..exceptions import UncertainWarning
from .plan import Plan
from .reader import gaussian_rows

LOOKED_AT = 5_000
"""Rows that are looked at."""


def warn_of_doubts(reader: RowReader, plan: Plan, some: TrainingRows) -> list[str]:
    """Warn about each suspicious column, and return the sentences."""
    some = some.sampled(LOOKED_AT)
    rows = gaussian_rows(some.rows)
    of_table = bool(reader.columns.used)
    names = reader.feature_names()[: rows.n_features] or [f"x{j}" for j in range(rows.shape[1])]
    categories = {c: len(values) for c, values in getattr(reader.reading, "categories_", {}).items()}
    n_exact = len(reader.columns.exact or ()) + sum(categories.values())
    has_bars = of_table and (reader.columns.mean is None or bool(reader.columns.lists))
    with_bars = np.arange(len(names)) < (len(names) - n_exact if has_bars else 0)
    measured = (plan.usual if plan.meaning == "auto" else plan.meaning) == "measurement"
    with threadpool_limits(1, "blas"):  # threads wait longer for each other than these sums take
        sentences = doubtful_errors(rows, names, with_bars, measured=measured)
    if reader.columns.groups is None and (sentence := repeated_readings(rows, names)):
        sentences.append(sentence)
    if of_table:
        y = some.y[:]
        known = _known(y)
        means, missing = filled_gaussians(rows).means[known], missing_mask(rows)[known]
        features = features_from(means, missing, names, ~with_bars, categories)
        sentences += suspected(features, reader.columns.target, y[known], regression=plan.regression)
    for sentence in sentences:
        warn(sentence, UncertainWarning)
    return sentences


def _known(y: Array) -> Booleans:
    """Which rows have a target?"""
    if y.dtype.kind == "f":
        return ~np.isnan(y)
    if y.dtype.kind == "O":
        return np.asarray([value is not None for value in y.tolist()], dtype=bool)
    return np.ones(len(y), dtype=bool)
