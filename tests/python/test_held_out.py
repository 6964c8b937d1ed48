"""Rows that are held out: equal rows, groups and rare classes, measures and their standard errors."""

from typing import Any

import numpy as np
import polars as pl
import pytest
import sklearn.metrics as skm
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier

import uncertain
from uncertain import GaussianArray, Incomplete, RemeasuredClassifier, RemeasuredRegressor
from uncertain._base.folds import split
from uncertain._data.groups import Groups
from uncertain._held_out.equal import together
from uncertain._held_out.means import standard_error
from uncertain._held_out.measures import MEASURES, Predicted
from uncertain.exceptions import UncertainError

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


def test_standard_error_is_that_of_a_bootstrap_over_groups() -> None:
    rng = np.random.default_rng(6)
    sizes = rng.integers(1, 12, 250)
    objects = np.repeat(np.arange(250), sizes)
    skill = rng.beta(1.0, 0.5, 250)
    correct = (rng.uniform(size=len(objects)) < skill[objects]).astype(float)
    groups = Groups(objects.astype(np.uint32))
    one = standard_error(correct[None, :], groups)
    sums = np.bincount(objects, weights=correct)
    drawn = rng.integers(0, 250, (8000, 250))
    bootstrap = (sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1)).std()
    assert one == pytest.approx(bootstrap, rel=0.04)
    assert one > 1.5 * standard_error(correct[None, :])
    # Cut into folds of one size, the mean is the same, and the luck of the split is added.
    fold = rng.permutation(np.arange(len(objects)) % 4)
    cut = len(objects) - len(objects) % 4
    parts = np.where(fold[:cut] == np.arange(4)[:, None], correct[:cut], np.nan)
    both = standard_error(parts, Groups(objects[:cut].astype(np.uint32)))
    luck = np.nanmean(parts, axis=1).var(ddof=1) / 4
    assert both**2 - luck == pytest.approx(one**2, rel=0.05)


def test_standard_error_covers_the_spread_of_experiments_on_new_groups() -> None:
    rng = np.random.default_rng(7)
    objects = np.repeat(np.arange(40), 5)
    groups = Groups(objects.astype(np.uint32))
    fold = objects % 5

    def experiment() -> NDArray[np.float64]:
        correct = 0.8 + 0.2 * rng.standard_normal(40)[objects] + 0.2 * rng.standard_normal(200)
        return np.where(fold == np.arange(5)[:, None], correct, np.nan)

    experiments = [experiment() for _ in range(2000)]
    spread = np.std([np.nanmean(e, axis=1).mean() for e in experiments])
    assert 1.0 <= np.median([standard_error(e, groups) for e in experiments]) / spread <= 1.5
    # Rows that count as independent promise too much, in spite of the part that they count twice.
    assert np.median([standard_error(e) for e in experiments]) / spread < 1.2
    single = Groups(np.arange(200, dtype=np.uint32))
    for e in experiments[:20]:
        assert standard_error(e, single) == pytest.approx(standard_error(e), rel=1e-12)


def predicted(n: int, seed: int, *, classes: int = 0) -> Predicted:
    """Predictions of numbers, or of classes with scores that have ties."""
    rng = np.random.default_rng(seed)
    if not classes:
        y = rng.standard_t(8, size=n)
        return Predicted(y, 0.7 * y + 0.5 * rng.normal(size=n), np.ones(n), np.empty((0, 0)))
    share = np.append(0.8, np.full(classes - 1, 0.2 / (classes - 1)))
    y = np.append(np.arange(classes), rng.choice(classes, n - classes, p=share))
    logits = 1.2 * np.eye(classes)[y] + rng.normal(size=(n, classes)).round(1)
    shares = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    return Predicted(y, shares.argmax(axis=1), np.ones(n), shares)


