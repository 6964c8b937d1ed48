"""Model files with altered descriptions and bytes, for `fuzz_targets.py`."""

import copy
import random
import tempfile
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from catalogues import description, redescribed
from hypothesis import strategies as st
from sklearn.ensemble import HistGradientBoostingClassifier

import uncertain
from uncertain.exceptions import UncertainError

STRANGE: list[Any] = [
    None, True, 0, -1, 2**64, 1e308, 0.5, "", "u", "nonsense", "{}", "../../x",
    [], [[]], ["u", "u"], ["u"], {},
    {"std": 5}, {"u": ["a", "b", "c"]}, {"pairs": []}, {"pairs": [[1]]}, {"pairs": [[[], []]]}, [[["a"]]],
]  # fmt: skip


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


def models() -> Iterator[tuple[str, uncertain.Model]]:
    data = table()
    numbers = data.drop("kind")
    trees = HistGradientBoostingClassifier(max_iter=3, class_weight="balanced")
    yield "gsu", uncertain.fit(data, "label", method="gsu", categorical=["kind"], on_missing="impute")
    yield "huber", uncertain.fit(numbers, "label", method="huber", probability=False)
    yield "regression", uncertain.fit(numbers.drop("label"), "u", std={"v": "v_err"}, method="gsu")
    yield "trees", uncertain.fit(numbers, "label", method="remeasured", estimator=trees, n_copies=2)
    yield "weighted", uncertain.fit(numbers, "label", method="gsu", class_weight={"a": 1.0, "b": 2.0})
    rng = np.random.default_rng(3)
    x, errors = rng.normal(size=(200, 2)), rng.uniform(0.05, 1.5, (200, 2))
    curved = np.where(x[:, 0] + np.sin(3 * x[:, 1]) + rng.normal(scale=0.5, size=200) > 0, "a", "b")
    x += errors * rng.normal(size=x.shape)
    rows = {"u": x[:, 0], "u_err": errors[:, 0], "v": x[:, 1], "v_err": errors[:, 1], "label": curved}
    chosen = (uncertain.fit(rows, "label", random_state=seed) for seed in range(1, 9))
    yield "stack", next(model for model in chosen if model.pipeline_.steps[-1][0] == "stack")


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


@cache
def saved() -> list[Path]:
    """A file of each kind of model, in a folder that lasts as long as the process."""
    folder = Path(tempfile.mkdtemp(prefix="uncertain-fuzz-"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, model in models():
            model.save(folder / name)
    return sorted(folder.iterdir())


FILES = st.tuples(
    st.integers(0, 5), st.integers(0, 2**32), st.sampled_from(["description"] * 4 + ["bytes", "cut"])
)


def check_file(given: tuple[int, int, str]) -> None:
    """Refused at load, or the model answers or refuses rows; bytes that were altered never load."""
    which, seed, how = given
    path, rng = saved()[which], random.Random(seed)
    altered = path.parent.parent / f"uncertain-fuzz-altered-{path.parent.name}"
    old = path.read_bytes()
    if how == "description":
        redescribed(path, mutated(description(path), rng), altered)
    else:
        new = bytearray(old)
        if how == "cut":
            del new[rng.randrange(len(new)) :]
        else:
            for _ in range(rng.choice([1, 1, 8])):
                new[rng.randrange(len(new))] = rng.randrange(256)
        altered.write_bytes(new)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = uncertain.load(altered)
            assert how == "description" or altered.read_bytes() == old
            model.predict(table())
            repr(model)
    except UncertainError:
        return
    finally:
        altered.unlink()
