"""Estimators that take rows with missing values."""

from __future__ import annotations

from sklearn.utils import Tags


class TakesGaps:
    """Tells scikit-learn that NaN in an array is a missing feature."""

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.allow_nan = True
        return tags
