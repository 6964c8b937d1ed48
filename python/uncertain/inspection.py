"""Permutation importance and partial dependence for values with error bars.

scikit-learn's functions of the same names move values in plain arrays, where the error bar of a moved value
would stay behind in its old row. These functions move both.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from numbers import Real
from typing import Literal, TypeAlias, cast

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike
from sklearn.base import is_regressor
from sklearn.utils import check_random_state

from ._data.array import GaussianArray
from ._data.column import as_values
from ._data.groups import Groups, groups_from
from ._data.incomplete import GaussianRows, Incomplete, filled_gaussians, hstack, like, missing_mask
from ._data.numbers import float_array
from ._data.options import check_counts, check_option, refuse_if
from ._data.typing import ColumnOrValues, Estimator, Floats, Ints, Label, Labels, Predictor, RandomState
from ._data.validation import TableLike
from ._held_out.engine import class_shares
from ._held_out.means import standard_error
from ._held_out.measures import OF_CLASSES, OF_NUMBERS, Predicted, chosen_measures
from ._model.model import Model
from ._rows.training import REMEMBERED_ROWS
from .exceptions import ParameterError, ShapeError, UncertainError

__all__ = ["Importances", "PartialDependence", "partial_dependence", "permutation_importance"]

Feature: TypeAlias = str | int
Block: TypeAlias = tuple[int, ...]
"""Numbers of features that move together."""
Scorer: TypeAlias = Callable[[Estimator, GaussianRows, Labels], float]


@dataclass(frozen=True, repr=False)
class Importances:
    """Importance of each feature, or block of features: rows of the arrays."""

    names: tuple[str, ...]
    """Features; the names of a block are joined by a comma."""
    importances: Floats
    """Drop of the score (rise of a loss) in every repeat, shape (features, n_repeats)."""
    standard_error: Floats
    """Standard error of the mean drop, for another sample of rows or groups; NaN for a callable score."""
    score: float
    """Score of the unchanged rows."""
    scoring: str
    """Name of the score."""

    @property
    def importances_mean(self) -> Floats:
        """Mean over the repeats."""
        return np.asarray(self.importances.mean(axis=1))

    @property
    def importances_std(self) -> Floats:
        """Standard deviation over the repeats, from the random permutations alone."""
        return np.asarray(self.importances.std(axis=1))

    def to_dict(self) -> dict[str, list[object]]:
        """Columns of a table, the most important feature first."""
        order = np.argsort(-self.importances_mean, kind="stable")
        return {
            "feature": [self.names[j] for j in order],
            "importance": self.importances_mean[order].tolist(),
            "standard_error": self.standard_error[order].tolist(),
        }

    def __repr__(self) -> str:
        width = max(map(len, self.names))
        lines = [
            f"Drop of the {self.scoring} ({self.score:.4g}) when a feature is permuted (± standard error)"
        ]
        for name, mean, se in zip(*self.to_dict().values(), strict=True):
            lines.append(f"  {name:<{width}}  {mean:+.4g}" + ("" if np.isnan(se) else f" ± {se:.2g}"))
        return "\n".join(lines)


def permutation_importance(
    model: Predictor,
    X: TableLike,
    y: ColumnOrValues | None = None,
    *,
    features: Sequence[Feature | Sequence[Feature]] | None = None,
    scoring: str | Scorer | None = None,
    n_repeats: int = 5,
    groups: ColumnOrValues | None = None,
    random_state: RandomState = 0,
    n_jobs: int | None = None,
    max_rows: int | None = REMEMBERED_ROWS,
) -> Importances:
    """Drop of the score when a feature with its error bar is permuted.

    Row i gets mean and variance of feature j from row p(i), where p is a random permutation. Covariances of
    the feature with others become zero, because readings of different rows have independent errors; those of
    the other features with each other stay. Gaps move like values.

    Parameters
    ----------
    model : a `Model`, or a fitted estimator or pipeline that takes a GaussianArray.
    X : the table (or file) for a `Model`; a GaussianArray or an array of exact points for an estimator. Use
        rows that the model was not fitted to; on rows of the fit it may seem to need what it memorised.
    y : targets, one per row; a `Model` takes them from the column that it was fitted to.
    features : names or numbers of the features to move; by default each of them by itself. A list or tuple
        inside is a block that moves together and keeps the covariances within: ``[("u", "g"), "r"]``.
    scoring : a measure of `Model.report`, such as "balanced_accuracy", "log_loss" or "rmse"; or a callable
        (estimator, X, y) -> number, where more is better, such as a scorer of scikit-learn. By default
        "accuracy", or "r2" for numbers.
    n_repeats : permutations per feature.
    groups : labels of objects (a column, for a table, or values): a value then never comes from another row
        of the same object, and standard errors count objects. By default the column of the fit.
    random_state : seed of the permutations.
    n_jobs : threads that move features at the same time; None means 1.
    max_rows : about as many rows (or whole groups) of a larger table are used, drawn by a hash as in
        `Model.report`; a file or query is read once, batch by batch. None: all rows.

    Returns
    -------
    Importances : with `names`, `importances` (features, n_repeats), `importances_mean`, `importances_std`,
        `standard_error` and `score`; printed as a table.

    Raises
    ------
    UncertainError (a ValueError) : for an unknown feature, or a group of more than half of the rows.

    Examples
    --------
    >>> import numpy as np
    >>> from uncertain import GaussianArray, GSUClassifier
    >>> from uncertain.inspection import permutation_importance
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(100) % 2
    >>> means = np.stack([2.0 * y, np.zeros(100)], axis=1) + rng.normal(size=(100, 2))
    >>> X = GaussianArray(means, std=0.3)
    >>> result = permutation_importance(GSUClassifier().fit(X, y), X, y)
    >>> bool(result.importances_mean[0] > 0.2 > 0.05 > result.importances_mean[1])
    True
    """
    check_counts(n_repeats=(n_repeats, 1))
    data = _Inspected.from_arguments(model, X, y, groups, labelled=True, max_rows=max_rows)
    rows = data.rows
    blocks = [data.block(each) for each in (range(rows.n_features) if features is None else features)]
    score, sign, label = _row_scores(data, scoring)
    base = score(rows)
    seeds = check_random_state(random_state).randint(2**31 - 1, size=(len(blocks), n_repeats))

    def drop(block: Block, seed: int) -> Floats:
        source = _shuffled(len(rows), data.groups, np.random.default_rng(seed))
        return sign * (base - score(_replaced(rows, block, rows[:, list(block)][source])))

    tasks = (delayed(drop)(block, seed) for block, row in zip(blocks, seeds, strict=True) for seed in row)
    drops = np.stack(Parallel(n_jobs=n_jobs, prefer="threads")(tasks)).reshape(len(blocks), n_repeats, -1)
    by_row = drops.shape[2] == len(rows) > 1
    return Importances(
        tuple(", ".join(data.names[j] for j in block) for block in blocks),
        drops.mean(axis=2),
        np.array([standard_error(each, data.groups) if by_row else np.nan for each in drops]),
        float(base.mean()),
        label,
    )


@dataclass(frozen=True)
class PartialDependence:
    """Predictions of a model over a grid of values of one feature or two."""

    names: tuple[str, ...]
    """Features."""
    grid: tuple[Floats, ...]
    """Values, one array for each feature."""
    average: Floats
    """Mean over the rows, shape (outputs, size of each grid)."""
    individual: Floats | None
    """Answers of each row, (outputs, rows, size of each grid); None unless ``kind="individual"``."""
    outputs: tuple[Label, ...]
    """Classes whose probability or score was averaged; ``("prediction",)`` of a regression."""


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
    """Average prediction if a feature had the same value in every row.

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
    max_rows : as in `permutation_importance`.

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
    data = _Inspected.from_arguments(model, X, max_rows=max_rows)
    block = data.block(features)
    refuse_if(len(block) > 2, f"features: expected one or two, got {len(block)}")
    refuse_if(len(data.rows) == 0, "X: there are no rows to average over", UncertainError)
    if grid is None:
        axes = tuple(_percentile_axis(data, j, grid_resolution, percentiles) for j in block)
    else:
        axes = _given_axes(grid, len(block))
    std = _std_of_error(error)
    answer, outputs = _response(data, response)
    points = [answer(_set_to(data.rows, block, np.array(point), std)) for point in product(*axes)]
    names, sizes = tuple(data.names[j] for j in block), tuple(len(axis) for axis in axes)
    if kind == "average":
        averages = np.stack([point.mean(axis=0) for point in points], axis=-1)
        return PartialDependence(names, axes, averages.reshape(-1, *sizes), None, outputs)
    whole = np.moveaxis(np.stack(points, axis=-1), 0, 1)  # (outputs, rows, points)
    whole = whole.reshape(*whole.shape[:2], *sizes)
    return PartialDependence(names, axes, whole.mean(axis=1), whole, outputs)


