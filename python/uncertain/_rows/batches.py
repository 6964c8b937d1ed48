"""What reading a table in batches needs beside the batches: categories of whole columns, and row numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from .._data.typing import Label
from .._tables import BatchSize, Table
from ..exceptions import ParameterError, UncertainError
from ..preprocessing import AsGaussians
from ..preprocessing._categories import categories_of, joined_categories


def collected_categories(
    table: Table, reading: AsGaussians, size: BatchSize
) -> dict[str, list[Label]] | None:
    """Those of the whole columns, by a pass of its own over these; None without categorical columns."""
    columns = reading._asked().categorical or ()
    if not columns:
        return None
    if table.door.once:
        raise ParameterError(
            f"categorical={list(columns)!r}: their categories are collected first, but this stream is read "
            "once; pass a dataset or a path"
        )
    found: dict[str, list[Label]] = {}
    n_rows = 0
    for batch in table.batches(columns, size):
        with numbered(n_rows):
            found = joined_categories(found, categories_of(batch, columns, reading.on_missing))
        n_rows += batch.n_rows
    return found


@contextmanager
def numbered(first: int) -> Iterator[None]:
    """Errors count rows from the first of the table."""
    try:
        yield
    except UncertainError as error:
        if not first:
            raise
        text = re.sub(r"\brow (\d+)", lambda found: f"row {int(found[1]) + first}", str(error))
        raise type(error)(text) from error
