"""What models of folds say of numbers that they have not seen, and the law of their widths.

The same for every use: for the width of a fitted model, for a density of its own, and where a choice compares
models as they will answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Self

import numpy as np
from sklearn.pipeline import Pipeline

from .._base.normal_mixtures import NormalMixtures
from .._data.incomplete import GaussianRows
from .._data.typing import Booleans, Floats, Ints
from .._estimators.gsu import GSURegressor
from .._rows.training import TrainingRows
from .distribution import density_of_rows, has_density
from .scatter import most_likely_scatter
from .spread import Spread, chosen, left_open, own_law


class Answers(NamedTuple):
    """Of m readings of rows that were held out."""

    residuals: Floats
    """y_i - prediction_i."""
    parts: Floats
    """What is left open of them, (m, k)."""
    rows: Ints
    """Their places among the rows of the folds."""
    copied: Booleans
    """Which are no readings of the table, but ones with other errors."""
    weights: Floats
    target_std: Floats
    widths: Floats
    """t of every feature in front of the last step."""
    own_losses: Floats | None
    """The CRPS of densities that the models have of their own."""

    @classmethod
    def from_models(
        cls,
        tested: Iterable[tuple[Pipeline, Sequence[GaussianRows], Ints]],
        training: TrainingRows,
        widths: Floats,
    ) -> Self | None:
        """Of models, each with the rows that it has not seen: those of the table first, then copies of all or
        of the first of them. None if there are no such rows."""
        residuals, parts, numbers, copied, laws = [], [], [], [], []
        for model, readings, test in tested:
            for copy, read in enumerate(readings):
                found = left_open(model, read, widths)
                residuals.append(training.y[test[: len(read)]] - found.mean)
                parts.append(found.parts)
                numbers.append(test[: len(read)])
                copied.append(np.full(len(read), copy > 0))
                if has_density(model):
                    laws.append(density_of_rows(model, read))
        if not numbers:
            return None
        rows = np.concatenate(numbers)
        std = np.zeros(len(rows)) if training.y_std is None else training.y_std[rows]
        return cls(
            np.concatenate(residuals), np.concatenate(parts), rows, np.concatenate(copied),
            training.counts[rows], std, widths, own_losses(laws, training.y[rows], std) if laws else None,
        )  # fmt: skip

    def residual_std(self, fitted: Pipeline) -> float | None:
        """The scatter of a method whose law of widths needs one."""
        if not isinstance(fitted[-1], GSURegressor):
            return None
        first = ~self.copied
        variances = self.parts[first, 0] + self.target_std[first] ** 2
        return most_likely_scatter(self.residuals[first], variances, self.weights[first])

    def spread(self, law: Spread | None) -> tuple[Spread, Floats]:
        """The law of widths, the method's own if no other is better, and the CRPS of each reading."""
        own = self.own_losses
        if law is not None and own is None:
            own = law.losses(self.residuals, self.parts, self.target_std)
        spread = chosen(
            law, own, self.residuals, self.parts, self.weights, self.widths, self.target_std, self.rows
        )
        if spread is law and own is not None:
            return spread, own
        return spread, spread.losses(self.residuals, self.parts, self.target_std)

    def losses(self, fitted: Pipeline) -> Floats:
        """The CRPS of each reading, as a model of this kind would answer."""
        return self.spread(own_law(fitted, self.residual_std(fitted)))[1]


def own_losses(laws: Sequence[NormalMixtures], y: Floats, target_std: Floats) -> Floats:
    """The CRPS of a method's own densities, of targets that were measured."""
    weights, means, stds = (np.concatenate(part) for part in zip(*laws, strict=True))
    return NormalMixtures(weights, means, np.hypot(stds, target_std[:, None])).crps(y)
