"""Tables III and V of the SVM-GSU paper: the printed pipelines, simulated, for docs/papers/gsu-standins.md.

    python benches/papers/gsu_standins_printed.py [--quick]

DEAP: 32 electrodes; logarithms of the power in five bands by Welch's method (160 features), differences of
14 symmetrical pairs in four of them (56), with variances over the windows; features chosen by Fisher's
criterion on the training videos; per participant one video left out at a time; naive Bayes as the baseline;
accuracy and F1.

MED: the diagonal of the covariance of a video's frames; configuration 1 has the means as features,
configuration 2 the variances, too, whose own variance is 1e-6; average precision.

The data of both are licensed: these are simulations, and nothing here says how the methods do on the paper's.
"""

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import gsu_methods as methods
import numpy as np
import page
from gsu_methods import FOUR, GSU, ISO, LSVM, POWER
from gsu_standins import EVENTS, RATE, frames_of, recordings
from numpy.typing import NDArray
from significance import paired, percent
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import average_precision_score, f1_score
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB

from uncertain import GaussianArray, GSUClassifier, uncertainty

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

ALPHAS = (1e-3, 1e-2, 1e-1, 1.0)
BANDS = {
    "theta": (4.0, 8.0),
    "slow alpha": (8.0, 10.0),
    "alpha": (8.0, 12.0),
    "beta": (12.0, 30.0),
    "gamma": (30.0, 45.0),
}
ELECTRODES, PAIRS, VIDEOS = 32, 14, 40
FISHER = 0.3
"""Least value of the criterion, as in the study that introduced DEAP; ten features at least."""
BAYES = "naive Bayes"
SAMPLES = "linear SVM on all frames"
PAPER_DEAP = {
    BAYES: (0.620, 0.583, 0.576, 0.563, 0.554, 0.502),
    LSVM: (0.626, 0.451, 0.616, 0.538, 0.655, 0.470),
    POWER: (0.625, 0.521, 0.633, 0.561, 0.651, 0.522),
    ISO: (0.645, 0.531, 0.645, 0.603, 0.658, 0.530),
    GSU: (0.659, 0.551, 0.650, 0.609, 0.666, 0.539),
}
"""Accuracy and F1 of arousal, valence and liking."""
PAPER_MED = {
    (1, LSVM): 0.1478,
    (1, POWER): 0.1513,
    (1, ISO): 0.1746,
    (1, GSU): 0.1806,
    (1, SAMPLES): 0.1015,
    (2, LSVM): 0.2177,
    (2, POWER): 0.2187,
    (2, ISO): 0.2390,
    (2, GSU): 0.2442,
}
"""Mean average precision over twenty events."""


def main(argv: Sequence[str] | None = None) -> str:
    quick = page.options(__doc__ or "", argv).quick
    participants, videos = (1, 8) if quick else (3, VIDEOS)
    models = [(0, event) for event in range(1 if quick else EVENTS)]
    tables = {"deap": deap(participants, videos), "med": med(models)}
    return page.update("gsu-standins.md", tables, quick=quick)


def deap(participants: int, videos: int) -> str:
    scores: dict[str, list[tuple[float, float]]] = {}
    for person in page.progress(range(participants), "DEAP"):
        signals, y, _ = recordings(100 + person, 1, videos, ELECTRODES)
        data = features(uncertainty.welch(signals, RATE, BANDS, nperseg=128, of="population"))
        answers = {m: np.zeros_like(y) for m in (BAYES, *FOUR)}
        for left in range(videos):
            train = np.arange(videos) != left
            kept = chosen(data.means[train], y[train])
            rows = data[:, kept]
            for method, told in answers.items():
                told[left] = learned(method, rows[train], y[train])(rows[[left]])[0]
        for method, told in answers.items():
            scores.setdefault(method, []).append((float(np.mean(told == y)), f1_score(y, told)))
    table = []
    for method, values in scores.items():
        accuracy, f1 = np.array(values).T
        printed = [f"{value:.3f}" for value in PAPER_DEAP[method]]
        table.append([method, *printed, percent(accuracy), percent(f1)])
    told = [
        f"paper: {what}, {measure}" for what in ("arousal", "valence", "liking") for measure in ("ACC", "F1")
    ]
    return page.table(["method", *told, "simulated: accuracy, %", "F1, %"], table)


