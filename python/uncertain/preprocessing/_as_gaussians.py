"""``AsGaussians``: the columns of a table become a GaussianArray.

Idea: roles are column *names*, chosen before any number is read; every number is read by the extension,
in place where the layout allows. The one computation here is the covariance matrix of scalar columns
with correlations, S_jk = corr_jk s_j s_k.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from .._base.docs import documented
from .._data.array import GaussianArray
from .._data.incomplete import Incomplete
from .._data.numbers import float_array
from .._data.options import check_option
from .._data.typing import Booleans, Floats
from .._data.validation import RowsLike
from .._uncertain import Gaussians, Rows
from ..exceptions import ColumnError, ParameterError, ShapeError, UncertainError
from ..tables import Table, is_table, open_table
from ..tables._columns import KINDS, check_roles, choose_columns, fill

_ZERO = {"std": "zero-elements", "var": "zero-elements", "cov": "zero-rows", "factor": "zero-rows"}


@documented
class AsGaussians(TransformerMixin, BaseEstimator, auto_wrap_output_keys=None):  # type: ignore[call-arg]
    """Table -> GaussianArray.

    Parameters
    ----------
    mean : str
        A column with a list of d numbers per row (List, LargeList, FixedSizeList, nested or not).
    std, var, cov, precision, factor : str
        The column of error bars, at most one kind except factor + var. std, var: a number (isotropic) or
        d numbers (diagonal) per row. cov, precision: d * d numbers (a row-major matrix), d (its diagonal)
        or one (isotropic). factor: d * r numbers, row-major.
        With `features`, std and var may be a pattern such as ``"{}_err"``: one scalar column per feature.
    features : list of str
        Scalar columns that make the mean, instead of `mean`.
    corr : str
        A pattern such as ``"{}_{}_corr"`` naming the correlation of each pair of features (in either
        order); with std or var as a pattern it makes full covariance matrices.
    on_missing : {"error", "point", "impute"}
        "error": a null or NaN is refused. "point": among the error bars it means an exact value (that element
        of std and var, the whole row of cov and factor); missing means are refused. "impute": a feature
        whose mean, std or var is missing is marked as missing, for a `GaussianImputer`, or for a
        `GaussianDenoiser` or `GaussianDiscriminant`, which take gaps themselves.

    Without any column, `fit` chooses by name: ``mean`` with ``cov`` (or std, ...), else scalar columns that
    have an error column ending in _err, _error, _std, _se or _sigma.

    Attributes
    ----------
    roles_ : dict
        The columns in use, as arguments of this class.
    {n_features_in_}
    feature_names_in_ : ndarray of str
        The scalar columns; only with `features`.
    """

    def __init__(
        self,
        mean: str | None = None,
        *,
        std: str | None = None,
        var: str | None = None,
        cov: str | None = None,
        precision: str | None = None,
        factor: str | None = None,
        features: list[str] | None = None,
        corr: str | None = None,
        on_missing: str = "error",
    ) -> None:
        self.mean = mean
        self.std = std
        self.var = var
        self.cov = cov
        self.precision = precision
        self.factor = factor
        self.features = features
        self.corr = corr
        self.on_missing = on_missing

    def fit(self, X: RowsLike, y: object = None) -> AsGaussians:
        """Settle the columns and check that they can be read.

        Raises
        ------
        UncertainError
            With the column, row number and value: see :mod:`uncertain.exceptions`.
        """
        self._fit_transform(X)
        return self

    def fit_transform(self, X: RowsLike, y: object = None, **fit_params: Any) -> GaussianArray | Incomplete:
        """`fit` and `transform` in one reading."""
        return self._fit_transform(X)

    def transform(self, X: RowsLike) -> GaussianArray | Incomplete:
        """The rows of a table as Gaussians; arrays and GaussianArrays of d features pass through."""
        check_is_fitted(self, "roles_")
        gaussians = self._read(_opened(X), self.roles_)
        if gaussians.n_features != self.n_features_in_:
            raise ShapeError(
                f"X has {gaussians.n_features} features, but AsGaussians is expecting {self.n_features_in_} "
                "features"
            )
        return gaussians

    def get_feature_names_out(self, input_features: object = None) -> NDArray[Any]:
        """Names of the d means: the scalar columns, or the list column's name with a number."""
        check_is_fitted(self, "roles_")
        names = self.roles_.get("features")
        if names is None:
            base = self.roles_.get("mean", "x")
            names = [f"{base}{j}" for j in range(self.n_features_in_)]
        return np.asarray(names, dtype=object)

    def _fit_transform(self, X: RowsLike) -> GaussianArray | Incomplete:
        source = _opened(X)
        roles = self._roles(source)
        gaussians = self._read(source, roles)
        self.roles_: dict[str, Any] = roles
        self.n_features_in_: int = gaussians.n_features
        if "features" in roles:
            self.feature_names_in_: NDArray[Any] = np.asarray(roles["features"], dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        return gaussians

    def _roles(self, X: Any) -> dict[str, Any]:
        """The given roles, or those chosen by name."""
        check_option("on_missing", self.on_missing, ("error", "point", "impute"))
        given = {name: getattr(self, name) for name in (*KINDS, "mean", "features", "corr")}
        roles = {name: value for name, value in given.items() if value is not None}
        if roles and not isinstance(X, Table):
            raise TypeError(
                f"AsGaussians({', '.join(roles)}) reads columns of a table, got {type(X).__name__}"
            )
        if not roles and isinstance(X, Table):
            roles = choose_columns([name for name in X.names if isinstance(name, str)], None).roles()
        check_roles(roles)
        if roles and "mean" not in roles and "features" not in roles:
            raise ParameterError("pass either mean= (one column of lists) or features= (scalar columns)")
        if "corr" in roles and not {"std", "var"} & set(roles):
            raise ParameterError('corr= needs the error columns of scalar features, such as std="{}_err"')
        return roles

    def _read(self, X: Any, roles: dict[str, Any]) -> GaussianArray | Incomplete:
        if isinstance(X, (GaussianArray, Incomplete)):
            return X
        if not isinstance(X, Table):
            if self.on_missing == "impute":
                return Incomplete.of(float_array(X, "X"))
            return GaussianArray(X)
        if not roles:
            raise ColumnError(
                "AsGaussians was fitted on an array, so it knows no columns to read from a table"
            )
        return read_gaussians(X, roles, on_missing=self.on_missing)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = False
        tags.requires_fit = True
        return tags


def read_gaussians(
    table: Table, roles: dict[str, Any], *, on_missing: str = "error"
) -> GaussianArray | Incomplete:
    """The Gaussians in the columns of `roles` (arguments of AsGaussians, without patterns left open)."""
    features = list(roles.get("features") or [roles["mean"]])
    impute = on_missing == "impute"
    means = _rows(table, features, "nan" if impute else "refuse")
    n, d = means.n_rows, means.width
    names: dict[str, list[str]] = {"means": features}
    errors: dict[str, Rows] = {}
    for kind in KINDS:
        if kind not in roles:
            continue
        if on_missing == "point" and kind == "precision":
            raise ParameterError(
                'on_missing="point": an exact row has no precision matrix; pass cov, or drop the rows'
            )
        columns = [roles[kind].replace("{}", f) for f in features] if "{}" in roles[kind] else [roles[kind]]
        policy = _ZERO[kind] if on_missing == "point" else "refuse-error-bars"
        if impute and kind in ("std", "var") and "factor" not in roles:
            policy = "nan"
        errors[kind] = _rows(table, columns, policy)
        names["diagonal" if kind == "var" and "factor" in roles else "covariances"] = columns
    missing = None
    if impute:
        means, errors, missing = _gaps(means, errors)
    kinds = {kind: _fit_width(kind, rows, n, d, names) for kind, rows in errors.items()}
    arguments: dict[str, Any] = dict(kinds.values())
    if "var" in arguments and "factor" in arguments and arguments["var"].width != d:
        wide = np.repeat(arguments["var"].to_numpy(), d, axis=1)
        arguments["var"] = Rows.from_numpy(wide, n, d)
    core = Gaussians(means, names=names, **arguments)
    if "corr" in roles:
        core = _correlated(core, table, features, roles["corr"], names)
    gaussians = GaussianArray._from_core(core)
    return gaussians if missing is None else Incomplete(gaussians, missing)


def _gaps(means: Rows, errors: dict[str, Rows]) -> tuple[Rows, dict[str, Rows], Booleans]:
    """Zeros for what is missing in the mean or in its error bar, and where that is."""
    x = means.to_numpy()
    values = {kind: rows.to_numpy() for kind, rows in errors.items()}
    missing = np.isnan(x)
    for v in values.values():
        if v.shape[1] in (1, x.shape[1]):
            missing |= np.isnan(v)

    def filled(v: Floats) -> Rows:
        gaps = np.isnan(v)
        if v.shape == missing.shape:
            gaps |= missing
        return Rows.from_numpy(np.where(gaps, 0.0, v), *v.shape)

    plain = {kind: filled(v) if kind in ("std", "var") else errors[kind] for kind, v in values.items()}
    return filled(x), plain, missing


def _opened(X: Any) -> Any:
    """Tables opened once (a reader can be read only once, a lazy frame would be computed again)."""
    return open_table(X) if is_table(X) else X


def _rows(table: Table, columns: list[str], missing: str) -> Rows:
    return Rows.from_arrow([table.numbers(name) for name in columns], columns, missing)


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
    bad = np.argwhere(~(precision > 0))
    if len(bad):
        row, j = bad[0]
        raise UncertainError(f"{what}: row {row}, element {j} is {precision[row, j]}; precisions must be > 0")
    return "var", Rows.from_numpy(1.0 / precision, n, rows.width)


def _correlated(
    core: Gaussians, table: Table, features: list[str], pattern: str, names: dict[str, list[str]]
) -> Gaussians:
    """The same means with S_jk = corr_jk s_j s_k, where `core` holds the s_j^2."""
    d, present = len(features), set(table.names)
    pairs, columns = [], []
    for j in range(d):
        for k in range(j):
            options = [fill(pattern, features[a], features[b]) for a, b in ((k, j), (j, k))]
            found = [name for name in options if name in present]
            if not found:
                raise ColumnError(
                    f"there is no column {options[0]!r} (nor {options[1]!r}) for the correlation"
                )
            pairs.append((j, k))
            columns.append(found[0])
    cov = core.covariances()
    if not pairs:
        return core
    corr = _rows(table, columns, "refuse-error-bars").to_numpy()
    wrong = np.argwhere(~(np.abs(corr) <= 1))
    if len(wrong):
        row, column = wrong[0]
        raise UncertainError(
            f"{columns[column]}: row {row} is {corr[row, column]}; correlations lie in [-1, 1]"
        )
    std = np.sqrt(np.diagonal(cov, axis1=1, axis2=2))
    j, k = np.asarray(pairs).T
    cov[:, j, k] = cov[:, k, j] = corr * std[:, j] * std[:, k]
    n = core.n_rows
    names = {**names, "covariances": [pattern]}
    means = Rows.from_numpy(np.ascontiguousarray(core.means), n, d)
    return Gaussians(means, cov=Rows.from_numpy(cov, n, d * d), names=names)
