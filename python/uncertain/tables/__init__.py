"""Tables of every library: opened once, read by column, answered in the caller's kind."""

from ._open import is_table, new_table, open_table, result_like
from ._table import Table

__all__ = ["Table", "is_table", "new_table", "open_table", "result_like"]
