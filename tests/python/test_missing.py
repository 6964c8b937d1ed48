"""Tables as archives hand them out: `on_missing="auto"`, the default of all but `AsGaussians`."""

import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import uncertain
from uncertain import AsGaussians, GaussianArray, Incomplete
from uncertain._data.incomplete import filled_gaussians
from uncertain.exceptions import ColumnError, NullError, UncertainError, UncertainWarning

N = 300


def numbers(n: int = N, seed: int = 0) -> dict[str, np.ndarray]:
    """Two classes; error bars are a tenth of the value, larger in both features where the night was bad."""
    rng = np.random.default_rng(seed)
    kind = np.arange(n) % 2
    night = np.exp(rng.normal(0.0, 0.6, n))
    columns: dict[str, Any] = {}
    for name in ("flux", "color"):
        value = np.exp(rng.normal(1.0 + kind, 0.4))
        columns[name] = value
        columns[f"{name}_err"] = 0.1 * value * night * np.exp(rng.normal(0.0, 0.05, n))
    return columns | {"kind": np.array(["star", "quasar"])[kind]}


def with_holes(n: int = N, seed: int = 0) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Every kind of hole, and the table without."""
    whole = numbers(n, seed)
    table = {name: values.copy() for name, values in whole.items()}
    table["flux"][[0, 1]] = np.nan, -np.inf
    table["color"][4:8] = -9999.0
    table["flux_err"][[10, 11, 12, 13, 14]] = np.nan, np.inf, -99.0, -99.0, 0.0
    table["color_err"][20:40] = np.nan
    return table, whole


GAPS = {(0, 0), (1, 0), (11, 0), (4, 1), (5, 1), (6, 1), (7, 1)}
KINDS = {"polars": pl.DataFrame, "pandas": pd.DataFrame}
READING = {"features": ["flux", "color"], "std": "{}_err", "on_missing": "auto"}


def gaps(rows: Incomplete) -> set[tuple[int, int]]:
    return {(int(i), int(j)) for i, j in np.argwhere(rows.missing)}


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_missing_is_read_as_what_it_is(kind: str) -> None:
    table, whole = with_holes()
    reading = AsGaussians(**READING)
    with pytest.warns(UncertainWarning) as caught:
        rows = reading.fit_transform(KINDS[kind](table))
    assert len(caught) == 1
    message = str(caught[0].message)
    assert message.startswith("treated as missing: color is -9999 in 4 rows (all others lie between ")
    assert "flux_err is -99 in 2 rows" in message and "flux_err is 0 in 1 row" in message
    assert isinstance(rows, Incomplete) and gaps(rows) == GAPS
    std = np.sqrt(np.diagonal(rows.gaussians.covariances(), axis1=1, axis2=2))
    there = ~rows.missing
    assert_array_equal(rows.gaussians.means[there], np.stack([table["flux"], table["color"]], 1)[there])
    true = np.stack([whole["flux_err"], whole["color_err"]], axis=1)
    filled = np.zeros((N, 2), dtype=bool)
    filled[10:15, 0] = filled[20:40, 1] = True
    filled[11, 0] = False  # +- infinity: not measured
    assert_array_equal(std[there & ~filled], true[there & ~filled])
    assert np.all(np.abs(np.log(std[filled] / true[filled])) < 0.5)  # of sizes that differ twentyfold
    assert str(reading.unknown_) == (
        "7 values (color 4, flux 3), 24 error bars (color 20, flux 4; estimated from the others)"
    )
    # New rows are read by what was learned, also where a code is there once.
    new = KINDS[kind]({name: values[[4, 12, 14]] for name, values in table.items()})
    read = reading.transform(new)
    assert gaps(read) == {(0, 1)}
    assert_array_equal(read.gaussians.covariances()[1:], rows.gaussians.covariances()[[12, 14]])


@pytest.mark.parametrize("kind", KINDS)
def test_a_complete_table_gives_the_bits_of_a_strict_fit(kind: str) -> None:
    table = KINDS[kind](numbers())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        auto = uncertain.fit(table, "kind", method="gsu")
        strict = uncertain.fit(table, "kind", method="gsu", on_missing="error")
    assert [name for name, _ in auto.pipeline_.steps] == [name for name, _ in strict.pipeline_.steps]
    assert_array_equal(auto.coef_, strict.coef_)
    assert_array_equal(np.asarray(auto.predict_proba(table)), np.asarray(strict.predict_proba(table)))
    assert "missing" not in str(auto)


def test_text_padded_with_blanks_is_numbers_and_blanks_are_unknown() -> None:
    table = numbers()
    text = [f"{value:9.4f}  " for value in table["flux_err"]]
    text[3] = "     "
    rows = AsGaussians(**READING).fit_transform(pl.DataFrame(table | {"flux_err": text}))
    assert isinstance(rows, GaussianArray)
    assert_allclose(np.sqrt(rows.covariances()[5, 0, 0]), table["flux_err"][5], atol=1e-4)
    assert rows.covariances()[3, 0, 0] > 0.0
    text[7] = "n/a"
    with pytest.raises(ColumnError, match=r"flux_err: row 7 is 'n/a', which is no number"):
        AsGaussians(**READING).fit_transform(pl.DataFrame(table | {"flux_err": text}))


def test_masked_values_of_astropy_are_unknown() -> None:
    masked = pytest.importorskip("astropy.table").MaskedColumn
    table = pytest.importorskip("astropy.table").Table(numbers())
    mask = np.arange(N) < 3
    table["flux"] = masked(table["flux"], mask=mask)
    table["color_err"] = masked(table["color_err"], mask=mask)
    rows = AsGaussians(**READING).fit_transform(table)
    assert gaps(rows) == {(0, 0), (1, 0), (2, 0)}
    assert np.all(rows.gaussians.covariances()[:3, 1, 1] > 0.0)


@pytest.mark.parametrize("kind", KINDS)
def test_rows_without_a_target_are_left_out_and_counted(kind: str) -> None:
    table = numbers()
    some: list[Any] = table["kind"].tolist()
    some[2], some[5], some[9] = None, "", "   "
    kept = np.setdiff1d(np.arange(N), [2, 5, 9])
    table["flux_err"][5] = -1.0  # nobody's business
    model = uncertain.fit(KINDS[kind](table | {"kind": some}), "kind", method="gsu")
    rest = uncertain.fit(KINDS[kind]({k: v[kept] for k, v in table.items()}), "kind", method="gsu")
    assert_array_equal(model.coef_, rest.coef_)
    assert re.search(r"^left out         3 rows without kind$", str(model), re.MULTILINE)
    with pytest.raises(NullError, match="kind: row 2 has no label"):
        uncertain.fit(KINDS[kind](table | {"kind": some}), "kind", method="gsu", on_missing="error")
    text = table | {"flux_err": ["x" if k == 7 else str(v) for k, v in enumerate(table["flux_err"])]}
    with pytest.raises(UncertainError, match="flux_err: row 7 is 'x'"):
        uncertain.fit(KINDS[kind](text | {"kind": some}), "kind", method="gsu")


def test_targets_given_as_values_and_all_that_stands_beside_them() -> None:
    table = numbers()
    rng = np.random.default_rng(1)
    y = np.log(table["flux"]) + rng.normal(0.0, 0.1, N)
    weights, star = rng.uniform(0.5, 2.0, N), np.arange(N) // 3
    y_std = np.full(N, 0.1)
    gone = np.arange(N) % 10 == 0
    y[gone], weights[gone], y_std[gone] = np.nan, np.nan, np.nan
    y[10] = np.inf
    rows = {k: v for k, v in table.items() if k != "kind"}
    options: dict[str, Any] = {"method": "mixture", "task": "regression"}
    model = uncertain.fit(
        pl.DataFrame(rows), y, sample_weight=weights, groups=star, target_std=y_std, **options
    )
    there = {name: values[~gone] for name, values in rows.items()}
    rest = uncertain.fit(
        pl.DataFrame(there), y[~gone], sample_weight=weights[~gone], groups=star[~gone],
        target_std=y_std[~gone], **options,
    )  # fmt: skip
    assert_array_equal(model.coef_, rest.coef_)
    assert "30 rows without prediction" in str(model)
    with pytest.raises(UncertainError, match="no row has a value"):
        uncertain.fit(pl.DataFrame(rows), np.full(N, np.nan), task="regression", method="mixture")


def test_arrays_have_rows_without_a_target_too() -> None:
    table = numbers()
    X = GaussianArray(np.stack([table["flux"], table["color"]], 1), std=0.1)
    labels = [None if row < 4 else label for row, label in enumerate(table["kind"].tolist())]
    model = uncertain.fit(X, labels, method="gsu")
    assert_array_equal(model.coef_, uncertain.fit(X[4:], labels[4:], method="gsu").coef_)


def test_huber_takes_rows_without_a_target_as_unlabelled() -> None:
    table = numbers(60)
    some = [None if row % 3 == 0 else label for row, label in enumerate(table["kind"].tolist())]
    model = uncertain.fit(pl.DataFrame(table | {"kind": some}), "kind", method="huber")
    assert "left out" not in str(model) and ", 60 rows" in str(model)


def test_error_bars_of_targets_get_sizes() -> None:
    table = numbers(120)
    rng = np.random.default_rng(2)
    y_err = rng.uniform(0.1, 0.3, 120)
    y = 2.0 * table["flux"] + y_err * rng.normal(size=120)
    holes = np.where(np.arange(120) % 6 == 0, np.nan, y_err)
    columns = {"flux": table["flux"], "flux_err": table["flux_err"], "y": y}
    model = uncertain.fit(pl.DataFrame(columns | {"y_err": holes}), "y", method="mixture")
    assert abs(np.ravel(model.coef_)[0] - 2.0) < 0.3
    with pytest.raises(NullError, match="y_err: row 0"):
        uncertain.fit(pl.DataFrame(columns | {"y_err": holes}), "y", method="mixture", on_missing="error")


@pytest.mark.filterwarnings("ignore:treated as missing")
@pytest.mark.parametrize("store", ["frame", "file", "arrays"])
@pytest.mark.parametrize("code", [np.inf, 50.0, 1e10, -1.0, np.nan])
def test_targets_that_were_not_measured_are_left_out(code: float, store: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    t, s = rng.uniform(0.0, 10.0, N), rng.uniform(0.2, 0.6, N)
    y, gap = 1.0 + 2.0 * t + s * rng.normal(size=N), np.arange(N) % 3 == 0
    y[gap], s[gap] = 0.0, code
    table = pl.DataFrame({"t": t, "t_err": np.full(N, 0.05), "y": y, "y_err": s})
    if store == "arrays":
        model = uncertain.fit(GaussianArray(t[:, None], std=0.05), y, target_std=s, method="gsu")
    elif store == "file":
        table.write_parquet(path := tmp_path / "t.parquet")
        model = uncertain.fit(path, "y", method="gsu", memory="1GB")
    else:
        model = uncertain.fit(table, "y", method="law")
    assert abs(np.ravel(model.coef_)[0] - 2.0) < 0.05
    assert "100 rows without" in str(model)


def test_what_was_read_is_said_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    table, _ = with_holes()
    with caplog.at_level("INFO", logger="uncertain"), pytest.warns(UncertainWarning) as caught:
        model = uncertain.fit(pl.DataFrame(table | {"id": np.arange(N)}), "kind", method="gsu")
    (record,) = caplog.messages
    assert record == (
        "2 features with error bars (flux_err, color_err), ignored: id, unknown: 7 values, 24 error bars"
    )
    assert f"doubts           {caught[0].message}" in str(model)
    repeated = pl.DataFrame({name: np.repeat(v, 3) for name, v in numbers(60).items()})
    with pytest.warns(UncertainWarning, match=r"180 of 180 rows repeat .* as groups="):
        uncertain.fit(repeated, "kind", method="gsu")


def test_zeros_that_are_many_are_exact_values() -> None:
    table = numbers()
    table["flux_err"][: N // 10] = 0.0
    rows = AsGaussians(**READING).fit_transform(pl.DataFrame(table))
    assert not rows.covariances()[: N // 10, 0, 0].any()


def test_negative_error_bars_are_unknown_and_columns_of_them_refused() -> None:
    table = numbers()
    table["flux_err"][[3, 4]] = -0.1, -0.2
    with pytest.warns(UncertainWarning, match="flux_err is below 0 in 2 rows$"):
        rows = AsGaussians(**READING).fit_transform(pl.DataFrame(table))
    assert np.all(rows.covariances()[[3, 4], 0, 0] > 0.0)
    table["flux_err"] *= -1.0
    with (
        pytest.warns(UncertainWarning),
        pytest.raises(UncertainError, match=r"flux_err: 298 of 300 rows hold no error bar, such as -0\."),
    ):
        AsGaussians(**READING).fit(pl.DataFrame(table))


@pytest.mark.filterwarnings("ignore:.* are asymmetric")
def test_arms_and_limits() -> None:
    table = numbers()
    value, size = table["flux"], table["flux_err"]
    up, down = 1.2 * size, 0.9 * size
    up[4] = np.inf
    up[5], down[5] = -1.0, 1.0
    down[6] = np.nan
    arms = pl.DataFrame({"flux": value, "up": up, "down": -down})
    rows = AsGaussians(features=["flux"], std={"flux": ("up", "down")}, on_missing="auto").fit_transform(arms)
    assert gaps(rows) == {(4, 0)}  # +- infinity: not measured
    assert_allclose(rows.gaussians.means[[5, 6], 0], value[[5, 6]])  # symmetric
    assert_allclose(np.sqrt(rows.gaussians.covariances()[6, 0, 0]), up[6])
    assert 0.3 < np.sqrt(rows.gaussians.covariances()[5, 0, 0]) / size[5] < 3.0
    ends = pl.DataFrame({"flux": value, "low": value - down, "high": value + up})
    bounds = {"flux": ("low", "high")}
    same = AsGaussians(features=["flux"], bounds=bounds, on_missing="auto").fit_transform(ends)
    assert gaps(same) == {(4, 0)}
    assert_allclose(same.gaussians.means, rows.gaussians.means)
    assert_allclose(same.gaussians.covariances(), rows.gaussians.covariances(), rtol=1e-6)


UNKNOWN = {"inf": np.inf, "50": 50.0, "1e108": 1e108, "null": np.nan, "-1": -1.0}
"""Error bars of rows where nothing was measured, and 0 stands for the value."""
FORMS = ("std", "var", "arms", "limits", "list of std", "list of var", "list of cov", "matrix", "precision")


def in_form(x: np.ndarray, s: np.ndarray, form: str) -> tuple[pl.DataFrame, dict[str, Any]]:
    """A table of two features, and how it is read."""
    n = len(x)
    if form in ("std", "var", "arms", "limits"):
        columns = {}
        for j, name in enumerate("ab"):
            size = s[:, j]
            with np.errstate(over="ignore", invalid="ignore"):
                bars: dict[str, list[np.ndarray]] = {
                    "std": [size], "var": [np.sign(size) * size**2],
                    "arms": [size, np.where(size < 0, size, -size)],
                    "limits": [x[:, j] - size, x[:, j] + size],
                }  # fmt: skip
            columns |= {name: x[:, j]} | {f"{name}{k}": bar for k, bar in enumerate(bars[form])}
        pattern = {"std": {"std": "{}0"}, "var": {"var": "{}0"}, "arms": {"std": ("{}0", "{}1")}}
        return pl.DataFrame(columns), {
            "features": ["a", "b"],
            **pattern.get(form, {"bounds": ("{}0", "{}1")}),
        }
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        variances = np.sign(s) * s**2
        bars = {"list of std": s, "precision": 1.0 / variances}.get(form, variances)
    if form == "matrix":
        bars = np.zeros((n, 4))
        bars[:, [0, 3]] = variances
        bars[:, [1, 2]] = 0.01
    kind = form.removeprefix("list of ").replace("matrix", "cov")
    return pl.DataFrame({"mean": x, "bars": bars}), {"mean": "mean", kind: "bars"}


@pytest.mark.filterwarnings("ignore:treated as missing")
@pytest.mark.parametrize("code", UNKNOWN)
@pytest.mark.parametrize("form", FORMS)
def test_what_was_not_measured_is_a_gap_in_every_form(form: str, code: str) -> None:
    rng = np.random.default_rng(4)
    x, s = rng.normal(size=(N, 2)), rng.uniform(0.2, 0.5, (N, 2))
    gap = np.arange(N) % 4 == 0
    coded, sizes = x.copy(), s.copy()
    coded[gap, 1], sizes[gap, 1] = 0.0, UNKNOWN[code]
    if form == "precision" and code in ("50", "1e108"):
        pytest.skip("a small precision says that nothing was measured")
    table, roles = in_form(coded, sizes, form)
    reading = AsGaussians(**roles, on_missing="auto")
    rows = reading.fit_transform(table)
    assert gaps(rows) == {(int(k), 1) for k in np.flatnonzero(gap)}
    std = np.sqrt(np.diagonal(rows.gaussians.covariances(), axis1=1, axis2=2))
    assert_allclose(std[~rows.missing], s[~rows.missing])
    later = reading.transform(table[3:6])
    assert gaps(later) == {(1, 1)}


@pytest.mark.filterwarnings("ignore:treated as missing")
@pytest.mark.parametrize("form", [form for form in FORMS if form != "precision"])
def test_rare_zeros_beside_values_are_unknown_error_bars_in_every_form(form: str) -> None:
    rng = np.random.default_rng(5)
    x, s = rng.normal(5.0, 1.0, (N, 2)), rng.uniform(0.2, 0.5, (N, 2))
    n_zeros = N // 3 if form == "matrix" or "list" in form else 6  # of lists many are, too
    s[:n_zeros, 1] = 0.0
    if form == "matrix":
        s[2, 0] = 0.0
    table, roles = in_form(x, s, form)
    rows = AsGaussians(**roles, on_missing="auto").fit_transform(table)
    if form == "limits":  # of which none is zero
        return
    std = np.sqrt(np.diagonal(filled_gaussians(rows).covariances(), axis1=1, axis2=2))
    assert np.all((std[:n_zeros, 1] > 0.1) & (std[:n_zeros, 1] < 0.6))


def test_units_of_error_bars_stay() -> None:
    units, tables = pytest.importorskip("astropy.units"), pytest.importorskip("astropy.table")
    table = numbers()
    err = table["flux_err"].copy()
    err[3] = np.nan
    plain = AsGaussians(features=["flux"], std="{}_err", on_missing="auto")
    expected = plain.fit_transform(pl.DataFrame({"flux": table["flux"], "flux_err": err}))
    in_units = tables.QTable({"flux": table["flux"] * units.mJy, "flux_err": 1000 * err * units.uJy})
    reading = AsGaussians(features=["flux"], std="{}_err", on_missing="auto")
    assert_allclose(reading.fit_transform(in_units).covariances(), expected.covariances())
    assert_allclose(reading.transform(in_units[3:5]).covariances(), expected.covariances()[3:5])


EMPTY_X = np.random.default_rng(0).normal(size=(60, 2))
EMPTY = pl.DataFrame(
    {
        "a": EMPTY_X[:, 0],
        "a_err": [0.1] * 60,
        "teq": EMPTY_X[:, 1],
        "teq_err1": pl.Series([None] * 60, dtype=pl.Float64),
        "teq_err2": pl.Series([None] * 60, dtype=pl.String),
        "kind": np.where(EMPTY_X.sum(axis=1) > 0, "up", "down"),
    }
)


@pytest.mark.parametrize("kind", KINDS)
def test_features_whose_error_columns_are_empty_have_no_error_bars(kind: str) -> None:
    table = KINDS[kind](EMPTY.to_dict(as_series=False))
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
    with pytest.raises(UncertainError, match="teq: in every row the value or its error bar is"):
        uncertain.fit(EMPTY, "kind", method="gsu", std={"teq": "teq_err1"}, exact=[])
    with pytest.raises(ColumnError, match=r"teq_err1, teq_err2 of teq \(no number in any row\)"):
        uncertain.fit(EMPTY.drop("a", "a_err"), "kind", method="gsu")


@pytest.mark.parametrize("method", ["auto", "gsu", "discriminant", "minimax", "remeasured"])
def test_methods_fit_and_models_are_kept(method: Any, tmp_path: Path) -> None:
    table, whole = with_holes(120)
    options: dict[str, Any] = {"effort": "fast"} if method == "auto" else {}
    with pytest.warns(UncertainWarning, match="treated as missing"):
        model = uncertain.fit(pl.DataFrame(table), "kind", method=method, **options)
    text = str(model)
    assert "7 values (color 4, flux 3), 24 error bars (color 20, flux 4" in text
    assert model.score(pl.DataFrame(whole)) > 0.8
    path = tmp_path / "model.safetensors"
    model.save(path)
    again = uncertain.load(path)
    for rows in (table, whole):
        assert_array_equal(again.predict_proba(pl.DataFrame(rows)), model.predict_proba(pl.DataFrame(rows)))
    assert again.pipeline_[0].unknown_ == model.pipeline_[0].unknown_


@pytest.fixture
def large(tmp_path: Path) -> tuple[Path, pl.DataFrame]:
    """Of more rows than the model of sizes has in its sample, some without a label."""
    table, _ = with_holes(50_000, 5)
    kind: list[Any] = table["kind"].tolist()
    kind[17], kind[40_000] = None, None
    frame = pl.DataFrame(table | {"kind": kind})
    frame.write_parquet(tmp_path / "t.parquet", row_group_size=8_000)
    return tmp_path / "t.parquet", frame


@pytest.mark.filterwarnings("ignore:treated as missing")
def test_rows_in_a_file_have_the_same_model_of_sizes(large: tuple[Path, pl.DataFrame]) -> None:
    path, frame = large
    options: dict[str, Any] = {"method": "gsu", "meaning": "spread", "probability": False}
    here = uncertain.fit(frame, "kind", **options)
    there = uncertain.fit(path, "kind", memory="100MB", **options)
    assert there.pipeline_[0].unknown_ == here.pipeline_[0].unknown_
    assert_array_equal(there.coef_, here.coef_)
    assert "7 values (color 4, flux 3), 24 error bars" in str(there) and "2 rows without kind" in str(there)


@pytest.mark.filterwarnings("ignore:treated as missing")
def test_rows_on_a_cluster_have_the_same_model_of_sizes(large: tuple[Path, pl.DataFrame]) -> None:
    distributed = pytest.importorskip("distributed")
    dd = pytest.importorskip("dask.dataframe")
    _, frame = large
    options: dict[str, Any] = {"method": "gsu", "meaning": "spread", "probability": False}
    here = uncertain.fit(frame, "kind", **options)
    with distributed.Client(
        processes=False, n_workers=1, threads_per_worker=1, dashboard_address=None
    ) as client:
        there = uncertain.dask.fit(
            client, dd.from_pandas(frame.to_pandas(), npartitions=3), "kind", **options
        )
    assert there.pipeline_[0].unknown_.sizes == here.pipeline_[0].unknown_.sizes
    assert there.pipeline_[0].unknown_.codes == here.pipeline_[0].unknown_.codes
    assert_allclose(there.coef_, here.coef_, rtol=1e-4)


def test_check_errors_reads_the_same() -> None:
    table, _ = with_holes()
    with pytest.warns(UncertainWarning, match="treated as missing"):
        check = uncertain.check_errors(pl.DataFrame(table), features=["flux", "color"])
    assert check.n_rows == N


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.floats(0.0, 0.3), st.floats(0.0, 0.3), st.floats(-100.0, 100.0))
def test_any_holes_are_filled_with_sizes_that_were_seen(
    seed: int, no_value: float, no_bar: float, power: float
) -> None:
    rng = np.random.default_rng(seed)
    n = 40
    unit = 10.0**power
    values = rng.normal(5.0, 2.0, (n, 2))
    std = np.exp(rng.normal(-1.0, 0.5, (n, 2)))
    holes, bare = rng.random((n, 2)) < no_value, rng.random((n, 2)) < no_bar
    holes[0] = bare[0] = False
    columns = {}
    for scale in (1.0, unit):
        x, s = np.where(holes, np.nan, values) * scale, np.where(bare, np.nan, std) * scale
        table = pl.DataFrame({"a": x[:, 0], "b": x[:, 1], "a_err": s[:, 0], "b_err": s[:, 1]})
        rows = AsGaussians(features=["a", "b"], std="{}_err", on_missing="auto").fit_transform(table)
        assert_array_equal(rows.missing if isinstance(rows, Incomplete) else np.zeros((n, 2), bool), holes)
        whole = rows.gaussians if isinstance(rows, Incomplete) else rows
        found = np.sqrt(np.diagonal(whole.covariances(), axis1=1, axis2=2))
        for j in range(2):
            seen, filled = s[~bare[:, j] & ~holes[:, j], j], found[bare[:, j] & ~holes[:, j], j]
            assert np.all((filled >= seen.min() * 0.999) & (filled <= seen.max() * 1.001))
        columns[scale] = found / scale
    assert_allclose(columns[1.0], columns[unit], rtol=1e-5)  # whatever the unit


def test_sizes_that_stand_in_are_right_on_average() -> None:
    whole = numbers(4_000, 9)
    rng = np.random.default_rng(9)
    hidden = rng.random(4_000) < 0.25
    table = whole | {"flux_err": np.where(hidden, np.nan, whole["flux_err"])}
    for alone in (False, True):  # without the other feature, which tells of the night
        names = ["flux"] if alone else ["flux", "color"]
        reading = AsGaussians(features=names, std="{}_err", on_missing="auto")
        rows = reading.fit_transform(pl.DataFrame(table))
        variance = rows.covariances()[hidden, 0, 0]
        ratio = whole["flux_err"][hidden] ** 2 / variance
        assert abs(np.mean(ratio) - 1.0) < 0.1
        assert np.std(np.log(ratio)) < (1.4 if alone else 0.2)


# -- predictions for rows without error bars


@pytest.fixture(scope="module")
def model() -> uncertain.Model:
    return uncertain.fit(pl.DataFrame(numbers()), "kind", method="gsu")


@pytest.mark.parametrize("kind", KINDS)
def test_rows_without_error_columns_are_predicted_when_it_is_said_how(
    kind: str, model: uncertain.Model
) -> None:
    table = numbers(60, 4)
    bare = KINDS[kind]({name: table[name] for name in ("flux", "color")})
    with pytest.raises(ColumnError, match=r'no column \'flux_err\'.*errors="typical".*errors="zero"'):
        model.predict(bare)
    zeros = KINDS[kind](table | {"flux_err": np.zeros(60), "color_err": np.zeros(60)})
    exact = np.asarray(model.predict_proba(bare, errors="zero"))
    assert_allclose(exact, np.asarray(model.predict_proba(zeros)))
    typical = np.asarray(model.predict_proba(bare, errors="typical"))
    empty = KINDS[kind](table | {"flux_err": np.full(60, np.nan), "color_err": np.full(60, np.nan)})
    assert_allclose(typical, np.asarray(model.predict_proba(empty)))
    assert np.max(typical, axis=1).mean() < np.max(exact, axis=1).mean()  # less sure
    some = KINDS[kind]({name: table[name] for name in ("flux", "color", "color_err")})
    half = np.asarray(model.predict_proba(some, errors="typical"))
    assert not np.array_equal(half, typical)
    for names in (model.predict(bare, errors="typical"), model.predict_set(bare, errors="typical")):
        assert len(names) == 60
    assert model.predict(bare, errors="typical", append=True).shape == (60, 3)
    whole = KINDS[kind](table)
    assert_array_equal(
        np.asarray(model.predict_proba(whole, errors="zero")), np.asarray(model.predict_proba(whole))
    )
    with pytest.raises(uncertain.exceptions.ParameterError, match=r'errors=.*"typical", "zero"'):
        model.predict(bare, errors="median")  # type: ignore[arg-type]


def test_a_strict_model_and_one_from_a_file_know_sizes_too(tmp_path: Path) -> None:
    table = pl.DataFrame(numbers())
    strict = uncertain.fit(table, "kind", method="gsu", on_missing="error")
    bare = table.select("flux", "color").head(20)
    strict.save(tmp_path / "m.safetensors")
    again = uncertain.load(tmp_path / "m.safetensors")
    assert_array_equal(
        again.predict_proba(bare, errors="typical"), strict.predict_proba(bare, errors="typical")
    )


@pytest.mark.filterwarnings("ignore:errors of these rows")
def test_numbers_and_lists_without_error_bars(tmp_path: Path) -> None:
    columns = numbers()
    y = 2.0 * columns["flux"] + np.random.default_rng(3).normal(0.0, 0.2, N)
    means = np.stack([columns["flux"], columns["color"]], axis=1)
    std = np.stack([columns["flux_err"], columns["color_err"]], axis=1)
    for bars in ({"std": std}, {"cov": (np.eye(2) * (std**2)[:, None, :]).reshape(N, 4)}):
        lists = pl.DataFrame({"mean": means, **bars, "y": y})
        model = uncertain.fit(lists, "y", method="gsu", meaning="spread")
        bare = lists.select("mean").head(10)
        typical = model.predict_distribution(bare, errors="typical")
        zero = model.predict_distribution(bare, errors="zero")
        assert (typical["y_std"] > zero["y_std"]).all()
        assert_allclose(typical["y"], zero["y"], atol=0.5)
        assert model.predict_interval(bare, errors="typical").shape == (10, 2)
    bare.write_parquet(tmp_path / "bare.parquet")
    assert_array_equal(
        model.predict(tmp_path / "bare.parquet", errors="typical"), model.predict(bare, errors="typical")
    )


def test_arrays_of_plain_numbers_warn() -> None:
    columns = numbers()
    means = np.stack([columns["flux"], columns["color"]], axis=1)
    X = GaussianArray(means, std=0.8 * means)
    model = uncertain.fit(X, columns["kind"], method="gsu")
    with pytest.warns(UncertainWarning, match=r'X has no error bars.*errors="typical"'):
        exact = model.predict_proba(means)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_array_equal(model.predict_proba(means, errors="zero"), exact)
        typical = model.predict_proba(means, errors="typical")
        model.predict_proba(X)
        uncertain.fit(means, columns["kind"], method="gsu").predict(means)
    middle = GaussianArray(means, std=np.median(0.8 * means, axis=0)[None, :].repeat(N, axis=0))
    assert_allclose(typical, model.predict_proba(middle), atol=0.02)


def test_the_command_line_predicts_without_error_columns(tmp_path: Path, model: uncertain.Model) -> None:
    from click.testing import CliRunner

    from uncertain.cli import main

    bare, path = tmp_path / "bare.csv", tmp_path / "model.safetensors"
    pl.DataFrame(numbers(20, 8)).select("flux", "color").write_csv(bare)
    model.save(path)
    run = lambda *words: CliRunner().invoke(main, ["predict", str(path), str(bare), *words])  # noqa: E731
    assert run().exit_code != 0
    assert run("--errors", "typical").output.count("\n") == 21
