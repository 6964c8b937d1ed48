"""The demonstration and its picture."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import uncertain
from uncertain import GaussianArray, plot
from uncertain.demo import _growing as growing
from uncertain.demo import _published as published
from uncertain.demo import wdbc
from uncertain.demo._run import run
from uncertain.exceptions import UncertainError


def test_demo_prints_tables_and_writes_the_picture(tmp_path: Path) -> None:
    lines: list[str] = []
    run(tmp_path / "demo.png", lines.append, splits=2)
    text = "\n".join(lines)
    for name, _ in published.METHODS:
        assert text.count(name) == 1
    for name in growing.NAMES:
        assert text.count(name) == 1
    assert "std = {}_se" in text
    assert (tmp_path / "demo.png").read_bytes().startswith(b"\x89PNG")


def test_the_table_holds_the_published_numbers() -> None:
    frame = wdbc()
    assert frame.shape == (569, 21)
    assert frame.filter(diagnosis="malignant").height == 212
    assert frame.row(0, named=True)["radius_se"] == 1.095


def test_every_method_is_certified_and_known_noise_is_used() -> None:
    data = uncertain.fit(wdbc(), target="diagnosis", probability=False, method="gsu").gaussians(wdbc())
    y = wdbc()["diagnosis"].to_numpy()
    results = published.race(published.badly_measured(data), y, train_size=40, splits=4)
    assert [r.name for r in results] == [name for name, _ in published.METHODS]
    for result in results:
        assert 0 <= result.gap <= 1e-6
    accuracy = [np.nanmean(r.correct) for r in results]
    assert accuracy[2] > accuracy[0] + 0.01


def test_models_that_know_the_errors_hold_where_they_grow() -> None:
    correct = growing.grow(2, (1, 16))
    held_out = ~np.isnan(correct[growing.NAMES[0]])
    assert held_out.sum(axis=2).tolist() == [[228, 228]] * 2
    accuracy = {name: np.nanmean(right, axis=(1, 2)) for name, right in correct.items()}
    assert all(at_first > 0.9 for at_first, _ in accuracy.values())
    fall = {name: before - after for name, (before, after) in accuracy.items()}
    linear, trees, columns, remeasured, gsu = (fall[name] for name in growing.NAMES)
    assert linear > 0.15 and gsu < 0.06
    assert remeasured < min(trees, columns)


def test_the_simulated_noise_is_what_its_error_bars_say() -> None:
    rng = np.random.default_rng(5)
    truth, labels = growing.truth_and_labels()
    assert truth.std(axis=0) == pytest.approx(np.ones(30))
    std = 0.3 * rng.lognormal(0.0, 0.8, truth.shape)
    readings = growing.read(truth, std, labels, rng)
    pulls = (readings.values - truth) / std
    assert pulls.mean() == pytest.approx(0.0, abs=0.03) and pulls.std() == pytest.approx(1.0, abs=0.02)
    columns = readings.table()
    assert list(columns)[:4] == ["x0", "x0_err", "x1", "x1_err"]
    np.testing.assert_array_equal(columns["x29_err"], std[:, 29])


def test_badly_measured_rows_say_so() -> None:
    data = GaussianArray(np.random.default_rng(0).normal(size=(4000, 2)), std=0.1)
    noisy = published.badly_measured(data, noise=3.0)
    np.testing.assert_array_equal(noisy.means[:, 1], data.means[:, 1])
    variances = noisy.covariances()[0].diagonal()
    assert variances == pytest.approx([9.0 * data.means[:, 0].var() + 0.01, 0.01])
    assert (noisy.means - data.means)[:, 0].std() == pytest.approx(3.0 * data.means[:, 0].std(), rel=0.05)


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
