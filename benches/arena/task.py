"""`Task`: a table, where it comes from, and how it is split."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .table import Table

TRAIN, TEST = 3_000, 3_000
"""Rows of a split at most."""
PARTS = 3
"""A split tests one third of the groups, and trains with the others; splits test different thirds."""
FACTORS = (1.0, 2.0, 4.0, 8.0)
HALF = 0.5
"""Of test errors, where true values are known."""


@dataclass(frozen=True)
class Task:
    """One table, or two: one to train with, and one to test with."""

    name: str
    load: Callable[[Path], Table | tuple[Table, Table]]
    """From the folder of the data."""
    source: str
    licence: str
    columns: str
    """What they are, and what their error bars are."""
    published: str
    """What others have made of it; or that it was made here."""
    needs: tuple[str, ...] = ()
    """Files of the folder; none for tables that are made here or come with a package."""
    train: int = TRAIN
    test: int = TEST
    splits: int = 2
    large: bool = False
    """Only for methods that say that they can."""

    def missing(self, folder: Path) -> str:
        """Why it cannot be run; empty if it can."""
        absent = [name for name in self.needs if not (folder / name).exists()]
        return f"no {' and no '.join(absent)} in {folder}; original: {self.source}" if absent else ""

    def split(self, folder: Path, k: int, *, most: int | None = None) -> tuple[Table, Table]:
        """Rows to train with and to test with; groups stay whole."""
        tables = self.load(folder)
        train, test = tables if isinstance(tables, tuple) else (tables, tables)
        share = 1.0 if most is None else min(1.0, most / self.train)
        chosen = _some(train, k, int(self.train * share), held_out=False)
        held = _some(test, k, int(self.test * share), held_out=True)
        return train[chosen], test[held]


def _some(table: Table, k: int, most: int, *, held_out: bool) -> np.ndarray:
    """The rows of a split, whole groups in a random order that all splits share."""
    _, codes = np.unique(table.groups, return_inverse=True)
    place = np.random.default_rng(0).permutation(codes.max() + 1)[codes]
    mine = (place % PARTS == k) == held_out
    order = np.argsort(place, kind="stable")
    return np.sort(order[mine[order]][:most])


def all_tasks() -> list[Task]:
    """Of the files in `tasks`, the large ones last."""
    package = importlib.import_module("arena.tasks")
    names = sorted(module.name for module in pkgutil.iter_modules(package.__path__))
    modules = [importlib.import_module(f"arena.tasks.{name}") for name in names]
    tasks = [task for module in modules for task in module.TASKS]
    return sorted(tasks, key=lambda task: task.large)
