"""Probabilities of far and of vague rows: finite, in [0, 1], summing to 1."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from catalogues import METHODS, quick

import uncertain
from uncertain import GaussianArray
from uncertain.exceptions import UncertainError


def rows(k: int) -> tuple[GaussianArray, np.ndarray]:
    rng = np.random.default_rng(0)
    codes = np.arange(90) % k
    means = rng.normal(size=(90, 3)) + 1.5 * codes[:, None] * [1.0, -1.0, 0.5]
    return GaussianArray(means, std=rng.uniform(0.1, 0.8, (90, 3))), np.array(["a", "b", "c"])[codes]


def extremes(size: float) -> GaussianArray:
    """Outliers in several directions, exact, vague or vaguer than far; and huge error bars in the middle."""
    directions = np.array([[1.0, 1, 1], [-1, -1, -1], [1, -1, 1], [0, 0, 0], [0, 1, 0]])
    means = np.repeat(size * directions, 4, axis=0)
    std = np.tile(size * np.array([0.0, 1e-6, 1.0, 1e3]), 5)
    return GaussianArray(means, std=np.broadcast_to(std[:, None], means.shape))


@pytest.mark.parametrize(
    ("method", "options", "k"),
    [(method, options, 2 if method == "law" else k)  # a law is of two classes, or of ordered ones
     for method in METHODS for options, k in (({}, 3), ({"meaning": "measurement"}, 2))]
    + [(method, {"kernel": "quadratic"}, 3) for method in ("gsu", "usvc")],
    ids=str,
)  # fmt: skip
@pytest.mark.filterwarnings("ignore::uncertain.exceptions.ErrorSizesWarning")  # as they should
def test_probabilities_are_probabilities(method: str, options: dict[str, Any], k: int) -> None:
    X, y = rows(k)
    model = uncertain.fit(X, y, **quick(method), **options)
    for size in (1e2, 1e5, 1e8, 1e16, 1e30):
        prob = model.predict_proba(extremes(size))
        assert np.isfinite(prob).all() and (prob >= 0).all() and (prob <= 1).all()
        np.testing.assert_allclose(prob.sum(axis=1), 1.0, rtol=0, atol=1e-12)
    try:
        prob = model.predict_proba(extremes(1e120))
    except UncertainError:
        return  # beyond what squares of doubles can hold: said, not guessed
    np.testing.assert_allclose(prob.sum(axis=1), 1.0, rtol=0, atol=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_far_rows_are_not_on_the_wrong_side(method: str) -> None:
    """A row a hundred deviations into a class, and exact, is not given to the other one."""
    X, y = rows(2)
    model = uncertain.fit(X, y, **quick(method))
    direction = np.array([1.0, -1.0, 0.5])
    far = GaussianArray(np.array([-100.0 * direction, 100.0 * direction]))
    prob = model.predict_proba(far)
    if method in ("kernel", "huber"):  # local: far from all rows they know nothing
        assert prob[1, 1] >= prob[0, 1] - 1e-12
    else:
        assert prob[0, 0] > 0.5 and prob[1, 1] > 0.5


@pytest.mark.parametrize(
    "method", [name for name in METHODS if name not in ("discriminant", "mixture", "law", "remeasured")]
)
def test_a_class_that_cannot_be_held_out_is_named(method: str) -> None:
    X, _ = rows(2)
    y = np.array(["star"] * 89 + ["quasar"])
    with pytest.raises(UncertainError, match=r"class 'quasar' has a single row .* probability=False"):
        uncertain.fit(X, y, method=method)  # type: ignore[arg-type]
    alone = uncertain.fit(X, y, method=method, probability=False)  # type: ignore[arg-type]
    assert alone.classes_.tolist() == ["quasar", "star"]
