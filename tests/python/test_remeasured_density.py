"""Re-measured learners with a density of their own, and of several learners: peaks, laws, files, threads."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import expit, softmax
from sklearn.base import BaseEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression

import uncertain
from uncertain import GaussianArray, Incomplete, RemeasuredClassifier, RemeasuredRegressor
from uncertain.exceptions import ParameterError, UncertainError

GRID = np.linspace(-12.0, 12.0, 481)
PEAK = 0.4


def cde_loss(y: np.ndarray, density: np.ndarray) -> float:
    """int p^2 - 2 p(y) on the grid."""
    step = GRID[1] - GRID[0]
    at = np.rint((y - GRID[0]) / step).astype(int)
    return float(np.mean((density**2).sum(axis=1) * step - 2.0 * density[np.arange(len(y)), at]))


def crps(y: np.ndarray, density: np.ndarray) -> float:
    step = GRID[1] - GRID[0]
    below = np.cumsum(density, axis=1) * step
    return float(np.mean(((below - (y[:, None] <= GRID)) ** 2).sum(axis=1) * step))


def share(z: np.ndarray) -> np.ndarray:
    """Of the upper peak."""
    return np.asarray(1.0 / (1.0 + np.exp(-2.0 * z[:, 1])))


def two_peaks(n: int, seed: int, worse: float = 1.0) -> tuple[GaussianArray, np.ndarray, np.ndarray]:
    """Rows, targets near 3 + z_0 or -3 + z_0, and true features, which are almost what is read."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(n, 2))
    std = 0.05 * worse * rng.uniform(0.5, 1.5, (n, 2))
    sign = np.where(rng.random(n) < share(z), 1.0, -1.0)
    y = 3.0 * sign + z[:, 0] + PEAK * rng.normal(size=n)
    return GaussianArray(z + std * rng.normal(size=z.shape), std=std), y, z


def fitted(X: Any, y: np.ndarray, **parameters: Any) -> RemeasuredRegressor:
    own = {"density": True, "n_trees": 40, "n_copies": 4, "factors": (1, 8), "random_state": 0, "n_jobs": 1}
    return RemeasuredRegressor(**own | parameters).fit(X, y)


@pytest.fixture(scope="module")
def model() -> uncertain.Model:
    X, y, _ = two_peaks(800, 0)
    return uncertain.fit(
        X, y, method="remeasured", density=True, n_trees=40, n_copies=4, factors=(1, 8), n_jobs=1
    )


def test_two_peaks_stay_two(model: uncertain.Model) -> None:
    X, y, z = two_peaks(1_000, 1)
    density = model.predict_density(X, GRID)[1]
    p = share(z)[:, None]
    peaks = (np.exp(-(((GRID - m - z[:, :1]) / PEAK) ** 2) / 2.0) for m in (-3.0, 3.0))
    truth = sum(q * one for q, one in zip((1.0 - p, p), peaks, strict=True)) / (PEAK * np.sqrt(2.0 * np.pi))
    mean, std = model.predict_distribution(X)
    normal = np.exp(-(((GRID - mean[:, None]) / std[:, None]) ** 2) / 2.0) / (
        std[:, None] * np.sqrt(2.0 * np.pi)
    )
    losses = [cde_loss(y, one) for one in (truth, density, normal)]
    assert losses[1] - losses[0] < 0.45 * (losses[2] - losses[0])
    open_ = np.abs(p[:, 0] - 0.5) < 0.2
    between = density[open_, np.abs(GRID).argmin()]
    assert (density[open_].max(axis=1) > 4.0 * between).mean() > 0.9
    assert crps(y, density) < 0.9 * crps(y, normal)


def test_laws_are_laws(model: uncertain.Model) -> None:
    X, y, _ = two_peaks(1_000, 2)
    density = model.predict_density(X, GRID)[1]
    np.testing.assert_allclose(density.sum(axis=1) * (GRID[1] - GRID[0]), 1.0, atol=1e-6)
    quantiles = model.predict_quantiles(X, [0.025, 0.16, 0.5, 0.84, 0.975])
    assert (np.diff(quantiles, axis=1) > 0.0).all()
    within = [np.mean((quantiles[:, k] < y) & (y < quantiles[:, -1 - k])) for k in (0, 1)]
    # A little too wide: residuals are those of one learner, of fewer rows and copies.
    np.testing.assert_allclose(within, [0.95, 0.68], atol=0.08)
    low, high = model.predict_interval(X, coverage=0.9)
    assert abs(np.mean((low < y) & (y < high)) - 0.9) < 0.05
    mean, std = model.predict_distribution(X)
    np.testing.assert_array_equal(mean, model.predict(X))
    assert np.mean(((y - mean) / std) ** 2) == pytest.approx(1.0, abs=0.2)


