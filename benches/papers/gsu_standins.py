"""Tables III and V of the SVM-GSU paper on stand-ins, for docs/papers/gsu-standins.md.

    python benches/papers/gsu_standins.py [--quick]

The paper's data (DEAP: EEG and ratings; TRECVID MED: videos) are licensed and not here. Both pipelines are
run on simulations instead, with the functions a user would take:

    EEG     signals -> uncertainty.welch (log band powers, their covariance between windows) -> SVM-GSU,
            leaving out one subject at a time
    video   frames -> uncertainty.from_replicates (mean and covariance of the frames) -> SVM-GSU in subspaces,
            average precision of rare events

Nothing here says how the method does on the paper's data.
"""

from collections.abc import Sequence
from typing import Any

import gsu_methods as methods
import numpy as np
import page
from numpy.typing import NDArray
from scipy import signal
from significance import paired, percent
from sklearn.metrics import average_precision_score, balanced_accuracy_score
from sklearn.model_selection import GroupKFold, StratifiedShuffleSplit

from uncertain import GaussianArray, uncertainty

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

ALPHAS = (1e-3, 1e-2, 1e-1, 1.0)
BANDS = {"theta": (4.0, 8.0), "alpha": (8.0, 13.0), "beta": (13.0, 30.0), "gamma": (30.0, 45.0)}
RATE, CHANNELS = 128.0, 6
D, EVENTS = 24, 4
SHARES = (0.5, 0.9)


def main(argv: Sequence[str] | None = None) -> str:
    quick = page.options(__doc__ or "", argv).quick
    size = {"subjects": 3, "trials": 12} if quick else {"subjects": 10, "trials": 30}
    seeds = range(1 if quick else 4)
    tables = {"eeg": eeg(seeds, **size), "video": video(range(1 if quick else 5), 1 if quick else EVENTS)}
    return page.update("gsu-standins.md", tables, quick=quick)


def eeg(seeds: Sequence[int], subjects: int, trials: int) -> str:
    """Accuracy of each left-out subject, over simulated studies."""
    kinds = {"one window (spread)": "population", "mean of the windows (error)": "mean"}
    scores: dict[tuple[str, str], list[float]] = {}
    for seed in page.progress(seeds, "EEG"):
        x, y, subject = recordings(seed, subjects, trials)
        for kind, of in kinds.items():
            data = uncertainty.welch(x, RATE, BANDS, nperseg=128, of=of)
            for method in methods.FOUR:
                if method == methods.LSVM and of == "mean":
                    continue
                for left in range(subjects):
                    train = subject != left
                    inner = GroupKFold(min(3, subjects - 1))
                    found = methods.search(
                        method,
                        data[train],
                        y[train],
                        alphas=ALPHAS,
                        folds=list(inner.split(y[train], y[train], subject[train])),
                        scale=True,
                        settings={"tol": 1e-4},
                    )
                    right = methods.predict(found, data[~train]) == y[~train]
                    scores.setdefault((kind, method), []).append(float(right.mean()))
    base = scores[next(iter(kinds)), methods.LSVM]
    rows = [
        [
            "means alone" if method == methods.LSVM else kind,
            method,
            percent(values),
            "" if values is base else str(paired(values, base)),
        ]
        for (kind, method), values in scores.items()
    ]
    head = ["covariance of", "method", f"accuracy, {len(base)} left-out subjects", "against the linear SVM"]
    return page.table(head, rows, numbers=2)


