"""Laws between true values whose readings are mixtures: against likelihoods by quadrature and by SciPy."""

import warnings
from typing import Any

import numpy as np
import pytest
from everything import SUBJECTS, Subject, rows
from scipy.optimize import minimize
from scipy.special import expit, gammaln
from scipy.stats import norm
from sklearn.base import clone
from test_sklearn import OF_TABLES

import uncertain
from uncertain.laws import CurveRegressor, GeneralizedLinearLaw, LinearLaw

N = 150
ONES = np.ones(N)


def truths(n: int = N) -> np.ndarray:
    return np.random.default_rng(5).normal(size=n)


def mixtures(n: int = N) -> uncertain.MixtureArray:
    """Readings of one feature with one, two and three components in turn."""
    random = np.random.default_rng(6)
    counts = 1 + np.arange(n) % 3
    offsets = np.concatenate([[0], np.cumsum(counts)])
    weights = np.concatenate([random.dirichlet(np.full(k, 3.0)) for k in counts])
    std = random.uniform(0.2, 0.6, offsets[-1])
    means = np.repeat(truths(n), counts) + std * random.normal(size=offsets[-1]) + 0.4
    return uncertain.MixtureArray(weights, means[:, None], std=std[:, None], offsets=offsets)


def deviations(X: uncertain.MixtureArray) -> np.ndarray:
    return np.sqrt(X.components.covariances().ravel())


def in_halves(X: uncertain.GaussianArray) -> uncertain.MixtureArray:
    """The same rows, each as two equal components."""
    n = len(X)
    twice = X[np.repeat(np.arange(n), 2)]
    return uncertain.MixtureArray(np.tile([0.3, 0.7], n), twice, offsets=2 * np.arange(n + 1))


def decay(x: np.ndarray, p: np.ndarray) -> np.ndarray:
    return p[0] * np.exp(p[1] * x)


def targets(family: str) -> np.ndarray:
    random, eta = np.random.default_rng(7), 0.3 + truths()
    if family == "binomial":
        return (random.random(N) < expit(eta)).astype(int)
    if family == "poisson":
        return random.poisson(np.exp(eta))
    return np.exp(0.7 * truths()) + 0.1 * random.normal(size=N)


CASES = {
    "law": (lambda: GeneralizedLinearLaw(), targets("binomial")),
    "curve": (lambda: CurveRegressor(decay, p0=[1.0, 0.5]), targets("curve")),
    "line": (lambda: LinearLaw(), targets("curve")),
}


@pytest.mark.parametrize("case", CASES)
def test_equal_components_are_one(case: str) -> None:
    make, y = CASES[case]
    weights = np.random.default_rng(8).uniform(0.5, 2, N)
    G = mixtures().collapse("gaussian")
    X = in_halves(G)
    plain, mixed = (make().fit(rows, y, sample_weight=weights) for rows in (G, X))
    value = "params_" if case == "curve" else "coef_"
    # A line of Gaussians alone has the degrees of freedom of its scatter, and Newton's last steps.
    rtol = 1e-4 if case == "line" else 1e-7
    np.testing.assert_allclose(getattr(mixed, value), getattr(plain, value), rtol=rtol)
    if case != "line":
        np.testing.assert_allclose(mixed.coef_std_, plain.coef_std_, rtol=1e-5)
        np.testing.assert_allclose(mixed.predict(X), plain.predict(G), rtol=1e-6)


GRID = np.linspace(-9, 9, 6001)


def posterior(
    X: uncertain.MixtureArray, row: int, mean: np.ndarray, var: np.ndarray, share: np.ndarray
) -> np.ndarray:
    """Density of a row's true value on the grid, under the density of all true values."""
    own = X[row]
    of_reading = sum(
        v * norm.pdf(GRID, m, s)
        for v, m, s in zip(own.weights, own.components.means.ravel(), deviations(own), strict=True)
    )
    prior = sum(p * norm.pdf(GRID, m, np.sqrt(t)) for p, m, t in zip(share, mean, var, strict=True))
    return of_reading * prior / np.trapezoid(of_reading * prior, GRID)


@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize("family", ["binomial", "poisson"])
def test_the_likelihood_of_a_law_is_an_integral_over_mixtures(family: str, k: int) -> None:
    X, y = mixtures(), targets(family)
    law = GeneralizedLinearLaw(family, n_components=k, bias_correction=None, random_state=0).fit(X, y)
    eta = law.intercept_ + law.coef_[0] * GRID
    expected, means = 0.0, []
    for row in range(N):
        p = posterior(X, row, law.means_.ravel(), law.covariances_.ravel(), law.weights_)
        if family == "binomial":
            of_target = expit(eta if y[row] else -eta)
            means.append(np.trapezoid(p * expit(eta), GRID))
        else:
            of_target = np.exp(y[row] * eta - np.exp(eta) - gammaln(y[row] + 1))
            means.append(np.trapezoid(p * np.exp(eta), GRID))
        expected += np.log(np.trapezoid(p * of_target, GRID))
    np.testing.assert_allclose(law.loglikelihood_, expected, rtol=1e-6)
    found = law.predict_proba(X)[:, 1] if family == "binomial" else law.predict(X)
    np.testing.assert_allclose(found, means, rtol=1e-6)


