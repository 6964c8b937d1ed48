"""What columns without error bars would gain: boosted trees that see them, for comparison.

On the same rows and folds as the candidates. Columns that alone tell the target, and identifiers, stay out.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from .._data.incomplete import filled_gaussians, hstack, missing_mask
from .._errors.leaks import features_from, no_features
from .._report.pace import Pace
from .._rows.left_alone import LeftAlone
from .._rows.training import TrainingRows
from ..exceptions import UncertainError
from .comparison import Comparison
from .leaderboard import Entry
from .portfolio import Request, exact_member
from .trial import Trial, try_member


class LeftAloneTrial(NamedTuple):
    """What such trees said of rows that they had not seen."""

    trial: Trial
    names: tuple[str, ...]
    typed: str
    """The argument that takes these columns."""

    def line(self, entry: Entry) -> Entry:
        """Its line on the leaderboard."""
        more = f"{len(self.names)} more column{'s' * (len(self.names) > 1)}"
        parameters = ", ".join(filter(None, [more, entry.parameters]))
        return replace(entry, parameters=parameters, note="for comparison: with columns that were left out")


def try_left_alone(request: Request, training: TrainingRows, pace: Pace) -> LeftAloneTrial | None:
    """None if there are no such columns, or no such trees."""
    left = None if request.left_alone is None else request.left_alone()
    if left is None or "estimator" in request.settings:
        return None
    kept = _features(left, training, regression=request.regression)
    if not kept:
        return None
    rows = hstack([training.rows, left.rows[:, kept]])
    softening = None if request.softening is None else (*request.softening, *[0.0] * len(kept))
    asked = replace(request, rows=rows, softening=softening)
    names = tuple(left.names[j] for j in kept)
    typed = 'exact="all"' if len(kept) == len(left.names) else f"exact={list(names)!r}"
    try:
        member = exact_member(asked)
        if member.pipeline is None:
            return None
        comparison = Comparison.from_request(asked, replace(training, rows=rows))
        return LeftAloneTrial(try_member(member, request, comparison, pace), names, typed)
    except UncertainError:
        return None


def _features(left: LeftAlone, training: TrainingRows, *, regression: bool) -> list[int]:
    """The places of columns that may be features."""
    means, missing = filled_gaussians(left.rows).means, missing_mask(left.rows)
    exact = np.ones(len(left.names), dtype=bool)
    every = features_from(means, missing, left.names, exact, {})
    out = {name for names in no_features(every, None, training.y, regression=regression) for name in names}
    varying = [len(np.unique(feature.values[feature.present])) > 1 for feature in every]
    return [j for j, name in enumerate(left.names) if varying[j] and name not in out]
