"""Libraries of tables that are not there, or not needed: other tables give the same, arrays load none."""

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


def test_arrays_load_no_library_of_tables() -> None:
    code = (
        "import sys, numpy, uncertain\n"
        "from uncertain import AsGaussians, GaussianArray, GSUClassifier\n"
        "x = numpy.arange(40.0).reshape(20, 2); y = numpy.arange(20) % 2\n"
        "rows = GaussianArray(x, std=0.1)\n"
        "GSUClassifier().fit(rows, y).predict(rows), AsGaussians().fit_transform(x)\n"
        "for X in (rows, x):\n"
        "    model = uncertain.fit(X, y, method='gsu')\n"
        "    model.predict(X), model.predict_proba(X), model.score(X, y)\n"
        "loaded = {'polars', 'astropy', 'duckdb'} & sys.modules.keys()\n"
        "assert not loaded, loaded"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=100)
