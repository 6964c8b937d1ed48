"""Support vector machines for rows that are Gaussians."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.metaestimators import available_if

from ._base.docs import documented
from ._base.progress import Callback
from ._base.sums import BeyondSums, Need
from ._data.typing import ClassWeight, RandomState
from ._data.validation import RowsLike, check_gaussians, check_targets, check_weights, codes_among
from ._linear.classifier import LinearClassifier
from ._linear.kernelized import Kernelized
from .exceptions import ParameterError, UncertainError
from .preprocessing._kernel_map import Kernel

__all__ = ["GSUClassifier"]


def _in_batches(estimator: GSUClassifier) -> bool:
    if estimator.kernel != "linear":
        raise AttributeError(
            f"kernel = {estimator.kernel!r}: partial_fit cannot choose a feature space for rows to come; "
            "fit a KernelMap to a sample and give its rows to a linear GSUClassifier"
        )
    if estimator.probability:
        raise AttributeError(
            "partial_fit sees one batch at a time and cannot cross-validate: use fit, or probability=False"
        )
    return True


@documented
class GSUClassifier(Kernelized, LinearClassifier):
    """SVM, linear or with a kernel, with Gaussian sample uncertainty (SVM-GSU).

    Row i is a Gaussian N(x_i, S_i) with label y_i in {-1, +1} and weight c_i (sum c_i = n). The hinge loss is
    averaged over the row's own Gaussian, in closed form:

    .. code-block:: text

        J(w, b) = alpha / 2 ||w||^2 + (1 / n) sum_i c_i (d_i Phi(d_i / s_i) + s_i phi(d_i / s_i))

        d_i = 1 - y_i (w'x_i + b)        margin deficit of the mean
        s_i = sqrt(w'S_i w)              standard deviation of the score

    With zero covariances it is the ordinary linear SVM with C = 1 / (alpha n). J is convex, and every fit has
    a certificate: J(w, b) is at most ``optimality_gap_`` (relative) above the minimum.

    More than two classes are fitted one against the rest.

    Parameters
    ----------
    alpha : float or "auto", default=1e-3
        Strength of the penalty, > 0; called lambda in the paper. "auto" chooses one of 13 values between 1
        and 1e-6 by cross-validation in 5 folds (of whole ``groups``): the strongest whose held-out log loss,
        with probabilities as of ``probability=True``, is within one standard error of the best (with fewer
        than 300 rows the best); see ``path_``. All classes have the same. `random_state` has no influence.
    loss : {"expected_hinge", "hinge", "squared_hinge"}, default="expected_hinge"
        The loss of a row. "expected_hinge" is the one above. "hinge" is max(0, d_i), of the mean alone: the
        ordinary SVM, which ignores the error bars. "squared_hinge" is the mean of the squared hinge over the
        row's Gaussian, (d_i^2 + s_i^2) Phi(d_i / s_i) + d_i s_i phi(d_i / s_i): rows far on the wrong side,
        and rows with long error bars, count more.
    {kernel, gamma, degree, coef0, max_rank, rank_tol}
    solver : {"auto", "newton", "lbfgs", "sgd"}, default="auto"
        "newton" is a trust-region Newton method for up to 300 features (above, "lbfgs" takes its place),
        "lbfgs" a quasi-Newton one; both stop on the certified gap. "sgd" is the paper's stochastic
        subgradient method, whose cost per step does not depend on the number of rows; it always does
        `max_iter` steps. "auto" chooses one that stops on the gap.
    tol : float, default=1e-6
        Relative duality gap at which "newton" and "lbfgs" stop.
    max_iter : int, default=None
        Most iterations ("newton", "lbfgs": 500; 5000 above 300 features) or steps ("sgd": 20,000).
    batch_size : int, default=64
        Rows per step of "sgd".
    averaging : bool, default=True
        Whether "sgd" returns the mean of the last half of its iterates.
    projection : bool, default=True
        Whether "sgd" keeps w in the ball ||w|| <= 1 / sqrt(alpha), which holds the minimum.
    step_offset : float, default=None
        Step t of "sgd" is 1 / (alpha (t + step_offset)) long, >= 0. None: 1 / alpha, so that the first step
        has length one. ``step_offset=0, averaging=False`` are the paper's algorithm 1, whose first steps are
        1 / alpha long and move b far away. (The paper also divides by ``batch_size`` once too often; this is
        corrected here.)
    {fit_intercept, class_weight}
    {probability}
    random_state : int, RandomState or None, default=None
        Seed of "sgd" and of the folds of ``probability``.
    {n_jobs}
    {verbose, callback}

    {Attributes: coef_, intercept_, kernel_map_, classes_, alpha_, path_}
    objective_ : float, or ndarray of shape (K,)
        J(w, b).
    optimality_gap_ : float, or ndarray of shape (K,)
        Certified bound on (J(w, b) - min J) / J(w, b).
    n_iter_ : int, or ndarray of shape (K,)
        Iterations or steps done.
    status_ : str, or ndarray of shape (K,)
        "converged", "max_iter", "no_progress" (rounding prevents more), or "steps_done" ("sgd").
    {n_features_in_, feature_names_in_}

    {Raises: refused}

    Warns
    -----
    ConvergenceWarning
        If "newton" or "lbfgs" end before the gap is below `tol`.

    {References: gsu_paper}

    Examples
    --------
    >>> import numpy as np
    >>> from uncertain import GaussianArray
    >>> from uncertain.svm import GSUClassifier
    >>> means = np.array([[0.0, 0.0], [1.0, 0.2], [3.0, 3.0], [4.0, 3.5]])
    >>> X = GaussianArray(means, std=[0.1, 0.5, 0.1, 0.5])
    >>> model = GSUClassifier(alpha=0.01).fit(X, ["low", "low", "high", "high"])
    >>> model.predict([[0.5, 0.5], [3.5, 3.0]]).tolist()
    ['low', 'high']
    >>> bool(model.optimality_gap_ <= 1e-6)
    True
    """

    _kinds = ("gsu",)
    _penalty = "alpha"
    _advice = "raise max_iter or alpha, or scale the features"

    def __init__(
        self,
        alpha: float | Literal["auto"] = 1e-3,
        *,
        loss: Literal["expected_hinge", "hinge", "squared_hinge"] = "expected_hinge",
        kernel: Kernel = "linear",
        gamma: float | Literal["median"] = "median",
        degree: int = 3,
        coef0: float = 1.0,
        max_rank: int | None = 300,
        rank_tol: float = 1e-6,
        solver: Literal["auto", "newton", "lbfgs", "sgd"] = "auto",
        tol: float = 1e-6,
        max_iter: int | None = None,
        batch_size: int = 64,
        averaging: bool = True,
        projection: bool = True,
        step_offset: float | None = None,
        fit_intercept: bool = True,
        class_weight: ClassWeight = None,
        probability: bool = False,
        random_state: RandomState = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Callback = None,
    ) -> None:
        self.alpha = alpha
        self.loss = loss
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.max_rank = max_rank
        self.rank_tol = rank_tol
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.batch_size = batch_size
        self.averaging = averaging
        self.projection = projection
        self.step_offset = step_offset
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.probability = probability
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback

    def _beyond_sums(self) -> Iterator[BeyondSums]:
        yield from super()._beyond_sums()
        if self.solver == "sgd":
            yield BeyondSums(
                Need.IN_PLACE, 'solver="sgd" goes through the rows in an order', 'use solver="auto"'
            )

    @available_if(_in_batches)  # type: ignore[untyped-decorator]
    def partial_fit(
        self,
        X: RowsLike,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """One pass of stochastic subgradient steps over these rows, starting from the present model.

        {Parameters: X}
        y : array-like of shape (n,)
            Labels; not every class needs to be among them.
        classes : array-like of shape (K,), default=None
            All labels of this and later calls; required in the first call, and the same or None later.
        {sample_weight}

        {Returns: self}
        """
        if self.class_weight == "balanced":
            raise ParameterError(
                "class_weight = 'balanced': partial_fit does not know the rows to come; "
                "pass the weights as a dictionary or as sample_weight"
            )
        parameters = self._parameters(solver="sgd")
        model = getattr(self, "_model", None)
        data = check_gaussians(self, X, reset=model is None)
        labels = check_targets(y, X, self)
        self._set_classes(classes, first=model is None)
        codes = codes_among(labels, self.classes_)
        weights = check_weights(sample_weight, self.class_weight, classes=self.classes_, codes=codes)
        arguments = {"codes": codes, "n_classes": len(self.classes_), "weights": weights}
        self.kernel_map_ = None
        return self._keep(self._fitted(parameters, data, online=True, before=model, **arguments))

    def _set_classes(self, classes: ArrayLike | None, *, first: bool) -> None:
        if classes is None:
            if first:
                raise ParameterError("classes = None: the first call of partial_fit needs all labels to come")
            return
        labels = np.unique(np.asarray(classes))
        if first:
            if len(labels) < 2:
                raise UncertainError(f"classes = {labels.tolist()}: a classifier needs at least two classes")
            self.classes_ = labels
        elif not np.array_equal(labels, self.classes_):
            raise ParameterError(
                f"classes = {labels.tolist()}: the first call of partial_fit had {self.classes_.tolist()}"
            )
