"""What rows of several Gaussians cost: n rows of K components beside nK Gaussian rows, in processor time.

    OMP_NUM_THREADS=1 RAYON_NUM_THREADS=1 python benches/python/mixtures.py [features]

The goal is a ratio of 1.1. Both fits have weights, as components do; the least of 15 times counts.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

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


def least(work: Callable[[GaussianArray], object], rows: GaussianArray) -> float:
    times = []
    for _ in range(15):
        start = time.process_time()
        work(rows)
        times.append(time.process_time() - start)
    return min(times) * 1e3


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

    asked: dict[str, Callable[[GaussianArray], object]] = {
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
    for name, work in asked.items():
        mixtures, gaussians = least(work, X), least(work, G)
        print(f"{name:38} {mixtures:8.2f} ms beside {gaussians:8.2f} ms: {mixtures / gaussians:.2f}")


if __name__ == "__main__":
    main()
