"""The package's modules import downwards only: from a lower layer or, without circles, from their own.

Read from the source, so that imports inside functions and under ``TYPE_CHECKING`` count as well.
"""

import ast
import re
from collections import defaultdict
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


ROOT_OF_RUST_LAYERS = Path(__file__).parents[2] / "rust" / "uncertain" / "src"

# From the bottom up; modules of one line do not import each other.
LAYERS_OF_RUST_LAYERS = [
    {"error"},
    {"memory"},
    {"named", "number", "params", "readable", "control", "parallel"},
    {"rows"},
    {"simd"},
    {"linalg", "special"},
    {"data", "density"},
    {"loss", "mixture"},
    {"sums"},
    {"state"},
    {"kernel", "objective", "draws"},
    {"solver", "kernels"},
    {"deconvolution"},
    {"moments"},
    {"transform"},
    {"model"},
    {"partition", "estimator"},
    {"step"},
    {"file"},
]

Path_ = tuple[str, ...]


def _leaves(tree: str, prefix: Path_ = ()) -> list[tuple[Path_, str]]:
    """The (path, name in scope) of a use tree."""
    tree = tree.strip()
    if (brace := tree.find("{")) >= 0:
        prefix = (*prefix, *(p.strip() for p in tree[:brace].split("::") if p.strip()))
        depth, parts, inside = 0, [""], tree[brace + 1 : tree.rindex("}")]
        for c in inside:
            depth += (c == "{") - (c == "}")
            if c == "," and depth == 0:
                parts.append("")
            else:
                parts[-1] += c
        return [leaf for part in parts if part.strip() for leaf in _leaves(part, prefix)]
    path, _, alias = tree.partition(" as ")
    segments = (*prefix, *(p.strip() for p in path.split("::")))
    if segments[-1] == "self":
        segments = segments[:-1]
    return [(segments, alias.strip() or segments[-1])]


class Crate:
    def __init__(self, root: Path) -> None:
        self.imports: dict[Path_, dict[str, Path_]] = {}
        self.written: dict[Path_, set[Path_]] = {}
        for file in sorted(root.rglob("*.rs")):
            module = tuple(p for p in file.relative_to(root).with_suffix("").parts if p not in ("mod", "lib"))
            if "tests" in module or module == ("testing",):
                continue
            text = re.sub(r"//[^\n]*", "", file.read_text())
            text = re.sub(r"#\[cfg\(test\)\]\s*mod \w+ \{.*", "", text, flags=re.DOTALL)
            uses = re.findall(r"\buse ((?:::)?\w[^;]*);", text)
            leaves = [leaf for use in uses for leaf in _leaves(use)]
            self.imports[module] = {name: self._absolute(module, path) for path, name in leaves}
            rest = re.sub(r"\buse \w[^;]*;", "", text)
            paths = re.findall(r"(?<![\w$])(?:crate|super)(?:::\w+)+", rest)
            self.written[module] = {self._absolute(module, tuple(p.split("::"))) for p in paths}

    @staticmethod
    def _absolute(module: Path_, path: Path_) -> Path_:
        if path[0] == "crate":
            return ("crate", *path[1:])
        if path[0] in ("super", "self"):
            while path and path[0] in ("super", "self"):
                module = module[:-1] if path[0] == "super" else module
                path = path[1:]
            return ("crate", *module, *path)
        return ("here", *path)

    def defined_in(self, path: Path_, module: Path_, seen: frozenset[Path_] = frozenset()) -> Path_ | None:
        """The module that defines what this path names; None if it is of another crate."""
        if path in seen:
            return None
        start = () if path[0] == "crate" else module
        if path[0] == "here" and start + path[1:2] not in self.imports:
            return None
        at, rest = start, path[1:]
        while rest and (*at, rest[0]) in self.imports:
            at, rest = (*at, rest[0]), rest[1:]
        if rest and rest[0] in self.imports[at]:
            target = (*self.imports[at][rest[0]], *rest[1:])
            return self.defined_in(target, at, seen | {path}) or at
        return at

    def edges(self) -> set[tuple[Path_, Path_]]:
        """(importing module, module that defines what it imports)."""
        out = set()
        for module, imports in self.imports.items():
            for path in {*imports.values(), *self.written[module]}:
                found = self.defined_in(path, module)
                if found is not None and found != module:
                    out.add((module, found))
        return out


def _neighbours() -> dict[Path_, dict[str, dict[str, set[str]]]]:
    """For every folder: what in it imports what else in it, with the modules that do."""
    out: dict[Path_, dict[str, dict[str, set[str]]]] = defaultdict(
        lambda: defaultdict(lambda: defaultdict(set))
    )
    for a, b in Crate(ROOT_OF_RUST_LAYERS).edges():
        k = next((k for k, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), None)
        if k is not None:
            out[a[:k]][a[k]][b[k]].add("::".join(a))
    return out


def test_top_level_modules_import_from_lower_layers_only() -> None:
    level = {name: k for k, names in enumerate(LAYERS_OF_RUST_LAYERS) for name in names}
    modules = {p.stem for p in ROOT_OF_RUST_LAYERS.iterdir()} - {"lib", "testing"}
    assert modules == set(level), "declare the layer of a new module"
    upward = [
        f"{', '.join(sorted(by))} -> {b}"
        for a, targets in _neighbours()[()].items()
        for b, by in targets.items()
        if level[b] >= level[a]
    ]
    assert not upward, upward


def test_no_circles_inside_folders() -> None:
    circles = []
    for folder, graph in _neighbours().items():
        try:
            TopologicalSorter(graph).prepare()
        except CycleError as error:
            circles.append(f"{'::'.join(folder)}: {' <- '.join(error.args[1])}")
    assert not circles, circles


OF_EVERY_MODULE = {"Model", "Params", "ValidParams", "Header"}


def test_a_type_has_a_name_of_its_own() -> None:
    places = defaultdict(set)
    for file in sorted(ROOT_OF_RUST_LAYERS.rglob("*.rs")):
        text = re.sub(r"//[^\n]*", "", file.read_text())
        for name in re.findall(r"(?m)^\s*pub(?:\(crate\))? (?:struct|enum|trait|type) (\w+)", text):
            places[name].add(str(file.relative_to(ROOT_OF_RUST_LAYERS)))
    assert len(places) > 100
    twice = {n: where for n, where in places.items() if len(where) > 1 and n not in OF_EVERY_MODULE}
    assert not twice, twice


def test_no_function_is_called_of() -> None:
    """`of` says nothing: a verb does, or `from_` what it is made from."""
    named = {
        f"{file.relative_to(ROOT_OF_RUST_LAYERS)}: {name}"
        for file in sorted(ROOT_OF_RUST_LAYERS.rglob("*.rs"))
        for name in re.findall(r"\bpub(?:\([a-z: ]+\))? fn (of|of_\w+|\w+_of)\b", file.read_text())
    }
    assert not named, named
