"""Lines with errors in x and y: bias, coverage and intervals of `LinearLaw`, and other methods beside it.

    python benches/python/errors_in_both.py simulation
    python benches/python/errors_in_both.py intervals
    python benches/python/errors_in_both.py supernovae [--data FOLDER]

- simulation: bias of slopes, intercept and scatter, and coverage of their intervals, 50 to 5,000 rows.
- intervals: coverage of 95 % intervals of one slope by standard errors and by the profile, few rows.
- supernovae: Pantheon+, magnitude residual against stretch and colour with 3 x 3 covariances per row, beside
  least squares, orthogonal distances (odrpack where it is installed, else scipy.odr), linmix (Kelly 2007,
  Gibbs sampling, three Gaussians) and the structural likelihood maximised by SciPy alone.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.integrate import quad
from scipy.optimize import minimize
from scipy.stats import norm

from uncertain import (
    GaussianArray,
    GaussianMixtureRegressor,
)

Array = Any
Fit = Callable[[Array, Array, Array], tuple[Array, Array]]
"""Rows x, targets y and (n, d + 1, d + 1) covariances to (slopes, intercept, scatter) and standard errors."""

INTERCEPT = 1.0


def readings(
    rng: np.random.Generator, n: int, scatter: float = 0.5, noise: float = 0.4
) -> tuple[Array, Array, Array, Array]:
    """Two correlated features of variance 1, lognormal sizes of errors, correlations of 0.4 between them."""
    beta, d = np.array([2.0, -1.0]), 2
    z = rng.multivariate_normal(np.zeros(d), 0.3 + 0.7 * np.eye(d), size=n) + 2.0
    y = INTERCEPT + z @ beta + scatter * rng.normal(size=n)
    sizes = np.exp(0.4 * rng.normal(size=(n, d + 1))) * np.r_[np.full(d, noise), 0.3]
    C = sizes[:, :, None] * (0.4 + 0.6 * np.eye(d + 1)) * sizes[:, None, :]
    e = np.einsum("nij,nj->ni", np.linalg.cholesky(C), rng.normal(size=(n, d + 1)))
    return z + e[:, :d], y + e[:, d], C, beta


def ours(x: Array, y: Array, C: Array) -> tuple[Array, Array]:
    """`GaussianMixtureRegressor` of one component."""
    d = x.shape[1]
    X = GaussianArray(x, cov=C[:, :d, :d])
    model = GaussianMixtureRegressor().fit(X, y, np.sqrt(C[:, d, d]), C[:, :d, d])
    found = np.r_[model.coef_, model.intercept_, model.intrinsic_scatter_]
    return found, np.r_[model.coef_std_, model.intercept_std_, model.intrinsic_scatter_std_]


def least_squares(x: Array, y: Array, C: Array) -> tuple[Array, Array]:
    """Of the readings."""
    A = np.c_[x, np.ones(len(x))]
    beta, rss, *_ = np.linalg.lstsq(A, y, rcond=None)
    variance = rss[0] / (len(x) - A.shape[1])
    return beta, np.sqrt(np.diag(variance * np.linalg.inv(A.T @ A)))


def orthogonal(x: Array, y: Array, C: Array) -> tuple[Array, Array]:
    """Orthogonal distance regression: no covariances with the target, and no scatter."""
    d = x.shape[1]
    start = least_squares(x, y, C)[0]
    weights = np.linalg.inv(C[:, :d, :d])
    try:
        from odrpack import odr_fit  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            from scipy import odr
        data = odr.Data(x.T, y, we=1 / C[:, d, d], wd=np.moveaxis(weights, 0, 2))
        model = odr.Model(lambda p, x: p[:-1] @ x + p[-1])
        found = odr.ODR(data, model, beta0=start, maxit=500).run()
        return found.beta, found.sd_beta
    found = odr_fit(
        lambda x, p: p[:-1] @ x + p[-1], x.T, y, start,
        weight_x=np.moveaxis(weights, 0, 2), weight_y=1 / C[:, d, d], maxit=500,
    )  # fmt: skip
    return found.beta, found.sd_beta


def structural(x: Array, y: Array, C: Array) -> tuple[Array, Array]:
    """The marginal likelihood of slopes, intercept, scatter, mu_x and T_xx, by SciPy alone."""
    d, u = x.shape[1], np.c_[x, y]

    def joint(p: Array) -> tuple[Array, Array]:
        beta, alpha, mu = p[:d], p[d], p[d + 2 : 2 * d + 2]
        L = np.zeros((d, d))
        L[np.tril_indices(d)] = p[2 * d + 2 :]
        T = L @ L.T
        cross = T @ beta
        of_target = np.array([[beta @ cross + p[d + 1] ** 2]])
        return np.r_[mu, alpha + beta @ mu], np.block([[T, cross[:, None]], [cross[None], of_target]])

    def loss(p: Array) -> float:
        mean, T = joint(p)
        V, r = T + C, u - mean
        solved = np.linalg.solve(V, r[..., None])[..., 0]
        return float(0.5 * np.sum(np.linalg.slogdet(V)[1] + np.einsum("ni,ni->n", r, solved)))

    root = np.linalg.cholesky(np.cov(x.T).reshape(d, d))
    start = np.r_[least_squares(x, y, C)[0], 0.3 * y.std(), x.mean(axis=0), root[np.tril_indices(d)]]
    best = minimize(loss, start, method="BFGS", options={"gtol": 1e-5 * len(x)}).x
    h = 1e-4 * np.maximum(np.abs(best), 0.05)
    steps, q = np.diag(h), len(best)
    hessian = np.empty((q, q))
    for i in range(q):
        for j in range(q):
            a, b = steps[i], steps[j]
            around = loss(best + a + b) - loss(best + a - b) - loss(best - a + b) + loss(best - a - b)
            hessian[i, j] = around / (4 * h[i] * h[j])
    errors = np.sqrt(np.diag(np.linalg.inv(hessian)))
    best[d + 1] = abs(best[d + 1])
    return best[: d + 2], errors[: d + 2]


def linmix(
    x: Array, y: Array, C: Array, k: int = 3, steps: int = 3000, burn: int = 1000
) -> tuple[Array, Array]:
    """Kelly's model by Gibbs sampling: posterior means and standard deviations."""
    rng = np.random.default_rng(0)
    n, d = x.shape
    u = np.c_[x, y]
    law = np.r_[least_squares(x, y, C)[0], y.std()]
    means = x[rng.choice(n, k, replace=False)]
    T = np.repeat(np.cov(x.T).reshape(1, d, d), k, axis=0)
    of, shares, prior = rng.integers(0, k, n), np.full(k, 1 / k), 0.1 * np.cov(x.T).reshape(d, d)
    kept = []
    for step in range(steps):
        beta, alpha, s = law[:d], law[d], law[d + 1]
        cross = T @ beta
        S = np.concatenate([np.concatenate([T, cross[:, :, None]], 2), np.concatenate(
            [cross, (np.einsum("kd,d->k", cross, beta) + s**2)[:, None]], 1)[:, None, :]], 1)  # fmt: skip
        m = np.c_[means, means @ beta + alpha]
        gain = np.linalg.solve(S[of] + C, S[of]).swapaxes(1, 2)
        centre = m[of] + np.einsum("nij,nj->ni", gain, u - m[of])
        cov = S[of] - gain @ S[of]
        cov = 0.5 * (cov + cov.swapaxes(1, 2)) + 1e-12 * np.eye(d + 1) * np.trace(S[0])
        t = centre + np.einsum("nij,nj->ni", np.linalg.cholesky(cov), rng.normal(size=(n, d + 1)))
        z, eta = t[:, :d], t[:, d]
        logs = np.stack([
            np.log(shares[j]) - 0.5 * np.linalg.slogdet(T[j])[1]
            - 0.5 * np.einsum("ni,ij,nj->n", z - means[j], np.linalg.inv(T[j]), z - means[j])
            for j in range(k)
        ], 1)  # fmt: skip
        of = np.argmax(logs + rng.gumbel(size=logs.shape), axis=1)
        count = np.bincount(of, minlength=k)
        shares = rng.dirichlet(1 + count)
        for j in range(k):
            own = z[of == j]
            scale = prior + (own - means[j]).T @ (own - means[j])
            root = np.linalg.cholesky(np.linalg.inv(scale))
            draws = rng.normal(size=(count[j] + d + 1, d)) @ root.T
            T[j] = np.linalg.inv(draws.T @ draws)
            precision = np.linalg.inv(np.cov(x.T).reshape(d, d)) / 4
            V = np.linalg.inv(precision + count[j] * np.linalg.inv(T[j]))
            b = precision @ x.mean(axis=0) + np.linalg.inv(T[j]) @ own.sum(axis=0)
            means[j] = rng.multivariate_normal(V @ b, V)
        A = np.c_[z, np.ones(n)]
        best, rss, *_ = np.linalg.lstsq(A, eta, rcond=None)
        s = np.sqrt(rss[0] / rng.chisquare(n - d - 3))
        law = np.r_[rng.multivariate_normal(best, s**2 * np.linalg.inv(A.T @ A)), s]
        if step >= burn:
            kept.append(law)
    return np.mean(kept, axis=0), np.std(kept, axis=0)


