"""Gram matrices of Gaussians beside batched NumPy and PyTorch (stacked Cholesky factors and solves).

    python benches/python/gram.py [--threads 2] [--sizes 2 5 10]
    python benches/python/gram.py --elapsed --threads 2

Like with like: everybody takes the symmetric roots of both sides (NumPy and PyTorch by NumPy's stacked
`eigh`, counted once per matrix and spread over all pairs), computes every pair of X with another array Z,
and writes the values into new memory. "pairs alone" is NumPy with the roots for nothing. The others work in
chunks of the size that is fastest for them (a few are tried), on a part of the rows.

Times are processor seconds divided by pairs: another process on the machine does not count, but slows caches
and memory. The rows of NumPy and PyTorch are shared out to as many threads as ours. "symmetric" is
`probabilistic_rbf(X)`, where every value serves two elements, per element. The last column is our rate of
multiply-adds, whole call, as part of that of a matrix product (NumPy's GEMM) on one thread. PyTorch is left
out where it is not installed.

With --elapsed they are seconds on the clock, and NumPy and we have the better of one thread and --threads:
what the same cores can do, on a machine that does nothing else.
"""

import argparse
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits
from timing import Clock, seconds

from uncertain import GaussianArray, kernels

Floats = NDArray[np.float64]
SIZES = {2: 4000, 5: 4000, 10: 3000, 30: 1000, 64: 300}
CHUNKS = (500, 2_000, 8_000, 32_000)


class Side(NamedTuple):
    """Rows as the others want them: means, and symmetric roots of the covariances."""

    means: Floats
    roots: Floats

    def take(self, rows: slice) -> "Side":
        return Side(self.means[rows], self.roots[rows])


def numpy_gram(x: Side, z: Side) -> Floats:
    """kappa of all pairs: differences of roots, squares, Cholesky factors, one solve per pair."""
    u = x.roots[:, None] - z.roots[None]
    m = u @ u
    d = x.means.shape[1]
    m[..., range(d), range(d)] += 1.0
    difference = (x.means[:, None] - z.means[None])[..., None]
    lower = np.linalg.cholesky(m)
    form = np.sum(difference * np.linalg.solve(m, difference), axis=(-2, -1))
    return np.asarray(np.exp(-0.5 * form) / np.prod(np.diagonal(lower, axis1=-2, axis2=-1), axis=-1))


def torch_gram(x: Side, z: Side) -> Floats:
    """The same in PyTorch, with its batched Cholesky factors and triangular solves."""
    torch = import_module("torch")
    x_mean, x_root, z_mean, z_root = map(torch.from_numpy, (*x, *z))
    u = x_root[:, None] - z_root[None]
    m = u @ u
    m.diagonal(dim1=-2, dim2=-1).add_(1.0)
    lower = torch.linalg.cholesky(m)
    y = torch.linalg.solve_triangular(lower, (x_mean[:, None] - z_mean[None])[..., None], upper=False)
    form = y.square().sum(dim=(-2, -1))
    return np.asarray(torch.exp(-0.5 * form) / lower.diagonal(dim1=-2, dim2=-1).prod(dim=-1))


def chunks(n: int, m: int, pairs: int) -> Iterator[tuple[slice, slice]]:
    """Rectangles of about so many pairs that cover n x m."""
    width = min(m, pairs)
    height = max(1, pairs // width)
    for top in range(0, n, height):
        for left in range(0, m, width):
            yield slice(top, min(n, top + height)), slice(left, min(m, left + width))


def in_chunks(gram: Callable[[Side, Side], Floats], x: Side, z: Side, pairs: int, threads: int) -> Floats:
    """`gram` of all pairs into new memory, a part of the rows in each thread."""
    out = np.empty((len(x.means), len(z.means)))
    cuts = np.linspace(0, len(x.means), threads + 1).astype(int)

    def part(k: int) -> None:
        rows = slice(cuts[k], cuts[k + 1])
        own, values = x.take(rows), out[rows]
        for top, left in chunks(len(own.means), len(z.means), pairs):
            values[top, left] = gram(own.take(top), z.take(left))

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(part, range(threads)))
    return out


def symmetric_roots(covariances: Floats) -> Floats:
    values, vectors = np.linalg.eigh(covariances)
    return np.asarray((vectors * np.sqrt(values)[:, None, :]) @ vectors.transpose(0, 2, 1))


def gemm_rate() -> float:
    """Multiply-adds per second of a matrix product on one thread."""
    n = 1024
    a = np.random.default_rng(0).normal(size=(n, n))
    return n**3 / seconds(lambda: a @ a, 5)


def multiply_adds(d: int) -> float:
    """Of one pair: the lower triangle of U^2, the factor, the solve."""
    return d * d * (d + 1) / 2 + d**3 / 6 + d * d / 2


