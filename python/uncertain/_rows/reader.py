"""`RowReader`: a table on its way into `Rows`, in two steps.

First the targets are looked at, because what a fit can use of its rows depends on whether they are numbers
(error bars of the target, say). Then the rows are read, with all that is known of them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from .._data.choices import Arms
from .._data.typing import Ints
from .._data.warn import warn
from .._tables.columns import OF_LAWS, OF_ROWS, Columns
from .._tables.find import Types
from .._tables.size_model import MISSING_STD
from .._tables.unread import left_out
from ..exceptions import ParameterError, UncertainWarning
from ..preprocessing import AsGaussians
from .rows import Rows

PerRow: TypeAlias = dict[str, Any]
"""By role what is known of each row beside its features: the name of a column, or the values themselves."""
OF_PAIRS = ("y_cov",)
"""Roles of all pairs of rows, as matrices; they are no columns."""


def beside_features(columns: Columns, values: Mapping[str, Any]) -> PerRow:
    """Return the columns beside the features, and the `values` that a caller gave in their place."""
    roles = {role: values.get(role, getattr(columns, role)) for role in (*OF_ROWS, *OF_LAWS)}
    return roles | {role: values.get(role) for role in OF_PAIRS}


class Policy(NamedTuple):
    """How `AsGaussians` reads what is missing or unknown."""

    on_missing: str = "auto"
    handle_unknown: str = "error"
    arms: Arms = "auto"

    @property
    def missing_std(self) -> float | None:
        """Error bar of a target that has none; None if that is refused."""
        return MISSING_STD.get(self.on_missing)


@dataclass(frozen=True)
class Uses:
    """Arguments per row that a fit can use beside features, targets, weights and groups."""

    name: str = ""
    """The estimator, for errors."""
    y_std: bool = False
    xy_cov: bool = False
    y_limit: bool = False
    limits: bool = False
    """May features be limits?"""
    of_laws: tuple[str, ...] = ()
    """The arguments among `offset`, `event`, `modes` and `y_cov` that it takes."""
    shapes: bool = False
    """Is it a law that integrates over the shape of error bars?"""
    gaps: bool = True
    """May features of arrays be NaN?"""


class RowReader(ABC):
    """A table whose columns are known, and whose rows are not read yet."""

    columns: Columns
    """As far as they are settled: reading a table may tell more of them."""
    reading: AsGaussians | None
    """The step that reads the rows, fitted by `read`; None for arrays that need none."""

    n_left_out: int = 0
    """Rows without a target, which are left out."""
    numbers: Ints | None = None
    """The numbers of the rows that are read, in the table; None for all of them."""
    doubts: Sequence[str] = ()
    """Sentences of warnings on the roles of columns."""
    types: Types | None = None
    """Contents of the columns of the table; None where the caller named all features."""

    @abstractmethod
    def settle(self, task: str, *, partial: bool) -> bool:
        """Are the targets numbers? `partial`: some rows may have none."""

    @abstractmethod
    def read(self, uses: Uses) -> Rows:
        """Read the rows."""

    def warn_of_columns(self) -> None:
        """Warn of numeric columns without a role."""
        if self.types is not None and (text := left_out(self.columns, self.types)):
            warn(text, UncertainWarning)

    def feature_names(self) -> list[str]:
        """The names of the features of the rows that were read; none for arrays without any."""
        if self.reading is None or not hasattr(self.reading, "columns_"):
            return []
        return [str(name) for name in self.reading.get_feature_names_out()]

    def settled_columns(self) -> Columns:
        """The columns, with what was learned from rows: whether two columns are limits or arms, and what the
        features in columns of distributions are called."""
        columns = self.columns
        if self.reading is None or not (columns.features or columns.draws):
            return columns
        if columns.draws:
            columns = columns.with_found(distributions=self.reading.columns_.distributions)
        bars = self.reading.columns_.error_bars
        return columns.with_bars(bars) if bars else columns


def refuse_of_laws(per_row: PerRow) -> None:
    """For rows that are not in the memory of one process."""
    for role in (*OF_LAWS, *OF_PAIRS):
        if per_row.get(role) is not None:
            raise ParameterError(f"{role}= is for laws, which are fitted to rows in one memory")


def no_target_std(uses: Uses) -> ParameterError:
    """The estimator does not know error bars of the target."""
    return ParameterError(
        f"target_std=: {uses.name} does not use error bars of the target. Regressions that do are "
        'method="gsu", "mixture" and "law"'
    )
