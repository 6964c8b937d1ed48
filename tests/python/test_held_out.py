"""Rows that are held out: equal rows stay together, rare classes are learned from, folds serve the sets."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier

import uncertain
from uncertain import GaussianArray

TREES = HistGradientBoostingClassifier(max_iter=20)


def readings(n: int, seed: int = 0) -> GaussianArray:
    rng = np.random.default_rng(seed)
    return GaussianArray(rng.normal(size=(n, 2)), std=rng.uniform(0.05, 0.1, (n, 2)))


@pytest.mark.filterwarnings("ignore:.*repeat the readings of others")
def test_copies_of_rows_do_not_praise_a_memory() -> None:
    X, labels = readings(60), np.random.default_rng(1).integers(0, 2, 60)
    copies = np.tile(np.arange(60), 3)
    model = uncertain.fit(X[copies], labels[copies], estimator=TREES)
    best = model.leaderboard_["loss"].min()
    assert best > 0.6  # log 2 is 0.69; copies on both sides made it 0.3
    assert "(held out, 5 folds; 180 rows with others that equal them)" in repr(model)
    assert model._leaderboard is not None and model._leaderboard.n_groups is None


def test_values_that_many_rows_share_are_no_copies() -> None:
    """Two binary features: the labels of equal rows are what there is to learn."""
    rng = np.random.default_rng(2)
    X = rng.integers(0, 2, (200, 2)).astype(float)
    y = (X[:, 0] != X[:, 1]).astype(int)
    model = uncertain.fit(X, y, estimator=TREES)
    assert "accuracy         1 " in repr(model)


def test_a_chosen_model_is_calibrated_by_the_folds_of_the_choice() -> None:
    """Sets of a model that knows its rows by heart would be far too small; those of held-out rows hold."""
    held = []
    for seed in (4, 14):
        rng = np.random.default_rng(seed)
        X = readings(300, seed)
        y = np.where(X.means[:, 0] + 0.7 * rng.normal(size=300) > 0, "yes", "no")
        model = uncertain.fit(X, y, estimator=TREES)
        fresh = readings(2000, seed + 1)
        truth = np.where(fresh.means[:, 0] + 0.7 * rng.normal(size=2000) > 0, "yes", "no")
        sets = model.predict_set(fresh, coverage=0.9)
        held.append(np.mean([label in some for label, some in zip(truth, sets, strict=True)]))
    assert 0.86 < np.mean(held) < 0.96


@pytest.mark.filterwarnings("ignore:.*repeat the readings of others")
@pytest.mark.filterwarnings("ignore:.*no plane is better")
def test_a_report_keeps_equal_rows_together() -> None:
    """A machine with a narrow kernel knows its rows by heart, and so the labels of their copies."""
    labels = np.random.default_rng(6).integers(0, 2, 40)
    copies = np.tile(np.arange(40), 2)
    X, y = readings(40, 6)[copies], labels[copies]
    model = uncertain.fit(X, y, method="kernel", C=1e3, sigma=0.05, probability=False)
    report = model.report(X, y, meanings=False, scorers="accuracy")
    assert report.n_equal == 80 and "80 equal ones kept together" in str(report)
    assert report.score < 0.75
    assert model.score(X, y) > 0.95
    alone = uncertain.fit(X[:40], labels, method="gsu").report(
        X[:40], labels, folds=2, repeats=1, meanings=False
    )
    assert alone.n_equal == 0 and "equal" not in str(alone)
