"""Checks that all estimators share: X, y, sample and class weights.

X is a :class:`~uncertain.GaussianArray` or what scikit-learn takes as a 2-D array, then read as exact points
(zero covariance). Functions of scikit-learn judge plain arrays, so that names, messages and
attributes are the usual ones.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, DTypeLike
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_consistent_length, check_random_state, column_or_1d
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_n_features, _check_sample_weight, check_array, validate_data

from .._uncertain import Gaussians, Rows
from ..exceptions import ParameterError, UncertainError
from .array import GaussianArray
from .column import Coded, encoded
from .features import Names, refuse_names
from .incomplete import Incomplete
from .numbers import find_mask, gaps_as_nan, refuse_masked, refuse_where
from .options import refuse_if
from .targets import MANY_CLASSES, warn_of_weightless
from .typing import (
    ArrowStream,
    Booleans,
    ClassWeight,
    Codes,
    Floats,
    Labels,
    LazyFrameLike,
    Limits,
    NativeTable,
    RandomState,
    RowValues,
)

RowsLike: TypeAlias = GaussianArray | Incomplete | ArrayLike | ArrowStream
"""X of an estimator: Gaussians, with gaps or without, or the rows of an array or a plain table."""

TableLike: TypeAlias = (
    RowsLike
    | LazyFrameLike
    | Mapping[str, ArrayLike]
    | str
    | os.PathLike[str]
    | Sequence[str | os.PathLike[str]]
)
"""Data of `uncertain.fit` and a `Model`: a table of any library, columns by name, the path or paths of a
table, or rows as an estimator takes them."""

NESTED = (list, tuple, np.ndarray)


def check_gaussians(estimator: BaseEstimator, X: RowsLike, *, reset: bool) -> Gaussians:
    """X as the core's Gaussians; sets or checks ``n_features_in_`` and ``feature_names_in_`` of
    `estimator`."""
    core, missing, limits = _readings(estimator, X, reset=reset, gaps=False)
    _refuse_limits(estimator, limits)
    if missing is not None and missing.any():
        row, feature = np.argwhere(missing)[0]
        raise UncertainError(
            f"X: row {row}, feature {feature} is missing, and {type(estimator).__name__} takes no gaps. Put "
            "a GaussianImputer in front of it, or for measurement error a GaussianDenoiser()"
        )
    return core


def check_rows(
    estimator: BaseEstimator, X: RowsLike, *, reset: bool, limits: bool = False
) -> tuple[Gaussians, Booleans | None]:
    """As `check_gaussians` for an estimator that takes gaps; and where they are, None if there are none.
    Limits are refused; with `limits` they count as gaps."""
    core, missing, flags = check_readings(estimator, X, reset=reset)
    if not limits:
        _refuse_limits(estimator, flags)
    return core, missing


def _refuse_limits(estimator: BaseEstimator, limits: Limits | None) -> None:
    if limits is None or not limits.any():
        return
    row, feature = np.argwhere(limits)[0]
    raise UncertainError(
        f"X: row {row}, feature {feature} is a limit, and {type(estimator).__name__} takes none. Use "
        "GaussianDiscriminant or GaussianMixtureRegressor, or put in front of it GaussianDenoiser()"
    )


def check_readings(
    estimator: BaseEstimator, X: RowsLike, *, reset: bool
) -> tuple[Gaussians, Booleans | None, Limits | None]:
    """As `check_rows` for one that takes limits as well: rows, gaps and limits, None where there are none."""
    return _readings(estimator, X, reset=reset, gaps=True)


def _readings(
    estimator: BaseEstimator, X: RowsLike, *, reset: bool, gaps: bool
) -> tuple[Gaussians, Booleans | None, Limits | None]:
    if not reset:
        _require_fit(estimator)
    if isinstance(X, Incomplete):
        _check_features(estimator, X.gaussians, reset=reset)
        return X.gaussians._core, X.missing, X.limits if X.limits is not None and X.limits.any() else None
    if isinstance(X, GaussianArray):
        _check_features(estimator, X, reset=reset)
        return X._core, None, None
    refuse_nested_tables(X)
    mask = find_mask(X)
    if mask is not None:
        if not gaps:
            refuse_masked(mask, "X")
        X = gaps_as_nan(X, "X")
    finite = "allow-nan" if gaps else True
    points = validate_data(estimator, X, reset=reset, dtype=np.float64, order="C", ensure_all_finite=finite)
    missing = np.isnan(points) if gaps else None
    if missing is None or not missing.any():
        return Gaussians(Rows.from_numpy(points, *points.shape)), None, None
    return Incomplete.from_arrays(points).gaussians._core, missing, None


def _check_features(estimator: BaseEstimator, X: GaussianArray, *, reset: bool) -> None:
    """Set or check ``n_features_in_`` and ``feature_names_in_``."""
    core, names = X._core, X._names
    if not reset:
        check_fitted_names(estimator, names, reset=False)
    _check_n_features(estimator, np.broadcast_to(0.0, (core.n_rows, core.n_features)), reset=reset)
    if reset:
        check_fitted_names(estimator, names, reset=True)


def check_fitted_names(estimator: BaseEstimator, names: Names | None, *, reset: bool) -> None:
    """Set, or compare with, ``feature_names_in_``, as scikit-learn does for the columns of data frames."""
    if not reset:
        fitted = getattr(estimator, "feature_names_in_", None)
        known = None if fitted is None else tuple(fitted.tolist())
        if known != names:
            refuse_names(type(estimator).__name__, known, names)
    elif names is not None:
        estimator.feature_names_in_ = np.asarray(names, dtype=object)
    elif hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_


def _require_fit(estimator: BaseEstimator) -> None:
    """The check of a fit by scikit-learn asks every class for its tags first."""
    if not hasattr(estimator, "n_features_in_"):
        raise NotFittedError(
            f"This {type(estimator).__name__} instance is not fitted yet. Call 'fit' with appropriate "
            "arguments before using this estimator."
        )


def refuse_nested_tables(X: RowsLike) -> None:
    """An error that says what to do about tables whose columns hold lists (means, covariances)."""
    nested = next((name for name, is_nested in _columns(X) if is_nested), None)
    refuse_if(
        nested is not None,
        f"column {nested!r} of X holds lists, but an estimator takes a GaussianArray or a 2-D array. Put "
        "AsGaussians(mean=..., cov=...) in front of it, or use uncertain.fit(table, target=...)",
        UncertainError,
    )


def _columns(X: NativeTable) -> list[tuple[object, bool]]:
    """(name, holds lists?) of every column of a table; empty for anything that is no table."""
    if hasattr(X, "iloc"):  # pandas: an object column shows by its first value what it holds
        names = list(getattr(X, "columns", ()))
        return [(name, len(X) > 0 and isinstance(X[name].iloc[0], NESTED)) for name in names]
    if hasattr(X, "__arrow_c_stream__") and hasattr(X, "columns"):
        if isinstance(X.schema, Mapping):  # polars
            return [(name, dtype.is_nested()) for name, dtype in X.schema.items()]
        return [(field.name, "list" in str(field.type)) for field in X.schema]  # pyarrow
    return []


def check_labels(
    y: ArrayLike | Coded | None, X: RowsLike, estimator: BaseEstimator, sample_weight: RowValues = None
) -> tuple[Labels, Codes]:
    """(classes, codes): the sorted distinct labels, and for each row the place of its label among them, 0 for
    a label that only rows of weight 0 have."""
    if isinstance(y, Coded):
        check_consistent_length(X, y)
        return y.classes, y.codes
    labels = one_per_row(y, X, estimator)
    try:
        classes, codes = encoded(labels)
    except TypeError:  # objects without an order, of which scikit-learn has words
        check_classification_targets(labels)
        raise
    check_classification_targets(labels if len(classes) > MANY_CLASSES else classes)
    if len(classes) < 2:
        raise UncertainError(
            f"y holds only one class ({classes.tolist()[0]!r}); a classifier needs at least two classes"
        )
    weights = check_sample_weight(sample_weight, len(codes))
    counts = None if weights is None else np.bincount(codes, weights > 0.0)
    if counts is None or counts.all() or np.count_nonzero(counts) < 2:
        return classes, codes
    warn_of_weightless("y", classes[counts == 0].tolist())
    places = np.maximum(np.cumsum(counts > 0) - 1, 0).astype(np.uint32)
    return classes[counts > 0], np.where(counts[codes] > 0, places[codes], 0).astype(np.uint32)


def check_numbers(y: ArrayLike | None, X: RowsLike, estimator: BaseEstimator) -> Floats:
    """y as a 1-D array of finite numbers, one per row of X."""
    return np.ascontiguousarray(one_per_row(y, X, estimator, dtype=np.float64))


def one_per_row(
    y: ArrayLike | None,
    X: RowsLike,
    estimator: BaseEstimator,
    *,
    dtype: DTypeLike | None = None,
    ensure_all_finite: bool | str = True,
) -> Labels:
    """y as a 1-D array, one value per row of X."""
    if y is None:
        kind = type(estimator).__name__
        raise ValueError(f"This {kind} estimator requires y to be passed, but the target y is None.")
    if isinstance(y, np.ndarray) and type(y) is np.ndarray and _is_sound(y, dtype):
        check_consistent_length(X, y)
        return y
    mask = find_mask(y)
    if mask is not None:
        refuse_masked(mask, "y")
    if ensure_all_finite is True:
        refuse_not_finite(y)
    checked = check_array(
        y,
        ensure_2d=False,
        dtype=dtype,
        ensure_all_finite=ensure_all_finite,
        input_name="y",
        estimator=estimator,
    )
    values: Labels = column_or_1d(checked, warn=True)
    check_consistent_length(X, values)
    return values


def refuse_not_finite(y: ArrayLike) -> None:
    """ValueError in scikit-learn's words, with the row."""
    values = y.to_numpy() if hasattr(y, "to_numpy") else y
    if not (isinstance(values, np.ndarray) and values.dtype.kind == "f" and values.ndim and values.size):
        return
    sound = np.isfinite(values.reshape(len(values), -1)).all(axis=1)
    if not sound.all():
        row = int(np.argmin(sound))
        what = "NaN" if np.isnan(values[row]).any() else "infinity"
        raise ValueError(f"Input y contains {what} in row {row}; leave out rows whose target is not known")


