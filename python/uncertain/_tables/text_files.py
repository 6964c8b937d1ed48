"""Tables in text files, whose separator, comments and line of names are found in their first lines."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence

import polars as pl

from .._data.typing import Keywords
from ..exceptions import UncertainError
from .formats import Format, is_remote
from .paths import polars_source

MISSING = ("NA", "N/A", "NULL", "null", "nan", "NAN", "--")
"""Words that stand for a missing value in files of other tools; NaN is a number, and null to most readers."""

SEPARATORS = ("\t", ";", "|", ",")
"""In the order in which they are tried: commas may be in numbers and in text."""

HEAD = 100
"""Lines that are looked at."""


def scan_text(path: str, kind: Format) -> pl.LazyFrame:
    """The table in a text file; lines that begin with # are comments.

    The names may be in the last comment line, if it has a name for every value in the line below, which then
    holds more numbers. The separator is a comma, semicolon, tab or bar, whichever cuts all lines alike; in
    .txt and .dat files also blanks. Numbers may have decimal commas, if no comma separates.
    """
    tab = "\t" if kind.name == "tsv" else None
    if is_remote(path):
        return pl.scan_csv(path, separator=tab or ",", null_values=list(MISSING), comment_prefix="#")
    lines = _head(path)
    rows = [line for line in lines if line.strip() and not line.startswith("#")]
    if not rows:
        raise UncertainError(f"{path}: the file has no lines beside comments")
    separator = tab or separator_of(rows, blanks=kind.name == "text")
    names = _names_in_comment(lines, separator)
    options: Keywords = {
        "separator": separator or "\t",
        "has_header": names is None,
        "null_values": list(MISSING),
        "infer_schema_length": 10_000,
        "decimal_comma": separator != "," and _has_decimal_commas(rows, separator),
        "comment_prefix": "#",
    }
    if separator is None:
        frame = pl.read_csv(_cut_at_blanks(path), new_columns=names, **options)
        return frame.lazy()
    if kind.compressed:  # decompressed in memory; not all versions of Polars scan such files
        return pl.read_csv(polars_source(path), new_columns=names, **options).lazy()
    if names is not None:
        given = names
        options["with_column_names"] = lambda found: given
    return pl.scan_csv(polars_source(path), **options)


def separator_of(rows: Sequence[str], *, blanks: bool) -> str | None:
    """What separates the values of these lines; None for blanks, a comma if nothing does."""
    bare = [re.sub(r'"[^"]*"', "x", row) for row in rows]
    for separator in SEPARATORS:
        counts = {row.count(separator) for row in bare}
        if len(counts) == 1 and counts != {0}:
            return separator
    sizes = {len(row.split()) for row in bare}
    return None if blanks and len(sizes) == 1 and sizes != {1} else ","


def _head(path: str) -> list[str]:
    """The first lines, of a compressed file, too: Polars reads a table of one column."""
    lines = pl.read_csv(
        polars_source(path),
        separator="\x01",
        has_header=False,
        n_rows=HEAD,
        quote_char=None,
        infer_schema=False,
    )
    return [line.removeprefix("\ufeff") for line in lines.to_series().to_list() if line is not None]


def _names_in_comment(lines: Sequence[str], separator: str | None) -> list[str] | None:
    """Names in the last comment in front of the values, if the line below it has none."""
    first = next(k for k, line in enumerate(lines) if line.strip() and not line.startswith("#"))
    if first == 0 or not lines[first - 1].startswith("#"):
        return None
    names = [name.strip() for name in lines[first - 1].lstrip("#").strip().split(separator)]
    values = lines[first].strip().split(separator)
    numbers = [sum(map(_is_number, row)) for row in (names, values)]
    return names if len(names) == len(values) and numbers[0] < numbers[1] else None


def _has_decimal_commas(rows: Sequence[str], separator: str | None) -> bool:
    values = [value.strip() for row in rows for value in row.split(separator)]
    with_comma = any(re.fullmatch(r"[+-]?\d+,\d+", value) for value in values)
    return with_comma and not any(re.fullmatch(r"[+-]?\d*\.\d+", value) for value in values)


def _is_number(value: str) -> bool:
    try:
        float(value.replace(",", "."))
    except ValueError:
        return False
    return True


def _cut_at_blanks(path: str) -> io.BytesIO:
    """The file with one tab between values."""
    text = pl.read_csv(
        polars_source(path), separator="\x01", has_header=False, quote_char=None, infer_schema=False
    )
    lines = text.to_series()
    if lines.str.contains('"', literal=True).any():
        raise UncertainError(f"{path}: blanks separate the values, but some are in quotes; separate by tabs")
    kept = lines.str.strip_chars().str.replace_all(r"[ \t]+", "\t").drop_nulls()
    return io.BytesIO("\n".join(kept.to_list()).encode())
