"""What to measure again: gains against closed forms and against what better readings really bring."""

from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.integrate import quad
from scipy.special import xlogy
from scipy.stats import norm

import uncertain
from uncertain import GaussianArray
from uncertain.exceptions import ParameterError

CORRELATED = np.array([[1.0, 0.6, 0.0], [0.6, 1.0, 0.0], [0.0, 0.0, 1.0]])


def catalogue(n: int, seed: int, *, correlated: bool = False) -> tuple[GaussianArray, Any]:
    """y = 2 a - b of true values that correlate; readings with errors of many sizes."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(n, 3)) @ np.linalg.cholesky(CORRELATED).T
    std = rng.uniform(0.1, 1.5, (n, 3))
    noise = np.array([[1.0, 0.5, 0.2], [0.5, 1.0, 0.1], [0.2, 0.1, 1.0]]) if correlated else np.eye(3)
    x = z + std * (rng.normal(size=(n, 3)) @ np.linalg.cholesky(noise).T)
    y = z @ [2.0, -1.0, 0.0] + 0.3 * rng.normal(size=n)
    names = ["a", "b", "c"]
    if correlated:
        return GaussianArray(x, cov=std[:, :, None] * noise * std[:, None, :], feature_names=names), y
    return GaussianArray(x, std=std, feature_names=names), y


@pytest.mark.parametrize("correlated", [False, True])
@pytest.mark.parametrize("factor", [0.0, 0.5])
def test_the_gain_of_a_linear_gaussian_model_is_the_drop_of_its_variance(
    correlated: bool, factor: float
) -> None:
    X, y = catalogue(800, 0, correlated=correlated)
    model = uncertain.fit(X, y, method="gsu", meaning="measurement", loss="squared")
    denoiser = model.pipeline_["denoise"]
    T, w = denoiser.covariances_[0], model.coef_[0]
    rows = X[:6]
    found = model.value_of_remeasuring(rows, factor=factor, n_draws=20_000)
    S = rows.covariances()
    for row, feature, gain in zip(found["row"], found["feature"], found["gain"], strict=True):
        j = "abc".index(feature)
        s2 = S[row, j, j]
        less = np.linalg.inv(S[row])
        if factor:
            less[j, j] += (1.0 - factor**2) / (factor**2 * s2)  # one more reading
            after = np.linalg.inv(np.linalg.inv(T) + less)
        else:  # the true value is known
            V = T - T @ np.linalg.solve(T + S[row], T)
            after = V - np.outer(V[:, j], V[:, j]) / V[j, j]
        before = T - T @ np.linalg.solve(T + S[row], T)
        want = w @ (before - after) @ w
        assert gain == pytest.approx(want, rel=0.06, abs=2e-5)
    assert np.all(np.diff(found["gain"]) <= 0.0)
    np.testing.assert_allclose(found["new_error"], factor * np.asarray(found["error"]))


def test_the_gain_of_a_classifier_is_the_information_of_the_reading() -> None:
    """One feature, two normal classes of known law: the mutual information by quadrature."""
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 2, 4000)
    std = rng.uniform(0.2, 1.0, (4000, 1))
    X = GaussianArray(
        2.0 * kind[:, None] + rng.normal(size=(4000, 1)) + std * rng.normal(size=(4000, 1)), std=std
    )
    model = uncertain.fit(X, kind, method="discriminant")
    last = model.pipeline_[-1]
    weights, means, T = model.pipeline_[-1]._mixture()
    scaler = model.pipeline_["scale"] if "scale" in model.pipeline_.named_steps else None
    x, s = 0.7, 1.5
    found = model.value_of_remeasuring(GaussianArray([[x]], std=s), factor=0.4, n_draws=40_000)
    scale = 1.0 if scaler is None else float(scaler.scale_[0])
    mean = 0.0 if scaler is None else float(scaler.mean_[0])
    u, e = (x - mean) / scale, s / scale
    mu, t = means[:, 0], T[:, 0, 0]
    now = weights * norm.pdf(u, mu, np.sqrt(t + e**2))
    now /= now.sum()
    assert now[1] == pytest.approx(model.predict_proba(GaussianArray([[x]], std=s))[0, 1], abs=1e-9)
    v = e**2 * 0.4**2 / (1 - 0.4**2)
    after = e**2 * 0.4**2
    m = (mu * e**2 + u * t) / (t + e**2)  # of the true value in each class
    c = t * e**2 / (t + e**2)

    def term(r: float) -> float:
        density = now * norm.pdf(r, m, np.sqrt(c + v))
        combined = u + (r - u) * e**2 / (e**2 + v)
        then = weights * norm.pdf(combined, mu, np.sqrt(t + after))
        then /= then.sum()
        return float(density.sum() * (xlogy(then, then) - xlogy(then, now)).sum())

    want = quad(term, m.min() - 8, m.max() + 8, limit=200)[0]
    # The open true value is taken for normal, with mean and variance of the mixture.
    assert found["gain"][0] == pytest.approx(want, rel=0.15)
    assert last.classes_.tolist() == [0, 1]


def test_measuring_the_best_cells_again_pays() -> None:
    rng = np.random.default_rng(0)
    n = 1500
    kind = rng.integers(0, 2, n)
    z = np.column_stack([2.5 * kind, np.zeros(n)]) + rng.normal(size=(n, 2))
    std = rng.uniform(0.1, 2.5, (n, 2))
    X = GaussianArray(z + std * rng.normal(size=(n, 2)), std=std)
    model = uncertain.fit(X[:1000], kind[:1000], method="discriminant")
    new, truth, at = X[1000:], kind[1000:], np.arange(500)

    def loss(cells: list[tuple[int, int]]) -> float:
        x, s = new.means.copy(), std[1000:].copy()
        for i, j in cells:
            s[i, j] *= 0.2
            x[i, j] = z[1000 + i, j] + s[i, j] * rng.normal()
        p = model.predict_proba(GaussianArray(x, std=s))
        return float(-np.log(p[at, truth]).mean())

    found = model.value_of_remeasuring(new, factor=0.2, top=120)
    best = [(i, int(name[1:])) for i, name in zip(found["row"], found["feature"], strict=True)]
    random = [(int(i), int(rng.integers(2))) for i in rng.permutation(500)[:120]]
    drop = loss([]) - loss(best)
    assert drop > 2.0 * max(loss([]) - loss(random), 0.0)
    assert drop == pytest.approx(sum(found["gain"]) / 500, rel=0.5)  # as was expected
    assert np.mean([j == 0 for _, j in best]) > 0.95


@pytest.mark.parametrize("method", ["kernel", "mixture", "remeasured", "huber"])
def test_every_method_answers(method: Any) -> None:
    X, y = catalogue(300, 1)
    model = uncertain.fit(X, y, method=method, meaning="measurement")
    found = model.value_of_remeasuring(X[:50], n_draws=8)
    assert len(found["gain"]) == 150 and np.isfinite(found["gain"]).all() and min(found["gain"]) >= 0.0
    useless = [g for g, name in zip(found["gain"], found["feature"], strict=True) if name == "c"]
    useful = [g for g, name in zip(found["gain"], found["feature"], strict=True) if name == "a"]
    assert np.mean(useful) > 2 * np.mean(useless)


def test_gaps_exact_values_and_tables() -> None:
    X, y = catalogue(400, 2)
    std = np.sqrt(np.diagonal(X.covariances(), axis1=1, axis2=2))
    table = pl.DataFrame(
        {"a": X.means[:, 0], "a_err": std[:, 0], "b": X.means[:, 1], "b_err": std[:, 1], "y": y}
    ).with_columns(
        a=pl.when(pl.int_range(400) == 3).then(None).otherwise("a"),
        b_err=pl.when(pl.int_range(400) == 5).then(0.0).otherwise("b_err"),
    )
    model = uncertain.fit(table, target="y", method="gsu", on_missing="impute")
    found = model.value_of_remeasuring(table)
    assert isinstance(found, pl.DataFrame)
    assert found.columns == ["row", "feature", "error", "new_error", "gain"]
    assert found.height == 799 and found.filter((pl.col("row") == 5) & (pl.col("feature") == "b")).is_empty()
    gap = found.filter((pl.col("row") == 3) & (pl.col("feature") == "a"))
    assert gap["error"][0] == np.inf
    assert gap["new_error"][0] == pytest.approx(np.median(std[:, 0]), rel=0.02)
    assert gap["gain"][0] > found["gain"].median()
    assert found.equals(model.value_of_remeasuring(table))  # the same seed
    frame = model.value_of_remeasuring(table.to_pandas(), top=3)
    assert list(frame["row"]) == found["row"][:3].to_list()


def test_refused() -> None:
    X, y = catalogue(200, 3)
    model = uncertain.fit(X, y, method="gsu", meaning="measurement")
    for given in ({"factor": 1.0}, {"factor": -0.1}, {"n_draws": 3}, {"n_draws": 0}, {"top": 0}):
        with pytest.raises(ParameterError, match=next(iter(given))):
            model.value_of_remeasuring(X, **given)  # type: ignore[arg-type]
    spread = uncertain.fit(X, y, method="gsu", meaning="spread")
    with pytest.raises(ParameterError, match="spread of populations"):
        spread.value_of_remeasuring(X)
