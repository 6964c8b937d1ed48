"""`to_onnx`: a fitted pipeline as an ONNX model."""

import json
import os
from functools import reduce
from operator import add
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, is_classifier
from sklearn.pipeline import Pipeline

from .._base.core import Core
from .._choice.stack import StackedClassifier, StackedRegressor
from .._data.typing import Floats, Labels
from .._estimators.gsu import GSURegressor
from .._held_out.widths import MANY, Spread
from ..preprocessing import AsGaussians, GaussianCollapser, GaussianDenoiser
from .gaussians import Rows
from .graph import Graph, Value
from .inputs import read_inputs
from .steps import ANSWERS, MOVES, Answer, Step, of_shares, refuse


class Opened(NamedTuple):
    """Outputs of a pipeline, and sources of the width of a number (`left_open`)."""

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
    """Write the file; UncertainError for a part that has no translation."""
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
    """The number, named as the target, and its deviation ``<target>_std``."""
    g.output(target, opened.answer.number)
    if spread is not None and opened.parts is not None:
        variance = (opened.parts @ spread.slopes[:, None]).take(0, 1) + spread.base
        g.output(f"{target}_std", variance.apply("Sqrt"))


def _opened(pipeline: Pipeline, rows: Rows, spread: Spread | None) -> Opened:
    """Translate steps; `front`: rows before posterior covariances are dropped."""
    front, denoised = rows, False
    for _, step in pipeline.steps[:-1]:
        denoised = denoised or isinstance(step, GaussianDenoiser)
        moved = _moved(step, rows)
        if not (denoised and isinstance(step, GaussianCollapser)):
            front = moved if front is rows else _moved(step, front)
        rows = moved
    last = pipeline.steps[-1][1]
    if isinstance(last, (StackedClassifier, StackedRegressor)):
        return _stack(last, rows)
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
    """s^2 t^2 / (s^2 + t^2) of features, t^2 for a gap; behind a denoiser s^2."""
    square = widths**2
    parts = front.variances()
    if not denoised:
        parts = parts * square / (parts + square)
    if front.gaps is not None:
        parts = front.graph.where(front.gaps, square, parts)
    if len(widths) > MANY:
        return (parts / square).sum(1, keep=True) / float(len(widths))
    return parts


def _stack(last: StackedClassifier | StackedRegressor, rows: Rows) -> Opened:
    """sum_k w_k answer_k; the variance of the mixture, if all members have one."""
    weights = _weights(last, rows)
    opened = [
        _opened(member, rows, spread) for member, spread in zip(last.members_, last.spreads_, strict=True)
    ]
    each = [weights.take(k, 1) for k in range(len(opened))]
    if isinstance(last, StackedClassifier):
        shares = [w.expand(1) * one.answer.shares for w, one in zip(each, opened, strict=True)]
        return Opened(of_shares(reduce(add, shares)), None)
    numbers: Any = [one.answer.number for one in opened]
    mean = reduce(add, [w * number for w, number in zip(each, numbers, strict=True)])
    variances: Any = [_whole(one, spread) for one, spread in zip(opened, last.spreads_, strict=True)]
    if any(variance is None for variance in variances):
        return Opened(Answer(number=mean), None)
    squares = [
        w * (variance + (number - mean) * (number - mean))
        for w, number, variance in zip(each, numbers, variances, strict=True)
    ]
    return Opened(Answer(number=mean), reduce(add, squares).expand(1))


def _whole(opened: Opened, spread: Spread | None) -> Value | None:
    """The variance of a member's distribution."""
    if opened.parts is None:
        return None
    if spread is None:
        return opened.parts.take(0, 1)
    return (opened.parts @ spread.slopes[:, None]).take(0, 1) + spread.base


def _weights(last: StackedClassifier | StackedRegressor, rows: Rows) -> Value:
    """w_k of every row, (rows, members); see `uncertain._choice.weights`."""
    g, knots = rows.graph, len(last.weights_)
    if knots == 1:
        return rows.points().mean.take([0], 1) * np.zeros(1) + last.weights_
    used = last.sizes_ > 0.0
    std = rows.deviations()
    there = g.where(std > np.zeros(1), used.astype(np.float64), np.zeros(1))
    if rows.gaps is not None:
        there = g.where(rows.gaps, np.zeros(1), there)
    ratio = std / np.where(used, last.sizes_, 1.0)
    logs = g.where(there > np.zeros(1), ratio, np.ones(1)).apply("Log") / np.log(2.0)
    number = there.sum(1, keep=True)
    level = logs.sum(1, keep=True) / g.where(number > np.zeros(1), number, np.ones(1))
    level = g.op("Clip", level, np.array(0.0), np.array(knots - 1.0))
    off = (level - np.arange(float(knots))[None, :]).apply("Abs")
    return (np.ones(1) - off).apply("Relu") @ last.weights_


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
