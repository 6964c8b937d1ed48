"""`uncertain.fit`: from a table with error bars to a fitted model, in one call.

Columns, rows, plan, fit, model: the roles of columns are settled by names and types, the rows are read into a
store (memory, a file, a cluster), and the plan is fitted there. Everything that can be wrong with names,
options and labels is checked before a number is read; the numbers themselves are checked on their way into
the first step of the pipeline.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Any, Literal

from numpy.typing import ArrayLike
from sklearn.pipeline import Pipeline

from .._base.deadline import Deadline
from .._base.progress import shown
from .._choice.logarithms import Transform
from .._choice.steps import reads_all
from .._columns import Columns
from .._columns.bars import ErrorColumns
from .._data.choices import Arms, Effort, HandleUnknown, Meaning, MethodName, OnMissing, Task
from .._data.typing import ColumnOrValues, RandomState
from .._data.validation import TableLike
from .._rows.reader import RowReader
from .._rows.sampled import REMEMBERED_ROWS
from .._tables.dask import is_dask
from ..exceptions import ParameterError
from .doubts import warn_of_doubts
from .model import Model
from .opened import open_dask_rows, open_rows
from .plan import Plan
from .remember import remember


def fit(
    table: TableLike,
    target: ColumnOrValues = "label",
    *,
    target_std: ColumnOrValues | None = None,
    sample_weight: ColumnOrValues | None = None,
    groups: ColumnOrValues | None = None,
    offset: ColumnOrValues | None = None,
    event: ColumnOrValues | None = None,
    modes: Sequence[str] | ArrayLike | None = None,
    y_cov: ArrayLike | None = None,
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
    draws: str | Sequence[str] | None = None,
    columns: Columns | None = None,
    task: Task = "auto",
    method: MethodName = "auto",
    meaning: Meaning = "auto",
    scale: bool = True,
    transform: Transform = "auto",
    on_missing: OnMissing = "auto",
    indicators: bool | Literal["auto"] = "auto",
    arms: Arms = "auto",
    handle_unknown: HandleUnknown = "error",
    effort: Effort = "normal",
    noise: tuple[float, float] | None = None,
    memory: str | int | None = None,
    spill: str | os.PathLike[str] | None = None,
    random_state: RandomState = 0,
    time_limit: float | None = None,
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
    offset, event : for ``method="law"`` with ``family=``: the column that is added to the linear predictor,
        and the one that is 1 where a time was reached and 0 where it is longer; or the values, one per row.
        Predictions are for an offset of 0.
    modes : for ``method="law"``: columns of errors of the target that rows share, such as calibrations, or an
        array (n, k) or, but for curves, (n, d, k); see the laws' `fit`.
    y_cov : for lines, in place of `modes`: the covariance matrix (n, n) of all targets' errors, a row
        and a column for each row of the table. Rows without a target are left out of it, too. Error columns
        of the target are then not looked for; `target_std` is the part that no other row shares.
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
    draws : columns of lists, draws of each row's distribution (posterior chains, bootstraps): rows become
        mixtures of Gaussians, see :func:`uncertain.uncertainty.from_draws`. Lists that are as long as each
        other in every row were drawn together; a null is a missing value. In a table without error bars,
        columns of lists are taken for draws.
    columns : all of these roles in one object, `uncertain.Columns`, for which the arguments are shortcuts. A
        role is given in one of the two.
    task : "auto", "classification" or "regression". "auto" is regression for a target of floats (that are not
        all whole numbers); "classification" also accepts many integers, and whole floats, as labels.
    method : the model; in brackets, for a target of numbers.
        "auto": a choice among several of the following on held-out rows, see below; every other method is one
        fit;
        "gsu": `GSUClassifier` [`GSURegressor`], linear unless ``kernel=`` is given;
        "kernel": `ProbabilisticKernelSVC` [`ProbabilisticKernelSVR`], curved, up to some ten thousand rows;
        "huber": `AdaptiveHuberClassifier` [`AdaptiveHuberRegressor`, also for more than 20 different
        integers], which drops labels inconsistent with the fit; rows whose target is null are unlabelled;
        "usvc", "tsvc", "ausvc", "mpsvc", "psvm": the `RobustSVC` of that name;
        "minimax": `MinimaxProbabilityClassifier`; "discriminant": `GaussianDiscriminant`, which treats error
        bars as measurement error by itself;
        "mixture": `GaussianDiscriminant` [`GaussianMixtureRegressor`, errors in x and y: the slopes between
        true values; it also uses columns of covariances between the target's errors and the features'];
        "law": the law between true values, `uncertain.laws.GeneralizedLinearLaw` [`GaussianMixtureRegressor`;
        with ``family=``, such as "poisson", the former]: coefficients that the noise does not flatten, with
        standard errors; ``limits=`` of a target that is a time says which times were not reached;
        "remeasured": `RemeasuredClassifier` [`RemeasuredRegressor`]: boosted trees, or any ``estimator=``,
        trained on copies of the rows with larger and smaller errors; of numbers with ``density=True`` also a
        density with all its peaks, which "auto" learns where it is clearly better than a normal law.
    meaning : "spread": a row stands for all points of its Gaussian, each of which should be classified well.
        "measurement": a row is one noisy reading of a true value, so the noise is in the mean already; a
        `GaussianDenoiser` in front replaces each reading by the posterior of its true value. A regression is
        fitted to the posterior means alone (`GaussianCollapser`), and its coefficients are then those of the
        law between true values.
        "auto": ``method="auto"`` compares both. Other methods take measurement for scalar error columns,
        which is what these hold in nearly every table; spread for columns of lists (covariances, deviations),
        for error columns called x_spread, and for a GaussianArray.
    transform : which features are taken as logarithms, softened around zero (`GaussianLogScaler`), before
        anything else. "auto": with the methods "auto" and "remeasured", those that are positive and skewed
        over a decade or more; ``print(model)`` names them. {feature: "log"}, or {feature: softening}: these
        and no others, with any method. None: all features in their own units.
    scale : divide every feature (and its error bars) by its standard deviation over the rows first.
    on_missing : what a missing value or error bar means. "auto": nulls, NaN, infinities, masked values,
        blanks, codes such as -9999 (repeated values far outside the rest of a column) and rare error bars of
        zero are unknown. A value without an error bar gets one from a model of sizes, which is learned from
        those that are there; a missing value is a gap. Rows without a target are left out (with
        ``method="huber"`` they are unlabelled). ``print(model)`` counts all of these. "error": what is
        missing is refused, with its column and row; "impute": a value without an error bar is a gap as well;
        "point": it is exact. A gap is filled with its conditional Gaussian given the row's other features
        (`GaussianImputer`), except with ``meaning="measurement"`` and the discriminant: for them it is a
        reading with infinite noise, and they use the features that are present. Arrays take NaN with "impute"
        alone.
    indicators : with ``on_missing="auto"``, features of zeros and ones that say where values (``x_missing``)
        and error bars (``x_error_missing``) are missing, of scalar columns where this is so in a hundredth of
        the rows, and in ten. "auto": for re-measured learners, also as candidates of ``method="auto"``; True:
        for any method, and all candidates; False: none.
    arms : what is kept of asymmetric error bars. "moments": mean and variance, with a warning; "shape": a
        mixture of two or three Gaussians (`uncertain.uncertainty.from_bounds`); a row of many such features
        may be 64 Gaussians, which cost what 64 rows cost. "auto": the shape for
        ``method="law"`` of up to three such features, without ``outliers``, ``error_scale``, `modes`,
        `y_cov` and covariances with the target; else moments.
    handle_unknown : what to do with a category that was not in the fit: "error" refuses it, "ignore" treats
        it as none of the known ones.
    effort : of ``method="auto"``: "fast" follows a rule and fits once (the linear SVM-GSU); "normal" is
        seconds for small tables and ten seconds or so for 20,000; "high" includes kernel machines of up to
        20,000 rows, uses more folds, and always averages models.
    noise : the range of errors expected of new rows, as factors of those in the table: ``(1, 4)`` for errors
        up to four times as large. "auto" chooses by held-out rows that are re-measured in this range (at its
        ends and its geometric middle), and re-measured learners get it as ``factors``, with
        ``per_feature=0``. Methods that are neither "auto" nor "remeasured" refuse it. By default candidates
        are judged with errors as they are, twice and four times as large (with fewer than 1,000 rows, and
        with ``meaning="spread"``, as they are), and scores are those of errors as they are.
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
    time_limit : seconds after which the fit ends. "auto" takes half of them for the choice: candidates that
        are not done by then, or not begun, are left out (``leaderboard_`` says which), and what is chosen is
        fitted to all rows in the other half. What is not done when the time is over is an error. This reads
        the clock, so that the same call may choose another model; without it a fit is bounded by work (rows,
        features and passes), and repeats itself. Re-measured trees are not stopped while they grow.
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
    UncertainWarning : for numeric columns that were left out, and for numbers that are taken for missing, or
        look like codes, such as -9999.

    Notes
    -----
    The choice. Candidates are the linear SVM-GSU and kernel machines with a penalty from a path, for both
    meanings unless `meaning` is given, Gaussian discriminants with 1 to 8 Gaussians per class (for numbers,
    mixtures of 1 to 16 Gaussians of features and target), and boosted trees on re-measured rows. All are
    compared on the same held-out rows (whole `groups`, weighted, at most 20,000 rows) by log loss, for
    numbers by squared error, fold after fold; who is more than three standard errors (of the paired
    difference, of 50 held-out rows at least) behind leaves the race. With 1,000 rows or more the simplest
    within one standard error (of the paired difference) of the best is fitted to all rows. With fewer rows
    several good ones are averaged, with the weights of least held-out loss. ``model.leaderboard_`` lists all
    of them, those that could not take part with the reason, and the best of each kind without error bars.
    With fewer than 20 rows nothing is held out, and the rule of "fast" is used. Rows with equal means and
    error bars are held out together (unless more than a twentieth of the rows are all equal), and
    ``print(model)`` says so. The models of the folds also calibrate sets, intervals and scatter.

    Without column arguments, `mean` and the one of `cov`, `std`, `var`, `precision`, `factor` that exists are
    taken; otherwise every scalar column with an error column: x_err, x_error, x_std, x_se, x_sigma, x_unc,
    xErr, e_x, sigma_x, dx and the like for x, also inside a name (psfMagErr_u for psfMag_u), or two for the
    arms or limits of asymmetric ones (x_err1 and x_err2, x_upper and x_lower, euX and edX, x_16 and x_84).
    dx, eX, s_x and x_e count where x has no other error bar, as numbers without signs. ``model.columns_``
    says what was chosen and what was ignored; numeric columns among these are named in a warning.

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
    plan = Plan(
        task, method, meaning, scale, transform, on_missing, handle_unknown, effort, noise,
        random_state, time_limit, params, indicators=indicators, arms=arms,
    ).checked()  # fmt: skip
    roles: dict[str, object] = {
        "target": target, "target_std": target_std, "groups": groups, "sample_weight": sample_weight,
        "offset": offset, "event": event, "modes": modes,
        "mean": mean, "std": std, "var": var, "cov": cov, "precision": precision, "factor": factor,
        "bounds": bounds, "features": features, "exact": exact, "categorical": categorical, "corr": corr,
        "limits": limits, "draws": draws,
    }  # fmt: skip
    asked, values = Columns.from_arguments(columns, roles)
    if y_cov is not None:
        values["y_cov"] = y_cov
    if is_dask(table):
        for name, given in (("noise", noise), ("memory", memory), ("spill", spill)):
            if given is not None:
                raise ParameterError(f"{name}= is for tables in one memory; on a cluster leave it out")
        reader, plan = open_dask_rows(None, table, asked, values, plan)
    else:
        reader, plan = open_rows(table, asked, values, plan, memory=memory, spill=spill)
    return fit_rows(reader, plan)


def fit_rows(reader: RowReader, plan: Plan) -> Model:
    """Read the rows of a table whose columns are known, and fit a plan to them."""
    start = time.perf_counter()
    deadline = None if plan.time_limit is None else Deadline(plan.time_limit)
    silent = False if plan.params.get("verbose") else None
    with shown("fitting", silent), nullcontext() if deadline is None else deadline.stops():
        plan = plan.settled(regression=reader.settle(plan.task, partial=plan.partial))
        rows = reader.read(plan.uses)
        some = rows.sample(REMEMBERED_ROWS)
        fitted = plan.fit(rows, reader, deadline)
        if (n := reader.n_indicators) and not reads_all(fitted.pipeline):
            reader.drop_indicators()
            fitted, some = fitted.without_last(n), replace(some, rows=some.rows[:, :-n])
        pipeline, board, held_out = fitted
        reader.warn_of_left_out("" if board is None else board.worth)
        warn_of_doubts(reader, plan, some)
        reading = [] if reader.reading is None else [("gaussians", reader.reading)]
        whole = Pipeline([*reading, *pipeline.steps])
        residual_std, remembered = remember(pipeline, some, held_out)
    return Model(
        whole, reader.settled_columns(), residual_std, remembered,
        n_rows=len(rows), n_left_out=reader.n_left_out, seconds=time.perf_counter() - start,
        leaderboard=board,
    )  # fmt: skip
