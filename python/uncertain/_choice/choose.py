"""`method="auto"`: members of the portfolio are tried on the same held-out rows, and one is chosen.

The rule. With l_mi the loss of member m at row i, c_i the weights of rows, and

    mean_m = sum_i c_i l_mi / sum_i c_i,        best = argmin mean_m,
    d_i = l_mi - l_best,i,   se_m^2 = G / (G - 1) sum_g (sum_{i in g} c_i (d_i - mean d))^2 / (sum_i c_i)^2

over the G groups (rows, without groups), the simplest member with mean d <= se_m is chosen. An average of up
to five members, with the weights w >= 0, sum w = 1, of the least held-out loss of the average itself, takes
its place below 1,000 rows (of members within two standard errors of the best) and with ``effort="high"``, and
up to 6,000 rows where it is better by two standard errors, of numbers both in squared error and in CRPS.

From 1,000 rows on the loss of a row is the mean over readings of it with errors x 1, 2 and 4 (of any number
of rows, with sizes in the range `noise`): what compares the sizes of errors may be best today, and is useless
tomorrow. Scores on the leaderboard are those of errors as they are.

Members run a race, fold by fold, and leave it when they are clearly behind (`race`).

The best member of each method is tried without error bars, too. These twins take part if the score of the
best of them beats that of every member that knows the error bars by a standard error, and by two scores alone
decide; else they are there for comparison. (With limits, and with rows that are held elsewhere, always.)
Where all members that know the error bars are beyond the budget, members without them run the race alone.

The chosen member's own score is a little too good, as the best of several by luck: by O(sqrt(log M / n)) for
M members.

The models of the folds come with the choice: what they say of the rows that they have not seen calibrates
sets, intervals and the scatter of the model (`_model/calibrating`).
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from threadpoolctl import threadpool_limits

from .._data.incomplete import filled_gaussians, like
from .._data.typing import Floats
from .._held_out.equal import equal_rows
from .._held_out.fits import FoldModels, certified_gap, ended_early
from .._held_out.means import Mean
from .._report.pace import Pace
from .._rows.training import TrainingRows
from .._uncertain import effective_n_jobs
from ..exceptions import ConvergenceWarning, UncertainError
from .average import AveragedClassifier, AveragedRegressor
from .budget import Size, is_limited, is_too_much, refuse_too_many
from .comparison import Comparison
from .leaderboard import MEANS_ONLY, RACED, Entry, Leaderboard
from .left_alone import LeftAloneTrial, try_left_alone
from .portfolio import (
    Member,
    Request,
    follows_rule,
    means_only_twin,
    portfolio,
    without_error_bars,
)
from .race import race
from .rule import TOLERANCE, Ranking, entry, gain, skipped_entry
from .trial import Trial, as_scored

ENOUGH_ROWS = 20
"""With fewer rows nothing is held out."""
AVERAGED_ROWS = 1_000
"""Below it an average is made: with 300 rows the one member that was chosen was 0.9 points of accuracy worse
than the truly best one, an average 0.4."""
MOST_AVERAGED = 6_000
"""Up to it one is made where it is clearly better; of more rows each member takes seconds."""
CLEARLY = 2.0
"""Standard errors by which the means alone must be better for error bars that say nothing: larger ones then
say nothing either, and nobody is judged by them."""
SMALL_SHARE = 0.5
"""Of an average of many rows: re-measured trees that count no more have one learner in place of several."""
SHARE = 0.5
"""Of a limit in seconds, for the choice; the rest is for the fit to all rows."""
MOST_THREADS = 4
"""Fits at once; the longest candidate takes a third of a fold's time."""
TOO_FEW = "too few rows, or of a class, to hold any out"
TOO_MUCH = "too many rows, features and classes for the budget of a choice"
NONE_COMPARED = "no candidate could be compared on held-out rows and fitted to all of them"
COMPARED = "for comparison: without error bars"
IN_MEMORY = "for comparison: learns from rows in memory, and is not made of sums over them"


