"""Plain columns for learners that know no error bars, and the law of their residuals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from arena.answers import Answer, Answering, Numbers, normal, residual_std
from arena.table import Table, Values


def means(table: Table) -> Values:
    """Values, flags of limits, categories as zeros and ones; NaN for gaps."""
    blocks = [table.values]
    if table.limits is not None:
        blocks.append(table.limits.astype(float))
    if table.categories is not None:
        blocks += [(column[:, None] == np.unique(column)).astype(float) for column in table.categories.T]
    return np.hstack(blocks)


def with_errors(table: Table) -> Values:
    """The same, and both arms of what has some."""
    arms = np.hstack([table.below, table.above])[:, np.tile(np.nan_to_num(table.std).any(axis=0), 2)]
    return np.hstack([means(table), np.nan_to_num(arms)])


def plain(*steps: Any) -> Any:
    """Gaps filled by medians, columns scaled, then the steps."""
    return make_pipeline(SimpleImputer(keep_empty_features=True), StandardScaler(), *steps)


def learner(
    classifier: Any, regressor: Any, columns: Callable[[Table], Values]
) -> Callable[[Table], Answering]:
    """A method of an unfitted learner of each kind."""

    def predictions(train: Table) -> Callable[[Table], Values]:
        model = clone(regressor).fit(columns(train), train.y)
        return lambda table: np.asarray(model.predict(columns(table)))

    def fit(train: Table) -> Answering:
        if not train.regression:
            model = clone(classifier).fit(columns(train), np.unique(train.y, return_inverse=True)[1])
            return lambda test, grid: np.asarray(model.predict_proba(columns(test)))
        ask, std = predictions(train), residual_std(predictions, train)

        def answer(test: Table, grid: Values) -> Answer:
            mean = ask(test)
            return Numbers(mean, normal(mean, np.full(len(mean), std), grid))

        return answer

    return fit
