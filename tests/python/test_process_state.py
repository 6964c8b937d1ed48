"""What belongs to the caller's process is as it was after every public call.

That is: file mode mask, signal handlers, environment, working directory, locale, open files, threads of
Python, random states of NumPy and Python, filters of warnings, floating-point errors of NumPy, recursion
limit, hooks for errors and tracing, configurations of scikit-learn and Polars, and limits of threads.
A call that changes something, also one that fails, is made again, and a trace is what its repetitions change:
what is imported or started for the first time (a pool of threads) is not counted. With ``random_state=None``
an estimator draws from NumPy's own random numbers, as scikit-learn's do; here all have a seed.
"""

import contextlib
import gc
import inspect
import locale
import os
import random
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import sklearn
from everything import SUBJECTS, Subject
from threadpoolctl import threadpool_info

import uncertain

pytestmark = [
    pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="open files are those of Linux"),
    pytest.mark.usefixtures("few_trees"),  # how many there are changes nothing outside
]

RNG = np.random.default_rng(0)
N = 60
STD = RNG.uniform(0.1, 0.5, (N, 2))
KIND = np.where(RNG.random(N) < 0.5, "a", "b")
POINTS = (KIND == "a")[:, None] + STD * RNG.normal(size=(N, 2))
TABLE = pl.DataFrame(
    {"x": POINTS[:, 0], "x_err": STD[:, 0], "z": POINTS[:, 1], "z_err": STD[:, 1], "kind": KIND}
)
NUMBERS = TABLE.with_columns(y=pl.col("x") + pl.col("z")).drop("kind")
ROWS = uncertain.GaussianArray(POINTS, std=STD)


def umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def open_files() -> list[str]:
    found = []
    for number in os.listdir("/proc/self/fd"):
        try:
            found.append(f"{number} {os.readlink(f'/proc/self/fd/{number}')}")
        except FileNotFoundError:  # the listing's own
            continue
    return sorted(found)


def handlers() -> dict[int, Any]:
    return {number: signal.getsignal(number) for number in signal.valid_signals()}


STATE: dict[str, Callable[[], Any]] = {
    "umask": umask,
    "signal handlers": handlers,
    "blocked signals": lambda: signal.pthread_sigmask(signal.SIG_BLOCK, []),
    "wakeup descriptor": lambda: _wakeup(),
    "alarm": lambda: signal.getitimer(signal.ITIMER_REAL)[0] > 0.0,
    "environment": lambda: dict(os.environ),
    "working directory": os.getcwd,
    "locale": lambda: locale.setlocale(locale.LC_ALL),
    "open files": open_files,
    "threads": lambda: sorted(thread.name for thread in threading.enumerate()),
    "random state of Python": random.getstate,
    "random state of NumPy": lambda: repr(np.random.get_state()),  # noqa: NPY002
    "filters of warnings": lambda: [*warnings.filters],
    "how warnings are shown": lambda: (warnings.showwarning, warnings.formatwarning),
    "floating-point errors": lambda: (np.geterr(), np.geterrcall()),
    "how arrays are printed": lambda: repr(np.get_printoptions()),
    "recursion limit": sys.getrecursionlimit,
    "hooks": lambda: (sys.excepthook, sys.unraisablehook, sys.displayhook, threading.excepthook),
    "tracing": lambda: (sys.gettrace(), sys.getprofile()),
    "garbage collection": lambda: (gc.isenabled(), gc.get_threshold(), [*gc.callbacks]),
    "standard streams": lambda: (sys.stdin, sys.stdout, sys.stderr),
    "where modules are found": lambda: ([*sys.path], [*sys.meta_path]),
    "configuration of scikit-learn": sklearn.get_config,
    "configuration of Polars": lambda: pl.Config.state(),
    "limits of threads": lambda: [(pool["filepath"], pool["num_threads"]) for pool in threadpool_info()],
    "limits of the process": lambda: _limits(),
    "priority": lambda: os.getpriority(os.PRIO_PROCESS, 0),
    "processors": lambda: os.sched_getaffinity(0),
}


def _wakeup() -> int:
    before = signal.set_wakeup_fd(-1)
    if before != -1:
        signal.set_wakeup_fd(before)
    return before


def _limits() -> dict[int, Any]:
    resource = pytest.importorskip("resource")
    names = [name for name in dir(resource) if name.startswith("RLIMIT_")]
    return {getattr(resource, name): resource.getrlimit(getattr(resource, name)) for name in names}


