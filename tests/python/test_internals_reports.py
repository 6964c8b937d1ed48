"""What reports are made of: measures against scikit-learn, standard errors against simulation, folds,
equal rows, groups, moved features."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import polars as pl
import pytest
import sklearn.metrics as skm
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.pipeline import Pipeline
from test_held_out import readings
from test_report_scores import catalogue

import uncertain
from uncertain import AdaptiveHuberClassifier, GaussianArray, Incomplete
from uncertain._base.folds import split
from uncertain._base.normal_mixtures import NormalMixtures
from uncertain._data.groups import Groups
from uncertain._held_out.equal import equal_rows
from uncertain._held_out.means import standard_error
from uncertain._held_out.widths import most_likely_scatter
from uncertain._report.board import make_board
from uncertain._report.classes import compare
from uncertain._report.coefficients import compared
from uncertain._report.held_out import with_scatter
from uncertain._report.huber import report_of_huber
from uncertain._report.meanings import Meanings
from uncertain._report.metrics import OF_CLASSES, OF_NUMBERS, Answer, Metric
from uncertain._report.pace import Pace
from uncertain._report.regression import compare_regressions


class Probe(BaseEstimator):  # type: ignore[misc]
    """Keeps which rows (by the number in their first feature) were fitted and predicted."""

    fits: ClassVar[list[set[float]]] = []
    predictions: ClassVar[list[set[float]]] = []

    def fit(self, X: Any, y: Any) -> Any:
        self.y_ = y
        self.fits.append(set(X.means[:, 0]))
        return self

    def predict(self, X: Any) -> Any:
        self.predictions.append(set(X.means[:, 0]))
        return np.full(len(X), self.y_[0])

    def decision_function(self, X: Any) -> Any:
        return np.zeros(len(X))


class ProbeClassifier(ClassifierMixin, Probe):
    pass


class ProbeRegressor(RegressorMixin, Probe):
    pass


class HuberProbe(AdaptiveHuberClassifier):
    """Keeps the first feature of the rows of every fit."""

    fits: ClassVar[list[set[float]]] = []

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None) -> Any:
        self.fits.append(set(X.means[:, 0]))
        return super().fit(X, y, sample_weight, groups=groups)


@pytest.mark.parametrize("regression", [False, True])
def test_reports_never_split_a_group(regression: bool) -> None:
    rng = np.random.default_rng(4)
    objects = rng.permutation(np.repeat(np.arange(30), rng.integers(1, 9, 30)))
    n = len(objects)
    data = GaussianArray(np.column_stack([np.arange(n), np.zeros(n)]), std=0.1)
    groups = Groups((objects * 17 % 31).astype(np.uint32), "star")
    Probe.fits, Probe.predictions = [], []
    if regression:
        fitted = Pipeline([("regress", ProbeRegressor().fit(data, np.zeros(n)))])
        Probe.fits.clear()
        report: Any = compare_regressions(
            fitted, data, rng.standard_normal(n), repeats=3, groups=groups, meanings=False
        )
    else:
        fitted = Pipeline([("classify", ProbeClassifier().fit(data, objects % 2))])
        Probe.fits.clear()
        report = compare(
            fitted, data, objects % 2, repeats=3, groups=groups, meanings=False, listed=0, scorers="accuracy"
        )
    # Two fits to all rows, then every fold by the means alone and by the model.
    fits = [fit for k in (0, 1) for fit in Probe.fits[2 + k : 32 : 2]]
    predictions = [rows for k in (0, 1) for rows in Probe.predictions[k:30:2]]
    assert (report.n_groups, report.group, report.to_dict()["group"]) == (30, "star", "star")
    assert len(fits) == len(predictions) == 30
    for fit, test in zip(fits, predictions, strict=True):
        assert fit | test == set(range(n))
        assert not {objects[int(i)] for i in fit} & {objects[int(i)] for i in test}
    # Every row is held out once per repeat, and the repeats are different splits.
    for repeat in range(6):
        assert sum(len(test) for test in predictions[5 * repeat : 5 * repeat + 5]) == n
    assert len({frozenset(test) for test in predictions[:15]}) > 10
    sizes = [len(test) for test in predictions[:5]]
    assert max(sizes) - min(sizes) <= 2


def test_a_huber_report_leaves_out_the_rows_without_label_of_a_group_too() -> None:
    rng = np.random.default_rng(5)
    objects = rng.permutation(np.repeat(np.arange(20), 4))
    y = np.array([["a", "b"][o % 2] for o in objects], dtype=object)
    y[rng.choice(80, 30, replace=False)] = None
    data = GaussianArray(np.column_stack([np.arange(80), rng.standard_normal(80)]), std=0.1)
    model = HuberProbe(max_refinements=1)
    fitted = Pipeline([("classify", model.fit(data, y))])
    groups = Groups(objects.astype(np.uint32), "star")
    HuberProbe.fits = []
    report = report_of_huber(fitted, data, y, repeats=1, groups=groups)
    labelled = {o for o, label in zip(objects.tolist(), y, strict=True) if label is not None}
    assert len(labelled) == report.n_groups == 19  # one star has no label at all, and is always fitted
    assert "50 labels of 80 rows, rows of one star kept together (19 groups)" in str(report)
    assert len(HuberProbe.fits) == 15
    out_of = [set(range(80)) - fit for fit in HuberProbe.fits[::3]]
    held = [{objects[int(i)] for i in out} for out in out_of]
    for groups_out, out in zip(held, out_of, strict=True):
        assert len(out) == 4 * len(groups_out)  # whole groups of four
    assert sorted(g for groups_out in held for g in groups_out) == sorted(labelled)


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


def test_standard_error_counts_splits_and_rows() -> None:
    """Against the spread over many repetitions of a simulated experiment; a little too large is allowed."""
    rng = np.random.default_rng(0)
    splits, rows, luck_of_rows, luck_of_splits = 8, 40, 0.2, 0.1

    def experiment() -> np.ndarray:
        correct = (
            0.8 + luck_of_rows * rng.standard_normal(rows) + luck_of_splits * rng.standard_normal((splits, 1))
        )
        return np.where(np.arange(rows) % 2 == np.arange(splits)[:, None] % 2, correct, np.nan)

    experiments = [experiment() for _ in range(2000)]
    spread = np.std([np.nanmean(e) for e in experiments])
    assert 1.0 <= np.median([standard_error(e) for e in experiments]) / spread <= 1.3


def test_the_jackknife_is_the_spread_over_samples() -> None:
    """Standard errors of slopes from the folds' fits, beside the spread over 200 samples."""
    rng = np.random.default_rng(4)
    slopes, errors, paired = [], [], []
    for _ in range(200):
        x = rng.normal(size=(150, 2))
        y = x @ [1.0, 0.5] + rng.standard_t(5, size=150)

        def slope(rows: np.ndarray, powers: int, x: np.ndarray = x, y: np.ndarray = y) -> np.ndarray:
            w = np.linalg.lstsq(x[rows], y[rows], rcond=None)[0]
            return w * 1.5 if powers else w

        everything = np.arange(150)
        folds = [np.setdiff1d(everything, everything[k::5]) for k in range(5)]
        found = compared(
            {"a": slope(everything, 0), "b": slope(everything, 1)},
            {"a": [slope(f, 0) for f in folds], "b": [slope(f, 1) for f in folds]},
            5,
            ["u", "v"],
        )
        slopes.append(found.values[0])
        errors.append(found.se[0])
        np.testing.assert_allclose(found.difference_se[0, 1], 0.5 * found.se[0])
        paired.append(found.difference_se[0, 0])
    ratio = np.sqrt(np.mean(np.square(errors), axis=0)) / np.std(slopes, axis=0)
    assert np.all((ratio > 0.85) & (ratio < 1.2)), ratio
    assert not np.any(paired)


