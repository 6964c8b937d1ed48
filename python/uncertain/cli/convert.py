"""`uncertain convert`: a table from one file format to another."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ._tables import STANDARD, batches, format_option, opened, read, streams, write, write_batches

if TYPE_CHECKING:
    import polars


@click.command(short_help="Convert tables between formats.")
@click.argument("source")
@click.argument("destination")
@format_option
def convert(
    source: str,
    destination: str,
    kind: str | None,
) -> None:
    """Convert a table between the formats that endings name: .parquet, .csv, .tsv, .arrow, .fits and others.

    \b
    Examples:
      uncertain convert catalogue.csv catalogue.parquet
      uncertain convert catalogue.parquet - | head
    """
    table = None if source == STANDARD else opened(source)
    if table is not None and streams(table):
        width = len(table.names)
        height = write_batches((batch.native for batch in batches(table)), destination, kind)
    else:
        frame: polars.DataFrame = read(source) if table is None else table.appended({})
        write(frame, destination, kind)
        height, width = frame.shape
    if destination != STANDARD:
        click.echo(f"{height:,} rows x {width} columns written to {destination}")
