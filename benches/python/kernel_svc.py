"""Fits of kernel machines, Gram matrix and solver together, beside scikit-learn's SVC on the same matrix.

    python benches/python/kernel_svc.py [--sizes 2500 5000]

Both get our Gram matrix, so the two differ by the solver alone; their scores must agree. Times are processor
seconds on one thread: another process on the machine does not count.
"""

import argparse
from functools import partial

import numpy as np
from numpy.typing import NDArray
from sklearn.svm import SVC
from timing import seconds

from uncertain import GaussianArray, ProbabilisticKernelSVC, kernels

SIGMA = 2.0


def problem(n: int, d: int = 5) -> tuple[GaussianArray, NDArray[np.int64]]:
    """Two overlapping classes with diagonal error bars; about two thirds of the rows become support rows."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n)
    means = rng.normal(size=(n, d)) + 0.7 * y[:, None] * np.array([1.0, 0.5, -1.0, 0.3, 0.0])
    return GaussianArray(means, std=rng.uniform(0.1, 0.6, size=(n, d))), y


def table(sizes: list[int]) -> str:
    lines = [
        "### Kernel machines: Gram matrix and SMO beside SVC, seconds",
        "",
        "| rows | C | tol | Gram matrix | Gram + SMO, ours | Gram + SVC | ratio | gap of ours |",
        "|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for n in sizes:
        X, y = problem(n)
        gram = kernels.probabilistic_rbf(X, sigma=SIGMA, n_jobs=1)
        matrix = seconds(partial(kernels.probabilistic_rbf, X, sigma=SIGMA, n_jobs=1))
        for C, tol in ((1.0, 1e-3), (1.0, 1e-9), (10.0, 1e-3), (10.0, 1e-9)):
            ours = ProbabilisticKernelSVC(C=C, sigma=SIGMA, tol=tol, n_jobs=1)
            theirs = SVC(C=C, kernel="precomputed", tol=tol, cache_size=1000)
            whole, solver = seconds(partial(ours.fit, X, y)), seconds(partial(theirs.fit, gram, y))
            off = np.abs(ours.decision_function(X) - theirs.decision_function(gram)).max()
            assert off < 100 * tol + 1e-4  # LIBSVM keeps the matrix in single precision
            ratio = (matrix + solver) / whole
            times = f"{matrix:.3f} | {whole:.3f} | {matrix + solver:.3f} | {ratio:.2f}"
            lines.append(f"| {n} | {C:g} | {tol:g} | {times} | {ours.optimality_gap_:.1e} |")
    return "\n".join(lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[2500, 5000])
    print(table(parser.parse_args().sizes))
