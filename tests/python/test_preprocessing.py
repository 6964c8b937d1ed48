"""Transformers of Gaussians: scalers, logarithms, projections, and columns that are transformed apart."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from catalogues import KINDS, of_kind
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.integrate import quad
from scipy.stats import norm
from sklearn.base import clone
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

import uncertain
from uncertain import (
    AsGaussians,
    GaussianArray,
    GaussianColumnTransformer,
    GaussianLogScaler,
    GaussianScaler,
    GSUClassifier,
    Incomplete,
    LinearMap,
)
from uncertain.exceptions import ParameterError, ShapeError
from uncertain.preprocessing import GaussianCollapser, SubspaceProjector

N, D = 40, 4


@pytest.fixture(params=KINDS)
def gaussians(request: pytest.FixtureRequest, rng: np.random.Generator) -> GaussianArray:
    x = rng.normal(size=(N, D)) * [1, 10, 0.1, 3] + [0, 100, 5, -2]
    return of_kind(request.param, x, rng)


def test_scaler_moves_means_and_covariances_together(gaussians: GaussianArray) -> None:
    x, cov = gaussians.means, gaussians.covariances()
    for spread, variance in (
        ("means", x.var(axis=0)),
        ("total", x.var(axis=0) + np.diagonal(cov, axis1=1, axis2=2).mean(axis=0)),
    ):
        scaler = GaussianScaler(spread=spread).fit(gaussians)  # type: ignore[arg-type]
        assert_allclose(scaler.mean_, x.mean(axis=0))
        assert_allclose(scaler.scale_, np.sqrt(variance))
        moved = scaler.transform(gaussians)
        assert_allclose(moved.means, (x - scaler.mean_) / scaler.scale_, atol=1e-12)
        assert_allclose(moved.covariances(), cov / np.outer(scaler.scale_, scaler.scale_), atol=1e-12)
        back = scaler.inverse_transform(moved)
        assert_allclose(back.means, x, rtol=1e-10)
        assert_allclose(back.covariances(), cov, rtol=1e-10, atol=1e-12)


def test_scaler_on_arrays_is_the_standard_scaler(rng: np.random.Generator) -> None:
    x, weights = rng.normal(size=(N, D)) * [1, 10, 0, 3] + 5, rng.uniform(size=N)
    for sample_weight in (None, weights):
        ours = GaussianScaler().fit(x, sample_weight=sample_weight)
        theirs = StandardScaler().fit(x, sample_weight=sample_weight)
        assert_allclose(ours.mean_, theirs.mean_)
        assert_allclose(ours.scale_, theirs.scale_)
        assert_allclose(ours.transform(x), theirs.transform(x), atol=1e-12)
        assert_allclose(ours.inverse_transform(ours.transform(x)), x)
    assert ours.transform(x).flags.writeable


def test_projector_with_everything_kept(gaussians: GaussianArray) -> None:
    for project in ("covariance", "both"):
        kept = SubspaceProjector(1.0, project=project).fit_transform(gaussians)  # type: ignore[arg-type]
        assert_allclose(kept.covariances(), gaussians.covariances(), atol=1e-9)
        if project == "covariance":
            assert_array_equal(kept.means, gaussians.means)


def test_parameters_are_checked_in_fit() -> None:
    x = np.eye(3)
    for wrong in (
        GaussianScaler(spread="all"),  # type: ignore[arg-type]
        SubspaceProjector(0.0),
        SubspaceProjector(1.5),
        SubspaceProjector("much"),  # type: ignore[arg-type]
        SubspaceProjector(project="mean"),  # type: ignore[arg-type]
    ):
        with pytest.raises(ParameterError, match=r"must be"):
            wrong.fit(x)


TRANSFORMERS = [GaussianScaler(), SubspaceProjector(0.9), GaussianCollapser()]


@pytest.mark.parametrize("transformer", TRANSFORMERS, ids=repr)
def test_set_output_concerns_arrays_only(transformer: Any, gaussians: GaussianArray) -> None:
    import pandas as pd
    import polars as pl

    for output, frame in (("pandas", pd.DataFrame), ("polars", pl.DataFrame)):
        t = clone(transformer).set_output(transform=output)
        assert isinstance(t.fit_transform(gaussians.means), frame)
        assert isinstance(t.transform(gaussians.means), frame)
        assert isinstance(t.fit_transform(gaussians), GaussianArray)
        with sklearn.config_context(transform_output=output):
            assert isinstance(clone(transformer).fit(gaussians).transform(gaussians), GaussianArray)


N_BLOCKS = 60


def blocks(library: Any) -> Any:
    rng = np.random.default_rng(0)
    side = np.arange(N_BLOCKS) % 2
    return library(
        {
            "flux": rng.normal(side, 1.0),
            "flux_err": rng.uniform(0.1, 0.5, N_BLOCKS),
            "airmass": rng.uniform(1.0, 2.0, N_BLOCKS),
            "survey": (["SDSS", "2MASS", "WISE"] * N_BLOCKS)[:N_BLOCKS],
        }
    )


def columns() -> GaussianColumnTransformer:
    return GaussianColumnTransformer(
        [
            ("noisy", AsGaussians(), ["flux", "flux_err"]),
            ("exact", StandardScaler(), ["airmass"]),
            ("survey", OneHotEncoder(), ["survey"]),
        ],
        sparse_threshold=0,
    )


@pytest.mark.parametrize("library", [pl.DataFrame, pd.DataFrame])
def test_blocks_stand_beside_each_other(library: Any) -> None:
    table = blocks(library)
    rows = columns().fit(table).transform(table)
    assert isinstance(rows, GaussianArray) and rows.kind == "diagonal" and rows.shape == (N_BLOCKS, 5)
    flux, error, airmass = (np.asarray(table[name]) for name in ("flux", "flux_err", "airmass"))
    np.testing.assert_array_equal(rows.means[:, 0], flux)
    np.testing.assert_allclose(rows.means[:, 1], (airmass - airmass.mean()) / airmass.std())
    np.testing.assert_array_equal(rows.means[:, 2:].sum(axis=1), 1.0)
    covariances = rows.covariances()
    np.testing.assert_allclose(covariances[:, 0, 0], error**2)
    assert not covariances[:, 1:].any()
    assert columns().fit_transform(table) == rows


def test_it_is_a_step_of_scikit_learn() -> None:
    table, y = blocks(pd.DataFrame), np.arange(N_BLOCKS) % 2
    model = make_pipeline(columns(), GaussianScaler(), GSUClassifier())
    assert cross_val_score(model, table, y, cv=3).mean() > 0.5
    search = GridSearchCV(model, {"gsuclassifier__alpha": [1e-3, 1e-1]}, cv=3).fit(table, y)
    fitted = pickle.loads(pickle.dumps(search.best_estimator_))
    np.testing.assert_array_equal(fitted.predict(table), search.predict(table))
    names = columns().fit(table).get_feature_names_out().tolist()
    assert names == [
        "noisy__flux", "exact__airmass", "survey__survey_2MASS", "survey__survey_SDSS", "survey__survey_WISE",
    ]  # fmt: skip
    assert list(columns().fit_transform(table).feature_names or ()) == names
    assert clone(columns()).get_params().keys() == columns().get_params().keys()


def test_parts_of_gaussians_and_arrays() -> None:
    rng = np.random.default_rng(1)
    X = GaussianArray(rng.normal(size=(N_BLOCKS, 3)), cov=np.diag([1.0, 2.0, 3.0]) + 0.5)
    colors = GaussianColumnTransformer(
        [("color", LinearMap([[1.0], [-1.0]]), [0, 1]), ("rest", "passthrough", [2])]
    ).fit_transform(X)
    np.testing.assert_allclose(colors.means, np.column_stack([X.means[:, 0] - X.means[:, 1], X.means[:, 2]]))
    np.testing.assert_allclose(colors.covariances()[0], [[3.0, 0.0], [0.0, 3.5]])
    points = GaussianColumnTransformer([("a", "passthrough", [0])], remainder="drop").fit_transform(X.means)
    assert points.kind == "zero"
    np.testing.assert_array_equal(points.means, X.means[:, :1])
    thin = sparse.csr_array(X.means)
    whole = GaussianColumnTransformer([("a", FunctionTransformer(lambda Z: sparse.csr_array(Z)), [0, 1])])
    np.testing.assert_array_equal(whole.fit_transform(X.means).means, thin.toarray()[:, :2])
    with pytest.raises(ShapeError, match=r"t: expected real numbers, got strings|t: .*objects"):
        GaussianColumnTransformer([("t", "passthrough", ["survey"])]).fit_transform(blocks(pl.DataFrame))


def catalogue(n: int = 400, seed: int = 0) -> pl.DataFrame:
    """Fluxes over four decades with relative errors, magnitudes, and classes that differ in the logarithm."""
    rng = np.random.default_rng(seed)
    kind = np.arange(n) % 2
    log_flux = rng.normal(2.0 + 1.6 * kind, 0.7)
    mag = rng.normal(20.0, 1.0, n)
    flux = 10.0**log_flux
    return pl.DataFrame(
        {
            "flux": flux * (1.0 + 0.1 * rng.normal(size=n)),
            "flux_err": 0.1 * flux,
            "mag": mag,
            "mag_err": np.full(n, 0.1),
            "kind": np.where(kind == 1, "bright", "faint"),
            "distance": log_flux + 0.1 * mag,
        }
    )


def test_far_above_the_softening_it_is_the_logarithm_of_a_reading() -> None:
    """Mean and deviation of ln X by quadrature, for a relative error of 5 %."""
    x, s = 1e4, 500.0
    scaled = GaussianLogScaler(softening=[1.0]).fit_transform(GaussianArray([[x]], std=[[s]]))
    density = norm(x, s).pdf
    ends = (x - 8 * s, x + 8 * s)
    mean = quad(lambda v: np.log(v) * density(v), *ends)[0]
    second = quad(lambda v: np.log(v) ** 2 * density(v), *ends)[0]
    assert_allclose(scaled.means[0, 0], mean, atol=2e-3)
    assert_allclose(np.sqrt(scaled.trace()[0]), np.sqrt(second - mean**2), rtol=5e-3)


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=5), st.floats(1e-3, 1e3), st.floats(0.0, 1e3))
def test_both_ways_meet_and_order_is_kept(values: list[float], softening: float, error: float) -> None:
    rows = GaussianArray(np.array(values)[:, None], std=error)
    scaler = GaussianLogScaler(softening=[softening]).fit(rows)
    scaled = scaler.transform(rows)
    assert np.isfinite(scaled.means).all() and np.isfinite(scaled.trace()).all()
    assert (np.diff(scaled.means[np.argsort(values), 0]) >= 0.0).all()
    back = scaler.inverse_transform(scaled)
    assert_allclose(back.means, rows.means, rtol=1e-9, atol=1e-9)


def test_the_rule_takes_decades_and_leaves_the_rest() -> None:
    table = catalogue()
    rows = uncertain.AsGaussians().fit_transform(table.drop("kind", "distance"))
    softening = GaussianLogScaler().fit(rows).softening_
    assert_allclose(softening[0], np.quantile(table["flux"], 0.01, method="nearest"), rtol=0.3)
    assert softening[1] == 0.0
    few = GaussianLogScaler().fit(rows[:19])
    assert not few.softening_.any()


def test_another_unit_is_another_softening() -> None:
    flux = 10.0 ** np.random.default_rng(2).uniform(0, 3, (60, 1))
    rows, other = GaussianArray(flux, std=0.1 * flux), GaussianArray(1e3 * flux, std=1e2 * flux)
    first, second = GaussianLogScaler().fit(rows), GaussianLogScaler().fit(other)
    assert_allclose(second.softening_, 1e3 * first.softening_, rtol=1e-15)
    assert_allclose(second.transform(other).means, first.transform(rows).means, rtol=1e-12)


def test_gaps_stay_gaps_and_arrays_stay_arrays() -> None:
    rng = np.random.default_rng(1)
    values = 10.0 ** rng.uniform(0, 3, (60, 2))
    values[5, 0] = np.nan
    scaled = GaussianLogScaler().fit_transform(values)
    assert (
        isinstance(scaled, np.ndarray)
        and np.isnan(scaled[5, 0])
        and np.isfinite(np.delete(scaled, 5, 0)).all()
    )
    rows = Incomplete.from_arrays(values, std=0.1)
    moved = GaussianLogScaler().fit_transform(rows)
    assert isinstance(moved, Incomplete) and moved.missing[5, 0] and moved.missing.sum() == 1


@pytest.mark.parametrize("softening", [[-1.0, 0.0], [np.nan, 0.0], [1.0], "log"])
def test_a_softening_that_cannot_be_used_is_refused(softening: Any) -> None:
    with pytest.raises((ParameterError, ValueError), match="softening"):
        GaussianLogScaler(softening=softening).fit(GaussianArray(np.ones((3, 2)), std=0.1))


@pytest.mark.usefixtures("few_trees")
def test_the_choice_takes_fluxes_as_logarithms_and_says_so(tmp_path: Path) -> None:
    table = catalogue(120).drop("distance")
    train, test = table[:80], table[80:]
    model = uncertain.fit(train, target="kind")
    assert "[log: flux]\n" in str(model)
    raw = uncertain.fit(train, target="kind", transform=None)
    assert "[log" not in str(raw)
    losses = [log_loss(test["kind"], one.predict_proba(test), labels=one.classes_) for one in (model, raw)]
    assert losses[0] < 0.9 * losses[1]
    path = tmp_path / "model.safetensors"
    model.save(path)
    loaded = uncertain.load(path)
    assert_array_equal(loaded.predict_proba(test), model.predict_proba(test))
    assert str(loaded).splitlines()[:-1] == str(model).splitlines()[:-1]


def test_methods_with_coefficients_keep_the_units_of_the_table_unless_asked() -> None:
    table = catalogue(150).drop("distance")
    plain = uncertain.fit(table, target="kind", method="gsu")
    assert plain.coef_.shape == (1, 2) and "[log" not in str(plain)
    asked = uncertain.fit(table, target="kind", method="gsu", transform={"flux": "log"})
    assert asked.score(table) > plain.score(table)
    with pytest.raises(AttributeError, match="transform=None"):
        _ = asked.coef_
    given = uncertain.fit(table, target="kind", method="gsu", transform={"flux": 3.0})
    assert given.pipeline_["log"].softening_.tolist() == [3.0, 0.0]


@pytest.mark.usefixtures("few_trees")
def test_re_measured_learners_take_them_too() -> None:
    model = uncertain.fit(catalogue(120).drop("distance"), target="kind", method="remeasured")
    assert "log" in model.pipeline_.named_steps


@pytest.mark.usefixtures("few_trees")
def test_a_regression_on_decades_is_better_by_logarithms() -> None:
    table = catalogue(260).drop("kind")
    train, test = table[:140], table[140:]
    model = uncertain.fit(train, target="distance")
    raw = uncertain.fit(train, target="distance", transform=None)
    assert 1.0 - model.score(test) < 0.6 * (1.0 - raw.score(test))


@pytest.mark.parametrize(
    ("transform", "words"),
    [
        ("log", 'must be "auto", None, or a dictionary'),
        ({"flux": -1.0}, "softening"),
        ({"flux": "sqrt"}, 'must be "log"'),
        ({"fluxx": "log"}, "there is no such feature; they are flux, mag"),
    ],
)
def test_other_transforms_are_refused(transform: Any, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        uncertain.fit(catalogue(40).drop("distance"), target="kind", method="gsu", transform=transform)


@pytest.mark.usefixtures("few_trees")
def test_memory_and_rows_in_memory_choose_the_same_logarithms() -> None:
    table = catalogue(160).drop("distance")
    in_file = uncertain.fit(table, target="kind", memory="200MB")
    in_memory = uncertain.fit(table, target="kind")
    assert ("[log: flux" in str(in_file)) and ("[log: flux" in str(in_memory))