class Choice(NamedTuple):
    """What came of a choice."""

    pipeline: Pipeline
    """Fitted to all rows."""
    leaderboard: Leaderboard
    held_out: FoldModels | None
    """The same of each fold; None if nothing was held out."""


def choose(request: Request, training: TrainingRows) -> Choice:
    """The chosen pipeline, fitted to all rows, and how it came to be.

    By one thread of OpenMP: the sums of scikit-learn's trees depend on the number of threads in their last
    digits, and threads that wait for each other on a busy machine take ten times as long.
    """
    with threadpool_limits(1, "openmp"):
        return _choose(request, training)


def _choose(request: Request, training: TrainingRows) -> Choice:
    refuse_too_many(request.size)
    if (
        request.exact and not request.limits
    ):  # error bars of zero: solvers of exact points are ten times as fast
        points = like(training.rows, filled_gaussians(training.rows).collapse("zero"))
        request, training = replace(request, rows=points), training.instead(points)
    settings = request.settings
    pace = Pace(verbose=settings.get("verbose", 0), callback=settings.get("callback"), title="fit")
    members = portfolio(request)
    if all(member.pipeline is None for member in members):
        raise UncertainError("; ".join(f"{member.text}: {member.reason}" for member in members))
    if request.effort == "fast":
        return _by_rule(request, members, training, "")
    if _countable(training) < ENOUGH_ROWS:
        return _by_rule(request, members, training, TOO_FEW)
    equal = equal_rows(training.rows) if training.groups is None else None
    if equal is not None:
        training = replace(training, groups=equal.groups)
    comparison = Comparison.from_request(request, training)
    if len(comparison.folds) == 0:
        return _by_rule(request, members, training, TOO_FEW)
    tried = [member for member in members if member.pipeline is not None]
    size = request.size
    candidates = _affordable(tried, size)
    skipped = [member for member in members if member.pipeline is None]
    skipped += [member.without(TOO_MUCH) for member in tried if member not in candidates]
    blind = not candidates
    if blind and request.able is None and not request.limits and not request.exact:
        candidates = _affordable(without_error_bars(request), size)
    if not candidates:
        return _by_rule(request, members, training, TOO_MUCH)
    pace.begin(len(comparison.folds), len(candidates) + 3)
    able = request.able or (lambda member: True)
    run = race(candidates, request, comparison, pace, SHARE, able, _threads(request))
    comparison, trials, left = run.comparison, run.trials, run.left
    skipped += run.refused
    passed = [t for t in trials if not able(t.member)]
    trials = [t for t in trials if t not in passed]
    if not trials:
        pace.end()
        return _by_rule(request, members, training, NONE_COMPARED)
    alone = request.exact or blind
    twins, left_twins = ([], []) if alone else _twins(request, [*trials, *left], comparison, pace)
    left += left_twins
    with request.deadline.stops(SHARE):
        exact = try_left_alone(request, training, pace)
    pace.end()
    if request.able is None and not request.limits and twins:
        ahead, se = _lead(twins[0], trials, comparison)
        if ahead > CLEARLY * se:
            trials, twins, left = ([as_scored(t, comparison) for t in some] for some in (trials, twins, left))
            exact = None if exact is None else exact._replace(trial=as_scored(exact.trial, comparison))
            comparison = comparison.as_scored()
        if ahead > TOLERANCE * se:
            trials += twins
    choice = _decide(request, trials, passed, twins, left, skipped, exact, comparison, training)
    if equal is None:
        return choice
    board = replace(choice.leaderboard, n_groups=None, n_together=equal.n_together, n_apart=equal.n_apart)
    return choice._replace(leaderboard=board)


def _affordable(members: Sequence[Member], size: Size) -> list[Member]:
    return [m for m in members if m.pipeline is not None and not is_too_much(m.pipeline, size)]


def _threads(request: Request) -> int:
    """Fits at once; a learner of the caller's may not be made for threads."""
    if "estimator" in request.settings:
        return 1
    return min(effective_n_jobs(request.settings.get("n_jobs")), MOST_THREADS)


def _countable(training: TrainingRows) -> int:
    """Rows, or groups of rows, that can be held out."""
    return len(training) if training.groups is None else 4 * training.groups.count


