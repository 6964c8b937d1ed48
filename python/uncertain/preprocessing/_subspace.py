"""`SubspaceProjector`: covariances of low rank, from the directions in which a row is most uncertain."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Literal

from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin

from .._base.core import Core
from .._base.docs import documented
from .._data.validation import RowsLike, check_gaussians
from ._moves import Moves


@documented
@dataclass(eq=False, repr=False)
class SubspaceProjector(Moves, Core, OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Keep the few directions in which a row is most uncertain.

    For every row the eigenpairs with the largest eigenvalues are kept until their share of the trace exceeds
    `variance`. The result has low-rank covariances (rank: the largest of any row), which makes fits faster.

    Parameters
    ----------
    variance : float in (0, 1]
        The share p of each row's trace; 1 keeps everything.
    project : {"covariance", "both"}
        "covariance" keeps the means as they are. "both" also replaces each mean by its projection on the
        row's subspace, as the paper writes it; what lies outside is lost (all of an exact point, which
        has no subspace), so this rarely helps.

    {Attributes: feature_names_in_}

    An array (exact points) gives an array, a GaussianArray gives a GaussianArray.

    References
    ----------
    C. Tzelepis, V. Mezaris, I. Patras, Linear Maximum Margin Classifier for Learning from Uncertain Data,
    IEEE TPAMI 40(12), 2018, section 3.2.

    Examples
    --------
    >>> import numpy as np
    >>> from uncertain import GaussianArray, SubspaceProjector
    >>> rows = GaussianArray(np.zeros((1, 3)), cov=[[[4.0, 1.0, 0.0], [1.0, 4.0, 0.0], [0.0, 0.0, 0.01]]])
    >>> SubspaceProjector(variance=0.6).fit_transform(rows).kind
    'low-rank'
    """

    _kinds = ("subspace",)

    variance: float = 0.99
    _: KW_ONLY
    project: Literal["covariance", "both"] = "covariance"

    def fit(self, X: RowsLike, y: object = None) -> SubspaceProjector:
        """Check the parameters and note the number of features."""
        parameters = self._parameters()
        return self._keep(self._fitted(parameters, check_gaussians(self, X, reset=True)))
