"""`Model.summary`: what the model has learned, as a table of its features.

For a linear model: the coefficient of each feature in the table's units, the same per standard deviation of
the feature (which can be compared between features), and, given rows, how much of the uncertainty of the
score comes of each feature's error bars. For a row with covariance S the score has the variance

    w'S w = sum_j w_j (S w)_j,

of which feature j has the share w_j (S w)_j / w'S w; of many rows, numerator and denominator are summed.
Features with correlated errors may take away from it: a share can be negative, but they sum to one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from .._base.em import last_rise
from .._data.array import GaussianArray
from .._data.incomplete import filled_gaussians
from .._data.typing import Estimator, Floats, Labels
from ..laws import CurveRegressor, GeneralizedLinearLaw
from ..preprocessing import GaussianScaler
from .pipeline_facts import feature_names, hyperplanes, law_of, reading_steps

LISTED = 30
"""Features in the text of one score; of more the largest."""

BLOCK = 1 << 22
"""Numbers of covariance matrices at a time."""


@dataclass(frozen=True)
class Summary:
    """Parameters that a model has learned.

    Attributes
    ----------
    estimator : name of the last step.
    scores : what each row of the arrays below belongs to: the target, the class for which the score is
        positive (of two), or every class.
    feature_names : d names.
    coef, intercept : ndarrays of shape (K, d) and (K,), in the units of the table; None for models that are
        not linear.
    per_std : ndarray of shape (K, d): the change of the score per standard deviation of the feature; None
        where the model has not scaled the features and no rows were given.
    coef_std, intercept_std : ndarrays of shape (K, d) and (K,): standard errors of a law, else None.
    naive : ndarray of shape (K, d): the coefficients of a fit that takes the readings as exact, of a law that
        has made one; else None.
    error_share : ndarray of shape (K, d): the part of the score's variance, under the rows' error bars, that
        each feature has; None without rows, NaN where rows are exact.
    facts : lines about the fit.

    ``print(summary)`` shows all of it; `to_dict` is for data frames.
    """

    estimator: str
    scores: tuple[str, ...]
    feature_names: tuple[str, ...]
    coef: Floats | None
    intercept: Floats | None
    per_std: Floats | None
    error_share: Floats | None
    coef_std: Floats | None
    intercept_std: Floats | None
    naive: Floats | None
    facts: tuple[str, ...]

    def to_dict(self) -> dict[str, Sequence[object]]:
        """Columns "score", "feature", "coef", and what there is of the others, for a data frame."""
        if self.coef is None:
            return {"feature": list(self.feature_names)}
        k, d = self.coef.shape
        columns: dict[str, Sequence[object]] = {
            "score": [score for score in self.scores for _ in range(d)],
            "feature": list(self.feature_names) * k,
            "coef": self.coef.ravel().tolist(),
        }
        for name in ("coef_std", "naive", "per_std", "error_share"):
            values = getattr(self, name)
            if values is not None:
                columns[name] = values.ravel().tolist()
        return columns

    def __str__(self) -> str:
        lines = [f"Summary of {self.estimator}", *self.facts]
        if self.coef is None:
            return "\n".join(lines)
        for k, score in enumerate(self.scores):
            lines += ["", *self._of_score(k, score)]
        return "\n".join(lines)

    __repr__ = __str__

    def _of_score(self, k: int, score: str) -> list[str]:
        assert self.coef is not None and self.intercept is not None
        columns = [("coefficient", self.coef[k], "{:.6g}")]
        intercept, has_intercept = f"{self.intercept[k]:>16.6g}", True
        if self.coef_std is not None and self.intercept_std is not None:
            columns.append(("standard error", self.coef_std[k], "{:.4g}"))
            intercept += f"{self.intercept_std[k]:>16.4g}"
            has_intercept = not np.isnan(self.intercept_std[k])  # an ordinal law has thresholds
        if self.naive is not None:
            columns.append(("without errors", self.naive[k], "{:.4g}"))
        if self.per_std is not None:
            columns.append(("per std", self.per_std[k], "{:.4g}"))
        if self.error_share is not None:
            columns.append(("share of error", self.error_share[k], "{:.1%}"))
        d = len(self.feature_names)
        order = np.arange(d)
        if d > LISTED:
            size = np.abs(self.coef[k] if self.per_std is None else self.per_std[k])
            order = np.sort(np.argsort(-size, kind="stable")[:LISTED])
        names = [self.feature_names[j] for j in order]
        width = max(len(name) for name in [*names, "intercept"])
        head = " " * width + "".join(f"{title:>16}" for title, _, _ in columns)
        rows = [
            f"{name:<{width}}" + "".join(f"{form.format(values[j]):>16}" for _, values, form in columns)
            for name, j in zip(names, order, strict=True)
        ]
        if self.error_share is not None and (self.error_share[k] < 0).any():
            rows.append("a share below 0: errors that features share cancel in part")
        more = [f"... and {d - LISTED} features with smaller coefficients"] if d > LISTED else []
        return [score, head, *rows, *more, *[f"{'intercept':<{width}}{intercept}"] * has_intercept]


def summarised(pipeline: Pipeline, target: str, classes: Labels | None, source_rows: Any = None) -> Summary:
    """The summary of a fitted pipeline; `source_rows` is what it would predict from, None for none."""
    last, names = pipeline[-1], tuple(feature_names(pipeline))
    try:
        coef, intercept = hyperplanes(pipeline)
    except AttributeError as error:
        if isinstance(last, CurveRegressor):
            facts = (*_facts(last, classes), "", *last.summary().splitlines())
        else:
            facts = (*_facts(last, classes), _line("note", str(error)))
        return Summary(type(last).__name__, (), names, None, None, None, None, None, None, None, facts)
    start = reading_steps(pipeline)
    rows = None
    if source_rows is not None:
        rows = pipeline[:start].transform(source_rows) if start else source_rows
        rows = filled_gaussians(rows)
        rows = rows if isinstance(rows, GaussianArray) else GaussianArray(rows)
    # Deviations and error bars are those of the rows after the last step that reads; in units of the table
    # unless something was done to the readings before that.
    read, _ = hyperplanes(pipeline, start)
    same = read.shape == coef.shape and np.allclose(read, coef)
    std = _spread(pipeline, start, rows)
    return Summary(
        estimator=type(last).__name__,
        scores=_scores(last, target, classes),
        feature_names=names,
        coef=coef,
        intercept=intercept,
        per_std=None if std is None or not same else coef * std,
        error_share=None if rows is None or not same else _shares(coef, rows),
        **_of_law(pipeline),
        facts=_facts(last, classes),
    )


def _of_law(pipeline: Pipeline) -> dict[str, Floats | None]:
    """Standard errors, and the fit that takes the readings as exact."""
    try:
        law = law_of(pipeline)
    except AttributeError:
        return dict.fromkeys(("coef_std", "intercept_std", "naive"))
    naive = getattr(law, "naive_coef_", None)
    return {
        "coef_std": np.atleast_2d(law.coef_std_),
        "intercept_std": np.atleast_1d(law.intercept_std_),
        "naive": None if naive is None else np.atleast_2d(naive),
    }


LINE = "coefficients x features + intercept"
LINKS = {
    "binomial": f"log odds of {{higher!r}} against {{lower!r}} = {LINE}",
    "poisson": f"log of the mean of {{target}} = {LINE}",
    "negative_binomial": f"log of the mean of {{target}} = {LINE}",
    "gamma": f"log of the mean of {{target}} = {LINE}",
    "ordinal": "log odds of a class above the k-th = coefficients x features - threshold k",
    "weibull": f"log of {{target}} = {LINE} + scale x noise",
    "lognormal": f"log of {{target}} = {LINE} + scale x noise",
}
"""Scale of the coefficients of a family."""


def _scores(last: Estimator, target: str, classes: Labels | None) -> tuple[str, ...]:
    if isinstance(last, GeneralizedLinearLaw):
        lower, higher = ("", "") if classes is None else classes[:2].tolist()
        return (LINKS[last.family].format(target=target, lower=lower, higher=higher),)
    if classes is None:
        return (f"{target} = {LINE}",)
    labels = classes.tolist()
    if len(labels) == 2:
        return (f"score of {labels[1]!r} (positive) against {labels[0]!r} (negative)",)
    return tuple(f"score of {label!r} against the rest" for label in labels)


def _spread(pipeline: Pipeline, start: int, rows: GaussianArray | None) -> Floats | None:
    """Standard deviations of the features: those of the fit, else those of the rows."""
    following = pipeline.steps[start][1]
    if isinstance(following, GaussianScaler):
        scale: Floats = following.scale_
        return scale
    return None if rows is None else rows.means.std(axis=0)


def _shares(coef: Floats, rows: GaussianArray) -> Floats:
    d = rows.n_features
    size = max(1, BLOCK // d**2)
    total = np.zeros((d, d))
    for first in range(0, len(rows), size):
        total += rows[first : first + size].covariances().sum(axis=0)
    parts = coef * (coef @ total)
    whole = parts.sum(axis=1, keepdims=True)
    shares = np.full_like(parts, np.nan)
    np.divide(parts, whole, out=shares, where=whole > 0)
    return shares


def _facts(last: Estimator, classes: Labels | None) -> tuple[str, ...]:
    """Lines about the fit, of what there is."""
    facts = []
    if classes is not None:
        facts.append(_line("classes", ", ".join(map(repr, classes.tolist()))))
    facts += [_line(title, text) for title, text in getattr(last, "_facts", list)()]
    if hasattr(last, "status_"):
        facts.append(_line("fit", describe_ending(last)))
    return tuple(facts)


def describe_ending(last: Estimator) -> str:
    """How a fit ended, and its certificate; empty for another library's learner, which has no status."""
    status = "/".join(map(str, np.unique(getattr(last, "status_", []))))
    gap = float(np.max(getattr(last, "optimality_gap_", np.nan)))
    if status == "max_iter" and hasattr(last, "log_likelihoods_"):
        return f"{status} after {last.n_iter_} iterations, of which the last {last_rise(last)}"
    return status if np.isnan(gap) else f"{status}, at most {gap:.1e} above the optimum (relative)"


def _line(title: str, text: str) -> str:
    return f"{title:<10} {text}"
