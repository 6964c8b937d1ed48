"""Predictions of every method on ten small tables: what a redesign must not change.

    python tests/golden/predictions.py write         # tests/golden/predictions.json
    python tests/golden/predictions.py record FILE   # every bit, for `make golden BASE=commit`
    python tests/golden/predictions.py compare A B   # two such files

Each table is made here (or comes with scikit-learn), so that nothing has to be downloaded. A table is fitted
with each method that takes it, and answers for its last rows are recorded: labels, probabilities, sets,
distributions, intervals, coefficients. Numbers of the committed file hold to 1e-9 of the largest one of an
answer: vector kernels and library versions differ between machines.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import uncertain

FILE = Path(__file__).with_suffix(".json")
ANSWERED = 12
"""Rows whose answers are recorded."""
CLASSIFIERS = ("gsu", "kernel", "huber", "usvc", "tsvc", "ausvc", "mpsvc", "psvm", "minimax", "discriminant")
REGRESSIONS = ("gsu", "kernel", "huber", "mixture", "law")

Options = dict[str, Any]
Case = tuple[Any, str, dict[str, Options]]
"""A table, its target, and methods with their options."""


def methods(*names: str, **shared: Any) -> dict[str, Options]:
    return {name: {"method": name, **shared} for name in names}


def noisy(n: int, d: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """True values, readings and their standard deviations."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=(n, d))
    std = rng.lognormal(-1.2, 0.6, (n, d))
    return truth, truth + std * rng.normal(size=(n, d)), std


def frame(x: np.ndarray, std: np.ndarray, **columns: Any) -> pl.DataFrame:
    names = "abcdefghij"
    values = {names[j]: x[:, j] for j in range(x.shape[1])}
    return pl.DataFrame(values | {f"{names[j]}_err": std[:, j] for j in range(x.shape[1])} | columns)


def two_classes() -> Case:
    truth, x, std = noisy(140, 3, 1)
    table = frame(x, std, kind=np.where(truth[:, 0] + truth[:, 1] * truth[:, 2] > 0, "star", "galaxy"))
    return (
        table,
        "kind",
        methods(*CLASSIFIERS, "remeasured", "auto")
        | {
            "gsu rbf": {"method": "gsu", "kernel": "rbf"},
            "gsu spread": {"method": "gsu", "meaning": "spread"},
            "kernel features": {"method": "kernel", "n_components": 40},
            "fast": {"effort": "fast"},
        },
    )


def three_classes() -> Case:
    truth, x, std = noisy(150, 4, 2)
    kind = np.digitize(truth[:, 0] + 0.4 * truth[:, 1] ** 2, [-0.3, 0.8])
    return (
        frame(x, std, kind=kind, weight=1.0 + (np.arange(150) % 3)),
        "kind",
        methods(*CLASSIFIERS, sample_weight="weight"),
    )


def numbers() -> Case:
    truth, x, std = noisy(150, 3, 3)
    rng = np.random.default_rng(30)
    y = 1.5 * truth[:, 0] - truth[:, 1] + 0.3 * truth[:, 2] ** 2 + 0.3 * rng.normal(size=150)
    table = frame(x, std, y=y, y_err=0.1 + 0.1 * rng.random(150))
    return (
        table,
        "y",
        methods(*REGRESSIONS, "remeasured", "auto")
        | {
            "fast": {"effort": "fast"},
            "law student": {"method": "law", "outliers": "student"},
            "law scale": {"method": "law", "error_scale": "fit"},
            "mixture 3": {"method": "mixture", "n_components": 3},
        },
    )


def counts() -> Case:
    truth, x, std = noisy(120, 2, 4)
    rng = np.random.default_rng(40)
    y = rng.poisson(np.exp(0.5 + 0.6 * truth[:, 0] - 0.3 * truth[:, 1]))
    return (
        frame(x, std, y=y),
        "y",
        {
            "law poisson": {"method": "law", "family": "poisson", "task": "regression"},
            "gsu numbers": {"method": "gsu", "task": "regression"},
        },
    )


def gaps() -> Case:
    truth, x, std = noisy(160, 4, 5)
    rng = np.random.default_rng(50)
    x[rng.random(x.shape) < 0.08] = np.nan
    std[rng.random(x.shape) < 0.08] = np.nan
    x[::31, 2] = -9999.0
    table = frame(x, std, kind=np.where(truth[:, 0] - truth[:, 3] > 0, "yes", "no"))
    return table.fill_nan(None), "kind", methods("gsu", "discriminant", "kernel", "remeasured")


