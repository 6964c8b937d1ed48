"""``alpha="auto"`` and ``C="auto"``: the path against fits of its folds, groups, weights, refusals; classes
that no plane separates are certified quickly, and side by side have the bits of one after the other."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray
from oracles import positive_part, score
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline

import uncertain
from uncertain.exceptions import ParameterError, UncertainError


def two_classes(
    n: int = 240, d: int = 6, seed: int = 0, classes: int = 2
) -> tuple[uncertain.GaussianArray, Any]:
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(n, d))
    std = rng.uniform(0.1, 0.8, size=(n, d))
    score = z[:, 0] - z[:, 1] + 0.7 * rng.normal(size=n)
    y = np.digitize(score, np.quantile(score, np.arange(1, classes) / classes))
    return uncertain.GaussianArray(z + std * rng.normal(size=z.shape), std=std), y


def numbers(n: int = 240, d: int = 6, seed: int = 0) -> tuple[uncertain.GaussianArray, Any]:
    X, _ = two_classes(n, d, seed)
    y = X.means @ np.arange(1.0, d + 1) + 2.0 * np.random.default_rng(seed + 1).normal(size=n)
    return X, y


def assert_rule(estimator: Any, name: str, rows: int) -> None:
    """The strongest penalty within one standard error of the difference from the best, without a gap; of few
    rows the best alpha."""
    path, losses = estimator.path_, estimator.path_["fold_losses"]
    best = int(np.argmin(path["mean_loss"]))
    differences = losses - losses[best]
    errors = differences.std(axis=1, ddof=1) / np.sqrt(losses.shape[1])
    assert_allclose(path["standard_error"], errors, atol=1e-12)
    chosen = best
    while (
        (rows >= 300 or name == "C")
        and chosen
        and path["mean_loss"][chosen - 1] - path["mean_loss"][best] <= errors[chosen - 1]
    ):
        chosen -= 1
    assert getattr(estimator, f"{name}_") == path[name][chosen]
    strength = 1.0 if name == "alpha" else -1.0
    assert (np.diff(strength * path[name]) < 0).all()  # the strongest first


def test_a_penalty_that_is_needed_is_found() -> None:
    """40 exact rows in 30 dimensions, of which one matters: scikit-learn's ridge with the chosen penalty."""
    rng = np.random.default_rng(0)
    x, fresh = rng.normal(size=(40, 30)), rng.normal(size=(5_000, 30))
    y = x[:, 0] + 1.5 * rng.normal(size=40)
    model = uncertain.GSURegressor("auto", loss="squared", tol=1e-10).fit(x, y)
    assert model.alpha_ > 0.05
    ridge = Ridge(alpha=40 * model.alpha_).fit(x, y)
    assert_allclose(model.coef_, ridge.coef_, rtol=1e-4, atol=1e-7)
    error = np.mean((model.predict(fresh) - fresh[:, 0]) ** 2)
    least_squares = np.mean(
        (uncertain.GSURegressor(1e-6, loss="squared").fit(x, y).predict(fresh) - fresh[:, 0]) ** 2
    )
    assert error < 0.2 * least_squares


@pytest.mark.parametrize(
    ("estimator", "name"),
    [
        (uncertain.GSUClassifier("auto"), "alpha"),
        (uncertain.GSUClassifier("auto", kernel="rbf", max_rank=30, probability=True), "alpha"),
        (uncertain.RobustSVC("auto"), "C"),
        (uncertain.RobustSVC("auto", method="psvm"), "C"),
        (uncertain.ProbabilisticKernelSVC("auto", sigma="median"), "C"),
        (uncertain.ProbabilisticKernelSVC("auto", sigma="median", cache_size=0.05), "C"),
    ],
    ids=str,
)
@pytest.mark.parametrize(("classes", "rows"), [(3, 150), (2, 300)])
def test_classifiers(estimator: Any, name: str, classes: int, rows: int) -> None:
    X, y = two_classes(rows, 4, classes=classes)
    model = clone(estimator).fit(X, y)
    assert_rule(model, name, rows)
    assert model.path_["fold_losses"].shape == (len(model.path_[name]), 5)
    assert model.score(X, y) > 0.55
    same = clone(estimator).set_params(random_state=7, n_jobs=1).fit(X, y)
    assert_array_equal(same.path_["fold_losses"], model.path_["fold_losses"])
    fixed = clone(estimator).set_params(**{name: getattr(model, f"{name}_")}).fit(X, y)
    assert_array_equal(fixed.predict(X), model.predict(X))
    again = pickle.loads(pickle.dumps(model))
    assert getattr(again, f"{name}_") == getattr(model, f"{name}_")
    assert_array_equal(again.path_[name], model.path_[name])


