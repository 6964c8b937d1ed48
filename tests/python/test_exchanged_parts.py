"""Model files whose parts were exchanged between files: each part is sound, but they need not fit together.

Every public estimator and every method of `uncertain.fit`, by every verb of a `Model`: an UncertainError with
words, or finite answers. Another exception, or a number that is not finite, is a hole in the checks.
"""

import copy
import json
import random
import re
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Self

import catalogues
import numpy as np
import polars as pl
import pytest
from everything import SUBJECTS, Subject, rows
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from test_sklearn import OF_TABLES

import uncertain
from uncertain import GaussianArray, Model
from uncertain.exceptions import ModelFileError, UncertainError

ROUNDS = 7
"""Exchanges for each file. Of 10,000 with other seeds none was a hole."""
REPORTED = 7
"""One in so many is also asked for a report, which fits."""
NOT_IN_FILES = (LogisticRegression, Ridge)
"""Learners of subjects that a file cannot hold; trees stand for them."""
OF_SCIKIT_LEARN = re.compile("X has . features, but|The feature names should match those")
"""Words of its own conventions, for rows of other features than those of the fit."""


def tables() -> tuple[pl.DataFrame, pl.DataFrame]:
    """Two features with error bars; the same with a third one, and colours."""
    two = catalogues.up_or_down(60, 0, noise=0.5)
    rng = np.random.default_rng(5)
    colour = [("red", "green")[k] for k in rng.integers(0, 2, len(two))]
    third = {"w": pl.Series(rng.normal(size=len(two))), "w_err": pl.lit(0.2), "colour": pl.Series(colour)}
    return two, two.with_columns(**third, height=two["height"].abs() + 0.1)


TWO, THREE = tables()
NUMBERS = THREE.drop("label", "colour")
ARRAYS = [rows(n=12), GaussianArray(rows(n=12).means), GaussianArray(np.ones((3, 2)), std=np.ones((3, 2)))]


def log_link() -> Model:
    """Trees whose predictions are exp of what their leaves add up to."""
    learner = HistGradientBoostingRegressor(loss="poisson", max_iter=5)
    return uncertain.fit(NUMBERS, "height", method="remeasured", estimator=learner, n_copies=2)


def of_estimator(subject: Subject) -> Model:
    """The estimator behind `Model`'s verbs; a transformer stands in front of a discriminant."""
    steps = [subject.made(max_iter=300)]
    if not hasattr(steps[0], "predict"):
        steps.append(uncertain.GaussianDiscriminant())
    return catalogues.as_model(make_pipeline(*steps).fit(rows(), subject.targets()))


FITS: dict[str, Callable[[], Model]] = {
    **{
        m: partial(uncertain.fit, TWO.drop("height"), "label", **catalogues.quick(m))
        for m in catalogues.METHODS
    },
    **{
        f"{m}, numbers": partial(
            uncertain.fit, TWO.drop("label"), "height", **catalogues.quick(m, regression=True)
        )
        for m in catalogues.METHODS_OF_NUMBERS
    },
    "categorical": partial(
        uncertain.fit, THREE.drop("height"), "label", method="gsu", categorical=["colour"]
    ),
    "measured": partial(
        uncertain.fit, THREE.drop("height", "colour"), "label", method="kernel", meaning="measurement"
    ),
    "leaderboard": partial(uncertain.fit, NUMBERS, "height", effort="fast"),
    "log link": log_link,
    **{
        str(subject): partial(of_estimator, subject)
        for subject in SUBJECTS
        if subject.kind not in (*OF_TABLES, uncertain.ErrorColumns)
        and not isinstance(subject.parameters.get("estimator"), NOT_IN_FILES)
    },
}


class Parts(NamedTuple):
    """What a model file holds."""

    steps: list[Any]
    classes: list[Any]
    features: list[str]
    about: dict[str, Any]

    @classmethod
    def read(cls, path: Path) -> Self:
        steps, classes, features, about = catalogues.read_model(path)
        return cls(list(steps), list(classes), list(features), json.loads(about))

    def write(self, path: Path) -> None:
        catalogues.write_model(path, self.steps, self.classes, self.features, json.dumps(self.about))


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("models")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for k, fit in enumerate(FITS.values()):
            fit().save(folder / str(k))
    return {name: folder / str(k) for k, name in enumerate(FITS)}


