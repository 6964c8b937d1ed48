"""Errata of the papers (papers/*.md list them): what is printed fails a numerical check, what this library
computes passes it. The printed forms are written out here and nowhere else.
"""

import importlib
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import approx_fprime, linprog
from scipy.special import erf, ndtr
from scipy.stats import norm

from uncertain import AdaptiveHuberRegressor, GaussianArray, GSUClassifier, RobustSVC, metrics, uncertainty
from uncertain.losses import expected_hinge

Floats = NDArray[np.float64]
ALPHA = 0.1


class Gsu:
    """The objective of SVM-GSU on a few random rows, in NumPy."""

    def __init__(self, rng: np.random.Generator, n: int = 30, d: int = 3) -> None:
        self.y = np.where(np.arange(n) % 2, 1.0, -1.0)
        self.x = rng.normal(size=(n, d)) + self.y[:, None]
        roots = rng.normal(size=(n, d, d))
        self.S = roots @ roots.swapaxes(1, 2) / d
        self.at = rng.normal(size=d + 1)

    def parts(self, at: Floats) -> tuple[Floats, Floats, Floats]:
        w, b = at[:-1], at[-1]
        d = 1.0 - self.y * (self.x @ w + b)
        Sw = self.S @ w
        return d, np.sqrt(Sw @ w), Sw

    def value(self, at: Floats) -> float:
        d, s, _ = self.parts(at)
        return float(0.5 * ALPHA * at[:-1] @ at[:-1] + expected_hinge(d, s).mean())

    def gradient(self, at: Floats, *, y_in_second_term: bool = True, b_as_printed: bool = False) -> Floats:
        d, s, Sw = self.parts(at)
        y = self.y if y_in_second_term else np.ones_like(self.y)
        spread = (norm.pdf(d / s) / s)[:, None] * Sw
        w_part = ALPHA * at[:-1] + (spread - (y * ndtr(d / s))[:, None] * self.x).mean(axis=0)
        printed = -(erf(d / (np.sqrt(2.0) * s)) + 1.0).mean()
        return np.append(w_part, printed if b_as_printed else -(self.y * ndtr(d / s)).mean())


def test_gsu_equations_7_and_8_lack_factors(rng: np.random.Generator) -> None:
    problem = Gsu(rng)
    truth = approx_fprime(problem.at, problem.value, 1e-7)
    np.testing.assert_allclose(problem.gradient(problem.at), truth, atol=1e-6)
    assert np.abs(problem.gradient(problem.at, y_in_second_term=False) - truth)[:-1].max() > 0.1
    assert abs(problem.gradient(problem.at, b_as_printed=True)[-1] - truth[-1]) > 0.1


def test_gsu_fit_is_where_the_corrected_gradient_vanishes(rng: np.random.Generator) -> None:
    problem = Gsu(rng)
    model = GSUClassifier(ALPHA, tol=1e-12).fit(GaussianArray(problem.x, cov=problem.S), problem.y)
    at = np.append(model.coef_[0], model.intercept_[0])
    assert np.abs(problem.gradient(at)).max() < 1e-5
    assert np.abs(problem.gradient(at, y_in_second_term=False)).max() > 0.1
    assert problem.value(at) == pytest.approx(model.objective_, rel=1e-12)


def test_gsu_loss_vanishes_for_d_to_minus_infinity() -> None:
    assert 0.0 < expected_hinge(-8.0, 1.0) < 1e-15
    assert expected_hinge(8.0, 1.0) == pytest.approx(8.0)


def test_gsu_loss_is_the_paper_form_with_erf(rng: np.random.Generator) -> None:
    d, s = rng.normal(size=50), rng.uniform(0.2, 2.0, size=50)
    wide = np.sqrt(2.0) * s
    paper = d / 2 * (erf(d / wide) + 1.0) + wide / (2.0 * np.sqrt(np.pi)) * np.exp(-((d / wide) ** 2))
    np.testing.assert_allclose(expected_hinge(d, s), paper, rtol=0.0, atol=1e-14)


def test_gsu_step_of_eta_over_k_divides_twice(rng: np.random.Generator) -> None:
    """A mean over k rows does not shrink with k; divided by k once more, the same steps hardly move."""
    problem, k = Gsu(rng, n=200), 50
    best = GSUClassifier(ALPHA).fit(GaussianArray(problem.x, cov=problem.S), problem.y).objective_
    reached = []
    for divisor in (1.0, float(k)):
        at, order = np.zeros(4), np.random.default_rng(1)
        for t in range(1, 61):
            batch = order.integers(0, 200, size=k)
            part = Gsu.__new__(Gsu)
            part.x, part.y, part.S = problem.x[batch], problem.y[batch], problem.S[batch]
            # At w = 0 there is no spread: the first step takes the limit of the gradient.
            if at.any():
                step = part.gradient(at)
            else:
                step = np.append(-(part.y[:, None] * part.x).mean(axis=0), -part.y.mean())
            at = at - step / (ALPHA * (t + 1.0 / ALPHA)) / divisor
        reached.append(problem.value(at) / best - 1.0)
    once, twice = reached
    assert once < 0.02 < 0.1 < twice, (once, twice)


