"""`meaning="measurement"` from fit to file, and the report's comparison of meanings."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import uncertain
from uncertain import GaussianArray


def catalogue(n: int, seed: int) -> tuple[pl.DataFrame, np.ndarray]:
    """Readings of two classes with noise of very different sizes; the true values."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, size=n)
    z = rng.normal(size=(n, 4)) + np.array([1.2, 1.2, 0, 0]) * y[:, None]
    std = np.exp(1.2 * rng.normal(size=(n, 4)))
    x = z + std * rng.normal(size=(n, 4))
    columns = {f"f{j}": x[:, j] for j in range(4)} | {f"f{j}_err": std[:, j] for j in range(4)}
    return pl.DataFrame(columns | {"label": y}), z


@pytest.fixture(scope="module")
def table() -> pl.DataFrame:
    return catalogue(240, 1)[0]


def test_pipeline_file_and_pickle(table: pl.DataFrame, tmp_path: Path) -> None:
    model = uncertain.fit(table, meaning="measurement", method="gsu")
    assert [name for name, _ in model.pipeline_.steps] == ["gaussians", "denoise", "scale", "classify"]
    # The classifier sees true values of unit variance, whatever the noise.
    moved = model.pipeline_[:-1].transform(table)
    spread = moved.means.var(axis=0) + np.diagonal(moved.covariances(), axis1=1, axis2=2).mean(axis=0)
    assert_allclose(spread, 1)
    path = tmp_path / "model.safetensors"
    model.save(path)
    again = uncertain.load(path)
    assert_array_equal(again.predict_proba(table), model.predict_proba(table))
    assert [name for name, _ in again.pipeline_.steps] == ["gaussians", "denoise", "scale", "classify"]
    assert_array_equal(again.pipeline_["denoise"].covariances_, model.pipeline_["denoise"].covariances_)


@pytest.mark.filterwarnings("ignore::uncertain.exceptions.ErrorSizesWarning")
def test_measurement_wins_on_clean_rows_where_it_is_the_truth() -> None:
    train, _ = catalogue(60, 1)
    _, clean = catalogue(2000, 2)
    y = catalogue(2000, 2)[0]["label"].to_numpy()
    columns = {f"f{j}": clean[:, j] for j in range(4)} | {f"f{j}_err": np.zeros(2000) for j in range(4)}
    points = pl.DataFrame(columns)
    spread, measured = (
        uncertain.fit(train, meaning=m, alpha=1e-2, method="gsu") for m in ("spread", "measurement")
    )
    score = [float(np.mean(m.predict(points).to_numpy() == y)) for m in (spread, measured)]
    assert score[1] > score[0] + 0.05, score


def test_report_compares_meanings_on_the_same_folds(table: pl.DataFrame) -> None:
    report = uncertain.fit(table, meaning="measurement", method="gsu").report(table, folds=3, repeats=2)
    meanings = report.meanings
    by_name = {m.name: m for m in meanings.ranking}
    assert set(by_name) == {"means only", "spread", "measurement", "discriminant"}
    assert_array_equal(by_name["measurement"].scores, report.scores)
    assert_array_equal(by_name["means only"].scores, report.scores_means_only)
    assert by_name["measurement"].difference == pytest.approx(report.difference)
    assert by_name["measurement"].difference_se == pytest.approx(report.difference_se)
    assert by_name["means only"].difference == by_name["means only"].difference_se == 0
    scores = [m.score for m in meanings.ranking]
    assert scores == sorted(scores, reverse=True)
    assert meanings.lead == pytest.approx(scores[0] - scores[1])
    assert meanings.verdict in str(report) and str(meanings) in str(report)
    assert json.loads(json.dumps(report.to_dict()))["meanings"]["verdict"] == meanings.verdict
    # The same comparison from a model of the other meaning.
    other = uncertain.fit(table, method="gsu").report(table, folds=3, repeats=2).meanings
    assert other is not None
    for m in other.ranking:
        assert_allclose(m.scores, by_name[m.name].scores, atol=0.02)


def test_no_comparison_without_error_bars_or_if_not_wanted(table: pl.DataFrame) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, size=60)
    exact = GaussianArray(rng.normal(size=(60, 2)) + y[:, None])
    assert uncertain.fit(exact, y, method="gsu").report(exact, y, folds=2, repeats=1).meanings is None
    report = uncertain.fit(table, method="gsu").report(table, folds=2, repeats=1, meanings=False)
    assert report.meanings is None and report.to_dict()["meanings"] is None
