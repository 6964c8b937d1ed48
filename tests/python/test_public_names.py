"""What is public is the same list everywhere: ``__all__``, the reference, and the modules' own lists."""

import importlib
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import uncertain

DOCS = Path(__file__).parents[2] / "docs"
REFERENCE = DOCS / "reference" / "api.md"
WITH_EXTRAS = ("dask", "plot")
"""Public modules that need an extra, and so are not in ``uncertain.__all__``."""


def public(module: ModuleType) -> Iterator[tuple[str, object]]:
    """The functions and classes of this package that a module lists."""
    for name in module.__all__:
        value = getattr(module, name)
        if callable(value) and value.__module__.startswith("uncertain"):
            yield f"{module.__name__}.{name}", value


def test_every_public_object_has_one_page_in_the_reference() -> None:
    modules = [
        value for name in uncertain.__all__ if isinstance(value := getattr(uncertain, name), ModuleType)
    ]
    modules += [importlib.import_module(f"uncertain.{name}") for name in WITH_EXTRAS]
    names: dict[int, set[str]] = {}
    for module in (uncertain, *modules):
        for name, value in public(module):
            names.setdefault(id(value), set()).add(name)
    pages = re.findall(r"^   (uncertain\.\S+)$", REFERENCE.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(pages) > 60
    wrong = [sorted(same) for same in names.values() if len(same & {*pages}) != 1]
    assert not wrong, "not on one page of docs/reference/api.md"
    assert {*pages} <= set().union(*names.values()), "on a page, but in no list of public names"
    assert len(pages) == len({*pages})


def test_every_member_of_a_model_has_a_page() -> None:
    template = (DOCS / "_templates" / "autosummary" / "model.rst").read_text(encoding="utf-8")
    pages = re.findall(r"^   Model\.(\w+)$", template, re.MULTILINE)
    assert sorted(pages) == [name for name in dir(uncertain.Model) if not name.startswith("_")]
