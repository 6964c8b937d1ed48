"""Labelled arrays of one dimension as tables: xarray's Dataset, scipp's DataArray and Dataset.

Coordinates are columns as all others. xarray has no error bars of its own; where an attribute says which
variable holds them (`ancillary_variables` and `standard_error`, by the CF conventions), that is called x_err.
"""

from __future__ import annotations

from collections.abc import Mapping

from .._data.installed import installed
from .._data.typing import NativeColumn, NativeTable
from ..exceptions import ShapeError
from .door import Foreign
from .exits import DictExit
from .table import Table


def open_xarray(X: NativeTable) -> Table:
    """Variables and coordinates; the units are those of their attributes."""
    along = [name for name, size in X.sizes.items()]
    if len(along) != 1:
        raise ShapeError(
            f"an xarray Dataset with the dimensions {', '.join(map(str, along)) or '()'} is no table: "
            "it must have one, that of the rows; X.stack(row=[...]).reset_index('row') makes one of several"
        )
    variables = {str(name): X[name] for name in X.variables if X[name].ndim == 1}
    columns = {_name(name, X): values.values for name, values in variables.items()}
    units = {_name(name, X): values.attrs.get("units") for name, values in variables.items()}
    return _table(X, columns, {name: unit for name, unit in units.items() if unit})


def _name(name: str, X: NativeTable) -> str:
    """x_err for what is said to be the standard error of x."""
    said = str(X[name].attrs.get("standard_name", ""))
    if not said.endswith("standard_error"):
        return name
    owners = [x for x in X.variables if name in str(X[x].attrs.get("ancillary_variables", "")).split()]
    return f"{owners[0]}_err" if owners and f"{owners[0]}_err" not in X.variables else name


def open_scipp(X: NativeTable) -> Table:
    """Coordinates, and the data: of a DataArray under its name, or "data"."""
    data = dict(X.items()) if hasattr(X, "items") else {X.name or "data": X}
    columns = {**{name: values for name, values in X.coords.items() if values.ndim == 1}, **data}
    return _table(X, {str(name): column for name, column in columns.items()}, {})


def _table(X: NativeTable, columns: Mapping[str, NativeColumn], units: Mapping[str, str]) -> Table:
    """Of columns that are as long as each other."""
    names = [*columns]
    sizes = {name: len(column) for name, column in columns.items()}
    if len({*sizes.values()}) > 1:
        raise ShapeError(f"columns of one length make a table, but these have {sizes}")
    door = Foreign(
        names,
        lambda place: columns[names[place]],
        lambda: next(iter(sizes.values()), 0),
        lambda: dict(units) if installed("astropy") else {},
    )
    return Table(door, DictExit(lambda: dict(columns)))
