"""Descriptions in model files, mutated with a right checksum: refused at load, or the model works.

The core guards its own header (tests/rust/file); this is what Python writes beside it. An error of Python's
own, while loading or predicting, is a hole in the checks.
"""

from __future__ import annotations

import copy
import json
import random
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from catalogues import description, redescribed
from sklearn.ensemble import HistGradientBoostingClassifier

import uncertain
from uncertain import Model
from uncertain.exceptions import ModelFileError, UncertainError

STRANGE: list[Any] = [
    None, True, 0, -1, 2**64, 1e308, 0.5, "", "u", "nonsense", "{}", "../../x",
    [], [[]], ["u", "u"], ["u"], {},
    {"std": 5}, {"u": ["a", "b", "c"]}, {"pairs": []}, {"pairs": [[1]]}, {"pairs": [[[], []]]}, [[["a"]]],
]  # fmt: skip
ROUNDS = 60


def table() -> pl.DataFrame:
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    columns = {
        "u": rng.normal(size=60) + y,
        "u_err": rng.uniform(0.1, 0.5, 60),
        "v": rng.normal(size=60),
        "v_err": rng.uniform(0.1, 0.5, 60),
        "kind": [("red", "green", None)[k] for k in rng.integers(0, 3, 60)],
        "label": [("a", "b")[k] for k in y],
    }
    return pl.DataFrame(columns)


def models() -> Iterator[tuple[str, Model]]:
    data = table()
    numbers = data.drop("kind")
    trees = HistGradientBoostingClassifier(max_iter=3, class_weight="balanced")
    yield "gsu", uncertain.fit(data, "label", method="gsu", categorical=["kind"], on_missing="impute")
    yield "huber", uncertain.fit(numbers, "label", method="huber", probability=False)
    yield "regression", uncertain.fit(numbers.drop("label"), "u", std={"v": "v_err"}, method="gsu")
    yield "trees", uncertain.fit(numbers, "label", method="remeasured", estimator=trees, n_copies=2)
    yield "weighted", uncertain.fit(numbers, "label", method="gsu", class_weight={"a": 1.0, "b": 2.0})
    average = uncertain.fit(numbers, "label", effort="high", estimator=trees, random_state=1)
    assert average.pipeline_.steps[-1][0] == "average"
    yield "average", average


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place inside of a JSON value."""
    items: Any = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    for key, inner in items:
        yield (*path, key)
        yield from places(inner, (*path, key))


def mutated(about: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    about = copy.deepcopy(about)
    for _ in range(rng.choice([1, 1, 2])):
        found = list(places(about))
        *way, last = rng.choice(found)
        inside: Any = about
        for key in way:
            inside = inside[key]
        action = rng.choice(["replace", "replace", "remove", "double", "swap"])
        if action == "remove":
            del inside[last]
        elif action == "double" and isinstance(inside, list):
            inside.insert(last, copy.deepcopy(inside[last]))
        elif action == "swap":
            other: Any = about
            for key in rng.choice(found):
                other = other[key] if isinstance(other, (dict, list)) else other
            inside[last] = copy.deepcopy(other)
        else:
            inside[last] = rng.choice(STRANGE)
    return about


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("models")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = dict(models())
    for name, model in found.items():
        model.save(folder / name)
    return {name: folder / name for name in found}


@pytest.mark.parametrize("name", ["gsu", "huber", "regression", "trees", "weighted", "average"])
def test_mutated_descriptions(name: str, saved: dict[str, Path], tmp_path: Path) -> None:
    about = description(saved[name])
    data, rng = table(), random.Random(name)
    refused = 0
    for _ in range(ROUNDS):
        altered = mutated(about, rng)
        redescribed(saved[name], altered, tmp_path / "m")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    model = uncertain.load(tmp_path / "m")
                except ModelFileError:
                    refused += 1
                    continue
                model.predict(data)
                repr(model)
        except UncertainError:
            continue  # such as a column that the table does not have
        except Exception as error:
            raise AssertionError(f"{json.dumps(altered)}: {type(error).__name__}: {error}") from error
    assert refused > ROUNDS / 5
