"""What is behind the public names, of which users see effects alone: threads, folds of the core, the line of
progress and the words of the command line, descriptions that estimators share."""

import io
import os
import subprocess
import sys
import textwrap
import time
from typing import Any

import children
import numpy as np
import pytest
import threadpoolctl
from numpy.testing import assert_allclose
from numpy.typing import NDArray
from scipy.optimize import minimize
from sklearn.metrics import log_loss
from sklearn.utils.validation import check_random_state
from test_penalty import assert_rule, numbers, two_classes
from test_readme import PACKAGE as ROOT

import uncertain
from uncertain._base import run as running
from uncertain._base.docs import ENTRIES, PLACE
from uncertain._base.run import Deadline, Progress
from uncertain._held_out.pace import Pace
from uncertain._uncertain import effective_n_jobs, group_folds


def run(code: str, **environment: str) -> str:
    """What a fresh interpreter prints, in this environment."""
    command, env = [sys.executable, "-c", textwrap.dedent(code)], {**os.environ, **environment}
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def ours() -> list[dict[str, object]]:
    return [info for info in threadpoolctl.threadpool_info() if info["user_api"] == "uncertain"]


def test_threadpoolctl_sees_the_library_once() -> None:
    running.register()
    assert len(ours()) == 1
    assert ours()[0]["num_threads"] == effective_n_jobs(None)


def test_threadpool_limits() -> None:
    before = effective_n_jobs(None)
    with threadpoolctl.threadpool_limits(1):
        assert effective_n_jobs(None) == 1
        assert effective_n_jobs(2) == 2, "an explicit n_jobs wins"
    assert effective_n_jobs(None) == before
    with threadpoolctl.threadpool_limits(1, user_api="blas"):
        assert effective_n_jobs(None) == before, "a limit for others is none of ours"


def test_environment() -> None:
    code = "from uncertain._uncertain import effective_n_jobs as n; print(n(None), n(3))"
    assert run(code, OMP_NUM_THREADS="1") == "1 3"
    assert run(code, UNCERTAIN_NUM_THREADS="1", OMP_NUM_THREADS="") == "1 3"
    assert run(code, OMP_NUM_THREADS="nonsense").endswith(" 3")


