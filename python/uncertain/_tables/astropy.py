"""FITS tables as astropy reads them."""

from __future__ import annotations

import numpy as np

from .._data.typing import NativeTable
from .hdus import ANY_TABLE, HduChoice, choose_hdu


def read_fits(X: NativeTable, choice: HduChoice = ANY_TABLE) -> tuple[NativeTable, str]:
    """An open FITS file, one of its tables, or the rows of one, as an astropy Table; and a note on the
    choice."""
    from astropy.io import fits
    from astropy.table import Table as NativeTable

    note = ""
    if isinstance(X, fits.HDUList):
        number, note = choose_hdu(X, choice)
        X = X[number]
    table = NativeTable.read(fits.BinTableHDU(X) if isinstance(X, fits.FITS_rec) else X)
    return strip_text(table), note


def strip_text(table: NativeTable) -> NativeTable:
    """The table with its text as FITS means it: blanks at the end fill the field, an empty one is a gap."""
    for name in table.colnames:
        column = table[name]
        if column.dtype.kind in "US" and column.ndim == 1:
            text = np.char.rstrip(np.asarray(column))
            empty = text == text.dtype.type()
            table[name] = np.ma.array(text, mask=empty) if empty.any() else text
    return table
