"""Where error bars pay and where they do not, on simulated rows.

python papers/gain_map.py [--quick]
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import page
from numpy.typing import NDArray
from significance import paired
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from threadpoolctl import threadpool_limits

from uncertain import GaussianArray, GaussianDenoiser, GaussianDiscriminant, GSUClassifier

Floats = NDArray[np.float64]
Labels = NDArray[np.int64]

D, INFORMATIVE, SHIFT = 8, 3, 1.55
"""Features, those in which the classes differ, and by how much: true values have unit variance within a
class, and their best classifier is right in 91 %."""
ROWS_PER_FEATURE = (2, 5, 20, 100)
NOISE = (0.1, 0.3, 1.0, 3.0, 10.0)
"""Mean variance of the noise per feature, in units of the variance of true values within a class."""
ALPHAS = (1e-3, 1e-2, 1e-1, 1.0)
FLOORS = (1e-6, 0.01, 0.1, 0.3, 0.9)
"""Values of the discriminant's `reg_covar`; the first is its default."""
TEST_ROWS = 1000
REPEATS = 12
LEVEL = 0.01
"""Of the paired t-tests behind the stars."""

CASES = {
    "equal": "one noise for all",
    "cells": "by row and feature",
    "correlated": "correlated",
    "noisy training": "exact test rows",
    "noisy test": "exact training rows",
}
CONTESTS = {
    ("spread", "GSU"): "spread\nGSU on (x, S)",
    ("measurement", "denoised + GSU"): "measurement\ndenoised + GSU",
    ("measurement", "discriminant"): "measurement\ndiscriminant",
}
"""The rows of the map: a meaning, and a model that knows it."""
MODELS = ("point SVM", "logistic", "GSU", "denoised + GSU", "discriminant")
Cell = tuple[str, str, int, float]
"""Case, meaning, rows per feature, noise."""
Found = Mapping[Cell, Floats]
"""Test accuracy in per cent of every model, shape (repeats, models)."""


def main(argv: Sequence[str] | None = None) -> str:
    quick = page.options(__doc__ or "", argv).quick
    sizes, levels, repeats = ((2,), (3.0,), 2) if quick else (ROWS_PER_FEATURE, NOISE, REPEATS)
    found: dict[Cell, Floats] = {}
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        cells = list(product(CASES, ("spread", "measurement"), sizes, levels))
        for cell in page.progress(cells, "gain map"):
            found[cell] = np.array([experiment(*cell, seed) for seed in range(repeats)])
        raised = floors(2 if quick else REPEATS)
    picture(found, sizes, levels, quick)
    tables = {"summary": summary(found), "middle": accuracies(found, sizes, levels), "floors": raised}
    return page.report(tables)


@dataclass(frozen=True)
class Draw:
    """True values, covariances of their noise, labels."""

    z: Floats
    S: Floats
    y: Labels

    def readings(self, rng: np.random.Generator) -> Floats:
        """One draw from every row's Gaussian."""
        values, vectors = np.linalg.eigh(self.S)
        roots = vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :]
        return self.z + (roots @ rng.normal(size=self.z.shape)[..., None])[..., 0]


def draw(n: int, case: str, level: float, *, test: bool, rng: np.random.Generator) -> Draw:
    y = rng.permutation(np.arange(n) % 2)
    z = rng.normal(size=(n, D))
    z[:, :INFORMATIVE] += SHIFT * (y[:, None] - 0.5)
    variance = np.exp(1.5 * rng.normal(size=(n, D)) - 1.125)  # mean 1
    if case == "equal":
        variance[:] = 1.0
    if case == "correlated":
        # All noise of a row lies along one direction, at 45 degrees to the one between the classes.
        informative = np.arange(D) < INFORMATIVE
        direction = np.where(informative, (2 * INFORMATIVE) ** -0.5, (2 * (D - INFORMATIVE)) ** -0.5)
        return Draw(z, level * D * variance[:, :1, None] * np.outer(direction, direction), y)
    if case == ("noisy training" if test else "noisy test"):
        variance[:] = 0.0
    return Draw(z, level * variance[:, :, None] * np.eye(D), y)


