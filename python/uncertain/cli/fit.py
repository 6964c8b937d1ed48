"""`uncertain fit`: from a table to a model file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .._base.progress import show_iteration, shown
from .._data.choices import ARMS, EFFORTS, HANDLE_UNKNOWN, MEANINGS, METHOD_NAMES, TASKS
from ._columns import column_options
from ._options import choice_option, on_missing_option, parameter, progress_option
from ._tables import STANDARD, called, read, table_argument

if TYPE_CHECKING:
    from .._data.typing import Keywords


@click.command(short_help="Fit a model to a table and write it to a file.")
@table_argument()
@click.option("--target", "-t", default="label", show_default=True, help="Column to predict.")
@click.option("--target-std", metavar="NAME", help="Column of the target's standard deviations (regression).")
@click.option("--out", "-o", default="model.safetensors", show_default=True, type=click.Path(path_type=Path))
@click.option(
    "--groups", metavar="NAME", help="Column that rows of one object share; such rows are held out together."
)
@click.option("--weight", "sample_weight", metavar="NAME", help="Column of weights.")
@column_options
@choice_option("--task", TASKS, "What the target is.")
@choice_option("--method", METHOD_NAMES, "Which model to fit.")
@choice_option("--meaning", MEANINGS, "What error bars mean.")
@choice_option("--arms", ARMS, "What is kept of asymmetric error bars.")
@choice_option("--effort", EFFORTS, "How much to compare, with --method auto.", "normal")
@click.option(
    "--noise",
    nargs=2,
    type=float,
    metavar="LOW HIGH",
    help="Errors expected of new rows, as factors of these: 1 4 for up to four times as large.",
)
@click.option("--no-scale", is_flag=True, help="Do not standardise the features.")
@click.option("--no-log", is_flag=True, help="Take no logarithms of features.")
@on_missing_option
@choice_option(
    "--handle-unknown",
    HANDLE_UNKNOWN,
    "What to do with a category that was not in the fit; ignore: treat it as none of the known ones.",
)
@click.option(
    "--memory",
    metavar="SIZE",
    help="For tables larger than memory: how much the fit may use, such as 2GB; rows go to a file.",
)
@click.option(
    "--time-limit",
    type=float,
    metavar="SECONDS",
    help="Seconds after which the fit ends; another run may then choose another model.",
)
@click.option(
    "--param",
    "-p",
    "params",
    multiple=True,
    metavar="KEY=VALUE",
    help="A parameter of the method, such as -p alpha=1e-2.",
)
@progress_option
def fit(
    table: str | list[str],
    target: str,
    out: Path,
    method: Any,
    no_scale: bool,
    no_log: bool,
    params: tuple[str, ...],
    progress: bool | None,
    **given: Any,
) -> None:
    """Fit a classifier, or a regression if the target holds floats, to TABLE and write it to a model file.

    Columns are found by name: x with its error bar in x_err, x_std, sigma_x, psfMagErr_u (for psfMag_u) and
    the like, or list columns mean and cov. The columns that were found and those left out are printed.

    \b
    Examples:
      uncertain fit catalogue.parquet --target kind
      uncertain fit stars.csv -t dist --target-std dist_err --features u,g,r --std "{}_unc"
      uncertain fit kepler.csv -t class --std period=period_err1,period_err2 --exact airmass
      uncertain fit visits.csv -t ill --groups patient --method discriminant
      uncertain fit catalogue.csv -t kind --method gsu -p alpha=1e-3 -p kernel=rbf -o curved.safetensors
      uncertain fit catalogue.csv -t kind --noise 1 4
      uncertain fit nights/*.fits -t kind
      uncertain fit "survey/*.parquet" -t kind --method gsu --memory 2GB
      zcat big.csv.gz | uncertain fit - -t kind
    """
    from .. import fit as fit_table

    chosen: Keywords = dict(parameter(text) for text in params)
    if given["exact"] == "none":
        given["exact"] = []
    with shown(f"fitting {called(table)}", progress) as is_shown:
        if is_shown and method not in ("auto", "minimax"):  # which has no iterations to report
            chosen["callback"] = show_iteration
        rows = read(table) if table == STANDARD else table
        chosen["transform"] = None if no_log else "auto"
        model = fit_table(rows, target, method=method, scale=not no_scale, **chosen | given)
    model.save(out)
    click.echo(f"{model}\nwritten    {out}")
