"""Command line: `uncertain fit | predict | evaluate | report | ...`.

Nothing here imports scikit-learn, NumPy or Polars before a command runs, so that ``--help`` and ``--version``
answer at once.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .._base.run import show_iteration, shown
from .._data.installed import version
from .._data.options import refuse_if
from .._tables.columns import ROLES
from ._options import Commands, choice_options, names, parameter, progress_option, role_options
from ._tables import STANDARD, Paths, format_option, open_table, read, table_argument, table_name, write

if TYPE_CHECKING:
    import polars

    from .._data.typing import Keywords
    from .._model.model import Model
    from .._tables.table import Table

__all__ = ["main"]

_ERROR_BARS = [name for name, role in ROLES.items() if role.kind == "error bar"]


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(version(), prog_name="uncertain", help="The version.")
def main() -> None:
    """Classification and regression for tables with error bars.

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
      2    the call, the data or a file is wrong; the message on stderr says what to do
      130  interrupted (Ctrl-C)
      141  the reader of the output was closed (uncertain predict ... | head)
      1    an error of this program: please report it with its traceback
    """


@main.command(short_help="Fit a model to a table and write it to a file.")
@table_argument
@click.option("--target", "-t", default="label", show_default=True, help="Column to predict.")
@click.option("--out", "-o", default="model.safetensors", show_default=True, type=click.Path(path_type=Path))
@role_options(role for role in ROLES if role != "target")
@choice_options("task", "method", "meaning", "arms", "effort")
@click.option("--noise", nargs=2, type=float, metavar="LOW HIGH", help="Factors of errors of new rows: 1 4.")
@click.option("--no-scale", is_flag=True, help="Do not standardise the features.")
@click.option("--no-log", is_flag=True, help="Take no logarithms of features.")
@choice_options("on_missing", "handle_unknown")
@click.option("--memory", metavar="SIZE", help="Memory of the fit, for larger tables, such as 2GB.")
@click.option("--time-limit", type=float, metavar="SECONDS", help="End of the fit, which may then differ.")
@click.option(
    "--param", "-p", "params", multiple=True, metavar="KEY=VALUE", help="A parameter of the method."
)
@progress_option
def fit(
    table: Paths,
    target: str,
    out: Path,
    no_scale: bool,
    no_log: bool,
    params: Any,
    progress: Any,
    **roles: Any,
) -> None:
    """Fit a classifier, or a regression if the target holds floats, to TABLE and write it to a model file.

    Names give the columns: x with its error bar in x_err, x_std, sigma_x, psfMagErr_u (for psfMag_u) and the
    like, or list columns mean and cov. Columns in use and columns left out are printed.

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

    arguments: Keywords = dict(parameter(text) for text in params) | _given(roles)
    arguments |= {"scale": not no_scale, "transform": None if no_log else "auto"}
    with shown(f"fitting {table_name(table)}", progress) as is_shown:
        if is_shown and roles["method"] not in ("auto", "minimax"):  # which has no iterations to report
            arguments["callback"] = show_iteration
        model = fit_table(read(table) if table == STANDARD else table, target, **arguments)
    model.save(out)
    click.echo(f"{str(model).rpartition('next:')[0]}written to {out}; next: uncertain report or predict")


