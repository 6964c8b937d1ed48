"""The tests that the SVM-GSU paper uses to compare two methods, shared by the gsu_*.py scripts.

`paired` compares scores of the same splits, `mcnemar` compares answers to the same rows. A t-test takes its
pairs for independent, and random splits of one data set are not: they share most of their rows, so that its p
comes out too small. Nadeau and Bengio's correction (Machine Learning 52, 2003) puts the variance of the mean
at (1/k + n_test/n_train) times that of the differences instead of 1/k; `paired(..., test_share=)` does that.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

LEVEL = 0.05
"""Below it a difference is called significant."""


@dataclass(frozen=True)
class Paired:
    """Mean of a - b over pairs, its standard error, and the two-sided p of "no difference"."""

    mean: float
    error: float
    p: float

    def __str__(self) -> str:
        return f"{100 * self.mean:+.2f} +- {100 * self.error:.2f} (p = {probability(self.p)})"


def paired(a: ArrayLike, b: ArrayLike, *, test_share: float | None = None) -> Paired:
    """Student's t-test of scores on the same k draws: t = mean(a - b) / error, k - 1 degrees of freedom.

    test_share = n_test / n_train corrects for random splits that share rows; None: pairs are independent.
    """
    difference = np.asarray(a, dtype=float) - np.asarray(b, dtype=float)
    k = len(difference)
    if k < 2:
        raise ValueError(f"a paired test needs at least two pairs, got {k}")
    mean = float(difference.mean())
    error = float(difference.std(ddof=1) * np.sqrt(1 / k + (test_share or 0.0)))
    if error == 0.0:
        return Paired(mean, 0.0, 1.0 if mean == 0.0 else 0.0)
    return Paired(mean, error, float(2 * stats.t.sf(abs(mean) / error, k - 1)))


@dataclass(frozen=True)
class McNemar:
    """Rows that only one of two methods has right, and the exact two-sided p of "no difference"."""

    only_a: int
    only_b: int
    p: float

    def __str__(self) -> str:
        return f"{self.only_a} : {self.only_b} (p = {probability(self.p)})"


def mcnemar(right_a: ArrayLike, right_b: ArrayLike) -> McNemar:
    """Exact McNemar test: of the rows where the methods differ, Binomial(1/2) are right by the first.

    right_a, right_b: booleans, one per test row, which must be independent rows.
    """
    a, b = np.asarray(right_a, dtype=bool), np.asarray(right_b, dtype=bool)
    if a.shape != b.shape:
        raise ValueError(f"answers to the same rows needed, got shapes {a.shape} and {b.shape}")
    only_a, only_b = int((a & ~b).sum()), int((b & ~a).sum())
    differ = only_a + only_b
    p = float(stats.binomtest(only_a, differ, 0.5).pvalue) if differ else 1.0
    return McNemar(only_a, only_b, p)


def probability(p: float) -> str:
    """Two digits, and no claim below 0.0001."""
    return "< 0.0001" if p < 1e-4 else f"{p:.2g}" if p < 0.1 else f"{p:.2f}"


def standard_error(scores: ArrayLike) -> float:
    """Of a mean over independent draws."""
    values = np.asarray(scores, dtype=float)
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")


def percent(scores: ArrayLike) -> str:
    """Mean and standard error in per cent."""
    values = np.asarray(scores, dtype=float)
    error = standard_error(values)
    spread = "" if np.isnan(error) else f" +- {100 * error:.1f}"
    return f"{100 * values.mean():.1f}{spread}"


def beside(paper: float, scores: ArrayLike, *, digits: int = 1, unit: float = 100.0) -> list[str]:
    """Cells of a table: a printed number, ours, and the difference with its error, in `unit`s.

    The error is the standard error of ours alone: the papers do not print theirs. A difference beyond two
    errors is marked with a star, and the page says why it is there.
    """
    values = unit * np.asarray(scores, dtype=float)
    mean, error = float(values.mean()), standard_error(values)
    return [f"{unit * paper:g}", *difference(unit * paper, mean, error, digits)]


def difference(paper: float, ours: float, error: float, digits: int = 1) -> list[str]:
    """Ours with its error, and ours minus the paper's with the same error; a star beyond two errors."""
    if np.isnan(error):
        return [f"{ours:.{digits}f}", f"{ours - paper:+.{digits}f}"]
    star = " *" if abs(ours - paper) > 2 * error else ""
    spread = f"+- {error:.{digits}f}"
    return [f"{ours:.{digits}f} {spread}", f"{ours - paper:+.{digits}f} {spread}{star}"]
