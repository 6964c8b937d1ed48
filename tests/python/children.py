"""Programs in processes of their own that begin with scikit-learn and the package imported.

They are forks of one process that has imported them, which saves 1.5 s of processor time each. Each runs
like ``python -c`` beside this file, in the folder and the environment of who asks. What is loaded, and what
libraries read from the environment when they are, is that of the first process: tests of it start another.
"""

import atexit
import json
import os
import signal
import subprocess
import sys
import tempfile
import textwrap
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any


@cache
def parent() -> subprocess.Popen[str]:
    """The process whose forks the programs are. It ends with this one, whose pipe it reads."""
    command = [sys.executable, __file__]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1, start_new_session=True
    )
    atexit.register(process.communicate)
    return process


def run(code: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    """How a program ended, as `subprocess` says it, and what it wrote."""
    code, argv = textwrap.dedent(code), ["-c", *map(str, arguments)]
    if sys.platform != "linux":  # libraries of other systems do not outlive a fork
        here = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
        command = [sys.executable, "-c", code, *argv[1:]]
        return subprocess.run(command, capture_output=True, text=True, env=here, timeout=280)
    with tempfile.TemporaryDirectory() as folder:
        out, err = Path(folder, "out"), Path(folder, "err")
        asked = {"code": code, "argv": argv, "folder": os.getcwd(), "environment": {**os.environ}}
        process = parent()
        assert process.stdin is not None and process.stdout is not None
        try:
            process.stdin.write(json.dumps(asked | {"streams": [os.devnull, str(out), str(err)]}) + "\n")
            status = process.stdout.readline()
        except BaseException:  # out of time, or stopped: the program may run on
            os.killpg(process.pid, signal.SIGKILL)
            parent.cache_clear()
            raise
        return subprocess.CompletedProcess(argv, int(status), out.read_text(), err.read_text())


def printed(code: str, *arguments: object) -> str:
    """What a program prints that ends well."""
    done = run(code, *arguments)
    assert done.returncode == 0, f"ended with {done.returncode}: {done.stdout[-500:]} {done.stderr[-4000:]}"
    return done.stdout.strip()


def asked() -> dict[str, Any] | None:
    """What a fork is to run; nothing in the first process, at its end."""
    for line in sys.stdin:
        if (child := os.fork()) == 0:
            program: dict[str, Any] = json.loads(line)
            return program
        sys.stdout.write(f"{os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])}\n")
        sys.stdout.flush()
    return None


if __name__ == "__main__":
    import uncertain

    _ = [getattr(uncertain, name) for name in uncertain.__all__]
    assert "polars" not in sys.modules, "a fork loses its threads"
    if (program := asked()) is not None:
        for number, path in enumerate(program["streams"]):
            opened = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
            os.dup2(opened, number)
            os.close(opened)
        os.chdir(program["folder"])
        os.environ.clear()
        os.environ.update(program["environment"])
        sys.argv = program["argv"]
        sys.modules["__main__"] = ModuleType("__main__")  # with nothing of this one
        exec(compile(program["code"], "<string>", "exec"), vars(sys.modules["__main__"]))
