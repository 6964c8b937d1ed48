"""`Model`: what it says about itself, labels it does not know, scikit-learn around it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from test_fit import N, scalars

import uncertain
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
    with pytest.raises(UncertainError, match="'v_err'"):
        model.predict(pl.DataFrame(scalars()).drop("v_err"))
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


def test_fit_is_reproducible() -> None:
    table = pl.DataFrame(scalars())
    first, second = (uncertain.fit(table, method="gsu").predict_proba(table) for _ in range(2))
    assert first.equals(second)


def test_doubts_are_printed_and_kept(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    y = rng.normal(size=60)
    table = pl.DataFrame({"u": rng.normal(size=60), "u_err": 0.3, "twice": 2.0 * y, "y": y})
    with pytest.warns(UncertainWarning, match="twice is in a fixed relation to 'y'"):
        model = uncertain.fit(table, "y", exact=["twice"], method="gsu")
    model.save(tmp_path / "m")
    for each in (model, uncertain.load(tmp_path / "m")):
        assert "\ndoubts           twice is in a fixed relation to 'y'" in repr(each)
