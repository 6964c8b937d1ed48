"""`uncertain.fit(method="huber")`: tables whose target is partly null, regression and classification."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import uncertain
from uncertain import AdaptiveHuberClassifier, AdaptiveHuberRegressor
from uncertain.exceptions import UncertainError

N = 80


def columns() -> dict[str, Any]:
    """A target with nulls and one gross error, a class with nulls."""
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 6, N)
    y = [None if i % 5 == 4 else float(np.sin(x[i])) + 8.0 * (i == 10) for i in range(N)]
    kind = [None if i % 5 == 4 else ("up" if np.sin(x[i]) > 0 else "down") for i in range(N)]
    return {"x": x.tolist(), "x_err": rng.uniform(0.01, 0.1, N).tolist(), "y": y, "kind": kind}


@pytest.mark.parametrize("make", [pl.DataFrame, pa.table, pd.DataFrame])
def test_null_targets_are_unlabelled_rows(make: Any) -> None:
    table = make({name: values for name, values in columns().items() if name != "kind"})
    model = uncertain.fit(table, "y", method="huber", alpha=1e-3, delta=2.0, max_refinements=1)
    last = model.pipeline_[-1]
    assert isinstance(last, AdaptiveHuberRegressor)
    assert last.n_labels_ == N - N // 5
    assert last.removed_.tolist() == [10]
    predicted = model.predict(table)
    assert isinstance(predicted, {pl.DataFrame: pl.Series, pa.table: pa.ChunkedArray}.get(make, pd.Series))
    truth = np.sin(np.array(columns()["x"]))
    assert np.abs(np.asarray(predicted.to_numpy()) - truth).max() < 0.2
    assert model.classes_ is None
    assert model.score(table) < model.score(table, truth)
    assert model.score(table, truth) > 0.99
    assert "AdaptiveHuberRegressor" in repr(model)
    assert "refinements_done" in repr(model)


def test_classes_with_nulls() -> None:
    table = pl.DataFrame({name: values for name, values in columns().items() if name != "y"})
    model = uncertain.fit(table, "kind", method="huber", alpha=1e-3)
    assert isinstance(model.pipeline_[-1], AdaptiveHuberClassifier)
    assert model.classes_.tolist() == ["down", "up"]
    known = table.filter(pl.col("kind").is_not_null())
    assert model.score(known) > 0.95
    assert "down, up" in repr(model)
    probabilities = model.predict_proba(table)
    assert probabilities.columns == ["down", "up"]
    likely = (probabilities["up"] > 0.5).to_numpy()
    assert np.mean(likely == (np.sin(np.array(columns()["x"])) > 0)) > 0.95
    plain = uncertain.fit(table, "kind", method="huber", alpha=1e-3, probability=False)
    assert plain.predict(table).equals(model.predict(table))
    with pytest.raises(UncertainError, match="probability=True"):
        plain.predict_proba(table)


def test_the_task_is_chosen_by_the_target() -> None:
    x = np.arange(40.0)[:, None]
    assert uncertain.fit(x, list(range(40)), method="huber").classes_ is None
    assert uncertain.fit(x, [0, 1] * 20, method="huber").classes_.tolist() == [0, 1]
    numbers = [0.0, 1.0] * 20
    assert uncertain.fit(x, numbers, method="huber").classes_ is None
    assert uncertain.fit(x, numbers, method="huber", task="classification").classes_.tolist() == [0, 1]
    assert uncertain.fit(x, [0, 1] * 20, method="huber", task="regression").classes_ is None


def test_what_cannot_be_used_is_refused() -> None:
    x = np.arange(6.0)[:, None]
    for target, task, match in (
        ([None] * 6, "auto", "no row has a label"),
        (["a", None, "b", "c", "d", "e"], "regression", "row 0 is 'a'"),
        ([1.0, 2.0], "auto", "expected 6"),
        ([0, 1] * 3, "ranking", "task"),
    ):
        with pytest.raises(UncertainError, match=match):
            uncertain.fit(x, target, method="huber", task=task)
    with pytest.raises(UncertainError, match="unknown parameter 'C'"):
        uncertain.fit(x, [0, 1] * 3, method="huber", C=1.0)
    model = uncertain.fit(x, [0.5, 1.5] * 3, method="huber")
    with pytest.raises(UncertainError, match="at least 10 labels"):
        model.report(x, [0.5, 1.5] * 3)
    for name in ("unlabeled", "probability"):
        with pytest.raises(UncertainError, match=f"{name}= is for classes"):
            uncertain.fit(x, [0.5, 1.5] * 3, method="huber", **{name: 1})
    with pytest.raises(UncertainError, match=r"class .b. has a single row"):
        uncertain.fit(x, ["a", "b", None, None, "a", None], method="huber")
    with pytest.raises(UncertainError, match="pass the numbers"):
        model.score(x)
