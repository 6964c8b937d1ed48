"""The probabilistic-kernel paper's examples: which way the boundary moves.

The kernel of near rows falls with their distance and with the difference of their covariances. So points that
carry the covariance of one class are claimed by that class, and the boundary moves into the other.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "papers"))
import kernel_problems as problems

SEEDS = range(4)


@pytest.mark.parametrize("seed", SEEDS)
def test_disc_in_annulus(seed: int) -> None:
    example = problems.disc(seed)
    model = example.fit()
    standard = problems.radii(example.standard().decision_function)
    like_disc = problems.radii(problems.at(model, (0.01, 0.01)))
    like_annulus = problems.radii(problems.at(model, (0.09, 0.09)))
    assert np.all(like_disc > standard)
    assert np.all(like_annulus < standard)
    independent = example.fit("independent")
    narrow, wide = (problems.radii(problems.at(independent, (v, v))).mean() for v in (0.01, 0.09))
    assert wide < narrow < wide + 0.5 * (like_disc.mean() - like_annulus.mean())


@pytest.mark.parametrize("seed", SEEDS)
def test_annulus_stretched_from_left_to_right(seed: int) -> None:
    """Its rows reach inwards on both sides: the boundary of exact points is taller than wide."""
    example = problems.stretched(seed)
    radii = problems.radii(problems.at(example.fit(), (0.0, 0.0)))
    sides, ends = radii[[0, 32]].mean(), radii[[16, 48]].mean()
    assert ends > sides + 0.05
    # The same rows without a direction give a circle.
    round_ = problems.radii(problems.at(problems.disc(seed, (0.06, 0.06)).fit(), (0.0, 0.0)))
    assert ends / sides > 1.0 + 2.0 * abs(round_[[16, 48]].mean() / round_[[0, 32]].mean() - 1.0)


@pytest.mark.parametrize("seed", SEEDS)
def test_crossed_classes(seed: int) -> None:
    example = problems.crossed(seed)
    model = example.fit()
    standard = problems.edges(example.standard().decision_function)
    assert np.all(problems.edges(problems.at(model, (0.36, 0.01))) > standard + 0.2)
    assert np.all(problems.edges(problems.at(model, (0.01, 0.36))) < standard - 0.2)


def test_without_error_bars_it_is_the_standard_machine() -> None:
    for make in (problems.disc, problems.crossed):
        example = make(0)
        exact = problems.Example(example.means, np.zeros_like(example.var), example.y)
        points = np.random.default_rng(1).uniform(-2.0, 2.0, size=(200, 2))
        scores = problems.at(exact.fit(), (0.0, 0.0))
        np.testing.assert_allclose(scores(points), exact.standard().decision_function(points), atol=1e-4)
        # Noise that every row and every point shares changes nothing when it is coupled.
        same = problems.Example(example.means, np.full_like(example.var, 0.2), example.y)
        np.testing.assert_allclose(problems.at(same.fit(), (0.2, 0.2))(points), scores(points), atol=1e-4)
