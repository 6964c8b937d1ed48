"""Views of the rows: column groups, each with a kernel and a graph, as the core takes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

import numpy as np

from ..exceptions import ParameterError

Kernel: TypeAlias = Literal["rbf", "linear", "quadratic", "polynomial", "probabilistic", "precomputed"]

FORGOTTEN = "given"
"""The graph of a model that was read from a file, which holds no graph's matrix."""


def column_groups(views: Any, d: int, names: Sequence[str]) -> list[list[int] | None]:
    """The features of each view as numbers; `None`: one view of all."""
    if views is None:
        return [None]
    places = {name: k for k, name in enumerate(names)}
    groups: list[list[int] | None] = []
    for view in views:
        group = range(*view.indices(d)) if isinstance(view, slice) else view
        group = [group] if isinstance(group, (int, np.integer, str)) else list(group)
        unknown = [c for c in group if isinstance(c, str) and c not in places]
        if unknown:
            raise ParameterError(f"views: there is no column {unknown[0]!r}")
        numbers = [places[c] if isinstance(c, str) else int(c) for c in group]
        outside = [c for c in numbers if not -d <= c < d]
        if outside or not numbers:
            raise ParameterError(f"views = {views!r}: every view needs columns, from 0 to {d - 1}")
        groups.append([c % d for c in numbers])
    if not groups:
        raise ParameterError("views = []: must be None or at least one group of columns")
    return groups


def per_view(name: str, value: Any, count: int) -> list[Any]:
    """One value per view: a list of them, or one for all."""
    if not isinstance(value, (list, tuple)):
        return [value] * count
    if len(value) != count:
        raise ParameterError(f"{name} = {value!r}: must be one value, or one for each of the {count} views")
    return list(value)


def view_weights(weights: Sequence[float] | None, count: int) -> list[float]:
    """c of each view."""
    if weights is None:
        return [1.0 / count] * count
    if len(weights) != count:
        raise ParameterError(f"view_weights = {weights!r}: must be one for each of the {count} views")
    return list(weights)


def graph_arguments(graph: Any, laplacian: str | None) -> dict[str, Any]:
    """What :class:`HuberView` wants to know of a graph: its kind, and the matrix where there is one."""
    if laplacian not in ("normalized", "unnormalized", None):
        raise ParameterError(
            f'laplacian = {laplacian!r}: must be "normalized", "unnormalized" or None (the graph is M itself)'
        )
    given = "regularizer" if laplacian is None else "weights"
    if graph is None:
        return {"graph": "none"}
    if not isinstance(graph, str):
        return {"graph": given, **_matrix(graph)}
    if graph == FORGOTTEN:
        return {"graph": given, "dense": np.zeros((0, 0))}
    if graph not in ("knn", "rbf"):
        raise ParameterError(f'graph = {graph!r}: must be "knn", "rbf", None or a matrix')
    if laplacian is None:
        raise ParameterError("laplacian = None: the graph must then be the matrix M itself")
    return {"graph": graph}


def _matrix(graph: Any) -> dict[str, Any]:
    if hasattr(graph, "tocsr"):
        csr = graph.tocsr()
        if csr.shape[0] != csr.shape[1]:
            raise ParameterError(f"graph: must be a square matrix, got shape {csr.shape}")
        starts, indices = (np.asarray(a, dtype=np.int64) for a in (csr.indptr, csr.indices))
        return {"sparse": (starts, indices, np.asarray(csr.data, dtype=np.float64))}
    dense = np.ascontiguousarray(graph, dtype=np.float64)
    if dense.ndim != 2 or dense.shape[0] != dense.shape[1]:
        raise ParameterError(f"graph: must be a square matrix, got shape {dense.shape}")
    return {"dense": dense}
