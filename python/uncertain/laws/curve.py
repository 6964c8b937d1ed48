"""`CurveRegressor`: any curve between true values, errors in x and y."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from inspect import signature
from typing import Any, Literal, NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils import check_array, check_consistent_length
from sklearn.utils.validation import check_is_fitted

from .._base.core import RunParameters, encoded
from .._base.docs import documented
from .._base.em import unpacked
from .._base.run import reporter
from .._data.groups import groups_from
from .._data.numbers import refuse_where
from .._data.typing import Floats, Keywords, RandomState
from .._data.validation import (
    RowsLike,
    check_gaussians,
    check_numbers,
    check_sample_weight,
    refuse_not_finite,
    seed_from,
)
from .._data.warn import warn
from .._uncertain import Gaussians, curve_moments, fit_curve
from ..exceptions import ConvergenceWarning, ParameterError, UncertainError
from .law import Estimates, Law, extra_arrays
from .modes import checked_modes

__all__ = ["CurveRegressor"]

Curve: TypeAlias = Callable[[Floats, Floats], Any]
"""curve(x, params) with x (n, d): y of shape (n,) or (n, m)."""

CORE_PARAMETERS = (
    "truth",
    "scatter",
    "outliers",
    "degrees_of_freedom",
    "error_scale",
    "n_components",
    "reg_covar",
    "max_iter",
)


@documented
@dataclass(eq=False, repr=False)
class CurveRegressor(RunParameters, Law, RegressorMixin, BaseEstimator):
    """A curve y = f(z; theta) + scatter between true values.

    Row i is a reading x_i = z_i + error, y_i = f(z_i; theta) + N(0, sigma^2) + error, with known errors.

    ``truth="structural"`` learns the density of z from the readings of x and maximises the likelihood of y
    given x, integrated over up to three noisy features in a row. ``truth="functional"`` is orthogonal
    distance regression (``scipy.odr``): every z_i is a parameter; no scatter, and a bias of some f'' S / 2
    where the curve bends within the errors of x. Theory: docs/methods/laws.md.

    Parameters
    ----------
    curve : callable
        ``curve(x, params)`` of points (n, d): (n,), or (n, m) for m outputs; for pickles, of a module.
    p0 : array-like of shape (p,), or dict of names and numbers
        Start of the parameters; a dictionary names them, and the curve gets an array in its order.
    jac : callable, default=None
        ``jac(x, params)``: derivatives by the parameters, (n, p) or (n, m, p), or a pair of those and the
        derivatives by x, (n, d) or (n, m, d). None: central differences.
    bounds, fixed : pair (lower, upper) or dict of name and pair, and list of names or places, default=None
        Limits of the parameters, each a number or p of them, and parameters that stay at ``p0``.
    truth, scatter : {"structural", "functional"}, default="structural", and bool, default=True
        True x as draws from a density, or as parameters; whether to fit sigma (structural only).
    {law_outliers, law_error_scale}
    n_components, reg_covar, random_state, n_jobs, verbose, callback : optional
        Those of the density of z, as in `GaussianDenoiser`.
    max_iter : int, default=200
        Most steps.

    Attributes
    ----------
    params_, std_, param_names_ : ndarrays of shape (p,), list of str
        theta, standard errors (``coef_std_``), and names.
    covariance_ : ndarray of shape (p, p)
        Covariance of ``params_``, the uncertainty of the density of z included; with ``groups``, or weights
        that count no rows, the sandwich (structural). 0 where fixed, NaN where a bound holds.
    scatter_, scatter_std_ : float, or ndarray of shape (m,)
        sigma (``intrinsic_scatter_``), without errors sigma^2 = RSS / (n - p), and its standard error; 0 and
        NaN if error bars explain all of the scatter.
    loglikelihood_, residual_variance_ : float
        The sum of log p(y | x); functional: minus half the sum of squares, and this sum over n - p.
    {law_extras_, error_scale_, modes_}
    naive_params_, naive_std_ : ndarrays of shape (p,)
        Weighted least squares that takes x as exact.
    weights_, means_, covariances_ : ndarrays of shape (K,), (K, d), (K, d, d)
        The density of z, where x has errors.
    integration_error_, n_iter_, status_ : float, int, str
        Of a row's log-likelihood; steps; "converged", "max_iter" or "no_progress".
    {feature_names_in_}

    Raises
    ------
    UncertainError
        A curve that raises, or returns NaN; parameters that the data do not determine.

    Warns
    -----
    ConvergenceWarning
        If the steps ended early, the curve is flat along a parameter, or its derivatives are rounding.

    Examples
    --------
    >>> import numpy as np
    >>> from uncertain.laws import CurveRegressor
    >>> x = np.linspace(0.0, 2.0, 50)
    >>> y = np.exp(0.7 * x) + np.random.default_rng(0).normal(scale=0.1, size=50)
    >>> law = CurveRegressor(lambda x, p: p[0] * np.exp(p[1] * x[:, 0]), {"a": 1.0, "b": 0.5})
    >>> law.fit(x[:, None], y).params_.round(1)
    array([1. , 0.7])
    """

    curve: Curve
    p0: Mapping[str, float] | ArrayLike
    _: KW_ONLY
    jac: Curve | None = None
    bounds: Any = None
    fixed: Sequence[int | str] | None = None
    truth: Literal["structural", "functional"] = "structural"
    scatter: bool = True
    outliers: Literal["student", "mixture"] | None = None
    degrees_of_freedom: float | None = None
    error_scale: Literal["fit", "features", "both"] | None = None
    n_components: int | Literal["auto"] = 1
    reg_covar: float = 1e-6
    max_iter: int = 200
    random_state: RandomState = None

    def fit(
        self,
        X: RowsLike,
        y: ArrayLike,
        y_std: ArrayLike | None = None,
        xy_cov: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        y_cov: ArrayLike | None = None,
        modes: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Fit to readings of features and targets with their errors.

        {Parameters: X}
        y : array-like of shape (n,) or (n, m)
            Targets.
        y_std : float or array-like of shape (n,) or (n, m), default=None
            Standard deviations of the targets' errors, >= 0; None: they are part of the scatter, or of a
            functional fit equal and unknown (then x must be exact).
        xy_cov : array-like of shape (n, d) or (n, d, m), default=None
            Covariances of each feature's error with the target's.
        {law_weights}
        y_cov : array-like of shape (m, m) or (n, m, m), default=None
            Covariance matrices of the targets' errors, in place of ``y_std``.
        modes : array-like of shape (n, k), default=None
            Errors of the target that rows share (structural fits of one output): row i has the error
            ``modes[i] @ a`` with k standard normal numbers a, the same for all rows; see ``modes_``.
        {law_groups}

        {Returns: self}
        """
        start = _start(self.p0, self.bounds, self.fixed)
        for name in ("curve", "jac"):
            if not callable(getattr(self, name)) and not (name == "jac" and self.jac is None):
                raise ParameterError(f"{name} = {getattr(self, name)!r}: must be a function of x and params")
        rows = check_gaussians(self, X, reset=True)
        targets = self._targets(X, y)
        n, m = targets.shape
        if modes is not None and np.ndim(modes) == 3:
            raise UncertainError(
                "modes: a curve takes modes of the target, of shape (n, k), not of features. For these use "
                "LinearLaw (of logarithms for a power law) or GeneralizedLinearLaw"
            )
        known: Keywords = {
            "covariances": _target_covariances(y_std, y_cov, (n, m)),
            "crossed": _crossed_covariances(xy_cov, (n, rows.n_features, m)),
            "weights": check_sample_weight(sample_weight, n),
            "groups": None if groups is None else groups_from(groups, "groups", n),
            "modes": None if modes is None else checked_modes(modes, n),
        }
        self._naive: tuple[Floats, Floats] | None = None
        self._problem = start, rows, targets, known
        self._set_fit(start, self._answer(start, self._parameters(), rows, targets, known))
        if self.status_ != "converged":
            warn(
                f"CurveRegressor did not converge ({self.status_} after {self.n_iter_} steps). Start nearer "
                "(p0=), set bounds= or fixed=, pass derivatives (jac=), or raise max_iter",
                ConvergenceWarning,
            )
        return self

    def predict(self, X: RowsLike, return_std: bool = False) -> Any:
        """Return the mean of each row's true target given its reading.

        Structural: the mean of f(z) over what the reading and its errors leave for z. Functional: f(x).

        {Parameters: X}
        return_std : bool, default=False
            Also return the standard deviation of the true target, from the scatter and the errors of x, with
            the parameters taken as known; that of a functional fit to first order.

        Returns
        -------
        mean : ndarray of shape (n,) or (n, m), or with `return_std` (mean, std)
        """
        mean, std = self.predict_distribution(X)
        return (mean, std) if return_std else mean

    def predict_distribution(self, X: RowsLike) -> tuple[Floats, Floats]:
        """Return mean and standard deviation of each row's true target."""
        check_is_fitted(self, "params_")
        rows = check_gaussians(self, X, reset=False)
        m = self._n_outputs
        density = None if self._triangles is None else (self.weights_.tolist(), self.means_, self._triangles)
        calls = _curve_calls(self.curve, m), _jac_calls(self.jac, m)
        factors = self.__dict__.get("feature_error_scale_", np.zeros(0)).tolist()
        mean, spread = curve_moments(*calls, self.params_.tolist(), m, rows, density, factors)
        std: Floats = np.hypot(spread, self.scatter_)
        return (mean[:, 0], std[:, 0]) if m == 1 else (mean, std)

    @property
    def coef_std_(self) -> Floats:
        """Standard errors of the parameters, ``std_``."""
        return self.std_

    @property
    def intrinsic_scatter_(self) -> float | Floats:
        """Scatter, ``scatter_``."""
        return self.scatter_

    @property
    def naive_params_(self) -> Floats:
        """Parameters by least squares with exact x; NaN if that fails."""
        return self._fit_naively()[0]

    @property
    def naive_std_(self) -> Floats:
        """Standard errors of ``naive_params_``."""
        return self._fit_naively()[1]

    def _targets(self, X: RowsLike, y: ArrayLike) -> Floats:
        """(n, m) finite numbers."""
        if y is not None and not (isinstance(y, np.ndarray) and y.ndim == 1):
            refuse_not_finite(y)
            targets: Floats = check_array(
                y, dtype=np.float64, input_name="y", estimator=self, order="C", ensure_2d=False
            )
            if targets.ndim == 2 and targets.shape[1] > 1:
                check_consistent_length(X, targets)
                return targets
        return check_numbers(y, X, self)[:, None]

    def _parameters(self, **changed: object) -> Keywords:
        parameters = {name: getattr(self, name) for name in CORE_PARAMETERS}
        return parameters | {"seed": seed_from(self.random_state)} | changed

    def _answer(
        self, start: Start, parameters: Keywords, rows: Gaussians, targets: Floats, known: Keywords
    ) -> Keywords:
        """Fit by the core."""
        m = targets.shape[1]
        answer: Keywords = fit_curve(
            encoded(parameters),
            _curve_calls(self.curve, m),
            _jac_calls(self.jac, m),
            start.values,
            start.lower,
            start.upper,
            start.fixed,
            start.names,
            rows,
            targets,
            **known,
            n_jobs=self.n_jobs,
            report=reporter(self),
        )
        return answer

    def _set_fit(self, start: Start, fit: Keywords) -> None:
        for name in ("weights_", "means_", "covariances_", "residual_variance_"):
            self.__dict__.pop(name, None)  # of an earlier fit
        self._set_extras(extra_arrays(fit, self.outliers))
        self._n_outputs = len(fit["scatter"])
        self.param_names_ = start.names
        self.params_, self.covariance_ = fit["params"], fit["covariance"]
        self.std_: Floats = np.sqrt(np.diag(self.covariance_))
        scatter, scatter_std = fit["scatter"], fit["scatter_std"]
        self.scatter_ = float(scatter[0]) if self._n_outputs == 1 else scatter
        self.scatter_std_ = float(scatter_std[0]) if self._n_outputs == 1 else scatter_std
        self.loglikelihood_ = fit["loglikelihood"]
        self.integration_error_ = fit["integration_error"]
        self.n_iter_, self.status_ = fit["n_iter"], fit["status"]
        self._degrees: float | None = fit["degrees"]
        if fit["residual_variance"] is not None:
            self.residual_variance_ = fit["residual_variance"]
        self._triangles: Floats | None = fit.get("covariances")
        if self._triangles is not None:
            self.weights_, self.means_ = fit["weights"], fit["means"]
            self.covariances_ = unpacked(self._triangles, self.means_.shape[1])

    def _estimates(self) -> Estimates:
        pairs = zip(np.ravel(self.scatter_).tolist(), np.ravel(self.scatter_std_).tolist(), strict=True)
        fitted = self.truth == "structural" and self.scatter
        scatter = [("scatter", *pair) for pair in pairs] if fitted else []
        return Estimates(
            self.param_names_,
            self.params_,
            self.std_,
            self.covariance_,
            degrees=self._degrees,
            extras=[*scatter, *self._extras()],
        )

    def _headline(self) -> str:
        fit = f"{self.truth}, log-likelihood {self.loglikelihood_:.6g}, {self.status_}"
        return f"{fit}; naive: least squares, x as exact"

    def _fit_naively(self) -> tuple[Floats, Floats]:
        """Least squares with exact x, weighted by the errors of y if all have some."""
        check_is_fitted(self, "params_")
        if self._naive is not None:
            return self._naive
        assert self._problem is not None  # pickles hold the answer
        start, rows, targets, known = self._problem
        covariances = known["covariances"]
        if covariances is not None and not np.all(np.linalg.eigvalsh(covariances)[:, 0] > 0.0):
            covariances = None
        least_squares = {"outliers": None, "degrees_of_freedom": None, "error_scale": None}
        try:
            parameters = self._parameters(truth="functional", **least_squares)
            only_y = known | {"covariances": covariances, "crossed": None, "modes": None}
            fit = self._answer(start, parameters, rows.collapse("zero"), targets, only_y)
        except ValueError:
            # The fit itself went well; this one is for comparison.
            self._naive = np.full(len(start.values), np.nan), np.full(len(start.values), np.nan)
        else:
            self._naive = fit["params"], np.sqrt(np.diag(fit["covariance"]))
        return self._naive

    def _profile(self, level: float) -> Floats:
        start, *rest = self._problem
        parameters = self._parameters(profile=self._estimates().quantile(level))
        best = start._replace(values=self.params_.tolist())
        ends: Floats = self._answer(best, parameters, *rest)["profile"]
        return ends

    def _deviance(self, j: int, c: float) -> float:
        """Twice the fall of the log-likelihood with parameter j fixed at c."""
        start, *rest = self._problem
        values, fixed = self.params_.tolist(), [is_fixed or k == j for k, is_fixed in enumerate(start.fixed)]
        values[j] = c
        try:
            fit = self._answer(start._replace(values=values, fixed=fixed), self._parameters(), *rest)
        except UncertainError:
            return np.inf
        fall: float = 2 * (self.loglikelihood_ - fit["loglikelihood"])
        if self._degrees is not None:
            fall = fit["residual_variance"] * (self._degrees + 1) / self.residual_variance_ - self._degrees
        return max(fall, 0.0)

    def __getstate__(self) -> Keywords:
        if self._problem is not None:
            self._fit_naively()
        return super().__getstate__()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # The curve is the user's: it may be of no use for other data.
        tags.regressor_tags.poor_score = True
        return tags


