"""Boosting on re-measured rows in a choice: models of all folds at once, and their mean as the model."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import Pipeline

from .._base.folds import Fold
from .._held_out.fits import for_known_features
from .._rows.training import TrainingRows
from .._trees.in_folds import SWIFT, learners_of_folds
from .candidates import Member

ENOUGH = 3
"""Learners of folds whose mean is as good as learners of all rows."""


@dataclass(frozen=True)
class Boosted:
    """Learners of the rows that folds leave, behind steps that are fitted to all rows."""

    front: Pipeline | None
    last: BaseEstimator
    name: str
    """Of the step."""
    learners: Sequence[BaseEstimator]

    @classmethod
    def fit(cls, member: Member, training: TrainingRows, folds: Sequence[Fold]) -> Boosted:
        """The member's learners; UncertainError if it cannot be fitted."""
        assert member.pipeline is not None
        pipeline, some = for_known_features(clone(member.pipeline), training)
        front = None if len(pipeline.steps) == 1 else some.fitted(Pipeline(pipeline.steps[:-1]))
        if front is not None:
            some = some.instead(front.transform(some.rows))
        last, trees = pipeline[-1], member.parameters.get("n_trees")
        learners = learners_of_folds(
            last, some.rows, some.y, folds, n_trees=None if trees is None else trees // SWIFT,
            **some.step_arguments(last),
        )  # fmt: skip
        return cls(front, last, pipeline.steps[-1][0], learners)

    @property
    def n_trees(self) -> int:
        """Trees of a learner that is not swift."""
        return SWIFT * int(self.last.n_trees_)

    @property
    def models(self) -> list[Pipeline]:
        """Of each fold."""
        return [self._with(learner) for learner in self.learners]

    def whole(self, member: Member, training: TrainingRows, *, same: bool) -> Pipeline:
        """The model of all rows: the mean of the learners, and where they are few of one that is fitted to
        all rows. `same`: are these the rows of which folds left some?"""
        learners, whole = list(self.learners), self
        if not same or len(learners) < ENOUGH or self._unlike:
            everything = Fold(0, np.arange(len(training)), np.empty(0, dtype=np.int64))
            whole = Boosted.fit(member, training, [everything])
            learners = [*(learners if same and not self._unlike else []), *whole.learners]
        return whole._with(whole.last._averaged(learners))

    @property
    def _unlike(self) -> bool:
        """Has a fold left no row of some class?"""
        classes = getattr(self.last, "classes_", ())
        return any(len(getattr(one, "classes_", ())) < len(classes) for one in self.learners)

    def _with(self, learner: BaseEstimator) -> Pipeline:
        last = copy(self.last)
        last.estimator_ = learner
        if hasattr(learner, "classes_"):
            last.classes_ = learner.classes_
        return Pipeline([*(() if self.front is None else self.front.steps), (self.name, last)])
