"""`uncertain demo`: from real data to a classifier and a picture."""

from __future__ import annotations

from pathlib import Path

import click


@click.command(short_help="Real data with error bars, and a picture.")
@click.option("--out", "-o", default="demo.png", show_default=True, type=click.Path(path_type=Path))
@click.option("--no-plot", is_flag=True, help="Do not draw the picture.")
@click.option(
    "--splits", default=5, show_default=True, type=click.IntRange(2), help="Random splits per comparison."
)
def demo(out: Path, no_plot: bool, splits: int) -> None:
    """Real data with error bars, from a table to a classifier; writes a picture.

    \b
    Examples:
      uncertain demo
      uncertain demo --no-plot --splits 5
    """
    from ..demo._run import run

    run(None if no_plot else out, click.echo, splits=splits)
