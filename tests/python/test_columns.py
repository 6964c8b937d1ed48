"""Which columns `uncertain.fit` finds by name, which it is told, and what it says about the others."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import uncertain
from uncertain import AsGaussians, Columns
from uncertain.exceptions import ColumnError, NullError, ParameterError, UncertainError, UncertainWarning
from uncertain.uncertainty import from_bounds

N = 80


def two_classes(seed: int = 0) -> dict[str, Any]:
    """Two classes with a feature `flux`, its error bars, and an exact one."""
    rng = np.random.default_rng(seed)
    side = np.arange(N) % 2
    error = rng.uniform(0.1, 0.6, N)
    return {
        "flux": rng.normal(2.0 * side, 1.0) + error * rng.normal(size=N),
        "flux_err": error,
        "airmass": rng.uniform(1.0, 2.0, N) - 0.4 * side,
        "kind": np.where(side, "quasar", "star").tolist(),
    }


def test_a_catalogue_of_magnitudes_is_read_in_full() -> None:
    rng = np.random.default_rng(0)
    side = np.arange(200) % 2
    columns: dict[str, Any] = {"objid": [f"J{k}" for k in range(200)]}
    for k, band in enumerate("ugriz"):
        error = rng.uniform(0.02, 0.3, 200)
        columns[f"psfMag_{band}"] = 18 + 0.3 * k * side + error * rng.normal(size=200)
        columns[f"psfMagErr_{band}"] = error
    columns |= {"redshift": rng.uniform(0, 2, 200), "redshift_err": np.full(200, 0.01)}
    columns["class"] = np.where(side, "QSO", "STAR").tolist()
    model = uncertain.fit(pl.DataFrame(columns), target="class", method="gsu")
    bands = [f"psfMag_{band}" for band in "ugriz"]
    assert model.columns_.features == (*bands, "redshift") and model.columns_.ignored == ("objid",)
    read = model.gaussians(pl.DataFrame(columns))
    for j, band in enumerate("ugriz"):
        np.testing.assert_array_equal(read.means[:, j], columns[f"psfMag_{band}"])
        np.testing.assert_allclose(read.covariances()[:, j, j], columns[f"psfMagErr_{band}"] ** 2)
    assert "(psfMagErr_u), psfMag_g (psfMagErr_g)" in str(model) and "measurement errors" in str(model)


def test_numeric_columns_left_out_are_named_once() -> None:
    columns = two_classes() | {"ra": np.arange(N) * 1.0, "mystery_err": np.ones(N)}
    with pytest.warns(UncertainWarning) as caught:
        model = uncertain.fit(pl.DataFrame(columns), target="kind", method="gsu")
    assert len(caught) == 1
    text = str(caught[0].message)
    assert "airmass, ra;" in text and "exact=['airmass', 'ra']" in text
    assert "looks like an error bar: mystery_err; std={\"feature\": 'mystery_err'}" in text
    assert model.columns_.ignored == ("airmass", "ra", "mystery_err")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert (
            uncertain.fit(pl.DataFrame(columns), target="kind", exact=[], method="gsu").columns_
            == model.columns_
        )
        assert uncertain.fit(
            pl.DataFrame(columns), target="kind", features=["flux"], method="gsu"
        ).columns_.features == ("flux",)


@pytest.mark.parametrize("library", [pl.DataFrame, pd.DataFrame])
def test_exact_features_beside_noisy_ones(library: Any) -> None:
    columns = two_classes() | {"flag": np.arange(N) % 3 == 0, "count": np.arange(N) % 5}
    table = library(columns)
    model = uncertain.fit(table, target="kind", exact=["airmass"], method="gsu")
    assert (model.columns_.features, model.columns_.exact) == (("flux",), ("airmass",))
    read = model.gaussians(table)
    np.testing.assert_array_equal(read.means, np.column_stack([columns["flux"], columns["airmass"]]))
    np.testing.assert_allclose(read.covariances()[:, 0, 0], columns["flux_err"] ** 2)
    assert not read.covariances()[:, :, 1].any()
    every = uncertain.fit(table, target="kind", exact="all", method="gsu")
    assert every.columns_.exact == ("airmass", "count")
    alone = uncertain.fit(
        library({k: columns[k] for k in ("airmass", "count", "kind")}),
        target="kind",
        exact="all",
        method="gsu",
    )
    assert alone.columns_.features == () and alone.gaussians(table).kind == "zero"
    assert "meaning" not in str(alone)
    assert every.score(table) >= model.score(table) - 0.05
    flags = uncertain.fit(table, target="kind", exact=["flag"], method="gsu").gaussians(table)
    np.testing.assert_array_equal(flags.means[:, 1], columns["flag"].astype(float))
    with pytest.raises(ColumnError, match=r"kin: exact= takes numbers.*categorical=\['kin'\]"):
        uncertain.fit(library(columns | {"kin": columns["kind"]}), "kind", exact=["kin"], method="gsu")
    only = uncertain.fit(table, target="kind", features=["airmass"], exact=["airmass"], method="gsu")
    assert only.gaussians(table).shape == (N, 1) and "flux" in only.columns_.ignored
    listed = uncertain.fit(
        table, target="kind", features=["flux", "airmass"], exact=["airmass"], method="gsu"
    )
    np.testing.assert_array_equal(listed.pipeline_[-1].coef_, model.pipeline_[-1].coef_)


def test_categories_are_zeros_and_ones(tmp_path: Any) -> None:
    columns = two_classes() | {"survey": (["SDSS", "2MASS", "WISE", "WISE"] * N)[:N]}
    table = pl.DataFrame(columns)
    model = uncertain.fit(table, target="kind", exact=[], categorical=["survey"], method="gsu")
    names = model.pipeline_[0].get_feature_names_out().tolist()
    assert names == ["flux", "survey_2MASS", "survey_SDSS", "survey_WISE"]
    read = model.gaussians(table)
    expected = np.stack([[value == s for s in ("2MASS", "SDSS", "WISE")] for value in columns["survey"]])
    np.testing.assert_array_equal(read.means[:, 1:], expected)
    assert not read.covariances()[:, 1:].any()
    path = tmp_path / "model.safetensors"
    model.save(path)
    again = uncertain.load(path)
    np.testing.assert_array_equal(
        again.predict_proba(table).to_numpy(), model.predict_proba(table).to_numpy()
    )
    assert again.columns_ == model.columns_
    strange = table.with_columns(survey=pl.lit("LSST"))
    for fitted in (model, again):
        with pytest.raises(
            UncertainError, match=r"survey: row 0 is 'LSST'.*2MASS, SDSS, WISE.*handle_unknown"
        ):
            fitted.predict(strange)
    tolerant = uncertain.fit(
        table, target="kind", exact=[], categorical=["survey"], handle_unknown="ignore", method="gsu"
    )
    assert not tolerant.gaussians(strange).means[:, 1:].any()
    nulls = table.with_columns(survey=pl.when(pl.col("survey") != "WISE").then("survey"))
    with pytest.raises(NullError, match=r"survey: row 2 has no category.*on_missing"):
        uncertain.fit(
            nulls, target="kind", exact=[], categorical=["survey"], on_missing="error", method="gsu"
        )
    own = uncertain.fit(nulls, target="kind", exact=[], categorical=["survey"], method="gsu")
    assert own.pipeline_[0].categories_ == {"survey": ["2MASS", "SDSS", None]}
    names = pl.DataFrame({"name": [f"star {k}" for k in range(101)], "x": np.zeros(101)})
    with pytest.raises(
        UncertainError, match=r"name: 101 different values are no categories.*exact=\['name'\]"
    ):
        AsGaussians(categorical=["name"]).fit(names)


@pytest.mark.parametrize("method", ["gsu", "kernel", "huber", "discriminant", "minimax", "usvc", "tsvc"])
def test_categories_with_every_method(method: Any) -> None:
    columns = two_classes() | {"survey": (["SDSS", "2MASS", "WISE", "WISE"] * N)[:N]}
    table = pl.DataFrame(columns)
    model = uncertain.fit(table, "kind", method=method, exact=["airmass"], categorical=["survey"])
    assert model.score(table) > 0.7
    assert np.isfinite(model.predict_proba(table).to_numpy()).all()


@pytest.mark.parametrize(
    ("names", "upper", "lower"),
    [
        (("flux_err1", "flux_err2"), 1, -1),
        (("flux_errp", "flux_errm"), 1, 1),
        (("flux_err_upper", "flux_err_lower"), 1, -1),
        (("flux_upper", "flux_lower"), "limit", "limit"),
        (("flux_upper", "flux_lower"), 1, 1),
    ],
)
def test_asymmetric_error_bars(names: tuple[str, str], upper: Any, lower: Any, tmp_path: Any) -> None:
    columns = two_classes()
    below, above = columns.pop("flux_err"), np.linspace(0.05, 0.8, N)
    x = columns["flux"] - 30.0  # negative, so that lengths are no limits
    columns["flux"] = x
    columns[names[0]] = x + above if upper == "limit" else upper * above
    columns[names[1]] = x - below if lower == "limit" else lower * below
    table = pl.DataFrame(columns)
    with pytest.warns(UncertainWarning, match="asymmetric"):
        expected = from_bounds((x - below)[:, None], (x + above)[:, None], value=x[:, None])
    with pytest.warns(UncertainWarning, match="asymmetric"):
        model = uncertain.fit(table, "kind", exact=[], method="gsu")
    for fitted in (model, _saved_and_loaded(model, tmp_path)):
        read = fitted.gaussians(table)
        np.testing.assert_allclose(read.means, expected.means, rtol=1e-12)
        np.testing.assert_allclose(read.covariances(), expected.covariances(), rtol=1e-9)
    assert names[0] in str(model) and names[1] in str(model)
    for spelling in (
        {"bounds": {"flux": names[::-1]}} if upper == "limit" else {"std": {"flux": names}},
        {"bounds": ("{}_lower", "{}_upper")} if upper == "limit" else {"features": ["flux"], "std": [names]},
    ):
        with pytest.warns(UncertainWarning, match="asymmetric"):
            told = uncertain.fit(table, "kind", **{"method": "gsu"} | spelling, exact=[])
        np.testing.assert_array_equal(told.gaussians(table).covariances(), read.covariances())


def _saved_and_loaded(model: uncertain.Model, folder: Any) -> uncertain.Model:
    model.save(folder / "model.safetensors")
    return uncertain.load(folder / "model.safetensors")


def test_limits_that_do_not_hold() -> None:
    columns = two_classes()
    columns["flux_lower"], columns["flux_upper"] = columns["flux"] - 0.1, columns["flux"] + 0.1
    del columns["flux_err"]
    table = pl.DataFrame(columns)
    model = uncertain.fit(table, "kind", exact=[], method="gsu")
    with pytest.raises(UncertainError, match=r"flux_lower and flux_upper: row 3 .* lies outside"):
        model.predict(
            table.with_columns(pl.Series("flux", [*columns["flux"][:3], *columns["flux"][3:] + 1.0]))
        )
    arms = pl.DataFrame(columns | {"flux_err1": -np.ones(N), "flux_err2": -np.ones(N)})
    with pytest.raises(UncertainError, match=r"flux_err1 and flux_err2: row 0 .* upper and the lower arm"):
        uncertain.fit(arms, "kind", std={"flux": ("flux_err1", "flux_err2")}, exact=[], method="gsu")


def test_correlations_and_covariances_are_found(tmp_path: Any) -> None:
    rng = np.random.default_rng(0)
    columns = two_classes() | {"mag": rng.normal(size=N), "mag_err": rng.uniform(0.1, 0.5, N)}
    del columns["airmass"]
    columns |= {"z": rng.normal(size=N), "z_err": rng.uniform(0.1, 0.5, N)}
    rho = rng.uniform(-0.8, 0.8, N)
    table = pl.DataFrame(columns | {"flux_mag_corr": rho})
    model = uncertain.fit(table, "kind", method="gsu")
    cov = model.gaussians(table).covariances()
    np.testing.assert_allclose(cov[:, 0, 1], rho * columns["flux_err"] * columns["mag_err"])
    assert not cov[:, 2, :2].any()
    assert model.columns_.corr == {("flux", "mag"): "flux_mag_corr"} and model.columns_.ignored == ()
    product = rho * columns["flux_err"] * columns["mag_err"]
    for name in ("cov_flux_mag", "mag_flux_cov"):
        other = pl.DataFrame(columns | {name: product})
        found = uncertain.fit(other, "kind", method="gsu")
        np.testing.assert_allclose(found.gaussians(other).covariances(), cov, rtol=1e-12)
        again = _saved_and_loaded(found, tmp_path)
        assert again.columns_ == found.columns_
        np.testing.assert_array_equal(
            again.gaussians(other).covariances(), found.gaussians(other).covariances()
        )
    told = uncertain.fit(
        pl.DataFrame(columns | {"q": rho}),
        "kind",
        features=["flux", "mag", "z"],
        corr={("mag", "flux"): "q"},
        method="gsu",
    )
    np.testing.assert_allclose(
        told.gaussians(pl.DataFrame(columns | {"q": rho})).covariances(), cov, rtol=1e-12
    )
    few = uncertain.fit(table, "kind", features=["mag", "flux"], method="gsu")
    np.testing.assert_allclose(few.gaussians(table).covariances(), cov[:, [1, 0]][:, :, [1, 0]], rtol=1e-12)
    assert uncertain.fit(table, "kind", corr={}, exact=[], method="gsu").gaussians(table).kind == "diagonal"
    wrong = pl.DataFrame(columns | {"cov_flux_mag": np.ones(N)})
    with pytest.raises(UncertainError, match=r"cov_flux_mag: row 0 is 1.0, but the standard deviations"):
        uncertain.fit(wrong, "kind", method="gsu")


def test_covariances_alone() -> None:
    columns = two_classes()
    del columns["airmass"]
    columns |= {"mag": np.arange(N) * 0.1, "cov_flux_flux": columns.pop("flux_err") ** 2}
    columns |= {"cov_mag_mag": np.full(N, 0.04), "cov_flux_mag": np.full(N, 0.001)}
    table = pl.DataFrame(columns)
    for given in (
        "cov_{}_{}",
        {("flux", "flux"): "cov_flux_flux", ("mag", "mag"): "cov_mag_mag", ("mag", "flux"): "cov_flux_mag"},
    ):
        read = uncertain.fit(table, "kind", cov=given, exact=[], method="gsu").gaussians(table)
        np.testing.assert_allclose(read.covariances()[:, 0, 0], columns["cov_flux_flux"])
        np.testing.assert_allclose(read.covariances()[:, 1], [[0.001, 0.04]] * N)


def test_dictionaries_and_lists_of_columns() -> None:
    columns = two_classes() | {
        "b": np.arange(N) * 0.1,
        "noise_of_b": np.full(N, 0.3),
        "v_of_flux": np.full(N, 0.2),
    }
    table = pl.DataFrame(columns)
    one = uncertain.fit(table, "kind", std={"b": "noise_of_b"}, exact=[], method="gsu")
    assert one.columns_.features == ("b",)
    np.testing.assert_allclose(one.gaussians(table).covariances()[:, 0, 0], 0.09)
    both = uncertain.fit(
        table, "kind", std={"b": "noise_of_b"}, var={"flux": "v_of_flux"}, exact=[], method="gsu"
    )
    assert both.columns_.features == ("flux", "b")
    np.testing.assert_allclose(both.gaussians(table).covariances()[:, 0, 0], 0.2)
    listed = uncertain.fit(
        table, "kind", features=["b", "flux"], std=["noise_of_b", "flux_err"], method="gsu"
    )
    assert listed.columns_.features == ("b", "flux")
    mixed = uncertain.fit(table, "kind", features=["b", "flux"], std={"b": "noise_of_b"}, method="gsu")
    np.testing.assert_array_equal(mixed.pipeline_[-1].coef_, listed.pipeline_[-1].coef_)
    for wrong, words in (
        ({"std": ["noise_of_b"]}, "needs features= in the same order"),
        ({"features": ["b", "flux"], "std": ["noise_of_b"]}, "one column for each of the 2 features"),
        ({"std": {"b": "noise"}}, "no column 'noise'; did you mean 'noise_of_b'"),
        ({"std": {"c": "noise_of_b"}}, "no column 'c'"),
        ({"std": {"b": 3}}, "std={'b': 3}: must be .* each feature must have a column"),
        ({"bounds": {"b": "noise_of_b"}}, "a pair of columns"),
        ({"std": {"b": "noise_of_b"}, "var": {"b": "v_of_flux"}}, "error bar in two arguments"),
        ({"exact": "airmass"}, r"""exact=\["airmass"\], or "all\""""),
        ({"exact": ["airmas"]}, "did you mean 'airmass'"),
        ({"exact": ["kind"]}, "given as target and as exact"),
        ({"exact": ["airmass"], "categorical": ["airmass"]}, "given as exact and as categorical"),
        ({"corr": {"flux": "b"}}, "must be a pattern such as"),
        ({"corr": {("flux", "q"): "b"}, "exact": []}, "'q', which is no feature with error bars"),
    ):
        with pytest.raises((ColumnError, ParameterError), match=words):
            uncertain.fit(table, "kind", **{"method": "gsu"} | wrong)


