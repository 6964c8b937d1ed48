"""Fits of kernel machines, Gram matrix and solver together, beside scikit-learn's SVC on the same matrix.

    python benches/python/kernel_svc.py [--sizes 2500 5000]

Both get our Gram matrix, so the two differ by the solver alone; their scores must agree. Times are processor
seconds on one thread: another process on the machine does not count.
"""

import argparse

import numpy as np
from gram import seconds
from numpy.typing import NDArray
from sklearn.svm import SVC

from uncertain import GaussianArray, ProbabilisticKernelSVC, kernels

SIGMA = 2.0


def problem(n: int, d: int = 5) -> tuple[GaussianArray, NDArray[np.int64]]:
    """Two overlapping classes with diagonal error bars; about two thirds of the rows become support rows."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n)
    means = rng.normal(size=(n, d)) + 0.7 * y[:, None] * np.array([1.0, 0.5, -1.0, 0.3, 0.0])
    return GaussianArray(means, std=rng.uniform(0.1, 0.6, size=(n, d))), y


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[2500, 5000])
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    print("| rows | C | tol | Gram matrix | Gram + SMO, ours | Gram + SVC | ratio | gap of ours |")
    print("|---:|---:|---:|---:|---:|---:|---:|---:|")
    for n in arguments.sizes:
        X, y = problem(n)
        gram = kernels.probabilistic_rbf(X, sigma=SIGMA, n_jobs=1)
        matrix = seconds(lambda X=X: kernels.probabilistic_rbf(X, sigma=SIGMA, n_jobs=1), arguments.repeats)
        for C in (1.0, 10.0):
            for tol in (1e-3, 1e-9):
                ours = ProbabilisticKernelSVC(C=C, sigma=SIGMA, tol=tol, n_jobs=1)
                theirs = SVC(C=C, kernel="precomputed", tol=tol, cache_size=1000)
                whole = seconds(lambda m=ours, X=X, y=y: m.fit(X, y), arguments.repeats)
                solver = seconds(lambda m=theirs, K=gram, y=y: m.fit(K, y), arguments.repeats)
                scores = [m.decision_function(Z) for m, Z in ((ours, X), (theirs, gram))]
                # LIBSVM keeps the matrix in single precision.
                assert np.abs(scores[0] - scores[1]).max() < 100 * tol + 1e-4
                print(
                    f"| {n} | {C:g} | {tol:g} | {matrix:.3f} | {whole:.3f} | {matrix + solver:.3f} "
                    f"| {(matrix + solver) / whole:.2f} | {ours.optimality_gap_:.1e} |"
                )


if __name__ == "__main__":
    main()
