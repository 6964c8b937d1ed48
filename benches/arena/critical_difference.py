"""Mean ranks of methods over tasks, and which of them differ: a critical-difference plot.

With M methods on N tasks, methods whose mean ranks differ by less than q sqrt(M (M + 1) / (6 N)) are joined,
q the quantile of the studentised range over sqrt 2 (Nemenyi's test; J. Demšar, Statistical Comparisons of
Classifiers over Multiple Data Sets, JMLR 7, 2006).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import rankdata, studentized_range

from .answers import MAIN

LEVEL = 0.05
FEWEST = 3
"""Tasks or methods below which there is nothing to compare."""


class Ranks(NamedTuple):
    """Of methods, the best first."""

    names: list[str]
    means: np.ndarray
    difference: float
    n_tasks: int


def mean_ranks(results: dict[str, Any], *, regression: bool) -> Ranks | None:
    """By the main loss, a mean over sizes of errors of ranks at each; methods that did all tasks."""
    entries = [
        entry for entry in results["tasks"].values() if entry.get("regression") == regression and "n" in entry
    ]
    done = [{m for m, one in entry["methods"].items() if "scores" in one} for entry in entries]
    if len(entries) < FEWEST:
        return None
    most = max(map(len, done))
    entries = [
        entry for entry, own in zip(entries, done, strict=True) if len(own) > most / 2
    ]  # not the large one
    names = sorted(set.intersection(*(own for own in done if len(own) > most / 2)))
    if len(entries) < FEWEST or len(names) < FEWEST:
        return None
    main = MAIN[regression]
    ranks = []
    for entry in entries:
        own = [
            rankdata([entry["methods"][name]["scores"][factor][main][0] for name in names])
            for factor in entry["methods"][names[0]]["scores"]
        ]
        ranks.append(np.mean(own, axis=0))
    means = np.mean(ranks, axis=0)
    order, m, n = np.argsort(means), len(names), len(entries)
    q = studentized_range.ppf(1 - LEVEL, m, np.inf) / np.sqrt(2)
    return Ranks([names[k] for k in order], means[order], float(q * np.sqrt(m * (m + 1) / (6 * n))), n)


def draw(results: dict[str, Any], *, regression: bool, path: Path) -> bool:
    """Write the picture; False if there is too little to compare."""
    ranks = mean_ranks(results, regression=regression)
    if ranks is None:
        return False
    from matplotlib.figure import Figure

    m = len(ranks.names)
    figure = Figure(figsize=(8.0, 0.26 * m + 1.0), layout="constrained")
    axes = figure.subplots()
    colours = ["#b3541e" if name.startswith("uncertain.fit") else "#44546a" for name in ranks.names]
    axes.scatter(ranks.means, np.arange(m), c=colours, s=28, zorder=3)
    for k, (mean, name) in enumerate(zip(ranks.means, ranks.names, strict=True)):
        axes.text(mean + 0.15, k, name, va="center", fontsize=8, color=colours[k])
    last = -1
    for k, mean in enumerate(ranks.means):
        end = int(np.flatnonzero(ranks.means <= mean + ranks.difference)[-1])
        if end > max(k, last):  # one that is not inside the bar before
            at = ranks.means.min() - 0.4 - 0.18 * k
            axes.plot([at, at], [k, end], color="#888888", lw=2.2, solid_capstyle="butt")
            last = end
    axes.set(
        yticks=[],
        xlabel=f"mean rank over {ranks.n_tasks} tasks (1 is best); grey bars join what does not differ",
    )
    axes.invert_yaxis()
    axes.margins(x=0.22)
    axes.spines[["left", "top", "right"]].set_visible(False)
    figure.savefig(path, dpi=110)
    return True
