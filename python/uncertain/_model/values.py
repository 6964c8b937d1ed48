"""Values to measure again, by the gain in expected loss of one better measurement.

Idea. Before the measurement its outcome is unknown, but not its distribution: the true values are drawn from
what the row leaves open, and the new reading from them (the preposterior analysis of Raiffa and Schlaifer).
The gain is the mean drop of the loss when the better informed prediction replaces the present one, both
judged by the better one.

One more reading r_j = z_j + noise of variance v = s_j^2 f^2 / (1 - f^2) leaves feature j with the error f
s_j. With correlated errors it says something of the others, too:

    x' = x + S_j (r_j - x_j) / (S_jj + v),    S' = S - S_j S_j' / (S_jj + v)

Draws come in pairs with opposite noise, and all features get the same ones, so that ranks are steadier than
values.
"""

import warnings
from dataclasses import InitVar, dataclass

import numpy as np

from .._data.array import GaussianArray, value_sizes
from .._data.incomplete import GaussianRows, Incomplete, filled_gaussians, like
from .._data.options import refuse_if
from .._data.typing import Array, Booleans, Floats, Ints, NativeTable
from .._data.validation import TableLike
from .._held_out.engine import class_shares
from ..exceptions import CovarianceWarning
from ..preprocessing import GaussianDenoiser
from .pipeline_facts import is_measured, true_values
from .reader import Reader

PREDICTED = 500_000
"""Rows that are predicted in all, where the number of draws is left open."""
DRAWS = (8, 64)
BLOCK = 100_000
"""Rows that are predicted at a time."""
COMPONENTS = 3
"""Gaussians of the true values where the model knows none: those of the given rows."""


