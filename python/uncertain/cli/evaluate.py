"""`uncertain evaluate`: how good a model is on labelled rows."""

from __future__ import annotations

import click

from ._options import progress_option
from ._progress import Progress
from ._tables import opened, table_argument


@click.command(short_help="Score a model on labelled rows.")
@click.argument("model")
@table_argument()
@progress_option
def evaluate(model: str, table: str | list[str], progress: bool | None) -> None:
    """Accuracy of a model on labelled rows, class by class; R^2 and absolute error of a regression.

    The rows should not be those of the fit: see uncertain report for an honest look at those.

    \b
    Examples:
      uncertain evaluate model.safetensors labelled.parquet
      cat labelled.csv | uncertain evaluate model.safetensors -
    """
    from sklearn.metrics import classification_report

    from .._model.model import load

    fitted = load(model)
    with Progress("predicting", progress):
        rows = opened(table)
        truth = fitted.labels(rows)
        predicted = fitted.predict(rows).to_numpy()
    if fitted.is_regression_:
        click.echo(f"R^2 {fitted.score(rows):.4f}, mean absolute error {abs(truth - predicted).mean():.4g}")
        click.echo(f"on {len(truth):,} rows")
        return
    names = [str(c) for c in fitted.classes_.tolist()]
    click.echo(
        classification_report(
            truth, predicted, labels=fitted.classes_, target_names=names, digits=4, zero_division=0.0
        ).rstrip()
    )
    click.echo(f"\naccuracy {(truth == predicted).mean():.4f} on {len(truth):,} rows")
