"""Messages name the column, the row and the value, and say what to do; every class of error is provoked."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import pytest

import uncertain
from uncertain import exceptions

ROOT = Path(__file__).parents[2]


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
    ErrorSizesWarning: u (median error...50 now
code = pl.when(pl.int_range(40) % 5 == 0).then(-999.0)
fit(table.with_columns(u=code.otherwise("u")), method="gsu")
    UncertainWarning: u...-999

# Arrays
GaussianArray([1.0, 2.0, 3.0])
    ShapeError: means...(3,)
GaussianArray([[1.0, np.nan]])
    NotFiniteError: means: row 0, element 1 is NaN
GaussianArray(np.ones((3, 2)), var=-1.0)
    NegativeVarianceError: var: row 0...is -1
GaussianArray(np.ones((3, 2)), std=1.0, var=1.0)
    ParameterError: std...var
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
    ParameterError: for classes; numbers are predicted by
model.predict_set(table, coverage=95)
    ParameterError: coverage = 95...between 0 and 1
GSUClassifier(max_iter=1, tol=1e-12).fit(X, y)
    ConvergenceWarning: did not converge (max_iter after 1 iterations)...certified...raise max_iter
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
