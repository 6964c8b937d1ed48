"""Rows stored as float32: the same numbers in half the memory, in place, and answers of the same bits.

That every public estimator answers alike is in test_invariants.py.
"""

from __future__ import annotations

import pickle
import warnings
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from uncertain import AsGaussians, GaussianArray, GaussianScaler, GSUClassifier, MixtureArray
from uncertain.exceptions import NotFiniteError, ParameterError, UncertainError

RNG = np.random.default_rng(0)
N, D = 300, 4
X32 = RNG.normal(size=(N, D)).astype(np.float32)
X32[0, 0] = np.float32(1e-42)  # a denormal number
STD = RNG.uniform(0.1, 1.0, size=(N, D)).astype(np.float32)
FACTOR = (0.3 * RNG.normal(size=(N, D, 2))).astype(np.float32)
Y = (X32[:, 1] + RNG.normal(size=N) > 0).astype(int)
ERRORS: dict[str, dict[str, Any]] = {
    "zero": {},
    "isotropic": {"std": STD[:, 0]},
    "diagonal": {"std": STD},
    "variances": {"var": STD**2},
    "low-rank": {"factor": FACTOR},
    "low-rank and diagonal": {"factor": FACTOR, "var": STD**2},
    "full": {"cov": np.eye(D, dtype=np.float32) * STD[:, :, None]},
    "precision": {"precision": np.eye(D, dtype=np.float32) / STD[:, :, None]},
    "shared": {"cov": np.eye(D, dtype=np.float32)},
}


def wide(errors: dict[str, Any]) -> GaussianArray:
    """The same numbers, widened by NumPy."""
    return GaussianArray(
        X32.astype(float), **{name: np.asarray(e, dtype=float) for name, e in errors.items()}
    )


@pytest.mark.parametrize("errors", ERRORS.values(), ids=ERRORS)
def test_every_kind_holds_the_same_numbers(errors: dict[str, Any]) -> None:
    narrow, other = GaussianArray(X32, **errors), wide(errors)
    assert (narrow.dtype, other.dtype) == (np.float32, np.float64)
    assert narrow == other and narrow.means.dtype == np.float64
    assert np.array_equal(narrow.covariances(), other.covariances())
    for loss in ("expected_hinge", "squared_hinge"):
        found = [GSUClassifier(loss=loss, alpha=0.01).fit(X, Y).coef_ for X in (narrow, other)]
        assert np.array_equal(*found)
    picked = [X[[5, 3, 200]][:, [2, 0]] @ [[1.0], [-0.1]] for X in (narrow, other)]
    assert picked[0] == picked[1]


def test_float32_is_used_in_place_and_leaves_as_it_came() -> None:
    X = GaussianArray(X32, std=STD)
    table = pa.table(X.to_arrow())
    for name, values in (("mean", X32), ("std", STD)):
        assert table.schema.field(name).type.value_type == pa.float32()
        assert np.shares_memory(table[name].chunk(0).flatten().to_numpy(), values)
    again = AsGaussians(mean="mean", std="std").fit_transform(table)
    assert again.dtype == np.float32 and again == X
    assert pickle.loads(pickle.dumps(X)).dtype == np.float32
    assert [X[2:9].dtype, X[[1, 0]].dtype, X[:, [1]].dtype] == [np.float32] * 3


def test_what_is_computed_or_mixed_is_float64() -> None:
    X, other = GaussianArray(X32, std=STD), wide({"std": STD})
    assert (X @ np.eye(D)).dtype == X.sample(1, 0).dtype == np.float64
    both = GaussianArray.concat([X, other])
    assert both.dtype == np.float64 and both == GaussianArray.concat([other, other])
    assert np.array_equal(pa.table(both.to_arrow())["std"].to_pylist(), np.concatenate([STD, STD]))
    beside = GaussianArray(X32, std=STD.astype(float))
    assert beside == X and pa.table(beside.to_arrow()).schema.field("std").type.value_type == pa.float64()


