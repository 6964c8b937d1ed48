"""`ResidualForest`: density of a re-measured regression, with all peaks.

With m(row) the prediction, a density of residuals y - m given the row:

    p(y | row) = sum_k w_k N(y; m + b_k, s_k^2),    w = the mean over trees of the shares of the row's leaf

K bins of the residuals of rows that were held out (cross-fitting; those of the fit are too small) are the
classes of extremely randomized trees, which see the columns of the learner and m itself. So a prediction
keeps its sharpness, which bins of the target would lose, and two peaks stay two where the mean lies between
them. Copies of the rows with larger errors are there as for the learner, so that poor rows get wide laws. A
forest needs no search for a number of trees, and one fit of it costs less than the learner's.

Inside a bin the law is normal around the mean b_k of its residuals, with half of the bin's width as standard
deviation: bins overlap, and the density is smooth. Beyond the 0.5 % and 99.5 % quantiles of all residuals it
is normal with mean and deviation of the residuals there.

Source: N. Meinshausen, Quantile Regression Forests, JMLR 7, 2006 (weights by leaves); P. Geurts, D. Ernst,
L. Wehenkel, Extremely randomized trees, Machine Learning 63, 2006, doi 10.1007/s10994-006-6226-1. Rejected
after measurement: boosting of classes and of thresholds, quantile losses, weights by trees of the mean.
"""

from typing import Self

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier

from .._base.normal_mixtures import NormalMixtures
from .._data.incomplete import feature_spread
from .._data.typing import Floats
from .boosting import TreesClassifier

TREES = 60
BINS = 32
"""Of residuals; half of them equally probable, half equally wide."""
LEAST_BINS, ROWS_PER_BIN = 4, 5
"""Few rows have fewer bins."""
OUTER = 0.005
"""The share of residuals in either outer bin."""
ROWS_PER_LEAF = 3
"""Rows, with all their copies, of a leaf."""
LEAVES = 1_000
"""Of a tree at most; its leaves have larger shares of many rows."""
MANY_ROWS = 20_000
"""Rows that are learned from at most."""
BLOCK = 2_000_000
"""Numbers that are averaged at a time."""