def _twins(
    request: Request, trials: Sequence[Trial], comparison: Comparison, pace: Pace
) -> tuple[list[Trial], list[Trial]]:
    """Of each method the best member, without error bars, in a race of their own; the best of them first, and
    those that left."""
    twins: list[Member] = []
    rows = comparison.without_errors() if request.limits else comparison
    for method in dict.fromkeys(trial.member.method for trial in trials):
        of_method = [trial for trial in trials if trial.member.method == method]
        done = [trial for trial in of_method if len(trial.models) == len(comparison.folds)]
        of_method = done or of_method
        best = min(of_method, key=lambda trial: comparison.mean(trial.losses).value)
        with suppress(UncertainError):
            twins.append(means_only_twin(request, best.member))
    run = race(twins, request, rows, pace, SHARE, threads=_threads(request))
    if len(run.comparison.folds) < len(rows.folds):  # the time was over
        return [], []
    return sorted(run.trials, key=lambda twin: _score(twin, comparison)), run.left


def _score(trial: Trial, comparison: Comparison) -> float:
    return comparison.mean(as_scored(trial, comparison).losses).value


def _lead(twin: Trial, trials: Sequence[Trial], comparison: Comparison) -> Mean:
    """By how much the best member without error bars has a better score than the best one that knows them."""
    best = min(trials, key=lambda trial: _score(trial, comparison))
    return comparison.mean(as_scored(best, comparison).losses - as_scored(twin, comparison).losses)


def _decide(
    request: Request,
    trials: list[Trial],
    passed: list[Trial],
    twins: list[Trial],
    left: list[Trial],
    skipped: list[Member],
    exact: LeftAloneTrial | None,
    comparison: Comparison,
    training: TrainingRows,
) -> Choice:
    """The fit to all rows, and the leaderboard."""
    ranking = Ranking(trials, comparison)
    weights = {ranking.simplest: 1.0}
    whole = request.able is None  # else these rows are a sample, and one fit to all follows
    if whole and (request.effort == "high" or len(training) <= MOST_AVERAGED):
        few = len(training) < AVERAGED_ROWS
        several = ranking.average(few=few)
        if few or request.effort == "high" or ranking.is_ahead(ranking.combined(several), ranking.simplest):
            weights = several
    if len(weights) > 1:
        fitted, weights = _fit_average(trials, weights, request, training)
    else:
        first = next(iter(weights))
        order = [first, *(k for k in ranking.order if k != first)]
        place, fitted = _first_fit([trials[k].member for k in order], training)
        weights = {order[place]: 1.0}
    chosen = ranking.combined(weights)
    best = trials[ranking.best]
    entries = [replace(entry(trials[k], best, comparison), weight=weights.get(k, 0.0)) for k in ranking.order]
    if len(weights) > 1:
        entries.insert(0, replace(entry(chosen, best, comparison), weight=None))
    others = [twin for twin in twins if twin not in trials]
    dropped = chosen.member.meaning == MEANS_ONLY
    without = others[:1]
    if len(weights) > 1 and others:  # an average with an average
        without = [_average_of_twins(others, comparison)]
        others = [without[0], *(twin for twin in others if twin is not without[0])]
    entries += [replace(entry(other, best, comparison), note=IN_MEMORY) for other in passed]
    entries += [replace(entry(twin, best, comparison), note=COMPARED) for twin in others]
    folds = len(comparison.folds)
    entries += [
        replace(entry(one, best, comparison), note=f"{RACED} {_done(one)} of {folds} folds") for one in left
    ]
    if exact is not None:
        entries.append(exact.line(entry(exact.trial, best, comparison)))
    entries += [skipped_entry(member) for member in skipped]
    worth = (np.nan, np.nan) if exact is None else gain(exact.trial, chosen, comparison)
    ahead = gain(chosen, without[0], comparison) if without and not dropped else (np.nan, np.nan)
    board = Leaderboard(
        tuple(entries),
        "rmse" if request.regression else "log_loss",
        chosen.member.text,
        request.effort,
        request.noise,
        n_rows=len(comparison.training),
        folds=len(comparison.folds),
        n_groups=None if comparison.training.groups is None else comparison.training.groups.count,
        gain=ahead[0],
        gain_se=ahead[1],
        without=without[0].member.text if without else "",
        random_state=request.random_state,
        exact="" if exact is None else exact.typed,
        exact_gain=worth[0],
        exact_gain_se=worth[1],
    )
    return Choice(fitted, board, FoldModels(comparison.training, comparison.folds, chosen.models))


