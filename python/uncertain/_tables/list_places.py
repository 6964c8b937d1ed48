"""Columns of lists as columns of numbers: the value of each place, and the size of its error bar.

What holds for a value and its error column holds for each place of two lists, and for the diagonal of a
matrix.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .._data.typing import Floats
from .._uncertain import Rows
from .columns import Columns
from .error_bar import ErrorBar

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class ListPlaces:
    """Values (n, d) and error bars (n, w) of a column of lists; NaN for what is missing."""

    names: list[str]
    """Of the values, such as ``mean[0]``."""
    values: Floats
    kind: str = ""
    """Of the error bars; empty without any."""
    column: str = ""
    errors: Floats | None = None

    @property
    def is_matrix(self) -> bool:
        """Are the error bars matrices?"""
        width = 0 if self.errors is None else self.errors.shape[1]
        return self.kind in ("cov", "precision") and width == len(self.names) ** 2 > 1

    @property
    def sizes(self) -> Floats | None:
        """The error bars, (n, d) or (n, 1), of matrices the diagonals; None for factors, and without any."""
        if self.errors is None or self.kind == "factor":
            return None
        return self.errors[:, :: len(self.names) + 1] if self.is_matrix else self.errors

    @property
    def bars(self) -> dict[str, ErrorBar]:
        """By name of a value the name of the size of its error bar."""
        sizes = self.sizes
        if sizes is None or sizes.shape[1] not in (1, len(self.names)):
            return {}
        kind = "var" if self.kind == "cov" else self.kind
        shared = sizes.shape[1] == 1
        columns = [f"{self.column}[{0 if shared else j}]" for j in range(len(self.names))]
        return {name: ErrorBar(kind, (c,)) for name, c in zip(self.names, columns, strict=True)}  # type: ignore[arg-type]

    @property
    def are_usable(self) -> bool:
        """Is every number finite, and no size below zero?"""
        numbers = [self.values] if self.errors is None else [self.values, self.errors]
        if not all(np.isfinite(each.sum()) for each in numbers):
            return False
        sizes = self.sizes
        least = 0.0 if sizes is None else sizes.min(initial=np.inf)
        return bool(least > 0.0 or (least == 0.0 and self.kind != "precision"))

    def frames(self, most_bytes: int = 1 << 62) -> Iterator[pl.DataFrame]:
        """Yield values and sizes as columns of numbers, as many at a time as have so many bytes."""
        import polars as pl

        bars, sizes, d = self.bars, self.sizes, len(self.names)
        width = int(min(d, max(1, most_bytes // (16 * max(1, len(self.values))))))
        for first in range(0, d, width):
            names = self.names[first : first + width]
            columns = dict(zip(names, self.values[:, first : first + width].T, strict=True))
            for j, name in enumerate(names, first):
                if sizes is not None and name in bars:
                    columns[bars[name].columns[0]] = sizes[:, min(j, sizes.shape[1] - 1)]
            yield pl.DataFrame({name: np.ascontiguousarray(column) for name, column in columns.items()})


def list_places(columns: Columns, read: Callable[[Sequence[str]], Sequence[pl.Series]]) -> ListPlaces:
    """Return the places of the column of lists, or of the scalar features beside one of error bars; `read`
    gives columns by name."""
    names = [columns.mean] if columns.mean is not None else [*(columns.features or ())]
    values = Rows.from_arrow([*read(names)], names, "nan").to_numpy()
    if columns.mean is not None:
        names = [f"{columns.mean}[{j}]" for j in range(values.shape[1])]
    kind, column = next(iter(columns.lists.items()), ("", ""))
    if not kind or len(columns.lists) > 1:
        return ListPlaces(names, values)
    errors = Rows.from_arrow([*read([column])], [column], "nan").to_numpy()
    return ListPlaces(names, values, kind, column, errors if len(errors) == len(values) else None)
