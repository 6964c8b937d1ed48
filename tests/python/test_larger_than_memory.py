"""Tables read in batches: the same models as from tables in memory, within the memory that was said."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import children
import numpy as np
import polars as pl
import polars.selectors as cs
import pytest

import uncertain
from uncertain import GaussianArray
from uncertain.exceptions import ColumnError, NullError, ParameterError, UncertainError

MEMORY = "128MB"
BESIDE = 64 << 20
"""Bytes of the libraries, of a sample of 200,000 rows and of what is measured on it; what an allocator
has kept of freed blocks differs by 30 MB from run to run."""


def table(n: int, d: int = 3, seed: int = 0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    x, s = rng.normal(size=(n, d)), rng.uniform(0.1, 1.0, (n, d))
    score = x @ np.linspace(1.0, 2.0, d) + 0.5 * rng.normal(size=n)
    columns: dict[str, Any] = {f"x{j}": (x + s * rng.normal(size=s.shape))[:, j] for j in range(d)}
    columns |= {f"x{j}_err": s[:, j] for j in range(d)}
    columns |= {"kind": np.array(["c", "a", "b"])[np.digitize(score, [-1.0, 1.0])], "z": score}
    columns |= {"z_err": rng.uniform(0.1, 0.2, n), "w": rng.integers(0, 4, n).astype(float)}
    columns |= {"star": rng.integers(0, n // 7, n), "band": np.array(["i", "y"])[rng.integers(0, 2, n)]}
    return pl.DataFrame(columns)


N = 2400
TABLE = table(N)
FEATURES = ["x0", "x1", "x2"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("table")
    for k in range(3):
        TABLE[800 * k : 800 * (k + 1)].write_parquet(path / f"part-{k}.parquet", row_group_size=280)
    TABLE.write_ipc(path.parent / "table.arrow", record_batch_size=360)
    TABLE.write_csv(path.parent / "table.csv")
    return path


def duckdb_relation(path: Path) -> Any:
    duckdb = pytest.importorskip("duckdb")
    return duckdb.read_parquet(str(path / "*.parquet"))


def dataset(path: Path) -> Any:
    from pyarrow import dataset

    return dataset.dataset(path)


SOURCES: dict[str, Callable[[Path], Any]] = {
    "pattern": lambda path: str(path / "*.parquet"),
    "folder": lambda path: path,
    "list": lambda path: sorted(path.iterdir()),
    "arrow file": lambda path: path.parent / "table.arrow",
    "csv": lambda path: path.parent / "table.csv",
    "lazy frame": lambda path: pl.scan_parquet(path),
    "dataset": dataset,
    "scanner": lambda path: dataset(path).scanner(),
    "reader": lambda path: TABLE.to_arrow().to_reader(max_chunksize=400),
    "duckdb": duckdb_relation,
    "polars": lambda path: TABLE,
    "pandas": lambda path: TABLE.to_pandas(),
    "pyarrow": lambda path: TABLE.to_arrow(),
    "dictionary": lambda path: {name: TABLE[name].to_numpy() for name in TABLE.columns},
}


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Batches of some hundred rows, so that a small table has many."""
    monkeypatch.setattr("uncertain._rows.mapped.SHARE_OF_A_BATCH", (128 << 20) // 16_000)


def coefficients(model: uncertain.Model) -> Any:
    return model.pipeline_[-1].coef_


IN_MEMORY: dict[str, uncertain.Model] = {}


def in_memory(target: str, **arguments: Any) -> uncertain.Model:
    """The model of the whole table, fitted once."""
    key = repr((target, arguments))
    if key not in IN_MEMORY:
        IN_MEMORY[key] = uncertain.fit(TABLE, target, **arguments)
    return IN_MEMORY[key]


@pytest.mark.usefixtures("small_batches")
@pytest.mark.parametrize("source", list(SOURCES))
def test_every_source_gives_the_model_of_the_table(folder: Path, source: str) -> None:
    known: dict[str, Any] = {
        "method": "gsu", "features": FEATURES, "std": "{}_err", "meaning": "spread", "probability": False
    }  # fmt: skip
    known |= {"sample_weight": "w", "groups": "star"}
    expected = in_memory("kind", **known)
    model = uncertain.fit(SOURCES[source](folder), "kind", memory=MEMORY, **known)
    assert model.classes_.tolist() == ["a", "b", "c"]
    assert np.array_equal(coefficients(model), coefficients(expected))
    assert np.array_equal(model.predict(TABLE), expected.predict(TABLE))
    assert model.columns_ == expected.columns_


CASES: dict[str, dict[str, Any]] = {
    "gsu": {"target": "kind", "method": "gsu", "meaning": "spread"},
    "gsu, measurement": {"target": "kind", "method": "gsu"},
    "gsu, numbers": {"target": "z", "method": "gsu", "meaning": "spread"},
    "gsu, numbers, measurement": {"target": "z", "method": "gsu"},
    "gsu, without scale": {"target": "kind", "method": "gsu", "meaning": "spread", "scale": False},
    "gsu, without errors": {"target": "kind", "method": "gsu", "std": None, "exact": FEATURES, "features":
    None}, "gsu, categories": {"target": "kind", "method": "gsu", "categorical": ["band"]},
    "gsu, booleans": {"target": "kind", "method": "gsu", "class_weight": "balanced", "meaning": "spread"},
    "usvc": {"target": "kind", "method": "usvc", "meaning": "spread"},
    "minimax": {"target": "kind", "method": "minimax", "meaning": "spread"},
    "discriminant": {"target": "kind", "method": "discriminant"},
    "mixture": {"target": "z", "method": "mixture"},
    "random features": {
        "target": "kind", "method": "kernel", "n_components": 20, "meaning": "spread", "random_state": 0
    },
}  # fmt: skip


@pytest.mark.usefixtures("small_batches")
@pytest.mark.parametrize("case", list(CASES))
def test_every_method_that_reduces_gives_the_model_of_the_table(folder: Path, case: str) -> None:
    known: dict[str, Any] = {"features": FEATURES, "std": "{}_err"} | CASES[case]
    target = known.pop("target")
    expected = in_memory(target, **known)
    model = uncertain.fit(folder, target, memory=MEMORY, **known)
    assert [name for name, _ in model.pipeline_.steps] == [name for name, _ in expected.pipeline_.steps]
    for own, other in zip(model.pipeline_, expected.pipeline_, strict=True):
        if hasattr(own, "coef_"):
            assert np.array_equal(own.coef_, other.coef_)
    if target == "z":
        assert np.array_equal(model.predict(TABLE), expected.predict(TABLE))
        assert model.residual_std_ == expected.residual_std_
        interval = model.predict_interval(TABLE), expected.predict_interval(TABLE)
        assert interval[0].equals(interval[1])
    else:
        assert model.predict_proba(TABLE).equals(expected.predict_proba(TABLE))
        assert model.predict_set(TABLE).equals(expected.predict_set(TABLE))


@pytest.mark.usefixtures("small_batches")
@pytest.mark.parametrize("meaning", ["spread", "measurement"])
def test_gaps_are_mapped_too(tmp_path: Path, meaning: Any) -> None:
    holes = TABLE.with_columns(
        pl.when(pl.int_range(pl.len()) % 7 == j).then(None).otherwise(pl.col(f"x{j}")).alias(f"x{j}")
        for j in range(3)
    )
    holes.write_parquet(tmp_path / "holes.parquet")
    known: dict[str, Any] = {
        "method": "gsu", "features": FEATURES, "std": "{}_err", "on_missing": "impute", "meaning": meaning
    }  # fmt: skip
    expected = uncertain.fit(holes, "kind", **known)
    model = uncertain.fit(tmp_path / "holes.parquet", "kind", memory=MEMORY, **known)
    assert np.array_equal(coefficients(model), coefficients(expected))
    assert model.predict_proba(holes).equals(expected.predict_proba(holes))


@pytest.mark.usefixtures("small_batches")
@pytest.mark.parametrize(
    ("values", "task", "kind"),
    [
        (np.arange(N) % 3, "auto", "classes"),
        ((np.arange(N) // (N // 2)).astype(float), "auto", "classes"),
        (np.sort(np.arange(N) % 2).astype(bool), "auto", "classes"),
        (np.arange(float(N)) + 0.5, "auto", "numbers"),
        (np.arange(N), "regression", "numbers"),
        (np.where(np.arange(N) == N - 1, 0.5, 1.0), "auto", "numbers"),
    ],
    ids=["integers", "two whole floats", "sorted booleans", "floats", "many integers", "a late fraction"],
)
def test_targets_follow_the_rules_for_small_tables(tmp_path: Path, values: Any, task: Any, kind: str) -> None:
    frame = TABLE.with_columns(y=pl.Series(values))
    frame.write_parquet(tmp_path / "t.parquet")
    known: dict[str, Any] = {
        "method": "gsu", "features": FEATURES, "std": "{}_err", "meaning": "spread", "task": task
    }  # fmt: skip
    expected = uncertain.fit(frame, "y", **known)
    model = uncertain.fit(tmp_path / "t.parquet", "y", memory=MEMORY, **known)
    assert model.is_regression_ == expected.is_regression_ == (kind == "numbers")
    assert np.array_equal(coefficients(model), coefficients(expected))
    if kind == "classes":
        assert model.classes_.tolist() == expected.classes_.tolist()
        assert model.classes_.dtype == expected.classes_.dtype


@pytest.mark.usefixtures("small_batches")
@pytest.mark.parametrize(
    ("column", "value", "error", "words"),
    [
        ("x1_err", -1.0, UncertainError, "x1_err.*row 2051"),
        ("x1", None, NullError, "x1: row 2051"),
        ("kind", None, NullError, "kind: row 2051"),
        ("w", -2.0, UncertainError, "w: row 2051"),
        ("star", None, NullError, "star: row 2051"),
    ],
)
def test_errors_name_the_row_of_the_table(
    tmp_path: Path, column: str, value: Any, error: type[Exception], words: str
) -> None:
    values = TABLE[column].to_list()
    values[2051] = value
    weighted = TABLE.with_columns(pl.col("w").clip(1.0))  # rows of weight 0 are not looked at
    wrong = weighted.with_columns(pl.Series(column, values, dtype=TABLE[column].dtype))
    wrong.write_parquet(tmp_path / "wrong.parquet")
    with pytest.raises(error, match=words):
        uncertain.fit(
            tmp_path / "wrong.parquet", "kind", method="gsu", features=FEATURES, std="{}_err", memory=MEMORY,
            sample_weight="w", groups="star", on_missing="error",
        )  # fmt: skip


@pytest.mark.parametrize(
    ("target", "words"),
    [
        (np.full(N, "a"), "at least two classes"),
        (np.arange(N), 'look like a quantity: pass task="regression"'),
        (np.arange(float(N)), "may be classes or quantities"),
    ],
)
def test_targets_that_are_none_are_refused(target: Any, words: str) -> None:
    with pytest.raises(UncertainError, match=words):
        uncertain.fit(
            TABLE.with_columns(y=pl.Series(target)), "y", method="gsu", features=FEATURES, memory=MEMORY
        )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"method": "kernel"}, "random features"),
        ({"method": "huber"}, 'method="gsu"'),
        ({"method": "remeasured"}, "not made of sums"),
        ({"method": "tsvc"}, 'method="usvc"'),
        ({"method": "gsu", "kernel": "rbf"}, "compares rows with one another"),
        ({"method": "gsu", "alpha": "auto"}, "chooses it on a sample"),
        ({"method": "auto", "effort": "high"}, "averages many fits"),
        ({"method": "gsu", "sample_weight": np.ones(N)}, "must be the name of a column"),
        ({"method": "gsu", "memory": "lots"}, "must be a size"),
    ],
)
def test_what_does_not_reduce_is_refused_with_its_replacement(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        uncertain.fit(TABLE, "kind", **{"memory": MEMORY, "features": FEATURES} | arguments)


def test_rows_in_memory_and_whole_formats_are_refused(folder: Path) -> None:
    rows = GaussianArray(TABLE.select(FEATURES).to_numpy())
    with pytest.raises(ParameterError, match="is in memory already"):
        uncertain.fit(rows, TABLE["kind"].to_numpy(), method="gsu", memory=MEMORY)
    TABLE.write_json(folder.parent / "table.json")
    with pytest.raises(ParameterError, match="read as a whole; write it as Parquet"):
        uncertain.fit(folder.parent / "table.json", "kind", method="gsu", features=FEATURES, memory=MEMORY)
    with pytest.raises(ColumnError, match="no column 'absent'"):
        uncertain.fit(folder, "absent", method="gsu", features=FEATURES, memory=MEMORY)
    with pytest.raises(UncertainError, match="has no rows"):
        uncertain.fit(TABLE.clear(), "kind", method="gsu", features=FEATURES, memory=MEMORY)


@pytest.mark.usefixtures("few_trees")
def test_the_choice_is_made_on_a_sample_among_what_reduces(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    n = 4000
    x = rng.uniform(-2.0, 2.0, (n, 2))
    ring = np.where((np.hypot(*x.T) > 1.2) ^ (x[:, 0] > 1.0), "in", "out")
    frame = pl.DataFrame({"a": x[:, 0], "a_err": 0.01, "b": x[:, 1], "b_err": 0.01, "kind": ring})
    monkeypatch.setattr("uncertain._model.plan.CHOSEN_ROWS", 1500)
    model = uncertain.fit(frame, "kind", memory=MEMORY)
    assert {name.split()[0] for name in model.leaderboard_["model"]} == {"discriminant"}
    assert model.pipeline_[-1].__class__.__name__ == "GaussianDiscriminant"
    assert 1300 < model._leaderboard.n_rows < 1700
    assert model._n_rows == n
    assert model.score(frame) > 0.7
    # The fit is one to all rows, with the parameters that were chosen on the sample.
    chosen = model.pipeline_[-1]
    again = uncertain.fit(
        frame, "kind", method="discriminant",
        **{name: value for name, value in chosen.get_params().items() if name in (
        "shared_covariance", "n_components", "random_state", "tol")},
    )  # fmt: skip
    assert again.predict_proba(frame).equals(model.predict_proba(frame))


@pytest.mark.parametrize("path", [False, True])
@pytest.mark.parametrize("meaning", ["spread", "measurement"])
@pytest.mark.parametrize("complete", [True, False])
def test_large_tables_are_read_in_parts_with_the_same_bits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: bool, meaning: Any, complete: bool
) -> None:
    """Also where values, error bars of the target and targets are missing."""
    known: dict[str, Any] = {
        "method": "gsu", "features": FEATURES, "std": "{}_err", "meaning": meaning, "sample_weight": "w",
        "groups": "star",
    }  # fmt: skip
    target, frame = "kind" if complete else "z", TABLE
    if not complete:
        every = pl.int_range(pl.len())
        empty = {"x1": every % 7 == 3, "z_err": every % 11 == 2, "z": every % 13 == 5}
        frame = TABLE.with_columns(
            pl.when(~rows).then(pl.col(name)).alias(name) for name, rows in empty.items()
        )
        known["target_std"] = "z_err"
    expected = uncertain.fit(frame, target, **known)
    frame.write_parquet(tmp_path / "table.parquet", row_group_size=280)
    parts = []
    read = sys.modules["uncertain._rows.table_reader"].read_in_parts

    def counting(*arguments: Any, **more: Any) -> Any:
        rows = read(*arguments, **more)
        parts.append(len(rows))
        return rows

    monkeypatch.setattr("uncertain._rows.source.LARGE", 1 << 10)
    monkeypatch.setattr("uncertain._rows.batches.in_parts", lambda numbers, size: 400)
    monkeypatch.setattr("uncertain._rows.table_reader.read_in_parts", counting)
    model = uncertain.fit(tmp_path / "table.parquet" if path else frame, target, **known)
    assert parts[0] >= 6
    assert np.array_equal(coefficients(model), coefficients(expected))
    assert model._n_left_out == expected._n_left_out
    monkeypatch.setattr("uncertain._rows.source.LARGE", 1 << 30)
    assert np.array_equal(*(np.asarray(each.predict(TABLE)) for each in (model, expected)))


@pytest.mark.parametrize("target", ["kind", "z"])
@pytest.mark.parametrize("kind", ["path", "polars", "pandas", "rows"])
def test_answers_come_in_blocks(
    folder: Path, monkeypatch: pytest.MonkeyPatch, target: str, kind: str
) -> None:
    known: dict[str, Any] = {"features": FEATURES, "std": "{}_err", "meaning": "spread", "method": "gsu"}
    model = in_memory(target, **known)
    tables = {"path": folder, "polars": TABLE, "pandas": TABLE.to_pandas(), "rows": model.gaussians(TABLE)}
    given = tables[kind]
    if kind == "rows":
        model = uncertain.fit(given, TABLE[target].to_numpy(), method="gsu", scale=False)
    methods = ["predict", "predict_distribution", "predict_interval"]
    methods = methods if target == "z" else ["predict", "predict_proba", "predict_set"]
    expected = [getattr(model, method)(given) for method in methods]
    monkeypatch.setattr("uncertain._model.reader.in_parts", lambda numbers, size: 400)
    monkeypatch.setattr("uncertain._rows.source.LARGE", 1 << 10)
    sizes = []
    reader = type(model._reader)
    read = reader.rows

    def counting(self: Any, source: Any) -> Any:
        rows = read(self, source)
        sizes.append(len(rows))
        return rows

    monkeypatch.setattr(reader, "rows", counting)
    for method, whole in zip(methods, expected, strict=True):
        found = getattr(model, method)(given)
        pairs = zip(found, whole, strict=True) if isinstance(whole, tuple) else [(found, whole)]
        for a, b in pairs:
            assert type(a) is type(b)
            assert a.equals(b) if hasattr(a, "equals") else np.array_equal(a, b)
    assert kind == "rows" or max(sizes) <= 400


MEASURED = """
import json, resource, sys
import uncertain
path, arguments = sys.argv[1], json.loads(sys.argv[2])
first = path.replace("large.parquet", "small.parquet")
arguments = {"target": "label"} | arguments
uncertain.fit(first, **arguments).predict(first)  # imports, and starts threads

def data():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) << 10 for line in status if line.startswith("VmData"))

resource.setrlimit(resource.RLIMIT_DATA, (data() + int(sys.argv[3]), -1))
try:
    model = uncertain.fit(path, **arguments)
    resource.setrlimit(resource.RLIMIT_DATA, (-1, -1))
    print(len(model.predict(path)), getattr(model.pipeline_[-1], "coef_", None))
except (uncertain.exceptions.UncertainError, MemoryError) as error:
    print("refused", type(error).__name__, error)
"""


ROWS = 900_000


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """900,000 rows of 10 features with error bars: 144 MB of numbers, and the first thousands of them."""
    path = tmp_path_factory.mktemp("large")
    rng = np.random.default_rng(0)
    n, d = ROWS, 10
    x = rng.normal(size=(n, d)).astype(np.float32).astype(np.float64)
    columns: dict[str, Any] = {f"x{j}": x[:, j] for j in range(d)}
    columns |= {f"x{j}_err": np.full(n, 0.1 * (j + 1)) for j in range(d)}
    frame = pl.DataFrame(columns | {"label": (x.sum(axis=1) > rng.normal(size=n)).astype(np.int64)})
    frame.write_parquet(path / "large.parquet", row_group_size=50_000, compression="uncompressed")
    frame[:40_000].write_parquet(path / "small.parquet", row_group_size=10_000)
    return path / "large.parquet"


def under_limit(path: Path, limit: int, **arguments: Any) -> subprocess.CompletedProcess[str]:
    return children.run(MEASURED, path, json.dumps(arguments), limit)


@pytest.mark.skipif(sys.platform != "linux", reason="RLIMIT_DATA limits mapped memory on Linux")
def test_a_fit_keeps_to_its_memory(large: Path) -> None:
    known: dict[str, Any] = {"method": "gsu", "meaning": "spread", "probability": False, "tol": 1e-2}
    # Bytes of each row beside the mapped file, as docs/how-to/large-data.md says.
    within = under_limit(large, (130 << 20) + 32 * ROWS, memory="130MB", **known)
    assert within.returncode == 0, within.stderr[-2000:]
    assert within.stdout.startswith("900000 ")
    # All rows do not fit into half of it. As a rule that is a sentence; where the reader of the file or a
    # small allocation meets the limit first, the process ends.
    without = under_limit(large, 70 << 20, **known)
    assert "900000 " not in without.stdout
    assert without.stdout.startswith("refused") or without.returncode


@pytest.mark.skipif(sys.platform != "linux", reason="RLIMIT_DATA limits mapped memory on Linux")
@pytest.mark.parametrize("n_components", [1, 2])
def test_a_law_keeps_to_its_memory(large: Path, n_components: int) -> None:
    """Fits keep what saves time as far as there is room; a line computes true features in every pass."""
    limit = (130 << 20) + (32 + 24) * ROWS
    known: dict[str, Any] = {"method": "mixture", "n_components": n_components, "max_iter": 2}
    within = under_limit(large, limit, memory="130MB", target="x9", **known)
    assert within.returncode == 0, within.stderr[-2000:]
    assert within.stdout.startswith("900000 ")


PEAK = """
import ctypes, sys, threading
import uncertain
ctypes.CDLL(None).mallopt(-8, 2)  # M_ARENA_MAX: every thread keeps blocks of its own

def anonymous():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) << 10 for line in status if line.startswith("RssAnon"))

def fit(path):
    uncertain.fit(path, "label", method="gsu", meaning="spread", probability=False, tol=1e-2)

fit(sys.argv[1])  # imports, and starts threads
start, peak, done = anonymous(), [0], threading.Event()

def watch():
    while not done.wait(0.002):
        peak[0] = max(peak[0], anonymous())

watching = threading.Thread(target=watch)
watching.start()
fit(sys.argv[2])
done.set()
watching.join()
print(peak[0] - start)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="anonymous memory is counted on Linux")
@pytest.mark.parametrize("files", [1, 8])
def test_a_fit_in_memory_takes_little_beside_its_numbers(
    large: Path, tmp_path: Path, files: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of float32 numbers, which are half as large: what a fit keeps beside them shows twice as well."""
    frame = pl.read_parquet(large).with_columns(cs.float().cast(pl.Float32))
    size = frame.height // files
    for k in range(files):
        part = frame[k * size : (k + 1) * size]
        part.write_parquet(tmp_path / f"part{k}.parquet", row_group_size=25_000, compression="uncompressed")
    for threads in ("POLARS_MAX_THREADS", "RAYON_NUM_THREADS", "OMP_NUM_THREADS"):  # as many on every machine
        monkeypatch.setenv(threads, "2")
    taken = int(children.printed(PEAK, large.with_name("small.parquet"), tmp_path / "*.parquet"))
    numbers = frame.height * (4 * (frame.width - 1) + 8)
    assert taken < 1.3 * numbers + BESIDE, f"{taken / numbers:.2f} of the numbers"


def test_probabilities_of_very_many_rows_come_from_a_sample() -> None:
    rng = np.random.default_rng(2)
    n = 205_000
    x = rng.normal(size=(n, 1))
    truth = 1.0 / (1.0 + np.exp(-2.0 * x[:, 0] - 0.5))
    y = np.where(rng.random(n) < truth, "yes", "no")
    # Error bars smooth the loss, and the fit takes a twentieth of the time.
    model = uncertain.GSUClassifier(probability=True, alpha=1e-2, tol=1e-2, random_state=0).fit(
        GaussianArray(x, std=0.1), y
    )
    share = model.predict_proba(GaussianArray(x[:20_000], std=1e-3))
    assert np.abs(share[:, 1] - truth[:20_000]).mean() < 0.02


@pytest.mark.usefixtures("small_batches")
@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "arrow"])
def test_commands_write_large_tables_in_batches(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str
) -> None:
    from click.testing import CliRunner

    from uncertain.cli import main

    monkeypatch.setattr("uncertain.cli._tables.LARGE", 1 << 10)
    monkeypatch.setattr("uncertain.cli._tables.BATCH", 1 << 10)

    def run(*arguments: object) -> str:
        done = CliRunner().invoke(main, [str(argument) for argument in arguments])
        assert done.exit_code == 0, done.output
        return done.output

    model = tmp_path / "model.safetensors"
    options = ("-t", "kind", "--method", "gsu", "--features", "x0,x1,x2", "--std", "{}_err")
    assert "written" in run("fit", folder, *options, "--memory", MEMORY, "-o", model)
    loaded = uncertain.load(model)
    assert loaded.predict_proba(TABLE).equals(
        in_memory("kind", method="gsu", features=FEATURES, std="{}_err").predict_proba(TABLE)
    )
    out = tmp_path / f"predictions.{ending}"
    assert "2,400 predictions" in run("predict", model, folder, "--keep", "star,kind", "-o", out)
    read = {"arrow": pl.read_ipc, "parquet": pl.read_parquet}.get(ending, pl.read_csv)
    found = read(out, **({"separator": "\t"} if ending == "tsv" else {}))
    assert found["star"].to_list() == TABLE["star"].to_list()
    assert found["prediction"].to_list() == loaded.predict(TABLE).to_list()
    assert np.allclose(found["p_a"], loaded.predict_proba(TABLE)["a"], atol=1e-15)
    copy = tmp_path / f"copy.{ending}"
    assert f"2,400 rows x {TABLE.width} columns" in run("convert", folder, copy)
    again = read(copy, **({"separator": "\t"} if ending == "tsv" else {}))
    assert again.equals(TABLE)
    assert "accuracy" in run("evaluate", model, folder)
