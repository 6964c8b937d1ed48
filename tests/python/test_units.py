"""Units and masked values of astropy: in a GaussianArray, in tables, in models and their files."""

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import uncertain
from uncertain import (
    AsGaussians,
    GaussianArray,
    GaussianDenoiser,
    GaussianImputer,
    GaussianScaler,
    GSUClassifier,
    GSURegressor,
    UncertainError,
)
from uncertain.exceptions import ColumnError, NullError, UnitError

u = pytest.importorskip("astropy.units")
masked = pytest.importorskip("astropy.utils.masked")
table = pytest.importorskip("astropy.table")
QTable = table.QTable

ROOM = np.array([[1.0, 0.2], [0.2, 2.0]])


@pytest.mark.parametrize(
    ("means", "arguments", "variance"),
    [
        ([[20.0]] * u.mag, {"std": [[50.0]] * u.mmag}, 0.0025),
        ([[20.0]] * u.mag, {"std": 50 * u.mmag}, 0.0025),
        ([[2.0]] * u.km, {"var": [3.0] * u.m**2}, 3e-6),
        ([[2.0]] * u.km, {"cov": [[[3.0]]] * u.m**2}, 3e-6),
        ([[2.0]] * u.km, {"cov": [[3.0]] * u.m * u.km}, 3e-3),
        ([[2.0]] * u.km, {"precision": [[4.0]] / u.m**2}, 0.25e-6),
        ([[2.0]] * u.km, {"factor": [[[3.0]]] * u.m}, 9e-6),
        ([[2.0]] * u.km, {"factor": [[[3.0]]] * u.m, "var": [[1.0]] * u.km**2}, 1 + 9e-6),
        ([[20.0]] * u.ABmag, {"std": [[50.0]] * u.mmag}, 0.0025),
        ([[20.0]] * u.ABmag, {"std": [[0.5]] * u.ABmag}, 0.25),
        ([[20.0]] * u.ABmag, {"var": [[0.5]] * u.mag**2}, 0.5),
        ([[1.0]] * u.dex, {"std": [[1.0]] * u.mag}, 0.16),
        ([[1.0]], {"std": [[5.0]] * u.percent}, 0.0025),
        ([[1.0]] * u.one, {"std": [[0.5]]}, 0.25),
        ([[3]] * u.Jy, {}, 0.0),
        (table.Column([[2.0]], unit="km"), {"std": table.Column([3.0], unit="m")}, 9e-6),
    ],
    ids=str,
)
def test_errors_come_in_the_unit_of_the_means(means: Any, arguments: Any, variance: float) -> None:
    before = {name: np.array(values) for name, values in arguments.items()}
    g = GaussianArray(means, **arguments)
    assert_allclose(g.covariances(), [[[variance]]], rtol=1e-12)
    assert_array_equal(g.means, np.asarray(means))
    unit = str(getattr(means, "unit", ""))
    assert g.unit == (unit or None)
    assert ("in " + unit in repr(g)) == bool(unit)
    for name, values in arguments.items():
        assert_array_equal(np.asarray(values), before[name])


@pytest.mark.parametrize(
    ("means", "arguments", "words"),
    [
        ([[20.0]] * u.mag, {"std": [[0.1]]}, r"means are in mag, but std has no unit.*u.Unit\('mag'\)"),
        ([[20.0]] * u.mag, {"var": [[0.1]]}, r"var has no unit.*u.Unit\('mag2'\)"),
        ([[20.0]], {"std": [[0.1]] * u.Jy}, "std is in Jy, but means have no unit"),
        ([[20.0]] * u.mag, {"std": [[0.1]] * u.Jy}, "std is in Jy, but means are in mag"),
        ([[20.0]] * u.Jy, {"std": [[0.1]] * u.ABmag}, "std is in mag, but means are in Jy"),
        ([[20.0]] * u.mag, {"var": [[0.1]] * u.mag}, "var is in mag, but .* converts to mag2"),
        ([[20.0]] * u.mag, {"std": [[0.1]] * u.one}, "std has no unit"),
        ([[20.0]] * u.km, {"precision": [[1.0]] * u.km**2}, "precision is in km2"),
        ([[20.0]] * u.ABmag, {"cov": [[0.1]] * u.mmag}, r"mag\(AB\): cov must be in a unit that converts to"),
        ([[20.0]] * u.percent, {"std": [[0.1]]}, "means are in %"),
    ],
    ids=str,
)
def test_units_that_do_not_fit(means: Any, arguments: Any, words: str) -> None:
    with pytest.raises(UnitError, match=words) as caught:
        GaussianArray(means, **arguments)
    assert isinstance(caught.value, UncertainError)


