"""scikit-learn's own checks, all of them, for every public estimator and transformer.

The list is that of ``uncertain.__all__``: a new estimator is checked as soon as it is public.

Left out are two variants of which scikit-learn asks the impossible: weights are row counts for
``solver="sgd"`` only on average (other rows, other batches), and calibrated probabilities need not be 1/2
where the score is 0, nor exist for the two rows per class that some checks fit (``probability=True``).
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import uncertain
from uncertain import (
    AdaptiveHuberRegressor,
    AsGaussians,
    GaussianArray,
    GaussianCollapser,
    GaussianColumnTransformer,
    GaussianDenoiser,
    GaussianDiscriminant,
    GaussianImputer,
    GaussianScaler,
    GSUClassifier,
    GSURegressor,
    KernelMap,
    ProbabilisticKernelFeatures,
    ProbabilisticKernelSVC,
    RemeasuredClassifier,
    RemeasuredRegressor,
    RobustSVC,
    SubspaceProjector,
)
from uncertain._base.core import Core
from uncertain._uncertain import parameter_names
from uncertain.laws import CurveRegressor, GeneralizedLinearLaw

PUBLIC = [
    value
    for module in (uncertain, uncertain.laws)
    for name in module.__all__
    if isinstance(value := getattr(module, name), type)
]
EVERY_ESTIMATOR = list(dict.fromkeys(value for value in PUBLIC if issubclass(value, BaseEstimator)))
# A law of one's own function has no defaults; test_curves.py checks it with a function for any width.
ESTIMATORS = [kind for kind in EVERY_ESTIMATOR if kind is not CurveRegressor]

VARIANTS: dict[type, list[dict[str, Any]]] = {
    AdaptiveHuberRegressor: [{}, {"kernel": "linear", "max_refinements": 0, "threshold": 0.5}],
    GSUClassifier: [{}, {"solver": "newton"}, {"solver": "lbfgs"}, {"kernel": "rbf"}],
    GSURegressor: [{}, {"loss": "squared", "kernel": "rbf"}],
    GaussianColumnTransformer: [{"transformers": [("scaled", StandardScaler(), [0, 1])]}],
    GaussianCollapser: [{}, {"to": "diagonal"}],
    GaussianDiscriminant: [{}, {"shared_covariance": False}],
    GaussianScaler: [{}, {"spread": "total"}],
    # Without a penalty nothing determines a law of more features than rows, or of classes that a plane
    # separates. Numbers must be counts or > 0, which those of some checks are not: see test_laws.py.
    GeneralizedLinearLaw: [{"alpha": 0.01}, {"alpha": 0.01, "family": "ordinal"}],
    KernelMap: [{}, {"kernel": "quadratic", "max_rank": 2}],
    ProbabilisticKernelFeatures: [{"n_components": 20}],
    ProbabilisticKernelSVC: [
        {},
        {"n_components": 20, "random_state": 0},
    ],
    # Trees of scikit-learn do not take a weight of 2 for a row given twice; 300 of them are slow to check.
    RemeasuredClassifier: [{"estimator": LogisticRegression()}],
    RemeasuredRegressor: [{"estimator": Ridge()}],
    RobustSVC: [
        {},
        *({"method": method} for method in ("tsvc", "ausvc", "mpsvc", "psvm")),
        {"kernel": "rbf"},
    ],
    SubspaceProjector: [{}, {"variance": 0.5, "project": "both"}],
}
"""Parameters to check an estimator with, beside its defaults alone."""


class DenoisedMeans(GaussianDenoiser):
    """A denoiser that answers with an array, for the checks that compare one."""

    def transform(self, X: Any) -> Any:
        return super().transform(X).means.copy()


class ImputedMeans(GaussianImputer):
    """An imputer that answers with an array, for the checks that compare one."""

    def transform(self, X: Any) -> Any:
        return super().transform(X).means.copy()


IN_PLACE_OF = {GaussianDenoiser: DenoisedMeans, GaussianImputer: ImputedMeans}
OF_TABLES = (AsGaussians, GaussianColumnTransformer)
"""What reads columns of a table, which no check of scikit-learn brings; see test_tables.py and
test_preprocessing.py."""


@parametrize_with_checks(
    [
        IN_PLACE_OF.get(kind, kind)(**parameters)
        for kind in ESTIMATORS
        if kind not in OF_TABLES
        for parameters in VARIANTS.get(kind, [{}])
    ]
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
# Checks have more features than rows.
@pytest.mark.filterwarnings("ignore:GaussianMixtureRegressor. the rows do not determine all slopes")
def test_estimator_check(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("kind", [*IN_PLACE_OF, *OF_TABLES])
def test_what_creates_uncertainty_answers_with_gaussians(kind: type) -> None:
    x = np.random.default_rng(0).normal(size=(20, 2))
    estimator = kind(**VARIANTS.get(kind, [{}])[0])
    assert isinstance(estimator.fit(x).transform(x), GaussianArray)


def test_every_estimator_is_public() -> None:
    found, waiting = set(), [BaseEstimator]
    while waiting:
        new = [kind for kind in waiting.pop().__subclasses__() if kind.__module__.startswith("uncertain.")]
        found.update(new)
        waiting += new
    bases = {base for kind in found for base in kind.__mro__[1:]}
    # Averages are made by `uncertain.fit` alone.
    leaves = {kind for kind in found - bases if not kind.__name__.startswith("Stacked")}
    assert leaves <= set(EVERY_ESTIMATOR)


STOCHASTIC = {"averaging", "batch_size", "projection", "step_offset"}
OF_CORE: dict[type, set[str]] = {
    AdaptiveHuberRegressor: {"normalized", "probability"},
    GSURegressor: STOCHASTIC,
    GaussianDiscriminant: {"max_components"},
    GeneralizedLinearLaw: {"profile"},
    uncertain.GaussianMixtureRegressor: {"profile"},
    ProbabilisticKernelSVC: STOCHASTIC,
    RobustSVC: STOCHASTIC,
    uncertain.AdaptiveHuberClassifier: {"normalized"},
}
"""Parameters that the core has and the estimator does not offer, beside ``seed`` and ``folds``."""
OTHER_DEFAULTS = {(KernelMap, "max_rank"), (GeneralizedLinearLaw, "tol")}


@pytest.mark.parametrize("kind", [kind for kind in ESTIMATORS if issubclass(kind, Core) and kind._kinds])
def test_names_and_defaults_are_those_of_the_core(kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    own = set(kind().get_params())
    for name in kind._kinds:
        assert set(parameter_names(name)) - own - {"seed", "folds"} <= OF_CORE.get(kind, set())
    if kind in (RemeasuredClassifier, RemeasuredRegressor):  # whose learner the core does not fit
        return
    x = np.random.default_rng(0).normal(size=(60, 2))
    X, y = GaussianArray(x, std=0.3), (x[:, 0] + np.sin(9 * x[:, 1]) > 0).astype(int)
    fitted = json.loads(kind().fit(X, y)._model.parameters)
    monkeypatch.setattr(kind, "_core_parameters", lambda self: {})
    defaults = json.loads(kind().fit(X, y)._model.parameters)
    assert {name for name in fitted if fitted[name] != defaults[name]} <= {
        "seed",
        *(name for other, name in OTHER_DEFAULTS if other is kind),
    }
