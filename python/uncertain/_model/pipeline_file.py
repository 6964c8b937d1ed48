"""Pipelines as lists of the core's steps, for model files: names, parameters, and averages of pipelines.

An average is one step of the core that holds the steps of its members; their names and parameters stand
where the parameters of another step would.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline

from .._base.core import NOT_SAVED, Core, core_class, decoded
from .._choice.average import AveragedClassifier, AveragedRegressor
from .._data.typing import Estimator, Keywords, Label
from .._linear.kernelized import Kernelized
from .._uncertain import Fitted, average, members_of
from ..exceptions import ModelFileError, UncertainError
from ..laws import CurveRegressor
from ..preprocessing import AsGaussians, KernelMap

Averaged = AveragedClassifier | AveragedRegressor


class Listed(NamedTuple):
    """A pipeline, or its steps behind those that read tables."""

    steps: list[Fitted]
    names: list[str]
    parameters: list[Keywords]


def listed(steps: Sequence[tuple[str, Estimator]]) -> Listed:
    """The core's steps of fitted estimators; UncertainError for one that a file does not hold."""
    found = Listed([], [], [])
    for name, step in steps:
        if isinstance(step, (AveragedClassifier, AveragedRegressor)):
            members = [listed(member.steps) for member in step.members_]
            found.steps.append(average([member.steps for member in members], step.weights_.tolist()))
            own = {
                "members": [{"steps": member.names, "parameters": member.parameters} for member in members]
            }
        elif isinstance(step, Core):
            found.steps.extend(step._steps())
            own = plain_parameters(step._saved_params())
        elif isinstance(step, CurveRegressor):
            raise UncertainError(
                f"the model cannot be saved: step {name!r} is a CurveRegressor, whose curve is a function of "
                "Python, and a model file holds no code; joblib.dump(model.pipeline_, ...) keeps it where "
                "the function is one of a module"
            )
        else:
            raise UncertainError(
                f"the model cannot be saved: step {name!r} is a {type(step).__name__}, which is not of this "
                "library; joblib.dump(model.pipeline_, ...), skops or ONNX keep it"
            )
        found.names.append(name)
        found.parameters.append(own)
    return found


def make_estimators(
    steps: Sequence[Fitted], parameters: Sequence[Keywords], classes: Sequence[Label]
) -> list[BaseEstimator]:
    """The estimators of the steps, with these parameters if there are any: a file from Rust has none."""
    estimators = _estimators(steps, parameters, classes)
    last = estimators[-1]
    if isinstance(last, Kernelized) and parameters and parameters[-1].get("kernel", "linear") != "linear":
        # The map is the estimator's own, not a step of the pipeline.
        own = estimators.pop(-2) if len(estimators) > 1 else None
        if not isinstance(own, KernelMap):
            raise altered("a kernel without its map")
        last.kernel_map_, last.n_features_in_ = own, own.n_features_in_
    if parameters and len(parameters) != len(estimators):
        raise altered(f"{len(parameters)} parameters of {len(estimators)} steps")
    for step, given in zip(estimators, parameters, strict=False):
        set_parameters(step, given)
    return estimators


def _estimators(
    steps: Sequence[Fitted], parameters: Sequence[Keywords], classes: Sequence[Label]
) -> list[BaseEstimator]:
    """Without parameters; the number of features is known from the last one on backwards."""
    estimators: list[BaseEstimator] = []
    d: int | None = None
    for model in reversed(steps):
        d = d if model.n_features is None else model.n_features
        assert d is not None
        if model.kind == "average":
            about = parameters[-1].get("members") if parameters else None
            estimators.insert(0, _averaged(model, about, classes))
            continue
        cls = core_class(model.kind, classifier=bool(model.n_classes))
        estimator = cls(**cls._arguments(decoded(model.parameters)))
        if model.n_classes:
            estimator.classes_ = np.asarray(classes)  # type: ignore[attr-defined]
        estimator.n_features_in_ = d
        estimators.insert(0, estimator._loaded(model))
    return estimators


