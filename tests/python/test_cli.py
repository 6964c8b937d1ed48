"""The command line, end to end on files; every mistake is one sentence and exit code 2."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner, Result
from test_fit import N, scalars

import uncertain
from uncertain.cli import main


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(a) for a in arguments])


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "table.parquet"
    pl.DataFrame(scalars()).write_parquet(path)
    return path


@pytest.fixture
def model(table: Path) -> Path:
    path = table.with_name("model.safetensors")
    result = run("fit", table, "--out", path)
    assert result.exit_code == 0, result.output
    assert "std = {}_err" in result.output
    return path


def test_fit_predict_evaluate_report(table: Path, model: Path, tmp_path: Path) -> None:
    out = tmp_path / "predictions.csv"
    assert run("predict", model, table, "--out", out).exit_code == 0
    predictions = pl.read_csv(out)
    assert predictions.columns == ["prediction", "p_high", "p_low"]
    fitted = uncertain.load(model)
    assert predictions["prediction"].to_list() == fitted.predict(table).to_list()

    printed = run("predict", model, table)
    assert printed.output == out.read_text()

    evaluated = run("evaluate", model, table)
    assert f"accuracy {fitted.score(table):.4f} on {N} rows" in evaluated.output

    text = run("report", model, table, "--folds", 3, "--repeats", 1)
    assert "Held-out accuracy, 3 folds x 1 repeats" in text.output
    as_json = run("report", model, table, "--folds", 3, "--repeats", 1, "--json")
    assert json.loads(as_json.output)["n_rows"] == N


def test_groups(tmp_path: Path) -> None:
    path, model = tmp_path / "visits.parquet", tmp_path / "m.safetensors"
    label = ["low" if i // 3 % 2 else "high" for i in range(N)]
    pl.DataFrame(scalars() | {"patient": [i // 3 for i in range(N)], "label": label}).write_parquet(path)
    fitted = run("fit", path, "--groups", "patient", "--out", model)
    assert "groups     patient (its rows stay together)" in fitted.output
    report = ("report", model, path, "--folds", 3, "--repeats", 1)
    assert "rows of one patient kept together (20 groups)" in run(*report).output
    assert "rows of one id kept together (60 groups)" in run(*report, "--groups", "id").output
    assert "kept together" not in run(*report, "--rows").output
    assert json.loads(run(*report, "--json").output)["n_groups"] == 20
    assert "choose one" in run(*report, "--rows", "--groups", "id").stderr


def test_fit_options(table: Path, tmp_path: Path) -> None:
    out = tmp_path / "m.safetensors"
    arguments = ("--features", "u", "--std", "{}_err", "--no-scale", "-p", "alpha=0.5", "-p", "solver=lbfgs")
    result = run("fit", table, "--out", out, *arguments)
    assert result.exit_code == 0, result.output
    classifier = uncertain.load(out).pipeline_[-1]
    assert (classifier.alpha, classifier.solver, classifier.n_features_in_) == (0.5, "lbfgs", 1)


@pytest.mark.parametrize("ending", [".csv", ".arrow", ".parquet"])
def test_convert_formats(ending: str, table: Path, tmp_path: Path) -> None:
    out = tmp_path / f"out{ending}"
    assert run("convert", table, out).exit_code == 0
    assert uncertain.fit(out).predict(out).to_list() == uncertain.fit(table).predict(table).to_list()


def test_pack_and_unpack_keep_the_data(table: Path, tmp_path: Path) -> None:
    packed, unpacked = tmp_path / "packed.arrow", tmp_path / "unpacked.csv"
    assert run("convert", table, packed, "--pack").exit_code == 0
    frame = pl.read_ipc(packed)
    assert frame.columns == ["id", "label", "mean", "std"]
    assert frame.schema["mean"] == pl.Array(pl.Float64, 2)
    assert run("convert", packed, unpacked, "--unpack").exit_code == 0
    again = pl.read_csv(unpacked)
    assert again.columns == ["id", "label", "x0", "x1", "x0_std", "x1_std"]
    original = pl.read_parquet(table)
    assert again["x1_std"].to_list() == original["v_err"].to_list()
    expected = uncertain.fit(original).predict(original).to_list()
    assert uncertain.fit(frame).predict(frame).to_list() == expected
    assert uncertain.fit(again, features=["x0", "x1"]).predict(again).to_list() == expected


def test_mistakes_are_one_sentence(table: Path, model: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.safetensors"
    broken.write_bytes(model.read_bytes()[:100])
    lists = tmp_path / "lists.parquet"
    pl.DataFrame({"a": [[1.0, 2.0]]}).write_parquet(lists)
    cases = [
        (("fit", tmp_path / "absent.parquet"), "there is no file"),
        (("fit", table, "--target", "lable"), "did you mean 'label'"),
        (("fit", table, "-p", "alhpa=1"), "unknown parameter 'alhpa'"),
        (("fit", table, "-p", "alpha"), "KEY=VALUE"),
        (("fit", table, "-p", "cov=x"), "an option of its own"),
        (("fit", table, "--groups", "patient"), "no column 'patient'"),
        (("fit", table, "--method", "svc"), 'must be one of "auto", "gsu"'),
        (("fit", table, "--out", tmp_path / "no" / "such" / "folder"), "cannot be written"),
        (("predict", tmp_path / "absent.safetensors", table), "there is no file"),
        (("predict", broken, table), "not a usable model file"),
        (("predict", model, table, "--out", tmp_path / "x.txt"), "'.txt'"),
        (("convert", lists, tmp_path / "x.csv"), "CSV has no lists, but column 'a' is one"),
        (("convert", table, tmp_path / "x.csv", "--pack", "--unpack"), "choose one"),
        (("report", model, table, "--folds", 1), "folds=1"),
        (("frobnicate",), "frobnicate"),
    ]
    for arguments, message in cases:
        result = run(*arguments)
        assert result.exit_code == 2, (arguments, result.output)
        assert message in result.stderr, (arguments, result.stderr)
        assert "Traceback" not in result.output
        assert isinstance(result.exception, SystemExit)


def test_python_dash_m_and_exit_code(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "uncertain"]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    shown = subprocess.run([*command, "--version"], capture_output=True, text=True, env=environment)
    assert shown.stdout.strip() == f"uncertain, version {uncertain.__version__}"
    failed = subprocess.run([*command, "fit", "absent.csv"], capture_output=True, text=True, env=environment)
    assert failed.returncode == 2
    assert failed.stderr == "uncertain: there is no file absent.csv\n"
