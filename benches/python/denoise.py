"""Extreme deconvolution: our EM beside one in NumPy with stacked solves, the same steps from the same start.

    python benches/python/denoise.py [--scale 0.1] [--steps 20]

Both are timed by process time (all threads) and by wall clock, in one run. NumPy is as good as it gets
without a loop over rows: stacked solves, everything else products.
"""

import argparse
import sys
import time
import warnings
from collections.abc import Callable
from functools import partial

import numpy as np

from uncertain import GaussianArray, GaussianDenoiser

Row = tuple[str, str, float, float, float]


def numpy_steps(
    x: np.ndarray, s: np.ndarray, weights: np.ndarray, means: np.ndarray, covariances: np.ndarray, steps: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """EM as in the paper, on stacks of matrices: x (n, d), s (n, d, d), the mixture with K components."""
    d = x.shape[1]
    for _ in range(steps):
        logs, posts = [], []
        for k in range(len(weights)):
            t = covariances[k]
            gain = np.linalg.solve(t + s, np.broadcast_to(t, s.shape)).transpose(0, 2, 1)
            r = x - means[k]
            b = means[k] + np.einsum("nij,nj->ni", gain, r)
            posts.append((b, t - gain @ t))
            log_det = np.linalg.slogdet(t + s).logabsdet
            solved = np.linalg.solve(t + s, r[..., None])[..., 0]
            logs.append(
                np.log(weights[k]) - 0.5 * (d * np.log(2 * np.pi) + log_det + (r * solved).sum(axis=1))
            )
        log = np.stack(logs, axis=1)
        q = np.exp(log - log.max(axis=1, keepdims=True))
        q /= q.sum(axis=1, keepdims=True)
        counts = q.sum(axis=0)
        weights = counts / len(x)
        means = np.stack([q[:, k] @ posts[k][0] / counts[k] for k in range(len(counts))])
        covariances = np.stack(
            [
                ((q[:, k, None] * (posts[k][0] - means[k])).T @ (posts[k][0] - means[k])
                 + np.einsum("n,nij->ij", q[:, k], posts[k][1])) / counts[k]
                for k in range(len(counts))
            ]
        )  # fmt: skip
    return weights, means, covariances


def problem(n: int, d: int, kind: str, seed: int = 0) -> GaussianArray:
    """Correlated true values in two groups, with noise of very different sizes."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) / np.sqrt(d) + 2 * rng.integers(0, 2, size=(n, 1))
    size = np.exp(0.5 * rng.normal(size=(n, 1)))
    if kind == "isotropic":
        return GaussianArray(z + size * rng.normal(size=(n, d)), std=size[:, 0])
    if kind == "diagonal":
        std = np.exp(0.5 * rng.normal(size=(n, d)))
        return GaussianArray(z + std * rng.normal(size=(n, d)), std=std)
    factor = size[..., None] * rng.normal(size=(n, d, d)) / np.sqrt(d)
    noise = (factor @ rng.normal(size=(n, d, 1)))[..., 0]
    return GaussianArray(z + noise, cov=factor @ factor.transpose(0, 2, 1))


def run(scale: float = 1.0, steps: int = 20) -> list[Row]:
    """Rows (problem, who, CPU seconds, wall seconds, largest relative difference)."""
    rows: list[Row] = []
    n, d = max(200, int(20_000 * scale)), 10
    for kind in ("isotropic", "diagonal", "full"):
        for k in (1, 2):
            data = problem(n, d, kind)
            first, _ = timed(partial(fit, data, k, 1))
            ours, ours_time = timed(partial(fit, data, k, 1 + steps))
            dense = data.covariances()
            start = (first.weights_, first.means_, first.covariances_)
            theirs, theirs_time = timed(partial(numpy_steps, data.means, dense, *start, steps))
            pairs = zip((ours.weights_, ours.means_, ours.covariances_), theirs, strict=True)
            off = max(float(np.max(np.abs(a - b)) / np.max(np.abs(b))) for a, b in pairs)
            name = f"{n:,} x {d}, {kind}, K = {k}, {steps} steps"
            rows.append((name, "GaussianDenoiser", *ours_time, off))
            rows.append((name, "NumPy, stacked solves", *theirs_time, 0.0))
    return rows


def fit(data: GaussianArray, k: int, steps: int) -> GaussianDenoiser:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return GaussianDenoiser(k, tol=0.0, max_iter=steps, acceleration=None, random_state=0).fit(data)


def timed(work: Callable[[], object]) -> tuple[object, tuple[float, float]]:
    cpu, wall = time.process_time(), time.perf_counter()
    result = work()
    return result, (time.process_time() - cpu, time.perf_counter() - wall)


def table(rows: list[Row]) -> str:
    lines = [
        "### Extreme deconvolution",
        "",
        "| problem | who | CPU seconds | seconds | times ours (CPU) | difference |",
        "|---|---|---:|---:|---:|---:|",
    ]
    for at, (name, who, cpu, wall, off) in enumerate(rows):
        own = rows[at - at % 2][2]
        lines.append(f"| {name} | {who} | {cpu:.3g} | {wall:.3g} | {cpu / own:.1f} | {off:.1e} |")
    return "\n".join(lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scale", type=float, default=1.0, help="part of the rows")
    parser.add_argument("--steps", type=int, default=20)
    arguments = parser.parse_args()
    sys.stdout.write(table(run(arguments.scale, arguments.steps)) + "\n")