def exchanged(parts: Parts, donor: Parts, rng: random.Random) -> tuple[Parts, str]:
    """With something of the donor's in its place; and what it is."""
    about = copy.deepcopy(parts.about)
    steps, classes, features = list(parts.steps), parts.classes, parts.features
    inside = ["about", "calibration", "columns"]
    what = rng.choice(["steps", "step", "more", "classes", "features", "parameters", *inside * 3])
    if what == "steps":
        steps = donor.steps
    elif what == "step":
        steps[rng.randrange(len(steps))] = rng.choice(donor.steps)
    elif what == "more":
        steps.insert(rng.randrange(len(steps) + 1), rng.choice(donor.steps))
        about["steps"], about["parameters"] = [], []
    elif what == "classes":
        classes = donor.classes
    elif what == "features":
        features = donor.features
    elif what == "parameters":
        about[what][rng.randrange(len(about[what]))] = rng.choice(donor.about[what])
    else:
        own, theirs = about, donor.about
        if what != "about":
            own, theirs = about.setdefault(what, {}), donor.about.get(what, {})
        if keys := sorted(own.keys() | theirs.keys()):
            key = rng.choice(keys)
            own.pop(key, None)
            if key in theirs:
                own[key] = copy.deepcopy(theirs[key])
            what = f"{what}.{key}"
    return Parts(steps, classes, features, about), what