def test_scaled_rows_read_as_scaled_copies() -> None:
    for errors in ERRORS.values():
        narrow, other = GaussianArray(X32, **errors), wide(errors)
        scaler = GaussianScaler().fit(other)
        scaled, expected = scaler.transform(narrow), scaler.transform(other)
        assert scaled.dtype == expected.dtype == np.float64
        assert scaled == expected and np.array_equal(scaled.covariances(), expected.covariances())
        for change in (
            lambda X: X[[5, 3, 200]],
            lambda X: X[10:20][:, [2, 0]],
            lambda X: GaussianArray.concat([X, GaussianArray(X32)]),
            scaler.inverse_transform,
            scaler.transform,
            lambda X: X.astype(np.float32),
            lambda X: pickle.loads(pickle.dumps(X)),
        ):
            assert change(scaled) == change(expected)
        assert np.array_equal(scaled.means, expected.means)
        assert pa.table(scaled.to_arrow()) == pa.table(expected.to_arrow())
        for loss in ("expected_hinge", "squared_hinge"):
            found = [GSUClassifier(loss=loss, alpha=0.01).fit(X, Y).coef_ for X in (scaled, expected)]
            assert np.array_equal(*found)


def test_other_orders_of_bytes_and_of_memory() -> None:
    expected = GaussianArray(X32, std=STD)
    unaligned = np.frombuffer(b"\0" + X32.tobytes(), dtype=np.uint8)[1:].view(np.float32).reshape(N, D)
    strided = np.repeat(X32, 2, axis=1)[:, ::2]
    for means in (X32.astype(">f4"), np.asfortranarray(X32), strided, unaligned):
        X = GaussianArray(means, std=STD.astype(">f4"))
        assert X.dtype == np.float32
        assert expected == X
    mixture = MixtureArray(np.full((N // 2, 2), 0.5), X32.reshape(-1, 2, D))
    assert mixture.components.dtype == np.float32


def test_columns_of_a_table() -> None:
    columns = {f"x{j}": X32[:, j] for j in range(D)} | {f"x{j}_err": STD[:, j] for j in range(D)}
    reader = AsGaussians()
    X = reader.fit_transform(pa.table(columns))
    assert X.dtype == np.float32 and np.array_equal(X.means, X32)
    mixed = reader.fit_transform(pa.table(columns | {"x1": X32[:, 1].astype(float)}))
    assert mixed.dtype == np.float64 and mixed == X


def test_rounding_is_asked_for_and_refuses_what_does_not_fit() -> None:
    X = GaussianArray([[0.1, 1.0], [2.0, 3.0]], std=0.3)
    narrow = X.astype("float32")
    assert narrow.dtype == np.float32 and narrow.means[0, 0] == np.float32(0.1) != X.means[0, 0]
    assert narrow.astype(float) == narrow and narrow.astype(float).dtype == np.float64
    with pytest.raises(UncertainError, match=r"means: row 1, element 0 is 1e39, beyond float32"):
        GaussianArray([[1.0], [1e39]]).astype(np.float32)
    with pytest.raises(UncertainError, match=r"row 1, feature 0: the variance 1e-120 would be zero"):
        GaussianArray([[1.0], [1.0]], std=[0.1, 1e-60]).astype(np.float32)
    with pytest.raises(ParameterError, match="float16"):
        X.astype(np.float16)
    with pytest.raises(NotFiniteError, match="row 1"):
        GaussianArray(np.array([[1.0], [np.inf]], dtype=np.float32))


def test_rounded_matrices_are_checked_again() -> None:
    factor = RNG.normal(size=(50, 6, 2))
    X = GaussianArray(np.zeros((50, 6)), cov=factor @ factor.transpose(0, 2, 1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of eigenvalues that are negative by rounding
        narrow = X.astype(np.float32)
    np.testing.assert_allclose(narrow.covariances(), X.covariances(), atol=1e-5)
    assert (np.linalg.eigvalsh(narrow.covariances()) > -1e-12).all()
