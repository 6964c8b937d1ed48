"""The tutorial's catalogue (Kepler, 809 objects) over several splits of its stars.

Accuracy in % and log loss at test errors x 1, 2, 4.

    python benches/python/tutorial_splits.py [--splits 6]
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np
import polars as pl

import uncertain
from uncertain.demo import kepler

FACTORS, DRAWS = (1, 2, 4), 3


def worse(table: pl.DataFrame, k: float, rng: np.random.Generator) -> pl.DataFrame:
    """The same objects measured with errors k times as large."""
    out = {}
    for name in (name for name in table.columns if f"{name}_err1" in table.columns):
        value, up, down = (table[name + end].to_numpy() for end in ("", "_err1", "_err2"))
        noise = np.sqrt(k**2 - 1) * (up - down) / 2 * rng.standard_normal(len(table))
        out |= {name: value + np.nan_to_num(noise), name + "_err1": k * up, name + "_err2": k * down}
    return table.with_columns(pl.Series(name, values) for name, values in out.items())


def scores(model: uncertain.Model, table: pl.DataFrame) -> tuple[float, float]:
    """Accuracy and log loss."""
    is_planet = (table["koi_disposition"] == "CONFIRMED").to_numpy()
    p = model.predict_proba(table)["CONFIRMED"].to_numpy()
    truth = np.where(is_planet, p, 1.0 - p)
    return 100.0 * float((truth > 0.5).mean()), float(-np.log(np.maximum(truth, 1e-15)).mean())


def main() -> None:
    """Print a line for each split, and the means."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--splits", type=int, default=6)
    splits = parser.parse_args().splits
    warnings.simplefilter("ignore")
    objects, means = kepler(), []
    for seed in range(splits):
        stars = objects["kepid"].unique().sort().sample(fraction=0.6, seed=seed, shuffle=True).implode()
        known, new = (
            objects.filter(pl.col("kepid").is_in(stars)),
            objects.filter(~pl.col("kepid").is_in(stars)),
        )
        tests = [[worse(new, k, np.random.default_rng(draw)) for draw in range(DRAWS)] for k in FACTORS]
        model = uncertain.fit(known, "koi_disposition", groups="kepid")
        means.append(np.transpose([np.mean([scores(model, t) for t in draws], axis=0) for draws in tests]))
        print(seed, np.round(means[-1], 3).tolist(), flush=True)
    print("mean", np.round(np.mean(means, axis=0), 3).tolist())


if __name__ == "__main__":
    main()
