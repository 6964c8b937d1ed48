"""Which rows belong together: a patient measured three times, a star seen on several nights.

Rows of one object are alike for reasons that no new object shares. Where rows are held out, those of one
group are held out together: in the folds that calibrate probabilities, and in those of `Model.report`. The
folds are the core's (`group_folds`): whole groups, classes and sizes as even as groups allow, the same for
one seed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from ..exceptions import ParameterError, UncertainError
from .column import as_values, encoded, read_column
from .typing import Codes, Ints, Labels


@dataclass(frozen=True)
class Groups:
    """The groups of the rows of a report."""

    codes: Codes
    """The group of each row; rows of one group have the same number."""
    name: str = "group"
    """Name of the column that holds the groups, if it is one."""

    @property
    def count(self) -> int:
        return len(np.unique(self.codes))

    def take(self, rows: Ints) -> Self:
        return type(self)(self.codes[rows], self.name)

    def members(self, rows: Ints) -> Ints:
        """All rows of the groups of these rows."""
        return np.flatnonzero(np.isin(self.codes, self.codes[rows]))

    def groups_per_class(self, classes: Labels) -> tuple[Labels, Ints]:
        """The distinct classes, and in how many groups each has rows."""
        distinct, codes = encoded(classes)
        return distinct, groups_with(codes, self.codes, len(distinct))


def too_few_groups(label: object, groups: Groups) -> str:
    """Why a class cannot be cross-validated, and what to do."""
    return (
        f"class {label!r} has rows in one {groups.name} only, and cross-validation of whole groups needs "
        "two. Leave the class out, or score new rows of these groups by groups=False"
    )


def groups_from(values: ArrayLike | Sequence[object], what: str, n_rows: int) -> Codes:
    """Numbers from the groups of the rows, which may be of any type; numbered in order of appearance."""
    if isinstance(values, (str, bytes)) or not hasattr(values, "__len__"):
        raise ParameterError(f"{what}={values!r}: must be the groups of the rows, one value per row")
    column = read_column(as_values(values, what), what, n_rows, "groups")
    column.refuse_missing(
        what, "has no group; drop such rows, or give each one a group of its own, such as its row number"
    )
    if column.kind != "others":
        _, first, codes = np.unique(column.array, return_index=True, return_inverse=True)
        rank = np.empty(len(first), dtype=np.uint32)
        rank[np.argsort(first)] = np.arange(len(first), dtype=np.uint32)
        return rank[codes]
    place: dict[object, int] = {}
    numbers = np.empty(n_rows, dtype=np.uint32)
    for row, value in enumerate(column.values):
        try:
            numbers[row] = place.setdefault(value, len(place))
        except TypeError:
            raise UncertainError(
                f"{what}: row {row} is {value!r}; a group is one value, such as a string or an integer"
            ) from None
    return numbers


def groups_with(codes: Labels, groups: Codes, n_classes: int) -> Ints:
    """The number of groups with rows of each class."""
    base = np.int64(2**32)  # beyond every group's number
    pairs = np.unique(codes.astype(np.int64) * base + groups)
    return np.bincount(pairs // base, minlength=n_classes)
