"""`TrainingRows`: rows in memory with what is known of each of them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from sklearn import config_context
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

from .._data.column import Coded, encoded
from .._data.groups import Groups
from .._data.incomplete import GaussianRows, Incomplete, filled_gaussians
from .._data.numbers import uniform
from .._data.typing import Array, Codes, Floats, Ints, Labels, Limits
from .._uncertain import Part

REMEMBERED_ROWS = 200_000
"""Rows on which a model measures, after the fit, how large errors are and how far held-out targets lie."""
CHOSEN_ROWS = 20_000
"""Rows on which `method="auto"` chooses."""
BLOCK = 1 << 20

FitArguments: TypeAlias = Mapping[str, ArrayLike | None]
"""Arguments of a `fit` per row, by name; None where there are none."""


@dataclass(frozen=True)
class TrainingRows:
    """Rows with what is known of them."""

    rows: Any
    """Gaussians, with gaps or without, or an array of exact points; None where they are not read yet."""
    y: Labels
    """Or `Coded` labels, which are taken from like an array of them."""
    weights: Floats | None = None
    groups: Groups | None = None
    y_std: Floats | None = None
    xy_cov: Floats | None = None
    y_limit: Limits | None = None
    offset: Floats | None = None
    event: Floats | None = None
    modes: Floats | None = None
    y_cov: Floats | None = None
    """(n, n): covariances of all targets' errors."""

    def __len__(self) -> int:
        return len(self.y)

    def take(self, at: Ints) -> Self:
        groups = None if self.groups is None else self.groups.take(at)
        y_cov = None if self.y_cov is None else self.y_cov[np.ix_(at, at)]
        arrays: dict[str, Array | None] = {**vars(self), "groups": None, "y_cov": None}
        some = {name: values if values is None else values[at] for name, values in arrays.items()}
        return replace(self, **some | {"groups": groups, "y_cov": y_cov})  # type: ignore[arg-type]

    def sampled(self, most: int) -> Self:
        """A copy of at most so many of them, by a hash."""
        return self.take(sampled(len(self), most, None if self.groups is None else self.groups.codes))

    def instead(self, rows: GaussianRows) -> Self:
        """Rows with other Gaussians, and no covariances of their errors with the target's."""
        return replace(self, rows=rows, xy_cov=None)

    @property
    def counts(self) -> Floats:
        """How much each row counts."""
        return np.ones(len(self)) if self.weights is None else self.weights

    @property
    def arguments(self) -> dict[str, Array | None]:
        """Arguments that a `fit` may take, for `fit_arguments`."""
        return {
            "sample_weight": self.weights, "groups": None if self.groups is None else self.groups.codes,
            "y_std": self.y_std, "xy_cov": self.xy_cov, "y_limit": self.y_limit,
            "offset": self.offset, "event": self.event, "modes": self.modes,
            "y_cov": self.y_cov,
        }  # fmt: skip

    @property
    def part(self) -> Part:
        """The rows with what sums may be about, as the core takes them."""
        known: dict[str, Array | None] = {"weights": self.weights}
        if isinstance(self.y, Coded) or self.y.dtype.kind != "f":
            known["codes"] = self.y.codes if isinstance(self.y, Coded) else encoded(self.y)[1]
        else:
            known["targets"] = self.y
            if self.y_std is not None:
                known["variances"] = self.y_std**2
        missing = self.rows.missing if isinstance(self.rows, Incomplete) else None
        return Part(filled_gaussians(self.rows)._core, missing=missing, **known)

    def step_arguments(self, step: BaseEstimator) -> dict[str, ArrayLike]:
        """Arguments of the `fit` of one step."""
        return step_arguments(step, self.arguments)

    def fit_step(self, step: BaseEstimator) -> None:
        step.fit(self.rows, self.y, **self.step_arguments(step))

    def fit(self, pipeline: Pipeline) -> Pipeline:
        # Metadata routing would take names without steps.
        with config_context(enable_metadata_routing=False):
            return pipeline.fit(self.rows, self.y, **fit_arguments(pipeline, self.arguments))

    def fitted(self, pipeline: Pipeline) -> Pipeline:
        """A copy of the pipeline, fitted to all of them."""
        return self.fit(clone(pipeline))


def fit_arguments(pipeline: Pipeline, known: FitArguments) -> dict[str, ArrayLike]:
    """Arguments of a pipeline's `fit`, one value per row each, for the steps that can use them."""
    return {
        f"{name}__{argument}": values
        for name, step in pipeline.steps
        for argument, values in step_arguments(step, known).items()
    }


def step_arguments(step: BaseEstimator, known: FitArguments) -> dict[str, ArrayLike]:
    """The arguments that the `fit` of one step takes."""
    pairs = known.items()
    return {name: values for name, values in pairs if values is not None and has_fit_parameter(step, name)}


def sampled(n_rows: int, most: int, groups: Codes | None = None) -> Ints:
    """The numbers of about `most` of n rows, by a hash of their numbers, or of whole groups: the same
    whatever the batches, threads or the order of groups; all of no more."""
    if n_rows <= most:
        return np.arange(n_rows)
    found = []
    for first in range(0, n_rows, BLOCK):
        stop = min(first + BLOCK, n_rows)
        keys = np.arange(first, stop, dtype=np.uint64) if groups is None else groups[first:stop]
        found.append(first + np.flatnonzero(uniform(keys.astype(np.uint64)) < most / n_rows))
    return np.concatenate(found)
