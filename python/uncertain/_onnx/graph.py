"""ONNX graphs by formulas that read like NumPy; boosted trees as one node.

Constants are shared by content. All numbers are float64; sizes of axes other than the rows are known when the
graph is written. Trees are a TreeEnsemble of ai.onnx.ml, the first operator with thresholds in float64. Those
of the file are in preorder, a right child by its distance from the root; a leaf has column -1
(docs/reference/model-file.md). ONNX keeps splits and leaves in separate lists.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from .._data.typing import Floats
from ..exceptions import UncertainError

OPSET, TREES_OPSET, IR = 19, 5, 10
"""Versions of the operators: the oldest with strings in Equal, the first with trees of float64."""
Proto: TypeAlias = Any
"""A message of `onnx`, which has no types."""
Operand: TypeAlias = "Value | ArrayLike"


def _binary(kind: str) -> Callable[[Value, Operand], Value]:
    return lambda value, other: value.graph.op(kind, value, other)


def _reflected(kind: str) -> Callable[[Value, ArrayLike], Value]:
    return lambda value, other: value.graph.op(kind, other, value)


def _unary(kind: str) -> Callable[[Value], Value]:
    return lambda value: value.graph.op(kind, value)


class Value:
    """A tensor of the graph."""

    __array_ufunc__ = None  # so that NumPy leaves `array * value` to __rmul__

    def __init__(self, graph: Graph, name: str) -> None:
        self.graph, self.name = graph, name

    __add__, __radd__ = _binary("Add"), _reflected("Add")
    __sub__, __rsub__ = _binary("Sub"), _reflected("Sub")
    __mul__, __rmul__ = _binary("Mul"), _reflected("Mul")
    __truediv__, __rtruediv__ = _binary("Div"), _reflected("Div")
    __matmul__, __and__, __or__ = _binary("MatMul"), _binary("And"), _binary("Or")
    __lt__, __gt__, __le__ = _binary("Less"), _binary("Greater"), _binary("LessOrEqual")
    __neg__, __invert__ = _unary("Neg"), _unary("Not")

    def apply(self, kind: str) -> Value:
        """An operation of one tensor, such as "Exp"."""
        return self.graph.op(kind, self)

    def sum(self, axis: int, *, keep: bool = False) -> Value:
        return self.graph.op("ReduceSum", self, np.array([axis]), keepdims=int(keep))

    def max(self, axis: int) -> Value:
        """Maximum over an axis, which is kept."""
        return self.graph.op("ReduceMax", self, np.array([axis]), keepdims=1)

    def expand(self, *axes: int) -> Value:
        """Insert axes of length one."""
        return self.graph.op("Unsqueeze", self, np.array(axes))

    def take(self, index: int | Sequence[int], axis: int) -> Value:
        """Select one place of an axis, which is dropped, or several places."""
        place = self.graph.constant(np.array(index), whole=True)
        return self.graph.op("Gather", self, place, axis=axis)

    def numbers(self) -> Value:
        """Truth values as 0 and 1."""
        return self.graph.op("Cast", self, to=self.graph.onnx.TensorProto.DOUBLE)


class Graph:
    """Inputs, constants and nodes, in the order in which they were made."""

    def __init__(self) -> None:
        self.onnx: Any = _imported()
        self.inputs: list[Proto] = []
        self.outputs: list[Proto] = []
        self.nodes: list[Proto] = []
        self.constants: dict[bytes, tuple[str, Any]] = {}
        self.known: dict[str, Value] = {}
        self.count = 0

    def input(self, name: str, shape: Sequence[int] = (), dtype: str = "DOUBLE") -> Value:
        """A column: one number per row, or an array of this shape."""
        if name not in self.known:
            self.inputs.append(self._described(name, shape, dtype))
            self.known[name] = Value(self, name)
        return self.known[name]

    def output(self, name: str, value: Value, shape: Sequence[int] = (), dtype: str = "DOUBLE") -> None:
        self.nodes.append(self.onnx.helper.make_node("Identity", [value.name], [name]))
        self.outputs.append(self._described(name, shape, dtype))

    def _described(self, name: str, shape: Sequence[int], dtype: str) -> Proto:
        kind = getattr(self.onnx.TensorProto, dtype)
        return self.onnx.helper.make_tensor_value_info(name, kind, ["rows", *shape])

    def constant(self, value: ArrayLike, *, whole: bool = False) -> Value:
        """Tensor of numbers, truth values or texts; float64 unless `whole`."""
        array = np.asarray(value)
        kind, in_formula = array.dtype.kind, array.ndim == 0 and not whole
        if kind in "fiu" and (array.dtype != np.int64 or in_formula):
            array = array.astype(np.float64)
        if array.dtype.kind in "UO":
            array = array.astype(object)
        key = repr((array.dtype.str, array.shape)).encode()
        key += repr(array.tolist()).encode() if array.dtype == object else array.tobytes()
        if key not in self.constants:
            name = f"uncertain/constant/{len(self.constants)}"
            self.constants[key] = name, self.onnx.numpy_helper.from_array(array, name)
        return Value(self, self.constants[key][0])

    def op(self, kind: str, *operands: Operand, domain: str = "", **attributes: Any) -> Value:
        """The one result of an operation; operands that are no values are constants."""
        names = [(o if isinstance(o, Value) else self.constant(o)).name for o in operands]
        self.count += 1
        result = f"uncertain/{self.count}"
        self.nodes.append(self.onnx.helper.make_node(kind, names, [result], domain=domain, **attributes))
        return Value(self, result)

    def where(self, condition: Value, yes: Operand, no: Operand) -> Value:
        return self.op("Where", condition, yes, no)

    def join(self, parts: Sequence[Value], axis: int) -> Value:
        return parts[0] if len(parts) == 1 else self.op("Concat", *parts, axis=axis)

    def sums(self, equation: str, *operands: Operand) -> Value:
        """Einstein's notation."""
        return self.op("Einsum", *operands, equation=equation)

    def model(self, properties: dict[str, str]) -> Proto:
        """The finished model, checked."""
        helper = self.onnx.helper
        tensors = [tensor for _, tensor in self.constants.values()]
        graph = helper.make_graph(self.nodes, "uncertain", self.inputs, self.outputs, tensors)
        versions = [helper.make_opsetid("", OPSET), helper.make_opsetid("ai.onnx.ml", TREES_OPSET)]
        model = helper.make_model(graph, opset_imports=versions, ir_version=IR, producer_name="uncertain")
        helper.set_model_props(model, properties)
        self.onnx.checker.check_model(model)
        return model


def _imported() -> Proto:
    try:
        import onnx
        from onnx import checker, helper, numpy_helper  # noqa: F401
    except ImportError:
        raise UncertainError('to_onnx needs the package onnx: pip install "uncertain-learn[onnx]"') from None
    return onnx


LEQ = 0
"""The mode BRANCH_LEQ: x <= value goes to the true branch, which is the left one."""
SUM = 1


def powers_of_ten(arrays: dict[str, Floats], d: int) -> dict[str, Floats]:
    """Trees of s / t in place of log10 (s / t), in columns d and after.

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
