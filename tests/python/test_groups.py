"""Rows of one object: held out together where probabilities are calibrated and where a report compares."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import polars as pl
import pytest
import sklearn
from numpy.typing import NDArray
from scipy.optimize import minimize
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.metrics import log_loss
from sklearn.model_selection import GroupKFold, cross_validate
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_random_state
from test_fit import MAKERS, scalars

import uncertain
from uncertain import (
    AdaptiveHuberClassifier,
    Columns,
    GaussianArray,
    GSUClassifier,
    MinimaxProbabilityClassifier,
    ProbabilisticKernelSVC,
    RobustSVC,
    _uncertain,
)
from uncertain._report.classes import compare
from uncertain._report.held_out import standard_error
from uncertain._report.huber import report_of_huber
from uncertain._report.regression import compare_regressions
from uncertain.exceptions import ColumnError, NullError, ParameterError, ShapeError, UncertainError
from uncertain.tables._groups import Groups

D = 20


def visits(
    rng: np.random.Generator, n_objects: int, each: int | None = None
) -> tuple[GaussianArray, NDArray[np.str_], NDArray[np.int64]]:
    """(rows, labels, objects): an object has a class and a place of its own, of which rows are readings."""
    kind = np.arange(n_objects) % 2
    centres = rng.standard_normal((n_objects, D)) + 0.6 * np.outer(2 * kind - 1, np.arange(D) == 0)
    sizes = rng.integers(2, 9, n_objects) if each is None else np.full(n_objects, each)
    objects = rng.permutation(np.repeat(np.arange(n_objects), sizes))
    std = 0.2 * np.ones((len(objects), D))
    return (
        GaussianArray(centres[objects] + std * rng.standard_normal(std.shape), std=std),
        np.array(["healthy", "ill"])[kind[objects]],
        objects,
    )


def table_of(rows: GaussianArray, labels: Any, objects: NDArray[np.int64]) -> pl.DataFrame:
    return pl.DataFrame(
        {"mean": rows.means, "std": np.full(rows.means.shape, 0.2), "label": labels, "patient": objects},
        schema_overrides={"mean": pl.Array(pl.Float64, D), "std": pl.Array(pl.Float64, D)},
    )


# What the groups are for.


def test_a_grouped_report_says_what_new_objects_will_show_and_an_ungrouped_one_promises_too_much() -> None:
    rng = np.random.default_rng(0)
    ungrouped, grouped, truth, wrong_se, right_se = [], [], [], [], []
    for _ in range(4):
        table = table_of(*visits(rng, 60))
        model = uncertain.fit(table, groups="patient", probability=False, method="gsu")
        new = table_of(*visits(rng, 1000, each=2))
        truth.append(model.score(new))
        report = model.report(table, repeats=2, meanings=False)
        assert report.n_groups == 60
        assert "rows of one patient kept together (60 groups)" in str(report)
        grouped.append(report.score)
        right_se.append(report.score_se)
        single = model.report(table, repeats=2, meanings=False, groups=False)
        assert single.n_groups is None
        assert "kept together" not in str(single)
        ungrouped.append(single.score)
        wrong_se.append(single.score_se)
    assert np.mean(ungrouped) - np.mean(truth) > 0.1
    assert abs(np.mean(grouped) - np.mean(truth)) < 2 * np.mean(right_se) / np.sqrt(4)
    assert np.min(np.subtract(ungrouped, truth)) > 2 * np.max(wrong_se)
    assert np.mean(right_se) > 1.5 * np.mean(wrong_se)


@pytest.mark.parametrize(
    "estimator",
    [
        GSUClassifier(probability=True, random_state=0),
        ProbabilisticKernelSVC(sigma=4.0, probability=True, random_state=0),
        AdaptiveHuberClassifier(probability=True, random_state=0),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_probabilities_of_new_objects_are_better_when_groups_are_held_out(estimator: Any) -> None:
    rng = np.random.default_rng(1)
    with_groups, without = [], []
    for _ in range(3):
        rows, labels, objects = visits(rng, 60)
        new_rows, new_labels, _ = visits(rng, 500, each=1)
        estimator.fit(rows, labels, groups=objects)
        with_groups.append(log_loss(new_labels, estimator.predict_proba(new_rows)))
        estimator.fit(rows, labels)
        without.append(log_loss(new_labels, estimator.predict_proba(new_rows)))
    assert np.mean(with_groups) < np.log(2)  # better than knowing nothing
    assert np.mean(without) - np.mean(with_groups) > 0.1, (with_groups, without)


# Folds that calibrate.


def sigmoid_of(scores: NDArray[np.float64], positive: NDArray[np.bool_]) -> tuple[float, float]:
    """Platt's sigmoid by another optimiser."""
    n = positive.sum(), (~positive).sum()
    target = np.where(positive, (n[0] + 1) / (n[0] + 2), 1 / (n[1] + 2))

    def loss(ab: NDArray[np.float64]) -> float:
        x = ab[0] * scores + ab[1]
        return float(np.sum(np.logaddexp(0.0, x) - (1 - target) * x))

    start = [0.0, np.log((n[1] + 1) / (n[0] + 1))]
    options = {"xatol": 1e-10, "fatol": 1e-13, "maxiter": 5000}
    found = minimize(loss, start, method="Nelder-Mead", options=options)
    return tuple(found.x)


