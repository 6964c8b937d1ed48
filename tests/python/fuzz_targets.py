"""What `test_fuzz.py` feeds the library, and what must hold: a right answer, or an `UncertainError`.

Inputs are valid ones with strange parts in any place: random bytes nearly all end at the first check.
"""

import datetime
import decimal
import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from everything import SUBJECTS, rows
from fuzz_model_files import FILES, check_file
from hypothesis import strategies as st
from sklearn.utils._param_validation import InvalidParameterError

import uncertain
from uncertain import GaussianArray
from uncertain.exceptions import UncertainError

# -- strange values

NUMBERS = st.one_of(
    st.floats(-3, 3),
    st.sampled_from([0.0, -0.0, 1e-300, 1e154, -1e308, math.inf, -math.inf, math.nan, 5e-324, -999.0]),
    st.integers(-3, 3),
    st.sampled_from([2**53 + 1, 2**63 - 1, -(2**63)]),
)
ODD: st.SearchStrategy[Any] = st.one_of(
    NUMBERS,
    st.none(),
    st.booleans(),
    st.text(max_size=3),
    st.binary(max_size=3),
    st.decimals(allow_nan=False, places=2, min_value=-99, max_value=99),
    st.dates(),
    st.just(decimal.Decimal("1e400")),
    st.just(datetime.timedelta(1)),
    st.just(2**64),
    st.just(10**400),
    st.just(object()),
    st.just(1 + 2j),
    st.lists(NUMBERS, max_size=3),
    st.dictionaries(st.text(max_size=2), NUMBERS, max_size=2),
)
NAMES = st.sampled_from(
    [
        "u", "u_err", "v", "v_err", "w", "u_v_corr", "u_lower", "u_upper", "label", "", "{}", "{}_err",
        "mean", "cov", "ü", "u u",
    ]
)  # fmt: skip
ROLES = st.one_of(
    NAMES,
    st.lists(NAMES, max_size=3),
    st.dictionaries(NAMES, NAMES, max_size=2),
    st.sampled_from(["{}_err", "{}_{}_corr", None, 3, 1.5, True, ("{}_lower", "{}_upper")]),
)

ARGUMENTS = [
    "std", "var", "corr", "cov", "features", "mean", "exact", "categorical", "bounds", "factor", "precision",
]  # fmt: skip


def column(draw: st.DrawFn, n: int) -> list[Any]:
    """Mostly values of one kind, at times one that is strange."""
    kind = draw(st.sampled_from(["numbers", "errors", "labels", "lists", "odd"]))
    of = {
        "numbers": NUMBERS, "errors": st.floats(0, 3), "labels": st.sampled_from(["a", "b"]),
        "lists": st.lists(st.floats(-3, 3), min_size=2, max_size=2), "odd": ODD,
    }[kind]  # fmt: skip
    values = draw(st.lists(of, min_size=n, max_size=n))
    if n and draw(st.booleans()):
        values[draw(st.integers(0, n - 1))] = draw(ODD)
    return values


@st.composite
def fits(draw: st.DrawFn) -> tuple[Any, dict[str, Any]]:
    """A table of some library, and arguments of `uncertain.fit`."""
    n = draw(st.integers(0, 12))
    rng = np.random.default_rng(draw(st.integers(0, 9)))
    data: dict[str, Any] = {
        "u": rng.normal(size=n).tolist(),
        "u_err": rng.uniform(0.1, 1, n).tolist(),
        "v": rng.normal(size=n).tolist(),
        "v_err": rng.uniform(0.1, 1, n).tolist(),
        "label": [("a", "b")[k % 2] for k in range(n)],
    }
    for _ in range(draw(st.integers(0, 3))):
        name, action = draw(NAMES), draw(st.sampled_from(["replace", "drop", "add", "shorten"]))
        if action == "drop":
            data.pop(name, None)
        elif action == "shorten" and name in data:
            data[name] = data[name][:-1]
        else:
            data[name] = column(draw, n)
    options: dict[str, Any] = {}
    for name in draw(st.lists(st.sampled_from(ARGUMENTS), max_size=2)):
        options[name] = draw(ROLES)
    options["target"] = draw(st.sampled_from(["label", "label", "u", "w", None, 3]))
    options["on_missing"] = draw(st.sampled_from(["error", "point", "impute", "no"]))
    options["meaning"] = draw(st.sampled_from(["spread", "measurement"]))
    kind = draw(st.sampled_from(["dict", "polars", "pandas", "arrow"]))
    return as_table(data, kind), options


def as_table(data: dict[str, Any], kind: str) -> Any:
    """In the library, or as a dictionary where that refuses the values."""
    try:
        if kind == "polars":
            return pl.DataFrame(data, strict=False)
        if kind == "pandas":
            return pd.DataFrame(data)
        if kind == "arrow":
            return pa.table(data)
    except Exception:
        return data
    return data


