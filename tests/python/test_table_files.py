"""Files of tables: every ending, separators and comments, several files, folders, addresses."""

import gzip
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import astropy.units as u
import numpy as np
import polars as pl
import pytest
from astropy.coordinates import SkyCoord
from astropy.io import fits
from astropy.table import QTable, Table
from astropy.time import Time
from catalogues import open_files, read_table, write_table
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from polars.testing import assert_frame_equal

import uncertain
from uncertain.exceptions import ColumnError, ParameterError, TableError, UncertainError, UncertainWarning

N = 30
DATA = Path(__file__).parents[3] / "shared" / "data"
FERMI, TESS = DATA / "fermi_3fgl.fit.gz", DATA / "tess_toi.csv.gz"


@pytest.fixture
def frame(rng: np.random.Generator) -> pl.DataFrame:
    kind = np.repeat(["star", "quasar"], N // 2)
    return pl.DataFrame(
        {
            "objid": [f"J{k:04}" for k in range(N)],
            "g": rng.normal(20.0, 1.0, size=N) + 3.0 * (kind == "star"),
            "g_err": rng.uniform(0.01, 0.5, size=N),
            "kind": kind,
        }
    )


WRITTEN = [
    ".parquet", ".pq", ".csv", ".tsv", ".tab", ".txt", ".dat", ".arrow", ".ipc", ".feather", ".json",
    ".ndjson", ".jsonl", ".fits", ".fit", ".fts", ".vot", ".xml", ".ecsv", ".csv.gz", ".tsv.gz", ".txt.gz",
]  # fmt: skip


@pytest.mark.parametrize("ending", WRITTEN)
def test_every_ending_is_written_and_read(ending: str, frame: pl.DataFrame, tmp_path: Path) -> None:
    path = tmp_path / f"table{ending}"
    write_table(frame, path)
    assert_frame_equal(read_table(path), frame)
    reference = uncertain.fit(frame, target="kind", method="gsu")
    spellings = (path, str(path), [path], str(tmp_path / "*"))
    model = uncertain.fit(spellings[WRITTEN.index(ending) % 4], target="kind", method="gsu")
    assert model.columns_ == reference.columns_
    assert model.pipeline_[-1].coef_.tobytes() == reference.pipeline_[-1].coef_.tobytes()
    for named in spellings:
        predicted = model.predict(named)
        assert isinstance(predicted, pl.Series) and predicted.equals(reference.predict(frame))
        assert model.predict_proba(named).equals(reference.predict_proba(frame))


@pytest.mark.parametrize("ending", [".fits", ".vot", ".ecsv", ".parquet", ".json", ".ndjson", ".arrow"])
def test_gaps_and_lists_survive(ending: str, tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {
            "n": pl.Series([1, None, 3]),
            "x": pl.Series([1.5, None, -2.0]),
            "t": ["a", None, "cc"],
            "l": pl.Series([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], dtype=pl.Array(pl.Float64, 2)),
        }
    )
    path = tmp_path / f"t{ending}"
    write_table(frame, path)
    read = read_table(path)
    assert read["l"].to_list() == frame["l"].to_list()
    assert_frame_equal(read.drop("l"), frame.drop("l"))


@pytest.mark.parametrize("ending", [".csv.zst", ".fits.gz"])
def test_compressions_that_are_only_read(ending: str, frame: pl.DataFrame, tmp_path: Path) -> None:
    path = tmp_path / f"t{ending}"
    with pytest.raises(ParameterError, match="is read, not written"):
        write_table(frame, path)
    if ending == ".fits.gz":
        write_table(frame, tmp_path / "t.fits")
        path.write_bytes(gzip.compress((tmp_path / "t.fits").read_bytes()))
    elif "compression" in pl.DataFrame.write_csv.__annotations__:
        frame.write_csv(path, compression="zstd")
    else:
        pytest.skip("this version of Polars writes no zstd")
    assert_frame_equal(read_table(path), frame)


def test_streams_of_arrow(frame: pl.DataFrame, tmp_path: Path) -> None:
    frame.write_ipc_stream(tmp_path / "t.arrow")
    assert_frame_equal(read_table(tmp_path / "t.arrow"), frame)


# Text


TEXTS: dict[str, tuple[str, str]] = {
    "commas": (".csv", "g,g_err,kind\n20.5,0.1,star\n21.0,0.2,quasar\n"),
    "semicolons": (".csv", "g;g_err;kind\n20.5;0.1;star\n21.0;0.2;quasar\n"),
    "decimal commas": (".csv", "g;g_err;kind\n20,5;0,1;star\n21,0;0,2;quasar\n"),
    "tabs": (".txt", "g\tg_err\tkind\n20.5\t0.1\tstar\n21.0\t0.2\tquasar\n"),
    "tsv": (".tsv", "g\tg_err\tkind\n20.5\t0.1\tstar\n21.0\t0.2\tquasar\n"),
    "bars": (".dat", "g|g_err|kind\n20.5|0.1|star\n21.0|0.2|quasar\n"),
    "blanks": (".txt", "   g   g_err  kind\n20.5     0.1  star\n21.0\t0.2 quasar  \n"),
    "comments": (".csv", "# 2026, a list\n#\ng,g_err,kind\n20.5,0.1,star\n# bad night\n21.0,0.2,quasar\n"),
    "comment like a row": (".csv", "# one, two, three\ng,g_err,kind\n20.5,0.1,star\n21.0,0.2,quasar\n"),
    "byte order mark": (".csv", "\ufeffg,g_err,kind\n20.5,0.1,star\n21.0,0.2,quasar\n"),
    "windows": (".csv", "g,g_err,kind\r\n20.5,0.1,star\r\n21.0,0.2,quasar\r\n"),
    "quotes": (".csv", '"g","g_err","kind"\n20.5,0.1,"star"\n21.0,0.2,"quasar"\n'),
}


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("text", TEXTS)
def test_separators_and_comments(text: str, compressed: bool, tmp_path: Path) -> None:
    ending, content = TEXTS[text]
    path = tmp_path / f"t{ending}{'.gz' if compressed else ''}"
    path.write_bytes(gzip.compress(content.encode()) if compressed else content.encode())
    expected = pl.DataFrame({"g": [20.5, 21.0], "g_err": [0.1, 0.2], "kind": ["star", "quasar"]})
    assert_frame_equal(read_table(path), expected)


def test_separators_within_quotes_do_not_count(tmp_path: Path) -> None:
    texts = {
        "t.csv": ('a,b\n1,"x; y; z"\n', [(1, "x; y; z")]),
        "s.csv": ('a;b\n"1,2,3";4\n5;6\n', [("1,2,3", 4), ("5", 6)]),
        "o.csv": ("only\n1\n", [(1,)]),
        "t.txt": ('a b\n1 "x y"\n', [(1, "x y")]),
    }
    for name, (text, rows) in texts.items():
        (tmp_path / name).write_text(text)
        assert read_table(tmp_path / name).rows() == rows


@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".tsv"])
@pytest.mark.parametrize(("line", "n_fields"), [("1,y,2", 3), ("1", 1)])
def test_a_line_of_other_fields_is_refused_with_its_number(
    line: str, n_fields: int, ending: str, tmp_path: Path
) -> None:
    lines = ["# a list", 'a,"b\nb"', *(f"{k},x" for k in range(200)), line, "3,"]
    text = "\n".join(lines).replace(",", "\t" if ending == ".tsv" else ",").encode()
    (tmp_path / f"t{ending}").write_bytes(gzip.compress(text) if ending.endswith("gz") else text)
    match = rf"t\.[a-z.]+: .*line 204 has {n_fields} fields?, the line of names 2"
    with pytest.raises(TableError, match=match):
        read_table(tmp_path / f"t{ending}")


