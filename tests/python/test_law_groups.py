"""Laws: standard errors by groups against brute force, draws of the estimates, and what laws refuse, with
where and what to do."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from uncertain import GaussianArray, Incomplete, UncertainError
from uncertain.laws import CurveRegressor, GeneralizedLinearLaw, LinearLaw


def in_groups(seed: int, n_groups: int = 40, size: int = 8) -> tuple[np.ndarray, ...]:
    """True feature (the same in a group), its group, and noise of which half is the group's."""
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(n_groups), size)
    z = rng.normal(size=n_groups)[group]
    return z, group, 0.4 * rng.normal(size=n_groups)[group] + 0.4 * rng.normal(size=len(group))


def sandwich(bread: np.ndarray, scores: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """bread (inverse information) and scores, row by row."""
    names = np.unique(groups)
    sums = np.array([scores[groups == name].sum(axis=0) for name in names])
    return len(names) / (len(names) - 1) * bread @ sums.T @ sums @ bread


def differences(log: Callable[[np.ndarray], np.ndarray], at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Scores of the rows, and the information, of row log-likelihoods."""
    p, h = len(at), 1e-4

    def moved(*steps: tuple[int, float]) -> np.ndarray:
        here = at.copy()
        for j, by in steps:
            here[j] += by
        return log(here)

    scores = np.column_stack([(moved((j, h)) - moved((j, -h))) / (2 * h) for j in range(p)])
    second = np.empty((p, p))
    for i in range(p):
        for j in range(p):
            signs = [(a, b) for a in (h, -h) for b in (h, -h)]
            second[i, j] = sum(np.sign(a * b) * moved((i, a), (j, b)).sum() for a, b in signs) / (4 * h * h)
    return scores, -second


def test_of_exact_numbers_it_is_that_of_least_squares() -> None:
    z, group, noise = in_groups(0)
    y = 1 + 2 * z + noise
    A = np.column_stack([np.ones(len(z)), z])
    left = y - A @ np.linalg.lstsq(A, y, rcond=None)[0]
    dense = sandwich(np.linalg.inv(A.T @ A), A * left[:, None], group)
    law = LinearLaw().fit(z[:, None], y, groups=group)
    np.testing.assert_allclose(law.covariance_, dense, rtol=1e-6)
    np.testing.assert_allclose([law.intercept_std_, *law.coef_std_], np.sqrt(np.diag(dense)), rtol=1e-6)
    # Names of groups, and the order of rows, do not matter.
    mixed = np.random.default_rng(0).permutation(len(z))
    other = LinearLaw().fit(z[mixed, None], y[mixed], groups=[f"g{k}" for k in group[mixed]])
    np.testing.assert_allclose(other.covariance_, law.covariance_, rtol=1e-6)

    def line(x: np.ndarray, p: np.ndarray) -> np.ndarray:
        return p[0] + p[1] * x[:, 0]

    kinds: list[Any] = ["functional", "structural"]
    for truth in kinds:
        curve = CurveRegressor(line, [1.0, 2.0], truth=truth).fit(z[:, None], y, groups=group)
        np.testing.assert_allclose(curve.covariance_, dense, rtol=1e-5)
    counts = np.random.default_rng(1).poisson(np.exp(0.3 + 0.5 * z + noise))
    count = GeneralizedLinearLaw("poisson").fit(z[:, None], counts, groups=group)
    mean = np.exp(A @ [count.intercept_, *count.coef_])
    bread = np.linalg.inv(A.T @ (A * mean[:, None]))
    dense = sandwich(bread, A * (counts - mean)[:, None], group)
    np.testing.assert_allclose(count.covariance_, dense, rtol=1e-6)


@pytest.mark.parametrize("weighted", [False, True])
def test_with_errors_in_both_it_is_that_of_the_likelihood(weighted: bool) -> None:
    z, group, noise = in_groups(1)
    rng = np.random.default_rng(1)
    n = len(z)
    s, t = rng.uniform(0.2, 0.5, n), rng.uniform(0.1, 0.3, n)
    x = z + s * rng.normal(size=n)
    y = 1 + 2 * z + noise + t * rng.normal(size=n)
    c = rng.uniform(0.5, 2.0, n) if weighted else np.ones(n)
    X = GaussianArray(x[:, None], std=s[:, None])
    law = LinearLaw().fit(X, y, t, sample_weight=c if weighted else None, groups=group)

    def of_readings(p: np.ndarray) -> np.ndarray:
        """log p(x) by (mu, T)."""
        V = p[1] + s**2
        return -0.5 * ((x - p[0]) ** 2 / V + np.log(2 * np.pi * V))

    def of_targets(p: np.ndarray) -> np.ndarray:
        """log p(y | x) by (alpha, beta, s^2, mu, T)."""
        alpha, beta, variance, mu, T = p
        gain = T / (T + s**2)
        V = variance + t**2 + beta**2 * (T - gain * T)
        return -0.5 * ((y - alpha - beta * (mu + gain * (x - mu))) ** 2 / V + np.log(2 * np.pi * V))

    density = np.array([law.means_[0, 0], law.covariances_[0, 0, 0]])
    at = np.r_[law.intercept_, law.coef_, law.scatter_**2, density]
    c = c * n / c.sum()
    first = differences(of_readings, density)[0]
    both, information = differences(lambda p: c * of_targets(p), at)
    second, given = both[:, :3], both[:, 3:] / c[:, None]
    # The scatter counts degrees of freedom.
    gain = density[1] / (density[1] + s**2)
    V = law.scatter_**2 + t**2 + law.coef_**2 * (density[1] - gain * density[1])
    w = [(c / V**k).sum() for k in (1, 2, 3)]
    H = information[:3, :3]
    H[2, 2] += (c**2).mean() * (2 * w[2] / w[0] - (w[1] / w[0]) ** 2)
    gain = second.T @ given @ np.linalg.inv((c[:, None] * first).T @ first)
    dense = sandwich(np.linalg.inv(H), second - c[:, None] * first @ gain.T, group)
    np.testing.assert_allclose(law.covariance_, dense[:2, :2], rtol=1e-3)
    assert law.intrinsic_scatter_std_ == pytest.approx(np.sqrt(dense[2, 2]) / (2 * law.scatter_), rel=1e-3)
    assert law.intercept_std_ > 1.3 * LinearLaw().fit(X, y, t, sample_weight=c).intercept_std_


CASES: dict[str, Any] = {
    "linear": lambda X, y, groups: LinearLaw().fit(X, y, groups=groups),
    "student": lambda X, y, groups: LinearLaw(outliers="student", degrees_of_freedom=100).fit(
        X, y, groups=groups
    ),
    "lognormal": lambda X, y, groups: GeneralizedLinearLaw("lognormal").fit(X, np.exp(y), groups=groups),
}


@pytest.mark.parametrize("name", CASES)
def test_intervals_are_as_wide_as_they_miss_where_rows_come_in_groups(name: str) -> None:
    """(estimate - truth)^2 / std^2 is 1 to sqrt(2 / 60) in 60 sets: the bounds are four of these."""
    pulls: dict[bool, list[float]] = {True: [], False: []}
    for seed in range(60):
        z, group, noise = in_groups(100 + seed)
        x = z + 0.3 * np.random.default_rng(seed).normal(size=len(z))
        X = GaussianArray(x[:, None], std=np.full((len(x), 1), 0.3))
        for grouped, found in pulls.items():
            low, high = CASES[name](X, 1 + 2 * z + noise, group if grouped else None).conf_int()[0]
            found.append(1.96 * (low + high - 4.0) / (high - low))
    assert np.square(pulls[True]).mean() == pytest.approx(1.0, abs=4 * np.sqrt(2 / 60))
    assert np.square(pulls[False]).mean() > 1 + 4 * np.sqrt(2 / 60)


def test_shared_errors_stay_draws_beside_groups() -> None:
    # With every row a group of its own the sandwich is about the information.
    rng = np.random.default_rng(3)
    n = 600
    survey = np.arange(n) % 3
    modes = 0.5 * (survey[:, None] == np.arange(3))
    x = rng.normal(size=(n, 1))
    y = 1 + 2 * x[:, 0] + modes @ rng.normal(size=3) + 0.2 * rng.normal(size=n)
    own = LinearLaw().fit(x, y, modes=modes, groups=np.arange(n))
    plain = LinearLaw().fit(x, y, modes=modes)
    np.testing.assert_allclose(own.coef_std_, plain.coef_std_, rtol=0.15)
    np.testing.assert_allclose(own.intercept_std_, plain.intercept_std_, rtol=0.05)
    np.testing.assert_allclose(own.modes_std_, plain.modes_std_, rtol=0.05)


def test_few_groups_are_refused() -> None:
    z, group, noise = in_groups(4, n_groups=9, size=20)
    y, X = 1 + 2 * z + noise, z[:, None]
    few = r"at least 10 of them, but the rows are of 9"
    with pytest.raises(UncertainError, match=few):
        GeneralizedLinearLaw("lognormal").fit(X, np.exp(y), groups=group)
    with pytest.raises(UncertainError, match=few):
        LinearLaw(outliers="mixture").fit(X, y, groups=group)
    with pytest.raises(UncertainError, match=few):
        CurveRegressor(lambda x, p: p[0] + p[1] * x[:, 0], [1.0, 1.0]).fit(X, y, groups=group)
    law = LinearLaw().fit(X, y, groups=group)
    np.testing.assert_array_equal(law.predict(X), LinearLaw().fit(X, y).predict(X))
    for ask in (lambda: law.coef_std_, law.conf_int, law.summary, law.sample_posterior):
        with pytest.raises(AttributeError, match="fewer than 10 groups"):
            ask()


def test_draws_have_the_covariance_of_the_estimates() -> None:
    z, group, noise = in_groups(5)
    y, X = 1 + 2 * z + noise, z[:, None]
    laws: list[Any] = [
        LinearLaw().fit(X, y, groups=group),
        LinearLaw(outliers="student").fit(X, y),
        GeneralizedLinearLaw("lognormal").fit(X, np.exp(y)),
        GeneralizedLinearLaw("ordinal").fit(X, np.digitize(y, [0.0, 2.0])),
        CurveRegressor(lambda x, p: p[0] + p[1] * x[:, 0], [1.0, 1.0]).fit(X, y),
    ]
    for law in laws:
        draws = law.sample_posterior(20_000)
        assert draws.shape == (20_000, len(law.covariance_))
        std = np.sqrt(np.diag(law.covariance_))
        np.testing.assert_allclose(
            np.cov(draws.T) / np.outer(std, std), law.covariance_ / np.outer(std, std), atol=0.04
        )
        np.testing.assert_array_equal(draws[:3], law.sample_posterior(20_000)[:3])
        assert np.any(draws[:3] != law.sample_posterior(20_000, random_state=1)[:3])
        with pytest.raises(ValueError, match="n_samples"):
            law.sample_posterior(0)
    assert np.all(laws[2].sample_posterior(1000)[:, 2] > 0)


N = 60
RNG = np.random.default_rng(4)
Z = RNG.normal(size=(N, 2))
S = RNG.uniform(0.2, 0.5, size=(N, 2))
T = RNG.uniform(0.1, 0.3, size=N)
X = GaussianArray(Z + S * RNG.normal(size=(N, 2)), std=S)
SURVEY = np.arange(N)[:, None] % 3 == np.arange(3)
MODES = np.array([0.5, 0.3, 0.4]) * SURVEY
OF_FEATURES = np.stack([0.6 * SURVEY, -0.3 * SURVEY * (np.arange(3) % 2), 0.4 * SURVEY], axis=1)
Y = 1 + Z @ [1.0, -2.0] + np.hypot(0.2, T) * RNG.normal(size=N)
C = np.diag(T**2) + MODES @ MODES.T
ROW_2 = np.arange(N) == 2
GAPS = Incomplete.from_arrays(np.where(np.arange(N)[:, None] == 3, np.nan, X.means), std=0.2)
LIMITS = np.zeros((N, 2), dtype=np.int8)
LIMITS[3, 0] = 1


def plane(x: np.ndarray, p: np.ndarray) -> np.ndarray:
    return p[0] + x @ p[1:]


def curve(**options: Any) -> CurveRegressor:
    return CurveRegressor(plane, np.ones(3), **options)


def twice(x: np.ndarray, p: np.ndarray) -> np.ndarray:
    return np.column_stack([plane(x, p)] * 2)


def equal_bars(*, named: bool = False) -> GaussianArray:
    names = ["mass", "age"] if named else None
    return GaussianArray(X.means, std=np.full((N, 2), 0.5), feature_names=names)


def scaled(rows: Any, y: np.ndarray = Y, *args: Any, **known: Any) -> LinearLaw:
    return LinearLaw(error_scale="features").fit(rows, y, *args, **known)


SPREAD = np.random.default_rng(1).normal(size=(200, 2))
SMALL = 1e-3 * np.exp(0.7 * np.random.default_rng(7).normal(size=(200, 2)))
BARS = np.random.default_rng(0).uniform(0.1, 0.9, (2000, 1))
LESS = GaussianArray(np.random.default_rng(1).normal(size=(2000, 1)) * (1.2 - BARS), std=BARS)
"""Readings that scatter less, the larger their error bars."""
# fmt: off
LINES: list[tuple[str, Callable[[], object]]] = [
    ("shape", lambda: LinearLaw().fit(X, Y, T, modes=MODES[:5])),
    ("shape", lambda: LinearLaw().fit(X, Y, T, modes=MODES[:, 0])),
    ("modes.*finite", lambda: LinearLaw().fit(X, Y, T, modes=np.where(MODES == 0, np.nan, MODES))),
    ("combinations of one another.*column 3",
     lambda: LinearLaw().fit(X, Y, T, modes=np.c_[MODES, MODES[:, 0] - MODES[:, 1]])),
    ("column 3 is 0", lambda: LinearLaw().fit(X, Y, T, modes=np.c_[MODES, np.zeros(N)])),
    ("without modes", lambda: LinearLaw().fit(X, Y, T).predict(X, modes=MODES)),
    ("3 columns", lambda: LinearLaw().fit(X, Y, T, modes=MODES).predict(X, modes=MODES[:, :2])),
    (r"modes: expected the shape \(60, k\).*\(60, 2, k\).*\(60, 3, k\)",
     lambda: LinearLaw().fit(X, Y, T, modes=OF_FEATURES[:, :1])),
    (r"got \(59, 3, 3\)", lambda: LinearLaw().fit(X, Y, T, modes=OF_FEATURES[1:])),
    ("modes: column 1 is 0 in every row", lambda: LinearLaw().fit(X, Y, T, modes=OF_FEATURES * [1, 0, 1])),
    ("modes: columns are combinations", lambda: LinearLaw().fit(X, Y, T, modes=OF_FEATURES[:, :, [0, 0]])),
    ("modes: row 2, feature 0, mode 0 is nan",
     lambda: LinearLaw().fit(X, Y, T, modes=np.where(ROW_2, np.nan, OF_FEATURES.T).T)),
    ("complete rows", lambda: LinearLaw().fit(GAPS, Y, T, modes=OF_FEATURES)),
    (r"y_cov: expected \(60, 60\)", lambda: LinearLaw().fit(X, Y, y_cov=C[1:, 1:])),
    (r"y_cov: expected the shape \(60, 60\)", lambda: LinearLaw().fit(X, Y, y_cov=np.diag(C))),
    ("y_cov: row 0.*finite", lambda: LinearLaw().fit(X, Y, y_cov=np.where(np.eye(N) > 0, np.nan, C))),
    ("y_cov: row 0.*symmetric", lambda: LinearLaw().fit(X, Y, y_cov=np.triu(C))),
    ("y_cov: its smallest eigenvalue", lambda: LinearLaw().fit(X, Y, y_cov=C - np.eye(N))),
    ("y_std: row 0.*diagonal of y_cov", lambda: LinearLaw().fit(X, Y, 3.0, y_cov=C)),
    ("part of y_cov", lambda: LinearLaw().fit(X, Y, y_cov=C, modes=MODES)),
    ("LinearLaw", lambda: curve().fit(X, Y, y_cov=C)),
    ("error_scale", lambda: LinearLaw(error_scale="all").fit(X, Y, T)),
    ("about equal.*from_replicates", lambda: LinearLaw(error_scale="fit").fit(Z, Y, y_std=0.3)),
    ("no error bars", lambda: LinearLaw(error_scale="fit").fit(Z, Y)),
    ("error_scale", lambda: LinearLaw(error_scale="both").fit(X, Y, y_std=0.3)),
    ("feature 0: all error bars are about equal.*from_replicates", lambda: scaled(equal_bars(), Y, T)),
    (r"feature 0 \(mass\)", lambda: scaled(equal_bars(named=True), Y, T)),
    ("feature 1: all error bars are about equal",
     lambda: scaled(GaussianArray(X.means, std=np.c_[S[:, 0], np.full(N, 0.5)]), Y, T)),
    ("feature 1: there are no error bars",
     lambda: scaled(GaussianArray(X.means, std=np.c_[S[:, 0], np.zeros(N)]), Y, T)),
    ("feature 0: there are no error bars", lambda: scaled(Z, Y)),
    ("feature 0: (its error bars differ too little|readings with)",
     lambda: scaled(GaussianArray(SPREAD * (1 + SMALL), std=SMALL), SPREAD[:, 0], 0.1)),
    ("feature 0: readings with larger error bars scatter no more",
     lambda: scaled(LESS, np.random.default_rng(2).normal(size=2000))),
    ("modes=", lambda: scaled(X, Y, T, modes=np.ones((N, 1)))),
    ("xy_cov=", lambda: scaled(X, Y, T, np.full((N, 2), 0.001))),
    ("limits", lambda: scaled(Incomplete.from_arrays(X.means, std=S, limits=LIMITS), Y, T)),
    ("degrees_of_freedom", lambda: LinearLaw(outliers="mixture", degrees_of_freedom=3.0).fit(X, Y)),
    ("degrees_of_freedom", lambda: LinearLaw(outliers="student", degrees_of_freedom=0.2).fit(X, Y)),
    ("n_components", lambda: LinearLaw(2, outliers="student").fit(X, Y)),
    ("outliers", lambda: LinearLaw(outliers="cauchy").fit(X, Y)),
]
CURVES: list[tuple[str, Callable[[], object]]] = [
    (r"expected the shape \(60, k\)", lambda: curve().fit(X, Y, T, modes=MODES[1:])),
    ("column 1 is 0", lambda: curve().fit(X, Y, T, modes=MODES * [1, 0, 1])),
    ("combinations", lambda: curve().fit(X, Y, T, modes=MODES[:, [0, 0]])),
    ("modes of the target.*not of features.*LinearLaw", lambda: curve().fit(X, Y, T, modes=MODES[:, None])),
    ("functional", lambda: curve(truth="functional").fit(X, Y, T, modes=MODES)),
    ("one output", lambda: CurveRegressor(twice, np.ones(3)).fit(X, np.c_[Y, Y], modes=MODES)),
    ("error bars of the target are about equal", lambda: curve(error_scale="both").fit(X, Y, 0.3)),
    ("no error bars", lambda: curve(error_scale="both").fit(X, Y)),
    ("feature 0: there are no error bars", lambda: curve(error_scale="both").fit(Z, Y, T)),
    ("feature 0: all error bars are about equal", lambda: curve(error_scale="both").fit(equal_bars(), Y, T)),
    ("xy_cov=", lambda: curve(error_scale="both").fit(X, Y, T, np.zeros((N, 2)))),
    ("error_scale = .*functional", lambda: curve(truth="functional", error_scale="fit").fit(X, Y, T)),
    ("n_components = 2", lambda: curve(n_components=2, error_scale="features").fit(X, Y, T)),
    ("outliers.*functional", lambda: curve(truth="functional", outliers="mixture").fit(X, Y, T)),
]
TIMES, LAW = np.exp(0.1 * Y), GeneralizedLinearLaw
FAMILIES: list[tuple[str, Callable[[], object]]] = [
    (r"modes: expected the shape \(60, k\)", lambda: LAW().fit(X, Y > 1, modes=MODES[1:, 0])),
    (r"modes: expected the shape .*\(60, 2, k\).*\(60, 3, k\)",
     lambda: LAW().fit(X, Y > 1, modes=OF_FEATURES[:, :1])),
    ("modes: row 2, mode 0 is nan", lambda: LAW().fit(X, Y > 1, modes=np.where(ROW_2, np.nan, MODES.T).T)),
    ("modes: column 1 is 0 in every row", lambda: LAW().fit(X, Y > 1, modes=MODES * [1, 0, 1])),
    ("modes: columns are combinations", lambda: LAW().fit(X, Y > 1, modes=MODES[:, [0, 0]])),
    ("complete rows", lambda: LAW().fit(GAPS, Y > 1, modes=OF_FEATURES)),
    ("n_components=1", lambda: LAW(n_components=2, random_state=0).fit(X, Y > 1, modes=OF_FEATURES)),
    ("jackknife", lambda: LAW(bias_correction="jackknife").fit(X, TIMES > 1, modes=MODES)),
    ("error_scale = .*part of its family",
     lambda: LAW("gamma", error_scale="fit").fit(X, TIMES)),
    ("n_components = 2", lambda: LAW("gamma", n_components=2, error_scale="features").fit(X, TIMES)),
    ("modes=", lambda: LAW("gamma", error_scale="features").fit(X, TIMES, modes=np.ones((N, 1)))),
    ("feature 0: there are no error bars", lambda: LAW("gamma", error_scale="features").fit(Z, TIMES)),
]
# fmt: on


@pytest.mark.parametrize(("words", "fit"), [*LINES, *CURVES, *FAMILIES])
def test_what_a_law_cannot_use_is_refused(words: str, fit: Callable[[], object]) -> None:
    with pytest.raises(UncertainError, match=words):
        fit()


def test_classes_and_counts_have_no_outliers() -> None:
    with pytest.raises(TypeError):
        GeneralizedLinearLaw(outliers="student")  # type: ignore[call-arg]