def test_units_stay_or_are_refused() -> None:
    g = GaussianArray([[2.0, 3.0], [1.0, 5.0], [4.0, 4.0]] * u.km, std=10 * u.m)
    same = [
        g[1:], g[:, 0], g.collapse("zero"), g.sample(random_state=0), pickle.loads(pickle.dumps(g)),
        GaussianArray.concat([g, g]), GaussianArray.hstack([g, g]), g @ [[1], [-1]],
        GaussianDenoiser(random_state=0).fit_transform(g), GaussianImputer(random_state=0).fit_transform(g),
    ]  # fmt: skip
    assert [other.unit for other in same] == ["km"] * len(same)
    assert same[4] == g != GaussianArray(g.means, std=0.01)
    assert GaussianScaler().fit_transform(g).unit is None
    assert GaussianArray.hstack([g, GaussianArray(g.means)]).unit is None
    with pytest.raises(UnitError, match="array 1 is in no unit, but array 0 in km"):
        GaussianArray.concat([g, GaussianArray(g.means)])
    with pytest.raises(UnitError, match="A is in s"):
        g @ ([[1], [1]] * u.s)


GAPPY = np.array([[1.0, 2.0], [3.0, -1.0], [0.5, 4.0]])
HIDDEN = GAPPY < 0


@pytest.mark.parametrize("mask", [np.ma.MaskedArray, masked.Masked], ids=["numpy", "astropy"])
def test_masked_values_are_not_numbers(mask: Callable[..., Any]) -> None:
    with pytest.raises(NullError, match=r"means: row 1, feature 1 is masked.*GaussianImputer"):
        GaussianArray(mask(GAPPY, mask=HIDDEN))
    with pytest.raises(NullError, match="std: row 1, feature 1 is masked"):
        GaussianArray(GAPPY, std=mask(np.abs(GAPPY), mask=HIDDEN))
    with pytest.raises(NullError, match="cov: row 0, feature 1, column 0 is masked"):
        GaussianArray(GAPPY, cov=mask([ROOM] * 3, mask=[[[0, 0], [1, 0]]] * 3))
    fine = GaussianArray(mask(GAPPY, mask=False), var=mask(GAPPY**2, mask=False))
    assert_array_equal(fine.means, GAPPY)
    assert_array_equal(fine.covariances()[1], np.diag([9.0, 1.0]))


def test_masked_quantities() -> None:
    values = masked.Masked(GAPPY * u.km, mask=HIDDEN)
    with pytest.raises(NullError, match="row 1, feature 1"):
        GaussianArray(values)
    assert GaussianArray(masked.Masked(GAPPY * u.km), std=3 * u.m).unit == "km"
    column = table.MaskedColumn([[1.0], [2.0]], mask=[[False], [True]], unit="km")
    with pytest.raises(NullError, match="row 1, feature 0"):
        GaussianArray(column)


@pytest.mark.parametrize("mask", [np.ma.MaskedArray, masked.Masked], ids=["numpy", "astropy"])
def test_masked_arrays_in_estimators(mask: Callable[..., Any], rng: np.random.Generator) -> None:
    x = rng.normal(size=(40, 2))
    y = (x[:, 0] > 0).astype(int)
    hidden = np.zeros(x.shape, dtype=bool)
    hidden[7, 1] = True
    for estimator in (GSUClassifier(), GSURegressor()):
        with pytest.raises(NullError, match="X: row 7, feature 1 is masked"):
            estimator.fit(mask(x, mask=hidden), y)
        fitted = estimator.fit(mask(x, mask=False), y)
        with pytest.raises(NullError, match="X: row 7, feature 1"):
            fitted.predict(mask(x, mask=hidden))
        with pytest.raises(NullError, match="y: row 3 is masked"):
            estimator.fit(x, mask(y, mask=np.arange(40) == 3))
        assert_array_equal(fitted.predict(mask(x, mask=False)), fitted.predict(x))
    gaps = np.where(hidden, np.nan, x)
    for filler in (GaussianImputer(random_state=0), GaussianDenoiser(random_state=0), GaussianScaler()):
        once, again = filler.fit_transform(mask(x, mask=hidden)), filler.fit_transform(gaps)
        values = [getattr(answer, "means", answer) for answer in (once, again)]
        assert_array_equal(*values)
    rows = AsGaussians(on_missing="impute").fit_transform(mask(x, mask=hidden))
    assert_array_equal(rows.missing, hidden)
    with pytest.raises(NullError, match="row 7"):
        AsGaussians().fit_transform(mask(x, mask=hidden))


N = 60


@pytest.fixture
def table_of_table_units(rng: np.random.Generator) -> QTable:
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


