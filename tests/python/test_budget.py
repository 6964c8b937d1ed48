"""A fit ends: candidates of a choice have a budget of passes, and `time_limit` stops by the clock."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import uncertain
from uncertain import GaussianArray
from uncertain.exceptions import ConvergenceWarning, ParameterError, UncertainError

pytestmark = pytest.mark.usefixtures("few_trees")


def table(n: int, d: int) -> tuple[GaussianArray, Any]:
    """Noisy rows of two classes that overlap."""
    rng = np.random.default_rng(n)
    y = np.arange(n) % 2
    std = np.exp(0.4 * rng.normal(size=(n, d)))
    z = rng.normal(size=(n, d)) + 0.5 * y[:, None]
    return GaussianArray(z + std * rng.normal(size=(n, d)), std=std), y


@pytest.mark.parametrize("given", [0, -1.0, float("nan"), "60", True])
def test_a_limit_is_a_number_of_seconds(given: Any) -> None:
    with pytest.raises(ParameterError, match=r"time_limit=.*seconds > 0"):
        uncertain.fit(*table(30, 2), time_limit=given)


def test_a_fit_that_would_take_long_ends_in_words() -> None:
    X, y = table(400, 60)
    endless = {"n_components": 8, "tol": 0.0, "max_iter": 10**9, "acceleration": None}
    with pytest.raises(UncertainError, match="time_limit"):
        uncertain.fit(X, y, method="discriminant", time_limit=0.3, **endless)
    # The limit is gone with its fit.
    assert uncertain.fit(X, y, method="discriminant").classes_.tolist() == [0, 1]


def test_candidates_that_the_limit_leaves_no_time_say_so() -> None:
    X, y = table(400, 5)
    try:
        model = uncertain.fit(X, y, time_limit=0.5)
    except UncertainError as error:  # on a machine that is slow today
        assert "time_limit" in str(error)
        return
    board = model.leaderboard_
    late = board.filter(pl.col("note").str.contains("time_limit")).height
    assert ("time_limit left out" in str(model)) == (late > 0 and board["score"].is_not_null().any())


def test_a_limit_that_is_not_reached_changes_nothing() -> None:
    X, y = table(60, 3)
    one, other = uncertain.fit(X, y), uncertain.fit(X, y, time_limit=1e6)
    np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(X))
    assert one.leaderboard_.drop("seconds").equals(other.leaderboard_.drop("seconds"))


def test_candidates_end_with_their_budget_and_repeat_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = table(300, 4)
    for name, value in (("LINEAR_WORK", 1.0), ("EM_WORK", 1.0), ("LEAST", 1)):
        monkeypatch.setattr(f"uncertain._choice.budget.{name}", value)
    monkeypatch.setattr("uncertain._choice.choose.is_too_much", lambda *_: False)
    # No option of this call raises the passes: nothing warns.
    models = [uncertain.fit(X, y, meaning="measurement") for _ in range(2)]
    np.testing.assert_array_equal(*(model.predict_proba(X) for model in models))
    tried = models[0].leaderboard_.filter(pl.col("score").is_not_null() & (pl.col("method") == "gsu"))
    assert tried.filter(pl.col("status").str.contains("of 5 fits ended by max_iter")).height > 0
    assert (tried["gap"] > 0.0).any()


def test_a_model_says_how_far_em_has_come() -> None:
    with pytest.warns(ConvergenceWarning, match="raise max_iter or tol"):
        model = uncertain.fit(*table(200, 3), method="discriminant", n_components=2, max_iter=2)
    assert "max_iter after 2 iterations, of which the last raised the mean log-likelihood by" in str(model)


def test_too_many_columns_for_covariances_of_each_row_are_left_out() -> None:
    X, y = table(60, 340)
    model = uncertain.fit(X, y)
    left = model.leaderboard_.filter(pl.col("note").str.contains("too many for Gaussians with noise"))
    assert {"gsu", "discriminant"} <= set(left["method"])
    assert model.leaderboard_["score"].is_not_null().any()


@pytest.mark.parametrize("kind", ["diagonal", "full"])
@pytest.mark.parametrize("regression", [False, True])
def test_kernels_between_full_covariances_have_a_budget_of_pairs(
    kind: str, regression: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = table(60, 4)
    if kind == "full":
        X = GaussianArray(X.means, cov=X.covariances() + 0.1)
    monkeypatch.setattr("uncertain._choice.portfolio.KERNEL_WORK", 60.0**2 * 4.0**3 - 1)
    task = "regression" if regression else "classification"
    model = uncertain.fit(X, np.asarray(X.means[:, 0]) if regression else y, task=task)
    note = pl.col("note").str.contains("too many for a kernel of 60 rows")
    left = model.leaderboard_.filter(note & (pl.col("method") == "kernel"))
    # Posteriors of a regression are taken by their means, and rows as they are have no matrices.
    full = kind == "full"
    expected = {"measurement": full or not regression, "spread": full}
    assert set(left["meaning"]) == {meaning for meaning, many in expected.items() if many}


@pytest.mark.parametrize(
    ("exact", "gaussians", "kept"), [(True, 1, 1), (True, 2, 2), (True, 4, 3), (False, 2, 0)]
)
def test_gaussians_have_a_budget_of_operations(
    exact: bool, gaussians: int, kept: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Points cost a power of the features less, and count by the number of Gaussians."""
    X, y = table(120, 4)
    monkeypatch.setattr("uncertain._choice.portfolio.EM_WORK", 120 * 4**2 * gaussians)
    board = uncertain.fit(GaussianArray(X.means) if exact else X, y).leaderboard_
    shared = ~pl.col("parameters").str.contains("shared_covariance=False")
    board = board.filter(shared, pl.col("method") == "discriminant", pl.col("meaning") == "measurement")
    left = board.filter(pl.col("note").str.contains("4 features are too many for Gaussians"))
    assert (board.height, board.height - left.height) == (3, kept)


def test_more_classes_than_can_be_compared_are_refused_in_words() -> None:
    """Ten thousand classes would be as many hyperplanes, and a probability of each for every row."""
    n = 20_000
    X = GaussianArray(np.random.default_rng(0).normal(size=(n, 2)), std=0.1)
    with pytest.raises(UncertainError, match=r"10,000 classes in 20,000 rows.*task=.regression"):
        uncertain.fit(X, np.arange(n) % 10_000, task="classification")


def test_error_bars_of_zero_are_chosen_among_as_points() -> None:
    """Solvers of points take a tenth of the time: with 400 features and 100 classes minutes."""
    X, y = table(200, 4)
    means = np.asarray(X.means)
    point, zero = GaussianArray(means), GaussianArray(means, std=np.zeros(means.shape))
    one, other = (uncertain.fit(rows, y, random_state=0) for rows in (point, zero))
    assert one.leaderboard_.drop("seconds").equals(other.leaderboard_.drop("seconds"))
    np.testing.assert_array_equal(one.predict_proba(point), other.predict_proba(point))
    np.testing.assert_allclose(one.predict_proba(point), other.predict_proba(zero), rtol=1e-6)
