"""`method="auto"`: a stack of candidates by what they answer about rows that they have not seen.

Every candidate of the list that the budget allows is fitted to the folds and answers for the rows held out,
as they are and as they would be with errors 2, 4 and 8 times as large. The weights of the stack minimise the
loss of the stack itself on these readings, and depend on how noisy a row is (`weights`). Members are then
fitted to all rows. One model is kept where a single candidate has nearly all of the weight.

The best candidates are fitted without error bars, too, and the sizes of the errors without any value, for
comparison.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from threadpoolctl import threadpool_limits

from .._base.folds import Fold, split
from .._base.normal_mixtures import NormalMixtures
from .._data.array import GaussianArray, value_sizes
from .._data.incomplete import GaussianRows, filled_gaussians, like
from .._data.typing import Floats, Ints, Labels
from .._held_out.engine import Answer, Candidate, HeldOut, allows_readings, cross_predict, measured
from .._held_out.equal import equal_rows
from .._held_out.fits import for_known_features
from .._held_out.pace import Pace
from .._held_out.widths import feature_widths
from .._rows.training import TrainingRows
from .._uncertain import effective_n_jobs
from ..exceptions import ConvergenceWarning, UncertainError, UncertainWarning
from ..preprocessing import GaussianLogScaler
from . import weights as stacking
from .candidates import (
    BUDGET,
    FEW,
    FEW_COPIES,
    FEW_TREES,
    PATH_ROWS,
    Member,
    Request,
    affordable,
    candidates,
    means_only,
)
from .leaderboard import NAN, SIZES_ONLY, STACK, Entry, Leaderboard
from .methods import make_estimator
from .stack import StackedClassifier, StackedRegressor, mixed

ENOUGH_ROWS = 20
"""With fewer rows nothing is held out."""
GATED_ROWS = 1_000
"""Below it weights do not depend on the noise of a row."""
MOST_ROWS = 20_000
"""Rows that a choice is made on."""
MOST_JUDGED = 2_000
"""Rows held out whose distribution functions are compared."""
FACTORS = (1.0, 2.0, 4.0, 8.0)
AS_THEY_ARE = 3.0
"""How often readings with errors as they are count."""
LEAST_WEIGHT, NEARLY_ALL = 0.02, 0.98
MOST_SIZES = 40
"""Columns of error sizes and gaps that are looked at without values, those that vary most."""
SIZES_TREES = 40
"""Trees of the boosting that looks at them."""
SHARE = 0.5
"""Of a limit in seconds, for the choice; the rest is for the fit to all rows."""
MOST_TREES = 400
SEVERAL_LEARNERS = 0.5
"""A boosting with less weight has one learner."""
MOST_THREADS = 4
LEAST_OF_CLASS = 20
"""Rows, or groups, of each class in a sample, if there are so many."""
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
                f'{size.classes:,} classes in {size.rows:,} rows are too many for method="auto": if the '
                'target is a quantity, pass task="regression"; else join rare classes, or name the method, '
                'such as method="discriminant"'
            )
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
        training = self.training
        random = np.random.RandomState(request.random_state)
        equal = equal_rows(training.rows) if training.groups is None else None
        if equal is not None:
            training = replace(training, groups=equal.groups)
        if len(training) > MOST_ROWS:
            at = sample(training, None if request.regression else training.y, MOST_ROWS, random)
            training, raw = training.take(at), self.raw[at]
        else:
            raw = self.raw
        folds = self._folds(training, random)
        if not folds:
            return self._by_rule(members, "by rule: too few rows, or of a class, to hold any out")
        share = sum(len(fold.train) for fold in folds) / len(training)
        start, each = BUDGET[request.effort]
        fits = 1.0 + share * len(training) / request.n_rows
        members = affordable(members, fits, start + each * request.n_rows)
        tried = self._settled([m for m in members if m.pipeline is not None], training, folds)
        left_out = [
            f"{m.text}: {m.reason}" for m in members if m.pipeline is None and "beyond the budget" in m.reason
        ]
        factors, counted = self._factors(training)
        names = {member.text: member for member in tried}
        self.families = {name: member.family for name, member in names.items()}
        twins = 0 if request.exact or request.able is not None else 3
        self.pace.begin(len(folds), len(tried) + twins)
        ask = partial(
            cross_predict, rows=training, folds=folds, threads=self.threads, deadline=request.deadline,
            share=SHARE, heard=self.pace.step, raw=raw, transform=self._logged,
        )  # fmt: skip
        held = ask(_pipelines(names), factors=factors, ready=self.ready)
        left_out += [f"{name}: {reason}" for name, reason in held.refused.items()]
        if not held.answers:
            return self._by_rule(members, "by rule: no candidate could be compared on held-out rows")
        metric = "crps" if request.regression else "log_loss"
        losses = held.losses(metric)
        without = self._without_errors(names, losses) if twins else {}
        if without:
            names |= without
            others = ask(_pipelines(without), factors=factors)
            held.add(others)
            losses |= others.losses(metric)
        W, kept, sizes = self._weights(held, losses, counted)
        trees = min(member.parameters.get("n_trees", SIZES_TREES) for member in names.values())
        sizes_only = sizes_alone(
            training, regression=request.regression, trees=min(trees, SIZES_TREES),
            random_state=request.random_state,
        ) if twins else {}  # fmt: skip
        beside = ask(sizes_only) if sizes_only else replace(held, answers={}, models={}, seconds={})
        pipeline, W, kept = self._fitted([names[name] for name in kept], W, sizes, held)
        stacked = self._stacked(held, kept, W, sizes)
        board = self._board(held, losses, beside, stacked, kept, W, metric, left_out)
        board = replace(
            board, n_together=0 if equal is None else equal.n_together,
            n_groups=None if equal is not None or training.groups is None else training.groups.count,
        )  # fmt: skip
        return Choice(pipeline, board, stacked)

    def _logged(self, rows: GaussianRows) -> GaussianRows:
        return rows if self.log is None else self.log.transform(rows)

    def _folds(self, training: TrainingRows, random: np.random.RandomState) -> Sequence[Fold]:
        """Five folds of few rows, three of more, and one third of many, once; with more effort repeats."""
        counted = np.flatnonzero(training.counts > 0.0)
        if training.y_limit is not None:
            counted = counted[training.y_limit[counted] == 0]
        n = len(counted)
        groups = None if training.groups is None else training.groups.take(counted).count
        if min(n, 4 * groups if groups is not None and self.training.groups is not None else n) < ENOUGH_ROWS:
            return []
        folds, used, repeats = plan(n, thorough=self.request.effort == "high")
        folds = folds if groups is None else min(folds, groups)
        labels = None if self.request.regression else training.y
        splits = split(
            len(training), random, folds=folds, repeats=repeats, classes=labels, groups=training.groups,
            counted=counted,
        )  # fmt: skip
        return splits if repeats > 1 else splits[:used]

    def _factors(self, training: TrainingRows) -> tuple[tuple[float, ...], Floats]:
        """Sizes of errors that candidates answer for, and how much each counts."""
        request = self.request
        if request.meaning == "spread" or not allows_readings(self.raw):
            return (1.0,), np.ones(1)
        if request.noise is None:
            counts = np.where(np.array(FACTORS) == 1.0, AS_THEY_ARE, 1.0)
            return FACTORS, counts / counts.sum()
        low, high = request.noise
        inside = sorted({low, high, *(f for f in FACTORS if low <= f <= high)})
        factors = (1.0, *(f for f in inside if f != 1.0))
        counts = np.array([1.0 if low <= f <= high else 0.0 for f in factors])
        return factors, counts / counts.sum()

    def _settled(
        self, members: Sequence[Member], training: TrainingRows, folds: Sequence[Fold]
    ) -> list[Member]:
        """Candidates with penalties, and with one number of trees for all boosted ones."""
        found, trees = list[Member](), 0
        self.ready: dict[str, Pipeline] = {}
        """Of the first fold, the boosting that has counted the trees."""
        for member in members:
            assert member.pipeline is not None
            if member.method in ("gsu", "kernel"):
                member = self._with_penalty(member, training)
            elif member.method == "remeasured" and "estimator" not in member.parameters:
                quick = None
                if not trees:
                    trees, quick = self._count_trees(member.pipeline, training, folds)
                member = member.with_parameters(n_trees=trees)
                self.ready |= {} if quick is None else {member.text: quick}
            found.append(member)
        return found

    def _count_trees(
        self, pipeline: Pipeline, training: TrainingRows, folds: Sequence[Fold]
    ) -> tuple[int, Pipeline | None]:
        """Number of trees, and what has counted it by holding out the first fold, in steps twice as long."""
        if len(training) * pipeline[-1].n_copies < FEW_COPIES:
            return FEW_TREES, None
        path, some = for_known_features(clone(pipeline), training)
        path[-1].set_params(n_learners=1)
        *front, (name, last) = path.steps
        if front:
            moved = some.fitted(Pipeline(front))
            front, some = moved.steps, some.instead(moved.transform(some.rows))
        fold = folds[0] if len(training) >= FEW else None
        try:
            trees = int(last._count_trees(some.rows, some.y, fold=fold, **some.step_arguments(last)))
        except UncertainError:
            return FEW_TREES, None
        quick = None if fold is None or last.estimator_ is None else Pipeline([*front, (name, last)])
        return min(max(1, trees), MOST_TREES), quick

    def _with_penalty(self, member: Member, training: TrainingRows) -> Member:
        name = {"gsu": "alpha", "kernel": "C"}[member.method]
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
        gated = len(held.training) >= GATED_ROWS and len(held.factors) > 1 and sizes.any()
        at: Ints = np.arange(len(held.at))
        if held.classes is None:
            at = at[:: max(1, -(-len(at) // MOST_JUDGED))]
            c = c[:, at] * len(held.at) / len(at)
            y, t = held.truth[at], held.target_std[at]
            laws = [held.laws(name, held.spread(name)) for name in names]
            data = np.concatenate([
                stacking.gram([measured(_rows(law[k], at), t) for law in laws], y)
                for k in range(len(held.factors))
            ])  # fmt: skip
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
        self, members: Sequence[Member], W: Floats, sizes: Floats, held: HeldOut
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
                    return training.fitted(_for_share(members[k], W[:, k].max()))
            except UncertainError as error:
                refused.append(error)
                return None

        with warnings.catch_warnings(), ThreadPoolExecutor(self.threads) as pool:
            for kind in (ConvergenceWarning, UncertainWarning):  # of members, whose coefficients nobody reads
                warnings.simplefilter("ignore", kind)
            fitted = list(
                pool.map(fit, range(len(members))) if self.threads > 1 else map(fit, range(len(members)))
            )
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
        if not self.request.regression:
            return self._behind_log([("stack", StackedClassifier.from_fitted(pipelines, W, sizes))]), W, names
        spreads = [held.spread(name) for name in names]
        spreads = [
            None if one is None else replace(one, widths=feature_widths(pipe, training.rows))
            for one, pipe in zip(spreads, pipelines, strict=True)
        ]
        return (
            self._behind_log([("stack", StackedRegressor.from_fitted(pipelines, W, sizes, spreads))]),
            W,
            names,
        )

    def _behind_log(self, steps: Sequence[tuple[str, object]]) -> Pipeline:
        return Pipeline([*([] if self.log is None else [("log", self.log)]), *steps])

    def _stacked(self, held: HeldOut, names: Sequence[str], W: Floats, sizes: Floats) -> HeldOut:
        """What the stack answers about rows that were held out."""
        if len(names) == 1:
            return held.only(names[0])
        answers = []
        laws = [] if held.classes is not None else [held.laws(n, held.spread(n)) for n in names]
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

    def _without_errors(self, names: dict[str, Member], losses: dict[str, Floats]) -> dict[str, Member]:
        """The best Gaussians, and the boosting, on means alone."""
        order = sorted(losses, key=lambda name: float(losses[name][0].mean()))
        best = {names[name].method: names[name] for name in reversed(order)}
        twins = [means_only(self.request, m) for how, m in best.items() if how not in ("gsu", "kernel")]
        twins = twins or [means_only(self.request, names[order[0]])]
        found = {twin.text: twin for twin in twins if twin.text not in names}
        self.families |= {name: f"{twin.family} on means" for name, twin in found.items()}
        return found

    def _board(
        self, held: HeldOut, losses: dict[str, Floats], beside: HeldOut, stacked: HeldOut,
        kept: Sequence[str], W: Floats, metric: str, left_out: Sequence[str],
    ) -> Leaderboard:  # fmt: skip
        x4 = held.factors.index(4.0) if 4.0 in held.factors else None
        knots = np.array([0.0, 2.0, 3.0]) if len(W) > 1 else np.zeros(3)
        shares = dict(zip(kept, (stacking.hats(knots, len(W)) @ W).T.tolist(), strict=True))

        def entry(
            name: str, loss: Floats, seconds: float, weights: Sequence[float] = (0.0, 0.0, 0.0)
        ) -> Entry:
            fourth = NAN if x4 is None or len(loss) <= x4 else held.mean(loss[x4]).value
            first, fourth_w, last = weights
            loss_1, family = held.mean(loss[0]).value, self.families.get(name, "")
            return Entry(name, family, loss_1, fourth, first, fourth_w, last, seconds)

        entries = [
            entry(name, loss, held.seconds[name], shares.get(name, (0.0, 0.0, 0.0)))
            for name, loss in losses.items()
        ]
        entries.sort(key=lambda one: one.loss)
        own = losses[kept[0]] if len(kept) == 1 else stacked.losses_of("model", metric)
        if len(kept) > 1:
            entries.append(entry(STACK, own, NAN, (NAN, NAN, NAN)))
        for name in beside.answers:
            entries.append(entry(name, beside.losses_of(name, metric), beside.seconds[name], (NAN,) * 3))
        means = [one for one in entries if one.family.endswith("on means")]
        gain = held.mean(losses[means[0].model][0] - own[0]) if means else (NAN, NAN)
        right = (
            np.nan if held.classes is None else 1.0 - held.mean(stacked.losses_of("model", "error")[0]).value
        )
        return Leaderboard(
            tuple(entries), metric, self.request.effort, self.request.noise, left_out=tuple(left_out),
            n_rows=len(np.unique(held.at)), folds=len(held.folds), loss_se=held.mean(own[0]).se,
            accuracy=float(right), gain=float(gain[0]), gain_se=float(gain[1]), no_model=_no_model(held),
        )  # fmt: skip

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
                with warnings.catch_warnings():
                    for kind in (ConvergenceWarning, UncertainWarning):
                        warnings.simplefilter("ignore", kind)
                    fitted = self.training.fitted(member.pipeline)
            except UncertainError as error:
                refused.append(error)
                continue
            line = Entry(member.text, member.family, weight=1.0, weight_x4=1.0, weight_x8=1.0)
            metric = "crps" if self.request.regression else "log_loss"
            board = Leaderboard((line,), metric, self.request.effort, self.request.noise, why)
            return Choice(self._behind_log(fitted.steps), board, None)
        raise refused[0]


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


def _pipelines(members: dict[str, Member]) -> dict[str, Candidate]:
    return {name: Candidate(m.pipeline) for name, m in members.items() if m.pipeline is not None}


def _rows(law: NormalMixtures, at: Ints) -> NormalMixtures:
    return NormalMixtures(*(values[at] for values in law))


def _for_share(member: Member, share: float) -> Pipeline:
    """The member as it is fitted for a stack: what several learners would gain counts by the square."""
    assert member.pipeline is not None
    if share > SEVERAL_LEARNERS or member.pipeline[-1].get_params(deep=False).get("n_learners") != "auto":
        return member.pipeline
    pipeline = clone(member.pipeline)
    pipeline[-1].set_params(n_learners=1)
    return pipeline


def _no_model(held: HeldOut) -> float:
    """The loss of the classes' shares, or of one normal law, for every row."""
    y = held.truth
    if held.classes is None:
        law = NormalMixtures.normal(np.full(len(y), y.mean()), np.full(len(y), max(float(y.std()), 1e-300)))
        return held.mean(law.crps(y)).value
    shares = np.bincount(y, held.counts, minlength=len(held.classes))
    return held.mean(-np.log(np.maximum(shares / shares.sum(), 1e-300))[y]).value


