"""`AdaptiveHuberClassifier`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from .._base.classifiers import ScoreClassifier
from .._base.docs import documented
from .._base.progress import Callback
from .._data.groups import groups_of_fit
from .._data.typing import Floats, RandomState
from .._data.validation import RowsLike, check_sample_weight
from ..exceptions import UncertainError
from ._machine import AdaptiveHuber
from ._targets import partial_labels
from ._views import Columns, Graph, Kernel


@documented
class AdaptiveHuberClassifier(ScoreClassifier, AdaptiveHuber):
    """:class:`AdaptiveHuberRegressor` on targets of -1 and +1; the class is the sign.

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
        unlabeled: object = "auto",
        probability: bool = False,
        random_state: RandomState = None,
        max_bytes: int | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Callback = None,
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
            scale_features=scale_features,
            max_bytes=max_bytes,
            n_jobs=n_jobs,
            verbose=verbose,
            callback=callback,
        )
        self.unlabeled = unlabeled
        self.probability = probability
        self.random_state = random_state

    def _learn(
        self, X: RowsLike, y: ArrayLike, sample_weight: ArrayLike | None, groups: ArrayLike | None
    ) -> None:
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
        whole = groups_of_fit(
            groups, classes=classes, codes=codes, weights=counted.astype(float), folded=bool(self.probability)
        )
        outputs = classes[1:] if len(classes) == 2 else classes
        targets = np.full((len(outputs), rows.n_rows), np.nan)
        targets[:, counted] = np.where(labels[counted] == outputs[:, None], 1.0, -1.0)
        self._fit(rows, targets, len(classes), weights, whole)
        self.classes_ = classes

    def decision_distribution(self, X: RowsLike) -> tuple[Floats, Floats]:
        """Mean and standard deviation of the scores under each row's own noise, exactly.

        For kernel="rbf" f is a mean over noise: with ``coupling="independent"`` that of f(x) over
        x ~ N(x_i, S_i), where f is the score of an exact point; with ``"shared"`` one draw moves all rows
        together, those of the fit too. The work is quadratic in the rows of the fit. For kernel="linear" the
        variance is w'S_i w. Several views add up where no feature is in two of them and covariances are
        diagonal; else, and for other kernels, rows must be exact points.

        {Parameters: X}

        Returns
        -------
        mean, std : ndarrays of shape (q,), or (q, K) for more than two classes
            The mean is :meth:`decision_function`.
        """
        return super().decision_distribution(X)
