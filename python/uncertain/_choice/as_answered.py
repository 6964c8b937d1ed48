"""The CRPS of numbers as a candidate would answer: with the law of widths that its held-out rows choose.

Candidates are ranked by squared errors, which see predictions alone. Where an average would take the place of
a model with a density of its own, as of one with several peaks, that is not enough: an average answers with
normal laws.
"""

from __future__ import annotations

import numpy as np

from .._data.typing import Floats
from .._widths.answers import Answers
from .._widths.spread import feature_widths
from .comparison import Comparison
from .trial import Trial


def crps_of_rows(trial: Trial, comparison: Comparison) -> Floats:
    """Of each row the mean over its readings; NaN for rows that no fold has held out."""
    training = comparison.training
    tests = [fold.test for fold in comparison.folds]
    if training.y_limit is not None:  # of which nobody knows how far a prediction is off
        tests = [test[training.y_limit[test] == 0] for test in tests]
    tested = (
        (model, [rows[test] for rows in comparison.readings], test)
        for model, test in zip(trial.models, tests, strict=True)
        if len(test)
    )
    losses = np.full(len(training), np.nan)
    answers = Answers.from_models(tested, training, feature_widths(trial.models[0], training.rows))
    if answers is not None:
        count = np.bincount(answers.rows, minlength=len(training))
        total = np.bincount(answers.rows, answers.losses(trial.models[0]), minlength=len(training))
        np.divide(total, count, out=losses, where=count > 0)
    return losses