def test_different_suffixes_in_one_table() -> None:
    columns = two_classes() | {"v": np.arange(N) * 0.1, "v_se": np.full(N, 0.5)}
    table = pl.DataFrame(columns)
    model = uncertain.fit(table, "kind", exact=[], method="gsu")
    assert model.columns_.features == ("flux", "v")
    np.testing.assert_allclose(model.gaussians(table).covariances()[:, 1, 1], 0.25)


def test_codes_for_missing_values_are_named() -> None:
    columns = two_classes()
    del columns["airmass"]
    columns["flux"][[3, 7, 9]] = -9999.0
    columns["flux_err"][[3, 7]] = 99.0
    with pytest.warns(UncertainWarning, match=r"flux is -9999 in 3 rows.*flux_err is 99 in 2 rows.*nulls"):
        uncertain.fit(pl.DataFrame(columns), "kind", on_missing="error", method="gsu")
    columns = two_classes() | {"z": np.where(np.arange(N) % 20, np.linspace(0.1, 2.5, N), -99.0)}
    with pytest.warns(UncertainWarning, match=r"z is -99 in 4 rows"):
        uncertain.fit(pl.DataFrame(columns), "z", exact=[], method="gsu")
    honest = two_classes()
    del honest["airmass"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        uncertain.fit(pl.DataFrame(honest | {"flux": np.linspace(80, 99, N).round()}), "kind", method="gsu")


def test_meaning_auto_follows_the_kind_of_column() -> None:
    columns = two_classes()
    table = pl.DataFrame({k: columns[k] for k in ("flux", "flux_err", "kind")})
    steps = lambda model: [name for name, _ in model.pipeline_.steps]  # noqa: E731
    assert "denoise" in steps(uncertain.fit(table, "kind", method="gsu"))
    assert steps(uncertain.fit(table, "kind", method="gsu")) == steps(
        uncertain.fit(table, "kind", meaning="measurement", method="gsu")
    )
    assert "denoise" not in steps(uncertain.fit(table, "kind", meaning="spread", method="gsu"))
    lists = table.select("kind", mean=pl.concat_arr("flux"), std=pl.concat_arr("flux_err"))
    assert "denoise" not in steps(uncertain.fit(lists, "kind", method="gsu"))
    rows = uncertain.GaussianArray(columns["flux"][:, None], std=columns["flux_err"])
    assert "denoise" not in steps(uncertain.fit(rows, columns["kind"], method="gsu"))
    assert "denoise" not in steps(uncertain.fit(table, "kind", method="discriminant"))
    named = table.rename({"flux": "f", "flux_err": "f_err"}).with_columns(
        pl.concat_arr("f").alias("f"), pl.concat_arr("f_err").alias("f_err")
    )
    found = uncertain.fit(named, "kind", method="gsu")
    assert (found.columns_.mean, found.columns_.errors) == ("f", {"std": "f_err"}) and "denoise" not in steps(
        found
    )


def test_columns_in_one_object() -> None:
    table = pl.DataFrame(two_classes() | {"patient": np.arange(N) // 2, "weight": np.ones(N)})
    roles: dict[str, Any] = {
        "features": ["flux"],
        "exact": ["airmass"],
        "groups": "patient",
        "sample_weight": "weight",
    }
    columns = Columns("kind", **roles)
    model = uncertain.fit(table, columns=columns, method="gsu")
    shortcuts = uncertain.fit(table, "kind", **roles, method="gsu")
    partly = uncertain.fit(
        table, columns=Columns(features=["flux"], exact=["airmass"]), target="kind", groups="patient",
        sample_weight="weight", method="gsu",
    )  # fmt: skip
    for other in (shortcuts, partly, uncertain.fit(table, columns=model.columns_, method="gsu")):
        assert other.columns_ == model.columns_
        assert other.pipeline_[-1].coef_.tobytes() == model.pipeline_[-1].coef_.tobytes()
    rows = AsGaussians(columns=columns).fit(table)
    assert rows.columns_.scalars == ["flux", "airmass"] and rows.columns_.target == "kind"
    check = uncertain.check_errors(table, columns=Columns(features=["flux"], groups="patient"))
    assert check.feature_names == ("flux",) and check.by == ("replicates",)
    assert eval(repr(columns), {"Columns": Columns}) == columns


def test_a_mapping_of_features_to_their_error_columns() -> None:
    columns = two_classes() | {"p": np.ones(N), "up": np.full(N, 0.2), "low": np.full(N, 0.1)}
    table = pl.DataFrame(columns)
    mapping = {"flux": "flux_err", "p": ("up", "low"), "airmass": None}
    named: dict[str, Any] = {"features": ["flux", "p"], "std": {"flux": "flux_err", "p": ["up", "low"]}}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UncertainWarning)  # of asymmetric error bars
        model = uncertain.fit(table, "kind", columns=mapping, method="gsu")
        other = uncertain.fit(table, "kind", **named, exact=["airmass"], method="gsu")
        rows = AsGaussians(columns=mapping).fit(table)
        check = uncertain.check_errors(table, columns=mapping)
    assert model.columns_ == other.columns_ and rows.feature_names_in_.tolist() == ["flux", "p", "airmass"]
    assert check.feature_names == ("flux", "p")
    assert {f: bar.columns for f, bar in model.columns_.bars().items()} == {
        "flux": ("flux_err",), "p": ("up", "low"),
    }  # fmt: skip
    assert Columns.from_dict(model.columns_.to_dict()) == model.columns_
    exact = uncertain.fit(table, "kind", columns={"flux": None}, method="gsu")
    assert exact.columns_.exact == ("flux",) and exact.columns_.features == ()
    for wrong in ({}, {"flux": 3}, {"flux": ("a", "b", "c")}):
        with pytest.raises(ParameterError, match="must be"):
            uncertain.fit(table, "kind", columns=wrong, method="gsu")
    with pytest.raises(ValueError, match="std=3: must be the name of a column"):
        Columns.from_dict({"std": 3})


def test_a_role_is_given_once() -> None:
    table = pl.DataFrame(two_classes())
    twice = {"exact": ["airmass"]}, {"std": "{}_err"}
    for role in twice:
        with pytest.raises(ParameterError, match=r"is given beside columns=Columns\((exact|std)=.*leave one"):
            uncertain.fit(table, "kind", columns=Columns(features=["flux"], **role), method="gsu", **role)
    with pytest.raises(ParameterError, match=r"target='airmass' is given beside"):
        uncertain.fit(table, "airmass", columns=Columns("kind"), method="gsu")
    with pytest.raises(ParameterError, match=r"columns=\['flux'\]: must be a dictionary"):
        uncertain.fit(table, columns=["flux"], method="gsu")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match=r"groups=\[1\]: must be the name of a column"):
        Columns(groups=[1])  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="pass either mean="):
        Columns(mean="m", features=["a"])