def check_fit(given: tuple[Any, dict[str, Any]]) -> None:
    """A model that predicts the rows it was fitted to, or a refusal; the table stays as it is."""
    data, options = given
    before = seen(data)
    try:
        model = uncertain.fit(data, method="gsu", probability=False, max_iter=20, **options)
    except UncertainError:
        assert seen(data) == before
        return
    predicted = model.predict(data)
    assert len(predicted) == len(model.gaussians(data))
    assert seen(data) == before


def seen(data: Any) -> str:
    """A table as text."""
    return (
        str({name: list(data[name]) for name in data})
        if isinstance(data, (dict, pd.DataFrame))
        else repr(data)
    )


# -- covariances


@st.composite
def arrays(draw: st.DrawFn) -> tuple[Any, dict[str, Any]]:
    """Means and arguments, of right and wrong shapes and kinds."""
    n, d = draw(st.integers(0, 4)), draw(st.integers(0, 3))
    shapes = [
        (), (n,), (d,), (n, d), (n, d, d), (d, d), (n, d, 1), (n, d, 2), (n, 1), (n, d, d, 1), (n + 1, d),
    ]  # fmt: skip
    rng = np.random.default_rng(draw(st.integers(0, 9)))

    def values(shape: tuple[int, ...], kind: str) -> Any:
        a = rng.normal(size=shape) * 10.0 ** draw(
            st.sampled_from([-200, -160, -3, 0, 0, 0, 3, 154, 160, 300])
        )
        if kind == "square" and a.ndim >= 2 and a.shape[-1] == a.shape[-2]:
            with np.errstate(all="ignore"):
                a = a @ np.swapaxes(a, -1, -2)
        if kind == "positive":
            a = np.abs(a)
        if a.size and draw(st.integers(0, 3)) == 0:
            a.flat[draw(st.integers(0, a.size - 1))] = draw(
                st.sampled_from([math.nan, math.inf, -1.0, 0.0, 1e308])
            )
        form = draw(
            st.sampled_from(
                ["plain", "plain", "list", "f4", "i8", "object", "text", "reversed", "masked", "big"]
            )
        )
        with np.errstate(all="ignore"):
            if form in ("f4", "i8"):
                return a.astype(form)
            if form == "list":
                return a.tolist()
            if form == "object":
                return a.astype(object)
            if form == "text":
                return a.astype(str)
            if form == "reversed":
                return np.asarray(a[::-1]) if a.ndim else a
            if form == "masked":
                return np.ma.masked_array(a, mask=rng.random(a.shape) < 0.2)
            return a.astype(">f8") if form == "big" else a

    means = values((n, d) if draw(st.booleans()) else draw(st.sampled_from(shapes)), "plain")
    names = st.sampled_from(["std", "var", "cov", "factor", "precision"])
    arguments = {}
    for name in draw(st.lists(names, max_size=2, unique=True)):
        kind = {"cov": "square", "precision": "square", "factor": "plain"}.get(name, "positive")
        arguments[name] = values(draw(st.sampled_from(shapes)), kind)
    return means, arguments


def check_array(given: tuple[Any, dict[str, Any]]) -> None:
    """Finite means, symmetric positive semi-definite covariances of the size given, or a refusal."""
    means, arguments = given
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            X = GaussianArray(means, **arguments)
        except UncertainError:
            return
    np.testing.assert_array_equal(X.means, np.asarray(means, dtype=float))
    cov = X.covariances()
    assert np.isfinite(cov).all()
    np.testing.assert_array_equal(cov, cov.transpose(0, 2, 1))
    size = np.abs(cov).max(axis=(1, 2), initial=0.0)
    unit = np.where(size > 1e-290, size, 1.0)  # below, products have few digits
    if cov.size:
        assert (np.linalg.eigvalsh(cov / unit[:, None, None])[:, 0] > -1e-9).all()
    if set(arguments) == {"std"}:
        std = np.asarray(arguments["std"], dtype=float)
        std = std[:, None] if std.ndim == 1 else std
        variances = np.diagonal(cov, axis1=1, axis2=2)
        np.testing.assert_allclose(variances, np.broadcast_to(std**2, X.shape), rtol=1e-12)


# -- Arrow

TYPES = [
    *(
        pa.float64(), pa.float32(), pa.float16(), pa.int8(), pa.uint64(), pa.bool_(), pa.decimal128(6, 2),
        pa.null(),
    ),
    *(pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.date32(), pa.timestamp("ns")),
    *(pa.dictionary(pa.int8(), pa.float64()), pa.list_(pa.float64()), pa.large_list(pa.float32())),
    *(pa.list_(pa.float64(), 2), pa.list_view(pa.float64()), pa.list_(pa.list_(pa.float64(), 2), 2)),
    *(pa.struct([("a", pa.float64())]), pa.map_(pa.string(), pa.float64())),
]  # fmt: skip


