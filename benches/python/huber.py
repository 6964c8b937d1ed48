"""Huber regression beside dense solves in NumPy and beside CVXPY with Clarabel on the same problem.

    python benches/python/huber.py [--rows 1000] [--threads 2] [--cvxpy] [--large] [--flips]

Times are processor seconds (of all threads), the least of some runs: another process on the machine does not
count. The unit is one dense NumPy solve: an n x n matrix and n right-hand sides. --cvxpy needs cvxpy and
clarabel, which are not dependencies of this project; --large adds 5000 and 10,000 labelled rows, and 20,000
rows with 500 labels (gigabytes, minutes). --flips measures nothing but which flipped labels are dropped.
"""

import argparse
import time

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits
from timing import seconds

from uncertain import AdaptiveHuberRegressor
from uncertain.kernels import probabilistic_rbf

Floats = NDArray[np.float64]
ALPHA, MANIFOLD = 1e-5, 1e-6


def problem(n: int, d: int, labelled: int | None = None, noise: float = 0.1) -> tuple[Floats, Floats]:
    """A smooth target; the sign of a part of the labels is flipped; NaN without a label."""
    rng = np.random.default_rng(n + d)
    x = rng.normal(size=(n, d))
    y = np.sin(x[:, 0]) + 0.5 * x[:, 1] + 1.0
    y[rng.random(n) < noise] *= -1.0
    if labelled is not None:
        y[labelled:] = np.nan
    return x, y


def model(refinements: int, **keywords: object) -> AdaptiveHuberRegressor:
    settings = {"delta": 0.1, "n_neighbors": 10, **keywords}
    return AdaptiveHuberRegressor(ALPHA, MANIFOLD, max_refinements=refinements, **settings)


def numpy_solve(n: int) -> float:
    rng = np.random.default_rng(0)
    a = rng.normal(size=(n, n)) + n * np.eye(n)
    b = rng.normal(size=(n, n))
    return seconds(lambda: np.linalg.solve(a, b))


def cvxpy_solve(x: Floats, y: Floats, fitted: AdaptiveHuberRegressor) -> tuple[float, float]:
    """Seconds of CVXPY with Clarabel for one threshold of the same J (without the graph), and J."""
    import cvxpy as cp

    gram = probabilistic_rbf(x, sigma=np.sqrt(0.5 / fitted.gamma_[0]))
    values, vectors = np.linalg.eigh(gram)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    z = cp.Variable(len(y))
    loss = cp.sum(cp.huber(y - root @ z, fitted.threshold_)) / (2.0 * len(y))
    task = cp.Problem(cp.Minimize(loss + ALPHA * cp.sum_squares(z)))
    start = time.process_time()
    objective = task.solve(solver=cp.CLARABEL)
    return time.process_time() - start, float(objective)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--cvxpy", action="store_true")
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--flips", action="store_true")
    arguments = parser.parse_args()
    if arguments.flips:
        flips()
        return
    n = arguments.rows
    with threadpool_limits(arguments.threads):
        unit = numpy_solve(n)
        print(f"one dense NumPy solve, n = {n}: {unit:.3f} s of processor time; {arguments.threads} threads")
        print("| problem | refinements | seconds | NumPy solves | of one refinement |")
        print("|---|---:|---:|---:|---:|")
        cases = {
            "RBF, 10 features": (10, {}),
            "RBF, 2 features": (2, {}),
            "RBF, 10 features, no graph": (10, {"graph": None}),
            "linear, 10 features": (10, {"kernel": "linear"}),
            "two RBF views of 5 features": (10, {"views": [range(5), range(5, 10)]}),
        }
        for name, (d, keywords) in cases.items():
            x, y = problem(n, d)
            once = seconds(lambda x=x, y=y, k=keywords: model(1, **k).fit(x, y))
            for refinements in (1, 10):
                found = seconds(lambda x=x, y=y, k=keywords, r=refinements: model(r, **k).fit(x, y))
                print(
                    f"| {name} | {refinements} | {found:.3f} | {found / unit:.2f} | {found / once:.2f} |",
                    flush=True,
                )
        if arguments.cvxpy:
            against_cvxpy(n)
        if arguments.large:
            large()


def flips(n: int = 500, draws: int = 10) -> None:
    """Dice coefficients of dropped and flipped labels of a linear target, for docs/guide/huber.md."""
    for low in (0.5, -1.0):
        for percent in (1, 10, 25, 50, 75):
            dice = []
            for seed in range(draws):
                rng = np.random.default_rng(seed)
                x = rng.uniform(low, 1.0, (n, 1))
                y = x[:, 0] * rng.uniform(0.5, 1.5)
                flipped = rng.choice(n, n * percent // 100, replace=False)
                y[flipped] *= -1.0
                fitted = AdaptiveHuberRegressor(
                    1e-2 / n, 1e-3 / n, delta=0.1, max_refinements=10, kernel="linear", scale_features=False
                )
                found = fitted.fit(x, y).removed_
                dice.append(2.0 * len(np.intersect1d(found, flipped)) / (len(found) + len(flipped)))
            print(f"x from {low:g} to 1, {percent} % flipped: Dice {np.mean(dice):.3f}")


def against_cvxpy(n: int) -> None:
    x, y = problem(n, 10)
    fitted = model(0, threshold=0.3, graph=None).fit(x, y)
    ours = seconds(lambda: model(0, threshold=0.3, graph=None).fit(x, y))
    theirs, objective = cvxpy_solve(x, y, fitted)
    print(
        f"one threshold, no graph: ours {ours:.3f} s, CVXPY with Clarabel {theirs:.1f} s: "
        f"{theirs / ours:.0f} x"
    )
    print(f"J: ours {fitted.objective_:.12g}, theirs {objective:.12g}")


def large() -> None:
    for n, labelled in ((5000, None), (10_000, None), (20_000, 500)):
        x, y = problem(n, 10, labelled)
        start, wall = time.process_time(), time.perf_counter()
        fitted = model(1).fit(x, y)
        took = time.process_time() - start
        text = f"{n:,} rows, {fitted.n_labels_:,} labels"
        print(f"{text}: {took:.1f} s of processor time, {time.perf_counter() - wall:.1f} s", flush=True)


if __name__ == "__main__":
    main()
