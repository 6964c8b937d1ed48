"""The expected hinge against 60-digit values, at its limits, and as an average over draws."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from uncertain.exceptions import UncertainError
from uncertain.losses import expected_hinge

GOLDEN = json.loads(
    (Path(__file__).parents[1] / "golden" / "expected_hinge.json").read_text(encoding="utf-8")
)
SMALLEST = 5e-324
"""The spacing of subnormal numbers: below about 1e-310 no relative accuracy is possible."""


def columns(name: str) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    d, s, expected = np.array(GOLDEN[name]).T
    return d, s, expected


def test_relative_error_where_u_is_exact() -> None:
    d, s, expected = columns("exact")
    assert len(d) > 2000
    error = np.abs(expected_hinge(d, s) - expected)
    allowed = 1e-13 * expected + 2 * SMALLEST
    worst = np.argmax(error / allowed)
    assert error[worst] <= allowed[worst], (
        d[worst],
        s[worst],
        d[worst] / s[worst],
        error[worst] / expected[worst],
    )


def test_relative_error_is_the_rounding_of_u_elsewhere() -> None:
    d, s, expected = columns("rounded")
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
