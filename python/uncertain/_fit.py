"""`uncertain.fit`: from a table with error bars to a fitted model, in one call.

Everything that can be wrong with names, options and labels is checked before a number is read; the
numbers themselves are checked on their way into the first step of the pipeline.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, Literal

from sklearn.base import is_regressor
from sklearn.pipeline import Pipeline

from . import tables
from ._array import GaussianArray
from ._columns import Columns, choose_columns
from ._model import Model, opened, partial_values, target_values
from ._target import check_task
from .exceptions import ParameterError
from .huber import AdaptiveHuberClassifier, AdaptiveHuberRegressor
from .kernel_svm import ProbabilisticKernelSVC
from .preprocessing import AsGaussians, GaussianDenoiser, GaussianImputer, GaussianScaler
from .regression import GSURegressor
from .svm import GSUClassifier

__all__ = ["fit"]

METHODS: dict[str, tuple[Any, dict[str, Any]]] = {
    "gsu": (GSUClassifier, {"probability": True, "random_state": 0}),
    "kernel": (ProbabilisticKernelSVC, {"probability": True, "random_state": 0, "sigma": "median"}),
    "huber": (AdaptiveHuberClassifier, {}),
}
"""The class of each method, and parameters whose default is another one here."""


def fit(
    table: Any,
    target: Any = "label",
    *,
    mean: str | None = None,
    std: str | None = None,
    var: str | None = None,
    cov: str | None = None,
    precision: str | None = None,
    factor: str | None = None,
    features: Sequence[str] | None = None,
    corr: str | None = None,
    task: Literal["auto", "classification", "regression"] = "auto",
    method: Literal["auto", "gsu", "kernel", "huber"] = "auto",
    meaning: Literal["spread", "measurement"] = "spread",
    scale: bool = True,
    on_missing: Literal["error", "point", "impute"] = "error",
    **params: Any,
) -> Model:
    """Fit a classifier, or a regression, to a table with error bars.

    Parameters
    ----------
    table : Polars, pandas, pyarrow or DuckDB table (or anything with ``__arrow_c_stream__``); the path of a
        .parquet, .csv or .arrow file; or a GaussianArray or array of exact points, with labels as `target`.
    target : name of the column of class labels (strings, booleans, integers, categoricals), or the labels
        themselves, one per row.
    mean : column with a list of d numbers per row.
    std, var, cov, precision, factor : column with the uncertainty of `mean`: one number, d numbers (diagonal)
        or d * d numbers (row-major matrix) per row. Beside scalar `features`: a pattern such as ``"{}_err"``.
        At most one, except a factor with a diagonal var.
    features : scalar columns, instead of `mean`.
    corr : pattern of the correlation columns of scalar features, such as ``"{}_{}_corr"``.
    task : "auto", "classification" or "regression". "auto" is regression for a target of floats (that are not
        all whole numbers); "classification" also takes many integers, and whole floats, for labels.
    method : "gsu" (also "auto"): the linear support vector machine of `GSUClassifier`, or `GSURegressor`;
        "kernel": the curved boundaries of `ProbabilisticKernelSVC`, for up to some ten thousand rows;
        "huber": `AdaptiveHuberRegressor` for floats and for more than 20 different integers, else
        `AdaptiveHuberClassifier`; rows whose target is null are unlabelled. No probabilities, not saved.
    meaning : "spread": a row stands for all points of its Gaussian, of which each should be classified well.
        "measurement": a row is one noisy reading of a true value, so that the noise is in the mean already; a
        `GaussianDenoiser` in front replaces each reading by the posterior of its true value.
    scale : divide every feature (and its error bars) by its standard deviation over the rows first.
    on_missing : what a missing value or error bar means: "error" refuses it; "point" calls a value without
        error bar exact; "impute" replaces a feature whose value or error bar is missing by its conditional
        Gaussian given the others (`GaussianImputer`).
    **params : parameters of the method's class, such as ``alpha=1e-2`` or ``C=10.0``. `probability` is True,
        `random_state` 0 and, for kernels, `sigma` "median" unless given.

    Without column arguments, `mean` and the one of `cov`, `std`, `var`, `precision`, `factor` that exists are
    taken; else every scalar column x with its standard deviation in x_err, x_error, x_std, x_se or x_sigma.
    ``model.columns_`` says what was chosen and what was ignored.

    Returns
    -------
    Model

    Raises
    ------
    UncertainError (a ValueError) : with the column, the row and the value, and what to do.

    Examples
    --------
    >>> import polars, uncertain
    >>> table = polars.DataFrame({
    ...     "flux": [1.0, 1.2, 3.1, 2.9],
    ...     "flux_err": [0.1, 0.3, 0.1, 0.4],
    ...     "kind": ["star", "star", "quasar", "quasar"],
    ... })
    >>> model = uncertain.fit(table, target="kind")
    >>> model.predict(table).to_list()
    ['star', 'star', 'quasar', 'quasar']
    """
    _check_option("method", method, ("auto", *METHODS))
    if method == "huber":
        _check_option("task", task, ("auto", "classification", "regression"))
    else:
        check_task(task)
    _check_option("meaning", meaning, ("spread", "measurement"))
    _check_option("on_missing", on_missing, ("error", "point", "impute"))
    if not isinstance(scale, bool):
        raise ParameterError(f"scale={scale!r}: must be True or False")

    table = opened(table)
    given: dict[str, Any] = {
        "mean": mean, "std": std, "var": var, "cov": cov, "precision": precision, "factor": factor,
        "features": features, "corr": corr,
    }  # fmt: skip
    name = target if isinstance(target, str) else None
    if tables.is_table(table):
        columns = choose_columns(tables.open_table(table).names, name, **given)
        first: list[tuple[str, Any]] = [("gaussians", AsGaussians(**columns.roles(), on_missing=on_missing))]
    else:
        _no_columns(table, name, given)
        columns, first = Columns(), []
    if method == "huber":
        estimator = _estimator(method, params)
        y, found = partial_values(table, target, task)
        if found == "regression":
            if "unlabeled" in params:
                raise ParameterError("unlabeled= is for classes; a number that is missing is null or NaN")
            estimator = AdaptiveHuberRegressor(**params)
    else:
        y = target_values(table, target, task)
        estimator = _regressor(method, params) if y.dtype.kind == "f" else _estimator(method, params)
    if on_missing == "impute":
        first.append(("impute", GaussianImputer(random_state=0)))
    measured = meaning == "measurement"
    denoiser = [("denoise", GaussianDenoiser(random_state=0))] if measured else []
    # The spread of the true values is that of their posterior means and what is left of the noise.
    scaler = [("scale", GaussianScaler(spread="total" if measured else "means"))] if scale else []
    step = "regress" if is_regressor(estimator) else "classify"
    pipeline = Pipeline([*first, *denoiser, *scaler, (step, estimator)])

    start = time.perf_counter()
    pipeline.fit(table, y)
    return Model(pipeline, columns, n_rows=len(y), seconds=time.perf_counter() - start)


def _estimator(method: str, params: dict[str, Any]) -> Any:
    kind, defaults = METHODS["gsu" if method == "auto" else method]
    _check_params(params, kind())
    if params.get("kernel") == "precomputed":
        raise ParameterError(
            "kernel='precomputed': a table has no kernel matrix; "
            f"use {kind.__name__}(kernel='precomputed') itself"
        )
    return kind(**defaults | params)


def _regressor(method: str, params: dict[str, Any]) -> GSURegressor:
    if method == "kernel":
        raise ParameterError(
            'method="kernel" is for classes; for a curved regression pass kernel="rbf" instead, or use '
            "ProbabilisticKernelSVR itself"
        )
    _check_params(params, GSURegressor())
    return GSURegressor(**{"random_state": 0} | params)


def _check_params(params: dict[str, Any], estimator: Any) -> None:
    valid = sorted(estimator.get_params())
    unknown = [p for p in params if p not in valid]
    if unknown:
        name = type(estimator).__name__
        raise ParameterError(f"unknown parameter {unknown[0]!r}; valid ones are {', '.join(valid)} ({name})")


def _check_option(name: str, value: Any, options: Sequence[str]) -> None:
    if value not in options:
        listed = ", ".join(f'"{o}"' for o in options)
        raise ParameterError(
            f"{name}={value!r}: must be one of {listed}"
            if len(options) > 1
            else f"{name}={value!r}: must be {listed}"
        )


def _no_columns(data: Any, name: str | None, given: dict[str, Any]) -> None:
    """Arrays have no columns to name."""
    kind = "a GaussianArray" if isinstance(data, GaussianArray) else f"data of type {type(data).__name__}"
    named = [k for k, v in given.items() if v is not None]
    if named:
        raise ParameterError(
            f"{named[0]}= names a column of a table, but {kind} has none; see GaussianArray(means, ...)"
        )
    if name is not None:
        raise ParameterError(f"{kind} has no column {name!r}: pass the labels themselves as target=")
