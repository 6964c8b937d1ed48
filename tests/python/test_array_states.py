"""Operations on GaussianArrays in any order against dense arrays: what one leaves, the next one meets.

Single operations have their tests in test_array.py and test_algebra.py. Here arrays are cut, stacked, mapped
and sent through Arrow and pickles in any order, so that rows lie in several pieces of shared memory.
"""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, multiple, rule
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray

from uncertain import GaussianArray

KINDS = ("zero", "isotropic", "diagonal", "full", "shared", "low-rank", "low-rank+diagonal")
WIDTHS = st.integers(1, 4)
LARGEST = 40
"""Rows; more are not added."""

Dense = tuple[NDArray[np.float64], NDArray[np.float64]]
State = tuple[GaussianArray, Dense]


def made(kind: str, n: int, d: int, seed: int) -> State:
    """An array of this kind and what it stands for: means (n, d), covariances (n, d, d)."""
    rng = np.random.default_rng(seed)
    x, eye = rng.normal(size=(n, d)), np.eye(d)
    a, f, v = rng.normal(size=(n, d, d)), rng.normal(size=(n, d, 2)), rng.uniform(0, 2, size=(n, d))
    full, low = a @ a.transpose(0, 2, 1), f @ f.transpose(0, 2, 1)
    cases: dict[str, tuple[dict[str, Any], NDArray[np.float64]]] = {
        "zero": ({}, np.zeros((n, d, d))),
        "isotropic": ({"var": v[:, 0]}, v[:, 0, None, None] * eye),
        "diagonal": ({"var": v}, v[:, :, None] * eye),
        "full": ({"cov": full}, full),
        "shared": ({"cov": a[0] @ a[0].T}, np.repeat((a[0] @ a[0].T)[None], n, axis=0)),
        "low-rank": ({"factor": f}, low),
        "low-rank+diagonal": ({"factor": f, "var": v}, low + v[:, :, None] * eye),
    }
    arguments, dense = cases[kind]
    return GaussianArray(x, **arguments), (x, dense)


