"""Model files: what is saved comes back bit for bit, and nothing else is read."""

from __future__ import annotations

import json
import pickle
import struct
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from catalogues import description, redescribed
from test_fit import N, scalars

import uncertain
from uncertain import GaussianArray, GSUClassifier
from uncertain.exceptions import ModelFileError, ParameterError, UncertainError


def three_classes() -> dict[str, Any]:
    columns = scalars() | {"label": [(3, 1, 2)[i % 3] for i in range(N)]}
    columns["u"] = np.asarray(columns["u"]) + 4.0 * (np.arange(N) % 3 == 1)
    return columns


CASES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "strings": (scalars(), {}),
    "booleans": (scalars() | {"label": [i % 2 == 1 for i in range(N)]}, {}),
    "three integers": (three_classes(), {}),
    "unscaled": (scalars(), {"scale": False}),
    "uncalibrated": (scalars(), {"probability": False}),
    "chosen columns": (scalars(), {"features": ["u", "v"], "std": "{}_err", "on_missing": "point"}),
    "parameters": (
        scalars(),
        {"alpha": 0.03, "solver": "lbfgs", "class_weight": {"low": 2.0, "high": 1.0}, "random_state": 7},
    ),
    "kernel": (scalars(), {"method": "kernel", "C": 3.0, "tol": 1e-7, "max_iter": 1000}),
    "kernel, three classes": (
        three_classes(),
        {"method": "kernel", "sigma": 0.7, "coupling": "independent", "probability": False},
    ),
    "discriminant": (scalars(), {"method": "discriminant"}),
    "quadratic discriminant, given priors": (
        three_classes(),
        {"method": "discriminant", "shared_covariance": False, "n_components": 2, "priors": [0.2, 0.3, 0.5]},
    ),
    "plain EM": (scalars(), {"method": "discriminant", "acceleration": None, "max_iter": 3}),
    "stochastic": (scalars(), {"solver": "sgd", "max_iter": 200, "batch_size": 8}),
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("case", CASES)
def test_round_trip(case: str, tmp_path: Path) -> None:
    columns, arguments = CASES[case]
    table = pl.DataFrame(columns)
    model = uncertain.fit(table, **{"method": "gsu"} | arguments)
    path = tmp_path / "model.safetensors"
    model.save(path)
    for again in (uncertain.load(path), pickle.loads(pickle.dumps(model))):
        assert again.predict(table).equals(model.predict(table))
        if arguments.get("probability", True):
            assert again.predict_proba(table).equals(model.predict_proba(table))
        assert again.columns_ == model.columns_
        assert again.classes_.tolist() == model.classes_.tolist()
        assert again.classes_.dtype == model.classes_.dtype
        for (name, step), (other_name, other) in zip(
            model.pipeline_.steps, again.pipeline_.steps, strict=True
        ):
            assert name == other_name
            assert step.get_params() == other.get_params()
            assert fitted_attributes(step) == fitted_attributes(other)
        again.save(tmp_path / "again.safetensors")
        assert (tmp_path / "again.safetensors").read_bytes() == path.read_bytes()


def fitted_attributes(step: Any) -> dict[str, Any]:
    found = {n: getattr(step, n) for n in vars(step) if n.endswith("_") and not n.startswith("_")}
    return {n: v.tolist() if isinstance(v, np.ndarray) else v for n, v in found.items()}


def test_only_the_probabilistic_kernel_can_be_saved(tmp_path: Path) -> None:
    model = uncertain.fit(
        pl.DataFrame(scalars()),
        method="kernel",
        kernel=lambda a, b: np.exp(-np.abs(a.means[:, :1] - b.means[:, 0])),
    )
    with pytest.raises(UncertainError, match="no kernels but the probabilistic one"):
        model.save(tmp_path / "m")
    assert not list(tmp_path.iterdir())


