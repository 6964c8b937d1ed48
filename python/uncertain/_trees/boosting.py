"""Trees of histogram gradient boosting as arrays, and read from files.

They are private attributes of scikit-learn's estimators. So names and types are checked first, and then the
arrays have to predict rows where a mistake would show, on both sides of thresholds and with missing values:
unless they give the learner's predictions, to the last bit, they are refused.

The core adds up the leaves; the last step, from scores to predictions, is scikit-learn's function on an
array of the same layout, so that predictions are the learner's to the last bit.
"""

from collections.abc import Sequence
from copy import copy
from typing import NamedTuple

import numpy as np
import sklearn
from numpy.typing import ArrayLike
from scipy.special import expit
from sklearn.base import BaseEstimator
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.utils.extmath import softmax
from sklearn.utils.validation import check_array

from .._base.core import encoded
from .._data.incomplete import Incomplete
from .._data.options import refuse_if
from .._data.typing import Array, Booleans, Floats, Labels
from .._uncertain import Fitted, Gaussians, Rows
from ..exceptions import UncertainError

LEARNERS: dict[str, type[BaseEstimator]] = {
    "HistGradientBoostingClassifier": HistGradientBoostingClassifier,
    "HistGradientBoostingRegressor": HistGradientBoostingRegressor,
}
"""Learners that can be saved; a file names one of them with its parameters."""

FIELDS = {
    "value": "f8", "feature_idx": "i8", "num_threshold": "f8", "missing_go_to_left": "u1", "left": "u4",
    "right": "u4", "is_leaf": "u1", "is_categorical": "u1",
}  # fmt: skip
"""Fields of a node that predictions need, and their types."""

LINKS = {"IdentityLink": "identity", "LogLink": "log", "LogitLink": "logit", "MultinomialLogit": "softmax"}
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
    """The arrays of a fitted learner (UncertainError where they cannot be had), without the trees of the
    `first` iterations."""
    unsaved, kind = "the model cannot be saved:", type(learner).__name__
    usual = f"The default learner can be saved, and so can any {' or '.join(LEARNERS)}"
    other = f"{unsaved} a {kind} is another library's learner; {WAY_OUT}. {usual}"
    refuse_if(type(learner) not in LEARNERS.values(), other, UncertainError)
    categories = f"{unsaved} its {kind} has categorical_features, which a model file does not hold; {WAY_OUT}"
    refuse_if(getattr(learner, "is_categorical_", None) is not None, categories, UncertainError)
    try:
        link = LINKS[type(learner._loss.link).__name__]
        baseline = np.asarray(learner._baseline_prediction, dtype=np.float64).ravel()
        trees = [predictor.nodes for iteration in learner._predictors[first:] for predictor in iteration]
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise _unknown(str(error)) from error
    baseline = baseline if first == 0 else np.zeros_like(baseline)
    return TreeArrays(link, {"baseline": baseline, **_flattened(trees)}, int(learner.n_features_in_))


def first_trees(learner: BaseEstimator, count: int) -> BaseEstimator | None:
    """Learner cut after so many iterations; None if trees are unreadable."""
    trees = getattr(learner, "_predictors", None)
    if not isinstance(trees, list) or len(trees) < count:
        return None
    shorter = copy(learner)
    shorter._predictors = trees[:count]
    return shorter


def mean_trees(several: Sequence[TreeArrays]) -> TreeArrays:
    """Trees with the mean scores: leaves of M learners divided by M."""
    names = several[0].arrays
    arrays = {name: np.concatenate([one.arrays[name] for one in several]) for name in names}
    arrays["value"][arrays["column"] < 0] /= len(several)
    arrays["baseline"] = np.mean([one.arrays["baseline"] for one in several], axis=0)
    return several[0]._replace(arrays=arrays)


def _flattened(trees: list[Array]) -> dict[str, Floats]:
    """Nodes of all trees in preorder: the left child is the next node."""
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
    """Refuse arrays whose scores of the probes (n, K) differ."""
    if not np.array_equal(learner._raw_predict(probes(trees)), scores):
        raise _unknown("its trees give other predictions")


def _unknown(what: str) -> UncertainError:
    return UncertainError(
        f"the model cannot be saved: trees of scikit-learn {sklearn.__version__} have another form ({what}). "
        f"Fit and save it with scikit-learn 1.6 to 1.9 or a newer version of uncertain; else {WAY_OUT}"
    )


