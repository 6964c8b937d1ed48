"""Do 95 % intervals of structural curves with shared errors hold where nothing scatters?

    OMP_NUM_THREADS=1 python benches/python/curve_modes.py [--sets 300]

y = f(z) + M u, with errors of x only and a zero point for each survey, fitted without `y_std`: the share of
intervals of parameters and of modes that cover the truth, the least and the largest, and milliseconds per
fit. Half as many sets of 300 rows.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from uncertain import GaussianArray
from uncertain.exceptions import UncertainError
from uncertain.laws import CurveRegressor

Array = Any
ZERO_POINT = 0.4


class Case(NamedTuple):
    """A curve, its parameters, and the mean and deviation of the true x."""

    name: str
    f: Callable[[Array, Array], Array]
    params: Array
    mean: float
    std: float


CASES = (
    Case("a + b x", lambda x, p: p[0] + p[1] * x[:, 0], np.array([1.0, 2.0]), 0.0, 1.0),
    Case(
        "a (1 - exp(-b x))", lambda x, p: p[0] * (1 - np.exp(-p[1] * x[:, 0])), np.array([3.0, 0.7]), 2.0, 0.5
    ),
    Case("a exp(b x)", lambda x, p: p[0] * np.exp(p[1] * x[:, 0]), np.array([1.0, 0.7]), 0.0, 1.0),
)
SIZES = ((60, 2), (100, 3), (300, 2), (300, 3))


def covered(case: Case, n: int, surveys: int, seed: int) -> Array | None:
    """Which parameters and modes lie in their intervals; None if the fit is refused."""
    rng = np.random.default_rng((seed, n, surveys))
    z = case.mean + case.std * rng.normal(size=n)
    s = case.std * rng.uniform(0.2, 0.5, n)
    modes = ZERO_POINT * (rng.integers(surveys, size=n)[:, None] == np.arange(surveys))
    u = rng.normal(size=surveys)
    y = case.f(z[:, None], case.params) + modes @ u
    X = GaussianArray((z + s * rng.normal(size=n))[:, None], std=s[:, None])
    try:
        law = CurveRegressor(case.f, 1.2 * case.params).fit(X, y, modes=modes)
    except UncertainError:
        return None
    away = np.concatenate([(law.params_ - case.params) / law.std_, (law.modes_ - u) / law.modes_std_])
    return np.abs(away) < 1.96


def main() -> None:
    """One line for each curve and size."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sets", type=int, default=300)
    sets = parser.parse_args().sets
    for case in CASES:
        for n, surveys in SIZES:
            count, start = sets // (2 if n >= 300 else 1), time.process_time()
            found = [covered(case, n, surveys, seed) for seed in range(count)]
            each = (time.process_time() - start) / count * 1e3
            kept = [one for one in found if one is not None]
            shares = np.mean(kept, axis=0)
            print(
                f"{case.name:18} {n:4} rows, {surveys} surveys, {len(kept)} of {count} sets: "
                f"{shares.min():.3f} to {shares.max():.3f}, {each:.0f} ms",
                flush=True,
            )


if __name__ == "__main__":
    main()