def readings(
    case: str, meaning: str, per_feature: int, level: float, seed: int
) -> tuple[Draw, Floats, Draw, Floats]:
    """Training rows and their readings, test rows and theirs."""
    rng = np.random.default_rng([seed, per_feature, list(CASES).index(case), int(100 * level)])
    train = draw(per_feature * D, case, level, test=False, rng=rng)
    test = draw(TEST_ROWS, case, level, test=True, rng=rng)
    # A population is known by its centre and judged by what it holds; a measurement is one reading.
    return train, train.z if meaning == "spread" else train.readings(rng), test, test.readings(rng)


def experiment(case: str, meaning: str, per_feature: int, level: float, seed: int) -> list[float]:
    """Test accuracy of the models, in their order."""
    train, x, test, new = readings(case, meaning, per_feature, level, seed)
    rows, points, new_points = GaussianArray(x, cov=train.S), GaussianArray(x), GaussianArray(new)
    new_rows = new_points if meaning == "spread" else GaussianArray(new, cov=test.S)
    denoiser = GaussianDenoiser(tol=1e-4, max_iter=200).fit(rows)
    clean, new_clean = denoiser.transform(rows), denoiser.transform(new_rows)
    accuracies = [
        tuned(svm, points, train.y).score(new_points, test.y),
        tuned(logistic, x, train.y).score(new, test.y),
        tuned(svm, rows, train.y).score(new_points, test.y),
        tuned(svm, clean, train.y).score(new_clean, test.y),
        GaussianDiscriminant(tol=1e-4, max_iter=200).fit(rows, train.y).score(new_rows, test.y),
    ]
    return [100.0 * float(a) for a in accuracies]


def svm(alpha: float, n: int) -> GSUClassifier:
    return GSUClassifier(alpha, tol=1e-4, n_jobs=1)


def logistic(alpha: float, n: int) -> LogisticRegression:
    return LogisticRegression(C=1.0 / (alpha * n), max_iter=300)


def tuned(build: Any, X: Any, y: Labels) -> Any:
    """The strength of the penalty by cross-validation; of equally good ones the strongest."""
    folds = list(StratifiedKFold(4, shuffle=True, random_state=0).split(y, y))
    right = [
        np.mean([build(alpha, len(f)).fit(X[f], y[f]).score(X[out], y[out]) for f, out in folds])
        for alpha in ALPHAS
    ]
    best = len(ALPHAS) - 1 - int(np.argmax(right[::-1]))
    return build(ALPHAS[best], len(y)).fit(X, y)


def gain(accuracy: Floats, model: str) -> tuple[float, bool]:
    """Mean gain over the better of the two that see points; does a paired t-test tell it from chance?"""
    ours = accuracy[:, MODELS.index(model)]
    differences = [ours - accuracy[:, k] for k in (0, 1)]
    least = paired(min(differences, key=lambda d: float(d.mean())), 0.0)
    return least.mean, least.p < LEVEL


def summary(found: Found) -> str:
    """Cells of the map with a gain, without a difference and with a loss, and the extremes."""
    lines = []
    for (meaning, model), title in CONTESTS.items():
        for case, name in CASES.items():
            gains = {c: gain(a, model) for c, a in found.items() if c[:2] == (case, meaning)}
            up = sum(sure and mean > 0 for mean, sure in gains.values())
            down = sum(sure and mean < 0 for mean, sure in gains.values())
            ends = []
            for choose in (max, min):
                cell = choose(gains, key=lambda c: gains[c][0])
                ends.append(f"{gains[cell][0]:+.1f} ({cell[2]} rows per feature, noise {cell[3]:g})")
            counts = [str(up), str(len(gains) - up - down), str(down)]
            lines.append([title.replace("\n", ": "), name, *counts, *ends])
    head = ["meaning: model", "noise", "gain", "no difference", "loss", "highest", "lowest"]
    return page.table(head, lines, numbers=2)


