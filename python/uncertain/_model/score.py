"""How good the predictions of a model are on labelled rows, counted block by block."""

from __future__ import annotations

from functools import reduce
from operator import add
from typing import TypeAlias, cast

import numpy as np

from .._data.incomplete import GaussianRows
from .._data.targets import as_values, is_missing, targets_from
from .._data.typing import ColumnOrValues, Labels, NativeTable, Values
from .._data.validation import TableLike
from .._rows.source import Source
from .._tables.dask import is_dask
from ..exceptions import ParameterError, ShapeError, UncertainError
from .reader import Reader
from .score_counts import ConfusionCounts, ResidualSums, places

Counts: TypeAlias = ConfusionCounts | ResidualSums


def count_scores(reader: Reader, table: TableLike, y: ColumnOrValues | None = None) -> Counts:
    """Counts of classes, or sums of residuals, of all rows."""
    target = reader.target(y)
    if is_dask(table):
        return _count_partitions(reader, table, target)
    source = reader.opened(table)
    name = target if isinstance(target, str) else None
    values: Values = as_values(target, "target") if name is None else ()
    steps, ends = reader.steps, [0]

    def count(block: Source, rows: GaussianRows, before: int) -> Counts:
        ends.append(before + len(rows))
        own = values[before : ends[-1]]
        if name is not None:
            own = block._values(name, "target", reader.target_unit)[0]
        return _compared(reader, _truth(reader, own, name or "target", len(rows)), steps.predict(rows))

    blocks = reader.ask_blocks(source, count, *([] if name is None else [name]))
    if name is None and len(values) != ends[-1]:
        raise ShapeError(f"target: expected {ends[-1]} targets, one per row, got {len(values)}")
    counts = reduce(add, blocks)
    if not counts.n_rows:
        raise UncertainError(f"{name or 'target'}: no row has a number")
    return counts


def _count_partitions(reader: Reader, table: NativeTable, target: ColumnOrValues) -> Counts:
    """Of a Dask DataFrame, where its partitions are."""
    import dask

    from .._rows.cluster.answers import answers

    if not isinstance(target, str):
        raise ParameterError("y: of a Dask DataFrame it is the name of a column")
    ask = dask.delayed(_count_partition)
    parts = [ask(reader, part, target) for part in table.to_delayed()]
    counts = [one for one in answers(parts, "the scores of the partitions") if one is not None]
    if not counts:
        raise UncertainError("the table has no rows")
    return cast("Counts", reduce(add, counts))


def _count_partition(reader: Reader, frame: NativeTable, target: str) -> Counts | None:
    return count_scores(reader, frame, target) if len(frame) else None


def _truth(reader: Reader, values: Values, what: str, n_rows: int) -> Labels:
    """Numbers, NaN where a row has none; places among the classes."""
    if len(values) != n_rows:
        raise ShapeError(f"{what}: expected {n_rows} targets, one per row, got {len(values)}")
    if reader.classes is not None:
        return places(values, reader.classes, what)
    if not isinstance(values, np.ndarray) and all(map(is_missing, values)):
        return np.full(n_rows, np.nan)
    return targets_from(values, what, "regression", n_rows, partial=True)[0]


def _compared(reader: Reader, truth: Labels, predicted: Labels) -> Counts:
    if reader.classes is not None:
        return ConfusionCounts.from_classes(
            truth, np.searchsorted(reader.classes, predicted), len(reader.classes)
        )
    known = ~np.isnan(truth)
    return ResidualSums.from_numbers(truth[known], predicted[known])
