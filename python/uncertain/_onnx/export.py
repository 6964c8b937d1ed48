"""`to_onnx`: a fitted pipeline as an ONNX model."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from functools import reduce
from operator import add
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, is_classifier
from sklearn.pipeline import Pipeline

from .._base.core import Core
from .._choice.average import AveragedClassifier, AveragedRegressor
from .._data.typing import Floats, Labels
from .._estimators.gsu import GSURegressor
from .._widths.spread import MANY, Spread
from ..preprocessing import AsGaussians, GaussianCollapser, GaussianDenoiser
from .gaussians import Rows
from .graph import Graph, Value
from .inputs import read_inputs
from .steps import ANSWERS, MOVES, Answer, Step, of_shares, refuse


class Opened(NamedTuple):
    """What a pipeline answers, and what it leaves open of a number (`uncertain._widths.spread.left_open`)."""

    answer: Answer
    parts: Value | None
    """u, (rows, k); None where it is not known."""


def write_onnx(
    path: str | os.PathLike[str],
    pipeline: Pipeline,
    spread: Spread | None,
    target: str,
    properties: dict[str, Any],
) -> None:
    """Write the file; UncertainError, and no file, for a model with a part that has no translation."""
    g = Graph()
    steps = [step for _, step in pipeline.steps]
    reading = steps.pop(0) if isinstance(steps[0], AsGaussians) else None
    d = int(steps[0].n_features_in_)
    rows = read_inputs(g, reading, d)
    opened = _opened(Pipeline([(str(k), step) for k, step in enumerate(steps)]), rows, spread)
    if is_classifier(steps[-1]):
        _classes(g, opened.answer, steps[-1].classes_)
    else:
        _number(g, opened, spread, target)
    texts = {key: value if isinstance(value, str) else json.dumps(value) for key, value in properties.items()}
    g.onnx.save_model(g.model(texts), os.fspath(path))


def _classes(g: Graph, answer: Answer, classes: Labels) -> None:
    """``label``, and ``probabilities`` in the order of the classes."""
    texts = classes.dtype.kind not in "iub"
    names = [str(label) for label in classes.tolist()] if texts else [int(c) for c in classes.tolist()]
    table = np.array(names, dtype=object if texts else np.int64)
    label = g.op("Gather", g.constant(table), answer.code, axis=0)
    g.output("label", label, dtype="STRING" if texts else "INT64")
    if answer.shares is not None:
        g.output("probabilities", answer.shares, [len(classes)])


def _number(g: Graph, opened: Opened, spread: Spread | None, target: str) -> None:
    """The number by the name of the target, and its whole standard deviation as ``<target>_std``."""
    g.output(target, opened.answer.number)
    if spread is not None and opened.parts is not None:
        variance = (opened.parts @ spread.slopes[:, None]).take(0, 1) + spread.base
        g.output(f"{target}_std", variance.apply("Sqrt"))


def _opened(pipeline: Pipeline, rows: Rows, spread: Spread | None) -> Opened:
    """Steps one after the other; `front` are the rows before a collapser drops posterior covariances."""
    front, denoised = rows, False
    for _, step in pipeline.steps[:-1]:
        denoised = denoised or isinstance(step, GaussianDenoiser)
        moved = _moved(step, rows)
        if not (denoised and isinstance(step, GaussianCollapser)):
            front = moved if front is rows else _moved(step, front)
        rows = moved
    last = pipeline.steps[-1][1]
    if isinstance(last, (AveragedClassifier, AveragedRegressor)):
        return _average(last, rows, spread)
    *earlier, step = _read(last)
    if step.kind not in ANSWERS:
        refuse(f"{step.name} ({step.kind}) has no translation")
    if earlier:
        refuse(f"{step.name} with {earlier[0].kind!r} in front (kernel=) has no translation")
    answer = ANSWERS[step.kind](rows, step)
    if answer.number is None:
        return Opened(answer, None)
    if isinstance(last, GSURegressor):
        return Opened(answer, ANSWERS[step.kind](front, step).variance.expand(1))
    if answer.variance is not None:
        return Opened(answer, answer.variance.expand(1))
    widths = None if spread is None else spread.widths
    if widths is None or not len(widths):
        return Opened(answer, None)
    return Opened(answer, _learner_parts(front, widths, denoised=denoised))


def _learner_parts(front: Rows, widths: Floats, *, denoised: bool) -> Value:
    """s^2 t^2 / (s^2 + t^2) of every feature, t^2 for a gap; behind a denoiser s^2."""
    square = widths**2
    parts = front.variances()
    if not denoised:
        parts = parts * square / (parts + square)
    if front.gaps is not None:
        parts = front.graph.where(front.gaps, square, parts)
    if len(widths) > MANY:
        return (parts / square).sum(1, keep=True) / float(len(widths))
    return parts


def _average(last: AveragedClassifier | AveragedRegressor, rows: Rows, spread: Spread | None) -> Opened:
    """sum_m w_m answer_m; open is what members leave open, and how far apart they are."""
    g, at, members = rows.graph, 0, []
    for member in last.members_:
        part = spread
        if spread is not None:
            part = replace(spread, widths=spread.widths[at : at + _n_widths(member)])
            at += len(part.widths)
        opened = _opened(member, rows, part)
        if part is not None and opened.parts is not None and 1 < len(part.widths) <= MANY:
            mean = (opened.parts / part.widths**2).sum(1, keep=True) / float(len(part.widths))
            opened = opened._replace(parts=mean)
        members.append(opened)
    if isinstance(last, AveragedClassifier):
        weighted = zip(last.weights_.tolist(), members, strict=True)
        return Opened(of_shares(reduce(add, [weight * one.answer.shares for weight, one in weighted])), None)
    weights = last.weights_[:, None]
    numbers = g.join([one.answer.number.expand(1) for one in members], 1)
    mean = numbers @ weights
    apart, answer = numbers - mean, Answer(number=mean.take(0, 1))
    parts = [one.parts for one in members if one.parts is not None]
    if len(parts) < len(members):
        return Opened(answer, None)
    return Opened(answer, g.join([*parts, (apart * apart) @ weights], 1))


def _n_widths(member: Pipeline) -> int:
    """How many widths of a spread belong to a member."""
    last = member[-1]
    if isinstance(last, GSURegressor) or _read(last)[-1].kind == "mixture-regression":
        return 0
    return int(last.n_features_in_)


def _moved(step: BaseEstimator, rows: Rows) -> Rows:
    """The rows behind a step."""
    for one in _read(step):
        if one.kind not in MOVES:
            refuse(f"{one.name} ({one.kind}) has no translation")
        rows = MOVES[one.kind](rows, one.arrays, one.params)
    return rows


def _read(step: BaseEstimator) -> list[Step]:
    name = type(step).__name__
    if not isinstance(step, Core):
        refuse(f"{name} is not of this library; skl2onnx and others translate scikit-learn's learners")
    return [Step.read(fitted, name) for fitted in step._steps()]
