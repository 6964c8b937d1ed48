"""Ways to model uncertainty: covariances against sampling or another program; columns of a table of
replicates."""

from typing import Any

import catalogues
import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray
from scipy.signal import welch as scipy_welch
from sklearn.covariance import ledoit_wolf, oas

import uncertain
from uncertain import GaussianArray, uncertainty
from uncertain.exceptions import ColumnError, ParameterError, UncertainError, UncertainWarning
from uncertain.uncertainty import from_replicates

Floats = NDArray[np.float64]


def sample_covariance(draws: Floats) -> Floats:
    """Of draws in rows."""
    return np.atleast_2d(np.cov(draws, rowvar=False))


def blob(row: float, col: float, width: float = 5.0, turn: float = 0.0, size: int = 24) -> Floats:
    """A smooth elongated spot, exactly movable."""
    at = np.arange(size) - (size - 1) / 2
    r, c = np.meshgrid(at - row, at - col, indexing="ij")
    r, c = r * np.cos(turn) + c * np.sin(turn), -r * np.sin(turn) + c * np.cos(turn)
    return np.exp(-(r**2 / (2 * width**2) + c**2 / (2 * (0.6 * width) ** 2)))


# -- images


@pytest.mark.parametrize("move", ["translation", "rotation", "scaling"])
def test_moved_images_have_the_covariance(move: str) -> None:
    rng = np.random.default_rng(0)
    t = rng.normal(size=(2000, 2))
    if move == "translation":
        draws = [blob(1.0 + 0.3 * a, -0.5 + 0.15 * b) for a, b in t]
        X = uncertainty.translation(blob(1.0, -0.5)[None], (0.3, 0.15))
    elif move == "rotation":
        draws = [blob(0.0, 0.0, turn=0.4 + 0.08 * a) for a, _ in t]
        X = uncertainty.translation(blob(0.0, 0.0, turn=0.4)[None], 0.0, rotation=0.08)
    else:
        draws = [blob(0.0, 0.0, width=5.0 * (1 + 0.05 * a)) for a, _ in t]
        X = uncertainty.translation(blob(0.0, 0.0)[None], 0.0, scaling=0.05)
    expected = sample_covariance(np.array(draws).reshape(len(t), -1))
    got = X.covariances()[0]
    # First order and central differences: a few percent at these widths.
    assert np.linalg.norm(got - expected) < 0.1 * np.linalg.norm(expected)
    assert X.kind == "low-rank" and X.shape == (1, 576)


def test_moves_add_up_and_flat_images_are_the_same() -> None:
    images = np.random.default_rng(1).normal(size=(3, 5, 4))
    together = uncertainty.translation(images, 0.5, rotation=0.1, scaling=0.2)
    parts = [
        uncertainty.translation(images, 0.5),
        uncertainty.translation(images, 0.0, rotation=0.1),
        uncertainty.translation(images, 0.0, scaling=0.2),
    ]
    np.testing.assert_allclose(together.covariances(), sum(p.covariances() for p in parts), atol=1e-14)
    assert uncertainty.translation(images.reshape(3, 20), 0.5, shape=(5, 4)) == parts[0]
    assert uncertainty.translation(images, 0.0).kind == "zero"


# -- linear maps, correlations


def test_propagated_covariance_is_that_of_mapped_draws() -> None:
    rng = np.random.default_rng(2)
    roots = rng.normal(size=(3, 2, 2))
    X = GaussianArray(rng.normal(size=(3, 2)), cov=roots @ roots.swapaxes(1, 2))
    J = rng.normal(size=(4, 2))
    moved = uncertainty.propagate(J, X)
    draws = X.sample(20_000, random_state=0).means.reshape(3, 20_000, 2) @ J.T
    np.testing.assert_allclose(moved.means, X.means @ J.T, atol=1e-14)
    for row in range(3):
        expected = sample_covariance(draws[row])
        assert np.linalg.norm(moved.covariances()[row] - expected) < 0.05 * np.linalg.norm(expected)
    per_row = uncertainty.propagate(np.broadcast_to(J, (3, 4, 2)), X)
    np.testing.assert_allclose(per_row.covariances(), moved.covariances(), atol=1e-14)
    matrices = uncertainty.propagate(J, X.covariances())
    np.testing.assert_allclose(matrices, moved.covariances(), atol=1e-14)
    shared = uncertainty.propagate(J, np.eye(2), means=np.zeros((5, 4)))
    assert shared.kind == "shared" and shared.shape == (5, 4)


