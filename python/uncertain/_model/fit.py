"""`uncertain.fit`: from a table with error bars to a fitted model, in one call.

Columns, rows, plan, fit, model: the roles of columns are settled by names and types, the rows are read into a
store (memory, a file, a cluster), and the plan is fitted there. Everything that can be wrong with names,
options and labels is checked before a number is read; the numbers themselves are checked on their way into
the first step of the pipeline.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from contextlib import nullcontext
from typing import Any, TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike
from sklearn.pipeline import Pipeline
from threadpoolctl import threadpool_limits

from .._base.core import Core
from .._base.run import Deadline, shown
from .._choice.logarithms import Transform
from .._data.choices import Arms, Effort, HandleUnknown, Meaning, MethodName, OnMissing, Task
from .._data.incomplete import filled_gaussians, missing_mask
from .._data.options import refuse_unknown
from .._data.typing import Array, Booleans, ColumnOrValues, Keywords, RandomState
from .._data.validation import TableLike
from .._data.warn import kept_warnings, warn
from .._errors.suspicious import doubtful_errors, features_from, repeated_readings, suspected
from .._rows.reader import RowReader
from .._rows.source import is_dask
from .._rows.training import TrainingRows
from .._tables.columns import ROLES, ColumnRoles, Columns, ColumnsLike
from ..exceptions import ParameterError, UncertainWarning
from ..preprocessing._moves import gaussian_rows
from .calibrating import calibrate
from .model import Model
from .opened import open_dask_rows, open_rows
from .plan import Plan
from .text import reading_text

LOOKED_AT = 5_000
"""Rows that are looked at for suspicious columns."""


class Preparation(TypedDict, total=False):
    """Options of `fit` about what precedes the estimator."""

    transform: Transform
    scale: bool
    arms: Arms
    handle_unknown: HandleUnknown


Parameters = TypedDict("Parameters", {  # noqa: UP013 (a class has a line for each)
    "C": Any, "acceleration": Any, "alpha": Any, "averaging": Any, "batch_size": Any, "between_alpha": Any,
    "bias_correction": Any, "bound": Any, "cache_size": Any, "callback": Any, "class_weight": Any,
    "coef0": Any, "confidence": Any, "coupling": Any, "curve": Any, "degree": Any,
    "degrees_of_freedom": Any, "delta": Any, "density": Any, "epsilon": Any, "error_columns": Any,
    "error_scale": Any, "estimator": Any, "factors": Any, "family": Any, "fit_intercept": Any, "fixed": Any,
    "gamma": Any, "graph": Any, "graph_gamma": Any, "jac": Any, "kernel": Any, "laplacian": Any,
    "loss": Any, "manifold_alpha": Any, "max_bytes": Any, "max_components": Any, "max_iter": Any,
    "max_rank": Any, "max_refinements": Any, "n_components": Any, "n_copies": Any, "n_jobs": Any,
    "n_learners": Any, "n_neighbors": Any, "n_trees": Any, "outliers": Any, "p0": Any, "per_feature": Any,
    "polish": Any, "priors": Any, "probability": Any, "projection": Any, "radius": Any, "rank_tol": Any,
    "reg_covar": Any, "ridge": Any, "scale_features": Any, "scatter": Any, "shared_covariance": Any,
    "shrink": Any, "shrinking": Any, "sigma": Any, "solver": Any, "step_offset": Any, "theta": Any,
    "theta_factor": Any, "threshold": Any, "tol": Any, "truth": Any, "unlabeled": Any, "verbose": Any,
    "view_weights": Any, "views": Any,
}, total=False)  # fmt: skip
"""Parameters of the estimators behind the methods."""


class FitOptions(ColumnRoles, Preparation, Parameters, total=False):
    """Options of `fit` beside its named arguments."""

    y_cov: ArrayLike


def fit(
    table: TableLike,
    target: ColumnOrValues = "label",
    *,
    columns: ColumnsLike | None = None,
    groups: ColumnOrValues | None = None,
    sample_weight: ColumnOrValues | None = None,
    task: Task = "auto",
    method: MethodName = "auto",
    meaning: Meaning = "auto",
    on_missing: OnMissing = "auto",
    noise: tuple[float, float] | None = None,
    effort: Effort = "normal",
    time_limit: float | None = None,
    memory: str | int | None = None,
    random_state: RandomState = 0,
    **options: Unpack[FitOptions],
) -> Model:
    """Fit a classifier or a regression to a table with error bars.

    Names give the error columns (flux_err, e_flux, sigma_flux, period_err1 and period_err2, ...), and by
    default about a dozen models are compared on held-out rows.

    Parameters
    ----------
    table : DataFrame, Arrow table, astropy Table, dict of arrays, path, pattern or list of paths
        The training data; or a `GaussianArray` or an array of exact points, with the labels as `target`.
    target : str or array-like of shape (n_rows,)
        The column to predict, or its values. Floats that are not all whole numbers give a regression, all
        else a classification.
    columns : dict or Columns, default=None
        The features with their error columns, where names are not enough. A dict maps each feature to its
        error column, to a pair (upper, lower) of an asymmetric error bar, or to None for an exact feature.
        `Columns` has every other role: correlations, limits, categories, columns of lists.
    groups : str or array-like of shape (n_rows,), default=None
        The object of each row. Rows of one object are always held out together.
    sample_weight : str or array-like of shape (n_rows,), default=None
        Non-negative weights of the rows; rows of weight 0 are ignored.
    task : {"auto", "classification", "regression"}
        "classification" also accepts many integers, and whole floats, as labels.
    method : str, default="auto"
        "auto" compares models; every other method is one fit (in brackets: for a target of numbers).
        "gsu": `GSUClassifier` [`GSURegressor`], linear unless ``kernel=`` is given;
        "kernel": `ProbabilisticKernelSVC` [`ProbabilisticKernelSVR`], curved;
        "huber": `AdaptiveHuberClassifier` [`AdaptiveHuberRegressor`], also from rows without a target;
        "usvc", "tsvc", "ausvc", "mpsvc", "psvm": the `RobustSVC` of that name;
        "minimax": `MinimaxProbabilityClassifier`; "discriminant": `GaussianDiscriminant`;
        "mixture": `GaussianDiscriminant` [`GaussianMixtureRegressor`, errors in x and y];
        "law": `laws.GeneralizedLinearLaw` [`laws.LinearLaw`], coefficients between true values; see `family=`
        and `curve=`;
        "remeasured": `RemeasuredClassifier` [`RemeasuredRegressor`], boosted trees or any ``estimator=``.
    meaning : {"auto", "measurement", "spread"}
        "measurement": a row is a noisy reading of a true value. "spread": a row stands for a population.
        "auto": a choice compares both; other methods take measurement for scalar error columns, and spread
        for columns of lists, columns called x_spread, and a `GaussianArray`.
    on_missing : {"auto", "error", "impute", "point"}
        "auto": nulls, NaN, infinities, blanks, codes such as -9999 and rare error bars of zero are unknown. A
        missing error bar is estimated, a missing value is a gap, and rows without a target are left out.
        "error" refuses what is missing; "impute" fills gaps; "point" takes a missing error bar as exact.
    noise : tuple of (float, float), default=None
        Error sizes expected of new rows relative to the table's, such as ``(1, 4)``. Only for the methods
        "auto" and "remeasured".
    effort : {"fast", "normal", "high"}
        Of ``method="auto"``: "fast" fits one model without comparing; "high" compares more models.
    time_limit : float, default=None
        Seconds after which the fit ends. Another run may then choose another model.
    memory : str or int, default=None
        Memory that the fit may use, such as "2GB", for tables that are larger. Rows go to a temporary file;
        `target`, `groups` and `sample_weight` must be columns. Not for all methods.
    random_state : int, RandomState or None, default=0
        Seed of everything random.
    **options
        Fields of `Columns` as shortcuts, such as ``std="{}_err"`` or ``exact=["airmass"]``; parameters of the
        estimator, such as ``alpha=1e-2`` (with "auto" only `n_jobs`, `verbose`, `callback`, `estimator`);
        `C`, `epsilon` and `delta` are in units of the target, and their defaults grow with its scale;
        ``transform={feature: "log"}`` or None; ``scale=False``; ``arms="moments"`` or "shape" for asymmetric
        errors; ``handle_unknown="ignore"`` for categories that were not in the fit; `y_cov`, the covariance
        matrix of all targets' errors, for lines.

    Returns
    -------
    Model
        Call `predict`, `report` or `save`; ``print(model)`` summarises the fit.

    Raises
    ------
    UncertainError
        With the column, the row, the value and what to do. Also for an unknown option.

    Examples
    --------
    >>> import polars, uncertain
    >>> table = polars.DataFrame({"flux": [1.0, 1.2, 3.1, 2.9], "flux_err": [0.1, 0.3, 0.1, 0.4],
    ...                           "kind": ["star", "star", "quasar", "quasar"]})
    >>> uncertain.fit(table, target="kind").predict(table).to_list()
    ['star', 'star', 'quasar', 'quasar']
    """
    asked, values, plan = asked_for(
        columns,
        {"target": target, "groups": groups, "sample_weight": sample_weight},
        options,
        {
            "task": task, "method": method, "meaning": meaning, "on_missing": on_missing, "noise": noise,
            "effort": effort, "time_limit": time_limit, "random_state": random_state,
        },
    )  # fmt: skip
    if is_dask(table):
        for name, value in (("noise", noise), ("memory", memory)):
            if value is not None:
                raise ParameterError(f"{name}= is for tables in one memory; on a cluster leave it out")
        reader, plan = open_dask_rows(None, table, asked, values, plan)
    else:
        reader, plan = open_rows(table, asked, values, plan, memory=memory)
    return fit_rows(reader, plan)


def asked_for(
    columns: ColumnsLike | None, beside: Keywords, options: Mapping[str, Any], of_plan: Keywords
) -> tuple[Columns, Keywords, Plan]:
    """Return the roles that are columns, those that are values, and the checked plan; `beside`: target,
    groups, weights; `of_plan`: arguments of `fit` that are fields of `Plan`."""
    if not options.keys() <= FitOptions.__annotations__.keys():
        refuse_unknown(options, FitOptions.__annotations__, ("columns", "memory", *beside, *of_plan))
    rest = dict(options)
    asked, values = Columns.from_arguments(columns, beside | {r: rest.pop(r) for r in ROLES if r in rest})
    if (y_cov := rest.pop("y_cov", None)) is not None:
        values["y_cov"] = y_cov
    of_plan = of_plan | {name: rest.pop(name) for name in Preparation.__annotations__ if name in rest}
    return asked, values, Plan(**of_plan, params=rest).checked()


def fit_rows(reader: RowReader, plan: Plan) -> Model:
    """Read the rows of a table whose columns are known, and fit a plan to them."""
    start = time.perf_counter()
    deadline = None if plan.time_limit is None else Deadline(plan.time_limit)
    silent = False if plan.params.get("verbose") else None
    with shown("fitting", silent), nullcontext() if deadline is None else deadline.stops():
        with kept_warnings() as doubts:
            plan = plan.settled(regression=reader.settle(plan.task, partial=plan.partial))
            rows = reader.read(plan.uses)
        some = rows.remembered()
        plan = plan.in_units_of(some)
        pipeline, board, held_out = plan.fit(rows, reader, deadline)
        if reader.numbers is not None and isinstance(pipeline[-1], Core):
            pipeline[-1]._number_rows(reader.numbers)
        reader.warn_of_columns()
        doubts = [*reader.doubts, *doubts, *warn_of_doubts(reader, plan, some)]
        reading = [] if reader.reading is None else [("gaussians", reader.reading)]
        whole = Pipeline([*reading, *pipeline.steps])
        calibration = calibrate(pipeline, some, held_out)
    model = Model(
        whole, reader.settled_columns(), calibration,
        n_rows=len(rows), n_left_out=reader.n_left_out, seconds=time.perf_counter() - start,
        leaderboard=board, doubts=doubts,
    )  # fmt: skip
    if (log := logging.getLogger("uncertain")).isEnabledFor(logging.INFO):
        log.info(
            reading_text(model.columns_, "" if reader.reading is None else reader.reading.unknown_.totals)
        )
    return model


def warn_of_doubts(reader: RowReader, plan: Plan, some: TrainingRows) -> list[str]:
    """Warn about error bars that can hardly be meant and features that know the target."""
    some = some.sampled(LOOKED_AT)
    rows = gaussian_rows(some.rows)
    of_table = bool(reader.columns.used)
    names = reader.feature_names()[: rows.n_features] or [f"x{j}" for j in range(rows.shape[1])]
    categories = {c: len(values) for c, values in getattr(reader.reading, "categories_", {}).items()}
    n_exact = len(reader.columns.exact or ()) + sum(categories.values())
    has_bars = of_table and (reader.columns.mean is None or bool(reader.columns.lists))
    with_bars = np.arange(len(names)) < (len(names) - n_exact if has_bars else 0)
    measured = (plan.usual if plan.meaning == "auto" else plan.meaning) == "measurement"
    with threadpool_limits(1, "blas"):  # threads wait longer for each other than these sums take
        sentences = doubtful_errors(rows, names, with_bars, measured=measured)
    if reader.columns.groups is None and (sentence := repeated_readings(rows, names)):
        sentences.append(sentence)
    if of_table:
        y = some.y[:]
        known = _known(y)
        means, missing = filled_gaussians(rows).means[known], missing_mask(rows)[known]
        features = features_from(means, missing, names, ~with_bars, categories)
        sentences += suspected(features, reader.columns.target, y[known], regression=plan.regression)
    for sentence in sentences:
        warn(sentence, UncertainWarning)
    return sentences


def _known(y: Array) -> Booleans:
    """Which rows have a target?"""
    if y.dtype.kind == "f":
        return ~np.isnan(y)
    if y.dtype.kind == "O":
        return np.asarray([value is not None for value in y.tolist()], dtype=bool)
    return np.ones(len(y), dtype=bool)
