"""Features of a GaussianArray picked, combined and put beside each other, against dense NumPy; names."""

import pickle
from typing import Any

import numpy as np
import pytest
from catalogues import as_model
from everything import SUBJECTS, Subject, rows
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from test_array import KINDS, D, N, make

import uncertain
from uncertain import (
    AsGaussians,
    GaussianArray,
    GaussianCollapser,
    GaussianColumnTransformer,
    GaussianDenoiser,
    GaussianImputer,
    GaussianScaler,
    GSUClassifier,
    Incomplete,
    KernelMap,
    LinearMap,
    SubspaceProjector,
    UncertainError,
)

NAMES = ("u", "g", "r")


def named(kind: str, rng: np.random.Generator) -> tuple[GaussianArray, np.ndarray]:
    g, dense = make(kind, rng)
    return g._named(NAMES), dense


def assert_same(g: GaussianArray, means: np.ndarray, cov: np.ndarray) -> None:
    assert g.shape == means.shape
    assert_allclose(g.means, means, rtol=1e-12, atol=1e-13)
    assert_allclose(g.covariances(), cov, rtol=1e-10, atol=1e-12)
    GaussianArray(g.means, cov=g.covariances())  # symmetric and positive semi-definite


@pytest.fixture(params=KINDS)
def case(request: pytest.FixtureRequest, rng: np.random.Generator) -> tuple[GaussianArray, np.ndarray]:
    return named(request.param, rng)


# -- picking


@pytest.mark.parametrize(
    ("index", "numbers"),
    [
        (0, [0]), (-1, [2]), (np.int8(1), [1]), ([0, 1], [0, 1]), ([2, 0], [2, 0]), ((1, -3), [1, 0]),
        ("g", [1]), (["r", "u"], [2, 0]), (np.array(["r"], dtype=object), [2]), (slice(1, None), [1, 2]),
        (slice(None, None, -1), [2, 1, 0]), ([True, False, True], [0, 2]),
        (np.array([0, 2], np.uint8), [0, 2]),
    ],
    ids=str,
)  # fmt: skip
def test_features_are_marginals(
    case: tuple[GaussianArray, np.ndarray], index: Any, numbers: list[int]
) -> None:
    g, dense = case
    part = g[:, index]
    assert_same(part, g.means[:, numbers], dense[:, numbers][:, :, numbers])
    assert part.kind == g.kind and part.feature_names == tuple(NAMES[j] for j in numbers)
    few = g[[4, 0], index]
    assert_same(few, g.means[[4, 0]][:, numbers], dense[[4, 0]][:, numbers][:, :, numbers])
    assert g[..., index] == part and g[2:5, index].shape == (3, len(numbers)) and len(g[:0, index]) == 0


@pytest.mark.parametrize(
    ("index", "words"),
    [
        (3, "feature 3 is out of range"), (-4, "-4"), ("z", "'z'; the features are u, g, r"),
        ([], "no feature"), (slice(0, 0), "no feature"), ([0, 0], "feature 0 .'u'. is picked twice"),
        (["g", 1], "no feature '1'"), ([True], "1 elements for 3"), (1.5, "numbers, names"),
        ([[0, 1]], "one-dimensional"), (None, "object"),
    ],
    ids=str,
)  # fmt: skip
def test_features_that_do_not_exist(index: Any, words: str, rng: np.random.Generator) -> None:
    g, _ = named("cov", rng)
    with pytest.raises(IndexError, match=words):
        g[:, index]


def test_names_are_needed_to_pick_by_name(rng: np.random.Generator) -> None:
    g, _ = make("std", rng)
    with pytest.raises(IndexError, match="features have no names"):
        g[:, "u"]
    with pytest.raises(IndexError, match=r"X\[:, 'u'\]"):
        g["u"]
    assert g[:, 0].feature_names is None


def test_gaps_move_with_their_features() -> None:
    rows = Incomplete.from_arrays(np.array([[1.0, np.nan, 3.0], [4.0, 5.0, 6.0]]))
    part = rows[:, [2, 1]]
    assert_array_equal(part.missing, [[False, True], [False, False]])
    assert_array_equal(part.gaussians.means, [[3.0, 0.0], [6.0, 5.0]])
    assert rows[[1], 1].missing.tolist() == [[False]]


# -- combining

