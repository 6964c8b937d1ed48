"""Supernovae with outliers, scatter and a zero point for each survey: for docs/papers/supernovae.md.

OMP_NUM_THREADS=1 python benches/papers/supernovae.py --data FOLDER [--picture FILE]

FOLDER holds pantheon_plus_supernovae.parquet: the columns of Pantheon+SH0ES.dat of
https://github.com/PantheonPlusSH0ES/DataRelease.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
import polars as pl
from scipy.integrate import quad

import uncertain
from uncertain.plot import LawDisplay

PRIOR = 0.1
"""Standard deviation of a survey's zero point, in magnitudes."""
LEAST = 20
"""A survey of fewer supernovae has no zero point of its own."""


def catalogue(folder: Path) -> pl.DataFrame:
    """One row each: stretch, colour, magnitude less a distance modulus, their errors, zero points."""
    t = pl.read_parquet(folder / "pantheon_plus_supernovae.parquet").filter(pl.col("zHD") > 0.01)
    t = t.sort("mBERR").unique("CID", keep="first", maintain_order=True)
    z = t["zHD"].to_numpy()
    distance = np.array([quad(lambda a: 1 / np.sqrt(0.33 * (1 + a) ** 3 + 0.67), 0, to)[0] for to in z])
    modulus = 5 * np.log10((1 + t["zHEL"].to_numpy()) * distance * 299792.458 / 70) + 25
    by_flux = -2.5 / np.log(10) / t["x0"].to_numpy()  # d mB / d x0
    of_redshift = 5 / np.log(10) * t["zHDERR"].to_numpy() / z
    table = t.select(
        "x1", "c", stretch_err="x1ERR", colour_err="cERR", cov_stretch_colour="COV_x1_c", survey="IDSURVEY"
    ).rename({"x1": "stretch", "c": "colour"})
    table = table.with_columns(
        magnitude=t["mB"].to_numpy() - modulus,
        magnitude_err=np.hypot(by_flux * t["x0ERR"].to_numpy(), of_redshift),
        cov_stretch_magnitude=by_flux * t["COV_x1_x0"].to_numpy(),
        cov_colour_magnitude=by_flux * t["COV_c_x0"].to_numpy(),
    )
    stds = table["stretch_err", "colour_err", "magnitude_err"].to_numpy()
    C = np.einsum("ni,ij->nij", stds**2, np.eye(3))
    for (i, j), name in {
        (0, 1): "stretch_colour",
        (0, 2): "stretch_magnitude",
        (1, 2): "colour_magnitude",
    }.items():
        C[:, i, j] = C[:, j, i] = table[f"cov_{name}"].to_numpy()
    fine = np.linalg.eigvalsh(C)[:, 0] >= 0  # the published covariances of a few rows are no matrices
    table = table.filter(pl.Series(fine))
    surveys = table["survey"].value_counts().filter(pl.col("count") >= LEAST)["survey"].sort().to_list()
    return table.with_columns(**{f"zero_point_{k}": PRIOR * (pl.col("survey") == k) for k in surveys})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--picture", type=Path)
    asked = parser.parse_args()
    table = catalogue(asked.data)
    zero_points = [name for name in table.columns if name.startswith("zero_point_")]
    print(f"{len(table)} supernovae, {len(zero_points)} surveys of {LEAST} or more")
    for outliers, modes in ((None, None), (None, zero_points), ("student", None), ("student", zero_points)):
        start = time.process_time()
        model = uncertain.fit(
            table,
            target="magnitude",
            features=["stretch", "colour"],
            method="law",
            outliers=outliers,
            modes=modes,
        )
        seconds = time.process_time() - start
        law = model.pipeline_[-1]
        slopes = " | ".join(
            f"{b:+.4f} ± {s:.4f}" for b, s in zip(model.coef_[0], model.coef_std_[0], strict=True)
        )
        print(
            f"| {outliers} | {'yes' if modes else 'no'} | {slopes} | {law.scatter_:.3f} | {seconds:.2f} s |"
        )
    print(model.summary())
    print(f"{(law.outlier_probability_ > 0.5).sum()} outliers")
    print("\n| survey | supernovae | zero point, mag |\n|---:|---:|---:|")
    for name, a, std in zip(zero_points, law.modes_, law.modes_std_, strict=True):
        count = int((table[name] > 0).sum())
        print(f"| {name.removeprefix('zero_point_')} | {count} | {PRIOR * a:+.3f} ± {PRIOR * std:.3f} |")
    if asked.picture is not None:
        display = LawDisplay.from_estimator(model, table, feature="colour")
        display.ax_.invert_yaxis()
        display.residual_ax_.invert_yaxis()
        display.figure_.savefig(asked.picture, dpi=100)


if __name__ == "__main__":
    main()
