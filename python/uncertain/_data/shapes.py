"""From arrays of the caller to objects of the core: the shapes that they may have."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from .._uncertain import Fitted, Gaussians, Rows
from ..exceptions import ShapeError
from .numbers import refuse_not_finite
from .options import refuse_if
from .typing import Floats, Keywords


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
