"""`RowStore`: what a fit asks of its rows, wherever they are.

A fit goes through the steps of a pipeline: each is fitted to all rows, and what it makes of them takes their
place. (A `Pipeline` keeps every stage until the next one is there: the table, its Gaussians and the scaled
Gaussians, three times the data.)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import ClassVar

from sklearn import config_context
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline

from .._base.sums import Need, beyond_sums
from .._data.incomplete import GaussianRows, Incomplete
from .._data.typing import Floats
from .._uncertain import partial_sums
from ..exceptions import ParameterError
from .training import TrainingRows


class RowStore(ABC):
    """Rows of a table as Gaussians, with what is known of each."""

    where: ClassVar[str] = ""
    """What errors call the store."""
    gives: ClassVar[frozenset[Need]] = frozenset(Need)
    """What it gives a fit beside sums over the rows."""

    @abstractmethod
    def __len__(self) -> int:
        """The number of rows."""

    @property
    @abstractmethod
    def has_gaps(self) -> bool:
        """Is a value missing?"""

    @abstractmethod
    def fit(self, step: BaseEstimator) -> None:
        """Fit a step of a pipeline to all rows."""

    @abstractmethod
    def transform(self, step: BaseEstimator) -> None:
        """Replace the rows by what a fitted step makes of them."""

    @abstractmethod
    def sample(self, most: int) -> TrainingRows:
        """At most so many of the rows, in memory; all of them, if there are no more."""

    @abstractmethod
    def answer(self, requests: bytes) -> list[Floats]:
        """The sums over the rows that a pass asks for, of each group of rows in order."""

    @contextmanager
    def fitting(self, pipeline: Pipeline) -> Iterator[None]:
        """What there is to do before and after a fit of these steps; nothing by default."""
        yield

    def fit_steps(self, pipeline: Pipeline) -> Pipeline:
        """Fit all steps, one after the other; the rows become those of the last one."""
        refuse(self, pipeline[-1])
        *front, (_, last) = pipeline.steps
        # Metadata routing would take names without steps.
        with self.fitting(pipeline), config_context(enable_metadata_routing=False):
            for _, step in front:
                self.fit(step)
                self.transform(step)
            self.fit(last)
        return pipeline


class LocalRows(RowStore):
    """Rows that this process reads in place, in memory or in a mapped file."""

    known: TrainingRows
    """What is known of the rows, without the rows."""

    @property
    @abstractmethod
    def rows(self) -> GaussianRows:
        """All rows as one array, which copies nothing."""

    def __len__(self) -> int:
        return len(self.known)

    @property
    def has_gaps(self) -> bool:
        rows = self.rows
        return isinstance(rows, Incomplete) and bool(rows.missing.any())

    def sample(self, most: int) -> TrainingRows:
        """By a hash of row numbers, or of groups; it stays when the rows are replaced."""
        return replace(self.known, rows=self.rows).sampled(most)

    def fit(self, step: BaseEstimator) -> None:
        """By the `fit` of the step."""
        replace(self.known, rows=self.rows).fit_step(step)

    def answer(self, requests: bytes) -> list[Floats]:
        """One group, of all rows."""
        return [partial_sums(replace(self.known, rows=self.rows).part, requests)]


def refuse(store: RowStore | type[RowStore], estimator: BaseEstimator) -> None:
    """ParameterError, with what to do, for an estimator that needs what a store does not give."""
    reason = refusal(store, estimator)
    if reason is not None:
        raise ParameterError(reason)


def refusal(store: RowStore | type[RowStore], estimator: BaseEstimator) -> str | None:
    """Why the rows of a store do not suffice for the fit of an estimator; None if they do."""
    if len(store.gives) == len(Need):
        return None
    for need, why, instead in beyond_sums(estimator):
        if need not in store.gives:
            return f"{store.where}: {why}, so the fit is not made of sums over the rows; {instead}"
    return None
