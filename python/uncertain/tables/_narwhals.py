"""Frames of narwhals, and those that it can convert where it is loaded; nothing here imports it.

A wrapped frame of a library that has a kind of its own is read as such and answered wrapped again; frames
of other libraries are read as pyarrow tables.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from ._frames import ArrowTable
from ._table import Table


def wrapped_by_narwhals(X: Any) -> Any:
    """What a frame of narwhals wraps; None for anything else."""
    narwhals = sys.modules.get("narwhals")
    if narwhals is None or not isinstance(X, (narwhals.DataFrame, narwhals.LazyFrame)):
        return None
    return X.to_native()


def wrapper(X: Any) -> Callable[[Any], Any]:
    """What wraps a table as `X` is wrapped: each stable interface of narwhals has classes of its own."""
    narwhals = sys.modules["narwhals"]
    found: Callable[[Any], Any] = getattr(
        sys.modules[type(X).__module__], "from_native", narwhals.from_native
    )
    return found


def convert(X: Any) -> Table | None:
    """A frame of narwhals, or of a library that it knows, as a pyarrow table; None for all else."""
    narwhals = sys.modules.get("narwhals")
    if narwhals is None or isinstance(X, type) or not hasattr(X, "columns"):
        return None
    frame = narwhals.from_native(X, pass_through=True)
    if not isinstance(frame, (narwhals.DataFrame, narwhals.LazyFrame)):
        return None
    eager = frame.collect("pyarrow") if isinstance(frame, narwhals.LazyFrame) else frame
    return ArrowTable(eager.to_arrow())
