"""Frames of narwhals, and those that it can convert where it is loaded; nothing here imports it.

A wrapped frame of a library that has a kind of its own is read as such and answered wrapped again; frames
of other libraries are read as pyarrow tables.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Self

from .._data.typing import Ints, Labels
from ._frames import ArrowTable
from ._table import Table


class NarwhalsTable(Table):
    """A frame of narwhals around a table of another kind."""

    def __init__(self, inner: Table, wrap: Callable[[Any], Any]) -> None:
        self._inner = inner
        self._wrap = wrap

    @property
    def native(self) -> Any:
        """The table without the wrapper."""
        return self._inner.native

    @property
    def names(self) -> list[str]:
        """Column names, in order."""
        return self._inner.names

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self._inner.n_rows

    def load(self, names: Iterable[str]) -> Self:
        """Of the inner table."""
        self._inner.load(names)
        return self

    def native_column(self, name: str) -> Any:
        """Of the inner table."""
        return self._inner.native_column(name)

    def numbers(self, name: str, unit: str | None = None, power: int = 1) -> Any:
        """Of the inner table."""
        return self._inner.numbers(name, unit, power)

    def unit(self, name: str) -> str | None:
        """Of the inner table."""
        return self._inner.unit(name)

    def is_numeric(self, name: str) -> bool:
        """Of the inner table."""
        return self._inner.is_numeric(name)

    def is_nested(self, name: str) -> bool:
        """Of the inner table."""
        return self._inner.is_nested(name)

    def values(self, name: str) -> list[Any]:
        """Of the inner table."""
        return self._inner.values(name)

    def result(self, columns: Mapping[str, Labels]) -> Any:
        """A DataFrame of narwhals."""
        return self._wrap(self._inner.result(columns))

    def take(self, name: str, rows: Ints) -> Any:
        """Of the inner table."""
        return self._inner.take(name, rows)

    def new(self, columns: Mapping[str, Any], lists: Mapping[str, Any]) -> Any:
        """A DataFrame of narwhals."""
        return self._wrap(self._inner.new(columns, lists))

    def appended(self, columns: Mapping[str, Labels]) -> Any:
        """A DataFrame of narwhals."""
        return self._wrap(self._inner.appended(columns))


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
