"""`Model.report`: what it compares, and that it says so when nothing changes."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from scipy.special import ndtr
from test_fit import N, scalars

import uncertain
from uncertain import GaussianArray
from uncertain.exceptions import UncertainError, UncertainWarning


@pytest.fixture(scope="module")
def table() -> pl.DataFrame:
    return pl.DataFrame(scalars())


@pytest.fixture(scope="module")
def report(table: pl.DataFrame) -> uncertain.Report:
    return uncertain.fit(table, method="gsu").report(table, folds=4, repeats=2)


def test_numbers_fit_together(report: uncertain.Report) -> None:
    assert report.n_rows == N
    assert report.scores.shape == report.scores_means_only.shape == (8,)
    assert report.difference == pytest.approx(report.score - report.score_means_only)
    assert 0 <= report.gap <= 1e-5
    assert report.seconds > 0
    truth, means, gaussians = report.flipped_labels.T
    assert (means != gaussians).all()
    assert len(truth) == len(report.flipped_rows)
    right = int((gaussians == truth).sum()) - int((means == truth).sum())
    first_repeat = (report.scores - report.scores_means_only)[:4].sum() * N / 4
    assert right == pytest.approx(first_repeat)


def test_doubtful_rows_change_most_by_their_own_error_bar(
    report: uncertain.Report, table: pl.DataFrame
) -> None:
    model = uncertain.fit(table, method="gsu")
    gaussians, rest = model.gaussians(table), model.pipeline_[1:]
    change = np.abs(rest.predict_proba(gaussians) - rest.predict_proba(gaussians.collapse("zero")))[:, 0]
    assert report.doubtful_rows.tolist() == np.argsort(-change, kind="stable")[:10].tolist()
    np.testing.assert_allclose(report.probability_change, np.sort(change)[::-1][:10])
    mean, std = rest[-1].decision_distribution(rest[:-1].transform(gaussians))
    np.testing.assert_allclose(report.flip_probability, ndtr(-np.abs(mean) / std)[report.doubtful_rows])


def test_without_calibration_the_chance_decides(table: pl.DataFrame) -> None:
    report = uncertain.fit(table, probability=False, method="gsu").report(
        table, folds=3, repeats=1, listed=60
    )
    assert (np.diff(report.flip_probability) <= 0).all()
    assert np.isnan(report.probability_change).all()


def test_text_and_json(report: uncertain.Report) -> None:
    assert report.verdict in str(report)
    again = json.loads(json.dumps(report.to_dict()))
    assert again["score"] == report.score
    assert len(again["doubtful_rows"]) == 10


def test_exact_rows_change_nothing() -> None:
    columns = scalars() | {"u_err": np.zeros(N), "v_err": np.zeros(N)}
    table = pl.DataFrame(columns)
    with pytest.warns(UncertainWarning, match="u, v are zero in every row"):
        model = uncertain.fit(table, method="gsu")
    report = model.report(table, folds=3, repeats=2)
    assert report.flipped_rows.size == 0
    assert report.difference == 0
    assert report.doubtful_rows.size == 0
    assert "changed nothing measurable" in str(report)


def test_a_real_difference_is_called_one() -> None:
    """One feature tells the classes apart; the others are noise, as their error bars say."""
    rng = np.random.default_rng(1)
    n, d = 80, 30
    y = np.arange(n) % 2
    std = np.where(np.arange(d) == 0, 0.3, 3.0) * np.ones((n, 1))
    means = np.where(np.arange(d) == 0, 2.0 * y[:, None] - 1.0, 0.0) + std * rng.standard_normal((n, d))
    data = GaussianArray(means, std=std)
    report = uncertain.fit(data, y, scale=False, method="gsu").report(data, y, folds=4, repeats=2)
    assert report.difference > 2 * report.difference_se > 0
    assert report.verdict.startswith("The error bars raised the accuracy by ")
    truth, _, gaussians = report.flipped_labels.T
    assert (truth == gaussians).mean() > 0.8


def test_a_better_log_loss_is_said_beside_an_equal_accuracy() -> None:
    """Half of the rows are read badly: their means decide alike, but are far too sure."""
    rng = np.random.default_rng(0)
    y = np.arange(400) % 2
    std = np.where(rng.random(400) < 0.5, 0.1, 3.0)[:, None] * np.ones((1, 2))
    truth = 0.5 * rng.standard_normal((400, 2)) + 2.0 * y[:, None] - 1.0
    rows = GaussianArray(truth + std * rng.standard_normal((400, 2)), std=std)
    report = uncertain.fit(rows, y, method="discriminant").report(rows, y, folds=5, repeats=1, meanings=False)
    assert report.verdict.startswith("The error bars changed nothing measurable in accuracy")
    change = report.board.difference(report.board.names[0], report.board.names[1], "log_loss")
    assert f"They lowered the log loss by {abs(change.mean):.3g}" in report.verdict


def test_more_classes_count_draws() -> None:
    k = np.arange(N) % 3
    columns = scalars() | {"label": [("a", "b", "c")[i] for i in k]}
    columns["u"] = np.asarray(columns["u"]) + 4.0 * (k == 1)
    columns["v"] = np.asarray(columns["v"]) + 4.0 * (k == 2)
    table = pl.DataFrame(columns)
    report = uncertain.fit(table, method="gsu").report(table, folds=3, repeats=1, listed=4)
    assert report.doubtful_rows.shape == report.flip_probability.shape == (4,)
    assert ((report.flip_probability >= 0) & (report.flip_probability <= 1)).all()
    assert (np.diff(report.probability_change) <= 0).all()


def test_few_rows_of_a_class(table: pl.DataFrame) -> None:
    model = uncertain.fit(table, method="gsu")
    few = pl.concat([table.filter(pl.col("label") == "low"), table.filter(pl.col("label") == "high").head(3)])
    assert model.report(few, repeats=1).folds == 3
    one = pl.concat([table.filter(pl.col("label") == "low"), table.filter(pl.col("label") == "high").head(1)])
    with pytest.raises(UncertainError, match="class 'high' has a single row"):
        model.report(one)


@pytest.mark.parametrize("argument", [{"folds": 1}, {"repeats": 0}, {"listed": -1}, {"folds": 2.5}])
def test_bad_arguments(argument: dict[str, float], table: pl.DataFrame) -> None:
    with pytest.raises(UncertainError, match=next(iter(argument))):
        uncertain.fit(table, method="gsu").report(table, **argument)  # type: ignore[arg-type]
