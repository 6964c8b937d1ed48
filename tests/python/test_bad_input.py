"""Bad input is refused before any work, with the column, the row number, the value and what to do, and left
as it was; every class of error is provoked."""

import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import pytest
from conftest import CONSTRUCTORS, random_covariances

import uncertain
from uncertain import GaussianArray, exceptions, fit
from uncertain.exceptions import (
    ColumnError,
    CovarianceWarning,
    MissingErrorBarsError,
    NegativeVarianceError,
    NotFiniteError,
    NotPositiveSemiDefiniteError,
    NotSymmetricError,
    NullError,
    ParameterError,
    RaggedError,
    ShapeError,
    UncertainError,
)
from uncertain.preprocessing import AsGaussians

N, D = 8, 3
LISTS = [
    "polars", "polars-list", "polars-chunked", "pyarrow", "pyarrow-sliced", "pandas", "pandas-arrow",
    "duckdb",
]  # fmt: skip


@pytest.fixture
def columns(rng: np.random.Generator) -> dict[str, Any]:
    x, std = rng.normal(size=(N, D)), rng.uniform(0.1, 2, size=(N, D))
    lists = {"x": x, "cov": random_covariances(rng, N, D), "std": std}
    scalars = {f"f{j}": x[:, j].copy() for j in range(D)}
    return lists | scalars | {f"f{j}_err": std[:, j].copy() for j in range(D)}


def refuse(table: Any, error: type[UncertainError], message: str, **roles: Any) -> None:
    with pytest.raises(error, match=message) as caught:
        AsGaussians(**roles).fit(table)
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize("library", LISTS)
class TestTables:
    """The same sentence whatever library the table is from."""

    def test_means_that_are_not_finite(self, library: str, columns: dict[str, Any]) -> None:
        for value, shown in ((np.nan, "NaN"), (np.inf, "inf"), (-np.inf, "-inf")):
            columns["x"][5, 1] = columns["f1"][5] = value
            table = CONSTRUCTORS[library](columns)
            refuse(table, NotFiniteError, f"^f1: row 5 is {shown}", features=["f0", "f1"], std="{}_err")
            refuse(table, NotFiniteError, f"^x: row 5, element 1 is {shown}", mean="x", std="std")

    def test_error_bars_that_are_not_finite(self, library: str, columns: dict[str, Any]) -> None:
        columns["std"][6, 2] = columns["f2_err"][6] = columns["cov"][6, 0, 2] = np.inf
        table = CONSTRUCTORS[library](columns)
        refuse(table, NotFiniteError, "^std: row 6, element 2 is inf", mean="x", std="std")
        refuse(table, NotFiniteError, "^f2_err: row 6 is inf", features=["f0", "f1", "f2"], std="{}_err")
        refuse(table, NotFiniteError, "^cov: row 6, element 2 is inf", mean="x", cov="cov")

    def test_error_bars_that_are_missing(self, library: str, columns: dict[str, Any]) -> None:
        columns["std"][4, 0] = columns["f0_err"][4] = columns["cov"][4, 1, 0] = np.nan
        table = CONSTRUCTORS[library](columns)
        advice = 'on_missing="point"'
        refuse(table, MissingErrorBarsError, f"^std: row 4, element 0 is .*{advice}", mean="x", std="std")
        refuse(table, MissingErrorBarsError, "^f0_err: row 4 is ", features=["f0", "f1"], std="{}_err")
        refuse(table, MissingErrorBarsError, "^cov: row 4, element 3 is ", mean="x", cov="cov")

    def test_negative_error_bars(self, library: str, columns: dict[str, Any]) -> None:
        columns["std"][3, 1] = columns["f1_err"][3] = columns["cov"][3, 1, 1] = -0.5
        table = CONSTRUCTORS[library](columns)
        refuse(table, NegativeVarianceError, "^std: row 3, element 1 is -0.5", mean="x", std="std")
        refuse(table, NegativeVarianceError, "^f1_err: row 3 is -0.5", features=["f0", "f1"], var="{}_err")
        refuse(table, UncertainError, "^cov: .*row 3", mean="x", cov="cov")

    def test_matrices_that_are_no_covariances(self, library: str, columns: dict[str, Any]) -> None:
        columns["cov"][2, 0, 1] += 0.25
        table = CONSTRUCTORS[library](columns)
        refuse(table, NotSymmetricError, r"^cov: .* row 2 .*\[0, 1\] is .*\[1, 0\] is", mean="x", cov="cov")
        columns["cov"][2] = np.diag([1.0, -0.5, 2.0])
        columns["cov"][2, 1, 1], columns["cov"][2, 0, 1] = 1.0, 3.0
        columns["cov"][2, 1, 0] = 3.0
        table = CONSTRUCTORS[library](columns)
        refuse(table, NotPositiveSemiDefiniteError, "^cov: .* row 2 .*eigenvalue is -2", mean="x", cov="cov")

    def test_wrong_lengths(self, library: str, columns: dict[str, Any]) -> None:
        columns["two"] = np.ones((N, 2))
        table = CONSTRUCTORS[library](columns)
        refuse(table, ShapeError, "^two: expected 1 or 3 values per row .*got 2", mean="x", std="two")
        refuse(table, ShapeError, "^two: expected 3 x 3 values per row .*got 2", mean="x", cov="two")
        refuse(table, ShapeError, "^two: expected 3 x r values per row .*got 2", mean="x", factor="two")
        refuse(table, ShapeError, "^x: expected one number per row", features=["f0", "x"])

    def test_columns_that_are_not_there(self, library: str, columns: dict[str, Any]) -> None:
        table = CONSTRUCTORS[library](columns)
        refuse(table, ColumnError, "no column 'covs'; did you mean 'cov'", mean="x", cov="covs")
        refuse(table, ColumnError, "no column 'f9_err'", features=["f0"], std="f9_err")
        refuse(table, ColumnError, "no column 'f0_sd'", features=["f0"], std="{}_sd")
        refuse(table, ColumnError, "no column 'f0_f1_corr' .*'f1_f0_corr'", features=["f0", "f1"],
               std="{}_err", corr="{}_{}_corr")  # fmt: skip


