"""Numeric columns without error bars stay out, and a fit says what they would gain and what to type."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import polars as pl
import pytest

import uncertain

RNG = np.random.default_rng(0)
N = 160
X, Z, STD = RNG.normal(size=N), RNG.normal(size=N), RNG.uniform(0.2, 0.8, N)
SCORE = X + Z + 0.3 * RNG.normal(size=N)
TABLE = {"x": X + STD * RNG.normal(size=N), "x_err": STD}
IDENTIFIERS = {"number": RNG.permutation(N) + 5_000, "objid": RNG.integers(10**12, 10**13, N)}
GAPS = RNG.random(N) < 0.1


def fitted(columns: dict[str, Any], **how: Any) -> tuple[uncertain.Model, str]:
    """A model, and the warning about columns."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = uncertain.fit(pl.DataFrame(TABLE | columns), target="y", **how)
    return model, " ".join(str(w.message) for w in caught if "left out" in str(w.message))


def noted(model: uncertain.Model) -> pl.DataFrame:
    frame: pl.DataFrame = model.leaderboard_.filter(pl.col("note").str.contains("columns that were left out"))
    return frame


@pytest.mark.parametrize("regression", [False, True])
def test_what_they_would_gain_is_said(regression: bool) -> None:
    y = SCORE if regression else np.where(SCORE > 0.0, "a", "b")
    twin = 2.0 * SCORE if regression else (SCORE > 0.0).astype(int)
    z = np.where(GAPS, np.nan, Z)
    model, text = fitted({"y": y, "z": z, "twin": twin, **IDENTIFIERS})
    (line,) = noted(model).rows(named=True)
    assert line["behind"] < 0.0 < -line["behind"] - 2.0 * line["behind_se"]
    assert "1 more column," in line["parameters"]  # neither the target's twin nor identifiers
    assert "exact=['z']" in text
    assert "better than the chosen model's" in text and "not measurably" not in text
    assert "exact=['z']" in str(model)
    assert model.columns_.exact is None or not model.columns_.exact


@pytest.mark.usefixtures("few_trees")
def test_a_column_of_noise_gains_nothing() -> None:
    model, text = fitted({"y": np.where(X > 0.0, "a", "b"), "w": np.random.default_rng(1).normal(size=N)})
    assert noted(model).height == 1
    assert 'exact="all"' in text and "not measurably better" in text


@pytest.mark.usefixtures("few_trees")
def test_nothing_is_tried_where_nothing_is_left_or_said_to_be_taken() -> None:
    y = np.where(SCORE > 0.0, "a", "b")
    assert noted(fitted({"y": y, "z": Z}, exact=[])[0]).height == 0
    assert noted(fitted({"y": y, **IDENTIFIERS})[0]).height == 0


@pytest.mark.usefixtures("few_trees")
def test_rows_without_a_target_are_left_out_of_them_as_well() -> None:
    y = [None if gap else ("a" if s > 0.0 else "b") for gap, s in zip(GAPS, SCORE, strict=True)]
    model, text = fitted({"y": y, "z": Z})
    assert noted(model)["score"][0] < model.leaderboard_["score"][0]
    assert "better than the chosen model's" in text
