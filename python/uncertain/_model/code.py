"""The line of Python that fits a model again, or its like with another reading of the error bars.

Everything is read off the fitted pipeline and its columns, so that a model from a file knows it too.
Arguments are written where they differ from the defaults of `uncertain.fit`; `method` and `meaning` always,
because what "auto" stands for may depend on the table.
"""

from __future__ import annotations

import os
from inspect import signature

from sklearn.base import is_regressor
from sklearn.pipeline import Pipeline

from .._choice.methods import METHODS, make_estimator
from .._columns import Columns, find_columns
from .._columns.columns import OF_LAWS
from .._data.typing import Keywords
from .._report.board import MEANS_ONLY
from .._report.huber import MODEL, SQUARED
from .._report.meanings import own_meaning
from .._rows.source import Source
from ..exceptions import UncertainError
from ..preprocessing import AsGaussians, GaussianImputer, GaussianScaler
from .coefficients import logarithms

LEFT_OUT = object()
"""The value of an argument that is not written."""


def fitting_calls(
    pipeline: Pipeline, columns: Columns, source: Source, given: object, *, by_column: bool
) -> dict[str, str]:
    """For every candidate of a report the line that fits it to this table.

    `given` is what the caller passed for the table; `by_column`: its target is a column, not values.
    """
    method = method_name(pipeline)
    if method is None:
        return {}
    regression = is_regressor(pipeline[-1])  # laws of counts are, of the class that laws of classes have
    own = own_meaning(pipeline)
    table = _quoted(os.fspath(given)) if isinstance(given, (str, os.PathLike)) else "table"
    common = _reading(pipeline, columns, source, regression=regression, by_column=by_column)
    params = _params(pipeline, method, regression=regression)

    def line(rows: str = table, **changes: object) -> str:
        arguments = common | {"method": method, "meaning": own} | params | changes
        return call(rows, {name: value for name, value in arguments.items() if value is not LEFT_OUT})

    if columns.features and columns.automatic:  # else other columns with error bars would be found as well
        exact = line(**_exact(columns, common))
    else:
        exact = line(f"model.gaussians({table}).collapse('zero')", **_no_columns(common, table))
    if METHODS[method].partial:
        return {MODEL: line(), SQUARED: line(max_refinements=0, threshold=None), MEANS_ONLY: exact}
    none: Keywords = dict.fromkeys(params, LEFT_OUT)
    if own == "discriminant":
        others = {m: line(**none | {"method": "gsu", "meaning": m}) for m in ("spread", "measurement")}
        return others | {MEANS_ONLY: exact, own: line(meaning=LEFT_OUT)}
    lines = {MEANS_ONLY: exact} | {m: line(meaning=m) for m in ("spread", "measurement")}
    if not regression:
        lines["discriminant"] = line(**none | {"method": "discriminant", "meaning": LEFT_OUT})
    return lines


def method_name(pipeline: Pipeline) -> str | None:
    """The name under which `uncertain.fit` knows the last step; None for a stranger."""
    last = pipeline[-1]
    for name, entry in METHODS.items():
        known = type(last) in (entry.classifier, entry.regressor)
        if known and all(getattr(last, key) == value for key, value in entry.fixed.items()):
            return name
    return None


def call(table: str, arguments: Keywords) -> str:
    """``uncertain.fit(table, name=value, ...)``; what cannot be written stands by its name."""
    texts = [f"{name}={_literal(value, name)}" for name, value in arguments.items()]
    return f"uncertain.fit({', '.join([table, *texts])})"


class Name(str):
    """A variable in the line of code."""

    def __repr__(self) -> str:
        return str(self)


def _literal(value: object, name: str) -> str:
    plain = isinstance(value, (bool, int, float, str, type(None)))
    if plain or (isinstance(value, (list, tuple)) and all(_literal(v, "") for v in value)):
        return repr(value) if not isinstance(value, str) or isinstance(value, Name) else _quoted(value)
    if isinstance(value, dict) and all(_literal(v, "") for v in value.values()):
        return repr(value)
    return name


def _quoted(text: str) -> str:
    return f'"{text}"' if repr(text) == f"'{text}'" else repr(text)


