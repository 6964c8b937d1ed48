"""Tasks of workers: look at a partition of a Dask DataFrame, draw a sample of it, read it, move it, and sum.

A `Piece` is rows on a worker with what is known of them, as a process can send it to another. Numbers travel
as buffers beside the pickle. Where they are received they need not lie at addresses that are multiples of
eight, for which sums may take another path and differ in their last digit: such are copied.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._data.array import GaussianArray
from .._data.column import Column, read_column, rows_with_value
from .._data.incomplete import GaussianRows, Incomplete, filled_gaussians, vstack
from .._data.mixture_array import MixtureArray
from .._data.numbers import GOLDEN, finalised, mixed
from .._data.targets import places, weights_from
from .._data.typing import Array, Codes, Estimator, Floats, Ints, Keywords, Label, NativeColumn, NativeTable
from .._tables.columns import Columns
from .._tables.size_model import MISSING_STD, SizeModel, fill_target_sizes
from .._tables.statistics import Statistics
from .._tables.table import Table
from .._uncertain import Part, partial_sums
from ..exceptions import UncertainError
from ..preprocessing import AsGaussians
from ..preprocessing._categories import Categories, find_categories
from .source import Source
from .target import TargetCleaning

MANY_LABELS = 1_000
"""More different labels than this are refused."""
FEW_OF_CLASS = 1_000
"""Rows of a class that are dealt to folds in turn; those of larger ones by their hashes alone."""
TOGETHER = 5
"""So many equal rows of a partition are in one fold."""
FEW = 5
"""Rows of every class that a sample has, if there are so many."""
PATIENCE = 600.0
"""Seconds that a cluster may take for what is asked of a table without a fit."""
KNOWN = ("codes", "targets", "variances", "weights", "folds")
"""Arguments per row that a piece may have."""


class Piece:
    """A `Part` of the core that can be pickled."""

    def __init__(self, part: Part) -> None:
        self.part = part

    @classmethod
    def from_rows(cls, rows: GaussianRows, **known: Array) -> Piece:
        """Rows with what is known of them: `KNOWN`, where it is."""
        gaussians = filled_gaussians(rows)
        if isinstance(gaussians, MixtureArray):
            raise UncertainError(
                "mixtures of several Gaussians are not fitted on a cluster. Use uncertain.fit, or write one "
                'Gaussian for each row: X.collapse("gaussian").to_arrow(name)'
            )
        missing = rows.missing if isinstance(rows, Incomplete) else None
        return cls(Part(gaussians._core, missing=missing, **known))

    def rows(self, names: Iterable[str] | None = None) -> GaussianRows:
        """The rows; `names` of their features."""
        gaussians = GaussianArray._from_core(self.part.rows)._named(names)
        missing = self.part.missing
        return gaussians if missing is None else Incomplete(gaussians, missing)

    def known(self) -> dict[str, Array]:
        """Arguments of the rows."""
        return {name: v for name, v in zip(KNOWN, self.part.known(), strict=True) if v is not None}

    def __sizeof__(self) -> int:
        """Bytes of all numbers, which Dask asks for."""
        parts = self.part.rows.parts(stored=True)
        return sum(array.nbytes for array in (*parts.values(), *self.known().values()))

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuilt, (self.part.rows.parts(stored=True), self.part.missing, self.known())


def _rebuilt(parts: dict[str, Array], missing: Array | None, known: dict[str, Array]) -> Piece:
    aligned, beside = (
        {name: np.require(array, requirements=["C", "A"]) for name, array in arrays.items()}
        for arrays in (parts, known)
    )
    return Piece(Part(GaussianArray(**aligned)._core, missing=missing, **beside))


@dataclass(frozen=True)
class Beside:
    """How the columns beside the features are read."""

    columns: Columns
    on_missing: str
    classes: tuple[Label, ...] | None = None
    """None for targets that are numbers."""
    sizes: SizeModel | None = None
    """Of error bars of the target, where some are missing."""

    @property
    def target(self) -> str:
        assert self.columns.target is not None
        return self.columns.target

    def labels(self, table: Table) -> Column:
        values = table.column(self.target)
        return read_column(values, self.target, len(values), "targets" if self.classes is None else "labels")

    def codes(self, table: Table) -> Codes:
        """The places of labels among the classes; a partition may have one class alone."""
        return places(self.labels(table), np.asarray(self.classes), self.target).astype(np.uint32)


class Seen(NamedTuple):
    """Contents of a partition, of rows with a target and a weight."""

    n_rows: int
    n_left_out: int
    """Rows without a target."""
    labels: Sequence[Label]
    """Different targets, at most some more than `MANY_LABELS`; with fractions first."""
    categories: Categories
    weightless: Sequence[Label]
    """Labels of the rows that are dropped because they have no weight."""


@contextmanager
def _of(partition: int) -> Iterator[None]:
    """Errors say which partition they are about."""
    try:
        yield
    except UncertainError as error:
        raise type(error)(f"partition {partition}: {error}") from None


def _table(frame: NativeTable) -> Table:
    table = Source.from_input(frame).table
    assert table is not None
    return table


def cleaned(frame: NativeTable, *, of_target: TargetCleaning) -> NativeTable:
    """The rows with nulls for unknown targets and error bars of them."""
    columns = of_target.clean(_table(frame)) if len(frame) else ()
    return frame.assign(**{column.name: column.to_numpy() for column in columns}) if columns else frame


def kept(frame: NativeTable, partition: int, beside: Beside) -> NativeTable:
    """The rows that have a target and a weight."""
    with _of(partition):
        labelled = _labelled(frame, beside)
        weighted = _weighted(labelled, beside)
    return labelled if weighted is None else labelled.iloc[np.flatnonzero(weighted)]


def _labelled(frame: NativeTable, beside: Beside) -> NativeTable:
    if beside.on_missing != "auto" or not len(frame):
        return frame
    at = rows_with_value(_table(frame).column(beside.target))
    return frame if at is None else frame.iloc[at]


def _weighted(frame: NativeTable, beside: Beside) -> NDArray[np.bool_] | None:
    """Which rows have a weight; None if all have."""
    column = beside.columns.sample_weight
    if not isinstance(column, str) or not len(frame):
        return None
    counted = weights_from(_table(frame).column(column), column, len(frame), some=False) > 0.0
    return None if counted.all() else counted


def seen(frame: NativeTable, rows: NativeTable, partition: int, beside: Beside) -> Seen:
    """The targets and categories of a partition, of which these rows are `kept`."""
    with _of(partition):
        labelled = _labelled(frame, beside)
        weighted = _weighted(labelled, beside)
        dropped = () if weighted is None else _different(labelled.iloc[np.flatnonzero(~weighted)], beside)
        n_left_out = len(frame) - len(labelled)
        if not len(rows):
            return Seen(0, n_left_out, (), {}, dropped)
        categorical = beside.columns.categorical or ()
        categories = find_categories(_table(rows), categorical, beside.on_missing)
        return Seen(len(rows), n_left_out, _different(rows, beside), categories, dropped)


def _different(frame: NativeTable, beside: Beside) -> list[Label]:
    column = beside.labels(_table(frame)).present
    objects = column.kind == "others"
    plain = [*dict.fromkeys(column.array.tolist())] if objects else column.distinct()[0].tolist()
    if len(plain) > MANY_LABELS:
        floats = [v for v in plain if isinstance(v, float) and (not v.is_integer() or abs(v) >= 2.0**53)]
        plain = (floats[:1] + plain)[: MANY_LABELS + 1]
    return plain


def counted(
    frame: NativeTable, partition: int, first: int, *, columns: Columns, share: float
) -> Statistics | None:
    """Missing values of a partition whose first row has this number in the table; `share`: of the sample."""
    if not len(frame):
        return None
    with _of(partition):
        return Statistics(columns, share).add(_table(frame), first)


def hashes(n_rows: int, partition: int, seed: int) -> NDArray[np.uint64]:
    """A number for every row, that of (seed, partition, row): splitmix64."""
    with np.errstate(over="ignore"):
        start = np.uint64(seed) * np.uint64(0xD1342543DE82EF95)
        start += np.uint64(partition) * np.uint64(0x2545F4914F6CDD1D)
        return finalised(np.arange(1, n_rows + 1, dtype=np.uint64) * GOLDEN + start)


def sampled(
    frame: NativeTable, partition: int, *, beside: Beside, share: float, seed: int
) -> tuple[NativeTable, Ints]:
    """The rows of the sample, a few of every class among them, and their numbers in the partition."""
    if not len(frame):
        return frame, np.empty(0, dtype=np.int64)
    drawn = hashes(len(frame), partition, seed)
    chosen = drawn.astype(np.float64) / 2.0**64 < share if share < 1.0 else np.ones(len(frame), dtype=bool)
    if beside.classes is not None:
        with _of(partition):
            codes = beside.codes(_table(frame))
        order = np.argsort(drawn, kind="stable")
        for code in range(len(beside.classes)):
            chosen[order[codes[order] == code][:FEW]] = True
    rows = np.flatnonzero(chosen)
    return frame.iloc[rows], rows


def read(frame: NativeTable, partition: int, *, reader: AsGaussians, beside: Beside) -> Piece | None:
    """The rows of a partition as Gaussians; None where there are none."""
    if not len(frame):
        return None
    columns, source = beside.columns, Source.from_input(frame)
    known: Keywords = {}
    with _of(partition):
        if isinstance(columns.sample_weight, str):
            known["weights"] = source.weights(columns.sample_weight)
        if beside.classes is not None:
            known["codes"] = beside.codes(_table(frame))
        else:
            known["targets"] = source.targets(beside.target, "regression")[0]
            if columns.target_std is not None:
                bar, missing = columns.bar_of_target(), MISSING_STD.get(beside.on_missing)
                std = source.target_stds(columns.target_std, missing, bar=bar, y=known["targets"])
                if beside.sizes is not None:
                    std = fill_target_sizes(known["targets"], std, beside.sizes)
                known["variances"] = std**2
        if isinstance(columns.groups, str):
            known["folds"] = group_hashes(frame[columns.groups])
        rows = reader.transform(frame)
        if isinstance(rows, Incomplete) and not rows.missing.any():
            rows = rows.gaussians
        if beside.classes is not None and "folds" not in known:
            known["folds"] = row_hashes(rows)
        return Piece.from_rows(rows, **known)


def group_hashes(column: NativeColumn) -> NDArray[np.uint32]:
    """A number for every group, the same wherever its rows are."""
    import pandas as pd

    if column.isna().any():
        row = int(np.flatnonzero(column.isna())[0])
        raise UncertainError(f"{column.name}: row {row} has no group")
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.astype(column.dtype.categories.dtype)
    numbers = pd.util.hash_array(column.to_numpy(), categorize=False)
    folded: NDArray[np.uint32] = (numbers % np.uint64(2**32 - 5)).astype(np.uint32)
    return folded


def row_hashes(rows: GaussianRows) -> NDArray[np.uint32]:
    """A number for every row by its means, in whatever order rows and columns are."""
    means = filled_gaussians(rows).means
    known = means if isinstance(rows, GaussianArray) else np.where(rows.missing, 0.0, means)
    hashes = mixed(np.ascontiguousarray(known + 0.0).view(np.uint64)).sum(axis=1, dtype=np.uint64)
    order = np.argsort(hashes, kind="stable")
    copies = np.empty(len(order), dtype=np.uint64)
    copies[order] = np.arange(len(order)) - np.searchsorted(hashes[order], hashes[order])
    return (mixed(hashes + copies // np.uint64(TOGETHER)) >> np.uint64(32)).astype(np.uint32)


class Facts(NamedTuple):
    """Rows of a piece, its bytes, its rows of every class, and their hashes where they are few."""

    n_rows: int
    nbytes: int
    counts: tuple[int, ...] = ()
    hashes: tuple[Array, ...] = ()


def facts(piece: Piece | None, classes: int) -> Facts:
    if piece is None:
        return Facts(0, 0, (0,) * classes)
    known = piece.known()
    if "codes" not in known:
        return Facts(piece.part.n_rows, piece.__sizeof__())
    hashes = [known["folds"][known["codes"] == code] for code in range(classes)]
    few = tuple(one[: FEW_OF_CLASS + 1] for one in hashes)
    return Facts(piece.part.n_rows, piece.__sizeof__(), tuple(len(one) for one in hashes), few)


def joined(pieces: Sequence[Piece], folds: int, *, rare: dict[int, Array], grouped: bool, seed: int) -> Piece:
    """Pieces below each other, dealt to `folds`; `rare`: hashes of all rows of small classes, in order."""
    known = [piece.known() for piece in pieces]
    together: Keywords = {name: np.concatenate([one[name] for one in known]) for name in known[0]}
    hashed = together.pop("folds", None)
    if folds and hashed is not None:
        drawn = _mixed(hashed, seed)
        for code, hashes in {} if grouped else rare.items():
            members = together["codes"] == code
            drawn[members] = np.searchsorted(hashes, hashed[members]) + seed
        together["folds"] = (drawn % np.uint64(folds)).astype(np.uint32)
    return Piece.from_rows(vstack([piece.rows() for piece in pieces]), **together)


def _mixed(numbers: Array, seed: int) -> NDArray[np.uint64]:
    with np.errstate(over="ignore"):
        z = (numbers.astype(np.uint64) + np.uint64(seed)) * GOLDEN
        return z ^ (z >> np.uint64(32))


def moved(piece: Piece, step: Estimator) -> Piece:
    """Arguments of the rows behind a fitted step."""
    after = step.transform(piece.rows(getattr(step, "feature_names_in_", None)))
    missing = after.missing if isinstance(after, Incomplete) else None
    return Piece(piece.part.moved(filled_gaussians(after)._core, missing))


def with_target(piece: Piece) -> Piece:
    """Rows whose last feature is the target."""
    return Piece(piece.part.with_target())


class TimedSums(NamedTuple):
    """The sums over a piece, the seconds they took, and the address of the worker."""

    sums: Floats
    seconds: float
    worker: str


def sums(piece: Piece, requests: bytes, n_jobs: int | None) -> TimedSums:
    from distributed import get_worker

    start = time.perf_counter()
    answer = partial_sums(piece.part, requests, n_jobs)
    return TimedSums(answer, time.perf_counter() - start, str(get_worker().address))


def answers(asked: Iterable[Any], what: str) -> list[Any]:
    """Values of lazy objects of Dask, in order: from a cluster within a time (else ClusterError that says
    `what`), or from this process."""
    import dask

    lazy = list(asked)
    if dask.config.get("scheduler", None) not in (None, "dask.distributed", "distributed"):
        return list(dask.compute(*lazy))  # by threads, although there is a cluster
    try:
        from distributed import default_client

        client = default_client()
    except (ImportError, ValueError):
        return list(dask.compute(*lazy))
    from .cluster import Cluster

    cluster = Cluster(client, timeout=PATIENCE, retries=0)
    return cluster.results(cluster.compute(lazy), what)
