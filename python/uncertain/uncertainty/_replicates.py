"""Repeated measurements: one Gaussian per group of rows.

Idea: groups of the same size are computed together as one array (groups, size, d), so that unequal groups
cost neither padding nor a loop over groups. With few replicates a sample covariance is singular and noisy,
which is why shrinkage is the default and a single replicate is an error unless the covariance is pooled.
"""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any, Literal, Required, TypeAlias, TypedDict, TypeVar, Unpack, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._data.array import GaussianArray
from .._data.numbers import float_array
from .._data.options import check_option
from .._data.typing import ArrowStream, Floats, Ints
from ..exceptions import (
    ColumnError,
    NotFiniteError,
    NullError,
    ParameterError,
    ShapeError,
    UncertainError,
)
from ..tables import Table, is_table, open_table, table_with_gaussians

Frame = TypeVar("Frame", bound=ArrowStream)
Shrinkage: TypeAlias = Literal["ledoit-wolf", "oas", "pooled"] | float | None


class Options(TypedDict, total=False):
    """Keyword arguments of `from_replicates` beside `by`."""

    of: Required[Literal["mean", "population"]]
    features: Sequence[str] | None
    keep: Sequence[str]
    shrinkage: Shrinkage
    covariance: Literal["full", "diagonal"]


@overload
def from_replicates(table: Frame, *, by: str | Sequence[str], **options: Unpack[Options]) -> Frame: ...
@overload
def from_replicates(table: ArrayLike, *, by: ArrayLike, **options: Unpack[Options]) -> GaussianArray: ...
def from_replicates(
    table: Any,
    *,
    by: Any,
    of: Literal["mean", "population"],
    features: Sequence[str] | None = None,
    keep: Sequence[str] = (),
    shrinkage: Shrinkage = "ledoit-wolf",
    covariance: Literal["full", "diagonal"] = "full",
) -> Any:
    """One Gaussian per group of repeated rows: the mean of the N replicates, and a covariance.

    .. code-block:: text

        S = 1/(N - 1) sum_k (x_k - mean)(x_k - mean)'        one more replicate:  of="population" (spread)
        S / N                                                the mean itself:  of="mean" (measurement error)

    S is then shrunk: ``(1 - a) S + a tr(S)/d I``. With few replicates (N not much above d) the sample
    covariance alone is singular and claims directions without any error.

    Parameters
    ----------
    table : table, or array-like of shape (n, d)
        Replicates are rows.
    by : str, list of str, or array-like of shape (n,)
        The column (or columns) that name a row's group; for an array the groups themselves.
    of : {"mean", "population"}
        What the covariance is of. There is no default: they differ by the factor N.
    features : list of str, optional
        The columns with the measurements; all other numeric columns by default.
    keep : list of str
        Columns to carry over (a label); they must not vary within a group.
    shrinkage : {"ledoit-wolf", "oas", "pooled"}, float in [0, 1] or None
        The a above: by the formula of Ledoit and Wolf (2004) or of Chen et al. (2010) for Gaussian data, a
        number, or none. "pooled" gives every group the same S, the pooled covariance within groups: right
        when the instrument makes the noise, and the only choice for groups of one.
    covariance : {"full", "diagonal"}
        Diagonal covariances are the variances alone, without shrinkage between features (except "pooled").

    Returns
    -------
    GaussianArray, or a table
        Rows in the sorted order of the groups. For a table a table of the same library with the columns of
        `by`, of `keep`, ``mean``, ``cov`` (full, row-major) or ``var`` (diagonal), and ``n``, ready for
        ``uncertain.fit``.

    Raises
    ------
    UncertainError
        Naming the group: a single replicate, a kept column that varies; a null or NaN with its row; columns
        that do not exist.

    References
    ----------
    O. Ledoit, M. Wolf, J. Multivariate Analysis 88, 2004. Y. Chen, A. Wiesel, Y. C. Eldar, A. O. Hero, IEEE
    Trans. Signal Processing 58, 2010.

    Examples
    --------
    >>> import polars as pl
    >>> from uncertain.uncertainty import from_replicates
    >>> runs = pl.DataFrame({"sample": ["a", "a", "b", "b"], "ph": [7.0, 7.2, 6.0, 6.4]})
    >>> from_replicates(runs, by="sample", of="mean")["var"].to_numpy().round(4)  # 0.02 / 2, 0.08 / 2
    array([[0.01],
           [0.04]])
    """
    _check_options(of, shrinkage, covariance)
    if not is_table(table):
        values = _checked(float_array(table, "table"))
        groups = np.asarray(by)
        if groups.shape != (len(values),):
            raise ShapeError(f"by: expected one group per row, shape ({len(values)},), got {groups.shape}")
        keys, codes = np.unique(groups, return_inverse=True)
        names = [str(key) for key in keys.tolist()]
        gaussians, _ = gaussians_of_groups(values, codes, names, of, shrinkage, covariance)
        return gaussians
    opened = open_table(table)
    columns = [by] if isinstance(by, str) else list(by)
    chosen = _features(opened, [*columns, *keep], features)
    values = _checked(np.stack([_numbers(opened, name) for name in chosen], axis=1), chosen)
    codes, first = _codes(opened, columns)
    labels = {name: opened.values(name) for name in columns}
    names = [", ".join(f"{name} = {labels[name][i]!r}" for name in columns) for i in first]
    gaussians, counts = gaussians_of_groups(values, codes, names, of, shrinkage, covariance)
    carried = {name: [labels[name][i] for i in first] for name in columns}
    carried |= {name: _constant(opened.values(name), codes, first, name, names) for name in keep}
    return table_with_gaussians(table, gaussians, before=carried, after={"n": counts})


