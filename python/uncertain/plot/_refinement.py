"""Labels that adaptive Huber regression dropped, refinement by refinement.

A refinement lowers the threshold and drops the labels whose residuals reach it. The picture shows whether the
thresholds ended in a gap (wrong labels are gone) or among right labels.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from .._data.options import refuse_if
from .._data.typing import Estimator, Floats, Ints, Keywords, Label, Predictor
from ..exceptions import ShapeError
from ._display import COLORS, GREY, Display, bare, ink, last_step, new_pair

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(kw_only=True, eq=False, repr=False)
class RefinementDisplay(Display):
    """Thresholds and dropped labels of every refinement of a Huber model.

    Attributes
    ----------
    thresholds : ndarray of shape (T + 1,), at the start and after every refinement.
    tried, n_dropped : ndarrays of shape (T,), threshold and number of dropped labels of each refinement.
    removed, residuals : rows of the dropped labels, refinement by refinement, and their residuals then.
    n_labels : labels before the first refinement.
    ax_, counts_ax_, figure_ : Axes (the second or None) and Figure, after `plot`.
    threshold_line_, tried_line_, removed_, bars_ : staircase, ticks, a PathCollection per kind of label and a
        BarContainer (or None), after `plot`.

    Examples
    --------
    >>> import numpy as np
    >>> from uncertain import AdaptiveHuberRegressor
    >>> from uncertain.plot import RefinementDisplay
    >>> x = np.linspace(0.0, 4.0, 41)
    >>> y = np.sin(x)
    >>> y[7] += 5.0
    >>> model = AdaptiveHuberRegressor(delta=1.0, max_refinements=1).fit(x[:, None], y)
    >>> display = RefinementDisplay.from_estimator(model, wrong=[7])
    >>> display.removed.tolist(), display.refinement.tolist()
    ([7], [1])
    """

    thresholds: Floats
    tried: Floats
    n_dropped: Ints
    removed: Ints
    residuals: Floats
    n_labels: int

    @property
    def refinement(self) -> Ints:
        """Refinement, from 1, that dropped each of `removed`."""
        return np.repeat(np.arange(1, len(self.n_dropped) + 1), self.n_dropped)

    @classmethod
    def from_estimator(
        cls,
        estimator: Predictor,
        *,
        target: Label = None,
        wrong: ArrayLike | None = None,
        ax: Axes | Sequence[Axes] | None = None,
    ) -> Self:
        """Draw the refinements of a fitted adaptive Huber estimator.

        Parameters
        ----------
        estimator : fitted model, a pipeline that ends in it, or a `Model`
        target : which class against the rest, of a classifier with more than two classes.
        wrong : row numbers whose labels are known to be wrong; they are drawn in another colour.
        ax : Axes for thresholds and residuals, or a pair of Axes, the second for the numbers of labels; a new
            figure with both without.
        """
        huber = last_step(estimator)
        others = (
            f"{type(huber).__name__} has no refinements; AdaptiveHuberRegressor and AdaptiveHuberClassifier"
        )
        refuse_if(not hasattr(huber, "max_refinements"), f'{others} do (method="huber")')
        check_is_fitted(huber, "thresholds_")
        pick = _output(huber, target)
        history, removed = pick(huber.history_), np.asarray(pick(huber.removed_), dtype=np.int64)
        return cls(
            thresholds=np.asarray(pick(huber.thresholds_), dtype=np.float64),
            tried=np.array([step.tried for step in history], dtype=np.float64),
            n_dropped=np.array([step.n_dropped for step in history], dtype=np.int64),
            removed=removed,
            residuals=np.asarray(pick(huber.removed_residuals_), dtype=np.float64),
            n_labels=history[-1].n_labels + len(removed) if history else int(huber.n_labels_),
        ).plot(ax, wrong=wrong)

    def plot(self, ax: Axes | Sequence[Axes] | None = None, *, wrong: ArrayLike | None = None) -> Self:
        """Draw on `ax`, on a pair of Axes, or on a new figure."""
        pair: Any = new_pair() if ax is None else ax if np.iterable(ax) else (ax, None)
        refuse_if(len(pair) != 2, f"ax: expected one Axes or two, got {len(pair)}", ShapeError)
        upper, lower = self._start(pair[0]), pair[1]
        self.counts_ax_, self.bars_ = lower, None
        steps = np.arange(len(self.thresholds))
        line: Keywords = {"color": ink(), "lw": 1.8, "label": "threshold", "zorder": 3}
        (self.threshold_line_,) = upper.step(steps, self.thresholds, where="mid", **line)
        ticks: Keywords = {"color": GREY, "ms": 11, "label": "dropped from here on", "zorder": 2}
        (self.tried_line_,) = upper.plot(steps[1:], self.tried, "_", **ticks)
        self._draw_dropped(upper, wrong)
        upper.set(ylabel="|residual|", ylim=(0.0, None), xlim=(-0.6, len(self.thresholds) - 0.4))
        upper.legend(loc="lower left", framealpha=0.92)
        (upper if lower is None else lower).set_xlabel("refinement")
        if lower is not None:
            bare(lower)
            self.bars_ = lower.bar(steps[1:], self.n_dropped, width=0.7, color=COLORS[1])
            share = 100.0 * len(self.removed) / self.n_labels
            title = f"{len(self.removed)} of {self.n_labels} labels dropped ({share:.0f} %)"
            lower.set(ylabel="labels dropped", xlim=upper.get_xlim())
            lower.set_title(title, fontsize="medium")
        for each in filter(None, pair):
            each.xaxis.get_major_locator().set_params(integer=True)
        return self

    def _draw_dropped(self, ax: Axes, wrong: ArrayLike | None) -> None:
        """Dots for dropped labels, moved sideways within a refinement."""
        # The place within the refinement, from -0.3 to 0.3: no random numbers in a picture.
        starts = np.repeat(np.cumsum(self.n_dropped) - self.n_dropped, self.n_dropped)
        rank = np.arange(len(self.removed)) - starts
        x = self.refinement + 0.6 * ((rank * 0.618033988749895) % 1.0) - 0.3
        is_wrong = np.isin(self.removed, np.asarray([] if wrong is None else wrong, dtype=np.int64))
        kinds = [(~is_wrong, COLORS[0], "o", "dropped label" if wrong is None else "dropped, was right")]
        if wrong is not None:
            kinds.append((is_wrong, COLORS[1], "x", "dropped, was wrong"))
        self.removed_ = []
        for rows, color, marker, name in kinds:
            style: Keywords = {"marker": marker, "color": color, "alpha": 0.75, "linewidths": 1.0}
            label, heights = f"{name} ({int(rows.sum())})", np.abs(self.residuals[rows])
            self.removed_.append(ax.scatter(x[rows], heights, s=18, label=label, zorder=4, **style))


def _output(estimator: Estimator, target: Label) -> Callable[[Any], Any]:
    """Values of one class of an attribute that may have several."""
    classes = list(getattr(estimator, "classes_", ()))
    if len(classes) > 2:
        refuse_if(target not in classes, f"target = {target!r}: must be one of the classes, {classes}")
        return lambda values: values[classes.index(target)]
    refuse_if(target is not None, f"target = {target!r}: the model has one function only; leave it out")
    return lambda values: values
