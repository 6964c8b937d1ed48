"""What a Huber fit dropped, and whether that and the error bars were worth anything on held-out labels.

The same folds for the model, for the plain squared-loss fit to all labels, and for the model without error
bars; differences are paired (see ``_held_out.py``). A row that is held out is left out altogether; rows
without a label are always fitted. Held-out labels may be wrong themselves: they count against all fits alike,
so that a difference says more than an error.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone, is_regressor
from sklearn.pipeline import Pipeline

from .._data.incomplete import GaussianRows
from .._data.typing import Floats, Ints, JsonObject, Labels
from .._held_out.fits import means_alone
from .._rows.training import TrainingRows
from ..exceptions import ParameterError
from .base import BaseReport, aligned, common, comparison, json_ready
from .board import MEANS_ONLY, Score, Table, make_board
from .folds import Design, check_counts
from .held_out import Candidate, cross_validate
from .metrics import OF_CLASSES, OF_NUMBERS, chosen_metrics

MODEL, SQUARED = "model", "squared loss"
OF_ERRORS = [metric for metric in OF_NUMBERS if metric.needs != "law"]
"""Without coverages: wrong labels are not Gaussian scatter."""


@dataclass(frozen=True)
class Comparison:
    """The model beside another fit on the same held-out labels."""

    errors: Floats
    """Mean error of the other fit in each fold."""
    error: float
    """Mean held-out error of the other fit."""
    error_se: float
    """Standard error of `error`."""
    difference: float
    """Mean of the paired differences, the model's error minus the other one's; negative is better."""
    difference_se: float
    """Standard error of `difference`."""

    def to_dict(self) -> JsonObject:
        """Numbers and lists."""
        return {name: json_ready(value) for name, value in vars(self).items()}

    @property
    def counts(self) -> bool:
        """Does the difference exceed two standard errors?"""
        return abs(self.difference) > 2 * self.difference_se


@dataclass(frozen=True, kw_only=True, repr=False)
class HuberReport(BaseReport):
    """Labels that were dropped, and mean errors on held-out ones (see `measure`)."""

    _derived = ("errors", "error", "error_se", "squared", "means_only", "verdict")

    n_labels: int
    """Rows of the table that have a label."""
    measure: str
    """What an error is: "mean absolute error", or "share of wrong classes"."""
    removed_rows: Ints
    """Rows (of the fit) whose labels were dropped, for some class at least; the largest residual first."""
    removed_residuals: Floats
    """Their residuals when they were dropped."""
    thresholds: list[Floats]
    """Thresholds of the refinements, for every output."""
    status: list[str]
    """Why the refinements of every output ended."""
    listed: int
    """How many rows the text lists."""

    @property
    def errors(self) -> Floats:
        """Mean error of the model in each fold, shape (folds_done,)."""
        return self._mean_error(MODEL).values

    @property
    def error(self) -> float:
        """Mean held-out error of the model."""
        return self._mean_error(MODEL).mean

    @property
    def error_se(self) -> float:
        """Standard error of `error`."""
        return self._mean_error(MODEL).se

    @property
    def squared(self) -> Comparison | None:
        """The squared-loss fit to all labels; None if the model is one."""
        return self._beside(SQUARED)

    @property
    def means_only(self) -> Comparison | None:
        """The model without error bars; None if no row has any."""
        return self._beside(MEANS_ONLY)

    def _mean_error(self, name: str) -> Score:
        score = self.board.score(name, self._metric)
        return score if self._metric == "mae" else Score(1.0 - score.values, score.se)

    def _beside(self, name: str) -> Comparison | None:
        if (name, self._metric) not in self.board.scores:
            return None
        other = self._mean_error(name)
        mean, se = self.board.difference(MODEL, name, self._metric)
        sign = 1.0 if self._metric == "mae" else -1.0
        return Comparison(other.values, other.mean, other.se, sign * mean, se)

    @property
    def _metric(self) -> str:
        """An error is a mean absolute one, or one less the accuracy."""
        return "accuracy" if ("model", "accuracy") in self.board.scores else "mae"

    @property
    def gap(self) -> float:
        """NaN: the minimum for the labels in use is exact, and nothing certifies which labels those are."""
        return float("nan")

    @property
    def verdict(self) -> str:
        """One sentence for each comparison; a difference counts when it exceeds two standard errors."""
        sentences = [
            self._sentence(what, other)
            for what, other in (("Dropping labels", self.squared), ("The error bars", self.means_only))
            if other is not None
        ]
        return " ".join(sentences) if sentences else "All labels are in use, and no row has error bars."

    def _sentence(self, what: str, other: Comparison) -> str:
        size = f"{abs(other.difference):.3g} +- {other.difference_se:.2g}"
        if other.counts:
            return f"{what} {'lowered' if other.difference < 0 else 'raised'} the {self.measure} by {size}."
        return f"{what} changed nothing measurable: the {self.measure} differs by {size}."

    def comparison(self, other: str) -> Table:
        """The model beside another fit: a row of texts for every measure, under a row of titles."""
        return comparison(self.board, MODEL, other, ("the model", other))

    def removed(self) -> Table:
        """Rows whose labels were dropped, under a row of titles."""
        shown = zip(self.removed_rows[: self.listed], self.removed_residuals, strict=False)
        return [("row", "residual when dropped"), *((str(row), f"{r:+.4g}") for row, r in shown)]

    def sections(self) -> list[tuple[str, Table]]:
        """The tables of the report, each with a title and under a row of titles."""
        dropped = f"Labels dropped by the fit: {self.removed_rows.size:,}"
        return [*((self._title, self.comparison(name)) for name in self._others), (dropped, self.removed())]

    @property
    def _compared(self) -> str:
        return f"{self.n_labels:,} labels of {self.n_rows:,} rows"

    @property
    def _others(self) -> list[str]:
        return [name for name in (SQUARED, MEANS_ONLY) if (name, self._metric) in self.board.scores]

    def __str__(self) -> str:
        """The report as text."""
        lines = [self.verdict, "", self._title]
        others = [[*aligned(self.comparison(name)), ""] for name in self._others]
        alone = aligned([row[:2] for row in comparison(self.board, MODEL, MODEL, ("the model", ""))])
        lines += [line for table in others for line in table] or [*alone, ""]
        lines += [f"Labels dropped by the fit: {self.removed_rows.size:,}"]
        for thresholds, status in zip(self.thresholds, self.status, strict=True):
            course = f"{thresholds[0]:.4g} -> {thresholds[-1]:.4g}"
            lines.append(f"  threshold {course} in {len(thresholds) - 1} refinements ({status})")
        if self.removed_rows.size:
            lines += aligned(self.removed())
            rest = self.removed_rows.size - self.listed
            lines += [f"  and {rest:,} more"] if rest > 0 else []
        return "\n".join([*lines, "", self.reason])


def report_of_huber(
    fitted: Pipeline,
    data: GaussianRows,
    y: Labels,
    *,
    listed: int = 10,
    **given: Any,
) -> HuberReport:
    """The report of a fitted pipeline that takes Gaussians; `y` is NaN, or None, for rows without a label.

    `given` are the fields of a `Design`.
    """
    design = Design(**given).with_equal_rows(data, None)
    quantity = is_regressor(fitted)
    known = np.flatnonzero([v is not None and v == v for v in y.tolist()])
    check_counts(listed=(listed, 0))
    metrics, ranks = chosen_metrics(design.scorers, design.scoring, OF_ERRORS if quantity else OF_CLASSES)
    last = fitted[-1]
    graphs = last.graph if isinstance(last.graph, (list, tuple)) else [last.graph]
    if not all(graph is None or (isinstance(graph, str) and graph in ("knn", "rbf")) for graph in graphs):
        raise ParameterError(
            'report leaves rows out, and a graph given as a matrix has all of them; use "knn"'
        )
    groups = design.groups
    labelled = None if groups is None else groups.take(known)
    truth = np.asarray(y[known].tolist())
    folds = design.split(len(known), None if quantity else truth, labelled, "labels")

    def rows_of_fold(_: Ints, test: Ints) -> tuple[Ints, Ints]:
        # Rows of a group that is held out would tell of it through the graph, even without a label.
        out = known[test] if groups is None else groups.members(known[test])
        return np.setdiff1d(np.arange(len(y)), out), known[test]

    training = TrainingRows(data, y, design.weights, design.groups)
    candidates = {MODEL: Candidate(fitted, training)}
    if last.max_refinements > 0 or last.threshold is not None:
        squared = clone(fitted)
        squared[-1].set_params(max_refinements=0, threshold=None)
        candidates[SQUARED] = Candidate(squared, training)
    if data.kind != "zero":
        candidates[MEANS_ONLY] = Candidate(fitted, training.instead(means_alone(data)))
    answers = cross_validate(candidates, folds, metrics, design.pace, rows=rows_of_fold)
    rows, residuals = _removed(last)
    several = isinstance(last.thresholds_, list)
    return HuberReport(
        n_rows=len(data),
        n_labels=len(known),
        measure="mean absolute error" if quantity else "share of wrong classes",
        removed_rows=rows,
        removed_residuals=residuals,
        thresholds=last.thresholds_ if several else [last.thresholds_],
        status=last.status_.tolist() if several else [last.status_],
        **common(design, folds, answers, make_board(answers, truth, metrics, ranks, labelled), MODEL),
        listed=listed,
    )


def _removed(estimator: BaseEstimator) -> tuple[Ints, Floats]:
    """Rows that were dropped by any output, each with its largest residual; the largest first."""
    several = isinstance(estimator.removed_, list)
    rows = np.concatenate(estimator.removed_ if several else [estimator.removed_])
    residuals = np.concatenate(estimator.removed_residuals_ if several else [estimator.removed_residuals_])
    order = np.argsort(-np.abs(residuals), kind="stable")
    _, first = np.unique(rows[order], return_index=True)
    kept = order[np.sort(first)]
    return rows[kept], residuals[kept]
