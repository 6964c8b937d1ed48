"""The methods of the SVM-GSU paper, each with the parameters that its search tries.

All see the same rows N(x_i, S_i) and differ in what they make of S_i:

    linear SVM        S_i -> 0
    Power SVM         S_i -> (tr S_i / d) I, best-case hinge (RobustSVC(method="psvm"), radius 1)
    isotropic         S_i -> (tr S_i / d) I, expected hinge
    SVM-GSU           S_i,                   expected hinge
    GSU, subspaces    the leading eigenpairs of S_i that hold a share p of its trace, expected hinge
    GSU, literal      the same, and every mean replaced by its projection on its own row's subspace

A search is scikit-learn's GridSearchCV over alpha (and p); C of the Power SVM is 1 / (alpha n), the same
penalty. Held-out and test rows are classified by their means, which are scaled but never projected.
"""

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import accuracy_score
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer

from uncertain import GaussianArray, GaussianScaler, GSUClassifier, RobustSVC, SubspaceProjector

LSVM, POWER, ISO, GSU, SUBSPACE, LITERAL = (
    "linear SVM",
    "Power SVM",
    "isotropic",
    "SVM-GSU",
    "GSU, subspaces",
    "GSU, literal",
)
FOUR = (LSVM, POWER, ISO, GSU)
ALL = (*FOUR, SUBSPACE)
KINDS = {LSVM: "zero", POWER: "isotropic", ISO: "isotropic"}
PROJECTS = {SUBSPACE: "covariance", LITERAL: "both"}

Score = Callable[[NDArray[Any], NDArray[Any]], float]


def collapsed(rows: Any, to: Any) -> Any:
    return rows.collapse(to) if isinstance(rows, GaussianArray) else rows


def search(
    method: str,
    data: GaussianArray,
    y: NDArray[Any],
    *,
    alphas: Sequence[float],
    shares: Sequence[float] = (0.5, 0.9, 1.0),
    folds: Any = 5,
    seed: int = 0,
    scale: bool = False,
    score: Score = accuracy_score,
    settings: Mapping[str, Any] | None = None,
) -> GridSearchCV:
    """The method fitted to the rows with the parameters that do best on held-out folds (a number, or splits).

    settings: further parameters of the classifier.
    """
    steps: list[tuple[str, Any]] = [("scale", GaussianScaler())] if scale else []
    grid: dict[str, Any] = {"svm__alpha": list(alphas)}
    model: Any = GSUClassifier(n_jobs=1, **(settings or {}))
    if method in KINDS:
        steps.append(("covariance", FunctionTransformer(collapsed, kw_args={"to": KINDS[method]})))
    if method in PROJECTS:
        steps.append(("covariance", SubspaceProjector(project=PROJECTS[method])))
        grid["covariance__variance"] = list(shares)
    if method == POWER:
        model = RobustSVC(method="psvm", n_jobs=1, **(settings or {}))
        grid = {"svm__C": [1.0 / (alpha * len(y)) for alpha in alphas]}
    if isinstance(folds, int):
        folds = list(StratifiedKFold(folds, shuffle=True, random_state=seed).split(np.zeros(len(y)), y))
    searched = GridSearchCV(
        Pipeline([*steps, ("svm", model)]),
        grid,
        cv=folds,
        scoring=lambda fitted, rows, truth: score(truth, predict(fitted, rows)),
    )
    with warnings.catch_warnings():
        # Some corners of a grid stop short of the gap; `worst_gap` says by how much the chosen fit does.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return searched.fit(data, y)


def predict(fitted: Any, rows: Any) -> NDArray[Any]:
    """Labels of the means."""
    return fitted_pipeline(fitted)["svm"].predict(scaled_means(fitted, rows))


def decision(fitted: Any, rows: Any) -> NDArray[np.float64]:
    """Scores of the means."""
    return fitted_pipeline(fitted)["svm"].decision_function(scaled_means(fitted, rows))


def scaled_means(fitted: Any, rows: Any) -> NDArray[np.float64]:
    means = rows.means if isinstance(rows, GaussianArray) else rows
    steps = fitted_pipeline(fitted).named_steps
    return steps["scale"].transform(means) if "scale" in steps else means


def fitted_pipeline(fitted: Any) -> Pipeline:
    return fitted.best_estimator_ if isinstance(fitted, GridSearchCV) else fitted


def unfitted(searched: GridSearchCV, parameters: Mapping[str, Any]) -> Pipeline:
    """The pipeline of a search with other parameters of its grid."""
    return clone(searched.estimator).set_params(**parameters)


def gap(fitted: Any) -> float:
    """Certified relative gap of the final fit; NaN for the Power SVM, whose problem is not convex."""
    return float(np.max(fitted_pipeline(fitted)["svm"].optimality_gap_))