def features(bands: GaussianArray) -> GaussianArray:
    """216: all bands, and left minus right of the pairs in all but slow alpha; diagonal covariance."""
    number = np.arange(ELECTRODES * len(BANDS)).reshape(ELECTRODES, len(BANDS))[:, [0, 2, 3, 4]]
    left, right = number[:PAIRS].ravel(), number[ELECTRODES // 2 : ELECTRODES // 2 + PAIRS].ravel()
    variance = bands.covariances().diagonal(0, 1, 2)
    means = np.column_stack([bands.means, bands.means[:, left] - bands.means[:, right]])
    return GaussianArray(means, var=np.column_stack([variance, variance[:, left] + variance[:, right]]))


def chosen(x: Floats, y: Ints) -> Ints:
    """Fisher: squared difference of the class means by the sum of the class variances."""
    a, b = x[y == 1], x[y == 0]
    criterion = (a.mean(axis=0) - b.mean(axis=0)) ** 2 / (a.var(axis=0) + b.var(axis=0))
    enough = np.sort(criterion)[-10]
    return np.flatnonzero(criterion >= min(FISHER, enough))


def learned(method: str, data: GaussianArray, y: Ints) -> Callable[[GaussianArray], Ints]:
    if method == BAYES:
        model = GaussianNB().fit(data.means, y)
        return lambda rows: model.predict(rows.means)
    found = methods.search(method, data, y, alphas=ALPHAS, folds=3, scale=True, settings={"tol": 1e-4})
    return lambda rows: methods.predict(found, rows)


def med(models: Sequence[tuple[int, int]]) -> str:
    scores: dict[tuple[int, str], list[float]] = {}
    for seed, event in page.progress(models, "MED"):
        train, test = ((seed, event, 10, 150), (seed + 1000, event, 40, 400))
        for configuration, method in PAPER_MED:
            rows, y = moments(configuration, *train)
            new, truth = moments(configuration, *test)
            if method == SAMPLES:
                values = on_frames(train, new)
            else:
                folds = StratifiedKFold(10, shuffle=True, random_state=seed)
                found = methods.search(
                    method,
                    rows,
                    y,
                    alphas=ALPHAS,
                    folds=list(folds.split(y, y)),
                    scale=True,
                    score=precision,
                    settings={"tol": 1e-4, "class_weight": "balanced"},
                )
                values = methods.decision(found, new)
            ranked = average_precision_score(truth, values)
            scores.setdefault((configuration, method), []).append(float(ranked))
    table = []
    for (configuration, method), values in scores.items():
        base = scores[configuration, LSVM]
        gain = str(paired(values, base)) if values is not base and len(base) > 1 else ""
        told = 100 * PAPER_MED[configuration, method]
        more = f"{told - 100 * PAPER_MED[configuration, LSVM]:+.2f}" if values is not base else ""
        table.append([f"{configuration}", method, f"{told:.2f}", more, percent(values), gain])
    head = ["configuration", "method", "paper: MAP, %", "against the linear SVM"]
    return page.table([*head, "simulated: MAP, %", "against the linear SVM"], table, numbers=2)


def precision(truth: Ints, answers: Ints) -> float:
    """F1 of the event: what a search can see of a ranking from answers."""
    return float(f1_score(truth, answers, zero_division=0.0))


def moments(configuration: int, *which: int) -> tuple[GaussianArray, Ints]:
    values, owner, y = frames_of(*which)
    diagonal = uncertainty.from_replicates(values, by=owner, of="population").covariances().diagonal(0, 1, 2)
    means = np.stack([values[owner == k].mean(axis=0) for k in range(len(y))])
    if configuration == 1:
        return GaussianArray(means, var=diagonal), y
    both = np.column_stack([means, diagonal])
    return GaussianArray(both, var=np.column_stack([diagonal, np.full_like(diagonal, 1e-6)])), y


def on_frames(which: Any, new: GaussianArray) -> Floats:
    """Every frame is a row with the label of its video."""
    values, owner, y = frames_of(*which)
    unit = values.std(axis=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = GSUClassifier(1e-2, tol=1e-2, class_weight="balanced", n_jobs=1).fit(values / unit, y[owner])
    return np.asarray(model.decision_function(new.means / unit))


if __name__ == "__main__":
    main()
