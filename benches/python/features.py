"""Random features beside scikit-learn's on exact points, and the linear SVM on them.

    python benches/python/features.py [--threads 1] [--rows 20000]
    python benches/python/features.py --train 1000000 500

Points have no error bars here, because scikit-learn knows none; both sides make as many columns (its
RBFSampler one per frequency, ours two) and train the C-SVM (hinge, the same C) on them. Times are processor
seconds. LinearSVC stops by its own rule; the column "above ours" is how far its objective then is above ours,
which is certified. The last table is ours with error bars: what they cost.

--train ROWS FREQUENCIES fits that many rows with error bars to a gap of 1e-3 and tells what it took.
"""

import argparse
import resource
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_approximation import RBFSampler
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

from uncertain import GaussianArray, ProbabilisticKernelFeatures, ProbabilisticKernelSVC

Floats = NDArray[np.float64]
D, COLUMNS, C = 10, 400, 1.0


def timed(work: Callable[[], Any], repeats: int = 3) -> tuple[float, Any]:
    """The least processor time of some runs, and the result."""
    times, result = [], None
    for _ in range(repeats):
        start = time.process_time()
        result = work()
        times.append(time.process_time() - start)
    return min(times), result


def problem(n: int) -> tuple[Floats, NDArray[np.int64]]:
    """Points of a ball and of the shell around it, overlapping."""
    rng = np.random.default_rng(0)
    points = rng.normal(size=(n, D))
    radius = (points**2).sum(axis=1) + rng.normal(size=n)
    return points, (radius > np.median(radius)).astype(np.int64)


def svm_objective(z: Floats, y: NDArray[np.int64], model: LinearSVC) -> float:
    """1/2 |w|^2 + C sum hinge, the intercept free."""
    signs = 2.0 * y - 1.0
    hinge = np.maximum(0.0, 1.0 - signs * (z @ model.coef_[0] + model.intercept_[0])).sum()
    return float(0.5 * (model.coef_[0] @ model.coef_[0]) + C * hinge)


def train(n: int, size: int) -> None:
    """One fit, its iterations, processor seconds and memory."""
    X, y = problem(n)
    std = np.random.default_rng(1).uniform(0.1, 0.5, X.shape)
    rows = GaussianArray(X + std * np.random.default_rng(2).normal(size=X.shape), std=std)

    def peak() -> float:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

    before, start = peak(), time.process_time()
    model = ProbabilisticKernelSVC(
        C, sigma=float(np.sqrt(D)), n_components=size, tol=1e-3, random_state=0, verbose=1
    ).fit(rows, y)
    print(
        f"{n} x {D} rows, {size} frequencies: {time.process_time() - start:.0f} s of processor time, "
        f"{model.n_iter_} iterations over all rows, certified gap {model.optimality_gap_:.1e}; memory beside "
        f"the rows {peak() - before:.0f} MB, reported {model.memory_ / 2**20:.0f} MB, the matrix of features "
        f"would be {8 * n * 2 * size / 2**20:.0f} MB"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--train", type=int, nargs=2, metavar=("ROWS", "FREQUENCIES"))
    arguments = parser.parse_args()
    if arguments.train:
        train(*arguments.train)
        return
    n, threads = arguments.rows, arguments.threads
    warnings.simplefilter("ignore", ConvergenceWarning)
    X, y = problem(n)
    sigma = float(np.sqrt(D))
    theirs = RBFSampler(gamma=0.5 / sigma**2, n_components=COLUMNS, random_state=0).fit(X)
    size = COLUMNS // 2
    with threadpool_limits(threads):
        print(f"{n} x {D} points, {COLUMNS} columns, {threads} thread(s)\n")
        print("| features | scikit-learn, s | ours, s | ratio |")
        print("|---|---:|---:|---:|")
        ours = ProbabilisticKernelFeatures(size, sigma=sigma, n_jobs=threads).fit(X)
        a, b = timed(lambda: theirs.transform(X))[0], timed(lambda: ours.transform(X))[0]
        print(f"| random | {a:.3f} | {b:.3f} | {a / b:.1f} |")
        print("\n| training | seconds | error of the Gram matrix | above ours |")
        print("|---|---:|---:|---:|")
        some = X[:500]
        exact = np.exp(-0.5 * ((some[:, None] - some[None]) ** 2).sum(axis=-1) / sigma**2)
        machine = ProbabilisticKernelSVC(C, sigma=sigma, n_components=size, random_state=0, n_jobs=threads)
        spent, model = timed(lambda: machine.fit(X, y), 1)
        features = ProbabilisticKernelFeatures(size, sigma=sigma, random_state=0).fit(X)
        error = np.sqrt(np.mean((features.transform(some) @ features.transform(some).T - exact) ** 2))
        gap = f"certified {model.optimality_gap_:.0e}"
        print(f"| ours, features made in every pass | {spent:.2f} | {error:.1e} | {gap} |")
        z = features.transform(X)
        linear = LinearSVC(C=C, loss="hinge", max_iter=1000, random_state=0)
        spent, linear = timed(lambda: linear.fit(z, y), 1)
        above = svm_objective(z, y, linear) / model.objective_ - 1.0
        print(f"| LinearSVC on our features in memory | {spent:.2f} | {error:.1e} | {above:.1e} |")
        print("\n| error bars | ns per row |")
        print("|---|---:|")
        rng = np.random.default_rng(1)
        factor = 0.3 * rng.normal(size=(n, D, D))
        kinds = {
            "none": GaussianArray(X),
            "one per row": GaussianArray(X, std=np.full(n, 0.3)),
            "one per feature": GaussianArray(X, std=np.full((n, D), 0.3)),
            "rank 2": GaussianArray(X, factor=factor[:, :, :2]),
            "a matrix per row": GaussianArray(X, cov=factor @ factor.transpose(0, 2, 1)),
        }
        for kind, rows in kinds.items():
            ours = ProbabilisticKernelFeatures(size, sigma=sigma, n_jobs=threads).fit(rows)
            print(f"| {kind} | {1e9 * timed(lambda m=ours, r=rows: m.transform(r))[0] / n:.0f} |")


if __name__ == "__main__":
    main()
