"""Adaptive Huber regression: robust, semi-supervised, multi-view, and open about the labels it drops."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import check_array, check_consistent_length, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from uncertain._array import GaussianArray
from uncertain._progress import Progress, reporter
from uncertain._uncertain import Gaussians, HuberView, Rows, apply_huber, fit_huber
from uncertain._validation import check_gaussians
from uncertain.exceptions import NotFiniteError, ParameterError, UncertainError

__all__ = ["AdaptiveHuberClassifier", "AdaptiveHuberRegressor", "Refinement"]

Floats: TypeAlias = NDArray[np.float64]
Kernel: TypeAlias = Literal["rbf", "linear", "quadratic", "polynomial", "probabilistic", "precomputed"]


class Refinement(NamedTuple):
    """One refinement, an element of ``history_``.

    Attributes
    ----------
    tried : float
        The threshold at which labels were dropped.
    threshold : float
        The largest residual of the refit to the others, the new threshold.
    n_labels, n_dropped : int
        Labels left, and dropped by this refinement.
    objective : float
        J on the labels left.
    n_steps : int
        Newton steps of the quadratic programs.
    n_attempts : int
        Thresholds tried until the new one was below the last one.
    """

    tried: float
    threshold: float
    n_labels: int
    n_dropped: int
    objective: float
    n_steps: int
    n_attempts: int


class _AdaptiveHuber(BaseEstimator):
    """What regressor and classifier share: views, kernels, graphs."""

    def __init__(
        self,
        alpha: float = 1e-4,
        manifold_alpha: float = 1e-5,
        *,
        delta: float = 0.01,
        max_refinements: int = 3,
        threshold: float | None = None,
        kernel: Kernel | Sequence[Kernel] = "rbf",
        gamma: float | Sequence[float | None] | None = None,
        degree: int = 3,
        coef0: float = 1.0,
        coupling: Literal["shared", "independent"] = "shared",
        views: Sequence[Any] | None = None,
        view_weights: Sequence[float] | None = None,
        between_alpha: float = 0.0,
        graph: Any = "knn",
        n_neighbors: int = 10,
        graph_gamma: float | None = None,
        laplacian: Literal["normalized", "unnormalized"] | None = "normalized",
        fit_intercept: bool = False,
        max_bytes: int | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Callable[[Progress], Any] | None = None,
    ) -> None:
        self.alpha = alpha
        self.manifold_alpha = manifold_alpha
        self.delta = delta
        self.max_refinements = max_refinements
        self.threshold = threshold
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.coupling = coupling
        self.views = views
        self.view_weights = view_weights
        self.between_alpha = between_alpha
        self.graph = graph
        self.n_neighbors = n_neighbors
        self.graph_gamma = graph_gamma
        self.laplacian = laplacian
        self.fit_intercept = fit_intercept
        self.max_bytes = max_bytes
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags

    def _rows(self, X: Any) -> Gaussians:
        """The rows to fit; for a precomputed kernel those of its matrix."""
        if self.kernel != "precomputed":
            return check_gaussians(self, X, reset=True)
        gram = validate_data(self, X, reset=True, dtype=np.float64, order="C")
        if gram.shape[0] != gram.shape[1]:
            raise ValueError(f"Precomputed matrix must be a square matrix. Input is a {gram.shape} matrix.")
        return Gaussians(Rows.from_numpy(gram, *gram.shape))

    def _fit(self, rows: Gaussians, targets: Floats, weights: Floats | None) -> list[dict[str, Any]]:
        """Fit all outputs; the attributes of each. Sets those that they share."""
        columns = self._columns(rows.n_features)
        kernels = _per_view("kernel", self.kernel, len(columns))
        gammas = _per_view("gamma", self.gamma, len(columns))
        graphs = _per_view("graph", self.graph, len(columns))
        weight = [1.0 / len(columns)] * len(columns) if self.view_weights is None else list(self.view_weights)
        if len(weight) != len(columns):
            raise ParameterError(
                f"view_weights = {self.view_weights!r}: must be one for each of the {len(columns)} views"
            )
        specs = list(zip(columns, kernels, weight, strict=True))
        found_gammas, coef, outputs, self.n_labels_ = fit_huber(
            rows,
            targets,
            weights,
            [
                self._view(spec, gamma, graph)
                for spec, gamma, graph in zip(specs, gammas, graphs, strict=True)
            ],
            alpha=self.alpha,
            manifold_alpha=self.manifold_alpha,
            between_alpha=self.between_alpha,
            delta=self.delta,
            max_refinements=self.max_refinements,
            threshold=self.threshold,
            fit_intercept=bool(self.fit_intercept),
            normalized=self.laplacian != "unnormalized",
            max_bytes=self.max_bytes,
            n_jobs=self.n_jobs,
            report=reporter(type(self).__name__, self.verbose, self.callback),
        )
        self._specs = specs
        self.gamma_ = found_gammas
        self.X_fit_ = None if self.kernel == "precomputed" else GaussianArray._from_core(rows)
        self._coef = coef
        keys = ("intercept", "thresholds", "removed", "residuals", "history", "objective", "steps", "status")
        told: list[dict[str, Any]] = [dict(zip(keys, output, strict=True)) for output in outputs]
        for output in told:
            output["history"] = [Refinement(*step) for step in output["history"]]
        self._intercepts = [output["intercept"] for output in told]
        return told

    def _columns(self, d: int) -> list[list[int] | None]:
        """The features of each view as numbers."""
        if self.views is None:
            return [None]
        names = {name: k for k, name in enumerate(getattr(self, "feature_names_in_", ()))}
        groups: list[list[int] | None] = []
        for view in self.views:
            group = range(*view.indices(d)) if isinstance(view, slice) else view
            group = [group] if isinstance(group, (int, np.integer, str)) else list(group)
            unknown = [c for c in group if isinstance(c, str) and c not in names]
            if unknown:
                raise ParameterError(f"views: there is no column {unknown[0]!r}")
            numbers = [names[c] if isinstance(c, str) else int(c) for c in group]
            outside = [c for c in numbers if not -d <= c < d]
            if outside or not numbers:
                raise ParameterError(f"views = {self.views!r}: every view needs columns, from 0 to {d - 1}")
            groups.append([c % d for c in numbers])
        if not groups:
            raise ParameterError("views = []: must be None or at least one group of columns")
        return groups

    def _view(self, spec: tuple[Any, Any, float], gamma: float | None, graph: Any) -> HuberView:
        columns, kernel, weight = spec
        matrix: dict[str, Any] = {}
        if self.laplacian not in ("normalized", "unnormalized", None):
            raise ParameterError(
                f'laplacian = {self.laplacian!r}: must be "normalized", "unnormalized" or None '
                "(the graph is M itself)"
            )
        if graph is None:
            name = "none"
        elif isinstance(graph, str):
            name = graph
            if graph not in ("knn", "rbf"):
                raise ParameterError(f'graph = {graph!r}: must be "knn", "rbf", None or a matrix')
            if self.laplacian is None:
                raise ParameterError("laplacian = None: the graph must then be the matrix M itself")
        else:
            name = "regularizer" if self.laplacian is None else "weights"
            matrix = _matrix(graph)
        return HuberView(
            columns=columns,
            kernel=kernel,
            gamma=gamma,
            degree=self.degree,
            coef0=self.coef0,
            coupling=self.coupling,
            weight=weight,
            graph=name,
            n_neighbors=self.n_neighbors,
            graph_gamma=self.graph_gamma,
            **matrix,
        )

    def _predict(self, X: Any) -> Floats:
        """Fitted functions at new rows, (n, outputs)."""
        check_is_fitted(self, "dual_coef_")
        if self.X_fit_ is None:
            kernel = validate_data(self, X, reset=False, dtype=np.float64, order="C")
            new = Gaussians(Rows.from_numpy(kernel, *kernel.shape))
            n = self._coef[0].shape[0]
            rows = Gaussians(Rows.from_numpy(np.zeros((n, 1)), n, 1))
        else:
            new, rows = check_gaussians(self, X, reset=False), self.X_fit_._core
        views = [self._view(spec, gamma, None) for spec, gamma in zip(self._specs, self.gamma_, strict=True)]
        return apply_huber(new, rows, views, self._coef, self._intercepts, n_jobs=self.n_jobs)


def _per_view(name: str, value: Any, count: int) -> list[Any]:
    """One value per view: a list of them, or one for all."""
    if not isinstance(value, (list, tuple)):
        return [value] * count
    if len(value) != count:
        raise ParameterError(f"{name} = {value!r}: must be one value, or one for each of the {count} views")
    return list(value)


def _matrix(graph: Any) -> dict[str, Any]:
    """A graph given as a matrix, for the extension."""
    if hasattr(graph, "tocsr"):
        csr = graph.tocsr()
        if csr.shape[0] != csr.shape[1]:
            raise ParameterError(f"graph: must be a square matrix, got shape {csr.shape}")
        starts, indices = (np.asarray(a, dtype=np.int64) for a in (csr.indptr, csr.indices))
        return {"sparse": (starts, indices, np.asarray(csr.data, dtype=np.float64))}
    dense = np.ascontiguousarray(graph, dtype=np.float64)
    if dense.ndim != 2 or dense.shape[0] != dense.shape[1]:
        raise ParameterError(f"graph: must be a square matrix, got shape {dense.shape}")
    return {"dense": dense}


def _weights(sample_weight: ArrayLike | None, n_rows: int) -> Floats | None:
    if sample_weight is None:
        return None
    weights: Floats = _check_sample_weight(
        sample_weight, np.empty((n_rows, 1)), dtype=np.float64, ensure_non_negative=True
    )
    return weights


class AdaptiveHuberRegressor(RegressorMixin, _AdaptiveHuber):
    """Kernel regression that drops the labels it cannot believe, and learns from rows without labels.

    .. code-block:: text

        J = 1/W sum_i s_i H_xi(y_i - b - f(x_i))
            + alpha sum_a w^a' K^a w^a + manifold_alpha sum_a f^a' M^a f^a

        f = sum_a c^a f^a,   f^a = K^a w^a,   H_xi(r) = r^2 / 2 if |r| <= xi else xi |r| - xi^2 / 2

    The first sum is over the labelled rows (s_i: weights, W: their sum), K^a the kernel matrix of view a on
    all rows, M^a the Laplacian of a graph on them. One factorisation per view reduces J exactly to a
    box-constrained quadratic program of the labelled rows.

    **Refinements.** xi starts as the largest residual of the squared-loss fit. A refinement solves at
    ``xi - delta``, drops the labels with residuals of at least that size, fits the others with squared loss,
    and takes their largest residual for xi. If that is no smaller than before, it tries ``xi - 2 delta``
    and so on.
    Dropping is a decision: with few or no wrong labels it throws away the rarest right ones, and it needs
    labels of which most are right.

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
        Scale of the kernel. None: for "rbf" 1 / (2 m^2) with the median distance m of the distinct rows,
        for "polynomial" 1 / d.
    degree, coef0 : int, default=3, and float, default=1
        Of the polynomial kernel.
    coupling : {"shared", "independent"}, default="shared"
        Which noise two rows with error bars see; see :func:`uncertain.kernels.probabilistic_rbf`.
    views : list of column groups, default=None
        Each group (numbers, names or a slice) is a view with its own kernel and graph. None: one view of all.
    view_weights : list of float, default=None
        c^a, > 0; None: 1 / number of views each.
    between_alpha : float, default=0
        Strength of the penalty ``sum_{a<b} |f^a - f^b|^2`` on differences between views, >= 0. It couples the
        views: one factorisation of the size of all of them together.
    graph : "knn", "rbf", None, a matrix, or a list of these, default="knn"
        Rows are joined to their nearest (either one's; ties at the last distance all count), or all to all,
        with weights ``exp(-graph_gamma distance^2)``; or by the caller's symmetric n x n weights, dense or
        sparse.
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
    max_bytes : int, default=None
        Memory a fit may take; a larger one is refused. None: half of what is available.
    n_jobs : int or None, default=None
        Number of threads; the result does not depend on it.
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
        "refinements_done", "threshold_zero" (the next threshold would not be positive) or "no_label_left".
    gamma_ : list
        Scale of each view's kernel.
    X_fit_ : GaussianArray, or None
        The rows of the fit; None with a precomputed kernel.
    n_features_in_ : int
        Dimension of the rows.

    Raises
    ------
    UncertainError
        (a ValueError) For data or parameters that cannot be used; the message says which and where.

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

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit to Gaussians, to exact points, or to a kernel matrix.

        Parameters
        ----------
        X : GaussianArray of n rows, or array-like of shape (n, d) or (n, n)
            Labelled and unlabelled rows; the kernel matrix for ``kernel="precomputed"``.
        y : array-like of shape (n,)
            Targets; NaN (or None) for rows without a label.
        sample_weight : array-like of shape (n,), default=None
            Weights >= 0 of the labels; a row of weight 0 is as good as absent.

        Returns
        -------
        self
        """
        rows = self._rows(X)
        if y is None:
            raise ValueError(
                f"This {type(self).__name__} estimator requires y to be passed, but the target y is None."
            )
        checked = check_array(
            y,
            ensure_2d=False,
            dtype=np.float64,
            ensure_all_finite="allow-nan",
            input_name="y",
            estimator=self,
        )
        targets: Floats = column_or_1d(checked, warn=True)
        check_consistent_length(X, targets)
        (told,) = self._fit(rows, targets[None, :], _weights(sample_weight, rows.n_rows))
        self.dual_coef_ = np.stack([w[:, 0] for w in self._coef])
        self.intercept_ = told["intercept"]
        self.thresholds_ = told["thresholds"]
        self.threshold_ = float(self.thresholds_[-1])
        self.removed_ = told["removed"]
        self.removed_residuals_ = told["residuals"]
        self.history_ = told["history"]
        self.n_refinements_ = len(self.history_)
        self.objective_ = told["objective"]
        self.n_iter_ = told["steps"]
        self.status_ = told["status"]
        return self

    def predict(self, X: Any) -> Floats:
        """b + f at new rows.

        Parameters
        ----------
        X : GaussianArray of q rows, or array-like of shape (q, d) or (q, n)
            Gaussians or exact points; kernel values for ``kernel="precomputed"``.

        Returns
        -------
        ndarray of shape (q,)
        """
        values: Floats = self._predict(X)[:, 0]
        return values


class AdaptiveHuberClassifier(ClassifierMixin, _AdaptiveHuber):
    """:class:`AdaptiveHuberRegressor` on targets of -1 and +1; the class is the sign.

    More than two classes are fitted one against the rest, with one factorisation for all. A label that is
    dropped for one class stays for the others.

    **Unlabelled rows** are those with None or NaN for a label and, by scikit-learn's convention, those with
    the integer -1, if at least two other labels exist: among the labels -1 and +1 alone, -1 is a class.

    Parameters
    ----------
    alpha, manifold_alpha, delta, max_refinements, threshold, kernel, gamma, degree, coef0, coupling, views, \
view_weights, between_alpha, graph, n_neighbors, graph_gamma, laplacian, fit_intercept, max_bytes, n_jobs, \
verbose, callback
        As in :class:`AdaptiveHuberRegressor`.
    unlabeled : "auto", None or a label, default="auto"
        The label of rows without one. "auto": as above; None: only None and NaN.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
        The labels, sorted.
    dual_coef_ : ndarray of shape (m, n), or (K, m, n) for more than two classes
        w of each view on the rows of the fit.
    intercept_, threshold_, thresholds_, removed_, removed_residuals_, history_, n_refinements_, objective_, \
n_iter_, status_
        As in :class:`AdaptiveHuberRegressor`; for more than two classes lists or arrays with one element per
        class.
    gamma_, X_fit_, n_labels_, n_features_in_
        As in :class:`AdaptiveHuberRegressor`.

    Examples
    --------
    >>> from uncertain import AdaptiveHuberClassifier
    >>> X = [[0.0], [0.5], [1.0], [4.0], [4.5], [5.0], [0.2], [4.8]]
    >>> y = ["low", None, "low", "high", None, "high", "low", "high"]
    >>> AdaptiveHuberClassifier(n_neighbors=2).fit(X, y).predict([[0.6], [4.4]]).tolist()
    ['low', 'high']
    """

    def __init__(
        self,
        alpha: float = 1e-4,
        manifold_alpha: float = 1e-5,
        *,
        delta: float = 0.01,
        max_refinements: int = 3,
        threshold: float | None = None,
        kernel: Kernel | Sequence[Kernel] = "rbf",
        gamma: float | Sequence[float | None] | None = None,
        degree: int = 3,
        coef0: float = 1.0,
        coupling: Literal["shared", "independent"] = "shared",
        views: Sequence[Any] | None = None,
        view_weights: Sequence[float] | None = None,
        between_alpha: float = 0.0,
        graph: Any = "knn",
        n_neighbors: int = 10,
        graph_gamma: float | None = None,
        laplacian: Literal["normalized", "unnormalized"] | None = "normalized",
        fit_intercept: bool = False,
        unlabeled: Any = "auto",
        max_bytes: int | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Callable[[Progress], Any] | None = None,
    ) -> None:
        super().__init__(
            alpha,
            manifold_alpha,
            delta=delta,
            max_refinements=max_refinements,
            threshold=threshold,
            kernel=kernel,
            gamma=gamma,
            degree=degree,
            coef0=coef0,
            coupling=coupling,
            views=views,
            view_weights=view_weights,
            between_alpha=between_alpha,
            graph=graph,
            n_neighbors=n_neighbors,
            graph_gamma=graph_gamma,
            laplacian=laplacian,
            fit_intercept=fit_intercept,
            max_bytes=max_bytes,
            n_jobs=n_jobs,
            verbose=verbose,
            callback=callback,
        )
        self.unlabeled = unlabeled

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit to Gaussians, to exact points, or to a kernel matrix.

        Parameters
        ----------
        X : GaussianArray of n rows, or array-like of shape (n, d) or (n, n)
            Labelled and unlabelled rows; the kernel matrix for ``kernel="precomputed"``.
        y : array-like of shape (n,)
            Labels of any type that sorts; see above for rows without one.
        sample_weight : array-like of shape (n,), default=None
            Weights >= 0 of the labels; a row of weight 0 is as good as absent.

        Returns
        -------
        self
        """
        rows = self._rows(X)
        labels, known = self._labels(y, X)
        weights = _weights(sample_weight, rows.n_rows)
        counted = known if weights is None else known & (weights > 0.0)
        classes = np.unique(labels[counted])
        if len(classes) < 2:
            found = f"only one class ({classes.tolist()[0]!r})" if len(classes) else "no label"
            raise UncertainError(f"y holds {found}; a classifier needs at least two classes")
        outputs = classes[1:] if len(classes) == 2 else classes
        targets = np.full((len(outputs), rows.n_rows), np.nan)
        targets[:, counted] = np.where(labels[counted] == outputs[:, None], 1.0, -1.0)
        told = self._fit(rows, targets, weights)
        self.classes_ = classes
        single = len(outputs) == 1

        def of(key: str) -> Any:
            values = [output[key] for output in told]
            return values[0] if single else values

        def numbers(key: str) -> Any:
            return of(key) if single else np.array(of(key))

        coef = np.stack([np.ascontiguousarray(w.T) for w in self._coef], axis=1)
        self.dual_coef_ = coef[0] if single else coef
        self.intercept_ = numbers("intercept")
        self.thresholds_ = of("thresholds")
        last = [float(output["thresholds"][-1]) for output in told]
        self.threshold_ = last[0] if single else np.array(last)
        self.removed_ = of("removed")
        self.removed_residuals_ = of("residuals")
        self.history_ = of("history")
        done = [len(output["history"]) for output in told]
        self.n_refinements_ = done[0] if single else np.array(done)
        self.objective_ = numbers("objective")
        self.n_iter_ = numbers("steps")
        self.status_ = numbers("status")
        return self

    def _labels(self, y: Any, X: Any) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """Labels, and which rows have one."""
        if y is None:
            raise ValueError(
                f"This {type(self).__name__} estimator requires y to be passed, but the target y is None."
            )
        checked = check_array(
            y, ensure_2d=False, dtype=None, ensure_all_finite=False, input_name="y", estimator=self
        )
        labels: NDArray[Any] = column_or_1d(checked, warn=True)
        check_consistent_length(X, labels)
        if labels.dtype.kind == "O":
            known = np.array([label is not None and bool(label == label) for label in labels.tolist()])
        else:
            known = labels == labels
        if known.any():
            # One type for the labels that are there; the others get any of them.
            filled = np.array(labels[known].tolist())
            labels = filled[np.maximum(np.cumsum(known) - 1, 0)]
            infinite = np.flatnonzero(known & np.isinf(labels)) if labels.dtype.kind == "f" else np.empty(0)
            if infinite.size:
                row = int(infinite[0])
                raise NotFiniteError(f"y: row {row} is {labels[row]}; every label must be finite")
            check_classification_targets(filled)
        numeric = labels.dtype.kind in "iuf"
        if isinstance(self.unlabeled, str) and self.unlabeled == "auto":
            if numeric and len(np.unique(labels[known])) > 2:
                known &= labels != -1
        elif self.unlabeled is not None:
            known &= labels != self.unlabeled
        return labels, known

    def decision_function(self, X: Any) -> Floats:
        """b + f at new rows.

        Parameters
        ----------
        X : GaussianArray of q rows, or array-like of shape (q, d) or (q, n)
            Gaussians or exact points; kernel values for ``kernel="precomputed"``.

        Returns
        -------
        ndarray of shape (q,), or (q, K) for more than two classes
            Positive for ``classes_[1]`` in the case of two classes.
        """
        scores = self._predict(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X: Any) -> NDArray[Any]:
        """The label with the largest score.

        Parameters
        ----------
        X : GaussianArray of q rows, or array-like of shape (q, d) or (q, n)
            As in :meth:`decision_function`.

        Returns
        -------
        ndarray of shape (q,)
            Elements of ``classes_``.
        """
        scores = self.decision_function(X)
        codes = (scores > 0.0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
        return np.asarray(self.classes_[codes])
