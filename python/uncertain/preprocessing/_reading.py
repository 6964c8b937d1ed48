"""From the columns of a table to Gaussians: list-typed columns, scalar ones with error bars, exact ones,
categories.

Every number is read by the extension. Computations here concern columns, not mathematics: variances
from the two arms of an asymmetric error bar, S_jk = corr_jk s_j s_k, zeros and ones of categories.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from .._data.array import GaussianArray
from .._data.incomplete import GaussianRows, Incomplete, filled_gaussians, hstack
from .._data.mixture_array import MixtureArray
from .._data.numbers import refuse_where
from .._data.options import refuse_if
from .._data.split_normals import shaped, split_normal
from .._data.typing import Booleans, Floats, Keywords
from .._data.units import POWERS
from .._tables.columns import Columns, listing
from .._tables.error_bar import ErrorBar
from .._tables.table import Table
from .._uncertain import Gaussians, Rows
from ..exceptions import ColumnError, NullError, ParameterError, ShapeError
from ._categories import Categories, one_hot
from ._distributions import read_distributions
from ._error_bars import Sizes, arm_lengths, read_bar
from ._pairs import REFUSE, Pairs, with_pairs

_ZERO = {"std": "zero-elements", "var": "zero-elements", "cov": "zero-rows", "factor": "zero-rows"}


class Missing(NamedTuple):
    """Treatment of nulls and NaN: policies of the extension for values and for error bars."""

    values: str
    error_bars: str

    @classmethod
    def from_option(cls, on_missing: str) -> Missing:
        return {
            "error": cls("refuse", "refuse-error-bars"),
            "point": cls("refuse", "zero-elements"),
            "impute": cls("nan", "nan"),
        }[on_missing]


def read_gaussians(
    table: Table,
    columns: Columns,
    *,
    on_missing: str = "error",
    categories: Categories | None = None,
    handle_unknown: str = "error",
    impossible: str = REFUSE,
    arms: str = "moments",
    sizes: Sizes | None = None,
) -> GaussianRows:
    """Read the Gaussians in the columns, of which nothing is left open; `sizes` stand for missing error
    bars."""
    indicators = one_hot(table, categories, handle_unknown) if categories else None
    parts: list[GaussianRows] = []
    listed = {kind: [column] for kind, column in columns.lists.items()}
    points, features = [*(columns.exact or ())], [*(columns.features or ())]
    if columns.mean is not None or listed:
        refuse_if(
            on_missing == "point" and "precision" in listed,
            'on_missing="point": an exact row has no precision matrix; pass cov, or drop the rows',
        )
        means = features if columns.mean is None else [columns.mean]
        parts.append(_gaussians(table, means, listed, columns, on_missing, impossible, sizes))
        features = []
    if columns.draws:
        parts += read_distributions(table, columns, on_missing)
    bars = columns.error_bars if features else {}
    if features and not bars:
        points, features = features + points, []
    if bars or points or indicators:
        if columns.kind_in_place is not None and not points and not indicators:
            own = {columns.kind_in_place: [bar.columns[0] for bar in bars.values()]}
            parts.append(_gaussians(table, list(bars), own, columns, on_missing, impossible, sizes))
        else:
            parts.append(
                _mixed(table, bars, points, indicators, columns, on_missing, impossible, arms, sizes)
            )
    return parts[0] if len(parts) == 1 else hstack(parts)


# -- scalar columns


def _mixed(
    table: Table,
    bars: Mapping[str, ErrorBar],
    exact: Sequence[str],
    indicators: tuple[Floats, list[str]] | None,
    columns: Columns,
    on_missing: str,
    impossible: str,
    arms: str,
    sizes: Sizes | None,
) -> GaussianRows:
    """Scalar features with error bars of several kinds, exact ones, and categories."""
    policy = Missing.from_option(on_missing)
    values: list[Floats] = []
    variances: list[Floats] = []
    names: list[str] = []
    lengths: dict[int, tuple[Floats, Floats, Floats]] = {}
    for feature, bar in bars.items():
        value = _numbers(table, feature, policy.values)
        if bar.kind in ("std", "var"):
            power = 2 if bar.kind == "var" else 1
            error = read_bar(table, feature, bar, value, policy.error_bars)[:, 0]
            error = error if sizes is None else sizes.put(error, len(values), power)
            what = "variances" if bar.kind == "var" else "standard deviations"
            refuse_where(error < 0, error, bar.columns[0], f"{what} must be >= 0")
            variance = error if bar.kind == "var" else error**2
        else:
            both = read_bar(table, feature, bar, value, policy.error_bars)
            below, above = arm_lengths(value, both, feature, bar)
            if sizes is not None:
                below, above = sizes.put(below, len(values)), sizes.put(above, len(values))
            lengths[len(values)] = value, below, above
            value, variance = split_normal(value, below, above)
        values.append(value)
        variances.append(variance)
        names.append(str(bar))
    for feature in exact:
        values.append(_exact(table, feature, policy.values))
        variances.append(np.zeros(table.n_rows))
        names.append(feature)
    means_of = [*bars, *exact]
    if indicators is not None:
        zeros_and_ones, labels = indicators
        values += list(zeros_and_ones.T)
        variances += [np.zeros(len(zeros_and_ones))] * len(labels)
        means_of, names = means_of + labels, names + labels
    means, var = np.stack(values, axis=1), np.stack(variances, axis=1)
    missing = None
    if on_missing == "impute":
        missing = np.isnan(means) | np.isnan(var)
        means, var = np.where(missing, 0.0, means), np.where(missing, 0.0, var)
    n, d = means.shape
    places = {"means": means_of, "covariances": names}
    known: Keywords = {"var": Rows.from_numpy(np.ascontiguousarray(var), n, d)} if var.any() or bars else {}
    core = Gaussians(Rows.from_numpy(np.ascontiguousarray(means), n, d), names=places, **known)
    core = _related(core, table, list(bars), columns, places, missing, impossible)
    rows = _finished(core, missing)
    if arms == "shape" and lengths:
        if filled_gaussians(rows).kind == "full":
            raise ParameterError(
                f'arms="shape" is for independent errors, but {listing(bars)} have columns of correlations. '
                'Use arms="moments".'
            )
        made = _shaped(filled_gaussians(rows).means, np.sqrt(var), lengths, missing)
        return made if missing is None else Incomplete(made, missing)
    return rows


def _shaped(
    means: Floats, std: Floats, lengths: Mapping[int, tuple[Floats, Floats, Floats]], missing: Booleans | None
) -> MixtureArray:
    """Rows of independent features, some with these (values, arms below, arms above); a gap has no shape."""
    values, below, above = means.copy(), std.copy(), std.copy()
    for j, own in lengths.items():
        there = slice(None) if missing is None else ~missing[:, j]
        values[there, j], below[there, j], above[there, j] = (each[there] for each in own)
    return shaped(values, below, above)


def _numbers(table: Table, column: str, missing: str, like: Sequence[str] = (), power: int = 1) -> Floats:
    """A column of one number per row."""
    rows = table.block([column], missing, like=like, power=power)
    if rows.width != 1:
        raise ShapeError(f"{column}: expected one number per row, got lists of {rows.width}")
    return rows.to_numpy()[:, 0]


def _exact(table: Table, column: str, missing: str) -> Floats:
    """Read a column of numbers, or of booleans as 0 and 1."""
    import polars as pl

    (series,) = table.series([column])
    is_text, n_nulls = series.dtype in (pl.String, pl.Categorical, pl.Enum), series.null_count()
    if is_text and n_nulls < len(series):
        raise ColumnError(
            f"{column}: exact= takes numbers, and this column holds strings; categorical=[{column!r}] "
            "makes a feature of zeros and ones for each of its values"
        )
    if not is_text and series.dtype != pl.Boolean:
        return _numbers(table, column, missing)
    if missing == "refuse" and n_nulls:
        row = series.is_null().arg_true()[0]
        raise NullError(f"{column}: row {row} is null; drop it, or fill it first")
    return np.asarray(series.cast(pl.Float64).to_numpy())


def _related(
    core: Gaussians,
    table: Table,
    features: list[str],
    roles: Columns,
    names: dict[str, list[str]],
    missing: Booleans | None,
    impossible: str,
) -> Gaussians:
    """With the correlations and covariances of pairs of features; others stay 0, and those of what is
    missing."""
    if roles.corr is None and roles.cov is None:
        return core
    corr = roles.pairs("corr")
    of_pairs = {**corr, **{pair: column for pair, column in roles.pairs("cov").items() if pair not in corr}}
    if not of_pairs:
        return core
    place = {feature: j for j, feature in enumerate(features)}
    pairs = Pairs(
        columns=[*of_pairs.values()],
        first=np.asarray([place[a] for a, _ in of_pairs]),
        second=np.asarray([place[b] for _, b in of_pairs]),
        are_correlations=np.asarray([pair in corr for pair in of_pairs]),
    )
    policy = "refuse-error-bars" if missing is None else "nan"
    values = table.block(pairs.columns, policy).to_numpy()
    if values.shape[1] != len(pairs.columns):
        raise ShapeError(f"{listing(pairs.columns)}: expected one number per row in each, got lists of them")
    if missing is not None:
        values = np.where(missing[:, pairs.first] | missing[:, pairs.second], 0.0, values)
    return with_pairs(core, pairs, values, names, impossible)


# -- list-typed columns


def _gaussians(
    table: Table,
    columns: list[str],
    errors: Mapping[str, list[str]],
    roles: Columns,
    on_missing: str,
    impossible: str,
    sizes: Sizes | None,
) -> GaussianRows:
    """Means and uncertainty as they are in the columns, in place where the layout allows."""
    impute = on_missing == "impute"
    means, rows = table.block(columns, "nan" if impute else "refuse"), dict[str, Rows]()
    names: dict[str, list[str]] = {"means": columns}
    for kind, of_kind in errors.items():
        policy = _ZERO[kind] if on_missing == "point" else "refuse-error-bars"
        if (impute and kind in ("std", "var") and "factor" not in errors) or (
            kind == "cov" and sizes is not None
        ):
            policy = "nan"
        like = columns if len(columns) == len(of_kind) else columns[:1]
        rows[kind] = table.block(of_kind, policy, like=like, power=POWERS[kind])
        if roles.mean is not None and roles.list_scale != 1.0:
            own = rows[kind]
            scaled = own.to_numpy() * roles.list_scale ** POWERS[kind]
            rows[kind] = Rows.from_numpy(scaled, own.n_rows, own.width)
        names["diagonal" if kind == "var" and "factor" in errors else "covariances"] = of_kind
    n, d = means.n_rows, means.width
    missing = None
    if impute:
        if sizes is not None:
            rows = {
                kind: Rows.from_numpy(sizes.put_all(kind, own.to_numpy()), n, own.width)
                for kind, own in rows.items()
            }
        means, rows, missing = _gaps(means, rows)
    kinds = {kind: _fit_width(kind, own, n, d, names) for kind, own in rows.items()}
    arguments: Keywords = dict(kinds.values())
    if "var" in arguments and "factor" in arguments and arguments["var"].width != d:
        wide = np.repeat(arguments["var"].to_numpy(), d, axis=1)
        arguments["var"] = Rows.from_numpy(wide, n, d)
    core = Gaussians(means, names=names, **arguments)
    if roles.mean is None:
        core = _related(core, table, columns, roles, names, missing, impossible)
    return _finished(core, missing)


def _finished(core: Gaussians, missing: Booleans | None) -> GaussianRows:
    gaussians = GaussianArray._from_core(core)
    return gaussians if missing is None else Incomplete(gaussians, missing)


def _gaps(means: Rows, errors: dict[str, Rows]) -> tuple[Rows, dict[str, Rows], Booleans]:
    """Zeros for what is missing in the mean or in its error bar, and where that is."""
    x = means.to_numpy()
    values = {kind: rows.to_numpy() for kind, rows in errors.items()}
    missing = np.isnan(x)
    d = x.shape[1]
    for kind, v in values.items():
        if v.shape[1] in (1, d):
            missing |= np.isnan(v)
        elif kind == "cov" and v.shape[1] == d * d:
            missing |= np.isnan(v[:, :: d + 1])

    def filled(v: Floats) -> Rows:
        gaps = np.isnan(v)
        if v.shape == missing.shape:
            gaps |= missing
        return Rows.from_numpy(np.where(gaps, 0.0, v), *v.shape)

    plain = {
        kind: filled(v) if kind in ("std", "var") or np.isnan(v.sum()) else errors[kind]
        for kind, v in values.items()
    }
    return filled(x), plain, missing


def _fit_width(kind: str, rows: Rows, n: int, d: int, names: dict[str, list[str]]) -> tuple[str, Rows]:
    """The constructor's argument for rows of this width: a cov of d values is a diagonal, of 1 isotropic."""
    what = ", ".join(names["covariances" if kind != "var" or "diagonal" not in names else "diagonal"])
    if rows.n_rows != n:
        raise ShapeError(f"{what}: expected {n} rows, one per mean, got {rows.n_rows}")
    scalar = rows.width in (1, d)
    if kind in ("std", "var"):
        if not scalar:
            raise ShapeError(
                f"{what}: expected 1 or {d} values per row for means of {d} features, got {rows.width}"
            )
        return kind, rows
    if kind == "factor":
        if rows.width % d:
            raise ShapeError(
                f"{what}: expected {d} x r values per row for means of {d} features, got {rows.width}"
            )
        return kind, rows
    if rows.width == d * d:
        return kind, rows
    if not scalar:
        raise ShapeError(
            f"{what}: expected {d} x {d} values per row (or {d}, the diagonal, or 1) for means of {d} "
            f"features, got {rows.width}"
        )
    if kind == "cov":
        return "var", rows
    precision = rows.to_numpy()
    refuse_where(~(precision > 0), precision, what, "precisions must be > 0", axes=("row", "element"))
    return "var", Rows.from_numpy(1.0 / precision, n, rows.width)
