"""`GeneralizedLinearLaw`: classes, counts, sizes and times given true features."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils._tags import ClassifierTags, RegressorTags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from .._base.core import decoded
from .._base.docs import documented
from .._base.em import FittedMixture
from .._base.law import Law, draws_of, law_table
from .._base.penalty import FitRows
from .._base.progress import Callback
from .._base.sums import BeyondSums, Need
from .._data.groups import groups_from
from .._data.options import check_options
from .._data.typing import Floats, Header, Keywords, Labels, RandomState
from .._data.validation import RowsLike, check_labels, check_numbers, check_readings, check_sample_weight
from .._data.warn import warn
from .._uncertain import Fitted
from ..exceptions import ConvergenceWarning, ParameterError, UncertainError
from ._jackknife import parts_of_rows, without_bias
from ._per_row import censored, predictor_offset

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
"""What a family has beside a linear predictor."""


def _of_classes(law: GeneralizedLinearLaw) -> bool:
    if law.family not in CLASSES:
        raise AttributeError(f"family={law.family!r} has no classes: use predict")
    return True


def _of_two_classes(law: GeneralizedLinearLaw) -> bool:
    if law.family != "binomial":
        raise AttributeError(f"family={law.family!r} has no score: use predict")
    return True


@documented
class GeneralizedLinearLaw(Law, FittedMixture, BaseEstimator):
    """Classes, counts, sizes or times given features that were read with errors.

    The target y depends on the *true* features z by a linear predictor; row i is a reading x_i of z_i with
    known errors:

    .. code-block:: text

        y | z ~ p(y | eta),    eta = b + beta'z + offset
        x_i = z_i + e_i,    e_i ~ N(0, S_i),    z ~ sum_k pi_k N(mu_k, T_k)

    Fitted to readings as if they were exact, coefficients are flattened by the noise. Here the likelihood is
    integrated over the true features. Only eta matters to y, and given a reading it is a mixture of Gaussians
    in one dimension, so that one-dimensional integrals are all it takes, for any number of features:

    .. code-block:: text

        log p(y_i | x_i) = log sum_k w_ik int p(y_i | eta) N(eta; b + beta'm_ik, beta'P_ik beta) d eta

    (w, m, P are the posterior of z_i given x_i.) Two stages: the density of z from the readings alone by EM,
    as in `GaussianDenoiser`, then b and beta by Newton's method; standard errors count both. With exact
    features it is the ordinary generalised linear model. A missing feature has infinite noise. A feature may
    be a limit (`Incomplete` with ``limits``): what its side of the limit leaves of z is then replaced by a
    Gaussian with the same mean and covariance.

    Parameters
    ----------
    family : str, default="binomial"
        The law of y given eta. "binomial": two classes, P(classes_[1]) = 1 / (1 + exp(-eta)). "poisson":
        counts with mean mu = exp(eta). "negative_binomial": counts of variance mu + dispersion mu^2. "gamma":
        numbers > 0 with mean mu = exp(eta) and variance dispersion mu^2. "ordinal": ordered classes,
        P(at most class c) = 1 / (1 + exp(eta - threshold_c)). "weibull" and "lognormal": times, log t = eta +
        scale W, with exp(W) standard exponential, or W standard normal.
    n_components : int or "auto", default=1
        Number of Gaussians of the true features' density. "auto" tries 1, 2, ... and takes the K with the
        largest likelihood of held-out readings.
    alpha : float >= 0, default=0.0
        Penalty (alpha / 2) ``|beta|^2`` beside the mean negative log-likelihood, with beta per standard
        deviation of the true features.
        Where a plane separates classes, it keeps coefficients finite. Standard errors do not count its bias.
    bias_correction : {"jackknife"} or None, default=None
        "jackknife": the first-order bias of maximum likelihood in few rows (both stages) is taken off
        intercept, coefficients and ``extra_``, by ten further fits without a tenth of the rows each. Worth it
        for some hundred rows; standard errors stay.
    {max_components, em_tol, em_max_iter, acceleration, reg_covar, em_seed, n_jobs, em_verbose, em_callback}

    Attributes
    ----------
    coef_ : ndarray of shape (d,)
        beta. Logarithms of odds ratios ("binomial", "ordinal"), of ratios of means, or of times.
    intercept_ : float
        b; 0 for "ordinal", which has thresholds.
    coef_std_ : ndarray of shape (d,)
        Standard errors; ``std_`` is another name of them. From the information of the likelihood and the
        uncertainty of the density of z; with ``sample_weight`` or ``groups`` by the sandwich formula.
    intercept_std_ : float
        Standard error of ``intercept_``; NaN for "ordinal".
    extra_ : dict of ndarrays
        What the family has beside: "dispersion", "scale" or "thresholds".
    extra_std_ : dict of ndarrays
        Standard errors of these; NaN for a dispersion at 0, the boundary of its range.
    covariance_ : ndarray of shape (p, p)
        Covariance of all estimates: intercept (not of "ordinal"), coefficients, ``extra_``.
    naive_coef_, naive_std_ : ndarrays of shape (d,)
        The same fit to readings as if they were exact, for comparison.
    loglikelihood_ : float
        Sum of log p(y_i | x_i).
    classes_ : ndarray of shape (C,)
        The labels, sorted: the order of "ordinal". Only of families with classes.
    {em_weights_}
    means_ : ndarray of shape (K, d)
        mu_k.
    covariances_ : ndarray of shape (K, d, d)
        T_k.
    {n_components_}
    log_likelihoods_ : ndarray
        Mean log-likelihood of the readings after every step of EM.
    n_iter_ : int
        Steps of Newton's method.
    status_ : str
        "converged", "max_iter" or "no_progress" of Newton's method, or "separated": the likelihood rises for
        ever along some direction, as for classes that a plane separates.
    {held_out_log_likelihoods_, n_features_in_, feature_names_in_}

    {Raises: refused}

    Warns
    -----
    ConvergenceWarning
        If EM or Newton's method ends early, or the coefficients have no end.

    References
    ----------
    R. J. Carroll, D. Ruppert, L. A. Stefanski, C. M. Crainiceanu, Measurement Error in Nonlinear Models, 2nd
    ed., 2006, chapter 8. K.-Y. Liang, S. L. Zeger, Longitudinal data analysis using generalized linear
    models, Biometrika 73, 1986, doi 10.1093/biomet/73.1.13. K. M. Murphy, R. H. Topel, Estimation and
    inference in two-step econometric models, Journal of Business and Economic Statistics 3, 1985, doi
    10.1080/07350015.1985.10509471.

    Examples
    --------
    >>> import numpy as np
    >>> from uncertain import GaussianArray
    >>> from uncertain.laws import GeneralizedLinearLaw
    >>> rng = np.random.default_rng(0)
    >>> z = rng.normal(size=(2000, 1))
    >>> y = rng.uniform(size=2000) < 1 / (1 + np.exp(-2 * z[:, 0]))
    >>> X = GaussianArray(z + rng.normal(scale=0.7, size=(2000, 1)), std=0.7)
    >>> law = GeneralizedLinearLaw().fit(X, y)
    >>> bool(abs(law.coef_[0] - 2.0) < 2.5 * law.std_[0])
    True
    >>> bool(law.naive_coef_[0] < 1.5)
    True
    """

    _kinds = ("law",)
    __metadata_request__fit: ClassVar = {"groups": True}

    classes_: Labels
    _problem: tuple[FitRows, Keywords] | None = None
    """What it was fitted to."""

    def __init__(
        self,
        family: Family = "binomial",
        *,
        n_components: int | Literal["auto"] = 1,
        alpha: float = 0.0,
        bias_correction: Literal["jackknife"] | None = None,
        max_components: int = 10,
        tol: float = 1e-6,
        max_iter: int = 1000,
        acceleration: Literal["squarem"] | None = "squarem",
        reg_covar: float = 1e-6,
        random_state: RandomState = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Callback = None,
    ) -> None:
        super().__init__(
            n_components,
            max_components=max_components,
            tol=tol,
            max_iter=max_iter,
            acceleration=acceleration,
            reg_covar=reg_covar,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
            callback=callback,
        )
        self.family = family
        self.alpha = alpha
        self.bias_correction = bias_correction

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
        groups: ArrayLike | None = None,
    ) -> Self:
        """Fit to readings of the features with their errors, and targets.

        {Parameters: readings}
        y : array-like of shape (n,)
            Labels ("binomial", "ordinal"), counts, or numbers > 0.
        {sample_weight}
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
        groups : array-like of shape (n,), default=None
            The object that each row belongs to: standard errors are those of independent groups, the sandwich

            .. code-block:: text

                V = H^-1 M H^-1,    M = G / (G - 1) sum_g u_g u_g'

            with the information H and the sums u_g of the G groups' scores, less what these owe to the
            density of z (Liang and Zeger 1986). Fewer than 10 groups are refused.

        {Returns: self}
        """
        parameters = self._parameters()
        rows = check_readings(self, X, reset=True)
        weights = None
        classes = None
        arguments: Keywords = {}
        if self.family in CLASSES:
            classes, codes = check_labels(y, X, self)
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
        weights = check_sample_weight(sample_weight, n)
        arguments |= {"weights": weights, "offsets": predictor_offset(offset, exposure, n)}
        if event is not None or y_limit is not None:
            what = "event" if y_limit is None else "y_limit"
            if self.family not in TIMES:
                times = " and ".join(TIMES)
                raise UncertainError(f"{what}: family={self.family!r} has no times; {times} have")
            if event is not None and y_limit is not None:
                raise UncertainError("event and y_limit say the same; give one of them")
            arguments["limits"] = censored(event if y_limit is None else y_limit, what, n)
        if groups is not None:
            arguments["groups"] = groups_from(groups, "groups", n)
        model = self._fitted(parameters, rows, **arguments)
        self._problem = rows, arguments
        self.__dict__.pop("classes_", None)  # of an earlier fit
        if classes is not None:
            self.classes_ = classes
        self._keep(model)
        if self.bias_correction is not None:
            self._keep(self._without_bias(model, parameters, rows, arguments))
        self._warn_unless_ended()
        return self

    def _without_bias(self, model: Fitted, parameters: str, rows: FitRows, arguments: Keywords) -> Fitted:
        """The same with estimates whose bias is of second order."""
        check_options(bias_correction=(self.bias_correction, ("jackknife",)))
        n = len(arguments["codes"] if self.family in CLASSES else arguments["targets"])
        weights = np.ones(n) if arguments["weights"] is None else arguments["weights"]
        # Dispersions and scales are positive: their logarithms are corrected.
        has_scale = self.family in EXTRA and self.family != "ordinal"
        first = len(self._law) - int(has_scale)

        def working(law: Floats, turn: Callable[[Floats], Floats]) -> Floats:
            return np.append(law[:first], turn(law[first:]))

        def fitted(stays: Floats) -> Floats:
            # Groups are for standard errors.
            fewer = {"weights": weights * stays, "groups": None}
            some = self._fitted(parameters, rows, **arguments | fewer)
            if decoded(some.header)["status"] != "converged":
                raise UncertainError(
                    'bias_correction="jackknife": the law has no end without a tenth of the rows; leave it '
                    "out, or set alpha > 0"
                )
            return working(some.arrays()["law"], np.log)

        parts = parts_of_rows(n, arguments.get("groups"), np.flatnonzero(weights))
        arrays = model.arrays()
        law = without_bias(working(arrays["law"], np.log), parts, fitted)
        return Fitted.from_arrays(
            self._kind, parameters, model.header, arrays | {"law": working(law, np.exp)}
        )

    def predict(
        self, X: RowsLike, *, offset: ArrayLike | None = None, exposure: ArrayLike | None = None
    ) -> Any:
        """The most probable class, the mean count or size, or the median time, given each row's reading.

        The average over what the reading leaves open of the true features: not the law at the reading.

        {Parameters: readings}
        offset, exposure : array-like of shape (n,), default=None
            As in `fit`; 0 and 1 if not given. Not for classes.

        Returns
        -------
        ndarray of shape (n,)
        """
        check_is_fitted(self, "coef_")
        if self.family in CLASSES:
            if offset is not None or exposure is not None:
                raise UncertainError("offset and exposure are not for predictions of classes")
            return self.classes_[np.argmax(self.predict_proba(X), axis=1)]
        values = self._model.decision(check_readings(self, X, reset=False), self.n_jobs)[:, 0]
        shift = predictor_offset(offset, exposure, len(values))
        return values if shift is None else values * np.exp(shift)

    @available_if(_of_classes)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: RowsLike) -> Floats:
        """P(class | reading), averaged over what the reading leaves open of the true features.

        {Parameters: readings}

        {Returns: class_probabilities}
        """
        check_is_fitted(self, "coef_")
        return self._model.predict_proba(check_readings(self, X, reset=False), self.n_jobs)

    @available_if(_of_classes)  # type: ignore[untyped-decorator]
    def decision_function(self, X: RowsLike) -> Floats:
        """Mean of the linear predictor given each row's reading; of "ordinal", logarithms of probabilities.

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
        """Mean and standard deviation of the linear predictor given each row's reading.

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
        if self.family in CLASSES or self.family in TIMES:
            instead = "predict_proba" if self.family in CLASSES else "predict, which gives the median"
            raise UncertainError(f"predict_distribution: not for family={self.family!r}; use {instead}")
        mean, std = self._model.decision_distribution(check_readings(self, X, reset=False), self.n_jobs)
        shift = predictor_offset(offset, exposure, len(mean))
        if shift is None:
            return mean[:, 0], std[:, 0]
        if self.family != "gamma":
            raise UncertainError(f"offset and exposure: not for the deviations of family={self.family!r}")
        return mean[:, 0] * np.exp(shift), std[:, 0] * np.exp(shift)

    def conf_int(self, level: float = 0.95, method: Literal["wald", "profile"] = "wald") -> Floats:
        """Confidence intervals of the coefficients.

        .. code-block:: text

            "wald":     coef -+ z std,    z the normal quantile of (1 + level) / 2
            "profile":  all c with 2 (log L - max log L given coef_j = c) V2 / V <= z^2

        V is the square of ``coef_std_``, V2 the part of it without the uncertainty of the true features'
        density, which the profile of the second stage does not know.

        Parameters
        ----------
        level : float in (0, 1), default=0.95
            Probability that an interval covers the true coefficient.
        method : {"wald", "profile"}, default="wald"
            "profile" fits again with fixed coefficients, and needs the readings of the fit: it is not for
            laws from files.

        Returns
        -------
        ndarray of shape (d, 2)
            Lower and upper ends; infinite where there is none, NaN where the standard error is not known.

        Raises
        ------
        ParameterError
            For a level outside (0, 1), or another method.
        UncertainError
            For the profile of a law from a file.
        """
        check_is_fitted(self, "coef_")
        if method != "profile":
            return super().conf_int(level, method)
        if not 0 < level < 1:
            raise ParameterError(f"level = {level!r}: must be between 0 and 1")
        if self._problem is None:
            raise UncertainError('method="profile" needs the readings of the fit, which files do not hold')
        rows, arguments = self._problem
        ends = self._fitted(self._parameters(profile=level), rows, **arguments).arrays()["profile"]
        return np.asarray(ends.reshape(-1, 2))

    def summary(self, level: float = 0.95) -> str:
        """Estimates with standard errors and intervals, beside the fit to readings as if they were exact.

        Parameters
        ----------
        level : float in (0, 1), default=0.95
            Of the intervals.

        Returns
        -------
        str
            A table, one line per estimate.
        """
        check_is_fitted(self, "coef_")
        d = self.n_features_in_
        names = [str(name) for name in getattr(self, "feature_names_in_", [f"x{j}" for j in range(d)])]
        if self.family != "ordinal":
            names = ["intercept", *names]
        extra = self._law[len(names) :]
        what = EXTRA.get(self.family, "")
        own = [what] if len(extra) == 1 else [f"threshold {k + 1}" for k in range(len(extra))]
        std, naive_std = _deviations(self.covariance_), _deviations(self._naive_covariance)
        rows = list(
            zip([*names, *own], self._law, std, self._naive, naive_std, strict=True)  # one line per estimate
        )
        head = f"{self.family}, log-likelihood {self.loglikelihood_:.6g}, {self.status_}"
        return f"{head}\n{law_table(rows, level)}"

    def _draw(self, rng: np.random.RandomState, n_samples: int) -> Floats:
        positive = np.zeros(len(self._law), dtype=bool)
        if self.family != "ordinal":
            positive[1 + self.n_features_in_ :] = True
        return draws_of(self._law, self.covariance_, positive, rng, n_samples)

    def _beyond_sums(self) -> Iterator[BeyondSums]:
        yield BeyondSums(
            Need.MEMORY,
            "a law integrates over each row's true features",
            "fit a sample of the rows",
        )

    def _attributes(self, arrays: dict[str, Floats], header: Header) -> None:
        super()._attributes(arrays, header["progress"])
        self._density_status = getattr(self, "status_", "converged")
        self.n_iter_, self.status_ = header["n_iter"], header["status"]
        self._law, self._naive = arrays["law"], arrays["naive"]
        self.covariance_, self._naive_covariance = arrays["covariance"], arrays["naive_covariance"]
        first = 0 if self.family == "ordinal" else 1
        own = slice(first, first + arrays["means"].shape[1])
        std = _deviations(self.covariance_)
        self.coef_, self.coef_std_ = self._law[own], std[own]
        self.intercept_ = float(self._law[0]) if first else 0.0
        self.intercept_std_ = float(std[0]) if first else float("nan")
        extra = EXTRA.get(self.family)
        self.extra_: dict[str, Floats] = {extra: self._law[own.stop :]} if extra else {}
        self.extra_std_: dict[str, Floats] = {extra: std[own.stop :]} if extra else {}
        self.naive_coef_, self.naive_std_ = self._naive[own], _deviations(self._naive_covariance)[own]
        self.loglikelihood_ = float(arrays["log_likelihood"][0])

    def _warn_unless_ended(self) -> None:
        name = type(self).__name__
        if self._density_status != "converged":
            warn(
                f"{name}: the density of true features did not converge ({self._density_status}); raise "
                "max_iter or tol",
                ConvergenceWarning,
            )
        if self.status_ == "separated":
            warn(
                f"{name}: the likelihood rises for ever along some direction (a plane separates the classes, "
                "or a part of the rows has no events), so that coefficients and standard errors have no end; "
                "alpha > 0 keeps them finite",
                ConvergenceWarning,
            )
        elif self.status_ != "converged":
            warn(
                f"{name} did not converge ({self.status_} after {self.n_iter_} iterations); alpha > 0, or "
                "fewer features, may help",
                ConvergenceWarning,
            )

    def __getstate__(self) -> Keywords:
        state: Keywords = dict(super().__getstate__())
        state.pop("_problem", None)
        return state

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        if self.family in CLASSES:
            tags.estimator_type = "classifier"
            tags.classifier_tags = ClassifierTags(
                # Classes that have no order are none of an ordinal law's.
                poor_score=self.family == "ordinal",
                multi_class=self.family != "binomial",
            )
        else:
            tags.estimator_type = "regressor"
            tags.regressor_tags = RegressorTags()
            tags.target_tags.positive_only = True
        return tags

    def score(self, X: RowsLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Accuracy of classes; of other targets, the coefficient of determination of `predict`.

        {Parameters: readings, targets, sample_weight}

        Returns
        -------
        float
        """
        from sklearn.metrics import accuracy_score, r2_score

        measure = accuracy_score if self.family in CLASSES else r2_score
        return float(measure(y, self.predict(X), sample_weight=sample_weight))


def _deviations(covariance: Floats) -> Floats:
    """Square roots of variances; NaN where one is 0, for it is not known."""
    variances = np.diag(covariance)
    return np.sqrt(np.where(variances > 0.0, variances, np.nan))
