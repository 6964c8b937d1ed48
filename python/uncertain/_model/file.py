"""Fitted pipelines to and from the model file of the Rust core.

The file's own header holds all that predictions need: steps, arrays, parameters, classes. What only Python
knows (columns of tables, estimator parameters without a meaning in the core, such as `class_weight`) travels
in the file's JSON object about columns, which the core keeps to the letter. Parameters of the run, not of
the model (`n_jobs`, `verbose`, `callback`), are not saved.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.pipeline import Pipeline

from .._base.core import Core, class_of, decoded
from .._linear.kernelized import Kernelized
from .._uncertain import Fitted, model_from_bytes, model_to_bytes, read_model, write_model
from ..exceptions import ModelFileError, UncertainError
from ..preprocessing import AsGaussians, KernelMap
from ..tables._columns import Columns
from .leaderboard import Leaderboard

NOT_SAVED = ("n_jobs", "verbose", "callback")


class Beside(NamedTuple):
    """What a model knows beside its pipeline."""

    columns: Columns
    residual_std: float | None = None
    """The scatter of a regression's targets."""
    leaderboard: Leaderboard | None = None
    """Of a choice."""


def to_bytes(pipeline: Pipeline, beside: Beside) -> bytes:
    """The bytes of the model file."""
    return model_to_bytes(*_parts(pipeline, beside))


def from_bytes(data: bytes) -> tuple[Pipeline, Beside]:
    """Inverse of `to_bytes`; ModelFileError for anything else."""
    return _assembled(*model_from_bytes(data))


def write(path: str | os.PathLike[str], pipeline: Pipeline, beside: Beside) -> None:
    """Write the model file; it appears complete or not at all."""
    write_model(path, *_parts(pipeline, beside))


def read(path: str | os.PathLike[str]) -> tuple[Pipeline, Beside]:
    """Inverse of `write`."""
    return _assembled(*read_model(path))


def _parts(pipeline: Pipeline, beside: Beside) -> tuple[list[Fitted], list[Any], list[str], str]:
    """Steps, classes, feature names and the JSON object, as the extension takes them."""
    steps: list[Fitted] = []
    features: list[str] = []
    names: list[str] = []
    parameters: list[dict[str, Any]] = []
    categories: dict[str, list[Any]] = {}
    units: dict[str, str] = {}
    for name, step in pipeline.steps:
        if isinstance(step, AsGaussians):
            features = [str(f) for f in step.get_feature_names_out()] if step.roles_ else []
            categories, units = step.categories_, step.units_
            own = step.get_params()
        elif isinstance(step, Core):
            steps += step._steps()
            own = step._saved_params()
        else:
            raise UncertainError(
                f"the model cannot be saved: step {name!r} is a {type(step).__name__}, which is not of this "
                "library; joblib.dump(model.pipeline_, ...), skops or ONNX keep it"
            )
        if not names and not features:
            features = [str(f) for f in getattr(step, "feature_names_in_", [])]
        names.append(name)
        parameters.append({k: _plain(v) for k, v in own.items() if k not in NOT_SAVED})
    about: dict[str, Any] = {"columns": beside.columns.to_dict(), "steps": names, "parameters": parameters}
    if categories:
        about["categories"] = categories
    if units:
        about["units"] = units
    if beside.residual_std is not None:
        about["residual_std"] = beside.residual_std
    if beside.leaderboard is not None:
        about["leaderboard"] = beside.leaderboard.to_dict()
    classes = pipeline[-1].classes_.tolist() if hasattr(pipeline[-1], "classes_") else []
    return steps, classes, features, json.dumps(about)


def _assembled(
    steps: Sequence[Fitted], classes: Sequence[Any], features: Sequence[str], text: str
) -> tuple[Pipeline, Beside]:
    """Estimators with the attributes that fitting them would have given."""
    about = About.of(text)
    estimators = _estimators(steps, classes)
    # Also models of arrays may have the step, which then says what NaN means.
    columns, parameters = about.columns, about.parameters
    if columns.roles() or (parameters and "on_missing" in parameters[0]):
        first = AsGaussians(**columns.roles())
        first._keep(columns.roles(), about.categories, estimators[0].n_features_in_, about.units)
        estimators.insert(0, first)
    last = estimators[-1]
    if isinstance(last, Kernelized) and parameters and parameters[-1].get("kernel", "linear") != "linear":
        # The map is the estimator's own, not a step of the pipeline.
        own = estimators.pop(-2) if len(estimators) > 1 else None
        if not isinstance(own, KernelMap):
            raise _altered("a kernel without its map")
        last.kernel_map_, last.n_features_in_ = own, own.n_features_in_
    names = about.steps or [type(step).__name__.lower() for step in estimators]
    if len(names) != len(estimators) or (parameters and len(parameters) != len(estimators)):
        raise _altered(f"{len(names)} names and {len(parameters)} parameters of {len(estimators)} steps")
    for step, given in zip(estimators, parameters, strict=False):
        try:
            values = {k: _unplain(v) for k, v in given.items()}
            if isinstance(step, Core):
                step._set_saved(values)
            else:
                step.set_params(**values)
        except (TypeError, KeyError, ValueError) as error:
            raise _altered(str(error)) from error
    _name_features(estimators, features)
    return Pipeline(list(zip(names, estimators, strict=True))), Beside(
        columns, about.residual_std, about.leaderboard
    )