@pytest.mark.parametrize(
    "estimator",
    [
        GSUClassifier(1e-2, tol=1e-10),
        GSUClassifier(1e-2, kernel="rbf", tol=1e-10),
        RobustSVC(method="usvc", tol=1e-10),
        MinimaxProbabilityClassifier(),
        ProbabilisticKernelSVC(sigma=1.0),
        ProbabilisticKernelSVC(sigma=1.0, n_components=20),
        AdaptiveHuberClassifier(),
    ],
    ids=str,
)
def test_sigmoids_come_from_scores_of_groups_that_were_held_out(estimator: Any) -> None:
    """The calibration done again by hand, with the folds of the groups."""
    rng = np.random.default_rng(2)
    objects = np.repeat(np.arange(18), rng.integers(1, 6, 18))
    labels = objects % 2
    X = (
        rng.standard_normal((18, 2))[objects]
        + 0.7 * labels[:, None]
        + 0.3 * rng.standard_normal((len(objects), 2))
    )
    order = rng.permutation(len(objects))
    objects, labels, X = objects[order], labels[order], X[order]
    seed = int(check_random_state(3).randint(2**31 - 1))
    numbers = np.unique(objects, return_inverse=True)[1].astype(np.uint32)
    fold = _uncertain.group_folds(labels.astype(np.uint32), 2, numbers, 5, seed)

    estimator.set_params(random_state=3)
    scores = np.empty(len(labels))
    for k in range(5):
        out = fold == k
        if isinstance(estimator, AdaptiveHuberClassifier):  # the row stays, its label goes
            held = [None if o else label for o, label in zip(out, labels.tolist(), strict=True)]
            estimator.fit(X, np.array(held, dtype=object))
        elif (
            isinstance(estimator, GSUClassifier) and estimator.kernel == "rbf"
        ):  # the feature space is of all rows
            space = estimator.fit(X, labels).kernel_map_
            linear = GSUClassifier(1e-2, tol=1e-10).fit(space.transform(X), labels, sample_weight=~out)
            scores[out] = linear.decision_function(space.transform(X[out]))
            continue
        else:
            estimator.fit(X, labels, sample_weight=(~out).astype(float))
        scores[out] = estimator.decision_function(X[out])
    a, b = sigmoid_of(scores, labels == 1)
    estimator.set_params(probability=True)
    estimator.fit(X, labels, groups=[f"object {o}" for o in objects])
    expected = 1 / (1 + np.exp(a * estimator.decision_function(X) + b))
    np.testing.assert_allclose(estimator.predict_proba(X)[:, 1], expected, atol=1e-5)
    # Other rows held out, another sigmoid; the scores are the same.
    before = estimator.decision_function(X)
    estimator.fit(X, labels)
    assert np.abs(estimator.predict_proba(X)[:, 1] - expected).max() > 1e-3
    np.testing.assert_array_equal(estimator.decision_function(X), before)


def test_rows_without_weight_do_not_matter_and_names_of_groups_neither(rng: np.random.Generator) -> None:
    rows, labels, objects = visits(rng, 20)
    model = GSUClassifier(probability=True, random_state=0)
    expected = model.fit(rows, labels, groups=objects).predict_proba(rows)
    renamed = np.array([f"p{(7 * o) % 20}" for o in objects])
    np.testing.assert_array_equal(model.fit(rows, labels, groups=renamed).predict_proba(rows), expected)
    twice = np.r_[np.arange(len(rows)), 0, 1]
    weights = np.r_[np.ones(len(rows)), 0.0, 0.0]
    strange = np.r_[renamed, ["alone", "also alone"]]
    model.fit(rows[twice], labels[twice], weights, groups=strange)
    np.testing.assert_allclose(model.predict_proba(rows), expected, rtol=1e-9)
    svc = ProbabilisticKernelSVC(sigma=4.0, probability=True, random_state=0)
    expected = svc.fit(rows, labels, groups=objects).predict_proba(rows)
    svc.fit(rows[twice], labels[twice], weights, groups=strange)
    np.testing.assert_allclose(svc.predict_proba(rows), expected, rtol=1e-9)


