"""``MixtureArray``: rows that are mixtures of a few Gaussians.

Design: a `GaussianArray` of all components, of any kind, with offsets and weights beside it, as in the core
(`rust/uncertain/src/data/mixture_array.rs`). It is a subclass, as it stands wherever a `GaussianArray` may:
rows are sliced, joined and transformed by the same methods, and the core decides what an estimator makes of
several components. Moments of a row (`means`, `covariances`, `trace`), as in a `GaussianArray`, are of the
mixture: its mean and its covariance.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, Self, cast

import numpy as np
from numpy.typing import ArrayLike

from .._uncertain import Gaussians, Mixtures
from ..exceptions import ShapeError, UncertainError
from .array import GaussianArray, _rebuild
from .features import Names, listing
from .numbers import float_array
from .options import check_option, refuse_if
from .typing import Floats, Ints


class MixtureArray(GaussianArray):
    """Rows that are mixtures sum_c v_ic N(x_ic, S_ic); immutable.

    For what a Gaussian cannot say: a photometric redshift with two peaks, draws of a posterior, error bars of
    +0.3 and -0.1. The number of components may differ between rows. Pass it wherever a `GaussianArray` may:

    - losses, scores and probabilities are expectations over a row, so sums over its components: exact;
    - kernels between rows are double sums over components: exact;
    - `MinimaxProbabilityClassifier` and `ErrorColumns` see mean and covariance of the mixture;
    - what takes no mixtures says so: ``X.collapse("gaussian")`` makes one Gaussian of each row.

    :func:`~uncertain.uncertainty.from_draws` makes one from posterior draws.

    Parameters
    ----------
    weights : array-like of shape (m,), or (n, K)
        The weight v of every component, >= 0 and of each row with sum 1 (to 1e-5; they are divided by it).
    means : array-like of shape (m, d) or (n, K, d), or GaussianArray of m components
        The x_ic, row after row.
    std, var, cov, factor : optional
        Covariances of the components, as of a `GaussianArray` with m rows; or with the shape of
        `means` in front.
    offsets : array-like of n + 1 integers, optional
        Row i has the components ``offsets[i]`` to ``offsets[i + 1]`` (without the last), as in a list column
        of Arrow. Not needed with weights of shape (n, K).
    feature_names : list of d different str, optional
        As of a `GaussianArray`.

    Attributes
    ----------
    components, offsets, weights
        As described below; and those of a `GaussianArray`, where `means` are the means of the mixtures and
        `kind` is the kind of the components' covariances.

    Raises
    ------
    UncertainError
        A ``ValueError`` naming the row and the value: weights that are negative or do not sum to 1, a row
        without components, and what `GaussianArray` refuses.

    Examples
    --------
    >>> from uncertain import MixtureArray
    >>> X = MixtureArray([0.7, 0.3, 1.0], [[0.4], [2.1], [0.9]], std=[0.05, 0.2, 0.1], offsets=[0, 2, 3])
    >>> X
    MixtureArray(2 rows x 1 features, 3 components with isotropic covariances)
    >>> X.means.round(3)
    array([[0.91],
           [0.9 ]])
    >>> X.collapse("gaussian").covariances().ravel().round(3)
    array([0.621, 0.01 ])
    """

    __slots__ = ()

    def __init__(
        self,
        weights: ArrayLike,
        means: ArrayLike | GaussianArray,
        *,
        std: ArrayLike | None = None,
        var: ArrayLike | None = None,
        cov: ArrayLike | None = None,
        factor: ArrayLike | None = None,
        offsets: ArrayLike | None = None,
        feature_names: Iterable[str] | None = None,
    ) -> None:
        shares = float_array(weights, "weights")
        spread = {"std": std, "var": var, "cov": cov, "factor": factor}
        given = {name: value for name, value in spread.items() if value is not None}
        if shares.ndim == 2 and offsets is None:
            n, k = shares.shape
            offsets = np.arange(0, n * k + 1, max(k, 1))
            shares = shares.ravel()
            if not isinstance(means, GaussianArray):
                x = float_array(means, "means", narrow=True)
                wrong = x.ndim != 3 or x.shape[:2] != (n, k)
                expected = f"(n, K, d) = ({n}, {k}, d) beside weights of shape {(n, k)}"
                refuse_if(wrong, f"means: expected shape {expected}, got {x.shape}", ShapeError)
                means = x.reshape(n * k, -1)
                given = {name: _joined(value, (n, k)) for name, value in given.items()}
        refuse_if(
            offsets is None,
            "offsets: must say where the components of every row begin, and the end: [0, 2, 3] for a row of "
            "two components and a row of one; or give weights of shape (n, K)",
            ShapeError,
        )
        if isinstance(means, GaussianArray):
            for name in given:
                raise UncertainError(f"{name}: the components have covariances already")
            components = means
        else:
            components = GaussianArray(means, **given, feature_names=feature_names)
        mixed = isinstance(components, MixtureArray)
        refuse_if(mixed, "means: components must be Gaussians, not mixtures", UncertainError)
        at = np.asarray(offsets)
        wrong = at.ndim != 1 or at.dtype.kind not in "iu"
        refuse_if(wrong, f"offsets: expected n + 1 integers, got {at.dtype} of shape {at.shape}", ShapeError)
        one_each = f"weights: expected one per component, got shape {shares.shape}"
        refuse_if(shares.ndim != 1, one_each, ShapeError)
        core = Mixtures(components._core, np.ascontiguousarray(at, dtype=np.int64), shares)
        self._set(cast(Gaussians, core), components._names, components._unit)

    @classmethod
    def from_lists(
        cls,
        weights: Sequence[ArrayLike],
        means: Sequence[ArrayLike],
        *,
        std: Sequence[ArrayLike] | None = None,
        var: Sequence[ArrayLike] | None = None,
        cov: Sequence[ArrayLike] | None = None,
        feature_names: Iterable[str] | None = None,
    ) -> Self:
        """Make rows of one list each: weights (K,), means (K, d), covariances.

        Parameters
        ----------
        weights : list of n array-likes of shape (K_i,)
            As of the class.
        means : list of n array-likes of shape (K_i, d)
            For one feature also (K_i,).
        std, var, cov : list of n array-likes, optional
            One of them: (K_i,) or (K_i, d) for std and var, (K_i, d, d) for cov.
        feature_names : list of d different str, optional
            As of the class.

        Returns
        -------
        MixtureArray

        Examples
        --------
        >>> from uncertain import MixtureArray
        >>> MixtureArray.from_lists([[0.7, 0.3], [1.0]], [[0.4, 2.1], [0.9]], std=[[0.05, 0.2], [0.1]])
        MixtureArray(2 rows x 1 features, 3 components with isotropic covariances)
        """
        shares = [float_array(w, "weights") for w in weights]
        for row, w in enumerate(shares):
            if w.ndim != 1:
                raise ShapeError(f"weights: row {row} must be a list of numbers, got shape {w.shape}")
        rows = [float_array(m, "means") for m in means]
        rows = [m[:, None] if m.ndim == 1 else m for m in rows]
        _check_lists("means", rows, shares)
        given = {}
        for name, lists in (("std", std), ("var", var), ("cov", cov)):
            if lists is not None:
                values = [float_array(a, name) for a in lists]
                _check_lists(name, values, shares)
                given[name] = np.concatenate(values)
        offsets = np.concatenate([[0], np.cumsum([len(w) for w in shares], dtype=np.int64)]).astype(np.int64)
        refuse_if(not shares, "from_lists: expected at least one row, got none", ShapeError)
        return cls(
            np.concatenate(shares),
            np.concatenate(rows),
            **given,
            offsets=offsets,
            feature_names=feature_names,
        )

    # -- what it is

    @property
    def _mixtures(self) -> Mixtures:
        return cast(Mixtures, self._core)

    @property
    def components(self) -> GaussianArray:
        """All components, row after row: a `GaussianArray` that shares the memory."""
        return self._like(self._mixtures.components)

    @property
    def offsets(self) -> Ints:
        """First component of every row, and the end: n + 1 integers, a new array."""
        return self._mixtures.offsets

    @property
    def weights(self) -> Floats:
        """The weight of every component in its row, shape (m,), a new array."""
        return self._mixtures.weights

    def _with_means(self, means: Floats) -> GaussianArray:
        """Rows moved to other means."""
        moved = np.repeat(means - self.means, np.diff(self.offsets), axis=0)
        components = self.components._with_means(self.components.means + moved)
        return MixtureArray(self.weights, components, offsets=self.offsets)

    def __repr__(self) -> str:
        n, d = self.shape
        names = "" if self._names is None else f" ({listing(self._names)})"
        unit = "" if self._unit is None else f", in {self._unit}"
        m = self._mixtures.components.n_rows
        return (
            f"MixtureArray({n} rows x {d} features{names}, {m} components with {self.kind} covariances{unit})"
        )

    def _skewness(self) -> Floats:
        """That of every feature's mixture (n, d); 0 where it has no width."""
        return self._mixtures.skewness()

    def collapse(
        self, to: Literal["gaussian", "zero", "isotropic", "diagonal"] = "gaussian"
    ) -> GaussianArray:
        """One Gaussian per row, with the mean and the covariance of its mixture.

        .. code-block:: text

            x = sum_c v_c x_c,    S = sum_c v_c (S_c + (x_c - x)(x_c - x)')

        Parameters
        ----------
        to : {"gaussian", "zero", "isotropic", "diagonal"}
            "gaussian" keeps this covariance; the others make it simpler, as `GaussianArray.collapse`.

        Returns
        -------
        GaussianArray
            Rows of one component each stay what they are if all are such.
        """
        check_option("to", to, ("gaussian", "zero", "isotropic", "diagonal"))
        return self._like(self._core.collapse(to))

    # -- leaving

    def __reduce__(self) -> tuple[object, ...]:
        own = self._mixtures
        return (
            _rebuilt,
            (own.components.parts(stored=True), own.offsets, own.weights, self._names, self._unit),
        )

    def __eq__(self, other: object) -> bool:
        """Equal components, offsets and weights, and the same names and unit."""
        if not isinstance(other, MixtureArray):
            return NotImplemented
        same = np.array_equal(self.offsets, other.offsets) and np.array_equal(self.weights, other.weights)
        return bool(same and self.components == other.components)

    __hash__ = None


