"""What inspections, pictures and summaries ask of a model: some rows of a table, with their targets."""

from __future__ import annotations

from typing import Any, TypeAlias

from sklearn.pipeline import Pipeline

from .._data.array import GaussianArray
from .._data.groups import Groups
from .._data.incomplete import GaussianRows
from .._data.typing import ColumnOrValues, Floats, Labels
from .._data.validation import TableLike
from .._rows.sampled import REMEMBERED_ROWS
from .._rows.source import Source
from ..exceptions import UncertainError
from .coefficients import law_or_curve
from .drawn import some_rows
from .reader import Reader
from .report import about_target

Inspected: TypeAlias = tuple[Pipeline, GaussianRows, Labels | None, Groups | None]
"""The steps behind the reading ones, rows, targets and groups."""
Pictured: TypeAlias = tuple[Pipeline, GaussianRows, Labels | None, list[str]]
"""The steps behind the reading ones, rows, targets if they are known, and names of features."""
PicturedLaw: TypeAlias = tuple[Any, GaussianArray, Floats, Floats | None, Floats | None, tuple[str, ...]]
"""The law, rows, targets less the errors that rows share, the targets' errors, their covariances with those
of features, and names, the target's last."""


def asked_rows(
    reader: Reader,
    table: TableLike,
    y: ColumnOrValues | None = None,
    groups: ColumnOrValues | bool | None = None,
    max_rows: int | None = REMEMBERED_ROWS,
) -> tuple[Source, ColumnOrValues | None, ColumnOrValues | bool | None]:
    """About so many rows of a larger table, and what was given of these."""
    some = some_rows(reader, table, {"y": y, "groups": groups}, max_rows)
    if some is None:
        return reader.source(table, y, groups), y, groups
    return some.source, some.beside["y"], some.beside["groups"]


def inspected(
    reader: Reader,
    table: TableLike,
    y: ColumnOrValues | None,
    groups: ColumnOrValues | bool | None,
    *,
    labelled: bool,
    max_rows: int | None,
) -> Inspected:
    """For `uncertain.inspection`; targets and groups if they are asked for."""
    source, y, groups = asked_rows(reader, table, y, groups, max_rows)
    rows = reader.rows(source)
    if not labelled:
        return reader.steps, rows, None, None
    return reader.steps, rows, reader.truth(source, y), reader.groups(source, groups)


def pictured(reader: Reader, table: TableLike, y: ColumnOrValues | None, *, filled: bool) -> Pictured:
    """For `uncertain.plot`; `filled`: without gaps."""
    source, y, _ = asked_rows(reader, table, y)
    known = y is not None or reader.columns.target in source.names
    truth = reader.truth(source, y) if known else None
    rows = reader.gaussians(source) if filled else reader.rows(source)
    return reader.steps, rows, truth, reader.feature_names


def pictured_law(reader: Reader, table: TableLike, y: ColumnOrValues | None) -> PicturedLaw:
    """For `uncertain.plot.LawDisplay`."""
    last = law_or_curve(reader.pipeline)
    source, y, _ = asked_rows(reader, table, y)
    rows = reader.gaussians(source)
    targets: Any = reader.truth(source, y)
    shared = reader.columns.modes
    if hasattr(last, "y_modes_"):
        raise UncertainError(
            "the errors that y_cov= says rows share belong to the rows of the fit: pass the law, "
            "model.pipeline_[-1], with its rows and y - y_modes_ @ modes_"
        )
    if shared is True:
        raise UncertainError(
            "the fit got modes= as numbers, which are not in the table; give their columns by name"
        )
    if shared:
        targets = targets - source.beside(list(shared), "modes") @ last.modes_
    known = about_target(reader, source, rows, limited=False)
    names = (*reader.feature_names, reader.target_name)
    return last, rows, targets, known["y_std"], known.get("xy_cov"), names
