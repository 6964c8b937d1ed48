"""GaussianScaler and SubspaceProjector: formulas against NumPy, and scikit-learn's contract."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
import sklearn
from catalogues import KINDS, of_kind
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from uncertain import GaussianArray
from uncertain.exceptions import ParameterError
from uncertain.preprocessing import GaussianCollapser, GaussianScaler, SubspaceProjector

N, D = 40, 4


@pytest.fixture(params=KINDS)
def gaussians(request: pytest.FixtureRequest, rng: np.random.Generator) -> GaussianArray:
    x = rng.normal(size=(N, D)) * [1, 10, 0.1, 3] + [0, 100, 5, -2]
    return of_kind(request.param, x, rng)


def test_scaler_moves_means_and_covariances_together(gaussians: GaussianArray) -> None:
    x, cov = gaussians.means, gaussians.covariances()
    for spread, variance in (
        ("means", x.var(axis=0)),
        ("total", x.var(axis=0) + np.diagonal(cov, axis1=1, axis2=2).mean(axis=0)),
    ):
        scaler = GaussianScaler(spread=spread).fit(gaussians)  # type: ignore[arg-type]
        assert_allclose(scaler.mean_, x.mean(axis=0))
        assert_allclose(scaler.scale_, np.sqrt(variance))
        moved = scaler.transform(gaussians)
        assert_allclose(moved.means, (x - scaler.mean_) / scaler.scale_, atol=1e-12)
        assert_allclose(moved.covariances(), cov / np.outer(scaler.scale_, scaler.scale_), atol=1e-12)
        back = scaler.inverse_transform(moved)
        assert_allclose(back.means, x, rtol=1e-10)
        assert_allclose(back.covariances(), cov, rtol=1e-10, atol=1e-12)


def test_scaler_on_arrays_is_the_standard_scaler(rng: np.random.Generator) -> None:
    x, weights = rng.normal(size=(N, D)) * [1, 10, 0, 3] + 5, rng.uniform(size=N)
    for sample_weight in (None, weights):
        ours = GaussianScaler().fit(x, sample_weight=sample_weight)
        theirs = StandardScaler().fit(x, sample_weight=sample_weight)
        assert_allclose(ours.mean_, theirs.mean_)
        assert_allclose(ours.scale_, theirs.scale_)
        assert_allclose(ours.transform(x), theirs.transform(x), atol=1e-12)
        assert_allclose(ours.inverse_transform(ours.transform(x)), x)
    assert ours.transform(x).flags.writeable


def test_projector_with_everything_kept(gaussians: GaussianArray) -> None:
    for project in ("covariance", "both"):
        kept = SubspaceProjector(1.0, project=project).fit_transform(gaussians)  # type: ignore[arg-type]
        assert_allclose(kept.covariances(), gaussians.covariances(), atol=1e-9)
        if project == "covariance":
            assert_array_equal(kept.means, gaussians.means)


def test_parameters_are_checked_in_fit() -> None:
    x = np.eye(3)
    for wrong in (
        GaussianScaler(spread="all"),  # type: ignore[arg-type]
        SubspaceProjector(0.0),
        SubspaceProjector(1.5),
        SubspaceProjector("much"),  # type: ignore[arg-type]
        SubspaceProjector(project="mean"),  # type: ignore[arg-type]
    ):
        with pytest.raises(ParameterError, match=r"must be"):
            wrong.fit(x)


TRANSFORMERS = [GaussianScaler(), SubspaceProjector(0.9), GaussianCollapser()]


@pytest.mark.parametrize("transformer", TRANSFORMERS, ids=repr)
def test_interface(transformer: Any, gaussians: GaussianArray) -> None:
    t = clone(transformer).fit(gaussians)
    assert t.n_features_in_ == D
    assert list(t.get_feature_names_out()) == ["x0", "x1", "x2", "x3"]
    assert pickle.loads(pickle.dumps(t)).transform(gaussians) == t.transform(gaussians)
    with pytest.raises(ValueError, match="features"):
        t.transform(gaussians.means[:, :2])
    with pytest.raises(ValueError, match="features"):
        t.transform(GaussianArray(gaussians.means[:, :2]))
    chain = make_pipeline(GaussianScaler(), SubspaceProjector(0.9))
    assert isinstance(chain.fit_transform(gaussians), GaussianArray)


@pytest.mark.parametrize("transformer", TRANSFORMERS, ids=repr)
def test_set_output_concerns_arrays_only(transformer: Any, gaussians: GaussianArray) -> None:
    import pandas as pd
    import polars as pl

    for output, frame in (("pandas", pd.DataFrame), ("polars", pl.DataFrame)):
        t = clone(transformer).set_output(transform=output)
        assert isinstance(t.fit_transform(gaussians.means), frame)
        assert isinstance(t.transform(gaussians.means), frame)
        assert isinstance(t.fit_transform(gaussians), GaussianArray)
        with sklearn.config_context(transform_output=output):
            assert isinstance(clone(transformer).fit(gaussians).transform(gaussians), GaussianArray)
