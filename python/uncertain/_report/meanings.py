"""What do the error bars mean in this data? The possible answers, compared on held-out rows.

Four models on the same folds: the means alone; the error bars as spread (SVM-GSU); as measurement error
(denoised, then SVM-GSU); and Gaussian discriminant analysis with known noise. Differences are paired, and a
model counts as the best only if it is ahead of the next one by more than two standard errors.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from .._data.typing import Floats
from ..discriminant import GaussianDiscriminant
from ..preprocessing import GaussianDenoiser, GaussianImputer, GaussianScaler
from ..svm import GSUClassifier
from ..tables._groups import Groups
from .held_out import standard_error

MEANS_ONLY = "means only"


@dataclass(frozen=True)
class Meaning:
    """One way to understand the error bars, and how well it did on held-out rows."""

    name: str
    """ "means only", "spread", "measurement" or "discriminant"."""
    scores: Floats
    """Accuracy in each fold of the repeated cross-validation."""
    score_se: float
    """Standard error of `score`."""
    difference: float
    """Mean paired difference to the means alone."""
    difference_se: float
    """Standard error of `difference`."""

    @property
    def score(self) -> float:
        """Mean held-out accuracy."""
        return float(self.scores.mean())


@dataclass(frozen=True)
class Meanings:
    """All of them, best first, and the lead of the first over the second."""

    ranking: tuple[Meaning, ...]
    lead: float
    """Mean paired difference of the best two."""
    lead_se: float
    """Standard error of `lead`."""

    @property
    def verdict(self) -> str:
        """One sentence; a lead counts when it exceeds two standard errors."""
        best, second = self.ranking[:2]
        lead, error = 100 * self.lead, 100 * self.lead_se
        if self.lead > 2 * self.lead_se:
            return f'Best: "{best.name}", by {lead:.1f} +- {error:.1f} points over "{second.name}".'
        return (
            f'No clear winner: "{best.name}" is ahead of "{second.name}" by {lead:.1f} +- {error:.1f} points.'
        )

    def lines(self) -> list[str]:
        """A small table."""
        lines = [self.verdict]
        for m in self.ranking:
            paired = (
                ""
                if m.name == MEANS_ONLY
                else f"   {100 * m.difference:+6.2f} +- {100 * m.difference_se:.2f} to {MEANS_ONLY}"
            )
            lines.append(f"  {m.name:<13} {100 * m.score:6.2f} +- {100 * m.score_se:.2f} %{paired}")
        return lines

    def to_dict(self) -> dict[str, Any]:
        """Numbers, strings and lists."""
        rows = [
            {
                "name": m.name,
                "score": m.score,
                "score_se": m.score_se,
                "difference": m.difference,
                "difference_se": m.difference_se,
                "scores": m.scores.tolist(),
            }
            for m in self.ranking
        ]
        return {"ranking": rows, "lead": self.lead, "lead_se": self.lead_se, "verdict": self.verdict}


def own_meaning(pipeline: Pipeline) -> str:
    """How this pipeline understands error bars."""
    if isinstance(pipeline[-1], GaussianDiscriminant):
        return "discriminant"
    denoised = any(isinstance(step, GaussianDenoiser) for _, step in pipeline.steps)
    return "measurement" if denoised else "spread"


def alternatives(pipeline: Pipeline, *, gaps: bool = False) -> dict[str, Pipeline]:
    """Pipelines like this one for the meanings that it does not have itself; `gaps`: for rows with some."""
    own = own_meaning(pipeline)
    filling = (GaussianDenoiser, GaussianImputer)
    steps = [(name, step) for name, step in pipeline.steps if not isinstance(step, filling)]
    if own == "discriminant":
        steps[-1] = ("classify", GSUClassifier(random_state=0))
    denoiser = ("denoise", GaussianDenoiser(random_state=0))
    imputer = [("impute", GaussianImputer(random_state=0))] if gaps else []
    others = {
        "spread": _scaled_by(Pipeline([*imputer, *steps]), "means"),
        "measurement": _scaled_by(Pipeline([denoiser, *steps]), "total"),
        "discriminant": Pipeline([("classify", GaussianDiscriminant(random_state=0))]),
    }
    del others[own]
    return others


def _scaled_by(pipeline: Pipeline, spread: str) -> Pipeline:
    copy = clone(pipeline)
    for _, step in copy.steps:
        if isinstance(step, GaussianScaler):
            step.set_params(spread=spread)
    return copy


def ranked(correct: Mapping[str, Floats], groups: Groups | None = None) -> Meanings:
    """From who was right in which split (splits x rows, NaN in training), for every meaning."""
    base = correct[MEANS_ONLY]
    entries = []
    for name, own in correct.items():
        difference = float(np.nanmean(own - base, axis=1).mean())
        entries.append(
            Meaning(
                name,
                np.nanmean(own, axis=1),
                standard_error(own, groups),
                difference,
                standard_error(own - base, groups),
            )
        )
    entries.sort(key=lambda m: -m.score)
    first, second = correct[entries[0].name], correct[entries[1].name]
    lead = entries[0].score - entries[1].score
    return Meanings(tuple(entries), lead, standard_error(first - second, groups))
