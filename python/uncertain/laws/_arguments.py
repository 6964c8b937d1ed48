"""What a `CurveRegressor` is given: start, bounds and fixed parameters, and errors of several outputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .._data.numbers import refuse_where
from .._data.typing import Floats
from ..exceptions import ParameterError, UncertainError


class Start(NamedTuple):
    """Parameters in their order, with names."""

    names: list[str]
    values: list[float]
    lower: list[float]
    upper: list[float]
    fixed: list[bool]


def start_from(p0: Mapping[str, float] | ArrayLike, bounds: Any, fixed: Sequence[int | str] | None) -> Start:
    """Start, bounds and fixed parameters, by place or by name."""
    named = isinstance(p0, Mapping)
    values = _numbers(list(p0.values()) if isinstance(p0, Mapping) else p0, "p0")
    if values.ndim != 1 or not len(values):
        raise ParameterError(f"p0 = {p0!r}: must be a list of numbers, or a dictionary of names and numbers")
    names = [str(name) for name in p0] if isinstance(p0, Mapping) else []
    names = names or [f"params[{j}]" for j in range(len(values))]
    lower, upper = np.full(len(values), -np.inf), np.full(len(values), np.inf)
    if isinstance(bounds, Mapping):
        for name, pair in bounds.items():
            both = _numbers(pair, f"bounds[{name!r}]")
            if both.shape != (2,):
                raise ParameterError(f"bounds[{name!r}] = {pair!r}: must be a pair (lower, upper)")
            at = _place(name, names, "bounds")
            lower[at], upper[at] = both
    elif bounds is not None:
        try:
            ends = [np.broadcast_to(_numbers(end, "bounds"), (len(values),)).copy() for end in bounds]
            lower, upper = ends
        except (TypeError, ValueError) as error:
            if isinstance(error, UncertainError):
                raise
            raise ParameterError(
                f"bounds = {bounds!r}: must be a pair (lower, upper), each a number or {len(values)} of them"
                + (", or a dictionary {name: (lower, upper)}" if named else "")
            ) from None
    held = [False] * len(values)
    for name in fixed if fixed is not None else ():
        held[_place(name, names, "fixed")] = True
    return Start(names, values.tolist(), lower.tolist(), upper.tolist(), held)


def _numbers(values: object, what: str) -> Floats:
    try:
        numbers: Floats = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError(f"{what} = {values!r}: must be numbers") from None
    return numbers


def _place(name: int | str, names: list[str], what: str) -> int:
    if isinstance(name, str) and name in names:
        return names.index(name)
    if isinstance(name, int | np.integer) and 0 <= name < len(names):
        return int(name)
    raise ParameterError(f"{what}: {name!r} is no parameter; there are {', '.join(names)}")


def covariances_of_targets(
    y_std: ArrayLike | None, y_cov: ArrayLike | None, shape: tuple[int, int]
) -> Floats | None:
    """(n, m, m) covariances of the targets' errors, None where none are given."""
    n, m = shape
    if y_std is not None and y_cov is not None:
        raise UncertainError("y_std= and y_cov= are two ways to say the same; give one of them")
    if y_std is not None:
        std = np.asarray(y_std, dtype=np.float64)
        if std.shape not in {(), (n,), (n, m), (m,) if m > 1 else ()}:
            expected = f"one number, {(n,)}" + (f", {(m,)} or {(n, m)}" if m > 1 else "")
            raise UncertainError(f"y_std: expected {expected}, got shape {std.shape}")
        std = np.broadcast_to(std[:, None] if std.shape == (n,) else std, (n, m))
        bad = ~((std >= 0) & (std < np.inf))
        refuse_where(bad, std, "y_std", "standard deviations must be >= 0", axes=("row", "output"))
        diagonal: Floats = std[:, :, None] ** 2 * np.eye(m)
        return diagonal
    if y_cov is None:
        return None
    cov = np.asarray(y_cov, dtype=np.float64)
    if cov.shape == (n, n) and n != m:
        raise UncertainError(
            f"y_cov: {(n, n)} is a covariance of all rows, which LinearLaw takes; a curve takes {(m, m)} or "
            f"{(n, m, m)}, those of each row's outputs"
        )
    if cov.shape not in {(m, m), (n, m, m)}:
        raise UncertainError(f"y_cov: expected the shape {(n, m, m)} or {(m, m)}, got {cov.shape}")
    full: Floats = np.ascontiguousarray(np.broadcast_to(cov, (n, m, m)))
    axes = ("row", "output", "output")
    refuse_where(~np.isfinite(full), full, "y_cov", "it must be finite", axes=axes)
    scale = np.abs(full).max(axis=(1, 2), initial=0.0)
    asymmetric = np.abs(full - full.transpose(0, 2, 1)).max(axis=(1, 2)) > 1e-9 * scale
    refuse_where(asymmetric, full, "y_cov", "the matrix must be symmetric")
    smallest = np.linalg.eigvalsh(full)[:, 0]
    rule = "is the smallest eigenvalue of the matrix, which must be >= 0"
    refuse_where(smallest < -1e-9 * scale, smallest, "y_cov", rule)
    return full


def crossed_covariances(xy_cov: ArrayLike | None, shape: tuple[int, int, int]) -> Floats | None:
    """(n, d, m) covariances of the errors of features and targets."""
    if xy_cov is None:
        return None
    n, d, m = shape
    cov = np.asarray(xy_cov, dtype=np.float64)
    allowed = {(n, d, m)} | ({(n, d)} if m == 1 else set()) | ({(n,)} if d == m == 1 else set())
    if cov.shape not in allowed:
        expected = (n, d, m) if m > 1 else (n, d)
        raise UncertainError(f"xy_cov: expected the shape {expected}, got {cov.shape}")
    full: Floats = np.ascontiguousarray(cov.reshape(n, d, m))
    refuse_where(~np.isfinite(full), full, "xy_cov", "it must be finite", axes=("row", "feature", "output"))
    return full
