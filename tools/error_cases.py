"""Cases that provoke the library's errors and warnings, with cause and cure: the source of docs/guide/errors.md.

A case is code, which `provoked` runs for its message; error_page.py writes the page, and
tests/python/test_error_page.py makes sure that both agree. In the code, `table` has 40 rows and the columns
u, u_err, v, v_err and label ("a", "b"), `numbers` has height (numbers) instead of labels; `put` sets one value of
the table; `X`, `y` are its rows and labels as arrays, `model` a fit to it, and `folder` is a place for files.
"""
# ruff: noqa: E501

from __future__ import annotations

import contextlib
import functools
import os
import re
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

import uncertain


class Case(NamedTuple):
    """What is written, why it fails, and what to do."""

    code: str
    cause: str
    cure: str


class Provoked(NamedTuple):
    """The class of an error or warning, and its message."""

    kind: type
    message: str


def rows() -> pl.DataFrame:
    """The table of all cases."""
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    columns = {
        "u": (rng.normal(size=40) + y).round(3),
        "u_err": rng.uniform(0.1, 0.5, 40).round(3),
        "v": rng.normal(size=40).round(3),
        "v_err": rng.uniform(0.1, 0.5, 40).round(3),
    }
    labels = [("a", "b")[k] for k in y]
    return pl.DataFrame(columns | {"label": labels, "height": (columns["u"] + 0.1 * columns["v"]).round(3)})


@functools.cache
def saved() -> bytes:
    """A model of the table, as a file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.safetensors"
        uncertain.fit(rows().drop("height"), method="gsu", random_state=0).save(path)
        return path.read_bytes()


@contextlib.contextmanager
def place() -> Iterator[dict[str, Any]]:
    """The names that the code of a case knows, in a folder of its own."""
    table = rows()
    numbers = table.drop("label")
    data = table.drop("height")
    X = uncertain.GaussianArray(table["u", "v"].to_numpy(), std=table["u_err", "v_err"].to_numpy())

    def put(column: str, row: int, value: Any) -> pl.DataFrame:
        values = data[column].to_list()
        values[row] = value
        return data.with_columns(pl.Series(column, values, strict=False))

    y = table["label"].to_list()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.safetensors"
        path.write_bytes(saved())
        model = uncertain.load(path)  # a new one, for some warnings come once per model
        data.write_csv(Path(folder) / "table.csv")
        public = {name: getattr(uncertain, name) for name in uncertain.__all__}
        given = {"np": np, "pl": pl, "uncertain": uncertain, "data": data, "numbers": numbers, "put": put}
        yield public | given | {"table": data, "X": X, "y": y, "model": model, "folder": Path(folder)}


def provoked(case: Case, names: dict[str, Any]) -> Provoked:
    """The error that the code raises, or else the first warning."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            exec(compile(case.code, "<case>", "exec"), dict(names))  # the cases below
        except Exception as error:
            return Provoked(type(error), stable(str(error), names))
    if not heard:
        raise AssertionError(f"nothing happens: {case.code}")
    return Provoked(heard[0].category, stable(str(heard[0].message), names))


def stable(message: str, names: dict[str, Any]) -> str:
    """Without the folder, and without what depends on the machine or the version of another library."""
    message = message.replace(str(names["folder"]) + os.sep, "")
    message = re.sub(r"\d+ bytes", "... bytes", message)
    message = re.sub(r"header of \d+", "header of ...", message)
    message = re.sub(r"valid ones are .* \(", "valid ones are ... (", message)  # the next one changes them
    message = re.sub(r"\.uncertain-\w+\.tmp", ".uncertain-....tmp", message)
    message = re.sub(r"(-?\d\.\d{2})\d{6,}(e-\d+)?", r"\1\2", message)
    return re.sub(r"(are allowed|no array|csv file) \(.*\)", r"\1 (...)", message)