def questions(model: Model, *, reports: bool) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Every verb, with rows of the kind that the model reads."""
    of_tables = bool(getattr(model.pipeline_[0], "roles_", None))
    for rows_ in [THREE[:12]] if of_tables else ARRAYS:
        for verb in ("predict", "predict_proba", "predict_distribution"):
            yield verb, partial(getattr(model, verb), rows_)
        for verb in ("predict_set", "predict_interval"):
            yield verb, partial(getattr(model, verb), rows_, coverage=0.6)
        yield "summary", lambda rows_=rows_: text(model.summary(rows_))
        yield "gaussians", lambda rows_=rows_: model.gaussians(rows_).means
    yield "summary", lambda: text(model.summary())
    yield "repr", lambda: text(model)
    labels = np.arange(60.0) if model.classes_ is None else np.resize(model.classes_, 60)
    table, y = (THREE, None if model.columns_.target else labels) if of_tables else (rows(), labels)
    yield "score", lambda: model.score(table, y)
    if reports:
        yield "report", lambda: text(model.report(table, y, folds=2, repeats=1, meanings=False))


def text(shown: object) -> str:
    return str(shown) + repr(shown)


def finite(answer: Any) -> bool:
    """Are all its numbers finite?"""
    if isinstance(answer, tuple):
        return all(map(finite, answer))
    if isinstance(answer, pl.DataFrame):
        return all(finite(column) for column in answer)
    values = np.asarray(answer.to_numpy() if isinstance(answer, pl.Series) else answer)
    return values.dtype.kind != "f" or bool(np.isfinite(values).all())


def loaded(path: Path) -> Model | None:
    """The model of a file; None if it is refused."""
    try:
        return uncertain.load(path)
    except ModelFileError:
        return None


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", FITS)
def test_exchanged_parts(name: str, files: dict[str, Path], tmp_path: Path) -> None:
    parts, rng = Parts.read(files[name]), random.Random(name)
    for k in range(ROUNDS):
        donor = rng.choice(list(FITS))
        altered, what = exchanged(parts, Parts.read(files[donor]), rng)
        at = place = f"{what} of {donor!r} in {name!r}"
        try:
            altered.write(tmp_path / "m")
        except UncertainError:
            continue  # the core writes no such steps
        try:
            model = loaded(tmp_path / "m")
            asked = [] if model is None else questions(model, reports=k % REPORTED == 0)
            for verb, ask in asked:
                at = f"{verb}, {place}"
                try:
                    answer = ask()
                except ValueError as error:
                    if isinstance(error, UncertainError) or OF_SCIKIT_LEARN.match(str(error)):
                        continue
                    raise
                assert finite(answer), "not finite"
        except Exception as error:
            raise AssertionError(f"{at}: {type(error).__name__}: {error}") from error


GONE = object()
"""In place of a value: the entry is left out."""
CONSTANT = {"base": 1.0, "slopes": [1.0] * 2, "widths": [1.0] * 2}
OF_TWO, OF_NONE = {"widths": [1, 1], "centres": [0, 0]}, {"widths": [], "centres": []}
KERNEL, OF_NUMBERS = "kernel", "kernel, numbers"
DAMAGES: list[tuple[str, str, Any, str]] = [
    (KERNEL, "conformal.widths", GONE, "required field `widths` - at `$.calibration.conformal`"),
    (KERNEL, "conformal.widths", [1.0], "widths of 1 features, the model has 2"),
    (KERNEL, "conformal.widths", [[1.0]], "widths of 1 features"),
    (KERNEL, "conformal.widths", [0.0, 1.0], "not in order"),
    (KERNEL, "conformal.widths", ["nan", 1.0], "got `str` - at `$[0]`"),
    (KERNEL, "conformal.widths", [None, 1.0], "not in order"),
    (KERNEL, "conformal.centres", [1.0], "centres of other features"),
    (KERNEL, "conformal.scores.0.0", -1, "not in order"),
    (KERNEL, "conformal", {"edges": [0.0], "scores": [[1.0]], **OF_TWO}, "not as many as bins"),
    (KERNEL, "conformal", {"edges": [1.0, 0.0], "scores": [[1.0]] * 3, **OF_TWO}, "not in order"),
    (KERNEL, "conformal", {"edges": [None], "scores": [[1.0]] * 2, **OF_TWO}, "not in order"),
    (KERNEL, "conformal", {"edges": [], **OF_TWO}, "required field `scores`"),
    (KERNEL, "sizes", {"lower": [0.1], "middle": [0.2], "upper": [0.3], "n_rows": 9}, "errors of 1 features"),
    (KERNEL, "sizes", {"middle": [0.2]}, "required field `lower`"),
    (KERNEL, "sizes", [], "Expected `object | null`, got `array`"),
    (KERNEL, "sizes.lower", [1e9] * 2, "not in order"),
    (KERNEL, "sizes.lower", "x", "got `str`"),
    (KERNEL, "sizes.upper", [1e9], "not in order"),
    (KERNEL, "sizes.n_rows", 0, "Expected `int` >= 1"),
    (KERNEL, "spread", CONSTANT, "beside a classifier"),
    (KERNEL, "residual_std", 1.0, "a ProbabilisticKernelSVC with a residual_std"),
    (OF_NUMBERS, "conformal", {"edges": [], "scores": [[-1, -1]], **OF_NONE}, "not in order"),
    (OF_NUMBERS, "conformal", {"edges": [], "scores": [[2.0, 1.0]], **OF_NONE}, "not in order"),
    (OF_NUMBERS, "spread", GONE, "without residual_std or spread"),
    (OF_NUMBERS, "spread.base", -1.0, "Expected `float` > 0.0"),
    (OF_NUMBERS, "spread.widths", [0.0, 1.0], "not positive"),
    (OF_NUMBERS, "spread.slopes", [1.0], "a spread of 1 coefficients and 2 features"),
    (OF_NUMBERS, "conformal.widths", [1.0], "widths of 1 features"),
    (OF_NUMBERS, "residual_std", 1.0, "a ProbabilisticKernelSVR with a residual_std"),
    ("gsu, numbers", "spread", CONSTANT, "GSURegressor has 1 and 0"),
]


@pytest.mark.parametrize(("name", "place", "value", "why"), DAMAGES)
def test_a_calibration_fits_its_pipeline(
    name: str, place: str, value: Any, why: str, files: dict[str, Path], tmp_path: Path
) -> None:
    about = catalogues.description(files[name])
    inside: Any = about["calibration"]
    *way, last = (int(step) if step.isdigit() else step for step in place.split("."))
    for step in way:
        inside = inside[step]
    if value is GONE:
        del inside[last]
    else:
        inside[last] = value
    with pytest.raises(ModelFileError, match=re.escape(why)):
        uncertain.load(catalogues.redescribed(files[name], about, tmp_path / "m"))


def test_columns_are_as_many_as_features(files: dict[str, Path], tmp_path: Path) -> None:
    about = catalogues.description(files["kernel"]) | {
        "columns": catalogues.description(files["measured"])["columns"]
    }
    with pytest.raises(ModelFileError, match="columns of 3 features, the steps have 2"):
        uncertain.load(catalogues.redescribed(files["kernel"], about, tmp_path / "m"))


def test_leaves_that_add_up_to_infinity(files: dict[str, Path], tmp_path: Path) -> None:
    parts = Parts.read(files["log link"])
    *before, trees = catalogues.core_steps(files["log link"])
    arrays = trees.arrays() | {"baseline": np.array([800.0])}
    steps = [*before, catalogues.Fitted.from_arrays(trees.kind, trees.parameters, trees.header, arrays)]
    parts._replace(steps=steps).write(tmp_path / "m")
    with pytest.raises(UncertainError, match="row 0: the leaves of the trees add up to"):
        uncertain.load(tmp_path / "m").predict(NUMBERS)