def test_codes_with_leading_zeros_are_labels(tmp_path: Path) -> None:
    for name, rows in {"a": "007,1\n12,2\n", "b": "9,3\n"}.items():
        (tmp_path / f"{name}.csv").write_text(f"code,x\n{rows}")
    paths = [tmp_path / "a.csv", tmp_path / "b.csv"]
    assert read_table(paths).rows() == [("007", 1), ("12", 2), ("9", 3)]


def test_many_lines_of_comments(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("# COLUMN\n" * 500 + "a,b\n1,2.5\n")
    assert read_table(tmp_path / "t.csv").rows() == [(1, 2.5)]


@pytest.mark.skipif(not TESS.exists(), reason="the shared data are not here")
def test_the_archive_of_tess_is_opened_as_it_was_downloaded() -> None:
    table = open_files(TESS)
    assert len(table.names) == 65 and table.n_rows == 7703 and table.notes == ()


def test_words_for_missing_values(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\n1.5,x\nNA,\nnan,y\n--,NULL\n2,z\n")
    read = read_table(tmp_path / "t.csv")
    assert read["a"].to_list() == [1.5, None, None, None, 2.0]
    assert read["b"].to_list() == ["x", None, "y", None, "z"]


def test_numbers_that_become_fractions_late(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a\n" + "1\n" * 500 + "1.5\n")
    assert read_table(tmp_path / "t.csv")["a"].sum() == 501.5


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=30)
@given(
    rows=st.lists(st.tuples(st.floats(-1e300, 1e300), st.integers(-9, 9)), min_size=1),
    separator=st.sampled_from([",", ";", "\t", "|"]),
)
def test_any_numbers_and_separator(rows: list[tuple[float, int]], separator: str, tmp_path: Path) -> None:
    lines = ["# comment", separator.join(["x", "n"]), *(f"{x!r}{separator}{n}" for x, n in rows)]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    read = read_table(tmp_path / "t.csv")
    assert read["x"].to_list() == [x for x, _ in rows] and read["n"].to_list() == [n for _, n in rows]


# Several files


def test_several_files_are_one_table(frame: pl.DataFrame, tmp_path: Path) -> None:
    pieces = [frame[:10], frame[10:20].select(reversed(frame.columns)), frame[20:]]
    for ending in (".parquet", ".csv", ".fits"):
        paths = [tmp_path / f"part{k}{ending}" for k in range(3)]
        for piece, path in zip(pieces, paths, strict=True):
            write_table(piece, path)
        assert_frame_equal(read_table(paths), frame)
        assert_frame_equal(read_table(str(tmp_path / f"part?{ending}")), frame)
        assert_frame_equal(read_table(paths[::-1]), frame[[*range(20, 30), *range(10, 20), *range(10)]])
    with pytest.raises(ParameterError, match=r"make no table: .*part0\.csv and .*part0\.fits"):
        read_table(tmp_path)
    model = uncertain.fit(str(tmp_path / "*.parquet"), target="kind", method="gsu")
    assert model.score(str(tmp_path / "*.csv")) == model.score(frame)


def test_folders(frame: pl.DataFrame, tmp_path: Path) -> None:
    for survey, piece in (("sdss", frame[:15]), ("des", frame[15:])):
        (tmp_path / "data" / f"survey={survey}").mkdir(parents=True)
        piece.write_parquet(tmp_path / "data" / f"survey={survey}" / "0.parquet")
    (tmp_path / "data" / "_SUCCESS").touch()
    (tmp_path / "data" / ".hidden.csv").touch()
    (tmp_path / "data" / "README.md").touch()
    read = read_table(tmp_path / "data")
    assert_frame_equal(read.drop("survey"), pl.concat([frame[15:], frame[:15]]))
    assert read["survey"].to_list() == ["des"] * 15 + ["sdss"] * 15
    model = uncertain.fit(tmp_path / "data", target="kind", groups="objid", method="gsu")
    assert model.columns_.ignored == ("survey",)
    with pytest.raises(FileNotFoundError, match="holds no table"):
        (tmp_path / "empty").mkdir()
        read_table(tmp_path / "empty")
    (tmp_path / "csv" / "k=1").mkdir(parents=True)
    frame.write_csv(tmp_path / "csv" / "k=1" / "0.csv")
    with pytest.raises(ParameterError, match="only of Parquet and Arrow files"):
        read_table(tmp_path / "csv")


def test_files_that_do_not_fit_together(frame: pl.DataFrame, tmp_path: Path) -> None:
    def pair(other: pl.DataFrame) -> list[Path]:
        frame.write_parquet(tmp_path / "a.parquet")
        other.write_parquet(tmp_path / "b.parquet")
        return [tmp_path / "a.parquet", tmp_path / "b.parquet"]

    with pytest.raises(ColumnError, match=r"b\.parquet: there is no column 'g_err', which .*a\.parquet has"):
        read_table(pair(frame.drop("g_err")))
    with pytest.raises(ColumnError, match=r"b\.parquet: there is a column 'z', which .*a\.parquet has not"):
        read_table(pair(frame.with_columns(z=1)))
    with pytest.raises(ColumnError, match=r"b\.parquet: column 'g' is of type String, but Float64 in"):
        read_table(pair(frame.cast({"g": pl.String})))
    assert read_table(pair(frame.cast({"g": pl.Float32, "g_err": pl.Float32}))).schema == {**frame.schema}
    first, second = QTable({"g": [1.0] * u.mag}), QTable({"g": [1.0] * u.mmag})
    for table, name in ((first, "a.fits"), (second, "b.fits")):
        table.write(tmp_path / name)
    with pytest.raises(ColumnError, match=r"b\.fits: column 'g' has the unit mmag, but mag in .*a\.fits"):
        read_table([tmp_path / "a.fits", tmp_path / "b.fits"])


def test_what_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"no file .*absent\.csv"):
        read_table(tmp_path / "absent.csv")
    with pytest.raises(FileNotFoundError, match=r"no file that matches .*\*\.csv"):
        read_table(str(tmp_path / "*.csv"))
    for name in ("t.xlsx", "t", "t.parquet.gz", "t.gz"):
        with pytest.raises(ParameterError, match=name):
            read_table(tmp_path / name)
    with pytest.raises(ParameterError, match=r"unknown format '\.doc'.* endings \.parquet"):
        read_table(tmp_path / "t.doc")


BROKEN = [".parquet", ".arrow", ".json", ".ndjson", ".fits", ".vot", ".ecsv", ".csv"]


@pytest.mark.parametrize("ending", BROKEN)
def test_what_is_not_readable(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"broken{ending}"
    path.write_bytes(b"# nothing\n" if ending == ".csv" else b"\x93nothing that is a table\xff\n")
    with pytest.raises(UncertainError, match=rf"broken\{ending}: "):
        read_table(path)


@pytest.mark.parametrize(
    ("address", "scan"),
    [
        ("s3://bucket/part-*.parquet", "scan_parquet"),
        ("https://host.example/t.csv?version=2", "scan_csv"),
        ("gs://bucket/t.ndjson", "scan_ndjson"),
        ("az://bucket/t.arrow", "scan_ipc"),
    ],
)
def test_addresses_are_handed_to_polars(
    address: str, scan: str, frame: pl.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def noted(path: str, **options: Any) -> pl.LazyFrame:
        asked.append(path)
        return frame.lazy()

    monkeypatch.setattr(pl, scan, noted)
    model = uncertain.fit(address, target="kind", method="gsu")
    assert asked == [address] and model.score(frame) > 0.9
    asked.clear()
    if address.startswith("s3"):
        read_table(Path(address))  # which has lost a slash
        assert asked == [address]


def test_astropys_files_are_read_from_disk_only() -> None:
    with pytest.raises(ParameterError, match=r"s3://bucket/t\.fits: .* download it first"):
        read_table("s3://bucket/t.fits")


# astropy


def test_units_of_files_are_kept(frame: pl.DataFrame, tmp_path: Path) -> None:
    table = QTable(frame.to_dict(as_series=False), units={"g": u.mag, "g_err": u.mag})
    table["g_err"] = table["g_err"].to(u.mmag)
    for name in ("t.fits", "t.vot", "t.ecsv"):
        table.write(tmp_path / name, **({"format": "votable"} if name == "t.vot" else {}))
        opened = open_files(tmp_path / name)
        assert [opened.unit(column) for column in opened.names] == [None, "mag", "mmag", None]
        assert_array_equal(
            np.asarray(opened.numbers(["g_err"], ["mag"])[0]), np.asarray(table["g_err"].value) * 0.001
        )


def test_times_and_coordinates_become_numbers(tmp_path: Path) -> None:
    table = Table({"a": [1.0, 2.0]})
    table["sky"] = SkyCoord([1.0, 2.0], [3.0, 4.0], unit="deg")
    table["t"] = Time([2460000.5, 2460001.5], format="jd")
    table.write(tmp_path / "t.ecsv")
    read = read_table(tmp_path / "t.ecsv")
    assert read["sky.ra"].to_list() == [1.0, 2.0] and read["sky.dec"].to_list() == [3.0, 4.0]
    assert (read["t.jd1"] + read["t.jd2"]).to_list() == [2460000.5, 2460001.5]


def test_of_several_tables_the_first_is_read(frame: pl.DataFrame, tmp_path: Path) -> None:
    path = tmp_path / "t.fits"
    objects = frame.with_columns(kind=pl.col("kind").str.pad_end(9))
    tables = {"OBJECTS": Table(objects.to_dict(as_series=False)), "SOFTWARE": Table({"name": ["a"]})}
    hdus = [fits.BinTableHDU(table, name=name) for name, table in tables.items()]
    fits.HDUList([fits.PrimaryHDU(np.zeros((2, 2))), *hdus]).writeto(path)
    sentence = r"t\.fits: its first table, HDU 1 \(OBJECTS\), was read: .* reads 2 \(SOFTWARE\)"
    with pytest.warns(UncertainWarning, match=sentence):
        model = uncertain.fit(path, target="kind", method="gsu")
    assert list(model.classes_) == ["quasar", "star"]  # without the blanks that fill the field
    for again in (path, [path], Table.read(path, hdu=1)):
        assert list(model.predict(again)) == model.predict(frame).to_list()


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
@pytest.mark.parametrize("signed", [False, True])
def test_two_arms_in_one_column(order: tuple[int, int], signed: bool, tmp_path: Path) -> None:
    lower, upper = np.full(N, 0.1), np.full(N, 0.3)
    lower[3] = np.nan
    arms = np.stack([-lower if signed else lower, upper], axis=1)[:, order if signed else (0, 1)]
    x = np.random.default_rng(0).normal(size=N)
    Table({"x": x, "Unc_x": arms, "kind": (x > 0).astype(int)}).write(tmp_path / "t.fits")
    table = open_files(tmp_path / "t.fits")
    assert "(Unc_x) were read as the upper and lower arms" in table.notes[0]
    assert table.names == ["x", "kind", "x_err1", "x_err2"]
    assert_array_equal(table.series(["x_err1"])[0].to_numpy(), upper)
    assert_array_equal(table.series(["x_err2"])[0].to_numpy(), -lower if signed else lower)


@pytest.mark.skipif(not FERMI.exists(), reason="the shared data are not here")
def test_fermis_catalogue_is_fitted_as_it_was_downloaded() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        features = ["Flux1000", "Flux100_300", "Spectral_Index"]
        model = uncertain.fit(FERMI, target="CLASS1", features=features, method="gsu", probability=False)
    said = "\n".join(str(warning.message) for warning in caught)
    assert "its first table, HDU 1 (LAT_Point_Source_Catalog), was read" in said
    assert "(Unc_Flux100_300, " in said and model.columns_.error_bars["Flux100_300"].kind == "arms"
    assert {"bll", "fsrq", "PSR"} <= {*model.classes_}


def test_without_astropy_the_extra_is_named(
    frame: pl.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "t.fits").touch()
    for module in ("files", "writing"):
        monkeypatch.setattr(f"uncertain._tables.{module}.installed", lambda module: False)
    for act in (lambda: read_table(tmp_path / "t.fits"), lambda: write_table(frame, tmp_path / "t.ecsv")):
        with pytest.raises(UncertainError, match=r"pip install 'uncertain-learn\[astropy\]'"):
            act()


# What errors say


def test_a_missing_column_is_named_with_the_file_and_what_the_model_reads(
    frame: pl.DataFrame, tmp_path: Path
) -> None:
    frame.write_parquet(tmp_path / "train.parquet")
    with pytest.raises(ColumnError, match=r"train\.parquet: there is no column 'kin'; did you mean 'kind'"):
        uncertain.fit(tmp_path / "train.parquet", target="kin", method="gsu")
    model = uncertain.fit(tmp_path / "train.parquet", target="kind", method="gsu")
    frame.drop("g_err").write_csv(tmp_path / "new.csv")
    ask: Callable[[Any], Any]
    for ask in (model.predict, model.predict_proba, model.gaussians):
        with pytest.raises(ColumnError, match=r"new\.csv: .* no column 'g_err'; .*the model reads g, g_err"):
            ask(tmp_path / "new.csv")
    with pytest.raises(ColumnError, match=r"^there is no column 'g_err'; .*the model reads g, g_err"):
        model.predict(frame.drop("g_err"))


def test_endings_have_readers() -> None:
    with pytest.raises(ParameterError, match="one of the endings") as caught:
        read_table("table.unknown")
    endings = str(caught.value).rstrip(".").partition("one of the endings ")[2].split(", ")
    assert endings == [*(ending for ending in WRITTEN if not ending.endswith(".gz")), ".tbl", ".mrt"]
    with pytest.raises(ParameterError, match="are read, not written"):
        write_table(pl.DataFrame({"a": [1]}), Path("table.tbl"))


def test_the_command_line_reads_and_writes_them_all(frame: pl.DataFrame, tmp_path: Path) -> None:
    from click.testing import CliRunner

    from uncertain.cli import main

    model, out = tmp_path / "m.safetensors", tmp_path / "out.ecsv"
    write_table(frame, tmp_path / "t.fits")
    for arguments in (
        ("fit", tmp_path / "t.fits", "--method", "gsu", "--target", "kind", "--out", model),
        ("predict", model, tmp_path / "t.fits", "--append", "--out", out),
        ("evaluate", model, out),
    ):
        result = CliRunner().invoke(main, [str(argument) for argument in arguments])
        assert result.exit_code == 0, result.output
    expected = uncertain.fit(frame, target="kind", method="gsu").predict(frame)
    assert_frame_equal(read_table(out).select(frame.columns), frame)
    assert read_table(out)["prediction"].to_list() == expected.to_list()


ROWS = [(1.25, 0.5, "QSO"), (2.5, None, "STAR"), (3.75, 0.25, "QSO")]
NAMES = ["Vmag", "e_Vmag", "Cl"]


IPAC = (
    "\\fixlen = T\n\\ a comment\n"
    "|   Vmag|  e_Vmag|  Cl|\n| double|  double|char|\n|    mag|     mag|    |\n|   null|    null|null|\n"
) + "".join(f" {v:7.3f} {'null' if e is None else f'{e:.3f}':>8} {c:>4} \n" for v, e, c in ROWS)
MRT = (
    "Title: A table\nAuthors: Nobody\nTable: 1\n"
    + "=" * 80
    + "\nByte-by-byte Description of file: t.txt\n"
    + "-" * 80
    + "\n   Bytes Format Units Label   Explanations\n"
    + "-" * 80
    + "\n"
    "   1-  6 F6.3   mag   Vmag    Magnitude\n   8- 12 F5.3   mag   e_Vmag  ? Its error\n"
    "  14- 17 A4     ---   Cl      Class\n" + "-" * 80 + "\n"
) + "".join(f"{v:6.3f} {'' if e is None else f'{e:.3f}':5} {c:4}\n" for v, e, c in ROWS)
ARCHIVES = {
    "wise.tbl": IPAC, "ipac.txt": IPAC, "t.mrt": MRT, "cds.dat": MRT,
}  # fmt: skip


@pytest.mark.parametrize("name", ARCHIVES)
def test_text_as_archives_write_it(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(ARCHIVES[name])
    table = open_files(tmp_path / name)
    assert table.frame(NAMES).rows() == ROWS
    assert [*table.units(["Vmag", "e_Vmag"]).values()] in ([u.mag, u.mag], ["mag", "mag"])


@pytest.mark.filterwarnings("ignore:.*columns of two numbers")
def test_vectors_of_fits_tables_are_features(tmp_path: Path, rng: np.random.Generator) -> None:
    band, band_err = rng.normal(size=(N, 3)), rng.uniform(0.1, 0.2, (N, 3))
    arms = np.stack([-band_err, 1.05 * band_err], axis=-1)
    spectrum = rng.normal(size=(N, 65))
    kind = np.repeat(["star", "quasar"], N // 2)
    own = {"index": rng.normal(size=N), "Unc_index": np.full(N, 0.1), "kind": kind}
    for errors, columns in ((band_err, ["Unc_Band"]), (arms, ["lower"])):
        path = tmp_path / f"{columns[0]}.fits"
        Table({"Band": band, "Unc_Band": errors, "S": spectrum, "S_err": spectrum**2, **own}).write(path)
        with pytest.warns(
            UncertainWarning, match=r"numbers with error bars \(Band\) were read as columns x\[0\], x\[1\]"
        ):
            model = uncertain.fit(path, target="kind", method="gsu")
        assert model.columns_.features == ("Band[0]", "Band[1]", "Band[2]", "index")
        std = np.sqrt(model.gaussians(path).covariances()[:, 0, 0])
        if errors is band_err:
            assert np.allclose(std, band_err[:, 0])
        else:
            assert np.all((std > band_err[:, 0]) & (std < 1.05 * band_err[:, 0]))
        with pytest.warns(UncertainWarning, match="numbers with error bars"):  # lists, when asked
            model = uncertain.fit(path, target="kind", mean="S", std="S_err", method="gsu")
        assert read_table(path).columns[:2] == ["Band", "S"] if errors is arms else ["Band", "Unc_Band"]
        assert model.columns_.mean == "S"
