"""What ``print(model)`` shows: rows, seconds, columns, the meaning of error bars, classes, steps, the fit."""

from __future__ import annotations

from .._choice.leaderboard import Leaderboard
from .._columns.columns import listing
from ..preprocessing import AsGaussians
from .coefficients import logarithms
from .measured import drops_errors, is_measured
from .reader import Reader
from .summary import describe_ending

SCATTER = "(held-out residuals beyond error bars, standard deviation)"

DENSITY = "density    of its own for each row, with all its peaks"


def model_text(
    reader: Reader,
    residual_std: float | None,
    leaderboard: Leaderboard | None,
    n_rows: int | None,
    seconds: float | None,
    n_left_out: int,
) -> str:
    """All of it, a line each."""
    last = reader.pipeline[-1]
    logs = logarithms(reader.pipeline)
    names = [] if reader.classes is None else list(map(repr, reader.classes.tolist()))
    classes = ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")
    fitted = describe_ending(last)
    size = "" if n_rows is None else f" from {n_rows:,} rows in {seconds:.2f} s"
    lines = [
        f"Model: {type(last).__name__}{size}",
        *([] if leaderboard is None else leaderboard.lines()),
        *str(reader.columns).splitlines(),
        *_missing_line(reader, n_left_out),
        *_meaning_line(reader),
        *([f"log scale  {listing(logs)}"] if logs else []),
        *([f"classes    {classes}"] if names else []),
        f"steps      {' -> '.join(type(step).__name__ for _, step in reader.pipeline.steps)}",
        *([f"fit        {fitted}"] if fitted else []),
        *([DENSITY] if getattr(last, "_residuals", None) is not None else []),
        *([] if residual_std is None else [f"scatter    {residual_std:.3g} {SCATTER}"]),
    ]
    return "\n".join(lines)


def _missing_line(reader: Reader, n_left_out: int) -> list[str]:
    """What was missing in the fit, and what became of it."""
    first = reader.pipeline[0]
    counts = str(first.unknown_) if isinstance(first, AsGaussians) else ""
    what = f"{n_left_out:,} row{'s' * (n_left_out > 1)} without {reader.target_name} left out"
    texts = [*([what] if n_left_out else []), *([counts] if counts else [])]
    return [f"missing    {'; '.join(texts)}"] if texts else []


def _meaning_line(reader: Reader) -> list[str]:
    """How the error bars were understood, where there are some that have a choice."""
    measured = is_measured(reader.pipeline)
    if drops_errors(reader.pipeline):
        return ["meaning    none: the means alone predict better"]
    members = getattr(reader.pipeline[-1], "members_", ())
    if len({is_measured(member) for member in members}) > 1:
        return ["meaning    of each member its own"]
    if reader.columns.features or measured:
        what = "each row is a noisy reading of true values" if measured else "each row is a population"
        return [f"meaning    {'measurement' if measured else 'spread'}: {what}"]
    return ["meaning    spread: each row is a population"] if reader.columns.errors else []
