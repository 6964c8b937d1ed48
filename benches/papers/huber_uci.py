"""Tables IV and V of the Huber paper: regression on four UCI sets, for docs/papers/adaptive-huber.md.

    python benches/papers/huber_uci.py [--data FOLDER] [--quick]

Five folds; parameters are chosen within the training rows of each: by cross-validation, by the marginal
likelihood (Gaussian process), by a held-out tenth (neural net).
"""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import page
from sklearn.compose import TransformedTargetRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.neighbors import KNeighborsRegressor
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR
from threadpoolctl import threadpool_limits

from uncertain import AdaptiveHuberRegressor

SETS = {
    "boston_housing": ("MEDV", "StatLib"),
    "airfoil_self_noise": ("sound_pressure_level_db", "UCI 291"),
    "yacht_hydrodynamics": ("residuary_resistance", "UCI 243"),
    "wine_quality_red": ("quality", "UCI 186"),
}


def models(d: int) -> dict[str, Any]:
    """Every one sees standardised features and a standardised target."""
    widths = [0.1 / d, 0.3 / d, 1.0 / d, 3.0 / d]
    folds = KFold(3, shuffle=True, random_state=0)
    kernel = ConstantKernel() * RBF(np.sqrt(d)) + WhiteKernel(0.1)
    huber = AdaptiveHuberRegressor(manifold_alpha=0.0, graph=None, delta=0.1, fit_intercept=True)
    grid = {"alpha": [1e-6, 1e-5, 1e-4, 1e-3], "gamma": widths, "max_refinements": [0, 3]}
    inner = {
        "HLR": GridSearchCV(huber, grid, cv=folds, scoring="neg_mean_absolute_error"),
        "GPR": GaussianProcessRegressor(kernel),
        "ridge": RidgeCV(np.logspace(-3, 3, 13)),
        "k-nn": GridSearchCV(
            KNeighborsRegressor(),
            {"n_neighbors": [1, 2, 3, 5, 10, 20], "weights": ["uniform", "distance"]},
            cv=folds,
            scoring="neg_mean_absolute_error",
        ),
        "neural net": MLPRegressor(
            hidden_layer_sizes=(50,), early_stopping=True, max_iter=1000, n_iter_no_change=30, random_state=0
        ),
        "SVR": GridSearchCV(
            SVR(epsilon=0.05),
            {"C": [1.0, 10.0, 100.0], "gamma": widths},
            cv=folds,
            scoring="neg_mean_absolute_error",
        ),
    }
    return {
        name: TransformedTargetRegressor(make_pipeline(StandardScaler(), model), transformer=StandardScaler())
        for name, model in inner.items()
    }


def main(argv: Sequence[str] | None = None) -> str:
    arguments = page.options(__doc__ or "", argv, data=True)
    absolute, squared = [], []
    names: list[str] = []
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # kernel widths at their bounds, many epochs
        for name, (target, origin) in list(SETS.items())[:: 4 if arguments.quick else 1]:
            x, y = page.load(arguments.data, name, target, origin)
            if arguments.quick:
                x, y = x[::5], y[::5]
            predicted: dict[str, np.ndarray] = {}
            for train, test in KFold(5, shuffle=True, random_state=0).split(x):
                for method, model in models(x.shape[1]).items():
                    into = predicted.setdefault(method, np.zeros_like(y))
                    into[test] = model.fit(x[train], y[train]).predict(x[test])
            names = list(predicted)
            residuals = {method: np.abs(p - y) for method, p in predicted.items()}
            absolute.append(line(name, {m: float(r.mean()) for m, r in residuals.items()}))
            squared.append(line(name, {m: float(np.sqrt(np.mean(r**2))) for m, r in residuals.items()}))
    head = ["data", "paper: HLR", *names, "lowest"]
    tables = {"uci-mae": page.table(head, absolute), "uci-rmse": page.table(head, squared)}
    return page.update("adaptive-huber.md", tables, quick=arguments.quick)


def line(name: str, errors: dict[str, float]) -> list[str]:
    """ "lowest" names all within one per cent of the best."""
    best = [method for method, value in errors.items() if value < 1.01 * min(errors.values())]
    return [name, "not available here", *(f"{e:.3f}" for e in errors.values()), ", ".join(best)]


if __name__ == "__main__":
    main()
