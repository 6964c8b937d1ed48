"""`uncertain check-errors`: are the error bars right?"""

from __future__ import annotations

from typing import Any

import click

from .._base.progress import shown
from ._columns import column_options
from ._options import on_missing_option, progress_option
from ._tables import STANDARD, called, read, table_argument

ELSEWHERE = ("exact", "categorical", "limits", "draws")
"""Options about columns that have no error bars, or are for a fit."""


@click.command("check-errors", short_help="How large the errors of a table are, in units of its error bars.")
@table_argument()
@click.option("--groups", metavar="NAME", help="Column that repeated readings of one object share.")
@click.option("--weight", "sample_weight", metavar="NAME", help="Column of weights.")
@column_options
@on_missing_option
@progress_option
def check_errors(table: str | list[str], on_missing: Any, progress: bool | None, **columns: Any) -> None:
    """How many times as large as stated the errors in TABLE are, column by column, with intervals.

    Uses repeated readings of the same objects (--groups), or the other columns of each row.

    \b
    Examples:
      uncertain check-errors catalogue.parquet
      uncertain check-errors visits.csv --groups star --features u,g,r --std "{}_unc"
    """
    from .._errors.check import check_errors as check

    misplaced = next((name for name in ELSEWHERE if columns.pop(name)), None)
    if misplaced is not None:
        raise click.UsageError(f"--{misplaced} is for uncertain fit: what is checked are error bars")
    with shown(f"checking {called(table)}", progress):
        result = check(read(table) if table == STANDARD else table, on_missing=on_missing, **columns)
    click.echo(str(result))
