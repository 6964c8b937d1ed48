"""Members tried on held-out rows: the same folds for all, whole groups, weights, and errors in a range.

Losses are those of rows: -log of the probability that was given to what happened, or the square of a
residual, so that differences of members are paired.
"""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn import config_context
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from .._data.incomplete import GaussianRows
from .._data.typing import Floats, Ints, Labels, Limits
from .._report.board import mean_known
from .._report.held_out import gap_of
from .._tables.groups import Groups
from ..exceptions import ConvergenceWarning, UncertainError
from .average import fit_arguments
from .deal import Fold
from .sampled import sampled

SMALLEST = float(np.finfo(np.float64).eps)
"""A probability counts as this at least, as in scikit-learn."""


@dataclass(frozen=True)
class Rows:
    """Rows with what is known of them."""

    rows: Any
    """Gaussians, with gaps or without; None where they are not read yet."""
    y: Labels
    weights: Floats | None = None
    groups: Groups | None = None
    y_std: Floats | None = None
    xy_cov: Floats | None = None
    y_limit: Limits | None = None

    def __len__(self) -> int:
        return len(self.y)

    def take(self, at: Ints) -> Rows:
        """Some of them."""
        groups = None if self.groups is None else self.groups.take(at)
        of_rows: dict[str, Any] = {**vars(self), "groups": None}
        some: dict[str, Any] = {name: own if own is None else own[at] for name, own in of_rows.items()}
        return type(self)(**some | {"groups": groups})

    def sampled(self, most: int) -> Rows:
        """At most so many of them, by a hash."""
        return self.take(sampled(len(self), most, self.arguments["groups"]))

    def instead(self, rows: GaussianRows) -> Rows:
        """The same with other Gaussians, and no covariances of their errors with the target's."""
        return replace(self, rows=rows, xy_cov=None)

    @property
    def counts(self) -> Floats:
        """How much each row counts."""
        return np.ones(len(self)) if self.weights is None else self.weights

    @property
    def arguments(self) -> dict[str, Any]:
        """What a `fit` may want to know, for `fit_arguments`."""
        return {
            "sample_weight": self.weights, "groups": None if self.groups is None else self.groups.codes,
            "y_std": self.y_std, "xy_cov": self.xy_cov, "y_limit": self.y_limit,
        }  # fmt: skip

    def fit(self, pipeline: Pipeline) -> Pipeline:
        """Fit a pipeline to all of them."""
        # Metadata routing would take names without steps.
        with config_context(enable_metadata_routing=False):
            return pipeline.fit(self.rows, self.y, **fit_arguments(pipeline, self.arguments))

    def fitted(self, pipeline: Pipeline) -> Pipeline:
        """A copy of the pipeline, fitted to all of them."""
        return self.fit(clone(pipeline))


@dataclass
class Trial:
    """What a member said of rows that it had not seen."""

    answers: Floats
    """Shape (repeats x sizes, n): probabilities of what happened, or predicted numbers; NaN if not asked."""
    right: Floats | None = None
    """Of classes, in the same shape: was the class predicted?"""
    seconds: float = 0.0
    """Of all fits, and of the path before."""
    gap: float = field(default=float("nan"))
    """The largest certified gap of the fits."""

    def losses(self, y: Labels, *, regression: bool) -> Floats:
        """Of each row, the mean over repeats and sizes of errors; NaN for rows that were never held out."""
        losses = (self.answers - y) ** 2 if regression else -np.log(np.maximum(self.answers, SMALLEST))
        return mean_known(losses, 0)


def tried(pipeline: Pipeline, known: Rows, fold: Fold, trial: Trial, classes: Labels | None) -> None:
    """Fit to the rows that a fold leaves, and write down what is said of the others.

    UncertainError if it cannot be fitted.
    """
    start = time.perf_counter()
    with warnings.catch_warnings():
        # Held-out rows judge it, whether or not it has converged.
        warnings.simplefilter("ignore", ConvergenceWarning)
        fitted = known.take(fold.train).fitted(pipeline)
    trial.seconds += time.perf_counter() - start
    trial.gap = float(np.fmax(trial.gap, gap_of(fitted)))
    at, sizes = fold.test, fold.read
    # Of a target that is a limit nobody knows how far a prediction is off.
    read = slice(None) if known.y_limit is None else known.y_limit[at] == 0
    for k, rows in enumerate(sizes):
        line = fold.repeat * len(sizes) + k
        if classes is None:
            predicted = fitted.predict(rows)
            if not np.isfinite(predicted).all():
                raise UncertainError("its predictions are not finite")
            trial.answers[line, at[read]] = predicted[read]
            continue
        given = np.full((len(at), len(classes)), np.nan)
        given[:, np.searchsorted(classes, fitted.classes_)] = fitted.predict_proba(rows)
        truth = np.searchsorted(classes, known.y[at])
        # Of a class that no row of the training has nothing can be said.
        trial.answers[line, at] = given[np.arange(len(at)), truth]
        assert trial.right is not None
        trial.right[line, at] = np.nanargmax(given, axis=1) == truth


@dataclass(frozen=True)
class Means:
    """Means of losses with standard errors, over rows that count and groups that stay together."""

    counts: Floats
    groups: Groups | None = None

    def of(self, losses: Floats) -> tuple[float, float]:
        """Of the losses that are not NaN; formula in `choosing`."""
        known = ~np.isnan(losses)
        counts, loss = self.counts[known], losses[known]
        mean = float(counts @ loss / counts.sum())
        off: Floats = counts * (loss - mean)
        if self.groups is not None:
            codes = np.unique(self.groups.codes[known], return_inverse=True)[1]
            off = np.bincount(codes, weights=off).astype(np.float64)
        g = len(off)
        se = np.sqrt(g / (g - 1) * np.sum(off**2)) / counts.sum() if g > 1 else np.nan
        return mean, float(se)
