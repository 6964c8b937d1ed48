"""Kernel support vector machines for rows that are Gaussians."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, Literal, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array, check_consistent_length, column_or_1d
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from uncertain import kernels
from uncertain._array import GaussianArray
from uncertain._progress import Progress, reporter
from uncertain._uncertain import apply_kernel_svc, fit_kernel_svc, fit_kernel_svr
from uncertain._validation import check_gaussians, check_labels, check_weights, seed_from
from uncertain.exceptions import ParameterError, UncertainError

__all__ = ["ProbabilisticKernelSVC", "ProbabilisticKernelSVR"]

Floats: TypeAlias = NDArray[np.float64]
Kernel: TypeAlias = Callable[[GaussianArray, GaussianArray], ArrayLike]


class _KernelMachine(BaseEstimator):
    """What classifier and regressor share: the kernel matrix, and the rows that stay."""

    kernel: str | Kernel
    sigma: float | Literal["median"]
    coupling: Literal["shared", "independent"]
    n_jobs: int | None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags

    def _gram(self, X: Any) -> tuple[Floats, GaussianArray | None]:
        """The kernel matrix of the rows to fit, and the rows; sets ``sigma_``."""
        if self.kernel == "precomputed":
            gram: Floats = validate_data(self, X, reset=True, dtype=np.float64, order="C")
            if gram.shape[0] != gram.shape[1]:
                raise ValueError(
                    f"Precomputed matrix must be a square matrix. Input is a {gram.shape} matrix."
                )
            return gram, None
        rows = GaussianArray._from_core(check_gaussians(self, X, reset=True))
        if self.kernel == "probabilistic":
            self.sigma_ = self._bandwidth(rows)
        return self._between(rows, None), rows

    def _bandwidth(self, rows: GaussianArray) -> float:
        if not isinstance(self.sigma, str):
            return self.sigma
        if self.sigma != "median":
            raise ParameterError(f'sigma = {self.sigma!r}: must be a number > 0 or "median"')
        return kernels.median_distance(rows) if len(rows) > 1 else 1.0

    def _between(self, rows: GaussianArray, others: GaussianArray | None) -> Floats:
        if callable(self.kernel):
            m = len(rows) if others is None else len(others)
            values = np.ascontiguousarray(
                self.kernel(rows, rows if others is None else others), dtype=np.float64
            )
            if values.shape != (len(rows), m):
                raise UncertainError(f"kernel(X, Z): expected shape {(len(rows), m)}, got {values.shape}")
            return values
        if self.kernel != "probabilistic":
            raise ParameterError(
                f"kernel = {self.kernel!r}: must be 'probabilistic', 'precomputed' or a "
                "function of two GaussianArrays"
            )
        return kernels.probabilistic_rbf(
            rows, others, sigma=self.sigma_, coupling=self.coupling, n_jobs=self.n_jobs
        )

    def _keep(self, rows: GaussianArray | None, support: NDArray[np.uint32]) -> None:
        self.support_ = support.astype(np.int64)
        self.support_rows_ = None if rows is None else rows[self.support_]

    def _at_support(self, X: Any) -> Floats:
        """The kernel between new rows and support rows."""
        check_is_fitted(self, "support_")
        if self.support_rows_ is None:
            values: Floats = validate_data(self, X, reset=False, dtype=np.float64)
            return np.ascontiguousarray(values[:, self.support_])
        rows = GaussianArray._from_core(check_gaussians(self, X, reset=False))
        if len(self.support_) == 0:
            return np.zeros((len(rows), 0))
        return self._between(rows, self.support_rows_)

    def _report(
        self, reports: tuple[Floats, Floats, NDArray[np.int64], list[str]], tol: float, *, single: bool
    ) -> None:
        objective, gap, n_iter, status = reports
        self.objective_ = objective[0] if single else objective
        self.optimality_gap_ = gap[0] if single else gap
        self.n_iter_ = n_iter[0] if single else n_iter
        self.status_ = status[0] if single else np.array(status)
        late = [k for k, how in enumerate(status) if how != "converged"]
        if late:
            worst = max(late, key=lambda k: gap[k])
            warnings.warn(
                f"{type(self).__name__} did not converge ({status[worst]} after {n_iter[worst]} iterations): "
                f"the objective is within a certified {gap[worst]:.2g} (relative) of the minimum; "
                f"raise max_iter, lower C, or accept a larger tol than {tol:g}",
                ConvergenceWarning,
                stacklevel=3,
            )


def _with_probability(estimator: ProbabilisticKernelSVC) -> bool:
    if not estimator.probability:
        raise AttributeError("predict_proba needs ProbabilisticKernelSVC(probability=True), set before fit")
    return True


class ProbabilisticKernelSVC(ClassifierMixin, _KernelMachine):
    """Kernel support vector classifier for rows that are Gaussians.

    The kernel between two rows is the RBF kernel averaged over their noise
    (:func:`uncertain.kernels.probabilistic_rbf`); the classifier is the C-SVM:

    .. code-block:: text

        min  1/2 |w|^2 + sum_i C c_i max(0, 1 - y_i (w'phi_i + b)),    w = sum_i y_i a_i phi_i

    where c_i is the product of sample and class weight. New rows have error bars, too: a row with wide
    ones is less like any support row. Several classes are fitted one against one. Names, order and signs are
    those of scikit-learn's ``SVC`` with ``decision_function_shape="ovr"``; ``predict`` is always the class of
    the largest score.

    Parameters
    ----------
    C : float, default=1.0
        Price of the loss, > 0; 1 / (2 n lambda) in the paper.
    kernel : "probabilistic", "precomputed" or callable, default="probabilistic"
        "precomputed": X is the n x n kernel matrix in ``fit``, and the kernel between new and fitted rows
        later.
        A callable takes two GaussianArrays of n and m rows and returns the n x m matrix.
    sigma : float or "median", default=1.0
        Bandwidth of the probabilistic kernel; "median" is :func:`uncertain.kernels.median_distance` of the
        rows, whatever their weights.
    coupling : {"shared", "independent"}, default="shared"
        Which noise two rows see; see :func:`uncertain.kernels.probabilistic_rbf`.
    tol : float, default=1e-9
        Largest violation of the optimality conditions at which the solver stops. Going on from the 1e-3 of
        other solvers costs little, and a weight of 2 is then the row twice, to seven digits.
    max_iter : int, default=-1
        Most pairs of coefficients optimised; -1 is ten million.
    shrinking : bool, default=True
        Whether coefficients that stay at a bound are left out for a while.
    cache_size : float, default=200
        MB for parts of the kernel matrix that are copied.
    class_weight : dict, "balanced" or None, default=None
        Weight of each class, multiplied with ``sample_weight``.
    probability : bool, default=False
        Whether to fit sigmoids on cross-validated scores, which ``predict_proba`` needs.
    random_state : int, RandomState or None, default=None
        Seed of the folds of ``probability``.
    n_jobs : int or None, default=None
        Number of threads; the result does not depend on it.
    verbose : int, default=0
        Print progress.
    callback : callable, default=None
        Called with a ``Progress(task, iteration, objective, gap)`` now and then; an exception ends the fit.

    Attributes
    ----------
    support_ : ndarray of shape (m,)
        Numbers of the support rows, class by class.
    support_rows_ : GaussianArray of m rows, or None
        The support rows, all that is kept of the data; None with a precomputed kernel.
    n_support_ : ndarray of shape (K,)
        Support rows of each class.
    dual_coef_ : ndarray of shape (K - 1, m)
        y_i a_i, in scikit-learn's layout.
    intercept_ : ndarray of shape (K (K - 1) / 2,)
        b of each pair of classes.
    classes_ : ndarray of shape (K,)
        The labels, sorted.
    sigma_ : float
        The bandwidth used.
    objective_ : float, or ndarray of shape (K (K - 1) / 2,)
        The minimum found.
    optimality_gap_ : float, or ndarray of shape (K (K - 1) / 2,)
        Certified bound on its relative distance from the true minimum.
    n_iter_, status_ : int and str, or ndarrays of shape (K (K - 1) / 2,)
        Pairs of coefficients optimised, and how that ended: "converged", "max_iter" or "no_progress".
    n_features_in_ : int
        Dimension of the rows.

    References
    ----------
    Y. Chen, T. T. Georgiou, A. R. Tannenbaum, Probabilistic Kernel Support Vector Machines.

    Examples
    --------
    >>> from uncertain import GaussianArray, ProbabilisticKernelSVC
    >>> X = GaussianArray([[0.0], [0.5], [3.0], [3.5], [6.0]], std=[0.1, 0.5, 0.1, 0.5, 0.2])
    >>> model = ProbabilisticKernelSVC(C=10.0).fit(X, ["out", "out", "in", "in", "out"])
    >>> model.predict([[0.2], [3.2], [6.5]]).tolist()
    ['out', 'in', 'out']
    """

    def __init__(
        self,
        C: float = 1.0,
        *,
        kernel: str | Kernel = "probabilistic",
        sigma: float | Literal["median"] = 1.0,
        coupling: Literal["shared", "independent"] = "shared",
        tol: float = 1e-9,
        max_iter: int = -1,
        shrinking: bool = True,
        cache_size: float = 200,
        class_weight: dict[Any, float] | Literal["balanced"] | None = None,
        probability: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Callable[[Progress], Any] | None = None,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.sigma = sigma
        self.coupling = coupling
        self.tol = tol
        self.max_iter = max_iter
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.probability = probability
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit to Gaussians, to exact points, or to a kernel matrix.

        Parameters
        ----------
        X : GaussianArray of n rows, or array-like of shape (n, d) or (n, n)
            Gaussians or exact points; the kernel matrix for ``kernel="precomputed"``.
        y : array-like of shape (n,)
            Labels of any type that sorts.
        sample_weight : array-like of shape (n,), default=None
            Weights >= 0 by which C is multiplied; a row of weight 0 is as good as absent.

        Returns
        -------
        self
        """
        gram, rows = self._gram(X)
        classes, codes = check_labels(y, X, self)
        weights = check_weights(sample_weight, self.class_weight, classes=classes, codes=codes)
        support, n_support, dual_coef, intercept, sigmoids, reports = fit_kernel_svc(
            gram,
            codes,
            len(classes),
            weights,
            c=self.C,
            tol=self.tol,
            max_iter=self.max_iter,
            shrinking=self.shrinking,
            cache_size=self.cache_size,
            probability=self.probability,
            seed=seed_from(self.random_state),
            n_jobs=self.n_jobs,
            report=reporter(type(self).__name__, self.verbose, self.callback),
        )
        self.classes_ = classes
        self._keep(rows, support)
        self.n_support_ = np.array(n_support)
        self.dual_coef_ = dual_coef
        self.intercept_ = intercept
        self._sigmoids = sigmoids
        self._report(reports, self.tol, single=len(classes) == 2)
        return self

    def decision_function(self, X: Any) -> Floats:
        """Scores of the classes.

        Parameters
        ----------
        X : GaussianArray of n rows, or array-like of shape (n, d) or (n, number of fitted rows)
            Gaussians or exact points; kernel values for ``kernel="precomputed"``.

        Returns
        -------
        ndarray of shape (n,), or (n, K) for more than two classes
            Positive for ``classes_[1]`` in the case of two classes; otherwise the pairs that a class wins,
            plus less than 1/3 for how clearly.
        """
        kernel = self._at_support(X)
        scores = apply_kernel_svc(kernel, self.n_support_.tolist(), self.dual_coef_, self.intercept_, None)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X: Any) -> NDArray[Any]:
        """The label with the largest score.

        Parameters
        ----------
        X : GaussianArray of n rows, or array-like of shape (n, d) or (n, number of fitted rows)
            As in :meth:`decision_function`.

        Returns
        -------
        ndarray of shape (n,)
            Elements of ``classes_``.
        """
        scores = self.decision_function(X)
        codes = (scores > 0.0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
        return np.asarray(self.classes_[codes])

    @available_if(_with_probability)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Floats:
        """Probability of each class: Platt's sigmoid of the score, for more classes those of all pairs.

        Parameters
        ----------
        X : GaussianArray of n rows, or array-like of shape (n, d) or (n, number of fitted rows)
            As in :meth:`decision_function`.

        Returns
        -------
        ndarray of shape (n, K)
            Columns in the order of ``classes_``.
        """
        kernel = self._at_support(X)
        if self._sigmoids is None:
            raise UncertainError(
                "the model was fitted without probabilities: fit again with probability=True"
            )
        n_support = self.n_support_.tolist()
        return apply_kernel_svc(kernel, n_support, self.dual_coef_, self.intercept_, self._sigmoids)

    @available_if(_with_probability)  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> Floats:
        """Logarithm of :meth:`predict_proba`.

        Parameters
        ----------
        X : GaussianArray of n rows, or array-like of shape (n, d) or (n, number of fitted rows)
            As in :meth:`decision_function`.

        Returns
        -------
        ndarray of shape (n, K)
        """
        with np.errstate(divide="ignore"):
            logarithms: Floats = np.log(self.predict_proba(X))
        return logarithms


class ProbabilisticKernelSVR(RegressorMixin, _KernelMachine):
    """Epsilon support vector regression for rows that are Gaussians.

    .. code-block:: text

        min  1/2 |w|^2 + sum_i C c_i max(0, |t_i - w'phi_i - b| - epsilon)

    Parameters
    ----------
    C : float, default=1.0
        Price of the loss, > 0.
    epsilon : float, default=0.1
        Half the width of the tube without loss, >= 0.
    kernel, sigma, coupling, tol, max_iter, shrinking, cache_size, n_jobs, verbose, callback
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

    def __init__(
        self,
        C: float = 1.0,
        *,
        epsilon: float = 0.1,
        kernel: str | Kernel = "probabilistic",
        sigma: float | Literal["median"] = 1.0,
        coupling: Literal["shared", "independent"] = "shared",
        tol: float = 1e-9,
        max_iter: int = -1,
        shrinking: bool = True,
        cache_size: float = 200,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Callable[[Progress], Any] | None = None,
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

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit to Gaussians, to exact points, or to a kernel matrix.

        Parameters
        ----------
        X : GaussianArray of n rows, or array-like of shape (n, d) or (n, n)
            Gaussians or exact points; the kernel matrix for ``kernel="precomputed"``.
        y : array-like of shape (n,)
            Targets.
        sample_weight : array-like of shape (n,), default=None
            Weights >= 0 by which C is multiplied.

        Returns
        -------
        self
        """
        gram, rows = self._gram(X)
        targets = check_numbers(y, X, self)
        weights = (
            None
            if sample_weight is None
            else _check_sample_weight(sample_weight, targets, dtype=np.float64, ensure_non_negative=True)
        )
        support, dual_coef, intercept, reports = fit_kernel_svr(
            gram,
            targets,
            weights,
            c=self.C,
            epsilon=self.epsilon,
            tol=self.tol,
            max_iter=self.max_iter,
            shrinking=self.shrinking,
            cache_size=self.cache_size,
            report=reporter(type(self).__name__, self.verbose, self.callback),
        )
        self._keep(rows, support)
        self.dual_coef_ = dual_coef[None, :]
        self.intercept_ = np.array([intercept])
        self._report(reports, self.tol, single=True)
        return self

    def predict(self, X: Any) -> Floats:
        """Predicted targets.

        Parameters
        ----------
        X : GaussianArray of n rows, or array-like of shape (n, d) or (n, number of fitted rows)
            Gaussians or exact points; kernel values for ``kernel="precomputed"``.

        Returns
        -------
        ndarray of shape (n,)
        """
        scores: Floats = self._at_support(X) @ self.dual_coef_[0] + self.intercept_[0]
        return scores


def check_numbers(y: Any, X: Any, estimator: Any) -> Floats:
    """y as a 1-D array of finite numbers, one per row of X."""
    if y is None:
        raise ValueError(
            f"This {type(estimator).__name__} estimator requires y to be passed, but the target y is None."
        )
    checked = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y", estimator=estimator)
    targets: Floats = np.ascontiguousarray(column_or_1d(checked, warn=True))
    check_consistent_length(X, targets)
    return targets
