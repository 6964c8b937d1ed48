"""GaussianArray: values, shapes, memory, pickles, Arrow, float32; and arrays in any order of operations."""

import copy
import pickle
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from conftest import random_covariances
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, multiple, rule
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray

from uncertain import AsGaussians, GaussianArray, GaussianScaler, GSUClassifier, MixtureArray
from uncertain.exceptions import NotFiniteError, ParameterError, UncertainError

N, D = 7, 3
KINDS = {
    "zero": "zero", "scalar": "isotropic", "row-std": "isotropic", "row-var": "isotropic",
    "std": "diagonal", "var": "diagonal", "cov": "full", "shared": "shared", "precision": "full",
    "factor": "low-rank", "factor+var": "low-rank",
}  # fmt: skip
"""Arguments, and the kind that they make."""


def make(kind: str, rng: np.random.Generator, n: int = N, d: int = D) -> tuple[GaussianArray, np.ndarray]:
    """An array of this kind and its dense covariances."""
    x = rng.normal(size=(n, d))
    std, factor = rng.uniform(0.1, 2, size=(n, d)), rng.normal(size=(n, d, 2))
    cov = random_covariances(rng, n, d)
    eye = np.eye(d)
    cases: dict[str, tuple[dict[str, object], np.ndarray]] = {
        "zero": ({}, np.zeros((n, d, d))),
        "scalar": ({"std": 0.5}, np.broadcast_to(0.25 * eye, (n, d, d))),
        "row-std": ({"std": std[:, 0]}, std[:, 0, None, None] ** 2 * eye),
        "row-var": ({"var": std[:, 0]}, std[:, 0, None, None] * eye),
        "std": ({"std": std}, std[:, :, None] ** 2 * eye),
        "var": ({"var": std}, std[:, :, None] * eye),
        "cov": ({"cov": cov}, cov),
        "shared": ({"cov": cov[0]}, np.broadcast_to(cov[0], (n, d, d))),
        "precision": ({"precision": np.linalg.inv(cov)}, cov),
        "factor": ({"factor": factor}, low := factor @ factor.transpose(0, 2, 1)),
        "factor+var": ({"factor": factor, "var": std}, low + std[:, :, None] * eye),
    }
    arguments, dense = cases[kind]
    made = GaussianArray(x, **arguments)  # type: ignore[arg-type]
    assert made.kind in (KINDS[kind], "isotropic" if d == 1 else "") and np.array_equal(made.means, x)
    return made, dense


@pytest.fixture(params=KINDS)
def case(request: pytest.FixtureRequest, rng: np.random.Generator) -> tuple[GaussianArray, np.ndarray]:
    return make(request.param, rng)


def test_what_it_is(case: tuple[GaussianArray, np.ndarray]) -> None:
    g, dense = case
    assert g.shape == (N, D) and len(g) == N and g.ndim == 2 and g.n_features == D and g.dtype == np.float64
    assert_allclose(g.covariances(), dense, rtol=1e-10, atol=1e-12)
    assert_allclose(g.trace(), np.trace(dense, axis1=1, axis2=2), rtol=1e-10)
    assert repr(g) == f"GaussianArray({N} rows x {D} features, {g.kind} covariances)"


