"""One re-measured learner against the mean of several: held-out log loss (squared error), errors x 1, 2, 4.

    python benches/python/several_learners.py [--data ../shared/data] [--only TESS Fermi ...] [--folds 5]
        [--copies 8 4] [--trees 1 1.4] [--fit]

All learners of a fold have the number of trees that is found once, times each of `--trees`. Learners, four of
them, are averaged in disjoint groups, as scores (log odds) and as probabilities; "gain" is the loss of one
learner with eight copies, mean over the four, less that of the average (paired, standard errors over rows).
`--fit`: what `uncertain.fit` answers, and what it would answer with the first learner of the same fit alone.
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from archive_tables import Table, Values
from arena.methods import ours
from remeasured_rules import FACTORS, TABLES
from scipy.special import softmax
from threadpoolctl import threadpool_limits

from uncertain import RemeasuredClassifier, RemeasuredRegressor
from uncertain._trees.remeasured import Remeasured

LEARNERS = 4


def losses(answers: list[Values], size: int, how: str, truth: Values) -> Values:
    """Mean loss of each row over disjoint groups of so many learners."""
    found = []
    for first in range(0, LEARNERS - size + 1, size):
        some = np.array(answers[first : first + size])
        if some.ndim == 2:
            found.append((some.mean(axis=0) - truth) ** 2)
            continue
        logs = np.log(np.maximum(some, 1e-300))
        p = some.mean(axis=0) if how == "probabilities" else softmax(logs.mean(axis=0), axis=1)
        found.append(-np.log(np.maximum(p[np.arange(len(truth)), truth], 1e-15)))
    return np.asarray(np.mean(found, axis=0))


def report(name: str, table: Table, folds: int, copies: list[int], trees: list[float]) -> None:
    kind: Any = RemeasuredRegressor if table.regression else RemeasuredClassifier
    found: dict[tuple[int, float, str, int], list[list[Values]]] = {}
    counting, seconds = [], []
    for train, test in table.folds()[:folds]:
        known, new = table[train], table[test]
        rows = known.rows()
        tests = [new.worse(factor, int(100 * factor)).rows(known) for factor in FACTORS]
        truth = new.y if table.regression else np.searchsorted(np.unique(known.y), new.y)
        start = time.process_time()
        number = kind(random_state=0)._count_trees(rows, known.y, groups=known.groups)
        counting.append(time.process_time() - start)
        for n in copies:
            for times in trees:
                answers: list[list[Values]] = [[] for _ in FACTORS]
                for seed in range(1, LEARNERS + 1):
                    start = time.process_time()
                    one = kind(n_copies=n, n_trees=round(times * number), n_learners=1, random_state=seed)
                    one.fit(rows, known.y, groups=known.groups)
                    seconds.append(time.process_time() - start)
                    for kept, read in zip(answers, tests, strict=True):
                        kept.append(one.predict(read) if table.regression else one.predict_proba(read))
                for how in ("scores",) if table.regression else ("scores", "probabilities"):
                    for size in range(1, LEARNERS + 1):
                        each = [losses(some, size, how, truth) for some in answers]
                        found.setdefault((n, times, how, size), []).append(each)
    print(
        f"{name}: {number} trees; {np.mean(counting):.2f} s to count them, {np.mean(seconds):.2f} s a learner"
    )
    base = np.concatenate(found[copies[0], trees[0], "scores", 1], axis=1)
    for (n, times, how, size), parts in found.items():
        own = np.concatenate(parts, axis=1)
        gains, se = (base - own).mean(axis=1), (base - own).std(axis=1) / np.sqrt(own.shape[1])
        texts = (
            f"{x:.4f} ({g:+.4f} +- {s:.4f})" for x, g, s in zip(own.mean(axis=1), gains, se, strict=True)
        )
        print(f"| {name} | {n} | {times} | {size} | {how} | {' | '.join(texts)} |", flush=True)


def report_fit(name: str, table: Table, folds: int) -> None:
    """The default call with all learners, and with the first one in their place."""
    kept: list[tuple[Remeasured, Any]] = []
    averaged = Remeasured._averaged

    def keep(self: Remeasured, learners: Any) -> Any:
        kept.append((self, learners[0]))
        return averaged(self, learners)

    found, seconds = [], []
    for train, test in table.folds()[:folds]:
        kept.clear()
        Remeasured._averaged = keep  # type: ignore[method-assign]
        start = time.process_time()
        try:
            model = ours.fit(table[train]).args[0]
        finally:
            Remeasured._averaged = averaged  # type: ignore[method-assign]
        seconds.append(time.process_time() - start)
        new = table[test]
        truth = new.y if table.regression else np.searchsorted(model.classes_, new.y)
        frames = [new.worse(factor, int(100 * factor)).frame().drop("y") for factor in FACTORS]
        ask = model.predict if table.regression else model.predict_proba
        several = [losses([ask(frame).to_numpy()] * LEARNERS, 1, "scores", truth) for frame in frames]
        for step, first in kept:
            step.estimator_ = first
        one = [losses([ask(frame).to_numpy()] * LEARNERS, 1, "scores", truth) for frame in frames]
        found.append(np.array([one, several]))
    one, several = np.concatenate(found, axis=2)
    gains, se = (one - several).mean(axis=1), (one - several).std(axis=1) / np.sqrt(one.shape[1])
    texts = (
        f"{x:.4f} ({g:+.4f} +- {s:.4f})" for x, g, s in zip(several.mean(axis=1), gains, se, strict=True)
    )
    print(f"| {name} | uncertain.fit, {np.mean(seconds):.1f} s | | | | {' | '.join(texts)} |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument(
        "--only", nargs="+", default=["TESS", "Fermi", "Kepler, 200 rows", "biopsies, 64 rows"]
    )
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--copies", type=int, nargs="+", default=[8])
    parser.add_argument("--trees", type=float, nargs="+", default=[1.0])
    parser.add_argument("--fit", action="store_true")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    print("| table | copies | trees | learners | mean of | loss (gain), errors x 1 | x 2 | x 4 |")
    print("|---|---|---|---|---|---|---|---|")
    with threadpool_limits(1, "openmp"):
        for name in given.only:
            if given.fit:
                report_fit(name, TABLES[name](given.data), given.folds)
            else:
                report(name, TABLES[name](given.data), given.folds, given.copies, given.trees)
