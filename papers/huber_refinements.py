"""Refinements that stop in a gap, and some that throw away right labels.

python papers/huber_refinements.py [--quick]
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import page

from uncertain import AdaptiveHuberRegressor
from uncertain.plot import RefinementDisplay

ROWS, WRONG = 300, 30


def main(argv: Sequence[str] | None = None) -> str:
    """One line per panel: how many labels were dropped, and how many of them were wrong."""
    quick = page.options(__doc__ or "", argv).quick
    rng = np.random.default_rng(0)
    x = rng.uniform(0.0, 6.0, size=(ROWS, 1))
    clean = np.sin(x[:, 0]) + 0.1 * rng.normal(size=ROWS)
    wrong = rng.choice(ROWS, WRONG, replace=False)
    spoiled = clean.copy()
    spoiled[wrong] += rng.uniform(0.8, 2.5, WRONG)
    figure, axes = page.panels(11.0, 5.6, 2, rows=2, sharex="col", height_ratios=(3, 1))
    told = []
    for column, (y, bad, title) in enumerate(
        [(spoiled, wrong, "30 of 300 labels are wrong"), (clean, wrong[:0], "no label is wrong")]
    ):
        model = AdaptiveHuberRegressor(1e-3, delta=0.15, max_refinements=12).fit(x, y)
        display = RefinementDisplay.from_estimator(model, wrong=bad, ax=list(axes[:, column]))
        display.ax_.set_title(title)
        hits = len(np.intersect1d(display.removed, bad))
        told.append(
            f"{title}: {len(display.removed)} dropped, {hits} of them wrong, in {model.n_refinements_} steps"
        )
    report = "\n".join(told)
    print(report)
    page.picture("refinements.png", figure, quick=quick)
    return report


if __name__ == "__main__":
    main()
