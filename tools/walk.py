"""Count the files of the package that one whole call of `fit`, `predict` and `load` enters, and their lines.

Whoever follows a call has to open these files. Usage: python tools/walk.py [--files]
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import FrameType

import numpy as np
import polars

import uncertain

ROOT = f"{Path(uncertain.__file__).parent}/"


def table() -> polars.DataFrame:
    """Two features with error bars, and a label."""
    rng = np.random.default_rng(0)
    n = 400
    numbers = {name: rng.normal(size=n) for name in "ab"}
    errors = {f"{name}_err": rng.uniform(0.1, 0.3, n) for name in "ab"}
    return polars.DataFrame(numbers | errors).with_columns(label=polars.col("a") + polars.col("b") > 0)


def entered(call: Callable[[], object]) -> list[str]:
    """Return the sorted files whose functions a call enters, imports done before."""
    call()
    files: set[str] = set()

    def trace(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(ROOT):
            files.add(frame.f_code.co_filename)

    sys.setprofile(trace)
    try:
        call()
    finally:
        sys.setprofile(None)
    return sorted(files)


if __name__ == "__main__":
    rows = table()
    model = uncertain.fit(rows, method="gsu")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.safetensors")
        model.save(path)
        calls = {
            "fit": partial(uncertain.fit, rows, method="gsu"),
            "predict": partial(model.predict, rows),
            "load": partial(uncertain.load, path),
        }
        for name, call in calls.items():
            files = entered(call)
            lines = sum(Path(file).read_text(encoding="utf-8").count("\n") for file in files)
            print(f"{name}: {len(files)} files with {lines} lines")
            if "--files" in sys.argv:
                print(*(f"  {file.removeprefix(ROOT)}" for file in files), sep="\n")
