"""File names, folders and links that are not what they look like: the rows that are read are those named.

A generator lays trees of folders, links and loops; what must be read is computed by a walk of its own.
"""

from __future__ import annotations

import os
import random
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import children
import polars as pl
import pytest
from catalogues import read_table, write_table
from polars.testing import assert_frame_equal

import uncertain
from uncertain.exceptions import UncertainError, UncertainWarning

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
