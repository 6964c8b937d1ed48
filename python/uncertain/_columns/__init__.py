"""Roles of the columns of a table: one object, found by name once, checked once."""

from .columns import Columns
from .find import exact_candidates, find_columns, left_out

__all__ = ["Columns", "exact_candidates", "find_columns", "left_out"]
