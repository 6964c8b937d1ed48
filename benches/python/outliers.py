"""What outliers and shared errors do to laws: simulations, supernovae, and the cost of modes.

    python benches/python/outliers.py contamination [--sets 2000]
    python benches/python/outliers.py supernovae --data /path/to/data
    python benches/python/outliers.py student
    python benches/python/outliers.py degrees
    python benches/python/outliers.py modes
    python benches/python/outliers.py features [--sets 200]

contamination: two features of errors .2 to .5, n = 200, and a share of targets 10 to 30 standard deviations
off. supernovae: Pantheon+ (Scolnic et al. 2022), magnitude residual against stretch and colour; 15 of 740
moved by 2 magnitudes. student: is the bias of outliers="student" that of its model? 40,000 such rows.
degrees: slopes and scatter beside those of the same rows without outliers, with degrees of freedom given.
modes: 1,000,000 rows of 5 exact features with 20 shared errors, beside the fit without.
features: readings of two features that share calibration errors per survey, n = 300.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
from errors_in_both import Array, pantheon
from scipy import optimize, special, stats

from uncertain import GaussianArray
from uncertain.laws import LinearLaw

KINDS = (None, "mixture", "student")


def contamination(sets: int, n: int = 200) -> None:
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
            error = 100 * found.std(axis=0) / [1, 2] / np.sqrt(sets)
            covered = (np.abs(found - [1, 2]) < 1.96 * std).mean(axis=0)
            print(
                f"share {share:.1f} {kind!s:8} bias {mean.round(2)} +- {error.round(2)} %, "
                f"scatter {found.std(axis=0).round(4)}, covered {covered.round(3)}",
                flush=True,
            )


def supernovae(data: Path) -> None:
    x, y, C = pantheon(data)
    X, t, c = GaussianArray(x, cov=C[:, :2, :2]), np.sqrt(C[:, 2, 2]), C[:, :2, 2]

    def told(name: str, law: LinearLaw) -> None:
        slopes = "  ".join(f"{v:+.3f} +- {s:.3f}" for v, s in zip(law.coef_, law.coef_std_, strict=True))
        more = getattr(law, "outlier_law_", "")
        print(f"{name:34} {slopes}  scatter {law.scatter_:.3f}  {more}", flush=True)

    some = np.random.default_rng(0).permutation(len(x))[:740]
    moved = y[some].copy()
    moved[:15] += 2.0
    for kind in KINDS:
        told(f"740 as they are, {kind}", LinearLaw(outliers=kind).fit(X[some], y[some], t[some], c[some]))
    for kind in KINDS:
        law = LinearLaw(outliers=kind).fit(X[some], moved, t[some], c[some])
        told(f"15 moved by 2 mag, {kind}", law)
        if kind is not None:
            p = law.outlier_probability_
            print(f"    probability of the 15: {p[:15].mean():.3f}, of the others {p[15:].mean():.3f}")


def degrees(n: int = 20_000, sets: int = 4) -> None:
    """Would a bound of the degrees of freedom help? Slopes relative to those of the rows without outliers."""
    found: dict[str, list[list[float]]] = {}
    for seed in range(sets):
        rng = np.random.default_rng(seed)
        z, t, s = rng.normal(size=(n, 2)), rng.uniform(0.1, 0.3, n), rng.uniform(0.2, 0.5, (n, 2))
        width = np.hypot(0.2, t)
        y = 1 + z @ [1.0, 2.0] + width * rng.normal(size=n)
        bad = (rng.uniform(size=n) < 0.1) * width * rng.uniform(10, 30, n) * rng.choice([-1, 1], n)
        X = GaussianArray(z + s * rng.normal(size=(n, 2)), std=s)
        clean = LinearLaw().fit(X, y, y_std=t)
        laws = {"mixture": LinearLaw(outliers="mixture"), "student": LinearLaw(outliers="student")}
        given = (1.5, 2.0, 3.0, 4.0, 6.0)
        laws |= {f"student, {nu}": LinearLaw(outliers="student", degrees_of_freedom=nu) for nu in given}
        for name, law in laws.items():
            law.fit(X, y + bad, y_std=t)
            off = 100 * (law.coef_ / clean.coef_ - 1)
            found.setdefault(name, []).append([*off, law.scatter_, law.coef_std_[0] / clean.coef_std_[0]])
    for name, values in found.items():
        a, b, scatter, wider = np.mean(values, axis=0)
        about = f"scatter {scatter:.2f} (truth .2), errors {wider:.2f} times as large"
        print(f"{name:14} slopes {a:+.2f}, {b:+.2f} %, {about}", flush=True)


def student(n: int = 40_000) -> None:
    """Maximum likelihood of the model of outliers="student" by SciPy, with the true density of x."""
    rng = np.random.default_rng(0)
    z, t, s = rng.normal(size=(n, 2)), rng.uniform(0.1, 0.3, n), rng.uniform(0.2, 0.5, (n, 2))
    width = np.hypot(0.2, t)
    y = 1 + z @ [1.0, 2.0] + width * rng.normal(size=n)
    y += (rng.uniform(size=n) < 0.1) * width * rng.uniform(10, 30, n) * rng.choice([-1, 1], n)
    x = z + s * rng.normal(size=(n, 2))
    centre, left = x / (1 + s**2), s**2 / (1 + s**2)
    u = np.linspace(-9.0, 9.0, 121)

    def minus_log(params: Array) -> float:
        """With log g on a grid: y | x ~ N(a + b'm, g (scatter^2 + t^2) + b'Pb), nu / g ~ chi^2_nu."""
        nu, base = np.exp(params[4]), np.exp(2 * params[3]) + t**2
        mass = stats.invgamma.logpdf(np.exp(u), nu / 2, scale=nu / 2) + u
        squares, more = (y - params[0] - centre @ params[1:3]) ** 2, left @ params[1:3] ** 2
        density = np.zeros(n)
        for g, share in zip(np.exp(u), special.softmax(mass), strict=True):
            variance = g * base + more
            density += share * np.exp(-squares / variance / 2) / np.sqrt(variance)
        return -float(np.log(density).mean())

    start = [1.0, 1.0, 2.0, np.log(0.2), np.log(2.0)]
    found = optimize.minimize(minus_log, start, options={"gtol": 1e-6}).x
    bias = 100 * (found[1:3] / [1, 2] - 1)
    print(f"maximum likelihood by SciPy: bias {bias.round(1)} %, degrees of freedom {np.exp(found[4]):.2f}")
    law = LinearLaw(outliers="student").fit(GaussianArray(x, std=s), y, y_std=t)
    bias, std = 100 * (law.coef_ / [1, 2] - 1), 100 * law.coef_std_ / [1, 2]
    print(f"LinearLaw: bias {bias.round(1)} +- {std.round(1)} %, {law.outlier_law_}")


def modes(n: int = 1_000_000, d: int = 5, k: int = 20) -> None:
    rng = np.random.default_rng(0)
    x, t = rng.normal(size=(n, d)), rng.uniform(0.1, 0.3, size=n)
    M = 0.1 * rng.normal(size=(n, k))
    y = x @ np.arange(1, d + 1) + np.hypot(0.2, t) * rng.normal(size=n) + M @ rng.normal(size=k)
    for name, shared in (("without", None), (f"{k} modes", M)):
        start, own = time.perf_counter(), time.process_time()
        law = LinearLaw().fit(x, y, y_std=t, modes=shared)
        seconds = f"{time.perf_counter() - start:.1f} s, {time.process_time() - own:.1f} s of processor"
        print(f"{name:10} {seconds}  {law.coef_.round(4)} {law.status_}", flush=True)


def features(sets: int, n: int = 300) -> None:
    truth = np.array([1.0, -1.5])
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
            texts = (coef.mean(0).round(3), coef.std(0).round(3), std.mean(0).round(3), covered.mean(0))
            print(f"{k:2} surveys, modes {name:9}", *texts, flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "what", choices=["contamination", "supernovae", "student", "degrees", "modes", "features"]
    )
    parser.add_argument("--sets", type=int, default=2000)
    parser.add_argument("--data", type=Path, default=Path("data"))
    asked = parser.parse_args()
    if asked.what == "contamination":
        contamination(asked.sets)
    elif asked.what == "supernovae":
        supernovae(asked.data)
    elif asked.what == "student":
        student()
    elif asked.what == "degrees":
        degrees()
    elif asked.what == "features":
        features(asked.sets)
    else:
        modes()