def _is_sound(y: np.ndarray, dtype: DTypeLike | None) -> bool:
    """Is it what `check_array` makes of it, which looks at all else that it may be?"""
    wanted = dtype is not None and y.dtype == np.float64 == np.dtype(dtype)
    return wanted and y.ndim == 1 and y.size > 0 and bool(np.isfinite(y).all())


def check_sample_weight(sample_weight: RowValues, n_rows: int) -> Floats | None:
    """Weights >= 0, one per row, or None when all are 1."""
    if sample_weight is None:
        return None
    rows = np.empty((n_rows, 0))
    numbers = np.asarray(sample_weight)
    if numbers.shape == (n_rows,) and numbers.dtype.kind in "iuf":
        rule = "a weight must be a finite number >= 0"
        refuse_where(~((numbers >= 0) & (numbers < np.inf)), numbers, "sample_weight", rule)
        # scikit-learn's words, for which its checks look.
        words = "so that no row counts. Sample weights must contain at least one non-zero number."
        refuse_if(n_rows and not numbers.any(), f"sample_weight: all are 0, {words}", UncertainError)
    weights: Floats = _check_sample_weight(sample_weight, rows, dtype=np.float64, ensure_non_negative=True)
    return weights


def check_stds(values: ArrayLike, name: str, n: int) -> Floats:
    """Standard deviations >= 0, one per row; one number counts for all."""
    std = np.asarray(values, dtype=np.float64)
    expected = f"{name}: expected one number or {n}, one per row, got shape {std.shape}"
    refuse_if(std.shape not in ((), (n,)), expected, UncertainError)
    std = np.broadcast_to(std, (n,))
    refuse_where(~((std >= 0) & (std < np.inf)), std, name, "standard deviations must be >= 0")
    return std


