"""Names for what users hand over and get back."""

from __future__ import annotations

from typing import Any, Literal, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Codes: TypeAlias = NDArray[np.uint32]
"""Places of labels among the classes, or numbers of groups, as the core takes them."""
Booleans: TypeAlias = NDArray[np.bool_]
Labels: TypeAlias = NDArray[Any]
"""One class label per row: booleans, integers, floats, strings or objects; or the classes themselves."""

RandomState: TypeAlias = int | np.random.RandomState | None
"""Whatever scikit-learn's ``check_random_state`` takes."""
ClassWeight: TypeAlias = dict[Any, float] | Literal["balanced"] | None


@runtime_checkable
class ArrowStream(Protocol):
    """A table of any library: Polars, pandas, pyarrow, DuckDB and others."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The PyCapsule of Arrow's C stream interface."""
