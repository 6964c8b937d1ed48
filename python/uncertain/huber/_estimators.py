"""Adaptive Huber regression and classification."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from .._base.classifiers import ScoreClassifier, groups_of_fit, predicted
from .._base.core import Core, RunParameters
from .._base.docs import documented
from .._base.sums import BeyondSums, Need
from .._data.array import GaussianArray
from .._data.column import read_column
from .._data.numbers import refuse_where
from .._data.options import refuse_if
from .._data.typing import Array, Booleans, Codes, Floats, Header, Keywords, Labels, RandomState, RowValues
from .._data.validation import RowsLike, check_gaussians, check_sample_weight, one_per_row
from .._data.warn import warn
from .._uncertain import Gaussians, Rows
from ..exceptions import NotFiniteError, UncertainError, UncertainWarning
from ._views import (
    FORGOTTEN,
    Columns,
    Graph,
    Kernel,
    View,
    arguments_from,
    column_groups,
    graph_parameter,
    kernel_parameter,
    per_view,
)

UNLIKE = (
    "features are divided by their standard deviations (scales_), because their spreads are far from one. "
    "Confirm with scale_features=True, or keep their units with scale_features=False"
)
PRODUCTS = ("linear", "quadratic")


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


@dataclass(eq=False, repr=False)
class AdaptiveHuber(RunParameters, Core, BaseEstimator):
    """Base of both; all outputs are fitted with one reduction."""

    alpha: float = 1e-4
    manifold_alpha: float = 1e-5
    _: KW_ONLY
    delta: float = 0.01
    max_refinements: int = 3
    threshold: float | None = None
    kernel: Kernel | Sequence[Kernel] = "rbf"
    gamma: float | Sequence[float | None] | None = None
    degree: int = 3
    coef0: float = 1.0
    coupling: Literal["shared", "independent"] = "shared"
    views: Sequence[Columns] | None = None
    view_weights: Sequence[float] | None = None
    between_alpha: float = 0.0
    graph: Graph | Sequence[Graph] = "knn"
    n_neighbors: int = 10
    graph_gamma: float | None = None
    laplacian: Literal["normalized", "unnormalized"] | None = "normalized"
    fit_intercept: bool = False
    scale_features: bool | None = None
    max_bytes: int | None = None

    def _beyond_sums(self) -> Iterator[BeyondSums]:
        yield BeyondSums(
            Need.MEMORY,
            f"{type(self).__name__} compares rows with one another",
            'use method="gsu" with loss="huber" for numbers, or fit a sample of the rows',
        )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags

    def _rows(self, X: RowsLike, *, reset: bool) -> Gaussians:
        """Rows to fit or predict; of a precomputed kernel those of its matrix."""
        if self.kernel != "precomputed":
            return check_gaussians(self, X, reset=reset)
        gram = validate_data(self, X, reset=reset, dtype=np.float64, order="C")
        square = f"Precomputed matrix must be a square matrix. Input is a {gram.shape} matrix."
        refuse_if(reset and gram.shape[0] != gram.shape[1], square, ValueError)
        return Gaussians(Rows.from_numpy(gram, *gram.shape))

    def _columns(self) -> list[list[int] | None]:
        """Numbers of each view's features."""
        return column_groups(self.views, self.n_features_in_, getattr(self, "feature_names_in_", ()))

    def _views(self) -> list[View]:
        """The views of rows with ``n_features_in_`` features."""
        columns = self._columns()
        m = len(columns)
        kernels, gammas = per_view("kernel", self.kernel, m), per_view("gamma", self.gamma, m)
        graphs = per_view("graph", self.graph, m)
        given = np.full(m, 1.0 / m) if self.view_weights is None else self.view_weights
        weights = per_view("view_weights", np.ravel(given).tolist(), m)
        options = {"degree": self.degree, "coef0": self.coef0, "coupling": self.coupling}
        neighbors = {"count": self.n_neighbors, "gamma": self.graph_gamma}
        return [
            View(
                columns[k], kernel_parameter(kernels[k], options | {"gamma": gammas[k]}), weights[k],
                *graph_parameter(graphs[k], self.laplacian, **neighbors),
            )
            for k in range(m)
        ]  # fmt: skip

    def _core_parameters(self) -> Keywords:
        views = {"views": [view.plain() for view in self._views()]}
        flags = {"normalized": self.laplacian != "unnormalized", "fit_intercept": bool(self.fit_intercept)}
        return super()._core_parameters() | views | flags

    @classmethod
    def _arguments(cls, parameters: Keywords) -> Keywords:
        return super()._arguments(arguments_from(parameters))

    def _saved_params(self) -> Keywords:
        """Parameters for a model file: views as numbers of columns, no matrices."""
        params: Keywords = self.get_params()
        if self.views is not None:
            params["views"] = self._columns()

        def name(graph: object) -> str | None:
            return graph if graph is None or isinstance(graph, str) else FORGOTTEN

        graph = self.graph
        params["graph"] = [name(g) for g in graph] if isinstance(graph, (list, tuple)) else name(graph)
        numbered = getattr(self, "_numbered", [])
        return params | ({"removed": numbered} if numbered else {})

    def _set_saved(self, parameters: Keywords) -> None:
        self._numbered: list[list[int]] = parameters.pop("removed", [])
        if self._numbered:
            removed = [np.array(rows, np.int64) for rows in self._numbered]
            self.__dict__["removed_"] = removed if isinstance(self.__dict__["removed_"], list) else removed[0]
        super()._set_saved(parameters)

    def _number_rows(self, numbers: Array) -> None:
        rows: Any = self.__dict__["removed_"]
        several = isinstance(rows, list)
        removed = [numbers[own] for own in (rows if several else [rows])]
        self.__dict__["removed_"] = removed if several else removed[0]
        self._numbered = [own.tolist() for own in removed]

    def _fit(
        self, rows: Gaussians, targets: Floats, n_classes: int, weights: Floats | None, groups: Codes | None
    ) -> Self:
        graphs = self.graph if isinstance(self.graph, (list, tuple)) else [self.graph]
        forgotten = any(isinstance(graph, str) and graph == FORGOTTEN for graph in graphs)
        refuse_if(forgotten, "graph: a model file holds no matrix of a graph; set graph= to fit again")
        arguments = {"outputs": targets, "n_classes": n_classes, "weights": weights, "groups": groups}
        self._numbered = []
        views = self._views()
        graphs = [view.matrix for view in views]
        self._keep(self._fitted(self._parameters(), rows, graphs=graphs, **arguments))
        divided = [view.kernel for view, s in zip(views, self.scales_, strict=True) if s is not None]
        if self.scale_features is None and any(kernel in PRODUCTS for kernel in divided):
            warn(UNLIKE, UncertainWarning)
        return self

    def _attributes(self, arrays: dict[str, Floats], header: Header) -> None:
        """One value of an output each, or of several a list or array."""
        self.gamma_, self.n_labels_ = header["gammas"], header["n_labelled"]
        self.scales_ = [None if scales is None else np.array(scales) for scales in header["scales"]]
        rows = self._model.rows
        self.X_fit_ = None if rows is None else GaussianArray._from_core(rows)
        outcomes: list[Keywords] = header["outcomes"]
        single = len(outcomes) == 1

        def one_or_list(values: Sequence[object] | Array) -> object:
            return values[0] if single else values

        def vectors(name: str) -> list[Floats]:
            return [arrays[f"{name}.{k}"] for k in range(len(outcomes))]

        def one_or_array(values: list[object]) -> object:
            return values[0] if single else np.array(values)

        # K x m x n
        self.dual_coef_ = one_or_list(np.ascontiguousarray(np.moveaxis(arrays["coef"], 2, 0)))
        for outcome in outcomes:
            outcome["history"] = [Refinement(*step.values()) for step in outcome["history"]]
        self.history_ = one_or_list([outcome["history"] for outcome in outcomes])
        self.thresholds_ = one_or_list(vectors("thresholds"))
        self.removed_ = one_or_list([rows.astype(np.int64) for rows in vectors("removed")])
        self.removed_residuals_ = one_or_list(vectors("removed_residuals"))
        self.threshold_ = one_or_array([float(values[-1]) for values in vectors("thresholds")])
        self.n_refinements_ = one_or_array([len(outcome["history"]) for outcome in outcomes])
        self.intercept_ = one_or_array([outcome["intercept"] for outcome in outcomes])
        self.objective_ = one_or_array([outcome["objective"] for outcome in outcomes])
        self.n_iter_ = one_or_array([outcome["steps"] for outcome in outcomes])
        self.status_ = one_or_array([outcome["ending"] for outcome in outcomes])

    def _facts(self) -> list[tuple[str, str]]:
        removed = self.removed_ if isinstance(self.removed_, list) else [self.removed_]
        labels = f"{sum(map(len, removed))} dropped as inconsistent with the fit"
        return [*([("kernel", self.kernel)] if isinstance(self.kernel, str) else []), ("labels", labels)]

    def _to_predict(self, X: RowsLike) -> Gaussians:
        check_is_fitted(self, "dual_coef_")
        return self._rows(X, reset=False)


