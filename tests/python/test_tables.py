"""AsGaussians and the table functions on every table library."""

import pickle
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from conftest import CONSTRUCTORS, random_covariances
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from uncertain import GaussianArray
from uncertain.exceptions import ColumnError, ParameterError
from uncertain.preprocessing import AsGaussians, GaussianScaler

Constructor = Callable[[dict[str, Any]], Any]
N, D = 9, 2


@pytest.fixture
def columns(rng: np.random.Generator) -> dict[str, Any]:
    x, std = rng.normal(size=(N, D)), rng.uniform(0.1, 2, size=(N, D))
    return {
        "mean": x, "cov": random_covariances(rng, N, D), "std": std, "factor": rng.normal(size=(N, D, 1)),
        "one": rng.uniform(0.1, 2, size=N), "a": x[:, 0], "b": x[:, 1], "a_err": std[:, 0],
        "b_err": std[:, 1], "b_a_corr": rng.uniform(-1, 1, size=N), "label": np.asarray(["x", "y", "z"] * 3),
    }  # fmt: skip


def expected(columns: dict[str, Any]) -> dict[str, tuple[dict[str, Any], str, np.ndarray]]:
    """AsGaussians' arguments -> kind and dense covariances."""
    std, one, factor, eye = columns["std"], columns["one"], columns["factor"], np.eye(D)
    outer = factor @ factor.transpose(0, 2, 1)
    correlated = std[:, :, None] * std[:, None, :] * np.where(eye, 1.0, columns["b_a_corr"][:, None, None])
    lists, scalars = {"mean": "mean"}, {"features": ["a", "b"]}
    return {
        "exact lists": (lists, "zero", np.zeros((N, D, D))),
        "cov": ({**lists, "cov": "cov"}, "full", columns["cov"]),
        "cov diagonal": ({**lists, "cov": "std"}, "diagonal", std[:, :, None] * eye),
        "cov isotropic": ({**lists, "cov": "one"}, "isotropic", one[:, None, None] * eye),
        "std": ({**lists, "std": "std"}, "diagonal", std[:, :, None] ** 2 * eye),
        "std isotropic": ({**lists, "std": "one"}, "isotropic", one[:, None, None] ** 2 * eye),
        "var": ({**lists, "var": "std"}, "diagonal", std[:, :, None] * eye),
        "precision": ({**lists, "precision": "cov"}, "full", np.linalg.inv(columns["cov"])),
        "precision diagonal": ({**lists, "precision": "std"}, "diagonal", eye / std[:, :, None]),
        "precision isotropic": ({**lists, "precision": "one"}, "isotropic", eye / one[:, None, None]),
        "factor": ({**lists, "factor": "factor"}, "low-rank", outer),
        "factor + var": (
            {**lists, "factor": "factor", "var": "std"},
            "low-rank",
            outer + std[:, :, None] * eye,
        ),
        "factor + one var": (
            {**lists, "factor": "factor", "var": "one"},
            "low-rank",
            outer + one[:, None, None] * eye,
        ),
        "scalars": ({**scalars, "std": "{}_err"}, "diagonal", std[:, :, None] ** 2 * eye),
        "scalars var": ({**scalars, "var": "{}_err"}, "diagonal", std[:, :, None] * eye),
        "scalars isotropic": ({**scalars, "std": "one"}, "isotropic", one[:, None, None] ** 2 * eye),
        "scalars list": ({**scalars, "cov": "cov"}, "full", columns["cov"]),
        "scalars exact": (scalars, "zero", np.zeros((N, D, D))),
        "correlated": ({**scalars, "std": "{}_err", "corr": "{}_{}_corr"}, "full", correlated),
    }


CASES = [
    "exact lists", "cov", "cov diagonal", "cov isotropic", "std", "std isotropic", "var", "precision",
    "precision diagonal", "precision isotropic", "factor", "factor + var", "factor + one var", "scalars",
    "scalars var", "scalars isotropic", "scalars list", "scalars exact", "correlated",
]  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_every_role_from_every_library(constructor: Constructor, columns: dict[str, Any], case: str) -> None:
    roles, kind, dense = expected(columns)[case]
    g = AsGaussians(**roles).fit_transform(constructor(columns))
    assert isinstance(g, GaussianArray) and g.kind == kind and g.shape == (N, D)
    assert_array_equal(g.means, columns["mean"])
    assert_allclose(g.covariances(), dense, rtol=1e-9, atol=1e-12)


def test_columns_chosen_by_name(constructor: Constructor, columns: dict[str, Any]) -> None:
    lists = AsGaussians().fit(constructor({k: columns[k] for k in ("label", "mean", "cov")}))
    assert lists.roles_ == {"mean": "mean", "cov": "cov"} and lists.n_features_in_ == D
    assert not hasattr(lists, "feature_names_in_")
    assert list(lists.get_feature_names_out()) == ["mean0", "mean1"]
    scalars = AsGaussians().fit(
        constructor({k: columns[k] for k in ("label", "a", "b", "a_err", "b_err", "one")})
    )
    assert scalars.roles_ == {"features": ["a", "b"], "std": {"a": "a_err", "b": "b_err"}}
    assert list(scalars.feature_names_in_) == list(scalars.get_feature_names_out()) == ["a", "b"]
    with pytest.raises(ColumnError, match="error"):
        AsGaussians().fit(constructor({k: columns[k] for k in ("a", "b")}))


