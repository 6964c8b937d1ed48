"""`ProbabilisticKernelSVC`."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.metaestimators import available_if

from .._base.classifiers import ScoreClassifier, class_arguments
from .._base.convergence import keep_reports
from .._base.docs import documented
from .._base.progress import Callback
from .._data.typing import ClassWeight, Floats, Header, Keywords, RandomState
from .._data.validation import RowsLike
from ..exceptions import ParameterError
from ..kernel_features import FeatureMap
from ._machine import Kernel, KernelMachine


def _with_distribution(estimator: ProbabilisticKernelSVC) -> bool:
    if estimator.kernel != "probabilistic" or estimator.n_components is not None:
        raise AttributeError('decision_distribution knows the noise of the exact kernel="probabilistic" only')
    return True


@documented
class ProbabilisticKernelSVC(FeatureMap, ScoreClassifier, KernelMachine):
    """Kernel support vector classifier for rows that are Gaussians.

    The kernel between two rows is the RBF kernel averaged over their noise
    (:func:`uncertain.kernels.probabilistic_rbf`); the classifier is the C-SVM:

    .. code-block:: text

        min  1/2 |w|^2 + sum_i C c_i max(0, 1 - y_i (w'phi_i + b)),    w = sum_i y_i a_i phi_i

    where c_i is the product of sample and class weight. The error bars of new rows count, too: a row with
    large errors is less similar to any support row. Several classes are fitted one against one. Names, order
    and signs are those of scikit-learn's ``SVC`` with ``decision_function_shape="ovr"``: for more than two
    classes the score of a class is the number of pairs that it wins, plus less than 1/3 for how clearly it
    wins them; ``predict`` gives the class with the largest score.

    With ``n_components`` the kernel is replaced by inner products of features
    (:class:`uncertain.ProbabilisticKernelFeatures`): time and memory then grow with the number of rows, not
    with its square. The features are computed in every pass over the rows and never held.

    Parameters
    ----------
    C : float or "auto", default=1.0
        Weight of the loss, > 0; 1 / (2 n lambda) in the paper. "auto" chooses one of 13 values between 1e-3
        and 1e3 by cross-validation in 5 folds (of whole ``groups``): the smallest whose held-out error rate
        is within one standard error of the best; see ``path_``. Not with `n_components` or a kernel of your
        own.
    kernel : "probabilistic", "precomputed" or callable, default="probabilistic"
        "precomputed": X is the n x n kernel matrix in ``fit``, and the kernel between new and fitted rows
        later.
        A callable takes two GaussianArrays of n and m rows and returns the n x m matrix.
    {sigma, coupling}
    tol : float, default=1e-6
        Certified relative duality gap at which the solver stops.
    max_iter : int, default=-1
        Most pairs of coefficients optimised; -1 is ten million. With `n_components`: most iterations, 500.
    shrinking : bool, default=True
        Whether coefficients that stay at a bound are left out for a while.
    cache_size : float, default=1024
        MB for the kernel matrix. Where it takes more, its rows are computed when they are needed and those
        used last are kept. Copies of parts of it may take as much memory again. The result does not depend on
        it.
    n_components : int or None, default=None
        None is the exact kernel. Otherwise the number of frequencies of random features (each a cosine and a
        sine), or the largest number of landmark rows of Nystroem. Up to 2000 frequencies; more are slow.
    approximation : {"random", "nystroem"}, default="random"
        Which features, with `n_components`.
    {class_weight}
    probability : bool, default=False
        Whether to fit sigmoids on cross-validated scores, which ``predict_proba`` needs.
    random_state : int, RandomState or None, default=None
        Seed of the folds of ``probability``, and of frequencies or landmarks.
    {n_jobs}
    {verbose, callback}

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
    {classes_}
    sigma_ : float
        The bandwidth used.
    {C_, path_}
    objective_ : float, or ndarray of shape (K (K - 1) / 2,)
        The minimum found.
    optimality_gap_ : float, or ndarray of shape (K (K - 1) / 2,)
        Certified bound on its relative distance from the true minimum.
    n_iter_, status_ : int and str, or ndarrays of shape (K (K - 1) / 2,)
        Pairs of coefficients optimised, and how that ended: "converged", "max_iter" or "no_progress".
    {n_features_in_}
    coef_ : ndarray of shape (K (K - 1) / 2, D)
        With `n_components`, instead of support rows and `dual_coef_`: weights of the features.
    frequencies_, noise_, landmarks_, basis_
        With `n_components`: as in :class:`uncertain.ProbabilisticKernelFeatures`.
    memory_ : int
        With `n_components`: bytes that the fit took beside the rows, at most.

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

    def __init__(
        self,
        C: float | Literal["auto"] = 1.0,
        *,
        kernel: str | Kernel = "probabilistic",
        sigma: float | Literal["median"] = 1.0,
        coupling: Literal["shared", "independent"] = "shared",
        tol: float = 1e-6,
        max_iter: int = -1,
        shrinking: bool = True,
        cache_size: float = 1024,
        n_components: int | None = None,
        approximation: Literal["random", "nystroem"] = "random",
        class_weight: ClassWeight = None,
        probability: bool = False,
        random_state: RandomState = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Callback = None,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.sigma = sigma
        self.coupling = coupling
        self.tol = tol
        self.max_iter = max_iter
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.n_components = n_components
        self.approximation = approximation
        self.class_weight = class_weight
        self.probability = probability
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback

    def _learn(
        self, X: RowsLike, y: ArrayLike, sample_weight: ArrayLike | None, groups: ArrayLike | None
    ) -> None:
        parameters = self._parameters()
        data, rows = self._to_fit(X)
        classes, arguments = class_arguments(self, X, y, sample_weight, groups)
        model = self._fitted(parameters, data, **arguments)
        self.classes_ = classes
        self._finished(model, rows)

    @available_if(_with_distribution)  # type: ignore[untyped-decorator]
    def decision_distribution(self, X: RowsLike) -> tuple[Floats, Floats]:
        """Mean and standard deviation of the score under each row's own noise, exactly.

        The kernel is a mean over noise, and so is the score. With ``coupling="independent"`` it is the mean
        of f(x) over x ~ N(x_i, S_i), where f is the score of an exact point; with ``"shared"`` one draw moves
        all rows together, also the support rows, so that rows with the same covariance keep their distance.
        The work is quadratic in the number of support rows.

        {Parameters: X}

        Returns
        -------
        mean, std : ndarrays of shape (n,), or (n, K (K - 1) / 2) for more than two classes
            Of two classes the mean is :meth:`decision_function`; of more there is one score per pair of
            classes, in the order of ``intercept_``, positive for the first of them.
        """
        return super().decision_distribution(X)

    @property
    def _kind(self) -> str:
        return "kernel-svc" if self.n_components is None else "feature-svc"

    def _core_parameters(self) -> Keywords:
        parameters = super()._core_parameters()
        if self.n_components is None:
            return parameters
        if self._tuned:
            raise ParameterError('C = "auto": must be a number > 0 with n_components')
        if self.kernel != "probabilistic":
            raise ParameterError(
                f"n_components = {self.n_components!r}: features are those of kernel='probabilistic', "
                f"and kernel = {self.kernel!r}"
            )
        parameters.pop("kernel", None)
        return parameters

    def _attributes(self, arrays: dict[str, Floats], header: Header) -> None:
        for name in ("support_", "support_rows_", "n_support_", "dual_coef_", "coef_", "memory_"):
            self.__dict__.pop(name, None)
        self._forget_map()
        self.intercept_ = arrays["intercept"]
        if self._model.kind == "feature-svc":
            keep_reports(self, header["fits"])
            self._keep_map(self._model, arrays, header["sigma"])
            self.coef_, self.memory_ = arrays["coef"], header["memory"]
            return
        super()._attributes(arrays, header)
        self.n_support_ = np.array(header["n_support"], dtype=np.int64)
        self.dual_coef_ = arrays["dual_coef"]