class Start(NamedTuple):
    """Parameters in their order, with names."""

    names: list[str]
    values: list[float]
    lower: list[float]
    upper: list[float]
    fixed: list[bool]


def _start(p0: Mapping[str, float] | ArrayLike, bounds: Any, fixed: Sequence[int | str] | None) -> Start:
    """Start, bounds and fixed parameters, by place or by name."""
    named = isinstance(p0, Mapping)
    values = _numbers(list(p0.values()) if isinstance(p0, Mapping) else p0, "p0")
    if values.ndim != 1 or not len(values):
        raise ParameterError(f"p0 = {p0!r}: must be a list of numbers, or a dictionary of names and numbers")
    names = [str(name) for name in p0] if isinstance(p0, Mapping) else []
    names = names or [f"params[{j}]" for j in range(len(values))]
    lower, upper = np.full(len(values), -np.inf), np.full(len(values), np.inf)
    if isinstance(bounds, Mapping):
        for name, pair in bounds.items():
            both = _numbers(pair, f"bounds[{name!r}]")
            if both.shape != (2,):
                raise ParameterError(f"bounds[{name!r}] = {pair!r}: must be a pair (lower, upper)")
            j = _place(name, names, "bounds")
            lower[j], upper[j] = both
    elif bounds is not None:
        try:
            lower, upper = (np.broadcast_to(_numbers(end, "bounds"), len(values)).copy() for end in bounds)
        except (TypeError, ValueError) as error:
            if isinstance(error, UncertainError):
                raise
            raise ParameterError(
                f"bounds = {bounds!r}: must be a pair (lower, upper), each a number or {len(values)} of them"
                + (", or a dictionary {name: (lower, upper)}" if named else "")
            ) from None
    is_fixed = [False] * len(values)
    for name in fixed if fixed is not None else ():
        is_fixed[_place(name, names, "fixed")] = True
    return Start(names, values.tolist(), lower.tolist(), upper.tolist(), is_fixed)


