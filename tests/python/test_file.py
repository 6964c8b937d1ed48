"""Model files, also of stacks: a saved model comes back bit for bit, and nothing else is read."""

import json
import pickle
import struct
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from catalogues import core_steps, description, labelled, redescribed
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.pipeline import Pipeline
from test_fit import N, scalars

import uncertain
from uncertain._choice.stack import StackedClassifier, StackedRegressor
from uncertain._uncertain import average, members_of
from uncertain.exceptions import ModelFileError, ParameterError, UncertainError


def three_classes() -> dict[str, Any]:
    columns = scalars() | {"label": [(3, 1, 2)[i % 3] for i in range(N)]}
    columns["u"] = np.asarray(columns["u"]) + 4.0 * (np.arange(N) % 3 == 1)
    return columns


def numbers() -> dict[str, Any]:
    columns = scalars()
    noise = np.random.default_rng(1).normal(0.0, 0.3, N)
    return columns | {"label": columns["u"] - 2.0 * columns["v"] + noise}


NUMBERED = ("gsu", "huber", "kernel")
HUBER: dict[str, Any] = {"method": "huber", "alpha": 1e-2, "delta": 0.3, "max_refinements": 2}
CASES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "strings": (scalars(), {}),
    "booleans": (scalars() | {"label": [i % 2 == 1 for i in range(N)]}, {}),
    "three integers": (three_classes(), {}),
    "unscaled": (scalars(), {"scale": False}),
    "uncalibrated": (scalars(), {"probability": False}),
    "chosen columns": (scalars(), {"features": ["u", "v"], "std": "{}_err", "on_missing": "point"}),
    "parameters": (
        scalars(),
        {"alpha": 0.03, "solver": "lbfgs", "class_weight": {"low": 2.0, "high": 1.0}, "random_state": 7},
    ),
    "kernel": (scalars(), {"method": "kernel", "C": 3.0, "tol": 1e-7, "max_iter": 1000}),
    "kernel, three classes": (
        three_classes(),
        {"method": "kernel", "sigma": 0.7, "coupling": "independent", "probability": False},
    ),
    "discriminant": (scalars(), {"method": "discriminant"}),
    "quadratic discriminant, given priors": (
        three_classes(),
        {"method": "discriminant", "shared_covariance": False, "n_components": 2, "priors": [0.2, 0.3, 0.5]},
    ),
    "plain EM": (scalars(), {"method": "discriminant", "acceleration": None, "max_iter": 3}),
    "stochastic": (scalars(), {"solver": "sgd", "max_iter": 200, "batch_size": 8}),
    "robust": (scalars(), {"method": "usvc", "confidence": 0.9, "bound": "chebyshev", "C": 2.0}),
    "robust, kernel": (scalars(), {"method": "ausvc", "kernel": "rbf", "gamma": 0.3, "max_rank": 12}),
    "robust, three classes": (three_classes(), {"method": "mpsvc", "probability": False, "polish": False}),
    "minimax": (scalars(), {"method": "minimax", "ridge": 1e-3}),
    "minimax, three classes": (three_classes(), {"method": "minimax", "probability": False}),
    "random features": (scalars(), {"method": "kernel", "n_components": 25}),
    "numbers": (numbers(), {}),
    "tube, kernel": (numbers(), {"loss": "epsilon_insensitive", "kernel": "rbf", "max_rank": 15}),
    "squares": (numbers(), {"loss": "squared"}),
    **{f"{m}, measured numbers": (numbers(), {"method": m, "meaning": "measurement"}) for m in NUMBERED},
    "huber": (scalars(), {"method": "huber", "coupling": "independent", "fit_intercept": True}),
    "huber, three classes": (three_classes(), HUBER | {"graph": "rbf", "laplacian": "unnormalized"}),
    "huber, numbers": (numbers(), HUBER | {"kernel": "linear", "graph": None, "threshold": 0.5}),
    "huber, views": (three_classes(), HUBER | {
        "views": [[0], [1]], "kernel": ["rbf", "linear"], "gamma": [0.7, None],
        "graph": ["knn", None], "view_weights": [0.6, 0.4], "between_alpha": 1e-3,
    }),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore:.*no plane is better")
