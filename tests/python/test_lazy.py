"""`import uncertain` loads nothing that takes time; its names are those that type checkers see."""

from __future__ import annotations

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import uncertain

SLOW = ("numpy", "scipy", "sklearn", "polars", "pandas", "pyarrow", "matplotlib")


def loaded_by(code: str) -> str:
    """The slow modules that a fresh interpreter has after running this code."""
    check = f"import sys\n{code}\nprint(*[name for name in {SLOW} if name in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", check], capture_output=True, text=True, check=True, timeout=240
    )
    return done.stdout.strip()


def test_importing_loads_nothing_slow() -> None:
    assert loaded_by("import uncertain") == ""
    assert loaded_by("import uncertain; dir(uncertain); uncertain.__version__") == ""
    assert "sklearn" in loaded_by("import uncertain; uncertain.fit")


def test_every_name_is_there_and_is_what_type_checkers_see() -> None:
    tree = ast.parse(Path(uncertain.__file__).read_text(encoding="utf-8"))
    guarded = next(node for node in tree.body if isinstance(node, ast.If))
    origins: dict[str, str] = {}
    modules: set[str] = set()
    for node in guarded.body:
        if isinstance(node, ast.ImportFrom) and node.module:
            origins |= {alias.name: node.module for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            modules |= {alias.name for alias in node.names}
    assert {*origins, *modules, "__version__"} == set(uncertain.__all__)
    for name in uncertain.__all__:
        assert name in dir(uncertain)
        assert getattr(uncertain, name) is getattr(uncertain, name)
    for name, module in origins.items():
        assert getattr(uncertain, name) is getattr(import_module(f"uncertain.{module}"), name)


def test_fit_stays_a_function() -> None:
    """Also where modules of that name are imported."""
    root = Path(uncertain.__file__).parent
    for path in root.rglob("fit.py"):
        import_module(".".join(path.relative_to(root.parent).with_suffix("").parts))
    assert callable(uncertain.fit)


def test_what_is_not_there() -> None:
    for name in ("fti", "__nothing__"):
        with pytest.raises(AttributeError, match=f"module 'uncertain' has no attribute '{name}'"):
            getattr(uncertain, name)