def _rebuilt(
    parts: dict[str, Floats], offsets: Ints, weights: Floats, names: Names | None, unit: str | None
) -> MixtureArray:
    return MixtureArray(weights, _rebuild(parts, names, unit), offsets=offsets)


def _joined(value: ArrayLike, shape: tuple[int, int]) -> Floats | ArrayLike:
    """(n, K, ...) as (n K, ...); anything else as it is."""
    a = np.asarray(value)
    return a.reshape(shape[0] * shape[1], *a.shape[2:]) if a.shape[:2] == shape else value


def _check_lists(name: str, lists: Sequence[Floats], weights: Sequence[Floats]) -> None:
    """One list per row, of as many elements as it has weights, and of one width."""
    expected = f"{name}: expected {len(weights)} lists, one per row, got {len(lists)}"
    refuse_if(len(lists) != len(weights), expected, ShapeError)
    for row, (values, w) in enumerate(zip(lists, weights, strict=True)):
        shape, first = values.shape, lists[0].shape[1:]
        if shape[:1] != (len(w),):
            raise ShapeError(f"{name}: row {row} has shape {shape} beside {len(w)} weights")
        if shape[1:] != first:
            raise ShapeError(f"{name}: row {row} has components of shape {shape[1:]}, row 0 of {first}")


GaussianArray._mixture_class = MixtureArray
