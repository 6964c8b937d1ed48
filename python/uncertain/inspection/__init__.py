"""How a fitted model uses its features, each of them a value together with its error bar.

scikit-learn's `permutation_importance` and `partial_dependence` move values in plain arrays: the error bar of
a moved value would stay with the wrong row. These functions move both.
"""

from ._dependence import PartialDependence, partial_dependence
from ._importance import Importances, permutation_importance

__all__ = ["Importances", "PartialDependence", "partial_dependence", "permutation_importance"]
