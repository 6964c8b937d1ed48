"""Lists of draws, one per row, in any of the forms that hold them, and mixtures fitted to them."""

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple, TypeAlias, cast

import numpy as np

from .._uncertain import Gaussians, Rows, mixtures_from_draws
from ..exceptions import NullError, ParameterError, ShapeError, UncertainError, UncertainWarning
from .mixture_array import MixtureArray
from .numbers import float_array
from .options import refuse_if
from .typing import Floats, Ints
from .warn import warn

N_COMPONENTS: TypeAlias = int | Literal["auto"]


class Lists(NamedTuple):
    """Draws of all rows below each other, and where those of every row begin."""

    values: Floats
    offsets: Ints


def draws_of_column(column: object, name: str) -> Lists:
    """A list-typed column of a table, one number per draw."""
    lists = lists_from(column, name)
    width = lists.values.shape[1]
    refuse_if(width != 1, f"{name}: a draw must be one number, got lists of {width}", ShapeError)
    return lists


def mixtures_from(lists: Lists, names: Sequence[str]) -> MixtureArray:
    """`from_draws` of columns of a table; errors say which."""
    try:
        return fitted_mixtures(lists, None, "auto", "draws", None, None)
    except UncertainError as error:
        raise type(error)(f"{', '.join(names)}: {error}") from None


def fitted_mixtures(
    lists: Lists,
    weights: Floats | None,
    n_components: N_COMPONENTS,
    criterion: str,
    feature_names: Iterable[str] | None,
    n_jobs: int | None,
) -> MixtureArray:
    valid = n_components == "auto" or (isinstance(n_components, (int, np.integer)) and n_components >= 1)
    refuse_if(not valid, f'n_components = {n_components!r}: must be an integer >= 1 or "auto"')
    values, offsets = lists
    count = None if n_components == "auto" else int(n_components)
    rows = Rows.from_numpy(np.ascontiguousarray(values), *values.shape)
    core, n_fewer = mixtures_from_draws(rows, offsets, weights, count, criterion, n_jobs)
    if n_fewer:
        few = f"{n_fewer} of {len(offsets) - 1} rows have too few draws for {count} components, and got fewer"
        warn(few, UncertainWarning)
    made = cast(MixtureArray, MixtureArray._from_core(cast(Gaussians, core)))
    if feature_names is None:
        return made
    return MixtureArray(
        made.weights, made.components._named(_names(feature_names, values.shape[1])), offsets=made.offsets
    )


def _names(names: Iterable[str], d: int) -> tuple[str, ...]:
    found = tuple(names)
    wrong = len(found) != d or len(set(found)) != d
    refuse_if(wrong, f"feature_names: expected {d} different names, got {list(found)}", ShapeError)
    return found


def lists_from(draws: object, what: str) -> Lists:
    """Draws in any of the forms that hold one list per row."""
    if isinstance(draws, np.ndarray) and draws.dtype != object:
        a = float_array(draws, what)
        got = f"got {a.shape}" + ("; for one row pass draws[None]" if a.ndim == 1 else "")
        refuse_if(a.ndim not in (2, 3), f"{what}: expected shape (n, m) or (n, m, d), {got}", ShapeError)
        n, m = a.shape[:2]
        refuse_if(0 in a.shape, f"{what} of shape {a.shape}: there are no draws", ShapeError)
        return Lists(a.reshape(n * m, -1), np.arange(0, n * m + 1, m))
    rows = [_one_row(row, at, what) for at, row in enumerate(_elements(draws, what))]
    refuse_if(not rows, f"{what}: there are no rows", ShapeError)
    widths = [row.shape[1] for row in rows]
    other = next((at for at, width in enumerate(widths) if width != widths[0]), None)
    if other is not None:
        raise ShapeError(f"{what}: row {other} has draws of {widths[other]} features, row 0 of {widths[0]}")
    ends = np.cumsum([len(row) for row in rows])
    return Lists(np.concatenate(rows), np.concatenate([[0], ends]).astype(np.int64))


def _elements(draws: object, what: str) -> Iterable[object]:
    for method in ("to_pylist", "to_list", "tolist"):
        if hasattr(draws, method):
            return cast(Iterable[object], getattr(draws, method)())
    if isinstance(draws, (str, bytes)) or not isinstance(draws, Iterable):
        raise ParameterError(f"{what}: expected one list of draws per row, got {type(draws).__name__}")
    return draws


def _one_row(row: object, at: int, what: str) -> Floats:
    if row is None:
        raise NullError(f"{what}: row {at} is null, without draws; leave the row out")
    try:
        a = np.asarray(row, dtype=np.float64)
    except (TypeError, ValueError):
        raise UncertainError(f"{what}: row {at} must be a list of numbers, got {row!r:.60}") from None
    if len(np.atleast_1d(a)) == 0:
        few = "a distribution needs two at least: leave the row out, or give its error bar"
        raise UncertainError(f"{what}: row {at} has no draws; {few}")
    if a.ndim not in (1, 2) or 0 in a.shape:
        raise ShapeError(f"{what}: row {at}: expected draws of shape (m,) or (m, d), got {a.shape}")
    return a.reshape(len(a), -1)
