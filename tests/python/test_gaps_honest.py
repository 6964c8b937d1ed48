"""Rows with gaps on simulated data: error bars and probabilities that mean what they say.

The chain of imputer and denoiser, which counts the prior twice, does not.
"""

from __future__ import annotations

import numpy as np
from catalogues import hidden_truth, with_gaps

from uncertain import GaussianArray, GaussianDenoiser, GaussianDiscriminant, GaussianImputer, Incomplete


def simulated(n: int, seed: int) -> tuple[np.ndarray, Incomplete]:
    """Correlated true values, readings with much noise, a third of them missing."""
    rng = np.random.default_rng(seed)
    d = 4
    z = rng.normal(size=(n, d)) @ (0.5 * np.ones((d, d)) + 0.6 * np.eye(d)) + 1
    std = np.exp(0.4 * rng.normal(size=(n, d)) + 0.3)
    X = GaussianArray(z + std * rng.normal(size=(n, d)), std=std)
    return z, with_gaps(rng, X, 0.35)


def standardised_variance(z: np.ndarray, Z: GaussianArray, rows: np.ndarray) -> float:
    """Mean of e'C^-1 e / d over these rows: 1 when posteriors mean what they say."""
    off = z - Z.means
    whitened = np.einsum("ni,ni->n", off, np.linalg.solve(Z.covariances(), off[..., None])[..., 0])
    return float(whitened[rows].mean() / z.shape[1])


def test_denoised_gaps_are_honest_where_the_chain_counts_the_prior_twice() -> None:
    z, rows = simulated(5000, 8)
    gappy = rows.missing.any(axis=1)
    denoiser = GaussianDenoiser().fit(rows)
    Z = denoiser.transform(rows)
    assert abs(standardised_variance(z, Z, gappy) - 1) < 0.05
    variances = np.diagonal(Z.covariances(), axis1=1, axis2=2)
    errors = ((z - Z.means) / np.sqrt(variances))[rows.missing]
    assert abs(errors.var() - 1) < 0.05 and abs(errors.mean()) < 0.05
    # The same prior, but imputed values taken for readings.
    imputer = GaussianImputer()._set(denoiser._mixture())
    chained = denoiser.transform(imputer.transform(rows))
    assert standardised_variance(z, chained, gappy) > 1.2
    # And fitted, as the chain was before.
    fitted = GaussianDenoiser().fit_transform(GaussianImputer().fit_transform(rows))
    assert standardised_variance(z, fitted, gappy) > 1.2
    # The posterior mean is the best guess there is.
    assert np.mean((z - Z.means)[gappy] ** 2) < np.mean((z - fitted.means)[gappy] ** 2)


def test_denoised_gaps_are_honest_on_average_with_few_rows() -> None:
    """Where noise hides a nearly singular T, as for the imputer: as good as under the true distribution."""
    learned, known = [], []
    for seed in range(40):
        z, truth, rows = hidden_truth(seed)
        model = GaussianDenoiser().fit(rows)
        for spreads in (learned, known):
            Z = model.transform(rows)
            variances = np.diagonal(Z.covariances(), axis1=1, axis2=2)
            spreads.append(np.mean((z - Z.means)[rows.missing] ** 2 / variances[rows.missing]))
            model._set((np.ones(1), np.zeros((1, len(truth))), truth[None]))
    assert abs(np.mean(known) - 1) < 0.05
    assert abs(np.mean(learned) - np.mean(known)) < 0.05


def test_probabilities_of_rows_with_gaps_are_calibrated() -> None:
    """Of the rows with gaps given p, a share p is of class 1."""

    def draw(n: int, seed: int) -> tuple[Incomplete, np.ndarray]:
        _, rows = simulated(n, seed)
        y = np.random.default_rng(seed + 100).integers(0, 2, size=n)
        shifted = rows.gaussians.means + 1.2 * y[:, None]
        return Incomplete(GaussianArray(shifted, cov=rows.gaussians.covariances()), rows.missing), y

    (X, y), (new, truth) = draw(2000, 1), draw(8000, 2)
    gappy = new.missing.any(axis=1)
    probabilities = GaussianDiscriminant().fit(X, y).predict_proba(new)[:, 1]
    for low, high in ((0.0, 0.3), (0.3, 0.5), (0.5, 0.7), (0.7, 1.0)):
        inside = gappy & (probabilities >= low) & (probabilities < high)
        share, error = truth[inside].mean(), 0.5 / np.sqrt(inside.sum())
        assert abs(share - probabilities[inside].mean()) < 3 * error + 0.02
