"""Which columns `uncertain.fit` finds by name, which it is told, and what it says about the others."""

import re
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


def two_classes(*without: str, **more: Any) -> dict[str, Any]:
    """Two classes with a feature `flux`, its error bars, and an exact one."""
    rng = np.random.default_rng(0)
    side = np.arange(N) % 2
    error = rng.uniform(0.1, 0.6, N)
    table = {
        "flux": rng.normal(2.0 * side, 1.0) + error * rng.normal(size=N),
        "flux_err": error,
        "airmass": rng.uniform(1.0, 2.0, N) - 0.4 * side,
        "kind": np.where(side, "quasar", "star").tolist(),
    }
    return {name: values for name, values in (table | more).items() if name not in without}


def fit(table: Any, **options: Any) -> uncertain.Model:
    """One exact fit of the kind."""
    table = pl.DataFrame(table) if isinstance(table, dict) else table
    return uncertain.fit(table, **{"target": "kind", "method": "gsu"} | options)


def cov(model: uncertain.Model, table: Any) -> np.ndarray:
    return model.gaussians(pl.DataFrame(table)).covariances()


def saved_and_loaded(model: uncertain.Model, folder: Any) -> uncertain.Model:
    model.save(folder / "model.safetensors")
    return uncertain.load(folder / "model.safetensors")


SURVEY = (["SDSS", "2MASS", "WISE", "WISE"] * N)[:N]


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
    model = fit(columns, target="class")
    bands = [f"psfMag_{band}" for band in "ugriz"]
    assert model.columns_.features == (*bands, "redshift") and model.columns_.ignored == ("objid",)
    read = model.gaussians(pl.DataFrame(columns))
    for j, band in enumerate("ugriz"):
        np.testing.assert_array_equal(read.means[:, j], columns[f"psfMag_{band}"])
        np.testing.assert_allclose(read.covariances()[:, j, j], columns[f"psfMagErr_{band}"] ** 2)
    assert "(psfMagErr_u), psfMag_g (psfMagErr_g)" in str(model) and "measurement errors" in str(model)


def test_numeric_columns_left_out_are_named_once() -> None:
    columns = two_classes(ra=np.arange(N) * 1.0, mystery_err=np.ones(N))
    with pytest.warns(UncertainWarning) as caught:
        model = fit(columns)
    assert len(caught) == 1
    text = str(caught[0].message)
    assert "airmass, ra (no error column; exact=['airmass', 'ra'] takes them), mystery_err (" in text
    assert "columns={'flux': 'flux_err', 'ra': 'mystery_err'} takes it" in text
    assert text.partition("left out: ")[2].partition(". exact=[]")[0] in str(model)
    every = AsGaussians(columns=Columns("kind", exact="all")).fit(pl.DataFrame(columns))
    assert every.columns_.exact == ("airmass", "ra")
    assert model.columns_.ignored == ("airmass", "ra", "mystery_err")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert fit(columns, exact=[]).columns_ == model.columns_
        assert fit(columns, features=["flux"]).columns_.features == ("flux",)


@pytest.mark.parametrize("library", [pl.DataFrame, pd.DataFrame])
def test_exact_features_beside_noisy_ones(library: Any) -> None:
    columns = two_classes(flag=np.arange(N) % 3 == 0, count=np.arange(N) % 5)
    table = library(columns)
    model = fit(table, exact=["airmass"])
    assert (model.columns_.features, model.columns_.exact) == (("flux",), ("airmass",))
    read = model.gaussians(table)
    np.testing.assert_array_equal(read.means, np.column_stack([columns["flux"], columns["airmass"]]))
    np.testing.assert_allclose(read.covariances()[:, 0, 0], columns["flux_err"] ** 2)
    assert not read.covariances()[:, :, 1].any()
    every = fit(table, exact="all")
    assert every.columns_.exact == ("airmass", "count") and every.score(table) >= model.score(table) - 0.05
    alone = fit(library({k: columns[k] for k in ("airmass", "count", "kind")}), exact="all")
    assert alone.columns_.features == () and alone.gaussians(table).kind == "zero"
    assert "meaning" not in str(alone)
    flags = fit(table, exact=["flag"]).gaussians(table)
    np.testing.assert_array_equal(flags.means[:, 1], columns["flag"].astype(float))
    with pytest.raises(ColumnError, match=r"kin: exact= takes numbers.*categorical=\['kin'\]"):
        fit(library(columns | {"kin": columns["kind"]}), exact=["kin"])
    only = fit(table, features=["airmass"], exact=["airmass"])
    assert only.gaussians(table).shape == (N, 1) and "flux" in only.columns_.ignored
    listed = fit(table, features=["flux", "airmass"], exact=["airmass"])
    np.testing.assert_array_equal(listed.pipeline_[-1].coef_, model.pipeline_[-1].coef_)


