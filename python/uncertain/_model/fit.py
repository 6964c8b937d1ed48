"""`uncertain.fit`: from a table with error bars to a fitted model, in one call.

Everything that can be wrong with names, options and labels is checked before a number is read; the
numbers themselves are checked on their way into the first step of the pipeline.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, TypeAlias

import numpy as np
from sklearn import config_context
from sklearn.base import BaseEstimator, is_regressor
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from .._data.array import GaussianArray
from .._data.options import check_option
from .._data.typing import ColumnOrValues, Floats
from .._data.validation import TableLike
from ..exceptions import ParameterError, UncertainWarning
from ..preprocessing import AsGaussians, GaussianCollapser, GaussianDenoiser, GaussianImputer, GaussianScaler
from ..regression import GSURegressor
from ..tables._choose import choose_columns, left_out, target_errors
from ..tables._columns import Columns
from ..tables._names import SPREAD
from ..tables._roles import KINDS, is_list_column
from ..tables._sentinels import sentinel_warning, sentinels
from ..tables._source import Source
from .methods import MethodName, chosen, estimator_of
from .model import Model

ErrorColumns: TypeAlias = str | Mapping[str, str | Sequence[str]] | Sequence[str]
"""Where error bars are: a column or a pattern, a dictionary {feature: column}, or a list."""


def fit(
    table: TableLike,
    target: ColumnOrValues = "label",
    *,
    target_std: ColumnOrValues | None = None,
    sample_weight: ColumnOrValues | None = None,
    groups: ColumnOrValues | None = None,
    mean: str | None = None,
    std: ErrorColumns | None = None,
    var: ErrorColumns | None = None,
    cov: str | Mapping[tuple[str, str], str] | None = None,
    precision: str | None = None,
    factor: str | None = None,
    bounds: ErrorColumns | None = None,
    features: Sequence[str] | None = None,
    exact: Sequence[str] | Literal["all"] | None = None,
    categorical: Sequence[str] | None = None,
    corr: str | Mapping[tuple[str, str], str] | None = None,
    task: Literal["auto", "classification", "regression"] = "auto",
    method: MethodName = "auto",
    meaning: Literal["auto", "spread", "measurement"] = "auto",
    scale: bool = True,
    on_missing: Literal["error", "point", "impute"] = "error",
    handle_unknown: Literal["error", "ignore"] = "error",
    **params: Any,
) -> Model:
    """Fit a classifier, or a regression, to a table with error bars.

    Parameters
    ----------
    table : table of Polars, pandas, pyarrow, DuckDB, astropy or narwhals (or anything with
        ``__arrow_c_stream__``), dict of columns, structured array; path of a file (.parquet, .csv, .fits,
        .arrow, ...), a list of paths, a pattern with ``*``, a folder or an address; or a GaussianArray or
        array of exact points, with labels as `target`.
    target : name of the column of class labels (strings, booleans, integers, categoricals), or the labels
        themselves, one per row.
    target_std : for the numbers of `GSURegressor`: the column of the target's standard deviations, or the
        values, one per row. By default, where columns are found by name, y_err, y_error, y_std, y_se or
        y_sigma for a target y. Such columns are never features.
    sample_weight : how much each row counts, >= 0: a column, or the values, one per row. Not a feature. It
        counts in every step (scales, distributions of true values, the fit, probabilities, the scatter of a
        regression); a row of weight 0 is as good as absent.
    groups : what rows of one object share, such as the name of a patient measured three times: a column, or
        the values, one per row. Not a feature. Rows of one group are held out together where probabilities
        are calibrated, where the scatter of a regression is measured, and by `Model.report`; without it, all
        of these take such rows for independent ones.
    mean : column with a list of d numbers per row.
    std, var, cov, precision, factor : column with the uncertainty of `mean`: one number, d numbers (diagonal)
        or d * d numbers (row-major matrix) per row. At most one, except a factor with a diagonal var.
    features : scalar columns with error bars, instead of `mean`. Where their error bars are not found by
        name, std, var : a pattern such as ``"{}_err"``, a dictionary {feature: column}, or a list in the
        order of `features`; for asymmetric ones a pair (upper arm, lower arm) in place of a column, such as
        ``std={"period": ("period_err1", "period_err2")}``, with or without signs. cov : a pattern such as
        ``"cov_{}_{}"``, or {(a, b): column}.
    bounds : {feature: (lower, upper)}, limits one standard deviation below and above the value, or a pair of
        patterns. A Gaussian keeps mean and variance of an asymmetric error bar, see
        :func:`uncertain.uncertainty.from_bounds`.
    exact : scalar columns without error bars, which are features all the same; "all": every numeric column
        that has no other role.
    categorical : columns of categories (strings, booleans, integers): a feature of zeros and ones for each.
    corr : pattern of the correlation columns of scalar features, such as ``"{}_{}_corr"``, or
        {(a, b): column}; columns such as a_b_corr and cov_a_b are also found by name.
    task : "auto", "classification" or "regression". "auto" is regression for a target of floats (that are not
        all whole numbers); "classification" also takes many integers, and whole floats, for labels.
    method : what learns; in brackets, for a target of numbers.
        "gsu" (also "auto"): `GSUClassifier` (`GSURegressor`), linear unless ``kernel=`` is given;
        "kernel": `ProbabilisticKernelSVC` (`ProbabilisticKernelSVR`), curved, up to some ten thousand rows;
        "huber": `AdaptiveHuberClassifier` (`AdaptiveHuberRegressor`, also for more than 20 different
        integers), which drops labels inconsistent with the fit; rows whose target is null are unlabelled;
        "usvc", "tsvc", "ausvc", "mpsvc", "psvm": the `RobustSVC` of that name;
        "minimax": `MinimaxProbabilityClassifier`; "discriminant": `GaussianDiscriminant`, which takes the
        error bars for measurement error by itself;
        "remeasured": `RemeasuredClassifier` (`RemeasuredRegressor`): boosted trees, or any ``estimator=``,
        taught what error bars mean by copies with larger and smaller ones.
    meaning : "spread": a row stands for all points of its Gaussian, of which each should be classified well.
        "measurement": a row is one noisy reading of a true value, so that the noise is in the mean already; a
        `GaussianDenoiser` in front replaces each reading by the posterior of its true value. A regression is
        fitted to the posterior means alone (`GaussianCollapser`), and its coefficients are then those of the
        law between true values.
        "auto": measurement for scalar columns with error columns, which is what these hold in nearly every
        table; spread for columns of lists (covariances, deviations), for error columns that are called
        x_spread, and for a GaussianArray.
    scale : divide every feature (and its error bars) by its standard deviation over the rows first.
    on_missing : what a missing value or error bar means: "error" refuses it; "point" calls a value without
        error bar exact; "impute" takes a feature whose value or error bar is missing for unknown. Its
        conditional Gaussian given the others replaces it (`GaussianImputer`), except with
        ``meaning="measurement"`` and the discriminant: for them it is a reading with infinite noise, and they
        use what the row has.
    handle_unknown : what a category means that was not there in the fit: "error" refuses it, "ignore" calls
        it none of the known ones.
    **params : parameters of the method's estimator, such as ``alpha=1e-2`` or ``C=10.0``. Where there are
        such parameters `probability` is True and `random_state` 0, and `sigma` of kernels is "median",
        unless given.

    Without column arguments, `mean` and the one of `cov`, `std`, `var`, `precision`, `factor` that exists are
    taken; else every scalar column with an error column: x_err, x_error, x_std, x_se, x_sigma, x_unc, xErr,
    e_x, sigma_x, dx and the like for x, also inside a name (psfMagErr_u for psfMag_u), or two for the arms or
    limits of asymmetric ones (x_err1 and x_err2, x_upper and x_lower). ``model.columns_`` says what was
    chosen and what was ignored; numeric columns among these are named in a warning.

    Returns
    -------
    Model

    Raises
    ------
    UncertainError (a ValueError) : with the column, the row and the value, and what to do.

    Warns
    -----
    UncertainWarning : for numeric columns that were left out, and for numbers that look like codes for
        missing values, such as -9999.

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
    entry = chosen(method)
    check_option("task", task, ("auto", "classification", "regression"))
    check_option("meaning", meaning, ("auto", "spread", "measurement"))
    check_option("on_missing", on_missing, ("error", "point", "impute"))
    if not isinstance(scale, bool):
        raise ParameterError(f"scale={scale!r}: must be True or False")

    source = Source.of(table)
    beside = {"target": target, "target_std": target_std, "groups": groups, "sample_weight": sample_weight}
    given = {
        "mean": mean, "std": std, "var": var, "cov": cov, "precision": precision, "factor": factor,
        "bounds": bounds, "features": features, "corr": corr, "exact": exact, "categorical": categorical,
    }  # fmt: skip
    with source.named():
        columns = _chosen_columns(source, beside, given)
    source.load({*source.names} - {*columns.ignored} | {*target_errors(source.names, columns.target)})
    y, regression = source.targets(target, task, partial=entry.partial)
    if regression and (codes := sentinel_warning(sentinels(columns.target or "target", y))):
        warnings.warn(codes, UncertainWarning, stacklevel=2)
    if regression:
        columns = replace(columns, target_unit=source.unit(columns.target))
    estimator = estimator_of(method, regression=regression, params=params)
    known: dict[str, Any] = {}
    if target_std is None and columns.automatic and isinstance(estimator, GSURegressor):
        columns = columns.with_target_std(target_errors(source.names, columns.target))
        target_std = columns.target_std
    if target_std is not None:
        known["y_std"] = _target_stds(source, target_std, estimator, on_missing, columns.target_unit)
    together = None if groups is None else source.groups(groups)
    if together is not None:
        if not isinstance(groups, str):
            columns = replace(columns, groups=True)
        if has_fit_parameter(estimator, "groups"):
            known["groups"] = together.codes
    weights = None if sample_weight is None else source.weights(sample_weight)
    if weights is not None and not isinstance(sample_weight, str):
        columns = replace(columns, sample_weight=True)
    if exact is None and features is None and mean is None:
        _warn_of_left_out(source, columns)
    if meaning == "auto":
        meaning = "measurement" if _are_readings(source, columns) else "spread"
    measured = meaning == "measurement" and not entry.measurement
    step = "regress" if regression else "classify"
    reading = AsGaussians(**columns.roles(), on_missing=on_missing, handle_unknown=handle_unknown)
    before = _steps_before(estimator, source, reading, measured=measured, scale=scale)
    pipeline = Pipeline([*before, (step, estimator)])

    beside_rows = {f"{step}__{name}": value for name, value in known.items()}
    if weights is not None:
        able = [name for name, each in pipeline.steps if has_fit_parameter(each, "sample_weight")]
        beside_rows |= {f"{name}__sample_weight": weights for name in able}
    start = time.perf_counter()
    with config_context(enable_metadata_routing=False):  # which would take names without steps
        pipeline.fit(source.rows, y, **beside_rows)
        if columns.features:  # whether two columns are limits or arms is learned from rows
            settled = {kind: value for kind, value in reading.roles_.items() if kind in KINDS}
            columns = replace(columns, errors=settled)
        model = Model(pipeline, columns, n_rows=len(y))
        if isinstance(estimator, GSURegressor):
            model._measure_scatter(
                source, y, known=beside_rows, y_std=known.get("y_std"), weights=weights, groups=together
            )
    model._seconds = time.perf_counter() - start
    return model


