"""Estimators that take rows with gaps."""

from __future__ import annotations

from sklearn.utils import Tags


class TakesGaps:
    """Says so to scikit-learn: NaN in an array is a missing feature."""

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.allow_nan = True
        return tags
