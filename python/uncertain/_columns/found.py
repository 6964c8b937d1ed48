"""What only a table determines of its columns: what stands beside the roles of `Columns`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple


class PairsOfTarget(NamedTuple):
    """By feature the columns of the correlation, and of the covariance, of its error with the target's."""

    corr: dict[str, str] = {}  # noqa: RUF012
    cov: dict[str, str] = {}  # noqa: RUF012
    named: bool = False
    """Did the caller name them?"""

    @property
    def columns(self) -> set[str]:
        """All of them."""
        return {*self.corr.values(), *self.cov.values()}


@dataclass(frozen=True)
class Found:
    """What was found by the names and types of a table's columns."""

    settled: bool = False
    """Has anybody looked? Then no role is left open."""
    ignored: tuple[str, ...] = ()
    """Columns without a role."""
    automatic: bool = False
    """Were the features with error bars found by name?"""
    target_unit: str | None = None
    """The unit of the target, and of predictions, where its column knows it."""
    target_limit: str | None = None
    """The column of flags of targets that are limits."""
    target_corr: dict[str, str] = field(default_factory=dict)
    """By feature the column of the correlation of its error with the target's."""
    target_cov: dict[str, str] = field(default_factory=dict)
    """The same of covariances."""
    distributions: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """The names of the features in columns of `draws` that carry their error bars."""
    # What only the fit asks for: columns that have a role if the estimator knows one.
    target_stds: tuple[str, ...] = field(default=(), compare=False)
    """Columns named like standard deviations of the target."""
    target_bars: tuple[str, ...] = field(default=(), compare=False)
    """Error bars of the target that are no columns of standard deviations."""
    unsure: frozenset[str] = field(default=frozenset(), compare=False)
    """Error columns by letters that may mean something else."""
    target_pairs: PairsOfTarget = field(default=PairsOfTarget(), compare=False)
    """Columns of covariances with the target's errors."""
    empty: frozenset[str] = field(default=frozenset(), compare=False)
    """Error columns that hold nothing."""


NOTHING = Found()
