"""scikit-learn's own checks, all of them, for every public estimator and transformer.

Left out are two variants of which scikit-learn asks the impossible: weights are row counts for
``solver="sgd"`` only on average (other rows, other batches), and calibrated probabilities need not be 1/2
where the score is 0, nor exist for the two rows per class that some checks fit (``probability=True``).
"""

from __future__ import annotations

from typing import Any

from sklearn.utils.estimator_checks import parametrize_with_checks

from uncertain import (
    AdaptiveHuberClassifier,
    AdaptiveHuberRegressor,
    GaussianDiscriminant,
    GaussianScaler,
    GSUClassifier,
    KernelMap,
    MinimaxProbabilityClassifier,
    ProbabilisticKernelFeatures,
    ProbabilisticKernelSVC,
    RobustSVC,
    SubspaceProjector,
)

ESTIMATORS = [
    AdaptiveHuberClassifier(),
    AdaptiveHuberRegressor(),
    AdaptiveHuberRegressor(kernel="linear", max_refinements=0, threshold=0.5),
    GSUClassifier(),
    GSUClassifier(solver="newton"),
    GSUClassifier(solver="lbfgs"),
    GSUClassifier(kernel="rbf"),
    GaussianDiscriminant(),
    GaussianDiscriminant(shared_covariance=False),
    RobustSVC(),
    RobustSVC(method="tsvc"),
    RobustSVC(kernel="rbf"),
    RobustSVC(method="ausvc"),
    RobustSVC(method="mpsvc"),
    RobustSVC(method="psvm"),
    RobustSVC(solver="clarabel"),
    MinimaxProbabilityClassifier(),
    GaussianScaler(),
    ProbabilisticKernelFeatures(20),
    ProbabilisticKernelSVC(n_components=20, random_state=0),
    ProbabilisticKernelSVC(n_components=200, approximation="nystroem"),
    ProbabilisticKernelFeatures(20, approximation="nystroem"),
    KernelMap(),
    KernelMap("quadratic", max_rank=2),
    SubspaceProjector(),
]


@parametrize_with_checks(ESTIMATORS)
def test_estimator_check(estimator: Any, check: Any) -> None:
    check(estimator)
