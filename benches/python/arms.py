"""Kepler's asymmetric arms: does their shape help beside their mean and variance?

    python benches/python/arms.py path/to/kepler_koi_cumulative.parquet

Confirmed planets against false positives, features with two arms each; log loss of held-out rows in
five folds, four times; shape - moments with its standard error over rows (negative: shape is better).
"""

from __future__ import annotations

import sys
import warnings

import numpy as np
import polars as pl
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline

from uncertain import GaussianDenoiser, GaussianDiscriminant, GaussianScaler, GSUClassifier
from uncertain.uncertainty import from_bounds

FEATURES = ["koi_prad", "koi_insol", "koi_steff", "koi_slogg", "koi_srad"]


def main() -> None:
    table = pl.read_parquet(sys.argv[1]).filter(
        pl.col("koi_disposition").is_in(["CONFIRMED", "FALSE POSITIVE"])
    )
    columns = [c for f in FEATURES for c in (f, f"{f}_err1", f"{f}_err2")]
    table = (
        table.drop_nulls(columns)
        .filter(pl.col("koi_prad") < 50, pl.col("koi_insol") < 1e5)
        .sample(2000, seed=0)
    )
    value = table.select(FEATURES).to_numpy()
    up = table.select(f"{f}_err1" for f in FEATURES).to_numpy()
    down = table.select(f"{f}_err2" for f in FEATURES).to_numpy()
    y = (table["koi_disposition"] == "CONFIRMED").to_numpy().astype(int)
    skewed = np.abs(up + down) > 0.1 * (up - down)
    print(
        f"{len(y)} rows; arms differ by more than 10 % in {100 * skewed.mean(axis=0).round(2)} % of", FEATURES
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rows = {
            rule: from_bounds(value + down, value + up, value=value, rule=rule)
            for rule in ("moments", "shape")
        }
    print("components per row:", len(rows["shape"].components) / len(y))
    models = {
        "discriminant": lambda: GaussianDiscriminant(shared_covariance=False),
        "gsu": lambda: make_pipeline(GaussianScaler(), GSUClassifier(probability=True, random_state=0)),
        "denoiser + gsu": lambda: make_pipeline(
            GaussianScaler(), GaussianDenoiser(), GSUClassifier(probability=True, random_state=0)
        ),
    }
    for name, make in models.items():
        losses = {rule: [] for rule in rows}
        for repeat in range(int(sys.argv[2]) if len(sys.argv) > 2 else 4):
            p = {rule: np.zeros(len(y)) for rule in rows}
            for train, test in StratifiedKFold(5, shuffle=True, random_state=repeat).split(value, y):
                for rule, X in rows.items():
                    p[rule][test] = make().fit(X[train], y[train]).predict_proba(X[test])[:, 1]
            for rule in rows:
                losses[rule].append(log_loss(y, p[rule]))
                each = -np.log(np.where(y == 1, p[rule], 1 - p[rule]).clip(1e-15))
                losses.setdefault(f"{rule} rows", []).append(each)
        each = np.mean(losses["shape rows"], axis=0) - np.mean(losses["moments rows"], axis=0)
        print(
            f"{name}: moments {np.mean(losses['moments']):.4f}, shape {np.mean(losses['shape']):.4f}, "
            f"difference {each.mean():+.4f} +- {each.std() / np.sqrt(len(each)):.4f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
