"""docs/how-to/scikit-learn.md: every tool in its tables is run, and does what its table says."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
import sklearn.calibration as cal
import sklearn.compose as com
import sklearn.decomposition as dec
import sklearn.dummy as dum
import sklearn.ensemble as ens
import sklearn.feature_selection as sel
import sklearn.inspection as ins
import sklearn.metrics as met
import sklearn.model_selection as ms
import sklearn.multiclass as mcl
import sklearn.multioutput as mou
import sklearn.pipeline as pip
import sklearn.preprocessing as pre
import sklearn.semi_supervised as sem
import sklearn.utils as utils
from sklearn.experimental import enable_halving_search_cv  # noqa: F401  # adds HalvingGridSearchCV
from sklearn.pipeline import make_pipeline

from uncertain import (
    AsGaussians,
    GaussianArray,
    GaussianDiscriminant,
    GaussianScaler,
    GSUClassifier,
    GSURegressor,
)
from uncertain.inspection import partial_dependence

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "scikit-learn.md"
N = 96
RNG = np.random.default_rng(0)
Y, THREE = np.arange(N) % 2, np.arange(N) % 3
MEANS, STD = RNG.normal(size=(N, 2)) + Y[:, None], RNG.uniform(0.1, 1.0, (N, 2))
X = GaussianArray(MEANS, std=STD, feature_names=["flux", "color"])
NUMBERS = MEANS @ [1.0, 2.0] + 0.1 * RNG.normal(size=N)
TWO = np.stack([NUMBERS, -NUMBERS], axis=1)
GRID = {"gsuclassifier__alpha": [1e-2, 1e-1]}


def one() -> GSUClassifier:
    return GSUClassifier(random_state=0)


def chain() -> Any:
    return make_pipeline(GaussianScaler(), one())


def pair() -> list[tuple[str, Any]]:
    return [("gsu", one()), ("discriminant", GaussianDiscriminant())]


def proba() -> GSUClassifier:
    return GSUClassifier(probability=True, random_state=0).fit(X, Y)


def right(model: Any) -> None:
    """Fitted to Gaussians it predicts Gaussians, better than chance."""
    assert np.mean(model.fit(X, Y).predict(X) == Y) > 0.6


def chosen(search: Any) -> None:
    assert search.fit(X, Y).best_estimator_.score(X, Y) > 0.6


def sliced(parts: Any) -> None:
    kept = parts[0]
    assert isinstance(kept, GaussianArray) and kept.feature_names == X.feature_names


def with_memory() -> None:
    with TemporaryDirectory() as folder:
        right(make_pipeline(GaussianScaler(), one(), memory=folder))


WORKS: dict[str, Callable[[], Any]] = {
    "cross_val_score": lambda: ms.cross_val_score(chain(), X, Y),
    "cross_validate": lambda: ms.cross_validate(chain(), X, Y, scoring=["accuracy", "roc_auc"]),
    "cross_val_predict": lambda: ms.cross_val_predict(chain(), X, Y, method="decision_function"),
    "permutation_test_score": lambda: ms.permutation_test_score(chain(), X, Y, n_permutations=3),
    "learning_curve": lambda: ms.learning_curve(chain(), X, Y, train_sizes=[0.5, 1.0]),
    "validation_curve": lambda: ms.validation_curve(
        chain(), X, Y, param_name="gsuclassifier__alpha", param_range=[1e-2, 1e-1]
    ),
    "LearningCurveDisplay": lambda: ms.LearningCurveDisplay.from_estimator(
        chain(), X, Y, train_sizes=[0.5, 1.0]
    ),
    "GridSearchCV": lambda: chosen(ms.GridSearchCV(chain(), GRID)),
    "RandomizedSearchCV": lambda: chosen(ms.RandomizedSearchCV(chain(), GRID, n_iter=2, random_state=0)),
    "HalvingGridSearchCV": lambda: chosen(ms.HalvingGridSearchCV(chain(), GRID, random_state=0)),
    "train_test_split": lambda: sliced(ms.train_test_split(X, Y)),
    "StratifiedKFold": lambda: ms.cross_val_score(chain(), X, Y, cv=ms.StratifiedKFold(3)),
    "GroupKFold": lambda: ms.cross_val_score(chain(), X, Y, groups=np.arange(N) // 4, cv=ms.GroupKFold(3)),
    "resample": lambda: sliced(utils.resample(X, Y)),
    "shuffle": lambda: sliced(utils.shuffle(X, Y)),
    "Pipeline": lambda: right(chain()),
    "memory=": lambda: with_memory(),
    "CalibratedClassifierCV": lambda: right(cal.CalibratedClassifierCV(chain())),
    "TunedThresholdClassifierCV": lambda: right(ms.TunedThresholdClassifierCV(chain())),
    "FixedThresholdClassifier": lambda: right(ms.FixedThresholdClassifier(chain(), threshold=0.1)),
    "VotingClassifier": lambda: right(ens.VotingClassifier(pair())),
    "StackingClassifier": lambda: right(ens.StackingClassifier(pair())),
    "OneVsRestClassifier": lambda: right(mcl.OneVsRestClassifier(one())),
    "MultiOutputClassifier": lambda: (
        mou.MultiOutputClassifier(one()).fit(X, np.stack([Y, 1 - Y], 1)).predict(X)
    ),
    "MultiOutputRegressor": lambda: mou.MultiOutputRegressor(GSURegressor()).fit(X, TWO).predict(X),
    "TransformedTargetRegressor": lambda: (
        com.TransformedTargetRegressor(GSURegressor(), func=np.exp, inverse_func=np.log, check_inverse=False)
        .fit(X, 0.01 * NUMBERS)
        .score(X, 0.01 * NUMBERS)
    ),
    "FunctionTransformer": lambda: right(
        make_pipeline(pre.FunctionTransformer(lambda rows: rows[:, ["flux"]]), one())
    ),
    "DummyClassifier": lambda: dum.DummyClassifier().fit(X, Y).score(X, Y),
    "RocCurveDisplay": lambda: met.RocCurveDisplay.from_estimator(proba(), X, Y),
    "ConfusionMatrixDisplay": lambda: met.ConfusionMatrixDisplay.from_estimator(proba(), X, Y),
    "CalibrationDisplay": lambda: cal.CalibrationDisplay.from_estimator(proba(), X, Y),
    "PredictionErrorDisplay": lambda: met.PredictionErrorDisplay.from_estimator(
        GSURegressor().fit(X, NUMBERS), X, NUMBERS
    ),
}

RAISES: dict[str, Callable[[], Any]] = {
    "permutation_importance": lambda: ins.permutation_importance(proba(), X, Y),
    "partial_dependence": lambda: ins.partial_dependence(proba(), X, [0]),
    "SequentialFeatureSelector": lambda: sel.SequentialFeatureSelector(one()).fit(X, Y),
    "RFE": lambda: sel.RFE(one()).fit(X, Y),
    "RFECV": lambda: sel.RFECV(one()).fit(X, Y),
    "SelectFromModel": lambda: sel.SelectFromModel(one()).fit(X, Y).transform(X),
    "SelectKBest": lambda: sel.SelectKBest(k=1).fit(X, Y),
    "VarianceThreshold": lambda: sel.VarianceThreshold().fit(X, Y),
    "BaggingClassifier": lambda: ens.BaggingClassifier(one(), n_estimators=2).fit(X, Y),
    "AdaBoostClassifier": lambda: ens.AdaBoostClassifier(one(), n_estimators=2).fit(X, Y),
    "StackingClassifier(passthrough=True)": lambda: ens.StackingClassifier(pair(), passthrough=True).fit(
        X, Y
    ),
    "OneVsOneClassifier": lambda: mcl.OneVsOneClassifier(one()).fit(X, THREE),
    "RegressorChain": lambda: mou.RegressorChain(GSURegressor()).fit(X, TWO),
    "SelfTrainingClassifier": lambda: sem.SelfTrainingClassifier(proba()).fit(X, np.where(THREE, Y, -1)),
    "StandardScaler": lambda: pre.StandardScaler().fit(X),
    "PCA": lambda: dec.PCA().fit(X),
    "FeatureUnion": lambda: pip.FeatureUnion(
        [("a", GaussianScaler()), ("b", GaussianScaler())]
    ).fit_transform(X),
    "ColumnTransformer": lambda: com.ColumnTransformer([("a", GaussianScaler(), [0])]).fit_transform(X),
}


def tools(title: str) -> set[str]:
    """Names in the first column of the table under a title of the page."""
    section = PAGE.read_text(encoding="utf-8").split(f"## {title}\n")[1].split("\n## ")[0]
    first = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
    return {name for cell in first for name in re.findall(r"`([^`]+)`", cell)}


def test_the_page_lists_what_is_run_here() -> None:
    assert tools("Tools that work") == set(WORKS)
    assert tools("Tools that raise an error") == set(RAISES)


@pytest.mark.filterwarnings("ignore::UserWarning:sklearn")
@pytest.mark.parametrize("tool", WORKS)
def test_these_work(tool: str) -> None:
    if "Display" in tool:
        pytest.importorskip("matplotlib").use("agg")
    WORKS[tool]()


@pytest.mark.filterwarnings("ignore::UserWarning:sklearn")
@pytest.mark.parametrize("tool", RAISES)
def test_these_raise(tool: str) -> None:
    """Never a silent answer without error bars."""
    with pytest.raises((TypeError, ValueError), match=r"is not converted to a plain array|mixed data types"):
        RAISES[tool]()


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_on_tables_they_cut_rows_and_move_single_columns(library: str) -> None:
    """What the last table of the page says."""
    frames = pytest.importorskip(library)
    columns = {"flux": MEANS[:, 0], "flux_err": STD[:, 0], "color": MEANS[:, 1], "color_err": STD[:, 1]}
    table = frames.DataFrame(columns)
    reading = AsGaussians(features=["flux", "color"], std="{}_err")
    model = make_pipeline(reading, GaussianScaler(), one())
    assert ms.cross_val_score(model, table, Y).mean() > 0.6
    chosen_on = ms.GridSearchCV(model, GRID).fit(table, Y)
    assert chosen_on.best_estimator_.score(table, Y) > 0.6
    assert set(tools("Tools that run on a table, but answer another question")) >= {"permutation_importance"}
    fitted = model.fit(table, Y)
    if library == "pandas":
        theirs = ins.permutation_importance(fitted, table, Y, n_repeats=3, random_state=0)
        assert len(theirs.importances_mean) == 4  # the error columns are moved as features of their own
        plain = ins.partial_dependence(
            fitted, table, ["flux"], grid_resolution=5, response_method="decision_function"
        )
        rows = reading.transform(table)
        ours = partial_dependence(
            fitted[1:], rows, "flux", grid=plain["grid_values"][0], response="decision_function", error="keep"
        )
        np.testing.assert_allclose(ours.average, plain["average"])
