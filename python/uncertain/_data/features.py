"""Features by number or name: the columns that an index selects, and the names that fits keep."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol, TypeVar

import numpy as np

from ..exceptions import ParameterError, ShapeError, UncertainError
from .numbers import row_numbers
from .options import refuse_if
from .typing import Ints
from .warn import warn

Names = tuple[str, ...]
Value = TypeVar("Value")


class HasFeatures(Protocol):
    """Rows with features, which may have names."""

    @property
    def n_features(self) -> int:
        """How many."""

    @property
    def feature_names(self) -> Names | None:
        """Their names."""


def checked_names(names: Iterable[str] | None, d: int, what: str = "feature_names") -> Names | None:
    """`names` of d features: unique strings; None are none."""
    if names is None:
        return None
    expected = f"{what}={names!r:.200}: expected a list of {d} names"
    refuse_if(isinstance(names, str), f"{expected}, got one string")
    refuse_if(not isinstance(names, Iterable), expected)
    listed = list(names)
    wrong = next((name for name in listed if not isinstance(name, str)), None)
    refuse_if(wrong is not None, f"{what}: names are strings, got {wrong!r} ({type(wrong).__name__})")
    refuse_if(len(listed) != d, f"{what}: expected {d} names, one per feature, got {len(listed)}", ShapeError)
    twice = _repeated(listed)
    refuse_if(twice is not None, f"{what}: {twice!r} names two features; names must differ")
    return tuple(str(name) for name in listed)


def _repeated(values: Sequence[Value]) -> Value | None:
    """The first value that is there twice, None if all differ."""
    seen: set[Value] = set()
    return next((value for value in values if value in seen or seen.add(value)), None)  # type: ignore[func-returns-value]


def column_numbers(columns: object, d: int, names: Names | None) -> Ints:
    """A number, a name, several of them, a slice or a boolean mask as numbers of different features."""
    if isinstance(columns, slice):
        numbers = np.arange(d, dtype=np.int64)[columns]
    else:
        index = np.atleast_1d(np.asarray(columns))
        named = index.ndim == 1 and index.dtype.kind in "UOT"
        if named and index.size and all(isinstance(name, str) for name in index.tolist()):
            numbers = np.array([_place(name, names) for name in index.tolist()], dtype=np.int64)
        else:
            numbers = row_numbers(index, d, "feature", "numbers, names, a slice or a boolean mask")
    if numbers.size == 0:
        raise IndexError("no feature is picked; a GaussianArray has at least one")
    twice = _repeated(numbers.tolist())
    if twice is not None:
        called = f" ({names[twice]!r})" if names else ""
        raise IndexError(
            f"feature {twice}{called} is picked twice. For a copy that shares the error of the feature, "
            "multiply by a matrix: X @ A"
        )
    return numbers


def _place(name: str, names: Names | None) -> int:
    if names is None:
        advice = "the features have no names; pass GaussianArray(..., feature_names=[...])"
        raise IndexError(f"there is no feature {name!r}: {advice}")
    missing = f"there is no feature {name!r}; the features are {listing(names)}"
    refuse_if(name not in names, missing, IndexError)
    return names.index(name)


def listing(names: Sequence[str], limit: int = 8) -> str:
    """The first names, for messages."""
    return ", ".join(names[:limit]) + (f", ... ({len(names)} in all)" if len(names) > limit else "")


def common_names(all_names: Sequence[Names | None]) -> Names | None:
    """The names of concatenated rows: those that any of them has; ParameterError if they differ."""
    named = [(at, names) for at, names in enumerate(all_names) if names is not None]
    for at, names in named:
        if names != named[0][1]:
            raise ParameterError(
                f"concat: array {at} has the features {listing(names)}, but array {named[0][0]} has "
                f"{listing(named[0][1])}; select them in one order first, such as X[:, names]"
            )
    return named[0][1] if named else None


def joined_names(all_names: Sequence[Names | None]) -> Names | None:
    """The names of concatenated features; None unless all have some, ParameterError for equal ones."""
    joined: list[str] = []
    for names in all_names:
        if names is None:
            return None
        joined += names
    twice = _repeated(joined)
    advice = "pass a dictionary {prefix: array} to tell them apart"
    refuse_if(twice is not None, f"hstack: two arrays have a feature {twice!r}; {advice}")
    return tuple(joined)


def prefixed_names(pieces: Mapping[str, HasFeatures]) -> Names:
    """Names of the features of arrays in a dictionary: its key for one feature, else the key in front."""
    joined: list[str] = []
    for key, piece in pieces.items():
        wrong = not isinstance(key, str)
        refuse_if(wrong, f"hstack: the keys of the dictionary are names, got {key!r}")
        d, names = piece.n_features, piece.feature_names
        if d == 1:
            joined.append(key)
        else:
            joined += [f"{key}_{name}" for name in names] if names else [f"{key}{j}" for j in range(d)]
    twice = _repeated(joined)
    refuse_if(twice is not None, f"hstack: two features would be called {twice!r}; choose other keys")
    return tuple(joined)


def refuse_names(kind: str, fitted: Names | None, names: Names | None) -> None:
    """UncertainError for other names, or another order, than those of the fit; a warning, where one has
    none."""
    if fitted is None or names is None:
        has = "has feature names" if fitted is None else "does not have feature names"
        was = "without" if fitted is None else "with"
        warn(f"X {has}, but {kind} was fitted {was} feature names", UserWarning)
        return
    new = [name for name in names if name not in fitted]
    lost = [name for name in fitted if name not in names]
    differ = [f"{listing(new)} unseen at fit time"] if new else []
    differ += [f"{listing(lost)} missing"] if lost else []
    raise UncertainError(
        f"X: the feature names should match those that {kind} was fitted with: "
        f"{'; '.join(differ) or 'the order is another one'}. Select them by X[:, names] with names = "
        f"[{listing(fitted)}]"
    )


def rows_and_columns(index: object) -> tuple[object, object]:
    """The two parts of an index; a missing part, or an ellipsis, is `EVERY`."""
    parts = index if isinstance(index, tuple) else (index,)
    if not parts or len(parts) > 2:
        raise IndexError(f"a GaussianArray has rows and features, got {len(parts)} indices")
    rows, columns = (EVERY if part is Ellipsis else part for part in (*parts, EVERY)[:2])
    return rows, columns


EVERY = slice(None)


def is_every(index: object) -> bool:
    """Does the index select everything, in order?"""
    return isinstance(index, slice) and index == EVERY
