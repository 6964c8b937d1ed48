"""The scripts of benches/papers run: their --quick modes, on little data, without writing a page."""

from __future__ import annotations

import importlib
import importlib.util
import re
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = ROOT / "docs" / "papers"
DATA = ROOT.parent / "shared" / "data"

sys.path.insert(0, str(ROOT / "benches" / "papers"))


def before_and_after(script: str, *arguments: str) -> tuple[str, dict[str, bytes], dict[str, bytes]]:
    """What a quick run reports, and the pages before and after it."""
    before = {path.name: path.read_bytes() for path in PAGES.iterdir()}
    report = importlib.import_module(script).main(["--quick", *arguments])
    return report, before, {path.name: path.read_bytes() for path in PAGES.iterdir()}


@pytest.mark.parametrize(
    ("script", "data", "rows"),
    [
        ("probabilistic_kernel", "", 5 + 11 + 7 + 7),
        ("robust_toys", "", 7 + 9),
        ("huber_crowd", "", 5),
        ("huber_flipped", "", 10),
        ("huber_labels", ".", 1 + 1),
        ("huber_uci", ".", 3 * 8 + 4),
        ("huber_uci_why", ".", 2),
        ("huber_speed", "", 12 + 6),
        ("huber_linear", "", 4 + 4 + 5 + 17),
        ("kepler", ".", 1 + 3 * 20 + 7 + 2),
        ("kepler_seeds", ".", 3),
        ("gain_map", "", 3 * 5 + 2 * 5 * 2 + 5 * 3),
        ("model_costs", "", 15),
        ("huber_accuracy", "", 2),
        ("script", "data.parquet", "rows"),
        ("gsu_toy", "", 2 + 3 + 3 + 2 * 5 + 2),
        ("gsu_standins", "", 7 + 9),
        ("gsu_standins_printed", "", 5 + 9),
        ("gsu_mnist", "mnist.parquet", 5 + 5 + 4 + 2 + 1),
        ("gsu_mnist_why", "mnist.parquet", 1 + 3),
        ("gsu_mnist_alphas", "mnist.parquet", 3 * 7 + 15),
        ("gsu_mnist_sizes", "mnist.parquet", 2),
        ("gsu_mnist_more", "mnist.parquet", 7),
        ("gsu_wdbc", "wdbc.parquet", 4 + 2 + 3),
        ("gsu_tv", "tv_news_commercials_bbc_ndtv.parquet", 4 + 3 + 2 + 8 + 10),
        ("gsu_tv_why", "tv_news_commercials_bbc_ndtv.parquet", 1 + 2 * 3 + 1 + 6 + 1),
    ],
)
@pytest.mark.usefixtures("few_trees")
def test_quick(script: str, data: str, rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    if data and not (DATA / data).exists():
        pytest.skip("the data sets are not part of the repository")
    if script in ("huber_speed", "huber_linear") and importlib.util.find_spec("cvxpy") is None:
        pytest.skip("cvxpy is not a dependency of the tests")
    pytest.importorskip("matplotlib")
    if script in (
        "gain_map",
        "gsu_standins",
        "gsu_standins_printed",
    ):  # two penalties, where four are tried
        monkeypatch.setattr(f"{script}.ALPHAS", (1e-2, 1e-1))
    report, before, after = before_and_after(script, *(["--data", str(DATA)] if data else []))
    lines = [line for line in report.splitlines() if line.startswith("|")]
    tables = sum(line.startswith("| ---") for line in lines)
    assert len(lines) == rows + 2 * tables
    assert not re.search(r"\bnan\b", report)
    assert before == after


def test_refinements_of_wrong_labels_drop_them_all() -> None:
    pytest.importorskip("matplotlib")
    report, before, after = before_and_after("huber_refinements")
    spoiled, clean = report.splitlines()
    assert ", 30 of them wrong" in spoiled and ", 0 of them wrong" in clean
    assert before == after


def test_missing_data_says_where_it_comes_from(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"ida_breast_cancer\.parquet is not there.*Raetsch"):
        importlib.import_module("huber_labels").main(["--quick", "--data", str(tmp_path)])


def test_kepler_rows_are_what_the_catalogue_says() -> None:
    if not DATA.exists():
        pytest.skip("the data sets are not part of the repository")
    catalogue = importlib.import_module("kepler_catalogue")
    rows = catalogue.read(DATA)
    frame = pl.read_parquet(DATA / "kepler_koi_cumulative.parquet")
    frame = frame.filter(pl.col("koi_disposition") != "CANDIDATE")
    names = [f"koi_{q}{end}" for q in catalogue.QUANTITIES for end in ("", "_err1", "_err2")]
    frame = frame.drop_nulls(names)
    assert len(rows) == len(frame) and rows.planet.sum() == (frame["koi_disposition"] == "CONFIRMED").sum()
    # log of the period, and the error of a logarithm: half the distance of the arms, relative to the value.
    period, above, below = (frame[f"koi_period{end}"].to_numpy() for end in ("", "_err1", "_err2"))
    np.testing.assert_allclose(rows.X.means[:, 0], np.log(period))
    variance = ((above - below) / 2 / period) ** 2
    np.testing.assert_allclose(rows.X.covariances()[:, 0, 0], variance, atol=1e-15)
    # Planet and star radius have the error of the star in common.
    S, planet, star = rows.X.covariances(), *(catalogue.QUANTITIES.index(q) for q in ("prad", "srad"))
    np.testing.assert_allclose(S[:, planet, star], S[:, star, star])
    assert np.linalg.eigvalsh(S).min() > -1e-12
    # Inflated: the noise that is added is as large as the error bars grow.
    more = rows.inflated(3.0, np.random.default_rng(0))
    np.testing.assert_allclose(more.X.covariances(), 9.0 * S)
    known = S[:, 0, 0] > 0
    z = (more.X.means - rows.X.means)[known, 0] / np.sqrt(8.0 * S[known, 0, 0])
    assert z.std() == pytest.approx(1.0, abs=0.03)
    # A star is in one part only.
    part = importlib.import_module("kepler_models").some_stars(rows, 500, 0)
    assert 400 < len(part) < 600
    assert len(part) == np.isin(rows.star, part.star).sum()


def test_tables_go_between_their_comments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = importlib.import_module("page")
    monkeypatch.setattr(page, "PAGES", tmp_path)
    text = "before <!-- a -->\nold\n<!-- end --> between <!-- b -->\n<!-- end --> after"
    (tmp_path / "x.md").write_text(text, encoding="utf-8")
    page.update("x.md", {"b": page.table(["name", "number"], [["p", "1"]])}, quick=False)
    new = (tmp_path / "x.md").read_text(encoding="utf-8")
    assert "old" in new
    assert "<!-- b -->\n\n| name | number |\n| --- | ---: |\n| p | 1 |\n\n<!-- end --> after" in new


def test_every_table_of_the_pages_is_filled() -> None:
    for path in PAGES.glob("*.md"):
        for key, content in re.findall(
            r"<!-- (?!end)(\S+) -->(.*?)<!-- end -->", path.read_text(), re.DOTALL
        ):
            assert content.count("\n|") > 2, (path.name, key)


def test_every_starred_difference_is_accounted_for() -> None:
    """differences.md names each table with stars, and how many they are."""
    stars = {}
    for path in PAGES.glob("*.md"):
        tables = re.findall(r"<!-- (?!end)(\S+) -->(.*?)<!-- end -->", path.read_text(), re.DOTALL)
        stars |= {(path.name, key): content.count(" * |") for key, content in tables}
    listed = re.findall(
        r"^\| \[`(\S+)`\]\((\S+)\) \| (\d+) \|", (PAGES / "differences.md").read_text(), re.MULTILINE
    )
    assert {(page, key): int(count) for key, page, count in listed} == {k: n for k, n in stars.items() if n}
    # What an experiment is said to have tested is a table of the same page.
    text = (PAGES / "differences.md").read_text()
    known = {key for _, key in stars}
    assert set(re.findall(r"`([a-z-]+)`", text)) <= known
