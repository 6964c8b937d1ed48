"""Hostile files: trees of folders, links and loops beside a walk of its own, Arrow columns that say they are
rows with error bars and are not, damaged text and files. Generators made some 2,500 inputs; what they found
is named here."""

import os
import random
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import children
import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from catalogues import open_files, read_table, write_table
from polars.testing import assert_frame_equal
from test_table_files import ARCHIVES

import uncertain
from uncertain.exceptions import TableError, UncertainError, UncertainWarning

NAMES = (
    "[ab]", "x*y", "x?y", "**", "***", "[!a]", "[z-a]", "[[]", "[", "]", "{a,b}", "~", "~root", "$HOME",
    "%20",
    "a b", " a", "a ", "a\nb", "a\tb", "a#b", "a?b=c", "a:b", "file:x", "-", "--help", "é", "\u202e", "a\\b",
    "'", '"', "k=v", "a&b", "a;b", "CON", "0" * 240,
)  # fmt: skip
"""Names (without ending) that mean something to shells, readers or systems."""
FORMATS = ("parquet", "ipc", "csv", "ndjson", "json", "fits", "csv.gz", "ecsv")
DECOYS = ("a", "b", "xzy", "xy", "x", "z")


def table(labels: str, n: int = 8) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "x": [float(k) + 5.0 * (k % 2) for k in range(n)],
            "x_err": [0.1 + 0.01 * k for k in range(n)],
            "label": [labels[k % 2] for k in range(n)],
        }
    )


def write(frame: pl.DataFrame, path: Path) -> None:
    """Under another name first, which no library misreads."""
    plain = path.parent / f"plain{'.csv.gz' if path.name.endswith('.csv.gz') else path.suffix}"
    write_table(frame, plain)
    os.replace(plain, path)


