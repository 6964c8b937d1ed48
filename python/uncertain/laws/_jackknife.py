"""The first-order bias of estimates, by leaving out a tenth of the rows at a time.

Maximum likelihood of few rows is off by B / n, and of all but a G-th of them by B / (n (1 - 1/G)), so that

    G theta - (G - 1) mean_g theta_(g)

is off by order 1 / n^2 (M. H. Quenouille, Notes on bias in estimation, Biometrika 43, 1956). It counts both
stages of a law, the density of true features and the law itself, for any family. Rejected: Firth's penalty
log |I| / 2, which is of the second stage alone and needs third derivatives of every family.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .._data.typing import Floats, Ints

PARTS = 10


def parts_of_rows(n: int, groups: Ints | None, counted: Ints) -> list[Floats]:
    """Shares 1 of the rows that stay, 0 of a tenth of those that count; groups stay together."""
    own = np.arange(n) if groups is None else np.asarray(groups)
    names, codes = np.unique(own[counted], return_inverse=True)
    k = min(PARTS, len(names))
    part = np.random.default_rng(0).permutation(np.arange(len(names)) % k)[codes]
    stays = np.ones((k, n))
    stays[part, counted] = 0.0
    return list(stays)


def without_bias(theta: Floats, parts: list[Floats], fitted: Callable[[Floats], Floats]) -> Floats:
    """`theta` less its first-order bias; `fitted`: the estimates of the rows with these weights."""
    k = len(parts)
    left: Floats = np.mean([fitted(stays) for stays in parts], axis=0)
    return k * theta - (k - 1) * left