def test_rows_without_weight_are_absent() -> None:
    X, y = numbers(120)
    weights = np.ones(len(y))
    weights[::3] = 0.0
    spoilt = np.where(weights == 0, 1e3, y)
    groups = np.arange(len(y)) // 2
    kept = weights > 0
    for estimator in (uncertain.GSURegressor("auto"), uncertain.ProbabilisticKernelSVR("auto", sigma=3.0)):
        a = clone(estimator).fit(X, spoilt, sample_weight=weights, groups=groups)
        b = clone(estimator).fit(X[kept], y[kept], groups=groups[kept])
        assert_array_equal(a.path_["fold_losses"], b.path_["fold_losses"])
    codes = (y > np.median(y)).astype(int)
    for classifier in (uncertain.GSUClassifier("auto"), uncertain.RobustSVC("auto")):
        c = clone(classifier).fit(X, codes, sample_weight=weights)
        d = clone(classifier).fit(X[kept], codes[kept])
        assert_array_equal(c.path_["fold_losses"], d.path_["fold_losses"])


def test_few_rows_are_those_that_have_a_weight() -> None:
    X, y = numbers(400)
    weights = np.arange(400) < 290
    few = uncertain.GSURegressor("auto").fit(X, y, sample_weight=weights.astype(float))
    many = uncertain.GSURegressor("auto").fit(X, y)
    assert_rule(few, "alpha", 290)
    assert_rule(many, "alpha", 400)