def test_poor_rows_have_wider_laws() -> None:
    rng = np.random.default_rng(3)
    z = rng.normal(size=(500, 1))
    X = GaussianArray(z + 0.1 * rng.normal(size=z.shape), std=0.1)
    model = fitted(X, 3.0 * z[:, 0])
    sharp, poor = (model.predict_mixture(GaussianArray(X.means, std=std)) for std in (0.1, 0.8))
    variances = [(w * (s**2 + m**2)).sum(axis=1) - (w * m).sum(axis=1) ** 2 for w, m, s in (sharp, poor)]
    assert np.sqrt(variances[1]).mean() > 2.0 * np.sqrt(variances[0]).mean()


def test_predictions_are_those_without(model: uncertain.Model) -> None:
    X, y, _ = two_peaks(300, 4)
    with_, without = fitted(X, y), fitted(X, y, density=False)
    np.testing.assert_array_equal(with_.predict(X), without.predict(X))
    assert hasattr(with_, "predict_mixture") and not hasattr(without, "predict_mixture")
    with pytest.raises(ParameterError, match="density"):
        fitted(X, y, density="yes")


def test_a_file_answers_to_the_last_bit(model: uncertain.Model, tmp_path: Path) -> None:
    X = two_peaks(100, 5)[0]
    model.save(tmp_path / "model")
    loaded = uncertain.load(tmp_path / "model")
    loaded.save(tmp_path / "again")
    assert (tmp_path / "model").read_bytes() == (tmp_path / "again").read_bytes()
    for other in (loaded, pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(other.predict_density(X, GRID)[1], model.predict_density(X, GRID)[1])
        for own, theirs in zip(other.predict_distribution(X), model.predict_distribution(X), strict=True):
            np.testing.assert_array_equal(own, theirs)
        low, high = other.predict_interval(X)
        np.testing.assert_array_equal(high - low, np.subtract(*model.predict_interval(X)[::-1]))


def test_rows_without_weight_and_groups() -> None:
    X, y, _ = two_peaks(300, 8)
    strange = np.arange(300) % 3 == 0
    model = RemeasuredRegressor(density=True, n_trees=20, n_copies=2, factors=(1, 2), random_state=0)
    weighted = model.fit(X, np.where(strange, 1e6, y), sample_weight=np.where(strange, 0.0, 1.0))
    assert np.abs(weighted.predict_mixture(X)[1]).max() < 20.0
    with pytest.raises(UncertainError, match="too few rows or groups"):
        model.fit(X, y, groups=np.zeros(300))


def test_gaps_and_other_learners() -> None:
    X, y, _ = two_peaks(300, 9)
    gaps = np.random.default_rng(0).random(X.shape) < 0.2
    points = np.where(gaps, np.nan, X.means)
    weights, means, stds = fitted(points, y).predict_mixture(points)
    np.testing.assert_allclose(weights.sum(axis=1), 1.0)
    assert np.isfinite(means).all() and (stds > 0.0).all()
    line = RemeasuredRegressor(LinearRegression(), density=True, random_state=0).fit(X, y)
    np.testing.assert_allclose(line.predict_mixture(X)[0].sum(axis=1), 1.0)


def test_targets_that_do_not_vary() -> None:
    X, _, _ = two_peaks(60, 10)
    weights, means, stds = fitted(X, np.full(60, 2.5)).predict_mixture(X)
    np.testing.assert_allclose(means, 2.5, rtol=1e-9)
    assert (stds < 1e-6).all() and np.isfinite(weights).all()


@pytest.mark.parametrize("n", [2, 5, 30])
def test_few_rows_have_few_bins(n: int) -> None:
    X, y, _ = two_peaks(n, 11)
    weights, means, stds = fitted(X, y, n_copies=2).predict_mixture(X)
    assert weights.shape == (n, max(4, n // 5)) and np.isfinite(means).all() and (stds > 0.0).all()


def test_one_row_has_no_density() -> None:
    X, y, _ = two_peaks(1, 12)
    with pytest.raises(UncertainError, match="too few rows"):
        fitted(X, y)


def readings(n: int, seed: int, *, gaps: bool = False) -> tuple[Any, np.ndarray]:
    """Rows and their numbers, the classes of which are their signs or thirds."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=(n, 3))
    std = rng.uniform(0.2, 0.8, (n, 3))
    values = truth + std * rng.normal(size=(n, 3))
    y = truth[:, 0] + np.sin(2.0 * truth[:, 1])
    if gaps:
        return Incomplete.from_arrays(np.where(rng.random((n, 3)) < 0.1, np.nan, values), std=std), y
    return GaussianArray(values, std=std), y


def made(y: np.ndarray, n_classes: int) -> np.ndarray:
    return np.digitize(y, {2: [0.0], 3: [-0.7, 0.7]}[n_classes])


def fitted_several(X: Any, y: np.ndarray, **parameters: Any) -> Any:
    kind = RemeasuredRegressor if y.dtype == np.float64 else RemeasuredClassifier
    return kind(**{"n_trees": 20, "n_copies": 4, "random_state": 0} | parameters).fit(X, y)


@pytest.fixture
def learners(monkeypatch: pytest.MonkeyPatch) -> list[BaseEstimator]:
    """Those of the last fit."""
    kept: list[BaseEstimator] = []
    averaged = RemeasuredClassifier._averaged

    def keep(self: Any, some: list[BaseEstimator]) -> BaseEstimator:
        kept[:] = some
        return averaged(self, some)

    for kind in (RemeasuredClassifier, RemeasuredRegressor):
        monkeypatch.setattr(kind, "_averaged", keep)
    return kept


@pytest.mark.parametrize("n_classes", [0, 2, 3])
@pytest.mark.parametrize("gaps", [False, True])
def test_scores_are_the_mean_of_those_of_the_parts(n_classes: int, gaps: bool, learners: list[Any]) -> None:
    X, y = readings(200, 0, gaps=gaps)
    new = readings(300, 1, gaps=gaps)[0]
    y = made(y, n_classes) if n_classes else y
    model = fitted_several(X, y, n_learners=3)
    columns = model.error_columns_.transform(new)
    assert len(learners) == 3 and [one.n_iter_ for one in learners] == [20] * 3
    if n_classes:
        scores = np.mean([one.decision_function(columns) for one in learners], axis=0)
        p = softmax(scores, axis=1) if n_classes == 3 else expit(scores)
        found = model.predict_proba(new)
        np.testing.assert_allclose(found if n_classes == 3 else found[:, 1], p, rtol=1e-10)
        np.testing.assert_allclose(model.decision_function(new), scores, atol=1e-12)
        assert (model.predict(new) == model.classes_[found.argmax(axis=1)]).all()
    else:
        mean = np.mean([one.predict(columns) for one in learners], axis=0)
        np.testing.assert_allclose(model.predict(new), mean, rtol=1e-10)
    # Each has copies of its own, and the first is what one learner is.
    each = [one.predict(columns) for one in learners]
    assert not np.array_equal(each[0], each[1]) and not np.array_equal(each[1], each[2])
    np.testing.assert_array_equal(fitted_several(X, y, n_learners=1).predict(new), each[0])
    assert pickle.loads(pickle.dumps(model)).predict(new).tolist() == model.predict(new).tolist()


@pytest.mark.parametrize("n_classes", [0, 2, 3])
def test_a_file_of_several_answers_to_the_last_bit(n_classes: int, tmp_path: Path) -> None:
    X, y = readings(200, 2)
    y = made(y, n_classes) if n_classes else y
    model = uncertain.fit(X, y, method="remeasured", n_learners=3, n_trees=20, n_copies=4)
    model.save(tmp_path / "m")
    loaded = uncertain.load(tmp_path / "m")
    assert loaded.pipeline_[-1].n_learners == 3
    new = readings(300, 3)[0]
    answers = (m.predict_proba(new) if n_classes else m.predict(new) for m in (loaded, model))
    np.testing.assert_array_equal(*answers)
    loaded.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "m").read_bytes()


@pytest.mark.parametrize("n_classes", [0, 3])
def test_threads_change_no_bit(n_classes: int) -> None:
    X, y = readings(200, 4)
    y = made(y, n_classes) if n_classes else y
    answers = [fitted_several(X, y, n_learners=3, n_jobs=n).predict(X) for n in (None, 1, 2)]
    np.testing.assert_array_equal(answers[0], answers[1])
    np.testing.assert_array_equal(answers[1], answers[2])


def test_how_many_there_are(learners: list[Any]) -> None:
    X, y = readings(100, 6)
    for rows, parameters, expected in (
        (X, {}, 4),
        (X, {"n_learners": 2}, 2),
        (X, {"n_trees": 0}, 1),
        (X, {"n_copies": 1}, 1),
        (X.means, {}, 1),  # exact
        (X, {"estimator": LogisticRegression(), "n_trees": "auto"}, 1),
    ):
        fitted_several(rows, made(y, 2), **parameters)
        assert len(learners) == expected


def test_a_density_is_around_the_mean() -> None:
    X, y = readings(300, 9)
    model = fitted_several(X, y, n_learners=3, density=True)
    weights, means, _ = model.predict_mixture(X)
    np.testing.assert_allclose(weights.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.predict(X), fitted_several(X, y, n_learners=3).predict(X))
    np.testing.assert_allclose((weights * means).sum(axis=1), model.predict(X), atol=y.std())


@pytest.mark.parametrize("number", [0, -1, 2.0, True, "two", 10**6])
def test_a_wrong_number(number: Any) -> None:
    X, y = readings(40, 10)
    with pytest.raises(ParameterError, match=r"n_learners = .*must be"):
        RemeasuredRegressor(n_learners=number).fit(X, y)
    with pytest.raises(ParameterError, match="default learner"):
        RemeasuredClassifier(LogisticRegression(), n_learners=2).fit(X, made(y, 2))
