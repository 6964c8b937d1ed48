"""Demonstration: a table with growing errors, and one without effect.

First the 30 features of the biopsies of WDBC, each reading with an error of known size: Gaussian, its
standard deviation drawn for every value, log-normal about 0.3 of the feature's spread. New rows are read with
errors of the same kind, and then with larger ones: a random half of the values of each row has errors k times
as large, and their error bars say so. The noise is simulated, so that every factor k has the same biopsies;
the biopsies are real. Then the same biopsies with their published standard errors, which are small.
"""

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from textwrap import indent

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from .._data.typing import Floats, Keywords, Labels
from .._held_out.means import standard_error
from .._model.fit import fit
from .._model.model import Model
from ..exceptions import ErrorSizesWarning
from . import wdbc

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


STYLES = (
    ("logistic regression", "#5b5b5b", "v:", 0),
    ("boosting", "#b8860b", "s--", 6),
    ("boosting, errors as columns", "#d6604d", "D-.", -6),
    ("boosting, re-measured", "#2166ac", "o-", 0),
    ("SVM-GSU, noise removed", "#4d9221", "^-", 0),
)
"""Label, colour, marker with line, and shift of the label, in the order of `NAMES`."""


@dataclass(frozen=True)
class Readings:
    """Rows with simulated errors."""

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
        """Values and log sizes of their errors, as of `ErrorColumns`."""
        return np.hstack([self.values, np.log10(self.std)])


def read(truth: Floats, std: Floats, labels: Labels, rng: np.random.Generator) -> Readings:
    """Simulate one reading of every value."""
    return Readings(truth + std * rng.standard_normal(truth.shape), std, labels)


def truth_and_labels() -> tuple[Floats, Labels]:
    """Return 30 features of 569 biopsies in units of spread, and diagnoses."""
    data = load_breast_cancer()
    return data.data / data.data.std(axis=0), np.where(data.target == 0, "malignant", "benign")


def grow(splits: int, factors: tuple[int, ...] = FACTORS) -> dict[str, Floats]:
    """Correct rows by `NAMES`: factors x splits x rows, NaN for training."""
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
    """Fit every model of `NAMES` to these readings."""
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
    """Predictions without the warning that errors have grown."""
    table = {name: column for name, column in new.table().items() if name != "diagnosis"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ErrorSizesWarning)
        predicted: Labels = model.predict(table)
    return predicted


def table(correct: dict[str, Floats], factors: tuple[int, ...] = FACTORS) -> str:
    """Accuracies in per cent, a line per model; below the largest error."""
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
    from ..plot._display import bare

    figure, ax = new_figure(7.6, 4.6)
    for name, right in correct.items():
        label, color, line, shift = STYLES[NAMES.index(name)]
        ours = NAMES.index(name) >= 3
        mean = np.asarray([100 * np.nanmean(of_factor) for of_factor in right])
        error = np.asarray([100 * standard_error(of_factor) for of_factor in right])
        ax.fill_between(factors, mean - error, mean + error, color=color, alpha=0.15, linewidth=0)
        ax.plot(factors, mean, line, color=color, linewidth=2.4 if ours else 1.5)
        place: Keywords = {"xytext": (8, shift), "textcoords": "offset points", "va": "center"}
        font: Keywords = {"color": color, "fontsize": 10, "fontweight": "bold" if ours else "normal"}
        ax.annotate(label, (factors[-1], mean[-1]), annotation_clip=False, **place, **font)
    ax.set_xscale("log", base=2)
    ax.set_xticks(factors, [str(factor) for factor in factors])
    ax.set_xlabel("errors of half of the values of new rows, as multiples of the training errors")
    ax.set_ylabel("held-out biopsies that are right (%)")
    ax.grid(axis="y", alpha=0.3)
    bare(ax)
    ax.set_title("New rows are measured worse than old ones", loc="left", fontsize=12)
    figure.savefig(path)


def run(out: Path | None, say: Callable[[str], object], *, splits: int = 5) -> None:
    """Run the demonstration; `say` gets text, `out`: path of the picture."""
    start = time.perf_counter()
    say("1. 569 biopsies, 30 features; every value is read with an error of known size (simulated noise).")
    say("   Models learn from such readings. New rows are measured worse: a random half of the values of")
    say("   each has errors k times as large, and their error bars say so.\n")
    say('   model = uncertain.fit(table, target="diagnosis", method=...)    # x0, x0_err, x1, x1_err, ...')
    say(f"   model.predict(new)    # {splits} random splits, 60 % for training\n")
    correct = grow(splits)
    say(table(correct))
    if out is not None:
        draw(correct, out)
        say(f"   picture: {out}")

    frame = wdbc()
    say("\n2. And where error bars change nothing: ten features with their published standard errors\n")
    say(str(frame.select("diagnosis", "radius", "radius_se", "texture", "texture_se").head(3)))
    say('\n   model = uncertain.fit(table, target="diagnosis", method="gsu")\n')
    model = fit(frame, target="diagnosis", method="gsu")
    say(indent(str(model), "   "))
    say("\n   model.report(table)\n")
    say(indent(str(model.report(frame, repeats=1)), "   "))
    say("\n   With data of your own, model.report(table) says which of the two cases is yours.")
    say(f"\nDone in {time.perf_counter() - start:.1f} s.")