METRICS = {metric.name: metric for metric in (*OF_CLASSES, *OF_NUMBERS)}


def value(metric: Metric, truth: np.ndarray, answer: Answer, classes: np.ndarray | None = None) -> float:
    rows = metric.by_row(truth, answer, np.unique(truth) if classes is None else classes)
    assert rows is not None and rows.shape == truth.shape
    return float(rows.mean())


@pytest.mark.parametrize("k", [2, 4])
def test_measures_of_classes_are_those_of_scikit_learn(k: int, rng: np.random.Generator) -> None:
    n = 300
    truth = np.array(list("dabc"))[rng.integers(0, k, n)]
    classes, codes = np.unique(truth, return_inverse=True)
    logits = 1.0 * np.eye(k)[codes] + rng.normal(size=(n, k)).round(1)  # with ties
    prob = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    scores = logits[:, 1] - logits[:, 0] if k == 2 else logits
    answer = Answer(np.arange(n), classes[logits.argmax(axis=1)], scores, prob)
    of = {name: value(METRICS[name], truth, answer) for name in (m.name for m in OF_CLASSES)}
    assert of["accuracy"] == pytest.approx(skm.accuracy_score(truth, answer.predicted))
    assert of["balanced_accuracy"] == pytest.approx(skm.balanced_accuracy_score(truth, answer.predicted))
    each = [skm.roc_auc_score(truth == c, logits[:, j]) for j, c in enumerate(classes)]
    auc = skm.roc_auc_score(truth, scores) if k == 2 else np.mean(each)
    assert of["roc_auc"] == pytest.approx(auc)
    assert of["log_loss"] == pytest.approx(skm.log_loss(truth, prob))
    brier = ((prob - np.eye(k)[codes]) ** 2).sum(axis=1).mean()
    assert of["brier"] == pytest.approx(skm.brier_score_loss(codes, prob[:, 1]) if k == 2 else brier)