def test_correlated_errors_scatter_as_their_covariance_says() -> None:
    """Errors with a common part, drawn; read from arrays, from columns and from `uncertainties`."""
    import polars as pl

    rng = np.random.default_rng(9)
    std, r = np.array([[0.5, 2.0]]), 0.6
    shared, own = rng.normal(size=(2, 200_000, 2))
    draws = std * (np.sqrt(r) * shared[:, :1] + np.sqrt(1 - r) * own)
    expected = sample_covariance(draws)
    arrays = uncertainty.from_correlations(np.zeros((1, 2)), std, [[1.0, r], [r, 1.0]])
    table = pl.DataFrame({"a": [0.0], "b": [0.0], "a_err": [0.5], "b_err": [2.0], "a_b_corr": [r]})
    reader = uncertain.AsGaussians(features=["a", "b"], std="{}_err", corr="{}_{}_corr")
    columns = reader.fit_transform(table)
    for X in (arrays, columns):
        np.testing.assert_allclose(X.covariances()[0], expected, rtol=0.02)
    np.testing.assert_allclose(arrays.covariances()[0].diagonal(), std[0] ** 2)
    uncertainties = pytest.importorskip("uncertainties")
    common = uncertainties.ufloat(0.0, np.sqrt(r))
    parts = [uncertainties.ufloat(0.0, np.sqrt(1 - r)) for _ in range(2)]
    numbers = [[s * (common + part) for s, part in zip(std[0], parts, strict=True)]]
    X = uncertainty.from_uncertainties(numbers, correlated=True)
    np.testing.assert_allclose(X.covariances()[0], expected, rtol=0.02)


# -- standard errors, bounds


def test_standard_errors_are_what_repeated_experiments_show() -> None:
    rng = np.random.default_rng(3)
    N = 16
    draws = rng.normal(5.0, 2.0, size=(20_000, N))
    se = draws.std(axis=1, ddof=1) / np.sqrt(N)
    rows = (draws.mean(axis=1)[:, None], se[:, None])
    assert uncertainty.from_standard_errors(*rows, rule="mean").trace().mean() == pytest.approx(
        draws.mean(axis=1).var(), rel=0.03
    )
    assert uncertainty.from_standard_errors(*rows, N, rule="population").trace().mean() == pytest.approx(
        4.0, rel=0.03
    )


def test_the_papers_rule_scales_standard_errors_into_the_range_of_the_means() -> None:
    rng = np.random.default_rng(5)
    means, se = rng.normal(size=(50, 3)) * [1.0, 10.0, 100.0], rng.uniform(0.1, 1.0, size=(50, 3))
    se[:, 2] = 0.0
    variance = uncertainty.from_standard_errors(means, se, rule="gsu-paper").covariances().diagonal(0, 1, 2)
    np.testing.assert_allclose(variance.max(axis=0)[:2], 0.8 * np.ptp(means, axis=0)[:2])
    np.testing.assert_allclose(variance[:, :2] / variance[0, :2], se[:, :2] / se[0, :2])
    assert not variance[:, 2].any()


