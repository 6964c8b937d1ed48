"""The text of ``print(model)``: the data, held-out scores, the model, its columns, what was missing."""

from collections.abc import Sequence

from .._choice.leaderboard import Leaderboard
from .._tables.columns import Columns, listing, visible
from .._tables.error_bar import ErrorBar
from .._tables.unread import reasons_text
from ..preprocessing import AsGaussians
from .pipeline_facts import drops_errors, is_measured, logarithms
from .reader import Reader
from .summary import describe_ending

LABEL = 17
"""Characters of the label of a line."""
ERROR_BARS = {
    "std": "one standard deviation each", "var": "variances", "cov": "covariances", "precision": "precisions",
    "factor": "factors of covariances",
}  # fmt: skip
NAMED = 40  # error bars of one kind that are named with what they are
SCATTER = "(standard deviation of held-out residuals, error bars subtracted)"
DENSITY = "estimated per row, may have several peaks"
BESIDE = {name: name for name in ("offset", "event", "limits")}
BESIDE |= {"sample_weight": "weights", "modes": "shared errors"}
"""Roles of `Columns` with a line of their own, and its label."""


def model_text(
    reader: Reader, residual_std: float | None, leaderboard: Leaderboard | None, *, n_rows: int | None,
    n_left_out: int, seconds: float | None, doubts: Sequence[str],
) -> str:  # fmt: skip
    """Return the lines; those without a text are left out."""
    pipeline, columns, last = reader.pipeline, reader.columns, reader.pipeline[-1]
    first = pipeline[0]
    unknown = str(first.unknown_) if isinstance(first, AsGaussians) else ""
    rows_left_out = f"{n_left_out:,} row{'s' * (n_left_out > 1)} without {reader.target_name}"
    left_out = [
        *([rows_left_out] if n_left_out else []),
        *([reasons_text(columns, columns.ignored)] if columns.ignored else []),
    ]
    classes = [] if reader.classes is None else [str(label) for label in reader.classes.tolist()]
    is_stack = hasattr(last, "members_")
    steps = "" if is_stack else " -> ".join(type(step).__name__ for _, step in reader.steps.steps)
    lines = [
        *([("model", steps)] if leaderboard is None else [*leaderboard.lines(), ("steps", steps)]),
        ("fit", describe_ending(last)),
        ("features", _features(columns, logarithms(pipeline))),
        ("errors", _errors(reader)),
        *((label, columns.texts().get(role, "")) for role, label in BESIDE.items()),
        ("unknown", unknown),
        ("left out", "; ".join(left_out)),
        *(("" if k else "doubts", sentence) for k, sentence in enumerate(doubts)),
        ("classes", listing(classes, 8)),
        ("density", "" if getattr(last, "_residuals", None) is None else DENSITY),
        ("scatter", "" if residual_std is None else f"{residual_std:.3g} {SCATTER}"),
    ]
    fitted = "" if seconds is None else f"fitted in {seconds:.1f} s; "
    return "\n".join([
        _title(reader, leaderboard, n_rows),
        *(f"{label:<{LABEL}}{visible(text)}" for label, text in lines if text),
        f"{fitted}next: model.report(table), model.predict(new), model.save(path)",
    ])  # fmt: skip


def _title(reader: Reader, leaderboard: Leaderboard | None, n_rows: int | None) -> str:
    """Return the task, the target, and how many rows and groups there were."""
    columns = reader.columns
    target = "" if columns.target is None else f" of {columns.target}"
    target += f" in {columns.target_unit}" if columns.target_unit else ""
    if (bar := columns.bar_of_target()) is not None:
        target += f", known to ± {bar}{bar.conversion}{' (one standard deviation)' * (bar.sigmas == 1.0)}"
    target += f", limits by {columns.target_limit}" if columns.target_limit else ""
    size = "" if n_rows is None else f", {n_rows:,} rows"
    if columns.groups is not None:
        count = "" if leaderboard is None or leaderboard.n_groups is None else f"{leaderboard.n_groups:,} "
        size += (
            f", {count}groups ({columns.groups if isinstance(columns.groups, str) else 'given as values'})"
        )
    return visible(f"{'Regression' if reader.is_regression else 'Classifier'}{target}{size}")


def _features(columns: Columns, logs: dict[str, float]) -> str:
    """Return the features by kind, with their error columns."""
    bars = columns.error_bars
    parts = []
    if bars:
        names = [f"{name} ({', '.join(bar.columns)})" for name, bar in bars.items()]
        parts.append(f"{len(bars)} with errors: {listing(names, 4)}")
    if columns.mean is not None:
        parts.append(", errors in ".join([f"lists in {columns.mean}", *columns.lists.values()]))
    if columns.exact:
        parts.append(f"{len(columns.exact)} exact: {listing(columns.exact)}")
    if columns.categorical:
        parts.append(f"categories: {listing(columns.categorical)}")
    if columns.draws:
        parts.append(f"distributions: {listing(columns.draws)}")
    return "; ".join(parts) + (f" [log: {listing(logs)}]" if logs else "")


def _short(bar: ErrorBar) -> str:
    """Return the columns of an error bar, of a second one the last word: period_err1/err2."""
    first, *rest = bar.columns
    return "/".join((first, *(other.removeprefix(first[: first.rfind("_") + 1]) for other in rest)))


def reading_text(columns: Columns, unknown: str) -> str:
    """Return one sentence on how the columns of a table were read."""
    bars, n = columns.error_bars, len(columns.exact or ())
    error_columns = [*map(_short, bars.values())] or [*columns.lists.values()]
    noun = f"{len(bars)} feature{'s' * (len(bars) > 1)}" if bars else "lists"
    parts = [
        f"{noun} with error bars ({listing(error_columns, 3)})" if error_columns else "no error bars",
        f"{n} exact" if n else "",
        f"ignored: {listing(columns.ignored)}" if columns.ignored else "",
        f"limits: {listing(columns.flags)}" if columns.flags else "",
        f"unknown: {unknown}" if unknown else "",
    ]
    return ", ".join(filter(None, parts))


def _meanings(columns: Columns) -> list[str]:
    """Return what the numbers in columns of error bars are, with the names of the columns."""
    texts = {"var": "variances", "limits": "limits one standard deviation away"}
    groups: dict[str, list[str]] = {}
    for bar in columns.error_bars.values():
        text = texts.get(bar.kind, "one standard deviation each")
        groups.setdefault(text if bar.is_plain else bar.conversion, []).append(_short(bar))
    names = {text: listing(own, NAMED) for text, own in groups.items()}
    return [f"({own}){text}" if text[0] == " " else f"{text} ({own})" for text, own in names.items()]


def _errors(reader: Reader) -> str:
    """Return the kind of error bars and their meaning."""
    pipeline, columns = reader.pipeline, reader.columns
    kinds = ", ".join(
        [*(text for kind, text in ERROR_BARS.items() if kind in columns.lists), *_meanings(columns)]
    )
    if columns.corr is not None:
        kinds += ", with correlations"
    measured = is_measured(pipeline)
    members = getattr(pipeline[-1], "members_", ())
    if drops_errors(pipeline):
        return "not used: the means alone predict better"
    used = [is_measured(member) for member in members if not drops_errors(member)]
    if len({*used}) > 1:
        meaning = "measurement errors for some members of the stack, spread for others"
    elif used and len(used) < len(members):
        meaning = "measurement errors, not used by some members of the stack"
    elif measured:
        meaning = "measurement errors"
    elif columns.errors or columns.draws:
        meaning = "spread of populations"
    else:
        return "none: rows are exact" if columns.used else ""
    return f"{kinds}, {meaning}" if kinds else meaning
