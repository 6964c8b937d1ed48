"""Regression on rows that are Gaussians."""

from __future__ import annotations

from typing import Any, Literal, Self

from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, RegressorMixin

from ._base.classifiers import predicted, target_arguments
from ._base.convergence import keep_reports, warn_unless_converged
from ._base.docs import documented
from ._base.progress import Callback
from ._data.typing import Floats, Header, Keywords, RandomState
from ._data.validation import RowsLike, check_gaussians, check_stds
from ._linear.kernelized import Kernelized
from .preprocessing._kernel_map import Kernel

__all__ = ["GSURegressor"]


@documented
class GSURegressor(Kernelized, RegressorMixin, BaseEstimator):
    """Regression with Gaussian sample uncertainty: the loss of every row is averaged over its error bars.

    Row i is a Gaussian N(x_i, S_i) with a target y_i, known to +- t_i if ``y_std`` is given, and a weight c_i
    (sum c_i = n). The residual of a draw is Gaussian, so the mean loss has a closed form:

    .. code-block:: text

        J(w, b) = alpha / 2 ||w||^2 + (1 / n) sum_i c_i E L(r_i + s_i Z),   Z ~ N(0, 1)

        r_i = y_i - w'x_i - b
        s_i^2 = w'S_i w + t_i^2

    With zero covariances it is support vector, Huber or ridge regression. The intercept is not penalised.
    Every fit has a certificate: J(w, b) is at most ``optimality_gap_`` (relative) above the minimum.

    Averaging over the error bars is right for *predictions from uncertain rows*. It shrinks the coefficients
    below those of the law between the true values (attenuation); see the user guide on regression.

    Parameters
    ----------
    alpha : float or "auto", default=1e-3
        Strength of the penalty, > 0. "auto" chooses one of 15 values between 10 and 1e-6 by cross-validation
        in 5 folds (of whole ``groups``): the strongest whose held-out mean loss is within one standard error
        of the best, with fewer than 300 rows the best; see ``path_``.
    loss : {"huber", "epsilon_insensitive", "squared"}, default="huber"
        r^2 / 2 up to delta and linear beyond; max(0, ``|r|`` - epsilon); r^2 / 2.
    delta : float, default=1.35
        Where "huber" becomes linear, > 0, in units of y.
    epsilon : float, default=0.1
        Half the width of the tube of "epsilon_insensitive", >= 0, in units of y.
    {kernel, gamma, degree, coef0, max_rank, rank_tol}
    solver : {"auto", "newton", "lbfgs"}, default="auto"
        A trust-region Newton method or a quasi-Newton one; both stop on the certified gap.
    tol : float, default=1e-6
        Relative duality gap at which to stop.
    max_iter : int, default=None
        Most iterations (500).
    {fit_intercept}
    random_state : int, RandomState or None, default=None
        Seed of the sample of the rows that a large fit starts from.
    {n_jobs}
    {verbose}
    callback : callable, default=None
        Called with a ``Progress(task, iteration, objective, gap)`` per iteration (the objective in the
        solver's units, in which y has variance 1); an exception ends the fit.

    Attributes
    ----------
    coef_ : ndarray of shape (d,)
        w.
    intercept_ : float
        b.
    {kernel_map_, alpha_, path_}
    objective_ : float
        J(w, b).
    optimality_gap_ : float
        Certified bound on (J(w, b) - min J) / J(w, b).
    n_iter_ : int
        Iterations done.
    status_ : str
        "converged", "max_iter" or "no_progress" (rounding prevents more).
    {n_features_in_, feature_names_in_}

    {Raises: refused}

    Warns
    -----
    ConvergenceWarning
        If the fit ends before the gap is below `tol`.

    References
    ----------
    C. Tzelepis, V. Mezaris, I. Patras, Linear Maximum Margin Classifier for Learning from Uncertain Data,
    IEEE TPAMI 40(12), 2018, which proposes this extension.

    Examples
    --------
    >>> import numpy as np
    >>> from uncertain import GaussianArray, GSURegressor
    >>> X = GaussianArray(np.arange(8.0)[:, None], std=0.1)
    >>> model = GSURegressor().fit(X, 2 * np.arange(8.0) + 1)
    >>> mean, std = model.predict(GaussianArray([[10.0]], std=0.5), return_std=True)
    >>> round(float(mean[0]), 1), round(float(std[0]), 1)
    (21.0, 1.0)
    """

    _kinds = ("gsu-regression",)
    _penalty = "alpha"

    def __init__(
        self,
        alpha: float | Literal["auto"] = 1e-3,
        *,
        loss: Literal["huber", "epsilon_insensitive", "squared"] = "huber",
        delta: float = 1.35,
        epsilon: float = 0.1,
        kernel: Kernel = "linear",
        gamma: float | Literal["median"] = "median",
        degree: int = 3,
        coef0: float = 1.0,
        max_rank: int | None = 300,
        rank_tol: float = 1e-6,
        solver: Literal["auto", "newton", "lbfgs"] = "auto",
        tol: float = 1e-6,
        max_iter: int | None = None,
        fit_intercept: bool = True,
        random_state: RandomState = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Callback = None,
    ) -> None:
        self.alpha = alpha
        self.loss = loss
        self.epsilon = epsilon
        self.delta = delta
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.max_rank = max_rank
        self.rank_tol = rank_tol
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.fit_intercept = fit_intercept
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback

    def fit(
        self,
        X: RowsLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        y_std: ArrayLike | None = None,
        *,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Fit to Gaussians, or to exact points.

        {Parameters: X, targets, sample_weight}
        y_std : float or array-like of shape (n,), default=None
            Standard deviations of the targets, >= 0.
        {groups_of_path}

        {Returns: self}
        """
        parameters = self._parameters()
        data = check_gaussians(self, X, reset=True)
        arguments = target_arguments(self, X, y, sample_weight, groups)
        if y_std is not None:
            arguments["variances"] = check_stds(y_std, "y_std", data.n_rows) ** 2
        self._keep(self._fitted(parameters, self._to_fit(data, arguments["weights"]), **arguments))
        warn_unless_converged(self, "raise max_iter or alpha, or scale the features")
        return self

    def predict(self, X: RowsLike, return_std: bool = False) -> Any:
        """Mean of the prediction, w'x_i + b, and its spread under each row's own error bars.

        {Parameters: X}
        return_std : bool, default=False
            Also return sqrt(w'S_i w), the standard deviation that comes from the row's error bars. It
            excludes the scatter of targets around the fit.

        {Returns: mean_or_both}
        """
        return predicted(self, self._to_predict(X), return_std)

    def _core_parameters(self) -> Keywords:
        parameters = super()._core_parameters()
        names = {"huber": "delta", "epsilon_insensitive": "epsilon"}
        option = names.get(self.loss) if isinstance(self.loss, str) else None
        parameters["loss"] = self.loss if option is None else {self.loss: {option: getattr(self, option)}}
        return parameters

    @classmethod
    def _arguments(cls, parameters: Keywords) -> Keywords:
        arguments = super()._arguments(parameters)
        if isinstance(arguments["loss"], dict):
            ((arguments["loss"], options),) = arguments["loss"].items()
            arguments |= options
        return arguments

    def _attributes(self, arrays: dict[str, Floats], header: Header) -> None:
        self.coef_: Floats = arrays["coef"]
        self.intercept_ = float(arrays["intercept"][0])
        keep_reports(self, [header["fit"]])
