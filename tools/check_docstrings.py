"""Check public docstrings: their length, and that the site shows what was written. Part of `make lint`.

A first line has at most 75 letters and a docstring at most 80 lines; theory is a link to docs/methods. The
rules of numpydoc catch text which is *shown as something else*: a sentence that became a parameter, a section
that ran into the text before it, parameters that do not exist. The order of parameters is free.
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
LETTERS, LINES = 75, 80
RUN_IN = re.compile(r"(Parameters|Returns|Raises|Warns|Notes|References|Examples|Attributes) -{3,}")


def public_names() -> Iterator[str]:
    """Everything that has a page in the reference, and the methods of its classes."""
    text = (ROOT / "docs" / "reference" / "api.md").read_text(encoding="utf-8")
    for name in re.findall(r"^   (uncertain\.\S+)$", text, re.MULTILINE):
        yield name
        module, _, last = name.rpartition(".")
        thing = getattr(importlib.import_module(module), last)
        for member, value in inspect.getmembers(thing) if inspect.isclass(thing) else ():
            inherited = not (getattr(value, "__module__", None) or "").startswith("uncertain")
            if callable(value) and not member.startswith("_") and not inherited:
                yield f"{name}.{member}"


def main() -> None:
    warnings.simplefilter("ignore")
    wrong, count = [], 0
    for name in public_names():
        count += 1
        results = validate(name)
        wrong += [
            f"{name}: {code} {message}"
            for code, message in results["errors"]
            if code in RULES and (name, code) not in ALLOWED
        ]
        text = inspect.cleandoc(results["docstring"])
        first, n_lines = text.partition("\n")[0], text.count("\n") + 1
        if RUN_IN.search(text):
            wrong.append(f"{name}: a section runs into the text before it")
        if len(first) > LETTERS:
            wrong.append(f"{name}: the first line has {len(first)} letters, more than {LETTERS}")
        if n_lines > LINES:
            wrong.append(f"{name}: {n_lines} lines, more than {LINES}. Move theory to docs/methods")
    print("\n".join(wrong) or f"{count} public docstrings are shown as they were written")
    sys.exit(bool(wrong) or count < 150)


if __name__ == "__main__":
    main()