def arms() -> Case:
    truth, x, std = noisy(140, 2, 6)
    p, p_std = np.exp(x[:, 0]), np.exp(x[:, 0]) * std[:, 0]
    table = pl.DataFrame({
        "p": p, "p_err1": p_std * 1.4, "p_err2": -p_std,
        "q": x[:, 1], "q_err1": std[:, 1], "q_err2": -std[:, 1] * 0.6, "group": np.arange(140) // 3,
        "y": truth[:, 1] + 0.5 * np.exp(truth[:, 0]) + 0.2 * np.random.default_rng(60).normal(size=140),
    })  # fmt: skip
    return table, "y", methods("gsu", "mixture", "law", "kernel", groups="group")


def lists() -> Case:
    truth, x, std = noisy(120, 3, 7)
    rng = np.random.default_rng(70)
    factor = rng.normal(size=(120, 3, 3)) * 0.4
    cov = factor @ factor.transpose(0, 2, 1) + std[:, :, None] * np.eye(3) * 0.3
    table = pl.DataFrame({
        "mean": x.tolist(), "cov": cov.reshape(120, 9).tolist(), "label": truth[:, 0] > 0.2,
    })  # fmt: skip
    return table, "label", methods(*CLASSIFIERS)


def mixtures() -> Case:
    truth, x, std = noisy(90, 2, 8)
    rng = np.random.default_rng(80)
    draws = [
        (x[i] + std[i] * rng.normal(size=(24, 2)) + np.where(rng.random((24, 1)) < 0.3, 1.5, 0.0)).T.tolist()
        for i in range(90)
    ]
    table = pl.DataFrame({
        "u": [row[0] for row in draws], "v": [row[1] for row in draws],
        "label": np.where(truth[:, 0] > 0, "b", "a"),
    })  # fmt: skip
    return table, "label", methods("gsu", "kernel", "discriminant", draws=["u", "v"])


def limits() -> Case:
    truth, x, std = noisy(130, 2, 9)
    flag = np.where(truth[:, 0] < -0.6, -1, 0)
    x[:, 0] = np.where(flag < 0, -0.5, x[:, 0])
    table = frame(x, std, a_limit=flag, y=2 * truth[:, 0] - truth[:, 1])
    return table, "y", methods("mixture", limits={"a": "a_limit"})


def correlated() -> Case:
    truth, x, std = noisy(140, 3, 10)
    table = frame(x, std, a_b_corr=np.full(140, 0.4), b_c_corr=np.linspace(-0.5, 0.5, 140))
    table = table.with_columns(kind=pl.Series(np.where(truth.sum(axis=1) > 0, 1, -1)), ruler=pl.lit("x"))
    return table, "kind", methods("gsu", "kernel", "mixture", "usvc")


def single_precision() -> Case:
    table, target, _ = two_classes()
    singles = table.with_columns(pl.selectors.float().cast(pl.Float32))
    return singles, target, methods("gsu", "kernel", "discriminant", "mixture")


def biopsies() -> Case:
    from sklearn.datasets import load_breast_cancer

    data = load_breast_cancer()
    mean, error = data.data[:, :10], data.data[:, 10:20]
    columns = {
        n.replace("mean ", "").replace(" ", "_"): mean[:, j] for j, n in enumerate(data.feature_names[:10])
    }
    columns |= {
        n.replace(" error", "").replace(" ", "_") + "_se": error[:, j]
        for j, n in enumerate(data.feature_names[10:20])
    }
    table = pl.DataFrame(columns).with_columns(label=pl.Series(data.target_names[data.target]))
    return table[:220], "label", methods("gsu", "discriminant", "usvc", "kernel")


CASES: tuple[Callable[[], Case], ...] = (
    two_classes, three_classes, numbers, counts, gaps, arms, lists, mixtures, limits, correlated,
    single_precision, biopsies,
)  # fmt: skip


def arrays(answer: Any) -> Iterator[tuple[str, np.ndarray]]:
    """Columns of an answer: a frame, an array or a tuple of arrays."""
    if isinstance(answer, pl.DataFrame):
        yield from ((c.name, plain(c)) for c in answer)
    elif isinstance(answer, tuple):
        yield from ((str(i), np.asarray(a)) for i, a in enumerate(answer))
    else:
        yield "", plain(answer)


