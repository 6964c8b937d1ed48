"""The demonstration and its picture."""

from __future__ import annotations

import sys

import numpy as np
import polars as pl
import pytest

from uncertain import GaussianArray, plot
from uncertain.demo import kepler, wdbc
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