MATRICES = {
    "any": np.array([[1.0, 2.0], [-1.0, 0.5], [0.0, 3.0]]),
    "wide": np.arange(15.0).reshape(3, 5) - 7.0,
    "colours": np.array([[1.0, 0.0], [-1.0, 1.0], [0.0, -1.0]]),
    "selection": np.array([[0.0, 2.0], [-0.5, 0.0], [0.0, 0.0]]),
    "sum": np.array([[1.0], [1.0], [1.0]]),
    "disjoint": np.array([[1.0, 0.0], [2.0, 0.0], [0.0, 3.0]]),
    "nothing": np.zeros((3, 1)),
}
INDEPENDENT = ("selection", "sum", "disjoint", "nothing")


@pytest.mark.parametrize("name", MATRICES)
def test_images_are_a_s_a(case: tuple[GaussianArray, np.ndarray], name: str) -> None:
    (g, dense), A = case, MATRICES[name]
    image = g @ A.tolist()
    assert_same(image, g.means @ A, A.T @ dense @ A)
    assert image.feature_names is None
    wanted = {"isotropic": "diagonal" if name in INDEPENDENT else "full"}
    wanted["diagonal"] = wanted["isotropic"]
    if g.kind == "low-rank" and "var" in g._core.parts() and name not in INDEPENDENT:
        wanted["low-rank"] = "full"
    if g.kind == "isotropic" and A.shape[1] == 1 and name == "sum":
        wanted["isotropic"] = image.kind  # one variance per row is both
    assert image.kind == wanted.get(g.kind, g.kind)
    assert (g[:0] @ A).shape == (0, A.shape[1])
    assert_array_equal((g[[5, 1]] @ A).covariances(), image.covariances()[[5, 1]])


@pytest.mark.parametrize(
    ("matrix", "words"),
    [
        ([1.0, 2.0, 3.0], r"A.reshape\(-1, 1\)"), (np.ones((2, 2)), "3 features, but A has 2 rows"),
        (np.ones((3, 0)), "no elements"), ([[1.0], [np.inf], [0.0]], "A: row 1, column 0 is inf"),
        (np.ones((3, 2), dtype=complex), "complex"), (np.ones((1, 3, 2)), r"\(d, k\)"),
    ],
    ids=str,
)  # fmt: skip
def test_matrices_that_do_not_fit(matrix: Any, words: str, rng: np.random.Generator) -> None:
    g, _ = make("cov", rng)
    with pytest.raises(UncertainError, match=words):
        g @ matrix
    with pytest.raises(TypeError):
        np.eye(3) @ g  # type: ignore[operator]


# -- beside each other


def test_stacked_features_are_independent(rng: np.random.Generator) -> None:
    order = {"zero": 0, "isotropic": 1, "diagonal": 2, "low-rank": 3, "shared": 4, "full": 5}
    for first in KINDS:
        for second in KINDS:
            (a, dense_a), (b, dense_b) = named(first, rng), make(second, rng)
            b, dense_b = b[:, :2], dense_b[:, :2, :2]
            both = GaussianArray.hstack({"": a, "b": b})
            cov = np.zeros((N, D + 2, D + 2))
            cov[:, :D, :D], cov[:, D:, D:] = dense_a, dense_b
            assert_same(both, np.hstack([a.means, b.means]), cov)
            assert both.feature_names == ("_u", "_g", "_r", "b0", "b1")
            kinds = {a.kind, b.kind}
            worst = max(kinds, key=order.__getitem__)
            if kinds <= {"zero", "shared"}:
                assert both.kind == worst
            else:
                assert both.kind == {"isotropic": "diagonal", "shared": "full"}.get(worst, worst)
            assert both[:, :D].kind == both.kind


def test_names_beside_each_other(rng: np.random.Generator) -> None:
    g, _ = named("std", rng)
    z = GaussianArray(rng.normal(size=(N, 1)))
    assert GaussianArray.hstack([g, z._named(["z"])]).feature_names == (*NAMES, "z")
    assert GaussianArray.hstack([g, z]).feature_names is None
    assert GaussianArray.hstack({"a": g[:, 0], "z": z}).feature_names == ("a", "z")
    assert GaussianArray.hstack(piece for piece in (g,)) == g
    cases: list[tuple[Any, str]] = [
        ([g, g[:, "u"]], "'u'; pass a dictionary"), ({"a": g, "a_u": z}, "'a_u'"), ({0: g}, "keys"),
        ([g, z[:3]], r"array 1.*7 rows"), ([], "none"), ([g, g.means], "ndarray"),
    ]  # fmt: skip
    for pieces, words in cases:
        with pytest.raises((UncertainError, TypeError), match=words):
            GaussianArray.hstack(pieces)


# -- names


def test_names_that_are_none() -> None:
    cases: dict[str, Any] = {"one string": "ugr", "3 names": ["u", "g"], "int": ["u", "g", 1]}
    for words, names in (cases | {"'u' names two": ["u", "g", "u"]}).items():
        with pytest.raises(UncertainError, match=words):
            GaussianArray(np.zeros((2, 3)), feature_names=names)


