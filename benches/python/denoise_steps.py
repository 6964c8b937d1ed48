"""How many iterations, and how long: EM and EM with extrapolated steps (SQUAREM), where noise grows.

    python benches/python/denoise_steps.py [--rows 1000] [--tol 1e-8]

Correlated true values in five dimensions under diagonal noise whose variance is 0.1, 1, 10 and 100 times
theirs. Both start at the same point and end when a step (a cycle of two steps and a jump) raises the mean
log-likelihood by no more than `tol`.
"""

import argparse
import sys
import time
import warnings

import numpy as np

from uncertain import GaussianArray, GaussianDenoiser


def problem(n: int, d: int, ratio: float, seed: int = 0) -> GaussianArray:
    """Two groups of true values, and readings whose noise has `ratio` times their variance on average."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) / np.sqrt(d) + 2 * rng.integers(0, 2, size=(n, 1))
    std = np.sqrt(ratio * z.var(axis=0)) * np.exp(0.5 * rng.normal(size=(n, d)) - 0.25)
    return GaussianArray(z + std * rng.normal(size=(n, d)), std=std)


def table(n: int, tol: float) -> str:
    lines = [
        "| noise / signal | K | EM: iterations | CPU s | accelerated: iterations | CPU s "
        "| times fewer | log-likelihood per row, accelerated - EM |",
        "|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for ratio in (0.1, 1.0, 10.0, 100.0):
        data = problem(n, 5, ratio)
        for k in (1, 2):
            found = []
            for acceleration in (None, "squarem"):
                model = GaussianDenoiser(
                    k, tol=tol, max_iter=20_000, acceleration=acceleration, random_state=0, n_jobs=1
                )
                start = time.process_time()
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    model.fit(data)
                found.append((model, time.process_time() - start))
            (plain, slow), (fast, quick) = found
            end = "" if plain.status_ == "converged" else " (not converged)"
            lines.append(
                f"| {ratio:g} | {k} | {plain.n_iter_:,}{end} | {slow:.2f} | {fast.n_iter_:,} | {quick:.2f} "
                f"| {plain.n_iter_ / fast.n_iter_:.1f} "
                f"| {fast.log_likelihoods_[-1] - plain.log_likelihoods_[-1]:+.1e} |"
            )
    return "\n".join(lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--tol", type=float, default=1e-8)
    arguments = parser.parse_args()
    sys.stdout.write(table(arguments.rows, arguments.tol) + "\n")
