"""A fit ends: `time_limit` stops by the clock."""

from typing import Any

import numpy as np
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
    assert model.leaderboard_["loss"].is_not_null().any() or "by rule" in str(model)


def test_a_limit_that_is_not_reached_changes_nothing() -> None:
    X, y = table(60, 3)
    one, other = uncertain.fit(X, y), uncertain.fit(X, y, time_limit=1e6)
    np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(X))
    assert one.leaderboard_.equals(other.leaderboard_)


def test_a_model_says_how_far_em_has_come() -> None:
    with pytest.warns(ConvergenceWarning, match="Raise max_iter or tol"):
        model = uncertain.fit(*table(200, 3), method="discriminant", n_components=2, max_iter=2)
    assert "max_iter after 2 iterations, of which the last raised the mean log-likelihood by" in str(model)
