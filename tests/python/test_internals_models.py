"""What models are made of, against formulas: conformal limits, spreads, scatter, error sizes, re-measured
readings, checks of error bars, folds that lack a feature."""

from typing import Any

import numpy as np
import polars as pl
import pytest
from catalogues import linear
from numpy.testing import assert_allclose
from scipy import stats
from scipy.integrate import quad
from scipy.stats import norm
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.pipeline import Pipeline
from test_check_errors import Floats, readings
from test_conformal import covered
from test_held_out import numbers as unread
from test_remeasured import KINDS, drawn_values, noise_of, read
from test_trees import CLASSIFIER, REGRESSOR, columns, noisy, target_of

import uncertain
from uncertain import (
    GaussianArray,
    GaussianDiscriminant,
    GaussianImputer,
    GaussianMixtureRegressor,
    GaussianScaler,
    GSUClassifier,
    Incomplete,
    RemeasuredClassifier,
    RemeasuredRegressor,
    check_errors,
)
from uncertain._base.folds import Fold
from uncertain._base.normal_mixtures import NormalMixtures
from uncertain._data.groups import Groups
from uncertain._errors.estimate import by_model, by_replicates
from uncertain._held_out.fits import fit_fold
from uncertain._held_out.widths import Spread, from_errors, most_likely_scatter
from uncertain._model.conformal import Conformal, interval, noise_levels, score_of_classes, score_of_numbers
from uncertain._rows.training import TrainingRows
from uncertain._trees.boosting import TreesClassifier, TreesRegressor, flat_trees, probes
from uncertain.exceptions import UncertainError
from uncertain.preprocessing._readings import Readings, TruthOfClasses, TruthOfTargets, drawn_factors


def test_the_limit_is_the_quantile_of_split_conformal_prediction() -> None:
    scores = np.random.default_rng(0).exponential(size=99)
    found = Conformal.from_scores([scores], [np.zeros(99)], np.ones(99))
    for coverage, place in ((0.9, 90), (0.5, 50), (0.991, None)):
        limit = found.limits(np.zeros(2), coverage)
        want = np.inf if place is None else np.sort(scores)[place - 1]
        assert_allclose(limit, [want, want], rtol=1e-6)


def test_the_spread_is_the_one_of_least_crps() -> None:
    rng = np.random.default_rng(0)
    parts = rng.uniform(0.0, 2.0, (20_000, 2))
    r = np.sqrt(0.5 + parts @ [2.0, 0.0]) * rng.normal(size=20_000)
    found = Spread.estimate(r, parts, np.ones(20_000), np.ones(2), np.zeros(20_000))
    assert_allclose([found.base, *found.slopes], [0.5, 2.0, 0.0], atol=0.08)
    assert_allclose(found.std(parts[:5]), np.sqrt(0.5 + parts[:5] @ [2.0, 0.0]), rtol=0.05)
    large = Spread.estimate(1e6 * r, 1e-6 * parts, np.ones(20_000), np.ones(2), np.zeros(20_000))
    assert_allclose(large.slopes, 1e18 * found.slopes, rtol=1e-3, atol=1e15)


def test_gaps_and_unlabelled_rows() -> None:
    table = linear(500, 0, classes=True).with_columns(
        a=pl.when(pl.int_range(500) % 7 == 0).then(None).otherwise("a"),
        y=pl.when(pl.int_range(500) % 11 == 0).then(None).otherwise("y"),
    )
    model = uncertain.fit(table, target="y", method="huber", on_missing="impute")
    sets = model.predict_set(table)
    assert sets.dtype == pl.List(pl.String) and sets.list.len().min() >= 1
    known = table.filter(pl.col("y").is_not_null())
    assert covered(model, known) > 0.85
    remembered = uncertain.fit(known, target="y", method="discriminant", on_missing="impute")
    levels = noise_levels(remembered._reader.rows(remembered._reader.source(table)), np.ones(2))
    assert levels[0] > levels[1]  # a missing value is a large error


