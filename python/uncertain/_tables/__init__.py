"""Tables of every library: opened once, read in Polars by column, answered in the caller's kind."""

from .door import BatchSize
from .opening import is_table, open_table
from .table import Block, Table

__all__ = ["BatchSize", "Block", "Table", "is_table", "open_table"]
