"""`GeneralizedLinearLaw`: classes, counts, sizes and times given true features."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils._tags import ClassifierTags, RegressorTags

from .._base.core import decoded
from .._base.docs import documented
from .._base.mode_arrays import mode_arguments
from .._base.penalty import FitRows
from .._base.sums import BeyondSums, Need
from .._data.groups import groups_from
from .._data.options import check_options
from .._data.typing import Floats, Keywords
from .._data.validation import RowsLike, check_labels, check_numbers, check_readings, check_sample_weight
from .._uncertain import Fitted
from ..exceptions import UncertainError
from ._answers import CLASSES, TIMES, Answers, Family
from ._estimates import EXTRA, Estimates
from ._jackknife import parts_of_rows, without_bias
from ._per_row import censored, predictor_offset

__all__ = ["GeneralizedLinearLaw"]

_INSTEAD = (
    "its scatter is a part of the family (negative_binomial counts scatter more than poisson ones). A "
    "number with error bars is for LinearLaw, and a size or time > 0 for LinearLaw of its logarithm"
)


@documented
@dataclass(eq=False, repr=False)
class GeneralizedLinearLaw(Answers, Estimates, BaseEstimator):
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
    bias_correction : {"errors", "jackknife"} or None, default="errors"
        What is taken off the bias of maximum likelihood in few rows, to first order. "errors": what the
        errors of the features add to it, by the formula of Cox and Snell less the same formula for exact
        features, and a density of z whose variances count degrees of freedom (of one component). What is
        left is the bias that the same law has between exact features, and with exact features nothing
        changes. Not where ``alpha`` > 0; with ``modes``, only the density. It costs about as much as some
        further steps of Newton's method. In the density, rows of ``sample_weight`` w count as Kish's
        effective number (sum w)^2 / sum w^2: weights say how much a row is worth, not how often it was seen.
        "jackknife": all of the bias, by ten further fits without a tenth of the rows each; standard errors
        stay. ``loglikelihood_`` is that of the maximum, and intervals by the profile move with the estimate
        of "errors".
    error_scale : {"features"} or None, default=None
        "features": the error bars of each feature are right up to a factor f_j, estimated by maximum
        likelihood of the readings

        .. code-block:: text

            x_i ~ N(mu, T + F S_i F),    F = diag(f)

        before the law, whose standard errors count the uncertainty of f; predictions read new rows with the
        same factors. What tells f from the spread T of true values are error bars of different sizes; where
        those of a feature are about equal, or too small to tell, it is refused. That true values have one
        normal spread whatever their error bars is assumed: one component, and no ``modes``. T then counts no
        degrees of freedom.
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
    modes_, modes_std_ : ndarrays of shape (k,)
        With ``modes``: the errors that rows share in units of their standard deviations, and what is open of
        them; ``offset=modes @ modes_`` of `predict` puts them into predictions.
    feature_error_scale_, feature_error_scale_std_ : ndarrays of shape (d,)
        With ``error_scale``: the factors f, and their standard errors.
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
    10.1080/07350015.1985.10509471. D. R. Cox, E. J. Snell, A general definition of residuals, Journal of the
    Royal Statistical Society B 30, 1968, doi 10.1111/j.2517-6161.1968.tb00724.x.

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
        modes : array-like of shape (n, k), (n, d, k) or (n, d + 1, k), default=None
            Errors that rows share: a is k standard normal numbers, the same for all rows, and the linear
            predictor of row i has the further term ``modes[i] @ a`` (n, k). With (n, d, k) the readings of
            the features have the errors ``modes[i] @ a``; with (n, d + 1, k) both have some, the predictor's
            last. a is integrated out by Laplace's approximation; see ``modes_``. Those of features need
            complete rows and one component.
        groups : array-like of shape (n,), default=None
            The object that each row belongs to: standard errors are those of independent groups, the sandwich

            .. code-block:: text

                V = H^-1 M H^-1,    M = G / (G - 1) sum_g u_g u_g'

            with the information H and the sums u_g of the G groups' scores, less what these owe to the
            density of z (Liang and Zeger 1986). Fewer than 10 groups are refused.
        **of_lines
            ``y_std``, ``xy_cov`` and ``y_cov`` of other laws are refused: what scatters about this law is a
            part of the family.

        {Returns: self}
        """
        for name in of_lines:
            if name not in ("y_std", "y_cov", "xy_cov"):
                raise TypeError(f"{type(self).__name__}.fit() got an unexpected keyword argument {name!r}")
            raise UncertainError(
                f"{name}=: family={self.family!r} has no error bars of the target; {_INSTEAD}"
            )
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
        core_rows = rows[0] if isinstance(rows, tuple) else rows
        arguments |= mode_arguments(modes, n, core_rows.n_features)
        if groups is not None:
            arguments["groups"] = groups_from(groups, "groups", n)
        model = self._fitted(parameters, rows, **arguments)
        self._problem = rows, arguments
        self.__dict__.pop("classes_", None)  # of an earlier fit
        if classes is not None:
            self.classes_ = classes
        self._keep(model)
        if self.bias_correction == "jackknife":
            self._keep(self._without_bias(model, parameters, rows, arguments))
        self._warn_unless_ended()
        return self

    def _core_parameters(self) -> Keywords:
        if self.bias_correction is not None:
            check_options(bias_correction=(self.bias_correction, ("errors", "jackknife")))
        own = None if self.bias_correction == "jackknife" else self.bias_correction
        return super()._core_parameters() | {"bias_correction": own}

    def _without_bias(self, model: Fitted, parameters: str, rows: FitRows, arguments: Keywords) -> Fitted:
        """The same with estimates whose bias is of second order."""
        if "modes" in arguments:
            raise UncertainError('bias_correction="jackknife" is not for errors that rows share (modes=)')
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

    def _beyond_sums(self) -> Iterator[BeyondSums]:
        yield BeyondSums(
            Need.MEMORY,
            "a law integrates over each row's true features",
            "fit a sample of the rows",
        )

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
