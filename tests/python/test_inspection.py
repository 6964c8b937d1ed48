"""Permutation importance and partial dependence: a value moves together with its error bar."""

from typing import Any

import numpy as np
import polars as pl
import pytest
from catalogues import KINDS, of_kind
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.inspection import partial_dependence as plain_dependence
from sklearn.inspection import permutation_importance as plain_importance
from sklearn.metrics import make_scorer, recall_score

import uncertain
from uncertain import GaussianArray, GaussianDiscriminant, GSUClassifier, GSURegressor
from uncertain.exceptions import ParameterError, ShapeError, UncertainError
from uncertain.inspection import partial_dependence, permutation_importance

N = 60


class Recorder(RegressorMixin, BaseEstimator):
    """Keeps the rows that it predicts."""

    def __init__(self) -> None:
        self.fitted_, self.seen = True, []

    def predict(self, X: GaussianArray) -> Any:
        self.seen.append(X)
        return np.arange(len(X), dtype=float)


def sources(rows: GaussianArray, moved: GaussianArray, feature: int) -> Any:
    """The row that each value was taken from."""
    return np.argmax(moved.means[:, feature, None] == rows.means[:, feature], axis=1)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("block", [(1,), (3, 0), (0, 1, 2, 3)])
def test_a_moved_feature_takes_its_error_bar_and_leaves_its_correlations(
    kind: str, block: tuple[int, ...], rng: np.random.Generator
) -> None:
    rows, model = of_kind(kind, rng.normal(size=(N, 4)), rng), Recorder()
    permutation_importance(model, rows, np.arange(N), features=[block], n_repeats=1)
    moved = model.seen[1]
    source = sources(rows, moved, block[0])
    before, after = rows.covariances(), moved.covariances()
    here, rest = np.array(block), np.setdiff1d(np.arange(4), block)
    assert_array_equal(np.sort(source), np.arange(N))
    assert_array_equal(moved.means[:, here], rows.means[source][:, here])
    assert_array_equal(moved.means[:, rest], rows.means[:, rest])
    assert_allclose(after[:, here[:, None], here], before[source][:, here[:, None], here], rtol=1e-12)
    assert_allclose(after[:, rest[:, None], rest], before[:, rest[:, None], rest], rtol=1e-12)
    assert not after[:, here[:, None], rest].any()


def test_values_come_from_other_groups(rng: np.random.Generator) -> None:
    groups = rng.permutation(np.repeat(np.arange(12), rng.integers(1, 9, 12)))
    rows, model = GaussianArray(rng.normal(size=(len(groups), 1))), Recorder()
    permutation_importance(model, rows, np.arange(len(rows)), groups=groups, n_repeats=300)
    pairs = np.zeros((len(rows), len(rows)))
    for moved in model.seen[1:]:
        source = sources(rows, moved, 0)
        assert_array_equal(np.sort(source), np.arange(len(rows)))
        pairs[np.arange(len(rows)), source] += 1
    others = groups[:, None] != groups
    assert not pairs[~others].any() and (pairs[others] > 0).mean() > 0.95
    with pytest.raises(UncertainError, match="has 6 of the 10 rows"):
        permutation_importance(model, rows[:10], np.arange(10), groups=[0] * 6 + [1] * 4)


@pytest.mark.parametrize("scoring", [None, "roc_auc", "log_loss", "balanced_accuracy"])
def test_exact_points_are_those_of_scikit_learn(scoring: Any, rng: np.random.Generator) -> None:
    y = np.arange(400) % 2
    x = rng.normal(size=(400, 3)) + y[:, None] * [2.0, 0.7, 0.0]
    model = GSUClassifier(probability=True, random_state=0).fit(x, y)
    ours = permutation_importance(model, x, y, scoring=scoring, n_repeats=30)
    named = {"log_loss": "neg_log_loss"}.get(scoring, scoring)
    theirs = plain_importance(model, x, y, scoring=named, n_repeats=30, random_state=1)
    spread = np.hypot(theirs.importances_std, ours.importances_std) / np.sqrt(30)
    assert np.all(np.abs(ours.importances_mean - theirs.importances_mean) < 4 * spread + 1e-12)


