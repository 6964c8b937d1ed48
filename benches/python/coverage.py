"""Coverage of `predict_interval` and `predict_set` at 90 % on new rows, by noise level.

python benches/python/coverage.py [--rows 2000] [--repeats 4]
"""

from __future__ import annotations

import argparse

import numpy as np
import polars as pl

import uncertain


def made(n: int, seed: int, factor: float = 1.0, *, classes: bool = False) -> pl.DataFrame:
    """y = 2 a - b + c / 2 + noise of 0.4, of readings with errors between 0.05 and 1 times the factor.

    Or two classes of it: is y + noise of 0.5 positive?
    """
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(n, 3))
    errors = factor * rng.uniform(0.05, 1.0, size=z.shape)
    x = z + errors * rng.normal(size=z.shape)
    y = z @ [2.0, -1.0, 0.5] + 0.4 * rng.normal(size=n)
    if classes:
        y = np.where(y + 0.5 * rng.normal(size=n) > 0.0, "yes", "no")
    columns = {name: x[:, j] for j, name in enumerate("abc")}
    columns |= {f"{name}_err": errors[:, j] for j, name in enumerate("abc")}
    return pl.DataFrame(columns | {"y": y})


REGRESSIONS = ("gsu", "kernel", "mixture", "remeasured")
CLASSIFIERS = ("gsu", "kernel", "discriminant", "remeasured")


def held(model: uncertain.Model, table: pl.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Whether each answer at 90 % holds the truth; and how wide the interval, or large the set, is."""
    if model.is_regression_:
        ends = model.predict_interval(table)
        inside = (ends["y_lower"] <= table["y"]) & (table["y"] <= ends["y_upper"])
        return inside.to_numpy(), (ends["y_upper"] - ends["y_lower"]).to_numpy()
    sets = model.predict_set(table).to_list()
    inside = [truth in some for truth, some in zip(table["y"], sets, strict=True)]
    return np.array(inside), np.array([len(some) for some in sets])


def conformal(n: int, repeats: int) -> None:
    """Print how often intervals and sets at 90 % hold the truth, by noise."""
    print("| target | method | errors as trained | the best 30 % of rows | the worst 30 % | "
          "errors twice as large | mean width or size, as trained, twice |")  # fmt: skip
    print("|---|---|---|---|---|---|---|")
    for classes, methods in ((False, REGRESSIONS), (True, CLASSIFIERS)):
        for method in methods:
            shares = []
            for seed in range(repeats):
                model = uncertain.fit(made(n, seed, classes=classes), target="y", method=method)
                row, sizes = [], []
                for factor in (1.0, 2.0):
                    test = made(5_000, 100 + seed, factor, classes=classes)
                    inside, size = held(model, test)
                    noise = sum(
                        w * test[f"{f}_err"].to_numpy() ** 2 for f, w in zip("abc", (4, 1, 0.25), strict=True)
                    )
                    low, high = np.quantile(noise, [0.3, 0.7])
                    row.append(inside.mean())
                    if factor == 1.0:
                        row += [inside[noise < low].mean(), inside[noise > high].mean()]
                    sizes.append(size.mean())
                shares.append(row + sizes)
            mean = np.mean(shares, axis=0)
            held_ = " | ".join(f"{100 * share:.1f}" for share in mean[:4])
            target = "classes" if classes else "number"
            print(f"| {target} | {method} | {held_} | {mean[4]:.2f}, {mean[5]:.2f} |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=2_000)
    parser.add_argument("--repeats", type=int, default=4)
    arguments = parser.parse_args()
    conformal(arguments.rows, arguments.repeats)
