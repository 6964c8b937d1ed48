"""`Rows`: the rows of a fit in parts, wherever these are, and what is known of each row.

A fit goes through the steps of a pipeline: each is fitted to all rows, and what it makes of them takes their
place, part by part. (A `Pipeline` keeps every stage until the next one is there: the table, its Gaussians and
the scaled Gaussians, three times the data.)

Parts are arrays in the memory of this process (`Place`), arrays that are mapped from files (`Files`), or
futures on the workers of a cluster (`on_dask.OnDask`). An estimator reads arrays in place. Of futures it is
given a sample, and for the time of its fit it knows whom to ask for sums over all rows (`Core._remote`): so
its attributes, warnings and errors are the same, and an estimator made of sums needs nothing here.
"""

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from sklearn import config_context
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

from .._base.core import Core
from .._base.sums import Need, beyond_sums
from .._data.incomplete import GaussianRows, Incomplete, vstack
from .._data.typing import Floats
from .._uncertain import give_memory_back, partial_sums
from ..exceptions import ParameterError
from .mapped import Budget, mapped
from .training import REMEMBERED_ROWS, TrainingRows

COPIES = 40
"""Copies of their numbers that a fit to rows held out takes at a time, at most."""


class Place:
    """The memory of this process, where parts are arrays."""

    name: ClassVar[str] = ""
    """Name in error messages."""
    gives: ClassVar[frozenset[Need]] = frozenset(Need)
    """Access to rows that it gives a fit beside sums."""
    is_remote: ClassVar[bool] = False
    """Are parts elsewhere, and only a sample of the rows here?"""

    def begin(self, parts: list[Any], pipeline: Pipeline) -> list[Any]:
        """Parts that the steps of a pipeline can be fitted to."""
        return parts

    def keep(self, blocks: Iterable[GaussianRows]) -> list[Any]:
        """Blocks of rows as parts."""
        return list(blocks)

    def transform(self, parts: list[Any], step: BaseEstimator) -> list[Any]:
        """Parts that a fitted step makes of these, which are let go one by one."""

        def moved() -> Iterator[GaussianRows]:
            while parts:
                yield step.transform(parts.pop(0))
                if parts:
                    give_memory_back()

        return self.keep(moved())

    def join_target(self, parts: list[Any]) -> list[Any]:
        """Parts whose last feature is the target with its error bar, for laws of both."""
        raise NotImplementedError

    def sums(self, parts: list[Any], requests: bytes) -> list[Floats]:
        """The sums over the rows of each part that a pass asks for, in order."""
        raise NotImplementedError

    def fitting(self) -> AbstractContextManager[None]:
        """Preparation and cleanup around a fit; nothing by default."""
        return nullcontext()


@dataclass(frozen=True)
class Files(Place):
    """Files that are mapped into memory, for ``memory=``."""

    budget: Budget
    name: ClassVar[str] = "memory="
    gives: ClassVar[frozenset[Need]] = frozenset({Need.IN_PLACE})

    def keep(self, blocks: Iterable[GaussianRows]) -> list[Any]:
        return mapped(blocks)

    def fitting(self) -> AbstractContextManager[None]:
        return self.budget.keeping()


class Rows:
    """Rows of a fit in parts (arrays, or futures); `known`: what is known of each row, of remote parts of a
    sample with its rows; `n_rows` and `has_gaps` are told of remote parts."""

    def __init__(
        self,
        parts: list[Any],
        known: TrainingRows,
        place: Place | None = None,
        *,
        n_rows: int | None = None,
        has_gaps: bool = False,
    ) -> None:
        self.parts = parts
        self.known = known
        self.place = Place() if place is None else place
        self._n_rows = len(known) if n_rows is None else n_rows
        self._has_gaps = has_gaps

    def __len__(self) -> int:
        return self._n_rows

    @property
    def here(self) -> TrainingRows:
        """The rows that are in this process: all, as one array that copies no numbers, or the sample."""
        return self.known if self.place.is_remote else replace(self.known, rows=vstack(self.parts))

    @property
    def has_gaps(self) -> bool:
        if self.place.is_remote:
            return self._has_gaps
        return any(isinstance(part, Incomplete) and bool(part.missing.any()) for part in self.parts)

    def sample(self, most: int) -> TrainingRows:
        """At most so many of the rows, in memory, by a hash of row numbers, or of groups; not copied if there
        are no more."""
        here = self.here
        return here if len(here) <= most else here.sampled(most)

    def remembered(self) -> TrainingRows:
        """A sample for what is measured after the fit, of fewer rows where little memory is allowed."""
        most = REMEMBERED_ROWS
        if isinstance(self.place, Files):
            most = min(most, self.place.budget.bytes // (COPIES * 8 * self.parts[0].shape[1]))
        return self.sample(most)

    def transform(self, step: BaseEstimator) -> None:
        """Replace the rows by what a fitted step makes of them."""
        self.parts = self.place.transform(self.parts, step)
        if self.place.is_remote:
            self.known = replace(self.known, rows=step.transform(self.known.rows))

    def sums(self, requests: bytes) -> list[Floats]:
        """The sums over the rows that a pass asks for, of each group of rows in order."""
        if self.place.is_remote:
            return self.place.sums(self.parts, requests)
        return [partial_sums(self.here.part, requests)]

    def fit(self, step: BaseEstimator) -> None:
        """Fit a step of a pipeline to all rows: in place, or by sums over what is elsewhere."""
        with self._answering(step):
            self.here.fit_step(step)
        if len(self.parts) > 1 and not self.place.is_remote:
            give_memory_back()

    @contextmanager
    def _answering(self, step: BaseEstimator) -> Iterator[None]:
        """Meanwhile, what the core fits asks here; a law of features and target has them together."""
        if not self.place.is_remote or not isinstance(step, Core):
            yield
            return
        # A line of one component is fitted to targets given features.
        if getattr(step, "n_components", 1) not in (1, "auto") and has_fit_parameter(step, "xy_cov"):
            self.parts = self.place.join_target(self.parts)
        step._remote = self.sums, len(self.known) == len(self)
        try:
            yield
        finally:
            del step._remote

    def fit_steps(self, pipeline: Pipeline) -> Pipeline:
        """Fit all steps, one after the other; the rows become those of the last one."""
        refuse(self.place, pipeline[-1])
        *front, (_, last) = pipeline.steps
        # Metadata routing would take names without steps.
        with self.place.fitting(), config_context(enable_metadata_routing=False):
            self.parts = self.place.begin(self.parts, pipeline)
            for _, step in front:
                self.fit(step)
                self.transform(step)
            self.fit(last)
        return pipeline


def refuse(place: Place | type[Place], estimator: BaseEstimator) -> None:
    """ParameterError, with what to do, for an estimator that needs what a place does not give."""
    reason = refusal(place, estimator)
    if reason is not None:
        raise ParameterError(reason)


def refusal(place: Place | type[Place], estimator: BaseEstimator) -> str | None:
    """Why the rows of a place do not suffice for the fit of an estimator; None if they do."""
    if len(place.gives) == len(Need):
        return None
    for need, why, instead in beyond_sums(estimator):
        if need not in place.gives:
            return f"{place.name}: {why}, so the fit is not made of sums over the rows; {instead}"
    return None
