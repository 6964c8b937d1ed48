"""Crowd counting of the Huber paper, on a simulated crowd: for docs/papers/adaptive-huber*.md.

    python benches/papers/huber_crowd.py [--quick]

The paper's videos and features (UCSD, MALL, PETS 2009) are not at hand. A walking crowd is simulated: numbers
of people that change slowly, and three groups of features of a frame (size, edges, texture), each of which
sees it through occlusion, and some annotations that are wrong. Table VIII's methods are compared on it;
as on UCSD the frames in the middle, two fifths, are learned, and the others tested.
"""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import page
from numpy.typing import NDArray
from significance import percent, standard_error
from sklearn.compose import TransformedTargetRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, DotProduct, WhiteKernel
from sklearn.linear_model import RidgeCV
from sklearn.neighbors import KNeighborsRegressor
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from uncertain import AdaptiveHuberRegressor

Floats = NDArray[np.float64]

PER_VIEW = 4
WRONG = 0.05
"""Share of annotations that miss or invent a quarter of the people."""
PAPER = {
    "GPR": (1.46, 6.23, 2.58, 8.34),
    "linear": (1.56, 6.48, 2.58, 8.52),
    "k-nn": (2.72, 9.63, 2.89, 9.28),
    "neural net": (9.15, 43.08, 13.02, 43.40),
    "HLR": (1.23, 5.43, 2.63, 8.74),
}
"""Table VIII: MAE and MRE (per cent) on UCSD and on MALL."""


def main(argv: Sequence[str] | None = None) -> str:
    quick = page.options(__doc__ or "", argv).quick
    frames, draws = (300, 2) if quick else (1000, 8)
    learned = np.arange(3 * frames // 10, 7 * frames // 10)
    tested = np.setdiff1d(np.arange(frames), learned)
    errors: dict[str, list[tuple[float, float]]] = {}
    dropped = []
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # kernel widths at their bounds
        for seed in page.progress(range(draws), "crowd"):
            x, y, told = crowd(seed, frames)
            for name, model in models().items():
                predicted = model.fit(x[learned], told[learned]).predict(x[tested])
                off = np.abs(predicted - y[tested])
                errors.setdefault(name, []).append((off.mean(), (off / y[tested]).mean()))
                if name == "HLR":
                    dropped.append(len(model[-1].removed_) / len(learned))
    rows = []
    for name, values in errors.items():
        mae, mre = np.array(values).T
        printed = [f"{value:g}" for value in PAPER[name]]
        rows.append([name, *printed, f"{mae.mean():.2f} +- {standard_error(mae):.2f}", percent(mre)])
    head = ["method", "paper: UCSD, MAE", "MRE, %", "paper: MALL, MAE", "MRE, %", "simulated: MAE", "MRE, %"]
    note = f"HLR dropped {100 * np.mean(dropped):.1f} % of the labels; {100 * WRONG:g} % were wrong."
    return page.update("adaptive-huber*.md", {"crowd": f"{page.table(head, rows)}\n\n{note}"}, quick=quick)


def models() -> dict[str, Any]:
    """Three views with weights 1/3 and T = 3, k = 4, eight neurons as printed."""
    views = [slice(k * PER_VIEW, (k + 1) * PER_VIEW) for k in range(3)]
    huber = AdaptiveHuberRegressor(
        1e-4,
        1e-5,
        delta=0.1,
        max_refinements=3,
        views=views,
        kernel="linear",
        between_alpha=1e-5,
        fit_intercept=True,
        scale_features=False,
    )
    kernel = DotProduct() + ConstantKernel() * RBF(3.0) + WhiteKernel(0.1)
    network = MLPRegressor(hidden_layer_sizes=(8,), solver="lbfgs", max_iter=1000, random_state=0)
    inner = {
        "GPR": GaussianProcessRegressor(kernel),
        "linear": RidgeCV(np.logspace(-3, 3, 13)),
        "k-nn": KNeighborsRegressor(4),
        "neural net": network,
    }
    scaled = {
        name: TransformedTargetRegressor(make_pipeline(StandardScaler(), model), transformer=StandardScaler())
        for name, model in inner.items()
    }
    return scaled | {"HLR": make_pipeline(StandardScaler(), huber)}


def crowd(seed: int, frames: int) -> tuple[Floats, Floats, Floats]:
    """Features, true numbers of people (10 to 50), and annotations."""
    rng = np.random.default_rng(seed)
    walk = np.cumsum(rng.normal(size=frames + 40))
    slow = np.convolve(walk, np.ones(41) / 41, mode="valid")
    level = (slow - slow.min()) / np.ptp(slow)
    y = np.rint(10 + 40 * level)
    # What is seen of people grows more slowly than they do: they stand before each other.
    views = []
    for occlusion, noise in ((0.006, 0.05), (0.003, 0.08), (0.0, 0.12)):
        seen = y / (1 + occlusion * y)
        gain = rng.uniform(0.5, 2.0, PER_VIEW)
        shared = noise * rng.normal(size=(frames, 1))
        own = noise * rng.normal(size=(frames, PER_VIEW))
        views.append(gain * seen[:, None] * (1 + shared + own))
    told = y.copy()
    wrong = rng.random(frames) < WRONG
    told[wrong] = np.rint(told[wrong] * np.where(rng.random(wrong.sum()) < 0.5, 0.75, 1.25))
    return np.column_stack(views), y, told


if __name__ == "__main__":
    main()
