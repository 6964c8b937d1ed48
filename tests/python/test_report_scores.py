"""The measures of `Model.report` against scikit-learn, their standard errors against simulation, ranking,
progress, time, HTML and the line of code that fits the winner."""

from __future__ import annotations

import builtins
import html
import json
import re
from importlib.machinery import ModuleSpec
from typing import Any

import numpy as np
import polars as pl
import pytest
import sklearn.metrics as skm
from sklearn.base import clone
from sklearn.model_selection import RepeatedStratifiedKFold

import uncertain
from uncertain import GaussianArray
from uncertain._model.scatter import most_likely_scatter
from uncertain._report import html as page
from uncertain._report.board import MEANS_ONLY, board_of
from uncertain._report.held_out import quiet, standard_error, with_scatter
from uncertain._report.metrics import OF_CLASSES, OF_NUMBERS, Answer, Metric
from uncertain._report.pace import Pace, ReportProgress
from uncertain.exceptions import ParameterError
from uncertain.tables._groups import Groups

METRICS = {metric.name: metric for metric in (*OF_CLASSES, *OF_NUMBERS)}


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


def value(metric: Metric, truth: np.ndarray, answer: Answer, classes: np.ndarray | None = None) -> float:
    rows = metric.of_rows(truth, answer, np.unique(truth) if classes is None else classes)
    assert rows is not None and rows.shape == truth.shape
    return float(rows.mean())


@pytest.mark.parametrize("k", [2, 4])
def test_measures_of_classes_are_those_of_scikit_learn(k: int, rng: np.random.Generator) -> None:
    n = 300
    truth = np.array(list("dabc"))[rng.integers(0, k, n)]
    classes, codes = np.unique(truth, return_inverse=True)
    logits = 1.0 * np.eye(k)[codes] + rng.normal(size=(n, k)).round(1)  # with ties
    prob = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    scores = logits[:, 1] - logits[:, 0] if k == 2 else logits
    answer = Answer(np.arange(n), classes[logits.argmax(axis=1)], scores, prob)
    of = {name: value(METRICS[name], truth, answer) for name in (m.name for m in OF_CLASSES)}
    assert of["accuracy"] == pytest.approx(skm.accuracy_score(truth, answer.predicted))
    assert of["balanced_accuracy"] == pytest.approx(skm.balanced_accuracy_score(truth, answer.predicted))
    each = [skm.roc_auc_score(truth == c, logits[:, j]) for j, c in enumerate(classes)]
    auc = skm.roc_auc_score(truth, scores) if k == 2 else np.mean(each)
    assert of["roc_auc"] == pytest.approx(auc)
    assert of["log_loss"] == pytest.approx(skm.log_loss(truth, prob))
    brier = ((prob - np.eye(k)[codes]) ** 2).sum(axis=1).mean()
    assert of["brier"] == pytest.approx(skm.brier_score_loss(codes, prob[:, 1]) if k == 2 else brier)


def test_measures_of_numbers_are_those_of_scikit_learn(rng: np.random.Generator) -> None:
    truth = 3.0 * rng.normal(size=200)
    std = np.full(200, 1.3)
    answer = Answer(np.arange(200), truth + std * rng.normal(size=200), std=std)
    assert value(METRICS["mae"], truth, answer) == pytest.approx(
        skm.mean_absolute_error(truth, answer.predicted)
    )
    assert value(METRICS["rmse"], truth, answer) == pytest.approx(
        skm.root_mean_squared_error(truth, answer.predicted)
    )
    assert value(METRICS["r2"], truth, answer) == pytest.approx(skm.r2_score(truth, answer.predicted))
    off = np.abs(truth - answer.predicted) / 1.3
    assert value(METRICS["coverage_68"], truth, answer) == np.mean(off <= 0.9944578832097532)
    assert value(METRICS["coverage_95"], truth, answer) == np.mean(off <= 1.959963984540054)


