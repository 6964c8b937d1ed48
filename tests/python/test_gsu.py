"""GSUClassifier against its objective in NumPy, minimised by SciPy, and under scikit-learn's tools: labels,
weights, probabilities, batches."""

import pickle
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from catalogues import of_kind
from numpy.typing import NDArray
from scipy.special import ndtr

from uncertain import GaussianArray, GSUClassifier, GSURegressor
from uncertain.exceptions import ParameterError, UncertainError

ALPHA = 0.02


def problem(kind: str, n: int = 120, d: int = 4) -> tuple[GaussianArray, NDArray[np.int64]]:
    """Two overlapping classes, with covariances of this kind."""
    rng = np.random.default_rng(7)
    y = np.where(rng.random(n) < 0.4, 1, -1)
    means = rng.normal(size=(n, d)) + 0.8 * y[:, None] * np.arange(d) / d
    return of_kind(kind, means, rng), y


@pytest.mark.parametrize("seed", range(12))
def test_a_gap_near_rounding_is_certified(seed: int) -> None:
    """J no longer falls once a step is the square root of rounding; the bound still rises."""
    rng = np.random.default_rng(seed)
    y = np.arange(30) % 2
    roots = rng.normal(size=(30, 3, 3))
    X = GaussianArray(rng.normal(size=(30, 3)) + 0.8 * y[:, None], cov=0.2 * roots @ roots.swapaxes(1, 2))
    model = GSUClassifier(1e-2, tol=1e-12).fit(X, y)
    assert model.status_ == "converged" and model.optimality_gap_ <= 1e-12


@pytest.mark.parametrize(
    ("kernel", "n", "d"), [("linear", 20_000, 4), ("rbf", 2_000, 4), ("linear", 200, 90)]
)
def test_exact_answers_do_not_depend_on_the_seed(kernel: Any, n: int, d: int) -> None:
    """Enough rows for the start on a sample of them; few rows without error bars."""
    rng = np.random.default_rng(0)
    y = np.arange(n) % 2
    means = rng.normal(size=(n, d)) + y[:, None]
    X = GaussianArray(means, std=rng.uniform(0.1, 1.0, means.shape) if d < 90 else None)
    for estimator, target in ((GSUClassifier, y), (GSURegressor, means[:, :4] @ [1.0, 0.5, 0.0, -1.0])):
        fits = [
            estimator(1e-3, kernel=kernel, random_state=seed).fit(X, target) for seed in (None, None, 0, 7)
        ]
        for other in fits[1:]:
            np.testing.assert_array_equal(other.coef_, fits[0].coef_)
            np.testing.assert_array_equal(other.intercept_, fits[0].intercept_)


@pytest.mark.parametrize("kind", ["diagonal", "full", "shared", "factor beside diagonal"])
@pytest.mark.parametrize("alpha", [1e-2, 1e-4])
def test_an_exact_feature_that_separates_beside_noisy_ones(kind: str, alpha: float) -> None:
    """At the optimum every spread is zero, where the loss has a kink: w = (0, 0, 1), J = alpha / 2."""
    rng = np.random.default_rng(0)
    y = np.where(np.arange(80) % 2, 1, -1)
    means = np.column_stack([rng.normal(y, 1.0), rng.normal(size=80), y])
    std = rng.uniform(0.3, 0.6, 80)
    cov = std[:, None, None] ** 2 * np.array([[1.0, 0.4, 0.0], [0.4, 2.0, 0.0], [0.0, 0.0, 0.0]])
    X = {
        "diagonal": GaussianArray(means, var=np.diagonal(cov, axis1=1, axis2=2)),
        "full": GaussianArray(means, cov=cov),
        "shared": GaussianArray(means, cov=cov[0]),
        "factor beside diagonal": GaussianArray(
            means, factor=std[:, None, None] * [[1.0], [0.4], [0.0]], var=std[:, None] ** 2 * [0.0, 1.0, 0.0]
        ),
    }[kind]
    model = GSUClassifier(alpha).fit(X, y)
    assert model.status_ == "converged" and model.optimality_gap_ <= 1e-6
    np.testing.assert_allclose(model.objective_, alpha / 2, rtol=1e-5)
    np.testing.assert_allclose(model.coef_, [[0.0, 0.0, 1.0]], atol=1e-3)


def test_probabilities_of_the_plain_hinge_know_error_bars() -> None:
    X, y = problem("isotropic", n=300)
    model = GSUClassifier(ALPHA, loss="hinge", probability=True, random_state=0).fit(X, y)
    blurred = GaussianArray(X.means, std=5.0)
    sure, unsure = (np.abs(model.predict_proba(rows)[:, 1] - 0.5).mean() for rows in (X.means, blurred))
    assert unsure < 0.5 * sure


