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
from typing import NamedTuple

from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline

from .._choice.leaderboard import Leaderboard
from .._columns.columns import Columns
from .._data.typing import Header, Label
from .._uncertain import Fitted, model_from_bytes, model_to_bytes, read_model, write_model
from ..exceptions import UncertainError
from ..preprocessing import AsGaussians
from ..preprocessing._unknown import Unknown
from .fold_models import with_fold_models, without_fold_models
from .pipeline_file import (
    altered,
    checked_steps,
    first_names,
    listed,
    make_estimators,
    name_features,
    named,
    set_parameters,
)
from .remembered import Remembered

NOTHING = Remembered()
NOTHING_UNKNOWN = Unknown()
OPTIONS = ("on_missing", "handle_unknown", "indicators", "arms")
"""Parameters of `AsGaussians` beside its columns, which the file holds once."""


class ModelMetadata(NamedTuple):
    """What a model knows beside its pipeline."""

    columns: Columns
    residual_std: float | None = None
    """The scatter of a regression's targets."""
    leaderboard: Leaderboard | None = None
    """Of a choice."""
    remembered: Remembered = NOTHING
    """Of the rows of the fit."""


def to_bytes(pipeline: Pipeline, metadata: ModelMetadata) -> bytes:
    """The bytes of the model file."""
    return model_to_bytes(*_parts(pipeline, metadata))


def from_bytes(data: bytes) -> tuple[Pipeline, ModelMetadata]:
    """Inverse of `to_bytes`; ModelFileError for anything else."""
    return _assembled(*model_from_bytes(data))


def write(path: str | os.PathLike[str], pipeline: Pipeline, metadata: ModelMetadata) -> None:
    """Write the model file; it appears complete or not at all."""
    write_model(path, *_parts(pipeline, metadata))


def read(path: str | os.PathLike[str]) -> tuple[Pipeline, ModelMetadata]:
    """Inverse of `write`."""
    return _assembled(*read_model(path))


def _parts(pipeline: Pipeline, metadata: ModelMetadata) -> tuple[list[Fitted], list[Label], list[str], str]:
    """Steps, classes, feature names and the JSON object, as the extension takes them."""
    features: list[str] = []
    categories: dict[str, list[Label]] = {}
    units: dict[str, str] = {}
    unknown: Header = {}
    first, rest = pipeline[0], pipeline.steps
    names, parameters = [], []
    if isinstance(first, AsGaussians):
        features = [str(f) for f in first.get_feature_names_out()] if first.roles_ else []
        categories, units, unknown = first.categories_, first.units_, first.unknown_.to_dict()
        names, parameters = [rest[0][0]], [{name: getattr(first, name) for name in OPTIONS}]
        rest = rest[1:]
    if not features:
        features = first_names(first)
    models = () if metadata.remembered.sets is None else metadata.remembered.sets.models
    steps, own_names, own_parameters = listed(rest)
    about_models: list[Header] = []
    if models:
        steps, about_models = with_fold_models(steps, models)
    names, parameters = names + own_names, parameters + own_parameters
    about: Header = {"columns": metadata.columns.to_dict(), "steps": names, "parameters": parameters}
    if about_models:
        about["fold_models"] = about_models
    if categories:
        about["categories"] = categories
    if units:
        about["units"] = units
    if unknown:
        about["unknown"] = unknown
    if metadata.residual_std is not None:
        about["residual_std"] = metadata.residual_std
    if metadata.leaderboard is not None:
        about["leaderboard"] = metadata.leaderboard.to_dict()
    if known := metadata.remembered.to_dict():
        about["remembered"] = known
    classes = pipeline[-1].classes_.tolist() if hasattr(pipeline[-1], "classes_") else []
    return steps, classes, features, json.dumps(about)


