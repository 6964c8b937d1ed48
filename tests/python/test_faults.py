"""Whatever call fails, and wherever the process is killed: the old file or the new one, never neither.

A library between the process and the C library (faults.c) counts the calls that change files. Every one of
them fails once, with a full disk or a broken device behind it; at every one the process is killed once, and
every write is once cut in half first. (Calls that go to the kernel past the C library, `rename` by the crate
tempfile, are not seen.)
"""

import ctypes
import errno
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="LD_PRELOAD and the calls of Linux")

KILL, HALF = -1, -2
FAILURES = (errno.ENOSPC, errno.EIO, errno.EINTR)
"""A full disk, a broken device, a call that a signal interrupted."""
MOST = 60
"""More calls than any of the commands makes; a test that needs more says so."""


@pytest.fixture(scope="session")
def faults(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("no C compiler")
    library = tmp_path_factory.mktemp("faults") / "faults.so"
    source = Path(__file__).with_name("faults.c")
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"], check=True)
    return library


def test_every_call_fails_once_or_is_the_last(tmp_path: Path, faults: Path) -> None:
    for command in KINDS:
        prepare(tmp_path / command, command)
    environment = {**os.environ, "LD_PRELOAD": str(faults), "POLARS_MAX_THREADS": "1"}
    program = [sys.executable, __file__, str(tmp_path)]
    done = subprocess.run(program, capture_output=True, text=True, check=False, env=environment, timeout=300)
    assert done.returncode == 0 and "None" not in done.stderr, done.stderr
    for command, kinds in KINDS.items():
        calls = [int(n) for n in re.findall(rf"{command}: (\d+) calls tried", done.stderr)]
        assert len(calls) == len(kinds) and all(3 <= n < MOST - 1 for n in calls)


# -- what the program does, with faults under it


KINDS = {"save": (KILL, HALF, *FAILURES), "convert": (KILL, *FAILURES), "predict": FAILURES}
"""Commands, and what befalls their calls."""
FILES = {"save": "model.safetensors", "convert": "converted.parquet", "predict": "predicted.csv"}
"""The file that a command replaces."""


def prepare(folder: Path, command: str) -> None:
    """Everything that the command needs, and an old file."""
    import uncertain

    folder.mkdir()
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 3000)
    table = pl.DataFrame({"x": y + rng.normal(size=3000), "x_err": np.full(3000, 0.1), "label": y})
    table.write_csv(folder / "table.csv")
    pl.DataFrame({"old": [1, 2, 3]}).write_parquet(folder / FILES[command])
    if command != "convert":
        uncertain.fit(table[:50], method="gsu").save(folder / FILES["save"])


def action(folder: Path, command: str) -> Callable[[], object]:
    """What replaces the file."""
    import uncertain

    if command == "save":
        model = uncertain.fit(pl.read_csv(folder / "table.csv"), method="gsu")
        return lambda: model.save(folder / "model.safetensors")
    from uncertain.cli import main

    source, target = str(folder / "table.csv"), str(folder / FILES[command])
    arguments = ["convert", source, target]
    if command == "predict":
        arguments = ["predict", str(folder / FILES["save"]), source, "-o", target]

    def act() -> None:
        try:
            main(arguments)
        except SystemExit as left:
            if left.code:
                raise

    return act


def survives(act: Callable[[], object], kind: int, n: int) -> bool:
    """Was the call not killed? In a process of its own."""
    child = os.fork()
    if child == 0:
        library().fault_arm(n, kind)
        act()
        os._exit(0)
    return os.waitpid(child, 0)[1] == 0


def fails(act: Callable[[], object], kind: int, n: int) -> bool:
    """Did fewer than n calls happen? Else the n-th failed, and with it the command, or nothing was lost."""
    from uncertain.exceptions import UncertainError

    library().fault_arm(n, kind)
    try:
        act()
    except (UncertainError, OSError) as error:
        assert str(error)
    except SystemExit as left:
        assert left.code == 2, left.code
    return bool(library().fault_count() < n)


def library() -> ctypes.CDLL:
    return ctypes.CDLL(os.environ["LD_PRELOAD"])


def program(act: Callable[[], object], target: Path, old: bytes, kind: int) -> None:
    """The whole row of calls. Polars has threads, which a fork loses: a command that is killed runs in forks
    alone."""
    folder = target.parent
    if kind < 0:
        assert survives(act, kind, 10**6)
    else:
        act()
    new, files = target.read_bytes(), sorted(os.listdir(folder))
    for tried in range(1, MOST):
        target.write_bytes(old)
        done = survives(act, kind, tried) if kind < 0 else fails(act, kind, tried)
        assert target.read_bytes() in (old, new), tried
        if kind > 0:
            assert sorted(os.listdir(folder)) == files, (tried, os.listdir(folder))
        if done:
            assert target.read_bytes() == new
            break
    sys.stderr.write(f"{target.parent.name}: {tried - 1} calls tried\n")


if __name__ == "__main__":
    import uncertain

    _ = uncertain.fit, uncertain.load  # imports, before a fork instead of in every one
    for command, kinds in KINDS.items():
        if (child := os.fork()) == 0:
            folder = Path(sys.argv[1]) / command
            target = folder / FILES[command]
            old, act = target.read_bytes(), action(folder, command)
            for kind in kinds:
                program(act, target, old, kind)
            sys.exit()
        assert os.waitpid(child, 0)[1] == 0, command
