"""The work of a candidate: rows, features and passes, never the clock, so that a choice repeats itself.

A pass of EM costs about rows x features^3 for each Gaussian that a row sees; a pass of a linear solver
rows x features^2 for each hyperplane (rows x 10 features where there are too many for Newton's method). What
its budget allows is the passes that each fit of a candidate may make, its `max_iter`; a fit that ends there
says so, with its gap, and is judged by held-out rows like all others.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from sklearn.pipeline import Pipeline

from .._estimators.discriminant import GaussianDiscriminant
from .._estimators.gsu import GSUClassifier, GSURegressor
from ..exceptions import UncertainError
from ..laws.linear import GaussianMixtureRegressor
from ..preprocessing import GaussianDenoiser, GaussianImputer

EM_WORK, LINEAR_WORK = 5e10, 1e11
"""Of the fits of a candidate: some ten seconds of one processor, or a minute at worst."""
FITS = 4
"""Of a candidate, about: folds and all rows."""
LEAST, MOST = 10, {"em": 1_000, "linear": 500}
"""Passes of a fit: fewer find nothing, and more are not made anyway."""
PATH_WORK, LEAST_PATH, MOST_PATH = 2e9, 500, 2e10
"""Of a path of penalties, the rows it has at least, and the work beyond which there is none."""
ROWS_OF_CLASS = 100
"""Rows of a path for each of several classes, where that is more than the least. That no plane tells a class
from all others the solver finds out in 20 to 60 passes, with every penalty; 500, 1,000 and 3,000 rows of six
classes choose equally well (benches/python/path_rows.py)."""
MOST_ANSWERS = 50_000_000
"""Probabilities of all rows: rows x classes."""
PASSES_OF_PATH = 13 * 5 * 8
"""For each hyperplane: penalties, folds, and passes from the solution of the penalty before."""
NEWTON = 300
"""Features up to which a solver makes Hessians."""
PROBABILITIES = 6
"""Fits of a hyperplane with probabilities."""


EM = (GaussianDenoiser, GaussianImputer, GaussianDiscriminant, GaussianMixtureRegressor)
LINEAR = (GSUClassifier, GSURegressor)


class Size(NamedTuple):
    """Of a table, as fits see it."""

    rows: int
    features: int
    classes: int
    """0 of numbers."""

    @property
    def columns(self) -> float:
        """What a row costs in a pass of a linear solver."""
        return float(self.features) ** 2 if self.features <= NEWTON else 10.0 * self.features

    @property
    def hyperplanes(self) -> int:
        return self.classes if self.classes > 2 else 1

    @property
    def linear_pass(self) -> float:
        """Of a linear solver, of all hyperplanes and their probabilities."""
        return self.rows * self.columns * self.hyperplanes * (PROBABILITIES if self.classes else 1)


def with_passes(pipeline: Pipeline, size: Size) -> Pipeline:
    """The unfitted pipeline with as many passes as its steps may make."""
    for _, step in pipeline.steps:
        if isinstance(step, EM):
            most, allowed = MOST["em"], EM_WORK / _em_pass(step, size)
        elif isinstance(step, LINEAR):
            most, allowed = MOST["linear"], LINEAR_WORK / size.linear_pass
        else:
            continue
        passes = int(max(LEAST, allowed / FITS))
        if passes < most:
            step.set_params(max_iter=passes)
    return pipeline


def is_limited(pipeline: Pipeline) -> bool:
    """Do some of its steps make fewer passes than the most, so that they may end before they converge?"""
    kinds = {"em": EM, "linear": LINEAR}
    return any(
        isinstance(step, kinds[kind]) and step.max_iter is not None and step.max_iter < most
        for _, step in pipeline.steps
        for kind, most in MOST.items()
    )


def is_too_much(pipeline: Pipeline, size: Size) -> bool:
    """Would even the fewest passes take many times the budget?"""
    return isinstance(pipeline[-1], LINEAR) and LEAST * FITS * size.linear_pass > 3 * LINEAR_WORK


def refuse_too_many(size: Size) -> None:
    """UncertainError where so many rows have so many classes that nothing can be compared."""
    if size.rows * size.classes > MOST_ANSWERS:
        raise UncertainError(
            f'{size.classes:,} classes in {size.rows:,} rows are too many for method="auto", which compares '
            f"a probability of each class for each row (at most {MOST_ANSWERS:,} together): if the target is "
            'a quantity, pass task="regression"; if it is an identifier, it cannot be predicted; else join '
            'rare classes, or name the method, such as method="discriminant"'
        )


def path_rows(size: Size, most: int) -> int:
    """Rows that a path of alphas may have; 0 if it is too long."""
    if size.hyperplanes > 1:
        most = min(most, max(LEAST_PATH, ROWS_OF_CLASS * size.classes))
    each = PASSES_OF_PATH * size.hyperplanes * size.columns
    rows = int(min(most, max(LEAST_PATH, PATH_WORK / each)))
    return rows if rows * each <= MOST_PATH else 0


def _em_pass(step: Any, size: Size) -> float:
    gaussians = step.n_components if isinstance(step.n_components, int) else step.max_components
    features = size.features + isinstance(step, GaussianMixtureRegressor)
    return size.rows * float(features) ** 3 * gaussians
