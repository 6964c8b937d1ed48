"""Shared by Huber regressor and classifier: parameters, rows, and the fitted attributes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from .._base.core import Core
from .._base.progress import Callback
from .._base.sums import BeyondSums, Need
from .._data.array import GaussianArray
from .._data.typing import Array, Codes, Floats, Header, Keywords
from .._data.validation import RowsLike, check_gaussians
from .._data.warn import warn
from .._uncertain import Gaussians, Rows
from ..exceptions import ParameterError, UncertainWarning
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
    view_weights,
)

UNLIKE = (
    "the spreads of the features are far from one, and x'z would depend on their units: the kernel sees them "
    "divided by their standard deviations (scales_). scale_features=True does so without a word; "
    "scale_features=False keeps features that are meant as they are, such as those of a kernel map"
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


class AdaptiveHuber(Core, BaseEstimator):
    """Base of regressor and classifier; the core fits all outputs with one reduction."""

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
        views: Sequence[Columns] | None = None,
        view_weights: Sequence[float] | None = None,
        between_alpha: float = 0.0,
        graph: Graph | Sequence[Graph] = "knn",
        n_neighbors: int = 10,
        graph_gamma: float | None = None,
        laplacian: Literal["normalized", "unnormalized"] | None = "normalized",
        fit_intercept: bool = False,
        scale_features: bool | None = None,
        max_bytes: int | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Callback = None,
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
        self.scale_features = scale_features
        self.max_bytes = max_bytes
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback

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
        """Rows to fit or to predict; with a precomputed kernel the rows of its matrix."""
        if self.kernel != "precomputed":
            return check_gaussians(self, X, reset=reset)
        gram = validate_data(self, X, reset=reset, dtype=np.float64, order="C")
        if reset and gram.shape[0] != gram.shape[1]:
            raise ValueError(f"Precomputed matrix must be a square matrix. Input is a {gram.shape} matrix.")
        return Gaussians(Rows.from_numpy(gram, *gram.shape))

    def _views(self) -> list[View]:
        """The views of rows with ``n_features_in_`` features."""
        columns = column_groups(self.views, self.n_features_in_, getattr(self, "feature_names_in_", ()))
        m = len(columns)
        kernels, gammas = per_view("kernel", self.kernel, m), per_view("gamma", self.gamma, m)
        graphs, weights = per_view("graph", self.graph, m), view_weights(self.view_weights, m)
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
        views = [view.plain() for view in self._views()]
        normalized = self.laplacian != "unnormalized"
        return super()._core_parameters() | {
            "views": views,
            "normalized": normalized,
            "fit_intercept": bool(self.fit_intercept),
        }

    @classmethod
    def _arguments(cls, parameters: Keywords) -> Keywords:
        return super()._arguments(arguments_from(parameters))

    def _saved_params(self) -> Keywords:
        """Parameters for a model file: views as numbers of columns, no matrices."""
        params: Keywords = self.get_params()
        if self.views is not None:
            params["views"] = column_groups(
                self.views, self.n_features_in_, getattr(self, "feature_names_in_", ())
            )

        def name(graph: object) -> str | None:
            return graph if graph is None or isinstance(graph, str) else FORGOTTEN

        graph = self.graph
        params["graph"] = [name(g) for g in graph] if isinstance(graph, (list, tuple)) else name(graph)
        return params

    def _fit(
        self,
        rows: Gaussians,
        targets: Floats,
        n_classes: int,
        weights: Floats | None,
        groups: Codes | None = None,
    ) -> Self:
        """Fit all outputs."""
        graphs = self.graph if isinstance(self.graph, (list, tuple)) else [self.graph]
        if any(isinstance(graph, str) and graph == FORGOTTEN for graph in graphs):
            raise ParameterError("graph: a model file holds no matrix of a graph; set graph= to fit again")
        arguments = {"outputs": targets, "n_classes": n_classes, "weights": weights, "groups": groups}
        views = self._views()
        graphs = [view.matrix for view in views]
        self._keep(self._fitted(self._parameters(), rows, graphs=graphs, **arguments))
        divided = (
            view.kernel for view, scales in zip(views, self.scales_, strict=True) if scales is not None
        )
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

    def _to_predict(self, X: RowsLike) -> Gaussians:
        check_is_fitted(self, "dual_coef_")
        return self._rows(X, reset=False)