def test_nulls() -> None:
    for layout in (pl.List(pl.Float64), pl.Array(pl.Float64, 2)):
        good, gone = [1.0, 2.0], pl.Series([[1.0, 2.0], [1.0, 2.0], None], dtype=layout)
        inner = pl.Series([[1.0, 2.0], [1.0, None], good], dtype=layout)
        fine = pl.Series([good] * 3, dtype=layout)
        frame = pl.DataFrame({"gone": gone, "inner": inner, "fine": fine})
        for table in (frame, frame.to_arrow(), frame.to_pandas(), frame.lazy()):
            refuse(table, NullError, "^gone: row 2 is null", mean="gone", std="fine")
            refuse(
                table, (NullError, NotFiniteError), "^inner: row 1, element 1 is", mean="inner", std="fine"
            )  # type: ignore[arg-type]
            refuse(table, MissingErrorBarsError, "^gone: row 2 is null", mean="fine", std="gone")
            refuse(table, MissingErrorBarsError, "^inner: row 1, element 1 is", mean="fine", std="inner")


def test_columns_that_hold_no_numbers() -> None:
    frame = pl.DataFrame(
        {"name": ["a", "b"], "names": [["a"], ["b"]], "flag": [True, False], "x": [1.0, 2.0]}
    )
    for table in (frame, frame.to_arrow(), frame.to_pandas()):
        for column in ("name", "names", "flag"):
            if column != "flag":  # 0 and 1
                refuse(table, ColumnError, f"^{column}: ", features=["x", column])
            refuse(table, ColumnError, f"^{column}: ", features=["x"], std=column)
    import pandas as pd

    mixed = pd.DataFrame({"x": [1.0, [2.0]], "y": [{"a": 1}, {"a": 2}]})
    for column in ("x", "y"):
        refuse(mixed, ColumnError, f"^{column}: ", mean=column)


def test_correlations_outside_their_range(columns: dict[str, Any]) -> None:
    columns["f0_f1_corr"] = np.zeros(N)
    roles = {"features": ["f0", "f1"], "std": "{}_err", "corr": "{}_{}_corr"}
    columns["f0_f1_corr"][3] = 1.5
    refuse(
        CONSTRUCTORS["polars"](columns), UncertainError, r"^f0_f1_corr: row 3 is 1.5; .*\[-1, 1\]", **roles
    )
    columns["f0_f1_corr"][3] = np.nan
    refuse(CONSTRUCTORS["polars"](columns), MissingErrorBarsError, "^f0_f1_corr: row 3 is NaN", **roles)