def recordings(seed: int, subjects: int, trials: int, channels: int = CHANNELS) -> tuple[Floats, Ints, Ints]:
    """Coloured noise with waxing and waning alpha waves, whose left-right balance tells the class a little.

    (signals of 12 s, label, subject). Subjects differ in the strength of every channel, and trials in how
    restless they are: movement adds power of all frequencies for a part of the time.
    """
    rng = np.random.default_rng(seed)
    n, samples = subjects * trials, int(12 * RATE)
    subject = np.repeat(np.arange(subjects), trials)
    y = rng.permuted(np.tile(np.arange(trials) % 2, (subjects, 1)), axis=1).ravel()
    t = np.arange(samples) / RATE
    frequency = np.fft.rfftfreq(samples, 1 / RATE)
    pink = np.fft.irfft(
        np.fft.rfft(rng.normal(size=(n, channels, samples))) / np.sqrt(np.maximum(frequency, 1.0)), samples
    )
    side = np.where(np.arange(channels) < channels // 2, 1.0, -1.0)
    gain = np.exp(0.3 * rng.normal(size=(subjects, channels)))[subject]
    balance = np.exp(0.12 * side * (2 * y - 1)[:, None] + 0.15 * rng.normal(size=(n, channels)))
    waxing = 1 + 0.7 * np.sin(2 * np.pi * (0.1 + 0.2 * rng.random((n, 1))) * t + 6 * rng.random((n, 1)))
    phase = np.cumsum(
        2 * np.pi * (10 + rng.normal(size=(n, 1, 1)) + 0.3 * rng.normal(size=(n, 1, samples))), 2
    )
    waves = (gain * balance)[:, :, None] * waxing[:, None, :] * np.sin(phase / RATE)
    restless = rng.gamma(1.0, 0.6, size=(n, channels, 1))
    when = signal.sawtooth(2 * np.pi * (t / 6 + rng.random((n, 1, 1)))) > 0.3
    movement = restless * when * rng.normal(size=(n, channels, samples))
    return gain[:, :, None] * pink * 3 + 0.3 * waves + movement, y.astype(np.int64), subject


def video(seeds: Sequence[int], events: int) -> str:
    """Average precision of each rare event, one against the background."""
    cases = [("means alone", "population", methods.LSVM)]
    cases += [("one frame (spread)", "population", m) for m in (*methods.FOUR[1:], methods.SUBSPACE)]
    cases += [("mean of the frames (error)", "mean", m) for m in (*methods.FOUR[1:], methods.SUBSPACE)]
    scores: dict[tuple[str, str], list[float]] = {}
    for seed, event in page.progress([(s, e) for s in seeds for e in range(events)], "video"):
        for kind, of, method in cases:
            train, y = clips(seed, event, 10, 150, of)
            test, truth = clips(seed + 1000, event, 40, 400, of)
            found = methods.search(
                method,
                train,
                y,
                alphas=ALPHAS,
                shares=SHARES,
                folds=list(StratifiedShuffleSplit(3, test_size=0.4, random_state=seed).split(y, y)),
                scale=True,
                score=balanced_accuracy_score,
                settings={"tol": 1e-4, "class_weight": "balanced"},
            )
            precision = average_precision_score(truth, methods.decision(found, test))
            scores.setdefault((kind, method), []).append(float(precision))
    base = next(iter(scores.values()))
    rows = [
        [*case, percent(v), "" if v is base or len(v) < 2 else str(paired(v, base))]
        for case, v in scores.items()
    ]
    count = f"average precision, {len(base)} event models"
    return page.table(["covariance of", "method", count, "against the linear SVM"], rows, numbers=2)


def clips(seed: int, event: int, positive: int, negative: int, of: Any) -> tuple[GaussianArray, Ints]:
    """Videos as Gaussians of their frames' descriptors."""
    values, owner, y = frames_of(seed, event, positive, negative)
    return uncertainty.from_replicates(values, by=owner, of=of), y


def frames_of(seed: int, event: int, positive: int, negative: int) -> tuple[Floats, Ints, Ints]:
    """Descriptors of frames, the video of each, and the label of each video.

    A video has 8 to 60 frames. Its own mean lies around that of its class; its frames vary strongly in
    the three directions of its scene, and a little in all others.
    """
    world = np.random.default_rng([7, event])  # the same for training and test
    where = world.normal(size=D) * 0.28
    scenes = world.normal(size=(12, D, 3)) * np.array([1.2, 0.8, 0.5])
    rng = np.random.default_rng([seed, event])
    y = np.repeat([1, 0], [positive, negative])
    frames = rng.integers(8, 61, size=len(y))
    centre = 0.5 * rng.normal(size=(len(y), D)) + y[:, None] * where
    scene = rng.integers(len(scenes), size=len(y))
    owner = np.repeat(np.arange(len(y)), frames)
    moves = rng.normal(size=(len(owner), 3))
    values = centre[owner] + np.einsum("fdr,fr->fd", scenes[scene][owner], moves)
    values += 0.3 * rng.normal(size=values.shape)
    return values, owner, y


if __name__ == "__main__":
    main()
