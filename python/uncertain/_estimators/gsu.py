"""SVM-GSU: support vector machines and regression for Gaussian rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.metaestimators import available_if

from .._base.classifiers import predicted, target_arguments
from .._base.core import keep_reports, warn_unless_converged
from .._base.docs import documented
from .._base.sums import BeyondSums, Need
from .._data.column import read_column
from .._data.options import refuse_if
from .._data.targets import places
from .._data.typing import ClassWeight, Floats, Header, Keywords, RandomState, RowValues
from .._data.validation import RowsLike, check_gaussians, check_stds, check_weights, one_per_row
from ..exceptions import UncertainError
from .linear import Kernelized, LinearClassifier

__all__ = ["GSUClassifier", "GSURegressor"]


def _in_batches(estimator: GSUClassifier) -> bool:
    space = (
        "partial_fit cannot choose a feature space for rows to come; fit a KernelMap to a sample and give "
    )
    advice = "its rows to a linear GSUClassifier"
    curved = f"kernel = {estimator.kernel!r}: {space}{advice}"
    refuse_if(estimator.kernel != "linear", curved, AttributeError)
    batches = "partial_fit sees one batch at a time and cannot cross-validate: use fit, or probability=False"
    refuse_if(estimator.probability, batches, AttributeError)
    return True


@documented
@dataclass(eq=False, repr=False)
class GSUClassifier(Kernelized, LinearClassifier):
    """SVM, linear or with a kernel, with Gaussian sample uncertainty (SVM-GSU).

    Row i is a Gaussian N(x_i, S_i) with label y_i = -1 or +1 and weight c_i (sum c_i = n). The hinge loss is
    averaged over the row's Gaussian:

    .. code-block:: text

        J(w, b) = alpha / 2 ||w||^2 + (1 / n) sum_i c_i (d_i Phi(d_i / s_i) + s_i phi(d_i / s_i))

        d_i = 1 - y_i (w'x_i + b)        margin deficit of the mean
        s_i = sqrt(w'S_i w)              standard deviation of the score

    With zero covariances it is the linear SVM with C = 1 / (alpha n). J is convex, and the fit is certified.
    More than two classes are fitted one against the rest. Theory: :doc:`/methods/svm`.

    Parameters
    ----------
    alpha : float or "auto", default=1e-3
        Strength of the penalty, > 0. "auto": of 13 values between 1 and 1e-6 the strongest whose held-out log
        loss (5 folds) is within one standard error of the best (below 300 rows the best); see ``path_``.
    loss : {"expected_hinge", "hinge", "squared_hinge"}, default="expected_hinge"
        The loss above; max(0, d_i), which ignores error bars; or the mean of the squared hinge.
    {kernel, gamma, max_rank}
    solver : {"auto", "newton", "lbfgs", "sgd"}, default="auto"
        "newton" (up to 300 features) and "lbfgs" are certified; "sgd" takes stochastic subgradient steps.
    tol, max_iter : float, default=1e-6, and int or None, default=None
        Relative duality gap, and iterations (500; 5000 above 300 features; "sgd": 20,000), at which to stop.
    batch_size, averaging, projection, step_offset : default=64, True, True and None
        Of "sgd": rows per step; return the mean of the last half of the iterates; keep ||w|| <= alpha^(-1/2);
        step t is 1 / (alpha (t + step_offset)) long (None: 1 / alpha).
    {fit_intercept, class_weight}
    probability, random_state : bool, default=False, and int, RandomState or None, default=None
        Fit Platt's sigmoid to cross-validated scores, for ``predict_proba``; seed of its folds and of "sgd".
    {n_jobs, verbose}

    {Attributes: coef_, kernel_map_, classes_, alpha_}
    objective_, optimality_gap_ : float, or ndarray of shape (K,)
        J(w, b), and a certified bound on (J(w, b) - min J) / J(w, b).
    n_iter_, status_ : int and str, or ndarrays of shape (K,)
        Iterations; "converged", "max_iter", "no_progress" (rounding prevents more) or "steps_done" ("sgd").

    {Raises: refused}

    {References: gsu_paper}

    Examples
    --------
    >>> from uncertain import GaussianArray, GSUClassifier
    >>> X = GaussianArray([[0.0, 0.0], [1.0, 0.2], [3.0, 3.0], [4.0, 3.5]], std=[0.1, 0.5, 0.1, 0.5])
    >>> model = GSUClassifier(alpha=0.01).fit(X, ["low", "low", "high", "high"])
    >>> model.predict([[0.5, 0.5], [3.5, 3.0]]).tolist(), bool(model.optimality_gap_ <= 1e-6)
    (['low', 'high'], True)
    """

    _kinds = ("gsu",)
    _penalty = "alpha"
    _advice = "raise max_iter or alpha, or scale the features"

    alpha: float | Literal["auto"] = 1e-3
    _: KW_ONLY
    loss: Literal["expected_hinge", "hinge", "squared_hinge"] = "expected_hinge"
    solver: Literal["auto", "newton", "lbfgs", "sgd"] = "auto"
    tol: float = 1e-6
    max_iter: int | None = None
    batch_size: int = 64
    averaging: bool = True
    projection: bool = True
    step_offset: float | None = None
    fit_intercept: bool = True
    class_weight: ClassWeight = None
    probability: bool = False
    random_state: RandomState = None

    def _beyond_sums(self) -> Iterator[BeyondSums]:
        yield from super()._beyond_sums()
        if self.solver == "sgd":
            yield BeyondSums(
                Need.IN_PLACE, 'solver="sgd" goes through the rows in an order', 'use solver="auto"'
            )

    @available_if(_in_batches)  # type: ignore[untyped-decorator]
    def partial_fit(
        self, X: RowsLike, y: ArrayLike, classes: ArrayLike | None = None, sample_weight: RowValues = None
    ) -> Self:
        """Make one pass of stochastic steps, starting from the present model.

        {Parameters: X}
        y : array-like of shape (n,)
            Labels; not every class needs to be among them.
        classes : array-like of shape (K,), default=None
            All labels of this and later calls; required in the first call, and the same or None later.
        {sample_weight}

        {Returns: self}
        """
        refuse_if(
            self.class_weight == "balanced",
            "class_weight = 'balanced': partial_fit has not seen later rows. Pass a dictionary, or "
            "sample_weight=",
        )
        parameters = self._parameters(solver="sgd")
        model = getattr(self, "_model", None)
        data = check_gaussians(self, X, reset=model is None)
        labels = one_per_row(y, X, self)
        self._set_classes(classes, first=model is None)
        codes = places(read_column(labels, "y", len(labels), "labels"), self.classes_, "y").astype(np.uint32)
        weights = check_weights(sample_weight, self.class_weight, classes=self.classes_, codes=codes)
        arguments = {"codes": codes, "n_classes": len(self.classes_), "weights": weights}
        self.kernel_map_ = None
        return self._keep(self._fitted(parameters, data, online=True, before=model, **arguments))

    def _set_classes(self, classes: ArrayLike | None, *, first: bool) -> None:
        if classes is None:
            refuse_if(first, "classes = None: the first call of partial_fit needs all labels to come")
            return
        labels = np.unique(np.asarray(classes))
        shown = f"classes = {labels.tolist()}"
        if first:
            refuse_if(len(labels) < 2, f"{shown}: a classifier needs at least two classes", UncertainError)
            self.classes_ = labels
        other = not np.array_equal(labels, self.classes_)
        refuse_if(other, f"{shown}: the first call of partial_fit had {self.classes_.tolist()}")


@documented
@dataclass(eq=False, repr=False)
class GSURegressor(Kernelized, RegressorMixin, BaseEstimator):
    """Linear regression whose losses are averaged over the error bars.

    Row i is a Gaussian N(x_i, S_i) with a target y_i +- t_i (``y_std``) and a weight c_i (sum c_i = n):

    .. code-block:: text

        J(w, b) = alpha / 2 ||w||^2 + (1 / n) sum_i c_i E L(r_i + s_i Z),   Z ~ N(0, 1)

        r_i = y_i - w'x_i - b
        s_i^2 = w'S_i w + t_i^2

    With zero covariances it is support vector, Huber or ridge regression. The fit is certified.
    Theory: :doc:`/methods/svm`. It predicts best from rows as uncertain as these; its coefficients are below
    those of true values (:doc:`/how-to/slope`).

    Parameters
    ----------
    alpha : float or "auto", default=1e-3
        Strength of the penalty, > 0. "auto": of 15 values between 10 and 1e-6 the strongest whose held-out
        loss (5 folds) is within one standard error of the best (below 300 rows the best); see ``path_``.
    loss : {"huber", "epsilon_insensitive", "squared"}, default="huber"
        r^2 / 2 up to delta and linear beyond; max(0, ``|r|`` - epsilon); r^2 / 2.
    delta, epsilon : float > 0, default=1.35, and float >= 0, default=0.1
        Where "huber" becomes linear, and half the width of the tube, in units of y.
    {kernel, gamma, max_rank}
    solver : {"auto", "newton", "lbfgs"}, default="auto"
    tol, max_iter : float, default=1e-6, and int or None, default=None
        Relative duality gap and iterations (None: 500) at which to stop.
    {fit_intercept}
    random_state : int, RandomState or None, default=None
        Seed of the sample of the rows that a large fit starts from.
    {n_jobs, verbose}

    Attributes
    ----------
    coef_, intercept_ : ndarray of shape (d,), and float
        w and b.
    {kernel_map_, alpha_}
    objective_, optimality_gap_ : float
        J(w, b), and a certified bound on (J(w, b) - min J) / J(w, b).
    n_iter_, status_ : int and str
        Iterations; "converged", "max_iter" or "no_progress" (rounding prevents more).

    {Raises: refused}

    {References: gsu_paper}

    Examples
    --------
    >>> import numpy as np
    >>> from uncertain import GaussianArray, GSURegressor
    >>> X = GaussianArray(np.arange(8.0)[:, None], std=0.1)
    >>> model = GSURegressor().fit(X, 2 * np.arange(8.0) + 1)
    >>> mean, std = model.predict(GaussianArray([[10.0]], std=0.5), return_std=True)
    >>> round(float(mean[0]), 1), round(float(std[0]), 1)
    (21.0, 1.0)
    """

    _kinds = ("gsu-regression",)
    _penalty = "alpha"

    alpha: float | Literal["auto"] = 1e-3
    _: KW_ONLY
    loss: Literal["huber", "epsilon_insensitive", "squared"] = "huber"
    delta: float = 1.35
    epsilon: float = 0.1
    solver: Literal["auto", "newton", "lbfgs"] = "auto"
    tol: float = 1e-6
    max_iter: int | None = None
    fit_intercept: bool = True
    random_state: RandomState = None

    def fit(
        self,
        X: RowsLike,
        y: ArrayLike,
        sample_weight: RowValues = None,
        y_std: RowValues = None,
        *,
        groups: RowValues = None,
    ) -> Self:
        """Fit to Gaussians, or to exact points.

        {Parameters: X, targets, sample_weight}
        y_std : float or array-like of shape (n,), default=None
            Standard deviations of the targets, >= 0.
        {groups_of_path}

        {Returns: self}
        """
        parameters = self._parameters()
        data = check_gaussians(self, X, reset=True)
        arguments = target_arguments(self, X, y, sample_weight, groups)
        if y_std is not None:
            arguments["variances"] = check_stds(y_std, "y_std", data.n_rows) ** 2
        self._keep(self._fitted(parameters, self._to_fit(data, arguments["weights"]), **arguments))
        warn_unless_converged(self, "raise max_iter or alpha, or scale the features")
        return self

    def predict(self, X: RowsLike, return_std: bool = False) -> Any:
        """Return the predictions w'x_i + b, with their spread under the error bars.

        {Parameters: X}
        return_std : bool, default=False
            Also return sqrt(w'S_i w), the standard deviation that comes from the row's error bars. It
            excludes the scatter of targets around the fit.

        {Returns: mean_or_both}
        """
        return predicted(self, self._to_predict(X), return_std)

    def _core_parameters(self) -> Keywords:
        parameters = super()._core_parameters()
        names = {"huber": "delta", "epsilon_insensitive": "epsilon"}
        option = names.get(self.loss) if isinstance(self.loss, str) else None
        parameters["loss"] = self.loss if option is None else {self.loss: {option: getattr(self, option)}}
        return parameters

    @classmethod
    def _arguments(cls, parameters: Keywords) -> Keywords:
        arguments = super()._arguments(parameters)
        if isinstance(arguments["loss"], dict):
            ((arguments["loss"], options),) = arguments["loss"].items()
            arguments |= options
        return arguments

    def _attributes(self, arrays: dict[str, Floats], header: Header) -> None:
        self.coef_: Floats = arrays["coef"]
        self.intercept_ = float(arrays["intercept"][0])
        keep_reports(self, [header["fit"]])
