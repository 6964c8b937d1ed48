"""Inputs of a graph: columns by name, read as `AsGaussians` reads them.

With ``on_missing="auto"`` the graph does what reading does: codes such as -9999, infinities and negative
error bars are unknown, a value without error bar gets one from the model of sizes, and the rest is a
gap. A graph cannot refuse a row: otherwise a negative error bar makes the answer NaN, and an unknown category
is none of the known ones.
"""

from collections.abc import Callable, Sequence
from functools import reduce
from operator import and_, or_

import numpy as np

from .._data.typing import Floats, Label
from .._tables.cleaning import Cleaning
from .._tables.columns import Columns
from .._tables.error_bar import ErrorBar
from .._tables.size_model import SizeModel
from ..preprocessing import AsGaussians
from .gaussians import Rows
from .graph import Graph, Value
from .steps import refuse

SHIFT = np.sqrt(2.0 / np.pi)


def read_inputs(g: Graph, reading: AsGaussians | None, d: int) -> Rows:
    """The rows; of a model of arrays ``mean`` and ``std``, (rows, d) each."""
    columns = reading.columns_ if reading is not None else None
    if reading is None or columns is None or not columns.used:
        return Rows(g, d, g.input("mean", [d]), std=g.input("std", [d]))
    _refuse_roles(columns, reading.arms)
    if columns.mean is not None:
        return _of_lists(g, columns, d)
    auto = reading.on_missing == "auto"
    unknown = reading.unknown_

    def number(name: str, value: Value | None = None) -> Value:
        value = g.input(name) if value is None else value
        if auto:
            for code in unknown.codes.get(name, ()):
                value = g.where(g.op("Equal", value, code), np.nan, value)
            value = g.where(value.apply("IsInf"), np.nan, value)
        return value

    values: list[Value] = []
    bars: list[tuple[Value, ...]] = []
    for feature, bar in columns.error_bars.items():
        value = number(feature)
        own = [g.input(name) for name in bar.columns]
        if auto:
            value, own = _cleaned(g, unknown, feature, bar, value, own, number)
        values.append(value)
        bars.append(tuple(_rescaled(each, value, bar) for each in own))
    kinds = [*columns.error_bars.values()]
    if values and auto and unknown.sizes is not None:
        bars = _filled(g, unknown.sizes, values, bars, kinds)
    pairs = [_gaussian(g, *each) for each in zip(values, bars, kinds, strict=True)]
    deviations = [deviation.expand(1) for _, deviation in pairs]
    exact = [*(columns.exact or ())] if columns.error_bars else [*columns.scalars]
    means = [mean.expand(1) for mean in (*(mean for mean, _ in pairs), *map(number, exact))]
    means += [_zeros_and_ones(g, *category) for category in reading.categories_.items()]
    mean = g.join(means, 1)
    std: Value | None = None
    if deviations:
        exactly = g.where(means[0].apply("IsNaN"), 0.0, 0.0)
        std = g.join(deviations + [exactly] * (d - len(deviations)), 1)
    if reading.on_missing not in ("auto", "impute"):
        return Rows(g, d, mean, std)
    gaps = mean.apply("IsNaN") if std is None else mean.apply("IsNaN") | std.apply("IsNaN")
    return Rows(g, d, g.where(gaps, 0.0, mean), None if std is None else g.where(gaps, 0.0, std), gaps=gaps)


def _cleaned(
    g: Graph,
    unknown: Cleaning,
    feature: str,
    bar: ErrorBar,
    value: Value,
    own: list[Value],
    number: Callable[[str, Value], Value],
) -> tuple[Value, list[Value]]:
    """A value and its error bar with NaN for what is unknown (`Cleaning.clean`)."""
    missing = value.apply("IsNaN")
    for name, column in zip(bar.columns, own, strict=True):
        missing = missing | column.apply("IsInf")
        for code in unknown.codes.get(name, ()):
            missing = missing | g.op("Equal", column, code) if code > 0.0 else missing
    own = [number(name, column) for name, column in zip(bar.columns, own, strict=True)]
    wrong = reduce(and_, [size < 0.0 for size in own])
    if bar.kind == "limits":
        wrong = (value < own[0]) | (own[1] < value)
    for k, name in enumerate(bar.columns):
        bad = wrong
        if name in unknown.zeros:
            bad = wrong | (g.op("Equal", own[k], 0.0) & ~g.op("Equal", value, 0.0))
        own[k] = g.where(bad, np.nan, own[k])
    for placeholder in unknown.placeholders.get(feature, ()):
        bare = reduce(and_, [size.apply("IsNaN") for size in own])
        missing = missing | (g.op("Equal", value, placeholder) & bare)
    return g.where(missing, np.nan, value), own


def _refuse_roles(columns: Columns, arms: str) -> None:
    """Roles without a translation."""
    if columns.flags:
        refuse("columns of limits (limits=) have no translation")
    if arms == "shape" and any(len(bar.columns) == 2 for bar in columns.error_bars.values()):
        refuse('arms="shape" has no translation (a fit with arms="moments" has)')
    if columns.draws:
        refuse("columns of draws (draws=) have no translation")
    if columns.corr is not None or (columns.cov is not None and "cov" not in columns.lists):
        refuse("columns of correlations and covariances of scalar features have no translation")
    if {"precision", "factor"} & {*columns.lists}:
        refuse("columns of precision matrices and factors have no translation")


