"""The package's modules import downwards only: from a lower layer or, without circles, from their own.

Read from the source, so that imports inside functions and under ``TYPE_CHECKING`` count as well.
"""

from __future__ import annotations

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import uncertain

LAYERS = (
    {"exceptions", "_uncertain"},
    {"_data"},
    {"_tables"},
    {"_base"},
    {"preprocessing", "kernels", "losses", "metrics", "uncertainty", "plot"},
    {"_trees"},
    {"_estimators"},
    {"an estimator"},
    {"laws"},
    {"_rows"},
    {"_held_out"},
    {"_errors"},
    {"_choice"},
    {"_report"},
    {"_onnx"},
    {"_model"},
    {"inspection", "dask", "demo"},
    {"__init__"},
    {"cli"},
    {"__main__"},
)
"""Modules and packages, lowest first; a public one that is not named is an estimator's."""

ROOT = Path(uncertain.__file__).parent
LAYER_OF = {name: level for level, names in enumerate(LAYERS) for name in names}


def layer_of(module: tuple[str, ...]) -> int:
    return LAYER_OF["an estimator" if module[0] not in LAYER_OF else module[0]]


def module_of(path: Path) -> tuple[str, ...]:
    return path.relative_to(ROOT).with_suffix("").parts


MODULES = {module_of(path) for path in ROOT.rglob("*.py")} | {("_uncertain",)}


def target_of(parts: tuple[str, ...]) -> tuple[str, ...]:
    """The module that an import of these names runs: a file, a package's ``__init__``, or its parent's."""
    for candidate in (parts, (*parts, "__init__"), parts[:-1], (*parts[:-1], "__init__")):
        if candidate in MODULES:
            return candidate
    raise AssertionError(f"{'.'.join(parts)} is no module of the package")


def imports_of(module: tuple[str, ...]) -> set[tuple[str, ...]]:
    """The modules of the package that one of them imports."""
    if module == ("_uncertain",):
        return set()
    found = set()
    for node in ast.walk(ast.parse(ROOT.joinpath(*module).with_suffix(".py").read_text())):
        names = [alias.name for alias in getattr(node, "names", [])]
        if isinstance(node, ast.Import):
            absolute = [name for name in names if name.partition(".")[0] == "uncertain"]
            assert not absolute, f"{module}: absolute import"
        elif isinstance(node, ast.ImportFrom) and not node.level:
            assert str(node.module).partition(".")[0] != "uncertain", f"{module}: absolute import"
        elif isinstance(node, ast.ImportFrom):
            base = (*module[: len(module) - node.level], *(node.module or "").split("."))
            found |= {target_of((*filter(None, base), name)) for name in names}
    return found - {module}


GRAPH = {module: imports_of(module) for module in sorted(MODULES)}


def test_every_private_module_has_a_layer() -> None:
    assert {module[0] for module in MODULES if module[0].startswith("_")} <= set(LAYER_OF)


def test_no_import_goes_up() -> None:
    upwards = [
        f"{'.'.join(module)} imports {'.'.join(other)}"
        for module, others in GRAPH.items()
        for other in others
        if layer_of(other) > layer_of(module)
        or (layer_of(other) == layer_of(module) and other[0] != module[0])
    ]
    assert not upwards


def test_no_circle() -> None:
    try:
        list(TopologicalSorter(GRAPH).static_order())
    except CycleError as error:
        circle = " -> ".join(".".join(module) for module in error.args[1])
        raise AssertionError(f"modules import one another: {circle}") from None