FORK = """
    import multiprocessing, warnings
    import numpy as np
    from uncertain import GaussianArray
    from uncertain import GSUClassifier

    rng = np.random.default_rng(0)
    X = GaussianArray(rng.normal(size=(3000, 4)), std=0.3)
    y = X.means[:, 0] > 0

    def fit(_):
        return GSUClassifier(n_jobs=2).fit(X, y).coef_.tolist()

    parent = fit(0)
    warnings.simplefilter("ignore")  # of fork beside threads, which is what is tested here
    with multiprocessing.get_context("fork").Pool(2) as pool:
        children = pool.map(fit, range(4))
    assert all(child == parent for child in children)
    print("same", fit(0) == parent)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no fork")
def test_fork_after_a_parallel_fit() -> None:
    assert children.printed(FORK) == "same True"


def test_the_environment_names_the_instruction_set() -> None:
    code = """
        try:
            import numpy as np
            from uncertain import GSUClassifier
            from uncertain._uncertain import instruction_set
            X = np.random.default_rng(0).normal(size=(200, 5))
            print(instruction_set(), GSUClassifier().fit(X, X[:, 0] > 0).coef_[0, 0])
        except ValueError as error:
            print(error)
    """
    (name, scalar), (best, other) = (run(code, UNCERTAIN_SIMD=asked).split() for asked in ("scalar", ""))
    assert best in ("avx512", "avx2", "scalar") and name == "scalar"
    assert float(scalar) == pytest.approx(float(other), rel=1e-3)
    message = run(code, UNCERTAIN_SIMD="mmx")
    assert message.startswith("UNCERTAIN_SIMD = mmx: must be one of those that this machine has: ")
    assert message.endswith("scalar" if best == "scalar" else "avx2, scalar")


def folds_of(means: Any, codes: Any, groups: Any, seed: int = 0) -> Any:
    """Folds of groups in the order of their content: of the distances of their rows from the middle."""
    off = np.linalg.norm(means - (means.min(axis=0) + means.max(axis=0)) / 2, axis=1)
    place = {group: sorted(off[groups == group]) for group in np.unique(groups)}
    order = sorted(range(len(off)), key=lambda row: (place[groups[row]], off[row]))
    folds = np.empty(len(off), dtype=int)
    codes, groups = (np.asarray(numbers)[order].astype(np.uint32) for numbers in (codes, groups))
    folds[order] = group_folds(codes, int(codes.max()) + 1, groups, 5, seed)
    return folds


@pytest.mark.parametrize("loss", ["squared", "huber", "epsilon_insensitive"])
def test_the_path_of_a_regression_is_that_of_fits_of_its_folds(loss: Any) -> None:
    X, y = numbers()
    groups = np.arange(len(y)) // 3
    model = uncertain.GSURegressor("auto", loss=loss, epsilon=0.5).fit(X, y, groups=groups)
    assert_rule(model, "alpha", len(y))
    folds = folds_of(X.means, np.zeros(len(y)), groups)
    wanted = np.zeros((15, 5))
    for k, alpha in enumerate(model.path_["alpha"]):
        for fold in range(5):
            train, test = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
            one = uncertain.GSURegressor(alpha, loss=loss, epsilon=0.5).fit(X[train], y[train])
            mean, std = one.predict(X[test], return_std=True)
            # The mean loss by quadrature over each row's residual.
            nodes, c = np.polynomial.hermite.hermgauss(150)
            z, c = np.sqrt(2) * nodes, c / np.sqrt(np.pi)
            r = (y[test] - mean)[:, None] + std[:, None] * z
            size = np.abs(r)
            values = {
                "squared": r**2 / 2,
                "huber": np.where(size < 1.35, r**2 / 2, 1.35 * size - 1.35**2 / 2),
                "epsilon_insensitive": np.maximum(size - 0.5, 0),
            }[loss]
            wanted[k, fold] = (values @ c).mean()
    assert_allclose(model.path_["fold_losses"], wanted, rtol=5e-3)
    again = uncertain.GSURegressor(model.alpha_, loss=loss, epsilon=0.5).fit(X, y)
    assert_allclose(model.coef_, again.coef_, rtol=1e-9)
    assert not hasattr(again, "path_")
    assert again.alpha_ == again.alpha


def test_the_path_of_a_classifier_is_its_held_out_log_loss() -> None:
    """Probabilities of each penalty from held-out scores, by scikit-learn's log loss."""
    X, y = two_classes()
    groups = np.arange(len(y))
    model = uncertain.GSUClassifier("auto").fit(X, y, groups=groups)
    assert_rule(model, "alpha", len(y))
    folds = folds_of(X.means, y, groups)
    for k in (0, 4, 12):
        fitted = uncertain.GSUClassifier(float(model.path_["alpha"][k]))
        mean, std = np.zeros(len(y)), np.zeros(len(y))
        for fold in range(5):
            train, test = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
            mean[test], std[test] = fitted.fit(X[train], y[train]).decision_distribution(X[test])
        # The sigmoid is fitted to these scores: no other one has a smaller log loss by much.
        nodes, c = np.polynomial.hermite.hermgauss(60)
        f = mean[:, None] + np.sqrt(2) * std[:, None] * nodes

        def loss(a: float, b: float, f: Any = f, c: Any = c) -> float:
            p = (1 / (1 + np.exp(-np.clip(a * f + b, -500, 500)))) @ c / np.sqrt(np.pi)
            return float(log_loss(y, p))

        unit, middle = float(mean.std()), float(mean.mean())
        starts = [(s / unit, -s * middle / unit) for s in (0.5, 2.0, 8.0)]
        found = [minimize(lambda ab: loss(*ab), start, method="Nelder-Mead") for start in starts]
        least = min(each.fun for each in found)
        assert_allclose(model.path_["mean_loss"][k], least, rtol=0.02)


def sigmoid_of(scores: NDArray[np.float64], positive: NDArray[np.bool_]) -> tuple[float, float]:
    """Platt's sigmoid by another optimiser."""
    n = positive.sum(), (~positive).sum()
    target = np.where(positive, (n[0] + 1) / (n[0] + 2), 1 / (n[1] + 2))

    def loss(ab: NDArray[np.float64]) -> float:
        x = ab[0] * scores + ab[1]
        return float(np.sum(np.logaddexp(0.0, x) - (1 - target) * x))

    start = [0.0, np.log((n[1] + 1) / (n[0] + 1))]
    options = {"xatol": 1e-10, "fatol": 1e-13, "maxiter": 5000}
    found = minimize(loss, start, method="Nelder-Mead", options=options)
    return tuple(found.x)


CALIBRATED = [
    uncertain.GSUClassifier(1e-2, tol=1e-10), uncertain.GSUClassifier(1e-2, kernel="rbf", tol=1e-10),
    uncertain.RobustSVC(method="usvc", tol=1e-10), uncertain.MinimaxProbabilityClassifier(),
    uncertain.AdaptiveHuberClassifier(),
    uncertain.ProbabilisticKernelSVC(sigma=1.0), uncertain.ProbabilisticKernelSVC(sigma=1.0, n_components=20),
]  # fmt: skip


