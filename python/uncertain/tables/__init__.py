"""Tables of every library: opened once, read by column, answered in the caller's kind."""

from ._nulls import installed, need_polars
from ._open import is_table, new_table, open_table, result_like
from ._table import Table
from ._wrapped import in_units

__all__ = [
    "Table",
    "in_units",
    "installed",
    "is_table",
    "need_polars",
    "new_table",
    "open_table",
    "result_like",
]
