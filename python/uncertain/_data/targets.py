"""Targets, labels and weights of rows: what is accepted, and what is said of what is not."""

import math
import re
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

import numpy as np

from ..exceptions import NullError, UncertainError, UncertainWarning
from .column import Coded, Column, encoded, is_missing, read_column
from .numbers import refuse_where
from .options import refuse_if
from .typing import Floats, Ints, Label, Labels, Values
from .warn import warn

MANY_CLASSES = 20
"""Integer targets with more distinct values than this are taken for quantities, not classes."""
TWO_CLASSES = ({-1.0, 1.0}, {0.0, 1.0})
"""Whole floats that nobody means as quantities: the labels of textbooks, stored as floats."""
MOST_LETTERS = 1_000
"""Letters of a label: all rows of an array have room for the longest."""
AMBIGUOUS = (
    "whole numbers stored as floats may be classes or quantities: pass "
    'task="classification" or task="regression"'
)
NO_LABEL = "has no label; drop the rows without one"
WORDS = {bool: "booleans", int: "integers", str: "strings", float: "floats"}

NUMBERS = {
    "targets": (
        "the target of a regression must be a finite number",
        "has no target; drop the rows without one",
    ),
    "standard deviations": (
        "the standard deviation of a target must be a number >= 0",
        'has no error bar of its target; drop such rows, or pass on_missing="point" to call the target exact',
    ),
    "weights": (
        "a weight must be a finite number >= 0",
        "has no weight; give it one, such as 0 to leave the row out",
    ),
    "numbers": ("it must be a finite number", "has no value; drop the rows without one"),
}
"""Of each kind of number the rule, and what is said of a row without one."""


def targets_from(
    values: Values, what: str, task: str, n_rows: int, *, partial: bool = False, coded: bool = False
) -> tuple[Any, bool]:
    """(targets, are they quantities?) from one value per row.

    Labels come in an array of one plain type (bool, int64, str), quantities as floats. With ``task="auto"``
    floats that are not all whole, or beyond 2^53, are quantities; -1.0 and 1.0, or 0.0 and 1.0, are two
    classes. For methods that learn from rows without a target (`partial`) all floats are quantities, and
    integers of more than 20 different values. Such rows have the label None, or the quantity NaN.
    `coded`: labels are `Coded`, which needs no array of them.

    Raises `NullError` for a missing target (unless `partial`) and `UncertainError` for what is neither.
    """
    column = read_column(values, what, n_rows, "targets" if partial or task == "regression" else "labels")
    present = column if column.missing is None else column.present
    refuse_if(partial and not len(present.array), f"{what}: no row has a label", UncertainError)
    if _are_quantities(present, task, partial=partial):
        return finite_numbers(column, what, "targets", missing=math.nan if partial else None), True
    if not partial:
        if column.missing is not None:
            column.refuse_missing(what, NO_LABEL)
        labels = _labels(column, what, task)
        return (Coded.from_labels(labels) if coded else labels[:]), False
    labels = np.full(n_rows, None, dtype=object)
    labels[slice(None) if column.missing is None else ~column.missing] = _labels(
        present, what, "classification"
    )[:].tolist()
    return labels, False


def _are_quantities(column: Column, task: str, *, partial: bool) -> bool:
    if task != "auto":
        return task == "regression"
    if column.kind == "floats":
        array = column.array  # beyond 2^53 every float is whole
        fractions = ((array != np.round(array)) | (np.abs(array) >= 2.0**53)).any()
        return bool(partial or fractions or not np.isfinite(array).all())
    return partial and column.kind == "integers" and len(column.distinct()[0]) > MANY_CLASSES


