"""`to_onnx`: a fitted pipeline as an ONNX model."""

from __future__ import annotations

import json
import os
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, is_classifier
from sklearn.pipeline import Pipeline

from ..._base.core import Core
from ..._choice.average import AveragedClassifier, AveragedRegressor
from ..._data.typing import Floats, Labels
from ..._estimators.gsu import GSURegressor
from ..._widths.spread import MANY, Spread
from ...preprocessing import AsGaussians, GaussianCollapser, GaussianDenoiser
from .gaussians import Rows
from .graph import Graph, Value
from .inputs import read_inputs
from .steps import ANSWERS, MOVES, Answer, Step, refuse


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
    model = g.model(texts)
    g.onnx.save_model(model, os.fspath(path))


def _classes(g: Graph, answer: Answer, classes: Labels) -> None:
    """``label``, and ``probabilities`` in the order of the classes."""
    assert answer.code is not None
    texts = classes.dtype.kind not in "iub"
    names = [str(label) for label in classes.tolist()] if texts else [int(c) for c in classes.tolist()]
    table = np.array(names, dtype=object if texts else np.int64)
    label = g.op("Gather", g.constant(table), answer.code, axis=0)
    g.output("label", label, dtype="STRING" if texts else "INT64")
    if answer.shares is not None:
        g.output("probabilities", answer.shares, [len(classes)])


def _number(g: Graph, opened: Opened, spread: Spread | None, target: str) -> None:
    """The number by the name of the target, and its whole standard deviation as ``<target>_std``."""
    assert opened.answer.number is not None
    g.output(target, opened.answer.number)
    if spread is not None and opened.parts is not None:
        variance = (opened.parts @ spread.slopes[:, None]).take(0, 1) + spread.base
        g.output(f"{target}_std", variance.apply("Sqrt"))


def _opened(pipeline: Pipeline, rows: Rows, spread: Spread | None) -> Opened:
    """Steps one after the other; `front` are the rows before a collapser drops posterior covariances."""
    front, denoised = rows, False
    for _, step in pipeline.steps[:-1]:
        denoised = denoised or isinstance(step, GaussianDenoiser)
        collapses = denoised and isinstance(step, GaussianCollapser)
        before = front
        if front is rows:
            rows = _moved(step, rows)
            front = before if collapses else rows
        else:
            rows = _moved(step, rows)
            front = front if collapses else _moved(step, front)
    last = pipeline.steps[-1][1]
    if isinstance(last, (AveragedClassifier, AveragedRegressor)):
        return _average(last, rows, spread)
    step = _read(last)[-1]
    if step.kind not in ANSWERS:
        refuse(f"{step.name} ({step.kind}) has no translation")
    for earlier in _read(last)[:-1]:
        refuse(f"{step.name} with {earlier.kind!r} in front (kernel=) has no translation")
    answer = ANSWERS[step.kind](rows, step)
    if answer.number is None:
        return Opened(answer, None)
    if isinstance(last, GSURegressor):
        return Opened(answer, _variance(ANSWERS[step.kind](front, step)).expand(1))
    if answer.variance is not None:
        return Opened(answer, answer.variance.expand(1))
    widths = None if spread is None else spread.widths
    if widths is None or not len(widths):
        return Opened(answer, None)
    return Opened(answer, _learner_parts(front, widths, denoised=denoised))


def _variance(answer: Answer) -> Value:
    assert answer.variance is not None
    return answer.variance


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
    g, at, found = rows.graph, 0, []
    for member in last.members_:
        count = 0 if spread is None else _n_widths(member)
        widths = None if spread is None else spread.widths[at : at + count]
        at += count
        own = None if spread is None or widths is None else Spread(spread.base, spread.slopes, widths)
        opened = _opened(member, rows, own)
        if opened.parts is not None and count > 1 and count <= MANY:
            assert widths is not None
            opened = opened._replace(parts=(opened.parts / widths**2).sum(1, keep=True) / float(len(widths)))
        found.append(opened)
    weights = last.weights_.tolist()
    if isinstance(last, AveragedClassifier):
        shares: Value | None = None
        for weight, opened in zip(weights, found, strict=True):
            assert opened.answer.shares is not None
            part = weight * opened.answer.shares
            shares = part if shares is None else shares + part
        assert shares is not None
        return Opened(Answer(shares=shares, code=g.op("ArgMax", shares, axis=1, keepdims=0)), None)
    numbers = g.join([one.answer.number.expand(1) for one in found if one.answer.number is not None], 1)
    mean = numbers @ np.array(weights)[:, None]
    apart = numbers - mean
    answer = Answer(number=mean.take(0, 1))
    if any(one.parts is None for one in found):
        return Opened(answer, None)
    parts = [one.parts for one in found if one.parts is not None]
    return Opened(answer, g.join([*parts, (apart * apart) @ np.array(weights)[:, None]], 1))


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
