"""Ctrl-C ends a fit, and other threads run beside it."""

import json
import sys
from textwrap import dedent

import children
import pytest

ALLOWED = 1.0
"""Seconds of processor time after Ctrl-C, which a busy machine does not lengthen; the goal is 0.2."""

SETUP = """
    import json, os, pickle, signal, sys, threading, time, warnings
    import numpy as np
    import uncertain
    from uncertain import AdaptiveHuberRegressor, GaussianArray, GSUClassifier, kernels

    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    X = GaussianArray(rng.normal(size=(60_000, 30)), std=rng.uniform(0.1, 2.0, size=(60_000, 30)))
    y = X.means @ rng.normal(size=30) + 4 * rng.normal(size=60_000) > 0
    many, tall = np.arange(900) % 2, rng.normal(size=(900, 1200))

    def wide(d):
        a = rng.normal(size=(d, 20))
        return a @ a.T + np.eye(d)

    def low_rank(n, d):
        return GaussianArray(rng.normal(size=(n, d)), factor=rng.normal(size=(n, d, 1)))
"""

# Fits that end are started again: the signal then still hits the middle of one.
INTERRUPTED = """
    def delay(call, seconds):
        sent, over = [], threading.Event()
        def press():
            # Again, should Python lose one: in an import or a destructor, where a busy machine may be.
            while not sent or not over.wait(float(sys.argv[3])):
                sent.append(time.process_time())
                os.kill(os.getpid(), signal.SIGINT)
        threading.Timer(seconds, press).start()
        try:
            while True:
                exec(call)
        except KeyboardInterrupt:
            over.set()
            return time.process_time() - sent[-1]

    for call in json.loads(sys.argv[1]):
        # Each call in a process of its own: a worker that is left alone inside of a library goes on
        # working, and its time would count as that of the next call.
        if not (child := os.fork()):
            print(json.dumps([call, delay(compile(call, "<call>", "exec"), float(sys.argv[2]))]), flush=True)
            os._exit(0)
        os.waitpid(child, 0)
"""


def run(code: str, *arguments: object) -> str:
    """What a process prints in which nothing else happens."""
    return children.printed(dedent(SETUP) + dedent(code), *arguments)


LOOPS = [
    f"{model}.fit({data}, y)"
    for data in ("X", "X.means")
    for model in (
        "GSUClassifier(solver='sgd', max_iter=10**9, random_state=0)",
        "GSUClassifier(1e-9, solver='lbfgs', tol=1e-15, max_iter=10**9)",
        "GSUClassifier(1e-9, tol=1e-15, probability=True)",
        "AdaptiveHuberRegressor()",
        "GSUClassifier(solver='sgd', max_iter=10**9, callback=lambda progress: None, random_state=0)",
    )
] + ["GSUClassifier(1e-9, loss='hinge', tol=1e-15, max_iter=10**9).fit(tall, many)"]
# Fits on threads, of the core and of scikit-learn.
CHOICE = "uncertain.fit(X[:4000], y[:4000], n_jobs=3)"
# Seconds of work, the roots of the covariances first.
GRAM = [
    f"A = low_rank({n}, {d})\nwhile True: kernels.probabilistic_rbf(A, sigma=2.0)"
    for n, d in ((6000, 12), (1500, 40), (300, 120))
]
# Inside one call of the linear algebra library nobody looks at a flag: the worker is left alone.
ONE_CALL = [
    "GaussianArray(np.zeros((1, 2500)), precision=wide(2500)[None])",
    "GaussianArray(np.zeros((1, 2500)), cov=wide(2500)[None]).sample(5)",
    "uncertain.KernelMap(max_rank=300).fit(GaussianArray(rng.normal(size=(40, 1200)), cov=wide(1200)))",
    "uncertain.SubspaceProjector().fit(GaussianArray(rng.normal(size=(3, 900)), cov=wide(900)))",
    "uncertain.GaussianDiscriminant().fit(GaussianArray(rng.normal(size=(900, 400)), std=0.1), many)",
    "uncertain.MinimaxProbabilityClassifier().fit(GaussianArray(tall, std=0.1), many)",
    "GSUClassifier(solver='sgd', batch_size=10**8, max_iter=10**6, random_state=0).fit(X, y)",
    "pickle.loads(pickle.dumps(GaussianArray(np.ones((10**6, 10)), std=np.ones((10**6, 10)))))",
    "GaussianArray(np.ones((60_000, 30)), std=1.0).covariances()",
]


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent in another way")
@pytest.mark.parametrize(
    ("calls", "seconds", "again"),
    [
        (LOOPS + GRAM, 0.25, 5.0),
        (ONE_CALL, 0.5, 5.0),
        ([CHOICE], 2.0, 60.0),
    ],  # a second one would end the wait
    ids=["loops", "one call", "choice"],
)
def test_ctrl_c(calls: list[str], seconds: float, again: float) -> None:
    delays = [json.loads(line) for line in run(INTERRUPTED, json.dumps(calls), seconds, again).splitlines()]
    assert [call for call, _ in delays] == calls
    assert not [f"{delay:.2f} s after Ctrl-C: {call}" for call, delay in delays if delay >= ALLOWED]


def test_other_threads_run_during_a_fit() -> None:
    code = """
        ticks = []
        over = threading.Event()
        def tick():
            while not over.is_set():
                ticks.append(time.monotonic())
                time.sleep(0.001)
        clock = threading.Thread(target=tick)
        clock.start()
        start = time.monotonic()
        GSUClassifier(solver="sgd", max_iter=2_000, batch_size=500, n_jobs=1, random_state=0).fit(X, y)
        end = time.monotonic()
        over.set()
        clock.join()
        print(sum(start < t < end for t in ticks))
    """
    assert int(run(code)) > 20  # hundreds, where nothing else runs; one or two, if the fit held the others up


def test_fits_in_several_threads() -> None:
    code = """
        from concurrent.futures import ThreadPoolExecutor
        X, y = X[:2000], y[:2000]
        fit = lambda _: GSUClassifier().fit(X, y).coef_.tolist()
        with ThreadPoolExecutor(4) as pool:
            print(all(coef == fit(0) for coef in pool.map(fit, range(8))))
    """
    assert run(code) == "True"


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
        end = time.monotonic() + 100
        while workers() and time.monotonic() < end:
            time.sleep(0.05)
        print(len(workers()))
    """
    assert run(code) == "0"