def _labels(column: Column, what: str, task: str) -> Any:
    """Return labels of two classes at least; whole floats are integers."""
    labels = plain_labels(column, what)
    refuse_if(not len(labels), f"{what}: the table has no rows", UncertainError)
    if column.kind == "floats":
        labels = _whole(labels, what, task)
    distinct = column.texts or encoded(labels)[0].tolist()
    if column.kind == "floats" and task != "classification" and set(distinct) not in TWO_CLASSES:
        raise UncertainError(f"{what}: {AMBIGUOUS}")
    limit = next((text for text in column.texts if re.match(r"\s*[<>]=?[^<>]*\d", text)), None)
    if limit is not None and sum(_is_number(text) for text in column.texts) > len(column.texts) / 2:
        raise UncertainError(
            f"{what}: {limit!r} is a limit among numbers. Make a column of numbers and one of flags ('<' or "
            f"''), and pass limits={{{what!r}: flags}}."
        )
    n_distinct = len(distinct)
    if column.kind == "integers" and task == "auto" and n_distinct > MANY_CLASSES:
        raise UncertainError(
            f'{what}: {n_distinct} different integers look like a quantity: pass task="regression"; '
            'if they are class labels pass task="classification"'
        )
    if n_distinct < 2:
        label = labels[:1].tolist()[0]
        raise UncertainError(f"{what}: every label is {label!r}; a classifier needs at least two classes")
    classes = {*column.texts}
    spaced = sorted(text for text in classes if text != text.strip() and text.strip() in classes)
    if spaced:
        padded = spaced[0]
        warn(
            f"{what}: the classes {padded.strip()!r} and {padded!r} differ by blanks alone. If they are one "
            "class, strip the blanks",
            UncertainWarning,
        )
    return labels


def _is_number(text: str) -> bool:
    return re.fullmatch(r"\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*", text) is not None


def _whole(labels: Floats, what: str, task: str) -> Ints:
    """Return whole floats as integers."""
    if task == "classification":
        rule = "class labels must be whole numbers, strings or booleans"
        refuse_where(labels != np.round(labels), labels, what, rule)
    if max(labels.max(), -labels.min()) >= 2.0**63:
        wide = "integer labels must fit into 64 bits"
        raise UncertainError(f"{what}: {wide if task == 'classification' else AMBIGUOUS}")
    return labels.astype(np.int64)


def plain_labels(column: Column, what: str) -> Any:
    """Return booleans, 64-bit integers, floats or coded strings; UncertainError for labels of other types."""
    if column.kind in ("decimals", "others"):
        kinds = {type(value) for value in column.values if not is_missing(value)}
        words = " and ".join(sorted(WORDS.get(kind, "") for kind in kinds))
        strange = next((kind.__name__ for kind in kinds if kind not in WORDS), None)
        raise UncertainError(
            f"{what}: labels must be of one type, got {words}"
            if strange is None
            else f"{what}: labels must be strings, booleans or integers, got {strange}"
        )
    if column.kind == "integers" and len(column.array) and column.array.dtype.kind != "i":
        raise UncertainError(f"{what}: integer labels must fit into 64 bits")
    if column.kind != "strings":
        return column.array
    for place, text in enumerate(column.texts):
        if len(text) > MOST_LETTERS or text.endswith("\0"):  # NumPy takes NUL at the end away
            row, ending = np.argmax(column.array == place), " with a NUL character at its end"
            raise UncertainError(
                f"{what}: row {row} is a label of {len(text):,} letters{ending * text.endswith(chr(0))}; "
                f"labels are text of up to {MOST_LETTERS:,} letters that does not end with one"
            )
    return Coded(np.asarray(column.texts, dtype=str), column.array)


def places(column: Column, classes: Labels, what: str, *, partial: bool = False) -> Ints:
    """Return the places of labels among the classes of a model; with `partial` -1 for a row without one."""
    if not partial:
        column.refuse_missing(what, NO_LABEL)
    known = {label: place for place, label in enumerate(classes.tolist())}
    if column.kind == "others":
        found = np.array([known.get(value, -1) for value in column.values], dtype=np.int64)
    else:
        distinct, codes = column.distinct()
        found = np.array([*(known.get(label, -1) for label in distinct.tolist()), -1], dtype=np.int64)[codes]
    if column.missing is not None:
        found[column.missing] = -1
    wrong = found < 0 if column.missing is None else (found < 0) & ~column.missing
    if wrong.any():
        row, names = int(np.argmax(wrong)), ", ".join(map(repr, classes.tolist()))
        raise UncertainError(
            f"{what}: row {row} is {column.shown(row)}, no class of the model; its classes are {names}"
        )
    return found


