"""Huber regression beside dense solves in NumPy: `python benches/python/huber.py [--rows 1000]`.

Times are processor seconds, the least of some runs. The unit is one dense NumPy solve: an n x n matrix and n
right-hand sides. `papers/huber_speed.py` compares with CVXPY.
"""

import argparse
from functools import partial

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits
from timing import seconds

from uncertain import AdaptiveHuberRegressor

CASES = {
    "RBF, 10 features": (10, {}),
    "RBF, 2 features": (2, {}),
    "RBF, 10 features, no graph": (10, {"graph": None}),
    "linear, 10 features": (10, {"kernel": "linear"}),
    "two RBF views of 5 features": (10, {"views": [range(5), range(5, 10)]}),
}


def problem(n: int, d: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """A smooth target; the sign of a tenth of the labels is flipped."""
    rng = np.random.default_rng(n + d)
    x = rng.normal(size=(n, d))
    y = np.sin(x[:, 0]) + 0.5 * x[:, 1] + 1.0
    y[rng.random(n) < 0.1] *= -1.0
    return x, y


def table(n: int) -> str:
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(n, n)) + n * np.eye(n), rng.normal(size=(n, n))
    lines = [
        f"### Huber regression, {n} rows, beside dense solves in NumPy",
        "",
        "| problem | refinements | seconds | NumPy solves |",
        "|---|---:|---:|---:|",
    ]
    with threadpool_limits(1):
        unit = seconds(partial(np.linalg.solve, a, b))
        for name, (d, options) in CASES.items():
            x, y = problem(n, d)
            for refinements in (1, 10):
                model = AdaptiveHuberRegressor(
                    1e-5, 1e-6, max_refinements=refinements, delta=0.1, n_neighbors=10, **options
                )
                time = seconds(partial(model.fit, x, y))
                lines.append(f"| {name} | {refinements} | {time:.3f} | {time / unit:.2f} |")
    return "\n".join(lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1000)
    print(table(parser.parse_args().rows))
