"""Roles of the columns of a table: one object, found by name once, checked once."""

from .columns import Columns
from .find import find_columns
from .not_taken import exact_candidates, left_out

__all__ = ["Columns", "exact_candidates", "find_columns", "left_out"]
