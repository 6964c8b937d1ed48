"""Pipelines as lists of the core's steps, for model files: names, parameters, and stacks of pipelines.

A stack is one step of the core that holds the steps of its members; their names and parameters stand
where the parameters of another step would.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec
import numpy as np
from msgspec import Struct, field
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline

from .._base.core import NOT_SAVED, Core, core_class, decoded
from .._choice.stack import StackedClassifier, StackedRegressor
from .._data.typing import Array, Estimator, Keywords, Label
from .._estimators.linear import Kernelized
from .._held_out.widths import Spread
from .._uncertain import Fitted, average, members_of
from ..exceptions import UncertainError
from ..laws import CurveRegressor
from ..preprocessing import AsGaussians, KernelMap

Stacked = StackedClassifier | StackedRegressor


class StepNames(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Names and parameters of the steps of a pipeline; both are empty in a file from Rust."""

    steps: list[str] = field(default_factory=list)
    parameters: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.steps and self.parameters and len(self.steps) != len(self.parameters):
            raise ValueError(f"{len(self.steps)} names and {len(self.parameters)} parameters of steps")


class MemberNames(StepNames, frozen=True):
    """Arrays of a member of a stack, and the law of its widths."""

    spread: Spread | None = None


class PipelineSteps(NamedTuple):
    """A pipeline, or its steps behind those that read tables."""

    steps: list[Fitted]
    names: list[str]
    parameters: list[Keywords]


def pipeline_steps(steps: Sequence[tuple[str, Estimator]]) -> PipelineSteps:
    """Return the core's steps of fitted estimators; UncertainError for one that a file does not hold."""
    listed = PipelineSteps([], [], [])
    for name, step in steps:
        if isinstance(step, (StackedClassifier, StackedRegressor)):
            members = [pipeline_steps(member.steps) for member in step.members_]
            of_members = [member.steps for member in members]
            listed.steps.append(average(of_members, step.weights_, step.sizes_.tolist()))
            notes = [
                MemberNames(steps=m.names, parameters=m.parameters, spread=spread)
                for m, spread in zip(members, step.spreads_, strict=True)
            ]
            own = {"members": notes}
        elif isinstance(step, Core):
            listed.steps.extend(step._steps())
            own = plain_parameters(step._saved_params())
        elif isinstance(step, CurveRegressor):
            raise UncertainError(
                f"the model cannot be saved: step {name!r} is a CurveRegressor, whose curve is a function of "
                "Python. Define the function in a module and call joblib.dump(model.pipeline_, path)"
            )
        else:
            raise UncertainError(
                f"the model cannot be saved: step {name!r} is a {type(step).__name__}, which is not of this "
                "library; joblib.dump(model.pipeline_, ...), skops or ONNX keep it"
            )
        listed.names.append(name)
        listed.parameters.append(own)
    return listed


def make_estimators(
    steps: Sequence[Fitted], parameters: Sequence[Keywords], classes: Sequence[Label]
) -> list[BaseEstimator]:
    """The estimators of the steps, with these parameters if there are any: a file from Rust has none."""
    estimators = _estimators(steps, parameters, classes)
    last = estimators[-1]
    if isinstance(last, Kernelized) and parameters and parameters[-1].get("kernel", "linear") != "linear":
        # The map belongs to the estimator, it is no step of the pipeline.
        own = estimators.pop(-2) if len(estimators) > 1 else None
        if not isinstance(own, KernelMap):
            raise ValueError("a kernel without its map")
        last.kernel_map_, last.n_features_in_ = own, own.n_features_in_
    if parameters and len(parameters) != len(estimators):
        raise ValueError(f"{len(parameters)} parameters of {len(estimators)} steps")
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
            estimators.insert(0, _stacked(model, about, classes))
            continue
        cls = core_class(model.kind, classifier=bool(model.n_classes))
        estimator = cls(**cls._arguments(decoded(model.parameters)))
        if model.n_classes:
            estimator.classes_ = np.asarray(classes)  # type: ignore[attr-defined]
        estimator.n_features_in_ = d
        estimators.insert(0, estimator._loaded(model))
    return estimators


def _stacked(model: Fitted, about: object, classes: Sequence[Label]) -> Stacked:
    """Return the stack of the members' pipelines; `about` names its steps, if Python wrote them."""
    members, weights, sizes = members_of(model)
    notes = [MemberNames()] * len(members)
    if about is not None:
        notes = msgspec.convert(about, list[MemberNames], dec_hook=array)
    pipelines = [
        named(make_estimators(steps, note.parameters, classes), note.steps)
        for steps, note in zip(members, notes, strict=True)
    ]
    if model.n_classes and not all(hasattr(member, "predict_proba") for member in pipelines):
        raise ValueError("a member of a stack without probabilities")
    for pipeline, note in zip(pipelines, notes, strict=True):
        if note.spread is not None:
            note.spread.check(pipeline)
    kind = StackedClassifier if model.n_classes else StackedRegressor
    stacked: Stacked = kind.from_fitted(pipelines, weights, sizes, [note.spread for note in notes])
    stacked.weights_ = weights  # as they were, without another division by their sum
    return stacked


def array(kind: Any, value: object) -> Array:
    """Return an array of this type from lists of numbers; null is NaN."""
    dtype = kind.__args__[1].__args__[0]
    nested: Any = int if dtype is np.int64 else float | None
    probe = value
    while isinstance(probe, list):
        nested, probe = list[nested], probe[0] if probe else None
    return np.array(msgspec.convert(value, nested), dtype=dtype)


def named(estimators: Sequence[Estimator], names: Sequence[str]) -> Pipeline:
    names = names or [type(step).__name__.lower() for step in estimators]
    if len({*names}) < len(names):
        raise ValueError(f"steps of the same name, {names!r}")
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
            elif isinstance(step, (StackedClassifier, StackedRegressor)):
                for member in step.members_:
                    name_features([own for _, own in member.steps], names)
            else:
                step.feature_names_in_ = np.asarray(names, dtype=object)
        names = step._names_out() if hasattr(step, "_names_out") else names


def first_names(step: Estimator) -> list[str]:
    """The names of features that a step has seen."""
    if isinstance(step, (StackedClassifier, StackedRegressor)):
        step = step.members_[0].steps[0][1]
    return [str(name) for name in getattr(step, "feature_names_in_", [])]


def set_parameters(step: Estimator, parameters: Keywords) -> None:
    """Invert `plain_parameters`."""
    if isinstance(step, (StackedClassifier, StackedRegressor)):
        return
    of_the_run = next((name for name in parameters if name in NOT_SAVED), None)
    if of_the_run is not None:
        raise ValueError(f"{of_the_run} belongs to a run, not to a model")
    values = {name: _unplain(value) for name, value in parameters.items()}
    if isinstance(step, Core):
        step._set_saved(values)
    else:
        step.set_params(**values)


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