# -- the arguments


@dataclass(frozen=True)
class _Inspected:
    """A fitted estimator, rows that it takes, and names of their features."""

    estimator: Estimator
    rows: GaussianRows
    names: tuple[str, ...]
    truth: Labels | None = None
    groups: Groups | None = None

    @classmethod
    def from_arguments(
        cls,
        model: Predictor,
        X: TableLike,
        y: ColumnOrValues | None = None,
        groups: ColumnOrValues | None = None,
        *,
        labelled: bool = False,
        max_rows: int | None = None,
    ) -> _Inspected:
        """Read a `Model`'s table, or check the rows and targets of an estimator."""
        names: tuple[str, ...] = ()
        if isinstance(model, Model):
            estimator, rows, truth, codes = model._inspected(X, y, groups, labelled, max_rows)
            names = tuple(model.feature_names_)
        else:
            rows = X if isinstance(X, (GaussianArray, Incomplete)) else GaussianArray(X)  # type: ignore[arg-type]
            estimator, truth = cast(Estimator, model), None
            if labelled:
                if y is None or isinstance(y, str):
                    raise ParameterError("y: pass the targets of the rows; only a Model can read a column")
                truth = np.asarray(list(as_values(y, "y")))
                wrong = truth.shape != (len(rows),)
                refuse_if(
                    wrong, f"y: expected {len(rows)} targets, one per row, got {truth.shape}", ShapeError
                )
            codes = None if groups is None else Groups(groups_from(groups, "groups", len(rows)))
        if len(names) != rows.n_features:
            names = tuple(rows.feature_names or (f"feature {j}" for j in range(rows.n_features)))
        return cls(estimator, rows, names, truth, codes)

    @property
    def is_regression(self) -> bool:
        return bool(is_regressor(self.estimator))

    def block(self, features: Feature | Sequence[Feature]) -> Block:
        """Numbers of one feature or of several, by name or number."""
        single = isinstance(features, str) or not isinstance(features, Sequence)
        listed = cast(Sequence[Feature], [features] if single else features)
        block = tuple(self._number(feature) for feature in listed)
        wrong = not block or len(set(block)) < len(block)
        refuse_if(wrong, f"features: {features!r}: name at least one feature, and each once")
        return block

    def _number(self, feature: object) -> int:
        d = self.rows.n_features
        if isinstance(feature, str):
            if feature not in self.names:
                names = ", ".join(map(repr, self.names[:12])) + (", ..." if d > 12 else "")
                raise ParameterError(f"features: there is no feature {feature!r}; the features are {names}")
            return self.names.index(feature)
        number = isinstance(feature, (int, np.integer)) and not isinstance(feature, bool)
        wrong = not number or not -d <= cast(int, feature) < d
        refuse_if(wrong, f"features: {feature!r} must be a name, or a number in 0..{d - 1}")
        return int(cast(int, feature)) % d


