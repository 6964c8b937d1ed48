"""Boosted trees as one node of ai.onnx.ml: TreeEnsemble, the first operator with thresholds in float64.

The file's trees are in preorder, a right child by its distance from the root; a leaf has column -1
(docs/reference/model-file.md). ONNX keeps splits and leaves in separate lists.
"""

from __future__ import annotations

import numpy as np

from .._data.typing import Floats
from .graph import Graph, Value

LEQ = 0
"""The mode BRANCH_LEQ: x <= value goes to the true branch, which is the left one."""
SUM = 1


def powers_of_ten(arrays: dict[str, Floats], d: int) -> dict[str, Floats]:
    """Trees that take s / t where those of the file take log10 (s / t), in the columns from d on.

    A threshold v becomes the largest number whose logarithm, as NumPy rounds it, is at most v: rows of the
    fit lie on thresholds, and the logarithm of a runtime may be rounded otherwise.
    """
    value = arrays["value"].copy()
    for i in np.flatnonzero(arrays["column"] >= d).tolist():
        value[i] = _largest_below(float(value[i]))
    return arrays | {"value": value}


def _largest_below(log: float) -> float:
    """max {x : log10 x <= log}."""
    if log >= np.log10(np.finfo(np.float64).max):
        return float(np.finfo(np.float64).max)
    x = np.float64(10.0) ** log
    while np.log10(x) <= log:
        x = np.nextafter(x, np.inf)
    while np.log10(x) > log:
        x = np.nextafter(x, 0.0)
    return float(x)


def tree_scores(g: Graph, columns: Value, arrays: dict[str, Floats]) -> Value:
    """baseline + the leaves of all trees, (rows, scores)."""
    baseline, value = arrays["baseline"], arrays["value"]
    column, sizes = arrays["column"].astype(int), arrays["sizes"].astype(int)
    roots = np.cumsum(sizes) - sizes
    tree = np.repeat(np.arange(len(sizes)), sizes)
    score_of_tree = np.arange(len(sizes)) % len(baseline)
    left, right = np.arange(len(column)) + 1, roots[tree] + arrays["right"].astype(int)
    is_leaf = column < 0
    alone = is_leaf[roots]  # trees of one leaf are constants
    offset = baseline.astype(np.float64)
    np.add.at(offset, score_of_tree[alone], value[roots[alone]])
    splits, leaves = np.flatnonzero(~is_leaf), np.flatnonzero(is_leaf & ~alone[tree])
    if not splits.size:
        return columns.sum(1, keep=True) * 0.0 + offset[None, :]
    place = np.zeros(len(column), dtype=int)
    place[splits], place[leaves] = np.arange(len(splits)), np.arange(len(leaves))
    helper, types = g.onnx.helper, g.onnx.TensorProto
    found = g.op(
        "TreeEnsemble",
        columns,
        domain="ai.onnx.ml",
        aggregate_function=SUM,
        n_targets=len(baseline),
        tree_roots=place[roots[~alone]].tolist(),
        nodes_featureids=column[splits].tolist(),
        nodes_splits=helper.make_tensor("splits", types.DOUBLE, [len(splits)], value[splits]),
        nodes_modes=helper.make_tensor("modes", types.UINT8, [len(splits)], [LEQ] * len(splits)),
        nodes_missing_value_tracks_true=arrays["missing_left"][splits].astype(int).tolist(),
        nodes_truenodeids=place[left[splits]].tolist(),
        nodes_trueleafs=is_leaf[left[splits]].astype(int).tolist(),
        nodes_falsenodeids=place[right[splits]].tolist(),
        nodes_falseleafs=is_leaf[right[splits]].astype(int).tolist(),
        leaf_targetids=score_of_tree[tree[leaves]].tolist(),
        leaf_weights=helper.make_tensor("leaves", types.DOUBLE, [len(leaves)], value[leaves]),
    )
    return found + offset
