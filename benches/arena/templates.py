"""What `python -m arena add` writes: a task or a method to fill in."""

from __future__ import annotations

from pathlib import Path

TASK = '''"""What it is."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from arena.table import Table, armed
from arena.task import Task

FILE = "{name}.parquet"


def load(folder: Path) -> Table:
    frame = pl.read_parquet(folder / FILE)
    noisy, exact = ["flux"], ["latitude"]  # columns with errors in flux_up and flux_down, and without
    y, groups = frame["label"].to_numpy(), frame["id"].to_numpy()
    return armed("{name}", frame, noisy, exact, "_up", "_down", y, groups)


TASKS = [
    Task(
        "{name}", load, needs=(FILE,), source="who, where, when", licence="which",
        columns="what they are, and what their error bars are", published="what others have made of it",
    )
]  # fmt: skip
'''
METHOD = '''"""What it is, with the paper."""

from __future__ import annotations

import numpy as np
from sklearn.naive_bayes import GaussianNB

from arena.answers import Answering
from arena.method import Method
from arena.table import Table

from ._columns import plain, with_errors


def fit(train: Table) -> Answering:
    """From values, both arms and targets to what answers; of numbers with a density, see arena.answers."""
    model = plain(GaussianNB()).fit(with_errors(train), train.y)
    return lambda test, grid: np.asarray(model.predict_proba(with_errors(test)))


METHODS = [Method("{name}", fit, numbers=False)]
'''


def add(kind: str | None, name: str | None) -> str:
    """Write the file; what to do next."""
    if kind is None or name is None or not name.isidentifier():
        return "python -m arena add task|method NAME, a name that a Python module may have"
    path = Path(__file__).parent / f"{kind}s" / f"{name}.py"
    if path.exists():
        return f"{path} is there already"
    path.write_text((TASK if kind == "task" else METHOD).format(name=name), encoding="utf-8")
    what = f"--only {name}" if kind == "task" else f"--methods {name} uncertain.fit"
    return (
        f"{path}: fill it in, then: python -m arena run --quick --data FOLDER {what} --out /tmp/{name}.json"
    )
