"""What a model knows of the rows of its fit beside the pipeline."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from sklearn.base import is_regressor
from sklearn.pipeline import Pipeline

from .._data.json_numbers import finite_numbers
from .._data.typing import Floats, Header
from .._errors.sizes import ErrorSizes
from ..regression import GSURegressor
from .conformal import Conformal
from .distribution import has_density
from .spread import Spread


@dataclass(frozen=True)
class Remembered:
    """All of it is optional: files of older versions, and of Rust, hold none."""

    sizes: ErrorSizes | None = None
    """How large errors were."""
    spread: Spread | None = None
    """Of a regression without a law of its own: how far targets are from predictions."""
    conformal: Conformal | None = None
    """How strange held-out targets were."""
    widths: Floats | None = None
    """Of a classifier: the spread of every feature, in whose units its noise levels are."""

    def to_dict(self) -> Header:
        """What there is, for the JSON of the model file."""
        parts = {"sizes": self.sizes, "spread": self.spread, "conformal": self.conformal}
        found: Header = {name: part.to_dict() for name, part in parts.items() if part is not None}
        return found if self.widths is None else found | {"widths": self.widths.tolist()}

    @classmethod
    def from_dict(cls, values: Header) -> Self:
        """Inverse of `to_dict`; KeyError, TypeError, ValueError, AttributeError for what is none of it."""
        widths = finite_numbers(values["widths"], "widths") if "widths" in values else None
        if widths is not None and not (widths > 0.0).all():
            raise ValueError(f"widths = {widths!r:.100}")
        return cls(
            ErrorSizes.from_dict(values["sizes"]) if "sizes" in values else None,
            Spread.from_dict(values["spread"]) if "spread" in values else None,
            Conformal.from_dict(values["conformal"]) if "conformal" in values else None,
            widths,
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
        if self.spread is not None:
            raise ValueError("the spread of a regression beside a classifier")
        if (self.conformal is None) != (self.widths is None):
            raise ValueError("of conformal and widths one is missing")
        if self.widths is not None and len(self.widths) != d:
            raise ValueError(f"widths of {len(self.widths)} features, the model has {d}")
        if self.conformal is not None and self.conformal.largest > 1.0:
            raise ValueError(f"a score of {self.conformal.largest:.3g}; those of classes are 1 at most")

    def _check_numbers(self, pipeline: Pipeline, residual_std: float | None) -> None:
        last = pipeline[-1]
        if self.widths is not None:
            raise ValueError("widths of a classifier beside a regression")
        if self.spread is not None:
            if isinstance(last, GSURegressor) or has_density(pipeline):
                raise ValueError(f"a {type(last).__name__} with a spread, which is for other regressions")
            if len(self.spread.widths) != last.n_features_in_:
                raise ValueError(
                    f"a spread of {len(self.spread.widths)} features, {type(last).__name__} has "
                    f"{last.n_features_in_}"
                )
        known = residual_std is not None or self.spread is not None or has_density(pipeline)
        if self.conformal is not None and not known:
            raise ValueError("scores of intervals without residual_std or spread")
