"""``sample_weight=`` of `uncertain.fit`: a column or values, in every step, never a feature."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from catalogues import METHODS, METHODS_OF_NUMBERS, up_or_down
from numpy.testing import assert_allclose
from sklearn.utils.validation import has_fit_parameter

import uncertain
from uncertain import GaussianArray
from uncertain.exceptions import ColumnError, NullError, ParameterError, UncertainError


def scores(model: uncertain.Model, table: pl.DataFrame) -> np.ndarray:
    if model.is_regression_:
        return np.asarray(model.predict(table))
    reading = [model.gaussians(table)] if not model.columns_.features else [table]
    return np.asarray(model.pipeline_.decision_function(reading[0]))


def spoilt(table: pl.DataFrame) -> pl.DataFrame:
    """Every fourth row is nonsense of weight 0, the others weigh 1 or 2."""
    n = len(table)
    weights = np.where(np.arange(n) % 4 == 0, 0, 1 + np.arange(n) % 2)
    odd = pl.Series(weights == 0)
    wild = pl.Series(np.linspace(20.0, 70.0, n))  # all different, or they would look like codes
    return table.with_columns(
        pl.Series("importance", weights),
        u=pl.when(odd).then(wild).otherwise("u"),
        v_err=pl.when(odd).then(wild).otherwise("v_err"),
        height=pl.when(odd).then(-30 * wild).otherwise("height"),
    )


# Re-measured rows are random copies, and scikit-learn's trees count rows for their leaves.
EXACT = [method for method in METHODS if method != "remeasured"]
CASES = [
    *[(method, "label", "spread") for method in EXACT],
    *[(method, "height", "spread") for method in EXACT if method in METHODS_OF_NUMBERS],
    ("gsu", "label", "measurement"),
    ("gsu", "height", "measurement"),
]


@pytest.mark.parametrize(("method", "target", "meaning"), CASES)
def test_weights_count_rows_in_every_step(method: Any, target: str, meaning: Any) -> None:
    """Nothing of a row of weight 0 is seen, and weight 2 is the row twice."""
    table = spoilt(up_or_down(120, 0, 0.3))
    other = "height" if target == "label" else "label"
    params: dict[str, Any] = {}
    if target == "label" and method not in ("discriminant", "mixture", "law"):
        params["probability"] = False
    if method in ("gsu", "kernel", "minimax", "usvc", "tsvc", "ausvc", "psvm"):
        params["tol"] = 1e-9
    if method == "kernel":
        params["sigma"] = 1.5  # a median distance changes where rows are repeated
    if method == "law" and target == "label":
        params["bias_correction"] = None  # degrees of freedom count rows of average weight
    weighted = uncertain.fit(
        table.drop(other), target=target, sample_weight="importance", method=method, meaning=meaning, **params
    )
    counts = table["importance"].to_numpy()
    repeated = table[np.repeat(np.arange(len(table)), counts)].drop(other, "importance")
    twice = uncertain.fit(repeated, target=target, method=method, meaning=meaning, **params)
    clean = up_or_down(120, 1, 0.3)
    assert_allclose(scores(weighted, clean), scores(twice, clean), rtol=1e-2, atol=1e-2)
    assert weighted.columns_.sample_weight == "importance"
    assert "importance" not in weighted.columns_.used
    assert all(has_fit_parameter(step, "sample_weight") for _, step in weighted.pipeline_.steps[-1:])


@pytest.mark.filterwarnings("ignore::uncertain.exceptions.ErrorSizesWarning")
def test_values_frames_and_files(tmp_path: Path) -> None:
    table = spoilt(up_or_down(120, 0, 0.3))
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
        # New rows need no weights.
        assert len(again.predict(table.drop("importance"))) == len(table)
    X = GaussianArray(table["u", "v"].to_numpy(), std=table["u_err", "v_err"].to_numpy())
    array = uncertain.fit(
        X, target=table["label"].to_list(), sample_weight=weights, meaning="spread", method="gsu"
    )
    assert "weights          given as values" in repr(array)


def test_the_scatter_of_a_regression_counts_them() -> None:
    table = spoilt(up_or_down(1200, 0, 0.3)).drop("label")
    weighted = uncertain.fit(table, target="height", sample_weight="importance", method="gsu")
    clean = uncertain.fit(
        table.filter(pl.col("importance") > 0).drop("importance"), target="height", method="gsu"
    )
    blind = uncertain.fit(table.drop("importance"), target="height", method="gsu")
    assert weighted.residual_std_ is not None and clean.residual_std_ is not None
    assert_allclose(weighted.residual_std_, clean.residual_std_, rtol=0.25)
    assert blind.residual_std_ is not None and blind.residual_std_ > 10 * clean.residual_std_ + 1


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
