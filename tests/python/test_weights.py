"""``sample_weight=`` of `uncertain.fit`: a column or values, never a feature; see also test_relations.py."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from catalogues import up_or_down
from numpy.testing import assert_allclose

import uncertain
from uncertain import GaussianArray
from uncertain.exceptions import ColumnError, NullError, ParameterError, UncertainError


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


def test_arrays_have_no_columns_of_weights() -> None:
    with pytest.raises(ParameterError, match="sample_weight= names a column of a table"):
        uncertain.fit(np.eye(4), target=[0, 1, 0, 1], sample_weight="w", method="gsu")


def test_estimators_name_row_and_value() -> None:
    for estimator in (uncertain.GSUClassifier(), uncertain.RobustSVC(), uncertain.GaussianDiscriminant()):
        with pytest.raises(UncertainError, match=r"sample_weight: row 2 is -1\.0; a weight must be"):
            estimator.fit(np.eye(4), [0, 1, 0, 1], sample_weight=[1.0, 1.0, -1.0, 1.0])