@pytest.mark.parametrize("offset", [0.0, 3.0, None])
def test_steps_of_sgd_have_the_lengths_of_algorithm_1(offset: float | None) -> None:
    """All rows with the same y x: whatever the batches are, the first steps can be written down."""
    x, y = np.array([1.0, 2.0]), np.array([1, -1, 1, -1])
    first = 1.0 / ALPHA if offset is None else offset
    w, b = np.zeros(2), 0.0
    for step in range(1, 3):
        given = {"solver": "sgd", "max_iter": step, "averaging": False, "projection": False}
        model = GSUClassifier(ALPHA, step_offset=offset, fit_intercept=False, **given)
        model.fit(GaussianArray(y[:, None] * x, std=0.5), y)
        m, s = x @ w + b, 0.5 * np.linalg.norm(w)
        u = (1.0 - m) / s if s > 0 else np.inf
        spread = np.exp(-(u**2) / 2) / np.sqrt(2 * np.pi) * 0.25 * w / s if s > 0 else 0.0
        w = w - (ALPHA * w + spread - ndtr(u) * x) / (ALPHA * (step + first))
        np.testing.assert_allclose(model.coef_[0], w, rtol=1e-12)


def test_algorithm_1_comes_to_the_minimum() -> None:
    X, y = problem("diagonal")
    best = GSUClassifier(ALPHA).fit(X, y).objective_
    literal = {"step_offset": 0.0, "averaging": False, "batch_size": 1, "random_state": 0}
    found = [
        GSUClassifier(ALPHA, solver="sgd", max_iter=t, **literal).fit(X, y).objective_ for t in (100, 50_000)
    ]
    assert best <= found[1] < 1.001 * best < 1.01 * best < found[0]
    with pytest.raises(ParameterError, match="step_offset = -1"):
        GSUClassifier(ALPHA, solver="sgd", step_offset=-1.0).fit(X, y)


def rows(n_classes: int = 2, n: int = 150, seed: int = 3) -> tuple[GaussianArray, NDArray[np.int64]]:
    """Classes around the corners of a polygon, with diagonal covariances."""
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=n)
    angle = 2 * np.pi * y / n_classes
    means = rng.normal(size=(n, 3))
    means[:, :2] += 2 * np.column_stack([np.cos(angle), np.sin(angle)])
    return GaussianArray(means, std=rng.uniform(0.1, 0.9, size=(n, 3))), y


# ---- labels


@pytest.mark.parametrize(
    "names",
    [["no", "yes"], [False, True], [-1, 1], [10, 3], [0.0, 1.0], np.array(["b", "a"], dtype=object)],
    ids=str,
)
def test_labels_of_any_type(names: Any) -> None:
    X, y = rows()
    labels = np.asarray(names)[y]
    model = GSUClassifier().fit(X, labels)
    np.testing.assert_array_equal(model.classes_, np.unique(labels))
    assert set(model.predict(X).tolist()) == set(np.asarray(names).tolist())
    assert model.predict(X).dtype == labels.dtype
    positive = model.decision_function(X) > 0
    np.testing.assert_array_equal(model.predict(X), model.classes_[positive.astype(int)])
    assert model.score(X, labels) > 0.9


def test_labels_in_series() -> None:
    X, y = rows()
    names = np.array(["cat", "dog"])[y]
    expected = GSUClassifier().fit(X, names).coef_
    for labels in (pl.Series(names), pd.Series(names), names.tolist(), pd.Series(names, dtype="category")):
        np.testing.assert_array_equal(GSUClassifier().fit(X, labels).coef_, expected)


def test_one_against_the_rest() -> None:
    X, y = rows(4)
    model = GSUClassifier().fit(X, y)
    assert model.coef_.shape == (4, 3)
    assert model.intercept_.shape == (4,)
    assert model.objective_.shape == model.optimality_gap_.shape == model.n_iter_.shape == (4,)
    assert model.status_.tolist() == ["converged"] * 4
    for k in range(4):
        alone = GSUClassifier().fit(X, y == k)
        np.testing.assert_allclose(model.coef_[k], alone.coef_[0], rtol=1e-9, atol=1e-12)
    scores = model.decision_function(X)
    assert scores.shape == (150, 4)
    np.testing.assert_array_equal(model.predict(X), scores.argmax(axis=1))
    mean, std = model.decision_distribution(X)
    assert mean.shape == std.shape == (150, 4)


# ---- weights


def test_class_weight() -> None:
    X, y = rows()
    y = (y > 0) & (X.means[:, 2] > 0.5)
    share = y.mean()
    by_hand = GSUClassifier().fit(X, y, sample_weight=np.where(y, 0.5 / share, 0.5 / (1 - share)))
    balanced = GSUClassifier(class_weight="balanced").fit(X, y)
    np.testing.assert_allclose(balanced.coef_, by_hand.coef_, rtol=1e-6)
    named = GSUClassifier(class_weight={True: 0.5 / share, False: 0.5 / (1 - share)}).fit(X, y)
    np.testing.assert_allclose(named.coef_, by_hand.coef_, rtol=1e-6)
    both = GSUClassifier(class_weight={True: 2.0, False: 1.0}).fit(X, y, sample_weight=np.where(y, 1.0, 2.0))
    np.testing.assert_allclose(both.coef_, GSUClassifier().fit(X, y).coef_, rtol=1e-6)


# ---- probabilities