@pytest.mark.parametrize("case", ["exact rows", "any variances", "too large variances", "weights"])
def test_the_most_likely_scatter(case: str) -> None:
    rng = np.random.default_rng(7)
    v = {"exact rows": np.zeros(400), "too large variances": np.full(400, 9.0)}.get(
        case, rng.uniform(0, 2, 400)
    )
    c = rng.integers(0, 3, 400).astype(float) if case == "weights" else np.ones(400)
    r = rng.normal(size=400) * np.sqrt(0.49 + (0 if case == "too large variances" else v))
    found = most_likely_scatter(r, v, c)
    if case == "exact rows":
        assert_allclose(found, np.sqrt(np.mean(r**2)), rtol=1e-6)
    elif case == "too large variances":
        likelihood = [stats.norm.logpdf(r, scale=np.sqrt(s**2 + v)).sum() for s in (0.0, found)]
        assert_allclose(likelihood[0] - likelihood[1], 0.5, rtol=1e-6)
    else:
        candidates = np.linspace(0.0, 3.0, 30_001)
        likelihood = [c @ stats.norm.logpdf(r, scale=np.sqrt(s**2 + v)) for s in candidates]
        assert_allclose(found, candidates[np.argmax(likelihood)], atol=1.5e-4)


def test_the_deviation_of_a_prediction_is_that_of_the_posterior() -> None:
    rng = np.random.default_rng(5)
    n, d = 400, 3
    z = rng.normal(size=(n, d))
    root = rng.normal(size=(n, d, d)) * 0.3
    X = GaussianArray(z + np.einsum("nij,nj->ni", root, rng.normal(size=(n, d))), cov=root @ root.mT)
    model = uncertain.fit(X, target=z @ [1.0, 2.0, 3.0], meaning="measurement", scale=False, method="gsu")
    denoiser, last = model.pipeline_[1], model.pipeline_[-1]
    mu, T, S = denoiser.means_[0], denoiser.covariances_[0], X.covariances()
    gain = T @ np.linalg.inv(T + S)
    means = mu + np.einsum("nij,nj->ni", gain, X.means - mu)
    posterior = T - gain @ T
    mean, std = from_errors(model.pipeline_, X)
    assert_allclose(mean, means @ last.coef_ + last.intercept_, rtol=1e-9, atol=1e-9)
    assert_allclose(std, np.sqrt(np.einsum("i,nij,j->n", last.coef_, posterior, last.coef_)), rtol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("ends", [(1.0, 4.0), (0.2, 1.0), (0.2, 4.0)])
@pytest.mark.parametrize("per_feature", [0.0, 1.0])
def test_copies_have_the_errors_that_they_state(kind: str, ends: Any, per_feature: float) -> None:
    """(x' - z) standardised by S' is N(0, I): also where z itself is only known through the reading."""
    rng = np.random.default_rng(0)
    n = 10_000
    z = drawn_values(n, rng)
    rows = read(z, noise_of(kind, n, rng), rng)
    random = np.random.RandomState(0)
    codes = np.zeros(n, dtype=np.int64)
    truth = TruthOfClasses(rows, codes, None, 1, random).posterior(rows, codes) if ends[0] < 1.0 else None
    copy = Readings(rows, random, truth).again(drawn_factors(rows.shape, ends, per_feature, random))
    off, cov = copy.means - z, copy.covariances()
    if ends[0] < 1.0:
        # The drawn true value is another one than z, of the same distribution: compare with the population.
        spread = np.array([[1.0, 0.6], [0.6, 2.0]])
        off, cov = copy.means - [0.0, 1.0], cov + spread
    if kind == "low-rank" and ends[0] >= 1.0:
        off, cov = off[:, :1], cov[:, :1, :1]
    standard = np.linalg.solve(np.linalg.cholesky(cov), off[..., None])[..., 0]
    d = standard.shape[1]
    np.testing.assert_allclose(standard.T @ standard / n, np.eye(d), atol=0.06)
    np.testing.assert_allclose(standard.mean(axis=0), 0.0, atol=0.05)


@pytest.mark.parametrize("kind", KINDS)
def test_smaller_errors_keep_the_slope(kind: str) -> None:
    """Draws of true values have the joint law of true values and targets, which p(z | x) alone has not."""
    rng = np.random.default_rng(0)
    n = 20_000
    z = drawn_values(n, rng)
    y = z @ [2.0, -1.0] + rng.normal(size=n)
    rows = read(z, noise_of(kind, n, rng), rng)
    random = np.random.RandomState(0)
    posterior = TruthOfTargets(rows, y, None, 1, random).posterior(rows, y)
    drawn = posterior.sample(1, 0).means
    slope = np.linalg.lstsq(np.column_stack([drawn, np.ones(n)]), y, rcond=None)[0][:2]
    np.testing.assert_allclose(slope, [2.0, -1.0], atol=0.06)
    gaps = Incomplete(rows, np.arange(n)[:, None] % 4 == [1, 2])
    np.testing.assert_array_equal(
        TruthOfTargets(gaps, y, None, 1, random).posterior(gaps, y).means.shape, (n, 2)
    )


def test_intervals_cover_as_they_say() -> None:
    inside = []
    for seed in range(40):
        found = by_model(readings(250, np.array([1.0, 1.0]), seed), n_components=1)
        inside += [[i.lower <= 1.0 <= i.upper for i in f.intervals] for f in found]
    share = np.mean(inside, axis=0)  # of 80; standard errors 0.05, 0.02 and 0.004
    assert abs(share[0] - 0.68) < 0.11
    assert 0.90 < share[1] <= 0.99
    assert share[2] > 0.98


def test_the_profile_is_the_marginal_likelihood_of_one_feature() -> None:
    """Of one feature and component the held-out law is N(x; mu, a T + k^2 s^2): an independent maximum."""
    from scipy.optimize import minimize

    X = readings(800, np.array([1.5]), 3)
    found = by_model(X, n_components=1)[0]
    x, s2 = X.means[:, 0], X.covariances()[:, 0, 0]

    def loss(p: Floats) -> float:
        v = np.exp(p[1]) + np.exp(2 * p[2]) * s2
        return float(np.sum(np.log(v) + (x - p[0]) ** 2 / v))

    best = minimize(loss, [0.0, 0.0, 0.0], method="BFGS")
    assert found.factor == pytest.approx(np.exp(best.x[2]), rel=0.02)  # means are of other rows here
    h, steps = 1e-3, np.eye(3)
    hessian = [
        [
            (loss(best.x + h * (a + b)) - loss(best.x + h * (a - b)) - loss(best.x + h * (b - a))
             + loss(best.x - h * (a + b))) / (4 * h * h)
            for b in steps
        ]
        for a in steps
    ]  # fmt: skip
    se = found.factor * np.sqrt(2.0 * np.linalg.inv(hessian)[2, 2])  # the loss is twice the log-likelihood
    half = (found.intervals[1].upper - found.intervals[1].lower) / 2
    assert half == pytest.approx(1.96 * se, rel=0.15)


def test_replicates_with_gaps_and_outliers() -> None:
    rng = np.random.default_rng(2)
    objects = np.repeat(np.arange(200), 2)
    x = rng.normal(size=(400, 1))
    x[7] = 100.0
    found = by_replicates(GaussianArray(x, std=1.0), Groups(objects.astype(np.uint32)))[0]
    assert found is not None and found.factor > 3.0 and "far off" in found.note
    table = pl.DataFrame({"x": [None, *rng.normal(size=3)], "x_err": [1.0] * 4, "g": [0, 0, 1, 1]})
    check = check_errors(table, groups="g", on_missing="impute")
    assert "2 readings of 1 objects" in check.notes[0] or "3 readings of 2 objects" in check.notes[0]
    alone = by_replicates(GaussianArray(x, std=1.0), Groups(np.arange(400, dtype=np.uint32)))
    assert alone == [None]


LEARNERS: dict[str, Any] = {
    "two classes": CLASSIFIER(max_iter=30),
    "three classes": CLASSIFIER(max_iter=20),
    "eleven classes": CLASSIFIER(max_iter=5),
    "stumps": CLASSIFIER(max_iter=20, max_depth=1),
    "deep": CLASSIFIER(max_iter=5, max_leaf_nodes=None, min_samples_leaf=1, l2_regularization=0.1),
    "numbers": REGRESSOR(max_iter=30),
    "median": REGRESSOR(loss="absolute_error", max_iter=10),
    "quantile": REGRESSOR(loss="quantile", quantile=0.9, max_iter=10),
    "counts": REGRESSOR(loss="poisson", max_iter=20),
    "gamma": REGRESSOR(loss="gamma", max_iter=20),
    "stopped": REGRESSOR(early_stopping=True, max_iter=50, n_iter_no_change=2),
}


N_CLASSES = {"three classes": 3, "eleven classes": 11}


class Renamed(HistGradientBoostingRegressor):  # type: ignore[misc]
    """It might answer in another way."""


@pytest.mark.parametrize("name", LEARNERS)
def test_every_bit_is_scikit_learns(name: str) -> None:
    X, new = columns(600, 0), columns(2000, 1)
    rng = np.random.default_rng(2)
    signal = np.nan_to_num(X[:, 0]) + np.isnan(X[:, 5]) + rng.normal(size=len(X))
    learner = clone(LEARNERS[name])
    if isinstance(learner, CLASSIFIER):
        k = N_CLASSES.get(name, 2)
        y = np.array([f"class {j}" for j in range(k)])[np.argsort(np.argsort(signal)) * k // len(X)]
    else:
        y = np.round(np.exp(signal)) + 1.0 if name in ("counts", "gamma") else signal
    learner.fit(X, y)
    found = flat_trees(learner)
    assert (found.arrays["value"] == np.finfo(float).max).any()  # a split between there and missing
    kept = (
        TreesClassifier(*found, learner.classes_) if hasattr(learner, "classes_") else TreesRegressor(*found)
    )
    edges = probes(found)
    infinite = np.where(np.isnan(edges), np.inf, edges)
    for given in (X, new, edges, new[:1], new[:, ::-1][:, ::-1]):
        for method in ("predict", "decision_function", "predict_proba"):
            assert hasattr(kept, method) == hasattr(learner, method)
            if hasattr(learner, method):
                expected, got = getattr(learner, method)(given), getattr(kept, method)(given)
                assert (got.shape, got.dtype) == (expected.shape, expected.dtype)
                np.testing.assert_array_equal(got, expected)
    with pytest.raises(ValueError, match="infinity"):
        kept.predict(infinite)
    with pytest.raises(UncertainError, match="5 columns, the trees need 6"):
        kept.predict(X[:, :5])


def test_what_is_not_known_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    X = np.abs(columns(200, 0))
    y = np.nan_to_num(X[:, 0])
    rows = noisy(100, 2, 0, "diagonal")
    with pytest.raises(UncertainError, match="a Renamed is another library's"):
        flat_trees(Renamed(max_iter=2).fit(X, y))
    codes = np.column_stack([X, np.arange(200) % 3])
    with pytest.raises(UncertainError, match="categorical_features"):
        flat_trees(REGRESSOR(max_iter=2, categorical_features=[6]).fit(codes, y))

    model = RemeasuredRegressor(REGRESSOR(max_iter=3), n_copies=2, random_state=0).fit(rows, target_of(rows))
    assert model._steps()
    learner = model.estimator_
    predictor, usual = learner._predictors[0][0], learner._raw_predict
    nodes = predictor.nodes
    names = ["threshold" if n == "num_threshold" else n for n in nodes.dtype.names]
    renamed = nodes.astype([*zip(names, (nodes.dtype[n] for n in nodes.dtype.names), strict=True)])
    swapped, strange = nodes.copy(), nodes.copy()
    swapped["left"], swapped["right"] = nodes["right"], nodes["left"]
    strange["is_categorical"] = 1
    for target, name, other, why in (
        (predictor, "nodes", renamed, "num_threshold"),
        (predictor, "nodes", swapped, "another order"),
        (predictor, "nodes", strange, "by categories"),
        # A layout of the same names with another meaning shows in the answers.
        (learner, "_raw_predict", lambda X: usual(np.nan_to_num(X)), "give other predictions"),
        (learner, "_baseline_prediction", "none", "could not convert"),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(target, name, other)
            with pytest.raises(UncertainError, match=why):
                model._steps()


def test_scores_of_classes_are_uniform_and_sets_nested() -> None:
    rng = np.random.default_rng(0)
    shares = rng.dirichlet([5.0, 5.0, 5.0], 4_000)
    rows = GaussianArray(rng.normal(size=(4_000, 2)), std=0.1)
    centres, widths = np.zeros(2), np.ones(2)
    scores = score_of_classes(shares, rows, centres, widths)
    drawn = (rng.random((4_000, 1)) > np.cumsum(shares, axis=1)).sum(axis=1)
    of_truth = scores[np.arange(4_000), drawn]
    assert np.mean(of_truth == 0.0) == pytest.approx(np.mean(drawn == shares.argmax(axis=1)))
    assert_allclose(np.quantile(of_truth[of_truth > 0.9], 0.5), 0.95, atol=0.01)
    order = np.argsort(-shares, axis=1)
    assert (np.diff(np.take_along_axis(scores, order, axis=1), axis=1) > 0.0).all()
    again = np.random.default_rng(1).permutation(4_000)
    assert_allclose(score_of_classes(shares[again], rows[again], centres, widths), scores[again])
    # In another unit, from another origin and in another order of features.
    c, origin = np.array([1e3, 1e-6]), np.array([5.0, -3.0])
    moved = GaussianArray((c * rows.means + origin)[:, ::-1], std=np.tile((0.1 * c)[::-1], (4_000, 1)))
    assert_allclose(score_of_classes(shares, moved, origin[::-1], c[::-1]), scores, atol=1e-5)


@pytest.fixture(scope="module")
def laws() -> NormalMixtures:
    rng = np.random.default_rng(0)
    weights = rng.dirichlet(np.ones(3), 5)
    return NormalMixtures(weights, 2.0 * rng.normal(size=(5, 3)), rng.uniform(0.2, 1.5, (5, 3)))


def density(laws: NormalMixtures, row: int, y: float) -> float:
    return float(laws.weights[row] @ norm.pdf(y, laws.means[row], laws.stds[row]))


def test_scores_are_the_integrals_they_are_named_after(laws: NormalMixtures) -> None:
    y = np.array([0.0, -1.0, 3.0, 0.5, 10.0])
    for row in range(5):

        def below(t: float, row: int = row) -> float:
            return float(laws.weights[row] @ norm.cdf(t, laws.means[row], laws.stds[row]))

        left = quad(lambda t: below(t) ** 2, -25, y[row], limit=200, points=[0.0])[0]
        right = quad(lambda t: (1 - below(t)) ** 2, y[row], 25, limit=200, points=[0.0])[0]
        assert laws.crps(y)[row] == pytest.approx(left + right, rel=1e-6)
        square = quad(lambda t, row=row: density(laws, row, t) ** 2, -25, 25, limit=200, points=[0.0])[0]
        assert laws.cde_loss(y)[row] == pytest.approx(square - 2 * density(laws, row, y[row]), rel=1e-6)
        assert laws.pit(y)[row] == pytest.approx(below(y[row]), rel=1e-12)


def test_density_distribution_function_and_quantiles_agree(laws: NormalMixtures) -> None:
    levels = np.array([0.001, 0.3, 0.5, 0.99])
    found = laws.quantiles(levels)
    for k in range(len(levels)):
        np.testing.assert_allclose(laws.pit(found[:, k]), levels[k], rtol=1e-10)
    grid = np.linspace(-12, 12, 4001)
    np.testing.assert_allclose(np.trapezoid(laws.density(grid), grid), 1.0, atol=1e-6)
    np.testing.assert_allclose(np.gradient(laws.below(grid), grid, axis=1), laws.density(grid), atol=2e-4)
    one = NormalMixtures.normal(np.array([1.0, 2.0]), np.array([0.5, 3.0]))
    np.testing.assert_allclose(one.quantiles(levels), norm.ppf(levels, one.means, one.stds))


def test_scores_of_numbers_and_intervals_are_inverse(laws: NormalMixtures) -> None:
    one = NormalMixtures(*(part[:, :1] for part in laws))
    for law in (laws, one._replace(weights=np.ones((5, 1)))):
        scores = np.array([0.0, 0.5, 1.0, 3.0, 9.0])
        for end in interval(law, scores):
            assert_allclose(score_of_numbers(law, end), scores, atol=1e-6)
        assert np.isinf(interval(law, np.full(5, np.inf))).all()


IN_FRONT = [("impute", GaussianImputer(random_state=0)), ("scale", GaussianScaler())]
WITH_GAPS = {
    "gsu": Pipeline([*IN_FRONT, ("classify", GSUClassifier(probability=True, random_state=0))]),
    "discriminant": Pipeline([("classify", GaussianDiscriminant())]),
    "remeasured": Pipeline([("classify", RemeasuredClassifier(random_state=0, n_trees=20))]),
    "mixture": Pipeline([("regress", GaussianMixtureRegressor(random_state=0))]),
}


@pytest.mark.parametrize("name", WITH_GAPS)
def test_a_fold_is_a_fit_without_the_feature(name: str) -> None:
    """Oracle: the same pipeline fitted to rows that do not have it at all."""
    x, std, y, groups = unread()
    target = y if name == "mixture" else y > 0
    rows = Incomplete.from_arrays(x, std=std)
    fold = Fold(0, np.flatnonzero(groups > 0), np.flatnonzero(groups == 0))
    answer = "predict" if name == "mixture" else "predict_proba"
    fitted = fit_fold(WITH_GAPS[name], TrainingRows(rows, target), fold)
    without = TrainingRows(Incomplete.from_arrays(x[:, :2], std=std[:, :2]), target)
    oracle = fit_fold(WITH_GAPS[name], without, fold)
    found = getattr(fitted, answer)(rows[fold.test])
    np.testing.assert_array_equal(found, getattr(oracle, answer)(without.rows[fold.test]))


def test_a_feature_of_rows_without_weight_is_left_out() -> None:
    x, std, y, groups = unread()
    training = TrainingRows(Incomplete.from_arrays(x, std=std), y > 0, weights=np.where(groups > 0, 1.0, 0.0))
    every = np.arange(len(y))
    model = fit_fold(WITH_GAPS["gsu"], training, Fold(0, every, every[:10]))
    assert [name for name, _ in model.steps] == ["known", "impute", "scale", "classify"]
