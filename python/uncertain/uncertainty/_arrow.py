"""Columns of rows with error bars, as `GaussianArray.to_arrow` writes them."""

from __future__ import annotations

from typing import Any

from .._data.array import GaussianArray
from .._data.arrow_rows import from_column
from .._data.arrow_types import register
from .._data.options import refuse_if
from ..exceptions import ShapeError


def from_arrow(column: Any) -> GaussianArray:
    """Return a column of type ``uncertain.gaussian`` or ``.mixture`` as an array.

    The inverse of ``X.to_arrow(name)``. `uncertain.fit` takes tables with such columns as they are.

    Parameters
    ----------
    column : a column of Polars, pandas or pyarrow, or a table of one column
        Structs of ``mean`` and ``std``, ``var``, ``cov`` or ``factor``; with ``weight``, lists of these, one
        element per component. Libraries that drop the metadata of the type, such as DuckDB, keep the structs,
        which are read as well: without the names of features and the unit.

    Returns
    -------
    GaussianArray or MixtureArray

    Raises
    ------
    UncertainError
        Other columns, null rows (with the row), and what `GaussianArray` refuses.

    Examples
    --------
    >>> import polars
    >>> from uncertain import GaussianArray
    >>> from uncertain.uncertainty import from_arrow
    >>> X = GaussianArray([[20.0, 19.5], [19.2, 18.9]], std=0.1, feature_names=["u", "g"])
    >>> frame = polars.DataFrame(X.to_arrow("magnitude")).with_columns(kind=polars.Series(["star", "galaxy"]))
    >>> from_arrow(frame["magnitude"])
    GaussianArray(2 rows x 2 features (u, g), isotropic covariances)
    """
    from .._tables.libraries import open_frame
    from .._tables.series import to_series

    register()
    table = open_frame(column)
    if table is None:
        return from_column(to_series(column, getattr(column, "name", None) or "column"))
    several = f"from_arrow takes one column, got a table of {len(table.names)}: pass table[name]"
    refuse_if(len(table.names) != 1, several, ShapeError)
    return from_column(*table.read(table.names))


def register_arrow_types() -> None:
    """Register ``uncertain.gaussian`` and ``uncertain.mixture`` with pyarrow.

    Not needed for Polars, nor to read such columns with this package: pyarrow keeps types that it does not
    know in the schema of a table. Registered, columns that leave their table keep them too, and pandas gets
    columns of the type (``pandas.ArrowDtype``) in place of dictionaries. ``X.to_arrow(name)`` and
    `from_arrow` register them. A program whose last act is `pyarrow.parquet.read_table` of a type that Python
    defines, this one or another, may abort at its end (pyarrow 26); with ``use_threads=False`` it does not.

    Raises
    ------
    ModuleNotFoundError
        pyarrow is not installed.
    """
    import pyarrow  # noqa: F401

    register()