def test_importance_of_a_model_and_a_table(rng: np.random.Generator) -> None:
    y = np.arange(160) % 2
    columns = {"flux": 2.0 * y + rng.normal(size=160), "color": rng.normal(size=160)}
    columns |= {"flux_err": np.full(160, 0.3), "color_err": rng.uniform(0.1, 2.0, 160)}
    table = pl.DataFrame(columns | {"kind": np.where(y, "quasar", "star")})
    model = uncertain.fit(table, target="kind", method="gsu")
    found = permutation_importance(model, table)
    assert found.names == ("flux", "color") and found.scoring == "accuracy"
    assert found.score == pytest.approx(model.score(table)) and found.importances.shape == (2, 5)
    assert_allclose(found.importances_std, found.importances.std(axis=1))
    assert found.to_dict()["feature"][0] == "flux" and "flux" in repr(found).splitlines()[1]
    again = permutation_importance(model, table, n_jobs=2)
    assert_array_equal(again.importances, found.importances)
    assert not np.array_equal(
        permutation_importance(model, table, random_state=1).importances, found.importances
    )
    both = permutation_importance(model, table, features=[("flux", "color"), "flux"])
    assert both.names == ("flux, color", "flux")
    frame = model.gaussians(table)
    steps = permutation_importance(model.pipeline_[1:], frame, table["kind"].to_list())
    assert_array_equal(steps.importances, found.importances)
    # Another measure, or any function of the estimator, the rows and the labels.
    score = make_scorer(recall_score, pos_label="quasar")
    other = permutation_importance(model, table, scoring=score)
    assert np.isnan(other.standard_error).all() and other.importances_mean[0] > 0.1


def test_standard_errors_are_those_of_other_samples() -> None:
    """The spread of an importance over samples of the rows, beside the standard error of one."""
    rng = np.random.default_rng(0)

    def sample(n: int) -> tuple[np.ndarray, np.ndarray]:
        y = rng.integers(0, 2, n)
        return rng.normal(size=(n, 2)) + y[:, None] * [1.5, 0.5], y

    model = GaussianDiscriminant().fit(*sample(4000))
    found = [permutation_importance(model, *sample(200), n_repeats=10, random_state=k) for k in range(60)]
    spread = np.std([f.importances_mean for f in found], axis=0)
    errors = np.median([f.standard_error for f in found], axis=0)
    assert np.all((errors / spread > 0.7) & (errors / spread < 1.7)), errors / spread


def test_gaps_move_like_values(rng: np.random.Generator) -> None:
    y = np.arange(120) % 2
    x = rng.normal(size=(120, 2)) + 2.0 * y[:, None] * [1.0, 0.0]
    x[rng.random((120, 2)) < 0.2] = np.nan
    columns = {"a": x[:, 0], "b": x[:, 1], "a_err": np.full(120, 0.1), "b_err": np.full(120, 0.1)}
    table = pl.DataFrame(columns | {"label": y}, nan_to_null=True)
    model = uncertain.fit(table, on_missing="impute", method="discriminant")
    found = permutation_importance(model, table)
    assert found.importances_mean[0] > 0.2 > found.importances_mean[1]
    curve = partial_dependence(model, table, "a", grid=[-3.0, 5.0])
    assert curve.average[0, 0] < 0.2 and curve.average[0, 1] > 0.8
    set_to = partial_dependence(model, table, "a", grid=[5.0], error="zero", kind="individual")
    assert set_to.individual is not None and np.isfinite(set_to.individual).all()


def test_dependence_of_exact_points_is_that_of_scikit_learn(rng: np.random.Generator) -> None:
    y = np.arange(300) % 3
    x = rng.normal(size=(300, 2)) + 1.5 * y[:, None] * [1.0, -0.5]
    model = GSUClassifier(probability=True, random_state=0).fit(x, y)
    theirs = plain_dependence(model, x, [0], grid_resolution=15, response_method="predict_proba", kind="both")
    ours = partial_dependence(model, x, 0, grid=theirs["grid_values"][0], kind="individual")
    assert_allclose(ours.average, theirs["average"], rtol=1e-10)
    assert ours.individual is not None
    assert_allclose(ours.individual, theirs["individual"], rtol=1e-10)
    assert ours.outputs == (0, 1, 2) and ours.names == ("feature 0",)
    surface = plain_dependence(model, x, [0, 1], grid_resolution=4, response_method="predict_proba")
    two = partial_dependence(model, x, (0, 1), grid=surface["grid_values"])
    assert_allclose(two.average, surface["average"], rtol=1e-10)
    numbers = GSURegressor(kernel="rbf").fit(x, x[:, 0] ** 2)
    theirs = plain_dependence(numbers, x, [0], grid_resolution=9)
    curve = partial_dependence(numbers, x, 0, grid=theirs["grid_values"][0])
    assert_allclose(curve.average, theirs["average"], rtol=1e-9)
    own = partial_dependence(numbers, x, 0, grid_resolution=9).grid[0]
    assert_allclose(own, np.linspace(*np.quantile(x[:, 0], [0.05, 0.95]), 9))


