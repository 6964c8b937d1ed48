"""Names for what users hand over and get back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Codes: TypeAlias = NDArray[np.uint32]
"""Places of labels among the classes, or numbers of groups, as the core takes them."""
Booleans: TypeAlias = NDArray[np.bool_]
Limits: TypeAlias = NDArray[np.int8]
"""-1 for an upper limit, 1 for a lower one, 0 for a reading."""
Labels: TypeAlias = NDArray[Any]
"""One class label per row: booleans, integers, floats, strings or objects; or the classes themselves."""

RandomState: TypeAlias = int | np.random.RandomState | None
"""Whatever scikit-learn's ``check_random_state`` takes."""
ClassWeight: TypeAlias = dict[Any, float] | Literal["balanced"] | None


ColumnOrValues: TypeAlias = str | ArrayLike | Sequence[object]
"""The name of a column, or its values, one per row, of any array or series type."""


@runtime_checkable
class ArrowStream(Protocol):
    """A table of any library: Polars, pandas, pyarrow, DuckDB and others."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The PyCapsule of Arrow's C stream interface."""


class LazyTable(Protocol):
    """A query that makes a table, such as a lazy frame of Polars."""

    def collect(self) -> Any:
        """The table."""
