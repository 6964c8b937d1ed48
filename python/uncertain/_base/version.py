"""The version of the package that is installed."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as _installed


def version() -> str:
    """As users see it."""
    try:
        return _installed("uncertain-learn")
    except PackageNotFoundError:  # run from a source tree that was never installed
        return "0.1.0"
