"""Re-measured boosting on Kepler's catalogue over three seeds of folds, copies and noise: for kepler.md.

python benches/papers/kepler_seeds.py [--data FOLDER] [--quick]
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
import page
from kepler_catalogue import Catalogue, read
from kepler_models import remeasured, remeasured_in_range, some_stars
from sklearn.model_selection import StratifiedGroupKFold
from threadpoolctl import threadpool_limits

FACTORS = (1.0, 2.0, 3.0, 4.0, 6.0, 8.0)
CASES = {
    "defaults": (remeasured, 1.0),
    "`factors=(1, 4), per_feature=0`": (remeasured_in_range, 1.0),
    "defaults, trained on errors x 3": (remeasured, 3.0),
}


def main(argv: Sequence[str] | None = None) -> str:
    options = page.options(__doc__ or "", argv, data=True)
    rows = read(options.data)
    if options.quick:
        rows = some_stars(rows, 300, seed=0)
    seeds = range(2 if options.quick else 3)
    lines = []
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        for name in page.progress(list(CASES), "Kepler, seeds"):
            found = np.array([accuracies(name, rows, seed) for seed in seeds])
            mean, sd = found.mean(axis=0), found.std(axis=0, ddof=1)
            lines.append([name, *(f"{m:.1f} ± {s:.1f}" for m, s in zip(mean, sd, strict=True))])
    head = ["re-measured boosting", *(f"x {factor:g}" for factor in FACTORS)]
    return page.update("kepler.md", {"seeds": page.table(head, lines)}, quick=options.quick)


def accuracies(name: str, rows: Catalogue, seed: int) -> list[float]:
    """Percent of held-out rows that are right, for every factor on their errors."""
    make, trained = CASES[name]
    right = np.zeros((len(FACTORS), len(rows)))
    splitter = StratifiedGroupKFold(4, shuffle=True, random_state=seed)
    for train, test in splitter.split(rows.planet, rows.planet, rows.star):
        seen = rows[train]
        if trained > 1.0:
            seen = seen.inflated(trained, np.random.default_rng(99 + seed))
        model = make(probability=True).set_params(random_state=seed).fit(seen.X, seen.planet)
        for k, factor in enumerate(FACTORS):
            new = rows[test].inflated(factor, np.random.default_rng(100 * seed + k))
            right[k, test] = model.predict(new.X) == rows.planet[test]
    return (100.0 * right.mean(axis=1)).tolist()


if __name__ == "__main__":
    main()
