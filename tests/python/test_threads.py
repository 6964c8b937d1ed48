"""Who decides on the number of threads: ``n_jobs``, the environment, threadpoolctl; and forks."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest
import threadpoolctl

from uncertain import GaussianArray
from uncertain._base import threads
from uncertain._uncertain import effective_n_jobs
from uncertain.exceptions import ParameterError
from uncertain.svm import GSUClassifier


def run(code: str, **environment: str) -> str:
    """What a fresh interpreter prints, in this environment."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def ours() -> list[dict[str, object]]:
    return [info for info in threadpoolctl.threadpool_info() if info["user_api"] == "uncertain"]


def test_threadpoolctl_sees_the_library_once() -> None:
    threads.register()
    assert len(ours()) == 1
    assert ours()[0]["num_threads"] == effective_n_jobs(None)


def test_threadpool_limits() -> None:
    before = effective_n_jobs(None)
    with threadpoolctl.threadpool_limits(1):
        assert effective_n_jobs(None) == 1
        assert effective_n_jobs(2) == 2, "an explicit n_jobs wins"
    assert effective_n_jobs(None) == before
    with threadpoolctl.threadpool_limits(1, user_api="blas"):
        assert effective_n_jobs(None) == before, "a limit for others is none of ours"


def test_n_jobs() -> None:
    assert effective_n_jobs(3) == 3
    assert effective_n_jobs(-1) >= 1
    assert effective_n_jobs(-(10**6)) == 1
    with pytest.raises(ParameterError, match="n_jobs = 0"):
        effective_n_jobs(0)


def test_environment() -> None:
    code = "from uncertain._uncertain import effective_n_jobs as n; print(n(None), n(3))"
    assert run(code, OMP_NUM_THREADS="1") == "1 3"
    assert run(code, UNCERTAIN_NUM_THREADS="1", OMP_NUM_THREADS="") == "1 3"
    assert run(code, OMP_NUM_THREADS="nonsense").endswith(" 3")


def test_the_fit_does_not_depend_on_the_number_of_threads() -> None:
    rng = np.random.default_rng(0)
    X = GaussianArray(rng.normal(size=(3000, 6)), std=rng.uniform(0.1, 1.0, size=(3000, 6)))
    y = X.means[:, 0] + rng.normal(size=3000) > 0
    fits = [GSUClassifier(n_jobs=n_jobs).fit(X, y) for n_jobs in (1, 2, 5)]
    for fit in fits[1:]:
        np.testing.assert_array_equal(fit.coef_, fits[0].coef_)
        np.testing.assert_array_equal(fit.intercept_, fits[0].intercept_)


FORK = """
    import multiprocessing, warnings
    import numpy as np
    from uncertain import GaussianArray
    from uncertain.svm import GSUClassifier

    rng = np.random.default_rng(0)
    X = GaussianArray(rng.normal(size=(3000, 4)), std=0.3)
    y = X.means[:, 0] > 0

    def fit(_):
        return GSUClassifier(n_jobs=2).fit(X, y).coef_.tolist()

    parent = fit(0)
    warnings.simplefilter("ignore")  # of fork beside threads, which is what is tested here
    with multiprocessing.get_context("fork").Pool(2) as pool:
        children = pool.map(fit, range(4))
    assert all(child == parent for child in children)
    print("same", fit(0) == parent)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no fork")
def test_fork_after_a_parallel_fit() -> None:
    assert run(FORK) == "same True"


def test_the_environment_names_the_instruction_set() -> None:
    code = """
        import numpy as np
        from uncertain import GSUClassifier
        from uncertain._uncertain import instruction_set
        X = np.random.default_rng(0).normal(size=(200, 5))
        print(instruction_set(), GSUClassifier().fit(X, X[:, 0] > 0).coef_[0, 0])
    """
    best, coef = run(code, UNCERTAIN_SIMD="").split()
    name, scalar = run(code, UNCERTAIN_SIMD="scalar").split()
    assert best in ("avx512", "avx2", "scalar") and name == "scalar"
    assert float(scalar) == pytest.approx(float(coef), rel=1e-3)
    wrong = """
        try:
            from uncertain import GSUClassifier
        except ValueError as error:
            print(error)
    """
    known = "scalar" if best == "scalar" else "avx2, scalar"
    message = run(wrong, UNCERTAIN_SIMD="mmx")
    assert message.startswith("UNCERTAIN_SIMD = mmx: must be one of those that this machine has: ")
    assert message.endswith(known)
