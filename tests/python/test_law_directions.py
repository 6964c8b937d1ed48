"""Laws whose rows do not determine them name the features and the direction, and show no standard error."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import polars as pl
import pytest

import uncertain
from uncertain import GaussianArray, UncertainError
from uncertain.exceptions import UncertainWarning
from uncertain.laws import GeneralizedLinearLaw, LinearLaw

Floats = Any
NAMES = ["mass", "age", "flux"]


def rows(case: str, noise: float) -> tuple[GaussianArray, Floats]:
    """Three features of which two directions are known, and targets."""
    rng = np.random.default_rng(3)
    z = rng.normal(size=(150, 3))
    if case == "sum":
        z[:, 2] = z[:, 0] + z[:, 1]
    elif case == "copy":
        z[:, 2] = 3 * z[:, 1] + 5
    elif case == "constant":
        z[:, 2] = 7.0
    y = z @ [1.0, -2.0, 0.0] + 0.3 * rng.normal(size=150)
    # Errors that respect the sum: readings of features that are exact combinations are combinations, too.
    e = noise * rng.normal(size=(150, 3))
    if case in ("sum", "copy"):
        e[:, 2] = e[:, 0] + e[:, 1] if case == "sum" else 3 * e[:, 1]
    if case == "constant":
        e[:, 2] = 0.0
    turn = {"sum": [1.0, 1.0, 0.0], "copy": [0.0, 3.0, 0.0], "constant": [0.0, 0.0, 0.0]}[case]
    root = np.array([[1.0, 0, 0], [0, 1, 0], turn]) * noise
    return GaussianArray(z + e, cov=np.broadcast_to(root @ root.T, (150, 3, 3)), feature_names=NAMES), y


@pytest.mark.parametrize("noise", [0.0, 0.3])
@pytest.mark.parametrize(
    ("case", "names"), [("sum", {"mass", "age", "flux"}), ("copy", {"age", "flux"}), ("constant", {"flux"})]
)
def test_a_line_names_the_direction(case: str, names: set[str], noise: float) -> None:
    X, y = rows(case, noise)
    with pytest.warns(UncertainWarning, match="leave out a feature") as caught:
        law = LinearLaw().fit(X, y, y_std=0.1)
    told = str(caught[0].message)
    assert set(re.findall(r"of (\w+)", told.split("along")[1].split("(")[0])) == names
    shares = [abs(float(x)) for x in re.findall(r"(-?\d\.\d\d) of", told)]
    assert shares == sorted(shares, reverse=True) and np.sum(np.square(shares)) == pytest.approx(1, abs=0.02)
    if case == "copy":
        assert told.count("-0.71") == 1 and told.count("0.71") == 2
    for read in (lambda: law.coef_std_, law.conf_int, law.summary, lambda: law.conf_int(method="profile")):
        with pytest.raises(AttributeError, match="flux"):
            read()
    # Predictions need no slope by itself.
    assert np.corrcoef(law.predict(X), y)[0, 1] > 0.9
    with pytest.raises(UncertainError, match=r"of feature 2 \(flux\).*leave out a feature$"):
        LinearLaw(outliers="student").fit(X, y, y_std=0.1)
    with pytest.raises(UncertainError, match=r"of feature 2 \(flux\).*alpha > 0$"):
        GeneralizedLinearLaw().fit(X, y > 0)


@pytest.mark.parametrize("noise", [0.0, 0.4])
def test_more_features_than_rows(noise: float) -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(8, 12)), rng.normal(size=8)
    X = GaussianArray(x, std=np.full(x.shape, noise)) if noise else x
    with pytest.warns(UncertainWarning, match="of feature"):
        law = LinearLaw().fit(X, y)
    with pytest.raises(AttributeError, match="do not determine all slopes"):
        law.summary()


def test_columns_of_tables_are_named() -> None:
    X, y = rows("sum", 0.0)
    table = pl.DataFrame({name: X.means[:, j] for j, name in enumerate(NAMES)} | {"y": y})
    with pytest.warns(UncertainWarning, match=r"of flux.*of (mass|age)"):
        model = uncertain.fit(table, target="y", method="law", exact=NAMES)
    with pytest.raises(AttributeError, match="flux"):
        model.conf_int()
    with pytest.raises(UncertainError, match=r"\(flux\)"):
        uncertain.fit(table, target="y", method="law", exact=NAMES, outliers="student")


def test_well_determined_lines_say_nothing() -> None:
    rng = np.random.default_rng(1)
    z = rng.normal(size=(100, 2))
    x = np.c_[z, z[:, 0] + 0.05 * rng.normal(size=100)]  # nearly a copy, and known to be none
    law = LinearLaw().fit(x, z[:, 0] + 0.1 * rng.normal(size=100))
    assert np.isfinite(law.coef_std_).all() and law.coef_std_[2] > 5 * law.coef_std_[1]
