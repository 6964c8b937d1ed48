"""`CurveRegressor` beside scipy.odr and SciPy's least squares.

Run: OMP_NUM_THREADS=1 python benches/python/curves.py [bias|coverage|time ...] [--sets 40] [--functional]

- bias: y = a exp(b z), errors of x .2 to .6 on z ~ N(0, 1), scatter .1, errors of y .05 to .2, n = 300: means
  of b over simulated sets with their standard errors, by five methods.
- coverage: of 95 % intervals of both parameters, and of sigma's mean, over the same sets.
- time: processor seconds per functional fit beside scipy.odr and, where it is installed, odrpack, with their
  own finite differences and with derivatives that are given (jac); and of a structural fit.
"""

from __future__ import annotations

import argparse
import importlib.util
import time
import warnings
from collections.abc import Callable
from functools import partial
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


def slopes(x: Array, p: Array) -> tuple[Array, Array]:
    e = np.exp(p[1] * x)
    return np.stack([e, p[0] * x * e]), p[0] * p[1] * e


def theirs(x: Array, s: Array, y: Array, t: Array, *, jac: bool = False) -> Array:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        from scipy import odr

        given = {"fjacb": lambda b, x: slopes(x, b)[0], "fjacd": lambda b, x: slopes(x, b)[1]} if jac else {}
        model = odr.Model(lambda b, x: b[0] * np.exp(b[1] * x), **given)
        problem = odr.ODR(odr.RealData(x, y, sx=s, sy=t), model, [1.0, 0.5], maxit=500)
        if jac:
            problem.set_job(deriv=3)
        return problem.run().beta


def of_odrpack(x: Array, s: Array, y: Array, t: Array, *, jac: bool = False) -> Array:
    from odrpack import odr_fit  # type: ignore[import-not-found,unused-ignore]

    given = {"jac_beta": lambda x, b: slopes(x, b)[0], "jac_x": lambda x, b: slopes(x, b)[1]} if jac else {}
    given |= {"weight_x": s**-2, "weight_y": t**-2, "maxit": 500}
    return odr_fit(lambda x, b: growth(x[:, None], b), x, y, np.array([1.0, 0.5]), **given).beta


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


def times(functional: bool) -> None:
    packages: dict[str, Callable[..., object]] = {"scipy.odr": theirs}
    if importlib.util.find_spec("odrpack"):
        packages["odrpack"] = of_odrpack
    for n in (100, 1_000, 10_000, 100_000):
        row = readings(np.random.default_rng(2), n)
        for jac in (False, True):
            fits = {name: partial(fit, *row, jac=jac) for name, fit in packages.items()}
            own = (lambda x, p: turned(*slopes(x[:, 0], p))) if jac else None
            fits["functional"] = partial(law, *row, truth="functional", jac=own)
            found = {name: timed(fit) for name, fit in fits.items()}
            text = ", ".join(f"{name} {seconds:.5f}" for name, seconds in found.items())
            print(f"n = {n:6}{', jac' if jac else '':5}: {text} s", flush=True)
        if not functional and n <= 10_000:
            print(f"n = {n:6}     : structural {timed(lambda row=row: law(*row)):.4f} s", flush=True)


def turned(by_parameters: Array, by_x: Array) -> tuple[Array, Array]:
    return by_parameters.T, by_x[:, None]


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("what", nargs="*", default=["bias", "coverage", "time"])
    parser.add_argument("--sets", type=int, default=40)
    parser.add_argument("--functional", action="store_true", help="time without structural fits")
    asked = parser.parse_args()
    for what in asked.what:
        if what == "time":
            times(asked.functional)
        else:
            {"bias": bias, "coverage": coverage}[what](asked.sets)
