"""Reports of a sample, and scores by blocks: nothing larger than a block or the sample is ever held."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from sklearn.metrics import accuracy_score, classification_report, mean_absolute_error, r2_score

import uncertain
from uncertain._model import reader
from uncertain._model import report as drawn
from uncertain._rows import source
from uncertain._tables.table import Table
from uncertain.cli import main
from uncertain.exceptions import ColumnError, NullError, ParameterError, ShapeError, UncertainError

N, MOST = 6_000, 900
FEATURES = ["x0", "x1"]


def table() -> pl.DataFrame:
    rng = np.random.default_rng(3)
    x, s = rng.normal(size=(N, 2)), rng.uniform(0.1, 1.0, (N, 2))
    score = x @ [1.0, 2.0] + 0.5 * rng.normal(size=N)
    read = x + s * rng.normal(size=s.shape)
    columns: dict[str, Any] = {"x0": read[:, 0], "x0_err": s[:, 0], "x1": read[:, 1], "x1_err": s[:, 1]}
    columns |= {"kind": np.array(["c", "a", "b"])[np.digitize(score, [-1.0, 1.0])], "z": score}
    columns |= {"w": rng.integers(1, 4, N).astype(float), "star": [f"s{k}" for k in rng.integers(0, 1500, N)]}
    return pl.DataFrame(columns | {"beside": np.arange(N)})


TABLE = table()
KNOWN: dict[str, Any] = {"method": "gsu", "features": FEATURES, "std": "{}_err", "meaning": "spread"}
FAST: dict[str, Any] = {"folds": 2, "repeats": 1, "meanings": False, "scorers": "accuracy", "listed": 3}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("rows")
    for k in range(3):
        TABLE[2000 * k : 2000 * (k + 1)].write_parquet(path / f"part-{k}.parquet", row_group_size=700)
    return path


@pytest.fixture(scope="module")
def model() -> uncertain.Model:
    return uncertain.fit(TABLE, "kind", **KNOWN)


@pytest.fixture(scope="module")
def numbers() -> uncertain.Model:
    return uncertain.fit(TABLE, "z", **KNOWN)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of 500 rows; whoever collects more than one column of a file fails."""
    monkeypatch.setattr(drawn, "in_parts", lambda numbers, size: 500)
    monkeypatch.setattr(reader, "in_parts", lambda numbers, size: 500)
    monkeypatch.setattr(source, "LARGE", 1 << 10)

    def refuse(self: Table, names: Any) -> Any:
        names = [*names]
        if self.streams and not self.columns and len(names) > 1:
            raise AssertionError("the whole table is collected")
        return load(self, names)

    load = Table.load
    monkeypatch.setattr(Table, "load", refuse)


def sources(path: Path) -> dict[str, Any]:
    from pyarrow import dataset

    return {
        "path": path, "query": pl.scan_parquet(path), "dataset": dataset.dataset(path),
        "reader": TABLE.to_arrow().to_reader(max_chunksize=700), "polars": TABLE, "pandas": TABLE.to_pandas(),
        "arrow": TABLE.to_arrow(), "columns": {name: TABLE[name].to_numpy() for name in TABLE.columns},
    }  # fmt: skip


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(
    "kind", ["path", "query", "dataset", "reader", "polars", "pandas", "arrow", "columns"]
)
def test_a_report_of_a_large_table_is_one_of_a_sample(
    folder: Path, model: uncertain.Model, kind: str
) -> None:
    report = model.report(sources(folder)[kind], max_rows=MOST, **FAST)
    assert abs(report.n_rows - MOST) < 5 * np.sqrt(MOST) and report.n_table == N
    assert f"{report.n_rows:,} rows (a sample of the 6,000 in the table)" in str(report)
    assert report.to_dict()["n_table"] == N
    # The rows are those of a hash of their numbers: the report of just these is the same.
    at = np.flatnonzero(drawn.uniform(np.arange(N, dtype=np.uint64)) < MOST / N)
    own = model.report(TABLE[at], **FAST)
    assert own.n_table is None and "a sample" not in str(own)
    assert report.scores.equals(own.scores)
    assert np.array_equal(report.rows["row"], at[own.rows["row"]])


def lazily(path: Path) -> Any:
    """The rows as a Dask DataFrame of three partitions."""
    frame = pytest.importorskip("dask.dataframe")
    return frame.from_pandas(TABLE.to_pandas(), npartitions=3)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("kind", ["frame", "path", "query", "dask"])