@pytest.mark.parametrize("case", CASES)
def test_round_trip(case: str, tmp_path: Path) -> None:
    columns, arguments = CASES[case]
    table = pl.DataFrame(columns)
    model = uncertain.fit(table, **{"method": "gsu"} | arguments)
    path = tmp_path / "model.safetensors"
    model.save(path)
    for again in (uncertain.load(path), pickle.loads(pickle.dumps(model))):
        assert again.predict(table).equals(model.predict(table))
        if model.is_regression_:
            assert again.predict_interval(table).equals(model.predict_interval(table))
            assert again.predict_distribution(table).equals(model.predict_distribution(table))
        elif arguments.get("probability", True):
            assert again.predict_proba(table).equals(model.predict_proba(table))
            assert again.predict_set(table).equals(model.predict_set(table))
        assert again.columns_ == model.columns_
        assert np.array_equal(again.classes_, model.classes_)
        assert model.is_regression_ or again.classes_.dtype == model.classes_.dtype
        for (name, step), (other_name, other) in zip(
            model.pipeline_.steps, again.pipeline_.steps, strict=True
        ):
            assert name == other_name
            assert step.get_params() | SEED == other.get_params() | SEED
            np.testing.assert_equal(fitted_attributes(other), fitted_attributes(step))
        again.save(tmp_path / "again.safetensors")
        assert (tmp_path / "again.safetensors").read_bytes() == path.read_bytes()
        assert again.pipeline_[:-1].fit(table).transform(table) is not None


SEED = {"random_state": None}
"""Files hold none where nothing is drawn."""
NOT_KEPT = ("history_", "radii_")
"""Of robust machines, whose answers do not need them."""


def fitted_attributes(step: Any) -> dict[str, Any]:
    def plain(value: Any) -> Any:
        if isinstance(value, list):
            return [plain(each) for each in value]
        if isinstance(value, uncertain.KernelMap):
            return fitted_attributes(value)
        return value.tolist() if isinstance(value, np.ndarray) else value

    own = {name: value for name, value in vars(step).items() if name.endswith("_") and name[0] != "_"}
    return {name: plain(value) for name, value in own.items() if name not in NOT_KEPT}


def test_only_the_probabilistic_kernel_can_be_saved(tmp_path: Path) -> None:
    model = uncertain.fit(
        pl.DataFrame(scalars()),
        method="kernel",
        kernel=lambda a, b: np.exp(-np.abs(a.means[:, :1] - b.means[:, 0])),
    )
    with pytest.raises(UncertainError, match="no kernels but the probabilistic one"):
        model.save(tmp_path / "m")
    assert not list(tmp_path.iterdir())


def test_a_kernel_model_stores_its_support_rows_only(tmp_path: Path) -> None:
    columns = scalars(seed=1) | {"label": ["low" if i % 2 else "high" for i in range(N)]}
    columns["u"] = np.asarray(columns["u"]) + 100.0 * (np.arange(N) % 2)
    model = uncertain.fit(pl.DataFrame(columns), method="kernel", meaning="spread", probability=False)
    support = model.pipeline_[-1].support_rows_
    assert len(support) < N / 2
    model.save(tmp_path / "m")
    header, _ = header_and_data((tmp_path / "m").read_bytes())
    assert header["1.means"]["shape"] == [len(support), 2]
    assert uncertain.load(tmp_path / "m").pipeline_[-1].support_rows_ == support


