"""Do predicted deviations, intervals and sets hold? Coverage on rows that the model has not seen.

    python benches/python/coverage.py --data ../shared/data      # `Model.predict_distribution`
    python benches/python/coverage.py --conformal                # `predict_interval` and `predict_set`
    python benches/python/coverage.py --kepler                   # sets for Kepler's objects of interest
    python benches/python/coverage.py --larger                   # sets where errors are larger

Rows made here, of which everything is known; and the Pantheon+ supernovae (Scolnic et al. 2022, Brout et al.
2022, https://github.com/PantheonPlusSH0ES/DataRelease): the magnitude left over by the distance of the
redshift (flat, Omega_m 0.33) against stretch x1 and colour c, whole supernovae held out in 5 folds. A target
is measured to +- t there, so t is added to the deviation in quadrature.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import archive_tables as archive
import numpy as np
import polars as pl
from archive_tables import supernovae
from sklearn.model_selection import GroupKFold

import uncertain

SIGMAS = {"68.27 %": 1.0, "95.45 %": 2.0}


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


REGRESSIONS = ("gsu", "kernel", "huber", "mixture", "remeasured", "auto")
CLASSIFIERS = ("gsu", "kernel", "huber", "discriminant", "minimax", "usvc", "remeasured", "auto")


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
    print("| target | method | errors x 1 | of the best 30 % of rows | of the worst 30 % | errors x 2 | "
          "accuracy x 1, x 2 | width or size x 1, x 2 |")  # fmt: skip
    print("|---|---|---|---|---|---|---|---|")
    for classes, methods in ((False, REGRESSIONS), (True, CLASSIFIERS)):
        for method in methods:
            shares = []
            for seed in range(repeats):
                model = uncertain.fit(made(n, seed, classes=classes), target="y", method=method)
                row, sizes, scores = [], [], []
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
                    scores.append(model.score(test))
                shares.append(row + scores + sizes)
            mean = np.mean(shares, axis=0)
            held_ = " | ".join(f"{100 * share:.1f}" for share in mean[:4])
            accuracy = "" if not classes else f"{100 * mean[4]:.1f}, {100 * mean[5]:.1f}"
            target = "classes" if classes else "number"
            print(
                f"| {target} | {method} | {held_} | {accuracy} | {mean[6]:.2f}, {mean[7]:.2f} |", flush=True
            )


def kepler(folder: Path) -> None:
    """Print how often sets hold the truth for a third of the stars, with errors as they are and larger."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "papers"))
    import kepler_catalogue

    rows = kepler_catalogue.read(folder)
    stars = np.random.default_rng(0).permutation(np.unique(rows.star))
    held_out = np.isin(rows.star, stars[: len(stars) // 3])
    train, test = rows[~held_out], rows[held_out]
    print("| method | errors | accuracy | 90 % | 95 % | 98 % | size of sets |\n|---|---|---|---|---|---|---|")
    for method in ("discriminant", "gsu", "remeasured"):
        model = uncertain.fit(train.X, train.planet, method=method, meaning="measurement", groups=train.star)
        for factor in (1.0, 2.0, 4.0):
            new = test if factor == 1.0 else test.inflated(factor, np.random.default_rng(1))
            sets = [model.predict_set(new.X, coverage=share) for share in (0.9, 0.95, 0.98)]
            shares = [
                np.mean([truth in some for truth, some in zip(test.planet.tolist(), found, strict=True)])
                for found in sets
            ]
            sizes = ", ".join(f"{np.mean([len(some) for some in found]):.2f}" for found in sets)
            held_ = " | ".join(f"{100 * share:.1f}" for share in shares)
            right = 100 * np.mean(model.predict(new.X) == test.planet)
            print(f"| {method} | x {factor:g} | {right:.1f} | {held_} | {sizes} |", flush=True)


def larger(folder: Path, repeats: int) -> None:
    """Print how often sets hold the truth, errors x 1 to 8: models of 800 rows, or of 600 made here."""
    print("| rows | method | 90 %, errors x 1, 2, 4, 8 | 95 % | size of 95 % sets |\n|---|---|---|---|---|")
    factors, shares = (1.0, 2.0, 4.0, 8.0), (0.9, 0.95)
    catalogues = {"Kepler": archive.kepler, "TESS": archive.tess}
    for name in ("made", "skewed", *catalogues):
        for method in ("discriminant", "gsu", "remeasured"):
            found = []
            for seed in range(repeats):
                if name in catalogues:
                    table = catalogues[name](folder)
                    train, test = (table[rows] for rows in table.folds(3, seed)[0])
                    train = archive.cut(train, 800, seed)
                else:
                    train, test = (logarithmic(n, [seed, n], skewed=name == "skewed") for n in (600, 3_000))
                how = {} if method == "discriminant" else {"random_state": 0}
                how |= {"meaning": "measurement"} if method == "gsu" else {}
                model = uncertain.fit(train.rows(), train.y, groups=train.groups, method=method, **how)
                for factor in factors:
                    rows = test.worse(factor, int(100 * factor)).rows(train)
                    for share in shares:
                        sets = model.predict_set(rows, coverage=share)
                        inside = [truth in some for truth, some in zip(test.y.tolist(), sets, strict=True)]
                        found.append([np.mean(inside), np.mean([len(some) for some in sets])])
            mean = np.mean(np.reshape(found, (repeats, len(factors), len(shares), 2)), axis=0)
            texts = [" ".join(f"{100 * x:.1f}" for x in mean[:, k, 0]) for k in range(len(shares))]
            sizes = " ".join(f"{x:.2f}" for x in mean[:, 1, 1])
            print(f"| {name} | {method} | {texts[0]} | {texts[1]} | {sizes} |", flush=True)


def logarithmic(n: int, seed: list[int], *, skewed: bool) -> archive.Table:
    """Two classes of 3 features; or of their exponentials, in raw units, with relative errors."""
    random = np.random.default_rng(seed)
    z, std = random.normal(size=(n, 3)), random.uniform(0.05, 1.0, (n, 3))
    y = np.where(2.0 * z[:, 0] - z[:, 1] + 0.5 * z[:, 2] + 0.64 * random.normal(size=n) > 0.0, "yes", "no")
    if skewed:
        z = np.exp(1.2 * z)
        std = 0.5 * std * z + 0.02
    return archive.Table("made", z + std * random.normal(size=z.shape), std, std, y, np.arange(n))


def main() -> None:
    """Print coverage."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--conformal", action="store_true")
    parser.add_argument("--kepler", action="store_true")
    parser.add_argument("--larger", action="store_true")
    parser.add_argument("--rows", type=int, default=2_000)
    parser.add_argument("--repeats", type=int, default=5)
    given = parser.parse_args()
    if given.conformal:
        conformal(given.rows, given.repeats)
        return
    folder = given.data
    if given.larger:
        larger(folder, given.repeats)
        return
    if given.kepler:
        kepler(folder)
        return
    print(f"{'rows':<12}{'meaning':<14}{'1 sigma':>10}{'2 sigma':>12}{'1 sigma from errors':>22}")
    print(f"{'wanted':<26}{0.683:10.3f}{0.954:12.3f}")
    for meaning in ("spread", "measurement"):
        model = uncertain.fit(made(2_000, 0), target="y", meaning=meaning, method="gsu")
        shown("made", meaning, shares(model, made(50_000, 1), "y"))
    if not (folder / "pantheon_plus_supernovae.parquet").exists():
        return
    table = supernovae(folder)
    folds = list(GroupKFold(5, shuffle=True, random_state=0).split(table, groups=table["CID"]))
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
