"""How many cells of the arena can a method hold that is as good as the best, and which one holds most?

    python benches/python/arena_ceiling.py

A cell is a task at one size of errors; a method holds it if it is within one standard error of the best of
all methods there. The best of 25 noisy losses is too good by luck. So for each cell the losses are drawn
again for an `uncertain.fit` that is truly as good as the best other method, with the standard errors of the
stored result (each method's difference by itself, normal): what it could reach. Of two methods other than
`uncertain.fit` the standard error of the difference is taken as the root of the sum of squares of both.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from arena.results import OURS, read

DRAWS = 4_000
STORED = Path(__file__).parents[1] / "arena" / "results.csv"


def cells() -> list[dict[str, tuple[float, float]]]:
    """Of each cell, every method's difference to `uncertain.fit` and its standard error."""
    tasks = read(STORED)["tasks"].values()
    found = []
    for entry in tasks:
        scores = {name: one["scores"] for name, one in entry["methods"].items() if "scores" in one}
        for factor in scores[OURS]:
            found.append(
                {name: tuple(one[factor]["behind"]) for name, one in scores.items() if factor in one}
            )
    return found


def holds(cell: dict[str, tuple[float, float]], name: str) -> bool:
    """Is it within one standard error of the best?"""
    best = min(cell, key=lambda other: cell[other][0])
    off, se = cell[name][0] - cell[best][0], np.hypot(cell[name][1], cell[best][1])
    return bool(off <= se)


def ceiling(cell: dict[str, tuple[float, float]], random: np.random.Generator) -> float:
    """How often one that is as good as the best other method is within one standard error of the best."""
    known = np.array([pair for name, pair in cell.items() if name != OURS and pair[1] > 0.0])
    if not len(known):
        return 1.0
    off, se = known[:, 0] - known[:, 0].min(), known[:, 1]
    drawn = off + se * random.normal(size=(DRAWS, len(off)))
    best = drawn.argmin(axis=1)
    return float(np.mean(-drawn[np.arange(DRAWS), best] <= se[best]))


def main() -> None:
    """Print shares of cells."""
    found, random = cells(), np.random.default_rng(0)
    shares = {
        name: (np.mean([holds(cell, name) for cell in found if name in cell]), sum(name in c for c in found))
        for name in {name for cell in found for name in cell}
    }
    for name, (share, n) in sorted(shares.items(), key=lambda item: -item[1][0]):
        print(f"{name:32s} {share:.2f} of {n} cells")
    others = (", means", ", error columns", ", copies")
    for told, left_out in {
        "the call that is told the errors": [f"{OURS}, noise=(1, 8)"],
        "other methods of this library": [m for m in shares if m != OURS and not m.endswith(others)],
    }.items():
        held = [holds({m: pair for m, pair in c.items() if m not in left_out}, OURS) for c in found]
        print(f"{OURS} without {told}: {np.mean(held):.2f}")
    print(f"as good as the best other one in each cell: {np.mean([ceiling(c, random) for c in found]):.2f}")


if __name__ == "__main__":
    main()
