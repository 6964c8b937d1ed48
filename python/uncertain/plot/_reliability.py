"""Reliability diagram with the uncertainty of the observed frequencies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Self, cast

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import xlogy
from sklearn.calibration import CalibrationDisplay

from .._data.array import GaussianArray
from .._data.numbers import float_array, refuse_where
from .._data.options import check_option, refuse_if
from .._data.typing import Estimator, Floats, Ints, Label, Predictor
from .._data.validation import TableLike
from ..exceptions import ShapeError
from ._display import COLORS, GREY, Display, Target, is_model, last_step

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class ReliabilityDisplay(CalibrationDisplay, Display):
    """`CalibrationDisplay` with Wilson 68 % intervals of the frequencies.

    The intervals show whether a deviation is miscalibration, or a bin has few rows.

    Attributes
    ----------
    prob_pred, prob_true : ndarray of shape (n_bins,)
        Mean prediction and observed frequency of the bins that hold rows.
    counts : ndarray of shape (n_bins,)
        Number of rows of each bin.
    lower, upper : ndarray of shape (n_bins,)
        Interval of the observed frequency.
    brier, log_loss : float
        Mean of (p - y)^2, and of -log of the probability given to what happened; lower is better.
    ax_, figure_ : matplotlib's Axes and Figure, after `plot`.

    Examples
    --------
    >>> from uncertain.plot import ReliabilityDisplay
    >>> display = ReliabilityDisplay.from_predictions([0, 0, 1, 1], [0.1, 0.2, 0.7, 0.9], n_bins=2)
    >>> display.prob_pred.round(2), display.prob_true
    (array([0.15, 0.8 ]), array([0., 1.]))
    """

    def __init__(
        self, prob_true: Floats, prob_pred: Floats, y_prob: Floats, *, counts: Ints, **names: Any
    ) -> None:
        super().__init__(prob_true, prob_pred, y_prob, **names)
        # Wilson's interval at one standard deviation: inside [0, 1] and not empty at 0 and 1.
        n, p = counts, prob_true
        centre, half = (p + 0.5 / n) / (1 + 1 / n), np.sqrt(p * (1 - p) / n + 0.25 / n**2) / (1 + 1 / n)
        # It contains p, but for rounding at 0 and 1.
        self.counts, self.lower, self.upper = n, np.minimum(centre - half, p), np.maximum(centre + half, p)

    @classmethod
    def from_estimator(
        cls,
        estimator: Predictor,
        X: TableLike,
        y: Target = None,
        *,
        target: Label = None,
        name: str | None = None,
        **options: Any,
    ) -> Self:
        """Draw the probabilities of a fitted classifier with `predict_proba`.

        Parameters
        ----------
        estimator : fitted classifier, or a `Model` of classes.
        X : rows that the model was not fitted to; for a `Model` a table or a path.
        y : their labels; a `Model` takes them from its target column.
        target : the class whose probability is drawn; by default the second of two. Of more classes it is
            needed, and compared with the rest.
        name : for the legend.
        **options : of `from_predictions`.
        """
        if is_model(estimator):
            model, rows, labels, _ = estimator._drawn(X, y, filled=False)
        else:  # rows of any kind that the estimator takes
            model, rows, labels = cast(Estimator, estimator), cast(GaussianArray, X), cast(ArrayLike, y)
        shown = name or type(last_step(model)).__name__
        plain = not hasattr(model, "predict_proba")
        refuse_if(plain, f"{shown} gives no probabilities here; fit it with probability=True")
        refuse_if(labels is None, "y: a reliability diagram needs the labels of the rows")
        classes = model.classes_.tolist()
        several = f"a reliability diagram needs two classes, got {len(classes)}: compare one with the rest"
        refuse_if(target is None and len(classes) != 2, f"{several}, such as target={classes[0]!r}")
        label = classes[1] if target is None else target
        refuse_if(label not in classes, f"target = {target!r}: must be one of the classes, {classes}")
        prob = np.asarray(model.predict_proba(rows))[:, classes.index(label)]
        display = cls.from_predictions(cast(Any, labels), prob, pos_label=label, name=shown, **options)
        display.ax_.set(xlabel=f"predicted probability of {label}", ylabel=f"observed frequency of {label}")
        return display

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_prob: ArrayLike,
        *,
        pos_label: Label = 1,
        n_bins: int = 10,
        strategy: Literal["quantile", "uniform"] = "quantile",
        name: str | None = None,
        ax: Axes | None = None,
        color: str | None = None,
    ) -> Self:
        """Draw labels against probabilities of `pos_label`.

        Parameters
        ----------
        y_true : array-like of shape (n,)
        y_prob : array-like of shape (n,)
            In [0, 1].
        n_bins : bins; fewer where probabilities repeat.
        strategy : bins of equally many rows, or of equal width.
        name : for the legend. ax : to draw several models into one picture.
        """
        prob, labels = float_array(y_prob, "y_prob"), np.asarray(y_true)
        wrong = prob.ndim != 1 or labels.shape != prob.shape or len(prob) == 0
        shapes = f"y_true and y_prob: expected the same shape (n,), got {labels.shape} and {prob.shape}"
        refuse_if(wrong, shapes, ShapeError)
        refuse_where(~((prob >= 0) & (prob <= 1)), prob, "y_prob", "not a probability")
        y = labels == pos_label
        edges = _bin_edges(prob, n_bins, strategy)
        bins = np.clip(np.searchsorted(edges, prob, side="right") - 1, 0, len(edges) - 2)
        _, bins, counts = np.unique(bins, return_inverse=True, return_counts=True)
        true, predicted = (np.bincount(bins, weights=values) / counts for values in (y, prob))
        display = cls(true, predicted, prob, counts=counts, estimator_name=name, pos_label=pos_label)
        display.brier = float(np.mean((prob - y) ** 2))
        display.log_loss = float(-np.mean(xlogy(y, prob) + xlogy(~y, 1 - prob)))
        return display.plot(ax, color=color)

    def plot(self, ax: Axes | None = None, *, color: str | None = None) -> Self:
        """Draw on `ax`, or on a new figure."""
        ax = self._start(ax, 6.0, 6.0)
        color = color or COLORS[len(ax.containers) % len(COLORS)]
        label = f"{self.estimator_name or 'model'}: Brier {self.brier:.3f}, log loss {self.log_loss:.3f}"
        ends = [self.prob_true - self.lower, self.upper - self.prob_true]
        if not ax.containers:  # the first model in this picture
            ax.plot([0, 1], [0, 1], ":", color=GREY, label="calibrated", zorder=1)
        super().plot(ax=ax, name=label, ref_line=False, color=color, marker="o", markersize=4.5)
        ax.errorbar(self.prob_pred, self.prob_true, yerr=ends, fmt="none", ecolor=color, capsize=2.5)
        ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), xlabel="predicted probability")
        ax.set(ylabel="observed frequency", aspect="equal")
        ax.legend(loc="best", framealpha=0.92)
        return self


def _bin_edges(prob: Floats, n_bins: int, strategy: str) -> Floats:
    refuse_if(n_bins < 1, f"n_bins = {n_bins!r}: must be an integer >= 1")
    check_option("strategy", strategy, ("quantile", "uniform"))
    if strategy == "uniform":
        return np.linspace(0.0, 1.0, n_bins + 1)
    edges: Floats = np.unique(np.quantile(prob, np.linspace(0.0, 1.0, n_bins + 1)))
    return edges if len(edges) > 1 else np.array([edges[0], edges[0] + 1.0])
