"""The probabilistic-kernel SVM beside a standard one.

python papers/probabilistic_kernel.py [--quick]
"""

from collections.abc import Callable, Sequence
from typing import Any

import kernel_problems as problems
import numpy as np
import page
from kernel_problems import Example, Score


def main(argv: Sequence[str] | None = None) -> str:
    quick = page.options(__doc__ or "", argv).quick
    seeds = range(2 if quick else 20)
    tables = {
        "claims": claims_table(seeds),
        "disc": disc_table(seeds),
        "stretched": stretched_table(seeds),
        "crossed": crossed_table(seeds),
    }
    return page.report(tables)


def covariance(variances: tuple[float, float]) -> str:
    if max(variances) == 0.0:
        return "exact"
    if variances[0] == variances[1]:
        return f"covariance {variances[0]:g} I"
    return f"covariance diag({variances[0]:g}, {variances[1]:g})"


def claims_table(seeds: Sequence[int]) -> str:
    """Figs. 2 to 5: where the zero contour is said to go, where it goes, and the range of the scores."""
    low, high = (0.01, 0.01), (0.09, 0.09)
    cases: list[tuple[str, Callable[[int], Example], tuple[float, float] | None, str]] = [
        ("4", problems.disc, None, ""),
        ("2", problems.disc, low, "outward"),
        ("3", problems.disc, high, "inward"),
        ("5 (a)", problems.elongated, problems.BLUE, "inward"),
        ("5 (b)", problems.elongated, problems.RED, "outward"),
    ]
    axis = np.linspace(-2.0, 2.0, 41)
    grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    standard = [e.standard().decision_function for e in map(problems.disc, seeds)]  # the means of Fig. 5 too
    plain = np.array([problems.radii(s).mean() for s in standard])
    rows = []
    for figure, make, variances, claim in cases:
        scores: list[Score] = standard
        if variances is not None:
            scores = [problems.at(make(seed).fit(), variances) for seed in seeds]
        radius = np.array([problems.radii(s).mean() for s in scores])
        values = np.array([[f(s(grid)) for f in (np.min, np.max)] for s in scores])
        moved = "" if variances is None else str(Shift(radius - plain))
        span = f"{values[:, 0].min():.1f} to {values[:, 1].max():.1f}"
        points = "standard SVM" if variances is None else covariance(variances)
        rows.append([figure, points, claim, f"{radius.mean():.3f}", moved, "-1 to 1", span])
    head = ["figure", "points", "paper: boundary goes", "mean radius", "against the standard SVM"]
    return page.table([*head, "paper: scores", "scores found"], rows, numbers=3)


class Shift:
    """Mean of paired differences with its standard error."""

    def __init__(self, difference: Any) -> None:
        self.mean, self.error = difference.mean(), difference.std(ddof=1) / np.sqrt(len(difference))

    def __str__(self) -> str:
        return f"{self.mean:+.3f} +- {self.error:.3f} ({'outward' if self.mean > 0 else 'inward'})"


def disc_table(seeds: Sequence[int]) -> str:
    """Mean radius of the zero contour."""
    tests = [(0.0, 0.0), (0.01, 0.01), (0.04, 0.04), (0.09, 0.09), (0.25, 0.25)]
    measures = [lambda score: float(problems.radii(score).mean())]
    return compare(problems.disc, tests, measures, ["mean radius"], seeds)


def stretched_table(seeds: Sequence[int]) -> str:
    tests = [(0.0, 0.0), (0.01, 0.01), (0.36, 0.01)]
    measures = [
        lambda score: float(problems.radii(score)[[0, 32]].mean()),
        lambda score: float(problems.radii(score)[[16, 48]].mean()),
    ]
    return compare(problems.stretched, tests, measures, ["to left and right", "to top and bottom"], seeds)


def crossed_table(seeds: Sequence[int]) -> str:
    tests = [(0.0, 0.0), (0.36, 0.01), (0.01, 0.36)]
    measures = [lambda score: float(problems.edges(score).mean())]
    return compare(problems.crossed, tests, measures, ["mean x_1"], seeds)


def compare(
    make: Callable[[int], Example],
    tests: list[tuple[float, float]],
    measures: list[Callable[[Score], float]],
    names: list[str],
    seeds: Sequence[int],
) -> str:
    """Place of the zero contour: the mean over seeds, and in how many it is beyond the standard SVM's."""
    found: dict[str, list[list[float]]] = {}
    for seed in seeds:
        example = make(seed)
        score: Score = example.standard().decision_function
        found.setdefault("standard SVM on the means", []).append([m(score) for m in measures])
        for coupling in ("shared", "independent"):
            model = example.fit(coupling)
            for v in tests:
                score = problems.at(model, v)
                found.setdefault(f"{coupling}, {covariance(v)}", []).append([m(score) for m in measures])
    standard = np.array(next(iter(found.values())))
    rows = []
    for name, values in found.items():
        a = np.array(values)
        cells = []
        for k in range(len(measures)):
            farther = int((a[:, k] > standard[:, k]).sum())
            more = "" if a is standard or name.startswith("standard") else f" ({farther} of {len(seeds)})"
            cells.append(f"{a[:, k].mean():.3f}{more}")
        rows.append([name, *cells])
    return page.table(["kernel, points", *names], rows)


if __name__ == "__main__":
    main()