def test_metadata_routing_brings_groups_to_the_splitter_and_the_fit(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows, labels, objects = visits(rng, 24)
    seen: list[Any] = []
    fit = GSUClassifier.fit

    def spy(self: Any, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None) -> Any:
        seen.append(groups)
        return fit(self, X, y, sample_weight, groups=groups)

    monkeypatch.setattr(GSUClassifier, "fit", spy)
    model = GSUClassifier(probability=True, random_state=0)
    with sklearn.config_context(enable_metadata_routing=True):
        cross_validate(model, rows, labels, cv=GroupKFold(3), params={"groups": objects}, error_score="raise")
        assert [len(np.unique(groups)) for groups in seen] == [16, 16, 16]
        # The one-liner passes its parameters by step, whatever is switched on.
        table = table_of(rows, labels, objects)
        assert uncertain.fit(table, groups="patient", method="gsu").columns_.groups == "patient"
        assert len(np.unique(seen[3])) == 24


# Reports.


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
            fitted,
            data,
            objects % 2,
            repeats=3,
            groups=groups,
            meanings=False,
            listed=0,
            scorers="accuracy",
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


class HuberProbe(AdaptiveHuberClassifier):
    """Keeps the first feature of the rows of every fit."""

    fits: ClassVar[list[set[float]]] = []

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None) -> Any:
        self.fits.append(set(X.means[:, 0]))
        return super().fit(X, y, sample_weight, groups=groups)


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


def test_groups_of_one_row_are_no_groups(rng: np.random.Generator) -> None:
    table = pl.DataFrame(scalars())
    model = uncertain.fit(table, method="gsu")
    grouped = model.report(table, groups="id", repeats=6, meanings=False)
    single = model.report(table, repeats=6, meanings=False)
    assert grouped.n_groups == 60
    assert abs(grouped.score - single.score) < single.score_se
    assert grouped.score_se == pytest.approx(single.score_se, rel=0.2)


def test_a_regression_report_of_groups(rng: np.random.Generator) -> None:
    objects = np.repeat(np.arange(30), 6)
    centre = rng.standard_normal((30, D))
    means = centre[objects] + 0.1 * rng.standard_normal((180, D))
    table = pl.DataFrame(
        {"mean": means, "y": (centre[:, 0] + rng.standard_normal(30))[objects] + 0.1, "star": objects},
        schema_overrides={"mean": pl.Array(pl.Float64, D)},
    )
    model = uncertain.fit(table, "y", mean="mean", std=None, groups="star", task="regression", method="gsu")
    report: Any = model.report(table, repeats=1)
    single: Any = model.report(table, repeats=1, groups=False)
    assert "180 rows, rows of one star kept together (30 groups)" in str(report)
    assert report.error > 1.5 * single.error
    assert report.n_groups == 30
    with pytest.raises(
        UncertainError, match=r"5 folds of whole groups needs at least 5 groups, .* of 3; pass"
    ):
        model.report(table, groups=objects % 3)


# What users pass.