def test_a_kernel_model_stores_its_support_rows_only(tmp_path: Path) -> None:
    columns = scalars(seed=1) | {"label": ["low" if i % 2 else "high" for i in range(N)]}
    columns["u"] = np.asarray(columns["u"]) + 100.0 * (np.arange(N) % 2)
    model = uncertain.fit(pl.DataFrame(columns), method="kernel", meaning="spread", probability=False)
    support = model.pipeline_[-1].support_rows_
    assert len(support) < N / 2
    model.save(tmp_path / "m")
    header, _ = header_and_data((tmp_path / "m").read_bytes())
    assert header["1.means"]["shape"] == [len(support), 2]
    assert uncertain.load(tmp_path / "m").pipeline_[-1].support_rows_ == support


def test_models_of_arrays_come_back(tmp_path: Path) -> None:
    columns = scalars()
    data = GaussianArray(np.stack([columns["u"], columns["v"]], axis=1), std=0.5)
    model = uncertain.fit(data, columns["label"], method="gsu")
    model.save(tmp_path / "m")
    again = uncertain.load(tmp_path / "m")
    np.testing.assert_array_equal(again.predict_proba(data), model.predict_proba(data))
    assert again.report(data, columns["label"], folds=3, repeats=1).n_rows == N


def test_a_pickle_holds_the_bytes_of_the_file(tmp_path: Path) -> None:
    model = uncertain.fit(pl.DataFrame(scalars()), method="gsu")
    model.save(tmp_path / "m")
    assert (tmp_path / "m").read_bytes() in pickle.dumps(model)


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("models") / "m"
    uncertain.fit(pl.DataFrame(scalars()), method="gsu").save(path)
    return path.read_bytes()


def load_bytes(data: bytes, tmp_path: Path) -> uncertain.Model:
    path = tmp_path / "changed"
    path.write_bytes(data)
    return uncertain.load(path)


