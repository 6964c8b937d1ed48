"""Posteriors, likelihoods and log odds of rows with gaps, from the observed block alone.

Run: python tests/golden/gaps.py (NumPy, SciPy). Writes gaps.json beside it.

Two mixtures of two components each (the classes of a discriminant; the first one is also the prior of a
denoiser), 24 rows with full covariances, the last row without any feature. Everything is computed by cutting
means and matrices down to the observed features o and asking SciPy for densities:

    q_k proportional to pi_k N(x_o; mu_k,o, T_k,oo + S_oo)
    b_k = mu_k + T_k,:o (T_k,oo + S_oo)^-1 (x_o - mu_k,o),   B_k = T_k - T_k,:o (T_k,oo + S_oo)^-1 T_k,o:
    m = sum q_k b_k,   C = sum q_k (B_k + b_k b_k') - m m'

log odds: log of the ratio of the classes' densities of x_o, with their priors. `step` is a step of EM with
the same posteriors, for the tests.
"""

import json
from pathlib import Path

import numpy as np
from scipy.special import logsumexp
from scipy.stats import multivariate_normal

n, d, K = 24, 3, 2
PRIORS = [0.4, 0.6]


def covariances(rng, count, scale=1.0):
    a = scale * rng.normal(size=(count, d, d))
    return np.round(a @ np.swapaxes(a, 1, 2) + 0.2 * np.eye(d), 4)


def component(x, s, mu, t):
    """log N(x_o; ...), b and B of a row under one component."""
    o = np.flatnonzero(~np.isnan(x))
    if o.size == 0:
        return 0.0, mu, t
    m = t[np.ix_(o, o)] + s[np.ix_(o, o)]
    gain = np.linalg.solve(m, t[o]).T
    return (
        float(multivariate_normal.logpdf(x[o], mu[o], m)),
        mu + gain @ (x[o] - mu[o]),
        t - gain @ t[o],
    )


def row(x, s, mixture):
    """log p(x_o), shares, and the components' posteriors."""
    weights, means, matrices = mixture
    logs, b, c = zip(*(component(x, s, m, t) for m, t in zip(means, matrices, strict=True)), strict=True)
    joint = np.log(weights) + np.array(logs)
    total = logsumexp(joint)
    return total, np.exp(joint - total), np.array(b), np.array(c)


def posterior(x, s, mixture):
    _, q, b, c = row(x, s, mixture)
    mean = q @ b
    second = np.einsum("k,kij->ij", q, c + np.einsum("ki,kj->kij", b, b))
    return mean, second - np.outer(mean, mean)


def step(x, s, mixture):
    rows = [row(a, b, mixture) for a, b in zip(x, s, strict=True)]
    q, b, c = (np.array([r[part] for r in rows]) for part in (1, 2, 3))
    total = q.sum(axis=0)
    means = np.einsum("nk,nki->ki", q, b) / total[:, None]
    off = b - means
    matrices = np.einsum("nk,nkij->kij", q, c + np.einsum("nki,nkj->nkij", off, off)) / total[:, None, None]
    return total / len(x), means, matrices


def main():
    rng = np.random.default_rng(17)
    mixtures = []
    for shift in (0.0, 1.5):
        means = np.round(rng.normal(size=(K, d)) * 1.5 + shift, 4)
        mixtures.append((np.array([0.3, 0.7]), means, covariances(rng, K)))
    x = np.round(2.0 * rng.normal(size=(n, d)) + 0.7, 4)
    s = covariances(rng, n, 0.7)
    missing = rng.random((n, d)) < 0.35
    missing[-1] = True
    x[missing] = np.nan
    posteriors = [posterior(a, b, mixtures[0]) for a, b in zip(x, s, strict=True)]
    likelihoods = np.array([[row(a, b, m)[0] for m in mixtures] for a, b in zip(x, s, strict=True)])
    joint = likelihoods + np.log(PRIORS)
    # JSON has no NaN: what is missing is null.
    golden = {
        "x": [[None if np.isnan(v) else v for v in r] for r in x.tolist()],
        "cov": s.reshape(n, d * d).tolist(),
        "priors": PRIORS,
        "mixtures": [
            {"weights": w.tolist(), "means": m.tolist(), "covariances": t.reshape(K, d * d).tolist()}
            for w, m, t in mixtures
        ],
        "posterior_means": [m.tolist() for m, _ in posteriors],
        "posterior_covariances": [c.ravel().tolist() for _, c in posteriors],
        "log_likelihoods": likelihoods[:, 0].tolist(),
        "log_odds": (joint[:, 1] - joint[:, 0]).tolist(),
    }
    Path(__file__).with_suffix(".json").write_text(
        "{\n" + ",\n".join(f'"{k}": {json.dumps(v)}' for k, v in golden.items()) + "\n}\n", encoding="utf-8"
    )


if __name__ == "__main__":
    main()
