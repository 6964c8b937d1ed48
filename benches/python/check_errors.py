"""Do the intervals of `uncertain.check_errors` hold? Simulated rows with errors k times the stated ones.

python benches/python/check_errors.py
"""

from __future__ import annotations

import numpy as np

from uncertain import GaussianArray
from uncertain._errors.estimate import by_model

CASES = [
    ("300 rows", 300, "normal", 0.0, 1.0, 1),
    ("1,000 rows", 1000, "normal", 0.0, 2.0, 1),
    ("500 rows, correlated errors", 500, "normal", 0.6, 1.0, 1),
    ("1,000 rows of two kinds", 1000, "two", 0.0, 1.0, "auto"),
    ("1,000 rows, exponential", 1000, "skew", 0.0, 2.0, "auto"),
]
"""Name, rows, true values, correlation of errors, k, Gaussians of the model."""


def readings(n: int, kind: str, corr: float, k: float, seed: int) -> GaussianArray:
    """Three features whose true values correlate by 0.6; errors log-normal, of median 0.5."""
    rng = np.random.default_rng(seed)
    root = np.linalg.cholesky(0.6 + 0.4 * np.eye(3)).T
    z = (rng.exponential(size=(n, 3)) if kind == "skew" else rng.normal(size=(n, 3))) @ root
    if kind == "two":
        z = 0.5 * z + 3.0 * rng.integers(0, 2, (n, 1))
    std = 0.5 * np.exp(0.6 * rng.normal(size=(n, 3)))
    noise = corr + (1.0 - corr) * np.eye(3)
    x = z + k * std * (rng.normal(size=(n, 3)) @ np.linalg.cholesky(noise).T)
    if corr:
        return GaussianArray(x, cov=std[:, :, None] * noise * std[:, None, :])
    return GaussianArray(x, std=std)


def main(repeats: int = 60) -> None:
    """Print shares of intervals that hold k."""
    print("| rows | true factor | mean of estimates | 68 % intervals cover | 95 % |")
    print("|---|---|---|---|---|")
    for name, n, kind, corr, k, components in CASES:
        found = [
            feature
            for seed in range(repeats)
            for feature in by_model(readings(n, kind, corr, k, seed), n_components=components)  # type: ignore[arg-type]
        ]
        inside = np.mean([[i.lower <= k <= i.upper for i in f.intervals] for f in found], axis=0)
        shares = " | ".join(f"{100 * share:.1f}" for share in inside[:2])
        mean = np.mean([f.factor for f in found])
        print(f"| {name} | {k:g} | {mean:.3f} | {shares} |", flush=True)


if __name__ == "__main__":
    main()
