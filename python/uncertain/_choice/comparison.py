"""What all members of a choice are tried on: the same rows, the same folds, errors of the same sizes.

The number of folds depends on the number of rows, never on the clock, so that a choice repeats itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from .._base.folds import Fold, split
from .._data.array import GaussianArray
from .._data.incomplete import GaussianRows
from .._data.typing import Floats, Ints, Labels
from .._held_out.fits import means_alone
from .._held_out.means import Mean, weighted_mean
from .._rows.training import TrainingRows
from ..preprocessing._readings import Readings, TruthOfClasses, TruthOfTargets
from .portfolio import Request

MOST_ROWS = 20_000
"""Rows that a choice is made on."""
FEW, SOME, MANY = 200, 999, 6_000
"""Rows below which a thorough choice has three repeats, up to which there are five folds, and up to which
three; beyond, a third is held out once."""
SIZES = 3
"""Sizes of errors, from the smallest to the largest of a range."""
COMPONENTS = 5
"""Gaussians of the true values, for smaller errors."""
USUAL = (1.0, 4.0)
"""The range of errors that candidates are judged by where nothing is asked for: tomorrow's may be larger."""
ENOUGH_ROWS = 1_000
"""With fewer rows they are judged by errors as they are, which would else lose by it."""
LEAST_OF_CLASS = 20
"""Rows, or groups, of each class in a sample, if there are so many."""


@dataclass(frozen=True)
class Comparison:
    """Rows, and the folds that hold them out."""

    training: TrainingRows
    """At most `MOST_ROWS`."""
    folds: Sequence[Fold]
    readings: Sequence[GaussianRows]
    """All rows as read with each of the sizes of errors."""
    classes: Labels | None
    """None for numbers."""
    larger: bool = False
    """Are all readings but the first there for the choice alone, and scores those of the first?"""

    @classmethod
    def from_request(cls, request: Request, training: TrainingRows) -> Self:
        """The rows and folds of a choice."""
        random = np.random.RandomState(request.random_state)
        training = sample(training, None if request.regression else training.y, MOST_ROWS, random)
        folds, used, repeats = plan(len(training), thorough=request.effort == "high")
        groups, labels = training.groups, None if request.regression else training.y
        folds = folds if groups is None else min(folds, groups.count)
        splits = split(len(training), random, folds=folds, repeats=repeats, classes=labels, groups=groups)
        # A spread is no noise that another reading could have more of.
        larger = request.noise is None and request.meaning != "spread" and not request.exact
        larger = larger and len(request.rows) >= ENOUGH_ROWS
        sizes = sizes_of_errors(USUAL if larger else request.noise)
        readings = read_with(training.rows, sizes, training.y, request.regression, training.weights, random)
        classes = None if labels is None else np.unique(labels)
        return cls(training, splits if used == folds else splits[:used], readings, classes, larger)

    @property
    def repeats(self) -> int:
        """How often each row is held out."""
        return 1 + max(fold.repeat for fold in self.folds)

    def without_errors(self) -> Comparison:
        """The same folds of the means alone."""
        read = self.training.rows
        exact = means_alone(read)
        readings = [exact if rows is read else means_alone(rows) for rows in self.readings]
        return replace(self, training=self.training.instead(exact), readings=readings)

    def as_scored(self) -> Comparison:
        """The same for members that are judged by their scores."""
        return replace(self, readings=self.readings[:1], larger=False) if self.larger else self

    def scored(self, answers: Floats) -> Floats:
        """Of answers (repeats x readings, n) those that scores are of."""
        return answers[:: len(self.readings)] if self.larger else answers

    def mean(self, losses: Floats) -> Mean:
        """Of the losses that are not NaN, over rows that count and groups that stay together."""
        return weighted_mean(losses, self.training.counts, self.training.groups)


def plan(n: int, *, thorough: bool) -> tuple[int, int, int]:
    """(folds, of which so many are used, repeats) for `n` rows."""
    if thorough:
        return (5, 5, 3) if n < FEW else (5, 5, 2) if n <= SOME else (5, 5, 1) if n <= MANY else (3, 3, 1)
    return (5, 5, 1) if n <= SOME else (3, 3, 1) if n <= MANY else (3, 1, 1)


def sample(
    training: TrainingRows, classes: Labels | None, most: int, random: np.random.RandomState
) -> TrainingRows:
    """At most about so many rows: of every class the same share, but a few of each; whole groups."""
    n = len(training)
    if n <= most:
        return training
    if training.groups is None:
        members: Ints = np.arange(n)
        sizes = np.ones(n, dtype=np.int64)
    else:
        _, members, sizes = np.unique(training.groups.codes, return_inverse=True, return_counts=True)
    codes = np.zeros(n, dtype=np.int64) if classes is None else np.unique(classes, return_inverse=True)[1]
    class_of_group = np.empty(len(sizes), dtype=np.int64)
    class_of_group[members] = codes  # of a group of several classes that of its last row
    kept = []
    for code in range(int(codes.max()) + 1):
        own = random.permutation(np.flatnonzero(class_of_group == code))
        share = round(sizes[own].sum() * most / n)
        some = np.cumsum(sizes[own]) <= share
        some[:LEAST_OF_CLASS] = True
        kept.append(own[some])
    return training.take(np.flatnonzero(np.isin(members, np.concatenate(kept))))


def sizes_of_errors(noise: tuple[float, float] | None) -> Floats:
    """The sizes of errors that are judged by, in units of today's."""
    if noise is None or noise[0] == noise[1] == 1.0:
        return np.ones(1)
    return np.geomspace(*noise, SIZES) if noise[0] < noise[1] else np.array([noise[0]], dtype=np.float64)


def read_with(
    rows: GaussianRows,
    sizes: Floats,
    y: Labels,
    regression: bool,
    weights: Floats | None,
    random: np.random.RandomState,
) -> tuple[GaussianRows, ...]:
    """All rows as they would have been read with each of the sizes of errors."""
    if np.array_equal(sizes, [1.0]):
        return (rows,)
    truth: GaussianArray | None = None
    if sizes.min() < 1.0:
        targets: Labels = y if regression else np.unique(y, return_inverse=True)[1]
        law: type[TruthOfTargets] | type[TruthOfClasses] = TruthOfTargets if regression else TruthOfClasses
        truth = law(rows, targets, weights, COMPONENTS, random).posterior(rows, targets)
    readings = Readings(rows, random, truth)
    return tuple(
        rows if size == 1.0 else readings.again(np.full(rows.shape, size)) for size in sizes.tolist()
    )