def test_measures_of_numbers_are_those_of_scikit_learn(rng: np.random.Generator) -> None:
    truth = 3.0 * rng.normal(size=200)
    std = np.full(200, 1.3)
    predicted = truth + std * rng.normal(size=200)
    answer = Answer(np.arange(200), predicted, law=NormalMixtures.normal(predicted, std))
    assert value(METRICS["mae"], truth, answer) == pytest.approx(
        skm.mean_absolute_error(truth, answer.predicted)
    )
    assert value(METRICS["rmse"], truth, answer) == pytest.approx(
        skm.root_mean_squared_error(truth, answer.predicted)
    )
    assert value(METRICS["r2"], truth, answer) == pytest.approx(skm.r2_score(truth, answer.predicted))
    off = np.abs(truth - answer.predicted) / 1.3
    assert value(METRICS["coverage_68"], truth, answer) == np.mean(off <= 0.9944578832097532)
    assert value(METRICS["coverage_95"], truth, answer) == np.mean(off <= 1.959963984540054)


@pytest.mark.parametrize("name", ["balanced_accuracy", "roc_auc", "r2", "rmse"])
def test_standard_errors_of_what_is_no_mean_over_rows(name: str) -> None:
    """The spread of the measure over many samples, beside the standard error of each."""
    rng = np.random.default_rng(3)
    n, found = 250, []
    for _ in range(500):
        if name in ("r2", "rmse"):
            truth = rng.standard_t(8, size=n)
            answer = Answer(np.arange(n), 0.7 * truth + 0.5 * rng.normal(size=n))
        else:
            truth = (rng.random(n) < 0.2).astype(int)
            scores = 1.2 * truth + rng.normal(size=n) - 0.6
            answer = Answer(np.arange(n), (scores > 0).astype(int), scores)
        rows = METRICS[name].by_row(truth, answer, np.array([0, 1]))
        assert rows is not None
        found.append((rows.mean(), standard_error(rows[None, :])))
    values, errors = np.array(found).T
    assert np.median(errors) / values.std() == pytest.approx(1.0, abs=0.1)


def test_a_fold_without_a_class_has_no_auc_and_does_not_count() -> None:
    truth = np.array([0, 1, 0, 1, 0, 0])
    scores = np.array([-1.0, 1.0, -2.0, 0.5, -1.0, 2.0])
    answers = [
        Answer(np.array(rows), (scores[rows] > 0).astype(int), scores[rows])
        for rows in ([0, 1], [2, 3], [4, 5])
    ]
    board = make_board({"means only": answers}, truth, OF_CLASSES, METRICS["roc_auc"], None)
    np.testing.assert_array_equal(board.score("means only").values, [1.0, 1.0, np.nan])
    assert board.score("means only").mean == 1.0 and board.score("means only").se == 0.0
    assert ("means only", "log_loss") not in board.scores


