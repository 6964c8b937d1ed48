"""The rules of `_targets` for arrays of one plain type in which nothing is missing: no Python objects.

None stands for whatever needs more than that: mixed types, gaps, and everything that is refused, whose
words are in `_targets`. What is not None is what the rules there would give.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .typing import Array, Codes, Floats, Ints

MOST_LETTERS = 1_000
"""Letters of a label: all rows have room for the longest."""

KINDS = "biufU"
"""Booleans, integers, floats and strings, as NumPy calls them."""


def plain_array(values: object) -> Array | None:
    """One or more booleans, 64-bit integers, finite 64-bit floats or strings in one dimension; else None."""
    if type(values) is not np.ndarray or values.ndim != 1 or not values.size:
        return None
    kind = values.dtype.kind
    if kind not in KINDS:
        return None
    if kind == "u" and values.dtype.itemsize == 8 and values.max() > np.iinfo(np.int64).max:
        return None
    if kind in "iu":
        return values.astype(np.int64)
    if kind == "f":
        floats = values.astype(np.float64)
        return floats if np.isfinite(floats).all() else None
    return values


def decoded(codes: Array, categories: Sequence[object]) -> Array | None:
    """The categories of the rows, if those that occur are of one plain type; None if a code is negative, or
    if arrays do not hold the text."""
    present, places = np.unique(codes, return_inverse=True)
    if not present.size or present[0] < 0:
        return None
    found = [categories[code] for code in present.tolist()]
    kinds = {type(value) for value in found}
    if len(kinds) != 1 or not kinds <= {str, bool, int} or any(map(is_unfit, found)):
        return None
    return np.asarray(found)[places]


def is_unfit(label: object) -> bool:
    """Is it text that NumPy does not hold: too long for a field of one width, or with NUL at its end?"""
    return isinstance(label, str) and (len(label) > MOST_LETTERS or label.endswith("\0"))


def plain_targets(
    values: object, task: str, n_rows: int, *, partial: bool, many: int, two: Sequence[set[float]]
) -> tuple[Array, bool] | None:
    """(targets, are they quantities?); `many` and `two` are the rules' numbers."""
    plain = plain_array(values)
    if plain is None or len(plain) != n_rows:
        return None
    kind = plain.dtype.kind
    quantities = task == "regression"
    if task == "auto" and kind == "f":
        quantities = partial or bool((plain != np.round(plain)).any())
    elif task == "auto" and kind == "i":
        too_many = len(np.unique(plain)) > many
        if too_many and not partial:
            return None
        quantities = too_many
    if quantities:
        return (plain.astype(np.float64), True) if kind in "if" else None
    if partial:
        return None
    if kind == "f":
        if task == "auto" and set(np.unique(plain).tolist()) not in two:
            return None
        if (plain != np.round(plain)).any() or np.abs(plain).max() >= 2.0**63:
            return None
        plain = plain.astype(np.int64)
    return (plain, False) if (plain != plain[0]).any() else None


def plain_numbers(values: object, n_rows: int, *, least: float = -np.inf) -> Floats | None:
    """Finite numbers >= `least`."""
    plain = plain_array(values)
    if plain is None or len(plain) != n_rows or plain.dtype.kind not in "if" or plain.min() < least:
        return None
    return plain.astype(np.float64)


def plain_codes(values: object, n_rows: int) -> Codes | None:
    """Numbers of equal values, in order of appearance."""
    plain = plain_array(values)
    if plain is None or len(plain) != n_rows:
        return None
    _, first, places = np.unique(plain, return_index=True, return_inverse=True)
    rank: Ints = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[places].astype(np.uint32)
