"""A model without error bars is chosen where it beats all that know them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import uncertain
from uncertain import GaussianArray


def claimed(n: int, seed: int) -> tuple[GaussianArray, np.ndarray]:
    """Values without noise, and error bars of any size that nobody should believe."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 3))
    y = np.where(np.sin(3 * x[:, 0]) + x[:, 1] > 0, "a", "b")
    return GaussianArray(x, std=rng.uniform(0.5, 3.0, x.shape)), y


def test_error_bars_that_are_not_true_are_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("uncertain._trees.number_of_trees.MOST", 100)
    model = uncertain.fit(*claimed(1_000, 0))
    board = model.leaderboard_
    chosen = board.row(int(board["weight"].arg_max()), named=True)
    assert chosen["meaning"] == "means only" and not chosen["note"]
    text = str(model)
    assert "without errors   this model" in text and "errors           not used" in text
    rows, y = claimed(2_000, 1)
    assert model.score(rows, y) > 0.9
    # Error bars of new rows change nothing.
    other = GaussianArray(rows.means[::-1], std=np.sqrt(np.diagonal(rows.covariances(), axis1=1, axis2=2)))
    np.testing.assert_array_equal(model.predict(other), model.predict(rows)[::-1])
    model.save(tmp_path / "model")
    again = uncertain.load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict_proba(rows), model.predict_proba(rows))


@pytest.mark.usefixtures("few_trees")
def test_the_deviation_of_a_number_has_no_part_of_errors_then() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(600, 2))
    y = np.sin(2 * x[:, 0]) + x[:, 1] + 0.1 * rng.normal(size=600)
    model = uncertain.fit(GaussianArray(x, std=rng.uniform(0.5, 3.0, x.shape)), y)
    assert "errors           not used" in str(model)
    new = rng.normal(size=(2_000, 2))
    mean, std = model.predict_distribution(GaussianArray(new, std=2.0))
    off = np.sin(2 * new[:, 0]) + new[:, 1] + 0.1 * rng.normal(size=2_000) - mean
    assert 0.6 < np.mean(np.abs(off) < std) < 0.9
