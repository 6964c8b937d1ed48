"""Model files: the steps of a fitted pipeline, and one record of what only Python knows.

The core writes and reads the file: steps, arrays, parameters and classes, all that predictions need.
`Metadata` travels in the file's JSON object about columns, which the core keeps to the letter. Parameters of
the run, not of the model (`n_jobs`, `verbose`, `callback`), are not saved.

msgspec refuses values of a wrong type, with their path; `__post_init__` of a part refuses numbers that do not
fit together; `_check` refuses parts that do not fit the pipeline, such as those of another model's file.
"""

import os
from collections.abc import Sequence
from typing import Any, TypeAlias

import msgspec
from msgspec import field
from sklearn.base import is_regressor
from sklearn.pipeline import Pipeline

from .._choice.leaderboard import Leaderboard
from .._data.typing import Keywords, Label
from .._estimators.gsu import GSURegressor
from .._held_out.widths import has_density
from .._tables.cleaning import Cleaning
from .._tables.columns import Columns
from .._uncertain import Fitted, model_from_bytes, model_to_bytes, read_model, write_model
from ..exceptions import ModelFileError
from ..preprocessing import AsGaussians
from .calibrating import Calibration
from .pipeline_file import (
    StepNames,
    array,
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


def to_bytes(pipeline: Pipeline, metadata: Metadata) -> bytes:
    return model_to_bytes(*_parts(pipeline, metadata))


def from_bytes(data: bytes) -> tuple[Pipeline, Columns, Metadata]:
    """Invert `to_bytes`; ModelFileError for anything else."""
    return _assembled(*model_from_bytes(data))


def write(path: str | os.PathLike[str], pipeline: Pipeline, metadata: Metadata) -> None:
    """Write the model file; it appears complete or not at all."""
    write_model(path, *_parts(pipeline, metadata))


def read(path: str | os.PathLike[str]) -> tuple[Pipeline, Columns, Metadata]:
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
    about = _without_nan(msgspec.to_builtins(metadata, enc_hook=lambda value: value.tolist()))
    classes = pipeline[-1].classes_.tolist() if hasattr(pipeline[-1], "classes_") else []
    return own.steps, classes, features or first_names(first), msgspec.json.encode(about).decode()


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
    about = msgspec.json.decode(text, type=Metadata, dec_hook=array)
    columns = Columns.from_dict(about.columns)
    # Also models of arrays may have the step, which then says what NaN means.
    reads = bool(columns.roles()) or bool(about.parameters and "on_missing" in about.parameters[0])
    estimators = make_estimators(steps, about.parameters[int(reads) :], classes)
    _check(named(estimators, []), about.calibration)
    if reads:
        estimators.insert(0, _reading(columns, about, estimators[0].n_features_in_))
    pipeline = named(estimators, about.steps)
    name_features(estimators, features)
    return pipeline, columns, about


def _reading(columns: Columns, about: Metadata, d: int) -> AsGaussians:
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
        if c.spread is not None:
            c.spread.check(pipeline)
        elif c.conformal is not None and c.residual_std is None and not has_density(pipeline):
            raise ValueError("scores of intervals without residual_std or spread")
    elif c.spread is not None:
        raise ValueError("widths of a regression beside a classifier")
    if c.conformal is not None and len(c.conformal.widths) != (0 if is_regressor(last) else d):
        raise ValueError(f"scores with the widths of {len(c.conformal.widths)} features, the model has {d}")
    if c.conformal is not None and c.conformal.centres.shape != c.conformal.widths.shape:
        raise ValueError("scores with centres of other features than the widths")


def _without_nan(value: Any) -> Any:
    """Return builtins without NaN in objects, whose absence means the same."""
    if isinstance(value, dict):
        return {key: _without_nan(inner) for key, inner in value.items() if inner == inner}
    return [_without_nan(inner) for inner in value] if isinstance(value, (list, tuple)) else value
