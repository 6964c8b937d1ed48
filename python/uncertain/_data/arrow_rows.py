"""Columns of Polars that hold rows with error bars, structs as `arrow_types` describes them, become rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from .._uncertain import Gaussians, Rows
from ..exceptions import NullError, ShapeError, UncertainError
from .array import GaussianArray
from .arrow_types import GAUSSIAN, MIXTURE, metadata_of, type_name
from .features import checked_names
from .mixture_array import MixtureArray
from .options import refuse_if
from .typing import Booleans, Keywords

if TYPE_CHECKING:
    import polars as pl

ERRORS = ("std", "var", "cov", "factor")
"""The fields of a struct that say how uncertain its mean is: none, one, or var and factor."""


def struct_type(dtype: pl.DataType) -> pl.Struct | None:
    """The type of the structs, if they are rows with error bars; of an extension type, or not."""
    import polars as pl

    storage = _storage_type(dtype)
    if not isinstance(storage, pl.Struct):
        return None
    fields = {field.name: field.dtype for field in storage.fields}
    known = "mean" in fields and fields.keys() <= {"mean", "weight", *ERRORS} and len(fields) > 1
    numbers = all(map(_holds_numbers, fields.values()))
    return storage if (known and numbers) or type_name(dtype) in (GAUSSIAN, MIXTURE) else None


def width_of(storage: pl.Struct, column: pl.Series) -> int | None:
    """The number of features, by the type or the first row that is there; None for mixtures."""
    import polars as pl

    dtypes = {field.name: cast(Any, field.dtype) for field in storage.fields}
    _require_mean(dtypes, column.name)
    if "weight" in dtypes:
        return None
    if dtypes["mean"].is_numeric():
        return 1
    if isinstance(dtypes["mean"], pl.Array):
        return int(dtypes["mean"].shape[0])
    first = column.drop_nulls()[:1]
    return len(fields_of(first)["mean"][0]) if len(first) else None


def _require_mean(fields: Mapping[str, object], name: str) -> None:
    """An extension type says what the structs are, and they may lack it all the same."""
    other = f"{name}: rows with error bars are structs with a field mean, not of {[*fields]}"
    refuse_if("mean" not in fields, other, UncertainError)


def _storage_type(dtype: Any) -> Any:
    return dtype.ext_storage() if hasattr(dtype, "ext_storage") else dtype


def _holds_numbers(dtype: Any) -> bool:
    import polars as pl

    while isinstance(dtype, (pl.List, pl.Array)):
        dtype = dtype.inner
    return bool(dtype.is_numeric())


def fields_of(column: pl.Series) -> dict[str, pl.Series]:
    """The fields of the structs by name; null where the struct is."""
    storage = column.ext.storage() if type_name(column.dtype) else column
    return {name: storage.struct.field(name) for name in storage.struct.fields}


def from_column(column: pl.Series) -> GaussianArray:
    """The rows of a column of structs; UncertainError for null rows and for structs that are no row."""
    name = column.name or "column"
    wanted = "structs of mean and std, var, cov or factor (and weight, of mixtures)"
    other = struct_type(column.dtype) is None
    refuse_if(other, f"{name}: expected {wanted}, got {column.dtype}", UncertainError)
    metadata, fields = metadata_of(column.dtype), fields_of(column)
    _require_mean(fields, name)
    nulls = np.flatnonzero(null_rows(column))
    if len(nulls):
        raise NullError(f"{name}: row {nulls[0]} is null; leave the row out")
    refuse_if(not len(column), f"{name}: there are no rows", ShapeError)
    if "weight" not in fields:
        rows = GaussianArray._from_core(_core(fields, name, shared=metadata.kind == "shared"))
    else:
        rows = _mixtures(fields, name)
    names = checked_names(metadata.names, rows.n_features, f"{name}: names of features")
    return GaussianArray._from_core(rows._core, names, metadata.unit)


def null_rows(column: pl.Series) -> Booleans:
    """Where the struct, or its mean, is null."""
    return np.asarray((column.is_null() | fields_of(column)["mean"].is_null()).to_numpy())


def _mixtures(fields: Mapping[str, pl.Series], name: str) -> MixtureArray:
    import polars as pl

    # Of a fixed number of components, too.
    fields = {f: own.arr.to_list() if isinstance(own.dtype, pl.Array) else own for f, own in fields.items()}
    for f, own in fields.items():
        single = f"{name}: {f} of a mixture is a list, an element for each component"
        refuse_if(not isinstance(own.dtype, pl.List), single, UncertainError)
    counts = fields["weight"].list.len().to_numpy()
    empty = np.flatnonzero(counts == 0)
    if len(empty):
        raise UncertainError(f"{name}: row {empty[0]} has no components; leave the row out")
    for f, own in fields.items():
        for row in np.flatnonzero(own.list.len().to_numpy() != counts):
            weights = f"{counts[row]} weights, but another number of elements in {f}"
            raise ShapeError(f"{name}: row {row} has {weights}")
    apart = {f: own.explode() for f, own in fields.items()}
    shares = Rows.from_arrow([apart.pop("weight")], [f"{name}.weight"], "refuse").to_numpy()[:, 0]
    offsets = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
    return MixtureArray(shares, GaussianArray._from_core(_core(apart, name)), offsets=offsets)


def _core(fields: Mapping[str, pl.Series], name: str, *, shared: bool = False) -> Gaussians:
    """In place where the layout allows; `shared`: the matrices were one, and are again if they are equal."""
    read = {
        field: Rows.from_arrow(
            [column], [f"{name}.{field}"], "refuse" if field == "mean" else "refuse-error-bars"
        )
        for field, column in fields.items()
    }
    means = read.pop("mean")
    if shared and "cov" in read:
        cov = read["cov"].to_numpy()
        shared = bool((cov == cov[0]).all())
        if shared:
            read["cov"] = Rows.from_numpy(np.ascontiguousarray(cov[:1]), 1, cov.shape[1])
    names = {"means": [f"{name}.mean"], "covariances": [f"{name}.{field}" for field in read]}
    arguments: Keywords = dict(read)
    return Gaussians(means, names=names, shared=shared and "cov" in read, **arguments)
