"""What the reports of classifiers and of regressions share: the model beside itself without error bars."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .base import BaseReport, Fit, aligned, comparison
from .board import MEANS_ONLY, Table
from .meanings import Meanings


@dataclass(frozen=True, kw_only=True, repr=False)
class BesideMeans(BaseReport):
    """A model beside itself without error bars."""

    _derived: ClassVar[tuple[str, ...]] = (
        *("scores", "scores_means_only", "score", "score_se", "score_means_only", "score_means_only_se"),
        *("difference", "difference_se", "verdict", "winner"),
    )

    gap: float
    """Certified relative distance to the optimum of the fit with error bars (its worst problem); NaN for a
    method without a certificate."""
    gap_means_only: float
    seconds: float
    """Time of one fit to all rows, without calibration."""
    seconds_means_only: float
    meanings: Meanings | None = None
    """What error bars may mean (nothing, spread, measurement error, of classes also a discriminant), on the
    same folds; None if it was not asked for, or if no row has error bars. A meaning that gaps leave without a
    feature in some fold is not among them."""

    def _in_choice(self, metric: str) -> str:
        """A sentence on the measure that choices go by, where another one ranks; "" if it does not differ."""
        if self.board.scoring.name == metric or (MEANS_ONLY, metric) not in self.board.scores:
            return ""
        change = self.board.difference(self.own, MEANS_ONLY, metric)
        word = "raised" if change.mean > 0 else "lowered"
        label = next(m.label for m in self.board.metrics if m.name == metric)
        return (
            f" They {word} the {label} by {abs(change.mean):.3g} +- {change.se:.2g}." if change.counts else ""
        )

    def comparison(self) -> Table:
        """The model beside the means alone: titles, and a row for every measure."""
        fits = (Fit(self.gap, self.seconds), Fit(self.gap_means_only, self.seconds_means_only))
        return comparison(self.board, self.own, MEANS_ONLY, ("with error bars", MEANS_ONLY), fits)

    def sections(self) -> list[tuple[str, Table]]:
        """The tables of the report, each with a title and under a row of titles."""
        tables = [(self._title, self.comparison())]
        if self.meanings is not None:
            tables.append((f"What the error bars mean. {self.meanings.verdict}", self.meanings.rows()))
        return tables

    def _lines(self) -> list[str]:
        """How the text begins."""
        meant = [] if self.meanings is None else ["", "What the error bars mean", *self.meanings.lines()]
        return [self.verdict, "", self._title, *aligned(self.comparison()), *meant]