@pytest.mark.parametrize("name", ["balanced_accuracy", "roc_auc", "r2", "rmse"])
def test_standard_errors_of_what_is_no_mean_over_rows(name: str) -> None:
    """The spread of the measure over many samples, beside the standard error of each."""
    rng = np.random.default_rng(3)
    n, found = 250, []
    for _ in range(500):
        if name in ("r2", "rmse"):
            truth = rng.standard_t(8, size=n)
            answer = Answer(np.arange(n), 0.7 * truth + 0.5 * rng.normal(size=n))
        else:
            truth = (rng.random(n) < 0.2).astype(int)
            scores = 1.2 * truth + rng.normal(size=n) - 0.6
            answer = Answer(np.arange(n), (scores > 0).astype(int), scores)
        rows = METRICS[name].of_rows(truth, answer, np.array([0, 1]))
        assert rows is not None
        found.append((rows.mean(), standard_error(rows[None, :])))
    values, errors = np.array(found).T
    assert np.median(errors) / values.std() == pytest.approx(1.0, abs=0.1)


def test_a_fold_without_a_class_has_no_auc_and_does_not_count() -> None:
    truth = np.array([0, 1, 0, 1, 0, 0])
    scores = np.array([-1.0, 1.0, -2.0, 0.5, -1.0, 2.0])
    answers = [
        Answer(np.array(rows), (scores[rows] > 0).astype(int), scores[rows])
        for rows in ([0, 1], [2, 3], [4, 5])
    ]
    board = board_of({MEANS_ONLY: answers}, truth, OF_CLASSES, METRICS["roc_auc"], None)
    np.testing.assert_array_equal(board.score(MEANS_ONLY).values, [1.0, 1.0, np.nan])
    assert board.score(MEANS_ONLY).mean == 1.0 and board.score(MEANS_ONLY).se == 0.0
    assert (MEANS_ONLY, "log_loss") not in board.scores


def test_probabilities_of_a_report_are_those_of_fits_calibrated_in_the_folds() -> None:
    table = catalogue(150, classes=3)
    model = uncertain.fit(table, target="kind", meaning="spread", method="gsu")
    report = model.report(table, folds=3, repeats=2, random_state=4, meanings=False)
    splits = RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=4)
    data, y = model.gaussians(table), table["kind"].to_numpy()
    losses, aucs = [], []
    for train, test in splits.split(y, y):
        fitted = quiet(model.pipeline_[1:], probability=True).fit(data[train], y[train])
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


def test_coverage_takes_the_scatter_of_other_folds() -> None:
    rng = np.random.default_rng(2)
    truth = rng.normal(size=4000)
    std = rng.uniform(0.0, 2.0, 4000)
    predicted = truth + np.sqrt(0.5 + std**2) * rng.normal(size=4000)
    parts = np.array_split(rng.permutation(4000), 4)
    answers = [Answer(rows, predicted[rows], std=std[rows]) for rows in parts]
    full = with_scatter(answers, truth, 4, most_likely_scatter)
    others = np.concatenate(parts[1:])
    sigma = most_likely_scatter((truth - predicted)[others], std[others] ** 2, np.ones(3000))
    assert sigma == pytest.approx(np.sqrt(0.5), rel=0.05)
    np.testing.assert_allclose(full[0].std, np.sqrt(sigma**2 + std[parts[0]] ** 2))
    wider = with_scatter(answers, truth, 4, lambda *_: 0.0, np.full(4000, 3.0))
    np.testing.assert_allclose(wider[1].std, np.sqrt(9.0 + std[parts[1]] ** 2))
    covered = [value(METRICS["coverage_68"], truth[a.rows], a) for a in full]
    assert np.mean(covered) == pytest.approx(0.68, abs=0.02)
    assert with_scatter(answers[:1], truth, 4, most_likely_scatter)[0].std is None


def test_progress_and_time(capsys: pytest.CaptureFixture[str]) -> None:
    table = catalogue(80)
    model = uncertain.fit(table, target="kind", meaning="spread", method="gsu")
    heard: list[ReportProgress] = []
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


