"""Table II of the SVM-GSU paper: breast cancer (WDBC), for docs/papers/gsu-wdbc.md.

    python benches/papers/gsu_wdbc.py [--data FOLDER] [--quick]

Ten random 90/10 splits; alpha by ten folds of the training rows. Every row has ten features, means over the
cell nuclei of an image, with their standard errors. The number of nuclei behind a mean is not in the file,
so the variances are taken by three rules, see `uncertainty.from_standard_errors`.
"""

from collections.abc import Sequence
from typing import Any

import gsu_methods as methods
import numpy as np
import page
import polars as pl
from numpy.typing import NDArray
from significance import mcnemar, paired, percent
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit

from uncertain import GaussianArray, uncertainty

ALPHAS = (1e-4, 1e-3, 1e-2, 1e-1, 1.0)
NUCLEI = 20
"""Assumed number of nuclei behind every mean; the file does not tell."""
RULES = {
    "error of the mean": ("mean", None, True),
    f"spread of the nuclei, N = {NUCLEI} assumed": ("population", NUCLEI, True),
    "the paper's rule, N = 1, scaled features": ("gsu-paper", 1, True),
    "the paper's rule, N = 1, raw features": ("gsu-paper", 1, False),
}
"""Rule, N, and whether it is applied to scaled features: only the paper's depends on the units."""
TEST_SHARE = 0.1 / 0.9


def main(argv: Sequence[str] | None = None) -> str:
    options = page.options(__doc__ or "", argv, data=True)
    frame = read(options.data)
    y = frame["label"].to_numpy()
    splits, inner = (2, 2) if options.quick else (10, 10)
    rules = dict(list(RULES.items())[:1]) if options.quick else RULES
    parts = list(StratifiedShuffleSplit(splits, test_size=0.1, random_state=0).split(y, y))
    folds = list(StratifiedKFold(2 if options.quick else 10, shuffle=True, random_state=1).split(y, y))
    work = [(rule, method) for rule in rules for method in methods.FOUR]
    scores: dict[tuple[str, str], list[float]] = {}
    right: dict[tuple[str, str], NDArray[np.bool_]] = {}
    for rule, method in page.progress(work, "WDBC"):
        known = next((r for r in scores if method == methods.LSVM and r[1] == method), None)
        if known:  # it does not see the variances
            scores[rule, method], right[rule, method] = scores[known], right[known]
            continue
        scores[rule, method] = [
            float(np.mean(answers(method, frame, rule, part, inner, seed))) for seed, part in enumerate(parts)
        ]
        every = np.zeros(len(y), dtype=bool)
        for seed, part in enumerate(folds):
            every[part[1]] = answers(method, frame, rule, part, inner, seed)
        right[rule, method] = every
    rows, tests = [], []
    for rule in rules:
        base = (rule, methods.LSVM)
        rows.append([rule, *(percent(scores[rule, m]) for m in methods.FOUR), "not available here"])
        for m in methods.FOUR[1:]:
            plain = paired(scores[rule, m], scores[base])
            fair = paired(scores[rule, m], scores[base], test_share=TEST_SHARE)
            exact = mcnemar(right[rule, m], right[base])
            tests.append([f"{m}, {rule}", str(plain), str(fair), str(exact)])
    head = ["variances", *methods.FOUR, "paper"]
    tables = {
        "accuracy": page.table(head, rows),
        "tests": page.table(
            ["against the linear SVM", "t-test", "corrected for shared rows", "McNemar, rows right"], tests
        ),
    }
    return page.update("gsu-wdbc.md", tables, quick=options.quick)


def read(folder: Any) -> pl.DataFrame:
    path = folder / "wdbc.parquet"
    if not path.exists():
        raise SystemExit(f"{path} is not there. Original: UCI 17, Breast Cancer Wisconsin (Diagnostic).")
    return pl.read_parquet(path)


def gaussians(frame: pl.DataFrame, rule: str, train: NDArray[np.int64]) -> GaussianArray:
    """All rows, in units of the training rows' standard deviations if the rule asks for that."""
    names = [c.removeprefix("mean_") for c in frame.columns if c.startswith("mean_")]
    means = frame.select(f"mean_{name}" for name in names).to_numpy()
    errors = frame.select(f"{name}_error" for name in names).to_numpy()
    name, n, scaled = RULES[rule]
    unit = means[train].std(axis=0) if scaled else np.ones(means.shape[1])
    return uncertainty.from_standard_errors(means / unit, errors / unit, n, rule=name)


def answers(
    method: str, frame: pl.DataFrame, rule: str, part: Any, inner: int, seed: int
) -> NDArray[np.bool_]:
    """Which test rows are right, parameters by `inner` folds of the training rows."""
    train, test = part
    data, y = gaussians(frame, rule, train), frame["label"].to_numpy()
    # The convex-concave steps of the Power SVM creep at small alpha: hundreds for the last 0.01 per cent.
    settings = {"tol": 1e-4} if method == methods.POWER else {}
    found = methods.search(
        method,
        data[train],
        y[train],
        alphas=ALPHAS,
        folds=inner,
        seed=seed,
        scale=True,
        settings=settings,
    )
    return methods.predict(found, data[test]) == y[test]


if __name__ == "__main__":
    main()
