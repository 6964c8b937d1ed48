"""Options for the roles of columns: names, patterns, and FEATURE=COLUMN as dictionaries.

`uncertain.fit` checks them together; here texts only become its arguments.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., object])
Texts = tuple[str, ...]

LISTS = {
    "mean": "Column with a list of d numbers per row.",
    "precision": "Column with d * d numbers per row, the inverse of a covariance matrix.",
    "factor": "Column with d * r numbers per row, a factor of one.",
}
BARS = {
    "std": "Standard deviations: a pattern such as {}_unc, or FEATURE=COLUMN, or FEATURE=UPPER,LOWER.",
    "var": "Variances, in the same way.",
    "bounds": "Limits one standard deviation away: {}_lo,{}_hi, or FEATURE=LOWER,UPPER.",
}
PAIRS = {
    "cov": "Covariances: a column of matrices, a pattern such as cov_{}_{}, or A,B=COLUMN.",
    "corr": "Correlations: a pattern such as {}_{}_corr, or A,B=COLUMN.",
}


def names(text: str) -> list[str]:
    """Names of columns, separated by commas."""
    columns = [name.strip() for name in text.split(",")]
    if not all(columns):
        raise click.BadParameter(f"{text!r} must be names of columns with commas between them, such as u,g,r")
    return columns


def names_or(*words: str) -> Callable[[str], list[str] | str]:
    """Names of columns, or one of these words."""
    return lambda text: text if text in words else names(text)


def error_columns(_ctx: click.Context, option: click.Parameter, texts: Texts) -> object:
    """A column or pattern, a list of them, or a dictionary by feature."""
    value = _by_feature(option, texts)
    if isinstance(value, dict):
        return {feature: tuple(names(c)) if "," in c else c for feature, c in value.items()}
    return names(value) if value is not None and "," in value else value


def pairs(_ctx: click.Context, option: click.Parameter, texts: Texts) -> object:
    """A column or pattern, or a dictionary by pair of features."""
    value = _by_feature(option, texts)
    if not isinstance(value, dict):
        return value
    return {tuple(names(pair)): column for pair, column in value.items()}


def _by_feature(option: click.Parameter, texts: Texts) -> dict[str, str] | str | None:
    if not texts:
        return None
    if len(texts) == 1 and "=" not in texts[0]:
        return texts[0]
    if not all("=" in text for text in texts):
        raise click.BadParameter("either one name or pattern, or FEATURE=COLUMN every time", param=option)
    return {key.strip(): column.strip() for key, _, column in (text.partition("=") for text in texts)}


def column_options(command: Command) -> Command:
    """--features, --exact, --categorical, and the roles of columns."""
    options = [
        click.option("--features", type=names, metavar="A,B,...", help="Scalar columns with error bars."),
        click.option(
            "--exact",
            type=names_or("all", "none"),
            metavar="A,B,...",
            help="Scalar columns without error bars that are features; all: every numeric column that is "
            "left; none: no other column, and no warning about them.",
        ),
        click.option("--categorical", type=names, metavar="A,B,...", help="Columns of categories."),
        click.option("--draws", type=names, metavar="A,B,...", help="Columns of lists: draws of each row."),
        *(
            click.option(f"--{role}", metavar="NAME", multiple=True, callback=error_columns, help=text)
            for role, text in BARS.items()
        ),
        *(
            click.option(f"--{role}", metavar="NAME", multiple=True, callback=pairs, help=text)
            for role, text in PAIRS.items()
        ),
        click.option(
            "--limits",
            metavar="NAME",
            multiple=True,
            callback=lambda _ctx, option, texts: _by_feature(option, texts),
            help="Flags of values that are limits (-1 or < upper, 1 or > lower): a pattern such as "
            "{}_limit, or COLUMN=FLAGS.",
        ),
        *(click.option(f"--{role}", metavar="NAME", help=text) for role, text in LISTS.items()),
    ]
    for option in reversed(options):
        command = option(command)
    return command
