"""Fitting a pipeline to rows that are kept once: in parts of memory, or in a file.

The steps in front are fitted one after the other, each to all rows as the one before left them, and what it
makes of them takes their place. (A `Pipeline` keeps every stage until the next one is there: the table, its
Gaussians and the scaled Gaussians, three times the data.)
"""

from __future__ import annotations

from typing import Any

from sklearn import config_context
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

from .._columns.columns import Columns
from .._data.coded import Coded
from .._data.incomplete import Incomplete
from .._data.typing import Labels
from .._rows.training import fit_arguments
from .._spill import Parts, Spill, in_parts
from .._tables import BatchSize, Table
from .._tables.sentinels import Ends
from .._tables.source import Source
from ..preprocessing import AsGaussians
from ..preprocessing._as_gaussians import codes_of, watch_ends
from .batches import collected_categories, numbered
from .joined import joined

LARGE = 64 << 20
"""Bytes of numbers from which a table is read in parts: less is not worth more than one."""


def fit_in_parts(
    rows: Parts | Spill, y: Labels | Coded, pipeline: Pipeline, known: dict[str, Any]
) -> Pipeline:
    """The steps behind the reading ones, fitted; `known` as of `fit_arguments`, and the rows become those of
    the last step."""
    with config_context(enable_metadata_routing=False):
        for _, step in pipeline.steps[:-1]:
            own = {}
            if known.get("sample_weight") is not None and has_fit_parameter(step, "sample_weight"):
                own["sample_weight"] = known["sample_weight"]
            step.fit(rows.rows(), y, **own)
            rows.transform(step)
        last = pipeline.steps[-1][0]
        arguments = fit_arguments(pipeline, known)
        own = {
            key.removeprefix(f"{last}__"): v for key, v in arguments.items() if key.startswith(f"{last}__")
        }
        with joined(pipeline[-1], rows, y, known.get("y_std")):
            pipeline[-1].fit(rows.rows(), y, **own)
    return pipeline


def read_in_parts(reading: AsGaussians, table: Table, names: list[str]) -> Parts:
    """The rows of a table, part by part; codes for missing values and categories are looked for in all of
    them.

    The table is there, or gives the same rows in the same order whenever it is read.
    """
    rows, size = Parts(), BatchSize(in_parts(len(names)))
    streams = not table.collected(names)
    if not streams:
        columns, categories = reading._settle(table)
    ends: dict[str, Ends] = {}
    n_rows = 0
    for batch in table.batches(names, size):
        with numbered(n_rows):
            if not n_rows and streams:
                columns, categories = reading._settle(batch, collected_categories(table, reading, size))
            read = (
                reading.transform(batch)
                if n_rows
                else reading._read_first(batch, columns, categories, whole=False)
            )
        watch_ends(ends, batch, columns)
        rows.append(read)
        n_rows += len(read)
    reading._warn_of(codes_of(ends))
    whole = rows.rows()
    if isinstance(whole, Incomplete):
        reading._refuse_empty(whole)
    return rows


def is_large(source: Source, columns: Columns) -> bool:
    """Is it a table that is worth being read in parts, and can be? Lists count as one number: they are read
    in place."""
    table = source.table
    if table is None or not table.divisible:
        return False
    n_rows = table.counted()
    return n_rows is not None and 8 * n_rows * len(columns.used()) > LARGE
