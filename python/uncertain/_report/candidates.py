"""Candidates of a report beside the model: without error bars, with their other meaning, without values."""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator, clone, is_regressor
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.pipeline import Pipeline

from .._choice.beside import sizes_alone
from .._choice.leaderboard import SIZES_ONLY as SIZES_ONLY
from .._choice.stack import StackedClassifier, StackedRegressor
from .._choice.steps import steps_with
from .._data.incomplete import GaussianRows, Incomplete, filled_gaussians
from .._data.options import refuse_if
from .._estimators.discriminant import GaussianDiscriminant
from .._estimators.gsu import GSUClassifier, GSURegressor
from .._estimators.remeasured import RemeasuredClassifier, RemeasuredRegressor
from .._held_out.engine import Candidate
from .._held_out.fits import for_exact_rows, means_alone
from .._rows.training import TrainingRows
from ..huber import AdaptiveHuberClassifier, AdaptiveHuberRegressor
from ..laws.law import Law
from ..preprocessing import GaussianLogScaler, GaussianScaler

MODEL, MEANS_ONLY, NO_MODEL, SQUARED = "model", "means only", "no model", "squared loss"
MEANINGS = ("measurement", "spread")
LINEAR = "linear, "
"""Before the meaning of a linear model, where the model itself has one meaning only."""
HUBER = (AdaptiveHuberClassifier, AdaptiveHuberRegressor)
BY_NATURE = (
    *(GaussianDiscriminant, RemeasuredClassifier, RemeasuredRegressor),
    *(StackedClassifier, StackedRegressor),
)
"""Models of true values, for which error bars cannot be spread."""
TREES = 20


def noisy(rows: GaussianRows) -> bool:
    """Has any row an error bar?"""
    return bool(filled_gaussians(rows).trace().any())


def compared(pipeline: Pipeline, training: TrainingRows) -> dict[str, Candidate]:
    """The model, and without error bars or the dropping of labels where it has them."""
    found, rows, last = {MODEL: Candidate(pipeline)}, training.rows, pipeline[-1]
    graphs = getattr(last, "graph", None)
    refuse_if(
        any(not isinstance(g, (str, type(None))) for g in (graphs if isinstance(graphs, list) else [graphs])),
        'report leaves rows out, and a graph given as a matrix has all of them. Use graph="knn"',
    )
    if isinstance(last, HUBER) and (last.max_refinements > 0 or last.threshold is not None):
        squared = clone(pipeline)
        squared[-1].set_params(max_refinements=0, threshold=None)
        found[SQUARED] = Candidate(squared)
    if noisy(rows) or isinstance(rows, Incomplete):
        found[MEANS_ONLY] = Candidate(for_exact_rows(pipeline), training.instead(means_alone(rows)))
    return found


def baselines(pipeline: Pipeline, training: TrainingRows) -> dict[str, Candidate]:
    """No model (shares of classes, the mean of numbers), and error sizes and gaps without values."""
    regression = is_regressor(pipeline)
    dummy = DummyRegressor() if regression else DummyClassifier(strategy="prior")
    found = {NO_MODEL: Candidate(Pipeline([("mean", dummy)]))}
    return found | sizes_alone(training, regression=regression, trees=TREES)


def meanings(pipeline: Pipeline, training: TrainingRows, *, is_measured: bool) -> dict[str, Candidate]:
    """The model with the other meaning of error bars, or linear models with both; nothing for laws."""
    last, other = pipeline[-1], {True: "spread", False: "measurement"}[is_measured]
    if isinstance(last, (Law, *HUBER)) or not noisy(training.rows) or training.y_limit is not None:
        return {}
    logs: list[Any] = [step.softening for _, step in pipeline.steps if isinstance(step, GaussianLogScaler)]

    def with_meaning(meaning: str, estimator: BaseEstimator, *, scale: bool) -> Candidate:
        steps = steps_with(
            estimator, measured=meaning == "measurement", scale=scale,
            impute=isinstance(training.rows, Incomplete), softening=logs[0] if logs else None,
        )  # fmt: skip
        return Candidate(Pipeline(steps))

    if not isinstance(last, BY_NATURE):
        scale = any(isinstance(step, GaussianScaler) for _, step in pipeline.steps)
        return {other: with_meaning(other, clone(last), scale=scale)}
    line = GSURegressor(loss="squared") if is_regressor(pipeline) else GSUClassifier(random_state=0)
    return {f"{LINEAR}{meaning}": with_meaning(meaning, clone(line), scale=True) for meaning in MEANINGS}
