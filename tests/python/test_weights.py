"""``sample_weight=`` and ``groups=`` of `uncertain.fit`: columns or values, never features (see also
test_relations.py); rows of one object are held out together."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from catalogues import up_or_down
from numpy.testing import assert_allclose
from numpy.typing import NDArray
from sklearn.model_selection import GroupKFold, cross_validate
from test_fit import MAKERS, scalars

import uncertain
from uncertain import AdaptiveHuberClassifier, GaussianArray, GSUClassifier, ProbabilisticKernelSVC
from uncertain.exceptions import ColumnError, NullError, ParameterError, ShapeError, UncertainError


@pytest.mark.filterwarnings("ignore::uncertain.exceptions.ErrorSizesWarning")
def test_values_frames_and_files(tmp_path: Path) -> None:
    table = up_or_down(120, 0, 0.3).with_columns(importance=pl.int_range(120) % 3)
    weights = table["importance"]
    named = uncertain.fit(table.drop("height"), sample_weight="importance", method="gsu")
    assert "weights          importance" in repr(named)
    for given in (weights, weights.to_list(), weights.to_numpy(), pd.Series(weights.to_numpy())):
        model = uncertain.fit(table.drop("height", "importance"), sample_weight=given, method="gsu")
        assert_allclose(model.predict_proba(table)["up"], named.predict_proba(table)["up"], rtol=1e-9)
        assert "weights          given as values" in repr(model)
    frame = uncertain.fit(table.drop("height").to_pandas(), sample_weight="importance", method="gsu")
    assert_allclose(frame.pipeline_[-1].coef_, named.pipeline_[-1].coef_, rtol=1e-9)
    named.save(tmp_path / "model")
    for again in (uncertain.load(tmp_path / "model"), pickle.loads(pickle.dumps(model))):
        assert again.columns_.sample_weight in ("importance", True)
        assert "importance" not in again.columns_.used
        # New rows need no weights.
        assert len(again.predict(table.drop("importance"))) == len(table)
    X = GaussianArray(table["u", "v"].to_numpy(), std=table["u_err", "v_err"].to_numpy())
    array = uncertain.fit(
        X, target=table["label"].to_list(), sample_weight=weights, meaning="spread", method="gsu"
    )
    assert "weights          given as values" in repr(array)


@pytest.mark.parametrize(
    ("weights", "error", "message"),
    [
        ([1.0] * 119 + [-2.0], UncertainError, "row 119 is -2.0; a weight must be a finite number >= 0"),
        ([1.0] * 7 + [float("inf")] + [1.0] * 112, UncertainError, "row 7 is inf"),
        ([1.0] * 7 + [None] + [1.0] * 112, NullError, "row 7 has no weight"),
        ([0] * 120, UncertainError, "every weight is 0"),
        (["much"] * 120, UncertainError, "row 0 is 'much'"),
        ([1.0] * 3, UncertainError, "expected 120 weights, one per row, got 3"),
        ("heavy", ColumnError, "there is no column 'heavy'"),
        ("u", None, ""),
        ("label", ColumnError, "given as target and as sample_weight"),
    ],
)
def test_wrong_weights(weights: Any, error: Any, message: str) -> None:
    table = up_or_down(120, 0, 0.3).drop("height")
    if error is None:
        with pytest.raises(ColumnError, match="given as features and as sample_weight"):
            uncertain.fit(table, features=["u", "v"], std="{}_err", sample_weight=weights, method="gsu")
        return
    with pytest.raises(error, match=message):
        uncertain.fit(table, sample_weight=weights, method="gsu")
    if isinstance(weights, list) and len(weights) == 120:
        with pytest.raises(error, match=message.replace("sample_weight", "importance")):
            uncertain.fit(
                table.with_columns(pl.Series("importance", weights)), sample_weight="importance", method="gsu"
            )


def test_estimators_name_row_and_value() -> None:
    for estimator in (uncertain.GSUClassifier(), uncertain.RobustSVC(), uncertain.GaussianDiscriminant()):
        with pytest.raises(UncertainError, match=r"sample_weight: row 2 is -1\.0; a weight must be"):
            estimator.fit(np.eye(4), [0, 1, 0, 1], sample_weight=[1.0, 1.0, -1.0, 1.0])


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


# Folds that calibrate.


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
    assert report.score > 1.5 * single.score
    assert report.n_groups == 30
    assert model.report(table, groups=objects % 3, repeats=1).folds == 3


# What users pass.


@pytest.mark.parametrize("maker", MAKERS)
def test_a_column_of_any_table(maker: Any) -> None:
    columns = scalars() | {"patient": [f"p{i // 4}" for i in range(60)], "patient_err": np.ones(60)}
    columns["label"] = ["ab"[(i // 4) % 2] for i in range(60)]
    columns["u"] = columns["u"] + 1.0 * (np.array(columns["label"]) == "b")
    table = maker(columns)
    model = uncertain.fit(table, groups="patient", method="gsu", exact=[])
    assert model.columns_.features == ("u", "v")
    assert "patient" not in model.columns_.ignored
    assert "groups (patient)" in repr(model)
    features = ["u", "v"]  # without groups= the column with error bars of its own would be one
    values = uncertain.fit(table, features=features, groups=np.array(columns["patient"]), method="gsu")
    assert "groups (given as values)" in repr(values)
    np.testing.assert_array_equal(values.pipeline_.predict_proba(table), model.pipeline_.predict_proba(table))
    other = uncertain.fit(table, features=features, method="gsu").pipeline_.predict_proba(table)
    assert np.abs(other - model.pipeline_.predict_proba(table)).max() > 1e-6
    report = model.report(table, repeats=1, meanings=False)
    assert report.to_dict()["n_groups"] == 15
    with pytest.raises(ParameterError, match=r"groups as values, not as a column. Pass the groups"):
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
    assert model.report(table, repeats=1).lead is not None


def test_files_keep_the_name_of_the_column(rng: np.random.Generator, tmp_path: Any) -> None:
    table = table_of(*visits(rng, 20))
    for groups in ("patient", table["patient"].to_list()):
        model = uncertain.fit(table, groups=groups, exact=[], method="gsu")
        model.save(tmp_path / "model.safetensors")
        loaded = uncertain.load(tmp_path / "model.safetensors")
        assert loaded.columns_ == model.columns_
        assert loaded.columns_.groups == ("patient" if groups == "patient" else True)
    uncertain.fit(table, exact=[], method="gsu").save(tmp_path / "model.safetensors")
    assert uncertain.load(tmp_path / "model.safetensors").columns_.groups is None


def test_what_is_wrong_with_groups_is_said_before_any_work(rng: np.random.Generator) -> None:
    rows, labels, objects = visits(rng, 20)
    table = table_of(rows, labels, objects)

    def refused(kind: type[Exception], match: str, table: Any = table, **given: Any) -> None:
        with pytest.raises(kind, match=match):
            uncertain.fit(table, exact=[], **{"method": "gsu"} | given)

    refused(ColumnError, "no column 'patients'; did you mean 'patient'", groups="patients")
    refused(ColumnError, "column 'label' is given as target and as groups", groups="label")
    refused(ColumnError, "column 'std' is given as std and as groups", std="std", mean="mean", groups="std")
    nulls = table.with_columns(patient=pl.when(pl.col("patient") != 3).then("patient"))
    first = int(np.argmax(objects == 3))
    refused(NullError, f"patient: row {first} has no group; drop such rows", nulls, groups="patient")
    refused(ShapeError, f"groups: expected {len(rows)} groups, one per row, got 2", groups=[1, 2])
    refused(UncertainError, r"groups: row 0 is \[1\]; a group is one value", groups=[[1]] * len(rows))
    refused(ParameterError, "groups=7: must be the groups of the rows", groups=7)
    alone = [str(o) if label == "ill" else "x" for o, label in zip(objects, labels, strict=True)]
    refused(UncertainError, "class 'healthy' has rows in one group only", groups=alone)
    model = uncertain.fit(table, groups=alone, exact=[], probability=False, method="gsu")
    with pytest.raises(UncertainError, match=r"class .healthy. has rows in one group only, and cross-val"):
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
