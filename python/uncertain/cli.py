"""The command line: `uncertain fit | predict | evaluate | report | convert | demo`.

Every mistake of the user ends in one sentence on stderr and exit code 2.
"""

from __future__ import annotations

import ast
import json
import warnings
from pathlib import Path
from typing import Any

import click

from . import __version__

METHODS = (
    *("auto", "gsu", "kernel", "huber", "discriminant", "minimax"),
    *("usvc", "tsvc", "ausvc", "mpsvc", "psvm"),
)
"""Those of `uncertain.fit`, which is imported when it is needed: help must not take half a second."""
ROLES = ("mean", "std", "var", "cov", "precision", "factor", "corr")


class _Commands(click.Group):
    """Turns errors about data, parameters and files into one sentence and exit code 2."""

    def invoke(self, ctx: click.Context) -> Any:
        from .exceptions import UncertainError

        try:
            with warnings.catch_warnings():
                warnings.showwarning = _show_warning
                return super().invoke(ctx)
        except (UncertainError, OSError, ModuleNotFoundError) as error:
            message = " ".join(str(error).split())
        click.echo(f"uncertain: {message}", err=True)
        ctx.exit(2)


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    click.echo(f"uncertain: warning: {message}", err=True)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="uncertain")
def main() -> None:
    """Classification and regression with error bars: every row is a Gaussian, not a point.

    Tables are .parquet, .csv or .arrow files.
    """


def _columns(command: Any) -> Any:
    for role in reversed(ROLES):
        text = "pattern such as {}_{}_corr" if role == "corr" else "column, or pattern such as {}_err"
        command = click.option(f"--{role}", metavar="NAME", help=f"{role}: {text}.")(command)
    return click.option("--features", metavar="A,B,...", help="Scalar columns, instead of --mean.")(command)


@main.command()
@click.argument("table", type=click.Path(path_type=Path))
@click.option("--target", default="label", show_default=True, help="Column to predict.")
@click.option("--target-std", help="Column of the target's standard deviations (regression).")
@click.option("--out", "-o", default="model.safetensors", show_default=True, type=click.Path(path_type=Path))
@click.option("--groups", help="Column that rows of one object share; such rows are held out together.")
@_columns
@click.option("--task", default="auto", show_default=True, help="auto, classification or regression.")
@click.option("--method", default="auto", show_default=True, help=f"{', '.join(METHODS)}.")
@click.option(
    "--meaning", default="spread", show_default=True, help="What error bars are: spread or measurement."
)
@click.option("--no-scale", is_flag=True, help="Leave the features as they are.")
@click.option(
    "--on-missing", default="error", show_default=True, help="Missing error bars: error, point, impute."
)
@click.option("--param", "-p", "params", multiple=True, metavar="KEY=VALUE", help="Such as -p alpha=1e-2.")
def fit(
    table: Path,
    target: str,
    target_std: str | None,
    out: Path,
    groups: str | None,
    features: str | None,
    task: Any,
    method: Any,
    meaning: Any,
    no_scale: bool,
    on_missing: Any,
    params: tuple[str, ...],
    **roles: str | None,
) -> None:
    """Fit a classifier (or, to a target of floats, a regression) to TABLE and write it to a model file."""
    from . import fit as fit_table

    chosen: dict[str, Any] = dict(_param(text) for text in params) | roles
    model = fit_table(
        table,
        target,
        target_std=target_std,
        groups=groups,
        features=_names(features),
        task=task,
        method=method,
        meaning=meaning,
        scale=not no_scale,
        on_missing=on_missing,
        **chosen,
    )
    model.save(out)
    click.echo(f"{model}\nwritten    {out}")


@main.command()
@click.argument("model", type=click.Path(path_type=Path))
@click.argument("table", type=click.Path(path_type=Path))
@click.option("--out", "-o", type=click.Path(path_type=Path), help="Table to write; printed as CSV without.")
def predict(model: Path, table: Path, out: Path | None) -> None:
    """Predict the class of every row of TABLE, and its probabilities; or the number, and its spread."""
    import polars

    from ._model.model import load
    from .tables._files import read_table, write_table

    fitted = load(model)
    frame = read_table(table)
    predicted = polars.DataFrame({"prediction": fitted.predict(frame)})
    if fitted.has_distribution_:
        predicted = fitted.predict_distribution(frame)
    elif hasattr(fitted.pipeline_, "predict_proba"):
        probabilities = fitted.predict_proba(frame)
        predicted = predicted.hstack(probabilities.rename({c: f"p_{c}" for c in probabilities.columns}))
    if out is None:
        click.echo(predicted.write_csv(), nl=False)
    else:
        write_table(predicted, out)
        click.echo(f"{len(predicted):,} predictions written to {out}")


