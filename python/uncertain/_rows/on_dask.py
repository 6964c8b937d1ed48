"""Rows of a Dask DataFrame, as groups of Gaussians on the workers of its cluster."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar

from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline

from .._base.sums import Need
from .._data.typing import Floats, NativeTable
from .._tables.columns import OF_ROWS, Columns
from ..preprocessing import AsGaussians
from .cluster.passes import Cluster, Passes
from .cluster.rows import Distributed
from .cluster.work import Roles, moved, with_target
from .of_target import with_target_std
from .reader import Policy, RowReader, Uses, no_target_std, refuse_of_laws
from .rows import Place, Rows

GROUP_BYTES = 1 << 27
"""Partitions go into one group as long as they have no more bytes together."""


class OnDask(Place):
    """Workers, on which parts are futures: partitions of the table, and for a fit groups of Gaussians."""

    name: ClassVar[str] = "on a cluster"
    gives: ClassVar[frozenset[Need]] = frozenset({Need.COPIES})
    is_remote: ClassVar[bool] = True

    def __init__(
        self, partitions: Distributed, reading: AsGaussians, *, group_bytes: int, verbose: bool
    ) -> None:
        self._partitions = partitions
        self._reading = reading
        self._group_bytes = group_bytes
        self._verbose = verbose
        self._passes: Passes | None = None

    def begin(self, parts: list[Any], pipeline: Pipeline) -> list[Any]:
        """Groups of rows that the workers read."""
        last = pipeline[-1]
        self._passes = self._partitions.passes(
            self._reading,
            group_bytes=self._group_bytes,
            calibrated=getattr(last, "probability", False) is True,
            n_jobs=getattr(last, "n_jobs", None),
            verbose=self._verbose,
        )
        return self._passes.groups

    def sums(self, parts: list[Any], requests: bytes) -> list[Floats]:
        assert self._passes is not None
        return self._passes(requests)

    def transform(self, parts: list[Any], step: BaseEstimator) -> list[Any]:
        return self._behind(moved, step=step)

    def join_target(self, parts: list[Any]) -> list[Any]:
        return self._behind(with_target)

    def _behind(self, work: Callable[..., object], **same: object) -> list[Any]:
        assert self._passes is not None
        self._passes = self._passes.behind(work, **same)
        return self._passes.groups


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
        self._found_stds = () if self._given_std else columns.found.target_stds
        used = {*columns.used, *columns.beside(), *self._found_stds}
        cluster.check()
        of_rows = {role: getattr(columns, role) for role in OF_ROWS}
        roles = Roles(**of_rows, categorical=tuple(columns.categorical or ()), on_missing=policy.on_missing)
        self._rows = Distributed(cluster, table[[name for name in names if name in used]], roles, seed=seed)

    def settle(self, task: str, *, partial: bool) -> bool:
        return self._rows.settle(task)

    def read(self, uses: Uses) -> Rows:
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
        place = OnDask(self._rows, self.reading, group_bytes=self._group_bytes, verbose=self._verbose)
        known = sample.known(self.reading.transform(sample.source.rows))
        has_gaps = counted is not None and counted.has_gaps
        return Rows([], known, place, n_rows=self._rows.n_rows, has_gaps=has_gaps)
