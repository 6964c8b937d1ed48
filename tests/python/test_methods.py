"""Every method of `uncertain.fit`, by its name: fitted, asked, reported, refused where it cannot serve."""

import json

import click
import polars as pl
import pytest
from catalogues import ESTIMATORS, METHODS, quick, up_or_down

import uncertain
from uncertain.cli import main


@pytest.fixture(scope="module")
def table() -> pl.DataFrame:
    return up_or_down(80, 5)


def test_the_names_are_the_same_everywhere() -> None:
    (option,) = [o for o in main.commands["fit"].params if o.name == "method"]
    assert isinstance(option.type, click.Choice) and tuple(option.type.choices) == ("auto", *METHODS)
    assert {*ESTIMATORS} == {*METHODS}


@pytest.mark.parametrize("method", METHODS)
def test_classes(method: str, table: pl.DataFrame) -> None:
    rows = table.drop("height")
    model = uncertain.fit(rows, **quick(method))
    assert isinstance(model.pipeline_[-1], ESTIMATORS[method][0])
    assert model.score(rows) > 0.75
    report = model.report(rows, folds=2, repeats=1)
    assert ("above the optimum" in str(model)) == (method in ("gsu", "kernel", "usvc", "ausvc"))
    json.dumps(report.to_dict(), allow_nan=False)
    if hasattr(model.pipeline_[-1], "predict_proba"):
        assert model.predict_proba(rows).columns == ["down", "up"]


@pytest.mark.parametrize("method", METHODS)
def test_numbers(method: str, table: pl.DataFrame) -> None:
    rows = table.drop("label")
    kind = ESTIMATORS[method][1]
    if kind is None:
        with pytest.raises(uncertain.UncertainError, match=f'"{method}" is for classes. .* "huber"'):
            uncertain.fit(rows, target="height", method=method)  # type: ignore[arg-type]
        return
    model = uncertain.fit(rows, target="height", **quick(method, regression=True))
    assert isinstance(model.pipeline_[-1], kind)
    assert model.score(rows) > 0.4
    assert model.report(rows, folds=2, repeats=1).n_rows == len(rows)
    assert model.has_distribution_ and (model.residual_std_ is not None) == (method == "gsu")


def test_a_discriminant_denoises_by_itself(table: pl.DataFrame) -> None:
    """Both meanings are the same model: the noise must not be taken off twice."""
    rows = table.drop("height")
    spread = uncertain.fit(rows, method="discriminant")
    measured = uncertain.fit(rows, method="discriminant", meaning="measurement")
    assert [type(s) for _, s in spread.pipeline_.steps] == [type(s) for _, s in measured.pipeline_.steps]
