"""What must not change an answer of `uncertain.fit` does not: units of the target, rows of weight 0, ...

`make relations` runs every relation with every subject, `make test` a sample of the pairs.
"""

import os
from collections.abc import Iterable
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl
import pytest

import uncertain
from uncertain.exceptions import ParameterError, UncertainWarning

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*no plane is better"),  # of MPSVC
    pytest.mark.timeout(1200),
]
ALL = os.environ.get("RELATIONS") == "all"
SHARE = 4
"""Without it one in so many pairs is looked at, and the first subject of every relation."""


@dataclass(frozen=True)
class Subject:
    """A call of `fit`."""

    method: str
    target: str
    options: dict[str, Any] = field(default_factory=dict)
    name: str = ""

    def fit(self, table: pl.DataFrame, **more: Any) -> uncertain.Model:
        return uncertain.fit(table, self.target, **{"method": self.method, **self.options, **more})

    def table(self, seed: int = 0) -> pl.DataFrame:
        errors_of_y = ["y_err"] if self.method in ("gsu", "mixture", "law") and self.target == "y" else []
        return rows(seed).select(*FEATURES, self.target, *errors_of_y)

    def __str__(self) -> str:
        return f"{self.name or self.method}:{self.target}"


FEATURES = ["a", "a_err", "b", "b_err", "c", "c_err"]
NEW = ["a", "b", "c"]


def rows(seed: int, n: int = 160) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    code = rng.integers(0, 2, n)
    truth = rng.normal(size=(n, 3)) + np.outer(code, [1.2, -0.8, 0.3])
    std = rng.uniform(0.1, 1.0, (n, 3))
    read = truth + std * rng.normal(size=truth.shape)
    y_err = rng.uniform(0.05, 0.3, n)
    y = 1.0 + truth @ [2.0, -1.0, 0.5] + np.hypot(0.3, y_err) * rng.normal(size=n)
    columns = {"kind": np.array(["ape", "bee"])[code], "y": y, "y_err": y_err}
    for j, name in enumerate(NEW):
        columns |= {name: read[:, j], f"{name}_err": std[:, j]}
    return pl.DataFrame(columns)


ROBUST = ("usvc", "tsvc", "ausvc", "mpsvc", "psvm")
TREES = {"n_copies": 2, "n_learners": 1, "n_trees": 20}
CLASSES = [
    Subject("gsu", "kind", {"tol": 1e-10}),
    Subject("gsu", "kind", {"tol": 1e-10, "kernel": "rbf", "gamma": 0.4}, "gsu rbf"),
    Subject("kernel", "kind", {"tol": 1e-10, "sigma": 1.5}),
    Subject("discriminant", "kind", {"tol": 1e-10}),
    Subject("huber", "kind", {"gamma": 0.4}),
    *(Subject(name, "kind", {"tol": 1e-9}) for name in ROBUST),
    Subject("minimax", "kind"),
    Subject("law", "kind"),
    Subject("remeasured", "kind", TREES),
]
NUMBERS = [
    Subject("gsu", "y", {"tol": 1e-10}),
    Subject("gsu", "y", {"tol": 1e-10, "kernel": "rbf", "gamma": 0.4}, "gsu rbf"),
    Subject("gsu", "y", {"tol": 1e-10, "loss": "epsilon_insensitive"}, "gsu tube"),
    Subject("kernel", "y", {"tol": 1e-10, "sigma": 1.5}),
    Subject("huber", "y", {"gamma": 0.4}),
    Subject("mixture", "y", {"tol": 1e-12}),
    Subject("law", "y"),
    Subject("remeasured", "y", TREES),
    Subject("remeasured", "y", TREES | {"density": True}, "remeasured density"),
]

Answers = dict[str, np.ndarray]


def answers(model: uncertain.Model, table: pl.DataFrame) -> Answers:
    """Everything that a model says of rows, and its coefficients."""
    found: Answers = {}
    if model.is_regression_:
        found["distribution"] = model.predict_distribution(table).to_numpy()
        found["interval"] = model.predict_interval(table, coverage=0.8).to_numpy()
    else:
        found["probabilities"] = model.predict_proba(table).select(sorted(model.classes_)).to_numpy()
        sets = model.predict_set(table, coverage=0.8).to_list()
        found["sets"] = np.array([[label in row for label in sorted(model.classes_)] for row in sets], float)
    for name in ("coef_", "intercept_", "intrinsic_scatter_"):
        if hasattr(model, name):
            found[name] = np.atleast_1d(getattr(model, name))
    return found


def scores(model: uncertain.Model, table: pl.DataFrame) -> Answers:
    """Scores and probabilities, or predictions."""
    if model.is_regression_:
        return {"predictions": model.predict(table).to_numpy()}
    names = [name for name in ("decision_function", "predict_proba") if hasattr(model.pipeline_, name)]
    return {name: getattr(model.pipeline_, name)(table) for name in names}


