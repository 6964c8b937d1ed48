"""What else is installed."""

from __future__ import annotations

import importlib.util
import sys


def installed(module: str) -> bool:
    """Can the module be imported?"""
    return module in sys.modules or importlib.util.find_spec(module) is not None