def test_a_standard_error_is_sigma_by_root_n(rng: np.random.Generator) -> None:
    sigma, n = 3.0, 25
    means = rng.normal(scale=sigma, size=(20_000, n)).mean(axis=1)
    assert means.std() == pytest.approx(sigma / np.sqrt(n), rel=0.02)
    se = means.std()
    spread = uncertainty.from_standard_errors([[0.0]], [[se]], n, rule="population").trace()[0]
    assert spread == pytest.approx(sigma**2, rel=0.04)
    assert abs(n * se / sigma**2 - 1.0) > 0.5  # what sigma^2 would be if s were sigma^2 / N


@pytest.fixture
def huber(rng: np.random.Generator) -> dict[str, Any]:
    """A fit with one view, a dense graph and unlabelled rows; its kernel and Laplacian."""
    n, labelled = 12, 8
    x = rng.normal(size=(n, 2))
    weights = np.exp(-0.5 * ((x[:, None] - x) ** 2).sum(axis=2))
    np.fill_diagonal(weights, 0.0)
    M = np.diag(weights.sum(axis=1)) - weights
    K = np.exp(-0.5 * ((x[:, None] - x) ** 2).sum(axis=2))
    y = np.full(n, np.nan)
    y[:labelled] = rng.normal(size=labelled)
    alpha, gamma, xi = 0.03, 0.2, 0.4
    model = AdaptiveHuberRegressor(
        alpha, gamma, max_refinements=0, threshold=xi, gamma=0.5, graph=M, laplacian=None
    ).fit(x, y)
    return {"K": K, "M": M, "y": y, "w": model.dual_coef_[0], "l": labelled, "terms": (alpha, gamma, xi)}


def test_hlr_equation_7_holds_and_8_exchanges_the_strengths(huber: dict[str, Any]) -> None:
    K, M, y, w, n = (huber[key] for key in ("K", "M", "y", "w", "l"))
    alpha, gamma, xi = huber["terms"]
    residual = (y - K @ w)[:n]
    assert (np.abs(residual) > xi).any() and (np.abs(residual) < xi).any()
    h = np.append(np.clip(residual, -xi, xi), np.zeros(len(w) - n))

    def equation(strength: float, manifold: float, factor: float = 2.0) -> Floats:
        return factor * n * (strength * w + manifold * M @ (K @ w)) - h

    assert np.abs(equation(alpha, gamma)).max() < 1e-10
    assert np.abs(equation(gamma, alpha)).max() > 0.1
    assert np.abs(equation(alpha, gamma, factor=1.0)).max() > 0.1  # the first step of its algorithm


def test_hlr_permuted_coefficients_solve_nothing(huber: dict[str, Any], rng: np.random.Generator) -> None:
    """ "Obtain w by permuting w" is no solution: every permutation has a larger objective."""
    K, M, y, w, n = (huber[key] for key in ("K", "M", "y", "w", "l"))
    alpha, gamma, xi = huber["terms"]

    def objective(w: Floats) -> float:
        f = K @ w
        r = np.abs((y - f)[:n])
        loss = np.where(r <= xi, r**2 / 2, xi * r - xi**2 / 2).mean()
        return float(loss + alpha * w @ f + gamma * f @ M @ f)

    least = objective(w)
    assert all(objective(rng.permutation(w)) > least * 1.001 for _ in range(50))


def test_usvc_algorithm_3_asks_for_what_cannot_be() -> None:
    """Its floor, the mean distance of the rows on the right side, is above what the nearest row can have."""
    x, y = np.array([-2.0, -1.0, 1.0, 2.0]), np.array([-1.0, -1.0, 1.0, 1.0])
    X = GaussianArray(x[:, None], std=1.0)
    first = RobustSVC(C=100.0, method="ausvc").fit(X, y)
    score, spread = first.decision_distribution(X)
    floor = np.full(4, np.mean(y * score / spread))
    # y (w x + b) >= floor with |w| <= 1, in (w, b).
    rows = -y[:, None] * np.column_stack([x, np.ones(4)])
    limits = [(-1.0, 1.0), (None, None)]
    assert not linprog([0.0, 0.0], rows, -floor, bounds=limits).success
    assert linprog([0.0, 0.0], rows, -0.1 * y * score / spread, bounds=limits).success
    model = RobustSVC(C=100.0, method="mpsvc", polish=False).fit(X, y)
    assert metrics.mpe(model, X, y) <= metrics.mpe(first, X, y) * (1 + 1e-9)


sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "papers"))


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
