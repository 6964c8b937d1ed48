"""Limits in tables: columns of flags, in `uncertain.fit` and what it makes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas
import polars
import pytest
from click.testing import CliRunner
from sklearn.ensemble import HistGradientBoostingClassifier

import uncertain
from uncertain import AsGaussians, GaussianMixtureRegressor, Incomplete
from uncertain.cli import main
from uncertain.exceptions import ColumnError, NullError, ParameterError, UncertainError, UncertainWarning


def columns(n: int = 1200, seed: int = 0) -> dict[str, Any]:
    """flux with upper limits (without error bars), colour, y = 2 flux - colour with lower limits, a class."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(n, 2))
    y = 2.0 * z[:, 0] - z[:, 1] + 0.3 * rng.normal(size=n)
    std = rng.uniform(0.2, 0.4, size=(n, 2))
    x = z + std * rng.normal(size=(n, 2))
    y_read = y + 0.1 * rng.normal(size=n)
    upper, lower = z[:, 0] < -0.3, y_read > 1.5  # a limit without error bar is one of the true value
    return {
        "flux": np.where(upper, -0.3, x[:, 0]),
        "flux_err": np.where(upper, np.nan, std[:, 0]),
        "l_flux": np.where(upper, "<", ""),
        "colour": x[:, 1],
        "colour_err": std[:, 1],
        "y": np.minimum(y_read, 1.5),
        "y_err": np.full(n, 0.1),
        "l_y": np.where(lower, ">", None).astype(object),
        "kind": np.where(y > 0, "up", "down"),
    }


def polars_of(given: dict[str, Any]) -> polars.DataFrame:
    frame = polars.DataFrame({k: v.tolist() for k, v in given.items()})
    return frame.with_columns(polars.col("flux_err").fill_nan(None))


LIMITS = {"flux": "l_flux", "y": "l_y"}


def by_hand(given: dict[str, Any]) -> GaussianMixtureRegressor:
    flags = np.stack([np.where(given["l_flux"] == "<", -1, 0), np.zeros(len(given["flux"]), int)], axis=1)
    std = np.stack([np.where(flags[:, 0], 0.0, given["flux_err"]), given["colour_err"]], axis=1)
    X = Incomplete.from_arrays(np.stack([given["flux"], given["colour"]], axis=1), std=std, limits=flags)
    y_limit = np.where(given["l_y"] == ">", 1, 0)
    return GaussianMixtureRegressor(random_state=0).fit(X, given["y"], y_std=given["y_err"], y_limit=y_limit)


@pytest.mark.parametrize("library", ["polars", "pandas", "dict"])
def test_flags_of_features_and_of_the_target(library: str, tmp_path: Path) -> None:
    given = columns()
    table: Any = {"polars": polars_of, "pandas": pandas.DataFrame, "dict": dict}[library](given)
    if library == "dict":
        table = {name: values for name, values in given.items() if name not in ("l_y", "kind")}
        table["l_y"] = [None if v is None else str(v) for v in given["l_y"]]
    features = {"features": ["flux", "colour"]}
    model = uncertain.fit(table, "y", method="mixture", limits=LIMITS, target_std="y_err", **features)
    np.testing.assert_allclose(model.pipeline_[-1].coef_, by_hand(given).coef_, rtol=1e-10)
    assert np.all(np.abs(model.pipeline_[-1].coef_ - [2.0, -1.0]) < 4 * model.pipeline_[-1].coef_std_)
    assert model.columns_.limits == {"flux": "l_flux"} and model.columns_.target_limit == "l_y"
    assert "flux (l_flux)" in str(model.columns_) and "limits by l_y" in str(model.columns_)
    model.save(tmp_path / "m.safetensors")
    again = uncertain.load(tmp_path / "m.safetensors")
    assert again.columns_ == model.columns_
    predicted = np.asarray(model.predict(table))
    np.testing.assert_array_equal(np.asarray(again.predict(table)), predicted)
    interval = model.predict_interval(table, coverage=0.9)
    ends = [np.asarray(interval[name]) for name in ("y_lower", "y_upper")]
    assert np.all(ends[0] < predicted) and np.all(predicted < ends[1])
    with pytest.warns(UncertainWarning, match=r"^taken as limits: flux \(l_flux\), y \(l_y\)$"):
        found = uncertain.fit(table, "y", method="mixture", target_std="y_err", **features)
    assert found.columns_ == model.columns_
    with pytest.warns(UncertainWarning, match="l_flux, l_y looks like flags of limits, which are taken as"):
        uncertain.fit(table, "y", method="kernel", meaning="spread", features=["colour"], exact=["flux"])


FLAGS: dict[str, tuple[str, Any]] = {
    "signs": ("l_Flux", np.array(["", "<"])), "booleans": ("Flux_lim", np.array([False, True])),
    "ones of an upper limit": ("flux_ul", np.array([0, 1])), "-1": ("flux_limit", np.array([0, -1])),
    "text": ("", None),
}  # fmt: skip


