"""Rows of the examples of the probabilistic-kernel paper, and where a zero contour runs."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.svm import SVC

from uncertain import GaussianArray, ProbabilisticKernelSVC

Floats = NDArray[np.float64]
Score = Callable[[Floats], Floats]

SIGMA, LAMBDA = 1.0, 1e-3
ROWS = 200
"""Of each class."""
RED, BLUE = (0.09, 0.01), (0.01, 0.09)
"""Variances of Fig. 5: of the disc and of the annulus."""


@dataclass(frozen=True)
class Example:
    """Two classes in the plane; `var` is the diagonal of each row's covariance."""

    means: Floats
    var: Floats
    y: Floats

    @property
    def C(self) -> float:
        return 1.0 / (2.0 * len(self.y) * LAMBDA)

    def fit(self, coupling: str = "shared") -> ProbabilisticKernelSVC:
        rows = GaussianArray(self.means, var=self.var)
        return ProbabilisticKernelSVC(self.C, sigma=SIGMA, coupling=coupling, tol=1e-6).fit(rows, self.y)

    def standard(self) -> SVC:
        """The SVM with the RBF kernel of the same width on the means."""
        return SVC(C=self.C, gamma=0.5 / SIGMA**2, tol=1e-6).fit(self.means, self.y)


def at(model: ProbabilisticKernelSVC, variances: tuple[float, float]) -> Score:
    """The score of points that carry this covariance."""
    return lambda points: model.decision_function(
        GaussianArray(points, var=np.tile(variances, (len(points), 1)))
    )


def disc(seed: int, outer: tuple[float, float] = (0.09, 0.09)) -> Example:
    """+1 uniform in the unit disc with covariance 0.01 I; -1 uniform in the annulus 1 <= |x| <= 2."""
    rng = np.random.default_rng(seed)
    means = np.concatenate([_ring(rng, 0.0, 1.0), _ring(rng, 1.0, 2.0)])
    return _example(means, (0.01, 0.01), outer)


def elongated(seed: int) -> Example:
    """Fig. 5: the same means; the disc's rows are uncertain sideways, those of the annulus up and down."""
    return Example(disc(seed).means, *_kinds(RED, BLUE))


def stretched(seed: int) -> Example:
    """The same with rows of the annulus six times as uncertain from left to right as from top to bottom."""
    return disc(seed, (0.36, 0.01))


def crossed(seed: int) -> Example:
    """+1 on the left, uncertain from left to right; -1 on the right, uncertain from top to bottom."""
    rng = np.random.default_rng(seed)
    left = rng.uniform([-2.0, -1.5], [0.1, 1.5], size=(ROWS, 2))
    right = rng.uniform([-0.1, -1.5], [2.0, 1.5], size=(ROWS, 2))
    return _example(np.concatenate([left, right]), (0.36, 0.01), (0.01, 0.36))


def radii(score: Score, angles: int = 64) -> Floats:
    """How far from the origin the score stays positive, in each of many directions."""
    angle = np.linspace(0.0, 2.0 * np.pi, angles, endpoint=False)
    radius = np.linspace(0.0, 2.5, 501)
    rays = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    values = score((rays[:, None] * radius[:, None]).reshape(-1, 2)).reshape(angles, len(radius))
    return _first_negative(radius, values)


def edges(score: Score, lines: int = 21) -> Floats:
    """Where the score turns negative from left to right, on horizontal lines with |x_2| <= 1."""
    x = np.linspace(-2.0, 2.0, 801)
    heights = np.linspace(-1.0, 1.0, lines)
    points = np.stack(np.broadcast_arrays(x, heights[:, None]), axis=-1)
    return _first_negative(x, score(points.reshape(-1, 2)).reshape(lines, len(x)))


def _first_negative(along: Floats, values: Floats) -> Floats:
    assert np.all(values[:, 0] > 0.0) and np.all(values[:, -1] < 0.0)
    return along[np.argmax(values < 0.0, axis=1)]


def _ring(rng: np.random.Generator, inner: float, outer: float) -> Floats:
    radius = np.sqrt(rng.uniform(inner**2, outer**2, ROWS))
    angle = rng.uniform(0.0, 2.0 * np.pi, ROWS)
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)


def _example(means: Floats, plus: tuple[float, float], minus: tuple[float, float]) -> Example:
    return Example(means, *_kinds(plus, minus))


def _kinds(plus: tuple[float, float], minus: tuple[float, float]) -> tuple[Floats, Floats]:
    """Variances and labels of all rows."""
    y = np.repeat([1.0, -1.0], ROWS)
    return np.where(y[:, None] > 0, plus, minus), y
