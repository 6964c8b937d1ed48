"""What is measured once a model is fitted: how large errors were, and what held-out rows say of it."""

from __future__ import annotations

from dataclasses import replace

from sklearn.pipeline import Pipeline

from .._errors.sizes import ErrorSizes
from .._held_out.fits import FoldModels
from .._rows.training import TrainingRows
from .calibrating import calibrate
from .reader import gaussian_rows
from .remembered import Remembered


def remember(
    pipeline: Pipeline, some: TrainingRows, held_out: FoldModels | None
) -> tuple[float | None, Remembered]:
    """The scatter of a regression, and what later rows are compared with; from rows of the fit.

    `held_out`: models of the folds of a choice.
    """
    some = replace(some, rows=gaussian_rows(some.rows))
    measured = calibrate(pipeline, some, held_out)
    sizes = ErrorSizes.from_rows(some.rows, some.weights)
    return measured.residual_std, Remembered(sizes, measured.spread, measured.conformal, measured.sets)
