"""Polars is an optional extra: without it, and without pyarrow, tables of every other kind give the same."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent


def work_without(folder: Path, *modules: str) -> dict[str, Any]:
    """What `without.py` finds in a fresh interpreter."""
    done = subprocess.run(
        [sys.executable, "-W", "error", HERE / "without.py", *modules],
        capture_output=True,
        text=True,
        timeout=280,
        cwd=folder,
        env=os.environ | {"OMP_WAIT_POLICY": "passive"},
    )
    assert not done.returncode, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.fixture(scope="module")
def with_all(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return work_without(tmp_path_factory.mktemp("all"))


@pytest.mark.parametrize(
    "missing", [("polars",), ("polars", "pyarrow"), ("polars", "pyarrow", "pandas")], ids=" ".join
)
def test_other_tables_give_the_same(
    missing: tuple[str, ...], with_all: dict[str, Any], tmp_path: Path
) -> None:
    found = work_without(tmp_path, *missing)
    assert {"dict", "dict of lists", "dict of masked", "structured", "astropy"} <= found.keys()
    assert "polars" in with_all and "polars" not in found
    for kind, answers in found.items():
        if kind != "rest":
            assert answers == with_all[kind], kind
    assert (
        found["rest"]["replicates"]
        == with_all["rest"]["replicates"]
        == {"star": [8], "n": [8], "mean": [8, 2], "cov": [8, 2, 2]}
    )
    assert found["rest"]["leaderboard"] == with_all["rest"]["leaderboard"]
    assert found["rest"]["loaded"]
    assert found["rest"]["path"] == (
        'UncertainError: reading files needs Polars: pip install "uncertain-learn[polars]"'
    )


def test_the_command_line_says_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text("x,x_err,label\n1.0,0.1,a\n2.0,0.1,b\n")
    code = (
        f"import sys; sys.path.insert(0, {str(HERE)!r}); from without import hide; hide(['polars']);"
        "from uncertain.cli import main; main(sys.argv[1:])"
    )

    def command(*words: str, given: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", code, *words],
            capture_output=True,
            text=True,
            timeout=240,
            cwd=tmp_path,
            input=given,
        )

    assert command("--help").returncode == 0
    for words in (["fit", "table.csv"], ["fit", "-"], ["convert", "table.csv", "table.parquet"], ["demo"]):
        done = command(*words, given="x,label\n1.0,a\n")
        assert done.returncode == 2, done.stderr
        assert 'needs Polars: pip install "uncertain-learn[polars]"' in done.stderr
        assert len(done.stderr.strip().splitlines()) == 1
