"""Several lists of numbers with error bars are features beside each other, in every library's tables."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pytest

import uncertain
from uncertain.exceptions import ColumnError, UncertainWarning

N = 40
FEATURES = ("flux[0]", "flux[1]", "flux[2]", "col[0]", "col[1]")
LISTS = pl.List(pl.Float64)


@pytest.fixture
def arrays(rng: np.random.Generator) -> dict[str, Any]:
    label = np.repeat(["a", "b"], N // 2)
    flux, col = rng.normal(size=(N, 3)) + 2.0 * (label == "a")[:, None], rng.normal(size=(N, 2))
    errors = rng.uniform(0.1, 0.2, size=(N, 3)), rng.uniform(0.1, 0.2, size=(N, 2))
    return {"flux": flux, "flux_err": errors[0], "col": col, "col_err": errors[1], "label": label}


def lists(arrays: dict[str, Any]) -> pl.DataFrame:
    return pl.DataFrame(arrays).with_columns(pl.exclude("label").cast(LISTS))


FORMS: dict[str, Callable[[dict[str, Any], Path], Any]] = {
    "dict": lambda arrays, _: arrays,
    "Polars arrays": lambda arrays, _: pl.DataFrame(arrays),
    "Polars lists": lambda arrays, _: lists(arrays),
    "Polars, lazy": lambda arrays, _: lists(arrays).lazy(),
    "pyarrow": lambda arrays, _: lists(arrays).to_arrow(),
    "pandas": lambda arrays, _: lists(arrays).to_pandas(),
    "DuckDB": lambda arrays, _: duckdb.from_arrow(lists(arrays).to_arrow()),
    "Parquet": lambda arrays, folder: (
        lists(arrays).write_parquet(folder / "t.parquet") or folder / "t.parquet"
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_lists_with_error_bars_become_features(form: str, arrays: dict[str, Any], tmp_path: Path) -> None:
    table = FORMS[form](arrays, tmp_path)
    with pytest.warns(UncertainWarning, match=r"\(flux, col\) were read as columns x\[0\], x\[1\]"):
        model = uncertain.fit(table, target="label", method="gsu")
    assert model.columns_.features == FEATURES
    rows = model.gaussians(table)
    variances = np.hstack([arrays["flux_err"], arrays["col_err"]]) ** 2
    assert np.allclose(rows.means, np.hstack([arrays["flux"], arrays["col"]]))
    assert np.allclose(np.diagonal(rows.covariances(), axis1=1, axis2=2), variances)
    assert len(np.asarray(model.predict(table))) == N


@pytest.mark.filterwarnings("ignore:.*lists of numbers with error bars")
def test_lists_beside_scalars_and_lists_that_are_asked_for(arrays: dict[str, Any]) -> None:
    few = {name: arrays[name] for name in ("flux", "flux_err", "label")}
    alone = uncertain.fit(few, target="label", method="gsu")
    assert (alone.columns_.mean, alone.columns_.std) == ("flux", "flux_err")  # one pair stays lists
    beside = uncertain.fit({**few, "g": np.arange(N), "g_err": np.ones(N)}, target="label", method="gsu")
    assert beside.columns_.features == (*FEATURES[:3], "g")
    asked = uncertain.fit(arrays, target="label", mean="col", std="col_err", method="gsu")
    assert asked.columns_.mean == "col"


def test_arms_and_variances_of_lists(arrays: dict[str, Any]) -> None:
    err = arrays["flux_err"]
    table = {"flux": arrays["flux"], "flux_err1": err, "flux_err2": -err, "label": arrays["label"]}
    table |= {"col": arrays["col"], "col_var": arrays["col_err"] ** 2}
    with pytest.warns(UncertainWarning, match="lists of numbers"):
        model = uncertain.fit(table, target="label", method="gsu")
    std = np.sqrt(np.diagonal(model.gaussians(table).covariances(), axis1=1, axis2=2))
    assert np.allclose(std, np.hstack([err, arrays["col_err"]]))


def test_lists_that_are_no_vectors(arrays: dict[str, Any]) -> None:
    wide = np.zeros((N, 65))
    table = {**arrays, "col": wide, "col_err": wide + 0.1, "flux_err": wide + 0.1}
    with pytest.raises(
        ColumnError, match=r"lists with error bars: flux \(flux_err\), col \(col_err\); .*mean='flux'"
    ):
        uncertain.fit(table, target="label", method="gsu")
    ragged = lists(arrays).with_columns(
        pl.when(pl.int_range(N) == 30)
        .then(pl.lit([1.0, 2.0, 3.0], dtype=LISTS))
        .otherwise("col")
        .alias("col")
    )
    with pytest.warns(UncertainWarning, match=r"\(flux\) were read"):
        assert uncertain.fit(ragged, target="label", method="gsu").columns_.features == FEATURES[:3]
    late = pl.concat([lists(arrays), lists(arrays), ragged[:30], ragged[30:]])
    with (
        pytest.warns(UncertainWarning, match=r"\(flux, col\) were read"),  # of a query first rows are known
        pytest.raises(ColumnError, match="column 'col' has lists of 2 numbers, and one of 3"),
    ):
        uncertain.fit(pl.concat([late, late]).lazy(), target="label", method="gsu")
