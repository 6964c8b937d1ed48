"""Calls of a user's curve, and what it may return.

The core asks for many points at once; an answer of another shape, or an exception, is told with the points
and the parameters for which it came.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import Any, TypeAlias

import numpy as np

from .._data.typing import Floats
from ..exceptions import UncertainError

Curve: TypeAlias = Callable[[Floats, Floats], Any]
"""curve(x, params) with x (n, d): y of shape (n,) or (n, m)."""
Flat: TypeAlias = Callable[[Floats, Floats], Any]
"""The same as the core calls it: numbers in the order of rows, without a shape."""

_SINGLE = (np.float16, np.float32)


def curve_calls(curve: Curve, n_outputs: int) -> Flat:
    """`curve` with its answers checked and flat."""

    def call(x: Floats, params: Floats) -> Floats:
        values = _called(curve, "curve", x, params)
        # What most curves return: a fit to few rows is little else than calls.
        plain = isinstance(values, np.ndarray) and values.dtype == np.float64
        if plain and n_outputs == 1 and values.shape == (len(x),):  # type: ignore[attr-defined]
            return np.ascontiguousarray(values)
        if hasattr(values, "__array__") and np.asarray(values).dtype in _SINGLE:
            raise UncertainError(
                f"curve: returned {np.asarray(values).dtype} numbers, whose rounding hides the differences "
                'that a fit takes; compute in float64 (in JAX: jax.config.update("jax_enable_x64", True))'
            )
        shapes: list[tuple[int, ...]] = [(len(x), n_outputs)]
        if n_outputs == 1:
            shapes.insert(0, (len(x),))
        return checked(values, "curve", x, params, shapes).ravel()

    return call


def jac_calls(jac: Curve | None, n_outputs: int) -> Flat | None:
    """`jac` likewise: a pair of derivatives by the parameters and by x, of which the second may be None."""
    if jac is None:
        return None

    def call(x: Floats, params: Floats) -> tuple[Floats, Floats | None]:
        answer = _called(jac, "jac", x, params)
        by_params, by_x = answer if isinstance(answer, tuple) and len(answer) == 2 else (answer, None)

        def flat(values: object, what: str, width: int) -> Floats:
            shapes: list[tuple[int, ...]] = [(len(x), n_outputs, width)]
            if n_outputs == 1:
                shapes.insert(0, (len(x), width))
            return checked(values, what, x, params, shapes).ravel()

        first = flat(by_params, "jac: derivatives by the parameters", len(params))
        return first, None if by_x is None else flat(by_x, "jac: derivatives by x", x.shape[1])

    return call


def _called(function: Curve, name: str, x: Floats, params: Floats) -> object:
    # The points are made for this call; a function that writes into them changes nothing but errors' words.
    try:
        return function(x, params.copy())
    except Exception as error:
        if not _takes_two(function):
            raise UncertainError(
                f"{name} is called as {name}(x, params), with x of shape (n, {x.shape[1]}) and params of "
                f"shape ({len(params)},), and takes other arguments ({error}); one that is written as "
                f"f(x, a, b) is passed as {name}=lambda x, params: f(x[:, 0], *params)"
            ) from error
        raise UncertainError(
            f"{name} raised {type(error).__name__}: {error}; at {_first_that_raises(function, x, params)}, "
            f"params = {params.tolist()}"
        ) from error


def _takes_two(function: Curve) -> bool:
    try:
        signature(function).bind(None, None)
    except TypeError:
        return False
    except ValueError:  # built-in functions may have no signature
        return True
    return True


def _first_that_raises(function: Curve, x: Floats, params: Floats) -> str:
    for row in x[:1000]:
        try:
            function(row[None].copy(), params.copy())
        except Exception:
            return f"x = {row.tolist()}"
    return f"{len(x)} points together, though not at one of them alone"


def checked(values: object, what: str, x: Floats, params: Floats, shapes: list[tuple[int, ...]]) -> Floats:
    """`values` as float64 numbers of one of these shapes."""
    try:
        numbers: Floats = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        kind = type(values).__name__
        raise UncertainError(
            f"{what}: returned a {kind}, which holds no real numbers, {_asked(x, params)}"
        ) from None
    if numbers.shape not in shapes:
        raise UncertainError(
            f"{what}: returned the shape {numbers.shape} {_asked(x, params)}; expected {shapes[0]}"
        )
    return np.ascontiguousarray(numbers)


def _asked(x: Floats, params: Floats) -> str:
    return f"for x of shape {x.shape} and params = {params.tolist()}"
