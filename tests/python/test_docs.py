"""Descriptions that estimators share are all put in, and all used."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import uncertain

PLACE = re.compile(r"^ *\{([A-Z][a-z]+: )?\w+(, \w+)*\}$", re.MULTILINE)
"""A line that stands for descriptions of parameters, such as {n_jobs, classes_}."""

ROOT = Path(uncertain.__file__).parent


def docstrings() -> Iterator[tuple[str, str]]:
    """(name, docstring) of what users see: public names, and members of public classes and modules."""
    for name in uncertain.__all__:
        thing: Any = getattr(uncertain, name)
        members = {name: thing} | dict(inspect.getmembers(thing))
        for member, value in members.items():
            if not member.startswith("_") and isinstance(getattr(value, "__doc__", None), str):
                yield f"{name}.{member}", value.__doc__


def test_no_place_is_left_empty() -> None:
    seen = list(docstrings())
    assert len(seen) > 300
    assert not [name for name, text in seen if PLACE.search(text)]


def test_every_parameter_of_an_estimator_is_described() -> None:
    for name in uncertain.__all__:
        thing = getattr(uncertain, name)
        if not hasattr(thing, "_get_param_names"):
            continue
        parameters = (thing.__doc__ or "").partition("Parameters\n")[2]
        for parameter in thing._get_param_names():
            assert re.search(
                rf"^ *([\w, \\\n]+, *)?{parameter}\b[\w, \\\n]*(:|$)", parameters, re.MULTILINE
            ), f"{name}: {parameter}"
