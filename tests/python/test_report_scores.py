"""The measures of `Model.report` against scikit-learn, their standard errors against simulation, ranking,
progress, time and the winner."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import polars as pl
import pytest
import sklearn.metrics as skm
from sklearn.base import clone
from sklearn.model_selection import RepeatedStratifiedKFold

import uncertain
from uncertain import GaussianArray
from uncertain.exceptions import ParameterError


def catalogue(n: int = 120, seed: int = 0, classes: int = 2, target: str = "kind") -> pl.DataFrame:
    """Fluxes with errors of very different sizes, and the name of a class or a number."""
    rng = np.random.default_rng(seed)
    k = rng.integers(0, classes, n)
    truth = rng.normal(size=(n, 2)) + 1.5 * k[:, None] * [1.0, -0.5]
    std = np.exp(0.7 * rng.normal(size=(n, 2)))
    columns = {f"flux{j}": truth[:, j] + std[:, j] * rng.normal(size=n) for j in range(2)}
    columns |= {f"flux{j}_err": std[:, j] for j in range(2)}
    kind = [("quasar", "star", "galaxy")[i] for i in k]
    height = truth @ [1.0, 2.0] + 0.1 * rng.normal(size=n)
    return pl.DataFrame(columns | {target: kind if target == "kind" else height})


def test_probabilities_of_a_report_are_those_of_fits_calibrated_in_the_folds() -> None:
    table = catalogue(150, classes=3)
    model = uncertain.fit(table, target="kind", meaning="spread", method="gsu")
    report = model.report(table, folds=3, repeats=2, random_state=4, meanings=False)
    splits = RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=4)
    data, y = model.gaussians(table), table["kind"].to_numpy()
    losses, aucs = [], []
    for train, test in splits.split(y, y):
        fitted = clone(model.pipeline_[1:]).fit(data[train], y[train])
        losses.append(skm.log_loss(y[test], fitted.predict_proba(data[test])))
        each = [
            skm.roc_auc_score(y[test] == c, s)
            for c, s in zip(fitted.classes_, fitted.decision_function(data[test]).T, strict=True)
        ]
        aucs.append(np.mean(each))
    own = report.board.score("spread", "log_loss").values
    np.testing.assert_allclose(own[:3], losses[:3])
    assert np.isnan(own[3:]).all()  # calibrated in the first repeat only
    np.testing.assert_allclose(report.board.score("spread", "roc_auc").values, aucs)
    assert "log loss *" in str(report) and "* first repeat only" in str(report)


def test_the_measure_that_ranks_is_chosen() -> None:
    table = catalogue()
    model = uncertain.fit(table, target="kind", meaning="spread", method="gsu")
    report = model.report(table, folds=3, repeats=1, scoring="brier", scorers=["roc_auc"])
    assert report.scoring == "brier" and "Brier score" in report.verdict
    assert [m.name for m in report.board.metrics] == ["accuracy", "roc_auc", "brier"]
    scores = [m.score for m in report.meanings.ranking]
    assert scores == sorted(scores) and report.meanings.lead >= 0  # less is better
    plain = model.report(table, folds=3, repeats=1)
    assert plain.board.score("spread", "brier").mean == report.score
    again = json.loads(json.dumps(plain.to_dict(), allow_nan=False))
    assert {"candidate", "metric", "score", "score_se", "folds"} == set(again["metrics"][0])
    with pytest.raises(ParameterError, match=r'scorers=.f1.: must be one of "accuracy", "balanced_accuracy"'):
        model.report(table, scorers="f1")
    with pytest.raises(ParameterError, match=r"scoring=.r2.: must be one of"):
        model.report(table, scoring="r2")
    heights = catalogue(target="height")
    with pytest.raises(ParameterError, match="a coverage ranks nothing"):
        uncertain.fit(heights, target="height", method="gsu").report(heights, scoring="coverage_68")
    with pytest.raises(ParameterError, match="GSUClassifier gives no probabilities here"):
        uncertain.fit(table, target="kind", probability=False, method="gsu").report(table, scoring="log_loss")


def test_progress_and_time(capsys: pytest.CaptureFixture[str]) -> None:
    table = catalogue(80)
    model = uncertain.fit(table, target="kind", meaning="spread", method="gsu")
    heard: list[Any] = []
    report = model.report(table, folds=2, repeats=2, verbose=1, callback=heard.append)
    written = capsys.readouterr()
    assert written.out == ""
    lines = written.err.splitlines()
    assert len(lines) == len(heard) == 4 * 4
    assert re.fullmatch(r"\[report\] fold 1 of 4, means only: \d+\.\d s, about \d+ s to go", lines[0])
    assert [h.fold for h in heard] == sorted(h.fold for h in heard)
    assert heard[-1].remaining == 0 and heard[0].folds == 4
    assert {h.task for h in heard} == {"means only", "spread", "measurement", "discriminant"}
    assert report.folds_done == 4

    short = model.report(table, folds=2, repeats=2, max_seconds=1e-9)
    assert short.folds_done == 1 and short.scores.shape == (1,)
    np.testing.assert_array_equal(short.scores, report.scores[:1])
    assert "2 folds x 2 repeats (the time was over after 1 of them)" in str(short)
    half = len(table) // 2
    assert np.isin(short.flipped_rows, np.arange(len(table))).all() and short.flipped_rows.size <= half
    assert "the time was over" not in str(report)
    for wrong in (0, -1.0, True, "2", float("nan")):
        with pytest.raises(ParameterError, match=r"max_seconds=.*seconds > 0"):
            model.report(table, max_seconds=wrong)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="callback must be a function of one ReportProgress"):
        model.report(table, callback=3)  # type: ignore[arg-type]

    def stop(_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        model.report(table, callback=stop)


def test_pictures_and_tables_by_kind_of_model() -> None:
    pytest.importorskip("matplotlib")
    table, heights = catalogue(80), catalogue(80, target="height")
    report = uncertain.fit(table, target="kind", method="gsu").report(table, folds=2, repeats=1, listed=3)
    assert [*report.pictures()] == ["Held-out scores", "Reliability of held-out probabilities"]
    assert len(report.sections()) == 3
    numbers = uncertain.fit(heights, target="height", method="gsu").report(heights, folds=2, repeats=1)
    assert [*numbers.pictures()] == ["Held-out scores", "Calibration of held-out distributions"]
    assert "Coefficients" in dict(numbers.sections())
    wrong = uncertain.fit(heights, target="height", method="huber").report(heights, folds=2, repeats=1)
    assert any("Labels dropped by the fit" in title for title, _ in wrong.sections())


@pytest.mark.parametrize("target", ["kind", "height"])
def test_a_remeasured_model_is_reported_as_one_of_measurement(target: str) -> None:
    table = catalogue(90, target=target)
    model = uncertain.fit(table, target=target, method="remeasured", n_trees=3, error_columns="errors")
    report = model.report(table, folds=2, repeats=1)
    assert "measurement errors" in repr(model)
    assert "measurement" in report.board.names and "spread" not in report.board.names


def test_the_winner_is_the_model_unless_another_one_is_clearly_better() -> None:
    """Error bars that say which of many features can be trusted."""
    rng = np.random.default_rng(1)
    n, d = 80, 30
    y = np.arange(n) % 2
    std = np.where(np.arange(d) == 0, 0.3, 3.0) * np.ones((n, 1))
    X = GaussianArray(
        np.where(np.arange(d) == 0, 2.0 * y[:, None] - 1.0, 0.0) + std * rng.standard_normal((n, d)), std=std
    )
    exact = uncertain.fit(X, y, scale=False, method="gsu")
    report = exact.report(X, y, folds=4, repeats=2)
    assert report.board.difference("spread", "means only").counts and report.winner == "spread"
    assert report.reason == "The model as it is: nothing is better by more than two standard errors."
    worse = uncertain.fit(X, y, scale=False, alpha=1e4, method="gsu").report(X, y, repeats=2)
    assert worse.winner == "discriminant"
    assert worse.reason.startswith('Better than the model as it is: "discriminant", by ')
    assert worse.reason.endswith('Fit with method="discriminant".') and str(worse).endswith(worse.reason)


def test_weights_are_those_of_the_fit() -> None:
    """A weight of two is the same as the row twice, in every fit of the report."""
    table = catalogue(90).with_columns(w=pl.Series(np.arange(90) % 3 / 1.0))
    model = uncertain.fit(table, target="kind", sample_weight="w", meaning="spread", method="gsu")
    report = model.report(table, folds=3, repeats=1, meanings=False, scorers="log_loss", random_state=4)
    data, y, w = model.gaussians(table), table["kind"].to_numpy(), table["w"].to_numpy()
    losses = []
    for train, test in RepeatedStratifiedKFold(n_splits=3, n_repeats=1, random_state=4).split(y, y):
        fitted = clone(model.pipeline_[1:])
        fitted.fit(data[train], y[train], scale__sample_weight=w[train], classify__sample_weight=w[train])
        losses.append(skm.log_loss(y[test], fitted.predict_proba(data[test])))
    np.testing.assert_allclose(report.board.score("spread", "log_loss").values, losses)
    plain = model.report(table, folds=3, repeats=1, sample_weight=False, scorers="log_loss", random_state=4)
    assert not np.allclose(plain.board.score("spread", "log_loss").values, losses)
    values = uncertain.fit(table.drop("w"), target="kind", sample_weight=w, method="gsu")
    with pytest.raises(ParameterError, match="weights as values, not as a column"):
        values.report(table)
    assert values.report(table.drop("w"), sample_weight=w, folds=2, repeats=1).n_rows == len(table)
