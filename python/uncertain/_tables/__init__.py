"""Tables of every library: opened once, read in Polars by column, answered in the caller's kind."""

from .frame import BatchSize
from .table import Table, as_table, open_table

__all__ = ["BatchSize", "Table", "as_table", "open_table"]
