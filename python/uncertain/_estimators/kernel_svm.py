"""Kernel support vector machines for rows that are Gaussians."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils import Tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from .._base.classifiers import ScoreClassifier, class_arguments, predicted, target_arguments
from .._base.core import Core, RunParameters, keep_reports, warn_unless_converged
from .._base.docs import documented
from .._base.sums import BeyondSums, Need
from .._data.array import GaussianArray
from .._data.options import refuse_if
from .._data.typing import Array, ClassWeight, Floats, Header, Keywords, RandomState, RowValues
from .._data.validation import RowsLike, check_gaussians
from .._uncertain import Fitted, Gaussians, Rows
from ..exceptions import UncertainError
from .kernel_features import FeatureMap

__all__ = ["ProbabilisticKernelSVC", "ProbabilisticKernelSVR"]

Kernel: TypeAlias = Callable[[GaussianArray, GaussianArray], ArrayLike]


@dataclass(eq=False, repr=False)
class KernelMachine(RunParameters, Core, BaseEstimator):
    """Base of the kernel machines.

    The core fits Gaussians with the probabilistic kernel by itself, and decides there whether the kernel
    matrix is kept; precomputed and user-defined kernels come to it as matrices of values.
    """

    C: float | Literal["auto"] = 1.0
    _: KW_ONLY
    kernel: str | Kernel = "probabilistic"
    sigma: float | Literal["median"] = 1.0
    coupling: Literal["shared", "independent"] = "shared"
    tol: float = 1e-6
    max_iter: int = -1
    shrinking: bool = True
    cache_size: float = 1024

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags

    def _core_parameters(self) -> Keywords:
        parameters = super()._core_parameters()
        if callable(self.kernel):
            parameters["kernel"] = "precomputed"
        return parameters

    def _beyond_sums(self) -> Iterator[BeyondSums]:
        if getattr(self, "n_components", None) is None:
            yield BeyondSums(
                Need.MEMORY,
                f"{type(self).__name__} compares rows with one another",
                'fit a sample of the rows, or use method="gsu", which is linear, or with memory= '
                "n_components=500, random features",
            )
            yield from super()._beyond_sums()
        else:
            yield BeyondSums(
                Need.IN_PLACE,
                "n_components= makes features of the rows during the fit",
                'use method="gsu", which is linear, or fit a sample of the rows',
            )

    def _to_fit(self, X: RowsLike) -> tuple[Gaussians, GaussianArray | None]:
        """X for the core (Gaussians, or a kernel matrix), and support rows."""
        if self.kernel == "precomputed":
            gram: Floats = validate_data(self, X, reset=True, dtype=np.float64, order="C")
            square = f"Precomputed matrix must be a square matrix. Input is a {gram.shape} matrix."
            refuse_if(gram.shape[0] != gram.shape[1], square, ValueError)
            return exact(gram), None
        data = check_gaussians(self, X, reset=True)
        if not callable(self.kernel):
            wanted = "'probabilistic', 'precomputed' or a function of two GaussianArrays"
            refuse_if(self.kernel != "probabilistic", f"kernel = {self.kernel!r}: must be {wanted}")
            return data, None
        rows = GaussianArray._from_core(data)
        return exact(self._values(rows, rows)), rows

    def _values(self, rows: GaussianArray, others: GaussianArray) -> Floats:
        """Values of the caller's kernel."""
        assert callable(self.kernel)
        values = np.ascontiguousarray(self.kernel(rows, others), dtype=np.float64)
        shape = (len(rows), len(others))
        wrong = values.shape != shape
        refuse_if(wrong, f"kernel(X, Z): expected shape {shape}, got {values.shape}", UncertainError)
        return values

    def _to_predict(self, X: RowsLike) -> Gaussians:
        """X for the fitted core: Gaussians, or kernel values with support rows."""
        check_is_fitted(self, "objective_")
        if self.kernel == "precomputed":
            values: Floats = validate_data(self, X, reset=False, dtype=np.float64)
            return exact(values[:, self.support_])
        data = check_gaussians(self, X, reset=False)
        if not callable(self.kernel):
            return data
        rows = GaussianArray._from_core(data)
        if len(self.support_) == 0:
            return exact(np.zeros((len(rows), 0)))
        assert self.support_rows_ is not None
        return exact(self._values(rows, self.support_rows_))

    def _attributes(self, arrays: dict[str, Floats], header: Header) -> None:
        keep_reports(self, header["fits"] if "fits" in header else [header["fit"]])
        self.support_ = arrays["support"].astype(np.int64)
        rows = self._model.rows
        self.support_rows_ = None if rows is None else GaussianArray._from_core(rows)
        if header["basis"] is not None:
            self.sigma_ = header["basis"]["sigma"]

    def _facts(self) -> list[tuple[str, str]]:
        facts = [("kernel", self.kernel)] if isinstance(self.kernel, str) else []
        if hasattr(self, "sigma_"):
            facts = [("kernel", f"expected RBF, sigma = {self.sigma_:.4g}")]
        if hasattr(self, "support_"):
            counts: Array | None = getattr(self, "n_support_", None)
            classes = "" if counts is None else f" ({', '.join(map(str, counts.tolist()))} of the classes)"
            facts.append(("support", f"{len(self.support_)} support vectors{classes}"))
        return facts

    def _steps(self) -> list[Fitted]:
        """Fitted objects for a model file; an error for other kernels."""
        refuse_if(
            self.kernel != "probabilistic",
            "the model cannot be saved: a model file holds no kernels but the probabilistic one; pickle the "
            'estimator, or fit with kernel="probabilistic"',
            UncertainError,
        )
        return super()._steps()

    def _finished(self, model: Fitted, rows: GaussianArray | None) -> Self:
        """Set attributes of the machine; warn if a solve missed `tol`."""
        self._keep(model)
        if rows is not None:
            self.support_rows_ = rows[self.support_]
        advice = "raise max_iter, lower C, or accept a larger tol"
        warn_unless_converged(self, advice)
        return self


