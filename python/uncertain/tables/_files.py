"""Table files: reading and writing by ending, and list columns to and from scalar columns."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from ..exceptions import ColumnError, ParameterError, UncertainError
from ._choose import choose_columns

FORMATS = {".parquet": "parquet", ".csv": "csv", ".arrow": "ipc", ".ipc": "ipc", ".feather": "ipc"}


def read_table(path: Path) -> pl.DataFrame:
    """The file at `path`, read by the format that its ending names."""
    read = getattr(pl, f"read_{_format(path)}")
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}")
    try:
        frame: pl.DataFrame = read(path)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise UncertainError(f"{path}: not a readable {path.suffix[1:]} file ({error})") from error
    return frame


def write_table(frame: pl.DataFrame, path: Path) -> None:
    """Write in the format that the path's ending names."""
    kind = _format(path)
    nested = [n for n, t in frame.schema.items() if t.is_nested()]
    if kind == "csv" and nested:
        raise ColumnError(f"CSV has no lists, but column {nested[0]!r} is one; convert with --unpack")
    getattr(frame, f"write_{kind}")(path)


def pack_columns(frame: pl.DataFrame, target: str) -> pl.DataFrame:
    """Scalar features and their error columns as two fixed-size list columns, `mean` and `std`.

    Columns that are neither stay as they are, in front.
    """
    columns = choose_columns(frame.columns, target if target in frame.columns else None)
    if columns.mean is not None:
        raise ColumnError(f"the table already has a column {columns.mean!r} of lists")
    features, bars = list(columns.features), columns.bars()
    other = next((f for f in features if bars[f].kind != "std"), None)
    if other is not None or columns.corr or "cov" in columns.errors:
        what = f"the error bar of {other!r} ({bars[other]})" if other else "a correlation or covariance"
        raise ColumnError(
            f"{what} is no column of standard deviations, and a list of those is all that is packed"
        )
    packed = {"mean": features, "std": [bars[f].columns[0] for f in features]}
    used = {name for group in packed.values() for name in group}
    rest = [n for n in frame.columns if n not in used]
    clash = [n for n in packed if n in rest]
    if clash:
        raise ColumnError(
            f"the packed column {clash[0]!r} would replace one of the same name; rename it first"
        )
    return frame.select(
        *rest,
        *(
            pl.concat_arr([pl.col(n).cast(pl.Float64) for n in group]).alias(name)
            for name, group in packed.items()
        ),
    )


def unpack_columns(frame: pl.DataFrame) -> pl.DataFrame:
    """Every list column as scalar columns; `mean` and `std` become x0, x0_std, ... as `fit` reads them."""
    pieces: list[pl.Series] = []
    for column in frame.iter_columns():
        pieces += _scalars(column) if column.dtype.is_nested() else [column]
    names = [p.name for p in pieces]
    twice = [n for n in names if names.count(n) > 1]
    if twice:
        raise ColumnError(f"two columns would be called {twice[0]!r}; rename one first")
    return pl.DataFrame(pieces)


def _scalars(column: pl.Series) -> list[pl.Series]:
    lists = column
    while isinstance(lists.dtype, pl.Array) and len(lists.dtype.shape) > 1:
        lists = lists.reshape((len(lists), -1))
    if isinstance(lists.dtype, pl.Array):
        lists = lists.arr.to_list()
    if not isinstance(lists.dtype, pl.List) or lists.dtype.inner.is_nested():
        raise ColumnError(
            f"column {column.name!r} of type {column.dtype} cannot be unpacked; only lists of numbers can"
        )
    lengths = lists.list.len().unique()
    if len(lengths) != 1 or lengths[0] is None:
        raise ColumnError(
            f"column {column.name!r} cannot be unpacked: its lists have different lengths or are missing"
        )
    ending = {"mean": "", "std": "_std"}.get(column.name)
    return [
        lists.list.get(k).alias(f"{column.name}_{k}" if ending is None else f"x{k}{ending}")
        for k in range(int(lengths[0]))
    ]


def _format(path: Path) -> str:
    kind = FORMATS.get(path.suffix.lower())
    if kind is None:
        endings = ", ".join(FORMATS)
        raise ParameterError(f"{path}: unknown format {path.suffix!r}; the ending must be one of {endings}")
    return kind
