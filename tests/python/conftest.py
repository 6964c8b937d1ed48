"""Tables of every library from the same columns."""

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

# Threads that wait by spinning make several test processes on few cores eight times slower: those of NumPy's
# linear algebra and of scikit-learn's trees. Their libraries read this when they are loaded. (With
# OMP_THREAD_LIMIT=1 scikit-learn's neighbours are garbage: it counts on the threads that it asked for.)
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from numpy.typing import NDArray

# On a busy machine an example may take any time.
settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy")

Columns = Mapping[str, Any]


def polars_fixed(columns: Columns) -> Any:
    import polars as pl

    def series(name: str, values: Any) -> Any:
        values = np.asarray(values)
        if values.ndim == 1:
            return pl.Series(name, values.tolist())
        return pl.Series(name, values, dtype=pl.Array(pl.Float64, values.shape[1:]))

    return pl.DataFrame([series(name, values) for name, values in columns.items()])


def polars_list(columns: Columns) -> Any:
    import polars as pl

    return pl.DataFrame({name: np.asarray(values).tolist() for name, values in columns.items()})


def polars_chunked(columns: Columns) -> Any:
    frame = polars_fixed(columns)
    cut = frame.height // 3
    import polars as pl

    return pl.concat([frame[:cut], frame[cut:]], rechunk=False)


def lazy(columns: Columns) -> Any:
    return polars_fixed(columns).lazy()


def pyarrow_fixed(columns: Columns) -> Any:
    import pyarrow as pa

    def array(values: Any) -> Any:
        values = np.asarray(values)
        out = pa.array(values.ravel().tolist())
        for size in values.shape[:0:-1]:
            out = pa.FixedSizeListArray.from_arrays(out, size)
        return out

    return pa.table({name: array(values) for name, values in columns.items()})


def pyarrow_list(columns: Columns) -> Any:
    import pyarrow as pa

    return pa.table({name: pa.array(np.asarray(values).tolist()) for name, values in columns.items()})


def pyarrow_sliced(columns: Columns) -> Any:
    import pyarrow as pa

    whole = pyarrow_fixed(columns)
    return pa.concat_tables([whole[-2:], whole])[2:]


def record_batch(columns: Columns) -> Any:
    return pyarrow_fixed(columns).to_batches()[0]


def pandas_objects(columns: Columns) -> Any:
    import pandas as pd

    def series(values: Any) -> Any:
        values = np.asarray(values)
        return values if values.ndim == 1 else [row.ravel() for row in values]

    return pd.DataFrame({name: series(values) for name, values in columns.items()})


def pandas_arrow(columns: Columns) -> Any:
    import pandas as pd

    return pyarrow_fixed(columns).to_pandas(types_mapper=pd.ArrowDtype)


def duckdb_relation(columns: Columns) -> Any:
    import duckdb

    return duckdb.from_arrow(pyarrow_fixed(columns))


def arrow_dataset(columns: Columns) -> Any:
    import pyarrow.dataset as ds

    return ds.dataset(pyarrow_fixed(columns))


def arrow_scanner(columns: Columns) -> Any:
    return arrow_dataset(columns).scanner()


def astropy_table(columns: Columns) -> Any:
    from astropy.table import Table

    return Table({name: np.asarray(values) for name, values in columns.items()})


def arrays(columns: Columns) -> Any:
    return {name: np.asarray(values) for name, values in columns.items()}


def big_endian(columns: Columns) -> Any:
    """A structured array as files of FITS have it."""
    data = arrays(columns)
    fields = [(name, a.dtype.newbyteorder(">"), a.shape[1:]) for name, a in data.items()]
    made = np.empty(len(next(iter(data.values()))), dtype=fields)
    for name, values in data.items():
        made[name] = values
    return made


def narwhals_frame(columns: Columns) -> Any:
    import narwhals as nw

    return nw.from_native(polars_fixed(columns))


def narwhals_lazy(columns: Columns) -> Any:
    import narwhals as nw

    return nw.from_native(duckdb_relation(columns))


CONSTRUCTORS: dict[str, Callable[[Columns], Any]] = {
    "polars": polars_fixed, "polars-list": polars_list, "polars-chunked": polars_chunked, "polars-lazy": lazy,
    "pyarrow": pyarrow_fixed, "pyarrow-list": pyarrow_list, "pyarrow-sliced": pyarrow_sliced,
    "pyarrow-batch": record_batch, "pandas": pandas_objects, "pandas-arrow": pandas_arrow,
    "duckdb": duckdb_relation, "pyarrow-dataset": arrow_dataset, "pyarrow-scanner": arrow_scanner,
    "astropy": astropy_table, "dict": arrays, "structured": big_endian, "narwhals": narwhals_frame,
    "narwhals-lazy": narwhals_lazy,
}  # fmt: skip


@pytest.fixture(params=list(CONSTRUCTORS))
def constructor(request: pytest.FixtureRequest) -> Callable[[Columns], Any]:
    """Makes a table of one library from NumPy columns of one, two or three dimensions."""
    return CONSTRUCTORS[request.param]


@pytest.fixture(autouse=True)
def closed_figures() -> Iterator[None]:
    """None is left open for a test behind it."""
    yield
    if pyplot := sys.modules.get("matplotlib.pyplot"):
        pyplot.close("all")


@pytest.fixture
def rng() -> np.random.Generator:
    """The same numbers in every run."""
    return np.random.default_rng(20261121)


@pytest.fixture
def few_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    """At most ten trees for learners that choose their number, in tests that are not of them."""
    for name in ("FIRST", "MOST"):
        monkeypatch.setattr(f"uncertain._trees.number_of_trees.{name}", 5)


def random_covariances(rng: np.random.Generator, n: int, d: int) -> NDArray[np.float64]:
    """n symmetric positive definite d x d matrices."""
    factor = rng.normal(size=(n, d, d))
    return factor @ factor.transpose(0, 2, 1) + 0.1 * np.eye(d)
