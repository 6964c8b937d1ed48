"""Mistyped names, mistaken types and mistaken columns: what was meant, and what to type."""

import dataclasses
import inspect
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from catalogues import ESTIMATORS

import uncertain
from uncertain._model.fit import FitOptions
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
    "pattern": (lambda: fit(std="{}_er"), ColumnError, "'{}_err'"),
    "column in another case": (lambda: fit(exact=["FLUX"]), ColumnError, "'flux'"),
    "keyword of AsGaussians": (
        lambda: uncertain.AsGaussians(on_mising="auto"), ParameterError, "on_missing="
    ),
    "keyword of check_errors": (
        lambda: uncertain.check_errors(TABLE, group="kind"), ParameterError, "groups="
    ),
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
    with pytest.raises(ParameterError, match="unknown option 'xyzzy'") as caught:
        fit(xyzzy=1)
    assert "did you mean" not in str(caught.value)


def test_every_argument_of_fit_is_suggested() -> None:
    names = [*inspect.signature(uncertain.fit).parameters][1:-1]  # the table, and **options
    for name in (*names, *FitOptions.__annotations__):
        with pytest.raises(ParameterError, match=f"did you mean {name}="):
            fit(**{f"{name}x": 1})


def test_editors_know_every_option_of_fit() -> None:
    roles = {field.name for field in dataclasses.fields(uncertain.Columns)} - {"found"}
    named = {*inspect.signature(uncertain.fit).parameters}
    assert len(named) == 15 and roles <= named | FitOptions.__annotations__.keys()
    estimators = [kind for kinds in ESTIMATORS.values() for kind in kinds if kind is not None]
    parameters = {name for kind in estimators for name in inspect.signature(kind).parameters}
    assert parameters <= named | FitOptions.__annotations__.keys()


def test_several_columns_that_do_not_exist_are_named_at_once() -> None:
    with pytest.raises(ColumnError, match=r"no columns 'flix' \('flux'\?\), 'knd' \('kind'\?\)"):
        uncertain.fit(TABLE, target="kind", exact=["flix"], categorical=["knd"])


def test_a_dictionary_of_single_numbers() -> None:
    row = {"flux": 1.0, "flux_err": 0.1}
    listed = {name: [value] for name, value in row.items()}
    assert MODEL.predict(row).shape == (1,)
    assert MODEL.predict_proba(row)["a"].tolist() == MODEL.predict_proba(listed)["a"].tolist()
    with pytest.raises(ColumnError, match=r"a table of one row is \{'flux_err': \[0.1\], ...\}"):
        MODEL.predict(listed | {"flux_err": 0.1})
    with pytest.raises(UncertainError, match="two classes"):
        uncertain.fit(row | {"kind": "a"}, target="kind")


@pytest.mark.parametrize("saved", [False, True])
def test_a_table_for_a_model_of_arrays(saved: bool, tmp_path: Any) -> None:
    model = uncertain.fit(ROWS, target=KIND, method="gsu")
    if saved:
        model.save(tmp_path / "arrays.uncertain")
        model = uncertain.load(tmp_path / "arrays.uncertain")
    with pytest.raises(ParameterError, match=r"fitted to arrays \(2 features: x0, x1.*Pass a GaussianArray"):
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


@pytest.mark.filterwarnings("ignore:.*no plane is better")  # labels are noise
def test_covariances_that_error_bars_do_not_allow_are_made_as_large_as_they_can_be() -> None:
    table = impossible_covariances()
    with pytest.warns(
        UncertainWarning, match="covariances in cov_a_b.* 2 rows .row 3: a correlation"
    ) as caught:
        model = uncertain.fit(table, target="kind", method="gsu")
    assert "were reduced" in str(caught[0].message)
    with pytest.warns(UncertainWarning, match="were reduced"):
        found = model.gaussians(table).covariances()
    std = np.array([0.5, 1e-3, 2.0])
    correlations = found / np.outer(std, std)
    assert np.allclose(np.linalg.eigvalsh(correlations[[3, 5]])[:, 0], 0.0, atol=1e-9)
    assert np.allclose(correlations[0], [[1, 0.2, 0.2], [0.2, 1, 0.2], [0.2, 0.2, 1]])
    assert np.isclose(correlations[3, 0, 1] / correlations[3, 0, 2], 15.0)  # all by one factor
    assert np.isclose(correlations[5, 0, 1], -correlations[5, 1, 2])
    with pytest.raises(UncertainError, match=r"cov_a_b: row 3 is .* allow at most"):
        uncertain.fit(table, target="kind", method="gsu", on_missing="error")


@pytest.mark.parametrize("text", ["n/a", "?", "twelve"])
def test_text_among_numbers_is_named_with_row_and_value(text: str) -> None:
    values: list[object] = FLUX.tolist()
    values[7] = text
    with pytest.raises(ColumnError, match=r"flux: row 7 is '.*', which is no number") as caught:
        uncertain.fit(TABLE | {"flux": values}, target="kind", method="gsu")
    assert repr(text) in str(caught.value)


