"""`Model`: what it says about itself, labels it does not know, scikit-learn around it.
`meaning="measurement"` from fit to file, and the report's comparison of meanings."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from test_fit import N, scalars

import uncertain
from uncertain import GaussianArray
from uncertain.exceptions import UncertainError, UncertainWarning


@pytest.fixture(scope="module")
def model() -> uncertain.Model:
    return uncertain.fit(pl.DataFrame(scalars()), method="gsu")


def test_repr_says_what_was_chosen(model: uncertain.Model) -> None:
    text = repr(model)
    for piece in (
        "GSUClassifier",
        "60 rows",
        "u (u_err), v (v_err)",
        "one standard deviation each",
        "high, low",
        "converged",
        "GaussianScaler",
    ):
        assert piece in text
    assert "id" in text.split("left out")[1].splitlines()[0]


def test_column_order_and_other_columns_do_not_matter(model: uncertain.Model) -> None:
    table = pl.DataFrame(scalars())
    shuffled = table.select("v_err", "u", "v", "u_err").with_columns(more=pl.lit(1))
    assert model.predict(shuffled).to_list() == model.predict(table).to_list()


def test_row_order_is_kept(model: uncertain.Model) -> None:
    table = pl.DataFrame(scalars())
    assert model.predict(table.reverse()).to_list() == model.predict(table).to_list()[::-1]


def test_a_missing_column_is_named(model: uncertain.Model) -> None:
    with pytest.raises(UncertainError, match="'label'"):
        model.score(pl.DataFrame(scalars()).drop("label"))


def test_unknown_labels_are_named(model: uncertain.Model) -> None:
    table = pl.DataFrame(scalars() | {"label": ["low"] * 7 + ["medium"] * (N - 7)})
    with pytest.raises(UncertainError, match=r"row 7 is 'medium'.*'high', 'low'"):
        model.score(table)


def test_score_is_accuracy(model: uncertain.Model) -> None:
    table = pl.DataFrame(scalars())
    share = (model.predict(table) == table["label"]).mean()
    assert model.score(table) == pytest.approx(share)
    assert model.score(table, y=table["label"]) == pytest.approx(share)


def test_labels_given_as_values_are_asked_for_again() -> None:
    table = pl.DataFrame(scalars())
    model = uncertain.fit(table.drop("label"), table["label"], method="gsu")
    assert model.predict(table).name == "prediction"
    with pytest.raises(UncertainError, match="pass the labels as y"):
        model.score(table.drop("label"))
    assert model.score(table.drop("label"), table["label"]) > 0.8


@pytest.mark.filterwarnings("ignore::uncertain.exceptions.ErrorSizesWarning")
def test_larger_error_bars_pull_probabilities_to_the_middle(model: uncertain.Model) -> None:
    table = pl.DataFrame(scalars())
    vague = table.with_columns(u_err=pl.lit(30.0), v_err=pl.lit(30.0))
    sure, unsure = (np.abs(model.predict_proba(t)["low"].to_numpy() - 0.5) for t in (table, vague))
    assert unsure.max() < sure.mean()


def test_doubts_are_printed_and_kept(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    y = rng.normal(size=60)
    table = pl.DataFrame({"u": rng.normal(size=60), "u_err": 0.3, "twice": 2.0 * y, "y": y})
    with pytest.warns(UncertainWarning, match="twice is in a fixed relation to 'y'"):
        model = uncertain.fit(table, "y", exact=["twice"], method="gsu")
    model.save(tmp_path / "m")
    for each in (model, uncertain.load(tmp_path / "m")):
        assert "\ndoubts           twice is in a fixed relation to 'y'" in repr(each)


def catalogue(n: int, seed: int) -> tuple[pl.DataFrame, np.ndarray]:
    """Readings of two classes with noise of very different sizes; the true values."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, size=n)
    z = rng.normal(size=(n, 4)) + np.array([1.2, 1.2, 0, 0]) * y[:, None]
    std = np.exp(1.2 * rng.normal(size=(n, 4)))
    x = z + std * rng.normal(size=(n, 4))
    columns = {f"f{j}": x[:, j] for j in range(4)} | {f"f{j}_err": std[:, j] for j in range(4)}
    return pl.DataFrame(columns | {"label": y}), z


@pytest.fixture(scope="module")
def table() -> pl.DataFrame:
    return catalogue(240, 1)[0]


def test_pipeline_file_and_pickle(table: pl.DataFrame, tmp_path: Path) -> None:
    model = uncertain.fit(table, meaning="measurement", method="gsu")
    assert [name for name, _ in model.pipeline_.steps] == ["gaussians", "denoise", "scale", "classify"]
    # The classifier sees true values of unit variance, whatever the noise.
    moved = model.pipeline_[:-1].transform(table)
    spread = moved.means.var(axis=0) + np.diagonal(moved.covariances(), axis1=1, axis2=2).mean(axis=0)
    assert_allclose(spread, 1)
    path = tmp_path / "model.safetensors"
    model.save(path)
    again = uncertain.load(path)
    assert_array_equal(again.predict_proba(table), model.predict_proba(table))
    assert [name for name, _ in again.pipeline_.steps] == ["gaussians", "denoise", "scale", "classify"]
    assert_array_equal(again.pipeline_["denoise"].covariances_, model.pipeline_["denoise"].covariances_)


@pytest.mark.filterwarnings("ignore::uncertain.exceptions.ErrorSizesWarning")
def test_measurement_wins_on_clean_rows_where_it_is_the_truth() -> None:
    train, _ = catalogue(60, 1)
    _, clean = catalogue(2000, 2)
    y = catalogue(2000, 2)[0]["label"].to_numpy()
    columns = {f"f{j}": clean[:, j] for j in range(4)} | {f"f{j}_err": np.zeros(2000) for j in range(4)}
    points = pl.DataFrame(columns)
    spread, measured = (
        uncertain.fit(train, meaning=m, alpha=1e-2, method="gsu") for m in ("spread", "measurement")
    )
    score = [float(np.mean(m.predict(points).to_numpy() == y)) for m in (spread, measured)]
    assert score[1] > score[0] + 0.05, score


def test_report_compares_meanings_on_the_same_folds(table: pl.DataFrame) -> None:
    report = uncertain.fit(table, meaning="measurement", method="gsu").report(table, folds=3, repeats=2)
    spread = report.scores.filter(candidate="spread", measure="accuracy").row(0, named=True)
    assert report.lead.value == pytest.approx(report.score - spread["score"])
    assert report.lead == pytest.approx((-spread["difference"], spread["difference_se"]))
    assert report.meaning_verdict in str(report)
    assert json.loads(json.dumps(report.to_dict()))["meaning_verdict"] == report.meaning_verdict
    # The same comparison from a model of the other meaning.
    other = uncertain.fit(table, meaning="spread", method="gsu").report(table, folds=3, repeats=2)
    assert other.lead == pytest.approx(report.lead, abs=0.02)


def test_no_comparison_without_error_bars_or_if_not_wanted(table: pl.DataFrame) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, size=60)
    exact = GaussianArray(rng.normal(size=(60, 2)) + y[:, None])
    assert uncertain.fit(exact, y, method="gsu").report(exact, y, folds=2, repeats=1).lead is None
    report = uncertain.fit(table, method="gsu").report(table, folds=2, repeats=1, meanings=False)
    assert report.lead is None and report.meaning_verdict == ""