def test_probabilities_follow_the_covariance_of_the_row() -> None:
    X, y = rows()
    model = GSUClassifier(probability=True, random_state=0).fit(X, y)
    exact = model.predict_proba(X.collapse("zero"))
    spread = model.predict_proba(GaussianArray(X.means, std=3.0))
    np.testing.assert_allclose(exact.sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_array_equal(exact, model.predict_proba(np.asarray(X.means)))
    sure = np.abs(exact[:, 1] - 0.5) > 0.1
    assert np.all((np.abs(spread[:, 1] - 0.5) < np.abs(exact[:, 1] - 0.5))[sure])
    assert np.all((spread[:, 1] > 0.5) == (exact[:, 1] > 0.5), where=sure)
    np.testing.assert_allclose(model.predict_log_proba(X), np.log(model.predict_proba(X)))
    error = np.abs(exact[:, 1].mean() - y.mean())
    assert error < 0.05, "Platt's sigmoid is calibrated on the average"


# ---- batches


def test_partial_fit() -> None:
    X, y = rows(n=600)
    best = GSUClassifier(0.05).fit(X, y)
    model = GSUClassifier(0.05, batch_size=20, random_state=0)
    for _ in range(30):
        for start in range(0, 600, 150):
            batch = slice(start, start + 150)
            model.partial_fit(X[batch], y[batch], classes=[0, 1])
    assert model.score(X, y) >= best.score(X, y) - 0.02
    cosine = (model.coef_ @ best.coef_.T) / np.linalg.norm(model.coef_) / np.linalg.norm(best.coef_)
    assert cosine > 0.98


def test_partial_fit_needs_to_know_the_classes() -> None:
    X, y = rows(3)
    with pytest.raises(ParameterError, match="classes"):
        GSUClassifier().partial_fit(X, y)
    model = GSUClassifier().partial_fit(X[y < 2], y[y < 2], classes=[0, 1, 2])
    assert model.coef_.shape == (3, 3)
    model.partial_fit(X, y)
    with pytest.raises(UncertainError, match="row 0 is 5"):
        model.partial_fit(X[:2], [5, 1])
    with pytest.raises(ParameterError, match="first call"):
        model.partial_fit(X, y, classes=[0, 1])
    with pytest.raises(ValueError, match="2 features"):
        model.partial_fit(np.zeros((3, 2)), [0, 1, 2])
    assert not hasattr(GSUClassifier(probability=True), "partial_fit")
    with pytest.raises(AttributeError, match="partial_fit"):
        GSUClassifier(probability=True).partial_fit(X, y, classes=[0, 1, 2])
    with pytest.raises(ParameterError, match="balanced"):
        GSUClassifier(class_weight="balanced").partial_fit(X, y, classes=[0, 1, 2])


def test_batches_go_on_after_a_pickle() -> None:
    X, y = rows(3)
    batches = GSUClassifier(random_state=0).partial_fit(X, y, classes=[0, 1, 2])
    thawed = pickle.loads(pickle.dumps(batches))
    np.testing.assert_array_equal(thawed.partial_fit(X, y).coef_, batches.partial_fit(X, y).coef_)


# ---- telling


def test_callback_and_verbose(capsys: pytest.CaptureFixture[str]) -> None:
    X, y = rows(3)
    seen: list[Any] = []
    model = GSUClassifier(solver="lbfgs", verbose=1, callback=seen.append).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(seen) >= model.n_iter_.sum()
    assert {progress.task for progress in seen} >= {f"class {k} of 3" for k in (1, 2, 3)}
    last = [progress for progress in seen if progress.task == "class 3 of 3"][-1]
    assert last.objective == pytest.approx(model.objective_[2], rel=1e-3)
    assert "class 1 of 3" in lines[0]
    assert "objective" in lines[0]
    quiet = GSUClassifier(solver="lbfgs").fit(X, y)
    assert capsys.readouterr().out == ""
    np.testing.assert_array_equal(quiet.coef_, model.coef_)


# ---- errors


def test_data_that_cannot_be_fitted() -> None:
    X, y = rows()
    with pytest.raises(ValueError, match="class"):
        GSUClassifier().fit(X, y, sample_weight=(y == 0).astype(float))
    nan = np.full(150, np.nan)
    for weights, words in (
        (np.ones(3), "sample_weight"),
        (np.zeros(150), "non-zero"),
        (nan, "sample_weight"),
    ):
        with pytest.raises(ValueError, match=words):
            GSUClassifier().fit(X, y, sample_weight=weights)
    with pytest.raises(ValueError, match=r"y contains NaN in row \d+; leave out"):
        GSUClassifier().fit(X, np.where(y > 0, np.nan, 1.0))


def test_tables_of_lists_are_shown_the_way() -> None:
    X, y = rows()
    means = np.asarray(X.means)
    table = pl.DataFrame({"mean": means, "label": y})
    for frame in (table, table.to_arrow(), pd.DataFrame({"mean": list(means)})):
        with pytest.raises(UncertainError, match=r"'mean'.*AsGaussians.*uncertain\.fit"):
            GSUClassifier().fit(frame, y)
