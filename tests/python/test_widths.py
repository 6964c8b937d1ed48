"""The widths of predicted numbers fit: deviations and intervals of every method, also with heavy tails."""

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from numpy.typing import NDArray
from scipy.special import ndtr
from scipy.stats import norm

import uncertain
from uncertain import GaussianArray

Values = NDArray[np.float64]
pytestmark = pytest.mark.usefixtures("few_trees")


def decades(n: int, seed: int) -> tuple[GaussianArray, Values]:
    """Two quantities over decades, one of both signs with such errors, and a target of the first two."""
    rng = np.random.default_rng(seed)
    logs = rng.normal(size=(n, 2))
    std = np.column_stack([10.0**logs * rng.lognormal(-3.0, 1.0, (n, 2)), rng.lognormal(0.0, 2.0, n)])
    means = np.column_stack([10.0**logs, np.zeros(n)]) + std * rng.normal(size=(n, 3))
    return GaussianArray(means, std=std), logs[:, 0] - logs[:, 1] + 0.1 * rng.normal(size=n)


def crowded(n: int, seed: int) -> tuple[GaussianArray, Values]:
    """Twelve features, so that a few Gaussians fit the scatter of a hundred rows too well."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=(n, 12))
    std = rng.uniform(0.1, 0.6, truth.shape)
    y = truth[:, 0] + np.abs(truth[:, 1]) + 0.5 * rng.normal(size=n)
    return GaussianArray(truth + std * rng.normal(size=truth.shape), std=std), y


def tailed(n: int, seed: int) -> tuple[GaussianArray, Values]:
    """A line whose scatter is of two kinds, as where some targets are wrong."""
    rng = np.random.default_rng(seed)
    truth, std = rng.normal(size=(n, 2)), rng.uniform(0.05, 0.2, (n, 2))
    scatter = np.where(rng.random(n) < 0.1, 2.0, 0.2)
    return GaussianArray(truth + std * rng.normal(size=truth.shape), std=std), truth[
        :, 0
    ] + scatter * rng.normal(size=n)


def crps(off: Values, std: Values) -> Values:
    z = off / std
    return np.asarray(std * (z * (2.0 * ndtr(z) - 1.0) + 2.0 * norm.pdf(z) - np.pi**-0.5))


CASES: dict[str, tuple[Any, int, dict[str, Any]]] = {
    "auto": (decades, 240, {}),
    "linear, raw units": (decades, 240, {"method": "gsu", "meaning": "spread"}),
    "re-measured": (decades, 600, {"method": "remeasured", "n_trees": 60}),
    "mixture": (crowded, 240, {"method": "mixture", "n_components": 3}),
    "linear, tails": (tailed, 400, {"method": "gsu", "meaning": "measurement"}),
    "kernel": (tailed, 400, {"method": "kernel", "meaning": "measurement"}),
}


@cache
def fitted(case: str) -> tuple[uncertain.Model, GaussianArray, Values]:
    """A model, and new rows."""
    law, n, how = CASES[case]
    return uncertain.fit(*law(n, 0), **how), *law(4_000, 1)


@pytest.mark.parametrize("case", CASES)
def test_no_width_is_worse_than_a_constant(case: str) -> None:
    model, X, y = fitted(case)
    mean, std = model.predict_distribution(X)
    off = y - mean
    widths = np.quantile(np.abs(off), np.linspace(0.3, 0.9, 25))
    best = min(crps(off, np.full(len(off), width)).mean() for width in widths)
    assert crps(off, std).mean() < 1.04 * best
    assert 0.58 < np.mean(np.abs(off) < std) < 0.82


@pytest.mark.parametrize("case", list(CASES)[:4])
def test_intervals_cover_by_width(case: str) -> None:
    model, X, y = fitted(case)
    std = model.predict_distribution(X)[1]
    low, high = model.predict_interval(X, coverage=0.9)
    inside = (low <= y) & (y <= high)
    assert 0.84 < inside.mean() < 0.96
    for third in np.array_split(np.argsort(std, kind="stable"), 3):
        assert 0.8 < inside[third].mean() < 0.99


@pytest.mark.parametrize("case", ["auto", "mixture", "linear, tails"])
def test_a_file_keeps_the_widths(case: str, tmp_path: Path) -> None:
    model, X, _ = fitted(case)
    model.save(tmp_path / "m.safetensors")
    again = uncertain.load(tmp_path / "m.safetensors")
    for one, other in zip(model.predict_distribution(X), again.predict_distribution(X), strict=True):
        assert_array_equal(one, other)
