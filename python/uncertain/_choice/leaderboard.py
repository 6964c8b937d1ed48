"""What a choice among models came to: every candidate with its held-out loss; goes into the model file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import msgspec
import numpy as np

if TYPE_CHECKING:
    import polars

STACK, SIZES_ONLY = "stack", "error sizes alone"
LABELS = {"log_loss": "log loss", "crps": "CRPS"}
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
    seconds: float = NAN
    """Of its fits for the choice."""


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
    loss_se: float = NAN
    accuracy: float = NAN
    """Of classes, the share of held-out rows whose class was predicted."""
    means_se: float = NAN
    """Of the loss of the best candidate without error bars."""
    gain: float = NAN
    """By how much the model beats the best candidate without error bars, in loss."""
    gain_se: float = NAN
    no_model: float = NAN
    """The loss of the classes' shares, or of one normal law, for every row."""

    def frame(self) -> polars.DataFrame:
        """A row for each candidate, the smallest loss first; null for what does not exist."""
        import polars

        names = ("loss", "loss_x4", "weight", "weight_x4", "seconds")
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
        label, score = LABELS[self.measure], self._of(STACK) or self._members[0]
        right = "" if np.isnan(self.accuracy) else f"accuracy {self.accuracy:.2f}, "
        equal = f", {self.n_together:,} with others that equal them" if self.n_together else ""
        folds = f"{self.n_rows:,} rows{equal}, {self.folds} fold{'s' * (self.folds > 1)}"
        lines = [
            ("model", self.shares()),
            ("held out", f"{right}{label} {pm(score.loss, self.loss_se)} ({folds})"),
            ("without errors", self._without()),
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
            return f"a stack: {precise}"
        return f"a stack: for rows as precise as those of the fit {precise}; errors 8 times as large {noisy}"

    def warning(self) -> str:
        """Return the sentence on errors that tell the target without any value; "" if they do not."""
        sizes, score = self._of(SIZES_ONLY), self._of(STACK) or self._members[0]
        if sizes is None or not self.no_model - sizes.loss > 0.5 * (self.no_model - score.loss) > 0.0:
            return ""
        return (
            f"error sizes and gaps alone, without any value, have a {LABELS[self.measure]} of "
            f"{sizes.loss:.3g} (no model: {self.no_model:.3g}): they may tell the target by themselves"
        )

    @property
    def _members(self) -> Sequence[Entry]:
        """Those that have a share in the model."""
        return [e for e in self.entries if max(e.weight, e.weight_x8) > 0.0] or self.entries[:1]

    def _of(self, model: str) -> Entry | None:
        return next((entry for entry in self.entries if entry.model == model), None)

    def _families(self, weight: Callable[[Entry], float]) -> str:
        sums: dict[str, float] = {}
        for entry in self._members:
            sums[entry.family] = sums.get(entry.family, 0.0) + weight(entry)
        order = sorted((item for item in sums.items() if item[1] >= 0.005), key=lambda item: -item[1])
        return ", ".join(f"{family} {100 * share:.0f} %" for family, share in order)

    def _without(self) -> str:
        """Return what error bars gain."""
        means = next((entry for entry in self.entries if entry.family.endswith("on means")), None)
        if means is None or np.isnan(self.gain):
            return ""
        if all(entry.family.endswith("on means") for entry in self._members):
            return "this model: candidates with error bars are not better"
        verb = "gain" if self.gain >= 0 else "cost"
        loss, gain = pm(means.loss, self.means_se), pm(abs(self.gain), self.gain_se)
        return f"{LABELS[self.measure]} {loss}: error bars {verb} {gain}"


def pm(value: float, se: float, sign: str = "") -> str:
    """A value and its standard error, to two digits of the latter; "-" for no value."""
    if not se > 0:
        return "-" if np.isnan(value) else f"{value:{sign}.4g}"
    places = min(max(1 - int(np.floor(np.log10(se))), 0), 6)
    return f"{value:{sign}.{places}f} ± {se:.{places}f}"
