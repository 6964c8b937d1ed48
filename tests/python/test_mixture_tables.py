"""`GaussianMixtureRegressor` from tables, and with targets that are limits."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.optimize import minimize
from scipy.stats import norm
from test_mixture import Array, fitted, given_readings, readings, same

import uncertain
from uncertain import GaussianArray, GaussianMixtureRegressor, Incomplete, UncertainError
from uncertain.exceptions import UncertainWarning


def table_of(x: Array, y: Array, C: Array, **more: Array) -> pl.DataFrame:
    std = np.sqrt(C[:, range(3), range(3)])
    columns = {"c": x[:, 0], "c_err": std[:, 0], "s": x[:, 1], "s_err": std[:, 1]}
    return pl.DataFrame(columns | {"mag": y, "mag_err": std[:, 2], "cov_c_s": C[:, 0, 1]} | more)


def test_tables_name_the_covariances_with_the_target(tmp_path: Any) -> None:
    x, y, C, _ = readings(20, 300)
    direct = fitted(x, y, C)
    std = np.sqrt(C[:, range(3), range(3)])
    table = table_of(x, y, C, COV_mag_c=C[:, 0, 2], cov_s_mag=C[:, 1, 2])
    model = uncertain.fit(table, target="mag", method="mixture")
    last = model.pipeline_[-1]
    same(last, direct, rtol=1e-9)
    assert [type(step).__name__ for _, step in model.pipeline_.steps] == [
        "AsGaussians",
        "GaussianMixtureRegressor",
    ]
    assert model.columns_.ignored == () and model.columns_.target_std == "mag_err"
    np.testing.assert_allclose(model.coef_[0], direct.coef_)
    assert "measurement" in repr(model) and "slope" not in repr(model)

    given = {"std": "{}_err", "target_std": "mag_err", "method": "mixture"}
    pairs = {("c", "s"): "cov_c_s", ("mag", "c"): "q", ("s", "mag"): "r"}
    named = table.rename({"COV_mag_c": "q", "cov_s_mag": "r"})
    same(
        uncertain.fit(named, "mag", features=["c", "s"], cov=pairs, **given).pipeline_[-1], direct, rtol=1e-9
    )  # type: ignore[arg-type]
    rho = (
        table_of(x, y, C)
        .with_columns(
            c_mag_corr=C[:, 0, 2] / std[:, 0] / std[:, 2],
            mag_s_corr=C[:, 1, 2] / std[:, 1] / std[:, 2],
            c_s_corr=C[:, 0, 1] / std[:, 0] / std[:, 1],
        )
        .drop("cov_c_s")
    )
    same(uncertain.fit(rho, "mag", method="mixture").pipeline_[-1], direct, rtol=1e-9)
    pattern = uncertain.fit(rho, "mag", features=["c", "s"], corr="{}_{}_corr", **given)  # type: ignore[arg-type]
    same(pattern.pipeline_[-1], direct, rtol=1e-9)

    distribution = model.predict_distribution(table)
    mean, whole = direct.predict(GaussianArray(x, cov=C[:, :2, :2]), return_std=True)
    np.testing.assert_allclose(distribution["mag"], mean)
    np.testing.assert_allclose(distribution["mag_std"], whole)
    from_errors = np.sqrt(whole**2 - direct.intrinsic_scatter_**2)
    np.testing.assert_allclose(distribution["mag_std_from_errors"], from_errors, rtol=1e-6)
    model.save(tmp_path / "model")
    again = uncertain.load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict_distribution(table)["mag_std"], distribution["mag_std"])
    same(again.pipeline_[-1], direct, rtol=1e-9)
    report = model.report(table, folds=3, repeats=1)
    assert report.n_rows == 300 and report.meaning == "measurement"


def test_tables_with_gaps_and_wrong_columns() -> None:
    x, y, C, _ = readings(21, 200)
    gone = np.arange(200) < 30
    table = table_of(x, y, C, cov_c_mag=C[:, 0, 2], cov_s_mag=C[:, 1, 2])
    table = table.with_columns(pl.when(pl.Series(gone)).then(None).otherwise(pl.col("c")).alias("c"))
    model = uncertain.fit(table, "mag", method="mixture", on_missing="impute")
    marks = np.zeros((200, 2), dtype=bool)
    marks[:30, 0] = True
    crossed = np.where(marks, np.nan, C[:, :2, 2])
    X = Incomplete(GaussianArray(x, cov=C[:, :2, :2]), marks)
    same(model.pipeline_[-1], GaussianMixtureRegressor().fit(X, y, np.sqrt(C[:, 2, 2]), crossed), rtol=1e-8)
    assert model.gaussians(table).means[:30, 0].std() > 0  # filled from the distribution of the features

    bad = table_of(x, y, C).with_columns(c_mag_corr=pl.Series(np.where(gone, 1.5, 0.1)))
    with pytest.raises(UncertainError, match=r"c_mag_corr: row 0 is 1.5"):
        uncertain.fit(bad, "mag", method="mixture")
    pairs = {("c", "mag"): "cov_c_mag"}
    with pytest.raises(UncertainError, match=r'cov_c_mag is given for the target .*method="mixture"'):
        uncertain.fit(table, "mag", cov=pairs, std="{}_err", features=["c", "s"], method="gsu")  # type: ignore[arg-type]
    with pytest.raises(UncertainError, match="cov_c_mag needs the error bars of 'mag'"):
        uncertain.fit(table.drop("mag_err"), "mag", cov=pairs, std="{}_err", features=["s"], method="mixture")  # type: ignore[arg-type]
    with pytest.warns(UncertainWarning, match="left out"):
        uncertain.fit(table_of(x, y, C, extra=x[:, 0]), "mag", method="mixture")


def test_limits_of_targets_count_by_the_probability_of_their_side() -> None:
    """Against the likelihood with Phi of targets given readings; and what leaving such rows out does."""
    n, d = 600, 2
    x, y, C, beta = readings(30, n, d)
    rng = np.random.default_rng(0)
    threshold = rng.normal(4.0, 1.0, n)
    limit = np.where(y < threshold, -1, np.where(y > 8.0, 1, 0))
    given = np.where(limit == -1, threshold, np.where(limit == 1, 8.0, y))
    assert 0.2 < (limit == -1).mean() < 0.8 and (limit == 1).any()
    X, std, crossed = GaussianArray(x, cov=C[:, :d, :d]), np.sqrt(C[:, d, d]), C[:, :d, d]
    model = GaussianMixtureRegressor(tol=1e-11, max_iter=5000).fit(X, given, std, crossed, y_limit=limit)

    mean, T = model.means_[0, :d], model.covariances_[0, :d, :d]
    m, P, shift, turn, taken = given_readings(x, C, np.ones((n, d), dtype=bool), mean, T)

    def loss_of(p: Array) -> float:
        """Minus the log-likelihood of targets and sides given the readings."""
        V = p[3] + C[:, d, d] - taken + np.einsum("i,nij,j->n", p[1:3], P, p[1:3]) - 2 * turn @ p[1:3]
        h = (given - p[0] - m @ p[1:3] - shift) / np.sqrt(V)
        return -float(np.where(limit == 0, norm.logpdf(h) - np.log(V) / 2, norm.logcdf(-limit * h)).sum())

    there = np.r_[model.intercept_, model.coef_, model.intrinsic_scatter_**2]
    found = minimize(loss_of, there, method="L-BFGS-B", jac="3-point", options={"ftol": 1e-15, "gtol": 1e-9})
    np.testing.assert_allclose(there, found.x, rtol=1e-4)
    assert (np.abs(model.coef_ - beta) < 3 * model.coef_std_).all()
    read = limit == 0
    cut = fitted(x[read], y[read], C[read])
    assert abs(cut.coef_[0] - 2.0) > 2 * abs(model.coef_[0] - 2.0)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))


def test_limits_that_say_nothing_change_nothing() -> None:
    x, y, C, _ = readings(31, 300)
    X, std = GaussianArray(x, cov=C[:, :2, :2]), np.sqrt(C[:, 2, 2])
    model = GaussianMixtureRegressor().fit(X, y, std)
    same(GaussianMixtureRegressor().fit(X, y, std, y_limit=np.zeros(300)), model, rtol=1e-15)
    # Below a million: the row says what its features are, and no more.
    more = GaussianArray(np.r_[x, x[:50]], cov=np.r_[C, C[:50]][:, :2, :2])
    limit = np.r_[np.zeros(300), -np.ones(50)]
    vague = GaussianMixtureRegressor(2, random_state=0, tol=1e-10, max_iter=3000)
    vague.fit(more, np.r_[y, np.full(50, 1e6)], np.r_[std, std[:50]], y_limit=limit)
    assert np.isfinite(vague.log_likelihoods_).all() and (np.diff(vague.log_likelihoods_) >= 0).all()
    line = GaussianMixtureRegressor(tol=1e-10).fit(
        more, np.r_[y, np.full(50, 1e6)], np.r_[std, std[:50]], y_limit=limit
    )
    np.testing.assert_allclose(line.coef_, model.coef_, rtol=0.02)
    weight = np.r_[np.ones(300), np.zeros(50)]
    without = GaussianMixtureRegressor(tol=1e-10).fit(
        more, np.r_[y, np.full(50, 1e6)], np.r_[std, std[:50]], sample_weight=weight, y_limit=limit
    )
    np.testing.assert_allclose(without.coef_, model.coef_, rtol=1e-4)
    gone = np.zeros((350, 2), dtype=bool)
    gone[300:, 0] = True
    gappy = GaussianMixtureRegressor(tol=1e-10).fit(
        Incomplete(more, gone), np.r_[y, np.full(50, 1e6)], np.r_[std, std[:50]], y_limit=limit
    )
    np.testing.assert_allclose(gappy.coef_, model.coef_, rtol=0.02)


def test_wrong_limits_are_refused() -> None:
    x, y, _, _ = readings(32, 20)
    model = GaussianMixtureRegressor()
    with pytest.raises(UncertainError, match=r"y_limit: expected 20 numbers, one per row, got shape \(3,\)"):
        model.fit(x, y, y_limit=[0, 1, 0])
    with pytest.raises(UncertainError, match=r"y_limit: row 2 is .*2.*; it must be -1 "):
        model.fit(x, y, y_limit=np.where(np.arange(20) == 2, 2, 0))
    with pytest.raises(UncertainError, match="every target is a limit"):
        model.fit(x, y, y_limit=np.ones(20))
