"""The guide's training with checkpoints: killed at every event of its life, it ends with the same numbers.

The code is that of docs/methods/svm.md. A process is killed at the n-th batch, write, fsync or rename,
for every n; another one goes on from what is on the disk.
"""

import os
import pickle
import re
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import children
import numpy as np
import pytest

from uncertain import GaussianArray, GSUClassifier

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="forks, and signals that kill")

GUIDE = Path(__file__).parents[2] / "docs" / "methods" / "svm.md"
EPOCHS, BATCHES = 4, 3


def recipe() -> Callable[..., GSUClassifier]:
    """`train` of the guide."""
    text = GUIDE.read_text(encoding="utf-8")
    code = re.search(r"## Batches, with checkpoints.*?```python\n(.*?)```", text, re.DOTALL)
    assert code is not None
    names: dict[str, Any] = {}
    exec(compile(code[1], "svm.md", "exec"), names)
    train: Callable[..., GSUClassifier] = names["train"]
    return train


def batches(seconds: float = 0.0) -> Iterator[tuple[GaussianArray, np.ndarray]]:
    """Always the same ones, at times slowly."""
    for k in range(BATCHES):
        rng = np.random.default_rng(k)
        y = rng.integers(0, 2, 200)
        yield GaussianArray(rng.normal(size=(200, 4)) + y[:, None], std=rng.uniform(0.1, 1, (200, 4))), y
        time.sleep(seconds)


def run(kill: str, path: Path) -> int:
    """What a function below returns in a process in which nothing else happens."""
    code = f"import sys, pathlib, test_checkpoints; print(test_checkpoints.{kill}(pathlib.Path(sys.argv[1])))"
    return int(children.printed(code, path))


def test_killed_at_every_event(tmp_path: Path) -> None:
    assert run("every_event", tmp_path / "checkpoint") == EPOCHS * (BATCHES + 4)


# -- the program


ORIGINALS: list[tuple[Any, str, Any]] = [
    (owner, name, vars(owner)[name])
    for owner, name in ((GSUClassifier, "partial_fit"), (pickle, "dump"), (os, "fsync"), (os, "replace"))
]


class Killed:
    """Counts events, and kills the process at the n-th, before or (a write) in the middle of it."""

    def __init__(self, at: int) -> None:
        self.at, self.seen, self.batches = at, 0, 0

    def event(self) -> None:
        self.seen += 1
        if self.seen == self.at:
            os.kill(os.getpid(), signal.SIGKILL)

    def arm(self) -> None:
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


def forked(path: Path, at: int = 0, pause: float = 0.0) -> int:
    """A process that trains, and kills itself at an event."""
    if (child := os.fork()) == 0:
        Killed(at).arm()
        recipe()(lambda: batches(pause), path, EPOCHS, random_state=0)
        os._exit(0)
    return child


def status(child: int) -> int:
    """How a process ended: 0, or the signal that killed it, below zero."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def every_event(path: Path) -> int:
    """How many events there are; each is the last one of a process once."""
    expected = recipe()(batches, path.with_name("uninterrupted"), EPOCHS, random_state=0)
    at = 0
    while True:
        at += 1
        path.unlink(missing_ok=True)
        if status(forked(path, at)) == 0:
            return at - 1
        counter = Killed(0)
        counter.arm()
        try:
            model = recipe()(batches, path, EPOCHS, random_state=0)
        finally:
            for owner, name, value in ORIGINALS:
                setattr(owner, name, value)
        np.testing.assert_array_equal(model.coef_, expected.coef_)
        # Of the passes that had ended none is made again.
        ended = (at - 1) // (BATCHES + 4)
        assert counter.batches == BATCHES * (EPOCHS - ended), (at, counter.batches)
