"""Did the error bars change anything in a regression? A fit on the means alone, side by side with the model.

The same idea as ``classes.py``: all candidates get the same folds of a repeated cross-validation, and what is
compared are the errors of rows that no fit has seen, paired. What the error bars may mean is compared as
well: nothing, spread, and measurement error. Of linear models the coefficients are compared too, because
attenuation is invisible in predictions of rows that are as noisy as the training rows (see `coefficients`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.pipeline import Pipeline

from .._data.incomplete import GaussianRows, Incomplete
from .._data.typing import Floats, Limits
from .._held_out.fits import for_exact_rows, means_alone
from .._rows.training import TrainingRows
from .base import aligned, amount, common
from .beside import BesideMeans
from .board import MEANS_ONLY, Table, make_board
from .coefficients import Coefficients, compared, linear_coefficients
from .folds import Design
from .held_out import Candidate, Distribution, Timed, cross_validate, with_scatter
from .meanings import Meanings, own_meaning, regressions
from .metrics import OF_NUMBERS, chosen_metrics
from .pictures import pit_picture

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, kw_only=True, repr=False)
class RegressionReport(BesideMeans):
    """What the error bars changed. Errors are mean absolute ones on held-out rows, in units of the target."""

    _derived = (
        *BesideMeans._derived,
        *("errors", "errors_means_only", "error", "error_se", "error_means_only", "error_means_only_se"),
    )

    coefficients: Coefficients | None = None
    """Those of every candidate, in the units of the rows; None for what is not linear."""
    pit: Mapping[str, Floats] = field(default_factory=dict)
    """Of the model and of the means alone: the distribution functions of held-out rows at their targets, in
    the first repeat. Uniform between 0 and 1 if the distributions are right. Empty for methods without a law
    of their own."""

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

    def pictures(self) -> dict[str, Figure]:
        """matplotlib's figures by title: scores, and the probability integral transform of held-out rows."""
        if not self.pit:
            return super().pictures()
        return super().pictures() | {"Calibration of held-out distributions": pit_picture(self.pit)}

    @property
    def verdict(self) -> str:
        """On held-out errors, also on their root mean square, and on coefficients if they differ."""
        measure, size = self.board.scoring.label, amount(self.board, self._change)
        if self._change.counts:
            word = "raised" if self.difference > 0 else "lowered"
            errors = f"The error bars {word} the {measure} by {size}."
        elif self.finding:
            errors = f"The error bars changed no prediction measurably: the {measure} differs by {size}."
        else:
            errors = f"The error bars changed nothing measurable: the {measure} differs by {size}."
        return f"{errors}{self._in_choice('rmse')} {self.finding}".strip()

    @property
    def finding(self) -> str:
        """The largest difference of a coefficient to that for measurement error (or the model), if any."""
        if self.coefficients is None:
            return ""
        names = self.coefficients.names
        reference = "measurement" if "measurement" in names else self.own
        return self.coefficients.finding(reference, [name for name in names if name != reference])

    def sections(self) -> list[tuple[str, Table]]:
        """The tables of the report, each with a title and under a row of titles."""
        coefficients = [] if self.coefficients is None else [("Coefficients", self.coefficients.rows())]
        return super().sections() + coefficients

    def __str__(self) -> str:
        """The report as text."""
        found = self.coefficients
        coefficients = [] if found is None else ["", "Coefficients", *aligned(found.rows())]
        return "\n".join([*self._lines(), *coefficients, "", self.reason])


def compare_regressions(
    fitted: Pipeline,
    data: GaussianRows,
    y: Floats,
    *,
    y_std: Floats | None = None,
    xy_cov: Floats | None = None,
    y_limit: Limits | None = None,
    meanings: bool = True,
    features: Sequence[str] = (),
    distribution: Distribution | None = None,
    of_law: Mapping[str, Floats] | None = None,
    **given: Any,
) -> RegressionReport:
    """The report of a fitted pipeline that takes Gaussians, on Gaussians with targets (+- `y_std`).

    Targets that are limits (`y_limit`) are fitted to, and not compared with predictions; nor are times that
    were not reached. `of_law` are what a law knows of each row beside features and target ("offset", "event"
    and "modes"), in fits and predictions; other meanings of error bars know no such thing, and are left out.

    `distribution` predicts with laws of targets; without it there are no coverages, CRPS and CDE loss.
    `given` are the fields of a `Design`.
    """
    design = Design(**given).with_equal_rows(data, None)
    known_metrics = [m for m in OF_NUMBERS if m.needs != "law" or distribution is not None]
    metrics, ranks = chosen_metrics(design.scorers, design.scoring, known_metrics)
    folds = design.split(len(data), None, design.groups)
    of_law = of_law or {}
    read = np.ones(len(data), dtype=bool) if y_limit is None else y_limit == 0
    if "event" in of_law:
        read &= of_law["event"] != 0
    if not read.all():
        folds = folds._replace(splits=[(train, test[read[test]]) for train, test in folds.splits])
    training = TrainingRows(data, y, design.weights, design.groups, y_std, xy_cov, y_limit, **of_law)
    own = own_meaning(fitted)
    candidates = {
        MEANS_ONLY: Candidate(for_exact_rows(fitted), training.instead(means_alone(data))),
        own: Candidate(fitted, training),
    }
    if meanings and data.kind != "zero" and not of_law:
        others = regressions(fitted, gaps=isinstance(data, Incomplete))
        candidates |= {name: Candidate(p, training, optional=True) for name, p in others.items()}
    fits = {name: Timed.run(candidate) for name, candidate in candidates.items()}
    by_fold: dict[str, list[Floats | None]] = {name: [] for name in candidates}
    answers = cross_validate(
        candidates,
        folds,
        metrics,
        design.pace,
        distribution=distribution,
        seen=lambda name, pipeline: by_fold[name].append(linear_coefficients(pipeline)),
    )
    if distribution is not None:
        k, scatter = folds.per_repeat, distribution.scatter
        answers = {name: with_scatter(a, y, k, scatter, y_std) for name, a in answers.items()}
    first = {name: answers[name][: folds.per_repeat] for name in (own, MEANS_ONLY)}
    pit = {
        name: np.concatenate([a.law.pit(y[a.rows]) for a in some if a.law is not None])
        for name, some in first.items()
        if any(a.law is not None for a in some)
    }
    board = make_board(answers, y, metrics, ranks, design.groups)
    whole = {name: linear_coefficients(fits[name].pipeline) for name in answers}
    linear = all(w is not None for w in whole.values())
    return RegressionReport(
        n_rows=len(data),
        **common(design, folds, answers, board, own),
        gap=fits[own].gap,
        gap_means_only=fits[MEANS_ONLY].gap,
        seconds=fits[own].seconds,
        seconds_means_only=fits[MEANS_ONLY].seconds,
        pit=pit,
        meanings=Meanings(board) if len(answers) > 2 else None,
        coefficients=compared(
            whole,  # type: ignore[arg-type]
            by_fold,  # type: ignore[arg-type]
            folds.per_repeat,
            features or [f"feature {j}" for j in range(data.n_features)],
        )
        if linear
        else None,
    )
