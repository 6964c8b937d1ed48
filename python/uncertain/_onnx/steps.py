"""One function per kind of step of the core: rows or answers.

A kind that is not in the tables is refused by name, and so is what a kind does with rows for which ONNX has
no operations: symmetric roots (kernels of rows with full covariances), quadratic forms over all pairs of
support rows (the variance of a kernel machine's score).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple, NoReturn

import numpy as np

from .._data.typing import Floats, Keywords
from .._uncertain import Fitted
from ..exceptions import UncertainError
from ..preprocessing._columns import TREES
from .gaussians import Mixture, Rows, expected_sigmoid, one_gaussian, posterior, readings
from .graph import Graph, Value, powers_of_ten, tree_scores


class Answer(NamedTuple):
    """Values, or None: of classes `shares` and the `code` of the class, of a regression the `number`."""

    number: Any = None
    """(rows,)."""
    variance: Any = None
    """(rows,): of the number, by the law of the method, where it has one."""
    shares: Any = None
    """(rows, K)."""
    code: Any = None
    """(rows,), int64."""


class Step(NamedTuple):
    """A step of the core, read once."""

    kind: str
    name: str
    """Of the estimator, for refusals."""
    arrays: dict[str, Floats]
    params: Keywords
    state: Any
    rows: Any
    n_classes: int

    @classmethod
    def read(cls, fitted: Fitted, name: str) -> Step:
        params, state = json.loads(fitted.parameters or "null"), json.loads(fitted.header or "null")
        header = fitted.arrays(), params or {}, state or {}
        return cls(fitted.kind, name, *header, fitted.rows, fitted.n_classes or 0)


def refuse(what: str) -> NoReturn:
    """UncertainError with what cannot be written, and a way out."""
    raise UncertainError(
        f'to_onnx: {what}. Of the methods, all but "huber" and "kernel" of classes can be written with '
        "their defaults; the Rust crate predicts from any model file without Python"
    )


# -- steps that move rows


def _scaler(rows: Rows, arrays: dict[str, Floats], _: object) -> Rows:
    scale = arrays["scale"]
    mean = (rows.mean - arrays["mean"]) / scale
    if rows.gaps is not None:
        mean = rows.graph.where(rows.gaps, 0.0, mean)
    return rows.moved(mean, 1.0 / scale)


def _log_scaler(rows: Rows, arrays: dict[str, Floats], _: object) -> Rows:
    """asinh(x / 2b), error bars by both ends, or the derivative if close."""
    g, b = rows.graph, arrays["softening"]
    taken = b > 0.0
    width = np.where(taken, 2.0 * b, 1.0)
    mean = g.where(g.constant(taken), _asinh(rows.mean / width), rows.mean)
    if rows.exact:
        return replace(rows, mean=mean)
    std = rows.deviations()
    ends = _asinh((rows.mean + std) / width) - _asinh((rows.mean - std) / width)
    small = std <= 1e-4 * (rows.mean.apply("Abs") + width)
    slope = 1.0 / (rows.mean * rows.mean + width**2).apply("Sqrt")
    factor = g.where(small, slope, ends / (2.0 * g.where(small, 1.0, std)))
    return rows.moved(mean, g.where(g.constant(taken), factor, 1.0))


def _asinh(x: Value) -> Value:
    size = x.apply("Abs")
    return x.apply("Sign") * (size + (size * size + 1.0).apply("Sqrt")).apply("Log")


def _denoiser(rows: Rows, arrays: dict[str, Floats], _: object) -> Rows:
    if rows.exact and rows.gaps is None:
        return rows
    mean, cov = one_gaussian(*posterior(rows, Mixture.from_arrays(arrays)))
    return Rows(rows.graph, rows.d, mean, cov=cov)


def _imputer(rows: Rows, arrays: dict[str, Floats], _: object) -> Rows:
    """Gaps from the posterior, without covariance with observed features."""
    if rows.gaps is None:
        return rows
    g = rows.graph
    mean, cov = one_gaussian(*posterior(rows, Mixture.from_arrays(arrays)))
    gaps = rows.gaps.numbers()
    both = gaps.expand(2) * gaps.expand(1)
    return Rows(g, rows.d, g.where(rows.gaps, mean, rows.mean), cov=rows.covariances() + cov * both)


def _collapser(rows: Rows, _: object, params: Keywords) -> Rows:
    kind = params["to"]
    if kind == "zero":
        return rows.points()
    if kind == "diagonal":
        return replace(rows, cov=None, std=None if rows.exact else rows.deviations())
    return refuse(f"a GaussianCollapser to {kind!r} has no translation")


def _linear_map(rows: Rows, arrays: dict[str, Floats], _: object) -> Rows:
    """x A, A'S A; gaps go with their features where each column has one."""
    matrix = arrays["matrix"]
    used, k = matrix > 0.0, matrix.shape[1]
    if (matrix >= 0.0).all() and (used.sum(axis=0) == 1).all() and (used.sum(axis=1) <= 1).all():
        picked = used.argmax(axis=0).tolist()
        std, cov, gaps = (None if v is None else v.take(picked, 1) for v in (rows.std, rows.cov, rows.gaps))
        cov = None if cov is None else cov.take(picked, 2)
        rows, factors = Rows(rows.graph, k, rows.mean.take(picked, 1), std, cov, gaps), matrix.max(axis=0)
        return rows.moved(rows.mean * factors, factors)
    rows = rows.complete()
    cov = None if rows.exact else rows.graph.sums("ji,njk,kl->nil", matrix, rows.covariances(), matrix)
    return Rows(rows.graph, k, rows.mean @ matrix, cov=cov)