@pytest.mark.parametrize("weighted", [False, True])
def test_measures_are_those_of_scikit_learn(weighted: bool) -> None:
    w = np.arange(300) % 3 + 1.0 if weighted else np.ones(300)
    for classes in (2, 4):
        p = predicted(300, 0, classes=classes)._replace(counts=w)
        happened = np.eye(classes)[p.y]
        sides = [1] if classes == 2 else range(classes)
        auc = [skm.roc_auc_score(happened[:, k], p.shares[:, k], sample_weight=w) for k in sides]
        brier = np.average(((p.shares - happened) ** 2).sum(axis=1), weights=w)
        want = {
            "accuracy": skm.accuracy_score(p.y, p.predicted, sample_weight=w),
            "balanced_accuracy": skm.balanced_accuracy_score(p.y, p.predicted, sample_weight=w),
            "roc_auc": np.mean(auc),
            "log_loss": skm.log_loss(p.y, p.shares, sample_weight=w),
            "brier": brier / 2 if classes == 2 else brier,
        }
        for name, value in want.items():
            assert np.average(MEASURES[name].of_rows(p), weights=w) == pytest.approx(value), name
    p = predicted(300, 0)._replace(counts=w)
    for name, function in (
        ("mae", skm.mean_absolute_error), ("rmse", skm.root_mean_squared_error), ("r2", skm.r2_score),
    ):  # fmt: skip
        value = function(p.y, p.predicted, sample_weight=w)
        assert np.average(MEASURES[name].of_rows(p), weights=w) == pytest.approx(value), name


@pytest.mark.parametrize(
    ("name", "classes"), [("balanced_accuracy", 2), ("roc_auc", 2), ("r2", 0), ("rmse", 0)]
)
def test_standard_errors_of_what_is_no_mean_over_rows(name: str, classes: int) -> None:
    """The spread of the measure over many samples, beside the standard error of each."""
    of_rows = [MEASURES[name].of_rows(predicted(250, seed, classes=classes)) for seed in range(500)]
    values, errors = np.array([(rows.mean(), standard_error(rows[None, :])) for rows in of_rows]).T
    assert np.median(errors) / values.std() == pytest.approx(1.0, abs=0.1)


def test_a_fold_without_some_class_does_not_count_for_it() -> None:
    alike = Predicted(np.zeros(4, dtype=int), np.zeros(4, dtype=int), np.ones(4), np.full((4, 2), 0.5))
    assert MEASURES["balanced_accuracy"].of_rows(alike).mean() == 1.0
    with pytest.raises(UncertainError, match="AUC: all rows are of one class"):
        MEASURES["roc_auc"].of_rows(alike)


@pytest.mark.parametrize("kind", ["zero", "std", "cov", "gaps"])
def test_equal_rows_have_equal_means_and_errors(kind: str) -> None:
    rng = np.random.default_rng(3)
    means = rng.normal(size=(40, 2))
    means[10:13] = means[0]
    means[[0, 10, 11, 12], 1] = [0.0, -0.0, 0.0, -0.0]
    std = np.ones((40, 2))
    std[11] = 2.0
    cov = np.tile(np.eye(2), (40, 1, 1))
    cov[11, 0, 1] = cov[11, 1, 0] = 0.5
    rows: GaussianArray | Incomplete = {
        "zero": GaussianArray(means),
        "std": GaussianArray(means, std=std),
        "cov": GaussianArray(means, cov=cov),
        "gaps": GaussianArray(means),
    }[kind]
    if kind == "gaps":
        missing = np.zeros((40, 2), dtype=bool)
        missing[11, 1] = True
        assert isinstance(rows, GaussianArray)
        rows = Incomplete(rows, missing)
    groups, n_equal = together(rows, None)
    assert groups is not None
    equal = np.flatnonzero(groups.codes == groups.codes[0]).tolist()
    assert equal == ([0, 10, 11, 12] if kind == "zero" else [0, 10, 12])
    assert n_equal == len(equal)
    assert together(readings(500), None) == (None, 0)


def test_a_rare_class_does_not_lessen_the_folds_of_groups() -> None:
    classes = np.repeat([0, 1, 2], [40, 40, 4])
    groups = Groups(np.repeat(np.arange(42), 2).astype(np.uint32))  # class 2 is two groups
    folds = split(84, np.random.RandomState(0), folds=5, classes=classes, groups=groups)
    assert len(folds) == 5
    assert np.sort(np.concatenate([fold.test for fold in folds])).tolist() == list(range(84))
    alone = np.repeat([0, 1, 2], [40, 42, 2])
    folds = split(84, np.random.RandomState(0), folds=5, classes=alone, groups=groups)
    assert all({82, 83} <= set(fold.train.tolist()) for fold in folds)  # its only group is learned from
    # Rows that do not count are learned from, unless their group is held out.
    folds = split(84, np.random.RandomState(0), folds=5, groups=groups, counted=np.arange(0, 84, 2))
    for fold in folds:
        assert (fold.test % 2 == 0).all() and not {*fold.train // 2} & {*fold.test // 2}
        assert len(fold.train) == 84 - 2 * len(fold.test)
