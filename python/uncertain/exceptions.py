"""Errors and warnings of the package.

Every error about data is an :class:`UncertainError`, which is a ``ValueError``, so that code written
for scikit-learn catches it. Messages name the column, the row number (from 0) and the value. Errors that
Python or scikit-learn have a name for keep it, such as ``FileNotFoundError`` and ``NotFittedError``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sklearn.exceptions import ConvergenceWarning

__all__ = [
    "ClusterError", "ColumnError", "ConvergenceWarning", "CovarianceWarning", "ErrorSizesWarning",
    "MissingErrorBarsError", "ModelFileError", "NegativeVarianceError", "NotFiniteError",
    "NotPositiveSemiDefiniteError", "NotSymmetricError", "NullError", "OutOfMemoryError", "ParameterError",
    "RaggedError", "ShapeError", "TableError", "UncertainError", "UncertainWarning", "UnitError",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """Load scikit-learn late, for its warning alone: `--help` stays fast."""
    if name != "ConvergenceWarning":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from sklearn.exceptions import ConvergenceWarning

    return ConvergenceWarning


class UncertainError(ValueError):
    """Data or parameters cannot be used; the message says where and what to do.

    Raised before any work; the data of the caller are unchanged.
    """


class NotFiniteError(UncertainError):
    """A value is NaN or infinite: drop the row, or ``on_missing="auto"``."""


class NegativeVarianceError(UncertainError):
    """An error bar is negative, often a code such as -999: replace codes by null."""


class NotSymmetricError(UncertainError):
    """A covariance matrix is not symmetric: ``(S + S.T) / 2`` removes rounding."""


class NotPositiveSemiDefiniteError(UncertainError):
    """A covariance matrix has a negative eigenvalue: check units and order."""


class ShapeError(UncertainError):
    """Sizes do not fit together; the message has both."""


class UnitError(UncertainError):
    """Units do not convert into each other, or only one of two arrays has one."""


class ParameterError(UncertainError):
    """A parameter is out of its range, unknown, or not valid with another one."""


class NullError(UncertainError):
    """A value is missing (null): drop the row, or ``on_missing="auto"``."""


class RaggedError(UncertainError):
    """Lists of one column have different lengths: fill the short ones with null."""


class MissingErrorBarsError(UncertainError):
    """An error bar is missing: ``on_missing="auto"`` estimates it."""


class ColumnError(UncertainError):
    """A column is missing, there twice, has two roles, or holds no numbers."""


class TableError(UncertainError):
    """A data file is corrupt, unlike its extension, or changed while being read."""


class ModelFileError(UncertainError):
    """A model file is truncated, altered or of another kind: save it again."""


class ClusterError(UncertainError):
    """A cluster gives no answer, or has other versions: pass ``timeout=``."""


class OutOfMemoryError(UncertainError, MemoryError):
    """Memory is too small for this size: use fewer rows, or ``memory=``."""


class UncertainWarning(UserWarning):
    """Base class of the warnings of this package."""


class ErrorSizesWarning(UncertainWarning):
    """Error bars differ from those of the fit: predictions may be overconfident."""


class CovarianceWarning(UncertainWarning):
    """Tiny negative eigenvalues of a covariance matrix were set to zero."""
