"""`GeneralizedLinearLaw`: bias and coverage beside the fit to true features.

    python benches/python/laws.py [--repeats 1000] [--families binomial ...] [--by jackknife]

Two features of variances 1 and 0.89 (correlation 0.53), errors lognormal(-0.5, 0.5) per row and feature (as
large as the signal), beta = (1, -1.5), intercept 0.3, 300 rows: means relative to the truth in per cent
without and with the bias correction, and of the fit to true features; the share of 95 % intervals that cover.
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np
from sklearn.base import clone

from uncertain import GaussianArray, UncertainError
from uncertain.laws import GeneralizedLinearLaw

Array = Any
BETA = np.array([1.0, -1.5])
FAMILIES = ("binomial", "poisson", "negative_binomial", "gamma", "ordinal", "weibull", "lognormal")


def drawn(family: str, eta: Array, rng: np.random.Generator) -> tuple[Array, dict[str, Any]]:
    """Targets, and what else a fit takes."""
    n, mu = len(eta), np.exp(0.3 + eta)
    if family == "binomial":
        return rng.uniform(size=n) < 1 / (1 + np.exp(-0.3 - eta)), {}
    if family == "poisson":
        return rng.poisson(mu), {}
    if family == "negative_binomial":
        return rng.poisson(mu * rng.gamma(2.0, 0.5, size=n)), {}
    if family == "gamma":
        return mu * rng.gamma(2.0, 0.5, size=n), {}
    if family == "ordinal":
        return np.digitize(eta + rng.logistic(size=n), [-1.0, 0.5, 2.0]), {}
    w = np.log(rng.exponential(size=n)) if family == "weibull" else rng.normal(size=n)
    times, ends = mu * np.exp(0.6 * w), np.exp(rng.normal(1.0, 1.0, size=n))
    return np.minimum(times, ends), {"event": times <= ends}


def features(rng: np.random.Generator, n: int) -> tuple[Array, GaussianArray]:
    """True ones, and their readings."""
    z = rng.multivariate_normal([0, 0], [[1.0, 0.5], [0.5, 0.89]], size=n)
    std = np.exp(rng.normal(-0.5, 0.5, size=(n, 2)))
    return z, GaussianArray(z + std * rng.normal(size=(n, 2)), std=std)


def corrected(families: list[str], repeats: int, by: str, n: int = 300) -> None:
    print("| family | law | without `bias_correction` | fit to the true features | covered |")
    print("|---|---:|---:|---:|---:|")
    for family in families:
        found, covered = [], []
        for seed in range(repeats):
            rng = np.random.default_rng((n, seed))
            z, X = features(rng, n)
            y, known = drawn(family, z @ BETA, rng)
            try:
                law = GeneralizedLinearLaw(family, bias_correction=by, n_jobs=1).fit(X, y, **known)
            except UncertainError:  # no estimate without some tenth of the rows
                continue
            plain = GeneralizedLinearLaw(family, bias_correction=None, n_jobs=1)
            laws = [clone(plain).fit(rows, y, **known) for rows in (X, z)]
            found.append([100 * (of.coef_ / BETA - 1) for of in (laws[0], law, laws[1])])
            ends = law.conf_int()
            covered.append((ends[:, 0] < BETA) & (ends[:, 1] > BETA))
        plain, law_, exact = np.mean(found, axis=0)
        biases = [", ".join(f"{bias:+.1f}" for bias in of) for of in (law_, plain, exact)]
        shares = ", ".join(f"{share:.3f}" for share in np.mean(covered, axis=0))
        print(f"| {family} | {' | '.join(biases)} | {shares} |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--repeats", type=int, default=1000)
    parser.add_argument("--by", choices=("errors", "jackknife"), default="errors")
    parser.add_argument("--families", nargs="+", choices=FAMILIES, default=FAMILIES)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    corrected(arguments.families, arguments.repeats, arguments.by)
