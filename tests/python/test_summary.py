"""Coefficients in the units of the table, checked by predictions; and what `Model.summary` says."""

from typing import Any

import numpy as np
import polars as pl
import pytest
from catalogues import as_model
from conftest import random_covariances
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.pipeline import make_pipeline

import uncertain
from uncertain import (
    GaussianArray,
    GaussianDenoiser,
    GaussianImputer,
    GaussianScaler,
    GSUClassifier,
    KernelMap,
    LinearMap,
    Model,
    SubspaceProjector,
)

N = 200
NAMES = ["mass", "age", "size"]
SCALES = np.array([1.0, 30.0, 0.01])


@pytest.fixture
def points(rng: np.random.Generator) -> np.ndarray:
    return rng.normal(size=(N, 3)) * SCALES + [3.0, -50.0, 0.2]


@pytest.fixture
def rows(points: np.ndarray, rng: np.random.Generator) -> GaussianArray:
    return GaussianArray(points, std=rng.uniform(0.1, 0.4, (N, 3)) * SCALES, feature_names=NAMES)


def labels(points: np.ndarray, n_classes: int) -> np.ndarray:
    score = ((points - points.mean(axis=0)) / SCALES) @ [1.0, -0.5, 0.25]
    return np.array(list("abc"))[np.digitize(score, [0.0, 0.8][: n_classes - 1])]


def scores_of(model: Model, x: np.ndarray) -> np.ndarray:
    """What the pipeline says of exact rows."""
    exact = GaussianArray(x, feature_names=NAMES)
    ask = model.pipeline_.predict if model.is_regression_ else model.pipeline_.decision_function
    return np.asarray(ask(exact)).reshape(len(x), -1)


