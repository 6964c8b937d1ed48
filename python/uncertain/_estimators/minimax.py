"""The minimax probability machine."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

from .._base.docs import documented
from .._data.typing import Floats, Header, RandomState
from .linear import LinearClassifier

__all__ = ["MinimaxProbabilityClassifier"]


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
