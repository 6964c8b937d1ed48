"""WDBC as it is published, where error bars change next to nothing, and the same biopsies badly measured.

569 biopsies; ten features of the cell nuclei, each a mean over the nuclei with its published standard error.
Row i is N(mean_i, diag(se_i^2)): the error bar of a mean IS its standard error (not the standard deviation of
single nuclei, which is larger).

As published, the error bars are small beside the differences between biopsies and alike from row to row,
and they change little. The second comparison is a controlled experiment on the same biopsies: every other
feature gets noise of two standard deviations, as a bad instrument would add, and its error bar says so.
Numbers are whatever this machine measures.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from sklearn.base import TransformerMixin, clone
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer

from .._data.array import GaussianArray
from .._data.typing import Floats, Labels
from .._held_out.means import standard_error
from ..preprocessing import GaussianDenoiser, GaussianScaler
from ..svm import GSUClassifier

if TYPE_CHECKING:
    import polars

METHODS = (
    ("means only (linear SVM)", "zero"),
    ("equal error bars (isotropic)", "isotropic"),
    ("error bars as spread (SVM-GSU)", None),
    ("as measurement error (denoiser first)", "denoise"),
)


@dataclass(frozen=True)
class Result:
    """One line of the table. `correct`: splits x rows, NaN for rows of the training part."""

    name: str
    correct: Floats
    gap: float
    seconds: float


def wdbc() -> polars.DataFrame:
    """569 breast biopsies (WDBC): ten features of their cell nuclei, with the published standard errors.

    Returns
    -------
    polars.DataFrame
        `diagnosis`, "malignant" or "benign"; ten features, each the mean over the nuclei of a biopsy; and the
        standard error of each mean in `<feature>_se`.
    """
    data = load_breast_cancer()
    names = [n.removeprefix("mean ").replace(" ", "_") for n in data.feature_names[:10]]
    columns = {"diagnosis": np.where(data.target == 0, "malignant", "benign")}
    for j, name in enumerate(names):
        columns[name] = data.data[:, j]
        columns[f"{name}_se"] = data.data[:, 10 + j]
    import polars

    return polars.DataFrame(columns)


def badly_measured(data: GaussianArray, noise: float = 2.0, seed: int = 0) -> GaussianArray:
    """The rows with noise on every other feature, in units of its spread; error bars grow to match."""
    means, var = data.means, np.diagonal(data.covariances(), axis1=1, axis2=2)
    added = noise * means.std(axis=0) * (np.arange(data.n_features) % 2 == 0)
    noisy = means + added * np.random.default_rng(seed).standard_normal(data.shape)
    return GaussianArray(noisy, var=var + np.square(added))


def race(data: GaussianArray, y: Labels, *, train_size: float | int, splits: int) -> list[Result]:
    """The same splits for every method of `METHODS`; only what they make of error bars differs."""
    parts = list(StratifiedShuffleSplit(splits, train_size=train_size, random_state=0).split(y, y))
    results = []
    for name, collapse in METHODS:
        pipeline = method(collapse)
        correct = np.full((splits, len(y)), np.nan)
        for k, (train, test) in enumerate(parts):
            predicted = clone(pipeline).fit(data[train], y[train]).predict(data[test])
            correct[k, test] = predicted == y[test]
        seconds = min(_seconds(pipeline, data, y) for _ in range(3))
        results.append(Result(name, correct, float(np.max(pipeline[-1].optimality_gap_)), seconds))
    return results


def _seconds(pipeline: Pipeline, data: GaussianArray, y: Labels) -> float:
    start = time.perf_counter()
    pipeline.fit(data, y)
    return time.perf_counter() - start


def method(collapse: str | None) -> Pipeline:
    """The classifier on collapsed error bars; after scaling, as variances in different units do not mix.

    "denoise": on posteriors of the true values, which is what `uncertain.fit` does with error columns.
    """
    if collapse == "denoise":
        return make_pipeline(GaussianDenoiser(tol=1e-5), GaussianScaler(spread="total"), GSUClassifier())
    steps: list[TransformerMixin] = [GaussianScaler()]
    if collapse is not None:
        steps.append(FunctionTransformer(_collapsed, kw_args={"to": collapse}))
    return make_pipeline(*steps, GSUClassifier())


def _collapsed(
    rows: GaussianArray | Floats, to: Literal["zero", "isotropic", "diagonal"]
) -> GaussianArray | Floats:
    return rows.collapse(to) if isinstance(rows, GaussianArray) else rows


def table(results: list[Result]) -> str:
    """Accuracy and paired difference to the first line, each with its standard error."""
    lines = [f"  {'':37} {'accuracy':>16}   {'vs means only':>16}   {'certified gap':>13}   {'fit time':>8}"]
    for r in results:
        versus = "" if r is results[0] else _percent(r.correct - results[0].correct, "+")
        numbers = f"{_percent(r.correct):>16}   {versus:>16}   {r.gap:13.1e}   {r.seconds * 1e3:5.1f} ms"
        lines.append(f"  {r.name:37} {numbers}")
    paired = results[-1].correct - results[0].correct
    difference = float(np.nanmean(paired))
    if abs(difference) <= 2 * standard_error(paired):
        verdict = "Here the error bars change the accuracy by no more than chance would."
    else:
        word = "raise" if difference > 0 else "lower"
        verdict = f"Here the error bars {word} the accuracy by more than chance would."
    return "\n".join([*lines, "", f"   {verdict}"])


def _percent(correct: Floats, sign: str = "") -> str:
    mean = np.nanmean(np.nanmean(correct, axis=1))
    return f"{100 * mean:{sign}.2f} +- {100 * standard_error(correct):.2f} %"
