"""Tables IV, V and Fig. 2 of the Huber paper: four UCI sets.

    python papers/huber_uci.py [--data FOLDER] [--quick]

The printed recipe: five contiguous folds, each left out once, the errors averaged over the folds; the
parameters are those of Table IV. The paper does not say how features are scaled (here: standardised by the
training rows) nor which kernel HLR has (here: linear, and RBF).
"""

import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import page
from numpy.typing import NDArray
from significance import difference, standard_error
from sklearn.compose import TransformedTargetRegressor
from sklearn.dummy import DummyRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, DotProduct, WhiteKernel
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold
from sklearn.neighbors import KNeighborsRegressor
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVR, NuSVR
from threadpoolctl import threadpool_limits

from uncertain import AdaptiveHuberRegressor

Floats = NDArray[np.float64]
Fold = tuple[NDArray[np.int64], NDArray[np.int64]]

SETS = {
    "boston_housing": ("MEDV", "StatLib", "House"),
    "airfoil_self_noise": ("sound_pressure_level_db", "UCI 291", "Air"),
    "yacht_hydrodynamics": ("residuary_resistance", "UCI 243", "Hydro"),
    "wine_quality_red": ("quality", "UCI 186", "Wine"),
}
MEASURES = ("MAE", "MSE", "MRE")
HLR, GPR, RR, KNN, NN, SUPPORT = "HLR", "GPR", "ridge", "k-nn", "neural net", "SVR"
NO = float("nan")
PAPER = {
    "House": {
        GPR: (4.21, 41.00, 0.20),
        RR: (3.79, 28.73, 16.03),
        KNN: (5.91, 64.96, 22.64),
        NN: (5.49, 56.97, 20.94),
        SUPPORT: (4.88, 51.55, 20.72),
        HLR: (4.13, 36.78, 0.15),
    },
    "Air": {
        GPR: (4.47, 33.84, 0.03),
        RR: (4.76, 37.61, 3.87),
        KNN: (6.01, 65.57, 4.89),
        NN: (6.56, 64.69, 5.32),
        SUPPORT: (4.93, 38.64, 3.99),
        HLR: (4.16, 30.20, 0.04),
    },
    "Hydro": {
        GPR: (7.10, 118.3, NO),
        RR: (7.28, 113.9, NO),
        KNN: (9.08, 267.0, NO),
        NN: (8.32, 183.2, NO),
        SUPPORT: (7.41, 143.8, NO),
        HLR: (6.91, 110.8, NO),
    },
    "Wine": {
        GPR: (0.59, 0.72, 0.107),
        RR: (0.59, 0.72, 0.106),
        KNN: (0.61, 0.78, 0.108),
        NN: (0.86, 1.35, 0.161),
        SUPPORT: (0.59, 0.73, 0.109),
        HLR: (0.61, 0.77, 0.107),
    },
}
"""MAE, MSE and MRE as printed: MRE of RR, k-nn, NN and SVR on House and Air in per cent, else fractions."""
WAYS = (
    "contiguous",
    "contiguous, raw features",
    "every fifth row",
    "shuffled",
    "contiguous, one learned",
    "shuffled, one learned",
)
CONSTANT = "constant"
WHITE = "Wine, white"
COVARIANCE = DotProduct() + ConstantKernel() * RBF(3.0) + WhiteKernel(0.1)
"""GPR: a linear and a squared exponential covariance function, by the marginal likelihood."""


def main(argv: Sequence[str] | None = None) -> str:
    arguments = page.options(__doc__ or "", argv, data=True)
    tables: dict[str, list[list[str]]] = {measure: [] for measure in MEASURES}
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # kernel widths at their bounds, many epochs
        chosen = list(SETS.items())[:: 4 if arguments.quick else 1]
        for name, (target, origin, short) in page.progress(chosen, "UCI"):
            x, y = page.load(arguments.data, name, target, origin)
            if arguments.quick:
                x, y = x[::5], y[::5]
            folds = list(split(WAYS[0], len(y)))
            for method, model in models(short).items():
                errors, _ = measured(model, x, y, folds)
                for k, measure in enumerate(MEASURES):
                    if measure != "MRE" or short != "Hydro":
                        tables[measure].append(line(short, method, measure, errors[:, k]))
    head = ["data", "method", "paper", "ours", "difference"]
    filled = {f"uci-{m.lower()}": page.table(head, rows, numbers=2) for m, rows in tables.items()}
    return page.report(filled)