@pytest.mark.filterwarnings("ignore:.*no plane is better")  # in a fold
@pytest.mark.parametrize("estimator", CALIBRATED, ids=str)
def test_sigmoids_come_from_scores_of_groups_that_were_held_out(estimator: Any) -> None:
    """The calibration done again by hand, with the folds of the groups."""
    rng = np.random.default_rng(2)
    objects = np.repeat(np.arange(18), rng.integers(1, 6, 18))
    labels = objects % 2
    X = rng.standard_normal((18, 2))[objects] + 0.7 * labels[:, None]
    X += 0.3 * rng.standard_normal((len(objects), 2))
    order = rng.permutation(len(objects))
    objects, labels, X = objects[order], labels[order], X[order]
    seed = int(check_random_state(3).randint(2**31 - 1))
    numbers = np.unique(objects, return_inverse=True)[1]
    mapped = isinstance(estimator, uncertain.GSUClassifier) and estimator.kernel == "rbf"
    space = estimator.fit(X, labels).kernel_map_.transform(X) if mapped else X  # of all rows
    fold = folds_of(space, labels, numbers, seed)

    estimator.set_params(random_state=3)
    scores = np.empty(len(labels))
    for k in range(5):
        out = fold == k
        if isinstance(estimator, uncertain.AdaptiveHuberClassifier):  # the row stays, its label goes
            held = [None if o else label for o, label in zip(out, labels.tolist(), strict=True)]
            estimator.fit(X, np.array(held, dtype=object))
        elif mapped:
            linear = uncertain.GSUClassifier(1e-2, tol=1e-10).fit(space, labels, sample_weight=~out)
            scores[out] = linear.decision_function(space[out])
            continue
        else:
            estimator.fit(X, labels, sample_weight=(~out).astype(float))
        scores[out] = estimator.decision_function(X[out])
    a, b = sigmoid_of(scores, labels == 1)
    estimator.set_params(probability=True)
    estimator.fit(X, labels, groups=[f"object {o}" for o in objects])
    expected = 1 / (1 + np.exp(a * estimator.decision_function(X) + b))
    # Certified folds start at the hyperplane of all rows and end at a gap of 1e-4.
    atol = 1e-3 if isinstance(estimator, uncertain.GSUClassifier) else 1e-5
    np.testing.assert_allclose(estimator.predict_proba(X)[:, 1], expected, atol=atol)
    # Other rows held out, another sigmoid; the scores are the same.
    before = estimator.decision_function(X)
    estimator.fit(X, labels)
    assert np.abs(estimator.predict_proba(X)[:, 1] - expected).max() > 1e-3
    np.testing.assert_array_equal(estimator.decision_function(X), before)


def test_every_entry_is_used() -> None:
    sources = "".join(path.read_text(encoding="utf-8") for path in ROOT.rglob("*.py"))
    used = {name for place in PLACE.finditer(sources) for name in place[2].split(", ")}
    assert used == set(ENTRIES)


def test_long_task_shows_one_line_that_is_gone_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a terminal, rewritten while iterations pass; a task inside another shows nothing of its own."""
    screen = io.StringIO()
    monkeypatch.setattr(screen, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(running, "DELAY", 0.01)
    monkeypatch.setattr(running, "INTERVAL", 0.01)

    def wait_for(text: str) -> None:
        end = time.monotonic() + 60.0
        while text not in screen.getvalue() and time.monotonic() < end:
            time.sleep(0.01)
        assert text in screen.getvalue()

    with running.shown("fitting"), running.shown("predicting sets") as is_inner_shown:
        running.show_iteration(Progress("fold 1 of 5", 7, 1.0, 1e-3))
        wait_for("fold 1 of 5, iteration 7, gap 1.0e-03")
        pace = Pace()
        pace.begin(5, 1)
        pace.step("measurement", 1)
        wait_for("fold 2 of 5, measurement, about ")
    assert not is_inner_shown and "predicting" not in screen.getvalue()
    assert screen.getvalue().endswith("\r") and not screen.getvalue().split("\r")[-2].strip()
    monkeypatch.setattr(running, "DELAY", 100.0)
    seen = screen.getvalue()
    rows = uncertain.GaussianArray(np.arange(60.0)[:, None], std=np.ones((60, 1)))
    uncertain.fit(rows, np.arange(60) % 2)
    assert screen.getvalue() == seen


def test_the_end_of_a_block_brings_back_the_limit_around_it(rng: np.random.Generator) -> None:
    X, y = uncertain.GaussianArray(rng.normal(size=(400, 60)), std=0.5), np.arange(400) % 2
    limit = Deadline(0.05)
    with limit.stops():
        with limit.stops(0.5):
            time.sleep(0.06)
        with pytest.raises(uncertain.UncertainError, match="time_limit"):
            uncertain.fit(
                X, y, method="discriminant", n_components=8, tol=0.0, max_iter=1000, acceleration=None
            )
