"""`SavedTrees`: estimators whose learner gets error columns, in model files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator

from .._base.core import NOT_SAVED, Core, decoded
from .._data.typing import Floats, Keywords
from .._data.warn import warn
from .._uncertain import Fitted
from ..exceptions import UncertainError, UncertainWarning
from ..preprocessing import ErrorColumns
from ..preprocessing._error_columns import TREES
from .kept import TreesClassifier, TreesRegressor, _Trees, fitted
from .residuals import ResidualForest
from .scikit_learn import LEARNERS, TreeArrays, check_predictions, flat_trees, mean_trees, probes


class SavedTrees(Core):
    """Mixin of what has a fitted learner `estimator_` behind `error_columns_`.

    A file holds the columns' scales and the trees, if the learner is scikit-learn's histogram gradient
    boosting; what comes back answers to the last bit as the learner did.
    """

    _kinds: ClassVar[tuple[str, ...]] = ()
    estimator: BaseEstimator | None
    estimator_: BaseEstimator | _Trees
    error_columns_: ErrorColumns
    factors_: tuple[float, float]
    _residuals: ResidualForest | None

    def _steps(self) -> list[Fitted]:
        columns = self.error_columns_
        link, arrays = self._tree_arrays()
        arrays["scale"] = np.ascontiguousarray(columns.scale_, dtype=np.float64)
        residuals = getattr(self, "_residuals", None)
        if residuals is not None:
            arrays |= residuals.arrays()
        return [fitted(columns.columns, link, self.factors_, arrays)]

    def _tree_arrays(self) -> tuple[str, dict[str, Floats]]:
        """Of the learner, its own or scikit-learn's."""
        if isinstance(self.estimator_, _Trees):
            return self.estimator_._arrays()
        trees = self._flat(self.estimator_)
        return trees.link, trees.arrays

    def _flat(self, learner: BaseEstimator) -> TreeArrays:
        """The arrays of scikit-learn's learner, which answer as it does."""
        trees = flat_trees(learner)
        check_predictions(learner, trees, self._as_loaded(trees)._raw_predict(probes(trees)))
        return trees

    def _averaged(self, learners: Sequence[BaseEstimator]) -> BaseEstimator | _Trees:
        """What answers with the mean of their scores: the learner itself, or all trees as one learner's."""
        if len(learners) == 1:
            return learners[0]
        try:
            return self._as_loaded(mean_trees([self._flat(learner) for learner in learners]))
        except UncertainError as error:  # such as of a scikit-learn that is yet to come
            several = len(learners)
            warn(
                f"one learner answers instead of the mean of {several} (n_learners): {error}",
                UncertainWarning,
            )
            return learners[0]

    def _as_loaded(self, trees: TreeArrays) -> _Trees:
        """What stands for the learner after loading."""
        classes = getattr(self, "classes_", None)
        return TreesRegressor(*trees) if classes is None else TreesClassifier(*trees, classes)

    def _loaded(self, model: Fitted) -> Self:
        header, arrays = decoded(model.header), model.arrays()
        # Trees that were grown with a larger floor have no threshold below it.
        self.error_columns_ = ErrorColumns(header["columns"], floor=TREES)
        self.error_columns_.scale_ = arrays["scale"]
        self.error_columns_.n_features_in_ = d = len(arrays["scale"])
        self.factors_ = tuple(header["factors"])
        self._set_residuals(arrays)
        n_columns = {"means": d, "errors": 2 * d, "skewness": 3 * d}.get(
            header["columns"], 2 * d + d * (d - 1) // 2
        )
        self.estimator_ = self._as_loaded(TreeArrays(header["link"], arrays, n_columns))
        return self

    def _set_residuals(self, arrays: dict[str, Floats]) -> None:
        """Take the forest of a density, where there is one, out of the arrays."""
        residuals = ResidualForest.from_arrays(arrays)
        if residuals is not None:
            self._residuals = residuals
            for name in residuals.arrays():
                del arrays[name]

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
            if name not in LEARNERS:
                raise ValueError(f"estimator = {saved!r}")
            learner = LEARNERS[name]()
            # Those of another version of scikit-learn do not matter to predictions, nor do those of a run.
            names = learner.get_params(deep=False).keys() - NOT_SAVED
            parameters["estimator"] = learner.set_params(**{k: v for k, v in saved.items() if k in names})
        if isinstance(parameters.get("factors"), list):
            parameters["factors"] = tuple(parameters["factors"])
        super()._set_saved(parameters)
