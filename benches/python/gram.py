"""Gram matrices of Gaussians beside batched NumPy (stacked Cholesky factors and solves).

    python benches/python/gram.py [--sizes 2 5 10]

Both take the symmetric roots of both sides (NumPy by its stacked `eigh`, counted once per matrix and spread
over all pairs), compute every pair of X with another array Z, and write the values into new memory. NumPy
works in chunks of the size that is fastest for it, on a part of the rows. Times are processor seconds of one
thread divided by pairs.
"""

import argparse
from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits
from timing import seconds

from uncertain import GaussianArray, kernels

Floats = NDArray[np.float64]
SIZES = {2: 4000, 5: 4000, 10: 3000, 30: 1000, 64: 300}
"""Features, and rows."""
CHUNKS = (500, 2_000, 8_000, 32_000)


class Side(NamedTuple):
    """Means, and symmetric roots of the covariances."""

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


def chunks(n: int, m: int, pairs: int) -> Iterator[tuple[slice, slice]]:
    """Rectangles of about so many pairs that cover n x m."""
    width = min(m, pairs)
    height = max(1, pairs // width)
    for top in range(0, n, height):
        for left in range(0, m, width):
            yield slice(top, min(n, top + height)), slice(left, min(m, left + width))


def in_chunks(x: Side, z: Side, pairs: int) -> Floats:
    out = np.empty((len(x.means), len(z.means)))
    for top, left in chunks(len(x.means), len(z.means), pairs):
        out[top, left] = numpy_gram(x.take(top), z.take(left))
    return out


def symmetric_roots(covariances: Floats) -> Floats:
    values, vectors = np.linalg.eigh(covariances)
    return np.asarray((vectors * np.sqrt(values)[:, None, :]) @ vectors.transpose(0, 2, 1))


def gaussians(n: int, d: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Means and full covariances of n rows, away from singular ones."""
    factor = rng.normal(size=(n, d, d)) / d
    covariances = factor @ factor.transpose(0, 2, 1) + 0.01 / d * np.eye(d)
    return rng.normal(size=(n, d)) / np.sqrt(d), covariances


def numpy_seconds(x: Side, z: Side, reference: Floats) -> float:
    """Seconds per pair of the fastest chunk size, on a part of the rows."""
    m, d = z.means.shape
    rows = max(1, 40_000 // (m * max(1, d // 5)))
    part, best = x.take(slice(0, rows)), np.inf
    for pairs in CHUNKS:
        assert np.abs(in_chunks(part, z, pairs) - reference[:rows]).max() < 1e-11
        best = min(best, seconds(partial(in_chunks, part, z, pairs)) / (rows * m))
    return float(best)


def table(sizes: list[int]) -> str:
    rng = np.random.default_rng(1)
    lines = [
        "### Gram matrices of Gaussians, nanoseconds per pair",
        "",
        "| features | shared noise | NumPy | ratio | symmetric | independent noise |",
        "|---:|---:|---:|---:|---:|---:|",
    ]
    for d in sizes:
        n = SIZES[d]
        sides = [gaussians(n, d, rng) for _ in range(2)]
        x, z = (GaussianArray(means, cov=covariances) for means, covariances in sides)
        calls = [(x, z, "shared"), (x, None, "shared"), (x, z, "independent")]
        shared, symmetric, independent = (
            seconds(partial(kernels.probabilistic_rbf, a, b, coupling=c, n_jobs=1), 5) / n**2
            for a, b, c in calls
        )
        reference = kernels.probabilistic_rbf(x, z, n_jobs=1)
        with threadpool_limits(1):
            few = [covariances[:400] for _, covariances in sides]
            roots = sum(seconds(partial(symmetric_roots, s)) for s in few) / (n * len(few[0]))
            left, right = (Side(means, symmetric_roots(covariances)) for means, covariances in sides)
            peer = numpy_seconds(left, right, reference) + roots
        cells = f"{1e9 * shared:.2f} | {1e9 * peer:.0f} | {peer / shared:.0f}"
        lines.append(f"| {d} | {cells} | {1e9 * symmetric:.2f} | {1e9 * independent:.2f} |")
    return "\n".join(lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES), choices=list(SIZES))
    print(table(parser.parse_args().sizes))
