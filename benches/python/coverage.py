"""Does a predicted standard deviation hold? Coverage of `Model.predict_distribution` on held-out rows.

    python benches/python/coverage.py --data ../shared/data

Rows made here, of which everything is known; and the Pantheon+ supernovae (Scolnic et al. 2022, Brout et al.
2022, https://github.com/PantheonPlusSH0ES/DataRelease): the magnitude left over by the distance of the
redshift (flat, Omega_m 0.33) against stretch x1 and colour c, whole supernovae held out in 5 folds. A target
is measured to +- t there, so t is added to the deviation in quadrature.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import polars as pl

import uncertain
from uncertain.tables._groups import Groups, groups_from

SIGMAS = {"68.27 %": 1.0, "95.45 %": 2.0}


def made(n: int, seed: int) -> pl.DataFrame:
    """y = 2 a - b + c / 2 + noise of 0.4, of readings with errors between 0.05 and 1."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(n, 3))
    errors = rng.uniform(0.05, 1.0, size=z.shape)
    x = z + errors * rng.normal(size=z.shape)
    y = z @ [2.0, -1.0, 0.5] + 0.4 * rng.normal(size=n)
    columns = {name: x[:, j] for j, name in enumerate("abc")}
    columns |= {f"{name}_err": errors[:, j] for j, name in enumerate("abc")}
    return pl.DataFrame(columns | {"y": y})


def supernovae(folder: Path) -> pl.DataFrame:
    """Magnitude without the distance modulus, stretch and colour, with their error bars."""
    table = pl.read_parquet(folder / "pantheon_plus_supernovae.parquet").filter(pl.col("zHD") > 0.01)
    z = table["zHD"].to_numpy()
    grid = np.linspace(0.0, z.max(), 20_000)
    per_hubble = np.cumsum(1 / np.sqrt(0.33 * (1 + grid) ** 3 + 0.67)) * grid[1]
    distance = 5 * np.log10((1 + z) * np.interp(z, grid, per_hubble))
    # The redshift's own error moves the distance modulus by about 5 / ln 10 dz / z.
    error = np.hypot(table["mBERR"].to_numpy(), 5 / np.log(10) * table["zHDERR"].to_numpy() / z)
    names = {"CID": "CID", "x1": "x1", "x1ERR": "x1_err", "c": "c", "cERR": "c_err"}
    left = table.select(pl.col(name).alias(alias) for name, alias in names.items())
    return left.with_columns(pl.Series("m", table["mB"].to_numpy() - distance), pl.Series("m_err", error))


def shares(model: uncertain.Model, table: pl.DataFrame, target: str) -> list[np.ndarray]:
    """Whether each target is within one and two standard deviations, and within the row's part of one."""
    predicted = model.predict_distribution(table)
    off = np.abs(table[target].to_numpy() - predicted[target].to_numpy())
    own = table[f"{target}_err"].to_numpy() if f"{target}_err" in table.columns else 0.0
    whole = np.hypot(predicted[f"{target}_std"].to_numpy(), own)
    return [
        *(off < k * whole for k in SIGMAS.values()),
        off < predicted[f"{target}_std_from_errors"].to_numpy(),
    ]


def shown(name: str, meaning: str, found: list[np.ndarray]) -> None:
    """One line of the table."""
    one, two, errors = (float(np.mean(share)) for share in found)
    print(f"{name:<12}{meaning:<14}{one:10.3f}{two:12.3f}{errors:22.3f}")


def main() -> None:
    """Print coverage."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    folder = parser.parse_args().data
    print(f"{'rows':<12}{'meaning':<14}{'1 sigma':>10}{'2 sigma':>12}{'1 sigma from errors':>22}")
    print(f"{'wanted':<26}{0.683:10.3f}{0.954:12.3f}")
    for meaning in ("spread", "measurement"):
        model = uncertain.fit(made(2_000, 0), target="y", meaning=meaning, method="gsu")
        shown("made", meaning, shares(model, made(50_000, 1), "y"))
    if not (folder / "pantheon_plus_supernovae.parquet").exists():
        return
    table = supernovae(folder)
    folds = Groups(groups_from(table["CID"], "CID", len(table))).splits(5, 1, 0)
    for meaning in ("spread", "measurement"):
        found = []
        for train, test in folds:
            model = uncertain.fit(table[train], target="m", groups="CID", meaning=meaning, method="gsu")
            found.append(shares(model, table[test], "m"))
        shown("supernovae", meaning, [np.concatenate(part) for part in zip(*found, strict=True)])
    whole = uncertain.fit(table, target="m", groups="CID", meaning="measurement", scale=False, method="gsu")
    print(
        f"supernovae, measurement: slopes {whole.pipeline_[-1].coef_}, scatter {whole.residual_std_:.3f} mag"
    )


if __name__ == "__main__":
    main()
