"""Is `method="auto"` as good as the best of what it chooses from? On tables that the rules were not made on.

    python benches/python/choosing.py [--data ../shared/data] [--sizes 300 3000] [--seeds 3] [--only line ...]

Every table is split into training rows (so many) and at most 4,000 test rows, as often as there are seeds.
Test rows are read as they are, and with errors three times as large. Beside the choice, every method is
fitted to the same training rows, and scikit-learn's gradient boosting on means and error sizes, whose
learning rate, leaf size and number of trees a search in three folds has tuned. "Best" is the best method *on
the test rows*, which no choice can know: with 250 test rows the best of twelve is a point too good by luck.

Errors of the made tables are log-normal, half of their variance common to a row, half of each number's own.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray
from sklearn import datasets
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.model_selection import GridSearchCV
from threadpoolctl import threadpool_limits

import uncertain
from uncertain import ErrorColumns, GaussianArray
from uncertain.exceptions import UncertainError

Values = NDArray[Any]
TEST_ROWS = 4_000
CLASSES: dict[str, dict[str, Any]] = {
    **{
        f"gsu, {meaning}": {"method": "gsu", "meaning": meaning, "alpha": "auto"}
        for meaning in ("spread", "measurement")
    },
    **{
        f"discriminant, {'one covariance' if shared else 'several'}, {k}": {
            "method": "discriminant",
            "shared_covariance": shared,
            "n_components": k,
        }
        for shared, k in ((True, 1), (True, 2), (True, 4), (False, 1), (False, 2), (False, 4))
    },
    **{
        f"kernel, {meaning}": {"method": "kernel", "meaning": meaning, "C": "auto"}
        for meaning in ("spread", "measurement")
    },
    "remeasured": {"method": "remeasured"},
}
NUMBERS = {name: how for name, how in CLASSES.items() if "discriminant" not in name} | {
    f"mixture, {k}": {"method": "mixture", "n_components": k} for k in (1, 2, 4, 8, 16)
}
GRID = {"learning_rate": [0.03, 0.1], "min_samples_leaf": [5, 20], "max_iter": [100, 300]}


def read(truth: Values, random: np.random.Generator, size: float) -> GaussianArray:
    """Exact values read with known errors, typically `size` times the spread of each feature."""
    common, own = random.normal(size=(len(truth), 1)), random.normal(size=truth.shape)
    std = size * np.where(truth.std(axis=0) > 0, truth.std(axis=0), 1.0) * np.exp(0.5 * (common + own))
    return GaussianArray(truth + std * random.normal(size=truth.shape), std=std)


def worse(rows: GaussianArray, factor: float, random: np.random.Generator) -> GaussianArray:
    """The rows as read with errors so many times as large."""
    noise = rows.sample(1, int(random.integers(2**31))).means - rows.means
    return GaussianArray(rows.means + np.sqrt(factor**2 - 1) * noise, cov=factor**2 * rows.covariances())


def circles(folder: Path) -> tuple[Values, Values]:
    truth, y = datasets.make_circles(12_000, noise=0.1, factor=0.5, random_state=11)
    return np.hstack([truth, np.random.default_rng(1).normal(size=(12_000, 3))]), y


def hastie(folder: Path) -> tuple[Values, Values]:
    truth, y = datasets.make_hastie_10_2(12_000, random_state=12)
    return truth, (y > 0).astype(int)


def digits(folder: Path) -> tuple[Values, Values]:
    """Mean brightness of 4 x 4 blocks."""
    pixels, y = datasets.load_digits(return_X_y=True)
    return pixels.reshape(-1, 4, 2, 4, 2).mean(axis=(2, 4)).reshape(-1, 16), y


def blobs(folder: Path) -> tuple[Values, Values]:
    truth, y = datasets.make_blobs(12_000, 6, centers=9, cluster_std=4.0, random_state=13)
    return truth, y % 3


def line(folder: Path) -> tuple[Values, Values]:
    random = np.random.default_rng(14)
    truth = random.normal(size=(12_000, 6))
    return truth, (truth @ [1.0, 0.5, 0.25, 0, 0, 0] + 0.5 * random.normal(size=12_000) > 0).astype(int)


def mixed(folder: Path) -> tuple[Values, Values]:
    return datasets.make_classification(
        12_000, 12, n_informative=5, n_redundant=3, n_classes=4, n_clusters_per_class=2, random_state=15
    )


def friedman(folder: Path) -> tuple[Values, Values]:
    return datasets.make_friedman1(12_000, 8, noise=1.0, random_state=16)


def plane(folder: Path) -> tuple[Values, Values]:
    random = np.random.default_rng(17)
    truth = random.normal(size=(12_000, 4))
    return truth, truth @ [2.0, -1.0, 0.5, 0.0] + 0.5 * random.normal(size=12_000)


def stored(name: str, target: str) -> Callable[[Path], tuple[Values, Values]]:
    def load(folder: Path) -> tuple[Values, Values]:
        table = pl.read_parquet(folder / f"{name}.parquet")
        return table.drop(target).select(pl.selectors.numeric()).to_numpy(), table[target].to_numpy()

    return load


class Table(NamedTuple):
    """True values with targets, and the typical size of their errors."""

    load: Callable[[Path], tuple[Values, Values]]
    size: float
    regression: bool = False


TABLES = {
    "circles": Table(circles, 0.3),
    "shells (Hastie)": Table(hastie, 0.2),
    "blobs": Table(blobs, 0.3),
    "line": Table(line, 0.7),
    "mixed": Table(mixed, 0.4),
    "digits": Table(digits, 0.3),
    "biopsies": Table(lambda folder: datasets.load_breast_cancer(return_X_y=True), 0.7),
    "Friedman": Table(friedman, 0.3, regression=True),
    "plane": Table(plane, 0.7, regression=True),
    "diabetes": Table(lambda folder: datasets.load_diabetes(return_X_y=True), 0.4, regression=True),
    "airfoil": Table(stored("airfoil_self_noise", "sound_pressure_level_db"), 0.2, regression=True),
}


def kepler(folder: Path) -> tuple[GaussianArray, Values, Values] | None:
    """Rows with catalogued errors, what they are, and their stars."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "papers"))
    import kepler_catalogue

    if not (folder / "kepler_koi_cumulative.parquet").exists():
        return None
    rows = kepler_catalogue.read(folder)
    return rows.X, np.asarray(rows.planet).astype(int), rows.star


