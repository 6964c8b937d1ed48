"""Of the Rust crate, no two types that are public or seen by all of it have one name.

The exception is what every model has by the same name, in a module of its own (`gsu::Params`).
"""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[2] / "rust" / "uncertain" / "src"
OF_EVERY_MODULE = {"Model", "Params", "ValidParams", "Header"}


def test_a_type_has_a_name_of_its_own() -> None:
    places = defaultdict(set)
    for file in sorted(ROOT.rglob("*.rs")):
        text = re.sub(r"//[^\n]*", "", file.read_text())
        for name in re.findall(r"(?m)^\s*pub(?:\(crate\))? (?:struct|enum|trait|type) (\w+)", text):
            places[name].add(str(file.relative_to(ROOT)))
    assert len(places) > 100
    twice = {n: where for n, where in places.items() if len(where) > 1 and n not in OF_EVERY_MODULE}
    assert not twice, twice


def test_no_function_is_called_of() -> None:
    """`of` says nothing: a verb does, or `from_` what it is made from."""
    named = {
        f"{file.relative_to(ROOT)}: {name}"
        for file in sorted(ROOT.rglob("*.rs"))
        for name in re.findall(r"\bpub(?:\([a-z: ]+\))? fn (of|of_\w+|\w+_of)\b", file.read_text())
    }
    assert not named, named
