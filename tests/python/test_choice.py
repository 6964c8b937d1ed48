"""`method="auto"`: what is tried, on which rows, what is chosen, and what the model says of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from catalogues import description, redescribed
from scipy.integrate import quad
from scipy.optimize import minimize, minimize_scalar
from scipy.special import ndtr
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import Pipeline

import uncertain
from uncertain import GaussianArray, GaussianDiscriminant, GaussianMixtureRegressor, RemeasuredClassifier
from uncertain._base.folds import Fold, split
from uncertain._choice import comparison, rule
from uncertain._choice.as_answered import crps_of_rows
from uncertain._choice.average import AveragedClassifier, AveragedRegressor
from uncertain._choice.budget import Size, path_rows
from uncertain._choice.comparison import Comparison, plan, read_with, sizes_of_errors
from uncertain._choice.portfolio import Member
from uncertain._choice.rule import Ranking, entry, gain
from uncertain._choice.stacking import PRIOR, stacked
from uncertain._choice.trial import Trial, as_scored, average, losses
from uncertain._data.groups import Groups
from uncertain._held_out.means import weighted_mean
from uncertain._rows.training import TrainingRows
from uncertain._widths.spread import crps
from uncertain.exceptions import ModelFileError, ParameterError

RNG = np.random.default_rng
TREES = HistGradientBoostingClassifier(max_iter=5)
"""Few trees, for tests that are not about them."""


def choice(*data: Any, **given: Any) -> uncertain.Model:
    """A fit whose re-measured candidate is quick."""
    return uncertain.fit(*data, **{"estimator": TREES} | given)


def readings(n: int, seed: int = 0, d: int = 2) -> tuple[GaussianArray, Any]:
    """Two Gaussian classes, read with errors of many sizes."""
    rng = RNG(seed)
    y = np.arange(n) % 2
    z = rng.normal(size=(n, d)) + 1.5 * y[:, None]
    std = np.exp(rng.normal(-0.5, 0.7, size=(n, 1))) * np.ones((n, d))
    return GaussianArray(z + std * rng.normal(size=z.shape), std=std), y


def catalogue(n: int, seed: int = 0) -> pl.DataFrame:
    X, y = readings(n, seed)
    std = np.sqrt(X.covariances()[:, [0, 1], [0, 1]])
    return pl.DataFrame(
        {"u": X.means[:, 0], "u_err": std[:, 0], "v": X.means[:, 1], "v_err": std[:, 1], "kind": y}
    )


@pytest.fixture(scope="module")
def model() -> uncertain.Model:
    return choice(catalogue(150), target="kind")


def test_the_leaderboard_says_what_was_tried(model: uncertain.Model) -> None:
    board = model.leaderboard_
    assert board.columns[:3] == ["method", "meaning", "parameters"]
    tried, left = board.filter(pl.col("note") == ""), board.filter(pl.col("note").str.starts_with("left the"))
    assert {"gsu", "kernel", "discriminant", "remeasured"} <= {*tried["method"], *left["method"]}
    assert {"spread", "measurement"} == set(tried.filter(pl.col("method") == "gsu")["meaning"])
    members = tried.filter(pl.col("method") != "average")
    assert members["behind"].is_sorted() and members["behind"][0] == 0.0
    assert members["weight"].sum() == pytest.approx(1.0)
    assert (members["score_se"] > 0).all() and (members["seconds"] > 0).all()
    assert members.filter(pl.col("method") == "gsu")["gap"].max() < 1e-5
    # Behind in what candidates are judged by, and best in it: scores are of errors as they are.
    assert abs(members["score"][0] - members["score"].min()) < 0.05
    # 75 rows of a class are too few for eight Gaussians of ten rows each.
    left_out = board.filter(pl.col("note").str.starts_with("left out"))
    assert left_out.filter(pl.col("parameters").str.contains("n_components=8")).height == 1
    plain = board.filter(pl.col("meaning") == "means only")
    assert set(plain["method"]) == {"average", "gsu", "kernel", "discriminant", "remeasured"}
    text = repr(model)
    assert "best of " in text and "error bars gain " in text


def test_a_fit_repeats_itself_to_the_last_bit(model: uncertain.Model) -> None:
    heard: list[Any] = []
    again = choice(catalogue(150), target="kind", callback=heard.append)
    table = catalogue(50, 1)
    assert again.predict_proba(table).equals(model.predict_proba(table))
    same = ["method", "parameters", "score", "behind_se", "weight"]
    assert again.leaderboard_.select(same).equals(model.leaderboard_.select(same))
    assert {progress.folds for progress in heard} == {5}
    other = choice(catalogue(150), target="kind", random_state=1)
    assert other.leaderboard_["score"][0] != model.leaderboard_["score"][0]


def test_a_callback_ends_the_fit() -> None:
    def stop(_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        choice(catalogue(60), target="kind", callback=stop)


def test_the_average_is_the_weighted_mean_of_its_members(model: uncertain.Model) -> None:
    average = model.pipeline_[-1]
    assert isinstance(average, AveragedClassifier)
    rows = model.gaussians(catalogue(20, 2))
    expected = sum(w * m.predict_proba(rows) for w, m in zip(average.weights_, average.members_, strict=True))
    np.testing.assert_allclose(average.predict_proba(rows), expected)
    np.testing.assert_allclose(average.predict_proba(rows).sum(axis=1), 1.0)
    odds = np.log(expected[:, 1] / expected[:, 0])
    np.testing.assert_allclose(average.decision_function(rows), odds)
    with pytest.raises(AttributeError, match=r"an average of \d models has no coefficients"):
        model.coef_  # noqa: B018
    assert str(model.summary()).count("member ") == len(average.members_)
    X, y = readings(60, 3)
    np.testing.assert_array_equal(clone(average).fit(X, y).classes_, [0, 1])


def test_a_report_compares_an_average_with_its_members() -> None:
    table = catalogue(80)
    model = choice(table, target="kind")
    report = model.report(table, folds=2, repeats=1, scorers="accuracy")
    names = report.board.names
    members = model.pipeline_[-1].members_
    assert {"average", "means only"} < set(names) and len(names) == 2 + len(members)


def test_fast_is_one_fit_by_rule() -> None:
    table = catalogue(200)
    fast = uncertain.fit(table, target="kind", effort="fast")
    single = uncertain.fit(table, target="kind", method="gsu")
    assert fast.predict_proba(table).equals(single.predict_proba(table))
    assert fast.leaderboard_.height == 1 and "by rule" in repr(fast)
    assert single.leaderboard_ is None
    tiny = uncertain.fit(catalogue(8), target="kind")
    assert ", by rule: too few rows, or of a class, to hold any out\n" in repr(tiny)


def test_a_table_beyond_every_budget_is_fitted_by_rule_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("uncertain._choice.choose.is_too_much", lambda *_: True)
    model = uncertain.fit(catalogue(80), target="kind")
    assert ", by rule: too many rows, features and classes for the budget of a choice\n" in repr(model)


def test_where_all_that_know_the_errors_are_beyond_the_budget_the_means_are_compared(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(
        "uncertain._choice.choose.is_too_much", lambda steps, _: "means" not in steps.named_steps
    )
    table = catalogue(200)
    model = uncertain.fit(table, target="kind")
    board = model.leaderboard_
    tried = board.filter(board["score"].is_not_nan(), board["method"] != "average")
    assert tried.height > 1 and set(tried["meaning"]) == {"means only"}
    assert "candidates with error bars are beyond the budget of a choice\n" in repr(model)
    assert (
        board.filter(board["method"] == "gsu", board["meaning"] != "means only")["note"]
        .str.contains("budget")
        .all()
    )
    model.save(tmp_path / "m")
    assert uncertain.load(tmp_path / "m").predict_proba(table).equals(model.predict_proba(table))


def test_a_leaderboard_survives_a_file(tmp_path: Path, model: uncertain.Model) -> None:
    fast = uncertain.fit(catalogue(40), target="kind", effort="fast", noise=(1, 4))
    fast.save(tmp_path / "m.safetensors")
    again = uncertain.load(tmp_path / "m.safetensors")
    assert again.leaderboard_.equals(fast.leaderboard_) and repr(again).count("by rule") == 1
    model.save(tmp_path / "m.safetensors")
    again = uncertain.load(tmp_path / "m.safetensors")
    assert repr(again).splitlines()[:-1] == repr(model).splitlines()[:-1]
    assert again.leaderboard_.equals(model.leaderboard_)
    for name, value in (("measure", "beauty"), ("entries", []), ("noise", [1.0]), ("n_rows", 1.5)):
        about = description(tmp_path / "m.safetensors")
        about["leaderboard"][name] = value
        with pytest.raises(ModelFileError, match="leaderboard"):
            uncertain.load(redescribed(tmp_path / "m.safetensors", about, tmp_path / "n"))


@pytest.mark.usefixtures("few_trees")
def test_an_average_survives_a_file(tmp_path: Path) -> None:
    table = catalogue(60)
    model = uncertain.fit(table, target="kind")
    model.save(tmp_path / "m.safetensors")
    again = uncertain.load(tmp_path / "m.safetensors")
    assert isinstance(again.pipeline_[-1], AveragedClassifier)
    new = catalogue(30, 1)
    assert again.predict_proba(new).equals(model.predict_proba(new))
    assert again.leaderboard_.equals(model.leaderboard_)


def test_many_rows_get_the_simplest_of_the_best() -> None:
    X, y = readings(1200)
    model = choice(X, y)
    board = model.leaderboard_
    (chosen,) = board.filter(pl.col("weight") == 1.0).to_dicts()
    assert chosen["behind"] <= chosen["behind_se"] or chosen["behind"] == 0.0
    # Two Gaussian classes of one covariance: nothing beats the discriminant that is made for them, or a line.
    assert chosen["method"] in ("gsu", "discriminant") and "shared_covariance" not in chosen["parameters"]
    assert len(model.pipeline_) > 1 and not isinstance(model.pipeline_[-1], AveragedClassifier)


def test_numbers_are_chosen_by_squared_error() -> None:
    rng = RNG(4)
    z = rng.normal(size=(300, 1))
    std = rng.uniform(0.05, 0.3, size=(300, 1))
    X = GaussianArray(z + std * rng.normal(size=z.shape), std=std)
    model = uncertain.fit(X, np.sin(3 * z[:, 0]), estimator=HistGradientBoostingRegressor(max_iter=20))
    board = model.leaderboard_
    assert "accuracy" not in board.columns and model.is_regression_
    tried = board.filter(pl.col("score").is_not_null(), pl.col("meaning") == "measurement").sort(
        "score", descending=True
    )
    by = dict(zip(tried["method"], tried["score"], strict=True))
    assert by["kernel"] < 0.7 * by["gsu"]  # a sine is no line
    assert by["mixture"] < 0.7 * by["gsu"]
    rows = GaussianArray(z)
    assert np.corrcoef(model.predict(rows), np.sin(3 * z[:, 0]))[0, 1] > 0.9
    members = [uncertain.fit(X, z[:, 0], method=m).pipeline_ for m in ("gsu", "kernel")]  # type: ignore[arg-type]
    average = AveragedRegressor.from_fitted(members, [3, 1])
    expected = 0.75 * members[0].predict(rows) + 0.25 * members[1].predict(rows)
    np.testing.assert_allclose(average.predict(rows), expected)


def test_errors_of_the_target_are_known_to_those_that_can_use_them() -> None:
    rng = RNG(5)
    x = rng.normal(size=60)
    noise = np.where(np.arange(60) % 4 == 0, 20.0, 0.1)
    table = pl.DataFrame({"x": x, "x_err": 0.01, "y": 2 * x + noise * rng.normal(size=60), "y_err": noise})
    model = uncertain.fit(table, target="y", effort="fast", meaning="spread")
    assert model.columns_.target_std == "y_err"
    assert model.coef_[0, 0] == pytest.approx(2.0, abs=0.1)


@pytest.mark.parametrize("method", ["auto", "remeasured"])
def test_noise_reaches_remeasured_learners(method: Any) -> None:
    if method == "remeasured":
        model = uncertain.fit(catalogue(60), target="kind", method="remeasured", noise=(1, 4), n_copies=2)
        learner = model.pipeline_[-1]
        assert (learner.factors, learner.per_feature) == ((1.0, 4.0), 0.0)
        return
    model = choice(catalogue(60), target="kind", noise=(1, 4))
    assert "errors x 1 to 4" in repr(model)
    (row,) = model.leaderboard_.filter(
        pl.col("method") == "remeasured", pl.col("meaning") != "means only"
    ).to_dicts()
    assert "factors=(1.0, 4.0)" in row["parameters"]


def test_rows_are_read_again_with_errors_of_a_range() -> None:
    np.testing.assert_allclose(sizes_of_errors((1, 4)), [1.0, 2.0, 4.0])
    assert sizes_of_errors(None).tolist() == [1.0]
    X, y = readings(4000)
    for size, again in zip(
        (0.5, 1.0, 2.0),
        read_with(X, np.array([0.5, 1.0, 2.0]), y, False, None, np.random.RandomState(0)),
        strict=True,
    ):
        assert isinstance(again, GaussianArray)
        np.testing.assert_allclose(again.covariances(), size**2 * X.covariances())
    # Twice the errors: noise of three times the variance is added.
    added = (again.means - X.means) / np.sqrt(3 * X.covariances()[:, [0, 1], [0, 1]])
    assert added.std() == pytest.approx(1.0, abs=0.03)


def test_no_group_is_on_both_sides_and_every_row_is_held_out_once() -> None:
    rng = RNG(6)
    codes = rng.integers(0, 40, size=300).astype(np.uint32)
    y = rng.integers(0, 3, size=300)
    counted = np.flatnonzero(rng.uniform(size=300) < 0.9)
    random = np.random.RandomState(0)
    for groups in (None, Groups(codes)):
        seen = np.zeros(300)
        for _, train, test in split(
            300, random, folds=5, repeats=2, classes=y, groups=groups, counted=counted
        ):
            assert not set(train) & set(test)
            seen[test] += 1
            if groups is not None:
                assert not set(codes[train]) & set(codes[test])
            else:  # classes are spread evenly
                shares = np.bincount(y[test], minlength=3) / len(test) - np.bincount(y[counted]) / len(
                    counted
                )
                assert np.abs(shares).max() < 0.05
        assert (seen[counted] == 2).all() and seen.sum() == 2 * len(counted)
    alone = np.append(np.zeros(9, dtype=int), 1)
    tests = [test for _, _, test in split(10, random, folds=3, classes=alone)]
    assert 9 not in np.concatenate(tests)  # the only row of its class is always learned from
    assert plan(100, thorough=False) == (5, 5, 1) and plan(20_000, thorough=False) == (3, 1, 1)


def test_groups_keep_a_memory_from_winning() -> None:
    rng = RNG(7)
    patient = np.repeat(np.arange(30), 5)
    place = rng.normal(size=(30, 2)) * 3
    X = GaussianArray(place[patient] + 0.01 * rng.normal(size=(150, 2)), std=0.01)
    y = np.repeat(np.arange(30) % 2, 5)  # nothing about it is in the place
    honest = choice(X, y, groups=patient).leaderboard_
    fooled = choice(X, y).leaderboard_
    members = pl.col("note") == ""
    assert honest.filter(members)["score"].min() > 0.6  # log 2 is 0.69
    assert fooled.filter(members)["score"].min() < 0.3


def test_means_count_weights_and_groups() -> None:
    rng = RNG(8)
    losses, weights = rng.normal(size=50), rng.uniform(0.5, 2.0, size=50)
    mean, se = weighted_mean(losses, weights)
    assert mean == pytest.approx(np.average(losses, weights=weights))
    # A weight of two is the row twice, in the mean; a group of two rows alike is one row, in the error.
    assert weighted_mean(losses, np.ones(50))[1] == pytest.approx(losses.std(ddof=1) / np.sqrt(50))
    twice = np.repeat(losses, 2)
    doubled = weighted_mean(twice, np.ones(100), Groups(np.repeat(np.arange(50), 2).astype(np.uint32)))
    assert doubled == pytest.approx(weighted_mean(losses, np.ones(50)))
    assert weighted_mean(np.where(np.arange(50) < 25, losses, np.nan), weights) == pytest.approx(
        weighted_mean(losses[:25], weights[:25])
    )
    assert se > 0


COMPARED = Comparison(TrainingRows(None, np.zeros(400)), (), (), np.arange(2))


def test_the_simplest_within_one_standard_error() -> None:
    noise = RNG(9).normal(size=400)

    def tried(shift: float, spread: float) -> Trial:
        losses = shift + spread * noise
        return Trial(Member("gsu", "spread"), np.exp(-losses)[None], losses)

    # (mean difference, its standard error): 0.03 +- 0.05, 0.5 +- 0.05, the best.
    centred = noise - noise.mean()
    noise = centred / centred.std(ddof=1)
    ranking = Ranking([tried(0.5, 1.0), tried(0.03, 1.0), tried(0.0, 0.0)], COMPARED)
    assert ranking.best == 2 and ranking.simplest == 1
    mean, se = ranking.behind(1)
    assert (mean, se) == (pytest.approx(0.03), pytest.approx(0.05))
    worse = Ranking([tried(0.06, 1.0), tried(0.0, 0.0)], COMPARED)
    assert worse.simplest == 1


def test_scores_are_of_errors_as_they_are_and_the_choice_of_larger_ones_too() -> None:
    """Of three readings of each row, with errors x 1, 2 and 4."""
    noise = 0.1 * RNG(11).normal(size=400)
    compared = replace(COMPARED, readings=(None, None, None), larger=True)  # type: ignore[arg-type]

    def tried(method: str, *means: float) -> Trial:
        answers = np.exp(-(np.array(means)[:, None] + noise))
        return Trial(Member(method, ""), answers, losses(answers, compared))

    steady, falls = tried("gsu", 0.4, 0.5, 0.6), tried("kernel", 0.3, 0.7, 1.1)
    ranking = Ranking([steady, falls], compared)
    assert ranking.best == ranking.simplest == 0
    lines = [entry(one, steady, compared) for one in (steady, falls)]
    centre = noise.mean()
    assert [line.score - centre for line in lines] == pytest.approx([0.4, 0.3])
    assert [line.behind for line in lines] == pytest.approx([0.0, 0.2])
    assert gain(falls, steady, compared).value == pytest.approx(0.1)
    scored = as_scored(falls, compared)
    np.testing.assert_allclose(scored.losses, 0.3 + noise)
    ranking = Ranking([as_scored(steady, compared), scored], compared.as_scored())
    assert ranking.best == ranking.simplest == 1


def test_errors_that_are_spread_or_asked_for_are_judged_as_they_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X, y = readings(60)
    monkeypatch.setattr(comparison, "ENOUGH_ROWS", 60)
    exact = choice(X.means, y)
    assert exact.leaderboard_["score"].is_not_null().any()
    build, seen = Comparison.from_request, list[Comparison]()

    def noted(*asked: Any) -> Comparison:
        seen.append(build(*asked))
        raise KeyboardInterrupt  # before the fits of candidates

    monkeypatch.setattr(Comparison, "from_request", noted)
    for given in {}, {"meaning": "spread"}, {"noise": (1, 4)}:
        with pytest.raises(KeyboardInterrupt):
            choice(X, y, **given)
    with pytest.raises(KeyboardInterrupt):
        choice(X.means, y)

    def sizes(one: Comparison) -> list[float]:
        return [round(float(np.sqrt(r.covariances()[0, 0, 0] / own)), 6) for r in one.readings]

    monkeypatch.setattr(comparison, "ENOUGH_ROWS", 61)
    with pytest.raises(KeyboardInterrupt):
        choice(X, y)
    assert len(seen.pop().readings) == 1
    own = X.covariances()[0, 0, 0]
    assert [one.larger for one in seen] == [True, False, False, False]
    assert [sizes(one) for one in seen[:3]] == [[1.0, 2.0, 4.0], [1.0], [1.0, 2.0, 4.0]]
    assert len(seen[3].readings) == 1


def test_an_average_of_many_rows_must_be_clearly_better_than_one(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = RNG(3)
    peaks: dict[str, float] = {}
    monkeypatch.setattr(rule, "crps_of_rows", lambda one, _: one.losses + peaks.get(one.member.method, 0.0))
    truth = rng.normal(size=400)
    compared = Comparison(TrainingRows(None, truth), (), (), None)  # type: ignore[arg-type]

    def tried(method: str, off: Any) -> Trial:
        answers = (truth + off)[None]
        return Trial(Member(method, ""), answers, losses(answers, compared))

    # Two that are wrong in different ways, and two that are wrong together.
    apart = Ranking([tried(m, rng.normal(size=400)) for m in ("gsu", "kernel")], compared)
    same = rng.normal(size=400)
    alike = Ranking([tried(m, same + 0.01 * rng.normal(size=400)) for m in ("gsu", "kernel")], compared)
    for ranking, ahead in (apart, True), (alike, False):
        several = ranking.combined(ranking.average())
        assert ranking.is_ahead(several, ranking.simplest) == ahead
    peaks["average"] = 10.0  # as one that answers with one peak where there are two
    assert not apart.is_ahead(apart.combined(apart.average()), apart.simplest)


def test_candidates_of_numbers_are_compared_as_they_answer() -> None:
    """A mixture by its density of two peaks, its average with itself by a normal law of the least CRPS."""
    rng = RNG(4)
    z = rng.normal(size=(600, 1))
    y = z[:, 0] + np.where(rng.random(600) < 0.5, 2.0, -2.0) + 0.1 * rng.normal(size=600)
    rows = GaussianArray(z + 0.2 * rng.normal(size=z.shape), std=0.2)
    fold = Fold(0, np.arange(400), np.arange(400, 600))
    model = Pipeline([("mixture", GaussianMixtureRegressor(2, random_state=0))]).fit(rows[:400], y[:400])
    compared = Comparison(TrainingRows(rows, y), [fold], [rows], None)
    answers = np.full((1, 600), np.nan)
    answers[0, 400:] = model.predict(rows[400:])
    alone = Trial(Member("mixture", ""), answers, losses(answers, compared), models=[model])
    found = crps_of_rows(alone, compared)
    assert np.isnan(found[:400]).all()
    weights, means, stds = model[-1].predict_mixture(rows[400:])
    for i in (0, 7, 100):
        left, right = (
            quad(
                lambda t, i=i, up=up: (weights[i] @ ndtr((t - means[i]) / stds[i]) - up) ** 2, *ends,
                limit=400, points=np.clip(means[i], *ends), epsabs=1e-9,
            )[0]
            for up, ends in ((0.0, (-15.0, y[400 + i])), (1.0, (y[400 + i], 15.0)))
        )  # fmt: skip
        assert found[400 + i] == pytest.approx(left + right, rel=1e-5)
    twice = average([alone, alone], np.array([0.5, 0.5]), compared)
    normal = crps_of_rows(twice, compared)[400:]
    off = y[400:] - answers[0, 400:]
    least = minimize_scalar(lambda s: crps(off, np.full(200, s)).mean(), bounds=(0.5, 5.0)).fun
    assert normal.mean() == pytest.approx(least, rel=0.01)
    assert found[400:].mean() < 0.9 * normal.mean()
    np.testing.assert_array_equal(twice.losses, alone.losses)


def test_stacked_weights_have_the_least_loss() -> None:
    rng = RNG(10)
    given = rng.uniform(0.05, 0.95, size=(3, 500))
    counts = rng.uniform(0.5, 1.5, size=500)
    f = rng.normal(size=(3, 500))
    y = 0.7 * f[0] + 0.3 * f[1] + 0.1 * rng.normal(size=500)

    def least(loss: Any) -> Any:
        found = minimize(
            loss,
            np.full(3, 1 / 3),
            bounds=[(0, 1)] * 3,
            constraints={"type": "eq", "fun": lambda w: w.sum() - 1},
        )
        rows = counts.sum() / counts.max()
        return (rows * found.x + PRIOR / 3) / (rows + PRIOR)

    np.testing.assert_allclose(
        stacked(given, counts, None), least(lambda w: -(counts @ np.log(w @ given)) / 500), atol=2e-3
    )
    np.testing.assert_allclose(
        stacked(f, counts, y), least(lambda w: counts @ (y - w @ f) ** 2 / 500), atol=2e-3
    )


def test_the_score_is_that_of_scikit_learn(model: uncertain.Model) -> None:
    """A leaderboard's score of a discriminant is the log loss of fits to the same folds."""
    board = model.leaderboard_
    (row,) = board.filter(
        pl.col("method") == "discriminant", pl.col("parameters") == "", pl.col("meaning") == "measurement"
    ).to_dicts()
    X, y = readings(150)
    folds = StratifiedKFold(5, shuffle=True, random_state=np.random.RandomState(0)).split(y, y)
    losses = []
    for train, test in folds:
        learner = uncertain.GaussianScaler().fit(X[train])
        fitted = GaussianDiscriminant(random_state=0).fit(learner.transform(X[train]), y[train])
        losses.append(log_loss(y[test], fitted.predict_proba(learner.transform(X[test]))))
    assert row["score"] == pytest.approx(np.mean(losses), rel=1e-6)