def test_precisions_without_an_inverse(columns: dict[str, Any]) -> None:
    columns["std"][1, 2] = 0.0
    columns["cov"][5] = 0.0
    table = CONSTRUCTORS["polars"](columns)
    refuse(
        table,
        UncertainError,
        "^std: row 1, element 2 is 0.0; precisions must be > 0",
        mean="x",
        precision="std",
    )
    refuse(table, UncertainError, "^cov: .* row 5 is singular", mean="x", precision="cov")


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"mean": "x", "cov": "cov", "std": "std"}, "cov and std are given together"),
        ({"mean": "x", "factor": "cov", "std": "std"}, "factor and std are given together"),
        ({"mean": "x", "features": ["f0"]}, "either mean= .* or features="),
        ({"features": []}, "list of one or more"),
        ({"features": "f0"}, "list of one or more"),
        ({"features": ["f0", "f0"]}, "distinct column names"),
        ({"mean": 0}, "mean=0: must be the name"),
        ({"mean": "x", "std": np.ones(3)}, "must be the name"),
        ({"mean": "x", "std": "{}_err"}, "pattern"),
        ({"features": ["f0"], "cov": "{}_err"}, "cov=.*pattern such as"),
        ({"mean": "x", "cov": "cov", "corr": "{}_{}"}, "corr= needs"),
        ({"features": ["f0"], "std": "{}_err", "corr": "corr"}, "corr=.*pattern such as"),
        (
            {"mean": "x", "cov": "cov", "on_missing": "zero"},
            'must be one of "auto", "error", "point"',
        ),
        ({"mean": "x", "precision": "cov", "on_missing": "point"}, "no precision"),
    ],
    ids=str,
)
def test_options_that_do_not_exist(parameters: dict[str, Any], message: str, columns: dict[str, Any]) -> None:
    refuse(CONSTRUCTORS["polars"](columns), ParameterError, message, **parameters)


def test_arrays_instead_of_tables() -> None:
    with pytest.raises(TypeError, match="columns of a table, got ndarray"):
        AsGaussians(mean="x").fit(np.ones((2, 2)))
    t = AsGaussians().fit(np.ones((2, 2)))
    with pytest.raises(ColumnError, match="fitted on an array"):
        t.transform(pl.DataFrame({"a": [1.0]}))


X = np.arange(6.0).reshape(3, 2)
EYE = np.eye(2)
ONE = np.ones((3, 2, 1))
NotPSD, Negative = NotPositiveSemiDefiniteError, NegativeVarianceError


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: GaussianArray([1.0, 2.0]), ShapeError, r"^means: .*\(n, d\).*reshape"),
        (lambda: GaussianArray(np.ones((3, 0))), ShapeError, "^means: .*at least one feature"),
        (lambda: GaussianArray([[1.0], [1.0, 2.0]]), RaggedError, "^means: "),
        (lambda: GaussianArray(X.astype(str)), ShapeError, "^means: .*strings"),
        (lambda: GaussianArray(X.astype(object)), ShapeError, "^means: .*Python objects"),
        (lambda: GaussianArray(X * 1j), ShapeError, "^means: .*complex"),
        (lambda: GaussianArray(np.ma.masked_equal(X, 3.0)), NullError, "^means: row 1, feature 1 is masked"),
        (lambda: GaussianArray([[0, 1], [2, np.nan]]), NotFiniteError, "^means: row 1, element 1 is NaN"),
        (lambda: GaussianArray(X, std=[1, np.inf, 1]), NotFiniteError, "^std: row 1, element 0 is inf"),
        (lambda: GaussianArray(X, var=-X), Negative, "^var: row 0, element 1 is -1"),
        (lambda: GaussianArray(X, std=-1), Negative, "^std: row 0, element 0 is -1"),
        (lambda: GaussianArray(X, std=np.ones(2)), ShapeError, r"^std: .*got \(2,\); .*broadcast_to"),
        (lambda: GaussianArray(X, var=np.ones((3, 1))), ShapeError, r"^var: .*got \(3, 1\)"),
        (lambda: GaussianArray(X, cov=np.ones((3, 2))), ShapeError, r"^cov: .*\(3, 2, 2\).*got \(3, 2\)"),
        (lambda: GaussianArray(X, cov=[EYE, EYE, -EYE]), UncertainError, "^cov: .*row 2"),
        (lambda: GaussianArray(X, cov=[[1, 2], [2, 1]]), NotPSD, "^cov.*eigenvalue is -1"),
        (lambda: GaussianArray(X, cov=[[1, 0.5], [0.4, 1]]), NotSymmetricError, r"^cov.*\[0, 1\] is 0.5"),
        (lambda: GaussianArray(X[1:], precision=[EYE, 0 * EYE]), UncertainError, "^precision: .*row 1"),
        (lambda: GaussianArray(X, factor=np.ones((3, 2))), ShapeError, r"^factor: .*\(n, d, r\)"),
        (lambda: GaussianArray(X, factor=np.nan * ONE), NotFiniteError, "^factor: row 0, element 0"),
        (lambda: GaussianArray(X, factor=ONE, var=[1, -1, 1]), Negative, "^var: row 1"),
        (lambda: GaussianArray(X, std=1, var=1), ParameterError, "std and var are given together"),
        (lambda: GaussianArray(X).collapse("full"), ParameterError, "to='full'"),
        (lambda: GaussianArray(X).sample(0), ParameterError, "sample.*>= 1"),
        (lambda: GaussianArray(X).sample(1.5), ParameterError, "sample.*integer"),
    ],
)  # fmt: skip
def test_arrays(make: Callable[[], object], error: type[UncertainError], message: str) -> None:
    with pytest.raises(error, match=message):
        make()


