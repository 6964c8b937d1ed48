"""scikit-learn's own checks, all of them, for every public estimator and transformer."""

from __future__ import annotations

from typing import Any

from sklearn.utils.estimator_checks import parametrize_with_checks

from uncertain.svm import GSUClassifier

ESTIMATORS = [
    GSUClassifier(),
    GSUClassifier(solver="lbfgs"),
    GSUClassifier(solver="sgd", random_state=0),
    GSUClassifier(probability=True, random_state=0),
]


@parametrize_with_checks(ESTIMATORS)
def test_estimator_check(estimator: Any, check: Any) -> None:
    check(estimator)
