"""Ctrl-C ends a fit, and other threads run beside it."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import pytest

ALLOWED = 1.0
"""Seconds. The goal is 0.2, which a busy CI machine cannot promise."""

SETUP = """
    import os, signal, threading, time, warnings
    import numpy as np
    from uncertain import GaussianArray
    from uncertain import AdaptiveHuberRegressor
    from uncertain.svm import GSUClassifier

    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    X = GaussianArray(rng.normal(size=(60_000, 30)), std=rng.uniform(0.1, 2.0, size=(60_000, 30)))
    y = X.means @ rng.normal(size=30) + 4 * rng.normal(size=60_000) > 0
"""


def run(code: str) -> str:
    """What a fresh interpreter prints."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(SETUP) + textwrap.dedent(code)],
        env=dict(os.environ),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize(
    "model",
    [
        "GSUClassifier(solver='sgd', max_iter=10**9, random_state=0)",
        "GSUClassifier(1e-9, solver='lbfgs', tol=1e-15, max_iter=10**9)",
        "GSUClassifier(1e-9, tol=1e-15, probability=True)",
        "AdaptiveHuberRegressor()",
        "GSUClassifier(solver='sgd', max_iter=10**9, callback=lambda progress: None, random_state=0)",
    ],
)
@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent in another way")
@pytest.mark.parametrize("data", ["X", "X.means"], ids=["Gaussians", "points"])
def test_ctrl_c(model: str, data: str) -> None:
    # Fits that happen to end are started again: the signal then still hits the middle of one.
    code = f"""
        sent = []
        def press():
            sent.append(time.monotonic())
            os.kill(os.getpid(), signal.SIGINT)
        threading.Timer(0.4, press).start()
        fits = 0
        try:
            while fits < 1000:
                {model}.fit({data}, y)
                fits += 1
        except KeyboardInterrupt:
            print(time.monotonic() - sent[0], fits)
    """
    delay, fits = run(code).split()
    assert float(delay) < ALLOWED, f"{1000 * float(delay):.0f} ms after Ctrl-C, {fits} fits before it"


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent in another way")
@pytest.mark.parametrize(("n", "d"), [(6000, 12), (1500, 40), (300, 120)])
def test_ctrl_c_in_a_gram_matrix(n: int, d: int) -> None:
    # Seconds of work, the roots of the covariances first.
    code = f"""
        from uncertain import kernels
        X = GaussianArray(rng.normal(size=({n}, {d})), factor=rng.normal(size=({n}, {d}, 1)))
        sent = []
        def press():
            sent.append(time.monotonic())
            os.kill(os.getpid(), signal.SIGINT)
        threading.Timer(0.2, press).start()
        try:
            while True:
                kernels.probabilistic_rbf(X, sigma=2.0)
        except KeyboardInterrupt:
            print(time.monotonic() - sent[0])
    """
    delay = float(run(code))
    assert delay < ALLOWED, f"{1000 * delay:.0f} ms after Ctrl-C"


def test_other_threads_run_during_a_fit() -> None:
    code = """
        ticks = []
        done = threading.Event()
        def tick():
            while not done.is_set():
                ticks.append(time.monotonic())
                time.sleep(0.001)
        clock = threading.Thread(target=tick)
        clock.start()
        start = time.monotonic()
        GSUClassifier(solver="sgd", max_iter=2_000, batch_size=500, n_jobs=1, random_state=0).fit(X, y)
        end = time.monotonic()
        done.set()
        clock.join()
        print(end - start, sum(start < t < end for t in ticks))
    """
    seconds, ticks = run(code).split()
    assert float(ticks) > 50 * float(seconds)


def test_fits_in_several_threads() -> None:
    code = """
        from concurrent.futures import ThreadPoolExecutor
        X, y = X[:2000], y[:2000]
        fit = lambda _: GSUClassifier().fit(X, y).coef_.tolist()
        with ThreadPoolExecutor(4) as pool:
            print(all(coef == fit(0) for coef in pool.map(fit, range(8))))
    """
    assert run(code) == "True"


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent in another way")
@pytest.mark.parametrize(
    "call",
    [
        "GaussianArray(np.zeros((1, 2500)), precision=wide(2500)[None])",
        "GaussianArray(np.zeros((1, 2500)), cov=wide(2500)[None]).sample(5)",
        "uncertain.KernelMap(max_rank=300).fit(GaussianArray(rng.normal(size=(40, 1200)), cov=wide(1200)))",
        "uncertain.ProbabilisticKernelFeatures(2500, approximation='nystroem').fit(X.means[:2500, :3])",
        "uncertain.SubspaceProjector().fit(GaussianArray(rng.normal(size=(3, 900)), cov=wide(900)))",
        "uncertain.GaussianDiscriminant().fit(GaussianArray(rng.normal(size=(900, 400)), std=0.1), many)",
        "uncertain.MinimaxProbabilityClassifier().fit(GaussianArray(tall, std=0.1), many)",
        "GSUClassifier(solver='sgd', batch_size=10**8, max_iter=10**6, random_state=0).fit(X, y)",
        "uncertain.RobustSVC(solver='clarabel', tol=1e-12).fit(X[:5000], y[:5000])",
        "pickle.loads(pickle.dumps(GaussianArray(np.ones((10**6, 10)), std=np.ones((10**6, 10)))))",
        "GaussianArray(np.ones((60_000, 30)), std=1.0).covariances()",
    ],
    ids=[
        "precision",
        "sample",
        "map",
        "landmarks",
        "subspace",
        "discriminant",
        "minimax",
        "batch",
        "clarabel",
        "pickle",
        "dense",
    ],
)
def test_ctrl_c_where_there_is_much_to_do(call: str) -> None:
    # Inside one call of the linear algebra library nobody looks at a flag: the worker is left alone.
    code = f"""
        import pickle
        import uncertain
        many, tall = np.arange(900) % 2, rng.normal(size=(900, 1200))
        def wide(d):
            a = rng.normal(size=(d, 20))
            return a @ a.T + np.eye(d)
        sent = []
        def press():
            sent.append(time.monotonic())
            os.kill(os.getpid(), signal.SIGINT)
        first = wide(2)
        timer = threading.Timer(0.7, press)
        timer.start()
        try:
            while True:
                {call}
        except KeyboardInterrupt:
            print(time.monotonic() - sent[0], flush=True)
            os._exit(0)
    """
    delay = float(run(code))
    assert delay < ALLOWED, f"{1000 * delay:.0f} ms after Ctrl-C"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc")
def test_a_worker_ends_inside_of_a_batch() -> None:
    code = """
        import glob
        threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        try:
            GSUClassifier(solver="sgd", batch_size=10**9, random_state=0).fit(X, y)
        except KeyboardInterrupt:
            pass
        def workers():
            return [c for c in glob.glob("/proc/self/task/*/comm") if "uncertain-call" in open(c).read()]
        end = time.monotonic() + 10
        while workers() and time.monotonic() < end:
            time.sleep(0.05)
        print(len(workers()))
    """
    assert run(code) == "0"