def gaussians(n: int, d: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Means and full covariances of n rows."""
    factor = rng.normal(size=(n, d, d)) / d
    # Away from singular ones: the root of an eigenvalue near 0 is not known to 1e-11, to nobody.
    covariances = factor @ factor.transpose(0, 2, 1) + 0.01 / d * np.eye(d)
    return rng.normal(size=(n, d)) / np.sqrt(d), covariances


def ours_seconds(
    x: GaussianArray,
    z: GaussianArray | None,
    coupling: Literal["shared", "independent"],
    threads: int,
    clock: Clock = time.process_time,
) -> float:
    """Seconds of a whole call per element of the matrix."""
    call = partial(kernels.probabilistic_rbf, x, z, coupling=coupling, n_jobs=threads)
    return seconds(call, 5, clock) / len(x) ** 2


def others_seconds(
    gram: Callable[[Side, Side], Floats],
    x: Side,
    z: Side,
    threads: int,
    found: Floats,
    clock: Clock = time.process_time,
) -> float:
    """Seconds per pair, without roots, of the fastest chunk size."""
    m, d = z.means.shape
    rows = max(threads, 40_000 // (m * max(1, d // 5)))
    part = x.take(slice(0, rows))
    best = np.inf
    for pairs in CHUNKS:
        values = in_chunks(gram, part, z, pairs, threads)
        assert np.abs(values - found[:rows]).max() < 1e-11
        best = min(best, seconds(partial(in_chunks, gram, part, z, pairs, threads), clock=clock) / (rows * m))
    return float(best)


def elapsed_table(sizes: list[int], threads: int) -> None:
    """What the clock says of ours and of NumPy, with one thread and with more."""
    rng = np.random.default_rng(1)
    counts = sorted({1, threads})
    both = [f"{who}, {count} thread{'s' * (count > 1)}" for who in ("ours", "NumPy") for count in counts]
    print("ns per pair on the clock")
    print(f"| n | {' | '.join(both)} | best of NumPy / best of ours |")
    print("|---:|" + "---:|" * (len(both) + 1))
    for d in sizes:
        n = SIZES.get(d, 1000)
        sides = [gaussians(n, d, rng) for _ in range(2)]
        x, z = (GaussianArray(means, cov=covariances) for means, covariances in sides)
        found = kernels.probabilistic_rbf(x, z)
        ours = [ours_seconds(x, z, "shared", count, time.perf_counter) for count in counts]
        with threadpool_limits(1):
            left, right = (Side(means, symmetric_roots(covariances)) for means, covariances in sides)
            few = [covariances[:400] for _, covariances in sides]
            roots = sum(seconds(partial(symmetric_roots, s), clock=time.perf_counter) for s in few)
            roots /= n * len(few[0])
            others = [
                others_seconds(numpy_gram, left, right, count, found, time.perf_counter) + roots / count
                for count in counts
            ]
        cells = [f"{1e9 * t:.2f}" for t in ours] + [f"{1e9 * t:.0f}" for t in others]
        print(f"| {d} | {' | '.join(cells)} | {min(others) / min(ours):.0f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--elapsed", action="store_true")
    arguments = parser.parse_args()
    threads = arguments.threads
    if arguments.elapsed:
        return elapsed_table(arguments.sizes, threads)
    rng = np.random.default_rng(1)
    with threadpool_limits(1):
        peak = gemm_rate()
    others = {"NumPy": numpy_gram}
    if find_spec("torch"):
        import_module("torch").set_num_threads(1)
        others["PyTorch"] = torch_gram
    print(f"GEMM on one thread: {peak / 1e9:.1f} G multiply-adds per second")
    print(f"ns per pair, {threads} thread(s)")
    print("| n | ours | NumPy | ratio | NumPy, pairs alone | ratio | ", end="")
    print("".join(f"{name} | ratio | " for name in list(others)[1:]), end="")
    print("ours, symmetric | ours, independent | of GEMM |")
    print("|---:|" + "---:|" * (2 * len(others) + 6))
    for d in arguments.sizes:
        n = SIZES.get(d, 1000)
        sides = [gaussians(n, d, rng) for _ in range(2)]
        x, z = (GaussianArray(means, cov=covariances) for means, covariances in sides)

        whole = ours_seconds(x, z, "shared", threads)
        symmetric = ours_seconds(x, None, "shared", threads)
        independent = ours_seconds(x, z, "independent", threads)
        found = kernels.probabilistic_rbf(x, z, n_jobs=threads)
        with threadpool_limits(1):
            few = [covariances[:400] for _, covariances in sides]
            roots = sum(seconds(partial(symmetric_roots, s)) for s in few) / (n * len(few[0]))
            left, right = (Side(means, symmetric_roots(covariances)) for means, covariances in sides)
            pairs = {name: others_seconds(gram, left, right, threads, found) for name, gram in others.items()}
        cells = [pairs["NumPy"] + roots, pairs["NumPy"], *(p + roots for p in list(pairs.values())[1:])]
        table = "".join(f"{1e9 * t:.0f} | {t / whole:.0f} | " for t in cells)
        share = multiply_adds(d) / whole / peak
        last = f"{1e9 * symmetric:.2f} | {1e9 * independent:.2f} | {100 * share:.0f} % |"
        print(f"| {d} | {1e9 * whole:.2f} | {table}{last}")


if __name__ == "__main__":
    main()
