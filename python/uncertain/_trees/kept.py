"""Trees from a file: what stands for scikit-learn's learner after loading.

The core adds up the leaves; the last step, from scores to predictions, is scikit-learn's own function on an
array of the same layout, so that answers are the learner's to the last bit.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit
from sklearn.utils.extmath import softmax
from sklearn.utils.validation import check_array

from .._base.core import encoded
from .._data.incomplete import Incomplete
from .._data.typing import Booleans, Floats, Labels
from .._uncertain import Fitted, Gaussians, Rows
from ..exceptions import UncertainError

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


class _Trees:
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
        """Sums of leaves, (n, K), in scikit-learn's order of memory, on which sums over them depend."""
        points = check_array(X, dtype=np.float64, order="C", ensure_all_finite="allow-nan")
        if points.shape[1] != self.n_features_in_:
            raise UncertainError(f"X has {points.shape[1]} columns, the trees know {self.n_features_in_}")
        return self.sums(core_rows(points))

    def sums(self, rows: CoreRows) -> Floats:
        """The same of rows that the core has."""
        return _finite(np.asfortranarray(self._model.decision(rows)))

    def __repr__(self) -> str:
        sizes = self._model.arrays()["sizes"]
        return f"{type(self).__name__}({len(sizes)} trees of scikit-learn's histogram gradient boosting)"


class TreesClassifier(_Trees):
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


class TreesRegressor(_Trees):
    """A `HistGradientBoostingRegressor` from a file."""

    def predict(self, X: ArrayLike) -> Floats:
        """Numbers, (n,)."""
        scores = self._raw_predict(X).ravel()
        if self._link != "log":
            return scores
        with np.errstate(over="ignore"):
            return _finite(np.exp(scores))


def _finite(answers: Floats) -> Floats:
    """The answers; UncertainError where leaves add up to infinity, as only those of a forged file do."""
    if not np.isfinite(answers).all():
        row = int(np.argwhere(~np.isfinite(answers))[0, 0])
        raise UncertainError(f"row {row}: the leaves of the trees add up to a prediction that is not finite")
    return answers