@pytest.mark.parametrize(
    "rows",
    [
        slice(2, 5), slice(None, None, 2), slice(None, None, -1), slice(5, 2), slice(-3, None), slice(0, 100),
        ..., [0, -1, 3], np.array([6, 6, 0], dtype=np.uint8), np.int32(2), -1, [], np.zeros(N, dtype=bool),
        np.arange(N) % 2 == 0, [True] * N,
    ],
    ids=str,
)  # fmt: skip
def test_rows_are_those_of_the_dense_arrays(case: tuple[GaussianArray, np.ndarray], rows: object) -> None:
    g, dense = case
    picked = np.arange(N)[rows]  # type: ignore[call-overload]
    numbers = np.atleast_1d(picked)
    for part in (g[rows], g[rows, ...], g[rows, :]):
        assert part.shape == (len(numbers), D) and part.kind == g.kind
        assert_array_equal(part.means, g.means[numbers])
        assert_allclose(part.covariances(), dense[numbers], rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("rows", [N, -N - 1, [0, N], [True], 1.5, "a", (), (0, 0, 0), (N, 0)], ids=str)
def test_rows_that_do_not_exist(rows: object, rng: np.random.Generator) -> None:
    g, _ = make("cov", rng)
    with pytest.raises(IndexError):
        g[rows]


def test_numpy_memory_is_shared_and_never_written(rng: np.random.Generator) -> None:
    x, cov = rng.normal(size=(N, D)), random_covariances(rng, N, D)
    before = x.copy(), cov.copy()
    g = GaussianArray(x, cov=cov)
    assert np.shares_memory(g.means, x) and np.shares_memory(g[2:4].means, x[2:4])
    assert not g.means.flags.writeable
    g.sample(2, random_state=0), g.collapse("diagonal"), g[[1, 2]], g.covariances()
    assert_array_equal(x, before[0])
    assert_array_equal(cov, before[1])


@pytest.mark.parametrize(
    "convert",
    [
        lambda x: x.tolist(), lambda x: x.astype(np.float32), lambda x: np.asfortranarray(x),
        lambda x: x[::-1],
        lambda x: x.astype(">f8"), lambda x: np.round(x).astype(np.int8), lambda x: x > 0,
        lambda x: np.frombuffer(b"x" + x.tobytes(), dtype=np.uint8)[1:].view(np.float64).reshape(x.shape),
    ],
    ids=["list", "float32", "fortran", "reversed", "big-endian", "int8", "bool", "unaligned"],
)  # fmt: skip
def test_other_layouts_are_converted_once(convert: Callable[..., object], rng: np.random.Generator) -> None:
    x = rng.normal(size=(N, D))
    wanted = np.asarray(convert(x)).astype(np.float64)
    assert_array_equal(GaussianArray(convert(x)).means, wanted)  # type: ignore[arg-type]


def test_samples_have_the_right_moments(rng: np.random.Generator) -> None:
    for kind in KINDS:
        g, dense = make(kind, rng)
        drawn = g.sample(4000, random_state=1)
        assert drawn.kind == "zero" and drawn.shape == (N * 4000, D)
        draws = drawn.means.reshape(N, 4000, D)
        assert_allclose(draws.mean(axis=1), g.means, atol=0.25)
        centred = draws - g.means[:, None, :]
        assert_allclose(np.einsum("nki,nkj->nij", centred, centred) / 4000, dense, atol=0.9, rtol=0.2)


def test_samples_follow_random_state(rng: np.random.Generator) -> None:
    g, _ = make("cov", rng)
    assert g.sample(3, random_state=5) == g.sample(3, random_state=5)
    assert g.sample(3, random_state=5) != g.sample(3, random_state=6)
    state = np.random.RandomState(0)
    assert g.sample(3, random_state=state) != g.sample(3, random_state=state)


def test_concat(rng: np.random.Generator) -> None:
    """Values of all kinds are among the operations below."""
    zero = make("zero", rng)[0]
    assert GaussianArray.concat([zero, zero]).kind == "zero"
    assert GaussianArray.concat([make("std", rng)[0], zero]).kind == "diagonal"
    g, _ = make("cov", rng)
    with pytest.raises(ValueError, match="feature"):
        GaussianArray.concat([g, GaussianArray([[1.0, 2.0]])])
    with pytest.raises(TypeError, match="list"):
        GaussianArray.concat([g, [1.0]])  # type: ignore[list-item]
    with pytest.raises(ValueError, match="none"):
        GaussianArray.concat([])


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_pickles_and_copies_are_equal(case: tuple[GaussianArray, np.ndarray], protocol: int) -> None:
    g, dense = case
    for other in (pickle.loads(pickle.dumps(g, protocol)), copy.copy(g), copy.deepcopy(g)):
        assert other == g and other.kind == g.kind
        assert_allclose(other.covariances(), dense, rtol=1e-10, atol=1e-12)
    cut = GaussianArray.concat([g[4:], g[:4]])
    assert pickle.loads(pickle.dumps(cut)) == cut
    assert g != g[::-1] and g != g[1:] and g != "g"


def test_arrow_export_points_into_numpy_memory(rng: np.random.Generator) -> None:
    x = rng.normal(size=(N, D))
    table = GaussianArray(x, std=np.abs(x)).to_arrow()
    values = table["mean"].chunk(0).flatten().to_numpy()
    assert np.shares_memory(values, x)


def test_error_bars_are_not_dropped_silently(rng: np.random.Generator) -> None:
    g, _ = make("cov", rng)
    with pytest.raises(TypeError, match="error bars"):
        np.asarray(g)
    with pytest.raises(TypeError):
        np.ones(N) * g  # type: ignore[operator]
    with pytest.raises(TypeError):
        hash(g)
    with pytest.raises(AttributeError, match="cannot be changed"):
        g.means = 1  # type: ignore[misc]


STATES = ("zero", "row-var", "var", "cov", "shared", "factor", "factor+var")
WIDTHS = st.integers(1, 4)
LARGEST = 40
"""Rows; more are not added."""

Dense = tuple[NDArray[np.float64], NDArray[np.float64]]
State = tuple[GaussianArray, Dense]


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
        target=arrays, kind=st.sampled_from(STATES), n=st.integers(1, 9), d=WIDTHS, seed=st.integers(0, 99)
    )
    def one(self, kind: str, n: int, d: int, seed: int) -> State:
        return self.new(kind, n, d, seed)

    @rule(target=arrays, kind=st.sampled_from(STATES), n=st.integers(1, 9), d=WIDTHS, seed=st.integers(0, 99))
    def new(self, kind: str, n: int, d: int, seed: int) -> State:
        array, covariances = make(kind, np.random.default_rng(seed), n, d)
        return self.kept(array, array.means, covariances)

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


