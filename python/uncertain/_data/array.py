"""``GaussianArray``: rows that are Gaussians, the ``X`` of every estimator here.

Design: covariances travel *inside* X (an object with ``len``, ``shape`` and row indexing), not as a fit
parameter, so that scikit-learn's splitters, searches and pipelines cut means and covariances together
without metadata routing. The data live in the Rust core, usually in the caller's own memory; this class
only checks shapes and chooses the covariance kind. Converting to a plain array is refused, because that
would silently drop the error bars.
"""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal, NoReturn

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from .._uncertain import Gaussians, Rows
from ..exceptions import CovarianceWarning, ParameterError, ShapeError
from .numbers import float_array, one_kind, row_numbers
from .options import check_option
from .typing import Floats, RandomState


class GaussianArray:
    """n Gaussians N(x_i, S_i) in d dimensions, immutable.

    Parameters
    ----------
    means : array-like of shape (n, d)
        The x_i. C-contiguous float64 is used in place (do not write into it afterwards), anything else
        is converted once.
    std, var : scalar or array-like of shape (n,) or (n, d)
        Standard deviations or variances: one for everything, one per row (isotropic), or one per row
        and feature (diagonal).
    cov, precision : array-like of shape (n, d, d) or (d, d)
        Covariance matrices or their inverses, one per row or one shared by all rows. Symmetric and
        positive semi-definite; eigenvalues below zero by rounding alone are set to zero with a warning.
    factor : array-like of shape (n, d, r)
        S_i = F_i F_i', plus diag(var) if `var` is given too.

    At most one kind of uncertainty may be given, except ``factor`` with ``var``; without any, rows are
    exact points.

    Raises
    ------
    UncertainError
        A ``ValueError`` naming the argument, the row (from 0) and the value: shapes that do not fit, NaN
        or infinity, negative variances, matrices that are not symmetric or not positive semi-definite.
    """

    __slots__ = ("_core",)
    _core: Gaussians

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
    ) -> None:
        x = float_array(means, "means")
        if x.ndim != 2:
            hint = "; for one feature pass means.reshape(-1, 1)" if x.ndim == 1 else ""
            raise ShapeError(f"means: expected an array of shape (n, d), got {x.shape}{hint}")
        if x.shape[1] == 0:
            raise ShapeError(f"means: expected at least one feature, got shape {x.shape}")
        given = {"std": std, "var": var, "cov": cov, "precision": precision, "factor": factor}
        names = one_kind({name for name, value in given.items() if value is not None})
        n, d = x.shape
        values: dict[str, Any] = {}
        shared = False
        for name in names:
            a = float_array(given[name], name)
            if name in ("std", "var"):
                values[name] = _per_row(a, name, n, d, full="factor" in names)
            elif name == "factor":
                if a.ndim != 3 or a.shape[:2] != (n, d) or a.shape[2] == 0:
                    raise ShapeError(
                        f"factor: expected shape (n, d, r) = ({n}, {d}, r) with r > 0, got {a.shape}"
                    )
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
        self._set(Gaussians(Rows.from_numpy(x, n, d), shared=shared, **values))

    def _set(self, core: Gaussians) -> None:
        object.__setattr__(self, "_core", core)
        for message in core.warnings:
            warnings.warn(message, CovarianceWarning, stacklevel=3)

    @classmethod
    def _from_core(cls, core: Gaussians) -> GaussianArray:
        """Wrap what the core made."""
        self = cls.__new__(cls)
        self._set(core)
        return self

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a GaussianArray cannot be changed: make a new one instead of setting {name!r}")

    # -- what it is

    @property
    def means(self) -> Floats:
        """The x_i, shape (n, d): a read-only view where they lie in one piece of memory, else a copy."""
        return self._core.means

    @property
    def kind(self) -> str:
        """Kind of the covariances: "zero", "isotropic", "diagonal", "low-rank", "full" or "shared"."""
        return self._core.kind

    @property
    def n_features(self) -> int:
        """Dimension d."""
        return self._core.n_features

    @property
    def shape(self) -> tuple[int, int]:
        """(n, d), as of the means."""
        return (self._core.n_rows, self._core.n_features)

    @property
    def ndim(self) -> int:
        """2, as of the means."""
        return 2

    @property
    def dtype(self) -> np.dtype[np.float64]:
        """float64, as of the means."""
        return np.dtype(np.float64)

    def __len__(self) -> int:
        return self._core.n_rows

    def __repr__(self) -> str:
        n, d = self.shape
        return f"GaussianArray({n} rows x {d} features, {self.kind} covariances)"

    # -- rows

    def __getitem__(self, rows: Any) -> GaussianArray:
        """Rows by slice (sharing the memory), numbers (negative from the end) or boolean mask.

        ``g[rows, ...]`` and ``g[rows, :]`` mean the same. The result is always a GaussianArray: ``g[3]`` has
        one row.
        """
        if isinstance(rows, tuple):
            rest = [k for k in rows[1:] if not (k is Ellipsis or (isinstance(k, slice) and k == slice(None)))]
            if rest or not rows:
                raise IndexError(
                    "a GaussianArray is indexed by rows only; a feature's covariances belong to all others"
                )
            rows = rows[0]
        n = len(self)
        if rows is Ellipsis:
            return self
        if isinstance(rows, slice):
            start, stop, step = rows.indices(n)
            if step == 1:
                return self._from_core(self._core.slice(start, max(start, stop)))
            return self._from_core(self._core.take(np.arange(start, stop, step, dtype=np.int64)))
        return self._from_core(self._core.take(row_numbers(rows, n)))

    def __iter__(self) -> Iterator[GaussianArray]:
        return (self[i : i + 1] for i in range(len(self)))

    @staticmethod
    def concat(arrays: Iterable[GaussianArray]) -> GaussianArray:
        """The rows of all `arrays` below each other; covariances of the cheapest kind that holds all."""
        pieces = list(arrays)
        for piece in pieces:
            if not isinstance(piece, GaussianArray):
                raise TypeError(f"concat takes GaussianArrays, got {type(piece).__name__}")
        if not pieces:
            raise ShapeError("concat: expected at least one GaussianArray, got none")
        return GaussianArray._from_core(Gaussians.concat([piece._core for piece in pieces]))

    # -- covariances

    def covariances(self) -> Floats:
        """Every S_i as a dense matrix, a new array of shape (n, d, d)."""
        return self._core.covariances()

    def trace(self) -> Floats:
        """tr S_i of every row, shape (n,): the total variance."""
        return self._core.trace()

    def collapse(self, to: Literal["zero", "isotropic", "diagonal"]) -> GaussianArray:
        """The same means with simpler covariances.

        "zero" drops them (exact points), "isotropic" keeps the trace (S_i -> tr(S_i)/d I), "diagonal" keeps
        the variances of the features.
        """
        check_option("to", to, ("zero", "isotropic", "diagonal"))
        return self._from_core(self._core.collapse(to))

    def sample(self, n: int = 1, random_state: RandomState = None) -> GaussianArray:
        """`n` draws from every Gaussian as exact points, shape (len * n, d); the draws of a row are adjacent.

        Repeat labels to match with ``np.repeat(y, n)``.
        """
        if not isinstance(n, (int, np.integer)) or n < 1:
            raise ParameterError(f"sample(n={n!r}): must be an integer >= 1")
        high, low = check_random_state(random_state).randint(0, 2**32, size=2, dtype=np.uint64)
        return self._from_core(self._core.sample(int(n), (int(high) << 32) | int(low)))

    # -- leaving

    def to_arrow(self) -> Any:
        """A table of fixed-size lists: ``mean`` and, by kind, ``std``, ``var``, ``cov`` or ``factor``.

        A ``pyarrow.Table`` if pyarrow is installed, else an object with ``__arrow_c_stream__`` that Polars
        and others read (``polars.DataFrame(g.to_arrow())``).
        """
        if importlib.util.find_spec("pyarrow") is None:
            return self._core
        import pyarrow

        return pyarrow.table(self._core)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._core.__arrow_c_stream__(requested_schema)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NoReturn:
        raise TypeError(
            "a GaussianArray is not converted to a plain array, which would silently drop its error bars: "
            "use .means for the means alone, or a transformer or estimator of `uncertain`"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return (_rebuild, (self._core.parts(),))

    def __eq__(self, other: object) -> bool:
        """Equal means and equal covariances of the same kind."""
        if not isinstance(other, GaussianArray):
            return NotImplemented
        if self is other:
            return True
        a, b = _comparable(self._core.parts()), _comparable(other._core.parts())
        return self.kind == other.kind and a.keys() == b.keys() and all(np.array_equal(a[k], b[k]) for k in a)

    __hash__ = None  # type: ignore[assignment]


def _rebuild(parts: Mapping[str, Floats]) -> GaussianArray:
    return GaussianArray(**parts)


def _comparable(parts: Mapping[str, Floats]) -> dict[str, Floats]:
    """Constructor arguments with variances instead of standard deviations."""
    return {"var" if k == "std" else k: v * v if k == "std" else v for k, v in parts.items()}


def _per_row(a: Floats, what: str, n: int, d: int, *, full: bool) -> Rows:
    """std or var as rows of 1 (isotropic) or d values; always d if `full`."""
    if a.shape == (n, d):
        return Rows.from_numpy(a, n, d)
    if a.ndim == 0 or a.shape == (n,):
        column = np.broadcast_to(a.reshape(-1, 1), (n, d if full else 1))
        return Rows.from_numpy(np.require(column, np.float64, ["C", "A"]), n, column.shape[1])
    hint = f"; for one value per feature pass np.broadcast_to({what}, (n, d))" if a.shape == (d,) else ""
    raise ShapeError(
        f"{what}: expected a scalar, shape (n,) = ({n},) or (n, d) = ({n}, {d}), got {a.shape}{hint}"
    )