@pytest.mark.parametrize("maker", MAKERS)
def test_a_column_of_any_table(maker: Any) -> None:
    columns = scalars() | {"patient": [f"p{i // 4}" for i in range(60)], "patient_err": np.ones(60)}
    columns["label"] = ["ab"[(i // 4) % 2] for i in range(60)]
    table = maker(columns)
    model = uncertain.fit(table, groups="patient", method="gsu")
    assert model.columns_.features == ("u", "v")
    assert "patient" not in model.columns_.ignored
    assert "groups     patient (its rows stay together)" in repr(model)
    features = ["u", "v"]  # without groups= the column with error bars of its own would be one
    values = uncertain.fit(table, features=features, groups=np.array(columns["patient"]), method="gsu")
    assert "groups     given as values" in repr(values)
    np.testing.assert_array_equal(values.pipeline_.predict_proba(table), model.pipeline_.predict_proba(table))
    other = uncertain.fit(table, features=features, method="gsu").pipeline_.predict_proba(table)
    assert np.abs(other - model.pipeline_.predict_proba(table)).max() > 1e-6
    report = model.report(table, repeats=1, meanings=False)
    assert report.to_dict()["n_groups"] == 15
    with pytest.raises(ParameterError, match="groups that were given as values: pass those"):
        values.report(table)
    again = values.report(table, repeats=1, meanings=False, groups=columns["patient"])
    assert again.score == report.score
    assert "rows of one group kept together (15 groups)" in str(again)


def test_arrays_with_groups(rng: np.random.Generator) -> None:
    rows, labels, objects = visits(rng, 20)
    model = uncertain.fit(rows, labels, groups=objects, method="gsu")
    report = model.report(rows, labels, groups=objects, repeats=1, meanings=False)
    assert report.n_groups == 20
    with pytest.raises(
        ParameterError, match="groups= names a column of a table, but a GaussianArray has none"
    ):
        uncertain.fit(rows, labels, groups="patient", method="gsu")
    with pytest.raises(ParameterError, match="'patient' names a column of a table, but these rows have none"):
        model.report(rows, labels, groups="patient")


def test_methods_without_folds_keep_the_groups_for_the_report(rng: np.random.Generator) -> None:
    table = table_of(*visits(rng, 20))
    model = uncertain.fit(table, method="discriminant", groups="patient")
    assert model.report(table, repeats=1).n_groups == 20
    assert model.report(table, repeats=1).meanings is not None


def test_files_keep_the_name_of_the_column(rng: np.random.Generator, tmp_path: Any) -> None:
    table = table_of(*visits(rng, 20))
    for groups in ("patient", table["patient"].to_list()):
        model = uncertain.fit(table, groups=groups, exact=[], method="gsu")
        model.save(tmp_path / "model.safetensors")
        loaded = uncertain.load(tmp_path / "model.safetensors")
        assert loaded.columns_ == model.columns_
        assert loaded.columns_.groups == ("patient" if groups == "patient" else True)
    plain = Columns("label", mean="mean", std="std").to_dict()
    assert "groups" not in plain  # as files of earlier versions, and for them
    assert Columns.from_dict(plain).groups is None


def test_what_is_wrong_with_groups_is_said_before_any_work(rng: np.random.Generator) -> None:
    rows, labels, objects = visits(rng, 20)
    table = table_of(rows, labels, objects)

    def refused(kind: type[Exception], match: str, table: Any = table, **given: Any) -> None:
        with pytest.raises(kind, match=match):
            uncertain.fit(table, exact=[], **{"method": "gsu"} | given)

    refused(ColumnError, "no column 'patients'; did you mean 'patient'", groups="patients")
    refused(ColumnError, "column 'label' is given as target and as groups", groups="label")
    refused(
        ColumnError, "column 'std' is given as error bars and as groups", std="std", mean="mean", groups="std"
    )
    nulls = table.with_columns(patient=pl.when(pl.col("patient") != 3).then("patient"))
    first = int(np.argmax(objects == 3))
    refused(NullError, f"patient: row {first} has no group; drop such rows", nulls, groups="patient")
    refused(ShapeError, f"groups: expected {len(rows)} groups, one per row, got 2", groups=[1, 2])
    refused(UncertainError, r"groups: row 0 is \[1\]; a group is one value", groups=[[1]] * len(rows))
    refused(ParameterError, "groups=7: must be the groups of the rows", groups=7)
    alone = [str(o) if label == "ill" else "x" for o, label in zip(objects, labels, strict=True)]
    refused(UncertainError, "class 'healthy' has rows in one group only", groups=alone)
    model = uncertain.fit(table, groups=alone, exact=[], probability=False, method="gsu")
    with pytest.raises(UncertainError, match="class 'healthy' has rows in one group only: cross-validation"):
        model.report(table, groups=alone)
    with pytest.raises(ColumnError, match=r"no column 'patient'.*the groups of the fit; pass another"):
        uncertain.fit(table, groups="patient", method="gsu").report(table.drop("patient"))
    for estimator in (GSUClassifier(), ProbabilisticKernelSVC(), AdaptiveHuberClassifier()):
        with pytest.raises(NullError, match="groups: row 1 has no group"):
            estimator.fit(rows, labels, groups=[0.0, np.nan] * (len(rows) // 2) + [0.0] * (len(rows) % 2))
        with pytest.raises(ParameterError, match="groups='patient': must be the groups"):
            estimator.fit(rows, labels, groups="patient")
        with pytest.raises(UncertainError, match="class 'healthy' has rows in one group only, and prob"):
            estimator.set_params(probability=True).fit(rows, labels, groups=alone)
