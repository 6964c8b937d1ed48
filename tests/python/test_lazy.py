"""`import uncertain` loads nothing that takes time; its names are those that type checkers see."""

from __future__ import annotations

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import uncertain

PROGRAM = """
import sys
loaded = lambda *names: {*names} & sys.modules.keys()
slow = ("numpy", "scipy", "sklearn", "polars", "pandas", "pyarrow", "matplotlib")
tables = ("narwhals", "astropy", "pandas", "pyarrow", "duckdb")

import uncertain
assert not loaded(*slow), loaded(*slow)
dir(uncertain), uncertain.__version__
assert not loaded(*slow), loaded(*slow)
uncertain.fit
assert loaded("sklearn")
had = loaded(*tables)  # by recent versions of scikit-learn

from uncertain import AsGaussians, GaussianArray, GSUClassifier
import numpy
x, y = numpy.arange(40.0).reshape(20, 2), numpy.arange(20) % 2
rows = GaussianArray(x, std=0.1)
GSUClassifier().fit(rows, y).predict(rows), AsGaussians().fit_transform(x)
for X in (rows, x):
    model = uncertain.fit(X, y, method="gsu")
    model.predict(X), model.predict_proba(X), model.score(X, y)
assert not loaded("polars", "astropy", "duckdb"), loaded("polars", "astropy", "duckdb")

table = {"a": [1.0, 2.0, 5.0, 6.0], "a_err": [0.1] * 4, "label": [0, 0, 1, 1]}
uncertain.fit(table).predict(table)
assert loaded(*tables) == had and "astropy" not in had, (loaded(*tables), had)
"""


def test_nothing_is_loaded_that_is_not_needed() -> None:
    """The package alone nothing slow, arrays no library of tables, a table none but Polars."""
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=240)
    assert not done.returncode, done.stderr


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
