"""What a model knows of the rows of its fit beside the pipeline."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from .._data.typing import Floats, Header
from .._errors.sizes import ErrorSizes
from .conformal import Conformal
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
        widths = np.asarray(values["widths"], dtype=np.float64) if "widths" in values else None
        if widths is not None and not (widths.ndim == 1 and np.all(np.isfinite(widths) & (widths > 0.0))):
            raise ValueError(f"widths = {widths!r:.100}")
        return cls(
            ErrorSizes.from_dict(values["sizes"]) if "sizes" in values else None,
            Spread.from_dict(values["spread"]) if "spread" in values else None,
            Conformal.from_dict(values["conformal"]) if "conformal" in values else None,
            widths,
        )
