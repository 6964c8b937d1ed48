"""Class labels and quantities of any type, to and from the arrays that scikit-learn wants.

What is not an array of one plain type (see `_plain`) passes through Python objects: every table library
gives `True`, `3` or `"cat"` for its booleans, integers, strings, categoricals and dictionaries, and one
set of rules covers them all.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from decimal import Decimal

import numpy as np

from ..exceptions import NullError, ParameterError, ShapeError, UncertainError, UncertainWarning
from .numbers import refuse_where
from .plain import KINDS, MOST_LETTERS, is_unfit, plain_numbers, plain_targets
from .typing import Array, Floats, Ints, Label, Values
from .warn import warn

MANY_CLASSES = 20
"""Integer targets with more distinct values than this are taken for quantities, not classes."""

LOOKED_AT = 10_000
"""Labels that are looked at for classes that were written in two ways."""

TWO_CLASSES = ({-1.0, 1.0}, {0.0, 1.0})
"""Whole floats that nobody means as quantities: the labels of textbooks, stored as floats."""

_WORDS = {bool: "booleans", int: "integers", str: "strings", float: "floats"}


def targets_from(
    values: Values, what: str, task: str, n_rows: int, *, partial: bool = False
) -> tuple[Array, bool]:
    """(targets, are they quantities?) from one column's Python values.

    Labels come in an array of one plain type (bool, int64, str), quantities as floats. With ``task="auto"``
    floats that are not all whole are quantities; -1.0 and 1.0, or 0.0 and 1.0, are two classes. For methods
    that learn from rows without a target (`partial`) all floats are quantities, and integers of more than 20
    different values. Such rows have the label None, or the quantity NaN.

    Raises `NullError` for a missing target (unless `partial`) and `UncertainError` for what is neither.
    """
    fast = plain_targets(values, task, n_rows, partial=partial, many=MANY_CLASSES, two=TWO_CLASSES)
    if fast is not None:
        if fast[0].dtype.kind == "U":
            _warn_of_padded(fast[0][:LOOKED_AT].tolist(), what)
        return fast
    plain = plain_values(values, what, n_rows, "targets" if partial or task == "regression" else "labels")
    known = [value for value in plain if not is_missing(value)]
    if partial and not known:
        raise UncertainError(f"{what}: no row has a label")
    quantities = all(type(value) in (int, float) for value in known)
    if task != "auto":
        quantities = task == "regression"
    elif partial:
        quantities &= any(type(value) is float for value in known) or len(set(known)) > MANY_CLASSES
    else:
        quantities &= any(type(value) is float and not value.is_integer() for value in known)
    if quantities:
        return _numbers(plain, what, missing=math.nan if partial else None), True
    if not partial:
        return labels_from(plain, what, task), False
    labels = np.full(n_rows, None, dtype=object)
    at = np.flatnonzero([not is_missing(value) for value in plain])
    labels[at] = labels_from(known, what, "classification").tolist()
    return labels, False


def labels_from(plain: Sequence[Label], what: str, task: str) -> Array:
    """An array of one plain type; whole floats are labels with ``task="classification"``, or if they are
    -1.0 and 1.0, or 0.0 and 1.0."""
    for row, value in enumerate(plain):
        if is_missing(value):
            raise NullError(f"{what}: row {row} has no label; drop the rows without one")
        if is_unfit(value):
            raise UncertainError(
                f"{what}: row {row} is a label of {len(value):,} letters"
                + (" with a NUL character at its end" if value.endswith("\0") else "")
                + f"; labels are text of up to {MOST_LETTERS:,} letters that does not end with one"
            )
    kinds = {type(value) for value in plain}
    if not kinds <= set(_WORDS):
        strange = next(kind for kind in kinds if kind not in _WORDS)
        raise UncertainError(f"{what}: labels must be strings, booleans or integers, got {strange.__name__}")
    if len(kinds) > 1 and kinds != {int, float}:
        words = " and ".join(sorted(_WORDS[kind] for kind in kinds))
        raise UncertainError(f"{what}: labels must be of one type, got {words}")
    array = np.asarray(plain)
    wide = array.dtype.kind not in "biUf" or (kinds == {int} and array.dtype.kind != "i")  # to NumPy a float
    if wide and plain:
        raise UncertainError(f"{what}: integer labels must fit into 64 bits")
    if float in kinds:
        return _whole(array.astype(np.float64), what, task)
    distinct = len(set(plain))
    if kinds == {int} and task == "auto" and distinct > MANY_CLASSES:
        raise UncertainError(
            f'{what}: {distinct} different integers look like a quantity: pass task="regression"; '
            'if they are class labels pass task="classification"'
        )
    if distinct < 2:
        raise UncertainError(
            f"{what}: every label is {plain[0]!r}; a classifier needs at least two classes"
            if plain
            else f"{what}: the table has no rows"
        )
    if kinds == {str}:
        _warn_of_padded(plain[:LOOKED_AT], what)
    return array


def _warn_of_padded(labels: Sequence[Label], what: str) -> None:
    """Two classes that differ by blanks alone are one to who wrote them."""
    classes = {*map(str, labels)}
    padded = next(
        (name for name in sorted(classes) if name != name.strip() and name.strip() in classes), None
    )
    if padded is not None:
        warn(
            f"{what}: the classes {padded.strip()!r} and {padded!r} differ by blanks alone, and are two; "
            "take the blanks away if they are one",
            UncertainWarning,
        )


def _whole(values: Floats, what: str, task: str) -> Ints:
    if task != "classification" and set(values.tolist()) not in TWO_CLASSES:
        raise UncertainError(
            f"{what}: whole numbers stored as floats may be classes or quantities: pass "
            'task="classification" or task="regression"'
        )
    rule = "class labels must be whole numbers, strings or booleans"
    refuse_where(values != np.round(values), values, what, rule)
    if np.any(np.abs(values) >= 2.0**63):
        raise UncertainError(f"{what}: integer labels must fit into 64 bits")
    return labels_from(values.astype(np.int64).tolist(), what, task)


def errors_from(values: Values, what: str, n_rows: int, *, missing: float | None) -> Floats:
    """Standard deviations of the targets of a regression: finite numbers >= 0, one per row.

    `missing` takes the place of a null or NaN; with None that is a `NullError`. With NaN infinities are
    missing, too.
    """
    fast = plain_numbers(values, n_rows, least=0.0)
    if fast is not None:
        return fast
    plain = plain_values(values, what, n_rows, "standard deviations")
    return _numbers(plain, what, missing=missing, deviations=True)


def numbers_from(values: Values, what: str, n_rows: int) -> Floats:
    """Finite numbers, or booleans as 0 and 1, one per row."""
    fast = plain_numbers(values, n_rows, least=-math.inf)
    if fast is not None:
        return fast
    numbers = np.empty(n_rows)
    for row, value in enumerate(plain_values(values, what, n_rows, "numbers")):
        if is_missing(value):
            raise NullError(f"{what}: row {row} has no value; drop the rows without one")
        if not isinstance(value, (int, float, Decimal)) or abs(value) == math.inf:
            raise UncertainError(f"{what}: row {row} is {value!r}; it must be a finite number")
        numbers[row] = value
    return numbers


def weights_from(values: Values, what: str, n_rows: int) -> Floats:
    """How much each row counts: finite numbers >= 0, one per row, and one of them > 0."""
    fast = plain_numbers(values, n_rows, least=0.0)
    if fast is not None and fast.any():
        return fast
    weights = np.empty(n_rows)
    for row, value in enumerate(plain_values(values, what, n_rows, "weights")):
        if is_missing(value):
            raise NullError(f"{what}: row {row} has no weight; give it one, such as 0 to leave the row out")
        number = isinstance(value, (int, float, Decimal)) and not isinstance(value, bool)
        if not number or not 0 <= value < math.inf:
            raise UncertainError(f"{what}: row {row} is {value!r}; a weight must be a finite number >= 0")
        weights[row] = value
    if not weights.any():
        raise UncertainError(f"{what}: every weight is 0, which leaves no rows to learn from")
    return weights


def _numbers(plain: Sequence[Label], what: str, *, missing: float | None, deviations: bool = False) -> Floats:
    """Finite numbers, one per row, and `missing` for those that are not there (None: not allowed)."""
    if not plain:
        raise UncertainError(f"{what}: the table has no rows")
    numbers = np.empty(len(plain))
    for row, value in enumerate(plain):
        if is_missing(value) or (deviations and missing != missing and value == math.inf):
            if missing is None:
                raise NullError(
                    f"{what}: row {row} has no error bar of its target; drop such rows, or pass "
                    'on_missing="point" to call the target exact'
                    if deviations
                    else f"{what}: row {row} has no target; drop the rows without one"
                )
            numbers[row] = missing
            continue
        number = isinstance(value, (int, float, Decimal)) and not isinstance(value, bool)
        if not number or abs(value) == math.inf or (deviations and value < 0):
            rule = (
                "the standard deviation of a target must be a number >= 0"
                if deviations
                else "the target of a regression must be a finite number"
            )
            raise UncertainError(f"{what}: row {row} is {value!r}; {rule}")
        numbers[row] = value
    return numbers


def plain_values(values: Values, what: str, n_rows: int, noun: str) -> list[Label]:
    """Python objects, one per row."""
    if len(values) != n_rows:
        raise ShapeError(f"{what}: expected {n_rows} {noun}, one per row, got {len(values)}")
    if isinstance(values, np.ndarray):
        return list(values.tolist())
    return [value.item() if isinstance(value, np.generic) else value for value in values]


def is_missing(value: object) -> bool:
    """None, NaN, or a null of another library, whose comparisons are nulls again."""
    different = value != value
    is_itself = isinstance(different, (bool, np.bool_)) and not different
    return value is None or not (is_itself or isinstance(different, np.ndarray))


def as_values(values: object, role: str) -> Values:
    """A plain array itself, all else as Python objects."""
    if type(values) is np.ndarray and values.ndim == 1 and values.dtype.kind in KINDS:
        return values
    return as_list(values, role)


def as_list(values: object, role: str) -> list[Label]:
    """The values of any array or series type as Python objects."""
    for method in ("to_list", "tolist", "to_pylist"):
        if hasattr(values, method):
            return list(getattr(values, method)())
    if not isinstance(values, Iterable):
        raise ParameterError(f"{role}={values!r}: must be the name of a column, or one value per row")
    return list(values)