def leaves_no_trace(call: Callable[[], object]) -> None:
    """A call changes nothing of the process, or only at first, whether it fails or not."""

    def changes() -> dict[str, tuple[object, object]]:
        before = {name: look() for name, look in STATE.items()}
        with contextlib.suppress(Exception):
            call()
        if any(look() != before[name] for name, look in STATE.items()):
            gc.collect()  # of what is only waiting for it
        after = {name: look() for name, look in STATE.items()}
        return {name: (before[name], after[name]) for name in STATE if after[name] != before[name]}

    # What other tests have left waiting may have been collected meanwhile; what a call leaves, each one does.
    changed = changes() and changes() and changes()
    assert not changed, str(changed)[:2000]


@pytest.fixture(scope="module", autouse=True)
def what_is_there() -> Iterator[None]:
    """What other tests have left is not looked through in every collection of garbage."""
    gc.freeze()
    yield
    gc.unfreeze()


# -- the package's functions and the verbs of a model

CLASSES = uncertain.fit(TABLE, target="kind", method="gsu")
OF_NUMBERS = uncertain.fit(NUMBERS, target="y", method="gsu")


@cache
def chosen() -> uncertain.Model:
    return uncertain.fit(TABLE, target="kind")


VERBS: dict[str, Callable[[uncertain.Model, Any], object]] = {
    "predict": lambda m, t: m.predict(t),
    "predict_proba": lambda m, t: m.predict_proba(t),
    "predict_distribution": lambda m, t: m.predict_distribution(t),
    "predict_set": lambda m, t: m.predict_set(t),
    "predict_interval": lambda m, t: m.predict_interval(t),
    "predict_density": lambda m, t: m.predict_density(t),
    "predict_quantiles": lambda m, t: m.predict_quantiles(t),
    "score": lambda m, t: m.score(t),
    "report": lambda m, t: m.report(t, folds=2, repeats=1),
    "value_of_remeasuring": lambda m, t: m.value_of_remeasuring(t),
    "summary": lambda m, t: m.summary(t),
    "conf_int": lambda m, t: hasattr(m, "coef_std_") and m.conf_int(),
    "sample_posterior": lambda m, t: hasattr(m, "coef_std_") and m.sample_posterior(3),
    "labels": lambda m, t: m.labels(t),
    "gaussians": lambda m, t: m.gaussians(t),
    "save": lambda m, t: None,  # beside the others, with a path
    "to_onnx": lambda m, t: None,  # the same
}
MODELS: dict[str, tuple[Callable[[], uncertain.Model], pl.DataFrame]] = {
    "classes": (lambda: CLASSES, TABLE), "numbers": (lambda: OF_NUMBERS, NUMBERS), "choice": (chosen, TABLE)
}  # fmt: skip


def test_every_verb_of_a_model_is_called() -> None:
    public = {
        name
        for name, member in vars(uncertain.Model).items()
        if inspect.isfunction(member) and name[0] != "_"
    }
    assert public == {*VERBS}


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("kind", MODELS)
def test_verbs_of_models(kind: str, verb: str) -> None:
    model, table = MODELS[kind][0](), MODELS[kind][1]
    leaves_no_trace(lambda: VERBS[verb](model, table))
    leaves_no_trace(lambda: VERBS[verb](model, {"x": ["far", "off"]}))


def test_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for ending in ("parquet", "csv", "arrow"):
        {"parquet": TABLE.write_parquet, "csv": TABLE.write_csv, "arrow": TABLE.write_ipc}[ending](
            f"t.{ending}"
        )
        leaves_no_trace(lambda path=f"t.{ending}": CLASSES.predict(path))  # type: ignore[misc]
        leaves_no_trace(lambda path=f"t.{ending}": uncertain.fit(path, target="kind", method="gsu"))  # type: ignore[misc]
        Path(f"bad.{ending}").write_bytes(Path(f"t.{ending}").read_bytes()[:100])
        leaves_no_trace(lambda path=f"bad.{ending}": uncertain.fit(path, target="kind"))  # type: ignore[misc]
    leaves_no_trace(lambda: CLASSES.save("m.uncertain"))
    leaves_no_trace(lambda: CLASSES.save("no/such/folder/m.uncertain"))
    leaves_no_trace(lambda: uncertain.load("m.uncertain"))
    Path("half.uncertain").write_bytes(Path("m.uncertain").read_bytes()[:200])
    leaves_no_trace(lambda: uncertain.load("half.uncertain"))
    leaves_no_trace(lambda: uncertain.fit("t.parquet", target="kind", method="gsu", memory="200MB"))
    leaves_no_trace(lambda: uncertain.fit(TABLE, target="kind", method="huber", memory="200MB"))
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        [*(f"{name}.{end}" for name in ("t", "bad") for end in ("parquet", "csv", "arrow")), "m.uncertain",
         "half.uncertain"]
    )  # fmt: skip


