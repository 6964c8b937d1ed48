"""Cost laws: processor seconds of fits against rows, features, classes, ignored columns, groups, components.

Usage: .venv/bin/python benches/python/cost_laws.py [--only WORD] [--most SECONDS]

Each law is a power, seconds ~ size^p, fitted by least squares of logarithms to the larger half of
doubling sizes; no larger size is tried once a fit took more than `--most` seconds. `Law.expected` is the
power that the algorithm has by its formula, for sizes beyond start-up costs; powers that are more than
`TOLERANCE` above it are marked. Iterative solvers stop at their certificate, so that their number of
steps is part of what is measured.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

import uncertain
from uncertain import GaussianArray

TOLERANCE = 0.35
SEED = 0

Work = Callable[[], object]


@dataclass(frozen=True)
class Law:
    """One subject against one size."""

    subject: str
    what: str
    sizes: tuple[int, ...]
    expected: float
    make: Callable[[int], Work]
    """What is timed, from a size; making the data is not."""


@dataclass(frozen=True)
class Measured:
    """The seconds of the sizes that were tried, and the power."""

    law: Law
    seconds: tuple[float, ...]
    failed: str = ""
    """What a size was refused with, beyond the last one."""

    @property
    def power(self) -> float:
        """Of the larger half of the sizes, at least two."""
        n = max(2, (len(self.seconds) + 1) // 2)
        sizes = np.log(self.law.sizes[: len(self.seconds)][-n:])
        return float(np.polyfit(sizes, np.log(np.maximum(self.seconds[-n:], 1e-6)), 1)[0])

    @property
    def surprises(self) -> bool:
        """Is it steeper than it should be?"""
        return self.power > self.law.expected + TOLERANCE


def rows(n: int, d: int, classes: int = 2, numbers: bool = False) -> tuple[GaussianArray, Any]:
    """n readings of d features with errors, and classes of equal size (or numbers) that overlap."""
    rng = np.random.default_rng(SEED)
    truth = rng.normal(size=(n, d))
    std = rng.uniform(0.1, 0.8, (n, d))
    score = truth[:, 0] + truth[:, 1] + 0.5 * rng.normal(size=n)
    y = score if numbers else np.argsort(np.argsort(score)) * classes // n
    return GaussianArray(truth + std * rng.normal(size=(n, d)), std=std), y


def fit(kind: str, parameters: dict[str, Any], X: GaussianArray, y: Any, **arguments: Any) -> Work:
    """The fit of a class to rows."""
    model = getattr(uncertain if hasattr(uncertain, kind) else uncertain.laws, kind)(**parameters)
    return lambda: model.fit(X, y, **arguments)


def table(n: int, ignored: int) -> pl.DataFrame:
    """Two features with error bars, a label, and columns that are left out."""
    X, y = rows(n, 2)
    std = np.sqrt(np.diagonal(X.covariances(), axis1=1, axis2=2))
    columns = {
        "a": X.means[:, 0],
        "a_err": std[:, 0],
        "b": X.means[:, 1],
        "b_err": std[:, 1],
        "kind": y.astype(str),
    }
    return pl.DataFrame(columns | {f"c{k}": X.means[:, 0] for k in range(ignored)})


LINEAR: tuple[tuple[str, dict[str, Any], bool], ...] = (
    ("GSUClassifier", {}, False),
    ("GSURegressor", {}, True),
    ("RobustSVC", {"method": "usvc"}, False),
    ("MinimaxProbabilityClassifier", {}, False),
    ("GaussianDiscriminant", {}, False),
    ("GaussianDenoiser", {"n_components": 2, "max_iter": 20}, False),
    ("GaussianImputer", {"n_components": 2, "max_iter": 20}, False),
    ("GaussianMixtureRegressor", {"n_components": 2, "max_iter": 20}, True),
    ("RemeasuredClassifier", {"random_state": 0, "n_trees": 20}, False),
    ("RemeasuredRegressor", {"random_state": 0, "n_trees": 20}, True),
    ("ProbabilisticKernelFeatures", {"n_components": 100, "random_state": 0}, False),
    ("KernelMap", {"kernel": "quadratic"}, False),
    ("SubspaceProjector", {}, False),
    ("GaussianScaler", {}, False),
    ("GaussianCollapser", {}, False),
    ("GaussianLogScaler", {}, False),
    ("LinearLaw", {}, True),
    ("GeneralizedLinearLaw", {}, False),
    ("ProbabilisticKernelSVC", {"n_components": 50, "sigma": 1.0, "random_state": 0}, False),
)
"""Fits that are passes over the rows."""
QUADRATIC: tuple[tuple[str, dict[str, Any], bool, float], ...] = (
    ("ProbabilisticKernelSVC", {"sigma": 1.0}, False, 2.0),
    ("ProbabilisticKernelSVR", {"sigma": 1.0}, True, 2.0),
    ("RobustSVC", {"method": "tsvc"}, False, 1.0),
    ("RobustSVC", {"method": "ausvc"}, False, 1.0),
    ("RobustSVC", {"method": "psvm"}, False, 1.0),
    ("RobustSVC", {"method": "mpsvc"}, False, 1.0),
    ("AdaptiveHuberClassifier", {"random_state": 0}, False, 3.0),
    ("AdaptiveHuberRegressor", {}, True, 3.0),
)
"""Fits with a matrix of n x n numbers, or with a solver that looks at single rows, and their power of n."""
OF_FEATURES = {
    "GaussianDenoiser": 3.0,
    "GaussianImputer": 3.0,
    "GaussianMixtureRegressor": 3.0,
    "GaussianDiscriminant": 3.0,
    "MinimaxProbabilityClassifier": 2.0,
    "KernelMap": 4.0,
    "SubspaceProjector": 3.0,
    "LinearLaw": 3.0,
    "GeneralizedLinearLaw": 3.0,
    "RemeasuredClassifier": 3.0,
    "RemeasuredRegressor": 3.0,
}
"""Powers of d where rows or steps have a d x d matrix (re-measured learners: of the law of true values); all
others have one number per feature."""


def laws() -> Iterator[Law]:
    """All of them."""
    for kind, parameters, numbers in LINEAR:
        yield Law(
            _called(kind, parameters),
            "rows",
            (2_000, 4_000, 8_000, 16_000, 32_000),
            1.0,
            lambda n, k=kind, p=parameters, r=numbers: fit(k, p, *rows(n, 4, numbers=r)),
        )
        yield Law(
            _called(kind, parameters),
            "features",
            (4, 8, 16, 32, 64),
            OF_FEATURES.get(kind, 1.0),
            lambda d, k=kind, p=parameters, r=numbers: fit(k, p, *rows(2_000, d, numbers=r)),
        )
    for kind, parameters, numbers, power in QUADRATIC:
        yield Law(
            _called(kind, parameters),
            "rows",
            (125, 250, 500, 1_000, 2_000),
            power,
            lambda n, k=kind, p=parameters, r=numbers: fit(k, p, *rows(n, 4, numbers=r)),
        )
        yield Law(
            _called(kind, parameters),
            "features",
            (4, 8, 16, 32, 64),
            1.0,
            lambda d, k=kind, p=parameters, r=numbers: fit(k, p, *rows(300, d, numbers=r)),
        )
    for kind in (
        "GSUClassifier",
        "GaussianDiscriminant",
        "MinimaxProbabilityClassifier",
        "RobustSVC",
        "RemeasuredClassifier",
    ):
        parameters = dict(LINEAR[[entry[0] for entry in LINEAR].index(kind)][1])
        yield Law(
            _called(kind, parameters),
            "classes",
            (4, 8, 16, 32, 64),
            0.0 if kind == "GaussianDiscriminant" else 1.0,
            lambda c, k=kind, p=parameters: fit(k, p, *rows(6_400, 4, classes=c)),
        )
    for kind in ("GaussianDenoiser", "GaussianImputer", "GaussianMixtureRegressor"):
        yield Law(
            kind,
            "components",
            (2, 4, 8, 16, 32),
            1.0,
            lambda c, k=kind: fit(
                k, {"n_components": c, "max_iter": 20}, *rows(4_000, 4, numbers=k.endswith("Regressor"))
            ),
        )
    yield Law(
        "ProbabilisticKernelFeatures",
        "components",
        (50, 100, 200, 400, 800),
        1.0,
        lambda c: fit("ProbabilisticKernelFeatures", {"n_components": c, "random_state": 0}, *rows(4_000, 4)),
    )
    line = {"curve": _line, "p0": [0.0, 1.0]}
    yield Law(
        "CurveRegressor",
        "rows",
        (500, 1_000, 2_000, 4_000, 8_000),
        1.0,
        lambda n: fit("CurveRegressor", line, *_first(*rows(n, 2, numbers=True))),
    )
    for method in ("gsu", "discriminant", "remeasured"):
        yield Law(
            f'fit(method="{method}")',
            "ignored columns",
            (500, 1_000, 2_000, 4_000, 8_000),
            1.0,
            lambda c, m=method: _fit_table(table(500, c), m),
        )
    for method in ("gsu", "discriminant"):
        yield Law(
            f'fit(method="{method}")',
            "groups",
            (125, 250, 500, 1_000, 2_000),
            0.0,
            lambda g, m=method: _fit_table(table(4_000, 0), m, groups=np.arange(4_000) % g),
        )


def _line(x: Any, theta: Any) -> Any:
    """A line, as a curve."""
    return theta[0] + x @ theta[1:]


def _first(X: GaussianArray, y: Any) -> tuple[GaussianArray, Any]:
    """The first feature of the rows."""
    return X[:, :1], y


def _fit_table(data: pl.DataFrame, method: str, **arguments: Any) -> Work:
    return lambda: uncertain.fit(data, "kind", method=method, exact=[], **arguments)  # type: ignore[arg-type]


def _called(kind: str, parameters: dict[str, Any]) -> str:
    known = parameters.get("method")
    if kind == "ProbabilisticKernelSVC" and "n_components" in parameters:
        known = "features"
    return f"{kind} ({known})" if known else kind


def measure(law: Law, most: float) -> Measured:
    """The seconds of each size, the least of two where they are short."""
    seconds: list[float] = []
    for size in law.sizes:
        work = law.make(size)
        least = np.inf
        for _ in range(2):
            start = time.process_time()
            try:
                work()
            except uncertain.UncertainError as error:
                return Measured(law, tuple(seconds), f"size {size}: {error}")
            least = min(least, time.process_time() - start)
            if least > 0.5:
                break
        seconds.append(float(least))
        if least > most:
            break
    return Measured(law, tuple(seconds))


def report(found: list[Measured]) -> str:
    """A table in Markdown."""
    lines = ["| fit | against | sizes | seconds | power | by formula |", "|---|---|---|---|---:|---:|"]
    for m in found:
        sizes = f"{m.law.sizes[0]:,} to {m.law.sizes[len(m.seconds) - 1]:,}"
        mark = f" ({m.failed})" if m.failed else " (!)" if m.surprises else ""
        lines.append(
            f"| {m.law.subject} | {m.law.what} | {sizes} | {m.seconds[0]:.3f} to {m.seconds[-1]:.3f} | "
            f"{m.power:.2f}{mark} | {m.law.expected:g} |"
        )
    return "\n".join(lines)


def run(only: str = "", most: float = 2.0) -> list[Measured]:
    """Measure the laws whose subject or size contains the word."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = []
        for law in laws():
            if only in f"{law.subject} {law.what}":
                found.append(measure(law, most))
                print(report(found[-1:]).splitlines()[-1], file=sys.stderr, flush=True)
        return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="a word of the subject or of the size")
    parser.add_argument(
        "--most", type=float, default=2.0, help="no larger size after a fit of so many seconds"
    )
    options = parser.parse_args()
    print(report(run(options.only, options.most)))