RNG = np.random.default_rng(0)
N_OF_FLOAT32, D_OF_FLOAT32 = 300, 4
X32 = RNG.normal(size=(N_OF_FLOAT32, D_OF_FLOAT32)).astype(np.float32)
X32[0, 0] = np.float32(1e-42)  # a denormal number
STD = RNG.uniform(0.1, 1.0, size=(N_OF_FLOAT32, D_OF_FLOAT32)).astype(np.float32)
FACTOR = (0.3 * RNG.normal(size=(N_OF_FLOAT32, D_OF_FLOAT32, 2))).astype(np.float32)
Y = (X32[:, 1] + RNG.normal(size=N_OF_FLOAT32) > 0).astype(int)
ERRORS: dict[str, dict[str, Any]] = {
    "zero": {},
    "isotropic": {"std": STD[:, 0]},
    "diagonal": {"std": STD},
    "variances": {"var": STD**2},
    "low-rank": {"factor": FACTOR},
    "low-rank and diagonal": {"factor": FACTOR, "var": STD**2},
    "full": {"cov": np.eye(D_OF_FLOAT32, dtype=np.float32) * STD[:, :, None]},
    "precision": {"precision": np.eye(D_OF_FLOAT32, dtype=np.float32) / STD[:, :, None]},
    "shared": {"cov": np.eye(D_OF_FLOAT32, dtype=np.float32)},
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
    assert (X @ np.eye(D_OF_FLOAT32)).dtype == X.sample(1, 0).dtype == np.float64
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
    unaligned = (
        np.frombuffer(b"\0" + X32.tobytes(), dtype=np.uint8)[1:]
        .view(np.float32)
        .reshape(N_OF_FLOAT32, D_OF_FLOAT32)
    )
    strided = np.repeat(X32, 2, axis=1)[:, ::2]
    for means in (X32.astype(">f4"), np.asfortranarray(X32), strided, unaligned):
        X = GaussianArray(means, std=STD.astype(">f4"))
        assert X.dtype == np.float32
        assert expected == X
    mixture = MixtureArray(np.full((N_OF_FLOAT32 // 2, 2), 0.5), X32.reshape(-1, 2, D_OF_FLOAT32))
    assert mixture.components.dtype == np.float32


def test_columns_of_a_table() -> None:
    columns = {f"x{j}": X32[:, j] for j in range(D_OF_FLOAT32)} | {
        f"x{j}_err": STD[:, j] for j in range(D_OF_FLOAT32)
    }
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
