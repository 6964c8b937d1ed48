"""Table V of the Huber paper where `huber_uci` misses it: other readings.

    python papers/huber_uci_why.py [--data FOLDER] [--quick]

All on the contiguous folds of `huber_uci`, unless a line says otherwise. Where a method is "shrunk to the
printed MAE", its strength of shrinkage is chosen for that: MSE beside it is then no choice any more.
"""

import warnings
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import huber_uci as uci
import numpy as np
import page
from huber_uci import GPR, HLR, KNN, NN, PAPER, RR, SUPPORT
from numpy.typing import NDArray
from scipy.optimize import brentq
from significance import difference, standard_error
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import DotProduct, WhiteKernel
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR
from threadpoolctl import threadpool_limits

from uncertain import AdaptiveHuberRegressor

Floats = NDArray[np.float64]
Reading = tuple[str, str, str, Any, dict[str, Any]]
"""Set, method of the paper, what is changed, the model, and further choices of `errors`."""

ROUNDED = "rounded to whole grades"
SHUFFLED = {"way": "shuffled"}
NEURONS = {"Air": 5, "Hydro": 7, uci.WHITE: 6}
TRAINING: dict[str, tuple[bool, dict[str, Any]]] = {
    "three steps of L-BFGS": (False, {"solver": "lbfgs", "max_iter": 3}),
    "Adam, 200 passes": (False, {}),
    "raw features, L-BFGS to the end": (True, {"solver": "lbfgs", "max_iter": 1000}),
}
"""How a network could have been trained: whether on raw features, and settings."""
CLASSES: dict[str, tuple[str, bool, dict[str, Any]]] = {
    "Air": ("raw features, Adam, 200 passes", True, {}),
    "Hydro": ("Adam, 200 passes", False, {}),
    uci.WHITE: ("raw features, Adam, 5 passes", True, {"max_iter": 5}),
}
"""The same for a network that classifies."""


class ByClasses(RegressorMixin, BaseEstimator):
    """A classifier in the place of a regressor: every number among the targets is a class of its own."""

    def __init__(self, classifier: Any) -> None:
        self.classifier = classifier

    def fit(self, x: Floats, y: Floats) -> "ByClasses":
        self.values_, codes = np.unique(y, return_inverse=True)
        self.classifier_ = clone(self.classifier).fit(x, codes)
        return self

    def predict(self, x: Floats) -> Floats:
        return self.values_[self.classifier_.predict(x)]


def shrunk_huber(strength: float) -> Any:
    model = AdaptiveHuberRegressor(
        strength, strength / 10, delta=0.01, max_refinements=3, kernel="linear", fit_intercept=True
    )
    return uci.scaled(model)


def shrunk_ridge(strength: float) -> Any:
    return uci.scaled(Ridge(strength))


SHRUNK: tuple[tuple[str, str, Any, tuple[float, float], dict[str, Any]], ...] = (
    ("Hydro", HLR, shrunk_huber, (-2.0, -1.0), {}),
    ("Hydro", RR, shrunk_ridge, (2.0, 3.0), {}),
    (uci.WHITE, HLR, shrunk_huber, (-3.0, -2.0), {"rounded": True}),
    (uci.WHITE, RR, shrunk_ridge, (2.0, 5.0), {"rounded": True}),
)
"""Set, method, model of a strength, decimal logarithms of strengths on both sides, further choices."""


def main(argv: Sequence[str] | None = None) -> str:
    arguments = page.options(__doc__ or "", argv, data=True)
    wanted = readings()[:2] if arguments.quick else readings()
    rows = []
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # short training is what is tried
        for short, method, what, model, how in page.progress(wanted, "UCI, why"):
            found = errors(model, *data(arguments.data, short), **how)
            rows.append([*first(short, method), what, *cells(short, method, found)])
        if not arguments.quick:
            rows += paths(arguments.data)
    head = ["data", "method", "paper: MAE / MSE", "what is changed", "MAE", "difference", "MSE", "difference"]
    return page.report({"uci-why": page.table(head, rows, numbers=4)})


def data(folder: Path, short: str) -> tuple[Floats, Floats]:
    names = {found: (name, target, origin) for name, (target, origin, found) in uci.SETS.items()}
    names[uci.WHITE] = ("wine_quality_white", *names["Wine"][1:])
    return page.load(folder, *names[short])


def paper(short: str, method: str) -> tuple[float, float]:
    mae, mse, _ = PAPER[short.split(",")[0]][method]
    return mae, mse


def first(short: str, method: str) -> list[str]:
    mae, mse = paper(short, method)
    return [short, method, f"{mae:g} / {mse:g}"]


def errors(model: Any, x: Floats, y: Floats, *, way: str = uci.WAYS[0], rounded: bool = False) -> Floats:
    """MAE and MSE of every fold."""
    found = []
    for train, test in uci.split(way, len(y)):
        predicted = model.fit(x[train], y[train]).predict(x[test])
        residual = np.abs((np.rint(predicted) if rounded else predicted) - y[test])
        found.append((residual.mean(), (residual**2).mean()))
    return np.array(found)