@pytest.mark.parametrize("kind", FLAGS)
def test_flags_are_recognised_by_name_and_content(kind: str) -> None:
    rng = np.random.default_rng(40)
    z = rng.normal(1.5, 1.0, 300)
    flux = z + 0.3 * rng.normal(size=300)
    limit = flux < 1.0
    known = {"Flux": np.where(limit, 1.0, flux), "e_Flux": np.where(limit, np.nan, 0.3), "y": 2.0 * z}
    name, marks = FLAGS[kind]
    table = polars.DataFrame(known | ({name: marks[limit.astype(int)]} if name else {})).fill_nan(None)
    expected = uncertain.fit(
        polars.DataFrame(known | {"l": np.where(limit, "<", "")}).fill_nan(None), "y", method="law",
        limits={"Flux": "l"},
    )  # fmt: skip
    if not name:
        text = polars.when(polars.Series(limit)).then(polars.lit("<LOD ")).otherwise(polars.lit(""))
        table = table.with_columns((text + polars.col("Flux").cast(polars.String)).alias("Flux"))
    with pytest.warns(UncertainWarning, match=rf"^taken as limits: Flux \({name or 'Flux'}\)$"):
        model = uncertain.fit(table, "y", method="law")
    np.testing.assert_allclose(model.coef_, expected.coef_)
    rows = table.with_columns(polars.Series("Flux", known["Flux"]), l=polars.Series(np.where(limit, "<", "")))
    np.testing.assert_allclose(model.predict(table), expected.predict(rows))


@pytest.mark.filterwarnings("ignore:taken for missing")
def test_flags_that_may_mean_either_limit_are_asked_about() -> None:
    table = polars_of(columns()).drop("kind", "l_y")
    table = table.with_columns(fluxlim=(polars.col("l_flux") == "<").cast(int)).drop("l_flux")
    with pytest.warns(UncertainWarning, match="limits={'flux': 'fluxlim'} reads -1 as an upper"):
        uncertain.fit(table, "y", method="mixture")


def test_a_pattern_finds_the_flags() -> None:
    table = polars_of(columns()).drop("kind")
    named = uncertain.fit(table, "y", method="mixture", limits=LIMITS)
    found = uncertain.fit(table, "y", method="mixture", limits="l_{}")
    assert found.columns_ == named.columns_
    only_target = uncertain.fit(
        table.drop("l_flux", "flux", "flux_err"), "y", method="mixture", limits="l_{}", features=["colour"]
    )
    assert only_target.columns_.limits == {} and only_target.columns_.target_limit == "l_y"


def test_gaps_and_limits_together() -> None:
    table = polars_of(columns()).with_row_index("i")
    gone = polars.when(polars.col("i") % 7 == 3).then(None)
    table = table.with_columns(colour=gone.otherwise(polars.col("colour"))).drop("i")
    with pytest.raises(NullError, match=r"colour or its error bar \(colour_err\): row 3 is null"):
        uncertain.fit(
            table, "y", method="mixture", limits=LIMITS, features=["flux", "colour"], on_missing="error"
        )
    model = uncertain.fit(table, "y", method="mixture", limits=LIMITS, features=["flux", "colour"])
    assert np.all(np.abs(model.pipeline_[-1].coef_ - [2.0, -1.0]) < 4 * model.pipeline_[-1].coef_std_)
    rows = model.pipeline_[0].transform(table)
    flags = np.asarray(table["l_flux"].to_list()) == "<"
    np.testing.assert_array_equal(rows.limits[:, 0], np.where(flags, -1, 0))
    np.testing.assert_array_equal(rows.missing[:, 1], np.arange(len(flags)) % 7 == 3)


@pytest.mark.parametrize("method", ["discriminant", "gsu"])
def test_classes_and_what_comes_behind_the_denoiser(method: str) -> None:
    table = polars_of(columns(600)).drop("y", "y_err", "l_y")
    model = uncertain.fit(table, "kind", method=method, limits={"flux": "l_flux"})
    shares = model.predict_proba(table).to_numpy()
    assert np.isfinite(shares).all()
    assert model.score(table) > 0.85
    assert model.predict_set(table.head(5), coverage=0.9) is not None


@pytest.mark.usefixtures("few_trees")
def test_auto_chooses_among_those_that_can() -> None:
    table = polars_of(columns(300)).drop("kind")
    board = uncertain.fit(table, "y", limits=LIMITS, effort="normal").leaderboard_
    assert {name.split()[0] for name in board.filter(board["weight"] > 0)["model"]} == {"mixture"}
    table = polars_of(columns(300)).drop("y", "y_err", "l_y")
    trees = HistGradientBoostingClassifier(max_iter=10)
    board = uncertain.fit(table, "kind", limits={"flux": "l_flux"}, estimator=trees).leaderboard_
    assert {name.split()[0] for name in board.filter(board["weight"] > 0)["model"]} <= {
        "discriminant",
        "kernel",
    }


