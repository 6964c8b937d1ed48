"""From held-out losses to one model: the simplest good member, or an average; and the leaderboard of it.

The rule is in `choose`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .._data.typing import Floats
from .._held_out.means import Mean, mean_known
from .comparison import Comparison
from .leaderboard import MEANS_ONLY, Entry
from .portfolio import Member
from .stacking import stacked
from .trial import Trial

TOLERANCE = 1.0
"""Standard errors within which a simpler member is taken."""
GOOD = 2.0
"""Standard errors within which a member may enter an average."""
CLEARLY = 3.0
"""Standard errors by which a member of `UNSTEADY` must be better than all others to be chosen."""
UNSTEADY = ("kernel",)
"""Methods that compare the sizes of rows' errors: the kernel between Gaussians fell from 93.8 to 68.1 % on
Kepler's catalogue when errors were three times as large, re-measured trees from 93.7 to 91.5 %."""
MOST_MEMBERS = 5
"""Members of an average, and `PER_METHOD` of each method."""
PER_METHOD = 2
LEAST_WEIGHT = 0.05
"""Members of an average that would count less are left out of it."""


class Ranking:
    """Tried members, the simplest first, by mean loss."""

    def __init__(self, trials: Sequence[Trial], comparison: Comparison) -> None:
        self.trials, self.comparison = list(trials), comparison
        self.scores = [comparison.mean(trial.losses).value for trial in trials]
        self.order = sorted(range(len(trials)), key=lambda k: self.scores[k])
        self.best = self.order[0]

    def behind(self, k: int) -> Mean:
        """By how much member k is worse than the best."""
        return self.comparison.mean(self.trials[k].losses - self.trials[self.best].losses)

    def is_within(self, k: int, tolerance: float) -> bool:
        """Is it within so many standard errors of the best?"""
        mean, se = self.behind(k)
        return k == self.best or mean <= tolerance * se

    @property
    def simplest(self) -> int:
        """The first member that is as good as the best.

        Members that lose most where errors are larger count only if they are clearly better than all others.
        """
        members = [trial.member for trial in self.trials]
        steady = [
            k for k in self.order if members[k].method not in UNSTEADY or members[k].meaning == MEANS_ONLY
        ]
        if len(steady) < len(self.order) and steady and self.is_within(steady[0], CLEARLY):
            others = Ranking([self.trials[k] for k in sorted(steady)], self.comparison)
            return sorted(steady)[others._first]
        return self._first

    @property
    def _first(self) -> int:
        return next(k for k in range(len(self.trials)) if self.is_within(k, TOLERANCE))

    def average(self) -> dict[int, float]:
        """Weights of the good members, by their numbers; one alone has the weight 1."""
        good: list[int] = []
        for k in self.order:
            alike = sum(self.trials[g].member.method == self.trials[k].member.method for g in good)
            if alike < PER_METHOD and self.is_within(k, GOOD):
                good.append(k)
        good = good[:MOST_MEMBERS]
        while True:
            weights = self._weights(good)
            kept = [k for k, weight in zip(good, weights, strict=True) if weight >= LEAST_WEIGHT]
            if len(kept) == len(good):
                return dict(zip(good, weights.tolist(), strict=True))
            good = kept

    def _weights(self, good: Sequence[int]) -> Floats:
        answers = np.stack([self.trials[k].answers for k in good])
        lines = answers.shape[1]
        known = ~np.isnan(answers).any(axis=0).ravel()
        training = self.comparison.training
        counts = np.tile(training.counts / lines, lines)[known]
        truth = np.tile(training.y, lines)[known] if self.comparison.classes is None else None
        return stacked(answers.reshape(len(good), -1)[:, known], counts, truth)


def entry(trial: Trial, best: Trial, comparison: Comparison) -> Entry:
    """Its line: losses of numbers as root mean squares, with standard errors by the delta method."""
    score, score_se = comparison.mean(trial.losses)
    behind, behind_se = comparison.mean(trial.losses - best.losses)
    if comparison.classes is None:
        root, root_best = np.sqrt(score), np.sqrt(comparison.mean(best.losses).value)
        score, score_se = float(root), float(score_se / (2 * root)) if root > 0 else 0.0
        behind = score - float(root_best)
        if root > 0 and root_best > 0:
            paired = trial.losses / (2 * root) - best.losses / (2 * root_best)
            behind_se = comparison.mean(paired).se
    right = trial.right
    return Entry(
        trial.member.method,
        trial.member.meaning,
        trial.member.given,
        score,
        score_se,
        behind,
        behind_se,
        accuracy=float("nan") if right is None else comparison.mean(mean_known(right, 0)).value,
        seconds=trial.seconds,
        gap=trial.gap,
        status=trial.status,
    )


def gain(chosen: Trial, without: Trial, comparison: Comparison) -> tuple[float, float]:
    """By how much one loss is less than another, paired; root mean squares of numbers."""
    line = entry(without, chosen, comparison)
    return line.behind, line.behind_se


def skipped_entry(member: Member) -> Entry:
    """The line of a member that was not tried."""
    return Entry(member.method, member.meaning, member.given, note=f"left out: {member.reason}")
