"""Mixtures from draws, quantiles, densities and arms: against EM of scikit-learn and the distributions."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import norm
from sklearn.mixture import GaussianMixture

import uncertain
from uncertain import AsGaussians, GaussianArray, MixtureArray
from uncertain.exceptions import ParameterError, UncertainError, UncertainWarning
from uncertain.laws import GeneralizedLinearLaw
from uncertain.uncertainty import from_bounds, from_draws, from_pdf, from_quantiles


def two_peaks(random: np.random.Generator, n: int) -> np.ndarray:
    return np.where(random.random(n) < 0.3, random.normal(2.1, 0.2, n), random.normal(0.4, 0.05, n))


def log_density(row: MixtureArray, x: np.ndarray) -> np.ndarray:
    """Of one row of a mixture, in any dimension."""
    parts = []
    for weight, mean, cov in zip(
        row.weights, row.components.means, row.components.covariances(), strict=True
    ):
        off = x - mean
        square = np.einsum("ni,ij,nj->n", off, np.linalg.inv(cov), off)
        parts.append(np.log(weight) - 0.5 * (square + np.linalg.slogdet(2 * np.pi * cov)[1]))
    return np.logaddexp.reduce(parts, axis=0)


def test_held_out_draws_are_as_likely_as_under_the_best_number_of_components() -> None:
    random = np.random.default_rng(0)
    shapes = {
        "one": lambda n: random.normal(size=(n, 2)) @ [[1.0, 0.8], [0.0, 0.3]],
        "two": lambda n: np.where(
            random.random((n, 1)) < 0.3, random.normal(4, 1, (n, 2)), random.normal(size=(n, 2))
        ),
        "skewed": lambda n: np.column_stack([random.gamma(2.0, size=n), random.normal(size=n)]),
        "banana": lambda n: (lambda a: np.column_stack([a, a**2 + 0.3 * random.normal(size=n)]))(
            random.normal(size=n)
        ),
    }
    for name, shape in shapes.items():
        draws, test = shape(4000), shape(20_000)
        row = from_draws(draws[None])
        best = max(GaussianMixture(k, n_init=3, random_state=0).fit(draws).score(test) for k in range(1, 5))
        assert log_density(row, test).mean() > best - (0.002 if name in ("one", "two") else 0.02), name


def test_forms_of_draws_are_the_same_rows() -> None:
    random = np.random.default_rng(1)
    draws = np.stack([two_peaks(random, 400), random.normal(size=400)])
    array = from_draws(draws)
    assert np.diff(array.offsets).tolist() == [2, 1] and array.components.kind == "diagonal"
    assert from_draws(list(draws)) == array and from_draws(draws.tolist()) == array
    by = np.repeat(["a", "b"], 400)
    order = random.permutation(800)
    order = order[np.argsort(by[order] != by[order[0]], kind="stable")]
    assert from_draws(draws.ravel(), by=by) == array
    pl = pytest.importorskip("polars")
    assert from_draws(pl.Series("z", draws.tolist())) == array
    pa = pytest.importorskip("pyarrow")
    assert from_draws(pa.chunked_array([pa.array(draws.tolist())])) == array
    assert from_draws(draws, feature_names=["z"])[:, "z"].feature_names == ("z",)
    assert from_draws(draws, n_jobs=1) == from_draws(draws, n_jobs=2)


def test_correlated_draws_keep_their_correlation() -> None:
    random = np.random.default_rng(2)
    draws = random.multivariate_normal([1, 2], [[1, 0.9], [0.9, 2]], size=3000)
    row = from_draws(draws[None], 1)
    np.testing.assert_allclose(row.covariances()[0], np.cov(draws.T, bias=True), rtol=1e-3)
    np.testing.assert_allclose(row.means[0], draws.mean(axis=0), rtol=1e-12)


def test_a_prior_is_divided_out() -> None:
    random = np.random.default_rng(3)
    # Likelihood N(2, 1) under a prior N(0, 2^2): posterior N(1.6, 0.8).
    draws = random.normal(1.6, np.sqrt(0.8), (1, 40_000))
    plain, clean = from_draws(draws, 1), from_draws(draws, 1, prior=lambda z: norm.pdf(z[:, 0], 0, 2))
    assert abs(plain.means[0, 0] - 1.6) < 0.02 and abs(clean.means[0, 0] - 2.0) < 0.03
    np.testing.assert_allclose(clean.covariances()[0, 0, 0], 1.0, atol=0.05)
    assert from_draws(draws, 1, prior=norm.pdf(draws, 0, 2)) == clean
    with pytest.raises(UncertainError, match="row 0, draw 3 has the density 0"):
        from_draws(draws, 1, prior=np.where(np.arange(40_000) == 3, 0.0, 1.0)[None])


def test_a_prior_of_draws_in_long_format_that_were_drawn_together() -> None:
    random = np.random.default_rng(5)
    draws = random.multivariate_normal([1, 2], [[1, 0.6], [0.6, 1]], size=(3, 2000))
    by = np.repeat([7, 2, 5], 2000)
    order = np.argsort(random.random(6000))

    def prior(z: np.ndarray) -> np.ndarray:
        return norm.pdf(z[:, 0], 0, 3) * norm.pdf(z[:, 1], 0, 3)

    first = np.argsort([np.flatnonzero(by[order] == key)[0] for key in (7, 2, 5)])
    expected = from_draws(draws, 1, prior=prior)[first]
    flat = draws.reshape(-1, 2)
    for known in (prior, prior(flat)[order]):
        found = from_draws(flat[order], 1, prior=known, by=by[order])
        np.testing.assert_allclose(found.means, expected.means, rtol=1e-9)
        np.testing.assert_allclose(found.covariances(), expected.covariances(), rtol=1e-8)


@pytest.mark.parametrize(
    ("draws", "message"),
    [
        ([[1.0, 2.0], [3.0]], "row 1 has 1 draws"),
        ([[1.0, 2.0], []], "row 1 has no draws"),
        ([[1.0, 2.0], [3.0, np.nan]], "row 1, draw 1, feature 0 is NaN"),
        ([[1.0, 2.0], [3.0, np.inf]], "row 1, draw 1, feature 0 is inf"),
        ([[1.0, 2.0], None], "row 1 is null, without draws"),
        ([[1.0, 2.0], ["a", "b"]], "row 1"),
        ([[[1.0, 2.0], [1.0, 2.0]], [3.0, 4.0]], "row 1 has draws of 1 features"),
        (np.zeros(5), "shape"),
        ([], "no rows"),
    ],
)
def test_bad_draws_are_refused(draws: object, message: str) -> None:
    with pytest.raises(UncertainError, match=message):
        from_draws(draws)


def test_few_draws_have_few_components_which_is_said_once() -> None:
    with pytest.warns(UncertainWarning, match="2 of 2 rows have too few draws for 3 components") as told:
        rows = from_draws(np.random.default_rng(0).normal(size=(2, 10)), 3)
    assert len(told) == 1 and len(rows.components) == 2
    assert from_draws(np.ones((1, 50))).covariances().item() == 0.0
    with pytest.raises(UncertainError, match="n_components"):
        from_draws(np.ones((1, 50)), 0)


def test_quantiles_and_densities_are_kept() -> None:
    q = [0.16, 0.5, 0.84]
    row = from_quantiles(q, [[0.9, 1.0, 1.3], [-1.0, 0.0, 1.0]])
    for i, expected in enumerate([[0.9, 1.0, 1.3], [-1.0, 0.0, 1.0]]):
        draws = row[i].sample(200_000, random_state=0).means.ravel()
        np.testing.assert_allclose(np.quantile(draws, q), expected, atol=0.025)
    with pytest.raises(UncertainError, match="row 0"):
        from_quantiles(q, [[1.0, 0.9, 1.3]])
    with pytest.raises(UncertainError, match="ascending"):
        from_quantiles([0.5, 0.16], [[1.0, 1.3]])
    z = np.linspace(0, 4, 401)
    density = 0.7 * norm.pdf(z, 0.4, 0.1) + 0.3 * norm.pdf(z, 2.1, 0.2)
    peaks = from_pdf(z, [density, norm.pdf(z, 1, 0.1)])
    assert np.diff(peaks.offsets).tolist() == [2, 1]
    made = np.exp(log_density(peaks[0], z[:, None]))
    assert np.abs(made - density).sum() * 0.01 / 2 < 0.01
    with pytest.raises(UncertainError, match="row 1 is zero everywhere"):
        from_pdf(z, [density, 0 * z])
    with pytest.raises(UncertainError, match="row 0, value 2"):
        from_pdf(z, [np.where(np.arange(401) == 2, -1.0, density)])


def test_arms_keep_their_shape() -> None:
    x = np.linspace(-4, 10, 20_001)
    for a, b, most in [(1.0, 1.0, 1e-12), (1.0, 1.5, 0.005), (1.0, 3.0, 0.011), (0.0, 2.0, 0.085)]:
        row = from_bounds([[-a]], [[b]], value=[[0.0]], rule="shape")
        arm = np.where(x < 0, max(a, 1e-12), b)
        density = np.exp(-((x / arm) ** 2) / 2) * np.sqrt(2 / np.pi) / (a + b)
        made = np.exp(log_density(row, x[:, None]))
        assert np.abs(made - density).sum() * (x[1] - x[0]) / 2 <= most, (a, b)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UncertainWarning)
            moments = from_bounds([[-a]], [[b]], value=[[0.0]])
        np.testing.assert_allclose(row.means, moments.means, atol=0.02 * (a + b))
        np.testing.assert_allclose(row.trace(), moments.trace(), rtol=0.05)
    many = from_bounds(
        -np.ones((2, 9)), np.arange(1, 10) * np.ones((2, 1)), value=np.zeros((2, 9)), rule="shape"
    )
    assert np.diff(many.offsets).tolist() == [64, 64]
    assert isinstance(many, MixtureArray) and isinstance(many.collapse("gaussian"), GaussianArray)


def test_a_limit_with_a_stated_width_is_one_sided() -> None:
    """For methods that have no limits of their own: all but 2 % lies below."""
    row = from_bounds([[1.2]], [[3.2]], value=[[3.2]], rule="shape")
    parts = row.components
    stds = np.sqrt(parts.covariances().ravel())
    above = row.weights @ norm.sf(3.2, parts.means.ravel(), stds)
    assert above < 0.03 and len(parts) == 3
    np.testing.assert_allclose(row.means[0, 0], 3.2 - 2.0 * np.sqrt(2 / np.pi), rtol=0.03)


# -- tables


def drawn_table(n: int = 120, m: int = 60) -> dict[str, list]:
    random = np.random.default_rng(4)
    label = random.integers(0, 2, n)
    z = random.normal(2.0 * label, 0.7)
    chains = z[:, None] + random.normal(0, 0.3, (n, m))
    chains[::4, : m // 3] += 4.0
    other = random.normal(0, 2, (n, 1)) + random.normal(0, 0.5, (n, m))
    return {"z": chains.tolist(), "w": other.tolist(), "label": label.tolist(), "id": list(range(n))}


@pytest.mark.parametrize(
    "given", [{}, {"draws": ["z", "w"]}, {"columns": uncertain.Columns(draws=["z", "w"])}]
)
def test_fit_takes_columns_of_draws(given: dict, tmp_path: Path) -> None:
    pl = pytest.importorskip("polars")
    testing = pytest.importorskip("polars.testing")
    table = pl.DataFrame(drawn_table())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UncertainWarning)
        model = uncertain.fit(table, method="discriminant", **given)
    assert model.columns_.draws == ("z", "w") and "draws         z, w" in str(model.columns_)
    X = from_draws(np.stack([np.stack(table["z"].to_list()), np.stack(table["w"].to_list())], axis=2))
    rows = model.pipeline_[0].transform(table)
    assert isinstance(rows, MixtureArray) and rows.feature_names == ("z", "w")
    np.testing.assert_array_equal(rows.components.means, X.components.means)
    assert model.score(table) > 0.8
    model.save(tmp_path / "model.uncertain")
    again = uncertain.load(tmp_path / "model.uncertain")
    assert again.columns_.draws == ("z", "w")
    testing.assert_frame_equal(again.predict_proba(table), model.predict_proba(table))


def test_lists_of_other_lengths_are_features_of_their_own() -> None:
    table = drawn_table(40)
    table["w"] = [draws[: 20 + k % 3] for k, draws in enumerate(table["w"])]
    rows = uncertain.AsGaussians(draws=["z", "w"]).fit_transform(table)
    alone = [from_draws(table[name]) for name in ("z", "w")]
    np.testing.assert_allclose(rows.means, GaussianArray.hstack(alone).means)
    table["x"], table["x_err"] = [1.0] * 40, [0.5] * 40
    both = uncertain.AsGaussians(draws=["z"], features=["x"], std="{}_err").fit_transform(table)
    assert both.feature_names == ("z", "x") and both.shape == (40, 2)
    np.testing.assert_allclose(both.covariances()[:, 1, 1], 0.25)
    with pytest.raises(UncertainError, match="w: row 3"):
        uncertain.AsGaussians(draws="w").fit(table | {"w": [*table["w"][:3], [np.nan, 1.0], *table["w"][4:]]})


@pytest.mark.parametrize("method", ["gsu", "kernel", "usvc", "minimax", "discriminant", "remeasured"])
@pytest.mark.parametrize("meaning", ["spread", "measurement"])
def test_models_of_mixtures(method: str, meaning: str) -> None:
    table = drawn_table(80, 40)
    X = GaussianArray.hstack([from_draws(table["z"]), from_draws(table["w"])])
    y = np.asarray(table["label"])
    model = uncertain.fit(X, y, method=method, meaning=meaning)
    p = model.predict_proba(X)
    assert p.shape == (80, 2) and np.isfinite(np.asarray(p)).all()
    assert (model.predict(X) == y).mean() > 0.75


def test_rows_of_several_gaussians_are_not_put_into_files(tmp_path: Path) -> None:
    pl = pytest.importorskip("polars")
    random = np.random.default_rng(0)
    table = pl.DataFrame({"x": random.normal(size=(60, 30)).tolist(), "kind": np.arange(60) % 2})
    table.write_parquet(tmp_path / "draws.parquet")
    for rows in (table, tmp_path / "draws.parquet"):
        with pytest.raises(
            ParameterError, match=r"memory=: x: draws are for rows in memory: leave memory= out"
        ):
            uncertain.fit(rows, target="kind", draws="x", method="gsu", memory="1GB")
    columns = {"x": from_draws(random.normal(size=(60, 30)), 2), "kind": np.arange(60) % 2}
    with pytest.raises(ParameterError, match=r"memory=: rows that are mixtures .*collapse\(.gaussian.\)"):
        uncertain.fit(columns, target="kind", method="gsu", memory="1GB")


N = 400
RANDOM = np.random.default_rng(3)
TRUE = RANDOM.normal(size=N)
UP = RANDOM.uniform(0.4, 1.2, N)
DOWN = UP / 3
IS_LOW = RANDOM.uniform(size=N) < DOWN / (UP + DOWN)
READ = TRUE - np.where(IS_LOW, -DOWN, UP) * np.abs(RANDOM.normal(size=N))
TABLE = pl.DataFrame({
    "x": READ, "x_err1": UP, "x_err2": -DOWN, "z": RANDOM.normal(size=N), "z_err": 0.3,
    "kind": np.where(RANDOM.uniform(size=N) < 1 / (1 + np.exp(-2 * TRUE)), "yes", "no"),
    "y": 1.0 + 2.0 * TRUE + 0.3 * RANDOM.normal(size=N),
})  # fmt: skip
ONE = TABLE[["x", "x_err1", "x_err2", "kind"]]
LOST = 'asymmetric by more than 10 %.* keep the skewness by arms="shape"'


def shaped() -> Any:
    return from_bounds((READ - DOWN)[:, None], (READ + UP)[:, None], value=READ[:, None], rule="shape")


def test_the_columns_give_the_mixtures_of_from_bounds() -> None:
    rows = AsGaussians(features=["x"], std={"x": ("x_err1", "x_err2")}, arms="shape").fit_transform(TABLE)
    assert isinstance(rows, MixtureArray)
    expected = shaped()
    assert_allclose(rows.components.means, expected.components.means, rtol=1e-12, atol=1e-15)
    assert_allclose(rows.components.covariances(), expected.components.covariances(), rtol=1e-12)
    assert_array_equal(rows.weights, expected.weights)


def test_mirrored_arms_are_mirrored_mixtures() -> None:
    value = np.zeros((3, 1))
    below, above = np.array([[0.1], [0.2], [0.37]]), np.array([[0.9], [0.5], [0.11]])
    one = from_bounds(value - below, value + above, value=value, rule="shape")
    other = from_bounds(value - above, value + below, value=value, rule="shape")
    assert_array_equal(one.weights, other.weights)
    assert_allclose(one.components.means, -other.components.means)
    assert_allclose(one.components.covariances(), other.components.covariances())


def test_other_columns_beside_them_are_gaussian() -> None:
    columns = {"features": ["z", "x"], "std": {"z": "z_err", "x": ("x_err1", "x_err2")}, "exact": ["y"]}
    rows = AsGaussians(**columns, arms="shape").fit_transform(TABLE)
    moments = AsGaussians(features=["z"], std="{}_err", exact=["y"]).fit_transform(TABLE)
    assert isinstance(rows, MixtureArray) and rows.shape == (N, 3)
    both = rows.collapse("gaussian")[:, [0, 2]]
    assert_allclose(both.means, moments.means, rtol=1e-12, atol=1e-12)
    assert_allclose(both.covariances(), moments.covariances(), atol=1e-12)


def test_correlated_arms_keep_their_moments() -> None:
    table = TABLE.with_columns(z_err1=pl.lit(0.6), z_err2=pl.lit(-0.2), rho=pl.lit(0.5)).drop("z_err")
    columns = {"features": ["x", "z"], "std": {n: (f"{n}_err1", f"{n}_err2") for n in "xz"}}
    columns["corr"] = {("x", "z"): "rho"}
    with pytest.raises(ParameterError, match=r'independent errors, but x, z .* Use arms="moments"'):
        AsGaussians(**columns, arms="shape").fit(table)
    with pytest.warns(UncertainWarning, match="asymmetric by more than 10 %"):
        rows = AsGaussians(**columns).fit_transform(table)
        model = uncertain.fit(table, target="kind", method="law", **columns)
    std = np.sqrt(np.diagonal(rows.covariances(), axis1=1, axis2=2))
    assert_allclose(rows.covariances()[:, 0, 1], 0.5 * std.prod(axis=1))
    assert model.pipeline_[0].arms == "moments"


def test_a_law_keeps_the_shape_and_warns_of_nothing() -> None:
    model = uncertain.fit(ONE, target="kind", method="law")
    own = GeneralizedLinearLaw().fit(shaped(), TABLE["kind"].to_numpy())
    assert model.pipeline_[0].arms == "shape"
    assert_allclose(model.coef_[0], own.coef_, rtol=1e-9)
    with pytest.warns(UncertainWarning, match=LOST):
        moments = uncertain.fit(ONE, target="kind", method="law", arms="moments")
    assert abs(moments.coef_[0, 0] - model.coef_[0, 0]) > 1e-4


@pytest.mark.parametrize(
    "options",
    [
        {"method": "gsu"},
        {"method": "law", "target": "y", "outliers": "student"},
        {"method": "law", "target": "y", "curve": lambda x, p: p[0] + p[1] * x[:, 0], "p0": [1.0, 2.0],
         "truth": "functional", "target_std": np.full(N, 0.3)},
        {"method": "law", "target": "y", "modes": np.ones((N, 1))},
    ],
)  # fmt: skip
def test_where_mixtures_are_not_taken_or_not_by_default_there_are_moments(options: dict[str, Any]) -> None:
    with pytest.warns(UncertainWarning, match=LOST):
        model = uncertain.fit(TABLE, **{"target": "kind", "features": ["x"], **options})
    assert model.pipeline_[0].arms == "moments"


def test_a_law_of_many_asymmetric_features_takes_moments() -> None:
    many = {f"x{j}": READ + j for j in range(4)}
    arms = {f"x{j}_err{k + 1}": (UP, DOWN)[k] for j in range(4) for k in range(2)}
    table = pl.DataFrame(many | arms | {"kind": TABLE["kind"]})
    with pytest.warns(UncertainWarning, match=LOST):
        model = uncertain.fit(table, target="kind", method="law", alpha=0.1)
    assert model.pipeline_[0].arms == "moments"


@pytest.mark.parametrize("method", ["gsu", "discriminant", "remeasured", "auto"])
def test_any_method_takes_the_shape_that_is_asked_for(method: str, tmp_path: Path) -> None:
    model = uncertain.fit(ONE[:150], target="kind", method=method, arms="shape")
    assert isinstance(model.gaussians(ONE[:5]), MixtureArray)
    model.save(tmp_path / "model")
    again = uncertain.load(tmp_path / "model")
    assert again.pipeline_[0].arms == "shape"
    assert again.predict_proba(ONE).equals(model.predict_proba(ONE))


def test_without_asymmetric_columns_there_is_nothing_to_keep() -> None:
    model = uncertain.fit(TABLE[["z", "z_err", "kind"]], target="kind", method="law")
    assert model.pipeline_[0].arms == "moments"
    assert not isinstance(model.gaussians(TABLE), MixtureArray)


def test_a_later_fit_forgets_the_arms() -> None:
    reading = AsGaussians(arms="shape").fit(ONE.drop("kind"))
    for later in (TABLE[["z", "z_err"]], np.zeros((3, 1))):  # a warning would be an error
        assert not isinstance(reading.fit_transform(later), MixtureArray)
        reading.fit(ONE.drop("kind"))


def test_refusals(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="arms='shapes': must be one of"):
        uncertain.fit(ONE, target="kind", arms="shapes")
    with pytest.raises(ParameterError, match='memory=: arms="shape"'):
        uncertain.fit(ONE, target="kind", method="gsu", arms="shape", memory="1GB")
    with pytest.raises(ParameterError, match="arms='auto'"):
        AsGaussians(features=["x"], std={"x": ("x_err1", "x_err2")}, arms="auto").fit(TABLE)
    model = uncertain.fit(ONE, target="kind", method="discriminant", arms="shape")
    with pytest.raises(UncertainError, match='arms="shape" has no translation'):
        model.to_onnx(tmp_path / "model.onnx")
