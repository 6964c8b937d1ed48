"""Should the models of the folds have a part in what a choice of classes answers?

    python benches/python/trees_of_folds.py [--data ../shared/data] [--splits 4] [--tables ...] [--again]

`uncertain.fit` refits the chosen member to all rows, and keeps the models of the folds. Here both answer for
rows held out, at errors x 1, 2, 4, 8, the folds with a share of 0, 1/4, 1/2, 1 or that of their number.
Printed is the log loss of the refit, and by how much the others' is less (paired, the standard error over
rows of all splits, and the share of splits). `--again`: in place of the folds one more fit to all rows, with
copies of its own.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import archive_tables as archive
import numpy as np
from archive_tables import Table, Values
from arena.methods import ours
from arena.tasks import between_surveys
from sklearn.base import clone

from uncertain._choice import choose

FACTORS = (1.0, 2.0, 4.0, 8.0)
TRAIN, TEST = 2_000, 1_000
PARTS: dict[str, Callable[[int], float]] = {
    "refit": lambda folds: 1.0, "mean of all": lambda folds: 1 / (folds + 1), "1/4": lambda folds: 0.75,
    "1/2": lambda folds: 0.5, "folds": lambda folds: 0.0,
}  # fmt: skip


def split(table: Table, seed: int) -> tuple[Table, Table]:
    train, test = table.folds(3, seed)[0]
    return archive.cut(table[train], TRAIN, seed), archive.cut(table[test], TEST, seed)


def one(train: Table, test: Table, *, again: bool) -> tuple[str, Values]:
    """What was chosen, and losses by part, factor and row."""
    kept: list[choose.Choice] = []
    decide = choose._decide

    def keeping(*known: Any) -> choose.Choice:
        kept.append(decide(*known))
        return kept[-1]

    choose._decide = keeping
    try:
        model = ours.fit(train).args[0]
    finally:
        choose._decide = decide
    assert kept[0].held_out is not None
    reader, folds = model._reader, kept[0].held_out.models
    if again:
        own, step = kept[0].pipeline, kept[0].pipeline.steps[-1][0]
        other = clone(own).set_params(**{f"{step}__random_state": 1})
        folds = [kept[0].held_out.training.fitted(other)]
    losses = np.empty((len(PARTS), len(FACTORS), len(test)))
    place = np.searchsorted(model.classes_, test.y)
    for j, factor in enumerate(FACTORS):
        source = reader.source(
            test.worse(factor, int(100 * factor)).frame().drop("y"), adds=None, blocks=True
        )
        whole, mean = reader.answers(
            source, lambda steps, rows: (kept[0].pipeline.predict_proba(rows), shares(folds, rows))
        )
        for k, part in enumerate(PARTS.values()):
            weight = part(len(folds))
            p = weight * whole + (1.0 - weight) * mean
            losses[k, j] = -np.log(np.maximum(p[np.arange(len(place)), place], 1e-15))
    return f"{kept[0].leaderboard.chosen} and {len(folds)} folds", losses


def shares(models: Any, rows: Any) -> Values:
    return np.asarray(np.mean([model.predict_proba(rows) for model in models], axis=0))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--splits", type=int, default=4)
    parser.add_argument("--tables", nargs="+", default=["Kepler", "TESS", "TESS to Kepler", "Fermi"])
    parser.add_argument("--again", action="store_true")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in given.tables:
        found = []
        for seed in range(given.splits):
            if name == "TESS to Kepler":
                kepler, tess = between_surveys.both(given.data)
                pair = archive.cut(tess, TRAIN, seed), archive.cut(kepler, TEST, seed)
            else:
                load = {"Kepler": archive.kepler, "TESS": archive.tess, "Fermi": archive.fermi}[name]
                pair = split(load(given.data), seed)
            chosen, losses = one(*pair, again=given.again)
            print(f"  {name}, split {seed}: {chosen}", flush=True)
            found.append(losses)
        losses = np.concatenate(found, axis=2)
        print(f"| {name} | refit | {' '.join(f'{x:.3f}' for x in losses[0].mean(axis=1))} |")
        for k, part in enumerate(list(PARTS)[1:], start=1):
            less = losses[0] - losses[k]
            se = less.std(axis=1) / np.sqrt(less.shape[1])
            each = np.mean([f[0].mean(axis=1) - f[k].mean(axis=1) > 0 for f in found], axis=0)
            texts = (
                f"{m:.4f} +- {s:.4f} ({e:.0%})" for m, s, e in zip(less.mean(axis=1), se, each, strict=True)
            )
            print(f"| {name} | {part} | {' '.join(texts)} |", flush=True)


if __name__ == "__main__":
    main()
