"""Warnings point at the line of the user's program; `import uncertain` loads nothing slow and has the names
that type checkers see; without some libraries other tables give the same."""

import ast
import json
import os
import subprocess
import sys
import warnings
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import children
import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import uncertain
from uncertain import GaussianArray, GaussianScaler, GSUClassifier
from uncertain.exceptions import ConvergenceWarning, UncertainWarning

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
LABELS = (X[:, 0] + 0.3 * RNG.normal(size=60) > 0).astype(int)


def stopped_early() -> GSUClassifier:
    return GSUClassifier(max_iter=1, tol=1e-12, solver="lbfgs")


FITS: dict[str, Callable[[], object]] = {
    "alone": lambda: stopped_early().fit(X, LABELS),
    "in a pipeline": lambda: make_pipeline(GaussianScaler(), stopped_early()).fit(X, LABELS),
    "in a search": lambda: GridSearchCV(stopped_early(), {"alpha": [1e-3, 1e-2]}, cv=2).fit(X, LABELS),
    "in uncertain.fit": lambda: uncertain.fit(
        GaussianArray(X, std=0.1), target=LABELS, method="gsu", max_iter=1, tol=1e-12, solver="lbfgs"
    ),
}


@pytest.mark.parametrize("path", FITS)
def test_the_warning_points_here(path: str) -> None:
    with pytest.warns(ConvergenceWarning) as caught:
        FITS[path]()
    assert {warning.filename for warning in caught} == {__file__}


def test_a_warning_of_data_points_here() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        uncertain.uncertainty.from_bounds([[0.0]], [[4.0]], value=[[1.0]])
    assert [(warning.filename, warning.category) for warning in caught] == [(__file__, UncertainWarning)]


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
            every = getattr(import_module(f"uncertain.{node.module}"), "__all__", ())
            names = [name for alias in node.names for name in (every if alias.name == "*" else [alias.name])]
            origins |= dict.fromkeys(names, node.module)
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


HERE = Path(__file__).parent


def work_without(folder: Path, *modules: str) -> dict[str, Any]:
    """What `without.py` finds in a fresh interpreter."""
    done = subprocess.run(
        [sys.executable, "-W", "error", HERE / "without.py", *modules],
        capture_output=True,
        text=True,
        timeout=280,
        cwd=folder,
        env=os.environ | {"OMP_WAIT_POLICY": "passive"},
    )
    assert not done.returncode, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.fixture(scope="module")
def with_all(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("all"))
        strict = "import json, warnings, without; warnings.simplefilter('error'); "
        found: dict[str, Any] = json.loads(children.printed(strict + "print(json.dumps(without.work()))"))
    return found


@pytest.mark.parametrize("missing", [("pyarrow",), ("pyarrow", "pandas")], ids=" ".join)
def test_other_tables_give_the_same(
    missing: tuple[str, ...], with_all: dict[str, Any], tmp_path: Path
) -> None:
    found = work_without(tmp_path, *missing)
    assert {"dict", "dict of lists", "dict of masked", "structured", "astropy", "polars"} <= found.keys()
    assert "pyarrow" in with_all and not found.keys() & {"pyarrow", *missing}
    for kind, answers in found.items():
        if kind != "rest":
            assert answers == with_all[kind], kind
    assert found["rest"]["replicates"] == {"star": [8], "n": [8], "mean": [8, 2], "cov": [8, 2, 2]}
    for name in ("replicates", "leaderboard", "path"):
        assert found["rest"][name] == with_all["rest"][name]
    assert found["rest"]["loaded"] and "FileNotFoundError" in found["rest"]["path"]
