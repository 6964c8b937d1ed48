"""Rows as Gaussians, and what a mixture of Gaussians says of them, as nodes.

ONNX has no solver of linear equations. (T + S)^-1 and its determinant come from d sweeps, one per feature and
each a few operations on all rows and components at once; sweeps of a matrix with ones on its diagonal lose no
more digits than Cholesky's method does. A gap is a reading of infinite noise: its row and column of T + S are
those of the identity, and its residual is zero.

E sigmoid(a + b Z), Z ~ N(0, 1), takes the core's two trapezoid rules
(rust/uncertain/src/model/probability.rs), with fixed nodes: up to b = 3 over z, beyond over the logistic
density, E Phi((a + t) / b). Phi is G. West's rational function (Better approximations to cumulative normal
functions, Wilmott Magazine 2005): runtimes have no Erf of float64.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import NamedTuple

import numpy as np

from .._data.typing import Floats
from .graph import Graph, Value

SWITCH = 3.0
NORMAL_STEP, NORMAL_NODES = 0.19, 48
LOGISTIC_STEP, LOGISTIC_NODES = 0.55, 58
TOP = (0.0352624965998911, 0.700383064443688, 6.37396220353165, 33.912866078383, 112.079291497871,
       221.213596169931, 220.206867912376)  # fmt: skip
BOTTOM = (0.0883883476483184, 1.75566716318264, 16.064177579207, 86.7807322029461, 296.564248779674,
          637.333633378831, 793.826512519948, 440.413735824752)  # fmt: skip
FARTHEST = 37.0
"""Standard deviations beyond which Phi is 0 or 1."""


@dataclass(frozen=True)
class Rows:
    """Means (rows, d) with deviations, covariances, or neither: exact points."""

    graph: Graph
    d: int
    mean: Value
    std: Value | None = None
    cov: Value | None = None
    gaps: Value | None = None
    """(rows, d): what is missing; mean and errors are 0 there."""

    @property
    def exact(self) -> bool:
        """True if no row has error bars."""
        return self.std is None and self.cov is None

    def variances(self) -> Value:
        """(rows, d)."""
        if self.cov is not None:
            return (self.cov * np.eye(self.d)).sum(2)
        return self.mean * 0.0 if self.std is None else self.std * self.std

    def deviations(self) -> Value:
        """(rows, d)."""
        return self.std if self.std is not None else self.variances().apply("Sqrt")

    def covariances(self) -> Value:
        """(rows, d, d)."""
        return self.cov if self.cov is not None else self.variances().expand(2) * np.eye(self.d)

    def points(self) -> Rows:
        """Without error bars."""
        return replace(self, std=None, cov=None)

    def complete(self) -> Rows:
        """NaN for gaps, where a step takes none: its answer is NaN, too."""
        if self.gaps is None:
            return self
        return replace(self, mean=self.graph.where(self.gaps, np.nan, self.mean), gaps=None)

    def moved(self, mean: Value, factor: Value | Floats) -> Rows:
        """With another mean, and S -> D S D for D = diag(factor)."""
        if self.cov is not None:
            factor = factor if isinstance(factor, Value) else self.graph.constant(factor)
            return replace(self, mean=mean, cov=self.cov * factor.expand(-1) * factor.expand(-2))
        return replace(self, mean=mean, std=None if self.std is None else self.std * factor)


class Mixture(NamedTuple):
    """Of K components in d dimensions."""

    weights: Floats
    means: Floats
    covariances: Floats

    @classmethod
    def from_arrays(cls, arrays: dict[str, Floats]) -> Mixture:
        """From the arrays of a step, which hold lower triangles."""
        means = arrays["means"]
        k, d = means.shape
        full = np.zeros((k, d, d))
        full[:, *np.tril_indices(d)] = arrays["covariances"]
        return cls(arrays["weights"], means, full + np.tril(full, -1).transpose(0, 2, 1))


class Readings(NamedTuple):
    """Outputs of each component for each row."""

    log_density: Value
    """log pi_k N(x_o; mu_k, V_k), (rows, K)."""
    residual: Value
    """x - mu_k, 0 for gaps, (rows, K, d)."""
    inverse: Value
    """V_k^-1, zero in rows and columns of gaps, (rows, K, d, d)."""

    @property
    def log_shares(self) -> Value:
        """Logarithms of the components' posterior shares, (rows, K)."""
        return self.log_density.graph.op("LogSoftmax", self.log_density, axis=1)


