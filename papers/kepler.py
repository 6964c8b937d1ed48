"""Planets against false positives from Kepler's quantities and their errors.

python papers/kepler.py [--data FOLDER] [--quick]
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import page
from kepler_catalogue import Catalogue, read
from kepler_models import CANDIDATES, Candidate, some_stars
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedGroupKFold
from threadpoolctl import threadpool_limits

Floats = NDArray[np.float64]

FACTORS = (1.0, 1.5, 2.0, 3.0, 4.0, 8.0)
SHOWN_FACTORS = (1.0, 2.0, 3.0, 4.0, 8.0)


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
    scores = {
        label: [Scores.of(rows.planet, p) for p in by_factor] for label, by_factor in probabilities.items()
    }
    tables = {
        "rows": summary(rows),
        "models": main_table(scores, rows.star),
        "inflated": inflated_table(scores, rows.star, factors),
    }
    return page.report(tables)


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


if __name__ == "__main__":
    main()
