"""Did the error bars change anything in a regression? A fit on the means alone, side by side with the model.

The same idea as ``classes.py``: all candidates get the same folds of a repeated cross-validation, and what is
compared are the errors of rows that no fit has seen, paired. What the error bars may mean is compared as
well: nothing, spread, and measurement error. Of linear models the coefficients are compared too, because
attenuation is invisible in predictions of rows that are as noisy as the training rows (see `coefficients`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sklearn.pipeline import Pipeline

from .._data.incomplete import GaussianRows, Incomplete
from .._data.typing import Floats, Limits, RandomState
from ..tables._groups import Groups
from .base import BaseReport, Fit, aligned, amount, comparison
from .board import MEANS_ONLY, board_of
from .coefficients import Coefficients, coefficients_of, compared
from .folds import Folds
from .held_out import Candidate, Distribution, Timed, cross_validate, means_alone, with_scatter
from .html import Table
from .meanings import Meanings, own_meaning, regressions
from .metrics import OF_NUMBERS, chosen_metrics
from .pace import Pace


@dataclass(frozen=True, kw_only=True, repr=False)
class RegressionReport(BaseReport):
    """What the error bars changed. Errors are mean absolute ones on held-out rows, in units of the target."""

    _derived = (
        *("scores", "scores_means_only", "score", "score_se", "score_means_only", "score_means_only_se"),
        *("errors", "errors_means_only", "error", "error_se", "error_means_only", "error_means_only_se"),
        *("difference", "difference_se", "verdict", "winner", "code"),
    )

    gap: float
    """Certified relative distance to the optimum of the fit with error bars."""
    gap_means_only: float
    seconds: float
    """Time of one fit to all rows."""
    seconds_means_only: float
    meanings: Meanings | None = None
    """Means only, spread and measurement error on the same folds; None if it was not asked for, or if no row
    has error bars."""
    coefficients: Coefficients | None = None
    """Those of every candidate, in the units of the rows; None for what is not linear."""

    @property
    def errors(self) -> Floats:
        """Mean absolute error of the model in each fold, shape (folds_done,)."""
        return self.board.score(self.own, "mae").values

    @property
    def errors_means_only(self) -> Floats:
        """That of the same model without error bars in the same folds."""
        return self.board.score(MEANS_ONLY, "mae").values

    @property
    def error(self) -> float:
        """Mean held-out absolute error with error bars."""
        return self.board.score(self.own, "mae").mean

    @property
    def error_se(self) -> float:
        """Standard error of `error`."""
        return self.board.score(self.own, "mae").se

    @property
    def error_means_only(self) -> float:
        """Mean held-out absolute error without error bars."""
        return self.board.score(MEANS_ONLY, "mae").mean

    @property
    def error_means_only_se(self) -> float:
        """Standard error of `error_means_only`."""
        return self.board.score(MEANS_ONLY, "mae").se

    @property
    def verdict(self) -> str:
        """A sentence on held-out errors, and one on coefficients if they differ."""
        measure, size = self.board.scoring.label, amount(self.board, self._change)
        if self._change.counts:
            word = "raised" if self.difference > 0 else "lowered"
            errors = f"The error bars {word} the {measure} by {size}."
        elif self.finding:
            errors = f"The error bars changed no prediction measurably: the {measure} differs by {size}."
        else:
            errors = f"The error bars changed nothing measurable: the {measure} differs by {size}."
        return f"{errors} {self.finding}".strip()

    @property
    def finding(self) -> str:
        """The largest difference of a coefficient to that for measurement error (or the model), if any."""
        if self.coefficients is None:
            return ""
        names = self.coefficients.names
        reference = "measurement" if "measurement" in names else self.own
        return self.coefficients.finding(reference, [name for name in names if name != reference])

    def comparison(self) -> Table:
        """The model beside the means alone: a row of texts for every measure, under a row of titles."""
        fits = (Fit(self.gap, self.seconds), Fit(self.gap_means_only, self.seconds_means_only))
        return comparison(self.board, self.own, MEANS_ONLY, ("with error bars", MEANS_ONLY), fits)

    def sections(self) -> list[tuple[str, Table]]:
        """The tables of the report, each with a title and under a row of titles."""
        design = self._design(f"{self.n_rows:,} rows")
        tables = [(f"Held-out scores, {design} (mean +- standard error)", self.comparison())]
        if self.meanings is not None:
            tables.append((f"What the error bars mean. {self.meanings.verdict}", self.meanings.rows()))
        if self.coefficients is not None:
            tables.append(("Coefficients", self.coefficients.rows()))
        return tables

    def __str__(self) -> str:
        """The report as text."""
        coefficients = self.coefficients
        lines = [
            self.verdict,
            "",
            f"Held-out scores, {self._design(f'{self.n_rows:,} rows')} (mean +- standard error)",
            *aligned(self.comparison()),
            *([] if self.meanings is None else ["", "What the error bars mean", *self.meanings.lines()]),
            *([] if coefficients is None else ["", "Coefficients", *aligned(coefficients.rows())]),
        ]
        return "\n".join([*lines, *self._ending()])


def compare_regressions(
    fitted: Pipeline,
    data: GaussianRows,
    y: Floats,
    *,
    y_std: Floats | None = None,
    xy_cov: Floats | None = None,
    y_limit: Limits | None = None,
    folds: int = 5,
    repeats: int | None = None,
    meanings: bool = True,
    groups: Groups | None = None,
    weights: Floats | None = None,
    scorers: Sequence[str] | str | None = None,
    scoring: str | None = None,
    pace: Pace | None = None,
    codes: Mapping[str, str] | None = None,
    features: Sequence[str] = (),
    distribution: Distribution | None = None,
    random_state: RandomState = 0,
) -> RegressionReport:
    """The report of a fitted pipeline that takes Gaussians, on Gaussians with targets (+- `y_std`).

    Targets that are limits (`y_limit`) are fitted to, and not compared with predictions.

    `distribution` predicts with what each row's error bars leave open; without it there are no coverages.
    """
    known_metrics = [m for m in OF_NUMBERS if m.needs != "std" or distribution is not None]
    metrics, ranks = chosen_metrics(scorers, scoring, known_metrics)
    pace = pace or Pace()
    dealt = Folds.of(len(data), None, folds=folds, repeats=repeats, groups=groups, random_state=random_state)
    if y_limit is not None:
        read = y_limit == 0
        dealt = dealt._replace(splits=[(train, test[read[test]]) for train, test in dealt.splits])
    given = {"y_std": y_std, "xy_cov": xy_cov, "y_limit": y_limit}
    known = {name: values for name, values in given.items() if values is not None}
    of_exact = {name: values for name, values in known.items() if name != "xy_cov"}
    own = own_meaning(fitted)
    candidates = {
        MEANS_ONLY: Candidate(fitted, means_alone(data), of_exact, weights),
        own: Candidate(fitted, data, known, weights),
    }
    if meanings and data.kind != "zero":
        others = regressions(fitted, gaps=isinstance(data, Incomplete))
        candidates |= {name: Candidate(p, data, known, weights, optional=True) for name, p in others.items()}
    fits = {name: Timed.of(candidate, y) for name, candidate in candidates.items()}
    by_fold: dict[str, list[Floats | None]] = {name: [] for name in candidates}
    answers = cross_validate(
        candidates,
        y,
        dealt,
        metrics,
        pace,
        distribution=distribution,
        seen=lambda name, pipeline: by_fold[name].append(coefficients_of(pipeline)),
    )
    if distribution is not None:
        k, scatter = dealt.per_repeat, distribution.scatter
        answers = {name: with_scatter(a, y, k, scatter, y_std) for name, a in answers.items()}
    board = board_of(answers, y, metrics, ranks, groups)
    whole = {name: coefficients_of(fits[name].pipeline) for name in answers}
    linear = all(w is not None for w in whole.values())
    return RegressionReport(
        n_rows=len(data),
        **dealt.about,
        folds_done=len(answers[own]),
        board=board,
        own=own,
        codes=codes or {},
        gap=fits[own].gap,
        gap_means_only=fits[MEANS_ONLY].gap,
        seconds=fits[own].seconds,
        seconds_means_only=fits[MEANS_ONLY].seconds,
        meanings=Meanings(board) if len(answers) > 2 else None,
        coefficients=compared(
            whole,  # type: ignore[arg-type]
            by_fold,  # type: ignore[arg-type]
            dealt.per_repeat,
            features or [f"feature {j}" for j in range(data.n_features)],
        )
        if linear
        else None,
    )
