"""What is kept of asymmetric error bars of a table: mean and variance, or their shape."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from numpy.testing import assert_allclose, assert_array_equal

import uncertain
from uncertain import AsGaussians, MixtureArray
from uncertain.cli import main
from uncertain.exceptions import ParameterError, UncertainError, UncertainWarning
from uncertain.laws import GeneralizedLinearLaw
from uncertain.uncertainty import from_bounds

N = 400
RANDOM = np.random.default_rng(3)
TRUE = RANDOM.normal(size=N)
UP = RANDOM.uniform(0.4, 1.2, N)
DOWN = UP / 3
IS_LOW = RANDOM.uniform(size=N) < DOWN / (UP + DOWN)
READ = TRUE - np.where(IS_LOW, -DOWN, UP) * np.abs(RANDOM.normal(size=N))
TABLE = pl.DataFrame({
    "x": READ, "x_err1": UP, "x_err2": -DOWN, "z": RANDOM.normal(size=N), "z_err": 0.3,
    "kind": np.where(RANDOM.uniform(size=N) < 1 / (1 + np.exp(-2 * TRUE)), "yes", "no"),
    "y": 1.0 + 2.0 * TRUE + 0.3 * RANDOM.normal(size=N),
})  # fmt: skip
ONE = TABLE[["x", "x_err1", "x_err2", "kind"]]
LOST = 'asymmetric by more than 10%.* keep the skewness by arms="shape"'


def shaped() -> Any:
    return from_bounds((READ - DOWN)[:, None], (READ + UP)[:, None], value=READ[:, None], rule="shape")


def test_the_columns_give_the_mixtures_of_from_bounds() -> None:
    rows = AsGaussians(features=["x"], std={"x": ("x_err1", "x_err2")}, arms="shape").fit_transform(TABLE)
    assert isinstance(rows, MixtureArray)
    expected = shaped()
    assert_allclose(rows.components.means, expected.components.means, rtol=1e-12, atol=1e-15)
    assert_allclose(rows.components.covariances(), expected.components.covariances(), rtol=1e-12)
    assert_array_equal(rows.weights, expected.weights)


def test_mirrored_arms_are_mirrored_mixtures() -> None:
    value = np.zeros((3, 1))
    below, above = np.array([[0.1], [0.2], [0.37]]), np.array([[0.9], [0.5], [0.11]])
    one = from_bounds(value - below, value + above, value=value, rule="shape")
    other = from_bounds(value - above, value + below, value=value, rule="shape")
    assert_array_equal(one.weights, other.weights)
    assert_allclose(one.components.means, -other.components.means)
    assert_allclose(one.components.covariances(), other.components.covariances())


def test_other_columns_beside_them_are_gaussian() -> None:
    columns = {"features": ["z", "x"], "std": {"z": "z_err", "x": ("x_err1", "x_err2")}, "exact": ["y"]}
    rows = AsGaussians(**columns, arms="shape").fit_transform(TABLE)
    moments = AsGaussians(features=["z"], std="{}_err", exact=["y"]).fit_transform(TABLE)
    assert isinstance(rows, MixtureArray) and rows.shape == (N, 3)
    both = rows.collapse("gaussian")[:, [0, 2]]
    assert_allclose(both.means, moments.means, rtol=1e-12, atol=1e-12)
    assert_allclose(both.covariances(), moments.covariances(), atol=1e-12)


def test_correlated_arms_keep_their_moments() -> None:
    table = TABLE.with_columns(z_err1=pl.lit(0.6), z_err2=pl.lit(-0.2), rho=pl.lit(0.5)).drop("z_err")
    columns = {"features": ["x", "z"], "std": {n: (f"{n}_err1", f"{n}_err2") for n in "xz"}}
    columns["corr"] = {("x", "z"): "rho"}
    with pytest.raises(ParameterError, match=r'independent errors, but x, z .* Use arms="moments"'):
        AsGaussians(**columns, arms="shape").fit(table)
    with pytest.warns(UncertainWarning, match="asymmetric by more than 10%"):
        rows = AsGaussians(**columns).fit_transform(table)
        model = uncertain.fit(table, target="kind", method="law", **columns)
    std = np.sqrt(np.diagonal(rows.covariances(), axis1=1, axis2=2))
    assert_allclose(rows.covariances()[:, 0, 1], 0.5 * std.prod(axis=1))
    assert model.pipeline_[0].arms == "moments"


def test_a_law_keeps_the_shape_and_warns_of_nothing() -> None:
    model = uncertain.fit(ONE, target="kind", method="law")
    own = GeneralizedLinearLaw().fit(shaped(), TABLE["kind"].to_numpy())
    assert model.pipeline_[0].arms == "shape"
    assert_allclose(model.coef_[0], own.coef_, rtol=1e-9)
    with pytest.warns(UncertainWarning, match=LOST):
        moments = uncertain.fit(ONE, target="kind", method="law", arms="moments")
    assert abs(moments.coef_[0, 0] - model.coef_[0, 0]) > 1e-4


@pytest.mark.parametrize(
    "options",
    [
        {"method": "gsu"},
        {"method": "law", "target": "y", "outliers": "student"},
        {"method": "law", "target": "y", "curve": lambda x, p: p[0] + p[1] * x[:, 0], "p0": [1.0, 2.0],
         "truth": "functional", "target_std": np.full(N, 0.3)},
        {"method": "law", "target": "y", "modes": np.ones((N, 1))},
    ],
)  # fmt: skip
def test_where_mixtures_are_not_taken_or_not_by_default_there_are_moments(options: dict[str, Any]) -> None:
    with pytest.warns(UncertainWarning, match=LOST):
        model = uncertain.fit(TABLE, **{"target": "kind", "features": ["x"], **options})
    assert model.pipeline_[0].arms == "moments"


def test_a_law_of_many_asymmetric_features_takes_moments() -> None:
    many = {f"x{j}": READ + j for j in range(4)}
    arms = {f"x{j}_err{k + 1}": (UP, DOWN)[k] for j in range(4) for k in range(2)}
    table = pl.DataFrame(many | arms | {"kind": TABLE["kind"]})
    with pytest.warns(UncertainWarning, match=LOST):
        model = uncertain.fit(table, target="kind", method="law", alpha=0.1)
    assert model.pipeline_[0].arms == "moments"


@pytest.mark.parametrize("method", ["gsu", "discriminant", "remeasured", "auto"])
def test_any_method_takes_the_shape_that_is_asked_for(method: str, tmp_path: Path) -> None:
    model = uncertain.fit(ONE[:150], target="kind", method=method, arms="shape")
    assert isinstance(model.gaussians(ONE[:5]), MixtureArray)
    model.save(tmp_path / "model")
    again = uncertain.load(tmp_path / "model")
    assert again.pipeline_[0].arms == "shape"
    assert again.predict_proba(ONE).equals(model.predict_proba(ONE))


def test_without_asymmetric_columns_there_is_nothing_to_keep() -> None:
    model = uncertain.fit(TABLE[["z", "z_err", "kind"]], target="kind", method="law")
    assert model.pipeline_[0].arms == "moments"
    assert not isinstance(model.gaussians(TABLE), MixtureArray)


def test_gaps_leave_the_shape_of_what_is_there() -> None:
    gaps = ONE.with_columns(x=pl.when(pl.int_range(N) % 40 == 0).then(None).otherwise(pl.col("x")))
    model = uncertain.fit(gaps, target="kind", method="law")  # a warning would be an error
    rows = model.pipeline_[0].transform(gaps)
    assert isinstance(rows, uncertain.Incomplete) and isinstance(rows.gaussians, MixtureArray)
    whole = uncertain.fit(ONE, target="kind", method="law")
    np.testing.assert_allclose(model.coef_, whole.coef_, rtol=0.2)
    assert len(whole.predict(gaps)) == N


def test_a_later_fit_forgets_the_arms() -> None:
    reading = AsGaussians(arms="shape").fit(ONE.drop("kind"))
    for later in (TABLE[["z", "z_err"]], np.zeros((3, 1))):  # a warning would be an error
        assert not isinstance(reading.fit_transform(later), MixtureArray)
        reading.fit(ONE.drop("kind"))


def test_refusals(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="arms='shapes': must be one of"):
        uncertain.fit(ONE, target="kind", arms="shapes")
    with pytest.raises(ParameterError, match='memory=: arms="shape"'):
        uncertain.fit(ONE, target="kind", method="gsu", arms="shape", memory="1GB")
    with pytest.raises(ParameterError, match="arms='auto'"):
        AsGaussians(features=["x"], std={"x": ("x_err1", "x_err2")}, arms="auto").fit(TABLE)
    model = uncertain.fit(ONE, target="kind", method="discriminant", arms="shape")
    with pytest.raises(UncertainError, match='arms="shape" has no translation'):
        model.to_onnx(tmp_path / "model.onnx")


def test_command_line(tmp_path: Path) -> None:
    ONE.write_parquet(tmp_path / "rows.parquet")
    out = tmp_path / "model.safetensors"
    run = CliRunner().invoke(
        main, ["fit", f"{tmp_path / 'rows.parquet'}", "-t", "kind", "--method", "gsu", "--arms", "shape",
               "-o", f"{out}"],
    )  # fmt: skip
    assert run.exit_code == 0, run.output
    assert uncertain.load(out).pipeline_[0].arms == "shape"