def test_the_clock_stops_before_a_fold_that_would_be_late(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr("time.perf_counter", lambda: now[0])
    pace = Pace(max_seconds=10.0)
    pace.begin(20, 1)
    done = 0
    while not pace.enough(done):
        now[0] += 3.0
        pace.step("a fit", done)
        done += 1
    assert done == 3  # a fourth would end at 12 s


def test_html_has_the_tables_the_pictures_and_the_code(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    table, heights = catalogue(80), catalogue(80, target="height")
    report = uncertain.fit(table, target="kind", method="gsu").report(table, folds=2, repeats=1, listed=3)
    text = report._repr_html_()
    assert text.count("<table>") == 3 and text.count("data:image/svg+xml;base64,") == 2
    assert html.escape(report.verdict) in text and html.escape(report.code) in text
    numbers = uncertain.fit(heights, target="height", method="gsu").report(heights, folds=2, repeats=1)
    assert "Coefficients" in numbers._repr_html_() and "flux1" in numbers._repr_html_()
    wrong = uncertain.fit(heights, target="height", method="huber").report(heights, folds=2, repeats=1)
    assert "Labels dropped by the fit" in wrong._repr_html_()

    def without(name: str, package: str | None = None) -> ModuleSpec | None:
        return None

    monkeypatch.setattr(page, "find_spec", without)
    bare = report._repr_html_()
    assert "<img" not in bare and bare.count("<table>") == 3


def test_names_in_html_are_escaped() -> None:
    rows = [("", "a"), ("<b>", "1 & 2")]
    assert "&lt;b&gt;" in page.table(rows) and "1 &amp; 2" in page.table(rows)


def run(code: str, **names: Any) -> uncertain.Model:
    result = eval(code, {"uncertain": uncertain, "__builtins__": builtins} | names)
    assert isinstance(result, uncertain.Model)
    return result


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"meaning": "measurement", "alpha": 0.1},
        {"method": "discriminant", "n_components": 2, "max_iter": 2000},
        {"method": "kernel", "C": 2.0},
        {"method": "mpsvc", "scale": False},
        {"features": ["flux1"], "std": "{}_err", "class_weight": {"star": 2.0}},
        {"method": "huber", "max_refinements": 1},
        {"on_missing": "impute", "kernel": "quadratic"},
    ],
)
def test_the_code_of_every_candidate_fits_that_candidate(arguments: dict[str, Any]) -> None:
    table = catalogue(90)
    model = uncertain.fit(table, target="kind", **{"method": "gsu"} | arguments)
    report = model.report(table, folds=2, repeats=1, scorers="accuracy")
    again = run(report.codes[report.own], table=table, model=model)
    assert again.predict_proba(table).equals(model.predict_proba(table))
    for name, code in report.codes.items():
        if name not in report.board.names:
            continue
        other = run(code, table=table, model=model)
        if name != MEANS_ONLY:
            assert other.predict(table).len() == len(table)
            continue
        # The same model of the rows without error bars.
        exact = model.gaussians(table).collapse("zero")
        own = clone(model.pipeline_[1:]).fit(exact, table["kind"].to_numpy()).predict_proba(exact)
        found = other.predict_proba(exact if other.columns_.target is None else table)
        np.testing.assert_allclose(np.asarray(found), own, rtol=1e-6)
    assert report.codes[report.winner] == report.code
    assert report.code in str(report)


