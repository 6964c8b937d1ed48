"""One model or an average, judged with errors as they are or with larger ones too: losses on other rows.

    python benches/python/choice_rules.py --data ../shared/data [--only Kepler survey ...] [--split 0]

The candidates of `uncertain.fit` on a task of the arena are fitted to all rows once, and each rule picks
among them by the same held-out answers. Log loss (of numbers root mean square error) of the test rows at each
size of errors, with the difference to "one, as they are" in its standard errors over blocks of groups.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

import uncertain._choice.choose as choosing
from uncertain._choice.rule import Ranking
from uncertain._choice.trial import as_scored
from uncertain.exceptions import UncertainError

sys.path.insert(0, str(Path(__file__).parents[1]))
from arena.answers import SMALLEST
from arena.cell import BLOCKS, mean
from arena.methods import ours
from arena.task import FACTORS, all_tasks

HELD: dict[str, Any] = {}


def kept(request: Any, trials: Any, *rest: Any) -> Any:
    """The choice, of which the candidates are kept, fitted to all rows."""
    choice = decide(request, trials, *rest)
    comparison, training = rest[-2:]
    HELD.update(trials=[], fitted=[], comparison=comparison)
    for trial in trials:
        try:
            HELD["fitted"].append(training.fitted(trial.member.pipeline))
            HELD["trials"].append(trial)
        except UncertainError:
            continue
    return choice


decide, choosing._decide = choosing._decide, kept


def rules() -> dict[str, dict[int, float]]:
    """Weights of the candidates by each rule."""
    larger, comparison = HELD["trials"], HELD["comparison"]
    scored = [as_scored(trial, comparison) for trial in larger]
    found = {}
    for told, ranking in {
        "as they are": Ranking(scored, comparison.as_scored()),
        "x 1, 2, 4": Ranking(larger, comparison),
    }.items():
        one, several = ranking.simplest, ranking.average()
        found[f"one, {told}"] = {one: 1.0}
        found[f"average, {told}"] = several
        clear = ranking.is_ahead(ranking.combined(several), one)
        found[f"clear average, {told}"] = several if clear else {one: 1.0}
    return found


def lost(answers: Any, y: Any, classes: Any) -> Any:
    """Of each row."""
    if classes is None:
        return (answers - y) ** 2
    place = np.minimum(np.searchsorted(classes, y), len(classes) - 1)
    given = np.where(classes[place] == y, answers[np.arange(len(y)), place], 0.0)
    return -np.log(np.maximum(given, SMALLEST))


def main() -> None:
    """Print a line for each rule."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--only", nargs="+", default=[])
    parser.add_argument("--split", type=int, default=0)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    for task in all_tasks():
        if task.large or task.missing(given.data) or (given.only and task.name not in given.only):
            continue
        train, test = task.split(given.data, given.split)
        with threadpool_limits(1):
            model = ours.fit(train).args[0]
        classes = HELD["comparison"].classes
        block = np.unique(test.groups, return_inverse=True)[1] % BLOCKS
        print(f"{task.name}, {len(train)} rows, {len(test)} others", flush=True)
        lines: dict[str, list[str]] = {}
        for factor in FACTORS:
            read = test.worse(factor, seed=round(100 * factor)).frame().drop("y")
            rows = model._reader.rows(model._reader.source(read))
            answers = [
                one.predict(rows) if classes is None else one.predict_proba(rows) for one in HELD["fitted"]
            ]
            first = None
            for name, weights in rules().items():
                loss = lost(sum(w * answers[k] for k, w in weights.items()), test.y, classes)
                first = loss if first is None else first
                sums = np.bincount(block, loss - first, BLOCKS)
                off, se = mean(sums, np.bincount(block, minlength=BLOCKS))
                value = np.sqrt(loss.mean()) if classes is None else loss.mean()
                lines.setdefault(name, []).append(f"{value:.4g} ({off / se if se > 0 else 0:+.1f})")
        for name, values in lines.items():
            print(f"  {name:27s}", "  ".join(values), flush=True)


if __name__ == "__main__":
    main()
