"""`uncertain.fit` and its model: choice of columns, kinds of tables and targets, refusals, reports."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import children
import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose

import uncertain
from uncertain import GaussianArray
from uncertain.exceptions import UncertainError, UncertainWarning

N = 60


def scalars(seed: int = 0) -> dict[str, Any]:
    """Two classes in two features with error columns, an exact number and an identifier."""
    rng = np.random.default_rng(seed)
    side = np.arange(N) % 2
    return {
        "id": [f"row {k}" for k in range(N)], "u": rng.normal(2.0 * side, 1.0),
        "u_err": rng.uniform(0.1, 1.0, N), "v": rng.normal(-1.0 * side, 1.0),
        "v_err": rng.uniform(0.1, 1.0, N), "label": np.where(side, "high", "low").tolist(),
    }  # fmt: skip


def polars_table(columns: dict[str, Any]) -> pl.DataFrame:
    return pl.DataFrame(columns)


def pandas_table(columns: dict[str, Any]) -> pd.DataFrame:
    return pd.DataFrame(columns, index=np.arange(N)[::-1] + 5)


def pyarrow_table(columns: dict[str, Any]) -> pa.Table:
    return pa.table(columns)


def duckdb_table(columns: dict[str, Any]) -> duckdb.DuckDBPyRelation:
    frame = pa.table(columns)
    return duckdb.connect().from_arrow(frame)


def lazy_table(columns: dict[str, Any]) -> pl.LazyFrame:
    return pl.LazyFrame(columns)


MAKERS = [polars_table, lazy_table, pandas_table, pyarrow_table, duckdb_table]


@pytest.fixture(params=MAKERS, ids=lambda make: make.__name__)
def make(request: pytest.FixtureRequest) -> Callable[[dict[str, Any]], Any]:
    return request.param  # type: ignore[no-any-return]


def values(column: Any) -> list[Any]:
    return column.to_pylist() if hasattr(column, "to_pylist") else column.to_list()


def test_arrays_and_gaussians_need_no_table() -> None:
    columns = scalars()
    means = np.stack([columns["u"], columns["v"]], axis=1)
    std = np.stack([columns["u_err"], columns["v_err"]], axis=1)
    model = uncertain.fit(GaussianArray(means, std=std), columns["label"], method="gsu")
    reference = uncertain.fit(polars_table(columns), meaning="spread", method="gsu")
    np.testing.assert_allclose(model.pipeline_[-1].coef_, reference.pipeline_[-1].coef_)
    assert isinstance(model.predict(GaussianArray(means, std=std)), np.ndarray)
    assert model.predict_proba(means, errors="zero").shape == (N, 2)
    with pytest.warns(UncertainWarning, match="X has no error bars"):
        assert model.score(means, columns["label"]) > 0.8
    points = uncertain.fit(means, np.array(columns["label"]), method="gsu")
    assert points.predict(means[:3]).shape == (3,)


@pytest.mark.parametrize("dtype", [pl.List(pl.Float64), pl.Array(pl.Float64, 2), pl.List(pl.Float32)])
def test_list_columns_are_found_by_name(dtype: Any) -> None:
    columns = scalars()
    table = pl.DataFrame(
        {
            "mean": pl.Series(np.stack([columns["u"], columns["v"]], axis=1).tolist(), dtype=dtype),
            "std": pl.Series(np.stack([columns["u_err"], columns["v_err"]], axis=1).tolist(), dtype=dtype),
            "label": columns["label"],
        }
    )
    model = uncertain.fit(table, method="gsu")
    assert model.columns_.mean == "mean"
    assert model.columns_.errors == {"std": "std"}
    reference = uncertain.fit(polars_table(columns), meaning="spread", method="gsu").pipeline_[-1].coef_
    np.testing.assert_allclose(model.pipeline_[-1].coef_, reference, rtol=1e-4)
    renamed = table.rename({"mean": "position", "std": "s"})
    np.testing.assert_array_equal(
        uncertain.fit(renamed, mean="position", std="s", method="gsu").pipeline_[-1].coef_,
        model.pipeline_[-1].coef_,
    )


TARGETS: dict[str, tuple[Any, list[Any]]] = {
    "strings": (["low", "high"], ["high", "low"]),
    "booleans": ([False, True], [False, True]),
    "integers": ([3, -7], [-7, 3]),
}


@pytest.mark.parametrize("kind", TARGETS)
def test_labels_keep_their_type(kind: str, make: Callable[[dict[str, Any]], Any]) -> None:
    names, classes = TARGETS[kind]
    table = make(scalars() | {"label": [names[i % 2] for i in range(N)]})
    model = uncertain.fit(table, method="gsu")
    assert model.classes_.tolist() == classes
    predicted = values(model.predict(make(scalars())))
    assert {type(v) for v in predicted} == {type(classes[0])}
    assert set(predicted) == set(classes)


@pytest.mark.parametrize(
    "label",
    [
        pl.Series(scalars()["label"], dtype=pl.Categorical),
        pl.Series(scalars()["label"], dtype=pl.Enum(["low", "high", "unused"])),
        pd.Categorical(scalars()["label"]),
        pa.array(scalars()["label"]).dictionary_encode(),
        pd.Series(scalars()["label"], dtype="string[pyarrow]"),
    ],
    ids=["polars.Categorical", "polars.Enum", "pandas.Categorical", "dictionary", "pandas.string"],
)
def test_categorical_targets_are_strings(label: Any) -> None:
    columns = scalars() | {"label": label}
    pandas_label = isinstance(label, (pd.Series, pd.Categorical))
    table = pd.DataFrame(columns) if pandas_label else pl.DataFrame(columns)
    model = uncertain.fit(table, method="gsu")
    assert model.classes_.tolist() == ["high", "low"]
    assert set(values(model.predict(table))) == {"high", "low"}


def test_scaling_is_optional_and_parameters_reach_the_classifier() -> None:
    table = pl.DataFrame(scalars())
    model = uncertain.fit(table, scale=False, alpha=0.1, solver="lbfgs", probability=False, method="gsu")
    assert [name for name, _ in model.pipeline_.steps] == ["gaussians", "denoise", "classify"]
    assert model.pipeline_[-1].alpha == 0.1
    with pytest.raises(UncertainError, match="no probabilities here; fit with probability=True"):
        model.predict_proba(table)
    assert uncertain.fit(table, method="gsu").pipeline_[-1].probability


def drop(*names: str) -> dict[str, Any]:
    return {k: v for k, v in scalars().items() if k not in names}


REFUSED: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "no error bars": (drop("u_err", "v_err"), {}, "no error bars found among the columns id, u, v"),
    "two error columns": (scalars() | {"u_se": np.ones(N)}, {}, "several error columns: u .u_err, u_se"),
    "pattern finds nothing": (scalars(), {"std": "{}_x"}, "no column has an error column named '{}_x'"),
    "unknown task": (scalars(), {"task": "rank"}, 'must be one of "auto", "classification"'),
    "regression": (scalars(), {"task": "regression"}, "finite number"),
    "meaning": (scalars(), {"meaning": "error"}, 'must be one of "auto", "spread", "measurement"'),
    "on_missing": (scalars(), {"on_missing": "zero"}, 'must be one of "auto", "error", "point"'),
    "scale": (scalars(), {"scale": "yes"}, "scale='yes': must be True or False"),
    "whole floats": (
        scalars() | {"label": [float(i % 3) for i in range(N)]},
        {},
        'task="classification" or task="regression"',
    ),
    "fractional labels": (scalars(), {"target": "v", "task": "classification"}, "row 0 is .* whole numbers"),
    "many integers": (
        scalars() | {"id": np.arange(N)},
        {"target": "id"},
        '60 different integers.*task="classification"',
    ),
    "no label": (scalars() | {"label": ["", "  "] * (N // 2)}, {}, "label: no row has a value"),
    "nothing but NaN": (scalars() | {"u": [float("nan")] * N}, {}, "u: in every row the value .* is missing"),
    "huge integers": (scalars() | {"label": [2**64 + i % 2 for i in range(N)]}, {}, "fit into 64 bits"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_with_what_to_do(case: str) -> None:
    columns, arguments, message = REFUSED[case]
    with pytest.raises(UncertainError, match=message):
        uncertain.fit(pl.DataFrame(columns), **{"method": "gsu"} | arguments)


def test_whole_floats_are_labels_on_request() -> None:
    columns = scalars() | {"label": (np.arange(N) % 2 * 2 - 1).astype(float)}
    assert uncertain.fit(pl.DataFrame(columns), task="classification", method="gsu").classes_.tolist() == [
        -1,
        1,
    ]


@pytest.mark.parametrize("labels", [(-1.0, 1.0), (0.0, 1.0)])
def test_two_textbook_labels_are_classes_though_they_are_floats(labels: tuple[float, float]) -> None:
    columns = scalars() | {"label": [labels[i % 2] for i in range(N)]}
    model = uncertain.fit(pl.DataFrame(columns), method="gsu")
    assert model.classes_.tolist() == [int(label) for label in labels]
    # Asked for numbers, they are numbers.
    assert not hasattr(
        uncertain.fit(pl.DataFrame(columns), task="regression", method="gsu").pipeline_[-1], "classes_"
    )


def test_arrays_have_no_columns() -> None:
    with pytest.raises(UncertainError, match="has no column 'label': pass the labels themselves"):
        uncertain.fit(np.zeros((4, 2)), method="gsu")
    with pytest.raises(UncertainError, match="std= names a column"):
        uncertain.fit(np.zeros((4, 2)), [0, 1, 0, 1], std="u", method="gsu")
    with pytest.raises(UncertainError, match="expected 4 labels, one per row, got 3"):
        uncertain.fit(np.zeros((4, 2)), [0, 1, 0], method="gsu")


def test_curved_boundaries(tmp_path: Any) -> None:
    rng = np.random.default_rng(3)
    inner = np.arange(80) % 2 == 0
    angle, radius = rng.uniform(0, 2 * np.pi, 80), np.where(inner, 0.5, 2.0) + rng.normal(0, 0.1, 80)
    table = pl.DataFrame(
        {
            "u": radius * np.cos(angle),
            "u_err": rng.uniform(0.05, 0.2, 80),
            "v": 1000.0 * radius * np.sin(angle),
            "v_err": 1000.0 * rng.uniform(0.05, 0.2, 80),
            "label": np.where(inner, "in", "out").tolist(),
        }
    )
    model = uncertain.fit(table, method="kernel")
    assert model.score(table) == 1.0 > uncertain.fit(table, method="gsu").score(table) + 0.2
    assert "ProbabilisticKernelSVC" in repr(model) and model.pipeline_[-1].sigma == "median"
    np.testing.assert_allclose(model.predict_proba(table).sum_horizontal(), 1.0)
    with pytest.raises(UncertainError, match="precomputed"):
        uncertain.fit(table, method="kernel", kernel="precomputed")


def test_every_estimator_takes_weights_and_groups() -> None:
    rng = np.random.default_rng(0)
    y = np.arange(24) % 2
    X = GaussianArray(rng.normal(size=(24, 2)) + 2.0 * y[:, None], std=0.3)
    kinds = [getattr(uncertain, name) for name in uncertain.__all__]
    kinds = [
        kind for kind in kinds if isinstance(kind, type) and hasattr(kind, "predict") and hasattr(kind, "fit")
    ]
    assert len(kinds) >= 11
    for kind in kinds:
        target = y if hasattr(kind, "decision_function") else X.means @ [1.0, -1.0]
        fitted = kind().fit(X, target, sample_weight=np.ones(24), groups=np.arange(24) // 2)
        assert fitted.predict(X).shape == (24,), kind


def test_calls_enter_few_files() -> None:
    """`tools/walk.py` counts files that one whole call enters; lower these bounds where they can be."""
    tool = Path(__file__).parents[2] / "tools" / "walk.py"
    printed = children.printed("import runpy, sys; runpy.run_path(sys.argv[1], run_name='__main__')", tool)
    files = {name: int(n) for name, n in re.findall(r"^(\w+): (\d+) files", printed, re.MULTILINE)}
    most = {"fit": 60, "predict": 15, "load": 14}
    assert files.keys() == most.keys()
    assert all(files[name] <= most[name] for name in most), printed


@pytest.fixture(scope="module")
def model() -> uncertain.Model:
    return uncertain.fit(pl.DataFrame(scalars()), method="gsu")


def test_repr_says_what_was_chosen(model: uncertain.Model) -> None:
    text = repr(model)
    for piece in (
        "GSUClassifier",
        "60 rows",
        "u (u_err), v (v_err)",
        "one standard deviation each",
        "high, low",
        "converged",
        "GaussianScaler",
    ):
        assert piece in text
    assert "id" in text.split("left out")[1].splitlines()[0]


def test_column_order_and_other_columns_do_not_matter(model: uncertain.Model) -> None:
    table = pl.DataFrame(scalars())
    shuffled = table.select("v_err", "u", "v", "u_err").with_columns(more=pl.lit(1))
    assert model.predict(shuffled).to_list() == model.predict(table).to_list()


def test_a_missing_column_is_named(model: uncertain.Model) -> None:
    with pytest.raises(UncertainError, match="'label'"):
        model.score(pl.DataFrame(scalars()).drop("label"))


def test_unknown_labels_are_named(model: uncertain.Model) -> None:
    table = pl.DataFrame(scalars() | {"label": ["low"] * 7 + ["medium"] * (N - 7)})
    with pytest.raises(UncertainError, match=r"row 7 is 'medium'.*'high', 'low'"):
        model.score(table)


def test_score_is_accuracy(model: uncertain.Model) -> None:
    table = pl.DataFrame(scalars())
    share = (model.predict(table) == table["label"]).mean()
    assert model.score(table) == pytest.approx(share)
    assert model.score(table, y=table["label"]) == pytest.approx(share)


def test_labels_given_as_values_are_asked_for_again() -> None:
    table = pl.DataFrame(scalars())
    model = uncertain.fit(table.drop("label"), table["label"], method="gsu")
    assert model.predict(table).name == "prediction"
    with pytest.raises(UncertainError, match="pass the labels as y"):
        model.score(table.drop("label"))
    assert model.score(table.drop("label"), table["label"]) > 0.8


@pytest.mark.filterwarnings("ignore::uncertain.exceptions.ErrorSizesWarning")
def test_larger_error_bars_pull_probabilities_to_the_middle(model: uncertain.Model) -> None:
    table = pl.DataFrame(scalars())
    vague = table.with_columns(u_err=pl.lit(30.0), v_err=pl.lit(30.0))
    sure, unsure = (np.abs(model.predict_proba(t)["low"].to_numpy() - 0.5) for t in (table, vague))
    assert unsure.max() < sure.mean()


def test_doubts_are_printed_and_kept(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    y = rng.normal(size=60)
    table = pl.DataFrame({"u": rng.normal(size=60), "u_err": 0.3, "twice": 2.0 * y, "y": y})
    with pytest.warns(UncertainWarning, match="twice is in a fixed relation to 'y'"):
        model = uncertain.fit(table, "y", exact=["twice"], method="gsu")
    model.save(tmp_path / "m")
    for each in (model, uncertain.load(tmp_path / "m")):
        assert "\ndoubts           twice is in a fixed relation to 'y'" in repr(each)


def catalogue(n: int, seed: int) -> tuple[pl.DataFrame, np.ndarray]:
    """Readings of two classes with noise of very different sizes; the true values."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, size=n)
    z = rng.normal(size=(n, 4)) + np.array([1.2, 1.2, 0, 0]) * y[:, None]
    std = np.exp(1.2 * rng.normal(size=(n, 4)))
    x = z + std * rng.normal(size=(n, 4))
    columns = {f"f{j}": x[:, j] for j in range(4)} | {f"f{j}_err": std[:, j] for j in range(4)}
    return pl.DataFrame(columns | {"label": y}), z