@pytest.mark.parametrize("ending", FORMATS)
def test_a_file_that_exists_is_the_one_that_is_read(
    ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    wanted, other = table("pq"), table("st")
    for decoy in DECOYS:
        write(other, tmp_path / f"{decoy}.{ending}")
    for name in NAMES:
        path = tmp_path / f"{name}.{ending}"
        write(wanted, path)
        for asked in (path.name, path, [path.name]):
            assert_frame_equal(read_table(asked), wanted)
        path.unlink()
    path = tmp_path / f"[ab].{ending}"
    write(wanted, path)
    model = uncertain.fit(path.name, method="gsu")
    assert list(model.classes_) == ["p", "q"]
    assert model.predict(path.name).to_list() == model.predict(wanted).to_list()


@pytest.mark.parametrize("ending", ["parquet", "ipc"])
def test_by_passes_too(ending: str, tmp_path: Path) -> None:
    write(table("st", 64), tmp_path / f"a.{ending}")
    for name in ("[ab]", "x*y"):
        path = tmp_path / f"{name}.{ending}"
        write(table("pq", 64), path)
        assert list(uncertain.fit(path, method="gsu", memory="200MB").classes_) == ["p", "q"]


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere names are UTF-8")
@pytest.mark.parametrize("ending", FORMATS)
def test_names_that_are_no_utf8(ending: str, tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"caf\xe9\xff." + ending.encode())
    write(table("pq"), path)
    if ending in ("fits", "ecsv", "json"):
        assert list(uncertain.fit(path, method="gsu").classes_) == ["p", "q"]
        return
    for asked in (path, tmp_path, f"{tmp_path}/*"):
        with pytest.raises(UncertainError, match=r"caf\\xe9\\xff.*are no UTF-8: rename the file") as caught:
            uncertain.fit(asked, method="gsu")
        str(caught.value).encode()  # may be printed


def test_a_pattern_is_one_only_where_no_file_has_the_name(tmp_path: Path) -> None:
    write(table("st"), tmp_path / "a.parquet")
    write(table("uv"), tmp_path / "b.parquet")
    pattern = str(tmp_path / "[ab].parquet")
    assert len(uncertain.fit(pattern, method="gsu").classes_) == 4
    write(table("pq"), Path(pattern))
    assert list(uncertain.fit(pattern, method="gsu").classes_) == ["p", "q"]


def test_folders_of_strange_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(table("st"), tmp_path / "a.parquet")
    for name in NAMES[:-1]:
        (tmp_path / name).mkdir()
        write(table("pq"), tmp_path / name / "t.parquet")
        assert_frame_equal(read_table(f"{name}/t.parquet"), table("pq"))
        assert_frame_equal(read_table(name)[:, :3], table("pq"))  # k=v is a column of its own
    for name in ("k=[ab]", "k=["):
        folder = tmp_path / "hive" / name
        folder.mkdir(parents=True)
        write(table("pq"), folder / "t.parquet")
    assert read_table(tmp_path / "hive")["k"].unique().sort().to_list() == ["[", "[ab]"]


# Links


def rows_read(asked: Any) -> list[int]:
    return sorted(read_table(asked)["row"].to_list())


def a_tree(root: Path, seed: int) -> None:
    """Folders, files, hard links, links to files and to folders in and above the tree, and loops."""
    rng = random.Random(seed)
    folders, files = [root], []
    for k in range(rng.randint(2, 12)):
        parent = rng.choice(folders)
        name = rng.choice(["a", "b", "[c]", "d*", "e e"]) + str(k)
        kind = rng.choice(["folder", "file", "file", "up", "self", "loop", "link", "same"])
        if kind == "folder":
            (parent / name).mkdir()
            folders.append(parent / name)
        elif kind == "file" or not files:
            pl.DataFrame({"row": [k]}).write_parquet(parent / f"{name}.parquet")
            files.append(parent / f"{name}.parquet")
        elif kind == "link":
            (parent / f"{name}.parquet").symlink_to(rng.choice(files))
        elif kind == "same":
            os.link(rng.choice(files), parent / f"{name}.parquet")
        else:
            goal = {"up": "..", "self": ".", "loop": rng.choice(folders)}[kind]
            (parent / name).symlink_to(goal, target_is_directory=True)


def rows_below(folder: Path) -> Iterator[int]:
    """Each file once, no links to folders."""
    seen = set()
    for entry in sorted(folder.rglob("*.parquet")):
        entered = any(parent.is_symlink() for parent in entry.parents if folder in parent.parents)
        if entry.is_file() and not entered and entry.resolve() not in seen:
            seen.add(entry.resolve())
            yield from pl.read_parquet(entry.read_bytes())["row"]


@pytest.mark.parametrize("seed", range(40))
def test_links_bring_no_row_twice(seed: int, tmp_path: Path) -> None:
    root = tmp_path / "tree"
    root.mkdir()
    a_tree(root, seed)
    expected = sorted(rows_below(root))
    if not expected:
        with pytest.raises(FileNotFoundError):
            rows_read(root)
        return
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # every link leads to a place that is read anyway
        for asked in (root, f"{root}/**", f"{root}/**/*.parquet"):
            assert rows_read(asked) == expected


def test_loops_end(tmp_path: Path) -> None:
    for name in ("self", "again"):
        (tmp_path / name).symlink_to(".")
    pl.DataFrame({"row": range(40)}).write_parquet(tmp_path / "a.parquet")
    out = tmp_path.with_suffix(".csv")
    children.printed(
        "import sys; from uncertain.cli import main; main()", "convert", f"{tmp_path}/**/*.parquet", out
    )
    assert pl.read_csv(out).height == 40


def test_links_out_of_the_folder_are_named(tmp_path: Path) -> None:
    for name in ("night", "archive"):
        (tmp_path / name).mkdir()
        pl.DataFrame({"row": [len(name)]}).write_parquet(tmp_path / name / "t.parquet")
    (tmp_path / "night" / "old").symlink_to(tmp_path / "archive")
    with pytest.warns(UncertainWarning, match=r"not followed \(.*old\): pass them in a list"):
        assert rows_read(tmp_path / "night") == [5]
    assert rows_read([tmp_path / "night" / "old"]) == [7]


def test_links_to_nothing(tmp_path: Path) -> None:
    pl.DataFrame({"row": [1]}).write_parquet(tmp_path / "a.parquet")
    (tmp_path / "b.parquet").symlink_to("gone.parquet")
    for asked in (tmp_path, tmp_path / "*.parquet", tmp_path / "b.parquet"):
        with pytest.raises(FileNotFoundError, match=r"b\.parquet: it is a link to gone\.parquet, which"):
            rows_read(str(asked))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_folders_that_may_not_be_read(tmp_path: Path) -> None:
    pl.DataFrame({"row": [1]}).write_parquet(tmp_path / "a.parquet")
    (tmp_path / "closed").mkdir(mode=0)
    with pytest.raises(PermissionError):
        rows_read(tmp_path)


NASTY = "\x1b[31mred\x1b]0;title\x07\r\u202e"


def test_terminals_do_not_obey_names(tmp_path: Path) -> None:
    from click.testing import CliRunner

    from uncertain.cli import main

    frame = table("pq", 40).rename({"x": f"x{NASTY}", "x_err": f"x{NASTY}_err"}).with_columns(n=1.0)
    path = tmp_path / f"t{NASTY}.parquet"
    write(frame.rename({"n": f"n{NASTY}"}), path)
    with pytest.warns(UncertainWarning, match=r"left out.*n\\x1b\[31mred"):
        model = uncertain.fit(path, method="gsu")
    assert r"x\x1b[31mred" in str(model) and str(model).replace("\n", "").isprintable()
    with pytest.raises(UncertainError) as caught:
        uncertain.fit(path, target="other")
    assert str(caught.value).isprintable()
    out = str(tmp_path / "m.safetensors")
    for arguments in (["fit", str(path), "--method", "gsu", "-o", out], ["fit", str(path), "-t", "other"]):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = CliRunner().invoke(main, arguments)
        assert not {"\x1b", "\x07", "\r", "\u202e"} & {*result.output}, result.output


NUMBERS = [float(k % 7) + 3.0 * (k % 2) for k in range(30)]
NAME, META = b"ARROW:extension:name", b"ARROW:extension:metadata"


def hostile_table(
    storage: pa.Array, name: bytes = b"uncertain.gaussian", metadata: bytes = b"{}"
) -> pa.Table:
    labels = pa.array([("a", "b")[k % 2] for k in range(30)])
    field = pa.field("x", storage.type, metadata={NAME: name, META: metadata})
    return pa.Table.from_arrays([storage, labels], schema=pa.schema([field, ("label", pa.string())]))


def structs(**fields: pa.Array) -> pa.StructArray:
    return pa.StructArray.from_arrays([*fields.values()], names=[*fields])


def test_structs_without_a_mean() -> None:
    numbers = pa.array(NUMBERS)
    for name in (b"uncertain.gaussian", b"uncertain.mixture"):
        with pytest.raises(UncertainError, match=r"x: .* with a field mean, not of \['std'\]"):
            uncertain.fit(hostile_table(structs(std=numbers), name), "label", method="gsu")


def test_structs_with_a_name_twice() -> None:
    numbers = pa.array(NUMBERS)
    twice = pa.StructArray.from_arrays([numbers, numbers, numbers], names=["mean", "std", "std"])
    with pytest.raises(UncertainError, match=r"x: a column of type struct.*cannot be read"):
        uncertain.fit(hostile_table(twice), "label", method="gsu")


def test_metadata_that_is_no_text() -> None:
    rows = structs(mean=pa.array(NUMBERS), std=pa.array([0.1] * 30))
    for metadata in (b"\xff\xfe", b"", b"{", b"[]", b'{"names": 3}'):
        try:
            model = uncertain.fit(hostile_table(rows, metadata=metadata), "label", method="gsu")
        except UncertainError:
            continue
        assert model.feature_names_ == ["x"]


def test_mixtures_of_a_fixed_number_of_components() -> None:
    two = [x for value in NUMBERS for x in (value, value + 1.0)]
    fixed = {"weight": [0.5] * 60, "mean": two, "std": [0.2] * 60}
    arrays = {f: pa.FixedSizeListArray.from_arrays(pa.array(own), 2) for f, own in fixed.items()}
    lists = {f: own.cast(pa.list_(pa.float64())) for f, own in arrays.items()}
    expected = uncertain.fit(hostile_table(structs(**lists), b"uncertain.mixture"), "label", method="gsu")
    for mixed in (arrays, lists | {"weight": arrays["weight"]}):
        given = hostile_table(structs(**mixed), b"uncertain.mixture")
        model = uncertain.fit(given, "label", method="gsu")
        assert model.predict(given).to_pylist() == expected.predict(given).to_pylist()
    single = {"weight": pa.array([1.0] * 30), "mean": pa.array(NUMBERS), "std": pa.array([0.1] * 30)}
    with pytest.raises(UncertainError, match=r"x: weight of a mixture is a list"):
        uncertain.fit(hostile_table(structs(**single), b"uncertain.mixture"), "label", method="gsu")


ODD = (
    "1-999999999999", "9-3", "-5", "F99999999.3", "A0", "|||||", "\x00", "\u202e", "\r", "1e400", "9" * 400,
    "=" * 80,
)  # fmt: skip


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


ENDINGS = ("parquet", "arrow", "fits", "csv.gz", "ndjson", "json", "ecsv", "vot", "tbl")


def frame(n: int = 60) -> pl.DataFrame:
    rng = np.random.default_rng(0)
    label = np.repeat(["star", "quasar"], n // 2)
    x = rng.normal(size=n) + 3.0 * (label == "star")
    return pl.DataFrame({"x": x, "x_err": rng.uniform(0.1, 0.5, n), "n": np.arange(n), "label": label})


@pytest.mark.parametrize("ending", ENDINGS)
def test_what_is_cut_short_or_something_else(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"t.{ending}"
    write_table(frame(), tmp_path / ("t.ecsv" if ending == "tbl" else path.name))
    whole = (tmp_path / "t.ecsv").read_bytes() if ending == "tbl" else path.read_bytes()
    cuts = [b"", whole[:11], whole[: len(whole) // 2 + 1]]
    for damaged in (*(cuts[:2] if ending in ("ecsv", "tbl") else cuts), b"\x00\xff" * 300):
        path.write_bytes(damaged)
        for act in (read_table, lambda path: uncertain.fit(path, method="gsu")):
            with pytest.raises(TableError, match=rf"t\.{ending}: not a readable"):
                act(path)


def test_a_page_that_is_damaged_is_found_when_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    frame(20_000).write_parquet(path, row_group_size=1_000)
    data = bytearray(path.read_bytes())
    data[200:3000] = b"\0" * 2800
    path.write_bytes(data)
    table = open_files(path)
    with pytest.raises(TableError, match=r"t\.parquet: not a readable parquet file"):
        table.load(["x"])
    with pytest.raises(TableError, match=r"t\.parquet: not a readable parquet file"):
        uncertain.fit(path, method="gsu", memory="200MB")


def test_what_is_not_the_files_fault_is_not_called_so() -> None:
    with pytest.raises(FileNotFoundError):
        uncertain.fit("absent.parquet")
