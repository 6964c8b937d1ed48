"""`method="auto"`: a stack of candidates by what they answer about rows that they have not seen.

Every candidate of the list that the budget allows is fitted to the folds and answers for the rows held out,
as they are and as they would be with errors 2, 4 and 8 times as large. The weights of the stack minimise the
loss of the stack itself on these readings, and depend on how noisy a row is (`weights`). Members are then
fitted to all rows; of boosting the learners of the folds are the member already (`boosting`). One model is
kept where a single candidate has nearly all of the weight.

The best candidates are fitted without error bars, too, and the sizes of the errors without any value, for
comparison (`beside`).
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from threadpoolctl import threadpool_limits

from .._base.folds import Fold
from .._base.normal_mixtures import NormalMixtures
from .._data.incomplete import GaussianRows, filled_gaussians, like, missing_mask
from .._data.typing import Floats, Ints
from .._held_out.engine import NO_TIME, Answer, Candidate, HeldOut, quiet
from .._held_out.equal import together
from .._held_out.fits import for_known_features
from .._held_out.order import in_order
from .._held_out.pace import Pace
from .._held_out.widths import feature_widths
from .._rows.training import TrainingRows
from .._uncertain import effective_n_jobs
from ..exceptions import UncertainError
from ..preprocessing import GaussianLogScaler
from . import weights as stacking
from .beside import SIZES_TREES, board_of, sizes_alone, without_errors
from .boosting import Boosted
from .candidates import MEANS_ONLY, PATH_ROWS, Member, Request, affordable, candidates
from .leaderboard import Entry, Leaderboard
from .splits import folds_of, sample, sizes_of_errors
from .stack import StackedClassifier, StackedRegressor, mixed

MOST_ROWS = 20_000
"""Rows that a choice is made on."""
MOST_JUDGED = 2_000
"""Rows held out whose distribution functions are compared."""
LEAST_WEIGHT, NEARLY_ALL = 0.05, 0.98
SHARE = 0.5
"""Of a limit in seconds, for the choice; the rest is for the fit to all rows."""
MOST_THREADS = 4
MOST_ANSWERS = 50_000_000
"""Probabilities of all rows: rows x classes."""


class Choice(NamedTuple):
    """What came of a choice."""

    pipeline: Pipeline
    """Fitted to all rows."""
    leaderboard: Leaderboard
    held_out: HeldOut | None
    """Answers of the model's kind about rows that it has not seen, as the candidate "model"."""


def choose(request: Request, training: TrainingRows) -> Choice:
    """The chosen pipeline, fitted to all rows, and how it came to be.

    By one thread of OpenMP: the sums of scikit-learn's trees depend on the number of threads in their last
    digits, and threads that wait for each other on a busy machine take ten times as long.
    """
    with threadpool_limits(1, "openmp"):
        return _Choosing(request, training).choice()


