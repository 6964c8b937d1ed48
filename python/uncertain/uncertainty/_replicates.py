"""Repeated measurements: one Gaussian per group of rows.

Groups of the same size are computed together as one array (groups, size, d), so that unequal groups cost
neither padding nor a loop over groups. Shrinkage towards a multiple of the identity would mix the units of
features (one with a scatter of .5 beside one of 60 got 24), so it happens in units of the pooled scatter.
Rejected: the diagonal of the group's S as the target (Schaefer and Strimmer 2005): of a few replicates its
variances are the noisiest part.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._data.array import GaussianArray
from .._data.column import read_column
from .._data.numbers import check_shape, float_array
from .._data.options import check_option, refuse_if
from .._data.typing import Floats, Ints, Keywords, NativeTable
from .._data.units import as_unit
from .._data.warn import warn
from .._tables.columns import listing, require
from .._tables.rules import SPREAD
from .._tables.table import Table, as_table
from ..exceptions import ColumnError, NotFiniteError, NullError, ShapeError, UncertainError, UncertainWarning

if TYPE_CHECKING:
    import polars as pl

Shrinkage: TypeAlias = Literal["ledoit-wolf", "oas", "pooled"] | float | None


def from_replicates(
    table: NativeTable | ArrayLike,
    *,
    by: str | Sequence[str] | ArrayLike,
    of: Literal["mean", "population"],
    features: Sequence[str] | None = None,
    keep: Sequence[str] = (),
    columns: Literal["scalars", "lists"] = "scalars",
    shrinkage: Shrinkage = "ledoit-wolf",
    covariance: Literal["full", "diagonal"] = "full",
) -> Any:
    """Return one Gaussian per group of repeated rows: mean and covariance.

    .. code-block:: text

        S = 1/(N - 1) sum_k (x_k - mean)(x_k - mean)'        one more replicate:  of="population" (spread)
        S / N                                                the mean itself:  of="mean" (measurement error)

    S is then shrunk, in units of each feature's scatter t_j within groups (t_j^2 is the variance pooled over
    all groups): with D = diag(t_1, ..., t_d) and R = D^-1 S D^-1 it is ``D ((1 - a) R + a tr(R)/d I) D``. Of
    few replicates (N not much above d) the sample covariance alone claims directions without any error.

    Parameters
    ----------
    table : table, or array-like of shape (n, d)
        Replicates are rows.
    by : str, list of str, or array-like of shape (n,)
        The column (or columns) that name a row's group; for an array the groups themselves.
    of : {"mean", "population"}
        The covariance of the mean of a group, or of a replicate, N times as large. There is no default.
    features : list of str, optional
        The columns with the measurements. By default the columns of floats that vary within groups. Other
        columns that vary (integers, which may be counters or identifiers, and texts) are left out with a
        warning.
    keep : list of str
        Columns to carry over, such as a label; an error if one varies within a group. Columns that are
        constant in every group (a label, a site, an age) are carried over in any case, and are no features.
    columns : {"scalars", "lists"}
        Columns of a table. "scalars": every feature under its name, so that models know it by name; beside
        it its standard deviation with ``_se`` (of the mean: a standard error, for `uncertain.fit` measurement
        error) or ``_spread`` (of the population) behind the name; and for full covariances the correlation
        ``x_y_corr`` of each pair.
        "lists": ``mean`` and ``cov`` (full, row-major) or ``var`` (diagonal), for hundreds of features.
    shrinkage : {"ledoit-wolf", "oas", "pooled"}, float in [0, 1] or None
        The a above: by the formula of Ledoit and Wolf (2004) or of Chen et al. (2010) for Gaussian data, for
        the replicates in these units, a number, or none. "pooled" gives every group the same S, the pooled
        covariance within groups: right when the instrument makes the noise, and the only choice for groups of
        one.
    covariance : {"full", "diagonal"}
        Diagonal covariances are the variances alone, without shrinkage between features (except "pooled").

    Returns
    -------
    GaussianArray, or a table
        Rows in the sorted order of the groups. For a table a table of the same library with the columns of
        `by`, those that are constant in every group, the number of replicates ``n``, and the features, ready
        for ``uncertain.fit``.

    Raises
    ------
    UncertainError
        Naming the group: a single replicate, a kept column that varies; a null or NaN with its row; columns
        that do not exist.

    Warns
    -----
    UncertainWarning
        Naming the columns that are left out.

    References
    ----------
    O. Ledoit, M. Wolf, J. Multivariate Analysis 88, 2004. Y. Chen, A. Wiesel, Y. C. Eldar, A. O. Hero, IEEE
    Trans. Signal Processing 58, 2010.

    Examples
    --------
    >>> import polars as pl
    >>> from uncertain.uncertainty import from_replicates
    >>> runs = pl.DataFrame({
    ...     "sample": ["a", "a", "b", "b"],
    ...     "kind": ["acid", "acid", "base", "base"],
    ...     "ph": [3.0, 3.2, 8.0, 8.4],
    ... })
    >>> samples = from_replicates(runs, by="sample", of="mean")
    >>> samples.columns
    ['sample', 'kind', 'n', 'ph', 'ph_se']
    >>> samples["ph_se"].round(4).to_list()  # sqrt(0.02 / 2), sqrt(0.08 / 2)
    [0.1, 0.2]
    """
    _check_options(of, shrinkage, covariance)
    check_option("columns", columns, ("scalars", "lists"))
    opened = as_table(table)
    if opened is None:
        values, labels = finite(float_array(table, "table")), np.asarray(by)
        check_shape(labels, (len(values),), "by", "one group per row")
        keys, codes = np.unique(labels, return_inverse=True)
        return gaussians_of_groups(values, codes, list(map(str, keys.tolist())), of, shrinkage, covariance)[0]
    by_columns = [by] if isinstance(by, str) else list(cast(Sequence[str], by))
    replicates = read_replicates(opened, by_columns, features, keep)
    rows, counts = gaussians_of_groups(
        replicates.values, replicates.codes, replicates.groups, of, shrinkage, covariance
    )
    if columns == "lists":
        spread = {"cov": rows.covariances()} if rows.kind == "full" else {"var": rows._core.parts()["var"]}
        made = {"n": counts, "mean": rows.means} | spread
        return opened.answer(_without_clash(replicates.kept, made, ("cov", "var")), fresh=True)
    ending = "_se" if of == "mean" else SPREAD
    made = _in_units(_scalars(rows, replicates.features, ending), opened.units(replicates.features), ending)
    return opened.answer(_without_clash(replicates.kept, {"n": counts} | made), fresh=True)


def _scalars(rows: GaussianArray, features: Sequence[str], ending: str) -> dict[str, Floats]:
    """Columns x, x_se and (of full covariances S) x_y_corr = S_xy / (s_x s_y), 0 beside an exact number."""
    S = rows.covariances()
    std = np.sqrt(np.diagonal(S, axis1=1, axis2=2))
    made: list[tuple[str, Floats]] = []
    for j, name in enumerate(features):
        made += [(name, rows.means[:, j]), (name + ending, std[:, j])]
    if rows.kind == "full":
        scale = std[:, :, None] * std[:, None, :]
        corr = np.clip(np.divide(S, scale, where=scale > 0, out=np.zeros_like(S)), -1.0, 1.0)
        pairs = itertools.combinations(range(len(features)), 2)
        made += [(f"{features[j]}_{features[k]}_corr", corr[:, j, k]) for j, k in pairs]
    twice = next((name for name, count in Counter(name for name, _ in made).items() if count > 1), None)
    advice = "rename one, or pass columns='lists'"
    refuse_if(twice is not None, f"two new columns would be called {twice!r}; {advice}", ColumnError)
    return dict(made)


def _in_units(made: Keywords, units: dict[str, str], ending: str) -> Keywords:
    """The columns in the units of their features; errors of mag(AB) in mag."""
    for name, text in units.items():
        unit = as_unit(text)
        made[name] = made[name] * unit
        made[name + ending] = made[name + ending] * getattr(unit, "function_unit", unit)
    return made


def _without_clash(kept: Keywords, made: Keywords, lists: Sequence[str] = ()) -> Keywords:
    """Both together; a new column cannot have the name of an old one."""
    both = next((name for name in (*made, *lists) if name in kept), None)
    clash = f"the new column {both!r} would have the name of one of the table; rename or drop that one"
    refuse_if(both is not None, clash, ColumnError)
    return kept | made


def gaussians_of_groups(
    values: Floats,
    codes: NDArray[np.intp],
    names: Sequence[str],
    of: str,
    shrinkage: Shrinkage,
    covariance: str,
    *,
    one_unit: bool = False,
) -> tuple[GaussianArray, Ints]:
    """(Gaussians, replicates of each); `codes` number groups, errors name them.

    `one_unit`: all features have the same unit, in which covariances are shrunk.
    """
    counts = np.bincount(codes, minlength=len(names))
    if shrinkage != "pooled" and (counts < 2).any():
        alone = int(np.argmin(counts))
        raise UncertainError(
            f"group {names[alone]} has a single replicate, which has no spread. Drop the "
            f"{int((counts < 2).sum())} groups with fewer than two, or pass shrinkage='pooled'"
        )
    d = values.shape[1]
    diagonal = covariance == "diagonal" or d == 1
    means = np.empty((len(names), d))
    spread = np.empty((len(names), d) if diagonal else (len(names), d, d))
    residuals = np.empty_like(values)
    scatter = np.zeros(spread.shape[1:])
    for some, rows in _groups_by_size(codes, counts):
        block = values[rows]
        means[some] = block.mean(axis=1)
        residuals[rows] = off = block - means[some][:, None, :]
        sums = np.square(off).sum(axis=1) if diagonal else off.swapaxes(1, 2) @ off
        scatter += sums.sum(axis=0)
        if shrinkage != "pooled":
            spread[some] = sums / (rows.shape[1] - 1)
    freedom = len(values) - len(names)
    no_spread = "every group has a single replicate: there is no spread to pool"
    refuse_if(freedom < 1, no_spread, UncertainError)
    if shrinkage == "pooled":
        spread[...] = scatter / freedom
    elif not diagonal:
        unit = np.ones(d) if one_unit else np.sqrt(np.diagonal(scatter) / freedom)
        for some, rows in _groups_by_size(codes, counts):
            spread[some] = _shrunk(spread[some], residuals[rows], unit, shrinkage)
    if of == "mean":
        spread /= counts.reshape(-1, *[1] * (spread.ndim - 1))
    made = GaussianArray(means, var=spread) if diagonal else GaussianArray(means, cov=spread)
    return made, counts


def _groups_by_size(codes: NDArray[np.intp], counts: Ints) -> Iterator[tuple[Ints, Ints]]:
    """Of each size N the groups that have it, and their rows, (groups, N)."""
    order = np.argsort(codes, kind="stable")
    starts = np.cumsum(counts) - counts
    for size in np.unique(counts):
        some = np.flatnonzero(counts == size)
        yield some, order[starts[some][:, None] + np.arange(size)]


def intensity(residuals: Floats, shrinkage: Shrinkage) -> Floats:
    """Share a of the identity per group, from centred replicates (groups, N, d)."""
    groups, size, d = residuals.shape
    if shrinkage is None or isinstance(shrinkage, Real):
        return np.full(groups, float(shrinkage or 0.0))
    S = residuals.swapaxes(1, 2) @ residuals / size
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


def _shrunk(S: Floats, residuals: Floats, unit: Floats, shrinkage: Shrinkage) -> Floats:
    """D ((1 - a) R + a tr(R)/d I) D of each group; D = diag(unit), R = D^-1 S D^-1.

    Features without any scatter keep none, and do not count in d.
    """
    varying = np.flatnonzero(unit > 0.0)
    if not varying.size:
        return S
    unit = unit[varying]
    share = intensity(residuals[:, :, varying] / unit, shrinkage)
    shrunk: Floats = (1 - share)[:, None, None] * S
    level = (np.diagonal(S, axis1=1, axis2=2)[:, varying] / unit**2).mean(axis=1)
    shrunk[:, varying, varying] += (share * level)[:, None] * unit**2
    return shrunk


def _check_options(of: object, shrinkage: Any, covariance: object) -> None:
    refuse_if(
        of not in ("mean", "population"),
        f"of = {of!r}: must be 'mean' (how well the mean is known) or 'population' (how far one more "
        "replicate may lie)",
    )
    check_option("covariance", covariance, ("full", "diagonal"))
    number = isinstance(shrinkage, (float, int))
    inside = 0 <= shrinkage <= 1 if number else shrinkage in (None, "ledoit-wolf", "oas", "pooled")
    wanted = "'ledoit-wolf', 'oas', 'pooled', a number in [0, 1] or None"
    refuse_if(not inside, f"shrinkage = {shrinkage!r}: must be {wanted}")


class Replicates(NamedTuple):
    """A table of replicates, taken apart."""

    codes: NDArray[np.intp]
    """Number of each row's group, in the sorted order of the groups."""
    groups: list[str]
    """Names of the groups in messages."""
    features: list[str]
    values: Floats
    """Measurements, shape (n, d)."""
    kept: Keywords
    """Columns that describe the group, one value per group, as the table's library has them."""


