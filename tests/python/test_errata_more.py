"""Further errata: subspaces and the sampling bound of SVM-GSU, scores of PkSVM, units of HLR's table.

papers/*.md list them; `test_errata` has the others.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import approx_fprime
from scipy.special import erf, ndtr

from uncertain.losses import expected_hinge

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "papers"))

Floats = NDArray[np.float64]
ALPHA = 0.1


class Subspaces:
    """The objective (10) of SVM-GSU in subspaces: every row has two directions P_i of its own."""

    def __init__(self, rng: np.random.Generator, n: int = 25, d: int = 4, kept: int = 2) -> None:
        self.y = np.where(np.arange(n) % 2, 1.0, -1.0)
        x = rng.normal(size=(n, d)) + self.y[:, None]
        self.P = np.linalg.qr(rng.normal(size=(n, d, kept)))[0].swapaxes(1, 2)
        self.z = np.einsum("nij,nj->ni", self.P, x)
        self.spread = rng.uniform(0.3, 2.0, size=(n, kept))

    def parts(self, at: Floats) -> tuple[Floats, Floats, Floats]:
        wz = self.P @ at[:-1]
        d = 1.0 - self.y * (np.einsum("ni,ni->n", wz, self.z) + at[-1])
        return d, np.sqrt(np.einsum("ni,ni->n", wz**2, self.spread)), self.spread * wz

    def value(self, at: Floats) -> float:
        d, s, _ = self.parts(at)
        return float(0.5 * ALPHA * at[:-1] @ at[:-1] + expected_hinge(d, s).mean())

    def gradient(self, at: Floats, *, as_printed: bool) -> Floats:
        """(11) and (12), with or without the factors that are missing."""
        d, s, across = self.parts(at)
        wide = np.sqrt(2.0) * s
        y = np.ones_like(self.y) if as_printed else self.y
        density = np.exp(-((d / wide) ** 2)) / (np.sqrt(np.pi) * wide)
        inside = erf(d / wide) + 1.0
        rows = density[:, None] * across - 0.5 * (y * inside)[:, None] * self.z
        by_w = ALPHA * at[:-1] + np.einsum("nij,ni->j", self.P, rows) / len(y)
        return np.append(by_w, -inside.mean() if as_printed else -(0.5 * y * inside).mean())


def test_gsu_equations_11_and_12_lack_the_factors_of_7_and_8(rng: np.random.Generator) -> None:
    problem, at = Subspaces(rng), rng.normal(size=5)
    truth = approx_fprime(at, problem.value, 1e-7)
    np.testing.assert_allclose(problem.gradient(at, as_printed=False), truth, atol=1e-6)
    printed = problem.gradient(at, as_printed=True)
    assert np.abs(printed - truth)[:-1].max() > 0.1
    assert abs(printed[-1] - truth[-1]) > 0.1


def test_gsu_bound_13_lacks_the_covariance_and_the_number_of_samples(rng: np.random.Generator) -> None:
    """P(|L - L_N| >= r) of one row: the printed bound is broken 20 orders of magnitude deep."""
    w, variance, r = 1.0, 100.0, 10.0
    s = np.sqrt(w * variance * w)
    mean = float(expected_hinge(1.0, s))
    # One sample: the hinge max(0, 1 - s z) is r above its mean where z <= (1 - mean - r) / s, never r below.
    assert mean < r
    exact = float(ndtr((1.0 - mean - r) / s))
    printed = 2.0 * np.exp(-(r**2) / (2.0 * w**2))
    assert exact == pytest.approx(0.089, abs=0.001)
    assert printed < 1e-21
    # The bound with both: the mean of N hinges is sqrt(w'Sw / N)-Lipschitz in N standard normal variables.
    for n in (1, 4, 25):
        hinges = np.maximum(0.0, 1.0 - s * rng.normal(size=(20_000, n))).mean(axis=1)
        for distance in (1.0, 3.0, 6.0):
            bound = 2.0 * np.exp(-n * distance**2 / (2.0 * s**2))
            assert (np.abs(hinges - mean) >= distance).mean() <= bound
    # It is not idle: at N = 25 it excludes what happens to a single sample.
    assert 2.0 * np.exp(-25 * r**2 / (2.0 * s**2)) < 1e-4 < exact


def test_pksvm_scores_leave_the_unit_interval() -> None:
    """They are said to lie in [-1, 1]; on the paper's own example they do not."""
    problems = importlib.import_module("kernel_problems")
    example = problems.disc(0)
    axis = np.linspace(-2.0, 2.0, 41)
    grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    model = example.fit()
    scores = [problems.at(model, (v, v))(grid) for v in (0.01, 0.09)]
    assert min(s.min() for s in scores) < -2.0
    assert max(s.max() for s in scores) > 2.0
    assert example.standard().decision_function(grid).min() < -1.5  # of the plain SVM neither


def test_hlr_relative_errors_mix_fractions_and_per_cent() -> None:
    """House prices lie in [5, 50]; so MAE / 50 <= MRE <= MAE / 5, which tells the unit of each entry."""
    uci = importlib.import_module("huber_uci")
    low, high = 5.0, 50.0
    for method, (mae, _, mre) in uci.PAPER["House"].items():
        fraction = mae / high <= mre <= mae / low
        per_cent = mae / high <= mre / 100 <= mae / low
        assert fraction != per_cent
        assert fraction == (method in ("HLR", "GPR"))
