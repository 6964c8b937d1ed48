"""scikit-learn's learners, on values alone and with error bars as further columns."""

from __future__ import annotations

from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.model_selection import GridSearchCV
from sklearn.neural_network import MLPClassifier, MLPRegressor

from arena.method import Method

from ._columns import learner, means, plain, with_errors

GRID = {"learning_rate": [0.03, 0.1], "min_samples_leaf": [5, 20], "max_iter": [100, 300]}
PENALTIES = {"C": [1e-3, 1e-2, 0.1, 1.0, 10.0]}
EARLY = {"early_stopping": False, "random_state": 0}
PAIRS = {
    "linear": (
        plain(GridSearchCV(LogisticRegression(max_iter=1000), PENALTIES, cv=3, scoring="neg_log_loss")),
        plain(RidgeCV([0.1, 1, 10, 100, 1000])),
    ),
    "forest": (
        plain(RandomForestClassifier(300, min_samples_leaf=2, random_state=0)),
        plain(RandomForestRegressor(300, min_samples_leaf=2, random_state=0)),
    ),
    "boosting": (
        HistGradientBoostingClassifier(random_state=0),
        HistGradientBoostingRegressor(random_state=0),
    ),
    "tuned boosting": (
        GridSearchCV(HistGradientBoostingClassifier(**EARLY), GRID, cv=3, scoring="neg_log_loss"),
        GridSearchCV(HistGradientBoostingRegressor(**EARLY), GRID, cv=3),
    ),
    "neural net": (
        plain(MLPClassifier(hidden_layer_sizes=(64, 64), early_stopping=True, random_state=0)),
        plain(MLPRegressor(hidden_layer_sizes=(64, 64), early_stopping=True, random_state=0)),
    ),
}
COLUMNS = {"means": means, "error columns": with_errors}
METHODS = [
    Method(
        f"{name}, {told}", learner(*pair, columns),
        large=name in ("linear", "boosting"), quick=name in ("linear", "forest", "boosting"),
    )
    for name, pair in PAIRS.items()
    for told, columns in COLUMNS.items()
]  # fmt: skip