@main.command(short_help="Predict every row of a table.")
@click.argument("model")
@table_argument
@click.option("--out", "-o", default=STANDARD, help="Table to write; by default standard output.")
@format_option
@click.option("--append", is_flag=True, help="Write all columns of TABLE before the predictions.")
@click.option(
    "--coverage",
    type=float,
    metavar="SHARE",
    help="Also write intervals (_lower, _upper), or sets of labels (_set), that hold the truth so often.",
)
@click.option(
    "--errors", type=click.Choice(["typical", "zero"]), help="Those of a TABLE without error columns."
)
@click.option("--keep", type=names, metavar="A,B,...", help="Columns to write before the predictions.")
@progress_option
def predict(
    model: str, table: Paths, out: str, kind: str, append: bool, keep: Any, progress: Any, **options: Any
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
    from .. import load
    from .._tables.columns import require

    refuse_if(append and keep, "--append keeps all columns, --keep some: choose one", click.UsageError)
    fitted = load(model)
    with shown("predicting", progress):
        rows = open_table(table, fitted, options["errors"])
        kept = rows.names if append else [require(name, rows.names) for name in keep or ()]

        def predicted(part: Table) -> polars.DataFrame:
            answers = _predictions(fitted, part, **options)
            return _beside(part.appended({}).select(kept), answers) if kept else answers

        count, _ = write(rows, predicted, out, kind)
    if out != STANDARD:
        click.echo(f"{count:,} predictions written to {out}")


def _predictions(fitted: Model, rows: Any, coverage: float | None, **errors: Any) -> polars.DataFrame:
    """Columns of predictions, probabilities, deviations, sets or intervals."""
    import polars

    if fitted.has_distribution_:
        answers: polars.DataFrame = fitted.predict_distribution(rows, **errors)
    else:
        answers = polars.DataFrame({"prediction": fitted.predict(rows, **errors)})
        if hasattr(fitted.pipeline_, "predict_proba"):
            shares = fitted.predict_proba(rows, **errors)
            answers = answers.hstack(shares.rename({name: f"p_{name}" for name in shares.columns}))
    if coverage is None:
        return answers
    if fitted.is_regression_:
        return answers.hstack(fitted.predict_interval(rows, coverage=coverage, **errors))
    sets = fitted.predict_set(rows, coverage=coverage, **errors)
    texts = ["|".join(map(str, labels)) for labels in sets.to_list()]
    return answers.hstack([polars.Series(f"{sets.name}_set", texts)])


def _beside(kept: polars.DataFrame, predicted: polars.DataFrame) -> polars.DataFrame:
    """Both; a prediction that would have the name of a kept column (the target itself) is predicted_NAME."""
    from ..exceptions import ColumnError

    renamed = {name: f"predicted_{name}" if name in kept.columns else name for name in predicted.columns}
    for name in sorted({*renamed.values()} & {*kept.columns}):
        raise ColumnError(f"column {name!r} is in the table already; use --keep with the columns you need")
    return kept.hstack(predicted.rename(renamed))


@main.command(short_help="Score a model on labelled rows.")
@click.argument("model")
@table_argument
@progress_option
def evaluate(model: str, table: Paths, progress: bool | None) -> None:
    """Accuracy of a model on labelled rows, class by class; R^2 and absolute error of a regression.

    The rows should not be those of the fit; for those see uncertain report, which cross-validates.

    \b
    Examples:
      uncertain evaluate model.safetensors labelled.parquet
      cat labelled.csv | uncertain evaluate model.safetensors -
    """
    from sklearn.metrics import classification_report, mean_absolute_error, r2_score

    from .. import load

    fitted = load(model)
    with shown("predicting", progress):
        truth, predicted = fitted._compared(open_table(table, fitted))
    if fitted.is_regression_:
        error = mean_absolute_error(truth, predicted)
        click.echo(f"R^2 {r2_score(truth, predicted):.4f}, mean absolute error {error:.4g}")
        click.echo(f"on {len(truth):,} rows")
        return
    texts = [str(label) for label in fitted.classes_.tolist()]
    report = classification_report(
        truth, predicted, labels=fitted.classes_, target_names=texts, digits=4, zero_division=0.0
    )
    lines = [line for line in report.splitlines() if not line.lstrip().startswith("accuracy")]
    click.echo("\n".join(lines))
    click.echo(f"\naccuracy {(truth == predicted).mean():.4f} on {len(truth):,} rows")


@main.command(short_help="Compare a model with one that ignores error bars.")
@click.argument("model")
@table_argument
@click.option("--folds", default=5, show_default=True, help="Number of folds.")
@click.option("--repeats", type=int, help="Repeats of the folds; by default 2, or 1 beyond 1,000 rows.")
@click.option("--groups", metavar="NAME", help="Column that rows of one object share; by default of the fit.")
@click.option("--rows", "by_rows", is_flag=True, help="Hold out single rows, even if the fit had groups.")
@click.option("--scoring", metavar="NAME", help="The measure to compare by: accuracy, log_loss, mae, r2, ...")
@click.option("--max-rows", default=200_000, show_default=True, help="Rows that are used of a larger table.")
@click.option("--max-seconds", type=float, help="Leave out folds that would end later than this.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")
@progress_option
def report(
    model: str, table: Paths, groups: str, by_rows: bool, as_json: bool, progress: Any, **options: Any
) -> None:
    """Compare the model with a fit to the means alone on TABLE: did the error bars change anything?

    The model is fitted again on every fold, with and without error bars, and with the other meaning of them.
    For a table of more than --max-rows rows a sample is used, and the report says so.

    \b
    Examples:
      uncertain report model.safetensors labelled.parquet
      uncertain report model.safetensors labelled.parquet --scoring log_loss --max-seconds 60
      uncertain report model.safetensors labelled.parquet --json | jq .verdict
    """
    from .. import load

    both = by_rows and groups is not None
    refuse_if(both, "--groups and --rows contradict each other: choose one", click.UsageError)
    fitted = load(model)
    with shown("comparing", progress):
        rows = open_table(table, fitted)
        result = fitted.report(rows, groups=False if by_rows else groups, **options)
    click.echo(json.dumps(result.to_dict()) if as_json else str(result))


@main.command("check-errors", short_help="Compare the errors of a table with its error bars.")
@table_argument
@role_options(("groups", "sample_weight", "features", "mean", *_ERROR_BARS))
@choice_options("on_missing")
@progress_option
def check_errors(table: Paths, progress: bool | None, **options: Any) -> None:
    """Estimate how many times as large as stated the errors in TABLE are, with intervals.

    Uses repeated readings of the same objects (--groups), or the other columns of each row.

    \b
    Examples:
      uncertain check-errors catalogue.parquet
      uncertain check-errors visits.csv --groups star --features u,g,r --std "{}_unc"
    """
    from .. import check_errors as check

    with shown(f"checking {table_name(table)}", progress):
        rows = read(table) if table == STANDARD else table
        result = check(rows, **_given(options))
    click.echo(str(result))


@main.command(short_help="Convert tables between formats.")
@click.argument("source")
@click.argument("destination")
@format_option
def convert(source: str, destination: str, kind: str | None) -> None:
    """Convert a table between the formats that endings name: .parquet, .csv, .tsv, .arrow, .fits and others.

    \b
    Examples:
      uncertain convert catalogue.csv catalogue.parquet
      uncertain convert catalogue.parquet - | head
    """
    height, width = write(open_table(source), lambda part: part.appended({}), destination, kind)
    if destination != STANDARD:
        click.echo(f"{height:,} rows x {width} columns written to {destination}")


@main.command(short_help="Real data with error bars, and a picture.")
@click.option("--out", "-o", default="demo.png", show_default=True, type=click.Path(path_type=Path))
@click.option("--no-plot", is_flag=True, help="Do not draw the picture.")
@click.option("--splits", default=5, show_default=True, type=click.IntRange(2), help="Splits per comparison.")
def demo(out: Path, no_plot: bool, splits: int) -> None:
    """Real data with error bars, from a table to a classifier; writes a picture.

    \b
    Examples:
      uncertain demo
      uncertain demo --no-plot --splits 5
    """
    from ..demo._run import run

    run(None if no_plot else out, click.echo, splits=splits)


def _given(options: Keywords) -> Keywords:
    return {name: value for name, value in options.items() if value is not None}