def exact(values: Floats) -> Gaussians:
    """Kernel values as rows for the core."""
    values = np.ascontiguousarray(values)
    return Gaussians(Rows.from_numpy(values, *values.shape))


def _with_distribution(estimator: ProbabilisticKernelSVC) -> bool:
    other = estimator.kernel != "probabilistic" or estimator.n_components is not None
    exact = 'decision_distribution needs the exact kernel="probabilistic"'
    refuse_if(other, exact, AttributeError)
    return True


@documented
@dataclass(eq=False, repr=False)
class ProbabilisticKernelSVC(FeatureMap, ScoreClassifier, KernelMachine):
    """Kernel support vector classifier for rows that are Gaussians.

    The C-SVM with the RBF kernel averaged over the noise of both rows
    (:func:`uncertain.kernels.probabilistic_rbf`):

    .. code-block:: text

        min  1/2 |w|^2 + sum_i C c_i max(0, 1 - y_i (w'phi_i + b)),    w = sum_i y_i a_i phi_i

    with c_i the product of sample and class weight. Several classes are fitted one against one, with names,
    order and signs of scikit-learn's ``SVC`` (``decision_function_shape="ovr"``). ``decision_distribution``
    is exact; of more classes it has one score per pair. Theory: :doc:`/methods/svm`.

    Parameters
    ----------
    C : float or "auto", default=1.0
        Weight of the loss, > 0. "auto": of 13 values between 1e-3 and 1e3 the smallest whose held-out error
        rate (5 folds) is within one standard error of the best; only for the exact "probabilistic" kernel.
    kernel : "probabilistic", "precomputed" or callable, default="probabilistic"
        "precomputed": X is the n x n kernel matrix, later that between new and fitted rows. A callable takes
        two GaussianArrays of n and m rows and returns the n x m matrix.
    {sigma, coupling}
    tol, max_iter : float, default=1e-6, and int, default=-1
        Relative duality gap, and pairs of coefficients (-1: ten million) or with `n_components` iterations
        (500), at which to stop.
    shrinking, cache_size : bool, default=True, and float, default=1024
        Whether coefficients at a bound are left out for a while, and MB for rows of the kernel matrix; the
        result does not depend on them.
    n_components : int or None, default=None
        Frequencies of random features that replace the kernel (:class:`ProbabilisticKernelFeatures`): time
        and memory grow with the rows, not with their square. None: the exact kernel.
    {class_weight, probability}
    random_state : int, RandomState or None, default=None
        Seed of the folds of ``probability``, and of the frequencies.
    {n_jobs, verbose}

    Attributes
    ----------
    support_, support_rows_ : ndarray of shape (m,), and GaussianArray of m rows or None
        Numbers of the support rows, class by class, and the rows.
    n_support_, dual_coef_ : ndarrays of shape (K,) and (K - 1, m)
        Support rows of each class, and y_i a_i in scikit-learn's layout.
    intercept_ : ndarray of shape (K (K - 1) / 2,)
        b of each pair of classes.
    classes_, sigma_ : ndarray of shape (K,), and float
        The labels, sorted, and the bandwidth in use.
    {C_}
    objective_, optimality_gap_ : float, or ndarray of shape (K (K - 1) / 2,)
        Minimum, and certified bound on its relative distance from the true one.
    n_iter_, status_ : int and str, or ndarrays of shape (K (K - 1) / 2,)
        Pairs of coefficients optimised; "converged", "max_iter" or "no_progress".
    coef_, frequencies_, noise_, memory_
        With `n_components`: weights of the features per pair of classes, the features, bytes of the fit.

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

    _kinds = ("kernel-svc", "feature-svc")
    _penalty = "C"

    _: KW_ONLY
    n_components: int | None = None
    class_weight: ClassWeight = None
    probability: bool = False
    random_state: RandomState = None

    def _learn(self, X: RowsLike, y: ArrayLike, sample_weight: RowValues, groups: RowValues) -> None:
        parameters = self._parameters()
        data, rows = self._to_fit(X)
        classes, arguments = class_arguments(self, X, y, sample_weight, groups)
        model = self._fitted(parameters, data, **arguments)
        self.classes_ = classes
        self._finished(model, rows)

    decision_distribution = available_if(_with_distribution)(ScoreClassifier.decision_distribution)

    @property
    def _kind(self) -> str:
        return "kernel-svc" if self.n_components is None else "feature-svc"

    def _core_parameters(self) -> Keywords:
        parameters = super()._core_parameters()
        if self.n_components is None:
            return parameters
        refuse_if(self._tuned, 'C = "auto": must be a number > 0 with n_components')
        other = f"features are those of kernel='probabilistic', and kernel = {self.kernel!r}"
        refuse_if(self.kernel != "probabilistic", f"n_components = {self.n_components!r}: {other}")
        parameters.pop("kernel", None)
        return parameters

    def _attributes(self, arrays: dict[str, Floats], header: Header) -> None:
        for name in ("support_", "support_rows_", "n_support_", "dual_coef_", "coef_", "memory_"):
            self.__dict__.pop(name, None)
        self._forget_map()
        self.intercept_ = arrays["intercept"]
        if self._model.kind == "feature-svc":
            keep_reports(self, header["fits"])
            self._keep_map(arrays, header["sigma"])
            self.coef_, self.memory_ = arrays["coef"], header["memory"]
            return
        super()._attributes(arrays, header)
        self.n_support_ = np.array(header["n_support"], dtype=np.int64)
        self.dual_coef_ = arrays["dual_coef"]


@documented
@dataclass(eq=False, repr=False)
class ProbabilisticKernelSVR(RegressorMixin, KernelMachine):
    """Epsilon support vector regression for rows that are Gaussians.

    .. code-block:: text

        min  1/2 |w|^2 + sum_i C c_i max(0, |t_i - w'phi_i - b| - epsilon)

    Parameters
    ----------
    C : float or "auto", default=1.0
        Weight of the loss, > 0, in units of y. "auto" chooses one of 13 values between 1e-3 and 1e3 times the
        robust scale of y by cross-validation in 5 folds (of whole ``groups``): the smallest whose held-out
        mean loss is within one standard error of the best; see ``path_``. Not with a callable kernel.
    epsilon : float, default=0.1
        Half the width of the tube without loss, >= 0, in units of y.
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
    {C_}
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

    _: KW_ONLY
    epsilon: float = 0.1

    def fit(
        self, X: RowsLike, y: ArrayLike, sample_weight: RowValues = None, *, groups: RowValues = None
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

    def predict(self, X: RowsLike, return_std: bool = False) -> Any:
        """Predicted targets.

        {Parameters: rows_or_kernel}
        return_std : bool, default=False
            Also return the exact standard deviations of the predictions under the noise of each row; only for
            ``kernel="probabilistic"``. They exclude the scatter of targets around the fit.

        Returns
        -------
        ndarray of shape (n,), or two of them
        """
        other = f'kernel = {self.kernel!r} says nothing of a row\'s noise; it needs kernel="probabilistic"'
        refuse_if(return_std and self.kernel != "probabilistic", f"return_std=True: {other}")
        return predicted(self, self._to_predict(X), return_std)

    def _attributes(self, arrays: dict[str, Floats], header: Header) -> None:
        super()._attributes(arrays, header)
        self.dual_coef_ = arrays["dual_coef"][None, :]
        self.intercept_ = arrays["intercept"]
