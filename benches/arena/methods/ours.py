"""`uncertain.fit`, as it is and method by method, from the table with its error bars."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

import uncertain
from arena.answers import LEVELS, Answer, Answering, Numbers
from arena.method import Method
from arena.table import Table, Values


def fit(train: Table, **how: Any) -> Answering:
    """Values with both arms; limits, categories and exact columns as such."""
    frame, names = train.frame(), [f"x{j}" for j in range(train.values.shape[1])]
    how |= {"std": {name: (f"{name}_up", f"{name}_down") for name in names if name not in train.exact}}
    how |= {"exact": train.exact, "categorical": [name for name in frame.columns if name.startswith("c")]}
    if train.limits is not None:
        how["limits"] = {name: f"{name}_limit" for name in names if (frame[f"{name}_limit"] != 0).any()}
    task = "regression" if train.regression else "classification"
    features = [name for name in names if name not in train.exact]
    model = uncertain.fit(frame, target="y", groups="object", task=task, features=features, **how)
    return partial(answer, model)


def answer(model: uncertain.Model, test: Table, grid: Values) -> Answer:
    """Probabilities, or mean, density and intervals."""
    frame = test.frame().drop("y")
    if not test.regression:
        return np.asarray(model.predict_proba(frame).to_numpy())
    ends = {level: model.predict_interval(frame, coverage=level).to_numpy().T for level in LEVELS}
    density = np.stack(model.predict_density(frame, grid)["y_density"].to_list())
    if test.y_std is not None:  # the density is that of the true target, and the one we have was measured
        step = grid[1] - grid[0]
        noise = np.exp(-0.5 * ((grid - grid.mean()) / np.maximum(test.y_std, step)[:, None]) ** 2)
        density = np.stack([np.convolve(p, k / k.sum(), "same") for p, k in zip(density, noise, strict=True)])
    return Numbers(
        model.predict(frame).to_numpy(), density, {k: (low, high) for k, (low, high) in ends.items()}
    )


SINGLE: dict[str, tuple[dict[str, Any], dict[str, bool]]] = {
    "uncertain.fit": ({}, {"large": True}),
    "uncertain.fit, noise=(1, 8)": ({"noise": (1, 8)}, {}),
    "linear, spread": ({"method": "gsu", "meaning": "spread"}, {"large": True}),
    "linear, measurement": ({"method": "gsu", "meaning": "measurement"}, {"large": True}),
    "discriminant": ({"method": "discriminant"}, {"numbers": False, "large": True}),
    "discriminant of 4": ({"method": "discriminant", "n_components": 4}, {"numbers": False, "quick": False}),
    "mixture of 4": ({"method": "mixture", "n_components": 4}, {"classes": False}),
    "kernel": ({"method": "kernel", "meaning": "measurement"}, {}),
    "re-measured boosting": ({"method": "remeasured"}, {}),
    "minimax": ({"method": "minimax", "meaning": "measurement"}, {"numbers": False, "quick": False}),
}
METHODS = [Method(name, partial(fit, **how), ours=True, **kind) for name, (how, kind) in SINGLE.items()]