def test_the_report_compares_with_readings_only() -> None:
    table = polars_of(columns(400)).drop("kind")
    model = uncertain.fit(table, "y", method="mixture", limits=LIMITS)
    report = model.report(table, folds=3, repeats=1, meanings=False)
    read = table.filter(polars.col("l_y").is_null())
    assert 200 < len(read) < 400
    # All of them at once, without a fold: what is left out of the comparison is in the fit all the same.
    off = np.abs(read["y"].to_numpy() - np.asarray(model.predict(read)))
    assert report.score == pytest.approx(off.mean(), rel=0.1)
    assert report.score < report.score_means_only


@pytest.mark.parametrize(
    ("limits", "method", "error", "message"),
    [
        ({"flux": "l_flux"}, "kernel", ParameterError, 'method="mixture" does'),
        ({"flux": "l_flux"}, "remeasured", ParameterError, 'method="mixture" does'),
        ({"y": "l_y"}, "gsu", ParameterError, 'with method="mixture"'),
        ({"flux": "l_flix"}, "mixture", ColumnError, "did you mean 'l_flux'"),
        ({"fluxes": "l_flux"}, "mixture", ColumnError, "neither the target nor a scalar"),
        ("flux_limit", "mixture", ParameterError, "must be a pattern"),
        ({}, "mixture", ParameterError, "must be a pattern"),
        ("{}_lim", "mixture", ColumnError, "no column is called so"),
        ({"flux": "colour"}, "mixture", UncertainError, "colour: row 0 is"),
        ({"flux": "word"}, "mixture", UncertainError, "word: row 2 is 'maybe'"),
    ],
)
def test_what_is_refused(limits: Any, method: Any, error: type[Exception], message: str) -> None:
    table = polars_of(columns(60)).drop("kind")
    table = table.with_columns(word=polars.Series(["<", "", "maybe"] + [""] * 57))
    with pytest.raises(error, match=message):
        uncertain.fit(table, "y", limits=limits, method=method, features=["flux", "colour"], meaning="spread")


@pytest.mark.parametrize(
    "flags",
    [[-1, 0, 1, 0], [-1.0, np.nan, 1.0, 0.0], ["<", "=", ">", ""], ["<=", " ", ">=", None], [-1, None, 1, 0]],
)
def test_spellings_of_flags(flags: list[Any]) -> None:
    table = polars.DataFrame(
        {"x": [1.0, 2.0, 3.0, 4.0], "x_err": [0.1, 0.2, None, 0.4], "f": polars.Series(flags, strict=False)}
    )
    rows = AsGaussians(limits={"x": "f"}).fit_transform(table)
    assert isinstance(rows, Incomplete) and rows.limits is not None
    assert rows.limits[:, 0].tolist() == [-1, 0, 1, 0]
    np.testing.assert_array_equal(rows.gaussians.means[:, 0], [1.0, 2.0, 3.0, 4.0])
    np.testing.assert_allclose(rows.gaussians.covariances()[:, 0, 0], [0.01, 0.04, 0.0, 0.16])
    truth = polars.DataFrame({"x": [1.0, 2.0], "x_err": [0.1, 0.2], "f": [True, False]})
    assert AsGaussians(limits={"x": "f"}).fit_transform(truth).limits[:, 0].tolist() == [-1, 0]


def test_exact_columns_may_be_limits_too() -> None:
    table = polars_of(columns()).drop("kind", "l_y", "y_err", "flux_err")
    model = uncertain.fit(table, "y", method="mixture", exact=["flux"], limits={"flux": "l_flux"})
    assert model.pipeline_[0].roles_["limits"] == {"flux": "l_flux"}
    assert model.feature_names_ == ["colour", "flux"]


def test_a_table_without_its_flags_is_refused() -> None:
    table = polars_of(columns(200)).drop("kind")
    model = uncertain.fit(table, "y", method="mixture", limits=LIMITS)
    with pytest.raises(ColumnError, match="l_flux"):
        model.predict(table.drop("l_flux"))
    assert len(model.predict(table.drop("l_y", "y", "y_err"))) == 200


def test_on_the_command_line(tmp_path: Path) -> None:
    table = polars_of(columns(300)).drop("kind")
    table.write_csv(tmp_path / "t.csv")
    arguments = ["fit", str(tmp_path / "t.csv"), "-t", "y", "--method", "mixture", "--limits", "l_{}"]
    done = CliRunner().invoke(main, [*arguments, "-o", str(tmp_path / "m.safetensors")])
    assert done.exit_code == 0, done.output
    assert "flux (l_flux)" in done.output
    same = uncertain.fit(table, "y", method="mixture", limits=LIMITS)
    np.testing.assert_allclose(
        np.asarray(uncertain.load(tmp_path / "m.safetensors").predict(table)), np.asarray(same.predict(table))
    )