def plan(n: int, *, thorough: bool) -> tuple[int, int, int]:
    """(folds, of which so many are used, repeats) for `n` rows."""
    if thorough:
        return (5, 5, 3) if n < 200 else (5, 5, 2) if n < 1_000 else (5, 5, 1) if n <= 6_000 else (3, 3, 1)
    return (5, 5, 1) if n < 1_000 else (3, 3, 1) if n <= 3_000 else (3, 1, 1)


def sample(training: TrainingRows, classes: Labels | None, most: int, random: np.random.RandomState) -> Ints:
    """Numbers of about so many rows: of every class the same share, but a few of each; whole groups."""
    n = len(training)
    if n <= most:
        return np.arange(n)
    if training.groups is None:
        members: Ints = np.arange(n)
        sizes = np.ones(n, dtype=np.int64)
    else:
        _, members, sizes = np.unique(training.groups.codes, return_inverse=True, return_counts=True)
    codes = np.zeros(n, dtype=np.int64) if classes is None else np.unique(classes, return_inverse=True)[1]
    class_of_group = np.empty(len(sizes), dtype=np.int64)
    class_of_group[members] = codes  # of a group of several classes that of its last row
    kept = []
    for code in range(int(codes.max()) + 1):
        groups = random.permutation(np.flatnonzero(class_of_group == code))
        share = round(sizes[groups].sum() * most / n)
        taken = np.cumsum(sizes[groups]) <= share
        taken[:LEAST_OF_CLASS] = True
        kept.append(groups[taken])
    return np.flatnonzero(np.isin(members, np.concatenate(kept)))
