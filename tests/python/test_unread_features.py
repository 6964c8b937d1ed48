"""A feature that no row of a fold's training has is left out in that fold."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import uncertain
from uncertain import (
    Incomplete,
    RemeasuredClassifier,
    RemeasuredRegressor,
)

N, GROUPS = 180, 6


def numbers(seed: int = 0) -> tuple[Any, Any, Any, Any]:
    """Values, error bars, targets and groups; the last feature is that of the first group alone."""
    random = np.random.default_rng(seed)
    z, std = random.normal(size=(N, 3)), random.uniform(0.1, 0.5, (N, 3))
    groups = np.arange(N) % GROUPS
    y = z[:, 0] + z[:, 1] + 0.3 * random.normal(size=N)
    x = z + std * random.normal(size=z.shape)
    x[groups > 0, 2] = np.nan
    return x, std, y, groups


def frame(*, regression: bool, seed: int = 0) -> pl.DataFrame:
    x, std, y, groups = numbers(seed)
    std = np.where(np.isnan(x), np.nan, std)
    columns = {name: x[:, j] for j, name in enumerate("abc")}
    columns |= {f"{name}_err": std[:, j] for j, name in enumerate("abc")}
    return pl.DataFrame(columns | {"group": groups, "y": y if regression else np.where(y > 0, "yes", "no")})


@pytest.mark.usefixtures("few_trees")
@pytest.mark.parametrize("regression", [False, True])
def test_candidates_of_a_choice_stay(regression: bool) -> None:
    table = frame(regression=regression)
    model = uncertain.fit(table, target="y", groups="group")
    board = model.leaderboard_
    assert not [why for why in model._leaderboard.left_out if "missing" in why]  # type: ignore[union-attr]
    losses = board.filter(pl.col("model").str.starts_with("remeasured"))["loss"]
    assert len(losses) > 1 and losses.is_finite().all(), losses
    fresh = frame(regression=regression, seed=1)
    if regression:
        lower, upper = model.predict_interval(fresh, coverage=0.9)
        held = (np.asarray(lower) <= fresh["y"].to_numpy()) & (fresh["y"].to_numpy() <= np.asarray(upper))
    else:
        held = [truth in some for truth, some in zip(fresh["y"], model.predict_set(fresh), strict=True)]
    assert np.mean(held) > 0.8


def test_models_of_folds_are_kept_in_files(tmp_path: Any) -> None:
    model = uncertain.fit(frame(regression=False), target="y", groups="group", method="gsu")
    model.save(tmp_path / "model.uncertain")
    fresh = frame(regression=False, seed=1)
    read = uncertain.load(tmp_path / "model.uncertain")
    assert list(map(list, read.predict_set(fresh))) == list(map(list, model.predict_set(fresh)))


def test_trees_and_densities_are_learned_where_a_fold_lacks_a_feature() -> None:
    x, std, y, groups = numbers()
    rows = Incomplete.from_arrays(x, std=std)
    trees = RemeasuredClassifier(random_state=0).fit(rows, y > 0, groups=groups)
    assert trees.n_trees_ > 0
    density = RemeasuredRegressor(random_state=0, n_trees=20, density=True).fit(rows, y, groups=groups)
    weights, _, _ = density.predict_mixture(rows)
    np.testing.assert_allclose(weights.sum(axis=1), 1.0)
