"""`CurveRegressor`: any curve between true values, from readings with errors in x and y."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from .._base.core import RunParameters
from .._base.docs import documented
from .._base.mode_arrays import checked_modes
from .._data.groups import groups_from
from .._data.typing import Floats, Keywords, RandomState
from .._data.validation import (
    RowsLike,
    check_gaussians,
    check_sample_weight,
)
from .._data.warn import warn
from .._uncertain import curve_moments
from ..exceptions import ConvergenceWarning, ParameterError, UncertainError
from ._arguments import covariances_of_targets, crossed_covariances, start_from
from ._calls import Curve, curve_calls, jac_calls
from ._curve_summary import CurveSummary

__all__ = ["CurveRegressor"]


@documented
@dataclass(eq=False, repr=False)
class CurveRegressor(RunParameters, CurveSummary, RegressorMixin, BaseEstimator):
    """A curve y = f(z; theta) + scatter between true values, from readings with errors in x and y.

    Row i is a reading x_i = z_i + e_i, y_i = f(z_i; theta) + N(0, sigma^2) + error, with known covariances
    S_i and C_i of the errors of x and y, and c_i between them. Exact features have S = 0.

    With ``truth="structural"`` the true values z come from a density, a mixture of Gaussians that is learned
    from the readings of x (extreme deconvolution, as in `GaussianDenoiser`), and theta and sigma maximise the
    likelihood of y given x, integrated over z:

    .. code-block:: text

        log p(y_i | x_i) = log int N(y_i; f(z) + c'S^-1 (x_i - z), sigma^2 + C - c'S^-1 c) p(z | x_i) dz

    up to three noisy features in a row, by quadrature whose error is in ``integration_error_``. sigma counts
    the degrees of freedom of the curve: without errors sigma^2 = RSS / (n - p).

    With ``truth="functional"`` every z_i is a parameter, too: orthogonal distance regression, what
    ``scipy.odr`` and ODRPACK do,

    .. code-block:: text

        min over theta, z    sum_i (x_i - z_i)'S_i^-1 (x_i - z_i) + (y_i - f(z_i; theta))'C_i^-1 (y_i - ...)

    It has no scatter, and is biased by about f'' S / 2 where the curve bends within the errors of x. With
    exact x it is weighted least squares.

    Parameters
    ----------
    curve : callable
        ``curve(x, params) -> y`` with x of shape (n, d), params of shape (p,) and y of shape (n,), or (n, m)
        for m outputs. It is called with many points at once, so it must be vectorised, and computes in
        double precision, for differences of its values are taken.
    p0 : array-like of shape (p,), or dict of names and numbers
        Where the parameters start. A dictionary gives them names; the curve gets an array in its order.
    jac : callable, default=None
        ``jac(x, params)``: derivatives by the parameters, (n, p) or (n, m, p), or a pair of those and the
        derivatives by x, (n, d) or (n, m, d). None: central differences.
    bounds : pair (lower, upper), or dict of name and pair, default=None
        Limits of the parameters, each a number or p of them. A parameter at its bound has no standard error.
    fixed : list of names or places, default=None
        Parameters that stay at ``p0``.
    truth : {"structural", "functional"}, default="structural"
        What the true x are: draws from a density, or parameters.
    scatter : bool, default=True
        Whether to fit the intrinsic scatter sigma, one per output (structural only); otherwise it is 0.
    outliers : {"student", "mixture"} or None, default=None
        What readings of y may be beside their noise (structural only). "student": noise with Student's
        distribution of scale (sigma^2 + C)^(1/2). "mixture": a share of bad data whose noise has a further
        width of their own, at least twice the typical one.
    degrees_of_freedom : float from 1 to 200 or None, default=None
        Of "student"; None: estimated.
    error_scale : {"fit", "features", "both"} or None, default=None
        Error bars that are right up to a factor, which is estimated (structural only). "fit": those of y, one
        factor f for all outputs: f^2 C in the place of C. "features": those of each feature, with f_j, by
        maximum likelihood of the readings

        .. code-block:: text

            x_i ~ N(mu, T + F S_i F),    F = diag(f)

        before the curve, whose standard errors count the uncertainty of f; predictions read new rows with the
        same factors. "both": all of them. What tells a factor from the scatter, or from the spread T of true
        values, are error bars of different sizes; where those of y (unless ``scatter=False``) or of a feature
        are about equal, or too small to tell, it is refused. That true values have one normal spread whatever
        their error bars is assumed.
    n_components : int or "auto", default=1
        Gaussians in the density of true x.
    reg_covar : float, default=1e-6
        Smallest variance of the density, in units of the features' scale.
    max_iter : int, default=200
        Most steps of Levenberg and Marquardt's method.
    random_state : int, RandomState or None, default=None
        Seed of the density where it has several components.
    {n_jobs, verbose, callback}

    Attributes
    ----------
    params_ : ndarray of shape (p,)
        theta.
    param_names_ : list of str
        Their names, those of ``p0`` if it is a dictionary.
    covariance_ : ndarray of shape (p, p)
        Of ``params_``. Structural: the inverse of the observed information (that of theta and sigma
        together), with the uncertainty of the density of true x carried over; with ``groups``, or weights
        that differ, the sandwich. Functional: (J'WJ)^-1 as in ODRPACK, times ``residual_variance_`` where no
        errors of y are given. 0 where fixed, NaN where a bound holds.
    std_ : ndarray of shape (p,)
        Standard errors, the square roots of its diagonal; ``coef_std_`` is the same.
    scatter_ : float, or ndarray of shape (m,)
        sigma; 0 if the error bars explain all of the scatter. ``intrinsic_scatter_`` is the same.
    scatter_std_ : float, or ndarray of shape (m,)
        Standard error of sigma, NaN where that is 0.
    loglikelihood_ : float
        Structural: the sum of log p(y | x). Functional: minus half the sum of squares, and the constants of
        y.
    residual_variance_ : float
        Functional only: the sum of squares over n - p.
    modes_, modes_std_ : ndarrays of shape (k,)
        With ``modes``: the errors that rows share in units of their standard deviations, and their standard
        errors.
    error_scale_, error_scale_std_ : float
        With ``error_scale`` "fit" or "both": the factor of the errors of y, and its standard error.
    feature_error_scale_, feature_error_scale_std_ : ndarrays of shape (d,)
        With ``error_scale`` "features" or "both": those of the features.
    naive_params_, naive_std_ : ndarrays of shape (p,)
        Weighted least squares that takes x as exact; NaN where it fails.
    weights_, means_, covariances_ : ndarrays of shape (K,), (K, d), (K, d, d)
        The density of true x (structural, where x has errors).
    outlier_probability_ : ndarray of shape (n,)
        With ``outliers``: probability of each row of the fit that its target is bad ("mixture"), or that its
        noise is more than three times as wide as its error bar and the scatter ("student").
    outlier_law_ : dict of name and pair (estimate, standard error)
        With ``outliers``: "degrees_of_freedom", or "share" and "width" of bad data (the width of the first
        output; others in proportion to their scatter).
    integration_error_ : float
        The largest difference of the last two rules of integration in the log-likelihood of a row.
    {n_features_in_, feature_names_in_}
    n_iter_ : int
        Steps.
    status_ : str
        "converged", "max_iter" or "no_progress".

    Raises
    ------
    UncertainError
        A curve that raises, or returns NaN or a wrong shape (with point and parameters); parameters that the
        data do not determine (with their names and the direction); errors that are no covariance matrix.

    Warns
    -----
    ConvergenceWarning
        If the steps ended early.

    Notes
    -----
    A fitted `CurveRegressor` is saved with ``pickle`` (or joblib), which keeps the curve by its module and
    name, so it must be a function of a module, not a lambda. A model file holds no code and cannot hold one.

    References
    ----------
    R. J. Carroll, D. Ruppert, L. A. Stefanski, C. M. Crainiceanu, Measurement Error in Nonlinear Models,
    2006. P. T. Boggs, R. H. Byrd, R. B. Schnabel, A stable and efficient algorithm for nonlinear orthogonal
    distance regression, SIAM Journal on Scientific and Statistical Computing 8, 1987, doi 10.1137/0908085.
    K.-Y. Liang, S. L. Zeger, Longitudinal data analysis using generalized linear models, Biometrika 73, 1986,
    doi 10.1093/biomet/73.1.13. T. A. Louis, Finding the observed information matrix when using the EM
    algorithm, JRSS B 44, 1982.

    Examples
    --------
    >>> import numpy as np
    >>> from uncertain import GaussianArray
    >>> from uncertain.laws import CurveRegressor
    >>> rng = np.random.default_rng(0)
    >>> z = rng.normal(size=400)
    >>> y = np.exp(0.7 * z) + rng.normal(scale=0.1, size=400)
    >>> X = GaussianArray(z[:, None] + rng.normal(scale=0.4, size=(400, 1)), std=0.4)
    >>> law = CurveRegressor(lambda x, p: p[0] * np.exp(p[1] * x[:, 0]), {"a": 1.0, "b": 0.5}).fit(X, y)
    >>> bool(np.all(np.abs(law.params_ - [1.0, 0.7]) < 3 * law.std_))
    True
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
        {sample_weight}
        y_cov : array-like of shape (m, m) or (n, m, m), default=None
            Covariance matrices of the targets' errors, in place of ``y_std``.
        modes : array-like of shape (n, k), default=None
            Errors of the target that rows share (structural fits of one output): row i has the error
            ``modes[i] @ a`` with k standard normal numbers a, the same for all rows; see ``modes_``.
        groups : array-like of shape (n,), default=None
            The object that each row belongs to: standard errors then hold for errors that rows of a group
            share, by the sandwich

            .. code-block:: text

                V = H^-1 M H^-1,    M = G / (G - 1) sum_g u_g u_g'

            with the information H (functional: J'WJ) and the sums u_g of the G groups' scores (Liang and
            Zeger 1986). Fewer than 10 groups are refused.

        {Returns: self}
        """
        start = start_from(self.p0, self.bounds, self.fixed)
        for name in ("curve", "jac"):
            if not callable(getattr(self, name)) and not (name == "jac" and self.jac is None):
                raise ParameterError(f"{name} = {getattr(self, name)!r}: must be a function of x and params")
        rows = check_gaussians(self, X, reset=True)
        targets = self._targets(X, y)
        n, m = targets.shape
        known: Keywords = {
            "covariances": covariances_of_targets(y_std, y_cov, (n, m)),
            "crossed": crossed_covariances(xy_cov, (n, rows.n_features, m)),
            "weights": check_sample_weight(sample_weight, n),
            "groups": None if groups is None else groups_from(groups, "groups", n),
            "modes": None if modes is None else _modes_of_targets(modes, n),
        }
        found = self._found(start, self._parameters(), rows, targets, known)
        self._problem, self._naive = (start, rows, targets, known), None
        self._keep(start, found)
        if self.status_ != "converged":
            warn(
                f"CurveRegressor did not converge ({self.status_} after {self.n_iter_} steps): start nearer "
                "(p0=), set bounds=, or raise max_iter",
                ConvergenceWarning,
            )
        return self

    def predict(self, X: RowsLike, return_std: bool = False) -> Any:
        """Mean of each row's true target given its reading, and its standard deviation.

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
        """Mean and standard deviation of each row's true target: ``predict(X, return_std=True)``."""
        check_is_fitted(self, "params_")
        rows = check_gaussians(self, X, reset=False)
        m = self._n_outputs
        density = (
            (self.weights_.tolist(), self.means_, self._triangles) if self._triangles is not None else None
        )
        calls = curve_calls(self.curve, m), jac_calls(self.jac, m)
        factors = self.__dict__.get("feature_error_scale_", np.zeros(0)).tolist()
        mean, spread = curve_moments(*calls, self.params_.tolist(), m, rows, density, factors)
        std = np.hypot(spread, self.scatter_)
        return (mean[:, 0], std[:, 0]) if self._is_flat else (mean, std)

    @property
    def coef_std_(self) -> Floats:
        """``std_``."""
        return self.std_

    @property
    def intrinsic_scatter_(self) -> float | Floats:
        """``scatter_``."""
        return self.scatter_

    def __getstate__(self) -> Keywords:
        if self._problem is not None:
            self._fit_naively()
        state: Keywords = dict(super().__getstate__())
        state.pop("_problem", None)
        return state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # The curve is the user's: it may be of no use for other data.
        tags.regressor_tags.poor_score = True
        return tags


def _modes_of_targets(modes: ArrayLike, n: int) -> Floats:
    if np.ndim(modes) == 3:
        raise UncertainError(
            "modes of features, (n, d, k): what an error that readings share moves in y depends on the slope "
            "of the curve at each row's true features, which has no approximation here that was tested; a "
            "curve takes those of the target, (n, k). LinearLaw and GeneralizedLinearLaw take those of "
            "features: a power law is a line between logarithms, an exponential one the Poisson or lognormal "
            "family"
        )
    return checked_modes(modes, n)