def test_the_likelihood_of_a_curve_is_an_integral_over_mixtures() -> None:
    X, y = mixtures(), targets("curve")
    curve = CurveRegressor(decay, p0=[1.0, 0.5]).fit(X, y, y_std=np.full(N, 0.05))
    f = decay(GRID, curve.params_)
    std = np.hypot(0.05, curve.intrinsic_scatter_)
    expected, means = 0.0, []
    for row in range(N):
        p = posterior(X, row, curve.means_.ravel(), curve.covariances_.ravel(), curve.weights_)
        expected += np.log(np.trapezoid(p * norm.pdf(y[row], f, std), GRID))
        means.append(np.trapezoid(p * f, GRID))
    np.testing.assert_allclose(curve.loglikelihood_, expected, rtol=1e-4)
    np.testing.assert_allclose(curve.predict(X), means, rtol=1e-5)


def test_a_line_is_the_maximum_of_the_likelihood_of_mixtures() -> None:
    X, y, t = mixtures(), 2 * truths() - 1 + 1.0 * np.random.default_rng(9).normal(size=N), 0.2
    line = LinearLaw().fit(X, y, y_std=np.full(N, t))
    x, s, first = X.components.means.ravel(), deviations(X), X.offsets[:-1]
    mu, T, each = line.means_[0, 0], line.covariances_[0, 0, 0], np.repeat(np.arange(N), np.diff(X.offsets))
    shares = X.weights * norm.pdf(x, mu, np.sqrt(T + s**2))
    shares /= np.add.reduceat(shares, first)[each]
    m, P = mu + T / (T + s**2) * (x - mu), T * s**2 / (T + s**2)
    centre = np.add.reduceat(shares * m, first)
    spread = np.add.reduceat(shares * (P + (m - centre[each]) ** 2), first)
    there = np.array([line.coef_[0], line.intercept_, line.intrinsic_scatter_])

    def loss(p: np.ndarray) -> float:
        slope, intercept, scatter = p
        own = norm.pdf(y[each], intercept + slope * m, np.sqrt(scatter**2 + t**2 + slope**2 * P))
        counted = np.log((1 / (scatter**2 + t**2 + there[0] ** 2 * spread)).sum())
        return float(counted - np.log(np.add.reduceat(shares * own, first)).sum())

    best = minimize(loss, there, method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-12})
    np.testing.assert_allclose(there, best.x, rtol=1e-5)


def test_predictions_weigh_components_by_what_is_known_of_true_values() -> None:
    X, y = mixtures(), targets("curve")
    model = uncertain.GaussianMixtureRegressor(2, random_state=0).fit(X, y)
    mean, std = model.predict(X, return_std=True)
    for row in range(9):
        moments = np.zeros(3)
        own = X[row]
        for v, m, s in zip(own.weights, own.components.means[:, 0], deviations(own), strict=True):
            for share, mu, T in zip(model.weights_, model.means_, model.covariances_, strict=True):
                V = T[0, 0] + s**2
                centre = mu[1] + T[1, 0] / V * (m - mu[0])
                weight = v * share * norm.pdf(m, mu[0], np.sqrt(V))
                moments += weight * np.array([1, centre, centre**2 + T[1, 1] - T[1, 0] ** 2 / V])
        expected = moments[1:] / moments[0]
        np.testing.assert_allclose(mean[row], expected[0], rtol=1e-9)
        np.testing.assert_allclose(std[row], np.sqrt(expected[1] - expected[0] ** 2), rtol=1e-7)
    levels = model.predict_quantiles(X, [0.1, 0.9])
    assert np.all(levels[:, 0] < mean) and np.all(mean < levels[:, 1])


def test_the_imputer_learns_from_mixtures_and_leaves_them_alone() -> None:
    X = mixtures()
    imputer = uncertain.GaussianImputer().fit(X)
    assert imputer.transform(X) == X
    assert abs(imputer.means_[0, 0] - X.means.mean()) < 0.1


# -- every estimator takes them, or says what to do


MORE = [
    Subject(uncertain.GSUClassifier, {"probability": True}),
    Subject(uncertain.GSUClassifier, {"alpha": "auto"}),
    Subject(uncertain.ProbabilisticKernelSVC, {"probability": True}),
    Subject(GeneralizedLinearLaw, {"n_components": 2}),
    Subject(CurveRegressor, {"curve": lambda x, p: np.exp(p[0] * x[:, 0]), "p0": [0.5]}),
]  # fmt: skip
REFUSED = (uncertain.AdaptiveHuberClassifier, uncertain.AdaptiveHuberRegressor)
TAKEN = [one for one in [*SUBJECTS, *MORE] if one.kind not in (*OF_TABLES, *REFUSED)]
VERBS = ("predict", "predict_proba", "decision_function", "decision_distribution", "transform",
         "predict_quantiles", "score_samples")  # fmt: skip


