"""`RemoteRows`: rows that other processes hold, which answer requests with sums.

An estimator is fitted by its own `fit`: it is given a sample of the rows, and for the time of the fit it
knows whom to ask for sums over all of them (`Core._remote`). So its attributes, warnings and errors are
the same as for rows in memory, and an estimator that is made of sums needs nothing here.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import ClassVar

from sklearn.base import BaseEstimator
from sklearn.utils.validation import has_fit_parameter

from .._base.core import Core
from .._base.sums import Need
from .store import RowStore
from .training import TrainingRows


class RemoteRows(RowStore):
    """A sample of rows in this process; all of them elsewhere."""

    gives: ClassVar[frozenset[Need]] = frozenset({Need.COPIES})
    """A penalty is chosen on copies of the sample."""

    some: TrainingRows
    """The sample, behind the steps so far."""

    @property
    @abstractmethod
    def is_whole(self) -> bool:
        """Is the sample all rows?"""

    @abstractmethod
    def join_target(self) -> None:
        """Make the target the last feature of every row, with its error bar, for laws of both."""

    def sample(self, most: int) -> TrainingRows:
        """Of the sample, which is not larger however many are asked for."""
        return self.some.sampled(most)

    def fit(self, step: BaseEstimator) -> None:
        """By sums; a step that asks for none has the sample to learn from."""
        if has_fit_parameter(step, "xy_cov"):
            self.join_target()
        with self._answering(step):
            self.some.fit_step(step)

    @contextmanager
    def _answering(self, step: BaseEstimator) -> Iterator[None]:
        """Meanwhile, what the core fits asks here."""
        if not isinstance(step, Core):
            yield
            return
        step._remote = (self.answer, self.is_whole)
        try:
            yield
        finally:
            del step._remote

    def transform(self, step: BaseEstimator) -> None:
        """The sample; a store replaces its own rows, too."""
        self.some = replace(self.some, rows=step.transform(self.some.rows))
