"""`AdaptiveHuberRegressor`."""

from __future__ import annotations

from typing import Literal, Self, overload

from numpy.typing import ArrayLike
from sklearn.base import RegressorMixin

from .._base.classifiers import predicted
from .._base.docs import documented
from .._data.typing import Floats
from .._data.validation import RowsLike, check_sample_weight
from ._machine import AdaptiveHuber
from ._targets import partial_targets


@documented
class AdaptiveHuberRegressor(RegressorMixin, AdaptiveHuber):
    """Kernel regression that drops labels inconsistent with the fit, and learns from rows without labels.

    .. code-block:: text

        J = 1/W sum_i s_i H_xi(y_i - b - f(x_i))
            + alpha sum_a w^a' K^a w^a + manifold_alpha sum_a f^a' M^a f^a

        f = sum_a c^a f^a,   f^a = K^a w^a,   H_xi(r) = r^2 / 2 if |r| <= xi else xi |r| - xi^2 / 2

    The first sum is over the labelled rows (s_i: weights, W: their sum), K^a the kernel matrix of view a on
    all rows, M^a the Laplacian of a graph on them. One factorisation per view reduces J exactly to a
    box-constrained quadratic program of the labelled rows.

    **Refinements.** xi starts as the largest residual of the squared-loss fit. A refinement solves at ``xi -
    delta``, drops the labels with residuals of at least that size, fits the others with squared loss, and
    takes their largest residual for xi. If that is no smaller than before, it tries ``xi - 2 delta`` and so
    on. Dropping is a hard decision: with few or no wrong labels it drops the rarest correct ones, and it
    needs a majority of correct labels.

    Parameters
    ----------
    alpha : float, default=1e-4
        Strength of the penalty on w, > 0; lambda in the paper.
    manifold_alpha : float, default=1e-5
        Strength of the penalty by the graphs, >= 0; gamma in the paper.
    delta : float, default=0.01
        By how much a refinement lowers the threshold, > 0, in units of y.
    max_refinements : int, default=3
        Refinements at most; 0 keeps all labels.
    threshold : float, default=None
        The first threshold xi, > 0; with ``max_refinements=0`` a fixed one. None: as above (without
        refinements the squared loss).
    kernel : str or list of str, default="rbf"
        "rbf" (of rows with error bars its expectation; "probabilistic" is another name for it), "linear",
        "quadratic" (x'z)^2, "polynomial" (gamma x'z + coef0)^degree, or "precomputed" (X is the kernel
        matrix); one for all views or one each. Rows with error bars take "rbf", or "linear", which sees the
        means.
    gamma : float or list, default=None
        Scale of the kernel, if it has one. None: 1 / (2 m^2) with the median distance m of the distinct rows.
    degree, coef0 : int, default=3, and float, default=1
        Of the polynomial kernel.
    {coupling}
    views : list of column groups, default=None
        Each group (numbers, names or a slice) is a view with its own kernel and graph. None: one view of all.
    view_weights : list of float, default=None
        c^a, > 0; None: 1 / number of views each.
    between_alpha : float, default=0
        Strength of the penalty ``sum_{a<b} |f^a - f^b|^2`` on differences between views, >= 0. It couples the
        views: one factorisation of the size of all of them together.
    graph : "knn", "rbf", None, a matrix, or a list of these, default="knn"
        Rows are joined to their nearest (either one's; ties at the last distance all count), or all to all,
        with weights ``exp(-graph_gamma distance^2)``; or by given symmetric n x n weights, dense or sparse.
        Identical rows count as one. Distances include error bars.
    n_neighbors : int, default=10
        Of the "knn" graph.
    graph_gamma : float, default=None
        None: 1 / (2 m^2), m the median length of the edges.
    laplacian : {"normalized", "unnormalized", None}, default="normalized"
        M is ``I - D^(-1/2) W D^(-1/2)`` or ``D - W``; with None the matrix given as `graph` is M itself.
    fit_intercept : bool, default=False
        Whether the targets are centred by b, the weighted mean of the labels in use; b moves with the labels
        that are dropped. It is not part of the minimisation.
    scale_features : bool or None, default=None
        Whether every view sees ``x_j / s_j`` in place of ``x_j`` (kernel and graph; for "linear" the penalty
        is then ``alpha sum_j s_j^2 beta_j^2`` of ``f = beta'x``), s_j the standard deviation of the feature's
        means over the distinct rows; no origin is moved. None: where the answer would depend on units that
        nobody chose. "linear" and "quadratic" divide if a spread is below 0.1 or above 10, and warn, for
        features of a kernel map want False; kernels with ``gamma=None`` divide if spreads differ by more than
        a factor of 4. So rows behind a scaler keep the formula above, and so do views with a `gamma` or a
        `graph_gamma`, which are in units of the features.
    max_bytes : int, default=None
        Memory a fit may take; a larger one is refused. None: half of what is available.
    {n_jobs}
    verbose : int, default=0
        Print a line per refinement.
    callback : callable, default=None
        Called with a ``Progress(task, iteration, objective, gap)`` per refinement; an exception ends the fit.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (m, n)
        w of each view on the rows of the fit.
    intercept_ : float
        b.
    threshold_ : float
        The last threshold: no residual of a label in use is larger, unless a `threshold` was fixed.
    thresholds_ : ndarray
        All thresholds, strictly decreasing.
    removed_ : ndarray of int
        Numbers of the rows whose labels were dropped, in the order of the refinements.
    removed_residuals_ : ndarray
        Their residuals when they were dropped.
    history_ : list of Refinement
        One entry per refinement.
    n_refinements_ : int
        Refinements done.
    n_labels_ : int
        Labelled rows of positive weight.
    objective_ : float
        J at the last threshold, on the labels in use.
    n_iter_ : int
        Newton steps in all.
    status_ : str
        "refinements_done", "threshold_zero" (the next threshold would not be positive) or "no_label_left" (it
        would leave fewer than half of the labels).
    gamma_ : list
        Scale of each view's kernel.
    scales_ : list
        What each view divides its features by, an ndarray; None where it takes them as they are.
    X_fit_ : GaussianArray, or None
        The rows of the fit; None with a precomputed kernel.
    {n_features_in_}

    {Raises: refused}

    Examples
    --------
    >>> import numpy as np
    >>> from uncertain import AdaptiveHuberRegressor
    >>> x = np.linspace(0.0, 4.0, 41)
    >>> y = np.sin(x)
    >>> y[7] += 5.0       # a wrong label
    >>> y[20] = np.nan    # no label
    >>> model = AdaptiveHuberRegressor(delta=1.0, max_refinements=1).fit(x[:, None], y)
    >>> int(model.removed_[0])
    7
    >>> bool(abs(model.predict([[2.0]])[0] - np.sin(2.0)) < 0.05)
    True
    """

    _kinds = ("huber",)

    def fit(
        self,
        X: RowsLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Fit to Gaussians, to exact points, or to a kernel matrix.

        Parameters
        ----------
        X : GaussianArray of n rows, or array-like of shape (n, d) or (n, n)
            Labelled and unlabelled rows; the kernel matrix for ``kernel="precomputed"``.
        y : array-like of shape (n,)
            Targets; NaN (or None) for rows without a label.
        sample_weight : array-like of shape (n,), default=None
            Weights >= 0 of the labels; rows of weight 0 are ignored.
        {no_groups}

        {Returns: self}
        """
        rows = self._rows(X, reset=True)
        targets = partial_targets(y, X, self)
        return self._fit(rows, targets[None, :], 0, check_sample_weight(sample_weight, rows.n_rows))

    @overload
    def predict(self, X: RowsLike, return_std: Literal[False] = False) -> Floats: ...
    @overload
    def predict(self, X: RowsLike, return_std: Literal[True]) -> tuple[Floats, Floats]: ...
    def predict(self, X: RowsLike, return_std: bool = False) -> Floats | tuple[Floats, Floats]:
        """b + f at new rows.

        {Parameters: rows_or_kernel}
        return_std : bool, default=False
            Whether to return the standard deviations of the predictions under each row's own noise, too.
            They are exact, as in :meth:`AdaptiveHuberClassifier.decision_distribution`, and say nothing about
            how well f is known.

        Returns
        -------
        ndarray of shape (q,), or two of them
        """
        return predicted(self, self._to_predict(X), return_std)
