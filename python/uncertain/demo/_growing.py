"""Errors that grow: the comparison that the demonstration begins with.

The 30 features of the biopsies, each reading with an error of known size: Gaussian, its standard deviation
drawn for every single value, log-normal about 0.3 of the feature's spread. Models learn from readings. New
rows are read with errors of the same kind, and then worse and worse: a random half of the values of each row
has errors k times as large, as on a bad night, and their error bars say so. The noise is simulated, so that
every factor k is the same biopsies again; the biopsies are real.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from .._data.typing import Floats, Labels
from .._held_out.means import standard_error
from .._model.fit import fit
from .._model.model import Model
from ..exceptions import ErrorSizesWarning

FACTORS = (1, 2, 4, 8, 16)
"""How much larger the errors of half the values of new rows are."""
TYPICAL = 0.3
"""The median standard deviation of an error, in units of the feature's spread."""
NAMES = (
    "logistic regression, error bars left out",
    "gradient boosting, error bars left out",
    "gradient boosting, error bars as columns",
    'the same re-measured: method="remeasured"',
    'measurement error: method="gsu"',
)
OURS = NAMES[3:]


@dataclass(frozen=True)
class Style:
    """How a model is drawn: colour, marker and line all tell it, for every kind of colour vision."""

    label: str
    color: str
    marker: str
    line: str
    shift: int = 0


STYLES = (
    Style("logistic regression", "#5b5b5b", "v", ":"),
    Style("boosting", "#b8860b", "s", "--", 6),
    Style("boosting, errors as columns", "#d6604d", "D", "-.", -6),
    Style("boosting, re-measured", "#2166ac", "o", "-"),
    Style("SVM-GSU, noise removed", "#4d9221", "^", "-"),
)
"""In the order of `NAMES`."""


@dataclass(frozen=True)
class Readings:
    """Rows as they were read."""

    values: Floats
    std: Floats
    labels: Labels

    def table(self) -> dict[str, Labels]:
        """A dict of columns: x0, x0_err, ..., and the diagnosis."""
        columns: dict[str, Labels] = {}
        for j in range(self.values.shape[1]):
            columns[f"x{j}"], columns[f"x{j}_err"] = self.values[:, j], self.std[:, j]
        return columns | {"diagnosis": self.labels}

    def wide(self) -> Floats:
        """Values and the logarithms of their errors' sizes, as `ErrorColumns` makes them."""
        return np.hstack([self.values, np.log10(self.std)])


def read(truth: Floats, std: Floats, labels: Labels, rng: np.random.Generator) -> Readings:
    """One reading of every value."""
    return Readings(truth + std * rng.standard_normal(truth.shape), std, labels)


def truth_and_labels() -> tuple[Floats, Labels]:
    """The 30 features of 569 biopsies in units of their spreads, and the diagnoses."""
    data = load_breast_cancer()
    return data.data / data.data.std(axis=0), np.where(data.target == 0, "malignant", "benign")


def grow(splits: int, factors: tuple[int, ...] = FACTORS) -> dict[str, Floats]:
    """Which rows are right: for each of `NAMES` an array factors x splits x rows, NaN for training rows."""
    truth, labels = truth_and_labels()
    correct = {name: np.full((len(factors), splits, len(labels)), np.nan) for name in NAMES}
    parts = StratifiedShuffleSplit(splits, test_size=0.4, random_state=0).split(truth, labels)
    for split, (train, test) in enumerate(parts):
        rng = np.random.default_rng(split)
        sizes = TYPICAL * rng.lognormal(0.0, 0.8, truth.shape)
        answers = learned(read(truth[train], sizes[train], labels[train], rng))
        worse = rng.random(truth[test].shape) < 0.5
        for k, factor in enumerate(factors):
            new = read(truth[test], np.where(worse, factor, 1.0) * sizes[test], labels[test], rng)
            for name, predict in answers.items():
                correct[name][k, split, test] = np.asarray(predict(new)) == new.labels
    return correct


def learned(today: Readings) -> dict[str, Callable[[Readings], Labels]]:
    """Every model of `NAMES`, fitted to these readings."""
    linear = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    linear.fit(today.values, today.labels)
    trees = HistGradientBoostingClassifier(random_state=0).fit(today.values, today.labels)
    wide = HistGradientBoostingClassifier(random_state=0).fit(today.wide(), today.labels)
    table = today.table()
    models = [fit(table, target="diagnosis", method=method) for method in ("remeasured", "gsu")]
    answers: list[Callable[[Readings], Labels]] = [
        lambda new: linear.predict(new.values),
        lambda new: trees.predict(new.values),
        lambda new: wide.predict(new.wide()),
        *(partial(_predicted, model) for model in models),
    ]
    return dict(zip(NAMES, answers, strict=True))


def _predicted(model: Model, new: Readings) -> Labels:
    """A model's predictions, without its warning that errors have grown: here they are made to."""
    table = {name: column for name, column in new.table().items() if name != "diagnosis"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ErrorSizesWarning)
        predicted: Labels = model.predict(table)
    return predicted


def table(correct: dict[str, Floats], factors: tuple[int, ...] = FACTORS) -> str:
    """Accuracies in percent, a line for each model; the largest standard error below."""
    lines = [f"  {'errors of half of the new values x':43}" + "".join(f"{factor:>8}" for factor in factors)]
    largest = 0.0
    for name, right in correct.items():
        cells = [f"{100 * np.nanmean(of_factor):8.1f}" for of_factor in right]
        largest = max(largest, *(100 * standard_error(of_factor) for of_factor in right))
        lines.append(f"  {name:43}" + "".join(cells))
    lines.append(
        f"\n   percent of held-out biopsies that are right; standard errors are at most {largest:.1f}"
    )
    return "\n".join(lines)


def draw(correct: dict[str, Floats], path: Path, factors: tuple[int, ...] = FACTORS) -> None:
    """The table as a picture: accuracy against the size of the errors."""
    from ..plot import new_figure
    from ..plot._figure import bare

    figure, ax = new_figure(7.6, 4.6)
    for name, right in correct.items():
        style = STYLES[NAMES.index(name)]
        mean = np.asarray([100 * np.nanmean(of_factor) for of_factor in right])
        error = np.asarray([100 * standard_error(of_factor) for of_factor in right])
        ours = name in OURS
        ax.fill_between(factors, mean - error, mean + error, color=style.color, alpha=0.15, linewidth=0)
        ax.plot(
            factors,
            mean,
            marker=style.marker,
            color=style.color,
            linestyle=style.line,
            linewidth=2.4 if ours else 1.5,
        )
        ax.annotate(
            style.label,
            (factors[-1], mean[-1]),
            xytext=(8, style.shift),
            textcoords="offset points",
            va="center",
            color=style.color,
            fontsize=10,
            fontweight="bold" if ours else "normal",
            annotation_clip=False,
        )
    ax.set_xscale("log", base=2)
    ax.set_xticks(factors, [f"x {factor}" for factor in factors])
    ax.set_xlabel("errors of half of the values of new rows, against those of the training rows")
    ax.set_ylabel("held-out biopsies that are right (%)")
    ax.grid(axis="y", alpha=0.3)
    bare(ax)
    ax.set_title("New rows are measured worse than old ones", loc="left", fontsize=12)
    figure.savefig(path)
