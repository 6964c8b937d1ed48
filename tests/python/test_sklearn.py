"""scikit-learn's own checks, all of them, for every public estimator and transformer.

The list is that of ``uncertain.__all__``: a new estimator is checked as soon as it is public.

Left out are two variants of which scikit-learn asks the impossible: weights are row counts for
``solver="sgd"`` only on average (other rows, other batches), and calibrated probabilities need not be 1/2
where the score is 0, nor exist for the two rows per class that some checks fit (``probability=True``).

Every tool in the tables of docs/how-to/scikit-learn.md is run, and does what its table says.
"""

import json
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
from sklearn.base import BaseEstimator
from sklearn.experimental import enable_halving_search_cv  # noqa: F401  # adds HalvingGridSearchCV
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import uncertain
from uncertain._base.core import Core
from uncertain._uncertain import parameter_names
from uncertain.inspection import partial_dependence
from uncertain.laws import CurveRegressor, GeneralizedLinearLaw

PUBLIC = [
    value
    for module in (uncertain, uncertain.laws)
    for name in module.__all__
    if isinstance(value := getattr(module, name), type)
]
EVERY_ESTIMATOR = list(dict.fromkeys(value for value in PUBLIC if issubclass(value, BaseEstimator)))
# A law of one's own function has no defaults; test_curves.py checks it with a function for any width.
ESTIMATORS = [kind for kind in EVERY_ESTIMATOR if kind is not CurveRegressor]

VARIANTS: dict[type, list[dict[str, Any]]] = {
    uncertain.AdaptiveHuberRegressor: [{}, {"kernel": "linear", "max_refinements": 0, "threshold": 0.5}],
    uncertain.GSUClassifier: [{}, {"solver": "newton"}, {"solver": "lbfgs"}, {"kernel": "rbf"}],
    uncertain.GSURegressor: [{}, {"loss": "squared", "kernel": "rbf"}],
    uncertain.GaussianColumnTransformer: [{"transformers": [("scaled", StandardScaler(), [0, 1])]}],
    uncertain.GaussianCollapser: [{}, {"to": "diagonal"}],
    uncertain.GaussianDiscriminant: [{}, {"shared_covariance": False}],
    uncertain.GaussianScaler: [{}, {"spread": "total"}],
    # Without a penalty nothing determines a law of more features than rows, or of classes that a plane
    # separates. Numbers must be counts or > 0, which those of some checks are not: see test_laws.py.
    GeneralizedLinearLaw: [{"alpha": 0.01}, {"alpha": 0.01, "family": "ordinal"}],
    uncertain.KernelMap: [{}, {"kernel": "quadratic", "max_rank": 2}],
    uncertain.ProbabilisticKernelFeatures: [{"n_components": 20}],
    uncertain.ProbabilisticKernelSVC: [{}, {"n_components": 20, "random_state": 0}],
    # Trees of scikit-learn do not take a weight of 2 for a row given twice; 300 of them are slow to check.
    uncertain.RemeasuredClassifier: [{"estimator": LogisticRegression()}],
    uncertain.RemeasuredRegressor: [{"estimator": Ridge()}],
    uncertain.RobustSVC: [
        {},
        *({"method": method} for method in ("tsvc", "ausvc", "mpsvc", "psvm")),
        {"kernel": "rbf"},
    ],
    uncertain.SubspaceProjector: [{}, {"variance": 0.5, "project": "both"}],
}
"""Parameters to check an estimator with, beside its defaults alone."""


class DenoisedMeans(uncertain.GaussianDenoiser):
    """A denoiser that answers with an array, for the checks that compare one."""

    def transform(self, X: Any) -> Any:
        return super().transform(X).means.copy()


class ImputedMeans(uncertain.GaussianImputer):
    """An imputer that answers with an array, for the checks that compare one."""

    def transform(self, X: Any) -> Any:
        return super().transform(X).means.copy()


IN_PLACE_OF = {uncertain.GaussianDenoiser: DenoisedMeans, uncertain.GaussianImputer: ImputedMeans}
OF_TABLES = (uncertain.AsGaussians, uncertain.GaussianColumnTransformer)
"""What reads columns of a table, which no check of scikit-learn brings; see test_tables.py and
test_preprocessing.py."""