def read_replicates(
    table: Table, by: Sequence[str], features: Sequence[str] | None, keep: Sequence[str]
) -> Replicates:
    """Sort the columns, read the measurements; errors name column, row, value."""
    _check_names(table, {"by": by, "keep": keep, "features": features})
    columns = dict(zip(table.names, table.series(table.names), strict=True))
    codes, first = _group_codes([columns[name] for name in by])
    groups = [", ".join(f"{name} = {columns[name][i]!r}" for name in by) for i in first.tolist()]
    changes = {name: _first_change(columns[name], codes, first) for name in table.names if name not in by}
    for name in keep:
        row = changes.pop(name)
        if row is not None:
            start, column = int(first[codes[row]]), columns[name]
            raise UncertainError(
                f"column {name!r} varies within group {groups[codes[row]]}: {column[start]!r} in row "
                f"{start}, {column[row]!r} in row {row}"
            )
    varying = [name for name, row in changes.items() if row is not None]
    dtypes = {name: columns[name].dtype for name in varying}
    measured = list(features or [name for name, t in dtypes.items() if t.is_float() or t.is_decimal()])
    if features is None and len(measured) < len(varying):
        left_out = listing([name for name in varying if name not in measured])
        warn(
            f"left out, as they vary within groups but are no floats: {left_out}. To read them name the "
            "measurements with features=[...]",
            UncertainWarning,
        )
    none = f"no column of floats varies within the groups of {', '.join(by)}. Name the measurements with "
    refuse_if(not measured, f"{none}features=[...].", ColumnError)
    values = np.stack([_numbers(table, name) for name in measured], axis=1)
    describe = [name for name, row in changes.items() if row is None and name not in measured]
    kept = {name: table.take(name, first) for name in (*by, *keep, *describe)}
    return Replicates(codes, groups, measured, finite(values, measured), kept)


