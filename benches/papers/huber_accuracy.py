"""How exactly the stationarity condition of Huber regression holds at small alpha.

    python benches/papers/huber_accuracy.py [--quick]

The reference is the solution in extended precision (NumPy's longdouble: 80 bits on x86), and that rounded to
doubles: what no list of doubles can do better.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import page
from numpy.typing import NDArray

from uncertain import AdaptiveHuberRegressor

Floats = NDArray[np.float64]
Long = NDArray[np.longdouble]

N, FEATURES, GAMMA, GRAPH_GAMMA, NEIGHBORS = 200, 4, 0.2, 0.1, 10
STRENGTHS = [(manifold, alpha) for manifold in (0.0, 1e-2) for alpha in (1e-3, 1e-5, 1e-6, 1e-8)]


def laplacian(x: Floats) -> Long:
    """Of the joined k-nearest-neighbour graph with RBF weights, normalised, in extended precision."""
    squares = ((x[:, None] - x) ** 2).sum(axis=-1)
    np.fill_diagonal(squares, np.inf)
    near = np.argsort(squares, axis=1, kind="stable")[:, :NEIGHBORS]
    joined = np.zeros((N, N), dtype=bool)
    np.put_along_axis(joined, near, True, axis=1)
    exact = ((x[:, None].astype(np.longdouble) - x) ** 2).sum(axis=-1)
    weights = np.where(joined | joined.T, np.exp(-np.longdouble(GRAPH_GAMMA) * exact), 0)
    degrees = weights.sum(axis=1)
    return np.eye(N, dtype=np.longdouble) - weights / np.sqrt(np.outer(degrees, degrees))


def kernel_matrix(x: Floats, kernel: str) -> Long:
    """As doubles hold it."""
    exact = x.astype(np.longdouble)
    if kernel == "rbf":
        values = np.exp(-np.longdouble(GAMMA) * ((exact[:, None] - exact) ** 2).sum(axis=-1))
    else:
        values = (np.longdouble(GAMMA) * (exact @ exact.T) + 1) ** 3
    return values.astype(np.float64).astype(np.longdouble)


def exact_solution(k: Long, m: Long, y: Floats, alpha: float, manifold: float) -> Long:
    """Of 2 n alpha w + 2 n manifold M K w + K w = y, by refinement in extended precision."""
    eye = np.eye(N, dtype=np.longdouble)
    a = 2 * N * np.longdouble(alpha) * eye + 2 * N * np.longdouble(manifold) * (m @ k) + k
    inverse = np.linalg.inv(a.astype(np.float64))
    w = np.zeros(N, dtype=np.longdouble)
    for _ in range(60):
        w = w + inverse @ (y - a @ w).astype(np.float64)
    return w


def residuals(k: Long, m: Long, y: Floats, w: Long, alpha: float, manifold: float) -> tuple[float, float]:
    """Of equation (7) and of the gradient (K times it), relative to the norms of their terms."""
    f = k @ w
    terms = [(f - y) / N, 2 * np.longdouble(alpha) * w, 2 * np.longdouble(manifold) * (m @ f)]

    def norm(v: Any) -> float:
        return float(np.sqrt((v * v).sum()))

    gradient = [k @ term for term in terms]
    seven = norm(sum(terms)) / sum(map(norm, terms))
    return seven, norm(sum(gradient)) / sum(map(norm, gradient))


def main(argv: Sequence[str] | None = None) -> str:
    quick = page.options(__doc__ or "", argv).quick
    rng = np.random.default_rng(0)
    x = rng.normal(size=(N, FEATURES))
    y = np.sin(x[:, 0]) + 0.5 * x[:, 1] + 0.1 * rng.normal(size=N)
    rows = []
    for kernel in ("rbf",) if quick else ("rbf", "polynomial"):
        k = kernel_matrix(x, kernel)
        for manifold, alpha in STRENGTHS[::4] if quick else STRENGTHS:
            m = laplacian(x) if manifold else np.zeros((N, N), dtype=np.longdouble)
            model = AdaptiveHuberRegressor(
                alpha,
                manifold,
                kernel=kernel,
                gamma=GAMMA,
                graph="knn" if manifold else None,
                n_neighbors=NEIGHBORS,
                graph_gamma=GRAPH_GAMMA,
                max_refinements=0,
            ).fit(x, y)
            exact = exact_solution(k, m, y, alpha, manifold)
            ours = model.dual_coef_[0].astype(np.longdouble)
            rounded = exact.astype(np.float64).astype(np.longdouble)
            error = float(np.abs(ours - exact).max() / np.abs(exact).max())
            found = [residuals(k, m, y, w, alpha, manifold) for w in (ours, rounded)]
            numbers = [found[0][0], found[1][0], found[0][1], found[1][1], error]
            rows.append([f"{kernel}, {manifold:g}, {alpha:g}", *(f"{v:.0e}" for v in numbers)])
    head = [
        "kernel, graph, alpha",
        "(7), ours",
        "(7), rounded",
        "gradient, ours",
        "gradient, rounded",
        "w, ours",
    ]
    return page.update("adaptive-huber*.md", {"accuracy": page.table(head, rows)}, quick=quick)


if __name__ == "__main__":
    main()
