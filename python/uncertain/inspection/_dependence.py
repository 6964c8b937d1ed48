"""What a model predicts, on average, if a feature had a given value, read with a given error.

Partial dependence sets a feature of every row to the same value and averages the predictions. A value comes
with an error bar, so one has to be chosen, too: the rows' own ("keep": how the answer changes for rows that
are as noisy as these), none ("zero": for exact readings), or one for all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from numbers import Real
from typing import Literal, cast

import numpy as np
from numpy.typing import ArrayLike

from .._data.array import GaussianArray
from .._data.incomplete import GaussianRows, filled_gaussians, missing_mask
from .._data.numbers import float_array
from .._data.options import check_option
from .._data.typing import Floats, Label, Labels, Predictor
from .._data.validation import TableLike
from .._report.folds import check_counts
from .._rows.sampled import REMEMBERED_ROWS
from ..exceptions import ParameterError, ShapeError, UncertainError
from ._subject import Block, Feature, Subject, replaced, with_means


@dataclass(frozen=True)
class PartialDependence:
    """Predictions of a model over a grid of values of one feature or two."""

    names: tuple[str, ...]
    """The features."""
    grid: tuple[Floats, ...]
    """Their values, one array for each."""
    average: Floats
    """Mean over the rows, shape (outputs, size of each grid)."""
    individual: Floats | None
    """Each row's answers, (outputs, rows, size of each grid); None if only the average was asked for."""
    outputs: tuple[Label, ...]
    """What the outputs are: the class whose probability (or score) it is, or the target of a regression."""


def partial_dependence(
    model: Predictor,
    X: TableLike,
    features: Feature | Sequence[Feature],
    *,
    grid: ArrayLike | Sequence[ArrayLike] | None = None,
    grid_resolution: int = 50,
    percentiles: tuple[float, float] = (0.05, 0.95),
    error: Literal["keep", "zero"] | float = "keep",
    response: Literal["auto", "predict_proba", "decision_function", "predict"] = "auto",
    kind: Literal["average", "individual"] = "average",
    max_rows: int | None = REMEMBERED_ROWS,
) -> PartialDependence:
    """What the model predicts on average if a feature had a given value in every row.

    Parameters
    ----------
    model : a `Model`, or a fitted estimator or pipeline that takes a GaussianArray.
    X : the table (or file) for a `Model`; a GaussianArray or an array of exact points for an estimator.
    features : one feature, or two for a surface, by name or number.
    grid : the values, in the units of the rows; of two features a pair of arrays. By default
        `grid_resolution` evenly spaced values between the `percentiles` of the rows' means (the distinct
        means if they are fewer).
    error : the error bar of the values: "keep" leaves every row its variances and covariances; "zero" makes
        them exact; a number is their standard deviation. With the last two, covariances with the other
        features are zero.
    response : "auto" is the probability where there is one, else the score; of a regression its prediction.
    kind : "individual" also keeps every row's answers (individual conditional expectations).
    max_rows : of a larger table of a `Model` about so many rows are averaged over, drawn by a hash as in
        `Model.report`; a file or query is read once, batch by batch. None: all rows.

    Returns
    -------
    PartialDependence : with `grid`, `average` (outputs, sizes of grids), `individual`, `names` and `outputs`.

    Examples
    --------
    >>> import numpy as np
    >>> from uncertain import GaussianArray, GSURegressor
    >>> from uncertain.inspection import partial_dependence
    >>> rng = np.random.default_rng(0)
    >>> means = rng.normal(size=(200, 2))
    >>> X = GaussianArray(means, std=0.01)
    >>> model = GSURegressor(alpha=1e-6).fit(X, means @ [3.0, 1.0])
    >>> dependence = partial_dependence(model, X, 0, grid=[0.0, 1.0])
    >>> print((dependence.average[0, 1] - dependence.average[0, 0]).round(1))
    3.0
    """
    check_option("kind", kind, ("average", "individual"))
    check_counts(grid_resolution=(grid_resolution, 2))
    subject = Subject.from_arguments(model, X, max_rows=max_rows)
    block = subject.block(features)
    if len(block) > 2:
        raise ParameterError(f"features: one or two, got {len(block)}; a grid of more is not a picture")
    if len(subject.rows) == 0:
        raise UncertainError("X: there are no rows to average over")
    axes = _axes(subject, block, grid, grid_resolution, percentiles)
    std = _error(error)
    answer, outputs = _response(subject, response)
    points = [answer(_moved(subject.rows, block, np.array(point), std)) for point in product(*axes)]
    sizes = tuple(len(axis) for axis in axes)
    if kind == "average":
        averages = np.stack([point.mean(axis=0) for point in points], axis=-1)
        return PartialDependence(
            tuple(subject.names[j] for j in block), axes, averages.reshape(-1, *sizes), None, outputs
        )
    whole = np.stack(points, axis=-1)  # (rows, outputs, points)
    whole = np.moveaxis(whole, 0, 1).reshape(whole.shape[1], whole.shape[0], *sizes)
    return PartialDependence(tuple(subject.names[j] for j in block), axes, whole.mean(axis=1), whole, outputs)