class Score(NamedTuple):
    """Accuracy in percent, or R2 in percent, of test rows as they are and three times worse; log loss."""

    plain: float
    poor: float
    loss: float = float("nan")


def score(model: Any, rows: GaussianArray, poor: GaussianArray, y: Values, regression: bool) -> Score:
    if regression:
        spread = np.mean((y - y.mean()) ** 2)
        return Score(*(100 * (1 - np.mean((model.predict(X) - y) ** 2) / spread) for X in (rows, poor)))
    classes = np.unique(y)
    given = np.full((len(y), len(classes)), 2.0**-52)
    given[:, np.searchsorted(classes, model.classes_)] = model.predict_proba(rows)
    loss = -np.log(np.maximum(given[np.arange(len(y)), np.searchsorted(classes, y)], 2.0**-52)).mean()
    return Score(*(100 * np.mean(model.predict(X) == y) for X in (rows, poor)), float(loss))


class Boosting:
    """Tuned gradient boosting on means and logarithms of error sizes."""

    def __init__(self, rows: GaussianArray, y: Values, regression: bool) -> None:
        kind = HistGradientBoostingRegressor if regression else HistGradientBoostingClassifier
        self.columns = ErrorColumns().fit(rows)
        scoring = "neg_mean_squared_error" if regression else "neg_log_loss"
        learner = kind(early_stopping=False, random_state=0)
        self.search = GridSearchCV(learner, GRID, cv=3, scoring=scoring).fit(self.columns.transform(rows), y)
        self.classes_ = getattr(self.search, "classes_", None)

    def predict(self, rows: GaussianArray) -> Values:
        return np.asarray(self.search.predict(self.columns.transform(rows)))

    def predict_proba(self, rows: GaussianArray) -> Values:
        return np.asarray(self.search.predict_proba(self.columns.transform(rows)))


class Line(NamedTuple):
    """One split of one table."""

    table: str
    n: int
    regression: bool
    auto: Score
    members: dict[str, Score]
    boosting: Score
    seconds: float
    chosen: str


