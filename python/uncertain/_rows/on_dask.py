"""Rows of a Dask DataFrame: from its partitions to groups of Gaussians on the workers of its cluster."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline

from .._base.run import say
from .._base.sums import Need
from .._data.targets import targets_from, warn_of_weightless
from .._data.typing import Floats, Ints, NativeTable
from .._tables.columns import Columns
from .._tables.size_model import MISSING_STD, MOST_ROWS, fill_target_sizes, target_sizes
from .._tables.statistics import Statistics
from ..exceptions import ClusterError, UncertainError
from ..preprocessing import AsGaussians
from ..preprocessing._categories import Categories, joined_categories
from . import partition
from .cluster import Cluster
from .partition import MANY_LABELS, Beside, Facts, Seen
from .reader import Policy, RowReader, Uses, no_target_std, refuse_of_laws
from .rows import Place, Rows
from .source import Source
from .target import TargetCleaning, target_columns, with_target_std
from .training import TrainingRows

GROUP_BYTES = 1 << 27
"""Partitions go into one group as long as they have no more bytes together."""
GROUPS = 64
"""Groups of partitions at most: each is one task of every pass."""
GROUP_LIMIT = 1 << 32
"""Unless they had more bytes than this."""
SAMPLE = 100_000
"""Rows of the sample, in the memory of the client."""
SAMPLE_BYTES = 1 << 28
FOLDS = 5


class Settings(NamedTuple):
    """What a caller may set of the reading."""

    seed: int
    group_bytes: int
    verbose: bool = False


@dataclass(eq=False)
class OnDask(Place):
    """Workers, on which parts are futures: partitions of the table, and for a fit groups of Gaussians,
    whose number of rows and checksum every answer carries: a group that was read again must be the same
    as before."""

    name: ClassVar[str] = "on a cluster"
    gives: ClassVar[frozenset[Need]] = frozenset({Need.COPIES})
    is_remote: ClassVar[bool] = True

    cluster: Cluster
    reading: AsGaussians
    beside: Beside
    settings: Settings
    n_jobs: int | None = None
    checksums: list[tuple[float, float]] | None = None
    """Of the first pass over the groups."""
    n_passes: int = 0
    n_bytes: int = 0

    def begin(self, parts: list[Any], pipeline: Pipeline) -> list[Any]:
        """Groups of rows that the workers read, with folds if probabilities are wanted."""
        last, beside, cluster = pipeline[-1], self.beside, self.cluster
        self.n_jobs = getattr(last, "n_jobs", None)
        numbers = range(len(parts))
        pieces = cluster.map(partition.read, parts, numbers, reader=self.reading, beside=beside)
        looks = cluster.map(partition.facts, pieces, classes=len(beside.classes or ()))
        known: list[Facts] = cluster.results(looks, "reading the rows")
        counts = np.array([one.counts for one in known], dtype=np.int64).reshape(len(known), -1)
        rare = {
            code: np.sort(np.concatenate([one.hashes[code] for one in known if one.hashes]))
            for code in np.flatnonzero(counts.sum(axis=0) <= partition.FEW_OF_CLASS).tolist()
        }
        grouped = isinstance(beside.columns.groups, str)
        calibrated = getattr(last, "probability", False) is True
        folds = _folds(counts, by_groups=grouped) if calibrated else 0
        lists = neighbours(known, self.settings.group_bytes)
        return cluster.map(
            partition.joined,
            [[pieces[k] for k in members] for members in lists],
            [folds] * len(lists),
            rare=rare,
            grouped=grouped,
            seed=self.settings.seed,
        )

    def transform(self, parts: list[Any], step: BaseEstimator) -> list[Any]:
        return self._moved(parts, partition.moved, step=step)

    def join_target(self, parts: list[Any]) -> list[Any]:
        return self._moved(parts, partition.with_target)

    def _moved(self, parts: list[Any], work: Callable[..., object], **same: object) -> list[Any]:
        self.checksums = None
        return self.cluster.map(work, parts, **same)

    def sums(self, parts: list[Any], requests: bytes) -> list[Floats]:
        start = time.perf_counter()
        futures = self.cluster.map(partition.sums, parts, requests=requests, n_jobs=self.n_jobs)
        timed = self.cluster.results(futures, f"pass {self.n_passes + 1} over the rows")
        answers = [np.require(one.sums, requirements=["C", "A"]) for one in timed]
        self._compare([(float(answer[1]), float(answer[2])) for answer in answers])
        self.n_passes += 1
        self.n_bytes += len(futures) * len(requests) + sum(answer.nbytes for answer in answers)
        if self.settings.verbose:
            slowest = max(timed, key=lambda one: one.seconds)
            say(
                f"[dask] pass {self.n_passes}: {time.perf_counter() - start:.3f} s, {self.n_bytes / 1e6:.3f} "
                f"MB so far, slowest {slowest.worker} ({slowest.seconds:.3f} s)"
            )
        return answers

    def _compare(self, checksums: list[tuple[float, float]]) -> None:
        self.checksums = self.checksums or checksums
        for group, (before, now) in enumerate(zip(self.checksums, checksums, strict=True)):
            if before != now:
                raise ClusterError(
                    f"partitions {group} changed during the fit ({before[0]:.0f} rows, now {now[0]:.0f}): a "
                    "worker was lost, and their source gave other rows. Write the table to files, or fit "
                    "table.persist()"
                )


def neighbours(known: Sequence[Facts], group_bytes: int) -> list[list[int]]:
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


class DaskReader(RowReader):
    """Looks at the partitions of a Dask DataFrame where they are."""

    reading: AsGaussians

    def __init__(
        self, cluster: Cluster, table: NativeTable, names: list[str], columns: Columns, policy: Policy,
        settings: Settings,
    ) -> None:  # fmt: skip
        refuse_of_laws(columns.of_kinds("beside"))
        self.columns = columns
        self._policy = policy
        self._cluster = cluster
        self._settings = settings
        self._given_std = columns.target_std is not None
        cluster.check()
        of_target = None
        if policy.on_missing == "auto" and table._meta[columns.target].dtype.kind == "f":
            of_target = target_columns(columns, str(columns.target))
        stds = () if self._given_std else columns.found.target_stds
        used = {*columns.used, *columns.beside(), *stds, *(of_target.used if of_target else ())}
        table = table[[name for name in names if name in used]]
        self._width = len(table.columns)
        self._beside = Beside(columns, policy.on_missing)
        given = cluster.compute(table.to_delayed())
        numbers = range(len(given))
        self._of_target: TargetCleaning | None = None
        if of_target is not None:
            first = [k << 32 for k in numbers]
            self._of_target = TargetCleaning.learn(self._counted(given, of_target, first))
            given = cluster.map(partition.cleaned, given, of_target=self._of_target)
        self._partitions = cluster.map(partition.kept, given, numbers, beside=self._beside)
        looks = cluster.map(partition.seen, given, self._partitions, numbers, beside=self._beside)
        self._looks: list[Seen] = cluster.results(looks, "reading the table")
        self._n_rows = sum(look.n_rows for look in self._looks)
        self.n_left_out = sum(look.n_left_out for look in self._looks)

    def settle(self, task: str, *, partial: bool) -> bool:
        """Whether the targets are numbers, by the different ones of all partitions; else the classes are
        known then."""
        target = self._beside.target
        weightless = {label for look in self._looks for label in look.weightless}
        if not self._n_rows:
            empty = "no row has a value" if self.n_left_out else "the table has no rows"
            empty = "no row counts: every one has weight 0" if weightless else empty
            raise UncertainError(f"{target}: {empty}" if self.n_left_out else empty)
        different = list(dict.fromkeys(value for look in self._looks for value in look.labels))
        y, regression = targets_from(different, target, task, len(different))
        if regression:
            return True
        classes = tuple(np.unique(y).tolist())
        if len(classes) > MANY_LABELS:
            raise UncertainError(
                f"{target}: more than {MANY_LABELS} different labels are no classes; for numbers pass "
                'task="regression"'
            )
        if lost := weightless.difference(classes):
            warn_of_weightless(target, lost)
        self._beside = replace(self._beside, classes=classes)
        return False

    def read(self, uses: Uses) -> Rows:
        if uses.y_std:
            self.columns = with_target_std(self.columns)
        if self._given_std and not uses.y_std:
            raise no_target_std(uses)
        self._beside = replace(self._beside, columns=self.columns)
        frame, places = self._sample()
        source = Source.from_input(frame)
        known = self._known(source)
        self.reading = AsGaussians(columns=self.columns, **self._policy._asdict() | {"arms": "moments"})
        statistics = self._statistics(self.columns) if self._policy.on_missing == "auto" else None
        with _located(places):
            self.reading._fit_columns(source.rows, self.columns, statistics, self._categories())
        if isinstance(self.columns.target_std, str) and self._of_target is not None:
            n_sized = self._statistics(self._of_target.columns).n_missing(self.columns.target_std)
            self.reading.count_target(self.columns.target, n_sized)
        known = known.instead(self.reading.transform(source.rows))
        place = OnDask(self._cluster, self.reading, self._beside, self._settings)
        partitions, self._partitions = self._partitions, []  # they are let go when they are read
        has_gaps = bool(self.reading.unknown_.placeholders or (statistics and statistics.has_gaps))
        return Rows(partitions, known, place, n_rows=self._n_rows, has_gaps=has_gaps)

    def _sample(self) -> tuple[NativeTable, Ints]:
        """Rows by a hash of (seed, partition, row), and some of every class; partition and number there of
        each."""
        import pandas as pd

        most = min(SAMPLE, SAMPLE_BYTES // (8 * self._width))
        drawn = self._cluster.map(
            partition.sampled, self._partitions, range(len(self._partitions)), beside=self._beside,
            share=min(1.0, most / self._n_rows), seed=self._settings.seed,
        )  # fmt: skip
        samples = self._cluster.results(drawn, "drawing a sample")
        places = [np.column_stack([np.full(len(rows), k), rows]) for k, (_, rows) in enumerate(samples)]
        frame = pd.concat([frame for frame, _ in samples if len(frame)], ignore_index=True)
        return frame, np.concatenate(places)

    def _known(self, source: Source) -> TrainingRows:
        """Arguments per row of the sample beside the features."""
        beside, columns = self._beside, self.columns
        task = "classification" if beside.classes is not None else "regression"
        y = source.targets(beside.target, task)[0]
        y_std = None
        if columns.target_std is not None:
            bar, missing = columns.bar_of_target(), MISSING_STD.get(beside.on_missing)
            y_std = source.target_stds(columns.target_std, missing, bar=bar, y=y)
            if beside.on_missing == "auto":
                self._beside = replace(beside, sizes=(sizes := target_sizes(y, y_std)))
                y_std = fill_target_sizes(y, y_std, sizes)
        groups = source.groups(columns.groups) if isinstance(columns.groups, str) else None
        weights = columns.sample_weight
        known = source.weights(weights) if isinstance(weights, str) else None
        return TrainingRows(None, y, known, groups, y_std)

    def _statistics(self, columns: Columns) -> Statistics:
        """Statistics of all rows, by which they are cleaned."""
        rows = [look.n_rows for look in self._looks]
        first = np.cumsum([0, *rows[:-1]]).tolist()
        return self._counted(self._partitions, columns, first, min(1.0, 2.0 * MOST_ROWS / self._n_rows))

    def _counted(
        self, partitions: Sequence[Any], columns: Columns, first: Sequence[int], share: float = 1.0
    ) -> Statistics:
        """Statistics of the rows of partitions, the first of each with these numbers."""
        numbers = range(len(first))
        parts = self._cluster.map(partition.counted, partitions, numbers, first, columns=columns, share=share)
        whole = Statistics(columns, share)
        for part in self._cluster.results(parts, "counting what is missing"):
            if part is not None:
                whole.merge(part)
        return whole

    def _categories(self) -> Categories:
        categories = reduce(joined_categories, [look.categories for look in self._looks if look.n_rows])
        for column, values in categories.items():
            kinds = sorted({type(value).__name__ for value in values if value is not None})
            if len(kinds) > 1:
                raise UncertainError(
                    f"{column}: its categories are {' and '.join(kinds)} in different partitions; give the "
                    "column one type"
                )
        return categories


@contextmanager
def _located(places: Ints) -> Iterator[None]:
    """Errors about a row of the sample say where it comes from."""
    try:
        yield
    except UncertainError as error:
        row = re.search(r"\brow (\d+)", str(error))
        if row is None or int(row[1]) >= len(places):
            raise
        where, number = places[int(row[1])]
        text = f"{str(error)[: row.start()]}row {number}{str(error)[row.end() :]}"
        raise type(error)(f"partition {where}: {text}") from None
