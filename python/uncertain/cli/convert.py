"""`uncertain convert`: between file formats, and between scalar and list columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ._tables import STANDARD, batches, format_option, opened, read, streams, write, write_batches

if TYPE_CHECKING:
    import polars


@click.command(short_help="Convert tables between formats.")
@click.argument("source")
@click.argument("destination")
@click.option(
    "--pack", is_flag=True, help="Put scalar columns and their error columns into list columns mean and std."
)
@click.option(
    "--unpack",
    is_flag=True,
    help="Put list columns into scalar columns NAME_0, NAME_1, ... (CSV has no lists).",
)
@click.option(
    "--target", "-t", default="label", show_default=True, help="Column that --pack leaves as it is."
)
@format_option
def convert(
    source: str,
    destination: str,
    pack: bool,
    unpack: bool,
    target: str,
    kind: str | None,
) -> None:
    """Convert a table between the formats that endings name: .parquet, .csv, .tsv, .arrow, .fits and others.

    \b
    Examples:
      uncertain convert catalogue.csv catalogue.parquet
      uncertain convert catalogue.csv packed.arrow --pack --target kind
      uncertain convert packed.arrow - --unpack | head
    """
    if pack and unpack:
        raise click.UsageError("--pack and --unpack undo each other: choose one")
    widths: list[int] = []

    def converted(frame: polars.DataFrame) -> polars.DataFrame:
        from ._packing import pack_columns, unpack_columns

        if pack:
            frame = pack_columns(frame, target)
        if unpack:
            frame = unpack_columns(frame)
        widths.append(frame.width)
        return frame

    table = None if source == STANDARD else opened(source)
    if table is not None and streams(table):
        height = write_batches((converted(batch.native) for batch in batches(table)), destination, kind)
    else:
        frame = converted(read(source) if table is None else table.appended({}))
        write(frame, destination, kind)
        height = frame.height
    if destination != STANDARD:
        click.echo(f"{height:,} rows x {widths[-1]} columns written to {destination}")