def test_bounds_have_the_moments_of_the_split_normal() -> None:
    rng = np.random.default_rng(4)
    mode, below, above = 10.0, 1.0, 3.0
    z = np.abs(rng.normal(size=400_000))
    right = rng.random(400_000) < above / (above + below)
    draws = np.where(right, mode + above * z, mode - below * z)
    with pytest.warns(UncertainWarning, match="100 % of the error bars are asymmetric"):
        X = uncertainty.from_bounds([[mode - 2 * below]], [[mode + 2 * above]], 2.0, value=[[mode]])
    assert X.means[0, 0] == pytest.approx(draws.mean(), abs=0.02)
    assert X.trace()[0] == pytest.approx(draws.var(), rel=0.01)
    with pytest.warns(UncertainWarning, match="average width"):
        average = uncertainty.from_bounds([[9.0]], [[13.0]], value=[[mode]], rule="average")
    assert average.means[0, 0] == mode and average.trace()[0] == pytest.approx(4.0)


def test_symmetric_bounds_do_not_warn() -> None:
    plain = uncertainty.from_bounds([[-1.0, 0.0]], [[1.0, 4.0]], 2.0)
    quoted = uncertainty.from_bounds([[-1.0, 0.0]], [[1.0, 4.0]], 2.0, value=[[0.0, 2.0]])
    np.testing.assert_allclose(plain.covariances(), [np.diag([0.25, 1.0])])
    np.testing.assert_allclose(quoted.covariances(), plain.covariances())


@pytest.mark.filterwarnings("ignore::uncertain.exceptions.UncertainWarning")
def test_bounds_with_correlations() -> None:
    low, high, value = [[-1.0, -2.0]], [[3.0, 2.0]], [[0.0, 0.0]]
    for rule in ("moments", "average"):
        rows = uncertainty.from_bounds(low, high, value=value, rule=rule, corr=0.5)
        plain = uncertainty.from_bounds(low, high, value=value, rule=rule)
        std = np.sqrt(plain.covariances()[0].diagonal())
        np.testing.assert_allclose(rows.covariances()[0][0, 1], 0.5 * std.prod())
        assert np.array_equal(rows.means, plain.means)
    symmetric = uncertainty.from_bounds([[-1.0, -2.0]], [[1.0, 2.0]], corr=[-0.5])
    np.testing.assert_allclose(symmetric.covariances(), [[[1, -1], [-1, 4]]])


# -- replicates


def test_replicates_of_a_known_population() -> None:
    rng = np.random.default_rng(5)
    true = np.array([[2.0, 0.8], [0.8, 1.0]])
    groups, N = 4000, 5
    draws = rng.multivariate_normal([1.0, -1.0], true, size=groups * N)
    by = np.repeat(np.arange(groups), N)
    one = uncertainty.from_replicates(draws, by=by, of="population", shrinkage=None)
    mean = uncertainty.from_replicates(draws, by=by, of="mean", shrinkage=None)
    np.testing.assert_allclose(one.covariances().mean(axis=0), true, atol=0.05)
    np.testing.assert_allclose(mean.covariances().mean(axis=0), sample_covariance(mean.means), atol=0.03)
    pooled = uncertainty.from_replicates(draws, by=by, of="population", shrinkage="pooled")
    np.testing.assert_allclose(pooled.covariances()[0], true, atol=0.05)


