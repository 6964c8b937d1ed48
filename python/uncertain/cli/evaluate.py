"""`uncertain evaluate`: how good a model is on labelled rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from .._base.progress import shown
from ._options import progress_option
from ._tables import opened_for, table_argument

if TYPE_CHECKING:
    from .._data.typing import Floats
    from .._model.score_counts import ConfusionCounts


@click.command(short_help="Score a model on labelled rows.")
@click.argument("model")
@table_argument()
@progress_option
def evaluate(model: str, table: str | list[str], progress: bool | None) -> None:
    """Accuracy of a model on labelled rows, class by class; R^2 and absolute error of a regression.

    The rows should not be those of the fit; for those see uncertain report, which cross-validates.

    \b
    Examples:
      uncertain evaluate model.safetensors labelled.parquet
      cat labelled.csv | uncertain evaluate model.safetensors -
    """
    from .._model.model import load
    from .._model.score_counts import ConfusionCounts

    fitted = load(model)
    with shown("predicting", progress):
        worth = fitted._score_counts(opened_for(fitted, table))
    if isinstance(worth, ConfusionCounts):
        click.echo("\n".join(_by_class([str(c) for c in fitted.classes_.tolist()], worth)))
        click.echo(f"\naccuracy {worth.score:.4f} on {worth.n_rows:,} rows")
        return
    click.echo(f"R^2 {worth.score:.4f}, mean absolute error {worth.error:.4g}")
    click.echo(f"on {worth.n_rows:,} rows")


def _by_class(names: list[str], worth: ConfusionCounts) -> list[str]:
    """Precision, recall, F1 and number of rows of every class, and their means, as lines."""
    import numpy as np

    right, true, said = worth.per_class()
    with np.errstate(invalid="ignore"):
        scores = np.nan_to_num([right / said, right / true, 2 * right / (said + true)])
    width = max(map(len, [*names, "weighted avg"]))
    lines = [
        " " * width + "".join(f"{title:>11}" for title in ("precision", "recall", "f1-score", "support")),
        "",
    ]

    def line(name: str, numbers: Floats, rows: int) -> str:
        return f"{name:>{width}}" + "".join(f"{x:>11.4f}" for x in numbers) + f"{rows:>11,}"

    lines += [line(name, scores[:, k], true[k]) for k, name in enumerate(names)]
    lines += ["", line("macro avg", scores.mean(axis=1), worth.n_rows)]
    return [*lines, line("weighted avg", scores @ true / worth.n_rows, worth.n_rows)]
