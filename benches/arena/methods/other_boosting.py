"""LightGBM and XGBoost, where they are installed."""

from __future__ import annotations

from functools import partial
from importlib import import_module

from arena.answers import Answering
from arena.method import Method
from arena.table import Table

from ._columns import learner, means, with_errors

PACKAGES = {
    "LightGBM": ("lightgbm", "LGBMClassifier", "LGBMRegressor", {"verbose": -1}),
    "XGBoost": ("xgboost", "XGBClassifier", "XGBRegressor", {}),
}
COLUMNS = {"means": means, "error columns": with_errors}


def fit(train: Table, package: str, told: str) -> Answering:
    module, classifier, regressor, parameters = PACKAGES[package]
    kinds = (getattr(import_module(module), name) for name in (classifier, regressor))
    return learner(*(kind(n_jobs=1, random_state=0, **parameters) for kind in kinds), COLUMNS[told])(train)


METHODS = [
    Method(f"{name}, {told}", partial(fit, package=name, told=told), needs=entry[0], large=True, quick=False)
    for name, entry in PACKAGES.items()
    for told in COLUMNS
]