@pytest.mark.parametrize(("shrinkage", "oracle"), [("ledoit-wolf", ledoit_wolf), ("oas", oas)])
def test_shrinkage_is_that_of_scikit_learn_in_units_of_the_scatter(shrinkage: Any, oracle: Any) -> None:
    rng = np.random.default_rng(6)
    sizes = np.array([3, 7, 2, 30, 7])
    draws = rng.normal(size=(sizes.sum(), 4)) @ rng.normal(size=(4, 4)) * [1.0, 100.0, 1e-3, 1.0]
    by = rng.permutation(np.repeat(np.arange(5), sizes))
    X = uncertainty.from_replicates(draws, by=by, of="population", shrinkage=shrinkage)
    unit = np.sqrt(sum((N - 1) * draws[by == g].var(axis=0, ddof=1) for g, N in enumerate(sizes)) / 44)
    for group, N in enumerate(sizes):
        mine = draws[by == group] / unit
        matrix, share = oracle(mine)
        biased = np.cov(mine, rowvar=False, ddof=0)
        np.testing.assert_allclose(
            matrix, (1 - share) * biased + share * np.trace(biased) / 4 * np.eye(4), rtol=1e-9
        )
        scaled = X.covariances()[group] / np.outer(unit, unit)
        np.testing.assert_allclose(scaled, matrix * N / (N - 1), rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(X.means[group], draws[by == group].mean(axis=0))


@pytest.mark.parametrize("shrinkage", ["ledoit-wolf", "oas", 0.3, "pooled", None])
def test_replicates_in_other_units(shrinkage: Any) -> None:
    """Rescaling a column rescales its row and column of every covariance, and nothing else."""
    rng = np.random.default_rng(7)
    by = np.repeat(np.arange(40), 4)
    draws = rng.normal(size=(160, 2)) * [0.5, 60.0]  # as shimmer and pitch of voices
    factor = np.array([1e5, 1.0])
    options: dict[str, Any] = {"by": by, "of": "mean", "shrinkage": shrinkage}
    one = uncertainty.from_replicates(draws, **options)
    other = uncertainty.from_replicates(draws * factor, **options)
    np.testing.assert_allclose(other.means, one.means * factor)
    np.testing.assert_allclose(other.covariances(), one.covariances() * np.outer(factor, factor), rtol=1e-10)
    errors = np.sqrt(np.diagonal(one.covariances(), axis1=1, axis2=2).mean(axis=0))
    np.testing.assert_allclose(errors, [0.25, 30.0], rtol=0.15)  # scatter / sqrt(4)


@pytest.mark.parametrize("shrinkage", ["ledoit-wolf", "oas", 0.3])
def test_a_feature_without_scatter_gets_none(shrinkage: Any) -> None:
    rng = np.random.default_rng(8)
    by = np.repeat(np.arange(6), 3)
    draws = np.column_stack([rng.normal(size=18), np.repeat(rng.normal(size=6), 3), rng.normal(size=18)])
    S = uncertainty.from_replicates(draws, by=by, of="mean", shrinkage=shrinkage).covariances()
    assert not S[:, 1].any() and not S[:, :, 1].any()
    alone = uncertainty.from_replicates(draws[:, ::2], by=by, of="mean", shrinkage=shrinkage)
    np.testing.assert_allclose(S[:, ::2, ::2], alone.covariances())


def test_groups_by_two_columns_and_diagonal() -> None:
    import polars as pl

    table = pl.DataFrame({"s": [1] * 4, "t": ["u", "v"] * 2, "x": [1.0, 5.0, 3.0, 9.0], "kind": [7, 8] * 2})
    options: Any = {"of": "population", "covariance": "diagonal", "keep": ["kind"]}
    made = uncertainty.from_replicates(table, by=["s", "t"], **options)
    assert made.select("s", "t", "kind", "n").rows() == [(1, "u", 7, 2), (1, "v", 8, 2)]
    np.testing.assert_allclose(made["x_spread"].to_numpy() ** 2, [2.0, 8.0])


# -- signals


def test_welch_means_of_new_signals_scatter_as_their_covariances_say() -> None:
    rng = np.random.default_rng(7)
    fs, bands = 100.0, [(5.0, 10.0), (10.0, 25.0)]
    signals = rng.normal(size=(300, 1, 1000))
    X = uncertainty.welch(signals, fs, bands, nperseg=100, of="mean", covariance="full", shrinkage=None)
    scatter = sample_covariance(X.means)
    np.testing.assert_allclose(np.diag(X.covariances().mean(axis=0)), np.diag(scatter), rtol=0.25)


def test_welch_windows_are_scipys_windows() -> None:
    """Of a signal of two windows the mean of exp(log-power) is SciPy's average."""
    rng = np.random.default_rng(8)
    x = rng.normal(size=192)
    X = uncertainty.welch(x[None], 64.0, {"all": (0, 32)}, nperseg=128, shrinkage=None)
    _, density = scipy_welch(x, 64.0, nperseg=128)
    m, s = X.means[0, 0], np.sqrt(X.trace()[0] / 2)  # two numbers m +- s
    assert np.exp([m - s, m + s]).mean() == pytest.approx(density.sum() * 0.5, rel=1e-12)


# -- other programs


def test_numbers_of_the_uncertainties_package() -> None:
    uncertainties = pytest.importorskip("uncertainties")
    a, b = uncertainties.ufloat(1.0, 0.3), uncertainties.ufloat(2.0, 0.4)
    values = np.array([[a + b, a - b], [a, 7.0]], dtype=object)
    plain = uncertainty.from_uncertainties(values)
    np.testing.assert_allclose(plain.means, [[3.0, -1.0], [1.0, 7.0]])
    np.testing.assert_allclose(plain.covariances(), [np.diag([0.25, 0.25]), np.diag([0.09, 0.0])])
    full = uncertainty.from_uncertainties(values[:1], correlated=True)
    np.testing.assert_allclose(full.covariances(), [[[0.25, -0.07], [-0.07, 0.25]]])
    with pytest.raises(UncertainError, match="row 0, feature 1"):
        uncertainty.from_uncertainties([[1.0, "x"]])


# -- refusals


def bounds(low: Any, high: Any, k: float = 1.0, **options: Any) -> Any:
    return uncertainty.from_bounds(low, high, k, **options)


def bounds_with(corr: Any, d: int = 2) -> Any:
    return uncertainty.from_bounds(-np.ones((2, d)), np.ones((2, d)), corr=corr)


def standard_errors(se: Any, n: Any, rule: Any) -> Any:
    return uncertainty.from_standard_errors([[1.0, 2.0]], se, n, rule=rule)


def replicates(change: dict[str, Any], **options: Any) -> Any:
    import polars as pl

    table = pl.DataFrame({"g": ["a", "a", "a"], "x": [1.0, 2.0, 4.0], "z": [1, 2, 1]} | change)
    usual: dict[str, Any] = {"by": "g", "of": "mean", "features": ["x"]}
    return uncertainty.from_replicates(table, **(usual | options))


def signals(**options: Any) -> Any:
    noise = np.random.default_rng(0).normal(size=(1, 1000))
    given: dict[str, Any] = {"signals": noise, "fs": 100.0, "bands": [(5, 10)], "nperseg": 100}
    return uncertainty.welch(**(given | options))


IMPOSSIBLE = np.where(np.eye(3) == 1, 1.0, [[[0.5]], [[-0.9]]])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: uncertainty.translation(np.zeros((2, 9))), "pass shape"),
        (lambda: uncertainty.translation(np.zeros((2, 1, 9))), "2 x 2"),
        (lambda: uncertainty.translation(np.zeros((2, 3, 3)), -1.0), ">= 0"),
        (lambda: uncertainty.translation(np.zeros((2, 3, 3)), (1.0, 2.0, 3.0)), "row, column"),
        (lambda: uncertainty.translation(np.full((2, 3, 3), np.nan)), "image 0, row 0, column 0"),
        (lambda: uncertainty.propagate(np.zeros((4, 3)), np.eye(2)), r"got \(4, 3\) and \(2, 2\)"),
        (
            lambda: uncertainty.from_correlations([[0, 0]], [[1, 2]], np.eye(2) / 2),
            "feature 0 is 0.5; the diagonal is 1",
        ),
        (lambda: standard_errors([[0.1, -0.1]], 4, "mean"), "row 0, feature 1 is -0.1"),
        (lambda: standard_errors([[0.1, 0.1]], None, "population"), "needs n"),
        (lambda: standard_errors([[0.1, 0.1]], 0, "population"), ">= 1"),
        (lambda: standard_errors([[0.1, 0.1]], 4, "other"), 'must be one of "mean"'),
        (lambda: standard_errors([[0.1]], 4, "mean"), "same shape"),
        (lambda: bounds([[-0.1]], [[0.2]], value=[[5.0]]), "row 0, feature 0: expected lower <= value"),
        (lambda: bounds([[0.0], [np.nan]], [[1.0], [1.0]]), "row 1, feature 0 is nan"),
        (lambda: bounds([[0.0]], [[1.0]], 0), "k = 0"),
        (
            lambda: bounds([[-1.0, -2]], [[3.0, 2]], value=[[0.0, 0]], rule="shape", corr=0.5),
            'rule="shape" is for independent errors',
        ),
        (lambda: bounds_with([0.1, -1.2]), r"corr: row 1 is -1.2; .* \[-1, 1\]"),
        (lambda: bounds_with([np.nan, 0.2]), "corr: row 0 is nan"),
        (lambda: bounds_with([0.1, 0.2, 0.3]), r"corr: expected shape \(2, 2, 2\) or \(2, 2\)"),
        (lambda: bounds_with([[1.0, 0.4], [0.0, 1.0]]), r"corr: .*feature 1 is 0\.4; matrices"),
        (lambda: bounds_with([[1.0, 0.0], [0.0, 0.5]]), r"corr: .*feature 1 is 0\.5; the diagonal"),
        (lambda: bounds_with(IMPOSSIBLE, 3), r"corr: row 1 is -0\.8.*eigenvalue"),
        (lambda: replicates({}, by="other"), "no column 'other'"),
        (lambda: replicates({"g": ["a", "b", "b"]}), "group g = 'a' has a single replicate"),
        (lambda: replicates({}, keep=["z"]), "'z' varies within group g = 'a': 1 in row 0, 2 in row 1"),
        (lambda: replicates({"x": [1.0, None, 2.0]}), "'x', row 1 is null"),
        (lambda: replicates({"x": [1.0, 2.0, float("nan")]}), "'x', row 2: nan"),
        (lambda: replicates({"g": ["a", None, "a"]}), "'g': row 1 is null"),
        (lambda: replicates({}, of="sum"), "must be 'mean'"),
        (lambda: replicates({}, shrinkage=1.5), r"in \[0, 1\]"),
        (lambda: signals(bands=[(60, 70)]), "fs / 2"),
        (lambda: signals(bands=[(5.1, 5.2)]), "holds no frequency"),
        (lambda: signals(bands={}), "empty"),
        (lambda: signals(nperseg=1000), "one window"),
        (lambda: signals(overlap=1.0), "overlap"),
        (lambda: signals(of="both"), "of='both'"),
        (lambda: signals(signals=np.zeros((1, 1000))), "window 0 has no power in band"),
        (lambda: signals(signals=np.full((1, 1000), np.inf)), "row 0, channel 0, sample 0 is inf"),
    ],
)
def test_refused_with_row_and_value(call: Any, message: str) -> None:
    with pytest.raises(UncertainError, match=message):
        call()


