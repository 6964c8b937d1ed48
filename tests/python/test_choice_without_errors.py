"""Models without error bars take part in the stack where they beat all that know them."""

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
    assert "means only" in board.row(int(board["weight"].arg_max()), named=True)["model"]
    rows, y = claimed(2_000, 1)
    assert model.score(rows, y) > 0.9
    model.save(tmp_path / "model")
    again = uncertain.load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict_proba(rows), model.predict_proba(rows))
