"""`GeneralizedLinearLaw`: classes, counts, sizes, times of true features."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import Tags
from sklearn.utils._tags import ClassifierTags, RegressorTags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from .._base.core import decoded
from .._base.docs import documented
from .._base.em import FittedMixture
from .._base.penalty import FitRows
from .._base.sums import BeyondSums, Need
from .._data.groups import groups_from
from .._data.numbers import refuse_where
from .._data.options import check_options
from .._data.typing import Floats, Header, Ints, Keywords, Limits
from .._data.validation import RowsLike, check_labels, check_numbers, check_readings, check_sample_weight
from .._data.warn import warn
from .._uncertain import Fitted
from ..exceptions import ConvergenceWarning, UncertainError
from .law import CoefficientLaw, Estimates, feature_names, flags_per_row, standard_errors
from .modes import mode_arguments

__all__ = ["GeneralizedLinearLaw"]

Family = Literal["binomial", "poisson", "negative_binomial", "gamma", "ordinal", "weibull", "lognormal"]

CLASSES = ("binomial", "ordinal")
TIMES = ("weibull", "lognormal")
EXTRA = {
    "negative_binomial": "dispersion",
    "gamma": "dispersion",
    "weibull": "scale",
    "lognormal": "scale",
    "ordinal": "thresholds",
}
"""What a family estimates beside the linear predictor."""
PARTS = 10
"""Parts of the rows that a jackknife leaves out in turn."""


def _of_classes(law: GeneralizedLinearLaw) -> bool:
    if law.family not in CLASSES:
        raise AttributeError(f"family={law.family!r} has no classes: use predict")
    return True


def _of_two_classes(law: GeneralizedLinearLaw) -> bool:
    if law.family != "binomial":
        raise AttributeError(f"family={law.family!r} has no score: use predict")
    return True


@documented
@dataclass(eq=False, repr=False)
class GeneralizedLinearLaw(CoefficientLaw, FittedMixture, BaseEstimator):
    """Classes, counts, sizes or times given features that were read with errors.

    The target depends on the *true* features z, y | z ~ p(y | eta), eta = b + beta'z + offset; row i is a
    reading x_i of z_i with known errors. The density of z comes from the readings alone by EM, then b and
    beta from the likelihood of y given the reading, integrated over z. Theory: docs/methods/laws.md.

    Parameters
    ----------
    family : str, default="binomial"
        The law of y given eta. "binomial": two classes, P(classes_[1]) = 1 / (1 + exp(-eta)). "poisson":
        counts with mean mu = exp(eta). "negative_binomial": counts of variance mu + dispersion mu^2. "gamma":
        numbers > 0 with mean mu = exp(eta) and variance dispersion mu^2. "ordinal": ordered classes,
        P(at most class c) = 1 / (1 + exp(eta - threshold_c)). "weibull" and "lognormal": times, log t = eta +
        scale W, with exp(W) standard exponential, or W standard normal.
    n_components : int or "auto", default=1
        Number of Gaussians of the density of z; "auto": that of the largest likelihood of held-out readings.
    alpha : float >= 0, default=0.0
        Penalty (alpha / 2) ``|beta|^2``, beta per standard deviation of z, beside the mean negative
        log-likelihood: it keeps coefficients finite where a plane separates classes.
    bias_correction : {"errors", "jackknife"} or None, default="errors"
        What is taken off the first-order bias of few rows: what errors of the features add to it (Cox and
        Snell; where ``alpha`` is 0), or all of it, by ten fits to nine tenths of the rows.
    error_scale : {"features"} or None, default=None
        "features": those of each feature have a factor, which is estimated, as in `LinearLaw`.
    {law_em}

    Attributes
    ----------
    coef_, intercept_ : ndarray of shape (d,), float
        beta, logarithms of ratios of odds, means or times, and b; 0 for "ordinal", which has thresholds.
    coef_std_, intercept_std_ : ndarray of shape (d,), float
        Standard errors, the uncertainty of the density of z included; with ``groups``, or weights that count
        no rows, by the sandwich formula. ``std_`` is another name of ``coef_std_``; NaN for the intercept of
        "ordinal".
    extra_, extra_std_ : dicts of ndarrays
        "dispersion", "scale" or "thresholds" of the family, and standard errors; NaN for a dispersion at 0.
    covariance_ : ndarray of shape (p, p)
        Of intercept (not of "ordinal"), coefficients, ``extra_``.
    {modes_, feature_error_scale_}
    naive_coef_, naive_std_ : ndarrays of shape (d,)
        The same fit to readings as if they were exact.
    loglikelihood_, log_likelihoods_ : float, ndarray
        Sum of log p(y_i | x_i), at its maximum; the mean of log p(x_i) by step of EM.
    classes_ : ndarray of shape (C,)
        The labels, sorted: the order of "ordinal". Only of families with classes.
    weights_, means_, covariances_, n_components_ : ndarrays of shape (K,), (K, d), (K, d, d), int
        pi_k, mu_k and T_k of the density of z, and K.
    n_iter_, status_ : int, str
        Steps of Newton's method, and "converged", "max_iter", "no_progress", or "separated": the likelihood
        rises for ever along some direction, as for classes that a plane separates.
    {held_out_log_likelihoods_, feature_names_in_}

    {Raises: refused}

    Warns
    -----
    ConvergenceWarning
        If EM or Newton's method ends early, or the coefficients have no end.

    Examples
    --------
    >>> import numpy as np
    >>> from uncertain import GaussianArray
    >>> from uncertain.laws import GeneralizedLinearLaw
    >>> rng = np.random.default_rng(0)
    >>> z = rng.normal(size=(2000, 1))
    >>> y = rng.uniform(size=2000) < 1 / (1 + np.exp(-2 * z[:, 0]))
    >>> law = GeneralizedLinearLaw().fit(GaussianArray(z + 0.7 * rng.normal(size=z.shape), std=0.7), y)
    >>> bool(abs(law.coef_[0] - 2.0) < 2.5 * law.std_[0])
    True
    """

    _kinds = ("law",)
    __metadata_request__fit: ClassVar = {"groups": True}

    family: Family = "binomial"
    _: KW_ONLY
    alpha: float = 0.0
    bias_correction: Literal["errors", "jackknife"] | None = "errors"
    error_scale: Literal["features"] | None = None
    n_components: int | Literal["auto"] = 1
    tol: float = 1e-6

    def fit(
        self,
        X: RowsLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        offset: ArrayLike | None = None,
        exposure: ArrayLike | None = None,
        event: ArrayLike | None = None,
        y_limit: ArrayLike | None = None,
        modes: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        **of_lines: Any,
    ) -> Self:
        """Fit to readings of the features with their errors, and targets.

        {Parameters: readings}
        y : array-like of shape (n,)
            Labels ("binomial", "ordinal"), counts, or numbers > 0.
        {law_weights}
        offset : array-like of shape (n,), default=None
            Added to the linear predictor.
        exposure : array-like of shape (n,), default=None
            Numbers > 0 to which a mean or time is proportional, such as the time that was counted:
            log(exposure) is added to the linear predictor.
        event : array-like of shape (n,), default=None
            For "weibull" and "lognormal": 1 where the time was reached, 0 where all that is known is that
            it is longer than `y`.
        y_limit : array-like of shape (n,), default=None
            The same as flags of limits: +1 where the time is longer than `y`, 0 where it is `y`. In
            `uncertain.fit` these are ``limits={target: column}``.
        modes : array-like of shape (n, k), (n, d, k) or (n, d + 1, k), default=None
            Errors that rows share: a is k standard normal numbers, the same for all rows, and the linear
            predictor of row i has the further term ``modes[i] @ a`` (n, k). With (n, d, k) the readings of
            the features have the errors ``modes[i] @ a``; with (n, d + 1, k) both have some, the predictor's
            last. a is integrated out by Laplace's approximation; see ``modes_``. Those of features need
            complete rows and one component. Predictions take them by ``offset=modes @ modes_``.
        {law_groups}
        **of_lines
            ``y_std``, ``xy_cov`` and ``y_cov`` of other laws are refused: what scatters about this law is a
            part of the family.

        {Returns: self}
        """
        for name in of_lines:
            if name not in ("y_std", "y_cov", "xy_cov"):
                raise TypeError(f"{type(self).__name__}.fit() got an unexpected keyword argument {name!r}")
            raise UncertainError(
                f"{name}=: family={self.family!r} has no error bars of the target. Use LinearLaw, for sizes "
                "and times > 0 with their logarithm as the target"
            )
        parameters = self._parameters()
        rows = check_readings(self, X, reset=True)
        arguments: Keywords = {}
        classes = None
        if self._has_classes:
            classes, codes = check_labels(y, X, self, sample_weight)
            if self.family == "binomial" and len(classes) > 2:
                raise UncertainError(
                    "Only binary classification is supported. The type of the target is multiclass: y has "
                    f'{len(classes)} classes. Use family="ordinal" for ordered ones'
                )
            n = len(codes)
            arguments |= {"codes": codes, "n_classes": len(classes)}
        else:
            targets = check_numbers(y, X, self)
            n = len(targets)
            arguments |= {"targets": targets}
        arguments |= {
            "weights": check_sample_weight(sample_weight, n),
            "offsets": _predictor_offset(offset, exposure, n),
        }
        if event is not None or y_limit is not None:
            arguments["limits"] = self._limits(event, y_limit, n)
        arguments |= mode_arguments(modes, n, rows[0].n_features)
        if groups is not None:
            arguments["groups"] = groups_from(groups, "groups", n)
        model = self._fitted(parameters, rows, **arguments)
        self._problem = rows, arguments
        self.__dict__.pop("classes_", None)  # of an earlier fit
        if classes is not None:
            self.classes_ = classes
        self._keep(model)
        if self.bias_correction == "jackknife":
            self._keep(self._jackknifed(model, parameters, rows, arguments))
        self._warn_unless_ended()
        return self

    def _limits(self, event: ArrayLike | None, y_limit: ArrayLike | None, n: int) -> Limits:
        """+1 where the time is a lower limit, else 0."""
        name = "event" if y_limit is None else "y_limit"
        if self.family not in TIMES:
            raise UncertainError(f"{name}: family={self.family!r} has no times; {' and '.join(TIMES)} have")
        if event is not None and y_limit is not None:
            raise UncertainError("event and y_limit say the same; give one of them")
        flags, late = (event, 0) if event is not None else (y_limit, 1)
        limits: Limits = (flags_per_row(flags, name, n, (0, 1), "0 or 1") == late).astype(np.int8)
        return limits

    @property
    def _has_classes(self) -> bool:
        return self.family in CLASSES

    def predict(
        self, X: RowsLike, *, offset: ArrayLike | None = None, exposure: ArrayLike | None = None
    ) -> Any:
        """Return the most probable class, the mean, or the median time.

        The average over what the reading leaves open of the true features: not the law at the reading.

        {Parameters: readings}
        offset, exposure : array-like of shape (n,), default=None
            As in `fit`; 0 and 1 if not given. Not for classes.

        Returns
        -------
        ndarray of shape (n,)
        """
        check_is_fitted(self, "coef_")
        if self._has_classes:
            if offset is not None or exposure is not None:
                raise UncertainError("offset= and exposure= do not change predicted classes. Leave them out")
            return self.classes_[np.argmax(self.predict_proba(X), axis=1)]
        values = self._model.decision(check_readings(self, X, reset=False), self.n_jobs)[:, 0]
        shift = _predictor_offset(offset, exposure, len(values))
        return values if shift is None else values * np.exp(shift)

    @available_if(_of_classes)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: RowsLike) -> Floats:
        """Return P(class | reading), averaged over the true features.

        {Parameters: readings}

        {Returns: class_probabilities}
        """
        check_is_fitted(self, "coef_")
        return self._model.predict_proba(check_readings(self, X, reset=False), self.n_jobs)

    @available_if(_of_classes)  # type: ignore[untyped-decorator]
    def decision_function(self, X: RowsLike) -> Floats:
        """Return the linear predictor of each row; of "ordinal" log probabilities.

        {Parameters: readings}

        Returns
        -------
        ndarray of shape (n,), or (n, C) for more than two classes
        """
        if self.family == "binomial":
            mean: Floats = self.decision_distribution(X)[0]
            return mean
        logs = np.log(np.maximum(self.predict_proba(X), np.finfo(np.float64).tiny))
        scores: Floats = logs if len(self.classes_) > 2 else logs[:, 1] - logs[:, 0]
        return scores

    @available_if(_of_two_classes)  # type: ignore[untyped-decorator]
    def decision_distribution(self, X: RowsLike) -> tuple[Floats, Floats]:
        """Return mean and standard deviation of the linear predictor of each row.

        {Parameters: readings}

        Returns
        -------
        mean, std : ndarrays of shape (n,)
        """
        check_is_fitted(self, "coef_")
        mean, std = self._model.decision_distribution(check_readings(self, X, reset=False), self.n_jobs)
        return mean[:, 0], std[:, 0]

    def predict_distribution(
        self, X: RowsLike, *, offset: ArrayLike | None = None, exposure: ArrayLike | None = None
    ) -> tuple[Floats, Floats]:
        """Mean and standard deviation of a count or size given each row's reading.

        The deviation has the law's own and what the reading leaves open of the true features.

        {Parameters: readings}
        offset, exposure : array-like of shape (n,), default=None
            As in `fit`. Only for "gamma", whose deviation is proportional to its mean.

        Returns
        -------
        mean, std : ndarrays of shape (n,)

        Raises
        ------
        UncertainError
            For classes, which have `predict_proba`, and for times, which have a median.
        """
        check_is_fitted(self, "coef_")
        if self._has_classes or self.family in TIMES:
            instead = "predict_proba" if self._has_classes else "predict, which gives the median"
            raise UncertainError(f"predict_distribution: not for family={self.family!r}; use {instead}")
        mean, std = self._model.decision_distribution(check_readings(self, X, reset=False), self.n_jobs)
        shift = _predictor_offset(offset, exposure, len(mean))
        if shift is None:
            return mean[:, 0], std[:, 0]
        if self.family != "gamma":
            raise UncertainError(f"offset= and exposure=: not for deviations of family={self.family!r}")
        return mean[:, 0] * np.exp(shift), std[:, 0] * np.exp(shift)

    def score(self, X: RowsLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the accuracy of classes, or R^2 of `predict` for other targets.

        {Parameters: readings, targets, sample_weight}

        Returns
        -------
        float
        """
        measure = accuracy_score if self._has_classes else r2_score
        return float(measure(y, self.predict(X), sample_weight=sample_weight))

    def _core_parameters(self) -> Keywords:
        if self.bias_correction is not None:
            check_options(bias_correction=(self.bias_correction, ("errors", "jackknife")))
        correction = None if self.bias_correction == "jackknife" else self.bias_correction
        return super()._core_parameters() | {"bias_correction": correction}

    def _jackknifed(self, model: Fitted, parameters: str, rows: FitRows, arguments: Keywords) -> Fitted:
        """Remove the first-order bias by leaving out a tenth of the rows at a time.

        Maximum likelihood of few rows is off by B / n, and of all but a G-th of them by B / (n (1 - 1/G)), so
        that G theta - (G - 1) mean_g theta_(g) is off by order 1 / n^2 (M. H. Quenouille, Notes on bias in
        estimation, Biometrika 43, 1956). It counts the density of true features and the law, for any family.
        """
        if "modes" in arguments:
            raise UncertainError('bias_correction="jackknife" is not for errors that rows share (modes=)')
        n = len(arguments["codes"] if self._has_classes else arguments["targets"])
        weights = np.ones(n) if arguments["weights"] is None else arguments["weights"]
        # Dispersions and scales are positive: their logarithms are corrected.
        has_scale = self.family in EXTRA and self.family != "ordinal"
        first = len(self._law) - int(has_scale)

        def working(law: Floats, transform: Callable[[Floats], Floats]) -> Floats:
            return np.append(law[:first], transform(law[first:]))

        def refit(remaining: Floats) -> Floats:
            # Groups are for standard errors.
            fewer = {"weights": weights * remaining, "groups": None}
            fold = self._fitted(parameters, rows, **arguments | fewer)
            if decoded(fold.header)["status"] != "converged":
                raise UncertainError(
                    'bias_correction="jackknife": a fit to 90 % of the rows did not converge (separation); '
                    "leave it out, or set alpha > 0"
                )
            return working(fold.arrays()["law"], np.log)

        parts = _jackknife_weights(n, arguments.get("groups"), np.flatnonzero(weights))
        k, arrays = len(parts), model.arrays()
        mean: Floats = np.mean([refit(remaining) for remaining in parts], axis=0)
        law = k * working(arrays["law"], np.log) - (k - 1) * mean
        arrays |= {"law": working(law, np.exp)}
        return Fitted.from_arrays(self._kind, parameters, model.header, arrays)

    def _beyond_sums(self) -> Iterator[BeyondSums]:
        yield BeyondSums(
            Need.MEMORY,
            "a law integrates over each row's true features",
            "fit a sample of the rows",
        )

    def _estimates(self) -> Estimates:
        names = feature_names(self, self.n_features_in_)
        names = names if self.family == "ordinal" else ["intercept", *names]
        first, p = len(names) - self.n_features_in_, len(self._law)
        extra = EXTRA.get(self.family, "")
        names += [f"threshold {k + 1}" for k in range(p - len(names))] if p > len(names) + 1 else [extra]
        return Estimates(
            names[:p],
            self._law,
            standard_errors(self.covariance_),
            self.covariance_,
            coefficients=slice(first, first + self.n_features_in_),
            positive=(np.arange(p) >= first + self.n_features_in_) & (self.family != "ordinal"),
            extras=self._extras(),
        )

    def _headline(self) -> str:
        return f"{self.family}, log-likelihood {self.loglikelihood_:.6g}, {self.status_}"

    def _attributes(self, arrays: dict[str, Floats], header: Header) -> None:
        super()._attributes(arrays, header["progress"])
        self._density_status = getattr(self, "status_", "converged")
        self.n_iter_, self.status_ = header["n_iter"], header["status"]
        self.loglikelihood_ = float(arrays["log_likelihood"][0])
        self._set_extras(arrays)
        self._law, self.covariance_ = arrays["law"], arrays["covariance"]
        std, naive_std = standard_errors(self.covariance_), standard_errors(arrays["naive_covariance"])
        self._naive = arrays["naive"], naive_std
        first = 0 if self.family == "ordinal" else 1
        coefficients = slice(first, first + arrays["means"].shape[1])
        self.coef_, self.coef_std_ = self._law[coefficients], std[coefficients]
        self.naive_coef_, self.naive_std_ = arrays["naive"][coefficients], naive_std[coefficients]
        self.intercept_ = float(self._law[0]) if first else 0.0
        self.intercept_std_ = float(std[0]) if first else float("nan")
        extra = EXTRA.get(self.family)
        self.extra_: dict[str, Floats] = {extra: self._law[coefficients.stop :]} if extra else {}
        self.extra_std_: dict[str, Floats] = {extra: std[coefficients.stop :]} if extra else {}

    def _warn_unless_ended(self) -> None:
        name = type(self).__name__
        if self._density_status != "converged":
            warn(
                f"{name}: the density of true features did not converge ({self._density_status}). Raise "
                "max_iter or tol",
                ConvergenceWarning,
            )
        if self.status_ == "separated":
            warn(
                f"{name}: coefficients diverge, as classes are perfectly separated or some rows have no "
                "events. Set alpha > 0",
                ConvergenceWarning,
            )
        elif self.status_ != "converged":
            warn(
                f"{name} did not converge ({self.status_} after {self.n_iter_} iterations). Set alpha > 0, "
                "or use fewer features",
                ConvergenceWarning,
            )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        if self._has_classes:
            tags.estimator_type = "classifier"
            tags.classifier_tags = ClassifierTags(
                # An ordinal law needs classes that have an order.
                poor_score=self.family == "ordinal",
                multi_class=self.family != "binomial",
            )
        else:
            tags.estimator_type = "regressor"
            tags.regressor_tags = RegressorTags()
            tags.target_tags.positive_only = True
        return tags


