"""What the reports share: the folds that everything is compared on, and the text and fields about them."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.model_selection import RepeatedKFold, RepeatedStratifiedKFold

from .._data.typing import Ints, Labels, RandomState
from ..exceptions import ParameterError, UncertainError
from ..tables._groups import Groups, check_group_number, too_few_groups

MANY_ROWS = 10_000
"""Above this one repeat is the default: so many held-out rows leave little luck to average."""


class Folds(NamedTuple):
    """(train, test) of every fold of every repeat, and what a report says about them."""

    splits: list[tuple[Ints, Ints]]
    about: dict[str, Any]

    @property
    def per_repeat(self) -> int:
        """Folds of one repeat, which hold out every row once."""
        return int(self.about["folds"])

    @classmethod
    def of(
        cls,
        n: int,
        classes: Labels | None,
        *,
        folds: int,
        repeats: int | None,
        groups: Groups | None,
        random_state: RandomState,
        noun: str = "rows",
    ) -> Folds:
        """Folds of `n` labelled rows, stratified by their classes if they have some; of whole groups."""
        if repeats is None:
            repeats = 1 if n > MANY_ROWS else 4
        check_counts(folds=(folds, 2), repeats=(repeats, 1))
        if classes is None:
            if n < 2 * folds:
                raise UncertainError(f"cross-validation in {folds} folds needs at least {2 * folds} {noun}")
            if groups is not None:
                check_group_number(groups, folds)
        else:
            found, counts = (
                np.unique(classes, return_counts=True) if groups is None else groups.counts_of(classes)
            )
            folds = min(folds, int(counts.min()))
            if folds < 2:
                rare = found[counts.argmin()].item()
                raise UncertainError(
                    f"class {rare!r} has a single row: cross-validation needs at least two {noun} of every "
                    "class"
                    if groups is None
                    else too_few_groups(rare, groups)
                )
        about = {"folds": folds, "repeats": repeats}
        if groups is not None:
            splits = groups.splits(folds, repeats, random_state, classes)
            return cls(splits, about | {"n_groups": groups.count, "group": groups.name})
        kind = RepeatedKFold if classes is None else RepeatedStratifiedKFold
        splitter = kind(n_splits=folds, n_repeats=repeats, random_state=random_state)
        return cls(list(splitter.split(np.empty(n), classes)), about)


@dataclass(frozen=True, kw_only=True, repr=False)
class BaseReport:
    """What held-out rows of a repeated cross-validation say about a model; printed as text."""

    _derived: ClassVar[tuple[str, ...]]
    """Properties that `to_dict` gives beside the fields."""

    n_rows: int
    folds: int
    repeats: int
    n_groups: int | None = None
    """Groups whose rows were held out together; None if rows were held out one by one."""
    group: str | None = None
    """What the rows of one group share: the name of the column, or "group"."""

    @property
    def verdict(self) -> str:
        """One sentence; a difference counts when it exceeds two standard errors."""
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        """Numbers, strings and lists, ready for JSON or a data frame."""
        names = (*(f.name for f in fields(self)), *self._derived)
        return {name: json_ready(getattr(self, name)) for name in names}

    def __repr__(self) -> str:
        return str(self)

    def _design(self, rows: str) -> str:
        """The folds, for the headline of the text."""
        groups = "" if self.n_groups is None else f", rows of one {self.group} kept together "
        groups += "" if self.n_groups is None else f"({self.n_groups:,} groups)"
        return f"{self.folds} folds x {self.repeats} repeats, {rows}{groups}"


def check_counts(**counts: tuple[Any, int]) -> None:
    """Refuse what is not an integer of at least the given size: ``check_counts(folds=(folds, 2))``."""
    for name, (value, least) in counts.items():
        if not isinstance(value, int) or value < least:
            raise ParameterError(f"{name}={value!r}: must be an integer >= {least}")


def json_ready(value: Any) -> Any:
    """Arrays as lists, reports as dictionaries, and None for a number that there is not."""
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if isinstance(value, (list, np.ndarray)):
        return [json_ready(v) for v in (value.tolist() if isinstance(value, np.ndarray) else value)]
    return None if isinstance(value, float) and np.isnan(value) else value
