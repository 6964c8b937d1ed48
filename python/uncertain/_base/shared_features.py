"""Errors of features that rows share: modes (n, d, k) of a line, and (n, d + 1, k) with the target's last.

.. code-block:: text

    x_i = z_i + N_i b + e_i,    y_i = a + beta'z_i + M_i b + noise,    b ~ N(0, I),    z ~ N(mu, T)

Given beta and T this is a line with errors of the target alone that rows share. The readings of features say,
with A_i = (T + S_i)^-1 and sums over rows,

.. code-block:: text

    b | x ~ N(b^, V),    V^-1 = I + sum N'A N - Q'(sum A) Q,    Q = (sum A)^-1 sum A N

(mu is estimated with b, and moves by -Q per unit of it). What b moves in the mean of y given x is then

.. code-block:: text

    y_i | x_i, b:   M_i b - beta'(T A_i N_i + (I - T A_i) Q)(b - b^)

so that a fit to x - N b^ and y - M b^ with the modes (M_i - beta'G_i) V^(1/2) knows all of it but for beta
and T of the round before. A few rounds settle these. T is that of readings whose shared errors are taken off,
and too small by a part of k / n. (G. K. Robinson, That BLUP is a good thing, Statistical Science 6, 1991, doi
10.1214/ss/1177011926.)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .._data.numbers import refuse_where
from .._data.typing import Floats, Keywords
from ..exceptions import UncertainError
from .em import unpacked

ROUNDS = 30
"""Most of them."""
SETTLED = 1e-9
"""A change of the slopes, relative to their errors, that ends them."""
COLLINEAR = 1e-12
"""Combinations of modes that move the target by less than this part of the most are left as they are."""

Fit = Callable[[Floats, Floats, Floats | None], Any]
"""(readings of features, targets, modes) -> what was found."""


class Known(NamedTuple):
    """What the readings of features say of shared errors."""

    mean: Floats
    """b^, (k,)."""
    root: Floats
    """V^(1/2), (k, k)."""
    moved: Floats
    """G, (n, d, k)."""


def both_modes(modes: Any, n: int, d: int) -> tuple[Floats, Floats]:
    """Those of the features (n, d, k) and of the target (n, k)."""
    numbers = np.asarray(modes, dtype=np.float64)
    if numbers.ndim != 3 or len(numbers) != n or numbers.shape[1] not in (d, d + 1) or not numbers.shape[2]:
        raise UncertainError(
            f"modes: expected the shape ({n}, k) for errors of the target, ({n}, {d}, k) for those of "
            f"features or ({n}, {d + 1}, k) for those of both, the target last; got {numbers.shape}"
        )
    axes = ("row", "feature", "mode")
    refuse_where(~np.isfinite(numbers), numbers, "modes", "it must be finite", axes=axes)
    flat = numbers.reshape(-1, numbers.shape[2])
    size = np.sqrt((flat**2).sum(axis=0))
    if not size.all():
        raise UncertainError(f"modes: mode {int(np.argmin(size))} is 0 in every row; leave it out")
    values, vectors = np.linalg.eigh((flat / size).T @ (flat / size))
    if values[0] <= COLLINEAR * len(values):
        those = [str(at) for at in np.flatnonzero(np.abs(vectors[:, 0]) > 0.05)]
        raise UncertainError(
            f"modes: {', '.join(those)} are combinations of one another in every row; leave one of them out"
        )
    return numbers[:, :d], numbers[:, d] if numbers.shape[1] > d else np.zeros((n, numbers.shape[2]))


def fit_shared(
    fit: Fit, x: Floats, S: Floats, y: Floats, weights: Floats, modes: tuple[Floats, Floats]
) -> Keywords:
    """The last round's findings, with ``modes`` and their covariances those of b."""
    N, M = modes
    found: Keywords = fit(x, y, None)
    readings = {name: found[name] for name in ("naive", "naive_std")}
    for _ in range(ROUNDS):
        T = unpacked(found["triangle"][None], x.shape[1])[0]
        known = _known(x, S, N, T, weights)
        beta = found["law"][1:]
        by = (M - np.einsum("j,ijk->ik", beta, known.moved)) @ known.root
        # Directions of b that do not move the target stay as they are.
        values, vectors = np.linalg.eigh(by.T @ by)
        kept = vectors[:, values > COLLINEAR * len(values) * max(values[-1], np.finfo(float).tiny)]
        found = fit(x - N @ known.mean, y - M @ known.mean, by @ kept if kept.size else None)
        error = np.sqrt(np.diag(found["covariance"])[1:])
        if not np.any(np.abs(found["law"][1:] - beta) > SETTLED * error):
            break
    turn = known.root @ kept
    rest = np.eye(len(values)) - kept @ kept.T
    own = kept @ found["modes_covariance"] @ kept.T if kept.size else 0.0
    of_b = {
        "modes": known.mean + (turn @ found["modes"] if kept.size else 0.0),
        "modes_covariance": known.root @ (own + rest) @ known.root.T,
        "modes_law_covariance": (
            turn @ found["modes_law_covariance"] if kept.size else np.zeros((len(values), 1 + x.shape[1]))
        ),
    }
    return found | readings | of_b


def _known(x: Floats, S: Floats, N: Floats, T: Floats, weights: Floats) -> Known:
    A = np.linalg.inv(T + S)
    of_rows = A * weights[:, None, None]
    AN = of_rows @ N
    whole = of_rows.sum(axis=0)
    Q = np.linalg.solve(whole, AN.sum(axis=0))
    centre = np.linalg.solve(whole, (of_rows @ x[:, :, None]).sum(axis=0)[:, 0])
    V = np.linalg.inv(np.eye(N.shape[2]) + np.einsum("ijk,ijl->kl", N, AN) - Q.T @ whole @ Q)
    V = (V + V.T) / 2
    mean: Floats = V @ np.einsum("ijk,ij->k", AN, x - centre)
    gain = T @ A
    root = np.linalg.cholesky(V).astype(np.float64)
    return Known(mean, root, gain @ N + Q - gain @ Q)