def plain(table_of_table_units: QTable) -> pl.DataFrame:
    """The same without units, error bars in the unit of their values."""
    units = {"g_err": u.mag, "dist_err": u.kpc}
    columns = {}
    for name in table_of_table_units.colnames:
        column = table_of_table_units[name]
        if hasattr(column, "to_value"):
            column = column.to_value(units.get(name, column.unit))
        columns[name] = np.asarray(column)
    return pl.DataFrame(columns)


def in_other_units(table_of_table_units: QTable) -> QTable:
    """The same in other units."""
    other = table_of_table_units.copy()
    units = {"g": u.mmag, "r_err": u.mmag, "dist": u.lyr, "dist_err": u.m}
    for name in set(units) & set(table_of_table_units.colnames):
        other[name] = other[name].to(units[name])
    return other


def test_error_bars_in_another_unit(table_of_table_units: QTable) -> None:
    X = AsGaussians(features=["g", "r"], std="{}_err").fit(table_of_table_units)
    reference = AsGaussians(features=["g", "r"], std="{}_err").fit_transform(plain(table_of_table_units))
    assert X.units_ == {"g": "mag", "r": "mag"}
    for given in (table_of_table_units, plain(table_of_table_units), in_other_units(table_of_table_units)):
        rows = X.transform(given)
        assert_allclose(rows.means, reference.means, rtol=1e-14)
        assert_allclose(rows.covariances(), reference.covariances(), rtol=1e-14)


@pytest.mark.parametrize("target", ["kind", "dist"])
def test_a_table_in_other_units_is_predicted_alike(
    target: str, table_of_table_units: QTable, tmp_path: Path
) -> None:
    rest = {"kind": ["dist", "dist_err"], "dist": ["kind"]}[target]
    table_of_table_units.remove_columns(rest)
    frame, other = plain(table_of_table_units), in_other_units(table_of_table_units)
    model, reference = (
        uncertain.fit(table_of_table_units, target=target, method="gsu"),
        uncertain.fit(frame, target=target, method="gsu"),
    )
    assert_allclose(model.pipeline_[-1].coef_, reference.pipeline_[-1].coef_, rtol=1e-9)
    model.save(tmp_path / "m.safetensors")
    for again in (model, uncertain.load(tmp_path / "m.safetensors"), pickle.loads(pickle.dumps(model))):
        assert again.pipeline_[0].units_ == {"g": "mag", "r": "mag"}
        assert again.columns_ == model.columns_
        expected = reference.predict(frame)
        for given in (table_of_table_units, frame, other):
            predicted = np.asarray(again.predict(given))
            if target == "kind":
                assert predicted.tolist() == expected.to_list()
            else:
                assert_allclose(predicted, expected.to_numpy(), rtol=1e-9)
            assert again.score(given) == pytest.approx(reference.score(frame), rel=1e-9)
    assert model.columns_.target_unit == (None if target == "kind" else "kpc")
    assert ("dist in kpc" in repr(model)) == (target == "dist")


def test_units_that_do_not_fit_are_refused(table_of_table_units: QTable) -> None:
    table_of_table_units["g_err"] = table_of_table_units["g_err"].value * u.s
    with pytest.raises(ColumnError, match="'g_err' is in s, but is needed in mag"):
        uncertain.fit(table_of_table_units["g", "g_err", "kind"], target="kind", method="gsu")
    table_of_table_units["g_err"] = table_of_table_units["g_err"].value * u.mmag
    model = uncertain.fit(table_of_table_units["g", "g_err", "kind"], target="kind", method="gsu")
    table_of_table_units["g"] = table_of_table_units["g"].value * u.Jy
    with pytest.raises(ColumnError, match="'g' is in Jy, but is needed in mag"):
        model.predict(table_of_table_units)
    table_of_table_units["dist_err"] = table_of_table_units["dist_err"].value * u.s
    with pytest.raises(ColumnError, match="'dist_err' is in s, but is needed in kpc"):
        uncertain.fit(table_of_table_units["r", "r_err", "dist", "dist_err"], target="dist", method="gsu")


def test_lists_with_units(rng: np.random.Generator) -> None:
    x, cov = rng.normal(size=(8, 2)), np.broadcast_to(np.eye(2) * 4.0, (8, 2, 2))
    table = QTable({"mean": x * u.m, "cov": cov * u.cm**2})
    X = AsGaussians().fit(table)
    assert X.units_ == {"mean": "m"}
    assert_allclose(X.transform(table).covariances(), cov * 1e-4, rtol=1e-14)
    table["mean"] = table["mean"].to(u.km)
    assert_allclose(X.transform(table).means, x, rtol=1e-14)
