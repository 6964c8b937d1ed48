"""All methods on all tasks, each fit in a process of its own: what fails, or takes too long, is one cell.

Every fit has one thread. Where a machine has more cores, that many processes run at a time.
"""

from __future__ import annotations

import multiprocessing
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, NamedTuple

from .cell import measured
from .method import Method
from .task import Task


class Cell(NamedTuple):
    """What is to be done."""

    task: Task
    method: Method
    split: int


def cells(tasks: Iterable[Task], methods: list[Method], splits: int) -> Iterator[Cell]:
    """Task by task."""
    for task in tasks:
        for k in range(min(splits, task.splits)):
            yield from (Cell(task, method, k) for method in methods)


def run(
    todo: Iterable[Cell], folder: Path, *, most: int | None, jobs: int, limit: float,
    keep: Callable[[Cell, dict[str, Any]], None],
) -> None:  # fmt: skip
    """Every cell, so many at a time; `keep` hears of each."""
    context = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
    waiting, running = iter(todo), {}
    while True:
        while len(running) < jobs and (cell := next(waiting, None)) is not None:
            ours, theirs = context.Pipe(duplex=False)
            process = context.Process(target=_one, args=(theirs, cell, folder, most))
            process.start()
            theirs.close()
            running[ours] = (cell, process, time.monotonic())
        if not running:
            return
        for ready in wait(list(running), timeout=1.0):
            assert isinstance(ready, Connection)
            cell, process, _ = running.pop(ready)
            try:
                found = ready.recv()
            except EOFError:
                found = {"failed": "the process ended"}
            process.join()
            keep(cell, found)
        for pipe, (cell, process, start) in list(running.items()):
            if time.monotonic() - start > limit:
                process.kill()
                process.join()
                del running[pipe]
                keep(cell, {"failed": f"more than {limit:g} s"})


def _one(pipe: Connection, cell: Cell, folder: Path, most: int | None) -> None:
    try:
        found = measured(cell.task, cell.method, cell.split, folder, most)
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        found = {
            "failed": f"{type(error).__name__}: {error} ({Path(where.filename).name}:{where.lineno})"[:300]
        }
    pipe.send(found)
