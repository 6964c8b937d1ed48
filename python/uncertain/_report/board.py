"""The scoreboard of a report: every candidate by every measure, and paired differences.

All candidates answer for the same held-out rows, so their differences are paired and far better known than
the scores themselves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple, TypeAlias

import numpy as np

from .._data.groups import Groups
from .._data.typing import Floats, JsonObject, Labels
from .._held_out.means import mean_known, mean_over_folds, standard_error
from .metrics import Answer, Metric

Table: TypeAlias = list[tuple[str, ...]]
"""Rows of texts under a row of titles."""


class Score(NamedTuple):
    """A candidate by one measure."""

    values: Floats
    """In each fold; NaN where the measure was not taken."""
    se: float
    """Standard error of the mean."""

    @property
    def mean(self) -> float:
        """Over the folds."""
        return mean_over_folds(self.values)


class Difference(NamedTuple):
    """One candidate minus another on the same rows."""

    mean: float
    se: float

    @property
    def counts(self) -> bool:
        """Does it exceed two standard errors?"""
        return abs(self.mean) > 2 * self.se


MEANS_ONLY = "means only"
"""The candidate without error bars."""

NOT_TAKEN = Difference(np.nan, np.nan)


@dataclass(frozen=True)
class Board:
    """Scores of all candidates, best first by the measure that ranks."""

    metrics: tuple[Metric, ...]
    names: tuple[str, ...]
    scoring: Metric
    """What ranks."""
    scores: dict[tuple[str, str], Score]
    """By candidate and measure; measures that a candidate does not answer are left out."""
    differences: dict[tuple[str, str, str], Difference]
    """By (one, another, measure): each pair once."""

    def score(self, name: str, metric: str | None = None) -> Score:
        """Of a candidate, by the measure that ranks unless another one is named."""
        return self.scores[name, metric or self.scoring.name]

    def difference(self, one: str, other: str, metric: str | None = None) -> Difference:
        """Mean paired difference of two candidates: `one` minus `other`."""
        measure = metric or self.scoring.name
        if one == other:
            return Difference(0.0, 0.0)
        if (one, other, measure) in self.differences:
            return self.differences[one, other, measure]
        mean, se = self.differences.get((other, one, measure), NOT_TAKEN)
        return Difference(-mean, se)

    def lead(self, one: str, other: str) -> Difference:
        """By how much `one` is better than `other`, whatever better means."""
        mean, se = self.difference(one, other)
        return Difference(self.scoring.sign * mean, se)

    def to_dict(self) -> list[JsonObject]:
        """A row for every candidate and measure."""
        return [
            {
                "candidate": name,
                "metric": metric,
                "score": score.mean,
                "score_se": score.se,
                "folds": score.values.tolist(),
            }
            for (name, metric), score in self.scores.items()
        ]


def make_board(
    answers: Mapping[str, Sequence[Answer]],
    truth: Labels,
    metrics: Sequence[Metric],
    scoring: Metric,
    groups: Groups | None,
) -> Board:
    """The board of what the candidates answered, fold by fold, about rows whose targets are `truth`."""
    classes = np.unique(truth)
    scores: dict[tuple[str, str], Score] = {}
    differences: dict[tuple[str, str, str], Difference] = {}
    for metric in metrics:
        tables = {}
        for name, folds in answers.items():
            table = rows_by_fold(folds, truth, metric, classes)
            if np.isnan(table).all():
                continue
            tables[name] = table
            scores[name, metric.name] = Score(mean_known(table, 1), standard_error(table, groups))
        for one, other in combinations(tables, 2):
            paired = tables[one] - tables[other]
            if not np.isnan(paired).all():
                mean = mean_over_folds(mean_known(paired, 1))
                differences[one, other, metric.name] = Difference(mean, standard_error(paired, groups))
    ranked = [name for name in answers if (name, scoring.name) in scores]
    ranked.sort(key=lambda name: -scoring.sign * scores[name, scoring.name].mean)
    return Board(
        tuple(m for m in metrics if any((name, m.name) in scores for name in answers)),
        tuple(ranked),
        scoring,
        scores,
        differences,
    )


def rows_by_fold(folds: Sequence[Answer], truth: Labels, metric: Metric, classes: Labels) -> Floats:
    """What every row adds to the measure in every fold, shape (folds, rows); NaN where it does not."""
    table = np.full((len(folds), len(truth)), np.nan)
    for k, answer in enumerate(folds):
        if metric.needs == "predicted" or getattr(answer, metric.needs) is not None:
            found = metric.by_row(truth[answer.rows], answer, classes)
            if found is not None:
                table[k, answer.rows] = found
    return table
