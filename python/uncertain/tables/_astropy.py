"""Tables of astropy: masked columns are gaps, and Quantity columns know their units."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import numpy as np

from .._data.typing import Labels
from ..exceptions import ColumnError
from ._arrays import ArrayTable
from ._table import Table


class AstropyTable(ArrayTable):
    """An astropy Table or QTable."""

    @property
    def names(self) -> list[str]:
        return list(self.native.colnames)

    @property
    def n_rows(self) -> int:
        return len(self.native)

    def _made(self, columns: dict[str, Any]) -> Any:
        return type(self.native)(columns)

    def slice(self, start: int, stop: int) -> Table:
        return AstropyTable(self.native[start:stop])

    def appended(self, columns: Mapping[str, Labels]) -> Any:
        """A copy of the astropy table, its columns shared, with the new ones."""
        table = self.native.copy(copy_data=False)
        for name, values in columns.items():
            table[name] = np.asarray(values)
        return table

    def _at(self, place: int) -> Any:
        return self.native[self.native.colnames[place]]


def is_fits(X: object) -> bool:
    """Is it an open FITS file, one of its tables, or the rows of one?"""
    fits = sys.modules.get("astropy.io.fits")
    return fits is not None and isinstance(X, (fits.HDUList, fits.BinTableHDU, fits.TableHDU, fits.FITS_rec))


def open_astropy(X: Any) -> Table | None:
    """astropy's Table, or a FITS table, as a Table; None if it is something else.

    The latter is read as by ``Table.read``, and answered by an astropy Table.
    """
    tables = sys.modules.get("astropy.table")
    if tables is not None and isinstance(X, tables.Table):
        return AstropyTable(X)
    return AstropyTable(read_fits(X)) if is_fits(X) else None


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
