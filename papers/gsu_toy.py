"""Figures 3-4 of the SVM-GSU paper: sampling from the rows approaches SVM-GSU.

    python papers/gsu_toy.py [--quick]

An ordinary linear SVM is fitted to N points drawn from every row, with the same alpha. Its objective is a
Monte Carlo estimate of SVM-GSU's, so that its minimum is an M-estimator: asymptotically normal around the
minimum (w, b) of J with covariance

    H^-1 G H^-1 / (l N),    H = Hessian of J at (w, b),    G = (1/l) sum_i Cov(gradient of the hinge, row i)

and the angle between the normals decays as N^-1/2. `predicted_angle` computes the constant from the formula.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import page
from numpy.typing import NDArray
from scipy import stats
from significance import difference, standard_error

from uncertain import GaussianArray, GSUClassifier

Floats = NDArray[np.float64]

ALPHA = 0.01
PAPER = {"2-D": (1_000, 1.7), "3-D": (50_000, 1.7)}
"""Points per row, and the angle in degrees that the text gives for them."""
TAIL = 16
"""The slope is fitted to numbers of samples from here on; below, asymptotics do not hold yet."""


def main(argv: Sequence[str] | None = None) -> str:
    quick = page.options(__doc__ or "", argv).quick
    counts = [2**k for k in ((0, 3, 6, 8) if quick else range(13))]
    repeats = 4 if quick else 30
    toys = {"2-D": flat(0), "3-D": solid(0)}
    results, rows, slopes = {}, [], []
    steps = page.progress([(name, n) for name in toys for n in counts], "toy")
    for name, n in steps:
        data, y = toys[name]
        exact = GSUClassifier(ALPHA, n_jobs=1).fit(data, y)
        angles = [angle(sampled(data, y, n, seed).coef_[0], exact.coef_[0]) for seed in range(repeats)]
        results.setdefault(name, []).append(angles)
    for name, (data, y) in toys.items():
        exact = GSUClassifier(ALPHA, n_jobs=1).fit(data, y)
        constant = predicted_angle(exact, data, y)
        angles = np.array(results[name])
        means_only = angle(GSUClassifier(ALPHA).fit(data.collapse("zero"), y).coef_[0], exact.coef_[0])
        rows += [[name, "means only", f"{means_only:.2f}", "", ""]]
        for n, values in zip(counts, angles, strict=True):
            rms = float(np.sqrt(np.mean(values**2)))
            cells = [f"{np.median(values):.3f}", f"{rms:.3f}", f"{constant / np.sqrt(n):.3f}"]
            rows.append([name, str(n), *cells])
        slope, error = decay(counts, angles)
        slopes.append([name, f"{slope:.3f} +- {error:.3f}", "-0.5", f"{constant:.2f}"])
        results[name] = (angles, constant, means_only)
    head = ["toy", "samples per row", "median angle, degrees", "root mean square", "formula"]
    tables = {
        "printed": printed(toys, *((2, 2_000) if quick else (20, 50_000))),
        "constants": constants(2 if quick else 12),
        "solver": solver(toys["2-D"], 2 if quick else 12),
        "decay": page.table(["toy", "fitted exponent", "theory", "predicted rms at N = 1, degrees"], slopes),
        "angles": page.table(head, rows, numbers=2),
    }
    return page.report(tables)


def flat(seed: int, per_class: int = 20) -> tuple[GaussianArray, NDArray[np.int64]]:
    """Two classes in the plane; the ellipses of one lie across those of the other."""
    rng = np.random.default_rng(seed)
    y = np.repeat([-1, 1], per_class)
    means = rng.normal(size=(2 * per_class, 2)) * 0.8 + np.where(y[:, None] > 0, [1.3, 0.6], [-1.3, -0.6])
    turn = np.where(y > 0, np.pi / 2, 0.2) + 0.3 * rng.normal(size=len(y))
    lengths = rng.uniform(0.6, 1.0, size=(len(y), 2)) * [1.6, 0.4]
    axes = np.stack([np.cos(turn), -np.sin(turn), np.sin(turn), np.cos(turn)], axis=1).reshape(-1, 2, 2)
    return GaussianArray(means, factor=axes * lengths[:, None, :]), y


def solid(seed: int, per_class: int = 20) -> tuple[GaussianArray, NDArray[np.int64]]:
    """Two classes in space, each row with a full covariance of its own."""
    rng = np.random.default_rng([seed, 3])
    y = np.repeat([-1, 1], per_class)
    means = 0.8 * rng.normal(size=(2 * per_class, 3)) + 1.1 * y[:, None] * [1.0, 0.6, 0.0]
    lengths = np.where(y[:, None] > 0, [0.3, 1.2, 1.0], [1.3, 0.3, 0.5])
    factor = rng.normal(size=(len(y), 3, 3)) * 0.25 + np.eye(3) * lengths[:, None, :]
    return GaussianArray(means, cov=factor @ factor.transpose(0, 2, 1)), y


def printed(toys: dict[str, Any], repeats: int, most: int) -> str:
    """The two angles of the text, with at most so many points per row."""
    rows = []
    for name, (n, paper) in PAPER.items():
        data, y = toys[name]
        exact, n = GSUClassifier(ALPHA, n_jobs=1).fit(data, y), min(n, most)
        draws = max(2, repeats * 1_000 // n)
        angles = np.array(
            [angle(sampled(data, y, n, seed).coef_[0], exact.coef_[0]) for seed in range(draws)]
        )
        cells = difference(paper, float(angles.mean()), standard_error(angles), 2)
        needed = (predicted_angle(exact, data, y) / paper) ** 2
        rows.append([name, f"{n}", f"{paper:g}", *cells, f"{needed:.0f}"])
    return page.table(
        ["toy", "points per row", "paper", "ours", "difference", "points for 1.7 degrees"], rows
    )


def constants(toys: int) -> str:
    """Points per row for 1.7 degrees on other toys, by the formula: median and range."""
    rows = []
    for alpha in (1e-4, 1e-2, 1.0):
        cells = []
        for d in (2, 3, 10, 30):
            needed = []
            for seed in range(toys):
                data, y = other(d, seed)
                exact = GSUClassifier(alpha, n_jobs=1).fit(data, y)
                needed.append((predicted_angle(exact, data, y, 1_000) / 1.7) ** 2)
            cells.append(f"{np.median(needed):.3g} ({min(needed):.2g} to {max(needed):.2g})")
        rows.append([f"{alpha:g}", *cells])
    return page.table(["alpha", "2-D", "3-D", "10-D", "30-D"], rows)


def other(d: int, seed: int) -> tuple[GaussianArray, NDArray[np.int64]]:
    """Two classes of 20 rows around opposite means, every row with a random covariance."""
    rng = np.random.default_rng([seed, d])
    y = np.repeat([-1, 1], 20)
    across = rng.normal(size=d)
    means = rng.normal(size=(40, d)) + 1.2 * y[:, None] * across / np.linalg.norm(across)
    roots = rng.normal(size=(40, d, d)) * np.sqrt(rng.uniform(0.1, 1.0, size=(40, 1, 1)) / d)
    return GaussianArray(means, cov=roots @ roots.transpose(0, 2, 1)), y


def solver(toy: tuple[GaussianArray, Any], repeats: int) -> str:
    """How far algorithm 1 ends from the minimum of the very problem it is given, without any sampling."""
    data, y = toy
    exact = GSUClassifier(ALPHA, n_jobs=1).fit(data, y)
    literal: dict[str, Any] = {"solver": "sgd", "step_offset": 0.0, "averaging": False, "batch_size": 1}
    rows = []
    for steps in (1_000, 10_000, 100_000):
        fits = [
            GSUClassifier(ALPHA, max_iter=steps, random_state=seed, n_jobs=1, **literal).fit(data, y)
            for seed in range(repeats)
        ]
        angles = [angle(fit.coef_[0], exact.coef_[0]) for fit in fits]
        rows.append([f"{steps}", f"{np.mean(angles):.2f} +- {standard_error(angles):.2f}"])
    return page.table(["steps of algorithm 1 on the Gaussians", "angle to the minimum, degrees"], rows)


def sampled(data: GaussianArray, y: NDArray[Any], n: int, seed: int) -> GSUClassifier:
    """LSVM-sampling: the linear SVM on n points drawn from every row."""
    points = data.sample(n, random_state=np.random.RandomState([seed, n]))
    return GSUClassifier(ALPHA, n_jobs=1).fit(points, np.repeat(y, n))


def angle(w: Floats, v: Floats) -> float:
    """In degrees; from the sine, which keeps its digits for small angles where the cosine does not."""
    w, v = w / np.linalg.norm(w), v / np.linalg.norm(v)
    half = np.linalg.norm(w - v) / 2
    return float(np.degrees(2 * np.arcsin(min(1.0, half))))


def predicted_angle(exact: GSUClassifier, data: GaussianArray, y: NDArray[Any], draws: int = 20_000) -> float:
    """Root mean square of the angle in degrees at N = 1 by the asymptotic formula; divide by sqrt(N)."""
    w, d = exact.coef_[0], data.n_features
    m, s = exact.decision_distribution(data)
    u = (1 - y * m) / s
    cov = data.covariances()
    across = cov @ w
    # Given that the score is on the margin, a row is Gaussian around `there`.
    there = np.column_stack([data.means + across * ((y - m) / s**2)[:, None], np.ones(len(y))])
    density = stats.norm.pdf(u) / s
    hessian = np.einsum("i,ij,ik->jk", density, there, there)
    rest = cov - across[:, :, None] * across[:, None, :] / (s**2)[:, None, None]
    hessian[:d, :d] += np.einsum("i,ijk->jk", density, rest)
    hessian /= len(y)
    hessian[:d, :d] += exact.alpha * np.eye(d)
    # Covariance of the gradient within each row, from draws.
    z = data.sample(draws, random_state=0).means.reshape(len(y), draws, d)
    inside = y[:, None] * (z @ w + exact.intercept_[0]) < 1
    gradient = np.concatenate([z, np.ones((*z.shape[:2], 1))], axis=2) * inside[:, :, None]
    gradient -= gradient.mean(axis=1, keepdims=True)
    within = np.einsum("inj,ink->jk", gradient, gradient) / (len(y) * draws)
    inverse = np.linalg.inv(hessian)
    spread = (inverse @ within @ inverse)[:d, :d] / len(y)
    normal = w / np.linalg.norm(w)
    orthogonal = np.eye(d) - np.outer(normal, normal)
    return float(np.degrees(np.sqrt(np.trace(orthogonal @ spread @ orthogonal)) / np.linalg.norm(w)))


def decay(counts: Sequence[int], angles: Floats) -> tuple[float, float]:
    """Exponent of the root mean square over N >= TAIL, and its standard error from resampled draws."""
    tail = np.array(counts) >= TAIL
    x = np.log(np.array(counts)[tail])

    def slope(values: Floats) -> float:
        return float(np.polyfit(x, 0.5 * np.log(np.mean(values**2, axis=1)), 1)[0])

    rng = np.random.default_rng(0)
    some = angles[tail]
    again = [
        slope(np.take_along_axis(some, rng.integers(some.shape[1], size=some.shape), axis=1))
        for _ in range(500)
    ]
    return slope(some), float(np.std(again, ddof=1))


if __name__ == "__main__":
    main()