def test_categories_are_zeros_and_ones(tmp_path: Any) -> None:
    table = pl.DataFrame(two_classes(survey=SURVEY))
    of_survey: dict[str, Any] = {"exact": [], "categorical": ["survey"]}
    model = fit(table, **of_survey)
    names = model.pipeline_[0].get_feature_names_out().tolist()
    assert names == ["flux", "survey_2MASS", "survey_SDSS", "survey_WISE"]
    read = model.gaussians(table)
    expected = np.stack([[value == s for s in ("2MASS", "SDSS", "WISE")] for value in SURVEY])
    np.testing.assert_array_equal(read.means[:, 1:], expected)
    assert not read.covariances()[:, 1:].any()
    again = saved_and_loaded(model, tmp_path)
    assert again.predict_proba(table).equals(model.predict_proba(table)) and again.columns_ == model.columns_
    strange = table.with_columns(survey=pl.lit("LSST"))
    for fitted in (model, again):
        with pytest.raises(
            UncertainError, match=r"survey: row 0 is 'LSST'.*2MASS, SDSS, WISE.*handle_unknown"
        ):
            fitted.predict(strange)
    tolerant = fit(table, **of_survey, handle_unknown="ignore")
    assert not tolerant.gaussians(strange).means[:, 1:].any()
    nulls = table.with_columns(survey=pl.when(pl.col("survey") != "WISE").then("survey"))
    with pytest.raises(NullError, match=r"survey: row 2 has no category.*on_missing"):
        fit(nulls, **of_survey, on_missing="error")
    assert fit(nulls, **of_survey).pipeline_[0].categories_ == {"survey": ["2MASS", "SDSS", None]}
    many = pl.DataFrame({"name": [f"star {k}" for k in range(101)], "x": np.zeros(101)})
    with pytest.raises(
        UncertainError, match=r"name: 101 different values are no categories.*exact=\['name'\]"
    ):
        AsGaussians(categorical=["name"]).fit(many)


@pytest.mark.parametrize("method", ["gsu", "kernel", "huber", "discriminant", "minimax", "usvc", "tsvc"])
def test_categories_with_every_method(method: Any) -> None:
    table = pl.DataFrame(two_classes(survey=SURVEY))
    model = fit(table, method=method, exact=["airmass"], categorical=["survey"])
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
    x = columns["flux"] = columns["flux"] - 30.0  # negative, so that lengths are no limits
    columns[names[0]] = x + above if upper == "limit" else upper * above
    columns[names[1]] = x - below if lower == "limit" else lower * below
    table = pl.DataFrame(columns)
    warnings.filterwarnings("ignore", "no name tells the level", UncertainWarning)
    with pytest.warns(UncertainWarning, match="asymmetric"):
        expected = from_bounds((x - below)[:, None], (x + above)[:, None], value=x[:, None])
    with pytest.warns(UncertainWarning, match="asymmetric"):
        model = fit(table, exact=[])
    for fitted in (model, saved_and_loaded(model, tmp_path)):
        read = fitted.gaussians(table)
        np.testing.assert_allclose(read.means, expected.means, rtol=1e-12)
        np.testing.assert_allclose(read.covariances(), expected.covariances(), rtol=1e-9)
    assert names[0] in str(model) and names[1] in str(model)
    for spelling in (
        {"bounds": {"flux": names[::-1]}} if upper == "limit" else {"std": {"flux": names}},
        {"bounds": ("{}_lower", "{}_upper")} if upper == "limit" else {"features": ["flux"], "std": [names]},
    ):
        with pytest.warns(UncertainWarning, match="asymmetric"):
            told = fit(table, **spelling, exact=[])
        np.testing.assert_array_equal(told.gaussians(table).covariances(), read.covariances())


def test_asymmetric_columns_are_named_in_one_warning() -> None:
    sides = {"": 1.0, "_err1": 0.2, "_err2": -0.1}
    arms = {f"p{k}{side}": np.full(N, value) for k in "ab" for side, value in sides.items()}
    with pytest.warns(UncertainWarning, match=r"100 % of the error bars of pa, pb are asymmetric") as caught:
        fit(two_classes(**arms), exact=["airmass"])
    assert len(caught) == 1