def assert_same(one: Answers, other: Answers, tolerance: float) -> None:
    """Each answer agrees to so much of its largest number."""
    assert one.keys() == other.keys()
    for name, values in other.items():
        scale = max(np.abs(values).max(), 1e-300)
        np.testing.assert_allclose(one[name], values, rtol=0, atol=tolerance * scale, err_msg=name)


def pairs(subjects: Iterable[Subject], *without: str) -> pytest.MarkDecorator:
    """The subjects of a relation: all of them, or the first and some others."""
    able = [subject for subject in subjects if str(subject) not in without]
    some = [s for k, s in enumerate(able) if ALL or k % SHARE == 0]
    return pytest.mark.parametrize("subject", some, ids=str)


def in_another_unit(table: pl.DataFrame, factor: float, offset: float = 0.0) -> pl.DataFrame:
    errors = [pl.col("y_err") * factor] if "y_err" in table.columns else []
    return table.with_columns(pl.col("y") * factor + offset, *errors)


@pairs(NUMBERS)
@pytest.mark.parametrize(("factor", "offset"), [(1e3, 5e3), (1e-6, 0.0)])
def test_units_of_the_target(subject: Subject, factor: float, offset: float) -> None:
    """Metres or millimetres: C, epsilon and delta have defaults in units of the target's scale."""
    table, new = subject.table(), subject.table(1)
    model = subject.fit(in_another_unit(table, factor, offset))
    back = answers(model, new)
    for name in back:
        moved = (
            offset if name in ("interval", "intercept_") else [offset, 0, 0] if name == "distribution" else 0
        )
        back[name] = (back[name] - moved) / factor
    assert_same(back, answers(subject.fit(table), new), 1e-5)


@pairs([subject for subject in NUMBERS if subject.method != "remeasured"])
def test_sign_of_the_target(subject: Subject) -> None:
    table, new = subject.table(), subject.table(1)
    turned = subject.fit(table.with_columns(y=-pl.col("y")))
    np.testing.assert_allclose(-turned.predict(new), subject.fit(table).predict(new), atol=1e-5)


def test_parameters_in_units_of_the_target() -> None:
    subject = NUMBERS[0]
    table, new = subject.table(), subject.table(1)
    one = subject.fit(table, delta=0.5)
    other = subject.fit(in_another_unit(table, 1024.0), delta=512.0)
    assert (one.pipeline_[-1].delta, other.pipeline_[-1].delta) == (0.5, 512.0)
    np.testing.assert_allclose(other.predict(new) / 1024.0, one.predict(new), rtol=1e-12)
    quartiles = np.quantile(table["y"], [0.75, 0.25], method="averaged_inverted_cdf")
    scale = np.subtract(*quartiles) / 1.349
    np.testing.assert_allclose(subject.fit(table).pipeline_[-1].delta, 1.35 * scale)


def test_naming_what_would_be_found_changes_nothing() -> None:
    """Features, patterns and mappings: the target's error bars count all the same."""
    for subject in (NUMBERS[0], NUMBERS[5], NUMBERS[6], CLASSES[0]):
        table, new = subject.table(), subject.table(1)
        expected = answers(subject.fit(table), new)
        bars = {name: f"{name}_err" for name in NEW}
        for naming in (
            {"features": NEW},
            {"features": NEW, "std": "{}_err"},
            {"std": bars},
            {"columns": bars},
            *({role: bars | {"y": "y_err"}} for role in ("std", "columns") if "y_err" in table.columns),
        ):
            assert_same(answers(subject.fit(table, **naming), new), expected, 0.0)


@pytest.mark.filterwarnings("ignore:no name tells the level")
def test_limits_of_a_target_may_be_below_zero() -> None:
    table, new = NUMBERS[6].table(), NUMBERS[6].table(1)
    y, std = pl.col("y"), pl.col("y_err")
    limits = table.with_columns(y_lower=y - std, y_upper=y + std).drop("y_err")
    assert_same(answers(NUMBERS[6].fit(limits), new), answers(NUMBERS[6].fit(table), new), 1e-7)
    with pytest.raises(ParameterError, match="Pass target_std="):
        uncertain.fit(table, "y", var={"a": "a_err", "y": "y_err"})


TURNED = {"ape": "zebra", "bee": "yak"}


@pairs([subject for subject in CLASSES if subject.method != "remeasured"])
def test_names_of_classes(subject: Subject) -> None:
    """Renamed so that their order turns: probabilities stay."""
    table, new = subject.table(), subject.table(1)
    expected = subject.fit(table).predict_proba(new)
    found = subject.fit(table.with_columns(pl.col("kind").replace(TURNED))).predict_proba(new)
    for name, other in TURNED.items():
        np.testing.assert_allclose(found[other], expected[name], atol=1e-6)


