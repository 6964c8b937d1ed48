"""Fitted pipelines to and from the model file of the Rust core.

The file's own header holds all that predictions need: steps, arrays, parameters, classes. What only Python
knows (columns of tables, estimator parameters without a meaning in the core, such as `class_weight`) travels
in the file's JSON object about columns, which the core keeps to the letter. Parameters of the run, not of
the model (`n_jobs`, `verbose`, `callback`), are not saved.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline

from .._linear.kernelized import Kernelized
from .._uncertain import model_from_bytes, model_to_bytes, read_model, write_model
from ..discriminant import GaussianDiscriminant
from ..exceptions import ModelFileError, UncertainError
from ..huber import AdaptiveHuberClassifier, AdaptiveHuberRegressor
from ..kernel_svm import ProbabilisticKernelSVC, ProbabilisticKernelSVR
from ..minimax import MinimaxProbabilityClassifier
from ..preprocessing import (
    AsGaussians,
    GaussianDenoiser,
    GaussianImputer,
    GaussianScaler,
    KernelMap,
    SubspaceProjector,
)
from ..regression import GSURegressor
from ..robust import RobustSVC
from ..svm import GSUClassifier
from ..tables._columns import Columns

NOT_SAVED = ("n_jobs", "verbose", "callback")


def to_bytes(pipeline: Pipeline, columns: Columns) -> bytes:
    """The bytes of the model file."""
    return model_to_bytes(*_parts(pipeline, columns))


def from_bytes(data: bytes) -> tuple[Pipeline, Columns]:
    """Inverse of `to_bytes`; ModelFileError for anything else."""
    return _assembled(*model_from_bytes(data))


def write(path: str | os.PathLike[str], pipeline: Pipeline, columns: Columns) -> None:
    """Write the model file; it appears complete or not at all."""
    write_model(path, *_parts(pipeline, columns))


def read(path: str | os.PathLike[str]) -> tuple[Pipeline, Columns]:
    """Inverse of `write`."""
    return _assembled(*read_model(path))


def _parts(pipeline: Pipeline, columns: Columns) -> tuple[list[Any], list[Any], list[str], str]:
    """Steps, classes, feature names and the JSON object, as the extension takes them."""
    steps: list[Any] = []
    features: list[str] = []
    names, parameters = [], []
    for name, step in pipeline.steps:
        names.append(name)
        huber = isinstance(step, (AdaptiveHuberClassifier, AdaptiveHuberRegressor))
        own = step._saved_params() if huber else step.get_params()
        parameters.append({k: _plain(v) for k, v in own.items() if k not in NOT_SAVED})
        if isinstance(step, AsGaussians):
            features = [str(f) for f in step.get_feature_names_out()] if step.roles_ else []
        elif isinstance(step, GaussianScaler):
            steps.append((step.mean_, step.scale_))
        elif isinstance(step, GaussianImputer):
            steps.append(("imputer", *step._mixture()))
        elif isinstance(step, GaussianDenoiser):
            steps.append(("denoiser", *step._mixture()))
        elif isinstance(step, SubspaceProjector):
            steps.append((float(step.variance), step.project))
        elif isinstance(step, KernelMap):
            steps.append(step._parts())
        elif isinstance(step, (GSUClassifier, RobustSVC)):
            if step.kernel_map_ is not None:
                steps.append(step.kernel_map_._parts())
            steps.append((step._model, step._params()))
        elif isinstance(step, MinimaxProbabilityClassifier):
            steps.append((step._model, np.atleast_1d(step.worst_case_accuracy_), step._params()))
        elif huber or isinstance(step, (ProbabilisticKernelSVC, ProbabilisticKernelSVR)):
            steps.append((step._model, step._params()))
        elif isinstance(step, GaussianDiscriminant):
            steps.append(step._parts())
        elif isinstance(step, GSURegressor):
            if step.kernel_map_ is not None:
                steps.append(step.kernel_map_._parts())
            steps.append(step._parts())
        else:
            raise UncertainError(f"the model cannot be saved: step {name!r} is a {type(step).__name__}")
    about = {"columns": columns.to_dict(), "steps": names, "parameters": parameters}
    classes = pipeline[-1].classes_.tolist() if hasattr(pipeline[-1], "classes_") else []
    return steps, classes, features, json.dumps(about)


def _assembled(
    steps: Sequence[tuple[Any, ...]], classes: Sequence[Any], features: Sequence[str], about: str
) -> tuple[Pipeline, Columns]:
    """Estimators with the attributes that fitting them would have given."""
    try:
        return _pipeline(steps, classes, features, json.loads(about))
    except ModelFileError:
        raise
    except (TypeError, KeyError, AttributeError, ValueError) as error:
        raise ModelFileError(
            f"not a usable model file: its description of columns is altered ({error})"
        ) from error


def _pipeline(
    steps: Sequence[tuple[Any, ...]], classes: Sequence[Any], features: Sequence[str], about: dict[str, Any]
) -> tuple[Pipeline, Columns]:
    columns = Columns.from_dict(about.get("columns", {}))
    fitted = _estimators(steps, classes)
    d = fitted[0].n_features_in_
    parameters = about.get("parameters", [])
    # Also models of arrays may have the step, which then says what NaN means.
    if columns.roles() or (parameters and "on_missing" in parameters[0]):
        first = AsGaussians(**columns.roles())
        first.roles_ = columns.roles()
        first.n_features_in_ = d
        if columns.features:
            first.feature_names_in_ = np.asarray(columns.features, dtype=object)
        fitted.insert(0, first)
    names = about.get("steps", [type(step).__name__.lower() for step in fitted])
    parameters = parameters or [{} for _ in fitted]
    own_map = isinstance(fitted[-1], Kernelized) and parameters
    if own_map and parameters[-1].get("kernel", "linear") != "linear":
        # The map is the estimator's own, not a step of the pipeline.
        own = fitted.pop(-2)
        fitted[-1].kernel_map_, fitted[-1].n_features_in_ = own, own.n_features_in_
    for step, own in zip(fitted, parameters, strict=True):
        step.set_params(**{k: _unplain(v) for k, v in own.items()})
    return Pipeline(list(zip(names, fitted, strict=True))), columns


def _estimators(steps: Sequence[tuple[Any, ...]], classes: Sequence[Any]) -> list[Any]:
    """The estimators of the steps; the number of features is known from the last one on backwards."""
    model = steps[-1][1]
    if isinstance(model, tuple):  # a mixture: shares, means, covariances
        d = model[1].shape[1]
    else:
        d = len(model) if isinstance(model, np.ndarray) else model.n_features
    fitted = []
    for step in reversed(steps):
        estimator = _fitted(step, classes, d)
        d = estimator.n_features_in_
        fitted.append(estimator)
    return fitted[::-1]


def _fitted(step: tuple[Any, ...], classes: Sequence[Any], d: int) -> Any:
    """The estimator of one step, whose output has d features."""
    estimator: BaseEstimator
    match step:
        case ("scaler", mean, scale):
            estimator = GaussianScaler()
            estimator.mean_, estimator.scale_ = mean, scale
        case ("subspace", variance, project):
            estimator = SubspaceProjector(variance=variance, project=project)
        case ("kernel map", kernel, degree, coef0, (points, directions, factor, gamma, error)):
            own = {} if degree is None else {"degree": degree, "coef0": coef0}
            estimator = KernelMap(kernel, gamma="median" if gamma is None else gamma, max_rank=None, **own)
            estimator.points_, estimator.directions_, estimator.factor_ = points, directions, factor
            estimator.gamma_, estimator.error_, estimator.rank_ = gamma, error, len(factor)
            estimator.n_features_in_ = points.shape[1]
            return estimator
        case ("denoiser" | "imputer" as kind, weights, means, covariances):
            # How the fit went (its history and status) stays behind.
            estimator = GaussianDenoiser() if kind == "denoiser" else GaussianImputer()
            estimator._set((weights, means, covariances))
        case ("gsu", model, parameters):
            estimator = GSUClassifier(**parameters)
            estimator.classes_ = np.asarray(classes)
            estimator.kernel_map_ = None
            estimator._fitted(model)
        case ("robust", model, parameters):
            # The rows' radii and the history stay behind.
            estimator = RobustSVC(**parameters)
            estimator.classes_ = np.asarray(classes)
            estimator.radius_ = estimator._params().radius
            estimator.kernel_map_ = None
            estimator._fitted(model)
        case ("minimax", model, accuracy, parameters):
            estimator = MinimaxProbabilityClassifier(**parameters)
            estimator.classes_ = np.asarray(classes)
            estimator._accuracies(accuracy)
            estimator._fitted(model)
        case ("kernel-svc" | "feature-svc", model, parameters):
            estimator = ProbabilisticKernelSVC(**parameters)
            estimator.classes_ = np.asarray(classes)
            estimator._fitted(model)
        case ("discriminant", mixture, _, report, parameters):
            estimator = GaussianDiscriminant(**parameters)
            estimator.classes_ = np.asarray(classes)
            estimator._set(mixture)
            estimator.log_likelihoods_, estimator.n_iter_, estimator.status_ = report
        case ("kernel-svr", model, parameters):
            estimator = ProbabilisticKernelSVR(**parameters)._fitted(model)
        case ("huber", model, parameters):
            estimator = (AdaptiveHuberClassifier if classes else AdaptiveHuberRegressor)(**parameters)
            if classes:
                estimator.classes_ = np.asarray(classes)
            estimator._fitted(model)
        case ("gsu regression", coef, intercept, report, (alpha, loss, epsilon, delta, *options)):
            solver, tol, max_iter, fit_intercept = options
            own = {"epsilon": epsilon, "delta": delta}
            estimator = GSURegressor(
                alpha,
                loss=loss,
                solver=solver,
                tol=tol,
                max_iter=max_iter,
                fit_intercept=fit_intercept,
                **{k: v for k, v in own.items() if v is not None},
            )
            estimator.coef_, estimator.intercept_, estimator.kernel_map_ = coef, intercept, None
            estimator.objective_, estimator.optimality_gap_, estimator.n_iter_, estimator.status_ = report
        case _:
            raise ModelFileError(f"not a usable model file: this version knows no step {step[0]!r}")
    estimator.n_features_in_ = d
    return estimator


def _plain(value: Any) -> Any:
    """A parameter for JSON: dictionaries keep the types of their keys, generators are forgotten."""
    if isinstance(value, dict):
        return {"pairs": [[_plain(k), _plain(v)] for k, v in value.items()]}
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    return value if value is None or isinstance(value, (bool, int, float, str)) else None


def _unplain(value: Any) -> Any:
    if isinstance(value, dict):
        return dict(value["pairs"])
    return value
