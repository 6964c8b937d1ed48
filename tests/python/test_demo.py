"""The demonstration and its picture."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from uncertain import GaussianArray, plot
from uncertain.demo import _run, kepler, wdbc
from uncertain.exceptions import UncertainError


def test_the_table_holds_the_published_numbers() -> None:
    frame = wdbc()
    assert frame.shape == (569, 21)
    assert frame.filter(diagnosis="malignant").height == 212
    assert frame.row(0, named=True)["radius_se"] == 1.095


def test_the_slice_of_a_catalogue_is_as_it_was_published() -> None:
    frame = kepler()
    assert frame.shape == (809, 27) and frame["kepid"].n_unique() == 700
    assert dict(frame["koi_disposition"].value_counts().iter_rows()) == {
        "CONFIRMED": 286,
        "FALSE POSITIVE": 523,
    }
    row = frame.row(by_predicate=pl.col("kepoi_name") == "K00114.01", named=True)
    assert (row["koi_srad"], row["koi_srad_err1"], row["koi_srad_err2"]) == (1.958, 0.322, -0.483)
    assert frame.null_count().sum_horizontal().item() == 748
    assert not any((frame[name] > 0.0).any() for name in frame.columns if name.endswith("_err2"))


@pytest.mark.usefixtures("few_trees")
def test_demo_prints_tables_and_writes_the_picture(tmp_path: Path) -> None:
    lines: list[str] = []
    _run.run(tmp_path / "demo.png", lines.append, splits=1)
    text = "\n".join(lines)
    assert all(text.count(name) == 1 for name in _run.NAMES)
    assert "radius (radius_se), texture (texture_se)" in text and "Held-out scores, 5 folds" in text
    assert (tmp_path / "demo.png").read_bytes().startswith(b"\x89PNG")


def test_models_that_know_the_errors_hold_where_they_grow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("uncertain._trees.number_of_trees.MOST", 40)
    correct = _run.grow(1, (1, 16))
    accuracy = {name: np.nanmean(right, axis=(1, 2)) for name, right in correct.items()}
    assert all(at_first > 0.9 for at_first, _ in accuracy.values())
    linear, trees, columns, remeasured, gsu = (
        before - after for before, after in (accuracy[name] for name in _run.NAMES)
    )
    assert linear > 0.15 and gsu < 0.06
    assert remeasured < min(trees, columns)


def test_ellipses_have_the_axes_of_the_covariance() -> None:
    angle = np.radians(30.0)
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    cov = turn @ np.diag([9.0, 1.0]) @ turn.T
    _, ax = plot.new_figure(2, 2)
    drawn = plot.ellipses(GaussianArray(np.zeros((1, 2)), cov=cov[None]), ax=ax, n_std=2.0)
    assert drawn.get_widths() == pytest.approx([12.0])
    assert drawn.get_heights() == pytest.approx([4.0])
    assert drawn.get_angles() % 180.0 == pytest.approx([30.0])


def test_a_picture_needs_two_features() -> None:
    with pytest.raises(UncertainError, match="needs 2 features, got 3"):
        plot.boundaries(GaussianArray(np.zeros((4, 3))), [0, 1, 0, 1], {})


def test_without_matplotlib_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ModuleNotFoundError, match="pip install matplotlib"):
        plot.new_figure()