@main.command()
@click.argument("model", type=click.Path(path_type=Path))
@click.argument("table", type=click.Path(path_type=Path))
def evaluate(model: Path, table: Path) -> None:
    """Accuracy of a model on labelled rows, class by class; R^2 and absolute error of a regression."""
    from sklearn.metrics import classification_report

    from ._model.model import load
    from .tables._files import read_table

    fitted = load(model)
    frame = read_table(table)
    truth = fitted.labels(frame)
    predicted = fitted.pipeline_.predict(frame)
    if fitted.is_regression_:
        click.echo(f"R^2 {fitted.score(frame):.4f}, mean absolute error {abs(truth - predicted).mean():.4g}")
        click.echo(f"on {len(truth):,} rows")
        return
    names = [str(c) for c in fitted.classes_.tolist()]
    click.echo(
        classification_report(
            truth, predicted, labels=fitted.classes_, target_names=names, digits=4, zero_division=0.0
        ).rstrip()
    )
    click.echo(f"\naccuracy {(truth == predicted).mean():.4f} on {len(truth):,} rows")


@main.command()
@click.argument("model", type=click.Path(path_type=Path))
@click.argument("table", type=click.Path(path_type=Path))
@click.option("--folds", default=5, show_default=True)
@click.option("--repeats", default=4, show_default=True)
@click.option("--groups", help="Column that rows of one object share; by default that of the fit.")
@click.option("--rows", "by_rows", is_flag=True, help="Hold out single rows, whatever the groups of the fit.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")
def report(
    model: Path, table: Path, folds: int, repeats: int, groups: str | None, by_rows: bool, as_json: bool
) -> None:
    """Did the error bars change anything? A fit to the means alone beside the model, on TABLE."""
    from ._model.model import load

    if by_rows and groups is not None:
        raise click.UsageError("--groups and --rows contradict each other: choose one")
    chosen = False if by_rows else groups
    result = load(model).report(table, folds=folds, repeats=repeats, groups=chosen)
    click.echo(json.dumps(result.to_dict()) if as_json else str(result))


@main.command()
@click.argument("source", type=click.Path(path_type=Path))
@click.argument("destination", type=click.Path(path_type=Path))
@click.option(
    "--pack", is_flag=True, help="Put scalar columns and their error columns into list columns mean and std."
)
@click.option(
    "--unpack",
    is_flag=True,
    help="Put list columns into scalar columns NAME_0, NAME_1, ... (CSV has no lists).",
)
@click.option("--target", default="label", show_default=True, help="Column that is no feature (with --pack).")
def convert(source: Path, destination: Path, pack: bool, unpack: bool, target: str) -> None:
    """Convert a table between .parquet, .csv and .arrow."""
    from .tables._files import pack_columns, read_table, unpack_columns, write_table

    if pack and unpack:
        raise click.UsageError("--pack and --unpack undo each other: choose one")
    frame = read_table(source)
    if pack:
        frame = pack_columns(frame, target)
    if unpack:
        frame = unpack_columns(frame)
    write_table(frame, destination)
    click.echo(f"{frame.height:,} rows x {frame.width} columns written to {destination}")


@main.command()
@click.option("--out", "-o", default="demo.png", show_default=True, type=click.Path(path_type=Path))
@click.option("--no-plot", is_flag=True, help="No picture.")
@click.option(
    "--splits", default=20, show_default=True, type=click.IntRange(2), help="Random splits per comparison."
)
def demo(out: Path, no_plot: bool, splits: int) -> None:
    """Real data with error bars, from a table to a classifier; writes a picture."""
    from .demo import run

    run(None if no_plot else out, click.echo, splits=splits)


def _names(text: str | None) -> list[str] | None:
    return None if text is None else [name.strip() for name in text.split(",")]


def _param(text: str) -> tuple[str, Any]:
    """KEY=VALUE; numbers, booleans and None as in Python, anything else is a string."""
    key, equals, value = text.partition("=")
    if not equals or not key:
        raise click.BadParameter(f"{text!r} is not KEY=VALUE, such as alpha=1e-2", param_hint="--param")
    if key in (*ROLES, "features", "groups", "target", "scale"):
        raise click.BadParameter(f"{key} is an option of its own", param_hint="--param")
    try:
        return key, ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return key, value