def test_names_stay(case: tuple[GaussianArray, np.ndarray]) -> None:
    g, _ = case
    others = [
        g[2:5], g[[0]], g[np.arange(N) > 3], g[::2], g.collapse("diagonal"), g.sample(2, random_state=0),
        pickle.loads(pickle.dumps(g)), GaussianArray.concat([g, g[:2]]), next(iter(g)),
        GaussianArray.concat([g[:2], GaussianArray(g.means)]),
        GaussianScaler().fit_transform(g), SubspaceProjector().fit_transform(g),
        GaussianDenoiser(random_state=0).fit_transform(g), GaussianImputer(random_state=0).fit_transform(g),
        GaussianScaler().fit(g).inverse_transform(g), LinearMap().fit_transform(g),
        GaussianCollapser().fit_transform(g),
    ]  # fmt: skip
    assert [other.feature_names for other in others] == [NAMES] * len(others)
    assert "(u, g, r)" in repr(g)
    assert pickle.loads(pickle.dumps(g)) == g != GaussianArray(**g._core.parts())
    assert KernelMap("quadratic").fit_transform(g).feature_names is None


def test_rows_below_each_other_have_one_order_of_features(rng: np.random.Generator) -> None:
    g, _ = named("std", rng)
    with pytest.raises(UncertainError, match="array 2 has the features g, u, r, but array 1 has u, g, r"):
        GaussianArray.concat([GaussianArray(g.means), g, g[:, ["g", "u", "r"]]])


@pytest.mark.parametrize("subject", [s for s in SUBJECTS if s.kind is not GaussianColumnTransformer], ids=str)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_estimators_know_the_names_of_their_features(subject: Subject, rng: np.random.Generator) -> None:
    bare, y, estimator = rows(), subject.targets(), subject.kind(**subject.parameters)
    g = bare._named(NAMES)
    fitted = clone(estimator).fit(g, y)
    assert fitted.feature_names_in_.tolist() == list(NAMES)
    ask = fitted.transform if hasattr(fitted, "transform") else fitted.predict
    ask(g)
    with pytest.raises(UncertainError, match="order is another one"):
        ask(g[:, ["g", "u", "r"]])
    with pytest.raises(UncertainError, match="x unseen at fit time; u missing"):
        ask(GaussianArray(g.means, feature_names=["x", "g", "r"]))
    if isinstance(estimator, AsGaussians):
        assert ask(bare).feature_names == NAMES
    else:
        with pytest.warns(UserWarning, match="does not have feature names, but .* with feature names"):
            ask(bare)
    other = clone(estimator).fit(bare, y)
    assert not hasattr(other, "feature_names_in_")
    with pytest.warns(UserWarning, match="has feature names, but .* without"):
        (other.transform if hasattr(other, "transform") else other.predict)(g)
    refitted = fitted.fit(bare, y)
    assert not hasattr(refitted, "feature_names_in_")


@pytest.mark.parametrize("kind", [GaussianScaler, SubspaceProjector, GaussianDenoiser, GaussianImputer])
def test_features_in_are_features_out(kind: Any, rng: np.random.Generator) -> None:
    assert kind().fit(named("std", rng)[0]).get_feature_names_out().tolist() == list(NAMES)


# -- LinearMap


def test_linear_map_of_arrays_and_gaussians(case: tuple[GaussianArray, np.ndarray]) -> None:
    (g, dense), A = case, MATRICES["colours"]
    map_ = LinearMap(A, names=["u - g", "g - r"])
    image = map_.fit_transform(g)
    assert_same(image, g.means @ A, A.T @ dense @ A)
    assert image.feature_names == ("u - g", "g - r") and image.kind == (g @ A).kind
    assert_allclose(LinearMap(A).fit_transform(g.means), g.means @ A, rtol=1e-12, atol=1e-14)
    assert map_.get_feature_names_out().tolist() == ["u - g", "g - r"]
    assert LinearMap(A).fit(g).get_feature_names_out().tolist() == ["linearmap0", "linearmap1"]
    assert LinearMap().fit(g).get_feature_names_out().tolist() == list(NAMES)
    assert LinearMap().fit_transform(g) == g


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"matrix": np.ones((2, 2))}, "3 features, but matrix has 2 rows"),
        ({"matrix": np.ones(3)}, "matrix.reshape"),
        ({"matrix": [[1.0], [np.nan], [1.0]]}, "matrix: row 1"),
        ({"matrix": np.eye(3), "names": ["a"]}, "names: expected 3 names"),
        ({"matrix": np.eye(3), "names": ["a", "b", "a"]}, "'a' names two"),
        ({"names": ["a", "b"]}, "names: expected 3 names"),
    ],
)
def test_linear_maps_that_do_not_fit(
    parameters: dict[str, Any], words: str, rng: np.random.Generator
) -> None:
    with pytest.raises(UncertainError, match=words):
        LinearMap(**parameters).fit(make("cov", rng)[0])