def gaussians_of_groups(
    values: Floats,
    codes: NDArray[np.intp],
    names: Sequence[str],
    of: str,
    shrinkage: Shrinkage,
    covariance: str,
) -> tuple[GaussianArray, Ints]:
    """(Gaussians, replicates of each); `codes` number the groups from 0, `names` are for errors."""
    counts = np.bincount(codes, minlength=len(names))
    if shrinkage != "pooled" and (counts < 2).any():
        alone = int(np.argmin(counts))
        raise UncertainError(
            f"group {names[alone]} has a single replicate, which has no spread of its own: drop the "
            f"{int((counts < 2).sum())} groups with fewer than two, or use shrinkage='pooled'"
        )
    d = values.shape[1]
    diagonal = covariance == "diagonal" or d == 1
    means = np.empty((len(names), d))
    spread = np.empty((len(names), d) if diagonal else (len(names), d, d))
    order = np.argsort(codes, kind="stable")
    starts = np.cumsum(counts) - counts
    scatter = np.zeros(spread.shape[1:])
    for size in np.unique(counts):
        some = np.flatnonzero(counts == size)
        block = values[order[starts[some][:, None] + np.arange(size)]]
        means[some] = block.mean(axis=1)
        residuals = block - means[some][:, None, :]
        sums = np.square(residuals).sum(axis=1) if diagonal else _transposed(residuals) @ residuals
        scatter += sums.sum(axis=0)
        if shrinkage != "pooled":
            spread[some] = sums / (size - 1)
            if not diagonal:
                spread[some] = _shrunk(spread[some], intensity(residuals, shrinkage))
    if shrinkage == "pooled":
        freedom = len(values) - len(names)
        if freedom < 1:
            raise UncertainError("every group has a single replicate: there is no spread to pool")
        spread[...] = scatter / freedom
    if of == "mean":
        spread /= counts.reshape(-1, *[1] * (spread.ndim - 1))
    made = GaussianArray(means, var=spread) if diagonal else GaussianArray(means, cov=spread)
    return made, counts


def intensity(residuals: Floats, shrinkage: Shrinkage) -> Floats:
    """The share of the identity, one per group, from centred replicates of shape (groups, N, d)."""
    groups, size, d = residuals.shape
    if shrinkage is None or isinstance(shrinkage, Real):
        return np.full(groups, float(shrinkage or 0.0))
    S = _transposed(residuals) @ residuals / size
    square = np.square(S).sum(axis=(1, 2))  # |S|^2
    trace = np.trace(S, axis1=1, axis2=2)
    distance = square - trace**2 / d  # |S - tr(S)/d I|^2
    if shrinkage == "ledoit-wolf":
        # Mean over replicates of |x x' - S|^2, over N: the noise of S itself.
        noise = (np.square(np.square(residuals).sum(axis=2)).mean(axis=1) - square) / size
    else:
        noise = (square + trace**2) / (size + 1)
    share = np.divide(noise, distance, where=distance > 0, out=np.ones(groups))
    return np.asarray(np.clip(share, 0.0, 1.0), dtype=np.float64)


