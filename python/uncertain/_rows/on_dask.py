"""Rows of a Dask DataFrame, as groups of Gaussians on the workers of its cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import ClassVar

from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline

from .._data.typing import Floats, NativeTable
from .._tables.columns import OF_ROWS, Columns
from ..preprocessing import AsGaussians
from .cluster.passes import Cluster, Passes
from .cluster.rows import Distributed, Sample
from .cluster.work import Roles, moved, with_target
from .of_target import with_target_std
from .reader import Policy, RowReader, Uses, no_target_std, refuse_of_laws
from .remote import RemoteRows

GROUP_BYTES = 1 << 27
"""Partitions go into one group as long as they have no more bytes together."""


class OnDask(RemoteRows):
    """Groups of rows on workers; a sample of them here."""

    where: ClassVar[str] = "on a cluster"

    def __init__(
        self,
        partitions: Distributed,
        reading: AsGaussians,
        sample: Sample,
        *,
        has_gaps: bool,
        group_bytes: int,
        verbose: bool,
    ) -> None:
        self._partitions = partitions
        self._reading = reading
        self._has_gaps = has_gaps
        self._whole = sample.whole
        self._group_bytes = group_bytes
        self._verbose = verbose
        self._passes: Passes | None = None
        self.some = sample.known(reading.transform(sample.source.rows))

    def __len__(self) -> int:
        return self._partitions.n_rows

    @property
    def has_gaps(self) -> bool:
        return self._has_gaps

    @property
    def is_whole(self) -> bool:
        return self._whole

    @contextmanager
    def fitting(self, pipeline: Pipeline) -> Iterator[None]:
        """The workers read the rows; those in front of a step are let go when those behind it are there."""
        last = pipeline[-1]
        self._passes = self._partitions.passes(
            self._reading,
            group_bytes=self._group_bytes,
            calibrated=getattr(last, "probability", False) is True,
            n_jobs=getattr(last, "n_jobs", None),
            verbose=self._verbose,
        )
        try:
            yield
        finally:
            self._passes = None

    def answer(self, requests: bytes) -> list[Floats]:
        assert self._passes is not None
        return self._passes(requests)

    def transform(self, step: BaseEstimator) -> None:
        assert self._passes is not None
        super().transform(step)
        self._passes = self._passes.behind(moved, step=step)

    def join_target(self) -> None:
        assert self._passes is not None
        self._passes = self._passes.behind(with_target)


class DaskReader(RowReader):
    """Looks at the partitions of a Dask DataFrame where they are."""

    reading: AsGaussians

    def __init__(
        self,
        cluster: Cluster,
        table: NativeTable,
        names: list[str],
        columns: Columns,
        policy: Policy,
        *,
        seed: int,
        group_bytes: int,
        verbose: bool,
    ) -> None:
        self.columns = columns
        self._policy = policy
        self._group_bytes = group_bytes
        self._verbose = verbose
        refuse_of_laws(columns.of_kinds("beside"))
        self._given_std = columns.target_std is not None
        self._found_stds = columns.found.target_stds if columns.automatic and not self._given_std else ()
        used = {*columns.used, *columns.beside(), *self._found_stds}
        cluster.check()
        of_rows = {role: getattr(columns, role) for role in OF_ROWS}
        roles = Roles(**of_rows, categorical=tuple(columns.categorical or ()), on_missing=policy.on_missing)
        self._rows = Distributed(cluster, table[[name for name in names if name in used]], roles, seed=seed)

    def settle(self, task: str, *, partial: bool) -> bool:
        return self._rows.settle(task)

    def read(self, uses: Uses) -> OnDask:
        if uses.y_std:
            self.columns = with_target_std(self.columns)
        if self._given_std and not uses.y_std:
            raise no_target_std(uses)
        self._rows.roles = replace(self._rows.roles, target_std=self.columns.target_std)
        sample = self._rows.sample()
        self.reading = AsGaussians(columns=self.columns, **self._policy._asdict() | {"arms": "moments"})
        self.n_left_out = self._rows.n_left_out
        counted = self._rows.statistics(self.columns) if self._policy.on_missing == "auto" else None
        with sample.with_row_locations():
            self.reading._fit_columns(sample.source.rows, self.columns, counted)
        self._rows.reconcile(self.reading)
        return OnDask(
            self._rows, self.reading, sample,
            has_gaps=counted is not None and counted.has_gaps,
            group_bytes=self._group_bytes, verbose=self._verbose,
        )  # fmt: skip