# -- moved rows


def _replaced(rows: GaussianRows, block: Block, other: GaussianRows) -> GaussianRows:
    """Rows with the features of `block` from `other`; covariances between them and other features are
    zero."""
    rest = [j for j in range(rows.n_features) if j not in block]
    parts = [*([rows[:, rest]] if rest else []), other]
    joined = hstack(parts)[:, np.argsort([*rest, *block])]
    gaussians = filled_gaussians(rows)._like(filled_gaussians(joined)._core)
    return like(joined, gaussians)


def _set_to(rows: GaussianRows, block: Block, values: Floats, std: float | None) -> GaussianRows:
    """Rows with equal values of some features; `std` None keeps (co)variances."""
    if std is not None:
        same = np.broadcast_to(values, (len(rows), len(block)))
        return _replaced(rows, block, GaussianArray(same, std=std) if std > 0 else GaussianArray(same))
    gaussians = filled_gaussians(rows)
    means = gaussians.means.copy()
    means[:, list(block)] = values
    moved = gaussians._with_means(means)
    if not isinstance(rows, Incomplete):
        return moved
    missing = rows.missing.copy()
    missing[:, list(block)] = False
    return Incomplete(moved, missing)


def _shuffled(n: int, groups: Groups | None, rng: np.random.Generator) -> Ints:
    """A permutation of the rows; with groups, shifted by the largest one, so that no row meets one of its
    group."""
    if groups is None:
        return rng.permutation(n)
    codes = np.unique(groups.codes, return_inverse=True)[1]
    largest = int(np.bincount(codes).max())
    large = f"one {groups.name} has {largest} of the {n} rows: its values cannot all come from other groups"
    advice = "pass groups=False (of a Model) or None, or more rows of others"
    refuse_if(2 * largest > n, f"{large}; {advice}", UncertainError)
    places = rng.permutation(codes.max() + 1)[codes]
    order = np.lexsort((rng.random(n), places))
    source = np.empty(n, dtype=np.int64)
    source[order] = np.roll(order, int(rng.integers(largest, n - largest + 1)))
    return source


# -- scores and answers


