"""Golden values of E sigmoid(a + b z), z ~ N(0, 1), and its derivatives: mpmath, 40 digits.

Run: python tests/golden/expected_sigmoid.py
Writes expected_sigmoid.json beside it: rows [a, b, p, dp/da, dp/db].
"""

import json
from pathlib import Path

import mpmath as mp

mp.mp.dps = 40

A = [0.0, 1e-3, 0.3, -1.0, 2.5, -7.0, 20.0, -45.0, 300.0]
B = [
    1e-9,
    1e-3,
    0.1,
    0.3,
    0.35,
    0.5,
    1.0,
    1.7,
    2.5,
    3.0,
    3.001,
    4.0,
    6.0,
    12.0,
    31.9,
    32.0,
    100.0,
    1e4,
    1e7,
    2e8,
]


def expectation(f, a, b):
    """Integral of f(z, sigmoid(a + b z)) phi(z): pieces around the step of the sigmoid and around zero."""
    step, width = -a / b, 1 / b
    cuts = {mp.mpf(z) for z in range(-14, 15)}
    cuts |= {step + k * width for k in (-80, -40, -20, -10, -5, -2, -1, 0, 1, 2, 5, 10, 20, 40, 80)}
    cuts = sorted(z for z in cuts if -14 <= z <= 14)
    return mp.quad(lambda z: f(z, 1 / (1 + mp.exp(-(a + b * z)))) * mp.npdf(z), cuts)


rows = []
for a in A:
    for b in B:
        x, y = mp.mpf(a), mp.mpf(b)
        p = expectation(lambda z, s: s, x, y)
        d_a = expectation(lambda z, s: s * (1 - s), x, y)
        d_b = expectation(lambda z, s: z * s * (1 - s), x, y)
        rows.append([a, b, float(p), float(d_a), float(d_b)])

path = Path(__file__).with_name("expected_sigmoid.json")
path.write_text("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n")