FREE = {"gsu rbf": {"gamma": "median"}, "kernel": {"sigma": "median"}, "huber": {"gamma": None}}
"""Bandwidths are medians of all distances."""


@pairs([*CLASSES, *NUMBERS], "remeasured:kind", "remeasured:y", "remeasured density:y")
def test_order_of_rows_and_columns(subject: Subject) -> None:
    table, new = subject.table(), subject.table(1)
    more = FREE.get(subject.name or subject.method, {})
    expected, rows_turned = subject.fit(table, **more), subject.fit(table.reverse(), **more)
    assert_same(answers(rows_turned, new), answers(expected, new), 1e-6)
    columns_turned = subject.fit(table.select(reversed(table.columns)), **more)
    map_ends = 1e-4 if "rbf" in subject.name else 1e-5  # the map into feature space ends at rank_tol
    assert_same(scores(columns_turned, new), scores(expected, new), map_ends)
    if columns_turned.is_regression_:  # copies are drawn by the names of features
        turned, straight = (m.predict_distribution(new).to_numpy() for m in (columns_turned, expected))
        np.testing.assert_allclose(turned, straight, atol=1e-2 * np.abs(straight).max())


def minority(third: bool) -> pl.DataFrame:
    """A class of 15 % among noise, or one between two others."""
    rng = np.random.default_rng(0)
    place = rng.integers(0, 3, 600) if third else (rng.uniform(size=600) < 0.15).astype(int)
    std = rng.uniform(0.3, 1.2, (600, 2))
    read = 1.2 * place[:, None] + rng.normal(size=(600, 2)) + std * rng.normal(size=(600, 2))
    values = {"a": read[:, 0], "a_err": std[:, 0], "b": read[:, 1], "b_err": std[:, 1]}
    return pl.DataFrame(values | {"kind": np.array(["p", "q", "r"])[place]})


@pytest.mark.parametrize("third", [False, True])
@pytest.mark.parametrize("method", ["gsu", "usvc", "ausvc"])
@pytest.mark.parametrize("tol", [1e-6, *([1e-3, 1e-9] if ALL else [])])
def test_a_machine_that_answers_the_majority(method: str, tol: float, third: bool) -> None:
    """Where w = 0 is the optimum, coefficients are 0 and probabilities the shares, in any order of rows."""
    table = minority(third)
    order = np.random.default_rng(1).permutation(len(table))
    said = nullcontext() if third else pytest.warns(UncertainWarning, match="assigns every row to 'p'")
    with said:
        model, turned = (uncertain.fit(t, "kind", method=method, tol=tol) for t in (table, table[order]))
    p, q = (one.predict_proba(table)["q"].to_numpy() for one in (turned, model))
    np.testing.assert_allclose(p, q, atol=1e-6)
    share = (table["kind"] == "q").mean()
    np.testing.assert_allclose(q.mean(), share, atol=0.03)
    if not third:
        assert not np.any(model.coef_) and set(model.predict(table)) == {"p"}
        np.testing.assert_allclose(q, share, rtol=1e-9)


def without_weight(table: pl.DataFrame) -> pl.Series:
    return pl.Series((np.arange(len(table)) % 4 != 1) * 1.0)


@pairs([*CLASSES, *NUMBERS])
def test_rows_of_weight_zero_are_absent(subject: Subject) -> None:
    """Whatever stands in them."""
    table, new = subject.table(), subject.table(1)
    w = without_weight(table)
    nonsense = pl.Series(np.linspace(900.0, 3000.0, len(table)))
    spoilt = table.with_columns(w=w, a=pl.when(w == 0).then(nonsense).otherwise("a"))
    absent = subject.fit(table.filter(w > 0))
    assert_same(answers(subject.fit(spoilt, sample_weight="w"), new), answers(absent, new), 0.0)


COUNTING = {"law:kind": {"bias_correction": None}, "kernel:kind": {"sigma": 1.5}}
"""Options without what says that it counts rows: degrees of freedom, sigmoids with their folds."""


@pairs([*CLASSES, *NUMBERS], "remeasured:kind", "remeasured:y", "remeasured density:y", "law:y", "mixture:y")
@pytest.mark.filterwarnings("ignore:.*repeat the readings of others")
def test_integer_weights_are_repeated_rows(subject: Subject) -> None:
    table, new = subject.table(), subject.table(1)
    w = 1 + np.arange(len(table)) % 3
    more = COUNTING.get(str(subject), {})
    weighted = subject.fit(table.with_columns(w=w), sample_weight="w", **more)
    repeated = subject.fit(table[np.repeat(np.arange(len(table)), w)], **more)
    assert_same(scores(weighted, new), scores(repeated, new), 1e-5)


