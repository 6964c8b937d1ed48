"""`uncertain.fit`: from a table with error bars to a fitted model, in one call.

Everything that can be wrong with names, options and labels is checked before a number is read; the
numbers themselves are checked on their way into the first step of the pipeline.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

from .._choice.choose import choose
from .._choice.leaderboard import Leaderboard
from .._choice.methods import MethodName, chosen, estimator_of
from .._choice.portfolio import Effort, Options
from .._choice.settings import check_choice, re_measured_in, settings_of_choice
from .._choice.steps import takes_gaps
from .._columns import Columns, find_columns, left_out
from .._columns.columns import OF_ROWS
from .._columns.roles import ErrorColumns
from .._data.array import GaussianArray
from .._data.coded import coded
from .._data.options import check_option
from .._data.typing import ColumnOrValues, RandomState
from .._data.validation import TableLike
from .._data.warn import warn
from .._held_out.fits import FoldModels
from .._rows.training import TrainingRows
from .._spill import Budget
from .._tables.dask import is_dask
from .._tables.sentinels import sentinel_warning, sentinels
from .._tables.source import Source
from ..exceptions import ParameterError, UncertainWarning
from ..preprocessing import AsGaussians
from ..preprocessing._empty import find_filled
from . import with_target as with_target_
from .beyond import fit_in_file, fit_large, settled, suits_parts
from .measured import are_readings
from .model import Model


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
    limits: str | Mapping[str, str] | None = None,
    columns: Columns | None = None,
    task: Literal["auto", "classification", "regression"] = "auto",
    method: MethodName = "auto",
    meaning: Literal["auto", "spread", "measurement"] = "auto",
    scale: bool = True,
    on_missing: Literal["error", "point", "impute"] = "error",
    handle_unknown: Literal["error", "ignore"] = "error",
    effort: Effort = "normal",
    noise: tuple[float, float] | None = None,
    memory: str | int | None = None,
    spill: str | os.PathLike[str] | None = None,
    random_state: RandomState = 0,
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
    target_std : for the numbers of `GSURegressor` and `GaussianMixtureRegressor`: the column of the target's
        standard deviations, or the values, one per row. By default, where columns are found by name, y_err,
        y_error, y_std, y_se or y_sigma for a target y. Such columns are never features.
    sample_weight : how much each row counts, >= 0: a column, or the values, one per row. Not a feature. It
        counts in every step (scales, distributions of true values, the fit, probabilities, the scatter of a
        regression); rows of weight 0 are ignored.
    groups : the object that each row belongs to, such as the name of a patient measured three times: a
        column, or the values, one per row. Not a feature. Rows of one group are held out together where
        probabilities are calibrated, where the scatter of a regression is measured, and by `Model.report`.
        Without it, such rows are taken as independent.
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
    exact : scalar columns without error bars that are features, too; "all": every numeric column without
        another role.
    categorical : columns of categories (strings, booleans, integers): a feature of zeros and ones for each.
    corr : pattern of the correlation columns of scalar features, such as ``"{}_{}_corr"``, or
        {(a, b): column}; columns such as a_b_corr and cov_a_b are also found by name. With
        ``method="mixture"`` one of the pair may be the target.
    limits : which values are limits: {column: column of flags}, or a pattern such as ``"{}_limit"``, of
        scalar columns and of a target of numbers. A flag is -1, "<" or True where the reading lies below the
        value (an upper limit, flux < 3.2), 1 or ">" where it lies above, and 0, "=", "", False or null where
        it was read. These are the signs of VizieR's ``l_`` columns; where an archive writes 1 for upper
        limits, negate its column. A limit without an error bar is a limit of the true value. Features may be
        limits with ``method="mixture"``, "discriminant" and ``meaning="measurement"``, targets with "mixture"
        for numbers. Other methods refuse them, and "auto" chooses among these.
    columns : all of these roles in one object, `uncertain.Columns`, for which the arguments are shortcuts. A
        role is given in one of the two.
    task : "auto", "classification" or "regression". "auto" is regression for a target of floats (that are not
        all whole numbers); "classification" also accepts many integers, and whole floats, as labels.
    method : the model; in brackets, for a target of numbers.
        "auto": a choice among several of the following on held-out rows, see below; every other method is one
        fit;
        "gsu": `GSUClassifier` (`GSURegressor`), linear unless ``kernel=`` is given;
        "kernel": `ProbabilisticKernelSVC` (`ProbabilisticKernelSVR`), curved, up to some ten thousand rows;
        "huber": `AdaptiveHuberClassifier` (`AdaptiveHuberRegressor`, also for more than 20 different
        integers), which drops labels inconsistent with the fit; rows whose target is null are unlabelled;
        "usvc", "tsvc", "ausvc", "mpsvc", "psvm": the `RobustSVC` of that name;
        "minimax": `MinimaxProbabilityClassifier`; "discriminant": `GaussianDiscriminant`, which treats error
        bars as measurement error by itself;
        "mixture": the same [`GaussianMixtureRegressor`, errors in x and y: the slopes between true values; it
        also uses columns of covariances between the target's errors and the features'];
        "remeasured": `RemeasuredClassifier` (`RemeasuredRegressor`): boosted trees, or any ``estimator=``,
        trained on copies of the rows with larger and smaller errors.
    meaning : "spread": a row stands for all points of its Gaussian, each of which should be classified well.
        "measurement": a row is one noisy reading of a true value, so the noise is in the mean already; a
        `GaussianDenoiser` in front replaces each reading by the posterior of its true value. A regression is
        fitted to the posterior means alone (`GaussianCollapser`), and its coefficients are then those of the
        law between true values.
        "auto": ``method="auto"`` compares both. Other methods take measurement for scalar error columns,
        which is what these hold in nearly every table; spread for columns of lists (covariances, deviations),
        for error columns called x_spread, and for a GaussianArray.
    scale : divide every feature (and its error bars) by its standard deviation over the rows first.
    on_missing : what a missing value or error bar means: "error" refuses it; "point" takes a value without an
        error bar as exact; "impute" takes a feature whose value or error bar is missing as unknown. Its
        conditional Gaussian given the others replaces it (`GaussianImputer`), except with
        ``meaning="measurement"`` and the discriminant: for them it is a reading with infinite noise, and they
        use the features that are present.
    handle_unknown : what to do with a category that was not in the fit: "error" refuses it, "ignore" treats
        it as none of the known ones.
    effort : of ``method="auto"``: "fast" follows a rule and fits once (the linear SVM-GSU); "normal" is
        seconds for small tables and ten seconds or so for 20,000; "high" includes kernel machines of up to
        20,000 rows, uses more folds, and always averages models.
    noise : the range of errors expected of new rows, as factors of those in the table: ``(1, 4)`` for errors
        up to four times as large. "auto" chooses by held-out rows that are re-measured in this range (at its
        ends and its geometric middle), and re-measured learners get it as ``factors``, with
        ``per_feature=0``. Methods that are neither "auto" nor "remeasured" refuse it. By default the choice
        is made for errors of the present size.
    memory : how much memory the fit may take above what is in use, such as "2GB" or "500MB" (in powers of 2),
        for tables that are larger: the rows are read once, batch by batch, into a temporary file, which every
        pass reads in place. For a path, pattern, folder or list of Parquet and Arrow files, a pyarrow
        Dataset, Scanner or RecordBatchReader, a lazy frame of Polars, a DuckDB relation, or a table in
        memory; `target`, `sample_weight`, `groups` and `target_std` must be names of columns. Methods that do
        not reduce to sums over rows ("kernel" without `n_components`, "huber", "remeasured", "tsvc", "ausvc",
        "mpsvc", "psvm", ``kernel=`` of "gsu") are refused; "auto" chooses among the others, on a sample of
        about 20,000 rows. See the guide, "Larger than memory".
    spill : the folder of that file, on a local disk; by default the system's folder for temporary files. It
        needs 8 bytes for every number that is read.
    random_state : seed of everything random, also of the folds of a choice; a fit repeats itself bit for bit.
    **params : parameters of the method's estimator, such as ``alpha=1e-2`` or ``C=10.0``. Where there are
        such parameters `probability` is True, and `sigma` of kernels is "median", unless given. With "auto"
        only `n_jobs`, ``verbose=1`` (a line of progress), `callback` (called after every fit, as that of
        `Model.report`), and `estimator`, the learner of the re-measured candidate.

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

    Notes
    -----
    The choice. Candidates are the linear SVM-GSU and kernel machines with a penalty from a path, for both
    meanings unless `meaning` is given, Gaussian discriminants with 1 to 8 Gaussians per class (for numbers,
    mixtures of 1 to 16 Gaussians of features and target), and boosted trees on re-measured rows. All are
    compared on the same held-out rows (whole `groups`, weighted, at most 20,000 rows) by log loss, for
    numbers by squared error. With 1,000 rows or more the simplest within one standard error (of the paired
    difference) of the best is fitted to all rows. With fewer rows several good ones are averaged, with the
    weights of least held-out loss. ``model.leaderboard_`` lists all of them, those that could not take part
    with the reason, and the best of each kind without error bars. With fewer than 20 rows nothing is held
    out, and the rule of "fast" is used. Rows with equal means and error bars are held out together (unless
    more than a twentieth of the rows are all equal), and ``print(model)`` says so. The models of the folds
    also calibrate sets, intervals and scatter.

    Without column arguments, `mean` and the one of `cov`, `std`, `var`, `precision`, `factor` that exists are
    taken; otherwise every scalar column with an error column: x_err, x_error, x_std, x_se, x_sigma, x_unc,
    xErr, e_x, sigma_x, dx and the like for x, also inside a name (psfMagErr_u for psfMag_u), or two for the
    arms or limits of asymmetric ones (x_err1 and x_err2, x_upper and x_lower). ``model.columns_`` says what
    was chosen and what was ignored; numeric columns among these are named in a warning.

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
    arguments = locals()
    if is_dask(table):
        return _on_cluster(arguments)
    entry = chosen(method)
    check_option("task", task, ("auto", "classification", "regression"))
    check_option("meaning", meaning, ("auto", "spread", "measurement"))
    check_option("on_missing", on_missing, ("error", "point", "impute"))
    noise = check_choice(method, effort, noise)
    if not isinstance(scale, bool):
        raise ParameterError(f"scale={scale!r}: must be True or False")

    budget = None if memory is None else Budget.of(memory)
    if budget is None and spill is not None:
        raise ParameterError(f'spill={spill!r}: is where the rows go with memory=, such as memory="2GB"')
    source = Source.of(table)
    asked, values = Columns.from_arguments(columns, arguments)
    with source.named():
        columns = _found_columns(source, asked)
    beside: dict[str, Any] = {role: values.get(role, getattr(columns, role)) for role in OF_ROWS}
    target, target_std, groups, sample_weight = beside.values()
    with_target = columns.known.target_pairs
    beside_target = {*columns.known.target_stds, *with_target.columns}
    in_parts = budget is None and entry is not None and suits_parts(source, columns, named=bool(asked.errors))
    if in_parts:
        source.load(columns.beside() | beside_target)
    elif budget is None:
        source.load({*source.names} - {*columns.ignored} | beside_target)
        if source.table is not None:
            with source.named():
                columns = find_filled(asked, source.table, columns)
            source.load({*source.names} - {*columns.ignored} | beside_target)
    usual = "measurement" if are_readings(source, columns) else "spread"
    options = Options(
        task, method, meaning, usual, scale, on_missing, handle_unknown, effort, noise, random_state, params
    )  # fmt: skip
    found = asked.exact is None and asked.features is None and asked.mean is None
    if budget is not None:
        if found:
            _warn_of_left_out(source, columns)
        return fit_in_file(source, columns, options, beside, budget, spill)
    y_limit = with_target_.limits(source, columns)
    y, regression = source.targets(target, task, partial=entry is not None and entry.partial)
    if regression and (code := sentinel_warning(sentinels(columns.target or "target", y))):
        warn(code, UncertainWarning)
    if regression:
        columns = columns.with_found(target_unit=source.unit(columns.target))
    if entry is None:
        params, estimator, knows_y_std = settings_of_choice(params), None, regression
    else:
        params = params if noise is None else re_measured_in(noise, params)
        estimator = estimator_of(method, regression=regression, params=params, random_state=random_state)
        knows_y_std = has_fit_parameter(estimator, "y_std")
    if target_std is None and knows_y_std:
        columns = columns.with_target_std()
        target_std = columns.target_std
    y_std = None
    if target_std is not None:
        if not knows_y_std:
            raise _no_target_std(estimator)
        missing = 0.0 if on_missing == "point" else None
        y_std = source.target_stds(target_std, missing, unit=columns.target_unit)
    xy_cov = None
    if regression if estimator is None else has_fit_parameter(estimator, "xy_cov"):
        if with_target.columns and (with_target.named or y_std is not None):
            columns = columns.with_pairs_of_target(with_target.corr, with_target.cov)
            reader = AsGaussians(columns=columns, on_missing=on_missing, handle_unknown=handle_unknown)
            reader.fit(source.rows)
            xy_cov = with_target_.covariances(source, reader, with_target, str(target), y_std)
    elif with_target.named and with_target.columns:
        raise ParameterError(
            f"{next(iter(with_target.columns))} is given for the target {target!r}: covariances with its "
            'errors are used by method="mixture" for numbers'
        )
    of_numbers = regression if estimator is None else has_fit_parameter(estimator, "y_limit")
    if y_limit is not None and not of_numbers:
        raise ParameterError(
            f"limits={{{target!r}: {columns.target_limit!r}}}: targets may be limits where they are numbers, "
            'with method="mixture"'
        )
    together = None if groups is None else source.groups(groups)
    if together is not None and not isinstance(groups, str):
        columns = replace(columns, groups=True)
    weights = None if sample_weight is None else source.weights(sample_weight)
    if weights is not None and not isinstance(sample_weight, str):
        columns = replace(columns, sample_weight=True)
    if found:
        _warn_of_left_out(source, columns)
    reading = AsGaussians(columns=columns, on_missing=on_missing, handle_unknown=handle_unknown)
    known = TrainingRows(None, y, weights, together, y_std, xy_cov, y_limit)
    start = time.perf_counter()
    board: Leaderboard | None = None
    held_out: FoldModels | None = None
    if entry is None or estimator is None:
        rows = reading.fit_transform(source.rows)
        request = replace(options, params=params).request(
            replace(known, rows=rows), regression=regression, limits=bool(columns.limits),
            target_limits=y_limit is not None,
        )  # fmt: skip
        chosen_one, board, held_out = choose(request, replace(known, rows=rows))
        pipeline = Pipeline([("gaussians", reading), *chosen_one.steps])
    else:
        steps = options.steps(estimator, columns.flags())
        if in_parts:
            codes: Any = coded(y)
            known = replace(known, y=codes)
            del y  # eight bytes a row
            return fit_large(source, columns, reading, Pipeline(steps), known, start)
        # Of arrays NaN is a gap for what takes gaps, which only the caller may say.
        if source.table is not None or takes_gaps(estimator, measured=options.denoised):
            steps.insert(0, ("gaussians", reading))
        pipeline = replace(known, rows=source.rows).fit(Pipeline(steps))
    model = Model(pipeline, settled(columns, reading), n_rows=len(y), leaderboard=board)
    return model._remember(replace(known, rows=model._rows(source)), start, held_out)


def _on_cluster(given: dict[str, Any]) -> Model:
    """`fit`, with its arguments, of a table on a cluster."""
    from .cluster.fit import fit as fit_on_cluster  # which imports Dask

    for name in ("noise", "limits", "memory", "spill"):
        if given.pop(name) is not None:
            raise ParameterError(f"{name}= is for tables in one memory; on a cluster leave it out")
    params = given.pop("params")
    return fit_on_cluster(None, **given, **params)


def _warn_of_left_out(source: Source, columns: Columns) -> None:
    """One warning about the numeric columns that were found, but not taken."""
    message = None if source.table is None else left_out(columns, source.table.type_of)
    if message is not None:
        warn(message, UncertainWarning)


def _found_columns(source: Source, asked: Columns) -> Columns:
    """The columns of a table by role; arrays have none that could be named."""
    if source.table is not None:
        return find_columns(asked, source.table)
    data = source.data
    if not isinstance(data, (GaussianArray, np.ndarray)) and asked.target is not None:
        raise ParameterError(
            f"data of type {type(data).__name__} is no table: pass a table (Polars, pandas, pyarrow, DuckDB, "
            "astropy, a dictionary of columns, the path of a file), or an array with the labels as target="
        )
    kind = "a GaussianArray" if isinstance(data, GaussianArray) else f"data of type {type(data).__name__}"
    named = {role: name for role in OF_ROWS[1:] if (name := getattr(asked, role)) is not None}
    role = next(iter(asked.asked() | named), None)
    if role is not None:
        raise ParameterError(
            f"{role}= names a column of a table, but {kind} has none; see GaussianArray(means, ...)"
        )
    if asked.target is not None:
        raise ParameterError(f"{kind} has no column {asked.target!r}: pass the labels themselves as target=")
    return Columns.of_array()


def _no_target_std(estimator: BaseEstimator | None) -> ParameterError:
    """The estimator does not know error bars of the target."""
    return ParameterError(
        "target_std=: only GSURegressor and GaussianMixtureRegressor know error bars of the target; "
        f'they are the methods "gsu" and "mixture" for numbers, but this is {type(estimator).__name__}'
    )