def accuracies(found: Found, sizes: Sequence[int], levels: Sequence[float]) -> str:
    """All models at one noise level, for the smallest and the largest number of rows."""
    level = max(levels) if 3.0 not in levels else 3.0
    lines = []
    for meaning, case, size in product(("spread", "measurement"), CASES, (min(sizes), max(sizes))):
        accuracy = found[case, meaning, size, level]
        error = accuracy.std(axis=0, ddof=1) / np.sqrt(len(accuracy))
        cells = [f"{m:.1f} ± {e:.1f}" for m, e in zip(accuracy.mean(axis=0), error, strict=True)]
        lines.append([meaning, CASES[case], str(size), *cells])
    return page.table(["meaning", "noise", "rows per feature", *MODELS], lines, numbers=2)


def floors(repeats: int) -> str:
    """The discriminant with larger floors under its covariance matrices, at a noise variance of 3."""
    lines = []
    for case, per_feature in product(CASES, (2, 5, 20)):
        right = np.zeros((repeats, len(FLOORS)))
        for seed, (k, floor) in product(range(repeats), enumerate(FLOORS)):
            train, x, test, new = readings(case, "measurement", per_feature, 3.0, seed)
            model = GaussianDiscriminant(reg_covar=floor).fit(GaussianArray(x, cov=train.S), train.y)
            right[seed, k] = 100.0 * float(model.score(GaussianArray(new, cov=test.S), test.y))
        errors = right.std(axis=0, ddof=1) / np.sqrt(repeats)
        cells = [f"{m:.1f} ± {e:.1f}" for m, e in zip(right.mean(axis=0), errors, strict=True)]
        lines.append([CASES[case], str(per_feature), *cells])
    head = ["noise", "rows per feature", *(f"reg_covar = {floor:g}" for floor in FLOORS)]
    return page.table(head, lines, numbers=1)


def picture(found: Found, sizes: Sequence[int], levels: Sequence[float], quick: bool) -> None:
    """A heat map per meaning, model and kind of noise; a cell in bold with a star is no accident."""
    figure, axes = page.panels(15.0, 8.0, len(CASES), rows=len(CONTESTS), sharex=True, sharey=True)
    for row, ((meaning, model), title) in zip(axes, CONTESTS.items(), strict=True):
        for ax, (case, name) in zip(row, CASES.items(), strict=True):
            cells = [[gain(found[case, meaning, n, v], model) for v in levels] for n in sizes]
            values = np.array([[mean for mean, _ in line] for line in cells])
            image = ax.imshow(values, cmap="RdBu", vmin=-12, vmax=12, origin="lower", aspect="auto")
            for (i, j), value in np.ndenumerate(values):
                sure = cells[i][j][1]
                dark = abs(value) > 8
                ax.text(
                    j,
                    i,
                    f"{value:+.1f}{'*' if sure else ''}",
                    ha="center",
                    va="center",
                    fontsize=9,
                    weight="bold" if sure else "normal",
                    color="white" if dark else "black",
                )
            ax.set_xticks(range(len(levels)), [f"{v:g}" for v in levels])
            ax.set_yticks(range(len(sizes)), [str(n) for n in sizes])
            if ax in axes[0]:
                ax.set_title(name, fontsize=11)
        row[0].set_ylabel(f"{title}\n\nrows per feature")
    for ax in axes[-1]:
        ax.set_xlabel("variance of the noise")
    figure.colorbar(image, ax=axes, shrink=0.6, label="gain, points of accuracy", extend="both")
    page.picture("gain-map.png", figure, quick=quick)


if __name__ == "__main__":
    main()
