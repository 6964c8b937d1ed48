"""The models that ``method="auto"`` stacks, the cheapest first, and what each costs.

A candidate stands for one call of `uncertain.fit` with a method, a meaning and parameters: Gaussians of every
number (discriminants; for numbers mixtures of features and target, with about 200 rows for each of many),
boosted trees on re-measured rows, with the errors of the table and with errors up to eight times as large,
and with few rows kernel machines. Lines are there where rows bear no Gaussians, or where error bars are the
spread of populations.

A candidate costs processor time that its rows, features and classes tell beforehand: `seconds` of one fit.
Boosting comes first, without which stacks lose most, then the list from the cheapest on until the budget is
spent, so that no candidate is begun that cannot end, and a choice repeats itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from sklearn.base import is_regressor
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

from .._base.run import Deadline
from .._data.choices import Effort
from .._data.incomplete import GaussianRows, filled_gaussians, like, missing_mask
from .._data.typing import Keywords, Labels
from ..preprocessing import GaussianCollapser, GaussianImputer
from .methods import METHODS, make_estimator
from .steps import Softening, steps_with, takes_limits

BUDGET = {"normal": {"classes": 5.0, "numbers": 40.0}, "high": {"classes": 40.0, "numbers": 400.0}}
"""Processor seconds of all fits of a choice, about: the density of a number takes more Gaussians."""
PER_ROW = 3e-5
"""Seconds for each row more."""
FOLD_FITS = 5
"""Fits of a candidate, about."""
FEW = 1_000
"""Rows below which a kernel takes part."""
MOST_KERNEL_ROWS = 5_000
"""Of a kernel with more effort: its matrix has a number for every pair of rows."""
DISCRIMINANTS = ((True, 1), (True, 2), (False, 1), (True, 4), (False, 2), (False, 4), (False, 8))
"""(one covariance for all, Gaussians per class)."""
MIXTURES = (1, 2, 4, 8, 16, 32, 64)
"""Gaussians of features and target together."""
ROWS_PER_GAUSSIAN, MANY, MANY_OF_CLASS, ROWS_OF_MANY = 10, 16, 8, 200
"""Rows that each Gaussian must have at least (but for one covariance of all, twice as many as there are
features, too), and those of each where there are more than `MANY`, or `MANY_OF_CLASS` in a class."""
EM_TOL = 1e-4
"""Where EM ends for several Gaussians: held-out losses as good as those of 1e-6, in a fourth of the time."""
LARGER = (1.0, 8.0)
"""Errors of the copies of the second boosting."""
PER_FLOP, EXTRA = 1e-9, 20
"""Seconds of EM for a row, k^2 of k Gaussians, which take more passes, and d^2 (d + `EXTRA`) of d features.
"""
PER_TREE, EACH_TREE = 1e-8, 2e-3
"""Seconds of a tree for a number of its table, and beside it."""
TREES = 40
COPIES, COPIED_ROWS = 8, 80_000
"""Of each row, and rows and copies together beyond which there are fewer, but two."""
TRUTH = 2e7
"""Rows x features cubed beyond which no copies with smaller errors are made: distributions of true values
cost more than trees."""
TREE_FEATURES = 250
"""Most features of noisy rows that copies are made of: they are drawn from Gaussians of all features."""
PATH_ROWS = {"alpha": 2_000, "C": 500}
"""Rows that a penalty is chosen on."""
FAMILIES = {
    "discriminant": "Gaussians", "mixture": "Gaussians", "remeasured": "boosting", "kernel": "kernel",
    "gsu": "line",
}  # fmt: skip
CONSTANT = {False: "the shares of the classes", True: "the mean"}
"""Boosting that no tree helps."""
MEANS_ONLY = "means only"
"""The meaning of error bars for a candidate that drops them."""


class Size(NamedTuple):
    """Of a table, as fits see it."""

    rows: int
    features: int
    classes: int
    """0 of numbers."""


@dataclass(frozen=True)
class Member:
    """A candidate, or why it is none."""

    method: str
    meaning: str
    parameters: Keywords = field(default_factory=dict)
    """What differs from the defaults of the method."""
    pipeline: Pipeline | None = None
    """Unfitted, over Gaussians behind logarithms; None if it cannot take part."""
    seconds: float = 0.0
    """Of one fit to all rows, about."""
    reason: str = ""
    """Why it cannot take part."""
    name: str = ""
    """For people, instead of its method."""

    @property
    def text(self) -> str:
        """Method, meaning where it is not the method's only one, and parameters, for people."""
        if self.name:
            return self.name
        if self.is_constant:
            return f"{CONSTANT[is_regressor(self.pipeline)]} for every row: no feature helps"
        given = [f"{name}={_short(value)}" for name, value in self.parameters.items() if name != "tol"]
        own = METHODS[self.method].measurement and self.meaning != MEANS_ONLY
        meaning = [] if own else [self.meaning]
        inside = ", ".join(filter(None, [*meaning, *given]))
        return f"{self.method} ({inside})" if inside else self.method

    @property
    def family(self) -> str:
        """Of which kind it is, for people."""
        if self.is_constant:
            return CONSTANT[is_regressor(self.pipeline)]
        learner = self.parameters.get("estimator")
        family = FAMILIES[self.method] if learner is None else type(learner).__name__
        return f"{family} on means" if self.meaning == MEANS_ONLY else family

    @property
    def is_boosting(self) -> bool:
        """Does it end with the default learner of re-measured rows?"""
        return self.method == "remeasured" and "estimator" not in self.parameters

    @property
    def is_constant(self) -> bool:
        """Has it no tree, and answers alike for all rows?"""
        return self.parameters.get("n_trees") == 0

    def with_parameters(self, **changes: object) -> Member:
        """The same with other parameters of its estimator."""
        assert self.pipeline is not None
        last = self.pipeline.steps[-1][0]
        pipeline = self.pipeline.set_params(**{f"{last}__{name}": value for name, value in changes.items()})
        return replace(self, parameters=self.parameters | changes, pipeline=pipeline)

    def without(self, reason: str) -> Member:
        """The same, left out."""
        return replace(self, pipeline=None, reason=reason)