def splits(arguments: argparse.Namespace) -> Iterator[tuple[str, bool, GaussianArray, Values, Values, int]]:
    """Rows in random order, and how many of them train."""
    for name, table in TABLES.items():
        if arguments.only and name not in arguments.only:
            continue
        try:
            truth, y = table.load(arguments.data)
        except FileNotFoundError:
            continue
        for n in arguments.sizes:
            if n > 0.75 * len(truth):
                continue
            for seed in range(arguments.seeds):
                random = np.random.default_rng([seed, n])
                order = random.permutation(len(truth))[: n + TEST_ROWS]
                yield name, table.regression, read(truth[order], random, table.size), y[order], order, n
    if not arguments.only or "Kepler" in arguments.only:
        found = kepler(arguments.data)
        for n in arguments.sizes if found is not None else ():
            for seed in range(arguments.seeds):
                X, y, star = found
                turn = np.random.default_rng([seed, n]).permutation(int(star.max()) + 1)[star]
                order = np.argsort(turn, kind="stable")  # whole stars
                yield "Kepler", False, X[order][: n + TEST_ROWS], y[order][: n + TEST_ROWS], star[order], n


def measured(name: str, regression: bool, X: GaussianArray, y: Values, star: Values, n: int) -> Line:
    """The choice, its members and the boosting, fitted to the first n rows and tested on the others."""
    poor = worse(X[n:], 3.0, np.random.default_rng(0))
    known: dict[str, Any] = {"groups": star[:n]} if name == "Kepler" else {}
    known["task"] = "regression" if regression else "classification"

    def of(model: Any) -> Score:
        return score(model, X[n:], poor, y[n:], regression)

    start = time.perf_counter()
    model = uncertain.fit(X[:n], y[:n], **known)
    seconds = time.perf_counter() - start
    members = {}
    for label, how in (NUMBERS if regression else CLASSES).items():
        try:
            members[label] = of(uncertain.fit(X[:n], y[:n], **known | how))
        except UncertainError:
            continue
    assert model._leaderboard is not None
    boosting = of(Boosting(X[:n], y[:n], regression))
    return Line(name, n, regression, of(model), members, boosting, seconds, model._leaderboard.chosen)


def table_of(lines: list[Line]) -> str:
    """Means over splits: the choice, and how far it is from the best member and from boosting."""
    head = [
        *("table", "rows", "`auto`", "best member", "to the best", "worst split", "boosting, columns"),
        *("to it", "to it, x 3", "log loss to the best", "seconds"),
    ]
    rows = [head, ["---"] * 2 + ["---:"] * (len(head) - 2)]
    for name, n in dict.fromkeys((line.table, line.n) for line in lines):
        some = [line for line in lines if (line.table, line.n) == (name, n)]
        best = [max(member.plain for member in line.members.values()) for line in some]
        gaps = [line.auto.plain - top for line, top in zip(some, best, strict=True)]
        losses = [line.auto.loss - min(m.loss for m in line.members.values()) for line in some]
        columns = [
            np.mean([line.auto.plain for line in some]),
            np.mean(best),
            np.mean(gaps),
            min(gaps),
            np.mean([line.boosting.plain for line in some]),
            np.mean([line.auto.plain - line.boosting.plain for line in some]),
            np.mean([line.auto.poor - line.boosting.poor for line in some]),
        ]
        texts = [f"{value:{'+' if k in (2, 3, 5, 6) else ''}.1f}" for k, value in enumerate(columns)]
        loss = "" if some[0].regression else f"{np.mean(losses):+.3f}"
        rows.append([name, f"{n:,}", *texts, loss, f"{np.mean([line.seconds for line in some]):.0f}"])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--sizes", type=int, nargs="+", default=[300, 3_000])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--only", nargs="*", default=[])
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    lines = []
    try:
        with threadpool_limits(1, "openmp"):
            for split in splits(arguments):
                lines.append(measured(*split))
                print(told(lines[-1]), flush=True)
    finally:  # what there is, if it is interrupted
        print(f"\n{table_of(lines)}")


def told(line: Line) -> str:
    """One split, as it is done."""
    best = max(line.members, key=lambda name: line.members[name].plain)
    return (
        f"{line.table} {line.n}: {line.auto.plain:.1f} ({line.chosen}), best "
        f"{line.members[best].plain:.1f} ({best}), boosting {line.boosting.plain:.1f}, {line.seconds:.0f} s"
    )


if __name__ == "__main__":
    main()
