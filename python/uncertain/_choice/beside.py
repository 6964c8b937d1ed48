"""Beside a stack: candidates without error bars, error sizes without values, and the leaderboard of all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from sklearn.pipeline import Pipeline

from .._base.normal_mixtures import NormalMixtures
from .._data.array import GaussianArray, value_sizes
from .._data.typing import Floats
from .._held_out.engine import Candidate, HeldOut
from .._rows.training import TrainingRows
from . import weights as stacking
from .candidates import MEANS_ONLY, Member, Request, means_only
from .leaderboard import NAN, SIZES_ONLY, STACK, Entry, Leaderboard
from .methods import make_estimator

MOST_SIZES = 40
"""Columns of error sizes and gaps that are looked at without values, those that vary most."""
SIZES_TREES = 40
"""Trees of the boosting that looks at them."""


def without_errors(
    request: Request, members: Mapping[str, Member], losses: Mapping[str, Floats]
) -> list[Member]:
    """The best Gaussians, and the boosting, on means alone."""
    order = sorted(losses, key=lambda name: float(losses[name][0].mean()))
    best = {members[name].method: members[name] for name in reversed(order)}
    there = {m.method for m in members.values() if m.meaning == MEANS_ONLY}
    twins = [means_only(request, m) for how, m in best.items() if how not in {"gsu", "kernel"} | there]
    return twins or ([] if there else [means_only(request, members[order[0]])])


def sizes_alone(
    training: TrainingRows, *, regression: bool, trees: int = SIZES_TREES, random_state: int = 0
) -> dict[str, Candidate]:
    """Boosting of error sizes and gaps without values; nothing where these do not vary."""
    std, known = value_sizes(training.rows)
    columns = np.hstack([np.log(np.where(known & (std > 0), std, 1.0)), ~known | (std <= 0)])
    spread = columns.std(axis=0)
    columns = columns[:, np.argsort(-spread, kind="stable")[: min(MOST_SIZES, (spread > 1e-12).sum())]]
    if not columns.shape[1]:
        return {}
    learner = make_estimator(
        "remeasured", regression=regression, params={"n_trees": trees}, random_state=random_state
    )
    pipeline = Pipeline([("trees", learner)])
    return {SIZES_ONLY: Candidate(pipeline, training.instead(GaussianArray(columns)))}


def board_of(
    request: Request,
    held: HeldOut,
    losses: Mapping[str, Floats],
    families: Mapping[str, str],
    stacked: HeldOut,
    kept: Sequence[str],
    W: Floats,
    left_out: Sequence[str],
) -> Leaderboard:
    """All candidates by their losses, the stack of those that are kept with weights W, and what is beside."""
    score, metric = ("rmse", "crps") if request.regression else ("accuracy", "log_loss")
    x4 = held.factors.index(4.0) if 4.0 in held.factors else None
    knots = np.array([0.0, 2.0, 3.0]) if len(W) > 1 else np.zeros(3)
    shares = dict(zip(kept, (stacking.hats(knots, len(W)) @ W).T.tolist(), strict=True))

    def entry(name: str, loss: Floats, weights: Sequence[float] = (NAN, NAN, NAN)) -> Entry:
        fourth = NAN if x4 is None or len(loss) <= x4 else held.mean(loss[x4]).value
        return Entry(name, families.get(name, ""), held.mean(loss[0]).value, fourth, *weights)

    entries = [entry(name, loss, shares.get(name, (0.0, 0.0, 0.0))) for name, loss in losses.items()]
    own = losses[kept[0]] if len(kept) == 1 else stacked.rows_of(metric, "model")
    if len(kept) > 1:
        entries.append(entry(STACK, own))
    if SIZES_ONLY in held.answers:
        entries.append(entry(SIZES_ONLY, held.rows_of(metric, SIZES_ONLY)[:1]))
    entries.sort(key=lambda one: one.loss)
    board = Leaderboard(
        tuple(entries), metric, request.effort, request.noise, left_out=tuple(left_out),
        n_rows=len(np.unique(held.at)), folds=len(held.folds), loss=held.mean(own[0]),
        score=held.mean(stacked.rows_of(score, "model")[0]), no_model=_no_model(held),
    )  # fmt: skip
    means = next((one.model for one in entries if one.family.endswith("on means")), None)
    if means is None:
        return board
    blind, means_score = losses[means][0], held.mean(held.rows_of(score, means)[0])
    gain = held.paired(blind, own[0])
    return replace(board, means_score=means_score, means_loss=held.mean(blind), gain=gain)


def _no_model(held: HeldOut) -> float:
    """The loss of the classes' shares, or of one normal law, for every row."""
    y = held.truth
    if held.classes is None:
        law = NormalMixtures.normal(np.full(len(y), y.mean()), np.full(len(y), max(float(y.std()), 1e-300)))
        return held.mean(law.crps(y)).value
    shares = np.bincount(y, held.counts, minlength=len(held.classes))
    return held.mean(-np.log(np.maximum(shares / shares.sum(), 1e-300))[y]).value
