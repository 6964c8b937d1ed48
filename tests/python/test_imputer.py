"""GaussianImputer: against EM in NumPy, honest on simulated data, and in tables.

It always gives a GaussianArray, so `check_estimator`'s checks that need an array as the result cannot pass.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from catalogues import hidden_truth
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline

import uncertain
from uncertain import GaussianArray, GaussianImputer, GSUClassifier
from uncertain.exceptions import ParameterError, UncertainError


def numpy_em(x: Any, s: Any, mu: Any, t: Any, steps: int, spent: int) -> Any:
    """The textbook's EM for a normal distribution with gaps, with the rows' own noise beside it.

    `spent` degrees of freedom are lacking in the sum of squares; maximum likelihood has 0.
    """
    n, d = x.shape
    for _ in range(steps):
        b, c = np.empty((n, d)), np.empty((n, d, d))
        for i in range(n):
            o = ~np.isnan(x[i])
            gain = t[:, o] @ np.linalg.inv((t + s[i])[np.ix_(o, o)])
            b[i] = mu + gain @ (x[i, o] - mu[o])
            c[i] = t - gain @ t[o]
        mu = b.mean(axis=0)
        t = ((b - mu).T @ (b - mu) + c.sum(axis=0)) / (n - spent)
    return mu, t


def gaps(rng: np.random.Generator, x: np.ndarray, share: float = 0.3) -> np.ndarray:
    return np.where(rng.random(x.shape) < share, np.nan, x)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_agrees_with_numpy(rng: np.random.Generator) -> None:
    x = gaps(rng, rng.normal(size=(150, 4)) @ rng.normal(size=(4, 4)))
    first, last = (GaussianImputer(tol=0, max_iter=steps, acceleration=None).fit(x) for steps in (2, 12))
    mu, t = numpy_em(x, np.zeros((150, 4, 4)), first.means_[0], first.covariances_[0], 10, spent=5)
    assert_allclose(last.means_[0], mu, atol=1e-10)
    assert_allclose(last.covariances_[0], t, atol=1e-10)
    assert np.all(np.diff(last.log_likelihoods_) >= 0)


def test_standardised_errors_have_unit_variance_and_beat_column_means() -> None:
    rng = np.random.default_rng(3)
    n, d = 4000, 4
    z = rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + 3
    x = gaps(rng, z, 0.25)
    missing = np.isnan(x)
    filled = GaussianImputer().fit_transform(x)
    variances = np.diagonal(filled.covariances(), axis1=1, axis2=2)
    assert_array_equal(filled.means[~missing], x[~missing])
    assert np.all(variances[~missing] == 0)
    errors = (z - filled.means)[missing] / np.sqrt(variances[missing])
    assert abs(errors.var() - 1) < 0.07 and abs(errors.mean()) < 0.05
    by_mean = SimpleImputer().fit_transform(x)
    assert np.mean((filled.means - z)[missing] ** 2) < 0.5 * np.mean((by_mean - z)[missing] ** 2)


def test_noise_of_the_rows_counts() -> None:
    """With error bars on what is there, the guesses are still honest, and the bars stay."""
    rng = np.random.default_rng(4)
    n, d = 4000, 3
    z = rng.normal(size=(n, d)) @ rng.normal(size=(d, d))
    std = np.exp(0.7 * rng.normal(size=(n, d)))
    table = {f"f{j}": gaps(rng, (z + std * rng.normal(size=(n, d)))[:, j]) for j in range(d)}
    frame = pl.DataFrame(
        {k: pl.Series(v).fill_nan(None) for k, v in table.items()}
        | {f"f{j}_err": std[:, j] for j in range(d)}
    )
    reader = uncertain.AsGaussians(features=list(table), std="{}_err", on_missing="impute")
    rows = reader.fit_transform(frame)
    filled = GaussianImputer().fit(rows).transform(rows)
    missing = frame.select(pl.col(list(table)).is_null()).to_numpy()
    assert_array_equal(rows.missing, missing)
    variances = np.diagonal(filled.covariances(), axis1=1, axis2=2)
    assert_allclose(variances[~missing], std[~missing] ** 2)
    errors = (z - filled.means)[missing] / np.sqrt(variances[missing])
    assert abs(errors.var() - 1) < 0.1


def test_error_bars_are_honest_on_average_with_few_rows() -> None:
    """Where noise hides a nearly singular T. Maximum likelihood alone would be too sure of it."""
    learned, known = [], []
    for seed in range(40):
        z, truth, rows = hidden_truth(seed)
        model = GaussianImputer().fit(rows)
        for spreads in (learned, known):
            filled = model.transform(rows)
            variances = np.diagonal(filled.covariances(), axis1=1, axis2=2)[rows.missing]
            spreads.append(np.mean((z - filled.means)[rows.missing] ** 2 / variances))
            model._set((np.ones(1), np.zeros((1, len(truth))), truth[None]))
    assert abs(np.mean(known) - 1) < 0.05
    assert abs(np.mean(learned) - np.mean(known)) < 0.05


def test_per_class(rng: np.random.Generator) -> None:
    y = rng.integers(0, 2, size=600)
    z = rng.normal(size=(600, 2)) + 8 * y[:, None]
    x = z.copy()
    x[::2, 1] = np.nan
    one = GaussianImputer().fit(x, y)
    two = GaussianImputer(per_class=True).fit(x, y)
    assert len(one.weights_) == 1 and len(two.weights_) == 2
    assert_allclose(two.means_, [[0, 0], [8, 8]], atol=0.4)
    assert two.log_likelihoods_[-1] > one.log_likelihoods_[-1]
    # The first feature tells the class, and the class the second; its own covariance is none.
    filled = two.transform(x)
    assert np.mean((filled.means - z)[::2, 1] ** 2) < 1.2
    assert filled.kind == "diagonal"
    with pytest.raises(ValueError, match="requires y"):
        GaussianImputer(per_class=True).fit(x)
    with pytest.raises(ParameterError, match="per_class"):
        GaussianImputer("auto", per_class=True).fit(x, y)


def test_nothing_missing_changes_nothing(rng: np.random.Generator) -> None:
    X = GaussianArray(rng.normal(size=(30, 2)), std=rng.uniform(0.1, 1, size=(30, 2)))
    assert GaussianImputer().fit_transform(X) == X
    with pytest.raises(UncertainError, match="feature 1 is missing in every row"):
        GaussianImputer().fit(np.column_stack([X.means[:, 0], np.full(30, np.nan)]))


def test_in_a_pipeline_with_arrays(rng: np.random.Generator) -> None:
    y = rng.integers(0, 2, size=200)
    x = gaps(rng, rng.normal(size=(200, 3)) + 2 * y[:, None])
    model = make_pipeline(GaussianImputer(), GSUClassifier(1e-2)).fit(x, y)
    assert model.score(x, y) > 0.85


def test_tables_with_gaps(rng: np.random.Generator, tmp_path: Path) -> None:
    n = 200
    y = rng.integers(0, 2, size=n)
    values = rng.normal(size=(n, 2)) + 2 * y[:, None]
    frame = pl.DataFrame(
        {
            "u": pl.Series([None if i % 5 == 0 else v for i, v in enumerate(values[:, 0])], dtype=pl.Float64),
            "u_err": rng.uniform(0.1, 1, size=n),
            "v": values[:, 1],
            "v_err": pl.Series([None if i % 7 == 0 else 0.3 for i in range(n)], dtype=pl.Float64),
            "label": y,
        }
    )
    with pytest.raises(UncertainError, match="u: row 0 is null"):
        uncertain.fit(frame, method="gsu", on_missing="error")
    model = uncertain.fit(frame, on_missing="impute", meaning="spread", method="gsu")
    assert [name for name, _ in model.pipeline_.steps] == ["gaussians", "impute", "scale", "classify"]
    assert model.score(frame) > 0.8
    rows = model.gaussians(frame)
    assert rows.covariances()[0, 0, 0] > 0.3 and rows.covariances()[1, 1, 1] == pytest.approx(0.09)
    assert model.report(frame, folds=2, repeats=1, meanings=False).n_rows == n
    path = tmp_path / "model.safetensors"
    model.save(path)
    assert_array_equal(uncertain.load(path).predict_proba(frame), model.predict_proba(frame))
    x = frame.select("u", "v").fill_null(float("nan")).to_numpy()
    plain = uncertain.fit(x, y, on_missing="impute", method="gsu")
    assert plain.score(x, y) > 0.8 and plain.report(x, y, folds=2, repeats=1).n_rows == n
