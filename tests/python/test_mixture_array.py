"""Rows that are mixtures: against sums over components, one component against a Gaussian, copies of rows."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import skew
from sklearn.base import clone, is_regressor

import uncertain
from uncertain import (
    ErrorColumns,
    GaussianArray,
    GaussianScaler,
    GSUClassifier,
    GSURegressor,
    Incomplete,
    KernelMap,
    LinearMap,
    MinimaxProbabilityClassifier,
    MixtureArray,
    ProbabilisticKernelFeatures,
    ProbabilisticKernelSVC,
    ProbabilisticKernelSVR,
    RemeasuredClassifier,
    RemeasuredRegressor,
    RobustSVC,
    UncertainError,
)
from uncertain.kernels import probabilistic_rbf
from uncertain.preprocessing._readings import Readings, TruthOfTargets
from uncertain.uncertainty import from_bounds


def mixtures(n: int = 60, d: int = 2, seed: int = 0, most: int = 3, full: bool = False) -> MixtureArray:
    random = np.random.default_rng(seed)
    counts = 1 + np.arange(n) % most
    offsets = np.concatenate([[0], np.cumsum(counts)])
    weights = np.concatenate([random.dirichlet(np.ones(k)) for k in counts])
    means = random.normal(size=(offsets[-1], d)) + np.repeat(np.arange(n) % 2, counts)[:, None]
    if full:
        roots = random.normal(size=(offsets[-1], d, d)) * 0.4
        return MixtureArray(weights, means, cov=roots @ roots.transpose(0, 2, 1), offsets=offsets)
    return MixtureArray(weights, means, std=random.uniform(0.1, 0.6, size=means.shape), offsets=offsets)


def labels(X: MixtureArray) -> np.ndarray:
    return np.arange(len(X)) % 2


def fold(X: MixtureArray, values: np.ndarray) -> np.ndarray:
    """The sum over every row's components of weight times value."""
    weighted = (X.weights * np.asarray(values).T).T
    return np.add.reduceat(weighted, X.offsets[:-1], axis=0)


def rows_of(X: MixtureArray) -> np.ndarray:
    return np.repeat(np.arange(len(X)), np.diff(X.offsets))


# -- the array