@pairs([*CLASSES, *NUMBERS], "kernel:kind", "kernel:y", *(f"{m}:kind" for m in ROBUST))
def test_weights_times_a_constant(subject: Subject) -> None:
    """Nothing changes but for machines with a C, whose losses are a sum over rows; equal ones are none."""
    table, new = subject.table(), subject.table(1)
    w = 0.5 + np.arange(len(table)) % 5 / 4
    one, other = (subject.fit(table.with_columns(w=f * w), sample_weight="w") for f in (1.0, 7.0))
    assert_same(answers(other, new), answers(one, new), 1e-7)
    constant = subject.fit(table.with_columns(w=pl.lit(0.1)), sample_weight="w")
    assert_same(answers(constant, new), answers(subject.fit(table), new), 1e-7)


@pytest.mark.parametrize("method", ["gsu", "remeasured", "discriminant", "kernel", "auto"])
def test_a_class_of_weight_zero_is_none(method: str) -> None:
    table = rows(0)
    third = np.where(np.arange(len(table)) % 3 == 0, "cat", table["kind"].to_numpy())
    table = table.select(*FEATURES, kind=third, w=(third != "cat") * 1.0)
    options = TREES if method == "remeasured" else {"effort": "fast"} if method == "auto" else {}
    with pytest.warns(UncertainWarning, match="only rows of weight 0 are 'cat'"):
        model = uncertain.fit(table, "kind", sample_weight="w", method=method, **options)
    assert model.classes_.tolist() == ["ape", "bee"]


def exponential(x: np.ndarray, p: np.ndarray) -> np.ndarray:
    return p[0] + p[1] * np.exp(0.3 * x[:, 0])


@pytest.mark.parametrize("truth", ["functional", *(["structural"] if ALL else [])])
def test_curves(truth: str) -> None:
    table = rows(0, 60).select("a", "a_err", y=2.0 + (0.3 * pl.col("a")).exp() + 0.1 * pl.col("y"))
    table = table.with_columns(y_err=0.2 + pl.int_range(60) / 300)
    curve = {"method": "law", "curve": exponential, "truth": truth}
    law = uncertain.fit(table, "y", p0=[1.0, 1.0], **curve).pipeline_[-1]
    scaled = in_another_unit(table, 1024.0)
    spoilt = pl.concat([table.reverse(), table.with_columns(y=1e3 + pl.int_range(60))])
    spoilt = spoilt.with_columns(w=(pl.int_range(len(spoilt)) < len(table)) * 1.0)
    for other, factor in (
        (uncertain.fit(scaled, "y", p0=[1024.0, 1024.0], **curve).pipeline_[-1], 1024.0),
        (uncertain.fit(spoilt, "y", p0=[1.0, 1.0], sample_weight="w", **curve).pipeline_[-1], 1.0),
    ):
        np.testing.assert_allclose(other.params_, factor * law.params_, rtol=1e-4)
        np.testing.assert_allclose(other.std_, factor * law.std_, rtol=1e-3)


@pytest.mark.parametrize("effort", ["fast", *(["normal"] if ALL else [])])
def test_the_default_call(effort: str) -> None:
    table, new = rows(0).select(*FEATURES, "y", "y_err"), rows(1)
    expected = uncertain.fit(table, "y", effort=effort).predict(new).to_numpy()
    scaled = uncertain.fit(in_another_unit(table, 1e3), "y", effort=effort).predict(new).to_numpy() / 1e3
    np.testing.assert_allclose(scaled, expected, atol=1e-3 * np.abs(expected).max())


def test_on_dask() -> None:
    distributed, dd = pytest.importorskip("distributed"), pytest.importorskip("dask.dataframe")
    with distributed.Client(
        processes=False, n_workers=1, threads_per_worker=1, dashboard_address=None
    ) as client:

        def fit(table: pl.DataFrame, target: str, **options: Any) -> uncertain.Model:
            frame = dd.from_pandas(table.to_pandas(), npartitions=3)
            return uncertain.dask.fit(client, frame, target, **options)

        table, new = NUMBERS[0].table(), NUMBERS[0].table(1)
        options = {"method": "gsu", "meaning": "spread", "tol": 1e-9}
        one, other = (fit(in_another_unit(table, f), "y", **options) for f in (1.0, 1024.0))
        np.testing.assert_allclose(other.predict(new) / 1024.0, one.predict(new), rtol=1e-6)
        table = minority(third=False)
        with pytest.warns(UncertainWarning, match="no plane is better"):
            lost = fit(table, "kind", method="gsu", meaning="spread")
        assert not np.any(lost.coef_)
        np.testing.assert_allclose(lost.predict_proba(table)["q"], (table["kind"] == "q").mean(), rtol=1e-9)
