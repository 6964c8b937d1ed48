"""Draws to mixtures: time per row, and the held-out log likelihood against the best of 1 to 4 components.

    python benches/python/draws.py [rows]

Rows of 1,000 draws of 2 features: a third Gaussian, a third with two peaks, a third skewed. The goal is
100,000 rows in 30 s on 2 cores; time is linear in rows, so 10,000 are measured.
"""

from __future__ import annotations

import sys
import time

import numpy as np
from sklearn.mixture import GaussianMixture

from uncertain.uncertainty import from_draws


def draw(random: np.random.Generator, rows: int, m: int = 1000) -> np.ndarray:
    plain = random.normal(size=(rows, m, 2)) @ np.array([[1.0, 0.6], [0.0, 0.8]])
    peaks = np.where(random.random((rows, m, 1)) < 0.3, 4.0, 0.0)
    plain[1::3] += peaks[1::3]
    plain[2::3, :, 0] = random.gamma(2.0, size=plain[2::3, :, 0].shape)
    return plain


def main() -> None:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    random = np.random.default_rng(0)
    draws = draw(random, rows)
    start, cpu = time.perf_counter(), time.process_time()
    X = from_draws(draws, n_jobs=2)
    wall, cpu = time.perf_counter() - start, time.process_time() - cpu
    print(
        f"{rows} rows: {wall:.2f} s, processor {cpu:.2f} s on 2 threads; 100,000 rows: "
        f"{wall * 1e5 / rows:.1f} s, processor {cpu * 1e5 / rows / 2:.1f} s per core"
    )
    print("components per row, by shape:", [np.diff(X.offsets)[k::3].mean().round(2) for k in range(3)])
    test = draw(random, 60, 4000)
    worst = []
    for row in range(60):
        own = X[row]
        logs = [
            np.log(w)
            - 0.5
            * (
                np.einsum("ni,ij,nj->n", test[row] - m, np.linalg.inv(S), test[row] - m)
                + np.linalg.slogdet(2 * np.pi * S)[1]
            )
            for w, m, S in zip(own.weights, own.components.means, own.components.covariances(), strict=True)
        ]
        score = np.logaddexp.reduce(logs, axis=0).mean()
        best = max(
            GaussianMixture(k, n_init=2, random_state=0).fit(draws[row]).score(test[row]) for k in range(1, 5)
        )
        worst.append(best - score)
    for k, name in enumerate(("Gaussian", "two peaks", "skewed")):
        print(
            f"{name}: behind the best of 1 to 4 components (chosen by the test itself) by "
            f"{np.mean(worst[k::3]):.4f} a draw, at most {np.max(worst[k::3]):.4f}"
        )


if __name__ == "__main__":
    main()
