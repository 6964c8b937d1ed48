"""``AsGaussians``: the columns of a table become a GaussianArray.

Idea: roles are column *names*, chosen before any number is read (``_columns/find.py``); what they hold is
read by ``_reading.py``. Only two things are learned from rows: the categories there are, and whether columns
called upper and lower are limits or lengths.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Unpack

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from .._base.docs import documented
from .._data.array import GaussianArray
from .._data.choices import OPTIONS
from .._data.features import refuse_names
from .._data.incomplete import GaussianRows, Incomplete
from .._data.numbers import gaps_as_nan
from .._data.options import check_options, refuse_unknown
from .._data.typing import Array, Keywords, Limits, NativeTable
from .._data.validation import RowsLike, check_fitted_names
from .._data.warn import warn
from .._tables.cleaning import Cleaning
from .._tables.columns import OF_FEATURES, Columns, ColumnsLike, FeatureRoles, listing
from .._tables.find import complete_columns, find_columns
from .._tables.flags import read_flags
from .._tables.reading import read_roles
from .._tables.statistics import Statistics
from .._tables.table import Table, as_table
from ..exceptions import ColumnError, NotFiniteError, NullError, ShapeError, UncertainWarning
from ._categories import Categories, find_categories, one_hot_names
from ._distributions import distributions_of
from ._error_bars import Sizes, read_deviations, settled_arms, with_sizes
from ._limits import read_with_limits
from ._pairs import REFUSE, SHRINK
from ._reading import read_gaussians


@documented
class AsGaussians(TransformerMixin, BaseEstimator, auto_wrap_output_keys=None):  # type: ignore[call-arg]
    """Table -> GaussianArray.

    Without `mean` and `features`, `fit` chooses by name: ``mean`` with ``cov`` (or std, ...), else scalar
    columns that have an error column: x_err, x_error, x_std, x_se, x_sigma, x_unc, xErr, e_x, sigma_x, dx
    and the like, also inside the name (psfMagErr_u of psfMag_u), asymmetric ones (x_err1 and x_err2,
    x_upper and x_lower), correlations (a_b_corr) and covariances (cov_a_b).

    Parameters
    ----------
    columns : dict or Columns
        The features with their error columns: {feature: error column, pair of arms (upper, lower), or None
        for an exact feature}, or all roles as a :class:`uncertain.Columns`, whose target, groups and weights
        are no features.
    features, mean, std, var, cov, precision, factor, bounds, exact, categorical, corr, limits, draws
        The fields of :class:`uncertain.Columns` of these names as shortcuts, such as ``features=["flux"],
        std="{}_err"`` or ``mean="position", cov="covariance"``. Features that are named without error bars
        are exact.
    handle_unknown : {"error", "ignore"}
        An unknown category after `fit` is refused, or gives zeros for all categories.
    arms : {"moments", "shape"}
        Asymmetric error bars of scalar columns keep mean and variance, or their shape, as mixtures of two or
        three Gaussians per feature (`uncertain.uncertainty.from_bounds` with ``rule="shape"``); refused with
        correlations and covariances of scalar columns.
    on_missing : {"error", "auto", "point", "impute"}
        "error": a null or NaN is refused. "auto": nulls, NaN, infinities, blanks, codes such as -9999
        (repeated values far outside the rest of a column) and rare error bars of zero are unknown. A value
        without error bar gets one from a model of the sizes of the others; a missing value is marked as
        missing. "point": a missing error bar means an exact value (that element of std and var, the whole row
        of cov and factor); missing means are refused. "impute": a feature whose mean, std or var is missing
        is marked as missing, for a `GaussianImputer`, or for what takes gaps itself.

    Attributes
    ----------
    columns_ : Columns
        The columns in use, with all roles filled in.
    roles_ : dict
        The roles as arguments of this class.
    categories_ : dict
        The categories of each column of `categorical`, in the order of their features.
    unknown_ : object
        Codes of "unknown" in the table, and the model of sizes; ``print(unknown_)`` counts what was
        missing.
    units_ : dict
        The unit of each column of values that has one (of an astropy table or file, or a dict of Quantities);
        other tables are converted to it, and those without units are taken to be in it.
    {n_features_in_}
    feature_names_in_ : ndarray of str
        The scalar columns; only without `mean`.

    Warns
    -----
    UncertainWarning
        In `fit`: for a repeated value far outside the rest of a column, such as -9999, and for asymmetric
        error bars, whose skewness is lost.

    Examples
    --------
    >>> import polars
    >>> from uncertain import AsGaussians
    >>> table = polars.DataFrame({"flux": [1.0, 2.0], "flux_err": [0.1, 0.2]})
    >>> AsGaussians(features=["flux"], std="{}_err").fit_transform(table).covariances().ravel().round(2)
    array([0.01, 0.04])
    """

    _lost: str | None = None
    """Skewness that a Gaussian loses of the asymmetric error bars of the fit."""

    def __init__(
        self,
        *,
        columns: ColumnsLike | None = None,
        on_missing: str = "error",
        handle_unknown: str = "error",
        arms: str = "moments",
        **roles: Unpack[FeatureRoles],
    ) -> None:
        if not roles.keys() <= {*OF_FEATURES}:
            refuse_unknown(roles, OF_FEATURES, self._get_param_names())
        self.columns = columns
        self.on_missing = on_missing
        self.handle_unknown = handle_unknown
        self.arms = arms
        for role in OF_FEATURES:
            setattr(self, role, roles.get(role))

    def fit(self, X: RowsLike, y: object = None) -> AsGaussians:
        """Settle the columns and check that they can be read.

        Raises
        ------
        UncertainError
            With the column, row number and value: see :mod:`uncertain.exceptions`.
        """
        self.fit_transform(X)
        return self

    def fit_transform(self, X: RowsLike, y: object = None, **fit_params: Any) -> GaussianArray | Incomplete:
        """`fit` and `transform` in one reading."""
        source = _opened(X)
        return self._fit_columns(source, self._found(source))

    def transform(self, X: RowsLike | Table) -> GaussianArray | Incomplete:
        """Return the rows of a table as Gaussians; arrays pass through."""
        check_is_fitted(self, "columns_")
        return self._transform(X)

    def _transform(self, X: RowsLike | Table, **how: bool) -> GaussianArray | Incomplete:
        """`transform` with the options of `_read`."""
        source = _opened(X)
        if self.units_ and isinstance(source, Table):
            source = source.in_units(self.units_)
        gaussians = self._read(source, self.columns_, self.categories_, **how)
        if gaussians.n_features != self.n_features_in_:
            raise ShapeError(
                f"X has {gaussians.n_features} features, but AsGaussians is expecting {self.n_features_in_} "
                "features"
            )
        names = self._names_out()
        gaussians = gaussians._named(names)
        if not isinstance(source, Table) and names != gaussians.feature_names:  # arrays may have one
            refuse_names("AsGaussians", names, gaussians.feature_names)
        return gaussians

    def get_feature_names_out(self, input_features: object = None) -> Array:
        """Return the names of the d means."""
        check_is_fitted(self, "columns_")
        if not self.columns_.used and hasattr(self, "feature_names_in_"):
            return np.array(self.feature_names_in_, dtype=object)
        names = [*_names_of_draws(self.columns_), *self.columns_.scalars]
        for column, known in self.categories_.items():
            names += one_hot_names(column, known)
        if self.columns_.mean is not None or not names:
            base = self.columns_.mean or "x"
            names = [f"{base}{j}" for j in range(self.n_features_in_ - len(names))] + names
        return np.asarray(names, dtype=object)

    @property
    def roles_(self) -> Keywords:
        """The columns in use, as arguments of this class."""
        return self.columns_.roles()

    def _names_out(self) -> tuple[str, ...] | None:
        """Names for the features of the Gaussians; the places in a list have none."""
        columns = self.columns_
        if not columns.used:
            return tuple(getattr(self, "feature_names_in_", ())) or None
        names = tuple(self.get_feature_names_out().tolist())
        of_scalars = columns.scalars or columns.categorical or columns.draws
        return names if of_scalars and len(set(names)) == len(names) else None

    def _fit_columns(
        self,
        source: NativeTable,
        columns: Columns,
        statistics: Statistics | None = None,
        categories: Categories | None = None,
    ) -> GaussianRows:
        """Fit to the rows of these columns, which are settled; `statistics`, `categories`: of all rows, where
        these are some."""
        self._forget_unknown()
        if not isinstance(source, Table):
            return self._read_first(source, columns, {}, whole=True)
        statistics = Statistics(columns).add(source) if statistics is None else statistics
        self._learn(statistics)
        columns, categories = self._settle(source, categories, columns)
        if self.on_missing == "auto":
            self._learn_sizes(statistics, columns)
        rows = self._read_first(source, columns, categories, whole=True, counting=True)
        if self.on_missing != "auto":  # after other errors
            self._learn_sizes(statistics, columns)
        return rows

    def _forget_unknown(self) -> None:
        self.unknown_: Cleaning = Cleaning()
        self._lost = None

    def count_target(self, target: str | None, n_sized: int) -> None:
        """Count error bars of the target that are from a model of sizes."""
        if n_sized:
            self.unknown_ = self.unknown_.counting({}, {target or "target": n_sized})

    def _learn(self, statistics: Statistics) -> None:
        """Learn what stands for unknown, with a warning about what is guessed."""
        taken = self.on_missing == "auto"
        if (warning := statistics.warning(taken=taken)) is not None:
            warn(warning, UncertainWarning)
        if taken:
            self.unknown_ = statistics.cleaning()

    def _learn_sizes(self, statistics: Statistics, columns: Columns) -> None:
        """Learn the sizes of error bars from the sample of rows."""
        if (sample := statistics.sample.table) is not None:
            self.unknown_ = with_sizes(self.unknown_, sample, columns)

    def _settle(
        self, source: NativeTable, known: Categories | None = None, columns: Columns | None = None
    ) -> tuple[Columns, Categories]:
        """Learn the roles of columns, and the categories (`known` where they were collected before)."""
        columns = self._found(source) if columns is None else columns
        if not isinstance(source, Table):
            return columns, {}
        if any(len(bar.columns) == 2 for bar in columns.error_bars.values()):
            numbers = (
                self.unknown_.clean(source, columns, unusable=("std", "var", "arms")).table
                if self.on_missing == "auto"
                else source
            )
            columns, self._lost = settled_arms(numbers, columns)
            if self._lost is not None and self.arms == "moments":
                warn(self._lost, UncertainWarning)
        categorical = columns.categorical or ()
        if known is None:
            known = find_categories(source, categorical, self.on_missing) if categorical else {}
        return columns, known

    def _read_first(
        self, source: NativeTable, columns: Columns, categories: Categories, *, whole: bool, **how: bool
    ) -> GaussianRows:
        """Read the rows (`whole`: all of them), and set what a fit leaves behind."""
        gaussians = self._read(source, columns, categories, **how)
        units: dict[str, str] = {}
        if isinstance(source, Table):
            draws = columns.draws or ()
            if draws:
                columns = columns.with_found(distributions=distributions_of(source, draws))
            units = source.units([*draws, *columns.scalars, *filter(None, [columns.mean])])
        self._keep(columns, categories, gaussians.n_features, units)
        if whole and isinstance(source, Table) and isinstance(gaussians, Incomplete):
            self._refuse_empty(gaussians.missing.all(axis=0))
        if not columns.used:
            check_fitted_names(self, gaussians.feature_names, reset=True)
        return gaussians._named(self._names_out())

    def _refuse_empty(self, missing: Array | np.bool_) -> None:
        """Refuse features that are missing in every row."""
        empty = self.get_feature_names_out()[missing].tolist()
        if empty:
            raise ColumnError(
                f"{listing(empty)}: in every row the value or its error bar is missing; leave such "
                f"columns out, or take their values as exact with exact={empty!r}"
            )

    def _keep(self, columns: Columns, categories: Categories, n_features: int, units: dict[str, str]) -> None:
        """Set what a fit leaves behind."""
        self.units_: dict[str, str] = units
        self.columns_: Columns = columns
        self.categories_: Categories = categories
        self.n_features_in_: int = n_features
        scalars = [*_names_of_draws(columns), *columns.scalars, *(columns.categorical or ())]
        if scalars and columns.mean is None:
            self.feature_names_in_: Array = np.asarray(scalars, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _check_options(self) -> None:
        options = {name: OPTIONS[name] for name in ("on_missing", "handle_unknown")}
        options["arms"] = OPTIONS["arms"][1:]
        check_options(**{name: (getattr(self, name), words) for name, words in options.items()})

    def _asked(self) -> Columns:
        """`columns` and its shortcuts."""
        self._check_options()
        return Columns.from_arguments(self.columns, {role: getattr(self, role) for role in OF_FEATURES})[0]

    def _found(self, X: NativeTable) -> Columns:
        """The given columns, with those that their names give; rows without columns have none."""
        asked = self._asked()
        if not isinstance(X, Table):
            if roles := asked.roles():
                raise TypeError(
                    f"AsGaussians({', '.join(roles)}) reads columns of a table, got {type(X).__name__}"
                )
            return Columns.for_array()
        if asked.found.settled:
            return find_columns(asked, X)
        return complete_columns(asked, X.names) or read_roles(asked, X)

    def _read(
        self,
        X: NativeTable,
        columns: Columns,
        categories: Categories,
        *,
        counting: bool = False,
        complete: bool = False,
    ) -> GaussianRows:
        """Read rows; `counting`: what is missing, for the record; `complete`: rows of which nothing is
        missing, or an error."""
        if isinstance(X, (GaussianArray, Incomplete)):
            return X
        if not isinstance(X, Table):
            if self.on_missing == "impute":
                return Incomplete.from_arrays(gaps_as_nan(X, "X"))
            return GaussianArray(X)
        if not columns.used:
            raise ColumnError("AsGaussians was fitted on an array and reads no table. Fit it on a table")
        options: Keywords = {
            "on_missing": self.on_missing, "categories": categories, "handle_unknown": self.handle_unknown,
            "impossible": REFUSE, "arms": self.arms,
        }  # fmt: skip
        flags = {feature: read_flags(X, column, feature) for feature, column in columns.flags.items()}
        if flags:
            options["flags"] = flags
        if self.on_missing == "auto":
            options |= {"on_missing": "error", "impossible": SHRINK}
            if not complete:
                X, options["on_missing"], options["sizes"] = self._cleaned(
                    X, columns, flags, counting=counting
                )
        try:
            rows: GaussianRows = (read_with_limits if flags else read_gaussians)(X, columns, **options)
        except (NullError, NotFiniteError) as error:
            if self.on_missing in ("auto", "impute") or not re.search(" is (null|NaN)", str(error)):
                raise
            raise type(error)(f'{error}; on_missing="auto" takes it for unknown') from None
        if self.on_missing == "auto" and isinstance(rows, Incomplete) and not columns.flags:
            return rows if rows.missing.any() else rows.gaussians
        return rows

    def _cleaned(
        self, table: Table, columns: Columns, flags: Mapping[str, Limits], *, counting: bool
    ) -> tuple[Table, str, Sizes | None]:
        """The table with nulls for unknown numbers, the policy for them, and sizes of missing error bars."""
        table, is_complete = self.unknown_.clean(table, columns)
        if is_complete:
            return table, "impute" if flags else "error", None
        bars = read_deviations(table, columns, flags)
        exact = (columns.exact if columns.errors else columns.scalars) or ()
        gaps = {column.name: n for column in table.series(exact) if (n := column.null_count())}
        sizes, sized = None, {}
        if bars is not None:
            sizes = bars.missing_sizes(self.unknown_.sizes)
            gaps = bars.counts(np.isnan(bars.values)) | gaps
            sized = bars.n_sized(sizes)
        if counting:
            self.unknown_ = self.unknown_.counting(gaps, sized)
        return table, "impute", sizes

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = False
        tags.requires_fit = True
        return tags


def _names_of_draws(columns: Columns) -> list[str]:
    """The names of the features in the columns of `draws`."""
    return [name for column in columns.draws or () for name in columns.distributions.get(column, (column,))]


def _opened(X: NativeTable) -> Any:
    """Tables opened once (a reader can be read only once, a lazy frame would be computed again)."""
    return X if isinstance(X, Table) or (table := as_table(X)) is None else table