def test_every_truncation_is_refused(saved: bytes, tmp_path: Path) -> None:
    for length in [0, 1, 7, 8, 9, 100, len(saved) // 2, len(saved) - 8, len(saved) - 1]:
        with pytest.raises(ModelFileError, match="not a usable model file: "):
            load_bytes(saved[:length], tmp_path)
    with pytest.raises(ModelFileError):
        load_bytes(saved + b"\0", tmp_path)


def header_and_data(saved: bytes) -> tuple[dict[str, Any], bytes]:
    (length,) = struct.unpack("<Q", saved[:8])
    return json.loads(saved[8 : 8 + length]), saved[8 + length :]


def with_header(header: Any, data: bytes) -> bytes:
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def test_altered_structure_is_refused(saved: bytes, tmp_path: Path) -> None:
    header, data = header_and_data(saved)
    tensors = [n for n in header if n != "__metadata__"]
    changes = {
        "a tensor removed": {n: v for n, v in header.items() if n != tensors[0]},
        "a tensor renamed": {("other" if n == tensors[0] else n): v for n, v in header.items()},
        "a shape changed": header | {tensors[0]: header[tensors[0]] | {"shape": [10**15]}},
        "a type changed": header | {tensors[0]: header[tensors[0]] | {"dtype": "I64"}},
        "no metadata": {n: v for n, v in header.items() if n != "__metadata__"},
        "metadata is no JSON": header | {"__metadata__": {"uncertain": "{"}},
    }
    for name, changed in changes.items():
        with pytest.raises(ModelFileError):
            load_bytes(with_header(changed, data), tmp_path)
            pytest.fail(name)


def test_altered_numbers_are_refused(saved: bytes, tmp_path: Path) -> None:
    _, data = header_and_data(saved)
    with pytest.raises(ModelFileError):
        load_bytes(saved[: -len(data)] + struct.pack("<d", float("nan")) + data[8:], tmp_path)


def test_foreign_files_are_refused(tmp_path: Path) -> None:
    foreign = {
        "text": b"these are no numbers, but long enough to look at",
        "pickle": pickle.dumps({"coef": [1.0]}),
        "another safetensors file": with_header(
            {"w": {"dtype": "F64", "shape": [1], "data_offsets": [0, 8]}}, bytes(8)
        ),
    }
    for name, data in foreign.items():
        with pytest.raises(ModelFileError):
            load_bytes(data, tmp_path)
            pytest.fail(name)


def test_labels_that_no_file_can_hold_are_refused() -> None:
    with pytest.raises(UncertainError):
        uncertain.fit(pl.DataFrame(scalars() | {"label": [b"a", b"b"] * (N // 2)}), method="gsu")


@pytest.fixture(scope="module")
def two_steps(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models") / "two steps"
    uncertain.fit(pl.DataFrame(scalars()), method="gsu", meaning="spread", scale=False).save(path)
    return path


@pytest.mark.parametrize(
    "altered",
    [
        {"columns": []},
        {"columns": {"target": 3}},
        {"columns": {"nonsense": "x"}},
        {"columns": {"features": "ab"}},
        {"columns": {"features": ["u", 3]}},
        {"columns": {"features": ["u", "v"], "std": ["u_err"]}},
        {"columns": {"features": ["u", "v"], "noise": "{}_err"}},
        {"columns": {"features": ["u", "v"], "std": {"u": ["a", "b", "c"]}}},
        {"columns": {"features": ["u", "v"], "std": "{}_err", "corr": {"pairs": []}}},
        {"columns": {"features": ["u", "v"], "std": "{}_err", "corr": [["u", "v", 1]]}},
        {"columns": {"groups": 1}},
        {"columns": {"automatic": None}},
        {"steps": 3},
        {"steps": ["one"]},
        {"steps": ["same", "same"]},
        {"steps": [["a"], "b"]},
        {"parameters": {}},
        {"parameters": [{"kernel": "rbf"}]},
        {"parameters": [{}, {"kernel": "rbf"}]},
        {"parameters": [{}, {"nonsense": 1}]},
        {"parameters": [{}, {"n_jobs": 64}]},
        {"parameters": [{}, {"verbose": 1}]},
        {"parameters": [{}, {"class_weight": {"pairs": 3}}]},
        {"parameters": [{}, {"class_weight": {"pair": []}}]},
        {"parameters": [{}, {"class_weight": {"pairs": [[[], 1]]}}]},
        {"categories": ["u"]},
        {"categories": {"u": "ab"}},
        {"categories": {"u": [["a"]]}},
        {"units": ["mag"]},
        {"units": {"u": 1}},
        {"nonsense": 1},
    ],
)
def test_an_altered_description_is_refused_at_load(
    altered: dict[str, Any], two_steps: Path, tmp_path: Path
) -> None:
    about = {
        "columns": {"target": "label", "features": ["u", "v"], "std": "{}_err"},
        "steps": ["gaussians", "classify"],
        "parameters": [{}, {}],
        "calibration": description(two_steps)["calibration"],
    }
    uncertain.load(redescribed(two_steps, about, tmp_path / "m"))
    with pytest.raises(ModelFileError, match="its description of columns is altered"):
        uncertain.load(redescribed(two_steps, about | altered, tmp_path / "m"))


def test_a_failed_save_says_what_failed(tmp_path: Path) -> None:
    model = uncertain.fit(pl.DataFrame(scalars()), method="gsu")
    (tmp_path / "file").write_text("")
    for path, why in [
        (tmp_path / "none" / "m", "there is no folder"),
        (tmp_path / "file" / "m", "is no folder"),
        (tmp_path, "it is a folder"),
        ("/proc/self/model", "folder /proc/self"),
    ]:
        with pytest.raises(ModelFileError, match=r"cannot be written: ") as caught:
            model.save(path)
        assert str(caught.value).startswith(f"{path} cannot") and why in str(caught.value)
        assert "not a usable" not in str(caught.value) and ".tmp" not in str(caught.value)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file"]


@pytest.mark.parametrize("name", ["max_iter", "batch_size"])
def test_counts_that_nobody_means_are_refused(name: str) -> None:
    with pytest.raises(ParameterError, match=rf"^{name} = 18446744073709551615: must be at most 2\^53"):
        GSUClassifier(**{name: 2**64 - 1}).fit([[0.0], [1.0]], [0, 1])
    GSUClassifier(**{name: 2**53}).fit([[0.0], [1.0]], [0, 1])
