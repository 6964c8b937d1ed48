"""Targets, groups and numbers read as arrays are those that are read as Python objects."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from astropy.table import Table as AstropyTable
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from uncertain.exceptions import UncertainError
from uncertain.tables import Table, open_table
from uncertain.tables._groups import groups_from
from uncertain.tables._source import Source
from uncertain.tables._targets import errors_from, targets_from, weights_from

VALUES = st.one_of(
    st.lists(st.booleans(), min_size=1),
    st.lists(st.integers(-3, 3), min_size=1),
    st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=30),
    st.lists(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])), min_size=1),
    st.lists(st.sampled_from([-1.0, 0.0, 1.0, 2.0, 0.5]), min_size=1),
    st.lists(st.floats(), min_size=1),
)


def outcome(work: Callable[[], Any]) -> Any:
    """What it gives, with types, or the error."""
    try:
        result = work()
    except UncertainError as error:
        return type(error), str(error)
    parts = result if isinstance(result, tuple) else (result,)
    # Of strings the longest says how wide an array must be, not how wide it is.
    return [
        (p.dtype if p.dtype.kind != "U" else str, p.tolist()) if isinstance(p, np.ndarray) else p
        for p in parts
    ]


def same(first: Any, second: Any) -> bool:
    return repr(first) == repr(second)  # NaN is itself


@given(
    values=VALUES,
    task=st.sampled_from(["auto", "classification", "regression"]),
    partial=st.booleans(),
    more=st.booleans(),
)
def test_arrays_are_read_like_lists(values: list[Any], task: str, partial: bool, more: bool) -> None:
    array, n = np.asarray(values), len(values) + more
    assert same(
        outcome(lambda: targets_from(array, "y", task, n, partial=partial)),
        outcome(lambda: targets_from(array.tolist(), "y", task, n, partial=partial)),
    )
    for read in (
        lambda y: weights_from(y, "w", n),
        lambda y: errors_from(y, "e", n, missing=None),
        lambda y: errors_from(y, "e", n, missing=0.0),
        lambda y: groups_from(y, "g", n),
    ):
        assert same(outcome(lambda read=read: read(array)), outcome(lambda read=read: read(array.tolist())))


@pytest.mark.parametrize("dtype", ["u1", "u8", ">i4", ">f4", "f2", "U3", "S3", "?"])
def test_every_type_of_number(dtype: str) -> None:
    array = np.asarray([1, 0, 1, 1]).astype(dtype)
    for task in ("auto", "classification", "regression"):
        assert same(
            outcome(lambda task=task: targets_from(array, "y", task, 4)),
            outcome(lambda task=task: targets_from(array.tolist(), "y", task, 4)),
        )
    big = np.asarray([2**63, 1], dtype="u8")
    with pytest.raises(UncertainError, match="64 bits"):
        targets_from(big, "y", "classification", 2)


WORDS = ["b", "a", "b", "ccc"]
COLUMNS: dict[str, Any] = {
    "polars": pl.DataFrame(
        {
            "bool": [True, False, True, True],
            "int": pl.Series([3, 1, 2, 2], dtype=pl.UInt16),
            "float": pl.Series([0.5, 1.0, 2.0, 3.0], dtype=pl.Float32),
            "text": WORDS,
            "cat": pl.Series(WORDS, dtype=pl.Categorical),
            "enum": pl.Series(WORDS, dtype=pl.Enum(["much longer", "a", "b", "ccc"])),
            "decimal": pl.Series([1, 2, 3, 4]).cast(pl.Decimal(10, 2)),
            "null": [1, None, 2, 2],
            "nulltext": ["a", None, "b", "b"],
        }
    ),
}
COLUMNS["pyarrow"] = COLUMNS["polars"].to_arrow()
COLUMNS["chunks"] = pa.concat_tables([COLUMNS["pyarrow"][:1], COLUMNS["pyarrow"][1:]])
COLUMNS["batch"] = COLUMNS["pyarrow"].to_batches()[0]
COLUMNS["lazy"] = COLUMNS["polars"].lazy()
COLUMNS["pandas"] = pd.DataFrame(
    {
        "bool": [True, False, True, True],
        "int": np.asarray([3, 1, 2, 2], dtype=">i2"),
        "text": WORDS,
        "object": np.asarray([True, 1, "a", 2.0], dtype=object),
        "cat": pd.Categorical(WORDS, categories=["much longer", "ccc", "a", "b"]),
        "ints": pd.Categorical([3, 1, 3, 2]),
        "mixed": pd.Categorical([3, "a", 3, 2]),
        "gaps": pd.Categorical(["a", None, "b", "b"]),
        "masked": pd.array([1, None, 2, 2], dtype="Int64"),
        "nulltext": ["a", None, "b", "b"],
    }
)
COLUMNS["arrow types"] = COLUMNS["polars"].to_pandas(use_pyarrow_extension_array=True)
COLUMNS["dict"] = {
    "text": WORDS,
    "bytes": np.asarray([b"a", b"b ", b"a", b"c"]),
    "series": pl.Series(WORDS),
    "masked": np.ma.array([1, 2, 1, 2], mask=[0, 1, 0, 0]),
    "whole": np.asarray([1.0, 0.0, 1.0, 1.0], dtype=">f8"),
}
COLUMNS["astropy"] = AstropyTable({"text": WORDS, "int": [1, 2, 1, 2]})


@pytest.mark.parametrize("kind", COLUMNS)
def test_columns_of_every_library(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    table = open_table(COLUMNS[kind])

    def read(name: str) -> list[Any]:
        source = Source.of(COLUMNS[kind])
        found = [
            outcome(lambda t=t: source.targets(name, t)) for t in ("auto", "classification", "regression")
        ]
        found += [
            outcome(lambda t=t: source.targets(name, t, partial=True)) for t in ("auto", "classification")
        ]
        return [*found, outcome(lambda: source.groups(name).codes)]

    fast = {name: read(name) for name in table.names}
    assert all(
        table.array(name) is not None for name in {"text", "bool", "int", "cat"} & set(table.names)
    ) or (kind == "arrow types")
    for cls in Table.__subclasses__():
        for each in (cls, *cls.__subclasses__()):
            monkeypatch.setattr(each, "array", lambda self, name, unit=None: None)
    for name in table.names:
        assert open_table(COLUMNS[kind]).array(name) is None
        assert same(fast[name], read(name)), name


def test_the_callers_labels_are_not_written_to() -> None:
    y = np.asarray([True, False, True])
    y.flags.writeable = False
    targets, _ = targets_from(y, "y", "auto", 3)
    assert_array_equal(targets, y)


def test_whole_floats_beyond_64_bits_are_no_labels() -> None:
    for values in ([2.0**63, 1.0], [-(2.0**70), 1.0]):
        with pytest.raises(UncertainError, match="fit into 64 bits"):
            targets_from(values, "y", "classification", 2)
