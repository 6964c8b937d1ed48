"""Rows with error bars as one Arrow column: extension types ``uncertain.gaussian``, ``uncertain.mixture``.

A row is a struct of lists, ``mean`` and, by kind, ``std``, ``var``, ``cov`` or ``factor``; of a mixture each
is a list with an element per component, beside ``weight``. Programs without these types read the structs. The
metadata hold the rest as JSON: kind, names of the features, unit. Both types are registered with pyarrow
where it is loaded; Polars keeps extension types that it does not know.
"""

from __future__ import annotations

import json
import sys
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, Self, cast

from .._uncertain import Gaussians, Mixtures
from .features import Names

if TYPE_CHECKING:
    import polars as pl

GAUSSIAN, MIXTURE = "uncertain.gaussian", "uncertain.mixture"
"""The names of the types."""


class Metadata(NamedTuple):
    """Contents of a column by its metadata."""

    kind: str | None = None
    """Of the covariances, as `GaussianArray.kind`."""
    names: Names | None = None
    """Of the features."""
    unit: str | None = None
    """Of means and standard deviations."""

    @classmethod
    def from_json(cls, text: str | None) -> Self:
        """The entries that are there: metadata that somebody else wrote say nothing."""
        try:
            said = json.loads(text or "{}")
        except ValueError:
            return cls()
        if not isinstance(said, dict):
            return cls()
        names, kind, unit = (said.get(key) for key in ("names", "kind", "unit"))
        listed = isinstance(names, list) and all(isinstance(name, str) for name in names)
        return cls(
            kind if isinstance(kind, str) else None,
            tuple(cast(list[str], names)) if listed else None,
            unit if isinstance(unit, str) else None,
        )

    def to_json(self) -> str:
        return json.dumps({"kind": self.kind, "names": self.names, "unit": self.unit}, ensure_ascii=False)


class ArrowColumn:
    """Rows as a table of one column, for whoever reads Arrow streams."""

    def __init__(self, core: Gaussians | Mixtures, metadata: Metadata, name: str) -> None:
        self._core, self._metadata, self._name = core, metadata, name

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        own = MIXTURE if isinstance(self._core, Mixtures) else GAUSSIAN
        return self._core.arrow_column(
            self._name, {"ARROW:extension:name": own, "ARROW:extension:metadata": self._metadata.to_json()}
        )


# -- Polars


def metadata_of(dtype: Any) -> Metadata:
    return Metadata.from_json(dtype.ext_metadata()) if type_name(dtype) else Metadata()


def labelled(column: pl.Series, name: str, metadata: str | None) -> pl.Series:
    """The structs as the extension type of this name, where Polars has such (1.36)."""
    import polars as pl

    if name not in (GAUSSIAN, MIXTURE) or not hasattr(pl, "Extension"):
        return column
    return column.ext.to(pl.Extension(name, column.dtype, metadata))


def type_name(dtype: Any) -> str | None:
    """The name of an extension type; None for all others."""
    return dtype.ext_name() if hasattr(dtype, "ext_name") else None


# -- pyarrow


def register() -> None:
    """Register both types with pyarrow, if it is loaded."""
    if sys.modules.get("pyarrow") is not None:
        _types()


@cache
def _types() -> tuple[type, type]:
    import pyarrow

    class OurType(pyarrow.ExtensionType):
        """Rows with error bars; `metadata` are kind, names and unit, as JSON."""

        name: str

        def __init__(self, storage: Any, metadata: str = "{}") -> None:
            self.metadata = metadata
            super().__init__(storage, self.name)

        def __arrow_ext_serialize__(self) -> bytes:
            return self.metadata.encode()

        @classmethod
        def __arrow_ext_deserialize__(cls, storage: Any, serialized: bytes) -> Self:
            return cls(storage, serialized.decode(errors="replace"))

        def __reduce__(self) -> tuple[object, ...]:
            return (_rebuilt, (self.name, self.storage_type, self.metadata))

        def to_pandas_dtype(self) -> Any:
            """The type of pandas for Arrow columns, which keeps this one."""
            import pandas

            return pandas.ArrowDtype(self)

    class GaussianType(OurType):
        """Rows that are Gaussians."""

        name = GAUSSIAN

    class MixtureType(OurType):
        """Rows that are mixtures of Gaussians."""

        name = MIXTURE

    example = pyarrow.struct([("mean", pyarrow.list_(pyarrow.float64(), 1))])
    for own in (GaussianType, MixtureType):
        try:
            pyarrow.register_extension_type(own(example))
        except pyarrow.ArrowKeyError:  # another copy of this module did
            continue
    return GaussianType, MixtureType


def _rebuilt(name: str, storage: Any, metadata: str) -> Any:
    return next(own for own in _types() if own.name == name)(storage, metadata)  # type: ignore[attr-defined]
