"""Gram matrices of Gaussians beside batched NumPy and PyTorch (stacked Cholesky factors and solves).

    python benches/python/gram.py [--threads 2]

Times are processor seconds divided by pairs: another process on the machine does not count. NumPy's rows
and PyTorch's are shared out to as many threads as ours. Ours include the roots of the covariances, which the
others get for nothing. The last column is our rate of multiply-adds as part of that of a matrix product
(NumPy's GEMM) on one thread. PyTorch is left out where it is not installed.
"""

import argparse
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from importlib.util import find_spec

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from uncertain import GaussianArray, kernels

Floats = NDArray[np.float64]
SIZES = {2: 4000, 5: 4000, 10: 3000, 30: 1000, 64: 300}


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


def torch_gram(means: Floats, roots: Floats, rows: slice) -> Floats:
    """The same in PyTorch, with its batched Cholesky factors and triangular solves."""
    torch = import_module("torch")
    mean, root = torch.from_numpy(means), torch.from_numpy(roots)
    u = root[rows, None] - root[None]
    m = u @ u
    m.diagonal(dim1=-2, dim2=-1).add_(1.0)
    lower = torch.linalg.cholesky(m)
    y = torch.linalg.solve_triangular(lower, (mean[rows, None] - mean[None])[..., None], upper=False)
    form = y.square().sum(dim=(-2, -1))
    return np.asarray(torch.exp(-0.5 * form) / lower.diagonal(dim1=-2, dim2=-1).prod(dim=-1))


def in_threads(gram: Callable[..., Floats], threads: int, means: Floats, roots: Floats, count: int) -> Floats:
    """`gram` of the first `count` rows, a part of them in each thread."""
    cuts = np.linspace(0, count, threads + 1).astype(int)
    with ThreadPoolExecutor(threads) as pool:
        parts = pool.map(lambda k: gram(means, roots, slice(cuts[k], cuts[k + 1])), range(threads))
    return np.concatenate(list(parts))


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
    others = {"NumPy": numpy_gram}
    if find_spec("torch"):
        import_module("torch").set_num_threads(1)
        others["PyTorch"] = torch_gram
    print(f"GEMM on one thread: {peak / 1e9:.1f} G multiply-adds per second; {threads} thread(s) below")
    print("|  n | " + "".join(f"{name}, ns per pair | ratio | " for name in others), end="")
    print("ours | coupling independent | of GEMM |")
    print("|---:|" + "---:|" * (2 * len(others) + 3))
    for d, n in SIZES.items():
        means = rng.normal(size=(n, d)) / np.sqrt(d)
        factor = rng.normal(size=(n, d, d)) / d
        # Away from singular ones: the root of an eigenvalue near 0 is not known to 1e-11, to nobody.
        covariances = factor @ factor.transpose(0, 2, 1) + 0.01 / d * np.eye(d)
        values, vectors = np.linalg.eigh(covariances)
        roots = (vectors * np.sqrt(values)[:, None, :]) @ vectors.transpose(0, 2, 1)
        x = GaussianArray(means, cov=covariances)
        ours = []
        for coupling in ("shared", "independent"):
            whole = seconds(
                lambda x=x, c=coupling: kernels.probabilistic_rbf(x, x, coupling=c, n_jobs=threads)
            )
            ours.append(whole / n**2)
        found = kernels.probabilistic_rbf(x, x, n_jobs=threads)
        count = max(threads, 40_000 // (n * max(1, d // 5)))
        cells = ""
        for gram in others.values():
            with threadpool_limits(1):
                work = (gram, threads, means, roots, count)
                assert np.abs(found[:count] - in_threads(*work)).max() < 1e-11
                theirs = seconds(lambda work=work: in_threads(*work)) / (count * n)
            cells += f"{1e9 * theirs:.0f} | {theirs / ours[0]:.0f} | "
        share = multiply_adds(d) / ours[0] / peak
        print(f"| {d} | {cells}{1e9 * ours[0]:.1f} | {1e9 * ours[1]:.1f} | {100 * share:.0f} % |")


if __name__ == "__main__":
    main()