def _are_readings(source: Source, columns: Columns) -> bool:
    """Are the features scalar columns with scalar error bars, which are not called spread?"""
    if source.table is None or not columns.features:
        return False
    bars = [column for bar in columns.bars().values() for column in bar.columns]
    if bars and all(column.endswith(SPREAD) for column in bars):
        return False
    listed = [column for kind, column in columns.errors.items() if is_list_column(kind, column)]
    return all(source.table.type_of(column) != "list" for column in listed)


def _warn_of_left_out(source: Source, columns: Columns) -> None:
    """One warning about the numeric columns that were found, but not taken."""
    message = None if source.table is None else left_out(columns, source.table.type_of)
    if message is not None:
        warnings.warn(message, UncertainWarning, stacklevel=3)


def _chosen_columns(source: Source, beside: Mapping[str, object], given: dict[str, Any]) -> Columns:
    """The columns of a table by role; arrays have none that could be named."""
    named = {role: value for role, value in beside.items() if isinstance(value, str)}
    if source.table is not None:
        target = named.pop("target", None)
        return choose_columns(source.names, target, type_of=source.table.type_of, **named, **given)
    data = source.data
    if not isinstance(data, (GaussianArray, np.ndarray)) and "target" in named:
        raise ParameterError(
            f"data of type {type(data).__name__} is no table: pass a table (Polars, pandas, pyarrow, DuckDB, "
            "astropy, a dictionary of columns, the path of a file), or an array with the labels as target="
        )
    kind = "a GaussianArray" if isinstance(data, GaussianArray) else f"data of type {type(data).__name__}"
    target = named.pop("target", None)
    asked = [role for role, value in (given | named).items() if value is not None]
    if asked:
        raise ParameterError(
            f"{asked[0]}= names a column of a table, but {kind} has none; see GaussianArray(means, ...)"
        )
    if target is not None:
        raise ParameterError(f"{kind} has no column {target!r}: pass the labels themselves as target=")
    return Columns()