def _of_lists(g: Graph, columns: Columns, d: int) -> Rows:
    """Column of lists: values (rows, d), covariances (rows, d, d)."""
    assert columns.mean is not None
    if columns.exact or columns.categorical:
        refuse("columns of lists beside scalar ones have no translation")
    mean = g.input(columns.mean, [d])
    for kind, name in columns.lists.items():
        if kind == "cov":
            return Rows(g, d, mean, cov=g.input(name, [d, d]))
        error = g.input(name, [d])
        if columns.list_scale != 1.0:
            error = error * columns.list_scale ** (2 if kind == "var" else 1)
        return Rows(g, d, mean, std=error.apply("Sqrt") if kind == "var" else error)
    return Rows(g, d, mean)


def _rescaled(number: Value, value: Value, bar: ErrorBar) -> Value:
    """Error bar as one standard deviation, in the unit of the value."""
    if bar.is_plain:
        return number
    factor = bar.scale * bar.share * value.apply("Abs") if bar.share else bar.scale
    if bar.kind == "limits":
        return value + (number - value) * factor
    return number * factor * factor if bar.kind == "var" else number * factor


def _arms(g: Graph, value: Value, own: tuple[Value, ...], bar: ErrorBar) -> tuple[Value, Value]:
    """Lengths of the arms below and above; signs are those of the columns."""
    first, second = own
    if bar.kind == "limits":
        return value - first, second - value
    swapped = (first < 0.0) & ~(second < 0.0) & ~second.apply("IsNaN")
    return g.where(swapped, first, second).apply("Abs"), g.where(swapped, second, first)


def _split_deviation(below: Value, above: Value) -> Value:
    """Moments of the split normal distribution with these arms."""
    shift = above - below
    return ((1.0 - 2.0 / np.pi) * shift * shift + below * above).apply("Sqrt")


def _gaussian(g: Graph, value: Value, own: tuple[Value, ...], bar: ErrorBar) -> tuple[Value, Value]:
    """Mean and deviation of a value with its error bar; NaN for negative ones."""
    if len(own) == 1:
        size = g.where(own[0] < 0.0, np.nan, own[0])
        return value, size.apply("Sqrt") if bar.kind == "var" else size
    below, above = _arms(g, value, own, bar)
    shift = above - below
    return value + SHIFT * shift, _split_deviation(below, above)


def _zeros_and_ones(g: Graph, name: str, known: Sequence[Label]) -> Value:
    """A column of zeros and ones for each category, (rows, categories)."""
    if {type(value) for value in known} not in ({str}, {int}):
        refuse(f"the categories of {name!r} are neither all texts nor all integers")
    texts = isinstance(known[0], str)
    column = g.input(name, dtype="STRING" if texts else "INT64")
    values = np.array(known, dtype=object if texts else np.int64)
    return g.op("Equal", column.expand(1), values[None, :]).numbers()


def _filled(
    g: Graph, sizes: SizeModel, values: list[Value], bars: list[tuple[Value, ...]], kinds: list[ErrorBar]
) -> list[tuple[Value, ...]]:
    """Error bars, missing ones replaced (`SizeModel.filled`)."""
    std = []
    for value, own, bar in zip(values, bars, kinds, strict=True):
        if len(own) == 1:
            std.append(own[0].apply("Sqrt") if bar.kind == "var" else own[0])
            continue
        below, above = _arms(g, value, own, bar)
        longer = g.where(below.apply("IsNaN"), above, below), g.where(above.apply("IsNaN"), below, above)
        std.append(_split_deviation(*longer))
    usual = [_usual(g, value, sizes, j) for j, value in enumerate(values)]
    filled = []
    for j, (value, own, bar) in enumerate(zip(values, bars, kinds, strict=True)):
        absent = reduce(or_, [size.apply("IsNaN") for size in own])
        size = _size(g, j, sizes, values, std, usual)
        if size is None:
            filled.append(own)
            continue
        size = g.where(std[j].apply("IsNaN"), size, std[j])
        if bar.kind == "limits":
            new = [value - size, value + size]
        else:
            new = [size * size if bar.kind == "var" else size] * len(own)
        present = ~value.apply("IsNaN") & absent
        filled.append(tuple(g.where(present, n, o) for n, o in zip(new, own, strict=True)))
    return filled


def _usual(g: Graph, value: Value, sizes: SizeModel, j: int) -> Value | None:
    """log s by the value alone."""
    if not np.isfinite(sizes.log_size[j, 0]):
        return None
    centre, spread, low, high = sizes.log_value[j].tolist()
    logs = g.where(value.apply("IsNaN"), 0.0, value).apply("Abs").apply("Log")
    scaled: Value = (g.op("Clip", logs, low, high) - centre) / spread
    a, b, c = map(float, sizes.own[j, :3])
    return a + b * scaled + c * scaled * scaled


def _size(
    g: Graph, j: int, sizes: SizeModel, values: list[Value], std: list[Value], usual: list[Value | None]
) -> Value | None:
    """Size for a missing error bar of feature j; None without a law."""
    if not sizes.learned[j]:
        return None
    own = usual[j]
    if own is None:  # all error bars are zero
        return values[j] * 0.0
    log_variance = 2.0 * own + float(sizes.own[j, 3])
    shared: list[tuple[int, Floats]] = [*zip(sizes.partners[j].tolist(), sizes.shared[j], strict=True)]
    for k, (slope, smearing) in reversed(shared):
        other = usual[k] if k >= 0 else None
        if other is None:
            continue
        here = (std[k] > 0.0) & ~values[k].apply("IsNaN")
        residual = g.where(here, std[k], 1.0).apply("Log") - other
        log_variance = g.where(here, 2.0 * (own + float(slope) * residual) + float(smearing), log_variance)
    low, high = sizes.log_size[j].tolist()
    return g.op("Clip", 0.5 * log_variance, low, high).apply("Exp")
