"""E sigmoid(a + b Z), Z ~ N(0, 1): from an uncertain score to a probability.

The core's two trapezoid rules (rust/uncertain/src/model/probability.rs), with fixed nodes: up to b = 3 over
z, beyond over the logistic density, E Phi((a + t) / b). Phi is G. West's rational function (Better
approximations to cumulative normal functions, Wilmott Magazine 2005): runtimes have no Erf of float64.
"""

from __future__ import annotations

import numpy as np

from .graph import Value

SWITCH = 3.0
NORMAL_STEP, NORMAL_NODES = 0.19, 48
LOGISTIC_STEP, LOGISTIC_NODES = 0.55, 58
TOP = (0.0352624965998911, 0.700383064443688, 6.37396220353165, 33.912866078383, 112.079291497871,
       221.213596169931, 220.206867912376)  # fmt: skip
BOTTOM = (0.0883883476483184, 1.75566716318264, 16.064177579207, 86.7807322029461, 296.564248779674,
          637.333633378831, 793.826512519948, 440.413735824752)  # fmt: skip
FARTHEST = 37.0
"""Standard deviations beyond which Phi is 0 or 1."""


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
    top: Value | float = TOP[0]
    for c in TOP[1:]:
        top = top * size + c
    bottom: Value | float = BOTTOM[0]
    for c in BOTTOM[1:]:
        bottom = bottom * size + c
    tail = (-0.5 * size * size).apply("Exp") * top / bottom
    return g.where(x > 0.0, 1.0 - tail, tail)
