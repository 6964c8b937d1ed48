"""Files that commands write: the old one or the new one, whatever happens."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from uncertain.tables._files import write_table
from uncertain.tables._replacing import replacing

NARROW = """
import resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
from uncertain.cli import main
main(sys.argv[1:])
"""


@pytest.mark.skipif(sys.platform == "win32", reason="limits of file sizes are those of Unix")
@pytest.mark.parametrize("ending", ["csv", "parquet", "arrow", "fits", "csv.gz"])
def test_a_full_disk_leaves_the_old_file(tmp_path: Path, ending: str) -> None:
    frame = pl.DataFrame({"x": [k * 0.1234567 for k in range(4000)]})
    path = tmp_path / f"table.{ending}"
    write_table(frame, path)
    before = path.read_bytes()
    command = [sys.executable, "-c", NARROW, "convert", str(path), str(path)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode != 0 and "Traceback" not in result.stderr, result.stderr
    assert str(path) in result.stderr and path.read_bytes() == before
    assert os.listdir(tmp_path) == [path.name]


def test_what_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("old")
    path.chmod(0o640)
    link = tmp_path / "link.csv"
    link.symlink_to(path)
    with replacing(link) as draft:
        draft.write_text("new")
        assert path.read_text() == "old"
    assert link.is_symlink() and path.read_text() == "new" and stat.S_IMODE(path.stat().st_mode) == 0o640
    with pytest.raises(KeyboardInterrupt), replacing(path) as draft:
        draft.write_text("half")
        raise KeyboardInterrupt
    assert path.read_text() == "new" and sorted(os.listdir(tmp_path)) == ["link.csv", "table.csv"]
    with replacing(tmp_path / "fresh.csv") as draft:
        draft.write_text("first")
    usual = tmp_path / "usual"
    usual.touch()
    assert (tmp_path / "fresh.csv").stat().st_mode == usual.stat().st_mode
    with replacing(os.devnull) as draft:
        draft.write_text("gone")
    assert not os.path.isfile(os.devnull)