def messages(table: dict[str, Any], **arguments: Any) -> str:
    """All warnings of a fit."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        uncertain.fit(table, **{"target": "kind", "method": "gsu"} | arguments)
    return "\n".join(str(warning.message) for warning in caught)


def test_error_bars_that_can_hardly_be_meant() -> None:
    assert messages(TABLE) == ""
    assert "the error bars of flux are zero in every row" in messages(TABLE | {"flux_err": 0.0 * STD})
    for table in (TABLE | {"flux_err": 1e6 * STD}, TABLE | {"flux_err": 10.0 * STD}):
        assert "flux" in messages(table) and "larger than the scatter of all values" in messages(table)
    array = uncertain.GaussianArray(FLUX[:, None], std=1e6 * STD[:, None])
    assert "the error bars of x0" in messages(array, target=KIND)  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("power", [1, 2])
def test_variances_in_place_of_standard_deviations(power: int, seed: int) -> None:
    """Of readings with errors between 0.1 and 3 of the spread of true values, and of errors in proportion."""
    rng = np.random.default_rng(seed)
    n = 2_000
    truth = rng.normal(size=(n, 3)) @ rng.normal(size=(3, 3))
    std = np.exp(rng.uniform(np.log(0.1), np.log(3.0), (n, 3)))
    readings = truth + std * rng.normal(size=(n, 3))
    numbers = {name: readings[:, j] for j, name in enumerate("abc")}
    columns = {f"{name}_err": std[:, j] ** power for j, name in enumerate("abc")}
    kind = np.where(truth[:, 0] > 0, "a", "b")
    said = messages(numbers | columns | {"kind": kind}, probability=False)
    assert ("look like variances" in said) == (power == 2)
    if power == 2:
        assert "pass them as var=" in said
        assert messages(numbers | columns | {"kind": kind}, var="{}_err", probability=False) == ""
    relative = np.exp(truth)
    of_each = 0.1 * relative * std
    readings = relative + of_each * rng.normal(size=(n, 3))
    numbers = {name: readings[:, j] for j, name in enumerate("abc")}
    columns = {f"{name}_err": of_each[:, j] for j, name in enumerate("abc")}
    assert "variances" not in messages(numbers | columns | {"kind": kind}, probability=False)


def test_features_that_know_the_target_are_named() -> None:
    code = (KIND == "a").astype(float)
    assert "code predicts 'kind' in every row" in messages(TABLE | {"code": code}, exact=["code"])
    score = code + RNG.uniform(0, 0.5, N)
    assert "score predicts" in messages(TABLE | {"score": score}, exact="all")
    copies = np.char.add("is ", KIND)
    assert "text predicts" in messages(TABLE | {"text": copies}, categorical=["text"])
    several = RNG.permutation(np.repeat(["u", "v", "w"], N // 3))
    assert messages(TABLE | {"text": several}, categorical=["text"]) == ""
    assert messages(TABLE | {"other": RNG.normal(size=N)}, exact=["other"]) == ""
    assert "Kind_code" in messages(TABLE | {"Kind_code": RNG.integers(0, 9, N)}, exact=["Kind_code"])


def test_numbers_that_are_functions_of_the_target_are_named() -> None:
    table = {"x": FLUX, "x_err": STD, "y": np.exp(FLUX)}
    assert "x is in a fixed relation to 'y'" in messages(table, target="y")
    copy = {"x": FLUX, "x_err": STD, "m": np.round(3.0 - 2.0 * (t := RNG.normal(size=N)), 6), "y": t}
    assert "m is in a fixed relation to 'y'" in messages(copy, target="y", exact=["m"])
    assert messages({"x": FLUX, "x_err": STD, "y": FLUX + 0.01 * t}, target="y") == ""


def test_identifiers_are_named() -> None:
    said = messages(TABLE | {"row": np.arange(N)}, exact=["row"])
    assert "row seems to be an identifier" in said and "groups=" in said
    assert "star_id seems" in messages(TABLE | {"star_id": RNG.permutation(N)}, exact=["star_id"])
    names = [f"J{i:04}" for i in range(N)]
    assert "name seems" in messages(TABLE | {"name": names}, categorical=["name"])
    assert messages(TABLE | {"counts": RNG.poisson(1e4, N)}, exact=["counts"]) == ""


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
    assert len(model.predict(table)) == N


def test_ambiguous_error_columns_are_one_question_and_its_answer_can_be_typed() -> None:
    table = TABLE | {"flux_se": STD, "mag": FLUX, "mag_err": STD, "e_mag": STD, "size": FLUX, "size_err": STD}
    with pytest.raises(
        ColumnError, match=r"columns with several error columns: flux .*mag .*such as "
    ) as caught:
        uncertain.fit(table, target="kind", method="gsu")
    answer = eval(f"dict({str(caught.value).rpartition('such as ')[2]})")
    model = uncertain.fit(table, target="kind", method="gsu", **answer)
    assert model.columns_.features == ("flux", "mag", "size")
    assert model.columns_.error_bars["size"].columns == ("size_err",)


def test_arrays_of_errors_beside_arrays_go_into_a_gaussian_array() -> None:
    means, std, labels = np.zeros((100, 3)), np.ones((100, 3)), np.arange(100) % 2
    for call in (
        lambda: uncertain.fit(means, labels, std=std),  # type: ignore[arg-type]
        lambda: uncertain.fit((means, std), labels),  # type: ignore[arg-type]
        lambda: uncertain.fit([means, std], labels),  # type: ignore[arg-type]
    ):
        with pytest.raises(ParameterError, match=r"GaussianArray\(means, std=") as found:
            call()
        assert len(str(found.value)) < 200
