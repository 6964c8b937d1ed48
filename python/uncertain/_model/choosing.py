"""`method="auto"`: members of the portfolio are tried on the same held-out rows, and one is chosen.

The rule. With l_mi the loss of member m at row i, c_i the weights of rows, and

    mean_m = sum_i c_i l_mi / sum_i c_i,        best = argmin mean_m,
    d_i = l_mi - l_best,i,   se_m^2 = G / (G - 1) sum_g (sum_{i in g} c_i (d_i - mean d))^2 / (sum_i c_i)^2

over the G groups (rows, without groups), the simplest member with mean d <= se_m is chosen; a
kernel machine, which falls where errors are larger, only if it is better than all others by three standard
errors. Below 1,000 rows, and with ``effort="high"``, it is an average instead: of members within two standard
errors of the best, with the weights w >= 0, sum w = 1, of the least held-out loss of the average itself.

The chosen member's own score is a little too good, as the best of several by luck: by O(sqrt(log M / n)) for
M members.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from threadpoolctl import threadpool_limits

from .._data.typing import Labels
from .._report.held_out import gap_of, means_alone
from .._report.pace import Pace
from ..exceptions import ConvergenceWarning, UncertainError
from .average import AveragedClassifier, AveragedRegressor
from .deal import Fold, dealt, plan, read_again, sizes_of
from .deciding import Ranking, Tried, entry_of, gain_of, skipped_entry
from .leaderboard import Entry, Leaderboard
from .portfolio import Member, Request, follows_rule, portfolio, twin_of
from .trial import Means, Rows, Trial, tried

MOST_ROWS = 20_000
"""Rows that a choice is made on."""
PATH_ROWS = {"alpha": 5_000, "C": 2_000}
"""Rows that a penalty is chosen on."""
ENOUGH_ROWS = 20
"""With fewer rows nothing is held out."""
AVERAGED_ROWS = 1_000
"""Below it an average is made: with 300 rows the one member that was chosen was 0.9 points of accuracy worse
than the truly best one, an average 0.4 (docs/decisions/2026-11-22-the-choice.md)."""
COMPARED = "for comparison: without error bars"
IN_MEMORY = "for comparison: learns from rows in memory"


def choose(asked: Request, known: Rows) -> tuple[Pipeline, Leaderboard]:
    """The chosen pipeline, fitted to all rows, and how it came to be.

    By one thread of OpenMP: the sums of scikit-learn's trees depend on the number of threads in their last
    digits, and threads that wait for each other on a busy machine take ten times as long.
    """
    with threadpool_limits(1, "openmp"):
        return _chosen(asked, known)


def _chosen(asked: Request, known: Rows) -> tuple[Pipeline, Leaderboard]:
    settings = asked.settings
    pace = Pace(verbose=settings.get("verbose", 0), callback=settings.get("callback"), title="fit")
    members = portfolio(asked)
    if all(member.pipeline is None for member in members):
        raise UncertainError("; ".join(f"{member.text}: {member.reason}" for member in members))
    random = np.random.RandomState(asked.random_state)
    if asked.effort == "fast" or _countable(known) < ENOUGH_ROWS:
        return _by_rule(asked, members, known)
    some = _subset(known, asked.regression, MOST_ROWS, random)
    classes = None if asked.regression else np.unique(known.y)
    folds = _folds(asked, some, random)
    able = [member for member in members if member.pipeline is not None]
    pace.begin(len(folds), len(able) + 3)
    found: list[Tried] = []
    skipped = [member for member in members if member.pipeline is None]
    for member in able:
        try:
            found.append(_tried(asked, member, some, folds, classes, pace))
        except UncertainError as error:
            skipped.append(member.without(str(error)))
    passed = [t for t in found if asked.able is not None and not asked.able(t.member)]
    found = [t for t in found if t not in passed]
    if not found:
        pace.end()
        return _by_rule(asked, members, known)
    twins = [] if asked.exact else _twins(asked, found, some, folds, classes, pace)
    pace.end()
    return _decided(asked, found, passed, twins, skipped, some, known, folds)


def _countable(known: Rows) -> int:
    """Rows, or groups of rows, that can be held out."""
    counted = np.flatnonzero(known.counts > 0.0)
    return len(counted) if known.groups is None else 4 * known.groups.take(counted).count


def _subset(known: Rows, regression: bool, most: int, random: np.random.RandomState) -> Rows:
    """At most so many rows: of every class the same share, but a few of each; whole groups."""
    n = len(known)
    if n <= most:
        return known
    if known.groups is not None:
        names, codes = np.unique(known.groups.codes, return_inverse=True)
        turn = random.permutation(len(names))[codes]
        kept = np.cumsum(np.bincount(turn)) <= most
        return known.take(np.flatnonzero(kept[turn]))
    codes = np.zeros(n, dtype=np.int64) if regression else np.unique(known.y, return_inverse=True)[1]
    parts = []
    for code in range(int(codes.max()) + 1):
        own = np.flatnonzero(codes == code)
        share = max(min(len(own), 20), round(len(own) * most / n))
        parts.append(random.permutation(own)[:share])
    return known.take(np.sort(np.concatenate(parts)))


def _folds(asked: Request, some: Rows, random: np.random.RandomState) -> list[Fold]:
    classes = None if asked.regression else some.y
    counted = np.flatnonzero(some.counts > 0.0)
    groups = some.groups
    folds, used, repeats = plan(len(counted), thorough=asked.effort == "high")
    if groups is not None:
        folds = min(folds, groups.take(counted).count)
    splits = dealt(classes, groups, counted, len(some), folds=folds, repeats=repeats, random=random)
    sizes = sizes_of(asked.noise)
    again = read_again(some.rows, sizes, some.y, asked.regression, some.weights, random)
    splits = splits if used == folds else splits[:used]
    return [Fold(k, train, test, tuple(rows[test] for rows in again)) for k, train, test in splits]


def _tried(
    asked: Request, member: Member, some: Rows, folds: Sequence[Fold], classes: Labels | None, pace: Pace
) -> Tried:
    """A member on all folds; its penalty is chosen once, on all rows."""
    start = time.perf_counter()
    member = _with_penalty(asked, member, some)
    assert member.pipeline is not None
    shape = (1 + max(fold.repeat for fold in folds)) * len(folds[0].read), len(some)
    trial = Trial(np.full(shape, np.nan), None if classes is None else np.full(shape, np.nan))
    trial.seconds = time.perf_counter() - start
    for k, fold in enumerate(folds):
        tried(member.pipeline, some, fold, trial, classes)
        pace.step(member.text, k)
    return Tried(member, trial, trial.losses(some.y, regression=asked.regression))


def _with_penalty(asked: Request, member: Member, some: Rows) -> Member:
    """The member with the penalty that the path chooses."""
    if not member.penalty or member.pipeline is None:
        return member
    least = _subset(some, asked.regression, PATH_ROWS[member.penalty], np.random.RandomState(0))
    path = clone(member.pipeline)
    given: dict[str, Any] = {member.penalty: "auto"}
    given |= {"probability": False} if "probability" in path[-1].get_params() else {}
    path[-1].set_params(**given)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        fitted = least.fitted(path)
    found = getattr(fitted[-1], f"{member.penalty}_")
    return member.with_parameters(**{member.penalty: float(found)})


def _twins(
    asked: Request,
    found: Sequence[Tried],
    some: Rows,
    folds: Sequence[Fold],
    classes: Labels | None,
    pace: Pace,
) -> list[Tried]:
    """Of each method the best member, without error bars."""
    exact = some.instead(means_alone(some.rows))
    read = [replace(f, read=tuple(means_alone(rows) for rows in f.read)) for f in folds]
    means, twins = Means(some.counts), []
    for method in dict.fromkeys(t.member.method for t in found):
        best = min((t for t in found if t.member.method == method), key=lambda t: means.of(t.losses)[0])
        try:
            twins.append(_tried(asked, twin_of(asked, best.member), exact, read, classes, pace))
        except UncertainError:
            continue
    return twins


def _decided(
    asked: Request,
    found: list[Tried],
    passed: list[Tried],
    twins: list[Tried],
    skipped: list[Member],
    some: Rows,
    known: Rows,
    folds: Sequence[Fold],
) -> tuple[Pipeline, Leaderboard]:
    """The fit to all rows, and the leaderboard."""
    regression = asked.regression
    means = Means(some.counts, some.groups)
    ranking = Ranking(found, means, some.y if regression else None)
    weights = {ranking.simplest: 1.0}
    if asked.effort == "high" or len(known) < AVERAGED_ROWS:
        weights = ranking.average()
    if len(weights) > 1:
        own = ranking.of_average(weights)
        fitted = _averaged([found[k].member for k in weights], list(weights.values()), known, regression)
    else:
        first = next(iter(weights))
        rest = [k for k in ranking.order if k != first]
        member, fitted = _first_fit([found[k].member for k in (first, *rest)], known)
        own = next(t for t in found if t.member is member)
        weights = {found.index(own): 1.0}
    best = found[ranking.best]
    entries = []
    for k in ranking.order:
        entry = entry_of(found[k], means, best, regression=regression)
        entries.append(replace(entry, weight=weights.get(k, 0.0)))
    if len(weights) > 1:
        entries.insert(0, replace(entry_of(own, means, best, regression=regression), weight=np.nan))
    for other in passed:
        entries.append(replace(entry_of(other, means, best, regression=regression), note=IN_MEMORY))
    plain = sorted(twins, key=lambda twin: means.of(twin.losses)[0])
    for twin in plain:
        entries.append(replace(entry_of(twin, means, best, regression=regression), note=COMPARED))
    entries += [skipped_entry(member) for member in skipped]
    gain = gain_of(own, plain[0], means, regression=regression) if plain else (np.nan, np.nan)
    board = Leaderboard(
        tuple(entries),
        "rmse" if regression else "log_loss",
        own.member.text,
        asked.effort,
        asked.noise,
        n_rows=len(some),
        folds=len(folds),
        n_groups=None if some.groups is None else some.groups.count,
        gain=gain[0],
        gain_se=gain[1],
        without=plain[0].member.text if plain else "",
        random_state=asked.random_state,
    )
    return fitted, board


def _averaged(members: Sequence[Member], weights: Sequence[float], known: Rows, regression: bool) -> Pipeline:
    """The average of members fitted to all rows; what cannot be fitted is left out."""
    fitted, kept = [], []
    for member, weight in zip(members, weights, strict=True):
        try:
            fitted.append(_first_fit([member], known)[1])
            kept.append(weight)
        except UncertainError:
            continue
    if len(fitted) == 1:
        return fitted[0]
    kind = AveragedRegressor if regression else AveragedClassifier
    return Pipeline([("average", kind.of(fitted, kept))])


def _by_rule(asked: Request, members: Sequence[Member], known: Rows) -> tuple[Pipeline, Leaderboard]:
    """One fit without a choice: the first member that can be fitted, those of the rule before all others."""
    able = [member for member in members if member.pipeline is not None]
    able = [member for member in able if asked.able is None or asked.able(member)]
    ordered = sorted(able, key=lambda member: not follows_rule(asked, member))
    member, fitted = _first_fit(ordered, known)
    entry = Entry(member.method, member.meaning, member.given, gap=gap_of(fitted), weight=1.0)
    measure = "rmse" if asked.regression else "log_loss"
    return fitted, Leaderboard((entry,), measure, entry.text, asked.effort, asked.noise)


def _first_fit(members: Sequence[Member], known: Rows) -> tuple[Member, Pipeline]:
    """The first one that can be fitted to all rows; the first one's error if none can."""
    refused: list[UncertainError] = []
    for member in members:
        assert member.pipeline is not None
        try:
            return member, known.fitted(member.pipeline)
        except UncertainError as error:
            refused.append(error)
    raise refused[0]
