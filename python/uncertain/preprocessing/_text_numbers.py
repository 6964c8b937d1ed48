"""Columns of text that are numbers, padded with blanks, as fixed-width files of archives have them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..exceptions import ColumnError

if TYPE_CHECKING:
    from polars import Series


def numbers_from_text(column: Series) -> tuple[Series, int | None]:
    """The numbers, null for blanks and other text; and the first row of other text, None without."""
    import polars as pl

    text = column.cast(pl.String).str.strip_chars()
    text = text.set((text == "").fill_null(False), None)
    numbers = text.cast(pl.Float64, strict=False)
    wrong = (numbers.is_null() & text.is_not_null()).arg_true()
    return numbers, int(wrong[0]) if len(wrong) else None


def not_a_number(column: Series, name: str, row: int) -> ColumnError:
    """Why such a column is refused."""
    return ColumnError(
        f"{name}: row {row} is {column[row]!r}, which is no number; a null stands for what is unknown"
    )
