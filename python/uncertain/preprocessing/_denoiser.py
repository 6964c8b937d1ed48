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

    Row i is one reading x_i = z_i + e_i of an unknown z_i, with known noise e_i ~ N(0, S_i). The distribution
    of the z_i is a mixture of Gaussians, learned from all rows by EM:

    .. code-block:: text

        x_i ~ sum_k pi_k N(mu_k, T_k + S_i)

    and each row becomes N(m_i, C_i), the posterior of z_i given the reading and this distribution. For one
    component, with G_i = T (T + S_i)^-1:

    .. code-block:: text

        m_i = mu + G_i (x_i - mu),    C_i = T - G_i T

    for several, mean and covariance of the mixture of such posteriors. A precise reading hardly moves; a poor
    one is shrunk towards the population. A missing feature is a reading with infinite noise: with o the
    features that are present,

    .. code-block:: text

        G_i = T_:o (T_oo + S_oo)^-1,    m_i = mu + G_i (x_o - mu_o),    C_i = T - G_i T_o:

    and a row without any becomes the distribution itself. Leave missing values missing: those of a
    `GaussianImputer` would be taken as readings. With gaps, the T of a single component is the sum of squares
    over n - d - 1 instead of n, as in the imputer, whose docstring has the reason.

    Few rows say little about d (d + 1) / 2 covariances. With error bars of single features, one component,
    and no more rows than features (20 or more of these), the true values vary together in r directions, a
    twelfth as many as there are rows, and each feature by itself beside them: T = F F' + diag(psi), F of
    d x r (factor analysis). So do rows whose full matrices would take too long: those with n d^3 above
    2 * 10^9, unless there are 200 rows per feature. r is smaller where that would take long (8 of 400
    features), and EM looks at 1,000 rows at most, drawn by the seed.

    Use it in front of an estimator if the error bars are measurement errors; if a row is a population, its
    covariance already is its spread (see "Spread or measurement error" in the guide).

    Parameters
    ----------
    n_components : int or "auto", default=1
        Number of Gaussians K. "auto" tries 1, 2, ... and takes the K with the largest likelihood on held-out
        rows (3 folds); it stops after two more were no better.
    {max_components, em_tol, em_max_iter, acceleration, reg_covar, em_seed, n_jobs, em_verbose, em_callback}

    {Attributes: em_weights_}
    means_ : ndarray of shape (K, d)
        mu_k.
    covariances_ : ndarray of shape (K, d, d)
        T_k, without the noise.
    {n_components_}
    log_likelihoods_ : ndarray of at most ``n_iter_ + 1`` numbers
        Mean log-likelihood per row at the start and after every step that was kept, never falling; with gaps
        and one component including (d + 1) / (2n) log det T.
    {held_out_log_likelihoods_, em_n_iter_, em_status_, n_features_in_, feature_names_in_}

    The result is always a GaussianArray: exact points stay exact; with one component a covariance shared by
    all rows gives a shared one, factors of at most d / 3 columns give factors of as many, and r directions
    give factors of r columns with a diagonal. Everything else, and rows with gaps, give a full matrix per row
    (exact points with one gap each a diagonal one).

    {Warns: em_warning}

    References
    ----------
    J. Bovy, D. W. Hogg, S. T. Roweis, Extreme deconvolution, Annals of Applied Statistics 5, 2011, doi
    10.1214/10-AOAS439. D. J. Bartholomew, M. Knott, I. Moustaki, Latent Variable Models and Factor Analysis,
    3rd edition, 2011. R. Varadhan, C. Roland, Simple and globally convergent methods for accelerating the
    convergence of any EM algorithm, Scandinavian Journal of Statistics 35, 2008, doi
    10.1111/j.1467-9469.2007.00585.x.

    Examples
    --------
    >>> import numpy as np
    >>> from uncertain import GaussianArray, GaussianDenoiser
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.normal(size=(500, 1))
    >>> noise = np.where(np.arange(500) % 2, 0.1, 3.0)[:, None]
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
