"""The columns of a table of replicates: measurements, descriptions of the group, and neither.

Idea: a measurement varies within its group. A column that never does (a label, a site, an age) was not
measured again, and as a feature it would have no error at all; it describes the group and goes along with
it. A column that counts (a recording number, a row's identifier) varies but measures nothing, and its mean
tells how many rows a group has, or where in the table it stood, which often gives the label away. It is
left out with a warning. What is computed of the measurements is in `_replicates`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .._columns.bars import listing, require
from .._data.numbers import float_array
from .._data.targets import is_missing
from .._data.typing import Array, Floats, Keywords
from .._data.warn import warn
from .._tables import Table
from ..exceptions import (
    ColumnError,
    NotFiniteError,
    NullError,
    ParameterError,
    ShapeError,
    UncertainError,
    UncertainWarning,
)

Codes = NDArray[np.intp]

UNLIKELY = math.log(1000)
"""Whole numbers that rise from row to row count something, if chance does that less than once in 1000."""

IDENTIFIER = re.compile(r"(?i:(?:^|[_\W])(?:id|idx|index|uuid|row|rowid|objid))$|[a-z]ID$")
"""Usual names of columns of identifiers."""


@dataclass(frozen=True)
class Replicates:
    """A table of replicates, taken apart."""

    codes: Codes
    """The number of each row's group, in the sorted order of the groups."""
    groups: list[str]
    """Names of the groups in messages."""
    features: list[str]
    values: Floats
    """The measurements, shape (n, d)."""
    kept: Keywords
    """Columns that describe the group, one value per group, as the table's library has them."""


def read_replicates(
    table: Table,
    by: Sequence[str],
    features: Sequence[str] | None,
    keep: Sequence[str],
    include: Sequence[str],
    exclude: Sequence[str],
) -> Replicates:
    """Sort the columns and read the measurements; every error names column, row and value."""
    if not by:
        raise ParameterError("by = []: name at least one column")
    if features is not None and len(features) == 0:
        raise ParameterError("features = []: name at least one column")
    named = {"by": by, "keep": keep, "features": features or (), "include": include, "exclude": exclude}
    _check_names(table, named)
    codes, first = _codes(table, by)
    labels = {name: table.values(name) for name in by}
    groups = [", ".join(f"{name} = {labels[name][i]!r}" for name in by) for i in first]
    for name in keep:
        _check_constant(table.values(name), codes, first, name, groups)
    used = {*by, *keep, *exclude}
    rest = [name for name in table.names if name not in used]
    describes: list[str] = []
    left_out: dict[str, str] = {}
    measured = list(features or ())
    for name in rest:
        if name in measured or name in include:
            continue
        values = _plain(table.values(name))
        if not _varies(values, codes, first).any():
            describes.append(name)
        elif features is None:
            reason = _no_measurement(name, table.types[name] == "number", values, codes)
            if reason:
                left_out[name] = reason
            else:
                measured.append(name)
    if features is None:
        measured = [name for name in rest if name in measured or name in include]
        _warn_about(left_out)
    if not measured:
        raise ColumnError(
            f"no numeric column varies within the groups of {', '.join(by)}; name the columns with the "
            "measurements, features=[...]"
        )
    numbers = np.stack([_numbers(table, name) for name in measured], axis=1)
    kept = {name: table.take(name, first) for name in (*by, *keep, *describes)}
    return Replicates(codes, groups, measured, finite(numbers, measured), kept)


def finite(values: Floats, names: Sequence[str] | None = None) -> Floats:
    """The replicates, shape (n, d), or the first that is no finite number as an error."""
    if values.ndim != 2 or values.shape[1] == 0 or len(values) == 0:
        raise ShapeError(f"replicates: expected shape (n, d) with n, d >= 1, got {values.shape}")
    bad = np.argwhere(~np.isfinite(values))
    if len(bad):
        i, j = bad[0]
        where = f"column {names[j]!r}" if names else f"feature {j}"
        raise NotFiniteError(f"{where}, row {i}: {values[i, j]}; drop the replicate or fill it in")
    return values


def _check_names(table: Table, named: Mapping[str, Sequence[str]]) -> None:
    owner: dict[str, str] = {}
    for role, columns in named.items():
        if isinstance(columns, str):
            raise ParameterError(f"{role}={columns!r}: must be a list of column names, [{columns!r}]")
        for name in columns:
            require(name, table.names)
            if owner.setdefault(name, role) != role:
                raise ParameterError(f"column {name!r} is given as {owner[name]}= and as {role}=: choose one")
    if named["features"] and (named["include"] or named["exclude"]):
        raise ParameterError("features= names all the measurements: include= and exclude= have no use beside")


