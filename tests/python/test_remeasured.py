"""Re-measured rows: copies are what they say they are, and learners that get them know what errors mean."""

from typing import Any

import numpy as np
import polars as pl
import pytest
from sklearn import ensemble
from sklearn.base import clone
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import log_loss
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

import uncertain
from uncertain import (
    AsGaussians,
    ErrorColumns,
    GaussianArray,
    GaussianScaler,
    Incomplete,
    RemeasuredClassifier,
    RemeasuredRegressor,
)
from uncertain.exceptions import ParameterError, UncertainError

KINDS = ("diagonal", "full", "shared", "low-rank")


def drawn_values(n: int, rng: np.random.Generator) -> np.ndarray:
    return rng.multivariate_normal([0.0, 1.0], [[1.0, 0.6], [0.6, 2.0]], n)


def noise_of(kind: str, n: int, rng: np.random.Generator) -> dict[str, Any]:
    roots = rng.normal(size=(n, 2, 2)) * 0.3 + 0.2 * np.eye(2)
    return {
        "diagonal": {"std": rng.uniform(0.2, 0.6, (n, 2))},
        "full": {"cov": roots @ roots.transpose(0, 2, 1)},
        "shared": {"cov": np.array([[0.2, 0.1], [0.1, 0.3]])},
        "low-rank": {"factor": roots[:, :, :1]},
    }[kind]


def read(z: np.ndarray, noise: dict[str, Any], rng: np.random.Generator) -> GaussianArray:
    exact = GaussianArray(z, **noise)
    return GaussianArray(2 * z - exact.sample(1, random_state=rng.integers(2**31)).means, **noise)


@pytest.fixture(autouse=True)
def enough_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("uncertain._trees.number_of_trees.MOST", 40)


