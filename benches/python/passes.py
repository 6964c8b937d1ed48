"""Certified fits and predictions in passes: processor time on one thread, float64 and float32, beside others.

    OMP_NUM_THREADS=1 python benches/python/passes.py [--repeats 5]

Rows of `problems.py`: 200,000 x 50 with standard deviations, 20,000 x 40 with full covariances. A line says
how long it takes to check new arrays, to fit them to a certified 1e-6, and to ask for the distribution of all
scores; how long a plain sum of the same memory takes; and how long scikit-learn (means only) and SciPy (the
same objective) take in the same process. Take turns with another checkout by PYTHONPATH: a busy machine makes
all of it longer.
"""

import argparse
import os
import time
import warnings
from collections.abc import Callable

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from problems import Problem, diagonal, full, scipy_lbfgs
from sklearn.linear_model import LogisticRegression

from uncertain import GaussianArray, GSUClassifier

GAP = 1e-6


def seconds(work: Callable[[], object], repeats: int) -> float:
    """The least processor time."""
    best = np.inf
    for _ in range(repeats):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return best


def measure(problem: Problem, kind: type, repeats: int) -> float:
    """One line of the table; the optimum."""
    means, spread = problem.means.astype(kind), problem.spread.astype(kind)
    name = next(iter(problem.keywords))
    model = GSUClassifier(problem.alpha, tol=GAP, n_jobs=1)

    def new() -> GaussianArray:
        return GaussianArray(means, **{name: spread})

    rows = new()
    times = [
        seconds(new, repeats),
        seconds(lambda: model.fit(rows, problem.y), repeats),
        seconds(lambda: model.decision_distribution(rows), repeats),
        seconds(lambda: (means.sum(), spread.sum()), repeats),
    ]
    gap, passes = float(np.max(model.optimality_gap_)), int(np.max(model.n_iter_)) + 1
    cells = " | ".join(f"{1e3 * t:.1f}" for t in times)
    print(f"| {problem.name}, {np.dtype(kind)} | {cells} | {passes} | {gap:.1e} |", flush=True)
    return float(np.ravel(model.objective_)[0])


def main() -> None:
    """Tables of milliseconds."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5)
    repeats = parser.parse_args().repeats
    warnings.simplefilter("ignore")
    print("| rows | checks | fit | distribution | plain sum | passes | gap |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    problems = [diagonal(200_000, 50), full(20_000, 40)]
    optima = [measure(problem, np.float64, repeats) for problem in problems]
    for problem in problems:
        measure(problem, np.float32, repeats)
    points, matrices = problems
    others = LogisticRegression(C=1.0 / (points.alpha * len(points.y)), max_iter=1000)
    for kind in (np.float64, np.float32):
        means = points.means.astype(kind)
        best = seconds(lambda means=means: others.fit(means, points.y), repeats)
        print(f"LogisticRegression(lbfgs), {len(means):,} means, {np.dtype(kind)}: {1e3 * best:.1f} ms")
    best = seconds(lambda: scipy_lbfgs(matrices, optima[1], GAP), repeats)
    print(f"SciPy L-BFGS-B, {matrices.name}, same objective: {1e3 * best:.1f} ms")


if __name__ == "__main__":
    main()
