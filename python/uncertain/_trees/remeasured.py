"""Parts of both re-measured estimators: copies of rows and their learner.

Idea: a learner that gets the sizes of errors as columns treats them as properties of a class, and fails where
tomorrow's errors are larger. So it also gets every row as it would have been read with larger and smaller
errors, with the same label. The size of an error then tells it only how far to trust the value.

Rejected: draws from the posterior alone, averaged over (the learner sees denoised rows and never learns what
a bad one looks like; 3 points worse on Kepler's catalogue).
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass
from functools import cache
from typing import ClassVar, Literal, NamedTuple, Self, cast

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator, clone
from sklearn.utils import Tags, get_tags
from sklearn.utils.validation import check_is_fitted, has_fit_parameter
from threadpoolctl import ThreadpoolController

from .._base.core import NOT_SAVED, Core, decoded
from .._base.sums import BeyondSums, Need
from .._data.array import GaussianArray
from .._data.groups import groups_from
from .._data.incomplete import GaussianRows, Incomplete, filled_gaussians, like
from .._data.options import check_option, refuse_if
from .._data.typing import Array, Floats, Keywords, Labels, RandomState, RowValues
from .._data.validation import RowsLike, check_rows, check_sample_weight, generator_from
from .._data.warn import warn
from .._uncertain import Fitted
from ..exceptions import UncertainError, UncertainWarning
from ..preprocessing import ErrorColumns
from ..preprocessing._columns import COLUMNS, FLOOR, TREES
from ..preprocessing._readings import Random, Readings, Truth, drawn_factors, is_mixed
from . import boosting
from .number_of_trees import Targets, number_of_trees
from .residuals import ResidualForest

SMALLEST = 0.1
"""The smallest factor of "auto"."""
WIDTH = 2.0
"""Width of the errors of copies with "auto", in units of the spread of the data."""
WIDEST = 8.0
"""The largest factor of "auto". Copies for errors that never occur make others fewer."""
RATE = 0.05
"""Learning rate of the default learner."""
SHARE, LEAST = 0.5, 4
"""Share of the columns, and least number, for each split of the default learner: copies differ in few."""
DOWNWARDS = 1 / 4
"""The share of copies with smaller errors."""
MOST_COPIES = 10_000
"""More can only be a mistake; eight are enough."""
SMALL = 4_000_000
"""Numbers of all copies up to which one thread grows trees as fast as several."""
AUTO_LEARNERS = 4
"""Most learners of "auto"."""
WORK = 400_000_000
"""Rows x columns x trees of all learners of "auto" together, some ten seconds of one core."""
MOST_LEARNERS = 1_000
"""More can only be a mistake."""
BLOCK = 16_384
"""Rows that are re-measured at a time."""
_pools = cache(ThreadpoolController)  # threads of this process, which take a while to find


class Copies(NamedTuple):
    """Columns of rows and copies for the learner, with targets and weights."""

    table: Floats
    """(copies, n, columns)."""
    y: Labels
    weights: Floats | None
    groups: RowValues


@dataclass(eq=False, repr=False)
class Remeasured(Core, BaseEstimator):
    """Copies of rows, and a learner `estimator_` fitted to all of them.

    A model file holds the columns' scales and the trees, if the learner is scikit-learn's histogram gradient
    boosting; the model that is read predicts to the last bit as the learner did.
    """

    estimator: BaseEstimator | None = None
    _: KW_ONLY
    n_copies: int = 8
    factors: Literal["auto"] | tuple[float, float] = "auto"
    per_feature: float = 0.5
    error_columns: Literal["errors", "correlations", "skewness"] = "errors"
    n_components: int = 5
    n_trees: Literal["auto"] | int = "auto"
    n_learners: Literal["auto"] | int = "auto"
    random_state: RandomState = None
    n_jobs: int | None = None

    def _beyond_sums(self) -> Iterator[BeyondSums]:
        yield BeyondSums(
            Need.MEMORY,
            f"{type(self).__name__} learns from copies of the rows",
            'use method="gsu" or "discriminant", or fit a sample of the rows',
        )

    def _fit(
        self,
        X: RowsLike,
        y: Labels,
        sample_weight: RowValues,
        groups: RowValues,
        classes: Labels | None = None,
    ) -> Self:
        """Fit the learner to all copies; `y` has been checked."""
        self._check()
        rows = self._rows(X, reset=True)
        weights = check_sample_weight(sample_weight, len(rows))
        if weights is not None and not weights.all():
            counted = np.flatnonzero(weights)
            groups = None if groups is None else groups_from(groups, "groups", len(rows))[counted]
            rows, y, weights = rows[counted], y[counted], weights[counted]
            classes = None if classes is None else classes[counted]
        random = generator_from(self.random_state)
        copies = self._begin(rows)
        targets = y if classes is None else classes
        truth = self._fit_truth(rows, targets, weights, copies, random)
        table = self._copied(rows, targets, truth, copies, random)
        training = Copies(table, y, weights, groups)
        with self._quiet(table):
            if self.estimator is None:
                learner = self._boosting(table, random)
                self.n_trees_ = self._count(learner, training, random)
                self._set_trees(learner, table)
            else:
                learner = self._learner(random)
            scaled = of_mean_one(weights) if self.estimator is None else weights
            learners = [self._trained(learner, table, y, scaled)]
            if (several := self._how_many(table)) > 1:
                # Random numbers that do not depend on whether trees were counted.
                later = np.random.RandomState(learner.random_state)
                for _ in range(1, several):
                    other = clone(learner).set_params(random_state=_seed(later))
                    again = self._copied(rows, targets, truth, copies, later)
                    learners.append(self._trained(other, again, y, scaled))
            self.estimator_ = self._averaged(learners)
            self._learn_density(learner, training, random)
        return self

    def _begin(self, rows: GaussianRows) -> int:
        """Learn the learner's columns and the range of factors; the number of copies."""
        gaussians = filled_gaussians(rows).collapse("gaussian")
        if isinstance(rows, Incomplete) and rows.missing.all(axis=0).any():
            j = int(rows.missing.all(axis=0).argmax())
            raise UncertainError(f"feature {j} is missing in every row; leave it out")
        exact = gaussians.kind == "zero" or not gaussians.trace().any()
        floor = TREES if self.estimator is None else FLOOR
        skewed = self.error_columns == "errors" and is_mixed(filled_gaussians(rows))
        columns = "skewness" if skewed else self.error_columns
        self.error_columns_ = ErrorColumns(columns, floor=floor).fit(rows)
        self.factors_: tuple[float, float] = (1.0, 1.0) if exact else self._range(like(rows, gaussians))
        return 1 if exact else self.n_copies

    def _how_many(self, table: Floats) -> int:
        """Number of learners; one if copies are equal or targets constant."""
        if self.estimator is not None or len(table) == 1 or self.n_trees_ == 0:
            return 1
        if not isinstance(self.n_learners, str):
            return int(self.n_learners)
        n_classes = len(getattr(self, "classes_", ()))
        trees = self.n_trees_ * (n_classes if n_classes > 2 else 1)
        return min(AUTO_LEARNERS, max(1, WORK // (table.size * trees)))

    @contextmanager
    def _quiet(self, table: Floats) -> Iterator[None]:
        """Limit threads to what the table is worth, and restore filters of warnings, which threads may leave
        changed."""
        with _pools().limit(limits=self._threads(table), user_api="openmp"), warnings.catch_warnings():
            yield

    def _learn_density(self, learner: BaseEstimator, training: Copies, random: Random) -> None:
        """Learn the density of a regression with ``density=True``."""

    def _threads(self, table: Floats) -> int | None:
        """Threads of OpenMP, None for all: the default learner has no n_jobs."""
        if self.estimator is not None:
            return None
        if self.n_jobs is not None:
            return int(effective_n_jobs(self.n_jobs))
        return 1 if table.size < SMALL else None

    def _boosting(self, table: Floats, random: Random) -> BaseEstimator:
        """The default learner, unfitted, without its number of trees."""
        copies, n, columns = table.shape
        varying = int((np.nanmax(table, axis=(0, 1)) > np.nanmin(table, axis=(0, 1))).sum())
        return self._boosted(
            learning_rate=RATE,
            early_stopping=False,  # it would see copies of rows that it holds out
            min_samples_leaf=min(20, 1 + n // 10) * copies,
            # Of a rare class a few rows would make sure of it in one step.
            l2_regularization=float(copies),
            max_features=min(1.0, max(SHARE, LEAST / max(varying, 1)) * columns / max(varying, 1)),
            random_state=_seed(random) if self.random_state is not None else None,
        )

    def _count(self, learner: BaseEstimator, training: Copies, random: Random) -> int:
        """Number of trees that helps held-out rows, or `n_trees`."""
        if not isinstance(self.n_trees, str):
            return int(self.n_trees)
        table, y, weights, groups = training
        copies, n, _ = table.shape
        codes = None if groups is None else groups_from(groups, "groups", n)
        judged = np.arange(copies) > self._downwards(copies)
        judged[0] = True
        targets = Targets(y, of_mean_one(weights), codes)
        return number_of_trees(learner, table, targets, judged, random)

    def _set_trees(self, learner: BaseEstimator, table: Floats) -> None:
        """Give the default learner its number of trees."""
        # A tree whose leaves need more rows than there are is a constant.
        constant = {"min_samples_leaf": table.shape[0] * table.shape[1]} if self.n_trees_ == 0 else {}
        learner.set_params(max_iter=max(self.n_trees_, 1), **constant)

    def _for_fewer_copies(self, learner: BaseEstimator, some: int, copies: int) -> BaseEstimator:
        """The default learner, which counts and weighs copies, for some of them."""
        if self.estimator is not None:
            return learner
        return learner.set_params(
            min_samples_leaf=max(1, learner.min_samples_leaf * some // copies), l2_regularization=float(some)
        )

    def _trained(
        self, learner: BaseEstimator, table: Floats, y: Labels, weights: Floats | None
    ) -> BaseEstimator:
        """The learner, fitted to copies that share the weight of their row."""
        copies, n, columns = table.shape
        arguments: Keywords = {}
        weighable = has_fit_parameter(learner, "sample_weight")
        if weights is not None:
            refuse_if(not weighable, f"sample_weight: {type(learner).__name__} takes no weights")
            # The default learner counts copies.
            arguments["sample_weight"] = np.tile(weights / (1 if self.estimator is None else copies), copies)
        elif self.estimator is not None and weighable and copies > 1:
            # A penalty weighs against the sum over rows, not over copies.
            arguments["sample_weight"] = np.full(copies * n, 1.0 / copies)
        return learner.fit(table.reshape(copies * n, columns), np.tile(y, copies), **arguments)

    def _downwards(self, copies: int) -> int:
        """The number of copies with smaller errors; they come first."""
        smallest, largest = self.factors_
        return 0 if smallest >= 1.0 else round((copies - 1) * (DOWNWARDS if largest > 1.0 else 1.0))

    def _fit_truth(
        self, rows: GaussianRows, targets: Labels, weights: Floats | None, copies: int, random: Random
    ) -> Truth | None:
        """Distribution of true values (for smaller errors) given the target."""
        if not self._downwards(copies):
            return None
        return self._truth(rows, targets, weights, self.n_components, random)

    def _copied(
        self, rows: GaussianRows, targets: Labels, truth: Truth | None, copies: int, random: Random
    ) -> Floats:
        """Columns of all rows, then of their copies, (copies, n, columns).

        Without a `truth` there are no copies with smaller errors.
        """
        n = len(rows)
        smallest, largest = self.factors_
        downwards = self._downwards(copies)
        if truth is None:
            copies, downwards = copies - downwards, 0
        table = np.empty((copies, n, len(self.error_columns_.get_feature_names_out())))
        for start in range(0, n, BLOCK):  # so that covariances are written out for a block only
            part = slice(start, start + BLOCK)
            some = rows[part]
            table[0, part] = self.error_columns_.transform(some)
            readings = Readings(some, random, truth.posterior(some, targets[part]) if truth else None)
            for k in range(1, copies):
                if k <= downwards:
                    ends, share = (smallest, min(largest, 1.0)), 0.0
                else:
                    ends, share = (max(smallest, 1.0), max(largest, 1.0)), self.per_feature
                factors = drawn_factors(some.shape, ends, share, random)
                table[k, part] = self.error_columns_.transform(readings.again(factors))
        return table

    def _check(self) -> None:
        _check_count("n_copies", self.n_copies, 1, MOST_COPIES)
        _check_count("n_components", self.n_components, 1)
        if self.n_trees != "auto":
            _check_count("n_trees", self.n_trees, 0, or_auto=True)
        if self.n_learners != "auto":
            _check_count("n_learners", self.n_learners, 1, MOST_LEARNERS, or_auto=True)
        foreign = self.estimator is not None
        default = "is for the default learner"
        counted = foreign and self.n_trees != "auto"
        refuse_if(counted, f"n_trees = {self.n_trees}: {default}; set it in estimator=")
        several = foreign and self.n_learners not in ("auto", 1)
        refuse_if(several, f"n_learners = {self.n_learners}: {default}")
        check_option("error_columns", self.error_columns, COLUMNS)
        share, number = self.per_feature, (int, float, np.number)
        outside = not isinstance(share, number) or not 0 <= share <= 1
        refuse_if(outside, f"per_feature = {share!r}: must be a share between 0 and 1")
        if self.factors != "auto":
            pair = isinstance(self.factors, (tuple, list)) and len(self.factors) == 2
            pair = pair and all(isinstance(factor, number) for factor in self.factors)
            outside = not pair or not 0.0 < self.factors[0] <= self.factors[1] < math.inf
            wanted = '"auto" or the smallest and the largest factor, such as (1, 4)'
            refuse_if(outside, f"factors = {self.factors!r}: must be {wanted}")

    def _range(self, rows: GaussianRows) -> tuple[float, float]:
        """Smallest and largest factor: until noise is as wide as the data."""
        if self.factors != "auto":
            return float(self.factors[0]), float(self.factors[1])
        sizes = 10.0 ** ErrorColumns().fit(rows).transform(rows)[:, rows.n_features :]
        noisy = sizes[sizes > 1.001e-3]
        widest = WIDTH / float(np.median(noisy)) if noisy.size else 1.0
        return SMALLEST, min(max(widest, 2.0), WIDEST)

    def _learner(self, random: Random) -> BaseEstimator:
        """The caller's learner, unfitted."""
        learner = clone(self.estimator)
        if "random_state" in learner.get_params() and self.random_state is not None:
            learner.set_params(random_state=_seed(random))
        if "n_jobs" in learner.get_params() and self.n_jobs is not None:
            learner.set_params(n_jobs=self.n_jobs)
        return learner

    _truth: ClassVar[type[Truth]]
    _boosted: ClassVar[type[BaseEstimator]]
    """The default learner."""

    def _columns(self, X: RowsLike) -> Floats:
        """The columns that the learner knows."""
        check_is_fitted(self)
        columns: Floats = self.error_columns_.transform(self._rows(X, reset=False))
        return columns

    def _with_sharp_errors(self, columns: Floats) -> Floats:
        """Columns of the readings with errors as small as in any copy."""
        names = self.error_columns_
        d = names.n_features_in_
        sizes = slice(d, d if names.columns == "means" else 2 * d)
        columns = columns.copy()
        least = math.log10(names.floor)
        columns[:, sizes] = np.maximum(columns[:, sizes] + math.log10(min(self.factors_[0], 1.0)), least)
        return columns

    def _asked(self, method: str, X: RowsLike) -> Array:
        """Call a method of the learner; with one thread for few rows."""
        columns = self._columns(X)
        with _pools().limit(limits=self._threads(columns), user_api="openmp"):
            return np.asarray(getattr(self.estimator_, method)(columns))

    def _rows(self, X: RowsLike, *, reset: bool) -> GaussianRows:
        """X as Gaussians with the names of the fit, and with gaps if it has some."""
        core, missing = check_rows(self, X, reset=reset)
        rows = GaussianArray._from_core(core, getattr(self, "feature_names_in_", None))
        return rows if missing is None else Incomplete(rows, missing)

    def predict(self, X: RowsLike) -> Labels:
        """The learner's prediction from the row's means and the sizes of its errors.

        Parameters
        ----------
        X : GaussianArray of n rows, or array-like of shape (n, d)
            Gaussians, or exact points; missing features as in `fit`.

        Returns
        -------
        ndarray of shape (n,)
        """
        return self._asked("predict", X)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        learner = self._boosted() if self.estimator is None else self.estimator
        tags.input_tags.allow_nan = get_tags(learner).input_tags.allow_nan
        return tags

    def _steps(self) -> list[Fitted]:
        columns = self.error_columns_
        link, arrays = self._tree_arrays()
        arrays["scale"] = np.ascontiguousarray(columns.scale_, dtype=np.float64)
        residuals = getattr(self, "_residuals", None)
        if residuals is not None:
            arrays |= residuals.arrays()
        return [boosting.fitted(columns.columns, link, self.factors_, arrays)]

    def _tree_arrays(self) -> tuple[str, dict[str, Floats]]:
        """Link and arrays of the learner's trees."""
        if isinstance(self.estimator_, boosting.Trees):
            return self.estimator_._arrays()
        trees = self._flat(self.estimator_)
        return trees.link, trees.arrays

    def _flat(self, learner: BaseEstimator) -> boosting.TreeArrays:
        """The arrays of scikit-learn's learner, which answer as it does."""
        trees = boosting.flat_trees(learner)
        boosting.check_predictions(
            learner, trees, self._as_loaded(trees)._raw_predict(boosting.probes(trees))
        )
        return trees

    def _averaged(self, learners: Sequence[BaseEstimator]) -> BaseEstimator | boosting.Trees:
        """Learner with the mean scores: the trees of all as one."""
        if len(learners) == 1:
            return learners[0]
        try:
            return self._as_loaded(boosting.mean_trees([self._flat(learner) for learner in learners]))
        except UncertainError as error:  # such as of a scikit-learn that is yet to come
            count = len(learners)
            warn(f"n_learners: one learner is used, not the mean of {count}: {error}", UncertainWarning)
            return learners[0]

    def _as_loaded(self, trees: boosting.TreeArrays) -> boosting.Trees:
        """Learner of a model file."""
        classes = getattr(self, "classes_", None)
        return (
            boosting.TreesRegressor(*trees) if classes is None else boosting.TreesClassifier(*trees, classes)
        )

    def _loaded(self, model: Fitted) -> Self:
        header, arrays = decoded(model.header), model.arrays()
        # Trees that were grown with a larger floor have no threshold below it.
        self.error_columns_ = ErrorColumns(header["columns"], floor=TREES)
        self.error_columns_.scale_ = arrays["scale"]
        self.error_columns_.n_features_in_ = d = len(arrays["scale"])
        self.factors_ = tuple(header["factors"])
        residuals = ResidualForest.from_arrays(arrays)
        if residuals is not None:
            self._residuals: ResidualForest | None = residuals
            arrays = {name: values for name, values in arrays.items() if name not in residuals.arrays()}
        n_columns = {"means": d, "errors": 2 * d, "skewness": 3 * d}.get(
            header["columns"], 2 * d + d * (d - 1) // 2
        )
        self.estimator_ = self._as_loaded(boosting.TreeArrays(header["link"], arrays, n_columns))
        return self

    def _set_names(self, names: Sequence[str]) -> None:
        super()._set_names(names)
        self.error_columns_.feature_names_in_ = self.feature_names_in_

    def _saved_params(self) -> Keywords:
        saved = super()._saved_params()
        learner = self.estimator
        if learner is not None:
            # By its name, one of LEARNERS: a fit to the same data is the same again.
            params = {k: v for k, v in learner.get_params(deep=False).items() if k not in NOT_SAVED}
            saved["estimator"] = {"learner": type(learner).__name__, **params}
        return saved

    def _set_saved(self, parameters: Keywords) -> None:
        saved = parameters.get("estimator")
        if saved is not None:
            name = saved.get("learner") if isinstance(saved, dict) else None
            if name not in boosting.LEARNERS:
                raise ValueError(f"estimator = {saved!r}")
            learner = boosting.LEARNERS[name]()
            # Parameters of other versions of scikit-learn, and of a run, do not matter to predictions.
            names = learner.get_params(deep=False).keys() - NOT_SAVED
            parameters["estimator"] = learner.set_params(**{k: v for k, v in saved.items() if k in names})
        if isinstance(parameters.get("factors"), list):
            parameters["factors"] = tuple(parameters["factors"])
        super()._set_saved(parameters)


def _seed(random: Random) -> int:
    return int(random.randint(2**31 - 1))


def _check_count(
    name: str, value: object, least: int, most: float = math.inf, *, or_auto: bool = False
) -> None:
    """Refuse what is no integer of this range."""
    is_integer = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    allowed = f"from {least} to {most}" if most < math.inf else f">= {least}"
    outside = not is_integer or not least <= int(cast(int, value)) <= most
    auto = '"auto" or ' if or_auto else ""
    refuse_if(outside, f"{name} = {value!r:.30}: must be {auto}an integer {allowed}")


def of_mean_one(weights: Floats | None) -> Floats | None:
    """Weights of mean 1, because the penalty of leaves is per row."""
    if weights is None:
        return None
    weights = weights / weights.max()
    return np.asarray(weights * (len(weights) / weights.sum()))


def has_method(model: Remeasured, method: str) -> bool:
    """True if the learner has this method; else AttributeError with its name."""
    # Not by truth: a forest without trees counts them.
    unfitted = model._boosted() if model.estimator is None else model.estimator
    learner = getattr(model, "estimator_", unfitted)
    refuse_if(not hasattr(learner, method), f"{type(learner).__name__} has no {method}", AttributeError)
    return True