def two_classes(n: int, scale: float, seed: int) -> tuple[GaussianArray, np.ndarray]:
    """The class with larger values is also measured worse, which is a trap."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    z = rng.normal(size=(n, 3)) + 1.5 * y[:, None]
    std = scale * (0.15 + 0.15 * y[:, None]) * rng.uniform(0.7, 1.3, (n, 3))
    return GaussianArray(z + std * rng.normal(size=z.shape), std=std), y


@pytest.mark.parametrize(
    "learner",
    [None, ensemble.RandomForestClassifier(50, min_samples_leaf=5, random_state=0)],
    ids=["boosting", "forest"],
)
def test_larger_errors_at_prediction_do_not_mislead(learner: Any) -> None:
    train, y = two_classes(800, 1.0, 0)
    test, truth = two_classes(2000, 4.0, 1)
    plain = make_pipeline(
        ErrorColumns(), clone(learner) if learner is not None else ensemble.HistGradientBoostingClassifier()
    ).fit(train, y)
    model = RemeasuredClassifier(learner, random_state=0).fit(train, y)
    assert model.score(test, truth) > plain.score(test, truth) + 0.1
    same, labels = two_classes(2000, 1.0, 2)
    assert model.score(same, labels) > 0.9


def test_smaller_errors_at_prediction() -> None:
    rng = np.random.default_rng(0)
    y = np.arange(1500) % 2
    z = 0.6 * rng.normal(size=(1500, 2)) + np.array([0.0, 2.0]) * y[:, None]
    noisy = GaussianArray(z + 2.0 * rng.normal(size=z.shape), std=2.0)
    sharp = GaussianArray(z, std=0.3)
    up = RemeasuredClassifier(factors=(1.0, 8.0), random_state=0).fit(noisy, y)
    both = RemeasuredClassifier(random_state=0).fit(noisy, y)
    assert both.factors_[0] == 0.1
    # Precise rows may be judged with more confidence than any row that was seen.
    losses = [log_loss(y, model.predict_proba(sharp)) for model in (up, both)]
    assert losses[1] < 0.7 * losses[0]


def test_regression_with_larger_errors() -> None:
    rng = np.random.default_rng(0)
    z = rng.normal(size=(1500, 2))
    target = np.sin(2 * z[:, 0]) + z[:, 1]

    def at(scale: float) -> GaussianArray:
        std = scale * rng.uniform(0.05, 0.2, z.shape)
        return GaussianArray(z + std * rng.normal(size=z.shape), std=std)

    train, test = at(1.0), at(6.0)
    model = RemeasuredRegressor(random_state=0).fit(train, target)
    linear = RemeasuredRegressor(LinearRegression(), random_state=0).fit(train, target)
    means = make_pipeline(ErrorColumns("means"), ensemble.HistGradientBoostingRegressor()).fit(train, target)
    assert model.score(test, target) > means.score(test, target) + 0.03
    assert linear.score(test, target) > 0.3


def test_regression_with_smaller_errors() -> None:
    rng = np.random.default_rng(0)
    z = rng.normal(size=(1500, 1))
    y = np.where(z[:, 0] > 0, 3.0 * z[:, 0], -z[:, 0])
    noisy = GaussianArray(z + rng.normal(size=z.shape), std=1.0)
    new = rng.normal(size=(2000, 1))
    sharp, expected = GaussianArray(new, std=0.2), np.where(new[:, 0] > 0, 3.0 * new[:, 0], -new[:, 0])
    both = RemeasuredRegressor(random_state=0).fit(noisy, y)
    up = RemeasuredRegressor(factors=(1.0, 8.0), random_state=0).fit(noisy, y)
    assert both.score(sharp, expected) > up.score(sharp, expected) + 0.05


@pytest.mark.usefixtures("few_trees")
def test_it_repeats_itself_and_knows_weights() -> None:
    X, y = two_classes(300, 1.0, 0)
    first, second = (RemeasuredClassifier(random_state=3).fit(X, y).predict_proba(X) for _ in range(2))
    np.testing.assert_array_equal(first, second)
    weights = np.where(np.arange(300) < 150, 0.0, 1.0)
    copies = RemeasuredClassifier(LogisticRegression(), n_copies=4, random_state=0).fit(X, y, weights)
    without = RemeasuredClassifier(LogisticRegression(), n_copies=4, random_state=0).fit(X, y)
    assert not np.allclose(copies.estimator_.coef_, without.estimator_.coef_)
    with pytest.raises(ParameterError, match="KNeighborsClassifier takes no weights"):
        RemeasuredClassifier(KNeighborsClassifier()).fit(X, y, weights)


def test_a_class_of_few_rows_and_a_learner_without_trees_yet() -> None:
    X, y = two_classes(60, 1.0, 0)
    labels = np.where(np.arange(60) == 7, 2, y)
    model = RemeasuredClassifier(ensemble.RandomForestClassifier(5, random_state=0), random_state=0)
    assert hasattr(model, "predict_proba") and not hasattr(model, "decision_function")
    assert model.fit(X, labels).predict_proba(X).shape == (60, 3)


@pytest.mark.usefixtures("few_trees")
def test_the_form_of_covariances_and_what_stands_under_gaps_change_nothing() -> None:
    rng = np.random.default_rng(8)
    z = drawn_values(80, rng)
    x, y, std = z + 0.5 * rng.normal(size=z.shape), z[:, 0] - z[:, 1], rng.uniform(0.3, 0.7, z.shape)
    factor = np.stack([np.diag(s) for s in std]) + 0.3 * np.tri(2, k=-1)
    cov = factor @ factor.transpose(0, 2, 1)
    gaps = np.array([rng.permutation(2) == 0 for _ in range(80)]) & (rng.random((80, 1)) < 0.3)
    under = np.where(gaps[:, :, None] | gaps[:, None, :], 0.0, cov)
    for one, *others in (
        (
            {"std": std},
            {"cov": std[:, :, None] ** 2 * np.eye(2)},
            {"factor": std[:, :, None] * np.eye(2)[::-1]},
        ),
        ({"cov": cov}, {"factor": factor}, {"factor": -factor[:, :, ::-1]}),
    ):
        rows = [GaussianArray(x, **form) for form in (one, *others)]
        first, *more = (RemeasuredRegressor(random_state=0, n_trees=5).fit(X, y).predict(X) for X in rows)
        for predictions in more:
            np.testing.assert_allclose(predictions, first, atol=1e-9)
    first, again = (
        RemeasuredRegressor(random_state=0, n_trees=5).fit(X, y).predict(X)
        for X in (
            Incomplete(GaussianArray(x, cov=cov), gaps),
            Incomplete(GaussianArray(np.where(gaps, 1e9, x), cov=under), gaps),
        )
    )
    np.testing.assert_array_equal(again, first)


def test_gaps_are_infinite_errors() -> None:
    rng = np.random.default_rng(0)
    y = np.arange(400) % 2
    flux = rng.normal(3.0 * y, 1.0)
    table = pl.DataFrame(
        {
            "flux": np.where(np.arange(400) % 5 == 0, np.nan, flux),
            "flux_err": rng.uniform(0.1, 0.3, 400),
            "mag": rng.normal(-2.0 * y, 1.0),
            "mag_err": rng.uniform(0.1, 0.3, 400),
        }
    )
    rows = AsGaussians(on_missing="impute").fit_transform(table)
    model = RemeasuredClassifier(random_state=0).fit(rows, y)
    assert model.score(rows, y) > 0.9
    columns = model.error_columns_.transform(rows)
    assert np.isnan(columns[0, [0, 2]]).all() and np.isfinite(columns[1]).all()
    with pytest.raises(ValueError, match="NaN"):
        RemeasuredClassifier(LogisticRegression()).fit(rows, y)


def test_from_a_table() -> None:
    X, y = two_classes(400, 1.0, 0)
    std = np.sqrt(np.diagonal(X.covariances(), axis1=1, axis2=2))
    columns = {f"x{j}": X.means[:, j] for j in range(3)} | {f"x{j}_err": std[:, j] for j in range(3)}
    table = pl.DataFrame(columns | {"label": y, "height": X.means.sum(axis=1) + 0.5})
    model = uncertain.fit(table.drop("height"), method="remeasured")
    assert model.score(table) > 0.9 and "measurement errors" in str(model)
    assert [name for name, _ in model.pipeline_.steps] == ["gaussians", "scale", "classify"]
    heights = {"table": table.drop("label"), "target": "height", "method": "remeasured"}
    height = uncertain.fit(**heights, estimator=LinearRegression())
    once = uncertain.fit(**heights, estimator=LinearRegression(), n_copies=1)
    plain = make_pipeline(GaussianScaler(), ErrorColumns(), LinearRegression()).fit(X, table["height"])
    np.testing.assert_allclose(once.predict(table).to_numpy(), plain.predict(X), rtol=1e-9)
    # Copies cost a learner that cannot bend with the size of errors a little where sizes stay as they were.
    assert once.score(table) > height.score(table) > 0.9 * once.score(table)
    with pytest.raises(UncertainError, match=r"cannot be saved.*joblib"):
        height.save("model.safetensors")


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"n_copies": 0}, "n_copies = 0: must be an integer from 1 to 10000"),
        ({"per_feature": 2.0}, "per_feature = 2.0"),
        ({"factors": (4.0, 1.0)}, "the smallest and the largest factor"),
        ({"factors": 3.0}, "the smallest and the largest factor"),
        ({"error_columns": "sizes"}, 'error_columns=.*must be one of "errors"'),
    ],
)
def test_wrong_parameters(parameters: Any, words: str) -> None:
    X, y = two_classes(40, 1.0, 0)
    with pytest.raises(ParameterError, match=words):
        RemeasuredClassifier(**parameters).fit(X, y)


def test_names_and_exact_values_of_error_columns() -> None:
    X = GaussianArray(np.random.default_rng(0).normal(size=(50, 3)), std=0.5, feature_names=["a", "b", "c"])
    columns = ErrorColumns("correlations").fit(X)
    endings = [("log_error", "a b c"), ("correlation", "a_b a_c b_c")]
    names = [f"{kind}_{name}" for kind, of in endings for name in of.split()]
    assert columns.get_feature_names_out().tolist()[3:] == names
    exact = columns.transform(GaussianArray(X.means, feature_names=["a", "b", "c"]))
    np.testing.assert_allclose(exact[:, 3:6], -3.0)
    assert not exact[:, 6:].any()


@pytest.mark.usefixtures("few_trees")
def test_a_feature_that_one_class_never_has_is_drawn_from_all_rows() -> None:
    rng = np.random.default_rng(0)
    y = np.arange(90) % 2
    values = rng.normal(size=(90, 2)) + 2.0 * y[:, None]
    values[y == 1, 1] = np.nan
    rows = Incomplete.from_arrays(values, std=0.3)
    model = RemeasuredClassifier(random_state=0).fit(rows, y)
    assert model.score(rows, y) > 0.9
