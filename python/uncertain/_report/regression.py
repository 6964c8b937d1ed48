"""Did the error bars change anything in a regression? A fit on the means alone, side by side with the model.

The same idea as ``_report.py``: both models get the same folds of a repeated cross-validation, and what is
compared is the absolute error of rows that neither fit has seen, paired.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from .._data.array import GaussianArray
from .._data.incomplete import Incomplete
from .._data.typing import Floats, RandomState
from ..tables._groups import Groups
from .base import BaseReport, Folds
from .held_out import gap_text, means_alone, quiet, standard_error, timed


@dataclass(frozen=True, kw_only=True, repr=False)
class RegressionReport(BaseReport):
    """What the error bars changed. Errors are mean absolute ones on held-out rows, in units of the target."""

    _derived = ("error", "error_means_only", "difference", "verdict")

    errors: Floats
    """Mean absolute error of the model with error bars in each fold, shape (folds * repeats,)."""
    errors_means_only: Floats
    """That of the same model without error bars in the same folds."""
    error_se: float
    """Standard error of `error`."""
    error_means_only_se: float
    """Standard error of `error_means_only`."""
    difference_se: float
    """Standard error of `difference`, which is paired and therefore smaller."""
    gap: float
    """Certified relative distance to the optimum of the fit with error bars."""
    gap_means_only: float
    seconds: float
    """Time of one fit to all rows."""
    seconds_means_only: float

    @property
    def error(self) -> float:
        """Mean held-out absolute error with error bars."""
        return float(self.errors.mean())

    @property
    def error_means_only(self) -> float:
        """Mean held-out absolute error without error bars."""
        return float(self.errors_means_only.mean())

    @property
    def difference(self) -> float:
        """Mean of the paired differences: with error bars minus without; negative is better."""
        return float((self.errors - self.errors_means_only).mean())

    @property
    def verdict(self) -> str:
        """One sentence; a difference counts when it exceeds two standard errors."""
        size = f"{abs(self.difference):.3g} +- {self.difference_se:.2g}"
        if abs(self.difference) > 2 * self.difference_se:
            word = "lowered" if self.difference < 0 else "raised"
            return f"The error bars {word} the mean absolute error by {size}."
        return f"The error bars changed nothing measurable: the mean absolute errors differ by {size}."

    def __str__(self) -> str:
        """The report as text."""
        design = self._design(f"{self.n_rows:,} rows")
        with_bars = f"{self.error:10.4g} +- {self.error_se:.2g}{gap_text(self.gap)}"
        without = f"{self.error_means_only:10.4g} +- {self.error_means_only_se:.2g}"
        without += gap_text(self.gap_means_only)
        return "\n".join(
            [
                self.verdict,
                "",
                f"Held-out mean absolute error, {design} (mean +- standard error)",
                f"  with error bars   {with_bars}   {self.seconds * 1e3:8.1f} ms",
                f"  means only        {without}   {self.seconds_means_only * 1e3:8.1f} ms",
                f"  paired difference {self.difference:+10.4g} +- {self.difference_se:.2g}",
            ]
        )


def compare_regressions(
    fitted: Pipeline,
    data: GaussianArray | Incomplete,
    y: Floats,
    *,
    y_std: Floats | None = None,
    folds: int = 5,
    repeats: int | None = None,
    groups: Groups | None = None,
    random_state: RandomState = 0,
) -> RegressionReport:
    """The report of a fitted pipeline that takes Gaussians, on Gaussians with targets (+- `y_std`)."""
    dealt = Folds.of(len(data), None, folds=folds, repeats=repeats, groups=groups, random_state=random_state)
    unfitted = quiet(fitted)
    exact = means_alone(data)

    def known(rows: Any) -> dict[str, Floats]:
        return {} if y_std is None else {f"{unfitted.steps[-1][0]}__y_std": y_std[rows]}

    def held_out(rows: GaussianArray | Incomplete) -> tuple[Floats, float, float]:
        errors = np.full((len(dealt.splits), len(y)), np.nan)
        for k, (train, test) in enumerate(dealt.splits):
            refitted = clone(unfitted).fit(rows[train], y[train], **known(train))
            errors[k, test] = np.abs(refitted.predict(rows[test]) - y[test])
        return errors, *timed(unfitted, rows, y, **known(slice(None)))

    with_bars, gap, seconds = held_out(data)
    without, gap_means, seconds_means = held_out(exact)
    return RegressionReport(
        n_rows=len(data),
        **dealt.about,
        errors=np.nanmean(with_bars, axis=1),
        errors_means_only=np.nanmean(without, axis=1),
        error_se=standard_error(with_bars, groups),
        error_means_only_se=standard_error(without, groups),
        difference_se=standard_error(with_bars - without, groups),
        gap=gap,
        gap_means_only=gap_means,
        seconds=seconds,
        seconds_means_only=seconds_means,
    )
