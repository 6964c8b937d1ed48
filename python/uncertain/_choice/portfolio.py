"""The models that `method="auto"` chooses among, the simplest first, and why some cannot take part.

A member stands for one call of `uncertain.fit` with a method, a meaning and parameters. Simple means few
parameters to learn, then few seconds: lines, Gaussians per class, kernel machines, boosted trees. Among
equals a member is preferred that takes error bars for measurement error, as it keeps its accuracy when the
errors of new rows are larger; a kernel between the rows' Gaussians, which compares the sizes of errors and
loses most (docs/papers/kepler.md), comes last.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

from .._base.deadline import Deadline
from .._data.choices import Effort
from .._data.incomplete import GaussianRows, filled_gaussians, like
from .._data.typing import Keywords, Labels
from .._rows.left_alone import LeftAlone
from ..preprocessing import GaussianCollapser, GaussianImputer
from .budget import Size, with_passes
from .leaderboard import MEANS_ONLY
from .methods import METHODS, make_estimator
from .steps import Softening, steps_with, takes_limits

KERNEL_ROWS: dict[str, int] = {"normal": 5_000, "high": 20_000}
"""Most rows for machines whose kernel matrix has a number for every pair of rows."""
KERNEL_WORK = 1e11
"""Most rows squared times features cubed for a kernel between Gaussians with full covariances, as denoised
rows have: each pair of rows factorises a matrix."""
EM_WORK = 2e9
"""Most rows times features cubed for Gaussians with noise of their own in each row, or rows times features
squared times Gaussians for points: operations of one step of the EM."""
TREE_WORK = 2e8
"""Most rows times features times classes for boosted trees on copies."""
TREE_FEATURES = 250
"""Most features of noisy rows that copies are made of: they are drawn from Gaussians of all features."""
ROWS_PER_GAUSSIAN = 10
"""Rows that each Gaussian of a class must have at least; with a covariance of its own twice as many as there
are features, too."""
DISCRIMINANTS = ((True, 1), (True, 2), (False, 1), (True, 4), (False, 2), (False, 4), (False, 8))
"""(one covariance for all, Gaussians per class), the simplest first."""
EM_TOL = 1e-4
"""Where EM ends for several Gaussians: held-out losses as good as those of 1e-6, in a fourth of the time."""
MIXTURES = (1, 2, 4, 8, 16)
"""Gaussians of features and target together."""


@dataclass(frozen=True)
class Member:
    """A candidate, or why it is none."""

    method: str
    meaning: str
    parameters: Keywords = field(default_factory=dict)
    """What differs from the defaults of the method."""
    pipeline: Pipeline | None = None
    """Unfitted, over Gaussians; None if it cannot take part."""
    penalty: str = ""
    """The parameter that is still to be chosen along a path."""
    reason: str = ""
    """Why it cannot take part."""

    @property
    def given(self) -> str:
        """Its parameters, for people."""
        return ", ".join(f"{name}={_short(value)}" for name, value in self.parameters.items())

    @property
    def text(self) -> str:
        """Method, meaning and parameters, for people."""
        inside = ", ".join(filter(None, [self.meaning, self.given]))
        return f"{self.method} ({inside})" if inside else self.method

    def with_parameters(self, **changes: object) -> Member:
        """The same with other parameters of its estimator."""
        assert self.pipeline is not None
        last = self.pipeline.steps[-1][0]
        pipeline = self.pipeline.set_params(**{f"{last}__{name}": value for name, value in changes.items()})
        return replace(self, parameters=self.parameters | changes, pipeline=pipeline, penalty="")

    def without(self, reason: str) -> Member:
        """The same, left out."""
        return replace(self, pipeline=None, reason=reason)


@dataclass(frozen=True)
class Request:
    """What the members must be able to do."""

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
    """`n_jobs`, and `estimator` for the re-measured member; `verbose` and `callback` hear of the choice."""
    target_scale: float = 1.0
    """Unit of the defaults of C, epsilon and delta."""
    limits: bool = False
    """Are features limits?"""
    target_limits: bool = False
    """Are targets?"""
    left_alone: Callable[[], LeftAlone | None] | None = None
    """Reads the columns without error bars that the caller has not taken."""
    able: Callable[[Member], bool] | None = None
    """Which members may be chosen; others are tried to be compared with."""
    deadline: Deadline = field(default_factory=Deadline)
    """Of the choice and of the fit to all rows."""

    @property
    def size(self) -> Size:
        """What a fit costs."""
        classes = 0 if self.regression else len(np.unique(self.y))
        return Size(len(self.rows), self.rows.n_features, classes)

    @property
    def n_features(self) -> int:
        """Of the rows."""
        return self.rows.n_features

    @property
    def exact(self) -> bool:
        """Has no row an error bar?"""
        return not filled_gaussians(self.rows).trace().any()


def portfolio(asked: Request) -> list[Member]:
    """All members, the simplest first; those that cannot take part say why."""
    return list(_numbers(asked) if asked.regression else _classes(asked))


def exact_member(asked: Request) -> Member:
    """Boosted trees, for rows with more features."""
    return _trees(asked, 1 if asked.regression else len(np.unique(asked.y)))


def follows_rule(asked: Request, member: Member) -> bool:
    """Is it what is fitted where nothing is tried?"""
    return member.method == "gsu" and (asked.exact or member.meaning == asked.usual)


def means_only_twin(asked: Request, member: Member) -> Member:
    """The member without error bars: a step in front drops them."""
    own = ("alpha", "C", "n_trees", "factors", "per_feature")
    parameters = {name: value for name, value in member.parameters.items() if name not in own}
    without = replace(asked, limits=False, target_limits=False)
    twin = _member(without, member.method, "spread", parameters)
    assert twin.pipeline is not None
    steps = [("means", GaussianCollapser())]
    for name, step in twin.pipeline.steps:
        steps.append((name, step))
        if isinstance(step, GaussianImputer):  # which leaves open what it fills
            steps.append(("filled", GaussianCollapser()))
    penalty = {"gsu": "alpha", "kernel": "C", "remeasured": "n_trees"}.get(member.method, "")
    if "estimator" in parameters:
        penalty = ""
    return replace(twin, meaning=MEANS_ONLY, penalty=penalty, pipeline=Pipeline(steps))


def without_error_bars(asked: Request) -> list[Member]:
    """Of each method the simplest member of the same rows as points, whose Gaussians cost a power of the
    features less."""
    points = like(asked.rows, filled_gaussians(asked.rows).collapse("zero"))
    simplest: dict[str, Member] = {}
    for member in portfolio(replace(asked, rows=points)):
        if member.pipeline is not None:
            simplest.setdefault(member.method, member)
    return [means_only_twin(asked, member) for member in simplest.values()]


def _classes(asked: Request) -> Iterator[Member]:
    _, counts = np.unique(asked.y, return_counts=True)
    yield from _both(asked, "gsu", penalty="alpha")
    for shared, gaussians in DISCRIMINANTS:
        parameters = ({} if shared else {"shared_covariance": False}) | _several(gaussians)
        member = _member(asked, "discriminant", "measurement", parameters)
        least = max(ROWS_PER_GAUSSIAN, 0 if shared else 2 * asked.n_features)
        if (gaussians > 1 or not shared) and counts.min() < least * gaussians:
            member = member.without(f"{counts.min()} rows of a class, fewer than {least * gaussians}")
        yield _measured(asked, _em(asked, member))
    yield from _kernels_and_trees(asked, len(counts))


def _numbers(asked: Request) -> Iterator[Member]:
    yield from _both(asked, "gsu", penalty="alpha")
    for gaussians in MIXTURES:
        member = _member(asked, "mixture", "measurement", _several(gaussians))
        least = max(ROWS_PER_GAUSSIAN, 2 * (asked.n_features + 1)) * gaussians
        if len(asked.y) < least:
            member = member.without(f"{len(asked.y)} rows, fewer than {least}")
        yield _measured(asked, _em(asked, member))
    yield from _kernels_and_trees(asked, 1)


def _kernels_and_trees(asked: Request, n_classes: int) -> Iterator[Member]:
    kernels = list(_both(asked, "kernel", penalty="C"))
    yield from (member for member in kernels if member.meaning == "measurement")
    yield _trees(asked, n_classes)
    yield from (member for member in kernels if member.meaning == "spread")


def _both(asked: Request, method: str, *, penalty: str) -> Iterator[Member]:
    """A method with both meanings; exact rows have none."""
    meanings = ("measurement", "spread") if asked.meaning == "auto" else (asked.meaning,)
    for meaning in ("spread",) if asked.exact else meanings:
        member = replace(_member(asked, method, meaning), penalty=penalty)
        member = _em(asked, member) if meaning == "measurement" else member
        n, most = len(asked.rows), KERNEL_ROWS.get(asked.effort, KERNEL_ROWS["normal"])
        if method == "kernel" and n > most:
            member = member.without(f'{n:,} rows, more than {most:,} (effort="{asked.effort}")')
        elif method == "kernel" and _has_full_matrices(asked, meaning) and _pairs(asked) > KERNEL_WORK:
            member = member.without(f"{asked.n_features} features are too many for a kernel of {n:,} rows")
        yield member


def _has_full_matrices(asked: Request, meaning: str) -> bool:
    """Have the Gaussians that a kernel compares covariances between all features?"""
    if asked.exact:
        return False
    # A regression is fitted to the means of posteriors.
    denoised = meaning == "measurement" and not asked.regression
    return denoised or filled_gaussians(asked.rows).kind not in ("diagonal", "isotropic")


def _pairs(asked: Request) -> float:
    """Operations of their factorisations."""
    return float(len(asked.rows)) ** 2 * float(asked.n_features) ** 3


def _trees(asked: Request, n_classes: int) -> Member:
    """Boosted trees (or the caller's learner) on re-measured rows."""
    own = asked.settings.get("estimator")
    known: Keywords = {} if own is None else {"estimator": own}
    if asked.noise is not None:  # the errors of a new catalogue grow together
        known |= {"factors": asked.noise, "per_feature": 0.0}
    member = _member(asked, "remeasured", "measurement", known)
    member = replace(member, penalty="" if own is not None else "n_trees")
    if own is None and len(asked.rows) * asked.rows.n_features * n_classes > TREE_WORK:
        member = member.without("too many rows, features and classes for trees on copies")
    if own is None and not asked.exact and asked.rows.n_features > TREE_FEATURES:
        member = member.without(f"{asked.rows.n_features} features are too many to draw true values of")
    return _measured(asked, member)


def _member(asked: Request, method: str, meaning: str, parameters: Keywords | None = None) -> Member:
    parameters = parameters or {}
    estimator = make_estimator(
        method, regression=asked.regression, params=parameters, random_state=asked.random_state,
        scale=asked.target_scale,
    )  # fmt: skip
    if "n_jobs" in asked.settings and "n_jobs" in estimator.get_params(deep=False):
        estimator.set_params(n_jobs=asked.settings["n_jobs"])
    measured = meaning == "measurement" and not METHODS[method].measurement
    steps = steps_with(
        estimator, measured=measured, scale=asked.scale, impute=asked.impute, softening=asked.softening
    )
    member = Member(method, meaning, parameters, with_passes(Pipeline(steps), asked.size))
    if asked.target_limits and not has_fit_parameter(estimator, "y_limit"):
        return member.without("takes no limits of the target")
    if asked.limits and not takes_limits(estimator, measured=measured):
        return member.without("takes no limits")
    return member


def _several(gaussians: int) -> Keywords:
    """Parameters of a law of so many Gaussians."""
    return {"n_components": gaussians, "tol": EM_TOL} if gaussians > 1 else {}


def _measured(asked: Request, member: Member) -> Member:
    """Left out if error bars are spread, which the method cannot understand."""
    if asked.meaning == "spread" and not asked.exact and not member.reason:
        return member.without('takes error bars for measurement errors, not for meaning="spread"')
    return member


def _em(asked: Request, member: Member) -> Member:
    """Left out if there are too many features for Gaussians, with noise or of points."""
    work, noisy = len(asked.rows) * float(asked.n_features) ** 2, not asked.exact
    work *= asked.n_features if noisy else member.parameters.get("n_components", 1)
    if work > EM_WORK and not member.reason:
        kind = " with noise" if noisy else ""
        return member.without(f"{asked.n_features} features are too many for Gaussians{kind}")
    return member


def _short(value: object) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)
