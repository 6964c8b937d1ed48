"""Units of columns through a model: those of the fit are those of every later table."""

from __future__ import annotations

import pickle
from pathlib import Path

import astropy.units as u
import numpy as np
import polars as pl
import pytest
from astropy.table import QTable
from numpy.testing import assert_allclose

import uncertain
from uncertain.exceptions import ColumnError
from uncertain.preprocessing import AsGaussians

N = 60


@pytest.fixture
def table(rng: np.random.Generator) -> QTable:
    g, r = rng.normal(20.0, 1.0, size=N), rng.normal(19.0, 1.0, size=N)
    return QTable(
        {
            "g": g * u.mag,
            "g_err": rng.uniform(10.0, 300.0, size=N) * u.mmag,
            "r": r * u.mag,
            "r_err": rng.uniform(0.01, 0.3, size=N) * u.mag,
            "dist": (2.0 * g - r + rng.normal(size=N)) * u.kpc,
            "dist_err": rng.uniform(100.0, 900.0, size=N) * u.pc,
            "kind": np.where(g > 20.0, "star", "quasar"),
        }
    )


def plain(table: QTable) -> pl.DataFrame:
    """The same without units, error bars in the unit of their values."""
    units = {"g_err": u.mag, "dist_err": u.kpc}
    columns = {}
    for name in table.colnames:
        column = table[name]
        if hasattr(column, "to_value"):
            column = column.to_value(units.get(name, column.unit))
        columns[name] = np.asarray(column)
    return pl.DataFrame(columns)


def in_other_units(table: QTable) -> QTable:
    """The same in other units."""
    other = table.copy()
    units = {"g": u.mmag, "r_err": u.mmag, "dist": u.lyr, "dist_err": u.m}
    for name in set(units) & set(table.colnames):
        other[name] = other[name].to(units[name])
    return other


def test_error_bars_in_another_unit(table: QTable) -> None:
    X = AsGaussians(features=["g", "r"], std="{}_err").fit(table)
    reference = AsGaussians(features=["g", "r"], std="{}_err").fit_transform(plain(table))
    assert X.units_ == {"g": "mag", "r": "mag"}
    for given in (table, plain(table), in_other_units(table)):
        rows = X.transform(given)
        assert_allclose(rows.means, reference.means, rtol=1e-14)
        assert_allclose(rows.covariances(), reference.covariances(), rtol=1e-14)


@pytest.mark.parametrize("target", ["kind", "dist"])
def test_a_table_in_other_units_is_predicted_alike(target: str, table: QTable, tmp_path: Path) -> None:
    rest = {"kind": ["dist", "dist_err"], "dist": ["kind"]}[target]
    table.remove_columns(rest)
    frame, other = plain(table), in_other_units(table)
    model, reference = (
        uncertain.fit(table, target=target, method="gsu"),
        uncertain.fit(frame, target=target, method="gsu"),
    )
    assert_allclose(model.pipeline_[-1].coef_, reference.pipeline_[-1].coef_, rtol=1e-9)
    model.save(tmp_path / "m.safetensors")
    for again in (model, uncertain.load(tmp_path / "m.safetensors"), pickle.loads(pickle.dumps(model))):
        assert again.pipeline_[0].units_ == {"g": "mag", "r": "mag"}
        assert again.columns_ == model.columns_
        expected = reference.predict(frame)
        for given in (table, frame, other):
            predicted = np.asarray(again.predict(given))
            if target == "kind":
                assert predicted.tolist() == expected.to_list()
            else:
                assert_allclose(predicted, expected.to_numpy(), rtol=1e-9)
            assert again.score(given) == pytest.approx(reference.score(frame), rel=1e-9)
    assert model.columns_.target_unit == (None if target == "kind" else "kpc")
    assert ("dist in kpc" in repr(model)) == (target == "dist")


def test_files_keep_units_for_the_command_line(table: QTable, tmp_path: Path) -> None:
    from click.testing import CliRunner

    from uncertain.cli import main

    table.remove_columns(["dist", "dist_err"])
    table.write(tmp_path / "train.fits")
    in_other_units(table).write(tmp_path / "new.fits")
    arguments = [
        "fit",
        tmp_path / "train.fits",
        "--method",
        "gsu",
        "-t",
        "kind",
        "-o",
        tmp_path / "m.safetensors",
    ]
    assert CliRunner().invoke(main, list(map(str, arguments))).exit_code == 0
    for name in ("train", "new"):
        paths = [tmp_path / "m.safetensors", tmp_path / f"{name}.fits", "-o", tmp_path / f"{name}.csv"]
        arguments = ["predict", *paths]
        assert CliRunner().invoke(main, list(map(str, arguments))).exit_code == 0
    train, new = (pl.read_csv(tmp_path / f"{name}.csv") for name in ("train", "new"))
    assert train["prediction"].equals(new["prediction"])
    assert_allclose(train["p_star"].to_numpy(), new["p_star"].to_numpy(), rtol=1e-9)


def test_units_that_do_not_fit_are_refused(table: QTable) -> None:
    table["g_err"] = table["g_err"].value * u.s
    with pytest.raises(ColumnError, match="'g_err' is in s, but is needed in mag"):
        uncertain.fit(table["g", "g_err", "kind"], target="kind", method="gsu")
    table["g_err"] = table["g_err"].value * u.mmag
    model = uncertain.fit(table["g", "g_err", "kind"], target="kind", method="gsu")
    table["g"] = table["g"].value * u.Jy
    with pytest.raises(ColumnError, match="'g' is in Jy, but is needed in mag"):
        model.predict(table)
    table["dist_err"] = table["dist_err"].value * u.s
    with pytest.raises(ColumnError, match="'dist_err' is in s, but is needed in kpc"):
        uncertain.fit(table["r", "r_err", "dist", "dist_err"], target="dist", method="gsu")


def test_lists_with_units(rng: np.random.Generator) -> None:
    x, cov = rng.normal(size=(8, 2)), np.broadcast_to(np.eye(2) * 4.0, (8, 2, 2))
    table = QTable({"mean": x * u.m, "cov": cov * u.cm**2})
    X = AsGaussians().fit(table)
    assert X.units_ == {"mean": "m"}
    assert_allclose(X.transform(table).covariances(), cov * 1e-4, rtol=1e-14)
    table["mean"] = table["mean"].to(u.km)
    assert_allclose(X.transform(table).means, x, rtol=1e-14)
