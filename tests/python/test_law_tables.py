"""Laws of tables: the roles of columns that only laws have, curves, and what is found by name."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.model_selection import RepeatedKFold

import uncertain
from uncertain import GaussianArray, UncertainError
from uncertain.laws import CurveRegressor, GeneralizedLinearLaw, LinearLaw
from uncertain.plot import LawDisplay


@pytest.fixture
def table(rng: np.random.Generator) -> pl.DataFrame:
    n = 300
    z, s, t = rng.normal(size=n), rng.uniform(0.2, 0.4, n), rng.uniform(0.1, 0.3, n)
    e = rng.normal(size=(n, 2))
    e[:, 1] = 0.5 * e[:, 0] + np.sqrt(0.75) * e[:, 1]
    survey = rng.integers(2, size=n)
    y = 1 + 2 * z + t * e[:, 1] + 0.1 * rng.normal(size=n) + np.where(survey, 0.3, -0.2)
    rate = np.exp(0.5 + 0.8 * z)
    area = rng.uniform(1, 5, n)
    time = np.exp(1 - 0.5 * z + 0.3 * rng.normal(size=n))
    return pl.DataFrame(
        {
            "x": z + s * e[:, 0], "x_err": s, "y": y, "y_err": t, "cov_x_y": 0.5 * s * t,
            "zero_a": 0.5 * (survey == 0), "zero_b": 0.5 * (survey == 1), "survey": survey,
            "count": rng.poisson(area * rate), "log_area": np.log(area),
            "time": np.minimum(time, 4.0), "reached": time < 4.0,
        }
    )  # fmt: skip


def arrays(table: pl.DataFrame) -> tuple[uncertain.GaussianArray, np.ndarray]:
    X = uncertain.GaussianArray(table[["x"]].to_numpy(), std=table[["x_err"]].to_numpy())
    return X, table["y"].to_numpy()


def test_modes_and_outliers_with_errors_found_by_name(table: pl.DataFrame, tmp_path: Path) -> None:
    X, y = arrays(table)
    modes = table[["zero_a", "zero_b"]].to_numpy()
    known = {"y_std": table["y_err"].to_numpy(), "xy_cov": table[["cov_x_y"]].to_numpy()}
    own = LinearLaw(outliers="student").fit(X, y, **known, modes=modes)
    options = {"target": "y", "features": ["x"], "method": "law", "outliers": "student"}
    by_name = uncertain.fit(table, modes=["zero_a", "zero_b"], **options)
    by_values = uncertain.fit(table, modes=modes, **options)
    for model in (by_name, by_values):
        np.testing.assert_allclose(model.coef_[0], own.coef_)
        np.testing.assert_allclose(model.coef_std_[0], own.coef_std_)
        np.testing.assert_allclose(model.conf_int(), own.conf_int())
        assert model.intrinsic_scatter_ == own.scatter_
        assert model.columns_.target_std == "y_err" and model.columns_.target_cov == {"x": "cov_x_y"}
    assert by_name.columns_.modes == ("zero_a", "zero_b") and by_values.columns_.modes is True
    assert "modes         zero_a, zero_b" in str(by_name.columns_)
    by_name.save(tmp_path / "law.safetensors")
    again = uncertain.load(tmp_path / "law.safetensors")
    assert again.columns_ == by_name.columns_
    np.testing.assert_array_equal(again.predict(table), by_name.predict(table))
    fitted, read = by_name.pipeline_[-1], again.pipeline_[-1]
    for name in ("outlier_probability_", "modes_", "modes_std_", "covariance_"):
        np.testing.assert_array_equal(getattr(read, name), getattr(fitted, name))
    np.testing.assert_equal(read.outlier_law_, fitted.outlier_law_)
    assert read.loglikelihood_ == fitted.loglikelihood_
    text = str(by_name.summary())
    assert str(again.summary()) == text and all(word in text for word in ("mode 1", "degrees of freedom"))
    X = by_name.pipeline_[:-1].transform(X) if len(by_name.pipeline_) > 1 else X
    for mine, theirs in zip(
        read.predict(X, True, modes=modes), fitted.predict(X, True, modes=modes), strict=True
    ):
        np.testing.assert_array_equal(mine, theirs)
    columns = uncertain.Columns("y", features=["x"], modes=["zero_a", "zero_b"])
    np.testing.assert_allclose(
        uncertain.fit(table, columns=columns, method="law", outliers="student").coef_, by_name.coef_
    )


def test_a_model_of_a_table_is_drawn_with_its_columns(table: pl.DataFrame) -> None:
    pytest.importorskip("matplotlib")
    X, y = arrays(table)
    known = {"y_std": table["y_err"].to_numpy(), "xy_cov": table[["cov_x_y"]].to_numpy()}
    model = uncertain.fit(
        table, target="y", features=["x"], method="law", outliers="mixture", modes=["zero_a", "zero_b"]
    )
    law = model.pipeline_[-1]
    drawn = LawDisplay.from_estimator(model, table, feature="x")
    modes = table[["zero_a", "zero_b"]].to_numpy() @ law.modes_
    own = LawDisplay.from_estimator(law, X, y - modes, **known)
    np.testing.assert_allclose(drawn.residuals, own.residuals)
    np.testing.assert_array_equal(drawn.outlying, own.outlying)
    assert (drawn.ax_.get_ylabel(), drawn.residual_ax_.get_xlabel()) == ("y", "x")
    with pytest.raises(UncertainError, match="feature = 'z': there are x"):
        LawDisplay.from_estimator(model, table, feature="z")
    by_values = uncertain.fit(
        table, target="y", features=["x"], method="law", modes=table[["zero_a"]].to_numpy()
    )
    with pytest.raises(UncertainError, match="modes= was an array"):
        LawDisplay.from_estimator(by_values, table)
    other = uncertain.fit(table, target="y", features=["x"], method="gsu")
    with pytest.raises(AttributeError, match="has no standard errors"):
        LawDisplay.from_estimator(other, table)


def test_offsets_and_events(table: pl.DataFrame) -> None:
    X, _ = arrays(table)
    counts = uncertain.fit(
        table, target="count", method="law", family="poisson", features=["x"], offset="log_area"
    )
    offset = table["log_area"].to_numpy()
    own = GeneralizedLinearLaw("poisson").fit(X, table["count"].to_numpy(), offset=offset)
    np.testing.assert_allclose(counts.coef_[0], own.coef_)
    values = uncertain.fit(
        table, target="count", method="law", family="poisson", features=["x"], offset=offset
    )
    np.testing.assert_allclose(values.coef_, counts.coef_)
    times = uncertain.fit(
        table, target="time", method="law", family="lognormal", features=["x"], event="reached"
    )
    own = GeneralizedLinearLaw("lognormal").fit(
        X, table["time"].to_numpy(), event=table["reached"].to_numpy()
    )
    np.testing.assert_allclose(times.coef_[0], own.coef_)
    assert abs(times.coef_[0, 0] + 0.5) < 4 * times.coef_std_[0, 0]


def straight(x: np.ndarray, p: np.ndarray) -> np.ndarray:
    return p[0] + p[1] * x[:, 0]


def test_curves(table: pl.DataFrame) -> None:
    X, y = arrays(table)
    known = {"y_std": table["y_err"].to_numpy(), "xy_cov": table[["cov_x_y"]].to_numpy()}
    own = CurveRegressor(straight, {"a": 0.0, "b": 1.0}).fit(X, y, **known)
    options = {"target": "y", "features": ["x"], "method": "law"}
    for given in (
        {"curve": CurveRegressor(straight, {"a": 0.0, "b": 1.0})},
        {"curve": straight, "p0": {"a": 0.0, "b": 1.0}},
    ):
        model = uncertain.fit(table, **options, **given)
        np.testing.assert_allclose(model.pipeline_[-1].params_, own.params_)
        np.testing.assert_allclose(model.predict(table).to_numpy(), own.predict(X))
        assert "estimate" in str(model.summary()) and "scatter" in str(model.summary())
    with pytest.raises(UncertainError, match="CurveRegressor"):
        model.save("nowhere.safetensors")


def test_curves_that_are_given_in_another_way_than_they_are_called(table: pl.DataFrame) -> None:
    for words, options in (
        ("curve= needs starting values", {"curve": straight}),
        (
            r"curve\(x, params\) must take.*f\(x\[:, 0\], \*params\)",
            {"curve": lambda x, a, b: a, "p0": [0, 1]},
        ),
        ("curve raised TypeError: nothing to add", {"curve": refusing, "p0": [0, 1]}),
    ):
        with pytest.raises(UncertainError, match=words):
            uncertain.fit(table, target="y", features=["x"], method="law", **options)


def refusing(x: np.ndarray, p: np.ndarray) -> np.ndarray:
    raise TypeError("nothing to add")


def test_roles_of_laws_elsewhere_are_refused(table: pl.DataFrame) -> None:
    for words, options in (
        ("modes=.*GSURegressor", {"method": "gsu", "modes": ["zero_a"]}),
        ("offset=.*GaussianMixtureRegressor", {"method": "law", "offset": "log_area"}),
        ("y_cov=.*GeneralizedLinearLaw", {"method": "law", "family": "poisson", "y_cov": np.eye(300)}),
        ("no column 'zero_c'", {"method": "law", "modes": ["zero_c"]}),
        ("modes=.*list of one or more distinct column names", {"method": "law", "modes": "zero_a"}),
        ("offset: expected 300", {"method": "law", "family": "poisson", "offset": np.zeros(3)}),
        ("memory|one memory", {"method": "law", "modes": ["zero_a"], "memory": "1GB"}),
    ):
        with pytest.raises((UncertainError, TypeError), match=words):
            uncertain.fit(table, target="y", features=["x"], **options)


def test_dense_covariances_of_all_targets(table: pl.DataFrame) -> None:
    n = len(table)
    modes, t = table[["zero_a", "zero_b"]].to_numpy(), table["y_err"].to_numpy()
    C = np.diag(t**2) + modes @ modes.T
    options = {"target": "y", "features": ["x"], "method": "law"}
    with pytest.warns(uncertain.exceptions.UncertainWarning, match=r"ignored because of y_cov=: cov_x_y"):
        model = uncertain.fit(table, y_cov=C, **options)
    X, y = arrays(table)
    own = LinearLaw().fit(X, y, y_cov=C)
    np.testing.assert_array_equal(model.coef_[0], own.coef_)
    np.testing.assert_array_equal(model.coef_std_[0], own.coef_std_)
    # The column y_err is the diagonal's root, and would leave nothing of it for the modes.
    assert model.columns_.target_std is None and model.pipeline_[-1].y_modes_.shape == (n, 2)
    np.testing.assert_array_equal(model.sample_posterior(5), own.sample_posterior(5))
    with pytest.raises(UncertainError, match="rows of the fit"):
        LawDisplay.from_estimator(model, table)
    told = uncertain.fit(table, y_cov=C, target_std="y_err", **options)
    known = LinearLaw().fit(X, y, t, table[["cov_x_y"]].to_numpy(), y_cov=C)
    np.testing.assert_allclose(told.coef_[0], known.coef_)
    table = table.drop("cov_x_y")
    # A row without a target takes its row and column with it, whatever they hold.
    gone = np.array([3, 150, 299])
    with_gaps = np.arange(n)
    holes = table.with_columns(
        y=pl.when(pl.Series(np.isin(with_gaps, gone))).then(None).otherwise(pl.col("y"))
    )
    rest = np.setdiff1d(with_gaps, gone)
    broken = C.copy()
    broken[gone], broken[:, gone] = np.nan, np.nan
    fewer = uncertain.fit(holes, y_cov=broken, **options)
    np.testing.assert_array_equal(
        fewer.coef_[0], LinearLaw().fit(X[rest], y[rest], y_cov=C[np.ix_(rest, rest)]).coef_
    )
    for words, how in (
        (r"y_cov: expected the shape \(300, 300\).*got \(299, 299\)", {"y_cov": C[1:, 1:]}),
        (r"y_cov: expected the shape \(300, 300\).*got \(300,\)", {"y_cov": np.diag(C)}),
        ("y_cov='y_err': must be the covariance matrix", {"y_cov": "y_err"}),
        ("y_cov: row 0, column 7.*symmetric", {"y_cov": C + 0.1 * (with_gaps[:, None] == 7)}),
        ('y_cov=: GSURegressor does not use it.*method="law"', {"y_cov": C, "method": "gsu"}),
        ('y_cov=: method="auto" does not use it', {"y_cov": C, "method": "auto"}),
        (
            "y_cov=: GeneralizedLinearLaw does not use it",
            {"y_cov": C, "target": "count", "family": "poisson"},
        ),
        (r"shared_modes\(y_cov\)", {"y_cov": C, "curve": straight, "p0": [0, 1]}),
        ("y_cov= is for laws.*one memory", {"y_cov": C, "memory": "1GB"}),
        ("modes= beside y_cov=", {"y_cov": C, "modes": ["zero_a"]}),
    ):
        with pytest.raises(UncertainError, match=words):
            uncertain.fit(table, **options | how)


def test_draws_of_what_a_model_has_learned(table: pl.DataFrame) -> None:
    options = {"target": "y", "features": ["x"]}
    for method in ("law", "mixture"):
        model = uncertain.fit(table, method=method, **options)
        draws = model.sample_posterior(20_000, random_state=1)
        np.testing.assert_allclose(draws[:, 1].mean(), model.coef_[0, 0], atol=0.05 * model.coef_std_[0, 0])
        np.testing.assert_allclose(draws[:, 1].std(), model.coef_std_[0, 0], rtol=0.03)
    curve = uncertain.fit(table, method="law", curve=straight, p0={"a": 0.0, "b": 1.0}, **options)
    last = curve.pipeline_[-1]
    np.testing.assert_array_equal(curve.sample_posterior(3), last.sample_posterior(3))
    np.testing.assert_array_equal(curve.conf_int(0.9), last.conf_int(0.9))
    with pytest.raises(AttributeError, match='Fit with method="law"'):
        uncertain.fit(table, method="gsu", **options).sample_posterior()


def held_out_errors(model: uncertain.Model, table: pl.DataFrame, target: str, role: str) -> float:
    """Mean absolute error of six folds by hand: laws fitted to the others, with what is beside each row."""
    X, _ = arrays(table)
    law, y, errors = model.pipeline_[-1], table[target].to_numpy(), []
    folds = RepeatedKFold(n_splits=3, n_repeats=2, random_state=0)
    columns = {"offset": ["log_area"], "event": ["reached"], "modes": ["zero_a", "zero_b"]}[role]
    beside = table[columns].to_numpy().squeeze()
    counted = np.flatnonzero(beside == 1) if role == "event" else np.arange(len(y))
    for _, test in folds.split(counted):
        test = counted[test]
        train = np.setdiff1d(np.arange(len(y)), test)
        known = {"y_std": table["y_err"].to_numpy()[train]} if isinstance(law, CurveRegressor) else {}
        own = clone(law).fit(X[train], y[train], **{role: beside[train]}, **known)
        told = {role: beside[test]} if role != "event" else {}
        if isinstance(law, LinearLaw) or role == "offset":
            found = own.predict(X[test], **told)
        elif role == "modes" and isinstance(law, CurveRegressor):
            found = own.predict(X[test]) + beside[test] @ own.modes_
        else:
            found = own.predict(X[test], offset=beside[test] @ own.modes_ if role == "modes" else None)
        errors.append(np.abs(found - y[test]))
    return float(np.concatenate(errors).mean())


@pytest.mark.parametrize(
    ("role", "options"),
    [
        ("offset", {"target": "count", "family": "poisson", "offset": "log_area"}),
        ("event", {"target": "time", "family": "lognormal", "event": "reached"}),
        ("modes", {"target": "y", "modes": ["zero_a", "zero_b"]}),
        ("modes", {"target": "count", "family": "poisson", "modes": ["zero_a", "zero_b"]}),
        ("modes", {"target": "y", "curve": "straight", "modes": ["zero_a", "zero_b"]}),
    ],
)
def test_reports_predict_held_out_rows_with_what_is_beside_them(
    table: pl.DataFrame, role: str, options: dict[str, Any], tmp_path: Path
) -> None:
    if options.get("curve"):
        options = options | {"curve": straight, "p0": [0.0, 1.0]}
    table = table.drop("cov_x_y") if options.get("curve") else table.drop("cov_x_y", "y_err")
    model = uncertain.fit(table, method="law", features=["x"], **options)
    report = model.report(table, folds=3, repeats=2)
    by_hand = held_out_errors(model, table, options["target"], role)
    assert report.score == pytest.approx(by_hand, rel=1e-6) != report.score_means_only
    assert report.lead is None
    if not options.get("curve"):  # a function, which no file has
        model.save(tmp_path / "law.safetensors")
        again = uncertain.load(tmp_path / "law.safetensors").report(table, folds=3, repeats=2)
        assert again.scores.equals(report.scores)


def test_reports_refuse_laws_of_more_than_the_table_has(table: pl.DataFrame) -> None:
    own = {"method": "law", "features": ["x"]}
    area = table["log_area"].to_numpy()
    classes = table.with_columns(
        ill=pl.Series(np.random.default_rng(0).normal(size=300) < table["y"].to_numpy())
    )
    for options, words in [
        ({"target": "y", "y_cov": np.eye(300) + 0.25}, r"fitted with y_cov=.*summary"),
        ({"target": "count", "family": "poisson", "offset": area}, r"offset= was an array.*name of a column"),
        ({"target": "ill", "family": "binomial", "offset": "log_area"}, r"classes.*offset=.*summary"),
    ]:
        model = uncertain.fit(classes.drop("cov_x_y"), **own, **options)
        with pytest.raises(UncertainError, match=words):
            model.report(classes)


def test_curves_and_lines_have_what_all_laws_have() -> None:
    rng = np.random.default_rng(0)
    z = rng.normal(size=120)
    table = {"x": z + 0.3 * rng.normal(size=120), "x_err": np.full(120, 0.3), "y": 1 + 2 * z}
    table["y"] += 0.2 * rng.normal(size=120)
    asked = {"target": "y", "features": ["x"], "method": "law"}
    curve = uncertain.fit(table, curve=lambda x, p: p[0] + p[1] * x[:, 0], p0=[1.0, 1.0], **asked)
    law = curve.pipeline_[-1]
    assert curve.intrinsic_scatter_ == law.scatter_ > 0
    np.testing.assert_array_equal(curve.coef_std_, law.std_[None])
    line = uncertain.fit(table, **asked)
    X = GaussianArray(table["x"][:, None], std=0.3, feature_names=["x"])
    mean, std = line.pipeline_[-1].predict_distribution(X)
    np.testing.assert_array_equal((mean, std), line.pipeline_[-1].predict(X, return_std=True))
    with pytest.raises(UncertainError, match="CurveRegressor, whose curve is a function of Python"):
        curve.save("never.uncertain")
