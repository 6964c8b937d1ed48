"""Arguments of users as arrays of one type: numbers, row numbers, kinds of uncertainty."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..exceptions import NotFiniteError, NullError, RaggedError, ShapeError, UncertainError
from .options import refuse_if
from .typing import Array, Booleans, Floats, Ints


def float_array(values: object, what: str, *, narrow: bool = False) -> Floats:
    """`values` as C-contiguous float64: itself if it is, else converted once; real numbers only.

    `narrow`: float32 stays float32, for the core alone. NumPy would round what it computes from it.
    """
    try:
        a = np.asanyarray(values)
    except ValueError as error:
        raise RaggedError(f"{what}: rows of different lengths make no array ({error})") from None
    mask = find_mask(a)
    if mask is not None:
        refuse_masked(mask, what)
        a = unmasked(a)
    if a.dtype.kind not in "fiub":
        kinds = {"c": "complex numbers", "O": "Python objects", "U": "strings", "S": "bytes", "M": "dates"}
        kind = kinds.get(a.dtype.kind, str(a.dtype))
        raise ShapeError(
            f"{what}: expected real numbers, got {kind} (dtype {a.dtype}); convert them to float first"
        )
    dtype = np.float32 if narrow and a.dtype.kind == "f" and a.dtype.itemsize == 4 else np.float64
    return np.require(np.asarray(a), dtype, ["C", "A"])


def find_mask(values: object) -> Booleans | None:
    """The mask of a masked array of NumPy or astropy; None for anything else."""
    if isinstance(values, np.ma.MaskedArray):
        return np.ma.getmaskarray(values)
    if isinstance(values, np.ndarray) and hasattr(values, "unmasked") and hasattr(values, "mask"):
        return np.asarray(values.mask, dtype=bool)
    return None


def unmasked(values: Any) -> Array:
    """The numbers of a masked array, also where they are masked."""
    return values.data if isinstance(values, np.ma.MaskedArray) else values.unmasked


def gaps_as_nan(values: object, what: str) -> Floats:
    """`float_array`, with NaN for what is masked."""
    mask = find_mask(values)
    if mask is None:
        return float_array(values, what)
    return np.where(mask, np.nan, float_array(unmasked(values), what))


def refuse_masked(mask: Booleans, what: str) -> None:
    """Refuse masked values, with their place."""
    if mask.any():
        at = np.argwhere(mask)[0].tolist()
        place = "".join(f", {axis} {k}" for axis, k in zip(("row", "feature", "column"), at, strict=False))
        raise NullError(
            f"{what}: {place[2:] or 'the value'} is masked, so there is no number. Drop the row, or for a "
            "GaussianImputer or GaussianDenoiser pass np.ma.filled(values, np.nan)"
        )


def one_kind(names: set[str]) -> set[str]:
    """Refuse more than one kind of uncertainty, except factor + var."""
    several = len(names) > 1 and names != {"factor", "var"}
    advice = "pass at most one kind of uncertainty, except factor + var"
    refuse_if(several, f"{' and '.join(sorted(names))} are given together: {advice}")
    return names


def row_numbers(
    rows: object, n: int, noun: str = "row", how: str = "integers, a slice or a boolean mask"
) -> Ints:
    """An integer, integers or a boolean mask as row numbers from 0; IndexError if out of range."""
    index = np.atleast_1d(np.asarray(rows))
    if index.ndim != 1:
        raise IndexError(f"{noun}s are picked by a one-dimensional index, got shape {index.shape}")
    if index.dtype.kind == "b":
        if len(index) != n:
            raise IndexError(f"the boolean mask has {len(index)} elements for {n} {noun}s")
        return np.flatnonzero(index).astype(np.int64, copy=False)
    if index.size == 0:
        return np.empty(0, dtype=np.int64)
    if index.dtype.kind not in "iu":
        raise IndexError(f"{noun}s are picked by {how}, got {index.dtype}")
    wrong = (index < -n) | (index >= n)
    if wrong.any():
        raise IndexError(f"{noun} {index[wrong][0]} is out of range: there are {n} {noun}s")
    return np.where(index < 0, index + n, index).astype(np.int64, copy=False)


def pair_of_arrays(first: ArrayLike, second: ArrayLike, names: tuple[str, str]) -> tuple[Floats, Floats]:
    """Two arrays of one shape (n, d)."""
    a, b = float_array(first, names[0]), float_array(second, names[1])
    expected = f"expected the same shape (n, d) for both, got {a.shape} and {b.shape}"
    refuse_if(a.ndim != 2 or b.shape != a.shape, f"{' and '.join(names)}: {expected}", ShapeError)
    return a, b


def check_shape(values: Array, shape: tuple[int, ...], what: str, content: str) -> None:
    """Refuse an array of another shape."""
    expected = f"{what}: expected {content}, shape {shape}, got {values.shape}"
    refuse_if(values.shape != shape, expected, ShapeError)


def first_place(wrong: Booleans, *axes: str) -> tuple[tuple[int, ...], str] | None:
    """The first place that is wrong, as an index and in words ("row 3, feature 0"); None if all is well."""
    places = np.argwhere(wrong)
    if not len(places):
        return None
    at = tuple(places[0].tolist())
    return at, ", ".join(f"{axis} {k}" for axis, k in zip(axes, at, strict=True))


def refuse_where(
    wrong: Booleans,
    values: Array,
    what: str,
    rule: str,
    *,
    axes: Sequence[str] = ("row", "feature"),
    error: type[UncertainError] = UncertainError,
) -> None:
    """Refuse the first of these values that is wrong, with its place and the rule that it breaks."""
    first = first_place(wrong, *axes[: np.ndim(wrong)])
    if first:
        at, place = first
        raise error(f"{what}: {place} is {values[at]}; {rule}")


def refuse_not_finite(values: Floats, what: str, *axes: str, advice: str = "fill or drop it first") -> None:
    """Refuse NaN and infinity, with their place."""
    refuse_where(~np.isfinite(values), values, what, advice, axes=axes, error=NotFiniteError)