def test_moments_are_sums_over_components() -> None:
    X = mixtures(full=True)
    x, S = X.components.means, X.components.covariances()
    mean = fold(X, x)
    second = fold(X, S + x[:, :, None] * x[:, None, :])
    expected = second - mean[:, :, None] * mean[:, None, :]
    np.testing.assert_allclose(X.means, mean, rtol=1e-13)
    np.testing.assert_allclose(X.covariances(), expected, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(X.trace(), np.trace(expected, axis1=1, axis2=2), rtol=1e-10)
    assert type(X.collapse("gaussian")) is GaussianArray and X.collapse("diagonal").kind == "diagonal"
    assert GaussianArray(mean).collapse("gaussian").shape == mean.shape


def test_rows_are_sliced_joined_and_combined() -> None:
    X = mixtures(n=10, d=3)
    some = X[[7, 2], ["a", "c"]] if X.feature_names else X[[7, 2], [0, 2]]
    assert isinstance(some, MixtureArray) and some.shape == (2, 2)
    np.testing.assert_allclose(some.means, X.means[[7, 2]][:, [0, 2]])
    assert GaussianArray.concat([X[:4], X[4:]]) == X
    assert [len(row.weights) for row in X] == [1, 2, 3, 1, 2, 3, 1, 2, 3, 1]
    both = GaussianArray.concat([X, X.collapse("diagonal")])
    assert isinstance(both, MixtureArray) and len(both) == 20
    A = np.array([[1.0, 0.0], [-1.0, 1.0], [0.0, 2.0]])
    np.testing.assert_allclose((X @ A).covariances(), A.T @ X.covariances() @ A, rtol=1e-10, atol=1e-12)
    beside = GaussianArray.hstack([X, mixtures(n=10, d=1, seed=5, most=2)])
    assert isinstance(beside, MixtureArray) and beside.shape == (10, 4)
    cov = beside.covariances()
    np.testing.assert_allclose(cov[:, :3, :3], X.covariances(), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(cov[:, :3, 3], 0.0, atol=1e-12)
    assert pickle.loads(pickle.dumps(X)) == X and X[::-1] != X


def test_draws_have_the_moments_of_the_mixture() -> None:
    X = mixtures(n=3, d=2, full=True)
    n = 100_000
    draws = X.sample(n, random_state=0).means.reshape(3, n, 2)
    np.testing.assert_allclose(draws.mean(axis=1), X.means, atol=5 * np.sqrt(X.trace().max() / n))
    cov = np.stack([np.cov(row.T) for row in draws])
    np.testing.assert_allclose(cov, X.covariances(), atol=0.05)
    assert X.sample(2, random_state=1) == X.sample(2, random_state=1)


def test_arrow_has_lists_of_components() -> None:
    pl = pytest.importorskip("polars")
    X = mixtures(n=5)
    table = pl.DataFrame(X)
    assert table.columns == ["weight", "mean", "std"]
    assert table["weight"].list.len().to_list() == np.diff(X.offsets).tolist()
    np.testing.assert_array_equal(np.concatenate(table["weight"].to_list()), X.weights)
    np.testing.assert_array_equal(np.concatenate(table["mean"].to_list()), X.components.means)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0.5, 0.6, 1.0], [[0.0]] * 3, [0, 2, 3]), "row 0 sum to 1.1"),
        (([1.5, -0.5, 1.0], [[0.0]] * 3, [0, 2, 3]), "row 0, component 1 is -0.5"),
        (([0.5, 0.5, 1.0], [[0.0]] * 3, [0, 2, 2, 3]), "row 1 has no components"),
        (([0.5, np.nan, 1.0], [[0.0]] * 3, [0, 2, 3]), "row 0"),
        (([0.5, 0.5], [[0.0]] * 3, [0, 2, 3]), "3, one per component"),
        (([0.5, 0.5, 1.0], [[0.0], [np.inf], [1.0]], [0, 2, 3]), "row 1"),
        (([0.5, 0.5, 1.0], [[0.0]] * 3, [0, 2]), "offsets"),
        (([0.5, 0.5, 1.0], [[0.0]] * 3, [0, -2, 3]), "offset"),
        (([0.5, 0.5, 1.0], [[0.0]] * 3, None), "offsets"),
    ],
)
def test_bad_rows_are_refused(arguments: tuple, message: str) -> None:
    weights, means, offsets = arguments
    with pytest.raises(UncertainError, match=message):
        MixtureArray(weights, means, offsets=offsets)


def test_a_row_of_too_many_components_is_refused() -> None:
    n = 1_000_001
    with pytest.raises(UncertainError, match=r"row 0 has 1000001 components.*from_draws"):
        MixtureArray(np.full(n, 1 / n), np.zeros((n, 1)), offsets=[0, n])
    X = MixtureArray(np.full((1, 1200), 1 / 1200), np.zeros((1, 1200, 1)))
    with pytest.raises(UncertainError, match=r"row 0 would have more than 1000000 components"):
        GaussianArray.hstack([X, X])


def test_rows_from_lists_and_of_equal_length() -> None:
    lists = MixtureArray.from_lists([[0.7, 0.3], [1.0]], [[0.4, 2.1], [0.9]], std=[[0.05, 0.2], [0.1]])
    flat = MixtureArray([0.7, 0.3, 1.0], [[0.4], [2.1], [0.9]], std=[0.05, 0.2, 0.1], offsets=[0, 2, 3])
    assert lists == flat
    even = MixtureArray(np.full((4, 2), 0.5), np.zeros((4, 2, 3)), std=np.ones((4, 2, 3)))
    assert even.shape == (4, 3) and even.components.kind == "diagonal"
    with pytest.raises(UncertainError, match="row 1"):
        MixtureArray.from_lists([[1.0], [0.5, 0.5]], [[0.0], [1.0]])


# -- losses, scores and kernels are sums over components


MACHINES = [
    *(GSUClassifier(0.01, loss=loss, tol=1e-10) for loss in ("hinge", "expected_hinge", "squared_hinge")),
    *(GSURegressor(0.1, loss=loss, tol=1e-10) for loss in ("huber", "epsilon_insensitive", "squared")),
    *(RobustSVC(0.5, method=method, radius=1.5) for method in ("usvc", "tsvc", "ausvc", "psvm")),
]