PEERS: dict[str, Fit] = {
    "least squares": least_squares,
    "orthogonal distance regression": orthogonal,
    "linmix (Kelly 2007), 3,000 steps": linmix,
    "the joint likelihood of x and y, maximised by SciPy": structural,
    "`LinearLaw`": ours,
}


def simulation() -> None:
    """Bias in percent of the truth, and coverage of one and two standard errors."""
    print("| rows | bias of the slopes | of the scatter | 68.3 % intervals, slopes | "
          "95 % intervals, slopes | scatter |")  # fmt: skip
    print("|---:|---:|---:|---:|---:|---:|")
    for n, samples in ((50, 10_000), (100, 5_000), (300, 3_000), (1000, 2_000), (5000, 4_000)):
        rng = np.random.default_rng(n)
        found, errors = [], []
        for _ in range(samples):
            x, y, C, beta = readings(rng, n)
            law, std = ours(x, y, C)
            found.append(law)
            errors.append(std)
        truth = np.r_[beta, INTERCEPT, 0.5]
        off, std = np.array(found) - truth, np.array(errors)
        bias, se = 100 * off.mean(0) / truth, 100 * off.std(0) / np.abs(truth) / np.sqrt(samples)
        z = np.abs(off / std)
        told = [f"{b:+.2f} ± {s:.2f}" for b, s in zip(bias, se, strict=True)]
        one, two = (100 * (z < edge).mean(0) for edge in (1.0, norm.ppf(0.975)))
        shares = f"{one[0]:.1f}, {one[1]:.1f} | {two[0]:.1f}, {two[1]:.1f} | {two[3]:.1f}"
        print(f"| {n} | {told[0]}, {told[1]} | {told[3]} | {shares} |", flush=True)


