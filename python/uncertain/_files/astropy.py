"""Files of astronomy, which astropy reads and mostly writes, to and from Polars; an optional extra."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import polars as pl

from .._data.installed import installed
from .._data.typing import Array, Keywords, NativeTable
from .._tables.astropy import read_hdu
from .._tables.libraries import of_astropy
from ..exceptions import ColumnError, UncertainError
from .damage import readable, unchanged
from .formats import FormatName
from .paths import absolute

READERS: dict[str, Keywords] = {
    "votable": {"format": "votable", "use_names_over_ids": True},
    "ecsv": {"format": "ascii.ecsv"},
    "ipac": {"format": "ascii.ipac"},
    "mrt": {"format": "ascii.mrt"},
}


def read_astropy(files: Sequence[str], kind: FormatName) -> tuple[NativeTable, str]:
    """Read the rows of all files as one astropy Table, whose columns keep their units, with a note on it."""
    _require_astropy(files[0])
    first, note = _read_one(files[0], kind)
    tables = [first, *(_read_one(file, kind)[0] for file in files[1:])]
    for file, other in zip(files[1:], tables[1:], strict=True):
        check_same(files[0], first.colnames, file, other.colnames)
    check_units(
        [
            (file, {n: unit for n in table.colnames if (unit := getattr(table[n], "unit", None)) is not None})
            for file, table in zip(files, tables, strict=True)
        ]
    )
    if len(tables) == 1:
        return first, note
    from astropy.table import vstack

    return vstack(tables, join_type="exact", metadata_conflicts="silent"), note


def check_same(first_file: str, first: Sequence[str], file: str, names: Sequence[str]) -> None:
    """ColumnError unless two files have the same columns, in any order."""
    missing = next((name for name in first if name not in names), None)
    if missing is not None:
        raise ColumnError(f"{file}: there is no column {missing!r}, which {first_file} has")
    extra = next((name for name in names if name not in first), None)
    if extra is not None:
        raise ColumnError(f"{file}: there is a column {extra!r}, which {first_file} has not")


def check_units(files: Sequence[tuple[str, Mapping[str, object]]]) -> None:
    """ColumnError unless the columns of all files (name, units by column) are in the same units."""
    first_file, first = files[0]
    for file, units in files[1:]:
        for name in sorted({*first, *units}):
            if units.get(name) != first.get(name):
                raise ColumnError(
                    f"{file}: column {name!r} has the unit {units.get(name)}, but {first.get(name)} in "
                    f"{first_file}"
                )


def to_polars(table: NativeTable) -> pl.DataFrame:
    """An astropy table as a Polars frame: fixed-size lists for columns of several dimensions, nulls for gaps.

    Times and coordinates become the columns of numbers that astropy writes for them.
    """
    from astropy.table.serialize import represent_mixins_as_columns

    plain = of_astropy(represent_mixins_as_columns(table))
    return pl.DataFrame(plain.read(plain.names))


def write_astropy(frame: pl.DataFrame, path: Path, kind: FormatName) -> None:
    """Write a Polars frame; nulls are masked, lists of one length are columns of several dimensions."""
    _require_astropy(str(path))
    from astropy.table import Table

    table = Table({column.name: _array(column) for column in frame.iter_columns()})
    formats = {"fits": "fits", "votable": "votable", "ecsv": "ascii.ecsv"}
    table.write(path, format=formats[kind], overwrite=True)


def _read_one(file: str, kind: FormatName) -> tuple[NativeTable, str]:
    """Read the table of a file, with a note on it."""
    from astropy.io import fits
    from astropy.table import Table

    def read() -> tuple[NativeTable, str]:
        if kind != "fits":
            return Table.read(absolute(file), **READERS[kind]), ""
        with fits.open(absolute(file)) as hdus:
            table, notes = read_hdu(hdus)
            return table, "; ".join(notes)

    try:
        with unchanged(file), warnings.catch_warnings():
            # Rows behind the end of the file would be made up.
            warnings.filterwarnings("error", ".*truncated")
            return readable(file, kind, read)
    except ColumnError as error:
        raise ColumnError(f"{file}: {error}") from None


def _array(column: pl.Series) -> Array:
    """A column for astropy."""
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


def _require_astropy(path: str) -> None:
    if not installed("astropy"):
        raise UncertainError(f"{path}: astropy reads such files: pip install 'uncertain-learn[astropy]'")
