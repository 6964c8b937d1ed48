"""A race of candidates: who is clearly behind leaves, and nothing else changes."""

from __future__ import annotations

import threading
import warnings
from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest
from sklearn import config_context, get_config
from threadpoolctl import threadpool_info

import uncertain
from uncertain import GaussianArray, RemeasuredClassifier, RemeasuredRegressor
from uncertain._base.deadline import Deadline
from uncertain._choice import choose
from uncertain._choice import race as module
from uncertain._choice.comparison import Comparison
from uncertain._choice.portfolio import Request, portfolio
from uncertain._choice.race import race
from uncertain._choice.side_by_side import workers
from uncertain._choice.trial import Runner
from uncertain._rows.training import TrainingRows
from uncertain._trees import number_of_trees as counting
from uncertain._trees.number_of_trees import Curve


def rows(n: int, seed: int = 0) -> tuple[GaussianArray, Any]:
    """Two classes that a line parts; so many Gaussians per class learn noise."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    std = np.exp(0.5 * rng.normal(size=(n, 4)))
    z = rng.normal(size=(n, 4)) + 1.2 * y[:, None]
    return GaussianArray(z + std * rng.normal(size=z.shape), std=std), y


LEFT = pl.col("note").str.starts_with("left the race")


def choice(X: GaussianArray, y: Any, **given: Any) -> uncertain.Model:
    from sklearn.ensemble import HistGradientBoostingClassifier

    few = HistGradientBoostingClassifier(max_iter=10, early_stopping=False, random_state=0)
    return uncertain.fit(X, y, **{"estimator": few} | given)


def test_who_is_clearly_behind_leaves_and_the_choice_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = rows(300)
    raced = choice(X, y)
    monkeypatch.setattr(module, "BEHIND", np.inf)
    patient = choice(X, y)
    board, whole = raced.leaderboard_, patient.leaderboard_
    left = board.filter(LEFT)
    assert left.height > 0 and whole.filter(LEFT).height == 0
    assert left["note"].str.contains(r"after [1-4] of 5 folds").all()
    # Behind who was best then; the best one of all folds may have done worse on the first of them.
    assert (left["behind"] > 2.0 * left["behind_se"]).all() and (left["weight"] == 0.0).all()
    np.testing.assert_array_equal(raced.predict_proba(X), patient.predict_proba(X))
    same = ["method", "meaning", "parameters", "score", "behind", "weight"]
    stayed, all_of_them = (one.filter(pl.col("note") == "").select(same) for one in (board, whole))
    assert stayed.equals(all_of_them.join(stayed, on=same[:3], how="semi"))
    candidates = all_of_them.filter(pl.col("method") != "average").height
    assert f"of {candidates} candidates" in repr(raced) or "average" in repr(raced)


class Scripted:
    """A runner whose losses are known."""

    def __init__(self, member: Any, request: Any, comparison: Any) -> None:
        self.member, self.comparison, self.models, self.looked = member, comparison, [], False

    def look(self) -> bool:
        self.looked = self.member.method.startswith("looks")
        return self.looked

    def run(self) -> None:
        self.member.clock.append(self.member.seconds)
        self.models.append(None)
        self.looked = False

    @property
    def losses(self) -> Any:
        known = np.arange(len(self.member.of_rows)) < 60 * max(len(self.models), self.looked)
        return np.where(known, self.member.of_rows, np.nan)

    @property
    def scored(self) -> Any:
        return self.losses

    def trial(self, folds: int | None = None) -> Any:
        return self.member.method, folds or len(self.models)


def run(members: dict[str, Any], patch: pytest.MonkeyPatch, able: Any = None, left: Any = None) -> Any:
    """What becomes of members with these losses, in five folds of 60 rows."""
    clock: list[float] = []
    patch.setattr(module, "Runner", Scripted)
    comparison = Comparison(TrainingRows(None, np.zeros(300)), [None] * 5, [], None)  # type: ignore[list-item]
    deadline = SimpleNamespace(
        left=lambda share=1.0: None if left is None else max(0.0, left - sum(clock)), stops=Deadline().stops
    )
    runners = [
        SimpleNamespace(method=name, text=name, of_rows=losses, clock=clock,
                        seconds=0.0 if left is None else 1.0,
                        without=lambda reason, name=name: (name, reason))
        for name, losses in members.items()
    ]  # fmt: skip
    pace, request = SimpleNamespace(step=lambda task, fold: None), SimpleNamespace(deadline=deadline)
    return race(runners, request, comparison, pace, 0.5, able or (lambda m: True))  # type: ignore[arg-type]


def test_the_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    best, noise = rng.normal(size=300), 0.5 * rng.normal(size=300)
    noise[:60] -= noise[:60].mean()
    se = noise[:60].std(ddof=1) / np.sqrt(60)
    members = {"best": best, "near": best + noise + 2.9 * se, "far": best + noise + 3.1 * se}
    found = run(members, monkeypatch)
    assert ("far", 1) in found.left and "near" not in {name for name, folds in found.left if folds == 1}
    assert ("best", 5) in found.trials
    assert run({"gsu": best, "kernel": best + 1.0}, monkeypatch).left == [("kernel", 1)]
    # Who cannot be chosen is no measure either, and stays for the comparison.
    asked = run({"best": best, "far": best + 1.0}, monkeypatch, able=lambda m: m.method == "far")
    assert [name for name, _ in asked.trials] == ["best", "far"]
    monkeypatch.setattr(module, "ENOUGH", 61)  # too few after one fold
    late = run(members, monkeypatch).left
    assert ("far", 2) in late and min(folds for _, folds in late) == 2


def test_who_is_far_behind_at_a_quick_look_is_not_fitted(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    best, noise = rng.normal(size=300), 0.5 * rng.normal(size=300)
    noise[:60] -= noise[:60].mean()
    se = noise[:60].std(ddof=1) / np.sqrt(60)
    members = {"best": best, "looks far": best + noise + 5.1 * se, "looks near": best + noise + 4.9 * se}
    found = run(members, monkeypatch)
    assert ("looks far", 0) in found.left  # no fold
    assert ("looks near", 1) in found.left  # by the usual rule
    assert run({"looks good": best - 1.0, "best": best}, monkeypatch).trials == [("looks good", 5)]
    # Who cannot be chosen runs to the end.
    asked = run(members, monkeypatch, able=lambda m: m.method == "best")
    assert [name for name, _ in asked.trials] == list(members)


@pytest.mark.parametrize("classes", [True, False])
def test_trees_that_are_counted_have_a_quick_look_at_the_first_fold(classes: bool) -> None:
    X, y = rows(1_200)
    if not classes:
        y = np.asarray(X.means).sum(axis=1) + np.random.default_rng(0).normal(size=1_200)
    request = Request(
        X, y, not classes, "measurement", "normal", "measurement", True, True, None, None, 0, {}
    )
    training = TrainingRows(X, y)
    comparison = Comparison.from_request(request, training)
    member = next(m for m in portfolio(request) if m.method == "remeasured")
    runner = Runner(member, request, comparison)
    assert runner.look() and runner.looked and not runner.models
    first = comparison.folds[0].test
    quick = runner.losses.copy()
    np.testing.assert_array_equal(np.flatnonzero(~np.isnan(quick)), np.sort(first))
    runner.run()
    assert not runner.looked and len(runner.models) == 1
    fitted = runner.losses
    assert runner.member.parameters["n_trees"] == runner.models[0][-1].n_trees_
    assert quick[first].mean() == pytest.approx(fitted[first].mean(), rel=0.05)
    assert np.corrcoef(quick[first], fitted[first])[0, 1] > 0.95
    # Few rows are all held out to count.
    few = np.arange(300)
    some = replace(request, rows=X[few], y=y[few])
    small = Runner(member, some, Comparison.from_request(some, training.take(few)))
    assert not small.look() and small.member.parameters["n_trees"] > 0


def test_who_is_good_with_errors_as_they_are_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    best = np.random.default_rng(0).normal(size=300)
    members = {"best": best, "falls": best + 1.0, "far": best + 1.0}
    scores = {"best": best, "falls": best - 1.0, "far": best}

    class Known(Scripted):
        @property
        def scored(self) -> Any:
            return np.where(np.isnan(self.losses), np.nan, scores[self.member.method])

    monkeypatch.setattr(f"{__name__}.Scripted", Known)
    found = run(members, monkeypatch)
    assert [name for name, _ in found.trials] == ["best", "falls"] and found.left == [("far", 1)]


def test_a_limit_ends_the_race_with_whole_folds(monkeypatch: pytest.MonkeyPatch) -> None:
    same = {name: np.zeros(300) for name in "abc"}
    assert [folds for _, folds in run(same, monkeypatch, left=7.5).trials] == [2, 2, 2]
    assert len(run(same, monkeypatch, left=7.5).comparison.folds) == 2
    first = run(same, monkeypatch, left=1.5)  # the others had not begun
    assert first.trials == [("a", 1), ("b", 1)] and first.refused == [("c", "time_limit was over")]
    assert run(same, monkeypatch, left=15.0).trials == [(name, 5) for name in "abc"]


@pytest.mark.usefixtures("few_trees")
def test_threads_change_nothing_but_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = rows(100)
    heard: dict[int, list[str]] = {1: [], 3: []}

    def fit(threads: int) -> uncertain.Model:
        hear = heard[threads]
        monkeypatch.setattr(choose, "effective_n_jobs", lambda n_jobs: threads)
        return uncertain.fit(X, y, callback=lambda p: hear.append(f"{p.fold} {p.task}"))

    one, three = fit(1), fit(3)
    np.testing.assert_array_equal(one.predict_proba(X), three.predict_proba(X))
    assert one.leaderboard_.drop("seconds").equals(three.leaderboard_.drop("seconds"), null_equal=True)
    assert heard[1] == heard[3]


def test_results_of_threads() -> None:
    before, names = warnings.filters[:], set[str]()
    gate = threading.Barrier(3, timeout=60)

    def job(k: int) -> tuple[int, bool, int]:
        gate.wait()  # all three at once
        names.add(threading.current_thread().name)
        (openmp,) = {m["num_threads"] for m in threadpool_info() if m["user_api"] == "openmp"}
        return k, get_config()["assume_finite"], openmp

    with config_context(assume_finite=True), workers(3) as crew:
        found = [*crew.results([partial(job, k) for k in range(3)], last_first=True)]
    assert found == [(0, True, 1), (1, True, 1), (2, True, 1)]
    assert len(names) == 3 and warnings.filters == before

    def fails() -> None:
        raise KeyError("a mistake")

    for threads in (1, 2):
        with pytest.raises(KeyError, match="a mistake"), workers(threads) as crew:
            [*crew.results([fails, fails])]


@pytest.mark.parametrize("kind", [RemeasuredClassifier, RemeasuredRegressor])
def test_trees_are_counted_without_the_fit_to_all_rows(kind: Any) -> None:
    X, y = rows(80)
    weights, groups = np.random.default_rng(1).uniform(0.5, 1.0, 80), np.arange(80) // 2
    target = y if kind is RemeasuredClassifier else y + X.means[:, 0]
    fitted = kind(random_state=0, n_copies=3).fit(X, target, weights, groups=groups)
    counting = kind(random_state=0, n_copies=3)
    assert counting._count_trees(X, target, weights, groups) == fitted.n_trees_ > 0
    assert counting.estimator_ is None  # five folds have counted
    again = kind(random_state=0, n_copies=3, n_trees=fitted.n_trees_).fit(X, target, weights, groups=groups)
    np.testing.assert_array_equal(again.predict(X), fitted.predict(X))


@pytest.mark.parametrize(("n_objects", "folds"), [(60, 5), (600, 1)])
def test_few_objects_are_all_held_out_to_count_trees(
    n_objects: int, folds: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = rows(1_200)
    held_out = set()

    def noted(*arguments: Any) -> Any:
        held_out.add(tuple(arguments[-1].test))
        return Curve(*arguments)

    monkeypatch.setattr(counting, "Curve", noted)
    monkeypatch.setattr(counting, "MOST", 2)
    monkeypatch.setattr(counting, "FIRST", 2)
    RemeasuredClassifier(n_copies=2, random_state=0)._count_trees(X, y, groups=np.arange(1_200) % n_objects)
    assert len(held_out) == folds


def test_answers_of_the_first_folds_alone() -> None:
    folds = [SimpleNamespace(repeat=0, test=np.array(test)) for test in ([0, 1], [2])]
    training = TrainingRows(None, np.zeros(3))
    known = Comparison(training, folds, [None], None)  # type: ignore[arg-type, list-item]
    runner = Runner(None, None, known)  # type: ignore[arg-type]
    runner._answers[:] = 1.0
    runner.models = ["first", "second"]  # type: ignore[list-item]
    trial = runner.trial(1)
    np.testing.assert_array_equal(trial.answers, [[1.0, 1.0, np.nan]])
    assert list(trial.models) == ["first"]
