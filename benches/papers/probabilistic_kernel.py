"""The probabilistic-kernel SVM beside a standard one: for docs/papers/probabilistic-kernel.md.

python benches/papers/probabilistic_kernel.py [--quick]
"""

from collections.abc import Callable, Sequence
from typing import Any

import kernel_problems as problems
import numpy as np
import page
from kernel_problems import Example, Score

from uncertain import GaussianArray, plot

Panel = tuple[str, Score, tuple[float, float] | None]
"""Title, score, and the variances of the points that are scored (None: the machine sees no covariance)."""

LIMIT, BOX = 2.9, 1.4
GREY = "#444444"


def main(argv: Sequence[str] | None = None) -> str:
    quick = page.options(__doc__ or "", argv).quick
    seeds = range(2 if quick else 20)
    draw("disc", problems.disc(0), [(0.01, 0.01), (0.09, 0.09)], quick)
    draw("elongated", problems.elongated(0), [problems.BLUE, problems.RED], quick)
    draw("stretched", problems.stretched(0), [(0.0, 0.0), (0.36, 0.01)], quick)
    draw("crossed", problems.crossed(0), [(0.36, 0.01), (0.01, 0.36)], quick)
    tables = {
        "claims": claims_table(seeds),
        "disc": disc_table(seeds),
        "stretched": stretched_table(seeds),
        "crossed": crossed_table(seeds),
    }
    return page.update("probabilistic-kernel.md", tables, quick=quick)


def draw(name: str, example: Example, tests: list[tuple[float, float]], quick: bool) -> None:
    """Three panels: the standard SVM, and ours for points of two covariances."""
    model, standard = example.fit(), example.standard().decision_function
    panels: list[Panel] = [("standard SVM on the means", standard, None)]
    panels += [(f"points: {covariance(v)}", problems.at(model, v), v) for v in tests]
    figure, axes = page.panels(12.0, 4.9, 3, sharex=True, sharey=True)
    for ax, panel in zip(axes, panels, strict=True):
        one(ax, example, panel, standard)
    handles, labels = ax.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=6, frameon=False, fontsize=11)
    page.picture(f"probabilistic-kernel-{name}.png", figure, quick=quick)


def one(ax: Any, example: Example, panel: Panel, standard: Score) -> None:
    """Rows with some ellipses, the contours, the standard boundary, and the points' own ellipse."""
    title, score, variances = panel
    rows = GaussianArray(example.means, var=example.var)
    for color, label, marker in zip(plot.COLORS, (1.0, -1.0), "os", strict=False):
        mine = np.flatnonzero(example.y == label)
        if variances is not None:
            style = {"facecolors": "none", "edgecolors": (color, 0.55), "linewidths": 0.9}
            plot.ellipses(rows, ax=ax, rows=mine[::8], **style)
        x = example.means[mine]
        ax.scatter(
            x[:, 0],
            x[:, 1],
            s=9,
            marker=marker,
            color=color,
            linewidths=0,
            alpha=0.8,
            label=f"class {label:+.0f}",
        )
    axis = np.linspace(-LIMIT, LIMIT, 161)
    grid = np.stack(np.meshgrid(axis, axis), axis=-1)
    for s, levels, styles, width, color in (
        (standard, [0.0], [":"], 1.6, GREY),
        (score, [-0.5, 0.0, 0.5], ["--", "-", "-."], 2.0, "black"),
    ):
        if s is standard and variances is None and color == GREY:
            continue  # it is the score
        values = s(grid.reshape(-1, 2)).reshape(len(axis), len(axis))
        widths = [width if level == 0.0 else 1.1 for level in levels]
        ax.contour(axis, axis, values, levels, colors=color, linestyles=styles, linewidths=widths, zorder=4)
    for line, width, color, text in (
        ("-", 2.0, "black", "score 0"),
        ("-.", 1.1, "black", "score 0.5"),
        ("--", 1.1, "black", "score -0.5"),
        (":", 1.6, GREY, "standard SVM, score 0"),
    ):
        ax.plot([], [], linestyle=line, linewidth=width, color=color, label=text)
    if variances is not None:
        corner = GaussianArray([[LIMIT - BOX / 2, BOX / 2 - LIMIT]], var=[variances])
        ax.add_patch(_frame())
        if max(variances) > 0.0:
            plot.ellipses(corner, ax=ax, facecolors="#f2c14e", edgecolors="black", linewidths=1.0, zorder=6)
        else:
            ax.scatter(*corner.means.T, s=22, color="#f2c14e", edgecolors="black", zorder=6)
    ax.set(
        xlim=(-LIMIT, LIMIT), ylim=(-LIMIT, LIMIT), aspect="equal", xticks=range(-2, 3), yticks=range(-2, 3)
    )
    ax.set_title(title, fontsize=12)


def _frame() -> Any:
    from matplotlib.patches import Rectangle

    style = {"facecolor": "white", "edgecolor": "black", "linewidth": 0.8, "zorder": 5}
    return Rectangle((LIMIT - BOX, -LIMIT), BOX, BOX, **style)


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