MOVES: dict[str, Callable[[Rows, dict[str, Floats], Keywords], Rows]] = {
    "scaler": _scaler,
    "log-scaler": _log_scaler,
    "denoiser": _denoiser,
    "imputer": _imputer,
    "collapser": _collapser,
    "linear-map": _linear_map,
}

# -- steps that answer


def _linear_classifier(rows: Rows, step: Step) -> Answer:
    rows = rows.complete()
    g, w = rows.graph, step.arrays["coef"]
    scores = rows.mean @ w.T + step.arrays["intercept"]
    return _from_scores(g, scores, _score_deviations(rows, w), step)


def _score_deviations(rows: Rows, w: Floats) -> Value | None:
    """sqrt(w'S w) for each hyperplane, (rows, h)."""
    if rows.exact:
        return None
    if rows.cov is not None:
        return rows.graph.op("Max", rows.graph.sums("hi,nij,hj->nh", w, rows.cov, w), 0.0).apply("Sqrt")
    return (rows.variances() @ (w.T**2)).apply("Sqrt")


def _from_scores(g: Graph, scores: Value, std: Value | None, step: Step) -> Answer:
    """Class of the largest score; Platt probabilities averaged over errors."""
    two = step.n_classes == 2
    code = (scores > 0.0).take(0, 1) if two else g.op("ArgMax", scores, axis=1, keepdims=0)
    code = g.op("Cast", code, to=g.onnx.TensorProto.INT64)
    if "platt" not in step.arrays:
        return Answer(code=code)
    a, b = step.arrays["platt"].T
    p = expected_sigmoid(-1.0 * (scores * a + b), None if std is None else std * np.abs(a))
    if two:
        return Answer(code=code, shares=g.join([1.0 - p, p], 1))
    total = p.sum(1, keep=True)
    even = np.full(step.n_classes, 1.0 / step.n_classes)
    return Answer(code=code, shares=g.where(total > 0.0, p / g.op("Max", total, 1e-300), even))


def _linear_regression(rows: Rows, step: Step) -> Answer:
    rows = rows.complete()
    w = step.arrays["coef"][None, :]
    number = (rows.mean @ w.T).take(0, 1) + step.arrays["intercept"]
    std = _score_deviations(rows, w)
    variance = number * 0.0 if std is None else (std * std).take(0, 1)
    return Answer(number=number, variance=variance)


def _discriminant(rows: Rows, step: Step) -> Answer:
    g = rows.graph
    mixture = Mixture.from_arrays(step.arrays)
    logs = readings(rows, mixture).log_density
    each = len(mixture.weights) // step.n_classes
    if each > 1:
        parts = [logs.take(range(k * each, (k + 1) * each), 1) for k in range(step.n_classes)]
        logs = g.join([g.op("ReduceLogSumExp", part, np.array([1]), keepdims=1) for part in parts], 1)
    return of_shares(g.op("Softmax", logs, axis=1))


def of_shares(shares: Value) -> Answer:
    """The most probable class."""
    return Answer(shares=shares, code=shares.graph.op("ArgMax", shares, axis=1, keepdims=0))


def _mixture_regression(rows: Rows, step: Step) -> Answer:
    """The mean of the conditional density of the target, and its variance."""
    g = rows.graph
    joint = Mixture.from_arrays(step.arrays)
    T, cross = joint.covariances[:, :-1, :-1], joint.covariances[:, :-1, -1]
    read = readings(rows, Mixture(joint.weights, joint.means[:, :-1], T))
    along = g.sums("ki,nkij->nkj", cross, read.inverse)
    means = joint.means[:, -1] + (along * read.residual).sum(2)
    variances = joint.covariances[:, -1, -1] - (along * cross).sum(2)
    shares = read.log_shares.apply("Exp")
    mean = (shares * means).sum(1, keep=True)
    apart = means - mean
    return Answer(number=mean.take(0, 1), variance=(shares * (variances + apart * apart)).sum(1))


