"""Few rows: when the EM of a discriminant ends, and how small its covariances may become.

python benches/python/em_patience.py [--weak 0.5] [--strong 5] [--tables 4]

Two classes with `--strong` directions of variance 1 and all others of `--weak` squared, read with errors of
typically one. Log loss on 2,000 new rows with errors like those of the fit, with errors x 0.3, and without.
"""

from __future__ import annotations

import argparse
import time
import warnings
from typing import Any

import numpy as np

from uncertain import GaussianArray, GaussianDiscriminant

SHAPES = ((60, 10), (80, 44), (300, 10), (1_000, 10), (60, 200))
DEFAULTS: dict[str, dict[str, float]] = {
    "before": {"tol": 1e-6, "reg_covar": 1e-6},
    "tol": {"reg_covar": 1e-6},
    "both": {},
}


def table(n: int, d: int, seed: int, strong: int, weak: float) -> list[tuple[Any, Any, Any]]:
    """True values, errors and classes: `n` rows to learn from, 2,000 to test."""
    rng = np.random.default_rng(seed)
    directions, way = rng.normal(size=(min(strong, d), d)), rng.normal(size=d) / np.sqrt(d)

    def draw(m: int) -> tuple[Any, Any, Any]:
        y = np.arange(m) % 2
        z = rng.normal(size=(m, len(directions))) @ directions / np.sqrt(strong)
        z += weak * rng.normal(size=(m, d)) + 1.5 * way * y[:, None]
        std = np.exp(0.4 * rng.normal(size=(m, d)))
        return z, std, y

    return [draw(n), draw(2_000)]


def losses(model: GaussianDiscriminant, n: int, d: int, seed: int, strong: int, weak: float) -> list[float]:
    """Seconds, passes and the three losses."""
    (z, std, y), (new, error, truth) = table(n, d, seed, strong, weak)
    rng = np.random.default_rng(seed)
    start = time.process_time()
    model.fit(GaussianArray(z + std * rng.normal(size=z.shape), std=std), y)
    found = [time.process_time() - start, model.n_iter_]
    for factor in (1.0, 0.3, 0.0):
        noise = factor * error * rng.normal(size=new.shape)
        rows = GaussianArray(new + noise, std=factor * error)
        logs = model.predict_log_proba(rows)
        found.append(-float(logs[np.arange(len(truth)), truth].mean()))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--weak", type=float, default=0.5)
    parser.add_argument("--strong", type=int, default=5)
    parser.add_argument("--tables", type=int, default=4)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    for n, d in SHAPES:
        for shared in (True, False) if d < n else (True,):
            for name, parameters in DEFAULTS.items():
                model = GaussianDiscriminant(shared_covariance=shared, n_jobs=1, **parameters)
                found = [losses(model, n, d, seed, given.strong, given.weak) for seed in range(given.tables)]
                s, passes, noisy, less, exact = np.mean(found, axis=0)
                what = f"{n} x {d}, {'shared' if shared else 'own':6} T, {name:6}"
                print(f"{what}: {s:7.3f} s, {passes:4.0f} passes", end=", ")
                print(f"noisy {noisy:.3f}, x 0.3 {less:.3f}, exact {exact:.3g}", flush=True)


if __name__ == "__main__":
    main()
