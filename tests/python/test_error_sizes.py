"""A model remembers how large errors were, and says when those of new rows are not like them."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from catalogues import quick

import uncertain
from uncertain.exceptions import ErrorSizesWarning, UncertainWarning


def stars(n: int, seed: int, factor: float = 1.0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, 2, n)
    errors = factor * np.exp(rng.normal(-1.5, 0.5, size=(n, 2)))
    x = 2.0 * kind[:, None] + rng.normal(size=(n, 2)) + errors * rng.normal(size=(n, 2))
    columns = {"u": x[:, 0], "u_err": errors[:, 0], "g": x[:, 1], "g_err": errors[:, 1]}
    return pl.DataFrame(columns | {"kind": np.array(["star", "quasar"])[kind]})


@pytest.mark.parametrize("method", ["gsu", "kernel", "discriminant", "remeasured"])
def test_rows_like_those_of_the_fit_are_no_surprise(method: str) -> None:
    model = uncertain.fit(stars(300, 0), target="kind", method=method, meaning="spread")  # type: ignore[arg-type]
    for seed in range(5):
        model.predict(stars(400, 1 + seed))
    model.predict(stars(1, 99, 20.0))  # chance, for all that can be known
    model.predict(stars(3, 98, 20.0))


def test_a_method_that_minds_warns_once_with_numbers() -> None:
    model = uncertain.fit(stars(500, 0), target="kind", method="gsu", meaning="spread")
    new = stars(200, 1, 4.0)
    middle = new["u_err"].median()
    with pytest.warns(ErrorSizesWarning) as caught:
        model.predict_proba(new)
    text = str(caught[0].message)
    assert caught[0].filename == __file__
    assert f"{middle:.3g} now" in text and "median error 0.2" in text and "too sure" in text
    assert "u (" in text and "g (" in text
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(new)  # once is enough


@pytest.mark.parametrize("method", ["gsu", "discriminant", "remeasured"])
def test_a_method_that_does_not_mind_is_silent_in_its_range(method: str) -> None:
    model = uncertain.fit(stars(500, 0), target="kind", meaning="measurement", **quick(method))
    if method == "remeasured":
        ends = model.pipeline_[-1].factors_
        model.predict(stars(200, 1, 0.9 * ends[1]))
        model.predict(stars(200, 1, 1.1 * ends[0]))
        beyond, words = 4.0 * ends[1], f"{ends[1]:.3g} times the errors of the fit"
    else:
        model.predict(stars(200, 1, 8.0))
        beyond, words = 60.0, "extrapolates"
    with pytest.warns(ErrorSizesWarning, match=words):
        model.predict(stars(200, 2, beyond))


def test_smaller_errors_and_exact_features() -> None:
    table = stars(500, 0).with_columns(hour=pl.Series(np.arange(500.0)), hour_err=pl.lit(0.0))
    with pytest.warns(UncertainWarning, match="the error bars of hour are zero in every row"):
        model = uncertain.fit(table, target="kind", method="gsu", meaning="spread")
    with pytest.warns(ErrorSizesWarning, match="hour .median error 0 in the fit, 0.5 now; 100 %"):
        model.predict(table.with_columns(hour_err=pl.lit(0.5)))
    with pytest.warns(UncertainWarning, match="zero"):
        again = uncertain.fit(table, target="kind", method="gsu", meaning="spread")
    with pytest.warns(ErrorSizesWarning, match="outside"):
        again.predict(table.with_columns(pl.col("u_err", "g_err") / 100))


def test_in_model_files(tmp_path: Path) -> None:
    model = uncertain.fit(stars(500, 0), target="kind", method="gsu", meaning="spread")
    model.save(tmp_path / "model.safetensors")
    loaded = uncertain.load(tmp_path / "model.safetensors")
    with pytest.warns(ErrorSizesWarning):
        loaded.predict(stars(200, 1, 4.0))
    sizes = model._calibration.sizes
    assert sizes is not None and loaded._calibration.sizes is not None
    np.testing.assert_array_equal(loaded._calibration.sizes.upper, sizes.upper)
