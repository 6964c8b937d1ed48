"""The command line: `uncertain fit | predict | evaluate | report | check-errors | convert | demo`.

One file per command.

Nothing here imports scikit-learn, NumPy or Polars before a command runs, so that ``--help`` and ``--version``
answer at once.
"""

import click

from ._group import Commands
from .check_errors import check_errors
from .convert import convert
from .demo import demo
from .evaluate import evaluate
from .fit import fit
from .predict import predict
from .report import report

__all__ = ["main"]


def _version(ctx: click.Context, _: click.Parameter, shown: bool) -> None:
    if shown:
        from .. import __version__

        click.echo(f"uncertain, version {__version__}")
        ctx.exit()


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_version, help="The version."
)
def main() -> None:
    """Classification and regression with error bars: every row is a Gaussian, not a point.

    Tables are files (.parquet, .csv, .arrow, .fits and others), several of them, folders, or - for standard
    input.

    \b
    Examples:
      uncertain fit catalogue.parquet --target kind --out model.safetensors
      uncertain predict model.safetensors new.parquet --out predictions.csv --keep objid
      uncertain report model.safetensors labelled.parquet
      uncertain COMMAND --help

    \b
    Exit codes:
      0    done
      2    the call, the data or a file is wrong; one sentence on stderr says what
      130  interrupted (Ctrl-C)
      141  the reader of the output was closed (uncertain predict ... | head)
      1    an error of this program: please report it with its traceback
    """


for _command in (fit, predict, evaluate, report, check_errors, convert, demo):
    main.add_command(_command)
