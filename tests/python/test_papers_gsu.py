"""The scripts of the SVM-GSU paper's experiments: what they share is right."""

from __future__ import annotations

import importlib
import sys

import numpy as np
import pytest
from scipy import stats
from test_papers import DATA, ROOT

from uncertain import GaussianArray, GSUClassifier

sys.path.insert(0, str(ROOT / "papers"))


def test_paired() -> None:
    significance = importlib.import_module("significance")
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=12) + 0.4, rng.normal(size=12)
    found, reference = significance.paired(a, b), stats.ttest_rel(a, b)
    assert found.p == pytest.approx(reference.pvalue, rel=1e-12)
    assert found.mean / found.error == pytest.approx(reference.statistic, rel=1e-12)
    # Shared rows: the variance of the mean grows from 1/k to 1/k + n_test/n_train.
    fair = significance.paired(a, b, test_share=0.25)
    assert fair.error == pytest.approx(found.error * np.sqrt(1 + 0.25 * 12), rel=1e-12)
    assert fair.p > found.p
    assert significance.paired(a, a).p == 1.0
    with pytest.raises(ValueError, match="two pairs"):
        significance.paired([1.0], [0.0])


def test_mcnemar() -> None:
    significance = importlib.import_module("significance")
    a = np.array([True] * 9 + [False] * 1 + [True] * 30)
    b = np.array([False] * 9 + [True] * 1 + [True] * 30)
    found = significance.mcnemar(a, b)
    assert (found.only_a, found.only_b) == (9, 1)
    assert found.p == pytest.approx(2 * (1 + 10) / 2**10, rel=1e-12)  # P(at most 1 of 10), twice
    assert significance.mcnemar(a, a).p == 1.0
    with pytest.raises(ValueError, match="same rows"):
        significance.mcnemar(a, b[:-1])


def test_mcnemar_keeps_its_level() -> None:
    """Of comparisons without a difference at most 5 % are called significant (it is conservative)."""
    significance = importlib.import_module("significance")
    rng = np.random.default_rng(1)
    p = [significance.mcnemar(*(rng.random((2, 60)) < 0.8)).p for _ in range(400)]
    assert np.mean(np.array(p) < 0.05) < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 400)


def test_predicted_angle_is_what_sampling_does() -> None:
    toy = importlib.import_module("gsu_toy")
    data, y = toy.flat(3, per_class=10)
    exact = GSUClassifier(toy.ALPHA).fit(data, y)
    angles = [toy.angle(toy.sampled(data, y, 256, seed).coef_[0], exact.coef_[0]) for seed in range(60)]
    rms = np.sqrt(np.mean(np.square(angles)))
    # 60 draws know the root mean square to 1 / sqrt(2 x 60) = 9 %.
    assert rms == pytest.approx(toy.predicted_angle(exact, data, y) / 16, rel=0.3)


def test_literal_projection_of_a_framed_image_is_nothing() -> None:
    """A framed image is orthogonal to its own central differences: sum x_i (x_i+1 - x_i-1) = 0."""
    images = np.zeros((4, 12, 12))
    images[:, 2:-2, 2:-2] = np.random.default_rng(0).random((4, 8, 8))
    preprocessing, uncertainty = (
        importlib.import_module(f"uncertain.{m}") for m in ("preprocessing", "uncertainty")
    )
    data = uncertainty.translation(images, 1.0)
    moved = preprocessing.SubspaceProjector(0.999, project="both").fit_transform(data)
    assert np.abs(moved.means).max() < 1e-12
    kept = preprocessing.SubspaceProjector(0.999).fit_transform(data)
    np.testing.assert_array_equal(kept.means, data.means)


def test_table_one_is_a_ranking_not_an_accuracy() -> None:
    """99.52 on D0 and 93.62 on D1 are out of reach of accuracies of 25 images a class, not of areas."""
    if not (DATA / "mnist.parquet").exists():
        pytest.skip("the data sets are not part of the repository")
    mnist, images = (importlib.import_module(name) for name in ("gsu_mnist", "mnist_images"))
    parts = images.digits(DATA)
    for k, away in ((0, 0.5), (1, 2.5)):
        draws = [mnist.one(k, seed, *parts, [mnist.LSVM]) for seed in range(4)]
        paper = mnist.PAPER[mnist.LSVM][k]
        accuracy = np.mean([draw[mnist.LSVM].mean() for draw in draws])
        area = np.mean([draw["area"][mnist.LSVM] for draw in draws])
        assert 100 * (paper - accuracy) > 1.5
        assert 100 * abs(paper - area) < away


def test_resampled_runs_hold_the_observed_difference() -> None:
    tv = importlib.import_module("gsu_tv")
    rng = np.random.default_rng(0)
    truth = np.repeat(rng.choice([-1, 1], size=60), 20)
    a = np.where(rng.random(truth.size) < 0.9, truth, -truth)
    b = np.where(rng.random(truth.size) < 0.7, truth, -truth)
    low, middle, high = tv.f1_difference(truth, a, b, tv.run_numbers(truth))
    f1 = importlib.import_module("sklearn.metrics").f1_score
    assert middle == pytest.approx(f1(truth, a) - f1(truth, b), rel=1e-12)
    assert 0.0 < low < middle < high
    assert tv.f1_difference(truth, a, a, tv.run_numbers(truth)) == (0.0, 0.0, 0.0)


def test_methods_see_the_covariances_they_say() -> None:
    methods = importlib.import_module("gsu_methods")
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 20)
    data = GaussianArray(rng.normal(size=(40, 3)) + 2 * y[:, None], std=rng.uniform(0.5, 2, size=(40, 3)))
    for method in (methods.LSVM, methods.ISO, methods.GSU):
        found = methods.search(method, data, y, alphas=[0.1], folds=2)
        kind = methods.KINDS.get(method)
        expected = GSUClassifier(0.1).fit(data.collapse(kind) if kind else data, y)
        np.testing.assert_allclose(methods.decision(found, data), expected.decision_function(data.means))
