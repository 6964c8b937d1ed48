"""Errors and warnings of the package.

Every error about data is an :class:`UncertainError`, which is a ``ValueError``, so that code written
for scikit-learn catches it. Messages name the column, the row number (from 0) and the value. The page
"Errors and what to do" of the user guide (docs/guide/errors.md) says what to do about each class.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sklearn.exceptions import ConvergenceWarning

__all__ = [
    "ClusterError",
    "ColumnError",
    "ConvergenceWarning",
    "CovarianceWarning",
    "ErrorSizesWarning",
    "MissingErrorBarsError",
    "ModelFileError",
    "NegativeVarianceError",
    "NotFiniteError",
    "NotPositiveSemiDefiniteError",
    "NotSymmetricError",
    "NullError",
    "OutOfMemoryError",
    "ParameterError",
    "RaggedError",
    "ShapeError",
    "TableError",
    "UncertainError",
    "UncertainWarning",
    "UnitError",
]


def __getattr__(name: str) -> Any:
    """Load scikit-learn for its warning alone: the help of the command line should not wait for it."""
    if name != "ConvergenceWarning":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from sklearn.exceptions import ConvergenceWarning

    return ConvergenceWarning


class UncertainError(ValueError):
    """The data or the parameters cannot be used; the message says where and what to do.

    See "Errors and what to do" in the user guide.
    """


class NotFiniteError(UncertainError):
    """A number is NaN or infinite."""


class NegativeVarianceError(UncertainError):
    """A variance or standard deviation is below zero."""


class NotSymmetricError(UncertainError):
    """A covariance matrix differs from its transpose."""


class NotPositiveSemiDefiniteError(UncertainError):
    """A covariance matrix has a negative eigenvalue that rounding cannot explain."""


class ShapeError(UncertainError):
    """Sizes do not fit together."""


class UnitError(UncertainError):
    """Units do not convert into each other, or one of two arrays has none."""


class ParameterError(UncertainError):
    """A parameter is outside its range, or an option is unknown."""


class NullError(UncertainError):
    """A value is missing (null, None)."""


class RaggedError(UncertainError):
    """Lists of one column have different lengths."""


class MissingErrorBarsError(UncertainError):
    """An error bar is missing (null or NaN); it is never taken as zero unless asked for."""


class ColumnError(UncertainError):
    """A column does not exist, exists twice, or has a type that cannot be read."""


class TableError(UncertainError):
    """A file of a table is damaged, is none of its ending, or changes while it is read."""


class ModelFileError(UncertainError):
    """A model file is truncated, altered or foreign."""


class ClusterError(UncertainError):
    """A cluster gives no answer, has other versions, or other rows than before."""


class OutOfMemoryError(UncertainError, MemoryError):
    """There is no memory for something large; the message has its size. Nothing was changed."""


class UncertainWarning(UserWarning):
    """Base class of the warnings of this package; see "Errors and what to do" in the user guide."""


class ErrorSizesWarning(UncertainWarning):
    """The error bars of rows to predict are not like those that the model was fitted to."""


class CovarianceWarning(UncertainWarning):
    """Tiny negative eigenvalues of a covariance matrix were set to zero."""
