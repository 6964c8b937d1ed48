"""`uncertain.fit` of tables that are large, or larger than memory, in place of one fit to all rows at once.

The rows are read and moved part by part (`in_parts`), or with `memory=` go to a file; then the model looks
once more at some of them. From a file only methods learn that reduce to sums over rows: they keep some
numbers per row in memory (targets, weights) and a sample, and everything else passes by. Methods that compare
rows with one another, or copy them, are refused before anything is read, with what to use instead.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

from .._choice.choose import IN_MEMORY, Choice, choose
from .._choice.leaderboard import Leaderboard
from .._choice.methods import AUTO, METHODS, estimator_of
from .._choice.portfolio import Options, reduces
from .._choice.settings import settings_of_choice
from .._columns.columns import Columns
from .._data.incomplete import Incomplete
from .._data.warn import warn
from .._held_out.fits import FoldModels
from .._rows.sampled import CHOSEN_ROWS, REMEMBERED_ROWS
from .._rows.training import TrainingRows
from .._spill import Budget
from .._spill._folder import checked_folder
from .._tables import BatchSize
from .._tables.source import Source
from ..exceptions import ParameterError, UncertainWarning
from ..preprocessing import AsGaussians
from ..preprocessing._empty import empty_errors
from .in_parts import fit_in_parts, is_large, read_in_parts
from .joined import joins
from .model import Model
from .streamed import Streamed, streamed

LOOKED_AT = 1_000
"""Rows in which an error column of a large table has to hold something."""

INSTEAD = {
    "kernel": 'pass n_components= (random features, say 500; approximation="nystroem" for landmarks)',
    "huber": 'use method="gsu" with loss="huber" for numbers, or fit a sample of the rows',
    "remeasured": 'use method="gsu" or "discriminant", or fit it to a sample of the rows',
    "tsvc": 'use method="usvc"',
    "ausvc": 'use method="usvc"',
    "mpsvc": 'use method="usvc"',
    "psvm": 'use method="usvc"',
}
"""Methods that keep or compare rows, and what takes their place."""

BESIDE = {"targets": 12, "weights": 24, "groups": 8, "y_std": 16, "exact": 120, "scores": 16, "law": 24}
"""Bytes of memory per row: codes and targets of the core, weights with their copies, the numbers that a
solver for exact rows keeps beside each of them, residuals of targets from a law."""


def suits_parts(source: Source, columns: Columns, *, named: bool) -> bool:
    """Is the table worth being read in parts, and nothing asked of all of its rows at once?

    Error columns that hold nothing need a full scan, unless they were `named`.
    """
    if (
        columns.known.target_pairs.columns
        or columns.target_limit is not None
        or not is_large(source, columns)
    ):
        return False
    if named:
        return True
    assert source.table is not None
    first = next(iter(source.table.batches(sorted(columns.used()), BatchSize(LOOKED_AT))), None)
    return first is not None and not empty_errors(first, columns)


def fit_large(
    source: Source,
    columns: Columns,
    reading: AsGaussians,
    behind: Pipeline,
    known: TrainingRows,
    start: float,
) -> Model:
    """One fit to a large table, whose rows are there once: read and moved part by part."""
    assert source.table is not None
    source.table.forget()
    with source.named():
        rows = read_in_parts(reading, source.table, sorted(columns.used()))
    n_rows, beside = len(known), known.arguments
    some = replace(known, rows=rows.rows()).sampled(REMEMBERED_ROWS)
    fit_in_parts(rows, known.y, behind, beside)
    pipeline = Pipeline([("gaussians", reading), *behind.steps])
    return Model(pipeline, settled(columns, reading), n_rows=n_rows)._remember(some, start)


def settled(columns: Columns, reading: AsGaussians) -> Columns:
    """Whether two columns are limits or arms is learned from rows."""
    return columns.with_errors(reading.columns_.errors) if columns.features else columns


def refuse(
    source: Source, columns: Columns, beside: dict[str, object], options: Options, params: dict[str, Any]
) -> None:
    """ParameterError for what is no table in columns, and for methods that do not reduce to sums."""
    table = source.table
    if table is None:
        raise ParameterError(
            f"memory=: data of type {type(source.given).__name__} is in memory already; pass a table, a "
            "path, a dataset or a reader of batches"
        )
    given = next(
        (role for role, value in beside.items() if value is not None and not isinstance(value, str)), None
    )
    if given is not None:
        raise ParameterError(f"memory=: {given}= must be the name of a column, which is read with the rows")
    if table.origin and not table.streams:
        raise ParameterError(
            f"memory=: {table.origin} is of a format that is read as a whole; write it as Parquet first, "
            f"such as by uncertain convert {table.origin} table.parquet"
        )
    if columns.target_limit is not None:
        raise ParameterError(
            f"memory=: limits of the target in {columns.target_limit!r} are for rows in memory"
        )
    method = options.method
    if method == "kernel" and params.get("n_components") is not None:
        return
    if method in INSTEAD:
        raise ParameterError(
            f'memory=: method="{method}" does not reduce to sums over rows; {INSTEAD[method]}'
        )
    if params.get("kernel", "linear") != "linear":
        raise ParameterError(
            f'memory=: kernel={params["kernel"]!r} compares rows with one another; use method="kernel" with '
            "n_components= (random features), or the linear one"
        )
    penalty = next((name for name in ("alpha", "C") if params.get(name) == "auto"), None)
    if penalty is not None:
        raise ParameterError(
            f'memory=: {penalty}="auto" fits a path to copies of the rows; method="auto" chooses it on a '
            f'sample, or fit a sample with {penalty}="auto" first, and pass what it finds'
        )
    if options.effort == "high":
        raise ParameterError('memory=: effort="high" averages many fits; use effort="normal" or "fast"')


def fit_in_file(
    source: Source,
    columns: Columns,
    options: Options,
    beside: dict[str, Any],
    budget: Budget,
    spill: object,
) -> Model:
    """One fit, or a choice, with the rows in a file, into which the table is read."""
    with_target = columns.known.target_pairs
    if with_target.named and with_target.columns:
        raise ParameterError(
            "memory=: covariances with the errors of the target are for rows in memory; leave them out"
        )
    refuse(source, columns, beside, options, options.params)
    if options.method == AUTO:
        options = replace(options, params=settings_of_choice(options.params))
    start = time.perf_counter()
    folder = checked_folder(spill)
    entry = METHODS.get(options.method)
    knows_y_std = (
        entry is not None and entry.regressor is not None and has_fit_parameter(entry.regressor(), "y_std")
    )
    if columns.target_std is not None and not knows_y_std:
        raise ParameterError(
            'memory=: target_std= is for method="gsu" and numbers; name the method, or leave it out'
        )
    if columns.target_std is None and knows_y_std:
        columns = columns.with_target_std()
    reading = AsGaussians(
        columns=columns, on_missing=options.on_missing, handle_unknown=options.handle_unknown
    )
    with source.named():
        read = streamed(source, reading, columns, options.task, budget=budget, folder=folder)
    if not read.regression and columns.target_std is not None:
        columns, read.y_std = replace(columns, target_std=None), None
    known = read.known()
    n_rows = len(known)
    sample = known.sampled(REMEMBERED_ROWS)
    board: Leaderboard | None = None
    held_out: FoldModels | None = None
    if entry is None:
        pipeline, board, held_out = _chosen(read, columns, options)
        pipeline = pipeline if n_rows <= CHOSEN_ROWS else clone(pipeline)  # of few rows it has seen all
    else:
        estimator = estimator_of(
            options.method,
            regression=read.regression,
            params=options.params,
            random_state=options.random_state,
        )
        pipeline = Pipeline(options.steps(estimator, columns.flags()))
    if entry is not None or n_rows > CHOSEN_ROWS:
        free = budget.check(n_rows, read.rows.row_bytes, _beside(read, pipeline[-1]))
        arguments = known.arguments
        del known  # and the mapped rows
        with budget.keeping(free):
            fit_in_parts(read.rows, read.y, pipeline, arguments)
    pipeline = Pipeline([("gaussians", reading), *pipeline.steps])
    model = Model(pipeline, settled(columns, reading), n_rows=n_rows, leaderboard=board)
    return model._remember(sample, start, held_out)


def _chosen(read: Streamed, columns: Columns, options: Options) -> Choice:
    """The choice, on a sample of the rows, among what reduces to sums."""
    some = read.known().sampled(CHOSEN_ROWS)
    able = reduces if len(read.y) > CHOSEN_ROWS else None
    asked = options.request(some, regression=read.regression, limits=bool(columns.limits), able=able)
    choice = choose(asked, some)
    board = choice.leaderboard
    better = [entry for entry in board.entries if entry.note == IN_MEMORY and entry.behind < -entry.behind_se]
    if better:
        warn(
            f"on the sample of {len(some):,} rows that the choice was made on {better[0].text} is better "
            f"than the chosen {board.chosen}, but it learns from rows in memory: fit "
            f'method="{better[0].method}" to as many rows as fit there, and compare',
            UncertainWarning,
        )
    return choice


def _beside(read: Streamed, estimator: BaseEstimator) -> int:
    """Bytes of memory that a fit takes for each row."""
    rows = read.rows.rows()
    taken = BESIDE["targets"] + BESIDE["scores"]
    taken += BESIDE["weights"] if read.weights is not None or getattr(estimator, "class_weight", None) else 0
    taken += BESIDE["groups"] if read.groups is not None else 0
    taken += BESIDE["y_std"] if read.y_std is not None else 0
    taken += BESIDE["exact"] if rows.kind == "zero" else 0
    taken += 4 * rows.n_features if isinstance(rows, Incomplete) else 0
    if joins(estimator, rows):
        return taken + BESIDE["law"]
    # The mixture of features and target makes rows of its own.
    return taken + (read.rows.row_bytes if has_fit_parameter(estimator, "xy_cov") else 0)
