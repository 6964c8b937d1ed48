"""Outliers and shared errors: simulations of laws.

    python benches/python/outliers.py contamination [--sets 500]
    python benches/python/outliers.py features [--sets 200]

contamination: two features of errors 0.2 to 0.5, n = 200, and a share of targets 10 to 30 standard deviations
off. features: readings of two features that share calibration errors per survey, n = 300.
"""

from __future__ import annotations

import argparse

import numpy as np

from uncertain import GaussianArray
from uncertain.laws import LinearLaw

KINDS = (None, "mixture", "student")


def pair(numbers: np.ndarray, form: str) -> str:
    """Both numbers of a cell."""
    return ", ".join(format(number, form) for number in numbers)


def contamination(sets: int, n: int = 200) -> None:
    cells = {kind: [] for kind in KINDS}
    for share in (0.0, 0.1):
        slopes = {kind: [] for kind in KINDS}
        stds = {kind: [] for kind in KINDS}
        for seed in range(sets):
            rng = np.random.default_rng(seed)
            z, t = rng.normal(size=(n, 2)), rng.uniform(0.1, 0.3, size=n)
            s = rng.uniform(0.2, 0.5, size=(n, 2))
            y = 1 + z @ [1.0, 2.0] + np.hypot(0.2, t) * rng.normal(size=n)
            bad = rng.uniform(size=n) < share
            y += bad * np.hypot(0.2, t) * rng.uniform(10, 30, size=n) * rng.choice([-1, 1], size=n)
            X = GaussianArray(z + s * rng.normal(size=(n, 2)), std=s)
            for kind in KINDS:
                law = LinearLaw(outliers=kind, n_jobs=1).fit(X, y, y_std=t)
                slopes[kind].append(law.coef_)
                stds[kind].append(law.coef_std_)
        for kind in KINDS:
            found, std = np.array(slopes[kind]), np.array(stds[kind])
            mean = 100 * (found.mean(axis=0) / [1, 2] - 1)
            covered = (np.abs(found - [1, 2]) < 1.96 * std).mean(axis=0)
            cells[kind] += [pair(mean, "+.1f"), pair(found.std(axis=0), ".3f"), pair(covered, ".2f")]
    print("| `outliers` | clean: bias | scatter | covered | 10 % outliers: bias | scatter | covered |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for kind in KINDS:
        print(f"| `{kind!r}` | {' | '.join(cells[kind])} |".replace("'", '"'))


def features(sets: int, n: int = 300) -> None:
    truth = np.array([1.0, -1.5])
    print("| surveys | `modes=` | mean slopes | mean standard error | 95 % intervals that cover |")
    print("|---:|---|---:|---:|---:|")
    for k in (3, 10):
        found = {"given": [], "left out": []}
        for seed in range(sets):
            rng = np.random.default_rng((k, seed))
            z = rng.multivariate_normal([0, 0], [[1.0, 0.5], [0.5, 0.89]], size=n)
            survey, s, t = rng.integers(k, size=n), rng.uniform(0.2, 0.5, (n, 2)), rng.uniform(0.1, 0.3, n)
            inside = survey[:, None] == np.arange(k)
            M = np.stack([0.6 * inside, 0.3 * inside * (np.arange(k) % 2)], axis=1)
            X = GaussianArray(z + s * rng.normal(size=(n, 2)) + M @ rng.normal(size=k), std=s)
            y = 1 + z @ truth + np.hypot(0.2, t) * rng.normal(size=n)
            for name, shared in (("given", M), ("left out", None)):
                law = LinearLaw().fit(X, y, y_std=t, modes=shared)
                low, high = law.conf_int().T
                found[name].append([law.coef_, law.coef_std_, (low < truth) & (high > truth)])
        for name, of_sets in found.items():
            coef, std, covered = np.array(of_sets, dtype=float).transpose(1, 0, 2)
            texts = pair(coef.mean(0), ".3f"), pair(std.mean(0), ".3f"), pair(covered.mean(0), ".2f")
            print(f"| {k if name == 'given' else ''} | {name} | {' | '.join(texts)} |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("what", choices=("contamination", "features"))
    parser.add_argument("--sets", type=int, default=500)
    arguments = parser.parse_args()
    {"contamination": contamination, "features": features}[arguments.what](arguments.sets)
