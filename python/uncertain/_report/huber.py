"""What a Huber fit dropped, and whether that and the error bars were worth anything on held-out labels.

The same folds for the model, for the plain squared-loss fit to all labels, and for the model without error
bars; differences are paired (see ``_held_out.py``). A row that is held out is left out altogether; rows
without a label are always fitted. Held-out labels may be wrong themselves: they count against all fits alike,
so that a difference says more than an error.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone, is_regressor
from sklearn.pipeline import Pipeline

from .._data.array import GaussianArray
from .._data.incomplete import Incomplete
from .._data.typing import Floats, Ints, Labels, RandomState
from ..exceptions import ParameterError
from ..tables._groups import Groups
from .base import BaseReport, Folds, check_counts, json_ready
from .held_out import means_alone, standard_error


@dataclass(frozen=True)
class Comparison:
    """The model beside another fit on the same held-out labels."""

    errors: Floats
    """Mean error of the other fit in each fold."""
    error_se: float
    """Standard error of `error`."""
    difference: float
    """Mean of the paired differences, the model's error minus the other one's; negative is better."""
    difference_se: float
    """Standard error of `difference`."""

    @property
    def error(self) -> float:
        """Mean held-out error of the other fit."""
        return float(self.errors.mean())

    def to_dict(self) -> dict[str, Any]:
        """Numbers and lists."""
        return {name: json_ready(getattr(self, name)) for name in (*(f.name for f in fields(self)), "error")}

    @property
    def counts(self) -> bool:
        """Does the difference exceed two standard errors?"""
        return abs(self.difference) > 2 * self.difference_se


@dataclass(frozen=True, kw_only=True, repr=False)
class HuberReport(BaseReport):
    """Labels that were dropped, and mean errors on held-out ones (see `measure`)."""

    _derived = ("error", "verdict")

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
    errors: Floats
    """Mean error of the model in each fold, shape (folds * repeats,)."""
    error_se: float
    """Standard error of `error`."""
    squared: Comparison | None
    """The squared-loss fit to all labels; None if the model is one."""
    means_only: Comparison | None
    """The model without error bars; None if no row has any."""
    listed: int
    """How many rows the text lists."""

    @property
    def error(self) -> float:
        """Mean held-out error of the model."""
        return float(self.errors.mean())

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

    def __str__(self) -> str:
        """The report as text."""
        design = self._design(f"{self.n_labels:,} labels of {self.n_rows:,} rows")
        lines = [
            self.verdict,
            "",
            f"Held-out {self.measure}, {design} (mean +- standard error)",
            f"  the model           {self.error:10.4g} +- {self.error_se:.2g}",
        ]
        for name, other in (("squared loss", self.squared), ("means only", self.means_only)):
            if other is not None:
                difference = f"{other.difference:+.3g} +- {other.difference_se:.2g}"
                lines.append(f"  {name:<19} {other.error:10.4g} +- {other.error_se:.2g}   model {difference}")
        lines += ["", f"Labels dropped by the fit: {self.removed_rows.size:,}"]
        for thresholds, status in zip(self.thresholds, self.status, strict=True):
            course = f"{thresholds[0]:.4g} -> {thresholds[-1]:.4g}"
            lines.append(f"  threshold {course} in {len(thresholds) - 1} refinements ({status})")
        if self.removed_rows.size:
            lines.append("       row   residual when dropped")
            shown = zip(self.removed_rows[: self.listed], self.removed_residuals, strict=False)
            lines += [f"  {row:8d}   {residual:+21.4g}" for row, residual in shown]
            rest = self.removed_rows.size - self.listed
            lines += [f"  and {rest:,} more"] if rest > 0 else []
        return "\n".join(lines)


def report_of_huber(
    fitted: Pipeline,
    data: GaussianArray | Incomplete,
    y: Labels,
    *,
    folds: int = 5,
    repeats: int | None = None,
    listed: int = 10,
    groups: Groups | None = None,
    random_state: RandomState = 0,
) -> HuberReport:
    """The report of a fitted pipeline that takes Gaussians; `y` is NaN, or None, for rows without a label."""
    quantity = is_regressor(fitted)
    known = np.flatnonzero([v is not None and v == v for v in y.tolist()])
    check_counts(listed=(listed, 0))
    last = fitted[-1]
    graphs = last.graph if isinstance(last.graph, (list, tuple)) else [last.graph]
    if not all(graph is None or (isinstance(graph, str) and graph in ("knn", "rbf")) for graph in graphs):
        raise ParameterError(
            'report leaves rows out, and a graph given as a matrix has all of them; use "knn"'
        )
    labelled = None if groups is None else groups.take(known)
    dealt = Folds.of(
        len(known),
        None if quantity else np.asarray(y[known].tolist()),
        folds=folds,
        repeats=repeats,
        groups=labelled,
        random_state=random_state,
        noun="labels",
    )

    def held_out(rows: GaussianArray | Incomplete, **changed: Any) -> Floats:
        quiet = clone(fitted)
        if not quantity:
            changed["probability"] = False
        quiet[-1].set_params(callback=None, verbose=0, **changed)
        errors = np.full((len(dealt.splits), len(known)), np.nan)
        for k, (_, test) in enumerate(dealt.splits):
            # Rows of a group that is held out would tell of it through the graph, even without a label.
            out = known[test] if groups is None else groups.members(known[test])
            fitted_rows = np.setdiff1d(np.arange(len(y)), out)
            predicted = clone(quiet).fit(rows[fitted_rows], y[fitted_rows]).predict(rows[known[test]])
            truth = y[known[test]]
            errors[k, test] = np.abs(predicted - truth) if quantity else predicted != truth
        return errors

    own = held_out(data)

    def beside(rows: GaussianArray | Incomplete, **changed: Any) -> Comparison:
        other = held_out(rows, **changed)
        difference = own - other
        return Comparison(
            errors=np.nanmean(other, axis=1),
            error_se=standard_error(other, labelled),
            difference=float(np.nanmean(difference, axis=1).mean()),
            difference_se=standard_error(difference, labelled),
        )

    plain = last.max_refinements == 0 and last.threshold is None
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
        **dealt.about,
        errors=np.nanmean(own, axis=1),
        error_se=standard_error(own, labelled),
        squared=None if plain else beside(data, max_refinements=0, threshold=None),
        means_only=None if data.kind == "zero" else beside(means_alone(data)),
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
