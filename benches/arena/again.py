"""Some methods measured again, beside the others of a stored result.

The new cells take the place of the old ones of their methods, on the same test rows. Differences to
`uncertain.fit` are then those to its latest losses. Where the sums of blocks of both methods are kept, they
are paired as in any run. Of a method P whose sums are not kept, with the former `uncertain.fit` O and the
new one N,

    mean(P - N) = mean(P - O) + mean(O - N)

is exact, and its variance is known but for the covariance of P and N. With N = b O + r, where b is the slope
of N's block losses on O's, and r has no correlation with P,

    var(P - N) = var(P - O) + var(O - N) + (1 - b) (var P - var O - var(P - O)),

kept between (se(P - O) -+ se(O - N))^2, its limits whatever the correlation of r.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .answers import MAIN
from .cell import Values, mean
from .results import OURS, pair


def renewed(before: dict[str, Any], now: dict[str, Any]) -> dict[str, Any]:
    """The stored result with what a later run of the same rows and splits has measured."""
    tasks = dict(before["tasks"])
    for name, entry in now["tasks"].items():
        tasks[name] = _task(name, tasks[name], entry) if name in tasks else entry
    return {"about": before["about"], "tasks": tasks}


def _task(name: str, before: dict[str, Any], now: dict[str, Any]) -> dict[str, Any]:
    methods = before["methods"] | now["methods"]
    if any("scores" not in found.get(OURS, ()) for found in (before["methods"], methods)):
        raise ValueError(f"{name}: no losses of uncertain.fit to pair with, run all methods of this task")
    if "n" in now and now["n"] != before["n"]:
        raise ValueError(f"{name}: the test rows are others than those of the stored result")
    main, n = MAIN[before["regression"]], np.array(before["n"])
    for method, one in methods.items():
        if "scores" not in one:
            continue
        scores = {}
        for factor, own in one["scores"].items():
            old, new = (
                np.array(found[OURS]["scores"][factor]["sums"]) for found in (before["methods"], methods)
            )
            if "sums" in own:
                behind = mean(np.array(own["sums"]) - new, n)
            else:
                behind = difference(own[main][1], own["behind"], old, new, n)[:2]
            scores[factor] = own | {"behind": pair(*behind)}
        methods[method] = one | {"scores": scores}
    return before | {"methods": methods}


def difference(
    se: float, behind: list[float], old: Values, new: Values, n: Values
) -> tuple[float, float, tuple[float, float]]:
    """Of a method's losses, of which only their standard error and their difference to `old` are known, and
    `new`: its mean, its standard error, and the limits of that."""
    step, se_step = mean(old - new, n)
    off_old, off_new = (sums - sums.sum() / n.sum() * n for sums in (old, new))
    slope = off_old @ off_new / (off_old @ off_old) if off_old.any() else 1.0
    shared = (1 - slope) * (se**2 - mean(old, n)[1] ** 2 - behind[1] ** 2)
    low, high = abs(behind[1] - se_step), behind[1] + se_step
    found = np.sqrt(np.clip(behind[1] ** 2 + se_step**2 + shared, low**2, high**2))
    return behind[0] + step, float(found), (low, high)