def _numbers(values: object, name: str) -> Floats:
    try:
        numbers: Floats = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError(f"{name} = {values!r}: must be numbers") from None
    return numbers


def _place(name: int | str, names: list[str], parameter: str) -> int:
    if isinstance(name, str) and name in names:
        return names.index(name)
    if isinstance(name, int | np.integer) and 0 <= name < len(names):
        return int(name)
    raise ParameterError(f"{parameter}: {name!r} is no parameter; there are {', '.join(names)}")


def _target_covariances(
    y_std: ArrayLike | None, y_cov: ArrayLike | None, shape: tuple[int, int]
) -> Floats | None:
    """(n, m, m) covariances of the targets' errors."""
    n, m = shape
    if y_std is not None and y_cov is not None:
        raise UncertainError("y_std= and y_cov= both give the errors of y: pass one of them")
    if y_std is not None:
        std = np.asarray(y_std, dtype=np.float64)
        if std.shape not in {(), (n,), (n, m), (m,) if m > 1 else ()}:
            expected = f"one number, {(n,)}" + (f", {(m,)} or {(n, m)}" if m > 1 else "")
            raise UncertainError(f"y_std: expected {expected}, got shape {std.shape}")
        std = np.broadcast_to(std[:, None] if std.shape == (n,) else std, (n, m))
        bad = ~((std >= 0) & (std < np.inf))
        refuse_where(bad, std, "y_std", "standard deviations must be >= 0", axes=("row", "output"))
        diagonal: Floats = std[:, :, None] ** 2 * np.eye(m)
        return diagonal
    if y_cov is None:
        return None
    cov = np.asarray(y_cov, dtype=np.float64)
    if cov.shape == (n, n) and n != m:
        raise UncertainError(
            f"y_cov: {(n, n)} is a covariance of all rows, but a curve takes one of each row's outputs, "
            f"{(n, m, m)}. Use LinearLaw, or pass y_std= and modes= from shared_modes(y_cov)"
        )
    if cov.shape not in {(m, m), (n, m, m)}:
        raise UncertainError(f"y_cov: expected the shape {(n, m, m)} or {(m, m)}, got {cov.shape}")
    full: Floats = np.ascontiguousarray(np.broadcast_to(cov, (n, m, m)))
    axes = ("row", "output", "output")
    refuse_where(~np.isfinite(full), full, "y_cov", "it must be finite", axes=axes)
    scale = np.abs(full).max(axis=(1, 2), initial=0.0)
    asymmetric = np.abs(full - full.transpose(0, 2, 1)).max(axis=(1, 2)) > 1e-9 * scale
    refuse_where(asymmetric, full, "y_cov", "the matrix must be symmetric")
    smallest = np.linalg.eigvalsh(full)[:, 0]
    rule = "is the smallest eigenvalue of the matrix, which must be >= 0"
    refuse_where(smallest < -1e-9 * scale, smallest, "y_cov", rule)
    return full


