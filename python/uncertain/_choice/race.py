"""A race of candidates: folds one after the other, and who is clearly behind leaves.

The rule. After each fold, with l_mi the loss of member m at the rows i that were held out so far, and
d_i = l_mi - l_best,i for the member of least mean loss, member m leaves the race if

    mean d > BEHIND se(d)    and    at least `ENOUGH` rows (or groups of rows) were held out,

with the standard error of a choice (`choose`), both in what it is judged by and with errors as they are: an
average may have use for what is good at one of them. A member that is as good as the best one leaves by
chance in one table of a thousand at each fold. Who has left stays on the leaderboard with its score so far,
and is not chosen.

Nothing here reads the clock, unless there is a limit in seconds: then the race ends with the last fold that
all who are left have done, or with those that have done the first.

A candidate that has had a quick look at the first fold (`Runner.look`) leaves after it if it is `FAR_BEHIND`:
trees, which take longer than all others together, are then only counted.

The candidates' fits of a fold run side by side (`side_by_side`), which changes nothing but the time.

Rejected: a first fold of fewer rows (successive halving). Good members for many rows (trees, kernels) are
behind with few, and there are only a dozen candidates.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from .._base.deadline import Deadline
from .._data.typing import Floats
from .._report.pace import Pace
from ..exceptions import UncertainError
from .comparison import Comparison
from .portfolio import Member, Request
from .side_by_side import Workers, workers
from .trial import Runner, Trial

BEHIND = 3.0
"""Standard errors."""
FAR_BEHIND = 5.0
"""After a quick look, which is up to 2 % of a mean square worse than the fit that it stands for."""
ENOUGH = 50
"""Rows, or groups of rows: with fewer a standard error is itself uncertain."""
NO_TIME = "time_limit was over"


class Race(NamedTuple):
    """How it ended."""

    comparison: Comparison
    """With the folds that were run."""
    trials: list[Trial]
    """Who ran all of them, in the order of the start."""
    left: list[Trial]
    """Who left before."""
    refused: list[Member]
    """Who could not be fitted, with the reason."""


def race(
    members: Sequence[Member],
    request: Request,
    comparison: Comparison,
    pace: Pace,
    share: float,
    able: Callable[[Member], bool] = lambda member: True,
    threads: int = 1,
) -> Race:
    """All members on all folds, as far as they can still win; `share` of a limit in seconds is theirs.

    Who is not `able` to be chosen is no measure for the others, and runs to the end. So many `threads` fit.
    """
    with workers(threads) as crew:
        return _race(members, request, comparison, pace, share, able, crew)


def _race(
    members: Sequence[Member],
    request: Request,
    comparison: Comparison,
    pace: Pace,
    share: float,
    able: Callable[[Member], bool],
    crew: Workers,
) -> Race:
    deadline = request.deadline
    runners = [Runner(member, request, comparison) for member in members]
    left: list[Trial] = []
    refused: list[Member] = []
    done = 0

    def round_of(runners: Sequence[Runner], k: int) -> list[Runner]:
        """Who has run the fold, or has had a quick look at it."""
        jobs = [partial(_run, runner, deadline, share) for runner in runners]
        # The simplest come first, and are there if the time is over; without a limit the longest begin.
        reasons = crew.results(jobs, last_first=deadline.left() is None)
        running = []
        for runner, reason in zip(runners, reasons, strict=True):
            if reason is None:
                if not runner.looked:
                    pace.step(runner.member.text, k)
                running.append(runner)
            elif deadline.left(share) != 0.0 or k == 0:
                refused.append(runner.member.without(reason))
        return running

    for k in range(len(comparison.folds)):
        running = round_of(runners, k)
        if any(runner.looked for runner in running):
            behind = _behind(running, comparison, able, FAR_BEHIND)
            gone = [one for one, leaves in zip(running, behind, strict=True) if one.looked and leaves]
            left += [runner.trial() for runner in gone]
            runners = [one for one in runners if one not in gone]
            round_of([one for one in running if one.looked and one not in gone], k)
            running = [one for one in running if not one.looked]
        late = deadline.left(share) == 0.0
        if late and k > 0 and len(running) < len(runners):
            break  # a fold that some have not run compares nobody
        runners, done = running, k + 1
        if late or done == len(comparison.folds):
            break
        behind = _behind(runners, comparison, able, BEHIND)
        left += [runner.trial() for runner, leaves in zip(runners, behind, strict=True) if leaves]
        runners = [runner for runner, leaves in zip(runners, behind, strict=True) if not leaves]
    if done < len(comparison.folds):
        comparison = replace(comparison, folds=comparison.folds[:done])
        return Race(comparison, [runner.trial(done) for runner in runners], left, refused)
    return Race(comparison, [runner.trial() for runner in runners], left, refused)


def _run(runner: Runner, deadline: Deadline, share: float) -> str | None:
    """The next fold, or a quick look at the first; why not, if it could not be run."""
    if deadline.left(share) == 0.0:
        return NO_TIME
    try:
        with deadline.stops(share):
            if runner.models or runner.looked or not runner.look():
                runner.run()
    except UncertainError as error:
        return str(error)
    return None


def _behind(
    runners: Sequence[Runner],
    comparison: Comparison,
    able: Callable[[Member], bool],
    errors: float,
) -> list[bool]:
    """Who leaves."""
    judges = [k for k, runner in enumerate(runners) if able(runner.member)]
    leaves = [k in judges for k in range(len(runners))]
    for losses in [runner.losses for runner in runners], [runner.scored for runner in runners]:
        if not judges:
            break
        best = losses[min(judges, key=lambda k: comparison.mean(losses[k]).value)]
        if _held_out(best, comparison) < ENOUGH:
            return [False] * len(runners)
        leaves = [
            gone and _is_behind(one - best, comparison, errors)
            for gone, one in zip(leaves, losses, strict=True)
        ]
    return leaves


def _held_out(losses: Floats, comparison: Comparison) -> int:
    """Rows, or groups of rows, so far."""
    groups = comparison.training.groups
    rows = np.flatnonzero(~np.isnan(losses) & (comparison.training.counts > 0.0))
    return len(rows) if groups is None else groups.take(rows).count


def _is_behind(difference: Floats, comparison: Comparison, errors: float) -> bool:
    mean, se = comparison.mean(difference)
    return mean > errors * se
