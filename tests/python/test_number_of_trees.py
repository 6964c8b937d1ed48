"""The default learner of re-measured rows: as many trees as help objects that it has not seen."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from uncertain import GaussianArray, Incomplete, RemeasuredClassifier, RemeasuredRegressor
from uncertain._trees import number_of_trees as counting
from uncertain._trees.number_of_trees import Curve
from uncertain.exceptions import ParameterError, UncertainError


def noise(n: int, rng: np.random.Generator, *, gaps: bool) -> GaussianArray | Incomplete:
    """Readings and sizes of errors that say nothing."""
    std = np.exp(0.5 * rng.normal(size=(n, 4)))
    values = rng.normal(size=(n, 4)) + std * rng.normal(size=(n, 4))
    if not gaps:
        return GaussianArray(values, std=std)
    return Incomplete.from_arrays(np.where(rng.random((n, 4)) < 0.2, np.nan, values), std=std)


def log_loss_of(model: Any, rows: Any, y: np.ndarray) -> float:
    return float(-np.log(model.predict_proba(rows)[np.arange(len(y)), y]).mean())


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("n", [60, 300, 3_000])
def test_pure_noise_gives_the_prior(n: int, gaps: bool) -> None:
    rng = np.random.default_rng(n)
    y, truth = np.arange(n) % 2, np.arange(4_000) % 2
    model = RemeasuredClassifier(random_state=0).fit(noise(n, rng, gaps=gaps), y)
    assert log_loss_of(model, noise(4_000, rng, gaps=gaps), truth) < np.log(2) + 0.02


def test_rare_classes_keep_the_prior() -> None:
    rng = np.random.default_rng(0)
    y = (np.arange(3_000) % 500 == 0).astype(int)
    model = RemeasuredClassifier(random_state=0).fit(noise(3_000, rng, gaps=False), y)
    prior = -(0.002 * np.log(0.002) + 0.998 * np.log(0.998))
    assert log_loss_of(model, noise(3_000, rng, gaps=False), y) < prior + 1e-3


def test_labels_of_objects_are_not_learned_by_heart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forty objects, ten readings each, labels at random: without groups any learner knows the objects."""
    monkeypatch.setattr(counting, "MOST", 100)
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(40), 10)
    truth = rng.normal(size=(40, 3))[groups]
    y = rng.permutation(40)[groups] % 2

    def read() -> GaussianArray:
        return GaussianArray(truth + 0.05 * rng.normal(size=truth.shape), std=0.05)

    rows, again = read(), read()
    model = RemeasuredClassifier(n_copies=4, random_state=0).fit(rows, y, groups=groups)
    assert model.score(again, y) < 0.75
    assert RemeasuredClassifier(n_copies=4, random_state=0).fit(rows, y).score(again, y) > 0.9


def test_sizes_of_errors_over_many_decades_are_told_apart() -> None:
    """Errors of 1e-5 spreads against errors of 1e-4: one kind of instrument is the class."""
    rng = np.random.default_rng(0)
    y = np.arange(600) % 2
    std = np.where(y[:, None] == 1, 1e-5, 1e-4) * np.ones((600, 2))
    model = RemeasuredClassifier(n_copies=1, random_state=0).fit(
        GaussianArray(rng.normal(size=(600, 2)), std=std), y
    )
    assert model.score(GaussianArray(rng.normal(size=(600, 2)), std=std), y) == 1.0


def test_weights_of_any_size_and_of_zero() -> None:
    rng = np.random.default_rng(0)
    rows = noise(60, rng, gaps=False)
    y = np.asarray(rows.means[:, 0])
    weights = np.where(np.arange(60) < 30, 1e300, 1e-300)
    model = RemeasuredRegressor(random_state=0).fit(rows, y, sample_weight=weights)
    assert np.isfinite(model.predict(rows)).all()
    with pytest.raises(UncertainError, match="all are 0"):
        RemeasuredRegressor().fit(rows, y, sample_weight=np.zeros(60))
    empty = Incomplete.from_arrays(np.where([True, False, False, False], np.nan, rows.means), std=0.1)
    with pytest.raises(UncertainError, match="feature 0 is missing in every row"):
        RemeasuredClassifier(factors=(1.0, 4.0)).fit(empty, np.arange(60) % 2)


