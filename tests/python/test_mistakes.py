"""Mistyped names, mistaken types and mistaken columns: what was meant, and what to type."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import uncertain
from uncertain.exceptions import ColumnError, ParameterError, UncertainError, UncertainWarning

RNG = np.random.default_rng(0)
N = 60
KIND = np.where(RNG.random(N) < 0.5, "a", "b")
STD = RNG.uniform(0.1, 0.5, N)
FLUX = (KIND == "a") + STD * RNG.normal(size=N)
TABLE: dict[str, Any] = {"flux": FLUX, "flux_err": STD, "kind": KIND}
ROWS = uncertain.GaussianArray(np.column_stack([FLUX, FLUX]), std=np.column_stack([STD, STD]))


def fit(**arguments: Any) -> uncertain.Model:
    return uncertain.fit(TABLE, **{"target": "kind", "method": "gsu"} | arguments)


MODEL = fit()

MISTYPED: dict[str, tuple[Callable[[], object], type[Exception], str]] = {
    "parameter": (lambda: fit(alhpa=1), ParameterError, "alpha="),
    "parameter of a choice": (lambda: fit(method="auto", alhpa=1), ParameterError, "alpha="),
    "argument": (lambda: fit(on_mising="error"), ParameterError, "on_missing="),
    "argument of a choice": (lambda: fit(method="auto", on_mising="error"), ParameterError, "on_missing="),
    "target": (lambda: uncertain.fit(TABLE, traget="kind"), ParameterError, "target="),
    "method": (lambda: fit(method="GSU"), ParameterError, "'gsu'"),
    "option": (lambda: fit(on_missing="eror"), ParameterError, "'error'"),
    "option of the core": (lambda: fit(loss="hing"), ParameterError, "'hinge'"),
    "option of an estimator": (
        lambda: uncertain.RobustSVC(method="uscv").fit(ROWS, KIND), ParameterError, "'usvc'"
    ),
    "kernel": (lambda: fit(kernel="rbff"), ParameterError, "'rbf'"),
    "pattern": (lambda: fit(std="{}_er"), ColumnError, "'{}_err'"),
    "column in another case": (lambda: fit(exact=["FLUX"]), ColumnError, "'flux'"),
    "keyword of predict": (lambda: MODEL.predict(TABLE, apend=True), TypeError, "'append'"),
    "option of predict": (lambda: MODEL.predict(TABLE, errors="typcal"), ParameterError, "'typical'"),
    "keyword of a set": (lambda: MODEL.predict_set(TABLE, converage=0.9), TypeError, "'coverage'"),
    "keyword of report": (lambda: MODEL.report(TABLE, fold=2), TypeError, "'folds'"),
    "keyword of check_errors": (lambda: uncertain.check_errors(TABLE, group="kind"), TypeError, "'groups'"),
}  # fmt: skip


@pytest.mark.parametrize("case", MISTYPED)
def test_did_you_mean(case: str) -> None:
    call, kind, meant = MISTYPED[case]
    with pytest.raises(kind, match="did you mean") as caught:
        call()
    assert f"did you mean {meant}?" in str(caught.value)


def test_a_name_of_the_package_is_suggested_by_python() -> None:
    with pytest.raises(AttributeError, match="no attribute 'GSUClasifier'") as caught:
        uncertain.GSUClasifier  # noqa: B018
    assert caught.value.name == "GSUClasifier"
    assert "GSUClassifier" in dir(caught.value.obj)


def test_far_names_get_no_suggestion() -> None:
    with pytest.raises(ParameterError, match="unknown parameter 'xyzzy'") as caught:
        fit(xyzzy=1)
    assert "did you mean" not in str(caught.value)
    with pytest.raises(TypeError) as other:
        MODEL.predict(TABLE, xyzzy=1)  # type: ignore[call-arg]
    assert "did you mean" not in str(other.value)


def test_every_argument_of_fit_is_suggested() -> None:
    names = [*inspect.signature(uncertain.fit).parameters]
    for name in names[1:-1]:  # the table, and **params
        with pytest.raises(ParameterError, match=f"did you mean {name}="):
            fit(**{name + "s": 1} if name + "s" not in names else {name + "ss": 1})


def test_several_mistakes_are_named_at_once() -> None:
    with pytest.raises(ParameterError, match=r"method='GSU'.*on_missing='eror'.*effort='hihg'"):
        fit(method="GSU", on_missing="eror", effort="hihg")
    with pytest.raises(ColumnError, match=r"no columns 'flix' \('flux'\?\), 'knd' \('kind'\?\)"):
        uncertain.fit(TABLE, target="kind", exact=["flix"], categorical=["knd"])


def test_a_dictionary_of_single_numbers() -> None:
    row = {"flux": 1.0, "flux_err": 0.1}
    with pytest.raises(ColumnError, match=r"a table of one row is \{'flux': \[1.0\], 'flux_err': \[0.1\]\}"):
        MODEL.predict(row)
    with pytest.raises(ColumnError, match="a table of one row is"):
        uncertain.fit(row | {"kind": "a"}, target="kind")
    assert MODEL.predict({"flux": [1.0], "flux_err": [0.1]}).shape == (1,)


@pytest.mark.parametrize("saved", [False, True])
def test_a_table_for_a_model_of_arrays(saved: bool, tmp_path: Any) -> None:
    model = uncertain.fit(ROWS, target=KIND, method="gsu")
    if saved:
        model.save(tmp_path / "arrays.uncertain")
        model = uncertain.load(tmp_path / "arrays.uncertain")
    with pytest.raises(
        ParameterError, match=r"fitted to arrays of 2 features \(x0, x1.*pass a GaussianArray"
    ):
        model.predict(TABLE)
    assert model.predict(ROWS).shape == (N,)


def impossible_covariances() -> dict[str, Any]:
    """Of three features; those of row 3 are too large in one pair, those of row 5 only as a whole."""
    std = np.full((N, 3), [0.5, 1e-3, 2.0])
    corr = np.zeros((N, 3))
    corr[:] = 0.2
    corr[3], corr[5] = (1.5, 0.1, 0.1), (0.9, 0.9, -0.9)
    values = RNG.normal(size=(N, 3))
    columns = {name: values[:, j] for j, name in enumerate("abc")}
    columns |= {f"{name}_err": std[:, j] for j, name in enumerate("abc")}
    for p, (j, k) in enumerate([(0, 1), (0, 2), (1, 2)]):
        columns[f"cov_{'abc'[j]}_{'abc'[k]}"] = corr[:, p] * std[:, j] * std[:, k]
    return columns | {"kind": KIND}


def test_covariances_that_error_bars_do_not_allow_are_made_as_large_as_they_can_be() -> None:
    table = impossible_covariances()
    with pytest.warns(
        UncertainWarning, match="covariances of 2 rows in cov_a_b.*row 3 is the first"
    ) as caught:
        model = uncertain.fit(table, target="kind", method="gsu")
    assert "made as large as they can be" in str(caught[0].message)
    with pytest.warns(UncertainWarning, match="made as large"):
        found = model.gaussians(table).covariances()
    std = np.array([0.5, 1e-3, 2.0])
    correlations = found / np.outer(std, std)
    assert np.allclose(np.linalg.eigvalsh(correlations[[3, 5]])[:, 0], 0.0, atol=1e-9)
    assert np.allclose(correlations[0], [[1, 0.2, 0.2], [0.2, 1, 0.2], [0.2, 0.2, 1]])
    assert np.isclose(correlations[3, 0, 1] / correlations[3, 0, 2], 15.0)  # all by one factor
    assert np.isclose(correlations[5, 0, 1], -correlations[5, 1, 2])
    with pytest.raises(UncertainError, match=r"cov_a_b: row 3 is .* allow no covariance beyond"):
        uncertain.fit(table, target="kind", method="gsu", on_missing="error")


@pytest.mark.parametrize("text", ["n/a", "?", "twelve"])
def test_text_among_numbers_is_named_with_row_and_value(text: str) -> None:
    values: list[object] = FLUX.tolist()
    values[7] = text
    with pytest.raises(ColumnError, match=r"flux: row 7 is '.*', which is no number") as caught:
        uncertain.fit(TABLE | {"flux": values}, target="kind", method="gsu")
    assert repr(text) in str(caught.value)


def test_columns_of_two_numbers_are_arms_in_tables_of_astropy() -> None:
    astropy = pytest.importorskip("astropy.table")
    arms = np.column_stack([-0.5 * STD, STD])
    names = np.char.ljust(KIND, 4)
    table = astropy.Table({"flux": FLUX, "Unc_flux": arms, "kind": names})
    with pytest.warns(UncertainWarning) as caught:
        model = uncertain.fit(table, target="kind", method="gsu")
    assert any("were read as the upper and lower arms" in str(warning.message) for warning in caught)
    assert model.columns_.std == {"flux": ("flux_err1", "flux_err2")}
    assert table.colnames == ["flux", "Unc_flux", "kind"] and table["kind"][0] == names[0]
    assert list(model.classes_) == ["a", "b"]
    with pytest.warns(UncertainWarning):
        assert len(model.predict(table)) == N
