"""One class against many others: what no plane separates is certified quickly and still told apart, and
classes that are fitted side by side have the bits of classes fitted one after the other."""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.stats import norm

from uncertain import GaussianArray, GSUClassifier, MinimaxProbabilityClassifier, RobustSVC

Floats = NDArray[np.float64]


def clouds(n_classes: int, n_rows: int, seed: int) -> tuple[GaussianArray, NDArray[np.int64]]:
    """Rows of overlapping clouds in four dimensions, with error bars."""
    centers = 2 * np.random.default_rng(1000).standard_normal((n_classes, 4))
    rng = np.random.default_rng(seed)
    classes = rng.permutation(np.arange(n_rows) % n_classes)
    errors = rng.uniform(0.1, 1.0, (n_rows, 4))
    means = centers[classes] + rng.standard_normal((n_rows, 4)) + errors * rng.standard_normal((n_rows, 4))
    return GaussianArray(means, std=errors), classes


def objective(x: Floats, means: Floats, variances: Floats, y: Floats, alpha: float) -> float:
    """J(w, b), computed here."""
    w, b = x[:-1], x[-1]
    d = 1 - y * (means @ w + b)
    s = np.sqrt(variances @ w**2)
    u = d / np.maximum(s, 1e-300)
    hinges = np.where(s > 0, d * norm.cdf(u) + s * norm.pdf(u), np.maximum(d, 0))
    return float(alpha / 2 * w @ w + np.mean(hinges))


@pytest.mark.parametrize("scale", [1.0, 1e6])
def test_a_lost_class_is_certified_in_few_passes_and_keeps_its_direction(scale: float) -> None:
    rows, classes = clouds(30, 1200, 0)
    if scale != 1.0:
        rows = rows @ (scale * np.eye(4))
    model = GSUClassifier(alpha=1e-3 * scale**2).fit(rows, classes)
    known = rows.means, rows.covariances().diagonal(axis1=1, axis2=2).copy()
    lost = np.flatnonzero(np.abs(model.coef_ * scale).max(axis=1) < 1e-4)
    assert len(lost) >= 8
    assert max(model.n_iter_) <= 20
    rng = np.random.default_rng(1)
    for k in lost:
        y = np.where(classes == k, 1.0, -1.0)
        x = np.append(model.coef_[k], model.intercept_[k])
        here = objective(x, *known, y, 1e-3 * scale**2)
        assert here == pytest.approx(model.objective_[k], rel=1e-9)
        assert here == pytest.approx(2 / 30, rel=1e-6)
        step = (1e-3, 0.1, 1.0)[k % 3]
        start = x + step * rng.standard_normal(5) / np.append(np.full(4, scale), 1.0)
        found = minimize(objective, start, (*known, y, 1e-3 * scale**2), method="Nelder-Mead")
        assert found.fun >= here * (1 - model.optimality_gap_[k] - 1e-12)
        scores = model.decision_function(rows)[:, k]
        assert scores[classes == k].mean() > np.quantile(scores[classes != k], 0.6)


def test_probabilities_of_lost_classes_say_something() -> None:
    rows, classes = clouds(20, 2000, 0)
    new, known = clouds(20, 2000, 1)
    model = GSUClassifier(probability=True, random_state=0).fit(rows, classes)
    p = model.predict_proba(new)
    assert (p.argmax(axis=1) == known).mean() > 0.55
    assert -np.log(p[np.arange(len(known)), known]).mean() < 1.45


@pytest.mark.parametrize(
    "make",
    [
        lambda jobs: GSUClassifier(probability=True, random_state=0, n_jobs=jobs),
        lambda jobs: RobustSVC(probability=True, random_state=0, n_jobs=jobs),
        lambda jobs: MinimaxProbabilityClassifier(probability=True, random_state=0, n_jobs=jobs),
    ],
)
def test_side_by_side_has_the_bits_of_one_after_the_other(make: object) -> None:
    rows, classes = clouds(12, 700, 0)
    one, several = (make(jobs).fit(rows, classes) for jobs in (1, 4))  # type: ignore[operator]
    assert np.array_equal(one.coef_, several.coef_)
    assert np.array_equal(one.intercept_, several.intercept_)
    assert np.array_equal(one.predict_proba(rows), several.predict_proba(rows))
    assert np.array_equal(one.n_iter_, several.n_iter_)