def test_limits_that_do_not_hold() -> None:
    flux = two_classes()["flux"]
    table = pl.DataFrame(two_classes("flux_err", flux_lower=flux - 0.1, flux_upper=flux + 0.1))
    with pytest.warns(UncertainWarning, match="no name tells the level of the limits of flux"):
        fit(table, exact=[])
    refused = pytest.raises(UncertainError, match=r"flux_lower and flux_upper: row 3 .* lies outside")
    with refused, pytest.warns(UncertainWarning, match="no name tells the level"):
        fit(table.with_columns(pl.Series("flux", [*flux[:3], *flux[3:] + 1.0])), exact=[], on_missing="error")
    arms = two_classes("flux_err", flux_err1=-np.ones(N), flux_err2=-np.ones(N))
    with pytest.raises(
        UncertainError, match=r"flux_err1 and flux_err2: 80 of 80 rows .* upper and the lower arm"
    ):
        fit(arms, std={"flux": ("flux_err1", "flux_err2")}, exact=[])


def test_correlations_and_covariances_are_found(tmp_path: Any) -> None:
    rng = np.random.default_rng(0)
    more = {name: rng.normal(size=N) for name in ("mag", "z")}
    more |= {f"{name}_err": rng.uniform(0.1, 0.5, N) for name in ("mag", "z")}
    columns, rho = two_classes("airmass", **more), rng.uniform(-0.8, 0.8, N)
    table = columns | {"flux_mag_corr": rho}
    model = fit(table)
    product = rho * columns["flux_err"] * columns["mag_err"]
    expected = cov(model, table)
    np.testing.assert_allclose(expected[:, 0, 1], product)
    assert not expected[:, 2, :2].any()
    assert model.columns_.corr == {("flux", "mag"): "flux_mag_corr"} and model.columns_.ignored == ()
    for name in ("cov_flux_mag", "mag_flux_cov"):
        other = columns | {name: product}
        found = fit(other)
        np.testing.assert_allclose(cov(found, other), expected, rtol=1e-12)
        again = saved_and_loaded(found, tmp_path)
        assert again.columns_ == found.columns_
        np.testing.assert_array_equal(cov(again, other), cov(found, other))
    other = columns | {"q": rho}
    told = fit(other, features=["flux", "mag", "z"], corr={("mag", "flux"): "q"})
    np.testing.assert_allclose(cov(told, other), expected, rtol=1e-12)
    few = fit(table, features=["mag", "flux"])
    np.testing.assert_allclose(cov(few, table), expected[:, [1, 0]][:, :, [1, 0]], rtol=1e-12)
    assert fit(table, corr={}, exact=[]).gaussians(pl.DataFrame(table)).kind == "diagonal"
    with pytest.raises(UncertainError, match=r"cov_flux_mag: row 0 is 1.0, but standard deviations"):
        fit(columns | {"cov_flux_mag": np.ones(N)})


@pytest.mark.parametrize(
    "given",
    [
        "cov_{}_{}",
        {("flux", "flux"): "cov_flux_flux", ("mag", "mag"): "cov_mag_mag", ("mag", "flux"): "cov_flux_mag"},
    ],
)
def test_covariances_alone(given: Any) -> None:
    variance = two_classes()["flux_err"] ** 2
    pairs = {"cov_flux_flux": variance, "cov_mag_mag": np.full(N, 0.04), "cov_flux_mag": np.full(N, 0.001)}
    table = two_classes("airmass", "flux_err", mag=np.arange(N) * 0.1, **pairs)
    read = cov(fit(table, cov=given, exact=[]), table)
    np.testing.assert_allclose(read[:, 0, 0], variance)
    np.testing.assert_allclose(read[:, 1], [[0.001, 0.04]] * N)