def _transposed(blocks: Floats) -> Floats:
    return np.swapaxes(blocks, 1, 2)


def _shrunk(S: Floats, share: Floats) -> Floats:
    d = S.shape[-1]
    level = np.trace(S, axis1=1, axis2=2) / d
    shrunk: Floats = (1 - share)[:, None, None] * S
    shrunk += (share * level)[:, None, None] * np.eye(d)
    return shrunk


def _check_options(of: Any, shrinkage: Any, covariance: Any) -> None:
    if of not in ("mean", "population"):
        raise ParameterError(
            f"of = {of!r}: must be 'mean' (how well the mean is known) or 'population' (how far one more "
            "replicate may lie)"
        )
    check_option("covariance", covariance, ("full", "diagonal"))
    if isinstance(shrinkage, (float, int)):
        if not 0 <= float(shrinkage) <= 1:
            raise ParameterError(f"shrinkage = {shrinkage!r}: a number must be in [0, 1]")
    elif shrinkage not in (None, "ledoit-wolf", "oas", "pooled"):
        raise ParameterError(
            f"shrinkage = {shrinkage!r}: must be 'ledoit-wolf', 'oas', 'pooled', a number in [0, 1] or None"
        )


def _checked(values: Floats, names: Sequence[str] | None = None) -> Floats:
    if values.ndim != 2 or values.shape[1] == 0 or len(values) == 0:
        raise ShapeError(f"replicates: expected shape (n, d) with n, d >= 1, got {values.shape}")
    bad = np.argwhere(~np.isfinite(values))
    if len(bad):
        i, j = bad[0]
        where = f"column {names[j]!r}" if names else f"feature {j}"
        raise NotFiniteError(f"{where}, row {i}: {values[i, j]}; drop the replicate or fill it in")
    return values


def _features(table: Table, used: Sequence[str], features: Sequence[str] | None) -> list[str]:
    if features is not None:
        if len(features) == 0:
            raise ParameterError("features = []: name at least one column")
        return list(features)
    chosen = [name for name in table.names if name not in used and table.is_numeric(name)]
    if not chosen:
        raise ColumnError("there is no numeric column beside `by` and `keep`; name features=[...]")
    return chosen


def _numbers(table: Table, name: str) -> Floats:
    values = table.values(name)
    missing = next((i for i, value in enumerate(values) if value is None), None)
    if missing is not None:
        raise NullError(f"column {name!r}, row {missing} is null; drop the replicate or fill it in")
    numbers = float_array(values, f"column {name!r}")
    if numbers.ndim != 1:
        raise ShapeError(f"column {name!r}: expected one number per row, got lists of them")
    return numbers


def _codes(table: Table, columns: Sequence[str]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Number of each row's group, and the first row of every group; groups in sorted order."""
    if not columns:
        raise ParameterError("by = []: name at least one column")
    codes = np.zeros(table.n_rows, dtype=np.intp)
    for name in columns:
        values = table.values(name)
        missing = next((i for i, value in enumerate(values) if value is None), None)
        if missing is not None:
            raise NullError(f"column {name!r}, row {missing} is null; every replicate needs its group")
        keys, mine = np.unique(np.asarray(values), return_inverse=True)
        codes = codes * len(keys) + mine
    _, first, codes = np.unique(codes, return_index=True, return_inverse=True)
    return codes, first


def _constant(
    values: Sequence[Any], codes: NDArray[np.intp], first: NDArray[np.intp], name: str, names: Sequence[str]
) -> list[Any]:
    for i, code in enumerate(codes):
        if values[i] != values[first[code]]:
            raise UncertainError(
                f"column {name!r} varies within group {names[code]}: {values[first[code]]!r} in row "
                f"{first[code]}, {values[i]!r} in row {i}"
            )
    return [values[i] for i in first]
