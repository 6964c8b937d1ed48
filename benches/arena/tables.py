"""Tables for people: main losses by task, and what `uncertain.fit` is worth beside the best."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .answers import MAIN
from .results import OURS, verdicts

SHOWN = {
    False: ("log_loss", "accuracy", "brier"),
    True: ("rmse", "crps", "cde_loss", "within_68", "within_95"),
}

TITLES = {
    "log_loss": "log loss", "brier": "Brier score", "rmse": "RMSE", "crps": "CRPS", "cde_loss": "CDE loss",
    "within_68": "in 68 % interval", "within_95": "in 95 % interval",
}  # fmt: skip
"""Of scores in the heads of columns, where they are not the name itself."""


def score(entry: dict[str, Any], factor: str, name: str) -> tuple[float, float]:
    """A score with its standard error; root mean squares by the delta method."""
    if name != "rmse":
        value, se = entry["scores"][factor][name]
        return value, se
    value, se = entry["scores"][factor]["squared_error"]
    return float(np.sqrt(value)), float(se / (2 * np.sqrt(value))) if value > 0 else 0.0


def of_task(entry: dict[str, Any]) -> Iterator[str]:
    """A line a method, best first: main loss at every size of errors, other scores as errors are, times."""
    methods = {m: one for m, one in entry["methods"].items() if "scores" in one}
    if not methods:
        return
    main = MAIN[entry["regression"]]
    factors = list(next(iter(methods.values()))["scores"])
    others = [name for name in SHOWN[entry["regression"]] if name != main]
    heads = [f"{TITLES[main]} x {factor}" for factor in factors]
    columns = [*heads, *(TITLES.get(name, name) for name in others), "fit, s", "µs a row"]
    yield f"| method | {' | '.join(columns)} |"
    yield f"|---|{'---:|' * (len(heads) + len(others) + 2)}"
    for name in sorted(methods, key=lambda m: score(methods[m], "1", main)[0]):
        one = methods[name]
        losses = []
        for factor in factors:
            value, _ = score(one, factor, main)
            least = min(score(other, factor, main)[0] for other in methods.values())
            losses.append(f"**{value:.4g}**" if value == least else f"{value:.4g}")
        rest = [f"{score(one, '1', other)[0]:.3g}" for other in others]
        shown = f"`{name}`" if name.startswith(OURS) else name
        times = f"{_short(one['fit'])} | {_short(1e6 * one['predict'])}"
        yield f"| {shown} | {' | '.join(losses + rest)} | {times} |"
    for name, one in entry["methods"].items():
        if "failed" in one:
            yield f"\n{name} failed: {one['failed']}"


def _short(value: float) -> str:
    """Two digits, and no exponent."""
    return f"{value:.0f}" if value >= 10 else f"{value:.2g}"


def overview(results: dict[str, Any], ours: list[str]) -> Iterator[str]:
    """Per task: the best method as errors are, ours beside it, and in how many sizes of errors ours holds."""
    yield "| task | rows | best, errors as they are | behind the best | within a standard error | ahead |"
    yield "|---|---:|---|---:|---|---|"
    found = list(verdicts(results, ours))
    for name, entry in results["tasks"].items():
        own = [verdict for verdict in found if verdict[0] == name]
        if not own:
            continue
        best = next(verdict[2] for verdict in own if verdict[1] == "1")
        behind, se = entry["methods"][best]["scores"]["1"]["behind"]
        within = ", ".join(factor for _, factor, _, yes, _ in own if yes) or "none"
        ahead = ", ".join(factor for _, factor, _, _, yes in own if yes) or "none"
        difference = "0" if behind == 0 else f"{-behind:.3g} ± {se:.2g}"
        shown = f"`{best}`" if best.startswith(OURS) else best
        yield f"| {name} | {entry['rows'][0]:,} | {shown} | {difference} | {within} | {ahead} |"
    if found:
        shares = [100 * np.mean([verdict[k] for verdict in found]) for k in (3, 4)]
        yield (
            f"\nIn all: within one standard error of the best of all methods in {shares[0]:.0f} % of "
            f"{len(found)} cells (tasks and sizes of errors), ahead of the best method of other libraries in "
            f"{shares[1]:.0f} %."
        )
