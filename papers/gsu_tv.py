"""Table IV of the SVM-GSU paper: commercials on one channel from another's.

    python papers/gsu_tv.py [--data FOLDER] [--quick]

Two of the five channels, dense features alone: the logarithm of the shot length, and nine features with
their mean and spread over the shot. Each channel is learned and applied to the other; alpha by five
folds of consecutive shots of the learned channel, because neighbouring shots belong to the same programme.
For the same reason the test shots are no independent rows: errors are from resampling whole runs
(consecutive shots of one label).
"""

from collections.abc import Sequence
from typing import Any

import gsu_methods as methods
import numpy as np
import page
import polars as pl
from numpy.typing import NDArray
from significance import difference, mcnemar
from sklearn.metrics import f1_score
from sklearn.model_selection import GroupKFold

from uncertain import GaussianArray, GaussianImputer

Floats = NDArray[np.float64]

ALPHAS = (1e-5, 1e-4, 1e-3, 1e-2)
CHANNELS = ("CNN", "CNNIBN", "NDTV", "TIMES NOW")
PAPER_LSVM = {"CNN": 0.7799, "CNNIBN": 0.7915, "NDTV": 0.8484, "TIMES NOW": 0.7809}
"""F1 of the paper's linear SVM by tested channel: the same number whatever channel it has learned."""
PAPER_GSU = {
    "CNN": (0.9589, 0.8050, 0.8113, 0.9226),
    "CNNIBN": (0.8836, 0.9215, 0.8978, 0.8611),
    "NDTV": (0.9248, 0.8565, 0.9709, 0.8823),
    "TIMES NOW": (0.9461, 0.7863, 0.7493, 0.9421),
}
"""F1 of the paper's SVM-GSU by tested channel, in the order of the learned CHANNELS."""
OWN = ("NDTV, first half, to its second half", "NDTV to itself, a quarter of the shots learned")
"""The cases that the paper has too: NDTV learned, NDTV tested."""
SPREADS = "linear SVM, spreads as features"
EVERY = 4
"""Every fourth shot is learned: neighbours are alike, and all of the other channel's shots are tested."""
RESAMPLES = 2000


