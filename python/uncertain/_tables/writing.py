"""Tables to files, by the ending of the path."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import polars as pl

from .._data.installed import installed
from .._data.replacing import replacing
from .._data.typing import Array
from ..exceptions import ColumnError, ParameterError, UncertainError
from .paths import file_format

ASTROPY = {"fits": "fits", "votable": "votable", "ecsv": "ascii.ecsv"}
"""Formats that astropy writes, as it calls them."""


def write_table(frame: pl.DataFrame, path: Path) -> None:
    """Write in the format that the path's ending names; an old file is replaced as a whole."""
    kind, compressed = file_format(str(path))
    nested = [name for name, dtype in frame.schema.items() if dtype.is_nested()]
    if kind in ("csv", "tsv", "text") and nested:
        raise ColumnError(f"{path}: text has no lists, but column {nested[0]!r} is one. Write .parquet.")
    if kind in ("ipac", "mrt"):
        raise ParameterError(f"{path}: such files are read, not written; use .ecsv or .parquet")
    if compressed == ".zst" or (compressed and kind == "fits"):
        raise ParameterError(f"{path}: {compressed} is read, not written; leave it out")
    with replacing(path) as draft:
        if kind in ASTROPY:
            _write_astropy(frame, draft, ASTROPY[kind])
        elif kind in ("csv", "tsv", "text"):
            text = frame.write_csv(separator="," if kind == "csv" else "\t").encode()
            draft.write_bytes(gzip.compress(text) if compressed else text)
        else:
            try:
                getattr(frame, f"write_{kind}")(draft)
            except pl.exceptions.PolarsError as error:
                raise UncertainError(f"{path}: cannot be written ({error})") from error


def _write_astropy(frame: pl.DataFrame, path: Path, kind: str) -> None:
    """Write by astropy: nulls are masked, lists of one length are columns of several dimensions."""
    if not installed("astropy"):
        raise UncertainError(f"{path}: astropy writes such files: pip install 'uncertain-learn[astropy]'")
    from astropy.table import Table

    Table({column.name: _array(column) for column in frame.iter_columns()}).write(
        path, format=kind, overwrite=True
    )


def _array(column: pl.Series) -> Array:
    """Return a column for astropy."""
    if column.dtype.is_nested():
        lists = column.to_list()
        if any(row is None for row in lists):
            raise ColumnError(f"column {column.name!r} has rows without a list, which this format has not")
        try:
            return np.asarray(lists, dtype=np.float64)
        except (ValueError, TypeError) as error:
            raise ColumnError(
                f"column {column.name!r} of type {column.dtype} has no place in this format; only lists of "
                "numbers of one length have"
            ) from error
    if not column.dtype.is_numeric() and column.dtype != pl.Boolean:
        column = column.cast(pl.String)
    missing = column.is_null().to_numpy()
    filled = column if not missing.any() else column.fill_null("" if column.dtype == pl.String else 0)
    values = np.asarray(filled.to_list()) if column.dtype == pl.String else filled.to_numpy()
    return np.ma.array(values, mask=missing) if missing.any() else values
