"""Large allocations that the system refuses are an OutOfMemoryError with their size; the process goes on.

Each call runs in a fork of its own under a hard limit of address space (RLIMIT_AS) that leaves less than
it needs in one piece. Small allocations do not ask.
"""

import json
import sys

import children
import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="address space is limited in another way")

PROGRAM = """
import json
import os
import resource
import sys
import numpy as np
import uncertain
from uncertain import GaussianArray, exceptions

rng = np.random.default_rng(0)
points = rng.normal(size=(9000, 2))
noisy = GaussianArray(rng.normal(size=(40_000, 3)), std=0.1)
many = rng.normal(size=(9000, 30))
wide = GaussianArray(rng.normal(size=(1000, 300)), std=0.1)
few = uncertain.GSUClassifier(n_jobs=2).fit(points[:50], np.arange(50) % 2)
for call, megabytes in json.loads(sys.argv[1]):
    child = os.fork()
    if child:
        assert os.waitpid(child, 0)[1] == 0, call
        continue
    held = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (held + megabytes * 10**6,) * 2)
    try:
        eval(call)
    except uncertain.UncertainError as error:
        assert isinstance(error, MemoryError) and isinstance(error, exceptions.OutOfMemoryError), repr(error)
        print(error, flush=True)
    assert few.predict(points).shape == (9000,)
    os._exit(0)
"""

CALLS = {
    "rows": ("wide[np.zeros(400_000, dtype=np.int64)]", 500),
    "covariances": ("wide.covariances()", 300),
    "draws": ("noisy.sample(2000, random_state=0)", 400),
    "gram": ("uncertain.kernels.probabilistic_rbf(noisy[:20_000], max_bytes=2**40)", 500),
    "map": ("uncertain.KernelMap(max_rank=8000, tol=1e-12).fit(noisy)", 200),
    "huber": ("uncertain.AdaptiveHuberRegressor(graph=None, max_bytes=2**40).fit(many, many[:, 0])", 400),
}


def test_large_allocations_that_fail_are_errors() -> None:
    said = children.printed(PROGRAM, json.dumps(list(CALLS.values())))
    assert said.count("no memory for") == len(CALLS) == len(said.splitlines()), said