def cells(short: str, method: str, found: Floats) -> list[str]:
    """Ours and the difference for MAE, then for MSE."""
    told = []
    for k, printed in enumerate(paper(short, method)):
        digits = 1 if k and not short.startswith("Wine") else 2
        told += difference(printed, float(found[:, k].mean()), standard_error(found[:, k]), digits)
    return told


def readings() -> list[Reading]:
    """One change of the recipe of `huber_uci` each."""
    linear = uci.both(GaussianProcessRegressor(DotProduct() + WhiteKernel(0.1)))
    stopped = uci.scaled(SVR(kernel="linear", epsilon=0.003, C=10.0, max_iter=1000))
    curved = TransformedTargetRegressor(SVR(epsilon=0.003, C=10.0), transformer=StandardScaler())
    found: list[Reading] = [
        ("House", KNN, "raw features", uci.scaled(uci.neighbours("House"), raw=True), {}),
        ("House", SUPPORT, "stopped after 1000 steps", stopped, {}),
        ("House", SUPPORT, "RBF kernel, raw features", curved, {}),
        ("Hydro", SUPPORT, "raw features, nu as epsilon", SVR(kernel="linear", epsilon=0.003), {}),
        ("Air", GPR, "linear covariance alone", linear, {}),
        ("Air", KNN, "three neighbours vote, raw features", vote(3, raw=True), {}),
        ("Hydro", KNN, "three neighbours vote, raw features, shuffled folds", vote(3, raw=True), SHUFFLED),
        ("Hydro", KNN, "five neighbours vote, raw features, shuffled folds", vote(5, raw=True), SHUFFLED),
    ]
    for short, neurons in NEURONS.items():
        for what, (raw, settings) in TRAINING.items():
            net = MLPRegressor(hidden_layer_sizes=(neurons,), activation="tanh", random_state=0, **settings)
            model = TransformedTargetRegressor(uci.scaled(net, raw), transformer=StandardScaler())
            found.append((short, NN, what, model, {}))
        what, raw, settings = CLASSES[short]
        net = MLPClassifier((neurons,), activation="tanh", random_state=0, **settings)
        found.append((short, NN, f"values as classes, {what}", uci.scaled(ByClasses(net), raw), {}))
    slow = MLPRegressor(hidden_layer_sizes=(7,), activation="tanh", random_state=0, max_iter=500)
    found.append(("Hydro", NN, "target not scaled, Adam, 500 passes", uci.scaled(slow), {}))
    for method, model in {
        HLR: uci.scaled(uci.huber("linear")),
        RR: uci.scaled(uci.ridge("Wine")),
        KNN: uci.scaled(uci.neighbours("Wine")),
        GPR: uci.both(SampledGaussianProcess(uci.COVARIANCE)),
        SUPPORT: uci.scaled(SVR(kernel="linear", epsilon=0.01, C=10.0)),
    }.items():
        found.append((uci.WHITE, method, "white wines", model, {}))
        found.append((uci.WHITE, method, ROUNDED, model, {"rounded": True}))
    found.append((uci.WHITE, KNN, "a vote of the neighbours", vote(5), {}))
    return found


def vote(k: int, raw: bool = False) -> Any:
    """The most frequent target of k neighbours; where all differ, the smallest."""
    return uci.scaled(ByClasses(KNeighborsClassifier(k)), raw)


class SampledGaussianProcess(RegressorMixin, BaseEstimator):
    """The marginal likelihood of every eighth row chooses the covariance function, all rows are learned."""

    def __init__(self, kernel: Any) -> None:
        self.kernel = kernel

    def fit(self, x: Floats, y: Floats) -> "SampledGaussianProcess":
        chosen = GaussianProcessRegressor(self.kernel).fit(x[::8], y[::8]).kernel_
        self.model_ = GaussianProcessRegressor(chosen, optimizer=None).fit(x, y)
        return self

    def predict(self, x: Floats) -> Floats:
        return np.asarray(self.model_.predict(x))


def paths(folder: Path) -> Iterator[list[str]]:
    """Methods shrunk so far that MAE is the printed one."""
    for short, method, make, reach, how in SHRUNK:
        x, y = data(folder, short)
        excess = partial(mae_beyond, paper(short, method)[0], make, x, y, how)
        strength = 10.0 ** brentq(excess, *reach, xtol=1e-2)
        what = f"shrunk to the printed MAE ({strength:.2g})" + (f", {ROUNDED}" if how else "")
        yield [*first(short, method), what, *cells(short, method, errors(make(strength), x, y, **how))]


def mae_beyond(mae: float, make: Any, x: Floats, y: Floats, how: dict[str, Any], log: float) -> float:
    return float(errors(make(10.0**log), x, y, **how)[:, 0].mean()) - mae


if __name__ == "__main__":
    main()
