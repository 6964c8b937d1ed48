"""What rows of several Gaussians cost, processor time and memory: n rows of K components beside nK Gaussians.

    OMP_NUM_THREADS=1 RAYON_NUM_THREADS=1 python benches/python/mixtures.py [features]

The goal is a ratio of 1.1. Both fits have weights, as components do; the least of 30 times counts, mixtures
and Gaussians in turn. Memory is the peak of a call above what was there before it, answers included (Linux,
and only with MALLOC_MMAP_THRESHOLD_=65536: else malloc keeps what calls before gave back).
"""

from __future__ import annotations

import ctypes
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from uncertain import (
    GaussianArray,
    GaussianDenoiser,
    GaussianDiscriminant,
    GaussianMixtureRegressor,
    GaussianScaler,
    GSUClassifier,
    GSURegressor,
    MixtureArray,
)

N, K = 100_000, 3


Work = Callable[[GaussianArray], object]


def least(work: Work, *sides: GaussianArray) -> list[float]:
    """Milliseconds of each side."""
    times: list[list[float]] = [[] for _ in sides]
    for _ in range(30):
        for own, rows in zip(times, sides, strict=True):
            start = time.process_time()
            work(rows)
            own.append(time.process_time() - start)
    return [min(own) * 1e3 for own in times]


def resident(field: str) -> int:
    """VmRSS or VmHWM in kB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(field))


def peak(work: Work, rows: GaussianArray) -> float:
    """MB above what was there, the median of five."""
    found = []
    for _ in range(5):
        ctypes.CDLL(None).malloc_trim(0)
        Path("/proc/self/clear_refs").write_text("5")
        before = resident("VmRSS")
        answer = work(rows)
        found.append((resident("VmHWM") - before) / 1024)
        del answer
    return sorted(found)[2]


def main() -> None:
    d = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    random = np.random.default_rng(0)
    y = random.integers(0, 2, N)
    weights = random.dirichlet(np.ones(K), N).ravel()
    means = random.normal(size=(N * K, d)) + np.repeat(y, K)[:, None]
    G = GaussianArray(means, std=random.uniform(0.1, 1, (N * K, d)))
    X = MixtureArray(weights, G, offsets=np.arange(0, N * K + 1, K))
    few = slice(0, 3000)
    labels, target = np.repeat(y, K), means[:, 0]
    svm = GSUClassifier(probability=True, random_state=0).fit(G[few], labels[few])
    line = GSURegressor().fit(G[few], target[few])
    normal = GaussianDiscriminant().fit(G[few], labels[few])
    joint = GaussianMixtureRegressor(2, random_state=0).fit(G[few], target[few])
    denoiser = GaussianDenoiser(2, random_state=0).fit(G[few])
    scaler = GaussianScaler().fit(G)

    def fit(rows: GaussianArray) -> object:
        if rows is X:
            return GSUClassifier().fit(X, y)
        return GSUClassifier().fit(G, labels, sample_weight=weights)

    asked: dict[str, Work] = {
        "GSUClassifier.fit": fit,
        "GSUClassifier.decision_function": svm.decision_function,
        "GSUClassifier.decision_distribution": svm.decision_distribution,
        "GSUClassifier.predict_proba": svm.predict_proba,
        "GSURegressor.predict": line.predict,
        "GaussianDiscriminant.predict_proba": normal.predict_proba,
        "GaussianMixtureRegressor.predict": joint.predict,
        "GaussianDenoiser.transform": denoiser.transform,
        "GaussianScaler.transform": scaler.transform,
    }
    held = X._core.row_bytes * N / (G._core.row_bytes * N * K)
    weighted = X._core.row_bytes / (G._core.row_bytes + 8) / K
    print(
        f"bytes that the rows hold, beside Gaussians {held:.2f}, beside Gaussians with weights {weighted:.2f}"
    )
    for name, work in asked.items():
        mixtures, gaussians = least(work, X, G)
        print(
            f"{name:38} {mixtures:8.2f} ms beside {gaussians:8.2f} ms: {mixtures / gaussians:.2f}", end="; "
        )
        most = [peak(work, rows) for rows in (X, G)]
        print(f"{most[0]:6.1f} MB beside {most[1]:6.1f} MB: {most[0] / most[1]:.2f}")


if __name__ == "__main__":
    main()