PATIENTS, REPEATS = 40, 4


def recordings(rng: np.random.Generator) -> dict[str, Any]:
    """Voices: `shimmer` knows a little of the label, everything else is a trap."""
    sick = np.repeat(np.arange(PATIENTS) % 2, REPEATS)
    rows = PATIENTS * REPEATS
    return {
        "patient": np.repeat([f"p{i:02}" for i in range(PATIENTS)], REPEATS),
        "recording": np.tile(np.arange(1, REPEATS + 1), PATIENTS),
        "row": np.arange(rows),
        "status": sick,
        "age": np.repeat(rng.uniform(40, 80, PATIENTS).round(1), REPEATS),
        "sex": np.repeat(rng.choice(["f", "m"], PATIENTS), REPEATS),
        "shimmer": 0.3 * sick + rng.normal(size=rows),
        "pitch": rng.integers(80, 300, rows),  # whole numbers that were measured
    }


def test_labels_and_counters_are_no_features(constructor: Any, rng: np.random.Generator) -> None:
    columns = recordings(rng)
    with pytest.warns(UncertainWarning) as caught:
        guessed = from_replicates(constructor(columns), by="patient", of="mean", covariance="diagonal")
    assert len(caught) == 1 and caught[0].filename == __file__
    assert "no floats: recording, row, pitch." in str(caught[0].message)
    described = ["patient", "status", "age", "sex", "n"]
    assert catalogues.names(guessed) == [*described, "shimmer", "shimmer_se"]
    made = from_replicates(
        constructor(columns), by="patient", of="mean", features=["shimmer", "pitch"], covariance="diagonal"
    )
    assert catalogues.names(made) == [*described, "shimmer", "shimmer_se", "pitch", "pitch_se"]
    assert catalogues.values(made, "status") == [0, 1] * (PATIENTS // 2)
    assert catalogues.values(made, "sex") == columns["sex"][::REPEATS].tolist()
    assert catalogues.values(made, "age") == columns["age"][::REPEATS].tolist()
    repeats = columns["shimmer"].reshape(PATIENTS, REPEATS)
    np.testing.assert_allclose(catalogues.values(made, "shimmer"), repeats.mean(axis=1))
    np.testing.assert_allclose(
        catalogues.values(made, "shimmer_se"), repeats.std(axis=1, ddof=1) / np.sqrt(REPEATS)
    )


def test_a_fit_reads_what_the_covariances_are_of(rng: np.random.Generator) -> None:
    """Standard errors are measurement errors, populations are spread; correlations are found by name."""
    table = pl.DataFrame(recordings(rng)).drop("recording", "row")
    for of, steps in (
        ("mean", ["gaussians", "denoise", "scale", "classify"]),
        ("population", ["gaussians", "scale", "classify"]),
    ):
        made = from_replicates(table, by="patient", of=of, features=["shimmer", "pitch"])
        model = uncertain.fit(made, target="status", exact=[], method="gsu")
        assert model.columns_.features == ("shimmer", "pitch")
        assert list(model.pipeline_.named_steps) == steps
        lists = from_replicates(table, by="patient", of=of, features=["shimmer", "pitch"], columns="lists")
        rows = uncertain.AsGaussians(mean="mean", cov="cov").fit_transform(lists)
        read = model.pipeline_[0].transform(made)
        np.testing.assert_allclose(read.covariances(), rows.covariances(), rtol=1e-12)


def test_scalars_and_lists_are_the_same_gaussians(constructor: Any, rng: np.random.Generator) -> None:
    values = rng.normal(size=(30, 3)) @ rng.normal(size=(3, 3))
    columns = {"g": np.repeat(np.arange(6), 5)} | dict(zip("xyz", values.T, strict=True))
    table = constructor(columns)
    scalars = from_replicates(table, by="g", of="population")
    names = ["x", "x_spread", "y", "y_spread", "z", "z_spread", "x_y_corr", "x_z_corr", "y_z_corr"]
    assert catalogues.names(scalars) == ["g", "n", *names]
    lists = from_replicates(table, by="g", of="population", columns="lists")
    assert catalogues.names(lists) == ["g", "n", "mean", "cov"]
    X = uncertain.AsGaussians(features=["x", "y", "z"], std="{}_spread", corr="{}_{}_corr").fit_transform(
        scalars
    )
    again = uncertain.AsGaussians(mean="mean", cov="cov").fit_transform(lists)
    np.testing.assert_array_equal(X.means, again.means)
    np.testing.assert_allclose(X.covariances(), again.covariances(), rtol=1e-12, atol=1e-14)


def test_a_singular_covariance_survives_as_correlations(rng: np.random.Generator) -> None:
    table = pl.DataFrame(
        {"g": np.repeat(np.arange(20), 2), "x": rng.normal(size=40), "still": [1.0, 2.0] * 20}
    )
    table = table.with_columns(still=pl.lit(3.0), y=2 * pl.col("x"))
    made = from_replicates(table, by="g", of="mean", shrinkage=None, features=["x", "still", "y"])
    assert set(made["x_y_corr"].round(12)) == {1.0} and set(made["x_still_corr"]) == {0.0}
    X = uncertain.AsGaussians(features=["x", "still", "y"], std="{}_se", corr="{}_{}_corr").fit_transform(
        made
    )
    np.testing.assert_allclose(X.covariances()[:, 0, 2], 2 * X.covariances()[:, 0, 0])


def test_what_describes_a_group_keeps_its_type() -> None:
    import datetime as dt

    import pandas as pd

    day = dt.date(2026, 1, 1)
    table = pl.DataFrame(
        {
            "g": [1, 1, 2, 2], "day": [day] * 4, "gap": [None] * 4, "nan": [float("nan")] * 4,
            "x": [1.5, 2, 3, 4],
        },
        schema_overrides={"g": pl.Int8, "gap": pl.Float64},
    ).with_columns(
        kind=pl.Series(["u", "u", "v", "v"], dtype=pl.Categorical), list=pl.Series([[1, 2]] * 4)
    )  # fmt: skip
    made = from_replicates(table, by="g", of="mean")
    assert {name: made.schema[name] for name in table.columns} == dict(table.schema)
    frame = pd.DataFrame(
        {"g": [1, 1, 2, 2], "kind": pd.Categorical(list("uuvv")), "x": [1.5, 2, 3, 4]}, index=[7, 8, 9, 9]
    )
    answer = from_replicates(frame, by="g", of="mean")
    assert answer["kind"].dtype == "category" and answer.index.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("change", "options", "error", "message"),
    [
        ({"n": [1, 1, 2, 2]}, {}, ColumnError, "'n' would have the name of one of the table"),
        ({"x_se": [0.1, 0.3, 0.2, 0.4]}, {}, ColumnError, "two new columns would be called 'x_se'"),
        ({}, {"keep": "x"}, ParameterError, "must be a list of column names"),
        ({}, {"features": []}, ParameterError, "name at least one column"),
        ({}, {"keep": ["z"]}, ColumnError, "there is no column 'z'"),
        ({}, {"features": ["x"], "keep": ["x"]}, ParameterError, "as keep= and as features="),
        ({"x": [1.0, 1.0, 2.0, 2.0]}, {}, ColumnError, "no column of floats varies"),
        ({}, {"columns": "wide"}, ParameterError, "columns"),
    ],
)
def test_mistakes(
    change: dict[str, Any], options: dict[str, Any], error: type[UncertainError], message: str
) -> None:
    table = pl.DataFrame({"g": [1, 1, 2, 2], "x": [1.0, 2.5, 2.0, 5.0]} | change)
    with pytest.raises(error, match=message):
        from_replicates(table, **({"by": "g", "of": "mean"} | options))


def test_units_stay(rng: np.random.Generator) -> None:
    table = pytest.importorskip("astropy.table")
    u = pytest.importorskip("astropy.units")
    columns = {
        "g": np.repeat([1, 2, 3], 4),
        "x": rng.normal(size=12) * u.mJy,
        "y": rng.normal(size=12) * u.ABmag,
    }
    for kind in (table.QTable, table.Table, dict):
        made = from_replicates(kind(columns), by="g", of="mean")
        assert (made["x"].unit, made["x_se"].unit, made["y_se"].unit) == (u.mJy, u.mJy, u.mag)
        assert made["y"].unit == u.ABmag
        means = columns["x"].value.reshape(3, 4).mean(axis=1)
        np.testing.assert_allclose(np.asarray(getattr(made["x"], "value", made["x"])), means)
