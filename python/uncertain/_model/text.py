"""What ``print(model)`` shows: rows, seconds, columns, the meaning of error bars, classes, steps, the fit."""

from __future__ import annotations

from .findings import Findings
from .measured import is_measured
from .summary import ending_of

SCATTER = "(held-out residuals beyond error bars, standard deviation)"


def text_of(model: Findings) -> str:
    """All of it, a line each."""
    classifier = model.pipeline_[-1]
    names = [] if model.classes_ is None else list(map(repr, model.classes_.tolist()))
    classes = ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")
    fitted = ending_of(classifier)
    size = "" if model._n_rows is None else f" from {model._n_rows:,} rows in {model._seconds:.2f} s"
    lines = [
        f"Model: {type(classifier).__name__}{size}",
        *([] if model._leaderboard is None else model._leaderboard.lines()),
        *str(model.columns_).splitlines(),
        *_meaning_line(model),
        *([f"classes    {classes}"] if names else []),
        f"steps      {' -> '.join(type(step).__name__ for _, step in model.pipeline_.steps)}",
        *([f"fit        {fitted}"] if fitted else []),
        *([] if model.residual_std_ is None else [f"scatter    {model.residual_std_:.3g} {SCATTER}"]),
    ]
    return "\n".join(lines)


def _meaning_line(model: Findings) -> list[str]:
    """How the error bars were understood, where there are some that have a choice."""
    measured = is_measured(model.pipeline_)
    members = getattr(model.pipeline_[-1], "members_", ())
    if len({is_measured(member) for member in members}) > 1:
        return ["meaning    of each member its own"]
    if model.columns_.features or measured:
        what = "each row is a noisy reading of true values" if measured else "each row is a population"
        return [f"meaning    {'measurement' if measured else 'spread'}: {what}"]
    return ["meaning    spread: each row is a population"] if model.columns_.errors else []
