"""`method="auto"` on a cluster: chosen on the sample, among the methods that are made of sums over the
rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sklearn.base import clone

from ..._choice.choose import Choice, choose
from ..._choice.portfolio import Request
from ..._data.incomplete import GaussianRows
from ..._data.warn import warn
from ...exceptions import UncertainWarning
from ...remeasured import RemeasuredClassifier, RemeasuredRegressor
from .rows import Sample

IN_SUMS = ("gsu", "discriminant")
"""Methods of the choice that are made of sums over the rows."""


def chosen_steps(sample: Sample, rows: GaussianRows, asked: dict[str, Any]) -> Choice:
    """The steps behind the reader, unfitted, and how they were chosen; `asked`: fields of a `Request`.

    Trees on re-measured rows take part to be compared with: if they win, a warning says so. An average is
    made of few rows, which are all here.
    """
    known = sample.known(rows)
    request = Request(rows=rows, y=sample.y, among=(*IN_SUMS, "remeasured"), **asked)
    fitted, board, held_out = choose(request, known)
    if isinstance(fitted[-1], (RemeasuredClassifier, RemeasuredRegressor)):
        fitted, ours, held_out = choose(replace(request, among=IN_SUMS), known)
        warn(
            f"on a sample of {len(rows):,} rows {board.chosen} is clearly better than what is fitted on a "
            f'cluster, which is {ours.chosen} here; fit(sample, method="remeasured") is another way',
            UncertainWarning,
        )
        board = ours
    return Choice(clone(fitted), board, held_out)