def test_linear_map_in_a_pipeline_and_its_file(tmp_path: Any, rng: np.random.Generator) -> None:
    g = GaussianArray(rng.normal(size=(60, 3)), std=rng.uniform(0.1, 1, (60, 3)), feature_names=NAMES)
    y = np.where(g.means @ [1, -1, 0] > 0, "blue", "red")
    steps = GaussianScaler(), LinearMap(MATRICES["colours"], names=["ug", "gr"]), GSUClassifier(alpha=0.01)
    pipeline = make_pipeline(*steps).fit(g, y)
    assert pipeline[-1].feature_names_in_.tolist() == ["ug", "gr"]
    assert pipeline.score(g, y) > 0.9
    scaled = GaussianScaler().fit_transform(g)
    by_hand = GSUClassifier(alpha=0.01).fit(scaled @ MATRICES["colours"], y)
    assert_allclose(pipeline[-1].coef_, by_hand.coef_, rtol=1e-6)
    as_model(pipeline).save(tmp_path / "model")
    again = uncertain.load(tmp_path / "model").pipeline_
    assert_array_equal(again.decision_function(g), pipeline.decision_function(g))
    assert again[1].names == ["ug", "gr"] and again[2].feature_names_in_.tolist() == ["ug", "gr"]
    assert_array_equal(clone(again[1]).fit(g).matrix_, MATRICES["colours"])
    assert_array_equal(pickle.loads(pickle.dumps(pipeline)).predict(g), pipeline.predict(g))


def test_a_selection_takes_gaps_and_limits_along(rng: np.random.Generator) -> None:
    g = GaussianArray(rng.normal(size=(20, 3)), std=0.1, feature_names=NAMES)
    limits = np.where(rng.random((20, 3)) < 0.1, 1, 0)
    rows = Incomplete(g, rng.random((20, 3)) < 0.3, limits)
    map_ = LinearMap([[0.0, 2.0], [0.0, 0.0], [1.0, 0.0]], names=["c", "twice a"])
    moved = map_.fit_transform(rows)
    assert_array_equal(moved.missing, rows.missing[:, [2, 0]])
    assert_array_equal(moved.limits, limits[:, [2, 0]])
    gaps = rows.missing & (limits == 0)
    assert_array_equal(moved.gaussians.means, np.where(gaps, 0.0, g.means)[:, [2, 0]] * [1, 2])
    points = np.where(rows.missing, np.nan, g.means)
    assert_array_equal(map_.fit(points).transform(points), points[:, [2, 0]] * [1, 2])
    for other in ([[1.0], [1.0], [0.0]], [[-1.0], [0.0], [0.0]], [[1.0, 1.0], [0.0, 0.0], [0.0, 0.0]]):
        with pytest.raises(UncertainError, match="limit"):
            LinearMap(other).fit(rows)
        with pytest.raises(UncertainError, match="is missing, and LinearMap takes no gaps"):
            LinearMap(other).fit(Incomplete(g, rows.missing))


def test_linear_map_beside_other_transformers(rng: np.random.Generator) -> None:
    from sklearn.compose import ColumnTransformer

    A = [[1.0], [-1.0]]
    g = GaussianArray(rng.normal(size=(20, 3)), std=0.1, feature_names=NAMES)
    blocks = [("colour", LinearMap(A, names=["u - g"]), [0, 1]), ("rest", "passthrough", [2])]
    plain = ColumnTransformer(blocks).fit(g.means)
    assert_allclose(plain.transform(g.means), np.c_[g.means[:, :2] @ A, g.means[:, 2]])
    assert plain.get_feature_names_out().tolist() == ["colour__u - g", "rest__x2"]
    both = uncertain.GaussianColumnTransformer(blocks)
    for out in (both.fit_transform(g), both.transform(g)):
        assert out.feature_names == ("colour__u - g", "rest__r")
        assert_same(out, plain.transform(g.means), g.covariances()[:, 1:, 1:] * [[2, 0], [0, 1]])
    with pytest.raises(UncertainError, match="order"):
        both.transform(g[:, ["g", "u", "r"]])
    with pytest.raises(TypeError, match="error bars"):
        ColumnTransformer(blocks).fit_transform(g)
