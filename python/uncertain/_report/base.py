"""What the reports share: the scoreboard, the text and fields about folds, and the winner."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, ClassVar, NamedTuple, Self

import numpy as np

from .._data.typing import Floats, Ints, JsonObject, Keywords
from .board import MEANS_ONLY, Board, Difference, Score, Table
from .folds import Design, Folds
from .metrics import Answer
from .pictures import scores_picture

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Fit(NamedTuple):
    """One fit to all rows: its certified gap, and its time."""

    gap: float
    seconds: float


_TO_FIT = {
    "spread": 'Fit with meaning="spread".',
    "measurement": 'Fit with meaning="measurement".',
    "discriminant": 'Fit with method="discriminant".',
    MEANS_ONLY: "Fit without the error columns (exact=[...] names the features).",
}
"""How to fit each winner of a report."""


@dataclass(frozen=True, kw_only=True, repr=False)
class BaseReport:
    """What held-out rows of a repeated cross-validation say about a model; printed as text.

    Scores are those of one measure, `scoring`; the others are in `board`.
    """

    _derived: ClassVar[tuple[str, ...]]
    """Properties that `to_dict` gives beside the fields."""
    _row_numbers: ClassVar[tuple[str, ...]] = ()
    """Fields that hold numbers of rows."""

    n_rows: int
    """Rows that were compared."""
    folds: int
    repeats: int
    folds_done: int
    """Folds of all repeats that were compared: ``folds * repeats`` unless the time was over before."""
    n_groups: int | None = None
    """Groups whose rows were held out together; None if rows were held out one by one."""
    group: str | None = None
    """What the rows of one group share: the name of the column, or "group"."""
    board: Board
    """Every candidate by every measure, and paired differences."""
    own: str
    """The candidate that is the model."""
    n_equal: int = 0
    """Rows that were held out together because they equal one another."""
    n_table: int | None = None
    """Rows of the table, where those that were compared are a sample of them; None where they are all."""

    @property
    def verdict(self) -> str:
        """One sentence; a difference counts when it exceeds two standard errors."""
        raise NotImplementedError

    @property
    def scoring(self) -> str:
        """Name of the measure that ranks."""
        return self.board.scoring.name

    @property
    def scores(self) -> Floats:
        """The model's score in each fold, shape (folds_done,)."""
        return self._own.values

    @property
    def scores_means_only(self) -> Floats:
        """That of the same model without error bars in the same folds."""
        return self._plain.values

    @property
    def score(self) -> float:
        """Mean held-out score with error bars."""
        return self._own.mean

    @property
    def score_means_only(self) -> float:
        """Mean held-out score without error bars."""
        return self._plain.mean

    @property
    def score_se(self) -> float:
        """Standard error of `score`."""
        return self._own.se

    @property
    def score_means_only_se(self) -> float:
        """Standard error of `score_means_only`."""
        return self._plain.se

    @property
    def difference(self) -> float:
        """Mean of the paired differences: with error bars minus without."""
        return self._change.mean

    @property
    def difference_se(self) -> float:
        """Standard error of `difference`, which is paired and therefore smaller."""
        return self._change.se

    @property
    def winner(self) -> str:
        """The model, unless a candidate is better by two standard errors."""
        best = self.board.names[0]
        return best if self.board.lead(best, self.own).counts else self.own

    def renumbered(self, at: Ints, n_table: int) -> Self:
        """Return the report with the row numbers of a larger table."""
        numbers = {name: at[getattr(self, name)] for name in self._row_numbers}
        return replace(self, n_table=n_table, **numbers)

    @property
    def _own(self) -> Score:
        return self.board.score(self.own)

    @property
    def _plain(self) -> Score:
        return self.board.score(MEANS_ONLY)

    @property
    def _change(self) -> Difference:
        return self.board.difference(self.own, MEANS_ONLY)

    def to_dict(self) -> JsonObject:
        """Numbers, strings and lists, ready for JSON or a data frame."""
        shown = [f.name for f in fields(self) if not f.name.startswith("_") and f.name != "board"]
        given = {name: json_ready(getattr(self, name)) for name in (*shown, "scoring", *self._derived)}
        return given | {"metrics": json_ready(self.board.to_dict())}

    def __repr__(self) -> str:
        return str(self)

    @property
    def _compared(self) -> str:
        """What was compared, for people."""
        return f"{self.n_rows:,} rows"

    @property
    def _title(self) -> str:
        """The headline of the text, with the folds."""
        groups = "" if self.n_groups is None else f", rows of one {self.group} kept together "
        groups += "" if self.n_groups is None else f"({self.n_groups:,} groups)"
        groups += f", {self.n_equal:,} equal ones kept together " if self.n_equal else ""
        done = self.folds_done
        short = "" if done == self.folds * self.repeats else f" (the time was over after {done} of them)"
        sample = "" if self.n_table is None else f" (a sample of the {self.n_table:,} in the table)"
        design = f"{self.folds} folds x {self.repeats} repeats{short}, {self._compared}{sample}{groups}"
        return f"Held-out scores, {design} (mean +- standard error)"

    def sections(self) -> list[tuple[str, Table]]:
        """The tables of the report, each with a title and under a row of titles."""
        raise NotImplementedError

    def pictures(self) -> dict[str, Figure]:
        """matplotlib's figures by title: every candidate with its score and paired difference."""
        return {"Held-out scores": scores_picture(self.board, self.own)}

    @property
    def reason(self) -> str:
        """Why this candidate is the winner, and how to fit it."""
        if self.winner == self.own:
            return "The model as it is: nothing is better by more than two standard errors."
        lead = amount(self.board, self.board.lead(self.winner, self.own))
        better = f'Better than the model as it is: "{self.winner}", by {lead} ({self.board.scoring.label}).'
        return f"{better} {_TO_FIT[self.winner]}" if self.winner in _TO_FIT else better


