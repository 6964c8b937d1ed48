"""The installed version of the package, and what else is installed."""

import importlib.util
import sys
from importlib import metadata


def version() -> str:
    """Version of the package, as users see it."""
    try:
        return metadata.version("uncertain-learn")
    except metadata.PackageNotFoundError:  # run from a source tree that was never installed
        return "0.1.0"


def installed(module: str) -> bool:
    return module in sys.modules or importlib.util.find_spec(module) is not None
