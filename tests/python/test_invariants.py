"""What must not change an answer does not: units, origin, order, repetition and precision of the rows.

Every public estimator and transformer is fitted again to rows that say the same in another way, and what it
answers is compared. Where its own definition forbids one of these, the class stands in a table here with the
reason. A class that is made public fails until its answers agree, or until it stands there.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
from everything import SUBJECTS, D, N, Subject, agree, moved, rows
from sklearn.utils.validation import has_fit_parameter
from test_sklearn import OF_TABLES
from test_trust import check_answers

from uncertain import (
    AdaptiveHuberRegressor,
    ErrorColumns,
    GaussianArray,
    GaussianCollapser,
    GaussianColumnTransformer,
    GaussianDenoiser,
    GaussianDiscriminant,
    GaussianImputer,
    GaussianLogScaler,
    GaussianScaler,
    KernelMap,
    LinearMap,
    ProbabilisticKernelFeatures,
    ProbabilisticKernelSVC,
    RemeasuredClassifier,
    RemeasuredRegressor,
    RobustSVC,
    SubspaceProjector,
)

Exceptions = list[tuple[type, dict[str, Any], str]]

RANDOM_BY_FEATURE: Exceptions = [
    (ProbabilisticKernelFeatures, {"n_components": 20}, "frequencies are drawn feature by feature"),
    (ProbabilisticKernelSVC, {"n_components": 20}, "frequencies are drawn feature by feature"),
    (RemeasuredClassifier, {}, "copies are drawn row by row, feature by feature"),
    (RemeasuredRegressor, {}, "copies are drawn row by row, feature by feature"),
]
RANDOM_BY_ROW: Exceptions = [
    (RemeasuredClassifier, {}, "copies are drawn row by row, feature by feature"),
    (RemeasuredRegressor, {}, "copies are drawn row by row, feature by feature"),
]
NOT_OF_FEATURES: Exceptions = [
    (GaussianColumnTransformer, {}, "names columns by number"),
    (ErrorColumns, {}, "answers with other columns; test_remeasured.py"),
]
FROM_ZERO: Exceptions = [
    (AdaptiveHuberRegressor, {"kernel": "linear"}, "x'z, without an intercept, has an origin"),
    (KernelMap, {"kernel": "quadratic"}, "(x'z)^2 has an origin"),
    (SubspaceProjector, {"project": "both"}, "projects means towards the origin"),
    (ProbabilisticKernelFeatures, {}, "cosines of w'x have an origin; their inner products have none"),
    (RemeasuredClassifier, {}, "the iterations of its learner, scikit-learn's, want scaled features"),
]
NO_POINT_MODEL: Exceptions = [
    (RobustSVC, {"method": "mpsvc"}, "minimises ratios m / s, which have no limit"),
    (SubspaceProjector, {"project": "both"}, "an exact point has no subspace"),
]
OWN_UNITS: Exceptions = [
    (RemeasuredClassifier, {}, "its learner's penalty counts the sizes of errors, which have no unit"),
    (RemeasuredRegressor, {}, "its learner's penalty counts the sizes of errors, which have no unit"),
    (GaussianColumnTransformer, {}, "its own scaler is in it"),
]
ON_A_LOG_SCALE: Exceptions = [
    (ErrorColumns, {}, "sizes of errors are logarithms, down to a thousandth of the spread"),
    (RemeasuredClassifier, {}, "its learner sees logarithms of sizes, of copies with 32 times the error"),
    (RemeasuredRegressor, {}, "its learner sees logarithms of sizes, of copies with 32 times the error"),
]
FOLLOWS = (
    *(GaussianCollapser, GaussianDenoiser, GaussianImputer, LinearMap, SubspaceProjector),
    GaussianLogScaler,  # which leaves rows alone that are not skewed, as these
)
"""Transformers whose answer has the units and the origin of the rows."""


def excepted(subject: Subject, *tables: Exceptions) -> bool:
    """Does it stand in one of the tables? Parameters that are not named there may be anything."""
    return any(
        issubclass(subject.kind, kind) and parameters.items() <= subject.parameters.items()
        for table in tables
        for kind, parameters, _ in table
    )


def every(*tables: Exceptions, among: Iterable[Subject] = SUBJECTS) -> pytest.MarkDecorator:
    """All subjects that are in none of the tables."""
    found = [pytest.param(s, id=str(s)) for s in among if not excepted(s, *tables)]
    return pytest.mark.parametrize("subject", found)


def question() -> GaussianArray:
    """Rows that no fit has seen."""
    return moved(rows()[:15], shift=0.1)


def spreads(X: GaussianArray) -> Any:
    """Standard deviations, each feature by itself."""
    return np.sqrt(np.diagonal(X.covariances(), axis1=1, axis2=2))


@every(RANDOM_BY_ROW)
def test_the_order_of_rows(subject: Subject) -> None:
    order = np.random.default_rng(1).permutation(N)
    y = subject.targets(3)
    X, Q = rows(3), question()
    expected = subject.answers(subject.fitted(X, y), Q)
    agree(subject.answers(subject.fitted(X[order], y[order]), Q), expected, 1e-6)


@every(RANDOM_BY_FEATURE, NOT_OF_FEATURES)
def test_the_order_of_features(subject: Subject) -> None:
    order = np.array([2, 0, 1])
    y = subject.targets(3)
    X, Q = rows(3), question()
    expected = subject.answers(subject.fitted(X, y), Q)
    found = subject.answers(subject.fitted(moved(X, order=order), y), moved(Q, order=order))
    if subject.kind in (*FOLLOWS, GaussianScaler) or subject.kind in OF_TABLES:
        expected = [expected[0][:, order], *(cov[:, order][:, :, order] for cov in expected[1:])]
    if subject.kind is KernelMap:  # whose axes are its pivots: inner products are what counts
        expected, found = [expected[0] @ expected[0].T], [found[0] @ found[0].T]
    agree(found, expected, 1e-5)


@pytest.mark.parametrize("kind", [GaussianDenoiser, GaussianDiscriminant])
@pytest.mark.parametrize("seed", range(3))
def test_em_in_another_order(kind: type, seed: int) -> None:
    """Where noise hides the truth, accelerated EM stops elsewhere; plain EM agrees to rounding."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(400, 5)) @ rng.normal(size=(5, 5))
    std = 2.0 * np.exp(0.7 * rng.normal(size=z.shape))
    x, y = z + std * rng.normal(size=z.shape), (z.sum(axis=1) > 0).astype(int)
    order, features = rng.permutation(400), rng.permutation(5)

    def likelihood_and_answers(model: Any, features: Any, order: Any) -> tuple[float, Any]:
        model.fit(GaussianArray(x[order][:, features], std=std[order][:, features]), y[order])
        Q = GaussianArray(x[:, features], std=std[:, features])
        if kind is GaussianDiscriminant:
            return model.log_likelihoods_[-1], model.predict_proba(Q)
        return model.log_likelihoods_[-1], model.transform(Q).means[:, np.argsort(features)] / x.std(axis=0)

    for acceleration, within, steps in (("squarem", 0.02, 100), (None, 1e-9, 1e-3)):
        model = kind(acceleration=acceleration, tol=1e-6)
        first, expected = likelihood_and_answers(model, np.arange(5), np.arange(400))
        for other in ((np.arange(5), order), (features, np.arange(400))):
            second, found = likelihood_and_answers(model, *other)
            assert abs(first - second) < steps * model.tol
            np.testing.assert_allclose(found, expected, rtol=0, atol=within)


