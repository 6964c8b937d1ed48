"""Readings, error bars, modes and options that laws refuse, with the words that say where and what to do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from uncertain import GaussianArray, Incomplete, UncertainError
from uncertain.laws import CurveRegressor, GeneralizedLinearLaw, LinearLaw

N = 60
RNG = np.random.default_rng(4)
Z = RNG.normal(size=(N, 2))
S = RNG.uniform(0.2, 0.5, size=(N, 2))
T = RNG.uniform(0.1, 0.3, size=N)
X = GaussianArray(Z + S * RNG.normal(size=(N, 2)), std=S)
SURVEY = np.arange(N)[:, None] % 3 == np.arange(3)
MODES = np.array([0.5, 0.3, 0.4]) * SURVEY
OF_FEATURES = np.stack([0.6 * SURVEY, -0.3 * SURVEY * (np.arange(3) % 2), 0.4 * SURVEY], axis=1)
Y = 1 + Z @ [1.0, -2.0] + np.hypot(0.2, T) * RNG.normal(size=N)
C = np.diag(T**2) + MODES @ MODES.T
ROW_2 = np.arange(N) == 2
GAPS = Incomplete.from_arrays(np.where(np.arange(N)[:, None] == 3, np.nan, X.means), std=0.2)
LIMITS = np.zeros((N, 2), dtype=np.int8)
LIMITS[3, 0] = 1


def plane(x: np.ndarray, p: np.ndarray) -> np.ndarray:
    return p[0] + x @ p[1:]


def curve(**options: Any) -> CurveRegressor:
    return CurveRegressor(plane, np.ones(3), **options)


def twice(x: np.ndarray, p: np.ndarray) -> np.ndarray:
    return np.column_stack([plane(x, p)] * 2)


def equal_bars(*, named: bool = False) -> GaussianArray:
    names = ["mass", "age"] if named else None
    return GaussianArray(X.means, std=np.full((N, 2), 0.5), feature_names=names)


def scaled(rows: Any, y: np.ndarray = Y, *args: Any, **known: Any) -> LinearLaw:
    return LinearLaw(error_scale="features").fit(rows, y, *args, **known)


SPREAD = np.random.default_rng(1).normal(size=(200, 2))
SMALL = 1e-3 * np.exp(0.7 * np.random.default_rng(7).normal(size=(200, 2)))
BARS = np.random.default_rng(0).uniform(0.1, 0.9, (2000, 1))
LESS = GaussianArray(np.random.default_rng(1).normal(size=(2000, 1)) * (1.2 - BARS), std=BARS)
"""Readings that scatter less, the larger their error bars."""
# fmt: off
LINES: list[tuple[str, Callable[[], object]]] = [
    ("shape", lambda: LinearLaw().fit(X, Y, T, modes=MODES[:5])),
    ("shape", lambda: LinearLaw().fit(X, Y, T, modes=MODES[:, 0])),
    ("modes.*finite", lambda: LinearLaw().fit(X, Y, T, modes=np.where(MODES == 0, np.nan, MODES))),
    ("combinations of one another.*column 3",
     lambda: LinearLaw().fit(X, Y, T, modes=np.c_[MODES, MODES[:, 0] - MODES[:, 1]])),
    ("column 3 is 0", lambda: LinearLaw().fit(X, Y, T, modes=np.c_[MODES, np.zeros(N)])),
    ("without modes", lambda: LinearLaw().fit(X, Y, T).predict(X, modes=MODES)),
    ("3 columns", lambda: LinearLaw().fit(X, Y, T, modes=MODES).predict(X, modes=MODES[:, :2])),
    (r"modes: expected the shape \(60, k\).*\(60, 2, k\).*\(60, 3, k\)",
     lambda: LinearLaw().fit(X, Y, T, modes=OF_FEATURES[:, :1])),
    (r"got \(59, 3, 3\)", lambda: LinearLaw().fit(X, Y, T, modes=OF_FEATURES[1:])),
    ("modes: column 1 is 0 in every row", lambda: LinearLaw().fit(X, Y, T, modes=OF_FEATURES * [1, 0, 1])),
    ("modes: columns are combinations", lambda: LinearLaw().fit(X, Y, T, modes=OF_FEATURES[:, :, [0, 0]])),
    ("modes: row 2, feature 0, mode 0 is nan",
     lambda: LinearLaw().fit(X, Y, T, modes=np.where(ROW_2, np.nan, OF_FEATURES.T).T)),
    ("complete rows", lambda: LinearLaw().fit(GAPS, Y, T, modes=OF_FEATURES)),
    (r"y_cov: expected \(60, 60\)", lambda: LinearLaw().fit(X, Y, y_cov=C[1:, 1:])),
    (r"y_cov: expected the shape \(60, 60\)", lambda: LinearLaw().fit(X, Y, y_cov=np.diag(C))),
    ("y_cov: row 0.*finite", lambda: LinearLaw().fit(X, Y, y_cov=np.where(np.eye(N) > 0, np.nan, C))),
    ("y_cov: row 0.*symmetric", lambda: LinearLaw().fit(X, Y, y_cov=np.triu(C))),
    ("y_cov: its smallest eigenvalue", lambda: LinearLaw().fit(X, Y, y_cov=C - np.eye(N))),
    ("y_std: row 0.*diagonal of y_cov", lambda: LinearLaw().fit(X, Y, 3.0, y_cov=C)),
    ("part of y_cov", lambda: LinearLaw().fit(X, Y, y_cov=C, modes=MODES)),
    ("LinearLaw", lambda: curve().fit(X, Y, y_cov=C)),
    ("error_scale", lambda: LinearLaw(error_scale="all").fit(X, Y, T)),
    ("about equal.*from_replicates", lambda: LinearLaw(error_scale="fit").fit(Z, Y, y_std=0.3)),
    ("no error bars", lambda: LinearLaw(error_scale="fit").fit(Z, Y)),
    ("error_scale", lambda: LinearLaw(error_scale="both").fit(X, Y, y_std=0.3)),
    ("feature 0: all error bars are about equal.*from_replicates", lambda: scaled(equal_bars(), Y, T)),
    (r"feature 0 \(mass\)", lambda: scaled(equal_bars(named=True), Y, T)),
    ("feature 1: all error bars are about equal",
     lambda: scaled(GaussianArray(X.means, std=np.c_[S[:, 0], np.full(N, 0.5)]), Y, T)),
    ("feature 1: there are no error bars",
     lambda: scaled(GaussianArray(X.means, std=np.c_[S[:, 0], np.zeros(N)]), Y, T)),
    ("feature 0: there are no error bars", lambda: scaled(Z, Y)),
    ("feature 0: (its error bars differ too little|readings with)",
     lambda: scaled(GaussianArray(SPREAD * (1 + SMALL), std=SMALL), SPREAD[:, 0], 0.1)),
    ("feature 0: readings with larger error bars scatter no more",
     lambda: scaled(LESS, np.random.default_rng(2).normal(size=2000))),
    ("modes=", lambda: scaled(X, Y, T, modes=np.ones((N, 1)))),
    ("xy_cov=", lambda: scaled(X, Y, T, np.full((N, 2), 0.001))),
    ("limits", lambda: scaled(Incomplete.from_arrays(X.means, std=S, limits=LIMITS), Y, T)),
    ("degrees_of_freedom", lambda: LinearLaw(outliers="mixture", degrees_of_freedom=3.0).fit(X, Y)),
    ("degrees_of_freedom", lambda: LinearLaw(outliers="student", degrees_of_freedom=0.2).fit(X, Y)),
    ("n_components", lambda: LinearLaw(2, outliers="student").fit(X, Y)),
    ("outliers", lambda: LinearLaw(outliers="cauchy").fit(X, Y)),
]
CURVES: list[tuple[str, Callable[[], object]]] = [
    (r"expected the shape \(60, k\)", lambda: curve().fit(X, Y, T, modes=MODES[1:])),
    ("column 1 is 0", lambda: curve().fit(X, Y, T, modes=MODES * [1, 0, 1])),
    ("combinations", lambda: curve().fit(X, Y, T, modes=MODES[:, [0, 0]])),
    ("modes of features.*slope of the curve.*LinearLaw", lambda: curve().fit(X, Y, T, modes=MODES[:, None])),
    ("functional", lambda: curve(truth="functional").fit(X, Y, T, modes=MODES)),
    ("one output", lambda: CurveRegressor(twice, np.ones(3)).fit(X, np.c_[Y, Y], modes=MODES)),
    ("error bars of the target are about equal", lambda: curve(error_scale="both").fit(X, Y, 0.3)),
    ("no error bars", lambda: curve(error_scale="both").fit(X, Y)),
    ("feature 0: there are no error bars", lambda: curve(error_scale="both").fit(Z, Y, T)),
    ("feature 0: all error bars are about equal", lambda: curve(error_scale="both").fit(equal_bars(), Y, T)),
    ("xy_cov=", lambda: curve(error_scale="both").fit(X, Y, T, np.zeros((N, 2)))),
    ("error_scale = .*functional", lambda: curve(truth="functional", error_scale="fit").fit(X, Y, T)),
    ("n_components = 2", lambda: curve(n_components=2, error_scale="features").fit(X, Y, T)),
    ("outliers.*functional", lambda: curve(truth="functional", outliers="mixture").fit(X, Y, T)),
]
TIMES, LAW = np.exp(0.1 * Y), GeneralizedLinearLaw
FAMILIES: list[tuple[str, Callable[[], object]]] = [
    (r"modes: expected the shape \(60, k\)", lambda: LAW().fit(X, Y > 1, modes=MODES[1:, 0])),
    (r"modes: expected the shape .*\(60, 2, k\).*\(60, 3, k\)",
     lambda: LAW().fit(X, Y > 1, modes=OF_FEATURES[:, :1])),
    ("modes: row 2, mode 0 is nan", lambda: LAW().fit(X, Y > 1, modes=np.where(ROW_2, np.nan, MODES.T).T)),
    ("modes: column 1 is 0 in every row", lambda: LAW().fit(X, Y > 1, modes=MODES * [1, 0, 1])),
    ("modes: columns are combinations", lambda: LAW().fit(X, Y > 1, modes=MODES[:, [0, 0]])),
    ("complete rows", lambda: LAW().fit(GAPS, Y > 1, modes=OF_FEATURES)),
    ("n_components=1", lambda: LAW(n_components=2, random_state=0).fit(X, Y > 1, modes=OF_FEATURES)),
    ("jackknife", lambda: LAW(bias_correction="jackknife").fit(X, TIMES > 1, modes=MODES)),
    ("error_scale = .*part of its family",
     lambda: LAW("gamma", error_scale="fit").fit(X, TIMES)),
    ("n_components = 2", lambda: LAW("gamma", n_components=2, error_scale="features").fit(X, TIMES)),
    ("modes=", lambda: LAW("gamma", error_scale="features").fit(X, TIMES, modes=np.ones((N, 1)))),
    ("feature 0: there are no error bars", lambda: LAW("gamma", error_scale="features").fit(Z, TIMES)),
]
# fmt: on


@pytest.mark.parametrize(("words", "fit"), [*LINES, *CURVES, *FAMILIES])
def test_what_a_law_cannot_use_is_refused(words: str, fit: Callable[[], object]) -> None:
    with pytest.raises(UncertainError, match=words):
        fit()


def test_classes_and_counts_have_no_outliers() -> None:
    with pytest.raises(TypeError):
        GeneralizedLinearLaw(outliers="student")  # type: ignore[call-arg]