def fitted(subject: Subject, X: uncertain.GaussianArray) -> Any:
    model = clone(subject.kind(**subject.parameters))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.set_params(**{"random_state": 0} if "random_state" in model.get_params() else {})
        return model.fit(X, subject.targets())


def answers(model: Any, X: uncertain.GaussianArray) -> list[np.ndarray]:
    """All arrays of all answers."""
    found: list[np.ndarray] = []
    for verb in VERBS:
        answer = getattr(model, verb)(X) if hasattr(model, verb) else ()
        for part in answer if isinstance(answer, tuple) else (answer,):
            found += [part.means, part.covariances()] if isinstance(part, uncertain.GaussianArray) else [part]
    return found


@pytest.mark.parametrize("subject", TAKEN, ids=str)
def test_every_estimator_takes_mixtures(subject: Subject) -> None:
    G = rows()
    twice = np.repeat(np.arange(len(G)), 2)
    means = G.means[twice] + 0.3 * np.random.default_rng(0).normal(size=(2 * len(G), 3))
    parts = uncertain.GaussianArray(means, cov=G.covariances()[twice])
    X = uncertain.MixtureArray(np.tile([0.4, 0.6], len(G)), parts, offsets=2 * np.arange(len(G) + 1))
    found = answers(fitted(subject, X), X)
    assert found and all(len(part) == len(G) for part in found)
    assert all(np.isfinite(part).all() for part in found if part.dtype.kind == "f")


@pytest.mark.parametrize("subject", TAKEN, ids=str)
def test_one_component_is_a_gaussian_bit_for_bit(subject: Subject) -> None:
    G = rows()
    X = uncertain.MixtureArray(np.ones(len(G)), G, offsets=np.arange(len(G) + 1))
    plain, mixed = fitted(subject, G), fitted(subject, X)
    for value in ("coef_", "coef_std_", "params_", "covariance_"):
        np.testing.assert_array_equal(getattr(mixed, value, 0.0), getattr(plain, value, 0.0))
    for one, other in zip(answers(plain, G), answers(mixed, X), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("kind", REFUSED)
def test_the_others_say_what_to_do(kind: Any) -> None:
    with pytest.raises(uncertain.UncertainError, match=r"collapse\(.gaussian.\)"):
        kind().fit(mixtures(), np.arange(N) % 2)


"""Estimators beside those that are public with their defaults."""


@pytest.mark.parametrize(
    ("fit", "message"),
    [
        (lambda X, y: CurveRegressor(decay, p0=[1.0, 0.5], truth="functional").fit(X, y), "structural"),
        (lambda X, y: CurveRegressor(decay, [1, 0.5]).fit(X, y, y_std=ONES, xy_cov=ONES[:, None]), "xy_cov"),
        (lambda X, y: LinearLaw(outliers="student").fit(X, y), "collapse"),
    ],
)  # fmt: skip
def test_what_a_law_of_mixtures_cannot_do_is_refused(fit: object, message: str) -> None:
    with pytest.raises(uncertain.UncertainError, match=message) as refused:
        fit(mixtures(), targets("curve"))  # type: ignore[operator]
    assert 'collapse("gaussian")' in str(refused.value)


# -- what the shape is worth


def test_two_peaks_bring_a_third_of_what_the_truth_would() -> None:
    """Redshifts, of which half have a second peak somewhere else."""
    random = np.random.default_rng(0)
    n, centers, width = 2000, np.array([0.6, 2.2]), 0.25
    kind = random.integers(0, 2, n)
    z = random.normal(centers[kind], width)
    std = random.uniform(0.05, 0.3, n)
    here, elsewhere = z + std * random.normal(size=n), random.uniform(0, 4, n)
    share = np.where(random.random(n) < 0.5, random.uniform(0.4, 0.9, n), 1.0)
    right = random.random(n) < share  # the share of a peak is how often it is the true one
    shares = np.c_[share, 1 - share]
    means = np.c_[np.where(right, here, elsewhere), np.where(right, elsewhere, here)]

    def density(x: np.ndarray, mean: np.ndarray, sd: np.ndarray) -> np.ndarray:
        return np.exp(-(((x - mean) / sd) ** 2) / 2) / sd

    X = uncertain.MixtureArray(shares, means[:, :, None], std=np.c_[std, std][:, :, None])
    total = np.sqrt(width**2 + std**2)[:, None]
    likelihoods = np.stack([(shares * density(means, c, total)).sum(axis=1) for c in centers], axis=1)
    train, test = slice(0, 1000), slice(1000, None)
    of_truth = likelihoods / likelihoods.sum(axis=1, keepdims=True)
    loss = {"truth": -np.log(of_truth[np.arange(n), kind])[test].mean()}
    for name, whole in (("moments", X.collapse("gaussian")), ("shape", X)):
        model = uncertain.GaussianDiscriminant(shared_covariance=False).fit(whole[train], kind[train])
        loss[name] = -np.log(model.predict_proba(whole[test])[np.arange(n - 1000), kind[test]]).mean()
    assert loss["moments"] - loss["shape"] > (loss["moments"] - loss["truth"]) / 3, loss
