"""What a run found, from sums of blocks to a JSON of means, and back.

A cell is a method at one size of errors of one task, over all splits. Kept of it are the means of its scores
with standard errors (of its main loss alone where errors are not x 1), the sums of its main loss in blocks,
and the paired difference of its main loss to `uncertain.fit`. `check` compares the sums with a later run, and
`again.py` puts some methods of a later run beside the others.
"""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from .answers import MAIN
from .cell import mean

OURS = "uncertain.fit"
Found = dict[str, dict[str, list[dict[str, Any]]]]
"""task -> method -> splits"""


def summary(found: Found, about: dict[str, Any]) -> dict[str, Any]:
    """The JSON."""
    tasks = {name: _task(methods) for name, methods in found.items() if methods}
    return {"about": about | machine(), "tasks": tasks}


def machine() -> dict[str, Any]:
    """What matters to times, and versions."""
    packages = ("uncertain-learn", "numpy", "scikit-learn", "lightgbm", "xgboost")
    found = {}
    for name in packages:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")
    return {"cores": os.cpu_count(), "load_at_the_end": load, "python": platform.python_version()} | found


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
    parts = {
        part: _short([np.mean([one[part] for one in splits])])[0] for part in ("fit", "predict", "memory")
    }
    return parts | {"scores": scores}


def _joined(splits: list[dict[str, Any]], factor: str, name: str) -> np.ndarray:
    return np.concatenate([one["sums"][factor][name] for one in splits])


def _short(numbers: Any) -> list[float]:
    return [float(f"{number:.4g}") for number in numbers]


def pair(value: float, se: float) -> list[float]:
    return [float(f"{value:.4g}"), float(f"{se:.2g}")]


def read(path: Path) -> dict[str, Any]:
    """The JSON of an earlier run."""
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def write(path: Path, results: dict[str, Any]) -> None:
    """One line a method, so that differences can be read."""
    text = json.dumps(results, ensure_ascii=False, separators=(",", ":"))
    path.write_text(text.replace('"},"', '"},\n"').replace(']}}},"', ']}}},\n"') + "\n", encoding="utf-8")


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
