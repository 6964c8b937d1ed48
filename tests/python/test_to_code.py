"""A linear model as text: what the text computes is what the model predicts."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import uncertain
from uncertain.exceptions import ParameterError


def catalogue(n_classes: int, n: int = 240) -> pl.DataFrame:
    rng = np.random.default_rng(n_classes)
    code = rng.integers(0, max(n_classes, 1), n)
    x = rng.normal(size=(n, 2)) * [1.0, 50.0] + 1.5 * np.c_[np.cos(2.1 * code), 50.0 * np.sin(2.1 * code)]
    columns: dict[str, Any] = {"the flux": x[:, 0], 'size"s': x[:, 1]}
    columns |= {"the flux_err": rng.uniform(0.1, 0.5, n), 'size"s_err': rng.uniform(5.0, 25.0, n)}
    y = 3.0 * x[:, 0] - 0.01 * x[:, 1] + 2.0 if n_classes < 2 else np.array(["a", "it's b", "c"])[code]
    return pl.DataFrame(columns | {"kind of": y})


@pytest.mark.parametrize("n_classes", [0, 2, 3])
def test_the_text_predicts_as_the_model(n_classes: int) -> None:
    table = catalogue(n_classes)
    model = uncertain.fit(table, target="kind of", method="gsu", meaning="spread")
    expected = model.predict(table)
    namespace: dict[str, Any] = {}
    exec(model.to_code(), namespace)
    assert namespace["FEATURES"] == ["the flux", 'size"s']
    by_numpy = namespace["predict"](table.select(namespace["FEATURES"]).to_numpy())
    by_sql = table.sql(f"SELECT {model.to_code('sql')} FROM self")
    assert by_sql.columns == ["kind of"]
    for found in (by_numpy, by_sql["kind of"].to_numpy()):
        if n_classes:
            assert found.tolist() == expected.to_list()
        else:
            np.testing.assert_allclose(found, expected.to_numpy(), rtol=1e-12)


def test_what_is_no_formula_of_the_values_is_refused() -> None:
    table = catalogue(2)
    measured = uncertain.fit(table, target="kind of", method="gsu", meaning="measurement")
    with pytest.raises(AttributeError, match="GaussianDenoiser uses the errors of each row"):
        measured.to_code()
    curved = uncertain.fit(table, target="kind of", method="kernel", meaning="spread")
    with pytest.raises(AttributeError, match="not linear"):
        curved.to_code()
    named = table.with_columns(site=pl.Series(["n", "s"] * 120))
    sites = uncertain.fit(named, target="kind of", method="gsu", meaning="spread", categorical=["site"])
    with pytest.raises(AttributeError, match=r"does not write categories \(site\)"):
        sites.to_code("sql")
    with pytest.raises(ParameterError, match='language=\'R\': must be one of "python", "sql"'):
        sites.to_code("R")