def assert_coefficients(model: Model, x: np.ndarray) -> None:
    by_hand = x @ model.coef_.T + model.intercept_
    assert_allclose(by_hand, scores_of(model, x), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("scale", [True, False])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("method", ["gsu", "usvc", "minimax"])
def test_coefficients_give_the_scores(
    method: Any, n_classes: int, scale: bool, rows: GaussianArray, points: np.ndarray, tmp_path: Any
) -> None:
    y = labels(points, n_classes)
    model = uncertain.fit(rows, y, method=method, meaning="spread", scale=scale, probability=False, tol=1e-4)
    k = 1 if n_classes == 2 else n_classes
    assert model.coef_.shape == (k, 3) and model.intercept_.shape == (k,)
    assert model.feature_names_ == NAMES
    assert_coefficients(model, points)
    model.save(tmp_path / "model")
    again = uncertain.load(tmp_path / "model")
    assert_array_equal(again.coef_, model.coef_)
    assert again.feature_names_ == NAMES


@pytest.mark.parametrize("meaning", ["spread", "measurement"])
def test_coefficients_of_regressions(meaning: Any, points: np.ndarray, rng: np.random.Generator) -> None:
    y = points @ [2.0, 0.1, 50.0] + 7.0
    std = rng.uniform(0.1, 0.4, (N, 3)) * SCALES
    rows = GaussianArray(points + std * rng.normal(size=(N, 3)), std=std, feature_names=NAMES)
    model = uncertain.fit(rows, y, meaning=meaning, alpha=1e-6, method="gsu")
    if meaning == "spread":
        assert_coefficients(model, points)
        return
    # The coefficients belong to the true values: what the denoiser says of them.
    place = [type(step) for _, step in model.pipeline_.steps].index(GaussianDenoiser)
    true = model.pipeline_[: place + 1].transform(rows)
    assert_allclose((true.means @ model.coef_.T + model.intercept_)[:, 0], model.predict(rows), rtol=1e-9)
    assert_allclose(model.coef_[0] / [2.0, 0.1, 50.0], 1.0, atol=0.1)


def test_coefficients_behind_maps_and_fillers(rows: GaussianArray, points: np.ndarray) -> None:
    y = labels(points, 2)
    A = np.array([[1.0, 0.0], [0.1, -0.02], [0.0, 30.0]])
    steps = [
        [GaussianScaler(), LinearMap(A * 2), GSUClassifier()],
        [LinearMap(A), GaussianScaler(), SubspaceProjector(0.9), GSUClassifier()],
        [LinearMap(A), GaussianScaler(spread="total"), LinearMap(np.ones((2, 1))), GSUClassifier()],
        [SubspaceProjector(0.5), LinearMap(), GSUClassifier()],
    ]
    for chosen in steps:
        assert_coefficients(as_model(make_pipeline(*chosen).fit(rows, y)), points)
    gaps = np.where(np.arange(3 * N).reshape(N, 3) % 11 == 0, np.nan, points)
    for filler in (GaussianImputer(random_state=0), GaussianDenoiser(random_state=0)):
        pipeline = make_pipeline(GaussianScaler(), filler, LinearMap(A), GSUClassifier()).fit(gaps, y)
        model = as_model(pipeline)
        filled = pipeline[0].inverse_transform(pipeline[:2].transform(gaps)).means
        expected = pipeline.decision_function(gaps)
        assert_allclose((filled @ model.coef_.T + model.intercept_)[:, 0], expected, rtol=1e-9, atol=1e-9)
        assert model.feature_names_ == ["x0", "x1", "x2"]
        summary = model.summary(gaps)
        assert summary.per_std is None and summary.error_share is None


def test_columns_of_a_table(rng: np.random.Generator) -> None:
    x = rng.normal(size=(N, 2))
    table = pl.DataFrame(
        {"u": x[:, 0], "u_err": 0.1, "z": x[:, 1], "site": ["n", "s"] * (N // 2), "y": x @ [1.0, 2.0] + 0.5}
    )
    model = uncertain.fit(
        table, "y", exact=["z"], categorical=["site"], meaning="spread", alpha=1e-8, method="gsu"
    )
    assert model.feature_names_ == ["u", "z", "site_n", "site_s"]
    read = model.gaussians(table)
    assert read.feature_names == ("u", "z", "site_n", "site_s")
    assert_allclose((read.means @ model.coef_.T + model.intercept_)[:, 0], model.predict(table).to_numpy())
    frame = pl.DataFrame(model.summary(table).to_dict())
    assert frame["feature"].to_list() == model.feature_names_
    assert frame["error_share"].to_list() == [1.0, 0.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"method": "kernel"}, "ProbabilisticKernelSVC has no coefficients"),
        ({"method": "huber"}, "AdaptiveHuberClassifier has no coefficients"),
        ({"method": "discriminant"}, "GaussianDiscriminant has no coefficients"),
        ({"kernel": "quadratic"}, r"GSUClassifier\(kernel='quadratic'\).*dimensions of its feature space"),
        ({"method": "usvc", "kernel": "rbf"}, r"RobustSVC\(kernel='rbf'\)"),
    ],
    ids=str,
)
def test_models_without_coefficients(
    options: Any, words: str, rows: GaussianArray, points: np.ndarray
) -> None:
    model = uncertain.fit(rows, labels(points, 2), **{"method": "gsu"} | options)
    with pytest.raises(AttributeError, match=words):
        _ = model.coef_
    with pytest.raises(AttributeError, match=words):
        _ = model.intercept_
    summary = model.summary(rows)
    assert summary.coef is None and summary.to_dict() == {"feature": NAMES}
    assert "'a', 'b'" in str(summary) and "no coefficients" in str(summary)
    if options.get("method") == "kernel":
        assert f"{len(model.pipeline_[-1].support_)} support vectors" in str(summary)
    if options.get("method") == "huber":
        assert f"{len(model.pipeline_[-1].removed_)} dropped" in str(summary)
    if "kernel" in options:
        assert f"{model.pipeline_[-1].kernel_map_.rank_} dimensions" in str(summary)


@pytest.mark.parametrize("step", [KernelMap("quadratic"), SubspaceProjector(0.5, project="both")])
def test_steps_that_are_not_linear(step: Any, rows: GaussianArray, points: np.ndarray) -> None:
    model = as_model(make_pipeline(step, GSUClassifier()).fit(rows, labels(points, 2)))
    assert not hasattr(model, "coef_")
    with pytest.raises(AttributeError, match=type(step).__name__):
        _ = model.coef_


