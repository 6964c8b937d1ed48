"""``GaussianDiscriminant``: LDA and QDA for rows with known noise."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin

from .._base.classifiers import single
from .._base.core import Core, TakesGaps
from .._base.docs import documented
from .._base.em import EMParameters, Mixture, keep_progress, packed, unpacked, warn_unless_ended
from .._data.typing import Booleans, Codes, Floats, Header, Keywords, Labels, RowValues
from .._data.validation import RowsLike, check_labels, check_readings, check_weights
from ..exceptions import ParameterError, UncertainError

__all__ = ["GaussianDiscriminant"]


@documented
@dataclass(eq=False, repr=False)
class GaussianDiscriminant(EMParameters, Core, TakesGaps, ClassifierMixin, BaseEstimator):
    """LDA or QDA under measurement error: class densities with known row noise.

    The true values of class c are N(mu_c, T_c), and row i is one reading of such a value with its own known
    noise:

    .. code-block:: text

        p(x_i | c) = N(x_i; mu_c, T_c + S_i),    P(c | x_i) proportional to prior_c p(x_i | c)

    The parameters are fitted by EM (extreme deconvolution, as in `GaussianDenoiser`); the probabilities are
    exact under this model and need no calibration. With ``shared_covariance=True`` all T_c are one (linear
    discriminant analysis), else each class has its own (quadratic). With zero covariances these are the
    classical methods by maximum likelihood. The size of the noise may depend on the class.

    A missing feature has infinite noise: the densities are those of the features that are present, and a row
    without any gets the priors.

    Parameters
    ----------
    shared_covariance : bool, default=True
        Whether all classes (and components) have one T.
    n_components : int, default=1
        Gaussians per class; more than one for classes that are not Gaussian.
    priors : array-like of shape (n_classes,), default=None
        Class probabilities in the order of ``classes_``; None takes the (weighted) shares of the classes.
    {em_tol, em_max_iter, acceleration, discriminant_reg_covar}
    random_state : int, RandomState or None, default=None
        Seed of the start.
    {n_jobs}
    {em_verbose}

    Attributes
    ----------
    classes_ : ndarray of shape (C,)
        The labels, sorted.
    priors_ : ndarray of shape (C,)
        Class probabilities.
    weights_ : ndarray of shape (C, K)
        Shares of the components within their class.
    means_ : ndarray of shape (C, K, d)
        Means of the components.
    covariances_ : ndarray of shape (C, K, d, d)
        T of the components, without the noise.
    log_likelihoods_ : ndarray of at most ``n_iter_ + 1`` numbers
        Mean log-likelihood per row given its class, at the start and after every step that was kept, never
        falling.
    {em_n_iter_, feature_names_in_}

    {Warns: em_warning}

    Examples
    --------
    >>> import numpy as np
    >>> from uncertain import GaussianArray, GaussianDiscriminant
    >>> X = GaussianArray([[0.0], [0.4], [2.0], [2.4]], std=[0.1, 0.5, 0.1, 0.5])
    >>> model = GaussianDiscriminant().fit(X, ["a", "a", "b", "b"])
    >>> precise, vague = model.predict_proba(GaussianArray([[0.5], [0.5]], std=[0.1, 5.0]))[:, 0]
    >>> bool(precise > 0.9 > vague > 0.5)
    True
    """

    _kinds = ("discriminant",)

    shared_covariance: bool = True
    n_components: int = 1
    _: KW_ONLY
    priors: ArrayLike | None = None
    reg_covar: float | None = None

    def fit(
        self, X: RowsLike, y: ArrayLike, sample_weight: RowValues = None, *, groups: RowValues = None
    ) -> Self:
        """Fit to readings with their noise.

        {Parameters: readings, labels, sample_weight, no_groups}

        {Returns: self}

        Raises
        ------
        UncertainError
            If a feature is missing in every row of a class.
        """
        parameters = self._parameters()
        rows = check_readings(self, X, reset=True)
        missing = rows[1]
        classes, codes = check_labels(y, X, self, sample_weight)
        weights = check_weights(sample_weight, None, classes=classes, codes=codes)
        if missing is not None:
            counted = slice(None) if weights is None else weights > 0.0
            _refuse_unseen(missing[counted], codes[counted], classes)
        arguments = {"codes": codes, "n_classes": len(classes), "weights": weights}
        model = self._fitted(parameters, rows, **arguments)
        self.classes_ = classes
        self._keep(model)
        warn_unless_ended(self)
        return self

    def _core_parameters(self) -> Keywords:
        parameters = super()._core_parameters()
        try:
            priors = None if self.priors is None else np.asarray(self.priors, dtype=np.float64).ravel()
        except (TypeError, ValueError, OverflowError):
            raise ParameterError(f"priors = {self.priors!r}: must be one number per class, or None") from None
        return parameters | {"priors": priors, "shared_covariance": bool(self.shared_covariance)}

    def _mixture(self) -> Mixture:
        """Components of all classes, with their shares of all rows."""
        d = self.means_.shape[-1]
        joint = (self.weights_ * self.priors_[:, None]).ravel()
        return joint / joint.sum(), self.means_.reshape(-1, d), self.covariances_.reshape(-1, d, d)

    def _set(self, mixture: Mixture) -> Self:
        """Set known components, without a fit, of the labels in `classes_`."""
        weights, means, covariances = mixture
        self.n_features_in_ = means.shape[1]
        arrays = {"weights": weights, "means": means, "covariances": packed(covariances)}
        return self._made(arrays, {"n_classes": len(self.classes_), "progress": None})

    def _attributes(self, arrays: dict[str, Floats], header: Header) -> None:
        """Fit from components of all classes and their shares of all rows."""
        n_classes, d = header["n_classes"], arrays["means"].shape[1]
        joint = arrays["weights"].reshape(n_classes, -1)
        self.priors_: Floats = joint.sum(axis=1)
        self.weights_: Floats = joint / self.priors_[:, None]
        self.means_: Floats = arrays["means"].reshape(n_classes, -1, d)
        self.covariances_: Floats = unpacked(arrays["covariances"], d).reshape(n_classes, -1, d, d)
        keep_progress(self, arrays, header["progress"])

    def _facts(self) -> list[tuple[str, str]]:
        k, m = self.weights_.shape
        return [("mixture", f"{m} Gaussian{'s' * (m > 1)} in each of {k} classes")]

    def predict_log_proba(self, X: RowsLike) -> Floats:
        """Logarithm of :meth:`predict_proba`, exact also where that is 0 in rounding.

        {Parameters: readings}

        Returns
        -------
        ndarray of shape (n, C)
        """
        rows = check_readings(self, X, reset=False)
        return self._model.log_proba(rows, self.n_jobs)

    def predict_proba(self, X: RowsLike) -> Floats:
        """P(c | x_i) of every class under the model, with the noise of each row.

        {Parameters: readings}

        Returns
        -------
        ndarray of shape (n, C)
            Columns in the order of ``classes_``.
        """
        probabilities: Floats = np.exp(self.predict_log_proba(X))
        return probabilities

    def decision_function(self, X: RowsLike) -> Floats:
        """Return log P(classes_[1] | x) / P(classes_[0] | x); or log P of each.

        {Parameters: readings}

        Returns
        -------
        ndarray of shape (n,), or (n, C) for more than two classes
        """
        logs = self.predict_log_proba(X)
        if len(self.classes_) > 2:
            return logs
        ratio: Floats = logs[:, 1] - logs[:, 0]
        return ratio

    def decision_distribution(self, X: RowsLike) -> tuple[Floats, Floats]:
        """Return mean and deviation of the score of points in each row's Gaussian.

        .. code-block:: text

            f(z),  z ~ N(x_i, S_i),    f(z) = decision_function of z without noise

        as for the other classifiers. `decision_function` and the probabilities integrate over the noise
        instead, so that the score of a row with large errors tends to that of the priors. Here the mean does
        not, and the standard deviation grows with the noise. With zero covariances the deviation is 0 and the
        mean is `decision_function`.

        For two classes of one component this has a closed form (a quadratic form of a Gaussian). Otherwise it
        is computed from 4095 fixed points: with ``shared_covariance=True`` of the Gaussian of the components'
        log densities, else of z, with the means and variances of these log densities exact.

        A missing feature stays missing: the score is that of the features that are present.

        {Parameters: readings}

        Returns
        -------
        mean, std : ndarrays of shape (n,), or (n, C) for more than two classes
        """
        rows = check_readings(self, X, reset=False)
        mean, std = self._model.decision_distribution(rows, self.n_jobs)
        return single(mean), single(std)

    def predict(self, X: RowsLike) -> Labels:
        """The most probable class.

        {Parameters: readings}

        {Returns: class_labels}
        """
        codes = np.argmax(self.predict_log_proba(X), axis=1)
        return np.asarray(self.classes_[codes])


def _refuse_unseen(missing: Booleans, codes: Codes, classes: Labels) -> None:
    """The core's check in the words of the labels."""
    if missing.all(axis=0).any():
        return  # In every class: the core says so.
    for code, label in enumerate(classes.tolist()):
        unseen = np.flatnonzero(missing[codes == code].all(axis=0))
        if unseen.size and (codes == code).any():
            raise UncertainError(
                f"feature {unseen[0]} is missing in every row of class {label!r}, so nothing can be learned "
                "about it there; leave the feature out"
            )