def test_inspections_summaries_and_pictures_of_a_sample(
    folder: Path, model: uncertain.Model, numbers: uncertain.Model, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("matplotlib").use("Agg")
    from uncertain.inspection import partial_dependence, permutation_importance
    from uncertain.plot import ReliabilityDisplay

    open_ = {"frame": lambda path: TABLE, "path": str, "query": lambda path: pl.scan_parquet(path)}
    given = (open_ | {"dask": lazily})[kind](folder / "*.parquet" if kind == "path" else folder)
    some = TABLE[drawn._chosen(drawn._keys(None, N), MOST / N)]
    assert abs(len(some) - MOST) < 100

    grid = np.linspace(-1.0, 1.0, 3)
    one = partial_dependence(numbers, given, "x1", grid=grid, max_rows=MOST)
    assert np.array_equal(one.average, partial_dependence(numbers, some, "x1", grid=grid).average)
    known: dict[str, Any] = {"features": ["x0"], "n_repeats": 2}
    moved = permutation_importance(model, given, max_rows=MOST, **known)
    assert np.array_equal(moved.importances, permutation_importance(model, some, **known).importances)
    options: dict[str, Any] = {"target": "a", "n_bins": 4}
    expected = model.summary(some).to_dict(), ReliabilityDisplay.from_estimator(model, some, **options)
    assert model.summary(TABLE).to_dict() != expected[0]
    monkeypatch.setattr(uncertain.Model._subsample, "__defaults__", (None, None, MOST))
    assert model.summary(given).to_dict() == expected[0]
    drawn_one = ReliabilityDisplay.from_estimator(model, given, **options)
    assert np.array_equal(drawn_one.prob_true, expected[1].prob_true)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("kind", ["path", "reader", "pandas"])
def test_weights_and_targets_are_drawn_with_the_rows_and_groups_whole(folder: Path, kind: str) -> None:
    model = uncertain.fit(TABLE, "z", **KNOWN, sample_weight="w", groups="star")
    fast = {"folds": 2, "repeats": 1, "meanings": False, "scorers": "mae"}
    report = model.report(sources(folder)[kind], max_rows=MOST, **fast)
    keys = np.array([drawn._key(name) for name in TABLE["star"].to_list()], dtype=np.uint64)
    at = np.flatnonzero(drawn.uniform(keys) < MOST / N)
    some = TABLE[at]
    assert report.n_rows == len(at) and report.n_groups == some["star"].n_unique()
    assert not set(some["star"]) & set(TABLE[np.setdiff1d(np.arange(N), at)]["star"])
    assert report.scores.equals(model.report(some, **fast).scores)
    single = model.report(sources(folder)[kind], max_rows=MOST, groups=False, **fast)
    assert single.n_groups is None


@pytest.mark.usefixtures("small")
def test_values_beside_the_table_are_drawn_too(folder: Path, model: uncertain.Model) -> None:
    at = np.flatnonzero(drawn.uniform(np.arange(N, dtype=np.uint64)) < MOST / N)
    weights, labels = TABLE["w"].to_numpy(), TABLE["kind"].to_list()
    some = model.report(TABLE[at], **FAST, sample_weight="w").scores
    for given in (folder, TABLE.to_pandas()):
        report = model.report(given, labels, sample_weight=weights, max_rows=MOST, **FAST)
        assert report.scores.equals(some)
    rows = model.gaussians(TABLE)
    of_rows = uncertain.fit(rows, labels, method="gsu", meaning="spread")
    report = of_rows.report(rows, labels, max_rows=MOST, **FAST)
    own = of_rows.report(rows[at], [labels[k] for k in at], **FAST)
    assert report.n_table == N and report.scores.equals(own.scores)
    with pytest.raises(ShapeError, match="y: expected 6000 values, one per row, got 3"):
        model.report(folder, ["a", "b", "c"], max_rows=MOST, **FAST)


def test_all_rows_where_they_are_asked_for_or_few(folder: Path, model: uncertain.Model) -> None:
    assert model.report(folder, max_rows=None, **FAST).n_rows == N
    report = model.report(TABLE.to_arrow().to_reader(), **FAST)
    assert report.n_rows == N and report.n_table is None
    with pytest.raises(ParameterError, match="max_rows=0"):
        model.report(TABLE, max_rows=0)
    with pytest.raises(ParameterError, match="max_rows='many'"):
        model.report(TABLE, max_rows="many")  # type: ignore[arg-type]


@pytest.mark.usefixtures("small")
def test_what_is_wrong_with_a_sample_names_it(folder: Path, model: uncertain.Model, tmp_path: Path) -> None:
    rare = TABLE.with_columns(kind=pl.when(pl.col("beside") == 11).then(pl.lit("a")).otherwise(
        pl.when(pl.col("kind") == "a").then(pl.lit("b")).otherwise("kind")))  # fmt: skip
    at = drawn.uniform(np.arange(N, dtype=np.uint64))
    most = int(np.ceil(N * at[11])) + 1
    with pytest.raises(UncertainError, match=r"class .a. has a single row.*of 6,000 rows were drawn"):
        model.report(rare, max_rows=most, **FAST)
    with pytest.raises(ColumnError, match=r"no column 'x1_err'.*the model reads"):
        model.report(TABLE.drop("x1_err"), max_rows=MOST)
    holes = TABLE.with_columns(star=pl.when(pl.col("beside") == 4321).then(None).otherwise("star"))
    holes.write_parquet(tmp_path / "holes.parquet")
    with pytest.raises(NullError, match="star: row 4321 has no group"):
        model.report(tmp_path / "holes.parquet", groups="star", max_rows=MOST)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("kind", ["path", "query", "reader", "polars", "pandas", "columns"])
def test_scores_come_by_blocks(
    folder: Path, model: uncertain.Model, numbers: uncertain.Model, kind: str
) -> None:
    predicted = model.predict(TABLE).to_list()
    assert model.score(sources(folder)[kind]) == accuracy_score(TABLE["kind"].to_list(), predicted)
    values = numbers.predict(TABLE).to_numpy()
    assert numbers.score(sources(folder)[kind]) == pytest.approx(r2_score(TABLE["z"], values), rel=1e-12)
    if kind not in ("reader", "query"):
        assert model.score(sources(folder)[kind], TABLE["kind"].to_list()) == model.score(TABLE)


@pytest.mark.usefixtures("small")
def test_scores_of_gaps_and_strangers(folder: Path, model: uncertain.Model, numbers: uncertain.Model) -> None:
    gone = TABLE.with_columns(z=pl.when(pl.col("beside") < 3_000).then(None).otherwise("z"))
    assert numbers.score(gone) == pytest.approx(numbers.score(TABLE[3_000:]), rel=1e-12)
    with pytest.raises(UncertainError, match="z: no row has a target"):
        numbers.score(TABLE.with_columns(z=pl.lit(None, dtype=pl.Float64)))
    ones = TABLE.filter(pl.col("kind") == "a")  # one class alone
    assert model.score(ones) == pytest.approx(np.mean(model.predict(ones).to_numpy() == "a"))
    for label, words in (
        ("d", "kind: row 4000 is 'd', no class of the model"),
        (None, "row 4000 has no"),
    ):
        other = TABLE.with_columns(
            kind=pl.when(pl.col("beside") == 4000).then(pl.lit(label)).otherwise("kind")
        )
        with pytest.raises(UncertainError, match=words):
            model.score(other)
    with pytest.raises(ShapeError, match="one per row"):
        model.score(TABLE, ["a"] * (N + 1))
    of_rows = uncertain.fit(np.array([[0.0, 0], [1, 1], [2, 2]]), [0, 1, 1], method="gsu", probability=False)
    assert of_rows.score(np.array([[0.0, 0.0], [2.0, 2.0]]), [0, 1]) == 1.0


@pytest.mark.usefixtures("small")
def test_the_commands(folder: Path, model: uncertain.Model, numbers: uncertain.Model, tmp_path: Path) -> None:
    def run(*arguments: object) -> str:
        done = CliRunner().invoke(main, [str(argument) for argument in arguments])
        assert done.exit_code == 0, done.output
        return done.stdout

    model.save(path := tmp_path / "model.safetensors")
    text = run("evaluate", path, folder)
    expected = classification_report(
        TABLE["kind"].to_list(), model.predict(TABLE).to_list(), digits=4, zero_division=0.0
    ).replace("6000", "6,000")
    plain_numbers = {line.split()[0]: line.split()[1:] for line in expected.splitlines() if line.split()}
    found = {line.split()[0]: line.split()[1:] for line in text.splitlines() if line.split()}
    for name in ("a", "b", "c", "macro", "weighted"):
        assert [x.replace(",", "") for x in found[name]] == [x.replace(",", "") for x in plain_numbers[name]]
    assert "on 6,000 rows" in text
    text = run("report", path, folder, "--max-rows", MOST, "--folds", 2, "--repeats", 1)
    assert "(a sample of the 6,000 in the table)" in text
    numbers.save(path)
    text = run("evaluate", path, folder)
    values = numbers.predict(TABLE).to_numpy()
    assert f"mean absolute error {mean_absolute_error(TABLE['z'], values):.4g}" in text
    assert f"R^2 {r2_score(TABLE['z'], values):.4f}" in text and f"on {N:,} rows" in text