def _row_scores(
    data: _Inspected, scoring: str | Scorer | None
) -> tuple[Callable[[GaussianRows], Floats], int, str]:
    """(rows -> numbers per row, sign, name) of a score; a callable gives one."""
    estimator, truth = data.estimator, cast(Labels, data.truth)
    if callable(scoring):
        return (lambda rows: np.array([float(scoring(estimator, rows, truth))])), 1, "score"
    usable = [m for m in (OF_NUMBERS if data.is_regression else OF_CLASSES) if m.needs != "law"]
    default = "r2" if data.is_regression else "accuracy"
    _, measure = chosen_measures((), default if scoring is None else scoring, usable)
    without = measure.needs == "probabilities" and not hasattr(estimator, "predict_proba")
    refuse_if(without, f"scoring={measure.name!r}: the model gives no probabilities")
    classes, y = np.empty(0), truth
    if not data.is_regression:
        classes, y = np.unique(truth, return_inverse=True)

    def score(rows: GaussianRows) -> Floats:
        shares = class_shares(estimator, rows, classes) if measure.needs else np.empty((0, 0))
        predicted = np.empty(0) if measure.needs else estimator.predict(rows)
        if not data.is_regression:
            predicted = np.where(np.isin(predicted, classes), np.searchsorted(classes, predicted), -1)
        return measure.of_rows(Predicted(y, predicted, np.ones(len(y)), shares))

    return score, measure.sign, measure.label


def _response(data: _Inspected, response: str) -> tuple[Callable[[GaussianRows], Floats], tuple[Label, ...]]:
    """(rows -> answers of shape (rows, outputs), names of the outputs)."""
    check_option("response", response, ("auto", "predict_proba", "decision_function", "predict"))
    model = data.estimator
    if data.is_regression:
        refuse_if(
            response not in ("auto", "predict"), f"response={response!r}: a regression has predict alone"
        )
        return (lambda rows: model.predict(rows)[:, None]), ("prediction",)
    labels_only = 'response="predict": labels have no mean; use "predict_proba"'
    refuse_if(response == "predict", labels_only)
    usual = "predict_proba" if hasattr(model, "predict_proba") else "decision_function"
    name = usual if response == "auto" else response
    missing = f"response={response!r}: {type(model).__name__} has no {name} here"
    refuse_if(not hasattr(model, name), missing)
    labels = model.classes_.tolist()
    first = 1 if len(labels) == 2 else 0

    def answer(rows: GaussianRows) -> Floats:
        scores = np.asarray(getattr(model, name)(rows))
        return scores[:, None] if scores.ndim == 1 else scores[:, first:]

    return answer, tuple(labels[first:])


def _std_of_error(error: object) -> float | None:
    if isinstance(error, str):
        check_option("error", error, ("keep", "zero"))
        return None if error == "keep" else 0.0
    wrong = isinstance(error, bool) or not isinstance(error, Real) or not 0 <= float(error) < np.inf
    refuse_if(wrong, f'error={error!r}: must be "keep", "zero" or a standard deviation >= 0')
    return float(cast(float, error))


def _given_axes(grid: ArrayLike | Sequence[ArrayLike], n_features: int) -> tuple[Floats, ...]:
    arrays = [grid] if n_features == 1 else list(cast(Sequence[ArrayLike], grid))
    pair = f"grid: expected a pair of arrays for two features, got {len(arrays)}"
    refuse_if(len(arrays) != n_features, pair, ShapeError)
    axes = tuple(float_array(axis, "grid") for axis in arrays)
    for axis in axes:
        expected = f"grid: expected one list of values per feature, got shape {axis.shape}"
        refuse_if(axis.ndim != 1 or len(axis) == 0, expected, ShapeError)
        refuse_if(not np.isfinite(axis).all(), "grid: values must be finite", UncertainError)
    return axes


def _percentile_axis(data: _Inspected, j: int, resolution: int, percentiles: tuple[float, float]) -> Floats:
    low, high = percentiles
    wrong = not 0 <= low < high <= 1
    refuse_if(wrong, f"percentiles={percentiles!r}: must be two increasing numbers in [0, 1]")
    means = filled_gaussians(data.rows).means[~missing_mask(data.rows)[:, j], j]
    name = f"feature {data.names[j]!r}"
    refuse_if(means.size == 0, f"{name} is missing in every row: pass grid=", UncertainError)
    distinct: Floats = np.unique(means)
    if len(distinct) <= resolution:
        return distinct
    low, high = np.quantile(means, percentiles)
    equal = f"{name}: its percentiles are both {low:g}; pass wider ones"
    refuse_if(low == high, equal, UncertainError)
    return np.linspace(low, high, resolution)
