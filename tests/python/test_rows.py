"""Rows that are not in one array: the guides say of which methods their sums suffice, and a store of another
engine is one small class."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import polars as pl
import pytest

import uncertain
from uncertain import Columns
from uncertain._model.fit import fit_rows
from uncertain._model.plan import Plan
from uncertain._rows.in_memory import InMemory
from uncertain._rows.reader import Policy, RowReader, Uses
from uncertain._rows.remote import RemoteRows
from uncertain._rows.training import TrainingRows
from uncertain.exceptions import ParameterError

GUIDES = Path(__file__).parents[2] / "docs" / "guide"
N = 900
RNG = np.random.default_rng(4)
TABLE = pl.DataFrame({"a": RNG.normal(size=N), "b": RNG.normal(size=N)}).with_columns(
    a_err=pl.Series(RNG.uniform(0.1, 0.4, N)), b_err=pl.Series(RNG.uniform(0.1, 0.4, N))
)
TABLE = TABLE.with_columns(
    kind=pl.Series(np.where(TABLE["a"].to_numpy() + RNG.normal(size=N) > 0.0, "x", "y")),
    z=pl.Series(2.0 * TABLE["a"].to_numpy() - TABLE["b"].to_numpy() + 0.1 * RNG.normal(size=N)),
)
METHODS = (
    *(
        "gsu",
        "kernel",
        "huber",
        "discriminant",
        "minimax",
        "mixture",
        "usvc",
        "tsvc",
        "ausvc",
        "mpsvc",
        "psvm",
    ),
    "remeasured",
)


class InThreads(RemoteRows):
    """Rows in several parts, of which each is asked by a thread."""

    where: ClassVar[str] = "in threads"

    def __init__(self, parts: list[TrainingRows], some: TrainingRows) -> None:
        self._parts = [InMemory(part) for part in parts]
        self.some = some

    def __len__(self) -> int:
        return sum(map(len, self._parts))

    @property
    def is_whole(self) -> bool:
        return False

    def answer(self, requests: bytes) -> list[Any]:
        with ThreadPoolExecutor() as threads:
            return [
                one for part in threads.map(lambda part: part.answer(requests), self._parts) for one in part
            ]

    def transform(self, step: Any) -> None:
        super().transform(step)
        for part in self._parts:
            part.transform(step)

    def join_target(self) -> None:
        raise NotImplementedError


class ThreadReader(RowReader):
    """Cuts a table into parts."""

    def __init__(self, table: pl.DataFrame, columns: Columns) -> None:
        self._table, self.columns = table, columns

    def settle(self, task: str, *, partial: bool) -> bool:
        return self._table[self.columns.target].dtype.is_float()

    def read(self, uses: Uses) -> InThreads:
        self.reading = Policy().reading(self.columns)
        y = self._table[self.columns.target].to_numpy()
        whole = TrainingRows(self.reading.fit_transform(self._table), y)
        parts = [whole.take(np.arange(first, N, 3)) for first in range(3)]
        return InThreads(parts, whole.take(np.arange(200)))


@pytest.mark.parametrize("method", ["gsu", "discriminant", "minimax"])
@pytest.mark.parametrize("meaning", ["spread", "measurement"])
def test_a_fifth_store_is_one_class(method: str, meaning: Any) -> None:
    if method == "discriminant" and meaning == "spread":
        return
    plain = {"probability": False} if method != "discriminant" else {}
    usual = uncertain.fit(TABLE.drop("z"), "kind", method=method, meaning=meaning, **plain)  # type: ignore[arg-type]
    plan = Plan(method=method, meaning=meaning, params=plain).checked()
    model = fit_rows(ThreadReader(TABLE, usual.columns_), plan)
    assert [*model.pipeline_.named_steps] == [*usual.pipeline_.named_steps]
    assert np.mean(model.predict(TABLE).to_numpy() == usual.predict(TABLE).to_numpy()) > 0.995
    if method == "gsu":
        assert model.pipeline_[-1].optimality_gap_ <= 1e-6
        np.testing.assert_allclose(model.coef_, usual.coef_, rtol=1e-3)


def test_a_fifth_store_refuses_what_is_not_made_of_sums() -> None:
    columns = uncertain.fit(TABLE.drop("z"), "kind", method="minimax", probability=False).columns_
    for method, words in (("kernel", "compares rows with one another"), ("tsvc", 'use method="usvc"')):
        with pytest.raises(ParameterError, match=f"in threads: .*{words}"):
            fit_rows(ThreadReader(TABLE, columns), Plan(method=method).checked())


def refused(text: str) -> set[str]:
    """The methods in the first column of the lines of a guide's table that refuse."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return {name for line in lines for name in re.findall(r'"(\w+)"', line.split("|")[1]) if name in METHODS}


@pytest.mark.parametrize("method", METHODS)
def test_the_guides_say_what_is_refused(method: str) -> None:
    target = "z" if method == "mixture" else "kind"
    table = TABLE.select("a", "a_err", "b", "b_err", target)
    guide = (GUIDES / "larger-than-memory.md").read_text()
    table_of_refusals = guide[guide.index("| refused |") :].split("\n\n")[0]
    try:
        uncertain.fit(table, target, method=method, memory="64MB")  # type: ignore[arg-type]
        fitted = True
    except ParameterError as error:
        fitted = False
        assert "memory=: " in str(error) and "not made of sums over the rows; " in str(error)
    assert fitted == (method not in refused(table_of_refusals))


@pytest.mark.parametrize("method", METHODS)
def test_the_guide_says_what_a_cluster_refuses(method: str) -> None:
    pytest.importorskip("distributed")
    from uncertain.dask import fit

    guide = (GUIDES / "on-a-cluster.md").read_text()
    line = next(line for line in guide.splitlines() if "| refused, with what to use instead |" in line)
    names = refused(line) | {"kernel"}  # "kernel machines"
    # Whatever is no table of Dask is refused as well, but later.
    words = "on a cluster: .*not made of sums" if method in names else "expected a Dask DataFrame"
    with pytest.raises(ParameterError, match=words):
        fit(None, TABLE, "kind", method=method)
