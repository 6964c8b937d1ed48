"""What a choice among models came to: every candidate with its held-out loss; goes into the model file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import msgspec
import numpy as np

from .._held_out.means import Mean

if TYPE_CHECKING:
    import polars

STACK, SIZES_ONLY = "stack", "error sizes alone"
LABELS = {"log_loss": ("accuracy", "log loss"), "crps": ("RMSE", "CRPS")}
"""What people know, and the loss that models are chosen by."""
NAN = float("nan")


@dataclass(frozen=True)
class Entry:
    """A candidate. Numbers that do not exist are NaN."""

    model: str
    family: str
    loss: float = NAN
    """Mean held-out loss of rows as they are; less is better."""
    loss_x4: float = NAN
    """The same with errors four times as large."""
    weight: float = NAN
    """Its share in the model for rows as precise as those of the fit."""
    weight_x4: float = NAN
    weight_x8: float = NAN


@dataclass(frozen=True)
class Leaderboard:
    """All candidates by their losses, and how they were compared."""

    entries: Annotated[tuple[Entry, ...], msgspec.Meta(min_length=1)]
    measure: Annotated[str, msgspec.Meta(pattern="^(log_loss|crps)$")]
    effort: str
    noise: tuple[float, float] | None
    rule: str = ""
    """Why one model was fitted without a comparison; empty where models were compared."""
    left_out: tuple[str, ...] = ()
    """Candidates that were not tried, with the reasons."""
    n_rows: int = 0
    """Rows that were held out; 0 if none were."""
    folds: int = 0
    n_groups: int | None = None
    n_together: int = 0
    """Rows that were held out together with rows that equal them."""
    score: Mean | None = None
    """Accuracy of the model for held-out rows, or the root mean square of its errors."""
    loss: Mean | None = None
    means_score: Mean | None = None
    """The same of the best candidate without error bars."""
    means_loss: Mean | None = None
    gain: Mean | None = None
    """By how much the model's loss is below it."""
    no_model: float = NAN
    """The loss of the classes' shares, or of one normal law, for every row."""

    def frame(self) -> polars.DataFrame:
        """A row for each candidate, the smallest loss first; null for what does not exist."""
        import polars

        names = ("loss", "loss_x4", "weight", "weight_x4")
        columns: dict[str, list[object]] = {"model": [entry.model for entry in self.entries]}
        for name in names:
            values = [getattr(entry, name) for entry in self.entries]
            columns[name] = [None if np.isnan(value) else value for value in values]
        return polars.DataFrame(
            columns, schema={"model": polars.String} | dict.fromkeys(names, polars.Float64)
        )

    def lines(self) -> list[tuple[str, str]]:
        """Return labels and texts of lines for `print(model)`."""
        if self.rule:
            return [("model", f"{self.entries[0].model}, {self.rule}")]
        label, loss = LABELS[self.measure]
        how = f"{self.folds} folds" if self.folds > 1 else f"{self.n_rows:,} rows"
        equal = f"; {self.n_together:,} rows with others that equal them" if self.n_together else ""
        lines = [
            (label, f"{_both(self.score, loss, self.loss)} (held out, {how}{equal})"),
            ("without errors", self._without()),
            ("model", self.shares()),
            ("", self.warning()),
        ]
        if self.left_out:
            shown = "; ".join(self.left_out[:2])
            more = f"; {len(self.left_out) - 2} more" if len(self.left_out) > 2 else ""
            lines.append(("not tried", shown + more))
        return lines

    def shares(self) -> str:
        """Return which kinds of models answer for precise and for noisy rows."""
        if len(self._members) == 1:
            return self._members[0].model
        precise, noisy = self._families(lambda e: e.weight), self._families(lambda e: e.weight_x8)
        if precise == noisy:
            return f"average: {precise}"
        return f"average: {precise} for rows as precise as these; {noisy} with errors 8 times as large"

    def warning(self) -> str:
        """Return the sentence on errors that tell the target without any value; "" if they do not."""
        sizes = next((entry.loss for entry in self.entries if entry.model == SIZES_ONLY), NAN)
        return of_sizes(LABELS[self.measure][1], sizes, self.no_model, self.loss.value if self.loss else NAN)

    @property
    def _members(self) -> Sequence[Entry]:
        """Those that have a share in the model."""
        return [e for e in self.entries if max(e.weight, e.weight_x8) > 0.0] or self.entries[:1]

    def _families(self, weight: Callable[[Entry], float]) -> str:
        sums: dict[str, float] = {}
        for entry in self._members:
            sums[entry.family] = sums.get(entry.family, 0.0) + weight(entry)
        order = sorted((item for item in sums.items() if item[1] >= 0.005), key=lambda item: -item[1])
        if len(order) == 1:
            return f"{order[0][0]} alone"
        return ", ".join(f"{share:.2f} {family}" for family, share in order)

    def _without(self) -> str:
        """Return what error bars gain."""
        if self.gain is None:
            return ""
        if all(entry.family.endswith("on means") for entry in self._members):
            return "this model: candidates with error bars are not better"
        verb, loss = "gain" if self.gain.value >= 0 else "cost", LABELS[self.measure][1]
        gain = pm(abs(self.gain.value), self.gain.se)
        return f"{_both(self.means_score, loss, self.means_loss)}: error bars {verb} {gain}"


def of_sizes(label: str, sizes: float, none: float, model: float) -> str:
    """The sentence on error sizes that gain more than half of what a model does; "" if they do not."""
    if not none - sizes > 0.5 * (none - model) > 0.0:
        return ""
    return (
        f"sizes of errors and gaps predict the target without any value: {label} {sizes:.3g} (no model: "
        f"{none:.3g}). Check that new rows will have such errors"
    )


def _both(score: Mean | None, label: str, loss: Mean | None) -> str:
    """The score that people know, and the loss."""
    assert score is not None and loss is not None
    return f"{pm(*score, digits=1)}    {label} {pm(*loss)}"


def pm(value: float, se: float, sign: str = "", digits: int = 2) -> str:
    """A value and its standard error, to so many digits of the latter; "-" for no value."""
    if not se > 0:
        return "-" if np.isnan(value) else f"{value:{sign}.4g}"
    places = min(max(digits - 1 - int(np.floor(np.log10(se))), 0), 6)
    return f"{value:{sign}.{places}f} ± {se:.{places}f}"