def _target_stds(
    source: Source,
    target_std: ColumnOrValues,
    estimator: BaseEstimator,
    on_missing: str,
    unit: str | None,
) -> Floats:
    """The error bars of the target, for the one estimator that knows them."""
    if not isinstance(estimator, GSURegressor):
        raise ParameterError(
            "target_std=: only GSURegressor knows error bars of the target; it is the method "
            f'"gsu" for numbers, but this is {type(estimator).__name__}'
        )
    return source.target_stds(target_std, 0.0 if on_missing == "point" else None, unit=unit)


def _steps_before(
    estimator: BaseEstimator,
    source: Source,
    reading: AsGaussians,
    *,
    measured: bool,
    scale: bool,
) -> list[tuple[str, BaseEstimator]]:
    """What reads, fills and scales the rows for the estimator; `measured`: and takes off the noise."""
    takes_gaps = measured or get_tags(estimator).input_tags.allow_nan
    steps: list[tuple[str, BaseEstimator]] = []
    # Of arrays NaN is a gap for what takes gaps, which only the caller may say.
    if source.table is not None or takes_gaps:
        steps.append(("gaussians", reading))
    if reading.on_missing == "impute" and not takes_gaps:
        steps.append(("impute", GaussianImputer(random_state=0)))
    if measured:
        steps.append(("denoise", GaussianDenoiser(random_state=0)))
    if scale:
        # The spread of the true values is that of their posterior means and what is left of the noise.
        steps.append(("scale", GaussianScaler(spread="total" if measured else "means")))
    if measured and is_regressor(estimator):
        # A target belongs to the one true value, and averages over its posterior shrink coefficients again.
        steps.append(("collapse", GaussianCollapser()))
    return steps