def test_a_pickle_holds_the_bytes_of_the_file(tmp_path: Path) -> None:
    model = uncertain.fit(pl.DataFrame(scalars()), method="gsu")
    model.save(tmp_path / "m")
    assert (tmp_path / "m").read_bytes() in pickle.dumps(model)


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("models") / "m"
    uncertain.fit(pl.DataFrame(scalars()), method="gsu").save(path)
    return path.read_bytes()


def load_bytes(data: bytes, tmp_path: Path) -> uncertain.Model:
    path = tmp_path / "changed"
    path.write_bytes(data)
    return uncertain.load(path)


def header_and_data(saved: bytes) -> tuple[dict[str, Any], bytes]:
    (length,) = struct.unpack("<Q", saved[:8])
    return json.loads(saved[8 : 8 + length]), saved[8 + length :]


def with_header(header: Any, data: bytes) -> bytes:
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def test_cut_altered_and_foreign_files_are_refused(saved: bytes, tmp_path: Path) -> None:
    header, data = header_and_data(saved)
    first, *rest = (name for name in header if name != "__metadata__")
    others = {name: header[name] for name in rest}
    about = {"__metadata__": header["__metadata__"]}
    headers = {
        "a tensor removed": others | about,
        "a tensor renamed": others | about | {"other": header[first]},
        "a shape changed": header | {first: header[first] | {"shape": [10**15]}},
        "a type changed": header | {first: header[first] | {"dtype": "I64"}},
        "no metadata": others | {first: header[first]},
        "metadata is no JSON": header | {"__metadata__": {"uncertain": "{"}},
    }
    foreign = with_header({"w": {"dtype": "F64", "shape": [1], "data_offsets": [0, 8]}}, bytes(8))
    files = {what: with_header(changed, data) for what, changed in headers.items()} | {
        "a number that is none": saved[: -len(data)] + struct.pack("<d", float("nan")) + data[8:],
        "a byte more": saved + b"\0",
        "text": b"these are no numbers, but long enough to look at",
        "a pickle": pickle.dumps({"coef": [1.0]}),
        "another safetensors file": foreign,
    }
    cuts = (0, 1, 7, 8, 9, 100, len(saved) // 2, len(saved) - 8, len(saved) - 1)
    for what, content in (files | {f"cut after {n} bytes": saved[:n] for n in cuts}).items():
        with pytest.raises(ModelFileError, match="not a usable model file: "):
            load_bytes(content, tmp_path)
            pytest.fail(what)


def test_labels_that_no_file_can_hold_are_refused() -> None:
    with pytest.raises(UncertainError):
        uncertain.fit(pl.DataFrame(scalars() | {"label": [b"a", b"b"] * (N // 2)}), method="gsu")


@pytest.fixture(scope="module")
def two_steps(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models") / "two steps"
    uncertain.fit(pl.DataFrame(scalars()), method="gsu", meaning="spread", scale=False).save(path)
    return path


@pytest.mark.parametrize(
    "altered",
    [
        {"columns": []}, {"columns": {"target": 3}}, {"columns": {"nonsense": "x"}},
        {"columns": {"features": "ab"}}, {"columns": {"features": ["u", 3]}},
        {"columns": {"features": ["u", "v"], "std": ["u_err"]}},
        {"columns": {"features": ["u", "v"], "noise": "{}_err"}},
        {"columns": {"features": ["u", "v"], "std": {"u": ["a", "b", "c"]}}},
        {"columns": {"features": ["u", "v"], "std": "{}_err", "corr": {"pairs": []}}},
        {"columns": {"features": ["u", "v"], "std": "{}_err", "corr": [["u", "v", 1]]}},
        {"columns": {"groups": 1}}, {"columns": {"automatic": None}}, {"steps": 3}, {"steps": ["one"]},
        {"steps": ["same", "same"]}, {"steps": [["a"], "b"]}, {"parameters": {}},
        {"parameters": [{"kernel": "rbf"}]}, {"parameters": [{}, {"kernel": "rbf"}]},
        {"parameters": [{}, {"nonsense": 1}]}, {"parameters": [{}, {"n_jobs": 64}]},
        {"parameters": [{}, {"verbose": 1}]}, {"parameters": [{}, {"class_weight": {"pairs": 3}}]},
        {"parameters": [{}, {"class_weight": {"pair": []}}]},
        {"parameters": [{}, {"class_weight": {"pairs": [[[], 1]]}}]}, {"categories": ["u"]},
        {"categories": {"u": "ab"}}, {"categories": {"u": [["a"]]}}, {"units": ["mag"]}, {"units": {"u": 1}},
        {"nonsense": 1},
    ],
)  # fmt: skip
def test_an_altered_description_is_refused_at_load(
    altered: dict[str, Any], two_steps: Path, tmp_path: Path
) -> None:
    about = {
        "columns": {"target": "label", "features": ["u", "v"], "std": "{}_err"},
        "steps": ["gaussians", "classify"],
        "parameters": [{}, {}],
        "calibration": description(two_steps)["calibration"],
    }
    uncertain.load(redescribed(two_steps, about, tmp_path / "m"))
    with pytest.raises(ModelFileError, match="its description of columns is altered"):
        uncertain.load(redescribed(two_steps, about | altered, tmp_path / "m"))


def test_a_failed_save_says_what_failed(tmp_path: Path) -> None:
    model = uncertain.fit(pl.DataFrame(scalars()), method="gsu")
    (tmp_path / "file").write_text("")
    for path, why in [
        (tmp_path / "none" / "m", "there is no folder"),
        (tmp_path / "file" / "m", "is no folder"),
        (tmp_path, "it is a folder"),
        ("/proc/self/model", "folder /proc/self"),
    ]:
        with pytest.raises(ModelFileError, match=r"cannot be written: ") as caught:
            model.save(path)
        assert str(caught.value).startswith(f"{path} cannot") and why in str(caught.value)
        assert "not a usable" not in str(caught.value) and ".tmp" not in str(caught.value)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file"]


@pytest.mark.parametrize("name", ["max_iter", "batch_size"])
def test_counts_that_nobody_means_are_refused(name: str) -> None:
    with pytest.raises(ParameterError, match=rf"^{name} = 18446744073709551615: must be at most 2\^53"):
        uncertain.GSUClassifier(**{name: 2**64 - 1}).fit([[0.0], [1.0]], [0, 1])
    uncertain.GSUClassifier(**{name: 2**53}).fit([[0.0], [1.0]], [0, 1])


WEIGHTS = [0.3, 0.1, 0.2, 0.4]
BY_LEVEL = [WEIGHTS, [0.0, 0.5, 0.5, 0.0], [1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]]


def classifiers() -> list[Pipeline]:
    trees = HistGradientBoostingClassifier(max_iter=5, min_samples_leaf=5)
    return [
        Pipeline(
            [
                ("scale", uncertain.GaussianScaler()),
                ("classify", uncertain.GSUClassifier(probability=True, random_state=0)),
            ]
        ),
        Pipeline([("classify", uncertain.GaussianDiscriminant(n_components=2, random_state=0))]),
        Pipeline(
            [
                ("denoise", uncertain.GaussianDenoiser(random_state=0)),
                ("scale", uncertain.GaussianScaler(spread="total")),
                (
                    "classify",
                    uncertain.GSUClassifier(kernel="rbf", gamma=0.3, probability=True, random_state=0),
                ),
            ]
        ),
        Pipeline([("classify", uncertain.RemeasuredClassifier(trees, n_copies=2, random_state=0))]),
    ]


def regressors() -> list[Pipeline]:
    trees = HistGradientBoostingRegressor(max_iter=5, min_samples_leaf=5)
    return [
        Pipeline([("scale", uncertain.GaussianScaler()), ("regress", uncertain.GSURegressor())]),
        Pipeline(
            [
                ("denoise", uncertain.GaussianDenoiser(random_state=0)),
                ("collapse", uncertain.GaussianCollapser()),
                ("regress", uncertain.GSURegressor()),
            ]
        ),
        Pipeline([("regress", uncertain.ProbabilisticKernelSVR(sigma="median"))]),
        Pipeline([("regress", uncertain.RemeasuredRegressor(trees, n_copies=2, random_state=0))]),
    ]


def averaged(data: pl.DataFrame, target: str, average: Any, **options: Any) -> uncertain.Model:
    """A model of the table whose last step is the average."""
    other = {"label": "value", "value": "label"}[target]
    model = uncertain.fit(data.drop(other), target, method="gsu", meaning="spread", **options)
    reading = model.pipeline_[0]
    average.fit(reading.transform(data), data[target].to_numpy())
    return uncertain.Model(Pipeline([("gaussians", reading), ("average", average)]), model.columns_)


def same(model: uncertain.Model, path: Path, new: pl.DataFrame) -> None:
    model.save(path)
    for loaded in (uncertain.load(path), pickle.loads(pickle.dumps(model))):
        assert loaded.predict(new).equals(model.predict(new))
        assert loaded.columns_ == model.columns_
        own, step = model.pipeline_[-1], loaded.pipeline_[-1]
        assert type(step) is type(own) and loaded.pipeline_.steps[-1][0] == "average"
        assert step.weights_.tolist() == own.weights_.tolist() and step.sizes_.tolist() == own.sizes_.tolist()
        assert [[name for name, _ in m.steps] for m in step.members_] == [
            [name for name, _ in m.steps] for m in own.members_
        ]
        for a, b in zip(step.members_, own.members_, strict=True):
            for (_, x), (_, y) in zip(a.steps, b.steps, strict=True):
                assert type(x) is type(y)
                assert repr(x.get_params()) == repr(y.get_params())
                assert list(x.feature_names_in_) == list(y.feature_names_in_)
        if not model.is_regression_:
            assert loaded.predict_proba(new).equals(model.predict_proba(new))
            rows = model.pipeline_[0].transform(new)
            np.testing.assert_array_equal(step.decision_function(rows), own.decision_function(rows))
        loaded.save(path.with_name("again"))
        assert path.with_name("again").read_bytes() == path.read_bytes()


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("by_level", [False, True])
def test_stacks_of_classifiers(n_classes: int, by_level: bool, tmp_path: Path) -> None:
    data, new = labelled(90, n_classes), labelled(50, n_classes, seed=1)
    how = (BY_LEVEL, [0.05, 0.1]) if by_level else (WEIGHTS,)
    model = averaged(data, "label", StackedClassifier(classifiers(), *how))
    same(model, tmp_path / "m", new)
    # The core adds up the same.
    steps = core_steps(tmp_path / "m")
    rows = model.pipeline_[0].transform(new)
    expected = model.pipeline_[-1].predict_proba(rows)
    np.testing.assert_allclose(steps[0].predict_proba(rows._core), expected, rtol=1e-12)
    odds = steps[0].decision(rows._core)
    np.testing.assert_allclose(
        odds[:, 0] if n_classes == 2 else odds,
        model.pipeline_[-1].decision_function(rows),
        rtol=1e-9,
        atol=1e-12,
    )


def test_stacks_of_regressions(tmp_path: Path) -> None:
    data, new = labelled(90), labelled(50, seed=1)
    model = averaged(data, "value", StackedRegressor(regressors(), BY_LEVEL, [0.05, 0.0]))
    same(model, tmp_path / "m", new)
    steps = core_steps(tmp_path / "m")
    rows = model.pipeline_[0].transform(new)
    np.testing.assert_allclose(
        steps[0].decision(rows._core)[:, 0], model.pipeline_[-1].predict(rows), rtol=1e-12
    )


def test_gaps(tmp_path: Path) -> None:
    data = labelled(90).with_columns(
        pl.when(pl.int_range(90) % 7 == 0).then(None).otherwise(pl.col("v")).alias("v")
    )
    members = classifiers()[1:]
    members.append(Pipeline([("impute", uncertain.GaussianImputer(random_state=0)), *classifiers()[0].steps]))
    model = averaged(data, "label", StackedClassifier(members, WEIGHTS), on_missing="impute")
    same(model, tmp_path / "m", data)


def test_models_of_arrays(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    X = uncertain.GaussianArray(rng.normal(size=(60, 2)) + y[:, None], std=0.3, feature_names=["u", "v"])
    members = [
        *classifiers()[:2],
        Pipeline([("k", uncertain.ProbabilisticKernelSVC(probability=True, sigma=1.0))]),
    ]
    model = uncertain.Model(
        Pipeline([("average", StackedClassifier(members, [1.0, 2.0, 1.0]).fit(X, y))]),
        uncertain.fit(X, y, method="gsu").columns_,
    )
    model.save(tmp_path / "m")
    loaded = uncertain.load(tmp_path / "m")
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    assert loaded.pipeline_[-1].members_[0][0].feature_names_in_.tolist() == ["u", "v"]
    # A file from Rust says nothing about names and parameters.
    redescribed(tmp_path / "m", {}, tmp_path / "rust")
    np.testing.assert_array_equal(uncertain.load(tmp_path / "rust").predict_proba(X), model.predict_proba(X))
    assert uncertain.load(tmp_path / "rust").pipeline_[-1].classes_.tolist() == [0, 1]


def test_altered_descriptions_are_refused(tmp_path: Path) -> None:
    data = labelled(60)
    model = averaged(data, "label", StackedClassifier(classifiers()[:2], [1, 1]))
    model.save(tmp_path / "m")

    def refused(change: Any) -> None:
        about = description(tmp_path / "m")
        about["parameters"][-1] = change(about["parameters"][-1])
        with pytest.raises(ModelFileError, match="altered"):
            uncertain.load(redescribed(tmp_path / "m", about, tmp_path / "n"))

    refused(lambda own: {"members": own["members"][:1]})
    refused(lambda own: {"members": "both"})
    refused(lambda own: {"members": [own["members"][0], 1]})
    refused(lambda own: {"members": [own["members"][0], {"steps": [1], "parameters": [{}]}]})
    refused(lambda own: {"members": [own["members"][0], own["members"][0]]})
    refused(lambda own: {"members": [{"steps": ["x"], "parameters": [{}, {}]}, own["members"][1]]})
    refused(lambda own: {"members": [own["members"][0], {"steps": ["x"], "parameters": [{"no": 1}]}]})


def test_the_core_refuses_what_does_not_go_together() -> None:
    data = labelled(60)
    model = averaged(data, "label", StackedClassifier(classifiers()[:2], [1, 3]))
    lists = [
        [s for _, step in member.steps for s in step._steps()] for member in model.pipeline_[-1].members_
    ]
    whole = average(lists, np.array([[0.25, 0.75], [1.0, 0.0]]), [1.0, 0.0])
    members, weights, sizes = members_of(pickle.loads(pickle.dumps(whole)))
    assert weights.tolist() == [[0.25, 0.75], [1.0, 0.0]] and sizes == [1.0, 0.0]
    assert [[s.kind for s in m] for m in members] == [["scaler", "gsu"], ["discriminant"]]
    with pytest.raises(UncertainError, match="an average itself"):
        average([[whole]], np.ones((1, 1)), [])
    with pytest.raises(UncertainError, match="sum to 1"):
        average(lists, np.ones((1, 2)), [])
    with pytest.raises(UncertainError, match="0 members"):
        average([], np.ones((1, 0)), [])
    with pytest.raises(UncertainError, match="a gsu has no members"):
        members_of(lists[0][-1])
