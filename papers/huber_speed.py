"""The sizes of Table II of the Huber paper on harder problems.

    python papers/huber_speed.py [--quick]     (needs cvxpy)
    python papers/huber_speed.py --rows 20000 --labels 500     (one fit of a size, prints one line)

Everything but the second form runs on one thread; times are processor seconds, so that other processes do not
count.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import page
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from uncertain import AdaptiveHuberRegressor

Floats = NDArray[np.float64]

CASES = {
    "exact, 2 features": (50, 100, 500, 1000),
    "noisy, 2 features": (50, 100, 500, 1000),
    "noisy, 10 features": (500, 1000),
}
"""In two features the kernel matrix has a numerical rank of a few dozen; in ten it has full rank."""
PAPER = {50: "0.1 / 1.0", 100: "0.1 / 1.9", 500: "3.4 / 36.0", 1000: "18.1 / 179.7"}
"""Seconds of HLR and of CVX in the paper, on a linear problem: `huber_linear` has that one."""

XI, DELTA = 0.3, 0.1
NEIGHBORS = 10


@dataclass(frozen=True)
class Problem:
    """y = sin(3 x_1) + x_2 on a cube; with noise, 0.1 of normal noise and a tenth of the signs flipped."""

    x: Floats
    truth: Floats
    y: Floats

    @property
    def alphas(self) -> tuple[float, float]:
        """lambda and gamma of the paper."""
        return 1e-2 / len(self.y), 1e-3 / len(self.y)

    @property
    def kernel_gamma(self) -> float:
        return 2.0 / self.x.shape[1]

    def weights(self) -> Floats:
        """exp(-gamma distance^2), the kernel matrix and the weights of the graph."""
        return np.exp(-self.kernel_gamma * np.sum((self.x[:, None] - self.x) ** 2, axis=-1))

    def model(self, **keywords: Any) -> AdaptiveHuberRegressor:
        alpha, manifold_alpha = self.alphas
        return AdaptiveHuberRegressor(
            alpha,
            manifold_alpha,
            delta=DELTA,
            kernel="rbf",
            gamma=self.kernel_gamma,
            n_neighbors=NEIGHBORS,
            graph_gamma=self.kernel_gamma,
            fit_intercept=False,
            **keywords,
        )

    def error(self, f: Floats) -> float:
        return float(np.linalg.norm(f - self.truth) / np.linalg.norm(self.truth))


def problem(n: int, case: str) -> Problem:
    rng = np.random.default_rng(n)
    x = rng.uniform(-1.0, 1.0, size=(n, int(case.split()[1])))
    truth = np.sin(3.0 * x[:, 0]) + x[:, 1]
    if case.startswith("exact"):
        return Problem(x, truth, truth)
    signs = np.where(rng.random(n) < 0.1, -1.0, 1.0)
    return Problem(x, truth, signs * truth + 0.1 * rng.normal(size=n))


def laplacian(p: Problem) -> Floats:
    """The graph of the estimator, by NumPy: k nearest neighbours, RBF weights, symmetric normalisation."""
    weight = p.weights()
    np.fill_diagonal(weight, 0.0)
    near = np.argsort(-weight, axis=1, kind="stable")[:, :NEIGHBORS]
    kept = np.zeros_like(weight)
    np.put_along_axis(kept, near, np.take_along_axis(weight, near, axis=1), axis=1)
    kept = np.maximum(kept, kept.T)
    root = np.sqrt(kept.sum(axis=1))
    return np.eye(len(weight)) - kept / np.outer(root, root)


def cvxpy(p: Problem, *, square_root: bool) -> tuple[str, float, Floats | None]:
    """Seconds from x and y to f, J and f for the threshold XI: in the coefficients w, or in v = K^(1/2) w.

    In w it is the paper's problem as one writes it down. All is counted that is counted of ours: kernel
    matrix, graph, square root, compilation by CVXPY, and Clarabel.
    """
    import cvxpy as cp

    n = len(p.y)
    alpha, manifold_alpha = p.alphas
    start = time.process_time()
    kernel, graph = p.weights(), laplacian(p)
    w = cp.Variable(n)
    if square_root:
        values, vectors = np.linalg.eigh(kernel)
        root = vectors * np.sqrt(np.maximum(values, 0.0))
        norm, image = cp.sum_squares(w), root @ w
    else:
        norm, image = cp.quad_form(w, cp.psd_wrap(kernel)), kernel @ w
    f = cp.Variable(n)
    loss = cp.sum(cp.huber(p.y - f, XI)) / 2
    penalty = n * alpha * norm + n * manifold_alpha * cp.quad_form(f, cp.psd_wrap(graph))
    # f is a name for the image: without it the graph's sparse matrix becomes a dense one, and all is slower.
    task = cp.Problem(cp.Minimize(loss + penalty), [f == image])
    try:
        task.solve(solver=cp.CLARABEL)
    except cp.error.SolverError:
        return f"fails after {time.process_time() - start:.2g}", np.nan, None
    return f"{time.process_time() - start:.3g}", float(task.value) / n, np.asarray(f.value)


def dense_solve(n: int) -> float:
    """Seconds of one NumPy solve of that size with as many right-hand sides."""
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(n, n)) + n * np.eye(n), rng.normal(size=(n, n))
    return page.cpu_seconds(lambda: np.linalg.solve(a, b))


def fitting(p: Problem, **keywords: Any) -> tuple[float, AdaptiveHuberRegressor]:
    model = p.model(**keywords)
    fit: Callable[[], object] = lambda: model.fit(p.x, p.y)  # noqa: E731
    return page.cpu_seconds(fit), model


def main(argv: Sequence[str] | None = None) -> str:
    quick = page.options(__doc__ or "", argv).quick
    times = []
    with threadpool_limits(1):
        for case, sizes in CASES.items():
            times += [compare(n, case) for n in (sizes if not quick else (50, 100))]
    head = ["rows", "paper: HLR / CVX", "CVXPY in w", "CVXPY in v", "ours, same problem", "in v / ours"]
    head += ["ours, one refinement", "ours, ten refinements", "one dense solve"]
    return page.report({"speed": page.table(head, times)})


def compare(n: int, case: str) -> list[str]:
    p = problem(n, case)
    plain, _, _ = cvxpy(p, square_root=False)
    theirs, _, f = cvxpy(p, square_root=True)
    same, _ = fitting(p, max_refinements=0, threshold=XI)
    one, _ = fitting(p, max_refinements=1)
    ten, _ = fitting(p, max_refinements=10)
    seconds = [f"{t:.3g}" for t in (one, ten, dense_solve(n))]
    ratio = f"{float(theirs) / same:.0f}" if f is not None else ""
    return [f"{n}, {case}", PAPER[n], plain, theirs, f"{same:.3g}", ratio, *seconds]


if __name__ == "__main__":
    main()