@documented
class AdaptiveHuberRegressor(RegressorMixin, AdaptiveHuber):
    """Kernel regression for wrong and missing labels.

    .. code-block:: text

        J = 1/W sum_i s_i H_xi(y_i - b - f(x_i))
            + alpha sum_a w^a' K^a w^a + manifold_alpha sum_a f^a' M^a f^a

        f = sum_a c^a f^a,   f^a = K^a w^a,   H_xi(r) = r^2 / 2 if |r| <= xi else xi |r| - xi^2 / 2

    with the first sum over the labelled rows, K^a the kernel matrix of view a on all rows, and M^a the
    Laplacian of a graph on them. A refinement solves at ``xi - delta``, drops labels with larger residuals
    and refits the others with squared loss. It needs a majority of correct labels; without wrong ones it
    drops the rarest. Theory, and rows with error bars: :doc:`/methods/labels`.

    Parameters
    ----------
    alpha, manifold_alpha, between_alpha : float, default=1e-4, 1e-5 and 0
        Strengths, > 0 or >= 0, of the penalties on w, by the graphs, and ``sum_{a<b} |f^a - f^b|^2``.
    delta, max_refinements : float, default=0.01, and int, default=3
        By how much a refinement lowers the threshold, in units of y; refinements at most.
    threshold : float or None, default=None
        The first xi, in units of y; None: the largest residual of the squared-loss fit. With
        ``max_refinements=0`` the fixed one.
    kernel : str or list of str, default="rbf"
        "rbf" (with error bars its expectation), "linear", "quadratic", "polynomial" or "precomputed", for all
        views or one each. Rows with error bars take "rbf", or "linear".
    gamma, degree, coef0 : default=None, 3 and 1.0
        Parameters of the kernel; gamma None is 1 / (2 m^2), m the median distance of two rows.
    {coupling}
    views, view_weights : list of column groups and list of float, default=None
        Groups of features (numbers, names or a slice), and their c^a > 0 (None: equal).
    graph, n_neighbors : "knn", "rbf", None, a matrix or a list of these, default="knn", and int, default=10
        Rows joined to their nearest or all to all, with weights ``exp(-graph_gamma distance^2)``, or
        symmetric n x n weights, dense or sparse. Distances include error bars.
    graph_gamma : float or None, default=None
        None: 1 / (2 m^2), m the median length of the edges.
    laplacian : {"normalized", "unnormalized", None}, default="normalized"
        ``I - D^(-1/2) W D^(-1/2)``, ``D - W``, or the matrix given as `graph` itself.
    fit_intercept : bool, default=False
        Whether b is the mean of the labels in use.
    scale_features : bool or None, default=None
        Whether views divide features by their standard deviations. None: where units would decide the result.
    max_bytes : int or None, default=None
        Memory limit of the fit. None: half of what is available.
    n_jobs, verbose, callback
        As in :class:`~uncertain.GSUClassifier`; a line, and a call, per refinement.

    Attributes
    ----------
    dual_coef_, intercept_ : ndarray of shape (m, n), and float
        w of each view on the rows of the fit, and b.
    threshold_, thresholds_, history_ : float, ndarray, and list of Refinement
        The last threshold, all, strictly decreasing, and one entry per refinement.
    removed_, removed_residuals_ : ndarrays
        Rows whose labels were dropped, in order, and their residuals then.
    n_refinements_, n_labels_, n_iter_, objective_ : int, int, int and float
        Refinements, labelled rows of positive weight, Newton steps, and J on the labels in use.
    status_ : str
        "refinements_done", "threshold_zero" or "no_label_left" (fewer than half would be left).
    gamma_, scales_, X_fit_ : list, list, and GaussianArray or None
        Scale of each kernel, divisors of each view's features (None: none), and the rows of the fit.

    {Raises: refused}

    Examples
    --------
    >>> import numpy as np
    >>> from uncertain import AdaptiveHuberRegressor
    >>> x = np.linspace(0.0, 4.0, 41)
    >>> y = np.sin(x)
    >>> y[7] += 5.0       # a wrong label
    >>> y[20] = np.nan    # no label
    >>> int(AdaptiveHuberRegressor(delta=1.0, max_refinements=1).fit(x[:, None], y).removed_[0])
    7
    """

    _kinds = ("huber",)

    def fit(
        self, X: RowsLike, y: ArrayLike, sample_weight: RowValues = None, *, groups: RowValues = None
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
        targets = one_per_row(y, X, self, dtype=np.float64, ensure_all_finite="allow-nan")
        return self._fit(rows, targets[None, :], 0, check_sample_weight(sample_weight, rows.n_rows), None)

    def predict(self, X: RowsLike, return_std: bool = False) -> Any:
        """b + f at new rows.

        {Parameters: rows_or_kernel}
        return_std : bool, default=False
            Whether to return the standard deviations of the predictions under the noise of each row, too.
            They are exact, and say nothing about how well f is known.

        Returns
        -------
        ndarray of shape (q,), or two of them
        """
        return predicted(self, self._to_predict(X), return_std)


@documented
@dataclass(eq=False, repr=False)
class AdaptiveHuberClassifier(ScoreClassifier, AdaptiveHuber):
    """Classification by :class:`AdaptiveHuberRegressor` on targets -1 and +1.

    More than two classes are fitted one against the rest, with one factorisation for all. A label that is
    dropped for one class stays for the others.

    **Unlabelled rows** are those with None or NaN for a label and, by scikit-learn's convention, those with
    the integer -1, if at least two other labels exist: among the labels -1 and +1 alone, -1 is a class.

    Parameters
    ----------
    alpha, manifold_alpha, delta, max_refinements, threshold, kernel, gamma, degree, coef0, coupling, views, \
view_weights, between_alpha, graph, n_neighbors, graph_gamma, laplacian, fit_intercept, scale_features, \
max_bytes, n_jobs, verbose, callback
        As in :class:`AdaptiveHuberRegressor`.
    unlabeled : "auto", None or a label, default="auto"
        The label of rows without one. "auto": as above; None: only None and NaN.
    probability : bool, default=False
        Whether to fit sigmoids on cross-validated scores, which ``predict_proba`` needs. A held-out row loses
        its label and stays in the graph, so that the folds share the one factorisation.
    {seed_of_folds}

    {Attributes: classes_}
    dual_coef_ : ndarray of shape (m, n), or (K, m, n) for more than two classes
        w of each view on the rows of the fit.
    intercept_, threshold_, thresholds_, removed_, removed_residuals_, history_, n_refinements_, objective_, \
n_iter_, status_
        As in :class:`AdaptiveHuberRegressor`; for more than two classes lists or arrays with one element per
        class.
    gamma_, scales_, X_fit_, n_labels_, n_features_in_
        As in :class:`AdaptiveHuberRegressor`.

    Examples
    --------
    >>> from uncertain import AdaptiveHuberClassifier
    >>> X = [[0.0], [0.5], [1.0], [4.0], [4.5], [5.0], [0.2], [4.8]]
    >>> y = ["low", None, "low", "high", None, "high", "low", "high"]
    >>> AdaptiveHuberClassifier(n_neighbors=2).fit(X, y).predict([[0.6], [4.4]]).tolist()
    ['low', 'high']
    """

    _kinds = ("huber",)

    _: KW_ONLY
    unlabeled: object = "auto"
    probability: bool = False
    random_state: RandomState = None

    def _learn(self, X: RowsLike, y: ArrayLike, sample_weight: RowValues, groups: RowValues) -> None:
        rows = self._rows(X, reset=True)
        labels, labelled = partial_labels(y, X, self, self.unlabeled)
        weights = check_sample_weight(sample_weight, rows.n_rows)
        counted = labelled if weights is None else labelled & (weights > 0.0)
        classes = np.unique(labels[counted])
        if len(classes) < 2:
            content = f"only one class ({classes.tolist()[0]!r})" if len(classes) else "no label"
            raise UncertainError(f"y holds {content}; a classifier needs at least two classes")
        codes = np.zeros(rows.n_rows, dtype=np.uint32)
        codes[counted] = np.searchsorted(classes, labels[counted])
        weighted = counted.astype(float)
        whole = groups_of_fit(
            groups, classes=classes, codes=codes, weights=weighted, folded=bool(self.probability)
        )
        outputs = classes[1:] if len(classes) == 2 else classes
        targets = np.full((len(outputs), rows.n_rows), np.nan)
        targets[:, counted] = np.where(labels[counted] == outputs[:, None], 1.0, -1.0)
        self._fit(rows, targets, len(classes), weights, whole)
        self.classes_ = classes


def partial_labels(
    y: ArrayLike, X: RowsLike, estimator: BaseEstimator, unlabeled: object
) -> tuple[Labels, Booleans]:
    """Labels, and which rows have one; `unlabeled` as the classifier's parameter."""
    labels = one_per_row(y, X, estimator, ensure_all_finite=False)
    missing = read_column(labels, "y", len(labels), "labels").missing
    labelled = np.ones(len(labels), dtype=bool) if missing is None else ~missing
    if labelled.any():
        # One type for the labels that are there; the others get any of them.
        filled = np.array(labels[labelled].tolist())
        labels = filled[np.maximum(np.cumsum(labelled) - 1, 0)]
        infinite = labelled & (np.isinf(labels) if labels.dtype.kind == "f" else False)
        refuse_where(infinite, labels, "y", "every label must be finite", error=NotFiniteError)
        check_classification_targets(filled)
    numeric = labels.dtype.kind in "iuf"
    if isinstance(unlabeled, str) and unlabeled == "auto":
        if numeric and len(np.unique(labels[labelled])) > 2:
            labelled &= labels != -1
    elif unlabeled is not None:
        labelled &= labels != unlabeled
    return labels, labelled
