"""What a fit keeps beside each row, in files: copies of targets and weights, scores, what a solver has of it.

The core and NumPy take their large blocks from an allocator that maps files, as long as a fit keeps within
``memory=``; so no estimator has to know, and none can forget it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .._uncertain import Spilling
from ._folder import ask_for_space


@contextmanager
def in_files(folder: Path, needed: int) -> Iterator[None]:
    """Meanwhile, large arrays are files in a folder; UncertainError if the disk has not what they need."""
    if not Spilling.works():
        yield
        return
    ask_for_space(folder, needed)
    spilling = Spilling(folder)
    try:
        yield
    finally:
        spilling.close()
