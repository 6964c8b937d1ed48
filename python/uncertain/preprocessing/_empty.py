"""Error columns that were found by name and hold no number at all."""

from __future__ import annotations

import numpy as np

from ..tables import Table
from ..tables._columns import Columns
from ..tables._targets import is_missing
from ._reading import read_columns


def empty_errors(table: Table, columns: Columns) -> dict[str, tuple[str, ...]]:
    """By feature the error columns of which one is null or NaN in every row."""
    bars = {feature: bar.columns for feature, bar in columns.bars().items()}
    return {f: own for f, own in bars.items() if table.n_rows and any(is_empty(table, name) for name in own)}


def is_empty(table: Table, name: str) -> bool:
    """Is there no number in the column? Some readers call such a column one of strings."""
    if table.is_numeric(name):
        return bool(np.isnan(read_columns(table, [name], "nan").to_numpy()).all())
    return table.type_of(name) == "other" and all(map(is_missing, table.values(name)))


def warning_of(empty: dict[str, tuple[str, ...]]) -> str:
    """What is said of them."""
    texts = [f"{feature} ({', '.join(columns)})" for feature, columns in empty.items()]
    return f"error columns without a number in any row count as absent: {', '.join(texts)}"
