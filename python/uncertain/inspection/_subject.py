"""The arguments of an inspection: a fitted model, rows that it takes, and their features by name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias, cast

import numpy as np
from sklearn.base import is_regressor

from .._data.array import GaussianArray
from .._data.groups import Groups, groups_from
from .._data.incomplete import GaussianRows, Incomplete, filled_gaussians, missing_mask
from .._data.targets import as_list
from .._data.typing import ColumnOrValues, Estimator, Floats, Labels, Predictor
from .._data.validation import TableLike
from .._model.model import Model
from ..exceptions import ParameterError, ShapeError

Feature: TypeAlias = str | int
Block: TypeAlias = tuple[int, ...]
"""Features that move together."""


@dataclass(frozen=True)
class Subject:
    """A fitted estimator, rows that it takes, and names of their features."""

    estimator: Estimator
    rows: GaussianRows
    names: tuple[str, ...]
    truth: Labels | None = None
    groups: Groups | None = None

    @classmethod
    def from_arguments(
        cls,
        model: Predictor,
        X: TableLike,
        y: ColumnOrValues | None = None,
        groups: ColumnOrValues | None = None,
        *,
        labelled: bool = False,
        max_rows: int | None = None,
    ) -> Subject:
        """A `Model` and a table (or what else it takes), or a fitted estimator and Gaussians or an array.

        `max_rows`: of a larger table about so many rows, as in `Model.report`.
        """
        if isinstance(model, Model):
            estimator, rows, truth, codes = model._inspected(
                X, y, groups, labelled=labelled, max_rows=max_rows
            )
            names = tuple(model.feature_names_)
        else:
            rows = X if isinstance(X, (GaussianArray, Incomplete)) else GaussianArray(X)  # type: ignore[arg-type]
            estimator, names, truth, codes = cast(Estimator, model), (), None, None
            if labelled:
                if y is None or isinstance(y, str):
                    raise ParameterError(
                        "y: pass the targets of the rows, one each; only a Model knows a column"
                    )
                truth = np.asarray(as_list(y, "y"))
                if truth.shape != (len(rows),):
                    raise ShapeError(f"y: expected {len(rows)} targets, one per row, got {truth.shape}")
            if groups is not None:
                codes = Groups(groups_from(groups, "groups", len(rows)))
        if len(names) != rows.n_features:
            names = tuple(rows.feature_names or (f"feature {j}" for j in range(rows.n_features)))
        return cls(estimator, rows, names, truth, codes)

    @property
    def regression(self) -> bool:
        """Does it predict numbers?"""
        return bool(is_regressor(self.estimator))

    def block(self, features: Feature | Sequence[Feature]) -> Block:
        """The numbers of one feature or of several, by name or number."""
        one = isinstance(features, str) or not isinstance(features, Sequence)
        listed = [features] if one else features
        block = tuple(self._number(feature) for feature in cast(Sequence[Feature], listed))
        if not block or len(set(block)) < len(block):
            raise ParameterError(f"features: {features!r}: name at least one feature, and each once")
        return block

    def label(self, block: Block) -> str:
        """The names of some features, for messages."""
        return ", ".join(self.names[j] for j in block)

    def _number(self, feature: object) -> int:
        d = self.rows.n_features
        if isinstance(feature, str):
            if feature not in self.names:
                names = ", ".join(map(repr, self.names[:12])) + (", ..." if d > 12 else "")
                raise ParameterError(f"features: there is no feature {feature!r}; the features are {names}")
            return self.names.index(feature)
        if isinstance(feature, bool) or not isinstance(feature, (int, np.integer)) or not -d <= feature < d:
            raise ParameterError(f"features: {feature!r} must be a name, or a number in 0..{d - 1}")
        return int(feature) % d


def replaced(rows: GaussianRows, block: Block, other: GaussianRows) -> GaussianRows:
    """The rows with the features of `block` from `other` (which has these only), errors independent.

    Covariances inside the block are those of `other`, those outside it stay, and those between are zero: the
    two were not measured together.
    """
    rest = [j for j in range(rows.n_features) if j not in block]
    parts = [*([filled_gaussians(rows)[:, rest]] if rest else []), filled_gaussians(other)]
    together = GaussianArray.hstack([part._named(None) for part in parts])
    made = filled_gaussians(rows)._like(together[:, np.argsort([*rest, *block])]._core)
    if not (isinstance(rows, Incomplete) or isinstance(other, Incomplete)):
        return made
    missing = missing_mask(rows).copy()
    missing[:, list(block)] = missing_mask(other)
    return Incomplete(made, missing)


def picked(rows: GaussianRows, block: Block) -> GaussianRows:
    """Some features of all rows, with the covariances between them."""
    made = filled_gaussians(rows)[:, list(block)]
    return Incomplete(made, rows.missing[:, list(block)]) if isinstance(rows, Incomplete) else made


def with_means(rows: GaussianRows, block: Block, values: Floats) -> GaussianRows:
    """The rows with other values of some features (mixtures: other means) and all covariances as they are; no
    gaps there."""
    gaussians = filled_gaussians(rows)
    means = gaussians.means.copy()
    means[:, list(block)] = values
    made = gaussians._with_means(means)
    if not isinstance(rows, Incomplete):
        return made
    missing = rows.missing.copy()
    missing[:, list(block)] = False
    return Incomplete(made, missing)