def _done(trial: Trial) -> str:
    """How many folds it has run."""
    return str(len(trial.models)) if trial.models else "a quick look at the first"


def _average_of_twins(twins: Sequence[Trial], comparison: Comparison) -> Trial:
    """Of members without error bars the average of the best score, or the one that is left of it."""
    scored = Ranking([as_scored(twin, comparison) for twin in twins], comparison.as_scored())
    weights = scored.average()
    made = Ranking(twins, comparison).combined(weights)
    if len(weights) == 1:
        return made
    return replace(made, member=replace(made.member, meaning=MEANS_ONLY, parameters={"of": len(weights)}))


def _fit_average(
    trials: Sequence[Trial], weights: dict[int, float], request: Request, training: TrainingRows
) -> tuple[Pipeline, dict[int, float]]:
    """The average of members fitted to all rows; what cannot be fitted is left out."""
    fitted: dict[int, Pipeline] = {}
    refused: list[UncertainError] = []
    for k in weights:
        try:
            share = 1.0 if len(training) < AVERAGED_ROWS else weights[k]
            fitted[k] = _first_fit([_for_share(trials[k].member, share)], training)[1]
        except UncertainError as error:
            refused.append(error)
    if not fitted:
        raise refused[0]
    if len(fitted) == 1:
        ((k, pipeline),) = fitted.items()
        return pipeline, {k: 1.0}
    kept: Floats = np.array([weights[k] for k in fitted])
    kind = AveragedRegressor if request.regression else AveragedClassifier
    pipeline = Pipeline([("average", kind.from_fitted(list(fitted.values()), kept))])
    return pipeline, dict(zip(fitted, (kept / kept.sum()).tolist(), strict=True))


def _for_share(member: Member, share: float) -> Member:
    """The member as it is fitted for an average: what several learners would gain counts by the square."""
    assert member.pipeline is not None
    own = member.pipeline[-1].get_params(deep=False)
    if share > SMALL_SHARE or own.get("n_learners") != "auto":
        return member
    pipeline = clone(member.pipeline)
    pipeline[-1].set_params(n_learners=1)
    return replace(member, pipeline=pipeline)


def _by_rule(request: Request, members: Sequence[Member], training: TrainingRows, why: str) -> Choice:
    """One fit without a choice: the first member that can be fitted, those of the rule before all others."""
    candidates = [member for member in members if member.pipeline is not None]
    candidates = [member for member in candidates if request.able is None or request.able(member)]
    ordered = sorted(candidates, key=lambda member: not follows_rule(request, member))
    place, fitted = _first_fit(ordered, training)
    member = ordered[place]
    line = Entry(
        member.method,
        member.meaning,
        member.given,
        gap=certified_gap(fitted),
        status="ended by max_iter" if ended_early(fitted) else "",
        weight=1.0,
        note=why,
    )
    measure = "rmse" if request.regression else "log_loss"
    board = Leaderboard((line,), measure, line.text, request.effort, request.noise)
    return Choice(fitted, board, None)


def _first_fit(members: Sequence[Member], training: TrainingRows) -> tuple[int, Pipeline]:
    """The first one that can be fitted to all rows; the first one's error if none can."""
    refused: list[UncertainError] = []
    for place, member in enumerate(members):
        assert member.pipeline is not None
        try:
            with warnings.catch_warnings():
                if is_limited(member.pipeline):
                    # No option of this call raises it; the model says how its fit has ended.
                    warnings.simplefilter("ignore", ConvergenceWarning)
                return place, training.fitted(member.pipeline)
        except UncertainError as error:
            refused.append(error)
    raise refused[0]
