"""List columns to and from scalar columns, for `uncertain convert`."""

from __future__ import annotations

import polars as pl

from .._columns import Columns, find_columns
from .._tables import Table
from ..exceptions import ColumnError


def pack_columns(frame: pl.DataFrame, target: str) -> pl.DataFrame:
    """Scalar features and their error columns as two fixed-size list columns, `mean` and `std`.

    Columns that are neither stay as they are, in front.
    """
    columns = find_columns(Columns(target if target in frame.columns else None), Table.from_frame(frame))
    if columns.mean is not None:
        raise ColumnError(f"the table already has a column {columns.mean!r} of lists")
    features, bars = list(columns.features or ()), columns.error_bars
    other = next((f for f in features if bars[f].kind != "std"), None)
    if other is not None or columns.corr or "cov" in columns.errors:
        what = f"the error bar of {other!r} ({bars[other]})" if other else "a correlation or covariance"
        raise ColumnError(
            f"{what} is no column of standard deviations, and a list of those is all that is packed"
        )
    packed = {"mean": features, "std": [bars[f].columns[0] for f in features]}
    used = {name for group in packed.values() for name in group}
    rest = [n for n in frame.columns if n not in used]
    clash = [n for n in packed if n in rest]
    if clash:
        raise ColumnError(
            f"the packed column {clash[0]!r} would replace one of the same name; rename it first"
        )
    return frame.select(
        *rest,
        *(
            pl.concat_arr([pl.col(n).cast(pl.Float64) for n in group]).alias(name)
            for name, group in packed.items()
        ),
    )


def unpack_columns(frame: pl.DataFrame) -> pl.DataFrame:
    """Every list column as scalar columns; `mean` and `std` become x0, x0_std, ... as `fit` reads them."""
    pieces: list[pl.Series] = []
    for column in frame.iter_columns():
        pieces += _scalars(column) if column.dtype.is_nested() else [column]
    names = [p.name for p in pieces]
    twice = [n for n in names if names.count(n) > 1]
    if twice:
        raise ColumnError(f"two columns would be called {twice[0]!r}; rename one first")
    return pl.DataFrame(pieces)


def _scalars(column: pl.Series) -> list[pl.Series]:
    lists = column
    while isinstance(lists.dtype, pl.Array) and len(lists.dtype.shape) > 1:
        lists = lists.reshape((len(lists), -1))
    if isinstance(lists.dtype, pl.Array):
        lists = lists.arr.to_list()
    if not isinstance(lists.dtype, pl.List) or lists.dtype.inner.is_nested():
        raise ColumnError(
            f"column {column.name!r} of type {column.dtype} cannot be unpacked; only lists of numbers can"
        )
    lengths = lists.list.len().unique()
    if len(lengths) != 1 or lengths[0] is None:
        raise ColumnError(
            f"column {column.name!r} cannot be unpacked: its lists have different lengths or are missing"
        )
    ending = {"mean": "", "std": "_std"}.get(column.name)
    return [
        lists.list.get(k).alias(f"{column.name}_{k}" if ending is None else f"x{k}{ending}")
        for k in range(int(lengths[0]))
    ]
