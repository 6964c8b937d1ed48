"""Tables in text files, whose separator, comments and line of names are found in their first lines."""

from __future__ import annotations

import codecs
import csv
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, TypeAlias

import polars as pl

from .._columns.columns import listing
from .._columns.error_names import looks_like_error
from .._data.installed import installed
from .._data.typing import Keywords
from .._spill._budget import format_bytes
from ..exceptions import OutOfMemoryError, TableError, UncertainError
from .damage import free_bytes
from .formats import Format, is_remote
from .paths import polars_source

MISSING = ("NA", "N/A", "NULL", "null", "nan", "NAN", "--")
"""Words that stand for a missing value in files of other tools; NaN is a number, and null to most readers."""

SEPARATORS = ("\t", ";", "|", ",")
"""In the order in which they are tried: commas may be in numbers and in text."""

SIGNS = ("±", "+/-", "+-", "e")
"""Names of error columns that are no words."""

HEAD = 100
"""Lines that are looked at."""

FIRST_BYTES = 1 << 16
"""Those that are looked at for an encoding."""

Source: TypeAlias = str | bytes
"""The name of a file, or its text in UTF-8."""


@dataclass(frozen=True)
class Scan:
    """The rows of a file, and what was decided about its text."""

    frame: pl.LazyFrame
    units: dict[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def scan_text(path: str, kind: Format) -> Scan:
    """The table in a text file; lines that begin with # are comments.

    The names may be in the last comment line, if it has a name for every value in the line below, which then
    holds more numbers; units may be in the line below the names. The separator is a comma, semicolon, tab or
    bar, whichever cuts all lines alike; in .txt and .dat files also blanks. Numbers may have decimal commas,
    if no comma separates.
    """
    tab = "\t" if kind.name == "tsv" else None
    if is_remote(path):
        return Scan(pl.scan_csv(path, separator=tab or ",", null_values=list(MISSING), comment_prefix="#"))
    source, own_note = _as_utf8(path, kind)
    lines = _head(source)
    first = next((k for k, line in enumerate(lines) if line.strip() and not line.startswith("#")), 0)
    # VizieR has a blank line in front of the names, which Polars takes for them.
    blank_first = not all(map(str.strip, lines[:first]))
    lines = [line for line in lines if line.strip()]
    rows = [line for line in lines if not line.startswith("#")]
    if not rows:
        raise TableError(f"{path}: the file has no lines beside comments")
    separator = tab if any("\t" in row for row in rows) else None
    separator = separator or detect_separator(rows, blanks=kind.name == "text")
    names = _names_in_comment(lines, separator)
    has_header = names is None
    decimal_comma = separator != "," and _has_decimal_commas(rows, separator)
    below = NO_UNITS if names is not None else units_below_names(rows, separator)
    options: Keywords = {
        "separator": separator or "\t",
        "has_header": has_header,
        "null_values": list(MISSING),
        "infer_schema_length": 10_000,
        "decimal_comma": decimal_comma,
        "comment_prefix": "#",
        "skip_rows_after_header": below.n_lines,
    }
    notes = [note for note in (own_note, below.note) if note]
    if names is None and (owned := names_of_repeated(_cut(rows[0], separator))) is not None:
        names, repeated = owned
        notes.append(
            f"its columns {listing(repeated)} are called after those in front of them: {names[1]}, ..."
        )
    if decimal_comma:
        notes.append("its numbers have decimal commas: 1,5 was read as 1.5")
    if kind.compressed:
        _require_room_for_text(path, kind)
    if separator is None or below.is_padded:
        source = _lines(source, path, separator or "")
    elif blank_first:
        source = _lines(source, path)
    if kind.compressed or isinstance(source, bytes):
        # Decompressed in memory; not all versions of Polars scan such files.
        frame = pl.read_csv(source, new_columns=names, **options).lazy()
    else:
        if names is not None:
            new_names = names
            options["with_column_names"] = lambda _: new_names
        frame = pl.scan_csv(source, **options)
    return Scan(frame, below.units if installed("astropy") else {}, tuple(notes))


def names_of_repeated(names: Sequence[str]) -> tuple[list[str], list[str]] | None:
    """Names where one error column after each value is called the same (x, err, y, err): x_err, y_err; and
    the repeated names. None where nothing is repeated so."""
    repeated = [name for name in dict.fromkeys(names) if names.count(name) > 1 and _is_error(name)]
    owned: list[str] = []
    owner = ""
    for name in names:
        if name in repeated and owner:
            owned.append(f"{owner}_{'err' if name in SIGNS else name}")
        else:
            owned.append(name)
            owner = owner if name in repeated else name
    return (owned, repeated) if repeated and len({*owned}) == len(owned) else None


def _is_error(name: str) -> bool:
    return name in SIGNS or looks_like_error(name)


class LinesBelowNames(NamedTuple):
    """Lines between the names and the values."""

    n_lines: int = 0
    units: dict[str, str] = {}  # noqa: RUF012
    note: str = ""
    is_padded: bool = False
    """Is there a ruler of dashes, as wide as the values, which are filled up with blanks?"""


NO_UNITS = LinesBelowNames()

NOT_A_UNIT = {
    *(word.lower() for word in MISSING),
    *("none", "unknown", "missing", "inf", "-inf", "+inf", "true", "false", "?", "*", ".", "...", "-9999"),
}


def units_below_names(rows: Sequence[str], separator: str | None) -> LinesBelowNames:
    """Units in the second line, and a ruler of dashes below the names or the units (as VizieR writes them).

    A line of units has no number and no word for a missing value; columns of text have no unit, except above
    a ruler; and at least one column that has a unit is one of numbers in all lines that follow.
    """
    names, *lines = (_cut(row, separator) for row in rows)
    if lines and _is_ruler(lines[0]):
        return LinesBelowNames(1, is_padded=True)
    if len(lines) < 2 or len(lines[0]) != len(names):
        return NO_UNITS
    texts = [text.strip("[]() ") for text in lines[0]]
    has_ruler = _is_ruler(lines[1])
    values = [line for line in lines[1 + has_ruler :] if len(line) == len(names)]
    columns = list(zip(*values, strict=True)) if values else []
    numeric = [any(map(_is_number, column)) and all(map(_may_be_number, column)) for column in columns]
    units = {name: text for name, text in zip(names, texts, strict=True) if text.strip("-")}
    of_numbers = {name for name, is_numeric in zip(names, numeric, strict=False) if is_numeric}
    of_text = units.keys() - of_numbers
    are_units = not any(_is_number(text) or text.lower() in NOT_A_UNIT for text in units.values())
    if not (are_units and units.keys() & of_numbers and (has_ruler or not of_text)):
        return NO_UNITS
    units = {name: unit for name, unit in units.items() if name in of_numbers}
    listed = listing([f"{name} in {unit}" for name, unit in units.items()], 4)
    note = f"its second line was read as units: {listed}"
    return LinesBelowNames(1 + has_ruler, units, note, has_ruler)


def _cut(row: str, separator: str | None) -> list[str]:
    """The values of a line."""
    if separator is None:
        return row.split()
    return [value.strip() for value in next(csv.reader([row], delimiter=separator))]


def _is_ruler(values: Sequence[str]) -> bool:
    return all(len(value) > 2 and not value.strip("-") for value in values)


def _may_be_number(value: str) -> bool:
    return not value or value in MISSING or _is_number(value)


def _require_room_for_text(path: str, kind: Format) -> None:
    """OutOfMemoryError if what gzip says of its content does not fit into memory twice."""
    size, free = Path(path).stat().st_size, free_bytes()
    if kind.compressed == ".gz" and size >= 4 and free is not None:
        with open(path, "rb") as file:
            file.seek(-4, os.SEEK_END)
            unpacked = int.from_bytes(file.read(4), "little")
        if 2 * unpacked > free:
            raise OutOfMemoryError(
                f"{path}: unpacks to {format_bytes(unpacked)}, reading takes {format_bytes(2 * unpacked)}, "
                f"and {format_bytes(free)} are free: unpack it to a file first"
            )


def detect_separator(rows: Sequence[str], *, blanks: bool) -> str | None:
    """What separates the values of these lines; None for blanks, a comma if nothing does."""
    bare = [re.sub(r'"[^"]*"', "x", row) for row in rows]
    for separator in SEPARATORS:
        counts = {row.count(separator) for row in bare}
        if len(counts) == 1 and counts != {0}:
            return separator
    sizes = {len(row.split()) for row in bare}
    return None if blanks and len(sizes) == 1 and sizes != {1} else ","


def _as_utf8(path: str, kind: Format) -> tuple[Source, str]:
    """What Polars reads as this file, which knows UTF-8 alone: the file itself, or its text, and a note.

    A byte order mark says that a text is UTF-16, as spreadsheets write "Unicode text"; other text whose first
    lines are no UTF-8 is that of Windows.
    """
    if kind.compressed:
        return polars_source(path), ""
    with open(path, "rb") as file:
        start = file.read(FIRST_BYTES)
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encoding = "utf-16"
    elif _is_utf8(start):
        return polars_source(path), ""
    else:
        encoding = "cp1252"
    text = Path(path).read_bytes().decode(encoding, "replace")
    return text.encode(), f"its text is no UTF-8: read as {encoding}"


def _is_utf8(start: bytes) -> bool:
    """May it be the beginning of a text in UTF-8? Its last letter may be cut off."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(start)
    except UnicodeDecodeError:
        return False
    return True


def _head(source: Source) -> list[str]:
    """The first lines, blank ones too, of a compressed file, too: Polars reads a table of one column."""
    for most in (HEAD, 100 * HEAD):  # archives write long comments
        read = pl.read_csv(
            source,
            separator="\x01",
            has_header=False,
            n_rows=most,
            quote_char=None,
            infer_schema=False,
        )
        lines = [(line or "").removeprefix("\ufeff") for line in read.to_series().to_list()]
        if sum(bool(line.strip()) and not line.startswith("#") for line in lines) > 1:
            break
    return lines


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


def _lines(source: Source, path: str, separator: str | None = None) -> bytes:
    """The file without blank lines, and without blanks beside separators; where these are blanks themselves
    ("") with one tab between values."""
    text = pl.read_csv(source, separator="\x01", has_header=False, quote_char=None, infer_schema=False)
    lines = text.to_series().drop_nulls()
    if separator == "":
        if lines.str.contains('"', literal=True).any():
            raise UncertainError(
                f"{path}: blanks separate the values, but some are in quotes; separate by tabs"
            )
        lines = lines.str.strip_chars().str.replace_all(r"[ \t]+", "\t")
    elif separator is not None:
        lines = lines.str.strip_chars(" ").str.replace_all(rf" *({re.escape(separator)}) *", "${1}")
    return "\n".join(lines.filter(lines.str.contains(r"\S")).to_list()).encode()
