"""Where memory runs out, there is a MemoryError or an UncertainError, or the answer: the process goes on.

Rust ends the process where a small allocation fails; the extension's allocator has a reserve for that moment.
Two suites, over every public estimator and transformer: a library before the C library (shortage.c) lets the
n-th allocation of the extension fail and all that follow until the reserve is given back, for many n; and the
system refuses more memory than there is (RLIMIT_DATA), for several amounts that are left.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

HERE = Path(__file__).parent
MB = 1 << 20

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="LD_PRELOAD and the limits of Linux")


@pytest.fixture(scope="session")
def shortage(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("no C compiler")
    library = tmp_path_factory.mktemp("shortage") / "shortage.so"
    command = [compiler, "-shared", "-fPIC", "-O1", "-o", library, HERE / "shortage.c", "-ldl"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"not glibc: {done.stderr[-200:]}")
    return library


def run(name: str, subject: int, preload: Path | None = None) -> str:
    """One of the programs below, in a process of its own."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    if preload:
        environment["LD_PRELOAD"] = str(preload)
    done = subprocess.run(
        [sys.executable, __file__, name, str(subject)],
        capture_output=True, text=True, check=False, env=environment, timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, f"{done.returncode}: {done.stdout[-300:]} {done.stderr[-2000:]}"
    return done.stdout


def subjects() -> list[Any]:
    """One for each class: its own parameters do not matter here."""
    sys.path.insert(0, str(HERE))
    from everything import SUBJECTS

    found = {subject.kind: subject for subject in SUBJECTS}
    return list(found.values())


def is_ours(subject: Any) -> bool:
    """Is its work the extension's?"""
    from test_sklearn import OF_TABLES

    from uncertain._base.core import Core

    others = subject.kind in OF_TABLES or "estimator" in subject.made().get_params(deep=False)
    return issubclass(subject.kind, Core) and not others


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "subject" in metafunc.fixturenames:
        found = subjects()
        metafunc.parametrize("subject", range(len(found)), ids=[s.kind.__name__ for s in found])


def test_the_nth_allocation_fails(shortage: Path, subject: int) -> None:
    tried, failed = map(int, run("nth", subject, shortage).split())
    assert tried >= 25 and failed > 0


def test_little_is_left(subject: int) -> None:
    if not is_ours(subjects()[subject]):
        pytest.skip("NumPy's and scikit-learn's own memory: NumPy 2.4 crashes without any")
    assert "limits" in run("limits", subject)


def test_a_worker_without_memory_is_left_alone(shortage: Path) -> None:
    waited, worked = run("waits", 0, shortage).split()
    assert waited == "MemoryError" and worked == "works"


# -- the programs


def acts(subject: Any, n: int) -> Callable[[], object]:
    """A fit and a question."""
    from uncertain import GaussianArray

    rng = np.random.default_rng(0)
    x, std = rng.normal(size=(n, 3)), rng.uniform(0.1, 0.5, size=(n, 3))
    y = (np.arange(n) % 2) if not hasattr(subject.kind, "predict_quantiles") else x[:, 0]
    X = subject.given(GaussianArray(x, std=std))

    def act() -> object:
        model = subject.made(max_iter=50).fit(X, y)
        for ask in ("predict", "transform"):
            if hasattr(model, ask):
                return getattr(model, ask)(X)
        return model

    return act


def ends_in_order(act: Callable[[], object]) -> bool:
    """Did it raise what may be raised (or answer)?"""
    from uncertain import UncertainError

    try:
        act()
    except MemoryError as error:
        assert (
            str(error).startswith("out of memory") or "Unable to allocate" in str(error) or not str(error)
        ), error
        return True
    except UncertainError as error:
        assert "memory" in str(error), error
        return True
    return False


def nth(subject: int) -> None:
    library = ctypes.CDLL(os.environ["LD_PRELOAD"])
    library.short_arm.argtypes = [ctypes.c_long, ctypes.c_size_t, ctypes.c_size_t]
    act = acts(subjects()[subject], 60)
    act()
    assert library.short_of(b"_uncertain.abi3.so") == 1
    library.short_arm(1 << 60, 0, 0)
    act()
    whole = library.short_end()
    tried = {*range(1, 12), *np.geomspace(12, max(whole, 40), 25).astype(int).tolist()}
    failed = 0
    for n in sorted(tried):
        library.short_arm(n, 0, 2 * MB)
        ends_in_order(act)
        library.short_end()
        failed += library.short_failed() > 0
    act()  # and as if nothing had been
    sys.stdout.write(f"{len(tried)} {failed}")


def limits(subject: int) -> None:
    import resource

    # Enough rows for large allocations too, and few enough for what is cubic in them.
    act = acts(subjects()[subject], 1500)
    acts(subjects()[subject], 60)()
    with open("/proc/self/status") as status:
        data = next(int(line.split()[1]) for line in status if line.startswith("VmData")) << 10
    raised = 0
    for left in (0, 1, 4, 16, 64):
        resource.setrlimit(resource.RLIMIT_DATA, (data + left * MB, -1))
        raised += ends_in_order(act)
    resource.setrlimit(resource.RLIMIT_DATA, (-1, -1))
    act()
    sys.stdout.write(f"{raised} of 5 limits")


def waits(_: int) -> None:
    """Allocations of more than a megabyte fail although the reserve is there: nothing helps the worker."""
    from uncertain import GaussianArray, GaussianDenoiser

    library = ctypes.CDLL(os.environ["LD_PRELOAD"])
    library.short_arm.argtypes = [ctypes.c_long, ctypes.c_size_t, ctypes.c_size_t]
    rng = np.random.default_rng(0)
    X = GaussianArray(rng.normal(size=(60_000, 4)), std=0.1)
    GaussianDenoiser(n_jobs=1).fit(X[:100])
    assert library.short_of(b"_uncertain.abi3.so") == 1
    library.short_arm(1, 64 << 10, 0)
    raised = ""
    begun = time.monotonic()
    try:
        GaussianDenoiser(n_jobs=1).fit(X)
    except MemoryError as error:
        raised = type(error).__name__
    assert time.monotonic() - begun < 30
    library.short_end()
    time.sleep(0.3)
    GaussianDenoiser(n_jobs=1).fit(X[:1000])
    sys.stdout.write(f"{raised} works")


if __name__ == "__main__":
    {"nth": nth, "limits": limits, "waits": waits}[sys.argv[1]](int(sys.argv[2]))