def test_lists_and_scalars_may_be_mixed() -> None:
    columns = two_classes() | {"survey": (["SDSS", "SDSS", "WISE"] * N)[:N]}
    rng = np.random.default_rng(1)
    matrices = np.stack([np.diag([e, 2 * e]) + 0.3 * e for e in columns["flux_err"]])
    columns["mean"] = np.column_stack([columns["flux"], rng.normal(size=N)]).tolist()
    columns["cov"] = matrices.reshape(N, 4).tolist()
    table = pl.DataFrame(columns)
    model = uncertain.fit(
        table, "kind", mean="mean", cov="cov", exact=["airmass"], categorical=["survey"], method="gsu"
    )
    read = model.gaussians(table)
    assert read.shape == (N, 5)
    np.testing.assert_allclose(read.covariances()[:, :2, :2], matrices, rtol=1e-12)
    assert not read.covariances()[:, 2:].any()
    np.testing.assert_array_equal(read.means[:, 2], columns["airmass"])
    assert "spread of populations" in str(model)
    names = model.pipeline_[0].get_feature_names_out().tolist()
    assert names == ["mean0", "mean1", "airmass", "survey_SDSS", "survey_WISE"]


def test_columns_without_a_single_error_bar_are_named() -> None:
    columns = two_classes() | {"teq": np.sin(np.arange(N)), "teq_err": np.full(N, np.nan)}
    table = pl.DataFrame(columns)
    with pytest.raises(ColumnError, match=r"^teq: in every row .* exact=\['teq'\]"):
        uncertain.fit(
            table, "kind", std={"flux": "flux_err", "teq": "teq_err"}, on_missing="impute", exact=["airmass"],
            method="gsu",
        )  # fmt: skip
    model = uncertain.fit(table, "kind", on_missing="impute", exact=["airmass", "teq"], method="gsu")
    assert model.columns_.features == ("flux",)


def test_asymmetric_columns_are_named_in_one_warning() -> None:
    columns = two_classes() | {
        f"p{k}{side}": np.full(N, value)
        for k in "ab"
        for side, value in (("", 1.0), ("_err1", 0.2), ("_err2", -0.1))
    }
    with pytest.warns(UncertainWarning, match=r"100 % of the error bars of pa, pb are asymmetric") as caught:
        uncertain.fit(pl.DataFrame(columns), "kind", exact=["airmass"], method="gsu")
    assert len(caught) == 1
