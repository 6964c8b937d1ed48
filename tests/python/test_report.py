"""`Model.report`: held-out scores of the model, of means alone and of the other meaning, and what it says."""

import json
import re
from typing import Any

import numpy as np
import polars as pl
import pytest
import sklearn.metrics as skm
from scipy.stats import kstest
from sklearn.base import clone
from sklearn.model_selection import RepeatedKFold, RepeatedStratifiedKFold
from sklearn.pipeline import make_pipeline

import uncertain
from uncertain import GaussianArray, GaussianCollapser, GaussianDenoiser, GaussianScaler
from uncertain.exceptions import ParameterError, UncertainError, UncertainWarning


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


def line(n: int = 800, seed: int = 0) -> pl.DataFrame:
    """y = 2 z, and z read with errors of 0.5."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=n)
    columns = {"z": z + 0.5 * rng.normal(size=n), "z_err": np.full(n, 0.5)}
    return pl.DataFrame(columns | {"y": 2.0 * z + 0.1 * rng.normal(size=n)})


def one_good_feature() -> tuple[GaussianArray, np.ndarray]:
    """One feature tells the classes apart; the others are noise, as their error bars say."""
    rng = np.random.default_rng(1)
    n, d = 80, 30
    y = np.arange(n) % 2
    std = np.where(np.arange(d) == 0, 0.3, 3.0) * np.ones((n, 1))
    means = np.where(np.arange(d) == 0, 2.0 * y[:, None] - 1.0, 0.0) + std * rng.standard_normal((n, d))
    return GaussianArray(means, std=std), y


def score(report: uncertain.Report, candidate: str, measure: str) -> float:
    rows = report.scores.filter(pl.col("candidate") == candidate, pl.col("measure") == measure)
    return float(rows["score"].item())


@pytest.mark.parametrize("weighted", [False, True])
def test_scores_are_those_of_fits_calibrated_in_the_folds(weighted: bool) -> None:
    table = catalogue(150, classes=3).with_columns(w=pl.Series(1.0 + np.arange(150) % 3))
    model = uncertain.fit(
        table if weighted else table.drop("w"), target="kind", meaning="spread", method="gsu",
        sample_weight="w" if weighted else None,
    )  # fmt: skip
    report = model.report(table, folds=3, repeats=2, random_state=4, meanings=False)
    data, y, w = model.gaussians(table), table["kind"].to_numpy(), table["w"].to_numpy()
    exact, found = data.collapse("zero"), []
    for train, test in RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=4).split(y, y):
        weights = {"scale__sample_weight": w[train], "classify__sample_weight": w[train]} if weighted else {}
        fits = [clone(model.pipeline_[1:]).fit(rows[train], y[train], **weights) for rows in (data, exact)]
        found.append(
            (test, *(f for fit in fits for f in (fit.predict_proba(data[test]), fit.predict(data[test]))))
        )
    at = np.concatenate([test for test, *_ in found])
    p, label = np.concatenate([f[1] for f in found]), np.concatenate([f[2] for f in found])
    known: dict[str, Any] = {"sample_weight": w[at] if weighted else None}
    onehot = y[at][:, None] == np.unique(y)
    each = [skm.roc_auc_score(onehot[:, k], p[:, k], **known) for k in range(3)]
    want = {
        "accuracy": skm.accuracy_score(y[at], label, **known),
        "balanced_accuracy": skm.balanced_accuracy_score(y[at], label, **known),
        "roc_auc": np.mean(each),
        "log_loss": skm.log_loss(y[at], p, **known),
        "brier": np.average(((p - onehot) ** 2).sum(axis=1), weights=known["sample_weight"]),
    }
    for measure, value in want.items():
        assert score(report, "model", measure) == pytest.approx(value, rel=1e-9)
    assert report.scoring == "accuracy" and report.score == pytest.approx(want["accuracy"])
    # Rows by how much their first prediction differs from that without error bars.
    rows = report.rows.sort("row")
    assert rows["row"].to_list() == list(range(150)) and rows["target"].to_list() == y.tolist()
    first = dict(zip(at[:150].tolist(), label[:150].tolist(), strict=True))
    assert rows["model"].to_list() == [first[k] for k in range(150)]
    assert report.rows["change"].is_sorted(descending=True)
    n = (rows["model"] != rows["means_only"]).sum()
    assert f"{n} of 150 predictions" in report.verdict or "the accuracy by" in report.verdict
    if weighted:
        plain = model.report(table, folds=3, repeats=2, random_state=4, meanings=False, sample_weight=False)
        assert plain.score_se != report.score_se
        values = uncertain.fit(table.drop("w"), target="kind", sample_weight=w, method="gsu")
        with pytest.raises(ParameterError, match="weights as values, not as a column"):
            values.report(table)
        assert values.report(table.drop("w"), sample_weight=w, folds=2, repeats=1).n_rows == len(table)


def test_the_page_and_its_numbers() -> None:
    table = catalogue(160)
    report = uncertain.fit(table, target="kind", method="gsu").report(table, folds=4, repeats=2, listed=5)
    assert (report.n_rows, report.folds, report.repeats, report.folds_done) == (160, 4, 2, 8)
    assert report.difference == pytest.approx(report.score - report.score_means_only)
    for part in (report.verdict, report.meaning_verdict, report.errors_verdict, report.calibration_verdict):
        assert part and part in str(report)
    assert "Held-out scores, 4 folds x 2 repeats, 160 rows (mean ± standard error)" in str(report)
    assert str(report).endswith(report.reason)
    assert report.by_error_size["size"].is_sorted() and len(report.by_error_size) == 3
    assert report.calibration["observed"].is_between(0.0, 1.0).all()
    again = json.loads(json.dumps(report.to_dict(), allow_nan=False))
    assert again["score"] == report.score and len(again["rows"]) == 5
    assert {line["candidate"] for line in again["scores"]} == {
        *("model", "means only", "spread", "no model", "error sizes alone")
    }
    alone = uncertain.fit(table, target="kind", method="gsu").report(table, folds=2, meanings=False)
    assert alone.lead is None and "spread" not in alone.scores["candidate"]


def test_rows_without_error_bars_have_nothing_to_compare() -> None:
    table = catalogue(60).with_columns(flux0_err=pl.lit(0.0), flux1_err=pl.lit(0.0))
    with pytest.warns(UncertainWarning, match="flux0, flux1 are zero in every row"):
        model = uncertain.fit(table, target="kind", method="gsu")
    report = model.report(table, folds=3, repeats=1)
    assert report.verdict == "No row has error bars." and report.lead is None and report.rows.is_empty()
    assert report.winner == "model" and "means only" not in str(report)
    json.dumps(report.to_dict(), allow_nan=False)


def test_a_real_difference_is_called_one_and_the_better_candidate_named() -> None:
    X, y = one_good_feature()
    report = uncertain.fit(X, y, scale=False, method="gsu").report(X, y, folds=4, repeats=2)
    assert report.difference > 2 * report.difference_se > 0
    assert re.match(r"Error bars raise the accuracy by \d+\.?\d* ± \d+\.?\d* points\.", report.verdict)
    assert report.winner == "model" and report.reason.startswith("Keep this model: no alternative")
    worse = uncertain.fit(X.collapse("zero"), y, scale=False, alpha=1e4, method="gsu")
    assert worse.report(X, y, repeats=1).winner in ("model", "measurement", "means only")
    table = line(seed=1)
    other = uncertain.fit(table, target="y", meaning="spread", method="gsu").report(table, repeats=1)
    assert other.winner == "measurement" and other.reason.endswith('Fit with meaning="measurement".')
    assert other.verdict.startswith("Error bars raise the mean absolute error by ")
    assert other.meaning_verdict.startswith("Measurement error predicts better than spread, by ")


def test_a_better_log_loss_is_said_beside_an_equal_accuracy() -> None:
    """Half of the rows are read badly: their means decide alike, but are far too sure."""
    rng = np.random.default_rng(0)
    y = np.arange(400) % 2
    std = np.where(rng.random(400) < 0.5, 0.1, 3.0)[:, None] * np.ones((1, 2))
    truth = 0.5 * rng.standard_normal((400, 2)) + 2.0 * y[:, None] - 1.0
    rows = GaussianArray(truth + std * rng.standard_normal((400, 2)), std=std)
    report = uncertain.fit(rows, y, method="discriminant").report(rows, y, folds=5, repeats=1)
    assert report.verdict.startswith("Error bars do not change the accuracy measurably (")
    assert re.search(r"They lower the log loss by 0\.\d+ ± 0\.\d+\.", report.verdict)
    assert {"linear, measurement", "linear, spread"} < {*report.scores["candidate"]}
    assert "in linear models" in report.meaning_verdict


def test_error_sizes_that_tell_the_target_are_said() -> None:
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    std = np.where(y == 1, 0.5, 0.1)[:, None] * rng.uniform(0.9, 1.1, (200, 2))
    rows = GaussianArray(rng.normal(size=(200, 2)), std=std)
    report = uncertain.fit(rows, y, method="remeasured", n_trees=20).report(rows, y, folds=3, repeats=1)
    assert "without any value" not in str(report) or report.warning in str(report)
    informative = uncertain.fit(rows, y, method="remeasured", n_trees=20, error_columns="errors")
    report = informative.report(rows, y, folds=3, repeats=1)
    assert report.warning.startswith(
        "Sizes of errors and gaps predict the target without any value: log loss"
    )
    assert report.warning in str(report)


def test_arguments() -> None:
    table, heights = catalogue(), catalogue(target="height")
    model = uncertain.fit(table, target="kind", meaning="spread", method="gsu")
    report = model.report(table, folds=3, repeats=1, scoring="brier", scorers=["roc_auc"])
    assert report.scoring == "brier" and "Brier score" in report.verdict
    assert report.scores["measure"].unique(maintain_order=True).to_list() == ["accuracy", "roc_auc", "brier"]
    for argument in ({"folds": 1}, {"repeats": 0}, {"listed": -1}, {"folds": 2.5}, {"folds": 100_000}):
        with pytest.raises(UncertainError, match=next(iter(argument))):
            model.report(table, **argument)  # type: ignore[arg-type]
    for wrong in (0, -1.0, True, "2", float("nan")):
        with pytest.raises(ParameterError, match=r"max_seconds=.*seconds > 0"):
            model.report(table, max_seconds=wrong)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match=r'scorers=.f1.: must be one of "accuracy", "balanced_accuracy"'):
        model.report(table, scorers="f1")
    with pytest.raises(ParameterError, match=r"scoring=.r2.: must be one of"):
        model.report(table, scoring="r2")
    with pytest.raises(ParameterError, match="GSUClassifier gives no probabilities here"):
        uncertain.fit(table, target="kind", probability=False, method="gsu").report(table, scoring="log_loss")
    few = pl.concat(
        [table.filter(pl.col("kind") == "star"), table.filter(pl.col("kind") == "quasar").head(3)]
    )
    assert model.report(few, repeats=1).n_compared == len(few)
    with pytest.raises(UncertainError, match="class 'quasar' has a single row"):
        model.report(pl.concat([few[:-3], few[-1:]]))
    with pytest.raises(ParameterError, match=r"scoring=.accuracy.: must be one of \"mae\""):
        uncertain.fit(heights, target="height", method="gsu").report(heights, scoring="accuracy")


def test_progress_and_time(capsys: pytest.CaptureFixture[str]) -> None:
    table = catalogue(80)
    model = uncertain.fit(table, target="kind", meaning="spread", method="gsu")
    heard: list[Any] = []
    report = model.report(table, folds=2, repeats=2, verbose=1, callback=heard.append)
    written = capsys.readouterr()
    assert written.out == ""
    lines = written.err.splitlines()
    names = {"model", "means only", "measurement", "no model", "error sizes alone"}
    assert len(lines) == len(heard) == 4 * len(names) and {h.task for h in heard} == names
    assert re.fullmatch(r"\[report\] fold 1 of 4, model: \d+\.\d s, about \d+ s to go", lines[0])
    assert heard[-1].remaining == 0 and heard[0].folds == report.folds_done == 4
    assert "the time was over" not in str(report)
    short = model.report(table, folds=2, repeats=2, max_seconds=1e-9)
    assert (
        short.folds_done == 1
        and short.n_compared == 40
        and {*short.scores["candidate"]} == {"model", "means only"}
    )
    assert "2 folds x 2 repeats (the time was over after 1 of them)" in str(short)
    with pytest.raises(TypeError, match="callback must be a function of one ReportProgress"):
        model.report(table, callback=3)  # type: ignore[arg-type]

    def stop(_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        model.report(table, callback=stop)


@pytest.mark.parametrize(
    ("target", "options"),
    [
        ("kind", {"method": "gsu"}),
        ("height", {"method": "gsu"}),
        ("height", {"method": "huber"}),
        ("height", {"method": "mixture"}),
        ("kind", {"method": "remeasured", "n_trees": 3, "error_columns": "errors"}),
        ("height", {"method": "remeasured", "n_trees": 3}),
        ("height", {}),
    ],
)
def test_every_kind_of_model_has_a_page_and_a_picture(target: str, options: dict[str, Any]) -> None:
    pytest.importorskip("matplotlib")
    table = catalogue(80, target=target)
    report = uncertain.fit(table, target=target, **options).report(table, folds=2, repeats=1, listed=3)
    titles = [ax.get_title() for ax in report.plot().axes]
    assert titles == ["Did the error bars help?", "For which rows?", "Are the probabilities right?"]
    assert ("Labels dropped by the fit" in str(report)) == (options.get("method") == "huber")
    candidates = {*report.scores["candidate"]}
    by_nature = options.get("method", "remeasured") == "remeasured"
    assert ("linear, spread" in candidates) == by_nature and {"model", "means only"} < candidates


# -- regressions


def test_the_other_meaning_is_the_pipeline_that_fit_would_make() -> None:
    table = line(300)
    data, y = GaussianArray(table.select("z").to_numpy(), std=0.5), table["y"].to_numpy()
    spread = uncertain.fit(table, target="y", meaning="spread", method="gsu")
    report = spread.report(table, folds=3, repeats=1, random_state=1)
    last = uncertain.fit(table, target="y", meaning="measurement", method="gsu").pipeline_[-1]
    steps = GaussianDenoiser(random_state=0), GaussianScaler(spread="total"), GaussianCollapser(), clone(last)
    off = []
    for train, test in RepeatedKFold(n_splits=3, n_repeats=1, random_state=1).split(y):
        measured = make_pipeline(*map(clone, steps)).fit(data[train], y[train])
        off.append(measured.predict(data[test]) - y[test])
    assert score(report, "measurement", "mae") == pytest.approx(np.abs(np.concatenate(off)).mean())
    assert score(report, "measurement", "rmse") == pytest.approx(np.sqrt((np.concatenate(off) ** 2).mean()))


def test_covariances_of_features_and_target_are_in_the_fits() -> None:
    rng = np.random.default_rng(0)
    n = 400
    z, together = rng.normal(size=n), rng.normal(size=n)
    table = pl.DataFrame(
        {"x": z + 0.5 * together, "x_err": np.full(n, 0.5), "cov_x_y": np.full(n, -0.4)}
        | {"y": 2.0 * z - 0.8 * together + 0.1 * rng.normal(size=n), "y_err": np.full(n, np.hypot(0.8, 0.1))}
    )
    with_pairs = uncertain.fit(table, "y", method="mixture").report(table, folds=3, repeats=1)
    without = uncertain.fit(table.drop("cov_x_y"), "y", method="mixture").report(table, folds=3, repeats=1)
    assert (
        abs(with_pairs.score - without.score) > 0.01
        and with_pairs.score_means_only == without.score_means_only
    )


def test_densities_of_held_out_rows_are_right() -> None:
    table = catalogue(400, target="height")
    report = uncertain.fit(table, target="height", method="mixture").report(table, repeats=1)
    assert kstest(report.pit, "uniform").statistic < 0.1 and len(report.pit) == 400
    assert score(report, "model", "crps") < score(report, "model", "mae")
    assert np.isfinite(score(report, "model", "cde_loss"))
    stated, observed, se = report.calibration.to_numpy().T
    assert stated.tolist() == [0.5, 0.68, 0.9, 0.95] and (np.abs(observed - stated) < 4 * se + 0.02).all()
    assert report.calibration_verdict.startswith("Yes") and "68 % intervals hold" in str(report)
