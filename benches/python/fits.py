"""Fits to a certified gap beside scikit-learn and SciPy, all in this process and in turn."""

import warnings
from pathlib import Path
from time import perf_counter

import numpy as np
import polars as pl
from problems import Problem, diagonal, full, objective, scipy_lbfgs
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC
from timing import seconds

from uncertain import GaussianArray, GSUClassifier

GAP = 1e-6

Row = tuple[str, str, float, str]
"""Problem, who, seconds, note. The first two rows of a problem are ours: the whole, and the fit alone."""


def ours(problem: Problem, repeats: int) -> tuple[GSUClassifier, list[Row]]:
    """From arrays to a certified fit; and the part of it that is the fit."""
    classifier = GSUClassifier(problem.alpha, tol=GAP)
    data = GaussianArray(problem.means, **problem.keywords)

    def whole() -> None:
        classifier.fit(GaussianArray(problem.means, **problem.keywords), problem.y)

    total = seconds(whole, repeats, perf_counter)
    fit = seconds(lambda: classifier.fit(data, problem.y), repeats, perf_counter)
    _same_objective(problem, classifier)
    gap = float(np.max(classifier.optimality_gap_))
    assert gap <= GAP, gap
    note = f"certified gap {gap:.1e}, {int(np.max(classifier.n_iter_))} iterations"
    return classifier, [
        (problem.name, "uncertain, arrays checked and fitted", total, note),
        (problem.name, "uncertain, the fit alone", fit, ""),
    ]


def _same_objective(problem: Problem, classifier: GSUClassifier) -> None:
    x = np.append(classifier.coef_.ravel(), classifier.intercept_)
    value = objective(problem)(x)[0]
    claimed = float(np.ravel(classifier.objective_)[0])
    assert abs(value - claimed) <= 1e-9 * value, (value, claimed)


def against_scipy(problem: Problem, optimum: float) -> Row:
    seconds, passes = scipy_lbfgs(problem, optimum, GAP)
    note = f"{passes} passes, to within {GAP:g} of the optimum" if seconds == seconds else "stopped before"
    return (problem.name, "SciPy L-BFGS-B, same objective in NumPy", seconds, note)


def against_scikit_learn(problem: Problem) -> list[Row]:
    """Estimators that see the means only, with the same penalty."""
    penalty = 1.0 / (problem.alpha * len(problem.y))
    rows: list[Row] = []
    for name, estimator in [
        ("scikit-learn LogisticRegression(lbfgs), means only", LogisticRegression(C=penalty, max_iter=1000)),
        ("scikit-learn LinearSVC(hinge), means only", LinearSVC(C=penalty, loss="hinge", max_iter=1000)),
    ]:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", ConvergenceWarning)
            repeats = 3 if isinstance(estimator, LogisticRegression) else 1
            best = seconds(lambda e=estimator: e.fit(problem.means, problem.y), repeats, perf_counter)
        note = f"tol {estimator.tol:g}, {int(np.max(estimator.n_iter_))} iterations"
        note += ", not converged" if caught else ""
        rows.append((problem.name, name, best, note))
    return rows


def toy(path: Path | None) -> list[Row]:
    """10,000 x 16 with full covariances: the size of the SVM-GSU authors' toy, or that file itself."""
    if path is None:
        problem = full(10_000, 16, alpha=1e-4)
    else:
        table = pl.read_parquet(path)
        means = np.ascontiguousarray(np.vstack(table["mean"].to_numpy()), dtype=np.float64)
        d = means.shape[1]
        cov = np.vstack(table["cov_full"].to_numpy()).astype(np.float64).reshape(-1, d, d)
        y = np.where(table["label"].to_numpy() > 0, 1.0, -1.0)
        problem = Problem(f"{path.name} {len(y):,} x {d}", means, cov, y, 1e-4)
    classifier, rows = ours(problem, repeats=5)
    optimum = float(np.ravel(classifier.objective_)[0])
    rows[0] = (*rows[0][:3], f"{rows[0][3]}, objective {optimum:.8e}")
    return [*rows, against_scipy(problem, optimum)]


def run(scale: float, data: Path | None) -> list[Row]:
    """All comparisons; `scale` < 1 shrinks the number of rows, to try the scripts out."""
    rows: list[Row] = []
    problem = diagonal(int(200_000 * scale), 50)
    classifier, own = ours(problem, repeats=5)
    rows += own
    rows += against_scikit_learn(problem)
    rows.append(against_scipy(problem, float(np.ravel(classifier.objective_)[0])))

    problem = full(int(20_000 * scale), 40)
    classifier, own = ours(problem, repeats=5)
    rows += own
    rows.append(against_scipy(problem, float(np.ravel(classifier.objective_)[0])))
    return rows + toy(data)
