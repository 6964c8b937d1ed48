"""How much a model's score drops when the values of a feature, with their error bars, are permuted.

Idea: a feature matters as far as predictions get worse without what it says. Taking it from another row keeps
its distribution and breaks all it has to do with this row. A value and its error bar are one reading and move
together; an error of the moved reading has nothing to do with the errors of the other readings of its new
row, so covariances between moved and other features become zero (kept, they would say that two readings of
different objects went wrong together). Features that belong together move as a block, with the covariances
they have among themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from joblib import Parallel, delayed
from sklearn.utils import check_random_state

from .._data.groups import Groups
from .._data.incomplete import GaussianRows
from .._data.typing import ColumnOrValues, Estimator, Floats, Ints, Labels, Predictor, RandomState
from .._data.validation import TableLike
from .._held_out.means import standard_error
from .._report.folds import check_counts
from .._report.held_out import OF_ALL_CLASSES, compute_answer
from .._report.metrics import OF_CLASSES, OF_NUMBERS, Metric, chosen_metrics
from .._rows.sampled import REMEMBERED_ROWS
from ..exceptions import ParameterError, UncertainError
from ._subject import Feature, Subject, picked, replaced

Scorer = Callable[[Estimator, GaussianRows, Labels], float]


@dataclass(frozen=True, repr=False)
class Importances:
    """How much each feature matters; the rows of every array are features."""

    names: tuple[str, ...]
    """The features, or blocks of them."""
    importances: Floats
    """Drop of the score (rise of a loss) in every repeat, shape (features, n_repeats)."""
    standard_error: Floats
    """Standard error of the mean drop, for another sample of rows or groups; NaN for a callable score."""
    score: float
    """The score of the rows as they are."""
    scoring: str
    """What the score is."""

    @property
    def importances_mean(self) -> Floats:
        """Mean over the repeats."""
        return np.asarray(self.importances.mean(axis=1))

    @property
    def importances_std(self) -> Floats:
        """Standard deviation over the repeats, from the random permutations alone."""
        return np.asarray(self.importances.std(axis=1))

    def to_dict(self) -> dict[str, list[object]]:
        """Columns of a table, the most important feature first."""
        order = np.argsort(-self.importances_mean, kind="stable")
        return {
            "feature": [self.names[j] for j in order],
            "importance": self.importances_mean[order].tolist(),
            "standard_error": self.standard_error[order].tolist(),
        }

    def __repr__(self) -> str:
        width = max(map(len, self.names))
        columns = self.to_dict()
        lines = [
            f"Drop of the {self.scoring} ({self.score:.4g}) when a feature is permuted (+- standard error)"
        ]
        for name, mean, se in zip(*columns.values(), strict=True):
            error = "" if np.isnan(se) else f" +- {se:.2g}"
            lines.append(f"  {name:<{width}}  {mean:+.4g}{error}")
        return "\n".join(lines)


def permutation_importance(
    model: Predictor,
    X: TableLike,
    y: ColumnOrValues | None = None,
    *,
    features: Sequence[Feature | Sequence[Feature]] | None = None,
    scoring: str | Scorer | None = None,
    n_repeats: int = 5,
    groups: ColumnOrValues | None = None,
    random_state: RandomState = 0,
    n_jobs: int | None = None,
    max_rows: int | None = REMEMBERED_ROWS,
) -> Importances:
    """How much the score drops when a feature is taken from other rows, value and error bar together.

    Row i gets mean and variance of feature j from row p(i), where p is a random permutation. Covariances of
    the feature with others become zero, because readings of different rows have independent errors; those of
    the other features with each other stay. Gaps move like values.

    Parameters
    ----------
    model : a `Model`, or a fitted estimator or pipeline that takes a GaussianArray.
    X : the table (or file) for a `Model`; a GaussianArray or an array of exact points for an estimator. Use
        rows that the model was not fitted to: on its own it may seem to need what it only memorised.
    y : targets, one per row; a `Model` takes them from the column that it was fitted to.
    features : names or numbers of the features to move; by default each of them by itself. A list or tuple
        inside is a block that moves together and keeps the covariances within: ``[("u", "g"), "r"]``.
    scoring : a measure of `Model.report`, such as "balanced_accuracy", "log_loss" or "rmse"; or a callable
        (estimator, X, y) -> number, where more is better, such as a scorer of scikit-learn. By default
        "accuracy", or "r2" for numbers.
    n_repeats : permutations per feature.
    groups : what rows of one object share (a column, for a table, or values): a value then never comes from
        another row of the same object, which would say almost the same, and standard errors count objects.
        By default the column that the model was fitted with.
    random_state : seed of the permutations.
    n_jobs : threads that move features at the same time; None means 1.
    max_rows : of a larger table of a `Model` about so many rows (or whole groups) are looked at, drawn by a
        hash as in `Model.report`; a file or query is read once, batch by batch. None: all rows.

    Returns
    -------
    Importances : with `names`, `importances` (features, n_repeats), `importances_mean`, `importances_std`,
        `standard_error` and `score`; printed as a table.

    Raises
    ------
    UncertainError (a ValueError) : for a feature that there is not, or a group of more than half of the rows.

    Examples
    --------
    >>> import numpy as np
    >>> from uncertain import GaussianArray, GSUClassifier
    >>> from uncertain.inspection import permutation_importance
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(100) % 2
    >>> means = np.stack([2.0 * y, np.zeros(100)], axis=1) + rng.normal(size=(100, 2))
    >>> X = GaussianArray(means, std=0.3)
    >>> result = permutation_importance(GSUClassifier().fit(X, y), X, y)
    >>> bool(result.importances_mean[0] > 0.2 > 0.05 > result.importances_mean[1])
    True
    """
    check_counts(n_repeats=(n_repeats, 1))
    subject = Subject.from_arguments(model, X, y, groups, labelled=True, max_rows=max_rows)
    chosen = range(subject.rows.n_features) if features is None else features
    blocks = [subject.block(feature) for feature in chosen]
    assert subject.truth is not None
    score = _Score.from_name(subject, scoring)
    base = score.rows(subject.rows)
    seeds = check_random_state(random_state).randint(2**31 - 1, size=(len(blocks), n_repeats))

    def drop(block: tuple[int, ...], seed: int) -> Floats:
        source = _dealt(len(subject.rows), subject.groups, np.random.default_rng(seed))
        moved = replaced(subject.rows, block, picked(subject.rows, block)[source])
        return score.sign * (base - score.rows(moved))

    tasks = (delayed(drop)(block, seed) for block, row in zip(blocks, seeds, strict=True) for seed in row)
    drops = np.stack(Parallel(n_jobs=n_jobs, prefer="threads")(tasks)).reshape(len(blocks), n_repeats, -1)
    by_row = drops.shape[2] == len(subject.rows) > 1
    return Importances(
        tuple(subject.label(block) for block in blocks),
        drops.mean(axis=2),
        np.array([standard_error(d, subject.groups) if by_row else np.nan for d in drops]),
        float(base.mean()),
        score.label,
    )


@dataclass(frozen=True)
class _Score:
    """A measure, as numbers per row whose mean it is; of a callable that one number."""

    subject: Subject
    metric: Metric | None
    scorer: Scorer | None

    @classmethod
    def from_name(cls, subject: Subject, scoring: str | Scorer | None) -> _Score:
        if callable(scoring):
            return cls(subject, None, scoring)
        usable = [m for m in (OF_NUMBERS if subject.regression else OF_CLASSES) if m.sign]
        default = "r2" if subject.regression else "accuracy"
        _, metric = chosen_metrics((), default if scoring is None else scoring, usable)
        if metric.needs == "probabilities" and not hasattr(subject.estimator, "predict_proba"):
            raise ParameterError(f"scoring={metric.name!r}: the model gives no probabilities")
        return cls(subject, metric, None)

    @property
    def sign(self) -> int:
        return 1 if self.metric is None else self.metric.sign

    @property
    def label(self) -> str:
        return "score" if self.metric is None else self.metric.label

    def rows(self, rows: GaussianRows) -> Floats:
        estimator, truth = self.subject.estimator, self.subject.truth
        if self.metric is None:
            assert self.scorer is not None
            assert truth is not None
            return np.array([float(self.scorer(estimator, rows, truth))])
        numbers = np.arange(len(rows))
        needs = {self.metric.needs}
        answer = compute_answer(estimator, rows, numbers, needs, probability=bool(needs & OF_ALL_CLASSES))
        scores = self.metric.by_row(truth, answer, getattr(estimator, "classes_", np.empty(0)))  # type: ignore[arg-type]
        if scores is None:
            raise UncertainError(
                f"the {self.metric.label} of these rows is not defined: their targets are all alike"
            )
        return scores


def _dealt(n: int, groups: Groups | None, rng: np.random.Generator) -> Ints:
    """A permutation of the rows; with groups one that gives every row a value from another group.

    Groups in random order, their rows behind each other, shifted by at least the size of the largest group:
    no row then meets one of its own.
    """
    if groups is None:
        return rng.permutation(n)
    sizes = np.bincount(np.unique(groups.codes, return_inverse=True)[1])
    largest = int(sizes.max())
    if 2 * largest > n:
        raise UncertainError(
            f"one {groups.name} has {largest} of the {n} rows: its values cannot all come from other groups; "
            "pass groups=False (of a Model) or None, or more rows of others"
        )
    places = rng.permutation(len(sizes))[np.unique(groups.codes, return_inverse=True)[1]]
    order = np.lexsort((rng.random(n), places))
    source = np.empty(n, dtype=np.int64)
    source[order] = np.roll(order, int(rng.integers(largest, n - largest + 1)))
    return source
