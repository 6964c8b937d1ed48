"""The models that kepler.py compares: ours with and without error bars, and scikit-learn's."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from kepler_catalogue import Catalogue
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedGroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from uncertain import (
    GaussianArray,
    GaussianDenoiser,
    GaussianDiscriminant,
    GaussianScaler,
    GSUClassifier,
    ProbabilisticKernelSVC,
    RemeasuredClassifier,
)

Grid = Mapping[str, Sequence[Any]]


def exact(X: GaussianArray) -> GaussianArray:
    """Without error bars."""
    return X.collapse("zero")


def means(X: GaussianArray) -> NDArray[np.float64]:
    return X.means


def means_and_errors(X: GaussianArray) -> NDArray[np.float64]:
    """The sizes of the error bars as features like others."""
    std = np.sqrt(np.diagonal(X.covariances(), axis1=1, axis2=2))
    return np.hstack([X.means, np.log(std + 1e-6)])


WAYS: dict[str, Callable[[], list[Any]]] = {
    "none": lambda: [FunctionTransformer(exact), GaussianScaler()],
    "spread": lambda: [GaussianScaler()],
    "measurement": lambda: [GaussianDenoiser(), GaussianScaler()],
    "measurement, 5 Gaussians": lambda: [GaussianDenoiser(5, tol=1e-4, random_state=0), GaussianScaler()],
    "in the kernel": lambda: [GaussianScaler()],
    "in the densities": lambda: [GaussianScaler()],
    "none (scikit-learn)": lambda: [FunctionTransformer(means), StandardScaler()],
    "as features": lambda: [FunctionTransformer(means_and_errors), StandardScaler()],
    "re-measured": list,
    "re-measured, x 1 to 4": list,
}
"""What happens to error bars before, or in, the model."""


@dataclass(frozen=True)
class Candidate:
    """A model, a way of treating error bars, and what is searched."""

    model: str
    errors: str
    last: Callable[[bool], Any]
    grid: Grid

    @property
    def label(self) -> str:
        return f"{self.model}; {self.errors}"

    def fitted(self, train: Catalogue, search_rows: int, seed: int, *, probability: bool = True) -> Any:
        """Parameters by three folds of whole stars among some rows (0: the first ones), then a fit to all."""
        if search_rows == 0:
            first = {name: values[0] for name, values in self.grid.items()}
            return self.pipeline(probability).set_params(**first).fit(train.X, train.planet)
        searched = some_stars(train, search_rows, seed)
        folds = StratifiedGroupKFold(3, shuffle=True, random_state=seed)
        search = GridSearchCV(self.pipeline(False), self.grid, cv=folds)
        search.fit(searched.X, searched.planet, groups=searched.star)
        return self.pipeline(probability).set_params(**search.best_params_).fit(train.X, train.planet)

    def pipeline(self, probability: bool) -> Any:
        return make_pipeline(*WAYS[self.errors](), self.last(probability))


def some_stars(rows: Catalogue, at_most: int, seed: int) -> Catalogue:
    """About that many rows, all of any star or none."""
    stars, numbers = np.unique(rows.star, return_inverse=True)
    place = np.random.default_rng(seed).permutation(len(stars))
    # A row is in if its star comes early enough in a random order of stars.
    return rows[place[numbers] < at_most * len(stars) / len(rows)]


def linear(probability: bool) -> GSUClassifier:
    return GSUClassifier(probability=probability, random_state=0)


def bent(probability: bool) -> GSUClassifier:
    return GSUClassifier(kernel="rbf", max_rank=150, tol=1e-3, probability=probability, random_state=0)


def gaussian_kernel(probability: bool) -> ProbabilisticKernelSVC:
    return ProbabilisticKernelSVC(coupling="independent", tol=1e-3, probability=probability, random_state=0)


def discriminant(probability: bool) -> GaussianDiscriminant:
    return GaussianDiscriminant(False, tol=1e-4, random_state=0)


def logistic(probability: bool) -> LogisticRegression:
    return LogisticRegression(max_iter=1000)


def boosting(probability: bool) -> HistGradientBoostingClassifier:
    return HistGradientBoostingClassifier(random_state=0)


def remeasured(probability: bool) -> RemeasuredClassifier:
    return RemeasuredClassifier(random_state=0)


def remeasured_in_range(probability: bool) -> RemeasuredClassifier:
    """For who knows that all errors may grow up to four times: ``uncertain.fit(..., noise=(1, 4))``."""
    return RemeasuredClassifier(factors=(1.0, 4.0), per_feature=0.0, random_state=0)


def forest(probability: bool) -> RandomForestClassifier:
    return RandomForestClassifier(200, min_samples_leaf=2, random_state=0)


def remeasured_forest(probability: bool) -> RemeasuredClassifier:
    grown = RandomForestClassifier(200, min_samples_leaf=8, random_state=0)
    return RemeasuredClassifier(grown, random_state=0)


FAMILIES: list[tuple[str, tuple[str, ...], Callable[[bool], Any], Grid]] = [
    (
        "linear SVM-GSU",
        ("none", "spread", "measurement"),
        linear,
        {"gsuclassifier__alpha": (1e-5, 1e-4, 1e-3, 1e-2)},
    ),
    (
        "SVM-GSU, RBF kernel",
        ("none", "spread", "measurement, 5 Gaussians"),
        bent,
        {"gsuclassifier__alpha": (1e-4, 1e-3), "gsuclassifier__gamma": (0.15, 0.4)},
    ),
    (
        "kernel between Gaussians",
        ("none", "in the kernel", "measurement, 5 Gaussians"),
        gaussian_kernel,
        {"probabilistickernelsvc__C": (1.0, 10.0), "probabilistickernelsvc__sigma": (1.0, 1.7, 3.0)},
    ),
    (
        "Gaussian discriminant",
        ("none", "in the densities"),
        discriminant,
        {"gaussiandiscriminant__n_components": (1, 2, 4, 8)},
    ),
    (
        "logistic regression",
        ("none (scikit-learn)", "as features"),
        logistic,
        {"logisticregression__C": (0.01, 0.1, 1.0, 10.0)},
    ),
    (
        "gradient boosting",
        ("none (scikit-learn)", "as features"),
        boosting,
        {"histgradientboostingclassifier__max_iter": (50, 150)},
    ),
    ("gradient boosting", ("re-measured",), remeasured, {}),
    ("gradient boosting", ("re-measured, x 1 to 4",), remeasured_in_range, {}),
    ("random forest", ("none (scikit-learn)", "as features"), forest, {}),
    ("random forest", ("re-measured",), remeasured_forest, {}),
]

CANDIDATES = [Candidate(model, errors, last, grid) for model, ways, last, grid in FAMILIES for errors in ways]
