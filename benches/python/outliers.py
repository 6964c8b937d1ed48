"""What outliers and shared errors do to laws: simulations, supernovae, and the cost of modes.

    python benches/python/outliers.py contamination [--sets 2000]
    python benches/python/outliers.py supernovae --data /path/to/data
    python benches/python/outliers.py modes

contamination: two features of errors .2 to .5, n = 200, and a share of targets 10 to 30 standard deviations
off. supernovae: Pantheon+ (Scolnic et al. 2022), magnitude residual against stretch and colour; 15 of 740
moved by 2 magnitudes; and all of them with a zero point for every large survey.
modes: 1,000,000 rows of 5 exact features with 20 shared errors, beside the fit without.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
from errors_in_both import pantheon

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
    import polars as pl

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
    # One row per supernova, as `pantheon` keeps them.
    table = pl.read_parquet(data / "pantheon_plus_supernovae.parquet").filter(pl.col("zHD") > 0.01)
    table = table.sort("mBERR").unique("CID", keep="first", maintain_order=True)
    survey = table["IDSURVEY"].to_numpy()
    survey = survey[: len(x)] if len(survey) == len(x) else None
    if survey is not None:
        names, counts = np.unique(survey, return_counts=True)
        large = names[counts >= 20]
        modes = 0.05 * (survey[:, None] == large)
        start = time.perf_counter()
        law = LinearLaw(outliers="student").fit(X, y, t, c, modes=modes)
        told(f"{len(large)} zero points, student", law)
        print(f"    {time.perf_counter() - start:.2f} s; zero points in mag:")
        for name, size, std in zip(large, 0.05 * law.modes_, 0.05 * law.modes_std_, strict=True):
            print(f"    survey {name:4} {size:+.3f} +- {std:.3f}")


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


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["contamination", "supernovae", "modes"])
    parser.add_argument("--sets", type=int, default=2000)
    parser.add_argument("--data", type=Path, default=Path("data"))
    asked = parser.parse_args()
    if asked.what == "contamination":
        contamination(asked.sets)
    elif asked.what == "supernovae":
        supernovae(asked.data)
    else:
        modes()
