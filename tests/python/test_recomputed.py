"""Every public estimator and transformer computed again from its definition in NumPy: objectives,
likelihoods, gaps, answers. One that is made public fails here until its formulas stand in a function
below."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest
from catalogues import KINDS, of_kind
from oracles import (
    D,
    Floats,
    N,
    check_bound,
    least,
    log_density,
    log_likelihood,
    positive_part,
    posterior,
    problem,
    roots,
    score,
    squared_positive_part,
)
from scipy.special import logsumexp
from sklearn.base import is_classifier, is_regressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.preprocessing import StandardScaler
from test_sklearn import ESTIMATORS, OF_TABLES

import uncertain

COVERED: set[type] = {
    *(
        uncertain.AdaptiveHuberClassifier,
        uncertain.AdaptiveHuberRegressor,
    ),  # test_huber.py: a convex solver's minima
    uncertain.MinimaxProbabilityClassifier,  # test_robust.py: those of the cone program
    *(uncertain.ProbabilisticKernelSVC, uncertain.ProbabilisticKernelSVR),  # test_kernel_svm.py: LIBSVM's
    uncertain.laws.GeneralizedLinearLaw,  # test_laws.py: integrals over true features
}
"""Those that another file compares with another program."""
X, CODES, WEIGHTS = problem()
SIGNS = 2.0 * CODES - 1.0
TARGETS = np.sin(2 * X.means[:, 0]) + 0.1 * np.arange(N) % 3
SHARES = WEIGHTS / WEIGHTS.sum()
NEW = uncertain.GaussianArray(X.means[:9] + 0.3, cov=X.covariances()[:9])


def covers(*kinds: type) -> Callable[[Any], Any]:
    """Marks a test as the one of these classes."""
    COVERED.update(kinds)
    return lambda test: test


def fitted(model: Any, *arguments: Any, **known: Any) -> Any:
    """The fit; one that is cut short warns."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(*arguments, **known)


def test_every_estimator_is_computed_again() -> None:
    predict = {kind for kind in ESTIMATORS if kind not in OF_TABLES and hasattr(kind, "predict")}
    left = sorted(kind.__name__ for kind in predict - COVERED)
    assert not left, f"write a test marked @covers({', '.join(left)}) with the formulas of their docstrings"


def check_linear(model: Any, k: int = 0) -> None:
    """Scores of new rows are N(w'x + b, w'S w)."""
    mean, std = score(np.atleast_2d(model.coef_)[k], np.atleast_1d(model.intercept_)[k], NEW)
    if is_regressor(model):
        found = model.predict(NEW, return_std=True)
        np.testing.assert_allclose(model.predict(NEW), mean, atol=1e-12)
    else:
        found = model.decision_distribution(NEW)
        np.testing.assert_allclose(model.decision_function(NEW), mean, atol=1e-12)
        np.testing.assert_array_equal(model.predict(NEW), model.classes_[(mean > 0).astype(int)])
    np.testing.assert_allclose(found, (mean, std), atol=1e-12)


CLASS_LOSSES = {
    "expected_hinge": positive_part,
    "hinge": lambda d, s: np.maximum(d, 0.0),
    "squared_hinge": squared_positive_part,
}


@pytest.mark.parametrize(("mean", "power"), [(positive_part, 1), (squared_positive_part, 2)])
def test_expected_losses_are_means_over_draws(mean: Any, power: int) -> None:
    draws = np.maximum(0.0, np.random.default_rng(0).normal(0.3, 0.8, 400_000)) ** power
    found = float(mean(np.array(0.3), np.array(0.8)))
    assert found == pytest.approx(draws.mean(), abs=5 * draws.std() / 400_000**0.5)


