"""Arrow columns that say they are rows with error bars and are not, and text of archives with damage in it.

Generators made some 2,500 inputs; what they found is named here, and a few inputs of archives are made anew.
"""

from __future__ import annotations

import random
from pathlib import Path

import pyarrow as pa
import pytest
from catalogues import open_files
from test_table_files import ARCHIVES

import uncertain
from uncertain.exceptions import UncertainError

NUMBERS = [float(k % 7) + 3.0 * (k % 2) for k in range(30)]
NAME, META = b"ARROW:extension:name", b"ARROW:extension:metadata"


def table(storage: pa.Array, name: bytes = b"uncertain.gaussian", metadata: bytes = b"{}") -> pa.Table:
    labels = pa.array([("a", "b")[k % 2] for k in range(30)])
    field = pa.field("x", storage.type, metadata={NAME: name, META: metadata})
    return pa.Table.from_arrays([storage, labels], schema=pa.schema([field, ("label", pa.string())]))


def structs(**fields: pa.Array) -> pa.StructArray:
    return pa.StructArray.from_arrays([*fields.values()], names=[*fields])


def test_structs_without_a_mean() -> None:
    numbers = pa.array(NUMBERS)
    for name in (b"uncertain.gaussian", b"uncertain.mixture"):
        with pytest.raises(UncertainError, match=r"x: .* with a field mean, not of \['std'\]"):
            uncertain.fit(table(structs(std=numbers), name), "label", method="gsu")


def test_structs_with_a_name_twice() -> None:
    numbers = pa.array(NUMBERS)
    twice = pa.StructArray.from_arrays([numbers, numbers, numbers], names=["mean", "std", "std"])
    with pytest.raises(UncertainError, match=r"x: a column of type struct.*cannot be read"):
        uncertain.fit(table(twice), "label", method="gsu")


def test_metadata_that_is_no_text() -> None:
    rows = structs(mean=pa.array(NUMBERS), std=pa.array([0.1] * 30))
    for metadata in (b"\xff\xfe", b"", b"{", b"[]", b'{"names": 3}'):
        try:
            model = uncertain.fit(table(rows, metadata=metadata), "label", method="gsu")
        except UncertainError:
            continue
        assert model.feature_names_ == ["x"]


def test_mixtures_of_a_fixed_number_of_components() -> None:
    two = [x for value in NUMBERS for x in (value, value + 1.0)]
    fixed = {"weight": [0.5] * 60, "mean": two, "std": [0.2] * 60}
    arrays = {f: pa.FixedSizeListArray.from_arrays(pa.array(own), 2) for f, own in fixed.items()}
    lists = {f: own.cast(pa.list_(pa.float64())) for f, own in arrays.items()}
    expected = uncertain.fit(table(structs(**lists), b"uncertain.mixture"), "label", method="gsu")
    for mixed in (arrays, lists | {"weight": arrays["weight"]}):
        given = table(structs(**mixed), b"uncertain.mixture")
        model = uncertain.fit(given, "label", method="gsu")
        assert model.predict(given).to_pylist() == expected.predict(given).to_pylist()
    single = {"weight": pa.array([1.0] * 30), "mean": pa.array(NUMBERS), "std": pa.array([0.1] * 30)}
    with pytest.raises(UncertainError, match=r"x: weight of a mixture is a list"):
        uncertain.fit(table(structs(**single), b"uncertain.mixture"), "label", method="gsu")


ODD = (
    "1-999999999999",
    "9-3",
    "-5",
    "F99999999.3",
    "A0",
    "|||||",
    "\x00",
    "\u202e",
    "\r",
    "1e400",
    "9" * 400,
    "=" * 80,
)


def damaged(text: str, rng: random.Random) -> bytes:
    """A byte flipped, the end lost, a line gone, twice or moved, or something odd in a line."""
    lines = text.splitlines(keepends=True)
    at, kind = rng.randrange(len(lines)), rng.choice(("flip", "cut", "gone", "twice", "moved", "odd", "odd"))
    if kind == "flip":
        data = bytearray(text.encode())
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        return bytes(data)
    if kind == "cut":
        return text.encode()[: rng.randrange(len(text))]
    if kind == "odd":
        place = rng.randrange(len(lines[at]))
        lines[at] = lines[at][:place] + rng.choice(ODD) + lines[at][place + rng.randrange(4) :]
    else:
        moved = lines[at] if kind == "twice" else lines.pop(at)
        lines[rng.randrange(len(lines)) : 0] = [] if kind == "gone" else [moved]
    return "".join(lines).encode()


@pytest.mark.parametrize("name", ARCHIVES)
def test_damaged_text_of_archives_is_a_table_or_refused(name: str, tmp_path: Path) -> None:
    rng = random.Random(0)
    for _ in range(40):
        (tmp_path / name).write_bytes(damaged(ARCHIVES[name], rng))
        try:
            found = open_files(tmp_path / name)
            found.load(found.names)
        except UncertainError as error:
            assert name in str(error)
