"""Needs of a fit that sums over its rows do not meet.

A fit that is made of sums over its rows can be made wherever they are: in parts of memory, in a mapped file,
on other machines. An estimator says what else it needs, in one place (`_beyond_sums`), and a store of rows
refuses what it cannot give. The messages of `memory=` and of clusters, the notes of the leaderboard and the
tables of the guides follow from that.
"""

from collections.abc import Iterator
from enum import Enum
from typing import NamedTuple


class Need(Enum):
    """Access to its rows that a fit may need."""

    IN_PLACE = "the rows one after the other"
    COPIES = "several fits to copies of the rows"
    MEMORY = "all rows in memory"


class BeyondSums(NamedTuple):
    """A need for more than sums: why, and what to do without."""

    need: Need
    why: str
    instead: str


def beyond_sums(estimator: object) -> Iterator[BeyondSums]:
    """Needs of this estimator; a foreign learner may need every row."""
    stated = getattr(estimator, "_beyond_sums", None)
    if stated is not None:
        yield from stated()
        return
    yield BeyondSums(
        Need.MEMORY,
        f"{type(estimator).__name__} learns from rows in memory",
        "fit it to a sample of the rows",
    )