def test_transform_reads_the_fitted_columns_of_another_table(columns: dict[str, Any]) -> None:
    t = AsGaussians().fit(CONSTRUCTORS["polars"]({k: columns[k] for k in ("a", "b", "a_err", "b_err")}))
    for other in CONSTRUCTORS.values():
        assert t.transform(other(columns)).kind == "diagonal"
    again = pickle.loads(pickle.dumps(t))
    assert again.transform(CONSTRUCTORS["pandas"](columns)) == t.transform(CONSTRUCTORS["polars"](columns))
    assert clone(t).get_params() == t.get_params()
    assert t.transform(columns["mean"]).kind == "zero"
    g = GaussianArray(columns["mean"], cov=columns["cov"])
    assert_array_equal(t.transform(g).means, g.means)
    assert t.transform(g).kind == g.kind and t.transform(g).feature_names == ("a", "b")
    with pytest.raises(ValueError, match="3 features, but AsGaussians is expecting 2 features"):
        t.transform(np.ones((2, 3)))
    with pytest.raises(ColumnError, match=r"no column 'b'"):
        t.transform(CONSTRUCTORS["polars"]({k: columns[k] for k in ("a", "a_err", "b_err")}))


class Foreign:
    """A frame of no known library."""

    def __init__(self, table: pa.Table) -> None:
        self.table = table

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.table.__arrow_c_stream__(requested_schema)


def test_other_streams_and_readers(columns: dict[str, Any]) -> None:
    table = CONSTRUCTORS["pyarrow"](columns)
    for X in (
        Foreign(table),
        table.to_reader(),
        GaussianArray(columns["mean"], cov=columns["cov"]).to_arrow(),
    ):
        assert AsGaussians(mean="mean", cov="cov").fit_transform(X).kind == "full"


class Broken(Foreign):
    """Its rows end with an error: at once, or after the first batch."""

    def __init__(self, table: pa.Table, at_once: bool) -> None:
        super().__init__(table)
        self.at_once = at_once

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        if self.at_once:
            raise RuntimeError("the server is gone")
        return pa.RecordBatchReader.from_batches(self.table.schema, self.batches()).__arrow_c_stream__()

    def batches(self) -> Iterator[pa.RecordBatch]:
        yield from self.table.to_batches()
        raise KeyError("the server is gone")


@pytest.mark.parametrize("at_once", [True, False])
def test_errors_of_the_exporter(columns: dict[str, Any], at_once: bool) -> None:
    broken = Broken(CONSTRUCTORS["pyarrow"](columns), at_once)
    with pytest.raises(ParameterError, match=r"Broken could not be read .* '?the server is gone'?\)"):
        AsGaussians(mean="mean", cov="cov").fit(broken)


def test_polars_frames_are_neither_rechunked_nor_written(columns: dict[str, Any]) -> None:
    frame = CONSTRUCTORS["polars-chunked"](columns)
    before = frame.clone()
    g = AsGaussians(mean="mean", cov="cov").fit_transform(frame)
    g.sample(1, random_state=0), g.collapse("isotropic"), g.covariances()
    assert frame.n_chunks("all") == [2] * frame.width
    assert frame.equals(before)


@pytest.mark.parametrize("constructor_name", ["polars", "polars-list", "pyarrow", "pandas", "pandas-arrow"])
def test_missing_error_bars_as_points(constructor_name: str, columns: dict[str, Any]) -> None:
    columns = dict(columns)
    for name in ("a_err", "one"):
        columns[name] = columns[name].copy()
        columns[name][4] = np.nan
    columns["cov"] = columns["cov"].copy()
    columns["cov"][2, 0, 1] = np.nan
    table = CONSTRUCTORS[constructor_name](columns)

    def read(**roles: Any) -> np.ndarray:
        return AsGaussians(**roles, on_missing="point").fit_transform(table).covariances()

    scalars = read(features=["a", "b"], std="{}_err")
    assert scalars[4, 0, 0] == 0 and scalars[4, 1, 1] == columns["b_err"][4] ** 2 and scalars[3].trace() > 0
    assert not read(mean="mean", std="one")[4].any()
    full = read(mean="mean", cov="cov")
    assert not full[2].any()
    assert_array_equal(full[[1, 3]], columns["cov"][[1, 3]])


@pytest.mark.parametrize(
    "constructor_name", ["polars", "polars-chunked", "pandas", "pandas-arrow", "pyarrow"]
)
def test_scikit_learn_cuts_tables(constructor_name: str, rng: np.random.Generator) -> None:
    n = 60
    y = np.repeat(["a", "b"], n // 2)
    x = rng.normal(size=(n, D)) + 4.0 * (y == "b")[:, None]
    table = CONSTRUCTORS[constructor_name]({"mean": x, "cov": random_covariances(rng, n, D)})
    pipeline = make_pipeline(
        AsGaussians(), GaussianScaler(), FunctionTransformer(lambda g: g.means), LogisticRegression()
    )
    assert cross_val_score(pipeline, table, y, error_score="raise").mean() > 0.9
    search = GridSearchCV(pipeline, {"gaussianscaler__spread": ["means", "total"]}, error_score="raise")
    assert search.fit(table, y).best_score_ > 0.9
    train, test = train_test_split(table, test_size=0.25, random_state=0)
    assert len(pipeline.fit(train, y[:45]).predict(test)) == 15
