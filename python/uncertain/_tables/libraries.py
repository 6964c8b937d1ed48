"""Tables of the libraries: opened without a copy, and without importing a library for a foreign table.

Frames of Polars, pandas and pyarrow, dicts of columns, structured arrays and astropy's tables are in memory
and are read column by column, without a copy where the memory is as Polars has it. Lazy frames, what pyarrow
reads in batches, and whatever else narwhals knows (DuckDB, Ibis, Spark, ...) are queries: collected late,
with the columns that are used. Nothing of the caller's is rechunked or written into.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import polars as pl

from .._data.array import GaussianArray
from .._data.installed import installed
from .._data.typing import ColumnType, Keywords, NativeColumn, NativeTable
from .._data.units import Unit
from ..exceptions import ColumnError, ParameterError, ShapeError
from .answers import Kind
from .frame import FIRST, BatchSize, Frame
from .series import column_unit, series_from_batches, to_series


def open_frame(X: object) -> Frame | None:
    """Open a table of any library; None for arrays, lists, single columns and all else."""
    for module, name, opener in LIBRARIES:
        if _is(X, module, name):
            return opener(X)
    if isinstance(X, np.ndarray):
        return None if X.dtype.names is None else _structured(X)
    if isinstance(X, Mapping):
        return _mapping(X) if X and all(isinstance(name, str) for name in X) else None
    if X is None or isinstance(X, (type, str, bytes, list, tuple, GaussianArray)):
        return None
    if any(_is(X, module, name) for module, name in COLUMNS):
        return None
    frame = _by_narwhals(X)
    return _stream(X) if frame is None and hasattr(X, "__arrow_c_stream__") else frame


# -- in memory


def in_memory(
    kind: Kind, table: NativeTable, columns: Sequence[tuple[str, NativeColumn]], count: Callable[[], int],
    **more: Any,
) -> Frame:  # fmt: skip
    """Open a table whose columns are there."""
    by_name = dict(columns)

    def first(name: str, column: NativeColumn) -> pl.Series:
        if hasattr(column, "iloc"):
            plain = getattr(column.dtype, "kind", "O") in "fiub" and isinstance(column.dtype, np.dtype)
            column = column.to_numpy()[:FIRST] if plain else column.iloc[:FIRST]
        try:
            return to_series(column[:FIRST], name)
        except (ColumnError, TypeError):  # refused if it is asked for
            return pl.Series(name, [], pl.Object)

    return Frame(
        kind,
        [name for name, _ in columns],
        lambda names: [to_series(by_name[name], name) for name in names],
        cache(lambda: [first(name, column) for name, column in columns]),
        head=lambda names: [first(name, by_name[name]) for name in names],
        column=by_name.__getitem__,
        whole=lambda: table,
        count=count,
        **more,
    )


def of_polars(frame: pl.DataFrame) -> Frame:
    """Open a frame of Polars, column by column: asked for all at once it would rechunk itself."""
    columns = {column.name: column for column in frame.get_columns()}

    def read(names: Sequence[str]) -> list[pl.Series]:
        return [columns[name] for name in names]

    loaded = [*columns.values()]
    return Frame(
        "polars", [*columns], read, lambda: loaded, loaded, read,
        whole=lambda: frame, count=lambda: frame.height,
    )  # fmt: skip


def _pandas(X: NativeTable) -> Frame:
    """Join the names of a column index of several levels by "_"."""
    return in_memory("pandas", X, [(_joined(label), column) for label, column in X.items()], lambda: len(X))


def _joined(label: object) -> str:
    """Return the name of a pandas column: the parts of a tuple that are not empty, joined by "_"."""
    parts = label if isinstance(label, tuple) else (label,)
    return "_".join(str(part) for part in parts if part is not None and part != "")


def _arrow(X: NativeTable) -> Frame:
    places = {name: place for place, name in enumerate(X.schema.names)}

    def read(names: Sequence[str], table: NativeTable = X) -> list[pl.Series]:
        return series_from_batches(table.select([places[name] for name in names]))

    def head(names: Sequence[str]) -> list[pl.Series]:
        return read(names, X.slice(0, FIRST))

    names = list(X.schema.names)
    return Frame(
        "pyarrow", names, read, cache(lambda: series_from_batches(X.slice(0, FIRST))), head=head,
        whole=lambda: X, count=lambda: X.num_rows,
    )  # fmt: skip


def _structured(X: NativeTable) -> Frame:
    if X.ndim != 1:
        raise ShapeError(f"a structured array of one dimension is a table, got shape {X.shape}")
    return in_memory("numpy", X, [(name, X[name]) for name in X.dtype.names], lambda: len(X))


def _mapping(X: Mapping[str, NativeColumn]) -> Frame:
    names = [*X]
    single = [name for name in names if isinstance(X[name], (str, bytes)) or not hasattr(X[name], "__len__")]
    if single and len(single) == len(names):  # one row
        X = {name: [X[name]] for name in names}
    elif single:
        raise ColumnError(
            f"column {single[0]!r} is {X[single[0]]!r}: a column has one value per row; a table of one row "
            f"is {{{single[0]!r}: [{X[single[0]]!r}], ...}}"
        )
    table = X

    def count() -> int:
        sizes = {name: len(values) for name, values in table.items()}
        other = next((name for name in names if sizes[name] != sizes[names[0]]), None)
        if other is not None:
            raise ShapeError(
                f"columns of one length make a table, but {names[0]!r} has {sizes[names[0]]} values and "
                f"{other!r} {sizes[other]}"
            )
        return sizes[names[0]]

    return _arrays("dict", table, table, count)


def of_astropy(X: NativeTable) -> Frame:
    """Open a table of astropy, whose columns are cleaned as those of a FITS file are."""
    from .astropy import split_arms, strip_text

    native = strip_text(X.copy(copy_data=False))
    note = split_arms(native)
    columns = {name: native[name] for name in native.colnames}
    return _arrays("astropy", X, columns, lambda: len(X), notes=(note,) if note else ())


def _fits(X: NativeTable) -> Frame:
    from .astropy import read_hdu

    table, notes = read_hdu(X)
    frame = of_astropy(table)
    return replace(frame, notes=(*notes, *frame.notes))


def _arrays(
    kind: Kind, table: NativeTable, columns: Mapping[str, NativeColumn], count: Callable[[], int], **more: Any
) -> Frame:
    """Open columns that may have units; samples of astropy's distributions are draws of each row's."""
    flat: dict[str, NativeColumn] = {}
    types: dict[str, ColumnType] = {}
    for name, column in columns.items():
        if not _is(column, "astropy.uncertainty", "Distribution"):
            flat[name] = column
        elif column.ndim > 2:
            raise ColumnError(f"{name}: a Distribution of shape {column.shape} has more than two dimensions")
        else:  # several features that were drawn together are columns of their own
            parts = {name: column} if column.ndim == 1 else {
                f"{name}{j}": column[:, j] for j in range(column.shape[1])
            }  # fmt: skip
            flat |= {part: np.ascontiguousarray(samples.distribution) for part, samples in parts.items()}
            types |= dict.fromkeys(parts, "distribution")

    def units() -> dict[str, Unit]:
        given = {name: column_unit(columns.get(name, column)) for name, column in flat.items()}
        return {name: unit for name, unit in given.items() if unit is not None}

    return in_memory(kind, table, [*flat.items()], count, units=units, types=types, **more)


# -- queries


def lazy_frame(frame: pl.LazyFrame, **more: Any) -> Frame:
    """Open a lazy frame of Polars."""

    def stream(names: Sequence[str], size: BatchSize) -> Iterator[pl.DataFrame]:
        blocks = frame.select(names).collect_batches(chunk_size=size.rows, maintain_order=True)
        return (block for block in blocks if block.height)

    schema = frame.collect_schema()
    options: Keywords = {"stream": stream if hasattr(frame, "collect_batches") else None} | more
    return Frame(
        "polars",
        schema.names(),
        lambda names: frame.select(names).collect().get_columns(),
        lambda: schema.to_frame().get_columns(),
        head=lambda names: frame.select(names).head(FIRST).collect().get_columns(),
        **options,
    )


def _batches(X: NativeTable) -> Frame:
    """Open a Dataset, a Scanner or a RecordBatchReader of pyarrow; the latter can be read once."""
    once, selects = hasattr(X, "read_all"), hasattr(X, "scanner")
    schema = X.projected_schema if hasattr(X, "projected_schema") else X.schema

    def batches(names: Sequence[str], **options: int) -> Any:
        if selects:
            return X.scanner(list(names), **options).to_batches()
        return X if once else X.to_batches()

    def read(names: Sequence[str]) -> list[pl.Series]:
        import pyarrow

        parts = [batch.select(names) for batch in batches(names)]
        kinds = pyarrow.schema([schema.field(name) for name in names])
        return series_from_batches(pyarrow.Table.from_batches(parts, kinds))

    def stream(names: Sequence[str], size: BatchSize) -> Iterator[pl.DataFrame]:
        # pyarrow's default reads 16 batches ahead, which need the memory.
        options = {"batch_size": size.rows, "batch_readahead": 1, "fragment_readahead": 1}
        for batch in batches(names, **(options if selects else {})):
            if batch.num_rows:
                yield pl.DataFrame(series_from_batches(batch.select(names)))

    def head(names: Sequence[str]) -> list[pl.Series]:
        return series_from_batches(X.head(FIRST, columns=list(names)))

    return Frame(
        "pyarrow", schema.names, read, lambda: series_from_batches(schema.empty_table()),
        head=head if selects else None, count=X.count_rows if selects else lambda: None, stream=stream,
    )  # fmt: skip


def _by_narwhals(X: Any) -> Frame | None:
    """Open what narwhals knows, or wraps: answers are wrapped again by the interface of narwhals that did."""
    import narwhals.stable.v2 as nw

    frame = nw.from_native(X, pass_through=True)
    if not isinstance(frame, (nw.DataFrame, nw.LazyFrame)):
        return None
    if type(X).__module__.partition(".")[0] != "narwhals":
        return _arrow(frame.to_arrow()) if isinstance(frame, nw.DataFrame) else _query(frame)
    inner = open_frame(X.to_native())
    wrap = getattr(sys.modules[type(X).__module__], "from_native", sys.modules["narwhals"].from_native)
    return None if inner is None else replace(inner, wrap=wrap)


def _query(query: Any) -> Frame:
    """Open a lazy frame of narwhals: a relation of DuckDB, a query of Ibis, Spark and others."""

    def collect(part: Any) -> pl.DataFrame:
        native = part.to_native()
        streams = hasattr(native, "__arrow_c_stream__")
        return pl.DataFrame(native if streams else part.collect("polars").to_native())

    def stream(names: Sequence[str], size: BatchSize) -> Iterator[pl.DataFrame]:
        relation = query.select(list(names)).to_native()
        reader = getattr(relation, "to_arrow_reader", None) or relation.fetch_arrow_reader  # before 1.4
        return (pl.DataFrame(series_from_batches(batch)) for batch in reader(size.rows) if batch.num_rows)

    streams = _is(query.to_native(), "duckdb", "DuckDBPyRelation") and installed("pyarrow")
    return Frame(
        "pyarrow" if installed("pyarrow") else "polars",
        query.collect_schema().names(),
        lambda names: collect(query.select(list(names))).get_columns(),
        lambda: collect(query.head(0)).get_columns(),
        head=lambda names: collect(query.select(list(names)).head(FIRST)).get_columns(),
        stream=stream if streams else None,
    )


def _stream(X: Any) -> Frame:
    """Read a stream of record batches of another library, which may come only once."""
    try:
        frame = pl.DataFrame(X)
    except MemoryError:
        raise
    except Exception as error:
        words = str(error).partition(". Detail: ")[0]  # where pyarrow begins to quote a traceback
        raise ParameterError(
            f"{type(X).__module__}.{type(X).__name__} could not be read through __arrow_c_stream__ "
            f"({type(error).__name__}: {words}). Pass a table of Polars, pandas or pyarrow"
        ) from error
    opened = of_polars(frame)
    return replace(opened, kind="pyarrow", whole=frame.to_arrow) if installed("pyarrow") else opened


def _is(X: object, module: str, name: str) -> bool:
    cls = getattr(sys.modules.get(module), name, None)
    return cls is not None and isinstance(X, cls)


LIBRARIES: tuple[tuple[str, str, Callable[[Any], Frame]], ...] = (
    ("polars", "DataFrame", of_polars),
    ("polars", "LazyFrame", lazy_frame),
    ("pandas", "DataFrame", _pandas),
    ("pyarrow", "Table", _arrow),
    ("pyarrow", "RecordBatch", _arrow),
    ("pyarrow", "RecordBatchReader", _batches),
    ("pyarrow.dataset", "Dataset", _batches),
    ("pyarrow.dataset", "Scanner", _batches),
    ("astropy.table", "Table", of_astropy),
    *(("astropy.io.fits", name, _fits) for name in ("HDUList", "BinTableHDU", "TableHDU", "FITS_rec")),
)
"""Classes that need no narwhals, by the modules that have them, if these are loaded; and what opens them."""
COLUMNS = (("polars", "Series"), ("pandas", "Series"), ("pyarrow", "ChunkedArray"))
"""Single columns, which are streams without names."""
