"""Arguments of the displays: a fitted estimator with its rows, alone or in a `Model`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, TypeAlias, TypeGuard, cast

from numpy.typing import ArrayLike

from .._data.array import GaussianArray
from .._data.options import refuse_if
from .._data.typing import ColumnOrValues, Estimator, Predictor
from .._data.validation import TableLike
from ..exceptions import ParameterError, ShapeError

Pair: TypeAlias = tuple[int | str, int | str]
"""Two features, by name or number."""
Target: TypeAlias = ColumnOrValues | None


class TableModel(Protocol):
    """A `Model`, whose module is in a higher layer."""

    pipeline_: Estimator
    _drawn: Callable[..., Any]
    """Return the steps behind the columns, rows, labels, and names of features."""
    _law_drawn: Callable[..., Any]
    """Return law, rows, targets without shared errors, their errors and covariances, and names."""


class PlotRows(NamedTuple):
    """An estimator, rows that it takes, their labels and the names of their features."""

    estimator: Estimator
    rows: GaussianArray
    labels: ArrayLike | None
    names: tuple[str, ...] | None

    @classmethod
    def from_arguments(
        cls, estimator: Predictor | TableModel | None, X: TableLike, y: Target = None
    ) -> PlotRows:
        """With a `Model`, labels and names are those of the table's columns; missing values are filled."""
        if is_model(estimator):
            steps, rows, labels, names = estimator._drawn(X, y)
            return cls(steps, rows, labels, tuple(names) or rows.feature_names)
        rows = X if isinstance(X, GaussianArray) else GaussianArray(cast(ArrayLike, X))
        return cls(cast(Estimator, estimator), rows, cast(ArrayLike | None, y), rows.feature_names)

    def pair(self, features: Pair | None) -> tuple[int, int]:
        """Numbers of two features; by default of the only two."""
        d = self.rows.n_features
        if features is None and d != 2:
            names = "" if self.names is None else f", names such as {', '.join(self.names[:4])}"
            advice = f"say which with features=(a, b){names}"
            raise ShapeError(f"data: a picture needs 2 features, got {d}; {advice}")
        numbers = []
        for feature in (0, 1) if features is None else features:
            if isinstance(feature, str):
                if self.names is None or feature not in self.names:
                    names = "none have names" if self.names is None else ", ".join(self.names[:8])
                    raise ParameterError(f"features: there is no feature {feature!r}; {names}")
                feature = self.names.index(feature)
            numbers.append(int(feature))
        wrong = len(numbers) != 2 or numbers[0] == numbers[1] or not all(0 <= j < d for j in numbers)
        refuse_if(wrong, f"features = {features}: must be two different numbers in 0..{d - 1}")
        return numbers[0], numbers[1]

    def axis_names(self, pair: tuple[int, int]) -> list[str] | None:
        """Names of two features, for the axes."""
        return None if self.names is None else [self.names[j] for j in pair]


def is_model(estimator: object) -> TypeGuard[TableModel]:
    """True for a `Model`."""
    return hasattr(estimator, "pipeline_") and hasattr(estimator, "columns_")


def last_step(estimator: object) -> Estimator:
    """Estimator at the end of a `Model` or a pipeline."""
    pipeline = estimator.pipeline_ if is_model(estimator) else cast(Estimator, estimator)
    last: Estimator = pipeline.steps[-1][1] if hasattr(pipeline, "steps") else pipeline
    return last
