"""Reference values of the expected hinge, made with mpmath at 60 digits.

Run ``python tests/golden/expected_hinge.py``.

L(d, s) = d Phi(u) + s phi(u), u = d / s.  For u << 0 the two terms cancel and L falls like phi(u) / u^2, so
that a rounding error eps in u costs u^2 eps in L. The `exact` cases therefore have few bits in u and s: u s
and d / s are then exact, and what is measured is the loss itself. The `rounded` cases have arbitrary d and s.
"""

from __future__ import annotations

import json
import random
from pathlib import Path

import mpmath

SCALES = [1.0, 3.0, *(2.0**k for k in (-1022, -500, -26, -1, 26, 500, 1000)), 5 * 2.0**-900, 7 * 2.0**900]
SUBNORMAL = [2.0**-1074, 3 * 2.0**-1074, 2.0**-1050, 1021 * 2.0**-1060]


def expected_hinge(d: float, s: float) -> float:
    """The loss, rounded once."""
    if s == 0.0:
        return max(0.0, d)
    u = mpmath.mpf(d) / mpmath.mpf(s)
    if abs(u) > 1000:  # phi(u) < 10**-200000
        return max(0.0, d)
    return float(mpmath.mpf(d) * mpmath.ncdf(u) + mpmath.mpf(s) * mpmath.npdf(u))


def exact_pairs(rng: random.Random) -> list[tuple[float, float]]:
    """(d, s) with d = u s and d / s = u without rounding, u in [-35, 35]."""
    grid = [(k / 8.0, s) for k in range(-280, 281) for s in (1.0, 3.0)]
    grid += [(k / 2.0, s) for k in range(-70, 71) for s in SCALES]
    drawn = [
        (round(rng.uniform(-35, 35) * 2**19) / 2**19, rng.randint(1, 2**26) * 2.0 ** rng.randint(-60, 60))
        for _ in range(600)
    ]
    tiny = [(float(k), s) for k in range(-35, 36, 5) for s in SUBNORMAL]
    pairs = [(u * s, s) for u, s in grid + drawn + tiny]
    wrong = [(d, s) for (d, s), (u, _) in zip(pairs, grid + drawn + tiny, strict=True) if d / s != u]
    assert not wrong, wrong
    return pairs


def rounded_pairs(rng: random.Random) -> list[tuple[float, float]]:
    """Arbitrary (d, s), some far outside [-35, 35], and s = 0."""
    pairs = []
    for _ in range(600):
        s = 10.0 ** rng.uniform(-12, 12)
        pairs.append((rng.uniform(-35, 35) * s, s))
    pairs += [(d, 0.0) for d in (-1e308, -1.0, -5e-324, -0.0, 0.0, 5e-324, 0.25, 1.0, 1e308)]
    pairs += [(d, s) for d in (-1e300, -50.0, 50.0, 1e300) for s in (5e-324, 1e-300, 1.0)]
    return pairs


def main() -> None:
    """Write the JSON file beside this script."""
    mpmath.mp.dps = 60
    rng = random.Random(20261121)
    cases = {
        "exact": [[d, s, expected_hinge(d, s)] for d, s in exact_pairs(rng)],
        "rounded": [[d, s, expected_hinge(d, s)] for d, s in rounded_pairs(rng)],
    }
    lines = [
        f'"{name}": [\n' + ",\n".join(json.dumps(case) for case in rows) + "\n]"
        for name, rows in cases.items()
    ]
    Path(__file__).with_suffix(".json").write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
