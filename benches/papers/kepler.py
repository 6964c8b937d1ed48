"""Planets against false positives from Kepler's quantities and their errors: for docs/papers/kepler.md.

python benches/papers/kepler.py [--data FOLDER] [--quick]
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import page
from kepler_catalogue import Catalogue, read
from kepler_models import CANDIDATES, Candidate, some_stars
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedGroupKFold
from threadpoolctl import threadpool_limits

from uncertain.plot import ReliabilityDisplay

Floats = NDArray[np.float64]

FACTORS = (1.0, 1.5, 2.0, 3.0, 4.0, 8.0)
SHOWN_FACTORS = (1.0, 2.0, 3.0, 4.0, 8.0)
OTHER_FACTORS = (1.0, 2.0, 3.0, 6.0)
FEW = (60, 200)
REPEATS = 10
CHOICES = ("kernel between Gaussians; in the kernel", "Gaussian discriminant; in the densities")
"""The models for which the ways of making Gaussians are compared."""
SHOWN = {
    "gradient boosting; none (scikit-learn)": "#b8860b",
    "gradient boosting; as features": "#d6604d",
    "gradient boosting; re-measured": "#000000",
    "kernel between Gaussians; none": "#5b5b5b",
    "kernel between Gaussians; in the kernel": "#4d9221",
    "kernel between Gaussians; measurement, 5 Gaussians": "#8073ac",
    "Gaussian discriminant; in the densities": "#2166ac",
}
"""The models in the pictures."""


@dataclass(frozen=True)
class Scores:
    """Per row: right (100) or wrong (0), squared error and log loss of the probability."""

    accuracy: Floats
    brier: Floats
    log_loss: Floats

    @classmethod
    def of(cls, planet: NDArray[np.bool_], prob: Floats) -> Scores:
        given = np.clip(np.where(planet, prob, 1.0 - prob), np.finfo(float).eps, 1.0)
        return cls(100.0 * ((prob > 0.5) == planet), (prob - planet) ** 2, -np.log(given))


def main(argv: Sequence[str] | None = None) -> str:
    options = page.options(__doc__ or "", argv, data=True)
    quick = options.quick
    rows = read(options.data)
    if quick:
        rows = some_stars(rows, 300, seed=0)
    factors = (1.0, 3.0) if quick else FACTORS
    folds, search_rows = (2, 0) if quick else (4, 800)
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        probabilities = {
            c.label: held_out(c, rows, factors, folds=folds, search_rows=search_rows)
            for c in page.progress(CANDIDATES, "Kepler, held-out probabilities")
        }
        otherwise = other_errors(rows, quick)
        few_rows = few(rows, FEW[:1] if quick else FEW, 2 if quick else REPEATS)
        choices = ablation(options.data, quick)
    scores = {
        label: [Scores.of(rows.planet, p) for p in by_factor] for label, by_factor in probabilities.items()
    }
    tables = {
        "rows": summary(rows),
        "models": main_table(scores, rows.star),
        "inflated": inflated_table(scores, rows.star, factors),
        "otherwise": otherwise,
        "few": few_rows,
        "choices": choices,
    }
    pictures(probabilities, scores, rows, factors, quick)
    return page.update("kepler.md", tables, quick=quick)


def held_out(
    candidate: Candidate,
    rows: Catalogue,
    factors: Sequence[float | Floats],
    *,
    folds: int,
    search_rows: int,
    trained: float = 1.0,
) -> list[Floats]:
    """P(planet) of every row by a model that has not seen its star, for every factor of the test errors; its
    training rows may have larger errors too."""
    found = [np.empty(len(rows)) for _ in factors]
    splitter = StratifiedGroupKFold(folds, shuffle=True, random_state=0)
    for train, test in splitter.split(rows.planet, rows.planet, rows.star):
        seen = rows[train] if trained == 1.0 else rows[train].inflated(trained, np.random.default_rng(99))
        model = candidate.fitted(seen, search_rows, seed=0)
        for k, factor in enumerate(factors):
            new = rows[test].inflated(factor, np.random.default_rng(k))
            found[k][test] = model.predict_proba(new.X)[:, 1]
    return found


def with_error(values: Floats, star: NDArray[np.int64], digits: int, sign: str = "") -> str:
    """Mean +- standard error, where the rows of one star are not independent."""
    off = values - values.mean()
    _, numbers = np.unique(star, return_inverse=True)
    error = np.sqrt(np.sum(np.bincount(numbers, weights=off) ** 2)) / len(values)
    return f"{values.mean():{sign}.{digits}f} ± {error:.{digits}f}"


def summary(rows: Catalogue) -> str:
    several = np.unique(rows.star, return_counts=True)[1] > 1
    return page.table(
        ["rows", "planets", "false positives", "stars", "stars with several rows"],
        [
            [
                str(n)
                for n in (
                    len(rows),
                    rows.planet.sum(),
                    (~rows.planet).sum(),
                    len(several),
                    several.sum(),
                )
            ]
        ],
        numbers=0,
    )


def reference(label: str, labels: Sequence[str]) -> str | None:
    """The same model without error bars."""
    model = label.split(";")[0]
    without = next(other for other in labels if other.startswith(f"{model}; none"))
    return None if label == without else without


def main_table(scores: Mapping[str, Sequence[Scores]], star: NDArray[np.int64]) -> str:
    lines = []
    for label, by_factor in scores.items():
        s, base = by_factor[0], reference(label, list(scores))
        gain = [""] * 2
        if base is not None:
            gain = [
                with_error(s.accuracy - scores[base][0].accuracy, star, 1, "+"),
                with_error(s.log_loss - scores[base][0].log_loss, star, 3, "+"),
            ]
        lines.append(
            [
                *label.split("; "),
                with_error(s.accuracy, star, 1),
                with_error(s.brier, star, 3),
                with_error(s.log_loss, star, 3),
                *gain,
            ]
        )
    head = ["model", "error bars", "accuracy, %", "Brier", "log loss", "gain, points", "change of log loss"]
    return page.table(head, lines, numbers=2)


def inflated_table(
    scores: Mapping[str, Sequence[Scores]], star: NDArray[np.int64], factors: Sequence[float]
) -> str:
    chosen = [k for k, f in enumerate(factors) if f in SHOWN_FACTORS]
    head = ["model", "error bars"]
    head += [f"accuracy, x {factors[k]:g}" for k in chosen] + [f"log loss, x {factors[k]:g}" for k in chosen]
    lines = [
        [
            *label.split("; "),
            *(with_error(by_factor[k].accuracy, star, 1) for k in chosen),
            *(with_error(by_factor[k].log_loss, star, 3) for k in chosen),
        ]
        for label, by_factor in scores.items()
    ]
    return page.table(head, lines, numbers=2)


def other_errors(rows: Catalogue, quick: bool) -> str:
    """Accuracy where half of the features get worse, and where training rows are worse than new ones."""
    folds, search_rows = (2, 0) if quick else (4, 800)
    half = np.where(np.random.default_rng(0).permutation(rows.X.shape[1]) % 2, 4.0, 1.0)
    lines = []
    for candidate in page.progress([c for c in CANDIDATES if c.label in SHOWN], "Kepler, other errors"):
        found = held_out(candidate, rows, (half,), folds=folds, search_rows=search_rows)
        found += held_out(candidate, rows, OTHER_FACTORS, folds=folds, search_rows=search_rows, trained=3.0)
        cells = [with_error(Scores.of(rows.planet, p).accuracy, rows.star, 1) for p in found]
        lines.append([*candidate.label.split("; "), *cells])
    head = ["model", "error bars", "half of the features x 4"]
    head += [f"trained x 3, tested x {f:g}" for f in OTHER_FACTORS]
    return page.table(head, lines, numbers=2)


def few(rows: Catalogue, sizes: Sequence[int], repeats: int) -> str:
    """Accuracy after training on few rows: mean and standard error over random choices of stars."""
    lines = []
    for candidate in page.progress(CANDIDATES, "Kepler, few rows"):
        cells = []
        for size in sizes:
            found = []
            for seed in range(repeats):
                train = some_stars(rows, size, seed)
                test = rows[~np.isin(rows.star, train.star)]
                model = candidate.fitted(train, 0 if repeats < 3 else len(train), seed, probability=False)
                found.append(100.0 * model.score(test.X, test.planet))
            cells.append(f"{np.mean(found):.1f} ± {np.std(found, ddof=1) / np.sqrt(repeats):.1f}")
        lines.append([candidate.model, candidate.errors, *cells])
    return page.table(["model", "error bars", *(f"{n} rows" for n in sizes)], lines, numbers=2)


def ablation(folder: Path, quick: bool) -> str:
    """What the choices on the way to Gaussians change."""
    ways: dict[str, dict[str, Any]] = {
        "as above": {},
        'from_bounds(rule="moments")': {"rule": "moments"},
        "no covariance of prad and srad": {"correlated": False},
    }
    lines = []
    for label in CHOICES:
        candidate = next(c for c in CANDIDATES if c.label == label)
        cells, base = [], None
        for name, choice in ways.items():
            rows = read(folder, **choice)
            if quick:
                rows = some_stars(rows, 200, seed=0)
            (prob,) = held_out(
                candidate, rows, (1.0,), folds=2 if quick else 4, search_rows=0 if quick else 800
            )
            right = Scores.of(rows.planet, prob).accuracy
            base = right if base is None else base
            change = right if name == "as above" else right - base
            cells.append(with_error(change, rows.star, 1, "" if name == "as above" else "+"))
        lines.append([*label.split("; "), *cells])
    return page.table(["model", "error bars", *ways], lines, numbers=2)


def pictures(
    probabilities: Mapping[str, Sequence[Floats]],
    scores: Mapping[str, Sequence[Scores]],
    rows: Catalogue,
    factors: Sequence[float],
    quick: bool,
) -> None:
    """Reliability with the test errors as they are and three times as large; scores against the factor."""
    figure, axes = page.panels(11.0, 6.4, 2)
    for ax, factor in zip(axes, (1.0, 3.0), strict=True):
        k = factors.index(factor)
        for label, color in SHOWN.items():
            ReliabilityDisplay.from_predictions(
                rows.planet, probabilities[label][k], pos_label=True, name=label, ax=ax, color=color
            )
        ax.set(title=f"errors of the test rows x {factor:g}", aspect="auto")
        ax.get_legend().remove()
    handles, names = axes[0].get_legend_handles_labels()
    names = [name.split(": Brier")[0] for name in names]
    figure.legend(handles, names, loc="outside lower center", ncols=2, fontsize=9)
    page.picture("kepler-reliability.png", figure, quick=quick)
    figure, axes = page.panels(11.0, 5.2, 2)
    for label, color in SHOWN.items():
        line = {"color": color, "marker": "o", "linestyle": "--" if "; none" in label else "-"}
        for ax, measure in zip(axes, ("accuracy", "log_loss"), strict=True):
            values = [getattr(s, measure).mean() for s in scores[label]]
            ax.plot(factors, values, label=label, **line)
    axes[0].set(ylabel="accuracy, %", xlabel="factor on the errors of the test rows")
    axes[1].set(ylabel="log loss", xlabel="factor on the errors of the test rows", ylim=(0.0, None))
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2, fontsize=9)
    page.picture("kepler-inflated.png", figure, quick=quick)


if __name__ == "__main__":
    main()