def finite(values: Floats, names: Sequence[str] | None = None) -> Floats:
    """Return replicates, shape (n, d); refuse the first that is not finite."""
    wrong = values.ndim != 2 or 0 in values.shape
    refuse_if(wrong, f"replicates: expected shape (n, d) with n, d >= 1, got {values.shape}", ShapeError)
    bad = np.argwhere(~np.isfinite(values))
    if len(bad):
        i, j = bad[0]
        where = f"column {names[j]!r}" if names else f"feature {j}"
        raise NotFiniteError(f"{where}, row {i}: {values[i, j]}; drop the replicate or fill it in")
    return values


def _check_names(table: Table, roles: Mapping[str, Sequence[str] | None]) -> None:
    role_of: dict[str, str] = {}
    for role, columns in roles.items():
        one = isinstance(columns, str)
        refuse_if(one, f"{role}={columns!r}: must be a list of column names, [{columns!r}]")
        none = role != "keep" and columns is not None and len(columns) == 0
        refuse_if(none, f"{role} = []: name at least one column")
        for name in columns or ():
            require(name, table.names)
            first = role_of.setdefault(name, role)
            refuse_if(first != role, f"column {name!r} is given as {first}= and as {role}=: choose one")


def _group_codes(columns: Sequence[pl.Series]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Group number of each row, and first row of each group, in sorted order."""
    codes = np.zeros(len(columns[0]), dtype=np.intp)
    for column in columns:
        values = read_column(column, column.name, len(column), "groups")
        values.refuse_missing(f"column {column.name!r}", "is null; every replicate needs its group")
        keys, places = values.distinct()
        codes = codes * len(keys) + places
    _, first, codes = np.unique(codes, return_index=True, return_inverse=True)
    return codes, first


def _first_change(column: pl.Series, codes: NDArray[np.intp], first: NDArray[np.intp]) -> int | None:
    """First row that differs from the first of its group (gaps are alike)."""
    import polars as pl

    if column.dtype == pl.Object:
        column = pl.Series(map(repr, column))
    rows = column.ne_missing(column.gather(first[codes])).arg_true()
    return int(rows[0]) if len(rows) else None


def _numbers(table: Table, name: str) -> Floats:
    import polars as pl

    (column,) = table.series([name])
    if column.null_count():
        row = column.is_null().arg_max()
        raise NullError(f"column {name!r}, row {row} is null; drop the replicate or fill it in")
    if column.dtype.is_decimal():
        column = column.cast(pl.Float64)
    numbers = float_array(column.to_numpy(), f"column {name!r}")
    lists = f"column {name!r}: expected one number per row, got lists of them"
    refuse_if(numbers.ndim != 1, lists, ShapeError)
    return numbers
