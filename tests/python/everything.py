"""Every public estimator and transformer on the same small rows, for suites that hold for all of them.

The list is that of ``uncertain.__all__``, through test_sklearn.py: what is made public is in these suites.
What cannot hold for a class stands beside the test, with the reason.
"""

import warnings
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_regressor
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags
from test_sklearn import ESTIMATORS, OF_TABLES, VARIANTS

from uncertain import GaussianArray

Floats = NDArray[np.float64]
N, D = 60, 3
TOL = 1e-9
"""Of every iteration; `answers` of two fits then agree to about its root."""


class Subject(NamedTuple):
    """A class and its parameters."""

    kind: type
    parameters: dict[str, Any]

    def __str__(self) -> str:
        return "-".join(
            [self.kind.__name__, *(f"{k}={getattr(v, '__name__', v)}" for k, v in self.parameters.items())]
        )[:70]

    def made(self, **changed: Any) -> Any:
        """Not fitted."""
        model = clone(self.kind(**self.parameters))
        known = model.get_params(deep=False)
        settings = {"random_state": 0, "max_iter": 20_000} | changed
        if hasattr(model, "partial_fit") or "status_" in (self.kind.__doc__ or ""):
            settings = {"tol": TOL} | settings
        if "max_iter" in known and known["max_iter"] in (None, -1):
            settings.pop("max_iter")
        return model.set_params(**{name: value for name, value in settings.items() if name in known})

    def given(self, X: GaussianArray) -> Any:
        """The rows as the class takes them: Gaussians, unless it reads columns of numbers."""
        return X.means.copy() if self.kind in OF_TABLES else X

    def fitted(
        self,
        X: GaussianArray,
        y: Any = None,
        before: Any = None,
        changed: dict[str, Any] | None = None,
        **known: Any,
    ) -> Any:
        """Fitted to rows, behind another step where one is given."""
        model = self.made(**(changed or {}))
        if y is None:
            y = self.targets()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of convergence: 1e-9 is at times below rounding
            if before is None:
                return model.fit(self.given(X), y, **known)
            return make_pipeline(before, model).fit(X, y, **known)

    def targets(self, k: int = 2) -> Any:
        """Numbers or k classes."""
        tags = get_tags(self.kind(**self.parameters))
        if tags.estimator_type != "regressor":
            of_two = tags.classifier_tags is not None and not tags.classifier_tags.multi_class
            return np.arange(N) % (2 if of_two else k)
        numbers = np.sin(np.arange(float(N))) + np.arange(N) % k
        return np.exp(numbers) if tags.target_tags.positive_only else numbers

    def answers(self, model: Any, X: GaussianArray) -> list[Floats]:
        """All numbers that it says about rows."""
        X = X if hasattr(model, "steps") else self.given(X)
        if hasattr(model, "transform"):
            out = model.transform(X)
            if isinstance(out, GaussianArray):
                return [out.means.copy(), out.covariances()]
            return [np.asarray(out, dtype=float)]
        names = ["decision_function", "predict_proba"]
        found = [np.asarray(getattr(model, name)(X)) for name in names if hasattr(model, name)]
        return [*found, np.asarray(model.predict(X))] if is_regressor(model) else found


SUBJECTS = [Subject(kind, parameters) for kind in ESTIMATORS for parameters in VARIANTS.get(kind, [{}])]


def rows(k: int = 2, n: int = N) -> GaussianArray:
    """Correlated error bars of several sizes, a few rows exact; classes that overlap a little."""
    rng = np.random.default_rng(0)
    codes = np.arange(n) % k
    means = rng.normal(size=(n, D)) + codes[:, None] * [1.0, -0.7, 0.3]
    factor = 0.3 * rng.normal(size=(n, D, D)) * (np.arange(n) % 7 > 0)[:, None, None]
    return GaussianArray(means, cov=factor @ factor.transpose(0, 2, 1))


def moved(X: GaussianArray, scale: Any = 1.0, shift: Any = 0.0, order: Any = None) -> GaussianArray:
    """x -> scale x + shift with its covariance, in NumPy; then the features in another order."""
    scale = np.broadcast_to(scale, (X.shape[1],))
    means, cov = X.means * scale + shift, X.covariances() * scale[:, None] * scale
    if order is not None:
        means, cov = means[:, order], cov[:, order][:, :, order]
    return GaussianArray(means, cov=cov)


def agree(found: list[Floats], expected: list[Floats], tolerance: float) -> None:
    """Equal to `tolerance` of the largest number, or of 1."""
    assert len(found) == len(expected)
    for a, b in zip(found, expected, strict=True):
        assert a.shape == b.shape
        assert np.isfinite(a).all() and np.isfinite(b).all()
        size = max(1.0, float(np.abs(b).max(initial=0.0)))
        np.testing.assert_allclose(a, b, rtol=0, atol=tolerance * size)
