"""Types that the whole package shares: arrays, and what users hand over and get back.

scikit-learn, pandas and pyarrow have no types that a checker could read. Their types are described here by
the methods in use (a protocol), or by a name that says what they hold.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol, Self, TypeAlias, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    import polars as pl

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Codes: TypeAlias = NDArray[np.uint32]
"""Places of labels among the classes, or numbers of groups, as the core takes them."""
Booleans: TypeAlias = NDArray[np.bool_]
Limits: TypeAlias = NDArray[np.int8]
"""-1 for an upper limit, 1 for a lower one, 0 for a reading."""
Array: TypeAlias = NDArray[Any]
"""An array of whatever type: numbers, strings, dates or objects."""
Labels: TypeAlias = Array
"""One class label per row: booleans, integers, floats, strings or objects; or the classes themselves."""

Scalar: TypeAlias = bool | int | float | str
Json: TypeAlias = "Scalar | Sequence[Json] | Mapping[str, Json] | None"
"""Values of a model file or of a request to the core."""
Keywords: TypeAlias = dict[str, Any]
"""Arguments of a call by name, or the parameters of an estimator: types differ."""
JsonObject: TypeAlias = dict[str, Any]
"""JSON objects: numbers, texts, lists and objects of them."""
Header: TypeAlias = dict[str, Any]
"""The JSON header of a model file."""

RandomState: TypeAlias = int | np.random.RandomState | None
"""Whatever scikit-learn's ``check_random_state`` takes."""
Label: TypeAlias = Any
"""One class label, as the user wrote it: any value that can be compared with itself."""
RowValues: TypeAlias = ArrayLike | None
"""One value per row, or None."""
ClassWeight: TypeAlias = Mapping[Label, float] | Literal["balanced"] | None

Values: TypeAlias = "Sequence[Any] | Array | pl.Series"
"""The values of a column: Python objects, an array of one type, or a column of Polars."""
ColumnOrValues: TypeAlias = str | ArrayLike | Sequence[object]
"""The name of a column, or its values, one per row, of any array or series type."""

ColumnType: TypeAlias = Literal["number", "list", "distribution", "other"]
"""Content of a column in each row; "distribution": means and errors of all its features."""
NativeTable: TypeAlias = Any
"""A table of the user's library, which has no base class in common with the others."""
NativeColumn: TypeAlias = Any
"""A column of such a table: a series, an array, a list."""

Function = TypeVar("Function", bound=Callable[..., object])
"""A function that a decorator gives back as it was."""


@runtime_checkable
class ArrowStream(Protocol):
    """A table of any library: Polars, pandas, pyarrow, DuckDB and others."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The PyCapsule of Arrow's C stream interface."""


class LazyFrameLike(Protocol):
    """A query that makes a table, such as a lazy frame of Polars."""

    def collect(self) -> object:
        """The table."""


class Indexable(Protocol):
    """Rows that can be counted and picked: an array, Gaussians, Gaussians with gaps."""

    def __len__(self) -> int:
        """The number of rows."""

    def __getitem__(self, rows: Any, /) -> Self:
        """Some of the rows: integers, a slice or a boolean mask."""


class Predictor(Protocol):
    """Whatever answers for rows: an estimator that is fitted, a pipeline, or a `Model`."""

    def predict(self, X: Any, /) -> Any:
        """A label or a number for every row."""


class Estimator(Protocol):
    """A learner or transformer by the conventions of scikit-learn: this package's or anyone's."""

    def fit(self, X: Any, y: Any = None, /, **fit_params: Any) -> Any:
        """Learn from rows; returns the estimator itself."""

    def get_params(self, deep: bool = True) -> Keywords:
        """The arguments of its constructor."""

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Methods (`predict`, `transform`) and fitted attributes (names that end in ``_``)."""