def test_coverage_takes_the_scatter_of_other_folds() -> None:
    rng = np.random.default_rng(2)
    truth = rng.normal(size=4000)
    std = rng.uniform(0.0, 2.0, 4000)
    predicted = truth + np.sqrt(0.5 + std**2) * rng.normal(size=4000)
    parts = np.array_split(rng.permutation(4000), 4)
    laws = NormalMixtures.normal(predicted, std)
    answers = [
        Answer(rows, predicted[rows], law=NormalMixtures(*(part[rows] for part in laws)), whole=False)
        for rows in parts
    ]
    full = with_scatter(answers, truth, 4, most_likely_scatter)
    others = np.concatenate(parts[1:])
    sigma = most_likely_scatter((truth - predicted)[others], std[others] ** 2, np.ones(3000))
    assert sigma == pytest.approx(np.sqrt(0.5), rel=0.05)
    assert full[0].law is not None and full[0].whole
    np.testing.assert_allclose(full[0].law.stds[:, 0], np.sqrt(sigma**2 + std[parts[0]] ** 2))
    wider = with_scatter(answers, truth, 4, lambda *_: 0.0, np.full(4000, 3.0))
    assert wider[1].law is not None
    np.testing.assert_allclose(wider[1].law.stds[:, 0], np.sqrt(9.0 + std[parts[1]] ** 2))
    own = [a._replace(whole=True) for a in answers]  # a law of its own needs no scatter
    alone = with_scatter(own, truth, 4, lambda *_: 1e9, np.full(4000, 3.0))
    assert alone[1].law is not None
    np.testing.assert_allclose(alone[1].law.stds[:, 0], np.sqrt(9.0 + std[parts[1]] ** 2))
    covered = [value(METRICS["coverage_68"], truth[a.rows], a) for a in full]
    assert np.mean(covered) == pytest.approx(0.68, abs=0.02)
    assert with_scatter(answers[:1], truth, 4, most_likely_scatter)[0].law is None


def test_the_clock_stops_before_a_fold_that_would_be_late(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr("time.perf_counter", lambda: now[0])
    pace = Pace(max_seconds=10.0)
    pace.begin(20, 1)
    done = 0
    while not pace.enough(done):
        now[0] += 3.0
        pace.step("a fit", done)
        done += 1
    assert done == 3  # a fourth would end at 12 s


def test_probabilities_of_groups_are_calibrated_on_whole_groups() -> None:
    table = catalogue(120).with_columns(patient=pl.Series(np.arange(120) // 3))
    kinds = np.array(["quasar", "star"])[np.arange(120) // 3 % 2]
    table = table.with_columns(kind=pl.Series(kinds))
    model = uncertain.fit(table, target="kind", groups="patient", meaning="spread", method="gsu")
    report = model.report(table, folds=2, repeats=1, meanings=False, scorers="log_loss")
    data, codes = model.gaussians(table), table["patient"].to_numpy().astype(np.uint32)
    losses = []
    for _, train, test in split(120, np.random.RandomState(0), folds=2, classes=kinds, groups=Groups(codes)):
        fitted = clone(model.pipeline_[1:])
        fitted.fit(data[train], kinds[train], classify__groups=codes[train])
        losses.append(skm.log_loss(kinds[test], fitted.predict_proba(data[test])))
    np.testing.assert_allclose(report.board.score("spread", "log_loss").values, losses)


def meanings_of(**right: np.ndarray) -> Meanings:
    """From who is right in which fold (folds x rows); underscores of names are spaces."""
    truth = np.arange(100) % 2
    rows = np.arange(100)
    answers = {
        name.replace("_", " "): [Answer(rows, np.where(fold, truth, 1 - truth)) for fold in folds]
        for name, folds in right.items()
    }
    return Meanings(make_board(answers, truth, OF_CLASSES[:1], OF_CLASSES[0], None))


def test_a_lead_counts_beyond_two_standard_errors() -> None:
    right = np.ones((4, 100))
    often = right.copy()
    often[:, :30] = 0
    nearly = right.copy()
    nearly[:, 0] = 0
    clear = meanings_of(means_only=often, spread=right)
    assert clear.verdict == 'Best: "spread", by 30.0 +- 4.6 points over "means only".'
    close = meanings_of(means_only=right, spread=nearly)
    assert close.verdict.startswith('No clear winner: "means only" is ahead of "spread" by 1.0')


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
    found = equal_rows(rows)
    assert found is not None
    together = np.flatnonzero(found.groups.codes == found.groups.codes[0]).tolist()
    assert together == ([0, 10, 11, 12] if kind == "zero" else [0, 10, 12])
    assert (found.n_together, found.n_apart) == (len(together), 0)
    assert equal_rows(readings(500)) is None


def test_a_rare_class_does_not_lessen_the_folds_of_groups() -> None:
    classes = np.repeat([0, 1, 2], [40, 40, 4])
    groups = Groups(np.repeat(np.arange(42), 2).astype(np.uint32))  # class 2 is two groups
    folds = split(84, np.random.RandomState(0), folds=5, classes=classes, groups=groups)
    assert len(folds) == 5
    assert np.sort(np.concatenate([fold.test for fold in folds])).tolist() == list(range(84))
    alone = np.repeat([0, 1, 2], [40, 42, 2])
    folds = split(84, np.random.RandomState(0), folds=5, classes=alone, groups=groups)
    assert all({82, 83} <= set(fold.train.tolist()) for fold in folds)  # its only group is learned from
