"""Pictures, judged by what they hold and not by their pixels; the demonstration and its picture."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.stats import norm
from sklearn.calibration import calibration_curve
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss, log_loss

import uncertain
from uncertain import AdaptiveHuberClassifier, AdaptiveHuberRegressor, GaussianArray, GSUClassifier, plot
from uncertain.demo import _run, kepler, wdbc
from uncertain.exceptions import UncertainError
from uncertain.laws import CurveRegressor, GeneralizedLinearLaw, LinearLaw

pytest.importorskip("matplotlib")


@pytest.fixture
def rows(rng: np.random.Generator) -> tuple[GaussianArray, Any]:
    y = np.repeat([0, 1], 40)
    means = rng.normal(size=(80, 2)) + 2.0 * y[:, None]
    return GaussianArray(means, std=rng.uniform(0.1, 0.6, size=(80, 2))), y


def legend(display: Any) -> list[str]:
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]


def test_gaussians_of_two_features_of_many(rng: np.random.Generator) -> None:
    roots = rng.normal(size=(6, 4, 4))
    X = GaussianArray(rng.normal(size=(6, 4)), cov=roots @ roots.swapaxes(1, 2))
    display = plot.GaussianDisplay.from_data(X, list("aabbcc"), features=(3, 1), names=("d", "b"))
    assert len(display.ellipses_) == 3
    np.testing.assert_allclose(display.data.means, X.means[:, [3, 1]])
    S = X.covariances()[0]
    np.testing.assert_allclose(display.data.covariances()[0], [[S[3, 3], S[3, 1]], [S[1, 3], S[1, 1]]])
    widths = np.concatenate([drawn.get_widths() for drawn in display.ellipses_])
    largest = np.sqrt(np.linalg.eigvalsh(display.data.covariances())[:, 1])
    np.testing.assert_allclose(widths, 2 * largest)
    assert display.ax_.get_xlabel() == "d"
    assert legend(display) == ["a", "b", "c"]


def test_the_band_is_where_a_row_may_lie_on_either_side(rows: tuple[GaussianArray, Any]) -> None:
    X, y = rows
    model = GSUClassifier(alpha=0.01).fit(X, y)
    cov = np.array([[0.2, 0.05], [0.05, 0.1]])
    display = plot.DecisionBoundaryDisplay.from_estimator(model, X, y, cov=cov, n_std=1.5, resolution=101)
    w, b = model.coef_[0], model.intercept_[0]
    assert display.boundary_ is not None and display.band_ is not None
    line = np.concatenate([path.vertices for path in display.boundary_.get_paths()])
    np.testing.assert_allclose(line @ w + b, 0.0, atol=1e-9 * np.abs(w).sum())
    band = np.concatenate([path.vertices for path in display.band_.get_paths()])
    np.testing.assert_allclose(np.abs(band @ w + b) / np.sqrt(w @ cov @ w), 1.5, rtol=1e-6)
    assert legend(display) == ["0", "1"]


def test_exact_points_have_no_band_and_several_classes_no_line(rows: tuple[GaussianArray, Any]) -> None:
    X, y = rows
    display = plot.DecisionBoundaryDisplay.from_estimator(GSUClassifier().fit(X, y), X)
    assert display.boundary_ is not None and display.band_ is None
    three = np.digitize(X.means[:, 0], [0.0, 2.0])
    several = plot.DecisionBoundaryDisplay.from_estimator(GSUClassifier().fit(X, three), X, three, cov=0.1)
    assert several.boundary_ is None and several.score.shape[2] == 3
    other = plot.DecisionBoundaryDisplay.from_estimator(LogisticRegression().fit(X.means, y), X.means, y)
    assert other.band_ is None


@pytest.mark.parametrize("strategy", ["quantile", "uniform"])
def test_reliability_is_that_of_scikit_learn(rng: np.random.Generator, strategy: Any) -> None:
    prob = rng.beta(0.7, 0.9, size=900)
    y = rng.random(900) < prob
    display = plot.ReliabilityDisplay.from_predictions(y, prob, pos_label=True, n_bins=8, strategy=strategy)
    true, predicted = calibration_curve(y, prob, n_bins=8, strategy=strategy)
    np.testing.assert_allclose(display.prob_true, true)
    np.testing.assert_allclose(display.prob_pred, predicted)
    assert display.brier == pytest.approx(brier_score_loss(y, prob))
    assert display.log_loss == pytest.approx(log_loss(y, prob))
    assert display.counts.sum() == 900
    options: dict[str, Any] = {"pos_label": True, "ax": display.ax_, "name": "squared"}
    texts = legend(plot.ReliabilityDisplay.from_predictions(y, prob**2, **options))
    assert len(texts) == 3 and texts[0] == "calibrated" and texts[2].startswith("squared: Brier")


def test_intervals_of_frequencies_cover_as_often_as_they_say() -> None:
    rng = np.random.default_rng(0)
    prob = np.repeat((np.arange(400) + 0.5) / 400, 50)  # 400 bins of 50 rows, all with the frequency 0.3
    display = plot.ReliabilityDisplay.from_predictions(
        rng.random(prob.size) < 0.3, prob, n_bins=400, strategy="uniform"
    )
    inside = (display.lower <= 0.3) & (display.upper >= 0.3)
    assert np.mean(inside) == pytest.approx(norm.cdf(1) - norm.cdf(-1), abs=0.06)


@pytest.fixture
def flipped(rng: np.random.Generator) -> tuple[AdaptiveHuberRegressor, Any]:
    """A line through 60 points, ten of which have the wrong sign, and a model that dropped labels."""
    x = rng.uniform(0.5, 1.0, size=(60, 1))
    y = 1.5 * x[:, 0]
    y[:10] *= -1.0
    model = AdaptiveHuberRegressor(1e-3, 0.0, delta=0.4, max_refinements=6, kernel="linear", graph=None)
    return model.fit(x, y), x


def test_refinements_are_those_of_the_model(flipped: tuple[AdaptiveHuberRegressor, Any]) -> None:
    model, _ = flipped
    wrong = np.arange(10)
    display = plot.RefinementDisplay.from_estimator(model, wrong=wrong)
    # The staircase goes through the thresholds, at refinements 0, 1, ...
    np.testing.assert_array_equal(display.threshold_line_.get_ydata(), model.thresholds_)
    np.testing.assert_array_equal(display.threshold_line_.get_xdata(), np.arange(len(model.thresholds_)))
    np.testing.assert_array_equal(display.tried_line_.get_ydata(), [step.tried for step in model.history_])
    # A dot per dropped label, at the height of its residual, near its refinement and above what was tried.
    right, bad = (dots.get_offsets() for dots in display.removed_)
    assert len(bad) == len(np.intersect1d(model.removed_, wrong)) == 10
    assert len(right) + len(bad) == len(model.removed_)
    heights = np.abs(model.removed_residuals_)[np.isin(model.removed_, wrong)]
    np.testing.assert_allclose(bad[:, 1], heights)
    for x, height in np.concatenate([right, bad]):
        assert abs(x - round(x)) < 0.31
        assert height >= model.history_[round(x) - 1].tried - 1e-12
    # A bar per refinement, as high as the number of labels that it dropped.
    assert display.bars_ is not None and display.counts_ax_ is not None
    assert [bar.get_height() for bar in display.bars_] == [step.n_dropped for step in model.history_]
    share = f"({100 * len(model.removed_) / 60:.0f} %)"
    assert display.counts_ax_.get_title() == f"{len(model.removed_)} of 60 labels dropped {share}"
    assert legend(display)[-1] == "dropped, was wrong (10)"


def test_refinements_into_given_axes(flipped: tuple[AdaptiveHuberRegressor, Any]) -> None:
    model, x = flipped
    _, ax = plot.new_figure()
    display = plot.RefinementDisplay.from_estimator(model, ax=ax)
    assert display.ax_ is ax and display.counts_ax_ is None and display.bars_ is None
    (dots,) = display.removed_
    np.testing.assert_allclose(np.sort(dots.get_offsets()[:, 1]), np.sort(np.abs(model.removed_residuals_)))
    again = display.plot([plot.new_figure()[1], ax])
    assert again.counts_ax_ is ax
    # Without refinements there is a threshold, and nothing else.
    plain = AdaptiveHuberRegressor(max_refinements=0, threshold=0.3).fit(x, x[:, 0])
    none = plot.RefinementDisplay.from_estimator(plain)
    assert none.thresholds.tolist() == [0.3] and len(none.refinement) == 0 and none.n_labels == 60


def test_refinements_of_one_class_of_several(rng: np.random.Generator) -> None:
    y = np.repeat(["a", "b", "c"], 20)
    X = rng.normal(size=(60, 2)) + 3.0 * np.repeat(np.eye(3)[:, :2], 20, axis=0)
    model = AdaptiveHuberClassifier(delta=0.3, max_refinements=2).fit(X, y)
    display = plot.RefinementDisplay.from_estimator(model, target="b")
    np.testing.assert_array_equal(display.removed, model.removed_[1])
    np.testing.assert_array_equal(display.thresholds, model.thresholds_[1])


def catalogue(n: int = 160, gaps: bool = False) -> pl.DataFrame:
    rng = np.random.default_rng(1)
    k = np.arange(n) % 2
    truth = rng.normal(size=(n, 3)) + k[:, None] * [2.0, 1.0, 0.0]
    std = np.exp(0.4 * rng.normal(size=(n, 3)) - 1.0)
    read = truth + std * rng.normal(size=(n, 3))
    if gaps:
        read[::7, 1] = np.nan
    columns = {name: read[:, j] for j, name in enumerate(("flux", "color", "size"))}
    columns |= {f"{name}_err": std[:, j] for j, name in enumerate(("flux", "color", "size"))}
    kind = np.where(k, "quasar", "star").tolist()
    return pl.DataFrame(columns | {"kind": kind}, nan_to_null=True)


def test_a_model_and_its_table(tmp_path: Path) -> None:
    table = catalogue()
    path = tmp_path / "table.parquet"
    table.write_parquet(path)
    model = uncertain.fit(table, target="kind", meaning="spread", method="gsu")
    rows = model.gaussians(table)
    display = plot.GaussianDisplay.from_estimator(model, path, features=("size", "flux"))
    assert display.ax_.get_xlabel() == "size" and display.ax_.get_ylabel() == "flux"
    np.testing.assert_array_equal(display.data.means, rows.means[:, [2, 0]])
    assert legend(display) == ["quasar", "star"]
    unlabelled = plot.GaussianDisplay.from_estimator(model, table.drop("kind"))
    assert not unlabelled.labelled and unlabelled.ax_.get_ylabel() == "color"

    boundary = plot.DecisionBoundaryDisplay.from_estimator(
        model, table, features=("flux", "color"), cov=0.1, resolution=41
    )
    assert boundary.boundary_ is not None and boundary.band_ is not None
    assert boundary.ax_.get_xlabel() == "flux"
    # A point of the picture is a row of the table, whose third feature is at its mean.
    middle = float(table["size"].mean())  # type: ignore[arg-type]
    one = {"flux": [boundary.xx0[7, 9]], "color": [boundary.xx1[7, 9]], "size": [middle]}
    bars = {"flux_err": [0.1**0.5], "color_err": [0.1**0.5], "size_err": [0.0]}
    row = model.gaussians(pl.DataFrame(one | bars))
    steps = model.pipeline_[1:]
    mean, std = steps[-1].decision_distribution(steps[:-1].transform(row))
    assert boundary.score[7, 9] == pytest.approx(mean[0]) and boundary.score_std[7, 9] == pytest.approx(
        std[0]
    )

    reliable = plot.ReliabilityDisplay.from_estimator(model, path, n_bins=5)
    prob = model.predict_proba(table)["star"].to_numpy()
    truth = (table["kind"] == "star").to_numpy()
    assert reliable.brier == pytest.approx(brier_score_loss(truth, prob))
    assert reliable.ax_.get_xlabel() == "predicted probability of star"
    other = plot.ReliabilityDisplay.from_estimator(model, table, target="quasar", n_bins=5)
    assert other.ax_.get_ylabel() == "observed frequency of quasar"
    assert other.brier == pytest.approx(reliable.brier)


def test_a_model_whose_table_has_gaps() -> None:
    table = catalogue(gaps=True)
    model = uncertain.fit(table, target="kind", on_missing="impute", method="gsu")
    display = plot.GaussianDisplay.from_estimator(model, table, features=("flux", "color"))
    assert np.isfinite(display.data.means).all()

    # A method that takes gaps as they are has no distribution to fill them from, and needs none for this.
    model = uncertain.fit(table, target="kind", method="remeasured", n_trees=5)
    reliable = plot.ReliabilityDisplay.from_estimator(model, table, n_bins=5)
    prob = model.predict_proba(table)["star"].to_numpy()
    assert reliable.brier == pytest.approx(brier_score_loss((table["kind"] == "star").to_numpy(), prob))
    with pytest.raises(UncertainError, match="row 0, color is missing, and this model cannot fill it"):
        plot.GaussianDisplay.from_estimator(model, table, features=("flux", "color"))


def test_profile_of_a_line_is_its_parabola_and_that_of_a_curve_ends_where_its_interval_does(
    rng: np.random.Generator,
) -> None:
    x = rng.uniform(0, 1, size=(15, 1))
    y = 2 * np.exp(x[:, 0]) + 0.5 * rng.normal(size=15)
    line = CurveRegressor(lambda x, p: p[0] + p[1] * x[:, 0], {"a": 0.0, "b": 1.0}, truth="functional").fit(
        x, y, 0.5
    )
    drawn = plot.ProfileDisplay.from_estimator(line, "b", n_points=5)
    np.testing.assert_allclose(drawn.deviance, drawn.parabola, atol=1e-6)
    assert drawn.ax_.get_xlabel() == "b"
    curve = CurveRegressor(
        lambda x, p: p[0] * np.exp(p[1] * x[:, 0]), {"a": 2.0, "b": 1.0}, truth="functional"
    ).fit(x, y, 0.5)
    drawn = plot.ProfileDisplay.from_estimator(curve, 1, n_points=41)
    low, high = curve.conf_int(method="profile")[1]
    at_ends = np.interp([low, high], drawn.values, drawn.deviance)
    np.testing.assert_allclose(at_ends, 1.959964**2, rtol=0.01)
    assert np.abs(drawn.deviance - drawn.parabola).max() > 0.1


def test_law_with_its_readings(rng: np.random.Generator) -> None:
    z = rng.normal(size=(80, 2))
    s, t = rng.uniform(0.1, 0.4, size=(80, 2)), rng.uniform(0.1, 0.3, size=80)
    X = GaussianArray(z + s * rng.normal(size=z.shape), std=s)
    y = 1 + z @ [2.0, -1.0] + 0.2 * rng.normal(size=80) + t * rng.normal(size=80)
    y[:5] += 12.0
    law = LinearLaw(outliers="mixture").fit(X, y, y_std=t)
    display = plot.LawDisplay.from_estimator(law, X, y, t, feature=1, names=("age", "mass"))
    b = law.coef_
    left = y - law.intercept_ - X.means @ b
    size = np.sqrt(law.scatter_**2 + t**2 + s**2 @ b**2)
    np.testing.assert_allclose(display.residuals * size, left, rtol=1e-6)
    assert np.all(display.outlying[:5]) and display.outlying.sum() < 10
    # The other feature at its mean.
    level = law.intercept_ + b[0] * X.means[:, 0].mean()
    np.testing.assert_allclose(display.law, level + b[1] * display.grid)
    np.testing.assert_allclose(display.y - left, level + b[1] * X.means[:, 1], rtol=1e-9)
    at = np.column_stack([np.ones(200), np.full(200, X.means[:, 0].mean()), display.grid])
    np.testing.assert_allclose(display.law_std**2, np.einsum("ni,ij,nj->n", at, law.covariance_, at))
    assert (display.ax_.get_ylabel(), display.residual_ax_.get_xlabel()) == ("mass", "age")
    assert legend(display) == ["scatter", "standard error", "law", "readings", "outliers"]
    curve = CurveRegressor(lambda x, p: p[0] + x @ p[1:], [0.0, 1.0, 1.0], scatter=True).fit(X, y, y_std=t)
    drawn = plot.LawDisplay.from_estimator(curve, X, y, t)
    assert not drawn.outlying.any() and np.all(drawn.law_std > 0)
    plain = plot.LawDisplay.from_estimator(LinearLaw().fit(X, y, y_std=t), X, y, t)
    # Most exact near the mean of the readings.
    assert abs(plain.grid[np.argmin(plain.law_std)] - X.means[:, 0].mean()) < 0.3


@pytest.mark.filterwarnings("ignore:.*no plane is better")  # labels are noise
def test_wrong_calls() -> None:
    table = catalogue(60)
    model = uncertain.fit(table, target="kind", method="gsu")
    bare = uncertain.fit(table, target="kind", probability=False, method="gsu")
    numbers = uncertain.fit(table.drop("kind"), target="size", features=["flux", "color"], method="gsu")
    X, three = model.gaussians(table), np.arange(60) % 3
    y, x = X.means[:, 0], X.means[:, :1]
    classes = GSUClassifier(probability=True).fit(X, three)
    two = GSUClassifier().fit(X[:, :2], three > 0)
    law = LinearLaw().fit(X, y)
    curve = CurveRegressor(lambda x, p: p[0] + p[1] * x[:, 0], {"a": 0.0, "b": 1.0}).fit(x, x[:, 0], 0.5)
    huber = AdaptiveHuberRegressor(delta=1.0, max_refinements=1).fit(x, y)
    hubers = AdaptiveHuberClassifier(delta=0.3, max_refinements=1).fit(X.means, three)
    axes = [plot.new_figure()[1]] * 3
    gaussians, boundary = plot.GaussianDisplay, plot.DecisionBoundaryDisplay
    reliable, refined, laws = plot.ReliabilityDisplay, plot.RefinementDisplay, plot.LawDisplay
    cases: list[tuple[Any, str]] = [
        (lambda: gaussians(X), "needs 2 features, got 3"),
        (lambda: gaussians.from_data(X, features=(0, 7)), "two different ones of flux"),
        (
            lambda: gaussians.from_estimator(model, table, features=("w", "flux")),
            "two different ones of flux, col",
        ),
        (lambda: boundary.from_estimator(model, table), r"needs 2 features, got 3; .* such as flux, color"),
        (lambda: boundary.from_estimator(two, X[:, :2], cov=[1.0, 2.0]), "matrix of shape"),
        (lambda: boundary.from_estimator(numbers, table), "GSURegressor has no decision_function"),
        (lambda: reliable.from_estimator(classes, X, three), "two classes, got 3"),
        (lambda: reliable.from_predictions([0, 1], [0.5, 1.5]), r"row 1 is 1\.5; not a probability"),
        (lambda: reliable.from_predictions([0, 1], [0.5]), "same shape"),
        (lambda: reliable.from_estimator(bare, table), "GSUClassifier gives no probabilities here"),
        (lambda: reliable.from_estimator(model, table.drop("kind")), "needs the labels"),
        (lambda: reliable.from_estimator(model, table, target="galaxy"), "must be one of the classes"),
        (lambda: refined.from_estimator(huber, ax=axes), "expected one Axes or two, got 3"),
        (lambda: refined.from_estimator(huber, target=1), "leave it out"),
        (lambda: refined.from_estimator(hubers), "must be one of the classes"),
        (lambda: refined.from_estimator(numbers), "GSURegressor has no refinements"),
        (lambda: plot.ProfileDisplay.from_estimator(curve, "c"), "there are a, b"),
        (lambda: plot.ProfileDisplay.from_estimator(law), "CurveRegressor"),
        (lambda: laws.from_estimator(GeneralizedLinearLaw().fit(X, three > 0), X, y), "GeneralizedLinearLaw"),
        (lambda: laws.from_estimator(law, X, y[:5]), "one number per row"),
        (lambda: laws.from_estimator(law, X, y, feature=3), "feature = 3"),
    ]
    for call, message in cases:
        with pytest.raises(UncertainError, match=message):
            call()


def test_the_table_holds_the_published_numbers() -> None:
    frame = wdbc()
    assert frame.shape == (569, 21)
    assert frame.filter(diagnosis="malignant").height == 212
    assert frame.row(0, named=True)["radius_se"] == 1.095


def test_the_slice_of_a_catalogue_is_as_it_was_published() -> None:
    frame = kepler()
    assert frame.shape == (809, 27) and frame["kepid"].n_unique() == 700
    assert dict(frame["koi_disposition"].value_counts().iter_rows()) == {
        "CONFIRMED": 286,
        "FALSE POSITIVE": 523,
    }
    row = frame.row(by_predicate=pl.col("kepoi_name") == "K00114.01", named=True)
    assert (row["koi_srad"], row["koi_srad_err1"], row["koi_srad_err2"]) == (1.958, 0.322, -0.483)
    assert frame.null_count().sum_horizontal().item() == 748
    assert not any((frame[name] > 0.0).any() for name in frame.columns if name.endswith("_err2"))


@pytest.mark.usefixtures("few_trees")
def test_demo_prints_tables_and_writes_the_picture(tmp_path: Path) -> None:
    lines: list[str] = []
    _run.run(tmp_path / "demo.png", lines.append, splits=1)
    text = "\n".join(lines)
    assert all(text.count(name) == 1 for name in _run.NAMES)
    assert "radius (radius_se), texture (texture_se)" in text and "Held-out scores, 5 folds" in text
    assert (tmp_path / "demo.png").read_bytes().startswith(b"\x89PNG")


def test_models_that_know_the_errors_hold_where_they_grow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("uncertain._trees.number_of_trees.MOST", 40)
    correct = _run.grow(1, (1, 16))
    accuracy = {name: np.nanmean(right, axis=(1, 2)) for name, right in correct.items()}
    assert all(at_first > 0.9 for at_first, _ in accuracy.values())
    linear, trees, columns, remeasured, gsu = (
        before - after for before, after in (accuracy[name] for name in _run.NAMES)
    )
    assert linear > 0.15 and gsu < 0.06
    assert remeasured < min(trees, columns)


def test_a_leaderboard_is_drawn_in_the_order_of_its_losses() -> None:
    pyplot = pytest.importorskip("matplotlib.pyplot")
    model = uncertain.fit(wdbc()[:120], target="diagnosis", effort="fast")
    board = pl.DataFrame({"model": ["a", "b", "stack"], "loss": [0.1, 0.3, 0.2], "loss_x4": [0.2, 0.4, 0.3],
                          "weight": [0.75, 0.0, None]})  # fmt: skip
    display = plot.LeaderboardDisplay(board).plot()
    assert pyplot.get_fignums() == [display.figure_.number]  # plt.show() would show it
    assert [text.get_text() for text in display.ax_.get_yticklabels()] == ["a, weight 0.75", "b", "stack"]
    assert display.ax_.lines[1].get_xdata().tolist() == [0.2, 0.4, 0.3]
    assert plot.LeaderboardDisplay.from_estimator(model).board.equals(model.leaderboard_)
    with pytest.raises(UncertainError, match="without method="):
        plot.LeaderboardDisplay.from_estimator(uncertain.fit(wdbc(), "diagnosis", method="gsu"))


def test_without_matplotlib_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ModuleNotFoundError, match="pip install matplotlib"):
        plot.new_figure()