def main(argv: Sequence[str] | None = None) -> str:
    options = page.options(__doc__ or "", argv, data=True)
    path = options.data / "tv_news_commercials_bbc_ndtv.parquet"
    if not path.exists():
        raise SystemExit(f"{path} is not there. Original: UCI 326, TV News Channel Commercial Detection.")
    frame = pl.read_parquet(path)
    if options.quick:
        frame = frame.gather_every(8)
    bbc, ndtv = (Channel(frame.filter(pl.col("channel") == name)) for name in ("BBC", "NDTV"))
    cases = {
        "BBC, complete shots, to NDTV": (bbc, "drop", ndtv),
        "BBC, gaps imputed, to NDTV": (bbc, "impute", ndtv),
        "BBC, zeros as they are, to NDTV": (bbc, "zeros", ndtv),
        "NDTV to BBC, complete shots": (ndtv, "drop", bbc),
    }
    shots = frame.filter(pl.col("channel") == "NDTV")
    first, second = (Channel(part) for part in (shots[: len(shots) // 2], shots[len(shots) // 2 :]))
    cases |= {OWN[0]: (first, "drop", second), OWN[1]: (ndtv, "drop", ndtv)}
    if options.quick:
        cases = dict(list(cases.items())[::4])
    runners = [(m, "std") for m in methods.FOUR] + [(methods.GSU, "var"), (SPREADS, "std")]
    work = [(case, *runner) for case in cases for runner in runners]
    answers: dict[str, list[NDArray[Any]]] = {}
    for case, method, reading in page.progress(work, "TV"):
        source, gaps, target = cases[case]
        answers.setdefault(case, []).append(predict(source, gaps, target, method, reading))
    rows, tests, beside = [], [], []
    for case, predictions in answers.items():
        target = cases[case][2]
        known = ~target.missing
        truth, runs = target.y[known], run_numbers(target.y)[known]
        trivial = np.ones_like(truth)
        scores = [f"{f1_score(truth, p):.3f}" for p in predictions]
        rows.append([case, f"{f1_score(truth, trivial):.5f}", *scores])
        if case in OWN:
            for m, paper in ((methods.LSVM, PAPER_LSVM["NDTV"]), (methods.GSU, PAPER_GSU["NDTV"][2])):
                found = predictions[methods.FOUR.index(m)]
                cells = difference(paper, f1_score(truth, found), f1_error(truth, found, runs), 3)
                beside.append([f"{case}: {m}", f"{paper:g}", *cells])
            beside.append([f"{case}: all commercial", "", f"{f1_score(truth, trivial):.3f}", ""])
        lsvm = predictions[0]
        for name, p in {
            "SVM-GSU - linear SVM": predictions[3],
            "isotropic - linear SVM": predictions[2],
            "Power SVM - linear SVM": predictions[1],
            "all commercial - linear SVM": trivial,
        }.items():
            low, middle, high = f1_difference(truth, p, lsvm, runs)
            tests.append(
                [
                    f"{case}: {name}",
                    f"{middle:+.3f} ({low:+.3f} to {high:+.3f})",
                    "no" if low <= 0.0 <= high else "yes",
                    str(mcnemar(p == truth, lsvm == truth)),
                ]
            )
    head = ["learned, tested", "all commercial"]
    head += [f"{m}{', variances' if reading == 'var' else ''}" for m, reading in runners]
    tables = {
        "paper": paper_table({"NDTV": float((ndtv.y > 0).mean())}),
        "own": page.table(["NDTV", "paper", "ours", "difference"], beside),
        "f1": page.table(head, rows),
        "tests": page.table(
            [
                "difference of F1",
                "and 95 % of resampled runs",
                "differs from 0",
                "McNemar as if shots were independent",
            ],
            tests,
        ),
        "reading": reading_table(bbc, ndtv),
    }
    return page.report(tables)


class Channel:
    """Rows of one channel in their order: means, spreads, labels, and whether features 2-17 are missing."""

    def __init__(self, frame: pl.DataFrame) -> None:
        names = [c.removesuffix("_Mean") for c in frame.columns if c.endswith("_Mean")]
        length = np.log(frame["Shot_Length"].to_numpy().astype(float))
        means = frame.select(f"{n}_Mean" for n in names).to_numpy()
        spread = frame.select(f"{n}_Variance" for n in names).to_numpy()
        self.names = ["log Shot_Length", *names]
        self.means = np.column_stack([length, means])
        self.spread = np.column_stack([np.zeros(len(length)), spread])
        self.y = frame["label"].to_numpy().astype(np.int64)
        # The last pair, Edge_Change_Ratio, is there in every row.
        self.missing = ((means[:, :-1] == 0) & (spread[:, :-1] == 0)).all(axis=1)

    def gaussians(self, reading: str, rows: NDArray[np.bool_]) -> GaussianArray:
        given: dict[str, Any] = {reading: self.spread[rows]}
        return GaussianArray(self.means[rows], **given)


def predict(source: Channel, gaps: str, target: Channel, method: str, reading: str) -> NDArray[np.int64]:
    """Labels of the target's complete shots."""
    rows = np.arange(len(source.y)) % EVERY == 0
    if gaps == "drop":
        rows &= ~source.missing
    new = target.gaussians(reading, ~target.missing)
    data = source.gaussians(reading, rows)
    if gaps == "impute":
        means = source.means.copy()
        means[np.ix_(source.missing, np.arange(1, means.shape[1] - 1))] = np.nan
        data = imputed(means[rows], source.spread[rows], reading)
    if method == SPREADS:
        data = GaussianArray(np.column_stack([data.means, source.spread[rows, 1:]]))
        new = GaussianArray(np.column_stack([new.means, target.spread[~target.missing, 1:]]))
    y = source.y[rows]
    folds = list(GroupKFold(5).split(y, y, blocks(y)))
    found = methods.search(
        methods.LSVM if method == SPREADS else method,
        data,
        y,
        alphas=ALPHAS,
        folds=folds,
        scale=True,
        score=f1_score,
        settings={"tol": 1e-4},
    )
    return np.asarray(methods.predict(found, new))


def imputed(means: Floats, spread: Floats, reading: str) -> GaussianArray:
    """Gaps become the conditional Gaussian of the missing features; the other rows keep their own spread."""
    gaps = np.isnan(means).any(axis=1)
    filled = GaussianImputer().fit(means).transform(means)
    cov = np.einsum("ij,jk->ijk", spread**2 if reading == "std" else spread, np.eye(means.shape[1]))
    cov[gaps] += filled.covariances()[gaps]
    return GaussianArray(filled.means, cov=cov)


def run_numbers(y: NDArray[Any]) -> NDArray[np.int64]:
    """The number of each row's run of equal labels."""
    return np.concatenate([[0], np.cumsum(np.diff(y) != 0)])


def blocks(y: NDArray[Any], count: int = 40) -> NDArray[np.int64]:
    """Consecutive rows in `count` equal pieces, that folds do not cut."""
    return np.arange(len(y)) * count // len(y)


def f1_difference(
    truth: NDArray[Any], a: NDArray[Any], b: NDArray[Any], runs: NDArray[np.int64]
) -> tuple[float, float, float]:
    """2.5 %, observed and 97.5 % of F1(a) - F1(b), whole runs drawn with replacement."""
    positive = truth > 0

    def counts(predicted: NDArray[Any]) -> Floats:
        hit = (predicted > 0) & positive
        wrong = (predicted > 0) != positive
        return np.stack([np.bincount(runs, weights=w) for w in (hit, wrong)], axis=1)

    def f1(sums: Floats) -> Floats:
        return 2 * sums[..., 0] / (2 * sums[..., 0] + sums[..., 1])

    first, second = counts(a), counts(b)
    draws = np.random.default_rng(0).multinomial(len(first), np.full(len(first), 1 / len(first)), RESAMPLES)
    differences = f1(draws @ first) - f1(draws @ second)
    low, high = np.quantile(differences, [0.025, 0.975])
    return float(low), float(f1(first.sum(axis=0)) - f1(second.sum(axis=0))), float(high)


def f1_error(truth: NDArray[Any], predicted: NDArray[Any], runs: NDArray[np.int64]) -> float:
    """Standard deviation of F1 over resampled runs."""
    hit, wrong = (predicted > 0) & (truth > 0), (predicted > 0) != (truth > 0)
    hits, wrongs = (np.bincount(runs, weights=w) for w in (hit, wrong))
    draws = np.random.default_rng(0).multinomial(len(hits), np.full(len(hits), 1 / len(hits)), RESAMPLES)
    return float(np.std(2 * draws @ hits / (2 * draws @ hits + draws @ wrongs), ddof=1))


def paper_table(shares: dict[str, float]) -> str:
    """Table IV, and the share p of commercials that gives a constant its linear SVM's F1, 2 p / (1 + p)."""
    rows = []
    for channel in CHANNELS:
        lsvm = PAPER_LSVM[channel]
        known = f"{100 * shares[channel]:.2f} %" if channel in shares else "no data here"
        gsu = [f"{f1:.4f}" for f1 in PAPER_GSU[channel]]
        rows.append([channel, f"{lsvm:.4f}", f"{100 * lsvm / (2 - lsvm):.2f} %", known, *gsu])
    head = ["tested on", "linear SVM, all four", "share for a constant", "commercials in the data"]
    return page.table([*head, *(f"SVM-GSU, learned on {c}" for c in CHANNELS)], rows)


def reading_table(*channels: Channel) -> str:
    """Is `_Variance` a variance? A s.d. grows with the unit of a feature, a variance with its square."""
    rows = []
    means, spread = (
        np.concatenate([getattr(c, part)[~c.missing, 1:] for c in channels]) for part in ("means", "spread")
    )
    level, width, between = np.median(means, axis=0), np.median(spread, axis=0), means.std(axis=0)
    for j, name in enumerate(channels[0].names[1:]):
        ratios = (f"{x / between[j]:.2f}" for x in (width[j], np.sqrt(width[j])))
        rows.append([name, f"{level[j]:.3g}", f"{between[j]:.3g}", f"{width[j]:.3g}", *ratios])
    exponent = np.polyfit(np.log(level), np.log(width), 1)[0]
    rows.append([f"exponent of the spread in the mean: {exponent:.2f}", "", "", "", "s.d.: 1", "variance: 2"])
    head = ["feature", "median mean", "s.d. of the means", "median `_Variance`"]
    head += ["within / between shots, if a s.d.", "if a variance"]
    return page.table(head, rows)


if __name__ == "__main__":
    main()