def _name_features(steps: Sequence[Any], features: Sequence[str]) -> None:
    """The names that the steps would have seen in the fit, as far as features keep theirs."""
    names: Any = features
    for step in steps:
        if not (isinstance(step, AsGaussians) and step.roles_):  # which knows its columns
            if names is None or not len(names):
                return
            if isinstance(step, Core):
                step._set_names(names)
            else:
                step.feature_names_in_ = np.asarray(names, dtype=object)
        names = step._names_out() if hasattr(step, "_names_out") else names


class About(NamedTuple):
    """What Python writes into the file's JSON object; a file that was written in Rust has none of it."""

    columns: Columns
    steps: list[str]
    parameters: list[dict[str, Any]]
    categories: dict[str, list[Any]]
    residual_std: float | None = None
    units: dict[str, str] = {}  # noqa: RUF012
    leaderboard: Leaderboard | None = None

    @classmethod
    def of(cls, text: str) -> About:
        """Checked; ModelFileError for what Python did not write."""
        about = json.loads(text)
        steps, parameters = about.get("steps", []), about.get("parameters", [])
        categories = about.get("categories", {})
        if not (
            isinstance(categories, dict) and all(isinstance(known, list) for known in categories.values())
        ):
            raise _altered(f"categories = {categories!r}")
        if not (isinstance(steps, list) and all(isinstance(name, str) for name in steps)):
            raise _altered(f"steps = {steps!r}")
        if len(set(steps)) < len(steps):
            raise _altered(f"steps of the same name, {steps!r}")
        if not (isinstance(parameters, list) and all(isinstance(given, dict) for given in parameters)):
            raise _altered(f"parameters = {parameters!r}")
        try:
            columns = Columns.from_dict(about.get("columns", {}))
        except (TypeError, KeyError, AttributeError, ValueError) as error:
            raise _altered(str(error)) from error
        scatter = about.get("residual_std")
        if scatter is not None and not (type(scatter) is float and 0.0 <= scatter < math.inf):
            raise _altered(f"residual_std = {scatter!r}")
        units = about.get("units", {})
        if not (isinstance(units, dict) and all(isinstance(unit, str) for unit in units.values())):
            raise _altered(f"units = {units!r}")
        board = about.get("leaderboard")
        try:
            leaderboard = None if board is None else Leaderboard.from_dict(board)
        except (TypeError, KeyError, AttributeError, IndexError, ValueError) as error:
            raise _altered(str(error)) from error
        return cls(columns, steps, parameters, categories, scatter, units, leaderboard)


def _altered(why: str) -> ModelFileError:
    return ModelFileError(f"not a usable model file: its description of columns is altered ({why})")


def _estimators(steps: Sequence[Fitted], classes: Sequence[Any]) -> list[Any]:
    """The estimators of the steps; the number of features is known from the last one on backwards."""
    estimators: list[Any] = []
    d: int | None = None
    for model in reversed(steps):
        cls = class_of(model.kind, classifier=bool(model.n_classes))
        estimator = cls(**cls._arguments(decoded(model.parameters)))
        if model.n_classes:
            estimator.classes_ = np.asarray(classes)  # type: ignore[attr-defined]
        d = d if model.n_features is None else model.n_features
        assert d is not None
        estimator.n_features_in_ = d
        estimators.insert(0, estimator._loaded(model))
    return estimators


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
        return {_key(k): _unplain(v) for k, v in value["pairs"]}
    return value


def _key(value: Any) -> Any:
    """A key of a dictionary: a pair of names was a tuple."""
    pair = isinstance(value, list) and len(value) == 2 and all(isinstance(name, str) for name in value)
    return tuple(value) if pair else value