def check_weights(
    sample_weight: RowValues, class_weight: ClassWeight, *, classes: Labels, codes: Codes
) -> Floats | None:
    """The product of sample and class weights, one per row, or None when all are 1; "balanced" gives class k
    the weight (sum of all weights) / (K x sum of the weights of class k)."""
    row_weights = check_sample_weight(sample_weight, len(codes))
    if class_weight is None:
        return row_weights
    weights = np.ones(len(codes)) if row_weights is None else row_weights
    if isinstance(class_weight, str) and class_weight == "balanced":
        totals = np.bincount(codes, weights=weights, minlength=len(classes))
        # A class without weight counts for nothing here, and the fit refuses it.
        per_class = np.zeros_like(totals)
        np.divide(totals.sum() / len(classes), totals, out=per_class, where=totals > 0.0)
        return weights * per_class[codes]
    wanted = "'balanced', None or a dictionary {label: weight}"
    refuse_if(not isinstance(class_weight, dict), f"class_weight = {class_weight!r}: must be {wanted}")
    try:
        by_class = compute_class_weight(class_weight, classes=classes, y=classes[codes])
    except ValueError as error:  # names labels that are not there
        raise ParameterError(f"class_weight = {class_weight!r}: {error}") from None
    try:
        per_class = np.asarray(by_class, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        per_class = np.array([np.nan])
    wrong = not np.all(per_class >= 0)
    refuse_if(wrong, f"class_weight = {class_weight!r}: weights must be numbers >= 0")
    product: Floats = weights * per_class[codes]
    return product


def seed_from(random_state: RandomState) -> int:
    """One seed for the core's generator, drawn from whatever scikit-learn takes as ``random_state``."""
    return int(generator_from(random_state).randint(2**31 - 1))


def generator_from(random_state: RandomState) -> np.random.RandomState:
    """A generator from anything that scikit-learn takes as ``random_state``."""
    try:
        generator: np.random.RandomState = check_random_state(random_state)
    except (TypeError, ValueError, OverflowError):
        raise ParameterError(
            f"random_state = {random_state!r:.40}: must be an integer, a numpy.random.RandomState or None"
        ) from None
    return generator