class _Choosing:
    """One choice."""

    def __init__(self, request: Request, training: TrainingRows) -> None:
        size = request.size
        if size.rows * size.classes > MOST_ANSWERS:
            raise UncertainError(
                f'{size.classes:,} classes in {size.rows:,} rows are too many for method="auto". Pass '
                'method="discriminant", or for a quantity task="regression"'
            )
        if training.weights is not None and (training.weights == 1.0).all():  # learners without are faster
            training = replace(training, weights=None)
        self.log: GaussianLogScaler | None = None
        self.raw: GaussianRows = training.rows
        if request.exact and not request.limits:  # solvers of exact points are ten times as fast
            training = training.instead(like(training.rows, filled_gaussians(training.rows).collapse("zero")))
            self.raw = training.rows
        if request.softening is not None:
            self.log = GaussianLogScaler(softening=request.softening).fit(training.rows)
            training = replace(training, rows=self.log.transform(training.rows))
        self.request = replace(request, rows=training.rows, n_rows=request.n_rows or len(training))
        self.training = training
        settings = request.settings
        self.pace = Pace(verbose=settings.get("verbose", 0), callback=settings.get("callback"), title="fit")
        self.threads = (
            1 if "estimator" in settings else min(effective_n_jobs(settings.get("n_jobs")), MOST_THREADS)
        )
        self.boosted: dict[str, Boosted] = {}
        self.trees: int | None = None
        """Of every boosted candidate, as many as help the first one."""

    def choice(self) -> Choice:
        request = self.request
        members = candidates(request)
        if all(member.pipeline is None for member in members):
            reasons = dict.fromkeys(member.reason for member in members)
            raise UncertainError(
                f'method="auto": no model can be fitted to these rows ({"; ".join(reasons)})'
            )
        if request.effort == "fast":
            return self._by_rule(members, "by rule")
        written = self.training, self.raw
        if len(self.training) <= MOST_ROWS:
            self.training, self.raw = in_order(self.training, self.raw)
        training, raw = self.training, self.raw
        random = np.random.RandomState(request.random_state)
        grouped = training.groups is not None
        groups, n_equal = together(training.rows, training.groups)
        training = replace(training, groups=groups)
        if len(training) > MOST_ROWS:
            at = sample(training, None if request.regression else training.y, MOST_ROWS, random)
            training, raw = training.take(at), raw[at]
        folds = folds_of(request, training, random, grouped=grouped)
        if not folds:
            self.training, self.raw = written
            return self._by_rule(members, "by rule: too few rows, or of a class, to hold any out")
        share = sum(len(fold.train) for fold in folds) / len(training)
        members = affordable(members, 1.0 + share * len(training) / request.n_rows, request.budget)
        left_out = [] if request.able is None else ["a stack: rows of Dask, or in a file, get one model"]
        left_out += [f"{m.text}: {m.reason}" for m in members if "beyond the budget" in m.reason]
        tried = [self._with_penalty(m, training) for m in members if m.pipeline is not None]
        factors, counted = sizes_of_errors(request, self.raw)
        twins = not request.exact and request.able is None
        self.pace.begin(len(folds), len(tried) + 3 * twins)
        log = self.log.transform if self.log is not None else lambda rows: rows
        held = HeldOut.begin(training, folds, factors, regression=request.regression, raw=raw, transform=log)
        limited = request.deadline.seconds is not None  # boosting, whose folds are fitted at once, is last
        batches = [[m for m in tried if (limited and m.is_boosting) == late] for late in (False, True)]
        names = {name: m for batch in batches for name, m in self._ask(held, batch, training).items()}
        left_out += [f"{name}: {reason}" for name, reason in held.refused.items()]
        if not held.answers:
            late, none = NO_TIME in held.refused.values(), "no candidate could be compared on held-out rows"
            return self._by_rule(members, f"by rule: {NO_TIME if late else none}")
        metric = "crps" if request.regression else "log_loss"
        by_cost = sorted(held.answers, key=lambda name: names[name].seconds)  # whatever was asked first
        losses = {name: held.rows_of(metric, name) for name in by_cost}
        if twins:
            more = self._ask(held, without_errors(request, names, losses), training)
            names |= more
            losses |= {name: held.rows_of(metric, name) for name in more if name in held.answers}
            for name, alone in sizes_alone(training, regression=request.regression).items():
                member = Member(
                    "remeasured", "measurement", {"n_trees": SIZES_TREES}, alone.pipeline, name=name
                )
                self._ask(held, [member], alone.training or training)
        W, kept, sizes = self._weights(held, losses, counted)
        same = len(training) == len(self.training)
        pipeline, W, kept = self._fitted([names[name] for name in kept], W, sizes, held, same=same)
        stacked = self._stacked(held, kept, W, sizes)
        families = {name: member.family for name, member in names.items()}
        board = board_of(request, held, losses, families, stacked, kept, W, left_out)
        board = replace(
            board, n_together=n_equal, n_groups=training.groups.count if grouped and training.groups else None
        )
        return Choice(pipeline, board, stacked)

    def _ask(self, held: HeldOut, members: Sequence[Member], training: TrainingRows) -> dict[str, Member]:
        """Members by name, which answer about rows held out; boosting of copies has one number of trees."""
        names, asked = dict[str, Member](), dict[str, Candidate]()
        own = None if training.rows is held.training.rows else training
        every_fold = _every_fold_has(training, held.folds)
        for member in members:
            assert member.pipeline is not None
            models: Sequence[Pipeline] = ()
            if member.is_boosting:
                blind = member.meaning == MEANS_ONLY  # which few trees may help, or more
                counted = "n_trees" not in member.parameters and (self.trees is None or blind)
                if not counted:
                    member = member.with_parameters(n_trees=member.parameters.get("n_trees", self.trees))
                    if member.is_constant:  # the same again
                        continue
            if member.is_boosting and every_fold:  # folds with features of their own are fitted one by one
                try:
                    if self.request.deadline.left(SHARE) == 0.0:
                        raise UncertainError(NO_TIME)
                    with self.request.deadline.stops(SHARE):
                        boosted = Boosted.fit(member, training, held.folds)
                except UncertainError as error:
                    held.refused[member.text] = str(error)
                    continue
                if counted:
                    self.trees = boosted.n_trees if self.trees is None else self.trees
                    member = member.with_parameters(n_trees=boosted.n_trees)
                    if blind and member.is_constant:
                        continue
                self.boosted[member.text], models = boosted, boosted.models
            names[member.text], asked[member.text] = member, Candidate(member.pipeline, own, models)
        held.ask(
            asked, threads=self.threads, deadline=self.request.deadline, share=SHARE, heard=self.pace.step
        )
        return names

    def _with_penalty(self, member: Member, training: TrainingRows) -> Member:
        """With the penalty that a path finds, for a line or a kernel."""
        name = {"gsu": "alpha", "kernel": "C"}.get(member.method)
        if name is None:
            return member
        labels = None if self.request.regression else training.y
        at = sample(training, labels, PATH_ROWS[name], np.random.RandomState(0))
        assert member.pipeline is not None
        path, some = for_known_features(clone(member.pipeline), training.take(at))
        path[-1].set_params(
            **{name: "auto"} | ({"probability": False} if "probability" in path[-1].get_params() else {})
        )
        try:
            with warnings.catch_warnings(), self.request.deadline.stops(SHARE):
                warnings.simplefilter("ignore")
                return member.with_parameters(**{name: getattr(some.fitted(path)[-1], f"{name}_")})
        except UncertainError:
            return member

    def _weights(
        self, held: HeldOut, losses: dict[str, Floats], counted: Floats
    ) -> tuple[Floats, list[str], Floats]:
        """Weights (knots, K) of the candidates that are kept, their names, and typical error sizes."""
        names = list(losses)
        counts = held.counts / held.counts.mean() / max(1, len(held.at) // len(np.unique(held.at)))
        c = counted[:, None] * counts
        means = [float((c * losses[name]).sum()) for name in names]
        sizes = stacking.typical_sizes(held.training.rows)
        gated = len(held.factors) > 1 and sizes.any()
        at: Ints = np.arange(len(held.at))
        if held.classes is None:
            at = at[:: max(1, -(-len(at) // MOST_JUDGED))]
            c = c[:, at] * len(held.at) / len(at)
            readings = zip(*(held.laws(name, measured=True) for name in names), strict=True)
            some = [[NormalMixtures(*(part[at] for part in law)) for law in laws] for laws in readings]
            data = np.concatenate([stacking.gram(laws, held.truth[at]) for laws in some])
            solve: Any = stacking.of_numbers
        else:
            data = np.exp(-np.stack([losses[name] for name in names], axis=-1)).reshape(-1, len(names))
            solve = stacking.of_classes
        r = np.concatenate([stacking.level(rows[at], sizes) for rows in held.readings])
        c = c.ravel()
        best = np.eye(len(names))[[int(np.argmin(means))]]
        W = solve(data, stacking.hats(r, 1), stacking.OF_BEST * best, c)
        if gated:
            W = solve(data, stacking.hats(r), stacking.OF_CONSTANT * np.repeat(W, stacking.KNOTS, axis=0), c)
        if self.request.able is not None or (W.min(axis=0) >= NEARLY_ALL).any():
            kept = [int(np.argmin(means)) if self.request.able is not None else int(W.min(axis=0).argmax())]
        else:
            kept = np.flatnonzero(W.max(axis=0) >= LEAST_WEIGHT).tolist()
        W = W[:, kept] / W[:, kept].sum(axis=1, keepdims=True)
        return W, [names[k] for k in kept], sizes if gated else np.empty(0)

    def _fitted(
        self, members: Sequence[Member], W: Floats, sizes: Floats, held: HeldOut, *, same: bool
    ) -> tuple[Pipeline, Floats, list[str]]:
        """The members fitted to all rows, as one pipeline; what cannot be fitted is left out."""
        training = self.training
        if self.request.able is not None:
            (member,) = members
            assert member.pipeline is not None
            return self._behind_log(training.fitted(member.pipeline).steps), W, [member.text]
        refused: list[UncertainError] = []

        def fit(k: int) -> Pipeline | None:
            try:
                with self.request.deadline.stops():
                    boosted = self.boosted.get(members[k].text)
                    if boosted is not None:
                        return boosted.whole(members[k], training, same=same)
                    return training.fitted(members[k].pipeline)
            except UncertainError as error:
                refused.append(error)
                return None

        with quiet(), ThreadPoolExecutor(self.threads) as pool:
            fitted = list((pool.map if self.threads > 1 else map)(fit, range(len(members))))
        kept = [k for k, one in enumerate(fitted) if one is not None]
        if not kept:
            raise refused[0]
        pipelines = [one for one in fitted if one is not None]
        W = W[:, kept]
        W = np.where(W.sum(axis=1, keepdims=True) > 0, W, 1.0)
        W /= W.sum(axis=1, keepdims=True)
        names = [members[k].text for k in kept]
        if len(kept) == 1:
            return self._behind_log(pipelines[0].steps), W, names
        kind, spreads = (StackedRegressor if self.request.regression else StackedClassifier), []
        if self.request.regression:
            laws = zip(map(held.spread, names), pipelines, strict=True)
            spreads = [law and replace(law, widths=feature_widths(pipe, training.rows)) for law, pipe in laws]
        return self._behind_log([("stack", kind.from_fitted(pipelines, W, sizes, spreads))]), W, names

    def _behind_log(self, steps: Sequence[tuple[str, object]]) -> Pipeline:
        return Pipeline([*([] if self.log is None else [("log", self.log)]), *steps])

    def _stacked(self, held: HeldOut, names: Sequence[str], W: Floats, sizes: Floats) -> HeldOut:
        """What the stack answers about rows that were held out."""
        if len(names) == 1:
            return held.only(names[0])
        answers = []
        laws = [] if held.classes is not None else [held.laws(name) for name in names]
        for k, rows in enumerate(held.readings):
            r = stacking.level(rows, sizes) if len(sizes) else np.zeros(len(rows))
            w = stacking.hats(r, len(W)) @ W
            each = [held.answers[name][k] for name in names]
            if held.classes is None:
                predicted = (w * np.stack([answer.predicted for answer in each], axis=1)).sum(axis=1)
                answers.append(Answer(predicted, law=mixed([law[k] for law in laws], w)))
            else:
                given = [answer.shares for answer in each if answer.shares is not None]
                shares = np.einsum("nk,knc->nc", w, np.stack(given))
                answers.append(Answer(shares.argmax(axis=1), shares))
        return held.only(names[0], answers)

    def _by_rule(self, members: Sequence[Member], why: str) -> Choice:
        """One fit without a choice: the first candidate that can be fitted."""
        ordered = [member for member in members if member.pipeline is not None]
        if self.request.usual == "spread" and self.request.meaning == "auto" and not self.request.exact:
            ordered = [*candidates(replace(self.request, meaning="spread")), *ordered]
            ordered = [member for member in ordered if member.pipeline is not None]
        refused: list[UncertainError] = []
        for member in ordered:
            assert member.pipeline is not None
            try:
                with quiet():
                    fitted = self.training.fitted(member.pipeline)
            except UncertainError as error:
                refused.append(error)
                continue
            line = Entry(member.text, member.family, weight=1.0, weight_x4=1.0, weight_x8=1.0)
            metric = "crps" if self.request.regression else "log_loss"
            board = Leaderboard((line,), metric, self.request.effort, self.request.noise, why)
            return Choice(self._behind_log(fitted.steps), board, None)
        raise refused[0]


def _every_fold_has(training: TrainingRows, folds: Sequence[Fold]) -> bool:
    """Does every fold leave rows with a value of each feature that some row has?"""
    missing, counts = missing_mask(training.rows), training.counts > 0.0
    unread = missing[counts].all(axis=0)
    left = [fold.train[counts[fold.train]] for fold in folds]
    return all(bool((missing[at].all(axis=0) == unread).all()) for at in left)