CoreRows = Gaussians | tuple[Gaussians, Booleans]


def core_rows(points: Floats) -> CoreRows:
    """Rows of columns, with gaps where they are NaN, as the core takes them."""
    missing = np.isnan(points)
    if missing.any():
        return Incomplete.from_arrays(points).gaussians._core, missing
    return Gaussians(Rows.from_numpy(points, *points.shape))


def probabilities(scores: Floats) -> Floats:
    """P(class), (n, K), of scores (n, K), or (n, 1) for two classes."""
    if scores.shape[1] > 1:
        return np.asarray(softmax(scores))
    second = expit(scores.squeeze(1))
    return np.stack([1 - second, second], axis=1)


def fitted(columns: str, link: str, factors: Sequence[float], arrays: dict[str, Floats]) -> Fitted:
    """Trees behind error columns, as the core has them."""
    header = encoded({"columns": columns, "link": link, "factors": list(factors)})
    return Fitted.from_arrays("trees", "{}", header, arrays)


class Trees:
    """Trees on columns that are there already."""

    def __init__(self, link: str, arrays: dict[str, Floats], n_columns: int) -> None:
        self.n_features_in_ = n_columns
        self._link = link
        # Without a link in the core: its scores are needed.
        plain = "identity" if link == "log" else link
        trees = {name: values for name, values in arrays.items() if name != "scale"}
        self._model = fitted("means", plain, (1.0, 1.0), {"scale": np.ones(n_columns), **trees})

    def _arrays(self) -> tuple[str, dict[str, Floats]]:
        """The link, and the arrays for a file."""
        arrays = self._model.arrays()
        del arrays["scale"]
        return self._link, arrays

    def _raw_predict(self, X: ArrayLike) -> Floats:
        """Sums of leaves, (n, K), in scikit-learn's order of summation."""
        points = check_array(X, dtype=np.float64, order="C", ensure_all_finite="allow-nan")
        if points.shape[1] != self.n_features_in_:
            raise UncertainError(f"X has {points.shape[1]} columns, the trees need {self.n_features_in_}")
        return self.sums(core_rows(points))

    def sums(self, rows: CoreRows) -> Floats:
        """Sums of leaves for rows of the core."""
        return _finite(np.asfortranarray(self._model.decision(rows)))

    def __repr__(self) -> str:
        sizes = self._model.arrays()["sizes"]
        return f"{type(self).__name__}({len(sizes)} trees of scikit-learn's histogram gradient boosting)"


class TreesClassifier(Trees):
    """A `HistGradientBoostingClassifier` from a file."""

    def __init__(self, link: str, arrays: dict[str, Floats], n_columns: int, classes: Labels) -> None:
        super().__init__(link, arrays, n_columns)
        self.classes_ = classes

    def predict(self, X: ArrayLike) -> Labels:
        """The class of the largest score, of two classes by its sign."""
        scores = self._raw_predict(X)
        codes = (scores.ravel() > 0).astype(int) if scores.shape[1] == 1 else np.argmax(scores, axis=1)
        labels: Labels = self.classes_[codes]
        return labels

    def decision_function(self, X: ArrayLike) -> Floats:
        """Scores, (n,) for two classes, else (n, K)."""
        scores = self._raw_predict(X)
        return scores.ravel() if scores.shape[1] == 1 else scores

    def predict_proba(self, X: ArrayLike) -> Floats:
        """P(class), (n, K)."""
        return probabilities(self._raw_predict(X))


class TreesRegressor(Trees):
    """A `HistGradientBoostingRegressor` from a file."""

    def predict(self, X: ArrayLike) -> Floats:
        scores = self._raw_predict(X).ravel()
        if self._link != "log":
            return scores
        with np.errstate(over="ignore"):
            return _finite(np.exp(scores))


def _finite(answers: Floats) -> Floats:
    """Answers; UncertainError if leaves add up to infinity (forged file)."""
    if not np.isfinite(answers).all():
        row = int(np.argwhere(~np.isfinite(answers))[0, 0])
        raise UncertainError(f"row {row}: the leaves of the trees add up to a prediction that is not finite")
    return answers