@pytest.mark.parametrize("machine", MACHINES, ids=str)
def test_fits_are_those_to_components_with_their_shares_as_weights(machine: Any) -> None:
    """Whose objectives test_recomputed.py computes again."""
    X = mixtures(full=True)
    y, of_row = np.sin(X.means[:, 0]) if is_regressor(machine) else labels(X), rows_of(X)
    weights = np.random.default_rng(1).uniform(0.5, 2, len(X))
    model = clone(machine).fit(X, y, sample_weight=weights)
    other = clone(machine).fit(X.components, y[of_row], sample_weight=weights[of_row] * X.weights)
    np.testing.assert_allclose(model.coef_, other.coef_, rtol=1e-10)
    np.testing.assert_allclose(model.objective_, other.objective_, rtol=1e-10)
    assert not isinstance(machine, RobustSVC) or len(model.radii_) == len(X.components)


def check_folded(model: GSUClassifier, X: MixtureArray) -> None:
    """Scores and probabilities of rows are those of their components, folded."""
    means, stds = model.decision_distribution(X.components)
    mean, std = model.decision_distribution(X)
    np.testing.assert_allclose(mean, fold(X, means), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(std**2, fold(X, stds**2 + (means - mean[rows_of(X)]) ** 2), rtol=1e-12)
    np.testing.assert_array_equal(model.decision_function(X), mean)
    if model.probability:
        p = fold(X, model.predict_proba(X.components))
        np.testing.assert_allclose(model.predict_proba(X), p, rtol=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_rows_are_folded_block_by_block(n_classes: int) -> None:
    X = mixtures(n=40_000)
    model = GSUClassifier(probability=True, random_state=0).fit(X[:300], np.arange(300) % n_classes)
    check_folded(model, X)
    np.testing.assert_array_equal(model.decision_function(X[17_000:]), model.decision_function(X)[17_000:])
    regression = GSURegressor().fit(X[:60], X[:60].means[:, 0])
    np.testing.assert_allclose(
        regression.predict(X), fold(X, regression.predict(X.components)), rtol=1e-12, atol=1e-14
    )


def test_rows_of_very_many_components_are_folded_whole() -> None:
    random = np.random.default_rng(5)
    sizes = np.array([1, 9_000, 2, 4_096, 1, 1, 4_095, 3, 5_000])
    offsets = np.concatenate([[0], sizes.cumsum()])
    weights = random.uniform(0.1, 1, offsets[-1])
    weights /= np.repeat(np.add.reduceat(weights, offsets[:-1]), sizes)
    components = GaussianArray(random.normal(size=(offsets[-1], 2)), std=random.uniform(0.1, 1, offsets[-1]))
    X = MixtureArray(weights, components, offsets=offsets)
    few = mixtures(n=300)
    for n_classes in (2, 5):
        model = GSUClassifier().fit(few, np.arange(300) % n_classes)
        check_folded(model, X)
        alone = np.concatenate([model.decision_function(X[row : row + 1]) for row in range(len(X))])
        np.testing.assert_array_equal(alone, model.decision_function(X))


@pytest.mark.parametrize("row", [3, 39_000])
def test_a_row_that_has_no_score_is_named(row: int) -> None:
    X = mixtures(n=40_000)
    model = GSUClassifier(alpha=1e-9).fit(LinearMap(np.eye(2) * 1e-3).fit_transform(X[:300]), labels(X[:300]))
    means = X.components.means.copy()
    means[X.offsets[row + 1] - 1] = 1e308 * np.sign(model.coef_[0])
    far = MixtureArray(X.weights, GaussianArray(means, std=0.1), offsets=X.offsets)
    with pytest.raises(UncertainError, match=f"^row {row}: its score"):
        model.decision_function(far)


def test_probabilities_are_averages_and_calibrated_for_rows() -> None:
    random = np.random.default_rng(0)
    n = 400
    truth = random.normal(size=n) * 2
    y = (random.random(n) < 1 / (1 + np.exp(-2 * truth))).astype(int)
    # A second peak where the row is not: half of the weight says nothing about the label.
    decoys = random.normal(size=n) * 2
    means = np.stack([truth, decoys], axis=1)[:, :, None]
    X = MixtureArray(np.full((n, 2), 0.5), means, std=np.full((n, 2, 1), 0.1))
    model = GSUClassifier(probability=True, random_state=0).fit(X[:200], y[:200])
    p = model.predict_proba(X)
    np.testing.assert_allclose(p, fold(X, model.predict_proba(X.components)), rtol=1e-12)
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-12)
    moments = X.collapse("gaussian")
    other = GSUClassifier(probability=True, random_state=0).fit(moments[:200], y[:200]).predict_proba(moments)
    loss = [-np.log(q[np.arange(200, n), y[200:]]).mean() for q in (p, other)]
    assert loss[0] < loss[1]


@pytest.mark.parametrize("coupling", ["shared", "independent"])
def test_kernels_are_double_sums(coupling: str) -> None:
    X, Z = mixtures(n=11, full=True), mixtures(n=7, seed=2)
    each = probabilistic_rbf(X.components, Z.components, sigma=1.2, coupling=coupling)
    expected = fold(Z, fold(X, each).T).T
    np.testing.assert_allclose(probabilistic_rbf(X, Z, sigma=1.2, coupling=coupling), expected, rtol=1e-12)
    own = probabilistic_rbf(X, sigma=1.2, coupling=coupling)
    np.testing.assert_array_equal(own, own.T)
    assert np.linalg.eigvalsh(own).min() > -1e-12
    np.testing.assert_allclose(
        probabilistic_rbf(X, Z.collapse("gaussian"), sigma=1.2, coupling=coupling).shape, (11, 7)
    )


def test_kernel_machines_are_those_of_their_gram_matrix() -> None:
    X, Q = mixtures(n=50), mixtures(n=20, seed=9)
    y = labels(X)
    K, KQ = probabilistic_rbf(X, sigma=1.0), probabilistic_rbf(Q, X, sigma=1.0)
    model = ProbabilisticKernelSVC(C=2.0, sigma=1.0, tol=1e-10).fit(X, y)
    plain = ProbabilisticKernelSVC(C=2.0, kernel="precomputed", tol=1e-10).fit(K, y)
    np.testing.assert_allclose(model.objective_, plain.objective_, rtol=1e-8)
    np.testing.assert_allclose(model.decision_function(Q), plain.decision_function(KQ), atol=1e-5)
    assert model.support_.max() < len(X.components)
    mean, std = model.decision_distribution(Q)
    means, stds = model.decision_distribution(Q.components)
    np.testing.assert_allclose(mean, model.decision_function(Q), rtol=1e-10)
    np.testing.assert_allclose(std**2, fold(Q, stds**2 + means**2) - mean**2, rtol=1e-6, atol=1e-12)
    small = ProbabilisticKernelSVC(C=2.0, sigma=1.0, tol=1e-10, cache_size=0.001).fit(X, y)
    np.testing.assert_allclose(small.objective_, model.objective_, rtol=1e-8)
    regression = ProbabilisticKernelSVR(sigma=1.0, tol=1e-10).fit(X, X.means[:, 0])
    other = ProbabilisticKernelSVR(kernel="precomputed", tol=1e-10).fit(K, X.means[:, 0])
    np.testing.assert_allclose(regression.predict(Q), other.predict(KQ), atol=1e-5)
    three = ProbabilisticKernelSVC(sigma=1.0).fit(X, np.arange(50) % 3)
    assert three.decision_function(Q).shape == (20, 3)
    copy = pickle.loads(pickle.dumps(three))
    np.testing.assert_array_equal(copy.decision_function(Q), three.decision_function(Q))


def test_features_are_averages() -> None:
    X = mixtures(n=30)
    features = ProbabilisticKernelFeatures(40, random_state=0).fit(X)
    np.testing.assert_allclose(
        features.transform(X), fold(X, features.transform(X.components)), rtol=1e-10, atol=1e-12
    )
    svc = ProbabilisticKernelSVC(n_components=60, random_state=0, probability=True).fit(X, labels(X))
    assert svc.predict_proba(X).shape == (30, 2)


# -- transforms, moments, refusals


def test_transforms_move_every_component() -> None:
    X = mixtures(d=3)
    scaler = GaussianScaler().fit(X)
    moved = scaler.transform(X)
    assert isinstance(moved, MixtureArray)
    np.testing.assert_allclose(moved.components.means, scaler.transform(X.components).means)
    np.testing.assert_allclose(scaler.inverse_transform(moved).means, X.means, rtol=1e-12)
    assert isinstance(LinearMap(np.eye(3)[:, :2]).fit_transform(X), MixtureArray)
    assert isinstance(KernelMap("rbf").fit(X).transform(X), MixtureArray)


def test_minimax_and_error_columns_see_moments() -> None:
    X = mixtures()
    moments = X.collapse("gaussian")
    mixed, plain = (MinimaxProbabilityClassifier().fit(rows, labels(X)) for rows in (X, moments))
    np.testing.assert_array_equal(mixed.coef_, plain.coef_)
    np.testing.assert_allclose(ErrorColumns().fit_transform(X), ErrorColumns().fit_transform(moments))


def test_skewness_is_that_of_sums_over_components() -> None:
    X = mixtures(n=40, d=3)
    of_row = rows_of(X)
    s2 = np.diagonal(X.components.covariances(), axis1=1, axis2=2)
    off = X.components.means - X.means[of_row]
    variance = fold(X, s2 + off**2)
    expected = fold(X, off**3 + 3 * off * s2) / variance**1.5
    columns = ErrorColumns("skewness").fit(X)
    np.testing.assert_allclose(columns.transform(X)[:, 6:], expected, rtol=1e-12, atol=1e-15)
    assert list(columns.get_feature_names_out()[6:]) == ["skewness_x0", "skewness_x1", "skewness_x2"]
    moments = X.collapse("gaussian")
    np.testing.assert_array_equal(columns.transform(moments)[:, 6:], 0.0)
    np.testing.assert_array_equal(columns.transform(moments)[:, :6], columns.transform(X)[:, :6])
    missing = np.zeros(X.shape, dtype=bool)
    missing[0, 1] = True
    found = columns.transform(Incomplete(X, missing))
    np.testing.assert_array_equal(np.argwhere(np.isnan(found)), [[0, 1], [0, 4], [0, 7]])
    points = MixtureArray(X.weights, X.components.means, offsets=X.offsets)  # draws as they are
    assert (ErrorColumns().fit_transform(points)[2, 3:] > -2).all()


@pytest.mark.usefixtures("few_trees")
def test_trees_see_skewness_and_files_keep_it(tmp_path: Path) -> None:
    """Two classes whose rows differ in nothing but which of their arms is the longer one."""
    random = np.random.default_rng(2)
    n = 240
    y = np.arange(n) % 2
    long = np.where(y == 1, 1.2, 0.3)[:, None]
    short = np.where(y == 1, 0.3, 1.2)[:, None]
    x = random.normal(size=(n, 1)) + (short - long) * np.sqrt(2 / np.pi)  # the means are alike
    X = from_bounds(x - short, x + long, value=x, rule="shape")
    model = RemeasuredClassifier(n_copies=2, n_trees=20, n_learners=2, random_state=0).fit(X, y)
    assert model.error_columns_.columns == "skewness"
    assert (model.predict(X) == y).mean() > 0.95
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_allclose(again.predict_proba(X), model.predict_proba(X), rtol=1e-12)
    whole = uncertain.fit(X, y, method="remeasured", meaning="measurement")
    whole.save(tmp_path / "model")
    loaded = uncertain.load(tmp_path / "model")
    np.testing.assert_allclose(loaded.predict_proba(X), whole.predict_proba(X), rtol=1e-12)
    np.testing.assert_allclose(model._steps()[0].predict_proba(X._core), model.predict_proba(X), rtol=1e-10)
    gaps = np.zeros((n, 1), dtype=bool)
    gaps[::9] = True
    some = Incomplete(X, gaps)
    np.testing.assert_allclose(
        model._steps()[0].predict_proba((X._core, gaps)), model.predict_proba(some), rtol=1e-10
    )
    regressor = RemeasuredRegressor(n_copies=2, n_trees=5, n_learners=1, random_state=0).fit(X, x[:, 0])
    assert np.corrcoef(regressor.predict(X), x[:, 0])[0, 1] > 0.7


def test_draws_as_they_are_have_error_bars() -> None:
    """Components without covariances: what is uncertain is which one is true."""
    random = np.random.default_rng(4)
    y = np.arange(80) % 2
    draws = (y + random.normal(0, 0.4, 80))[:, None, None] + random.normal(0, 0.5, (80, 5, 1))
    X = MixtureArray(np.full((80, 5), 0.2), draws)
    assert X.kind == "zero"
    trees = RemeasuredClassifier(n_copies=3, n_trees=5, n_learners=1, random_state=0).fit(X, y)
    assert trees.factors_[1] > 1.0


def test_trees_of_a_file_tell_tiny_errors_apart() -> None:
    """As those of scikit-learn do, down to 1e-9 of the spread of a feature."""
    random = np.random.default_rng(3)
    y = np.arange(200) % 2
    X = GaussianArray(random.normal(size=(200, 1)), std=np.where(y == 1, 1e-7, 1e-5)[:, None])
    model = RemeasuredClassifier(n_copies=2, n_trees=10, n_learners=1, factors=(1, 2), random_state=0).fit(
        X, y
    )
    assert (model.predict(X) == y).all()
    np.testing.assert_allclose(model._steps()[0].predict_proba(X._core), model.predict_proba(X), rtol=1e-10)


N_COPIED = 100_000


def skewed_readings(n: int = N_COPIED, d: int = 2) -> tuple[MixtureArray, np.ndarray]:
    """Readings whose errors have arms 1 : 3, and the true values."""
    random = np.random.default_rng(0)
    z = random.normal(size=(n, d))
    law = from_bounds(np.full((1, d), -0.3), np.full((1, d), 0.9), value=np.zeros((1, d)), rule="shape")
    own = law.components
    c = random.choice(len(own), p=law.weights, size=n)
    offsets = own.means - law.means  # of z about the reading, so that errors are mirrored
    noise = np.sqrt(np.diagonal(own.covariances(), axis1=1, axis2=2))
    x = z - offsets[c] - noise[c] * random.normal(size=(n, d))
    means = x[:, None] + offsets
    return MixtureArray(np.tile(law.weights, (n, 1)), means, std=np.broadcast_to(noise, means.shape)), z


def third(x: np.ndarray) -> np.ndarray:
    """The third central moment of every column."""
    return ((x - x.mean(axis=0)) ** 3).mean(axis=0)


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("factor", [2.0, 0.5])
def test_copies_are_distributed_as_readings_with_other_errors(factor: float, full: bool) -> None:
    """Like z + f e: variances and third moments of true values and errors add up."""
    X, z = skewed_readings()
    if full:
        parts = GaussianArray(X.components.means, cov=X.components.covariances())
        X = MixtureArray(X.weights, parts, offsets=X.offsets)
    random = np.random.RandomState(1)
    nothing = np.random.default_rng(5).normal(size=N_COPIED)  # targets that say nothing
    truth = TruthOfTargets(X, nothing, None, 1, random).posterior(X, nothing)
    copy = Readings(X, random, truth).again(np.full((N_COPIED, 2), factor))
    assert isinstance(copy, MixtureArray)
    error = X.means - z
    assert (skew(error) < -0.6).all()
    np.testing.assert_allclose(copy.means.var(axis=0), 1 + factor**2 * error.var(axis=0), rtol=0.03)
    np.testing.assert_allclose(third(copy.means), factor**3 * third(error), rtol=0.12, atol=0.02)
    np.testing.assert_allclose(np.corrcoef(copy.means.T)[0, 1], 0.0, atol=0.02)
    # What the copy says of itself.
    np.testing.assert_allclose(copy.weights, X.weights)
    std = [np.sqrt(np.diagonal(own[:50].covariances(), axis1=1, axis2=2)) for own in (X, copy)]
    np.testing.assert_allclose(std[1], factor * std[0], rtol=1e-9)
    np.testing.assert_allclose(copy[:50]._skewness(), X[:50]._skewness(), rtol=1e-9)


@pytest.mark.parametrize("factor", [2.0, 0.5])
def test_copies_go_with_their_targets(factor: float) -> None:
    """Where the target is the true value, x' - z has f times the errors, with their skewness."""
    X, z = skewed_readings(d=1)
    random = np.random.RandomState(1)
    truth = TruthOfTargets(X, z[:, 0], None, 1, random).posterior(X, z[:, 0])
    copy = Readings(X, random, truth).again(np.full((N_COPIED, 1), factor))
    before, after = X.means - z, copy.means - z
    np.testing.assert_allclose(after.std(axis=0), factor * before.std(axis=0), rtol=0.02)
    np.testing.assert_allclose(skew(after), skew(before), atol=0.05)
