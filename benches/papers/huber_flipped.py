"""Which flipped labels are found in one dimension, for docs/papers/adaptive-huber*.md.

python benches/papers/huber_flipped.py [--quick]
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import page
from numpy.typing import NDArray

from uncertain import AdaptiveHuberRegressor

Floats = NDArray[np.float64]

NOISE = (1, 10, 25, 50, 75)
REFINEMENTS = (10, 30)
REASON = {
    1: "",
    10: "ten steps of Delta end before the smallest flips",
    25: "as above",
    50: "no majority: removing every label would give 0.67",
    75: "the majority is flipped, and the few right labels are removed",
}
ROWS, DELTA = 500, 0.1
RANGES = {"away from zero": (0.5, 1.0), "through zero": (-1.0, 1.0)}
"""Where x is uniform; the target is a slope times x, so flips of targets near zero are hardly wrong."""


COLORS = ("#0072b2", "#d55e00", "#5b5b5b")


@dataclass(frozen=True)
class Draw:
    """y = slope x with some signs flipped."""

    x: Floats
    truth: Floats
    y: Floats
    flipped: NDArray[np.int64]

    def fit(self, refinements: int) -> AdaptiveHuberRegressor:
        model = AdaptiveHuberRegressor(
            1e-2 / ROWS,
            1e-3 / ROWS,
            delta=DELTA,
            max_refinements=refinements,
            kernel="linear",
            fit_intercept=False,
            scale_features=False,
        )
        return model.fit(self.x, self.y)

    def dice(self, model: AdaptiveHuberRegressor) -> float:
        """Twice the labels that are flipped and removed, by flipped plus removed."""
        both = len(np.intersect1d(model.removed_, self.flipped))
        return 2.0 * both / (len(model.removed_) + len(self.flipped))

    def error(self, model: AdaptiveHuberRegressor) -> float:
        return float(np.linalg.norm(model.predict(self.x) - self.truth) / np.linalg.norm(self.truth))


def draw(seed: int, limits: tuple[float, float], percent: int) -> Draw:
    rng = np.random.default_rng(seed)
    x = rng.uniform(*limits, size=(ROWS, 1))
    truth = rng.uniform(0.5, 1.5) * x[:, 0]
    flipped = rng.choice(ROWS, size=ROWS * percent // 100, replace=False)
    y = truth.copy()
    y[flipped] *= -1.0
    return Draw(x, truth, y, flipped)


def main(argv: Sequence[str] | None = None) -> str:
    quick = page.options(__doc__ or "", argv).quick
    seeds = range(2 if quick else 20)
    rows, curves = [], {}
    for name, limits in RANGES.items():
        for percent in NOISE:
            cells = []
            for refinements in REFINEMENTS:
                draws = [draw(seed, limits, percent) for seed in seeds]
                models = [d.fit(refinements) for d in draws]
                dice = float(np.mean([d.dice(m) for d, m in zip(draws, models, strict=True)]))
                error = float(np.mean([d.error(m) for d, m in zip(draws, models, strict=True)]))
                curves.setdefault((name, refinements), []).append(dice)
                cells += [f"{dice:.3f}", f"{100 * error:.1f} %"]
            away = name == "away from zero"
            rows.append(
                [
                    f"{name}, {percent} %",
                    *cells,
                    REASON[percent] if away else "",
                ]
            )
    head = [
        "targets, flipped",
        "Dice, T = 10",
        "error",
        "Dice, T = 30",
        "error",
        "reason",
    ]
    picture(curves, quick)
    return page.update("adaptive-huber*.md", {"flipped": page.table(head, rows)}, quick=quick)


def picture(curves: dict[tuple[str, int], list[float]], quick: bool) -> None:
    """One draw with a quarter of its signs flipped, and the Dice coefficients."""
    figure, (left, right) = page.panels(11.0, 4.3, 2)
    d = draw(0, RANGES["through zero"], 25)
    model = d.fit(30)
    removed = np.zeros(ROWS, dtype=bool)
    removed[model.removed_] = True
    for mask, marker, color, name in (
        (~removed, "o", COLORS[0], "kept"),
        (removed, "x", COLORS[1], "removed"),
    ):
        left.scatter(
            d.x[mask, 0], d.y[mask], s=14, marker=marker, color=color, linewidths=0.9, label=f"{name} label"
        )
    ends = np.array([[-1.0], [1.0]])
    left.plot(
        ends, d.fit(0).predict(ends), "--", color=COLORS[2], linewidth=2.0, label="squared loss, all labels"
    )
    left.plot(ends, model.predict(ends), "-", color="black", linewidth=2.0, label="30 refinements")
    left.set(title="a quarter of the signs flipped", xlabel="x", ylabel="y")
    left.legend(fontsize=9)
    for (name, refinements), values in curves.items():
        style = {"marker": "o", "linestyle": "-" if refinements == REFINEMENTS[0] else "--"}
        color = COLORS[list(RANGES).index(name)]
        right.plot(range(len(NOISE)), values, color=color, label=f"{name}, T = {refinements}", **style)
    right.set_xticks(range(len(NOISE)), [f"{percent} %" for percent in NOISE])
    right.set(
        title="removed against flipped", xlabel="flipped signs", ylabel="Dice coefficient", ylim=(-0.03, 1.05)
    )
    right.legend(fontsize=9)
    page.picture("adaptive-huber-flipped.png", figure, quick=quick)


if __name__ == "__main__":
    main()
