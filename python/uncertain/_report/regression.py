"""Did the error bars change anything in a regression? A fit on the means alone, side by side with the model.

The same idea as ``_report.py``: both models get the same folds of a repeated cross-validation, and what is
compared is the absolute error of rows that neither fit has seen, paired.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import RepeatedKFold
from sklearn.pipeline import Pipeline

from .._data.typing import Floats, RandomState
from ..exceptions import UncertainError
from ..tables._groups import Groups, check_group_number, groups_text
from .classes import MANY_ROWS
from .held_out import check_counts, gap_of, gap_text, json_ready, means_alone, quiet, standard_error

if TYPE_CHECKING:
    from .._data.array import GaussianArray
    from .._data.incomplete import Incomplete


@dataclass(frozen=True)
class RegressionReport:
    """What the error bars changed. Errors are mean absolute ones on held-out rows, in units of the target."""

    n_rows: int
    folds: int
    repeats: int
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
    n_groups: int | None = None
    """Groups whose rows were held out together; None if rows were held out one by one."""
    group: str | None = None
    """What the rows of one group share: the name of the column, or "group"."""

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

    def to_dict(self) -> dict[str, Any]:
        """Numbers, strings and lists, ready for JSON or a data frame."""
        plain = {f.name: getattr(self, f.name) for f in fields(self)}
        derived = ("error", "error_means_only", "difference", "verdict")
        plain |= {name: getattr(self, name) for name in derived}
        return json_ready(plain)

    def __str__(self) -> str:
        """The report as text."""
        shape = f"{self.folds} folds x {self.repeats} repeats, {self.n_rows:,} rows"
        shape += groups_text(self.group, self.n_groups)
        with_bars = f"{self.error:10.4g} +- {self.error_se:.2g}{gap_text(self.gap)}"
        without = f"{self.error_means_only:10.4g} +- {self.error_means_only_se:.2g}"
        without += gap_text(self.gap_means_only)
        return "\n".join(
            [
                self.verdict,
                "",
                f"Held-out mean absolute error, {shape} (mean +- standard error)",
                f"  with error bars   {with_bars}   {self.seconds * 1e3:8.1f} ms",
                f"  means only        {without}   {self.seconds_means_only * 1e3:8.1f} ms",
                f"  paired difference {self.difference:+10.4g} +- {self.difference_se:.2g}",
            ]
        )

    __repr__ = __str__


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
    if repeats is None:
        repeats = 1 if len(data) > MANY_ROWS else 4
    check_counts(folds=(folds, 2), repeats=(repeats, 1))
    if len(data) < 2 * folds:
        raise UncertainError(f"cross-validation in {folds} folds needs at least {2 * folds} rows")
    if groups is None:
        splits = list(RepeatedKFold(n_splits=folds, n_repeats=repeats, random_state=random_state).split(y))
    else:
        check_group_number(groups, folds)
        splits = groups.splits(folds, repeats, random_state)
    unfitted = quiet(fitted)
    exact = means_alone(data)

    def refitted(rows: GaussianArray | Incomplete, at: Any) -> Pipeline:
        known = {} if y_std is None else {f"{unfitted.steps[-1][0]}__y_std": y_std[at]}
        return clone(unfitted).fit(rows[at], y[at], **known)

    def held_out(rows: GaussianArray | Incomplete) -> tuple[Floats, float, float]:
        errors = np.full((len(splits), len(y)), np.nan)
        for k, (train, test) in enumerate(splits):
            errors[k, test] = np.abs(refitted(rows, train).predict(rows[test]) - y[test])
        start = time.perf_counter()
        gap = gap_of(refitted(rows, slice(None)))
        return errors, gap, time.perf_counter() - start

    with_bars, gap, seconds = held_out(data)
    without, gap_means, seconds_means = held_out(exact)
    return RegressionReport(
        n_rows=len(data),
        folds=folds,
        repeats=repeats,
        errors=np.nanmean(with_bars, axis=1),
        errors_means_only=np.nanmean(without, axis=1),
        error_se=standard_error(with_bars, groups),
        error_means_only_se=standard_error(without, groups),
        difference_se=standard_error(with_bars - without, groups),
        gap=gap,
        gap_means_only=gap_means,
        seconds=seconds,
        seconds_means_only=seconds_means,
        n_groups=None if groups is None else groups.count,
        group=None if groups is None else groups.name,
    )
