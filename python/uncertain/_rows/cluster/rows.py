"""`Distributed`: the rows of a Dask DataFrame, from its partitions to groups of Gaussians on the workers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np

from ..._data.groups import Groups
from ..._data.incomplete import GaussianRows
from ..._data.targets import targets_from
from ..._data.typing import Floats, Ints, Label, Labels, NativeTable
from ..._tables.columns import Columns
from ..._tables.size_model import MISSING_STD, MOST_ROWS, fill_target_sizes, target_sizes
from ..._tables.statistics import Statistics
from ...exceptions import UncertainError
from ...preprocessing import AsGaussians
from ..source import Source
from ..training import TrainingRows
from .passes import Cluster, Passes
from .work import (
    MANY_LABELS,
    Facts,
    Roles,
    Seen,
    check_categories,
    counted,
    facts,
    joined,
    labelled,
    read,
    sampled,
    seen,
)

SAMPLE = 100_000
"""Rows of the sample, in the memory of the client."""
SAMPLE_BYTES = 1 << 28
GROUPS = 64
"""Groups of partitions at most: each is one task of every pass."""
GROUP_LIMIT = 1 << 32
"""Unless they had more bytes than this."""
FOLDS = 5


@dataclass(frozen=True)
class Sample:
    """Some of the rows, in the memory of the client."""

    source: Source
    y: Labels
    y_std: Floats | None
    weights: Floats | None
    groups: Groups | None
    places: Ints
    """Partition, and number there, of every row."""
    whole: bool
    """Is it all rows?"""

    @contextmanager
    def with_row_locations(self) -> Iterator[None]:
        """Errors about a row say where it comes from."""
        try:
            yield
        except UncertainError as error:
            named = re.search(r"\brow (\d+)", str(error))
            if named is None or int(named[1]) >= len(self.places):
                raise
            partition, row = self.places[int(named[1])]
            text = f"{str(error)[: named.start()]}row {row}{str(error)[named.end() :]}"
            raise type(error)(f"partition {partition}: {text}") from None

    def known(self, rows: GaussianRows) -> TrainingRows:
        """These rows as Gaussians, with what is known of them."""
        return TrainingRows(rows, self.y, self.weights, self.groups, self.y_std)


class Distributed:
    """The partitions of a table, and what they hold."""

    def __init__(self, cluster: Cluster, table: NativeTable, roles: Roles, *, seed: int) -> None:
        self._cluster = cluster
        self._seed = seed
        self._width = len(table.columns)
        self._partitions = cluster.compute(table.to_delayed())
        looks = cluster.map(seen, self._partitions, roles=roles)
        self._looks = cluster.results(looks, "reading the table", Seen)
        self.n_rows = sum(look.n_rows for look in self._looks)
        self.n_left_out = sum(look.n_left_out for look in self._looks)
        if self.n_left_out:
            self._partitions = cluster.map(labelled, self._partitions, roles=roles)
        self.roles = roles

    def settle(self, task: str) -> bool:
        """Whether the targets are numbers, by the different ones of all partitions; else the classes are
        known then."""
        target = self.roles.target
        if not self.n_rows:
            empty = "no row has a value" if self.n_left_out else "the table has no rows"
            raise UncertainError(f"{target}: {empty}" if self.n_left_out else empty)
        different = list(dict.fromkeys(value for look in self._looks for value in look.labels))
        y, regression = targets_from(different, target, task, len(different))
        classes = () if regression else tuple(np.unique(y).tolist())
        if len(classes) > MANY_LABELS:
            raise UncertainError(
                f"{target}: more than {MANY_LABELS} different labels are no classes; for numbers pass "
                'task="regression"'
            )
        self.roles = replace(self.roles, regression=regression, classes=classes)
        return regression

    def sample(self) -> Sample:
        """Rows by a hash of (seed, partition, row), and some of every class."""
        roles = self.roles
        most = min(SAMPLE, SAMPLE_BYTES // (8 * self._width))
        share = min(1.0, most / self.n_rows)
        numbers = range(len(self._partitions))
        drawn = self._cluster.map(
            sampled, self._partitions, numbers, roles=roles, share=share, seed=self._seed
        )
        samples = self._cluster.results(drawn, "drawing a sample", tuple)
        places = [np.column_stack([np.full(len(rows), k), rows]) for k, (_, rows) in enumerate(samples)]
        source = Source.from_input(_below([frame for frame, _ in samples]))
        task = "regression" if roles.regression else "classification"
        y = source.targets(roles.target, task, unit=roles.target_unit)[0]
        y_std = None
        if roles.target_std is not None:
            y_std = source.target_stds(roles.target_std, MISSING_STD.get(roles.on_missing))
        if y_std is not None and roles.on_missing == "auto":
            self.roles = replace(roles, target_sizes=(sizes := target_sizes(y, y_std)))
            y_std = fill_target_sizes(y, y_std, sizes)
        return Sample(
            source,
            y=y,
            y_std=y_std,
            weights=None if roles.sample_weight is None else source.weights(roles.sample_weight),
            groups=None if roles.groups is None else source.groups(roles.groups),
            places=np.concatenate(places),
            whole=share == 1.0,
        )

    def statistics(self, columns: Columns) -> Statistics:
        """Statistics of all rows, by which they are cleaned."""
        rows = [look.n_rows for look in self._looks]
        first = np.cumsum([0, *rows[:-1]]).tolist()
        share = min(1.0, 2.0 * MOST_ROWS / self.n_rows)
        parts = self._cluster.map(
            counted, self._partitions, range(len(rows)), first, columns=columns, share=share
        )
        whole = Statistics(columns, share)
        for part in self._cluster.results(parts, "counting what is missing", object):
            if isinstance(part, Statistics):
                whole.merge(part)
        return whole

    def reconcile(self, reader: AsGaussians) -> None:
        """Give a reader the categories of all partitions, where the sample has not seen some."""
        found: dict[str, list[Label]] = {}
        for look in self._looks:
            for column, values in look.categories.items():
                found.setdefault(column, []).extend(values)
        every = check_categories(found)
        for column, known in reader.categories_.items():
            reader.n_features_in_ += len(every[column]) - len(known)
        reader.categories_ = {column: every[column] for column in reader.categories_}

    def passes(
        self, reader: AsGaussians, *, group_bytes: int, calibrated: bool, n_jobs: int | None, verbose: bool
    ) -> Passes:
        """The rows as groups of Gaussians, with folds if probabilities are wanted; the partitions are let
        go."""
        places = range(len(self._partitions))
        pieces = self._cluster.map(read, self._partitions, places, reader=reader, roles=self.roles)
        looks = self._cluster.map(facts, pieces, classes=len(self.roles.classes))
        known = self._cluster.results(looks, "reading the rows", Facts)
        self._partitions = []
        self.n_rows = sum(one.n_rows for one in known)
        lists = grouped(known, group_bytes)
        counts = np.array([one.counts for one in known], dtype=np.int64).reshape(len(known), -1)
        before = np.cumsum(counts, axis=0) - counts
        folds = _folds(counts, by_groups=self.roles.groups is not None) if calibrated else 0
        groups = self._cluster.map(
            joined,
            [[pieces[k] for k in own] for own in lists],
            [folds] * len(lists),
            [before[own[0]].tolist() for own in lists],
            grouped=self.roles.groups is not None,
            seed=self._seed,
        )
        return Passes(self._cluster, groups, n_jobs=n_jobs, verbose=verbose)


def grouped(known: Sequence[Facts], group_bytes: int) -> list[list[int]]:
    """Neighbours that have rows, as long as they have no more bytes together; `GROUPS` lists, if they may
    be that large."""
    total = sum(one.nbytes for one in known)
    limit = max(group_bytes, min(-(-total // GROUPS), GROUP_LIMIT))
    most = max(GROUPS, -(-total // GROUP_LIMIT))
    lists: list[list[int]] = []
    size = 0
    for k, one in enumerate(known):
        if not one.n_rows:
            continue
        if not lists or (size + one.nbytes > limit and len(lists) < most):
            lists.append([])
            size = 0
        lists[-1].append(k)
        size += one.nbytes
    return lists


def _folds(counts: Ints, *, by_groups: bool) -> int:
    """Folds of a calibration: fewer where a class has fewer rows."""
    folds = min(FOLDS, int(counts.sum(axis=0).min()))
    if folds < 2 and not by_groups:
        raise UncertainError(
            "probabilities need at least 2 rows of every class, and one class has a single row; pass "
            "probability=False or add rows"
        )
    return FOLDS if by_groups else folds


def _below(frames: Sequence[NativeTable]) -> NativeTable:
    """The frames below each other, with a new index."""
    import pandas as pd

    filled = [frame for frame in frames if len(frame)]
    if not filled:
        raise UncertainError("no row counts: every one has weight 0")
    return pd.concat(filled, ignore_index=True)
