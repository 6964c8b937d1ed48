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
TEXTS = dict.fromkeys(("task", "method", "errors", "sums", "n", "failed"), pl.String)
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
    frame = pl.read_csv(path, comment_prefix="#", infer_schema_length=None, schema_overrides=TEXTS)
    tasks: dict[str, Any] = {}
    for row in frame.iter_rows(named=True):
        shape = {"regression": row["regression"], "rows": [row["train"], row["test"]]}
        entry = tasks.setdefault(row["task"], shape | {"methods": {}})
        if row["n"]:
            entry["n"] = _numbers(row["n"])
        if row["failed"] is not None:
            entry["methods"][row["method"]] = {"failed": row["failed"]}
            continue
        parts = {part: row[part] for part in PARTS}
        method = entry["methods"].setdefault(row["method"], parts | {"scores": {}})
        names = [name for name in frame.columns if f"{name}_se" in row and row[name] is not None]
        scores: dict[str, list[float]] = {name: [row[name], row[f"{name}_se"]] for name in names}
        if row["sums"]:
            scores["sums"] = _numbers(row["sums"])
        method["scores"][row["errors"]] = scores
    return {"about": about, "tasks": tasks}


def write(path: Path, results: dict[str, Any]) -> None:
    """A row for each task, method and size of errors; splits and rows at most in a comment in front."""
    rows = []
    for task, entry in results["tasks"].items():
        train, test = entry.get("rows", (None, None))
        shape = {"task": task, "regression": entry.get("regression"), "train": train, "test": test}
        n = entry.get("n", [])
        for method, one in entry["methods"].items():
            if "failed" in one:
                rows.append(shape | {"method": method, "failed": one["failed"]})
            for factor, scores in one.get("scores", {}).items():
                row = shape | {"method": method, "errors": factor} | {part: one[part] for part in PARTS}
                for name, value in scores.items():
                    if name != "sums":
                        row |= {name: value[0], f"{name}_se": value[1]}
                rows.append(row | {"sums": _text(scores.get("sums", [])), "n": _text(n)})
                n = []
    heads = dict.fromkeys(
        [*shape, "method", "errors", *PARTS, *(name for row in rows for name in row), "failed"]
    )
    frame = pl.DataFrame([dict.fromkeys(heads) | row for row in rows], infer_schema_length=None)
    about = json.dumps({name: results["about"][name] for name in ("splits", "rows_at_most")})
    path.write_text(f"# {about}\n{frame.write_csv()}", encoding="utf-8")


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
