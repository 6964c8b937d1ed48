"""Gram matrices of Gaussians beside batched NumPy (stacked Cholesky factors and solves) on the same threads.

    python benches/python/gram.py [--threads 2]

Times are processor seconds divided by pairs: another process on the machine does not count. The last column
is our rate of multiply-adds as part of that of a matrix product (NumPy's GEMM) on one thread.
"""

import argparse
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from uncertain import GaussianArray, kernels

Floats = NDArray[np.float64]
SIZES = {2: 2000, 5: 1500, 10: 1000, 30: 400, 64: 150}


def numpy_gram(means: Floats, roots: Floats, rows: slice) -> Floats:
    """kappa of some rows with all: differences of roots, squares, Cholesky factors, one solve per pair."""
    u = roots[rows, None] - roots[None]
    m = u @ u
    d = means.shape[1]
    m[..., range(d), range(d)] += 1.0
    difference = (means[rows, None] - means[None])[..., None]
    lower = np.linalg.cholesky(m)
    form = np.sum(difference * np.linalg.solve(m, difference), axis=(-2, -1))
    return np.asarray(np.exp(-0.5 * form) / np.prod(np.diagonal(lower, axis1=-2, axis2=-1), axis=-1))


def seconds(work: Callable[[], object], repeats: int = 3) -> float:
    """The least processor time of some runs."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def gemm_rate() -> float:
    """Multiply-adds per second of a matrix product on one thread."""
    n = 1024
    a = np.random.default_rng(0).normal(size=(n, n))
    return n**3 / seconds(lambda: a @ a, 5)


def multiply_adds(d: int) -> float:
    """Of one pair: the lower triangle of U^2, the factor, the solve."""
    return d * d * (d + 1) / 2 + d**3 / 6 + d * d / 2


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=1)
    threads = parser.parse_args().threads
    rng = np.random.default_rng(1)
    with threadpool_limits(1):
        peak = gemm_rate()
    print(f"GEMM on one thread: {peak / 1e9:.1f} G multiply-adds per second; {threads} thread(s) below")
    print("|  n | NumPy, ns per pair | ours | ratio | coupling independent | of GEMM |")
    print("|---:|---:|---:|---:|---:|---:|")
    for d, n in SIZES.items():
        means = rng.normal(size=(n, d)) / np.sqrt(d)
        factor = rng.normal(size=(n, d, d)) / d
        covariances = factor @ factor.transpose(0, 2, 1)
        values, vectors = np.linalg.eigh(covariances)
        roots = (vectors * np.sqrt(values)[:, None, :]) @ vectors.transpose(0, 2, 1)
        x = GaussianArray(means, cov=covariances)
        part = slice(0, max(1, 40_000 // (n * max(1, d // 5))))
        with threadpool_limits(threads):
            theirs = seconds(lambda means=means, roots=roots, part=part: numpy_gram(means, roots, part))
            expected = numpy_gram(means, roots, part)
            theirs /= expected.size
        found = kernels.probabilistic_rbf(x, x, n_jobs=threads)
        assert np.abs(found[part] - expected).max() < 1e-11
        ours = []
        for coupling in ("shared", "independent"):
            whole = seconds(
                lambda x=x, c=coupling: kernels.probabilistic_rbf(x, x, coupling=c, n_jobs=threads)
            )
            # The roots are taken once per row; that of the pairs is what is left.
            ours.append(whole / n**2)
        share = multiply_adds(d) / ours[0] / peak
        print(
            f"| {d} | {1e9 * theirs:.0f} | {1e9 * ours[0]:.1f} | {theirs / ours[0]:.0f} "
            f"| {1e9 * ours[1]:.1f} | {100 * share:.0f} % |"
        )


if __name__ == "__main__":
    main()
