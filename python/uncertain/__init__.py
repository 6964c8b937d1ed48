"""Supervised learning from data with error bars: rows are Gaussians.

``uncertain.fit(table)`` makes a `Model` from a table with error columns; `GSUClassifier` on a `GaussianArray`
is the same for scikit-learn's pipelines.

Names are loaded when they are first used (PEP 562): scikit-learn takes a second or two, and neither the help
of the command line nor a script that stops at a wrong option should wait for it. Type checkers read the
imports below, which say the same as `_ORIGINS`.
"""

import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING

from . import _uncertain  # noqa: F401  # loaded before anyone limits threads, which threadpoolctl does once
from ._base import run as _run  # noqa: F401  # tells threadpoolctl about our pools

if TYPE_CHECKING:
    from . import (
        demo as demo,
        exceptions as exceptions,
        huber as huber,
        inspection as inspection,
        kernels as kernels,
        laws as laws,
        losses as losses,
        metrics as metrics,
        preprocessing as preprocessing,
        uncertainty as uncertainty,
    )
    from ._tables.columns import Columns as Columns
    from ._data.array import GaussianArray as GaussianArray
    from ._data.incomplete import Incomplete as Incomplete
    from ._data.mixture_array import MixtureArray as MixtureArray
    from ._errors.check import ErrorCheck as ErrorCheck, check_errors as check_errors
    from ._estimators.discriminant import GaussianDiscriminant as GaussianDiscriminant
    from ._estimators.gsu import GSUClassifier as GSUClassifier, GSURegressor as GSURegressor
    from ._estimators.kernel_features import ProbabilisticKernelFeatures as ProbabilisticKernelFeatures
    from ._estimators.kernel_svm import (
        ProbabilisticKernelSVC as ProbabilisticKernelSVC,
        ProbabilisticKernelSVR as ProbabilisticKernelSVR,
    )
    from ._estimators.remeasured import (
        RemeasuredClassifier as RemeasuredClassifier,
        RemeasuredRegressor as RemeasuredRegressor,
    )
    from ._estimators.robust import (
        MinimaxProbabilityClassifier as MinimaxProbabilityClassifier,
        RobustSVC as RobustSVC,
    )
    from ._model.fit import fit as fit
    from ._model.model import Model as Model, load as load
    from ._report.report import Report as Report
    from .exceptions import UncertainError as UncertainError
    from .huber import (
        AdaptiveHuberClassifier as AdaptiveHuberClassifier,
        AdaptiveHuberRegressor as AdaptiveHuberRegressor,
    )
    from .laws.linear import GaussianMixtureRegressor as GaussianMixtureRegressor
    from .preprocessing import *  # noqa: F403

    __version__: str

_ORIGINS = {
    name: module
    for module, names in {
        "_tables.reading": "Columns",
        "_data.array": "GaussianArray",
        "_data.mixture_array": "MixtureArray",
        "_errors.check": "ErrorCheck check_errors",
        "_data.incomplete": "Incomplete",
        "_estimators.discriminant": "GaussianDiscriminant",
        "_estimators.gsu": "GSUClassifier GSURegressor",
        "_estimators.kernel_features": "ProbabilisticKernelFeatures",
        "_estimators.kernel_svm": "ProbabilisticKernelSVC ProbabilisticKernelSVR",
        "_estimators.remeasured": "RemeasuredClassifier RemeasuredRegressor",
        "_estimators.robust": "MinimaxProbabilityClassifier RobustSVC",
        "_model.fit": "fit",
        "_model.model": "Model load",
        "_report.report": "Report",
        "exceptions": "UncertainError",
        "huber": "AdaptiveHuberClassifier AdaptiveHuberRegressor",
        "laws.linear": "GaussianMixtureRegressor",
        "preprocessing": "AsGaussians ErrorColumns GaussianCollapser GaussianColumnTransformer "
        "GaussianDenoiser GaussianImputer GaussianLogScaler GaussianScaler KernelMap LinearMap "
        "SubspaceProjector",
    }.items()
    for name in names.split()
}
"""The module behind each public name."""

_MODULES = "demo exceptions huber inspection kernels laws losses metrics preprocessing uncertainty"

# And `dask` and `plot`, which need an extra; docs/reference/api.md has the same names.
__all__ = sorted([*_ORIGINS, *_MODULES.split(), "__version__"])

if not TYPE_CHECKING:  # which would take any name for a member

    def __getattr__(name: str) -> object:
        if name == "__version__":
            from ._data.installed import version

            value: object = version()
        elif name in _ORIGINS:
            value = getattr(importlib.import_module(f".{_ORIGINS[name]}", __name__), name)
        else:
            return _module(name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def _module(name: str) -> ModuleType:
    """A module of the package; AttributeError if there is none of that name."""
    path = f"{__name__}.{name}"
    if not name.startswith("__"):
        try:
            return importlib.import_module(path)
        except ModuleNotFoundError as error:
            if error.name != path:  # it is there, and needs one that is not
                raise
    module = sys.modules[__name__]  # by which Python finds names that are alike
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name, obj=module)
