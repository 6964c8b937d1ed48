"""Model files: the steps of a fitted pipeline, and one record of what only Python knows.

The core writes and reads the file: steps, arrays, parameters and classes, all that predictions need.
`Metadata` travels in the file's JSON object about columns, which the core keeps to the letter. Parameters of
the run, not of the model (`n_jobs`, `verbose`, `callback`), are not saved.

The core has averages of pipelines as a step, and leaves members without weight out of every answer. So the
models of a classifier's folds are members of weight zero, behind the members of the model itself: a reader in
Rust gets the model's answers, bit for bit, and needs to know nothing of folds.

msgspec refuses values of a wrong type, with their path; `__post_init__` of a part refuses numbers that do not
fit together; `_check` refuses parts that do not fit the pipeline, such as those of another model's file.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, TypeAlias

import msgspec
import numpy as np
from msgspec import field
from sklearn.base import is_regressor
from sklearn.pipeline import Pipeline

from .._choice.leaderboard import Leaderboard
from .._data.typing import Array, Keywords, Label
from .._estimators.gsu import GSURegressor
from .._tables.cleaning import Cleaning
from .._tables.columns import Columns
from .._uncertain import (
    Fitted,
    average,
    members_of,
    model_from_bytes,
    model_to_bytes,
    read_model,
    write_model,
)
from .._widths.distribution import has_density
from ..exceptions import ModelFileError
from ..preprocessing import AsGaussians
from .calibrating import Calibration
from .pipeline_file import (
    StepNames,
    first_names,
    make_estimators,
    name_features,
    named,
    pipeline_steps,
    set_parameters,
)

Parts: TypeAlias = tuple[Sequence[Fitted], Sequence[Label], Sequence[str], str]
"""Steps, classes, feature names and the JSON object, as the extension takes and gives them."""
OPTIONS = ("on_missing", "handle_unknown", "arms")
"""Parameters of `AsGaussians` beside its columns, which the file holds once."""


class Metadata(StepNames, frozen=True, kw_only=True):
    """Everything that Python knows of a model beside its steps; empty in a file that was written in Rust."""

    columns: dict[str, Any] = field(default_factory=dict)
    """By `Columns.to_dict`."""
    calibration: Calibration = Calibration()
    leaderboard: Leaderboard | None = None
    n_rows: int | None = None
    """Rows of the fit."""
    n_left_out: int = 0
    """Rows that had no target."""
    doubts: list[str] = field(default_factory=list)
    """Sentences about suspicious columns."""
    categories: dict[str, list[str | bool | int | float | None]] = field(default_factory=dict)
    units: dict[str, str] = field(default_factory=dict)
    unknown: Cleaning = Cleaning()


class FoldModel(StepNames, frozen=True, kw_only=True):
    """The model of a fold among the members of the file's average."""

    first: int
    """Its first member."""
    weights: list[float]
    """Of its members."""


def to_bytes(pipeline: Pipeline, metadata: Metadata) -> bytes:
    """Return the bytes of the model file."""
    return model_to_bytes(*_parts(pipeline, metadata))


def from_bytes(data: bytes) -> tuple[Pipeline, Columns, Metadata]:
    """Invert `to_bytes`; ModelFileError for anything else."""
    return _assembled(*model_from_bytes(data))


def write(path: str | os.PathLike[str], pipeline: Pipeline, metadata: Metadata) -> None:
    """Write the model file; it appears complete or not at all."""
    write_model(path, *_parts(pipeline, metadata))


def read(path: str | os.PathLike[str]) -> tuple[Pipeline, Columns, Metadata]:
    """Invert `write`."""
    return _assembled(*read_model(path))


def _parts(pipeline: Pipeline, metadata: Metadata) -> Parts:
    """Return what the extension writes."""
    first, steps = pipeline[0], pipeline.steps
    reading: Keywords = {}
    names: list[str] = []
    features: list[str] = []
    if isinstance(first, AsGaussians):
        features = [str(name) for name in first.get_feature_names_out()] if first.roles_ else []
        names, steps = [steps[0][0]], steps[1:]
        reading = {"categories": first.categories_, "units": first.units_, "unknown": first.unknown_}
    own = pipeline_steps(steps)
    parameters = [{name: getattr(first, name) for name in OPTIONS}] if names else []
    metadata = msgspec.structs.replace(
        metadata, steps=names + own.names, parameters=parameters + own.parameters, **reading
    )
    members, weights = _members(own.steps)
    n_members = len(members)

    def encode(value: object) -> object:
        """Return an array as lists; add the model of a fold to the members."""
        if isinstance(value, np.ndarray):
            return value.tolist()
        assert isinstance(value, Pipeline)
        fold = pipeline_steps(value.steps)
        added, shares = _members(fold.steps)
        place = len(members)
        members.extend(added)
        weights.extend([0.0] * len(added))
        note = FoldModel(steps=fold.names, parameters=fold.parameters, first=place, weights=shares)
        return msgspec.to_builtins(note)

    about = _without_nan(msgspec.to_builtins(metadata, enc_hook=encode))
    classes = pipeline[-1].classes_.tolist() if hasattr(pipeline[-1], "classes_") else []
    written = [average(members, weights)] if len(members) > n_members else own.steps
    return written, classes, features or first_names(first), msgspec.json.encode(about).decode()