def test_a_mapping_of_features_to_their_error_columns() -> None:
    table = pl.DataFrame(two_classes(p=np.ones(N), up=np.full(N, 0.2), low=np.full(N, 0.1)))
    mapping = {"flux": "flux_err", "p": ("up", "low"), "airmass": None}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UncertainWarning)  # of asymmetric error bars
        model = fit(table, columns=mapping)
        named: dict[str, Any] = {"features": ["flux", "p"], "std": {"flux": "flux_err", "p": ["up", "low"]}}
        other = fit(table, **named, exact=["airmass"])
        rows = AsGaussians(columns=mapping).fit(table)
        check = uncertain.check_errors(table, columns=mapping)
    assert model.columns_ == other.columns_ and rows.feature_names_in_.tolist() == ["flux", "p", "airmass"]
    assert check.feature_names == ("flux", "p")
    bars = {feature: bar.columns for feature, bar in model.columns_.bars().items()}
    assert bars == {"flux": ("flux_err",), "p": ("up", "low")}
    exact = fit(table, columns={"flux": None}).columns_
    assert exact.exact == ("flux",) and exact.features == ()
    for wrong in ({}, {"flux": 3}, {"flux": ("a", "b", "c")}, ["flux"]):
        with pytest.raises(ParameterError, match="must be"):
            fit(table, columns=wrong)


def test_dictionaries_and_lists_of_columns() -> None:
    more = {"b": np.arange(N) * 0.1, "noise_of_b": np.full(N, 0.3), "v_of_flux": np.full(N, 0.2)}
    table = pl.DataFrame(two_classes(**more))
    one = fit(table, std={"b": "noise_of_b"}, exact=[])
    assert one.columns_.features == ("b",)
    np.testing.assert_allclose(cov(one, table)[:, 0, 0], 0.09)
    both = fit(table, std={"b": "noise_of_b"}, var={"flux": "v_of_flux"}, exact=[])
    assert both.columns_.features == ("flux", "b")
    np.testing.assert_allclose(cov(both, table)[:, 0, 0], 0.2)
    listed = fit(table, features=["b", "flux"], std=["noise_of_b", "flux_err"])
    assert listed.columns_.features == ("b", "flux")
    mixed = fit(table, features=["b", "flux"], std={"b": "noise_of_b"})
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
            fit(table, **wrong)


