"""Rows in an order of their own, on which folds and draws of copies depend instead of that of the table."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from .._data.array import value_sizes
from .._data.incomplete import GaussianRows, filled_gaussians
from .._data.numbers import mixed
from .._data.typing import Labels
from .._rows.training import TrainingRows
from .engine import labelled


def in_order(training: TrainingRows, raw: GaussianRows) -> tuple[TrainingRows, GaussianRows]:
    """The rows, and as they were read, in an order that depends on what stands in them: not on theirs, on
    names of classes, or on units or order of features and targets.

    Ranks of values and errors are what is hashed. In this order, and with groups numbered in it, folds and
    draws of copies are the same for the same rows.
    """
    std, known = value_sizes(raw)
    means = np.where(known, filled_gaussians(raw).means, np.nan)
    y = np.asarray(training.y[:])
    if y.dtype.kind != "f":
        there, sizes = labelled(training), np.zeros(len(y), dtype=np.int64)
        _, codes, counts = np.unique(y[there], return_inverse=True, return_counts=True)
        sizes[there], y = counts[codes], sizes
    keys = mixed(_ranks(y))
    for value, error in zip(means.T, std.T, strict=True):
        keys = keys + mixed(mixed(_ranks(value)) ^ _ranks(error))
    order = np.argsort(keys, kind="stable")
    training = training.take(order)
    if training.groups is not None:
        _, first, codes = np.unique(training.groups.codes, return_index=True, return_inverse=True)
        number = np.argsort(np.argsort(first)).astype(np.uint32)  # by their first rows
        training = replace(training, groups=replace(training.groups, codes=number[codes]))
    return training, raw[order]


def _ranks(values: Labels) -> NDArray[np.uint64]:
    return np.unique(values, return_inverse=True)[1].astype(np.uint64)
