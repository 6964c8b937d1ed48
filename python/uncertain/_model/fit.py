"""`uncertain.fit`: from a table with error bars to a fitted model, in one call.

Everything that can be wrong with names, options and labels is checked before a number is read; the
numbers themselves are checked on their way into the first step of the pipeline.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

from sklearn import config_context
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from .._data.array import GaussianArray
from ..exceptions import ColumnError, ParameterError
from ..preprocessing import AsGaussians, GaussianDenoiser, GaussianImputer, GaussianScaler
from ..regression import GSURegressor
from ..tables import is_table, open_table
from ..tables._columns import Columns, choose_columns, target_errors
from ..tables._targets import check_task
from .methods import MethodName, chosen, estimator_of
from .model import Model, groups_of, opened, partial_values, target_stds, target_values

__all__ = ["fit"]


def fit(
    table: Any,
    target: Any = "label",
    *,
    target_std: Any = None,
    groups: Any = None,
    mean: str | None = None,
    std: str | None = None,
    var: str | None = None,
    cov: str | None = None,
    precision: str | None = None,
    factor: str | None = None,
    features: Sequence[str] | None = None,
    corr: str | None = None,
    task: Literal["auto", "classification", "regression"] = "auto",
    method: MethodName = "auto",
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
    target_std : for the numbers of `GSURegressor`: the column of the target's standard deviations, or the
        values, one per row. By default, where columns are found by name, y_err, y_error, y_std, y_se or
        y_sigma for a target y. Such columns are never features.
    groups : what rows of one object share, such as the name of a patient measured three times: a column, or
        the values, one per row. Not a feature. Rows of one group are held out together where probabilities
        are calibrated, and by `Model.report`; without it, both take such rows for independent ones.
    mean : column with a list of d numbers per row.
    std, var, cov, precision, factor : column with the uncertainty of `mean`: one number, d numbers (diagonal)
        or d * d numbers (row-major matrix) per row. Beside scalar `features`: a pattern such as ``"{}_err"``.
        At most one, except a factor with a diagonal var.
    features : scalar columns, instead of `mean`.
    corr : pattern of the correlation columns of scalar features, such as ``"{}_{}_corr"``.
    task : "auto", "classification" or "regression". "auto" is regression for a target of floats (that are not
        all whole numbers); "classification" also takes many integers, and whole floats, for labels.
    method : what learns; in brackets, for a target of numbers.
        "gsu" (also "auto"): `GSUClassifier` (`GSURegressor`), linear unless ``kernel=`` is given;
        "kernel": `ProbabilisticKernelSVC` (`ProbabilisticKernelSVR`), curved, up to some ten thousand rows;
        "huber": `AdaptiveHuberClassifier` (`AdaptiveHuberRegressor`, also for more than 20 different
        integers), which drops labels it cannot believe; rows whose target is null are unlabelled;
        "usvc", "tsvc", "ausvc", "mpsvc", "psvm": the `RobustSVC` of that name;
        "minimax": `MinimaxProbabilityClassifier`; "discriminant": `GaussianDiscriminant`, which takes the
        error bars for measurement error by itself.
    meaning : "spread": a row stands for all points of its Gaussian, of which each should be classified well.
        "measurement": a row is one noisy reading of a true value, so that the noise is in the mean already; a
        `GaussianDenoiser` in front replaces each reading by the posterior of its true value.
    scale : divide every feature (and its error bars) by its standard deviation over the rows first.
    on_missing : what a missing value or error bar means: "error" refuses it; "point" calls a value without
        error bar exact; "impute" takes a feature whose value or error bar is missing for unknown. Its
        conditional Gaussian given the others replaces it (`GaussianImputer`), except with
        ``meaning="measurement"`` and the discriminant: for them it is a reading with infinite noise, and they
        use what the row has.
    **params : parameters of the method's estimator, such as ``alpha=1e-2`` or ``C=10.0``. Where there are
        such parameters `probability` is True and `random_state` 0, and `sigma` of kernels is "median",
        unless given.

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
    way = chosen(method)
    if way.partial:
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
    name, std_name, group = (t if isinstance(t, str) else None for t in (target, target_std, groups))
    if is_table(table):
        names = open_table(table).names
        columns = choose_columns(names, name, target_std=std_name, groups=group, **given)
        first: list[tuple[str, Any]] = [("gaussians", AsGaussians(**columns.roles(), on_missing=on_missing))]
    else:
        _no_columns(table, name, given | {"target_std": std_name, "groups": group})
        columns, first = Columns(), []
    if way.partial:
        y, found = partial_values(table, target, task)
        regression = found == "regression"
        of_classes = [name for name in ("unlabeled", "probability", "random_state") if name in params]
        if regression and of_classes:
            raise ParameterError(f"{of_classes[0]}= is for classes; missing numbers are null or NaN")
    else:
        y = target_values(table, target, task)
        regression = y.dtype.kind == "f"
    estimator = estimator_of(method, regression=regression, params=params)
    known: dict[str, Any] = {}
    if isinstance(estimator, GSURegressor):
        beside = target_errors(names, name) if columns.automatic and target_std is None else []
        if len(beside) > 1:
            raise ColumnError(
                f"the target {name!r} has several error columns ({', '.join(beside)}); say which one to use, "
                f"such as target_std={beside[0]!r}"
            )
        if beside:
            columns, target_std = columns.with_target_std(beside[0]), beside[0]
        if target_std is not None:
            missing = 0.0 if on_missing == "point" else None
            known = {"regress__y_std": target_stds(table, target_std, missing)}
    elif target_std is not None:
        raise ParameterError(
            "target_std=: only GSURegressor knows error bars of the target; it is the method "
            f'"gsu" for numbers, but this is {type(estimator).__name__}'
        )
    whole = None if groups is None else groups_of(table, groups)
    if whole is not None and group is None:
        columns = replace(columns, groups=True)
    measured = meaning == "measurement" and not way.measurement
    if measured or get_tags(estimator).input_tags.allow_nan:
        # What follows takes NaN for a gap, which only the caller may say.
        first = first or [("gaussians", AsGaussians(on_missing=on_missing))]
    elif on_missing == "impute":
        first.append(("impute", GaussianImputer(random_state=0)))
    denoiser = [("denoise", GaussianDenoiser(random_state=0))] if measured else []
    # The spread of the true values is that of their posterior means and what is left of the noise.
    scaler = [("scale", GaussianScaler(spread="total" if measured else "means"))] if scale else []
    step = "regress" if regression else "classify"
    pipeline = Pipeline([*first, *denoiser, *scaler, (step, estimator)])
    if whole is not None and has_fit_parameter(estimator, "groups"):
        known[f"{step}__groups"] = whole.codes

    start = time.perf_counter()
    with config_context(enable_metadata_routing=False):  # which would take names without steps
        pipeline.fit(table, y, **known)
    return Model(pipeline, columns, n_rows=len(y), seconds=time.perf_counter() - start)


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
