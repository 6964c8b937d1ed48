"""DataFrames of Dask: recognised, and answered lazily, partition by partition."""

from __future__ import annotations

import sys
from collections.abc import Callable

from .._data.typing import NativeTable


def is_dask(X: object) -> bool:
    """Is it a DataFrame of Dask? Dask is not imported for that."""
    frames = sys.modules.get("dask.dataframe")
    return frames is not None and isinstance(X, frames.DataFrame)


def lazily(
    table: NativeTable, ask: Callable[[NativeTable], NativeTable], like: Callable[[NativeTable], NativeTable]
) -> NativeTable:
    """`ask` of every partition, when it is needed; `like` gives the empty answer to an empty table."""
    meta = like(table._meta)
    return table.map_partitions(_of_partition, ask, meta, meta=meta)


def _of_partition(
    part: NativeTable, ask: Callable[[NativeTable], NativeTable], empty: NativeTable
) -> NativeTable:
    return ask(part) if len(part) else empty
