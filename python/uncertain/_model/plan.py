"""`Plan`: what is to be fitted to the rows, whatever store holds them.

A plan is a named method behind the steps that it needs, or a choice among several on a sample of the rows.
All that can be wrong with its options is checked before a number is read.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

from .._base.run import Deadline, check_limit
from .._base.sums import Need
from .._choice.candidates import Member, Request
from .._choice.choose import choose
from .._choice.leaderboard import Leaderboard
from .._choice.logarithms import Transform, check_transform, softening_for
from .._choice.methods import AUTO, METHODS, checked_noise, factors_of, make_estimator, seed_of, settings_of
from .._choice.steps import Softening, steps_with, takes_gaps, takes_limits, takes_shapes
from .._data.choices import OPTIONS, Arms, Effort, HandleUnknown, Meaning, OnMissing, Task
from .._data.options import check_options, refuse_if
from .._data.targets import target_scale
from .._data.typing import Keywords, RandomState
from .._data.warn import warn
from .._held_out.engine import HeldOut
from .._rows.reader import OF_PAIRS, Policy, RowReader, Uses
from .._rows.rows import Place, Rows, refusal
from .._rows.training import CHOSEN_ROWS, TrainingRows
from .._tables.columns import OF_LAWS, listing
from ..exceptions import ParameterError, UncertainError, UncertainWarning
from ..laws.generalized import CLASSES as OF_CLASSES


class Fitted(NamedTuple):
    """Outcome of a plan."""

    pipeline: Pipeline
    leaderboard: Leaderboard | None = None
    held_out: HeldOut | None = None
    """Answers of the models of the folds of a choice."""


@dataclass(frozen=True)
class Plan:
    """The arguments of `uncertain.fit` that are not about columns."""

    task: Task = "auto"
    method: str = "auto"
    meaning: Meaning = "auto"
    scale: bool = True
    transform: Transform = "auto"
    on_missing: OnMissing = "auto"
    handle_unknown: HandleUnknown = "error"
    effort: Effort = "normal"
    noise: tuple[float, float] | None = None
    random_state: RandomState = 0
    time_limit: float | None = None
    params: Keywords = field(default_factory=dict)
    usual: str = "spread"
    """The meaning that "auto" stands for where nothing is tried."""
    arms: Arms = "auto"
    # Settled once the kind of the targets is clear.
    regression: bool = False
    """Are the targets numbers?"""
    estimator: BaseEstimator | None = None
    """Of a named method, unfitted."""
    target_scale: float = 1.0
    """Of the numbers to predict; unit of the defaults of C, epsilon and delta."""
    denoised: bool = False
    """Does a step in front of the named method take off the noise?"""
    uses: Uses = field(default_factory=Uses)
    """Arguments per row that the fit can use."""

    @property
    def is_choice(self) -> bool:
        return self.method == AUTO

    @property
    def partial(self) -> bool:
        """May rows have no target?"""
        return not self.is_choice and METHODS[self.method].partial

    @property
    def policy(self) -> Policy:
        """How rows are read."""
        return Policy(self.on_missing, self.handle_unknown, self.arms)

    def checked(self) -> Self:
        """The plan with its parameters as the method takes them; ParameterError for what cannot be."""
        check_options(**{name: (getattr(self, name), options) for name, options in OPTIONS.items()})
        if self.transform is not None and not self._transforms_by_rule:
            check_transform(self.transform)
        if self.time_limit is not None:
            check_limit(self.time_limit)
        if not isinstance(self.scale, bool):
            raise ParameterError(f"scale={self.scale!r}: must be True or False")
        if self.is_choice:
            noise = None if self.noise is None else checked_noise(self.noise)
            return replace(self, noise=noise, params=settings_of(self.params))
        family = self.params.get("family")
        if self.method == "law" and self.task == "auto" and (family is not None or "curve" in self.params):
            task: Task = "classification" if family in OF_CLASSES else "regression"
            return replace(self, task=task).checked()
        refuse_if(
            self.effort != "normal",
            f'effort={self.effort!r}: method="{self.method}" is one fit; effort is for method="auto"',
        )
        if self.noise is None:
            return self
        noise = checked_noise(self.noise)
        refuse_if(
            self.method != "remeasured",
            f'noise={self.noise!r}: method="{self.method}" learns from the errors as they are; only '
            '"remeasured" is fitted to a range of errors, and "auto" chooses by one',
        )
        return replace(self, noise=noise, params=factors_of(noise, self.params))

    def settled(self, *, regression: bool) -> Self:
        """The plan for targets that are numbers, or classes."""
        if self.is_choice:
            uses = Uses('method="auto"', y_std=regression, xy_cov=regression, y_limit=regression, limits=True)
            return replace(self, regression=regression, uses=uses)
        estimator = make_estimator(
            self.method, regression=regression, params=self.params, random_state=self.random_state,
            scale=self.target_scale,
        )  # fmt: skip
        meaning = self.usual if self.meaning == "auto" else self.meaning
        denoised = meaning == "measurement" and not METHODS[self.method].measurement
        uses = Uses(
            type(estimator).__name__,
            y_std=has_fit_parameter(estimator, "y_std"),
            xy_cov=has_fit_parameter(estimator, "xy_cov"),
            y_limit=has_fit_parameter(estimator, "y_limit"),
            limits=takes_limits(estimator, measured=denoised),
            of_laws=tuple(role for role in (*OF_LAWS, *OF_PAIRS) if has_fit_parameter(estimator, role)),
            gaps=denoised or takes_gaps(estimator, measured=False),
            shapes=self.method == "law" and takes_shapes(estimator),
        )
        return replace(self, regression=regression, estimator=estimator, denoised=denoised, uses=uses)

    def may_use(self) -> Uses:
        """Arguments per row that the fit can use, if targets are numbers where they may be."""
        try:
            return self.settled(regression=self.is_choice or METHODS[self.method].regressor is not None).uses
        except UncertainError:  # raised again where it is known what the targets are
            return Uses()

    def in_units_of(self, some: TrainingRows) -> Self:
        """The plan with defaults in units of the targets of these rows."""
        if not self.regression:
            return self
        scale = target_scale(some.y, some.weights)
        return replace(self, target_scale=scale).settled(regression=True)

    def refuse(self, place: type[Place]) -> None:
        """ParameterError for a method that cannot be fitted to rows of a place, whatever the targets."""
        refuse_if(self.arms == "shape", f'{place.name}: arms="shape" is for rows in one memory; leave it out')
        if self.is_choice:
            refuse_if(
                self.effort == "high" and Need.MEMORY not in place.gives,
                f'{place.name}: effort="high" averages many fits; use effort="normal" or "fast"',
            )
            return
        method = METHODS[self.method]
        kinds = (False, True) if method.regressor is not None else (False,)
        reasons = [refusal(place, self._known_part(regression)) for regression in kinds]
        if all(reasons):
            raise ParameterError(str(reasons[0]))

    def _known_part(self, regression: bool) -> BaseEstimator:
        """The estimator with those of its parameters that it has."""
        plain = replace(self, params={}).settled(regression=regression).estimator
        assert plain is not None
        own = plain.get_params(deep=False)
        return plain.set_params(**{name: value for name, value in self.params.items() if name in own})

    def fit(self, rows: Rows, reader: RowReader, deadline: Deadline | None) -> Fitted:
        """The pipeline behind the reading step, and how it was chosen; the `reader` has read the rows."""
        if self.estimator is None:
            return self._fit_choice(rows, reader, deadline or Deadline())
        softening = self._softening(rows, reader, automatic=self.method == "remeasured")
        steps = steps_with(
            self.estimator, measured=self.denoised, scale=self.scale,
            impute=not self.denoised and self._imputes(rows),  # for a denoiser a gap is infinite noise
            softening=softening, limits=reader.columns.flags,
        )  # fmt: skip
        return Fitted(rows.fit_steps(Pipeline(steps)))

    def _fit_choice(self, rows: Rows, reader: RowReader, deadline: Deadline) -> Fitted:
        """The best of several; fitted to all rows, if it was chosen on a sample."""
        some = rows.sample(len(rows) if Need.MEMORY in rows.place.gives else CHOSEN_ROWS)
        whole = len(some) == len(rows)
        softening = self._softening(rows, reader, automatic=True)

        request = replace(self._request(some, rows, reader, softening, whole=whole), deadline=deadline)
        try:
            pipeline, board, held_out = choose(request, some)
        except UncertainError:
            fewer = None if self.regression or not whole else _without_single_rows(some)
            if fewer is None:
                raise
            request = self._request(fewer, rows, reader, softening, whole=whole)
            pipeline, board, held_out = choose(replace(request, deadline=deadline), fewer)
        if whole:
            return Fitted(pipeline, board, held_out)
        return Fitted(rows.fit_steps(clone(pipeline)), board, held_out)

    def _softening(self, rows: Rows, reader: RowReader, *, automatic: bool) -> Softening | None:
        """Which features are taken as logarithms. `automatic`: does "auto" mean the rule?"""
        if self.transform is None or (self._transforms_by_rule and not automatic):
            return None
        return softening_for(self.transform, rows, reader.feature_names)

    @property
    def _transforms_by_rule(self) -> bool:
        return isinstance(self.transform, str) and self.transform == "auto"

    def _imputes(self, rows: Rows) -> bool:
        """Do gaps have to be filled for methods that take none?"""
        return self.on_missing == "impute" or (self.on_missing == "auto" and rows.has_gaps)

    def _request(
        self, some: TrainingRows, rows: Rows, reader: RowReader, softening: Softening | None, *, whole: bool
    ) -> Request:
        """The request for a choice on these rows."""

        def able(member: Member) -> bool:
            return member.pipeline is None or refusal(rows.place, member.pipeline[-1]) is None

        return Request(
            rows=some.rows, y=some.y, regression=self.regression, meaning=self.meaning, usual=self.usual,
            softening=softening, n_rows=len(rows),
            effort=self.effort, scale=self.scale, impute=self._imputes(rows), noise=self.noise,
            random_state=seed_of(self.random_state), settings=self.params, target_scale=self.target_scale,
            limits=bool(reader.columns.flags),
            target_limits=some.y_limit is not None, able=None if whole else able,
        )  # fmt: skip


def _without_single_rows(some: TrainingRows) -> TrainingRows | None:
    """Without rows that are the only one of their class, which a warning names; None if that is no help."""
    classes, codes = np.unique(some.y[:], return_inverse=True)
    counts = np.bincount(codes, minlength=len(classes))
    single = counts == 1
    if not single.any() or (counts > 1).sum() < 2:
        return None
    warn(
        f"left out: the classes {listing(map(repr, classes[single].tolist()))}, of a single row each. "
        "Cross-validation needs two rows of a class: add some",
        UncertainWarning,
    )
    return some.take(np.flatnonzero(~single[codes]))
