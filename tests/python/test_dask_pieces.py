"""Rows in pieces without a cluster: how they travel, and what they answer."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from uncertain import GaussianArray, GSUClassifier, Incomplete, UncertainError
from uncertain._uncertain import Part, merged_sums, partial_sums

pytest.importorskip("distributed")

from dask.sizeof import sizeof

from uncertain._model.cluster.piece import Piece
from uncertain._model.cluster.work import check_categories, hashes

N, D = 500, 4
COUNTS = np.array([1.0, 1.0, 0.0, 2.0, 2.0, 1.0])
MOMENTS = np.array([1.0, 1.0, 1.0, 1.0, 0.0])


def rows(n: int = N) -> tuple[GaussianArray, np.ndarray]:
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 2, n).astype(np.uint32)
    return GaussianArray(rng.normal(size=(n, D)) + codes[:, None], std=rng.uniform(0.1, 1.0, (n, D))), codes


def piece(of: slice = slice(None)) -> Piece:
    gaussians, codes = rows()
    return Piece.of(gaussians[of], codes=codes[of], weights=np.arange(1.0, N + 1.0)[of])


def test_sums_of_pieces_are_those_of_numpy() -> None:
    gaussians, _ = rows()
    weights = np.arange(1.0, N + 1.0)
    for cuts in ((N,), (200, N), (3, 100, 101, N)):
        starts = (0, *cuts[:-1])
        answers = [partial_sums(piece(slice(a, b)).part, MOMENTS) for a, b in zip(starts, cuts, strict=True)]
        total = merged_sums(MOMENTS, answers)
        assert total[1] == N
        np.testing.assert_allclose(total[4 : 4 + D], weights.sum(), rtol=1e-13)
        np.testing.assert_allclose(total[4 + D :], weights @ gaussians.means, rtol=1e-12, atol=1e-9)


def test_a_piece_travels_with_everything_and_becomes_aligned() -> None:
    gaussians, codes = rows()
    missing = np.zeros((N, D), dtype=bool)
    missing[3, 1] = True
    known = {
        "codes": codes,
        "weights": np.ones(N),
        "folds": codes,
        "targets": np.ones(N),
        "variances": np.zeros(N),
    }
    for one in (piece(), Piece.of(Incomplete(gaussians, missing), **known)):
        buffers: list[pickle.PickleBuffer] = []
        data = pickle.dumps(one, protocol=5, buffer_callback=buffers.append)
        moved = []
        for buffer in buffers:
            raw = np.frombuffer(buffer.raw(), dtype=np.uint8)
            space = np.empty(raw.size + 16, dtype=np.uint8)
            shift = (4 - space.ctypes.data) % 8  # never a multiple of eight
            space[shift : shift + raw.size] = raw
            moved.append(space[shift : shift + raw.size])
        again = pickle.loads(data, buffers=moved)
        assert again.part.checksum == one.part.checksum and again.part.n_rows == N
        for name, values in one.known().items():
            assert np.array_equal(again.known()[name], values)
        marks = one.part.missing
        assert (marks is None) == (again.part.missing is None)
        assert np.array_equal(partial_sums(again.part, MOMENTS), partial_sums(one.part, MOMENTS))


def test_dask_knows_the_size_of_a_piece() -> None:
    assert sizeof(piece()) == N * (2 * D * 8 + 4 + 8)


def test_a_fit_asks_a_function_of_python() -> None:
    gaussians, codes = rows()
    pieces = [Piece.of(gaussians[a : a + 100], codes=codes[a : a + 100]).part for a in range(0, N, 100)]
    asked = []

    def answer(questions: np.ndarray) -> list[np.ndarray]:
        asked.append(questions)
        return [partial_sums(part, questions, 1) for part in pieces]

    remote, here = GSUClassifier(tol=1e-10), GSUClassifier(tol=1e-10).fit(gaussians, codes)
    remote._elsewhere = (answer, True)
    remote.fit(gaussians, codes)
    assert asked and remote.optimality_gap_ <= 1e-10
    np.testing.assert_allclose(remote.coef_, here.coef_, atol=1e-5)

    class Odd(Exception):
        pass

    def fails(questions: np.ndarray) -> list[np.ndarray]:
        raise Odd("no cluster")

    for function, error in (
        (fails, Odd),
        (lambda questions: [], UncertainError),
        (lambda questions: 3, TypeError),
    ):
        remote._elsewhere = (function, True)
        with pytest.raises(error):
            remote.fit(gaussians, codes)


def test_parts_refuse_what_does_not_fit() -> None:
    gaussians, codes = rows()
    with pytest.raises(UncertainError, match="labels"):
        Part(gaussians._core, codes=codes[:3])
    with pytest.raises(UncertainError, match="no classes"):
        partial_sums(Part(gaussians._core), COUNTS)
    with pytest.raises(UncertainError, match="version 2"):
        partial_sums(Part(gaussians._core), np.array([2.0, 0.0]))


def test_hashes_are_uniform_and_differ() -> None:
    drawn = hashes(20_000, partition=3, seed=5).astype(np.float64) / 2.0**64
    assert abs(drawn.mean() - 0.5) < 0.01 and abs((drawn < 0.1).mean() - 0.1) < 0.01
    assert np.array_equal(hashes(10, 3, 5), hashes(20_000, 3, 5)[:10])
    assert not np.intersect1d(hashes(1000, 3, 5), hashes(1000, 4, 5)).size
    assert not np.intersect1d(hashes(1000, 3, 5), hashes(1000, 3, 6)).size


def test_categories_of_all_partitions_have_one_order() -> None:
    assert check_categories({"band": ["r", "g", "r", None, "b"]}) == {"band": ["b", "g", "r", None]}
    with pytest.raises(UncertainError, match="int and str"):
        check_categories({"band": ["r", 3]})
    with pytest.raises(UncertainError, match="101 different values"):
        check_categories({"band": [str(k) for k in range(101)]})
