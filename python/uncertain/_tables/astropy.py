"""FITS tables as astropy reads them."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._data.typing import Array, NativeTable
from ..exceptions import ColumnError
from .columns import listing
from .error_columns import error_bars


def read_hdu(X: Any) -> tuple[NativeTable, tuple[str, ...]]:
    """Read an open FITS file, one of its tables, or the rows of one; and say what else there is."""
    from astropy.io import fits
    from astropy.table import Table

    notes: tuple[str, ...] = ()
    if isinstance(X, fits.HDUList):
        tables = [(number, hdu) for number, hdu in enumerate(X) if hdu.header.get("TFIELDS")]
        if not tables:
            raise ColumnError("the FITS file holds no table, only images")
        first, *others = (f"{number} ({hdu.name})" for number, hdu in tables)
        X = tables[0][1]
        if others:
            listed = ", ".join(others)
            notes = (f"its first table, HDU {first}, was read: Table.read(path, hdu=...) reads {listed}",)
    return Table.read(fits.BinTableHDU(X) if isinstance(X, fits.FITS_rec) else X), notes


def strip_text(table: NativeTable) -> NativeTable:
    """The table with its text as FITS means it: blanks at the end fill the field, an empty one is a gap."""
    for name in table.colnames:
        column = table[name]
        dtype = getattr(column, "dtype", None)  # which times and coordinates have not
        if dtype is not None and dtype.kind in "US" and column.ndim == 1:
            text = np.char.rstrip(np.asarray(column))
            missing = np.ma.getmaskarray(column) | (text == text.dtype.type())
            table[name] = np.ma.array(text, mask=missing) if missing.any() else text
    return table


def split_arms(table: NativeTable) -> str:
    """Two numbers as the error bar of each number become two columns, upper and lower arm; a note on it."""
    names = []
    for value, bars in error_bars(table.colnames).items():
        column = bars[0].columns[0]
        if bars[0].kind == "std" and table[column].shape == (*table[value].shape, 2):
            if f"{value}_err1" in table.colnames or f"{value}_err2" in table.colnames:
                return ""
            upper, lower = _arms(table[column])
            table[f"{value}_err1"], table[f"{value}_err2"] = upper, lower
            table.remove_column(column)
            names.append(column)
    if not names:
        return ""
    shown = listing(names, 4)
    return f"columns of two numbers ({shown}) were read as the upper and lower arms x_err1 and x_err2 of x"


def _arms(column: Array) -> tuple[Array, Array]:
    """Upper and lower arm of two numbers: the lower one has signs, or is the first one."""
    known = np.ma.masked_invalid(column).reshape(-1, 2)
    signed = np.ma.less(known, 0).any(axis=0).filled(False)
    lower = int(signed[1] and not signed[0])
    return column[..., 1 - lower], column[..., lower]
