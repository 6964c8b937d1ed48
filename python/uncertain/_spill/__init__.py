"""Rows that do not fit into memory: a temporary file without a name, mapped, in place of arrays."""

from ._budget import Budget
from ._parts import Parts, in_parts
from ._spilled import OF_SEVERAL, Spill
from ._working import in_files

__all__ = ["OF_SEVERAL", "Budget", "Parts", "Spill", "in_files", "in_parts"]