def intervals(samples: int = 2000) -> None:
    """Per cent of 95 % intervals of the slope 2 that cover it, and of those wholly below and above it."""
    print("rows  errors of x   wald: covers, below, above    profile: covers, below, above    no interval")
    for n, size in ((8, 0.1), (8, 0.4), (15, 0.1), (15, 0.4), (15, 0.8), (30, 0.4), (30, 0.8), (100, 0.8)):
        rng = np.random.default_rng(n)
        counts, none = np.zeros((2, 3)), 0
        for _ in range(samples):
            z, s, t = rng.normal(size=n), size * rng.uniform(0.5, 1.5, n), rng.uniform(0.1, 0.3, n)
            y = INTERCEPT + 2 * z + np.hypot(0.5, t) * rng.normal(size=n)
            X = GaussianArray((z + s * rng.normal(size=n))[:, None], std=s[:, None])
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                law = GaussianMixtureRegressor().fit(X, y, y_std=t)
            if not hasattr(law, "coef_std_"):
                none += 1
                continue
            for k, method in enumerate(("wald", "profile")):
                low, high = law.conf_int(method=method)[0]
                counts[k] += low < 2 < high, high < 2, low > 2
        shares = 100 * counts / (samples - none)
        told = "    ".join("  ".join(f"{share:5.1f}" for share in row) for row in shares)
        print(f"{n:4}  {size:11}   {told}    {none}", flush=True)


def pantheon(path: Path) -> tuple[Array, Array, Array]:
    """(x1, c), mB less a distance modulus (flat, Omega_m = 0.33), and covariances; a row per supernova."""
    import polars as pl

    t = pl.read_parquet(path / "pantheon_plus_supernovae.parquet").filter(pl.col("zHD") > 0.01)
    t = t.sort("mBERR").unique("CID", keep="first", maintain_order=True)
    z = t["zHD"].to_numpy()
    distance = np.array([quad(lambda a: 1 / np.sqrt(0.33 * (1 + a) ** 3 + 0.67), 0, to)[0] for to in z])
    modulus = 5 * np.log10((1 + t["zHEL"].to_numpy()) * distance * 299792.458 / 70) + 25
    a = -2.5 / np.log(10) / t["x0"].to_numpy()  # d mB / d x0
    C = np.empty((len(t), 3, 3))
    C[:, 0, 0], C[:, 1, 1] = t["x1ERR"] ** 2, t["cERR"] ** 2
    C[:, 0, 1] = C[:, 1, 0] = t["COV_x1_c"]
    C[:, 0, 2] = C[:, 2, 0] = a * t["COV_x1_x0"].to_numpy()
    C[:, 1, 2] = C[:, 2, 1] = a * t["COV_c_x0"].to_numpy()
    of_redshift = 5 / np.log(10) * t["zHDERR"].to_numpy() / z
    C[:, 2, 2] = (a * t["x0ERR"].to_numpy()) ** 2 + of_redshift**2
    fine = np.linalg.eigvalsh(C)[:, 0] >= 0  # the published covariances of a few rows are no matrices
    return t.select("x1", "c").to_numpy()[fine], (t["mB"].to_numpy() - modulus)[fine], C[fine]


def supernovae(data: Path) -> None:
    """Slopes of stretch and colour (published 0.15 and 3.1; the sign of stretch is that of the magnitude)."""
    x, y, C = pantheon(data)
    print(f"{len(x)} supernovae\n\n| | stretch | colour | scatter | seconds |\n|---|---:|---:|---:|---:|")
    for name, fit in PEERS.items():
        start = time.perf_counter()
        law, errors = fit(x, y, C)
        seconds = time.perf_counter() - start
        told = [f"{v:.3f} ± {s:.3f}" for v, s in zip(law, errors, strict=True)] + [""]
        print(f"| {name} | {told[0]} | {told[1]} | {told[3]} | {seconds:.2f} |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("part", choices=("simulation", "intervals", "supernovae"))
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    arguments = parser.parse_args()
    if arguments.part == "supernovae":
        supernovae(arguments.data)
    else:
        {"simulation": simulation, "intervals": intervals}[arguments.part]()
