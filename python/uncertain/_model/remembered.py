"""What a model knows of the rows of its fit beside the pipeline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from sklearn.base import is_regressor
from sklearn.pipeline import Pipeline

from .._data.typing import Header
from .._errors.sizes import ErrorSizes
from .._widths.distribution import has_density
from .._widths.spread import Spread
from ..regression import GSURegressor
from .conformal import Conformal
from .cross_conformal import CrossConformal


@dataclass(frozen=True)
class Remembered:
    """All of it is optional: files written in Rust hold none."""

    sizes: ErrorSizes | None = None
    """How large errors were."""
    spread: Spread | None = None
    """Of a regression: how far targets are from predictions, where its own law is none, or not as good."""
    conformal: Conformal | None = None
    """Of a regression: how strange held-out targets were."""
    sets: CrossConformal | None = None
    """Of a classifier: the same, with the models of the folds that say so."""

    def to_dict(self) -> Header:
        """What there is, for the JSON of the model file, which holds the models of the folds as steps."""
        parts = {"sizes": self.sizes, "spread": self.spread, "conformal": self.conformal, "sets": self.sets}
        return {name: part.to_dict() for name, part in parts.items() if part is not None}

    @classmethod
    def from_dict(cls, values: Header, models: Sequence[Pipeline] = ()) -> Self:
        """Inverse of `to_dict`; KeyError, TypeError, ValueError, AttributeError for what is none of it."""
        if models and "sets" not in values:
            raise ValueError(f"{len(models)} models of folds without sets")
        return cls(
            ErrorSizes.from_dict(values["sizes"]) if "sizes" in values else None,
            Spread.from_dict(values["spread"]) if "spread" in values else None,
            Conformal.from_dict(values["conformal"]) if "conformal" in values else None,
            CrossConformal.from_dict(values["sets"], models) if "sets" in values else None,
        )

    def check(self, pipeline: Pipeline, residual_std: float | None) -> None:
        """ValueError if it is not what a fit of this pipeline over Gaussians remembers.

        Its parts may each be sound and yet come from the file of another model.
        """
        last, d = pipeline[-1], pipeline.n_features_in_
        if self.sizes is not None and len(self.sizes.middle) != d:
            raise ValueError(f"sizes of the errors of {len(self.sizes.middle)} features, the model has {d}")
        if residual_std is not None and not isinstance(last, GSURegressor):
            raise ValueError(f"a {type(last).__name__} with a residual_std, which a GSURegressor has")
        if is_regressor(last):
            self._check_numbers(pipeline, residual_std)
            return
        if self.spread is not None or self.conformal is not None:
            raise ValueError("spread or scores of a regression beside a classifier")
        if self.sets is not None:
            self.sets.check(d, last.classes_)

    def _check_numbers(self, pipeline: Pipeline, residual_std: float | None) -> None:
        if self.sets is not None:
            raise ValueError("sets of a classifier beside a regression")
        if self.spread is not None:
            self.spread.check(pipeline)
        known = residual_std is not None or self.spread is not None or has_density(pipeline)
        if self.conformal is not None and not known:
            raise ValueError("scores of intervals without residual_std or spread")
