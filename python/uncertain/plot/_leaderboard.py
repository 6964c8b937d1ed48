"""Picture of ``Model.leaderboard_``: held-out losses and weights."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from .._data.options import refuse_if
from ._display import COLORS, MARKERS, Display, TableModel

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class LeaderboardDisplay(Display):
    """Held-out loss of every candidate of ``uncertain.fit``, the best one on top.

    Parameters
    ----------
    board : polars.DataFrame
        ``Model.leaderboard_``.

    Attributes
    ----------
    ax_, figure_ : the picture.
    """

    def __init__(self, board: Any) -> None:
        self.board = board

    @classmethod
    def from_estimator(cls, model: TableModel, *, ax: Axes | None = None) -> Self:
        """Draw the losses, with errors as they are and four times as large.

        Parameters
        ----------
        model : Model
            Of ``uncertain.fit`` without ``method=``; UncertainError for others.
        ax : by default those of a new figure.
        """
        board = getattr(model, "leaderboard_", None)
        refuse_if(board is None, "model: it was compared with no other. Fit without method=")
        return cls(board).plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw on `ax`, or on a new figure."""
        ax = self._start(ax, 8.0, 1.5 + 0.26 * self.board.height)
        from matplotlib.ticker import LogLocator

        places = np.arange(self.board.height)
        labels = ("errors as they are", "errors four times as large")
        for k, column in enumerate(("loss", "loss_x4")):
            ax.plot(self.board[column], places, MARKERS[k], color=COLORS[k], label=labels[k])
        shares = zip(self.board["model"], self.board["weight"], strict=True)
        names = [f"{name}, weight {share:.2f}" if share else name for name, share in shares]
        ax.set_yticks(places, names, fontsize="small")
        ax.invert_yaxis()
        ax.set(xscale="log", xlabel="held-out loss (less is better)")
        ax.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        ax.xaxis.set_major_formatter("{x:g}")
        ax.xaxis.set_minor_formatter("")
        ax.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2, frameon=False)
        return self
