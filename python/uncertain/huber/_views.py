"""Views: column groups, each with a kernel and a graph, for the core."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from .._data.options import refuse_if
from .._data.typing import Floats, Ints, Json, Keywords, Label
from ..exceptions import ParameterError

Matrix: TypeAlias = Floats | tuple[Ints, Ints, Floats]
"""A square matrix: dense, or starts, columns and values of sparse rows."""

Kernel: TypeAlias = Literal["rbf", "linear", "quadratic", "polynomial", "probabilistic", "precomputed"]

Columns: TypeAlias = Sequence[int | str] | slice | int | str
"""The features of a view, by number or name."""
Graph: TypeAlias = Literal["knn", "rbf", "given"] | ArrayLike | None
"""A kind of graph, or its matrix, dense or sparse."""

FORGOTTEN = "given"
"""The graph of a model that was read from a file, which holds no graph's matrix."""


def column_groups(views: object, d: int, names: Sequence[str]) -> list[list[int] | None]:
    """The features of each view as numbers; `None`: one view of all."""
    if views is None:
        return [None]
    if not isinstance(views, (list, tuple, np.ndarray)):
        raise ParameterError(f"views = {views!r}: must be None or a list of groups of columns")
    places = {name: k for k, name in enumerate(names)}
    groups: list[list[int] | None] = []
    for view in views:
        group = range(*view.indices(d)) if isinstance(view, slice) else view
        group = [group] if isinstance(group, (int, np.integer, str)) else group
        named = isinstance(group, Iterable) and not isinstance(group, bytes)
        group = list(group) if named else [None]
        strange = not all(isinstance(c, (int, np.integer, str)) for c in group)
        refuse_if(strange, f"views = {views!r}: a group holds numbers or names of columns, or is a slice")
        for c in group:
            refuse_if(isinstance(c, str) and c not in places, f"views: there is no column {c!r}")
        numbers = [places[c] if isinstance(c, str) else int(c) for c in group]
        wrong = not numbers or not all(-d <= c < d for c in numbers)
        refuse_if(wrong, f"views = {views!r}: every view needs columns, from 0 to {d - 1}")
        groups.append([c % d for c in numbers])
    refuse_if(not groups, "views = []: must be None or at least one group of columns")
    return groups


def per_view(name: str, value: object, count: int) -> list[Label]:
    """One value per view: a list of them, or one for all."""
    if not isinstance(value, (list, tuple)):
        return [value] * count
    wanted = f"one value, or one for each of the {count} views"
    refuse_if(len(value) != count, f"{name} = {value!r}: must be {wanted}")
    return list(value)


class View(NamedTuple):
    """One view as the core's parameters have it, and the matrix of its graph."""

    columns: list[int] | None
    kernel: Json
    weight: float
    graph: Json
    matrix: Matrix | None

    def plain(self) -> Keywords:
        """Parameter of the core, which gets the matrix apart."""
        view = self._asdict()
        del view["matrix"]
        return view


OPTIONS: dict[str, tuple[str, ...]] = {
    "linear": (),
    "quadratic": (),
    "polynomial": ("degree", "gamma", "coef0"),
    "rbf": ("gamma", "coupling"),
    "probabilistic": ("gamma", "coupling"),
    "precomputed": (),
}
"""The options of each kernel."""


def kernel_parameter(name: object, options: Keywords) -> Json:
    """A kernel as the core's parameters have it."""
    names = ", ".join(f'"{one}"' for one in OPTIONS)
    unknown = not isinstance(name, str) or name not in OPTIONS
    refuse_if(unknown, f"kernel = {name!r}: must be one of {names}")
    kernel = str(name)
    used = {option: options[option] for option in OPTIONS[kernel]}
    return {kernel: used} if used else kernel


def graph_parameter(graph: Graph, laplacian: str | None, **options: Json) -> tuple[Json, Matrix | None]:
    """Graph as a parameter of the core, and its matrix, if any."""
    wanted = '"normalized", "unnormalized" or None (the graph is M itself)'
    unknown = laplacian not in ("normalized", "unnormalized", None)
    refuse_if(unknown, f"laplacian = {laplacian!r}: must be {wanted}")
    as_matrix: Json = {FORGOTTEN: {"regulariser": laplacian is None}}
    if graph is None:
        return "none", None
    if not isinstance(graph, str):
        return as_matrix, _matrix(graph)
    if graph == FORGOTTEN:
        return as_matrix, None
    refuse_if(graph not in ("knn", "rbf"), f'graph = {graph!r}: must be "knn", "rbf", None or a matrix')
    refuse_if(laplacian is None, "laplacian = None: the graph must then be the matrix M itself")
    return {graph: options if graph == "knn" else {"gamma": options["gamma"]}}, None


def arguments_from(parameters: Keywords) -> Keywords:
    """Arguments from parameters of the core; one view is no list."""
    views = parameters["views"]
    arguments = dict(parameters)
    kernels = [_named(view["kernel"]) for view in views]
    graphs = [_named(view["graph"]) for view in views]
    columns = [view["columns"] for view in views]
    del arguments["views"]
    if any(group is not None for group in columns):
        arguments |= {"views": columns, "view_weights": [view["weight"] for view in views]}
    for _, options in kernels:
        arguments |= {name: value for name, value in options.items() if name != "gamma"}
    for _, options in graphs:
        names = {"count": "n_neighbors", "gamma": "graph_gamma"}
        arguments |= {names[name]: value for name, value in options.items() if name in names}
    each: dict[str, list[object]] = {
        "kernel": [name for name, _ in kernels],
        "gamma": [options.get("gamma") for _, options in kernels],
        "graph": [None if name == "none" else name for name, _ in graphs],
    }
    arguments |= {name: values[0] if len(values) == 1 else values for name, values in each.items()}
    regulariser = any(options.get("regulariser") for _, options in graphs)
    normalized = "normalized" if arguments.pop("normalized") else "unnormalized"
    return arguments | {"laplacian": None if regulariser else normalized}


def _named(option: str | Keywords) -> tuple[str, Keywords]:
    """Name and fields of one of the core's options."""
    return next(iter(option.items())) if isinstance(option, dict) else (option, {})


def _matrix(graph: ArrayLike) -> Matrix:
    if hasattr(graph, "tocsr"):
        csr = graph.tocsr()
        refuse_if(csr.shape[0] != csr.shape[1], f"graph: must be a square matrix, got shape {csr.shape}")
        starts, indices = (np.asarray(a, dtype=np.int64) for a in (csr.indptr, csr.indices))
        return starts, indices, np.asarray(csr.data, dtype=np.float64)
    try:
        dense = np.ascontiguousarray(graph, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        wanted = '"knn", "rbf", None, a matrix, or a list of these'
        raise ParameterError(f"graph = {graph!r:.40}: must be {wanted}") from None
    square = dense.ndim == 2 and dense.shape[0] == dense.shape[1]
    refuse_if(not square, f"graph: must be a square matrix, got shape {dense.shape}")
    return dense
