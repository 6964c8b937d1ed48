"""The report of a model: whether error bars helped, on rows that are held out."""

from __future__ import annotations

from functools import partial
from typing import Any

from sklearn.pipeline import Pipeline

from .._base.normal_mixtures import NormalMixtures
from .._data.incomplete import GaussianRows
from .._data.typing import Floats, Ints, Keywords
from .._data.validation import TableLike
from .._errors.check import warn_if_off
from .._held_out.widths import density_of_rows, from_errors, has_density, most_likely_scatter
from .._report.classes import Report, compare
from .._report.held_out import Distribution
from .._report.huber import HuberReport, report_of_huber
from .._report.metrics import Answer
from .._report.regression import RegressionReport, compare_regressions
from .._rows.source import Source
from .._rows.target import covariances, limits
from .._tables.columns import OF_LAWS, PairsOfTarget
from ..exceptions import UncertainError
from ..huber import AdaptiveHuberClassifier, AdaptiveHuberRegressor
from .drawn import some_rows
from .pipeline_facts import is_measured
from .reader import Reader


def report(
    reader: Reader,
    table: TableLike,
    per_row: Keywords,
    *,
    max_rows: int | None,
    scatter: bool,
    meanings: bool,
    listed: int,
    **options: Any,
) -> Report | RegressionReport | HuberReport:
    """The model beside itself without error bars, on rows of this table; see `Model.report`.

    `per_row`: targets, groups and weights. `scatter`: is that of targets known, so that distributions are
    compared, too? `options` are those of every kind of report.
    """
    some = some_rows(reader, table, per_row, max_rows)
    source = reader.source(table, *per_row.values()) if some is None else some.source
    kind = partial(_compared, scatter=scatter, meanings=meanings, listed=listed, options=options)
    if some is None:
        return kind(reader, source, per_row)
    try:
        compared = kind(reader, source, some.beside)
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


def _compared(
    reader: Reader,
    source: Source,
    per_row: Keywords,
    *,
    scatter: bool,
    meanings: bool,
    listed: int,
    options: Keywords,
) -> Report | RegressionReport | HuberReport:
    """The report of the rows of this source."""
    y, steps, rows = per_row["y"], reader.steps, reader.rows(source)
    common = options | {
        "groups": reader.groups(source, per_row["groups"]),
        "weights": reader.weights(source, per_row["sample_weight"]),
    }
    if is_measured(reader.pipeline):
        warn_if_off(rows, reader.feature_names, common["groups"], common["weights"])
    if isinstance(steps[-1], (AdaptiveHuberClassifier, AdaptiveHuberRegressor)):
        truth = reader.truth(source, y, partial=True)
        return report_of_huber(steps, rows, truth, listed=listed, **common)
    truth, of_law = reader.truth(source, y), _roles_of_law(reader, source)
    if not reader.is_regression:
        return compare(steps, rows, truth, listed=listed, meanings=meanings, **common)
    common |= about_target(reader, source, rows, limited=y is None)
    # Densities are those of true targets, of rows without what is beside them.
    known = not of_law and (scatter or has_density(steps))
    distribution = Distribution(_answer, most_likely_scatter) if known else None
    return compare_regressions(
        steps, rows, truth, meanings=meanings, features=reader.feature_names,
        distribution=distribution, of_law=of_law, **common,
    )  # fmt: skip


def _answer(fitted: Pipeline, rows: GaussianRows, numbers: Ints) -> Answer:
    """The density of a method that has one; else what the rows' error bars leave open of the prediction."""
    if has_density(fitted):
        return Answer(numbers, fitted.predict(rows), law=density_of_rows(fitted, rows))
    mean, std = from_errors(fitted, rows)
    return Answer(numbers, mean, law=NormalMixtures.normal(mean, std), whole=False)


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
