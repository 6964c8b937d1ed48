"""The scores of a run, from sums of blocks to a CSV of means, and back.

A cell is a method at one size of errors of one task, over all splits. Kept of it are the means of its scores
with standard errors (of its main loss alone where errors are not x 1), the sums of its main loss in blocks,
and the paired difference of its main loss to `uncertain.fit`. `check` compares the sums with a later run, and
`again.py` puts some methods of a later run beside the others.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from .answers import MAIN
from .cell import mean

OURS = "uncertain.fit"
PARTS = ("fit", "predict", "memory")
"""Seconds of a fit and of a row, megabytes."""
TIMES = " x "
"""Between the name of a score and the size of errors, in the heads of columns: "log_loss x 4"."""
Found = dict[str, dict[str, list[dict[str, Any]]]]
"""task -> method -> splits"""


def summary(found: Found, about: dict[str, Any]) -> dict[str, Any]:
    """The result: tasks, and how they were split."""
    return {"about": about, "tasks": {name: _task(methods) for name, methods in found.items() if methods}}


def _task(methods: dict[str, list[dict[str, Any]]]) -> dict[str, Any]:
    first = next((one for splits in methods.values() for one in splits if "sums" in one), None)
    if first is None:
        return {"methods": {name: {"failed": _reason(splits)} for name, splits in methods.items()}}
    main = MAIN[first["regression"]]
    ours = methods.get(OURS, [])
    complete = next((splits for splits in methods.values() if all("sums" in one for one in splits)), [])
    entry: dict[str, Any] = {"regression": first["regression"], "rows": first["rows"], "methods": {}}
    if complete:
        entry["n"] = _joined(complete, "1", "n").tolist()
    for name, splits in methods.items():
        if all("sums" in one for one in splits):
            entry["methods"][name] = _method(splits, ours, main)
        elif not all(one.get("skipped") for one in splits):
            entry["methods"][name] = {"failed": _reason(splits)}
    return entry


def _reason(splits: list[dict[str, Any]]) -> str:
    return next((one["failed"] for one in splits if "failed" in one), "")


def _method(splits: list[dict[str, Any]], ours: list[dict[str, Any]], main: str) -> dict[str, Any]:
    paired = len(ours) == len(splits) and all("sums" in one for one in ours)
    scores: dict[str, Any] = {}
    for factor, sums in splits[0]["sums"].items():
        n = _joined(splits, factor, "n")
        kept = [name for name in sums if name != "n" and (factor == "1" or name == main)]
        scores[factor] = {name: pair(*mean(_joined(splits, factor, name), n)) for name in kept}
        scores[factor]["sums"] = _short(_joined(splits, factor, main))
        if paired:
            behind = _joined(splits, factor, main) - _joined(ours, factor, main)
            scores[factor]["behind"] = pair(*mean(behind, n))
    parts = {part: _short([np.mean([one[part] for one in splits])])[0] for part in PARTS}
    return parts | {"scores": scores}


def _joined(splits: list[dict[str, Any]], factor: str, name: str) -> np.ndarray:
    return np.concatenate([one["sums"][factor][name] for one in splits])


def _short(numbers: Any) -> list[float]:
    return [float(f"{number:.4g}") for number in numbers]


def pair(value: float, se: float) -> list[float]:
    return [float(f"{value:.4g}"), float(f"{se:.2g}")]


def read(path: Path) -> dict[str, Any]:
    """The result of an earlier run."""
    about = json.loads(path.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# "))
    frame = pl.read_csv(path, comment_prefix="#", infer_schema_length=None)
    tasks: dict[str, Any] = {}
    for row in frame.iter_rows(named=True):
        shape = {"regression": row.pop("regression"), "rows": [row.pop("train"), row.pop("test")]}
        entry = tasks.setdefault(row.pop("task"), shape | {"methods": {}})
        name, n, failed = row.pop("method"), row.pop("n"), row.pop("failed")
        if n:
            entry["n"] = _numbers(n)
        if failed is not None:
            entry["methods"][name] = {"failed": failed}
            continue
        scores: dict[str, dict[str, list[float]]] = {}
        entry["methods"][name] = {part: row.pop(part) for part in PARTS} | {"scores": scores}
        for head, value in row.items():
            score, _, factor = head.partition(TIMES)
            if value is None or score.endswith("_se"):
                continue
            kept = _numbers(value) if score == "sums" else [value, row[f"{score}_se{TIMES}{factor}"]]
            scores.setdefault(factor, {})[score] = kept
    return {"about": about, "tasks": tasks}


def write(path: Path, results: dict[str, Any]) -> None:
    """A row for each task and method; splits and rows at most in a comment in front."""
    rows = []
    for task, entry in results["tasks"].items():
        train, test = entry.get("rows", (None, None))
        shape = {"task": task, "regression": entry.get("regression"), "train": train, "test": test}
        n = _text(entry.get("n", []))
        for method, one in entry["methods"].items():
            row = shape | {"method": method, "n": n or None, "failed": one.get("failed")}
            row |= {part: one.get(part) for part in PARTS}
            for factor, scores in one.get("scores", {}).items():
                for name, value in scores.items():
                    at = f"{TIMES}{factor}"
                    if name == "sums":
                        row[f"sums{at}"] = _text(value)
                    else:
                        row |= {f"{name}{at}": value[0], f"{name}_se{at}": value[1]}
            rows.append(row)
            n = ""
    heads = dict.fromkeys(sorted({name: None for row in rows for name in row}, key=_factor))
    frame = pl.DataFrame([dict.fromkeys(heads) | row for row in rows], infer_schema_length=None)
    about = json.dumps({name: results["about"][name] for name in ("splits", "rows_at_most")})
    path.write_text(f"# {about}\n{frame.write_csv()}", encoding="utf-8")


def _factor(head: str) -> float:
    return float(head.rpartition(TIMES)[2]) if TIMES in head else 0.0


def _numbers(text: str) -> list[float]:
    return [float(number) for number in text.split()]


def _text(numbers: list[float]) -> str:
    return " ".join(f"{number:.4g}" for number in numbers)


def worse(before: dict[str, Any], now: dict[str, Any]) -> Iterator[str]:
    """Cells of `uncertain.fit` whose main loss rose by more than two standard errors of the difference."""
    for name, entry in now["tasks"].items():
        old, new = before["tasks"].get(name, {}), entry
        if OURS not in old.get("methods", ()) or "scores" not in new["methods"].get(OURS, ()):
            continue
        if old["n"] != new["n"]:
            yield f"{name}: the test rows are others than those of the stored result"
            continue
        main = MAIN[entry["regression"]]
        for factor, scores in new["methods"][OURS]["scores"].items():
            was = old["methods"][OURS]["scores"][factor]["sums"]
            off, se = mean(np.array(scores["sums"]) - np.array(was), np.array(new["n"]))
            if off > 2 * se and off > 1e-9:
                yield f"{name}, errors x {factor}: {main} is worse by {off:.4g} +- {se:.2g}"


def verdicts(results: dict[str, Any], ours: list[str]) -> Iterator[tuple[str, str, str, bool, bool]]:
    """Of every task and size of errors: the method of least loss, is `uncertain.fit` within a standard error
    of it, and is it ahead of the best method of others?"""
    for name, entry in results["tasks"].items():
        methods = {m: one["scores"] for m, one in entry["methods"].items() if "scores" in one}
        if OURS not in methods:
            continue
        for factor in methods[OURS]:
            behind = {m: scores[factor]["behind"] for m, scores in methods.items() if factor in scores}
            best = min(behind, key=lambda m: behind[m][0])
            peers = [value for m, (value, _) in behind.items() if m not in ours]
            within = -behind[best][0] <= behind[best][1]
            yield name, factor, best, within, not peers or min(peers) > 0