@pytest.fixture(scope="module")
def table() -> pl.DataFrame:
    return catalogue(240, 1)[0]


def test_the_steps_of_measurements(table: pl.DataFrame) -> None:
    model = uncertain.fit(table, meaning="measurement", method="gsu")
    assert [name for name, _ in model.pipeline_.steps] == ["gaussians", "denoise", "scale", "classify"]
    # The classifier sees true values of unit variance, whatever the noise.
    moved = model.pipeline_[:-1].transform(table)
    spread = moved.means.var(axis=0) + np.diagonal(moved.covariances(), axis1=1, axis2=2).mean(axis=0)
    assert_allclose(spread, 1)


@pytest.mark.filterwarnings("ignore::uncertain.exceptions.ErrorSizesWarning")
def test_measurement_wins_on_clean_rows_where_it_is_the_truth() -> None:
    train, _ = catalogue(60, 1)
    _, clean = catalogue(2000, 2)
    y = catalogue(2000, 2)[0]["label"].to_numpy()
    columns = {f"f{j}": clean[:, j] for j in range(4)} | {f"f{j}_err": np.zeros(2000) for j in range(4)}
    points = pl.DataFrame(columns)
    spread, measured = (
        uncertain.fit(train, meaning=m, alpha=1e-2, method="gsu") for m in ("spread", "measurement")
    )
    score = [float(np.mean(m.predict(points).to_numpy() == y)) for m in (spread, measured)]
    assert score[1] > score[0] + 0.05, score