@every(FROM_ZERO)
def test_a_million_deviations_from_zero(subject: Subject) -> None:
    X, Q, shift = rows(), question(), np.array([1e6, -1e6, 1e6])
    expected = subject.answers(subject.fitted(X), Q)
    found = subject.answers(subject.fitted(moved(X, shift=shift)), moved(Q, shift=shift))
    if subject.kind in FOLLOWS or (found[0].shape[1:] == (D,) and np.abs(found[0]).max() > 1e5):
        found[0] = found[0] - shift
    if subject.kind is ErrorColumns:
        found[0][:, :D] -= shift
    agree(found, expected, 2e-3)


@every(OWN_UNITS, among=[s for s in SUBJECTS if s.kind not in OF_TABLES])
@pytest.mark.parametrize("c", [1e-3, 1e5])
def test_another_unit(subject: Subject, c: float) -> None:
    """All features times c, and the penalty or the bandwidth as the definition of the model says."""
    X, Q = rows(), question()
    changed = in_units(subject, c)
    expected = subject.answers(subject.fitted(X), Q)
    found = subject.answers(subject.fitted(moved(X, c), changed=changed), moved(Q, c))
    scales = [c, c**2] if subject.kind in FOLLOWS else [1.0, 1.0]
    if subject.parameters.get("kernel") == "quadratic":
        scales = [c**2, c**4]
    if subject.kind is ErrorColumns:
        found[0][:, :D] /= c
    agree([a / s for a, s in zip(found, scales, strict=False)], expected, 1e-5)


