"""``GaussianArray``: rows that are Gaussians, the ``X`` of every estimator here.

Design: covariances travel *inside* X (an object with ``len``, ``shape`` and row indexing), not as a fit
parameter, so that scikit-learn's splitters, searches and pipelines cut means and covariances together
without metadata routing. The data live in the Rust core, usually in the caller's memory; this class
only checks shapes and chooses the covariance kind. Converting to a plain array is refused, because that
would silently drop the error bars.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, ClassVar, Literal, NoReturn

import numpy as np
from numpy.typing import ArrayLike, DTypeLike
from sklearn.utils import check_random_state

from .._uncertain import Gaussians, Mixtures
from ..exceptions import CovarianceWarning, ShapeError, UnitError
from .arrow_types import ArrowColumn, Metadata, register
from .features import (
    Names,
    checked_names,
    column_numbers,
    common_names,
    is_every,
    joined_names,
    listing,
    prefixed_names,
    rows_and_columns,
)
from .numbers import float_array, gaussians_from, linear_map, one_kind, row_numbers
from .options import check_option, refuse_if
from .typing import ArrowStream, Booleans, Floats, RandomState
from .units import bare, errors_in, find_unit
from .warn import warn


class GaussianArray:
    """Rows that are Gaussians N(x_i, S_i) in d dimensions; immutable.

    At most one kind of uncertainty may be given, except ``factor`` with ``var``; without any, rows are
    exact points.

    Quantities of astropy: error bars are converted to the unit of the means (var and cov to its square,
    precision to the inverse of that), or refused; ``unit`` keeps its name. Masked values are refused as NaN
    is.

    Parameters
    ----------
    means : array-like of shape (n, d)
        The x_i. C-contiguous float64 and float32 are used in place (do not write into them afterwards),
        anything else is converted to float64 once. So are error bars, whose type may be another. float32
        halves the memory and changes no result: all arithmetic is that of float64.
    std, var : scalar or array-like of shape (n,) or (n, d)
        Standard deviations or variances: one for everything, one per row (isotropic), or one per row
        and feature (diagonal).
    cov, precision : array-like of shape (n, d, d) or (d, d)
        Covariance matrices or their inverses, one per row or one shared by all rows. Symmetric and
        positive semi-definite; eigenvalues below zero by rounding alone are set to zero with a warning.
    factor : array-like of shape (n, d, r)
        S_i = F_i F_i', plus diag(var) if `var` is given too.
    feature_names : list of d different str, optional
        Names by which features are selected, ``X[:, ["u", "g"]]``; transforms and models keep and compare
        them.

    Attributes
    ----------
    means, kind, shape, n_features, feature_names, unit
        As described below.

    Raises
    ------
    UncertainError
        A ``ValueError`` naming the argument, the row (from 0) and the value: shapes that do not fit, NaN
        or infinity, masked values, negative variances, matrices that are not symmetric or not positive
        semi-definite, units that do not convert.

    Examples
    --------
    >>> from uncertain import GaussianArray
    >>> X = GaussianArray([[20.0, 19.5, 19.2]], std=[[0.3, 0.1, 0.1]], feature_names=["u", "g", "r"])
    >>> X[:, ["g", "r"]]
    GaussianArray(1 rows x 2 features (g, r), diagonal covariances)
    >>> colours = X @ [[1, 0], [-1, 1], [0, -1]]  # u - g and g - r
    >>> colours.covariances().round(4)
    array([[[ 0.1 , -0.01],
            [-0.01,  0.02]]])
    """

    __slots__ = ("_core", "_names", "_unit")
    _core: Gaussians
    _names: Names | None
    _unit: str | None
    _mixture_class: ClassVar[type[GaussianArray]]
    """The class of mixtures, a subclass that is defined behind this class."""

    # np.array + GaussianArray raises TypeError instead of working element by element on rows.
    __array_ufunc__ = None

    def __init__(
        self,
        means: ArrayLike,
        *,
        std: ArrayLike | None = None,
        var: ArrayLike | None = None,
        cov: ArrayLike | None = None,
        precision: ArrayLike | None = None,
        factor: ArrayLike | None = None,
        feature_names: Iterable[str] | None = None,
    ) -> None:
        unit = find_unit(means)
        x = float_array(bare(means), "means", narrow=True)
        hint = "; for one feature pass means.reshape(-1, 1)" if x.ndim == 1 else ""
        expected = f"means: expected an array of shape (n, d), got {x.shape}{hint}"
        refuse_if(x.ndim != 2, expected, ShapeError)
        empty = x.shape[1] == 0
        refuse_if(empty, f"means: expected at least one feature, got shape {x.shape}", ShapeError)
        arguments = {"std": std, "var": var, "cov": cov, "precision": precision, "factor": factor}
        names = one_kind({name for name, value in arguments.items() if value is not None})
        feature_names = checked_names(feature_names, x.shape[1])
        core = gaussians_from(x, {name: errors_in(unit, arguments[name], name) for name in names})
        self._set(core, feature_names, None if unit is None else str(unit))

    def _set(self, core: Gaussians, names: Names | None, unit: str | None) -> None:
        for attribute, value in (("_core", core), ("_names", names), ("_unit", unit)):
            object.__setattr__(self, attribute, value)
        for message in core.warnings:
            warn(message, CovarianceWarning)

    @classmethod
    def _from_core(
        cls, core: Gaussians, names: Iterable[str] | None = None, unit: str | None = None
    ) -> GaussianArray:
        """Wrap what the core made, Gaussians or mixtures; names and unit are taken as they are."""
        wrapper = GaussianArray._mixture_class if _is_mixed(core) else GaussianArray
        self = wrapper.__new__(wrapper)
        self._set(core, None if names is None else tuple(names), unit)
        return self

    def _like(self, core: Gaussians) -> GaussianArray:
        """Wrap what the core made of these features."""
        return self._from_core(core, self._names, self._unit)

    def _with_means(self, means: Floats) -> GaussianArray:
        """Rows of the same covariances with other means."""
        return self._like(GaussianArray(**self._core.parts() | {"means": means})._core)

    def _named(self, names: Iterable[str] | None) -> GaussianArray:
        """Rows with these names, where they have none."""
        if names is None or self._names is not None:
            return self
        return self._from_core(self._core, names, self._unit)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a GaussianArray cannot be changed: make a new one instead of setting {name!r}")

    # -- what it is

    @property
    def means(self) -> Floats:
        """The x_i, float64 of shape (n, d): a read-only view, or a copy."""
        return self._core.means

    @property
    def kind(self) -> str:
        """ "zero", "isotropic", "diagonal", "low-rank", "full" or "shared"."""
        return self._core.kind

    @property
    def n_features(self) -> int:
        """Dimension d."""
        return self._core.n_features

    @property
    def feature_names(self) -> Names | None:
        """Names of the features, None without any."""
        return self._names

    @property
    def unit(self) -> str | None:
        """The name of the unit of means and error bars, if they came as Quantities."""
        return self._unit

    @property
    def shape(self) -> tuple[int, int]:
        """(n, d), as of the means."""
        return (self._core.n_rows, self._core.n_features)

    @property
    def ndim(self) -> int:
        """2, as of the means."""
        return 2

    @property
    def dtype(self) -> np.dtype[np.float64] | np.dtype[np.float32]:
        """The type that the means are stored in: float64 or float32."""
        return np.dtype(self._core.dtype)

    def __len__(self) -> int:
        return self._core.n_rows

    def __repr__(self) -> str:
        n, d = self.shape
        names = "" if self._names is None else f" ({listing(self._names)})"
        unit = "" if self._unit is None else f", in {self._unit}"
        return f"GaussianArray({n} rows x {d} features{names}, {self.kind} covariances{unit})"

    # -- rows and features

    def __getitem__(self, index: object) -> GaussianArray:
        """Rows by slice (sharing the memory), numbers (negative from the end) or boolean mask; and features.

        ``X[rows]``, ``X[rows, ...]`` and ``X[rows, :]`` are rows with all features; ``X[rows, columns]``
        has some of them, in the order asked for: by numbers, names, slice or boolean mask, each at most once.
        It is the rows' marginal distribution, with the covariances ``S[columns][:, columns]``, of the same
        kind. The result is always a GaussianArray: ``X[3]`` has one row, ``X[:, "flux"]`` one feature, and
        lists of rows and of features are not paired as NumPy's are.
        """
        rows, columns = rows_and_columns(index)
        picked = self if is_every(rows) else self._rows(rows)
        return picked if is_every(columns) else picked._columns(columns)

    def _rows(self, rows: object) -> GaussianArray:
        n = len(self)
        if isinstance(rows, str):
            raise IndexError(f"X[{rows!r}] asks for rows of that name; a feature is X[:, {rows!r}]")
        if isinstance(rows, slice):
            start, stop, step = rows.indices(n)
            if step == 1:
                return self._like(self._core.slice(start, max(start, stop)))
            return self._like(self._core.take(np.arange(start, stop, step, dtype=np.int64)))
        return self._like(self._core.take(row_numbers(rows, n)))

    def _columns(self, columns: object) -> GaussianArray:
        numbers = column_numbers(columns, self.n_features, self._names)
        names = None if self._names is None else [self._names[j] for j in numbers]
        return self._from_core(self._core.columns(numbers), names, self._unit)

    def __iter__(self) -> Iterator[GaussianArray]:
        return (self[i : i + 1] for i in range(len(self)))

    @staticmethod
    def concat(arrays: Iterable[GaussianArray]) -> GaussianArray:
        """Concatenate rows, in the cheapest kind that holds all covariances.

        Names of features must be the same in all arrays that have names, and units in all.
        """
        pieces = _gaussian_arrays(arrays, "concat")
        units = [piece._unit for piece in pieces]
        if len(set(units)) > 1:
            other = next(at for at, unit in enumerate(units) if unit != units[0])
            raise UnitError(
                f"concat: array {other} is in {units[other] or 'no unit'}, but array 0 in "
                f"{units[0] or 'no unit'}; make them of Quantities in one unit"
            )
        core = _class_of(pieces).concat([piece._core for piece in pieces])
        return GaussianArray._from_core(core, common_names([piece._names for piece in pieces]), units[0])

    @staticmethod
    def hstack(arrays: Iterable[GaussianArray] | Mapping[str, GaussianArray]) -> GaussianArray:
        """Concatenate features of the same rows, with independent errors.

        The covariances are block-diagonal: zero and diagonal (and isotropic) ones make a diagonal, matrices
        shared by all rows a shared matrix, factors (beside diagonals, too) a factor, everything else a full
        matrix per row.

        Parameters
        ----------
        arrays : list, or dictionary {name: array}
            Of a list, features keep their names if all have names, which must differ. With a dictionary a
            single feature gets the array's key as its name, several "key_name", or "key0", "key1", ... The
            unit is kept if all have the same.

        Examples
        --------
        >>> from uncertain import GaussianArray
        >>> magnitudes = GaussianArray([[20.0, 19.5]], std=0.1, feature_names=["u", "g"])
        >>> GaussianArray.hstack({"mag": magnitudes, "redshift": GaussianArray([[1.2]])})
        GaussianArray(1 rows x 3 features (mag_u, mag_g, redshift), diagonal covariances)
        """
        keyed = isinstance(arrays, Mapping)
        pieces = _gaussian_arrays(arrays.values() if keyed else arrays, "hstack")  # type: ignore[union-attr]
        names = prefixed_names(arrays) if keyed else joined_names([piece._names for piece in pieces])  # type: ignore[arg-type]
        units = {piece._unit for piece in pieces}
        core = _class_of(pieces).hstack([piece._core for piece in pieces])
        return GaussianArray._from_core(core, names, units.pop() if len(units) == 1 else None)

    def __matmul__(self, matrix: ArrayLike) -> GaussianArray:
        """Linear combinations of the features: means ``x @ A`` and covariances ``A' S A``, exactly.

        Zero, shared and low-rank covariances stay what they are; so does a diagonal if no feature goes to two
        columns (a selection, a change of scale, sums of different features). Others become full. For names of
        the new features, and in pipelines, see :class:`~uncertain.LinearMap`.

        Parameters
        ----------
        matrix : array-like of shape (d, k)
            A.
        """
        if find_unit(matrix) is not None:
            raise UnitError(f"X @ A: A is in {find_unit(matrix)}, but it must be plain numbers")
        map_ = linear_map(float_array(bare(matrix), "A"), self.n_features, "X @ A", "A")
        return self._from_core(map_.transform(self._core), None, self._unit)

    # -- covariances

    def covariances(self) -> Floats:
        """Every S_i as a dense matrix, a new array of shape (n, d, d)."""
        return self._core.covariances()

    def trace(self) -> Floats:
        """tr S_i of every row, shape (n,): the total variance."""
        return self._core.trace()

    def _deviations(self) -> Floats:
        """Standard deviations of the features of every row, shape (n, d)."""
        parts = self._core.collapse("diagonal").parts()
        std = np.sqrt(parts["var"]) if "var" in parts else parts.get("std", np.zeros(1))
        return np.broadcast_to(std.reshape(-1, std.shape[1] if std.ndim == 2 else 1), self.shape).copy()

    def _skewness(self) -> Floats:
        """That of every feature (n, d)."""
        return np.zeros(self.shape)

    def collapse(self, to: Literal["gaussian", "zero", "isotropic", "diagonal"]) -> GaussianArray:
        """Return the means with simpler covariances.

        "zero" drops them (exact points), "isotropic" keeps the trace (S_i -> tr(S_i)/d I), "diagonal" keeps
        the variances of the features; "gaussian" is the array itself, and of a `MixtureArray` one Gaussian
        per row.
        """
        check_option("to", to, ("gaussian", "zero", "isotropic", "diagonal"))
        if to == "gaussian":
            return self
        return self._like(self._core.collapse(to))

    def sample(self, n: int = 1, random_state: RandomState = None) -> GaussianArray:
        """Draw `n` exact points of every row, adjacent: shape (len * n, d).

        Repeat labels to match with ``np.repeat(y, n)``.
        """
        wrong = not isinstance(n, (int, np.integer)) or n < 1
        refuse_if(wrong, f"sample(n={n!r}): must be an integer >= 1")
        high, low = check_random_state(random_state).randint(0, 2**32, size=2, dtype=np.uint64)
        return self._like(self._core.sample(int(n), (int(high) << 32) | int(low)))

    def astype(self, dtype: DTypeLike) -> GaussianArray:
        """Return the rows stored as float64 or as float32.

        float32 has 7 decimal digits: numbers are rounded to them, and covariance matrices checked again. From
        float32 to float64 no number changes. A matrix that all rows share stays as it is.

        Raises
        ------
        ParameterError
            Another type.
        UncertainError
            With the row: a number beyond float32 (3.4e38), or a variance that would become zero.
        """
        wanted = np.dtype(dtype)
        other = wanted not in (np.dtype(np.float32), np.dtype(np.float64))
        refuse_if(other, f"astype({wanted}): rows are stored as float64 or float32")
        return self._like(self._core.stored_as(wanted.name))

    # -- leaving

    def to_arrow(self, name: str | None = None) -> ArrowStream:
        """Return an Arrow table of fixed-size lists: ``mean`` and error columns.

        Error columns are, by kind, ``std``, ``var``, ``cov`` or ``factor``, in the types of the rows.

        A ``pyarrow.Table`` if pyarrow is installed, else an object with ``__arrow_c_stream__`` that Polars
        and others read (``polars.DataFrame(g.to_arrow())``).

        Parameters
        ----------
        name : str, optional
            One column of this name instead, of the Arrow extension type ``uncertain.gaussian`` (of mixtures
            ``uncertain.mixture``): a struct of these lists, whose metadata keep kind, names of features and
            unit. Tables with such a column are read by `uncertain.fit` as they are. It is registered with
            pyarrow.
        """
        rows: ArrowStream = self
        if name is not None:
            rows = ArrowColumn(self._core, Metadata(self.kind, self._names, self._unit), name)
        if importlib.util.find_spec("pyarrow") is None:
            return rows
        import pyarrow

        if name is not None:
            register()
        table: ArrowStream = pyarrow.table(rows)
        return table

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._core.__arrow_c_stream__(requested_schema)

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NoReturn:
        raise TypeError(
            "a GaussianArray is not converted to a plain array, which would lose its error bars. Use an "
            "estimator or transformer of uncertain, or for the means alone X.means"
        )

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuild, (self._core.parts(stored=True), self._names, self._unit))

    def __eq__(self, other: object) -> bool:
        """Equal means, equal covariances of the same kind, and the same names and unit.

        Of one feature a diagonal is a number per row, which is what a pickle brings back of it.
        """
        if not isinstance(other, GaussianArray) or _is_mixed(other._core):
            return NotImplemented
        if self is other:
            return True
        a, b = _comparable(self._core.parts()), _comparable(other._core.parts())
        labels = [(g._kind_of_values, g.shape, g._names, g._unit) for g in (self, other)]
        if labels[0] != labels[1] or a.keys() != b.keys():
            return False
        return all(np.array_equal(a[k].ravel(), b[k].ravel()) for k in a)

    __hash__ = None  # type: ignore[assignment]

    @property
    def _kind_of_values(self) -> str:
        return "isotropic" if self.kind == "diagonal" and self.n_features == 1 else self.kind


def _rebuild(
    parts: Mapping[str, Floats], names: Names | None = None, unit: str | None = None
) -> GaussianArray:
    return GaussianArray._from_core(GaussianArray(**parts)._core, names, unit)


def _is_mixed(core: object) -> bool:
    return isinstance(core, Mixtures)


def _class_of(pieces: Iterable[GaussianArray]) -> type[Gaussians]:
    """The core's class for rows of all pieces: Gaussians, or mixtures if any piece has them."""
    mixed = any(_is_mixed(piece._core) for piece in pieces)
    return Mixtures if mixed else Gaussians  # type: ignore[return-value]


def _gaussian_arrays(arrays: Iterable[object], what: str) -> list[GaussianArray]:
    pieces = []
    for piece in arrays:
        if not isinstance(piece, GaussianArray):
            raise TypeError(f"{what} takes GaussianArrays, got {type(piece).__name__}")
        pieces.append(piece)
    refuse_if(not pieces, f"{what}: expected at least one GaussianArray, got none", ShapeError)
    return pieces


def _comparable(parts: Mapping[str, Floats]) -> dict[str, Floats]:
    """Constructor arguments with variances instead of standard deviations."""
    return {"var" if k == "std" else k: v * v if k == "std" else v for k, v in parts.items()}


def value_sizes(rows: Any) -> tuple[Floats, Booleans]:
    """Standard deviations of every value (n, d), and which values there are; those of an array are exact."""
    gaussians, missing = getattr(rows, "gaussians", rows), getattr(rows, "missing", None)
    if not isinstance(gaussians, GaussianArray):
        return np.zeros(np.shape(rows)), ~np.isnan(np.asarray(rows, dtype=np.float64))
    std = gaussians._deviations()
    return std, np.ones(std.shape, dtype=bool) if missing is None else ~missing
