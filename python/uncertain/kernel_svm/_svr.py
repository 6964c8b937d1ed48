"""`ProbabilisticKernelSVR`."""

from __future__ import annotations

from typing import Literal, Self, overload

from numpy.typing import ArrayLike
from sklearn.base import RegressorMixin

from .._base.classifiers import predicted, target_arguments
from .._base.docs import documented
from .._base.progress import Callback
from .._data.typing import Floats, Header
from .._data.validation import RowsLike
from ..exceptions import ParameterError
from ._machine import Kernel, KernelMachine


@documented
class ProbabilisticKernelSVR(RegressorMixin, KernelMachine):
    """Epsilon support vector regression for rows that are Gaussians.

    .. code-block:: text

        min  1/2 |w|^2 + sum_i C c_i max(0, |t_i - w'phi_i - b| - epsilon)

    Parameters
    ----------
    C : float or "auto", default=1.0
        Weight of the loss, > 0. "auto" chooses one of 13 values between 1e-3 and 1e3 by cross-validation in 5
        folds (of whole ``groups``): the smallest whose held-out mean loss is within one standard error of the
        best; see ``path_``. Not with a kernel of your own.
    epsilon : float, default=0.1
        Half the width of the tube without loss, >= 0.
    kernel, sigma, coupling
        As in :class:`ProbabilisticKernelSVC`.
    tol : float, default=1e-6
        Certified relative duality gap at which the solver stops.
    max_iter, shrinking, cache_size, n_jobs, verbose, callback
        As in :class:`ProbabilisticKernelSVC`.

    Attributes
    ----------
    support_ : ndarray of shape (m,)
        Numbers of the support rows.
    support_rows_ : GaussianArray of m rows, or None
        The support rows, all that is kept of the data; None with a precomputed kernel.
    dual_coef_ : ndarray of shape (1, m)
        Their signed coefficients.
    intercept_ : ndarray of shape (1,)
        b.
    {C_, path_}
    sigma_, objective_, optimality_gap_, n_iter_, status_, n_features_in_
        As in :class:`ProbabilisticKernelSVC`.

    Examples
    --------
    >>> import numpy as np
    >>> from uncertain import GaussianArray, ProbabilisticKernelSVR
    >>> x = np.linspace(0.0, 3.0, 16)
    >>> X = GaussianArray(x[:, None], std=0.05)
    >>> model = ProbabilisticKernelSVR(C=100.0, epsilon=0.01).fit(X, np.sin(x))
    >>> bool(abs(model.predict([[1.5]])[0] - np.sin(1.5)) < 0.05)
    True
    """

    _kinds = ("kernel-svr",)
    _penalty = "C"

    def __init__(
        self,
        C: float | Literal["auto"] = 1.0,
        *,
        epsilon: float = 0.1,
        kernel: str | Kernel = "probabilistic",
        sigma: float | Literal["median"] = 1.0,
        coupling: Literal["shared", "independent"] = "shared",
        tol: float = 1e-6,
        max_iter: int = -1,
        shrinking: bool = True,
        cache_size: float = 1024,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Callback = None,
    ) -> None:
        self.C = C
        self.epsilon = epsilon
        self.kernel = kernel
        self.sigma = sigma
        self.coupling = coupling
        self.tol = tol
        self.max_iter = max_iter
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback

    def fit(
        self,
        X: RowsLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Fit to Gaussians, to exact points, or to a kernel matrix.

        {Parameters: fitted_rows, targets}
        sample_weight : array-like of shape (n,), default=None
            Weights >= 0 by which C is multiplied.
        {groups_of_path}

        {Returns: self}
        """
        parameters = self._parameters()
        data, rows = self._to_fit(X)
        model = self._fitted(parameters, data, **target_arguments(self, X, y, sample_weight, groups))
        return self._finished(model, rows)

    @overload
    def predict(self, X: RowsLike, return_std: Literal[False] = False) -> Floats: ...
    @overload
    def predict(self, X: RowsLike, return_std: Literal[True]) -> tuple[Floats, Floats]: ...
    def predict(self, X: RowsLike, return_std: bool = False) -> Floats | tuple[Floats, Floats]:
        """Predicted targets.

        {Parameters: rows_or_kernel}
        return_std : bool, default=False
            Also return the standard deviations of the predictions under each row's own noise, exactly as in
            :meth:`ProbabilisticKernelSVC.decision_distribution`; only for ``kernel="probabilistic"``. They
            exclude the scatter of targets around the fit.

        Returns
        -------
        ndarray of shape (n,), or two of them
        """
        if return_std and self.kernel != "probabilistic":
            raise ParameterError(
                f"return_std=True: kernel = {self.kernel!r} says nothing of a row's noise; it needs "
                'kernel="probabilistic"'
            )
        return predicted(self, self._to_predict(X), return_std)

    def _attributes(self, arrays: dict[str, Floats], header: Header) -> None:
        super()._attributes(arrays, header)
        self.dual_coef_ = arrays["dual_coef"][None, :]
        self.intercept_ = arrays["intercept"]