@st.composite
def arrow_columns(draw: st.DrawFn) -> dict[str, pa.ChunkedArray]:
    """Columns of any type, in slices and chunks, some with nulls."""
    n = draw(st.integers(0, 8))
    rng = np.random.default_rng(draw(st.integers(0, 9)))

    def values(kind: pa.DataType, length: int) -> pa.Array:
        mask = rng.random(length) < draw(st.sampled_from([0.0, 0.0, 0.3]))
        x = rng.integers(0, 3, length)
        if pa.types.is_null(kind):
            return pa.nulls(length)
        if pa.types.is_nested(kind):
            inner: list[Any] = [[float(v), 1.0] for v in x]
            if pa.types.is_struct(kind):
                inner = [{"a": float(v)} for v in x]
            elif pa.types.is_map(kind):
                inner = [[("k", float(v))] for v in x]
            elif kind == pa.list_(pa.list_(pa.float64(), 2), 2):
                inner = [[[1.0, 0.1], [0.1, 1.0 + v]] for v in x]
            elif draw(st.integers(0, 4)) == 0:
                inner = [[float(v)] * int(v) for v in x]
            made = [None if m else v for m, v in zip(mask, inner, strict=True)]
            try:
                return pa.array(made, kind)
            except pa.ArrowInvalid:  # lengths that the type does not have
                return pa.array(made)
        if pa.types.is_string(kind) or pa.types.is_large_string(kind):
            return pa.array(x, mask=mask).cast(pa.string()).cast(kind)
        return pa.array(x.astype(float), mask=mask).cast(kind, safe=False)

    columns = {}
    for name in draw(st.lists(NAMES, min_size=1, max_size=4, unique=True)):
        kind = draw(st.sampled_from(TYPES))
        chunks, left = [], n
        while left or not chunks:
            take = draw(st.integers(1, left)) if left else 0
            lead = draw(st.integers(0, 2))
            try:
                chunks.append(values(kind, lead + take)[lead:])
            except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError):
                chunks.append(pa.array(rng.normal(size=lead + take))[lead:])
            left -= take
        chunks = [chunk for chunk in chunks if chunk.type == chunks[0].type]
        columns[name] = pa.chunked_array(chunks)
    length = min(len(c) for c in columns.values())
    return {name: c[:length] for name, c in columns.items()}


def check_arrow(columns: dict[str, pa.ChunkedArray]) -> None:
    """Numbers as Arrow itself gives them, or a refusal."""
    frame = pa.table(columns)
    names = list(columns)
    for roles in ({"features": names}, {"mean": names[0]}, {"mean": names[0], "cov": names[-1]}):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                X = uncertain.AsGaussians(**roles).fit_transform(frame)
        except UncertainError:
            continue
        if "features" not in roles:
            continue
        for j, name in enumerate(names):
            expected = [float(v[0] if isinstance(v, list) else v) for v in columns[name].to_pylist()]
            np.testing.assert_allclose(np.asarray(X.means)[:, j], expected, rtol=1e-7)


# -- parameters

VALUES: st.SearchStrategy[Any] = st.one_of(
    ODD.filter(lambda value: type(value) is not object),
    st.sampled_from(
        [
            "auto", "rbf", "linear", "shared", -1, 0, 1, 2, (0.5, 2), [1.0], np.float32(0.5), np.int64(3),
            {"a": 1},
        ]
    ),
)  # fmt: skip


@st.composite
def parameters(draw: st.DrawFn) -> tuple[int, dict[str, Any]]:
    """A class, and values for some of its parameters."""
    which = draw(st.integers(0, len(SUBJECTS) - 1))
    known = sorted(SUBJECTS[which].made().get_params(deep=False))
    known = [name for name in known if name not in ("estimator", "transformers", "n_jobs", "verbose")]
    if not known:
        return which, {}
    names = draw(st.lists(st.sampled_from(known), min_size=1, max_size=2, unique=True))
    return which, {name: draw(VALUES) for name in names}


def check_parameters(given: tuple[int, dict[str, Any]]) -> None:
    """A fit, or a refusal; TypeError for a callback that is no function, and for columns of arrays."""
    which, values = given
    subject = SUBJECTS[which]
    small = rows(n=24)
    y = subject.targets()[:24]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = subject.made(**({"max_iter": 20} | values))
        try:
            subject.answers(model.fit(subject.given(small), y), small)
        except (UncertainError, InvalidParameterError):  # scikit-learn's, of its ColumnTransformer
            return
        except TypeError as error:
            assert "callback must be" in str(error) or "reads columns of a table" in str(error), error


TARGETS: dict[str, tuple[st.SearchStrategy[Any], Callable[[Any], None]]] = {
    "table columns": (fits(), check_fit),
    "covariances": (arrays(), check_array),
    "Arrow": (arrow_columns(), check_arrow),
    "model files": (FILES, check_file),
    "parameters": (parameters(), check_parameters),
}