def test_tiny_negative_eigenvalues_are_mended_with_a_warning() -> None:
    direction = np.array([1.0, 1.0]) / np.sqrt(2)
    cov = np.stack([EYE, np.outer(direction, direction) - 1e-8 * EYE, EYE])
    before = cov.copy()
    with pytest.warns(CovarianceWarning, match="row 1"):
        g = GaussianArray(X, cov=cov)
    assert np.linalg.eigvalsh(g.covariances()).min() > -1e-15
    assert np.array_equal(cov, before)


def test_refused_data_are_untouched(columns: dict[str, Any]) -> None:
    columns["cov"][7] = -np.eye(D)
    frame = CONSTRUCTORS["polars-chunked"](columns)
    before, chunks = frame.clone(), frame.n_chunks("all")
    refuse(frame, UncertainError, "row 7", mean="x", cov="cov")
    assert frame.equals(before) and frame.n_chunks("all") == chunks


def test_every_error_is_a_value_error() -> None:
    for name in exceptions.__all__:
        kind = getattr(exceptions, name)
        assert issubclass(kind, (ValueError, Warning)), name


@pytest.mark.parametrize(("name", "value"), [("n_jobs", "a"), ("n_jobs", 1.5), ("random_state", "abc")])
@pytest.mark.parametrize("method", ["gsu", "kernel", "huber", "discriminant", "minimax", "tsvc"])
def test_a_wrong_type_of_a_parameter_is_named(method: Any, name: str, value: object) -> None:
    rows = GaussianArray([[0.0], [0.1], [1.0], [1.1]], std=0.1)
    with pytest.raises(ParameterError, match=f"{name} = {value!r}: must be an integer"):
        fit(rows, [0, 0, 1, 1], method=method, **{name: value})


@pytest.mark.parametrize("long", [False, True])
@pytest.mark.parametrize("library", ["polars", "pandas"])
def test_labels_that_arrays_do_not_hold(library: str, long: bool) -> None:
    label = "b" * 1_000_000 if long else "b\0"
    columns = {"x": [float(k) for k in range(40)], "x_err": [0.1] * 40, "label": ["a", label] * 20}
    rows: Any = pytest.importorskip(library).DataFrame(columns)
    words = "1,000,000 letters;" if long else "2 letters with a NUL character at its end;"
    with pytest.raises(UncertainError, match=f"label: row 1 is a label of {words} labels are text"):
        fit(rows, method="gsu")


class Case(NamedTuple):
    """Code, the class of its error or warning, and what the message says in this order (`...` between)."""

    code: str
    kind: str
    message: str


