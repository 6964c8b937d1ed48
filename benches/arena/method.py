"""`Method`: a fit of one table, and what answers for others."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec

from .answers import Answering
from .table import Table
from .task import Task


@dataclass(frozen=True)
class Method:
    """A name, and how it is fitted."""

    name: str
    fit: Callable[[Table], Answering]
    classes: bool = True
    numbers: bool = True
    large: bool = False
    """Can it learn from half a million rows in minutes?"""
    ours: bool = False
    needs: str = ""
    """A package that may not be there."""
    quick: bool = True
    """Is it part of the quick run?"""

    def absent(self) -> str:
        """Why it cannot be run; empty if it can."""
        return f"{self.needs} is not installed" if self.needs and find_spec(self.needs) is None else ""

    def takes(self, task: Task, *, regression: bool) -> bool:
        """Is the task one for it?"""
        return (self.numbers if regression else self.classes) and (self.large or not task.large)


def all_methods() -> list[Method]:
    """Of the files in `methods`, ours first."""
    package = importlib.import_module("arena.methods")
    names = sorted(module.name for module in pkgutil.iter_modules(package.__path__))
    modules = [importlib.import_module(f"arena.methods.{name}") for name in names]
    methods = [method for module in modules for method in getattr(module, "METHODS", ())]
    return sorted(methods, key=lambda method: not method.ours)