def _predictor_offset(offset: ArrayLike | None, exposure: ArrayLike | None, n: int) -> Floats | None:
    """Sum of offset and logarithm of the exposure, None without either."""
    parts = []
    for name, values in (("offset", offset), ("exposure", exposure)):
        if values is None:
            continue
        numbers = np.asarray(values, dtype=np.float64)
        if numbers.shape != (n,):
            raise UncertainError(f"{name}: expected {n} numbers, one per row, got shape {numbers.shape}")
        refuse_where(~np.isfinite(numbers), numbers, name, "it must be finite")
        if name == "exposure":
            refuse_where(numbers <= 0.0, numbers, name, "it must be > 0")
        parts.append(np.log(numbers) if name == "exposure" else numbers)
    return np.ascontiguousarray(np.sum(parts, axis=0)) if parts else None


def _jackknife_weights(n: int, groups: Ints | None, counted: Ints) -> list[Floats]:
    """Per part, weights 0 of a tenth of the `counted` rows, in whole groups, and 1 of the others."""
    objects = np.arange(n) if groups is None else np.asarray(groups)
    names, codes = np.unique(objects[counted], return_inverse=True)
    k = min(PARTS, len(names))
    part = np.random.default_rng(0).permutation(np.arange(len(names)) % k)[codes]
    weights = np.ones((k, n))
    weights[part, counted] = 0.0
    return list(weights)
