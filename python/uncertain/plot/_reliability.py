"""Are probabilities right? Predicted against observed frequencies, with the uncertainty of the observed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Self, cast

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import xlogy

from .._data.array import GaussianArray
from .._data.numbers import float_array
from .._data.options import check_option
from .._data.typing import Booleans, ColumnOrValues, Estimator, Floats, Label, Predictor
from .._data.validation import TableLike
from ..exceptions import ParameterError, ShapeError, UncertainError
from ._opened import is_model, last_step
from ._style import COLORS, axes_for, bare

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class ReliabilityDisplay:
    """Reliability diagram of a two-class model: observed frequency against predicted probability, by bins.

    The bars are the Wilson 68 % intervals of the observed frequencies, so that a bin with few rows does not
    look like miscalibration.

    Attributes
    ----------
    prob_pred, prob_true : ndarray of shape (n_bins,)
        Mean prediction and observed frequency of the bins that hold rows.
    counts : ndarray of shape (n_bins,)
        Their rows.
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

    ax_: Axes

    def __init__(self, y: Booleans, prob: Floats, *, n_bins: int, strategy: str, name: str | None) -> None:
        edges = _edges(prob, n_bins, strategy)
        places = np.clip(np.searchsorted(edges, prob, side="right") - 1, 0, len(edges) - 2)
        counts = np.bincount(places, minlength=len(edges) - 1)
        used = counts > 0
        self.counts = counts[used]
        self.prob_pred = np.bincount(places, weights=prob, minlength=len(counts))[used] / self.counts
        self.prob_true = np.bincount(places, weights=y, minlength=len(counts))[used] / self.counts
        # Wilson's interval at one standard deviation: inside [0, 1] and not empty at 0 and 1.
        n, p = self.counts, self.prob_true
        centre, half = (p + 0.5 / n) / (1 + 1 / n), np.sqrt(p * (1 - p) / n + 0.25 / n**2) / (1 + 1 / n)
        # It holds p itself, but for rounding at 0 and 1.
        self.lower, self.upper = np.minimum(centre - half, p), np.maximum(centre + half, p)
        self.brier = float(np.mean((prob - y) ** 2))
        self.log_loss = float(-np.mean(xlogy(y, prob) + xlogy(~y, 1 - prob)))
        self.name = name

    @classmethod
    def from_estimator(
        cls,
        estimator: Predictor,
        X: TableLike,
        y: ColumnOrValues | None = None,
        *,
        target: Label = None,
        name: str | None = None,
        **options: Any,
    ) -> Self:
        """Draw the probabilities of a fitted classifier with `predict_proba`.

        Parameters
        ----------
        estimator : fitted classifier, or a `Model` of classes.
        X : the rows; for a `Model` a table or a path. Of rows that the model was not fitted to.
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
        if not hasattr(model, "predict_proba"):
            raise ParameterError(f"{shown} gives no probabilities here; fit it with probability=True")
        if labels is None:
            raise ParameterError("y: a reliability diagram needs the labels of the rows")
        classes = np.asarray(model.classes_)
        if target is None and len(classes) != 2:
            raise ParameterError(
                f"a reliability diagram needs two classes, got {len(classes)}: compare one with the rest, "
                f"such as target={classes[0].item()!r}"
            )
        places = np.flatnonzero(classes == (classes[1] if target is None else target))
        if not places.size:
            raise ParameterError(f"target = {target!r}: must be one of the classes, {classes.tolist()}")
        prob = np.asarray(model.predict_proba(rows))[:, places[0]]
        label = classes[places[0]]
        display = cls.from_predictions(labels, prob, pos_label=label, name=shown, **options)
        display.ax_.set_xlabel(f"predicted probability of {label}")
        display.ax_.set_ylabel(f"observed frequency of {label}")
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
        prob = float_array(y_prob, "y_prob")
        labels = np.asarray(y_true)
        if prob.ndim != 1 or labels.shape != prob.shape or len(prob) == 0:
            raise ShapeError(
                f"y_true and y_prob: expected the same shape (n,), got {labels.shape} and {prob.shape}"
            )
        wrong = np.flatnonzero(~((prob >= 0) & (prob <= 1)))
        if len(wrong):
            raise UncertainError(f"y_prob: row {wrong[0]} is {prob[wrong[0]]}, not a probability")
        return cls(labels == pos_label, prob, n_bins=n_bins, strategy=strategy, name=name).plot(
            ax, color=color
        )

    def plot(self, ax: Axes | None = None, *, color: str | None = None) -> Self:
        """Draw on `ax`, or on a new figure."""
        self.ax_ = axes_for(ax, 6.0, 6.0)
        self.figure_ = self.ax_.figure
        color = color or COLORS[len(self.ax_.containers) % len(COLORS)]
        if not self.ax_.containers:  # the first model in this picture
            self.ax_.plot([0, 1], [0, 1], linestyle=":", color="#666666", label="calibrated", zorder=1)
        label = f"{self.name or 'model'}: Brier {self.brier:.3f}, log loss {self.log_loss:.3f}"
        self.ax_.errorbar(
            self.prob_pred,
            self.prob_true,
            yerr=[self.prob_true - self.lower, self.upper - self.prob_true],
            fmt="o-",
            color=color,
            capsize=2.5,
            markersize=4.5,
            linewidth=1.4,
            label=label,
        )
        self.ax_.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), xlabel="predicted probability")
        self.ax_.set(ylabel="observed frequency", aspect="equal")
        self.ax_.legend(loc="best", framealpha=0.92)
        bare(self.ax_)
        return self


def _edges(prob: Floats, n_bins: int, strategy: str) -> Floats:
    if n_bins < 1:
        raise ParameterError(f"n_bins = {n_bins!r}: must be an integer >= 1")
    check_option("strategy", strategy, ("quantile", "uniform"))
    if strategy == "uniform":
        return np.linspace(0.0, 1.0, n_bins + 1)
    edges: Floats = np.unique(np.quantile(prob, np.linspace(0.0, 1.0, n_bins + 1)))
    return edges if len(edges) > 1 else np.array([edges[0], edges[0] + 1.0])