@covers(uncertain.GSUClassifier)
@pytest.mark.parametrize("loss", CLASS_LOSSES)
@pytest.mark.parametrize(
    ("solver", "max_iter", "kind", "fit_intercept"),
    [
        *(("newton", None, kind, True) for kind in KINDS[1:]),
        *[("newton", None, "full", False), ("lbfgs", None, "full", True), ("lbfgs", None, "low-rank", False)],
        *[("lbfgs", 2, "full", True), ("sgd", 300, "full", True)],
    ],
)
def test_gsu(loss: Any, solver: Any, max_iter: int | None, kind: str, fit_intercept: bool) -> None:
    alpha, rows = 0.01, of_kind(kind, X.means, np.random.default_rng(4))

    def J(wb: Floats) -> float:
        mean, std = score(wb[:D], wb[D] if fit_intercept else 0.0, rows)
        return float(alpha / 2 * wb[:D] @ wb[:D] + SHARES @ CLASS_LOSSES[loss](1 - SIGNS * mean, std))

    options: dict[str, Any] = {"solver": solver, "max_iter": max_iter, "fit_intercept": fit_intercept}
    model = fitted(uncertain.GSUClassifier(alpha, loss=loss, random_state=0, **options), rows, CODES, WEIGHTS)
    wb = np.append(model.coef_[0], model.intercept_[0])
    assert wb[D] == 0.0 or fit_intercept
    # Near zero NumPy's root of w'S w has fewer digits.
    np.testing.assert_allclose(model.objective_, J(wb), rtol=1e-10 if kind == "low-rank" else 1e-12)
    minimum = least(J, wb[: D + fit_intercept], np.zeros(D + fit_intercept))
    check_bound(model.objective_, model.optimality_gap_, minimum)
    assert max_iter or (model.status_ == "converged" and model.optimality_gap_ <= 1e-6)
    check_linear(model)


@covers(uncertain.GSURegressor)
@pytest.mark.parametrize("loss", ["huber", "epsilon_insensitive", "squared"])
@pytest.mark.parametrize("max_iter", [None, 1])
@pytest.mark.parametrize("t", [0.0, 0.3])
def test_gsu_regression(loss: Any, max_iter: int | None, t: float) -> None:
    alpha, delta, epsilon = 0.1, 0.5, 0.2

    def mean_loss(r: Floats, s: Floats) -> Floats:
        if loss == "epsilon_insensitive":
            return positive_part(r - epsilon, s) + positive_part(-r - epsilon, s)
        half = (r**2 + s**2) / 2
        if loss == "squared":
            return half
        # Huber's loss lacks (|r| - delta)^2 / 2 of the square, beyond delta.
        return half - (squared_positive_part(r - delta, s) + squared_positive_part(-r - delta, s)) / 2

    def J(wb: Floats) -> float:
        mean, std = score(wb[:-1], wb[-1], X)
        s = np.sqrt(std**2 + t**2)
        return float(alpha / 2 * wb[:-1] @ wb[:-1] + SHARES @ mean_loss(TARGETS - mean, s))

    model = uncertain.GSURegressor(alpha, loss=loss, delta=delta, epsilon=epsilon, max_iter=max_iter)
    model = fitted(model, X, TARGETS, WEIGHTS, y_std=t)
    wb = np.append(model.coef_, model.intercept_)
    np.testing.assert_allclose(model.objective_, J(wb), rtol=1e-11)
    check_bound(model.objective_, model.optimality_gap_, least(J, wb, np.zeros(D + 1)), 1e-11)
    check_linear(model)


@covers(uncertain.RobustSVC)
@pytest.mark.parametrize("method", ["usvc", "ausvc", "tsvc", "psvm", "mpsvc"])
@pytest.mark.parametrize("options", [{}, {"max_iter": 3}], ids=str)
def test_robust(method: Any, options: dict[str, Any]) -> None:
    C, radius = 0.5, 1.5
    rows = X
    if method == "psvm":
        sizes = np.trace(X.covariances(), axis1=1, axis2=2) / D
        rows = uncertain.GaussianArray(X.means, var=sizes)
    model = fitted(uncertain.RobustSVC(C, method=method, radius=radius, **options), X, CODES, WEIGHTS)
    kept = WEIGHTS > 0

    def J(wb: Floats) -> float:
        mean, std = score(wb[:-1], wb[-1], rows)
        if method == "mpsvc":
            m = SIGNS * mean
            ratio = np.divide(m, std, out=np.full(N, np.inf), where=std > 0)
            return float(WEIGHTS @ np.where(m > 0, 1 / (1 + ratio**2), 1.0))
        reach = np.where(kept, radii, 0.0) * (1 if method in ("usvc", "ausvc") else -1)
        losses = np.maximum(0.0, 1 - SIGNS * mean + reach * std)
        return float(wb[:-1] @ wb[:-1] / 2 + C * WEIGHTS @ losses)

    radii = model.radii_
    wb = np.append(model.coef_[0], model.intercept_[0])
    np.testing.assert_allclose(model.objective_, J(wb), rtol=1e-11)
    minimum = least(J, wb, np.zeros(D + 1))
    if method in ("usvc", "ausvc"):
        check_bound(model.objective_, model.optimality_gap_, minimum)
    else:
        assert np.isnan(model.optimality_gap_)
    check_linear(model)


