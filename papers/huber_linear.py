"""Tables II and III, Fig. 1 of the Huber paper on the printed problem.

    python papers/huber_linear.py [--quick]     (Table II and Fig. 1 need cvxpy)

y = beta'x, beta = (1/10, ..., 1/10), x uniform in [0, 1]^10, without and with normal noise of variance 0.1;
lambda = 1e-2, gamma = 1e-3, Delta = 0.1, T = 1, a linear kernel. Table III inverts the sign of some targets.
"""

import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import page
from numpy.typing import NDArray
from significance import difference, standard_error
from threadpoolctl import threadpool_limits

from uncertain import AdaptiveHuberRegressor

Floats = NDArray[np.float64]

D, DELTA, ALPHA, MANIFOLD = 10, 0.1, 1e-2, 1e-3
NEIGHBORS = 10
THRESHOLDS = tuple(10.0**k for k in range(-3, 4))
SIZES = {50: 10, 100: 10, 500: 5, 1000: 3}
"""Rows, and draws."""
PAPER_SECONDS = {50: (1.0, 0.1), 100: (1.9, 0.1), 500: (36.0, 3.4), 1000: (179.7, 18.1)}
"""Of CVX and of HLR."""
FLIPS = (1, 10, 25, 50, 75)
PAPER_DICE = (1.0, 1.0, 0.89, 0.67, 0.39)
PAPER_ERROR = (0.21, 0.23, 0.27, 0.75, 1.25)
FLIPPED_ROWS, REFINEMENTS = 500, 10
"""Not printed for Table III."""


@dataclass(frozen=True)
class Draw:
    x: Floats
    truth: Floats
    y: Floats
    flipped: NDArray[np.int64]

    def error(self, f: Floats) -> float:
        return float(np.linalg.norm(f - self.truth) / np.linalg.norm(self.truth))

    def dice(self, removed: NDArray[np.int64]) -> float:
        both = len(np.intersect1d(removed, self.flipped))
        return 2.0 * both / max(1, len(removed) + len(self.flipped))


