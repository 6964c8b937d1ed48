"""Any learner on seven tables: means, error columns, re-measured rows; for docs/papers/any-learner.md.

    python benches/papers/any_learner.py [--data FOLDER] [--quick]

Leaf sizes refer to rows: a learner that gets eight copies of each has leaves eight times as large, and a
neural network passes over them an eighth as often.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import page
from any_learner_tables import TABLES, Rows
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import log_loss, r2_score
from sklearn.model_selection import GroupKFold, StratifiedGroupKFold
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from uncertain import (
    ErrorColumns,
    GaussianCollapser,
    GaussianDenoiser,
    GaussianDiscriminant,
    GaussianScaler,
    GSURegressor,
    ProbabilisticKernelSVC,
    RemeasuredClassifier,
    RemeasuredRegressor,
)

FACTORS = (1.0, 2.0, 4.0)
WAYS = ("means", "error columns", "re-measured")
COPIES = 8
QUICK = ("biopsies (WDBC)", "diabetes")
"""One table of classes and one of numbers."""


class Found(NamedTuple):
    """Of one model on one table: a number per factor, and seconds of processor time of a fit."""

    score: list[float]
    loss: list[float]
    seconds: float


def main(argv: Sequence[str] | None = None) -> str:
    options = page.options(__doc__ or "", argv, data=True)
    quick = options.quick
    described, tables, found = [], {}, {}
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        chosen = {name: TABLES[name] for name in (QUICK if quick else TABLES)}
        for name, (read, errors) in page.progress(list(chosen.items()), "Any learner"):
            rows = read(options.data)
            if quick:
                rows = rows.at(np.random.default_rng(0).permutation(len(rows.y))[:100])
            classes = rows.y.dtype.kind != "f"
            described.append([name, f"{len(rows.y):,}", str(rows.X.n_features), errors])
            repeats = 1 if quick or len(rows.y) > 500 else 2
            found[name] = {
                (learner, way): measured(rows, make, repeats)
                for learner, way, make in candidates(classes=classes)
            }
            tables[slug(name)] = of_table(found[name], classes=classes)
    head = ["table", "rows", "features", "errors"]
    return page.update(
        "any-learner.md",
        {"tables": page.table(head, described), "summary": summary(found), **tables},
        quick=quick,
    )


def slug(name: str) -> str:
    return name.split(" ")[0].lower()


def of_table(found: dict[tuple[str, str], Found], *, classes: bool) -> str:
    score = "accuracy, %" if classes else "R2, %"
    head = ["learner", "errors", *(f"{score}, x {f:g}" for f in FACTORS)]
    head += [f"log loss, x {f:g}" for f in FACTORS] if classes else []
    lines = [
        [
            *key,
            *(f"{value:.1f}" for value in each.score),
            *((f"{value:.3f}" for value in each.loss) if classes else ()),
            f"{each.seconds:.2f}",
        ]
        for key, each in found.items()
    ]
    return page.table([*head, "fit, s"], lines, numbers=2)


def summary(found: dict[str, dict[tuple[str, str], Found]]) -> str:
    """Points that a learner gains over the better of means and error columns, table by table."""
    lines = []
    for learner in LEARNERS:
        for k, factor in enumerate(FACTORS):
            gains = []
            for of_models in found.values():
                plain = max(of_models[learner.name, way].score[k] for way in WAYS[:2])
                gains.append(of_models[learner.name, WAYS[2]].score[k] - plain)
            cells = [f"{gain:+.1f}" for gain in gains]
            lines.append([learner.name, f"{factor:g}", *cells, f"{np.mean(gains):+.1f}"])
    return page.table(["learner", "errors x", *found, "mean"], lines, numbers=2)


@dataclass(frozen=True)
class Learner:
    """A classifier and a regressor that know no errors; `scaled` ones also know no gaps in scale."""

    name: str
    classifier: Callable[[int], Any]
    regressor: Callable[[int], Any]

    def __call__(self, *, classes: bool, copies: int) -> Any:
        return (self.classifier if classes else self.regressor)(copies)


def scaled(learner: Any) -> Any:
    return make_pipeline(StandardScaler(), learner)


def network(copies: int) -> dict[str, Any]:
    return {"hidden_layer_sizes": (64,), "alpha": 1e-2, "max_iter": 400 // copies, "random_state": 0}


LEARNERS = [
    Learner(
        "gradient boosting",
        lambda copies: HistGradientBoostingClassifier(min_samples_leaf=20 * copies, random_state=0),
        lambda copies: HistGradientBoostingRegressor(min_samples_leaf=20 * copies, random_state=0),
    ),
    Learner(
        "random forest",
        lambda copies: RandomForestClassifier(100, min_samples_leaf=2 * copies, random_state=0),
        lambda copies: RandomForestRegressor(100, min_samples_leaf=2 * copies, random_state=0),
    ),
    Learner(
        "neural network",
        lambda copies: scaled(MLPClassifier(**network(copies))),
        lambda copies: scaled(
            TransformedTargetRegressor(MLPRegressor(**network(copies)), transformer=StandardScaler())
        ),
    ),
    Learner(
        "logistic or ridge regression",
        lambda copies: scaled(LogisticRegression(max_iter=2000)),
        lambda copies: scaled(Ridge()),
    ),
]


def candidates(*, classes: bool) -> Iterator[tuple[str, str, Callable[[], Any]]]:
    """Name of the learner, what becomes of the errors, and how to make the model."""
    for learner in LEARNERS:
        for way in WAYS:
            yield learner.name, way, lambda learner=learner, way=way: model_of(learner, way, classes=classes)
    if classes:
        yield (
            "`ProbabilisticKernelSVC`",
            "measurement",
            lambda: make_pipeline(
                GaussianScaler(),
                GaussianDenoiser(3, tol=1e-4, random_state=0),
                ProbabilisticKernelSVC(10.0, sigma="median", probability=True, random_state=0),
            ),
        )
        yield (
            "`GaussianDiscriminant`",
            "measurement",
            lambda: make_pipeline(GaussianScaler(), GaussianDiscriminant(False, tol=1e-4, random_state=0)),
        )
    else:
        yield (
            "`GSURegressor`",
            "measurement",
            lambda: make_pipeline(
                GaussianScaler(), GaussianDenoiser(), GaussianCollapser(), GSURegressor(alpha=1e-4)
            ),
        )


def model_of(learner: Learner, way: str, *, classes: bool) -> Any:
    if way == "re-measured":
        kind = RemeasuredClassifier if classes else RemeasuredRegressor
        return kind(learner(classes=classes, copies=COPIES), n_copies=COPIES, random_state=0)
    columns = ErrorColumns("means" if way == "means" else "errors")
    return make_pipeline(columns, learner(classes=classes, copies=1))


def folds(rows: Rows, repeats: int) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Four folds of whole groups, several times."""
    classes = rows.y.dtype.kind != "f"
    for seed in range(repeats):
        kind = StratifiedGroupKFold if classes else GroupKFold
        yield from kind(4, shuffle=True, random_state=seed).split(rows.y, rows.y, rows.groups)


def measured(rows: Rows, make: Callable[[], Any], repeats: int) -> Found:
    """Accuracy in percent (or 100 R2) and log loss over the folds, for every factor on the test errors."""
    scores, losses, seconds = [], [], []
    for train, test in folds(rows, repeats):
        start = time.process_time()
        model = make().fit(rows.X[train], rows.y[train])
        seconds.append(time.process_time() - start)
        y = rows.y[test]
        for k, factor in enumerate(FACTORS):
            new = rows.at(test).inflated(factor, np.random.default_rng(k))
            if is_classifier(model):
                prob = model.predict_proba(new)
                scores.append(100.0 * np.mean(model.classes_[prob.argmax(axis=1)] == y))
                losses.append(log_loss(y, prob, labels=model.classes_))
            else:
                scores.append(100.0 * r2_score(y, model.predict(new)))
                losses.append(np.nan)
    return Found(*(mean_by_factor(values) for values in (scores, losses)), float(np.median(seconds)))


def mean_by_factor(values: list[float]) -> list[float]:
    return np.reshape(values, (-1, len(FACTORS))).mean(axis=0).tolist()


if __name__ == "__main__":
    main()
