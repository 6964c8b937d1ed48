"""The report of a model: whether error bars helped, on rows that are held out."""

from __future__ import annotations

from .._data.incomplete import GaussianRows
from .._data.typing import ColumnOrValues, Floats, Keywords
from .._data.validation import TableLike
from .._errors.check import warn_if_off
from .._report.candidates import HUBER
from .._report.compare import Design, compare
from .._report.report import Report
from .._rows.source import Source
from .._rows.target import covariances, limits
from .._rows.training import TrainingRows
from .._tables.columns import OF_LAWS, PairsOfTarget
from ..exceptions import UncertainError
from .drawn import some_rows
from .pipeline_facts import is_measured
from .reader import Reader


def report(
    reader: Reader,
    table: TableLike,
    design: Design,
    *,
    y: ColumnOrValues | None,
    groups: ColumnOrValues | bool | None,
    sample_weight: ColumnOrValues | bool | None,
) -> Report:
    """The model beside itself without error bars, on rows of this table."""
    per_row: Keywords = {"y": y, "groups": groups, "sample_weight": sample_weight}
    some = some_rows(reader, table, per_row, design.max_rows)
    if some is None:
        return _compared(reader, reader.source(table, y, groups, sample_weight), per_row, design)
    try:
        compared = _compared(reader, some.source, some.beside, design)
    except UncertainError as error:
        if len(some.at) == some.n_rows:
            raise
        about = f"{len(some.at):,} of {some.n_rows:,} rows were drawn, see max_rows="
        raise type(error)(f"{error} ({about})") from error
    return compared if len(some.at) == some.n_rows else compared.renumbered(some.at, some.n_rows)


def _roles_of_law(reader: Reader, source: Source) -> dict[str, Floats]:
    """Offsets, events and modes of these rows, which a law was fitted with and predictions need, too."""
    if hasattr(reader.steps[-1], "y_modes_"):
        raise UncertainError(
            "report: the law was fitted with y_cov=, whose covariances are not in the table. The law, and "
            "the fit without error bars, are in model.summary()"
        )
    known = {}
    for role in OF_LAWS:
        columns = getattr(reader.columns, role)
        if columns is None:
            continue
        if not reader.is_regression:
            raise UncertainError(
                f"report: classes fitted with {role}= are predicted without it and cannot be compared. The "
                "law, and the fit without error bars, are in model.summary()"
            )
        if columns is True:
            raise UncertainError(
                f"report: the fit got {role}= as numbers, which are not in the table; fit it again with "
                f"{role}= the name of a column"
            )
        known[role] = source.beside(list(columns) if isinstance(columns, tuple) else columns, role)
    return known


def _compared(reader: Reader, source: Source, per_row: Keywords, design: Design) -> Report:
    """The report of the rows of this source."""
    y, steps, rows = per_row["y"], reader.steps, reader.rows(source)
    huber, regression = isinstance(steps[-1], HUBER), reader.is_regression
    truth = reader.truth(source, y, partial=huber)
    of_law: Keywords = {} if huber else {**_roles_of_law(reader, source)}
    groups, weights = (
        reader.groups(source, per_row["groups"]), reader.weights(source, per_row["sample_weight"])
    )  # fmt: skip
    about = about_target(reader, source, rows, limited=y is None) if regression and not huber else {}
    training = TrainingRows(rows, truth, weights, groups, **about, **of_law)
    measured = is_measured(reader.pipeline)
    check = warn_if_off(rows, reader.feature_names, groups, weights) if measured else None
    fields = compare(steps, training, design, is_measured=measured)
    return Report(**fields, error_check=check)


def about_target(reader: Reader, source: Source, rows: GaussianRows, *, limited: bool) -> Keywords:
    """Error bars of the targets, their covariances with those of features, and which are limits."""
    columns = reader.columns
    if columns.target_std is None:
        y_std = None
    else:
        bar, unit, bar_of = columns.bar_of_target(), columns.target_unit, columns.target or ""
        y = (
            source.targets(bar_of, "regression", unit=unit)[0]
            if bar and (bar.share or len(bar.columns) == 2)
            else None
        )
        y_std = source.target_stds(columns.target_std, missing=0.0, unit=unit, bar=bar, y=y)
    about: Keywords = {"y_std": y_std}
    if limited:
        about["y_limit"] = limits(source, columns)
    pairs = PairsOfTarget(columns.target_corr, columns.target_cov)
    if pairs.columns and y_std is not None:
        about["xy_cov"] = covariances(source, reader.pipeline[0], rows, pairs, y_std)
    return about
