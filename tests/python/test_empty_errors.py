"""Error columns that were found by name, and hold no number in any row."""

import re
from typing import Any

import numpy as np
import pandas
import polars
import pytest

import uncertain
from uncertain import AsGaussians
from uncertain.exceptions import ColumnError, UncertainWarning

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 2))
TABLE = polars.DataFrame(
    {
        "a": X[:, 0],
        "a_err": [0.1] * 60,
        "teq": X[:, 1],
        "teq_err1": polars.Series([None] * 60, dtype=polars.Float64),
        "teq_err2": polars.Series([None] * 60, dtype=polars.String),
        "kind": np.where(X.sum(axis=1) > 0, "up", "down"),
    }
)


@pytest.mark.parametrize("library", ["polars", "pandas"])
def test_the_feature_is_one_without_error_bars(library: str) -> None:
    table: Any = TABLE if library == "polars" else pandas.DataFrame(TABLE.to_dict(as_series=False))
    with pytest.warns(UncertainWarning) as caught:
        model = uncertain.fit(table, "kind", method="gsu")
    assert [re.split("[;(] ?exact", str(w.message))[0] for w in caught] == [
        "error columns without a number in any row count as absent: teq (teq_err1, teq_err2)",
        "left out: teq (no error column",
    ]
    assert model.feature_names_ == ["a"] and {"teq_err1", "teq_err2"} <= {*model.columns_.ignored}
    taken = uncertain.fit(table, "kind", method="gsu", exact=["teq"])
    assert taken.feature_names_ == ["a", "teq"] and taken.score(table) > model.score(table)
    with pytest.warns(UncertainWarning, match="count as absent: teq"):
        every = uncertain.fit(table, "kind", method="gsu", exact="all")
    assert every.columns_.exact == ("teq",)
    with pytest.warns(UncertainWarning, match="count as absent: teq"):
        rows = AsGaussians().fit_transform(table)
    assert rows.feature_names == ("a",)


def test_columns_that_the_caller_named_are_refused_as_before() -> None:
    with pytest.raises(uncertain.UncertainError, match="teq: in every row the value or its error bar is"):
        uncertain.fit(TABLE, "kind", method="gsu", std={"teq": "teq_err1"}, exact=[])
    with pytest.raises(ColumnError, match=r"teq_err1, teq_err2 of teq \(no number in any row\)"):
        uncertain.fit(TABLE.drop("a", "a_err"), "kind", method="gsu")