def _law(rows: Rows, step: Step) -> Answer:
    """P(1) = sum_k w_k E sigmoid(eta), eta ~ N(b + beta'm_k, beta'C_k beta)."""
    if step.params.get("family") != "binomial":
        refuse(f'a law of the family {step.params.get("family")!r} has no translation, only "binomial" has')
    g, law = rows.graph, step.arrays["law"]
    beta = law[1 : rows.d + 1]
    if rows.exact and rows.gaps is None:
        p = (rows.mean @ beta[:, None] + law[0]).apply("Sigmoid")
    else:
        shares, means, cov = posterior(rows, Mixture.from_arrays(step.arrays))
        variance = g.op("Max", g.sums("i,nkij,j->nk", beta, cov, beta), 0.0)
        p = expected_sigmoid((means * beta).sum(2) + law[0], variance.apply("Sqrt"))
        p = (shares * p).sum(1, keep=True)
    return of_shares(g.join([1.0 - p, p], 1))


def _trees(rows: Rows, step: Step) -> Answer:
    g, state = rows.graph, step.state
    if state["columns"] not in ("errors", "means", "none", None):
        refuse(f"re-measured learners with error_columns={state['columns']!r} have no translation")
    if "residual_shares" in step.arrays:
        refuse(f"the density of a {step.name} (density=True) has no translation")
    mean = rows.mean if rows.gaps is None else g.where(rows.gaps, np.nan, rows.mean)
    columns = [mean]
    if state["columns"] == "errors":
        sizes = g.op("Max", rows.deviations() / step.arrays["scale"], TREES)
        columns.append(sizes if rows.gaps is None else g.where(rows.gaps, np.nan, sizes))
    scores = tree_scores(g, g.join(columns, 1), powers_of_ten(step.arrays, rows.d))
    if state["link"] == "logit":
        p = scores.apply("Sigmoid")
        return of_shares(g.join([1.0 - p, p], 1))
    if state["link"] == "softmax":
        return of_shares(g.op("Softmax", scores, axis=1))
    score = scores.take(0, 1)
    return Answer(number=score.apply("Exp") if state["link"] == "log" else score)


def _kernel_regression(rows: Rows, step: Step) -> Answer:
    kernel = _gram(rows.complete(), step)
    return Answer(number=(kernel @ step.arrays["dual_coef"][:, None]).take(0, 1) + step.arrays["intercept"])


def _kernel_classifier(rows: Rows, step: Step) -> Answer:
    """Of two classes and exact rows: the score has no variance."""
    if step.n_classes != 2:
        refuse(f"a {step.name} of more than two classes has no translation")
    if not rows.exact or _kind(step) != "zero":
        variance = "the variance of its score, which ONNX has no operations for"
        refuse(f"the probabilities of a {step.name} for rows with error bars need {variance}")
    scores = _gram(rows.complete(), step) @ step.arrays["dual_coef"].T + step.arrays["intercept"]
    return _from_scores(rows.graph, scores, None, step)


def _kind(step: Step) -> str:
    return "none" if step.rows is None else str(step.rows.kind)


def _gram(rows: Rows, step: Step) -> Value:
    """prod_j a_j^-1/2 exp(-d_j^2 / (2 sigma^2 a_j)) with d = x - z, support z.

    a = 1 + (s_x - s_z)^2 / sigma^2 with the shared coupling, 1 + (s_x^2 + s_z^2) / sigma^2 with the other.
    """
    if rows.cov is not None or _kind(step) not in ("zero", "isotropic", "diagonal"):
        refuse(
            f"the kernel of a {step.name} between rows with full covariances, such as those behind a "
            "GaussianDenoiser, needs matrix roots, which ONNX has no operations for"
        )
    basis, parts = step.state["basis"], step.rows.parts()
    narrow = float(basis["sigma"]) ** -2
    z = np.asarray(step.rows.means)
    apart = rows.mean.expand(1) - z
    square: Value = apart * apart * narrow
    if rows.exact and _kind(step) == "zero":
        return (-0.5 * square.sum(2)).apply("Exp")
    std = np.sqrt(parts["var"]) if "var" in parts else parts.get("std", np.zeros((1, 1)))
    std = np.broadcast_to(np.asarray(std).reshape(-1, np.shape(std)[-1]), z.shape)
    own = rows.deviations().expand(1)
    shared = basis["coupling"] == "shared"
    wide = 1.0 + ((own - std) * (own - std) if shared else own * own + std**2) * narrow
    return (-0.5 * (square / wide + wide.apply("Log")).sum(2)).apply("Exp")


ANSWERS: dict[str, Callable[[Rows, Step], Answer]] = {
    "gsu": _linear_classifier, "robust": _linear_classifier, "minimax": _linear_classifier,
    "gsu-regression": _linear_regression, "discriminant": _discriminant,
    "mixture-regression": _mixture_regression, "law": _law, "trees": _trees, "kernel-svr": _kernel_regression,
    "kernel-svc": _kernel_classifier,
}  # fmt: skip
