"""Class labels of any type, to and from the arrays that scikit-learn wants.

Labels are few and cheap beside the features, so they pass through Python objects: every table library
gives `True`, `3` or `"cat"` for its booleans, integers, strings, categoricals and dictionaries, and one
set of rules covers them all.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..exceptions import NullError, ParameterError, ShapeError, UncertainError

Floats = NDArray[np.float64]

MANY_CLASSES = 20
"""Integer targets with more distinct values than this are taken for quantities, not classes."""

_WORDS = {bool: "booleans", int: "integers", str: "strings", float: "floats"}


def labels_from(values: Sequence[Any], what: str, task: str, n_rows: int) -> NDArray[Any]:
    """An array of one plain type (bool, int64, str) from one column's Python values.

    Raises `NullError` for a missing label (with its row number) and `UncertainError` for values that are not
    class labels; floats are accepted with ``task="classification"`` when they are whole numbers.
    """
    if len(values) != n_rows:
        raise ShapeError(f"{what}: expected {n_rows} labels, one per row, got {len(values)}")
    plain = [v.item() if isinstance(v, np.generic) else v for v in values]
    for row, value in enumerate(plain):
        if value is None or value != value:
            raise NullError(f"{what}: row {row} has no label; drop the rows without one")
    kinds = {type(v) for v in plain}
    if not kinds <= set(_WORDS):
        strange = next(t for t in kinds if t not in _WORDS)
        raise UncertainError(f"{what}: labels must be strings, booleans or integers, got {strange.__name__}")
    if len(kinds) > 1 and kinds != {int, float}:
        words = " and ".join(sorted(_WORDS[k] for k in kinds))
        raise UncertainError(f"{what}: labels must be of one type, got {words}")
    array = np.asarray(plain)
    if array.dtype.kind not in "biUf" and plain:
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
    return array


def is_quantity(values: Sequence[Any], task: str) -> bool:
    """Do these values ask for regression? With ``task="auto"``: numbers of which one is no whole number."""
    if task != "auto":
        return task == "regression"
    plain = [v.item() if isinstance(v, np.generic) else v for v in values]
    numbers = all(type(v) in (int, float) for v in plain)
    return numbers and any(isinstance(v, float) and v == v and not v.is_integer() for v in plain)


def numbers_from(values: Sequence[Any], what: str, n_rows: int) -> NDArray[np.float64]:
    """The targets of a regression as floats: finite numbers, one per row.

    Raises `NullError` for a missing one (with its row number) and `UncertainError` for anything else.
    """
    if len(values) != n_rows:
        raise ShapeError(f"{what}: expected {n_rows} targets, one per row, got {len(values)}")
    if n_rows == 0:
        raise UncertainError(f"{what}: the table has no rows")
    plain = [v.item() if isinstance(v, np.generic) else v for v in values]
    for row, value in enumerate(plain):
        if value is None or value != value:
            raise NullError(f"{what}: row {row} has no target; drop the rows without one")
        if not isinstance(value, (int, float, Decimal)) or isinstance(value, bool) or abs(value) == math.inf:
            raise UncertainError(
                f"{what}: row {row} is {value!r}; the target of a regression must be a finite number"
            )
    return np.asarray(plain, dtype=np.float64)


def errors_from(values: Sequence[Any], what: str, n_rows: int, *, missing: float | None) -> Floats:
    """Standard deviations of the targets of a regression: finite numbers >= 0, one per row.

    `missing` takes the place of a null or NaN; with None that is a `NullError`.
    """
    if len(values) != n_rows:
        raise ShapeError(f"{what}: expected {n_rows} standard deviations, one per row, got {len(values)}")
    plain = [v.item() if isinstance(v, np.generic) else v for v in values]
    for row, value in enumerate(plain):
        if value is None or value != value:
            if missing is None:
                raise NullError(
                    f"{what}: row {row} has no error bar of its target; drop such rows, or pass "
                    'on_missing="point" to call the target exact'
                )
            plain[row] = missing
        elif (
            not isinstance(value, (int, float, Decimal))
            or isinstance(value, bool)
            or not 0 <= value < math.inf
        ):
            raise UncertainError(
                f"{what}: row {row} is {value!r}; the standard deviation of a target must be a number >= 0"
            )
    return np.asarray(plain, dtype=np.float64)


def as_list(values: Any) -> list[Any]:
    """Labels of any array or series type as Python objects."""
    for method in ("to_list", "tolist", "to_pylist"):
        if hasattr(values, method):
            return list(getattr(values, method)())
    if not isinstance(values, Iterable):
        raise ParameterError(f"target={values!r}: must be the name of a column, or one label per row")
    return list(values)


def check_task(task: str) -> None:
    """Refuse what cannot be fitted, with what to do instead."""
    if task not in ("auto", "classification", "regression"):
        raise ParameterError(f'task={task!r}: must be one of "auto", "classification", "regression"')


def _whole(values: NDArray[np.float64], what: str, task: str) -> NDArray[np.int64]:
    if task != "classification":
        raise UncertainError(
            f"{what}: whole numbers stored as floats may be classes or quantities: pass "
            'task="classification" or task="regression"'
        )
    fractional = np.flatnonzero(values != np.round(values))
    if fractional.size:
        row = int(fractional[0])
        raise UncertainError(
            f"{what}: row {row} is {values[row]}; class labels must be whole numbers, strings or booleans"
        )
    return labels_from(values.astype(np.int64).tolist(), what, task, len(values))
