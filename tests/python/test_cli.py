"""The command line, end to end on files; every mistake is one sentence and exit code 2."""

import gzip
import inspect
import io
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import warnings
from functools import partial
from pathlib import Path
from typing import Any, get_args, get_type_hints

import children
import click
import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner, Result
from pytest import importorskip
from test_fit import N, scalars

import uncertain
from uncertain._model.fit import FitOptions
from uncertain.cli import main


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(a) for a in arguments])


GSU = ("--method", "gsu")
"""One exact fit, where no choice is wanted."""


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "table.parquet"
    pl.DataFrame(scalars()).write_parquet(path)
    return path


@pytest.fixture
def model(table: Path) -> Path:
    path = table.with_name("model.safetensors")
    result = run("fit", *GSU, table, "--out", path)
    assert result.exit_code == 0, result.output
    assert "u (u_err), v (v_err)" in result.output
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
    pl.read_parquet(table).clear().write_csv(tmp_path / "empty.csv")
    refused = run("evaluate", model, tmp_path / "empty.csv")
    assert refused.exit_code == 2 and "the table has no rows" in refused.output

    text = run("report", model, table, "--folds", 3, "--repeats", 1)
    assert "Held-out scores, 3 folds, 60 rows" in text.output
    options = ("--scoring", "log_loss", "--max-seconds", 100, "--json")
    as_json = json.loads(run("report", model, table, "--folds", 3, "--repeats", 1, *options).stdout)
    assert as_json["n_rows"] == N and as_json["scoring"] == "log_loss"


