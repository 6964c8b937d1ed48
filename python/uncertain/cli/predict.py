"""`uncertain predict`: a prediction for every row of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from .._base.progress import shown
from ._columns import names
from ._options import progress_option
from ._tables import (
    STANDARD,
    batches,
    format_option,
    opened_for,
    streams,
    table_argument,
    write,
    write_batches,
)

if TYPE_CHECKING:
    import polars

    from .._data.typing import NativeTable
    from .._model.model import Model
    from .._model.without_errors import Errors
    from .._tables import Table


@click.command(short_help="Predict every row of a table.")
@click.argument("model")
@table_argument()
@click.option("--out", "-o", default=STANDARD, help="Table to write; by default standard output.")
@format_option
@click.option("--append", is_flag=True, help="Write all columns of TABLE before the predictions.")
@click.option(
    "--coverage",
    type=float,
    metavar="SHARE",
    help="Also write intervals for numbers (_lower, _upper), or sets of labels (_set, with | between them), "
    "that contain the true value with this probability.",
)
@click.option(
    "--errors",
    type=click.Choice(["typical", "zero"]),
    help="For a TABLE without error columns: sizes as in the fit, or exact values.",
)
@click.option(
    "--keep", type=names, metavar="A,B,...", help="Write these columns of TABLE before the predictions."
)
@progress_option
def predict(
    model: str,
    table: str | list[str],
    out: str,
    kind: str | None,
    append: bool,
    coverage: float | None,
    errors: Errors,
    keep: list[str] | None,
    progress: bool | None,
) -> None:
    """Predict the class of every row of TABLE, and its probabilities; or the number, its standard deviation,
    and the part of it that comes from the row's error bars.

    \b
    Examples:
      uncertain predict model.safetensors new.parquet --out predictions.parquet
      uncertain predict model.safetensors new.csv --keep objid,ra,dec > predictions.csv
      uncertain predict model.safetensors new.csv --append --format tsv | sort -k 3 | head
      uncertain predict model.safetensors new.csv --coverage 0.9 --keep objid
      cat new.parquet | uncertain predict model.safetensors - --format arrow > predictions.arrow
    """
    from .._model.model import load

    if append and keep:
        raise click.UsageError("--append keeps all columns, --keep some: choose one")
    fitted = load(model)
    with shown("predicting", progress):
        rows = opened_for(fitted, table, errors)

        def answered(part: Table) -> polars.DataFrame:
            predictions = _predictions(fitted, part, errors)
            if coverage is not None:
                predictions = predictions.hstack(_covering(fitted, part, coverage, errors))
            return _beside(_kept(part, rows.names if append else keep or []), predictions)

        if streams(rows):
            count = write_batches(map(answered, batches(rows)), out, kind)
        else:
            predicted = answered(rows)
            write(predicted, out, kind)
            count = len(predicted)
    if out != STANDARD:
        click.echo(f"{count:,} predictions written to {out}")


def _predictions(fitted: Model, rows: NativeTable, errors: Errors) -> polars.DataFrame:
    import polars

    if fitted.has_distribution_:
        distribution: polars.DataFrame = fitted.predict_distribution(rows, errors=errors)
        return distribution
    predicted = polars.DataFrame({"prediction": fitted.predict(rows, errors=errors)})
    if not hasattr(fitted.pipeline_, "predict_proba"):
        return predicted
    probabilities = fitted.predict_proba(rows, errors=errors)
    return predicted.hstack(probabilities.rename({c: f"p_{c}" for c in probabilities.columns}))


def _covering(fitted: Model, rows: NativeTable, coverage: float, errors: Errors) -> polars.DataFrame:
    import polars

    if fitted.is_regression_:
        return polars.DataFrame(fitted.predict_interval(rows, coverage=coverage, errors=errors))
    sets = fitted.predict_set(rows, coverage=coverage, errors=errors)
    texts = ["|".join(map(str, labels)) for labels in sets.to_list()]
    return polars.DataFrame({f"{sets.name}_set": texts})


def _kept(rows: NativeTable, columns: list[str]) -> polars.DataFrame:
    import polars

    from .._columns.bars import require

    if not columns:
        return polars.DataFrame()
    names = [require(name, rows.names) for name in columns]
    frame: polars.DataFrame = rows.appended({})
    return frame.select(names)


def _beside(kept: polars.DataFrame, predicted: polars.DataFrame) -> polars.DataFrame:
    """Both; a prediction that would have the name of a kept column (the target itself) is predicted_NAME."""
    from ..exceptions import ColumnError

    called = {name: f"predicted_{name}" if name in kept.columns else name for name in predicted.columns}
    twice = next((name for name in called.values() if name in kept.columns), None)
    if twice is not None:
        raise ColumnError(f"column {twice!r} is in the table already; use --keep with the columns you need")
    return kept.hstack(predicted.rename(called)) if kept.width else predicted
