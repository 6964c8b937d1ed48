"""Two checkouts side by side: the same work in turns, in processes of their own.

    python benches/python/compare.py OTHER_CHECKOUT [--repeats 5] [--only gram]

Both need a built extension (`make install`). A row is the median over the repeats of the best of some
calls, in milliseconds, and this checkout's time as a multiple of the other's. Taking turns is what makes
the multiples mean something on a machine that others use too.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from uncertain import GaussianArray

HERE = Path(__file__).resolve().parents[2]
Job = tuple[str, Callable[[], object], int]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("other", type=Path, help="the checkout to compare with")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--only", default="", help="rows whose name contains this text")
    arguments = parser.parse_args()
    roots = {"other": arguments.other.resolve(), "this": HERE}
    found: dict[str, list[dict[str, float]]] = {name: [] for name in roots}
    for k in range(arguments.repeats):
        # Who begins changes from turn to turn: a machine that slows down favours the first.
        for name, root in sorted(roots.items(), reverse=k % 2 == 0):
            environment = {**os.environ, "PYTHONPATH": str(root / "python")}
            call = [sys.executable, str(Path(__file__).resolve()), "--measure", arguments.only]
            answer = subprocess.run(call, env=environment, capture_output=True, text=True, check=True)
            found[name].append(json.loads(answer.stdout))
    print("| | other, ms | this, ms | this / other |\n|---|---:|---:|---:|")
    for row in found["this"][0]:
        other, this = (1e3 * statistics.median(run[row] for run in found[name]) for name in ("other", "this"))
        print(f"| {row} | {other:.2f} | {this:.2f} | {this / other:.2f} |")


def measure(only: str) -> None:
    warnings.simplefilter("ignore")
    best = {}
    for name, call, times in jobs():
        if only in name:
            best[name] = min(seconds(call) for _ in range(times))
    print(json.dumps(best))


def seconds(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def jobs() -> Iterator[Job]:
    """Name, work and number of calls; public names only, so that older checkouts can run it."""
    import uncertain as u
    from uncertain.kernels import probabilistic_rbf

    sizes = {
        "zero": (100_000, 30),
        "isotropic": (100_000, 30),
        "diagonal": (200_000, 50),
        "low rank": (30_000, 30),
        "full": (20_000, 40),
        "shared": (50_000, 30),
    }
    for kind, (n, d) in sizes.items():
        x, y = rows(n, d, kind)
        yield f"GSU fit, {kind}", lambda x=x, y=y: u.GSUClassifier(random_state=0).fit(x, y), 3
        model = u.GSUClassifier(random_state=0).fit(x, y)
        yield f"decision_distribution, {kind}", lambda x=x, m=model: m.decision_distribution(x), 10
    x, y = rows(2000, 400, "diagonal")
    for solver in ("auto", "newton"):
        yield (
            f"GSU fit, 2000 x 400, {solver}",
            lambda x=x, y=y, s=solver: u.GSUClassifier(solver=s).fit(x, y),
            3,
        )
    for d, n in {2: 1500, 3: 1500, 4: 1500, 5: 1500, 10: 800, 30: 200}.items():
        (x, _), (z, _) = rows(n, d, "full"), rows(n, d, "full", seed=1)
        yield f"Gram, full, d = {d}", lambda x=x: probabilistic_rbf(x), 10
        yield f"Gram, full, d = {d}, rectangle", lambda x=x, z=z: probabilistic_rbf(x, z), 10
    x, y = rows(1500, 5, "diagonal")
    yield "Gram, diagonal, d = 5", lambda: probabilistic_rbf(x), 10
    yield "kernel SVC", lambda: u.ProbabilisticKernelSVC(tol=1e-6).fit(x, y), 3
    yield (
        "kernel SVC, 300 features",
        lambda: u.ProbabilisticKernelSVC(n_components=300, random_state=0).fit(x, y),
        3,
    )
    target = y + x.means[:, 0]
    yield "adaptive Huber", lambda: u.AdaptiveHuberRegressor().fit(x, target), 3
    yield "GSU, RBF kernel", lambda: u.GSUClassifier(kernel="rbf", random_state=0).fit(x[:800], y[:800]), 2
    full, _ = rows(20_000, 5, "full")
    yield "denoiser, full", lambda: u.GaussianDenoiser(n_components=2, random_state=0).fit(full), 3
    wide, classes = rows(50_000, 5, "diagonal")
    yield (
        "denoiser, diagonal",
        lambda: u.GaussianDenoiser(n_components=2, random_state=0).fit_transform(wide),
        3,
    )
    yield "discriminant", lambda: u.GaussianDiscriminant().fit(wide, classes), 3
    apart, sides = rows(3000, 10, "diagonal", apart=2.0)
    yield "USVC", lambda: u.RobustSVC().fit(apart, sides), 3
    many, labels = rows(100_000, 20, "diagonal")
    steps = {"solver": "sgd", "max_iter": 20_000, "random_state": 0}
    yield "GSU, 20,000 SGD steps", lambda: u.GSUClassifier(**steps).fit(many, labels), 2
    yield "GSU, probabilities", lambda: u.GSUClassifier(probability=True, random_state=0).fit(many, labels), 2
    numbers = many.means[:, 0] + labels
    yield "GSU regression", lambda: u.GSURegressor().fit(many, numbers), 3
    few, _ = rows(300, 60, "full")
    yield "subspaces", lambda: u.SubspaceProjector(variance=0.9).fit_transform(few), 3


def rows(n: int, d: int, kind: str, seed: int = 0, apart: float = 0.3) -> tuple[GaussianArray, np.ndarray]:
    """Gaussians of two classes whose means differ by `apart` in every feature."""
    from uncertain import GaussianArray

    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    x = rng.standard_normal((n, d)) + apart * y[:, None]
    match kind:
        case "isotropic":
            return GaussianArray(x, std=rng.uniform(0.1, 1.0, n)), y
        case "diagonal":
            return GaussianArray(x, std=rng.uniform(0.1, 1.0, (n, d))), y
        case "low rank":
            return GaussianArray(x, factor=0.3 * rng.standard_normal((n, d, 2))), y
        case "full":
            f = 0.2 * rng.standard_normal((n, d, d))
            return GaussianArray(x, cov=f @ f.transpose(0, 2, 1)), y
        case "shared":
            f = 0.2 * rng.standard_normal((d, d))
            return GaussianArray(x, cov=f @ f.T), y
    return GaussianArray(x), y


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        measure(sys.argv[2])
    else:
        main()
