"""Robust classifiers: SVMs of ellipsoids, and the minimax machine."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from typing import Literal

import numpy as np

from .._base.docs import documented
from .._base.sums import BeyondSums, Need
from .._data.typing import ClassWeight, Floats, Header, RandomState
from .linear import Kernelized, LinearClassifier


@documented
@dataclass(eq=False, repr=False)
class RobustSVC(Kernelized, LinearClassifier):
    """SVMs of uncertain rows: worst case, best case and in between.

    Row i is the ellipsoid x_i + r_i S_i^(1/2) e, ``|e| <= 1``. With d_i = 1 - y_i (w'x_i + b) and the
    standard deviation of the score s_i = sqrt(w'S_i w), the methods minimise

    .. code-block:: text

        "usvc"    1/2 |w|^2 + C sum_i c_i max(0, d_i + r_i s_i)     the worst point of each row
        "tsvc"    1/2 |w|^2 + C sum_i c_i max(0, d_i - r_i s_i)     the best point; not convex
        "psvm"    as "tsvc", with (tr S_i / d) I for S_i
        "ausvc"   as "usvc"; rows on the wrong side lose `shrink` of their radius, until none changes
        "mpsvc"   sum_i c_i p_i,  p_i = 1 / (1 + (m_i / s_i)^2) for m_i = y_i (w'x_i + b) > 0, else 1

    More than two classes are fitted one against the rest. Theory: :doc:`/methods/svm`.

    Parameters
    ----------
    C : float or "auto", default=1.0
        Weight of the losses, > 0. "auto": of 13 values between 1e-3 and 1e3 the smallest whose held-out log
        loss (5 folds) is within one standard error of the best; see ``path_``.
    method : {"usvc", "tsvc", "ausvc", "mpsvc", "psvm"}, default="usvc"
    radius : float, default=1.0
        r in standard deviations, >= 0. Rows N(x_i, r_i^2 S_i) with radius 1 have radii r_i.
    confidence, bound : float or None, default=None, and {"gaussian", "chebyshev"}, default="gaussian"
        Sets the radius to Phi^-1(p), or sqrt(p / (1 - p)): "usvc" then keeps margins with probability p.
    {kernel, gamma, max_rank}
    shrink : float, default=0.1
        Part of its first radius that a row loses in a round of "ausvc" (and of "mpsvc"), in (0, 1].
    theta, theta_factor : {"near", "published"}, default="near", and float > 1, default=10
        Rows whose weights grow in a round of "mpsvc" (right side and nearer than the mean, or y f < 1).
    polish : bool, default=True
        Whether "mpsvc" ends with a descent on its objective.
    tol, max_iter : float, default=1e-6, and int or None, default=None
        Relative duality gap and iterations (None: 500) at which each convex problem stops.
    fit_intercept, class_weight, probability, random_state, n_jobs, verbose, callback
        As in :class:`~uncertain.GSUClassifier`.

    {Attributes: coef_, classes_, kernel_map_, C_}
    radius_, radii_ : float, and ndarray of shape (n,) or (K, n)
        The radius in use and those of the rows at the end ("mpsvc": m_i / s_i; NaN for rows of weight 0).
    history_ : ndarray, or list of K ndarrays
        The objective after each step.
    objective_, optimality_gap_ : float, or ndarray of shape (K,)
        Objective, and certified bound on its relative distance from the minimum ("usvc", "ausvc"; else NaN).
    n_iter_, status_ : int and str, or ndarrays of shape (K,)
        Iterations; "converged", "max_iter" or "no_progress" (rounding prevents more).

    {Raises: refused}

    References
    ----------
    J. Yang, S. Gunn, Iterative Constraints in Support Vector Classification with Uncertain Information, 2007.
    W. Zhang, S. Yu, S.-H. Teng, Power SVM, CVPR 2012.

    Examples
    --------
    >>> from uncertain import GaussianArray, RobustSVC
    >>> X = GaussianArray([[0.0, 0.0], [1.0, 0.2], [3.0, 3.0], [4.0, 3.5]], std=[0.1, 0.5, 0.1, 0.5])
    >>> model = RobustSVC(C=10.0, confidence=0.9).fit(X, ["low", "low", "high", "high"])
    >>> model.predict([[0.5, 0.5], [3.5, 3.0]]).tolist(), bool(model.optimality_gap_ <= 1e-6)
    (['low', 'high'], True)
    """

    _kinds = ("robust",)
    _penalty = "C"
    _advice = "raise max_iter, lower C, or scale the features"

    C: float | Literal["auto"] = 1.0
    _: KW_ONLY
    method: Literal["usvc", "tsvc", "ausvc", "mpsvc", "psvm"] = "usvc"
    radius: float = 1.0
    confidence: float | None = None
    bound: Literal["gaussian", "chebyshev"] = "gaussian"
    shrink: float = 0.1
    theta: Literal["near", "published"] = "near"
    theta_factor: float = 10.0
    polish: bool = True
    tol: float = 1e-6
    max_iter: int | None = None
    fit_intercept: bool = True
    class_weight: ClassWeight = None
    probability: bool = False
    random_state: RandomState = None

    def _beyond_sums(self) -> Iterator[BeyondSums]:
        if self.method != "usvc":
            yield BeyondSums(
                Need.MEMORY, f'method="{self.method}" keeps numbers for every row', 'use method="usvc"'
            )
        yield from super()._beyond_sums()

    def _attributes(self, arrays: dict[str, Floats], header: Header) -> None:
        super()._attributes(arrays, header)
        self.radius_ = header["radius"]
        # A model file has neither radii nor history.
        radii = [arrays[f"radii.{k}"] for k in range(len(self.coef_)) if f"radii.{k}" in arrays]
        history = [arrays[f"history.{k}"] for k in range(len(radii))]
        if radii:
            self.radii_ = radii[0] if len(radii) == 1 else np.stack(radii)
            self.history_ = history[0] if len(radii) == 1 else history


@documented
@dataclass(eq=False, repr=False)
class MinimaxProbabilityClassifier(LinearClassifier):
    """The hyperplane with the best worst-case accuracy, from class moments.

    Even for the worst pair of distributions with the classes' moments, a share kappa^2 / (1 + kappa^2) of
    each class is on its side:

    .. code-block:: text

        1 / kappa = min |S_+^(1/2) w| + |S_-^(1/2) w|    subject to    w'(mu_+ - mu_-) = 1

    The moments of a class of uncertain rows are those of a draw from a random row: its covariance is the
    scatter of the means plus the mean covariance of the rows. No parameter has to be tuned.

    More than two classes are fitted one against the rest.

    Parameters
    ----------
    ridge : float, default=1e-6
        Added to the diagonal of both covariances, in units of their mean variance, >= 0: the exact solution
        if covariances are known only to within this in the Frobenius norm. With zero the solution is not
        unique when there are fewer rows than features.
    tol : float, default=1e-10
        Relative decrease of the minimum at which to stop.
    max_iter : int, default=1000
        Most iterations.
    {probability, seed_of_folds, n_jobs}

    {Attributes: coef_, classes_}
    worst_case_accuracy_ : float, or ndarray of shape (K,)
        kappa^2 / (1 + kappa^2).
    objective_ : float, or ndarray of shape (K,)
        1 / kappa.
    optimality_gap_ : float, or ndarray of shape (K,)
        NaN: not certified.
    n_iter_ : int, or ndarray of shape (K,)
        Iterations done.
    status_ : str, or ndarray of shape (K,)
        "converged" or "max_iter".
    {feature_names_in_}

    {Raises: refused}

    Notes
    -----
    Weights of whole classes would change nothing: only ratios within a class matter.

    References
    ----------
    G. Lanckriet, L. El Ghaoui, C. Bhattacharyya, M. Jordan, A Robust Minimax Approach to Classification,
    JMLR 3, 2002.

    Examples
    --------
    >>> import numpy as np
    >>> from uncertain import GaussianArray, MinimaxProbabilityClassifier
    >>> X = GaussianArray([[-2.0], [-1.0], [1.0], [2.0]], std=0.5)
    >>> model = MinimaxProbabilityClassifier(ridge=0).fit(X, [0, 0, 1, 1])
    >>> round(float(model.worst_case_accuracy_), 6)  # kappa = 3 / (2 sqrt(0.5)), the variances are 0.5
    0.818182
    """

    _kinds = ("minimax",)
    _advice = "raise max_iter or tol"

    _: KW_ONLY
    ridge: float = 1e-6
    tol: float = 1e-10
    max_iter: int = 1000
    probability: bool = False
    random_state: RandomState = None
    n_jobs: int | None = None

    def _attributes(self, arrays: dict[str, Floats], header: Header) -> None:
        super()._attributes(arrays, header)
        accuracy = arrays["worst_case_accuracy"]
        self.worst_case_accuracy_ = accuracy[0] if len(accuracy) == 1 else accuracy

    def _facts(self) -> list[tuple[str, str]]:
        accuracies = self._model.arrays()["worst_case_accuracy"]
        return [("worst case", f"accuracy {', '.join(f'{accuracy:.3f}' for accuracy in accuracies)}")]
