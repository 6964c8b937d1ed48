"""`uncertain.fit` of tables that are large, or larger than memory, in place of one fit to all rows at once.

The rows are read and moved part by part (`in_parts`), or go to a file (`beyond`); then the model looks once
more at some of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sklearn.pipeline import Pipeline

from ..preprocessing import AsGaussians
from ..preprocessing._empty import empty_errors
from ..tables._columns import Columns
from ..tables._lazy import LazyTable
from ..tables._roles import KINDS
from ..tables._source import Source
from ..tables._table import BatchSize
from .in_parts import fit_in_parts, is_large, read_in_parts
from .model import Model
from .sampled import REMEMBERED_ROWS
from .trial import Rows
from .with_target import OfTarget

LOOKED_AT = 1_000
"""Rows in which an error column of a large table has to hold something."""


def suits_parts(source: Source, columns: Columns, given: Mapping[str, Any], with_target: OfTarget) -> bool:
    """Is the table worth being read in parts, and nothing asked of all of its rows at once?

    Error columns that hold nothing are told by all rows.
    """
    if with_target.columns or columns.target_limit is not None or not is_large(source, columns):
        return False
    if any(given[kind] is not None for kind in KINDS):
        return True
    assert source.table is not None
    first = next(iter(source.table.batches(sorted(columns.used()), BatchSize(LOOKED_AT))), None)
    return first is not None and not empty_errors(first, columns)


def fit_large(
    source: Source,
    columns: Columns,
    reading: AsGaussians,
    behind: Pipeline,
    known: Rows,
    start: float,
) -> Model:
    """One fit to a large table, whose rows are there once: read and moved part by part."""
    assert source.table is not None
    if isinstance(source.table, LazyTable):
        source.table.forget()
    with source.named():
        rows = read_in_parts(reading, source.table, sorted(columns.used()))
    n_rows, beside = len(known), known.arguments
    some = replace(known, rows=rows.rows()).sampled(REMEMBERED_ROWS)
    fit_in_parts(rows, known.y, behind, beside)
    pipeline = Pipeline([("gaussians", reading), *behind.steps])
    return Model(pipeline, settled(columns, reading), n_rows=n_rows)._remember(some, start)


def settled(columns: Columns, reading: AsGaussians) -> Columns:
    """Whether two columns are limits or arms is learned from rows."""
    if not columns.features:
        return columns
    return replace(columns, errors={kind: own for kind, own in reading.roles_.items() if kind in KINDS})