def in_units(subject: Subject, c: float) -> dict[str, Any]:
    """Parameters under which rows in a unit 1 / c as large mean the same."""
    values = subject.made().get_params()
    if "sigma" in values:
        return {"sigma": c * values["sigma"]}
    if values.get("kernel") != "linear":
        return {}
    if "scale_features" in values:
        return {"alpha": c**2 * values["alpha"], "scale_features": False}
    if "alpha" in values:
        return {"alpha": c**2 * values["alpha"]}
    return {"C": values["C"] / c**2}


@every(among=[s for s in SUBJECTS if s.kind not in OF_TABLES])
def test_units_behind_a_scaler(subject: Subject) -> None:
    """Each feature times 10^k by itself, and all: nothing changes, to rounding."""
    X, Q = rows(), question()
    expected = subject.answers(subject.fitted(X, before=GaussianScaler()), Q)
    for k in (-12, -7, -3, 3, 7, 12):
        for columns in ([k % D], range(D)):
            scale = np.where(np.isin(np.arange(D), columns), 10.0**k, 1.0)
            model = subject.fitted(moved(X, scale), before=GaussianScaler())
            agree(subject.answers(model, moved(Q, scale)), expected, 1e-6)


@every()
def test_one_feature_in_an_odd_unit(subject: Subject) -> None:
    """Without a scaler: numbers, or a refusal."""
    slow = subject.parameters.get("method") in ("ausvc", "mpsvc")
    for k in (12,) if slow else (-150, -12, -6, 6, 12, 150):
        scale = np.array([1.0, 10.0**k, 1.0])
        X = moved(rows(), scale)
        try:
            model = subject.fitted(X, changed={"tol": 1e-4} if "tol" in subject.made().get_params() else {})
        except ValueError:
            continue
        check_answers(model, subject.given(moved(question(), scale)))


@every(
    RANDOM_BY_ROW, among=[s for s in SUBJECTS if has_fit_parameter(s.kind(**s.parameters), "sample_weight")]
)
def test_a_row_twice_is_weight_two(subject: Subject) -> None:
    weights = np.where(np.arange(N) % 4 == 0, 2.0, 1.0)
    weights[1::9] = 0.0
    twice = np.repeat(np.arange(N), weights.astype(int))
    y = subject.targets(3)
    X, Q = rows(3), question()
    expected = subject.answers(subject.fitted(X[twice], y[twice]), Q)
    found = subject.answers(subject.fitted(X, y, sample_weight=weights), Q)
    agree(found, expected, 1e-6)


@every()
def test_single_precision_is_read_as_it_is(subject: Subject) -> None:
    """float32 rows are used as they are stored, and give the bits of the same numbers in float64."""
    X, Q = rows(), question()
    narrow = {"means": X.means.astype(np.float32), "std": spreads(X).astype(np.float32)}
    single = GaussianArray(**narrow)
    double = GaussianArray(**{name: values.astype(float) for name, values in narrow.items()})
    assert single.dtype != double.dtype
    asked = GaussianArray(Q.means.astype(np.float32), std=spreads(Q).astype(np.float32))
    found = subject.answers(subject.fitted(single), asked)
    agree(found, subject.answers(subject.fitted(double), asked.astype(float)), 0.0)


@every(NO_POINT_MODEL)
def test_small_errors_are_nearly_none(subject: Subject) -> None:
    """S -> 0 tends to the model of exact points, as covariances of zero and as a plain array."""
    X, Q = rows(), question()
    expected = subject.answers(subject.fitted(GaussianArray(X.means)), GaussianArray(Q.means))
    for size, within in ((1e-3, 1e-2), (1e-8, 1e-5), (1e-200, 1e-6)):
        if size > 1e-8 and excepted(subject, ON_A_LOG_SCALE):
            continue
        small = [GaussianArray(a.means, cov=size**2 * a.covariances()) for a in (X, Q)]
        found = subject.answers(subject.fitted(small[0]), small[1])
        agree(found, expected, within)
    plain = subject.fitted(GaussianArray(X.means), changed={}) if subject.kind in OF_TABLES else None
    if plain is None:
        plain = subject.made().fit(X.means.copy(), subject.targets())
    agree(subject.answers(plain, GaussianArray(Q.means)), expected, 0.0)


def test_no_exception_is_left_over() -> None:
    """Every line of the tables is of a subject that exists."""
    tables = [RANDOM_BY_FEATURE, RANDOM_BY_ROW, NOT_OF_FEATURES, FROM_ZERO, NO_POINT_MODEL, OWN_UNITS]
    for table in [*tables, ON_A_LOG_SCALE]:
        for line in table:
            assert any(excepted(subject, [line]) for subject in SUBJECTS), line