def _crossed_covariances(xy_cov: ArrayLike | None, shape: tuple[int, int, int]) -> Floats | None:
    """(n, d, m) covariances of the errors of features and targets."""
    if xy_cov is None:
        return None
    n, d, m = shape
    cov = np.asarray(xy_cov, dtype=np.float64)
    allowed = {(n, d, m)} | ({(n, d)} if m == 1 else set()) | ({(n,)} if d == m == 1 else set())
    if cov.shape not in allowed:
        expected = (n, d, m) if m > 1 else (n, d)
        raise UncertainError(f"xy_cov: expected the shape {expected}, got {cov.shape}")
    full: Floats = np.ascontiguousarray(cov.reshape(n, d, m))
    refuse_where(~np.isfinite(full), full, "xy_cov", "it must be finite", axes=("row", "feature", "output"))
    return full


def _curve_calls(curve: Curve, n_outputs: int) -> Curve:
    """`curve` as the core calls it: many points at once, checked flat answers."""

    def call(x: Floats, params: Floats) -> Floats:
        values = _call(curve, "curve", x, params)
        # The usual answer, first: a fit to few rows is little else than calls.
        plain = isinstance(values, np.ndarray) and values.dtype == np.float64
        if plain and n_outputs == 1 and values.shape == (len(x),):  # type: ignore[attr-defined]
            return np.ascontiguousarray(values)
        if hasattr(values, "__array__") and np.asarray(values).dtype in (np.float16, np.float32):
            raise UncertainError(
                f"curve: returned {np.asarray(values).dtype}, too coarse for differences. Compute in "
                'float64 (in JAX: jax.config.update("jax_enable_x64", True))'
            )
        return _flat(values, "curve", x, params, n_outputs)

    return call


