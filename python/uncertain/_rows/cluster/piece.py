"""`Piece`: rows on a worker with what is known of them, as a process can send it to another.

Numbers travel as buffers beside the pickle. Where they are received they need not lie at addresses that are
multiples of eight, for which sums may take another path and differ in their last digit: such are copied. Dask
asks for the size of what it holds, which for an object of Rust would be some bytes.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from dask.sizeof import sizeof

from ..._data.array import GaussianArray
from ..._data.incomplete import GaussianRows, Incomplete, filled_gaussians
from ..._data.mixture_array import MixtureArray
from ..._data.typing import Array
from ..._uncertain import Part
from ...exceptions import UncertainError

KNOWN = ("codes", "targets", "variances", "weights", "folds")


class Piece:
    """A `Part` of the core that can be pickled."""

    def __init__(self, part: Part) -> None:
        self.part = part

    @classmethod
    def from_rows(cls, rows: GaussianRows, **known: Array) -> Piece:
        """Rows with what is known of them: `KNOWN`, where it is."""
        gaussians = filled_gaussians(rows)
        if isinstance(gaussians, MixtureArray):
            raise UncertainError(
                "rows that are mixtures of several Gaussians, as those from draws, are not taken on a "
                "cluster: uncertain.fit takes them, or make a column of one Gaussian for each row, "
                'X.collapse("gaussian").to_arrow(name)'
            )
        missing = rows.missing if isinstance(rows, Incomplete) else None
        return cls(Part(gaussians._core, missing=missing, **known))

    @property
    def rows(self) -> GaussianRows:
        """The rows."""
        return self.rows_named(None)

    def rows_named(self, names: Iterable[str] | None) -> GaussianRows:
        """The rows, their features with names."""
        gaussians = GaussianArray._from_core(self.part.rows)._named(names)
        missing = self.part.missing
        return gaussians if missing is None else Incomplete(gaussians, missing)

    def known(self) -> dict[str, Array]:
        """What is known of them."""
        return {name: v for name, v in zip(KNOWN, self.part.known(), strict=True) if v is not None}

    @property
    def nbytes(self) -> int:
        """Bytes of all numbers."""
        parts = self.part.rows.parts(stored=True)
        return sum(array.nbytes for array in (*parts.values(), *self.known().values()))

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuilt, (self.part.rows.parts(stored=True), self.part.missing, self.known())


def _rebuilt(parts: dict[str, Array], missing: Array | None, known: dict[str, Array]) -> Piece:
    aligned = {name: np.require(array, requirements=["C", "A"]) for name, array in parts.items()}
    rows = GaussianArray(**aligned)
    known = {name: np.require(array, requirements=["C", "A"]) for name, array in known.items()}
    return Piece(Part(rows._core, missing=missing, **known))


@sizeof.register(Piece)  # type: ignore[untyped-decorator]
def _piece_bytes(piece: Piece) -> int:
    return piece.nbytes