TABLE = r"""
# Columns of a table
fit(table.drop("label"), method="gsu")
    ColumnError: no column 'label'; the columns are u, u_err
fit(table, "lable", method="gsu")
    ColumnError: no column 'lable'; did you mean 'label'?
model.predict(table.drop("v_err"))
    ColumnError: no column 'v_err'
fit(table, features=["u", "label"], method="gsu", target="v")
    ColumnError: 'label' has no error column (looked for label_err
fit(table.with_columns(u=pl.lit("1.5")), features=["u", "v"], std="{}_err", **STRICT)
    ColumnError: u: expected real numbers...got strings; cast the column
fit(table, sample_weight="u", features=["u", "v"], std="{}_err", method="gsu")
    ColumnError: 'u' is given as features and as sample_weight
AsGaussians(features=["u", "v"], std=["u_err"]).fit(table)
    ParameterError: std=['u_err']: a list names one column for each of the 2 features
fit(table.to_dicts(), method="gsu")
    ParameterError: list is no table
AsGaussians(features=["u"]).fit(np.ones((3, 2)))
    TypeError: reads columns of a table, got ndarray
AsGaussians(mean="x").fit(pl.DataFrame({"x": [[1.0, 2.0], [3.0]]}))
    RaggedError: x: row 1 has 1 elements but row 0 has 2

# Values of a table
fit(put("u", 3, None), **STRICT)
    NullError: u: row 3 is null...on_missing=
fit(put("u", 3, float("nan")), **STRICT)
    NotFiniteError: u: row 3 is NaN...on_missing=
fit(put("u", 3, float("inf")), **STRICT)
    NotFiniteError: u: row 3 is inf
fit(put("u_err", 3, None), **STRICT)
    MissingErrorBarsError: u_err: row 3 is null...on_missing=
fit(put("u_err", 3, -0.1), **STRICT)
    NegativeVarianceError: u_err: row 3 is -0.1...>= 0
fit(put("label", 3, None), **STRICT)
    NullError: label: row 3 has no label; drop
fit(table.with_columns(label=pl.lit("a")), method="gsu")
    UncertainError: label: every label is 'a'...two classes
fit(table, sample_weight=[-1.0] * 40, method="gsu")
    UncertainError: sample_weight...row 0 is -1
model.predict(table.with_columns(u_err=50.0, v_err=50.0))
    ErrorSizesWarning: u (median 50, in training
code = pl.when(pl.int_range(40) % 5 == 0).then(-999.0)
fit(table.with_columns(u=code.otherwise("u")), method="gsu")
    UncertainWarning: u...-999

# Arrays
GaussianArray([1.0, 2.0, 3.0])
    ShapeError: means...(3,)
GaussianArray([[1.0, 2.0]], cov=[[[1.0, 0.5], [0.4, 1.0]]])
    NotSymmetricError: row 0 is not symmetric: element [0, 1] is 0.5 but [1, 0] is 0.4; pass (S + S.T) / 2
GaussianArray([[1.0, 2.0]], cov=[[[1.0, 2.0], [2.0, 1.0]]])
    NotPositiveSemiDefiniteError: row 0 is not positive semi-definite: its smallest eigenvalue is -1
GaussianArray(np.zeros((1, 2)), cov=[[[0.5, 0.5], [0.5, 0.5 - 1e-9]]])
    CovarianceWarning: set to zero
X[[0, 99]]
    IndexError: 99
GaussianArray([[1.0, 2.0]], std=1e200)
    UncertainError: row 0, element 0 is 1e200; its square
from astropy import units as u
GaussianArray([[1.0]] * u.m, std=[[0.1]] * u.s)
    UnitError: std...is in s, but means are in m

# Estimators and parameters
fit(table, method="svm")
    ParameterError: method='svm': must be one of "auto", "gsu"
fit(table, method="gsu", alfa=0.1)
    ParameterError: unknown option 'alfa'; did you mean alpha=
GSUClassifier(alpha=-1.0).fit(X, y)
    ParameterError: alpha = -1: must be a finite number > 0
GSUClassifier(n_jobs=1.5).fit(X, y)
    ParameterError: n_jobs = 1.5: must be an integer or None
RobustSVC(method="usvm").fit(X, y)
    ParameterError: method = "usvm": must be one of usvc, tsvc
fit(numbers, "height", method="discriminant")
    ParameterError: for classes. For numbers pass one of "gsu"
model.predict_set(table, coverage=95)
    ParameterError: coverage = 95...between 0 and 1
GSUClassifier(max_iter=1, tol=1e-12).fit(X, y)
    ConvergenceWarning: did not converge (max_iter after 1 iterations)...of the minimum...raise max_iter
GSUClassifier().fit(X, None)
    ValueError: requires y to be passed
GSUClassifier().predict(X)
    NotFittedError: not fitted yet
GSUClassifier().fit(Incomplete.from_arrays([[1.0, np.nan]] * 40), y)
    UncertainError: row 0, feature 1 is missing...GaussianImputer
GSURegressor().fit(X, np.arange(40.0), y_std=-0.1)
    UncertainError: y_std: row 0 is -0.1
GaussianDenoiser(n_components=100).fit(X)
    UncertainError: 100 components...there are 40

# Files, memory
uncertain.load(folder / "no.safetensors")
    FileNotFoundError: there is no file
uncertain.fit(folder / "cut.parquet")
    TableError: cut.parquet: not a readable parquet file
uncertain.load(folder / "table.csv")
    ModelFileError: table.csv: not a usable model file
model.save(folder / "none" / "model.safetensors")
    ModelFileError: cannot be written: there is no folder...none; make it first
(folder / "table.xyz").write_text("a")
fit(folder / "table.xyz", method="gsu")
    ParameterError: table.xyz: unknown format '.xyz'. Pass a table, or a file with one of the endings .parquet
kernels.probabilistic_rbf(X, max_bytes=1000)
    UncertainError: 40 x 40 rows takes...bytes...1000 are allowed
"""
CASES = [Case(*found) for found in re.findall(r"((?:^[^ #\n].*\n)+)    (\w+): (.*)", TABLE, re.MULTILINE)]