@parametrize_with_checks(
    [
        IN_PLACE_OF.get(kind, kind)(**parameters)
        for kind in ESTIMATORS
        if kind not in OF_TABLES
        for parameters in VARIANTS.get(kind, [{}])
    ]
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
# Checks have more features than rows.
@pytest.mark.filterwarnings("ignore:GaussianMixtureRegressor. the rows do not determine all slopes")
@pytest.mark.filterwarnings("ignore:.*no plane is better")  # of noise, or weights that favour one class
def test_estimator_check(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("kind", [*IN_PLACE_OF, *OF_TABLES])
def test_what_creates_uncertainty_answers_with_gaussians(kind: type) -> None:
    x = np.random.default_rng(0).normal(size=(20, 2))
    estimator = kind(**VARIANTS.get(kind, [{}])[0])
    assert isinstance(estimator.fit(x).transform(x), uncertain.GaussianArray)


def test_every_estimator_is_public() -> None:
    found, waiting = set(), [BaseEstimator]
    while waiting:
        new = [kind for kind in waiting.pop().__subclasses__() if kind.__module__.startswith("uncertain.")]
        found.update(new)
        waiting += new
    bases = {base for kind in found for base in kind.__mro__[1:]}
    # Averages are made by `uncertain.fit` alone.
    leaves = {kind for kind in found - bases if not kind.__name__.startswith("Stacked")}
    assert leaves <= set(EVERY_ESTIMATOR)


STOCHASTIC = {"averaging", "batch_size", "projection", "step_offset"}
OF_CORE: dict[type, set[str]] = {
    uncertain.AdaptiveHuberRegressor: {"normalized", "probability"},
    uncertain.GSURegressor: STOCHASTIC,
    uncertain.GaussianDiscriminant: {"max_components"},
    GeneralizedLinearLaw: {"profile"},
    uncertain.GaussianMixtureRegressor: {"profile"},
    uncertain.ProbabilisticKernelSVC: STOCHASTIC,
    uncertain.RobustSVC: STOCHASTIC,
    uncertain.AdaptiveHuberClassifier: {"normalized"},
}
"""Parameters that the core has and the estimator does not offer, beside ``seed`` and ``folds``."""
OTHER_DEFAULTS = {(uncertain.KernelMap, "max_rank"), (GeneralizedLinearLaw, "tol")}


@pytest.mark.parametrize("kind", [kind for kind in ESTIMATORS if issubclass(kind, Core) and kind._kinds])
def test_names_and_defaults_are_those_of_the_core(kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    own = set(kind().get_params())
    for name in kind._kinds:
        assert set(parameter_names(name)) - own - {"seed", "folds"} <= OF_CORE.get(kind, set())
    if kind in (
        uncertain.RemeasuredClassifier,
        uncertain.RemeasuredRegressor,
    ):  # whose learner the core does not fit
        return
    x = np.random.default_rng(0).normal(size=(60, 2))
    X, y = uncertain.GaussianArray(x, std=0.3), (x[:, 0] + np.sin(9 * x[:, 1]) > 0).astype(int)
    fitted = json.loads(kind().fit(X, y)._model.parameters)
    monkeypatch.setattr(kind, "_core_parameters", lambda self: {})
    defaults = json.loads(kind().fit(X, y)._model.parameters)
    assert {name for name in fitted if fitted[name] != defaults[name]} <= {
        "seed",
        *(name for other, name in OTHER_DEFAULTS if other is kind),
    }


PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "scikit-learn.md"
N = 96
RNG = np.random.default_rng(0)
Y, THREE = np.arange(N) % 2, np.arange(N) % 3
MEANS, STD = RNG.normal(size=(N, 2)) + Y[:, None], RNG.uniform(0.1, 1.0, (N, 2))
X = uncertain.GaussianArray(MEANS, std=STD, feature_names=["flux", "color"])
NUMBERS = MEANS @ [1.0, 2.0] + 0.1 * RNG.normal(size=N)
TWO = np.stack([NUMBERS, -NUMBERS], axis=1)
GRID = {"gsuclassifier__alpha": [1e-2, 1e-1]}


def one() -> uncertain.GSUClassifier:
    return uncertain.GSUClassifier(random_state=0)


def chain() -> Any:
    return make_pipeline(uncertain.GaussianScaler(), one())


def pair() -> list[tuple[str, Any]]:
    return [("gsu", one()), ("discriminant", uncertain.GaussianDiscriminant())]


def proba() -> uncertain.GSUClassifier:
    return uncertain.GSUClassifier(probability=True, random_state=0).fit(X, Y)


def right(model: Any) -> None:
    """Fitted to Gaussians it predicts Gaussians, better than chance."""
    assert np.mean(model.fit(X, Y).predict(X) == Y) > 0.6


def chosen(search: Any) -> None:
    assert search.fit(X, Y).best_estimator_.score(X, Y) > 0.6


def sliced(parts: Any) -> None:
    kept = parts[0]
    assert isinstance(kept, uncertain.GaussianArray) and kept.feature_names == X.feature_names


def with_memory() -> None:
    with TemporaryDirectory() as folder:
        right(make_pipeline(uncertain.GaussianScaler(), one(), memory=folder))


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
    "MultiOutputRegressor": lambda: mou.MultiOutputRegressor(uncertain.GSURegressor()).fit(X, TWO).predict(X),
    "TransformedTargetRegressor": lambda: (
        com.TransformedTargetRegressor(
            uncertain.GSURegressor(), func=np.exp, inverse_func=np.log, check_inverse=False
        )
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
        uncertain.GSURegressor().fit(X, NUMBERS), X, NUMBERS
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
    "RegressorChain": lambda: mou.RegressorChain(uncertain.GSURegressor()).fit(X, TWO),
    "SelfTrainingClassifier": lambda: sem.SelfTrainingClassifier(proba()).fit(X, np.where(THREE, Y, -1)),
    "StandardScaler": lambda: pre.StandardScaler().fit(X),
    "PCA": lambda: dec.PCA().fit(X),
    "FeatureUnion": lambda: pip.FeatureUnion(
        [("a", uncertain.GaussianScaler()), ("b", uncertain.GaussianScaler())]
    ).fit_transform(X),
    "ColumnTransformer": lambda: com.ColumnTransformer(
        [("a", uncertain.GaussianScaler(), [0])]
    ).fit_transform(X),
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
    reading = uncertain.AsGaussians(features=["flux", "color"], std="{}_err")
    model = make_pipeline(reading, uncertain.GaussianScaler(), one())
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
