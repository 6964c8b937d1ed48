"""What workers do: look at a partition, draw a sample of it, read it, move it, and sum over its rows."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._data.column import read_column
from ..._data.incomplete import Incomplete, filled_gaussians, vstack
from ..._data.mixing import GOLDEN, finalised
from ..._data.targets import places, weights_from
from ..._data.typing import Array, Codes, Estimator, Floats, Ints, Keywords, Label, NativeColumn, NativeTable
from ..._tables.columns import Columns
from ..._tables.size_model import MISSING_STD, SizeModel, fill_target_sizes
from ..._tables.statistics import Statistics
from ..._uncertain import partial_sums
from ...exceptions import UncertainError
from ...preprocessing import AsGaussians
from ...preprocessing._categories import MANY, find_categories
from ..labelled import rows_with
from ..source import Source
from .piece import Piece

MANY_LABELS = 1_000
"""More different labels than this are refused."""
FEW = 5
"""Rows of every class that a sample has, if there are so many."""


@dataclass(frozen=True)
class Roles:
    """The columns beside the features, and how they are read."""

    target: str
    target_std: str | None = None
    sample_weight: str | None = None
    groups: str | None = None
    categorical: tuple[str, ...] = ()
    on_missing: str = "error"
    target_sizes: SizeModel | None = None
    """Of error bars of the target, where some are missing."""
    regression: bool = False
    classes: tuple[Label, ...] = ()
    target_unit: str | None = None


@dataclass(frozen=True)
class Seen:
    """What a partition holds."""

    n_rows: int
    n_left_out: int = 0
    """Rows without a target, which do not count among those."""
    labels: list[Label] = field(default_factory=list)
    """Different targets, at most some more than `MANY_LABELS`; with fractions first."""
    categories: Mapping[str, list[Label]] = field(default_factory=dict)
    origin: str = ""


def labelled(frame: NativeTable, roles: Roles) -> NativeTable:
    """The rows that have a target."""
    at = None
    if roles.on_missing == "auto" and len(frame):
        source = Source.from_input(frame)
        assert source.table is not None
        at = rows_with(source.table, roles.target)
    return frame if at is None else frame.iloc[at]


def counted(
    frame: NativeTable, partition: int, first: int, *, columns: Columns, share: float
) -> Statistics | None:
    """What is missing in a partition whose first row has this number in the table; `share`: of the sample."""
    if not len(frame):
        return None
    with _of(partition):
        source = Source.from_input(frame)
        assert source.table is not None
        return Statistics(columns, share).add(source.table, first)


def seen(frame: NativeTable, roles: Roles) -> Seen:
    """The targets and categories of a partition."""
    n_rows, frame = len(frame), labelled(frame, roles)
    n_left_out = n_rows - len(frame)
    if not len(frame):
        return Seen(0, n_left_out)
    source = Source.from_input(frame)
    assert source.table is not None
    column = read_column(source.table.column(roles.target), roles.target, len(frame), "targets").present
    objects = column.kind == "others"
    plain = [*dict.fromkeys(column.array.tolist())] if objects else column.distinct()[0].tolist()
    if len(plain) > MANY_LABELS:
        fractions = [v for v in plain if isinstance(v, float) and not v.is_integer()]
        plain = (fractions[:1] + plain)[: MANY_LABELS + 1]
    found = find_categories(source.table, roles.categorical, roles.on_missing)
    return Seen(len(frame), n_left_out, plain, found)


def hashes(n_rows: int, partition: int, seed: int) -> NDArray[np.uint64]:
    """A number for every row, that of (seed, partition, row): splitmix64."""
    with np.errstate(over="ignore"):
        start = np.uint64(seed) * np.uint64(0xD1342543DE82EF95)
        start += np.uint64(partition) * np.uint64(0x2545F4914F6CDD1D)
        return finalised(np.arange(1, n_rows + 1, dtype=np.uint64) * GOLDEN + start)


def sampled(
    frame: NativeTable, partition: int, *, roles: Roles, share: float, seed: int
) -> tuple[NativeTable, Ints]:
    """The rows of the sample, a few of every class among them, and their numbers in the partition."""
    if not len(frame):
        return frame, np.empty(0, dtype=np.int64)
    drawn = hashes(len(frame), partition, seed)
    kept = drawn.astype(np.float64) / 2.0**64 < share if share < 1.0 else np.ones(len(frame), dtype=bool)
    with _of(partition):
        source = Source.from_input(frame)
        counted = np.ones(len(frame), dtype=bool)
        if roles.sample_weight is not None:
            counted = _read_weights(source, roles.sample_weight) > 0.0
        if not roles.regression:
            codes = read_codes(source, roles)
            order = np.argsort(drawn, kind="stable")
            for code in range(len(roles.classes)):
                own = order[(codes == code)[order] & counted[order]]
                kept[own[:FEW]] = True
    rows = np.flatnonzero(kept & counted)
    return frame.iloc[rows], rows


@contextmanager
def _of(partition: int) -> Iterator[None]:
    """Errors say which partition they are about."""
    try:
        yield
    except UncertainError as error:
        raise type(error)(f"partition {partition}: {error}") from None


def read_codes(source: Source, roles: Roles) -> Codes:
    """The places of labels among the classes; a partition may have one class alone."""
    assert source.table is not None
    values = source.table.column(roles.target)
    column = read_column(values, roles.target, len(values), "labels")
    return places(column, np.asarray(roles.classes), roles.target).astype(np.uint32)


def read(frame: NativeTable, partition: int, *, reader: AsGaussians, roles: Roles) -> Piece | None:
    """The rows of weight of a partition, as Gaussians; None where there are none."""
    if not len(frame):
        return None
    with _of(partition):
        return _read(frame, reader, roles)


def _read(frame: NativeTable, reader: AsGaussians, roles: Roles) -> Piece | None:
    source = Source.from_input(frame)
    known: Keywords = {}
    counted: NDArray[np.bool_] | None = None
    if roles.sample_weight is not None:
        weights = _read_weights(source, roles.sample_weight)
        counted = weights > 0.0
        known["weights"] = weights
    if roles.regression:
        known["targets"] = source.targets(roles.target, "regression", unit=roles.target_unit)[0]
        if roles.target_std is not None:
            missing = MISSING_STD.get(roles.on_missing)
            std = source.target_stds(roles.target_std, missing, unit=roles.target_unit)
            if roles.target_sizes is not None:
                std = fill_target_sizes(known["targets"], std, roles.target_sizes)
            known["variances"] = std**2
    else:
        known["codes"] = read_codes(source, roles)
    if roles.groups is not None:
        known["folds"] = _group_hashes(frame[roles.groups])
    rows = reader.transform(frame)
    if counted is not None and not counted.all():
        at = np.flatnonzero(counted)
        if not at.size:
            return None
        rows = rows[at]
        known = {name: values[at] for name, values in known.items()}
    if isinstance(rows, Incomplete) and not rows.missing.any():
        rows = rows.gaussians
    return Piece.from_rows(rows, **known)


def _read_weights(source: Source, column: str) -> Floats:
    """Weights of a partition, which may all be zero there."""
    assert source.table is not None
    return weights_from(source.table.column(column), column, source.n_rows, some=False)


def _group_hashes(column: NativeColumn) -> NDArray[np.uint32]:
    """A number for every group, the same wherever its rows are."""
    import pandas as pd

    if column.isna().any():
        row = int(np.flatnonzero(column.isna())[0])
        raise UncertainError(f"{column.name}: row {row} has no group")
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.astype(column.dtype.categories.dtype)
    found = pd.util.hash_array(column.to_numpy(), categorize=False)
    folded: NDArray[np.uint32] = (found % np.uint64(2**32 - 5)).astype(np.uint32)
    return folded


@dataclass(frozen=True)
class Facts:
    """What a piece is known by."""

    n_rows: int
    nbytes: int
    counts: tuple[int, ...] = ()


def facts(piece: Piece | None, classes: int) -> Facts:
    """Rows, bytes, and rows of every class."""
    if piece is None:
        return Facts(0, 0, (0,) * classes)
    codes = piece.known().get("codes")
    counts = () if codes is None else tuple(np.bincount(codes, minlength=classes).tolist())
    return Facts(piece.part.n_rows, piece.nbytes, counts)


def joined(pieces: Sequence[Piece], folds: int, before: Sequence[int], *, grouped: bool, seed: int) -> Piece:
    """Pieces below each other, dealt to `folds`; `before`: rows of every class in the pieces in front of
    them."""
    known = [piece.known() for piece in pieces]
    together: Keywords = {name: np.concatenate([one[name] for one in known]) for name in known[0]}
    if grouped:
        hashed = together.pop("folds")
        if folds:
            together["folds"] = (_mixed(hashed, seed) % np.uint64(folds)).astype(np.uint32)
    elif folds:
        together["folds"] = dealt(together["codes"], folds, before, seed)
    return Piece.from_rows(vstack([piece.rows for piece in pieces]), **together)


def _mixed(numbers: Array, seed: int) -> NDArray[np.uint64]:
    with np.errstate(over="ignore"):
        z = (numbers.astype(np.uint64) + np.uint64(seed)) * GOLDEN
        return z ^ (z >> np.uint64(32))


def dealt(codes: Codes, folds: int, before: Sequence[int], seed: int) -> NDArray[np.uint32]:
    """Folds by rank: of each `folds` rows of a class in a row, one goes to each fold, where to begin is
    drawn."""
    out = np.empty(len(codes), dtype=np.uint32)
    for code, first in enumerate(before):
        own = np.flatnonzero(codes == code)
        rank = np.arange(first, first + len(own), dtype=np.uint64)
        block = rank // np.uint64(folds)
        shift = _mixed(block * np.uint64(2654435761) + np.uint64(code), seed) >> np.uint64(7)
        out[own] = ((rank + shift) % np.uint64(folds)).astype(np.uint32)
    return out


def moved(piece: Piece, step: Estimator) -> Piece:
    """The same knowledge of the rows behind a fitted step."""
    after = step.transform(piece.rows_named(getattr(step, "feature_names_in_", None)))
    gaussians = filled_gaussians(after)
    missing = after.missing if isinstance(after, Incomplete) else None
    return Piece(piece.part.moved(gaussians._core, missing))


def with_target(piece: Piece) -> Piece:
    """Rows whose last feature is the target."""
    return Piece(piece.part.with_target())


class TimedSums(NamedTuple):
    """The sums over a piece, the seconds they took, and the address of the worker."""

    sums: Floats
    seconds: float
    worker: str


def sums(piece: Piece, requests: bytes, n_jobs: int | None) -> TimedSums:
    """The sums that were asked for, over a piece."""
    from distributed import get_worker

    start = time.perf_counter()
    answer = partial_sums(piece.part, requests, n_jobs)
    return TimedSums(answer, time.perf_counter() - start, str(get_worker().address))


def check_categories(found: Mapping[str, Sequence[Label]]) -> dict[str, list[Label]]:
    """Categories of all partitions in one order."""
    merged: dict[str, list[Label]] = {}
    for column, values in found.items():
        different = set(values)
        if len(different) > MANY:
            raise UncertainError(
                f"{column}: {len(different)} different values are no categories (at most {MANY}); leave it "
                f"out, group rare ones, or take numbers as exact=[{column!r}]"
            )
        kinds = {type(value).__name__ for value in different if value is not None}
        if len(kinds) > 1:
            raise UncertainError(
                f"{column}: its categories are {' and '.join(sorted(kinds))} in different partitions; give "
                "the column one type"
            )
        order = sorted(value for value in different if value is not None)
        merged[column] = order + [None] * (None in different)
    return merged