def _assembled(
    steps: Sequence[Fitted], classes: Sequence[Label], features: Sequence[str], text: str
) -> tuple[Pipeline, ModelMetadata]:
    """Estimators with the attributes that fitting them would have given."""
    about = About.parse(text)
    columns, parameters = about.columns, about.parameters
    # Also models of arrays may have the step, which then says what NaN means.
    reads = bool(columns.roles()) or bool(parameters and "on_missing" in parameters[0])
    if about.steps and parameters and len(about.steps) != len(parameters):
        raise altered(f"{len(about.steps)} names and {len(parameters)} parameters of steps")
    steps, models = without_fold_models(steps, parameters, about.fold_models, classes)
    estimators = make_estimators(steps, parameters[int(reads) :], classes)
    try:
        remembered = Remembered.from_dict(about.remembered, models)
        remembered.check(named(estimators, []), about.residual_std)
    except (TypeError, KeyError, AttributeError, IndexError, ValueError) as error:
        raise altered(str(error)) from error
    if reads:
        first = AsGaussians(columns=columns)
        d = estimators[0].n_features_in_
        first.unknown_ = about.unknown
        first._keep(columns, about.categories, d, about.units)
        if columns.roles() and len(first.get_feature_names_out()) != d:
            raise altered(f"columns of {len(first.get_feature_names_out())} features, the steps have {d}")
        sizes = about.unknown.sizes
        if sizes is not None and len(sizes.own) != (len(columns.error_bars) or d):
            raise altered(f"sizes of {len(sizes.own)} features")
        if parameters:
            options = {name: value for name, value in parameters[0].items() if name in OPTIONS}
            set_parameters(first, options)
        try:
            first._check_options()
        except UncertainError as error:
            raise altered(str(error)) from error
        estimators.insert(0, first)
    pipeline = named(estimators, about.steps)
    name_features(estimators, features)
    for model in models:  # which begins behind the reading step
        name_features([step for _, step in model.steps], _names_behind(estimators[0], features))
    return pipeline, ModelMetadata(columns, about.residual_std, about.leaderboard, remembered)


def _names_behind(first: BaseEstimator, features: Sequence[str]) -> Sequence[str]:
    """Names of features behind the reading step, if there is one that gives some."""
    return first._names_out() or () if isinstance(first, AsGaussians) and first.roles_ else features


class About(NamedTuple):
    """What Python writes into the file's JSON object; a file that was written in Rust has none of it."""

    columns: Columns
    steps: list[str]
    parameters: list[Header]
    categories: dict[str, list[Label]]
    residual_std: float | None = None
    units: dict[str, str] = {}  # noqa: RUF012
    leaderboard: Leaderboard | None = None
    remembered: Header = {}  # noqa: RUF012
    fold_models: list[Header] = []  # noqa: RUF012
    unknown: Unknown = NOTHING_UNKNOWN

    @classmethod
    def parse(cls, text: str) -> About:
        """Checked; ModelFileError for what Python did not write."""
        about = json.loads(text)
        steps, parameters = checked_steps(about)
        categories = about.get("categories", {})
        if not (isinstance(categories, dict) and all(map(_are_values, categories.values()))):
            raise altered(f"categories = {categories!r}")
        try:
            columns = Columns.from_dict(about.get("columns", {}))
        except (TypeError, KeyError, AttributeError, ValueError) as error:
            raise altered(str(error)) from error
        scatter = about.get("residual_std")
        if scatter is not None and not (type(scatter) is float and 0.0 <= scatter < math.inf):
            raise altered(f"residual_std = {scatter!r}")
        units = about.get("units", {})
        if not (isinstance(units, dict) and all(isinstance(unit, str) for unit in units.values())):
            raise altered(f"units = {units!r}")
        board = about.get("leaderboard")
        try:
            leaderboard = None if board is None else Leaderboard.from_dict(board)
            unknown = Unknown.from_dict(about["unknown"]) if "unknown" in about else NOTHING_UNKNOWN
        except (TypeError, KeyError, AttributeError, IndexError, ValueError) as error:
            raise altered(str(error)) from error
        remembered, models = about.get("remembered", {}), about.get("fold_models", [])
        if not isinstance(remembered, dict) or not _are_objects(models):
            raise altered(f"remembered = {remembered!r:.100}, fold_models = {models!r:.100}")
        return cls(
            columns, steps, parameters, categories, scatter, units, leaderboard, remembered, models, unknown
        )


def _are_objects(value: object) -> bool:
    """A list of JSON objects?"""
    return isinstance(value, list) and all(isinstance(each, dict) for each in value)


def _are_values(value: object) -> bool:
    """A list of what a column of a table may hold?"""
    scalars = (str, bool, int, float, type(None))
    return isinstance(value, list) and all(isinstance(known, scalars) for known in value)
