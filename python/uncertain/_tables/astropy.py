"""FITS tables as astropy reads them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..exceptions import ColumnError


def read_fits(X: Any) -> Any:
    """An open FITS file with one table, one of its tables, or the rows of one, as an astropy Table."""
    from astropy.io import fits
    from astropy.table import Table as NativeTable

    if isinstance(X, fits.HDUList):
        X = X[only_table(X)]
    table = NativeTable.read(fits.BinTableHDU(X) if isinstance(X, fits.FITS_rec) else X)
    for name in table.colnames:  # astropy does so with text that it reads from a file itself
        if table[name].dtype.kind == "U" and (table[name] == "").any():
            table[name] = np.ma.masked_equal(table[name], "")
    return table


def only_table(hdus: Any) -> int:
    """The number of the one HDU of a FITS file that is a table; ColumnError if there is none, or a choice."""
    from astropy.io import fits

    found = [(k, hdu) for k, hdu in enumerate(hdus) if isinstance(hdu, (fits.BinTableHDU, fits.TableHDU))]
    if not found:
        raise ColumnError("the FITS file holds no table, only images")
    if len(found) > 1:
        names = ", ".join(f"{k} ({hdu.name})" if hdu.name else str(k) for k, hdu in found)
        raise ColumnError(
            f"the FITS file holds several tables, HDU {names}: pass one of them, such as "
            f"astropy.table.Table.read(path, hdu={found[0][0]})"
        )
    return found[0][0]
