"""Features that know the target: copies and functions of it, and columns that only number the rows.

A look at a sample of the rows that a fit has read. A noisy reading that tells classes apart without a fault
may be a good measurement; an exact number, or a category, that does it was more likely made from the label.
Where the target is a number, a feature is suspected that puts all rows in the target's order, or has a
correlation of 1 with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from scipy.stats import rankdata

from .._data.typing import Array, Booleans, Floats
from .._tables.columns import listing

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


class Feature(NamedTuple):
    """One column of the table, as numbers (of a category: its number)."""

    name: str
    values: Floats
    present: Booleans
    exact: bool
    """Has it no error bars?"""
    categorical: bool = False


def suspected(features: Iterable[Feature], target: str | None, y: Array, *, regression: bool) -> list[str]:
    """Sentences about features that know the target, and about identifiers."""
    leaks, identifiers = no_features(features, target, y, regression=regression)
    sentences = []
    if leaks:
        what = f"{target!r}" if target else "the target"
        how = "is in a fixed relation to" if regression else "alone tells"
        sentences.append(
            f"{listing(leaks)} {how} {what} in every row, or is called like it: if it is made from {what}, "
            "or not known before it, leave it out of the features"
        )
    if identifiers:
        sentences.append(
            f"{listing(identifiers)} seems to be an identifier, which says nothing about new rows: leave it "
            "out of the features (groups= keeps rows of one object together)"
        )
    return sentences


def no_features(
    features: Iterable[Feature], target: str | None, y: Array, *, regression: bool
) -> tuple[list[str], list[str]]:
    """The names of features that know the target, and of those that only number the rows."""
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
    return leaks, identifiers


def features_from(
    means: Floats, missing: Booleans, names: Sequence[str], exact: Booleans, categories: Mapping[str, int]
) -> list[Feature]:
    """The columns behind the means, of which the last ones are zeros and ones of `categories`."""
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
    """Does each value, or each of some intervals of values, belong to one class alone?"""
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
    """A name without case, separators and what copies of labels have at their end."""
    plain = re.sub(r"[^a-z0-9]", "", name.lower())
    return SUFFIXES.sub("", plain) or plain