def _moved(rows: GaussianRows, block: Block, values: Floats, std: float | None) -> GaussianRows:
    """The rows with these values of the features; `std` None: with the error bars they have."""
    if std is None:
        return with_means(rows, block, values)
    same = np.broadcast_to(values, (len(rows), len(block)))
    return replaced(rows, block, GaussianArray(same, std=std) if std > 0 else GaussianArray(same))


def _error(error: object) -> float | None:
    if isinstance(error, str):
        check_option("error", error, ("keep", "zero"))
        return None if error == "keep" else 0.0
    if isinstance(error, bool) or not isinstance(error, Real) or not 0 <= float(error) < np.inf:
        raise ParameterError(f'error={error!r}: must be "keep", "zero" or a standard deviation >= 0')
    return float(error)


def _axes(
    subject: Subject,
    block: Block,
    grid: ArrayLike | Sequence[ArrayLike] | None,
    resolution: int,
    percentiles: tuple[float, float],
) -> tuple[Floats, ...]:
    if grid is not None:
        arrays = [grid] if len(block) == 1 else list(cast(Sequence[ArrayLike], grid))
        if len(arrays) != len(block):
            raise ShapeError(f"grid: expected a pair of arrays for two features, got {len(arrays)}")
        axes = tuple(float_array(axis, "grid") for axis in arrays)
        for axis in axes:
            if axis.ndim != 1 or len(axis) == 0:
                raise ShapeError(f"grid: expected one list of values per feature, got shape {axis.shape}")
            if not np.isfinite(axis).all():
                raise UncertainError("grid: values must be finite")
        return axes
    low, high = percentiles
    if not 0 <= low < high <= 1:
        raise ParameterError(
            f"percentiles={percentiles!r}: must be two shares, the lower one first, in [0, 1]"
        )
    return tuple(_axis(subject, j, resolution, (low, high)) for j in block)


def _axis(subject: Subject, j: int, resolution: int, percentiles: tuple[float, float]) -> Floats:
    rows = subject.rows
    means = filled_gaussians(rows).means[~missing_mask(rows)[:, j], j]
    if means.size == 0:
        raise UncertainError(f"feature {subject.names[j]!r} is missing in every row: pass grid=")
    distinct: Floats = np.unique(means)
    if len(distinct) <= resolution:
        return distinct
    low, high = np.quantile(means, percentiles)
    if low == high:
        raise UncertainError(
            f"feature {subject.names[j]!r}: its percentiles are both {low:g}; pass wider ones"
        )
    return np.linspace(low, high, resolution)


def _response(subject: Subject, response: str) -> tuple[Callable[[GaussianRows], Floats], tuple[Label, ...]]:
    """(rows -> answers of shape (rows, outputs), what the outputs are)."""
    check_option("response", response, ("auto", "predict_proba", "decision_function", "predict"))
    model = subject.estimator
    if subject.regression:
        if response not in ("auto", "predict"):
            raise ParameterError(f"response={response!r}: a regression has predict alone")
        return (lambda rows: model.predict(rows)[:, None]), ("prediction",)
    if response == "predict":
        raise ParameterError('response="predict": labels have no mean; use "predict_proba"')
    name = response
    if response == "auto":
        name = "predict_proba" if hasattr(model, "predict_proba") else "decision_function"
    if not hasattr(model, name):
        raise ParameterError(f"response={response!r}: {type(model).__name__} has no {name} here")
    classes: Labels = model.classes_
    labels = classes.tolist()

    def answer(rows: GaussianRows) -> Floats:
        scores = np.asarray(getattr(model, name)(rows))
        if scores.ndim == 1:
            return scores[:, None]
        return scores[:, 1:] if len(labels) == 2 else scores

    return answer, tuple(labels[1:] if len(labels) == 2 else labels)
