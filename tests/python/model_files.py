"""Model files taken apart and put together again under a right checksum.

The description is what Python wrote into them beside the numbers of the core."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

import uncertain
from uncertain._uncertain import Fitted, members_of, read_model, write_model

__all__ = ["Fitted", "read_model", "write_model"]


def description(path: Path) -> dict[str, Any]:
    """What Python wrote beside the core's numbers: columns, names of steps, parameters."""
    about: dict[str, Any] = json.loads(read_model(path)[3])
    return about


def as_model(pipeline: Any) -> uncertain.Model:
    """A fitted pipeline behind `Model`'s methods, `save` among them."""
    return uncertain.Model(pipeline, uncertain.Columns())


def written(estimator: Any, out: Path) -> Path:
    """A fitted estimator in a file that says nothing of Python."""
    classes = getattr(estimator, "classes_", np.zeros(0)).tolist()
    write_model(out, estimator._steps(), classes, [], "{}")
    return out


def core_steps(path: Path) -> list[Any]:
    """The fitted steps as the core reads them."""
    return list(read_model(path)[0])


def members(step: Fitted) -> tuple[list[list[Fitted]], list[float]]:
    """The members of a core step that is an average, and their weights."""
    return members_of(step)


def redescribed(path: Path, about: Any, out: Path) -> Path:
    """A copy of a model file with another description; a string stands as it is."""
    steps, classes, features, _ = read_model(path)
    write_model(out, steps, classes, features, about if isinstance(about, str) else json.dumps(about))
    return out
