"""Libraries of tables that are not there: other tables give the same."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import children
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
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("all"))
        strict = "import json, warnings, without; warnings.simplefilter('error'); "
        found: dict[str, Any] = json.loads(children.printed(strict + "print(json.dumps(without.work()))"))
    return found


@pytest.mark.parametrize("missing", [("pyarrow",), ("pyarrow", "pandas")], ids=" ".join)
def test_other_tables_give_the_same(
    missing: tuple[str, ...], with_all: dict[str, Any], tmp_path: Path
) -> None:
    found = work_without(tmp_path, *missing)
    assert {"dict", "dict of lists", "dict of masked", "structured", "astropy", "polars"} <= found.keys()
    assert "pyarrow" in with_all and not found.keys() & {"pyarrow", *missing}
    for kind, answers in found.items():
        if kind != "rest":
            assert answers == with_all[kind], kind
    assert found["rest"]["replicates"] == {"star": [8], "n": [8], "mean": [8, 2], "cov": [8, 2, 2]}
    for name in ("replicates", "leaderboard", "path"):
        assert found["rest"][name] == with_all["rest"][name]
    assert found["rest"]["loaded"] and "FileNotFoundError" in found["rest"]["path"]
