"""What do the error bars mean in this data? The possible answers, compared on held-out rows.

Four models on the same folds: the means alone; the error bars as spread (SVM-GSU); as measurement error
(denoised, then SVM-GSU); and Gaussian discriminant analysis with known noise. Of a regression the first
three, where measurement error means the regression of the target on posterior means. Differences are paired,
and a model counts as the best only if it is ahead of the next one by more than two standard errors.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import Pipeline

from .._data.typing import Floats, JsonObject
from .._estimators.discriminant import GaussianDiscriminant
from .._estimators.gsu import GSUClassifier
from .._estimators.remeasured import RemeasuredClassifier, RemeasuredRegressor
from ..laws.law import Law
from ..preprocessing import (
    GaussianCollapser,
    GaussianDenoiser,
    GaussianImputer,
    GaussianLogScaler,
    GaussianScaler,
)
from .base import aligned, amount
from .board import MEANS_ONLY, Board, Difference, Table

Step: TypeAlias = tuple[str, BaseEstimator]
Steps: TypeAlias = list[Step]

AVERAGE = "average"
"""The model itself, if it is an average of several."""
MEASURED = (Law, RemeasuredClassifier, RemeasuredRegressor)
"""Models of true values by nature: there are none like them for spread."""


@dataclass(frozen=True)
class Meaning:
    """One way to understand the error bars, and how well it did on held-out rows."""

    name: str
    """ "means only", "spread", "measurement" or "discriminant"."""
    scores: Floats
    """Its score in each fold of the repeated cross-validation."""
    score: float
    """Mean held-out score."""
    score_se: float
    """Standard error of `score`."""
    difference: float
    """Mean paired difference to the means alone."""
    difference_se: float
    """Standard error of `difference`."""


@dataclass(frozen=True, repr=False)
class Meanings:
    """All of them, best first, and the lead of the first over the second."""

    board: Board

    @property
    def ranking(self) -> tuple[Meaning, ...]:
        """Every meaning by the measure of the report, best first."""
        return tuple(self._meaning(name) for name in self.board.names)

    @property
    def lead(self) -> float:
        """Mean paired difference of the best two; positive."""
        return self._lead.mean

    @property
    def lead_se(self) -> float:
        """Standard error of `lead`."""
        return self._lead.se

    @property
    def verdict(self) -> str:
        """One sentence; a lead counts when it exceeds two standard errors."""
        best, second = self.board.names[:2]
        by = amount(self.board, self._lead)
        if self._lead.counts:
            return f'Best: "{best}", by {by} over "{second}".'
        return f'No clear winner: "{best}" is ahead of "{second}" by {by}.'

    def rows(self) -> Table:
        """A small table: score, and difference to the means alone."""
        text = self.board.scoring.text
        return [
            ("", self.board.scoring.label, f"difference to {MEANS_ONLY}"),
            *(
                (
                    m.name,
                    text(m.score, m.score_se),
                    "" if m.name == MEANS_ONLY else text(m.difference, m.difference_se, plus=True),
                )
                for m in self.ranking
            ),
        ]

    def lines(self) -> list[str]:
        """The table as text, under the verdict."""
        return [self.verdict, *aligned(self.rows())]

    def __repr__(self) -> str:
        return "\n".join(self.lines())

    def to_dict(self) -> JsonObject:
        """Numbers, strings and lists."""
        rows = [{k: v if k != "scores" else v.tolist() for k, v in vars(m).items()} for m in self.ranking]
        return {"ranking": rows, "lead": self.lead, "lead_se": self.lead_se, "verdict": self.verdict}

    @property
    def _lead(self) -> Difference:
        return self.board.lead(*self.board.names[:2])

    def _meaning(self, name: str) -> Meaning:
        score, change = self.board.score(name), self.board.difference(name, MEANS_ONLY)
        return Meaning(name, score.values, score.mean, score.se, change.mean, change.se)


def own_meaning(pipeline: Pipeline) -> str:
    """How this pipeline understands error bars; an average of several has its members' ways."""
    if hasattr(pipeline[-1], "members_"):
        return AVERAGE
    if isinstance(pipeline[-1], GaussianDiscriminant):
        return "discriminant"
    measured = any(isinstance(step, (GaussianDenoiser, *MEASURED)) for _, step in pipeline.steps)
    return "measurement" if measured else "spread"


def alternatives(pipeline: Pipeline, *, gaps: bool = False) -> dict[str, Pipeline]:
    """Pipelines like this one for the meanings that it does not have itself; `gaps`: for rows with some.

    With an average its members are compared.
    """
    own = own_meaning(pipeline)
    if own == AVERAGE:
        return _members(pipeline)
    logs, steps, imputer, denoiser = _without_filling(pipeline, gaps)
    if own == "discriminant":
        steps[-1] = ("classify", GSUClassifier(random_state=0))
    others = {
        "spread": _scaled_by(Pipeline([*logs, *imputer, *steps]), "means"),
        "measurement": _scaled_by(Pipeline([*logs, denoiser, *steps]), "total"),
        "discriminant": Pipeline(
            [
                *((n, clone(step)) for n, step in logs),
                *((n, clone(step)) for n, step in steps[:-1] if isinstance(step, GaussianScaler)),
                ("classify", GaussianDiscriminant(random_state=0)),
            ]
        ),
    }
    if isinstance(pipeline[-1], MEASURED):
        del others["spread"]
    del others[own]
    return others


def _without_filling(pipeline: Pipeline, gaps: bool) -> tuple[Steps, Steps, Steps, Step]:
    """Logarithms, the steps that fill and collapse nothing, an imputer if there are gaps, and a denoiser."""
    logs = [(name, step) for name, step in pipeline.steps if isinstance(step, GaussianLogScaler)]
    filling = (GaussianLogScaler, GaussianDenoiser, GaussianImputer, GaussianCollapser)
    steps = [(name, step) for name, step in pipeline.steps if not isinstance(step, filling)]
    imputer = [("impute", GaussianImputer(random_state=0))] if gaps else []
    return logs, steps, imputer, ("denoise", GaussianDenoiser(random_state=0))


def _members(pipeline: Pipeline) -> dict[str, Pipeline]:
    """The members of an average, by the place that they have in it."""
    return {
        f"member {k}, {type(member[-1]).__name__} ({own_meaning(member)})": clone(member)
        for k, member in enumerate(pipeline[-1].members_, 1)
    }


def _scaled_by(pipeline: Pipeline, spread: str) -> Pipeline:
    copy = clone(pipeline)
    for _, step in copy.steps:
        if isinstance(step, GaussianScaler):
            step.set_params(spread=spread)
    return copy


def regressions(pipeline: Pipeline, *, gaps: bool = False) -> dict[str, Pipeline]:
    """Regressions like this one for the meaning that it does not have itself; `gaps`: for rows with some.

    A target belongs to the one true value, so that the posteriors' means alone are fitted.
    """
    if own_meaning(pipeline) == AVERAGE:
        return _members(pipeline)
    if isinstance(pipeline[-1], MEASURED):
        return {}
    logs, steps, imputer, denoiser = _without_filling(pipeline, gaps)
    if own_meaning(pipeline) == "measurement":
        return {"spread": _scaled_by(Pipeline([*logs, *imputer, *steps]), "means")}
    measured = Pipeline([*logs, denoiser, *steps[:-1], ("collapse", GaussianCollapser()), steps[-1]])
    return {"measurement": _scaled_by(measured, "total")}