def _averaged(model: Fitted, about: object, classes: Sequence[Label]) -> Averaged:
    """The average of the members' pipelines; `about` has names and parameters, if Python wrote the file."""
    members, weights = members_of(model)
    about = [{}] * len(members) if about is None else about
    if not (
        isinstance(about, list) and len(about) == len(members) and all(isinstance(a, dict) for a in about)
    ):
        raise altered(f"an average of {len(members)} members described by {about!r}")
    pipelines = []
    for steps, own in zip(members, about, strict=True):
        names, parameters = checked_steps(own)
        estimators = make_estimators(steps, parameters, classes)
        pipelines.append(named(estimators, names))
    if model.n_classes and not all(hasattr(member, "predict_proba") for member in pipelines):
        raise altered("a member of an average without probabilities")
    kind = AveragedClassifier if model.n_classes else AveragedRegressor
    found: Averaged = kind.from_fitted(pipelines, weights)
    found.weights_ = np.asarray(weights)  # as they were, without another division by their sum
    return found


def checked_steps(about: Keywords) -> tuple[list[str], list[Keywords]]:
    """Names and parameters of the steps in a description; ModelFileError for what Python did not write."""
    steps, parameters = about.get("steps", []), about.get("parameters", [])
    if not (isinstance(steps, list) and all(isinstance(name, str) for name in steps)):
        raise altered(f"steps = {steps!r}")
    if len(set(steps)) < len(steps):
        raise altered(f"steps of the same name, {steps!r}")
    if not (isinstance(parameters, list) and all(isinstance(given, dict) for given in parameters)):
        raise altered(f"parameters = {parameters!r}")
    return steps, parameters


def named(estimators: Sequence[Estimator], names: Sequence[str]) -> Pipeline:
    """Their pipeline."""
    names = names or [type(step).__name__.lower() for step in estimators]
    if len(names) != len(estimators):
        raise altered(f"{len(names)} names of {len(estimators)} steps")
    return Pipeline(list(zip(names, estimators, strict=True)))


def name_features(steps: Sequence[BaseEstimator], features: Sequence[str]) -> None:
    """The names that the steps would have seen in the fit, as far as features keep theirs."""
    names: Sequence[str] | None = features
    for step in steps:
        if not (isinstance(step, AsGaussians) and step.roles_):  # which knows its columns
            if names is None or not len(names):
                return
            if isinstance(step, Core):
                step._set_names(names)
            elif isinstance(step, (AveragedClassifier, AveragedRegressor)):
                for member in step.members_:
                    name_features([own for _, own in member.steps], names)
            else:
                step.feature_names_in_ = np.asarray(names, dtype=object)
        names = step._names_out() if hasattr(step, "_names_out") else names


def first_names(step: Estimator) -> list[str]:
    """The names of features that a step has seen."""
    if isinstance(step, (AveragedClassifier, AveragedRegressor)):
        step = step.members_[0].steps[0][1]
    return [str(name) for name in getattr(step, "feature_names_in_", [])]


def altered(why: str) -> ModelFileError:
    """What is said of a description that Python did not write."""
    return ModelFileError(f"not a usable model file: its description of columns is altered ({why})")


def set_parameters(step: Estimator, given: Keywords) -> None:
    """Inverse of `plain_parameters`."""
    if isinstance(step, (AveragedClassifier, AveragedRegressor)):
        return
    try:
        values = {k: _unplain(v) for k, v in given.items()}
        of_the_run = [name for name in values if name in NOT_SAVED]
        if of_the_run:
            raise ValueError(f"{of_the_run[0]} belongs to a run, not to a model")
        if isinstance(step, Core):
            step._set_saved(values)
        else:
            step.set_params(**values)
    except (TypeError, KeyError, ValueError) as error:
        raise altered(str(error)) from error


def plain_parameters(parameters: Keywords) -> Keywords:
    """Parameters for JSON, without those of the run."""
    return {k: _plain(v) for k, v in parameters.items() if k not in NOT_SAVED}


def _plain(value: object) -> object:
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


def _unplain(value: object) -> object:
    if isinstance(value, dict):
        return {_key(k): _unplain(v) for k, v in value["pairs"]}
    return value


def _key(value: object) -> object:
    """A key of a dictionary: a pair of names was a tuple."""
    if isinstance(value, list) and len(value) == 2 and all(isinstance(name, str) for name in value):
        return tuple(value)
    return value