FITS: dict[str, dict[str, Any]] = {
    "auto": {}, "fast": {"effort": "fast"}, "noise": {"noise": (1, 2)}, "two threads": {"n_jobs": 2},
    "told": {"verbose": 1}, "refused": {"alhpa": 1}, "unknown column": {"exact": ["no"]},
} | {
    f"{method} {meaning}": {"method": method, "meaning": meaning}
    for meaning, methods in (
        ("spread", ("gsu", "huber", "mixture", "usvc")),
        ("measurement", ("kernel", "discriminant", "remeasured", "minimax")),
    )
    for method in methods
}  # fmt: skip


@pytest.mark.parametrize("arguments", FITS)
def test_fits(arguments: str) -> None:
    leaves_no_trace(lambda: uncertain.fit(TABLE, target="kind", **FITS[arguments]))


def stopped(*_: object) -> None:
    raise KeyboardInterrupt


def test_a_fit_that_is_stopped_in_a_callback() -> None:
    def call() -> None:
        with pytest.raises(KeyboardInterrupt):
            uncertain.fit(TABLE, target="kind", callback=stopped)

    leaves_no_trace(call)


@pytest.mark.parametrize("subject", SUBJECTS, ids=str)
def test_estimators_and_transformers(subject: Subject) -> None:
    X = uncertain.GaussianArray(np.resize(POINTS, (N, 3)), std=0.2)
    leaves_no_trace(lambda: subject.answers(subject.fitted(X), X))
    leaves_no_trace(lambda: subject.made().fit(None, None))


def _plots() -> None:
    plot = pytest.importorskip("uncertain.plot")
    plt = pytest.importorskip("matplotlib.pyplot")
    try:
        plot.ReliabilityDisplay.from_estimator(CLASSES, TABLE)
        plot.GaussianDisplay.from_estimator(CLASSES, TABLE)
    finally:
        plt.close("all")


OTHERS: dict[str, Callable[[], object]] = {
    "check_errors": lambda: uncertain.check_errors(TABLE),
    "ErrorCheck": lambda: str(uncertain.check_errors(ROWS)),
    "Report": lambda: str(CLASSES.report(TABLE, folds=2, repeats=1)),
    "Columns": lambda: uncertain.Columns("kind", features=["x"], std="{}_err"),
    "GaussianArray": lambda: uncertain.GaussianArray(POINTS, cov=np.eye(2) * 0.1)[:3].sample(
        5, random_state=1
    ),
    "MixtureArray": lambda: uncertain.MixtureArray([0.5, 0.5], POINTS[:2], std=0.2, offsets=[0, 2]).sample(
        3, random_state=1
    ),
    "Incomplete": lambda: uncertain.Incomplete.from_arrays(np.where(POINTS > 0, POINTS, np.nan), std=STD),
    "AsGaussians": lambda: uncertain.AsGaussians().fit_transform(TABLE),
    "GaussianColumnTransformer": lambda: uncertain.GaussianColumnTransformer([]).fit(ROWS),
    "Model": lambda: str(chosen()),
    "fit": lambda: uncertain.fit(ROWS, target=KIND),
    "load": lambda: uncertain.load("no such file"),
    "UncertainError": lambda: uncertain.UncertainError("text"),
    "__version__": lambda: uncertain.__version__,
    "demo": lambda: None,  # it prints, and shows pictures: a program of its own
    "exceptions": lambda: [getattr(uncertain.exceptions, name) for name in uncertain.exceptions.__all__],
    "huber": lambda: uncertain.huber.AdaptiveHuberClassifier(random_state=0).fit(ROWS, KIND),
    "inspection": lambda: uncertain.inspection.permutation_importance(CLASSES, TABLE, n_repeats=2),
    "laws": lambda: [str(getattr(uncertain.laws, name)) for name in uncertain.laws.__all__],
    "kernels": lambda: uncertain.kernels.probabilistic_rbf(ROWS, ROWS),
    "losses": lambda: [str(getattr(uncertain.losses, name)) for name in uncertain.losses.__all__],
    "metrics": lambda: [str(getattr(uncertain.metrics, name)) for name in uncertain.metrics.__all__],
    "preprocessing": lambda: uncertain.preprocessing.GaussianScaler().fit_transform(ROWS),
    "uncertainty": lambda: uncertain.uncertainty.from_bounds([[0.0]], [[1.0]], value=[[0.5]]),
    "plot": _plots,
}


def test_every_public_name_is_called() -> None:
    kinds = {subject.kind.__name__ for subject in SUBJECTS}
    assert {*uncertain.__all__} <= {*OTHERS} | kinds


@pytest.mark.parametrize("name", OTHERS)
def test_everything_else(name: str) -> None:
    leaves_no_trace(OTHERS[name])
