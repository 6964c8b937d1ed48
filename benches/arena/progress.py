"""Cells that a run has measured, one line each, so that a run that was interrupted goes on where it stopped.

A line belongs to a task, a method, a split and a number of rows; of equal ones the last counts. To measure a
method again, delete its lines.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

from .run import Cell


class Progress:
    """What the cells found, those of earlier runs in the file included, and the seconds of all runs."""

    def __init__(self, path: Path | None, most: int | None) -> None:
        self.path, self.most = path, most
        text = path.read_text(encoding="utf-8") if path is not None and path.exists() else ""
        lines = [one for line in text.splitlines() if (one := _read(line))]
        self.known = {tuple(line["cell"]): line["found"] for line in lines}
        self.start = time.monotonic() - max((line["at"] for line in lines), default=0.0)

    def seconds(self) -> float:
        """Since the first run began, without the time between runs."""
        return time.monotonic() - self.start

    def found(self, cell: Cell) -> dict[str, Any] | None:
        """Of this run or an earlier one."""
        return self.known.get(self._key(cell))

    def keep(self, cell: Cell, found: dict[str, Any]) -> None:
        """One more, also in the file."""
        self.known[self._key(cell)] = found
        if self.path is not None:
            line = {"cell": self._key(cell), "at": round(self.seconds(), 1), "found": found}
            with self.path.open("a", encoding="utf-8") as file:
                file.write("\n" + json.dumps(line))  # the line before may be cut off

    def _key(self, cell: Cell) -> tuple[Any, ...]:
        return cell.task.name, cell.method.name, cell.split, self.most


def _read(line: str) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads(line)
    except json.JSONDecodeError:  # the run was stopped while it wrote
        return {}
    return found