def test_tables_files_and_groups(tmp_path: Path) -> None:
    X, y = numbers(150, 2)
    error = np.sqrt(X.covariances().diagonal(axis1=1, axis2=2))
    table = pl.DataFrame(
        {"a": X.means[:, 0], "a_err": error[:, 0], "b": X.means[:, 1], "b_err": error[:, 1], "y": y}
    ).with_columns(night=pl.int_range(150) // 5)
    model = uncertain.fit(table, target="y", groups="night", alpha="auto", meaning="spread", method="gsu")
    last = model.pipeline_[-1]
    direct = make_pipeline(uncertain.GaussianScaler(), uncertain.GSURegressor("auto", delta=last.delta))
    direct.fit(X, y, gsuregressor__groups=np.arange(150) // 5)
    assert_allclose(last.path_["fold_losses"], direct[-1].path_["fold_losses"], rtol=1e-6)
    assert model.residual_std_ is not None
    model.save(tmp_path / "model")
    again = uncertain.load(tmp_path / "model").pipeline_[-1]
    assert (again.alpha, again.alpha_) == ("auto", last.alpha_)


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (uncertain.GSUClassifier(alpha="abc"), r"alpha = 'abc': must be a number > 0, or \"auto\""),  # type: ignore[arg-type]
        (uncertain.GSURegressor(alpha="Auto"), r"alpha = 'Auto': must be a number > 0, or \"auto\""),  # type: ignore[arg-type]
        (uncertain.GSURegressor(alpha=[1.0]), r"alpha = \[1.0\]: must be a number"),  # type: ignore[arg-type]
        (uncertain.GSURegressor(alpha=None), "alpha = None: must be a number"),  # type: ignore[arg-type]
        (uncertain.GSURegressor(alpha=-1.0), "alpha = -1: must be a finite number > 0"),
        (uncertain.RobustSVC(C="much"), r"C = 'much': must be a number > 0, or \"auto\""),  # type: ignore[arg-type]
        (uncertain.ProbabilisticKernelSVC(C="auto", n_components=10), 'C = "auto": must be a number'),
        (uncertain.ProbabilisticKernelSVC(C="auto", kernel="precomputed"), 'C = "auto": must be a number'),
        (uncertain.ProbabilisticKernelSVR(C="auto", kernel="precomputed"), 'C = "auto": must be a number'),
    ],
    ids=str,
)
def test_refusals(estimator: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        estimator.fit(np.eye(12) + 0.1, np.arange(12) % 2)


def test_what_cannot_be_cross_validated() -> None:
    with pytest.raises(ParameterError, match="partial_fit sees one batch"):
        uncertain.GSUClassifier("auto").partial_fit(np.eye(4), [0, 1, 0, 1], classes=[0, 1])
    with pytest.raises(UncertainError, match=r"at least 2 rows .* of every class, but class 1 has 1"):
        uncertain.GSUClassifier("auto").fit(np.eye(4), [0, 0, 0, 1])
    with pytest.raises(UncertainError, match="at least 2 groups"):
        uncertain.GSURegressor("auto").fit(np.eye(4), [0.0, 1.0, 2.0, 3.0], groups=[1, 1, 1, 1])
    assert "alpha_" not in vars(uncertain.AdaptiveHuberRegressor().fit(np.eye(4), [0.0, 1.0, 2.0, 3.0]))


Floats = NDArray[np.float64]


def clouds(n_classes: int, n_rows: int, seed: int) -> tuple[uncertain.GaussianArray, NDArray[np.int64]]:
    """Rows of overlapping clouds in four dimensions, with error bars."""
    centers = 2 * np.random.default_rng(1000).standard_normal((n_classes, 4))
    rng = np.random.default_rng(seed)
    classes = rng.permutation(np.arange(n_rows) % n_classes)
    errors = rng.uniform(0.1, 1.0, (n_rows, 4))
    means = centers[classes] + rng.standard_normal((n_rows, 4)) + errors * rng.standard_normal((n_rows, 4))
    return uncertain.GaussianArray(means, std=errors), classes


@pytest.mark.parametrize("scale", [1.0, 1e6])
def test_a_lost_class_is_certified_in_few_passes_and_keeps_its_direction(scale: float) -> None:
    rows, classes = clouds(30, 1200, 0)
    if scale != 1.0:
        rows = rows @ (scale * np.eye(4))
    model = uncertain.GSUClassifier(alpha=1e-3 * scale**2).fit(rows, classes)
    lost = np.flatnonzero(np.abs(model.coef_ * scale).max(axis=1) < 1e-4)
    assert len(lost) >= 8
    assert max(model.n_iter_) <= 20
    rng = np.random.default_rng(1)
    for k in lost:
        y = np.where(classes == k, 1.0, -1.0)
        x = np.append(model.coef_[k], model.intercept_[k])

        def objective(x: Floats, y: Floats = y) -> float:
            mean, std = score(x[:-1], x[-1], rows)
            return float(1e-3 * scale**2 / 2 * x[:-1] @ x[:-1] + positive_part(1 - y * mean, std).mean())

        here = objective(x)
        assert here == pytest.approx(model.objective_[k], rel=1e-9)
        assert here == pytest.approx(2 / 30, rel=1e-6)
        step = (1e-3, 0.1, 1.0)[k % 3]
        start = x + step * rng.standard_normal(5) / np.append(np.full(4, scale), 1.0)
        found = minimize(objective, start, method="Nelder-Mead")
        assert found.fun >= here * (1 - model.optimality_gap_[k] - 1e-12)
        scores = model.decision_function(rows)[:, k]
        assert scores[classes == k].mean() > np.quantile(scores[classes != k], 0.6)


def test_probabilities_of_lost_classes_say_something() -> None:
    rows, classes = clouds(20, 2000, 0)
    new, known = clouds(20, 2000, 1)
    model = uncertain.GSUClassifier(probability=True, random_state=0).fit(rows, classes)
    p = model.predict_proba(new)
    assert (p.argmax(axis=1) == known).mean() > 0.55
    assert -np.log(p[np.arange(len(known)), known]).mean() < 1.45