@covers(uncertain.GaussianDiscriminant)
@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("components", [1, 2])
def test_discriminant(shared: bool, components: int) -> None:
    model = uncertain.GaussianDiscriminant(shared, components, priors=[1, 2], random_state=0)
    model = fitted(model, X, CODES, WEIGHTS)
    laws = [*zip(model.weights_, model.means_, model.covariances_, strict=True)]
    own = np.choose(CODES, [log_likelihood(X, *law) for law in laws])
    np.testing.assert_allclose(model.log_likelihoods_[-1], SHARES @ own, rtol=1e-10)
    np.testing.assert_allclose(model.priors_, [1 / 3, 2 / 3], rtol=1e-12)
    joint = np.log(model.priors_) + np.stack([log_likelihood(NEW, *law) for law in laws], axis=1)
    p = np.exp(joint - logsumexp(joint, axis=1, keepdims=True))
    np.testing.assert_allclose(model.predict_proba(NEW), p, atol=1e-10)
    np.testing.assert_array_equal(model.predict(NEW), model.classes_[p.argmax(axis=1)])


@covers(uncertain.GaussianMixtureRegressor)
@pytest.mark.parametrize("components", [1, 2])
def test_mixture_regression(components: int) -> None:
    t = 0.1 + 0.01 * np.arange(N)
    model = uncertain.GaussianMixtureRegressor(components, random_state=0)
    model = fitted(model, X, TARGETS, sample_weight=WEIGHTS, y_std=t)
    cov = np.zeros((N, D + 1, D + 1))
    cov[:, :D, :D], cov[:, D, D] = X.covariances(), t**2
    joint = uncertain.GaussianArray(np.column_stack([X.means, TARGETS]), cov=cov)

    if components > 1:  # one is a line, fitted by the likelihood of targets given readings
        likelihood = SHARES @ log_likelihood(joint, model.weights_, model.means_, model.covariances_)
        np.testing.assert_allclose(model.log_likelihoods_[-1], likelihood, rtol=1e-9)
    logs, means, variances = [], [], []
    for share, mu, T in zip(model.weights_, model.means_, model.covariances_, strict=True):
        V = T[:D, :D] + NEW.covariances()
        gain = np.linalg.solve(V, np.broadcast_to(T[:D, D, None], (len(NEW), D, 1)))[..., 0]
        logs.append(np.log(share) + log_density(NEW.means, mu[:D], V))
        means.append(mu[D] + np.einsum("ni,ni->n", gain, NEW.means - mu[:D]))
        variances.append(T[D, D] - gain @ T[:D, D])
    p = np.exp(np.array(logs) - logsumexp(logs, axis=0))
    of_parts = [part.T for part in model.predict_mixture(NEW)]
    np.testing.assert_allclose(of_parts, [p, means, np.sqrt(variances)], rtol=1e-8)
    mean = (p * means).sum(axis=0)
    variance = (p * (np.array(variances) + (np.array(means) - mean) ** 2)).sum(axis=0)
    np.testing.assert_allclose(model.predict(NEW), mean, rtol=1e-9)
    np.testing.assert_allclose(model.predict(NEW, return_std=True)[1], np.sqrt(variance), rtol=1e-7)
    if components == 1:
        mu, T = model.means_[0], model.covariances_[0]
        slope = np.linalg.solve(T[:D, :D], T[:D, D])
        np.testing.assert_allclose(model.coef_, slope, rtol=1e-9)
        np.testing.assert_allclose(model.intercept_, mu[D] - slope @ mu[:D], rtol=1e-9, atol=1e-12)