def plain(column: Any) -> np.ndarray:
    if isinstance(column, pl.Series) and column.dtype == pl.List:
        return np.array([" ".join(map(str, row)) for row in column.to_list()])
    return np.asarray(column.to_numpy() if isinstance(column, pl.Series) else column)


def answers(table: Any, target: str, options: Options) -> Iterator[tuple[str, np.ndarray]]:
    model = uncertain.fit(table[:-ANSWERED], target=target, **options)
    rows = table[-ANSWERED:].drop(target)
    verbs = ("predict", "predict_proba", "predict_set", "predict_distribution", "predict_interval")
    for verb in verbs:
        try:
            answer = getattr(model, verb)(rows)
        except (AttributeError, uncertain.UncertainError):
            continue  # not of this kind of model
        for name, values in arrays(answer):
            yield f"{verb} {name}".strip(), values
    try:
        coefficients = model.coef_
    except (AttributeError, uncertain.UncertainError):
        return
    if isinstance(coefficients, dict):
        coefficients = list(coefficients.values())
    for name, values in arrays(coefficients):
        yield f"coef_ {name}".strip(), values


def on_dask() -> Iterator[tuple[str, np.ndarray]]:
    """The linear machine over three partitions on a cluster of threads."""
    import dask
    import dask.dataframe as dd
    from distributed import Client

    table, target, _ = two_classes()
    whole = table.to_pandas()
    with (
        dask.config.set({"distributed.scheduler.worker-saturation": 1.0}),
        Client(processes=False, n_workers=2, threads_per_worker=1, dashboard_address=None),
    ):
        model = uncertain.fit(dd.from_pandas(whole, npartitions=3), target=target, method="gsu")
    yield "coef_", plain(list(model.coef_.values()) if isinstance(model.coef_, dict) else model.coef_)
    for name, values in arrays(model.predict_proba(table[-ANSWERED:])):
        yield f"predict_proba {name}".strip(), values


NAMES = (*(case.__name__ for case in CASES), "on_dask")


def record(only: str = "") -> Iterator[tuple[str, np.ndarray]]:
    """Yield name and values of every answer, or of those of one table."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for case in CASES:
            if only in ("", case.__name__):
                table, target, calls = case()
                for call, options in calls.items():
                    for name, values in answers(table, target, options):
                        yield f"{case.__name__}/{call}/{name}", values
        if only in ("", "on_dask"):
            for name, values in on_dask():
                yield f"on_dask/gsu/{name}", values


def write_bits(path: Path) -> None:
    np.savez_compressed(
        path, **{k: np.asarray(v) if v.dtype != object else v.astype(str) for k, v in record()}
    )


def written(values: np.ndarray) -> list[Any]:
    """An answer as the committed file has it."""
    if values.dtype.kind in "fc":
        return [float(f"{v:.12g}") for v in values.ravel()]
    return [str(v) for v in values.ravel()]


def compare(first: Path, second: Path) -> int:
    with np.load(first) as before, np.load(second) as after:
        names = sorted(set(before.files) | set(after.files))
        different = 0
        for name in names:
            if name not in before.files or name not in after.files:
                print(f"{name}: only in {first if name in before.files else second}")
            elif before[name].tobytes() != after[name].tobytes() or before[name].dtype != after[name].dtype:
                print(f"{name}: {distance(before[name], after[name])}")
            else:
                continue
            different += 1
    print(f"{len(names) - different} answers equal to the bit, {different} different")
    return int(different > 0)


def distance(a: np.ndarray, b: np.ndarray) -> str:
    if a.shape != b.shape or a.dtype.kind != "f" or b.dtype.kind != "f":
        return f"{a.dtype}{a.shape} {a.ravel()[:3]} against {b.dtype}{b.shape} {b.ravel()[:3]}"
    return f"differs by {np.nanmax(np.abs(a - b)):.2g} of {np.nanmax(np.abs(a)):.2g}"


def main(arguments: list[str]) -> int:
    match arguments:
        case ["write"]:
            lines = (f'"{name}": {json.dumps(written(values))}' for name, values in record())
            FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n")
        case ["record", path]:
            write_bits(Path(path))
        case ["compare", first, second]:
            return compare(Path(first), Path(second))
        case _:
            print(__doc__)
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
