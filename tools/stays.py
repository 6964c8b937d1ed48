"""Count how far `uncertain.fit`, up to its first fit by the core, and `Model.predict` travel in the package.

A stay is a visit to a file of the package: calls and returns within one file are one stay, a call of another
file begins the next one, and so does the return from it. Whoever follows a call with many stays has to turn
many pages. Usage: python tools/stays.py [--files]
"""

from __future__ import annotations

import sys
from collections import Counter
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


def stays_of(call: Callable[[], object]) -> list[str]:
    """The files that a call visits, in order, up to its first fit by the core."""
    call()  # what is imported once is imported
    stays: list[str] = []
    done = False

    def visit(frame: FrameType | None) -> None:
        while frame is not None and not frame.f_code.co_filename.startswith(ROOT):
            frame = frame.f_back
        if frame is not None and (not stays or stays[-1] != frame.f_code.co_filename):
            stays.append(frame.f_code.co_filename)

    def trace(frame: FrameType, event: str, function: object) -> None:
        nonlocal done
        if done:
            return
        inside = frame.f_code.co_filename.startswith(ROOT)
        if event == "c_call":
            module = str(getattr(function, "__module__", ""))
            done = module.endswith("_uncertain") and getattr(function, "__name__", "") == "fit"
        elif inside and event == "call":
            visit(frame)
        elif inside and event == "return":
            visit(frame.f_back)

    sys.setprofile(trace)
    try:
        call()
    finally:
        sys.setprofile(None)
    return [path.removeprefix(ROOT) for path in stays]


if __name__ == "__main__":
    rows = table()
    model = uncertain.fit(rows, method="gsu")
    calls = {"fit": partial(uncertain.fit, rows, method="gsu"), "predict": partial(model.predict, rows)}
    for name, call in calls.items():
        visits = Counter(stays_of(call))
        print(f"{name}: {visits.total()} stays in {len(visits)} files")
        if "--files" in sys.argv:
            for path, count in visits.most_common():
                print(f"{count:6} {path}")
