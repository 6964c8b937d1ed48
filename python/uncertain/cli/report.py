"""`uncertain report`: what the error bars changed."""

from __future__ import annotations

import json
from typing import Any

import click

from .._base.progress import shown
from ._options import progress_option
from ._tables import opened_for, table_argument


@click.command(short_help="Did the error bars change anything?")
@click.argument("model")
@table_argument()
@click.option("--folds", default=5, show_default=True, help="Number of folds.")
@click.option(
    "--repeats", type=int, help="Repeats of the cross-validation; by default 4, or 1 beyond 10,000 rows."
)
@click.option(
    "--groups", metavar="NAME", help="Column that rows of one object share; by default that of the fit."
)
@click.option("--rows", "by_rows", is_flag=True, help="Hold out single rows, even if the fit had groups.")
@click.option("--scoring", metavar="NAME", help="The measure to compare by: accuracy, log_loss, mae, r2, ...")
@click.option(
    "--max-rows",
    default=200_000,
    show_default=True,
    help="For a larger table, about this many rows are used.",
)
@click.option("--max-seconds", type=float, help="Start no fold that would end later than this.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")
@progress_option
def report(
    model: str,
    table: str | list[str],
    groups: str | None,
    by_rows: bool,
    as_json: bool,
    progress: bool | None,
    **given: Any,
) -> None:
    """Did the error bars change anything? Compares the model with a fit to the means alone, on TABLE.

    The model is fitted again on every fold, with and without error bars, and with each meaning of them. For a
    table of more than --max-rows rows a sample is used, and the report says so.

    \b
    Examples:
      uncertain report model.safetensors labelled.parquet
      uncertain report model.safetensors labelled.parquet --scoring log_loss --max-seconds 60
      uncertain report model.safetensors labelled.parquet --json | jq .verdict
    """
    from .._model.model import load

    if by_rows and groups is not None:
        raise click.UsageError("--groups and --rows contradict each other: choose one")
    fitted = load(model)
    with shown("comparing", progress):
        result = fitted.report(
            opened_for(fitted, table),
            groups=False if by_rows else groups,
            **given,
        )
    click.echo(json.dumps(result.to_dict()) if as_json else str(result))