def draw(n: int, seed: int, *, noise: float = 0.0, percent: int = 0) -> Draw:
    rng = np.random.default_rng([n, seed])
    x = rng.uniform(size=(n, D))
    truth = x.mean(axis=1)
    flipped = rng.choice(n, size=n * percent // 100, replace=False)
    y = truth + np.sqrt(noise) * rng.normal(size=n)
    y[flipped] *= -1.0
    return Draw(x, truth, y, flipped)


def model(**other: Any) -> AdaptiveHuberRegressor:
    given = {"kernel": "linear", "delta": DELTA, "n_neighbors": NEIGHBORS, "max_refinements": 1} | other
    strengths = given.pop("alpha", ALPHA), given.pop("manifold_alpha", MANIFOLD)
    return AdaptiveHuberRegressor(*strengths, fit_intercept=False, scale_features=False, **given)


def main(argv: Sequence[str] | None = None) -> str:
    quick = page.options(__doc__ or "", argv).quick
    sizes = {50: 2, 100: 2} if quick else SIZES
    seconds, errors, found = [], [], {}
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # CVXPY on inaccurate solutions of the problem in w
        work = [(noise, n) for noise in (0.0, 0.1) for n in sizes]
        for noise, n in page.progress(work, "HLR and CVXPY"):
            found[noise, n] = compare(n, sizes[n], noise)
            seconds.append(times(noise, n, found[noise, n]))
            errors.append(fluctuation(noise, n, found[noise, n]))
        flips, why = table_three(2 if quick else 20)
    head = ["rows", "paper: CVX", "CVXPY in w", "CVXPY in v"]
    head += ["paper: HLR", "ours", "paper: ratio", "in v / ours"]
    tables = {
        "linear-seconds": page.table(head, seconds),
        "linear-errors": page.table(
            ["rows", "HLR", "CVXPY, best xi", "which", "CVXPY, worst xi", "J / CVXPY's - 1"], errors
        ),
        "linear-flips": flips,
        "linear-why": why,
    }
    return page.report(tables)


def laplacian(x: Floats) -> Floats:
    """The graph of the estimator, by NumPy: nearest neighbours, weights exp(-d^2 / 2 m^2), normalised.

    m is the median length of the edges.
    """
    square = np.sum((x[:, None] - x) ** 2, axis=-1)
    np.fill_diagonal(square, np.inf)
    near = np.argsort(square, axis=1, kind="stable")[:, :NEIGHBORS]
    joined = np.zeros(square.shape, dtype=bool)
    np.put_along_axis(joined, near, True, axis=1)
    joined |= joined.T
    median = np.median(np.sqrt(square[np.triu(joined)]))
    weight = np.where(joined, np.exp(-np.where(joined, square, 0.0) / (2 * median**2)), 0.0)
    root = np.sqrt(weight.sum(axis=1))
    return np.eye(len(x)) - weight / np.outer(root, root)


def cvxpy(d: Draw, xi: float, *, in_w: bool) -> tuple[float, float, Floats | None]:
    """Processor seconds from x and y to f, J and f; in the coefficients w, or in v = X'w."""
    import cvxpy as cp

    n, k = d.x.shape
    start = time.process_time()
    graph = laplacian(d.x)
    f = cp.Variable(n)
    if in_w:
        kernel = d.x @ d.x.T
        w = cp.Variable(n)
        norm, image = cp.quad_form(w, cp.psd_wrap(kernel)), kernel @ w
    else:
        v = cp.Variable(k)
        norm, image = cp.sum_squares(v), d.x @ v
    loss = cp.sum(cp.huber(d.y - f, xi)) / (2 * n)
    penalty = ALPHA * norm + MANIFOLD * cp.quad_form(f, cp.psd_wrap(graph))
    task = cp.Problem(cp.Minimize(loss + penalty), [f == image])
    try:
        task.solve(solver=cp.CLARABEL)
    except cp.error.SolverError:
        return time.process_time() - start, np.nan, None
    return time.process_time() - start, float(task.value), np.asarray(f.value)


def compare(n: int, draws: int, noise: float) -> dict[str, Any]:
    """Errors and seconds of both on the same rows; CVXPY for every threshold."""
    out: dict[str, Any] = {"hlr": [], "seconds": [], "cvx": [], "theirs": [], "J": []}
    for seed in range(draws):
        d = draw(n, seed, noise=noise)
        refined = model()
        out["seconds"].append(page.cpu_seconds(lambda m=refined, d=d: m.fit(d.x, d.y), 1 if seed else 3))
        out["hlr"].append(d.error(refined.predict(d.x)))
        several = [cvxpy(d, xi, in_w=False) for xi in THRESHOLDS]
        out["cvx"].append([np.nan if f is None else d.error(f) for _, _, f in several])
        out["theirs"] += [seconds for seconds, _, _ in several]
        same = model(max_refinements=0, threshold=0.1).fit(d.x, d.y).objective_
        out["J"].append(same / several[THRESHOLDS.index(0.1)][1] - 1.0)
    out["in w"] = cvxpy(draw(n, 0, noise=noise), 0.1, in_w=True)
    return out


def name(noise: float, n: int) -> str:
    return f"{n}, {'noise of variance 0.1' if noise else 'without noise'}"


def times(noise: float, n: int, found: dict[str, Any]) -> list[str]:
    theirs, ours = np.array(found["theirs"]), float(np.min(found["seconds"]))
    cvx, hlr = PAPER_SECONDS[n]
    slow, _, f = found["in w"]
    in_w = f"{slow:.2f}" if f is not None else f"fails after {slow:.2f}"
    ratio = theirs.mean() / ours
    in_v = f"{theirs.mean():.3f} +- {theirs.std():.3f}"
    return [
        name(noise, n),
        f"{cvx:g}",
        in_w,
        in_v,
        f"{hlr:g}",
        f"{ours:.4f}",
        f"{cvx / hlr:.0f}",
        f"{ratio:.0f}",
    ]


def fluctuation(noise: float, n: int, found: dict[str, Any]) -> list[str]:
    hlr, cvx = 100 * np.array(found["hlr"]), 100 * np.nanmean(found["cvx"], axis=0)
    best = int(np.argmin(cvx))
    return [
        name(noise, n),
        f"{hlr.mean():.2f} +- {standard_error(hlr):.2f} %",
        f"{cvx[best]:.2f} %",
        f"{THRESHOLDS[best]:g}",
        f"{cvx.max():.2f} %",
        f"{max(found['J'], key=abs):+.0e}",
    ]


def flipped(draws: int, n: int = FLIPPED_ROWS, noise: float = 0.0, **other: Any) -> Floats:
    """(draws, levels, 2): Dice and error."""
    out = np.zeros((draws, len(FLIPS), 2))
    for seed in range(draws):
        for k, percent in enumerate(FLIPS):
            d = draw(n, seed, noise=noise, percent=percent)
            fitted = model(**({"max_refinements": REFINEMENTS} | other)).fit(d.x, d.y)
            out[seed, k] = d.dice(fitted.removed_), d.error(fitted.predict(d.x))
    return out


def table_three(draws: int) -> tuple[str, str]:
    found = flipped(draws)
    rows = []
    for k, percent in enumerate(FLIPS):
        cells: list[str] = []
        for j, paper in enumerate((PAPER_DICE[k], PAPER_ERROR[k])):
            values = found[:, k, j]
            cells += [f"{paper:g}", *difference(paper, values.mean(), standard_error(values), 3)]
        rows.append([f"{percent} %", *cells])
    head = ["flipped", "paper: Dice", "ours", "difference", "paper: error", "ours", "difference"]
    share = np.array(FLIPS) / 100
    ways: list[tuple[str, Any]] = [
        *((f"T = {t}", {"max_refinements": t}) for t in (1, 3, 5, 30)),
        *((f"{n} rows", {"n": n}) for n in (50, 100, 1000)),
        ("lambda / l, gamma / l", {"alpha": ALPHA / FLIPPED_ROWS, "manifold_alpha": MANIFOLD / FLIPPED_ROWS}),
        ("Laplacian not normalised", {"laplacian": "unnormalized"}),
        ("the same, all rows joined", {"laplacian": "unnormalized", "graph": "rbf"}),
        ("RBF kernel", {"kernel": "rbf"}),
        ("RBF kernel, narrow", {"kernel": "rbf", "gamma": 10.0}),
        ("noise of variance 0.1", {"noise": 0.1}),
        ("noise of variance 0.1, 100 rows", {"noise": 0.1, "n": 100}),
    ]
    why = [["paper", *(f"{a:g} / {b:g}" for a, b in zip(PAPER_DICE, PAPER_ERROR, strict=True))]]
    for label, other in ways:
        mean = flipped(max(2, draws // 4), **other).mean(axis=0)
        why.append([label, *(f"{a:.2f} / {b:.2f}" for a, b in mean)])
    why.append(["every label removed", *(f"{2 * p / (1 + p):.2f} / 1.00" for p in share)])
    why.append(["least squares on all labels", *(f"0.00 / {2 * p:.2f}" for p in share)])
    return page.table(head, rows), page.table(["Dice / error", *(f"{p} %" for p in FLIPS)], why)


if __name__ == "__main__":
    main()
