"""`print(model.leaderboard_)`: six columns in 100 characters; like is compared with like."""

from __future__ import annotations

from functools import cache

import numpy as np
import polars
import pytest

import uncertain
from uncertain import GaussianArray


@cache
def chosen(regression: bool) -> uncertain.Model:
    rng = np.random.default_rng(0)
    truth, std = rng.normal(size=(90, 3)), rng.lognormal(-1.0, 0.5, (90, 3))
    X = GaussianArray(truth + std * rng.normal(size=truth.shape), std=std)
    score = truth[:, 0] + truth[:, 1] + 0.5 * rng.normal(size=90)
    return uncertain.fit(X, score if regression else (score > 0).astype(int))


pytestmark = pytest.mark.usefixtures("few_trees")


@pytest.mark.parametrize("regression", [False, True])
def test_it_prints_six_columns_of_a_page(regression: bool) -> None:
    board = chosen(regression).leaderboard_
    head, *lines, more = str(board).splitlines()
    assert head.split() == ["method", "meaning", "parameters", "score", "behind", "weight"]
    assert max(map(len, (head, *lines, more))) <= 100
    assert len(lines) == len(board)
    best = board.filter(polars.col("note") == "").row(0, named=True)
    assert lines[0].startswith(best["method"])
    assert f"{best['score']:.2f}"[:3] in lines[0]
    skipped = [line for line in lines if "left out: " in line]
    assert len(skipped) == board["note"].str.starts_with("left out").sum() > 0
    assert {"accuracy", "seconds", "gap", "note"} <= {*board.columns, *({"accuracy"} if regression else ())}
    assert type(board.select("seconds")) is polars.DataFrame


@pytest.mark.parametrize("regression", [False, True])
def test_an_average_is_compared_with_an_average(regression: bool) -> None:
    model = chosen(regression)
    board = model.leaderboard_
    compared = board.filter(polars.col("note").str.starts_with("for comparison"))
    if board["method"][0] != "average" or compared.height == 0:
        pytest.fail("the case is to have an average, and models without error bars beside it")
    first, others = compared.row(0, named=True), compared[1:]
    assert first["score"] <= 1.05 * others["score"].min()
    (line,) = [line for line in str(model).splitlines() if line.startswith("without errors")]
    gain = float(line.split("error bars ")[1].split()[1])
    assert gain == pytest.approx(abs(first["score"] - board["score"][0]), abs=0.02 * board["score"][0])
