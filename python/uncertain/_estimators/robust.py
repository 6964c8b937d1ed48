"""The uncertainty-SVC family: classifiers for rows that are ellipsoids rather than distributions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from typing import Literal

import numpy as np

from .._base.docs import documented
from .._base.sums import BeyondSums, Need
from .._data.typing import ClassWeight, Floats, Header, RandomState
from .linear import Kernelized, LinearClassifier

__all__ = ["RobustSVC"]


@documented
@dataclass(eq=False, repr=False)
class RobustSVC(Kernelized, LinearClassifier):
    """SVMs of uncertain rows: worst case, best case and in between.

    Row i is the ellipsoid of points x_i + r_i S_i^(1/2) e, ``|e| <= 1``, around the mean of N(x_i, S_i). With
    d_i = 1 - y_i (w'x_i + b) and s_i = sqrt(w'S_i w), the standard deviation of the score:

    .. code-block:: text

        "usvc"    min 1/2 |w|^2 + C sum_i c_i max(0, d_i + r_i s_i)     the whole ellipsoid on its side
        "tsvc"    min 1/2 |w|^2 + C sum_i c_i max(0, d_i - r_i s_i)     its best point; not convex
        "psvm"    "tsvc" with S_i replaced by (tr S_i / d) I            Power SVM
        "ausvc"   "usvc", where rows on the wrong side lose `shrink` of their radius, until none changes
        "mpsvc"   min sum_i c_i p_i,  p_i = 1 / (1 + (m_i / s_i)^2) for m_i = y_i (w'x_i + b) > 0, else 1

    p_i is the largest probability of error that the row's mean and covariance allow. "usvc" is solved to a
    certified duality gap; "tsvc" and "psvm" end where no step of the convex-concave procedure lowers
    the objective; "mpsvc" has local minima. With zero covariances or radius 0, "usvc" is the ordinary SVM.

    More than two classes are fitted one against the rest.

    Parameters
    ----------
    C : float or "auto", default=1.0
        Weight of the losses, > 0; as in scikit-learn's SVC it multiplies a sum over the rows. "auto" chooses
        one of 13 values between 1e-3 and 1e3 by cross-validation in 5 folds (of whole ``groups``): the
        smallest whose held-out log loss (with probabilities as of ``probability=True``) is within one
        standard error of the best, see ``path_``.
    method : {"usvc", "tsvc", "ausvc", "mpsvc", "psvm"}, default="usvc"
        Which problem; see above.
    radius : float, default=1.0
        Radius r of the ellipsoids in standard deviations, >= 0; "ausvc" and "mpsvc" start with it. To give
        each row its own radius r_i, use radius 1 and the rows N(x_i, r_i^2 S_i).
    confidence : float or None, default=None
        Sets the radius instead: with "usvc", margins are kept with at least this probability.
    bound : {"gaussian", "chebyshev"}, default="gaussian"
        What `confidence` means: r = Phi^-1(p) for Gaussian rows (p >= 1/2), or r = sqrt(p / (1 - p)), which
        holds for any distribution with the row's mean and covariance.
    {kernel, gamma, degree, coef0, rank_tol, max_rank}
    shrink : float, default=0.1
        Part of its first radius that a row on the wrong side loses per round of "ausvc" (and of "mpsvc",
        which begins with it), above 0 and at most 1.
    theta : {"near", "published"}, default="near"
        Which rows' weights "mpsvc" changes between the rounds of the paper's algorithm 3. "published": rows
        with y f < 1 are multiplied by `theta_factor`, all others divided. "near": rows on the right side that
        are nearer than the mean are multiplied; rows on the wrong side, which cost 1 wherever they are, are
        divided.
    theta_factor : float, default=10
        Lambda of algorithm 3, > 1.
    polish : bool, default=True
        Whether "mpsvc" ends with a descent on its measure, or is the paper's algorithm 3 alone.
    tol : float, default=1e-6
        Relative duality gap of each convex problem; for "tsvc" and "psvm" also the relative decrease at
        which to stop. Rounds of "ausvc" before the last one, of which only the rows' sides are kept, end at
        100 tol (at most 1e-3).
    max_iter : int, default=None
        Most iterations of each convex problem (None: 500).
    {fit_intercept, class_weight}
    {probability, seed_of_folds, n_jobs}
    {verbose, callback}

    Attributes
    ----------
    coef_ : ndarray of shape (1, d) or (K, d)
        w of each problem: one for two classes, one per class otherwise. For "mpsvc", whose measure does not
        depend on the length of (w, b), the largest s_i is 1.
    {intercept_, classes_, C_, path_}
    radius_ : float
        The radius in use: `radius`, or that of `confidence`.
    radii_ : ndarray of shape (n,) or (K, n)
        The rows' radii at the end: `radius_` unless "ausvc" has lowered them. For "mpsvc" the largest ones
        for which the rows stay on their side, m_i / s_i. NaN for rows of weight 0.
    history_ : ndarray, or list of K ndarrays
        The objective after each step of the method: each round of "ausvc", each step of "tsvc", the best
        measure so far of "mpsvc".
    objective_ : float, or ndarray of shape (K,)
        The problem's objective at the solution.
    optimality_gap_ : float, or ndarray of shape (K,)
        Certified bound on (objective - minimum) / objective; for "ausvc" given the radii, NaN for the
        problems that are not convex.
    n_iter_ : int, or ndarray of shape (K,)
        Iterations of all convex problems together.
    status_ : str, or ndarray of shape (K,)
        "converged", "max_iter" or "no_progress" (rounding prevents more).
    {kernel_map_, n_features_in_, feature_names_in_}

    {Raises: refused}

    Warns
    -----
    ConvergenceWarning
        If a problem ends before its criterion is met.

    References
    ----------
    J. Yang, S. Gunn, Iterative Constraints in Support Vector Classification with Uncertain Information,
    2007.
    J. Bi, T. Zhang, Support vector classification with input data uncertainty, NIPS 2004.
    W. Zhang, S. Yu, S.-H. Teng, Power SVM, CVPR 2012.

    Examples
    --------
    >>> import numpy as np
    >>> from uncertain import GaussianArray, RobustSVC
    >>> means = np.array([[0.0, 0.0], [1.0, 0.2], [3.0, 3.0], [4.0, 3.5]])
    >>> X = GaussianArray(means, std=[0.1, 0.5, 0.1, 0.5])
    >>> model = RobustSVC(C=10.0, confidence=0.9).fit(X, ["low", "low", "high", "high"])
    >>> model.predict([[0.5, 0.5], [3.5, 3.0]]).tolist()
    ['low', 'high']
    >>> bool(model.optimality_gap_ <= 1e-6)
    True
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
                Need.MEMORY,
                f'method="{self.method}" keeps numbers of its own for every row',
                'use method="usvc"',
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
