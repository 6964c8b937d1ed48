"""Names of error columns as archives have them: found by rule, and ordinary names are not taken for them."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import uncertain
from uncertain.exceptions import ColumnError, UncertainWarning

N = 60
LABEL = np.repeat(["a", "b"], N // 2)


def columns(*names: str) -> pl.DataFrame:
    """The first one has values, the others are error bars of .1 or .2."""
    values = np.random.default_rng(0).normal(size=N) + 3.0 * (LABEL == "a")
    errors = {name: np.where(np.arange(N) % 2, 0.1, 0.2) for name in names[1:]}
    return pl.DataFrame({names[0]: values} | errors).with_columns(label=pl.Series(LABEL))


ONE = {
    "Teff_K": "eTeff_K", "V": "eV", "x": "s_x", "X": "X_e", "flux": "Unc_flux", "y": "y_uncertainty",
    "period": "d_period", "pl_orbper": "pl_orbpererr", "mean_radius": "radius_error", "mean_x": "error_x",
    "flux_value": "flux_err", "flux.value": "flux.error", "value_x": "std_x", "x_val": "x_unc",
    "t value": "t error",
    "radius_mean": "radius_se", "Motion_Mean": "Motion_Std", "avg_v": "v_unc",
    "Mass (kg)": "Standard deviation of Mass (kg)", "size [cm]": "σ(size [cm])", "a b": "a b (SD)",
    "glucose": "glucose ±", "length": "u(length)", "width": "Uncertainty in width", "t0": "t0_1sigma",
    "HbA1c (%)": "HbA1c (%) std. dev.", "depth": "δdepth", "Na (mmol/l)": "Na SD", "K (mM)": "K (SD)",
    "Ca": "Ca SD (mM)", "w1mpro": "w1sigmpro",
}  # fmt: skip
ARMS = {
    "mass": ("mass_error_max", "mass_error_min"), "R": ("euR", "edR"), "koi": ("koi_err1", "koi_err2"),
    "pl_rade": ("pl_radeerr1", "pl_radeerr2"), "z": ("z_err_hi", "z_err_lo"), "w": ("E_w", "e_w"),
    "q": ("err_q_hi", "err_q_lo"), "s": ("sigma_s_plus", "sigma_s_minus"), "teff": ("teff_ep", "teff_em"),
    "h_mean": ("h_err_upper", "h_err_lower"), "p_value": ("p_err_up", "p_err_down"),
    "logg": ("ehi_logg", "elo_logg"), "fe": ("e_fe_up", "e_fe_low"), "g": ("g_eplus", "g_eminus"),
}  # fmt: skip
LIMITS = {
    "x": ("x_lo", "x_hi"), "y": ("y_16", "y_84"), "z_50": ("z_16", "z_84"), "w": ("w_p16", "w_p84"),
    "v_median": ("v_16", "v_84"), "u": ("u_lower", "u_upper"),
}  # fmt: skip


@pytest.mark.parametrize("value", ONE)
def test_one_column(value: str) -> None:
    table = columns(value, ONE[value])
    model = uncertain.fit(table, method="gsu")
    assert model.columns_.features == (value,) and model.columns_.ignored == ()
    assert np.allclose(model.gaussians(table).covariances().ravel(), table[ONE[value]] ** 2)


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("value", ARMS)
def test_two_arms_in_either_order(value: str, swapped: bool) -> None:
    upper, lower = ARMS[value]
    table = columns(value, *((lower, upper) if swapped else (upper, lower)))
    for signed in (table, table.with_columns(-pl.col(lower))):
        model = uncertain.fit(signed, method="gsu")
        assert model.columns_.features == (value,) and model.columns_.ignored == ()
        assert model.columns_.std == {value: (upper, lower)}


@pytest.mark.parametrize("value", LIMITS)
def test_limits_and_quantiles(value: str) -> None:
    low, high = LIMITS[value]
    table = columns(value, low, high)
    limits = {low: pl.col(value) - pl.col(low), high: pl.col(value) + pl.col(high)}
    table = table.with_columns(**limits)
    model = uncertain.fit(table, method="gsu")
    assert model.columns_.features == (value,) and model.columns_.ignored == ()
    assert model.columns_.bounds == {value: (low, high)}


@pytest.mark.parametrize(
    ("names", "error"),
    [
        (("x", "s_x"), "s_x"),
        (("Teff", "eTeff"), "eTeff"),
        (("t", "dt"), "dt"),
        (("X", "X_e"), "X_e"),
    ],
)
def test_a_column_with_signs_is_a_value(names: tuple[str, str], error: str) -> None:
    table = columns(*names).with_columns(columns("u", "u_err").drop("label"))
    table = table.with_columns(pl.col(error) - 0.15)
    with pytest.warns(UncertainWarning, match=f"left out, because no column is its error bar: {names[0]}"):
        model = uncertain.fit(table, method="gsu")
    assert model.columns_.features == ("u",) and set(model.columns_.ignored) == set(names)
    exact = uncertain.fit(table, exact=list(names), method="gsu")
    assert exact.columns_.exact == names


@pytest.mark.parametrize(
    "names",
    [
        ("nergy", "energy"),  # lower case behind e
        ("temp", "temp_min", "temp_max"),  # a range
        ("x", "x_16"),  # a quantile alone
        ("band_1", "band_16", "band_84"),  # no value
        ("R", "euR"),  # an arm alone
        ("bv", "ebv"),  # an excess
        ("mass", "mass_2sigma", "mass 3σ"),  # not one standard deviation
    ],
)
def test_ordinary_names(names: tuple[str, ...]) -> None:
    table = columns(*names).with_columns(columns("u", "u_err").drop("label"))
    with pytest.warns(UncertainWarning, match="left out"):
        model = uncertain.fit(table, method="gsu")
    assert model.columns_.features == ("u",) and set(model.columns_.ignored) == set(names)


def test_text_is_no_error_bar() -> None:
    table = columns("X", "X_e").with_columns(columns("u", "u_err").drop("label"))
    table = table.with_columns(pl.lit("a").alias("X_e"))
    with pytest.warns(UncertainWarning, match="left out, because no column is its error bar: X;"):
        assert uncertain.fit(table, method="gsu").columns_.features == ("u",)


def test_a_clear_name_comes_before_letters() -> None:
    table = columns("mag", "mag_err", "e_mag_bol", "s_mag")
    with pytest.warns(UncertainWarning, match="left out, .*s_mag"):
        assert uncertain.fit(table, method="gsu").columns_.std == {"mag": "mag_err"}
    with pytest.raises(ColumnError, match=r"'mag' has several error columns .*such as std=\{'mag': '"):
        uncertain.fit(columns("mag", "mag_err", "sigma_mag"), method="gsu")


def target(*errors: str) -> pl.DataFrame:
    """Numbers that no feature gives away, with error columns."""
    return columns("mb", *errors).drop("label").with_columns(pl.col("mb").reverse())


@pytest.mark.parametrize("error", ["mb_err", "dmb", "s_mb", "e_mb"])
def test_error_bars_of_the_target(error: str) -> None:
    table = columns("u", "u_err").drop("label").with_columns(target(error))
    model = uncertain.fit(table, target="mb", method="gsu")
    assert model.columns_.target_std == error and model.columns_.ignored == ()


@pytest.mark.parametrize("names", [("mb_upper", "mb_lower"), ("mb_err1", "mb_err2"), ("mb_16", "mb_84")])
def test_arms_of_the_target_are_said_to_be_ignored(names: tuple[str, str]) -> None:
    table = columns("u", "u_err").drop("label").with_columns(target(*names))
    with pytest.warns(UncertainWarning, match="the error bars of the target in mb_.* are ignored"):
        model = uncertain.fit(table, target="mb", method="gsu")
    assert model.columns_.features == ("u",) and set(model.columns_.ignored) == set(names)


def test_a_mean_has_the_error_of_its_quantity_only_where_that_is_no_column() -> None:
    table = columns("mean_x", "x_err").with_columns(x=pl.col("mean_x") + 1.0)
    with pytest.warns(UncertainWarning, match="no column is its error bar: mean_x"):
        model = uncertain.fit(table, method="gsu")
    assert model.columns_.features == ("x",)


@pytest.mark.parametrize(
    ("bar", "meaning"), [("x_std", "spread"), ("x_Variance", "spread"), ("x_se", "measurement")]
)
def test_what_stands_beside_a_mean_is_its_error_or_a_spread(bar: str, meaning: str) -> None:
    model = uncertain.fit(columns("x_mean", bar), method="gsu")
    assert f"meaning    {meaning}" in str(model)


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (
            ("FLUX_G", "FLUX_IVAR_G"),
            r"'FLUX_IVAR_G' looks like an inverse variance: make 'FLUX_err_G' = 1 / sqrt",
        ),
        (("flux", "flux_err_pct"), r"'flux_err_pct' looks like .* relative to its value: make 'flux_err' ="),
        (
            ("crp", "crp_ci_low", "crp_ci_high"),
            r"confidence interval of 'crp'.*bounds=\{'crp': \('crp_ci_low'",
        ),
        (("x", "x_ci95_lower", "x_ci95_upper"), r"confidence interval of 'x': of one of 95 % make 'x_err'"),
    ],
)
def test_error_bars_in_another_form_are_named(names: tuple[str, ...], said: str) -> None:
    with pytest.raises(ColumnError, match=f"no error bars found .*{said}"):
        uncertain.fit(columns(*names), method="gsu")
    table = columns(*names).with_columns(columns("u", "u_err").drop("label"))
    with pytest.warns(UncertainWarning, match=f"left out.*{said}"):
        assert uncertain.fit(table, method="gsu").columns_.features == ("u",)


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (("ph", "ph_sd", "ph_n"), r"if 'ph_n' counts .* its error bar is 'ph_sd' / sqrt\('ph_n'\)"),
        (("mean_bp", "sd_bp", "n_bp"), r"'sd_bp' / sqrt\('n_bp'\)"),
        (("A_mean", "A_std", "A_count"), r"'A_std' / sqrt\('A_count'\)"),
        (("Na (mM)", "Na SD", "n"), r"'Na SD' / sqrt\('n'\)"),
        (("ph", "ph_se", "ph_n"), r"left out, because no column is its error bar: ph_n;(?!.*sqrt)"),
    ],
)
def test_deviations_beside_numbers_of_readings_are_questioned(names: tuple[str, ...], said: str) -> None:
    table = columns(*names).with_columns(pl.lit(4).alias(names[-1]))
    with pytest.warns(UncertainWarning, match=said):
        uncertain.fit(table, method="gsu")


@pytest.mark.parametrize("kind", [None, pl.Categorical])
def test_classes_that_differ_by_blanks_are_named(kind: pl.DataType | None) -> None:
    label = np.where(np.arange(N) % 4, LABEL, np.char.add(LABEL, " "))
    table = columns("u", "u_err").with_columns(label=pl.Series(label, dtype=kind or pl.String))
    with pytest.warns(UncertainWarning, match="label: the classes 'a' and 'a ' differ by blanks alone"):
        assert len(uncertain.fit(table, method="gsu").classes_) == 4


def test_lists_beside_a_matrix_are_means_and_no_draws() -> None:
    rng = np.random.default_rng(0)
    means = rng.normal(size=(N, 2)) + 3.0 * (LABEL == "a")[:, None]
    cov = np.tile([0.1, 0.0, 0.0, 0.2], (N, 1))
    for mean, matrix in (("position", "covariance"), ("mean", "covariance"), ("x", "x_cov")):
        table = pl.DataFrame({mean: means, matrix: cov, "label": LABEL})
        model = uncertain.fit(table, method="gsu")
        assert (model.columns_.mean, model.columns_.cov) == (mean, matrix)
        assert np.allclose(model.gaussians(table).covariances()[0], np.diag([0.1, 0.2]))
    table = pl.DataFrame({"position": means, "orientation": means, "pose_covariance": cov, "label": LABEL})
    with pytest.raises(
        ColumnError, match=r"say which belong together, such as mean='position', cov='pose_cov"
    ):
        uncertain.fit(table, method="gsu")