@pytest.mark.filterwarnings("ignore::uncertain.exceptions.ErrorSizesWarning")
def test_the_code_names_what_differs_from_the_defaults(tmp_path: Any) -> None:
    table = catalogue(80)
    path = tmp_path / "table.parquet"
    table.write_parquet(path)
    model = uncertain.fit(path, target="kind", alpha=0.01, meaning="spread", method="gsu")
    line = model.report(path, folds=2, repeats=1).codes["spread"]
    assert line == f'uncertain.fit("{path}", target="kind", method="gsu", meaning="spread", alpha=0.01)'
    model.save(tmp_path / "m")
    again = uncertain.load(tmp_path / "m")  # a file knows it, too
    assert again.report(path, folds=2, repeats=1).codes["spread"] == line
    heights = catalogue(80, target="height")
    measured = uncertain.fit(heights, target="height", method="gsu")
    code = measured.report(heights, folds=2, repeats=1).codes["measurement"]
    assert code == 'uncertain.fit(table, target="height", method="gsu", meaning="measurement")'
    many = table.with_columns(
        patient=pl.Series(np.arange(80) // 2), label=pl.Series(1.0 + np.arange(80) % 4 // 2)
    )
    grouped = uncertain.fit(
        many.drop("kind"),
        task="classification",
        groups="patient",
        probability=False,
        meaning="spread",
        method="gsu",
    )
    own = grouped.report(many, folds=2, repeats=1, meanings=False).codes["spread"]
    assert own == (
        'uncertain.fit(table, task="classification", groups="patient", method="gsu", meaning="spread", '
        "probability=False)"
    )
    X, y = GaussianArray(table.select("flux0", "flux1").to_numpy(), std=0.3), table["kind"].to_list()
    rows = uncertain.fit(X, y, method="usvc", C=3.0)
    codes = rows.report(X, y, folds=2, repeats=1).codes
    assert codes["spread"] == 'uncertain.fit(table, target=y, method="usvc", meaning="spread", C=3.0)'
    assert run(codes["spread"], table=X, y=y).score(X, y) == rows.score(X, y)
    assert run(codes[MEANS_ONLY], table=X, y=y, model=rows).score(X, y) > 0.5


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
    assert report.board.difference("spread", MEANS_ONLY).counts and report.winner == "spread"
    assert report.reason == "The model as it is: nothing is better by more than two standard errors."
    worse = uncertain.fit(X, y, scale=False, alpha=1e4, method="gsu").report(X, y, repeats=2)
    assert worse.winner == "discriminant" and "discriminant" in worse.code
    assert worse.reason.startswith('Better than the model as it is: "discriminant", by ')


def test_weights_are_those_of_the_fit() -> None:
    """A weight of two is the same as the row twice, in every fit of the report."""
    table = catalogue(90).with_columns(w=pl.Series(np.arange(90) % 3 / 1.0))
    model = uncertain.fit(table, target="kind", sample_weight="w", meaning="spread", method="gsu")
    report = model.report(table, folds=3, repeats=1, meanings=False, scorers="log_loss", random_state=4)
    data, y, w = model.gaussians(table), table["kind"].to_numpy(), table["w"].to_numpy()
    losses = []
    for train, test in RepeatedStratifiedKFold(n_splits=3, n_repeats=1, random_state=4).split(y, y):
        fitted = quiet(model.pipeline_[1:], probability=True)
        fitted.fit(data[train], y[train], scale__sample_weight=w[train], classify__sample_weight=w[train])
        losses.append(skm.log_loss(y[test], fitted.predict_proba(data[test])))
    np.testing.assert_allclose(report.board.score("spread", "log_loss").values, losses)
    plain = model.report(table, folds=3, repeats=1, sample_weight=False, scorers="log_loss", random_state=4)
    assert not np.allclose(plain.board.score("spread", "log_loss").values, losses)
    assert 'sample_weight="w"' in report.codes["spread"]
    assert run(report.codes["spread"], table=table).predict_proba(table).equals(model.predict_proba(table))
    values = uncertain.fit(table.drop("w"), target="kind", sample_weight=w, method="gsu")
    with pytest.raises(ParameterError, match="weights that were given as values"):
        values.report(table)
    again = values.report(table.drop("w"), sample_weight=w, folds=2, repeats=1)
    assert "sample_weight=sample_weight" in again.codes["measurement"]


def test_probabilities_of_groups_are_calibrated_on_whole_groups() -> None:
    table = catalogue(120).with_columns(patient=pl.Series(np.arange(120) // 3))
    kinds = np.array(["quasar", "star"])[np.arange(120) // 3 % 2]
    table = table.with_columns(kind=pl.Series(kinds))
    model = uncertain.fit(table, target="kind", groups="patient", meaning="spread", method="gsu")
    report = model.report(table, folds=2, repeats=1, meanings=False, scorers="log_loss")
    data, codes = model.gaussians(table), table["patient"].to_numpy().astype(np.uint32)
    splits = Groups(codes).splits(2, 1, 0, kinds)
    losses = []
    for train, test in splits:
        fitted = quiet(model.pipeline_[1:], probability=True)
        fitted.fit(data[train], kinds[train], classify__groups=codes[train])
        losses.append(skm.log_loss(kinds[test], fitted.predict_proba(data[test])))
    np.testing.assert_allclose(report.board.score("spread", "log_loss").values, losses)
