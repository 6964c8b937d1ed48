"""The guide's training with checkpoints: killed at every event of its life, it ends with the same numbers.

The code is that of docs/guide/svm-gsu.md. A process is killed at the n-th batch, write, fsync or rename,
for every n; another one goes on from what is on the disk.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from uncertain import GaussianArray, GSUClassifier

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="forks, and signals that kill")

GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "svm-gsu.md"
EPOCHS, BATCHES = 4, 3


def recipe() -> Callable[..., GSUClassifier]:
    """`train` of the guide."""
    text = GUIDE.read_text(encoding="utf-8")
    code = re.search(r"## Batches, with checkpoints.*?```python\n(.*?)```", text, re.DOTALL)
    assert code is not None
    names: dict[str, Any] = {}
    exec(compile(code[1], "svm-gsu.md", "exec"), names)
    train: Callable[..., GSUClassifier] = names["train"]
    return train


def batches(seconds: float = 0.0) -> Iterator[tuple[GaussianArray, np.ndarray]]:
    """Always the same ones, at times slowly."""
    for k in range(BATCHES):
        rng = np.random.default_rng(k)
        y = rng.integers(0, 2, 200)
        yield GaussianArray(rng.normal(size=(200, 4)) + y[:, None], std=rng.uniform(0.1, 1, (200, 4))), y
        time.sleep(seconds)


def run(path: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    """This file as a program."""
    command = [sys.executable, __file__, str(path), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=240)


def test_killed_at_every_event(tmp_path: Path) -> None:
    done = run(tmp_path / "checkpoint")
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) == EPOCHS * (BATCHES + 4)


def test_killed_at_any_time(tmp_path: Path) -> None:
    """By another process, again and again until it gets through."""
    path, kills = tmp_path / "checkpoint", 0
    expected = recipe()(batches, tmp_path / "uninterrupted", EPOCHS, random_state=0)
    rng = np.random.default_rng(0)
    while True:
        child = subprocess.Popen([sys.executable, __file__, str(path), "slowly"], stdout=subprocess.PIPE)
        assert child.stdout is not None and child.stdout.read(5) == b"begun"
        try:
            child.wait(240 if kills == 3 else rng.uniform(0.0, 0.4))
        except subprocess.TimeoutExpired:
            child.kill()
            kills += child.wait() == -signal.SIGKILL
        else:
            assert child.returncode == 0
            break
        finally:
            child.stdout.close()
    assert kills > 0
    model = recipe()(batches, path, EPOCHS)
    np.testing.assert_array_equal(model.coef_, expected.coef_)
    np.testing.assert_array_equal(model.intercept_, expected.intercept_)


# -- the program


class Killed:
    """Counts events, and kills the process at the n-th, before or (a write) in the middle of it."""

    def __init__(self, at: int) -> None:
        self.at, self.seen, self.batches = at, 0, 0

    def event(self) -> None:
        self.seen += 1
        if self.seen == self.at:
            os.kill(os.getpid(), signal.SIGKILL)

    def arm(self) -> None:
        import pickle

        fit, dump, fsync, replace = GSUClassifier.partial_fit, pickle.dump, os.fsync, os.replace

        def partial_fit(model: Any, *given: Any, **known: Any) -> Any:
            self.event()
            self.batches += 1
            return fit(model, *given, **known)

        def half_then_all(value: Any, file: Any) -> None:
            self.event()
            text = pickle.dumps(value)
            file.write(text[: len(text) // 2])
            file.flush()
            self.event()
            file.seek(0)
            dump(value, file)

        def synced(file: int) -> None:
            self.event()
            fsync(file)

        def replaced(old: Any, new: Any) -> None:
            self.event()
            replace(old, new)

        GSUClassifier.partial_fit = partial_fit  # type: ignore[method-assign]
        pickle.dump, os.fsync, os.replace = half_then_all, synced, replaced  # type: ignore[assignment]


def forked(path: Path, at: int) -> bool:
    """Did training end, and was it not killed?"""
    child = os.fork()
    if child == 0:
        Killed(at).arm()
        recipe()(batches, path, EPOCHS, random_state=0)
        os._exit(0)
    return os.waitpid(child, 0)[1] == 0


def every_event(path: Path) -> int:
    """How many events there are; each is the last one of a process once."""
    expected = recipe()(batches, path.with_name("uninterrupted"), EPOCHS, random_state=0)
    at = 0
    while True:
        at += 1
        path.unlink(missing_ok=True)
        if forked(path, at):
            return at - 1
        counter = Killed(0)
        counter.arm()
        try:
            model = recipe()(batches, path, EPOCHS, random_state=0)
        finally:
            restore()
        np.testing.assert_array_equal(model.coef_, expected.coef_)
        # Of the passes that had ended none is made again.
        ended = (at - 1) // (BATCHES + 4)
        assert counter.batches == BATCHES * (EPOCHS - ended), (at, counter.batches)


def restore() -> None:
    import pickle

    for owner, name, value in ORIGINALS:
        setattr(owner, name, value)
    assert pickle.dump is ORIGINALS[1][2]


if __name__ == "__main__":
    import pickle

    ORIGINALS: list[tuple[Any, str, Any]] = [
        (GSUClassifier, "partial_fit", GSUClassifier.__dict__["partial_fit"]),
        (pickle, "dump", pickle.dump),
        (os, "fsync", os.fsync),
        (os, "replace", os.replace),
    ]
    where = Path(sys.argv[1])
    if "slowly" in sys.argv:
        sys.stdout.write("begun")
        sys.stdout.flush()
        recipe()(lambda: batches(0.05), where, EPOCHS, random_state=0)
    else:
        sys.stdout.write(f"{every_event(where)}\n")
