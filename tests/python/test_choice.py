"""`method="auto"`: what is tried, on which rows, how it is stacked, and what the model says of it."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from catalogues import description, redescribed
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline

import uncertain
from uncertain import GaussianArray
from uncertain._base.folds import split
from uncertain._base.normal_mixtures import NormalMixtures
from uncertain._choice import weights as stacking
from uncertain._choice.candidates import Member, affordable
from uncertain._choice.methods import make_estimator
from uncertain._choice.splits import plan
from uncertain._choice.stack import StackedClassifier, StackedRegressor
from uncertain._data.groups import Groups
from uncertain._held_out.means import weighted_mean
from uncertain.exceptions import ModelFileError, ParameterError, UncertainError, UncertainWarning

RNG = np.random.default_rng
TREES = HistGradientBoostingClassifier(max_iter=5)
"""Few trees, for tests that are not about them."""
FORMER = {"discriminant", "mixture", "remeasured", "kernel", "gsu"}


def choice(*data: Any, **given: Any) -> uncertain.Model:
    """A fit whose boosting is quick."""
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
    std = X._deviations()
    return pl.DataFrame(
        {"u": X.means[:, 0], "u_err": std[:, 0], "v": X.means[:, 1], "v_err": std[:, 1], "kind": y}
    )


def numbers(n: int, seed: int = 4) -> tuple[GaussianArray, Any]:
    """A sine, read with errors."""
    rng = RNG(seed)
    z = rng.normal(size=(n, 1))
    std = rng.uniform(0.05, 0.3, size=(n, 1))
    return GaussianArray(z + std * rng.normal(size=z.shape), std=std), np.sin(3 * z[:, 0])


@pytest.fixture(scope="module")
def model() -> uncertain.Model:
    return choice(catalogue(150, 3), target="kind")


@pytest.fixture(scope="module")
def gated() -> uncertain.Model:
    """With weights that depend on the noise of a row: of Gaussians for stripes."""
    rng = RNG(1)
    z, std = rng.normal(size=(1_000, 2)), np.exp(rng.normal(-0.5, 0.7, size=(1_000, 2)))
    X = GaussianArray(z + std * rng.normal(size=z.shape), std=std)
    return choice(X, (np.sin(3 * z[:, 0]) > 0).astype(int))


def tried(model: uncertain.Model) -> dict[str, set[str]]:
    """The candidates of each method."""
    models = [name for name in model.leaderboard_["model"] if name.split()[0] in FORMER]
    return {method: {name for name in models if name.split()[0] == method} for method in FORMER}


def test_the_leaderboard_says_what_was_tried(model: uncertain.Model) -> None:
    board = model.leaderboard_
    assert board.columns == ["model", "loss", "loss_x4", "weight", "weight_x4"]
    members, rest = board.filter(pl.col("weight").is_not_null()), board.filter(pl.col("weight").is_null())
    assert board["loss"].is_sorted()
    assert members["weight"].sum() == pytest.approx(1.0) == pytest.approx(members["weight_x4"].sum())
    assert (members["loss"] < members["loss_x4"]).mean() > 0.7
    assert {*rest["model"]} in ({"stack", "error sizes alone"}, {"error sizes alone"})
    # The stack is as good as its best member, on the rows that weights were found on.
    assert rest["loss"][0] < members["loss"][0] + 0.01 or rest.height == 1
    assert len(tried(model)["kernel"]) == 2 and len(tried(model)["remeasured"]) == 3
    assert not tried(model)["gsu"] and any("means only" in name for name in tried(model)["discriminant"])
    text = repr(model)
    for part in (
        "\naccuracy         0.",
        "    log loss 0.",
        " (held out, 5 folds)",
        ": error bars gain ",
        "\nmodel ",
    ):
        assert part in text


def test_a_fit_repeats_itself_to_the_last_bit(model: uncertain.Model) -> None:
    heard: list[Any] = []
    again = choice(catalogue(150, 3), target="kind", callback=heard.append)
    table = catalogue(50, 1)
    assert again.predict_proba(table).equals(model.predict_proba(table))
    assert again.leaderboard_.equals(model.leaderboard_)
    assert {progress.folds for progress in heard} == {5}
    assert (
        choice(catalogue(150, 3), target="kind", random_state=1).leaderboard_["loss"][0]
        != again.leaderboard_["loss"][0]
    )
    slow, fast = (uncertain.fit(*readings(90), n_jobs=n, effort="normal", meaning="spread") for n in (1, 2))
    np.testing.assert_array_equal(slow.predict_proba(readings(90)[0]), fast.predict_proba(readings(90)[0]))


def test_a_callback_ends_the_fit() -> None:
    def stop(_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        choice(catalogue(60), target="kind", callback=stop)


def test_a_stack_is_the_mixture_of_its_members(gated: uncertain.Model) -> None:
    stack = gated.pipeline_[-1]
    assert isinstance(stack, StackedClassifier) and stack.weights_.shape[0] == 4
    X = readings(200, 2)[0]
    r = np.log2(X._deviations() / stack.sizes_).mean(axis=1).clip(0.0, 3.0)
    columns = stack.weights_.T
    w = np.stack([np.interp(r, np.arange(4), column) for column in columns])
    expected = sum(wk[:, None] * m.predict_proba(X) for wk, m in zip(w, stack.members_, strict=True))
    np.testing.assert_allclose(stack.predict_proba(X), expected, rtol=1e-12)
    np.testing.assert_allclose(stack.decision_function(X), np.log(expected[:, 1] / expected[:, 0]))
    with pytest.raises(AttributeError, match=r"has no coefficients"):
        gated.coef_  # noqa: B018
    assert str(gated.summary()).count("member ") == len(stack.members_) and not gated.has_distribution_
    np.testing.assert_array_equal(clone(stack).fit(*readings(60, 3)).classes_, [0, 1])
    assert "errors 8 times as large" in repr(gated) or "average: " in repr(gated)


def test_the_density_of_a_stack_keeps_the_peaks_of_its_members() -> None:
    X, y = numbers(200)
    members = [uncertain.fit(X, y, method="mixture", n_components=k).pipeline_ for k in (1, 4)]
    members.append(uncertain.fit(X, y, method="kernel").pipeline_)
    from uncertain._held_out.widths import Spread
    from uncertain._model.pipeline_facts import is_measured

    width = Spread(0.04, np.zeros(1), np.ones(1))
    stack = StackedRegressor.from_fitted(members, [1, 2, 1], (), [None, None, width])
    weights, means, stds = stack.predict_mixture(X)
    assert weights.shape == (200, 6)
    laws = [NormalMixtures(*m[-1].predict_mixture(m[:-1].transform(X))) for m in members[:2]]
    grid = np.linspace(-2, 2, 50)
    kernel = NormalMixtures.normal(members[2].predict(X), np.full(200, 0.2))
    expected = 0.25 * laws[0].density(grid) + 0.5 * laws[1].density(grid) + 0.25 * kernel.density(grid)
    np.testing.assert_allclose(NormalMixtures(weights, means, stds).density(grid), expected, atol=1e-12)
    mean, std, of_errors = stack._distribution(X)
    np.testing.assert_allclose(std**2, NormalMixtures(weights, means, stds).mean_square(mean))
    assert (of_errors <= std).all()
    for last, measured in ((1, True), (4, False)):  # mixtures read measurement errors, the kernel spread
        stack = StackedRegressor.from_fitted(members, [1, 2, last], (), [None, None, width])
        assert is_measured(make_pipeline(stack)) == measured


def test_fast_and_few_rows_are_one_fit_by_rule() -> None:
    table = catalogue(200)
    fast = uncertain.fit(table, target="kind", effort="fast")
    single = uncertain.fit(table, target="kind", method="discriminant")
    assert fast.predict_proba(table).equals(single.predict_proba(table))
    assert fast.leaderboard_.height == 1 and "discriminant, by rule\n" in repr(fast)
    assert single.leaderboard_ is None
    tiny = uncertain.fit(catalogue(8), target="kind")
    assert ", by rule: too few rows, or of a class, to hold any out\n" in repr(tiny)


def test_a_stack_survives_a_file(tmp_path: Path, gated: uncertain.Model) -> None:
    X = readings(80, 5)[0]
    fast = uncertain.fit(catalogue(40), target="kind", effort="fast", noise=(1, 4))
    regression = choice(*numbers(120), estimator=LogisticRegression(), meaning="measurement", effort="fast")
    small = uncertain.fit(*numbers(60), effort="normal", meaning="spread")
    for made, rows in ((fast, catalogue(30, 1)), (regression, numbers(30)[0]), (small, numbers(30)[0])):
        made.save(tmp_path / "m")
        again = uncertain.load(tmp_path / "m")
        assert again.leaderboard_.equals(made.leaderboard_)
        assert repr(again).splitlines()[:-1] == repr(made).splitlines()[:-1]
        np.testing.assert_array_equal(again.predict(rows), made.predict(rows))
    assert gated.leaderboard_ is not None
    learned = uncertain.fit(*readings(120), meaning="measurement", random_state=0)
    learned.save(tmp_path / "m")
    again = uncertain.load(tmp_path / "m")
    np.testing.assert_array_equal(again.predict_proba(X), learned.predict_proba(X))
    assert again.predict_set(X).tolist() == learned.predict_set(X).tolist()
    for name, value in (("measure", "beauty"), ("entries", []), ("noise", [1.0]), ("n_rows", 1.5)):
        about = description(tmp_path / "m")
        about["leaderboard"][name] = value
        with pytest.raises(ModelFileError, match="leaderboard"):
            uncertain.load(redescribed(tmp_path / "m", about, tmp_path / "n"))


@pytest.mark.usefixtures("few_trees")
def test_numbers_are_stacked_by_crps(tmp_path: Path) -> None:
    X, y = numbers(300)
    model = uncertain.fit(X, y)
    board = model.leaderboard_
    loss = dict(zip(board["model"], board["loss"], strict=True))
    assert loss["mixture (n_components=4)"] < 0.8 * loss["mixture"]  # a sine is no line
    assert np.corrcoef(model.predict(X), y)[0, 1] > 0.8 and "CRPS" in repr(model)
    model.save(tmp_path / "m")
    again = uncertain.load(tmp_path / "m")
    for answer in ("predict_distribution", "predict_interval", "predict_quantiles"):
        np.testing.assert_array_equal(getattr(again, answer)(X), getattr(model, answer)(X))


@pytest.mark.usefixtures("few_trees")
def test_sets_and_intervals_of_a_stack_hold_and_are_nested() -> None:
    for n in (240, 1_000):
        model = uncertain.fit(*readings(n, 6), n_jobs=1)
        X, y = readings(2_000, 7)
        sets = {coverage: model.predict_set(X, coverage=coverage) for coverage in (0.5, 0.68, 0.9)}
        assert np.mean([truth in some for truth, some in zip(y, sets[0.9], strict=True)]) == pytest.approx(
            0.9, abs=0.05
        )
        for small, large in ((0.5, 0.68), (0.68, 0.9)):
            assert all({*a} <= {*b} for a, b in zip(sets[small], sets[large], strict=True))
    X, y = numbers(300)
    regression = uncertain.fit(X, y + 0.2 * RNG(1).normal(size=300))
    fresh, truth = numbers(2_000, 8)
    low, high = regression.predict_interval(fresh)
    assert np.mean((low < truth + 0.2 * RNG(2).normal(size=2_000)) & (truth < high)) == pytest.approx(
        0.9, abs=0.06
    )


def test_noise_says_which_sizes_count() -> None:
    model = choice(catalogue(100), target="kind", noise=(0.5, 4))
    assert any("factors=(0.5, 4)" in name for name in model.leaderboard_["model"])
    again = uncertain.fit(
        catalogue(60), target="kind", method="remeasured", noise=(1, 4), n_copies=2, n_trees=5
    )
    learner = again.pipeline_[-1]
    assert (learner.factors, learner.per_feature) == ((1.0, 4.0), 0.0)


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
                shares = np.bincount(y[test], minlength=3) / len(test)
                assert np.abs(shares - np.bincount(y[counted]) / len(counted)).max() < 0.05
        assert (seen[counted] == 2).all() and seen.sum() == 2 * len(counted)
    alone = np.append(np.zeros(9, dtype=int), 1)
    assert 9 not in np.concatenate([test for _, _, test in split(10, random, folds=3, classes=alone)])
    assert [plan(n, thorough=False) for n in (100, 2_000, 20_000)] == [(5, 5, 1), (3, 3, 1), (3, 1, 1)]
    assert [plan(n, thorough=True) for n in (100, 2_000, 20_000)] == [(5, 5, 3), (5, 5, 1), (3, 3, 1)]


def test_groups_keep_a_memory_from_winning() -> None:
    rng = RNG(7)
    patient = np.repeat(np.arange(30), 5)
    place = rng.normal(size=(30, 2)) * 3
    X = GaussianArray(place[patient] + 0.01 * rng.normal(size=(150, 2)), std=0.01)
    y = np.repeat(np.arange(30) % 2, 5)  # nothing about it is in the place
    honest, fooled = choice(X, y, groups=patient).leaderboard_, choice(X, y).leaderboard_
    members = pl.col("weight").is_not_null()
    assert honest.filter(members)["loss"].min() > 0.6  # log 2 is 0.69
    assert fooled.filter(members)["loss"].min() < 0.3


def test_means_count_weights_and_groups() -> None:
    rng = RNG(8)
    losses, weights = rng.normal(size=50), rng.uniform(0.5, 2.0, size=50)
    mean, se = weighted_mean(losses, weights)
    assert mean == pytest.approx(np.average(losses, weights=weights)) and se > 0
    # A weight of two is the row twice, in the mean; a group of two rows alike is one row, in the error.
    assert weighted_mean(losses, np.ones(50))[1] == pytest.approx(losses.std(ddof=1) / np.sqrt(50))
    doubled = weighted_mean(
        np.repeat(losses, 2), np.ones(100), Groups(np.repeat(np.arange(50), 2).astype(np.uint32))
    )
    assert doubled == pytest.approx(weighted_mean(losses, np.ones(50)))


@pytest.mark.parametrize("knots", [1, 4])
def test_stacked_weights_have_the_least_loss(knots: int) -> None:
    rng = RNG(10)
    k, n = 3, 400
    hats, c = stacking.hats(rng.uniform(0, 3, n), knots), rng.uniform(0.5, 1.5, n)
    prior = 20.0 * rng.dirichlet(np.ones(k), knots)
    given = rng.uniform(0.05, 0.95, size=(n, k))
    A = rng.normal(size=(n, k, k))
    gram = A @ A.mT
    scale = np.einsum("n,nkk->", c, gram) / (c.sum() * k)

    def classes(W: Any) -> float:
        return float(-(c @ np.log(((hats @ W) * given).sum(axis=1))) - (prior * np.log(W)).sum())

    def squares(W: Any) -> float:
        w = hats @ W
        return float(
            c @ np.einsum("nk,nkl,nl->n", w, gram, w) + 20.0 * scale * ((W - prior / 20.0) ** 2).sum()
        )

    for loss, found in (
        (classes, stacking.of_classes(given, hats, prior, c)),
        (squares, stacking.of_numbers(gram, hats, prior, c)),
    ):
        np.testing.assert_allclose(found.sum(axis=1), 1.0)
        best = minimize(
            lambda v, loss=loss: loss(v.reshape(knots, k)),
            np.full(knots * k, 1 / k), bounds=[(1e-9, 1)] * (knots * k), tol=1e-12,
            constraints={"type": "eq", "fun": lambda v: v.reshape(knots, k).sum(axis=1) - 1},
        )  # fmt: skip
        assert loss(found) <= best.fun + 1e-4 * abs(best.fun)


def test_the_gram_matrix_is_the_crps_of_any_mixture() -> None:
    rng = RNG(0)
    y = rng.normal(size=200)
    laws = [
        NormalMixtures.normal(rng.normal(size=200) * 0.5, np.full(200, 1.0)),
        NormalMixtures.normal(y + 0.1 * rng.normal(size=200), np.full(200, 0.05)),
        NormalMixtures(
            rng.dirichlet(np.ones(32) * 0.2, 200), 2 * rng.normal(size=(200, 32)),
            rng.uniform(0.05, 0.5, (200, 32)),
        ),
    ]  # fmt: skip
    gram, w = stacking.gram(laws, y), rng.dirichlet(np.ones(3))
    scaled = [law._replace(weights=share * law.weights) for law, share in zip(laws, w, strict=True)]
    mixture = NormalMixtures(*(np.concatenate(parts, axis=1) for parts in zip(*scaled, strict=True)))
    np.testing.assert_allclose((w @ gram @ w).mean(), mixture.crps(y).mean(), rtol=0.01)


def test_the_budget_is_spent_from_the_cheapest_on() -> None:
    pipeline: Any = object()
    members = [Member("gsu", "spread", {"alpha": s}, pipeline, float(s)) for s in (1, 2, 5, 9)]
    kept = [m.pipeline is not None for m in affordable(members, 2.0, 15.0)]
    assert kept == [True, True, False, False]
    assert affordable(members[3:], 2.0, 15.0)[0].pipeline is not None
    assert "beyond the budget" in affordable(members, 2.0, 15.0)[2].reason


def test_boosting_that_no_tree_helps_says_what_it_answers() -> None:
    for regression, text in (
        (False, "the shares of the classes for every row"),
        (True, "the mean for every row"),
    ):
        pipeline = Pipeline([("last", make_estimator("remeasured", regression=regression, params={}))])
        member = Member("remeasured", "measurement", {}, pipeline).with_parameters(n_trees=0)
        assert member.text == f"{text}: no feature helps" and text.startswith(member.family)


def test_meaning_narrows_the_choice() -> None:
    X, y = readings(60)
    spread = tried(choice(X, y, meaning="spread"))
    assert spread["gsu"] and spread["kernel"] and not spread["discriminant"] | spread["remeasured"]
    exact = choice(X.means, y).leaderboard_
    assert not {"error sizes alone"} & {*exact["model"]} and exact["loss_x4"].is_null().all()
    assert exact["loss"].is_not_null().any()


def test_gaps_weights_and_errors_of_the_target() -> None:
    table = catalogue(90).with_columns(u=pl.when(pl.int_range(90) % 9 > 0).then("u"))
    weights = np.where(np.arange(90) < 60, 1.0, 0.0)
    spoilt = table.with_columns(
        kind=pl.when(pl.int_range(90) < 60).then("kind").otherwise(1 - pl.col("kind"))
    )
    model = choice(spoilt, target="kind", on_missing="impute", sample_weight=weights)
    assert model.score(table) > 0.7  # 0.5 if it had learned from the spoilt rows
    rng = RNG(5)
    x, noise = rng.normal(size=60), np.where(np.arange(60) % 4 == 0, 20.0, 0.1)
    table = pl.DataFrame({"x": x, "x_err": 0.01, "y": 2 * x + noise * rng.normal(size=60), "y_err": noise})
    fast = uncertain.fit(table, target="y", effort="fast", meaning="spread")
    assert fast.columns_.target_std == "y_err" and fast.coef_[0, 0] == pytest.approx(2.0, abs=0.1)


def test_errors_that_tell_the_class_by_their_sizes_are_named() -> None:
    rng = RNG(2)
    y = np.arange(200) % 2
    table = pl.DataFrame(
        {"x": rng.normal(size=200), "x_err": np.where(y, 0.1, 0.4) * rng.uniform(0.8, 1.2, 200), "kind": y}
    )
    assert "sizes of errors and gaps predict the target without any value: log loss 0.0" in repr(
        uncertain.fit(table, target="kind")
    )
    assert "sizes of errors and gaps" not in repr(choice(catalogue(100), target="kind"))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"alpha": 1e-3}, "unknown parameter 'alpha'.*name the method, such as method=\"gsu\""),
        ({"effort": "some"}, "effort"),
        ({"method": "gsu", "effort": "high"}, 'method="gsu" is one fit'),
        ({"noise": 4}, "smallest and the largest factor"),
        ({"noise": (4, 1)}, "0 < smallest <= largest"),
        ({"method": "gsu", "noise": (1, 4)}, "learns from the errors as they are"),
        ({"method": "remeasured", "noise": (1, 4), "factors": (1, 2)}, "pass one of them"),
        ({"n_jobs": "all"}, "n_jobs = 'all': must be an integer"),
    ],
)
def test_refusals_before_any_work(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        uncertain.fit(catalogue(40), target="kind", **given)


def test_an_own_learner_takes_part_and_more_effort_repeats() -> None:
    X, y = readings(60)
    model = uncertain.fit(X, y, estimator=LogisticRegression(), effort="high")
    assert any("LogisticRegression" in name for name in tried(model)["remeasured"]) and tried(model)["gsu"]
    assert model._leaderboard is not None and model._leaderboard.folds == 15
    with pytest.raises(ParameterError, match="one number >= 0"):
        StackedClassifier.from_fitted([clone(model.pipeline_)], [-1.0])


def test_classes_of_a_single_row_are_left_out_and_named() -> None:
    """Where all candidates are calibrated on held-out rows, as those that take error bars for spread are."""
    rng = RNG(0)
    kind = np.array(["star", "quasar"] * 40 + ["comet"])
    table = pl.DataFrame({"x": rng.normal(size=81) + 3.0 * (kind == "star"), "x_err": 0.2, "kind": kind})
    with pytest.warns(UncertainWarning, match="left out: the classes 'comet', of a single row"):
        model = uncertain.fit(table, target="kind", meaning="spread")
    assert model.classes_.tolist() == ["quasar", "star"]
    assert model.score(table.filter(pl.col("kind") != "comet")) > 0.85
    assert model.predict_set(table).len() == 81


@pytest.mark.usefixtures("few_trees")
def test_a_wide_table_has_an_answer() -> None:
    X, y = readings(60, 3, 300)
    model = uncertain.fit(X, y)
    assert model.leaderboard_["loss"].min() < 0.5 and "not tried" in repr(model)


def test_more_classes_than_can_be_compared_are_refused_in_words() -> None:
    n = 20_000
    X = GaussianArray(RNG(0).normal(size=(n, 2)), std=0.1)
    with pytest.raises(UncertainError, match=r"10,000 classes in 20,000 rows.*task=.regression"):
        uncertain.fit(X, np.arange(n) % 10_000, task="classification")


def test_error_bars_of_zero_are_chosen_among_as_points() -> None:
    means = np.asarray(readings(200, d=4)[0].means)
    point, zero = GaussianArray(means), GaussianArray(means, std=np.zeros(means.shape))
    one, other = (choice(rows, np.arange(200) % 2, random_state=0) for rows in (point, zero))
    assert one.leaderboard_.equals(other.leaderboard_)
    np.testing.assert_allclose(one.predict_proba(point), other.predict_proba(zero), rtol=1e-6)


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
