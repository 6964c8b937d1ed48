"""The polynomials of rust/uncertain-simd/src/normal.rs, from 60-digit values.

For x in [0, 40] and z = A + B / (x + 4.5), which runs over [-1, 1], fits Chebyshev series to

    (x + 2) R(x),   R(x) = Phi(-x) / phi(x)        and        (x + 2)^2 G(x),   G(x) = 1 - x R(x),

writes them in powers of z, says how far double-precision Horner is from the exact values, and compares the
coefficients with those in the Rust file. Run `python tests/golden/normal.py`; needs mpmath and NumPy.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path

import mpmath as mp
import numpy as np

mp.mp.dps = 60
RUST = Path(__file__).parents[2] / "rust/uncertain-simd/src/normal.rs"
FAR, POLE = mp.mpf(40), mp.mpf("4.5")
B = 2 / (1 / (FAR + POLE) - 1 / POLE)
A = -1 - B / POLE


def mills(x: mp.mpf) -> mp.mpf:
    return mp.erfc(x / mp.sqrt(2)) / 2 / mp.npdf(x)


def hinge(x: mp.mpf) -> mp.mpf:
    return 1 - x * mills(x)


# name in the Rust file, function, power of (x + 2), degree
TABLES: list[tuple[str, Callable[[mp.mpf], mp.mpf], int, int]] = [
    ("MILLS", mills, 1, 23),
    ("HINGE", hinge, 2, 24),
]


def chebyshev(f: Callable[[mp.mpf], mp.mpf], degree: int) -> list[mp.mpf]:
    """Coefficients of f on [-1, 1], by interpolation in six nodes more than are kept."""
    n = degree + 7
    angles = [mp.pi * (j + mp.mpf(1) / 2) / n for j in range(n)]
    values = [f(mp.cos(t)) for t in angles]
    series = [
        mp.fsum(v * mp.cos(k * t) for v, t in zip(values, angles, strict=True)) / n for k in range(degree + 1)
    ]
    return [c if k == 0 else 2 * c for k, c in enumerate(series)]


def powers(series: list[mp.mpf]) -> list[float]:
    """The same polynomial in powers of z."""
    n = len(series)
    previous, current = [mp.mpf(1)], [mp.mpf(0), mp.mpf(1)]
    out = [mp.mpf(0)] * n
    out[0] += series[0]
    for k in range(1, n):
        for j, t in enumerate(current):
            out[j] += series[k] * t
        following = [mp.mpf(0), *(2 * t for t in current)]
        for j, t in enumerate(previous):
            following[j] -= t
        previous, current = current, following
    return [float(c) for c in out]


def worst(coefficients: list[float], f: Callable[[mp.mpf], mp.mpf], power: int) -> float:
    """Largest relative error of the double-precision evaluation."""
    x = np.concatenate([np.linspace(0, 10, 3001), np.linspace(10, 39, 500)])
    z = float(A) + float(B) / (x + float(POLE))
    value = np.polynomial.polynomial.polyval(z, coefficients) / (x + 2) ** power
    return max(
        abs(float(mp.mpf(v) / f(mp.mpf(u)) - 1)) for u, v in zip(x.tolist(), value.tolist(), strict=True)
    )


def main() -> int:
    source = RUST.read_text()
    same = True
    for name, f, power, degree in TABLES:

        def scaled(z: mp.mpf, f: Callable[[mp.mpf], mp.mpf] = f, power: int = power) -> mp.mpf:
            x = B / (z - A) - POLE
            return (x + 2) ** power * f(x)

        coefficients = powers(chebyshev(scaled, degree))
        table = re.search(rf"const {name}: \[f64; \d+\] = \[(.*?)\];", source, re.DOTALL)
        stored = [float(c.replace("_", "")) for c in table[1].split(",") if c.strip()] if table else []
        same &= stored == coefficients
        print(name, "as in the Rust file" if stored == coefficients else coefficients)
        print(f"    largest relative error {worst(coefficients, f, power):.1e}")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
