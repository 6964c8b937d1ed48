"""What a choice among models came to: every candidate with its held-out score; goes into the model file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Annotated

import msgspec
import numpy as np

if TYPE_CHECKING:
    import polars

AVERAGE = "average"
"""The method of an average."""
MEANS_ONLY = "means only"
"""The meaning of error bars for a member that drops them."""
RACED = "left the race, clearly behind, after"
"""How the note of a candidate begins that did not do all folds."""
LABELS = {"log_loss": "log loss", "rmse": "rms error"}


@dataclass(frozen=True)
class Entry:
    """A candidate. Numbers that do not exist are NaN."""

    method: str
    meaning: str
    parameters: str = ""
    score: float = float("nan")
    """Mean held-out loss; less is better."""
    score_se: float = float("nan")
    behind: float = float("nan")
    """By how much it is worse than the best candidate, on the same rows."""
    behind_se: float = float("nan")
    accuracy: float = float("nan")
    """Of classes, the share of held-out rows whose class was predicted."""
    seconds: float = float("nan")
    """Of all its fits for the choice."""
    gap: float = float("nan")
    """The largest certified relative distance to the optimum of its fits."""
    status: str = ""
    """How many of its fits ended with their last pass (`max_iter`) before they converged; empty for none."""
    weight: float | None = 0.0
    """Its share in the model: 1 for the chosen one, None for an average, which has the others."""
    note: str = ""
    """Why it was not tried, that it is there for comparison, or why it was fitted by rule."""

    @property
    def text(self) -> str:
        """Method, meaning and parameters."""
        inside = ", ".join(filter(None, [self.meaning, self.parameters]))
        return f"{self.method} ({inside})" if inside else self.method


@dataclass(frozen=True)
class Leaderboard:
    """All candidates, best first, and how they were compared."""

    entries: Annotated[tuple[Entry, ...], msgspec.Meta(min_length=1)]
    measure: Annotated[str, msgspec.Meta(pattern="^(log_loss|rmse)$")]
    chosen: str
    """What became the model."""
    effort: str
    noise: tuple[float, float] | None
    n_rows: int = 0
    """Rows that the choice was made on; 0 if nothing was held out."""
    folds: int = 0
    """Fits of each candidate."""
    n_groups: int | None = None
    gain: float = float("nan")
    """By how much the chosen one beats the best candidate without error bars."""
    gain_se: float = float("nan")
    without: str = ""
    """The best candidate without error bars."""
    random_state: int = 0
    n_together: int = 0
    """Rows that were held out together with rows that equal them."""
    exact: str = ""
    """What takes the columns that were left out, as they have no error bars."""
    exact_gain: float = float("nan")
    """By how much re-measured boosting with these columns beats the chosen one."""
    exact_gain_se: float = float("nan")
    n_apart: int = 0
    """Rows of large sets of equal rows, which were held out one by one."""

    def frame(self) -> polars.DataFrame:
        """A row for each candidate; null for what does not exist. It prints six columns."""
        columns: dict[str, object] = {
            f.name: [_known(getattr(entry, f.name)) for entry in self.entries]
            for f in fields(Entry)
            if f.name != "accuracy" or self.measure != "rmse"
        }
        import polars

        from .board_frame import BoardFrame

        text = {"method", "meaning", "parameters", "status", "note"}
        schema = {name: polars.String if name in text else polars.Float64 for name in columns}
        return BoardFrame(columns, schema=schema)

    def lines(self) -> list[tuple[str, str]]:
        """Return labels and texts of lines for `print(model)`."""
        if not self.n_rows:
            notes = "".join(f": {entry.note}" for entry in self.entries if entry.note)
            return [("model", f"{self.chosen}, by rule{notes}")]
        tried = sum(
            np.isfinite(e.score)
            and (not e.note or (e.note.startswith(RACED) and e.meaning != MEANS_ONLY))
            and e.method != AVERAGE
            for e in self.entries
        )
        chosen = next((e for e in self.entries if e.text == self.chosen), self.entries[0])
        equal = f", {self.n_together:,} with others that equal them" if self.n_together else ""
        equal += f", {self.n_apart:,} of large sets of equal rows one by one" if self.n_apart else ""
        errors = "" if self.noise is None else f", errors x {self.noise[0]:g} to {self.noise[1]:g}"
        held_out = f" (held out, {self.n_rows:,} rows{equal}, {self.folds} fits each{errors})"
        shares = [e for e in self.entries if e.weight is not None and 0.0 < e.weight < 1.0]
        model = self.chosen
        if shares:
            model += ": " + ", ".join(f"{e.weight:.2f} {e.text}" for e in shares)
        (label, score), *more = self._scores(chosen)
        lines = [
            (label, ", ".join([score, *map(" ".join, more)]) + held_out),
            ("without errors", self._without(chosen, shares)),
            ("model", f"{model}; best of {tried} candidates"),
        ]
        late = sum("time_limit" in e.note for e in self.entries)
        if late:
            lines.append(("stopped", f"time_limit left out {late} candidates; another run may differ"))
        if self.worth:
            lines.append(("left out", self.worth.removeprefix("; ")))
        return lines

    def _scores(self, entry: Entry) -> list[tuple[str, str]]:
        """Return the accuracy, if there is one, and the loss of held-out rows, with their names."""
        loss = LABELS[self.measure], _pm(entry.score, entry.score_se)
        return [("accuracy", f"{entry.accuracy:.2f}"), loss] if np.isfinite(entry.accuracy) else [loss]

    def _without(self, chosen: Entry, shares: Sequence[Entry]) -> str:
        """Return what error bars gain."""
        if any(e.meaning == MEANS_ONLY for e in (chosen, *shares)):
            compared = [e for e in self.entries if np.isfinite(e.score) and e.method != AVERAGE]
            if any(e.meaning != MEANS_ONLY for e in compared):
                return "this model: candidates with error bars are not better"
            return "this model: candidates with error bars are beyond the budget of a choice"
        if not np.isfinite(self.gain):
            return ""
        best = next((e for e in self.entries if e.text == self.without), None)
        scores = "" if best is None else ", ".join(map(" ".join, self._scores(best))) + ": "
        verb = "gain" if self.gain >= 0 else "cost"
        return f"{scores}error bars {verb} {_pm(abs(self.gain), self.gain_se)}"

    @property
    def worth(self) -> str:
        """What the columns without error bars are worth, for the warning that names them; "" if not known."""
        if not np.isfinite(self.exact_gain):
            return ""
        trees = f"; re-measured trees with {self.exact} have a held-out {LABELS[self.measure]}"
        if self.exact_gain <= 2.0 * self.exact_gain_se:
            return f"{trees} that is not measurably better than the chosen model's"
        return f"{trees} that is {_pm(self.exact_gain, self.exact_gain_se)} better than the chosen model's"


def _known(value: object) -> object:
    return None if isinstance(value, float) and np.isnan(value) else value


def _pm(value: float, se: float) -> str:
    """A value and its standard error, to two digits of the latter."""
    places = min(max(1 - int(np.floor(np.log10(se))), 0), 6) if se > 0 else 4
    return f"{value:.{places}f} ± {se:.{places}f}"