def test_coefficients_are_copies(rows: GaussianArray, points: np.ndarray) -> None:
    model = uncertain.fit(rows, labels(points, 2), meaning="spread", scale=False, method="gsu")
    model.coef_[:] = 0.0
    model.intercept_[:] = 0.0
    assert model.coef_.any() and model.pipeline_[-1].coef_.any()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_summary_of_a_linear_model(n_classes: int, points: np.ndarray, rng: np.random.Generator) -> None:
    cov = random_covariances(rng, N, 3) * SCALES[:, None] * SCALES * 0.05
    rows = GaussianArray(points, cov=cov, feature_names=NAMES)
    model = uncertain.fit(rows, labels(points, n_classes), meaning="spread", method="gsu")
    bare, summary = model.summary(), model.summary(rows)
    assert bare.error_share is None
    for one in (bare, summary):
        assert_array_equal(one.coef, model.coef_)
        assert_array_equal(one.intercept, model.intercept_)
        assert one.per_std is not None
        assert_allclose(one.per_std, model.coef_ * points.std(axis=0), rtol=1e-12)
    share = summary.error_share
    assert share is not None
    for k, w in enumerate(model.coef_):
        parts = np.mean([w * (S @ w) for S in cov], axis=0)
        assert_allclose(share[k], parts / parts.sum(), rtol=1e-9)
    assert_allclose(share.sum(axis=1), 1.0)
    text = str(summary)
    for piece in (
        *NAMES,
        "share of error",
        "per std",
        "intercept",
        "above the optimum",
        "'a'",
        f"{share[0, 1]:.1%}",
    ):
        assert piece in text
    frame = summary.to_dict()
    assert len(frame["score"]) == 3 * len(model.coef_) and frame["coef"] == model.coef_.ravel().tolist()


def test_summary_of_exact_rows_and_of_many_features(rng: np.random.Generator) -> None:
    x = rng.normal(size=(100, 50))
    model = uncertain.fit(x, (x[:, 0] > 0).astype(int), scale=False, method="gsu")
    summary = model.summary(x)
    assert summary.error_share is not None and np.isnan(summary.error_share).all()
    assert summary.per_std is not None
    assert_allclose(summary.per_std, model.coef_ * x.std(axis=0))
    assert model.summary().per_std is None
    text = str(summary)
    assert "and 20 features" in text
    largest = int(np.abs(summary.per_std[0]).argmax())
    smallest = int(np.abs(summary.per_std[0]).argmin())
    lines = [line.split()[0] for line in text.splitlines() if line]
    assert f"x{largest}" in lines and f"x{smallest}" not in lines


FAMILIES = ["binomial", "poisson", "negative_binomial", "gamma", "ordinal", "weibull", "lognormal"]


@pytest.mark.parametrize("family", FAMILIES)
def test_summary_of_a_law_of_each_family(family: str, rng: np.random.Generator) -> None:
    true = rng.normal(size=N)
    rate = np.exp(0.5 * true)
    targets = {
        "binomial": np.where(rng.uniform(size=N) < rate / (1 + rate), "yes", "no"),
        "ordinal": np.digitize(true + rng.logistic(size=N), [-1.0, 1.0]),
        "poisson": rng.poisson(3 * rate),
        "negative_binomial": rng.poisson(3 * rate * rng.gamma(2.0, 0.5, N)),
    }
    target = targets.get(family, rate * rng.gamma(2.0, size=N))
    table = pl.DataFrame({"dose": true + 0.4 * rng.normal(size=N), "dose_err": 0.4, "answer": target})
    model = uncertain.fit(table, target="answer", method="law", family=family)
    law, summary = model.pipeline_[-1], model.summary()
    assert summary.coef_std is not None and summary.intercept_std is not None and summary.naive is not None
    assert_array_equal(summary.coef_std, law.coef_std_[None])
    assert_array_equal(summary.naive, law.naive_coef_[None])
    text = str(summary)
    assert f"{law.coef_std_[0]:.4g}" in text and f"{law.naive_coef_[0]:.4g}" in text
    if family == "ordinal":
        assert "threshold" in text and "intercept" not in text
    else:
        assert f"{law.intercept_:.6g}" in text and f"{law.intercept_std_:.4g}" in text
    for values in law.extra_.values():
        assert all(f"{value:.4g}" in text for value in values)
    # The sentence above the table says what the linear predictor is: here its log, there the answer's odds.
    assert ("log of the mean of answer" in text) == (family in ("poisson", "negative_binomial", "gamma"))
    assert ("log odds of 'yes' against 'no'" in text) == (family == "binomial")


def test_summary_of_a_line_has_its_scatter(rng: np.random.Generator) -> None:
    true = rng.normal(size=N)
    y = 1 + 2 * true + 0.3 * rng.normal(size=N)
    table = pl.DataFrame({"x": true + 0.3 * rng.normal(size=N), "x_err": 0.3, "y": y})
    model = uncertain.fit(table, target="y", method="law")
    law, text = model.pipeline_[-1], str(model.summary())
    assert f"{law.intrinsic_scatter_:.4g} ± {law.intrinsic_scatter_std_:.2g}" in text
    assert f"{law.intercept_std_:.4g}" in text