def readings(rows: Rows, mixture: Mixture) -> Readings:
    """V_k = T_k + S, with what is missing left out."""
    g, d = rows.graph, rows.d
    residual = rows.mean.expand(1) - mixture.means
    total = rows.covariances().expand(1) + mixture.covariances
    count: Value | float = float(d)
    present: Value | None = None
    if rows.gaps is not None:
        present = (~rows.gaps).numbers()
        residual = residual * present.expand(1)
        pairs = present.expand(1, 3) * present.expand(1, 2)
        total = total * pairs + ((1.0 - present).expand(2) * np.eye(d)).expand(1)
        count = present.sum(1, keep=True)
    scale = (total * np.eye(d)).sum(3).apply("Sqrt")  # (rows, K, d)
    inverse, log_determinant = _swept(total / (scale.expand(2) * scale.expand(3)), d)
    inverse = inverse / (scale.expand(2) * scale.expand(3))
    log_determinant = log_determinant + 2.0 * scale.apply("Log").sum(2)
    if present is not None:
        inverse = inverse * present.expand(1, 3) * present.expand(1, 2)
    square = g.sums("nki,nkij,nkj->nk", residual, inverse, residual)
    log_density = -0.5 * (square + log_determinant + np.log(2.0 * np.pi) * count)
    return Readings(log_density + np.log(mixture.weights), residual, inverse)


def _swept(matrices: Value, d: int) -> tuple[Value, Value]:
    """Inverses and log-determinants of correlation matrices (rows, K, d, d).

    The sweep of pivot p is A - u u' / a_pp - 2 e_p e_p' with u = A e_p - e_p; d of them give -A^-1.
    """
    logs = []
    for p in range(d):
        unit = np.zeros(d)
        unit[p] = 1.0
        column = matrices.take(p, 3)
        pivot = column.take(p, 2)
        logs.append(pivot.apply("Log"))
        u = column - unit
        matrices = matrices - u.expand(3) * u.expand(2) / pivot.expand(2, 3) - 2.0 * np.outer(unit, unit)
    return -matrices, reduce(add, logs)


def posterior(rows: Rows, mixture: Mixture) -> tuple[Value, Value, Value]:
    """Posterior of true values: shares (rows, K), means, covariances."""
    g = rows.graph
    read = readings(rows, mixture)
    T = g.constant(mixture.covariances)
    gain = g.op("MatMul", T, read.inverse)
    mean = mixture.means + g.op("MatMul", gain, read.residual.expand(3)).sum(3)
    return read.log_shares.apply("Exp"), mean, T - g.op("MatMul", gain, T)


def one_gaussian(shares: Value, mean: Value, cov: Value) -> tuple[Value, Value]:
    """Mean and covariance of a mixture, (rows, d) and (rows, d, d)."""
    center = (shares.expand(2) * mean).sum(1)
    apart = mean - center.expand(1)
    whole = cov + apart.expand(3) * apart.expand(2)
    return center, (shares.expand(2, 3) * whole).sum(1)


def expected_sigmoid(a: Value, b: Value | None) -> Value:
    """Elementwise; without b the sigmoid itself."""
    if b is None:
        return a.apply("Sigmoid")
    g = a.graph
    z = NORMAL_STEP * np.arange(-NORMAL_NODES, NORMAL_NODES + 1)
    weights = NORMAL_STEP * np.exp(-(z**2) / 2.0) / np.sqrt(2.0 * np.pi)
    narrow = ((a.expand(-1) + b.expand(-1) * z).apply("Sigmoid") * (weights / weights.sum())).sum(-1)
    t = LOGISTIC_STEP * np.arange(-LOGISTIC_NODES, LOGISTIC_NODES + 1)
    weights = LOGISTIC_STEP / (4.0 * np.cosh(t / 2.0) ** 2)
    safe = g.op("Max", b, SWITCH)
    wide = (normal_cdf((a.expand(-1) + t) / safe.expand(-1)) * (weights / weights.sum())).sum(-1)
    return g.where(b <= SWITCH, narrow, wide)


def normal_cdf(x: Value) -> Value:
    """Phi(x)."""
    g = x.graph
    size = g.op("Min", x.apply("Abs"), FARTHEST)
    top, bottom = (reduce(lambda total, c: total * size + c, factors) for factors in (TOP, BOTTOM))
    tail = (-0.5 * size * size).apply("Exp") * top / bottom
    return g.where(x > 0.0, 1.0 - tail, tail)