@dataclass(frozen=True)
class Request:
    """What the candidates must be able to do."""

    rows: GaussianRows
    y: Labels
    regression: bool
    meaning: str
    """ "auto", "spread" or "measurement", as the caller said."""
    effort: Effort
    usual: str
    """What "auto" stands for where nothing is tried."""
    scale: bool
    impute: bool
    softening: Softening | None
    """Of features that are taken as logarithms."""
    noise: tuple[float, float] | None
    random_state: int
    settings: Keywords
    """`n_jobs`, and `estimator` for the re-measured candidates; `verbose` and `callback` hear of the fits."""
    target_scale: float = 1.0
    """Unit of the defaults of C, epsilon and delta."""
    n_rows: int = 0
    """Of the fit, of which `rows` may be a sample."""
    limits: bool = False
    """Are features limits?"""
    target_limits: bool = False
    """Are targets?"""
    able: Callable[[Member], bool] | None = None
    """Which candidates the rows allow, where they are not all in memory."""
    deadline: Deadline = field(default_factory=Deadline)
    """Of the choice and of the fit to all rows."""

    @property
    def size(self) -> Size:
        """What a fit costs."""
        classes = 0 if self.regression else len(np.unique(self.y))
        return Size(len(self.rows), self.rows.n_features, classes)

    @property
    def budget(self) -> float:
        """Seconds of all fits of a choice, about."""
        kind = "numbers" if self.regression else "classes"
        return BUDGET["high" if self.effort == "high" else "normal"][kind] + PER_ROW * self.n_rows

    @property
    def exact(self) -> bool:
        """Has no row an error bar?"""
        return not filled_gaussians(self.rows).trace().any()


