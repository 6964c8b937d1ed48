"""The expected hinge against values of 60 digits, at its limits, and as an average over draws."""

import random

import mpmath
import numpy as np
import pytest
from numpy.typing import NDArray

from uncertain.exceptions import UncertainError
from uncertain.losses import expected_hinge

SMALLEST = 5e-324
"""The spacing of subnormal numbers: below about 1e-310 no relative accuracy is possible."""
SCALES = [1.0, 3.0, *(2.0**k for k in (-1022, -500, -26, -1, 26, 500, 1000)), 5 * 2.0**-900, 7 * 2.0**900]
SUBNORMAL = [2.0**-1074, 3 * 2.0**-1074, 2.0**-1050, 1021 * 2.0**-1060]


def with_losses(pairs: list[tuple[float, float]]) -> NDArray[np.float64]:
    """Rows d, s and L(d, s) = d Phi(u) + s phi(u), u = d / s, from 60 digits, rounded once.

    For u << 0 the two terms cancel and L falls like phi(u) / u^2, so that a rounding error eps in u costs
    u^2 eps in L.
    """

    def loss(d: float, s: float) -> float:
        if s == 0.0 or abs(u := mpmath.mpf(d) / mpmath.mpf(s)) > 1000:  # phi(u) < 10**-200000
            return max(0.0, d)
        return float(mpmath.mpf(d) * mpmath.ncdf(u) + mpmath.mpf(s) * mpmath.npdf(u))

    with mpmath.workdps(60):
        return np.array([(d, s, loss(d, s)) for d, s in pairs]).T


def test_relative_error_where_u_is_exact() -> None:
    """Few bits in u and s: u s and d / s are exact, and what is measured is the loss itself."""
    rng = random.Random(20261121)
    grid = [(k / 8.0, s) for k in range(-280, 281) for s in (1.0, 3.0)]
    grid += [(k / 2.0, s) for k in range(-70, 71) for s in SCALES]
    grid += [
        (round(rng.uniform(-35, 35) * 2**19) / 2**19, rng.randint(1, 2**26) * 2.0 ** rng.randint(-60, 60))
        for _ in range(600)
    ]
    grid += [(float(k), s) for k in range(-35, 36, 5) for s in SUBNORMAL]
    d, s, expected = with_losses([(u * s, s) for u, s in grid])
    np.testing.assert_array_equal(d / s, [u for u, _ in grid])
    error = np.abs(expected_hinge(d, s) - expected)
    allowed = 1e-13 * expected + 2 * SMALLEST
    worst = np.argmax(error / allowed)
    assert error[worst] <= allowed[worst], (
        d[worst], s[worst], d[worst] / s[worst], error[worst] / expected[worst],
    )  # fmt: skip


def test_relative_error_is_the_rounding_of_u_elsewhere() -> None:
    """Arbitrary d and s, some d / s far outside [-35, 35], and s = 0."""
    rng = random.Random(20261122)
    scales = [10.0 ** rng.uniform(-12, 12) for _ in range(600)]
    pairs = [(rng.uniform(-35, 35) * s, s) for s in scales]
    pairs += [(d, 0.0) for d in (-1e308, -1.0, -5e-324, -0.0, 0.0, 5e-324, 0.25, 1.0, 1e308)]
    pairs += [(d, s) for d in (-1e300, -50.0, 50.0, 1e300) for s in (5e-324, 1e-300, 1.0)]
    d, s, expected = with_losses(pairs)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        u = np.clip(np.nan_to_num(d / s), -35.0, 0.0)
    error = np.abs(expected_hinge(d, s) - expected)
    allowed = (1e-13 + 1.2e-16 * u**2) * expected + 2 * SMALLEST
    worst = np.argmax(error / allowed)
    assert error[worst] <= allowed[worst], (d[worst], s[worst], error[worst], expected[worst])


def test_without_spread_it_is_the_hinge() -> None:
    d = np.array([-1e308, -1.0, -0.0, 0.0, 1e-300, 2.5, 1e308])
    np.testing.assert_array_equal(expected_hinge(d, 0.0), np.maximum(d, 0.0))


def test_no_nan_at_any_scale() -> None:
    scales = np.array([0.0, SMALLEST, 1e-310, 1e-200, 1e-8, 1.0, 1e8, 1e200, 1e300])
    d = np.concatenate([-scales[::-1], scales])
    loss = expected_hinge(d[:, None], scales[None, :])
    assert np.all(np.isfinite(loss))
    assert np.all(loss >= np.maximum(d, 0.0)[:, None])


def test_average_over_draws() -> None:
    z = np.random.default_rng(0).standard_normal(400_000)
    for d, s in [(0.7, 0.3), (-0.5, 1.0), (0.0, 2.0)]:
        draws = np.maximum(0.0, d + s * z)
        standard_error = draws.std() / np.sqrt(draws.size)
        assert abs(expected_hinge(d, s) - draws.mean()) < 5 * standard_error


def test_shapes_broadcast() -> None:
    d, s = np.linspace(-2, 2, 5), np.linspace(0, 1, 3)
    loss = expected_hinge(d[:, None], s)
    assert loss.shape == (5, 3)
    np.testing.assert_array_equal(loss[:, 1], expected_hinge(d, np.full(5, s[1])))
    np.testing.assert_array_equal(expected_hinge(d[::-2], 1.0), expected_hinge(d, 1.0)[::-2])
    assert np.ndim(expected_hinge(1, 1)) == 0
    assert expected_hinge([], []).shape == (0,)
    with pytest.raises(ValueError, match="broadcast"):
        expected_hinge([1.0, 2.0], [1.0, 2.0, 3.0])


@pytest.mark.parametrize(("d", "s", "words"), [(0.0, -1.0, "-1"), (np.nan, 1.0, "NaN"), (0.0, np.nan, "NaN")])
def test_bad_input_is_refused(d: float, s: float, words: str) -> None:
    with pytest.raises(UncertainError, match=words):
        expected_hinge([1.0, d], [1.0, s])
