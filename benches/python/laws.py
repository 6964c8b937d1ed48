"""`GeneralizedLinearLaw` beside the same fit to readings, and to true features: bias, coverage and seconds.

Run: python benches/python/laws.py [simulation|time ...] [--repeats 500] [--profile]
         [--plain] [--corrected errors|jackknife] [--rows 300] [--correlation .6] [--families binomial ...]

- simulation: two features of variances 1 and .89 (correlation .53), errors lognormal(-.5, .5) per row and
  feature (as large as the signal), beta = (1, -1.5), intercept .3: every family at 300 and 600 rows. Means
  relative to the truth; the share of 95 % intervals that cover it. --plain: without bias_correction. With
  --correlation the errors of a row's two features are correlated. With
  --corrected 300 rows alone, without and with this bias_correction, and how much further the latter are from
  the truth than the fit to true features.
- time: seconds of processor time and of the clock, logistic, 4 features.
"""

from __future__ import annotations

import argparse
import time
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


def features(rng: np.random.Generator, n: int, correlation: float) -> tuple[Array, GaussianArray]:
    """True ones, and their readings."""
    z = rng.multivariate_normal([0, 0], [[1.0, 0.5], [0.5, 0.89]], size=n)
    std = np.exp(rng.normal(-0.5, 0.5, size=(n, 2)))
    e = rng.normal(size=(n, 2))
    if not correlation:
        return z, GaussianArray(z + std * e, std=std)
    e[:, 1] = correlation * e[:, 0] + np.sqrt(1 - correlation**2) * e[:, 1]
    shared = np.array([[1.0, correlation], [correlation, 1.0]])
    return z, GaussianArray(z + std * e, cov=std[:, :, None] * shared * std[:, None, :])


def simulation(
    families: list[str], repeats: int, correlation: float, *, with_profile: bool, plain: bool
) -> None:
    by = None if plain else "errors"
    print(f"{'family':>18} {'n':>4}  law %          true z %       naive %        covered 95 %  profile")
    for family in families:
        for n in (300, 600):
            laws, exact, naive, covered, profile = [], [], [], [], []
            for seed in range(repeats):
                rng = np.random.default_rng((n, seed))
                z, X = features(rng, n, correlation)
                y, known = drawn(family, z @ BETA, rng)
                law = GeneralizedLinearLaw(family, bias_correction=by, n_jobs=1).fit(X, y, **known)
                laws.append(law.coef_)
                naive.append(law.naive_coef_)
                exact.append(GeneralizedLinearLaw(family, n_jobs=1).fit(z, y, **known).coef_)
                ends = law.conf_int()
                covered.append((ends[:, 0] < BETA) & (ends[:, 1] > BETA))
                if with_profile:
                    ends = law.conf_int(method="profile")
                    profile.append((ends[:, 0] < BETA) & (ends[:, 1] > BETA))

            def off(found: list[Array]) -> str:
                by = 100 * (np.mean(found, axis=0) / BETA - 1)
                return f"{by[0]:+6.1f} {by[1]:+6.1f}"

            shares = " ".join(f"{share:.3f}" for share in np.mean(covered, axis=0))
            more = " ".join(f"{share:.3f}" for share in np.mean(profile, axis=0)) if profile else ""
            print(
                f"{family:>18} {n:4d}  {off(laws)}  {off(exact)}  {off(naive)}  {shares}   {more}", flush=True
            )


def corrected(families: list[str], repeats: int, by: str, n: int, correlation: float) -> None:
    for family in families:
        found, covered, left_out = [], [], 0
        for seed in range(repeats):
            rng = np.random.default_rng((n, seed))
            z, X = features(rng, n, correlation)
            y, known = drawn(family, z @ BETA, rng)
            try:
                law = GeneralizedLinearLaw(family, bias_correction=by, n_jobs=1).fit(X, y, **known)
            except UncertainError:  # no end without some tenth of the rows
                left_out += 1
                continue
            plain = GeneralizedLinearLaw(family, bias_correction=None, n_jobs=1)
            laws = [clone(plain).fit(rows, y, **known) for rows in (X, z)]
            found.append([100 * (of.coef_ / BETA - 1) for of in (laws[0], law, laws[1])])
            ends = law.conf_int()
            covered.append((ends[:, 0] < BETA) & (ends[:, 1] > BETA))
        plain, own, exact = np.array(found).transpose(1, 0, 2)
        further = own - exact
        named = (("law", plain), ("corrected", own), ("true z", exact))
        texts = [f"{name} {of.mean(0).round(1)}" for name, of in named]
        error = further.std(axis=0) / np.sqrt(len(further))
        print(
            f"{family:>18} {n}  {', '.join(texts)}; beyond {further.mean(0).round(1)} +- {error.round(1)}; "
            f"covered {np.mean(covered, axis=0).round(3)}; {left_out} left out",
            flush=True,
        )


def timing() -> None:
    for n in (2_000, 200_000):
        rng = np.random.default_rng(0)
        z = rng.normal(size=(n, 4))
        std = np.exp(rng.normal(-0.5, 0.5, size=(n, 4)))
        X = GaussianArray(z + std * rng.normal(size=(n, 4)), std=std)
        y = rng.uniform(size=n) < 1 / (1 + np.exp(-z @ [1.0, -1.0, 0.5, 0.3]))
        best = []
        for _ in range(5 if n < 10_000 else 1):
            processor, clock = time.process_time(), time.perf_counter()
            GeneralizedLinearLaw().fit(X, y)
            best.append((time.process_time() - processor, time.perf_counter() - clock))
        print(f"{n:7d} x 4: {min(best)[0]:.3f} s of the processor, {min(best)[1]:.3f} s of the clock")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", nargs="*", default=["simulation", "time"])
    parser.add_argument("--repeats", type=int, default=500)
    parser.add_argument("--profile", action="store_true", help="intervals by the profile, too: slow")
    parser.add_argument("--plain", action="store_true", help="without bias_correction")
    parser.add_argument("--corrected", choices=["errors", "jackknife"], help="the bias that it leaves")
    parser.add_argument("--rows", type=int, default=300, help="with --corrected")
    parser.add_argument("--correlation", type=float, default=0.0, help="of the errors of a row")
    parser.add_argument("--families", nargs="+", choices=FAMILIES, default=FAMILIES)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    if "time" in arguments.what:
        timing()
    if arguments.corrected:
        given = (arguments.repeats, arguments.corrected, arguments.rows, arguments.correlation)
        corrected(arguments.families, *given)
    elif "simulation" in arguments.what:
        asked = {"with_profile": arguments.profile, "plain": arguments.plain}
        simulation(arguments.families, arguments.repeats, arguments.correlation, **asked)


if __name__ == "__main__":
    main()