def candidates(asked: Request) -> list[Member]:
    """All candidates, the cheapest first; those that cannot take part say why."""
    found = [*_gaussians(asked), *_boosting(asked), *_kernels(asked)]
    gaussians = [m for m in found if m.pipeline is not None and m.family == "Gaussians"]
    bear_gaussians = any(FOLD_FITS * member.seconds < asked.budget for member in gaussians)
    if not bear_gaussians or asked.meaning == "spread" or asked.effort == "high":
        found += _both(asked, "gsu")
    if asked.size.features > TREE_FEATURES and not (asked.exact or asked.limits or asked.target_limits):
        points = replace(asked, rows=like(asked.rows, filled_gaussians(asked.rows).collapse("zero")))
        found += [means_only(asked, next(_boosting(points)))]
    if asked.able is not None:
        able = [m.pipeline is None or asked.able(m) for m in found]
        found = [m if can else m.without("needs rows in memory") for m, can in zip(found, able, strict=True)]
    return sorted(found, key=lambda member: member.seconds)


def affordable(members: list[Member], fits: float, budget: float) -> list[Member]:
    """The list with reasons for those that the budget leaves out; one is always tried."""
    found, spent = list(members), 0.0
    able = [k for k, member in enumerate(members) if member.pipeline is not None]
    for k in sorted(able, key=lambda k: members[k].method != "remeasured"):
        cost = fits * members[k].seconds
        if spent + cost <= budget:
            spent += cost
        elif k != able[0]:
            found[k] = members[k].without(f"about {cost:.0f} s, beyond the budget")
    return found


def means_only(asked: Request, member: Member) -> Member:
    """The candidate without error bars: a step in front drops them."""
    own = ("factors", "per_feature", "n_copies", "n_trees")
    rest = {name: value for name, value in member.parameters.items() if name not in own}
    twin = _member(replace(asked, limits=False, target_limits=False), member.method, "spread", rest)
    assert twin.pipeline is not None
    steps = [("means", GaussianCollapser())]
    for name, step in twin.pipeline.steps:
        steps.append((name, step))
        if isinstance(step, GaussianImputer):  # which leaves open what it fills
            steps.append(("filled", GaussianCollapser()))
    return replace(twin, meaning=MEANS_ONLY, pipeline=Pipeline(steps))


def _gaussians(asked: Request) -> Iterator[Member]:
    """Discriminants of classes; mixtures of features and target."""
    size = asked.size
    d = size.features + (size.classes == 0)
    rows, kinds = size.rows, [(False, k) for k in MIXTURES]
    method = "mixture" if asked.regression else "discriminant"
    if not asked.regression:
        counts = np.unique(asked.y, return_counts=True)[1]
        rows, kinds = int(counts.min()), list(DISCRIMINANTS)
    for shared, k in kinds:
        parameters: Keywords = {"n_components": k, "tol": EM_TOL} if k > 1 else {}
        if not asked.regression and not shared:
            parameters = {"shared_covariance": False} | parameters
        member = _member(asked, method, "measurement", parameters)
        of_means = 0 if shared and k == 1 else 2 * d
        many = k > MANY if asked.regression else k >= MANY_OF_CLASS
        least = k * max(ROWS_PER_GAUSSIAN, of_means, ROWS_OF_MANY if many else 0)
        if (asked.regression or k > 1 or not shared) and rows < least:
            member = member.without(f"{rows:,} rows, fewer than {least:,}")
        if member.pipeline is not None and shared and len(asked.rows) < d:
            member = member.without(f"{len(asked.rows)} rows of {d} features")
        cost = _em(asked.n_rows, d, k) * (0.2 if asked.exact else 1.0) * (0.5 if shared else 1.0)
        yield replace(_measured(asked, member), seconds=cost + 1e-6 * asked.n_rows * k)


