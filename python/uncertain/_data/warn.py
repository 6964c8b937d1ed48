"""Warnings that point at the line of the user's program which led to them.

A fixed ``stacklevel`` is right for one path to a warning only: an estimator may run alone, in a pipeline, or
in a search over parameters. So the frames are looked at, from the inside out: the first one outside this
package and the libraries that call it for the user is the user's. (Python 3.12 has ``skip_file_prefixes`` for
this.)
"""

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

CALLED_THROUGH = frozenset({"uncertain", "sklearn", "joblib"})
"""Packages whose frames are not the user's program."""


_KEPT: ContextVar[list[str] | None] = ContextVar("kept", default=None)


@contextmanager
def kept_warnings() -> Iterator[list[str]]:
    """Collect the sentences of warnings that are given meanwhile."""
    sentences: list[str] = []
    token = _KEPT.set(sentences)
    try:
        yield sentences
    finally:
        _KEPT.reset(token)


def warn(message: str, category: type[Warning]) -> None:
    """Warn, at the innermost line outside `CALLED_THROUGH`."""
    if (sentences := _KEPT.get()) is not None:
        sentences.append(message)
    warnings.warn(message, category, stacklevel=_stacklevel())


def _stacklevel() -> int:
    """The number of frames from `warn` to the user's; to the outermost one if none is the user's."""
    level, frame = 2, sys._getframe(2)
    while frame.f_back is not None and _package(frame.f_globals) in CALLED_THROUGH:
        level, frame = level + 1, frame.f_back
    return level


def _package(module: dict[str, object]) -> str:
    return str(module.get("__name__", "")).partition(".")[0]
