"""Gram matrices of Gaussians against NumPy pair by pair, against draws, and at their limits."""

from __future__ import annotations

import threading
import time
from typing import Any, Literal, TypeAlias

import numpy as np
import pytest
from conftest import random_covariances
from oracles import expected_rbf, roots

from uncertain import GaussianArray, kernels
from uncertain.exceptions import NotFiniteError, ParameterError, ShapeError, UncertainError

Coupling: TypeAlias = Literal["shared", "independent"]
COUPLINGS: tuple[Coupling, ...] = ("shared", "independent")


def arrays(rng: np.random.Generator, n: int, d: int) -> dict[str, GaussianArray]:
    means = rng.normal(size=(n, d)) / np.sqrt(d)
    spread = random_covariances(rng, n, d) / d
    return {
        "points": GaussianArray(means),
        "isotropic": GaussianArray(means, std=rng.uniform(0, 1, n)),
        "diagonal": GaussianArray(means, var=rng.uniform(0, 1, (n, d))),
        "low-rank": GaussianArray(means, factor=rng.normal(size=(n, d, 2)), var=rng.uniform(0.1, 1, (n, d))),
        "full": GaussianArray(means, cov=spread),
        "shared": GaussianArray(means, cov=spread[0]),
    }


@pytest.mark.parametrize("coupling", COUPLINGS)
def test_every_pair_of_kinds(rng: np.random.Generator, coupling: Coupling) -> None:
    left, right = arrays(rng, 13, 4), arrays(rng, 9, 4)
    for name, x in left.items():
        symmetric = kernels.probabilistic_rbf(x, sigma=0.8, coupling=coupling)
        np.testing.assert_allclose(
            symmetric, expected_rbf(x, x, 0.8, coupling), atol=1e-12, rtol=0, err_msg=name
        )
        np.testing.assert_array_equal(symmetric, symmetric.T)
        assert np.linalg.eigvalsh(symmetric).min() > -1e-12
        if coupling == "shared":
            np.testing.assert_array_equal(np.diag(symmetric), 1.0)
        for other, z in right.items():
            found = kernels.probabilistic_rbf(x, z, sigma=0.8, coupling=coupling)
            expected = expected_rbf(x, z, 0.8, coupling)
            np.testing.assert_allclose(found, expected, atol=1e-12, rtol=0, err_msg=f"{name}, {other}")


def test_exact_points_give_the_rbf_kernel(rng: np.random.Generator) -> None:
    x, z = rng.normal(size=(20, 3)), rng.normal(size=(5, 3))
    expected = np.exp(-0.5 * np.sum((x[:, None] - z[None]) ** 2, axis=-1) / 0.7**2)
    np.testing.assert_allclose(kernels.probabilistic_rbf(x, z, sigma=0.7), expected, atol=1e-13, rtol=0)
    blurred = GaussianArray(x, cov=np.zeros((20, 3, 3)))
    np.testing.assert_allclose(kernels.probabilistic_rbf(blurred, z, sigma=0.7), expected, atol=1e-13, rtol=0)


@pytest.mark.parametrize("coupling", COUPLINGS)
def test_mean_over_draws(rng: np.random.Generator, coupling: Coupling) -> None:
    x = arrays(rng, 2, 3)["full"]
    a = roots(x.covariances())
    e = rng.normal(size=(2, 200_000, 3))
    noise = (e[0], e[0] if coupling == "shared" else e[1])
    draws = [x.means[i] + noise[i] @ a[i] for i in (0, 1)]
    values = np.exp(-0.5 * np.sum((draws[0] - draws[1]) ** 2, axis=1))
    standard_error = values.std() / np.sqrt(len(values))
    expected = kernels.probabilistic_rbf(x, coupling=coupling)[0, 1]
    assert abs(values.mean() - expected) < 5 * standard_error


def test_median_bandwidth(rng: np.random.Generator) -> None:
    x = arrays(rng, 30, 2)["full"]
    traces = np.trace(x.covariances(), axis1=1, axis2=2)
    squares = np.sum((x.means[:, None] - x.means[None]) ** 2, axis=-1) + traces[:, None] + traces[None]
    median = np.median(np.sqrt(squares[np.triu_indices(30, 1)]))
    assert kernels.median_distance(x) == pytest.approx(median, rel=1e-14)
    found = kernels.probabilistic_rbf(x, sigma="median")
    np.testing.assert_allclose(found, kernels.probabilistic_rbf(x, sigma=float(median)), rtol=1e-12)
    many = rng.normal(size=(2000, 2))
    assert kernels.median_distance(many, random_state=1) == kernels.median_distance(many, random_state=1)
    assert kernels.median_distance(many, random_state=1) == pytest.approx(2 * np.sqrt(np.log(2)), rel=0.05)


def test_threads_do_not_change_a_bit(rng: np.random.Generator) -> None:
    x = arrays(rng, 200, 5)["full"]
    one, two = (kernels.probabilistic_rbf(x, n_jobs=n) for n in (1, 2))
    np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"sigma": 0.0}, ParameterError, "sigma = 0"),
        ({"sigma": -1}, ParameterError, "sigma = -1"),
        ({"sigma": "mean"}, ParameterError, '"median"'),
        ({"sigma": None}, ParameterError, '"median"'),
        ({"coupling": "both"}, ParameterError, "one of shared, independent"),
        ({"Z": [[1.0]]}, ShapeError, "2 features"),
        ({"Z": [1.0, 2.0]}, ShapeError, "Z: expected"),
        ({"Z": [[1.0, np.nan]]}, NotFiniteError, "Z: row 0"),
        ({"max_bytes": 10}, UncertainError, "10 are allowed"),
        ({"max_bytes": -1}, ParameterError, "max_bytes"),
        ({"n_jobs": 0}, ParameterError, "n_jobs"),
    ],
)
def test_bad_input(arguments: dict[str, Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        kernels.probabilistic_rbf([[0.0, 1.0], [2.0, 3.0]], **arguments)
    with pytest.raises(UncertainError, match="pass a number"):
        kernels.probabilistic_rbf([[1.0, 2.0]] * 3, sigma="median")


def test_a_matrix_that_does_not_fit_is_refused_at_once() -> None:
    with pytest.raises(UncertainError, match=r"takes \d+ bytes .* slices"):
        kernels.probabilistic_rbf(np.zeros((3_000_000, 1)))


def test_other_threads_run_meanwhile(rng: np.random.Generator) -> None:
    x = GaussianArray(rng.normal(size=(400, 30)), cov=random_covariances(rng, 400, 30))
    worker = threading.Thread(target=kernels.probabilistic_rbf, args=(x,), kwargs={"n_jobs": 1})
    worker.start()
    ticks = 0
    while worker.is_alive():
        time.sleep(0.001)
        ticks += 1
    worker.join()
    assert ticks > 5
