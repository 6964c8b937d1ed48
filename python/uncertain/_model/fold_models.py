"""Models of folds in the file of a model: members without weight of an average.

The core has averages of pipelines as a step, and leaves members without weight out of every answer. So a
model with the models of its folds is written as an average of which only the model itself has weight: who
reads the file in Rust gets the model's answers, bit for bit, and needs to know nothing of folds. The
description lists the names and parameters of each fold's steps; a fold of an average has as many members as
it lists, with their weights.

Rejected: files inside the description (it holds a megabyte at most), and a new part of the format (every
reader would have to know it).
"""

from __future__ import annotations

from collections.abc import Sequence

from sklearn.pipeline import Pipeline

from .._data.typing import Header, Keywords, Label
from .._uncertain import Fitted, average, members_of
from .pipeline_file import altered, checked_steps, listed, make_estimators, named

Member = list[Fitted]
"""Steps of the core."""


def with_fold_models(steps: Member, models: Sequence[Pipeline]) -> tuple[Member, list[Header]]:
    """Steps that answer like these and hold the models, too; and the description of the models."""
    members, weights = _members(steps)
    described: list[Header] = []
    for model in models:
        own, names, parameters = listed(model.steps)
        theirs, shares = _members(own)
        members, weights = members + theirs, weights + [0.0] * len(theirs)
        described.append({"steps": names, "parameters": parameters, "weights": shares})
    return [average(members, weights)], described


def without_fold_models(
    steps: Sequence[Fitted],
    parameters: Sequence[Keywords],
    described: Sequence[Header],
    classes: Sequence[Label],
) -> tuple[list[Fitted], list[Pipeline]]:
    """Inverse of `with_fold_models`, of a model with these parameters of steps; ModelFileError for others."""
    if not described:
        return list(steps), []
    if len(steps) != 1 or steps[0].kind != "average":
        raise altered("models of folds that the steps do not hold")
    members, weights = members_of(steps[0])
    counts = [_count(each) for each in described]
    first = len(members) - sum(counts)
    if first < 1 or any(weights[first:]):
        raise altered(f"{len(members)} members and {sum(counts)} of them for folds")
    models, start = [], first
    for each, count in zip(described, counts, strict=True):
        names, theirs = checked_steps(each)
        own = _joined(members[start : start + count], each["weights"], theirs)
        models.append(named(make_estimators(own, theirs, classes), names))
        start += count
    return _joined(members[:first], weights[:first], parameters), models


def _members(steps: Member) -> tuple[list[Member], list[float]]:
    """Those of an average; else the steps themselves, with all the weight."""
    if len(steps) == 1 and steps[0].kind == "average":
        members, weights = members_of(steps[0])
        return list(members), list(weights)
    return [steps], [1.0]


def _joined(members: Sequence[Member], weights: Sequence[float], parameters: Sequence[Keywords]) -> Member:
    """Inverse of `_members`; the parameters of an average list its members."""
    is_average = bool(parameters) and "members" in parameters[-1]
    return [average(list(members), list(weights))] if is_average else list(members[0])


def _count(described: Header) -> int:
    """Members of a fold's model."""
    weights = described.get("weights")
    numbers = isinstance(weights, list) and all(type(weight) is float for weight in weights)
    if not numbers or not weights:
        raise altered(f"weights of a fold's model = {weights!r:.100}")
    return len(weights)
