"""What every public docstring must be, for the site to show what was written: part of `make lint`.

The rules of numpydoc that catch text which is *shown as something else*: a sentence that became a parameter,
a section that ran into the text before it, parameters that do not exist. Their order is free: they are
described by subject.
"""

from __future__ import annotations

import importlib
import inspect
import re
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

from numpydoc.validate import validate

ROOT = Path(__file__).resolve().parents[1]
RULES = {
    "GL03": "blank lines",
    "GL06": "an unknown section",
    "GL07": "sections out of order",
    "GL08": "no docstring",
    "GL09": "a misplaced deprecation",
    "PR02": "a parameter that does not exist",
    "PR10": "a colon without a space",
    "SS01": "no summary",
}
ALLOWED = {
    ("uncertain.AsGaussians", "PR02"),  # the fields of Columns are keywords of **roles
    ("uncertain.Incomplete.from_arrays", "PR02"),  # std, var and cov are keywords of **errors
}
RUN_IN = re.compile(r"(Parameters|Returns|Raises|Warns|Notes|References|Examples|Attributes) -{3,}")


def public_names() -> Iterator[str]:
    """Everything that has a page in the reference, and the methods of its classes."""
    text = (ROOT / "docs" / "reference" / "api.md").read_text(encoding="utf-8")
    for name in re.findall(r"^   (uncertain\.\S+)$", text, re.MULTILINE):
        yield name
        module, _, last = name.rpartition(".")
        thing = getattr(importlib.import_module(module), last)
        for member, value in inspect.getmembers(thing) if inspect.isclass(thing) else ():
            own = (getattr(value, "__module__", None) or "").startswith("uncertain")
            if own and callable(value) and not member.startswith("_"):
                yield f"{name}.{member}"


def main() -> None:
    warnings.simplefilter("ignore")
    wrong, count = [], 0
    for name in public_names():
        count += 1
        found = validate(name)
        wrong += [
            f"{name}: {code} {message}"
            for code, message in found["errors"]
            if code in RULES and (name, code) not in ALLOWED
        ]
        if RUN_IN.search(found["docstring"]):
            wrong.append(f"{name}: a section runs into the text before it")
    print("\n".join(wrong) or f"{count} public docstrings are shown as they were written")
    sys.exit(bool(wrong) or count < 150)


if __name__ == "__main__":
    main()
