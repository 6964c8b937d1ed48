"""From a Dask DataFrame to a model: the columns here, the rows on the workers, and passes between them."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Literal

from sklearn import config_context
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

from ..._choice.methods import METHODS, estimator_of, is_denoised
from ..._choice.settings import settings_of_choice
from ..._choice.steps import steps_with
from ..._columns import Columns, find_columns, left_out
from ..._columns.columns import OF_ROWS
from ..._data.options import check_option
from ..._data.typing import RandomState
from ..._data.validation import seed_from
from ..._data.warn import warn
from ..._rows.training import fit_arguments
from ..._tables.dask import is_dask
from ..._tables.source import Source
from ...exceptions import ParameterError, UncertainWarning
from ...preprocessing import AsGaussians, GaussianDenoiser, GaussianImputer, GaussianScaler
from ..beyond import settled
from ..measured import are_readings
from ..model import Model
from .choice import IN_SUMS, chosen_steps
from .passes import Cluster, Passes, current
from .rows import Distributed, Sample
from .work import Roles, moved, with_target

GROUP_BYTES = 1 << 27
"""Partitions go into one group as long as they have no more bytes together."""
ABLE = (*IN_SUMS, "usvc", "minimax", "mixture")
"""Methods that are made of sums over the rows."""
INSTEAD = {
    "kernel": '"gsu", which is linear, or fit the kernel machine to a sample of the rows',
    "huber": 'for numbers "gsu" with loss="huber"',
    "remeasured": '"gsu", or fit to a sample of the rows',
    **dict.fromkeys(("tsvc", "ausvc", "mpsvc", "psvm"), '"usvc"'),
}


def fit(
    client: Any,
    table: Any,
    target: str = "label",
    *,
    target_std: str | None = None,
    sample_weight: str | None = None,
    groups: str | None = None,
    mean: str | None = None,
    std: Any = None,
    var: Any = None,
    cov: Any = None,
    precision: str | None = None,
    factor: str | None = None,
    bounds: Any = None,
    features: Sequence[str] | None = None,
    exact: Sequence[str] | Literal["all"] | None = None,
    categorical: Sequence[str] | None = None,
    corr: Any = None,
    columns: Columns | None = None,
    task: Literal["auto", "classification", "regression"] = "auto",
    method: str = "auto",
    meaning: Literal["auto", "spread", "measurement"] = "auto",
    scale: bool = True,
    on_missing: Literal["error", "point", "impute"] = "error",
    handle_unknown: Literal["error", "ignore"] = "error",
    effort: Literal["fast", "normal"] = "normal",
    random_state: RandomState = 0,
    timeout: float = 600.0,
    retries: int = 3,
    group_bytes: int = GROUP_BYTES,
    **params: Any,
) -> Model:
    """Fit a model to a Dask DataFrame, on its cluster.

    Parameters
    ----------
    client : dask.distributed.Client, or None for the current one.
    table : Dask DataFrame; partitions may be empty.
    target, target_std, sample_weight, groups : names of columns, as in `uncertain.fit`; values beside the
        table have no place on a cluster.
    mean, std, var, cov, precision, factor, bounds, features, exact, categorical, corr, columns : as there.
    task, meaning, scale, on_missing, handle_unknown, random_state : as there.
    method : "gsu"; for classes "usvc", "minimax" and "discriminant"; for numbers "mixture". "auto" chooses
        among "gsu" and "discriminant", on the sample (of which `uncertain.fit` looks at 20,000 rows), and
        says so if boosted trees would be better there.
    effort : of ``method="auto"``: "fast" follows a rule, "normal" chooses.
    timeout : seconds that a pass over the rows, or the reading of the table, may take.
    retries : how often the reading of a partition that failed is tried again. Work whose worker dies is tried
        again elsewhere, as often as the cluster allows.
    group_bytes : neighbouring partitions are joined to groups of at most so many bytes (but at most 64
        groups), each of which is one task of a pass.
    **params : parameters of the estimator, as in `uncertain.fit`. `n_jobs` is the number of threads of every
        task; ``verbose=1`` also prints every pass with its seconds, the bytes so far and the slowest worker.

    Returns
    -------
    Model
        As from `uncertain.fit`, with the same certificate; no Dask in it or in its file.

    Raises
    ------
    UncertainError
        As `uncertain.fit`, naming the partition; for methods that are not made of sums over the rows; for
        rows without error bars (or a kinked loss) that passes alone do not bring to `tol`.
    ClusterError
        For workers of other versions, no answer in time, rows that changed when a lost worker's were read
        again, and workers that die again and again.

    Notes
    -----
    The rows stay on the workers, as Gaussians. The client gathers a sample of at most 100,000 rows, drawn by
    a hash of (`random_state`, partition, row), with 5 rows of every class at least. Passes start from its
    solution; a penalty that is "auto", the question whether two columns are limits or arms, and what held-out
    rows say of a model (`residual_std_`, spread, sets of predictions) come from the sample alone.
    Probabilities are calibrated in 5 folds of all rows: of each 5 rows of a class in a row, one goes to each
    fold, or whole `groups` by a hash of their names. Above 200,000 rows, one in so many is scored for them.

    Sums are added in the order of the groups. So the last digits of a model depend on the partitions and on
    `group_bytes`, and on nothing else: not on the number of workers or threads, nor on workers that were
    lost.

    Examples
    --------
    >>> import pandas, uncertain, uncertain.dask
    >>> import dask.dataframe as dd
    >>> from dask.distributed import Client
    >>> frame = pandas.DataFrame({"x": [1.0, 1.2, 3.1, 2.9] * 9, "x_err": [0.1, 0.3, 0.1, 0.4] * 9})
    >>> frame["kind"] = (frame.x > 2.0).map({True: "quasar", False: "star"})
    >>> with Client(processes=False, n_workers=1, dashboard_address="127.0.0.1:0") as client:
    ...     model = uncertain.dask.fit(client, dd.from_pandas(frame, npartitions=3), "kind", method="gsu")
    >>> model.predict(frame.head(3)).to_list()
    ['star', 'star', 'quasar']
    """
    asked, values = Columns.from_arguments(columns, locals())
    start = time.perf_counter()
    _check_method(method, params)
    check_option("effort", effort, ("fast", "normal"))
    check_option("task", task, ("auto", "classification", "regression"))
    check_option("meaning", meaning, ("auto", "spread", "measurement"))
    check_option("on_missing", on_missing, ("error", "point", "impute"))
    for name, value in (values if asked.target is not None else {"target": target} | values).items():
        raise ParameterError(
            f"{name}: of a Dask DataFrame it is the name of a column, got {type(value).__name__}"
        )
    if asked.limits is not None:
        raise ParameterError("limits= is for tables in one memory; on a cluster leave it out")
    if not is_dask(table):
        raise ParameterError(
            f"expected a Dask DataFrame, got {type(table).__name__}; uncertain.fit takes other tables"
        )
    cluster = Cluster(current() if client is None else client, timeout=timeout, retries=retries)
    empty = Source.of(table._meta)
    assert empty.table is not None
    columns = find_columns(asked, empty.table)
    assert columns.target is not None
    of_rows: dict[str, Any] = {role: getattr(columns, role) for role in OF_ROWS}
    if asked.exact is None and asked.features is None and asked.mean is None:
        unused = left_out(columns, empty.table.type_of)
        if unused is not None:
            warn(unused, UncertainWarning)
    usual = "measurement" if are_readings(empty, columns) else "spread"
    errors = columns.known.target_stds if columns.automatic and columns.target_std is None else ()
    used = {*columns.used(), *of_rows.values(), *errors}
    cluster.check()

    seed = seed_from(random_state)
    roles = Roles(**of_rows, categorical=tuple(columns.categorical or ()), on_missing=on_missing)
    rows = Distributed(cluster, table[[name for name in empty.names if name in used]], roles, seed=seed)
    regression = rows.settle(task)
    if regression and errors:
        columns = columns.with_target_std()
    if asked.target_std is not None and not regression:
        raise ParameterError("target_std=: error bars of the target are for numbers, and these are classes")
    rows.roles = replace(rows.roles, target_std=columns.target_std)
    sample = rows.sample()
    reader = AsGaussians(columns=columns, on_missing=on_missing, handle_unknown=handle_unknown)
    with sample.told():
        reader.fit(sample.source.rows)
    rows.reconcile(reader)

    request = {
        "regression": regression, "meaning": meaning, "usual": usual, "effort": effort, "scale": scale,
        "impute": on_missing == "impute", "noise": None, "random_state": seed,
    }  # fmt: skip
    if method == "auto":
        settings = settings_of_choice(params)
        choice = chosen_steps(sample, reader.transform(sample.source.rows), request | {"settings": settings})
        steps, board, held_out = choice.pipeline.steps, choice.leaderboard, choice.held_out
    else:
        steps, board, held_out = _steps(method, params, random_state, request), None, None
    pipeline = Pipeline([("gaussians", reader), *steps])
    last = pipeline[-1]
    # Nobody but the steps holds the passes: rows in front of one are let go when those behind it are there.
    _fit_steps(
        pipeline,
        sample,
        rows.passes(
            reader,
            group_bytes=group_bytes,
            calibrated=getattr(last, "probability", False) is True,
            n_jobs=getattr(last, "n_jobs", None),
            verbose=bool(params.get("verbose", 0)),
        ),
    )

    model = Model(pipeline, settled(columns, reader), n_rows=rows.n_rows, leaderboard=board)
    return model._remember(sample.known(model._rows(sample.source)), start, held_out)


def _steps(
    method: str, params: dict[str, Any], random_state: RandomState, asked: Mapping[str, Any]
) -> list[tuple[str, Any]]:
    """The steps of a method behind the reader."""
    regression = asked["regression"]
    estimator = estimator_of(method, regression=regression, params=params, random_state=random_state)
    measured = is_denoised(method, asked["meaning"], asked["usual"])
    return steps_with(estimator, measured=measured, scale=asked["scale"], impute=asked["impute"])


def _fit_steps(pipeline: Pipeline, sample: Sample, passes: Passes) -> None:
    """Fit the steps behind the reader, one after the other, each by passes over what the steps before have
    made."""
    (_, reader), *steps = pipeline.steps
    rows = reader.transform(sample.source.rows)
    known = fit_arguments(pipeline, sample.known(rows).arguments)
    for k, (name, step) in enumerate(steps):
        own = {key.partition("__")[2]: values for key, values in known.items() if key.startswith(f"{name}__")}
        last = k == len(steps) - 1
        by_passes = last or isinstance(step, (GaussianScaler, GaussianDenoiser, GaussianImputer))
        if last and has_fit_parameter(step, "xy_cov"):
            passes = passes.behind(with_target)
        with (
            config_context(enable_metadata_routing=False),
            _elsewhere(step, passes if by_passes else None, sample),
        ):
            step.fit(rows, sample.y, **own)
        if not last:
            rows = step.transform(rows)
            passes = passes.behind(moved, step=step)


@contextmanager
def _elsewhere(step: Any, passes: Passes | None, sample: Sample) -> Iterator[None]:
    """`fit` of this step asks these passes, if there are any; the rows that it is given are a sample of
    theirs."""
    if passes is None:
        yield
        return
    step._elsewhere = (passes, sample.whole)
    try:
        yield
    finally:
        del step._elsewhere


def _check_method(method: str, params: Mapping[str, Any]) -> None:
    check_option("method", method, (*METHODS, "auto"))
    able = ", ".join(f'"{name}"' for name in ABLE)
    if method not in ("auto", *ABLE):
        instead = INSTEAD.get(method, f"one of {able}")
        raise ParameterError(
            f'method="{method}" is not made of sums over the rows, so it is not fitted on a cluster; use '
            f"{instead}"
        )
    if params.get("kernel", "linear") not in (None, "linear"):
        raise ParameterError(
            f"kernel={params['kernel']!r} needs the rows in one memory; on a cluster leave it out, or fit "
            "to a sample"
        )
    if params.get("class_weight") is not None:
        raise ParameterError("class_weight=: on a cluster pass the weights as a column, sample_weight=")
    if params.get("solver") == "sgd":
        raise ParameterError('solver="sgd" goes through rows in an order; on a cluster use "auto"')