@covers(uncertain.RemeasuredClassifier, uncertain.RemeasuredRegressor)
def test_remeasured() -> None:
    """Without copies it is the learner on the columns of errors; with them, on those and the copies'."""
    columns = uncertain.ErrorColumns().fit(X[WEIGHTS > 0])  # a row of weight 0 is as good as absent
    for model, learner, y in (
        (uncertain.RemeasuredClassifier(LogisticRegression(), n_copies=1), LogisticRegression(), CODES),
        (uncertain.RemeasuredRegressor(Ridge(), n_copies=1), Ridge(), TARGETS),
    ):
        found = model.fit(X, y, WEIGHTS)
        own = learner.fit(columns.transform(X), y, sample_weight=WEIGHTS)
        np.testing.assert_allclose(found.predict(NEW), own.predict(columns.transform(NEW)), rtol=1e-9)
        if is_classifier(found):
            p = own.predict_proba(columns.transform(NEW))
            np.testing.assert_allclose(found.predict_proba(NEW), p, rtol=1e-9)


ROWS, _, ROW_WEIGHTS = problem()
COV = ROWS.covariances()
COMPONENT_SHARES = ROW_WEIGHTS / ROW_WEIGHTS.sum()


def check(found: uncertain.GaussianArray, means: Any, cov: Any, within: float = 1e-12) -> None:
    np.testing.assert_allclose(found.means, means, rtol=0, atol=within)
    np.testing.assert_allclose(found.covariances(), cov, rtol=0, atol=within)


def test_every_transformer_is_computed_again() -> None:
    transform = {kind for kind in ESTIMATORS if hasattr(kind, "transform")}
    left = sorted(kind.__name__ for kind in transform - COVERED)
    assert not left, f"write a test marked @covers({', '.join(left)}) with the formulas of their docstrings"


@covers(uncertain.GaussianLogScaler)
def test_log_scaler() -> None:
    b = np.array([0.7, 0.0, 0.2])[: ROWS.means.shape[1]]
    found = uncertain.GaussianLogScaler(softening=b).fit(ROWS).transform(ROWS)
    d = np.where(b > 0.0, 2.0 * b, 1.0)
    g = lambda x: np.where(b > 0.0, np.arcsinh(x / d), x)  # noqa: E731
    s = np.sqrt(np.diagonal(COV, axis1=1, axis2=2))
    slope = np.where(b > 0.0, 1.0 / np.hypot(ROWS.means, d), 1.0)
    factors = np.where(
        s > 0.0, (g(ROWS.means + s) - g(ROWS.means - s)) / np.where(s > 0.0, 2.0 * s, 1.0), slope
    )
    np.testing.assert_allclose(found.means, g(ROWS.means), rtol=1e-12, atol=1e-14)
    expected = COV * factors[:, :, None] * factors[:, None, :]
    np.testing.assert_allclose(found.covariances(), expected, rtol=1e-9, atol=1e-13)


@covers(uncertain.GaussianScaler)
@pytest.mark.parametrize("spread", ["means", "total"])
def test_scaler(spread: Any) -> None:
    m = COMPONENT_SHARES @ ROWS.means
    variance = COMPONENT_SHARES @ (ROWS.means - m) ** 2
    if spread == "total":
        variance = variance + COMPONENT_SHARES @ np.diagonal(COV, axis1=1, axis2=2)
    s = np.sqrt(variance)
    found = uncertain.GaussianScaler(spread=spread).fit(ROWS, sample_weight=ROW_WEIGHTS).transform(ROWS)
    check(found, (ROWS.means - m) / s, COV / s[:, None] / s)


