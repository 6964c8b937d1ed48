"""The programs of papers/ run: their --quick modes, on little data."""

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
DATA = ROOT.parent / "shared" / "data"

sys.path.insert(0, str(ROOT / "papers"))


@pytest.mark.parametrize(
    ("script", "data"),
    [
        *(
            (name, "")
            for name in ("probabilistic_kernel", "robust_toys", "huber_speed", "huber_linear", "gain_map")
        ),
        *((name, "") for name in ("model_costs", "gsu_toy", "huber_refinements")),
        *((name, ".") for name in ("huber_labels", "huber_uci", "huber_uci_why", "kepler")),
        ("gsu_mnist", "mnist.parquet"),
        ("gsu_wdbc", "wdbc.parquet"),
        ("gsu_tv", "tv_news_commercials_bbc_ndtv.parquet"),
    ],
)
@pytest.mark.usefixtures("few_trees")
def test_quick(script: str, data: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if data and not (DATA / data).exists():
        pytest.skip("the data sets are not part of the repository")
    if script in ("huber_speed", "huber_linear") and importlib.util.find_spec("cvxpy") is None:
        pytest.skip("cvxpy is not a dependency of the tests")
    pytest.importorskip("matplotlib")
    program = importlib.import_module(script)
    if script == "gain_map":  # two penalties, where four are tried
        monkeypatch.setattr(program, "ALPHAS", (1e-2, 1e-1))
    report = program.main(["--quick", *(["--data", str(DATA)] if data else [])])
    assert re.search(r", 30 of them wrong|^\| --- \|.*\n\| \w", report, re.MULTILINE)
    assert not re.search(r"\bnan\b", report)


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