def test_what_cannot_take_the_data_says_why() -> None:
    X, y = readings(60)
    labels = np.where(np.arange(60) == 59, "odd", np.where(y, "b", "a"))
    model = choice(X, labels)  # one row of a class: no calibration can hold it out
    board = model.leaderboard_
    refused = board.filter(pl.col("note").str.starts_with("left out"))
    assert refused.filter(pl.col("method") == "gsu").height == 2
    assert refused["note"].str.contains("cross-validation").any()
    assert set(model.classes_) == {"a", "b", "odd"}


def test_meaning_narrows_the_choice() -> None:
    X, y = readings(60)
    spread = choice(X, y, meaning="spread").leaderboard_
    assert set(spread.filter(pl.col("note") == "")["method"]) <= {"gsu", "kernel", "average"}
    assert spread["note"].str.contains("takes error bars for measurement errors").any()
    exact = choice(X.means, y).leaderboard_
    assert exact.filter(pl.col("meaning") == "means only").is_empty()
    assert exact.filter(pl.col("note") == "", pl.col("method") == "gsu").height == 1


def test_gaps_and_weights() -> None:
    table = catalogue(90).with_columns(u=pl.when(pl.int_range(90) % 9 > 0).then("u"))
    weights = np.where(np.arange(90) < 60, 1.0, 0.0)
    spoilt = table.with_columns(
        kind=pl.when(pl.int_range(90) < 60).then("kind").otherwise(1 - pl.col("kind"))
    )
    model = choice(spoilt, target="kind", on_missing="impute", sample_weight=weights)
    assert model.score(table) > 0.7  # 0.5 if it had learned from the spoilt rows
    tried = model.leaderboard_.filter(pl.col("note") == "")
    assert {"gsu", "kernel", "discriminant", "remeasured"} <= set(tried["method"])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"alpha": 1e-3}, "unknown parameter 'alpha'.*name the method, such as method=\"gsu\""),
        ({"effort": "some"}, "effort"),
        ({"method": "gsu", "effort": "high"}, 'method="gsu" is one fit'),
        ({"noise": 4}, "smallest and the largest factor"),
        ({"noise": (4, 1)}, "0 < smallest <= largest"),
        ({"method": "gsu", "noise": (1, 4)}, "learns from the errors as they are"),
        ({"method": "remeasured", "noise": (1, 4), "factors": (1, 2)}, "say one of them"),
        ({"n_jobs": "all"}, "n_jobs = 'all': must be an integer"),
    ],
)
def test_refusals_before_any_work(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        uncertain.fit(catalogue(40), target="kind", **given)


@pytest.mark.usefixtures("few_trees")
def test_an_own_learner_takes_part() -> None:
    from sklearn.linear_model import LogisticRegression

    X, y = readings(60)
    model = uncertain.fit(X, y, estimator=LogisticRegression())
    (row,) = model.leaderboard_.filter(
        pl.col("method") == "remeasured", pl.col("meaning") == "measurement"
    ).to_dicts()
    assert "LogisticRegression" in row["parameters"]
    with pytest.raises(ParameterError, match="one number >= 0"):
        AveragedClassifier.from_fitted([clone(model.pipeline_)], [-1.0])
    assert RemeasuredClassifier().get_params()["estimator"] is None


@pytest.mark.usefixtures("few_trees")
def test_more_effort_averages_more_folds() -> None:
    X, y = readings(60)
    model = choice(X, y, effort="high")
    board = model._leaderboard
    assert board is not None and (board.effort, board.folds) == ("high", 15)
    assert plan(2_000, thorough=True) == (5, 5, 1) and plan(20_000, thorough=True) == (3, 3, 1)


def test_classes_of_a_single_row_are_left_out_and_named() -> None:
    """Where all candidates are calibrated on held-out rows, as those that take error bars for spread are."""
    rng = np.random.default_rng(0)
    kind = np.array(["star", "quasar"] * 40 + ["comet"])
    table = pl.DataFrame({"x": rng.normal(size=81) + 3.0 * (kind == "star"), "x_err": 0.2, "kind": kind})
    with pytest.warns(uncertain.exceptions.UncertainWarning, match="single row cannot be held out: 'comet'"):
        model = uncertain.fit(table, target="kind", meaning="spread")
    assert model.classes_.tolist() == ["quasar", "star"]
    assert model.score(table.filter(pl.col("kind") != "comet")) > 0.85
    assert model.predict_set(table).len() == 81


def test_a_path_of_several_classes_has_a_hundred_rows_of_each() -> None:
    assert [path_rows(Size(50_000, 10, classes), 5_000) for classes in (0, 2, 3, 6)] == [
        5_000,
        5_000,
        500,
        600,
    ]
    # Where that is too much work for the budget there are fewer, or no path at all.
    assert path_rows(Size(50_000, 30, 40), 5_000) == 500
    assert path_rows(Size(50_000, 400, 100), 5_000) == 0