class Operations(RuleBasedStateMachine):
    """Arrays and their dense twins, which every rule takes from and adds to."""

    arrays: Bundle[State] = Bundle("arrays")

    def kept(
        self, array: GaussianArray, means: NDArray[np.float64], covariances: NDArray[np.float64]
    ) -> State:
        assert array.shape == means.shape
        scale = 1.0 + np.abs(covariances).max(initial=0.0)
        assert_allclose(array.means, means, rtol=1e-10, atol=1e-10 * (1.0 + np.abs(means).max(initial=0.0)))
        assert_allclose(array.covariances(), covariances, rtol=1e-10, atol=1e-10 * scale)
        trace = np.trace(covariances, axis1=1, axis2=2)
        assert_allclose(array.trace(), trace, rtol=1e-10, atol=1e-10 * scale)
        return array, (means, covariances)

    @initialize(
        target=arrays, kind=st.sampled_from(KINDS), n=st.integers(1, 9), d=WIDTHS, seed=st.integers(0, 99)
    )
    def one(self, kind: str, n: int, d: int, seed: int) -> State:
        return self.new(kind, n, d, seed)

    @rule(target=arrays, kind=st.sampled_from(KINDS), n=st.integers(1, 9), d=WIDTHS, seed=st.integers(0, 99))
    def new(self, kind: str, n: int, d: int, seed: int) -> State:
        array, (means, covariances) = made(kind, n, d, seed)
        return self.kept(array, means, covariances)

    @rule(target=arrays, state=arrays, data=st.data())
    def rows_of_a_slice(self, state: State, data: st.DataObject) -> State:
        array, (means, covariances) = state
        rows = data.draw(st.slices(len(array)))
        return self.kept(array[rows], means[rows], covariances[rows])

    @rule(target=arrays, state=arrays, data=st.data())
    def rows_by_number(self, state: State, data: st.DataObject) -> State:
        array, (means, covariances) = state
        n = len(array)
        index = st.integers(-n, n - 1) if n else st.nothing()
        rows = np.array(data.draw(st.lists(index, max_size=LARGEST) if n else st.just([])), dtype=np.int64)
        return self.kept(array[rows], means[rows], covariances[rows])

    @rule(target=arrays, state=arrays, data=st.data())
    def rows_by_mask(self, state: State, data: st.DataObject) -> State:
        array, (means, covariances) = state
        mask = np.array(
            data.draw(st.lists(st.booleans(), min_size=len(array), max_size=len(array))), dtype=bool
        )
        return self.kept(array[mask], means[mask], covariances[mask])

    @rule(target=arrays, state=arrays, data=st.data())
    def some_features(self, state: State, data: st.DataObject) -> State:
        array, (means, covariances) = state
        d = array.n_features
        columns = data.draw(st.lists(st.integers(0, d - 1), min_size=1, max_size=d, unique=True))
        return self.kept(array[:, columns], means[:, columns], covariances[:, columns][:, :, columns])

    @rule(target=arrays, first=arrays, second=arrays)
    def below_each_other(self, first: State, second: State) -> State | Any:
        (a, (means, covariances)), (b, (more, others)) = first, second
        if a.n_features != b.n_features or len(a) + len(b) > LARGEST:
            return multiple()
        stacked = GaussianArray.concat([a, b])
        return self.kept(stacked, np.concatenate([means, more]), np.concatenate([covariances, others]))

    @rule(target=arrays, first=arrays, second=arrays)
    def beside_each_other(self, first: State, second: State) -> State | Any:
        (a, (means, covariances)), (b, (more, others)) = first, second
        n, (p, q) = len(a), (a.n_features, b.n_features)
        if n != len(b) or p + q > 6:
            return multiple()
        joint = np.zeros((n, p + q, p + q))
        joint[:, :p, :p], joint[:, p:, p:] = covariances, others
        return self.kept(GaussianArray.hstack([a, b]), np.hstack([means, more]), joint)

    @rule(target=arrays, state=arrays, to=st.sampled_from(["zero", "isotropic", "diagonal"]))
    def collapsed(self, state: State, to: Any) -> State:
        array, (means, covariances) = state
        eye = np.eye(array.n_features)
        variances = np.einsum("ijj->ij", covariances)
        dense = {
            "zero": np.zeros_like(covariances),
            "isotropic": variances.mean(axis=1)[:, None, None] * eye,
            "diagonal": variances[:, :, None] * eye,
        }[to]
        return self.kept(array.collapse(to), means, dense)

    @rule(target=arrays, state=arrays, out=WIDTHS, seed=st.integers(0, 99))
    def mapped(self, state: State, out: int, seed: int) -> State:
        array, (means, covariances) = state
        matrix = np.random.default_rng(seed).normal(size=(array.n_features, out))
        return self.kept(array @ matrix, means @ matrix, matrix.T @ covariances @ matrix)

    @rule(target=arrays, state=arrays)
    def through_a_pickle(self, state: State) -> State:
        array, (means, covariances) = state
        again = pickle.loads(pickle.dumps(array))
        assert again == array
        return self.kept(again, means, covariances)

    @rule(target=arrays, state=arrays)
    def through_arrow(self, state: State) -> State | Any:
        array, (means, covariances) = state
        if not len(array):
            return multiple()
        table: pa.Table = array.to_arrow()
        table.validate(full=True)

        def dense(name: str) -> NDArray[np.float64]:
            column = table[name].combine_chunks()
            sizes = []
            while pa.types.is_fixed_size_list(column.type):
                sizes.append(column.type.list_size)
                column = column.flatten()
            return column.to_numpy().reshape(len(array), *sizes)

        roles = {name: dense(name) for name in table.column_names if name != "mean"}
        roles = {k: v[:, 0] if k in ("std", "var") and v.shape[1] == 1 else v for k, v in roles.items()}
        assert_array_equal(dense("mean"), array.means)
        return self.kept(GaussianArray(dense("mean"), **roles), means, covariances)


Operations.TestCase.settings = settings(max_examples=40, stateful_step_count=20, deadline=None)
TestOperations = Operations.TestCase
