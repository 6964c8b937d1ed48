"""Models of true values: `GaussianDenoiser` gives their posterior, `GaussianImputer` fills gaps from it."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Self

from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin

from .._base.docs import documented
from .._base.em import FittedMixture, warn_unless_ended
from .._base.penalty import FitRows
from .._data.array import GaussianArray
from .._data.incomplete import Incomplete
from .._data.typing import Floats, Keywords, RowValues
from .._data.validation import RowsLike, check_labels, check_readings, check_rows, check_sample_weight


@documented
class GaussianDenoiser(
    FittedMixture, OneToOneFeatureMixin, TransformerMixin, BaseEstimator, auto_wrap_output_keys=None
):
    """Replace readings by posteriors of true values (extreme deconvolution).

    Row i is a reading x_i = z_i + e_i of a true value z_i, with noise e_i ~ N(0, S_i). EM fits a mixture of
    Gaussians to the true values, and each row becomes N(m_i, C_i), the posterior of z_i:

    .. code-block:: text

        x_i ~ sum_k pi_k N(mu_k, T_k + S_i)
        m_i = mu + G_i (x_i - mu),    C_i = T - G_i T,    G_i = T (T + S_i)^-1      (one component)

    With several components these are mean and covariance of the mixture of posteriors. A missing feature has
    infinite noise: do not impute it. With no more rows than features (20 or more of these), and where full
    matrices would take too long, T = F F' + diag(psi) with few columns of F. Theory: :doc:`/methods/denoise`.

    Use it before an estimator if error bars are measurement errors; see :doc:`/start/meaning`.

    Parameters
    ----------
    n_components : int or "auto", default=1
        Number of Gaussians K. "auto" tries 1, 2, ... and takes the K with the largest likelihood on held-out
        rows (3 folds); it stops after two more were no better.
    {max_components, em_tol, em_max_iter, acceleration, reg_covar, em_seed, n_jobs, em_verbose}

    {Attributes: em_weights_}
    means_, covariances_ : ndarrays of shape (K, d) and (K, d, d)
        mu_k and T_k, without the noise.
    {n_components_}
    log_likelihoods_ : ndarray
        Mean log-likelihood per row at the start and after every step, never falling; with gaps and one
        component including (d + 1) / (2n) log det T.
    {held_out_log_likelihoods_, em_n_iter_, n_features_in_}

    {Warns: em_warning}

    References
    ----------
    J. Bovy, D. W. Hogg, S. T. Roweis, Extreme deconvolution, Annals of Applied Statistics 5, 2011.

    Examples
    --------
    >>> import numpy as np
    >>> from uncertain import GaussianArray, GaussianDenoiser
    >>> rng = np.random.default_rng(0)
    >>> truth, noise = rng.normal(size=(500, 1)), np.where(np.arange(500) % 2, 0.1, 3.0)[:, None]
    >>> X = GaussianArray(truth + noise * rng.normal(size=(500, 1)), std=noise)
    >>> Z = GaussianDenoiser().fit_transform(X)
    >>> bool(((Z.means - truth) ** 2).mean() < 0.2 * ((X.means - truth) ** 2).mean())
    True
    """

    _kinds = ("denoiser",)

    def fit(self, X: RowsLike, y: object = None, sample_weight: RowValues = None) -> Self:
        """Learn the distribution of the true values.

        {Parameters: readings, no_y, sample_weight}

        {Returns: self}

        Raises
        ------
        UncertainError
            If a feature is missing in every row.
        """
        parameters = self._parameters()
        rows = check_readings(self, X, reset=True)
        weights = check_sample_weight(sample_weight, rows[0].n_rows)
        self._keep(self._fitted(parameters, rows, weights=weights))
        warn_unless_ended(self)
        return self

    def transform(self, X: RowsLike) -> GaussianArray:
        """The posterior of every row's true value, N(m_i, C_i), all d features of it.

        {Parameters: readings}

        Returns
        -------
        GaussianArray
        """
        return _moved(self, check_readings(self, X, reset=False), X)

    def score_samples(self, X: RowsLike) -> Floats:
        """Return the log-likelihood log sum_k pi_k N(x_i; mu_k, T_k + S_i).

        Of the features that are present; 0 for a row without any.
        """
        rows = check_readings(self, X, reset=False)
        return self._model.log_likelihood(rows, self.n_jobs)

    def score(self, X: RowsLike, y: object = None) -> float:
        """Mean of `score_samples`."""
        return float(self.score_samples(X).mean())


@documented
@dataclass(eq=False, repr=False)
class GaussianImputer(
    FittedMixture, OneToOneFeatureMixin, TransformerMixin, BaseEstimator, auto_wrap_output_keys=None
):
    """Fill missing features by their conditional mean and covariance.

    The distribution N(mu, T) of all features (or a mixture) is learned by EM from what every row has, the
    covariances of the rows included. With o the observed and m the missing features of a row:

    .. code-block:: text

        z_m | x_o ~ N(mu_m + T_mo (T_oo + S_oo)^-1 (x_o - mu_o),   T_mm - T_mo (T_oo + S_oo)^-1 T_om)

    Observed features keep their value and their covariance; between them and the imputed ones the covariance
    is zero. An imputed value thus has an error bar, which an SVM-GSU takes into account.

    With one component (per class), T is the sum of squares over n - d - 1 instead of n in every step of EM:
    the likelihood is multiplied by (det T)^((d + 1) / 2) [1]_: maximum likelihood overlooks that mu and T are
    estimates, and the error bars would be too small, most of all where noisy readings leave T nearly
    singular. Standardised errors then have variance 1 on average over data sets; in one data set they are as
    good as its T. Weights that are whole multiples of the smallest count rows, of others n is (sum w)^2 /
    sum w^2; the correction uses at most half of the rows in which the rarest feature is present.

    Parameters
    ----------
    n_components : int or "auto", default=1
        Number of Gaussians (per class); "auto" by held-out likelihood, not with ``per_class=True``.
    per_class : bool, default=False
        Whether to learn a distribution per class, for which `fit` needs y. Rows are nevertheless imputed
        without their label: each class counts by its probability given the observed features, in training as
        for new rows.
    {max_components}
    tol, max_iter, acceleration, reg_covar : float or None, int, "squarem" or None, float
        As for `GaussianDenoiser`.
    random_state : int, RandomState or None, default=None
        Seed of the start, and of the folds of "auto".
    {n_jobs}
    {em_verbose}

    Attributes
    ----------
    weights_, means_, covariances_ : ndarrays of shape (K,), (K, d), (K, d, d)
        The distribution of the features, without noise; with ``per_class=True`` over all classes.
    log_likelihoods_ : ndarray of at most ``n_iter_ + 1`` numbers
        Mean log-likelihood per row at the start and after every step that was kept, never falling; with one
        component including (d + 1) / (2n) log det T.
    n_iter_, status_ : int, str
        Passes over the rows after the first one, and "converged", "max_iter" or "no_progress".
    {n_components_, n_features_in_}

    The result is always a GaussianArray: full covariances, diagonal ones where no row has two gaps and the
    rows' own are diagonal, and the rows themselves where nothing is missing. `GaussianDenoiser` and
    `GaussianDiscriminant` accept missing values and need no imputer in front.

    References
    ----------
    .. [1] Y. Chung, A. Gelman, S. Rabe-Hesketh, J. Liu, V. Dorie, "Weakly informative prior for point
       estimation of covariance matrices in hierarchical models", Journal of Educational and Behavioral
       Statistics 40, 2015, https://doi.org/10.3102/1076998615570945 (who use the power 1/2).

    Examples
    --------
    >>> import numpy as np
    >>> from uncertain import GaussianImputer
    >>> X = np.array([[0.0, 0.1], [1.0, 0.9], [2.0, 2.1], [3.0, 2.9], [4.0, np.nan]])
    >>> filled = GaussianImputer().fit_transform(X)
    >>> bool(abs(filled.means[4, 1] - 4.0) < 0.3), bool(0 < filled.covariances()[4, 1, 1] < 0.1)
    (True, True)
    """

    _kinds = ("imputer",)

    _: KW_ONLY
    per_class: bool = False

    def fit(self, X: RowsLike, y: ArrayLike | None = None, sample_weight: RowValues = None) -> Self:
        """Learn the distribution of the features.

        Parameters
        ----------
        X : array-like of shape (n, d) with NaN for what is missing, GaussianArray, or what
            ``AsGaussians(on_missing="impute")`` gives
        {labels, sample_weight}

        {Returns: self}
        """
        parameters = self._parameters()
        data, missing = check_rows(self, X, reset=True)
        arguments: Keywords = {}
        if self.per_class:
            classes, codes = check_labels(y, X, self)
            arguments = {"codes": codes, "n_classes": len(classes)}
        weights = check_sample_weight(sample_weight, data.n_rows)
        self._keep(self._fitted(parameters, (data, missing), weights=weights, **arguments))
        warn_unless_ended(self)
        return self

    def transform(self, X: RowsLike) -> GaussianArray:
        """The rows with what is missing replaced by its conditional Gaussian.

        Parameters
        ----------
        X : array-like of shape (n, d) with NaN for what is missing, GaussianArray, or what
            ``AsGaussians(on_missing="impute")`` gives

        Returns
        -------
        GaussianArray
        """
        return _moved(self, check_rows(self, X, reset=False), X)


def _moved(model: FittedMixture, rows: FitRows, X: RowsLike) -> GaussianArray:
    """The transformed rows, with the names of the fit and the unit of X."""
    moved = model._model.transform(rows, model.n_jobs)
    gaussians = X.gaussians if isinstance(X, Incomplete) else X
    unit = gaussians._unit if isinstance(gaussians, GaussianArray) else None
    return GaussianArray._from_core(moved, getattr(model, "feature_names_in_", None), unit)