def _assembled(
    steps: Sequence[Fitted], classes: Sequence[Label], features: Sequence[str], text: str
) -> tuple[Pipeline, Columns, Metadata]:
    """Return estimators with the attributes that fitting them would have given."""
    try:
        return _understood(steps, classes, features, text)
    except (ValueError, TypeError, KeyError, AttributeError, IndexError) as error:
        raise ModelFileError(
            f"not a usable model file: its description of columns is altered ({error})"
        ) from error


def _understood(
    steps: Sequence[Fitted], classes: Sequence[Label], features: Sequence[str], text: str
) -> tuple[Pipeline, Columns, Metadata]:
    first_of_folds: list[int] = []
    members, weights = _members(steps)

    def decode(kind: Any, value: Any) -> Any:
        """Invert `encode`."""
        if kind is not Pipeline:
            return _array(kind, value)
        fold = msgspec.convert(value, FoldModel)
        end = fold.first + len(fold.weights)
        if not 0 < fold.first < end <= len(members) or any(weights[fold.first : end]):
            raise ValueError(f"members {fold.first} to {end} of {len(members)} are no model of a fold")
        first_of_folds.append(fold.first)
        own = _joined(members[fold.first : end], fold.weights, fold)
        return named(make_estimators(own, fold.parameters, classes), fold.steps)

    about = msgspec.json.decode(text, type=Metadata, dec_hook=decode)
    columns = Columns.from_dict(about.columns)
    # Also models of arrays may have the step, which then says what NaN means.
    reads = bool(columns.roles()) or bool(about.parameters and "on_missing" in about.parameters[0])
    if first_of_folds:
        end = min(first_of_folds)
        steps = _joined(members[:end], weights[:end], about)
    estimators = make_estimators(steps, about.parameters[int(reads) :], classes)
    _check(named(estimators, []), about.calibration)
    if reads:
        estimators.insert(0, _reading(columns, about, estimators[0].n_features_in_))
    pipeline = named(estimators, about.steps)
    name_features(estimators, features)
    if about.calibration.sets is not None:
        behind = estimators[0]._names_out() or () if reads and columns.roles() else features
        for model in about.calibration.sets.models:  # which begin behind the reading step
            name_features([step for _, step in model.steps], behind)
    return pipeline, columns, about


def _reading(columns: Columns, about: Metadata, d: int) -> AsGaussians:
    """Return the step that reads tables."""
    first = AsGaussians(columns=columns)
    first.unknown_ = about.unknown
    first._keep(columns, about.categories, d, about.units)
    if columns.roles() and len(first.get_feature_names_out()) != d:
        raise ValueError(f"columns of {len(first.get_feature_names_out())} features, the steps have {d}")
    sizes = about.unknown.sizes
    if sizes is not None and len(sizes.own) != (len(columns.error_bars) or d):
        raise ValueError(f"sizes of {len(sizes.own)} features")
    if about.parameters:
        set_parameters(first, {name: v for name, v in about.parameters[0].items() if name in OPTIONS})
    first._check_options()
    return first


def _check(pipeline: Pipeline, calibration: Calibration) -> None:
    """Refuse what a fit of this pipeline over Gaussians does not give, though each part is sound."""
    last, d, c = pipeline[-1], pipeline.n_features_in_, calibration
    if c.sizes is not None and len(c.sizes.middle) != d:
        raise ValueError(f"sizes of the errors of {len(c.sizes.middle)} features, the model has {d}")
    if c.residual_std is not None and not isinstance(last, GSURegressor):
        raise ValueError(f"a {type(last).__name__} with a residual_std, which a GSURegressor has")
    if is_regressor(last):
        if c.sets is not None:
            raise ValueError("sets of a classifier beside a regression")
        if c.spread is not None:
            c.spread.check(pipeline)
        elif c.conformal is not None and c.residual_std is None and not has_density(pipeline):
            raise ValueError("scores of intervals without residual_std or spread")
    elif c.spread is not None or c.conformal is not None:
        raise ValueError("spread or scores of a regression beside a classifier")
    elif c.sets is not None:
        c.sets.check(d, last.classes_)


def _members(steps: Sequence[Fitted]) -> tuple[list[list[Fitted]], list[float]]:
    """Return the members of an average; else the steps themselves, with all the weight."""
    if len(steps) == 1 and steps[0].kind == "average":
        members, weights = members_of(steps[0])
        return list(members), list(weights)
    return [list(steps)], [1.0]


def _joined(members: list[list[Fitted]], weights: list[float], names: StepNames) -> list[Fitted]:
    """Invert `_members`; the parameters of an average list its members."""
    is_average = bool(names.parameters) and "members" in names.parameters[-1]
    return [average(members, weights)] if is_average else members[0]


def _array(kind: Any, value: object) -> Array:
    """Return an array of this type from lists of numbers; null is NaN."""
    dtype = kind.__args__[1].__args__[0]
    nested: Any = int if dtype is np.int64 else float | None
    probe = value
    while isinstance(probe, list):
        nested, probe = list[nested], probe[0] if probe else None
    return np.array(msgspec.convert(value, nested), dtype=dtype)


def _without_nan(value: Any) -> Any:
    """Return builtins without NaN in objects, whose absence means the same."""
    if isinstance(value, dict):
        return {key: _without_nan(inner) for key, inner in value.items() if inner == inner}
    return [_without_nan(inner) for inner in value] if isinstance(value, (list, tuple)) else value