@covers(uncertain.GaussianCollapser)
def test_collapser() -> None:
    check(uncertain.GaussianCollapser().fit_transform(ROWS), ROWS.means, 0 * COV)
    sizes = np.trace(COV, axis1=1, axis2=2) / D
    check(
        uncertain.GaussianCollapser("isotropic").fit_transform(ROWS),
        ROWS.means,
        sizes[:, None, None] * np.eye(D),
    )
    check(uncertain.GaussianCollapser("diagonal").fit_transform(ROWS), ROWS.means, COV * np.eye(D))


@covers(uncertain.LinearMap)
def test_linear_map() -> None:
    A = np.array([[1.0, 0.5, 0.0], [-1.0, 2.0, 3.0]])
    check(uncertain.LinearMap(A).fit_transform(ROWS), ROWS.means @ A, A.T @ COV @ A)


@covers(uncertain.SubspaceProjector)
@pytest.mark.parametrize("project", ["covariance", "both"])
def test_subspaces(project: Any) -> None:
    share = 0.8
    values, vectors = np.linalg.eigh(COV)
    means, cov = ROWS.means.copy(), np.zeros_like(COV)
    for i in range(N):
        order = np.argsort(-values[i])
        reached = np.cumsum(values[i][order]) / max(values[i].sum(), 1e-300)
        keep = order[: 1 + int(np.sum(reached <= share))] if values[i].sum() > 0 else order[:0]
        U = vectors[i][:, keep]
        cov[i] = U * values[i][keep] @ U.T
        if project == "both":
            means[i] = U @ U.T @ means[i]
    check(uncertain.SubspaceProjector(share, project=project).fit_transform(ROWS), means, cov)


@covers(uncertain.GaussianDenoiser, uncertain.GaussianImputer)
@pytest.mark.parametrize("components", [1, 2])
def test_denoiser(components: int) -> None:
    model = uncertain.GaussianDenoiser(components, random_state=0).fit(ROWS, sample_weight=ROW_WEIGHTS)
    mixture = (model.weights_, model.means_, model.covariances_)
    likelihoods = log_likelihood(ROWS, *mixture)
    np.testing.assert_allclose(model.score_samples(ROWS), likelihoods, rtol=1e-10)
    np.testing.assert_allclose(model.log_likelihoods_[-1], COMPONENT_SHARES @ likelihoods, rtol=1e-10)
    check(model.transform(ROWS), *posterior(ROWS, *mixture), within=1e-10)


def test_imputer() -> None:
    missing = np.zeros((N, D), dtype=bool)
    missing[::4, 1] = missing[1::6, 0] = True
    rows = uncertain.Incomplete(ROWS, missing)
    model = uncertain.GaussianImputer().fit(rows)
    mu, T = model.means_[0], model.covariances_[0]
    means, cov = ROWS.means.copy(), COV.copy()
    for i in range(N):
        m, o = np.flatnonzero(missing[i]), np.flatnonzero(~missing[i])
        if not m.size:
            continue
        gain = T[np.ix_(m, o)] @ np.linalg.inv(T[np.ix_(o, o)] + COV[i][np.ix_(o, o)])
        means[i, m] = mu[m] + gain @ (ROWS.means[i, o] - mu[o])
        cov[i, m, :] = cov[i, :, m] = 0.0
        cov[i][np.ix_(m, m)] = T[np.ix_(m, m)] - gain @ T[np.ix_(o, m)]
    check(model.transform(rows), means, cov)