class Spread(RegressorMixin, BaseEstimator):
    """Predicts the variance of the first feature and ten times its covariance with the second."""

    def __init__(self) -> None:
        self.fitted_ = True

    def predict(self, X: GaussianArray) -> Any:
        S = X.covariances()
        return S[:, 0, 0] + 10.0 * S[:, 0, 1]


def test_the_error_bar_of_a_set_value_is_kept_zero_or_given(rng: np.random.Generator) -> None:
    rows = of_kind("full", rng.normal(size=(N, 4)), rng)
    S = rows.covariances()
    options: dict[str, Any] = {"grid": [0.0, 2.0], "kind": "individual"}
    keep = partial_dependence(Spread(), rows, 0, **options)
    assert keep.individual is not None and keep.outputs == ("prediction",)
    assert_allclose(keep.individual[0, :, 1], S[:, 0, 0] + 10 * S[:, 0, 1])
    zero = partial_dependence(Spread(), rows, 0, error="zero", **options)
    assert zero.individual is not None and not zero.individual.any()
    given = partial_dependence(Spread(), rows, 0, error=0.5, **options)
    assert given.individual is not None
    assert_allclose(given.individual, 0.25)
    before = rows.means.copy()
    assert_array_equal(rows.means, before)


def test_larger_errors_flatten_the_dependence(rng: np.random.Generator) -> None:
    y = np.arange(200) % 2
    columns = {"x": 2.0 * y + rng.normal(size=200), "x_err": np.full(200, 0.2)}
    table = pl.DataFrame(columns | {"label": np.where(y, "quasar", "star")})
    model = uncertain.fit(table, meaning="spread", method="gsu")
    ends = [-1.0, 3.0]
    exact, vague = (partial_dependence(model, table, "x", grid=ends, error=e) for e in ("zero", 3.0))
    assert exact.outputs == ("star",) and exact.names == ("x",)
    width = [abs(f.average[0, 1] - f.average[0, 0]) for f in (exact, vague)]
    assert width[0] > 0.7 and width[1] < 0.7 * width[0]
    line = pl.DataFrame({"x": [0.0, 3.0], "x_err": [3.0, 3.0]})
    assert vague.average[0, 1] == pytest.approx(model.predict_proba(line)["star"][1])
    scores = partial_dependence(model, table, "x", grid=ends, response="decision_function")
    assert scores.average.shape == (1, 2) and scores.average[0, 0] * scores.average[0, 1] < 0


def test_wrong_calls(rng: np.random.Generator) -> None:
    x, y = rng.normal(size=(40, 2)), np.arange(40) % 2
    model = GSUClassifier().fit(x, y)
    rows = GaussianArray(x, std=0.1, feature_names=["u", "g"])
    named = GSUClassifier().fit(rows, y)
    assert permutation_importance(named, rows, y, n_repeats=1).names == ("u", "g")
    cases: list[tuple[Any, type[Exception], str]] = [
        (lambda: permutation_importance(model, x), ParameterError, "pass the targets"),
        (lambda: permutation_importance(model, x, y[:5]), ShapeError, "expected 40 targets"),
        (lambda: permutation_importance(model, x, y, n_repeats=0), ParameterError, "n_repeats=0"),
        (lambda: permutation_importance(model, x, y, features=["w"]), ParameterError, "no feature 'w'"),
        (lambda: permutation_importance(model, x, y, features=[2]), ParameterError, r"number in 0\.\.1"),
        (lambda: permutation_importance(model, x, y, features=[(0, 0)]), ParameterError, "each once"),
        (lambda: permutation_importance(model, x, y, scoring="mae"), ParameterError, "must be one of"),
        (lambda: permutation_importance(model, x, y, scoring="brier"), ParameterError, "no probabilities"),
        (lambda: partial_dependence(model, x, (0, 1, 0)), ParameterError, "each once"),
        (lambda: partial_dependence(model, x, 0, error=-1.0), ParameterError, "error=-1.0"),
        (lambda: partial_dependence(model, x, 0, error="none"), ParameterError, "error='none'"),
        (lambda: partial_dependence(model, x, 0, grid=[[1.0]]), ShapeError, "one list of values"),
        (lambda: partial_dependence(model, x, 0, response="predict"), ParameterError, "labels have no mean"),
        (lambda: partial_dependence(model, x, 0, response="predict_proba"), ParameterError, "no predict_"),
        (lambda: partial_dependence(model, x, 0, percentiles=(0.9, 0.1)), ParameterError, "percentiles"),
        (lambda: partial_dependence(model, x, 0, grid_resolution=1), ParameterError, "grid_resolution=1"),
    ]
    for call, kind, message in cases:
        with pytest.raises(kind, match=message):
            call()