def test_columns_in_one_object() -> None:
    table = pl.DataFrame(two_classes(patient=np.arange(N) // 2, weight=np.ones(N)))
    of_features: dict[str, Any] = {"features": ["flux"], "exact": ["airmass"]}
    of_rows = {"groups": "patient", "sample_weight": "weight"}
    columns = Columns("kind", **of_features, **of_rows)
    model = fit(table, target="label", columns=columns)
    for other in (
        fit(table, **of_features, **of_rows),
        fit(table, columns=Columns(**of_features), **of_rows),
        fit(table, columns=model.columns_),
    ):
        assert other.columns_ == model.columns_
        assert other.pipeline_[-1].coef_.tobytes() == model.pipeline_[-1].coef_.tobytes()
    rows = AsGaussians(columns=columns).fit(table)
    assert rows.columns_.scalars == ["flux", "airmass"] and rows.columns_.target == "kind"
    check = uncertain.check_errors(table, columns=Columns(features=["flux"], groups="patient"))
    assert check.feature_names == ("flux",) and check.by == ("replicates",)
    assert eval(repr(columns), {"Columns": Columns}) == columns
    assert Columns.from_dict(model.columns_.to_dict()) == model.columns_
    with pytest.raises(ValueError, match="std=3: must be the name of a column"):
        Columns.from_dict({"std": 3})


def test_a_role_is_given_once() -> None:
    table = pl.DataFrame(two_classes())
    for role in ({"exact": ["airmass"]}, {"std": "{}_err"}):
        with pytest.raises(ParameterError, match=r"is given beside columns=Columns\((exact|std)=.*leave one"):
            fit(table, columns=Columns(features=["flux"], **role), **role)
    with pytest.raises(ParameterError, match=r"target='airmass' is given beside"):
        fit(table, target="airmass", columns=Columns("kind"))
    with pytest.raises(ParameterError, match=r"groups=\[1\]: must be the name of a column"):
        Columns(groups=[1])  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="pass either mean="):
        Columns(mean="m", features=["a"])


def test_lists_and_scalars_may_be_mixed() -> None:
    columns = two_classes(survey=(["SDSS", "SDSS", "WISE"] * N)[:N])
    matrices = np.stack([np.diag([e, 2 * e]) + 0.3 * e for e in columns["flux_err"]])
    columns["mean"] = np.column_stack([columns["flux"], np.random.default_rng(1).normal(size=N)]).tolist()
    columns["cov"] = matrices.reshape(N, 4).tolist()
    model = fit(columns, mean="mean", cov="cov", exact=["airmass"], categorical=["survey"])
    read = model.gaussians(pl.DataFrame(columns))
    assert read.shape == (N, 5)
    np.testing.assert_allclose(read.covariances()[:, :2, :2], matrices, rtol=1e-12)
    assert not read.covariances()[:, 2:].any()
    np.testing.assert_array_equal(read.means[:, 2], columns["airmass"])
    assert "spread of populations" in str(model)
    names = model.pipeline_[0].get_feature_names_out().tolist()
    assert names == ["mean0", "mean1", "airmass", "survey_SDSS", "survey_WISE"]


def test_codes_for_missing_values_are_named() -> None:
    columns = two_classes("airmass")
    columns["flux"][[3, 7, 9]], columns["flux_err"][[3, 7]] = -9999.0, 99.0
    with pytest.warns(UncertainWarning, match=r"flux is -9999 in 3 rows.*flux_err is 99 in 2 rows.*by null"):
        fit(columns, on_missing="error")
    columns = two_classes(z=np.where(np.arange(N) % 20, np.linspace(0.1, 2.5, N), -99.0))
    with pytest.warns(UncertainWarning, match=r"z is -99 in 4 rows"):
        fit(columns, target="z", exact=[])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit(two_classes("airmass", flux=np.linspace(80, 99, N).round()))


def test_meaning_auto_follows_the_kind_of_column() -> None:
    columns = two_classes("airmass")
    table = pl.DataFrame(columns)

    def denoises(table: Any, **options: Any) -> bool:
        return "denoise" in dict(fit(table, **options).pipeline_.steps)

    assert denoises(table) and denoises(table, meaning="measurement")
    assert not denoises(table, meaning="spread") and not denoises(table, method="discriminant")
    lists = table.select("kind", mean=pl.concat_arr("flux"), std=pl.concat_arr("flux_err"))
    assert not denoises(lists)
    rows = uncertain.GaussianArray(columns["flux"][:, None], std=columns["flux_err"])
    assert not denoises(rows, target=columns["kind"])
    named = lists.rename({"mean": "f", "std": "f_err"})
    found = fit(named).columns_
    assert (found.mean, found.errors) == ("f", {"std": "f_err"}) and not denoises(named)


def test_what_is_read_is_shown_before_a_fit() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=N) + 9.0, rng.normal(size=N)
    table = pl.DataFrame(
        {"flux": x, "flux 2SE": np.full(N, 0.4), "T": x, "T_lower": x - 1.0, "T_upper": x + 1.0,
         "n": rng.uniform(size=N),
         "l_flux": ["<", ""] * (N // 2), "crp": x, "crp_ci_low": x - 2.0, "crp_ci_high": x + 2.0,
         "note": ["a"] * N, "y": y, "y_err": np.full(N, 0.1)}
    )  # fmt: skip
    read = Columns.find(table, target="y")
    lines = dict(line.split(maxsplit=1) for line in str(read).replace("flux 2SE", "flux_2SE").splitlines())
    for name, said in {
        "flux": "value with an error bar", "flux_2SE": "error bar of flux .*/ 2 .level 0.954", "y": "target",
        "T_lower": "lower limit of T .*level not told: one standard deviation", "y_err": "error bar of y",
        "n": r"left out +no error column; exact=\['n'\] takes it",
        "l_flux": "left out +flags of limits of flux.*limits=.* takes it",
        "crp_ci_low": "lower limit of crp. .*does not tell the level", "note": "left out +text",
    }.items():  # fmt: skip
        assert re.match(said, lines[name]), (name, lines[name])
    assert read.features == ("flux", "T") and read.target_std == "y_err"
    pasted = eval(repr(read), {"Columns": Columns})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UncertainWarning)
        assert fit(table, target="y", columns=pasted).columns_.error_bars == read.error_bars
    refused = Columns.find(table.select("crp", "crp_ci_low", "crp_ci_high", "n", "y"), target="y")
    assert refused.bounds == {"crp": ("crp_ci_low", "crp_ci_high")} and refused.level == 0.95
    assert refused.exact == ("n",) and "no error bars found" in str(refused)
    with pytest.raises(ColumnError, match=r"bounds=\{'crp': .*\}, level=0.95 takes them; exact=\['n'\]"):
        fit(table.select("crp", "crp_ci_low", "crp_ci_high", "n", "y"), target="y")
    taken = fit(table, target="y", columns=refused)
    np.testing.assert_allclose(taken.gaussians(table).covariances()[:, 0, 0], 1.0412, rtol=1e-3)