def _jac_calls(jac: Curve | None, n_outputs: int) -> Curve | None:
    """`jac` likewise: a pair of derivatives by the parameters and by x, of which the second may be None."""
    if jac is None:
        return None

    def call(x: Floats, params: Floats) -> tuple[Floats, Floats | None]:
        answer = _call(jac, "jac", x, params)
        by_params, by_x = answer if isinstance(answer, tuple) and len(answer) == 2 else (answer, None)
        name = "jac: derivatives by the parameters"
        first = _flat(by_params, name, x, params, n_outputs, len(params))
        if by_x is None:
            return first, None
        return first, _flat(by_x, "jac: derivatives by x", x, params, n_outputs, x.shape[1])

    return call


def _call(function: Curve, name: str, x: Floats, params: Floats) -> object:
    # The points are made for this call; a function that writes into them changes nothing but errors' words.
    try:
        return function(x, params.copy())
    except Exception as error:
        if not _takes_two(function):
            raise UncertainError(
                f"{name}(x, params) must take x of shape (n, {x.shape[1]}) and params of shape "
                f"({len(params)},): {error}. For f(x, a, b) pass {name}=lambda x, params: f(x[:, 0], *params)"
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


def _flat(values: object, name: str, x: Floats, params: Floats, n_outputs: int, *width: int) -> Floats:
    """Finite or not, float64 numbers (n, outputs, *width), flat; of one output (n, *width), too."""
    shapes: list[tuple[int, ...]] = [(len(x), n_outputs, *width)]
    if n_outputs == 1:
        shapes.insert(0, (len(x), *width))
    points = f"for x of shape {x.shape} and params = {params.tolist()}"
    try:
        numbers: Floats = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        kind = type(values).__name__
        raise UncertainError(f"{name}: returned a {kind}, which holds no real numbers, {points}") from None
    if numbers.shape not in shapes:
        raise UncertainError(f"{name}: returned the shape {numbers.shape} {points}; expected {shapes[0]}")
    return np.ascontiguousarray(numbers).ravel()
