"""Which columns of a table of replicates are measurements, and what the result is called."""

from __future__ import annotations

from typing import Any

import catalogues
import numpy as np
import polars as pl
import pytest

import uncertain
from uncertain.exceptions import ColumnError, ParameterError, UncertainError, UncertainWarning
from uncertain.uncertainty import from_replicates

PATIENTS, REPEATS = 40, 4


def recordings(rng: np.random.Generator) -> dict[str, Any]:
    """Voices: `shimmer` knows a little of the label, everything else is a trap."""
    sick = np.repeat(np.arange(PATIENTS) % 2, REPEATS)
    rows = PATIENTS * REPEATS
    return {
        "patient": np.repeat([f"p{i:02}" for i in range(PATIENTS)], REPEATS),
        "recording": np.tile(np.arange(1, REPEATS + 1), PATIENTS),
        "row": np.arange(rows),
        "status": sick,
        "age": np.repeat(rng.uniform(40, 80, PATIENTS).round(1), REPEATS),
        "sex": np.repeat(rng.choice(["f", "m"], PATIENTS), REPEATS),
        "shimmer": 0.3 * sick + rng.normal(size=rows),
        "pitch": rng.integers(80, 300, rows),  # whole numbers that were measured
    }


def test_labels_and_counters_are_no_features(constructor: Any, rng: np.random.Generator) -> None:
    columns = recordings(rng)
    with pytest.warns(UncertainWarning) as caught:
        guessed = from_replicates(constructor(columns), by="patient", of="mean", covariance="diagonal")
    assert len(caught) == 1 and caught[0].filename == __file__
    assert "no columns of floats: recording, row, pitch." in str(caught[0].message)
    described = ["patient", "status", "age", "sex", "n"]
    assert catalogues.names(guessed) == [*described, "shimmer", "shimmer_se"]
    made = from_replicates(
        constructor(columns), by="patient", of="mean", features=["shimmer", "pitch"], covariance="diagonal"
    )
    assert catalogues.names(made) == [*described, "shimmer", "shimmer_se", "pitch", "pitch_se"]
    assert catalogues.values(made, "status") == [0, 1] * (PATIENTS // 2)
    assert catalogues.values(made, "sex") == columns["sex"][::REPEATS].tolist()
    assert catalogues.values(made, "age") == columns["age"][::REPEATS].tolist()
    repeats = columns["shimmer"].reshape(PATIENTS, REPEATS)
    np.testing.assert_allclose(catalogues.values(made, "shimmer"), repeats.mean(axis=1))
    np.testing.assert_allclose(
        catalogues.values(made, "shimmer_se"), repeats.std(axis=1, ddof=1) / np.sqrt(REPEATS)
    )


def test_a_fit_reads_what_the_covariances_are_of(rng: np.random.Generator) -> None:
    """Standard errors are measurement errors, populations are spread; correlations are found by name."""
    table = pl.DataFrame(recordings(rng)).drop("recording", "row")
    for of, steps in (
        ("mean", ["gaussians", "denoise", "scale", "classify"]),
        ("population", ["gaussians", "scale", "classify"]),
    ):
        made = from_replicates(table, by="patient", of=of, features=["shimmer", "pitch"])
        model = uncertain.fit(made, target="status", exact=[], method="gsu")
        assert model.columns_.features == ("shimmer", "pitch")
        assert list(model.pipeline_.named_steps) == steps
        lists = from_replicates(table, by="patient", of=of, features=["shimmer", "pitch"], columns="lists")
        rows = uncertain.AsGaussians(mean="mean", cov="cov").fit_transform(lists)
        read = model.pipeline_[0].transform(made)
        np.testing.assert_allclose(read.covariances(), rows.covariances(), rtol=1e-12)


def test_scalars_and_lists_are_the_same_gaussians(constructor: Any, rng: np.random.Generator) -> None:
    values = rng.normal(size=(30, 3)) @ rng.normal(size=(3, 3))
    columns = {"g": np.repeat(np.arange(6), 5)} | dict(zip("xyz", values.T, strict=True))
    table = constructor(columns)
    scalars = from_replicates(table, by="g", of="population")
    names = ["x", "x_spread", "y", "y_spread", "z", "z_spread", "x_y_corr", "x_z_corr", "y_z_corr"]
    assert catalogues.names(scalars) == ["g", "n", *names]
    lists = from_replicates(table, by="g", of="population", columns="lists")
    assert catalogues.names(lists) == ["g", "n", "mean", "cov"]
    X = uncertain.AsGaussians(features=["x", "y", "z"], std="{}_spread", corr="{}_{}_corr").fit_transform(
        scalars
    )
    again = uncertain.AsGaussians(mean="mean", cov="cov").fit_transform(lists)
    np.testing.assert_array_equal(X.means, again.means)
    np.testing.assert_allclose(X.covariances(), again.covariances(), rtol=1e-12, atol=1e-14)


def test_a_singular_covariance_survives_as_correlations(rng: np.random.Generator) -> None:
    table = pl.DataFrame(
        {"g": np.repeat(np.arange(20), 2), "x": rng.normal(size=40), "still": [1.0, 2.0] * 20}
    )
    table = table.with_columns(still=pl.lit(3.0), y=2 * pl.col("x"))
    made = from_replicates(table, by="g", of="mean", shrinkage=None, features=["x", "still", "y"])
    assert set(made["x_y_corr"].round(12)) == {1.0} and set(made["x_still_corr"]) == {0.0}
    X = uncertain.AsGaussians(features=["x", "still", "y"], std="{}_se", corr="{}_{}_corr").fit_transform(
        made
    )
    np.testing.assert_allclose(X.covariances()[:, 0, 2], 2 * X.covariances()[:, 0, 0])


def test_what_describes_a_group_keeps_its_type() -> None:
    import datetime as dt

    import pandas as pd

    day = dt.date(2026, 1, 1)
    table = pl.DataFrame(
        {
            "g": [1, 1, 2, 2],
            "day": [day] * 4,
            "gap": [None] * 4,
            "nan": [float("nan")] * 4,
            "x": [1.5, 2, 3, 4],
        },
        schema_overrides={"g": pl.Int8, "gap": pl.Float64},
    ).with_columns(kind=pl.Series(["u", "u", "v", "v"], dtype=pl.Categorical), list=pl.Series([[1, 2]] * 4))
    made = from_replicates(table, by="g", of="mean")
    assert {name: made.schema[name] for name in table.columns} == dict(table.schema)
    frame = pd.DataFrame(
        {"g": [1, 1, 2, 2], "kind": pd.Categorical(list("uuvv")), "x": [1.5, 2, 3, 4]}, index=[7, 8, 9, 9]
    )
    answer = from_replicates(frame, by="g", of="mean")
    assert answer["kind"].dtype == "category" and answer.index.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("change", "options", "error", "message"),
    [
        ({"n": [1, 1, 2, 2]}, {}, ColumnError, "'n' would have the name of one of the table"),
        ({"x_se": [0.1, 0.3, 0.2, 0.4]}, {}, ColumnError, "two new columns would be called 'x_se'"),
        ({}, {"keep": "x"}, ParameterError, "must be a list of column names"),
        ({}, {"features": []}, ParameterError, "name at least one column"),
        ({}, {"keep": ["z"]}, ColumnError, "there is no column 'z'"),
        ({}, {"features": ["x"], "keep": ["x"]}, ParameterError, "as keep= and as features="),
        ({"x": [1.0, 1.0, 2.0, 2.0]}, {}, ColumnError, "no column of floats varies"),
        ({}, {"columns": "wide"}, ParameterError, "columns"),
    ],
)
def test_mistakes(
    change: dict[str, Any], options: dict[str, Any], error: type[UncertainError], message: str
) -> None:
    table = pl.DataFrame({"g": [1, 1, 2, 2], "x": [1.0, 2.5, 2.0, 5.0]} | change)
    with pytest.raises(error, match=message):
        from_replicates(table, **({"by": "g", "of": "mean"} | options))


def test_units_stay(rng: np.random.Generator) -> None:
    table = pytest.importorskip("astropy.table")
    u = pytest.importorskip("astropy.units")
    columns = {
        "g": np.repeat([1, 2, 3], 4),
        "x": rng.normal(size=12) * u.mJy,
        "y": rng.normal(size=12) * u.ABmag,
    }
    for kind in (table.QTable, table.Table, dict):
        made = from_replicates(kind(columns), by="g", of="mean")
        assert (made["x"].unit, made["x_se"].unit, made["y_se"].unit) == (u.mJy, u.mJy, u.mag)
        assert made["y"].unit == u.ABmag
        means = columns["x"].value.reshape(3, 4).mean(axis=1)
        np.testing.assert_allclose(np.asarray(getattr(made["x"], "value", made["x"])), means)