ELSEWHERE = {"ClusterError": "test_dask_cluster.py", "OutOfMemoryError": "test_shortage.py"}


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the code of a case knows."""
    rng, code = np.random.default_rng(0), np.arange(40) % 2
    columns = {name: rng.normal(size=40) for name in ("u", "v")}
    errors = {f"{name}_err": rng.uniform(0.1, 0.5, 40) for name in columns}
    numbers = pl.DataFrame(columns | errors).select("u", "u_err", "v", "v_err")
    table = numbers.with_columns(label=pl.Series(np.array(["a", "b"])[code]))
    folder = tmp_path_factory.mktemp("messages")
    table.write_csv(folder / "table.csv")
    (folder / "cut.parquet").write_bytes(b"PAR1" + bytes(20))

    def put(column: str, row: int, value: object) -> pl.DataFrame:
        values = table[column].to_list()
        values[row] = value
        return table.with_columns(pl.Series(column, values, strict=False))

    X = uncertain.GaussianArray(table["u", "v"].to_numpy(), std=table["u_err", "v_err"].to_numpy())
    public = {name: getattr(uncertain, name) for name in uncertain.__all__}
    return public | {
        "np": np, "pl": pl, "uncertain": uncertain, "table": table, "put": put, "X": X, "folder": folder,
        "numbers": numbers.with_columns(height=pl.col("u") + 0.1 * pl.col("v")),
        "STRICT": {"method": "gsu", "on_missing": "error"},
        "y": table["label"].to_list(), "model": uncertain.fit(table, "label", method="gsu"),
    }  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=[case.code[:60] for case in CASES])
def test_the_message_says_where_and_what_to_do(case: Case, names: dict[str, Any]) -> None:
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            exec(compile(case.code, "<case>", "exec"), dict(names))
        except Exception as error:
            said: list[tuple[str, str]] = [(type(error).__name__, str(error))]
        else:
            said = [(warning.category.__name__, str(warning.message)) for warning in heard]
    pattern = ".*".join(map(re.escape, case.message.split("...")))
    assert any(kind == case.kind and re.search(pattern, message, re.DOTALL) for kind, message in said), said


def test_every_class_of_error_is_provoked_and_explained() -> None:
    here = Path(__file__).parent
    assert set(exceptions.__all__) == {case.kind for case in CASES} & set(exceptions.__all__) | set(ELSEWHERE)
    assert all(kind in (here / name).read_text(encoding="utf-8") for kind, name in ELSEWHERE.items())
    assert all(getattr(exceptions, kind).__doc__ for kind in exceptions.__all__)
