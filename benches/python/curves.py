"""`CurveRegressor` beside scipy.odr and SciPy's least squares: `python benches/python/curves.py [--sets 40]`.

y = a exp(b z), errors of x 0.2 to 0.6 on z ~ N(0, 1), scatter 0.1, errors of y 0.05 to 0.2, 300 rows: means
of b over simulated sets with their standard errors.
"""

from __future__ import annotations

import argparse
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
        "`scipy.odr`": theirs,
        '`truth="functional"`': lambda *row: law(*row, truth="functional").params_,
        '`truth="structural"`': lambda *row: law(*row).params_,
    }
    print("| fit | mean of b (truth 0.7) |\n|---|---:|")
    for name, method in methods.items():
        rng = np.random.default_rng(0)
        b = np.array([method(*readings(rng, 300))[1] for _ in range(sets)])
        print(f"| {name} | {b.mean():.3f} ± {b.std(ddof=1) / np.sqrt(sets):.3f} |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--sets", type=int, default=40)
    bias(parser.parse_args().sets)