def models(short: str) -> dict[str, Any]:
    """Table IV."""
    neurons = {"House": 3, "Air": 5, "Hydro": 7, "Wine": 6}[short]
    support = {
        "House": SVR(kernel="linear", epsilon=0.003, C=10.0),
        "Air": SVR(kernel="linear", epsilon=0.005, C=10.0),
        "Hydro": NuSVR(kernel="linear", nu=0.003, C=1.0),
        "Wine": NuSVR(kernel="linear", nu=0.01, C=10.0),
    }[short]
    nu = getattr(support, "nu", None)
    network = MLPRegressor(
        hidden_layer_sizes=(neurons,), activation="tanh", solver="lbfgs", max_iter=1000, random_state=0
    )
    return {
        f"{HLR}, linear": scaled(huber("linear")),
        f"{HLR}, RBF": scaled(huber("rbf")),
        GPR: both(GaussianProcessRegressor(COVARIANCE)),
        RR: scaled(ridge(short)),
        KNN: scaled(neighbours(short)),
        NN: both(network),
        SUPPORT: scaled(support),
        **(
            {f"{SUPPORT}, nu as epsilon": scaled(SVR(kernel="linear", epsilon=nu, C=support.C))} if nu else {}
        ),
        CONSTANT: DummyRegressor(),
    }


def huber(kernel: str) -> AdaptiveHuberRegressor:
    return AdaptiveHuberRegressor(
        1e-3, 1e-4, delta=0.01, max_refinements=3, kernel=kernel, fit_intercept=True, scale_features=False
    )


def ridge(short: str) -> Ridge:
    return Ridge({"House": 0.3, "Air": 0.01, "Hydro": 0.5, "Wine": 1.0}[short])


def neighbours(short: str) -> KNeighborsRegressor:
    return KNeighborsRegressor(5 if short == "Wine" else 3)


def scaled(model: Any, raw: bool = False) -> Any:
    return make_pipeline(FunctionTransformer() if raw else StandardScaler(), model)


def both(model: Any) -> TransformedTargetRegressor:
    """Features and target standardised: starting values of the optimiser are for such."""
    return TransformedTargetRegressor(scaled(model), transformer=StandardScaler())


def split(way: str, n: int) -> Iterator[Fold]:
    """Rows that are learned, rows that are tested."""
    rows = np.arange(n)
    for j, (train, test) in enumerate(
        KFold(5, **({"shuffle": True, "random_state": 0} if "shuffled" in way else {})).split(rows)
    ):
        if way == "every fifth row":
            train, test = rows[rows % 5 != j], rows[rows % 5 == j]
        yield (test, train) if "one learned" in way else (train, test)


def measured(model: Any, x: Floats, y: Floats, folds: Sequence[Fold]) -> tuple[Floats, Floats]:
    """MAE, MSE and MRE (per cent) of every fold, and the predictions."""
    errors, predicted = [], np.zeros_like(y)
    for train, test in folds:
        predicted[test] = model.fit(x[train], y[train]).predict(x[test])
        residual = np.abs(predicted[test] - y[test])
        relative = 100 * (residual / np.abs(y[test])).mean()
        errors.append((residual.mean(), (residual**2).mean(), relative))
    return np.array(errors), predicted


def line(short: str, method: str, measure: str, errors: Floats) -> list[str]:
    """Printed fractions of MRE become per cent, as the others are."""
    key, digits = method.split(",")[0], 2 if short == "Wine" or measure != "MSE" else 1
    mean, error = float(errors.mean()), standard_error(errors)
    if key == CONSTANT:
        return [short, method, "", difference(0.0, mean, error, digits)[0], ""]
    paper = PAPER[short][key][MEASURES.index(measure)]
    if measure == "MRE" and paper < 1.0:
        paper *= 100
    return [short, method, f"{paper:g}", *difference(paper, mean, error, digits)]


if __name__ == "__main__":
    main()