def _boosting(asked: Request) -> Iterator[Member]:
    """Boosted trees (or the caller's learner) on re-measured rows, twice."""
    size, learner = asked.size, asked.settings.get("estimator")
    own: Keywords = {} if learner is None else {"estimator": learner}
    copies = 1 if asked.exact else min(COPIES, max(2, COPIED_ROWS // asked.n_rows))
    fewer: Keywords = {} if copies in (1, COPIES) else {"n_copies": copies}
    many = len(asked.rows) * float(size.features) ** 3 > TRUTH
    kinds: list[Keywords] = [fewer | ({"factors": LARGER} if many and not asked.exact else {})]
    if not asked.exact and (asked.noise or not many or len(asked.rows) >= FEW):  # else nearly the same again
        kinds.append(fewer | {"factors": asked.noise or LARGER, "per_feature": 0.0})
    columns = size.features if asked.exact else 2 * size.features
    trees = TREES * (size.classes if size.classes > 2 else 1)
    cost = trees * (PER_TREE * asked.n_rows * copies * columns + EACH_TREE)
    for kind in kinds:
        parameters = own | kind
        member = replace(_member(asked, "remeasured", "measurement", parameters), seconds=cost + 0.05)
        if learner is None and not asked.exact and size.features > TREE_FEATURES:
            member = member.without(f"{size.features} features are too many to draw true values of")
        yield _measured(asked, member)


def _kernels(asked: Request) -> Iterator[Member]:
    """With few rows, where a kernel costs little."""
    n, d = len(asked.rows), float(asked.rows.n_features)
    if n >= (MOST_KERNEL_ROWS if asked.effort == "high" else FEW):
        return
    for member in _both(asked, "kernel"):
        full = not asked.exact and (
            (member.meaning == "measurement" and not asked.regression)
            or filled_gaussians(asked.rows).kind not in ("diagonal", "isotropic")
            or (asked.impute and missing_mask(asked.rows).any())  # fillers are correlated
        )
        pair = 1.2e-9 * d**3 if full else 2e-8 * d
        yield replace(member, seconds=member.seconds + pair * float(n) ** 2)


def _both(asked: Request, method: str) -> Iterator[Member]:
    """A method with both meanings; exact rows have none."""
    meanings = ("measurement", "spread") if asked.meaning == "auto" else (asked.meaning,)
    n, d = asked.n_rows, float(asked.rows.n_features)
    for meaning in ("spread",) if asked.exact else meanings:
        classes = asked.size.classes if asked.size.classes > 2 else 1
        cost = 1.2e-7 * n * d * min(d, 300.0) * classes
        if meaning == "measurement":
            cost += 3 * _em(n, asked.rows.n_features, 1)
        yield replace(_member(asked, method, meaning), seconds=cost + 0.02)


def _member(asked: Request, method: str, meaning: str, parameters: Keywords | None = None) -> Member:
    parameters = parameters or {}
    estimator = make_estimator(
        method, regression=asked.regression, params=parameters, random_state=asked.random_state,
        scale=asked.target_scale,
    )  # fmt: skip
    if "n_jobs" in asked.settings and "n_jobs" in estimator.get_params(deep=False):
        estimator.set_params(n_jobs=asked.settings["n_jobs"])
    measured = meaning == "measurement" and not METHODS[method].measurement
    steps = steps_with(estimator, measured=measured, scale=asked.scale, impute=asked.impute, softening=None)
    member = Member(method, meaning, parameters, Pipeline(steps))
    if asked.target_limits and not has_fit_parameter(estimator, "y_limit"):
        return member.without("takes no limits of the target")
    if asked.limits and not takes_limits(estimator, measured=measured):
        return member.without("takes no limits")
    return member


def _em(n: int, d: int, k: int) -> float:
    """Seconds of EM for k Gaussians."""
    return PER_FLOP * n * float(d) ** 2 * (d + EXTRA) * k**2


def _measured(asked: Request, member: Member) -> Member:
    """Left out if error bars are spread, which the method cannot understand."""
    if asked.meaning == "spread" and not asked.exact and not member.reason:
        return member.without('takes error bars for measurement errors, not for meaning="spread"')
    return member


def _short(value: object) -> str:
    if isinstance(value, tuple):
        return f"({', '.join(map(_short, value))})"
    return f"{value:.3g}" if isinstance(value, float) else str(value)
