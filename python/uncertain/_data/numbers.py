"""Arguments of users as arrays of one type and of the shapes that they may have: numbers, row numbers, rows
of Gaussians, linear maps. And numbers that look random and are the same in every process: draws by them
(samples, folds, marks of equal rows) depend on neither batches, threads nor workers."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._uncertain import Fitted, Gaussians, Rows
from ..exceptions import NotFiniteError, NullError, RaggedError, ShapeError, UncertainError
from .options import refuse_if
from .typing import Array, Booleans, Floats, Ints, Keywords

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
"""2^64 divided by the golden ratio: the step of splitmix64."""


def float_array(values: object, what: str, *, narrow: bool = False) -> Floats:
    """`values` as C-contiguous float64: itself if it is, else converted once; real numbers only. `narrow`:
    float32 stays, for the core alone."""
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


def gaussians_from(means: Floats, errors: Mapping[str, Floats]) -> Gaussians:
    """The Gaussians of these means, (n, d), with error bars by their kind; of ``std`` to ``factor``."""
    n, d = means.shape
    values: Keywords = {}
    shared = False
    for name, a in errors.items():
        if name in ("std", "var"):
            values[name] = _per_row(a, name, n, d, full="factor" in errors)
        elif name == "factor":
            wrong = a.ndim != 3 or a.shape[:2] != (n, d) or a.shape[2] == 0
            expected = f"expected shape (n, d, r) = ({n}, {d}, r) with r > 0"
            refuse_if(wrong, f"factor: {expected}, got {a.shape}", ShapeError)
            values[name] = Rows.from_numpy(a, n, d * a.shape[2])
        elif a.shape == (n, d, d):
            values[name] = Rows.from_numpy(a, n, d * d)
        elif a.shape == (d, d):
            values[name], shared = Rows.from_numpy(a, 1, d * d), True
        else:
            raise ShapeError(
                f"{name}: expected shape (n, d, d) = ({n}, {d}, {d}), or ({d}, {d}) for one matrix "
                f"shared by all rows, got {a.shape}"
            )
    return Gaussians(Rows.from_numpy(means, n, d), shared=shared, **values)


def _per_row(a: Floats, what: str, n: int, d: int, *, full: bool) -> Rows:
    """std or var as rows of 1 (isotropic) or d values; always d if `full`."""
    if a.shape == (n, d):
        return Rows.from_numpy(a, n, d)
    if a.ndim == 0 or a.shape == (n,):
        column = np.broadcast_to(a.reshape(-1, 1), (n, d if full else 1))
        return Rows.from_numpy(np.require(column, a.dtype, ["C", "A"]), n, column.shape[1])
    hint = f"; for one value per feature pass np.broadcast_to({what}, (n, d))" if a.shape == (d,) else ""
    expected = f"expected a scalar, shape (n,) = ({n},) or (n, d) = ({n}, {d})"
    raise ShapeError(f"{what}: {expected}, got {a.shape}{hint}")


def linear_map(matrix: Floats, d: int | None, what: str, name: str) -> Fitted:
    """The core's map x -> x A; `d`: the features that it must have, if that is known."""
    shape, hint = (
        matrix.shape,
        f"; for one new feature pass {name}.reshape(-1, 1)" if matrix.ndim == 1 else "",
    )
    refuse_if(matrix.ndim != 2, f"{what}: expected {name} of shape (d, k), got {shape}{hint}", ShapeError)
    refuse_if(0 in shape, f"{what}: {name} of shape {shape} has no elements", ShapeError)
    sizes = f"X has {d} features, but {name} has {len(matrix)} rows; it must have one per feature"
    refuse_if(d is not None and len(matrix) != d, f"{what}: {sizes}", ShapeError)
    refuse_not_finite(matrix, name, "row", "column", advice="every element must be a finite number")
    return Fitted.from_arrays("linear-map", "{}", "null", {"matrix": matrix})


def finalised(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The bits of each number spread over all 64: the finaliser of splitmix64."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def mixed(keys: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Numbers of splitmix64 at these places."""
    return finalised((keys + np.uint64(1)) * GOLDEN)


def uniform(keys: NDArray[np.uint64]) -> NDArray[np.float64]:
    """Numbers in [0, 1)."""
    return (mixed(keys) >> np.uint64(11)).astype(np.float64) / 2.0**53