def _codes(table: Table, by: Sequence[str]) -> tuple[Codes, Codes]:
    """Number of each row's group, and the first row of every group; groups in sorted order."""
    codes = np.zeros(table.n_rows, dtype=np.intp)
    for name in by:
        values = table.values(name)
        missing = next((i for i, value in enumerate(values) if is_missing(value)), None)
        if missing is not None:
            raise NullError(f"column {name!r}, row {missing} is null; every replicate needs its group")
        keys, mine = np.unique(np.asarray(values), return_inverse=True)
        codes = codes * len(keys) + mine
    _, first, codes = np.unique(codes, return_index=True, return_inverse=True)
    return codes, first


def _plain(values: Sequence[object] | Array) -> Array:
    """The values as an array of one dimension, numbers as numbers."""
    if not any(isinstance(value, (list, tuple, dict, np.ndarray)) for value in values):
        return np.asarray(values)
    plain = np.empty(len(values), dtype=object)
    plain[:] = [value.tolist() if isinstance(value, np.ndarray) else value for value in values]
    return plain


def _varies(values: Array, codes: Codes, first: Codes) -> NDArray[np.bool_]:
    """The rows that differ from the first of their group; two missing values are alike."""
    expected = values[first][codes]
    both_nan = (values != values) & (expected != expected)
    return np.asarray((values != expected) & ~both_nan, dtype=np.bool_)


def _check_constant(
    values: Sequence[object] | Array, codes: Codes, first: Codes, name: str, groups: Sequence[str]
) -> None:
    different = np.flatnonzero(_varies(_plain(values), codes, first))
    if different.size:
        i = int(different[0])
        start = int(first[codes[i]])
        raise UncertainError(
            f"column {name!r} varies within group {groups[codes[i]]}: {values[start]!r} in row {start}, "
            f"{values[i]!r} in row {i}"
        )


def _no_measurement(name: str, numeric: bool, values: Array, codes: Codes) -> str:
    """Why a column that varies within groups is no measurement; empty if it is one."""
    if not numeric:
        return "varies, but is no number"
    if values.dtype.kind not in "iuf" or not np.isfinite(values).all() or (values != np.round(values)).any():
        return ""  # a fraction was measured; what is missing is an error of its own
    if _counts(values, codes):
        return "counts within the group"
    return "looks like an identifier" if _identifies(name, values) else ""


def _counts(values: Array, codes: Codes) -> bool:
    """Is it 0, 1, 2, ... or 1, 2, 3, ... in every group, or whole numbers that rise from row to row?

    In a few small groups whole floats do either by chance.
    """
    order = np.lexsort((values, codes))
    sizes = np.bincount(codes)
    starts = np.cumsum(sizes) - sizes
    within = np.ones(len(values), dtype=np.bool_)
    within[starts] = False
    smallest = values[order][starts]
    steps = np.diff(values[order], prepend=values[order][:1])[within]
    unlikely = sum(math.lgamma(size + 1) for size in sizes.tolist()) > UNLIKELY
    from_start = np.isin(smallest, (0, 1)).all() and (smallest == smallest[0]).all()
    if from_start and (steps == 1).all() and (unlikely or values.dtype.kind in "iu"):
        return True
    by_row = values[np.argsort(codes, kind="stable")]
    rises = (by_row[1:] > by_row[:-1])[within[1:]]
    return bool(unlikely and rises.all())


def _identifies(name: str, values: Array) -> bool:
    """Are all numbers different, and named like identifiers, consecutive, or too large to be measured?"""
    if len(np.unique(values)) < len(values):
        return False
    span = int(values.max()) - int(values.min())
    numbered = span == len(values) - 1 and math.lgamma(len(values) + 1) > UNLIKELY
    beyond = span > 2**53  # no measurement has sixteen digits
    return numbered or beyond or IDENTIFIER.search(name) is not None


def _warn_about(left_out: Mapping[str, str]) -> None:
    if not left_out:
        return
    reasons = listing([f"{name} ({why})" for name, why in left_out.items()])
    numeric = [name for name, why in left_out.items() if "no number" not in why]
    take = f"include={numeric!r} takes them for measurements, " if numeric else ""
    warn(
        f"left out, as they measure nothing: {reasons}; {take}exclude={list(left_out)!r} leaves them out "
        "without this warning",
        UncertainWarning,
    )


def _numbers(table: Table, name: str) -> Floats:
    values = table.values(name)
    missing = next((i for i, value in enumerate(values) if value is None), None)
    if missing is not None:
        raise NullError(f"column {name!r}, row {missing} is null; drop the replicate or fill it in")
    numbers = float_array(values, f"column {name!r}")
    if numbers.ndim != 1:
        raise ShapeError(f"column {name!r}: expected one number per row, got lists of them")
    return numbers
