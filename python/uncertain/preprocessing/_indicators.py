"""`Indicators`: which values and error bars a table lacks, as features of zeros and ones.

What is missing tells something: archives hold error bars of what was studied, and parameters of stars that a
survey has seen. A gap that is filled, and an error bar from a model of sizes, hide that. An indicator is an
exact feature, so all learners take it, errors of any size leave it as it is, and a file for the Rust core
holds nothing new: its models have more features.

Log loss of re-measured trees, five folds, errors x 1, 2, 4 (benches/python/indicators.py): TESS' planets
.317 .325 .350 without, .309 .320 .338 with; 3,000 rows of Kepler's catalogue .167 .245 .293 and .173 .240
.299. Of error bars alone .310 .324 .341 and .166 .238 .302: differences of .005 are luck here. Rejected: the
skewness of two arms (TESS' arms are equal; Kepler's: .209 .272 .300 in place of .189 .278 .306, two folds).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from .._data.typing import Booleans, Floats

SHARE, LEAST = 0.01, 10
"""Of the rows, and how many of them, that must lack something, and must have it."""

Lacks = dict[str, Booleans]
"""Where something is missing, by the name of its indicator."""


@dataclass(frozen=True)
class Indicators:
    """Those that a fit found, by their names."""

    names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if len({*self.names}) < len(self.names):
            raise ValueError(f"indicators = {self.names!r:.100}")

    @classmethod
    def learn(cls, lacks: Lacks, taken: Sequence[str]) -> Self:
        """Those that tell rows apart; of equal ones the first, and at most as many as `taken` features.

        Names of features are taken.
        """
        found: dict[bytes, tuple[int, str]] = {}
        for name, lack in lacks.items():
            rarer = int(min(lack.sum(), len(lack) - lack.sum()))
            if rarer >= max(LEAST, SHARE * len(lack)) and name not in taken:
                found.setdefault(np.packbits(lack).tobytes(), (rarer, name))
        most = sorted(found.values(), key=lambda each: -each[0])[: len(taken)]
        kept = {name for _, name in most}
        return cls(tuple(name for name in lacks if name in kept))

    def features(self, lacks: Lacks, n_rows: int) -> Floats:
        """Zeros and ones, shape (n, k); of what is not in `lacks` nothing is missing."""
        nothing = np.zeros(n_rows, dtype=bool)
        columns = [lacks.get(name, nothing) for name in self.names]
        return np.stack(columns, axis=1).astype(np.float64) if columns else np.empty((n_rows, 0))

    def __len__(self) -> int:
        return len(self.names)


def lacking(values: Mapping[str, Booleans], errors: Mapping[str, Booleans]) -> Lacks:
    """By the name of its indicator where a value is missing, or the error bar of one that is there."""
    return {f"{name}_error_missing": lack for name, lack in errors.items()} | {
        f"{name}_missing": lack for name, lack in values.items()
    }