def common(
    design: Design, folds: Folds, answers: Mapping[str, Sequence[Answer]], board: Board, own: str
) -> Keywords:
    """The fields of a report that say how it was compared."""
    done = len(answers[own])
    return {**folds.about, "folds_done": done, "board": board, "own": own}


def comparison(
    board: Board, own: str, other: str, titles: tuple[str, str], fits: tuple[Fit, Fit] | None = None
) -> Table:
    """Two candidates beside each other: a row of texts for every measure, under a row of titles."""
    rows: Table = [("", *titles, "paired difference")]
    most = max((taken(board, own, m.name) for m in board.metrics), default=0)
    for metric in board.metrics:
        if (own, metric.name) not in board.scores:
            continue
        mine, theirs = board.score(own, metric.name), board.scores.get((other, metric.name))
        change = board.difference(own, other, metric.name)
        star = " *" if taken(board, own, metric.name) < most else ""
        rows.append(
            (
                metric.label + star,
                metric.text(mine.mean, mine.se),
                "-" if theirs is None else metric.text(theirs.mean, theirs.se),
                metric.text(change.mean, change.se, plus=True),
            )
        )
    if fits is not None:
        if not all(np.isnan(fit.gap) for fit in fits):
            rows.append(("certified gap", *(f"{fit.gap:.1e}" for fit in fits), ""))
        rows.append(("time of one fit", *(f"{fit.seconds * 1e3:.1f} ms" for fit in fits), ""))
    return rows


def taken(board: Board, name: str, metric: str) -> int:
    """The number of folds in which a measure was taken."""
    found = board.scores.get((name, metric))
    return 0 if found is None else int((~np.isnan(found.values)).sum())


def aligned(rows: Table) -> list[str]:
    """A table as text: the first column to the left, the others to the right."""
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    lines = [
        "  "
        + row[0].ljust(widths[0])
        + "".join("   " + c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True))
        for row in rows
    ]
    starred = any(row[0].endswith(" *") for row in rows)
    return [line.rstrip() for line in lines] + (["  * first repeat only"] if starred else [])


def amount(board: Board, difference: Difference) -> str:
    """The size of a difference of the measure that ranks: points, or in its own units."""
    size, se = abs(difference.mean), difference.se
    if board.scoring.percent:
        return f"{100 * size:.1f} +- {100 * se:.1f} points"
    return f"{size:.3g} +- {se:.2g}"


def json_ready(value: object) -> object:
    """Arrays as lists, reports as dictionaries, and None for a number that there is not."""
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if isinstance(value, Mapping):
        return {key: json_ready(v) for key, v in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [json_ready(v) for v in (value.tolist() if isinstance(value, np.ndarray) else value)]
    return None if isinstance(value, float) and np.isnan(value) else value