class ResidualForest:
    """Trees whose leaves say how residuals are distributed."""

    def __init__(self, trees: dict[str, Floats], shares: Floats, means: Floats, stds: Floats) -> None:
        self.trees = trees
        """Nodes as in a model file; the value of a leaf is its row in `shares`."""
        self.shares = shares
        """(leaves, K)."""
        self.means = means
        self.stds = stds

    @classmethod
    def fit(
        cls,
        table: Floats,
        predicted: Floats,
        residuals: Floats,
        weights: Floats | None,
        random: np.random.RandomState,
        n_jobs: int | None,
    ) -> Self:
        """From the columns (copies, n, columns) of n rows, and predictions and residuals (copies, n) that
        were made without them."""
        copies, n, _ = table.shape
        learned = np.sort(random.permutation(n)[:MANY_ROWS])
        points = table[:, learned].reshape(copies * len(learned), -1)
        columns = _with_prediction(points, predicted[:, learned].ravel())
        r = residuals[:, learned].ravel()
        row_weights = None if weights is None else np.tile(weights[learned], copies)
        edges = _edges(r, min(BINS, max(LEAST_BINS, len(learned) // ROWS_PER_BIN)))
        bins = np.searchsorted(edges, r)
        # scikit-learn's trees have 32 bits: of standardized columns they are enough.
        present = ~np.isnan(columns)
        centre = np.where(present, columns, 0.0).sum(axis=0) / np.maximum(present.sum(axis=0), 1)
        scale = feature_spread(columns, present)
        forest = ExtraTreesClassifier(
            TREES,
            min_samples_leaf=copies * max(ROWS_PER_LEAF, len(learned) // LEAVES),
            max_features=None,
            random_state=random.randint(2**31 - 1),
            n_jobs=n_jobs,
        ).fit((columns - centre) / scale, bins, row_weights)
        trees, shares = _flattened(forest, centre, scale, len(edges) + 1)
        return cls(trees, shares, *_laws(r, bins, edges))

    def mixtures(self, columns: Floats, predicted: Floats) -> NormalMixtures:
        """The laws of n rows."""
        points = _with_prediction(columns, predicted)
        # The core adds up leaves: of one tree for each class, each sum is the number of one leaf.
        arrays = {"baseline": np.zeros(len(self.trees["sizes"])), **self.trees}
        leaves = TreesClassifier("softmax", arrays, points.shape[1], np.empty(0))._raw_predict(points)
        weights = np.empty((len(points), len(self.means)))
        each = max(1, BLOCK // (leaves.shape[1] * len(self.means)))
        for start in range(0, len(points), each):
            part = slice(start, start + each)
            weights[part] = self.shares[leaves[part].astype(np.int64)].mean(axis=1)
        means = predicted[:, None] + self.means
        return NormalMixtures(weights, means, np.broadcast_to(self.stds, means.shape))

    def arrays(self) -> dict[str, Floats]:
        """For a model file."""
        arrays = self.trees | {"shares": self.shares, "means": self.means, "stds": self.stds}
        return {f"residual_{name}": values for name, values in arrays.items()}

    @classmethod
    def from_arrays(cls, arrays: dict[str, Floats]) -> Self | None:
        start = "residual_"
        trees = {name.removeprefix(start): v for name, v in arrays.items() if name.startswith(start)}
        return cls(trees, *(trees.pop(name) for name in ("shares", "means", "stds"))) if trees else None


def _with_prediction(columns: Floats, predicted: Floats) -> Floats:
    return np.column_stack([columns, predicted])


def _edges(r: Floats, n_bins: int) -> Floats:
    """Edges of bins: each holds few residuals and is narrow."""
    levels = np.linspace(OUTER, 1.0 - OUTER, 1_001)
    at = np.quantile(r, levels)
    low, high = at[0], at[-1]
    if not high > low:
        return np.array([low])
    x = np.sort(np.concatenate([at, np.linspace(low, high, 1_001)]))
    below = (np.interp(x, at, levels) - OUTER) / (1.0 - 2.0 * OUTER)
    edges = np.interp(np.linspace(0.0, 1.0, n_bins - 1), (below + (x - low) / (high - low)) / 2.0, x)
    return np.unique(edges)


def _laws(r: Floats, bins: np.ndarray, edges: Floats) -> tuple[Floats, Floats]:
    """b and s of every bin."""
    counts = np.bincount(bins, minlength=len(edges) + 1)
    middles = np.concatenate([edges[:1], (edges[1:] + edges[:-1]) / 2.0, edges[-1:]])
    divisors = np.maximum(counts, 1)
    means = np.where(counts > 0, np.bincount(bins, r, len(counts)) / divisors, middles)
    squares = np.bincount(bins, (r - means[bins]) ** 2, len(counts)) / divisors
    least = max(1e-9 * float(r.std()), np.finfo(np.float64).tiny)
    widths = np.diff(edges) / 2.0
    inner = widths if len(widths) else np.full(1, least)
    outer = np.maximum(np.sqrt(squares[[0, -1]]), inner[[0, -1]])
    return means, np.maximum(np.concatenate([outer[:1], widths, outer[1:]]), least)


def _flattened(
    forest: ExtraTreesClassifier, centre: Floats, scale: Floats, n_bins: int
) -> tuple[dict[str, Floats], Floats]:
    """Nodes of all trees, and shares of their leaves."""
    trees = [one.tree_ for one in forest.estimators_]
    column = np.concatenate([tree.feature for tree in trees])
    split = column >= 0
    at = np.maximum(column, 0)
    value = centre[at] + scale[at] * np.concatenate([tree.threshold for tree in trees])
    value[~split] = np.arange(np.count_nonzero(~split))
    shares = np.zeros((np.count_nonzero(~split), n_bins))
    leaves = np.concatenate([tree.value[:, 0, :] for tree in trees])[~split]
    shares[:, forest.classes_] = leaves / leaves.sum(axis=1, keepdims=True)
    right = np.concatenate([tree.children_right for tree in trees])
    missing = np.concatenate([tree.missing_go_to_left for tree in trees])
    return {
        "sizes": np.array([float(tree.node_count) for tree in trees]),
        "column": np.where(split, column, -1).astype(np.float64),
        "value": value,
        "right": np.where(split, right, 0).astype(np.float64),
        "missing_left": np.where(split, missing, 0).astype(np.float64),
    }, shares