def warn_of_weightless(what: str, classes: Iterable[Label]) -> None:
    """Warn of labels that only rows of weight 0 have."""
    names = ", ".join(map(repr, sorted(classes, key=str)))
    message = f"{what}: only rows of weight 0 are {names}, so the model does not know such rows"
    warn(f"{message}. Give some of them a weight > 0 to predict this", UncertainWarning)


def weights_from(values: Values, what: str, n_rows: int, *, some: bool = True) -> Floats:
    """Return how much each row counts: finite numbers >= 0, one per row, and with `some` one of them > 0."""
    weights = numbers_from(values, what, n_rows, "weights")
    if some and not weights.any():
        raise UncertainError(f"{what}: every weight is 0, which leaves no rows to learn from")
    return weights


def numbers_from(
    values: Values, what: str, n_rows: int, noun: str = "numbers", *, missing: float | None = None
) -> Floats:
    """Return finite numbers, one per row; `noun` is one of `NUMBERS`. `missing` takes the place of a null or
    NaN, and NaN that of infinite and negative standard deviations."""
    return finite_numbers(read_column(values, what, n_rows, noun), what, noun, missing=missing)


def finite_numbers(column: Column, what: str, noun: str, *, missing: float | None) -> Floats:
    """Return the numbers of a column, see `numbers_from`; booleans are 0 and 1 among "numbers"."""
    if noun in ("targets", "standard deviations") and not len(column.array):
        raise UncertainError(f"{what}: the table has no rows")
    least = 0.0 if noun in ("standard deviations", "weights") else -math.inf
    gaps = np.zeros(len(column.array), dtype=bool) if column.missing is None else column.missing
    if column.kind in ("integers", "floats", "decimals") or (column.kind, noun) == ("booleans", "numbers"):
        numbers = column.array.astype(np.float64, copy=column.missing is not None)
        if column.missing is None and np.isfinite(numbers).all() and numbers.min(initial=0.0) >= least:
            return numbers
        wrong = ~np.isfinite(numbers) | (numbers < least)
        if least == 0.0 and missing is not None and math.isnan(missing):  # unusable error bars
            gaps = gaps | ~((numbers >= 0.0) & (numbers < math.inf))
    else:
        wrong = np.array([type(value) not in (int, float, Decimal) for value in column.values], dtype=bool)
    rule, absent = NUMBERS[noun]
    faults = wrong & ~gaps if missing is not None else wrong | gaps
    if faults.any():
        row = int(np.argmax(faults))
        if gaps[row]:
            raise NullError(f"{what}: row {row} {absent}")
        raise UncertainError(f"{what}: row {row} is {column.shown(row)}; {rule}")
    if missing is not None:
        numbers[gaps] = missing
    return numbers


def target_scale(y: Floats, weights: Floats | None = None) -> float:
    """Return the interquartile range / 1.349: the standard deviation, if targets are normal.

    Where half of them are equal it is 1.2533 * mean abs(y - median), and 1 where all are. NaN do not count. A
    quartile between two targets is their middle, so that neither rounded sums of weights nor signs move it.
    """
    order = np.argsort(y)[: np.count_nonzero(~np.isnan(y))]
    values, counts = y[order], np.ones(len(order)) if weights is None else weights[order]
    total = np.cumsum(counts)
    beside = np.add.outer([-1e-9, 1e-9], [0.25, 0.5, 0.75])
    low, middle, high = values[np.searchsorted(total, beside * total[-1])].mean(axis=0)
    if high > low:
        return float((high - low) / 1.349)
    return float(1.2533 * np.average(np.abs(values - middle), weights=counts)) or 1.0