def value_of_remeasuring(
    reader: Reader,
    table: TableLike,
    *,
    factor: float,
    n_draws: int | None,
    top: int | None,
    random_state: int,
) -> NativeTable | dict[str, Array]:
    """Cells of the table by how much a better measurement is expected to lower the loss; as documented in
    `Model.value_of_remeasuring`."""
    wrong = not isinstance(factor, (int, float)) or not 0.0 <= factor < 1.0
    refuse_if(wrong, f"factor = {factor!r}: must be at least 0 and below 1, such as 0.5")
    wrong = n_draws is not None and (not isinstance(n_draws, int) or n_draws < 2 or n_draws % 2 == 1)
    refuse_if(wrong, f"n_draws = {n_draws!r}: must be an even number >= 2")
    wrong = top is not None and (not isinstance(top, int) or top < 1)
    refuse_if(wrong, f"top = {top!r}: must be an integer >= 1")
    refuse_if(
        not is_measured(reader.pipeline),
        "value_of_remeasuring: this model takes error bars for the spread of populations, which no "
        'measurement makes smaller; fit with meaning="measurement"',
    )
    source = reader.source(table)
    rows = reader.rows(source)
    std, known = value_sizes(rows)
    worth = ~known | (std > 0.0)
    sizes = reader.sizes
    typical = np.median(std, axis=0) if sizes is None else sizes.middle
    count = int(np.count_nonzero(worth))
    draws = n_draws or int(np.clip(PREDICTED // max(count, 1), *DRAWS)) // 2 * 2
    cells = _Cells(reader, rows, _posterior(reader, rows), factor, typical, draws, random_state)
    gains = np.full(rows.shape, -np.inf)
    for j in range(rows.n_features):
        at = np.flatnonzero(worth[:, j])
        for start in range(0, len(at), max(1, BLOCK // draws)):
            some = at[start : start + max(1, BLOCK // draws)]
            gains[some, j] = cells.gains(some, j)
    order = np.argsort(-gains, axis=None, kind="stable")[:count][:top]
    row, column = np.unravel_index(order, rows.shape)
    errors = np.where(known, std, np.inf)[row, column]
    cells_by_gain = {
        "row": row.astype(np.int64),
        "feature": [reader.feature_names[place] for place in column.tolist()],
        "error": errors,
        "new_error": np.where(np.isinf(errors), typical[column], factor * std[row, column]),
        "gain": gains[row, column],
    }
    return cells_by_gain if source.table is None else source.table.answer(cells_by_gain, fresh=True)


def _posterior(reader: Reader, rows: GaussianRows) -> GaussianArray:
    mixture = true_values(reader.steps)
    denoiser = GaussianDenoiser(COMPONENTS, tol=1e-4, random_state=0)
    names = rows.feature_names
    unnamed = like(rows, GaussianArray._from_core(filled_gaussians(rows)._core))
    denoiser = denoiser.fit(unnamed) if mixture is None else denoiser._set(mixture)
    return denoiser.transform(unnamed)._named(names)


@dataclass
class _Cells:
    """Rows whose features can be read once more."""

    reader: Reader
    rows: GaussianRows
    posterior: GaussianArray
    factor: float
    typical: Floats
    draws: InitVar[int]
    seed: InitVar[int]

    def __post_init__(self, draws: int, seed: int) -> None:
        self.pipeline = self.reader.steps
        noise = np.random.default_rng(seed).normal(size=(len(self.rows), draws // 2))
        self.noise = np.concatenate([noise, -noise], axis=1)
        self.now = self._predicted(self.rows)

    def gains(self, at: Ints, j: int) -> Floats:
        """Of feature j in these rows."""
        draws = self.noise.shape[1]
        read = self._read(at, j)
        then = self._predicted(read).reshape(len(at), draws, -1)
        now = self.now[at].reshape(len(at), 1, -1)
        if self.reader.classes is None:
            return np.asarray(((then - now) ** 2).mean(axis=(1, 2)))
        then, now = np.maximum(then, 1e-300), np.maximum(now, 1e-300)
        return np.asarray((then * np.log(then / now)).sum(axis=2).mean(axis=1))

    def _predicted(self, rows: GaussianRows) -> Floats:
        if self.reader.classes is None:
            return np.asarray(self.pipeline.predict(rows))
        return class_shares(self.pipeline, rows, self.reader.classes)

    def _read(self, at: Ints, j: int) -> GaussianRows:
        """Every row of `at` with each of its drawn readings of feature j added."""
        draws = self.noise.shape[1]
        gaussians = filled_gaussians(self.rows)
        missing = self.rows.missing[at] if isinstance(self.rows, Incomplete) else None
        part = gaussians[at]
        gap = np.zeros(len(at), dtype=bool) if missing is None else missing[:, j]
        diagonal = part.kind in ("diagonal", "isotropic")
        s2 = value_sizes(part[:, [j]])[0][:, 0] ** 2
        v = np.where(gap, self.typical[j] ** 2, s2 * self.factor**2 / (1.0 - self.factor**2))
        # A reading is spread around its true value, which is open itself.
        open_ = self.posterior[at][:, [j]]
        spread = np.sqrt(value_sizes(open_)[0][:, 0] ** 2 + v)
        r = open_.means[:, [0]] + spread[:, None] * self.noise[at]  # (rows, draws)
        means = np.repeat(part.means[:, None], draws, axis=1)
        if diagonal:
            var = value_sizes(part)[0] ** 2
            share = np.where(gap, 1.0, s2 / (s2 + np.where(gap, 1.0, v)))
            means[:, :, j] += share[:, None] * (r - means[:, :, j])
            var[:, j] = np.where(gap, v, s2 * (1.0 - share))
            made = GaussianArray(means.reshape(-1, means.shape[2]), var=np.repeat(var, draws, axis=0))
        else:
            S = part.covariances()
            column = S[:, :, j] / np.where(gap, 1.0, s2 + v)[:, None]
            column[gap] = 0.0
            means += column[:, None, :] * (r - part.means[:, [j]])[:, :, None]
            means[gap, :, j] = r[gap]
            S = S - column[:, :, None] * S[:, None, :, j]
            S[gap, j, :] = S[gap, :, j] = 0.0
            S[gap, j, j] = v[gap]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", CovarianceWarning)  # differences are rounded
                made = GaussianArray(means.reshape(-1, means.shape[2]), cov=np.repeat(S, draws, axis=0))
        made = made._named(gaussians.feature_names)
        return made if missing is None else Incomplete(made, _known(missing, j, draws))


def _known(missing: Booleans, j: int, draws: int) -> Booleans:
    """The gaps of rows whose feature j has been read."""
    left = missing.copy()
    left[:, j] = False
    return np.repeat(left, draws, axis=0)
