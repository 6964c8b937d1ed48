"""Which table of a FITS file with several is meant.

The one that the caller names; else the one with the target and most of the columns that will be asked for,
and of several the one with most values. The header tells all of this, so no table is read for it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from .._columns import Columns
from ..exceptions import ColumnError, ParameterError


class HduChoice(NamedTuple):
    """What is known about the table that is meant."""

    hdu: int | str | None = None
    """Its number in the file, from 0, or its name."""
    columns: Columns | None = None
    """The columns that will be asked for."""
    fits: bool = True
    """Is it for a fit? Its `hdu` must be there; where a model predicts, other files have other tables."""

    @property
    def names(self) -> tuple[str, ...]:
        """Columns that it should have, the most important one first."""
        if self.columns is None:
            return ()
        return self.columns.named() if self.fits else tuple(self.columns.needed)

    @property
    def picked(self) -> int | str | None:
        """What the caller picked, here or in an earlier fit."""
        return self.columns.hdu if self.hdu is None and self.columns is not None else self.hdu


ANY_TABLE = HduChoice()


class _Candidate(NamedTuple):
    number: int
    name: str
    columns: tuple[str, ...]
    n_rows: int

    def __str__(self) -> str:
        return f"{self.number} ({self.name})" if self.name else str(self.number)

    def is_called(self, hdu: object) -> bool:
        return self.number == hdu or self.name.upper() == str(hdu).upper()

    def n_values(self) -> int:
        return self.n_rows * len(self.columns)


def choose_hdu(hdus: Any, choice: HduChoice = ANY_TABLE) -> tuple[int, str]:
    """The number of the table, and a sentence on the choice; "" where there was none.

    Raises ColumnError if there is no table, or none of this name or number.
    """
    tables = [_Candidate(k, *_header(hdu)) for k, hdu in enumerate(hdus) if hdu.header.get("TFIELDS")]
    if not tables:
        raise ColumnError("the FITS file holds no table, only images")
    if choice.picked is not None:
        match = next((table for table in tables if table.is_called(choice.picked)), None)
        if match is not None:
            return match.number, ""
        if choice.fits:
            listed = ", ".join(map(str, tables))
            raise ColumnError(f"hdu={choice.picked!r}: the tables of the FITS file are HDU {listed}")
    if len(tables) == 1:
        return tables[0].number, ""
    names = choice.names
    first, wanted = {*names[:1]}, {*names}

    def rank(table: _Candidate) -> tuple[bool, int, int]:
        return first <= {*table.columns}, len(wanted & {*table.columns}), table.n_values()

    best = max(tables, key=rank)
    n_matches = sum(first <= {*table.columns} for table in tables)
    reason = f"alone has {names[0]!r}" if n_matches == 1 else "has the most values"
    if n_matches > 1 and first:
        reason += f" of those with {names[0]!r}"
    others = ", ".join(str(table) for table in tables if table is not best)
    return best.number, f"of its tables HDU {best} was read, which {reason}; hdu= picks another ({others})"


def refuse_hdu(choice: HduChoice, what: str) -> None:
    """ParameterError if a caller picks a table of what has no tables."""
    if choice.hdu is not None and choice.fits:
        raise ParameterError(f"hdu={choice.hdu!r} picks a table of a FITS file, but this is {what}")


def _header(hdu: Any) -> tuple[str, tuple[str, ...], int]:
    header = hdu.header
    names = tuple(str(header.get(f"TTYPE{k}", "")) for k in range(1, int(header["TFIELDS"]) + 1))
    return str(hdu.name), names, int(header.get("NAXIS2", 0))
