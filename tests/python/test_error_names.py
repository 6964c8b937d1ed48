"""Names of error columns as archives have them: found by rule, and ordinary names are not taken for them."""

import re
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import uncertain
from uncertain import AsGaussians
from uncertain._tables.flags import read_flags
from uncertain._tables.rules import RULES
from uncertain._tables.table import open_table
from uncertain.exceptions import ColumnError, UncertainWarning

N = 60
LABEL = np.repeat(["a", "b"], N // 2)


def columns(*names: str) -> pl.DataFrame:
    """The first one has values, the others are error bars of .1 or .2."""
    values = np.random.default_rng(0).normal(size=N) + 3.0 * (LABEL == "a")
    errors = {name: np.where(np.arange(N) % 2, 0.1, 0.2) for name in names[1:]}
    return pl.DataFrame({names[0]: values} | errors).with_columns(label=pl.Series(LABEL))


def beside(*names: str) -> pl.DataFrame:
    """The same beside a feature u with error bars."""
    return columns(*names).with_columns(columns("u", "u_err").drop("label"))


def found(table: Any, target: str = "label", **roles: Any) -> uncertain.Columns:
    return AsGaussians(columns=uncertain.Columns(target, **roles)).fit(table).columns_


ONE = {
    "Teff_K": "eTeff_K", "V": "eV", "x": "s_x", "X": "X_e", "flux": "Unc_flux", "y": "y_uncertainty",
    "period": "d_period", "pl_orbper": "pl_orbpererr", "mean_radius": "radius_error", "mean_x": "error_x",
    "flux_value": "flux_err", "flux.value": "flux.error", "value_x": "std_x", "x_val": "x_unc",
    "t value": "t error", "radius_mean": "radius_se", "Motion_Mean": "Motion_Std", "avg_v": "v_unc",
    "Mass (kg)": "Standard deviation of Mass (kg)", "size [cm]": "σ(size [cm])", "a b": "a b (SD)",
    "glucose": "glucose ±", "length": "u(length)", "width": "Uncertainty in width", "t0": "t0_1sigma",
    "HbA1c (%)": "HbA1c (%) std. dev.", "depth": "δdepth", "Na (mmol/l)": "Na SD", "K (mM)": "K (SD)",
    "Ca": "Ca SD (mM)", "w1mpro": "w1sigmpro", "x1": "x1ERR", "mag": "magerr", "Vmag": "e_Vmag", "ra": "dra",
    "FeH": "sigma_FeH", "Teff": "err_Teff", "psfMag_u": "psfMagErr_u", "MAG_AUTO": "MAGERR_AUTO",
    "Flux": "flux_err", "flux [mJy]": "flux err [mJy]", "a": "a_std", "b": "b_se", "c": "c_sigma",
    "d": "d_unc", "mean": "mean_se", "cell_length": "cell_length_su", "logmass": "dellogmass", "TE": "seTE",
    "Peak_flux": "E_Peak_flux", "NEE_REF": "NEE_REF_RANDUNC",
    "T [K]": "T Unsicherheit [K]", "Ladder score": "Standard error of ladder score", "P [bar]": "u(P) [bar]",
    "débit": "écart-type débit", "Dichte": "Messunsicherheit Dichte", "yi": "sei",
}  # fmt: skip
TWO = {
    "mass": ("mass_error_max", "mass_error_min"), "R": ("euR", "edR"), "koi": ("koi_err1", "koi_err2"),
    "pl_rade": ("pl_radeerr1", "pl_radeerr2"), "z": ("z_err_hi", "z_err_lo"), "w": ("E_w", "e_w"),
    "q": ("err_q_hi", "err_q_lo"), "s": ("sigma_s_plus", "sigma_s_minus"), "teff": ("teff_ep", "teff_em"),
    "h_mean": ("h_err_upper", "h_err_lower"), "p_value": ("p_err_up", "p_err_down"),
    "logg": ("ehi_logg", "elo_logg"), "fe": ("e_fe_up", "e_fe_low"), "g": ("g_eplus", "g_eminus"),
    "p": ("p_errp", "p_errm"), "r": ("r_uerr", "r_lerr"), "[M/H]": ("erru", "errd"),
}  # fmt: skip
LIMITS = {
    "x": ("x_lo", "x_hi"), "y": ("y_16", "y_84"), "z_50": ("z_16", "z_84"), "w": ("w_p16", "w_p84"),
    "v_median": ("v_16", "v_84"), "u": ("u_lower", "u_upper"), "ux": ("b_ux", "B_ux"),
    "m_med": ("m_5th", "m_95th"), "g": ("g_lb90", "g_ub90"),
}  # fmt: skip


@pytest.mark.parametrize("value", ONE)
def test_one_column(value: str) -> None:
    table = columns(value, ONE[value])
    for given in (table, table.select(reversed(table.columns))):
        own = found(given)
        assert own.features == (value,) and own.bars()[value].columns == (ONE[value],) and own.ignored == ()
    read = AsGaussians(columns=own).fit_transform(table)
    assert np.allclose(read.covariances().ravel(), table[ONE[value]] ** 2)


@pytest.mark.parametrize("value", TWO)
def test_two_arms_in_either_order(value: str) -> None:
    upper, lower = TWO[value]
    for names in ((upper, lower), (lower, upper)):
        table = columns(value, *names)
        for signed in (table, table.with_columns(-pl.col(lower))):
            own = found(signed)
            assert own.features == (value,) and own.ignored == ()
            assert own.std == {value: (upper, lower)} and own.bars()[value].kind == "arms"


@pytest.mark.parametrize("value", LIMITS)
def test_limits_and_quantiles(value: str) -> None:
    low, high = LIMITS[value]
    table = columns(value, low, high)
    limits = {low: pl.col(value) - pl.col(low), high: pl.col(value) + pl.col(high)}
    table = table.with_columns(**limits)
    said = "no name tells the level .* as one standard deviation" if value in ("x", "u", "ux") else None
    with pytest.warns(UncertainWarning, match=said) if said else nullcontext():  # type: ignore[attr-defined]
        own = found(table)
    assert own.features == (value,) and own.ignored == () and own.bounds == {value: (low, high)}


COVERAGE = {
    ("Age (Ma)", "Age ± (2σ)"): 2.0, ("Age", "Age err (2 sigma)"): 2.0, ("Age", "Age_err_2s"): 2.0,
    ("Age", "Age_2s"): 2.0, ("Age", "Age 2SE"): 2.0, ("Age", "2σ Age"): 2.0, ("Age", "Age ±2σ (Ma)"): 2.0,
    ("Age", "Age_U (k=2)"): 2.0, ("Age", "U(Age) (k=3)"): 3.0, ("Age", "Age_Prop2SE"): 2.0,
    ("Age", "Age expanded uncertainty (k=2)"): 2.0, ("Age", "mass_3sigma Age"): None,
    ("Age_2", "Age_2_se"): 1.0,
    ("Age", "Age error (95%)"): 2.0, ("Age", "Age_err95"): 2.0, ("Age", "Age ± (90% CI)"): 1.64485,
    ("x", "x_95CI_low", "x_95CI_high"): 1.95996, ("x", "x_ci90_lower", "x_ci90_upper"): 1.64485,
    ("x", "x_p05", "x_p95"): 1.64485, ("x", "x_2.5%", "x_97.5%"): 1.95996, ("x", "x_16", "x_84"): 1.0,
    ("Flux [Jy]", "Flux err [mJy]"): 1000.0, ("Flux [Jy]", "Flux err [Jy]"): 1.0,
    ("Age", "Error"): 1.0, ("Age", "+/-"): 1.0, ("Age", "2SE"): 2.0, ("logMsun", "siglogM"): 1.0,
    ("half_life", "unc_hl"): 1.0, ("anomaly", "lower_95", "upper_95"): 1.95996,
    ("x", "x_95lo", "x_95hi"): 1.95996,
    ("x", "x lower limit (2.5%)", "x upper limit (97.5%)"): 1.95996, ("Ratio", "2SE(prop)"): 2.0,
    ("OR", "OR_95L", "OR_95U"): 1.95996, ("z", "l68", "u68"): 1.0, ("z", "l95", "u95"): 1.95996,
    ("p", "p_q05", "p_q95"): 1.64485, ("len", "len_uncert_k2"): 2.0, ("co2_ppm", "co2_1s_ppm"): 1.0,
    ("beta", "hdi_3%", "hdi_97%"): 1.88079, ("theta", "theta_hdi_3%", "theta_hdi_97%"): 1.88079,
    ("U_ppm", "U_ppm_2SE_int"): 2.0, ("T [degC]", "dT [mK]"): 1000.0, ("m_p50", "m_p2.5", "m_p97.5"): 1.95996,
}  # fmt: skip
SHARES = {
    ("Ca (ppm)", "Ca RSD%"): 0.01, ("Fe", "Fe_rsd"): 0.01, ("x", "x_err_pct"): 0.01, ("x", "x err (%)"): 0.01,
    ("x", "rel_err_x"): 1.0, ("TOT_EMP", "EMP_PRSE"): 0.01, ("Zn_mg_kg", "Zn_RSD_pct"): 0.01,
    ("HbA1c (%)", "HbA1c err (%)"): None,
}  # fmt: skip


@pytest.mark.parametrize("names", COVERAGE)
def test_coverage_and_units_are_converted(names: tuple[str, ...]) -> None:
    value, *bar = names
    table, sigmas = columns(*names), COVERAGE[names]
    if sigmas is None:
        with pytest.raises(ColumnError, match="no error bars found"):
            found(table)
        return
    if len(bar) == 2:
        table = table.with_columns(
            (pl.col(value) + d).alias(c) for c, d in zip(bar, (-0.1, 0.1), strict=True)
        )
    read = AsGaussians(columns=found(table)).fit_transform(table)
    expected = 0.1 if len(bar) == 2 else table[bar[0]].to_numpy()
    np.testing.assert_allclose(read.covariances()[:, 0, 0] ** 0.5, expected / sigmas, rtol=1e-5)
    told = AsGaussians(columns=uncertain.Columns("label", level=0.5)).fit_transform(table)
    if "[" not in value:
        np.testing.assert_allclose(told.covariances()[:, 0, 0] ** 0.5, expected / 0.6744898, rtol=1e-5)


@pytest.mark.parametrize("names", SHARES)
def test_shares_of_the_value(names: tuple[str, str]) -> None:
    share = SHARES[names]
    table = columns(*names).with_columns(pl.col(names[1]) * (10.0 if share == 0.01 else 1.0))
    std = table[names[1]].to_numpy() * (1.0 if share is None else share * np.abs(table[names[0]].to_numpy()))
    read = AsGaussians(columns=found(table)).fit_transform(table)
    np.testing.assert_allclose(read.covariances()[:, 0, 0] ** 0.5, std, rtol=1e-9)


FEATURES = {
    ("age", "age_sigma", "age_low", "age_high"): {"age": "age_sigma"},
    ("x", "x_Int2SE", "x_Prop2SE"): {"x": "x_Prop2SE"},
    ("m", "m_sigma", "m_sigma_perc"): {"m": "m_sigma"},
    ("fe", "fe_sigma", "fe_em", "fe_ep", "fe_sigma_em", "fe_sigma_ep"): {
        "fe": "fe_ep",
        "fe_sigma": "fe_sigma_ep",
    },
    ("a", "Error", "b", "Error.1"): {"a": "Error", "b": "Error.1"},
    ("H_MEAN", "A_MEAN", "MEAN_PRSE"): {"H_MEAN": "MEAN_PRSE", "A_MEAN": "MEAN_PRSE"},
    ("W50", "sigW", "W20", "flux", "sigflux"): {"W50": "sigW", "flux": "sigflux"},
    ("Vmag", "s_Vmag", "u", "u_err", "n_stars"): {"u": "u_err"},
    ("flux", "flux_err", "mag", "mag_err", "mag_err_std"): {"flux": "flux_err", "mag": "mag_err"},
    ("mag", "dmag", "dmag_err"): {"dmag": "dmag_err"},  # an error bar of its own: a feature
    ("x1", "x2", "x_err1", "x_err2"): {"x1": "x_err1", "x2": "x_err2"},
    ("v", "v_var"): {"v": "v_var"},
    ("log2FoldChange", "lfcSE", "H_F", "H_RANDUNC"): {"log2FoldChange": "lfcSE", "H_F": "H_RANDUNC"},
    ("gPSFMag", "gPSFMagErr", "gPSFMagStd"): {"gPSFMag": "gPSFMagErr"},
    ("beta", "hdi_3%", "hdi_97%", "sd"): {"beta": "sd"},  # an end of an interval has no error bar
    ("width", "width_tol", "flux", "flux_err"): {"flux": "flux_err"},
    ("E.vel", "N.vel", "E.sig", "N.sig"): {"E.vel": "E.sig", "N.vel": "N.sig"},  # values, then error bars
    ("mu_0", "sigma_0", "mu_1", "sigma_1"): {"mu_0": "sigma_0", "mu_1": "sigma_1"},
    ("y", "cov_yy", "x", "sd", "se_x"): {"y": "cov_yy", "x": "se_x"},
    ("x", "se_x", "var_x", "S", "error +", "error -", "B", "B+", "B-"): {
        "x": "se_x",
        "S": "error +",
        "B": "B+",
    },
    ("a_mean", "a_se_mean", "a_sd", "n_eff"): {"a_mean": "a_sd"},  # of chains of draws
    ("mean", "mcse_mean", "sd", "ess_bulk"): {"mean": "sd"},
    ("flux", "flux_err", "m", "m_stat", "m_syst"): {"flux": "flux_err"},
}


@pytest.mark.filterwarnings("ignore:no name tells the level of the limits of B")
@pytest.mark.parametrize("names", FEATURES)
def test_several_features(names: tuple[str, ...]) -> None:
    table = columns(*names).with_columns(pl.col(names[0]).alias(name) for name in FEATURES[names])
    table = table.with_columns(
        pl.col(r"^.*_PRSE$") * 10.0, pl.lit(5).alias("W20"), pl.lit(9).alias("n_stars")
    )
    bars = found(table.select(*names, "label")).bars()
    assert {feature: bar.columns[0] for feature, bar in bars.items()} == FEATURES[names]


def test_pairs_of_features_and_lists_beside_means() -> None:
    table = columns("ra", "ra_err", "dec", "dec_err", "pm", "pm_err", "ra_dec_corr", "cov_ra_pm", "ra_x_corr")
    own = found(table.with_columns(cov_ra_pm=pl.lit(0.001)))
    assert own.corr == {("ra", "dec"): "ra_dec_corr"} and own.cov == {("ra", "pm"): "cov_ra_pm"}
    assert own.ignored == ("ra_x_corr",)
    assert found(columns("mean", "cov", "note")).errors == {"cov": "cov"}
    assert found(columns("mean", "factor", "var")).errors == {"var": "var", "factor": "factor"}
    assert found(columns("mean", "y"), mean="mean").errors == {}
    for names, said in (
        (("mean", "cov", "std"), "std, cov all look like error bars"),
        (("mean", "y"), r"no error bars found .* exact=\['mean', 'y'\] takes"),
    ):
        with pytest.raises(ColumnError, match=said):
            found(columns(*names))


@pytest.mark.parametrize(
    "names",
    [
        ("nergy", "energy"),  # lower case behind e
        ("temp", "temp_min", "temp_max"),  # a range
        ("x", "x_16"),  # a quantile alone
        ("band_1", "band_16", "band_84"),  # no value
        ("R", "euR"),  # an arm alone
        ("p", "p_err1"),
        ("bv", "ebv"),  # an excess
        ("pressure", "pressure, Standard deviation (kPa)"),  # a statistic of some minutes
        ("wind", "wind_sd", "wind_min", "wind_max"),
        ("wind", "wind_u", "wind_v"), ("t", "t_low", "t_high"), ("x", "x_95CI"), ("y", "margin of error y"),
        ("Data", "Low Confidence Limit", "High Confidence Limit"), ("L [mJy]", "L err [K]"),
        ("x", "x1", "x2", "x_err1", "x_err2"),  # of x, or of x1 and x2
        ("x", "-s_x"), ("Teff", "-eTeff"), ("t", "-dt"), ("X", "-X_e"),  # values with signs
        ("flow", "flow_p10", "flow_p90"), ("val", "upper", "lower"), ("V", "VLow", "VHigh"),
        ("hor", "horse", "fy", "ferry"),  # words inside of words
    ],
)  # fmt: skip
def test_ordinary_names(names: tuple[str, ...]) -> None:
    plain = tuple(name.lstrip("-") for name in names)
    table = beside(*plain).with_columns(pl.col(n[1:]) - 0.15 for n in names if n[0] == "-")
    with pytest.warns(UncertainWarning, match="left out"):
        model = uncertain.fit(table, method="gsu")
    assert model.columns_.features == ("u",) and {*model.columns_.ignored} == {*plain}
    assert uncertain.fit(table, exact=plain, method="gsu").columns_.exact == plain


@pytest.mark.parametrize("names", [("m", "m_plus", "m_minus"), ("g_5", "g_lb", "g_ub"), ("w", "w_invvar")])
def test_what_looks_like_an_error_bar_is_not_proposed_as_exact(names: tuple[str, ...]) -> None:
    table = columns("v", *names).with_columns(pl.col("v").alias(names[0])).drop("v")
    with pytest.raises(ColumnError) as refused:
        uncertain.fit(table.rename({names[0]: "other"}), method="gsu")
    assert not re.search(rf"exact=.*'(?:{'|'.join(names[1:])})'", str(refused.value))


def test_text_is_no_error_bar() -> None:
    with pytest.warns(UncertainWarning, match=r"left out: X \(no error column; exact=\['X'\]"):
        model = uncertain.fit(beside("X", "X_e").with_columns(pl.lit("a").alias("X_e")), method="gsu")
    assert model.columns_.features == ("u",)


def test_a_clear_name_comes_before_letters() -> None:
    assert found(columns("mag", "mag_err", "e_mag_bol", "s_mag")).std == {"mag": "mag_err"}
    with pytest.raises(ColumnError, match=r"several error columns: mag .*such as std=\{'mag': '"):
        found(columns("mag", "mag_err", "sigma_mag"))


@pytest.mark.parametrize(
    "errors",
    [("mb_err",), ("dmb",), ("s_mb",), ("e_mb",),
     ("mb_upper", "mb_lower"), ("mb_err1", "mb_err2"), ("mb_16", "mb_84")],
)  # fmt: skip
def test_error_bars_of_the_target(errors: tuple[str, ...]) -> None:
    table = beside("mb", *errors).drop("label").with_columns(pl.col("mb").reverse())
    if len(errors) == 1:
        model = uncertain.fit(table, target="mb", method="gsu")
        assert model.columns_.target_std == errors[0] and model.columns_.ignored == ()
        return
    signs = (1.0, -1.0) if errors[0].endswith(("1", "upper")) else (-1.0, 1.0)
    limits = [pl.col("mb") * (not errors[0].endswith("1")) + 0.1 * sign for sign in signs]
    table = table.with_columns(**dict(zip(errors, limits, strict=True)))
    said = "no name tells the level of the limits of mb" if "upper" in errors[0] else None
    with pytest.warns(UncertainWarning, match=said) if said else nullcontext():  # type: ignore[attr-defined]
        model = uncertain.fit(table, target="mb", method="gsu")
    assert {*model.columns_.target_std} == {*errors} and model.columns_.ignored == ()
    one = table.drop(errors).with_columns(mb_err=pl.lit(0.1))
    same = uncertain.fit(one, target="mb", method="gsu")
    np.testing.assert_allclose(model.coef_, same.coef_, rtol=1e-9)


def test_a_mean_has_the_error_of_its_quantity_only_where_that_is_no_column() -> None:
    table = columns("mean_x", "x_err").with_columns(x=pl.col("mean_x") + 1.0)
    assert found(table).features == ("x",) and found(table).ignored == ("mean_x",)


@pytest.mark.parametrize(
    ("bar", "meaning"),
    [
        ("x_std", "spread of populations"),
        ("x_Variance", "spread of populations"),
        ("x_se", "measurement errors"),
    ],
)
def test_what_stands_beside_a_mean_is_its_error_or_a_spread(bar: str, meaning: str) -> None:
    assert meaning in str(uncertain.fit(columns("x_mean", bar), method="gsu"))


def test_all_error_bars_that_count_as_one_standard_deviation_are_printed() -> None:
    names = [f"{element} Error" for element in "abcdefghijkl"]
    table = columns("z", *names).with_columns(pl.col("z").alias(name[0]) for name in names).drop("z")
    assert all(name in str(uncertain.fit(table, method="gsu")).split("errors  ")[1] for name in names)


def test_numbers_with_error_bars_in_text_are_read_from_files(tmp_path: Any) -> None:
    table = columns("z", "z_err").select(pl.format("{} ± {}", "z", "z_err").alias("z"), "label")
    table.write_csv(tmp_path / "z.csv")
    for memory in (None, "1GB"):
        model = uncertain.fit(tmp_path / "z.csv", target="label", method="gsu", memory=memory)
        assert model.columns_.std == {"z": "z_err"}


OTHER_FORMS = {
    (
        "FLUX_G",
        "FLUX_IVAR_G",
    ): r"FLUX_IVAR_G \(inverse variance; a column FLUX_err_G = 1 / sqrt of it",
    (
        "crp",
        "crp_ci_low",
        "crp_ci_high",
    ): r"bounds=\{'crp': \('crp_ci_low', 'crp_ci_high'\)\}, level=(0.95|\{'crp': 0.95\}) takes",
    (
        "z",
        "z moe",
    ): r"z moe .*\(the name does not tell the level.*'z': 'z moe'\}, level=(0.95|\{'z': 0.95\}) takes",
}


@pytest.mark.filterwarnings("ignore:left out")
@pytest.mark.parametrize("names", OTHER_FORMS)
def test_error_bars_in_another_form_are_named(names: tuple[str, ...]) -> None:
    with pytest.raises(ColumnError, match=f"no error bars found .*{OTHER_FORMS[names]}"):
        uncertain.fit(columns(*names), method="gsu")
    with pytest.warns(UncertainWarning, match=f"left out.*{OTHER_FORMS[names]}"):
        uncertain.fit(beside(*names), method="gsu")


SIGNED = np.linspace(-1.0, 1.0, N)
NO_BARS = {
    ("income", "income_std"): (SIGNED, "income_std .it has negative numbers"),
    ("sensor", "sensor_error"): (np.arange(N) % 2, "sensor_error .it holds 0 and 1 alone"),
    ("z", "dz"): (np.full(N, 0.25), "z, dz .no error column"),  # the thickness of layers
    ("Ce", "Cr", "Se", "Sr"): (np.full(N, 0.25), "Ce, Cr, Se, Sr .no error column"),
    ("epsilon", "sigma"): (np.full(N, 0.25), "epsilon, sigma .no error column"),
    ("z", "z_logvar"): (SIGNED, r"z_logvar .logarithm of a variance; a column z_err = exp.it / 2. is"),
    ("z", "log_sigma_z"): (SIGNED, "a column err_z = exp.it. is read"),
    ("mean", "mcse_mean", "r_hat"): (np.full(N, 0.25), "mcse_mean .the error of the mean of draws"),
}


@pytest.mark.filterwarnings("ignore:z predicts 'label'")
@pytest.mark.parametrize("names", NO_BARS)
def test_names_are_confirmed_by_numbers(names: tuple[str, ...]) -> None:
    numbers, said = NO_BARS[names]
    table = columns(*names).with_columns(pl.Series(name, numbers) for name in names[1:])
    steps = [pl.Series("z", np.arange(N) * 0.25)] if names[1] == "dz" else []
    table = columns("u", "u_err").hstack(table.with_columns(steps).drop("label"))
    with pytest.warns(UncertainWarning, match=f"left out: .*{said}"):
        read = uncertain.fit(table, method="gsu", exact=None).columns_
    assert read.features == ("u",) and {*names} <= {*read.ignored}
    taken = uncertain.fit(table, method="gsu", exact="all").columns_.exact
    assert {*taken}.isdisjoint({name for name in names if re.search("_(?!hat)", name)})


def test_errors_by_a_letter_belong_to_signed_values() -> None:
    """Velocities of stations; all-positive Ce, Cr, Se, Sr are elements."""
    table = columns("Ve", "Vn", "Se", "Sn").with_columns(
        Ve=pl.Series(SIGNED),
        Vn=pl.Series(-SIGNED),
        Se=pl.Series(np.full(N, 0.1)),
        Sn=pl.Series(np.full(N, 0.2)),
    )
    assert uncertain.fit(table, method="gsu").columns_.std == {"Ve": "Se", "Vn": "Sn"}


COUNTED = (
    ("ph", "ph_sd", "ph_n"), ("mean_bp", "sd_bp", "n_bp"), ("A_mean", "A_std", "A_count"),
    ("Na (mM)", "Na SD", "n"), ("bmi (mean)", "bmi (SD)", "sample size"), ("mean", "std", "size"),
    ("age", "age_std", "n_patients"), ("co2", "Stdev", "NbPoints"), ("d18O", "d18O_1sd", "n_d18O"),
)  # fmt: skip


@pytest.mark.filterwarnings("ignore:left out")
@pytest.mark.parametrize("names", COUNTED)
def test_deviations_beside_counts_are_asked_about(names: tuple[str, ...]) -> None:
    value, std, n = names
    table = columns(*names).with_columns(pl.lit(4).alias(n))
    said = re.escape(f"{std} / sqrt({n}) is the error of their mean")
    with pytest.raises(ColumnError, match=rf"the scatter of the .* readings\? {said}.*\{{'") as refused:
        uncertain.fit(table, method="gsu")
    typed = eval(re.search(r"columns=(\{.*?\}) takes", str(refused.value))[1])  # type: ignore[index]
    assert uncertain.fit(table, columns=typed, method="gsu").columns_.std == {value: std}
    u = columns("u", "u_err").drop("label").with_columns(pl.col("u").reverse())
    of_target = table.with_columns(u).drop("label")
    with pytest.warns(UncertainWarning, match=f"of the target are not read: {re.escape(std)} .*{said}"):
        model = uncertain.fit(of_target, target=value, method="gsu")
    assert model.columns_.target_std is None and model.columns_.features == ("u",)


TYPED = (
    ("val", "upper", "lower"), ("V", "VLow", "VHigh"), ("Q", "Q_p10", "Q_p90"), ("pct", "pct moe"),
    ("Data", "Low Confidence Limit", "High Confidence Limit"), ("a_size", "a_size_tol"), ("x", "x_95CI"),
    ("logFC", "CI.L", "CI.R"),
)  # fmt: skip


@pytest.mark.parametrize("names", TYPED)
@pytest.mark.filterwarnings("ignore::uncertain.exceptions.UncertainWarning")
def test_lines_to_type_work_on_their_table(names: tuple[str, ...]) -> None:
    plain, others = columns(*names), columns("u", "u_err").drop("label")
    signs = {name: -0.1 if re.search("(?i)low|p10|L$", name) else 0.1 for name in names[1:]}
    ends = [(pl.col(names[0]) + sign).alias(name) for name, sign in signs.items()]
    plain = plain.with_columns(ends if len(names) == 3 else [])
    if names[0] == "a_size":  # two names of a kind make one likely
        plain = plain.with_columns(b_size=pl.col("a_size") + 1.0, b_size_tol=pl.col("a_size_tol"))
    with pytest.raises(ColumnError) as refused:
        uncertain.fit(plain, method="gsu")
    text = re.search(r"\. (.*?) takes them", str(refused.value))
    taken = uncertain.fit(plain, method="gsu", **eval(f"dict({text[1]})"))  # type: ignore[index]
    assert names[0] in taken.columns_.features and not taken.columns_.exact
    beside = uncertain.fit(plain.with_columns(others), method="gsu")
    reason = re.search(r"; ([a-z]+=\{.*?) takes ", str(beside).split("left out")[1])
    taken = uncertain.fit(plain.with_columns(others), method="gsu", **eval(f"dict({reason[1]})"))  # type: ignore[index]
    assert {"u", names[0]} <= {*taken.columns_.features}
    k = taken.columns_.features.index("u")  # whose error bars stay one standard deviation
    read = taken.gaussians(plain.with_columns(others)).covariances()
    np.testing.assert_allclose(read[0, k, k], 0.04)


NO_FEATURES = (
    ("x", "covariance_0"), ("x", "pose_covariance[4]"), ("x", "x_detection_limit"), ("x", "LOD"),
    ("m", "sd1i"), ("yield", "syst"), ("lat", "hAcc", "vAcc"), ("x_median", "x_q1", "x_q3"),
    ("flux", "flux_over_error"), ("x", "sensorUncertainty"), ("P", "dP", "T", "dT"),
)  # fmt: skip


@pytest.mark.parametrize("names", NO_FEATURES)
@pytest.mark.filterwarnings("ignore::uncertain.exceptions.UncertainWarning")
def test_what_looks_like_an_error_bar_or_limit_is_no_exact_feature(names: tuple[str, ...]) -> None:
    table = columns(names[0], *names[1:])
    if "dT" in names:  # differences, by the other column with this mark
        table = table.with_columns(T=table["P"], dT=pl.Series(np.linspace(-1, 1, N)))
        assert not found(table, exact="all").features
        return
    model = uncertain.fit(table, exact="all", method="gsu")
    assert model.columns_.exact == names[:1]


def test_numbers_refuse_what_names_propose() -> None:
    u = columns("u", "u_err")
    values = 50.0 + u["u"]
    similar = u.with_columns(rate=values, std_rate=values * 0.98)
    assert found(similar).features == ("u",)
    swapped = u.with_columns(r=values, r_hi=values - 0.1, r_lo=values + 0.1)
    read = uncertain.Columns.find(swapped, "label")
    assert "bounds={'r': ('r_hi', 'r_lo')} takes it" in str(read) and read.features == ("u",)
    of_another = u.with_columns(v=values, v_std=u["u_err"], n_u=pl.lit(4))
    assert found(of_another).std == {"u": "u_err", "v": "v_std"}
    ends = pl.DataFrame({"coef": values, "stderr": u["u_err"], "t": values / 9, "ci_l": values - 1,
                         "ci_u": values + 1, "label": LABEL})  # fmt: skip
    assert "lower limit of coef?" in str(uncertain.Columns.find(ends, "label"))


@pytest.mark.parametrize(
    "flag", [np.arange(N) % 4 != 0, (np.arange(N) % 4 != 0) * 1, ["N", *"YYY"] * (N // 4)]
)
def test_flags_of_detections_are_limits_the_other_way_around(flag: Any) -> None:
    x, noise = np.random.default_rng(0).normal(size=(2, N))
    table = pl.DataFrame({"x": x, "x_err": 0.1, "x_detected": flag, "y": 2.0 * x + noise, "y_err": 0.1})
    with pytest.warns(UncertainWarning, match=r"taken as limits: x \(x_detected\)"):
        model = uncertain.fit(table, target="y", method="law")
    assert model.columns_.limits == {"x": "x_detected"}
    assert (read_flags(open_table(table), "x_detected", "x") == np.where(np.arange(N) % 4, 0, -1)).all()
    lone = table.rename({"x_detected": "Detected"})
    with pytest.warns(
        UncertainWarning, match="If 0 or false is an upper limit, pass limits={'x': 'Detected'}"
    ):
        uncertain.fit(lone, target="y", method="law")


def test_the_page_shows_the_rules() -> None:
    page = (Path(__file__).parents[2] / "docs/how-to/table.md").read_text()
    rows = [f"| {rule.names} | {rule.numbers} | {rule.read} |" for rule in RULES]
    assert [row for row in rows if row not in page.replace("`", "")] == []


@pytest.mark.parametrize("kind", [pl.String, pl.Categorical])
def test_classes_that_differ_by_blanks_are_named(kind: Any) -> None:
    label = pl.Series(np.where(np.arange(N) % 4, LABEL, np.char.add(LABEL, " ")), dtype=kind)
    with pytest.warns(UncertainWarning, match="label: the classes 'a' and 'a ' differ by blanks alone"):
        assert len(uncertain.fit(columns("u", "u_err").with_columns(label=label), method="gsu").classes_) == 4


def test_lists_beside_a_matrix_are_means_and_no_draws() -> None:
    means = np.random.default_rng(0).normal(size=(N, 2)) + 3.0 * (LABEL == "a")[:, None]
    cov = np.tile([0.1, 0.0, 0.0, 0.2], (N, 1))
    for mean, matrix in (("position", "covariance"), ("mean", "covariance"), ("x", "x_cov")):
        model = uncertain.fit(pl.DataFrame({mean: means, matrix: cov, "label": LABEL}), method="gsu")
        assert (model.columns_.mean, model.columns_.cov) == (mean, matrix)
    several = pl.DataFrame({"position": means, "orientation": means, "pose_covariance": cov, "label": LABEL})
    with pytest.raises(
        ColumnError, match=r"Say which belong together, such as mean='position', cov='pose_cov"
    ):
        found(several)