def test_a_number_of_trees_may_be_said() -> None:
    rng = np.random.default_rng(0)
    y = np.arange(120) % 2
    rows = GaussianArray(rng.normal(size=(120, 2)) + y[:, None], std=0.3)
    chosen = RemeasuredClassifier(n_copies=4, n_learners=1, random_state=0).fit(rows, y)
    assert chosen.n_trees_ == chosen.estimator_.n_iter_ > 0
    same = RemeasuredClassifier(n_copies=4, n_trees=7, n_learners=1, random_state=0).fit(rows, y)
    assert same.n_trees_ == same.estimator_.n_iter_ == 7
    constant = RemeasuredClassifier(n_copies=4, n_trees=0, random_state=0).fit(rows, y)
    assert np.ptp(constant.predict_proba(rows)[:, 1]) == 0.0
    with pytest.raises(ParameterError, match="n_trees = -1"):
        RemeasuredClassifier(n_trees=-1).fit(rows, y)
    with pytest.raises(ParameterError, match="default learner"):
        RemeasuredClassifier(LogisticRegression(), n_trees=5).fit(rows, y)


def test_the_search_stops_soon_behind_the_least_loss_and_finds_what_the_learners_own_trees_find(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Half the trees of twice the rate find about what all trees up to the last one find, and new rows lose
    nothing; of tables above `MANY` every second copy counts."""
    rng = np.random.default_rng(5)

    def table(n: int) -> tuple[GaussianArray, np.ndarray]:
        truth, std = rng.normal(size=(n, 2)), np.exp(0.3 * rng.normal(size=(n, 2)))
        y = (truth[:, 0] + np.sin(2.0 * truth[:, 1]) > 0.0).astype(int)
        return GaussianArray(truth + 0.3 * std * rng.normal(size=truth.shape), std=0.3 * std), y

    rows, y = table(1_200)
    new, truth = table(4_000)
    grown: list[Curve] = []

    def seen(*arguments: Any) -> Any:
        grown.append(Curve(*arguments))
        return grown[-1]

    monkeypatch.setattr(counting, "Curve", seen)

    def searched(**changes: float) -> tuple[int, int, float]:
        grown.clear()
        for name, value in changes.items():
            monkeypatch.setattr(counting, name, value)
        model = RemeasuredClassifier(random_state=0).fit(rows, y)
        last = grown[0].sizes[len(grown[0].losses) - 1]
        assert grown[0]._learner.n_iter_ == last  # no tree more than was looked at
        return model.n_trees_, last, log_loss_of(model, new, truth)

    swift, last, loss = searched()
    assert swift % counting.FASTER == 0
    assert last <= (1 + 1 / counting.FINE) * counting.BEYOND * swift / counting.FASTER + 1
    halves = searched(MANY=1_000)[2]
    slow, last, reference = searched(FASTER=1, MANY=10**9, FIRST=400, MOST=400)
    assert 0.4 < swift / slow < 2.5 and last == 400
    assert max(loss, halves) < reference + 0.01


@pytest.mark.parametrize(
    ("task", "gaps", "n"),
    [("two classes", False, 1_200), ("three classes", True, 1_200), ("numbers", True, 150)],
)  # all rows of 150 are held out
def test_a_fit_that_is_watched_finds_what_warm_starts_find(
    task: str, gaps: bool, n: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Scikit-learn's own staged predictions, in place of sums of trees by the core, also with weights."""
    monkeypatch.setattr(counting, "MOST", 100)
    rng = np.random.default_rng(8)
    rows = noise(n, rng, gaps=gaps)
    score = np.nan_to_num(np.asarray(rows.means if not gaps else rows.gaussians.means)).sum(axis=1)
    score = score + rng.normal(size=n)
    y = score if task == "numbers" else np.digitize(score, [0.0] if task[:3] == "two" else [-1.0, 1.0])
    kind = RemeasuredRegressor if task == "numbers" else RemeasuredClassifier
    weights = rng.uniform(0.5, 2.0, n)
    losses: list[Any] = []

    def seen(*arguments: Any) -> Any:
        losses.append(Curve(*arguments))
        return losses[-1]

    def refused(*arguments: Any) -> Any:
        raise UncertainError("a scikit-learn that is yet to come")

    monkeypatch.setattr(counting, "Curve", seen)
    watched = kind(random_state=0, n_copies=3).fit(rows, y, weights).n_trees_
    count = len(losses)
    monkeypatch.setattr(counting, "flat_trees", refused)
    # In larger steps, which may find a later least.
    assert kind(random_state=0, n_copies=3).fit(rows, y, weights).n_trees_ >= watched > 0
    assert len(losses) == 2 * count
    for one, other in zip(losses[:count], losses[count:], strict=True):
        known = min(len(one.losses), len(other.losses))
        np.testing.assert_allclose(one.losses[:known], other.losses[:known], rtol=1e-9, atol=1e-12)
