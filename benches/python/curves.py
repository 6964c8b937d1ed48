"""`CurveRegressor` beside scipy.odr and SciPy's least squares.

Run: OMP_NUM_THREADS=1 python benches/python/curves.py [bias|coverage|time ...] [--sets 40]

- bias: y = a exp(b z), errors of x .2 to .6 on z ~ N(0, 1), scatter .1, errors of y .05 to .2, n = 300: means
  of b over simulated sets with their standard errors, by five methods.
- coverage: of 95 % intervals of both parameters, and of sigma's mean, over the same sets.
- time: processor seconds per fit, functional beside scipy.odr (its own finite differences), and structural.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import curve_fit

from uncertain import GaussianArray
from uncertain.laws import CurveRegressor

Array = Any
TRUTH = np.array([1.0, 0.7])


def growth(x: Array, p: Array) -> Array:
    return p[0] * np.exp(p[1] * x[:, 0])


def readings(rng: np.random.Generator, n: int) -> tuple[Array, Array, Array, Array]:
    z, s, t = rng.normal(size=n), rng.uniform(0.2, 0.6, n), rng.uniform(0.05, 0.2, n)
    y = growth(z[:, None], TRUTH) + 0.1 * rng.normal(size=n) + t * rng.normal(size=n)
    return z + s * rng.normal(size=n), s, y, t


def theirs(x: Array, s: Array, y: Array, t: Array) -> Array:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        from scipy import odr

        model = odr.Model(lambda b, x: b[0] * np.exp(b[1] * x))
        return odr.ODR(odr.RealData(x, y, sx=s, sy=t), model, [1.0, 0.5], maxit=500).run().beta


def law(x: Array, s: Array, y: Array, t: Array, **options: Any) -> CurveRegressor:
    X = GaussianArray(x[:, None], std=s[:, None])
    return CurveRegressor(growth, [1.0, 0.5], **options).fit(X, y, t)


def bias(sets: int) -> None:
    methods: dict[str, Callable[..., Array]] = {
        "least squares": lambda x, s, y, t: curve_fit(lambda x, a, b: a * np.exp(b * x), x, y, [1.0, 0.5])[0],
        "scipy.odr": theirs,
        "functional": lambda *row: law(*row, truth="functional").params_,
        "structural": lambda *row: law(*row).params_,
        "structural, 2 components": lambda *row: law(*row, n_components=2).params_,
    }
    for name, method in methods.items():
        rng = np.random.default_rng(0)
        b = np.array([method(*readings(rng, 300))[1] for _ in range(sets)])
        print(f"{name:26} b = {b.mean():.4f} +- {b.std(ddof=1) / np.sqrt(sets):.4f} (truth 0.7)")


def coverage(sets: int) -> None:
    rng = np.random.default_rng(1)
    inside, scatter = np.zeros(2), []
    for _ in range(sets):
        fitted = law(*readings(rng, 300))
        low, high = fitted.conf_int().T
        inside += (low < TRUTH) & (high > TRUTH)
        scatter.append(fitted.scatter_)
    print(
        f"95 % intervals cover {inside / sets} over {sets} sets; scatter {np.mean(scatter):.4f} (truth 0.1)"
    )


def timed(work: Callable[[], object], least: float = 0.1) -> float:
    """The least mean of seven turns, or of as many as there are within two seconds."""
    means: list[float] = []
    while not means or (len(means) < 7 and sum(means) < 2.0):
        times, start = 0, time.process_time()
        while time.process_time() - start < least:
            work()
            times += 1
        means.append((time.process_time() - start) / times)
    return min(means)


def times(_: int) -> None:
    for n in (100, 1_000, 10_000):
        row = readings(np.random.default_rng(2), n)
        print(
            f"n = {n:6}: scipy.odr {timed(lambda row=row: theirs(*row)):.4f} s, "
            f"functional {timed(lambda row=row: law(*row, truth='functional')):.4f} s, "
            f"structural {timed(lambda row=row: law(*row)):.4f} s"
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("what", nargs="*", default=["bias", "coverage", "time"])
    parser.add_argument("--sets", type=int, default=40)
    asked = parser.parse_args()
    for what in asked.what:
        {"bias": bias, "coverage": coverage, "time": times}[what](asked.sets)
