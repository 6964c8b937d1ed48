"""`Model.report` of regressions: meanings of error bars, and what attenuation does to coefficients."""

from __future__ import annotations

import json
import re

import numpy as np
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.model_selection import RepeatedKFold
from sklearn.pipeline import make_pipeline

import uncertain
from uncertain import GaussianArray, GaussianCollapser, GaussianDenoiser, GaussianScaler


def line(n: int = 800, seed: int = 0) -> pl.DataFrame:
    """y = 2 z, and z read with errors of 0.5."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=n)
    columns = {"z": z + 0.5 * rng.normal(size=n), "z_err": np.full(n, 0.5)}
    return pl.DataFrame(columns | {"y": 2.0 * z + 0.1 * rng.normal(size=n)})


@pytest.fixture(scope="module")
def report() -> uncertain.Report:
    table = line()
    return uncertain.fit(table, target="y", meaning="measurement", loss="squared", method="gsu").report(
        table, repeats=2
    )


def test_the_slopes_are_those_of_theory(report: uncertain.Report) -> None:
    found = report.coefficients
    slope = dict(zip(found.names, found.values[:, 0], strict=True))
    assert found.features == ("z",)
    # var(z) = 1 and var(error) = 1/4: 2 / 1.25 alone, 2 / 1.5 as spread, whose variance counts once more.
    assert slope["means only"] == pytest.approx(1.6, abs=0.08)
    assert slope["spread"] == pytest.approx(4 / 3, abs=0.08)
    assert slope["measurement"] == pytest.approx(2.0, abs=0.1)


def test_equal_predictions_and_different_slopes_are_a_finding(report: uncertain.Report) -> None:
    assert report.own == "measurement" and report.winner == "measurement"
    change = report.board.difference("measurement", "means only")
    assert not change.counts and abs(change.mean) < 0.01
    assert report.verdict.startswith("The error bars changed no prediction measurably:")
    assert "The coefficient of z is " in report.verdict
    assert re.search(r'"means only" \((19|20|21)% smaller\)', report.verdict)
    assert '"spread" (3' in report.verdict and report.verdict.endswith("attenuate its coefficient.")
    names = [m.name for m in report.meanings.ranking]
    assert set(names) == {"means only", "spread", "measurement"} and names[-1] == "spread"
    again = json.loads(json.dumps(report.to_dict(), allow_nan=False))
    assert again["coefficients"]["features"] == ["z"] and again["meanings"]["ranking"][0]["name"] == names[0]
    assert "Coefficients" in str(report) and "measurement" in str(report)


def test_a_model_of_spread_hears_that_measurement_predicts_better() -> None:
    table = line(seed=1)
    report = uncertain.fit(table, target="y", meaning="spread", method="gsu").report(table, repeats=2)
    assert report.own == "spread" and report.winner == "measurement"
    assert report.verdict.startswith("The error bars raised the mean absolute error by ")
    assert report.reason.endswith('Fit with meaning="measurement".')


def test_every_meaning_is_the_pipeline_that_fit_would_make() -> None:
    table = line(300)
    data, y = GaussianArray(table.select("z").to_numpy(), std=0.5), table["y"].to_numpy()
    report = uncertain.fit(table, target="y", meaning="spread", method="gsu").report(
        table, folds=3, repeats=1, random_state=1
    )
    w = uncertain.fit(table, target="y", meaning="measurement", method="gsu").pipeline_
    measured = make_pipeline(
        GaussianDenoiser(random_state=0),
        GaussianScaler(spread="total"),
        GaussianCollapser(),
        clone(w[-1]),  # whose defaults are in units of the target
    )
    errors = []
    for train, test in RepeatedKFold(n_splits=3, n_repeats=1, random_state=1).split(y):
        predicted = measured.fit(data[train], y[train]).predict(data[test])
        errors.append(np.abs(predicted - y[test]).mean())
    np.testing.assert_allclose(report.board.score("measurement", "mae").values, errors)
    np.testing.assert_allclose(
        report.coefficients.values[report.coefficients.names.index("measurement")], w[-1].coef_ / w[2].scale_
    )


def test_nothing_is_said_about_coefficients_that_do_not_differ() -> None:
    rng = np.random.default_rng(3)
    z = rng.normal(size=(300, 2))
    table = pl.DataFrame(
        {"a": z[:, 0], "b": z[:, 1], "a_err": np.full(300, 0.01), "b_err": np.full(300, 0.01)}
        | {"y": z @ [1.0, -1.0] + 0.3 * rng.normal(size=300)}
    )
    report = uncertain.fit(table, target="y", meaning="spread", method="gsu").report(table, repeats=1)
    assert report.finding == "" and report.verdict.startswith("The error bars changed nothing measurable")
    plain = uncertain.fit(table, target="y", meaning="spread", method="gsu").report(
        table, repeats=1, meanings=False
    )
    assert plain.meanings is None and plain.coefficients.names == ("means only", "spread")
    curved = uncertain.fit(table, target="y", kernel="rbf", meaning="spread", method="gsu").report(
        table, folds=2, repeats=1
    )
    assert curved.coefficients is None and curved.finding == ""


def test_without_a_complete_repeat_there_are_no_standard_errors() -> None:
    table = line(100)
    report = uncertain.fit(table, target="y", meaning="spread", method="gsu").report(table, max_seconds=1e-9)
    assert report.folds_done == 1 and np.isnan(report.coefficients.se).all()
    assert report.finding == "" and "+-" not in report.coefficients.rows()[1][1]
    assert (report.board.score("spread", "mae").values > 0).all()
    json.dumps(report.to_dict(), allow_nan=False)