@covers(uncertain.KernelMap)
@pytest.mark.parametrize("kernel", ["rbf", "quadratic", "polynomial", "linear"])
def test_kernel_map(kernel: Any) -> None:
    """Inner products of means and of J S^(1/2), as kernel and derivatives give them (MATH: extended Gram)."""
    gamma, coef0 = 0.3, 0.5
    model = uncertain.KernelMap(kernel, gamma=gamma, degree=2, coef0=coef0, tol=1e-12, max_rank=None).fit(
        ROWS
    )
    x, half = ROWS.means, roots(COV)
    dot = x @ x.T
    if kernel == "rbf":
        off = x[:, None] - x[None]
        K = np.exp(-gamma * (off**2).sum(axis=-1))
        second = (2 * gamma * np.eye(D) - 4 * gamma**2 * off[..., :, None] * off[..., None, :]) * K[
            ..., None, None
        ]
    else:
        scale = {"quadratic": 1.0, "polynomial": gamma, "linear": 1.0}[kernel]
        if kernel == "linear":
            K, one, two = dot, np.ones((N, N)), np.zeros((N, N))
        else:
            inner = scale * dot + (coef0 if kernel == "polynomial" else 0.0)
            K, one, two = inner**2, 2 * inner, np.full((N, N), 2.0)
        # K = h(s x'z): d2 K / dx dz' = s h' I + s^2 h'' z x'
        outer = x[None, :, :, None] * x[:, None, None, :]
        second = scale * one[..., None, None] * np.eye(D) + scale**2 * two[..., None, None] * outer
    found = model.transform(ROWS)
    np.testing.assert_allclose(found.means @ found.means.T, K, atol=1e-5)
    # tr(C_i C_j) of covariances C = J S J' is the squared norm of S_i^(1/2) d2K S_j^(1/2).
    blocks = half[:, None] @ second @ half[None]
    np.testing.assert_allclose(
        np.einsum("nij,mji->nm", found.covariances(), found.covariances()),
        (blocks**2).sum(axis=(-2, -1)),
        atol=1e-4,
    )


@covers(uncertain.ProbabilisticKernelFeatures)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("coupling", ["shared", "independent"])
def test_features(coupling: Any, kind: str) -> None:
    rows = of_kind(kind, ROWS.means, np.random.default_rng(3))
    model = uncertain.ProbabilisticKernelFeatures(7, sigma=0.8, coupling=coupling, random_state=0).fit(rows)
    w, cov = model.frequencies_, rows.covariances()
    phase, size = rows.means @ w.T, np.ones((N, 7))
    if coupling == "shared":
        phase = phase + np.einsum("rd,nde,re->nr", w, roots(cov), model.noise_)
    else:
        assert model.noise_ is None
        size = np.exp(-np.einsum("rd,nde,re->nr", w, cov, w) / 2)
    expected = np.sqrt(1 / 7) * np.hstack([size * np.cos(phase), size * np.sin(phase)])
    # Zero eigenvalues are zero here; NumPy's roots of them are noise of 1e-8.
    np.testing.assert_allclose(model.transform(rows), expected, atol=1e-7 if "low" in kind else 1e-12)


@covers(uncertain.ErrorColumns)
def test_error_columns() -> None:
    s = np.sqrt(np.diagonal(COV, axis1=1, axis2=2))
    sizes = np.log10(np.maximum(s / ROWS.means.std(axis=0), 1e-3))
    product = s[:, 0] * s[:, 1]
    corr = np.divide(COV[:, 0, 1], product, out=np.zeros(N), where=product > 0)
    found = uncertain.ErrorColumns("correlations").fit_transform(ROWS)
    np.testing.assert_allclose(found, np.column_stack([ROWS.means, sizes, corr]), atol=1e-12)


@covers(uncertain.AsGaussians, uncertain.GaussianColumnTransformer)
def test_columns_of_a_table() -> None:
    s = 0.1 + np.arange(N) / N
    table = pl.DataFrame({"u": ROWS.means[:, 0], "v": ROWS.means[:, 1], "u_err": s, "v_err": 2 * s})
    found = uncertain.AsGaussians(features=["u", "v"], std="{}_err").fit_transform(table)
    check(found, ROWS.means, np.stack([s**2, 4 * s**2], axis=1)[:, :, None] * np.eye(D))
    beside = uncertain.GaussianColumnTransformer(
        [
            ("measured", uncertain.AsGaussians(features=["u"], std="{}_err"), ["u", "u_err"]),
            ("exact", StandardScaler(), ["v"]),
        ]
    ).fit_transform(table)
    means = np.column_stack([ROWS.means[:, 0], StandardScaler().fit_transform(ROWS.means[:, 1:])])
    cov = np.zeros((N, D, D))
    cov[:, 0, 0] = s**2
    check(beside, means, cov)
