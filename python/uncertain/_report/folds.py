"""The folds that everything in a report is compared on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Self

import numpy as np
from sklearn.utils import check_random_state

from .._base.folds import split as split_rows
from .._data.groups import Groups, check_group_number, too_few_groups
from .._data.incomplete import GaussianRows
from .._data.typing import Floats, Ints, Keywords, Labels, RandomState
from .._held_out.equal import equal_rows
from ..exceptions import ParameterError, UncertainError
from .pace import Pace

MOST_FITS = 10_000
"""Folds times repeats: more would take days and tell nothing more."""
MANY_ROWS = 10_000
"""Above this one repeat is the default: so many held-out rows leave little luck to average."""


class Folds(NamedTuple):
    """(train, test) of every fold of every repeat, and what a report says about them."""

    splits: list[tuple[Ints, Ints]]
    about: Keywords

    @property
    def per_repeat(self) -> int:
        """Folds of one repeat, which hold out every row once."""
        return int(self.about["folds"])


@dataclass(frozen=True, kw_only=True)
class Design:
    """How the candidates of a report are compared: the arguments that all reports share."""

    folds: int = 5
    repeats: int | None = None
    groups: Groups | None = None
    """Rows that are held out together."""
    weights: Floats | None = None
    """How much each row counts in the fits."""
    scorers: Sequence[str] | str | None = None
    scoring: str | None = None
    pace: Pace = field(default_factory=Pace)
    random_state: RandomState = 0
    n_equal: int = 0
    """Rows that are held out together because they equal one another."""

    def with_equal_rows(self, rows: GaussianRows, classes: Labels | None) -> Self:
        """The same with equal rows as groups, where the caller named no groups and that leaves folds."""
        equal = equal_rows(rows) if self.groups is None else None
        if equal is None:
            return self
        sets = np.zeros(len(rows)) if classes is None else classes
        fewest = equal.groups.groups_per_class(sets)[1].min()
        if fewest < (2 if classes is not None else 2 * self.folds):
            return self
        return replace(self, groups=equal.groups, n_equal=equal.n_together)

    def split(self, n: int, classes: Labels | None, groups: Groups | None, noun: str = "rows") -> Folds:
        """The folds of `n` labelled rows, stratified by their classes if they have some; of whole groups."""
        folds, repeats, random_state = self.folds, self.repeats, self.random_state
        if repeats is None:
            repeats = 1 if n > MANY_ROWS else 4
        check_counts(folds=(folds, 2), repeats=(repeats, 1))
        if folds * repeats > MOST_FITS:
            raise ParameterError(
                f"folds={folds}, repeats={repeats}: that is {folds * repeats} fits of every candidate, and "
                f"at most {MOST_FITS} make sense"
            )
        if classes is None:
            if n < 2 * folds:
                raise UncertainError(f"cross-validation in {folds} folds needs at least {2 * folds} {noun}")
            if groups is not None:
                check_group_number(groups, folds)
        else:
            found, counts = (
                np.unique(classes, return_counts=True) if groups is None else groups.groups_per_class(classes)
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
        about: Keywords = {"folds": folds, "repeats": repeats}
        if self.n_equal:
            about |= {"n_equal": self.n_equal}
        elif groups is not None:
            about |= {"n_groups": groups.count, "group": groups.name}
        random = check_random_state(random_state)
        splits = split_rows(n, random, folds=folds, repeats=repeats, classes=classes, groups=groups)
        return Folds([(fold.train, fold.test) for fold in splits], about)


def check_counts(**counts: tuple[object, int]) -> None:
    """Refuse what is not an integer of at least the given size: ``check_counts(folds=(folds, 2))``."""
    for name, (value, least) in counts.items():
        if not isinstance(value, int) or value < least:
            raise ParameterError(f"{name}={value!r}: must be an integer >= {least}")