def test_groups(tmp_path: Path) -> None:
    path, model = tmp_path / "visits.parquet", tmp_path / "m.safetensors"
    label = ["low" if i // 3 % 2 else "high" for i in range(N)]
    pl.DataFrame(scalars() | {"patient": [i // 3 for i in range(N)], "label": label}).write_parquet(path)
    fitted = run("fit", *GSU, path, "--groups", "patient", "--out", model)
    assert "groups (patient)" in fitted.output
    report = ("report", model, path, "--folds", 3, "--repeats", 1)
    assert "rows of one patient kept together (20 groups)" in run(*report).output
    assert "rows of one id kept together (60 groups)" in run(*report, "--groups", "id").output
    assert "kept together" not in run(*report, "--rows").output
    assert json.loads(run(*report, "--json").output)["n_groups"] == 20
    assert "choose one" in run(*report, "--rows", "--groups", "id").stderr


def test_fit_options(table: Path, tmp_path: Path) -> None:
    out = tmp_path / "m.safetensors"
    arguments = ("--features", "u", "--std", "{}_err", "--no-scale", "-p", "alpha=0.5", "-p", "solver=lbfgs")
    result = run("fit", *GSU, table, "--out", out, *arguments)
    assert result.exit_code == 0, result.output
    classifier = uncertain.load(out).pipeline_[-1]
    assert (classifier.alpha, classifier.solver, classifier.n_features_in_) == (0.5, "lbfgs", 1)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("--std {}_unc", {"std": "{}_unc"}),
        ("--std u=du --std v=dv", {"std": {"u": "du", "v": "dv"}}),
        ("--std u=up,low --std v=dv", {"std": {"u": ("up", "low"), "v": "dv"}}),
        ("--features u,v --var du,dv", {"features": ["u", "v"], "var": ["du", "dv"]}),
        ("--bounds {}_lo,{}_hi", {"bounds": ["{}_lo", "{}_hi"]}),
        ("--bounds u=lo,hi", {"bounds": {"u": ("lo", "hi")}}),
        ("--corr {}_{}_rho", {"corr": "{}_{}_rho"}),
        ("--cov u,v=uv --cov v,w=vw", {"cov": {("u", "v"): "uv", ("v", "w"): "vw"}}),
        ("--exact all", {"exact": "all"}),
        ("--exact none", {"exact": []}),
        (
            "--exact airmass,seeing --categorical band",
            {"exact": ["airmass", "seeing"], "categorical": ["band"]},
        ),
        ("--mean position --factor F", {"mean": "position", "factor": "F"}),
        ("--handle-unknown ignore", {"handle_unknown": "ignore"}),
        ("--draws z --arms shape", {"draws": ["z"], "arms": "shape"}),
        ("--limits l_{}", {"limits": "l_{}"}),
        ("--limits u=l_u --target-std y_err", {"limits": {"u": "l_u"}, "target_std": "y_err"}),
        ("--effort fast --noise 1 4", {"effort": "fast", "noise": (1.0, 4.0)}),
        ("--weight w --groups patient", {"sample_weight": "w", "groups": "patient"}),
    ],
)
def test_columns_reach_python_as_they_were_meant(
    arguments: str, expected: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    given: dict[str, Any] = {}

    def stop(*_: object, **options: Any) -> None:
        given.update(options)
        raise uncertain.UncertainError("far enough")

    usual = inspect.signature(uncertain.fit).parameters
    monkeypatch.setattr(uncertain, "fit", stop)
    assert "far enough" in run("fit", "t.csv", *arguments.split()).stderr
    assert {name: given[name] for name in expected} == expected
    rest = usual.keys() & given.keys() - expected.keys()
    assert all(given[name] == usual[name].default for name in rest)


@pytest.mark.parametrize("ending", [".csv", ".arrow", ".parquet"])
def test_convert_formats(ending: str, table: Path, tmp_path: Path) -> None:
    out = tmp_path / f"out{ending}"
    assert run("convert", table, out).exit_code == 0
    answers = [uncertain.fit(path, method="gsu").predict(path).to_list() for path in (out, table)]
    assert answers[0] == answers[1]


def test_mistakes_are_one_sentence(table: Path, model: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.safetensors"
    broken.write_bytes(model.read_bytes()[:100])
    lists = tmp_path / "lists.parquet"
    pl.DataFrame({"a": [[1.0, 2.0]]}).write_parquet(lists)
    cases = [
        (("fit", tmp_path / "absent.parquet"), "there is no file"),
        (("fit", table, "--target", "lable"), "did you mean 'label'"),
        (("fit", table, "-p", "alhpa=1"), "unknown option 'alhpa'"),
        (("fit", table, "-p", "alpha"), "KEY=VALUE"),
        (("fit", table, "-p", "cov=x"), "has an option: pass"),
        (("fit", *GSU, table, "-p", "alpha=abc"), "alpha = 'abc': must be a number > 0, or \"auto\""),
        (("fit", table, "-p", "n_jobs=abc"), "n_jobs = 'abc': must be an integer"),
        (("fit", table, "-p", "sample_weight=w"), "has an option: pass"),
        (("fit", table, "--weight", "w"), "no column 'w'"),
        (("fit", table, "-p", "callback=1"), "here it is --progress"),
        (("fit", table, "--features", "u,,v"), "names of columns with commas"),
        (("fit", table, "--meaning", "noise"), "'noise' is not one of 'auto', 'spread', 'measurement'"),
        (("fit", table, "--std", "u=u_err", "--std", "v_err"), "FEATURE=COLUMN every time"),
        (("fit",), "Missing argument 'TABLE...'"),
        (("fit", "-"), "standard input is empty"),
        (("predict", model, table, "--keep", "idd"), "did you mean 'id'"),
        (("predict", model, table, "--format", "xml"), "'xml' is not one of 'csv', 'tsv'"),
        (("fit", table, "--groups", "patient"), "no column 'patient'"),
        (("fit", table, "--method", "svc"), "'svc' is not one of 'auto', 'gsu'"),
        (("fit", *GSU, table, "--out", tmp_path / "no" / "such" / "folder"), "cannot be written"),
        (("predict", tmp_path / "absent.safetensors", table), "there is no file"),
        (("predict", broken, table), "not a usable model file"),
        (("predict", model, table, "--out", tmp_path / "x.doc"), "'.doc'"),
        (("convert", lists, tmp_path / "x.csv"), "CSV has no lists, but column 'a' is one"),
        (("report", model, table, "--folds", 1), "folds=1: must be"),
        (("report", model, table, "--scoring", "acuracy"), "acuracy"),
        (("frobnicate",), "no such command 'frobnicate'"),
        (("fitt",), "did you mean 'fit'?"),
        (("Check-error",), "did you mean 'check-errors'?"),
    ]
    for arguments, message in cases:
        result = run(*arguments)
        assert result.exit_code == 2, (arguments, result.output)
        assert message in result.stderr, (arguments, result.stderr)
        assert result.stderr.startswith("uncertain: ") and result.stderr.count("\n") == 1
        assert "Traceback" not in result.output
        assert isinstance(result.exception, SystemExit)


ENVIRONMENT = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
COMMAND = [sys.executable, "-m", "uncertain"]


DASH_M = "import runpy; runpy.run_module('uncertain', run_name='__main__', alter_sys=True)"


def test_python_dash_m_and_exit_code() -> None:
    shown = subprocess.run([*COMMAND, "--version"], capture_output=True, text=True, env=ENVIRONMENT)
    assert shown.stdout.strip() == f"uncertain, version {uncertain.__version__}"
    failed = children.run(DASH_M, "fit", "absent.csv")
    assert failed.returncode == 2
    assert failed.stderr == "uncertain: there is no file absent.csv\n"


def test_help_has_examples_and_loads_nothing_slow() -> None:
    for command in main.commands:
        result = run(command, "--help")
        assert result.exit_code == 0
        assert re.search(rf"Examples:\n +(\S+ .*\| )?uncertain {command}", result.output), command
    assert "130  interrupted" in run("--help").output
    assert run().exit_code == 2 and "Commands:" in run().stderr
    slow = ("numpy", "sklearn", "polars")
    for arguments in (["--version"], ["--help"], ["fit", "--help"], ["fit", "--method", "svc", "x.csv"]):
        code = (
            "import sys\nfrom uncertain.cli import main\n"
            f"try: main({arguments})\nexcept SystemExit: print([m for m in {slow} if m in sys.modules])"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=ENVIRONMENT)
        assert done.stdout.splitlines()[-1] == "[]", done


def test_choices_are_those_of_python() -> None:
    annotations = get_type_hints(uncertain.fit) | get_type_hints(FitOptions)
    for name in ("method", "meaning", "task", "on_missing", "handle_unknown", "effort"):
        (option,) = [o for o in main.commands["fit"].params if o.name == name]
        assert isinstance(option.type, click.Choice) and set(get_args(annotations[name])) == {
            *option.type.choices
        }
        if (parameter := inspect.signature(uncertain.fit).parameters.get(name)) is not None:
            assert option.default == parameter.default


@pytest.mark.parametrize("kind", ["csv", "tsv", "parquet", "arrow", "stream", "ecsv", "csv.gz"])
def test_standard_input_and_output(kind: str, table: Path, model: Path) -> None:
    frame, path = pl.read_parquet(table), table.with_suffix(f".{kind}")
    writers: dict[str, Any] = {
        "csv": frame.write_csv,
        "tsv": partial(frame.write_csv, separator="\t"),
        "parquet": frame.write_parquet,
        "arrow": frame.write_ipc,
        "stream": frame.write_ipc_stream,
        "ecsv": lambda path: importorskip("astropy.table").Table(frame.to_dict(as_series=False)).write(path),
        "csv.gz": lambda path: path.write_bytes(gzip.compress(frame.write_csv().encode())),
    }
    writers[kind](path)
    read = {"csv": pl.read_csv, "tsv": partial(pl.read_csv, separator="\t"), "parquet": pl.read_parquet}
    written = {"stream": "arrow", "ecsv": "csv", "csv.gz": "csv"}.get(kind, kind)
    arguments = ["predict", str(model), "-", "--format", written, "--append"]
    result = CliRunner().invoke(main, arguments, input=path.read_bytes())
    assert result.exit_code == 0, result.stderr
    answer = read.get(written, pl.read_ipc)(io.BytesIO(result.stdout_bytes))
    assert answer.columns == [*frame.columns, "prediction", "p_high", "p_low"]
    assert answer["prediction"].to_list() == uncertain.load(model).predict(frame).to_list()


def test_several_files(table: Path, model: Path, tmp_path: Path) -> None:
    frame = pl.read_parquet(table)
    parts = [tmp_path / "part1.csv", tmp_path / "part2.csv"]
    frame[:20].write_csv(parts[0])
    frame[20:].write_csv(parts[1])
    together = tmp_path / "m.safetensors"
    assert run("fit", *GSU, *parts, "--out", together, "--progress").stderr.count("and 1 more")
    whole = uncertain.load(model).predict(table).to_list()
    by_input = CliRunner().invoke(
        main, ["fit", *GSU, "-", "--out", str(tmp_path / "i")], input=frame.write_csv()
    )
    assert by_input.exit_code == 0 and uncertain.load(tmp_path / "i").predict(table).to_list() == whole
    assert uncertain.load(together).predict(table).to_list() == whole
    for given in (parts, [tmp_path / "part*.csv"]):
        predicted = pl.read_csv(io.StringIO(run("predict", model, *given).stdout))
        assert predicted["prediction"].to_list() == whole
    mixed = run("predict", model, "-", *parts)
    assert mixed.exit_code == 2 and "one table" in mixed.stderr
    broken = CliRunner().invoke(main, ["fit", "-"], input=b"PAR1 and no more")
    assert broken.exit_code == 2 and "standard input, read as parquet" in broken.stderr
    assert broken.stderr.count("\n") == 1


def test_kept_columns(table: Path, model: Path, tmp_path: Path) -> None:
    frame = pl.read_parquet(table)
    kept = pl.read_csv(io.StringIO(run("predict", model, table, "--keep", "id,u").stdout))
    assert kept.columns == ["id", "u", "prediction", "p_high", "p_low"]
    assert kept["id"].to_list() == frame["id"].to_list()
    both = run("predict", model, table, "--keep", "id", "--append")
    assert both.exit_code == 2 and "choose one" in both.stderr
    # The target of a regression has the name of its prediction, which then gets another one.
    numbers = tmp_path / "numbers.parquet"
    frame.with_columns(label=(pl.col("u") * 0.7).sin()).write_parquet(numbers)
    regression = tmp_path / "regression.safetensors"
    assert run("fit", *GSU, numbers, "--out", regression).exit_code == 0
    appended = pl.read_csv(io.StringIO(run("predict", regression, numbers, "--append").stdout))
    predicted = uncertain.load(regression).predict(numbers).to_list()
    assert appended.columns[: frame.width + 1] == [*frame.columns, "predicted_label"]
    assert appended["predicted_label"].to_list() == predicted
    clash = tmp_path / "clash.parquet"
    frame.with_columns(prediction=1, predicted_prediction=2).write_parquet(clash)
    assert "'predicted_prediction' is in the table already" in run("predict", model, clash, "--append").stderr


def test_progress(table: Path, model: Path, tmp_path: Path) -> None:
    arguments = ("fit", *GSU, table, "--out", tmp_path / "m.safetensors")
    assert run(*arguments).stderr == ""  # no terminal
    assert f"fitting {table}: 00:" in run(*arguments, "--progress").stderr
    assert "predicting: 00:" in run("predict", model, table, "--progress").stderr


def test_nobody_reads(table: Path, model: Path) -> None:
    alone = "import os; reader, writer = os.pipe(); os.close(reader); os.dup2(writer, 1); "
    done = children.run(alone + DASH_M, "predict", model, table)
    assert (done.returncode, done.stderr) == (141, "")


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT")
def test_interrupted() -> None:
    command = [*COMMAND, "fit", "-", "--progress"]  # waits for its standard input
    streams = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    process = subprocess.Popen(command, **streams, text=True, env=ENVIRONMENT)
    assert process.stderr is not None
    assert process.stderr.read(25).strip() == "fitting standard input:"
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=240)
    assert process.returncode == 130
    assert said.endswith("uncertain: interrupted\n")


def test_an_error_of_the_program_keeps_its_traceback(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("unexpected")

    monkeypatch.setattr(uncertain, "fit", broken)
    result = run("fit", *GSU, table)
    assert result.exit_code == 1
    assert isinstance(result.exception, RuntimeError)
    assert "please report it" in result.exception.__notes__[0]


def test_completion() -> None:
    asked = ENVIRONMENT | {"_UNCERTAIN_COMPLETE": "bash_complete", "COMP_WORDS": "uncertain fit --me"}
    asked |= {"COMP_CWORD": "2"}
    code = "import sys; sys.argv = ['uncertain']; from uncertain.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=asked)
    assert {"plain,--meaning", "plain,--method", "plain,--mean"} <= set(done.stdout.split())


@pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX shell")
@pytest.mark.usefixtures("few_trees")
def test_the_commands_of_the_guide_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = Path(__file__).resolve().parents[2] / "docs" / "reference" / "command-line.md"
    lines = page.read_text(encoding="utf-8").replace("|\n>", "|")
    commands = re.findall(r"^\$ (.*uncertain .*)$", lines, re.MULTILINE)
    assert len(commands) > 8
    names = {"u": "flux", "u_err": "flux_err", "v": "color", "v_err": "color_err", "label": "kind"}
    columns = {new: scalars()[name] for name, new in names.items()}
    frame = pl.DataFrame({"objid": [f"J{k}" for k in range(N)]} | columns)
    for name in ("catalogue.csv", "new.csv"):
        frame.write_csv(tmp_path / name)
    monkeypatch.chdir(tmp_path)
    for command in commands:
        if "|" in command:
            script = f'uncertain() {{ {sys.executable} -m uncertain "$@"; }}\n{command}'
            done = subprocess.run(["sh", "-c", script], capture_output=True, text=True, env=ENVIRONMENT)
            assert done.returncode == 0 and done.stderr == "", (command, done.stderr)
        else:  # an interpreter less
            command, _, target = command.partition(" > ")
            result = run(*shlex.split(command)[1:])
            assert result.exit_code == 0 and result.stderr == "", (command, result.stderr)
            if target:
                Path(target).write_bytes(result.stdout_bytes)
    assert pl.read_ipc(tmp_path / "predictions.arrow").height == N


def test_warnings_and_errors_of_a_call(table: Path, tmp_path: Path) -> None:
    frame = pl.read_parquet(table).with_columns(airmass=pl.col("u"), gap=pl.col("u"))
    wide, out = tmp_path / "wide.parquet", tmp_path / "m.safetensors"
    frame.write_parquet(wide)
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        said = run("fit", *GSU, wide, "--out", out).stderr
    assert said.startswith("uncertain: warning: left out") and "exact=['airmass', 'gap']" in said
    frame.with_columns(u=pl.when(pl.col("u") > 0).then(pl.col("u"))).write_parquet(wide)
    strict = run("fit", *GSU, wide, "--exact", "none", "--on-missing", "error", "--out", out)
    assert 'on_missing="auto" takes it' in strict.stderr
    assert "unknown    " in run("fit", *GSU, wide, "--exact", "none", "--out", out).stdout
    missing = tmp_path / "no" / "x.csv"
    assert run("predict", table, table).stderr.startswith(f"uncertain: {table}: not a usable model file")
    run("fit", *GSU, table, "--out", out)
    said = run("predict", out, table, "--out", missing).stderr
    assert said == f"uncertain: {missing}: No such file or directory\n"


def test_predictions_with_a_coverage(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(300, 2))
    targets = {"kind": np.where(x[:, 0] + x[:, 1] > 0, "u", "v"), "y": 2 * x[:, 0] + 0.1 * x[:, 1]}
    table = pl.DataFrame({"a": x[:, 0], "a_err": [0.3] * 300} | targets)
    table.write_csv(tmp_path / "t.csv")
    for target, method in (("kind", "discriminant"), ("y", "mixture")):
        model = uncertain.fit(table, target, method=method, features=["a"])
        model.save(tmp_path / "m.safetensors")
        call = ("predict", tmp_path / "m.safetensors", tmp_path / "t.csv", "--coverage", 0.9)
        done = run(*call, "-o", tmp_path / "p.csv")
        assert done.exit_code == 0, done.output
        written = pl.read_csv(tmp_path / "p.csv")
        if target == "kind":
            sets = model.predict_set(table, coverage=0.9).to_list()
            assert written["kind_set"].to_list() == ["|".join(labels) for labels in sets]
            assert any(len(labels) == 2 for labels in sets)
        else:
            expected = model.predict_interval(table, coverage=0.9)
            np.testing.assert_allclose(written["y_lower"], expected["y_lower"])
            np.testing.assert_allclose(written["y_upper"], expected["y_upper"])


def test_error_bars_are_checked(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    star = np.repeat(np.arange(200), 3)
    truth = rng.normal(size=200)[star]
    table = pl.DataFrame({"a": truth + 0.2 * rng.normal(size=600), "a_err": [0.1] * 600, "star": star})
    table.write_csv(tmp_path / "t.csv")
    done = run("check-errors", tmp_path / "t.csv", "--groups", "star")
    assert done.exit_code == 0, done.output
    assert str(uncertain.check_errors(table, groups="star")) in done.output
    assert run("check-errors", tmp_path / "t.csv", "--exact", "star").exit_code == 2
