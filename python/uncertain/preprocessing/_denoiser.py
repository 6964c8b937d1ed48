"""``GaussianDenoiser``: from measurements with known noise to posteriors of the true values."""

from __future__ import annotations

from typing import Self

from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin

from .._base.docs import documented
from .._base.em import FittedMixture, warn_unless_ended
from .._data.array import GaussianArray
from .._data.typing import Floats, RowValues
from .._data.validation import RowsLike, check_readings, check_sample_weight


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
        return self._moved(check_readings(self, X, reset=False), X)

    def score_samples(self, X: RowsLike) -> Floats:
        """Return the log-likelihood log sum_k pi_k N(x_i; mu_k, T_k + S_i).

        Of the features that are present; 0 for a row without any.
        """
        rows = check_readings(self, X, reset=False)
        return self._model.log_likelihood(rows, self.n_jobs)

    def score(self, X: RowsLike, y: object = None) -> float:
        """Mean of `score_samples`."""
        return float(self.score_samples(X).mean())
