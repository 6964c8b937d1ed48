"""The arrays of scikit-learn's histogram gradient boosting.

They are private attributes of its estimators. So their names and types are looked at first, and then the
arrays have to predict rows where a mistake would show, on both sides of thresholds and with missing values:
unless they give the learner's own predictions, to the last bit, they are refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import NamedTuple

import numpy as np
import sklearn
from sklearn.base import BaseEstimator
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

from .._data.typing import Array, Floats
from ..exceptions import UncertainError

LEARNERS: dict[str, type[BaseEstimator]] = {
    "HistGradientBoostingClassifier": HistGradientBoostingClassifier,
    "HistGradientBoostingRegressor": HistGradientBoostingRegressor,
}
"""What can be saved; a file names one of them with its parameters."""

KNOWN = (1, 6), (2, 0)
"""Versions of scikit-learn that may be right: from the first, below the second. The comparison decides."""

FIELDS = {
    "value": "f8",
    "feature_idx": "i8",
    "num_threshold": "f8",
    "missing_go_to_left": "u1",
    "left": "u4",
    "right": "u4",
    "is_leaf": "u1",
    "is_categorical": "u1",
}
"""What predictions need of a node, and its types."""

LINKS = {
    "IdentityLink": "identity",
    "LogLink": "log",
    "LogitLink": "logit",
    "MultinomialLogit": "softmax",
}
"""Inverses turn scores into predictions; by the names of the classes in ``sklearn._loss.link``."""

WAY_OUT = "joblib.dump(model.pipeline_, ...), skops or ONNX keep it"
PROBES = 256
"""Rows that learner and arrays are compared on."""


class TreeArrays(NamedTuple):
    """Fitted trees as the core takes them."""

    link: str
    arrays: dict[str, Floats]
    n_columns: int


def flat_trees(learner: BaseEstimator, first: int = 0) -> TreeArrays:
    """The arrays of a fitted learner; UncertainError where they cannot be had.

    `first` leaves out the trees of so many iterations, and what they start from.
    """
    if type(learner) not in LEARNERS.values():
        raise UncertainError(
            f"the model cannot be saved: a {type(learner).__name__} is another library's learner; {WAY_OUT}. "
            f"The default learner can be saved, and so can any {' or '.join(LEARNERS)}"
        )
    if getattr(learner, "is_categorical_", None) is not None:
        raise UncertainError(
            f"the model cannot be saved: its {type(learner).__name__} has categorical_features, which a "
            f"model file does not hold; {WAY_OUT}"
        )
    _check_version()
    try:
        link = LINKS[type(learner._loss.link).__name__]
        baseline = np.asarray(learner._baseline_prediction, dtype=np.float64).ravel()
        trees = [predictor.nodes for iteration in learner._predictors[first:] for predictor in iteration]
    except (AttributeError, KeyError, TypeError) as error:
        raise _unknown(str(error)) from error
    baseline = baseline if first == 0 else np.zeros_like(baseline)
    return TreeArrays(link, {"baseline": baseline, **_flattened(trees)}, int(learner.n_features_in_))


def first_trees(learner: BaseEstimator, count: int) -> BaseEstimator | None:
    """The fitted learner with the trees of so many iterations only; None where they cannot be told apart."""
    trees = getattr(learner, "_predictors", None)
    if not isinstance(trees, list) or len(trees) < count:
        return None
    shorter = copy(learner)
    shorter._predictors = trees[:count]
    return shorter


def mean_trees(several: Sequence[TreeArrays]) -> TreeArrays:
    """Those whose scores are the mean of the scores of all: the leaves of M learners have an M-th of their
    values."""
    names = several[0].arrays
    arrays = {name: np.concatenate([one.arrays[name] for one in several]) for name in names}
    arrays["value"][arrays["column"] < 0] /= len(several)
    arrays["baseline"] = np.mean([one.arrays["baseline"] for one in several], axis=0)
    return several[0]._replace(arrays=arrays)


def _flattened(trees: list[Array]) -> dict[str, Floats]:
    """Nodes of all trees one behind the other, in preorder: the left child is the next node."""
    for nodes in trees:
        types = {name: kind[0].str[1:] for name, kind in (nodes.dtype.fields or {}).items()}
        strange = next((name for name, kind in FIELDS.items() if types.get(name) != kind), None)
        if strange is not None:
            raise _unknown(f"the field {strange} of a node is {types.get(strange)}")
        split = nodes["is_leaf"] == 0
        if nodes["is_categorical"][split].any():
            raise _unknown("a split by categories")
        if (nodes["left"][split] != np.flatnonzero(split) + 1).any():
            raise _unknown("nodes in another order")
    nodes = np.concatenate(trees)
    split = nodes["is_leaf"] == 0
    # Where all values go left and only missing ones right, the threshold is infinite.
    threshold = np.minimum(nodes["num_threshold"], np.finfo(np.float64).max)
    return {
        "sizes": np.array([len(nodes) for nodes in trees], dtype=np.float64),
        "column": np.where(split, nodes["feature_idx"], -1).astype(np.float64),
        "value": np.where(split, threshold, nodes["value"]),
        "right": np.where(split, nodes["right"], 0).astype(np.float64),
        "missing_left": np.where(split, nodes["missing_go_to_left"], 0).astype(np.float64),
    }


def probes(trees: TreeArrays) -> Floats:
    """Rows at thresholds, just above them, and with missing values; repeatable."""
    random = np.random.default_rng(0)
    column, value = trees.arrays["column"].astype(np.int64), trees.arrays["value"]
    rows = np.zeros((PROBES, trees.n_columns))
    for j in range(trees.n_columns):
        thresholds = value[(column == j) & (value < np.finfo(np.float64).max)]
        if len(thresholds):
            rows[:, j] = random.choice(thresholds, PROBES)
    above = random.random(rows.shape) < 0.3
    rows[above] = np.nextafter(rows[above], np.inf)
    rows[random.random(rows.shape) < 0.15] = np.nan
    return rows


def check_predictions(learner: BaseEstimator, trees: TreeArrays, scores: Floats) -> None:
    """Refuse arrays whose scores (n, K) of the probes are not the learner's own."""
    if not np.array_equal(learner._raw_predict(probes(trees)), scores):
        raise _unknown("its trees give other predictions")


def _check_version() -> None:
    try:
        version = tuple(int(part) for part in sklearn.__version__.split(".")[:2])
    except ValueError as error:
        raise _unknown("a version that is no number") from error
    if not KNOWN[0] <= version < KNOWN[1]:
        raise _unknown("a version that was never tried")


def _unknown(what: str) -> UncertainError:
    return UncertainError(
        f"the model cannot be saved: scikit-learn {sklearn.__version__} keeps its trees in a way that is not "
        f"known here ({what}); fit and save it with scikit-learn 1.6 to 1.9 or with a newer version of "
        f"uncertain; else {WAY_OUT}"
    )