def _reading(
    pipeline: Pipeline, columns: Columns, source: Source, *, regression: bool, by_column: bool
) -> Keywords:
    """The arguments about columns, gaps and scales."""
    found: Keywords = {"target": columns.target if by_column else Name("y")}
    if by_column:
        found |= _task(source, columns, pipeline, regression=regression)
    if by_column and columns.target == "label":
        del found["target"]
    if columns.roles():
        found |= _roles(columns, source)
    limits = columns.flags | ({str(columns.target): columns.target_limit} if columns.target_limit else {})
    if limits:
        found["limits"] = limits
    if columns.groups is not None:
        found["groups"] = columns.groups if isinstance(columns.groups, str) else Name("groups")
    if columns.sample_weight is not None:
        weights = columns.sample_weight
        found["sample_weight"] = weights if isinstance(weights, str) else Name("sample_weight")
    for role in OF_LAWS:
        beside = getattr(columns, role)
        if beside is not None:
            named = isinstance(beside, (str, tuple))
            found[role] = (list(beside) if isinstance(beside, tuple) else beside) if named else Name(role)
    reading = next((step for _, step in pipeline.steps if isinstance(step, AsGaussians)), None)
    on_missing = "auto" if reading is None else reading.on_missing
    if reading is not None and reading.handle_unknown != "error":
        found["handle_unknown"] = reading.handle_unknown
    if reading is not None and reading._indicators:
        found["indicators"] = True
    if reading is not None and reading.arms == "shape":
        found["arms"] = "shape"
    imputes = any(isinstance(step, GaussianImputer) for _, step in pipeline.steps)
    if imputes and (reading is None or on_missing != "auto"):
        on_missing = "impute"
    if on_missing != "auto":
        found["on_missing"] = on_missing
    if logs := logarithms(pipeline):
        found["transform"] = logs
    if not any(isinstance(step, GaussianScaler) for _, step in pipeline.steps):
        found["scale"] = False
    return found


def _roles(columns: Columns, source: Source) -> Keywords:
    """The columns that are not found by name."""
    roles = columns.roles()
    if not columns.automatic:
        return roles | ({} if columns.target_std is None else {"target_std": columns.target_std})
    groups, weight = (c if isinstance(c, str) else None for c in (columns.groups, columns.sample_weight))
    limits = columns.flags | ({str(columns.target): columns.target_limit} if columns.target_limit else {})
    again = Columns(columns.target, limits=limits or None, groups=groups, sample_weight=weight)
    assert source.table is not None
    try:
        found = find_columns(again, source.table).roles()
    except UncertainError:
        found = {}
    if any(roles.get(name) != found.get(name) for name in ("mean", "features")):
        return roles
    return {name: value for name, value in roles.items() if found.get(name) != value}


def _task(source: Source, columns: Columns, pipeline: Pipeline, *, regression: bool) -> dict[str, str]:
    """`task`, where the column alone would be taken for something else."""
    wanted = "regression" if regression else "classification"
    method = method_name(pipeline)
    partial = method is not None and METHODS[method].partial
    try:
        _, quantities = source.targets(columns.target or "label", "auto", partial=partial)
    except UncertainError:
        return {"task": wanted}
    return {} if quantities == regression else {"task": wanted}


def _params(pipeline: Pipeline, method: str, *, regression: bool) -> Keywords:
    """Parameters of the estimator that differ from what the method has by itself."""
    usual = make_estimator(method, regression=regression, params={}).get_params(deep=False)
    last = pipeline[-1]
    own = last.get_params(deep=False)
    if own.keys() != usual.keys():  # of another class of the method's
        usual = {name: parameter.default for name, parameter in signature(type(last)).parameters.items()}
    silent = ("callback", "verbose", "n_jobs")
    return {k: v for k, v in own.items() if k not in silent and not _same(v, usual[k])}


def _same(a: object, b: object) -> bool:
    try:
        return bool(a == b) or (a is b)
    except ValueError:  # arrays
        return a is b


def _exact(columns: Columns, common: Keywords) -> Keywords:
    """The same features as exact columns; rows without error bars have no meaning of these."""
    without: Keywords = dict.fromkeys({*columns.roles(), "limits"} & {*common}, LEFT_OUT)
    kept = {"categorical": list(columns.categorical)} if columns.categorical else {}
    exact = columns.scalars
    return without | kept | {"exact": exact, "meaning": LEFT_OUT}


def _no_columns(common: Keywords, table: str) -> Keywords:
    """For rows without columns: the target as values, and no roles."""
    without: Keywords = dict.fromkeys(
        set(common) - {"on_missing", "scale", "groups", "sample_weight", "task"}, LEFT_OUT
    )
    target = common["target"] if isinstance(common.get("target"), Name) else Name(f"model.labels({table})")
    beside = {name: Name(name) for name in ("groups", "sample_weight") if name in common}
    return without | {"target": target, "meaning": LEFT_OUT} | beside
