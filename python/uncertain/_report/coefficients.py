"""How the coefficients of a linear model depend on what the error bars are taken for.

Errors in a feature bias its coefficient towards zero, by var(true) / (var(true) + var(error)) for one
feature: attenuation. Predictions of rows that are as noisy as the training rows do not show it, as the
attenuated line is the best one for them; only the coefficients do. So they are compared beside the scores.

Their standard errors cost no further fits: the fits to the training rows of one repeat's K folds leave out
each row once, so that the delete-a-group jackknife holds (P. S. Kott, The Delete-a-Group Jackknife, Journal
of Official Statistics 17(4), 2001),

    se^2 = (K - 1) / K sum_k (w_k - mean w)^2,

averaged over the complete repeats; for differences of two candidates, of the differences fold by fold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.pipeline import Pipeline

from .._data.typing import Floats, JsonObject
from ..preprocessing import GaussianLogScaler, GaussianScaler

LEAST_CHANGE = 0.05
"""A coefficient that differs by less than this share is not worth a sentence, however sure it is."""


@dataclass(frozen=True)
class Coefficients:
    """Coefficients of every candidate in the units of the rows, fitted to all rows."""

    features: tuple[str, ...]
    names: tuple[str, ...]
    """The candidates."""
    values: Floats
    """Shape (candidates, features)."""
    se: Floats
    """Their standard errors; NaN if no repeat was completed."""
    difference_se: Floats
    """Standard errors of the differences of any two candidates, shape (candidates, candidates, features)."""

    def finding(self, reference: str, others: Sequence[str]) -> str:
        """A sentence about the coefficient that differs most from that of `reference`; "" if none does.

        A difference counts if it exceeds two standard errors and a twentieth of the larger coefficient.
        """
        r = self.names.index(reference)
        found: list[tuple[float, int, int]] = []
        for other in others:
            k = self.names.index(other)
            size = np.abs(self.values[k] - self.values[r])
            largest = np.maximum(np.abs(self.values[k]), np.abs(self.values[r]))
            counts = (size > 2 * self.difference_se[k, r]) & (size >= LEAST_CHANGE * largest)
            found += [(float(size[j] / largest[j]), k, int(j)) for j in np.flatnonzero(counts)]
        if not found:
            return ""
        _, _, j = max(found)
        different = [k for _, k, feature in found if feature == j]
        mine = self.values[r, j]
        texts = [
            f'{self._text(k, j)} for "{self.names[k]}"{_share(self.values[k, j], mine)}' for k in different
        ]
        law = all(abs(self.values[k, j]) < abs(mine) for k in different)
        n = len({feature for _, _, feature in found})
        return (
            f'The coefficient of {self.features[j]} is {self._text(r, j)} for "{reference}", but '
            f"{' and '.join(texts)}"
            + (f" (as {n - 1} more of {len(self.features)} coefficients differ)" if n > 1 else "")
            + (": errors in a feature that are not taken off attenuate its coefficient." if law else ".")
        )

    def rows(self, most: int = 20) -> list[tuple[str, ...]]:
        """A small table: a row for each feature, under a row of titles."""
        rows = [("", *self.names)]
        for j, feature in enumerate(self.features[:most]):
            rows.append((feature, *(self._text(k, j) for k in range(len(self.names)))))
        return rows

    def to_dict(self) -> JsonObject:
        """Numbers, strings and lists."""
        return {
            "features": list(self.features),
            "candidates": list(self.names),
            "values": self.values.tolist(),
            "se": [[None if np.isnan(se) else se for se in row] for row in self.se.tolist()],
        }

    def _text(self, k: int, j: int) -> str:
        se = "" if np.isnan(self.se[k, j]) else f" +- {self.se[k, j]:.2g}"
        return f"{self.values[k, j]:.4g}{se}"


def _share(theirs: float, mine: float) -> str:
    """How much smaller or larger, where the signs agree."""
    if theirs * mine <= 0:
        return ""
    ratio = theirs / mine
    return f" ({abs(ratio - 1):.0%} {'smaller' if ratio < 1 else 'larger'})"


def linear_coefficients(pipeline: Pipeline) -> Floats | None:
    """w of E[y] = w'x + b in the units of the rows; None for what is not linear in them."""
    last = pipeline[-1]
    found = getattr(last, "coef_", None)
    if found is None or np.ndim(found) != 1 or getattr(last, "kernel", "linear") != "linear":
        return None
    weights = np.array(found, dtype=np.float64)
    for _, step in pipeline.steps[:-1]:
        if isinstance(step, GaussianLogScaler):
            return None
        if isinstance(step, GaussianScaler):
            weights /= step.scale_
    return weights


def compared(
    whole: Mapping[str, Floats],
    folds: Mapping[str, Sequence[Floats]],
    per_repeat: int,
    features: Sequence[str],
) -> Coefficients:
    """From the coefficients of fits to all rows, and to the training rows of every fold."""
    names = tuple(whole)
    values = np.stack([whole[name] for name in names])
    by_fold = np.stack([np.asarray(folds[name]) for name in names])  # (candidates, folds, features)
    pairs = by_fold[:, None] - by_fold[None, :]
    return Coefficients(
        tuple(features), names, values, _jackknife(by_fold, per_repeat), _jackknife(pairs, per_repeat)
    )


def _jackknife(by_fold: Floats, k: int) -> Floats:
    """Standard errors from values of shape (..., folds, features), `k` folds in a repeat."""
    repeats = by_fold.shape[-2] // k
    if repeats == 0:
        return np.full((*by_fold.shape[:-2], by_fold.shape[-1]), np.nan)
    whole = by_fold[..., : repeats * k, :]
    split = whole.reshape(*whole.shape[:-2], repeats, k, whole.shape[-1])
    variances = (k - 1) * split.var(axis=-2)
    return np.asarray(np.sqrt(variances.mean(axis=-2)))