CASES: dict[str, list[Case]] = {
    "Columns of a table": [
        Case(
            'fit(table.drop("label"), method="gsu")',
            "The table has no column called label, and nothing else says what is to be predicted.",
            'Name it, `target="..."`, or pass the labels themselves, `target=values`.',
        ),
        Case(
            'fit(table, "lable", method="gsu")',
            "A column that is named does not exist, mostly for a slip of the pen.",
            "Take the name that the message proposes, or look at `table.columns`.",
        ),
        Case(
            'fit(table, features=["u", "v"], std="{}_sd", method="gsu")',
            'The pattern of `std=` makes "u_sd" of "u", and there is no such column.',
            'Write the pattern as your columns are called, here `std="{}_err"`, or a dictionary `{"u": "u_err"}`.',
        ),
        Case(
            'fit(table, features=["u", "u"], method="gsu")',
            "A feature that is there twice would count twice.",
            "Name it once.",
        ),
        Case(
            'fit(table, features="u", method="gsu")',
            "`features=` is a list, and a name by itself would be read letter by letter.",
            'Put it in brackets: `features=["u"]`.',
        ),
        Case(
            'fit(table, mean="u", features=["v"], method="gsu")',
            "`mean=` is one column that holds all features as a list; `features=` are columns of single numbers.",
            "Use one of them; exact numbers beside a mean are `exact=`.",
        ),
        Case(
            'fit(table, mean="u", std="{}_err", method="gsu")',
            "A pattern makes one column's name per feature, and `mean=` is one column.",
            "Name the column of its error bars, or use `features=[...]` with the pattern.",
        ),
        Case(
            'AsGaussians(features=["u", "v"], std=["u_err"]).fit(table)',
            "A list gives the columns of the features in their order, so there must be as many.",
            "Name one for each, or pass a dictionary for some of them.",
        ),
        Case(
            'AsGaussians(features=["u"], std={"v": "v_err"}).fit(table)',
            "An error column is given for something that is no feature.",
            "Add the feature, or leave its error column out.",
        ),
        Case(
            'AsGaussians(features=["u"], std="{}_err", cov="{}_err").fit(table)',
            "Covariances and correlations belong to two features, so their pattern has two places.",
            'Write it as the columns are called, such as `cov="{}_{}_cov"`.',
        ),
        Case(
            'AsGaussians(features=["u", "v"], corr="{}_{}_corr").fit(table)',
            "Correlations say how errors go together, and there are no errors.",
            'Give their sizes too: `std="{}_err"`.',
        ),
        Case(
            'fit(table, features=["u", "label"], method="gsu", target="v")',
            "The column holds words.",
            'Cast it to numbers, leave it out, or name it in `categorical=["..."]`.',
        ),
        Case(
            'fit(table.with_columns(u=pl.lit("1.5")), features=["u", "v"], std="{}_err", method="gsu")',
            "Numbers that are stored as text.",
            'Cast the column: `table.with_columns(pl.col("u").cast(float))`.',
        ),
        Case(
            'AsGaussians(mean="x").fit(pl.DataFrame({"x": [[1.0, 2.0], [3.0]]}))',
            "Rows of a list column have different lengths, so features cannot be told apart.",
            'Fill the short rows with null, and read them with `on_missing="impute"`.',
        ),
        Case(
            'fit(table.to_dicts(), method="gsu")',
            "A list of rows is no table: nothing says what columns it has.",
            "Make a table of it, such as `polars.DataFrame(rows)`.",
        ),
        Case(
            """class Remote:
    def __arrow_c_stream__(self, requested_schema=None):
        raise TimeoutError("no answer from the server")

fit(Remote(), "label", method="gsu")""",
            "The library that made the table failed when it was asked for its rows.",
            "See what it says; or read the rows with it, and pass a table of Polars, pandas or pyarrow.",
        ),
        Case(
            'AsGaussians(features=["u"]).fit(np.ones((3, 2)))',
            "`features=` and its kin name columns, and an array has none.",
            "Pass a table, or build a `GaussianArray(means, std=...)`.",
        ),
        Case(
            "model.predict(table, append=True); model.predict(model.predict(table, append=True), append=True)",
            "The table has a column of the name that predictions get.",
            "Rename or drop it, or take the predictions by themselves.",
        ),
        Case(
            'model.predict(table.drop("v_err"))',
            "A model needs the columns that it was fitted to, error bars among them.",
            "Add the column; exact values have an error bar of 0.",
        ),
    ],
    "Values of a table": [
        Case(
            'fit(put("u", 3, None), method="gsu")',
            "A measurement is missing.",
            'Drop the row, or take the value for unknown: `on_missing="impute"`.',
        ),
        Case(
            'fit(put("u", 3, float("nan")), method="gsu")',
            "NaN is how many programs write a missing measurement.",
            'Drop the row, or take the value for unknown: `on_missing="impute"`.',
        ),
        Case(
            'fit(put("u", 3, float("inf")), method="gsu")',
            "An infinite measurement, often a logarithm of 0 or a division by it.",
            "Look at how the column was computed, and drop or mend the row.",
        ),
        Case(
            'fit(put("u_err", 3, None), method="gsu")',
            "An error bar is missing. It is never taken for zero in silence: that would be the best measurement of all.",
            'Find it out; `on_missing="point"` takes the value for exact, `on_missing="impute"` for unknown.',
        ),
        Case(
            'fit(put("u_err", 3, -0.1), method="gsu")',
            'A negative error bar, often a code such as -1 or -999 for "not known".',
            "Replace codes by null, and see the entry above.",
        ),
        Case(
            'AsGaussians(features=["u", "v"], std="{}_err", corr="{}_{}_r").fit(table.with_columns(u_v_r=pl.lit(1.5)))',
            "Correlations lie between -1 and 1; this may be a covariance.",
            "Name covariances as `cov=`.",
        ),
        Case(
            'fit(put("label", 3, None), method="gsu")',
            "A row has no label, so nothing can be learned from it.",
            "Drop the row. (`AdaptiveHuberClassifier` learns from rows without labels, too.)",
        ),
        Case(
            'fit(table.with_columns(label=pl.lit("a")), method="gsu")',
            "All rows are of one class.",
            "Check the column of labels, and how the rows were selected.",
        ),
        Case(
            'fit(table.with_columns(label=pl.int_range(40)), method="gsu")',
            "Many different whole numbers may be counts to be predicted or codes of classes.",
            'Say which: `task="regression"` or `task="classification"`.',
        ),
        Case(
            'fit(table.with_columns(label=pl.Series(np.arange(40.0) % 3)), method="gsu")',
            "Classes are seldom stored as floats, quantities seldom whole.",
            'Say which: `task="regression"` or `task="classification"`.',
        ),
        Case(
            'fit(table.clear(), method="gsu")',
            "The table has no rows; a filter may have kept none.",
            "Check the filters.",
        ),
        Case(
            'fit(put("label", 0, "star"), method="gsu")',
            "Probabilities are calibrated on rows that are held out, and a class with one row has none to spare.",
            "Add rows of this class, leave it out, or fit with `probability=False`.",
        ),
        Case(
            'fit(table, sample_weight=[-1.0] * 40, method="gsu")',
            "A weight says how many rows a row stands for.",
            "Weights are 0 or more; 0 leaves a row out.",
        ),
        Case(
            'fit(table, sample_weight=[1.0, 2.0], method="gsu")',
            "There must be a weight for each row.",
            "Pass as many, or the name of a column.",
        ),
        Case(
            'fit(table, groups=["star 1", None] * 20, method="gsu")',
            "A row belongs to no group, so it cannot be held out with it.",
            "Drop such rows, or give each one a group of its own.",
        ),
        Case(
            'fit(table, groups=["star 1"] * 40, method="gsu")',
            "Cross-validation holds out whole groups, and every class needs rows in several.",
            "Check the column; or `probability=False`, or `groups=False`, which takes every row for an object of its own.",
        ),
        Case(
            'fit(table.with_columns(u=pl.when(pl.int_range(40) % 5 == 0).then(-999.0).otherwise("u")), method="gsu")',
            "Several rows have the same number, far from all others: mostly a code for a missing value.",
            "Replace it by null. If it is a measurement after all, the warning can be ignored.",
        ),
        Case(
            'fit(table.drop("u_err").with_columns(u_lower=pl.col("u") - 0.1, u_upper=pl.col("u") + 1), method="gsu")',
            "Error bars reach further to one side, and a Gaussian does not.",
            "Take the logarithm of value and limits, if errors are relative; else nothing.",
        ),
        Case(
            'fit(table.with_columns(u_error=0.1), method="gsu")',
            "Two columns look like the error bar of one feature.",
            'Say which: `std={"u": "u_err"}`, or drop the other one.',
        ),
        Case(
            "model.predict(table.with_columns(u_err=50.0, v_err=50.0))",
            "The rows are measured much worse, or much better, than those of the fit, and the model depends on it.",
            'Fit with rows like these, or `method="remeasured"` with the range of errors to come.',
        ),
    ],
    "Arrays": [
        Case(
            "GaussianArray([1.0, 2.0, 3.0])",
            "One row of three features, or three rows of one? An array of means has two dimensions.",
            "`values.reshape(-1, 1)` are rows of one feature, `values.reshape(1, -1)` is one row.",
        ),
        Case(
            'GaussianArray([["1.0", "2.0"]])',
            "Numbers that are stored as text.",
            "Convert them: `values.astype(float)`.",
        ),
        Case(
            "GaussianArray([[1.0, 2.0], [3.0]])",
            "Rows of different lengths make no array.",
            "Fill the short rows with NaN and use `Incomplete.of(means, std=...)`.",
        ),
        Case(
            "GaussianArray([[1.0, np.nan]])",
            "An array of means has numbers only.",
            "`Incomplete.of(means, std=...)` takes NaN for a gap; or drop the row.",
        ),
        Case(
            "GaussianArray(np.ma.masked_equal([[1.0, 2.0]], 2.0))",
            "A masked value is a gap.",
            "`np.ma.filled(values, np.nan)` in `Incomplete.of(...)`; or drop the row.",
        ),
        Case(
            "GaussianArray(np.ones((3, 2)), std=np.ones(2))",
            "Two numbers for three rows of two features: one per feature would be guessed.",
            "One per row has shape (3,), one per value (3, 2): `np.broadcast_to(std, (3, 2))`.",
        ),
        Case(
            "GaussianArray(np.ones((3, 2)), var=-1.0)",
            "A variance is a square.",
            "Check signs and codes for missing values.",
        ),
        Case(
            "GaussianArray(np.ones((3, 2)), std=1.0, var=1.0)",
            "The same uncertainty in two ways may contradict itself.",
            "Pass one of them; only `factor=` and `var=` add up.",
        ),
        Case(
            "GaussianArray([[1.0, 2.0]], cov=[[[1.0, 0.5], [0.4, 1.0]]])",
            "A covariance matrix equals its transpose.",
            "`(S + S.T) / 2`, if the difference is noise; else look for a wrong index.",
        ),
        Case(
            "GaussianArray([[1.0, 2.0]], cov=[[[1.0, 2.0], [2.0, 1.0]]])",
            "A variance along some direction would be negative: a correlation is larger than 1.",
            "Check units (covariances, not correlations) and the order of the elements.",
        ),
        Case(
            "GaussianArray(np.zeros((1, 2)), cov=[[[0.5, 0.5], [0.5, 0.5 - 1e-9]]])",
            "Rounding, mostly of single precision, left a tiny negative eigenvalue. It was set to zero.",
            "Nothing; or compute the matrices in double precision.",
        ),
        Case(
            "GaussianArray([[1.0, 2.0]], precision=[[[1.0, 1.0], [1.0, 1.0]]])",
            "A precision matrix without inverse: in some direction nothing is known.",
            "Pass covariances; a value of which nothing is known is a gap, `Incomplete.of(...)`.",
        ),
        Case(
            "GaussianArray(np.ones((3, 2)), cov=np.ones((3, 2)))",
            "`cov=` are matrices.",
            "Variances of single features are `var=`, standard deviations `std=`.",
        ),
        Case(
            "np.asarray(X)",
            "A plain array would lose the error bars without a word, such as in a transformer of another library.",
            "`X.means` if that is what you want; or a transformer of this library.",
        ),
        Case(
            "X[[0, 99]]",
            "There is no such row.",
            "Rows are counted from 0.",
        ),
        Case(
            "X @ np.ones((3, 1))",
            "The matrix has a row for each feature.",
            "Transpose it, or select the features first: `X[:, [0, 1]]`.",
        ),
        Case(
            'X.collapse("full")',
            "`collapse` throws something away, so there is nothing more than diagonals.",
            'Use "zero", "isotropic" or "diagonal".',
        ),
        Case(
            "X.sample(0)",
            "The number of draws of each row.",
            "Pass a whole number of 1 or more.",
        ),
        Case(
            "from astropy import units as u\nGaussianArray([[1.0]] * u.m, std=[[0.1]])",
            "The means have a unit and their error bars have none: nobody knows whether it is the same.",
            "Give both a unit, or none.",
        ),
        Case(
            "from astropy import units as u\nGaussianArray([[1.0]] * u.m, std=[[0.1]] * u.s)",
            "A unit that does not convert into that of the means.",
            "Check which quantity this is; variances are in the square of the unit.",
        ),
    ],
    "Estimators and parameters": [
        Case(
            'fit(table, method="svm")',
            "There is no method of this name.",
            "See the table in [which model](which-model.md).",
        ),
        Case(
            'fit(table, method="gsu", alfa=0.1)',
            "The method has no such parameter.",
            "The message lists those that it has.",
        ),
        Case(
            "GSUClassifier(alpha=-1.0).fit(X, y)",
            "A parameter is out of its range. Nothing has been computed.",
            "The message says what it may be.",
        ),
        Case(
            "GSUClassifier(alpha=None).fit(X, y)",
            "A parameter of a wrong type.",
            "The message says what it may be.",
        ),
        Case(
            'RobustSVC(method="usvm").fit(X, y)',
            "An option that is none of those.",
            "The message lists them.",
        ),
        Case(
            "GSUClassifier(n_jobs=1.5).fit(X, y)",
            "A number of threads is whole.",
            "None, a number, or -1 for every processor.",
        ),
        Case(
            'GSUClassifier(random_state="abc").fit(X, y)',
            "What seeds random numbers is a number.",
            "An integer, a `numpy.random.RandomState` or None.",
        ),
        Case(
            'fit(table, method="gsu", sigma=1.0)',
            "The parameter of another method.",
            "The message lists those of this one.",
        ),
        Case(
            'fit(table, method="auto", alpha=0.1)',
            "Where the method is chosen, so are its parameters.",
            'Name the method: `method="gsu", alpha=0.1`.',
        ),
        Case(
            'fit(numbers, "height", method="discriminant")',
            "The method tells classes apart, and the target holds numbers.",
            "The message lists the methods for numbers.",
        ),
        Case(
            "GSUClassifier(max_iter=1, tol=1e-12).fit(X, y)",
            "The solver was stopped before the answer was as exact as `tol` asks. The message says how good it is.",
            "Raise `max_iter` or `tol`, scale the features (`GaussianScaler`), or raise `alpha`.",
        ),
        Case(
            "GaussianDenoiser(max_iter=1).fit(X)",
            "EM was stopped before it settled.",
            "Raise `max_iter`, or `tol` if the likelihood hardly rises.",
        ),
        Case(
            'GSUClassifier().fit(X, ["a"] * 40)',
            "All rows are of one class.",
            "Check the labels.",
        ),
        Case(
            "GSUClassifier().fit(X, None)",
            "A classifier needs labels.",
            "Pass them as `y`.",
        ),
        Case(
            "GSUClassifier().predict(X)",
            "The estimator has not been fitted.",
            "Call `fit` first. In a pipeline, fit the pipeline.",
        ),
        Case(
            "GSUClassifier().fit(X, y).predict(X[:, [0]])",
            "New rows have other features than those of the fit.",
            "Pass the same features in the same order.",
        ),
        Case(
            "GSUClassifier().fit(X, y).predict_proba(X)",
            "Probabilities are calibrated in the fit, if asked for.",
            "`GSUClassifier(probability=True)`.",
        ),
        Case(
            "model = RobustSVC().fit(X, y); model.decision_distribution(GaussianArray([[1e308, 1e308]], std=1e308))",
            "A score, or its deviation, is more than double precision holds.",
            "Look at the units of this row.",
        ),
        Case(
            "GSUClassifier().fit(Incomplete.of([[1.0, np.nan]] * 40), y)",
            "The estimator takes no gaps.",
            "Put a `GaussianImputer` in front, or for measurement error a `GaussianDenoiser`.",
        ),
        Case(
            "MinimaxProbabilityClassifier().fit(np.zeros((40, 2)), y)",
            "Nothing tells the classes apart.",
            "Look at the features; a constant one says nothing.",
        ),
        Case(
            "GaussianImputer().fit(Incomplete.of([[1.0, np.nan]] * 5))",
            "Nothing can be learned of a feature that no row has.",
            "Leave the feature out.",
        ),
        Case(
            "GSUClassifier().partial_fit(X, y)",
            "The first batch need not have every class.",
            "Say which will come: `partial_fit(X, y, classes=[...])`.",
        ),
        Case(
            'GSUClassifier(class_weight="balanced").partial_fit(X, y, classes=["a", "b"])',
            "Balance needs the numbers of all classes, and rows come in batches.",
            "Pass the weights, `class_weight={...}`, or `sample_weight`.",
        ),
        Case(
            "RobustSVC(class_weight={'a': -1}).fit(X, y)",
            "A weight is 0 or more.",
            "Mend the dictionary; 0 leaves a class out.",
        ),
        Case(
            "GSURegressor().fit(X, np.arange(40.0), y_std=-0.1)",
            "The error bar of a target is negative.",
            "Mend it; 0 is an exact target.",
        ),
        Case(
            "GSUClassifier(alpha=10**400).fit(X, y)",
            "A number larger than any that can be computed with.",
            "Scale the data rather than the parameter.",
        ),
        Case(
            'fit(table, on_missing="drop", method="gsu")',
            "An option that does not exist.",
            "The message lists those that do; rows are dropped by the table's own library.",
        ),
        Case(
            'fit(table, target_std="u_err", method="gsu")',
            "Classes have no error bars.",
            "Leave it out, or check `target=`.",
        ),
        Case(
            "GaussianDenoiser(n_components=100).fit(X)",
            "There cannot be more Gaussians than rows.",
            'Fewer components, or "auto".',
        ),
        Case(
            "GSUClassifier().fit(X, y[:5])",
            "There must be a label for each row.",
            "Check how rows and labels were selected.",
        ),
        Case(
            "GSUClassifier(callback=3).fit(X, y)",
            "What hears of every iteration is a function.",
            "`callback=lambda progress: ...`.",
        ),
        Case(
            "GaussianArray([[1.0, 2.0]], std=1e200)",
            "The square of this error bar, its variance, is more than double precision holds.",
            "Change the unit of the feature.",
        ),
        Case(
            "model.predict_interval(table)",
            "Classes have sets, numbers have intervals.",
            "`predict_set` for classes.",
        ),
        Case(
            "model.predict_set(table, coverage=95)",
            "A coverage is a share.",
            "Write 0.95.",
        ),
        Case(
            "fit(table, sample_weight='u', features=['u', 'v'], std='{}_err', method='gsu')",
            "One column cannot be two things.",
            "Give it one role.",
        ),
        Case(
            "model.report(table, folds=1)",
            "Cross-validation needs parts to hold out.",
            "Pass 2 or more.",
        ),
        Case(
            "fit(table, method='gsu', probability=False).report(table[:2], folds=2)",
            "There are too few rows for so many folds.",
            "Fewer folds, or more rows.",
        ),
    ],
    "Files": [
        Case(
            'uncertain.load(folder / "no.safetensors")',
            "There is no file of this name.",
            "Check the path.",
        ),
        Case(
            'uncertain.load(folder / "table.csv")',
            "The file is not a model, but something else.",
            "Pass the file that `Model.save` wrote.",
        ),
        Case(
            'path = folder / "model.safetensors"\npath.write_bytes(path.read_bytes()[:200])\nuncertain.load(path)',
            "The file is cut short, such as by a download that was interrupted.",
            "Fetch it again, or save the model again.",
        ),
        Case(
            'path = folder / "model.safetensors"\nold = path.read_bytes()\n'
            "path.write_bytes(old[:-1] + bytes([old[-1] ^ 1]))\nuncertain.load(path)",
            "The file was altered or damaged: its checksum is another one.",
            "Save the model again.",
        ),
        Case(
            "from sklearn.ensemble import RandomForestClassifier\n"
            'fit(table, method="remeasured", estimator=RandomForestClassifier(5), n_copies=2)'
            '.save(folder / "m")',
            "A model file holds numbers, no code; another library's learner cannot be told by numbers.",
            "`joblib.dump(model.pipeline_, ...)`, skops or ONNX keep it; the default learner can be saved.",
        ),
        Case(
            'fit(folder / "no.csv", method="gsu")',
            "There is no file of this name.",
            "Check the path.",
        ),
        Case(
            'fit(folder / "*.parquet", method="gsu")',
            "No file matches the pattern.",
            "Check folder and ending.",
        ),
        Case(
            '(folder / "table.xyz").write_text("a")\nfit(folder / "table.xyz", method="gsu")',
            "The ending does not tell a format that is read here.",
            "Rename the file, or read it yourself and pass the table.",
        ),
        Case(
            '(folder / "empty.csv").write_text("")\nfit(folder / "empty.csv", method="gsu")',
            "The file is empty.",
            "Write it again.",
        ),
        Case(
            'model.save(folder / "none" / "model.safetensors")',
            "The folder does not exist, is not yours, or the disk is full. An old file of this name is still there.",
            "Make the folder, or choose another one.",
        ),
    ],
    "Memory": [
        Case(
            "from uncertain.kernels import probabilistic_rbf\nprobabilistic_rbf(X, max_bytes=1000)",
            "A kernel matrix grows with the square of the number of rows. It is refused before it is begun.",
            "Slices of rows against all, fewer rows, or `ProbabilisticKernelFeatures`, which are linear in them.",
        ),
        Case(
            "AdaptiveHuberRegressor(max_bytes=1000).fit(X, np.arange(40.0))",
            "The fit works on matrices of all rows.",
            'Fewer unlabelled rows, `kernel="linear"`, or a larger `max_bytes`.',
        ),
    ],
    "Clusters": [
        Case(
            "import dask.dataframe as dd\nfrom dask.distributed import Client\nfrom uncertain.dask import fit as fit_there\n"
            "cut = dd.from_pandas(table.to_pandas(), npartitions=2)\n"
            'with Client(n_workers=0, processes=False, dashboard_address="127.0.0.1:0") as client:\n'
            '    fit_there(client, cut, method="gsu", timeout=0.1)',
            "No worker came, or a pass over the rows took longer.",
            "Start workers, or allow more time with `timeout=`.",
        ),
        Case(
            "import dask.dataframe as dd\ncut = dd.from_pandas(table.to_pandas(), npartitions=2)\n"
            'fit(cut, method="kernel")',
            "On a cluster a fit sees the rows through sums alone, and a kernel machine needs every pair of rows.",
            "A method that is made of sums, or a fit to a sample in one memory.",
        ),
    ],
}
"""By section of the page."""


def all_cases() -> Iterator[tuple[str, Case]]:
    """Every case with its section."""
    for section, cases in CASES.items():
        for case in cases:
            yield section, case


if __name__ == "__main__":
    for section, case in all_cases():
        with place() as names:
            found = provoked(case, names)
        sys.stdout.write(f"{section}: {case.code}\n    {found.kind.__name__}: {found.message}\n")
