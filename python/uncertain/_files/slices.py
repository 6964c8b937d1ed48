"""Parquet and Arrow files as one query, opened in turn: a process may have few files open at once.

Types and numbers of rows come from the footers. Small files are read together by Polars, more rows or files
block by block.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import TypeVar

import polars as pl

from .._tables.frame import BatchSize, Frame
from .blocks import check_footer, has_checked_reader, read_blocks
from .damage import readable, require_room, unchanged
from .formats import file_format
from .scans import below, common_schema, scan_file

T = TypeVar("T")

MANY_ROWS = 1 << 18
"""More are read in blocks, also where all are asked for: a column at once takes three times its size."""
MANY_FILES = 16
"""More are read one after the other."""


@dataclass
class SlicedFiles:
    """Files whose rows are one table."""

    files: Sequence[str]
    where: str
    """What errors call them."""
    hive: bool
    _scans: dict[str, pl.LazyFrame] = field(default_factory=dict, init=False)
    """Those of few files; many would stay open."""

    def frame(self) -> Frame:
        """What a `Table` asks."""
        return Frame(
            "polars", self.schema.names(), lambda names: self.collect(names).get_columns(),
            lambda: self.schema.to_frame().get_columns(),
            head=lambda names: next(self.batches(names, BatchSize(1))).get_columns(),
            count=cache(self.count), stream=self.batches, origin=self.where,
        )  # fmt: skip

    @cached_property
    def schema(self) -> pl.Schema:
        """Names and types of all files together."""
        return common_schema((file, self._read(file, lambda: self._types(file))) for file in self.files)  # noqa: B023

    def count(self) -> int:
        """Number of rows."""
        return sum(
            int(self._read(file, self._scan(file).select(pl.len()).collect).item()) for file in self.files
        )

    def collect(self, names: Sequence[str] | None) -> pl.DataFrame:
        """These columns of all rows."""
        chosen = self.schema.names() if names is None else names
        n_rows = self.count()
        require_room(self.where, n_rows, pl.Schema({name: self.schema[name] for name in chosen}))
        is_checked = self._is_parquet and has_checked_reader(self.files[0])
        if is_checked or n_rows > MANY_ROWS or len(self.files) > MANY_FILES:
            blocks = list(self.batches(chosen, BatchSize(MANY_ROWS)))
            return pl.concat(blocks) if blocks else self.schema.to_frame().select(chosen)
        frames = [self._scan(file) for file in self.files]
        kind = file_format(self.files[0]).name
        return readable(self.where, kind, lambda: below(frames, chosen).collect())

    def batches(self, names: Sequence[str], size: BatchSize) -> Iterator[pl.DataFrame]:
        """These columns of one file after the other, in the types of all of them together."""
        types = {name: self.schema[name] for name in names}
        for file in self.files:
            with unchanged(file):
                scan = self._scan(file).select(names)
                blocks = self._read(file, lambda: read_blocks(file, scan, size, parquet=self._is_parquet))  # noqa: B023
                while (block := self._read(file, lambda: next(blocks, None))) is not None:  # noqa: B023
                    yield block if block.schema == types else block.cast(types)  # type: ignore[arg-type]

    def _types(self, file: str) -> pl.Schema:
        if self._is_parquet and has_checked_reader(file):
            check_footer(file)
        return self._scan(file).collect_schema()

    @property
    def _is_parquet(self) -> bool:
        return file_format(self.files[0]).name == "parquet"

    def _scan(self, file: str) -> pl.LazyFrame:
        if file not in self._scans:
            scan = self._read(file, lambda: scan_file(file, hive=self.hive).frame)
            if len(self.files) > MANY_FILES:
                return scan
            self._scans[file] = scan
        return self._scans[file]

    def _read(self, file: str, read: Callable[[], T]) -> T:
        return readable(file, file_format(file).name, read)
